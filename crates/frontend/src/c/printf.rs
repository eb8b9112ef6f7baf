//! What `sprintf` and `snprintf` write, if the format is a constant: characters and integers are
//! exact, of a floating-point number or an address only the length is bounded. Calls with other
//! conversions stay those of a function without a body.

use wherefore_program::BinaryOp;

use super::calls::{Rewriting, declare, literal, rewrite_calls};
use super::ctype::CType;
use super::sema::Linkage;
use super::tree::{Statement, StatementKind, Term, TermKind, Tree};

/// The functions, and the position of the format.
fn format_of(name: &str) -> Option<usize> {
    match name {
        "sprintf" => Some(1),
        "snprintf" => Some(2),
        _ => None,
    }
}

/// A part of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Characters that are written as they are: from where on, and how many.
    Plain(u64, u64),
    Convert(Conversion),
}

/// A conversion: what is between `%` and its letter, and the letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Conversion {
    /// The bits that `library/print.c` knows.
    flags: u64,
    width: Amount,
    precision: Amount,
    what: What,
}

/// A width or a precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Amount {
    None,
    Constant(u64),
    /// `*`: an argument.
    Argument,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Text,
    Character,
    /// An integer of so many bits, after it was passed.
    Integer {
        base: u64,
        signed: bool,
        bits: u32,
    },
    /// `%n`: the number of characters so far is stored.
    Count,
    /// A text of at least one and at most so many characters: an address, or a floating-point
    /// number.
    Open {
        most: u64,
        is_address: bool,
    },
}

/// The flags, as `library/print.c` has them.
const FLAGS: [(u8, u64); 5] = [(b'-', 1), (b'0', 2), (b'+', 4), (b' ', 8), (b'#', 16)];
const UPPER_CASE: u64 = 32;

/// The parts of a format; none if one of them is not known. `long` is the width of a `long`.
fn parts(format: &[u8], long: u32) -> Option<Vec<Part>> {
    let (mut found, mut start, mut at) = (Vec::new(), 0, 0);
    let plain =
        |start: usize, end: usize| (end > start).then_some(Part::Plain(start as u64, (end - start) as u64));
    while at < format.len() {
        if format[at] != b'%' {
            at += 1;
            continue;
        }
        found.extend(plain(start, at));
        if format.get(at + 1) == Some(&b'%') {
            found.push(Part::Plain(at as u64, 1));
            at += 2;
        } else {
            let (conversion, length) = conversion(&format[at + 1..], long)?;
            found.push(Part::Convert(conversion));
            at += 1 + length;
        }
        start = at;
    }
    found.extend(plain(start, at));
    Some(found)
}

/// Reads what follows `%`: the conversion, and how many characters it has.
fn conversion(text: &[u8], long: u32) -> Option<(Conversion, usize)> {
    let mut at = 0;
    let mut flags = 0;
    while let Some((_, bit)) = FLAGS.iter().find(|(letter, _)| text.get(at) == Some(letter)) {
        flags |= bit;
        at += 1;
    }
    let amount = |at: &mut usize| {
        if text.get(*at) == Some(&b'*') {
            *at += 1;
            return Some(Amount::Argument);
        }
        let digits: Vec<u8> = text[*at..].iter().copied().take_while(u8::is_ascii_digit).collect();
        *at += digits.len();
        let value = digits.iter().try_fold(0_u64, |value, digit| {
            let next = value * 10 + u64::from(digit - b'0');
            (next < 4096).then_some(next)
        })?;
        Some(if digits.is_empty() { Amount::None } else { Amount::Constant(value) })
    };
    let width = amount(&mut at)?;
    let precision = if text.get(at) == Some(&b'.') {
        at += 1;
        match amount(&mut at)? {
            Amount::None => Amount::Constant(0),
            given => given,
        }
    } else {
        Amount::None
    };
    let sizes: [(&[u8], u32); 7] =
        [(b"hh", 8), (b"h", 16), (b"ll", 64), (b"l", long), (b"j", 64), (b"z", long), (b"t", long)];
    let size = sizes.iter().find(|(letters, _)| text[at..].starts_with(letters));
    at += size.map_or(0, |(letters, _)| letters.len());
    let bits = size.map_or(32, |(_, bits)| *bits);
    let letter = *text.get(at)?;
    let integer = |base, signed| What::Integer { base, signed, bits };
    let what = match letter {
        b's' if size.is_none() => What::Text,
        b'c' if size.is_none() => What::Character,
        b'd' | b'i' => integer(10, true),
        b'u' => integer(10, false),
        b'o' => integer(8, false),
        b'x' | b'X' => integer(16, false),
        b'n' if bits == 32 && flags == 0 && (width, precision) == (Amount::None, Amount::None) => What::Count,
        b'p' if size.is_none() => What::Open { most: 18, is_address: true },
        // A sign, the digits of the greatest number, a point.
        b'f' | b'F' if bits == 32 => What::Open { most: 311, is_address: false },
        // A sign, a digit, a point, and an exponent of three digits.
        b'e' | b'E' | b'g' | b'G' if bits == 32 => What::Open { most: 10, is_address: false },
        _ => return None,
    };
    if letter == b'X' {
        flags |= UPPER_CASE;
    }
    Some((Conversion { flags, width, precision, what }, at + 1))
}

