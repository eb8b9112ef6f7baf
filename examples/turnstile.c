/* A turnstile: nobody passes without a coin. The loop never ends, and needs an invariant. */
#include <assert.h>

extern int __VERIFIER_nondet_int(void);

enum state { LOCKED, OPEN };

int main(void)
{
    enum state state = LOCKED;
    unsigned coins = 0, passed = 0;

    while (1) {
        int event = __VERIFIER_nondet_int();
        if (event == 0) {
            if (state == LOCKED) {
                coins++;
                state = OPEN;
            }
        } else if (event == 1 && state == OPEN) {
            passed++;
            state = LOCKED;
        }
        assert(state == OPEN ? coins == passed + 1 : coins == passed);
    }
}
