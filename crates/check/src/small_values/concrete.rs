//! A run of the program along a path of its abstraction.

use wherefore_program::{EdgeRef, Operation, Program, Trace};
use wherefore_smt::{BitBlaster, Outcome, Solver};

use crate::budget::Budget;
use crate::symbolic::{Flat, Machine, run};

/// A longer path is not tried.
const LONGEST: usize = 20_000;

/// The run along some edges from the start, if there is one and it is found.
pub(super) fn run_along(program: &Program, path: &[EdgeRef], budget: &Budget) -> Option<Trace> {
    if path.len() > LONGEST {
        return None;
    }
    let mut machine = Machine::new(Flat::new(program, &[]));
    machine.name_prefix("start".to_owned());
    let (store, valid) = machine.start();
    let (mut place, mut stores) = (machine.flat.start, vec![store]);
    let (mut conditions, mut numbers) = (vec![valid], Vec::new());
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
        conditions.push(condition);
        numbers.push(number);
        if budget.stopped().is_some() {
            return None;
        }
    }
    let Outcome::Sat(model) = BitBlaster::new().check(&mut machine.terms, &conditions, &budget.solver())
    else {
        return None;
    };
    let stores: Vec<_> = stores.iter().collect();
    Some(run::trace(&machine.flat, &machine.terms, &model, &numbers, &stores))
}
