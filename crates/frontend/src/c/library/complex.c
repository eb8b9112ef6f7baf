/* Complex numbers: products of floating-point ones, where infinite factors count although the plain
   formula gives no number, and functions of complex.h. */
static double __builtin_own_complex_unit(double x, int is_infinite) {
  return __builtin_copysign(is_infinite ? 1.0 : 0.0, x);
}
static double __builtin_own_complex_number(double x) {
  return x != x ? __builtin_copysign(0.0, x) : x;
}
double _Complex __builtin_own_complex_mul(double a, double b, double c, double d) {
  double _Complex product;
  double ac = a * c, bd = b * d, ad = a * d, bc = b * c, x = ac - bd, y = ad + bc;
  if (x != x && y != y) {
    int first = __builtin_isinf(a) || __builtin_isinf(b), second = __builtin_isinf(c) || __builtin_isinf(d);
    int third = __builtin_isinf(ac) || __builtin_isinf(bd) || __builtin_isinf(ad) || __builtin_isinf(bc);
    if (first) {
      a = __builtin_own_complex_unit(a, __builtin_isinf(a) != 0);
      b = __builtin_own_complex_unit(b, __builtin_isinf(b) != 0);
      c = __builtin_own_complex_number(c);
      d = __builtin_own_complex_number(d);
    }
    if (second) {
      c = __builtin_own_complex_unit(c, __builtin_isinf(c) != 0);
      d = __builtin_own_complex_unit(d, __builtin_isinf(d) != 0);
      a = __builtin_own_complex_number(a);
      b = __builtin_own_complex_number(b);
    }
    if (!first && !second && third) {
      a = __builtin_own_complex_number(a);
      b = __builtin_own_complex_number(b);
      c = __builtin_own_complex_number(c);
      d = __builtin_own_complex_number(d);
    }
    if (first || second || third) {
      x = (1.0 / 0.0) * (a * c - b * d);
      y = (1.0 / 0.0) * (a * d + b * c);
    }
  }
  __real__ product = x;
  __imag__ product = y;
  return product;
}
float _Complex __builtin_own_complex_mulf(float a, float b, float c, float d) {
  float _Complex product;
  float ac = a * c, bd = b * d, ad = a * d, bc = b * c, x = ac - bd, y = ad + bc;
  if (x != x && y != y) {
    int first = __builtin_isinf(a) || __builtin_isinf(b), second = __builtin_isinf(c) || __builtin_isinf(d);
    int third = __builtin_isinf(ac) || __builtin_isinf(bd) || __builtin_isinf(ad) || __builtin_isinf(bc);
    if (first) {
      a = __builtin_own_complex_unit(a, __builtin_isinf(a) != 0);
      b = __builtin_own_complex_unit(b, __builtin_isinf(b) != 0);
      c = __builtin_own_complex_number(c);
      d = __builtin_own_complex_number(d);
    }
    if (second) {
      c = __builtin_own_complex_unit(c, __builtin_isinf(c) != 0);
      d = __builtin_own_complex_unit(d, __builtin_isinf(d) != 0);
      a = __builtin_own_complex_number(a);
      b = __builtin_own_complex_number(b);
    }
    if (!first && !second && third) {
      a = __builtin_own_complex_number(a);
      b = __builtin_own_complex_number(b);
      c = __builtin_own_complex_number(c);
      d = __builtin_own_complex_number(d);
    }
    if (first || second || third) {
      x = (1.0f / 0.0f) * (a * c - b * d);
      y = (1.0f / 0.0f) * (a * d + b * c);
    }
  }
  __real__ product = x;
  __imag__ product = y;
  return product;
}
double creal(double _Complex z) {
  return __real__ z;
}
double cimag(double _Complex z) {
  return __imag__ z;
}
float crealf(float _Complex z) {
  return __real__ z;
}
float cimagf(float _Complex z) {
  return __imag__ z;
}
double _Complex conj(double _Complex z) {
  return ~z;
}
float _Complex conjf(float _Complex z) {
  return ~z;
}
