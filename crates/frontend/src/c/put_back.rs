//! Programs that put characters back into streams (`ungetc`): what reads one character then looks
//! at these first. In other programs that would be steps for nothing.

use wherefore_program::Span;

use super::calls::Rewriting;
use super::ctype::CType;
use super::sema::Linkage;
use super::tree::{FunctionId, ObjectId, Statement, StatementKind, Term, TermKind, Tree};
use super::walk::each_term;

/// The function.
const FUNCTION: &str = "ungetc";

/// Whether a program names a function that it does not define.
fn names(tree: &mut Tree, name: &str) -> bool {
    let is_such =
        |id: FunctionId, tree: &Tree| tree.function(id).body.is_none() && tree.function(id).name == name;
    let ids = (0..tree.functions.len() as u32).map(FunctionId);
    let known: Vec<FunctionId> = ids.filter(|id| is_such(*id, tree)).collect();
    let mut found = false;
    for function in tree.functions.iter_mut().filter(|_| !known.is_empty()) {
        each_term(function.body.as_deref_mut().unwrap_or_default(), &mut |term| {
            found |= matches!(term.kind, TermKind::Function(id) if known.contains(&id));
        });
    }
    found
}

/// Rewrites the calls, unless calls are `watched`; whether the program puts characters back.
pub(crate) fn rewrite(tree: &mut Tree, linkage: &mut Linkage, watched: bool) -> bool {
    if !names(tree, FUNCTION) {
        return false;
    }
    let input = tree.objects.iter().position(|object| object.name == "stdin" && object.ty.is_pointer());
    let input = input.map(|at| ObjectId(at as u32));
    for i in 0..tree.functions.len() {
        let Some(mut body) = tree.functions[i].body.take().filter(|_| !watched) else { continue };
        let mut rewriting =
            Rewriting { tree: &mut *tree, linkage: &mut *linkage, owner: FunctionId(i as u32) };
        each_term(&mut body, &mut |term| {
            if let Some(new) = rewriting.with_those_back(term, input) {
                *term = new;
            }
        });
        tree.functions[i].body = Some(body);
    }
    true
}

impl Rewriting<'_> {
    fn with_those_back(&mut self, term: &Term, input: Option<ObjectId>) -> Option<Term> {
        let (name, arguments) = self.unknown_call(term)?;
        let span = term.span;
        match (name, arguments) {
            ("getc" | "fgetc" | "_IO_getc" | "getc_unlocked" | "fgetc_unlocked", [stream]) => {
                let stream = untyped(stream.clone(), span);
                Some(self.call("__builtin_own_getc", CType::INT, vec![stream], span))
            }
            ("getchar" | "getchar_unlocked", []) => {
                let input = input?;
                let ty = self.tree.object(input).ty.clone();
                let place = Term::new(TermKind::Object(input), ty.clone(), span);
                let stream = untyped(Term::new(TermKind::Load(Box::new(place)), ty, span), span);
                Some(self.call("__builtin_own_getc", CType::INT, vec![stream], span))
            }
            ("fseek" | "fseeko" | "fsetpos" | "rewind" | "fclose", [_, ..]) => self.forgetting(term, 0),
            ("freopen", [_, _, _]) => self.forgetting(term, 2),
            _ => None,
        }
    }

    /// A call after which nothing is put back in the stream that it is given.
    fn forgetting(&mut self, term: &Term, position: usize) -> Option<Term> {
        let TermKind::Call(callee, arguments) = &term.kind else { return None };
        if !arguments.iter().all(|argument| argument.ty.is_scalar()) {
            return None;
        }
        let span = term.span;
        let mut statements: Vec<Statement> = Vec::new();
        let kept = self.evaluated(arguments, &mut statements);
        let stream = untyped(kept[position].clone(), span);
        self.run(&mut statements, "__builtin_own_forget", CType::Void, vec![stream], span);
        let call = Term::new(TermKind::Call(callee.clone(), kept), term.ty.clone(), span);
        let value = match term.ty {
            CType::Void => {
                statements.push(Statement { kind: StatementKind::Expression(call), span });
                None
            }
            _ => Some(Box::new(call)),
        };
        Some(Term::new(TermKind::Block(statements, value), term.ty.clone(), span))
    }
}

fn untyped(value: Term, span: Span) -> Term {
    Term::new(TermKind::Convert(Box::new(value)), CType::Void.pointer_to(), span)
}
