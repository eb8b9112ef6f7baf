//! What functions write that print, and what they return.
//!
//! If the format is a constant, a call becomes a step for each part of it (`library/print.c`):
//! characters and integers are exact, of a floating-point number or an address only the length is
//! bounded. Other formats are read while the program runs (`library/format.c`). What goes to a stream
//! is not followed; its length is what the call returns, if that is used.

use std::rc::Rc;

use wherefore_program::{BinaryOp, Span, c_library};

use super::calls::{Rewriting, declare, literal};
use super::ctype::{CType, Rest, Signature};
use super::sema::Linkage;
use super::tree::{Function, FunctionId, Statement, StatementKind, Term, TermKind, Tree};
use super::walk::each_use;

/// Where the text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Room {
    /// To a stream.
    Stream,
    /// To memory, as far as it goes.
    Open,
    /// To memory, of a size: the position of the argument.
    Sized(usize),
}

/// What the arguments of a function that prints are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    room: Room,
    /// The position of the format.
    format: usize,
    /// Whether a `va_list` is behind it.
    is_list: bool,
}

fn shape(name: &str) -> Option<Shape> {
    use Room::{Open, Sized, Stream};
    let (room, format, is_list) = match name {
        "printf" | "printf_unlocked" => (Stream, 0, false),
        "fprintf" | "fprintf_unlocked" | "dprintf" | "__printf_chk" => (Stream, 1, false),
        "__fprintf_chk" => (Stream, 2, false),
        "vprintf" => (Stream, 0, true),
        "vfprintf" | "vdprintf" | "__vprintf_chk" => (Stream, 1, true),
        "__vfprintf_chk" => (Stream, 2, true),
        "sprintf" => (Open, 1, false),
        "__sprintf_chk" => (Open, 3, false),
        "vsprintf" => (Open, 1, true),
        "__vsprintf_chk" => (Open, 3, true),
        "snprintf" => (Sized(1), 2, false),
        "__snprintf_chk" => (Sized(1), 4, false),
        "vsnprintf" => (Sized(1), 2, true),
        "__vsnprintf_chk" => (Sized(1), 4, true),
        _ => return None,
    };
    Some(Shape { room, format, is_list })
}

/// What other functions return that write to a stream, if all goes well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Success {
    /// The character that they are given.
    Character,
    /// The number of elements.
    Elements,
    Zero,
    /// A number that is not negative.
    Any,
    /// So many bytes as there are, or fewer, or -1.
    Bytes,
}

