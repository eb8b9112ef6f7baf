//! Which threads a program starts, as far as this can be seen without running it.

use crate::call_graph::CallGraph;
use crate::dominators::Dominators;
use crate::program::{Operation, Program};

/// How many threads a program starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// The first thread starts so many others, each once and in any case. That it is left for
    /// the first time behind its last start is then no switch: it only sets the scene.
    Fixed(usize),
    /// At most so many others are started.
    AtMost(usize),
    /// There may be any number of them.
    Unbounded,
}

impl Threads {
    /// The greatest number of threads, with that of the entry.
    pub fn most(self) -> Option<usize> {
        match self {
            Self::Fixed(count) | Self::AtMost(count) => Some(count + 1),
            Self::Unbounded => None,
        }
    }
}

/// How many threads a program starts.
pub fn thread_starts(program: &Program) -> Threads {
    let calls = CallGraph::new(program);
    let reachable = calls.reachable(program.entry);
    // How often a procedure may be entered, by calls and starts; none is any number.
    let mut entered: Vec<Option<usize>> = vec![Some(0); program.procedures.len()];
    entered[program.entry.0 as usize] = Some(1);
    let mut total = Some(0_usize);
    let mut is_fixed = true;
    // How often every run enters a procedure, in its first thread.
    let mut certain: Vec<usize> = vec![0; program.procedures.len()];
    certain[program.entry.0 as usize] = 1;
    let add = |a: Option<usize>, b: Option<usize>| a.zip(b).and_then(|(a, b)| a.checked_add(b));
    for component in calls.components().iter().rev() {
        for &id in component {
            if reachable.binary_search(&id).is_err() {
                continue;
            }
            if calls.is_recursive(id) {
                entered[id.0 as usize] = None;
            }
        }
        for &id in component {
            if reachable.binary_search(&id).is_err() {
                continue;
            }
            let procedure = program.procedure(id);
            let graph = procedure.graph();
            let dominators = Dominators::new(&graph, procedure.entry.0);
            let cyclic = graph.components().into_iter().filter(|component| {
                component.len() > 1 || graph.successors(component[0]).contains(&component[0])
            });
            let mut in_loop = vec![false; procedure.locations.len()];
            cyclic.flatten().for_each(|at| in_loop[at as usize] = true);
            let times = entered[id.0 as usize];
            for edge in &procedure.edges {
                let is_start = matches!(edge.operation, Operation::StartThread(_));
                let callee = match &edge.operation {
                    Operation::Call(call) => Some(call.callee),
                    Operation::StartThread(crate::ThreadStart::Call { callee, .. }) => Some(*callee),
                    _ => None,
                };
                let often = if in_loop[edge.from.0 as usize] { None } else { times };
                let sure = certain[id.0 as usize];
                let is_certain = sure > 0
                    && times == Some(sure)
                    && often == Some(sure)
                    && dominators.dominates(edge.from.0, procedure.exit.0);
                if let Some(callee) = callee {
                    if is_certain && !is_start {
                        certain[callee.0 as usize] += sure;
                    }
                    let known = &mut entered[callee.0 as usize];
                    *known = add(*known, often);
                }
                if is_start {
                    total = add(total, often);
                    is_fixed &= is_certain;
                }
            }
        }
    }
    match total {
        None => Threads::Unbounded,
        Some(count) if is_fixed => Threads::Fixed(count),
        Some(count) => Threads::AtMost(count),
    }
}
