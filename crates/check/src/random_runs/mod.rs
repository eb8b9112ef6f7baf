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

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use wherefore_program::{ErrorSite, Node, Program, Task, Trace};

use crate::budget::Budget;
use crate::engine::{Engine, Session, without_threads};
use crate::verdict::{Answer, Cause, CheckError, EngineName, Facts, FailingRun, Stopped, Verdict, Why};
use search::{End, Kept, Search};
pub(crate) use tape::{Fresh, Player, Tape};
pub(crate) use values::{Dictionary, Random};

/// Runs with random inputs.
#[derive(Default)]
pub struct RandomRuns {
    /// What was learnt, about which program, and how long that took.
    state: Mutex<Option<Learnt>>,
}

struct Learnt {
    program: Arc<Program>,
    kept: Kept,
    /// Failing runs, by where they fail; also those that were not asked about.
    found: BTreeMap<Node, Trace>,
    spent: Duration,
}

/// Other engines decide many programs at once, and find the shortest runs: they come first.
const DELAY: Duration = Duration::from_millis(300);

/// How long runs are made if time is not limited; else for a part of it.
const MOST_TIME: Duration = Duration::from_secs(10);
const PART_OF_TIME: u32 = 4;

/// After the first failing run there are as many runs again, and so many more, for other checks.
const MORE_RUNS: usize = 500;

/// What was found is looked at after so many runs.
const RUNS_AT_ONCE: usize = 16;

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
                Learnt { program, kept, found: BTreeMap::new(), spent: Duration::ZERO }
            }
        };
        let learnt = state.insert(learnt);
        let begin = Instant::now();
        let runs = failing(task, learnt, budget);
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

/// Failing runs of the checks of a task, one a check.
fn failing(task: &Task, learnt: &mut Learnt, budget: &Budget) -> Vec<FailingRun> {
    let mut search = Search::new(&task.program, &task.checks);
    let mut most_runs = usize::MAX;
    let spent = learnt.spent;
    let limited = match &budget.work {
        Some(work) => budget.spending(work.left() / PART_OF_WORK),
        None => {
            let most = budget.left().map_or(MOST_TIME, |left| MOST_TIME.min((left + spent) / PART_OF_TIME));
            budget.within(most.saturating_sub(spent))
        }
    };
    let first = learnt.kept.runs;
    loop {
        let found = |node| learnt.found.get(&node);
        let count = task.checks.iter().filter(|check| found(check.node).is_some()).count();
        if count > 0 {
            most_runs = most_runs.min(learnt.kept.runs + (learnt.kept.runs - first) + MORE_RUNS);
        }
        if count == task.checks.len() || learnt.kept.runs >= most_runs || limited.stopped().is_some() {
            let runs = task.checks.iter().enumerate();
            let run = |(at, check): (usize, &ErrorSite)| {
                Some(FailingRun::of_trace(found(check.node)?.clone(), at, EngineName::RandomRuns))
            };
            return runs.filter_map(run).collect();
        }
        for _ in 0..RUNS_AT_ONCE {
            if limited.stopped().is_some() {
                break;
            }
            let (tape, made) = search.attempt(&mut learnt.kept);
            limited.spend(made.steps as u64 / STEPS_OF_WORK + 1);
            let End::Fails(node) = made.end else { continue };
            if learnt.found.contains_key(&node) {
                continue;
            }
            let tape = shrink::shrink(&mut search, tape, made);
            let trace = search.trace(&tape).filter(|trace| task.program.replay(trace).is_ok());
            if let Some(trace) = trace {
                learnt.found.insert(node, trace);
                break;
            }
        }
    }
}
