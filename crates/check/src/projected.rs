//! The error projection of a C program by all means: a failing run to begin with, refinement, and instrumentation for what it leaves open.
//!
//! Refinement ([`project`]) rules out what no failing run goes through, and says under which conditions the others do; but it may take long to find
//! a run that turns a loop many times, and may find no invariant. Bounded checking is good at the first, and needs no invariant where loops end. So
//! the two take turns under one budget: first the verdict ([`decide_unbounded`]), whose run is a seed; then refinement; then, for what is inside and not
//! confirmed, [`through()`]: for all of it at once, since one "there is none" settles all, and one run may confirm many; at last one by one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use wherefore_program::{ErrorSite, Node, Program};
use wherefore_pushdown::Limits;

use crate::smt_cegar::{Cycle, ProjectOptions, Projected, project};
use crate::through::{Through, through};
use crate::unbounded::{Decided, Engine, Failure, decide_unbounded};
use crate::verdict::Verdict;

/// Computes the error projection, by both engines for C; `progress` is told of each counterexample that refinement examines for it.
///
/// **Ensures:** as [`project`]; `is_checked` holds only if refinement alone has ruled out what is outside.
pub fn project_unbounded(
    program: &Arc<Program>,
    targets: &[ErrorSite],
    limits: &Limits,
    progress: &mut (dyn FnMut(&Cycle) + Send),
) -> Projected {
    let clock = Clock { begin: Instant::now(), limits };
    let decided = decide_unbounded(program, targets, Engine::Auto, &clock.part(2), |_| {});
    if decided.verdict == Verdict::Safe {
        return nothing(decided);
    }
    let seeds = decided.failure.into_iter().collect();
    project_from(program, targets, seeds, &clock.part(1), progress)
}

/// The same for a program that is known to fail, with failing runs to begin with.
///
/// **Ensures:** as [`project_unbounded`].
pub fn project_from(
    program: &Program,
    targets: &[ErrorSite],
    seeds: Vec<Failure>,
    limits: &Limits,
    progress: &mut (dyn FnMut(&Cycle) + Send),
) -> Projected {
    let clock = Clock { begin: Instant::now(), limits };
    let options = ProjectOptions { seeds, ..ProjectOptions::default() };
    let mut found = project(program, targets, &options, &clock.part(3), progress);
    // All that is open at once, until there is no run, or no answer.
    while !found.is_exact() && !clock.is_over() {
        let open = open(&found);
        match through(program, targets, &open, &clock.part(2)) {
            Through::Run(run) if found.confirms(&run) => found.add(run),
            Through::None { .. } => found.exclude(&open),
            Through::Run(_) | Through::Unknown(_) => break,
        }
    }
    let mut left = open(&found);
    while let (Some(node), false) = (left.pop(), clock.is_over()) {
        let share = u32::try_from(left.len() + 1).unwrap_or(u32::MAX);
        match through(program, targets, &[node], &clock.part(share)) {
            Through::Run(run) => found.add(run),
            Through::None { .. } => found.exclude(&[node]),
            Through::Unknown(_) => {}
        }
        left.retain(|node| !found.confirmed.contains_key(node));
    }
    found
}

/// The locations that are inside and not confirmed.
fn open(found: &Projected) -> Vec<Node> {
    found.inside.iter().copied().filter(|node| !found.confirmed.contains_key(node)).collect()
}

/// The projection of a program that cannot fail.
fn nothing(decided: Decided) -> Projected {
    Projected {
        verdict: Verdict::Safe,
        inside: BTreeSet::new(),
        confirmed: BTreeMap::new(),
        runs: Vec::new(),
        stores: BTreeMap::new(),
        tracked: decided.tracked,
        reason: None,
        is_checked: decided.engine == Engine::Refinement,
        cycles: decided.cycles,
    }
}

impl Projected {
    /// Whether a run goes through a location that is inside and not confirmed.
    fn confirms(&self, run: &Failure) -> bool {
        let open = |node: Node| !self.confirmed.contains_key(&node);
        run.trace.states().filter_map(wherefore_program::State::node).any(open)
    }

    /// One more run: what it passes is confirmed.
    fn add(&mut self, run: Failure) {
        let at = self.runs.len();
        for node in run.trace.states().filter_map(wherefore_program::State::node) {
            self.inside.insert(node);
            self.confirmed.entry(node).or_insert(at);
        }
        self.runs.push(run);
        self.judge();
    }

    /// No failing run goes through these locations.
    fn exclude(&mut self, nodes: &[Node]) {
        for node in nodes {
            self.inside.remove(node);
            self.stores.remove(node);
        }
        self.is_checked = false;
        self.judge();
    }

    /// The verdict and the reason again, after a change.
    fn judge(&mut self) {
        if self.confirmed.len() == self.inside.len() {
            self.reason = None;
        }
        if !self.runs.is_empty() {
            self.verdict = Verdict::Unsafe;
        } else if self.inside.is_empty() {
            self.verdict = Verdict::Safe;
        }
    }
}

/// The time that is left.
struct Clock<'l> {
    begin: Instant,
    limits: &'l Limits,
}

impl Clock<'_> {
    fn left(&self) -> Option<Duration> {
        self.limits.time.map(|time| time.saturating_sub(self.begin.elapsed()))
    }

    /// One of so many equal parts of it.
    fn part(&self, of: u32) -> Limits {
        Limits { time: self.left().map(|left| left / of), ..self.limits.clone() }
    }

    fn is_over(&self) -> bool {
        let cancelled = self
            .limits
            .cancel
            .as_ref()
            .is_some_and(|cancel| cancel.load(std::sync::atomic::Ordering::Relaxed));
        cancelled || self.left().is_some_and(|left| left.is_zero())
    }
}
