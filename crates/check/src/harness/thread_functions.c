/* Threads and what orders them, for a program that follows a schedule (schedule.c): the functions do
   what `frontend/src/c/threads.c` models, and each step of the model that other threads can tell is a
   gate. docs/threads.md says what they mean. */


static void finish(void *result) {
  wherefore_call("__wherefore_finish");
  results[running] = result;
  has_ended[running] = 1;
  run_thread(gates[passed].thread);
}

static void *(*starts[MOST])(void *);
static void *arguments[MOST];
static int returns_number[MOST];

static void begin(void) {
  int self = running;
  finish(starts[self](arguments[self]));
}

static int start(const char *name, unsigned long *thread, void *(*function)(void *), void *argument, int number) {
  wherefore_call(name);
  int id = threads + 1;
  if (id >= MOST)
    departs("there are too many threads", "", "", "");
  starts[id] = function;
  arguments[id] = argument;
  returns_number[id] = number;
  getcontext(&contexts[id]);
  contexts[id].uc_stack.ss_sp = room(STACK);
  contexts[id].uc_stack.ss_size = STACK;
  contexts[id].uc_link = 0;
  makecontext(&contexts[id], begin, 0);
  threads = id;
  *thread = id;
  return 0;
}
/* A step that is possible only if the condition holds. */
static void needs(int condition, const char *name) {
  if (!condition)
    departs("`", name, "` waits where the schedule goes on, at ", passed ? gates[passed - 1].at : "the start");
}

API int pthread_create(unsigned long *thread, const void *attributes, void *(*function)(void *), void *argument) {
  return start("pthread_create", thread, function, argument, 0);
}
API int thrd_create(unsigned long *thread, int (*function)(void *), void *argument) {
  return start("thrd_create", thread, (void *(*)(void *))function, argument, 1);
}
API void pthread_exit(void *result) {
  finish(result);
  __builtin_unreachable();
}
API void thrd_exit(int result) { pthread_exit((void *)(long)result); }
API int pthread_join(unsigned long thread, void **result) {
  wherefore_call("pthread_join");
  needs(thread < MOST && has_ended[thread], "pthread_join");
  if (result)
    *result = returns_number[thread] ? (void *)(long)(int)(long)results[thread] : results[thread];
  return 0;
}
API int thrd_join(unsigned long thread, int *result) {
  wherefore_call("thrd_join");
  needs(thread < MOST && has_ended[thread], "thrd_join");
  if (result)
    *result = (int)(long)results[thread];
  return 0;
}
API unsigned long pthread_self(void) { return running; }
API unsigned long thrd_current(void) { return running; }
API int pthread_equal(unsigned long a, unsigned long b) { return a == b; }
API int thrd_equal(unsigned long a, unsigned long b) { return a == b; }
API int pthread_detach(unsigned long thread) { return 0; }
API int thrd_detach(unsigned long thread) { return 0; }
API int pthread_attr_init(void *attributes) { return 0; }
API int pthread_attr_destroy(void *attributes) { return 0; }
API int pthread_attr_setdetachstate(void *attributes, int state) { return 0; }
API int pthread_attr_setstacksize(void *attributes, unsigned long size) { return 0; }
API int pthread_attr_setscope(void *attributes, int scope) { return 0; }
API int sched_yield(void) { return 0; }
API int pthread_yield(void) { return 0; }
API void thrd_yield(void) {}
API int thrd_sleep(const void *time, void *left) { return 0; }
API unsigned sleep(unsigned seconds) { return 0; }
API int usleep(unsigned time) { return 0; }

API int pthread_mutexattr_init(int *attributes) { *attributes = 0; return 0; }
API int pthread_mutexattr_destroy(int *attributes) { return 0; }
API int pthread_mutexattr_settype(int *attributes, int kind) { *attributes = kind; return 0; }
API int pthread_mutexattr_setprotocol(int *attributes, int protocol) { return 0; }
API int pthread_mutexattr_setpshared(int *attributes, int shared) { return 0; }

