/* Library functions as the front end models them. */
typedef unsigned long size_t;
void *malloc(size_t size);

void *memcpy(void *to, const void *from, size_t count) {
  for (size_t i = 0; i < count; i++)
    ((char *)to)[i] = ((const char *)from)[i];
  return to;
}

void *memmove(void *to, const void *from, size_t count) {
  if (to <= from) {
    for (size_t i = 0; i < count; i++)
      ((char *)to)[i] = ((const char *)from)[i];
  } else {
    for (size_t i = count; i > 0; i--)
      ((char *)to)[i - 1] = ((const char *)from)[i - 1];
  }
  return to;
}

void *memset(void *to, int value, size_t count) {
  for (size_t i = 0; i < count; i++)
    ((unsigned char *)to)[i] = (unsigned char)value;
  return to;
}

int memcmp(const void *left, const void *right, size_t count) {
  for (size_t i = 0; i < count; i++) {
    int a = ((const unsigned char *)left)[i], b = ((const unsigned char *)right)[i];
    if (a != b)
      return a < b ? -1 : 1;
  }
  return 0;
}

void *memchr(const void *text, int value, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (((const unsigned char *)text)[i] == (unsigned char)value)
      return (char *)text + i;
  return 0;
}

size_t strlen(const char *text) {
  size_t length = 0;
  while (text[length])
    length++;
  return length;
}

char *strcpy(char *to, const char *from) {
  size_t i = 0;
  do {
    to[i] = from[i];
  } while (from[i++]);
  return to;
}

char *strncpy(char *to, const char *from, size_t count) {
  size_t i = 0;
  for (; i < count && from[i]; i++)
    to[i] = from[i];
  for (; i < count; i++)
    to[i] = 0;
  return to;
}

char *strcat(char *to, const char *from) {
  size_t start = 0, i = 0;
  while (to[start])
    start++;
  do {
    to[start + i] = from[i];
  } while (from[i++]);
  return to;
}

char *strncat(char *to, const char *from, size_t count) {
  size_t start = 0, i = 0;
  while (to[start])
    start++;
  for (; i < count && from[i]; i++)
    to[start + i] = from[i];
  to[start + i] = 0;
  return to;
}

int strcmp(const char *left, const char *right) {
  size_t i = 0;
  while (left[i] && left[i] == right[i])
    i++;
  int a = (unsigned char)left[i], b = (unsigned char)right[i];
  return a == b ? 0 : a < b ? -1 : 1;
}

int strncmp(const char *left, const char *right, size_t count) {
  for (size_t i = 0; i < count; i++) {
    int a = (unsigned char)left[i], b = (unsigned char)right[i];
    if (a != b)
      return a < b ? -1 : 1;
    if (!a)
      return 0;
  }
  return 0;
}

char *strchr(const char *text, int value) {
  size_t i = 0;
  while (text[i] != (char)value) {
    if (!text[i])
      return 0;
    i++;
  }
  return (char *)text + i;
}

char *strrchr(const char *text, int value) {
  char *found = 0;
  size_t i = 0;
  do {
    if (text[i] == (char)value)
      found = (char *)text + i;
  } while (text[i++]);
  return found;
}

char *strdup(const char *text) {
  size_t length = 0;
  while (text[length])
    length++;
  char *copy = malloc(length + 1);
  if (copy)
    for (size_t i = 0; i <= length; i++)
      copy[i] = text[i];
  return copy;
}

/* Where sizes are not followed, the old one is taken for the new one: what lies behind the old object
   is copied too. */
size_t __wherefore_size(void *object, size_t otherwise);
void free(void *object);
void *realloc(void *old, size_t size) {
  if (old && size == 0) {
    free(old);
    return 0;
  }
  char *fresh = malloc(size);
  if (fresh && old) {
    size_t count = __wherefore_size(old, size);
    for (size_t i = 0; i < size && i < count; i++)
      fresh[i] = ((char *)old)[i];
    free(old);
  }
  return fresh;
}

int __builtin_own_abs(int value) { return value < 0 ? -value : value; }
long __builtin_own_labs(long value) { return value < 0 ? -value : value; }
long long __builtin_own_llabs(long long value) { return value < 0 ? -value : value; }
int abs(int value) { return value < 0 ? -value : value; }
long labs(long value) { return value < 0 ? -value : value; }
long long llabs(long long value) { return value < 0 ? -value : value; }

