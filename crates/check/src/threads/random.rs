//! Random schedules: failing runs of programs whose schedules are too many for the other ways.
//!
//! A run lets one thread go on until it waits or ends, except at a few points drawn beforehand,
//! where another one takes over: most failures need few preemptions, and a run with few of them is
//! found with a probability that does not depend on the size of the data (Burckhardt, Kothari,
//! Musuvathi and Nagarakatte, *A randomized scheduler with probabilistic guarantees of finding
//! bugs*, 2010). Inputs are drawn as in sequential runs. A failing run is made a second time to
//! write down its configurations, and counts only if the interpreter can follow it. Nothing is
//! proved.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use wherefore_program::{
    Interpreter, Node, Operation, Program, Stepped, SwitchPoints, Task, ThreadStep, ThreadTrace, ThreadWalk,
};

use super::{Covered, ScheduleLimits, failing_run};
use crate::budget::Budget;
use crate::random_runs::{Dictionary, Fresh, Player, Random, Tape};
use crate::verdict::{Answer, EngineName, Facts, FailingRun, ThreadFacts, Verdict, Why};

/// A run with more steps is given up.
const MOST_STEPS: usize = 20_000;

/// A thread that comes to so many points without waiting may be spinning: another one takes over.
const PATIENCE: usize = 400;

/// The most preemptions of a run.
const MOST_PREEMPTIONS: u64 = 8;

/// A failing run with fewer switches is searched for at least this long.
const LONGER: Duration = Duration::from_millis(500);

/// Failing runs found by random schedules; none if there are none.
pub(super) fn search(task: &Task, limits: &ScheduleLimits, budget: &Budget) -> Option<Answer> {
    let program = (*task.program).clone().with_unread_values_zero();
    let mut search = Search {
        interpreter: Interpreter::new(&program),
        points: SwitchPoints::visible(&program),
        targets: task.checks.iter().enumerate().map(|(at, check)| (check.node, at)).collect(),
        dictionary: Dictionary::new(&program),
        length: 50,
        most_threads: limits.threads.unwrap_or(usize::MAX),
    };
    let mut best: BTreeMap<usize, FailingRun> = BTreeMap::new();
    let begin = Instant::now();
    let mut until: Option<Instant> = None;
    for seed in 0_u64.. {
        if budget.stopped().is_some() || until.is_some_and(|until| Instant::now() > until) {
            break;
        }
        let draw = (seed, search.length);
        let Some(found) = search.run(draw, None) else { continue };
        let known = best.get(&found.target).and_then(|run| run.schedule.as_ref());
        let is_better = known.is_none_or(|known| found.switches < known.switches);
        // The first thread may be left for nothing: one more context.
        if !is_better || limits.switches.is_some_and(|most| found.switches > most + 1) {
            continue;
        }
        let mut trace = None;
        search.run(draw, Some(&mut trace));
        let Some(trace) = trace else { continue };
        let Some(run) = failing_run(&program, trace, false, (found.target, EngineName::RandomRuns)) else {
            continue;
        };
        let switches = run.schedule.as_ref().map_or(0, |schedule| schedule.switches);
        if limits.switches.is_some_and(|most| switches > most) {
            continue;
        }
        best.insert(found.target, run);
        until.get_or_insert_with(|| Instant::now() + begin.elapsed().max(LONGER));
    }
    if best.is_empty() {
        return None;
    }
    let unknown = || Verdict::Unknown(Why::Switches { covered: Covered::default(), stop: None });
    let verdict =
        |at: usize| best.get(&at).map_or_else(unknown, |run| Verdict::Unsafe(Box::new(run.clone())));
    let verdicts = (0..task.checks.len()).map(verdict).collect();
    let threads = best.values().filter_map(|run| run.schedule.as_ref());
    let threads = threads.map(|schedule| schedule.trace.last().threads.len()).max().unwrap_or(0);
    let threads = Some(ThreadFacts { threads, ..ThreadFacts::default() });
    Some(Answer { verdicts, facts: Facts { by: Some(EngineName::RandomRuns), threads, ..Facts::default() } })
}

