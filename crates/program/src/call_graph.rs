//! Who calls whom.

use crate::graph::Graph;
use crate::program::{Operation, ProcedureId, Program, ThreadStart};

/// The call graph of a program; starting a procedure as a thread counts as a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallGraph {
    graph: Graph,
    components: Vec<Vec<ProcedureId>>,
    recursive: Vec<bool>,
}

impl CallGraph {
    /// The call graph of a program.
    pub fn new(program: &Program) -> Self {
        let edges = program.procedures().flat_map(|(caller, procedure)| {
            let callee = |operation: &Operation| match operation {
                Operation::Call(call) => Some(call.callee),
                Operation::StartThread(ThreadStart::Call { callee, .. }) => Some(*callee),
                _ => None,
            };
            procedure
                .edges
                .iter()
                .filter_map(move |edge| callee(&edge.operation))
                .map(move |c| (caller.0, c.0))
        });
        let graph = Graph::new(program.procedures.len(), edges);
        let components = graph.components();
        let mut recursive = vec![false; graph.len()];
        for component in &components {
            for &member in component {
                recursive[member as usize] =
                    component.len() > 1 || graph.successors(member).contains(&member);
            }
        }
        let ids = |component: Vec<u32>| component.into_iter().map(ProcedureId).collect();
        Self { components: components.into_iter().map(ids).collect(), graph, recursive }
    }

    /// The procedures that one calls directly.
    pub fn callees(&self, caller: ProcedureId) -> impl Iterator<Item = ProcedureId> + '_ {
        self.graph.successors(caller.0).iter().copied().map(ProcedureId)
    }

    /// The procedures that call one directly.
    pub fn callers(&self, callee: ProcedureId) -> impl Iterator<Item = ProcedureId> + '_ {
        self.graph.predecessors(callee.0).iter().copied().map(ProcedureId)
    }

    /// The strongly connected components, callees before callers.
    pub fn components(&self) -> &[Vec<ProcedureId>] {
        &self.components
    }

    /// Whether a procedure may be called while it runs.
    pub fn is_recursive(&self, procedure: ProcedureId) -> bool {
        self.recursive[procedure.0 as usize]
    }

    /// The procedures that may run at all, sorted.
    pub fn reachable(&self, entry: ProcedureId) -> Vec<ProcedureId> {
        let mut reached: Vec<_> =
            self.graph.reverse_postorder(entry.0).into_iter().map(ProcedureId).collect();
        reached.sort_unstable();
        reached
    }
}
