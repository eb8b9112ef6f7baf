//! Parts of terms, for calls of the C library that become statements of the program.

use std::rc::Rc;

use wherefore_program::Span;

use super::ctype::{CType, Rest, Signature};
use super::sema::Linkage;
use super::tree::{
    Function, FunctionId, Initial, InitialItem, Lifetime, Object, ObjectId, Role, Statement, StatementKind,
    Term, TermKind, Tree,
};
use super::walk::each_term;

/// Rewrites the calls in one function.
pub(crate) struct Rewriting<'a> {
    pub(crate) tree: &'a mut Tree,
    pub(crate) linkage: &'a mut Linkage,
    pub(crate) owner: FunctionId,
}

/// Rewrites calls of functions without a body, if some have such names.
pub(crate) fn rewrite_calls(
    (tree, linkage): (&mut Tree, &mut Linkage),
    is_such: fn(&str) -> bool,
    rewritten: fn(&mut Rewriting<'_>, &Term) -> Option<Term>,
) {
    let is_called = |function: &Function| function.body.is_none() && is_such(&function.name);
    if !tree.functions.iter().any(is_called) {
        return;
    }
    for i in 0..tree.functions.len() {
        let Some(mut body) = tree.functions[i].body.take() else { continue };
        let owner = FunctionId(i as u32);
        let mut rewriting = Rewriting { tree: &mut *tree, linkage: &mut *linkage, owner };
        each_term(&mut body, &mut |term| {
            if let Some(new) = rewritten(&mut rewriting, term) {
                *term = new;
            }
        });
        tree.functions[i].body = Some(body);
    }
}

/// The text of a string literal, without the zero at its end.
pub(crate) fn literal(tree: &Tree, term: &Term) -> Option<Vec<u8>> {
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

impl Rewriting<'_> {
    /// The name and the arguments of a call of a function without a body.
    pub(crate) fn unknown_call<'t>(&self, term: &'t Term) -> Option<(&str, &'t [Term])> {
        let TermKind::Call(callee, arguments) = &term.kind else { return None };
        let TermKind::Function(id) = callee.kind else { return None };
        let function = self.tree.function(id);
        function.body.is_none().then_some((function.name.as_str(), arguments.as_slice()))
    }

    /// A variable with a value, declared by a statement; the value that it has from then on.
    pub(crate) fn kept(&mut self, name: &str, value: Term, out: &mut Vec<Statement>) -> Term {
        let (ty, span) = (value.ty.clone(), value.span);
        let id = self.object(name, ty.clone(), span);
        out.push(declare(id, value, span));
        let place = Term::new(TermKind::Object(id), ty.clone(), span);
        Term::new(TermKind::Load(Box::new(place)), ty, span)
    }

    pub(crate) fn run(
        &mut self,
        out: &mut Vec<Statement>,
        name: &str,
        result: CType,
        with: Vec<Term>,
        span: Span,
    ) {
        let call = self.call(name, result, with, span);
        out.push(Statement { kind: StatementKind::Expression(call), span });
    }

    /// A call of a function of our own, declared if need be.
    pub(crate) fn call(&mut self, name: &str, result: CType, arguments: Vec<Term>, span: Span) -> Term {
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
    pub(crate) fn object(&mut self, name: &str, ty: CType, span: Span) -> ObjectId {
        self.tree.objects.push(Object {
            name: name.to_owned(),
            ty,
            lifetime: Lifetime::Automatic,
            owner: Some(self.owner),
            initial: None,
            defined: true,
            problem: None,
            role: Role::default(),
            span,
        });
        ObjectId(self.tree.objects.len() as u32 - 1)
    }
}

pub(crate) fn declare(id: ObjectId, value: Term, span: Span) -> Statement {
    let initial = Initial { items: vec![InitialItem { path: Vec::new(), value }], span };
    Statement { kind: StatementKind::Declare(id, Some(initial)), span }
}
