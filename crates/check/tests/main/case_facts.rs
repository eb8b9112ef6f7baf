//! Facts about programs over finite data, worked out by hand or by enumeration, independently of
//! the engine.
//!
//! A case is a folder with programs (`*.bp`, `*.rem`) and the facts that are expected of them
//! (`expect.yaml`). Behind every error projection is the obligation to show a failing run through
//! each location inside, and through no other. Set `WHEREFORE_CASES` to a folder of cases to run
//! those too (`--include-ignored`).

use std::collections::BTreeMap;
use std::path::Path;

use crate::case_facts_support::report::Report;

#[test]
fn facts_about_programs_hold() {
    let report = Report::of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../frontend/tests/cases"));
    println!("{report}");
    assert!(report.failures.is_empty() && report.unknown.is_empty(), "{report}");
    assert_eq!(report.cases, CASES);
    assert_eq!(counts(&report.checked), CHECKED, "a fact that is no longer checked");
    assert_eq!(counts(&report.threads), THREADS, "a fact about threads that is no longer seen");
    assert_eq!(counts(&report.too_large), TOO_LARGE, "a fact about a large program that is no longer seen");
}

fn counts(counts: &BTreeMap<String, usize>) -> Vec<(&str, usize)> {
    counts.iter().map(|(kind, facts)| (kind.as_str(), *facts)).collect()
}

/// How many cases and facts of each kind there are: so that none is lost unnoticed.
const CASES: usize = 33;
const CHECKED: &[(&str, usize)] = &[
    ("edge_projection", 1),
    ("error_projection", 8),
    ("invariant", 9),
    ("modular_relation", 1),
    ("reachable", 3),
    ("trace_length", 1),
    ("values", 14),
    ("verdict", 24),
];
const THREADS: &[(&str, usize)] =
    &[("contexts", 17), ("reach_globals", 2), ("refused", 19), ("switch_points", 5), ("verdict", 18)];
const TOO_LARGE: &[(&str, usize)] = &[("verdict", 1)];

#[test]
#[ignore = "needs a folder of cases, WHEREFORE_CASES"]
fn facts_about_other_programs_hold() {
    let folder = wherefore_testing::given("WHEREFORE_CASES");
    let report = Report::of(&folder);
    println!("{report}");
    assert!(report.cases > 0, "no cases in {}", folder.display());
    assert!(report.failures.is_empty(), "{report}");
}
