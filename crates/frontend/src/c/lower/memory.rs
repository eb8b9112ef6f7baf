//! Reading and writing memory.
//!
//! If the scalars of a class never overlap, each of them has a memory of its own, with one cell for
//! every place where it occurs, indexed by its address: the elements of an array share one, the
//! fields of a structure have one each. Other classes have a cell for each byte, the lowest byte of
//! a number first.

use wherefore_program::{BinaryOp, Expr, ExprKind, Scalar, Span, Target, Type, Var, ViolationKind, When};

use super::place::plus;
use super::{Cells, Context, Lower};
use crate::c::Region;
use crate::c::ctype::{BitField, CType};
use crate::c::points_to::{self, Class};
use crate::c::problem::{Checked, Problem};

/// How the memory of a class is divided.
#[derive(Clone, Debug)]
pub(crate) struct Division {
    /// The scalars repeat after so many bytes; 0 if they do not.
    period: u64,
    /// The scalars with their memories.
    scalars: Vec<(points_to::Scalar, Cells)>,
}

impl Division {
    /// The cells of an object of so many bytes: for each memory the first cell, their number, and
    /// the distance between them.
    pub(crate) fn of_object(&self, size: u64) -> Vec<(u64, u64, u64, Cells)> {
        let mut found = Vec::new();
        for (scalar, cells) in &self.scalars {
            let fits = |start: u64| start + cells.size <= size;
            let starts = (0..scalar.count).map(|i| scalar.start + i * scalar.distance);
            if self.period == 0 {
                let count = starts.take_while(|start| fits(*start)).count() as u64;
                found.extend((count > 0).then_some((scalar.start, count, scalar.distance.max(1), *cells)));
            } else {
                found.extend(starts.filter(|start| fits(*start)).map(|start| {
                    (start, (size - start - cells.size) / self.period + 1, self.period, *cells)
                }));
            }
        }
        found
    }

    /// Every memory: where its first cell is, and the distance between cells. Without a period
    /// there is one cell.
    pub(crate) fn everywhere(&self) -> Vec<(u64, u64, Cells)> {
        let distance = if self.period == 0 { 1 << 30 } else { self.period };
        let mut found = Vec::new();
        for (scalar, cells) in &self.scalars {
            let starts = (0..scalar.count).map(|i| scalar.start + i * scalar.distance);
            found.extend(starts.map(|start| (start, distance, *cells)));
        }
        found
    }
}

