//! In which order operands are evaluated, where C leaves it open: as gcc does it on x86.
//!
//! - Operands come from left to right, arguments from right to left.
//! - The value of an operand is fixed before the next one is evaluated; but a mere variable is read
//!   late: a local one always, others if the operation is commutative or a comparison, since gcc
//!   then swaps them behind an operand that is no mere variable.
//! - What is assigned is evaluated before the place, unless it is a call.

use std::collections::BTreeSet;

use wherefore_program::{BinaryOp, Expr, Span, Var};

use super::Lower;
use super::place::Place;
use super::rules::Reach;
use super::storage::Storage;
use crate::c::problem::Checked;
use crate::c::tree::{Lifetime, ObjectId, Term, TermKind, Yields};
use crate::c::usage::root;

/// What evaluating a term may change.
#[derive(Default)]
struct Disturbed {
    /// Memory and variables that procedures share.
    shared: bool,
    /// Local objects.
    locals: BTreeSet<ObjectId>,
    /// Any local object.
    any: bool,
}

/// Whether gcc swaps the operands of an operation behind a mere variable.
fn swaps(op: BinaryOp) -> bool {
    use BinaryOp::{Add, BitAnd, BitOr, BitXor, Mul};
    op.is_test() || matches!(op, Add | Mul | BitAnd | BitOr | BitXor)
}

/// The variable that a term is, if it is one.
fn bare(term: &Term) -> Option<ObjectId> {
    match &term.kind {
        TermKind::Load(place) => match place.kind {
            TermKind::Object(id) if term.ty.is_scalar() => Some(id),
            _ => None,
        },
        // The value of an assignment is what the variable then holds.
        TermKind::Assign(place, _) | TermKind::Update(place, _, Yields::New) => match place.kind {
            TermKind::Object(id) if term.ty.is_scalar() => Some(id),
            _ => None,
        },
        TermKind::Comma(terms) => terms.last().and_then(bare),
        TermKind::Block(_, Some(value)) => bare(value),
        _ => None,
    }
}

fn is_old(term: &Term) -> bool {
    matches!(term.kind, TermKind::Old) || term.any_child(&mut is_old)
}

impl Lower<'_, '_> {
    /// The variable that a term is, apart from conversions that change no bit.
    fn bare_variable(&self, term: &Term) -> Option<ObjectId> {
        let scalar = |term: &Term| self.cx.tree.types.scalar(&term.ty);
        match &term.kind {
            TermKind::Convert(inner)
                if inner.ty.is_scalar()
                    && scalar(inner) == scalar(term)
                    && inner.ty.is_float() == term.ty.is_float() =>
            {
                self.bare_variable(inner)
            }
            _ => bare(term),
        }
    }

    /// Whether a term is a local variable that no pointer points to, or the old value of an update.
    fn is_late(&self, term: &Term) -> bool {
        let register = |id: &ObjectId| {
            let object = self.cx.tree.object(*id);
            object.lifetime != Lifetime::Static && !self.cx.usage.exposed.contains(id)
        };
        self.bare_variable(term).is_some_and(|id| register(&id)) || is_old(term)
    }

    /// The values of two operands.
    pub(crate) fn operands(&mut self, op: BinaryOp, left: &Term, right: &Term) -> Checked<(Expr, Expr)> {
        let mut first = self.value(left)?;
        if right.has_effects() {
            let swapped = swaps(op) && self.bare_variable(left).is_some();
            if !swapped && !self.is_late(left) {
                first = self.saved(first, right, left.span);
            }
        }
        Ok((first, self.value(right)?))
    }

    /// The values of scalars, from left to right.
    pub(crate) fn values_in_order(&mut self, terms: &[Term]) -> Checked<Vec<Expr>> {
        let mut values: Vec<Expr> = Vec::new();
        for term in terms {
            if term.has_effects() {
                let before = std::mem::take(&mut values).into_iter();
                values = before.map(|value| self.saved(value, term, term.span)).collect();
            }
            values.push(self.value(term)?);
        }
        Ok(values)
    }

    /// The scalars of all arguments.
    pub(crate) fn argument_values(&mut self, arguments: &[Term]) -> Checked<Vec<Vec<Expr>>> {
        let mut values: Vec<Vec<Expr>> = vec![Vec::new(); arguments.len()];
        for (i, argument) in arguments.iter().enumerate().rev() {
            if argument.has_effects() {
                for (value, of) in values.iter_mut().zip(arguments).skip(i + 1) {
                    if !self.is_late(of) {
                        let parts = std::mem::take(value).into_iter();
                        *value = parts.map(|part| self.saved(part, argument, of.span)).collect();
                    }
                }
            }
            values[i] =
                if argument.ty.is_scalar() { vec![self.value(argument)?] } else { self.aggregate(argument)? };
        }
        Ok(values)
    }

