//! Functions of floating-point numbers that the compiler knows.

use lang_c::ast::{CallExpression, Expression};
use lang_c::span::Node;
use wherefore_program::{BinaryOp, Rounding};

use super::Sema;
use crate::c::ctype::CType;
use crate::c::floats::FloatFunction;
use crate::c::problem::Checked;
use crate::c::tree::{Term, TermKind};

/// A function that gives a number, by its name without a suffix.
fn number(stem: &str) -> Option<FloatFunction> {
    Some(match stem {
        "fabs" => FloatFunction::Abs,
        "sqrt" => FloatFunction::Sqrt,
        "trunc" => FloatFunction::Round(Rounding::ToZero),
        "floor" => FloatFunction::Round(Rounding::Down),
        "ceil" => FloatFunction::Round(Rounding::Up),
        "rint" | "nearbyint" | "roundeven" => FloatFunction::Round(Rounding::NearestEven),
        "round" => FloatFunction::Round(Rounding::NearestAway),
        "copysign" => FloatFunction::CopySign,
        "fmin" => FloatFunction::Min,
        "fmax" => FloatFunction::Max,
        _ => return None,
    })
}

/// A question about a number, or two.
fn question(name: &str) -> Option<FloatFunction> {
    Some(match name {
        "isnan" | "isnanf" | "isnanl" => FloatFunction::IsNan,
        "isinf" | "isinff" | "isinfl" => FloatFunction::IsInfinite,
        "isinf_sign" => FloatFunction::InfiniteSign,
        "isfinite" | "finite" | "finitef" | "finitel" => FloatFunction::IsFinite,
        "isnormal" => FloatFunction::IsNormal,
        "signbit" | "signbitf" | "signbitl" => FloatFunction::SignBit,
        "fpclassify" => FloatFunction::Classify,
        "isunordered" => FloatFunction::IsUnordered,
        "islessgreater" => FloatFunction::LessOrGreater,
        "isgreater" => FloatFunction::Greater,
        "isgreaterequal" => FloatFunction::GreaterEqual,
        _ => return None,
    })
}

/// What stands for a number that is not computed.
const CONSTANTS: [&str; 4] = ["inf", "huge_val", "nan", "nans"];

/// Questions whose answer is that of an operator.
fn operator(name: &str) -> Option<BinaryOp> {
    match name {
        "isless" => Some(BinaryOp::ULt),
        "islessequal" => Some(BinaryOp::ULe),
        "iseqsig" => Some(BinaryOp::Eq),
        _ => None,
    }
}

impl Sema<'_> {
    /// The meaning of a call of a built-in function on floating-point numbers, by its name without
    /// `__builtin_`. Of types that are not followed it is any number, or any answer.
    pub(super) fn float_builtin(&mut self, name: &str, call: &Node<CallExpression>) -> Checked<Option<Term>> {
        let known = |stem: &str| number(stem).is_some() || CONSTANTS.contains(&stem);
        let stem = name.strip_suffix(['f', 'l']).filter(|stem| known(stem));
        let (ty, stem) = match stem {
            _ if known(name) => (CType::Float(8), name),
            Some(stem) if name.ends_with('f') => (CType::Float(4), stem),
            Some(stem) => (CType::Float(self.long_double()), stem),
            None if question(name).is_some() || operator(name).is_some() => (CType::INT, name),
            None => return Ok(None),
        };
        let span = self.span(call);
        if let Some(constant) = constant(stem, &call.node.arguments) {
            if matches!(ty, CType::Float(4 | 8)) {
                return Ok(Some(Term::new(TermKind::Real(Some(constant)), ty, span)));
            }
        }
        let mut values = Vec::new();
        for argument in &call.node.arguments {
            values.push(self.value(argument)?);
        }
        if let Some(function) = number(stem) {
            let arity = if matches!(stem, "copysign" | "fmin" | "fmax") { 2 } else { 1 };
            if matches!(ty, CType::Float(4 | 8)) && values.len() == arity {
                let converted: Checked<Vec<Term>> =
                    values.into_iter().map(|value| self.convert(value, &ty)).collect();
                return Ok(Some(Term::new(TermKind::FloatCall(function, converted?), ty, span)));
            }
        } else if let Some(term) = self.float_question(name, &mut values, call)? {
            return Ok(Some(term));
        }
        // Anything, after the effects of the arguments.
        let mut terms: Vec<Term> = values.into_iter().filter(Term::has_effects).collect();
        let real = if ty.is_float() { ty.clone() } else { CType::Float(self.long_double()) };
        let anything = Term::new(TermKind::Real(None), real, span);
        terms.push(self.convert(anything, &ty)?);
        Ok(Some(match terms.len() {
            1 => terms.remove(0),
            _ => Term::new(TermKind::Comma(terms), ty, span),
        }))
    }

    /// The answer to a question about numbers of types that can be followed; else the values stay.
    fn float_question(
        &mut self,
        name: &str,
        values: &mut Vec<Term>,
        call: &Node<CallExpression>,
    ) -> Checked<Option<Term>> {
        let span = self.span(call);
        let function = question(name);
        let arity = match function {
            Some(FloatFunction::Classify) => 6,
            Some(
                FloatFunction::IsUnordered
                | FloatFunction::LessOrGreater
                | FloatFunction::Greater
                | FloatFunction::GreaterEqual,
            )
            | None => 2,
            Some(_) => 1,
        };
        if values.len() != arity || !values.iter().all(|value| value.ty.is_arithmetic()) {
            return Ok(None);
        }
        let first = if function == Some(FloatFunction::Classify) { 5 } else { 0 };
        let mut ty = values[first..].iter().fold(CType::INT, |ty, value| CType::common(&ty, &value.ty));
        if ty.is_integer() {
            ty = CType::Float(8);
        }
        if !matches!(ty, CType::Float(4 | 8)) {
            return Ok(None);
        }
        let mut converted = Vec::new();
        for (i, value) in std::mem::take(values).into_iter().enumerate() {
            converted.push(if i < first {
                self.convert(value, &CType::INT)?
            } else {
                self.convert(value, &ty)?
            });
        }
        if let (Some(op), [left, right]) = (operator(name), converted.as_slice()) {
            return Ok(Some(self.operation(op, left.clone(), right.clone(), ty, span)));
        }
        let kind = function.map(|function| TermKind::FloatCall(function, converted));
        Ok(kind.map(|kind| Term::new(kind, CType::INT, span)))
    }
}

/// The value of a constant of the compiler.
fn constant(stem: &str, arguments: &[Node<Expression>]) -> Option<f64> {
    match (stem, arguments) {
        ("inf" | "huge_val", []) => Some(f64::INFINITY),
        ("nan", [tag]) => match &tag.node {
            Expression::StringLiteral(parts) if parts.node.iter().all(|part| part == "\"\"") => {
                Some(f64::NAN)
            }
            _ => None,
        },
        _ => None,
    }
}
