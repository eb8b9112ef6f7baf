//! Random runs: many runs with inputs that are likely to matter, made by the interpreter.
//!
//! Failures of reactive programs (a loop around commands from outside) lie many iterations deep,
//! where the formula of bounded checking is large, but few of their choices matter: a random walk
//! gets there in milliseconds. Values come from the constants of the program, each run sticks to
//! few of them (`values.rs`, swarm testing: Groce et al., ISSTA 2012), and runs that come to new
//! places are varied (`search.rs`). A failing run is shortened (`shrink.rs`, delta debugging:
//! Zeller and Hildebrandt, TSE 2002) and replayed like that of any other engine. Nothing is proved
//! here.

mod search;
mod shrink;
mod tape;
mod values;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use wherefore_program::{Program, Task};

use crate::budget::Budget;
use crate::engine::{Engine, Session, without_threads};
use crate::verdict::{Answer, Cause, CheckError, EngineName, Facts, FailingRun, Stopped, Verdict, Why};
use search::{End, Kept, Search};

/// Runs with random inputs.
#[derive(Default)]
pub struct RandomRuns {
    /// What was learnt, about which program, and how long that took.
    state: Mutex<Option<Learnt>>,
}

struct Learnt {
    program: Arc<Program>,
    kept: Kept,
    spent: Duration,
}

/// Other engines decide many programs at once, and find the shortest runs: they come first.
const DELAY: Duration = Duration::from_millis(300);

/// How long runs are made if time is not limited; else for a part of it.
const MOST_TIME: Duration = Duration::from_secs(10);
const PART_OF_TIME: u32 = 4;

/// After the first failing run there are as many runs again, and so many more, for other checks.
const MORE_RUNS: usize = 500;

/// Where work is counted, a run counts one for so many steps, and only a part of all is spent.
const STEPS_OF_WORK: u64 = 16;
const PART_OF_WORK: u64 = 8;

impl Engine for RandomRuns {
    fn name(&self) -> EngineName {
        EngineName::RandomRuns
    }

    fn takes(&self, task: &Task) -> Result<(), CheckError> {
        without_threads(&task.program)
    }

    fn decide(&self, task: &Task, _: &Session, budget: &Budget) -> Answer {
        if budget.work.is_none() {
            let begin = Instant::now();
            while begin.elapsed() < DELAY && budget.stopped().is_none() {
                std::thread::sleep(DELAY / 20);
            }
        }
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let learnt = match state.take() {
            Some(learnt) if Arc::ptr_eq(&learnt.program, &task.program) => learnt,
            _ => {
                let (program, kept) = (task.program.clone(), Kept::new(&task.program));
                Learnt { program, kept, spent: Duration::ZERO }
            }
        };
        let learnt = state.insert(learnt);
        let begin = Instant::now();
        let runs = failing(task, &mut learnt.kept, learnt.spent, budget);
        learnt.spent += begin.elapsed();
        let facts = Facts { by: Some(self.name()), ..Facts::default() };
        let why = if runs.is_empty() {
            let cause = Cause::NoFailure { runs: learnt.kept.runs };
            Why::Undecided(vec![Stopped { engine: self.name(), cause, bound: None, excluded: 0 }])
        } else {
            Why::NotAsked
        };
        let mut answer = Answer { verdicts: vec![Verdict::Unknown(why); task.checks.len()], facts };
        for run in runs {
            let target = run.target;
            answer.verdicts[target] = Verdict::Unsafe(Box::new(run));
        }
        answer
    }
}

/// Failing runs, one a check.
fn failing(task: &Task, kept: &mut Kept, spent: Duration, budget: &Budget) -> Vec<FailingRun> {
    let mut search = Search::new(&task.program, &task.checks);
    let mut found: Vec<FailingRun> = Vec::new();
    let mut most_runs = usize::MAX;
    let limited = match &budget.work {
        Some(work) => budget.spending(work.left() / PART_OF_WORK),
        None => {
            let most = budget.left().map_or(MOST_TIME, |left| MOST_TIME.min((left + spent) / PART_OF_TIME));
            budget.within(most.saturating_sub(spent))
        }
    };
    let first = kept.runs;
    while limited.stopped().is_none() && kept.runs < most_runs && found.len() < task.checks.len() {
        let (tape, made) = search.attempt(kept);
        limited.spend(made.steps as u64 / STEPS_OF_WORK + 1);
        let End::Fails(target) = made.end else { continue };
        if found.iter().any(|run| run.target == target) {
            continue;
        }
        let tape = shrink::shrink(&mut search, tape, made);
        let trace = search.trace(&tape).filter(|trace| task.program.replay(trace).is_ok());
        if let Some(trace) = trace {
            found.push(FailingRun::of_trace(trace, target, EngineName::RandomRuns));
            most_runs = most_runs.min(kept.runs + (kept.runs - first) + MORE_RUNS);
        }
    }
    found
}
