//! Formulas as expressions of C that have the same value, with the names of the source.
//!
//! A term knows bits, an expression of C has a type. The writer keeps the type of each part and
//! puts a cast where C would read the bits in another way: an unsigned comparison of signed
//! variables is written with casts, not as if it were a signed one. Arithmetic wraps, as it does in
//! the model. What has no such expression (memory as a whole, parts of odd widths) is not written
//! at all.

mod floats;

use rustc_hash::FxHashMap;
use wherefore_program::{Type, Variable};
use wherefore_smt::{FloatOp, FloatOperation, Format, Kind, Op, Sort, Term, Terms};

/// Formulas with more parts than this, written out, are not.
const MOST_PARTS: u64 = 400;

/// What the variables of formulas are called, and how C reads them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vocabulary {
    words: FxHashMap<Term, Word>,
}

#[derive(Clone, Debug)]
struct Word {
    text: String,
    reading: Reading,
}

impl Vocabulary {
    /// Adds a variable of the source. Arrays of several dimensions and memory have no expression.
    pub fn add(&mut self, term: Term, text: String, variable: &Variable) {
        let is_plain = match &variable.ty {
            // Cells of memory that have no name in the source.
            Type::Scalar(_) => !variable.name.starts_with("memory."),
            Type::Array { .. } => {
                variable.ty.dimensions().iter().all(|d| d.low == 0) && variable.ty.dimensions().len() == 1
            }
            Type::Memory { .. } => false,
        };
        if is_plain {
            let reading = match (variable.float, variable.signed) {
                (true, _) => Reading::Float,
                (false, true) => Reading::Signed,
                (false, false) => Reading::Unsigned,
            };
            self.words.insert(term, Word { text, reading });
        }
    }

    /// Adds a value with a name of ours: the result of a procedure.
    pub fn add_value(&mut self, term: Term, text: String) {
        self.words.insert(term, Word { text, reading: Reading::Signed });
    }

    /// The formula as an expression of C; none if it has none.
    pub fn write(&self, terms: &Terms, formula: Term) -> Option<String> {
        if parts(terms, formula, &mut FxHashMap::default()) > MOST_PARTS {
            return None;
        }
        Writer { terms, words: &self.words }.truth(formula, 0)
    }
}

/// How many parts a formula has when it is written out, with what it shares repeated.
fn parts(terms: &Terms, formula: Term, known: &mut FxHashMap<Term, u64>) -> u64 {
    if let Some(known) = known.get(&formula) {
        return *known;
    }
    let mut children = Vec::new();
    terms.for_each_child(formula, |child| children.push(child));
    let count = children.into_iter().fold(1_u64, |sum, child| sum.saturating_add(parts(terms, child, known)));
    known.insert(formula, count);
    count
}

/// How tightly operators of C bind.
mod binding {
    pub const CONDITIONAL: u8 = 0;
    pub const OR: u8 = 1;
    pub const AND: u8 = 2;
    pub const BIT_OR: u8 = 3;
    pub const BIT_XOR: u8 = 4;
    pub const BIT_AND: u8 = 5;
    pub const EQUAL: u8 = 6;
    pub const LESS: u8 = 7;
    pub const SHIFT: u8 = 8;
    pub const SUM: u8 = 9;
    pub const PRODUCT: u8 = 10;
    pub const PREFIX: u8 = 11;
    pub const PRIMARY: u8 = 12;
}

/// How C reads the bits of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    Signed,
    Unsigned,
    /// As a floating-point number: no cast reads other bits so, or these in another way.
    Float,
}

/// A value as text.
struct Text {
    text: String,
    binding: u8,
    reading: Reading,
}

struct Writer<'a> {
    terms: &'a Terms,
    words: &'a FxHashMap<Term, Word>,
}

fn in_brackets(text: String, own: u8, around: u8) -> String {
    if own < around { format!("({text})") } else { text }
}

/// The value of some bits as a number with a sign.
fn signed(value: u64, width: u32) -> i64 {
    let unused = 64 - width.clamp(1, 64);
    ((value << unused) as i64) >> unused
}

