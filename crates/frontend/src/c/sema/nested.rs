//! Functions inside of functions, as the text was rewritten.
//!
//! Such a function is one of its own whose body may name objects of the function around it
//! (decision 0048): `usage.rs` says which ones those are, and that they live in memory.

use lang_c::ast::{
    BlockItem, Declaration, Declarator, Expression, Statement as Syntax, StorageClassSpecifier,
};
use lang_c::span::Node;
use wherefore_program::Span;

use super::specifiers::Specifiers;
use super::{Entity, Sema};
use crate::c::ctype::{CType, Length, Signature};
use crate::c::problem::{Checked, Problem};
use crate::c::rewrite::NESTED;
use crate::c::tree::{FunctionId, Statement, StatementKind};
use crate::c::walk::each_term;
use std::rc::Rc;

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
        let outcome = self.nested_definition(id, declarator, body, &signature);
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
        id: FunctionId,
        declarator: &Node<Declarator>,
        body: &Node<Syntax>,
        signature: &Signature,
    ) -> Checked<()> {
        self.body(id, declarator, &[], body, signature)?;
        // Lengths of arrays of the function around it are in no term.
        let mut lengths = Vec::new();
        let mut statements = self.tree.functions[id.0 as usize].body.take().unwrap_or_default();
        each_term(&mut statements, &mut |term| lengths_in(&term.ty, &mut lengths));
        self.tree.functions[id.0 as usize].body = Some(statements);
        for object in self.tree.objects.iter().filter(|object| object.owner == Some(id)) {
            lengths_in(&object.ty, &mut lengths);
        }
        if lengths.iter().any(|length| self.tree.objects[*length as usize].owner != Some(id)) {
            let span = self.tree.function(id).span;
            let what = "an array of variable length of the function around a nested function is";
            return Err(Problem::unsupported(span, what));
        }
        let function = self.tree.function(id);
        let body = function.body.as_deref().unwrap_or_default();
        if function.labels.iter().any(|(name, _)| !body.iter().any(|statement| has_label(statement, name))) {
            let what = "the address of a label of the function around a nested function is";
            return Err(Problem::unsupported(function.span, what));
        }
        Ok(())
    }
}

/// Whether a label stands in a statement.
fn has_label(statement: &Statement, name: &str) -> bool {
    match &statement.kind {
        StatementKind::Label(label) => label == name,
        StatementKind::Block(inner) => inner.iter().any(|statement| has_label(statement, name)),
        StatementKind::If(_, then, otherwise) => {
            has_label(then, name) || otherwise.as_deref().is_some_and(|otherwise| has_label(otherwise, name))
        }
        StatementKind::While(_, body)
        | StatementKind::DoWhile(body, _)
        | StatementKind::For(_, _, _, body)
        | StatementKind::Switch(_, body) => has_label(body, name),
        _ => false,
    }
}

/// The objects that hold lengths of arrays in a type.
fn lengths_in(ty: &CType, out: &mut Vec<u32>) {
    match ty {
        CType::Array(element, length) => {
            if let Length::Variable(length) = length {
                out.push(*length);
            }
            lengths_in(element, out);
        }
        CType::Pointer(to) => lengths_in(to, out),
        _ => {}
    }
}
