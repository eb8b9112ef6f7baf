//! post\* and pre\* against each other, against brute force, in every order, with and without merge
//! functions.

use crate::common;

use common::*;
use proptest::prelude::*;
use wherefore_domains::{Relation, RelationDomain};
use wherefore_pushdown::{
    Automaton, Configuration, Merge, Options, Order, Reading, Recording, Semiring, System, Witness,
    post_star, pre_star, replay,
};

fn options(order: Order) -> Options {
    Options { order, recording: Recording::Witnesses, ..Options::default() }
}

/// Replays witnesses and returns their combined weight.
fn replayed<M: Merge<RelationDomain>>(
    system: &System<Relation, M>,
    witnesses: &[Witness<Relation>],
) -> Relation {
    let d = domain();
    let mut sum = d.zero();
    for witness in witnesses {
        let run = replay(&d, system, &witness.start, &witness.rules).expect("a witness runs");
        assert_eq!((&run.end, &run.weight), (&witness.end, &witness.weight));
        sum = d.combine(&sum, &run.weight);
    }
    sum
}

/// Everything that must hold for one system, merge functions or not.
fn check<M: Merge<RelationDomain>>(case: &Case, system: &System<Relation, M>) -> Result<(), TestCaseError> {
    let d = domain();
    let seed = case.start_automaton(Reading::Backward, &d.one());
    let post = post_star(&d, system, &seed, &options(Order::Fifo));
    prop_assert!(post.stop.is_complete());

    // No run is missed, and every weight is justified by runs.
    for (end, value) in values(&d, system, &case.start, 6, 2_000) {
        let reached = post.automaton.weight(&d, &end);
        prop_assert!(within(&d, &value, &reached), "{end:?}: {value:?} not within {reached:?}");
        let query = Automaton::of_configuration(system, &end, Reading::Forward, &());
        prop_assert_eq!(&post.automaton.summary(&d, &query), &reached);
        let witnesses = post.witnesses(&d, system, &query, 1_000).unwrap();
        prop_assert!(witnesses.iter().all(|w| w.start == case.start && w.end == end));
        prop_assert_eq!(replayed(system, &witnesses), reached.clone());

        // Backwards from this one configuration.
        let target = Automaton::of_configuration(system, &end, Reading::Forward, &d.one());
        let pre = pre_star(&d, system, &target, &options(Order::Fifo));
        prop_assert_eq!(&pre.automaton.weight(&d, &case.start), &reached);
    }

    // A regular set, from both ends.
    let query = case.target_automaton(Reading::Forward, &());
    let forwards = post.automaton.summary(&d, &query);
    let target = case.target_automaton(Reading::Forward, &d.one());
    let pre = pre_star(&d, system, &target, &options(Order::Fifo));
    let start = case.start_automaton(Reading::Forward, &());
    prop_assert_eq!(&pre.automaton.summary(&d, &start), &forwards);
    prop_assert_eq!(&pre.automaton.weight(&d, &case.start), &forwards);
    let witnesses = post.witnesses(&d, system, &query, 1_000).unwrap();
    prop_assert_eq!(&replayed(system, &witnesses), &forwards);
    prop_assert_eq!(witnesses.is_empty(), d.is_zero(&forwards));
    let witnesses = pre.witnesses(&d, system, &start, 1_000).unwrap();
    prop_assert!(witnesses.iter().all(|w| w.start == case.start));
    prop_assert_eq!(&replayed(system, &witnesses), &forwards);
    let contexts = post.automaton.contexts(&d);
    let (state, top) = case.target;
    prop_assert_eq!(&contexts.of_top(&d, &post.automaton, state, top), &forwards);

    // The order of the worklist does not matter.
    for order in [Order::Lifo, Order::Priority] {
        let other = post_star(&d, system, &seed, &options(order));
        prop_assert_eq!(&other.automaton.summary(&d, &query), &forwards);
        let other = pre_star(&d, system, &target, &options(order));
        prop_assert_eq!(&other.automaton.summary(&d, &start), &forwards);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(wherefore_testing::cases(400)))]

    #[test]
    fn plain_systems(case in cases()) {
        let system = case.plain();
        check(&case, &system)?;
        let d = domain();
        let post = post_star(&d, &system, &case.start_automaton(Reading::Backward, &d.one()), &Options::default());
        for (at, value) in bounded_fixpoint(&d, &system, &case.start, 4) {
            let reached = post.automaton.weight(&d, &at);
            prop_assert!(within(&d, &value, &reached), "{:?}: {:?} not within {:?}", at, value, reached);
        }
    }

    #[test]
    fn extended_systems(case in cases()) {
        check(&case, &case.extended())?;
    }

    /// A domain with and without its difference gives the same answers.
    #[test]
    fn differences_change_nothing(case in cases()) {
        struct Whole(RelationDomain);
        impl Semiring for Whole {
            type Weight = Relation;
            fn zero(&self) -> Relation { self.0.zero() }
            fn one(&self) -> Relation { self.0.one() }
            fn combine(&self, a: &Relation, b: &Relation) -> Relation { self.0.combine(a, b) }
            fn extend(&self, a: &Relation, b: &Relation) -> Relation { self.0.extend(a, b) }
        }
        let (d, whole) = (domain(), Whole(domain()));
        prop_assert!(d.difference(&d.one(), &d.one()).is_some());
        let system = case.plain();
        let seed = case.start_automaton(Reading::Backward, &d.one());
        let a = post_star(&d, &system, &seed, &Options::default()).automaton;
        let b = post_star(&whole, &system, &seed, &Options::default()).automaton;
        for end in values(&d, &system, &case.start, 5, 500).keys() {
            prop_assert_eq!(a.weight(&d, end), b.weight(&whole, end));
        }
    }
}