/// A constant that has the type of its width in C: a plain number above the largest `int` would be
/// wider.
fn constant(value: u64, width: u32, reading: Reading) -> String {
    match (reading, width) {
        (Reading::Float, _) => {
            Format::of_width(width).map_or_else(|| value.to_string(), |format| format.c_text(value))
        }
        (Reading::Signed, _) => match signed(value, width) {
            least if width >= 32 && least == i64::MIN >> (64 - width) => format!("({} - 1)", least + 1),
            value => value.to_string(),
        },
        (Reading::Unsigned, 64) if i64::try_from(value).is_err() => format!("{value}ull"),
        (Reading::Unsigned, 32) if i32::try_from(value).is_err() => format!("{value}u"),
        (Reading::Unsigned, _) => value.to_string(),
    }
}

/// The type of C with this width and reading.
fn type_name(width: u32, reading: Reading) -> Option<&'static str> {
    Some(match (width, reading) {
        (8, Reading::Signed) => "signed char",
        (8, Reading::Unsigned) => "unsigned char",
        (16, Reading::Signed) => "short",
        (16, Reading::Unsigned) => "unsigned short",
        (32, Reading::Signed) => "int",
        (32, Reading::Unsigned) => "unsigned",
        (64, Reading::Signed) => "long long",
        (64, Reading::Unsigned) => "unsigned long long",
        (32, Reading::Float) => "float",
        (64, Reading::Float) => "double",
        _ => return None,
    })
}

