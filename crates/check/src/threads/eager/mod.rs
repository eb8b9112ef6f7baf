//! The eager reduction: schedules with a bounded number of contexts as one sequential program.
//!
//! \[Lal09\] §7.1 to 7.4. The bound is raised until a schedule fails, or a limit is met. For k
//! switches the reduced program is exact, for all depths of recursion, so that the first k with a
//! failure is the fewest. It never proves that no schedule fails: that needs other arguments.
//!
//! 1. `plan.rs`: which threads take part, and how many rounds k switches need.
//! 2. `reduce.rs`, `body.rs`: the program.
//! 3. `back.rs`: from a failing run of it to a schedule.

mod back;
mod body;
mod plan;
mod reduce;

use wherefore_program::{Operation, Program, Task, ThreadStart, thread_starts};
use wherefore_pushdown::StopReason;

use self::plan::{Bound, Plan};
use super::{Covered, ScheduleLimits, failing_run};
use crate::budget::Budget;
use crate::engine::{Progress, Session};
use crate::exact::{CheckOptions, Checker, Decision, Search};
use crate::verdict::{Answer, CheckError, EngineName, Facts, Size, ThreadFacts, Verdict, Why};

/// So many switches are tried unless the question says so.
const MOST_SWITCHES: usize = 6;

/// Whether a program can be reduced.
pub(super) fn takes(program: &Program) -> Result<(), CheckError> {
    if let Some(memory) = program.uses_memory() {
        return Err(CheckError::Memory { variable: memory.name.clone(), at: memory.span });
    }
    if let Some(at) = program.uses_floats() {
        return Err(CheckError::Floats { at });
    }
    let at = program.uses_threads().unwrap_or(program.procedure(program.entry).span);
    let edges = program.procedures.iter().flat_map(|procedure| &procedure.edges);
    let is_odd = |operation: &Operation| {
        matches!(operation, Operation::Sync | Operation::StartThread(ThreadStart::At(_)))
    };
    if edges.into_iter().any(|edge| is_odd(&edge.operation)) || !program.has_small_data() {
        return Err(CheckError::Threads { at });
    }
    Plan::new(program, Bound::Switches(0), None).map(|_| ()).ok_or(CheckError::Threads { at })
}

/// The reduced program for a number of rounds, for people and other tools.
///
/// # Errors
/// Why the program is not reduced.
pub fn sequential(task: &Task, rounds: usize) -> Result<Program, CheckError> {
    takes(&task.program)?;
    let program = (*task.program).clone().with_unread_values_zero();
    let plan = Plan::new(&program, Bound::Rounds(rounds), None);
    let at = program.uses_threads().unwrap_or(program.procedure(program.entry).span);
    let plan = plan.ok_or(CheckError::Threads { at })?;
    Ok(reduce::reduce(&program, &task.checks, &plan).program)
}

/// What is found within one bound.
enum Step {
    Holds,
    Fails(Box<crate::FailingRun>),
    Stopped(StopReason),
    /// The checker says that it fails, but no schedule was found: an error of ours, or a limit.
    NoRun(StopReason),
}

/// Searches schedules with more and more switches, or with a number of rounds.
pub(super) fn search(task: &Task, limits: &ScheduleLimits, (session, budget): (&Session, &Budget)) -> Answer {
    let program = (*task.program).clone().with_unread_values_zero();
    let starts = thread_starts(&program);
    let most = limits.switches.unwrap_or(MOST_SWITCHES);
    let bounds: Vec<Bound> = match limits.rounds {
        Some(rounds) => vec![Bound::Rounds(rounds)],
        None => (0..=most).map(Bound::Switches).collect(),
    };
    let mut covered = Covered::default();
    let mut size = None;
    let mut why = None;
    for bound in bounds {
        if let Bound::Switches(switches) = bound {
            session.tell(&Progress::Switches { below: switches, configurations: 0 });
        }
        let (step, now) = decide(task, &program, bound, limits, budget);
        size = now.or(size);
        match step {
            Step::Holds => match bound {
                Bound::Switches(switches) => covered.switches = Some(switches),
                Bound::Rounds(rounds) => {
                    covered.rounds = Some(rounds);
                    let is_limited = starts.most().is_none();
                    covered.threads = limits.threads.or(Some(5)).filter(|_| is_limited);
                }
            },
            Step::Fails(run) => {
                let mut verdicts = vec![Verdict::Unknown(Why::NotAsked); task.checks.len()];
                let target = run.target;
                verdicts[target] = Verdict::Unsafe(run);
                return answer(verdicts, size, covered, &starts);
            }
            Step::Stopped(stop) => {
                why = Some(Why::Switches { covered, stop: Some(stop) });
                break;
            }
            Step::NoRun(stop) => {
                why = Some(Why::NoRun(stop));
                break;
            }
        }
    }
    let why = why.unwrap_or(Why::Switches { covered, stop: None });
    let verdicts = vec![Verdict::Unknown(why); task.checks.len()];
    answer(verdicts, size, covered, &starts)
}

fn answer(
    verdicts: Vec<Verdict>,
    size: Option<Size>,
    covered: Covered,
    starts: &wherefore_program::Threads,
) -> Answer {
    let threads = starts.most().unwrap_or(covered.switches.map_or(1, |switches| switches + 2));
    let facts = Facts {
        by: Some(EngineName::Eager),
        size,
        threads: Some(ThreadFacts { threads, covered, ..ThreadFacts::default() }),
        ..Facts::default()
    };
    Answer { verdicts, facts }
}

/// Decides all schedules within one bound.
fn decide(
    task: &Task,
    program: &Program,
    bound: Bound,
    limits: &ScheduleLimits,
    budget: &Budget,
) -> (Step, Option<Size>) {
    if let Some(stop) = budget.stopped() {
        return (Step::Stopped(stop), None);
    }
    let Some(plan) = Plan::new(program, bound, limits.threads) else {
        return (Step::Stopped(StopReason::Steps), None);
    };
    let reduced = reduce::reduce(program, &task.checks, &plan);
    let options = CheckOptions { search: Search::Forwards, limits: budget.limits() };
    let Ok(checker) = Checker::new(&reduced.program, &reduced.checks, options) else {
        return (Step::Stopped(StopReason::Memory), None);
    };
    let decision = checker.verdict();
    let (bits, rules) = checker.size();
    let size = Some(Size { bits, rules, diagram_nodes: checker.diagram_nodes() });
    let step = match decision {
        Decision::Safe => Step::Holds,
        Decision::Unknown(stop) => Step::Stopped(stop),
        Decision::Unsafe => match checker.failing_run(None) {
            Ok(Some(run)) => {
                let error = task.checks[run.target].node;
                let by = (run.target, EngineName::Eager);
                let found = back::schedule(program, &reduced, &run.trace, error);
                let switches = found.as_ref().map(|found| found.switches(program));
                let fewest = switches.is_some_and(|switches| Bound::Switches(switches) == bound);
                match found.and_then(|found| failing_run(program, found, fewest, by)) {
                    Some(run) => Step::Fails(Box::new(run)),
                    None => Step::NoRun(StopReason::Complete),
                }
            }
            Ok(None) => Step::NoRun(StopReason::Complete),
            Err(stop) => Step::NoRun(stop),
        },
    };
    (step, size)
}
