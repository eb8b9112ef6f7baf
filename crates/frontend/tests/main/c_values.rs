//! C programs compute the same values here as when they are compiled.

use crate::c_support as support;

use support::compare;

macro_rules! programs {
    ($($name:ident: $text:expr;)*) => {
        $(#[test]
        fn $name() {
            let text = format!("unsigned long long result[{}];\n{}", support::RESULTS, $text);
            compare(stringify!($name), &text);
        })*
    };
}

programs! {
    integers_wrap_and_promote: "
int main(void) {
  unsigned char c = 250; signed char s = -3; short h = 32767; unsigned short u = 65535;
  int i = 2147483647; unsigned v = 4294967295u; long long l = -1; unsigned long long w = 1ull << 63;
  c += 10; s = s * 50; h++; u += 2;
  result[0] = c; result[1] = s; result[2] = h; result[3] = u;
  result[4] = i + 1; result[5] = v + 1; result[6] = l + v; result[7] = w * 2 + 3;
  result[8] = c - s; result[9] = -1 < 1u; result[10] = (unsigned char)-1 == -1; result[11] = s < c;
  result[12] = ~c; result[13] = -v; result[14] = !w; result[15] = (char)200;
  return 0;
}";
    functions_that_the_compiler_knows_need_no_declaration: "
int main(void) {
  char text[8] = \"abcabc\"; float _Complex z = 1.0f + 2.0fi; double _Complex w;
  w = __builtin_conjf(z); z = conjf(z);
  result[0] = __imag__ w == -2.0; result[1] = __imag__ z == -2.0; result[2] = strrchr(text, 'b') - text;
  result[3] = strstr(text, \"ca\") - text; result[4] = (char *)__builtin_mempcpy(text, \"xy\", 2) - text;
  result[5] = (int)(sqrt(6.25) * 4); result[6] = (int)(fabsf(-1.5f) * 4); result[7] = strspn(text, \"xyc\");
  result[8] = sizeof(strlen(text)); result[9] = creal(w) == 1; result[10] = stpcpy(text, \"abc\") - text;
  return 0;
}";
    two_ampersands_are_an_operator_or_the_address_of_a_label: "
int flag = 1, *none;
int choose(int k) {
  static void *const table[] = { &&even, &&odd };
  void *same = (void *)&&even; long number = (long)&&odd; const void *third = (const void *) && odd;
  if (k > 9) goto *(k == 10 ? same : &&odd);
  if (!&&even || third != (void *)number) return 0;
  goto *table[k & 1];
  even: return k * 10; odd: return k * 10 + 1;
}
int main(void) {
  int n = 2, m = 1, k = 0, a[2] = { 1, 2 };
  if (n-- && m) k++; if (n++ && m--) k += 2; while (a[1]-- && flag) k += 4; result[9] = a[0]++ && none;
  for (; n++ && n < 9;) k += 100;
  result[0] = k; result[1] = n; result[2] = sizeof(int) && m; result[3] = (n) && flag; result[4] = (a[0]) && (none);
  for (int i = 0; i < 4; i++) result[5 + i] = choose(8 + i);
  return 0;
}";
    members_without_a_name_have_no_tag_either: "
struct a { int a; }; typedef struct { int d; } d;
struct b { struct a; int b; }; struct c { d; int c; }; struct t { struct inner { int i; }; int t; };
union u { struct a; char x; }; struct v { struct a; }; struct w { const struct { int q; }; union { int r; float f; }; int; enum { X, Y }; };
int main(void) {
  struct inner in = { 3 }; struct b b = { 7 }; struct w w = { { 1 }, { 2 } };
  result[0] = sizeof(struct b); result[1] = sizeof(struct c); result[2] = sizeof(struct t); result[3] = sizeof(union u);
  result[4] = sizeof(struct v); result[5] = sizeof(struct w); result[6] = in.i; result[7] = b.b; result[8] = w.q * 10 + w.r + Y;
  return 0;
}";
    structures_without_members_and_lists_without_values: "
typedef struct {} none; struct s { int a; none n; int b; }; struct x { none n; int v; };
int a, *b = &a, **c; int *table[9] = {};
none pass(none n, int *count) { ++*count; return n; }
int main(void) {
  none n = {}, *p = &n; int count = 0;
  pass(n, &count); pass((none) {}, &count); n = pass(pass(*p, &count), &count);
  struct s s = { 1, {}, 2 }, t = (struct s) {}; s.n = n; t.n = (none) {};
  struct x x = (struct x) { {}, 5 }, y = (struct x) {};
  int *g[28] = {}; struct { int *z[3]; char c; } h = {};
  *b = 4; c = &g[3]; result[0] = count; result[1] = s.b; result[2] = t.a; result[3] = x.v + y.v; result[4] = sizeof(none);
  result[5] = sizeof(struct s); result[6] = a; result[7] = ((int [4]) {})[3]; result[8] = h.z[2] == 0; result[9] = table[8] == 0;
  return 0;
}";
    names_of_the_program_are_its_own: "
struct s { int a, b; } literal = { 1, 2 }, temporary = { 3, 4 };
int arguments[3] = { 7, 8, 9 }, heap = 5, memory = 6, locals = 7, stack = 8, value = 9, start = 10;
struct s make(int value) { struct s temporary = { value, value + 1 }; return temporary; }
int last(int n, ...) { __builtin_va_list arguments; __builtin_va_start(arguments, n); int value = __builtin_va_arg(arguments, int); __builtin_va_end(arguments); return value * n; }
int main(void) {
  literal.a = 5; struct s x = literal, y = { literal.a, temporary.b }, many[2] = { literal, temporary };
  struct { struct s s; int k; } w = { literal, 4 };
  temporary = make(3); heap++; int *p = &memory; *p += heap;
  result[0] = x.a; result[1] = y.a * 10 + y.b; result[2] = many[0].a; result[3] = many[1].b; result[4] = w.s.a; result[5] = temporary.b;
  result[6] = arguments[1] + heap + memory + locals + stack + value + start; result[7] = last(3, 7);
  return 0;
}";
    second_names_are_the_same_function_or_object: "
static int hidden(int x) { return x * 2; }
int shown(int) __attribute__((weak, alias(\"hidden\"))), later(int) __attribute__((alias(\"defined_below\")));
int (*table[])(int) = { shown, later };
int value = 4; extern int again __attribute__((alias(\"value\")));
int defined_below(int x) { return x - 1; }
int main(void) {
  value = 5; result[0] = again; again++; result[1] = value; result[2] = shown(3); result[3] = later(3);
  result[4] = table[0](7); result[5] = table[1](7); result[6] = shown == hidden; result[7] = &again == &value;
  return 0;
}";
    packs_have_names_and_a_pop_without_a_push_is_none: "
#pragma pack(2)
#pragma pack(pop)
struct a { char c; int i; };
#pragma pack()
#pragma pack(push, first, 1)
struct b { char c; int i; };
#pragma pack(push, 2)
struct c { char c; int i; };
#pragma pack(pop, first)
struct d { char c; int i; };
int f(void) { return 1; }
int main(void) {
  result[0] = sizeof(struct a); result[1] = sizeof(struct b); result[2] = sizeof(struct c); result[3] = sizeof(struct d);
  result[4] = __alignof__(f); result[5] = _Alignof(struct b);
  return 0;
}";
    objects_with_static_lifetime_are_initialised_by_literals: "
struct a { int i, j, k[4]; }; struct c { int i; }; struct d { int i; struct c j; };
struct a whole = (struct a) { .j = 6, .k[2] = 12 };
int open[] = (int []) { [2] = 6, 7, 8 }, exact[] = (int [3]) { 1 }, rest[2] = (int []) { 1, 2 };
struct c parts[3] = { [2] = (struct c) { 13 }, [1] = (const struct c) { 12 } };
struct d inner = { .j = (struct c) { 15 }, .i = 14 };
struct d mixed[2] = { [1].j = (struct c) { 17 }, [0] = { 0, (struct c) { 16 } } };
struct c all[2][3] = { [0 ... 1] = { [0 ... 2] = (struct c) { 26 } } };
int number = (int) { 5 }; int *pointer = &(int) { 7 }; struct a *other = &(struct a) { 1, 2, { 3 } };
int f(void) { static struct d s = (struct d) { 3, { 4 } }; static int n = (int) { 6 }; return s.i++ * 100 + s.j.i * 10 + n++; }
int main(void) {
  struct d here = { 1, (struct c) { 2 } }, copy = (struct d) { .i = 8 };
  result[0] = whole.i * 1000 + whole.j * 100 + whole.k[2] + whole.k[3]; result[1] = open[2] * 100 + open[4] * 10 + open[0];
  result[2] = sizeof open * 100 + sizeof exact; result[3] = exact[0] + exact[2] + rest[1] * 10 + rest[0];
  result[4] = parts[0].i + parts[1].i * 100 + parts[2].i; result[5] = inner.i * 100 + inner.j.i;
  result[6] = mixed[0].i + mixed[0].j.i * 100 + mixed[1].j.i; result[7] = all[0][1].i + all[1][2].i;
  result[8] = number * 10 + *pointer; result[9] = other->j * 10 + other->k[0];
  result[10] = f(); result[11] = f(); result[12] = here.j.i * 10 + here.i; result[13] = copy.i * 10 + copy.j.i;
  return 0;
}";
    copies_have_the_bytes_between_members_too: "
void *memset(void *, int, unsigned long); void *memcpy(void *, const void *, unsigned long);
int memcmp(const void *, const void *, unsigned long);
struct s { char c; int i; short h; }; struct b { unsigned a : 3, b : 7; char c; };
int main(void) {
  struct s a, b, c, v[2]; struct b d, e; memset(&a, 0, sizeof a); memset(&b, 0, sizeof b); memset(&d, 255, sizeof d);
  a.c = b.c = 1; a.i = b.i = 2; a.h = b.h = 3; memcpy(&c, &a, sizeof c); memset(v, 1, sizeof v); memcpy(&v[1], &c, sizeof c);
  d.a = 2; memcpy(&e, &d, sizeof e); ((char *)&v[1])[2] = 9;
  result[0] = memcmp(&a, &b, sizeof a); result[1] = memcmp(&c, &b, sizeof c); result[2] = ((char *)&v[1])[1];
  result[3] = ((char *)&v[0])[1]; result[4] = memcmp(&d, &e, sizeof d); result[5] = ((unsigned char *)&e)[2]; result[6] = e.b;
  c = v[1]; result[7] = ((char *)&c)[2]; result[8] = c.i;
  return 0;
}";
    divisions_round_towards_zero: "
int main(void) {
  int a = -7, b = 2; unsigned c = 7, d = 3; long long e = -9223372036854775807LL;
  result[0] = a / b; result[1] = a % b; result[2] = a / -b; result[3] = a % -b;
  result[4] = c / d; result[5] = c % d; result[6] = e / 10; result[7] = e % 10;
  result[8] = a / (int)c; result[9] = a / c; result[10] = 7 / 2 * 2; a /= 3; result[11] = a; a %= 2; result[12] = a;
  result[13] = b && a / b; result[14] = (b = 0) || (c / d); result[15] = b != 0 && 10 / b > 1;
  return 0;
}";
    shifts_keep_the_sign_or_not: "
int main(void) {
  int a = -256; unsigned b = 0x80000001u; unsigned char n = 3; long l = -1;
  result[0] = a >> n; result[1] = b >> n; result[2] = b << n; result[3] = a << 2;
  result[4] = l >> 63; result[5] = (unsigned long)l >> 60; result[6] = 1L << 40; result[7] = (char)0x7f << 3;
  b <<= n; result[8] = b; a >>= 1; result[9] = a; result[10] = 1 << (n & 7); result[11] = (n << 6) >> 2;
  return 0;
}";
    logic_is_lazy: "
int calls; int f(int x) { calls++; return x; }
int main(void) {
  result[0] = f(0) && f(1); result[1] = calls; result[2] = f(1) || f(0); result[3] = calls;
  result[4] = f(3) ? f(4) : f(5); result[5] = calls; int x = 0;
  if (x++ || x++) x += 10; result[6] = x;
  if (!(f(0) || !f(2))) result[7] = calls;
  result[8] = (f(1), f(2)) + 1; result[9] = calls; result[10] = !f(0) + !!f(7);
  result[11] = x > 3 ? x : f(9); result[12] = calls; x = f(1) && (x = 5) ? x * 2 : 0; result[13] = x;
  while (f(x--) && x > 6) ; result[14] = x; result[15] = calls;
  return 0;
}";
    increments_yield_old_and_new: "
int g = 5; unsigned char c = 255; _Bool b;
int main(void) {
  int i = 3; result[0] = i++; result[1] = ++i; result[2] = i--; result[3] = --i; result[4] = i;
  result[5] = g++ + ++g; result[6] = c++; result[7] = c; b++; b++; result[8] = b; b--; result[9] = b;
  int a[3] = {1, 2, 3}; int j = 0; a[j++] += 10; a[j++] *= 5; result[10] = a[0]; result[11] = a[1]; result[12] = j;
  result[13] = (i = 7) + 1; result[14] = (i += 2, i * i); i = j = 4; result[15] = i + j;
  return 0;
}";
    loops_break_and_continue: "
int main(void) {
  int n = 0; for (int i = 0; i < 20; i++) { if (i % 2) continue; if (i > 14) break; n += i; } result[0] = n;
  int k = 0; do { k += 3; if (k == 9) continue; if (k > 20) break; } while (k < 100); result[1] = k;
  int m = 10; while (m) { m--; if (m == 4) break; } result[2] = m;
  for (;;) { if (n++ > 70) break; } result[3] = n;
  for (int i = 0, j = 10; i < j; i++, j--) result[4] = i * 100 + j;
  int s = 0; for (int i = 0; i < 5; i++) for (int j = 0; j < 5; j++) { if (j == i) break; s += j; } result[5] = s;
  return 0;
}";
    switches_fall_through: "
int f(int x) { int r = 0;
  switch (x) { case 1: r += 1; case 2: r += 2; break; default: r += 100; case 3: r += 3; break; case 10 ... 20: r = 7; break;
    case -5: r = 9; }
  return r; }
int g(unsigned char c) { switch (c) { case 'a': return 1; case 255: return 2; { case 7: return 3; } } return 4; }
int h(int n) { int count = 0; switch (n & 3) { do { case 0: count++; case 3: count++; case 2: count++; case 1: count++; } while ((n -= 4) > 0); }
  return count; }
int main(void) {
  for (int i = 0; i < 5; i++) result[i] = f(i); result[5] = f(15); result[6] = f(-5); result[7] = f(21);
  result[8] = g('a'); result[9] = g(-1); result[10] = g(7); result[11] = g(8); result[12] = h(7); result[13] = h(8);
  switch (3) ; switch (result[0]) default: result[14] = 77;
  return 0;
}";
    jumps_go_anywhere: "
int main(void) {
  int i = 0; again: i++; if (i < 10) goto again; result[0] = i;
  if (i) goto inside; for (;;) { result[1] = 1; inside: i += 5; if (i > 20) goto out; }
out: result[2] = i; goto end; result[3] = 99;
end: ; result[4] = 4;
  { int x = 3; back: x--; if (x) goto back; result[5] = x; }
  return 0; dead: result[6] = 1; goto dead;
}";
    functions_recurse: "
unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int ack(int m, int n) { if (m == 0) return n + 1; if (n == 0) return ack(m - 1, 1); return ack(m - 1, ack(m, n - 1)); }
int odd(int n); int even(int n) { return n == 0 ? 1 : odd(n - 1); } int odd(int n) { return n == 0 ? 0 : even(n - 1); }
void sum(int *into, int n) { int here = n; if (n == 0) return; sum(&here, n - 1); *into += here; }
int old(a, b) int a; char b; { return a * b; }
static int twice(int x) { static int count; count++; return 2 * x + count; }
int main() {
  result[0] = fib(12); result[1] = ack(2, 3); result[2] = even(10) * 2 + odd(7); int x = 0; sum(&x, 5); result[3] = x;
  result[4] = old(6, 7); result[5] = twice(1); result[6] = twice(1); result[7] = undeclared(3);
  return 0;
}
int undeclared(int x) { return x + 1; }";
    pointers_reach_what_they_point_to: "
int g = 4; int *gp = &g; int array[5] = {1, 2, 3}; char text[] = \"hello\"; char *words[] = {\"ab\", \"cde\"};
void swap(int *a, int *b) { int t = *a; *a = *b; *b = t; }
int total(int *p, int n) { int s = 0; while (n--) s += *p++; return s; }
int main(void) {
  int x = 1, y = 2; swap(&x, &y); result[0] = x * 10 + y; *gp += 3; result[1] = g; result[2] = total(array, 5);
  int *p = array + 4; *p = 9; p[-1] = 8; result[3] = total(array + 1, 4); result[4] = p - array; result[5] = &array[2] < p;
  int **pp = &p; **pp = 100; *pp = &x; *p = 55; result[6] = array[4] + x; result[7] = text[1] + words[1][2];
  result[8] = sizeof text + sizeof words; char *q = text; while (*q) q++; result[9] = q - text;
  result[10] = *(char *)&g; unsigned long bits = (unsigned long)&array[1]; result[11] = *(int *)(bits + 4); result[12] = 2[array];
  const char *s = \"xyz\" + 1; result[13] = *s; result[14] = p == &x; result[15] = gp != 0 && !(gp == (int *)0);
  return 0;
}";
    structures_are_values: "
struct point { int x, y; }; struct box { struct point low, high; char name[4]; };
struct point plus(struct point a, struct point b) { a.x += b.x; a.y += b.y; return a; }
struct box grow(struct box b, int n) { b.low.x -= n; b.high = plus(b.high, (struct point){n, n}); b.name[0]++; return b; }
struct point table[3] = {{1, 2}, {.y = 5}, [2] = {7}}; struct box world = {{1, 2}, {3, 4}, \"abc\"};
int main(void) {
  struct point p = {1, 2}, q = {.y = 10, .x = 20}; struct point r = plus(p, q); result[0] = r.x * 100 + r.y;
  struct box b = grow(world, 5); result[1] = b.low.x; result[2] = b.high.x * 10 + b.high.y; result[3] = b.name[0] + b.name[2];
  result[4] = table[0].y + table[1].y + table[2].x; struct point *s = &table[1]; s->x = 3; s++; s->y = 4; result[5] = table[1].x * 10 + table[2].y;
  result[6] = sizeof(struct box); result[7] = plus(p, p).y; struct point t; t = r; t.x = 0; result[8] = r.x + t.x; result[9] = grow(b, 1).high.y;
  int i = 1; table[i].x += 7; result[10] = table[i].x; q = i ? p : r; result[11] = q.x; struct point arr[2]; arr[0] = p; arr[1] = arr[0]; result[12] = arr[1].y;
  return 0;
}";
    unions_share_bytes: "
union u { unsigned i; unsigned char c[4]; struct { unsigned short lo, hi; } h; };
struct tagged { int tag; union { int n; char b[8]; }; };
union u make(unsigned x) { union u r; r.i = x; return r; }
int main(void) {
  union u a; a.i = 0x01020304; result[0] = a.c[0]; result[1] = a.c[3]; result[2] = a.h.hi; a.c[1] = 0xff; result[3] = a.i;
  union u b = a; b.h.lo = 0; result[4] = b.i; result[5] = a.i; result[6] = make(77).c[0]; result[7] = sizeof(union u);
  struct tagged t = {1, {0x41424344}}; result[8] = t.b[0]; t.n++; result[9] = t.b[0]; struct tagged *p = &t; p->b[7] = 3; result[10] = p->b[7] + p->tag;
  return 0;
}";
    bit_fields_are_cut: "
struct f { unsigned a : 3; int b : 5; unsigned long long c : 40; _Bool d : 1; unsigned : 0; char e; unsigned g : 7; };
struct f global = {9, -3, 1ull << 39, 2, 'x', 200};
int main(void) {
  struct f l = {0}; l.a = 10; l.b = 17; l.c = ~0ull; l.d = 5; l.g = l.a - 5;
  result[0] = l.a; result[1] = l.b; result[2] = l.c; result[3] = l.d; result[4] = l.g; result[5] = sizeof l;
  result[6] = global.a; result[7] = global.b; result[8] = global.c; result[9] = global.d; result[10] = global.g;
  struct f *p = &l; p->a++; p->b -= 40; p->d = 0; result[11] = p->a; result[12] = p->b; result[13] = p->d + p->c; l.a = 7; result[14] = l.a - 8 < 0; result[15] = p->e;
  return 0;
}";
    arrays_of_arrays_are_rows: "
int m[3][4] = {{1, 2, 3, 4}, {5}, {[2] = 9}}; char grid[2][3] = {\"ab\", {'c', 'd', 'e'}}; long cube[2][2][2] = {1, 2, 3, 4, 5, 6, 7, 8};
int row(int *r) { return r[0] + r[1] + r[2] + r[3]; } int whole(int a[][4]) { return a[2][2] + a[0][3]; }
int main(void) {
  int local[2][3]; for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) local[i][j] = 10 * i + j;
  result[0] = local[1][2] + local[0][1]; result[1] = row(m[0]); result[2] = row(m[1]); result[3] = whole(m); result[4] = grid[1][0] + grid[0][2];
  result[5] = cube[1][0][1] * 10 + cube[0][1][1]; result[6] = sizeof m / sizeof m[0]; int (*p)[4] = m; p++; result[7] = (*p)[0]; result[8] = p[1][2];
  int ranged[8] = {[1 ... 3] = 5, 6, [7] = 1}; result[9] = ranged[3] + ranged[4] + ranged[0] + ranged[7]; int open[] = {[4] = 2}; result[10] = sizeof open;
  int n = 5; int v[n]; for (int i = 0; i < n; i++) v[i] = i * i; result[11] = v[4]; result[12] = sizeof v; int *q = &cube; result[13] = m[0][5];
  return 0;
}";
    function_pointers_dispatch: "
typedef int (*op)(int, int); int add(int a, int b) { return a + b; } int sub(int a, int b) { return a - b; } int mul(int a, int b) { return a * b; }
op table[3] = {add, &sub, mul}; struct vtable { op f; int k; } object = {mul, 6};
int apply(op f, int a, int b) { return (*f)(a, b); } op choose(int n) { return n ? add : sub; } void inc(int *p) { ++*p; } void (*hook)(int *) = inc;
int main(void) {
  for (int i = 0; i < 3; i++) result[i] = table[i](7, 3); result[3] = apply(add, 1, 2); result[4] = choose(0)(9, 4); result[5] = object.f(object.k, 7);
  op local = sub; result[6] = local == sub; result[7] = (local == add ? 5 : local(1, 2)); int n = 0; hook(&n); (**hook)(&n); result[8] = n; result[9] = table[2] != table[0];
  return 0;
}";
    lists_live_on_the_heap: "
#include <stdlib.h>
struct node { int value; struct node *next; };
struct node *push(struct node *list, int value) { struct node *n = malloc(sizeof(struct node)); n->value = value; n->next = list; return n; }
struct node *reverse(struct node *l) { struct node *r = 0; while (l) { struct node *next = l->next; l->next = r; r = l; l = next; } return r; }
struct tree { struct tree *left, *right; long key; }; void insert(struct tree **t, long key) { if (!*t) { *t = calloc(1, sizeof **t); (*t)->key = key; } else insert(key < (*t)->key ? &(*t)->left : &(*t)->right, key); }
long sum(struct tree *t) { return t ? sum(t->left) + t->key * 2 + sum(t->right) : 0; }
int main(void) {
  struct node *l = 0; for (int i = 1; i <= 5; i++) l = push(l, i); l = reverse(l); int f = 0; for (struct node *p = l; p; p = p->next) f = f * 10 + p->value; result[0] = f;
  int *a = malloc(4 * sizeof *a); for (int i = 0; i < 4; i++) a[i] = i + 1; a = realloc(a, 8 * sizeof *a); result[1] = a[3]; char *z = calloc(3, 2); result[2] = z[5];
  struct tree *t = 0; insert(&t, 5); insert(&t, 2); insert(&t, 9); result[3] = sum(t); result[4] = t->left->key; free(a); free(l);
  return 0;
}";
    strings_are_copied_and_compared: "
#include <string.h>
int main(void) {
  char a[16], b[8] = \"wor\"; strcpy(a, \"hello\"); strcat(a, b); result[0] = strlen(a); result[1] = strcmp(a, \"hellp\") < 0; result[2] = strncmp(a, \"help\", 3);
  memset(b, 'x', 3); b[3] = 0; result[3] = b[2]; memcpy(a + 2, b, 4); result[4] = strlen(a); memmove(a + 1, a, 5); result[5] = a[3]; result[6] = memcmp(a, \"hhe\", 3);
  result[7] = *strchr(\"abc\", 'b'); result[8] = strrchr(\"abcb\", 'b')[1]; result[9] = strchr(\"abc\", 'q') == 0; int n[3] = {1, 2, 3}, m[3]; memcpy(m, n, sizeof n); result[10] = m[2]; result[11] = strncpy(a, \"z\", 3)[1];
  struct { short s; long l; } p = {3, 4}, q; memcpy(&q, &p, sizeof p); result[12] = q.s * 10 + q.l; result[13] = __builtin_strlen(\"four\");
  return 0;
}";
    sizes_follow_the_data_model: "
struct s { char c; double d; short h; }; enum e { A, B = 5, C }; typedef struct { char a; int b[3]; } t; struct packed { char c; int i; } __attribute__((packed));
int main(void) {
  result[0] = sizeof(char) + sizeof(short) * 10 + sizeof(int) * 100 + sizeof(long) * 1000; result[1] = sizeof(void *); result[2] = sizeof(struct s);
  result[3] = sizeof(t); result[4] = C; result[5] = sizeof(enum e); result[6] = _Alignof(struct s); result[7] = __builtin_offsetof(struct s, h); result[8] = sizeof(long double);
  result[9] = sizeof 'a' + sizeof 1L + sizeof 1ull; result[10] = sizeof(struct packed); result[11] = (unsigned long)&((t *)0)->b[2]; result[12] = sizeof(struct { int : 3; char c; });
  enum e v = B; result[13] = v - C < 0; result[14] = sizeof \"abc\"; char arr[sizeof(int) * 2]; result[15] = sizeof arr;
  return 0;
}";
    statement_expressions_have_values: "
#define MAX(a, b) ({ typeof(a) x_ = (a); typeof(b) y_ = (b); x_ > y_ ? x_ : y_; })
int n; int f(void) { return ++n; }
int main(void) {
  result[0] = MAX(3, 7); result[1] = MAX(f(), 0) + MAX(f(), 0); result[2] = n; int k = ({ int s = 0; for (int i = 0; i < 4; i++) s += i; s; }); result[3] = k;
  if (({ int q = k; q == 6; })) result[4] = 1; result[5] = __builtin_expect(k > 5, 1) ? 2 : 3; unsigned char c = ({ 300; }); result[6] = c; typeof(c + 1) w = -1; result[7] = w;
  struct { int a; } s = ({ struct { int a; } z = {4}; z.a; }) == 4 ? (typeof(s)){8} : (typeof(s)){9}; result[8] = s.a; ({ result[9] = 5; });
  return 0;
}";
    compound_literals_and_globals: "
struct p { int a; struct { char b; long c[2]; } in; int *q; }; int one = 1; struct p g = {1, {2, {3, 4}}, &one}; struct p *gp = &g; int *lit = (int[]){7, 8, 9}; int sum(const int *v, int n) { return n ? v[0] + sum(v + 1, n - 1) : 0; }
extern int later; int early(void) { return later; } int later = 12; static long long wide = -5; char hex[] = {0x41, '\\x42', '\\103', '\\n', '\\0'};
int main(void) {
  result[0] = sum((int[]){1, 2, 3}, 3); result[1] = (struct p){.in.c = {5, 6}}.in.c[1]; result[2] = g.in.c[1] + *g.q + gp->in.b; result[3] = lit[2]; result[4] = early(); result[5] = wide; result[6] = hex[0] + hex[1] + hex[2] + hex[3];
  struct p local = g; local.in.c[0] = 30; result[7] = g.in.c[0] + local.in.c[0]; struct p *h = &(struct p){.a = 3}; h->a++; result[8] = h->a; static int counter = 5; counter += 2; result[9] = counter; { extern int later; result[10] = later; { int later = 3; result[11] = later; } }
  result[12] = \"abc\"[1]; result[13] = sizeof((char[]){1, 2}); for (int i = 0; i < 3; i++) { int fresh[2] = {i}; fresh[1] += fresh[0]; result[14] += fresh[1] * 10 + fresh[0]; }
  return 0;
}";
    values_of_assignments_are_settled: "
int g, *p; int f(void) { g = 10; return 0; } int h(void) { *p = 20; return 0; } struct s { int b : 3; } s;
int main(void) {
  result[0] = (g = 1) + f(); g = 0; result[1] = ++g + f() * 2; result[2] = g; int x = 0; p = &x; result[3] = (x = 3) + h(); result[4] = ++x + h(); result[5] = x;
  int a, b; a = b = g = 7; result[6] = a + b + g; result[7] = (s.b = 7); result[8] = (s.b = 9) + s.b; unsigned char c; int i = c = 300; result[9] = i; g = 5; result[10] = g++ + f();
  return 0;
}";
    booleans_are_one_or_zero: "
#include <stdbool.h>
bool flag = 4; bool f(int x) { return x; } struct b { bool p, q; };
int main(void) {
  bool a = 256, b = 0; result[0] = a; result[1] = f(2); result[2] = flag; a += 5; result[3] = a; b |= 2; result[4] = b; result[5] = a == true; bool *p = &b; *p = 0; result[6] = b; *p = 77; result[7] = *p; struct b s = {2, 0}; result[8] = s.p * 10 + s.q; struct b *q = &s; q->q = -1; result[9] = q->q; result[10] = (bool)0.5 + (bool)0.0; result[11] = !a + ~a; int *n = 0; bool isnull = n; result[12] = isnull;
  return 0;
}";
    conversions_between_everything: "
int main(void) {
  long long big = 0x123456789abcdef0LL; int i = big; short s = big; signed char c = big; unsigned char u = big; result[0] = i; result[1] = s; result[2] = c; result[3] = u; result[4] = (unsigned)i; result[5] = (unsigned long long)(int)-1; result[6] = (long long)(unsigned)-1;
  unsigned short us = -1; result[7] = us * us; result[8] = us << 15; result[9] = (short)us; result[10] = -us; char ch = 'z' + 10; result[11] = ch; result[12] = 'ab'; result[13] = 0xffffffff == -1; result[14] = 4294967295 == -1; result[15] = (i > 0 ? (unsigned char)1 : -1) < 0;
  return 0;
}";
    updates_of_every_kind: "
int a = 100; unsigned char c = 200; long long l = 5; int arr[4] = {1, 2, 3, 4}; int idx; int next(void) { return idx++; }
int main(void) {
  a += 7; a -= 3; a *= 2; a /= 5; a %= 17; a <<= 3; a >>= 1; a &= 0x3f; a |= 0x80; a ^= 0xff; result[0] = a; c += 100; result[1] = c; c -= 60; result[2] = c; c *= 3; result[3] = c; c <<= 1; result[4] = c; l *= -3; l >>= 1; result[5] = l;
  arr[next()] += 10; arr[next()] -= 5; result[6] = arr[0] * 100 + arr[1]; result[7] = idx; int *p = arr; *p++ *= 2; *++p += 1; result[8] = arr[0] + arr[2]; p += 1; p -= 2; result[9] = *p; (*p)--; result[10] = arr[1]; int x = 3; x += x++ * 0 + 2; c ^= c; result[11] = c; short h = 1; h -= 70000; result[12] = h;
  return 0;
}";
    fields_are_reached_two_ways: "
struct in { int a, b; }; struct out { int k; struct in one; struct in many[2]; long tail; }; struct head { int k; };
void bump(int *p) { *p += 5; } void both(struct in *p) { p->a++; p->b--; }
#define OUTER(p) ((struct out *)((char *)(p) - __builtin_offsetof(struct out, one)))
int main(void) {
  struct out x = {1, {2, 3}, {{4, 5}, {6, 7}}, 8}, y = x; bump(&x.one.b); both(&x.many[1]); both(&x.one); result[0] = x.one.a * 100 + x.one.b; result[1] = x.many[1].a * 10 + x.many[1].b;
  struct out *p = &x; p->many[0] = p->one; result[2] = p->many[0].b; struct head *h = (struct head *)p; h->k = 42; result[3] = x.k; int *q = &p->one.a; q[1] = 77; result[4] = x.one.b; struct in *i = &y.one; result[5] = OUTER(i)->tail + OUTER(i)->k;
  struct in *w = y.many; w++; w->b = 9; result[6] = y.many[1].b; w[-1] = *w; result[7] = y.many[0].b; y = *p; result[8] = y.one.b; unsigned char *bytes = (unsigned char *)&x.k; result[9] = bytes[0] + bytes[1];
  return 0;
}";
    fields_apart_stay_apart: "
#include <stdlib.h>
struct item { char kind; short count; long key; struct item *next; int data[3]; };
struct item *make(long key, struct item *next) { struct item *i = malloc(sizeof *i); i->kind = key; i->count = key * 3; i->key = key; i->next = next; for (int j = 0; j < 3; j++) i->data[j] = key + j; return i; }
struct pair { int *first; char *second; }; void set(struct pair *p, int *f, char *s) { p->first = f; p->second = s; }
int main(void) {
  struct item *list = 0; for (long k = 1; k < 5; k++) list = make(k, list); long sum = 0; for (struct item *i = list; i; i = i->next) { sum = sum * 7 + i->key + i->count * i->kind; i->data[i->key % 3] = 0; } result[0] = sum;
  result[1] = list->next->data[0] * 100 + list->next->data[1] * 10 + list->next->data[2]; struct item copy = *list; copy.next = list->next->next; result[2] = copy.next->key; struct item pool[3] = {[1] = {.key = 5, .data = {1, 2}}}; struct item *q = pool; q++; q->count = 7; result[3] = pool[1].count + pool[1].data[1] + pool[2].key;
  int n = 3; char c = 'x'; struct pair p, *pp = &p; set(pp, &n, &c); *pp->first += 4; (*p.second)++; result[4] = n; result[5] = c; struct pair table[2]; set(&table[1], &n, &c); *table[1].first = 1; result[6] = n; struct item *zero = calloc(2, sizeof *zero); result[7] = zero[1].key + zero[1].data[2] + zero[0].kind;
  return 0;
}";
    designators_continue_where_they_left: "
struct d { int a; struct { int x, y[3], z; } in; int b; }; struct d one = {.in.y[1] = 5, 6, 7, 8}, two = {1, .in = {2, {3}}, 9}, three = {1, 2, 3, 4, 5, 6, 7}, four[2] = {[1].in.x = 4, 5, [0].b = 3};
int main(void) {
  result[0] = one.in.y[1] * 1000 + one.in.y[2] * 100 + one.in.z * 10 + one.b; result[1] = two.b * 10 + two.in.y[0]; result[2] = three.in.y[2] * 100 + three.in.z * 10 + three.b; result[3] = four[1].in.y[0] + four[0].b; int a[6] = {1, [3] = 4, 5, [1] = 9}; result[4] = a[1] * 100 + a[3] * 10 + a[4] + a[2];
  struct d l = {.in = {.y = {[2] = 3}, 7}, 4}; result[5] = l.in.y[2] * 100 + l.in.z * 10 + l.b; struct { struct { int p, q; } s; int r; } m = {.s = 1, 2, 3}; result[6] = m.s.p * 100 + m.s.q * 10 + m.r;
  return 0;
}";
    atomics_and_rows_of_any_length: "
int rows(int n, int m, int k) { int a[n][m]; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i][j] = i * 10 + j; int s = 0; for (int i = 0; i < n; i++) s += a[i][k]; return s * 1000 + sizeof a + sizeof a[0]; }
int main(void) {
  int x = 5; result[0] = __atomic_add_fetch(&x, 3, 5); result[1] = __atomic_fetch_sub(&x, 2, 5); result[2] = x; int e = 6; result[3] = __atomic_compare_exchange_n(&x, &e, 9, 0, 5, 5); result[4] = x; result[5] = __atomic_compare_exchange_n(&x, &e, 1, 0, 5, 5); result[6] = e; result[7] = __sync_fetch_and_or(&x, 6); result[8] = __atomic_exchange_n(&x, 4, 5) * 10 + __atomic_load_n(&x, 5); result[9] = __atomic_nand_fetch(&x, 6, 5);
  result[10] = rows(3, 4, 2); result[11] = rows(2, 5, 4); int n = 3; int v[n + 1]; for (int i = 0; i <= n; i++) { int w[i + 1]; w[i] = i; v[i] = w[i] * sizeof w; } result[12] = v[3];
  return 0;
}";
    generic_code_uses_void_pointers: "
#include <stdlib.h>
typedef int (*compare)(const void *, const void *); int ints(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
void sort(void *base, unsigned long n, unsigned long size, compare c) { for (unsigned long i = 1; i < n; i++) for (unsigned long j = i; j > 0; j--) { char *x = (char *)base + (j - 1) * size, *y = x + size; if (c(x, y) <= 0) break; for (unsigned long k = 0; k < size; k++) { char t = x[k]; x[k] = y[k]; y[k] = t; } } }
struct stack { void **items; int n; }; void push(struct stack *s, void *p) { if (!s->items) s->items = malloc(8 * sizeof *s->items); s->items[s->n++] = p; } void *pop(struct stack *s) { return s->items[--s->n]; }
int main(void) {
  int a[6] = {5, 3, 300, 1, -4, 2}; sort(a, 6, sizeof *a, ints); for (int i = 0; i < 6; i++) result[i] = a[i]; struct stack s = {0}; long l = 7; push(&s, &a[2]); push(&s, &l); result[6] = *(long *)pop(&s); result[7] = *(int *)pop(&s); int **m = malloc(2 * sizeof *m); for (int i = 0; i < 2; i++) { m[i] = malloc(3 * sizeof **m); for (int j = 0; j < 3; j++) m[i][j] = i + j * 10; } result[8] = m[1][2] + m[0][1]; void *v = m; result[9] = ((int **)v)[1][0];
  return 0;
}";
    pools_tables_and_rows: "
typedef unsigned long size_t;
struct a { int x; int y; };
struct b { struct a in; struct b *link; };
static struct b pool[4]; static int used;
static struct b *get(void) { return used < 4 ? &pool[used++] : (struct b *)0; }
enum color { RED, GREEN = 5 };
static const char *names[] = { [RED] = \"red\", [GREEN] = \"green\" };
int cmp(enum color c) { switch (c) { case RED: return 1; case GREEN: return 2; } return 0; }
void init(struct a *p, int v) { *p = (struct a){ .x = v, .y = -v }; }
int f(struct b *b) { int s = 0; for (; b; b = b->link) s += b->in.x * b->in.y; return s; }
int main(void) {
  struct b *l = 0, *n;
  for (int i = 0; (n = get()); i++) { init(&n->in, i); n->link = l; l = n; }
  result[0] = f(l); result[1] = names[GREEN][2]; result[2] = cmp(GREEN);
  int (*g)(enum color) = cmp; result[3] = g(RED) + (*g)(GREEN);
  struct a arr[2][2] = {{{1,2},{3,4}},{{5,6}}}; struct a (*row)[2] = arr + 1; result[4] = (*row)[0].y + row[-1][1].x;
  unsigned char *raw = (unsigned char *)&arr[0][1]; result[5] = raw[4];
  long v = (long)l; struct b *back = (struct b *)v; result[6] = back->in.x;
  char s[4] = \"abcd\"; result[7] = s[3]; result[8] = sizeof(s) + sizeof(names)/sizeof(*names);
  struct { unsigned a:4, b:4; } bf = {3, 12}; bf.a += 15; result[9] = bf.a * 16 + bf.b; 
  int i = 5; i = i++ < 6 ? i : -1; result[10] = i; result[11] = (1, 2, 3); do { i--; if (i == 3) continue; } while (i > 0 && i != 2); result[12] = i;
  int z = 0; for (int a = 0, *p = &a; *p < 5; ++*p) z += *p; result[13] = z;
  return 0;
}";
    recursive_frames_keep_their_objects: "
int depth; int walk(int n, int *above) { int here[3] = {n, n * 2, n * 3}; int *mine = &here[1]; if (n > 0) walk(n - 1, mine); *above += here[0] + here[1] + here[2]; return *mine; }
struct acc { int total; struct acc *up; }; void go(int n, struct acc *up) { struct acc me = {n, up}; if (n) { go(n - 1, &me); } for (struct acc *p = &me; p; p = p->up) depth += p->total; }
int main(void) { int top = 0; result[0] = walk(4, &top); result[1] = top; go(3, 0); result[2] = depth; return 0; }";
}

mod random {
    use std::fs;

    use proptest::prelude::*;
    use wherefore_frontend::c::{Options, translate};

    use super::support::{compiled, folder, interpreted};

    const TYPES: [&str; 9] = [
        "signed char",
        "unsigned char",
        "short",
        "unsigned short",
        "int",
        "unsigned",
        "long long",
        "unsigned long long",
        "_Bool",
    ];

    fn variable() -> impl Strategy<Value = String> {
        (0..TYPES.len()).prop_map(|i| format!("v{i}"))
    }

    fn constant() -> impl Strategy<Value = String> {
        prop_oneof![
            (-3_i64..200).prop_map(|value| format!("({value})")),
            any::<u32>().prop_map(|value| format!("{value}u")),
            any::<i64>()
                .prop_map(|value| format!("({value}ll + 0)").replace("-9223372036854775808ll", "0ll")),
            prop_oneof![Just("'a'"), Just("0x7fffffff"), Just("0xffffffff"), Just("077")]
                .prop_map(str::to_owned),
        ]
    }

    fn expression() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![3 => variable(), 1 => constant()];
        leaf.prop_recursive(4, 24, 3, |inner| {
            let pair = (inner.clone(), inner.clone());
            let operator = prop::sample::select(vec![
                "+", "-", "*", "&", "|", "^", "<", "<=", ">", ">=", "==", "!=", "&&", "||",
            ]);
            prop_oneof![
                4 => (pair.clone(), operator).prop_map(|((a, b), op)| format!("({a} {op} {b})")),
                1 => (pair.clone(), prop::sample::select(vec!["/", "%"])).prop_map(|((a, b), op)| {
                    format!("({b} && {b} != -1 ? {a} {op} {b} : {a})")
                }),
                1 => (inner.clone(), 0..31, prop::sample::select(vec!["<<", ">>"]))
                    .prop_map(|(a, n, op)| format!("({a} {op} {n})")),
                1 => (pair.clone(), prop::sample::select(vec!["<<", ">>"]))
                    .prop_map(|((a, b), op)| format!("({a} {op} ({b} & 15))")),
                1 => (inner.clone(), prop::sample::select(vec!["-", "~", "!", "+"]))
                    .prop_map(|(a, op)| format!("({op}{a})")),
                1 => (inner.clone(), prop::sample::select(TYPES.to_vec())).prop_map(|(a, ty)| format!("(({ty}){a})")),
                1 => (inner.clone(), inner.clone(), inner).prop_map(|(a, b, c)| format!("({a} ? {b} : {c})")),
            ]
        })
    }

    fn statement() -> impl Strategy<Value = String> {
        let assignment = prop::sample::select(vec!["=", "+=", "-=", "*=", "&=", "|=", "^="]);
        let simple = prop_oneof![
            4 => (variable(), assignment, expression()).prop_map(|(v, op, e)| format!("{v} {op} {e};")),
            1 => (variable(), 0..7, prop::sample::select(vec!["<<=", ">>="]))
                .prop_map(|(v, n, op)| format!("{v} {op} {n};")),
            1 => (variable(), variable(), prop::sample::select(vec!["++", "--"])).prop_filter("distinct", |(a, b, _)| a != b)
                .prop_map(|(a, b, op)| format!("{a} = {b}{op};")),
            1 => (variable(), prop::sample::select(vec!["++", "--"])).prop_map(|(v, op)| format!("{op}{v};")),
            1 => (0..4_usize, expression()).prop_map(|(i, e)| format!("a[{i}] = {e};")),
            1 => (variable(), expression()).prop_map(|(v, e)| format!("{v} = a[{e} & 3];")),
            1 => (0..4_usize, expression()).prop_map(|(i, e)| format!("p = &b[{i}]; *p += {e};")),
            1 => (variable(), expression()).prop_map(|(v, e)| format!("{v} = b[{e} & 3];")),
            1 => (expression(), expression()).prop_map(|(x, y)| format!("s.f = {x}; t = s; s.g = t.f ^ {y}; s.h[1] = s.g;")),
            1 => variable().prop_map(|v| format!("{v} = t.g + s.f - s.h[1];")),
            2 => (expression(), expression()).prop_map(|(x, y)| format!("q = {x} ? &m : &n; q->f = {y}; q->g += {x};")),
            1 => (expression(), expression()).prop_map(|(x, y)| format!("l = &q->h[{x} & 1]; *l -= {y};")),
            1 => variable().prop_map(|v| format!("{v} = q->g + m.f - n.h[1];")),
            2 => (expression(), expression())
                .prop_map(|(x, y)| format!("w = {x} ? list : list + 2; w[1].i = {y}; w->c ^= {x}; (w + 1)->i++;")),
            1 => (variable(), 0..4_usize).prop_map(|(v, i)| format!("{v} = list[{i}].i + w->c;")),
            1 => (variable(), expression(), expression())
                .prop_map(|(v, x, y)| format!("bytes[{x} & 3] = {y}; {v} = word;")),
        ];
        simple.prop_recursive(2, 8, 3, |inner| {
            let block = prop::collection::vec(inner, 1..3).prop_map(|list| list.join(" "));
            prop_oneof![
                (expression(), block.clone(), block.clone())
                    .prop_map(|(c, a, b)| format!("if ({c}) {{ {a} }} else {{ {b} }}")),
                (1..4, block.clone()).prop_map(|(n, a)| format!("for (int i = 0; i < {n}; i++) {{ {a} }}")),
                (expression(), block.clone(), block).prop_map(|(e, a, b)| format!(
                    "switch ({e} & 3) {{ case 0: {a} break; case 2: {b} default: v4++; }}"
                )),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: wherefore_testing::cases(24), max_shrink_iters: 40, ..ProptestConfig::default() })]

        #[test]
        fn random_programs_compute_the_same(bodies in prop::collection::vec(prop::collection::vec(statement(), 1..8), 24)) {
            let count = bodies.len();
            let mut text = format!("unsigned long long result[{count}];\nstruct st {{ int f : 11; unsigned short g; long h[2]; }};\nstruct el {{ char c; int i; }};\n");
            for (i, body) in bodies.iter().enumerate() {
                text.push_str(&format!("void f{i}(void) {{\n"));
                for (j, ty) in TYPES.iter().enumerate() {
                    text.push_str(&format!("  {ty} v{j} = {};\n", (i * 31 + j * 57) % 300));
                }
                text.push_str("  int a[4] = {1, -2, 3}; short b[4] = {7, 8}; short *p = b; struct st s = {5}, t = {.g = 9};\n");
                text.push_str("  struct st m = {3}, n = {.h = {4}}, *q = &m; long *l = n.h; struct el list[4] = {{1, 2}, {3}}, *w = list; unsigned word = 77; unsigned char *bytes = (unsigned char *)&word;\n  ");
                text.push_str(&body.join("\n  "));
                let sum: Vec<String> = (0..TYPES.len()).map(|j| format!("{}ull * v{j}", 2 * j + 1)).collect();
                text.push_str(&format!(
                    "\n  result[{i}] = {} + a[0] + a[1] * 3 + a[2] * 5 + a[3] * 7 + b[0] + *p * 9 + s.f + s.g * 11 + t.h[1] + q->g + m.h[0] * 3 + n.h[1] * 5 + *l + w->i + list[1].i * 7 + list[3].c + word * 3ull;\n}}\n",
                    sum.join(" + ")
                ));
            }
            let calls: Vec<String> = (0..count).map(|i| format!("f{i}();")).collect();
            text.push_str(&format!("int main(void) {{ {} return 0; }}\n", calls.join(" ")));
            let folder = folder("random");
            let file = folder.join("random.c");
            fs::write(&file, &text).expect("the program is written");
            let expected = compiled(&folder, &file, count);
            let translation = translate(std::slice::from_ref(&file), &Options::default());
            let translation = translation.unwrap_or_else(|error| panic!("{}\n{text}", error.render()));
            let found = interpreted(&translation);
            for (i, body) in bodies.iter().enumerate() {
                prop_assert_eq!(found[i], expected[i], "f{}: {}", i, body.join("\n"));
            }
        }
    }
}
