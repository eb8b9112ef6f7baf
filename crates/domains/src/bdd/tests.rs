//! The domain against explicit relations, its laws, and what happens when there is no room.

use proptest::prelude::*;
use wherefore_pushdown::{
    Adjoint, Merge, Relational, Remembering, Semiring, laws, star_by_difference, star_by_squaring,
};

use super::*;
use crate::{Entry, Locals, Relation, RelationDomain};

/// Variables in most tests: 8 stores.
const N: usize = 3;
const STORES: usize = 1 << N;

fn domain() -> BddRelations {
    BddRelations::with_cache(N, 1 << 16, 1 << 12)
}

/// Variable 0 is the most significant bit, so that globals come first.
fn bits(store: usize, n: usize) -> Store {
    (0..n).map(|i| store >> (n - 1 - i) & 1 == 1).collect()
}

fn symbolic(domain: &BddRelations, relation: &Relation) -> Predicate {
    let n = domain.variable_count();
    relation.pairs().fold(domain.zero(), |all, (a, b)| {
        let (before, after) = (domain.store(&bits(a, n)), domain.primed(&domain.store(&bits(b, n))));
        domain.combine(&all, &domain.and(&before, &after))
    })
}

fn explicit(domain: &BddRelations, w: &Predicate) -> Relation {
    let n = domain.variable_count();
    let image = |a: usize| {
        (0..1 << n).filter(move |b| domain.contains(w, &bits(a, n), &bits(*b, n))).collect::<Vec<_>>()
    };
    Relation::from_fn(1 << n, image)
}