/// A merge function without path extension: what it does depends on the whole weight of the caller.
#[derive(Clone, Debug)]
struct OnlyFrom(usize);

impl Merge<RelationDomain> for OnlyFrom {
    /// Keeps the runs of the caller that start in one store (strict, distributive, but `m(a ⊗ b, c)
    /// ≠ a ⊗ m(b, c)`).
    fn merge(&self, d: &RelationDomain, caller: &Relation, callee: &Relation) -> Relation {
        let start = d.partial_identity([self.0]);
        d.extend(&start, &d.extend(caller, callee))
    }

    fn path_extension(&self) -> bool {
        false
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(wherefore_testing::cases(300)))]

    /// [Lal09] §3.2.3: post* is right for merge functions without path extension, in the sense of
    /// Def. 3.2.6.
    #[test]
    fn post_star_without_path_extension(case in cases()) {
        let d = domain();
        let mut system: System<Relation, OnlyFrom> = System::new();
        let plain = case.plain();
        for p in 0..case.states { system.state(&format!("p{p}")); }
        for s in 0..case.symbols { system.symbol(&format!("s{s}")); }
        for (id, rule) in plain.rules() {
            match rule.rhs {
                wherefore_pushdown::Rhs::Push(a, b) => system.add_call(
                    rule.from, rule.symbol, rule.to, (a, b), plain.weight(id).clone(), OnlyFrom(id.index() % STORES)),
                rhs => system.add(rule.from, rule.symbol, rule.to, rhs, plain.weight(id).clone()),
            };
        }
        wherefore_pushdown::laws::merge(&d, &OnlyFrom(1), &[d.zero(), d.one(), d.full()]).unwrap();
        let seed = case.start_automaton(Reading::Backward, &d.one());
        let post = post_star(&d, &system, &seed, &options(Order::Fifo));
        for (end, value) in values(&d, &system, &case.start, 6, 1_000) {
            let reached = post.automaton.weight(&d, &end);
            prop_assert!(within(&d, &value, &reached));
            let query = Automaton::of_configuration(&system, &end, Reading::Forward, &());
            let witnesses = post.witnesses(&d, &system, &query, 1_000).unwrap();
            prop_assert_eq!(replayed(&system, &witnesses), reached);
        }
    }
}

#[test]
fn pop_below_the_bottom_is_stuck() {
    let d = domain();
    let mut system: System<Relation> = System::new();
    let (p, a) = (system.state("p"), system.symbol("a"));
    system.add(p, a, p, wherefore_pushdown::Rhs::Pop, d.one());
    let start = Configuration { state: p, stack: vec![a, a] };
    let seed = Automaton::of_configuration(&system, &start, Reading::Backward, &d.one());
    let post = post_star(&d, &system, &seed, &Options::default());
    let at = |n| Configuration { state: p, stack: vec![a; n] };
    let reached: Vec<bool> = (0..4).map(|n| !d.is_zero(&post.automaton.weight(&d, &at(n)))).collect();
    assert_eq!(reached, [true, true, true, false]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(wherefore_testing::cases(500)))]

    /// Three strategies, and the weights of a domain in which nothing is lost.
    #[test]
    fn reachability_from_either_end_and_from_both(case in cases()) {
        use wherefore_pushdown::{Direction, Limits, Reachability, Reachable, Strategy, ijop, reachable};
        let system = case.plain();
        let start = case.start_automaton(Reading::Forward, &());
        let target = case.target_automaton(Reading::Forward, &());
        let plain = system.map_weights(|_, _| true);
        let expected = ijop(&Reachability, &plain, &start, &target, Direction::Post, &Options::default()).unwrap();
        let answer = if expected { Reachable::Yes } else { Reachable::No };
        for strategy in [Strategy::Post, Strategy::Pre, Strategy::BothEnds] {
            prop_assert_eq!(reachable(&system, &start, &target, strategy, &Limits::default()), answer);
        }
        for direction in [Direction::Post, Direction::Pre] {
            let d = domain();
            let weight = ijop(&d, &system, &start, &target, direction, &Options::default()).unwrap();
            prop_assert!(expected || d.is_zero(&weight));
            let unknown = ijop(&d, &system, &start, &target, direction,
                &Options { limits: Limits { steps: Some(0), ..Limits::default() }, ..Options::default() });
            prop_assert_eq!(unknown, Err(wherefore_pushdown::StopReason::Steps));
        }
    }
}

#[test]
fn a_search_can_stop_when_it_has_found_its_goal() {
    use wherefore_pushdown::{Direction, Rhs, Saturation, StopReason};
    let d = domain();
    let mut system: System<Relation> = System::new();
    let p = system.state("p");
    let chain: Vec<_> = (0..100).map(|i| system.symbol(&i.to_string())).collect();
    for pair in chain.windows(2) {
        system.add(p, pair[0], p, Rhs::Swap(pair[1]), d.one());
    }
    let start = Configuration { state: p, stack: vec![chain[0]] };
    let seed = Automaton::of_configuration(&system, &start, Reading::Backward, &d.one());
    let mut search = Saturation::new(Direction::Post, &d, &system, &seed, &Options::default());
    let stop = search.run_until(|_, t| t.symbol == Some(chain[10]));
    assert_eq!((stop, search.steps()), (StopReason::Found, 11));
    assert!(search.finish(stop).automaton.transition_count() < 20);
}
