//! Repairs of a failing schedule: small changes of the program after which no schedule fails.
//!
//! Four kinds are tried, the smallest changes first: lines as one atomic step, a lock that is held
//! longer, two neighbouring statements exchanged, `while` instead of `if`. A change is a repair only
//! if the engines find no failing schedule afterwards ([`Extent`] says of which), if no schedule is
//! stuck that was not stuck before, if all threads can still come to their ends, from every
//! configuration if that was so before, and if every statement that was executed before still is.
//! `while` takes the place of an `if` only around something that waits. Whether a change is what the
//! programmer meant is not asked.
//!
//! Decision 0029 says why the control-flow automata are changed, not the text.

mod candidates;
mod edits;
mod segments;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use wherefore_program::{
    ErrorKind, ErrorSite, LocationKind, Node, ProcedureId, Program, SwitchPoints, Task, Thread,
    ThreadCoverage, ThreadLimits, can_always_end, explore_threads,
};

use super::{Schedule, ScheduleLimits, ScheduleSearch, Way};
use crate::budget::Budget;
use crate::engine::{Engine, Session};
use crate::verdict::{Verdict, Why};
use candidates::Candidate;

/// A change of the program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// `while` instead of `if` at a line.
    Again(u32),
    /// A lock is taken earlier: the line where it is taken, and the one in front of which it is to
    /// be.
    LockEarlier(u32, u32),
    /// A lock is given back later: the line where it is given back, and the one behind which it is
    /// to be.
    UnlockLater(u32, u32),
    /// The statements of two neighbouring lines in the other order.
    Exchange(u32, u32),
    /// The lines from one to another as one step.
    Atomic(u32, u32),
}

/// Which schedules do not fail any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All.
    Every,
    /// Those with at most so many context switches; others were not all searched.
    Switches(usize),
}

/// A change after which no schedule fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// The procedure that is changed.
    pub procedure: ProcedureId,
    /// The change.
    pub change: Change,
    /// Which schedules were searched.
    pub extent: Extent,
}

/// Repairs of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repairs {
    /// Those that were found, the smallest first.
    pub found: Vec<Repair>,
    /// How many changes were tried.
    pub tried: usize,
    /// Whether all changes of the four kinds were tried that are near the switches.
    pub is_complete: bool,
}

/// So many repairs are enough.
const ENOUGH: usize = 3;

/// How long one change is looked at.
const ONE: Duration = Duration::from_secs(3);

/// How many configurations are looked at to see that threads come to their ends.
const CONFIGURATIONS: usize = 60_000;

impl Change {
    /// The change in words: "lines 16 to 18 of adder as one step".
    pub fn words(&self, procedure: &str) -> String {
        match self {
            Self::Again(line) => format!("`while` instead of `if` at line {line} of {procedure}"),
            Self::LockEarlier(line, to) => {
                format!("the lock of line {line} of {procedure} taken before line {to}")
            }
            Self::UnlockLater(line, to) => {
                format!("the lock given back at line {line} of {procedure} held until after line {to}")
            }
            Self::Exchange(a, b) => format!("lines {a} and {b} of {procedure} exchanged"),
            Self::Atomic(a, b) if a == b => format!("line {a} of {procedure} as one step"),
            Self::Atomic(a, b) => format!("lines {a} to {b} of {procedure} as one step"),
        }
    }
}

impl Extent {
    /// "for every number of switches".
    pub fn words(self) -> String {
        match self {
            Self::Every => "for every number of switches".to_owned(),
            Self::Switches(1) => "within 1 switch".to_owned(),
            Self::Switches(n) => format!("within {n} switches"),
        }
    }
}

/// Searches repairs of a program with a failing schedule.
pub fn repairs(task: &Task, schedule: &Schedule, (session, budget): (&Session, &Budget)) -> Repairs {
    let mut repairs = Repairs { is_complete: true, ..Repairs::default() };
    // Races, deadlocks and rules of locks are questions about the steps that would be changed.
    let is_rule = |site: &ErrorSite| matches!(site.kind, ErrorKind::Violation(_));
    if task.checks.iter().any(is_rule) {
        return Repairs { is_complete: false, ..repairs };
    }
    let before = ends(&task.program, &task.checks, budget);
    for Candidate { procedure, change, program } in candidates::near(task, schedule) {
        if repairs.found.len() >= ENOUGH {
            break;
        }
        // A part of a change that is a repair is one already.
        if repairs.found.iter().any(|known| known.procedure == procedure && known.change.is_part_of(&change))
        {
            continue;
        }
        if budget.stopped().is_some() {
            repairs.is_complete = false;
            break;
        }
        repairs.tried += 1;
        if let Some(extent) =
            holds(task, (&change, program), schedule, &before, (session, &budget.within(ONE)))
        {
            repairs.found.push(Repair { procedure, change, extent });
        }
    }
    repairs
}