#define KIND(mutex) ((mutex)[sizeof(long) == 8 ? 4 : 3])
API int pthread_mutex_init(int *mutex, const int *attributes) {
  wherefore_call("pthread_mutex_init");
  *mutex = 0;
  KIND(mutex) = attributes ? *attributes : 0;
  mutex[1] = 0;
  return 0;
}
API int pthread_mutex_destroy(int *mutex) { return 0; }
API int pthread_mutex_lock(int *mutex) {
  rest();
  if (*mutex == running + 1 && KIND(mutex) == 2)
    return 35;
  wherefore_call("pthread_mutex_lock");
  if (*mutex == running + 1 && KIND(mutex) == 1) {
    mutex[1]++;
    return 0;
  }
  needs(*mutex == 0, "pthread_mutex_lock");
  *mutex = running + 1;
  return 0;
}
API int pthread_mutex_trylock(int *mutex) {
  wherefore_call("pthread_mutex_trylock");
  if (*mutex == running + 1 && KIND(mutex) == 1) {
    mutex[1]++;
    return 0;
  }
  if (*mutex)
    return 16;
  *mutex = running + 1;
  return 0;
}
API int pthread_mutex_timedlock(int *mutex, const void *time) {
  rest();
  if (*mutex == running + 1 && KIND(mutex) == 2)
    return 35;
  if (fed_bool())
    return 110;
  needs(pthread_mutex_trylock(mutex) == 0, "pthread_mutex_timedlock");
  return 0;
}
API int pthread_mutex_unlock(int *mutex) {
  rest();
  if (KIND(mutex) && *mutex != running + 1)
    return 1;
  wherefore_call("pthread_mutex_unlock");
  if (KIND(mutex) == 1 && mutex[1] > 0)
    mutex[1]--;
  else
    *mutex = 0;
  return 0;
}

API int pthread_spin_init(int *lock, int shared) { wherefore_call("pthread_spin_init"); *lock = 0; return 0; }
API int pthread_spin_destroy(void *lock) { return 0; }
API int pthread_spin_lock(int *lock) {
  wherefore_call("pthread_spin_lock");
  needs(*lock == 0, "pthread_spin_lock");
  *lock = 1;
  return 0;
}
API int pthread_spin_trylock(int *lock) {
  wherefore_call("pthread_spin_trylock");
  if (*lock)
    return 16;
  *lock = 1;
  return 0;
}
API int pthread_spin_unlock(int *lock) { wherefore_call("pthread_spin_unlock"); *lock = 0; return 0; }

API int pthread_condattr_init(void *attributes) { return 0; }
API int pthread_condattr_destroy(void *attributes) { return 0; }
API int pthread_condattr_setclock(void *attributes, int clock) { return 0; }
API int pthread_condattr_setpshared(void *attributes, int shared) { return 0; }
API int pthread_cond_init(void *condition, const void *attributes) { return 0; }
API int pthread_cond_destroy(void *condition) { return 0; }
API int pthread_cond_signal(void *condition) { return 0; }
API int pthread_cond_broadcast(void *condition) { return 0; }
API int pthread_cond_wait(void *condition, int *mutex) {
  pthread_mutex_unlock(mutex);
  pthread_mutex_lock(mutex);
  return 0;
}
API int pthread_cond_timedwait(void *condition, int *mutex, const void *time) {
  pthread_mutex_unlock(mutex);
  pthread_mutex_lock(mutex);
  return fed_int() ? 110 : 0;
}

API int pthread_barrier_init(unsigned *barrier, const void *attributes, unsigned count) {
  if (count == 0)
    return 22;
  wherefore_call("pthread_barrier_init");
  barrier[0] = count;
  barrier[1] = barrier[2] = 0;
  return 0;
}
API int pthread_barrier_destroy(void *barrier) { return 0; }
API int pthread_barrier_wait(unsigned *barrier) {
  wherefore_call("pthread_barrier_wait");
  unsigned round = barrier[2];
  if (++barrier[1] == barrier[0]) {
    barrier[1] = 0;
    barrier[2]++;
    return -1;
  }
  wherefore_call("pthread_barrier_wait");
  needs(barrier[2] != round, "pthread_barrier_wait");
  return 0;
}

API int pthread_once(int *control, void (*initialise)(void)) {
  wherefore_call("pthread_once");
  if (*control == 0) {
    *control = 1;
    initialise();
    wherefore_call("pthread_once");
    *control = 2;
    return 0;
  }
  wherefore_call("pthread_once");
  needs(*control == 2, "pthread_once");
  return 0;
}