impl Writer<'_> {
    /// A truth value, in brackets if it binds less tightly than `around`.
    fn truth(&self, term: Term, around: u8) -> Option<String> {
        let list = |parts: &[Term], sign: &str, own: u8| {
            let parts: Option<Vec<String>> = parts.iter().map(|part| self.truth(*part, own + 1)).collect();
            Some(in_brackets(parts?.join(sign), own, around))
        };
        match self.terms.kind(term) {
            Kind::Constant(value) => Some(if *value == 1 { "true" } else { "false" }.to_owned()),
            Kind::Variable(_) => Some(self.words.get(&term)?.text.clone()),
            Kind::And(parts) => list(parts, " && ", binding::AND),
            Kind::Or(parts) => list(parts, " || ", binding::OR),
            Kind::Eq(a, b) => self.equal(*a, *b, "==", around),
            Kind::ULt(a, b) if self.nan(*a, *b).is_some() => self.nan(*a, *b),
            Kind::ULt(a, b) => self.less((*a, "<", *b), Reading::Unsigned, around),
            Kind::SLt(a, b) => self.less((*a, "<", *b), Reading::Signed, around),
            Kind::Float(op, operands) => self.float_test(*op, operands, around),
            Kind::Not(inner) => match self.terms.kind(*inner) {
                Kind::ULt(a, b) if self.nan(*a, *b).is_some() => Some(format!("!{}", self.nan(*a, *b)?)),
                Kind::Float(FloatOp { operation: FloatOperation::Equal, .. }, operands) => {
                    self.compared(operands, "!=", binding::EQUAL, around)
                }
                Kind::Eq(a, b) => self.equal(*a, *b, "!=", around),
                Kind::ULt(a, b) => self.less((*b, "<=", *a), Reading::Unsigned, around),
                Kind::SLt(a, b) => self.less((*b, "<=", *a), Reading::Signed, around),
                // Negations stand at the leaves.
                Kind::And(parts) => self.negated(parts, " || ", binding::OR, around),
                Kind::Or(parts) => self.negated(parts, " && ", binding::AND, around),
                _ => Some(format!("!{}", self.truth(*inner, binding::PREFIX)?)),
            },
            Kind::Ite(condition, then, otherwise) => {
                let condition = self.truth(*condition, binding::OR)?;
                let (then, otherwise) =
                    (self.truth(*then, binding::OR)?, self.truth(*otherwise, binding::CONDITIONAL)?);
                Some(in_brackets(format!("{condition} ? {then} : {otherwise}"), binding::CONDITIONAL, around))
            }
            _ => None,
        }
    }

    fn negated(&self, parts: &[Term], sign: &str, own: u8, around: u8) -> Option<String> {
        let mut texts = Vec::new();
        for part in parts {
            texts.push(match self.terms.kind(*part) {
                Kind::Not(inner) => self.truth(*inner, own + 1)?,
                Kind::Eq(a, b) => self.equal(*a, *b, "!=", own + 1)?,
                Kind::ULt(a, b) if self.nan(*a, *b).is_some() => format!("!{}", self.nan(*a, *b)?),
                Kind::ULt(a, b) => self.less((*b, "<=", *a), Reading::Unsigned, own + 1)?,
                Kind::SLt(a, b) => self.less((*b, "<=", *a), Reading::Signed, own + 1)?,
                _ => format!("!{}", self.truth(*part, binding::PREFIX)?),
            });
        }
        Some(in_brackets(texts.join(sign), own, around))
    }

    fn equal(&self, a: Term, b: Term, sign: &str, around: u8) -> Option<String> {
        let own = binding::EQUAL;
        let (left, right) = match self.terms.sort(a) {
            Sort::Bool => (self.truth(a, own)?, self.truth(b, own + 1)?),
            Sort::Array { .. } => return None,
            Sort::Bits(_) => {
                // A constant stands on the right, and is read as the other side is.
                let (a, b) = if self.terms.constant(a).is_some() { (b, a) } else { (a, b) };
                let reading = self.reading(a).or_else(|| self.reading(b)).unwrap_or(Reading::Unsigned);
                // Zeros are equal with other bits, and NaNs are not.
                let plain = |bits: u64| {
                    Format::of_width(self.terms.width(b))
                        .is_some_and(|f| !f.is_nan(bits) && bits & !f.sign() != 0)
                };
                if reading == Reading::Float && !self.terms.constant(b).is_some_and(plain) {
                    return None;
                }
                (self.value_as(a, reading, own)?, self.value_as(b, reading, own + 1)?)
            }
        };
        Some(in_brackets(format!("{left} {sign} {right}"), own, around))
    }

    fn less(&self, (a, sign, b): (Term, &str, Term), reading: Reading, around: u8) -> Option<String> {
        let own = binding::LESS;
        let (left, right) = (self.value_as(a, reading, own)?, self.value_as(b, reading, own + 1)?);
        // A constant stands on the right.
        let text = match (self.terms.constant(a), sign) {
            (Some(_), "<") => format!("{right} > {left}"),
            (Some(_), _) => format!("{right} >= {left}"),
            (None, sign) => format!("{left} {sign} {right}"),
        };
        Some(in_brackets(text, own, around))
    }

    /// How C reads a value; none for a constant, which is read as needed.
    fn reading(&self, term: Term) -> Option<Reading> {
        match self.terms.kind(term) {
            Kind::Constant(_) => None,
            _ => self.value(term).map(|text| text.reading),
        }
    }

    /// A value that C reads in a certain way, in brackets if it binds less tightly than `around`.
    fn value_as(&self, term: Term, reading: Reading, around: u8) -> Option<String> {
        let width = self.terms.width(term);
        if let Some(value) = self.terms.constant(term) {
            return Some(constant(value, width, reading));
        }
        let text = self.value(term)?;
        if text.reading == reading {
            return Some(in_brackets(text.text, text.binding, around));
        }
        if text.reading == Reading::Float || reading == Reading::Float {
            return None;
        }
        let name = type_name(width, reading)?;
        let cast = format!("({name}){}", in_brackets(text.text, text.binding, binding::PREFIX));
        Some(in_brackets(cast, binding::PREFIX, around))
    }

    /// A value as text, with the reading that C gives it.
    fn value(&self, term: Term) -> Option<Text> {
        let width = self.terms.width(term);
        match self.terms.kind(term) {
            Kind::Constant(value) => {
                let text = constant(*value, width, Reading::Unsigned);
                Some(Text { text, binding: binding::PRIMARY, reading: Reading::Unsigned })
            }
            Kind::Variable(_) => {
                let word = self.words.get(&term)?;
                Some(Text { text: word.text.clone(), binding: binding::PRIMARY, reading: word.reading })
            }
            Kind::Select(array, index) => {
                let word = self.words.get(array)?;
                let index = self.value_as(*index, self.reading(*index).unwrap_or(Reading::Unsigned), 0)?;
                let text = format!("{}[{index}]", word.text);
                Some(Text { text, binding: binding::PRIMARY, reading: word.reading })
            }
            Kind::Neg(inner) => self.prefix("-", *inner, width),
            Kind::BitNot(inner) => self.prefix("~", *inner, width),
            Kind::Binary(Op::BitXor, a, b)
                if self.is_sign(*b) && self.reading(*a) == Some(Reading::Float) =>
            {
                let text = format!("-{}", self.value_as(*a, Reading::Float, binding::PREFIX + 1)?);
                Some(Text { text, binding: binding::PREFIX, reading: Reading::Float })
            }
            Kind::Binary(op, a, b) => self.operation(*op, *a, *b, width),
            Kind::Float(op, operands) => self.float_value(*op, operands),
            Kind::SignExtend(inner) => self.cast(*inner, Reading::Signed, (width, Reading::Signed)),
            Kind::ZeroExtend(inner) => self.cast(*inner, Reading::Unsigned, (width, Reading::Unsigned)),
            Kind::Extract { value, low: 0 } => {
                let reading = self.reading(*value).filter(|reading| *reading != Reading::Float)?;
                self.cast(*value, reading, (width, Reading::Unsigned))
            }
            Kind::Ite(condition, then, otherwise) => {
                let reading = self.reading(*then).or_else(|| self.reading(*otherwise))?;
                let condition = self.truth(*condition, binding::OR)?;
                let then = self.value_as(*then, reading, binding::OR)?;
                let otherwise = self.value_as(*otherwise, reading, binding::CONDITIONAL)?;
                let text = format!("{condition} ? {then} : {otherwise}");
                Some(Text { text, binding: binding::CONDITIONAL, reading })
            }
            _ => None,
        }
    }

    /// A value, read in one way, as one of another type.
    fn cast(&self, inner: Term, read: Reading, (width, reading): (u32, Reading)) -> Option<Text> {
        let name = type_name(width, reading)?;
        let text = format!("({name}){}", self.value_as(inner, read, binding::PREFIX)?);
        Some(Text { text, binding: binding::PREFIX, reading })
    }

    fn prefix(&self, sign: &str, inner: Term, width: u32) -> Option<Text> {
        let reading = self.reading(inner).filter(|reading| *reading != Reading::Float)?;
        let text = format!("{sign}{}", self.value_as(inner, reading, binding::PREFIX + 1)?);
        self.at_width(Text { text, binding: binding::PREFIX, reading }, width)
    }

    /// C computes with at least 32 bits: the result of a narrower operation is cut.
    fn at_width(&self, text: Text, width: u32) -> Option<Text> {
        if width == 32 || width == 64 {
            return Some(text);
        }
        let name = type_name(width, text.reading)?;
        let text = Text {
            text: format!("({name}){}", in_brackets(text.text, text.binding, binding::PREFIX)),
            binding: binding::PREFIX,
            reading: text.reading,
        };
        Some(text)
    }

    fn operation(&self, op: Op, a: Term, b: Term, width: u32) -> Option<Text> {
        let own_reading = || self.reading(a).or_else(|| self.reading(b)).unwrap_or(Reading::Unsigned);
        let (sign, own, reading) = match op {
            Op::Add => ("+", binding::SUM, own_reading()),
            Op::Mul => ("*", binding::PRODUCT, own_reading()),
            Op::UDiv => ("/", binding::PRODUCT, Reading::Unsigned),
            Op::SDiv => ("/", binding::PRODUCT, Reading::Signed),
            Op::URem => ("%", binding::PRODUCT, Reading::Unsigned),
            Op::SRem => ("%", binding::PRODUCT, Reading::Signed),
            Op::Shl => ("<<", binding::SHIFT, own_reading()),
            Op::LShr => (">>", binding::SHIFT, Reading::Unsigned),
            Op::AShr => (">>", binding::SHIFT, Reading::Signed),
            Op::BitAnd => ("&", binding::BIT_AND, own_reading()),
            Op::BitOr => ("|", binding::BIT_OR, own_reading()),
            Op::BitXor => ("^", binding::BIT_XOR, own_reading()),
        };
        if reading == Reading::Float {
            return None;
        }
        let is_shift = own == binding::SHIFT;
        // Mixed signs, or a negative amount, would mean something else in C.
        let right_reading = if is_shift { Reading::Unsigned } else { reading };
        let difference = match (op, self.terms.kind(b), self.terms.constant(b)) {
            (Op::Add, Kind::Neg(inner), _) => Some(self.value_as(*inner, reading, own + 1)?),
            (Op::Add, _, Some(value)) if signed(value, width) < 0 && value << (64 - width) != 1 << 63 => {
                Some(signed(value, width).unsigned_abs().to_string())
            }
            _ => None,
        };
        let left = self.value_as(a, reading, own)?;
        let text = match difference {
            Some(right) => format!("{left} - {right}"),
            None => format!("{left} {sign} {}", self.value_as(b, right_reading, own + 1)?),
        };
        self.at_width(Text { text, binding: own, reading }, width)
    }
}

