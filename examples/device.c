/* A driver that gives its lock away for a retry, and seldom takes it again. */
#include <assert.h>

extern int __VERIFIER_nondet_int(void);

static int locked;
static int transferred;

static void lock(void)
{
    assert(!locked);
    locked = 1;
}

static void unlock(void)
{
    assert(locked);
    locked = 0;
}

static int checksum(int rounds)
{
    unsigned sum = 0;
    for (int i = 0; i < rounds; i++)
        sum = sum * 31 + i;
    return sum;
}

int main(void)
{
    int retries = __VERIFIER_nondet_int();
    int expected = checksum(40);

    lock();
    transferred = 1;
    if (retries > 0) {
        unlock();
        retries--;
        if (retries > 2)
            lock();
        transferred = 2;
    }
    if (checksum(40) == expected)
        transferred++;
    unlock();
    return 0;
}
