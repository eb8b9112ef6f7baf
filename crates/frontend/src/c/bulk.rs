//! `memset`, `memcpy` and `memmove` of whole objects, as assignments.
//!
//! If a call names so many bytes as an object, or some elements of an array, have, then it is an
//! assignment of their types: one step, in which each scalar gets its value. As a loop over bytes
//! it would divide memory into bytes, and take many steps. Other calls go to the models in
//! `library.c`.

use super::ctype::{CType, Length};
use super::tree::{FunctionId, Term, TermKind, Tree};
use super::walk::each_term;

/// No more scalars than this are copied, or set to something else than zero, in one step.
const MOST: u64 = 256;

/// No more scalars than this are set to zero.
const MOST_ZEROS: u64 = 1 << 12;

/// Rewrites the calls of functions that are not defined.
pub(crate) fn as_assignments(tree: &mut Tree) {
    let is_open = |tree: &Tree, id: FunctionId| tree.function(id).body.is_none();
    for i in 0..tree.functions.len() {
        let Some(mut body) = tree.functions[i].body.take() else { continue };
        let shared = &*tree;
        each_term(&mut body, &mut |term| {
            let TermKind::Call(callee, arguments) = &term.kind else { return };
            let TermKind::Function(id) = callee.kind else { return };
            if id.0 as usize == i || !is_open(shared, id) {
                return;
            }
            let name = shared.function(id).name.as_str();
            let step = match name {
                "memset" => filled(shared, arguments, term),
                "memcpy" | "memmove" => copied(shared, arguments, term),
                _ => None,
            };
            if let Some(step) = step {
                let pointer = arguments[0].clone();
                term.kind = TermKind::Comma(vec![step, pointer]);
            }
        });
        tree.functions[i].body = Some(body);
    }
}

/// How many scalars a type has; none if it has a union, or no size.
fn scalars(tree: &Tree, ty: &CType) -> Option<u64> {
    match ty {
        CType::Array(element, Length::Known(length)) => scalars(tree, element)?.checked_mul(*length),
        CType::Record(id) if tree.types.record(*id).union || !tree.types.record(*id).complete => None,
        CType::Record(id) => {
            let fields = &tree.types.record(*id).fields;
            fields.iter().try_fold(0_u64, |sum, field| sum.checked_add(scalars(tree, &field.ty)?))
        }
        scalar if scalar.is_scalar() && !tree.types.is_opaque(scalar) => Some(1),
        _ => None,
    }
}

/// The place that so many bytes behind a pointer are.
fn place(tree: &Tree, pointer: &Term, bytes: u64) -> Option<Term> {
    let mut inner = pointer;
    while let TermKind::Convert(from) = &inner.kind {
        if !from.ty.is_pointer() || !inner.ty.is_pointer() {
            break;
        }
        inner = from;
    }
    if inner.has_effects() || inner.constant().is_some() || bytes == 0 {
        return None;
    }
    if let TermKind::Address(place) = &inner.kind {
        if place.is_place() && tree.types.size(&place.ty) == Some(bytes) {
            return Some((**place).clone());
        }
    }
    let to = inner.ty.pointee()?;
    let size = tree.types.size(to).filter(|size| *size > 0)?;
    let span = inner.span;
    match bytes / size {
        _ if bytes % size != 0 => None,
        1 => Some(Term::new(TermKind::Deref(Box::new(inner.clone())), to.clone(), span)),
        count => {
            let array = CType::Array(std::rc::Rc::new(to.clone()), Length::Known(count));
            let pointer = TermKind::Convert(Box::new(inner.clone()));
            let pointer = Term::new(pointer, array.clone().pointer_to(), span);
            Some(Term::new(TermKind::Deref(Box::new(pointer)), array, span))
        }
    }
}

fn filled(tree: &Tree, arguments: &[Term], call: &Term) -> Option<Term> {
    let [pointer, value, bytes] = arguments else { return None };
    let byte = value.constant()? & 0xff;
    let place = place(tree, pointer, bytes.constant()?)?;
    let count = scalars(tree, &place.ty)?;
    let is_plain = (byte == 0 && count <= MOST_ZEROS) || (count <= MOST && !has_truth(tree, &place.ty));
    is_plain.then(|| Term::new(TermKind::Fill(Box::new(place), byte), CType::Void, call.span))
}

/// Whether a type has truth values, which not every byte is.
fn has_truth(tree: &Tree, ty: &CType) -> bool {
    match ty {
        CType::Bool => true,
        CType::Array(element, _) => has_truth(tree, element),
        CType::Record(id) => tree
            .types
            .record(*id)
            .fields
            .iter()
            .any(|field| field.bits.is_some() || has_truth(tree, &field.ty)),
        _ => false,
    }
}

fn copied(tree: &Tree, arguments: &[Term], call: &Term) -> Option<Term> {
    let [to, from, bytes] = arguments else { return None };
    let bytes = bytes.constant()?;
    let (to, from) = (place(tree, to, bytes)?, place(tree, from, bytes)?);
    if to.ty != from.ty || scalars(tree, &to.ty)? > MOST {
        return None;
    }
    let (ty, span) = (to.ty.clone(), call.span);
    let value = Term::new(TermKind::Load(Box::new(from)), ty.clone(), span);
    Some(Term::new(TermKind::Assign(Box::new(to), Box::new(value)), ty, span))
}