/// Rewrites all such calls.
pub(crate) fn as_statements(tree: &mut Tree, linkage: &mut Linkage) {
    rewrite_calls(
        (tree, linkage),
        |name| format_of(name).is_some(),
        |rewriting, term| rewriting.written(term),
    );
}

/// Whether an argument has the type that a format asks for.
fn fits(wanted: &Wanted, value: &Term, pointer: u32) -> bool {
    match wanted {
        Wanted::Amount | Wanted::Of(What::Character) => value.ty == CType::INT,
        Wanted::Of(What::Count) => value.ty.pointee() == Some(&CType::INT),
        Wanted::Of(What::Text) => matches!(value.ty.pointee(), Some(CType::Int { bits: 8, .. })),
        // What is narrower than `int` is passed as one.
        Wanted::Of(What::Integer { bits, .. }) => {
            matches!(value.ty, CType::Int { bits: has, .. } if has == (*bits).max(32) && has <= pointer.max(64))
        }
        Wanted::Of(What::Open { is_address: true, .. }) => value.ty.is_pointer(),
        Wanted::Of(What::Open { .. }) => value.ty == CType::Float(8),
    }
}

/// A value in another type: without a prototype, arguments are as they are given.
fn converted_to(value: &Term, ty: CType) -> Term {
    match (&value.kind, value.ty == ty) {
        (_, true) => value.clone(),
        (TermKind::Constant(constant), _) => Term::new(TermKind::Constant(*constant), ty, value.span),
        _ => Term::new(TermKind::Convert(Box::new(value.clone())), ty, value.span),
    }
}

/// What an argument is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Amount,
    Of(What),
}

fn wanted(parts: &[Part]) -> Vec<Wanted> {
    let mut found = Vec::new();
    for part in parts {
        let Part::Convert(conversion) = part else { continue };
        let amounts = [conversion.width, conversion.precision];
        found.extend(amounts.iter().filter(|one| **one == Amount::Argument).map(|_| Wanted::Amount));
        found.push(Wanted::Of(conversion.what));
    }
    found
}

