//! Built-in functions on bits, and arithmetic that tells whether it overflows.

use lang_c::ast::{BinaryOperator as B, CallExpression};
use lang_c::span::Node;
use wherefore_program::{Scalar, Span};

use super::Sema;
use crate::c::ctype::CType;
use crate::c::problem::Checked;
use crate::c::tree::{Term, TermKind};

/// An operation on the bits of one number.
#[derive(Clone, Copy)]
struct BitOperation {
    /// The function of the library that does it.
    function: &'static str,
    /// The type that the argument has.
    from: IntegerType,
    /// The type of the library's parameter.
    wide: IntegerType,
    result: IntegerType,
}

/// An integer type: its bits, and whether it is signed.
type IntegerType = (u32, bool);

fn integer((bits, signed): IntegerType) -> CType {
    CType::Int { bits, signed }
}

impl Sema<'_> {
    /// The operation that a name without `__builtin_` means.
    fn bit_operation(&self, name: &str) -> Option<BitOperation> {
        let long = self.tree.types.model.pointer_bits();
        let swap = |bits| (bits, false);
        let known = |function, from, result| BitOperation { function, from, wide: from, result };
        match name {
            "bswap16" => return Some(known("__builtin_bswap16", swap(16), swap(16))),
            "bswap32" => return Some(known("__builtin_bswap32", swap(32), swap(32))),
            "bswap64" => return Some(known("__builtin_bswap64", swap(64), swap(64))),
            _ => {}
        }
        let (stem, bits) = match (name.strip_suffix("ll"), name.strip_suffix('l')) {
            (Some(stem), _) => (stem, 64),
            (None, Some(stem)) => (stem, long),
            (None, None) => (name, 32),
        };
        let (function, signed) = match stem {
            "clz" if bits == 32 => return Some(known("__builtin_clz", (32, false), (32, true))),
            "clz" => ("__builtin_clzll", false),
            "ctz" => ("__builtin_ctzll", false),
            "popcount" => ("__builtin_popcountll", false),
            "parity" => ("__builtin_parityll", false),
            "ffs" => ("__builtin_ffsll", true),
            "clrsb" if bits == 64 => ("__builtin_clrsbll", true),
            "clrsb" => return Some(known("__builtin_clrsb", (32, true), (32, true))),
            _ => return None,
        };
        Some(BitOperation { function, from: (bits, signed), wide: (64, signed), result: (32, true) })
    }

    /// A call of an operation on bits; none if the name is not one of them.
    pub(super) fn bits_of(&mut self, name: &str, call: &Node<CallExpression>) -> Checked<Option<Term>> {
        let Some(short) = name.strip_prefix("__builtin_") else { return Ok(None) };
        let Some(operation) = self.bit_operation(short) else { return Ok(None) };
        let span = self.span(call);
        let [argument] = call.node.arguments.as_slice() else {
            return self.fail(call, format!("`{name}` takes one argument"));
        };
        let value = self.value(argument)?;
        let value = self.convert(value, &integer(operation.from))?;
        let value = self.convert(value, &integer(operation.wide))?;
        if let Some(folded) = value.constant().and_then(|value| fold(operation.function, value)) {
            let mask = Scalar::Bits(operation.result.0).max();
            return Ok(Some(Term::new(TermKind::Constant(folded & mask), integer(operation.result), span)));
        }
        let parameters = vec![integer(operation.wide)];
        let result = integer(operation.result);
        Ok(Some(self.library_call(operation.function, result, parameters, vec![value], span)))
    }

    /// `__builtin_add_overflow` and its like; none if the name is not one of them.
    pub(super) fn overflow(&mut self, name: &str, call: &Node<CallExpression>) -> Checked<Option<Term>> {
        let Some(short) = name.strip_prefix("__builtin_") else { return Ok(None) };
        let (short, stored) = match (short.strip_suffix("_overflow"), short.strip_suffix("_overflow_p")) {
            (Some(short), _) => (short, true),
            (None, Some(short)) => (short, false),
            (None, None) => return Ok(None),
        };
        let long = self.tree.types.model.pointer_bits();
        let (plain, fixed) = match short {
            "add" | "sub" | "mul" => (short, None),
            _ => {
                let signed = short.starts_with('s');
                let rest = short.get(1..).unwrap_or("");
                let bits = match rest.get(3..) {
                    Some("") => 32,
                    Some("l") => long,
                    Some("ll") => 64,
                    _ => return Ok(None),
                };
                (rest.get(..3).unwrap_or(""), Some(CType::Int { bits, signed }))
            }
        };
        let (op, function) = match plain {
            "add" => (B::Plus, "__builtin_own_add"),
            "sub" => (B::Minus, "__builtin_own_sub"),
            "mul" => (B::Multiply, "__builtin_own_mul"),
            _ => return Ok(None),
        };
        let [left, right, place] = call.node.arguments.as_slice() else {
            return self.fail(call, format!("`{name}` takes three arguments"));
        };
        let span = self.span(call);
        let (mut left, mut right) = (self.value(left)?, self.value(right)?);
        if let Some(ty) = &fixed {
            (left, right) = (self.convert(left, ty)?, self.convert(right, ty)?);
        }
        let third = self.value(place)?;
        let target = if stored { Some(self.deref(third.clone())?) } else { None };
        let ty = target.as_ref().map_or(third.ty.clone(), |target| target.ty.clone());
        if [&ty, &left.ty, &right.ty].iter().any(|ty| self.tree.types.wide(ty).is_some()) {
            return self.wide_overflow(&op, (left, right), (target, third), ty, span).map(Some);
        }
        let (CType::Int { bits, signed }, true, true) = (&ty, left.ty.is_integer(), right.ty.is_integer())
        else {
            return self.unsupported(call, &format!("`{name}` of these types is"));
        };
        let (bits, signed) = (*bits, *signed);
        let (mut steps, a) = self.held(left);
        let (more, b) = self.held(right);
        steps.extend(more);
        if target.is_none() && third.has_effects() {
            steps.push(third);
        }
        // The low 64 bits of both, and what is in front of them.
        let wide = CType::Int { bits: 64, signed: false };
        let number = |value: u64| Term::new(TermKind::Constant(value), CType::INT, span);
        let mut arguments = Vec::new();
        for operand in [&a, &b] {
            arguments.push(self.convert(operand.clone(), &wide)?);
            let front = if operand.ty.is_signed() {
                let negative = self.combine(&B::Less, operand.clone(), number(0), span)?;
                let negative = self.convert(negative, &CType::LONG_LONG)?;
                let zero = self.convert(number(0), &CType::LONG_LONG)?;
                self.combine(&B::Minus, zero, negative, span)?
            } else {
                self.convert(number(0), &CType::LONG_LONG)?
            };
            arguments.push(front);
        }
        let low = self.combine(&op, arguments[0].clone(), arguments[2].clone(), span)?;
        let narrow = [&a, &b].iter().all(|operand| self.bits(&operand.ty) <= 32) && bits <= 32;
        let overflows = if narrow {
            // 64 bits hold the exact result.
            let result = self.convert(low.clone(), &ty)?;
            let back = self.convert(result, &wide)?;
            self.combine(&B::NotEquals, back, low.clone(), span)?
        } else {
            arguments.push(number(u64::from(bits)));
            arguments.push(number(u64::from(signed)));
            let parameters =
                vec![wide.clone(), CType::LONG_LONG, wide, CType::LONG_LONG, CType::INT, CType::INT];
            self.library_call(function, CType::INT, parameters, arguments, span)
        };
        let overflows = self.convert(overflows, &CType::Bool)?;
        if let Some(target) = target {
            let value = self.convert(low, &ty)?;
            steps.push(Term::new(TermKind::Assign(Box::new(target), Box::new(value)), ty, span));
        }
        steps.push(overflows);
        Ok(Some(Term::new(TermKind::Comma(steps), CType::Bool, span)))
    }

    /// A value that is evaluated once: the steps that do so, and what stands for it.
    pub(super) fn held(&mut self, value: Term) -> (Vec<Term>, Term) {
        if value.constant().is_some() {
            return (Vec::new(), value);
        }
        let (ty, span) = (value.ty.clone(), value.span);
        let id = self.automatic("held", ty.clone(), span);
        let place = Term::new(TermKind::Object(id), ty.clone(), span);
        let assign = TermKind::Assign(Box::new(place.clone()), Box::new(value));
        let read = Term::new(TermKind::Load(Box::new(place)), ty.clone(), span);
        (vec![Term::new(assign, ty, span)], read)
    }

    /// A call of a function of our library with arguments of the right types.
    pub(super) fn library_call(
        &mut self,
        name: &str,
        result: CType,
        parameters: Vec<CType>,
        arguments: Vec<Term>,
        span: Span,
    ) -> Term {
        let id = self.library_function(name, result.clone(), parameters, span);
        let ty = CType::Function(self.tree.function(id).signature.clone());
        let callee = Term::new(TermKind::Function(id), ty, span);
        Term::new(TermKind::Call(Box::new(callee), arguments), result, span)
    }
}

