/* errno.h: one number of the program. */
int __builtin_own_errno;
int *__errno_location(void) { return &__builtin_own_errno; }
void __builtin_own_set_errno(int number) { __builtin_own_errno = number; }

/* Streams have addresses, each its own; what is there is not looked at. */
static char __builtin_own_streams[64];
static int __builtin_own_opened;
void *__builtin_own_stream(void) {
  if (__builtin_own_opened < 63)
    __builtin_own_opened++;
  return &__builtin_own_streams[__builtin_own_opened];
}
void __builtin_own_ended(void *stream, int how) {}

/* stdlib.h: the integer that a text begins with, as the GNU C library reads it. */
static unsigned long long __builtin_own_integer(const char *text, char **end, int base, int is_signed,
                                                unsigned long long most, int has_binary) {
  const char *start = text;
  if (base < 0 || base == 1 || base > 36) {
    __builtin_own_errno = 22;
    return 0;
  }
  while (*text == ' ' || (*text >= 9 && *text <= 13))
    text++;
  int is_negative = *text == '-', has_prefix = 0;
  if (*text == '-' || *text == '+')
    text++;
  if (*text == '0') {
    if ((base == 0 || base == 16) && (text[1] == 'x' || text[1] == 'X')) {
      base = 16;
      has_prefix = 1;
    } else if (has_binary && (base == 0 || base == 2) && (text[1] == 'b' || text[1] == 'B')) {
      base = 2;
      has_prefix = 1;
    } else if (base == 0) {
      base = 8;
    }
  } else if (base == 0) {
    base = 10;
  }
  if (has_prefix)
    text += 2;
  if (is_signed && is_negative)
    most++;
  unsigned long long value = 0, limit = most / (unsigned)base;
  int last = (int)(most % (unsigned)base), is_beyond = 0;
  const char *first = text;
  for (;; text++) {
    int digit = *text >= '0' && *text <= '9'   ? *text - '0'
                : *text >= 'a' && *text <= 'z' ? *text - 'a' + 10
                : *text >= 'A' && *text <= 'Z' ? *text - 'A' + 10
                                               : 36;
    if (digit >= base)
      break;
    if (value > limit || (value == limit && digit > last))
      is_beyond = 1;
    else
      value = value * (unsigned)base + (unsigned)digit;
  }
  if (end)
    *end = (char *)(text != first ? text : has_prefix ? first - 1 : start);
  if (is_beyond) {
    __builtin_own_errno = 34;
    return is_signed && is_negative ? -most : most;
  }
  return is_negative ? -value : value;
}
long strtol(const char *text, char **end, int base) {
  return (long)__builtin_own_integer(text, end, base, 1, ~0ul >> 1, 0);
}
unsigned long strtoul(const char *text, char **end, int base) {
  return (unsigned long)__builtin_own_integer(text, end, base, 0, ~0ul, 0);
}
long long strtoll(const char *text, char **end, int base) {
  return (long long)__builtin_own_integer(text, end, base, 1, ~0ull >> 1, 0);
}
unsigned long long strtoull(const char *text, char **end, int base) {
  return __builtin_own_integer(text, end, base, 0, ~0ull, 0);
}
long long strtoimax(const char *text, char **end, int base) {
  return (long long)__builtin_own_integer(text, end, base, 1, ~0ull >> 1, 0);
}
unsigned long long strtoumax(const char *text, char **end, int base) {
  return __builtin_own_integer(text, end, base, 0, ~0ull, 0);
}

/* The same for C23, which knows binary numbers. */
long __isoc23_strtol(const char *text, char **end, int base) {
  return (long)__builtin_own_integer(text, end, base, 1, ~0ul >> 1, 1);
}
unsigned long __isoc23_strtoul(const char *text, char **end, int base) {
  return (unsigned long)__builtin_own_integer(text, end, base, 0, ~0ul, 1);
}
long long __isoc23_strtoll(const char *text, char **end, int base) {
  return (long long)__builtin_own_integer(text, end, base, 1, ~0ull >> 1, 1);
}
unsigned long long __isoc23_strtoull(const char *text, char **end, int base) {
  return __builtin_own_integer(text, end, base, 0, ~0ull, 1);
}