struct Search<'a> {
    interpreter: Interpreter<'a>,
    points: SwitchPoints,
    targets: BTreeMap<Node, usize>,
    dictionary: Dictionary,
    /// How many points runs come to.
    length: u64,
    most_threads: usize,
}

/// A run that fails.
struct Failure {
    target: usize,
    switches: usize,
}

impl Search<'_> {
    /// Makes the run of a seed, and writes it down if asked to.
    fn run(
        &mut self,
        (seed, length): (u64, u64),
        mut trace: Option<&mut Option<ThreadTrace>>,
    ) -> Option<Failure> {
        let mut random = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 0x5eed);
        let preemptions: Vec<u64> =
            (0..random.below(MOST_PREEMPTIONS + 1)).map(|_| 1 + random.below(length)).collect();
        let uninitialised = match random.below(4) {
            0 => 0,
            1 => 1,
            2 => random.below(8),
            _ => random.next(),
        };
        let mut tape = Tape { uninitialised, ..Tape::default() };
        let fresh = Fresh::Drawn {
            dictionary: &self.dictionary,
            random: Random(random.next()),
            habits: FxHashMap::default(),
        };
        let program: &Program = self.interpreter.program();
        let mut player = Player::new(program, &mut tape, fresh);
        let mut walk = ThreadWalk::begin(&self.interpreter, &mut player)?;
        if let Some(trace) = trace.as_deref_mut() {
            *trace = Some(ThreadTrace { start: walk.configuration(&self.interpreter), steps: Vec::new() });
        }
        let mut waits = vec![false];
        let (mut point, mut in_context, mut switches) = (0_u64, 0_usize, 0_usize);
        // Where the running atomic section began: it is undone if it cannot be completed.
        let mut section: Option<(ThreadWalk, usize)> = None;
        for _ in 0..MOST_STEPS {
            waits.resize(walk.thread_count(), false);
            if walk.thread_count() > self.most_threads {
                break;
            }
            let here = walk.node();
            if let Some(target) = here.and_then(|node| self.targets.get(&node)) {
                self.length = self.length.max(point).min(20_000);
                return Some(Failure { target: *target, switches });
            }
            let mut leaves = here.is_none() || waits[walk.running()];
            if !walk.is_atomic() && here.is_some_and(|node| self.points.has(node)) {
                point += 1;
                in_context += 1;
                leaves |= preemptions.contains(&point) || in_context > PATIENCE;
            }
            if leaves && !walk.is_atomic() {
                let is_other = |thread: &usize| *thread != walk.running();
                let can_go = |thread: &usize| !walk.has_ended(*thread) && !waits[*thread];
                let others: Vec<usize> = (0..walk.thread_count()).filter(is_other).filter(can_go).collect();
                if !others.is_empty() {
                    walk.switch(&self.interpreter, others[random.index(others.len())]);
                    (in_context, switches) = (0, switches + 1);
                    continue;
                }
                if here.is_none() || waits[walk.running()] {
                    break;
                }
                in_context = 0;
            }
            let begins = here.is_some_and(|node| {
                let mut edges = program.procedure(node.procedure).edges_from(node.location);
                edges.any(|(_, edge)| edge.operation == Operation::AtomicBegin)
            });
            if begins {
                let written =
                    trace.as_ref().and_then(|trace| trace.as_ref()).map_or(0, |trace| trace.steps.len());
                section = Some((walk.clone(), written));
            }
            player.node = here;
            let thread = walk.running();
            match walk.step(&self.interpreter, &mut player) {
                Stepped::Edge(edge) => {
                    if !walk.is_atomic() {
                        section = None;
                        waits.iter_mut().for_each(|waits| *waits = false);
                    }
                    if let Some(Some(trace)) = trace.as_deref_mut() {
                        let state = walk.configuration(&self.interpreter);
                        trace.steps.push(ThreadStep { thread: thread as u32, edge, state });
                    }
                }
                Stepped::Blocked | Stepped::Ended => {
                    if let Some((before, written)) = section.take() {
                        walk = before;
                        if let Some(Some(trace)) = trace.as_deref_mut() {
                            trace.steps.truncate(written);
                        }
                    } else if walk.is_atomic() {
                        break;
                    }
                    waits[thread] = true;
                }
            }
        }
        self.length = self.length.max(point).min(20_000);
        None
    }
}
