/* What a 32-bit program needs if there is no C library for it. */
typedef __SIZE_TYPE__ size_t;
typedef unsigned long long wide;

__asm__(".globl _start\n_start:\n xor %ebp, %ebp\n and $-16, %esp\n call __wherefore_start\n");
extern int main();

static int call(int number, int a, int b, int c) {
  int result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
  return result;
}
long write(int file, const void *text, size_t length) { return call(4, file, (int)text, (int)length); }
void _exit(int code) { for (;;) call(1, code, 0, 0); }
void exit(int code) { _exit(code); }
void _Exit(int code) { _exit(code); }
void abort(void) { call(37, call(20, 0, 0, 0), 6, 0); _exit(134); }
void __wherefore_start(void) {
  static char *arguments[] = {"run", 0};
  _exit(main(1, arguments, arguments + 1));
}

static unsigned char heap[256 << 20] __attribute__((aligned(16)));
static size_t top;
void *malloc(size_t size) {
  unsigned char *at = heap + top;
  if (size > sizeof heap - top - 32) return 0;
  top += ((size + 15) & ~(size_t)15) + 16;
  *(size_t *)at = size;
  return at + 16;
}
void free(void *pointer) {}
void *memcpy(void *to, const void *from, size_t n) {
  for (size_t i = 0; i < n; i++) ((char *)to)[i] = ((const char *)from)[i];
  return to;
}
void *memmove(void *to, const void *from, size_t n) {
  if (to <= from) return memcpy(to, from, n);
  while (n--) ((char *)to)[n] = ((const char *)from)[n];
  return to;
}
void *memset(void *to, int byte, size_t n) {
  for (size_t i = 0; i < n; i++) ((char *)to)[i] = (char)byte;
  return to;
}
int memcmp(const void *a, const void *b, size_t n) {
  const unsigned char *x = a, *y = b;
  for (size_t i = 0; i < n; i++) if (x[i] != y[i]) return x[i] - y[i];
  return 0;
}
void *memchr(const void *a, int byte, size_t n) {
  for (size_t i = 0; i < n; i++) if (((unsigned char *)a)[i] == (unsigned char)byte) return (char *)a + i;
  return 0;
}
void *calloc(size_t n, size_t size) {
  void *at = malloc(n * size);
  return at ? memset(at, 0, n * size) : at;
}
void *valloc(size_t size) { return malloc(size); }
void *realloc(void *old, size_t size) {
  void *at = malloc(size);
  size_t known = old ? *(size_t *)((char *)old - 16) : 0;
  return at ? memcpy(at, old, known < size ? known : size) : at;
}
size_t strlen(const char *text) { size_t n = 0; while (text[n]) n++; return n; }
char *strcpy(char *to, const char *from) { return memcpy(to, from, strlen(from) + 1); }
char *strncpy(char *to, const char *from, size_t n) {
  size_t i = 0;
  for (; i < n && from[i]; i++) to[i] = from[i];
  for (; i < n; i++) to[i] = 0;
  return to;
}
char *strcat(char *to, const char *from) { strcpy(to + strlen(to), from); return to; }
char *strncat(char *to, const char *from, size_t n) {
  char *at = to + strlen(to);
  while (n-- && *from) *at++ = *from++;
  *at = 0;
  return to;
}
int strncmp(const char *a, const char *b, size_t n) {
  for (; n; a++, b++, n--) {
    if (*a != *b) return (unsigned char)*a - (unsigned char)*b;
    if (!*a) break;
  }
  return 0;
}
int strcmp(const char *a, const char *b) { return strncmp(a, b, (size_t)-1); }
char *strchr(const char *text, int byte) {
  for (;; text++) {
    if (*text == (char)byte) return (char *)text;
    if (!*text) return 0;
  }
}
char *strrchr(const char *text, int byte) {
  const char *found = 0;
  for (;; text++) {
    if (*text == (char)byte) found = text;
    if (!*text) return (char *)found;
  }
}
char *strdup(const char *text) { return strcpy(malloc(strlen(text) + 1), text); }
int abs(int x) { return x < 0 ? -x : x; }
long labs(long x) { return x < 0 ? -x : x; }
long long llabs(long long x) { return x < 0 ? -x : x; }

static wide divided(wide a, wide b, wide *rest) {
  wide quotient = 0, left = 0;
  if (!b) abort();
  for (int i = 63; i >= 0; i--) {
    int carry = (int)(left >> 63);
    left = left << 1 | (a >> i & 1);
    if (carry || left >= b) { left -= b; quotient |= (wide)1 << i; }
  }
  *rest = left;
  return quotient;
}
wide __udivdi3(wide a, wide b) { wide rest; return divided(a, b, &rest); }
wide __umoddi3(wide a, wide b) { wide rest; divided(a, b, &rest); return rest; }
long long __divdi3(long long a, long long b) {
  wide rest, q = divided(a < 0 ? -(wide)a : a, b < 0 ? -(wide)b : b, &rest);
  return (a < 0) != (b < 0) ? -q : q;
}
long long __moddi3(long long a, long long b) {
  wide rest;
  divided(a < 0 ? -(wide)a : a, b < 0 ? -(wide)b : b, &rest);
  return a < 0 ? -rest : rest;
}
