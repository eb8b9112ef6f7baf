//! What `sscanf` reads, if the format is a constant: a call becomes a step for each part of it
//! (`library/scan.c`). Calls with other conversions stay those of a function without a body.

use wherefore_program::{BinaryOp, Span};

use super::calls::{Rewriting, declare, literal, rewrite_calls};
use super::ctype::CType;
use super::sema::Linkage;
use super::tree::{ObjectId, Statement, StatementKind, Term, TermKind, Tree};

/// A part of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Spaces are skipped.
    Space,
    /// This character must come.
    Plain(u8),
    /// A conversion: what it reads, a width below 0 if there is none, and whether it is stored.
    Read { what: What, width: i32, is_stored: bool },
}

/// What a conversion reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// An integer to an object of so many bytes, read as a `long` or `long long` of so many bits.
    Integer {
        base: u64,
        signed: bool,
        bytes: u64,
        bits: u64,
    },
    /// A floating-point number of so many bytes.
    Real(u64),
    Word,
    Characters,
    /// Characters of a set: from where on in the format, how many, and whether it is all others.
    Set {
        from: u64,
        count: u64,
        negated: bool,
    },
    /// How many characters were read, to an object of so many bytes.
    Count(u64),
}

fn is_sscanf(name: &str) -> bool {
    matches!(name, "sscanf" | "__isoc99_sscanf" | "__isoc23_sscanf")
}