/// The result for a constant; none if it is open.
fn fold(function: &str, value: u64) -> Option<u64> {
    Some(match function {
        "__builtin_bswap16" => u64::from((value as u16).swap_bytes()),
        "__builtin_bswap32" => u64::from((value as u32).swap_bytes()),
        "__builtin_bswap64" => value.swap_bytes(),
        "__builtin_popcountll" => u64::from(value.count_ones()),
        "__builtin_parityll" => u64::from(value.count_ones() % 2),
        "__builtin_ffsll" => {
            if value == 0 {
                0
            } else {
                u64::from(value.trailing_zeros()) + 1
            }
        }
        "__builtin_ctzll" if value != 0 => u64::from(value.trailing_zeros()),
        "__builtin_clzll" if value != 0 => u64::from(value.leading_zeros()),
        "__builtin_clz" if value != 0 => u64::from((value as u32).leading_zeros()),
        "__builtin_clrsb" => {
            let value = value as u32;
            let flipped = if (value as i32) < 0 { !value } else { value };
            u64::from(flipped.leading_zeros()) - 1
        }
        "__builtin_clrsbll" => {
            let flipped = if (value as i64) < 0 { !value } else { value };
            u64::from(flipped.leading_zeros()) - 1
        }
        _ => return None,
    })
}
