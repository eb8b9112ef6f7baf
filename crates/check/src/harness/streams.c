/* Which streams have come to their end, or failed. */
#define HAS_STREAMS
extern void *stdin;
static struct { void *stream; int how; } ended[64];
static unsigned endings;
PLAIN static void begin_again(void *stream) {
  for (int i = 0; i < 64; i++)
    if (ended[i].stream == stream) ended[i].stream = 0;
}
PLAIN void __builtin_own_ended(void *stream, int how) {
  if (how == 0) {
    begin_again(stream);
    return;
  }
  ended[endings % 64].stream = stream;
  ended[endings++ % 64].how = how;
}
PLAIN static int has_ended(void *stream, int how) {
  for (int i = 0; i < 64; i++)
    if (stream && ended[i].stream == stream && ended[i].how == how) return 1;
  return 0;
}
#ifdef HAS_BACK
void __builtin_own_forget(void *stream);
#define FORGET __builtin_own_forget(stream);
#else
#define FORGET
#endif
#ifdef HAS_FILES
#define REALLY(call) if (is_own(stream)) return call;
WEAK PLAIN int fseek(void *stream, long to, int from) {
  FORGET
  begin_again(stream);
  return fseeko64 ? fseeko64(stream, to, from) : (give_up(), 0);
}
WEAK PLAIN int fseeko(void *stream, long to, int from) { return fseek(stream, to, from); }
#else
#define REALLY(call)
#endif
#define STATE(name, how, real) \
  WEAK PLAIN int name(void *stream) { \
    __builtin_own_needed(stream); \
    REALLY(real(stream)) \
    return has_ended(stream, how); \
  }
STATE(feof, 1, _IO_feof)
STATE(feof_unlocked, 1, _IO_feof)
STATE(ferror, 2, _IO_ferror)
STATE(ferror_unlocked, 2, _IO_ferror)
WEAK PLAIN void clearerr(void *stream) {
  __builtin_own_needed(stream);
  REALLY(clearerr_unlocked(stream))
  begin_again(stream);
}
WEAK PLAIN void rewind(void *stream) {
  __builtin_own_needed(stream);
  FORGET
  REALLY((void)fseeko64(stream, 0, 0))
  begin_again(stream);
}

