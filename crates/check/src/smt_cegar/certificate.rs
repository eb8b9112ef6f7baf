//! The proof of a safe program, checked again: an invariant at every node that holds at the start, is kept by every block, and is false where
//! the program fails.
//!
//! The check asks a solver of its own one question a block. It knows nothing of predicates, diagrams and saturation: an error in any
//! of them is found here. What it shares with the engine is the meaning of blocks as terms, and the solver.

use wherefore_smt::{BitBlaster, Budget, Outcome, Solver, Term, Terms};

use super::blocks::{Block, Blocks, NodeId};

/// An invariant for each node.
pub(super) struct Certificate {
    pub invariants: Vec<Term>,
}

/// What the check of a certificate found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Checked {
    /// It is a proof.
    Proof,
    /// It is not: this block leads out of the invariant.
    Broken,
    /// The budget ended first.
    Unknown,
}

impl Certificate {
    /// Checks the certificate against the program.
    pub fn check(&self, terms: &mut Terms, blocks: &Blocks, initial: &Block, budget: &Budget) -> Checked {
        let mut solver = BitBlaster::new();
        let ends = |node: &NodeId| self.invariants[*node] == Terms::FALSE;
        if !blocks.errors.keys().all(ends) || !blocks.cuts.iter().all(ends) {
            return Checked::Broken;
        }
        let start = (Terms::TRUE, initial);
        let steps = blocks.blocks.iter().map(|block| (self.invariants[block.from], block));
        for (before, block) in std::iter::once(start).chain(steps) {
            if before == Terms::FALSE {
                continue;
            }
            let after = block.before(terms, self.invariants[block.to]);
            let leaves = terms.not(after);
            let mut question = block.guards.clone();
            question.extend([before, leaves]);
            match solver.check(terms, &question, budget) {
                Outcome::Unsat(_) => {}
                Outcome::Sat(_) => return Checked::Broken,
                Outcome::Unknown(_) => return Checked::Unknown,
            }
        }
        Checked::Proof
    }
}