    /// Whether what a call goes to is fixed before its arguments are evaluated.
    pub(crate) fn saved_callee(&mut self, value: Expr, pointer: &Term, arguments: &[Term]) -> Expr {
        if self.is_late(pointer) {
            return value;
        }
        arguments.iter().fold(value, |value, argument| self.saved(value, argument, pointer.span))
    }

    /// A place gets the value of a term; returns the place.
    pub(crate) fn assign(&mut self, place: &Term, value: &Term, span: Span) -> Checked<Place> {
        if !value.has_effects() {
            let place = self.place(place)?;
            self.assign_to(&place, value, span)?;
            return Ok(place);
        }
        match &value.kind {
            TermKind::Comma(terms) if !terms.is_empty() => {
                let (last, first) = terms.split_last().expect("it is not empty");
                first.iter().try_for_each(|term| self.effects(term))?;
                self.assign(place, last, span)
            }
            TermKind::Call(..) => {
                let place = self.place(place)?;
                let place = self.frozen(place, value, span);
                self.assign_to(&place, value, span)?;
                Ok(place)
            }
            // A place without effects is only looked at when it gets its value.
            _ if !place.has_effects() => {
                let place = self.place(place)?;
                self.assign_to(&place, value, span)?;
                Ok(place)
            }
            _ => {
                let parts =
                    if value.ty.is_scalar() { vec![self.value(value)?] } else { self.aggregate(value)? };
                let parts: Vec<Expr> = parts.into_iter().map(|part| self.saved(part, place, span)).collect();
                let place = self.place(place)?;
                self.assign_parts(&place, parts, span)?;
                Ok(place)
            }
        }
    }

    /// A place that evaluating a term does not move.
    pub(crate) fn frozen(&mut self, place: Place, by: &Term, span: Span) -> Place {
        if !by.has_effects() {
            return place;
        }
        match place {
            Place::Split { object, start, indices, ty, at } => {
                let indices = indices.into_iter().map(|index| self.saved(index, by, span)).collect();
                Place::Split { object, start, indices, ty, at }
            }
            Place::Memory { class, offset, address, ty, bits, mut reach, at } => {
                // What must hold of it is made sure of before it can change.
                if by.has_effects() && self.has_rules() {
                    let (address, ty) = (address.clone(), ty.clone());
                    let now = Place::Memory { class, offset, address, ty, bits, reach, at };
                    self.check_access(&now, span);
                    reach = Reach::default();
                }
                let address = self.saved(address, by, span);
                Place::Memory { class, offset, address, ty, bits, reach, at }
            }
        }
    }

    /// A value that evaluating a term does not change.
    pub(crate) fn saved(&mut self, value: Expr, by: &Term, span: Span) -> Expr {
        if value.as_constant().is_some() || !by.has_effects() {
            return value;
        }
        let mut disturbed = Disturbed::default();
        self.disturbs(by, &mut disturbed);
        let mut changed: BTreeSet<Var> = BTreeSet::new();
        for id in &disturbed.locals {
            if let Some(Storage::Split(leaves)) = self.cx.storages.get(id) {
                changed.extend(leaves.iter().filter_map(|leaf| leaf.variable));
            }
        }
        let mut reads = false;
        value.reads(&mut |variable, _| {
            reads |= match variable {
                Var::Global(_) => disturbed.shared,
                Var::Local(_) => disturbed.any || changed.contains(&variable),
            };
        });
        if reads { self.keep(value, span) } else { value }
    }

    fn disturbs(&self, term: &Term, out: &mut Disturbed) {
        match &term.kind {
            TermKind::Call(..) => out.shared = true,
            TermKind::Block(..) => {
                out.shared = true;
                out.any = true;
            }
            TermKind::Assign(place, _) | TermKind::Update(place, ..) | TermKind::Fill(place, _) => {
                match root(place) {
                    Some(id) if self.cx.tree.object(id).lifetime != Lifetime::Static => {
                        out.shared |= self.cx.usage.exposed.contains(&id);
                        out.locals.insert(id);
                        // A local object that lives in memory all the same.
                        out.shared |= !matches!(self.cx.storages.get(&id), Some(Storage::Split(_)));
                    }
                    _ => out.shared = true,
                }
            }
            _ => {}
        }
        term.children().into_iter().for_each(|child| self.disturbs(child, out));
    }
}
