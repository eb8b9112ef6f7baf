//! Path expressions against the worklist: weights, witnesses, single weights on demand, and
//! changing systems.

use crate::common;

use common::*;
use proptest::prelude::*;
use wherefore_domains::{Relation, RelationDomain};
use wherefore_pushdown::{
    Automaton, Direction, Limits, Merge, Method, Options, PathSolver, Reading, Recording, RuleId, Semiring,
    State, System, Transition, replay, solve,
};

fn seed(case: &Case, direction: Direction) -> Automaton<Relation> {
    match direction {
        Direction::Post => case.start_automaton(Reading::Backward, &domain().one()),
        Direction::Pre => case.target_automaton(Reading::Forward, &domain().one()),
    }
}

/// Transitions by what they are; the numbers of states below calls may differ between two runs.
fn weights(automaton: &Automaton<Relation>) -> Vec<(String, String)> {
    let name = |q: State| match automaton.entry_of(q) {
        Some((p, symbol)) => format!("below {} {}", p.0, symbol.0),
        None => format!("{}", q.0),
    };
    let mut all: Vec<(String, String)> = automaton
        .transitions()
        .map(|(Transition { from, symbol, to, call }, weight)| {
            (format!("{} {symbol:?} {} {call:?}", name(from), name(to)), format!("{weight:?}"))
        })
        .collect();
    all.sort();
    all
}

fn check<M: Merge<RelationDomain>>(
    case: &Case,
    system: &System<Relation, M>,
    direction: Direction,
) -> Result<(), TestCaseError> {
    let d = domain();
    let seed = seed(case, direction);
    let options = Options::default();
    let worklist = solve(direction, &d, system, &seed, Method::Worklist, &options);
    let paths = solve(direction, &d, system, &seed, Method::PathExpressions, &options);
    prop_assert!(paths.stop.is_complete());
    prop_assert_eq!(weights(&worklist.automaton), weights(&paths.automaton));

    // One weight at a time, each from a new solver, so that nothing else has been solved.
    for (t, _) in paths.automaton.transitions().take(5) {
        let Some(symbol) = t.symbol else { continue };
        let mut solver = PathSolver::new(direction, &seed, Recording::Off);
        let single = solver.weight(&d, system, (t.from, symbol, t.to), &Limits::default()).unwrap();
        prop_assert_eq!(Some(single), paths.automaton.weight_of(&d, t.from, symbol, t.to));
    }

    // Witnesses by two-level staging.
    let query = match direction {
        Direction::Post => case.target_automaton(Reading::Forward, &()),
        Direction::Pre => case.start_automaton(Reading::Forward, &()),
    };
    let mut solver = PathSolver::new(direction, &seed, Recording::Witnesses);
    let witnesses = solver.witnesses(&d, system, &query, 1_000).unwrap();
    let mut sum = d.zero();
    for witness in &witnesses {
        let run = replay(&d, system, &witness.start, &witness.rules).unwrap();
        prop_assert_eq!(&run.end, &witness.end);
        prop_assert_eq!(&run.start, &case.start);
        sum = d.combine(&sum, &run.weight);
    }
    prop_assert_eq!(sum, worklist.automaton.summary(&d, &query));
    Ok(())
}

/// Removes and puts back rules, and compares every answer with one from scratch.
fn check_changes<M: Merge<RelationDomain> + Clone>(
    case: &Case,
    full: &System<Relation, M>,
    direction: Direction,
    changes: &[(bool, usize)],
) -> Result<(), TestCaseError> {
    let d = domain();
    let seed = seed(case, direction);
    let mut system = full.clone();
    let mut solver = PathSolver::new(direction, &seed, Recording::Off);
    let mut live: Vec<Option<RuleId>> = full.rules().map(|(id, _)| Some(id)).collect();
    for (remove, which) in changes {
        let slot = which % live.len();
        match (remove, live[slot]) {
            (true, Some(id)) => {
                system.remove_rule(id);
                live[slot] = None;
            }
            (false, None) => {
                let original = RuleId(slot as u32);
                let rule = full.rule(original);
                let weight = full.weight(original).clone();
                let id = match (rule.rhs, full.merge(original)) {
                    (wherefore_pushdown::Rhs::Push(a, b), Some(m)) => {
                        system.add_call(rule.from, rule.symbol, rule.to, (a, b), weight, m.clone())
                    }
                    (rhs, _) => system.add(rule.from, rule.symbol, rule.to, rhs, weight),
                };
                live[slot] = Some(id);
            }
            _ => {}
        }
        solver.system_changed();
        let again = solver.automaton(&d, &system, &Limits::default());
        let scratch = solve(direction, &d, &system, &seed, Method::Worklist, &Options::default());
        prop_assert_eq!(weights(&again.automaton), weights(&scratch.automaton));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(wherefore_testing::cases(2000)))]

    #[test]
    fn plain_post(case in cases()) { check(&case, &case.plain(), Direction::Post)?; }

    #[test]
    fn plain_pre(case in cases()) { check(&case, &case.plain(), Direction::Pre)?; }

    #[test]
    fn extended_post(case in cases()) { check(&case, &case.extended(), Direction::Post)?; }

    #[test]
    fn extended_pre(case in cases()) { check(&case, &case.extended(), Direction::Pre)?; }

    #[test]
    fn changing_systems(
        case in cases(),
        changes in proptest::collection::vec((any::<bool>(), 0usize..10), 1..8),
    ) {
        for direction in [Direction::Post, Direction::Pre] {
            check_changes(&case, &case.plain(), direction, &changes)?;
            check_changes(&case, &case.extended(), direction, &changes)?;
        }
    }
}
