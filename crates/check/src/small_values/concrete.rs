//! A run of the program along a path of its abstraction.

use wherefore_program::{EdgeRef, Operation, Program, Trace, Type};
use wherefore_smt::{BitBlaster, Outcome, Solver};

use crate::budget::Budget;
use crate::symbolic::{Flat, Machine, run};

/// A longer path is not tried.
const LONGEST: usize = 20_000;

/// The run along some edges from the start, if there is one and it is found.
pub fn run_along(program: &Program, path: &[EdgeRef], budget: &Budget) -> Option<Trace> {
    run_that_repeats(program, path, None, budget)
}

/// The run along a path and then along `turn`, if there is one, before and behind which globals and
/// the variables of the frame on top have the same values. That memory is the same is not asked for.
pub fn lasso_along(program: &Program, stem: &[EdgeRef], turn: &[EdgeRef], budget: &Budget) -> Option<Trace> {
    let path: Vec<EdgeRef> = stem.iter().chain(turn).copied().collect();
    run_that_repeats(program, &path, Some(stem.len()), budget)
}

fn run_that_repeats(
    program: &Program,
    path: &[EdgeRef],
    from: Option<usize>,
    budget: &Budget,
) -> Option<Trace> {
    if path.len() > LONGEST {
        return None;
    }
    let mut machine = Machine::new(Flat::new(program, &[]));
    machine.name_prefix("start".to_owned());
    let (store, valid) = machine.start();
    let (mut place, mut stores) = (machine.flat.start, vec![store]);
    let (mut conditions, mut numbers) = (vec![valid], Vec::new());
    let mut places = vec![place];
    for (edge, position) in path.iter().zip(0..) {
        let flat = &mut machine.flat;
        let number = match &program.edge(*edge).operation {
            Operation::Call(_) => flat.open(flat.places[place as usize].frame, *edge),
            _ => {
                let mut out = flat.out[place as usize].iter();
                *out.find(|id| flat.edges[**id as usize].edge == *edge)?
            }
        };
        place = flat.edges[number as usize].to;
        machine.name_prefix(format!("s{position}"));
        let (after, condition) = machine.step(stores.last()?, number);
        stores.push(after);
        places.push(place);
        conditions.push(condition);
        numbers.push(number);
        if budget.stopped().is_some() {
            return None;
        }
    }
    if let Some(from) = from {
        let frame = |at: usize| {
            let frame = &machine.flat.frames[machine.flat.places[places[at] as usize].frame as usize];
            (frame.procedure, frame.first)
        };
        let ((procedure, first), (other, last)) = (frame(from), frame(path.len()));
        if procedure != other {
            return None;
        }
        let globals = program.globals.iter().zip(0..).map(|(variable, i)| (variable, i, i));
        let locals = program.procedure(procedure).variables.iter().zip(0..);
        let locals = locals.map(|(variable, i)| (variable, first + i, last + i));
        for (variable, one, two) in globals.chain(locals) {
            if matches!(variable.ty, Type::Scalar(_)) {
                let same = machine.terms.eq(stores[from].get(one), stores[path.len()].get(two));
                conditions.push(same);
            }
        }
    }
    let Outcome::Sat(model) = BitBlaster::new().check(&mut machine.terms, &conditions, &budget.solver())
    else {
        return None;
    };
    let stores: Vec<_> = stores.iter().collect();
    Some(run::trace(&machine.flat, &machine.terms, &model, &numbers, &stores))
}