impl Rewriting<'_> {
    fn written(&mut self, term: &Term) -> Option<Term> {
        let (name, arguments) = self.unknown_call(term)?;
        let at = format_of(name)?;
        let format = arguments.get(at)?;
        let pointer = self.tree.types.model.pointer_bits();
        let parts = parts(&literal(self.tree, format)?, pointer)?;
        let wanted = wanted(&parts);
        // Further arguments are evaluated and ignored.
        let values = arguments.get(at + 1..)?;
        let known =
            wanted.len() <= values.len() && wanted.iter().zip(values).all(|(w, v)| fits(w, v, pointer));
        if !known || term.ty != CType::INT {
            return None;
        }
        let (span, size_type) = (term.span, self.tree.types.size_type());
        let number = |value: u64| Term::new(TermKind::Constant(value), size_type.clone(), span);
        let mut statements = Vec::new();
        // Arguments are evaluated from the last to the first.
        let mut kept: Vec<Term> =
            values.iter().rev().map(|value| self.kept("argument", value.clone(), &mut statements)).collect();
        kept.reverse();
        let size = match at {
            1 => number(u64::MAX >> (64 - pointer)),
            _ => self.kept("size", converted_to(&arguments[1], size_type.clone()), &mut statements),
        };
        let to = converted_to(&arguments[0], CType::CHAR.pointer_to());
        let to = self.kept("to", to, &mut statements);
        let written = self.object("written", size_type.clone(), span);
        statements.push(declare(written, number(0), span));
        let place = || Term::new(TermKind::Object(written), size_type.clone(), span);
        let length = || Term::new(TermKind::Load(Box::new(place())), size_type.clone(), span);
        let mut kept = kept.into_iter();
        for part in parts {
            if let Part::Convert(Conversion { what: What::Count, .. }) = part {
                let target = Term::new(TermKind::Deref(Box::new(kept.next()?)), CType::INT, span);
                let count = Term::new(TermKind::Convert(Box::new(length())), CType::INT, span);
                let assign = TermKind::Assign(Box::new(target), Box::new(count));
                let kind = StatementKind::Expression(Term::new(assign, CType::INT, span));
                statements.push(Statement { kind, span });
                continue;
            }
            let mut given = vec![to.clone(), size.clone(), length()];
            let function = match part {
                Part::Plain(from, count) => {
                    let kind =
                        TermKind::Offset(BinaryOp::Add, Box::new(format.clone()), Box::new(number(from)), 1);
                    given.extend([Term::new(kind, format.ty.clone(), span), number(count)]);
                    "__builtin_own_put_part"
                }
                Part::Convert(conversion) => self.converted(conversion, &mut kept, &mut given, term)?,
            };
            let call = self.call(function, size_type.clone(), given, span);
            let assign = TermKind::Assign(Box::new(place()), Box::new(call));
            let assign = Term::new(assign, size_type.clone(), span);
            statements.push(Statement { kind: StatementKind::Expression(assign), span });
        }
        let end = self.call("__builtin_own_put_end", CType::INT, vec![to, size, length()], span);
        Some(Term::new(TermKind::Block(statements, Some(Box::new(end))), CType::INT, span))
    }

    /// The function that writes a conversion, and what it is given besides.
    fn converted(
        &mut self,
        conversion: Conversion,
        kept: &mut dyn Iterator<Item = Term>,
        given: &mut Vec<Term>,
        term: &Term,
    ) -> Option<&'static str> {
        let int = |value: u64| Term::new(TermKind::Constant(value), CType::INT, term.span);
        let mut amount = |amount: Amount, none: u64| match amount {
            Amount::None => Some(int(none)),
            Amount::Constant(value) => Some(int(value)),
            Amount::Argument => kept.next(),
        };
        let layout = conversion.flags == 0 && conversion.width == Amount::None;
        let is_plain = layout && conversion.precision == Amount::None;
        let width = amount(conversion.width, 0)?;
        let precision = amount(conversion.precision, u64::from(u32::MAX))?;
        let value = kept.next()?;
        let flags = int(conversion.flags);
        Some(match conversion.what {
            What::Text if is_plain => {
                given.push(value);
                "__builtin_own_put_text"
            }
            What::Text => {
                given.extend([value, flags, width, precision]);
                "__builtin_own_put_string"
            }
            What::Character if is_plain => {
                given.push(value);
                "__builtin_own_put"
            }
            What::Character => {
                given.extend([value, flags, width]);
                "__builtin_own_put_character"
            }
            What::Integer { base, signed, bits } => {
                // `%hhd` takes the lowest byte of an `int`.
                let convert = |value: Term, bits: u32, signed: bool| {
                    Term::new(TermKind::Convert(Box::new(value)), CType::Int { bits, signed }, term.span)
                };
                let value = if bits < 32 { convert(value, bits, signed) } else { value };
                let wide = bits.max(32);
                let value = convert(value, wide, signed);
                given.push(value);
                if !signed {
                    given.push(int(base));
                }
                given.extend([flags, width, precision]);
                match (wide, signed) {
                    (64, true) => "__builtin_own_put_long",
                    (64, false) => "__builtin_own_put_unsigned_long",
                    (_, true) => "__builtin_own_put_int",
                    (_, false) => "__builtin_own_put_unsigned",
                }
            }
            What::Count => return None,
            What::Open { most, is_address } => {
                let precision = if is_address { int(0) } else { precision };
                given.extend([int(most), width, precision]);
                "__builtin_own_put_open"
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_taken_apart() {
        let of = |format: &str| parts(format.as_bytes(), 64);
        let plain =
            |what| Part::Convert(Conversion { flags: 0, width: Amount::None, precision: Amount::None, what });
        assert_eq!(
            of("a%s, %c"),
            Some(vec![Part::Plain(0, 1), plain(What::Text), Part::Plain(3, 2), plain(What::Character)])
        );
        assert_eq!(of("100%%!"), Some(vec![Part::Plain(0, 3), Part::Plain(3, 1), Part::Plain(5, 1)]));
        assert_eq!(of(""), Some(Vec::new()));
        let what = What::Integer { base: 16, signed: false, bits: 64 };
        let (width, precision) = (Amount::Argument, Amount::Constant(3));
        assert_eq!(
            of("%-0*.3lX"),
            Some(vec![Part::Convert(Conversion { flags: 35, width, precision, what })])
        );
        for format in ["%", "%ls", "%ln", "%Lf", "%9999d", "%a", "a%-"] {
            assert_eq!(of(format), None, "{format}");
        }
    }
}
