//! Explicit search over schedules: a finite set of configurations, searched to its end.
//!
//! Requires nothing of the program but that its data are few: it is complete, and so a proof for
//! every number of switches, only if the whole set was seen ([`ThreadCoverage::Complete`]).

use std::sync::Arc;

use wherefore_program::{SwitchPoints, Task, ThreadCoverage, ThreadLimits, search_schedules, thread_starts};
use wherefore_pushdown::StopReason;

use super::{Covered, ScheduleLimits, failing_run};
use crate::budget::Budget;
use crate::engine::{Progress, Session};
use crate::verdict::{
    Answer, EngineName, Evidence, Facts, Proof, ProofCheck, ProofKind, Reached, ThreadFacts, Verdict, Why,
};

/// How many configurations are looked at in each of the two attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effort {
    /// Few, before other ways are tried.
    Little,
    /// As many as there is time for.
    Much,
}

impl Effort {
    fn configurations(self) -> usize {
        match self {
            Self::Little => 3_000_000,
            Self::Much => 20_000_000,
        }
    }
}

/// How many values of an input are tried.
const VALUES: usize = 8;

/// How many threads are followed unless the question says so.
const THREADS: usize = 8;

/// How many calls may be open.
const FRAMES: usize = 200;

/// What a search found.
pub(super) struct Outcome {
    pub answer: Answer,
    pub covered: Covered,
    pub stop: Option<StopReason>,
}

/// Searches all schedules of a task.
pub(super) fn search(
    task: &Task,
    limits: &ScheduleLimits,
    effort: Effort,
    (session, budget): (&Session, &Budget),
) -> Outcome {
    let program = (*task.program).clone().with_unread_values_zero();
    let starts = thread_starts(&program);
    // If explicit search was asked for, a statement of `.bp` and `.rem` is a step, as it is
    // printed.
    let is_joined = task.is_c() || effort == Effort::Little;
    let points = if is_joined { SwitchPoints::visible(&program) } else { SwitchPoints::All };
    // The models of C know 63 threads beside the first one.
    let known = if task.is_c() { 63 } else { usize::MAX };
    let threads = limits.threads.unwrap_or(starts.most().unwrap_or(0).max(THREADS)).min(known);
    let search = ThreadLimits {
        configurations: effort.configurations(),
        choices: if program.has_small_data() { 1 << 16 } else { VALUES },
        threads,
        frames: FRAMES,
        switches: limits.switches,
        points,
    };
    let mut told = None;
    let mut stop = None;
    let go_on = |switches: usize, configurations: usize| {
        if told != Some(switches) {
            told = Some(switches);
            session.tell(&Progress::Switches { below: switches, configurations });
        }
        stop = budget.stopped();
        stop.is_none()
    };
    let found = search_schedules(&program, &task.checks, &search, go_on);
    let is_complete = found.coverage() == ThreadCoverage::Complete;
    let switches = match found.coverage() {
        ThreadCoverage::Complete => None,
        ThreadCoverage::Switches(most) => most,
    };
    let is_limited = starts.most().is_none_or(|most| most > threads);
    let covered = Covered {
        switches,
        rounds: None,
        threads: is_limited.then(|| found.most_threads()),
        some_values: !program.has_small_data(),
    };
    let by = EngineName::Explicit;
    let evidence = Arc::new(Evidence { by, kind: ProofKind::Saturation, checked: ProofCheck::NotApplicable });
    let verdict = |(target, site): (usize, &wherefore_program::ErrorSite)| {
        if let Some(switches) = found.fewest_switches(site.node) {
            let run = found.failing_run(site.node);
            let fewest = found.covers_below(switches);
            if let Some(run) = run.and_then(|run| failing_run(&program, run, fewest, (target, by))) {
                return Verdict::Unsafe(Box::new(run));
            }
            return Verdict::Unknown(Why::NoRun(StopReason::Complete));
        }
        match is_complete {
            true => Verdict::Safe(Proof { evidence: evidence.clone(), reached: Reached::Unknown }),
            false => Verdict::Unknown(Why::Switches { covered, stop }),
        }
    };
    let verdicts = task.checks.iter().enumerate().map(verdict).collect();
    let saturated = is_complete.then(|| found.saturated_at());
    let facts = Facts {
        by: Some(by),
        threads: Some(ThreadFacts {
            threads: found.most_threads(),
            saturated,
            configurations: Some(found.configuration_count()),
            covered,
        }),
        ..Facts::default()
    };
    Outcome { answer: Answer { verdicts, facts }, covered, stop }
}
