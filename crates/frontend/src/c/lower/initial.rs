//! Initial values of objects.

use wherefore_program::{Expr, Span, Target};

use super::Lower;
use super::place::Place;
use crate::c::ctype::{CType, Length};
use crate::c::problem::{Checked, Problem};
use crate::c::tree::{Initial, InitialItem, Step};

/// At most so many cells are assigned in one step.
pub(crate) const CHUNK: usize = 64;

/// Objects with more scalars than this are set to zero by a loop.
const MAX_LISTED: usize = 1024;

impl Lower<'_, '_> {
    /// How many scalars a type has.
    pub(crate) fn piece_count(&self, ty: &CType) -> usize {
        match ty {
            CType::Array(element, Length::Known(length)) => {
                self.piece_count(element).saturating_mul(usize::try_from(*length).unwrap_or(usize::MAX))
            }
            CType::Record(id) => {
                let record = self.cx.tree.types.record(*id);
                if record.union {
                    return record.size as usize;
                }
                record.fields.iter().map(|field| self.piece_count(&field.ty)).sum()
            }
            _ => 1,
        }
    }

    /// The number of the first scalar below a path; none below a union.
    fn piece_index(&self, ty: &CType, path: &[Step]) -> Option<usize> {
        let Some((step, rest)) = path.split_first() else { return Some(0) };
        match (ty, step) {
            (CType::Array(element, _), Step::Index(i)) => {
                let before = self.piece_count(element).checked_mul(*i as usize)?;
                Some(before + self.piece_index(element, rest)?)
            }
            (CType::Record(id), Step::Field(i)) => {
                let record = self.cx.tree.types.record(*id);
                if record.union {
                    return None;
                }
                let before: usize = record.fields[..*i].iter().map(|field| self.piece_count(&field.ty)).sum();
                Some(before + self.piece_index(&record.fields[*i].ty, rest)?)
            }
            _ => None,
        }
    }

    /// Gives a place its initial value. What is not mentioned is zero.
    pub(crate) fn initialise(&mut self, place: &Place, initial: &Initial) -> Checked<()> {
        let span = initial.span;
        if let [only] = initial.items.as_slice() {
            if only.path.is_empty() {
                return self.assign_to(place, &only.value, span);
            }
        }
        let ty = place.ty().clone();
        let count = self.piece_count(&ty);
        let indices: Option<Vec<usize>> =
            initial.items.iter().map(|item| self.piece_index(&ty, &item.path)).collect();
        let (Some(indices), true) = (indices, count <= MAX_LISTED) else {
            self.zero(place, span)?;
            return self.initialise_items(place, initial);
        };
        let pieces = self.pieces(place, span)?;
        let mut all: Vec<Option<Expr>> = pieces
            .iter()
            .map(|piece| Some(Expr::constant(0, self.cx.tree.types.scalar(piece.ty()))))
            .collect();
        // In the order of the members, whatever that of the text.
        let mut items: Vec<(usize, &InitialItem)> = indices.into_iter().zip(&initial.items).collect();
        if items.iter().all(|(_, item)| item.value.ty.is_scalar()) {
            items.sort_by_key(|(index, _)| *index);
        }
        for (i, (index, item)) in items.iter().enumerate() {
            let values = match item.value.ty.is_scalar() {
                true => vec![self.value(&item.value)?],
                false => self.aggregate(&item.value)?,
            };
            for (at, value) in values.into_iter().enumerate() {
                let later = items[i + 1..].iter().map(|(_, later)| &later.value);
                let value = later.fold(value, |value, later| self.saved(value, later, span));
                all[index + at] = Some(value);
            }
        }
        let (mut targets, mut values) = (Vec::new(), Vec::new());
        for (piece, value) in pieces.iter().zip(all) {
            if let Some(value) = value {
                self.write(piece, value, &mut targets, &mut values, span)?;
            }
        }
        self.assign_chunks(targets, values, span);
        Ok(())
    }