API int pthread_rwlock_init(int *lock, const void *attributes) { wherefore_call("pthread_rwlock_init"); *lock = 0; return 0; }
API int pthread_rwlock_destroy(void *lock) { return 0; }
API int pthread_rwlockattr_init(void *attributes) { return 0; }
API int pthread_rwlockattr_destroy(void *attributes) { return 0; }
API int pthread_rwlock_rdlock(int *lock) {
  wherefore_call("pthread_rwlock_rdlock");
  needs(*lock >= 0, "pthread_rwlock_rdlock");
  ++*lock;
  return 0;
}
API int pthread_rwlock_wrlock(int *lock) {
  wherefore_call("pthread_rwlock_wrlock");
  needs(*lock == 0, "pthread_rwlock_wrlock");
  *lock = -1;
  return 0;
}
API int pthread_rwlock_tryrdlock(int *lock) {
  wherefore_call("pthread_rwlock_tryrdlock");
  if (*lock < 0)
    return 16;
  ++*lock;
  return 0;
}
API int pthread_rwlock_trywrlock(int *lock) {
  wherefore_call("pthread_rwlock_trywrlock");
  if (*lock)
    return 16;
  *lock = -1;
  return 0;
}
API int pthread_rwlock_unlock(int *lock) {
  wherefore_call("pthread_rwlock_unlock");
  *lock = *lock < 0 ? 0 : *lock - 1;
  return 0;
}

API int sem_init(int *semaphore, int shared, unsigned value) { wherefore_call("sem_init"); *semaphore = (int)value; return 0; }
API int sem_destroy(void *semaphore) { return 0; }
API int sem_post(int *semaphore) {
  wherefore_call("sem_post");
  ++*semaphore;
  return 0;
}
API int sem_wait(int *semaphore) {
  wherefore_call("sem_wait");
  needs(*semaphore > 0, "sem_wait");
  --*semaphore;
  return 0;
}
API int sem_getvalue(int *semaphore, int *value) { *value = *semaphore; return 0; }
API int sem_trywait(int *semaphore) {
  wherefore_call("sem_trywait");
  if (*semaphore > 0) {
    --*semaphore;
    return 0;
  }
  *own_errno() = 11;
  return -1;
}
API int sem_timedwait(int *semaphore, const void *time) {
  if (fed_bool()) {
    *own_errno() = 110;
    return -1;
  }
  needs(sem_trywait(semaphore) == 0, "sem_timedwait");
  return 0;
}

API int mtx_init(int *mutex, int kind) {
  wherefore_call("mtx_init");
  *mutex = 0;
  KIND(mutex) = kind & 1;
  mutex[1] = 0;
  return 0;
}
API void mtx_destroy(int *mutex) {}
API int mtx_lock(int *mutex) { return pthread_mutex_lock(mutex); }
API int mtx_trylock(int *mutex) { return pthread_mutex_trylock(mutex) ? 1 : 0; }
API int mtx_timedlock(int *mutex, const void *time) { return pthread_mutex_timedlock(mutex, time) ? 4 : 0; }
API int mtx_unlock(int *mutex) { return pthread_mutex_unlock(mutex); }
API int cnd_init(void *condition) { return 0; }
API void cnd_destroy(void *condition) {}
API int cnd_signal(void *condition) { return 0; }
API int cnd_broadcast(void *condition) { return 0; }
API int cnd_wait(void *condition, int *mutex) { return pthread_cond_wait(condition, mutex); }
API int cnd_timedwait(void *condition, int *mutex, const void *time) {
  return pthread_cond_timedwait(condition, mutex, time) ? 4 : 0;
}
API void call_once(int *flag, void (*initialise)(void)) { pthread_once(flag, initialise); }

static void *values[MOST][4];
static unsigned keys;
API int pthread_key_create(unsigned *key, void (*destructor)(void *)) {
  wherefore_call("pthread_key_create");
  *key = keys++;
  return 0;
}
API int pthread_key_delete(unsigned key) { return 0; }
API void *pthread_getspecific(unsigned key) { return key < 4 ? values[running][key] : 0; }
API int pthread_setspecific(unsigned key, const void *value) {
  if (key < 4)
    values[running][key] = (void *)value;
  return 0;
}
API int tss_create(unsigned *key, void (*destructor)(void *)) { return pthread_key_create(key, destructor); }
API void tss_delete(unsigned key) {}
API void *tss_get(unsigned key) { return pthread_getspecific(key); }
API int tss_set(unsigned key, void *value) { return pthread_setspecific(key, value); }

API void __VERIFIER_atomic_begin(void) {}
API void __VERIFIER_atomic_end(void) {}
