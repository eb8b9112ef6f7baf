//! Laws of weighted relations, over a commutative and over a non-commutative domain.

use proptest::prelude::*;
use wherefore_pushdown::laws;

use super::*;
use crate::{Cost, Reachability, Relation, RelationDomain, ShortestPath};

type Costs = WeightedRelation<Cost>;

fn costs(size: usize) -> impl Strategy<Value = Costs> {
    prop::collection::vec((0..size, 0..size, 0..6u64), 0..2 * size).prop_map(move |entries| {
        let entries = entries.into_iter().map(|(a, b, cost)| (a, b, Cost::finite(cost)));
        WeightedRelations::new(ShortestPath, size).weight(entries)
    })
}

fn relations() -> impl Strategy<Value = WeightedRelation<Relation>> {
    let relation =
        prop::collection::vec((0..2usize, 0..2usize), 1..3).prop_map(|pairs| Relation::from_pairs(2, pairs));
    prop::collection::vec((0..2usize, 0..2usize, relation), 0..5)
        .prop_map(|entries| WeightedRelations::new(RelationDomain::new(2), 2).weight(entries))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn laws_hold_for_random_costs(samples in prop::collection::vec(costs(4), 3)) {
        let domain = WeightedRelations::new(ShortestPath, 4);
        laws::semiring(&domain, &samples).unwrap();
        laws::adjoint(&domain, &samples).unwrap();
        for entry in [Entry::Inherited, Entry::Uninitialised, Entry::Bound(samples[0].clone())] {
            let locals = Locals::new(2, entry);
            laws::merge(&domain, &locals, &samples).unwrap();
            laws::adjoint_merge(&domain, &locals, &samples).unwrap();
        }
    }

    #[test]
    fn laws_hold_over_a_domain_that_is_not_commutative(samples in prop::collection::vec(relations(), 4)) {
        let domain = WeightedRelations::new(RelationDomain::new(2), 2);
        laws::semiring(&domain, &samples).unwrap();
        laws::adjoint(&domain, &samples).unwrap();
        for entry in [Entry::Inherited, Entry::Uninitialised, Entry::Bound(samples[0].clone())] {
            let locals = Locals::new(2, entry);
            laws::merge(&domain, &locals, &samples).unwrap();
            laws::adjoint_merge(&domain, &locals, &samples).unwrap();
        }
    }

    #[test]
    fn over_truth_values_they_are_plain_relations(
        a in prop::collection::vec((0..4usize, 0..4usize), 0..8),
        b in prop::collection::vec((0..4usize, 0..4usize), 0..8),
    ) {
        let domain = WeightedRelations::new(Reachability, 4);
        let oracle = RelationDomain::new(4);
        let weighted = |pairs: &[(usize, usize)]| domain.weight(pairs.iter().map(|(a, b)| (*a, *b, true)));
        let plain = |pairs: &[(usize, usize)]| Relation::from_pairs(4, pairs.iter().copied());
        let strip = |w: &WeightedRelation<bool>| {
            Relation::from_fn(4, |a| (0..4).filter(|b| *w.get(a, *b)).collect::<Vec<_>>())
        };
        prop_assert_eq!(strip(&domain.extend(&weighted(&a), &weighted(&b))), oracle.extend(&plain(&a), &plain(&b)));
        prop_assert_eq!(strip(&domain.star(&weighted(&a))), oracle.star(&plain(&a)));
        for (entry, same) in [(Entry::Inherited, Entry::Inherited), (Entry::Uninitialised, Entry::Uninitialised)] {
            let projected = Locals::new(2, entry).project_weighted(&domain, &weighted(&a));
            prop_assert_eq!(strip(&projected), Locals::new(2, same).project(&oracle, &plain(&a)));
        }
    }

    #[test]
    fn the_tensor_of_costs_is_sequentializable(samples in prop::collection::vec(costs(2), 4)) {
        let domain = WeightedRelations::new(ShortestPath, 2);
        let tensors = domain.tensor_domain();
        let [a, b, c, d] = &samples[..] else { unreachable!() };
        let (ab, cd) = (domain.tensor(a, b), domain.tensor(c, d));
        prop_assert_eq!(tensors.extend(&ab, &cd), domain.tensor(&domain.extend(a, c), &domain.extend(b, d)));
        prop_assert_eq!(domain.detensor(&ab), domain.extend(a, b));
        let sum = domain.detensor(&tensors.combine(&ab, &cd));
        prop_assert_eq!(sum, domain.combine(&domain.extend(a, b), &domain.extend(c, d)));
    }
}

#[test]
fn the_shortest_trace_between_two_stores_is_an_entry() {
    // Every step costs 1; from store 0 to store 3 there are a path of two steps and one of three.
    let domain = WeightedRelations::new(ShortestPath, 4);
    let step = [(0, 1), (1, 3), (0, 2), (2, 1)].map(|(a, b)| (a, b, Cost::finite(1)));
    let star = domain.star(&domain.weight(step));
    assert_eq!(*star.get(0, 3), Cost::finite(2));
    assert_eq!(*star.get(2, 3), Cost::finite(2));
    assert_eq!(*star.get(3, 0), Cost::INFINITY);
}

#[test]
#[should_panic(expected = "not a pair")]
fn a_pair_outside_the_set_is_refused() {
    WeightedRelations::new(ShortestPath, 2).weight([(0, 2, Cost::ZERO)]);
}
