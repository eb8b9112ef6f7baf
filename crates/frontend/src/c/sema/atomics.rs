//! `_Atomic` objects and members, `_Thread_local` objects, and operations that no other thread
//! interrupts.
//!
//! The types of terms have no qualifiers, so that it is noted which objects and members are
//! declared with `_Atomic`, and which pointers point to such objects. An access to one of them, and
//! a built-in function about atomic operations, is an atomic section if the program can start
//! threads. All orders of memory are taken for `seq_cst`.

use std::collections::BTreeSet;

use lang_c::ast::{TypeQualifier, TypeSpecifier};
use lang_c::span::Node;
use wherefore_program::Span;

use super::Sema;
use super::specifiers::Attributes;
use crate::c::ctype::CType;
use crate::c::threads::STARTS;
use crate::c::tree::{ObjectId, Term, TermKind};

/// What declarations say about threads.
#[derive(Debug, Default)]
pub(crate) struct Qualified {
    /// Objects declared with `_Atomic`, and arrays of such.
    pub(crate) atomic: BTreeSet<ObjectId>,
    /// Pointers to such objects.
    to_atomic: BTreeSet<ObjectId>,
    /// Members declared with `_Atomic`: the structure and the name.
    members: BTreeSet<(u32, String)>,
    /// Objects that each thread has for itself.
    pub(crate) of_thread: BTreeSet<ObjectId>,
    /// Where an operation first has another order of memory than `seq_cst`.
    pub(crate) weak_order: Option<Span>,
    /// Names of types that stand for atomic ones.
    types: BTreeSet<String>,
}

/// Whether a qualifier is `_Atomic`.
pub(super) fn is_atomic(qualifier: &Node<TypeQualifier>) -> bool {
    qualifier.node == TypeQualifier::Atomic
}

impl Sema<'_> {
    /// Whether types of a declaration make it atomic.
    pub(super) fn names_atomic(&self, types: &[&Node<TypeSpecifier>]) -> bool {
        types.iter().any(|ty| match &ty.node {
            TypeSpecifier::Atomic(_) => true,
            TypeSpecifier::TypedefName(name) => self.tree.qualified.types.contains(&name.node.name),
            _ => false,
        })
    }

    /// Takes note of what a declaration says about a name for a type.
    pub(super) fn note_type(&mut self, name: &str, base: &CType, ty: &CType, attributes: Attributes) {
        if attributes.atomic && base == ty {
            self.tree.qualified.types.insert(name.to_owned());
        } else {
            self.tree.qualified.types.remove(name);
        }
    }

    /// Takes note of what a declaration says about an object.
    pub(super) fn note_object(&mut self, id: ObjectId, base: &CType, attributes: Attributes) {
        if attributes.of_thread {
            self.tree.qualified.of_thread.insert(id);
        }
        if !attributes.atomic {
            return;
        }
        let mut ty = &self.tree.object(id).ty;
        while let CType::Array(element, _) = ty {
            ty = element;
        }
        if ty == base {
            self.tree.qualified.atomic.insert(id);
        } else if matches!(ty, CType::Pointer(to) if **to == *base) {
            self.tree.qualified.to_atomic.insert(id);
        }
    }

    /// Takes note of the members of a structure that are atomic.
    pub(super) fn note_members(&mut self, record: u32) {
        let names = std::mem::take(&mut self.atomic_members);
        self.tree.qualified.members.extend(names.into_iter().map(|name| (record, name)));
    }

    /// Whether a place is declared with `_Atomic`.
    fn is_atomic(&self, place: &Term) -> bool {
        let known = &self.tree.qualified;
        match &place.kind {
            TermKind::Object(id) => known.atomic.contains(id),
            TermKind::Field(base, field) => {
                let CType::Record(id) = base.ty else { return false };
                let name = self.tree.types.record(id).fields.get(*field).and_then(|field| field.name.clone());
                name.is_some_and(|name| known.members.contains(&(id, name)))
            }
            TermKind::Deref(pointer) => self.leads_to_atomic(pointer),
            _ => false,
        }
    }

    fn leads_to_atomic(&self, pointer: &Term) -> bool {
        let known = &self.tree.qualified;
        match &pointer.kind {
            TermKind::Offset(_, pointer, ..) | TermKind::Convert(pointer) => self.leads_to_atomic(pointer),
            TermKind::Address(place) => self.is_atomic(place),
            TermKind::Load(place) => {
                matches!(place.kind, TermKind::Object(id) if known.to_atomic.contains(&id))
            }
            _ => false,
        }
    }

    /// Whether an access to a place is a section of its own.
    pub(super) fn is_section(&self, place: &Term) -> bool {
        self.can_have_threads() && self.is_atomic(place)
    }

    /// Whether the unit can start threads.
    pub(super) fn can_have_threads(&self) -> bool {
        self.function.is_some() && STARTS.iter().any(|name| self.linkage.functions.contains_key(*name))
    }

    /// A value that is computed without interruption.
    pub(super) fn atomically(&mut self, value: Term) -> Term {
        let span = value.span;
        let end =
            |sema: &mut Self, name: &str| sema.library_call(name, CType::Void, Vec::new(), Vec::new(), span);
        let begin = end(self, "__VERIFIER_atomic_begin");
        let is_empty = value.ty == CType::Void;
        let (steps, result) = if is_empty { (vec![value], None) } else { self.kept(value) };
        let mut terms = vec![begin];
        terms.extend(steps);
        terms.push(end(self, "__VERIFIER_atomic_end"));
        let ty = result.as_ref().map_or(CType::Void, |result| result.ty.clone());
        terms.extend(result);
        Term::new(TermKind::Comma(terms), ty, span)
    }

    fn kept(&mut self, value: Term) -> (Vec<Term>, Option<Term>) {
        let (steps, result) = self.held(value);
        (steps, Some(result))
    }
}