fn relation(stores: usize) -> impl Strategy<Value = Relation> {
    prop::collection::vec((0..stores, 0..stores), 0..2 * stores)
        .prop_map(move |pairs| Relation::from_pairs(stores, pairs))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn laws_hold_on_random_relations(samples in prop::collection::vec(relation(STORES), 3)) {
        let domain = domain();
        let samples: Vec<_> = samples.iter().map(|r| symbolic(&domain, r)).collect();
        laws::semiring(&domain, &samples).unwrap();
        laws::adjoint(&domain, &samples).unwrap();
        laws::relational(&domain, &samples).unwrap();
        laws::remembering(&domain, &samples).unwrap();
        let locals = LocalVariables::new(&domain, &[1, 2]);
        for entry in [Entry::Inherited, Entry::Uninitialised, Entry::Bound(samples[0].clone())] {
            let call = ProjectLocals::new(locals.clone(), entry);
            laws::merge(&domain, &call, &samples).unwrap();
            laws::adjoint_merge(&domain, &call, &samples).unwrap();
        }
    }

    #[test]
    fn every_operation_agrees_with_explicit_relations(
        a in relation(STORES), b in relation(STORES), c in relation(STORES),
    ) {
        let (domain, oracle) = (domain(), RelationDomain::new(STORES));
        let [x, y, z] = [&a, &b, &c].map(|r| symbolic(&domain, r));
        let is = |w: &Predicate, r: &Relation| explicit(&domain, w) == *r;
        prop_assert!(is(&x, &a));
        prop_assert!(is(&domain.one(), &oracle.one()));
        prop_assert!(is(&domain.combine(&x, &y), &oracle.combine(&a, &b)));
        prop_assert!(is(&domain.extend(&x, &y), &oracle.extend(&a, &b)));
        prop_assert!(is(&domain.difference(&x, &y).unwrap(), &oracle.difference(&a, &b).unwrap()));
        prop_assert!(is(&domain.star(&x), &oracle.star(&a)));
        prop_assert!(is(&domain.transpose(&x), &a.transpose()));
        prop_assert!(is(&domain.meet(&x, &y), &oracle.meet(&a, &b)));
        prop_assert!(is(&domain.domain_of(&x), &oracle.domain_of(&a)));
        prop_assert!(is(&domain.range_of(&x), &oracle.range_of(&a)));
        prop_assert!(is(&domain.pull(&x, &z, &y), &oracle.pull(&a, &c, &b)));
        prop_assert!(is(&domain.pull(&domain.one(), &z, &y), &oracle.pull(&oracle.one(), &c, &b)));
        prop_assert!(is(&domain.pull(&x, &z, &domain.one()), &oracle.pull(&a, &c, &oracle.one())));
        prop_assert!(is(&domain.middle(&x, &y, &z), &oracle.middle(&a, &b, &c)));
        prop_assert_eq!(domain.completes(&x, &y), oracle.completes(&a, &b));
        prop_assert_eq!(domain.pair_count(&x), a.len() as f64);
        prop_assert_eq!(domain.store_count(&x), oracle.domain_of(&a).len() as f64);
    }

    #[test]
    fn transitions_compose_like_other_weights(
        changed in prop::collection::vec(0..N, 0..N),
        p in relation(STORES), w in relation(STORES), other in relation(STORES),
    ) {
        let (domain, oracle) = (domain(), RelationDomain::new(STORES));
        let kept: Vec<usize> = (0..N).filter(|i| !changed.contains(i)).collect();
        let same = |a: usize, b: usize| kept.iter().all(|i| bits(a, N)[*i] == bits(b, N)[*i]);
        let p = oracle.combine(&oracle.star(&p), &p.transpose());
        let expected = Relation::from_pairs(STORES, p.pairs().filter(|(a, b)| same(*a, *b)));
        let transition = domain.transition(&changed, &symbolic(&domain, &p));
        prop_assert_eq!(explicit(&domain, &transition), expected.clone());

        let x = symbolic(&domain, &w);
        prop_assert_eq!(explicit(&domain, &domain.extend(&x, &transition)), oracle.extend(&w, &expected));
        prop_assert_eq!(explicit(&domain, &domain.extend(&transition, &x)), oracle.extend(&expected, &w));
        let pulled = domain.pull(&domain.one(), &x, &transition);
        prop_assert_eq!(explicit(&domain, &pulled), oracle.extend(&w, &expected.transpose()));
        let twice = domain.extend(&transition, &transition);
        prop_assert_eq!(explicit(&domain, &twice), oracle.extend(&expected, &expected));

        let y = symbolic(&domain, &other);
        let memory = domain.extend(&domain.extend(&domain.extend(&x, &transition), &domain.remember()), &y);
        let stores = oracle.middle(&oracle.extend(&w, &expected), &other, &oracle.full());
        prop_assert_eq!(explicit(&domain, &domain.remembered(&memory)), stores);
        let memory = domain.extend(&x, &domain.extend(&domain.remember(), &transition));
        let stores = oracle.middle(&w, &expected, &oracle.full());
        prop_assert_eq!(explicit(&domain, &domain.remembered(&memory)), stores);
    }

    #[test]
    fn projection_agrees_with_explicit_relations(w in relation(STORES), enter in relation(STORES)) {
        let (domain, oracle) = (domain(), RelationDomain::new(STORES));
        let x = symbolic(&domain, &w);
        let variables = LocalVariables::new(&domain, &[1, 2]);
        let bound = symbolic(&domain, &enter);
        for (entry, expected) in [
            (Entry::Inherited, Entry::Inherited),
            (Entry::Uninitialised, Entry::Uninitialised),
            (Entry::Bound(bound), Entry::Bound(enter)),
        ] {
            let (call, locals) = (ProjectLocals::new(variables.clone(), entry), Locals::new(4, expected));
            prop_assert_eq!(explicit(&domain, &call.project(&domain, &x)), locals.project(&oracle, &w));
            let merged = call.merge(&domain, &x, &x);
            prop_assert_eq!(explicit(&domain, &merged), locals.merge(&oracle, &w, &w));
            let merged = call.merge(&domain, &domain.one(), &x);
            prop_assert_eq!(explicit(&domain, &merged), locals.project(&oracle, &w));
            let pulled = call.pull_project(&domain, &x);
            prop_assert_eq!(explicit(&domain, &pulled), locals.pull_project(&oracle, &w));
        }
    }

    /// Callers that keep some variables, take some from the callee and lose the others.
    #[test]
    fn keeping_agrees_with_its_definition(
        caller in relation(STORES), w in relation(STORES), enter in relation(STORES),
        kept in 0..STORES, results in 0..STORES,
    ) {
        let (domain, oracle) = (domain(), RelationDomain::new(STORES));
        let results = results & !kept;
        let list = |set: usize| (0..3).filter(|i| set >> (2 - i) & 1 == 1).collect::<Vec<usize>>();
        let variables = LocalVariables::keeping(&domain, &list(!results & (STORES - 1)), &list(kept));
        let entered = oracle.extend(&enter, &w);
        let effect = Relation::from_pairs(STORES, entered.pairs().flat_map(|(a, b)| {
            (0..STORES).filter(move |c| c & kept == a & kept && c & results == b & results).map(move |c| (a, c))
        }));
        let [x, y, z] = [&caller, &w, &enter].map(|r| symbolic(&domain, r));
        let changed: Vec<usize> = (0..3).collect();
        for entry in [z.clone(), domain.transition(&changed, &z)] {
            let call = ProjectLocals::new(variables.clone(), Entry::Bound(entry));
            prop_assert_eq!(explicit(&domain, &call.project(&domain, &y)), effect.clone());
            prop_assert_eq!(explicit(&domain, &call.merge(&domain, &x, &y)), oracle.extend(&caller, &effect));
            prop_assert_eq!(explicit(&domain, &call.merge(&domain, &domain.one(), &y)), effect.clone());
            let meets = |a: &Predicate, b: &Predicate| domain.completes(a, b);
            let pulled = call.pull_project(&domain, &x);
            prop_assert_eq!(meets(&call.project(&domain, &y), &x), meets(&y, &pulled));
        }
    }

    #[test]
    fn a_memory_agrees_with_explicit_relations(before in relation(STORES), after in relation(STORES)) {
        let (domain, oracle) = (domain(), RelationDomain::new(STORES));
        let [x, y] = [&before, &after].map(|r| symbolic(&domain, r));
        let call = ProjectLocals::new(LocalVariables::new(&domain, &[2]), Entry::Inherited);
        let locals = Locals::new(2, Entry::Inherited);

        let around = |w: &Predicate| domain.extend(&call.project(&domain, &domain.extend(&x, w)), &y);
        let memory = domain.map_memory(&domain.remember(), &mut |w| around(w));
        let around = |w: &Relation| oracle.extend(&locals.project(&oracle, &oracle.extend(&before, w)), &after);
        let expected = oracle.map_memory(&oracle.remember(), &mut |w| around(w));
        prop_assert_eq!(explicit(&domain, &domain.remembered(&memory)), oracle.remembered(&expected));

        let mut joined = domain.zero();
        prop_assert_eq!(domain.join_memory(&mut joined, &memory), !domain.is_zero(&memory));
        prop_assert_eq!(&joined, &memory);
        prop_assert!(!domain.join_memory(&mut joined, &memory));
    }

    #[test]
    fn tensors_agree_with_explicit_relations(
        samples in prop::collection::vec(relation(4), 4), factors in 1..4usize,
    ) {
        let domain = BddRelations::with_factors(2, 1 << 16, factors);
        let oracle = RelationDomain::new(4);
        let product = TensorProduct::new(&domain);
        let w: Vec<_> = samples.iter().map(|r| symbolic(&domain, r)).collect();
        let [a, b, c, d] = &w[..] else { unreachable!() };
        let (ab, cd) = (product.tensor(a, b), product.tensor(c, d));
        prop_assert_eq!(explicit(product.domain(), &ab), oracle.tensor(&samples[0], &samples[1]));
        let both = product.domain().extend(&ab, &cd);
        prop_assert_eq!(&both, &product.tensor(&domain.extend(a, c), &domain.extend(b, d)));
        let sum = product.domain().combine(&ab, &cd);
        let expected = oracle.tensor_domain().combine(
            &oracle.tensor(&samples[0], &samples[1]),
            &oracle.tensor(&samples[2], &samples[3]),
        );
        prop_assert_eq!(explicit(&domain, &product.detensor(&sum)), oracle.detensor(&expected));
        let opposed = product.detensor_transposed(&sum);
        prop_assert_eq!(explicit(&domain, &opposed), oracle.detensor_transposed(&expected));
    }

    #[test]
    fn cubes_cover_the_set_and_none_is_superfluous(set in prop::collection::vec(any::<bool>(), STORES)) {
        let domain = domain();
        let oracle = RelationDomain::new(STORES);
        let w = symbolic(&domain, &oracle.partial_identity((0..STORES).filter(|v| set[*v])));
        let cubes = domain.cubes(&w, usize::MAX);
        let union = |skip: usize| {
            let kept = cubes.iter().enumerate().filter(|(i, _)| *i != skip);
            domain.assume(&kept.fold(domain.zero(), |all, (_, c)| domain.combine(&all, &domain.cube(c))))
        };
        prop_assert_eq!(&union(usize::MAX), &w);
        for skip in 0..cubes.len() {
            prop_assert_ne!(union(skip), w.clone());
        }
        for cube in &cubes {
            for i in (0..N).filter(|i| cube[*i].is_some()) {
                let mut wider = cube.clone();
                wider[i] = None;
                let outside = domain.difference(&domain.assume(&domain.cube(&wider)), &w).unwrap();
                prop_assert!(!domain.is_zero(&outside));
            }
        }
        prop_assert_eq!(domain.cubes(&w, 1).len(), cubes.len().min(1));
    }
}

