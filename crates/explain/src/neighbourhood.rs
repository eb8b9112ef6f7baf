//! The neighbourhood of error statements: \[Focus\] Fig. 5, steps 4 and 5.
//!
//! The assumptions that are left after reduction are followed through the sequence. The first
//! condition that they do not decide is one whose outcome does not matter for the fault; the fault
//! is in the block that it stands in.
//!
//! # Divergences
//! - A condition counts as decided if the assumptions imply it or its negation; rules 5(b), which
//!   rewrite assumptions along assignments, are then not needed. Step 5(a)i is read with *and* in
//!   place of *or*.
//! - If the undecided condition stands behind the block of the last condition that they do decide,
//!   that block is marked, with its condition, as in the text on Fig. 2. The literal rule would
//!   mark the block around both.
//! - The check that fails is not a condition in this sense: its outcome is the failure.

use crate::assumptions::{Formulas, Way};
use crate::focus::{Role, Sequence};

/// The items of a sequence that are marked.
pub fn neighbourhood(
    sequence: &Sequence,
    formulas: &mut Formulas<'_>,
    way: &Way,
    kept: &[usize],
) -> Vec<usize> {
    let is_condition = |item: &usize| matches!(sequence.items[*item].role, Role::Condition(_));
    let all = 0..sequence.items.len();
    let check = (0..all.end).rev().find(is_condition);
    let holds_something = |block: usize| (block..all.end).any(|other| sequence.is_inside(other, block));
    let mut decided = None;
    for item in (0..all.end).filter(is_condition).filter(|item| Some(*item) != check) {
        if formulas.decides(way, kept, item) {
            if formulas.rests_on_unknowns(item) {
                decided = Some(item);
            }
            continue;
        }
        return match decided {
            Some(block) if !sequence.is_inside(item, block) && holds_something(block) => {
                all.filter(|other| *other == block || sequence.is_inside(*other, block)).collect()
            }
            _ => match sequence.items[item].parent {
                Some(block) => all.filter(|other| sequence.is_inside(*other, block)).collect(),
                None => all.collect(),
            },
        };
    }
    all.collect()
}
