// A lock that is given back on one of two ways only.
extern int __VERIFIER_nondet_int(void);

int locked;

int main(void) {
  while (__VERIFIER_nondet_int()) {
    locked = 1;
    if (__VERIFIER_nondet_int())
      continue;
    locked = 0;
  }
  return 0;
}
