/* Threads and what orders them, as the front end models them (docs/threads.md).
   `__wherefore_fork(id)` starts a thread that goes on here, with 1, and returns 0;
   `__wherefore_end_thread()` ends the thread. A lock is the first number of its object.

   MOST is how many threads there may be, with the first one. Lines that begin with LOCK are there
   only if rules of locks are checked, those with OWNER also if there are mutexes with attributes,
   those with KIND only in that case, those with DEADLOCK only if deadlocks are searched for, those with ERRNO only if the
   program uses `errno`, those with KEYS only if it makes keys.
   `__wherefore_lock_keeps` and `__wherefore_moves` are checks; their text says what happens if they
   fail. */
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void __VERIFIER_assume(int condition);
extern int __VERIFIER_nondet_int(void);
extern int __wherefore_fork(unsigned long id);
extern void __wherefore_end_thread(void);
extern void __wherefore_too_many_threads(void);
extern _Bool __VERIFIER_nondet_bool(void);
extern void __wherefore_lock_keeps(int holds, const char *otherwise);
extern void __wherefore_moves(int holds, const char *otherwise);

ERRNO extern int __builtin_own_errno;
unsigned long __wherefore_threads;
unsigned long __wherefore_self;
int __wherefore_ended[MOST];
void *__wherefore_results[MOST];
LOCK int __wherefore_held[MOST];

/* A deadlock: each thread has ended, or has chosen to wait for good, and nothing it waits for is
   there. A thread may choose so in front of each step that can block; if what it waits for is
   there in the end, it has chosen badly, and the run does not count. When `main` returns the
   program ends, so that `main` is counted only if it waits, or has called `pthread_exit`. */
DEADLOCK unsigned long __wherefore_finished;
DEADLOCK unsigned long __wherefore_waiting;
DEADLOCK void *__wherefore_awaited[MOST];
DEADLOCK int __wherefore_way[MOST];
DEADLOCK unsigned __wherefore_since[MOST];
DEADLOCK void *__wherefore_condition[MOST];
DEADLOCK _Bool __wherefore_woken[MOST];
DEADLOCK
DEADLOCK /* Whether each thread has ended or waits for good, within an atomic section. */
DEADLOCK int __wherefore_all_wait(void) {
DEADLOCK   int is_stuck = 0;
DEADLOCK   if (__wherefore_waiting > 0 && __wherefore_waiting + __wherefore_finished == __wherefore_threads + 1) {
DEADLOCK     unsigned long i;
DEADLOCK     is_stuck = 1;
DEADLOCK     for (i = 0; i <= __wherefore_threads; i++) {
DEADLOCK       int way = __wherefore_way[i];
DEADLOCK       if (way == 1 && *(int *)__wherefore_awaited[i] == 0) is_stuck = 0;
DEADLOCK       if (way == 2 && *(int *)__wherefore_awaited[i] >= 0) is_stuck = 0;
DEADLOCK       if (way == 3 && *(int *)__wherefore_awaited[i] > 0) is_stuck = 0;
DEADLOCK       if (way == 4 && __wherefore_ended[__wherefore_since[i]]) is_stuck = 0;
DEADLOCK       if (way == 5 && __wherefore_woken[i]) is_stuck = 0;
DEADLOCK       if (way == 7 && *(int *)__wherefore_awaited[i] == 2) is_stuck = 0;
DEADLOCK       if (way == 6 && ((unsigned *)__wherefore_awaited[i])[2] != __wherefore_since[i]) is_stuck = 0;
DEADLOCK     }
DEADLOCK   }
DEADLOCK   return is_stuck;
DEADLOCK }
DEADLOCK /* way: 1 until a lock is free, 2 until no writer holds it, 3 until a semaphore is positive, 4
DEADLOCK    for the end of a thread, 5 for a signal, 6 for the next turn of a barrier, 7 until what is
DEADLOCK    done once is done. */
DEADLOCK void __wherefore_wait(void *object, int way, unsigned since) {
DEADLOCK   __VERIFIER_atomic_begin();
DEADLOCK   if (__wherefore_self < MOST) {
DEADLOCK     __wherefore_awaited[__wherefore_self] = object;
DEADLOCK     __wherefore_way[__wherefore_self] = way;
DEADLOCK     __wherefore_since[__wherefore_self] = since;
DEADLOCK     __wherefore_waiting = __wherefore_waiting + 1;
DEADLOCK     __wherefore_moves(!__wherefore_all_wait(), "waits for ever: no thread can move");
DEADLOCK   }
DEADLOCK   __VERIFIER_atomic_end();
DEADLOCK   __wherefore_end_thread();
DEADLOCK }

