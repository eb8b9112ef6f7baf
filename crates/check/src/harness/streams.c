/* Which streams have come to their end, or failed. */
#define HAS_STREAMS
extern void *stdin;
static struct { void *stream; int how; } ended[64];
static unsigned endings;
PLAIN void __builtin_own_ended(void *stream, int how) {
  ended[endings % 64].stream = stream;
  ended[endings++ % 64].how = how;
}
PLAIN static int has_ended(void *stream, int how) {
  for (int i = 0; i < 64; i++)
    if (stream && ended[i].stream == stream && ended[i].how == how) return 1;
  return 0;
}
PLAIN static void begin_again(void *stream) {
  for (int i = 0; i < 64; i++)
    if (ended[i].stream == stream) ended[i].stream = 0;
}
WEAK PLAIN int feof(void *stream) { __builtin_own_needed(stream); return has_ended(stream, 1); }
WEAK PLAIN int feof_unlocked(void *stream) { __builtin_own_needed(stream); return has_ended(stream, 1); }
WEAK PLAIN int ferror(void *stream) { __builtin_own_needed(stream); return has_ended(stream, 2); }
WEAK PLAIN int ferror_unlocked(void *stream) { __builtin_own_needed(stream); return has_ended(stream, 2); }
WEAK PLAIN void clearerr(void *stream) { __builtin_own_needed(stream); begin_again(stream); }
WEAK PLAIN void rewind(void *stream) { __builtin_own_needed(stream); begin_again(stream); }

