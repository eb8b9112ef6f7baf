//! Why a schedule fails: which switches matter, where they may happen, which steps matter, and what
//! would repair it.

use std::collections::BTreeSet;
use std::time::Duration;

use wherefore_program::{
    ErrorSite, Node, SwitchPoints, Task, ThreadLimits, Windows, thread_slice, thread_starts, windows,
};

use super::Schedule;
use super::repair::{self, Repairs};
use crate::budget::Budget;
use crate::engine::Session;

/// Why a schedule fails.
#[derive(Clone, Debug)]
pub struct Reasons {
    /// For each switch of the run, in order; the first leave of the first thread is one of them.
    pub switches: Vec<SwitchReason>,
    /// For each step of the run, whether the failure depends on it.
    pub kept: Vec<bool>,
    /// Changes after which no schedule fails.
    pub repairs: Repairs,
}

/// What is known of a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchReason {
    /// Where the thread is left on the run: its next step; none if it has ended.
    pub at: Option<Node>,
    /// Where it can be left so that some schedule with the same order of threads fails.
    pub window: BTreeSet<Option<Node>>,
    /// Whether these are all such places.
    pub is_complete: bool,
    /// Whether no schedule fails in which one of the two contexts around the switch is missing, the
    /// others being in the same order; none if this is not known.
    pub matters: Option<bool>,
}

/// How many configurations are looked at for one order of threads.
const CONFIGURATIONS: usize = 150_000;

/// How long the schedules of one order are searched.
const ONE_ORDER: Duration = Duration::from_secs(3);

/// How long repairs are searched.
const REPAIRS: Duration = Duration::from_secs(20);

/// Finds the reasons of a failing schedule.
pub fn reasons(
    task: &Task,
    schedule: &Schedule,
    site: &ErrorSite,
    (session, budget): (&Session, &Budget),
) -> Reasons {
    let program = (*task.program).clone().with_unread_values_zero();
    let repairs = repair::repairs(task, schedule, (session, &budget.share(2).within(REPAIRS)));
    Reasons {
        switches: switches(task, schedule, site, budget),
        kept: thread_slice(&program, &schedule.trace),
        repairs,
    }
}

/// The steps that matter, without the rest.
pub fn kept(task: &Task, schedule: &Schedule) -> Vec<bool> {
    thread_slice(&(*task.program).clone().with_unread_values_zero(), &schedule.trace)
}

/// What is known of each switch of a failing schedule.
pub fn switches(task: &Task, schedule: &Schedule, site: &ErrorSite, budget: &Budget) -> Vec<SwitchReason> {
    let program = (*task.program).clone().with_unread_values_zero();
    let trace = &schedule.trace;
    let contexts = trace.contexts();
    let order: Vec<u32> = contexts.iter().map(|context| context.thread).collect();
    let is_small = program.has_small_data();
    let limits = ThreadLimits {
        configurations: CONFIGURATIONS,
        choices: if is_small { 1 << 16 } else { 8 },
        threads: thread_starts(&program).most().unwrap_or(0).max(trace.last().threads.len()),
        points: if task.is_c() { SwitchPoints::visible(&program) } else { SwitchPoints::All },
        ..ThreadLimits::default()
    };
    let search = |order: &[u32]| -> Windows {
        let budget = budget.within(ONE_ORDER);
        windows(&program, std::slice::from_ref(site), order, &limits, || budget.stopped().is_none())
    };
    let here = search(&order);
    let mut found = Vec::new();
    for (at, window) in here.points.into_iter().enumerate() {
        let last = contexts[at].steps.end - 1;
        let thread = trace.steps[last].state.threads.get(order[at] as usize);
        let place = thread.and_then(|thread| thread.place_in(&program));
        // With fewer switches no schedule fails, if that is known.
        let matters = match schedule.fewest {
            true => Some(true),
            false => without(&order, at, &search),
        };
        let mut window = window;
        window.insert(place);
        found.push(SwitchReason { at: place, window, is_complete: here.is_complete, matters });
    }
    found
}

/// Whether no schedule fails without one of the two contexts around a switch.
fn without(order: &[u32], switch: usize, search: &impl Fn(&[u32]) -> Windows) -> Option<bool> {
    let mut is_known = true;
    for left_out in [switch, switch + 1] {
        let mut rest: Vec<u32> = order.to_vec();
        rest.remove(left_out);
        rest.dedup();
        // The first thread is there from the start.
        if rest.first() != Some(&0) {
            continue;
        }
        let found = search(&rest);
        if found.fails {
            return Some(false);
        }
        is_known &= found.is_complete;
    }
    is_known.then_some(true)
}
