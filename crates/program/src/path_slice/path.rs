//! Paths through calls and returns, checked against the program.

use crate::error::ProgramError;
use crate::program::{EdgeRef, LocationId, Operation, ProcedureId, Program};

/// A path from the entry of a program, feasible or not: \[PathSlice\] §4, *Program Paths*.
pub(super) struct Path<'a> {
    pub(super) edges: &'a [EdgeRef],
    /// For each edge, the call that began the frame it starts in; none in the first frame. This is
    /// *Call.i* of the document.
    pub(super) frames: Vec<Option<usize>>,
    /// The calls that have not returned at the end.
    pub(super) open: Vec<usize>,
    /// Where the path ends: in which procedure and where. The exit if the run has ended.
    pub(super) end: (ProcedureId, LocationId),
    /// Whether the first procedure has returned.
    pub(super) ended: bool,
}

impl<'a> Path<'a> {
    /// Checks that the edges are those of a path.
    pub(super) fn new(program: &Program, edges: &'a [EdgeRef]) -> Result<Self, ProgramError> {
        let mut frames = Vec::with_capacity(edges.len());
        let mut open = Vec::new();
        let mut end = (program.entry, program.procedure(program.entry).entry);
        let mut ended = false;
        for (i, reference) in edges.iter().enumerate() {
            let fail =
                |reason: &str| Err(ProgramError::Impossible { step: i + 1, reason: reason.to_owned() });
            if ended {
                return fail("the run has ended");
            }
            let procedure = program.procedures.get(reference.procedure.0 as usize);
            let edge = procedure.and_then(|procedure| procedure.edges.get(reference.edge.0 as usize));
            let Some(edge) = edge else { return fail("there is no such edge") };
            if (reference.procedure, edge.from) != end {
                return fail("the edge does not start where the run is");
            }
            frames.push(open.last().copied());
            match &edge.operation {
                Operation::Call(call) => {
                    open.push(i);
                    end = (call.callee, program.procedure(call.callee).entry);
                }
                Operation::Return(_) => match open.pop() {
                    Some(call) => end = (edges[call].procedure, program.edge(edges[call]).to),
                    None => {
                        end.1 = edge.to;
                        ended = true;
                    }
                },
                Operation::StartThread(_) | Operation::EndThread | Operation::Sync => {
                    return fail("threads are not sliced");
                }
                Operation::Skip
                | Operation::Assume(_)
                | Operation::Assign(_)
                | Operation::Havoc(_)
                | Operation::AtomicBegin
                | Operation::AtomicEnd => end.1 = edge.to,
            }
        }
        Ok(Self { edges, frames, open, end, ended })
    }
}