/// The program with a repair.
pub fn repaired(task: &Task, schedule: &Schedule, repair: &Repair) -> Option<Program> {
    let mut candidates = candidates::near(task, schedule).into_iter();
    let is_it = |other: &Candidate| (other.procedure, &other.change) == (repair.procedure, &repair.change);
    candidates.find(is_it).map(|found| found.program)
}

impl Change {
    /// Whether the change is contained in another one.
    fn is_part_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Atomic(a, b), Self::Atomic(c, d)) => c <= a && b <= d,
            (Self::LockEarlier(a, b), Self::LockEarlier(c, d)) => a == c && d <= b,
            (Self::UnlockLater(a, b), Self::UnlockLater(c, d)) => a == c && b <= d,
            _ => self == other,
        }
    }
}

/// How the schedules of a program end, as far as a short search sees.
struct Ends {
    /// All threads come to their ends on some schedule.
    all_end: bool,
    /// They can do so from every configuration; none if this is not known.
    always: Option<bool>,
    /// Some schedule is stuck.
    is_stuck: bool,
    /// Some schedule fails.
    fails: bool,
    /// Where threads come to.
    nodes: BTreeSet<Node>,
    is_complete: bool,
}

fn ends(program: &Program, checks: &[ErrorSite], budget: &Budget) -> Ends {
    let limits = ThreadLimits {
        configurations: CONFIGURATIONS,
        choices: if program.has_small_data() { 1 << 16 } else { 4 },
        points: SwitchPoints::visible(program),
        ..ThreadLimits::default()
    };
    let found = explore_threads(program, checks, &limits, |_, _| budget.stopped().is_none());
    let is_complete = found.coverage() == ThreadCoverage::Complete;
    let always = match is_complete {
        true => can_always_end(program, checks, &limits, || budget.stopped().is_none()),
        false => None,
    };
    let threads = || found.configurations().flat_map(|(state, _)| &state.threads);
    let is_plain = |node: &Node| program.location(*node).kind != LocationKind::Error;
    Ends {
        all_end: found.configurations().any(|(state, _)| state.threads.iter().all(Thread::has_ended)),
        always,
        is_stuck: found.fewest_switches_to_deadlock().is_some(),
        fails: checks.iter().any(|site| found.fewest_switches(site.node).is_some()),
        nodes: threads().filter_map(Thread::node).filter(is_plain).collect(),
        is_complete,
    }
}

impl Ends {
    /// Whether a changed program ends worse than this one.
    fn is_spoilt(&self, after: &Ends, change: &Change) -> bool {
        // A thread that waits again may wait for ever where it failed before.
        let waits = matches!(change, Change::Again(_));
        let runs_on = !waits && self.always == Some(true) && after.always != Some(true);
        // A step that is joined to others is no place of its own any more.
        let is_lost =
            after.is_complete && !matches!(change, Change::Atomic(..)) && !self.nodes.is_subset(&after.nodes);
        after.is_stuck && !self.is_stuck || self.all_end && !after.all_end || runs_on || is_lost
    }
}

/// Whether a changed program holds: of which schedules that is known.
fn holds(
    task: &Task,
    (change, program): (&Change, Program),
    schedule: &Schedule,
    before: &Ends,
    (session, budget): (&Session, &Budget),
) -> Option<Extent> {
    let program = program.with_unread_values_zero();
    let after = ends(&program, &task.checks, &budget.share(2));
    if after.fails || before.is_spoilt(&after, change) {
        return None;
    }
    // What is not modelled must not be reached either.
    let sites: BTreeSet<_> = task.checks.iter().map(|site| site.node).collect();
    let others = task.unsupported.iter().filter(|place| !sites.contains(&place.node));
    let others = others.map(|place| ErrorSite { node: place.node, kind: ErrorKind::Assertion });
    let checks: Vec<ErrorSite> = task.checks.iter().cloned().chain(others).collect();
    if after.is_complete && checks.len() == task.checks.len() {
        return Some(Extent::Every);
    }
    let changed = Task { program: Arc::new(program), checks, ..task.clone() };
    let search = ScheduleSearch { limits: ScheduleLimits::default(), way: Way::Auto };
    search.takes(&changed).ok()?;
    let answer = search.decide(&changed, session, budget);
    let mut extent = Extent::Every;
    for verdict in &answer.verdicts {
        match verdict {
            Verdict::Safe(_) => {}
            Verdict::Unknown(Why::Switches { covered, .. }) if !covered.some_values => {
                let known = covered.switches.filter(|known| *known >= schedule.switches)?;
                extent = match extent {
                    Extent::Switches(least) => Extent::Switches(least.min(known)),
                    Extent::Every => Extent::Switches(known),
                };
            }
            Verdict::Unsafe(_) | Verdict::Unknown(_) => return None,
        }
    }
    Some(extent)
}
