//! Floating-point numbers have the same values here as when they are compiled: chosen programs, and
//! random ones.

use std::fmt::Write;

use crate::c_support::{RESULTS, Random, compare};

/// What the programs start with: bits of numbers, the same for all NaNs.
const HEAD: &str = "
union d { double x; unsigned long long b; }; union f { float x; unsigned b; };
unsigned long long db(double x) { union d u; u.x = x; return x != x ? 1 : u.b; }
unsigned long long fb(float x) { union f u; u.x = x; return x != x ? 1 : u.b; }
double dd(unsigned long long b) { union d u; u.b = b; return u.x; }
float ff(unsigned b) { union f u; u.b = b; return u.x; }
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
    arithmetic_is_rounded_to_its_type: "
int main(void) {
  double a = 0.1, b = 0.2; float f = 0.1f, g = 16777216.0f; int i = 7;
  result[0] = db(a + b); result[1] = a + b == 0.3; result[2] = fb(f + 0.2f); result[3] = fb(f * i);
  result[4] = fb(g + 1); result[5] = db(g + 1.0); f += a; result[6] = fb(f); f *= 3; result[7] = fb(f);
  result[8] = db(1 / 3.0); result[9] = fb(1 / 3.0f); i = a * 35; result[10] = i; i += 2.9; result[11] = i;
  a++; --f; result[12] = db(a); result[13] = fb(f); result[14] = db(-a); result[15] = db(+b - a * -b);
  return 0;
}";
    special_values_compare_as_ieee_754_says: "
int main(void) {
  double zero = 0, inf = 1 / zero, nan = zero / zero, minus = -zero;
  result[0] = nan == nan; result[1] = nan != nan; result[2] = nan < 1; result[3] = !(nan < 1); result[4] = nan >= 1;
  result[5] = zero == minus; result[6] = db(minus); result[7] = inf > 1e308; result[8] = -inf < -1e308;
  result[9] = db(inf - inf); result[10] = db(inf * 0); result[11] = db(1 / minus); result[12] = db(minus + zero);
  result[13] = !nan; result[14] = nan ? 3 : 4; result[15] = (nan && 1) + 2 * !minus + 4 * (inf == inf);
  return 0;
}";
    nans_have_the_signs_of_the_machine: "
#include <math.h>
unsigned long long raw(double x) { union d u; u.x = x; return u.b; } unsigned rawf(float x) { union f u; u.x = x; return u.b; }
int main(void) {
  double p = dd(0x7ff8000000001234), n = dd(0xfff4000000000001), zero = 0, inf = 1 / zero; float f = ff(0x7f812345), g = -f;
  result[0] = raw(p + 1); result[1] = raw(1 - p); result[2] = raw(n * 2); result[3] = raw(3 / n); result[4] = raw(inf - inf);
  result[5] = raw(zero / zero); result[6] = raw(sqrt(-1 - zero)); result[7] = raw(sqrt(p)); result[8] = rawf(p); result[9] = rawf(n);
  result[10] = raw(f); result[11] = rawf(g + 1); result[12] = rawf(g); result[13] = raw(-p); result[14] = raw(fabs(n)); result[15] = raw(inf * zero);
  return 0;
}";
    comparisons_keep_the_order_of_effects: "
double zero; int calls; double f(double x) { calls = calls * 2 + 1; return x; } double g(double x) { calls *= 3; return x; }
int main(void) {
  double nan = zero / zero;
  result[0] = f(nan) > g(1); result[1] = calls; result[2] = f(nan) >= g(1); result[3] = calls;
  result[4] = f(2) > g(1); result[5] = f(1) >= g(1); result[6] = f(1) > g(nan); result[7] = calls;
  result[8] = !(f(nan) > g(nan)); result[9] = f(nan) <= g(1); result[10] = f(1) != g(nan); result[11] = calls;
  return 0;
}";
    conversions_cut_and_round: "
int main(void) {
  int i = 16777217; long l = (1L << 53) + 1; unsigned u = 4294967295u; unsigned long w = ~0ul; double d = -1.9; float f = 3e9f;
  result[0] = fb(i); result[1] = db(l); result[2] = fb(u); result[3] = fb(w); result[4] = db(w); result[5] = (int)d;
  result[6] = (unsigned)f; result[7] = (long)-3e9f; result[8] = (unsigned long)1e19; result[9] = (signed char)-128.9;
  result[10] = (_Bool)0.1f; result[11] = (_Bool)(d - d); result[12] = fb(0.1); result[13] = fb(1e300); result[14] = fb(1e-46);
  result[15] = (unsigned char)255.99 + (short)-32768.5 + (char)(d * 3);
  return 0;
}";
    values_go_through_memory_calls_and_structures: "
