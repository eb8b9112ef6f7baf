#include <stdio.h>

extern int next(void);
static int table[8];

static void started(int job) { printf("starting job %d\n", job); }
static void stopped(int job) { printf("job %d has stopped\n", job); }

static int lookup(int i) {
  return table[i];
}

int main(void) {
  int i = 0;
  while (next()) {
    started(i);
    if (next() > 3)
      i = i + 3;
    else
      stopped(i);
    i++;
  }
  return lookup(i);
}
