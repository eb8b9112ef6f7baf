//! Constants and string literals.

use std::rc::Rc;

use lang_c::ast::{Constant, Integer, IntegerBase, IntegerSize};
use wherefore_program::{Span, raw_byte};

use super::Sema;
use crate::c::ctype::{CType, Length};
use crate::c::problem::{Checked, Problem};
use crate::c::tree::{Initial, InitialItem, Lifetime, Object, ObjectId, Role, Step, Term, TermKind};

impl Sema<'_> {
    pub(super) fn literal(&mut self, constant: &Constant, span: Span) -> Checked<Term> {
        match constant {
            Constant::Integer(integer) => self.integer(integer, span),
            Constant::Float(float) => {
                let size = super::reals::size(&float.suffix.format).unwrap_or_else(|| self.long_double());
                let value = TermKind::Real(super::reals::constant(float, size));
                let value = Term::new(value, CType::Float(size), span);
                Ok(if float.suffix.imaginary { self.imaginary(value) } else { value })
            }
            Constant::Character(text) => {
                let (characters, wide) = characters(text, '\'');
                let (value, ty) = match (wide, characters.as_slice()) {
                    (Some(ty), [.., last]) => (*last, ty),
                    (None, [one]) => (*one as u8 as i8 as i32 as u32, CType::INT),
                    (None, many) => (many.iter().fold(0, |value, c| (value << 8) | (c & 0xff)), CType::INT),
                    (Some(ty), []) => (0, ty),
                };
                Ok(Term::new(TermKind::Constant(u64::from(value)), ty, span))
            }
        }
    }

    /// An integer has the first type that holds it, in the order that its base and suffix allow.
    fn integer(&mut self, integer: &Integer, span: Span) -> Checked<Term> {
        let (radix, decimal) = match integer.base {
            IntegerBase::Decimal => (10, true),
            IntegerBase::Octal => (8, false),
            IntegerBase::Hexadecimal => (16, false),
            IntegerBase::Binary => (2, false),
        };
        // The parser has cut the prefix.
        let digits = if integer.number.is_empty() { "0" } else { &integer.number };
        let Ok(value) = u64::from_str_radix(digits, radix) else {
            return Err(Problem::new(span, "the number is too large"));
        };
        let long = self.tree.types.model.pointer_bits();
        let widths: &[u32] = match integer.suffix.size {
            IntegerSize::Int => &[32, long, 64],
            IntegerSize::Long => &[long, 64],
            IntegerSize::LongLong => &[64],
        };
        let unsigned = integer.suffix.unsigned;
        let candidates = widths.iter().flat_map(|bits| {
            let signed = (!unsigned).then_some(CType::Int { bits: *bits, signed: true });
            let plain = (unsigned || !decimal).then_some(CType::Int { bits: *bits, signed: false });
            signed.into_iter().chain(plain)
        });
        let fits = |ty: &CType| match ty {
            CType::Int { bits, signed } => value <= u64::MAX >> (64 - bits + u32::from(*signed)),
            _ => false,
        };
        let ty = candidates.into_iter().find(fits).unwrap_or(CType::Int { bits: 64, signed: false });
        let value = Term::new(TermKind::Constant(value), ty, span);
        Ok(if integer.suffix.imaginary { self.imaginary(value) } else { value })
    }

    /// A string literal is an object of its own.
    pub(super) fn string(&mut self, parts: &[String], span: Span) -> Checked<Term> {
        let (text, element) = string_text(parts, span)?;
        let ty = CType::Array(Rc::new(element.clone()), Length::Known(text.len() as u64));
        let id = ObjectId(self.tree.objects.len() as u32);
        let items = string_items(&text, &element, &[], u64::MAX, span);
        self.tree.objects.push(Object {
            name: format!("string.{}", id.0),
            ty: ty.clone(),
            lifetime: Lifetime::Static,
            owner: None,
            initial: Some(Initial { items, span }),
            defined: true,
            problem: None,
            role: Role::default(),
            span,
        });
        Ok(Term::new(TermKind::Object(id), ty, span))
    }
}

