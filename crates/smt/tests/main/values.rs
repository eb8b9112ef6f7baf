//! Simplification and circuits against an evaluator of syntax trees that shares nothing with
//! either.

use crate::common;

use common::{Shape, Source, Tree, World, bool_tree, brute_force};
use proptest::prelude::*;
use wherefore_smt::{BitBlaster, Budget, Outcome, Solver, Term, Terms, Value};

fn numbers() -> impl Strategy<Value = Vec<u16>> {
    proptest::collection::vec(any::<u16>(), 0..80)
}

fn widths() -> impl Strategy<Value = u32> {
    prop_oneof![8 => 1_u32..=8, 1 => Just(32_u32), 1 => Just(64_u32)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(wherefore_testing::cases(4000)))]

    #[test]
    fn simplification_preserves_values(numbers in numbers(), width in widths(), seeds: [u64; 3], cells: [u64; 4]) {
        let shape = Shape { width, variables: 3, arrays: 1, depth: 5 };
        let cut = |value: u64| value & common::mask(width);
        let world = World { variables: seeds.map(cut).to_vec(), arrays: vec![cells.map(cut)] };
        let mut source = Source { numbers: numbers.iter(), shape };
        for tree in [source.bits(width, 5), source.bool(5)] {
            let mut terms = Terms::new();
            let term = tree.term(&mut terms, shape);
            let model = common::model(&mut terms, shape, &world);
            let expected = tree.value(&world);
            prop_assert_eq!(terms.evaluate(term, &model), Value::Bits(expected), "{}", terms.display(term));
            // Substitution of constants folds to the same value.
            let mut map = rustc_hash::FxHashMap::default();
            for i in 0..3 {
                let variable = common::variable(&mut terms, shape, i);
                map.insert(variable, terms.bits(world.variables[i], width));
            }
            let folded = terms.substitute(term, &map);
            prop_assert_eq!(terms.evaluate(folded, &model), Value::Bits(expected), "{}", terms.display(folded));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(wherefore_testing::cases(1000)))]

    #[test]
    fn circuits_compute_values(numbers in numbers(), width in widths(), seeds: [u64; 3]) {
        let depth = if width > 8 { 2 } else { 4 };
        let shape = Shape { width, variables: 3, arrays: 0, depth };
        let world = World { variables: seeds.iter().map(|seed| seed & common::mask(width)).collect(), arrays: vec![] };
        let tree = Source { numbers: numbers.iter(), shape }.bits(width, depth);
        let mut terms = Terms::new();
        let mut solver = BitBlaster::new();
        let term = tree.term(&mut terms, shape);
        let result = terms.variable("result", wherefore_smt::Sort::Bits(width));
        let same = terms.eq(term, result);
        solver.assert(&mut terms, same);
        let fixed: Vec<Term> = (0..3).map(|i| {
            let variable = common::variable(&mut terms, shape, i);
            let value = terms.bits(world.variables[i], width);
            terms.eq(variable, value)
        }).collect();
        let outcome = solver.check(&mut terms, &fixed, &Budget::default());
        let model = outcome.model().expect("an operation has a result");
        prop_assert_eq!(terms.evaluate(result, model), Value::Bits(tree.value(&world)), "{}", terms.display(term));
    }

    #[test]
    fn satisfiability_equals_brute_force(lists in proptest::collection::vec(numbers(), 1..4), width in 1_u32..=4) {
        let shape = Shape { width, variables: if width == 4 { 2 } else { 3 }, arrays: 0, depth: 4 };
        agrees(&lists, shape)?;
    }

    #[test]
    fn arrays_equal_brute_force(lists in proptest::collection::vec(numbers(), 1..4), width in 1_u32..=2) {
        let arrays = if width == 1 { 2 } else { 1 };
        agrees(&lists, Shape { width, variables: 2, arrays, depth: 4 })?;
    }

    #[test]
    fn levels_come_and_go(steps in proptest::collection::vec((0_u8..5, numbers()), 1..12)) {
        let shape = Shape { width: 2, variables: 2, arrays: 1, depth: 3 };
        let (mut terms, mut solver) = (Terms::new(), BitBlaster::new());
        let mut levels: Vec<Vec<Tree>> = vec![vec![]];
        for (step, numbers) in &steps {
            match step {
                0 => {
                    solver.push();
                    levels.push(vec![]);
                }
                1 => {
                    solver.pop();
                    if levels.len() > 1 {
                        levels.pop();
                    }
                }
                2 | 3 => {
                    let tree = bool_tree(numbers, shape);
                    let term = tree.term(&mut terms, shape);
                    solver.assert(&mut terms, term);
                    levels.last_mut().unwrap().push(tree);
                }
                _ => {
                    let tree = bool_tree(numbers, shape);
                    let term = tree.term(&mut terms, shape);
                    let outcome = solver.check(&mut terms, &[term], &Budget::default());
                    let all: Vec<&Tree> = levels.iter().flatten().chain([&tree]).collect();
                    prop_assert_eq!(outcome.is_sat(), brute_force(&all, shape));
                    prop_assert_eq!(outcome.is_unsat(), !brute_force(&all, shape));
                }
            }
        }
    }
}

