//! Vectors and complex numbers have the same values here as when they are compiled: chosen
//! programs, and random ones.

use std::fmt::Write;

use crate::c_support::{RESULTS, Random, compare};

/// What the programs start with.
const HEAD: &str = "
typedef unsigned long long u64; typedef int v4si __attribute__((vector_size(16))); typedef unsigned v4su __attribute__((vector_size(16)));
typedef short v8hi __attribute__((vector_size(16))); typedef unsigned char v16qu __attribute__((vector_size(16))); typedef float v4sf __attribute__((vector_size(16)));
typedef double v2df __attribute__((vector_size(16))); typedef long v2di __attribute__((vector_size(16))); typedef signed char v8qi __attribute__((vector_size(8)));
u64 db(double x) { union { double x; u64 b; } u; u.x = x; return x != x ? 1 : u.b; } u64 fb(float x) { union { float x; unsigned b; } u; u.x = x; return x != x ? 1 : u.b; }
u64 bytes(void *p, int n) { unsigned char *b = p; u64 h = 0; while (n--) h = h * 31 + *b++; return h; }
#define H(...) ({ __typeof__(__VA_ARGS__) held = (__VA_ARGS__); bytes(&held, sizeof held); })
#define Z(...) (db(__real__ (__VA_ARGS__)) * 3 + db(__imag__ (__VA_ARGS__)) * 7)
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
    vectors_are_computed_element_by_element: "
v4si g = {1, -2, 3, -4}, list[2] = {{5, 6}, {7}}; v4su u = {1, 2, 0x80000000u, 4}; v4si twice(v4si x) { return x + x; } struct s { char c; v4si v; } s = {1, {9, 8, 7, 6}};
int main(void) {
  v4si a = {10, 20, -30, 40}, b = a * g - 3, c; c = b / (v4si){3, -7, 2, 5}; c %= 7; result[0] = H(a + g); result[1] = H(b); result[2] = H(c); result[3] = H((a > b) | (g == list[1]));
  v8hi h = {1, 2, 3, 4, 5, 6, 7, 32767}; h += 1; result[4] = H(h); result[5] = H(h << 3) + H(h >> (v8hi){0, 1, 2, 3}); v16qu q = {250, 251, 252}; q += 10; result[6] = H(q * q) + H(~q) + H(-q) + H(q >> 1) + H(q < 5);
  v4sf f = {1.5f, -0.0f, 3e38f, 0.1f}, d = f * 2 + (v4sf){1, 2, 3, 4}; result[7] = H(d) + H(-f) + H(f < d) + H(f == f); v2df w = {0.1, 1e300}; result[8] = H(w * w / 3.0) + H(w != w);
  a[2] = 77; a[0]++; int i = 3; a[i] += a[i - 1]; result[9] = H(a) + a[3] + (twice(a))[1] + list[0][1] + ({ v4si *p = list; (*p)[0]; }); result[10] = H(twice(s.v)) + sizeof(struct s) + __alignof__(v2df) + sizeof(v8qi);
  result[11] = H((v16qu)a) + H((v4su)g) + H((v2di)f) + (u64)(v8qi){1, 2, 3, -4}; u = u >> 1 | (v4su)a; result[12] = H(u) + H(u << (v4su)(g & 7)); v4si *p = &list[1]; *p -= g; p[0][3] = -1; result[13] = H(list[1]) + H(2 - *p) + H(1 << (*p & 3));
  union { v4si v; int x[4]; short h[8]; } n; n.v = a; n.x[1] = 5; n.h[7]++; result[14] = H(n.v) + n.x[3]; g++; v4si t = g--; --g; result[15] = H(g) + H(t) + H(i ? g : t) + H(+g);
  return 0;
}";
    vectors_are_shuffled_and_converted: "
v4si id(v4si x) { return x; } v4si (*fp)(v4si) = id; int calls; v4si next(void) { calls++; return (v4si){calls, calls * 2, calls * 3, calls * 4}; }
#include <stdarg.h>
int sum(int n, ...) { va_list l; va_start(l, n); int s = 0; while (n--) { v4si v = va_arg(l, v4si); s += v[0] + 3 * v[3]; } va_end(l); return s; }
int main(void) {
  v4si a = {1, 2, 3, 4}, b = {5, 6, 7, 8}, m = {3, 0, 6, 9}; a = __builtin_shuffle(a, m); result[0] = H(a); result[1] = H(__builtin_shuffle(a, b, m)); result[2] = H(__builtin_shuffle(fp(b), (v4si){1, 1, 3, -1}));
  result[3] = H(__builtin_convertvector(a, v4sf)); v4sf f = {1.9f, -2.9f, 100, 0}; result[4] = H(__builtin_convertvector(f, v4si)); result[5] = H(next() + next()); result[6] = calls + sum(2, a, b); result[7] = H(__builtin_shufflevector(a, b, 0, 5, 2, 7));
  v4si c = next() * 2 - a; c ^= next(); result[8] = H(c); result[9] = (a[1] == b[2]) + H((a != b) & 5); static v4si kept = {3, 3, 3, 3}; kept <<= 2; result[10] = H(kept); v4si z[3] = {a, b}; __builtin_memcpy(&z[2], &z[1], sizeof a); result[11] = H(z[2] - z[0]);
  for (int i = 0; i < 4; i++) z[0][i] = b[3 - i] * i; result[12] = H(z[0]); __int128 w = (__int128)a; result[13] = w >> 70; v2di l = (v2di)w; result[14] = l[0]; result[15] = H((v8hi)l * (short)3);
  return 0;
}";
    complex_numbers_are_computed_as_by_the_compiler: "
