//! Terms in the syntax of C, with the names of the source.

mod floats;

use rustc_hash::FxHashMap;
use wherefore_smt::{FloatOp, FloatOperation, Kind, Op, Sort, Term, Terms};

/// Terms with more parts than this are not written out.
const MOST_PARTS: usize = 60;

/// How a comparison is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Order {
    /// The side whose text comes first in the alphabet stands left.
    #[default]
    Alphabetical,
    /// The smaller side stands left: `x < y`.
    Less,
    /// The greater side stands left: `y > x`.
    Greater,
}

/// Writes terms.
pub(crate) struct Writer<'t> {
    pub terms: &'t Terms,
    /// What unknowns are called.
    pub names: &'t FxHashMap<Term, String>,
    /// The second parameter of `main`: what it points to is written as `argv[1][0]`.
    pub arguments: Option<Term>,
}

/// Both sides of a comparison with constants on the right.
struct Sides {
    left: String,
    right: String,
    /// Whether a constant was moved, which is right only without overflow.
    moved: bool,
}

impl Writer<'_> {
    /// A truth value as text, and whether the text is right only if nothing overflows. None if it
    /// is too long.
    pub fn constraint(&self, term: Term, order: Order) -> Option<(String, bool)> {
        if self.terms.size(term) > MOST_PARTS {
            return None;
        }
        let (holds, inner) = match self.terms.kind(term) {
            Kind::Not(inner) => (false, *inner),
            _ => (true, term),
        };
        match *self.terms.kind(inner) {
            Kind::Eq(a, b) if self.terms.sort(a) != Sort::Bool => {
                let signed = !self.is_part(a) && !self.is_part(b);
                let Sides { left, right, .. } = self.sides(a, b, signed);
                let sign = if holds { "==" } else { "!=" };
                // A constant stands on the right.
                let swap = left.starts_with(|c: char| c.is_ascii_digit() || c == '-')
                    || (order == Order::Alphabetical && !is_number(&right) && right < left);
                let (left, right) = if swap { (right, left) } else { (left, right) };
                Some((format!("{left} {sign} {right}"), false))
            }
            Kind::SLt(a, b) => Some(self.less(a, b, holds, order, true)),
            Kind::ULt(a, b) if self.nan(a, b).is_some() => {
                let text = self.nan(a, b)?;
                Some((if holds { text } else { format!("!{text}") }, false))
            }
            Kind::ULt(a, b) => Some(self.less(a, b, holds, order, false)),
            _ => Some((self.text(term, 0, true), false)),
        }
    }

    fn less(&self, a: Term, b: Term, holds: bool, order: Order, signed: bool) -> (String, bool) {
        // Constants move only where that is the usual reading: signed arithmetic of C does not
        // overflow.
        let sides = if signed {
            self.sides(a, b, signed)
        } else {
            Sides { left: self.text(a, 5, false), right: self.text(b, 5, false), moved: false }
        };
        let Sides { left, right, moved } = sides;
        let swap = match order {
            _ if is_number(&left) => true,
            _ if is_number(&right) => false,
            Order::Less => false,
            Order::Greater => true,
            Order::Alphabetical => right < left,
        };
        let sign = match (swap, holds) {
            (false, true) => "<",
            (false, false) => ">=",
            (true, true) => ">",
            (true, false) => "<=",
        };
        let text = if swap { format!("{right} {sign} {left}") } else { format!("{left} {sign} {right}") };
        (text, moved)
    }

    /// `a + 1 < b` becomes `a` and `b - 1`.
    fn sides(&self, a: Term, b: Term, signed: bool) -> Sides {
        let ((rest_a, constant_a), (rest_b, constant_b)) = (self.split(a), self.split(b));
        let plain = |term: Term| self.text(term, 5, signed);
        let with = |rest: Option<Term>, constant: i64| match (rest, constant) {
            (None, constant) => constant.to_string(),
            (Some(rest), 0) => self.text(rest, 5, signed),
            (Some(rest), constant) if constant > 0 => format!("{} + {constant}", self.text(rest, 8, signed)),
            (Some(rest), constant) => {
                format!("{} - {}", self.text(rest, 8, signed), constant.unsigned_abs())
            }
        };
        match (rest_a, rest_b) {
            (Some(rest), _) if constant_a != 0 => {
                let Some(moved) = constant_b.checked_sub(constant_a) else {
                    return Sides { left: plain(a), right: plain(b), moved: false };
                };
                Sides { left: self.text(rest, 5, signed), right: with(rest_b, moved), moved: true }
            }
            (None, Some(rest)) if constant_b != 0 => {
                let Some(moved) = constant_a.checked_sub(constant_b) else {
                    return Sides { left: plain(a), right: plain(b), moved: false };
                };
                Sides { left: moved.to_string(), right: self.text(rest, 5, signed), moved: true }
            }
            _ => Sides { left: plain(a), right: plain(b), moved: false },
        }
    }

    /// Whether some bits of a value are taken, which C reads as a number that is not negative.
    fn is_part(&self, term: Term) -> bool {
        matches!(self.terms.kind(term), Kind::Extract { .. }) || !is_width_of_c(self.terms.width(term))
    }

    /// Some bits of a value, from the lowest.
    fn part(&self, value: Term, low: u32, width: u32, around: u8, is_signed: bool) -> String {
        let sign = if is_signed { "" } else { "u" };
        let whole = |around: u8| match low {
            0 => self.text(value, around, is_signed),
            _ => format!("{} >> {low}", self.text(value, 8, is_signed)),
        };
        if is_width_of_c(width) {
            let text = if low == 0 { whole(12) } else { format!("({})", whole(0)) };
            return format!("({sign}int{width}_t) {text}");
        }
        let text = format!("{} & {}", whole(4), u64::MAX >> (64 - width.clamp(1, 64)));
        if around > 4 { format!("({text})") } else { text }
    }

    /// What a sum is without its constant, and the constant.
    fn split(&self, term: Term) -> (Option<Term>, i64) {
        match self.terms.kind(term) {
            Kind::Constant(value) => (None, signed(*value, self.terms.width(term))),
            Kind::Binary(Op::Add, a, b) => match (self.terms.constant(*a), self.terms.constant(*b)) {
                (_, Some(value)) => (Some(*a), signed(value, self.terms.width(term))),
                (Some(value), _) => (Some(*b), signed(value, self.terms.width(term))),
                _ => (Some(term), 0),
            },
            _ => (Some(term), 0),
        }
    }

    /// A term as text, in brackets if it binds less tightly than `around`.
    pub fn text(&self, term: Term, around: u8, is_signed: bool) -> String {
        let infix = |a: Term, sign: &str, b: Term, own: u8| {
            let text =
                format!("{} {sign} {}", self.text(a, own, is_signed), self.text(b, own + 1, is_signed));
            if own < around { format!("({text})") } else { text }
        };
        let prefix = |sign: &str, a: Term| format!("{sign}{}", self.text(a, 12, is_signed));
        let list = |parts: &[Term], sign: &str, own: u8| {
            let parts: Vec<String> = parts.iter().map(|part| self.text(*part, own + 1, is_signed)).collect();
            let text = parts.join(sign);
            if own < around { format!("({text})") } else { text }
        };
        let in_brackets = |text: String, own: u8| if own < around { format!("({text})") } else { text };
        match self.terms.kind(term) {
            Kind::Constant(value) if self.terms.sort(term) == Sort::Bool => value.to_string(),
            Kind::Constant(value) if is_signed => signed(*value, self.terms.width(term)).to_string(),
            Kind::Constant(value) => value.to_string(),
            Kind::Variable(_) => self.name(term),
            Kind::Not(inner) => match self.terms.kind(*inner) {
                Kind::Eq(..) | Kind::SLt(..) | Kind::ULt(..) => {
                    let text =
                        self.constraint(term, Order::Alphabetical).map_or_else(|| "…".to_owned(), |c| c.0);
                    in_brackets(text, 5)
                }
                Kind::Float(FloatOp { operation: FloatOperation::Equal, .. }, operands) => {
                    self.float_comparison("!=", operands, around)
                }
                _ => prefix("!", *inner),
            },
            Kind::Eq(..) | Kind::SLt(..) | Kind::ULt(..) => {
                let text = match *self.terms.kind(term) {
                    Kind::Eq(a, b) => {
                        format!("{} == {}", self.text(a, 5, is_signed), self.text(b, 6, is_signed))
                    }
                    Kind::SLt(a, b) => format!("{} < {}", self.text(a, 5, true), self.text(b, 6, true)),
                    Kind::ULt(a, b) if self.nan(a, b).is_some() => return self.nan(a, b).unwrap_or_default(),
                    Kind::ULt(a, b) => format!("{} < {}", self.text(a, 5, false), self.text(b, 6, false)),
                    _ => String::new(),
                };
                in_brackets(text, 5)
            }
            Kind::And(parts) => list(parts, " && ", 2),
            Kind::Or(parts) => list(parts, " || ", 1),
            Kind::Ite(condition, then, otherwise) => {
                let [condition, then, otherwise] =
                    [*condition, *then, *otherwise].map(|part| self.text(part, 1, is_signed));
                in_brackets(format!("{condition} ? {then} : {otherwise}"), 0)
            }
            Kind::Neg(inner) => prefix("-", *inner),
            Kind::BitNot(inner) => prefix("~", *inner),
            Kind::Binary(op, a, b) => self.operation(*op, *a, *b, around, &infix),
            Kind::Extract { value, low } => self.part(*value, *low, self.terms.width(term), around, false),
            Kind::Concat(high, low) => {
                let width = self.terms.width(*low);
                let text = format!(
                    "{} << {width} | {}",
                    self.text(*high, 8, is_signed),
                    self.text(*low, 4, is_signed)
                );
                in_brackets(text, 3)
            }
            Kind::Float(op, operands) => self.float(*op, operands, around),
            Kind::SignExtend(inner) => match self.terms.kind(*inner) {
                Kind::Extract { value, low } if is_width_of_c(self.terms.width(*inner)) => {
                    self.part(*value, *low, self.terms.width(*inner), around, true)
                }
                _ => self.text(*inner, around, is_signed),
            },
            Kind::ZeroExtend(inner) => self.text(*inner, around, is_signed),
            Kind::Select(array, index) => {
                if let Some(text) = self.argument(*array, *index) {
                    return text;
                }
                format!("{}[{}]", self.text(*array, 12, false), self.text(*index, 0, false))
            }
            Kind::Store(array, ..) => self.text(*array, around, is_signed),
            Kind::ConstArray(value) => self.text(*value, around, is_signed),
        }
    }

    fn operation(
        &self,
        op: Op,
        a: Term,
        b: Term,
        around: u8,
        infix: &dyn Fn(Term, &str, Term, u8) -> String,
    ) -> String {
        match op {
            Op::Add => match (self.terms.kind(b), self.terms.constant(b)) {
                (Kind::Neg(inner), _) => infix(a, "-", *inner, 9),
                (_, Some(value)) if signed(value, self.terms.width(b)) < 0 => {
                    let less = signed(value, self.terms.width(b)).unsigned_abs();
                    let text = format!("{} - {less}", self.text(a, 9, true));
                    if around > 9 { format!("({text})") } else { text }
                }
                _ => infix(a, "+", b, 9),
            },
            Op::Mul => infix(a, "*", b, 10),
            Op::UDiv | Op::SDiv => infix(a, "/", b, 10),
            Op::URem | Op::SRem => infix(a, "%", b, 10),
            Op::Shl => infix(a, "<<", b, 8),
            Op::LShr | Op::AShr => infix(a, ">>", b, 8),
            Op::BitAnd => infix(a, "&", b, 4),
            Op::BitXor | Op::BitOr => {
                let sign = if op == Op::BitXor { "^" } else { "|" };
                // The two do not bind alike in C.
                match self.terms.kind(a) {
                    Kind::Binary(Op::BitXor | Op::BitOr, ..) | Kind::Concat(..) if !self.is_same(op, a) => {
                        let text = format!("({}) {sign} {}", self.text(a, 0, true), self.text(b, 4, true));
                        if around > 3 { format!("({text})") } else { text }
                    }
                    _ => infix(a, sign, b, 3),
                }
            }
        }
    }

    fn is_same(&self, op: Op, term: Term) -> bool {
        matches!(self.terms.kind(term), Kind::Binary(other, ..) if *other == op)
    }

    /// A part of the arguments of the command: `argv[2]`, or a character of one.
    fn argument(&self, memory: Term, address: Term) -> Option<String> {
        let Sort::Array { element, .. } = self.terms.sort(memory) else { return None };
        if !matches!(self.terms.kind(memory), Kind::Variable(_)) {
            return None;
        }
        let (base, offset) = self.split(address);
        let base = base?;
        let pointer = i64::from(self.terms.width(address) / 8);
        if i64::from(element) == 8 * pointer && Some(base) == self.arguments && offset % pointer == 0 {
            return Some(format!("{}[{}]", self.name(base), offset / pointer));
        }
        match self.terms.kind(base) {
            Kind::Select(memory, address) if element == 8 => {
                Some(format!("{}[{offset}]", self.argument(*memory, *address)?))
            }
            _ => None,
        }
    }

    fn name(&self, term: Term) -> String {
        self.names.get(&term).cloned().unwrap_or_else(|| self.terms.name(term).unwrap_or("?").to_owned())
    }
}

