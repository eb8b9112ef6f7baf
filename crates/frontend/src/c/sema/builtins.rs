//! Functions that the compiler knows.

use lang_c::ast::{BinaryOperator as B, CallExpression};
use lang_c::span::Node;
use wherefore_program::{Span, UnaryOp};

use super::Sema;
use crate::c::ctype::CType;
use crate::c::problem::Checked;
use crate::c::tree::{Term, TermKind, Yields};

impl Sema<'_> {
    /// The meaning of a call of a built-in function that no declaration hides; none if the name is not one of them.
    pub(super) fn builtin(&mut self, name: &str, call: &Node<CallExpression>) -> Checked<Option<Term>> {
        let span = self.span(call);
        let arguments = &call.node.arguments;
        let known = match name {
            "__builtin_expect" => 2,
            "__builtin_constant_p" => 1,
            "__builtin_va_start" | "__builtin_va_end" | "__builtin_va_copy" => {
                return self.unsupported(call, "variable arguments are");
            }
            _ if name.starts_with("__atomic_") || name.starts_with("__sync_") => 1,
            _ => return Ok(None),
        };
        if arguments.len() < known {
            return self.fail(call, format!("`{name}` takes more arguments"));
        }
        match name {
            "__builtin_expect" => {
                let value = self.value(&arguments[0])?;
                let ty = self.tree.types.long(true);
                self.convert(value, &ty).map(Some)
            }
            "__builtin_constant_p" => {
                let constant = self.value(&arguments[0])?.constant().is_some();
                Ok(Some(Term::new(TermKind::Constant(u64::from(constant)), CType::INT, span)))
            }
            _ => self.atomic(name, call, span),
        }
    }

    /// Atomic operations are plain ones: there is one thread.
    fn atomic(&mut self, name: &str, call: &Node<CallExpression>, span: Span) -> Checked<Option<Term>> {
        let mut values = Vec::new();
        for argument in &call.node.arguments {
            values.push(self.value(argument)?);
        }
        let operation = |word: &str| match word {
            "add" => Some(B::Plus),
            "sub" => Some(B::Minus),
            "and" => Some(B::BitwiseAnd),
            "or" => Some(B::BitwiseOr),
            "xor" => Some(B::BitwiseXor),
            "nand" => Some(B::BitwiseAnd),
            _ => None,
        };
        let short = name.trim_start_matches("__atomic_").trim_start_matches("__sync_");
        let mut values = values.into_iter();
        let pointer = values.next().expect("there is one argument");
        let place = self.deref(pointer)?;
        let update = short
            .strip_suffix("_fetch")
            .or_else(|| short.strip_suffix("_and_fetch"))
            .or_else(|| short.trim_end_matches("_and").strip_suffix("_fetch"))
            .and_then(|word| operation(word.trim_end_matches("_and")))
            .map(|op| (op, Yields::New))
            .or_else(|| {
                let word = short.strip_prefix("fetch_and_").or_else(|| short.strip_prefix("fetch_"))?;
                operation(word).map(|op| (op, Yields::Old))
            });
        let mut next = |sema: &mut Self| match values.next() {
            Some(value) => Ok(value),
            None => sema.fail(call, format!("`{name}` takes more arguments")),
        };
        if let Some((op, yields)) = update {
            let value = next(self)?;
            // A pointer moves by bytes here.
            if place.ty.is_pointer() {
                return self.unsupported(call, "atomic arithmetic on pointers is");
            }
            let mut term = self.update(place, op, value, yields, span)?;
            if short.contains("nand") {
                if let TermKind::Update(_, value, _) = &mut term.kind {
                    let ty = value.ty.clone();
                    let inner = value.clone();
                    **value = Term::new(TermKind::Unary(UnaryOp::BitNot, inner), ty, span);
                }
            }
            return Ok(Some(term));
        }
        let ty = place.ty.clone();
        let assign = |place: Term, value: Term| {
            let ty = place.ty.clone();
            Term::new(TermKind::Assign(Box::new(place), Box::new(value)), ty, span)
        };
        let term = match short {
            "load_n" => self.rvalue(place),
            "load" => {
                let target = next(self)?;
                let target = self.deref(target)?;
                let value = self.rvalue(place);
                assign(target, value)
            }
            "store_n" => {
                let value = next(self)?;
                assign(place, self.convert(value, &ty)?)
            }
            "store" => {
                let from = next(self)?;
                let from = self.deref(from)?;
                let value = self.rvalue(from);
                assign(place, value)
            }
            "exchange_n" | "lock_test_and_set" => {
                let value = next(self)?;
                let value = self.convert(value, &ty)?;
                Term::new(TermKind::Update(Box::new(place), Box::new(value), Yields::Old), ty, span)
            }
            "exchange" => {
                let (from, to) = (next(self)?, next(self)?);
                let (from, to) = (self.deref(from)?, self.deref(to)?);
                let value = self.rvalue(from);
                let swapped =
                    Term::new(TermKind::Update(Box::new(place), Box::new(value), Yields::Old), ty, span);
                assign(to, swapped)
            }
            "lock_release" => {
                let zero = Term::new(TermKind::Constant(0), CType::INT, span);
                assign(place, self.convert(zero, &ty)?)
            }
            "compare_exchange_n" | "compare_exchange" => {
                let (expected, value) = (next(self)?, next(self)?);
                let expected = self.deref(expected)?;
                let value = if short.ends_with("_n") {
                    self.convert(value, &ty)?
                } else {
                    let from = self.deref(value)?;
                    self.rvalue(from)
                };
                // `*p == *e ? (*p = v, 1) : (*e = *p, 0)`
                let (now, wanted) = (self.rvalue(place.clone()), self.rvalue(expected.clone()));
                let same = self.combine(&B::Equals, now.clone(), wanted, span)?;
                let number = |value| Term::new(TermKind::Constant(value), CType::Bool, span);
                let pair =
                    |first, value| Term::new(TermKind::Comma(vec![first, number(value)]), CType::Bool, span);
                let then = pair(assign(place, value), 1);
                let otherwise = pair(assign(expected, now), 0);
                let kind = TermKind::Conditional(Box::new(same), Box::new(then), Box::new(otherwise));
                Term::new(kind, CType::Bool, span)
            }
            "synchronize" | "thread_fence" | "signal_fence" => {
                Term::new(TermKind::Constant(0), CType::INT, span)
            }
            _ => return self.unsupported(call, &format!("`{name}` is")),
        };
        Ok(Some(term))
    }
}
