//! Declarations that are not understood: what is known of their names is nothing.

use lang_c::ast::{
    Declaration, DeclarationSpecifier, Declarator, DeclaratorKind, ExternalDeclaration, FunctionDefinition,
    StorageClassSpecifier,
};
use lang_c::span::Node;

use super::{Entity, Sema};
use crate::c::problem::{Kind, Problem};
use crate::c::tree::Lifetime;

impl Sema<'_> {
    /// What is known of the names in a declaration that is not understood: nothing.
    pub(super) fn unknown_names(&mut self, declaration: &Node<Declaration>, problem: &Problem) {
        let is_local = declaration.node.specifiers.iter().any(|specifier| {
            use StorageClassSpecifier::{Static, Typedef};
            matches!(&specifier.node, DeclarationSpecifier::StorageClass(class) if matches!(class.node, Static | Typedef))
        });
        for declarator in &declaration.node.declarators {
            self.unknown_name(&declarator.node.declarator, problem, is_local);
        }
    }

    /// Nothing is known of a name; or if it is an object already, it is not to be used.
    pub(super) fn unknown_name(&mut self, declarator: &Node<Declarator>, problem: &Problem, is_local: bool) {
        let Some(name) = name_of(declarator) else { return };
        match self.here().names.get(name).cloned() {
            Some(Entity::Object(id)) if self.tree.object(id).lifetime == Lifetime::Static => {
                self.tree.objects[id.0 as usize].problem.get_or_insert(problem.clone());
            }
            // It has no value yet, as if its declaration had been skipped by a jump.
            Some(Entity::Object(_)) => {}
            Some(Entity::Function(id)) => {
                self.tree.functions[id.0 as usize].problems.push(problem.clone());
            }
            _ => {
                self.bind(name, Entity::Unknown(problem.clone()));
                if self.function.is_none() && !is_local {
                    self.linkage.unknown.insert(name.to_owned(), problem.clone());
                }
            }
        }
    }

    /// Something at the outermost level is not understood.
    pub(super) fn not_understood(&mut self, declaration: &Node<ExternalDeclaration>, problem: Problem) {
        match &declaration.node {
            ExternalDeclaration::FunctionDefinition(definition) => {
                self.spoil_function(definition, problem.clone());
                self.problems.extend(Some(problem).filter(|problem| problem.kind != Kind::Unsupported));
            }
            // Its names are known to be unknown.
            ExternalDeclaration::Declaration(declaration)
                if !problem.is_mistake() && !declaration.node.declarators.is_empty() => {}
            _ => self.problems.push(problem),
        }
    }

    /// A function that is not to be used.
    pub(super) fn spoil_function(&mut self, definition: &Node<FunctionDefinition>, problem: Problem) {
        let is_static = definition.node.specifiers.iter().any(|specifier| {
            matches!(&specifier.node, DeclarationSpecifier::StorageClass(class) if class.node == StorageClassSpecifier::Static)
        });
        self.unknown_name(&definition.node.declarator, &problem, is_static);
    }
}

/// The name that a declarator declares.
fn name_of(declarator: &Node<Declarator>) -> Option<&str> {
    match &declarator.node.kind.node {
        DeclaratorKind::Abstract => None,
        DeclaratorKind::Identifier(name) => Some(&name.node.name),
        DeclaratorKind::Declarator(inner) => name_of(inner),
    }
}