impl Context<'_> {
    /// How the memory of a class is divided.
    pub(crate) fn division(&mut self, class: Class, span: Span) -> Division {
        let class = self.classes.find(class);
        if let Some(division) = self.regions.get(&class) {
            return division.clone();
        }
        let (period, scalars) = self.classes.division(class);
        let facts = self.classes.facts(class);
        // What comes from `malloc` or from outside is arbitrary; everything else is set before it
        // is read.
        let initial = if facts.heap || facts.foreign || !facts.owned { None } else { Some(0) };
        let address = self.tree.types.model.pointer_bits();
        let mut memories = Vec::new();
        for scalar in scalars {
            let size = scalar.size;
            self.memories += 1;
            let name = format!("memory.{}", self.memories);
            let ty = Type::Memory { address, element: Scalar::Bits(size as u32 * 8) };
            let variable = self.global(&name, ty, initial, span);
            memories.push((scalar, Cells { variable, size }));
        }
        let division = Division { period, scalars: memories };
        self.regions.insert(class, division.clone());
        division
    }

    /// The memory of a scalar of `size` bytes, so many bytes from where a pointer points. None
    /// means that the analysis did not know of this access.
    fn cells(&mut self, (class, offset): (Class, u64), size: u64, span: Span) -> Checked<Cells> {
        let division = self.division(class, span);
        let offset = if division.period > 0 { offset % division.period } else { offset };
        let found =
            division.scalars.iter().find(|(scalar, _)| scalar.start == offset).map(|(_, cells)| *cells);
        match found.filter(|cells| cells.size == size || (cells.size == 1 && division.period == 1)) {
            Some(cells) => Ok(cells),
            None => Err(Problem::unsupported(span, "this access to memory is")),
        }
    }

    pub(super) fn named_regions(&self) -> Vec<Region> {
        let memories = self.regions.values().flat_map(|division| &division.scalars);
        let mut regions: Vec<Region> = memories
            .map(|(_, cells)| {
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

    /// Stores the bits of a field byte by byte. Other fields of a byte may be among the targets
    /// already: the byte then starts from what they make of it.
    fn store_bits(
        &mut self,
        cells: Cells,
        address: &Expr,
        field: BitField,
        value: &Expr,
        targets: &mut Vec<Target>,
        values: &mut Vec<Expr>,
    ) {
        let byte = Scalar::Bits(8);
        for i in 0..(field.low + field.width).div_ceil(8) {
            let (low, high) = (field.low.max(8 * i), (field.low + field.width).min(8 * i + 8));
            let ty = Scalar::Bits(high - low);
            let part = match value.as_constant() {
                Some(constant) => Expr::constant(constant >> (low - field.low), ty),
                None => {
                    let whole = Box::new(value.clone());
                    Expr { kind: ExprKind::Extract { value: whole, low: low - field.low }, ty }
                }
            };
            let target =
                Target { variable: cells.variable, indices: vec![plus(address.clone(), u64::from(i))] };
            let known = targets.iter().position(|other| *other == target);
            let new = if high - low == 8 {
                part
            } else {
                let old = match known {
                    Some(known) => values[known].clone(),
                    None => Expr::read(cells.variable, target.indices.clone(), When::Now, byte),
                };
                let shift = u64::from(low - 8 * i);
                let mask = (ty.max() << shift) & byte.max();
                match (old.as_constant(), part.as_constant()) {
                    (Some(old), Some(part)) => Expr::constant((old & !mask) | (part << shift), byte),
                    _ => {
                        let others = Expr::binary(BinaryOp::BitAnd, old, Expr::constant(!mask, byte));
                        let part = part.zero_extend(8);
                        let part = Expr::binary(BinaryOp::Shl, part, Expr::constant(shift, byte));
                        Expr::binary(BinaryOp::BitOr, others, part)
                    }
                }
            };
            match known {
                Some(known) => values[known] = new,
                None => {
                    targets.push(target);
                    values.push(new);
                }
            }
        }
    }

    /// A proof is doubtful if an access may be larger than the object that it meets.
    fn doubt_size(&mut self, (class, _): (Class, u64), size: u64, span: Span) {
        let tree = self.cx.tree;
        if self.asks(ViolationKind::Bounds) {
            return;
        }
        if self.cx.classes.smallest_object(tree, class).is_some_and(|smallest| smallest < size) {
            self.cx.doubt("no access reaches beyond a small object", Some(span));
        }
    }

    pub(crate) fn load(
        &mut self,
        at: (Class, u64),
        address: &Expr,
        ty: &CType,
        field: Option<BitField>,
        span: Span,
    ) -> Checked<Expr> {
        if !self.asks(ViolationKind::Bounds) {
            self.cx.assume("no access outside of an object", Some(span));
        }
        let scalar = self.cx.tree.types.scalar(ty);
        if let Some(field) = field {
            let unit = u64::from(field.low + field.width).div_ceil(8);
            let cells = self.cx.cells(at, 1, span)?;
            let (value, low) = if unit > 8 {
                // A field that starts inside a byte can reach into a ninth one.
                let whole = Scalar::Bits(64);
                let shift = |by: u32| Expr::constant(u64::from(by), whole);
                let first = self.load_bytes(cells, address, 8);
                let last = self.load_bytes(cells, &plus(address.clone(), 8), 1).zero_extend(64);
                let first = Expr::binary(BinaryOp::LShr, first, shift(field.low));
                let last = Expr::binary(BinaryOp::Shl, last, shift(64 - field.low));
                (Expr::binary(BinaryOp::BitOr, first, last), 0)
            } else {
                (self.load_bytes(cells, address, unit), field.low)
            };
            let kind = ExprKind::Extract { value: Box::new(value), low };
            let value = Expr { kind, ty: Scalar::Bits(field.width) };
            return Ok(super::value::resize(value, ty.is_signed(), scalar));
        }
        let size = self.cx.tree.types.size(ty).unwrap_or(1);
        self.doubt_size(at, size, span);
        let cells = self.cx.cells(at, size, span)?;
        let value = self.load_bytes(cells, address, size);
        Ok(match ty {
            CType::Bool => super::value::bit(super::value::truth(value)),
            _ => value,
        })
    }

    #[allow(clippy::too_many_arguments)]
    pub(crate) fn store(
        &mut self,
        at: (Class, u64),
        address: &Expr,
        ty: &CType,
        field: Option<BitField>,
        value: Expr,
        targets: &mut Vec<Target>,
        values: &mut Vec<Expr>,
        span: Span,
    ) -> Checked<()> {
        if !self.asks(ViolationKind::Bounds) {
            self.cx.assume("no access outside of an object", Some(span));
        }
        let size = self.cx.tree.types.size(ty).unwrap_or(1);
        self.doubt_size(at, size, span);
        let cells = self.cx.cells(at, if field.is_some() { 1 } else { size }, span)?;
        let value = match (ty, field) {
            (_, Some(field)) => {
                let value = super::value::resize(value, false, Scalar::Bits(field.width));
                let value = self.stable(value, span);
                self.store_bits(cells, address, field, &value, targets, values);
                return Ok(());
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