void __wherefore_finish(void *result) {
  __VERIFIER_atomic_begin();
  if (__wherefore_self < MOST) {
LOCK    __wherefore_lock_keeps(__wherefore_held[__wherefore_self] == 0, "leaves a lock held at the end of the thread");
    __wherefore_results[__wherefore_self] = result;
    __wherefore_ended[__wherefore_self] = 1;
DEADLOCK    __wherefore_finished = __wherefore_finished + 1;
DEADLOCK    __wherefore_moves(!__wherefore_all_wait(), "starts the last thread that ends: the others wait for ever");
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
  if (thread >= MOST)
    __wherefore_too_many_threads();
DEADLOCK  if (__VERIFIER_nondet_bool()) __wherefore_wait(0, 4, (unsigned)thread);
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(__wherefore_ended[thread]);
  if (result)
    *result = __wherefore_results[thread];
  __VERIFIER_atomic_end();
  return 0;
}
/* A join that does not ask for the result. */
int __wherefore_join(unsigned long thread, void **result) {
  if (thread >= MOST)
    __wherefore_too_many_threads();
DEADLOCK  if (__VERIFIER_nondet_bool()) __wherefore_wait(0, 4, (unsigned)thread);
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
int pthread_attr_setdetachstate(void *attributes, int state) { return 0; }
int pthread_attr_setstacksize(void *attributes, unsigned long size) { return 0; }
int pthread_attr_setscope(void *attributes, int scope) { return 0; }
int sched_yield(void) { return 0; }
int pthread_yield(void) { return 0; }

int pthread_mutexattr_init(int *attributes) {
  *attributes = 0;
  return 0;
}
int pthread_mutexattr_destroy(int *attributes) { return 0; }
int pthread_mutexattr_settype(int *attributes, int kind) {
  *attributes = kind;
  return 0;
}
/* Priorities and sharing with other processes change nothing here. */
int pthread_mutexattr_setprotocol(int *attributes, int protocol) { return 0; }
int pthread_mutexattr_setpshared(int *attributes, int shared) { return 0; }

/* The first number is 0 if the mutex is free; else 1, or the owner and one more. KIND: the second
   is how often a recursive one is held, the fifth (the fourth of ILP32) is the kind: 1 is recursive,
   2 notices errors. */
int pthread_mutex_init(void *mutex, const void *attributes) {
  *(int *)mutex = 0;
KIND  ((int *)mutex)[sizeof(long) == 8 ? 4 : 3] = attributes ? *(const int *)attributes : 0;
KIND  ((int *)mutex)[1] = 0;
  return 0;
}
int pthread_mutex_destroy(void *mutex) {
LOCK  __wherefore_lock_keeps(*(int *)mutex == 0, "destroys a lock that is held");
  return 0;
}
int pthread_mutex_lock(void *mutex) {
KIND  if (*(int *)mutex == (int)__wherefore_self + 1) {
KIND    int kind = ((int *)mutex)[sizeof(long) == 8 ? 4 : 3];
KIND    if (kind == 1) {
KIND      ((int *)mutex)[1] = ((int *)mutex)[1] + 1;
KIND      return 0;
KIND    }
KIND    if (kind == 2)
KIND      return 35;
KIND  }
LOCK  __wherefore_lock_keeps(*(int *)mutex != (int)__wherefore_self + 1, "locks a mutex that this thread holds");
DEADLOCK  if (__VERIFIER_nondet_bool()) __wherefore_wait(mutex, 1, 0);
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(*(int *)mutex == 0);
PLAIN  *(int *)mutex = 1;
OWNER  *(int *)mutex = (int)__wherefore_self + 1;
LOCK  if (__wherefore_self < MOST) __wherefore_held[__wherefore_self] = __wherefore_held[__wherefore_self] + 1;
  __VERIFIER_atomic_end();
  return 0;
}
int pthread_mutex_trylock(void *mutex) {
  int result = 16;
  __VERIFIER_atomic_begin();
  if (*(int *)mutex == 0) {
PLAIN    *(int *)mutex = 1;
OWNER    *(int *)mutex = (int)__wherefore_self + 1;
LOCK    if (__wherefore_self < MOST) __wherefore_held[__wherefore_self] = __wherefore_held[__wherefore_self] + 1;
    result = 0;
  }
KIND  else if (*(int *)mutex == (int)__wherefore_self + 1 && ((int *)mutex)[sizeof(long) == 8 ? 4 : 3] == 1) {
KIND    ((int *)mutex)[1] = ((int *)mutex)[1] + 1;
KIND    result = 0;
KIND  }
  __VERIFIER_atomic_end();
  return result;
}
/* It does not wait for ever. A run in which it fails to take the lock, and the time has not passed,
   does not count: the attempt comes later in another one. */
int pthread_mutex_timedlock(void *mutex, const void *time) {
KIND  if (*(int *)mutex == (int)__wherefore_self + 1 && ((int *)mutex)[sizeof(long) == 8 ? 4 : 3] == 2)
KIND    return 35;
  if (__VERIFIER_nondet_bool())
    return 110;
  __VERIFIER_assume(pthread_mutex_trylock(mutex) == 0);
  return 0;
}
int pthread_mutex_unlock(void *mutex) {
KIND  if (((int *)mutex)[sizeof(long) == 8 ? 4 : 3] == 2 && *(int *)mutex != (int)__wherefore_self + 1)
KIND    return 1;
LOCK  __wherefore_lock_keeps(*(int *)mutex == (int)__wherefore_self + 1, "unlocks a mutex that this thread does not hold");
KIND  if (((int *)mutex)[sizeof(long) == 8 ? 4 : 3] == 1 && *(int *)mutex != (int)__wherefore_self + 1)
KIND    return 1;
KIND  if (((int *)mutex)[1] > 0) {
KIND    ((int *)mutex)[1] = ((int *)mutex)[1] - 1;
KIND    return 0;
KIND  }
LOCK  if (__wherefore_self < MOST) __wherefore_held[__wherefore_self] = __wherefore_held[__wherefore_self] - 1;
  *(int *)mutex = 0;
  return 0;
}

int pthread_spin_init(void *lock, int shared) {
  *(int *)lock = 0;
  return 0;
}
int pthread_spin_destroy(void *lock) { return 0; }
int pthread_spin_lock(void *lock) {
DEADLOCK  if (__VERIFIER_nondet_bool()) __wherefore_wait(lock, 1, 0);
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(*(int *)lock == 0);
  *(int *)lock = 1;
  __VERIFIER_atomic_end();
  return 0;
}
int pthread_spin_trylock(void *lock) {
  int result = 16;
  __VERIFIER_atomic_begin();
  if (*(int *)lock == 0) {
    *(int *)lock = 1;
    result = 0;
  }
  __VERIFIER_atomic_end();
  return result;
}
int pthread_spin_unlock(void *lock) {
  *(int *)lock = 0;
  return 0;
}

/* A thread that waits may go on without a signal, so that signals change nothing; but it need not:
   if deadlocks are searched for, a signal wakes one that waits. */
int pthread_condattr_init(void *attributes) { return 0; }
int pthread_condattr_destroy(void *attributes) { return 0; }
int pthread_condattr_setclock(void *attributes, int clock) { return 0; }
int pthread_condattr_setpshared(void *attributes, int shared) { return 0; }
int pthread_cond_init(void *condition, const void *attributes) { return 0; }
int pthread_cond_destroy(void *condition) { return 0; }
int pthread_cond_signal(void *condition) {
DEADLOCK  __VERIFIER_atomic_begin();
DEADLOCK  unsigned long i;
DEADLOCK  _Bool is_chosen = 0, is_possible = 0;
DEADLOCK  for (i = 0; i <= __wherefore_threads; i++)
DEADLOCK    if (i < MOST && __wherefore_condition[i] == condition && !__wherefore_woken[i]) {
DEADLOCK      is_possible = 1;
DEADLOCK      if (!is_chosen && __VERIFIER_nondet_bool()) {
DEADLOCK        __wherefore_woken[i] = 1;
DEADLOCK        is_chosen = 1;
DEADLOCK      }
DEADLOCK    }
DEADLOCK  __VERIFIER_assume(is_chosen || !is_possible);
DEADLOCK  __VERIFIER_atomic_end();
  return 0;
}
int pthread_cond_broadcast(void *condition) {
DEADLOCK  __VERIFIER_atomic_begin();
DEADLOCK  unsigned long i;
DEADLOCK  for (i = 0; i <= __wherefore_threads; i++)
DEADLOCK    if (i < MOST && __wherefore_condition[i] == condition)
DEADLOCK      __wherefore_woken[i] = 1;
DEADLOCK  __VERIFIER_atomic_end();
  return 0;
}
int pthread_cond_wait(void *condition, void *mutex) {
LOCK  __wherefore_lock_keeps(*(int *)mutex == (int)__wherefore_self + 1, "waits with a mutex that this thread does not hold");
DEADLOCK  __VERIFIER_atomic_begin();
DEADLOCK  if (__wherefore_self < MOST) {
DEADLOCK    __wherefore_condition[__wherefore_self] = condition;
DEADLOCK    __wherefore_woken[__wherefore_self] = 0;
DEADLOCK  }
  pthread_mutex_unlock(mutex);
DEADLOCK  __VERIFIER_atomic_end();
DEADLOCK  if (__VERIFIER_nondet_bool()) __wherefore_wait(0, 5, 0);
DEADLOCK  if (__wherefore_self < MOST) __wherefore_condition[__wherefore_self] = 0;
  pthread_mutex_lock(mutex);
  return 0;
}
int pthread_cond_timedwait(void *condition, void *mutex, const void *time) {
LOCK  __wherefore_lock_keeps(*(int *)mutex == (int)__wherefore_self + 1, "waits with a mutex that this thread does not hold");
DEADLOCK  __VERIFIER_atomic_begin();
DEADLOCK  if (__wherefore_self < MOST) {
DEADLOCK    __wherefore_condition[__wherefore_self] = condition;
DEADLOCK    __wherefore_woken[__wherefore_self] = 0;
DEADLOCK  }
  pthread_mutex_unlock(mutex);
DEADLOCK  __VERIFIER_atomic_end();
DEADLOCK  if (__wherefore_self < MOST) __wherefore_condition[__wherefore_self] = 0;
  pthread_mutex_lock(mutex);
  return __VERIFIER_nondet_int() ? 110 : 0;
}

/* The numbers of a barrier: how many threads meet, how many have come, how often they have met. */
int pthread_barrier_init(void *barrier, const void *attributes, unsigned count) {
  if (count == 0)
    return 22;
  ((unsigned *)barrier)[0] = count;
  ((unsigned *)barrier)[1] = 0;
  ((unsigned *)barrier)[2] = 0;
  return 0;
}
int pthread_barrier_destroy(void *barrier) { return 0; }
int pthread_barrier_wait(void *barrier) {
  unsigned turn;
  int is_last;
  __VERIFIER_atomic_begin();
  turn = ((unsigned *)barrier)[2];
  ((unsigned *)barrier)[1] = ((unsigned *)barrier)[1] + 1;
  is_last = ((unsigned *)barrier)[1] == ((unsigned *)barrier)[0];
  if (is_last) {
    ((unsigned *)barrier)[1] = 0;
    ((unsigned *)barrier)[2] = turn + 1;
  }
  __VERIFIER_atomic_end();
  if (is_last)
    return -1;
DEADLOCK  if (__VERIFIER_nondet_bool()) __wherefore_wait(barrier, 6, turn);
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(((unsigned *)barrier)[2] != turn);
  __VERIFIER_atomic_end();
  return 0;
}

/* 0: not begun, 1: begun, 2: done. */
int pthread_once(int *control, void (*initialise)(void)) {
  int is_first = 0;
  __VERIFIER_atomic_begin();
  if (*control == 0) {
    *control = 1;
    is_first = 1;
  }
  __VERIFIER_atomic_end();
  if (is_first) {
    initialise();
    *control = 2;
  } else {
DEADLOCK    if (__VERIFIER_nondet_bool()) __wherefore_wait(control, 7, 0);
    __VERIFIER_atomic_begin();
    __VERIFIER_assume(*control == 2);
    __VERIFIER_atomic_end();
  }
  return 0;
}

/* 0 is free, -1 is held by a writer, else the number of readers. */
int pthread_rwlock_init(void *lock, const void *attributes) {
  *(int *)lock = 0;
  return 0;
}
int pthread_rwlock_destroy(void *lock) { return 0; }
int pthread_rwlockattr_init(void *attributes) { return 0; }
int pthread_rwlockattr_destroy(void *attributes) { return 0; }
int pthread_rwlock_rdlock(void *lock) {
DEADLOCK  if (__VERIFIER_nondet_bool()) __wherefore_wait(lock, 2, 0);
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(*(int *)lock >= 0);
  *(int *)lock = *(int *)lock + 1;
  __VERIFIER_atomic_end();
  return 0;
}
int pthread_rwlock_wrlock(void *lock) {
DEADLOCK  if (__VERIFIER_nondet_bool()) __wherefore_wait(lock, 1, 0);
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
LOCK  __wherefore_lock_keeps(*(int *)lock != 0, "unlocks a lock that nobody holds");
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
DEADLOCK  if (__VERIFIER_nondet_bool()) __wherefore_wait(semaphore, 3, 0);
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(*(int *)semaphore > 0);
  *(int *)semaphore = *(int *)semaphore - 1;
  __VERIFIER_atomic_end();
  return 0;
}
int sem_getvalue(void *semaphore, int *value) {
  *value = *(int *)semaphore;
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
ERRNO  if (result) __builtin_own_errno = 11;
  return result;
}
int sem_timedwait(void *semaphore, const void *time) {
  if (__VERIFIER_nondet_bool()) {
ERRNO    __builtin_own_errno = 110;
    return -1;
  }
  __VERIFIER_assume(sem_trywait(semaphore) == 0);
  return 0;
}

/* Threads of C11 (`threads.h`): 0 is success, 1 busy, 4 out of time. */
int thrd_create(unsigned long *thread, int (*start)(void *), void *argument) {
  __VERIFIER_atomic_begin();
  unsigned long id = __wherefore_threads + 1;
  __wherefore_threads = id;
  *thread = id;
  if (__wherefore_fork(id)) {
    __wherefore_self = id;
    int result = start(argument);
    __wherefore_finish((void *)(long)result);
  }
  __VERIFIER_atomic_end();
  return 0;
}
void thrd_exit(int result) {
  __wherefore_finish((void *)(long)result);
}
int thrd_join(unsigned long thread, int *result) {
  if (thread >= MOST)
    __wherefore_too_many_threads();
DEADLOCK  if (__VERIFIER_nondet_bool()) __wherefore_wait(0, 4, (unsigned)thread);
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(__wherefore_ended[thread]);
  if (result)
    *result = (int)(long)__wherefore_results[thread];
  __VERIFIER_atomic_end();
  return 0;
}
unsigned long thrd_current(void) { return __wherefore_self; }
int thrd_equal(unsigned long a, unsigned long b) { return a == b; }
int thrd_detach(unsigned long thread) { return 0; }
int thrd_sleep(const void *time, void *left) { return 0; }
void thrd_yield(void) {}
int mtx_init(void *mutex, int kind) {
  *(int *)mutex = 0;
KIND  ((int *)mutex)[sizeof(long) == 8 ? 4 : 3] = kind & 1;
KIND  ((int *)mutex)[1] = 0;
  return 0;
}
void mtx_destroy(void *mutex) { pthread_mutex_destroy(mutex); }
int mtx_lock(void *mutex) { return pthread_mutex_lock(mutex); }
int mtx_trylock(void *mutex) { return pthread_mutex_trylock(mutex) ? 1 : 0; }
int mtx_timedlock(void *mutex, const void *time) { return pthread_mutex_timedlock(mutex, time) ? 4 : 0; }
int mtx_unlock(void *mutex) { return pthread_mutex_unlock(mutex); }
int cnd_init(void *condition) { return 0; }
void cnd_destroy(void *condition) {}
int cnd_signal(void *condition) { return pthread_cond_signal(condition); }
int cnd_broadcast(void *condition) { return pthread_cond_broadcast(condition); }
int cnd_wait(void *condition, void *mutex) { return pthread_cond_wait(condition, mutex); }
int cnd_timedwait(void *condition, void *mutex, const void *time) {
  return pthread_cond_timedwait(condition, mutex, time) ? 4 : 0;
}
void call_once(int *flag, void (*initialise)(void)) { pthread_once(flag, initialise); }

/* Keys: each thread has a value of its own for each of the first four. A destructor is not
   modelled. */
KEYS extern void __wherefore_other_keys(void);
KEYS unsigned __wherefore_keys;
KEYS void *__wherefore_values[MOST][4];
KEYS int pthread_key_create(unsigned *key, void (*destructor)(void *)) {
KEYS   __VERIFIER_atomic_begin();
KEYS   if (destructor || __wherefore_keys >= 4)
KEYS     __wherefore_other_keys();
KEYS   *key = __wherefore_keys;
KEYS   __wherefore_keys = __wherefore_keys + 1;
KEYS   __VERIFIER_atomic_end();
KEYS   return 0;
KEYS }
KEYS int pthread_key_delete(unsigned key) { return 0; }
KEYS void *pthread_getspecific(unsigned key) {
KEYS   if (__wherefore_self >= MOST || key >= 4)
KEYS     __wherefore_too_many_threads();
KEYS   return __wherefore_values[__wherefore_self][key];
KEYS }
KEYS int pthread_setspecific(unsigned key, const void *value) {
KEYS   if (__wherefore_self >= MOST || key >= 4)
KEYS     __wherefore_too_many_threads();
KEYS   __wherefore_values[__wherefore_self][key] = (void *)value;
KEYS   return 0;
KEYS }
KEYS int tss_create(unsigned *key, void (*destructor)(void *)) { return pthread_key_create(key, destructor); }
KEYS void tss_delete(unsigned key) {}
KEYS void *tss_get(unsigned key) { return pthread_getspecific(key); }
KEYS int tss_set(unsigned key, void *value) { return pthread_setspecific(key, value); }
