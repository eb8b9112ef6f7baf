//! Bytes and bits of structures that belong to no member.
//!
//! A structure that is assigned, passed or returned takes its padding along in the compiled program.
//! Here a value of structure type is its members. Where the padding is lost and the program may look
//! at the bytes, they hold anything afterwards: approximated, for the compiled program does have
//! values there.

use wherefore_program::{BinaryOp, Expr, LocationKind, Operation, Scalar, Span, Target, When};

use super::Lower;
use super::place::{Place, plus};
use crate::c::ctype::{CType, Length, Types};
use crate::c::problem::Checked;

/// Structures of more bytes than this are not followed byte by byte.
const MOST: u64 = 4096;

/// The bits of each byte that belong to a scalar.
fn used_bits(types: &Types, ty: &CType, start: u64, used: &mut [u8]) {
    match ty {
        CType::Array(element, Length::Known(length)) => {
            let size = types.size(element).unwrap_or(1);
            (0..*length).for_each(|i| used_bits(types, element, start + i * size, used));
        }
        CType::Record(id) if !types.record(*id).union => {
            for field in &types.record(*id).fields {
                let start = start + field.offset;
                match field.bits {
                    None => used_bits(types, &field.ty, start, used),
                    Some(bits) => {
                        for bit in bits.low..bits.low + bits.width {
                            if let Some(byte) = used.get_mut((start + u64::from(bit / 8)) as usize) {
                                *byte |= 1 << (bit % 8);
                            }
                        }
                    }
                }
            }
        }
        // All bytes of a union are copied.
        other => {
            let size = types.size(other).unwrap_or(0);
            for at in start..start + size {
                if let Some(byte) = used.get_mut(at as usize) {
                    *byte = 0xff;
                }
            }
        }
    }
}

impl Lower<'_, '_> {
    /// Assigns the members of a structure to a place, each a scalar.
    pub(crate) fn assign_parts(
        &mut self,
        place: &Place,
        parts: impl IntoIterator<Item = Expr>,
        span: Span,
    ) -> Checked<()> {
        let (mut targets, mut values) = (Vec::new(), Vec::new());
        let pieces = self.pieces(place, span)?;
        for (piece, part) in pieces.iter().zip(parts) {
            self.write(piece, part, &mut targets, &mut values, span)?;
        }
        self.body.assign(span, targets, values);
        self.forget_padding(place, span)
    }

    /// What belongs to no member of a structure holds anything, if the program may look at it.
    fn forget_padding(&mut self, place: &Place, span: Span) -> Checked<()> {
        let Place::Memory { class, address, ty, bits: None, .. } = place else { return Ok(()) };
        if !self.cx.tree.types.has_padding(ty) || !self.is_in_bytes(*class, span) {
            return Ok(());
        }
        let size = self.cx.tree.types.size(ty).unwrap_or(0);
        if size > MOST {
            self.cx
                .doubt("nothing depends on the bytes between the members of a large structure", Some(span));
            return Ok(());
        }
        let mut used = vec![0; size as usize];
        used_bits(&self.cx.tree.types, ty, 0, &mut used);
        let byte = Scalar::Bits(8);
        let division = self.cx.division(*class, span);
        let Some((_, _, cells)) = division.everywhere().first().copied() else { return Ok(()) };
        let (mut free, mut targets, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (at, used) in (0..).zip(used).filter(|(_, used)| *used != 0xff) {
            let target = Target { variable: cells.variable, indices: vec![plus(address.clone(), at)] };
            if used == 0 {
                free.push(target);
                continue;
            }
            let number = |bits: u8| Expr::constant(u64::from(bits), byte);
            let old = Expr::read(target.variable, target.indices.clone(), When::Now, byte);
            let kept = Expr::binary(BinaryOp::BitAnd, old, number(used));
            let other = Expr::binary(BinaryOp::BitAnd, Expr::choice(byte), number(!used));
            targets.push(target);
            values.push(Expr::binary(BinaryOp::BitOr, kept, other));
        }
        self.approximating(|lower| {
            for chunk in free.chunks(64) {
                lower.body.step(span, LocationKind::Statement, Operation::Havoc(chunk.to_vec()));
            }
            lower.body.assign(span, targets, values);
        });
        Ok(())
    }
}
