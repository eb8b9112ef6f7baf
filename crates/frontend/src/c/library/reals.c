/* stdlib.h: the floating-point number that a text begins with. Decimal numbers of which digits and
   power of ten are exact numbers are exact: the rest of a rounding is one operation. Others are any
   number of their sign. */
typedef unsigned long size_t;
_Bool __builtin_own_any(void);
double __builtin_own_real(void);
void __VERIFIER_assume(int condition);
void __builtin_own_set_errno(int number);
static const double tens[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
static int lower(char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }
static int begins(const char *text, const char *word) {
  size_t i = 0;
  while (word[i] && lower(text[i]) == word[i])
    i++;
  return !word[i];
}
static int hexadecimal(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  return lower(c) >= 'a' && lower(c) <= 'f' ? lower(c) - 'a' + 10 : 16;
}
static int is_word(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z');
}
static int is_hexadecimal(const char *text) {
  return text[0] == '0' && lower(text[1]) == 'x' &&
         (hexadecimal(text[2]) < 16 || (text[2] == '.' && hexadecimal(text[3]) < 16));
}
static double as_number(unsigned long long bits) {
  union { unsigned long long bits; double number; } both;
  both.bits = bits;
  return both.number;
}
/* A positive number that is not computed here. */
static double positive(void) {
  double number = __builtin_own_real();
  __VERIFIER_assume(number >= 0.0);
  if (__builtin_own_any())
    __builtin_own_set_errno(34);
  return number;
}
/* The exponent behind the letter at `text`, if there is one; where it ends. */
static const char *exponent(const char *text, int *scale) {
  const char *at = text + 1;
  int is_negative = *at == '-', value = 0;
  if (*at == '-' || *at == '+')
    at++;
  if (*at < '0' || *at > '9')
    return text;
  for (; *at >= '0' && *at <= '9'; at++)
    if (value < 100000)
      value = value * 10 + (*at - '0');
  *scale += is_negative ? -value : value;
  return at;
}
/* Digits in a base, with a point: where they end, or NULL if there are none. `scale` counts those
   that are behind the point, or too many. */
static const char *digits(const char *text, int base, int most, unsigned long long *value,
                          int *scale, int *is_exact) {
  int count = 0, has_any = 0, is_behind = 0;
  size_t behind = 0, beyond = 0;
  for (;; text++) {
    int digit = hexadecimal(*text);
    if (*text == '.' && !is_behind) {
      is_behind = 1;
      continue;
    }
    if (digit >= base)
      break;
    has_any = 1;
    if (count < most) {
      *value = *value * (unsigned)base + (unsigned)digit;
      count += *value != 0;
      behind += is_behind;
    } else {
      *is_exact &= digit == 0;
      beyond += !is_behind;
    }
  }
  if (behind < 100000 && beyond < 100000)
    *scale = (int)beyond - (int)behind;
  else
    *is_exact = 0;
  return has_any ? text : 0;
}
static double decimal(unsigned long long value, int scale, int is_exact) {
  if (value == 0)
    return 0.0;
  if (is_exact && value <= 1ull << 53 && scale >= -22 && scale <= 22)
    return scale < 0 ? (double)value / tens[-scale] : (double)value * tens[scale];
  if (scale > 310 && is_exact) {
    __builtin_own_set_errno(34);
    return as_number(0x7ff0000000000000);
  }
  if (scale < -400 && is_exact) {
    __builtin_own_set_errno(34);
    return 0.0;
  }
  return positive();
}
double strtod(const char *text, char **end) {
  const char *at = text, *last = text;
  while (*at == ' ' || (*at >= 9 && *at <= 13))
    at++;
  int is_negative = *at == '-', scale = 0, is_exact = 1;
  if (*at == '-' || *at == '+')
    at++;
  unsigned long long value = 0;
  double number = 0.0;
  if (begins(at, "inf")) {
    last = at + (begins(at, "infinity") ? 8 : 3);
    number = as_number(0x7ff0000000000000);
  } else if (begins(at, "nan")) {
    last = at + 3;
    number = as_number(0x7ff8000000000000);
    if (*last == '(') {
      size_t i = 1;
      while (is_word(last[i]))
        i++;
      if (last[i] == ')') {
        last += i + 1;
        number = __builtin_own_real();
        __VERIFIER_assume(number != number);
      }
    }
  } else if (is_hexadecimal(at)) {
    last = digits(at + 2, 16, 15, &value, &scale, &is_exact);
    scale *= 4;
    if (lower(*last) == 'p')
      last = exponent(last, &scale);
    if (value == 0)
      number = 0.0;
    else if (is_exact && value <= 1ull << 53 && scale >= -60 && scale <= 60)
      number = scale < 0 ? (double)value / (double)(1ull << -scale)
                         : (double)value * (double)(1ull << scale);
    else
      number = positive();
  } else {
    const char *behind = digits(at, 10, 19, &value, &scale, &is_exact);
    if (behind) {
      if (lower(*behind) == 'e')
        behind = exponent(behind, &scale);
      last = behind;
      number = decimal(value, scale, is_exact);
    }
  }
  if (end)
    *end = (char *)last;
  return is_negative && last != text ? -number : number;
}
double atof(const char *text) { return strtod(text, 0); }
/* Rounded twice, a number may differ from the one that is rounded once: if the first rounding ends
   in the middle between two numbers, or where there are fewer digits. */
float strtof(const char *text, char **end) {
  double number = strtod(text, end);
  union { unsigned long long bits; double number; } both;
  both.number = number;
  double size = both.number < 0.0 ? -both.number : both.number;
  if (size == 0.0 || size != size || both.bits << 1 == 0xffe0000000000000)
    return (float)number;
  if ((both.bits & 0x1fffffff) != 0x10000000 && size >= 0x1p-126 && size < 0x1p127)
    return (float)number;
  float rounded = (float)positive();
  return number < 0.0 ? -rounded : rounded;
}
long double strtold(const char *text, char **end) { return strtod(text, end); }