#[cfg(test)]
mod tests {
    use wherefore_program::{FileId, Scalar, Span};

    use super::*;

    fn vocabulary(terms: &mut Terms) -> (Vocabulary, [Term; 4]) {
        let mut words = Vocabulary::default();
        let all = [("n", true, 32), ("u", false, 32), ("c", true, 8), ("w", false, 64)].map(
            |(name, signed, width)| {
                let term = terms.variable(name, Sort::Bits(width));
                let span = Span::new(FileId(0), 0, 0);
                let ty = Type::Scalar(Scalar::Bits(width));
                let variable = Variable {
                    name: name.to_owned(),
                    ty,
                    value_names: None,
                    signed,
                    float: false,
                    pointer: false,
                    shared: false,
                    initial: None,
                    span,
                };
                words.add(term, name.to_owned(), &variable);
                term
            },
        );
        (words, all)
    }

    #[test]
    fn formulas_are_written_as_people_write_them() {
        let mut t = Terms::new();
        let (words, [n, u, c, _]) = vocabulary(&mut t);
        let [zero, ten, minus_ten] = [0, 10, 10_u64.wrapping_neg()].map(|value| t.bits(value, 32));
        let less = t.add(n, minus_ten);
        let positive = t.slt(zero, less);
        let small = t.ult(n, ten);
        let large = t.slt(u, ten);
        let is_minus_one = {
            let all = t.bits(u64::MAX, 8);
            t.eq(c, all)
        };
        let both = t.and(positive, is_minus_one);
        let neither = t.not(both);
        let cases = [
            (positive, "n - 10 > 0"),
            (small, "(unsigned)n < 10"),
            (large, "(int)u < 10"),
            (is_minus_one, "c == -1"),
            (neither, "n - 10 <= 0 || c != -1"),
        ];
        for (formula, expected) in cases {
            assert_eq!(words.write(&t, formula).as_deref(), Some(expected));
        }
    }

