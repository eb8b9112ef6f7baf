/* Threads and what orders them, as the front end models them (docs/threads.md).
   `__wherefore_fork(id)` starts a thread that goes on here, with 1, and returns 0;
   `__wherefore_end_thread()` ends the thread. A lock is the first number of its object. */
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void __VERIFIER_assume(int condition);
extern int __VERIFIER_nondet_int(void);
extern int __wherefore_fork(unsigned long id);
extern void __wherefore_end_thread(void);
extern void __wherefore_too_many_threads(void);
extern void __wherefore_mutex_attributes(void);

unsigned long __wherefore_threads;
unsigned long __wherefore_self;
int __wherefore_ended[64];
void *__wherefore_results[64];

void __wherefore_finish(void *result) {
  __VERIFIER_atomic_begin();
  if (__wherefore_self < 64) {
    __wherefore_results[__wherefore_self] = result;
    __wherefore_ended[__wherefore_self] = 1;
  }
  __VERIFIER_atomic_end();
  __wherefore_end_thread();
}

int pthread_create(unsigned long *thread, const void *attributes, void *(*start)(void *), void *argument) {
  __VERIFIER_atomic_begin();
  unsigned long id = __wherefore_threads + 1;
  __wherefore_threads = id;
  *thread = id;
  if (__wherefore_fork(id)) {
    __wherefore_self = id;
    void *result = start(argument);
    __wherefore_finish(result);
  }
  __VERIFIER_atomic_end();
  return 0;
}

void pthread_exit(void *result) {
  __wherefore_finish(result);
}

int pthread_join(unsigned long thread, void **result) {
  if (thread >= 64)
    __wherefore_too_many_threads();
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(__wherefore_ended[thread]);
  if (result)
    *result = __wherefore_results[thread];
  __VERIFIER_atomic_end();
  return 0;
}
/* A join that does not ask for the result. */
int __wherefore_join(unsigned long thread, void **result) {
  if (thread >= 64)
    __wherefore_too_many_threads();
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(__wherefore_ended[thread]);
  __VERIFIER_atomic_end();
  return 0;
}

unsigned long pthread_self(void) { return __wherefore_self; }
int pthread_equal(unsigned long a, unsigned long b) { return a == b; }
int pthread_detach(unsigned long thread) { return 0; }
int pthread_attr_init(void *attributes) { return 0; }
int pthread_attr_destroy(void *attributes) { return 0; }
int sched_yield(void) { return 0; }
int pthread_yield(void) { return 0; }

int pthread_mutex_init(void *mutex, const void *attributes) {
  if (attributes)
    __wherefore_mutex_attributes();
  *(int *)mutex = 0;
  return 0;
}
int pthread_mutex_destroy(void *mutex) { return 0; }
int pthread_mutex_lock(void *mutex) {
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(*(int *)mutex == 0);
  *(int *)mutex = 1;
  __VERIFIER_atomic_end();
  return 0;
}
int pthread_mutex_trylock(void *mutex) {
  int result = 16;
  __VERIFIER_atomic_begin();
  if (*(int *)mutex == 0) {
    *(int *)mutex = 1;
    result = 0;
  }
  __VERIFIER_atomic_end();
  return result;
}
int pthread_mutex_unlock(void *mutex) {
  *(int *)mutex = 0;
  return 0;
}

int pthread_spin_init(void *lock, int shared) { return pthread_mutex_init(lock, 0); }
int pthread_spin_destroy(void *lock) { return 0; }
int pthread_spin_lock(void *lock) { return pthread_mutex_lock(lock); }
int pthread_spin_trylock(void *lock) { return pthread_mutex_trylock(lock); }
int pthread_spin_unlock(void *lock) { return pthread_mutex_unlock(lock); }

/* A thread that waits may go on without a signal: signals change nothing. */
int pthread_cond_init(void *condition, const void *attributes) { return 0; }
int pthread_cond_destroy(void *condition) { return 0; }
int pthread_cond_signal(void *condition) { return 0; }
int pthread_cond_broadcast(void *condition) { return 0; }
int pthread_cond_wait(void *condition, void *mutex) {
  pthread_mutex_unlock(mutex);
  pthread_mutex_lock(mutex);
  return 0;
}
int pthread_cond_timedwait(void *condition, void *mutex, const void *time) {
  pthread_mutex_unlock(mutex);
  pthread_mutex_lock(mutex);
  return __VERIFIER_nondet_int() ? 110 : 0;
}

/* 0 is free, -1 is held by a writer, else the number of readers. */
int pthread_rwlock_init(void *lock, const void *attributes) {
  *(int *)lock = 0;
  return 0;
}
int pthread_rwlock_destroy(void *lock) { return 0; }
int pthread_rwlock_rdlock(void *lock) {
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(*(int *)lock >= 0);
  *(int *)lock = *(int *)lock + 1;
  __VERIFIER_atomic_end();
  return 0;
}
int pthread_rwlock_wrlock(void *lock) {
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(*(int *)lock == 0);
  *(int *)lock = -1;
  __VERIFIER_atomic_end();
  return 0;
}
int pthread_rwlock_tryrdlock(void *lock) {
  int result = 16;
  __VERIFIER_atomic_begin();
  if (*(int *)lock >= 0) {
    *(int *)lock = *(int *)lock + 1;
    result = 0;
  }
  __VERIFIER_atomic_end();
  return result;
}
int pthread_rwlock_trywrlock(void *lock) {
  int result = 16;
  __VERIFIER_atomic_begin();
  if (*(int *)lock == 0) {
    *(int *)lock = -1;
    result = 0;
  }
  __VERIFIER_atomic_end();
  return result;
}
int pthread_rwlock_unlock(void *lock) {
  __VERIFIER_atomic_begin();
  *(int *)lock = *(int *)lock < 0 ? 0 : *(int *)lock - 1;
  __VERIFIER_atomic_end();
  return 0;
}

int sem_init(void *semaphore, int shared, unsigned int value) {
  *(int *)semaphore = (int)value;
  return 0;
}
int sem_destroy(void *semaphore) { return 0; }
int sem_post(void *semaphore) {
  __VERIFIER_atomic_begin();
  *(int *)semaphore = *(int *)semaphore + 1;
  __VERIFIER_atomic_end();
  return 0;
}
int sem_wait(void *semaphore) {
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(*(int *)semaphore > 0);
  *(int *)semaphore = *(int *)semaphore - 1;
  __VERIFIER_atomic_end();
  return 0;
}
int sem_trywait(void *semaphore) {
  int result = -1;
  __VERIFIER_atomic_begin();
  if (*(int *)semaphore > 0) {
    *(int *)semaphore = *(int *)semaphore - 1;
    result = 0;
  }
  __VERIFIER_atomic_end();
  return result;
}
