/* stdlib.h: what runs when the program ends. The last function that was given runs first, and those
   that such a function gives still run. */
static void (*given[64])(void);
static int count;
int atexit(void (*function)(void)) {
  __VERIFIER_assume(count < 64);
  given[count++] = function;
  return 0;
}
static __attribute__((destructor)) void run_given(void) {
  while (count > 0) {
    count--;
    given[count]();
  }
}
