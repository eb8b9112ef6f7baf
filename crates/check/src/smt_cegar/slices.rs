//! Slices of abstract counterexamples.
//!
//! Most of a long path has nothing to do with the error at its end. \[PathSlice\] Theorem 1: every
//! state that can run the path can run its slice. So if the slice cannot be run, neither can the
//! path, and the formulas of the slice rule it out: they speak of live variables only, which what
//! was left out does not write. The whole path is examined only if the slice can be run, or has
//! nothing new to say.
//!
//! **Conditions.** Of what is in a slice, only assumptions are conditions. An assignment that is
//! there for one value may have others that are not live, and these may be wrong: nothing may
//! depend on whether they can be computed.

use rustc_hash::FxHashMap;
use wherefore_program::{EdgeRef, PathSlicer, Program};
use wherefore_smt::{Reason, Term};

use super::Refinement;
use super::blocks::{Block, Conditions};
use super::choice::is_new;
use super::path::{Feasibility, Path};

/// Slices of the paths of one program. What is known of the program, and of parts of blocks, is
/// kept from cycle to cycle.
pub(super) struct Slices<'a> {
    slicer: PathSlicer<'a>,
    /// Parts of blocks, by the positions of their edges in the block.
    parts: FxHashMap<Part, Block>,
}

type Part = (usize, Vec<usize>);

impl<'a> Slices<'a> {
    /// Prepares a program.
    pub fn new(program: &'a Program) -> Self {
        Self { slicer: PathSlicer::new(program), parts: FxHashMap::default() }
    }
}

impl Refinement<'_> {
    /// Decides whether a path of blocks can be run, first by its slice.
    pub(super) fn examine(&mut self, path: &[usize]) -> Result<Feasibility, Reason> {
        if let Some(parts) = self.slice(path) {
            let steps = parts.iter().map(|part| &self.slices.parts[part]).collect();
            let slice = Path { blocks: &self.blocks, steps, conditions: Conditions::Assumptions };
            let found = slice.examine(&mut self.machine, &self.predicates, &self.budget)?;
            if let Feasibility::Spurious(found) = found {
                debug_assert!(self.can_not_be_run(path), "a slice cannot be run, but its path can");
                let is_new = |(node, formulas): &(usize, Vec<Term>)| {
                    formulas
                        .iter()
                        .any(|formula| is_new(&mut self.machine.terms, &self.predicates[*node], *formula))
                };
                if found.iter().any(is_new) {
                    return Ok(Feasibility::Spurious(found));
                }
            }
        }
        Path::whole(&self.blocks, path).examine(&mut self.machine, &self.predicates, &self.budget)
    }

    fn can_not_be_run(&mut self, path: &[usize]) -> bool {
        let whole = Path::whole(&self.blocks, path);
        !whole.can_be_run(&mut self.machine, &self.budget)
    }

    /// The part of each block of a path that is in the slice; none if that is all of them.
    fn slice(&mut self, path: &[usize]) -> Option<Vec<Part>> {
        let flat = &self.machine.flat;
        let edges: Vec<EdgeRef> = path
            .iter()
            .flat_map(|block| &self.blocks.blocks[*block].edges)
            .map(|edge| flat.edges[*edge as usize].edge)
            .collect();
        let slice = self.slices.slicer.slice(&edges).ok()?;
        if slice.taken.len() == edges.len() {
            return None;
        }
        let mut taken = slice.taken.into_iter().peekable();
        let mut first = 0;
        let mut parts: Vec<Part> = Vec::new();
        for block in path {
            let end = first + self.blocks.blocks[*block].edges.len();
            let mut kept = Vec::new();
            while let Some(position) = taken.next_if(|position| *position < end) {
                kept.push(position - first);
            }
            parts.push((*block, kept));
            first = end;
        }
        for part in &parts {
            if !self.slices.parts.contains_key(part) {
                let made = self.blocks.part(&mut self.machine, part.0, &part.1);
                self.slices.parts.insert(part.clone(), made);
            }
        }
        Some(parts)
    }
}
