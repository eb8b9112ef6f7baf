//! What `scanf` and `fscanf` read, as inputs.
//!
//! A call with a constant format becomes a statement expression: how many conversions succeed is
//! one input, and what each of these brings is another. Formats with other conversions than those
//! of numbers, words and characters stay calls of a function without a body.

use wherefore_program::{BinaryOp, Span};

use super::calls::{Rewriting, declare, literal, rewrite_calls};
use super::ctype::{CType, Length};
use super::sema::Linkage;
use super::tree::{Statement, StatementKind, Term, TermKind, Tree};
use super::usage::root;

/// The functions, and the position of the format.
fn format_of(name: &str) -> Option<usize> {
    let name = name.strip_prefix("__isoc99_").or(name.strip_prefix("__isoc23_")).unwrap_or(name);
    match name {
        "scanf" => Some(0),
        "fscanf" => Some(1),
        _ => None,
    }
}

/// What a conversion stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stored {
    /// An integer of so many bytes, and of at most so many characters.
    Integer(u64, Option<u64>),
    /// A floating-point number of so many bytes.
    Real(u64),
    /// A text without spaces, of at most so many characters.
    Word(Option<u64>),
    /// So many characters.
    Characters(u64),
    /// The same behind a space in the format, which skips spaces: the first one is none.
    Solid(u64),
}

/// The conversions of a format that store something; none if one of them is not known.
fn conversions(format: &[u8], long: u64) -> Option<Vec<Stored>> {
    let mut found = Vec::new();
    let mut rest = format.iter().copied().peekable();
    let mut previous = 0;
    while let Some(byte) = rest.next() {
        let before = std::mem::replace(&mut previous, byte);
        if byte != b'%' {
            continue;
        }
        let skips = matches!(before, b' ' | b'\t'..=b'\r');
        let is_skipped = rest.next_if_eq(&b'*').is_some();
        let mut width = None;
        while let Some(digit) = rest.next_if(u8::is_ascii_digit) {
            width = Some(width.unwrap_or(0u64).saturating_mul(10).saturating_add(u64::from(digit - b'0')));
        }
        let mut length = Vec::new();
        while let Some(letter) = rest.next_if(|letter| b"hlLjztq".contains(letter)) {
            length.push(letter);
        }
        let stored = match (rest.next()?, length.as_slice()) {
            (b'%', []) if width.is_none() && !is_skipped => continue,
            // Few characters can be no digits of these.
            (b'i' | b'o' | b'x' | b'X', _) if width.is_some() => return None,
            (b'd' | b'i' | b'u' | b'o' | b'x' | b'X', length) => {
                let size = match length {
                    [] => 4,
                    b"h" => 2,
                    b"hh" => 1,
                    b"l" | b"z" | b"t" => long,
                    b"ll" | b"j" | b"q" | b"L" => 8,
                    _ => return None,
                };
                Stored::Integer(size, width)
            }
            (b'a' | b'e' | b'f' | b'g' | b'A' | b'E' | b'F' | b'G', _) if width.is_some() => return None,
            (b'a' | b'e' | b'f' | b'g' | b'A' | b'E' | b'F' | b'G', length) => Stored::Real(match length {
                [] => 4,
                b"l" => 8,
                _ => return None,
            }),
            (b's', []) => Stored::Word(width),
            (b'c', []) if skips => Stored::Solid(width.unwrap_or(1)),
            (b'c', []) => Stored::Characters(width.unwrap_or(1)),
            _ => return None,
        };
        if !is_skipped {
            found.push(stored);
        }
    }
    Some(found)
}

/// Rewrites all such calls.
///
/// A word without a limit may be longer than the array that it goes to only if accesses outside of
/// objects are `checked`: else there are none.
pub(crate) fn as_inputs(tree: &mut Tree, linkage: &mut Linkage, checked: bool) {
    let rewritten: fn(&mut Rewriting<'_>, &Term) -> Option<Term> = match checked {
        true => |rewriting, term| rewriting.inputs(term, true),
        false => |rewriting, term| rewriting.inputs(term, false),
    };
    rewrite_calls((tree, linkage), |name| format_of(name).is_some(), rewritten);
}

