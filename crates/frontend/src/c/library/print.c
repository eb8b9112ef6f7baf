/* stdio.h: what `sprintf` and `snprintf` write, part by part. `at` is how long the text is so far,
   whether it fits or not. Flags: 1 `-`, 2 `0`, 4 `+`, 8 space, 16 `#`, 32 upper case. */
typedef unsigned long size_t;
int __builtin_own_printed(void);
size_t __builtin_own_put(char *to, size_t size, size_t at, int character) {
  if (size > 0 && at < size - 1)
    to[at] = (char)character;
  return at + 1;
}
size_t __builtin_own_put_text(char *to, size_t size, size_t at, const char *text) {
  for (; *text; text++) {
    if (size > 0 && at < size - 1)
      to[at] = *text;
    at++;
  }
  return at;
}
/* So many characters of the format. */
size_t __builtin_own_put_part(char *to, size_t size, size_t at, const char *part, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (size > 0 && at < size - 1)
      to[at] = part[i];
    at++;
  }
  return at;
}
int __builtin_own_put_end(char *to, size_t size, size_t at) {
  if (size > 0)
    to[at < size ? at : size - 1] = 0;
  return (int)at;
}
static size_t fill(char *to, size_t size, size_t at, int character, int count) {
  for (int i = 0; i < count; i++)
    at = __builtin_own_put(to, size, at, character);
  return at;
}
/* A text with a width, of which at most so many characters are read. */
size_t __builtin_own_put_string(char *to, size_t size, size_t at, const char *text, int flags, int width, int precision) {
  int length = 0;
  while ((precision < 0 || length < precision) && text[length])
    length++;
  int left = (flags & 1) || width < 0;
  int room = (width < 0 ? -width : width) - length;
  if (!left)
    at = fill(to, size, at, ' ', room);
  for (int i = 0; i < length; i++)
    at = __builtin_own_put(to, size, at, text[i]);
  return left ? fill(to, size, at, ' ', room) : at;
}
size_t __builtin_own_put_character(char *to, size_t size, size_t at, int character, int flags, int width) {
  int left = (flags & 1) || width < 0;
  int room = (width < 0 ? -width : width) - 1;
  if (!left)
    at = fill(to, size, at, ' ', room);
  at = __builtin_own_put(to, size, at, character);
  return left ? fill(to, size, at, ' ', room) : at;
}
/* The digits of a number are there, the lowest first: what stands around them. */
static size_t framed(char *to, size_t size, size_t at, const char *digits, int count, int base, int sign, int flags, int width, int precision) {
  int needed = precision < 0 ? 1 : precision;
  if (needed < count)
    needed = count;
  if ((flags & 16) && base == 8 && needed <= count)
    needed = count + 1;
  int prefix = (flags & 16) && base == 16 && count > 0 ? 2 : sign ? 1 : 0;
  int left = (flags & 1) || width < 0;
  int room = (width < 0 ? -width : width) - prefix - needed;
  if ((flags & 2) && !left && precision < 0 && room > 0) {
    needed += room;
    room = 0;
  }
  if (!left)
    at = fill(to, size, at, ' ', room);
  if (prefix == 2) {
    at = __builtin_own_put(to, size, at, '0');
    at = __builtin_own_put(to, size, at, flags & 32 ? 'X' : 'x');
  } else if (prefix == 1)
    at = __builtin_own_put(to, size, at, sign);
  at = fill(to, size, at, '0', needed - count);
  for (int i = count - 1; i >= 0; i--)
    at = __builtin_own_put(to, size, at, digits[i]);
  return left ? fill(to, size, at, ' ', room) : at;
}
static int digit(int value, int flags) {
  return value < 10 ? '0' + value : value - 10 + (flags & 32 ? 'A' : 'a');
}
static size_t number(char *to, size_t size, size_t at, unsigned value, int base, int sign, int flags, int width, int precision) {
  char digits[11];
  int count = 0;
  while (value != 0) {
    if (base == 10) {
      digits[count++] = (char)('0' + value % 10);
      value = value / 10;
    } else if (base == 16) {
      digits[count++] = (char)digit((int)(value & 15), flags);
      value = value >> 4;
    } else {
      digits[count++] = (char)('0' + (value & 7));
      value = value >> 3;
    }
  }
  return framed(to, size, at, digits, count, base, sign, flags, width, precision);
}
static size_t long_number(char *to, size_t size, size_t at, unsigned long long value, int base, int sign, int flags, int width, int precision) {
  char digits[22];
  int count = 0;
  while (value != 0) {
    if (base == 10) {
      digits[count++] = (char)('0' + value % 10);
      value = value / 10;
    } else if (base == 16) {
      digits[count++] = (char)digit((int)(value & 15), flags);
      value = value >> 4;
    } else {
      digits[count++] = (char)('0' + (value & 7));
      value = value >> 3;
    }
  }
  return framed(to, size, at, digits, count, base, sign, flags, width, precision);
}
static int sign_of(int negative, int flags) {
  return negative ? '-' : flags & 4 ? '+' : flags & 8 ? ' ' : 0;
}
size_t __builtin_own_put_int(char *to, size_t size, size_t at, int value, int flags, int width, int precision) {
  unsigned magnitude = value < 0 ? 0u - (unsigned)value : (unsigned)value;
  return number(to, size, at, magnitude, 10, sign_of(value < 0, flags), flags, width, precision);
}
size_t __builtin_own_put_long(char *to, size_t size, size_t at, long long value, int flags, int width, int precision) {
  unsigned long long magnitude = value < 0 ? 0ull - (unsigned long long)value : (unsigned long long)value;
  return long_number(to, size, at, magnitude, 10, sign_of(value < 0, flags), flags, width, precision);
}
size_t __builtin_own_put_unsigned(char *to, size_t size, size_t at, unsigned value, int base, int flags, int width, int precision) {
  return number(to, size, at, value, base, 0, flags, width, precision);
}
size_t __builtin_own_put_unsigned_long(char *to, size_t size, size_t at, unsigned long long value, int base, int flags, int width, int precision) {
  return long_number(to, size, at, value, base, 0, flags, width, precision);
}
/* A text of which only the length is bounded: by `most` and a precision (6 if it is not given), or
   by the width. */
size_t __builtin_own_put_open(char *to, size_t size, size_t at, int most, int width, int precision) {
  int room = width < 0 ? -width : width;
  int length = __builtin_own_printed();
  int limit = most + (precision < 0 ? 6 : precision);
  if (limit < room)
    limit = room;
  if (length < 1 || length < room || length > limit)
    length = room < 1 ? 1 : room;
  for (int i = 0; i < length; i++) {
    int character = __builtin_own_printed();
    at = __builtin_own_put(to, size, at, (char)character ? character : ' ');
  }
  return at;
}
