//! Bounded checking: all runs with a bounded number of turns of each loop, as one formula.
//!
//! Finds shallow failures, and proves programs whose loops end. Bounds grow until a failure is found, nothing lies beyond the bound, or
//! the budget ends.

mod unroll;

use std::time::Instant;

use wherefore_program::{ErrorSite, Program, Trace};
use wherefore_pushdown::{Limits, StopReason};
use wherefore_smt::{BitBlaster, Budget, Model, Outcome, Reason, Solver, Terms};

use crate::symbolic::{Flat, Machine, Store, run};
use unroll::{Stop, Unrolled, Unroller};

/// What bounded checking found.
#[derive(Clone, Debug)]
pub enum Bounded {
    /// No run fails: every run ends within the bound.
    Safe {
        /// The bound on the turns of loops.
        bound: usize,
    },
    /// A run that fails, and where (the number of the target).
    Unsafe {
        /// The run.
        trace: Trace,
        /// The edges of the program along it, calls and returns included.
        path: Vec<wherefore_program::EdgeRef>,
        /// The target that it reaches.
        target: usize,
    },
    /// Neither, and how far the search went.
    Unknown {
        /// Why it stopped.
        stop: StopReason,
        /// No run fails within this bound.
        bound: Option<usize>,
    },
}

/// Bounds on the turns of loops, one after the other.
const BOUNDS: [usize; 11] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/// Terms and the stack that their traversals need.
const STACK_SIZE: usize = 1 << 30;

/// Searches for a failing run, with growing bounds.
pub fn check(program: &Program, targets: &[ErrorSite], limits: &Limits) -> Bounded {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_SIZE);
        match thread.spawn_scoped(scope, || search(program, targets, limits)) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => Bounded::Unknown { stop: StopReason::Memory, bound: None },
        }
    })
}

fn search(program: &Program, targets: &[ErrorSite], limits: &Limits) -> Bounded {
    let deadline = limits.time.and_then(|time| Instant::now().checked_add(time));
    let budget = Budget { deadline, conflicts: None, cancel: limits.cancel.clone() };
    let mut known = None;
    let mut stop = StopReason::Steps;
    for bound in BOUNDS {
        match attempt(program, targets, bound, &budget) {
            Ok(Attempt::Fails(answer)) => return answer,
            Ok(Attempt::Complete) => return Bounded::Safe { bound },
            Ok(Attempt::Beyond) => known = Some(bound),
            Err(why) => {
                stop = why;
                break;
            }
        }
    }
    Bounded::Unknown { stop, bound: known }
}

enum Attempt {
    Fails(Bounded),
    /// No run fails, and none goes beyond the bound.
    Complete,
    /// No run fails within the bound.
    Beyond,
}

fn reason(reason: &Reason) -> StopReason {
    match reason {
        Reason::Time => StopReason::Time,
        Reason::Cancelled => StopReason::Cancelled,
        Reason::Conflicts | Reason::Solver(_) => StopReason::Steps,
    }
}

fn attempt(
    program: &Program,
    targets: &[ErrorSite],
    bound: usize,
    budget: &Budget,
) -> Result<Attempt, StopReason> {
    let mut machine = Machine::new(Flat::new(program, targets));
    let unrolled = Unroller::new(&mut machine, bound, budget).run().map_err(|stop| match stop {
        Stop::TooLarge => StopReason::Memory,
        Stop::Limit(why) => reason(&why),
    })?;
    let Machine { flat, terms, .. } = &mut machine;
    let mut solver = BitBlaster::new();
    let errors: Vec<_> = unrolled.errors.iter().map(|(_, guard)| *guard).collect();
    let fails = terms.any(&errors);
    match solver.check(terms, &[fails], budget) {
        Outcome::Sat(model) => {
            return Ok(Attempt::Fails(failing(flat, terms, &unrolled, &model)));
        }
        Outcome::Unsat(_) => {}
        Outcome::Unknown(why) => return Err(reason(&why)),
    }
    let beyond = terms.any(&unrolled.cuts);
    if beyond == Terms::FALSE {
        return Ok(Attempt::Complete);
    }
    match solver.check(terms, &[beyond], budget) {
        Outcome::Unsat(_) => Ok(Attempt::Complete),
        Outcome::Sat(_) | Outcome::Unknown(_) => Ok(Attempt::Beyond),
    }
}

/// The run that a model describes: backwards from a visit where it fails.
fn failing(flat: &Flat<'_>, terms: &Terms, unrolled: &Unrolled, model: &Model) -> Bounded {
    let holds = |(_, guard): &&(usize, wherefore_smt::Term)| terms.holds(*guard, model);
    let (mut at, _) = *unrolled.errors.iter().find(holds).expect("the model makes some guard true");
    let target = flat.errors[&unrolled.visits[at].place];
    let guards: Vec<wherefore_smt::Term> =
        unrolled.visits.iter().flat_map(|visit| visit.from.iter().map(|(.., guard)| *guard)).collect();
    let values = terms.evaluate_all(&guards, model);
    let mut first_guard = Vec::with_capacity(unrolled.visits.len());
    let mut count = 0;
    for visit in &unrolled.visits {
        first_guard.push(count);
        count += visit.from.len();
    }
    let mut path = Vec::new();
    let mut stores: Vec<&Store> = vec![&unrolled.visits[at].store];
    while at != 0 {
        let visit = &unrolled.visits[at];
        let taken = (0..visit.from.len()).find(|i| values[first_guard[at] + i].bits() == Some(1));
        let (from, edge, _) = visit.from[taken.expect("a visit that is made comes from somewhere")];
        path.push(edge);
        stores.push(&unrolled.visits[from].store);
        at = from;
    }
    path.reverse();
    stores.reverse();
    let trace = run::trace(flat, terms, model, &path, &stores);
    let path = path.iter().map(|edge| flat.edges[*edge as usize].edge).collect();
    Bounded::Unsafe { trace, path, target }
}