impl Rewriting<'_> {
    fn inputs(&mut self, term: &Term, checked: bool) -> Option<Term> {
        let (name, arguments) = self.unknown_call(term)?;
        let at = format_of(name)?;
        let format = literal(self.tree, arguments.get(at)?)?;
        let long = u64::from(self.tree.types.model.pointer_bits()) / 8;
        let stored = conversions(&format, long)?;
        let targets = arguments.get(at + 1..).filter(|targets| targets.len() >= stored.len())?;
        if arguments[..at].iter().any(Term::has_effects) || term.ty != CType::INT {
            return None;
        }
        if !stored.iter().zip(targets).all(|(stored, target)| self.fits(*stored, target)) {
            return None;
        }
        let span = term.span;
        let mut statements = Vec::new();
        let mut places = Vec::new();
        for target in targets {
            places.push(self.pointer(target, &mut statements));
        }
        if let Some(stream) = arguments[..at].first() {
            self.run(&mut statements, super::models::NEEDED, CType::Void, vec![stream.clone()], span);
        }
        self.run(&mut statements, super::models::OUTSIDE, CType::Void, Vec::new(), span);
        let count = self.object("read", CType::INT, span);
        let read = self.call("__input_scanf", CType::INT, Vec::new(), span);
        statements.push(declare(count, read, span));
        let count = || {
            let place = Term::new(TermKind::Object(count), CType::INT, span);
            Term::new(TermKind::Load(Box::new(place)), CType::INT, span)
        };
        let below = |a: Term, b: Term| {
            Term::new(TermKind::Compare(BinaryOp::SLt, Box::new(a), Box::new(b)), CType::INT, span)
        };
        let number = |value: i64| Term::new(TermKind::Constant(value as u32 as u64), CType::INT, span);
        for condition in [below(number(-2), count()), below(count(), number(stored.len() as i64 + 1))] {
            self.run(&mut statements, "__VERIFIER_assume", CType::Void, vec![condition], span);
        }
        for (i, (stored, pointer)) in stored.into_iter().zip(places).enumerate() {
            let mut then = Vec::new();
            self.store(&mut then, stored, pointer, (checked, span));
            let block = Statement { kind: StatementKind::Block(then), span };
            let condition = below(number(i as i64), count());
            statements.push(Statement { kind: StatementKind::If(condition, Box::new(block), None), span });
        }
        Some(Term::new(TermKind::Block(statements, Some(Box::new(count()))), CType::INT, span))
    }

    /// Whether a pointer points to what a conversion stores.
    fn fits(&self, stored: Stored, target: &Term) -> bool {
        let Some(to) = target.ty.pointee() else { return false };
        match stored {
            Stored::Integer(size, _) => to.is_integer() && self.tree.types.size(to) == Some(size),
            Stored::Real(size) => *to == CType::Float(size),
            Stored::Word(_) | Stored::Characters(_) | Stored::Solid(_) => {
                matches!(to, CType::Int { bits: 8, .. })
            }
        }
    }

    /// A pointer that was evaluated. What it points to may be seen.
    pub(crate) fn pointer(&mut self, target: &Term, statements: &mut Vec<Statement>) -> Term {
        let is_plain = |place: &Term| {
            let mut place = place;
            while let TermKind::Field(base, _) = &place.kind {
                place = base;
            }
            matches!(place.kind, TermKind::Object(_))
        };
        if matches!(&target.kind, TermKind::Address(place) if is_plain(place)) {
            return target.clone();
        }
        self.kept("target", target.clone(), statements)
    }

    /// Adds what stores the input of a conversion.
    fn store(
        &mut self,
        statements: &mut Vec<Statement>,
        stored: Stored,
        pointer: Term,
        (checked, span): (bool, Span),
    ) {
        let (name, ty) = match stored {
            Stored::Integer(1, _) => ("__input_scanf_char", CType::CHAR),
            Stored::Integer(2, _) => ("__input_scanf_short", CType::Int { bits: 16, signed: true }),
            Stored::Integer(4, _) => ("__input_scanf_int", CType::INT),
            Stored::Integer(..) => ("__input_scanf_long", CType::LONG_LONG),
            Stored::Real(4) => ("__input_scanf_float", CType::Float(4)),
            Stored::Real(_) => ("__input_scanf_double", CType::Float(8)),
            Stored::Word(most) => {
                let room = if checked { None } else { self.room(&pointer) };
                let most = most.or(room).unwrap_or(0x7fff_ffff);
                return self.fill(statements, "__builtin_own_word", pointer, most, span);
            }
            Stored::Characters(count) => {
                return self.fill(statements, "__builtin_own_characters", pointer, count, span);
            }
            Stored::Solid(count) => {
                return self.fill(statements, "__builtin_own_solid", pointer, count, span);
            }
        };
        let mut value = self.call(name, ty, Vec::new(), span);
        if let Stored::Integer(size, Some(width)) = stored {
            value = self.kept("number", value, statements);
            self.limit(statements, &value, size, width);
        }
        let to = pointer.ty.pointee().cloned().unwrap_or(CType::INT);
        let place = match pointer.kind {
            TermKind::Address(place) if place.ty == to => *place,
            kind => {
                let pointer = Term::new(kind, pointer.ty, span);
                Term::new(TermKind::Deref(Box::new(pointer)), to.clone(), span)
            }
        };
        let value = if value.ty == to {
            value
        } else {
            Term::new(TermKind::Convert(Box::new(value)), to.clone(), span)
        };
        let assign = Term::new(TermKind::Assign(Box::new(place), Box::new(value)), to, span);
        statements.push(Statement { kind: StatementKind::Expression(assign), span });
    }

    /// A number of at most so many characters, of which one may be a sign, has bounds, unless it
    /// may be too great for its type.
    fn limit(&mut self, statements: &mut Vec<Statement>, value: &Term, size: u64, width: u64) {
        let Some(most) = u32::try_from(width).ok().and_then(|width| 10_i64.checked_pow(width)) else {
            return;
        };
        if size < 8 && most > 1 << (8 * size - 1) {
            return;
        }
        let (span, ty) = (value.span, value.ty.clone());
        let mask = u64::MAX >> (64 - 8 * size);
        let number = |bound: i64| Term::new(TermKind::Constant(bound as u64 & mask), ty.clone(), span);
        for (low, high) in [(number(-(most / 10)), value.clone()), (value.clone(), number(most))] {
            let kind = TermKind::Compare(BinaryOp::SLt, Box::new(low), Box::new(high));
            let condition = Term::new(kind, CType::INT, span);
            self.run(statements, "__VERIFIER_assume", CType::Void, vec![condition], span);
        }
    }

    /// The longest text that fits into the array that a pointer points to, if that can be seen.
    fn room(&self, pointer: &Term) -> Option<u64> {
        let TermKind::Address(place) = &pointer.kind else { return None };
        let whole = matches!(place.kind, TermKind::Object(_)).then(|| root(place))??;
        match self.tree.object(whole).ty {
            CType::Array(_, Length::Known(length)) => length.checked_sub(1).filter(|length| *length > 0),
            _ => None,
        }
    }

    fn fill(&mut self, out: &mut Vec<Statement>, name: &str, pointer: Term, count: u64, span: Span) {
        let text = CType::CHAR.pointer_to();
        let pointer = match pointer.ty == text {
            true => pointer,
            false => Term::new(TermKind::Convert(Box::new(pointer)), text, span),
        };
        let count = Term::new(TermKind::Constant(count), self.tree.types.long(true), span);
        self.run(out, name, CType::Void, vec![pointer, count], span);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_say_what_is_stored() {
        let of = |format: &str| conversions(format.as_bytes(), 8);
        let number = |size| Stored::Integer(size, None);
        let four = [number(4), number(8), Stored::Word(Some(9)), Stored::Characters(1)];
        assert_eq!(of("%d, %lu %9s%%%*d%c"), Some(four.to_vec()));
        assert_eq!(of("no conversion"), Some(Vec::new()));
        assert_eq!(of("%lf%f%hhd"), Some(vec![Stored::Real(8), Stored::Real(4), number(1)]));
        assert_eq!(of("%3d %c"), Some(vec![Stored::Integer(4, Some(3)), Stored::Solid(1)]));
        for format in ["%2x", "%3f", "%[a-z]", "%n", "%Lf", "%p", "%ls", "%", "%5"] {
            assert_eq!(of(format), None, "{format}");
        }
    }
}