    #[test]
    fn values_without_an_expression_are_not_written() {
        let mut t = Terms::new();
        let (words, [n, ..]) = vocabulary(&mut t);
        let unknown = t.variable("elsewhere", Sort::Bits(32));
        let part = t.extract(n, 3, 5);
        let five = t.bits(5, 5);
        for formula in [t.eq(n, unknown), t.eq(part, five)] {
            assert_eq!(words.write(&t, formula), None);
        }
    }

    /// A formula from random bytes, over the variables of each width.
    fn random(t: &mut Terms, vars: [Term; 4], width: u32, depth: u32, next: &mut dyn FnMut() -> u32) -> Term {
        let [n, u, c, w] = vars;
        if depth == 0 || next() % 5 == 0 {
            return match (width, next() % 3) {
                (32, 0) => n,
                (32, 1) => u,
                (8, 0 | 1) => c,
                (64, 0 | 1) => w,
                (width, _) => t.bits(u64::from(next()).wrapping_sub(1 << 31), width),
            };
        }
        let choice = next() % 12;
        if choice == 0 && width > 8 {
            let inner = random(t, vars, 8, depth - 1, next);
            return if next() % 2 == 0 { t.zero_extend(inner, width) } else { t.sign_extend(inner, width) };
        }
        if choice == 1 && width < 64 {
            let inner = random(t, vars, 64, depth - 1, next);
            return t.extract(inner, 0, width);
        }
        let a = random(t, vars, width, depth - 1, next);
        let b = random(t, vars, width, depth - 1, next);
        match choice {
            0..=2 => t.add(a, b),
            3 => t.sub(a, b),
            4 => t.mul(a, b),
            5 => t.bit_and(a, b),
            6 => t.bit_or(a, b),
            7 => t.bit_xor(a, b),
            8 => t.neg(a),
            9 => t.bit_not(a),
            _ => {
                let (c, d) =
                    (random(t, vars, width, depth - 1, next), random(t, vars, width, depth - 1, next));
                let condition = if next() % 2 == 0 { t.slt(a, b) } else { t.ult(a, b) };
                t.ite(condition, c, d)
            }
        }
    }