#[test]
fn builders_say_what_statements_do() {
    let domain = domain();
    let (x, y) = (domain.var(0), domain.var(1));
    // x, y := y, x && y
    let assign = domain.assign(&[(0, y.clone()), (1, domain.and(&x, &y))]);
    let expected = Relation::from_fn(STORES, |v| {
        let (x, y) = (v >> 2 & 1, v >> 1 & 1);
        [y << 2 | (x & y) << 1 | v & 1]
    });
    assert_eq!(explicit(&domain, &assign), expected);
    let havoc = Relation::from_fn(STORES, |v| [v & !2, v | 2]);
    assert_eq!(explicit(&domain, &domain.havoc(&[1])), havoc);
    let assume = domain.assume(&domain.xor(&x, &y));
    let expected = Relation::from_fn(STORES, |v| ((v >> 2 ^ v >> 1) & 1 == 1).then_some(v));
    assert_eq!(explicit(&domain, &assume), expected);
    // Two ways to say "x becomes true, the others stay".
    let by_hand = domain.and(&domain.next(0), &domain.identity_on([2, 1]));
    assert_eq!(domain.assign(&[(0, domain.constant(true))]), by_hand);
    assert_eq!(domain.ite(&x, &y, &domain.not(&y)), domain.equiv(&x, &y));
    assert_eq!(domain.exists(&domain.and(&x, &domain.next(0)), &[0]), domain.constant(true));
}

