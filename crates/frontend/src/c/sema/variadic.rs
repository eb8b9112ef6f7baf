//! `va_list`, `va_start`, `va_arg` and `va_copy`.
//!
//! The variable arguments of a call lie in memory one after the other, each in a multiple of eight
//! bytes (`c/variadic.rs`), and a `va_list` holds the address of the next one. For LP64 it is an
//! array of one structure as on x86-64, so that a function that gets one changes that of its
//! caller; for ILP32 it is a pointer.

use lang_c::ast::{Expression, VaArgExpression};
use lang_c::span::Node;
use std::rc::Rc;
use wherefore_program::{BinaryOp, Span};

use super::Sema;
use crate::c::ctype::{CType, DataModel, Field, Length, Record, Rest};
use crate::c::problem::{Checked, Problem};
use crate::c::tree::{Lifetime, Term, TermKind, Yields};
use crate::c::variadic::slot;

/// The member of the structure that is the address of the next argument.
const NEXT: &str = "next";

impl Sema<'_> {
    /// The type `va_list`.
    pub(super) fn va_list(&mut self) -> CType {
        let pointer = CType::CHAR.pointer_to();
        if self.tree.types.model == DataModel::Ilp32 {
            return pointer;
        }
        let types = &mut self.tree.types;
        let id = *types.va_list.get_or_insert_with(|| {
            let next = Field { name: Some(NEXT.to_owned()), ty: pointer, offset: 0, bits: None };
            types.records.push(Record {
                name: "__va_list_tag".to_owned(),
                alias: None,
                fields: vec![next],
                size: 24,
                align: 8,
                complete: true,
                union: false,
                said_size: None,
                problem: None,
                stands_for: None,
            });
            types.records.len() as u32 - 1
        });
        CType::Array(Rc::new(CType::Record(id)), Length::Known(1))
    }

    /// The place in a `va_list` that holds the address of the next argument.
    fn next_argument(&mut self, list: &Node<Expression>) -> Checked<Term> {
        let term = self.term(list)?;
        let span = term.span;
        let place = if self.tree.types.model == DataModel::Ilp32 {
            term
        } else {
            let pointer = self.rvalue(term);
            let tag = self.tree.types.va_list;
            if !matches!(pointer.ty.pointee(), Some(CType::Record(id)) if Some(*id) == tag) {
                return Err(Problem::new(span, "a `va_list` is expected"));
            }
            let whole = self.deref(pointer)?;
            self.field(whole, NEXT, span)?
        };
        if !place.is_place() || place.ty != CType::CHAR.pointer_to() {
            return Err(Problem::new(span, "a `va_list` is expected"));
        }
        Ok(place)
    }

    pub(super) fn va_start(&mut self, list: &Node<Expression>, span: Span) -> Checked<Term> {
        let place = self.next_argument(list)?;
        let function = self.function.filter(|id| self.tree.function(*id).signature.rest == Rest::Variadic);
        let Some(function) = function else {
            return Err(Problem::new(span, "this function has no variable arguments"));
        };
        let ty = CType::CHAR.pointer_to();
        let rest = match self.tree.function(function).rest {
            Some(rest) => rest,
            None => {
                let rest = self.automatic("arguments", ty.clone(), span);
                self.tree.objects[rest.0 as usize].lifetime = Lifetime::Parameter;
                *self.tree.functions[function.0 as usize].rest.insert(rest)
            }
        };
        let object = Term::new(TermKind::Object(rest), ty.clone(), span);
        let value = Term::new(TermKind::Load(Box::new(object)), ty.clone(), span);
        let assign = Term::new(TermKind::Assign(Box::new(place), Box::new(value)), ty, span);
        self.convert(assign, &CType::Void)
    }

    pub(super) fn va_copy(
        &mut self,
        to: &Node<Expression>,
        from: &Node<Expression>,
        span: Span,
    ) -> Checked<Term> {
        let (to, from) = (self.next_argument(to)?, self.next_argument(from)?);
        let ty = from.ty.clone();
        let value = Term::new(TermKind::Load(Box::new(from)), ty.clone(), span);
        let assign = Term::new(TermKind::Assign(Box::new(to), Box::new(value)), ty, span);
        self.convert(assign, &CType::Void)
    }

    /// `va_arg(list, type)`: what the next argument is, while the list moves behind it.
    pub(super) fn va_arg(&mut self, syntax: &Node<VaArgExpression>) -> Checked<Term> {
        let span = self.span(syntax);
        let place = self.next_argument(&syntax.node.va_list)?;
        let ty = self.type_name(&syntax.node.type_name)?;
        let small = match ty {
            CType::Int { bits, .. } => bits < 32,
            CType::Bool | CType::Float(4) => true,
            _ => false,
        };
        let size = self.tree.types.size(&ty).filter(|_| !small);
        if matches!(ty, CType::Void | CType::Function(_) | CType::Array(..)) || size.is_none() {
            return self.unsupported(syntax, "an argument of this type is");
        }
        let pointer = place.ty.clone();
        let by = Term::new(TermKind::Constant(slot(size.unwrap_or(0))), self.tree.types.long(true), span);
        let old = Box::new(Term::new(TermKind::Old, pointer.clone(), span));
        let moved = Term::new(TermKind::Offset(BinaryOp::Add, old, Box::new(by), 1), pointer.clone(), span);
        let kind = TermKind::Update(Box::new(place), Box::new(moved), Yields::Old);
        let address = Term::new(kind, pointer, span);
        let address = Term::new(TermKind::Convert(Box::new(address)), ty.pointer_to(), span);
        let place = self.deref(address)?;
        Ok(self.rvalue(place))
    }
}