/* Functions that the compiler knows. What `ctz` and `clz` return for zero is not defined. */
int __builtin_own_undefined(void);
long __builtin_expect(long value, long expected) { return value; }
unsigned short __builtin_bswap16(unsigned short x) { return (unsigned short)(x << 8 | x >> 8); }
unsigned __builtin_bswap32(unsigned x) {
  return x << 24 | (x & 0xff00u) << 8 | (x >> 8 & 0xff00u) | x >> 24;
}
unsigned long long __builtin_bswap64(unsigned long long x) {
  x = (x & 0x00ff00ff00ff00ffull) << 8 | (x >> 8 & 0x00ff00ff00ff00ffull);
  x = (x & 0x0000ffff0000ffffull) << 16 | (x >> 16 & 0x0000ffff0000ffffull);
  return x << 32 | x >> 32;
}
int __builtin_popcountll(unsigned long long x) {
  x = x - (x >> 1 & 0x5555555555555555ull);
  x = (x & 0x3333333333333333ull) + (x >> 2 & 0x3333333333333333ull);
  x = x + (x >> 4) & 0x0f0f0f0f0f0f0f0full;
  x = x + (x >> 8);
  x = x + (x >> 16);
  x = x + (x >> 32);
  return (int)(x & 127);
}
int __builtin_parityll(unsigned long long x) {
  x ^= x >> 32;
  x ^= x >> 16;
  x ^= x >> 8;
  x ^= x >> 4;
  x ^= x >> 2;
  x ^= x >> 1;
  return (int)(x & 1);
}
int __builtin_ctzll(unsigned long long x) {
  return x ? __builtin_popcountll((x & -x) - 1) : __builtin_own_undefined();
}
int __builtin_clzll(unsigned long long x) {
  if (!x)
    return __builtin_own_undefined();
  x |= x >> 1;
  x |= x >> 2;
  x |= x >> 4;
  x |= x >> 8;
  x |= x >> 16;
  x |= x >> 32;
  return 64 - __builtin_popcountll(x);
}
int __builtin_clz(unsigned x) {
  return x ? __builtin_clzll(x) - 32 : __builtin_own_undefined();
}
int ffs(int x) { return __builtin_ffs(x); }
int ffsl(long x) { return __builtin_ffsl(x); }
int ffsll(long long x) { return __builtin_ffsll(x); }
int __builtin_ffsll(long long x) { return x ? __builtin_ctzll((unsigned long long)x) + 1 : 0; }
int __builtin_clrsbll(long long x) {
  unsigned long long y = (unsigned long long)(x < 0 ? ~x : x);
  return y ? __builtin_clzll(y) - 1 : 63;
}
int __builtin_clrsb(int x) {
  unsigned y = (unsigned)(x < 0 ? ~x : x);
  return y ? __builtin_clz(y) - 1 : 31;
}

/* Whether a result in two halves is none of a type of so many bits. */
static int __builtin_own_fits(unsigned long long low, long long high, int bits, int is_signed) {
  unsigned long long cut = low << (64 - bits);
  if (is_signed)
    return (unsigned long long)((long long)cut >> (64 - bits)) == low && high == (long long)low >> 63;
  return cut >> (64 - bits) == low && high == 0;
}
/* Operands are given by their low 64 bits, and -1 or 0 for the bits in front. */
int __builtin_own_add(unsigned long long a, long long x, unsigned long long b, long long y, int bits, int is_signed) {
  unsigned long long low = a + b;
  return !__builtin_own_fits(low, x + y + (low < a), bits, is_signed);
}
int __builtin_own_sub(unsigned long long a, long long x, unsigned long long b, long long y, int bits, int is_signed) {
  return !__builtin_own_fits(a - b, x - y - (a < b), bits, is_signed);
}
int __builtin_own_mul(unsigned long long a, long long x, unsigned long long b, long long y, int bits, int is_signed) {
  unsigned long long p = x < 0 ? -a : a, q = y < 0 ? -b : b;
  unsigned long long p0 = p & 0xffffffffull, p1 = p >> 32, q0 = q & 0xffffffffull, q1 = q >> 32;
  unsigned long long middle = p1 * q0 + (p0 * q0 >> 32), other = p0 * q1 + (middle & 0xffffffffull);
  unsigned long long high = p1 * q1 + (middle >> 32) + (other >> 32), low = p * q;
  if (x != y) {
    high = ~high + (low == 0);
    low = -low;
  }
  return !__builtin_own_fits(low, (long long)high, bits, is_signed);
}

