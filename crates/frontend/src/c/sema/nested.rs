//! Functions inside of functions, as the text was rewritten.
//!
//! Such a function is one of its own whose body may name objects of the function around it
//! (decision 0048): `usage.rs` says which ones those are, and that they live in memory.

use std::collections::BTreeSet;
use std::rc::Rc;

use lang_c::ast::{
    BlockItem, Declaration, Declarator, Expression, Statement as Syntax, StorageClassSpecifier,
};
use lang_c::span::Node;
use wherefore_program::{BinaryOp, Span};

use super::specifiers::Specifiers;
use super::{Entity, Sema};
use crate::c::ctype::{CType, Signature};
use crate::c::lower::jumps::{LONGJMP, SETJMP};
use crate::c::problem::{Checked, Problem};
use crate::c::rewrite::NESTED;
use crate::c::tree::{FunctionId, ObjectId, Statement, StatementKind, Term, TermKind};
use crate::c::walk::each_statement;

/// The body of the nested function that an item of a block holds.
pub(super) fn nested_body(item: Option<&Node<BlockItem>>) -> Option<&Node<Syntax>> {
    let BlockItem::Statement(statement) = &item?.node else { return None };
    let Syntax::Expression(Some(expression)) = &statement.node else { return None };
    let Expression::Call(call) = &expression.node else { return None };
    let Expression::Identifier(name) = &call.node.callee.node else { return None };
    match call.node.arguments.get(1).map(|body| &body.node) {
        Some(Expression::Statement(body)) if name.node.name == NESTED => Some(body),
        _ => None,
    }
}

