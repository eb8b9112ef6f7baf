//! The error projection in the loop: what lies on no abstract failing run is left out of later
//! cycles.
//!
//! \[Lal09\] chapter 5. After a search that reaches the error, a block is inside if it leads from
//! what is reached to what leads to an error; the others are dropped, and their relations are not
//! computed again. Finer abstractions have fewer runs, so what is dropped would stay outside, but
//! for relations that are left open as too large (`abstraction`): these can grow with the
//! predicates. Therefore an error that is not reached any more is no proof yet: the whole program
//! is abstracted once more, and the proof is about that.
//!
//! **Cost:** two fixpoints over the abstract program, which is about what a search costs. So it is
//! done after cycles 1, 2, 4, 8, …: after every cycle it took longer than it saved.

use wherefore_pushdown::StopReason;

use super::layers::{Element, Graph};
use super::{Abstract, Refinement};

impl Refinement<'_> {
    /// Drops the blocks that are on no failing run of the abstract program, in some cycles.
    pub(super) fn narrow(&mut self, program: &Abstract) -> Result<(), StopReason> {
        if !(self.cycles + 1).is_power_of_two() {
            return Ok(());
        }
        let graph = Graph::new(program, self.blocks.places.len(), self.blocks.start);
        let forwards = graph.forwards(&self.budget)?;
        let backwards = graph.backwards(&forwards, self.blocks.errors.keys().copied(), &self.budget)?;
        for (at, outside) in self.outside.iter_mut().enumerate() {
            *outside |= !graph.contains(&forwards, &backwards, Element::Block(at));
        }
        Ok(())
    }

    /// Takes all blocks back; whether some had been dropped.
    pub(super) fn widen(&mut self) -> bool {
        let narrowed = self.outside.contains(&true);
        self.outside.fill(false);
        narrowed
    }
}
