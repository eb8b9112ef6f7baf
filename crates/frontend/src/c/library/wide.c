/* Integers of 128 bits: what is not done scalar by scalar where it is written. A sum that does not
   fit is computed a second time with numbers that do not fit either, so that it is checked. */
static void __builtin_own_wide_check(int overflows) {
  int most = 0x7fffffff;
  most = most + overflows;
}
unsigned __int128 __builtin_own_wide_mul(unsigned __int128 a, unsigned __int128 b) {
  unsigned long long x = (unsigned long long)a, y = (unsigned long long)b;
  unsigned long long x0 = x & 0xffffffffull, x1 = x >> 32, y0 = y & 0xffffffffull, y1 = y >> 32;
  unsigned long long low = x0 * y0, middle = x1 * y0 + (low >> 32), other = x0 * y1 + (middle & 0xffffffffull);
  unsigned long long high = x1 * y1 + (middle >> 32) + (other >> 32);
  high = high + x * (unsigned long long)(b >> 64) + (unsigned long long)(a >> 64) * y;
  return (unsigned __int128)high << 64 | x * y;
}
static unsigned __int128 __builtin_own_wide_steps(unsigned __int128 a, unsigned __int128 b, int remainder) {
  unsigned __int128 rest = 0;
  int i;
  for (i = 0; i < 128; i = i + 1) {
    int carry = (int)(unsigned long long)(rest >> 127);
    rest = rest << 1 | (unsigned __int128)(unsigned long long)(a >> 127);
    a = a << 1;
    if (carry || rest >= b) {
      rest = rest - b;
      a = a | (unsigned __int128)1u;
    }
  }
  return remainder ? rest : a;
}
unsigned __int128 __builtin_own_wide_udiv(unsigned __int128 a, unsigned __int128 b) {
  unsigned long long x = (unsigned long long)a, y = (unsigned long long)b;
  if (!(a >> 64) && !(b >> 64))
    return x / y;
  if (!b)
    return x / y;
  return __builtin_own_wide_steps(a, b, 0);
}
unsigned __int128 __builtin_own_wide_urem(unsigned __int128 a, unsigned __int128 b) {
  unsigned long long x = (unsigned long long)a, y = (unsigned long long)b;
  if (!(a >> 64) && !(b >> 64))
    return x % y;
  if (!b)
    return x % y;
  return __builtin_own_wide_steps(a, b, 1);
}
signed __int128 __builtin_own_wide_sdiv(__int128 a, __int128 b) {
  unsigned __int128 x = (unsigned __int128)a, y = (unsigned __int128)b, quotient;
  int first = a < 0, second = b < 0;
  __builtin_own_wide_check(first && x << 1 == 0 && y + 1u == 0);
  quotient = __builtin_own_wide_udiv(first ? -x : x, second ? -y : y);
  return (__int128)(first != second ? -quotient : quotient);
}
signed __int128 __builtin_own_wide_srem(__int128 a, __int128 b) {
  unsigned __int128 x = (unsigned __int128)a, y = (unsigned __int128)b, rest;
  int first = a < 0, second = b < 0;
  __builtin_own_wide_check(first && x << 1 == 0 && y + 1u == 0);
  rest = __builtin_own_wide_urem(first ? -x : x, second ? -y : y);
  return (__int128)(first ? -rest : rest);
}
unsigned __int128 __builtin_own_wide_shl(unsigned __int128 a, unsigned long long by) {
  unsigned long long low = (unsigned long long)a, high = (unsigned long long)(a >> 64);
  unsigned long long part = by < 64 ? by : by - 64, moved = low << part;
  if (by < 64)
    return (unsigned __int128)(high << part | (part ? low >> (64 - part) : 0)) << 64 | moved;
  return (unsigned __int128)moved << 64 | (by < 128 ? 0ull : low << part);
}
unsigned __int128 __builtin_own_wide_lshr(unsigned __int128 a, unsigned long long by) {
  unsigned long long low = (unsigned long long)a, high = (unsigned long long)(a >> 64);
  unsigned long long part = by < 64 ? by : by - 64, moved = high >> part;
  if (by < 64)
    return (unsigned __int128)moved << 64 | (low >> part | (part ? high << (64 - part) : 0));
  return (unsigned __int128)(by < 128 ? 0ull : high >> part) << 64 | moved;
}
signed __int128 __builtin_own_wide_ashr(__int128 a, unsigned long long by) {
  unsigned long long low = (unsigned long long)a, high = (unsigned long long)(a >> 64);
  unsigned long long part = by < 64 ? by : by - 64;
  unsigned long long moved = (unsigned long long)((long long)high >> part);
  if (by < 64)
    return (__int128)((unsigned __int128)moved << 64 | (low >> part | (part ? high << (64 - part) : 0)));
  return (__int128)((unsigned __int128)(by < 128 ? (a < 0 ? -1ull : 0ull) : high >> part) << 64 | moved);
}
signed __int128 __builtin_own_wide_add(__int128 a, __int128 b) {
  __int128 sum = (__int128)((unsigned __int128)a + (unsigned __int128)b);
  __builtin_own_wide_check(((a ^ sum) & (b ^ sum)) < 0);
  return sum;
}
signed __int128 __builtin_own_wide_sub(__int128 a, __int128 b) {
  __int128 difference = (__int128)((unsigned __int128)a - (unsigned __int128)b);
  __builtin_own_wide_check(((a ^ b) & (a ^ difference)) < 0);
  return difference;
}
signed __int128 __builtin_own_wide_smul(__int128 a, __int128 b) {
  int first = a < 0, second = b < 0;
  unsigned __int128 x = (unsigned __int128)a, y = (unsigned __int128)b, product;
  x = first ? -x : x;
  y = second ? -y : y;
  product = __builtin_own_wide_mul(x, y);
  if (x != 0 && __builtin_own_wide_udiv(product, x) != y)
    __builtin_own_wide_check(1);
  else
    __builtin_own_wide_check(first != second ? product > (unsigned __int128)1u << 127 : product >> 127 != 0);
  return (__int128)(first != second ? -product : product);
}
double __builtin_own_wide_to_double(unsigned __int128 a) {
  unsigned long long low = (unsigned long long)a, high = (unsigned long long)(a >> 64), top;
  int by = 0;
  if (!high)
    return (double)low;
  while (high >> by != 0 && by < 63)
    by = by + 1;
  if (high >> 63)
    by = 64;
  top = by == 64 ? high : high << (64 - by) | low >> by;
  if (by == 64 ? low != 0 : low << (64 - by) != 0)
    top = top | 1;
  return (double)top * ((double)(1ull << (by - 1)) * 2.0);
}
double __builtin_own_wide_sto_double(__int128 a) {
  return a < 0 ? -__builtin_own_wide_to_double(-(unsigned __int128)a)
               : __builtin_own_wide_to_double((unsigned __int128)a);
}
float __builtin_own_wide_to_float(unsigned __int128 a) {
  unsigned long long low = (unsigned long long)a, high = (unsigned long long)(a >> 64), top;
  int by = 0;
  if (!high)
    return (float)low;
  while (high >> by != 0 && by < 63)
    by = by + 1;
  if (high >> 63)
    by = 64;
  top = by == 64 ? high : high << (64 - by) | low >> by;
  if (by == 64 ? low != 0 : low << (64 - by) != 0)
    top = top | 1;
  return (float)top * ((float)(1ull << (by - 1)) * 2.0f);
}
float __builtin_own_wide_sto_float(__int128 a) {
  return a < 0 ? -__builtin_own_wide_to_float(-(unsigned __int128)a)
               : __builtin_own_wide_to_float((unsigned __int128)a);
}
unsigned __int128 __builtin_own_wide_from_double(double a) {
  double high = a * 0x1p-64;
  unsigned long long top, rest;
  if (a < 0x1p64 && a > -1.0)
    return (unsigned __int128)(unsigned long long)a;
  top = (unsigned long long)high;
  rest = (unsigned long long)(a - (double)top * 0x1p64);
  return (unsigned __int128)top << 64 | rest;
}
signed __int128 __builtin_own_wide_sfrom_double(double a) {
  double size = a < 0.0 ? -a : a;
  if (!(size < 0x1p127)) {
    unsigned long long any = (unsigned long long)(size * 0x1p127);
    if (a == -0x1p127)
      return (__int128)((unsigned __int128)1u << 127);
    return (__int128)((unsigned __int128)any << 64 | (unsigned long long)(size * 0x1p127));
  }
  return (__int128)(a < 0.0 ? -__builtin_own_wide_from_double(size) : __builtin_own_wide_from_double(size));
}
int __builtin_own_wide_overflows(int op, unsigned __int128 a, int first, unsigned __int128 b, int second, int width, int is_signed) {
  unsigned __int128 x = first ? -a : a, y = second ? -b : b, size;
  int negative = first, big = 0;
  if (op == 2) {
    unsigned long long x0 = (unsigned long long)x, x1 = (unsigned long long)(x >> 64);
    unsigned long long y0 = (unsigned long long)y, y1 = (unsigned long long)(y >> 64);
    unsigned __int128 cross = __builtin_own_wide_mul(x1 ? x1 : x0, x1 ? y0 : y1);
    unsigned __int128 low = __builtin_own_wide_mul(x0, y0);
    size = low + (cross << 64);
    big = (x1 && y1) || cross >> 64 != 0 || size < low;
    negative = first != second;
  } else {
    int same = op == 0 ? first == second : first != second;
    size = same ? x + y : x < y ? y - x : x - y;
    big = same && size < x;
    negative = same || x >= y ? first : !first;
  }
  if (big)
    return 1;
  if (!is_signed)
    return (negative && size != 0) || (width < 128 && size >> width != 0);
  size = negative && size != 0 ? size - 1u : size;
  return size >> (width - 1) != 0;
}
