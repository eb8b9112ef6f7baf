//! The proof of an error projection, checked again. (That of a safe program: `proof.rs`.)
//!
//! The check asks a solver of its own one question a block. It knows nothing of predicates,
//! diagrams and saturation: an error in any of them is found here. What it shares with the engine
//! is the meaning of blocks as terms, and the solver.

use wherefore_pushdown::StopReason;
use wherefore_smt::{BitBlaster, Budget, Outcome, Reason, Solver, Term, Terms};

use super::blocks::{Block, Blocks};
use super::layers::Element;

/// What the check of a certificate found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Checked {
    /// It is a proof.
    Proof,
    /// It is not: this block leads out of the invariant.
    Broken,
    /// The solver does not know.
    Unknown(Reason),
}

impl Checked {
    /// Why a proof does not count, if it does not, in words and as what it stopped.
    pub fn refusal(self) -> Option<(String, StopReason)> {
        let (why, stop) = match self {
            Self::Proof => return None,
            Self::Unknown(reason) => {
                (format!("its check was not decided: {}", reason.why()), super::stop(&reason))
            }
            Self::Broken => ("it is not inductive, which is an error of ours".to_owned(), StopReason::Steps),
        };
        Some((format!("a proof was found, but {why}"), stop))
    }
}

/// For each node, what is reached, and what of that leads to an error or a cut: the proof of an
/// error projection.
///
/// `reached` holds at the start and is kept by every block. `leading` holds of what is reached at
/// errors and cuts, and before a block if it holds behind it. So a failing run satisfies both
/// everywhere: a node where they contradict each other is on no failing run, and neither is a block
/// that leads from what is reached to nothing that leads on.
pub(super) struct Separation {
    pub reached: Vec<Term>,
    pub leading: Vec<Term>,
}

impl Separation {
    /// Checks that everything is outside that is not said to be inside.
    pub fn check(
        &self,
        terms: &mut Terms,
        blocks: &Blocks,
        initial: &Block,
        is_inside: impl Fn(Element) -> bool,
        budget: &Budget,
    ) -> Checked {
        let mut solver = BitBlaster::new();
        // Formulas that must not hold together.
        let mut contradictions: Vec<Vec<Term>> = Vec::new();
        let after = initial.before(terms, self.reached[blocks.start]);
        contradictions.push([initial.guards.clone(), vec![terms.not(after)]].concat());
        for goal in blocks.errors.keys().chain(&blocks.cuts) {
            let leads = terms.not(self.leading[*goal]);
            contradictions.push(vec![self.reached[*goal], leads]);
        }
        for node in (0..blocks.places.len()).filter(|node| !is_inside(Element::Node(*node))) {
            contradictions.push(vec![self.reached[node], self.leading[node]]);
        }
        for (at, block) in blocks.blocks.iter().enumerate() {
            let taken = [block.guards.clone(), vec![self.reached[block.from]]].concat();
            let reached = block.before(terms, self.reached[block.to]);
            contradictions.push([taken.clone(), vec![terms.not(reached)]].concat());
            let leading = block.before(terms, self.leading[block.to]);
            let mut leads_on = [taken, vec![leading]].concat();
            if is_inside(Element::Block(at)) {
                leads_on.push(terms.not(self.leading[block.from]));
            }
            contradictions.push(leads_on);
        }
        for question in contradictions {
            if question.contains(&Terms::FALSE) {
                continue;
            }
            match solver.check(terms, &question, budget) {
                Outcome::Unsat(_) => {}
                Outcome::Sat(_) => return Checked::Broken,
                Outcome::Unknown(reason) => return Checked::Unknown(reason),
            }
        }
        Checked::Proof
    }
}