fn success(name: &str, arguments: usize) -> Option<Success> {
    match (name, arguments) {
        ("putchar" | "putchar_unlocked", 1)
        | ("putc" | "fputc" | "putc_unlocked" | "fputc_unlocked" | "_IO_putc", 2) => Some(Success::Character),
        ("fwrite" | "fwrite_unlocked", 4) => Some(Success::Elements),
        ("fflush" | "fflush_unlocked" | "fclose", 1) => Some(Success::Zero),
        ("write", 3) => Some(Success::Bytes),
        ("puts" | "puts_unlocked", 1) | ("fputs" | "fputs_unlocked", 2) => Some(Success::Any),
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

/// Rewrites all such calls. What goes to a stream gets there, unless output `may_fail`.
pub(crate) fn as_statements(tree: &mut Tree, linkage: &mut Linkage, may_fail: bool) {
    let prints =
        |name: &str| shape(name).is_some() || [1, 2, 3, 4].iter().any(|n| success(name, *n).is_some());
    if !tree.functions.iter().any(|function| function.body.is_none() && prints(&function.name)) {
        return;
    }
    for i in 0..tree.functions.len() {
        let Some(mut body) = tree.functions[i].body.take() else { continue };
        let mut rewriting =
            Rewriting { tree: &mut *tree, linkage: &mut *linkage, owner: FunctionId(i as u32) };
        each_use(&mut body, &mut |term, used| {
            let new = rewriting.written(term, used, may_fail);
            if let Some(new) = new.or_else(|| if used { rewriting.put(term, may_fail) } else { None }) {
                *term = new;
            }
        });
        tree.functions[i].body = Some(body);
    }
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
    /// The arguments of a call, evaluated from the last to the first; what is constant stays.
    pub(crate) fn evaluated(&mut self, arguments: &[Term], statements: &mut Vec<Statement>) -> Vec<Term> {
        let mut kept: Vec<Term> = arguments
            .iter()
            .rev()
            .map(|argument| match argument.constant().is_some() || literal(self.tree, argument).is_some() {
                true => argument.clone(),
                false => self.kept("argument", argument.clone(), statements),
            })
            .collect();
        kept.reverse();
        kept
    }

    /// The same call with other arguments.
    fn again(term: &Term, arguments: Vec<Term>) -> Term {
        let TermKind::Call(callee, _) = &term.kind else { return term.clone() };
        Term::new(TermKind::Call(callee.clone(), arguments), term.ty.clone(), term.span)
    }

    /// What a call returns that writes to a stream: `success`, or `failure` if it fails.
    fn outcome(&mut self, success: Term, failure: u64, may_fail: bool) -> Term {
        let (span, ty) = (success.span, success.ty.clone());
        if !may_fail {
            self.tree.output.get_or_insert(span);
            return success;
        }
        let fails = self.call(c_library::OUTPUT_FAILS, CType::Bool, Vec::new(), span);
        let failure = Term::new(TermKind::Constant(failure), ty.clone(), span);
        Term::new(TermKind::Conditional(Box::new(fails), Box::new(failure), Box::new(success)), ty, span)
    }

    /// A call that puts characters to a stream and whose result is used.
    fn put(&mut self, term: &Term, may_fail: bool) -> Option<Term> {
        let (name, arguments) = self.unknown_call(term)?;
        let success = success(name, arguments.len())?;
        if !term.ty.is_integer() || !arguments.iter().all(|argument| argument.ty.is_scalar()) {
            return None;
        }
        let arguments = arguments.to_vec();
        let (span, ty) = (term.span, term.ty.clone());
        let mut statements = Vec::new();
        let kept = self.evaluated(&arguments, &mut statements);
        let call = Self::again(term, kept.clone());
        let converted =
            |value: Term, ty: &CType| Term::new(TermKind::Convert(Box::new(value)), ty.clone(), span);
        let (value, failure) = match success {
            Success::Bytes => {
                let value = self.kept("written", call, &mut statements);
                let most = converted(kept[2].clone(), &ty);
                let least = Term::new(TermKind::Constant(u64::MAX), ty.clone(), span);
                let least = converted_to(&least, ty.clone());
                for (low, high) in [(least, value.clone()), (value.clone(), most)] {
                    let kind = TermKind::Compare(BinaryOp::SLe, Box::new(low), Box::new(high));
                    let condition = Term::new(kind, CType::INT, span);
                    self.run(&mut statements, "__VERIFIER_assume", CType::Void, vec![condition], span);
                }
                return Some(Term::new(TermKind::Block(statements, Some(Box::new(value))), ty, span));
            }
            Success::Any => {
                let value = self.kept("printed", call, &mut statements);
                (value, u64::from(u32::MAX))
            }
            _ => {
                statements.push(Statement { kind: StatementKind::Expression(call), span });
                match success {
                    Success::Character => {
                        let byte = converted(kept[0].clone(), &CType::Int { bits: 8, signed: false });
                        (converted(byte, &ty), u64::from(u32::MAX))
                    }
                    Success::Elements => {
                        let zero = Term::new(TermKind::Constant(0), ty.clone(), span);
                        let [size, count] = [1, 2].map(|at: usize| converted_to(&kept[at], ty.clone()));
                        let kind = TermKind::Conditional(Box::new(size), Box::new(count), Box::new(zero));
                        (Term::new(kind, ty.clone(), span), 0)
                    }
                    _ => (Term::new(TermKind::Constant(0), ty.clone(), span), u64::from(u32::MAX)),
                }
            }
        };
        let value = self.outcome(value, failure, may_fail);
        Some(Term::new(TermKind::Block(statements, Some(Box::new(value))), ty, span))
    }

    /// A call that prints by a format, into memory or so that its result is used.
    fn written(&mut self, term: &Term, used: bool, may_fail: bool) -> Option<Term> {
        let (name, arguments) = self.unknown_call(term)?;
        let shape = shape(name)?;
        let format = arguments.get(shape.format)?;
        let pointer = self.tree.types.model.pointer_bits();
        let values = arguments.get(shape.format + 1..)?;
        let text = literal(self.tree, format).filter(|_| !shape.is_list);
        let parts = text.and_then(|text| parts(&text, pointer)).filter(|parts| {
            // Further arguments are evaluated and ignored.
            let wanted = wanted(parts);
            wanted.len() <= values.len() && wanted.iter().zip(values).all(|(w, v)| fits(w, v, pointer))
        });
        let counts = |part: &Part| matches!(part, Part::Convert(Conversion { what: What::Count, .. }));
        let has_count = parts.as_ref().is_some_and(|parts| parts.iter().any(counts));
        let is_stream = shape.room == Room::Stream;
        if is_stream && !used && !has_count {
            return None;
        }
        if term.ty != CType::INT || !arguments.iter().all(|argument| argument.ty.is_scalar()) {
            return None;
        }
        if shape.is_list && values.len() != 1 {
            return None;
        }
        let arguments = arguments.to_vec();
        let (span, size_type) = (term.span, self.tree.types.size_type());
        let number = |value: u64| Term::new(TermKind::Constant(value), size_type.clone(), span);
        let mut statements = Vec::new();
        let kept = self.evaluated(&arguments, &mut statements);
        if is_stream {
            let kind = StatementKind::Expression(Self::again(term, kept.clone()));
            statements.push(Statement { kind, span });
        }
        let size = match shape.room {
            Room::Stream => number(0),
            Room::Open => number(u64::MAX >> (64 - pointer)),
            Room::Sized(at) => converted_to(&kept[at], size_type.clone()),
        };
        let to = match is_stream {
            true => Term::new(TermKind::Constant(0), CType::CHAR.pointer_to(), span),
            false => converted_to(&kept[0], CType::CHAR.pointer_to()),
        };
        let format = kept[shape.format].clone();
        let rest = kept[shape.format + 1..].to_vec();
        let length = match parts {
            Some(parts) => self.in_parts(term, parts, (to, size), format, rest, &mut statements)?,
            None => {
                let mut given = vec![to, size, converted_to(&format, CType::CHAR.pointer_to())];
                given.extend(rest);
                match shape.is_list {
                    true => self.call("__builtin_own_vformat", CType::INT, given, span),
                    false => self.variadic_call("__builtin_own_format", given, 3, span),
                }
            }
        };
        let value = match is_stream {
            true => self.outcome(length, u64::from(u32::MAX), may_fail),
            false => length,
        };
        Some(Term::new(TermKind::Block(statements, Some(Box::new(value))), CType::INT, span))
    }

    /// A call of a function of our own with so many parameters and variable arguments behind them.
    fn variadic_call(&mut self, name: &str, arguments: Vec<Term>, fixed: usize, span: Span) -> Term {
        let parameters = arguments[..fixed].iter().map(|argument| argument.ty.clone()).collect();
        let signature = Rc::new(Signature { result: CType::INT, parameters, rest: Rest::Variadic });
        let id = self.linkage.function(name).unwrap_or_else(|| {
            self.tree.functions.push(Function::declared(name, signature.clone(), span));
            let id = FunctionId(self.tree.functions.len() as u32 - 1);
            self.linkage.add_function(name, id);
            id
        });
        let callee = Term::new(TermKind::Function(id), CType::Function(signature), span);
        Term::new(TermKind::Call(Box::new(callee), arguments), CType::INT, span)
    }

    /// The parts of a text are written one after the other; the number of characters.
    fn in_parts(
        &mut self,
        term: &Term,
        parts: Vec<Part>,
        (to, size): (Term, Term),
        format: Term,
        kept: Vec<Term>,
        statements: &mut Vec<Statement>,
    ) -> Option<Term> {
        let (span, size_type) = (term.span, self.tree.types.size_type());
        let number = |value: u64| Term::new(TermKind::Constant(value), size_type.clone(), span);
        let is_kept = size.constant() != Some(0);
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
                Part::Plain(_, count) if !is_kept => {
                    let sum =
                        TermKind::Arithmetic(BinaryOp::Add, Box::new(length()), Box::new(number(count)));
                    let sum = Term::new(sum, size_type.clone(), span);
                    let assign = TermKind::Assign(Box::new(place()), Box::new(sum));
                    let kind = StatementKind::Expression(Term::new(assign, size_type.clone(), span));
                    statements.push(Statement { kind, span });
                    continue;
                }
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
        Some(match is_kept {
            true => self.call("__builtin_own_put_end", CType::INT, vec![to, size, length()], span),
            false => Term::new(TermKind::Convert(Box::new(length())), CType::INT, span),
        })
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
