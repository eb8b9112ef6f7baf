//! What tests of meanings ask about small programs.

use std::collections::BTreeSet;

use wherefore_program::{
    Coverage, Exploration, ExploreLimits, Outcome, Program, Runs, TargetChoice, Var, explore,
};

pub(crate) fn explored(program: &Program) -> Exploration<'_> {
    assert_eq!(program.check(), Ok(()));
    let targets = program.targets(&TargetChoice::Default).expect("the default always exists");
    let exploration = explore(program, &targets, ExploreLimits::default());
    if let Some(trace) = exploration.shortest_trace() {
        assert_eq!(program.replay(&trace), Ok(()));
    }
    exploration
}

/// Whether an error can be reached; the search must be complete.
pub(crate) fn fails(program: &Program) -> bool {
    let exploration = explored(program);
    assert_eq!(exploration.coverage(), Coverage::Complete);
    exploration.outcome() == Outcome::Reached
}

/// The values of variables at a label, over all runs.
pub(crate) fn values(program: &Program, label: &str, names: &[&str]) -> BTreeSet<Vec<u64>> {
    let exploration = explored(program);
    assert_eq!(exploration.coverage(), Coverage::Complete);
    let mut values = BTreeSet::new();
    let nodes: Vec<_> = program.labelled(label).collect();
    assert!(!nodes.is_empty(), "no label {label}");
    for node in nodes {
        let find = |name: &&str| program.find_variable(node.procedure, name).expect("a variable");
        let variables: Vec<Var> = names.iter().map(find).collect();
        values.extend(exploration.stores(node, &variables, Runs::All));
    }
    values
}

pub(crate) fn set<const N: usize, const M: usize>(values: [[u64; M]; N]) -> BTreeSet<Vec<u64>> {
    values.iter().map(|value| value.to_vec()).collect()
}