#[test]
fn a_picked_pair_is_in_the_relation() {
    let domain = domain();
    let w = symbolic(&domain, &Relation::from_pairs(STORES, [(5, 2)]));
    assert_eq!(domain.pick_pair(&w), Some((bits(5, N), bits(2, N))));
    assert_eq!(domain.pick_store(&w), Some(bits(5, N)));
    assert_eq!(domain.pick_pair(&domain.zero()), None);
}

#[test]
fn the_star_of_a_chain_of_six_steps_takes_seven_turns_or_four_squarings() {
    let domain = domain();
    let chain = symbolic(&domain, &Relation::from_fn(STORES, |x| (x < 6).then_some(x + 1)));
    let order = Relation::from_fn(STORES, |x| x..if x < 7 { 7 } else { 8 });
    let (star, turns) = star_by_difference(&domain, &chain).unwrap();
    assert_eq!((explicit(&domain, &star), turns), (order, 7));
    assert_eq!(star_by_squaring(&domain, &chain), (star, 4));
}

#[test]
fn tensors_nest() {
    let domain = BddRelations::with_factors(1, 1 << 16, 4);
    let two = TensorProduct::new(&domain);
    let four = TensorProduct::new(two.domain());
    let set = domain.assign(&[(0, domain.constant(true))]);
    let not = domain.assign(&[(0, domain.not(&domain.var(0)))]);
    let tensor = four.tensor(&two.tensor(&set, &not), &two.tensor(&not, &not));
    let paired = four.detensor(&tensor);
    assert_eq!(paired, two.tensor(&domain.extend(&set, &not), &domain.one()));
    assert_eq!(two.detensor(&paired), domain.extend(&set, &not));
}

