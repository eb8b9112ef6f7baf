//! Bounded checking: all runs with a bounded number of turns of each loop, as one formula.
//!
//! Finds shallow failures, and proves programs whose loops end. Bounds grow until a failure is
//! found, nothing lies beyond the bound, or the budget ends.

mod engine;
mod runs;
mod unroll;

use std::time::{Duration, Instant};

use wherefore_program::{ErrorSite, Program};
use wherefore_pushdown::StopReason;
use wherefore_smt::{BitBlaster, Budget as SolverBudget, Model, Outcome, Reason, Solver, Term, Terms};

use crate::budget::Budget;
use crate::symbolic::{Flat, Machine, Store, run};
use crate::verdict::{EngineName, FailingRun};
pub use engine::BoundedChecking;
pub use runs::{Extent, Found, Runs, Wanted, with_runs};
use unroll::{Stop, Unrolled, Unroller};

/// What bounded checking found.
#[derive(Clone, Debug)]
pub enum Bounded {
    /// No run fails: every run ends within the bound.
    Safe {
        /// The bound on the turns of loops.
        bound: usize,
    },
    /// Runs that fail, each at another check.
    Unsafe(Vec<FailingRun>),
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

/// Further failures within a bound are searched for as long as the first one took, and at least
/// this long.
const LEAST_MORE: Duration = Duration::from_millis(300);

/// Terms and the stack that their traversals need.
const STACK_SIZE: usize = 1 << 30;

/// Searches for a failing run, with growing bounds; `tell` hears of each bound within which no run
/// fails.
pub fn check(
    program: &Program,
    targets: &[ErrorSite],
    budget: &Budget,
    tell: &(dyn Fn(usize) + Sync),
) -> Bounded {
    in_deep_thread(|| search(program, targets, budget, tell))
        .unwrap_or(Bounded::Unknown { stop: StopReason::Memory, bound: None })
}

/// Does some work with a deep stack; none if there is no room for it.
pub fn in_deep_thread<R: Send>(work: impl FnOnce() -> R + Send) -> Option<R> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, work).ok()?;
        Some(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

fn search(
    program: &Program,
    targets: &[ErrorSite],
    budget: &Budget,
    tell: &(dyn Fn(usize) + Sync),
) -> Bounded {
    let solver = budget.solver();
    let mut known = None;
    let mut stop = StopReason::Steps;
    // A limit on steps is one on the bound.
    let allowed = |bound: &usize| budget.steps.is_none_or(|most| *bound as u64 <= most);
    for bound in BOUNDS.into_iter().filter(allowed) {
        match attempt(program, targets, bound, &solver) {
            Ok(Attempt::Fails(runs)) => return Bounded::Unsafe(runs),
            Ok(Attempt::Complete) => return Bounded::Safe { bound },
            Ok(Attempt::Beyond) => {
                known = Some(bound);
                tell(bound);
            }
            Err(why) => {
                stop = why;
                break;
            }
        }
    }
    Bounded::Unknown { stop, bound: known }
}

enum Attempt {
    Fails(Vec<FailingRun>),
    /// No run fails, and none goes beyond the bound.
    Complete,
    /// No run fails within the bound.
    Beyond,
}

fn reason(reason: &Reason) -> StopReason {
    match reason {
        Reason::Time => StopReason::Time,
        Reason::Cancelled => StopReason::Cancelled,
        Reason::Conflicts | Reason::Work | Reason::Solver(_) => StopReason::Steps,
    }
}

fn attempt(
    program: &Program,
    targets: &[ErrorSite],
    bound: usize,
    budget: &SolverBudget,
) -> Result<Attempt, StopReason> {
    let mut machine = Machine::unrolling(Flat::new(program, targets));
    let unrolled = Unroller::new(&mut machine, bound, budget).run().map_err(|stop| match stop {
        Stop::TooLarge => StopReason::Memory,
        Stop::Limit(why) => reason(&why),
    })?;
    let Machine { flat, terms, .. } = &mut machine;
    let mut solver = BitBlaster::new();
    let begin = Instant::now();
    let mut runs: Vec<FailingRun> = Vec::new();
    let mut limit = budget.clone();
    loop {
        // The formula is there: other checks that fail within the bound are found with little more.
        let is_open = |visit: usize| {
            let target = flat.errors[&unrolled.visits[visit].place];
            runs.iter().all(|run| run.target != target)
        };
        let open = unrolled.errors.iter().filter(|(visit, _)| is_open(*visit));
        let open: Vec<Term> = open.map(|(_, guard)| *guard).collect();
        let fails = terms.any(&open);
        match solver.check(terms, &[fails], &limit) {
            Outcome::Sat(model) => {
                let (run, _) = read_run(flat, terms, &unrolled, &model, &is_open);
                runs.push(run);
                // Where work is counted, time must not decide what is found.
                if budget.work.is_some() {
                    return Ok(Attempt::Fails(runs));
                }
                let end = Instant::now().checked_add(begin.elapsed().max(LEAST_MORE));
                limit.deadline = limit.deadline.into_iter().chain(end).min();
            }
            Outcome::Unsat(_) if runs.is_empty() => break,
            Outcome::Unknown(why) if runs.is_empty() => return Err(reason(&why)),
            Outcome::Unsat(_) | Outcome::Unknown(_) => return Ok(Attempt::Fails(runs)),
        }
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

/// The run that a model describes, backwards from a visit where it fails; and for each step the
/// condition under which it is taken there.
fn read_run(
    flat: &Flat<'_>,
    terms: &Terms,
    unrolled: &Unrolled,
    model: &Model,
    is_open: &dyn Fn(usize) -> bool,
) -> (FailingRun, Vec<Term>) {
    let holds = |(visit, guard): &&(usize, Term)| is_open(*visit) && terms.holds(*guard, model);
    let (mut at, _) = *unrolled.errors.iter().find(holds).expect("the model makes some guard true");
    let target = flat.errors[&unrolled.visits[at].place];
    let guards: Vec<Term> =
        unrolled.visits.iter().flat_map(|visit| visit.from.iter().map(|(.., guard)| *guard)).collect();
    let values = terms.evaluate_all(&guards, model);
    let mut first_guard = Vec::with_capacity(unrolled.visits.len());
    let mut count = 0;
    for visit in &unrolled.visits {
        first_guard.push(count);
        count += visit.from.len();
    }
    let mut path = Vec::new();
    let mut conditions = Vec::new();
    let mut stores: Vec<&Store> = vec![&unrolled.visits[at].store];
    while at != 0 {
        let visit = &unrolled.visits[at];
        let taken = (0..visit.from.len()).find(|i| values[first_guard[at] + i].bits() == Some(1));
        let (from, edge, guard) = visit.from[taken.expect("a visit that is made comes from somewhere")];
        path.push(edge);
        conditions.push(guard);
        stores.push(&unrolled.visits[from].store);
        at = from;
    }
    path.reverse();
    conditions.reverse();
    stores.reverse();
    let trace = run::trace(flat, terms, model, &path, &stores);
    let path = path.iter().map(|edge| flat.edges[*edge as usize].edge).collect();
    let by = EngineName::Bounded;
    (
        FailingRun {
            trace,
            path,
            target,
            is_shortest: false,
            by,
            replay: None,
            schedule: None,
            left_out: None,
            steps_left_out: 0,
        },
        conditions,
    )
}
