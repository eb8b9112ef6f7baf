/* What models of functions that bring input need. */
typedef __builtin_va_list arguments;
extern void *malloc(__SIZE_TYPE__);
/* A small library for 32 bits has none of these. */
extern void *fmemopen(void *, __SIZE_TYPE__, const char *) __attribute__((weak));
extern int *__errno_location(void) __attribute__((weak));
extern void *stdin __attribute__((weak));
#ifndef HAS_STREAMS
void __builtin_own_ended(void *stream, int how) {}
#endif
void __builtin_own_set_errno(int number) {
  if (__errno_location)
    *__errno_location() = number;
}
void *__builtin_own_room(__SIZE_TYPE__ size) { return malloc(size); }
void *__builtin_own_stream(void) { return fmemopen ? fmemopen(0, 65536, "w+") : 0; }

/* Characters, in programs that put some back. */
#ifdef HAS_BACK
extern int __builtin_own_getc(void *);
#define GETTING(name)                                                                              \
  __attribute__((weak)) int name(void *stream) { return __builtin_own_getc(stream); }
GETTING(getc)
GETTING(fgetc)
GETTING(_IO_getc)
GETTING(getc_unlocked)
GETTING(fgetc_unlocked)
#ifndef HAS_STREAMS
extern int fseek(void *, long, int);
__attribute__((weak)) void rewind(void *stream) {
  __builtin_own_forget(stream);
  fseek(stream, 0, 0);
}
#endif
__attribute__((weak)) int getchar(void) { return __builtin_own_getc(&stdin ? stdin : 0); }
__attribute__((weak)) int getchar_unlocked(void) { return __builtin_own_getc(&stdin ? stdin : 0); }
#endif

/* scanf and fscanf, conversion by conversion. */
extern void __outside(void);
extern int __input_scanf(void), __input_scanf_int(void);
extern signed char __input_scanf_char(void);
extern short __input_scanf_short(void);
extern long long __input_scanf_long(void);
extern float __input_scanf_float(void);
extern double __input_scanf_double(void);
extern void __builtin_own_word(char *, long), __builtin_own_solid(char *, long);
extern void __builtin_own_characters(char *, long);
static int scan(void *stream, int is_given, const char *format, arguments list) {
  if (is_given)
    __builtin_own_needed(stream);
#ifdef HAS_FILES
  if (is_own(stream))
    return own_scan(stream, format, list);
#endif
  __outside();
  int result = __input_scanf(), left = result;
  if (result < 0)
    __builtin_own_ended(stream, 1);
  for (const char *start = format; *format && left > 0; format++) {
    if (*format != '%')
      continue;
    int skips = format > start && (format[-1] == ' ' || (format[-1] >= 9 && format[-1] <= 13));
    if (*++format == '%')
      continue;
    int is_skipped = *format == '*', size = 4;
    long width = 0;
    if (is_skipped)
      format++;
    for (; *format >= '0' && *format <= '9'; format++)
      width = width * 10 + (*format - '0');
    if (format[0] == 'h')
      size = format[1] == 'h' ? 1 : 2;
    else if (format[0] == 'l')
      size = format[1] == 'l' ? 8 : (int)sizeof(long);
    else if (format[0] == 'z' || format[0] == 't')
      size = (int)sizeof(long);
    else if (format[0] == 'j' || format[0] == 'q' || format[0] == 'L')
      size = 8;
    int has_length = *format == 'l';
    while (*format == 'h' || *format == 'l' || *format == 'z' || *format == 't' || *format == 'j' ||
           *format == 'q' || *format == 'L')
      format++;
    if (is_skipped)
      continue;
    void *to = __builtin_va_arg(list, void *);
    switch (*format) {
    case 's':
      __builtin_own_word(to, width ? width : 0x7fffffff);
      break;
    case 'c':
      if (skips)
        __builtin_own_solid(to, width ? width : 1);
      else
        __builtin_own_characters(to, width ? width : 1);
      break;
    case 'd': case 'i': case 'u': case 'o': case 'x': case 'X':
      if (size == 1)
        *(signed char *)to = __input_scanf_char();
      else if (size == 2)
        *(short *)to = __input_scanf_short();
      else if (size == 4)
        *(int *)to = __input_scanf_int();
      else
        *(long long *)to = __input_scanf_long();
      break;
    case 'a': case 'e': case 'f': case 'g': case 'A': case 'E': case 'F': case 'G':
      if (has_length)
        *(double *)to = __input_scanf_double();
      else
        *(float *)to = __input_scanf_float();
      break;
    default:
      /* Not one of a call that is modelled. */
      _exit(71);
    }
    left--;
  }
  return result;
}
#define SCANNING(name, from, is_given, ...)                                                                  \
  __attribute__((weak)) int name(__VA_ARGS__ const char *format, ...) {                            \
    arguments list;                                                                                \
    __builtin_va_start(list, format);                                                              \
    return scan(from, is_given, format, list);                                                               \
  }
#define INPUT &stdin ? stdin : 0
SCANNING(scanf, INPUT, 0, )
SCANNING(__isoc99_scanf, INPUT, 0, )
SCANNING(__isoc23_scanf, INPUT, 0, )
SCANNING(fscanf, stream, 1, void *stream, )
SCANNING(__isoc99_fscanf, stream, 1, void *stream, )
SCANNING(__isoc23_fscanf, stream, 1, void *stream, )
