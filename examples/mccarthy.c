/* McCarthy's function: 91 up to 101, and n - 10 beyond. How deep it calls itself depends on n. */
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);
#include <assert.h>

static int mccarthy(int n) {
    if (n > 100)
        return n - 10;
    return mccarthy(mccarthy(n + 11));
}

int main(void) {
    int n = __VERIFIER_nondet_int();
    __VERIFIER_assume(n <= 1000000);
    int result = mccarthy(n);
    assert(result >= 91);
    assert(n > 100 || result == 91);
    return 0;
}
