//! Slices of counterexamples with calls.
//!
//! As `slices` in the module above: if the slice cannot be run, neither can the path, and the
//! formulas of the slice rule it out. Calls and returns of the path stay, so that each step has its
//! frame; what is not in the slice within procedures is skipped.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use wherefore_program::{EdgeRef, PathSlicer, Program};

use super::super::blocks::Conditions;
use super::graph::{Graph, Way};
use super::path::{Path, Step};
use crate::symbolic::Machine;

/// Slices of the paths of one program. What is known of the program, and of parts of blocks, is
/// kept from cycle to cycle.
pub(super) struct Slices<'a> {
    slicer: PathSlicer<'a>,
    /// Parts of blocks, by the positions of their edges in the block.
    parts: FxHashMap<(usize, Vec<usize>), Rc<Way>>,
}

impl<'a> Slices<'a> {
    /// Prepares a program.
    pub fn new(program: &'a Program) -> Self {
        Self { slicer: PathSlicer::new(program), parts: FxHashMap::default() }
    }

    /// The slice of a path; none if that is all of it.
    pub fn slice(&mut self, machine: &mut Machine<'_>, graph: &Graph, path: &Path) -> Option<Path> {
        let edges: Vec<Vec<EdgeRef>> = (0..path.steps.len()).map(|at| path.edges(graph, at)).collect();
        let slice = self.slicer.slice(&edges.concat()).ok()?;
        let mut taken = slice.taken.into_iter().peekable();
        let mut ways = path.ways.clone();
        let mut is_smaller = false;
        let mut first = 0;
        for (at, edges) in edges.iter().enumerate() {
            let end = first + edges.len();
            let mut kept = Vec::new();
            while let Some(position) = taken.next_if(|position| *position < end) {
                kept.push(position - first);
            }
            if let Step::Way(way) = path.steps[at] {
                is_smaller |= kept.len() < edges.len();
                let key = (way, kept);
                let part = self
                    .parts
                    .entry(key)
                    .or_insert_with_key(|(way, kept)| Rc::new(graph.part(machine, *way, kept)));
                ways[at] = Some(part.clone());
            }
            first = end;
        }
        is_smaller.then(|| Path { steps: path.steps.clone(), ways, conditions: Conditions::Assumptions })
    }
}
