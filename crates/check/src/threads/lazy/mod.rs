//! The lazy sequentialisation, for data that are too large to list: all schedules with a bounded
//! number of switches as a program with a scheduler, for bounded checking.
//!
//! Nothing is guessed: a context goes on with the store that the one before it has left (unlike the
//! eager reduction, \[Lal09\] §7.6 has the reason). Calls are inlined, so that a thread can be
//! resumed in the middle of them; a program counter for each thread says where it stands. For each
//! number of switches, bounded checking decides the program, loops and all, or says that it does
//! not know. A failing run becomes a schedule, state by state, which the interpreter checks.
//!
//! It never proves that no schedule fails.

mod back;
mod inline;

use wherefore_program::Task;
use wherefore_pushdown::StopReason;

use super::{Covered, ScheduleLimits, failing_run};
use crate::bounded::{self, Bounded};
use crate::budget::Budget;
use crate::engine::{Progress, Session};
use crate::verdict::{Answer, EngineName, Facts, ThreadFacts, Verdict, Why};

/// So many switches are tried unless the question says so.
const MOST_SWITCHES: usize = 6;

/// Searches schedules with more and more switches; none if the program cannot be sequentialised.
pub(super) fn search(
    task: &Task,
    limits: &ScheduleLimits,
    (session, budget): (&Session, &Budget),
) -> Option<Answer> {
    let program = (*task.program).clone().with_dead_locals_zero();
    let mut covered = Covered::default();
    let mut stop = None;
    let mut threads = 0;
    for switches in 0..=limits.switches.unwrap_or(MOST_SWITCHES) {
        session.tell(&Progress::Switches { below: switches, configurations: 0 });
        let inlined = inline::inline(&program, &task.checks, switches)?;
        threads = inlined.threads.len();
        match bounded::check(&inlined.program, &inlined.checks, budget, &|_| {}) {
            Bounded::Safe { .. } => covered.switches = Some(switches),
            Bounded::Unsafe(runs) => {
                let found = runs.iter().find_map(|run| Some((run, inlined.targets[run.target]?)));
                let Some((run, target)) = found else {
                    stop = Some(StopReason::Steps);
                    break;
                };
                let trace = back::schedule(&program, &inlined, &run.trace);
                let fewest = switches == 0 || covered.switches == Some(switches - 1);
                let by = (target, EngineName::Lazy);
                let found = trace.and_then(|trace| failing_run(&program, trace, fewest, by));
                let verdict = match found {
                    Some(run) => Verdict::Unsafe(Box::new(run)),
                    None => Verdict::Unknown(Why::NoRun(StopReason::Complete)),
                };
                let mut verdicts = vec![Verdict::Unknown(Why::NotAsked); task.checks.len()];
                verdicts[target] = verdict;
                return Some(answer(verdicts, threads, covered));
            }
            Bounded::Unknown { stop: why, .. } => {
                stop = Some(why);
                break;
            }
        }
    }
    let verdicts = vec![Verdict::Unknown(Why::Switches { covered, stop }); task.checks.len()];
    Some(answer(verdicts, threads, covered))
}

fn answer(verdicts: Vec<Verdict>, threads: usize, covered: Covered) -> Answer {
    let threads = Some(ThreadFacts { threads, saturated: None, covered });
    Answer { verdicts, facts: Facts { by: Some(EngineName::Lazy), threads, ..Facts::default() } }
}
