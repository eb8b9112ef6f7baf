//! Four ways to chop, stores at nodes, and witnesses through nodes: against each other and against
//! all short runs.

use crate::common;

use std::collections::{BTreeMap, BTreeSet};

use common::*;
use proptest::prelude::*;
use wherefore_domains::{Relation, RelationDomain};
use wherefore_pushdown::{
    AdjointMerge, AdjointProjection, Completions, FunctionalAutomaton, Options, Reading, Recording,
    Relational, RuleId, Semiring, State, Symbol, System, chop_by_post_star, chop_by_pre_star, post_star,
    pre_star, replay, stores_along,
};

fn check<M: AdjointMerge<RelationDomain> + Clone>(
    case: &Case,
    system: &System<Relation, M>,
) -> Result<(), TestCaseError> {
    let d = domain();
    let options = Options { recording: Recording::Witnesses, ..Options::default() };
    let post = post_star(&d, system, &case.start_automaton(Reading::Backward, &d.one()), &options);
    let pre = pre_star(&d, system, &case.target_automaton(Reading::Forward, &d.one()), &options);
    let functional = FunctionalAutomaton::new(&d, system, &post.automaton, &pre.automaton);
    let adjoint = AdjointProjection::new(&functional);
    let start = case.start_automaton(Reading::Forward, &());
    let target = case.target_automaton(Reading::Forward, &());
    let completions = Completions::new(&d, system, &post.automaton, &target);

    // One run, if there is any: it leads from the start to the target.
    let some = post.some_run(&d, system, &target);
    prop_assert_eq!(some.is_some(), !d.is_zero(&post.automaton.summary(&d, &target)));
    if let Some(rules) = some {
        let run = replay(&d, system, &case.start, &rules).unwrap();
        prop_assert!(!d.is_zero(&run.weight));
        prop_assert_eq!(
            (run.end.state, run.end.stack.first().copied()),
            (case.target.0, Some(case.target.1))
        );
    }

    // What short runs say about each node: the weight of runs through it, and the stores seen
    // there.
    let mut seen: BTreeMap<(State, Symbol), Relation> = BTreeMap::new();
    let mut used: BTreeSet<RuleId> = BTreeSet::new();
    for (run, end, value) in runs(&d, system, &case.start, 6, 1_500) {
        if end.state != case.target.0 || end.stack.first() != Some(&case.target.1) || d.is_zero(&value) {
            continue;
        }
        used.extend(&run);
        for position in 0..=run.len() {
            let at = replay(&d, system, &case.start, &run[..position]).unwrap().end;
            let Some(top) = at.stack.first() else { continue };
            let entry = seen.entry((at.state, *top)).or_insert_with(|| d.zero());
            d.join(entry, &value);
        }
    }

    for node in (0..case.states).flat_map(|p| (0..case.symbols).map(move |s| (State(p), Symbol(s)))) {
        let (p, top) = node;
        let chop = functional.chop(p, top);
        if let Some(value) = seen.get(&node) {
            prop_assert!(within(&d, value, &chop), "{node:?}: {value:?} not within {chop:?}");
        }
        let middle = top_automaton(case.states, case.symbols, p, top, Reading::Forward, &());
        let twice = chop_by_post_star(&d, system, &post.automaton, &middle, &target, &Options::default());
        prop_assert_eq!(twice.as_ref(), Ok(&chop), "double post* at {:?}", node);
        let twice = chop_by_pre_star(&d, system, &start, &middle, &pre.automaton, &Options::default());
        prop_assert_eq!(twice.as_ref(), Ok(&chop), "double pre* at {:?}", node);
        prop_assert_eq!(adjoint.contains(p, top), !d.is_zero(&chop), "adjoint at {:?}", node);

        prop_assert_eq!(completions.contains(p, top), !d.is_zero(&chop), "completions at {:?}", node);
        prop_assert_eq!(
            &completions.stores(p, top),
            &adjoint.stores(p, top),
            "completed stores at {:?}",
            node
        );

        // Witnesses through the node justify the chop, and their stores are within the exact ones.
        let stores = functional.stores(p, top);
        prop_assert_eq!(&adjoint.stores(p, top), &stores, "stores at {:?}", node);
        let mut sum = d.zero();
        for through in functional.witnesses_through(&post, &pre, p, top, 1_000).unwrap() {
            let run = replay(&d, system, &through.witness.start, &through.witness.rules).unwrap();
            prop_assert_eq!(&run.start, &case.start);
            prop_assert!(!d.is_zero(&run.weight));
            let there =
                replay(&d, system, &run.start, &through.witness.rules[..through.position]).unwrap().end;
            prop_assert_eq!((there.state, there.stack[0]), node);
            sum = d.combine(&sum, &run.weight);
            let along = stores_along(&d, system, &through.witness, through.position);
            prop_assert!(!d.is_zero(&along));
            prop_assert!(within(&d, &along, &stores));
        }
        prop_assert_eq!(&sum, &chop);

        // Membership of each store, one bottleneck at a time.
        for v in 0..STORES {
            let only = d.partial_identity([v]);
            let possible = !d.is_zero(&functional.bottleneck(&only, p, top));
            prop_assert_eq!(possible, stores.contains(v, v), "store {} at {:?}", v, node);
        }
    }
    // Rules on failing runs: those of short runs, and no rule that witnesses through its two ends
    // cannot use.
    for (rule, _) in system.rules() {
        let inside = adjoint.contains_rule(rule);
        prop_assert_eq!(completions.contains_rule(rule), inside, "{:?}", rule);
        prop_assert!(inside || !used.contains(&rule), "{rule:?}");
        let mut without = system.clone();
        without.remove_rule(rule);
        let weight = |s: &System<Relation, M>| {
            pre_star(&d, s, &case.target_automaton(Reading::Forward, &d.one()), &Options::default())
                .automaton
                .summary(&d, &start)
        };
        prop_assert!(inside || weight(system) == weight(&without), "{rule:?} matters but is outside");
        prop_assert!(!inside || adjoint.contains(system.rule(rule).from, system.rule(rule).symbol));
    }
    let expected: Vec<_> = functional.nodes().into_iter().filter(|(p, s)| adjoint.contains(*p, *s)).collect();
    prop_assert_eq!(adjoint.nodes(), expected.clone());
    prop_assert_eq!(completions.nodes(), expected.clone());
    prop_assert_eq!(functional.projection(), expected);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(wherefore_testing::cases(500)))]

    #[test]
    fn plain_systems(case in cases()) {
        let system = case.plain();
        check(&case, &system)?;
        let d = domain();
        let post = post_star(&d, &system, &case.start_automaton(Reading::Backward, &d.one()), &Options::default());
        let pre = pre_star(&d, &system, &case.target_automaton(Reading::Forward, &d.one()), &Options::default());
        let functional = FunctionalAutomaton::new(&d, &system, &post.automaton, &pre.automaton);
        for (p, top) in functional.nodes() {
            let (exact, over) = (functional.stores(p, top), functional.stores_over(p, top));
            prop_assert!(within(&d, &exact, &over));
            prop_assert_eq!(&d.domain_of(&over), &over);
        }
    }

    #[test]
    fn extended_systems(case in cases()) {
        check(&case, &case.extended())?;
    }
}
