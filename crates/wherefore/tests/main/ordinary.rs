//! C as people write it: small programs with one feature of memory each, and programs of a hundred
//! lines, correct and with a fault. Correct ones are proved; of the others the fault is found, of
//! its kind, where it shows.

use std::path::PathBuf;
use std::process::Command;

/// The files of a program, and the kind and line of the failed check; none if it is correct.
type Case = (&'static [&'static str], Option<(&'static str, u64)>);

const SMALL: &[Case] = &[
    (&["01-struct-pointer/safe.c"], None),
    (&["01-struct-pointer/unsafe.c"], Some(("assertion", 24))),
    (&["02-two-instances/safe.c"], None),
    (&["02-two-instances/unsafe.c"], Some(("assertion", 23))),
    (&["03-memset-struct/safe.c"], None),
    (&["03-memset-struct/unsafe.c"], Some(("assertion", 20))),
    (&["04-memcpy-struct/safe.c"], None),
    (&["04-memcpy-struct/unsafe.c"], Some(("assertion", 23))),
    (&["05-array-of-structs/safe.c"], None),
    (&["05-array-of-structs/unsafe.c"], Some(("assertion", 21))),
    (&["06-walking-pointer/safe.c"], None),
    (&["06-walking-pointer/unsafe.c"], Some(("assertion", 17))),
    (&["07-stack-list/safe.c"], None),
    (&["07-stack-list/unsafe.c"], Some(("assertion", 24))),
    // That every node of a list on the heap has a positive value is not proved yet.
    (&["08-heap-list/unsafe.c"], Some(("assertion", 27))),
    (&["09-string-buffer/safe.c"], None),
    (&["09-string-buffer/unsafe.c"], Some(("bounds", 16))),
    (&["10-union-tag/safe.c"], None),
    (&["10-union-tag/unsafe.c"], Some(("assertion", 26))),
    (&["11-function-table/safe.c"], None),
    (&["11-function-table/unsafe.c"], Some(("assertion", 25))),
    (&["12-pointer-to-pointer/safe.c"], None),
    (&["12-pointer-to-pointer/unsafe.c"], Some(("assertion", 22))),
];

const WHOLE: &[Case] = &[
    (&["event-bus/ok.c", "event-bus/bus.c"], None),
    (&["event-bus/bug1.c", "event-bus/bus.c"], Some(("assertion", 78))),
    (&["event-bus/ok.c", "event-bus/bug2-bus.c"], Some(("null", 22))),
    (&["retry-backoff/ok.c"], None),
    (&["retry-backoff/bug1.c"], Some(("assertion", 83))),
    (&["retry-backoff/bug2.c"], Some(("division", 33))),
    (&["ring-buffer/ok.c"], None),
    (&["ring-buffer/bug1.c"], Some(("assertion", 74))),
    (&["ring-buffer/bug2.c"], Some(("assertion", 75))),
    (&["tagged-message/ok.c"], None),
    (&["tagged-message/bug2.c"], Some(("assertion", 117))),
    (&["tagged-message/bug3.c"], Some(("bounds", 100))),
    (&["traffic-light/ok.c"], None),
    (&["traffic-light/bug1.c"], Some(("assertion", 106))),
    (&["traffic-light/bug2.c"], Some(("assertion", 107))),
    (&["uart-driver/ok.c"], None),
    (&["uart-driver/bug1.c"], Some(("assertion", 46))),
    (&["uart-driver/bug2.c"], Some(("assertion", 45))),
    (&["utf8-decoder/ok.c"], None),
    (&["utf8-decoder/bug1.c"], Some(("assertion", 78))),
    (&["utf8-decoder/bug2.c"], Some(("bounds", 41))),
];

fn judge(cases: &[Case]) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/ordinary");
    let mut wrong = Vec::new();
    for (files, expected) in cases {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wherefore"));
        command.arg("check").args(files.iter().map(|file| folder.join(file)));
        command.args(["--json", "--no-explain", "--timeout", "60"]);
        // Where a fault is known, the search ends with it.
        if let Some((_, line)) = expected {
            command.args(["--line", &line.to_string(), "--first-failure"]);
        }
        let output = command.output().expect("the binary runs");
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{files:?}: {}", String::from_utf8_lossy(&output.stderr)));
        let verdict = answer["verdict"].as_str().unwrap_or_default();
        let targets = answer["targets"].as_array().cloned().unwrap_or_default();
        let is_right = match expected {
            None => verdict == "safe",
            Some((kind, line)) => targets.iter().any(|target| {
                target["verdict"] == "unsafe" && target["kind"] == *kind && target["line"] == *line
            }),
        };
        if !is_right {
            wrong.push(format!("{}: {verdict}, not {expected:?}", files.join(" ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn one_feature_of_memory_each() {
    judge(SMALL);
}

#[test]
fn programs_of_a_hundred_lines() {
    judge(WHOLE);
}