/// The parts of a format; none if one of them is not known. `long` is the size of a `long`.
fn parts(format: &[u8], long: u64, has_binary: bool) -> Option<Vec<Part>> {
    let is_space = |byte: u8| byte == b' ' || (9..=13).contains(&byte);
    let (mut found, mut at) = (Vec::new(), 0);
    while at < format.len() {
        let byte = format[at];
        at += 1;
        if is_space(byte) {
            found.push(Part::Space);
            continue;
        }
        if byte != b'%' {
            found.push(Part::Plain(byte));
            continue;
        }
        if format.get(at) == Some(&b'%') {
            found.extend([Part::Space, Part::Plain(b'%')]);
            at += 1;
            continue;
        }
        let is_stored = format.get(at) != Some(&b'*');
        at += usize::from(!is_stored);
        let digits = format[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let text = std::str::from_utf8(&format[at..at + digits]).ok()?;
        let width = if text.is_empty() { -1 } else { text.parse().ok().filter(|width| *width > 0)? };
        at += digits;
        let lengths = format[at..].iter().take_while(|letter| b"hlLjztq".contains(letter)).count();
        let length = &format[at..at + lengths];
        at += lengths;
        let bytes = match length {
            b"" => 4,
            b"h" => 2,
            b"hh" => 1,
            b"l" | b"z" | b"t" => long,
            b"ll" | b"j" | b"q" | b"L" => 8,
            _ => return None,
        };
        let letter = *format.get(at)?;
        at += 1;
        let integer = |base, signed| What::Integer { base, signed, bytes, bits: bytes.max(long) * 8 };
        let what = match letter {
            b'd' => integer(10, true),
            b'i' if !has_binary => integer(0, true),
            b'u' => integer(10, false),
            b'o' => integer(8, false),
            b'x' | b'X' => integer(16, false),
            b'a' | b'e' | b'f' | b'g' | b'A' | b'E' | b'F' | b'G' => match length {
                b"" => What::Real(4),
                b"l" => What::Real(8),
                _ => return None,
            },
            b's' if lengths == 0 => What::Word,
            b'c' if lengths == 0 => What::Characters,
            b'n' if is_stored && width < 0 => What::Count(bytes),
            b'[' if lengths == 0 => {
                let negated = format.get(at) == Some(&b'^');
                at += usize::from(negated);
                let first = usize::from(format.get(at) == Some(&b']'));
                let count = first + format.get(at + first..)?.iter().position(|byte| *byte == b']')?;
                let from = at as u64;
                at += count + 1;
                What::Set { from, count: count as u64, negated }
            }
            _ => return None,
        };
        if !matches!(what, What::Characters | What::Set { .. } | What::Count(_)) {
            found.push(Part::Space);
        }
        found.push(Part::Read { what, width, is_stored });
    }
    Some(found)
}

/// Rewrites all such calls.
pub(crate) fn as_statements(tree: &mut Tree, linkage: &mut Linkage) {
    rewrite_calls((tree, linkage), is_sscanf, |rewriting, term| rewriting.scanned(term));
}

/// The objects of a call that is rewritten.
struct Scan {
    /// Where reading goes on.
    at: ObjectId,
    /// How many conversions were stored.
    count: ObjectId,
    /// Whether it goes on.
    goes_on: ObjectId,
    text: Term,
    format: Term,
    span: Span,
}

impl Rewriting<'_> {
    fn scanned(&mut self, term: &Term) -> Option<Term> {
        let (name, arguments) = self.unknown_call(term).filter(|(name, _)| is_sscanf(name))?;
        let has_binary = name.starts_with("__isoc23");
        let [text, format, targets @ ..] = arguments else { return None };
        let long = u64::from(self.tree.types.model.pointer_bits()) / 8;
        let parts = parts(&literal(self.tree, format)?, long, has_binary)?;
        let stored: Vec<What> = parts
            .iter()
            .filter_map(|part| match part {
                Part::Read { what, is_stored: true, .. } => Some(*what),
                _ => None,
            })
            .collect();
        let fits = stored.len() <= targets.len()
            && stored.iter().zip(targets).all(|(what, target)| self.holds(*what, target));
        if !fits || term.ty != CType::INT || !text.ty.is_pointer() {
            return None;
        }
        let (text, format, targets) = (text.clone(), format.clone(), targets.to_vec());
        let (span, pointer) = (term.span, CType::CHAR.pointer_to());
        let mut statements = Vec::new();
        let mut places: Vec<Term> = Vec::new();
        for target in targets.iter().rev() {
            places.push(self.pointer(target, &mut statements));
        }
        let as_text = |value: Term| match value.ty == pointer {
            true => value,
            false => Term::new(TermKind::Convert(Box::new(value)), pointer.clone(), span),
        };
        let text = self.kept("text", as_text(text), &mut statements);
        let mut variable = |name: &str, value: Term, statements: &mut Vec<Statement>| {
            let id = self.object(name, value.ty.clone(), span);
            statements.push(declare(id, value, span));
            id
        };
        let number = |value: u64| Term::new(TermKind::Constant(value), CType::INT, span);
        let at = variable("at", text.clone(), &mut statements);
        let count = variable("read", number(0), &mut statements);
        let goes_on = variable("goes_on", number(1), &mut statements);
        let scan = Scan { at, count, goes_on, text, format: as_text(format), span };
        for part in parts {
            let target = match part {
                Part::Read { is_stored: true, .. } => Some(places.pop()?),
                _ => None,
            };
            let mut then = Vec::new();
            self.part(&scan, part, target, &mut then);
            statements.push(scan.when(scan.read(goes_on, CType::INT), then, None));
        }
        let result = scan.read(count, CType::INT);
        Some(Term::new(TermKind::Block(statements, Some(Box::new(result))), CType::INT, span))
    }

    /// Whether a pointer points to what a conversion stores.
    fn holds(&self, what: What, target: &Term) -> bool {
        let Some(to) = target.ty.pointee() else { return false };
        match what {
            What::Integer { bytes, .. } | What::Count(bytes) => {
                to.is_integer() && self.tree.types.size(to) == Some(bytes)
            }
            What::Real(bytes) => *to == CType::Float(bytes),
            What::Word | What::Characters | What::Set { .. } => matches!(to, CType::Int { bits: 8, .. }),
        }
    }

    /// Adds what reads a part.
    fn part(&mut self, scan: &Scan, part: Part, target: Option<Term>, out: &mut Vec<Statement>) {
        let (span, pointer) = (scan.span, CType::CHAR.pointer_to());
        let int = |value: u64| Term::new(TermKind::Constant(value), CType::INT, span);
        let at = || scan.read(scan.at, pointer.clone());
        let (what, width) = match part {
            Part::Space => {
                let behind = self.call("__builtin_own_scan_space", pointer.clone(), vec![at()], span);
                return out.push(scan.set(scan.at, behind));
            }
            Part::Plain(byte) => {
                let byte = Term::new(TermKind::Constant(u64::from(byte)), CType::CHAR, span);
                let same = TermKind::Compare(BinaryOp::Eq, Box::new(scan.character()), Box::new(byte));
                let same = Term::new(same, CType::INT, span);
                let one = Term::new(TermKind::Constant(1), self.tree.types.size_type(), span);
                let behind = TermKind::Offset(BinaryOp::Add, Box::new(at()), Box::new(one), 1);
                let go_on = scan.set(scan.at, Term::new(behind, pointer, span));
                return out.push(scan.when(same, vec![go_on], Some(scan.stop())));
            }
            Part::Read { what, width, .. } => (what, width),
        };
        if let (What::Count(_), Some(target)) = (what, &target) {
            let read = TermKind::Difference(Box::new(at()), Box::new(scan.text.clone()), 1);
            let read = Term::new(read, self.tree.types.long(true), span);
            return out.push(store(target.clone(), read, span));
        }
        let room = match (&target, what) {
            (Some(target), What::Word | What::Characters | What::Set { .. }) if target.ty == pointer => {
                target.clone()
            }
            (Some(target), What::Word | What::Characters | What::Set { .. }) => {
                Term::new(TermKind::Convert(Box::new(target.clone())), pointer.clone(), span)
            }
            _ => Term::new(TermKind::Constant(0), pointer.clone(), span),
        };
        let given = int(width as u32 as u64);
        // Nothing is stored where nothing is left.
        let (name, arguments) = match what {
            What::Integer { base, .. } => ("__builtin_own_scan_number", vec![at(), int(base), given]),
            What::Real(_) => ("__builtin_own_scan_real", vec![at(), given]),
            What::Word => ("__builtin_own_scan_word", vec![room, at(), given]),
            What::Characters => {
                let given = if width < 0 { int(1) } else { given };
                ("__builtin_own_scan_characters", vec![room, at(), given])
            }
            What::Set { from, count, negated } => {
                let from = Term::new(TermKind::Constant(from), self.tree.types.size_type(), span);
                let set = TermKind::Offset(BinaryOp::Add, Box::new(scan.format.clone()), Box::new(from), 1);
                let set = Term::new(set, pointer.clone(), span);
                let arguments = vec![room, at(), given, set, int(count), int(u64::from(negated))];
                ("__builtin_own_scan_set", arguments)
            }
            What::Count(_) => return,
        };
        let mut then = Vec::new();
        let behind = self.call(name, pointer.clone(), arguments.clone(), span);
        let behind = self.kept("behind", behind, &mut then);
        let mut go_on = Vec::new();
        match (target, what) {
            (Some(target), What::Integer { base, signed, bits, .. }) => {
                let arguments =
                    vec![at(), int(base), int(width as u32 as u64), int(u64::from(signed)), int(bits)];
                let wide = CType::Int { bits: 64, signed: false };
                let value = self.call("__builtin_own_scanned_number", wide, arguments, span);
                go_on.push(store(target, value, span));
                go_on.push(scan.counted());
            }
            (Some(target), What::Real(_)) => {
                let value = self.call(
                    "__builtin_own_scanned_real",
                    CType::Float(8),
                    vec![at(), behind.clone()],
                    span,
                );
                go_on.push(store(target, value, span));
                go_on.push(scan.counted());
            }
            (Some(_), _) => go_on.push(scan.counted()),
            (None, _) => {}
        }
        go_on.push(scan.set(scan.at, behind.clone()));
        then.push(scan.when(behind, go_on, Some(scan.stop())));
        out.push(scan.when(scan.character(), then, Some(scan.stop())));
    }
}