#[test]
fn the_identity_is_linear_in_the_number_of_variables() {
    let domain = BddRelations::new(200, 1 << 20);
    assert!(domain.one().node_count() <= 3 * 200 + 2);
    assert!(domain.remember().node_count() <= 5 * 200 + 2);
    assert_eq!(domain.store_count(&domain.one()), 2f64.powi(200));
}

/// A relation that has no small diagram: the first half of the store is reversed in the second.
fn palindromes(domain: &BddRelations) -> Predicate {
    let n = domain.variable_count();
    (0..n / 2).fold(domain.constant(true), |all, i| {
        // Pairs that are far apart in the order.
        domain.and(&all, &domain.equiv(&domain.var(i), &domain.var(i + n / 2)))
    })
}

#[test]
fn a_small_capacity_is_reported_and_does_not_panic() {
    for capacity in [1, 8, 50, 100, 300, 1000, 3000] {
        let domain = BddRelations::with_cache(24, capacity, 64);
        let set = palindromes(&domain);
        let w = domain.assume(&set);
        let call = ProjectLocals::new(LocalVariables::new(&domain, &[1, 2]), Entry::Uninitialised);
        call.pull_project(&domain, &call.project(&domain, &domain.extend(&w, &w)));
        domain.remembered(&domain.remember());
        domain.cubes(&w, 10);
        let product = TensorProduct::new(&domain);
        product.detensor(&product.tensor(&w, &w));
        assert!(domain.exhausted(), "capacity {capacity}");
        assert!(domain.is_zero(&domain.combine(&domain.one(), &w)), "capacity {capacity}");
    }
    let domain = BddRelations::new(24, 1 << 20);
    let w = domain.assume(&palindromes(&domain));
    assert!(!domain.exhausted());
    assert_eq!(domain.store_count(&w), 4096.0);
}

#[test]
fn garbage_makes_room() {
    // The nodes made in all rounds together are many times the capacity.
    let domain = BddRelations::with_cache(16, 1 << 13, 1 << 10);
    for round in 0..400usize {
        let store = |v: usize| domain.store(&bits(v.wrapping_mul(40503) % (1 << 16), 16));
        let set = (0..16).fold(domain.zero(), |all, i| domain.combine(&all, &store(16 * round + i)));
        assert_eq!(domain.store_count(&set), 16.0);
    }
    assert!(!domain.exhausted());
    assert!(domain.node_count() <= 1 << 13);
    assert!(domain.memory() > 0);
}

#[test]
fn debugging_shows_some_paths() {
    let domain = domain();
    assert_eq!(format!("{:?}", domain.var(0)), "{ 0 }");
    assert_eq!(format!("{:?}", domain.not(&domain.next(0))), "{ !2 }");
    assert_eq!(format!("{:?}", domain.zero()), "{ }");
}