/* Functions of floating-point numbers. What they compute is known to the compiler. */
double fabs(double x) { return __builtin_fabs(x); }
float fabsf(float x) { return __builtin_fabsf(x); }
double sqrt(double x) { return __builtin_sqrt(x); }
float sqrtf(float x) { return __builtin_sqrtf(x); }
double trunc(double x) { return __builtin_trunc(x); }
float truncf(float x) { return __builtin_truncf(x); }
double floor(double x) { return __builtin_floor(x); }
float floorf(float x) { return __builtin_floorf(x); }
double ceil(double x) { return __builtin_ceil(x); }
float ceilf(float x) { return __builtin_ceilf(x); }
double rint(double x) { return __builtin_rint(x); }
float rintf(float x) { return __builtin_rintf(x); }
double nearbyint(double x) { return __builtin_nearbyint(x); }
float nearbyintf(float x) { return __builtin_nearbyintf(x); }
double round(double x) { return __builtin_round(x); }
float roundf(float x) { return __builtin_roundf(x); }
double copysign(double x, double y) { return __builtin_copysign(x, y); }
float copysignf(float x, float y) { return __builtin_copysignf(x, y); }
double fmin(double x, double y) { return __builtin_fmin(x, y); }
float fminf(float x, float y) { return __builtin_fminf(x, y); }
double fmax(double x, double y) { return __builtin_fmax(x, y); }
float fmaxf(float x, float y) { return __builtin_fmaxf(x, y); }
int isnan(double x) { return __builtin_isnan(x); }
int isnanf(float x) { return __builtin_isnan(x); }
int __issignaling(double x) {
  union {
    double number;
    unsigned long long bits;
  } value;
  value.number = x;
  return (value.bits << 1) > 0xffe0000000000000ull && !(value.bits >> 51 & 1);
}
int __issignalingf(float x) {
  union {
    float number;
    unsigned bits;
  } value;
  value.number = x;
  return (value.bits << 1) > 0xff000000u && !(value.bits >> 22 & 1);
}
int __isnan(double x) { return __builtin_isnan(x); }
int __isnanf(float x) { return __builtin_isnan(x); }
int isinf(double x) { return __builtin_isinf_sign(x); }
int isinff(float x) { return __builtin_isinf_sign(x); }
int __isinf(double x) { return __builtin_isinf_sign(x); }
int __isinff(float x) { return __builtin_isinf_sign(x); }
int finite(double x) { return __builtin_isfinite(x); }
int finitef(float x) { return __builtin_isfinite(x); }
int __finite(double x) { return __builtin_isfinite(x); }
int __finitef(float x) { return __builtin_isfinite(x); }
int __signbit(double x) { return __builtin_signbit(x) != 0; }
int __signbitf(float x) { return __builtin_signbit(x) != 0; }
int __fpclassify(double x) { return __builtin_fpclassify(0, 1, 4, 3, 2, x); }
int __fpclassifyf(float x) { return __builtin_fpclassify(0, 1, 4, 3, 2, x); }
double fdim(double x, double y) { return x <= y ? 0.0 : x - y; }
float fdimf(float x, float y) { return x <= y ? 0.0f : x - y; }
long lround(double x) { return (long)__builtin_round(x); }
long lrint(double x) { return (long)__builtin_rint(x); }

/* ctype.h, in the locale "C"; the results are those of the GNU C library. */
int isdigit(int c) { return c >= '0' && c <= '9' ? 2048 : 0; }
int isupper(int c) { return c >= 'A' && c <= 'Z' ? 256 : 0; }
int islower(int c) { return c >= 'a' && c <= 'z' ? 512 : 0; }
int isalpha(int c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ? 1024 : 0; }
int isalnum(int c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ? 8 : 0; }
int isxdigit(int c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f') ? 4096 : 0; }
int isspace(int c) { return c == ' ' || (c >= 9 && c <= 13) ? 8192 : 0; }
int isprint(int c) { return c >= 32 && c <= 126 ? 16384 : 0; }
int isgraph(int c) { return c >= 33 && c <= 126 ? 32768 : 0; }
int isblank(int c) { return c == ' ' || c == 9 ? 1 : 0; }
int iscntrl(int c) { return (c >= 0 && c <= 31) || c == 127 ? 2 : 0; }
int ispunct(int c) {
  return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126) ? 4 : 0;
}
int isascii(int c) { return c >= 0 && c <= 127; }
int toascii(int c) { return c & 127; }
int tolower(int c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }
int toupper(int c) { return c >= 'a' && c <= 'z' ? c - 32 : c; }

