//! Laws of affine relations, the program of Fig. 3.5, and random programs run on random values.

use proptest::prelude::*;
use wherefore_pushdown::laws;

use super::*;

fn expression(variables: usize) -> impl Strategy<Value = Affine> {
    prop::collection::vec(-2..3i64, variables + 1)
}

/// A sum of up to three assignments; the empty sum is 0.
fn space(variables: usize) -> impl Strategy<Value = MatrixSpace> {
    prop::collection::vec((0..variables, expression(variables)), 0..4).prop_map(move |assignments| {
        let domain = AffineRelations::new(variables);
        assignments
            .into_iter()
            .fold(domain.zero(), |all, assignment| domain.combine(&all, &domain.assign(&[assignment])))
    })
}

fn evaluate(expression: &[i64], values: &[i64]) -> i64 {
    expression[0] + expression[1..].iter().zip(values).map(|(a, x)| a * x).sum::<i64>()
}

fn int(row: &[BigInt]) -> Vec<i64> {
    row.iter().map(|x| i64::try_from(x).unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn laws_hold_on_random_spaces(samples in prop::collection::vec(space(2), 3)) {
        let domain = AffineRelations::new(2);
        laws::semiring(&domain, &samples).unwrap();
        for entry in [Entry::Inherited, Entry::Uninitialised, Entry::Bound(samples[0].clone())] {
            laws::merge(&domain, &AffineLocals::new(&domain, 1, entry), &samples).unwrap();
        }
    }

    #[test]
    fn relations_found_hold_on_every_run(
        statements in prop::collection::vec((0..3usize, expression(3)), 1..5),
        values in prop::collection::vec(-5..6i64, 3),
    ) {
        let domain = AffineRelations::new(3);
        let (mut w, mut now) = (domain.one(), values);
        for (x, e) in statements {
            now[x] = evaluate(&e, &now);
            w = domain.extend(&w, &domain.assign(&[(x, e)]));
        }
        for relation in domain.relations(&w) {
            let relation = int(&relation);
            prop_assert!(domain.holds(&w, &relation));
            prop_assert_eq!(evaluate(&relation, &now), 0);
        }
    }

    #[test]
    fn no_relation_is_missed(start in prop::collection::vec(prop::collection::vec(-3..4i64, 2), 1..4)) {
        // The paths assign points; the relations are those through all points: 3 − rank of (1, x,
        // y).
        let domain = AffineRelations::new(2);
        let point = |p: &Vec<i64>| domain.assign(&[(0, vec![p[0], 0, 0]), (1, vec![p[1], 0, 0])]);
        let w = start.iter().fold(domain.zero(), |all, p| domain.combine(&all, &point(p)));
        let mut points = Basis::default();
        for p in &start {
            points.insert([1, p[0], p[1]].map(BigInt::from).to_vec());
        }
        prop_assert_eq!(domain.relations(&w).len(), 3 - points.rows.len());
    }

    #[test]
    fn a_basis_does_not_depend_on_the_order(rows in prop::collection::vec(prop::collection::vec(-4..5i64, 4), 1..5)) {
        let basis = |rows: &mut dyn Iterator<Item = &Vec<i64>>| {
            let mut basis = Basis::default();
            rows.for_each(|row| {
                basis.insert(row.iter().copied().map(BigInt::from).collect());
            });
            MatrixSpace::from(basis)
        };
        prop_assert_eq!(basis(&mut rows.iter()), basis(&mut rows.iter().rev()));
    }
}

/// Fig. 3.5: `x1 = ?; x2 = x1 + 1`, then a loop that calls a procedure which adds 2 to both, or
/// does nothing.
#[test]
fn in_the_program_of_figure_3_5_one_relation_survives_the_loop() {
    let domain = AffineRelations::new(2);
    let n2 = domain.havoc(&[0]);
    let before = domain.extend(&n2, &domain.assign(&[(1, vec![1, 1, 0])]));
    let first = domain.assign(&[(0, vec![2, 1, 0])]);
    let both = domain.extend(&first, &domain.assign(&[(1, vec![2, 0, 1])]));
    let call = domain.combine(&both, &domain.one());
    let n3 = domain.extend(&before, &domain.star(&call));
    let n4 = domain.extend(&n3, &call);
    let n6 = domain.extend(&n3, &first);

    assert!(domain.relations(&n2).is_empty());
    assert!(!domain.holds(&n2, &[1, 1, -1]));
    for at in [&n3, &n4] {
        assert_eq!(domain.relations(at).iter().map(|r| int(r)).collect::<Vec<_>>(), [[1, 1, -1]]);
        assert!(domain.holds(at, &[1, 1, -1]));
    }
    for fails in [[0, 1, 0], [0, 1, -1]] {
        assert!(!domain.holds(&n4, &fails));
    }
    assert!(domain.holds(&n6, &[-1, 1, -1]));
    assert_eq!(domain.relations(&n6).len(), 1);
}

#[test]
fn everything_holds_where_nothing_arrives() {
    let domain = AffineRelations::new(2);
    assert_eq!(domain.relations(&domain.zero()).len(), 3);
    assert!(domain.holds(&domain.zero(), &[1, 0, 0]));
}

#[test]
fn statements_are_read_in_the_order_of_execution() {
    // x = 3; y = x makes y = 3; y = x; x = 3 does not.
    let domain = AffineRelations::new(2);
    let (x, y) = (domain.assign(&[(0, vec![3, 0, 0])]), domain.assign(&[(1, vec![0, 1, 0])]));
    assert!(domain.holds(&domain.extend(&x, &y), &[-3, 0, 1]));
    assert!(!domain.holds(&domain.extend(&y, &x), &[-3, 0, 1]));
}

#[test]
fn coefficients_larger_than_a_machine_word_are_exact() {
    let domain = AffineRelations::new(2);
    let square = |w: &MatrixSpace| domain.extend(w, w);
    // x = 3x, 64 times: 3⁶⁴ does not fit into 64 bits; y is the original x.
    let triple = (0..6).fold(domain.assign(&[(0, vec![0, 3, 0])]), |w, _| square(&w));
    let start = domain.assign(&[(1, vec![0, 1, 0])]);
    let relations = domain.relations(&domain.extend(&start, &triple));
    assert_eq!(relations, [vec![BigInt::zero(), BigInt::one(), -BigInt::from(3).pow(64)]]);
}

#[test]
fn locals_bound_to_zero_give_the_printed_projection() {
    // Quadrants II and III are cleared, IV becomes the identity times the top left entry.
    let domain = AffineRelations::new(2);
    let zero = domain.assign(&[(1, vec![0, 0, 0])]);
    let call = AffineLocals::new(&domain, 1, Entry::Bound(zero));
    let w = domain.assign(&[(0, vec![1, 2, 3]), (1, vec![4, 5, 6])]);
    let printed = [1, 1, 0, 0, 2, 0, 0, 0, 1].map(BigInt::from).to_vec();
    assert_eq!(call.project(&domain, &w), domain.span([printed]));
}

#[test]
fn a_parameter_carries_a_local_of_the_caller_into_a_global() {
    // g (0) is global, l (1) is the caller's local and also the place of the parameter: `f(l + 1)`,
    // where f is `g = l`.
    let domain = AffineRelations::new(2);
    let bind = domain.assign(&[(1, vec![1, 0, 1])]);
    let callee = domain.assign(&[(0, vec![0, 0, 1])]);
    let after = AffineLocals::new(&domain, 1, Entry::Bound(bind)).merge(&domain, &domain.one(), &callee);
    assert!(domain.holds(&after, &[1, -1, 1]), "g = l + 1");
    let free = AffineLocals::new(&domain, 1, Entry::Uninitialised).merge(&domain, &domain.one(), &callee);
    assert!(domain.relations(&free).is_empty());
}