    /// Assigns items one after the other.
    pub(crate) fn initialise_items(&mut self, place: &Place, initial: &Initial) -> Checked<()> {
        let (mut targets, mut values) = (Vec::new(), Vec::new());
        for item in &initial.items {
            let mut part = place.clone();
            for step in &item.path {
                part = self.at_step(part, *step, item.value.span)?;
            }
            if item.value.has_effects() {
                self.assign_chunks(std::mem::take(&mut targets), std::mem::take(&mut values), initial.span);
            }
            if item.value.ty.is_scalar() {
                let value = self.value(&item.value)?;
                self.write(&part, value, &mut targets, &mut values, initial.span)?;
            } else {
                // A later value takes the place of an earlier one.
                self.assign_chunks(std::mem::take(&mut targets), std::mem::take(&mut values), initial.span);
                self.assign_to(&part, &item.value, initial.span)?;
            }
        }
        self.assign_chunks(targets, values, initial.span);
        Ok(())
    }

    pub(crate) fn assign_chunks(&mut self, targets: Vec<Target>, values: Vec<Expr>, span: Span) {
        let mut pairs = targets.into_iter().zip(values).peekable();
        while pairs.peek().is_some() {
            let (targets, values) = pairs.by_ref().take(CHUNK).unzip();
            self.body.assign(span, targets, values);
        }
    }

    /// Visits all cells of an object in memory: some at once, or one by one in a loop.
    pub(crate) fn each_cell(
        &mut self,
        class: crate::c::points_to::Class,
        address: &Expr,
        size: u64,
        span: Span,
        mut visit: impl FnMut(&mut Self, Vec<(Target, wherefore_program::Scalar)>),
    ) {
        let division = self.cx.division(class, span);
        let mut listed = Vec::new();
        for (start, count, distance, cells) in division.of_object(size) {
            let ty = wherefore_program::Scalar::Bits(cells.size as u32 * 8);
            let cell = |at: Expr| (Target { variable: cells.variable, indices: vec![at] }, ty);
            let first = super::place::plus(address.clone(), start);
            if count <= MAX_LISTED as u64 {
                listed.extend((0..count).map(|i| cell(super::place::plus(first.clone(), i * distance))));
            } else {
                let end = super::place::plus(first.clone(), count * distance);
                self.each(first, end, distance, span, |lower, at| visit(lower, vec![cell(at)]));
            }
        }
        if !listed.is_empty() {
            visit(self, listed);
        }
    }

    /// Sets every cell of a place to zero.
    pub(crate) fn zero(&mut self, place: &Place, span: Span) -> Checked<()> {
        if let Place::Memory { class, address, ty, .. } = place {
            let size = self.cx.tree.types.size(ty).unwrap_or(0);
            self.each_cell(*class, address, size, span, |lower, cells| {
                let values = cells.iter().map(|(_, ty)| Expr::constant(0, *ty)).collect();
                let targets = cells.into_iter().map(|(target, _)| target).collect();
                lower.assign_chunks(targets, values, span);
            });
            return Ok(());
        }
        if self.piece_count(place.ty()) <= MAX_LISTED {
            let pieces = self.pieces(place, span)?;
            let (mut targets, mut values) = (Vec::new(), Vec::new());
            for piece in &pieces {
                let zero = Expr::constant(0, self.cx.tree.types.scalar(piece.ty()));
                self.write(piece, zero, &mut targets, &mut values, span)?;
            }
            self.assign_chunks(targets, values, span);
            return Ok(());
        }
        match place {
            Place::Memory { .. } => Ok(()),
            Place::Split { object, start, indices, ty, at } => {
                let CType::Array(element, Length::Known(length)) = ty else {
                    return Err(Problem::unsupported(span, "an initial value of this size is"));
                };
                let (object, start, indices) = (*object, *start, indices.clone());
                let index = wherefore_program::Scalar::Bits(32);
                let (low, high) = (Expr::constant(0, index), Expr::constant(*length, index));
                let mut outcome = Ok(());
                let at = *at;
                self.each(low, high, 1, span, |lower, index| {
                    let mut indices = indices.clone();
                    indices.push(index);
                    let part = Place::Split { object, start, indices, ty: (**element).clone(), at };
                    outcome = lower.zero(&part, span);
                });
                outcome
            }
        }
    }
}