struct s { float f; double d[2]; char c; } g = {1.5f, {2.25, -0.0}, 3}; static double table[3] = {0.1, 1.0 / 3}; float sf = 1e-3f;
double twice(double x) { return 2 * x; } float half(float x) { return x / 2; } struct s make(float f) { struct s r = {f, {f * f}}; return r; }
float old(x) float x; { return x + 1; } double sum(double *p, int n) { double s = 0; while (n--) s += *p++; return s; }
int main(void) {
  result[0] = db(twice(half(3))); struct s t = make(1.1f), *p = &t; result[1] = fb(p->f); result[2] = db(t.d[0]); result[3] = db(t.d[1]);
  result[4] = fb(g.f) + db(g.d[1]); result[5] = db(sum(table, 3)); result[6] = fb(old(0.1)); float a[4] = {1, 2.5}; a[3] = a[1] * sf;
  result[7] = fb(a[3]); result[8] = ((unsigned char *)&t.d[0])[6]; float *q = a; *++q += 1; result[9] = fb(a[1]);
  g = t; result[10] = fb(g.f); double (*h)(double) = twice; result[11] = db(h(0.3)); result[12] = db((t.d[1] = 5, t.d[1]++));
  result[13] = db(t.d[1] > 5 ? 1 : 2.5f); unsigned bits = 0x40490fdb; float pi; __builtin_memcpy(&pi, &bits, 4); result[14] = fb(pi);
  return 0;
}";
    variable_arguments_are_doubles: "
#include <stdarg.h>
double total(int n, ...) { va_list l; va_start(l, n); double s = 0; while (n--) s += va_arg(l, double); va_end(l); return s; }
int main(void) { float f = 0.1f; result[0] = db(total(3, 0.5, f, 2.0)); return 0; }";
    constants_are_read_exactly: "
int main(void) {
  result[0] = db(0x1.fffffffffffffp1023); result[1] = db(0x1p-1074); result[2] = db(0x1.8p-1074); result[3] = fb(0x1.000001p0f);
  result[4] = fb(0x1.000001000000000000000000000001p0f); result[5] = db(4.9e-324); result[6] = fb(1e-45f); result[7] = db(1e400);
  result[8] = db(123456789012345678901234567890.); result[9] = db(.5e-3); result[10] = fb(0x.1p-140f); result[11] = fb(3.4028235e38f);
  result[12] = db(0x1p-1075); result[13] = db(2.2250738585072011e-308); result[14] = fb(3.40282357e38f); result[15] = db(0xabcdef.123p-7);
  return 0;
}";
    functions_of_the_library_are_exact: "
#include <math.h>
int main(void) {
  double x[] = {2.5, -2.5, 0.49999999999999994, -0.3, 1e17, 3.5, -0.0}; unsigned long long h = 0;
  for (int i = 0; i < 7; i++) {
    h = h * 31 + db(floor(x[i])); h = h * 31 + db(ceil(x[i])); h = h * 31 + db(trunc(x[i])); h = h * 31 + db(round(x[i]));
    h = h * 31 + db(rint(x[i])); h = h * 31 + db(nearbyint(x[i])); h = h * 31 + db(fabs(x[i])); h = h * 31 + db(sqrt(fabs(x[i])));
    h = h * 31 + fb(floorf(x[i])); h = h * 31 + fb(roundf(x[i])); h = h * 31 + fb(sqrtf(fabsf(x[i]))); h = h * 31 + db(copysign(3, x[i]));
    h = h * 31 + db(fmin(x[i], 1)) + db(fmax(1, x[i])) + fb(fminf(x[i], 2)) + db(fdim(x[i], 1)) + lround(x[i]) + lrint(x[i]);
    result[i] = h;
  }
  result[7] = db(sqrt(-1)); result[8] = db(fmin(NAN, 2)); result[9] = db(fmax(3, NAN)); result[10] = db(INFINITY); result[11] = db(HUGE_VAL);
  result[12] = db(floor(-INFINITY)); result[13] = db(__builtin_fabs(-2)); result[14] = fb(__builtin_copysignf(1, -0.f)); result[15] = db(M_PI);
  return 0;
}";
    numbers_are_classified: "