impl Scan {
    fn read(&self, id: ObjectId, ty: CType) -> Term {
        let place = Term::new(TermKind::Object(id), ty.clone(), self.span);
        Term::new(TermKind::Load(Box::new(place)), ty, self.span)
    }

    fn set(&self, id: ObjectId, value: Term) -> Statement {
        let ty = value.ty.clone();
        let place = Term::new(TermKind::Object(id), ty.clone(), self.span);
        let assign = TermKind::Assign(Box::new(place), Box::new(value));
        Statement { kind: StatementKind::Expression(Term::new(assign, ty, self.span)), span: self.span }
    }

    /// The character that comes next.
    fn character(&self) -> Term {
        let at = self.read(self.at, CType::CHAR.pointer_to());
        let place = Term::new(TermKind::Deref(Box::new(at)), CType::CHAR, self.span);
        Term::new(TermKind::Load(Box::new(place)), CType::CHAR, self.span)
    }

    fn when(&self, condition: Term, then: Vec<Statement>, otherwise: Option<Statement>) -> Statement {
        let then = Statement { kind: StatementKind::Block(then), span: self.span };
        let kind = StatementKind::If(condition, Box::new(then), otherwise.map(Box::new));
        Statement { kind, span: self.span }
    }

    /// One conversion more was stored.
    fn counted(&self) -> Statement {
        let one = Term::new(TermKind::Constant(1), CType::INT, self.span);
        let count = self.read(self.count, CType::INT);
        let sum = TermKind::Arithmetic(BinaryOp::Add, Box::new(count), Box::new(one));
        self.set(self.count, Term::new(sum, CType::INT, self.span))
    }