/// The characters of a literal in several parts, with the zero behind them, and the type of one.
pub(super) fn string_text(parts: &[String], span: Span) -> Checked<(Vec<u32>, CType)> {
    let read: Vec<_> = parts.iter().map(|part| characters(part, '"')).collect();
    let element = read.iter().find_map(|(_, wide)| wide.clone());
    if let Some(element) = &element {
        // A part without a prefix has that of the others, but it was read as bytes.
        let fits = |(text, wide): &(Vec<u32>, Option<CType>)| match wide {
            Some(wide) => wide == element,
            None => text.iter().all(|character| *character < 0x80),
        };
        if !read.iter().all(fits) {
            return Err(Problem::unsupported(span, "a text of parts with different characters is"));
        }
    }
    let mut text: Vec<u32> = read.into_iter().flat_map(|(text, _)| text).collect();
    text.push(0);
    Ok((text, element.unwrap_or(CType::CHAR)))
}

/// The characters of a string as initial values of the elements below `path`, as many as there is
/// room for.
pub(super) fn string_items(
    text: &[u32],
    element: &CType,
    path: &[Step],
    room: u64,
    span: Span,
) -> Vec<InitialItem> {
    let mask = match element {
        CType::Int { bits, .. } => u64::MAX >> (64 - bits),
        _ => 0xff,
    };
    let items = text.iter().enumerate().take_while(|(i, _)| (*i as u64) < room);
    let item = |(i, c): (usize, &u32)| {
        let value = Term::new(TermKind::Constant(u64::from(*c) & mask), element.clone(), span);
        let path = path.iter().copied().chain([Step::Index(i as u64)]).collect();
        InitialItem { path, value }
    };
    items.map(item).collect()
}

/// The characters between the quotes, and the type of an element if it is not `char`.
pub(super) fn characters(raw: &str, quote: char) -> (Vec<u32>, Option<CType>) {
    let (prefix, rest) = raw.split_at(raw.find(quote).unwrap_or(0));
    let wide = match prefix {
        "L" => Some(CType::INT),
        "U" => Some(CType::UNSIGNED),
        "u" => Some(CType::Int { bits: 16, signed: false }),
        _ => None,
    };
    let body = rest.strip_prefix(quote).unwrap_or(rest);
    let body = body.strip_suffix(quote).unwrap_or(body);
    let mut out = Vec::new();
    let mut input = body.chars().peekable();
    while let Some(c) = input.next() {
        if c != '\\' {
            if let Some(byte) = raw_byte(c) {
                out.push(u32::from(byte));
            } else if prefix == "u" {
                out.extend(c.encode_utf16(&mut [0; 2]).iter().copied().map(u32::from));
            } else if wide.is_some() {
                out.push(u32::from(c));
            } else {
                out.extend(c.encode_utf8(&mut [0; 4]).bytes().map(u32::from));
            }
            continue;
        }
        let escape = input.next().unwrap_or('\\');
        let (first, radix, most) = match escape {
            'x' => (0, 16, usize::MAX),
            'u' => (0, 16, 4),
            'U' => (0, 16, 8),
            '0'..='7' => (escape.to_digit(8).unwrap_or(0), 8, 2),
            _ => {
                out.push(match escape {
                    'n' => 10,
                    't' => 9,
                    'r' => 13,
                    'a' => 7,
                    'b' => 8,
                    'f' => 12,
                    'v' => 11,
                    'e' => 27,
                    other => u32::from(other),
                });
                continue;
            }
        };
        let mut value: u32 = first;
        for _ in 0..most {
            let Some(digit) = input.peek().and_then(|c| c.to_digit(radix)) else { break };
            value = value.wrapping_mul(radix).wrapping_add(digit);
            input.next();
        }
        match char::from_u32(value).filter(|_| prefix == "u" && matches!(escape, 'u' | 'U')) {
            Some(character) => out.extend(character.encode_utf16(&mut [0; 2]).iter().copied().map(u32::from)),
            None => out.push(value),
        }
    }
    (out, wide)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_characters() {
        let (text, wide) = characters("\"a\\n\\x41\\101\\0\\\"\"", '"');
        assert_eq!((text, wide), (vec![97, 10, 65, 65, 0, 34], None));
        assert_eq!(characters("L'\u{e4}'", '\''), (vec![228], Some(CType::INT)));
    }
}
