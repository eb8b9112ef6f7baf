//! Whether threads can always come to their ends: a change of a program that makes it run for ever is
//! no repair.

use super::Thread;
use super::ThreadedState;
use super::explore::ThreadLimits;
use super::graph::{Graph, Key, Schedules};
use crate::program::{LocationKind, Program};
use crate::targets::ErrorSite;

/// Whether from every configuration that can be reached all threads can come to their ends, or one
/// can fail. None if not all configurations were searched.
pub fn can_always_end(
    program: &Program,
    targets: &[ErrorSite],
    limits: &ThreadLimits,
    mut go_on: impl FnMut() -> bool,
) -> Option<bool> {
    let graph = Graph::new(program, targets, limits, &Ends { program }, &mut go_on);
    graph.is_complete.then(|| graph.behind.iter().all(Option::is_some))
}

/// Any thread may run next, and switches are not counted.
struct Ends<'p> {
    program: &'p Program,
}

impl Schedules for Ends<'_> {
    fn start(&self) -> u32 {
        0
    }

    fn moved(&self, tag: u32) -> u32 {
        tag
    }

    fn others(&self, state: &ThreadedState, key: Key) -> Vec<(u32, u32, u32)> {
        let others = state.threads.iter().enumerate().filter(|(_, thread)| !thread.has_ended());
        let others = others.map(|(other, _)| other as u32).filter(|other| *other != key.thread);
        others.map(|other| (other, 0, 0)).collect()
    }

    fn is_goal(&self, state: &ThreadedState, _: u32, failed: bool) -> bool {
        let is_error = |thread: &Thread| {
            thread.node().is_some_and(|node| self.program.location(node).kind == LocationKind::Error)
        };
        failed || state.threads.iter().any(is_error) || state.threads.iter().all(Thread::has_ended)
    }
}