    /// The compiled expression has the value of the formula, for random formulas and values.
    #[test]
    fn expressions_mean_in_c_what_the_formulas_mean() {
        use std::fmt::Write as _;
        let mut t = Terms::new();
        let (words, vars) = vocabulary(&mut t);
        let mut state = 0x9E37_79B9_u32;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state
        };
        let mut text = String::from("#include <stdio.h>\n#include <stdbool.h>\nint main(void) {\n");
        let (mut expected, mut shown) = (String::new(), Vec::new());
        let mut written = 0;
        for i in 0..300 {
            let width = [8, 32, 64][i % 3];
            let (a, b) =
                (random(&mut t, vars, width, 3, &mut next), random(&mut t, vars, width, 3, &mut next));
            let formula = match next() % 3 {
                0 => t.eq(a, b),
                1 => t.slt(a, b),
                _ => t.ult(a, b),
            };
            let Some(expression) = words.write(&t, formula) else { continue };
            written += 1;
            for _ in 0..4 {
                let values = [next(), next() % 3, next(), next()].map(u64::from);
                let mut assigned = FxHashMap::default();
                for (variable, value) in vars.into_iter().zip(values) {
                    let width = t.width(variable);
                    assigned.insert(variable, t.bits(value, width));
                }
                let [n, u, c, w] = vars.map(|variable| t.constant(assigned[&variable]).unwrap());
                let _ = writeln!(
                    text,
                    "{{ int n = (int){n}u; unsigned u = {u}u; signed char c = (signed char){c}; unsigned long long w = {w}ull; printf(\"%d\", ({expression}) ? 1 : 0); }}"
                );
                shown.push(format!("{expression} with n={n} u={u} c={c} w={w}"));
                let value = t.substitute(formula, &assigned);
                expected.push(if value == Terms::TRUE { '1' } else { '0' });
                assert!(value == Terms::TRUE || value == Terms::FALSE, "constants are folded");
            }
        }
        text.push_str("return 0; }\n");
        assert!(written > 200, "{written} of 300 formulas are written");
        let folder = std::env::temp_dir().join(format!("wherefore-source-text-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("t.c"), text).unwrap();
        let compiled = std::process::Command::new("cc")
            .args(["-w", "-fwrapv", "-o"])
            .args([folder.join("t"), folder.join("t.c")])
            .status();
        assert!(compiled.unwrap().success());
        let output = std::process::Command::new(folder.join("t")).output().unwrap();
        let _ = std::fs::remove_dir_all(&folder);
        let found = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(found.len(), expected.len());
        for ((found, expected), case) in found.chars().zip(expected.chars()).zip(&shown) {
            assert_eq!(found, expected, "{case}");
        }
    }
}