    /// Reading ends: the result is -1 if the text has come to its end and nothing was stored.
    fn stop(&self) -> Statement {
        let int = |value: u64| Term::new(TermKind::Constant(value), CType::INT, self.span);
        let is = |value: Term| {
            let zero = Term::new(TermKind::Constant(0), value.ty.clone(), self.span);
            Term::new(TermKind::Compare(BinaryOp::Eq, Box::new(value), Box::new(zero)), CType::INT, self.span)
        };
        let none = self.when(
            is(self.read(self.count, CType::INT)),
            vec![self.set(self.count, int(u64::from(u32::MAX)))],
            None,
        );
        let at_end = self.when(is(self.character()), vec![none], None);
        let kind = StatementKind::Block(vec![at_end, self.set(self.goes_on, int(0))]);
        Statement { kind, span: self.span }
    }
}

/// Stores a number where a pointer points.
fn store(pointer: Term, value: Term, span: Span) -> Statement {
    let to = pointer.ty.pointee().cloned().unwrap_or(CType::INT);
    let place = match pointer.kind {
        TermKind::Address(place) if place.ty == to => *place,
        kind => Term::new(TermKind::Deref(Box::new(Term::new(kind, pointer.ty, span))), to.clone(), span),
    };
    let value = match value.ty == to {
        true => value,
        false => Term::new(TermKind::Convert(Box::new(value)), to.clone(), span),
    };
    let assign = TermKind::Assign(Box::new(place), Box::new(value));
    Statement { kind: StatementKind::Expression(Term::new(assign, to, span)), span }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_taken_apart() {
        let of = |format: &str| parts(format.as_bytes(), 8, false);
        let read = |what, width| Part::Read { what, width, is_stored: true };
        let int = What::Integer { base: 10, signed: true, bytes: 4, bits: 64 };
        assert_eq!(of("a %d"), Some(vec![Part::Plain(b'a'), Part::Space, Part::Space, read(int, -1)]));
        let set = What::Set { from: 3, count: 3, negated: true };
        assert_eq!(of("%[^]a-]%5c"), Some(vec![read(set, -1), read(What::Characters, 5)]));
        assert_eq!(of("%[^abc]"), Some(vec![read(set, -1)]));
        for format in ["%", "%p", "%ls", "%Lf", "%[abc", "%0d"] {
            assert_eq!(of(format), None, "{format}");
        }
    }
}