#include <complex.h>
_Complex double g = 1.5 - 2.0i, list[2] = {1, 2.0i}; _Complex float f = 3.0f + 0.5fi; __complex__ int k = 4 + 5i; _Complex double square(_Complex double z) { return z * z; } struct s { char c; _Complex double z; } s = {1, 1i};
int main(void) {
  _Complex double a = 2.25 + 3.5i, b; __real__ b = -1.0; __imag__ b = 0.125; result[0] = Z(a + b) + Z(a - g); result[1] = Z(a * b); result[2] = Z(~a) + Z(-b); result[3] = Z(a * 2) + Z(3 * a) + Z(1 - a) + Z(a - 1) + Z(a / 4) + Z(2 + a);
  result[4] = (a == b) + 2 * (a != b) + 4 * !a + 8 * (a ? 1 : 0) + 16 * (a == 2.25) + 32 * (_Bool)(b - b); result[5] = Z(square(a)) + Z(list[1]); result[6] = fb(__real__ (f * f)) + fb(__imag__ (f * (_Complex float)a)) + sizeof f + 10 * sizeof(struct s) + 100 * __alignof__(a);
  k = k * (2 - 3i) + 1; result[7] = __real__ k * 100 + __imag__ k; k += k; k -= 1i; result[8] = __real__ k + 1000 * __imag__ ~k; a += 1; a *= 1i; a++; result[9] = Z(a); double d = a; int i = g; result[10] = db(d) + i + (int)k + db(creal(a)) + db(cimag(a)) + Z(conj(a));
  _Complex double *p = &list[0]; *p = a + f; __imag__ *p += 7; p[1] = k; result[11] = Z(*p) + Z(list[1]) + Z(s.z) + Z(i ? a : 3) + Z(({ _Complex double t = a; t * t; })); result[12] = db(__imag__ d) + db(__real__ d) + Z(__builtin_complex(1.0, -0.0)); __real__ a = 4; ++__imag__ a; result[13] = Z(a);
  double inf = 1 / 0.0; result[14] = Z((inf + 1i * 0.0) * (1 + 1i)) + Z(__builtin_complex(inf, inf) * __builtin_complex(0.0, 1.0)) + Z((_Complex double)f); _Complex char c = 100 + 2i; c = c + c; result[15] = __real__ c + 3 * __imag__ c + sizeof(c + c) + sizeof(c + 1);
  return 0;
}";
}

impl Random {
    /// An expression of a vector type.
    fn vector(&mut self, ty: &str, names: &[&str], is_float: bool, depth: u32) -> String {
        if depth == 0 || self.next() % 6 == 0 {
            return match self.next() % 5 {
                0 => format!("(({ty}){{{}, {}}})", self.next() % 90, self.next() % 120),
                _ => self.pick(names).to_owned(),
            };
        }
        let (a, b) =
            (self.vector(ty, names, is_float, depth - 1), self.vector(ty, names, is_float, depth - 1));
        match self.next() % 10 {
            0..=3 => format!("({a} {} {b})", self.pick(&["+", "-", "*"])),
            4 if is_float => format!("({a} / ({b} + 1))"),
            4 => format!("({a} / ({b} | 1))"),
            5 => format!("(-{a})"),
            6 => format!("({a} {} {})", self.pick(&["+", "-", "*"]), self.next() % 100),
            7 | 8 if is_float => format!("({a} + {b})"),
            7 => format!("({a} {} {b})", self.pick(&["&", "|", "^"])),
            8 => format!("(({ty})({a} {} {b}))", self.pick(&["<", "<=", ">", ">=", "==", "!="])),
            _ if is_float => format!("(x ? {a} : {b})"),
            _ => format!("({a} {} {})", self.pick(&["<<", ">>"]), self.next() % 8),
        }
    }
}

#[test]
fn random_expressions_of_vectors_have_the_values_of_the_compiled_program() {
    const TYPES: [(&str, bool); 6] = [
        ("v4si", false),
        ("v4su", false),
        ("v8hi", false),
        ("v16qu", false),
        ("v4sf", true),
        ("v2di", false),
    ];
    let mut random = Random(wherefore_testing::seed() ^ 0x1b87_3593_cc9e_2d51);
    for program in 0..wherefore_testing::cases(24) {
        let mut text = String::from("int main(void) { int x = 5;\n");
        for i in 0..6 {
            let (ty, is_float) = TYPES[random.next() as usize % TYPES.len()];
            let _ = writeln!(
                text,
                "  {{ {ty} a = {{{}, -3}}, b = {{5, {}}}, c = a;",
                i * 17,
                random.next() % 999
            );
            // The sign of a NaN is open, and so is how it is put into another type.
            let depth = if is_float { 2 } else { 3 };
            let (first, second) = (
                random.vector(ty, &["a", "b", "c"], is_float, depth),
                random.vector(ty, &["a", "b", "c"], is_float, depth),
            );
            let _ = writeln!(
                text,
                "    a = {first}; c += {second}; b[1] = a[0]; result[{i}] = H(a) + 3 * H(b) + 5 * H(c); }}"
            );
        }
        text.push_str("  return 0;\n}\n");
        check(&format!("random_vectors_{program}"), &text);
    }
}
