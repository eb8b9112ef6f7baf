/* stdlib.h: quotients with remainders. */
typedef struct { int quot; int rem; } div_t;
typedef struct { long int quot; long int rem; } ldiv_t;
typedef struct { long long int quot; long long int rem; } lldiv_t;
div_t div(int a, int b) {
  div_t result;
  result.quot = a / b;
  result.rem = a % b;
  return result;
}
ldiv_t ldiv(long a, long b) {
  ldiv_t result;
  result.quot = a / b;
  result.rem = a % b;
  return result;
}
lldiv_t lldiv(long long a, long long b) {
  lldiv_t result;
  result.quot = a / b;
  result.rem = a % b;
  return result;
}
