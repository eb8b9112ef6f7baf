//! Which parts of programs provably end: by hand, and random loops against all their runs.

use std::collections::HashSet;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use wherefore_flow::Termination;
use wherefore_program::{Interpreter, ProcedureId, Program, Var};
use wherefore_testing::{cases, seed};

use crate::random_runs::task;

fn procedure(program: &Program, name: &str) -> ProcedureId {
    program.procedures().find(|(_, body)| body.name == name).expect("it is there").0
}

/// Whether every call of `f` returns, as far as it can be shown.
fn ends(text: &str) -> bool {
    let program = task(text).program;
    let f = procedure(&program, "f");
    Termination::new(&program).returns(f)
}

#[test]
fn loops_with_counters_end() {
    let frame = |body: &str| {
        format!(
            "extern int in(void); extern void exit(int); extern void __VERIFIER_assume(int);\n\
             int g, a[8]; int h(int n) {{ int k = 0; while (k < n) k++; return k; }}\n\
             void w(void) {{ g++; }} int r(int n) {{ return n <= 0 ? 0 : r(n - 1); }}\n\
             int f(int n, unsigned u, signed char c) {{ int i, j; {body} return 0; }}\n\
             int main(void) {{ f(in(), in(), in()); return 0; }}"
        )
    };
    for body in [
        "for (i = 0; i < n; i++) ;",
        "for (i = n; i > 0; i--) g += i;",
        "for (i = 0; i <= 99; i += 3) a[i % 8] = i;",
        "for (i = 0; i != n; i++) ;",
        "for (i = 0; i < n; i++) for (j = i; j < n; j++) if (in()) break;",
        "i = 0; do { i += 2; } while (i < 100);",
        "i = 0; for (;;) { if (i >= n) break; i++; }",
        "while (u) u /= 10;",
        "while (u > 0) u >>= 1;",
        "while (n > 0) n >>= 1;",
        "while (n != 0) n /= 2;",
        "for (i = 0; i < n && in(); i++) { if (in()) continue; h(i); w(); }",
        "for (i = 0; i < n; i++) { if (in()) return 3; switch (in()) { case 1: g = 2; break; default: g = 3; } }",
        "for (g = 0; g < 10; g++) h(g);",
    ] {
        assert!(ends(&frame(body)), "{body}");
    }
    for body in [
        "while (in()) ;",
        "for (i = 0; i < n; i++) n++;",
        "for (i = 0; i < n; i++) i--;",
        "for (i = 0; i < n; i++) if (in()) i--;",
        "for (i = 0; i <= n; i++) ;",
        "for (i = 0; i < n; i += 2) ;",
        "for (i = 0; i != n; i += 2) ;",
        "for (i = 0; i != n; ) { i++; if (in()) i++; }",
        "for (i = 0; i < n; ) { if (in()) i++; }",
        "for (i = 0; i < n; i++) for (j = 0; j < n; ) { if (in()) break; i -= 1; }",
        "for (g = 0; g < 10; g++) w(), g = h(g);",
        "while (n < 0) n >>= 1;",
        "while (n != 0) n >>= 1;",
        "while (u != 5) u /= 2;",
        "i = 0; while (1) i++;",
        "if (in()) exit(1);",
        "__VERIFIER_assume(n > 3);",
        "r(n);",
        "again: if (in()) goto again;",
        "for (i = 0; i < a[2]; i++) a[in() & 7] = 7;",
        "for (;;) { i = 0; while (i < 3) i++; }",
    ] {
        assert!(!ends(&frame(body)), "{body}");
    }
}

/// A loop over two numbers of eight bits, and inner ones.
fn random_loop() -> impl Strategy<Value = String> {
    let name = || prop::sample::select(&["x", "y", "s", "t"][..]);
    let constant = || prop::sample::select(&["0", "1", "2", "5", "100", "126", "127", "250", "255"][..]);
    let condition = || {
        (
            name(),
            prop::sample::select(&["<", "<=", ">", ">=", "!=", "=="][..]),
            prop_oneof![name(), constant()],
        )
            .prop_map(|(a, op, b)| format!("{a} {op} {b}"))
    };
    let step = || {
        (
            name(),
            prop::sample::select(&["+= 1", "-= 1", "+= 2", "-= 3", "/= 2", ">>= 1", "= y", "+= 127"][..]),
        )
            .prop_map(|(a, op)| format!("{a} {op};"))
    };
    let simple = prop_oneof![
        4 => step(),
        1 => (condition(), step()).prop_map(|(c, s)| format!("if ({c}) {{ {s} }}")),
        1 => condition().prop_map(|c| format!("if ({c}) break;")),
        1 => condition().prop_map(|c| format!("if ({c}) continue;")),
    ];
    let block = prop::collection::vec(simple, 1..4).prop_map(|list| list.join(" "));
    let inner = (condition(), block.clone(), block.clone())
        .prop_map(|(c, a, b)| format!("while ({c}) {{ {a} }} {b}"));
    let any = (condition(), prop_oneof![2 => block.clone(), 1 => inner])
        .prop_map(|(guard, body)| format!("while ({guard}) {{ {body} }}"));
    // A counter that is changed towards its bound, mostly.
    let way = prop::sample::select(
        &[
            ("<", "+= 1"),
            ("<", "+= 3"),
            (">", "-= 1"),
            ("!=", "+= 1"),
            ("<=", "+= 1"),
            (">", "/= 2"),
            (">", ">>= 1"),
        ][..],
    );
    let counted = (name(), way, prop_oneof![name(), constant()], block)
        .prop_map(|(x, (op, by), bound, body)| format!("for (; {x} {op} {bound}; {x} {by}) {{ {body} }}"));
    prop_oneof![any, counted]
}

/// Whether some run of `f` goes on for ever: the state comes again.
fn goes_on_for_ever(program: &Program) -> bool {
    let interpreter = Interpreter::new(program);
    let f = procedure(program, "f");
    for start in 0..200_u64 {
        // The start procedure runs `main`, which sets the globals and calls `f`.
        let mut state = interpreter.initial_states(1).0.remove(0);
        let mut seen = HashSet::new();
        let mut is_set = false;
        while let Some(node) = state.node() {
            if node.procedure == f && !is_set {
                is_set = true;
                let numbers =
                    [start.wrapping_mul(37), start, start.wrapping_mul(101), 128_u64.wrapping_sub(start)];
                for (at, number) in numbers.into_iter().enumerate() {
                    assert!(interpreter.cells(&state, Var::Global(at as u32)).is_some());
                    state.globals[at] = number & 255;
                }
            }
            let Some((_, next)) = interpreter.successors(&state, 1).0.into_iter().next() else { break };
            if node.procedure == f && !seen.insert((node, state.globals.clone())) {
                return true;
            }
            state = next;
        }
    }
    false
}

#[test]
fn random_loops_that_are_said_to_end_do() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed() as u8; 32]);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    let (mut ending, mut endless) = (0, 0);
    for _ in 0..cases(400) {
        let body = random_loop().new_tree(&mut runner).unwrap().current();
        let text = format!(
            "unsigned char x, y; signed char s, t;\nvoid f(void) {{ {body} }}\nint main(void) {{ f(); return x + y + s + t; }}"
        );
        let program = task(&text).program;
        let is_endless = goes_on_for_ever(&program);
        endless += usize::from(is_endless);
        if ends(&text) {
            ending += 1;
            assert!(!is_endless, "{text}");
        }
    }
    println!("{ending} are said to end, {endless} do not");
    assert!(ending > 20 && endless > 20, "{ending} {endless}");
}
