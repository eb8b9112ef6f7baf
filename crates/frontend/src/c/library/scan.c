/* stdio.h: what `sscanf` reads from a text, conversion by conversion. Each function gives the place
   behind what it has read, or NULL if there is no such thing. A width below 0 is none. */
typedef unsigned long size_t;
_Bool __builtin_own_any(void);
double strtod(const char *text, char **end);
void __builtin_own_set_errno(int number);
static int is_space(char c) { return c == ' ' || (c >= 9 && c <= 13); }
const char *__builtin_own_scan_space(const char *at) {
  while (is_space(*at))
    at++;
  return at;
}
static int digit_of(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'z' ? c - 'a' + 10
         : c >= 'A' && c <= 'Z' ? c - 'A' + 10
                                : 36;
}
static int is_prefix(const char *at, int base, int width) {
  int is_x = at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
  return width != 0 && width != 1 && is_x && (base == 0 || base == 16);
}
/* Where an integer ends. */
const char *__builtin_own_scan_number(const char *at, int base, int width) {
  int has_any = 0;
  if (*at == '-' || *at == '+') {
    at++;
    width -= width > 0;
  }
  if (is_prefix(at, base, width)) {
    base = 16;
    has_any = 1;
    at += 2;
    width -= width > 0 ? 2 : 0;
  } else if (base == 0) {
    base = *at == '0' ? 8 : 10;
  }
  for (; width != 0 && digit_of(*at) < base; width -= width > 0) {
    has_any = 1;
    at++;
  }
  return has_any ? at : 0;
}
/* Its value, read as `strtol` or `strtoul` do it with so many bits. */
unsigned long long __builtin_own_scanned_number(const char *at, int base, int width, int is_signed,
                                                int bits) {
  unsigned long long value = 0, most = ~0ull >> (64 - bits + is_signed);
  int is_negative = *at == '-', is_beyond = 0;
  if (*at == '-' || *at == '+') {
    at++;
    width -= width > 0;
  }
  if (is_prefix(at, base, width)) {
    base = 16;
    at += 2;
    width -= width > 0 ? 2 : 0;
  } else if (base == 0) {
    base = *at == '0' ? 8 : 10;
  }
  if (is_signed && is_negative)
    most++;
  for (; width != 0 && digit_of(*at) < base; width -= width > 0, at++) {
    unsigned digit = (unsigned)digit_of(*at);
    if (is_beyond || value > (most - digit) / (unsigned)base)
      is_beyond = 1;
    else
      value = value * (unsigned)base + digit;
  }
  if (is_beyond) {
    __builtin_own_set_errno(34);
    value = most;
    return is_signed && is_negative ? -value : value;
  }
  return is_negative ? -value : value;
}
/* Where a floating-point number ends. Of what looks like one and is none, or is cut off by its
   width, some characters may be read. */
const char *__builtin_own_scan_real(const char *at, int width) {
  char *end;
  const char *start = at;
  strtod(at, &end);
  if (*at == '-' || *at == '+')
    at++;
  int is_usual = *at == '.' || (*at >= '0' && *at <= '9');
  int is_x = at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
  int goes_on = *end == 'e' || *end == 'E' || is_x;
  if (width >= 0 && end - start > width)
    goes_on = 1;
  if (end != start && is_usual && !goes_on)
    return end;
  if (end == start && !is_usual && *at != 'i' && *at != 'I' && *at != 'n' && *at != 'N')
    return 0;
  for (end = (char *)start; *end && __builtin_own_any(); end++)
    ;
  return end == start ? 0 : end;
}
double __builtin_own_real(void);
double __builtin_own_scanned_real(const char *at, const char *end) {
  char *last;
  double number = strtod(at, &last);
  return last == end ? number : __builtin_own_real();
}
/* Texts are stored, unless `to` is NULL. */
const char *__builtin_own_scan_word(char *to, const char *at, int width) {
  size_t count = 0;
  for (; width != 0 && *at && !is_space(*at); width -= width > 0) {
    if (to)
      to[count++] = *at;
    at++;
  }
  if (to)
    to[count] = 0;
  return at;
}
const char *__builtin_own_scan_characters(char *to, const char *at, int width) {
  size_t count = 0;
  for (; width != 0 && *at; width -= width > 0) {
    if (to)
      to[count++] = *at;
    at++;
  }
  return at;
}
/* A set of characters: single ones, and ranges. */
static int is_in(char character, const char *set, int length) {
  const unsigned char *bytes = (const unsigned char *)set, c = (unsigned char)character;
  for (int i = 0; i < length; i++) {
    int is_range = i > 0 && i < length - 1 && bytes[i] == '-' && bytes[i - 1] <= bytes[i + 1];
    if (is_range ? c >= bytes[i - 1] && c <= bytes[i + 1] : c == bytes[i])
      return 1;
  }
  return 0;
}
const char *__builtin_own_scan_set(char *to, const char *at, int width, const char *set, int length,
                                   int is_negated) {
  size_t count = 0;
  const char *start = at;
  for (; width != 0 && *at && is_in(*at, set, length) != is_negated; width -= width > 0) {
    if (to)
      to[count++] = *at;
    at++;
  }
  if (at == start)
    return 0;
  if (to)
    to[count] = 0;
  return at;
}