/* stdlib.h: a number that does not fit becomes the greatest or the least one. */
static long long __builtin_own_number(const char *text, unsigned long long most) {
  while (*text == ' ' || (*text >= 9 && *text <= 13))
    text++;
  int is_negative = *text == '-';
  if (*text == '-' || *text == '+')
    text++;
  if (is_negative)
    most++;
  unsigned long long value = 0;
  for (; *text >= '0' && *text <= '9'; text++) {
    unsigned long long digit = (unsigned long long)(*text - '0');
    value = value > (most - digit) / 10 ? most : value * 10 + digit;
  }
  return (long long)(is_negative ? -value : value);
}
int atoi(const char *text) { return (int)__builtin_own_number(text, ~0ul >> 1); }
long atol(const char *text) { return (long)__builtin_own_number(text, ~0ul >> 1); }
long long atoll(const char *text) { return __builtin_own_number(text, ~0ull >> 1); }

/* More of string.h and strings.h. */
size_t strnlen(const char *text, size_t most) {
  size_t length = 0;
  while (length < most && text[length])
    length++;
  return length;
}
void *mempcpy(void *to, const void *from, size_t count) {
  for (size_t i = 0; i < count; i++)
    ((char *)to)[i] = ((const char *)from)[i];
  return (char *)to + count;
}
char *stpcpy(char *to, const char *from) {
  size_t i = 0;
  for (; from[i]; i++)
    to[i] = from[i];
  to[i] = 0;
  return to + i;
}
void *memrchr(const void *text, int value, size_t count) {
  for (size_t i = count; i > 0; i--)
    if (((const unsigned char *)text)[i - 1] == (unsigned char)value)
      return (char *)text + (i - 1);
  return 0;
}
void *rawmemchr(const void *text, int value) {
  const unsigned char *at = (const unsigned char *)text;
  while (*at != (unsigned char)value)
    at++;
  return (void *)at;
}
char *strchrnul(const char *text, int value) {
  while (*text && *text != (char)value)
    text++;
  return (char *)text;
}
size_t strspn(const char *text, const char *accepted) {
  size_t length = 0;
  for (; text[length]; length++) {
    size_t i = 0;
    while (accepted[i] && accepted[i] != text[length])
      i++;
    if (!accepted[i])
      return length;
  }
  return length;
}
size_t strcspn(const char *text, const char *rejected) {
  size_t length = 0;
  for (; text[length]; length++)
    for (size_t i = 0; rejected[i]; i++)
      if (rejected[i] == text[length])
        return length;
  return length;
}
char *strpbrk(const char *text, const char *accepted) {
  for (; *text; text++)
    for (size_t i = 0; accepted[i]; i++)
      if (accepted[i] == *text)
        return (char *)text;
  return 0;
}
char *strstr(const char *text, const char *part) {
  for (;; text++) {
    size_t i = 0;
    while (part[i] && part[i] == text[i])
      i++;
    if (!part[i])
      return (char *)text;
    if (!*text)
      return 0;
  }
}
static int __builtin_own_lower(int c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }
int strcasecmp(const char *left, const char *right) {
  for (size_t i = 0;; i++) {
    int a = __builtin_own_lower((unsigned char)left[i]), b = __builtin_own_lower((unsigned char)right[i]);
    if (a != b || !a)
      return a - b;
  }
}
int strncasecmp(const char *left, const char *right, size_t count) {
  for (size_t i = 0; i < count; i++) {
    int a = __builtin_own_lower((unsigned char)left[i]), b = __builtin_own_lower((unsigned char)right[i]);
    if (a != b || !a)
      return a - b;
  }
  return 0;
}
char *strndup(const char *text, size_t most) {
  size_t length = 0;
  while (length < most && text[length])
    length++;
  char *copy = malloc(length + 1);
  if (copy) {
    for (size_t i = 0; i < length; i++)
      copy[i] = text[i];
    copy[length] = 0;
  }
  return copy;
}
void bzero(void *to, size_t count) {
  for (size_t i = 0; i < count; i++)
    ((char *)to)[i] = 0;
}
int bcmp(const void *left, const void *right, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (((const char *)left)[i] != ((const char *)right)[i])
      return 1;
  return 0;
}
char *index(const char *text, int value) {
  for (;; text++) {
    if (*text == (char)value)
      return (char *)text;
    if (!*text)
      return 0;
  }
}
char *rindex(const char *text, int value) {
  const char *found = 0;
  for (;; text++) {
    if (*text == (char)value)
      found = text;
    if (!*text)
      return (char *)found;
  }
}
void swab(const void *from, void *to, long count) {
  for (long i = 1; i < count; i += 2) {
    char low = ((const char *)from)[i - 1], high = ((const char *)from)[i];
    ((char *)to)[i - 1] = high;
    ((char *)to)[i] = low;
  }
}
