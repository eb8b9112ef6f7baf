//! What `scanf` and `fscanf` read, as inputs.
//!
//! A call with a constant format becomes a statement expression: how many conversions succeed is
//! one input, and what each of these brings is another. Formats with other conversions than those
//! of numbers, words and characters stay calls of a function without a body.

use std::rc::Rc;

use wherefore_program::{BinaryOp, Span};

use super::ctype::{CType, Length, Rest, Signature};
use super::sema::Linkage;
use super::tree::{
    Function, FunctionId, Initial, InitialItem, Lifetime, Object, ObjectId, Statement, StatementKind, Term,
    TermKind, Tree,
};
use super::usage::root;
use super::walk::each_term;

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
    /// An integer of so many bytes.
    Integer(u64),
    /// A floating-point number of so many bytes.
    Real(u64),
    /// A text without spaces, of at most so many characters.
    Word(Option<u64>),
    /// So many characters.
    Characters(u64),
}

/// The conversions of a format that store something; none if one of them is not known.
fn conversions(format: &[u8], long: u64) -> Option<Vec<Stored>> {
    let mut found = Vec::new();
    let mut rest = format.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            continue;
        }
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
            (b'd' | b'i' | b'u' | b'o' | b'x' | b'X', length) => Stored::Integer(match length {
                [] => 4,
                b"h" => 2,
                b"hh" => 1,
                b"l" | b"z" | b"t" => long,
                b"ll" | b"j" | b"q" | b"L" => 8,
                _ => return None,
            }),
            (b'a' | b'e' | b'f' | b'g' | b'A' | b'E' | b'F' | b'G', length) => Stored::Real(match length {
                [] => 4,
                b"l" => 8,
                _ => return None,
            }),
            (b's', []) => Stored::Word(width),
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
pub(crate) fn as_inputs(tree: &mut Tree, linkage: &mut Linkage) {
    let is_scanf = |function: &Function| function.body.is_none() && format_of(&function.name).is_some();
    if !tree.functions.iter().any(is_scanf) {
        return;
    }
    for i in 0..tree.functions.len() {
        let Some(mut body) = tree.functions[i].body.take() else { continue };
        let mut rewriting =
            Rewriting { tree: &mut *tree, linkage: &mut *linkage, owner: FunctionId(i as u32) };
        each_term(&mut body, &mut |term| {
            if let Some(inputs) = rewriting.inputs(term) {
                *term = inputs;
            }
        });
        tree.functions[i].body = Some(body);
    }
}

/// The text of a string literal, without the zero at its end.
fn literal(tree: &Tree, term: &Term) -> Option<Vec<u8>> {
    let place = match &term.kind {
        TermKind::Convert(inner) => return literal(tree, inner),
        TermKind::Address(place) => place,
        _ => return None,
    };
    let TermKind::Object(id) = place.kind else { return None };
    let object = tree.object(id);
    let is_literal = object.name.starts_with("string.")
        && matches!(&object.ty, CType::Array(of, _) if **of == CType::CHAR);
    let items = &object.initial.as_ref().filter(|_| is_literal)?.items;
    let text: Option<Vec<u8>> = items.iter().map(|item| Some(item.value.constant()? as u8)).collect();
    Some(text?.into_iter().take_while(|byte| *byte != 0).collect())
}

/// Rewrites the calls in one function.
struct Rewriting<'a> {
    tree: &'a mut Tree,
    linkage: &'a mut Linkage,
    owner: FunctionId,
}

