//! Blocks of the heap that are equally far apart.
//!
//! Where accesses are not checked, blocks follow each other closely, as many bytes apart as they are
//! large. If all sizes are constants, they may as well begin at multiples of one power of two, which
//! is what engines need that give blocks names: a list of any length is known by its shape then, and
//! not by its addresses. A program that looks at the numbers that addresses are depends on them in
//! any case, and is told so.

use wherefore_program::{BinaryOp, Blocks, Expr, ExprKind, Operation, Scalar, Type, Var, When};

use super::{HEAP, Lowered};

/// Blocks that need more bits than this for their size are left as they are.
const MOST_BITS: u32 = 16;

/// How many bits of an address of 64 bits are a position in a block, as where accesses are checked.
const BITS: u32 = 32;

impl Lowered {
    /// Makes the distances of blocks one power of two, if all are constants.
    pub(crate) fn with_even_blocks(mut self, heap: Var) -> Self {
        let Var::Global(at) = heap else { return self };
        let Type::Scalar(Scalar::Bits(width)) = self.globals[at as usize].ty else { return self };
        let Some(bits) = self.bits_of_blocks(heap) else { return self };
        let bits = if width == 64 { BITS } else { bits };
        let first = HEAP.next_multiple_of(1 << bits);
        self.globals[at as usize].initial = Some(first);
        self.objects.blocks = Some(Blocks { first, bits });
        for value in self.procedures.iter_mut().flat_map(|body| &mut body.edges) {
            let Operation::Assign(assignment) = &mut value.operation else { continue };
            let pairs = assignment.targets.iter().zip(&mut assignment.values);
            for (_, value) in pairs.filter(|(target, _)| target.variable == heap) {
                if let ExprKind::Binary(BinaryOp::Add, _, by) = &mut value.kind {
                    **by = Expr::constant(1 << bits, by.ty);
                }
            }
        }
        self
    }

    /// The bits that a position in a block takes; none if some size is not a constant, or large.
    fn bits_of_blocks(&self, heap: Var) -> Option<u32> {
        let mut largest = None;
        for edge in self.procedures.iter().flat_map(|body| &body.edges) {
            let Operation::Assign(assignment) = &edge.operation else { continue };
            let pairs = assignment.targets.iter().zip(&assignment.values);
            for (_, value) in pairs.filter(|(target, _)| target.variable == heap) {
                largest = largest.max(Some(step(value, heap)?));
            }
        }
        let bits = largest?.checked_next_power_of_two()?.trailing_zeros();
        (bits <= MOST_BITS).then_some(bits)
    }
}

/// How far a value is behind a variable, if that is a constant.
fn step(value: &Expr, variable: Var) -> Option<u64> {
    let ExprKind::Binary(BinaryOp::Add, a, by) = &value.kind else { return None };
    let is_it =
        matches!(&a.kind, ExprKind::Read { variable: read, when: When::Now, .. } if *read == variable);
    by.as_constant().filter(|_| is_it)
}
