//! Facts about weighted pushdown systems, worked out by hand or by enumeration, independently of
//! the engine.
//!
//! A case is a folder with systems (`*.yaml`) and the facts that are expected of them
//! (`expect.yaml`). Every weight is computed forwards and backwards, by both methods; every chop in
//! all ways that there are; every witness is replayed. Set `WHEREFORE_CASES` to a folder of cases
//! to run those too (`--include-ignored`).

use std::path::Path;

use crate::cases_support::report::Report;

#[test]
fn facts_of_the_cases_hold() {
    let report = Report::of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases"));
    println!("{report}");
    assert!(report.failures.is_empty() && report.unknown.is_empty(), "{report}");
    let counts: Vec<(&str, usize)> =
        report.checked.iter().map(|(k, (facts, _))| (k.as_str(), *facts)).collect();
    assert_eq!(counts, CHECKED, "a fact that is no longer checked");
}

/// How many facts of each kind there are: so that none is lost unnoticed.
const CHECKED: &[(&str, usize)] = &[
    ("affine", 4),
    ("automaton_direction", 1),
    ("automaton_shape", 2),
    ("chop", 6),
    ("chop_all", 1),
    ("env", 10),
    ("equation", 2),
    ("kleene_star", 3),
    ("laws", 1),
    ("naive_chop", 2),
    ("naive_value_set", 1),
    ("node_projection", 2),
    ("path_value", 12),
    ("plain_wpds_env", 1),
    ("recomputed", 2),
    ("tensor", 2),
    ("valid_path", 2),
    ("values", 4),
    ("wautomata_product", 2),
    ("weight", 36),
];

#[test]
#[ignore = "needs a folder of cases, WHEREFORE_CASES"]
fn facts_of_other_cases_hold() {
    let folder = wherefore_testing::given("WHEREFORE_CASES");
    let report = Report::of(&folder);
    println!("{report}");
    assert!(report.cases > 0, "no cases in {}", folder.display());
    assert!(report.failures.is_empty(), "{report}");
}
