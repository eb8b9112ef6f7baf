//! Random C programs that end on all inputs.

use proptest::prelude::*;

/// A random program over three small inputs: arithmetic, branches, loops, calls, recursion, an
/// array, a pointer.
pub fn program() -> impl Strategy<Value = String> {
    let variable = || proptest::sample::select(vec!["a", "b", "c", "*p", "v[a & 3]", "g"]);
    let operator = || proptest::sample::select(vec!["+", "-", "*", "&", "|", "^", "<", "==", "%", "<<"]);
    let expression = (variable(), operator(), variable(), 0_u32..7).prop_map(|(x, op, y, k)| match op {
        "%" => format!("({x} % {})", k + 1),
        "<<" => format!("({x} << {})", k % 4),
        _ => format!("({x} {op} ({y} + {k}))"),
    });
    let target = || proptest::sample::select(vec!["a", "b", "c", "*p", "v[b & 3]", "g"]);
    let simple = (target(), expression.clone()).prop_map(|(t, e)| format!("{t} = {e};"));
    let statement = prop_oneof![
        5 => simple.clone(),
        2 => (expression.clone(), simple.clone(), simple.clone())
            .prop_map(|(e, x, y)| format!("if ({e} > 2) {{ {x} }} else {{ {y} }}")),
        1 => (1_u32..5, simple.clone()).prop_map(|(n, x)| format!("for (int i = 0; i < {n}; i++) {{ {x} }}")),
        1 => (expression.clone(), simple.clone()).prop_map(|(e, x)| format!("for (int i = 0; i < ({e} & 3); i++) {{ {x} }}")),
        1 => (target(), expression.clone()).prop_map(|(t, e)| format!("{t} = twice({e});")),
        1 => (target(), expression.clone()).prop_map(|(t, e)| format!("{t} = down({e} & 3);")),
        1 => Just("p = (a & 1) ? &b : &c;".to_owned()),
        1 => (1_u32..4, simple).prop_map(|(n, x)| format!("switch (a & 3) {{ case {n}: {x} break; default: g++; }}")),
    ];
    (proptest::collection::vec(statement, 1..7), expression, -3_i32..9).prop_map(|(body, e, k)| {
        let body = body.join("\n  ");
        format!(
            "extern int __VERIFIER_nondet_int(void);\nextern void reach_error(void);\nstatic int g;\n\
             static int twice(int x) {{ g ^= x; return x + x; }}\n\
             static int down(int x) {{ if (x <= 0) return g; g += x; return down(x - 1) + 1; }}\n\
             int main(void) {{\n  int a = __VERIFIER_nondet_int() & 3, b = __VERIFIER_nondet_int() & 3;\n  \
             int c = __VERIFIER_nondet_int() & 1;\n  int v[4] = {{1, 2, 3, 4}};\n  int *p = &b;\n  {body}\n  \
             if ({e} == {k}) reach_error();\n  return 0;\n}}\n"
        )
    })
}