/// The comparison that the text of a signed comparison says: with its constants on one side.
pub(crate) fn as_written(terms: &mut Terms, term: Term) -> Term {
    if let Kind::Not(inner) = *terms.kind(term) {
        let inner = as_written(terms, inner);
        return terms.not(inner);
    }
    let Kind::SLt(a, b) = *terms.kind(term) else { return term };
    let names = FxHashMap::default();
    let writer = Writer { terms, names: &names, arguments: None };
    let ((rest_a, constant_a), (rest_b, constant_b)) = (writer.split(a), writer.split(b));
    let width = terms.width(a);
    let (left, right) = match (rest_a, rest_b) {
        (Some(rest), other) if constant_a != 0 => {
            let moved = terms.bits(constant_b.wrapping_sub(constant_a) as u64, width);
            let right = other.map_or(moved, |other| terms.add(other, moved));
            (rest, right)
        }
        (None, Some(rest)) if constant_b != 0 => {
            (terms.bits(constant_a.wrapping_sub(constant_b) as u64, width), rest)
        }
        _ => return term,
    };
    terms.slt(left, right)
}

/// Whether integers of C have this width.
fn is_width_of_c(width: u32) -> bool {
    matches!(width, 8 | 16 | 32 | 64)
}

fn is_number(text: &str) -> bool {
    text.parse::<i128>().is_ok()
}

fn signed(value: u64, width: u32) -> i64 {
    let unused = 64 - width.clamp(1, 64);
    ((value << unused) as i64) >> unused
}
