/* setjmp.h: the buffer holds a mark of the call of `setjmp` that has filled it. That `setjmp`
   returns again is up to the callers of `longjmp`: see lower/jumps.rs. Two are for
   jumps out of nested functions. */
long __builtin_own_mark(void);
void __builtin_own_jump(long mark, int value);
int _setjmp(void *buffer) {
  *(long *)buffer = __builtin_own_mark();
  return 0;
}
int __builtin_own_setjmp(void *buffer) { return _setjmp(buffer); }
void __builtin_own_longjmp(void *buffer, int value) { __builtin_own_jump(*(long *)buffer, value); }
int setjmp(void *buffer) { return _setjmp(buffer); }
int sigsetjmp(void *buffer, int mask) { return _setjmp(buffer); }
int __sigsetjmp(void *buffer, int mask) { return _setjmp(buffer); }
void longjmp(void *buffer, int value) { __builtin_own_jump(*(long *)buffer, value); }
void _longjmp(void *buffer, int value) { longjmp(buffer, value); }
void siglongjmp(void *buffer, int value) { longjmp(buffer, value); }
void __longjmp_chk(void *buffer, int value) { longjmp(buffer, value); }
