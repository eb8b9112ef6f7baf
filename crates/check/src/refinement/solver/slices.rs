//! Slices of abstract counterexamples.
//!
//! Most of a long path has nothing to do with the error at its end. \[PathSlice\] Theorem 1: every
//! state that can run the path can run its slice. So if the slice cannot be run, neither can the
//! path, and the formulas of the slice rule it out: they speak of live variables only, which what
//! was left out does not write. The whole path is examined only if the slice can be run, or has
//! nothing new to say. Summarised calls and their returns stay, so that each step has its frame; so
//! do the folded calls around them, so that the variables of each frame have values.
//!
//! **Conditions.** Of what is in a slice, only assumptions are conditions. An assignment that is
//! there for one value may have others that are not live, and these may be wrong: nothing may
//! depend on whether they can be computed.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use wherefore_program::{EdgeRef, Operation, PathSlicer, Program};

use super::block::{Block, Conditions};
use super::counterexample::{Path, Step};
use super::graph::Graph;
use crate::symbolic::Machine;

/// Slices of the paths of one program. What is known of the program, and of parts of blocks, is
/// kept from iteration to iteration.
pub(super) struct Slices<'a> {
    program: &'a Program,
    slicer: PathSlicer<'a>,
    /// Parts of blocks, by the positions of their edges in the block.
    parts: FxHashMap<(usize, Vec<usize>), Rc<Block>>,
}

impl<'a> Slices<'a> {
    /// Prepares a program.
    pub fn new(program: &'a Program) -> Self {
        Self { program, slicer: PathSlicer::new(program), parts: FxHashMap::default() }
    }

    /// The slice of a path; none if that is all of it.
    pub fn slice(&mut self, machine: &mut Machine<'_>, graph: &Graph, path: &Path) -> Option<Path> {
        let edges: Vec<Vec<EdgeRef>> =
            (0..path.steps.len()).map(|at| path.edges(&machine.flat, graph, at)).collect();
        let slice = self.slicer.slice(&edges.concat()).ok()?;
        let mut taken = slice.taken.into_iter().peekable();
        let mut blocks = path.blocks.clone();
        let mut is_smaller = false;
        let mut first = 0;
        for (at, edges) in edges.iter().enumerate() {
            let end = first + edges.len();
            let mut kept = self.open_calls(edges);
            while let Some(position) = taken.next_if(|position| *position < end) {
                kept.push(position - first);
            }
            kept.sort_unstable();
            kept.dedup();
            if let Step::Block(block) = path.steps[at] {
                is_smaller |= kept.len() < edges.len();
                let part = (self.parts.entry((block, kept)))
                    .or_insert_with_key(|(block, kept)| Rc::new(graph.part(machine, *block, kept)));
                blocks[at] = Some(part.clone());
            }
            first = end;
        }
        is_smaller.then(|| Path { steps: path.steps.clone(), blocks, conditions: Conditions::Assumptions })
    }
    /// The positions of the calls of a block that have not returned at its end.
    fn open_calls(&self, edges: &[EdgeRef]) -> Vec<usize> {
        let mut returned = 0;
        let mut open = Vec::new();
        for (position, edge) in edges.iter().enumerate().rev() {
            match &self.program.edge(*edge).operation {
                Operation::Return(_) => returned += 1,
                Operation::Call(_) if returned > 0 => returned -= 1,
                Operation::Call(_) => open.push(position),
                _ => {}
            }
        }
        open
    }
}