impl Sema<'_> {
    /// The nested function of a name, declared if need be.
    fn nested_named(&mut self, name: &str, signature: Rc<Signature>, span: Span) -> FunctionId {
        if let Some(Entity::Function(id)) = self.here().names.get(name) {
            let id = *id;
            let function = self.tree.function(id);
            if function.nested && function.body.is_none() {
                return id;
            }
        }
        let id = self.new_function(name, signature, span);
        self.tree.functions[id.0 as usize].nested = true;
        self.bind(name, Entity::Function(id));
        id
    }

    /// `auto int f(int);` declares a nested function; whether this is one.
    pub(super) fn declares_nested(
        &mut self,
        name: &str,
        signature: &Rc<Signature>,
        specifiers: &Specifiers,
        span: Span,
    ) -> bool {
        let is_such = self.function.is_some() && specifiers.storage == Some(StorageClassSpecifier::Auto);
        if is_such {
            self.nested_named(name, signature.clone(), span);
        }
        is_such
    }

    /// A nested function: its declaration, and its body.
    pub(super) fn nested(
        &mut self,
        declaration: &Node<Declaration>,
        body: &Node<Syntax>,
    ) -> Checked<Vec<Statement>> {
        let specifiers = self.specifiers(&declaration.node.specifiers, declaration.span)?;
        let Some(declarator) = declaration.node.declarators.first().map(|first| &first.node.declarator)
        else {
            return self.fail(declaration, "a function is expected");
        };
        let (name, ty) = self.declarator(declarator, specifiers.ty.clone())?;
        let (Some((name, at)), CType::Function(signature)) = (name, ty) else {
            return self.fail(declarator, "a function is expected");
        };
        let span = self.span_between(at.start, at.end);
        let id = self.nested_named(&name, signature.clone(), span);
        let refused = std::mem::take(&mut self.refused);
        self.tree.functions[id.0 as usize].problems.extend(refused);
        let outer = (
            self.function.replace(id),
            std::mem::replace(&mut self.result, signature.result.clone()),
            std::mem::take(&mut self.implied),
            std::mem::take(&mut self.switches),
            std::mem::take(&mut self.problems),
        );
        self.enter();
        let outcome = self.nested_definition((id, outer.0), declarator, body, &signature);
        self.leave();
        let mut problems = std::mem::take(&mut self.problems);
        (self.function, self.result, self.implied, self.switches, self.problems) = outer;
        problems.extend(outcome.err());
        problems.append(&mut self.refused);
        let end = self.span_between(body.span.end.saturating_sub(1), body.span.end);
        let function = &mut self.tree.functions[id.0 as usize];
        function.problems.extend(problems);
        function.span = span;
        function.end = end;
        function.body.get_or_insert_with(Vec::new);
        Ok(Vec::new())
    }

    fn nested_definition(
        &mut self,
        (id, around): (FunctionId, Option<FunctionId>),
        declarator: &Node<Declarator>,
        body: &Node<Syntax>,
        signature: &Signature,
    ) -> Checked<()> {
        self.body(id, declarator, &[], body, signature)?;
        let mut statements = self.tree.functions[id.0 as usize].body.take().unwrap_or_default();
        let mut labels = BTreeSet::new();
        each_statement(&mut statements, &mut |statement| {
            if let StatementKind::Label(name) = &statement.kind {
                labels.insert(name.clone());
            }
        });
        each_statement(&mut statements, &mut |statement| match &statement.kind {
            StatementKind::Goto(name) if !labels.contains(name) => {
                statement.kind = self.leave_for(name.clone(), around, statement.span);
            }
            _ => {}
        });
        let function = &mut self.tree.functions[id.0 as usize];
        function.body = Some(statements);
        if function.labels.iter().any(|(name, _)| !labels.contains(name)) {
            let what = "the address of a label of the function around a nested function is";
            return Err(Problem::unsupported(function.span, what));
        }
        Ok(())
    }

    /// A jump from a nested function to a label of the one around it: as by `longjmp`, to a call of
    /// `setjmp` at the start of that function, which jumps on to the label.
    fn leave_for(&mut self, label: String, around: Option<FunctionId>, span: Span) -> StatementKind {
        let Some(around) = around else { return StatementKind::Goto(label) };
        if !self.left_for.iter().any(|left| left.function == around) {
            let inner = self.function.replace(around);
            let buffer = self.automatic("jump.buffer", CType::LONG_LONG, span);
            self.function = inner;
            self.left_for.push(Left { function: around, buffer, labels: Vec::new() });
        }
        let Some(left) = self.left_for.iter_mut().find(|left| left.function == around) else {
            return StatementKind::Goto(label);
        };
        let at = left.labels.iter().position(|known| *known == label).unwrap_or_else(|| {
            left.labels.push(label);
            left.labels.len() - 1
        });
        let buffer = address_of(left.buffer, span);
        let value = Term::new(TermKind::Constant(at as u64 + 1), CType::INT, span);
        let parameters = vec![buffer.ty.clone(), CType::INT];
        let call = self.library_call(LONGJMP, CType::Void, parameters, vec![buffer, value], span);
        StatementKind::Expression(call)
    }

    /// What stands at the start of a function to whose labels nested functions jump.
    pub(super) fn comes_back(&mut self) -> Vec<Statement> {
        let function = self.function;
        let Some(at) = self.left_for.iter().position(|left| Some(left.function) == function) else {
            return Vec::new();
        };
        let left = self.left_for.swap_remove(at);
        let span = self.tree.object(left.buffer).span;
        let result = self.automatic("jump.result", CType::INT, span);
        let place = Term::new(TermKind::Object(result), CType::INT, span);
        let buffer = address_of(left.buffer, span);
        let call = self.library_call(SETJMP, CType::INT, vec![buffer.ty.clone()], vec![buffer], span);
        let assign = TermKind::Assign(Box::new(place.clone()), Box::new(call));
        let assign = Term::new(assign, CType::INT, span);
        let mut statements = vec![Statement { kind: StatementKind::Expression(assign), span }];
        for (i, label) in left.labels.into_iter().enumerate() {
            let read = Term::new(TermKind::Load(Box::new(place.clone())), CType::INT, span);
            let number = Term::new(TermKind::Constant(i as u64 + 1), CType::INT, span);
            let is_it = TermKind::Compare(BinaryOp::Eq, Box::new(read), Box::new(number));
            let is_it = Term::new(is_it, CType::INT, span);
            let goto = Box::new(Statement { kind: StatementKind::Goto(label), span });
            statements.push(Statement { kind: StatementKind::If(is_it, goto, None), span });
        }
        statements
    }
}

/// The labels of a function to which nested functions jump.
pub(super) struct Left {
    function: FunctionId,
    /// What `setjmp` fills.
    buffer: ObjectId,
    labels: Vec<String>,
}

/// The address of a jump buffer.
fn address_of(buffer: ObjectId, span: Span) -> Term {
    let place = Term::new(TermKind::Object(buffer), CType::LONG_LONG, span);
    let ty = CType::LONG_LONG.pointer_to();
    let address = Term::new(TermKind::Address(Box::new(place)), ty, span);
    Term::new(TermKind::Convert(Box::new(address)), CType::Void.pointer_to(), span)
}
