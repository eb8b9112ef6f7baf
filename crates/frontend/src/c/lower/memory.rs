//! Reading and writing memory.
//!
//! A class whose scalars all have one size, at distances that are multiples of it, has a cell for each of them, indexed by
//! its address. Other classes have a cell for each byte, the lowest byte of a number first.

use wherefore_program::{BinaryOp, Expr, ExprKind, Scalar, Span, Target, Type, Var, When};

use super::place::plus;
use super::{Cells, Context, Lower};
use crate::c::Region;
use crate::c::ctype::{BitField, CType};
use crate::c::points_to::Class;
use crate::c::problem::{Checked, Problem};

impl Context<'_> {
    /// The memory of a class.
    pub(crate) fn cells(&mut self, class: Class, span: Span) -> Cells {
        let class = self.classes.find(class);
        if let Some(cells) = self.regions.get(&class) {
            return *cells;
        }
        let facts = self.classes.facts(class);
        let size = match facts.sizes.iter().collect::<Vec<_>>().as_slice() {
            [size] if facts.step % **size == 0 => **size,
            _ => 1,
        };
        // What comes from `malloc` is arbitrary; everything else is set before it is read.
        let initial = if facts.heap || !facts.owned { None } else { Some(0) };
        let name = format!("memory.{}", self.regions.len() + 1);
        let address = self.tree.types.model.pointer_bits();
        let ty = Type::Memory { address, element: Scalar::Bits(size as u32 * 8) };
        let variable = self.global(&name, ty, initial, span);
        self.regions.insert(class, Cells { variable, size });
        Cells { variable, size }
    }

    pub(super) fn named_regions(&self) -> Vec<Region> {
        let mut regions: Vec<Region> = self
            .regions
            .values()
            .map(|cells| {
                let Var::Global(variable) = cells.variable else { unreachable!("memory is global") };
                Region { variable, cell: cells.size as u32 * 8 }
            })
            .collect();
        regions.sort_by_key(|region| region.variable);
        regions
    }
}

fn bits(bytes: u64) -> Scalar {
    Scalar::Bits(bytes as u32 * 8)
}

impl Lower<'_, '_> {
    /// The bytes from an address on, as one number.
    fn load_bytes(&mut self, cells: Cells, address: &Expr, size: u64) -> Expr {
        debug_assert!(cells.size == size || cells.size == 1, "every access is known beforehand");
        let read = |address: Expr| Expr::read(cells.variable, vec![address], When::Now, bits(cells.size));
        if cells.size == size {
            return read(address.clone());
        }
        let ty = bits(size);
        let mut value = read(address.clone()).zero_extend(ty.width());
        for i in 1..size {
            let byte = read(plus(address.clone(), i)).zero_extend(ty.width());
            let byte = Expr::binary(BinaryOp::Shl, byte, Expr::constant(8 * i, ty));
            value = Expr::binary(BinaryOp::BitOr, value, byte);
        }
        value
    }

    fn store_bytes(
        &mut self,
        cells: Cells,
        address: &Expr,
        value: Expr,
        targets: &mut Vec<Target>,
        values: &mut Vec<Expr>,
    ) {
        let size = u64::from(value.ty.width() / 8);
        debug_assert!(cells.size == size || cells.size == 1, "every access is known beforehand");
        if cells.size == size {
            targets.push(Target { variable: cells.variable, indices: vec![address.clone()] });
            values.push(value);
            return;
        }
        for i in 0..size {
            let part = match value.kind {
                ExprKind::Constant(constant) => Expr::constant(constant >> (8 * i), Scalar::Bits(8)),
                ExprKind::Choice { below: None } => Expr::choice(Scalar::Bits(8)),
                _ => {
                    let whole = Box::new(value.clone());
                    Expr { kind: ExprKind::Extract { value: whole, low: 8 * i as u32 }, ty: Scalar::Bits(8) }
                }
            };
            targets.push(Target { variable: cells.variable, indices: vec![plus(address.clone(), i)] });
            values.push(part);
        }
    }

    pub(crate) fn load(
        &mut self,
        class: Class,
        address: &Expr,
        ty: &CType,
        field: Option<BitField>,
        span: Span,
    ) -> Checked<Expr> {
        self.cx.assume("no access outside of an object", Some(span));
        let cells = self.cx.cells(class, span);
        let scalar = self.cx.tree.types.scalar(ty);
        if let Some(field) = field {
            let unit = u64::from(field.low + field.width).div_ceil(8);
            if unit > 8 {
                return Err(Problem::unsupported(span, "a packed bit-field of this width is"));
            }
            let value = self.load_bytes(cells, address, unit);
            let kind = ExprKind::Extract { value: Box::new(value), low: field.low };
            let value = Expr { kind, ty: Scalar::Bits(field.width) };
            return Ok(super::value::resize(value, ty.is_signed(), scalar));
        }
        let size = self.cx.tree.types.size(ty).unwrap_or(1);
        let value = self.load_bytes(cells, address, size);
        Ok(match ty {
            CType::Bool => super::value::bit(super::value::truth(value)),
            _ => value,
        })
    }

    #[allow(clippy::too_many_arguments)]
    pub(crate) fn store(
        &mut self,
        class: Class,
        address: &Expr,
        ty: &CType,
        field: Option<BitField>,
        value: Expr,
        targets: &mut Vec<Target>,
        values: &mut Vec<Expr>,
        span: Span,
    ) -> Checked<()> {
        self.cx.assume("no access outside of an object", Some(span));
        let cells = self.cx.cells(class, span);
        let value = match (ty, field) {
            (_, Some(field)) => {
                let unit = u64::from(field.low + field.width).div_ceil(8);
                if unit > 8 {
                    return Err(Problem::unsupported(span, "a packed bit-field of this width is"));
                }
                let ty = bits(unit);
                let mask = (u64::MAX >> (64 - field.width)) << field.low;
                let old = self.load_bytes(cells, address, unit);
                let others = Expr::binary(BinaryOp::BitAnd, old, Expr::constant(!mask, ty));
                let new =
                    super::value::resize(value, false, Scalar::Bits(field.width)).zero_extend(ty.width());
                let new = Expr::binary(BinaryOp::Shl, new, Expr::constant(u64::from(field.low), ty));
                Expr::binary(BinaryOp::BitOr, others, new)
            }
            (CType::Bool, None) => value.zero_extend(8),
            (CType::Float(size), None) if *size > 8 => {
                for i in 0..*size {
                    let address = plus(address.clone(), i);
                    self.store_bytes(cells, &address, Expr::choice(Scalar::Bits(8)), targets, values);
                }
                return Ok(());
            }
            _ => value,
        };
        self.store_bytes(cells, address, value, targets, values);
        Ok(())
    }
}
