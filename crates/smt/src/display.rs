//! Terms as text for people: infix, in the manner of C.

use std::fmt;

use crate::operation::Op;
use crate::sort::Sort;
use crate::terms::{Kind, Term, Terms};

/// A term that can be printed; made by [`Terms::display`].
pub struct Readable<'a> {
    terms: &'a Terms,
    term: Term,
}

impl Terms {
    /// The term in infix form. Signed operations bear an `s` (`<s`, `/s`), `x[7:0]` are bits of
    /// `x`, `a[i]` is an element, `a[i := v]` an array after a write. Shared subterms are printed
    /// as often as they occur.
    ///
    /// ```
    /// use wherefore_smt::{Sort, Terms};
    ///
    /// let mut terms = Terms::new();
    /// let [x, y] = ["x", "y"].map(|name| terms.variable(name, Sort::Bits(8)));
    /// let (sum, three) = (terms.sub(x, y), terms.bits(3, 8));
    /// let (less, equal) = (terms.slt(sum, three), terms.eq(x, three));
    /// let both = terms.and(less, equal);
    /// assert_eq!(terms.display(both).to_string(), "x - y <s 3 && x == 3");
    /// ```
    pub fn display(&self, term: Term) -> Readable<'_> {
        Readable { terms: self, term }
    }
}

/// What is still to be printed.
enum Todo {
    Text(&'static str),
    Name(String),
    Term(Term, u8),
    Slice(u32, u32),
}

/// How tightly the outermost operator binds: as in C, from `?:` up to what needs no brackets.
fn tightness(terms: &Terms, term: Term) -> u8 {
    match terms.kind(term) {
        Kind::Ite(..) => 0,
        Kind::Or(_) => 1,
        Kind::And(_) => 2,
        Kind::Binary(Op::BitOr, ..) => 3,
        Kind::Binary(Op::BitXor, ..) => 4,
        Kind::Binary(Op::BitAnd, ..) => 5,
        Kind::Eq(..) => 6,
        Kind::ULt(..) | Kind::SLt(..) => 7,
        Kind::Binary(Op::Shl | Op::LShr | Op::AShr, ..) => 8,
        Kind::Binary(Op::Add, ..) => 9,
        Kind::Binary(..) => 10,
        Kind::Not(inner) => match terms.kind(*inner) {
            Kind::Eq(..) => 6,
            Kind::ULt(..) | Kind::SLt(..) => 7,
            _ => 11,
        },
        Kind::Neg(_) | Kind::BitNot(_) => 11,
        _ => 12,
    }
}

impl fmt::Display for Readable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut stack = vec![Todo::Term(self.term, 0)];
        let mut parts = Vec::new();
        while let Some(todo) = stack.pop() {
            match todo {
                Todo::Text(text) => f.write_str(text)?,
                Todo::Name(name) => f.write_str(&name)?,
                Todo::Slice(high, low) => write!(f, "[{high}:{low}]")?,
                Todo::Term(term, wanted) => {
                    let own = tightness(self.terms, term);
                    if own < wanted {
                        parts.push(Todo::Text("("));
                    }
                    self.write(f, term, own, &mut parts)?;
                    if own < wanted {
                        parts.push(Todo::Text(")"));
                    }
                    stack.extend(parts.drain(..).rev());
                }
            }
        }
        Ok(())
    }
}

impl Readable<'_> {
    /// Prints a leaf, or says what a term is made of.
    fn write(&self, f: &mut fmt::Formatter<'_>, term: Term, own: u8, parts: &mut Vec<Todo>) -> fmt::Result {
        let terms = self.terms;
        let mut infix = |a: Term, sign: &'static str, b: Term| {
            parts.extend([
                Todo::Term(a, own),
                Todo::Text(" "),
                Todo::Text(sign),
                Todo::Text(" "),
                Todo::Term(b, own + 1),
            ]);
        };
        match terms.kind(term) {
            // An opening bracket may be waiting: leaves have none.
            Kind::Constant(value) if terms.sort(term) == Sort::Bool => write!(f, "{}", *value == 1)?,
            Kind::Constant(value) => write!(f, "{value}")?,
            Kind::Variable(_) => f.write_str(terms.name(term).unwrap_or_default())?,
            Kind::Eq(a, b) => infix(*a, "==", *b),
            Kind::ULt(a, b) => infix(*a, "<", *b),
            Kind::SLt(a, b) => infix(*a, "<s", *b),
            Kind::Binary(Op::Add, a, b) => match terms.kind(*b) {
                Kind::Neg(inner) => infix(*a, "-", *inner),
                _ => infix(*a, "+", *b),
            },
            Kind::Binary(op, a, b) => infix(*a, op.infix(), *b),
            Kind::Not(inner) => match terms.kind(*inner) {
                Kind::Eq(a, b) => infix(*a, "!=", *b),
                Kind::ULt(a, b) => infix(*b, "<=", *a),
                Kind::SLt(a, b) => infix(*b, "<=s", *a),
                _ => parts.extend([Todo::Text("!"), Todo::Term(*inner, own)]),
            },
            Kind::Neg(a) => parts.extend([Todo::Text("-"), Todo::Term(*a, own)]),
            Kind::BitNot(a) => parts.extend([Todo::Text("~"), Todo::Term(*a, own)]),
            Kind::And(list) => joined(list, " && ", own, parts),
            Kind::Or(list) => joined(list, " || ", own, parts),
            Kind::Ite(c, a, b) => parts.extend([
                Todo::Term(*c, 1),
                Todo::Text(" ? "),
                Todo::Term(*a, 1),
                Todo::Text(" : "),
                Todo::Term(*b, 0),
            ]),
            Kind::Extract { value, low } => {
                parts.push(Todo::Term(*value, own));
                parts.push(Todo::Slice(low + terms.width(term) - 1, *low));
            }
            Kind::Float(op, list) => {
                parts.push(Todo::Name(op.name()));
                call("(", list, parts);
            }
            Kind::Concat(a, b) => call("concat(", &[*a, *b], parts),
            Kind::ZeroExtend(a) => call("zext(", &[*a], parts),
            Kind::SignExtend(a) => call("sext(", &[*a], parts),
            Kind::ConstArray(a) => call("all(", &[*a], parts),
            Kind::Select(a, i) => {
                parts.extend([Todo::Term(*a, own), Todo::Text("["), Todo::Term(*i, 0), Todo::Text("]")]);
            }
            Kind::Store(a, i, v) => parts.extend([
                Todo::Term(*a, own),
                Todo::Text("["),
                Todo::Term(*i, 0),
                Todo::Text(" := "),
                Todo::Term(*v, 0),
                Todo::Text("]"),
            ]),
        }
        Ok(())
    }
}

fn joined(list: &[Term], sign: &'static str, own: u8, parts: &mut Vec<Todo>) {
    for (i, term) in list.iter().enumerate() {
        if i > 0 {
            parts.push(Todo::Text(sign));
        }
        parts.push(Todo::Term(*term, own + 1));
    }
}

fn call(name: &'static str, arguments: &[Term], parts: &mut Vec<Todo>) {
    parts.push(Todo::Text(name));
    joined(arguments, ", ", 0, parts);
    parts.push(Todo::Text(")"));
}
