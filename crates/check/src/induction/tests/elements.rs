//! Facts about all elements of arrays: what they prove, and that they prove nothing that fails.

use std::cell::Cell;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use wherefore_program::{ExploreLimits, Outcome, explore};

use super::super::engine::{Induction, Way};
use super::{HEAD, is_minimal, task};
use crate::bounded::in_deep_thread;
use crate::{Budget, Engine, Session};

/// Whether the one check of a program is proved by facts and few steps.
pub(super) fn is_proved(text: &str) -> bool {
    is_proved_within(text, 20)
}

/// The same within so many seconds: where there is no proof, not all depths need be tried.
pub(super) fn is_proved_within(text: &str, seconds: u64) -> bool {
    let task = task(text);
    let decide = || {
        let limits = Budget::time(Duration::from_secs(seconds));
        Induction { way: Way::Deep }.decide(&task, &Session::default(), &limits)
    };
    let answer = in_deep_thread(decide).unwrap();
    answer.verdicts.iter().all(|verdict| verdict.proof().is_some())
}

/// Loops over arrays of any length, each with a change that makes it fail.
#[test]
fn loops_that_fill_copy_and_search_arrays() {
    let filled = "for (i = 0; i < n; i++) a[i] = 7;\n for (i = 0; i < n; i++) if (a[i] != 7) reach_error();";
    let copied = "for (i = 0; i < n; i++) a[i] = outside();\n for (i = 0; i < n; i++) b[i] = a[i];\n\
        for (int x = 0; x < n; x++) if (a[x] != b[x]) reach_error();";
    let largest = "for (i = 0; i < n; i++) a[i] = outside();\n int most = a[0];\n\
        for (i = 1; i < n; i++) { if (a[i] > most) most = a[i]; }\n\
        for (i = 0; i < n; i++) if (a[i] > most) reach_error();";
    let backwards = "for (i = 0; i < n; i++) a[i] = outside();\n for (i = 0; i < n; i++) b[i] = a[n - 1 - i];\n\
        for (i = 0; i < n; i++) if (a[i] != b[n - 1 - i]) reach_error();";
    let rising = "a[0] = outside();\n for (i = 1; i < n; i++) { int v = outside(); if (v < a[i - 1]) v = a[i - 1]; a[i] = v; }\n\
        for (i = 1; i < n; i++) if (a[i - 1] > a[i]) reach_error();";
    for (body, from, to) in [
        (filled, "i = 0; i < n; i++) a[i]", "i = 1; i < n; i++) a[i]"),
        (copied, "b[i] = a[i]", "b[i] = a[0]"),
        (largest, "> most) most", "< most) most"),
        (backwards, "a[n - 1 - i];", "a[i];"),
        (rising, "v < a[i - 1]", "v > a[i - 1]"),
    ] {
        let program = |body: &str| {
            format!(
                "{HEAD}int a[1000], b[1000]; int main(void) {{ int i, n = outside();\n\
                 if (n < 1 || n > 1000) return 0;\n{body}\nreturn 0; }}\n"
            )
        };
        assert!(is_proved(&program(body)), "{body}");
        let changed = body.replace(from, to);
        assert_ne!(body, changed);
        assert!(!is_proved_within(&program(&changed), 2), "{changed}");
    }
}

/// The check of proofs needs each formula about all elements.
#[test]
fn certificates_about_all_elements_are_needed_as_they_are() {
    let text = "int a[1000]; int main(void) { int i, n = outside(); if (n < 1 || n > 1000) return 0;\n\
        for (i = 0; i < n; i++) a[i] = 7;\n for (i = 0; i < n; i++) if (a[i] != 7) reach_error(); return 0; }\n";
    assert!(is_minimal(&format!("{HEAD}{text}"), Way::Both) > 2);
}

/// Programs with three loops over two short arrays.
fn program() -> impl Strategy<Value = String> {
    let index = || prop::sample::select(&["i", "i", "2 - i", "0", "(i + 1) % 3"][..]);
    let array = || prop::sample::select(&["a", "b"][..]);
    let element = || (array(), index()).prop_map(|(array, index)| format!("{array}[{index}]"));
    let value = move || {
        prop_oneof![
            2 => element(),
            2 => (0..3u32).prop_map(|n| n.to_string()),
            1 => Just("i".to_owned()),
            1 => Just("m".to_owned()),
            1 => Just("outside()".to_owned()),
        ]
    };
    let write = move || (element(), value()).prop_map(|(to, value)| format!("{to} = {value};"));
    let keep = move || {
        (element(), prop::sample::select(&["<", ">"][..]))
            .prop_map(|(of, op)| format!("if ({of} {op} m) m = {of};"))
    };
    let body = move || prop_oneof![3 => write(), 1 => keep(), 1 => (write(), write()).prop_map(|(a, b)| format!("{a} {b}"))];
    let head = || prop::sample::select(&["i = 0; i < 3; i++", "i = 1; i < 3; i++", "i = 0; i < 2; i++"][..]);
    let check = (element(), prop::sample::select(&["<", "!=", ">", "=="][..]), value());
    (head(), body(), head(), body(), head(), check).prop_map(|(h1, b1, h2, b2, h3, (of, op, value))| {
        let value = value.replace("outside()", "1");
        format!(
            "extern _Bool outside(void); extern void reach_error(void);\n\
             unsigned char a[3], b[3], m = 1; int main(void) {{ unsigned char i;\n\
             for ({h1}) {{ {b1} }}\nfor ({h2}) {{ {b2} }}\n\
             for ({h3}) if ({of} {op} {value}) reach_error();\nreturn 0; }}\n"
        )
    })
}

#[test]
fn what_is_proved_about_elements_agrees_with_explicit_search() {
    let (proved, failing) = (Cell::new(0), Cell::new(0));
    let config = Config {
        cases: wherefore_testing::cases(90),
        max_shrink_iters: 300,
        failure_persistence: None,
        ..Config::default()
    };
    let agrees = |text: String| {
        let found = task(&text);
        let limits = ExploreLimits { configurations: 30_000, ..ExploreLimits::default() };
        let fails = explore(&found.program, &found.checks, limits).outcome() == Outcome::Reached;
        let is_proved = is_proved(&text);
        proved.set(proved.get() + u32::from(is_proved));
        failing.set(failing.get() + u32::from(fails));
        prop_assert!(!(is_proved && fails), "{text}");
        Ok(())
    };
    if let Err(error) = TestRunner::new(config).run(&program(), agrees) {
        panic!("{error}");
    }
    assert!(proved.get() >= 5 && failing.get() >= 5, "{} proved, {} fail", proved.get(), failing.get());
}
