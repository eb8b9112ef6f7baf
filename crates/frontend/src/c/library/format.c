/* stdio.h: texts that are printed by a format that is read while the program runs. What is not
   known of a format lets the rest of the text be anything. */
typedef unsigned long size_t;
typedef __builtin_va_list va_list;
size_t __builtin_own_put(char *to, size_t size, size_t at, int character);
int __builtin_own_put_end(char *to, size_t size, size_t at);
size_t __builtin_own_put_text(char *to, size_t size, size_t at, const char *text);
size_t __builtin_own_put_string(char *to, size_t size, size_t at, const char *text, int flags, int width, int precision);
size_t __builtin_own_put_character(char *to, size_t size, size_t at, int character, int flags, int width);
size_t __builtin_own_put_long(char *to, size_t size, size_t at, long long value, int flags, int width, int precision);
size_t __builtin_own_put_unsigned_long(char *to, size_t size, size_t at, unsigned long long value, int base, int flags, int width, int precision);
size_t __builtin_own_put_open(char *to, size_t size, size_t at, int most, int width, int precision);
void *malloc(size_t size);
static int flag(char letter) {
  switch (letter) {
  case '-': return 1;
  case '0': return 2;
  case '+': return 4;
  case ' ': return 8;
  case '#': return 16;
  default: return 0;
  }
}
/* How many bytes an integer has that is passed with such a length. */
static int size_of(const char *length) {
  switch (length[0]) {
  case 'h': return length[1] == 'h' ? 1 : 2;
  case 'l': return length[1] == 'l' ? 8 : (int)sizeof(long);
  case 'z': case 't': return (int)sizeof(long);
  case 'j': case 'q': case 'L': return 8;
  default: return 4;
  }
}
static int is_length(char c) {
  return c == 'h' || c == 'l' || c == 'z' || c == 't' || c == 'j' || c == 'q' || c == 'L';
}
int __builtin_own_vformat(char *to, size_t size, const char *format, va_list list) {
  size_t at = 0;
  for (; *format; format++) {
    if (*format != '%') {
      at = __builtin_own_put(to, size, at, *format);
      continue;
    }
    format++;
    int flags = 0, width = 0, precision = -1;
    for (int bit = flag(*format); bit; bit = flag(*++format))
      flags |= bit;
    if (*format == '*') {
      width = __builtin_va_arg(list, int);
      format++;
    } else
      for (; *format >= '0' && *format <= '9'; format++)
        width = width < 100000000 ? width * 10 + (*format - '0') : width;
    if (*format == '.') {
      precision = 0;
      format++;
      if (*format == '*') {
        precision = __builtin_va_arg(list, int);
        format++;
      } else
        for (; *format >= '0' && *format <= '9'; format++)
          precision = precision < 100000000 ? precision * 10 + (*format - '0') : precision;
    }
    int bytes = size_of(format), is_long = *format == 'l', is_wide = *format == 'L';
    while (is_length(*format))
      format++;
    switch (*format) {
    case '%':
      at = __builtin_own_put(to, size, at, '%');
      break;
    case 'd': case 'i': {
      long long value =
          bytes == 8 ? __builtin_va_arg(list, long long) : __builtin_va_arg(list, int);
      if (bytes == 1)
        value = (signed char)value;
      if (bytes == 2)
        value = (short)value;
      at = __builtin_own_put_long(to, size, at, value, flags, width, precision);
      break;
    }
    case 'u': case 'o': case 'x': case 'X': {
      unsigned long long value = bytes == 8 ? __builtin_va_arg(list, unsigned long long)
                                            : __builtin_va_arg(list, unsigned);
      if (bytes == 1)
        value = (unsigned char)value;
      if (bytes == 2)
        value = (unsigned short)value;
      int base = *format == 'u' ? 10 : *format == 'o' ? 8 : 16;
      if (*format == 'X')
        flags |= 32;
      at = __builtin_own_put_unsigned_long(to, size, at, value, base, flags, width, precision);
      break;
    }
    case 'c': {
      int character = __builtin_va_arg(list, int);
      if (is_long)
        at = __builtin_own_put_open(to, size, at, 16, width, 0);
      else
        at = __builtin_own_put_character(to, size, at, character, flags, width);
      break;
    }
    case 's': {
      const char *text = __builtin_va_arg(list, const char *);
      if (is_long)
        at = __builtin_own_put_open(to, size, at, 0x7fffff00, width, 0);
      else if (width == 0 && precision < 0)
        at = __builtin_own_put_text(to, size, at, text);
      else
        at = __builtin_own_put_string(to, size, at, text, flags, width, precision);
      break;
    }
    case 'p': {
      const char *pointer = __builtin_va_arg(list, const char *);
      at = __builtin_own_put_open(to, size, at, 18, width, 0);
      break;
    }
    case 'f': case 'F': case 'e': case 'E': case 'g': case 'G': case 'a': case 'A':
      if (is_wide) {
        long double value = __builtin_va_arg(list, long double);
        at = __builtin_own_put_open(to, size, at, 5000, width, precision);
      } else {
        double value = __builtin_va_arg(list, double);
        at = __builtin_own_put_open(to, size, at, 330, width, precision);
      }
      break;
    case 'n': {
      char *count = __builtin_va_arg(list, char *);
      unsigned long long value = at;
      for (int i = 0; i < bytes; i++) {
        count[i] = (char)value;
        value >>= 8;
      }
      break;
    }
    default:
      at = __builtin_own_put_open(to, size, at, 0x7fffff00, width, 0);
      return __builtin_own_put_end(to, size, at);
    }
  }
  return __builtin_own_put_end(to, size, at);
}
int __builtin_own_format(char *to, size_t size, const char *format, ...) {
  va_list list;
  __builtin_va_start(list, format);
  int length = __builtin_own_vformat(to, size, format, list);
  __builtin_va_end(list);
  return length;
}
int vsnprintf(char *to, size_t size, const char *format, va_list list) {
  return __builtin_own_vformat(to, size, format, list);
}
int vsprintf(char *to, const char *format, va_list list) {
  return __builtin_own_vformat(to, ~(size_t)0, format, list);
}
int vasprintf(char **to, const char *format, va_list list) {
  va_list again;
  __builtin_va_copy(again, list);
  int length = __builtin_own_vformat(0, 0, format, again);
  __builtin_va_end(again);
  *to = malloc((size_t)length + 1);
  if (!*to)
    return -1;
  return __builtin_own_vformat(*to, (size_t)length + 1, format, list);
}
int asprintf(char **to, const char *format, ...) {
  va_list list;
  __builtin_va_start(list, format);
  int length = vasprintf(to, format, list);
  __builtin_va_end(list);
  return length;
}
