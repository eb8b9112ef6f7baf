//! Which steps of which threads lie on failing schedules.

use std::collections::{BTreeMap, BTreeSet};

use super::ThreadedState;
use super::explore::ThreadLimits;
use super::graph::{Graph, Key, Schedules};
use super::starts::{Threads, thread_starts};
use crate::program::{Node, ProcedureId, Program};
use crate::targets::ErrorSite;

/// The steps that lie on failing schedules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadProjection {
    /// For each thread and each location that it leaves on a failing schedule, the fewest switches
    /// of such a schedule.
    pub nodes: BTreeMap<(u32, Node), usize>,
    /// For each thread and each location that it can leave, the fewest switches of a schedule on
    /// which it does, failing or not.
    pub reached: BTreeMap<(u32, Node), usize>,
    /// For each thread, the procedures that it may start in ([`Thread::place_in`] says which count).
    ///
    /// [`Thread::place_in`]: super::Thread::place_in
    pub roots: BTreeMap<u32, BTreeSet<ProcedureId>>,
    /// Whether all schedules were searched, up to the limit of switches.
    pub is_complete: bool,
}

/// Searches all schedules, with at most as many switches as the limits say. `go_on` is asked now
/// and then.
pub fn thread_projection(
    program: &Program,
    targets: &[ErrorSite],
    limits: &ThreadLimits,
    mut go_on: impl FnMut() -> bool,
) -> ThreadProjection {
    let fixed = match thread_starts(program) {
        Threads::Fixed(count) => Some(count + 1),
        Threads::AtMost(_) | Threads::Unbounded => None,
    };
    let graph = Graph::new(program, targets, limits, &All { fixed }, &mut go_on);
    let mut found = ThreadProjection {
        nodes: BTreeMap::new(),
        reached: BTreeMap::new(),
        roots: BTreeMap::new(),
        is_complete: graph.is_complete,
    };
    let most = limits.switches.unwrap_or(usize::MAX);
    for link in &graph.links {
        let thread = graph.keys[link.from as usize].thread;
        let through = graph.through(link).map(|through| through as usize).filter(|through| *through <= most);
        let before = graph.before[link.from as usize] as usize;
        let root = graph.left(link).threads.get(thread as usize).and_then(|thread| thread.root_in(program));
        found.roots.entry(thread).or_default().extend(root);
        for edge in &link.steps {
            let at = Node { procedure: edge.procedure, location: program.edge(*edge).from };
            let least = found.reached.entry((thread, at)).or_insert(before);
            *least = before.min(*least);
            if let Some(through) = through {
                let least = found.nodes.entry((thread, at)).or_insert(through);
                *least = through.min(*least);
            }
        }
    }
    found
}

/// Any thread may run next. The tag says whether the first thread was never left: doing so is no
/// switch when it has started all others.
struct All {
    fixed: Option<usize>,
}

impl Schedules for All {
    fn start(&self) -> u32 {
        1
    }

    fn moved(&self, tag: u32) -> u32 {
        tag
    }

    fn others(&self, state: &ThreadedState, key: Key) -> Vec<(u32, u32, u32)> {
        let is_free = key.tag == 1 && self.fixed == Some(state.threads.len());
        let others = state.threads.iter().enumerate().filter(|(_, thread)| !thread.has_ended());
        let others = others.map(|(other, _)| other as u32).filter(|other| *other != key.thread);
        others.map(|other| (other, 0, u32::from(!is_free))).collect()
    }

    fn is_goal(&self, _: &ThreadedState, _: u32, failed: bool) -> bool {
        failed
    }
}
