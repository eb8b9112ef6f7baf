//! What `sprintf` and `snprintf` write, if the format is a constant with no other conversions than
//! `%s`, `%c` and `%%`. Other calls stay those of a function without a body.

use wherefore_program::BinaryOp;

use super::calls::{Rewriting, declare, literal, rewrite_calls};
use super::ctype::CType;
use super::sema::Linkage;
use super::tree::{StatementKind, Term, TermKind, Tree};

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
    Text,
    Character,
}

/// The parts of a format; none if one of them is not known.
fn parts(format: &[u8]) -> Option<Vec<Part>> {
    let (mut found, mut start, mut at) = (Vec::new(), 0, 0);
    let plain =
        |start: usize, end: usize| (end > start).then_some(Part::Plain(start as u64, (end - start) as u64));
    while at < format.len() {
        if format[at] != b'%' {
            at += 1;
            continue;
        }
        found.extend(plain(start, at));
        match format.get(at + 1)? {
            b's' => found.push(Part::Text),
            b'c' => found.push(Part::Character),
            b'%' => found.push(Part::Plain(at as u64, 1)),
            _ => return None,
        }
        at += 2;
        start = at;
    }
    found.extend(plain(start, at));
    Some(found)
}

/// Rewrites all such calls.
pub(crate) fn as_statements(tree: &mut Tree, linkage: &mut Linkage) {
    rewrite_calls(
        (tree, linkage),
        |name| format_of(name).is_some(),
        |rewriting, term| rewriting.written(term),
    );
}

impl Rewriting<'_> {
    fn written(&mut self, term: &Term) -> Option<Term> {
        let (name, arguments) = self.unknown_call(term)?;
        let at = format_of(name)?;
        let format = arguments.get(at)?;
        let parts = parts(&literal(self.tree, format)?)?;
        let values = arguments.get(at + 1..)?;
        let wanted: Vec<Part> =
            parts.iter().copied().filter(|part| !matches!(part, Part::Plain(..))).collect();
        let fits = |(part, value): (&Part, &Term)| match part {
            Part::Text => matches!(value.ty.pointee(), Some(CType::Int { bits: 8, .. })),
            _ => value.ty == CType::INT,
        };
        if wanted.len() != values.len() || !wanted.iter().zip(values).all(fits) || term.ty != CType::INT {
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
            1 => number(u64::MAX >> (64 - self.tree.types.model.pointer_bits())),
            _ => self.kept("size", arguments[1].clone(), &mut statements),
        };
        let to = self.kept("to", arguments[0].clone(), &mut statements);
        let written = self.object("written", size_type.clone(), span);
        statements.push(declare(written, number(0), span));
        let place = || Term::new(TermKind::Object(written), size_type.clone(), span);
        let length = || Term::new(TermKind::Load(Box::new(place())), size_type.clone(), span);
        let mut kept = kept.into_iter();
        for part in parts {
            let mut given = vec![to.clone(), size.clone(), length()];
            let function = match part {
                Part::Plain(from, count) => {
                    let kind =
                        TermKind::Offset(BinaryOp::Add, Box::new(format.clone()), Box::new(number(from)), 1);
                    given.extend([Term::new(kind, format.ty.clone(), span), number(count)]);
                    "__builtin_own_put_part"
                }
                Part::Text => {
                    given.extend(kept.next());
                    "__builtin_own_put_text"
                }
                Part::Character => {
                    given.extend(kept.next());
                    "__builtin_own_put"
                }
            };
            let call = self.call(function, size_type.clone(), given, span);
            let assign = TermKind::Assign(Box::new(place()), Box::new(call));
            let assign = Term::new(assign, size_type.clone(), span);
            statements.push(super::tree::Statement { kind: StatementKind::Expression(assign), span });
        }
        let end = self.call("__builtin_own_put_end", CType::INT, vec![to, size, length()], span);
        Some(Term::new(TermKind::Block(statements, Some(Box::new(end))), CType::INT, span))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_taken_apart() {
        let of = |format: &str| parts(format.as_bytes());
        assert_eq!(
            of("a%s, %c"),
            Some(vec![Part::Plain(0, 1), Part::Text, Part::Plain(3, 2), Part::Character])
        );
        assert_eq!(of("100%%!"), Some(vec![Part::Plain(0, 3), Part::Plain(3, 1), Part::Plain(5, 1)]));
        assert_eq!(of(""), Some(Vec::new()));
        for format in ["%d", "%5s", "%", "a%-c"] {
            assert_eq!(of(format), None, "{format}");
        }
    }
}
