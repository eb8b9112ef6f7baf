//! Integers of 128 bits have the same values here as when they are compiled: chosen programs, and
//! random ones.

use std::fmt::Write;

use crate::c_support::{RESULTS, Random, compare};

/// What the programs start with.
const HEAD: &str = "
typedef __int128 s128; typedef unsigned __int128 u128; typedef unsigned long long u64;
unsigned long long low(u128 x) { return (u64)x; } unsigned long long high(u128 x) { return (u64)(x >> 64); }
unsigned long long mix(u128 x) { return (u64)x * 3 + (u64)(x >> 64) * 7; }
unsigned long long db(double x) { union { double x; u64 b; } u; u.x = x; return u.b; }
unsigned long long fb(float x) { union { float x; unsigned b; } u; u.x = x; return u.b; }
";

fn check(name: &str, text: &str) {
    compare(name, &format!("unsigned long long result[{RESULTS}];\n{HEAD}\n{text}"));
}

macro_rules! programs {
    ($($name:ident: $text:expr;)*) => {
        $(#[test]
        fn $name() {
            check(stringify!($name), $text);
        })*
    };
}

programs! {
    wide_integers_are_kept_in_memory_and_structures: "
struct s { char c; s128 w; int i; } g = {1, -5, 3}; u128 table[3] = {1, (u128)1 << 100, [2] = ~(u128)0}; s128 zero, minus = -1;
union v { u128 w; unsigned char b[16]; u64 h[2]; }; struct s give(s128 w) { struct s r = {2, w}; r.i = 9; return r; }
typedef int ti __attribute__((mode(TI))); typedef unsigned uti __attribute__((mode(TI)));
int main(void) {
  result[0] = sizeof(s128) + 100 * sizeof(struct s) + 10000 * __alignof__(struct s) + sizeof(ti) + (uti)-1 / 3 % 11;
  union v v; v.w = table[1] + 0x1234; result[1] = v.b[0] + 256 * v.b[12] + v.h[1]; result[2] = mix(table[2]) + mix(zero);
  struct s t = give(minus * 7), *p = &t; p->w += g.w; result[3] = mix(p->w); result[4] = high(t.w); s128 *q = &t.w; *q *= -3; result[5] = mix(*q) + t.i;
  u128 a[2][2] = {{1, 2}, {3}}, *r = a[0]; r[3] = r[1] << 90; result[6] = mix(a[1][1]); int i = 0; a[i++][1] |= 12; result[7] = mix(a[0][1]) + i;
  __builtin_memcpy(&v, &r[3], 16); result[8] = mix(v.w); char c[40]; *(s128 *)(c + 8) = -2; result[9] = (unsigned char)c[8] + (unsigned char)c[23];
  s128 x = g.w--, y = ++x; result[10] = mix(x) + mix(y) + mix(g.w); result[11] = mix(i ? x : 5) + mix(i++ ? 7u : y) + i;
  static u128 kept = 3; kept = kept << 77 | 1; result[12] = mix(kept); s128 *n = &zero; result[13] = mix((*n)++); result[13] += mix(zero); n[0] -= 5; result[13] += mix(zero);
  const u128 big = (u128)0x0123456789abcdefull << 64 | 0xfedcba9876543210ull; for (i = 0; i < 16; i++) result[14] = result[14] * 31 + ((const unsigned char *)&big)[i];
  result[15] = mix((struct s){.w = big}.w) + mix((u128){7});
  return 0;
}";
    wide_integers_are_passed_returned_and_called: "
#include <stdarg.h>
s128 f(int a, s128 b, char c) { return b * c - a; } u128 rec(u128 n) { return n < 2 ? n : rec(n - 1) + rec(n - 2); }
u128 sum(int n, ...) { va_list l; u128 s = 0; va_start(l, n); while (n--) { s += va_arg(l, u128); s += va_arg(l, int); } va_end(l); return s; }
s128 old(x) s128 x; { return -x; } s128 (*fp)(int, s128, char) = f; int calls; s128 note(s128 x) { calls = calls * 10 + (int)x; return x; } int shift; s128 moving(void) { shift++; return 1000000; } s128 glob = 5; s128 bump(void) { glob += 100; return 1; }
int main(void) {
  result[0] = mix(f(3, -7, 5)); result[1] = mix(rec(15)); result[2] = mix(sum(3, (u128)1 << 70, 1, (u128)2, 2, ~(u128)0, 3)); result[3] = mix(old((s128)44));
  result[4] = mix(fp(1, (s128)1 << 66, -2)); result[5] = mix(note(1) + note(2) * note(3)); result[6] = calls; result[7] = mix(glob + bump()); result[8] = mix(bump() - glob);
  result[9] = mix(glob * bump()) + (glob == bump()); if (note(0) || !note(4) && note(5)) result[10] = 1; result[11] = calls; s128 t = 0; t = t + (glob > 3 ? note(6) : note(7)); result[12] = mix(t);
  shift = 3; result[13] = mix(({ s128 z = 3; z << 65; })) + mix(moving() << shift) + mix(moving() >> shift); int k = 5; k += (s128)1 << 64 | 2; result[14] = k; double d = 1.5; d *= (s128)3; result[15] = db(d);
  return 0;
}";
    wide_divisions_and_shifts_are_exact: "
u128 seed = 88172645463325252ull; u128 next(void) { seed ^= seed << 23; seed ^= seed >> 17; seed ^= seed << 61; seed ^= seed >> 93; return seed; }
int main(void) {
  for (int i = 0; i < 12; i++) {
    u128 a = next() >> (i * 7), b = (next() >> (i * 11 % 128)) | 1; s128 s = (s128)next() >> (i * 3), t = -(s128)(next() >> (i * 9 % 126)) | 1; unsigned n = (unsigned)next() & 127;
    result[0] = result[0] * 31 + mix(a / b); result[1] = result[1] * 31 + mix(a % b); result[2] = result[2] * 31 + mix(s / t); result[3] = result[3] * 31 + mix(s % t);
    result[4] = result[4] * 31 + mix(a << n); result[5] = result[5] * 31 + mix(a >> n); result[6] = result[6] * 31 + mix(s >> n); result[7] = result[7] * 31 + mix(s << (u128)n);
    result[8] = result[8] * 31 + mix(a * b); result[9] = result[9] * 31 + mix((s128)s * t); result[10] = result[10] * 31 + mix(s / 10) + mix(s % 1000000007);
    result[11] += (a < b) + 2 * (s < t) + 4 * (s <= (s128)a) + 8 * (a > s) + 16 * (t >= 0) + 32 * (a == a * 1) + 64 * (s != t);
  }
  char text[50]; int at = 0; u128 n = ~(u128)0; do text[at++] = '0' + n % 10; while (n /= 10); for (int i = 0; i < at; i++) result[12] = result[12] * 31 + text[i];
  result[13] = at; result[14] = 5 << (s128)3 | 1024 >> (u128)2; s128 least = (s128)1 << 126; least = -least * 2; result[15] = mix(least) + mix(-least) + mix(least / 3) + (least < 0) + mix(least % -7);
  return 0;
}";
    wide_integers_are_converted_to_floating_point_numbers_and_back: "
int main(void) {
  u128 a[] = {0, 1, ~0ull, (u128)1 << 64, ((u128)1 << 64) + 1, ((u128)1 << 117) - 1, ~(u128)0, ((u128)1 << 100) + ((u128)1 << 47), ((u128)1 << 100) + ((u128)1 << 47) + 1, ((u128)3 << 99) + ((u128)1 << 47), (u128)0xffffff8000000000ull << 64};
  for (int i = 0; i < 11; i++) {
    s128 s = -(s128)(a[i] >> 1); result[0] = result[0] * 31 + db(a[i]); result[1] = result[1] * 31 + fb(a[i]); result[2] = result[2] * 31 + db(s); result[3] = result[3] * 31 + fb((float)s);
    result[4] = result[4] * 31 + mix((s128)(double)s); if (i != 6 && i != 10) { result[5] = result[5] * 31 + mix((u128)(double)a[i]); result[6] = result[6] * 31 + mix((u128)(float)a[i]); }
    result[7] = result[7] * 31 + !a[i] + 2 * (_Bool)a[i] + 4 * (a[i] ? 1 : 0) + 8 * (a[i] && s); result[8] = result[8] * 31 + (int)a[i] + (short)s + (unsigned char)a[i] + (u64)s;
    result[9] = result[9] * 31 + db(a[i] * 0.5) + (a[i] > 1e30) + 2 * (s < -0.5) + db(i ? s : 2.5);
  }
  double d = -123456789012345678901234567890.5; float f = 3e37f; result[10] = mix((s128)d); result[11] = mix((u128)f); result[12] = mix(-d / 7); result[13] = mix((s128)-0.9) + mix(1e20f);
  s128 c = 1e25; u128 e = 0x1p127; result[14] = mix(c) + mix(e); int *p = (int *)(s128)16; result[15] = (u64)p + (u64)(u128)p + ((signed char)-3 + (s128)0 == -3) + 2 * ((u128)-1 == ~(u128)0);
  return 0;
}";
    wide_arithmetic_tells_whether_it_overflows: "
s128 s[] = {0, 1, -1, 5, -7, (s128)1 << 126, -((s128)1 << 126), ((s128)1 << 127) - 1, (s128)1 << 127, (s128)1 << 63, -((s128)1 << 64)}; u128 u[] = {0, 1, 2, 77, (u128)1 << 64, ~(u128)0, (u128)1 << 127, ((u128)1 << 64) - 1};
int main(void) {
  for (int i = 0; i < 11; i++) for (int j = 0; j < 11; j++) {
    s128 r; u128 v; long l; unsigned n; result[0] = result[0] * 31 + __builtin_add_overflow(s[i], s[j], &r) + mix(r); result[1] = result[1] * 31 + __builtin_sub_overflow(s[i], s[j], &r) + mix(r); result[2] = result[2] * 31 + __builtin_mul_overflow(s[i], s[j], &r) + mix(r);
    result[3] = result[3] * 31 + __builtin_add_overflow(s[i], s[j], &v) + mix(v); result[4] = result[4] * 31 + __builtin_mul_overflow(s[i], u[j % 8], &v) + mix(v); result[5] = result[5] * 31 + __builtin_sub_overflow(u[i % 8], s[j], &r) + mix(r);
    result[6] = result[6] * 31 + __builtin_sub_overflow(u[i % 8], u[j % 8], &v) + mix(v); result[7] = result[7] * 31 + __builtin_mul_overflow(u[i % 8], u[j % 8], &v) + mix(v); result[8] = result[8] * 31 + __builtin_add_overflow(s[i], u[j % 8], &l) + l; result[9] = result[9] * 31 + __builtin_sub_overflow(s[i], 7, &n) + n;
    result[10] = result[10] * 31 + __builtin_mul_overflow((long)s[i], (long)s[j], &r) + mix(r) + __builtin_mul_overflow_p(s[i], s[j], (u128)0) + 2 * __builtin_add_overflow_p(u[i % 8], u[j % 8], (s128)0);
  }
  return 0;
}";
    wide_constants_are_computed_by_the_compiler: "
enum { small = (s128)3 * 5 - 1 }; int table[(u128)1 << 3]; struct b { unsigned f : (s128)5; }; _Static_assert((s128)-1 < 0 && (u128)-1 > 0 && ((s128)1 << 100) / 3 * 2 > 1e30 - 1e31, \"\");
u128 most = ~(u128)0 / 10 * 3 + (7 ^ 2), part = ((u128)1 << 127 >> 3) - 1; s128 least = -((s128)1 << 126) - ((s128)1 << 126), down = ((s128)-5 >> 70) + (s128)-17 % 5; double d = (s128)1 << 90; float f = -((s128)1 << 90);
int main(void) {
  result[0] = small + sizeof table + sizeof(struct b); result[1] = mix(most); result[2] = mix(part); result[3] = mix(least); result[4] = mix(down); result[5] = db(d); result[6] = fb(f);
  switch ((int)(s128)3) { case (s128)1 + 2: result[7] = 5; } result[8] = __builtin_constant_p((u128)1 << 80) + __builtin_classify_type((s128)1); __typeof__((u128)1 + 1) t = -1; result[9] = mix(t); result[10] = _Generic((s128)1, s128: 1, u128: 2, default: 3) + 10 * _Generic((u128)1 + 1, s128: 1, u128: 2, default: 3);
  return 0;
}";
}

impl Random {
    fn wide_constant(&mut self) -> String {
        match self.next() % 5 {
            0 => format!("{}", self.next() % 200),
            1 => format!("((s128)-{})", self.next() % 70),
            2 => format!("((u128){:#x}ull << {})", self.next() | 1, self.next() % 120),
            3 => format!("((s128){:#x}ull << 64 | {:#x}ull)", self.next() << 7, self.next() << 8),
            _ => self
                .pick(&["~(u128)0", "((s128)1 << 127)", "0xffffffffu", "(-1ll)", "(1ull << 63)"])
                .to_owned(),
        }
    }

    fn wide(&mut self, depth: u32) -> String {
        if depth == 0 || self.next() % 7 == 0 {
            return match self.next() % 9 {
                0..=2 => self.pick(&["s0", "s1", "s2"]).to_owned(),
                3..=5 => self.pick(&["u0", "u1", "u2"]).to_owned(),
                6 => self.pick(&["i0", "c0", "w0", "l0", "b0"]).to_owned(),
                _ => self.wide_constant(),
            };
        }
        let (a, b) = (self.wide(depth - 1), self.wide(depth - 1));
        match self.next() % 17 {
            0..=2 => format!("({a} {} {b})", self.pick(&["+", "-"])),
            3 | 4 => format!("({a} * {b})"),
            5 => format!("({a} / ({b} | 1))"),
            6 => format!("({a} % ({b} | 3))"),
            7 | 8 => format!("({a} {} {b})", self.pick(&["&", "|", "^"])),
            9 => format!("((u128)({a}) {} ({b} & 127))", self.pick(&["<<", ">>"])),
            10 => format!("((s128)({a}) {} {})", self.pick(&["<<", ">>"]), self.next() % 128),
            11 | 12 => format!("({a} {} {b})", self.pick(&["<", "<=", ">", ">=", "==", "!="])),
            13 => format!("({}{a})", self.pick(&["-", "~", "!", "+"])),
            14 => format!(
                "(({})({a}))",
                self.pick(&["s128", "u128", "int", "u64", "signed char", "_Bool", "long"])
            ),
            15 => format!("({a} ? {b} : {})", self.pick(&["u1", "s2", "i0", "7"])),
            _ => format!("({a} {} {b})", self.pick(&["&&", "||"])),
        }
    }
}

#[test]
fn random_wide_expressions_have_the_values_of_the_compiled_program() {
    let mut random = Random(wherefore_testing::seed() ^ 0x2545_f491_4f6c_dd1d);
    for program in 0..wherefore_testing::cases(60) {
        let mut text = String::from("int main(void) {\n");
        for i in 0..3 {
            let (s, u) = (random.wide_constant(), random.wide_constant());
            let _ = writeln!(text, "  s128 s{i} = {s}; u128 u{i} = {u}; s128 *p{i} = &s{};", i % 2);
        }
        let (i, c, w, l) = (random.next() as i32 / 2, random.next() as i8, random.next(), random.next());
        let _ = writeln!(
            text,
            "  int i0 = {i}; signed char c0 = {c}; u64 w0 = {w}ull << 8; long l0 = -{l}l; _Bool b0 = {};",
            random.next() % 2
        );
        for i in 0..RESULTS {
            let mut expression = random.wide(4);
            if random.next() % 3 == 0 {
                let place = random.pick(&["s1", "u2", "*p0", "i0", "l0"]);
                let op = random.pick(&["=", "+=", "-=", "*=", "&=", "^="]);
                expression = format!("{place} {op} {expression}");
            } else if random.next() % 8 == 0 {
                expression = random.pick(&["s0++", "--u1", "(*p1)--", "++*p2"]).to_owned();
            }
            let _ = writeln!(text, "  result[{i}] = mix({expression});");
        }
        text.push_str("  return 0;\n}\n");
        check(&format!("random_wide_{program}"), &text);
    }
}