#include <math.h>
int kinds(double x) { return (isnan(x) != 0) + 2 * (isinf(x) != 0) + 4 * (isfinite(x) != 0) + 8 * (isnormal(x) != 0) + 16 * (signbit(x) != 0) + 32 * fpclassify(x); }
int kindsf(float x) { return (isnan(x) != 0) + 2 * (isinf(x) != 0) + 4 * (isfinite(x) != 0) + 8 * (isnormal(x) != 0) + 16 * (signbit(x) != 0) + 32 * fpclassify(x); }
int main(void) {
  double x[] = {0, -0.0, 1, -1e-310, 1e308 * 10, -1e308 * 10, NAN, 2.2250738585072014e-308};
  for (int i = 0; i < 8; i++) { result[i] = kinds(x[i]); result[i + 8] = kindsf(x[i]) * 1000 + isinf(x[i]) + isgreater(x[i], 0) + 2 * isless(x[i], 0) + 4 * isunordered(x[i], 0) + 8 * islessgreater(x[i], 0) + 16 * isgreaterequal(x[i], 0); }
  return 0;
}";
}

impl Random {
    /// Bits of a number, often a special one.
    fn bits(&mut self, double: bool) -> u64 {
        const SPECIAL: [f64; 14] =
            [0.0, 1.0, 0.5, 1.5, 3.0, 1e10, 1e-10, 4.9e-324, 1e-40, 3.4e38, 1.7e308, 16_777_216.0, 2.5, 0.1];
        let number = SPECIAL[self.next() as usize % SPECIAL.len()];
        match (self.next() % 3, double) {
            (0, true) => self.next() << 9 ^ self.next(),
            (0, false) => self.next() & 0xffff_ffff,
            (1, true) => (-number).to_bits(),
            (_, true) => number.to_bits(),
            (1, false) => u64::from((-number as f32).to_bits()),
            (_, false) => u64::from((number as f32).to_bits()),
        }
    }

    fn expression(&mut self, depth: u32) -> String {
        if depth == 0 || self.next() % 6 == 0 {
            return match self.next() % 8 {
                0..=2 => self.pick(&["d0", "d1", "d2", "d3"]).to_owned(),
                3 | 4 => self.pick(&["f0", "f1", "f2", "f3"]).to_owned(),
                5 => self.pick(&["i0", "u0", "l0", "w0", "c0"]).to_owned(),
                6 => self.pick(&["0.1", "3.0f", "1e300", "0x1p-1070", "2", "-1", "0.5f"]).to_owned(),
                // Not a constant: gcc 12 takes `0.0 - i` for `-i`, which is wrong if `i` is zero.
                _ => "z0".to_owned(),
            };
        }
        let a = self.expression(depth - 1);
        let b = self.expression(depth - 1);
        match self.next() % 16 {
            0..=2 => format!("({a} + {b})"),
            3 | 4 => format!("({a} - {b})"),
            5 | 6 => format!("({a} * {b})"),
            7 => format!("({a} / (double)({b}))"),
            8 => format!("({a} / ({b} + 0.0f))"),
            9 => format!("(- {a})"),
            10 => format!("(float)({a})"),
            11 => format!("({a} {} {b})", self.pick(&["<", "<=", ">", ">=", "==", "!="])),
            12 => format!("({a} ? {b} : {})", self.pick(&["d1", "f2", "1"])),
            13 => format!(
                "__builtin_{}({a})",
                self.pick(&[
                    "floor", "ceil", "trunc", "round", "rint", "sqrt", "fabs", "sqrtf", "floorf", "rintf"
                ])
            ),
            14 => format!("__builtin_copysign({a}, i0)"),
            _ => format!("(!{a} || {b})"),
        }
    }
}

#[test]
fn random_expressions_have_the_values_of_the_compiled_program() {
    let mut random = Random(wherefore_testing::seed() ^ 0x1234_5678_9abc_def1);
    for program in 0..wherefore_testing::cases(60) {
        let mut text = String::from("#include <math.h>\nint main(void) {\n");
        for i in 0..4 {
            let (double, float) = (random.bits(true), random.bits(false));
            let _ = writeln!(text, "  double d{i} = dd({double:#x}ull); float f{i} = ff({float:#x}u);");
        }
        let [i, u, l, w, c] = [(); 5].map(|()| random.next() ^ random.next() << 9);
        let _ = writeln!(
            text,
            "  int i0 = {}; unsigned u0 = {}u; long l0 = (long){l}ul; unsigned long w0 = {w}ul; signed char c0 = {}; double z0 = 0;",
            i as i32 / 2,
            u as u32,
            c as i8
        );
        for i in 0..RESULTS {
            let mut expression = random.expression(4);
            if random.next() % 4 == 0 {
                let (place, op) = (random.pick(&["d2", "f3"]), random.pick(&["=", "+=", "*=", "-="]));
                expression = format!("{place} {op} {expression}");
            }
            let bits = random.pick(&["db", "fb", "db"]);
            let _ = writeln!(text, "  result[{i}] = {bits}({expression});");
        }
        text.push_str("  return 0;\n}\n");
        check(&format!("random_floats_{program}"), &text);
    }
}
