//! Laws and printed examples of the explicit relational domain.

use proptest::prelude::*;
use wherefore_pushdown::{laws, star_by_difference, star_by_squaring};

use super::*;

fn matrix<const N: usize>(rows: [[u8; N]; N]) -> Relation {
    Relation::from_fn(N, |a| (0..N).filter(move |b| rows[a][*b] == 1))
}

fn relation(size: usize) -> impl Strategy<Value = Relation> {
    prop::collection::vec((0..size, 0..size), 0..2 * size)
        .prop_map(move |pairs| Relation::from_pairs(size, pairs))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn laws_hold_on_random_relations(samples in prop::collection::vec(relation(4), 4)) {
        let domain = RelationDomain::new(4);
        laws::semiring(&domain, &samples).unwrap();
        laws::adjoint(&domain, &samples).unwrap();
        laws::relational(&domain, &samples).unwrap();
        laws::remembering(&domain, &samples).unwrap();
    }

    #[test]
    fn rows_longer_than_a_word_compose_pair_by_pair(a in relation(70), b in relation(70)) {
        let pairs = a.pairs().flat_map(|(i, j)| b.image(j).map(move |k| (i, k)));
        let domain = RelationDomain::new(70);
        prop_assert_eq!(domain.extend(&a, &b), Relation::from_pairs(70, pairs));
        prop_assert_eq!(domain.star(&a), star_by_squaring(&domain, &a).0);
        prop_assert_eq!(a.pairs().count(), a.len());
    }

    #[test]
    fn the_tensor_is_sequentializable(samples in prop::collection::vec(relation(3), 4)) {
        let domain = RelationDomain::new(3);
        let tensors = domain.tensor_domain();
        let [a, b, c, d] = &samples[..] else { unreachable!() };
        let (ab, cd) = (domain.tensor(a, b), domain.tensor(c, d));
        prop_assert_eq!(tensors.extend(&ab, &cd), domain.tensor(&domain.extend(a, c), &domain.extend(b, d)));
        prop_assert_eq!(domain.detensor(&ab), domain.extend(a, b));
        prop_assert_eq!(domain.detensor_transposed(&ab), domain.extend(a, &b.transpose()));
        let sum = domain.detensor(&tensors.combine(&ab, &cd));
        prop_assert_eq!(sum, domain.combine(&domain.detensor(&ab), &domain.detensor(&cd)));
    }

    #[test]
    fn the_middle_is_what_its_definition_says(samples in prop::collection::vec(relation(4), 3)) {
        let domain = RelationDomain::new(4);
        let [before, after, context] = &samples[..] else { unreachable!() };
        let inside = |v: &usize| {
            before.pairs().any(|(a, b)| b == *v && after.image(*v).any(|exit| context.contains(a, exit)))
        };
        let expected = domain.partial_identity((0..4).filter(inside));
        prop_assert_eq!(domain.middle(before, after, context), expected);
    }

    #[test]
    fn a_memory_remembers_the_store_at_its_point(before in relation(4), after in relation(4)) {
        let domain = RelationDomain::new(4);
        let mut memory = domain.map_memory(&domain.remember(), &mut |w| domain.extend(&before, w));
        memory = domain.map_memory(&memory, &mut |w| domain.extend(w, &after));
        let stores = domain.middle(&before, &after, &domain.full());
        prop_assert_eq!(domain.remembered(&memory), stores);
        let mut joined = domain.map_memory(&memory, &mut |_| domain.zero());
        prop_assert_eq!(domain.join_memory(&mut joined, &memory), !domain.is_zero(&domain.remembered(&memory)));
        prop_assert_eq!(joined, memory);
    }
}

#[test]
fn the_star_of_a_chain_of_six_steps_takes_seven_turns_or_four_squarings() {
    let domain = RelationDomain::new(7);
    let chain = Relation::from_fn(7, |x| (x < 6).then_some(x + 1));
    let order = Relation::from_fn(7, |x| x..7);
    assert_eq!(star_by_difference(&domain, &chain), Some((order.clone(), 7)));
    assert_eq!(star_by_squaring(&domain, &chain), (order.clone(), 4));
    assert_eq!(domain.star(&chain), order);
}

#[test]
fn the_star_of_a_single_pair_closes_at_once() {
    let domain = RelationDomain::new(2);
    let pair = Relation::from_pairs(2, [(0, 1)]);
    let closed = Relation::from_pairs(2, [(0, 0), (0, 1), (1, 1)]);
    assert_eq!(star_by_difference(&domain, &pair), Some((closed.clone(), 2)));
    assert_eq!(star_by_squaring(&domain, &pair), (closed, 1));
}

#[test]
fn the_star_of_a_cycle_is_the_full_relation() {
    let domain = RelationDomain::new(3);
    let cycle = Relation::from_fn(3, |x| [(x + 1) % 3]);
    assert_eq!(domain.star(&cycle), domain.full());
    assert_eq!(star_by_difference(&domain, &cycle).unwrap().0, domain.full());
}

#[test]
fn a_sum_of_tensors_has_no_cross_terms() {
    let domain = RelationDomain::new(2);
    let (a, b) = (matrix([[0, 1], [0, 0]]), matrix([[0, 0], [0, 1]]));
    let (c, d) = (matrix([[1, 0], [0, 0]]), matrix([[0, 0], [1, 0]]));
    let sum = domain.tensor_domain().combine(&domain.tensor(&a, &b), &domain.tensor(&c, &d));
    assert_eq!(domain.detensor(&sum), matrix([[0, 1], [0, 0]]));
    let cross = domain.extend(&domain.combine(&a, &c), &domain.combine(&b, &d));
    assert_eq!(cross, matrix([[1, 1], [0, 0]]));
}

#[test]
fn a_sum_of_tensors_of_order_three_has_no_cross_terms() {
    let domain = RelationDomain::new(3);
    let (a, b) = (domain.one(), matrix([[0, 1, 0], [0, 0, 1], [1, 0, 0]]));
    let c = matrix([[0, 1, 0], [0, 0, 0], [0, 0, 0]]);
    let d = matrix([[0, 0, 0], [1, 0, 0], [0, 0, 0]]);
    let sum = domain.tensor_domain().combine(&domain.tensor(&a, &b), &domain.tensor(&c, &d));
    assert_eq!(domain.detensor(&sum), matrix([[1, 1, 0], [0, 0, 1], [1, 0, 0]]));
    let cross = domain.extend(&domain.combine(&a, &c), &domain.combine(&b, &d));
    assert_eq!(cross, matrix([[1, 1, 1], [1, 0, 1], [1, 0, 0]]));
}

#[test]
fn the_product_of_two_automata_that_agree_on_no_word_is_empty() {
    // One weight for each of the words a and b: pairing the weights would add cross terms (§6.5.1).
    let domain = RelationDomain::new(4);
    let pair = |a, b| Relation::from_pairs(4, [(a, b)]);
    let word_a = domain.tensor(&pair(0, 1), &pair(2, 3));
    let word_b = domain.tensor(&pair(0, 2), &pair(1, 0));
    let both = domain.tensor_domain().combine(&word_a, &word_b);
    assert!(domain.is_zero(&domain.detensor(&both)));
    let paired =
        domain.extend(&domain.combine(&pair(0, 1), &pair(0, 2)), &domain.combine(&pair(2, 3), &pair(1, 0)));
    assert_eq!(paired, Relation::from_pairs(4, [(0, 0), (0, 3)]));
}

#[test]
#[should_panic(expected = "not a pair")]
fn a_pair_outside_the_set_is_refused() {
    Relation::from_pairs(3, [(0, 3)]);
}
