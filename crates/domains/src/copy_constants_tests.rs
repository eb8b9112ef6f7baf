//! Laws of copy-constant propagation, and the paper's two programs by hand.

use proptest::prelude::*;
use wherefore_pushdown::laws;

use super::*;

const VARIABLES: usize = 3;
const Y: usize = 0;
const A: usize = 1;
const B: usize = 2;

fn source() -> impl Strategy<Value = Source> {
    prop_oneof![
        3 => (0..VARIABLES).prop_map(Source::variable),
        2 => (0..3i64).prop_map(Source::constant),
        1 => (0..VARIABLES, 0..3i64).prop_map(|(v, c)| Source::variable(v).join(&Source::constant(c))),
        1 => Just(Source::Top),
    ]
}

fn transformer() -> impl Strategy<Value = Transformer> {
    prop_oneof![
        8 => prop::collection::vec(source(), VARIABLES).prop_map(|all| Transformer(Some(all.into()))),
        1 => Just(Transformer(None)),
    ]
}

fn environment() -> impl Strategy<Value = Vec<Constant>> {
    prop::collection::vec(prop_oneof![Just(Constant::Top), (0..4i64).prop_map(Constant::Known)], VARIABLES)
}

fn join(a: Option<Vec<Constant>>, b: Option<Vec<Constant>>) -> Option<Vec<Constant>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.into_iter().zip(b).map(|(a, b)| a.join(b)).collect()),
        (a, b) => a.or(b),
    }
}

proptest! {
    #[test]
    fn laws_hold_on_random_transformers(samples in prop::collection::vec(transformer(), 4)) {
        let domain = CopyConstants::new(VARIABLES);
        laws::semiring(&domain, &samples).unwrap();
        laws::adjoint(&domain, &samples).unwrap();
        for entry in [Entry::Inherited, Entry::Uninitialised, Entry::Bound(samples[0].clone())] {
            for take in [&[Y, B][..], &[Y]] {
                let call = CopyLocals::new(&domain, &[A], take, entry.clone());
                laws::merge(&domain, &call, &samples).unwrap();
                laws::adjoint_merge(&domain, &call, &samples).unwrap();
            }
        }
    }

    #[test]
    fn operations_are_those_of_functions(a in transformer(), b in transformer(), e in environment()) {
        let domain = CopyConstants::new(VARIABLES);
        prop_assert_eq!(domain.combine(&a, &b).apply(&e), join(a.apply(&e), b.apply(&e)));
        prop_assert_eq!(domain.extend(&a, &b).apply(&e), a.apply(&e).and_then(|e| b.apply(&e)));
    }

    #[test]
    fn different_normal_forms_are_different_functions(a in transformer(), b in transformer()) {
        let values = [Constant::Top, Constant::Known(0), Constant::Known(1), Constant::Known(2), Constant::Known(3)];
        let mut environments = vec![vec![]];
        for _ in 0..VARIABLES {
            let extended = environments.iter().flat_map(|e: &Vec<_>| values.map(|v| [&e[..], &[v]].concat()));
            environments = extended.collect();
        }
        prop_assert_eq!(a == b, environments.iter().all(|e| a.apply(e) == b.apply(e)));
    }
}

fn constant(value: i64) -> Source {
    Source::constant(value)
}

fn known(value: i64) -> Constant {
    Constant::Known(value)
}

/// Fig. 2.1: `f` sets `b = a` and then `y` to 2 or to `b`.
#[test]
fn the_callee_of_figure_2_1_is_called_with_5_and_with_2() {
    let d = CopyConstants::new(VARIABLES);
    let f = d.extend(
        &d.assign([(B, Source::variable(A))]),
        &d.combine(&d.assign([(Y, constant(2))]), &d.assign([(Y, Source::variable(B))])),
    );
    let n3 = d.extend(&d.assign([(A, constant(5))]), &d.assign([(Y, constant(1))]));
    let n4 = d.extend(&n3, &f);
    let n8 = d.extend(&d.extend(&n4, &d.assign([(A, constant(2))])), &f);
    let start = [Constant::Top; VARIABLES];
    assert_eq!(n4.apply(&start).unwrap(), [Constant::Top, known(5), known(5)]);
    assert_eq!(n8.apply(&start).unwrap(), [known(2); VARIABLES]);
    assert_eq!(d.combine(&n4, &n8).apply(&start).unwrap(), start);
}

/// Fig. 3.1: `a` is local to the caller, `b` is the parameter of `f`.
#[test]
fn the_caller_of_figure_3_1_keeps_its_local_variable() {
    let d = CopyConstants::new(VARIABLES);
    let bind = d.assign([(A, Source::Top), (B, Source::variable(A))]);
    let call = CopyLocals::new(&d, &[A], &[Y], Entry::Bound(bind.clone()));
    let two = d.assign([(Y, constant(2))]);
    let f = d.combine(&two, &d.assign([(Y, Source::variable(B))]));
    let n3 = d.assign([(A, constant(5)), (Y, constant(1))]);
    let start = [Constant::Top; VARIABLES];

    // Example 3.2.2: inside f, and after the return.
    let inside = d.extend(&d.extend(&n3, &bind), &two);
    assert_eq!(inside, d.assign([(A, Source::Top), (Y, constant(2)), (B, constant(5))]));
    assert_eq!(call.merge(&d, &n3, &two), d.assign([(A, constant(5)), (Y, constant(2))]));

    let n4 = call.merge(&d, &n3, &f);
    assert_eq!(n4.apply(&start).unwrap(), [Constant::Top, known(5), Constant::Top]);
    let n7 = d.extend(&n4, &d.assign([(A, constant(2))]));
    let n8 = call.merge(&d, &n7, &f);
    assert_eq!(n8.apply(&start).unwrap(), [known(2), known(2), Constant::Top]);

    // Without the binding, as printed, the call at n7 loses that b is 2.
    let printed = CopyLocals::new(&d, &[A], &[Y], Entry::Inherited);
    let n8 = printed.merge(&d, &n7, &f);
    assert_eq!(n8.apply(&start).unwrap(), [Constant::Top, known(2), Constant::Top]);
    assert!(!printed.path_extension());
}

#[test]
#[should_panic(expected = "both kept and taken")]
fn a_variable_cannot_be_kept_and_taken() {
    CopyLocals::new(&CopyConstants::new(2), &[0], &[0], Entry::Inherited);
}
