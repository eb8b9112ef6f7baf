//! Which calls are folded into their callers, and which are summarised.
//!
//! A folded call is inlined: predicates can then speak of the variables of caller and callee at
//! once, and a block can go through the whole call (large blocks, as in adjustable-block encoding:
//! D. Beyer, E. Keremoglu, P. Wendler, *Predicate Abstraction with Adjustable-Block Encoding*,
//! FMCAD 2010). A summarised call knows its callee by its effect only, and is the same for all
//! callers. Inlining everything multiplies the program with each level of calls; summaries grow
//! with the number of procedures, and have no bound on recursion.

use wherefore_program::{CallGraph, Operation, ProcedureId, Program};

/// How calls are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Calls {
    /// Folded unless they are recursive, as long as that multiplies the program by a small factor
    /// only; else only calls of small procedures are.
    #[default]
    Auto,
    /// Summarised, all of them.
    Summarised,
}

/// All calls that do not recurse are folded if the program has at most so many times its locations
/// then.
const MOST_COPIES: usize = 8;

/// Else, procedures with at most so many locations are folded.
const SMALL: usize = 40;

/// The procedures whose calls are folded.
pub(crate) struct Folding {
    is_folded: Vec<bool>,
}

impl Folding {
    /// Decides for all procedures of a program.
    pub fn new(program: &Program, calls: Calls) -> Self {
        let graph = CallGraph::new(program);
        let reachable = graph.reachable(program.entry);
        let foldable = |id: ProcedureId| !graph.is_recursive(id) && id != program.entry;
        let own: usize = reachable.iter().map(|id| program.procedure(*id).locations.len()).sum();
        if calls == Calls::Summarised {
            return Self { is_folded: vec![false; program.procedures.len()] };
        }
        let all = Self::choose(program, &graph, |id, _| foldable(id));
        if all.size(&reachable) <= MOST_COPIES * own {
            return all.folding;
        }
        Self::choose(program, &graph, |id, size| foldable(id) && size <= SMALL).folding
    }

    /// Whether the calls of a procedure are folded.
    pub fn folds(&self, callee: ProcedureId) -> bool {
        self.is_folded[callee.0 as usize]
    }

    /// Chooses callees before callers, by their size with folded calls.
    fn choose(program: &Program, graph: &CallGraph, is_folded: impl Fn(ProcedureId, usize) -> bool) -> Sized {
        let count = program.procedures.len();
        let mut made = Sized { sizes: vec![0; count], folding: Self { is_folded: vec![false; count] } };
        for id in graph.components().iter().flatten() {
            let procedure = program.procedure(*id);
            let mut size = procedure.locations.len();
            for edge in &procedure.edges {
                if let Operation::Call(call) = &edge.operation {
                    if made.folding.folds(call.callee) {
                        size = size.saturating_add(made.sizes[call.callee.0 as usize]);
                    }
                }
            }
            made.sizes[id.0 as usize] = size;
            made.folding.is_folded[id.0 as usize] = is_folded(*id, size);
        }
        made
    }
}

/// A choice with the sizes of procedures after it.
struct Sized {
    sizes: Vec<usize>,
    folding: Folding,
}

impl Sized {
    /// The locations of all procedures that are summarised, with those of folded calls.
    fn size(&self, reachable: &[ProcedureId]) -> usize {
        let summarised = reachable.iter().filter(|id| !self.folding.folds(**id));
        summarised.fold(0, |sum: usize, id| sum.saturating_add(self.sizes[id.0 as usize]))
    }
}
