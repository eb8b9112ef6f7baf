// A driver that is asked to stop while requests come in: a request must not run when it has stopped.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int pending = 1;
int stopping, stopped;

void leave(void) {
  if (atomic_fetch_sub(&pending, 1) == 1)
    stopped = 1;
}

void *request(void *unused) {
  if (stopping)
    return 0;
  atomic_fetch_add(&pending, 1);
  assert(!stopped);
  leave();
  return 0;
}

void *stop(void *unused) {
  stopping = 1;
  leave();
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, request, 0);
  pthread_create(&b, 0, stop, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
