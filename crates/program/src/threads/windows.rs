//! Where the switches of a failing schedule may happen.
//!
//! The order in which threads run is kept, and every other decision is free: the *window* of a
//! switch is the set of points at which the thread can be left so that some schedule of this order
//! still fails. For two switches it is the answer to the query of \[Lal09\] §5.5. All schedules of
//! the order are searched, so that the window is exact if the search was.

use std::collections::BTreeSet;

use super::ThreadedState;
use super::explore::ThreadLimits;
use super::graph::{Graph, Key, Schedules};
use crate::program::{Node, Program};
use crate::targets::ErrorSite;

/// The windows of the switches of an order of threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Windows {
    /// For each switch, where the thread that is left can be ([`Thread::place_in`]); none is that it
    /// has ended. All are empty if no schedule of this order fails.
    ///
    /// [`Thread::place_in`]: super::Thread::place_in
    pub points: Vec<BTreeSet<Option<Node>>>,
    /// Whether some schedule of this order fails.
    pub fails: bool,
    /// Whether every schedule of this order was searched: if not, there may be more points.
    pub is_complete: bool,
}

/// Searches all schedules in which the threads take their turns in this order, each of them with at
/// least one step, and the last one fails. `go_on` is asked now and then.
pub fn windows(
    program: &Program,
    targets: &[ErrorSite],
    order: &[u32],
    limits: &ThreadLimits,
    mut go_on: impl FnMut() -> bool,
) -> Windows {
    let limits = ThreadLimits { switches: None, ..limits.clone() };
    let graph = Graph::new(program, targets, &limits, &Order(order), &mut go_on);
    let mut points = vec![BTreeSet::new(); order.len().saturating_sub(1)];
    let switches = graph.links.iter().filter(|link| link.steps.is_empty());
    for link in switches.filter(|link| graph.through(link).is_some()) {
        let from = graph.keys[link.from as usize];
        let thread = graph.left(link).threads.get(from.thread as usize);
        points[position(from.tag)].insert(thread.and_then(|thread| thread.place_in(program)));
    }
    // The first node is where runs start; there may be several initial values.
    let starts = graph.keys.iter().zip(&graph.behind).filter(|(key, _)| key.tag == 0 && key.thread == 0);
    let fails = starts.into_iter().any(|(_, behind)| behind.is_some());
    Windows { points, fails, is_complete: graph.is_complete }
}

/// Threads take turns in this order. The tag is the position in it, and whether the thread has
/// moved.
struct Order<'a>(&'a [u32]);

fn position(tag: u32) -> usize {
    (tag / 2) as usize
}

impl Schedules for Order<'_> {
    fn start(&self) -> u32 {
        0
    }

    fn moved(&self, tag: u32) -> u32 {
        tag | 1
    }

    fn others(&self, state: &ThreadedState, key: Key) -> Vec<(u32, u32, u32)> {
        let next = position(key.tag) + 1;
        match self.0.get(next) {
            Some(thread)
                if key.tag & 1 == 1
                    && state.threads.get(*thread as usize).is_some_and(|t| !t.has_ended()) =>
            {
                vec![(*thread, next as u32 * 2, 1)]
            }
            _ => Vec::new(),
        }
    }

    fn is_goal(&self, _: &ThreadedState, tag: u32, failed: bool) -> bool {
        failed && position(tag) + 1 == self.0.len() && tag & 1 == 1
    }
}