/// One solver is asked about all trees, and about each in turn; the answers are those of brute
/// force, models satisfy, and cores are unsatisfiable parts of the assumptions.
fn agrees(lists: &[Vec<u16>], shape: Shape) -> Result<(), TestCaseError> {
    let trees: Vec<Tree> = lists.iter().map(|numbers| bool_tree(numbers, shape)).collect();
    let (mut terms, mut solver) = (Terms::new(), BitBlaster::new());
    let all: Vec<Term> = trees.iter().map(|tree| tree.term(&mut terms, shape)).collect();
    let mut questions: Vec<Vec<usize>> = (0..trees.len()).map(|i| vec![i]).collect();
    questions.push((0..trees.len()).collect());
    questions.push((0..trees.len()).rev().collect());
    for question in questions {
        let assumptions: Vec<Term> = question.iter().map(|i| all[*i]).collect();
        let asked: Vec<&Tree> = question.iter().map(|i| &trees[*i]).collect();
        match solver.check(&mut terms, &assumptions, &Budget::default()) {
            Outcome::Sat(model) => {
                let world = common::world(&mut terms, shape, &model);
                for tree in asked {
                    prop_assert_eq!(tree.value(&world), 1, "{:?}", tree);
                }
            }
            Outcome::Unsat(core) => {
                prop_assert!(core.iter().all(|term| assumptions.contains(term)));
                prop_assert!(!brute_force(&asked, shape), "it is satisfiable");
                let in_core = |i: &&usize| core.contains(&all[**i]);
                let part: Vec<&Tree> = question.iter().filter(in_core).map(|i| &trees[*i]).collect();
                prop_assert!(!brute_force(&part, shape), "the core is satisfiable");
            }
            Outcome::Unknown(reason) => prop_assert!(false, "no limit was set: {reason:?}"),
        }
    }
    Ok(())
}

/// Quotients of products with a constant have clauses of their own: each value of them is still
/// possible, and no other is.
#[test]
fn quotients_of_scaled_numbers() {
    let (width, count) = (4_u32, 16_u64);
    let signed = |value: u64| (value as i64) << 60 >> 60;
    for (factor, is_signed) in (2..8).flat_map(|factor| [(factor, false), (factor, true)]) {
        let mut terms = Terms::new();
        let mut solver = BitBlaster::new();
        let sort = wherefore_smt::Sort::Bits(width);
        let [x, b, q] = ["x", "b", "q"].map(|name| terms.variable(name, sort));
        let number = terms.bits(factor, width);
        let product = terms.mul(x, number);
        let quotient = if is_signed { terms.sdiv(product, b) } else { terms.udiv(product, b) };
        let same = terms.eq(q, quotient);
        solver.assert(&mut terms, same);
        for (x_value, b_value) in (0..count).flat_map(|x| (0..count).map(move |b| (x, b))) {
            let a = x_value * factor % count;
            let expected = match (b_value, is_signed) {
                (0, false) => count - 1,
                (0, true) => {
                    if signed(a) < 0 {
                        1
                    } else {
                        count - 1
                    }
                }
                (_, false) => a / b_value,
                (_, true) => (signed(a) / signed(b_value)) as u64 % count,
            };
            let mut is = |variable, value| {
                let value = terms.bits(value, width);
                terms.eq(variable, value)
            };
            let given = [is(x, x_value), is(b, b_value)];
            let right = is(q, expected);
            let outcome = solver.check(&mut terms, &given, &Budget::default());
            let Outcome::Sat(model) = outcome else {
                panic!("{x_value} * {factor} / {b_value}: {outcome:?}")
            };
            assert!(terms.holds(right, &model), "{x_value} * {factor} / {b_value} is {expected}");
        }
    }
}
