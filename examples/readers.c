// A lock for readers and writers, made of a mutex, a counter and a semaphore: readers share, a writer
// is alone.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

pthread_mutex_t readers_lock = PTHREAD_MUTEX_INITIALIZER;
sem_t free_to_write;
int readers, high, low;

void begin_read(void) {
  pthread_mutex_lock(&readers_lock);
  if (++readers == 1)
    sem_wait(&free_to_write);
  pthread_mutex_unlock(&readers_lock);
}

void end_read(void) {
  pthread_mutex_lock(&readers_lock);
  if (--readers == 0)
    sem_post(&free_to_write);
  pthread_mutex_unlock(&readers_lock);
}

void *reader(void *unused) {
  begin_read();
  assert(high == low);
  end_read();
  return 0;
}

void *writer(void *unused) {
  sem_wait(&free_to_write);
  high++;
  low++;
  sem_post(&free_to_write);
  return 0;
}

int main(void) {
  pthread_t r[2], w;
  sem_init(&free_to_write, 0, 1);
  pthread_create(&r[0], 0, reader, 0);
  pthread_create(&r[1], 0, reader, 0);
  pthread_create(&w, 0, writer, 0);
  return 0;
}
