//! Equations between products of variables.

use super::super::engine::Way;
use super::elements::{is_proved, is_proved_within};
use super::{HEAD, is_minimal};

/// Loops whose invariants are polynomials, each with a change that makes it fail.
#[test]
fn loops_with_polynomial_invariants() {
    let root = "int n = outside(), a = 0, s = 1, t = 1;\n\
        while (s <= n) { a = a + 1; t = t + 2; s = s + t; }\n if (s != (a + 1) * (a + 1)) reach_error();";
    let product = "int x = outside(), y = outside(), a = x, b = y, z = 0; if (y < 1) return 0;\n\
        while (b != 0) { if (b % 2 == 1) { z = z + a; b = b - 1; } a = 2 * a; b = b / 2;\n\
          if (z + a * b != x * y) reach_error(); }";
    let series = "unsigned z = outside(), x = 1, y = z;\n\
        while (outside()) { x = x * z + 1; y = y * z; if (x * z - x - y + 1 != 0) reach_error(); }";
    for (body, from, to) in [
        (root, "t = t + 2", "t = t + 3"),
        (product, "b = b / 2", "b = b / 4"),
        (series, "x * z + 1;", "x * z + 2;"),
    ] {
        let program = |body: &str| format!("{HEAD}int main(void) {{ {body} return 0; }}\n");
        assert!(is_proved(&program(body)), "{body}");
        let changed = body.replace(from, to);
        assert_ne!(body, changed);
        assert!(!is_proved_within(&program(&changed), 2), "{changed}");
    }
}

/// The check of proofs needs each polynomial.
#[test]
fn certificates_with_products_are_needed_as_they_are() {
    let text = "int main(void) { unsigned n = 0, x = 0; while (outside()) { x = x + 2 * n + 1; n = n + 1;\n\
        if (x != n * n) reach_error(); } return 0; }\n";
    assert!(is_minimal(&format!("{HEAD}{text}"), Way::Both) > 1);
}