impl Rewriting<'_> {
    fn inputs(&mut self, term: &Term) -> Option<Term> {
        let TermKind::Call(callee, arguments) = &term.kind else { return None };
        let TermKind::Function(id) = callee.kind else { return None };
        let function = self.tree.function(id);
        let at = format_of(&function.name).filter(|_| function.body.is_none())?;
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
            self.store(&mut then, stored, pointer, span);
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
            Stored::Integer(size) => to.is_integer() && self.tree.types.size(to) == Some(size),
            Stored::Real(size) => *to == CType::Float(size),
            Stored::Word(_) | Stored::Characters(_) => {
                matches!(to, CType::Int { bits: 8, .. })
            }
        }
    }

    /// A pointer that was evaluated. What it points to may be seen.
    fn pointer(&mut self, target: &Term, statements: &mut Vec<Statement>) -> Term {
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
        let id = self.object("target", target.ty.clone(), target.span);
        statements.push(declare(id, target.clone(), target.span));
        let place = Term::new(TermKind::Object(id), target.ty.clone(), target.span);
        Term::new(TermKind::Load(Box::new(place)), target.ty.clone(), target.span)
    }

    /// Adds what stores the input of a conversion.
    fn store(&mut self, statements: &mut Vec<Statement>, stored: Stored, pointer: Term, span: Span) {
        let (name, ty) = match stored {
            Stored::Integer(1) => ("__input_scanf_char", CType::CHAR),
            Stored::Integer(2) => ("__input_scanf_short", CType::Int { bits: 16, signed: true }),
            Stored::Integer(4) => ("__input_scanf_int", CType::INT),
            Stored::Integer(_) => ("__input_scanf_long", CType::LONG_LONG),
            Stored::Real(4) => ("__input_scanf_float", CType::Float(4)),
            Stored::Real(_) => ("__input_scanf_double", CType::Float(8)),
            Stored::Word(most) => {
                let most = most.or_else(|| self.room(&pointer)).unwrap_or(0x7fff_ffff);
                return self.fill(statements, "__builtin_own_word", pointer, most, span);
            }
            Stored::Characters(count) => {
                return self.fill(statements, "__builtin_own_characters", pointer, count, span);
            }
        };
        let value = self.call(name, ty, Vec::new(), span);
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

    fn run(&mut self, out: &mut Vec<Statement>, name: &str, result: CType, with: Vec<Term>, span: Span) {
        let call = self.call(name, result, with, span);
        out.push(Statement { kind: StatementKind::Expression(call), span });
    }

    /// A call of a function of our own, declared if need be.
    fn call(&mut self, name: &str, result: CType, arguments: Vec<Term>, span: Span) -> Term {
        let parameters = arguments.iter().map(|argument| argument.ty.clone()).collect();
        let signature = Rc::new(Signature { result: result.clone(), parameters, rest: Rest::Nothing });
        let id = self.linkage.function(name).unwrap_or_else(|| {
            self.tree.functions.push(Function::declared(name, signature.clone(), span));
            let id = FunctionId(self.tree.functions.len() as u32 - 1);
            self.linkage.add_function(name, id);
            id
        });
        let callee = Term::new(TermKind::Function(id), CType::Function(signature), span);
        Term::new(TermKind::Call(Box::new(callee), arguments), result, span)
    }

    /// A new object of the function at hand.
    fn object(&mut self, name: &str, ty: CType, span: Span) -> ObjectId {
        self.tree.objects.push(Object {
            name: name.to_owned(),
            ty,
            lifetime: Lifetime::Automatic,
            owner: Some(self.owner),
            initial: None,
            defined: true,
            problem: None,
            span,
        });
        ObjectId(self.tree.objects.len() as u32 - 1)
    }
}

fn declare(id: ObjectId, value: Term, span: Span) -> Statement {
    let initial = Initial { items: vec![InitialItem { path: Vec::new(), value }], span };
    Statement { kind: StatementKind::Declare(id, Some(initial)), span }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_say_what_is_stored() {
        let of = |format: &str| conversions(format.as_bytes(), 8);
        let four = [Stored::Integer(4), Stored::Integer(8), Stored::Word(Some(9)), Stored::Characters(1)];
        assert_eq!(of("%d, %lu %9s%%%*d%c"), Some(four.to_vec()));
        assert_eq!(of("no conversion"), Some(Vec::new()));
        assert_eq!(of("%lf%f%hhd"), Some(vec![Stored::Real(8), Stored::Real(4), Stored::Integer(1)]));
        for format in ["%[a-z]", "%n", "%Lf", "%p", "%ls", "%", "%5"] {
            assert_eq!(of(format), None, "{format}");
        }
    }
}
