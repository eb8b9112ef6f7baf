//! Verdicts on programs with floating-point numbers: each check has a comment with what is expected
//! of it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("floats");
    std::fs::create_dir_all(&folder).expect("a folder for a test");
    folder
}

/// The answer about the body of `main`, as JSON.
fn answer(name: &str, body: &str, options: &[&str]) -> Value {
    let text = format!(
        "#include <assert.h>\n#include <math.h>\nextern float __VERIFIER_nondet_float(void);\n\
         extern double __VERIFIER_nondet_double(void);\nextern int __VERIFIER_nondet_int(void);\n\
         int main(void) {{\n{body}\nreturn 0;\n}}\n"
    );
    let file = folder().join(format!("{name}.c"));
    std::fs::write(&file, text).expect("a program");
    let output = Command::new(env!("CARGO_BIN_EXE_wherefore"))
        .arg("check")
        .arg(&file)
        .args(["--json", "--timeout", "60", "--checks", "none"])
        .args(options)
        .output()
        .expect("the binary runs");
    serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
}

/// Checks the verdict on each line that ends with one in a comment.
fn judge(name: &str, body: &str, options: &[&str]) {
    let answer = answer(name, body, options);
    let mut expected = Vec::new();
    for (i, line) in body.lines().enumerate() {
        for word in ["safe", "unsafe", "unknown", "unreachable"] {
            if line.ends_with(&format!("// {word}")) {
                expected.push((i as u64 + 7, word));
            }
        }
    }
    let targets = answer["targets"].as_array().unwrap_or_else(|| panic!("{name}: {answer}"));
    let found: Vec<(u64, &str)> = targets
        .iter()
        .map(|target| (target["line"].as_u64().unwrap_or(0), target["verdict"].as_str().unwrap_or("")))
        .collect();
    assert_eq!(found, expected, "{name}: {answer}");
    for target in targets.iter().filter(|target| target["verdict"] == "unsafe") {
        let run = if target["run"].is_null() { &answer } else { &target["run"] };
        assert_eq!(run["replay"]["outcome"], "confirmed", "{name}: {answer}");
    }
}

#[test]
fn rounding_is_seen() {
    judge(
        "rounding",
        "double a = 0.1, b = 0.2, s = 0;
         assert(a + b != 0.3); // safe
         assert((float)16777217 == 16777216); // safe
         for (int i = 0; i < 10; i++) s += 0.1;
         if (__VERIFIER_nondet_int()) assert(s == 1.0); // unsafe
         assert(fabs(s - 1.0) < 1e-15); // safe
         float f = 0.1f;
         if (__VERIFIER_nondet_int()) assert(f == 0.1); // unsafe
         assert(f == (float)0.1); // safe",
        &[],
    );
}

#[test]
fn what_is_no_number_is_seen() {
    judge(
        "special",
        "double x = __VERIFIER_nondet_double(), y = __VERIFIER_nondet_double();
         assert(x == x); // unsafe
         assert(isnan(x) || x == x); // safe
         assert(x < y || x == y || x > y || isnan(x) || isnan(y)); // safe
         assert(!(x == y) || 1 / x == 1 / y || isnan(x) || x != 0); // unsafe
         assert(isfinite(x) || isinf(x) || isnan(x)); // safe
         assert(fabs(x) >= 0 || isnan(x)); // safe",
        &[],
    );
}

#[test]
fn facts_of_all_numbers_hold() {
    judge(
        "facts",
        "float x = __VERIFIER_nondet_float(), y = __VERIFIER_nondet_float();
         if (x >= 0.0f && x <= 1.0f) {
           assert(x * x <= x); // safe
           assert(x * x < x || x == 0); // unsafe
           assert(sqrtf(x) >= x); // safe
           assert(floorf(x) == 0 || x == 1); // safe
         }
         if (x < y)
           assert(y - x > 0); // safe
         if (x > 0)
           assert(x + 1.0f > x); // unsafe
         assert(fmaxf(x, y) >= x || isnan(x)); // safe",
        &[],
    );
}

#[test]
fn conversions_go_both_ways() {
    judge(
        "conversions",
        "int n = __VERIFIER_nondet_int(); double d = n; float f = n;
         assert((int)d == n); // safe
         assert(n > -16777217 && n < 16777217 ? (int)f == n : 1); // safe
         if (n > 16777216 && n < 16777220)
           assert((int)f == n); // unsafe
         double x = __VERIFIER_nondet_double();
         if (x > -100 && x < 100) {
           int i = x;
           assert(i <= x + 1 && i >= x - 1); // safe
           assert(i <= x); // unsafe
         }",
        &[],
    );
}

#[test]
fn loops_are_unrolled_or_proved() {
    judge(
        "loops",
        "double t = 0, level = 0;
         while (__VERIFIER_nondet_int()) { if (t <= 99.0) t += 1.0; }
         assert(t <= 100.0); // safe",
        &[],
    );
    judge(
        "steps",
        "float x = __VERIFIER_nondet_float(), t = 0; int i = 0;
         if (!(x >= 0 && x <= 5)) return 0;
         while (t < x) { t += 0.5f; i++; }
         assert(i <= 10); // safe
         assert(i < 10); // unsafe",
        &[],
    );
}

/// What has no exact model is no reason for a verdict.
#[test]
fn other_types_and_functions_are_not_trusted() {
    judge("sine", "double s = sin(__VERIFIER_nondet_double());\n assert(s <= 1 || isnan(s)); // safe", &[]);
    judge("cosine", "assert(cos(0) == 1); // unknown", &[]);
    judge("long", "long double x = 0.1L;\n assert(x * 10 == 1); // unknown", &[]);
}

#[test]
fn bits_are_those_of_the_machine() {
    judge(
        "bits",
        "union { float f; unsigned u; } v; v.f = __VERIFIER_nondet_float();
         assert((v.u >> 31 == 0) == !signbit(v.f)); // safe
         assert((v.u & 0x7fffffff) <= 0x7f800000 || isnan(v.f)); // safe
         double d = -v.f; float g = d;
         if (!isnan(v.f)) assert(signbit(g) != signbit(v.f)); // safe
         double n = NAN, m = n + 1;
         assert(!signbit(m)); // safe",
        &[],
    );
}

#[test]
fn on_i386_rounding_is_an_assumption() {
    let body = "double a = 0.1, b = 0.2;\n assert(a + b != 0.3); // safe";
    judge("narrow", body, &["--data-model", "ilp32"]);
    let answer = answer("narrow", body, &["--data-model", "ilp32"]);
    assert!(answer.to_string().contains("-mfpmath=sse"), "{answer}");
}

/// Values of runs are numbers, not bits.
#[test]
fn runs_show_numbers() {
    let body = "double x = __VERIFIER_nondet_double();\n assert(x != 0.625);";
    let answer = answer("shown", body, &[]);
    assert!(answer.to_string().contains("0.625"), "{answer}");
    assert_eq!(answer["replay"]["outcome"], "confirmed", "{answer}");
}
