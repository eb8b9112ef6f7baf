extern int more(void);
extern unsigned next_leg(void);

unsigned legs, trips;

void drive(unsigned *m, unsigned d) {
  *m = *m + d;
  legs = legs + d;
}

int main(void) {
  unsigned start = next_leg();
  unsigned miles = start;
  trips = 1;
  while (more()) {
    unsigned leg = next_leg();
    drive(&miles, leg);
    drive(&miles, leg);
    trips = trips + 4 * leg;
  }
  return miles - start == legs;
}
