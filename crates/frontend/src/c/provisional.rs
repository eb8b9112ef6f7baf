//! Definitions that are only for inlining, and that are given up.
//!
//! The headers of the C library define checked variants of its functions for inlining (`FORTIFY`).
//! They call the function itself by a second name, or pass their variable arguments on. What such a
//! definition does is what the function does that it stands for, so that without it nothing is lost
//! but knowledge of the function. A function of the program that is not modelled is a place.

use rustc_hash::FxHashSet;
use wherefore_program::c_library;

use super::tree::{FunctionId, Statement, StatementKind, Term, TermKind, Tree};
use super::writes;

/// Takes away the bodies that are only for inlining and that call one of these functions, or that
/// are not modelled and define a function of the C library.
pub(crate) fn give_up(tree: &mut Tree, second_names: &FxHashSet<FunctionId>) {
    let is_lost = |function: &super::tree::Function| {
        let body = function.body.as_deref().filter(|_| function.is_for_inlining());
        body.is_some_and(|body| {
            let is_unknown =
                !function.problems.is_empty() || body.iter().any(|s| in_statement(s, &FxHashSet::default()));
            is_unknown && is_of_library(&function.name)
                || body.iter().any(|statement| in_statement(statement, second_names))
        })
    };
    let lost: Vec<usize> = (0..tree.functions.len()).filter(|i| is_lost(&tree.functions[*i])).collect();
    for i in lost {
        let function = &mut tree.functions[i];
        function.body = None;
        function.rest = None;
        function.provisional = false;
        function.problems.clear();
        function.parameters.clear();
    }
}

/// Whether a function is one of the C library, or has a name that is reserved for it.
fn is_of_library(name: &str) -> bool {
    name.starts_with("__") || c_library::is_deterministic(name) || writes::writes(name).is_some()
}

fn in_statement(statement: &Statement, names: &FxHashSet<FunctionId>) -> bool {
    let term = |term: &Term| in_term(term, names);
    let inside = |statement: &Statement| in_statement(statement, names);
    match &statement.kind {
        StatementKind::Unsupported(_) => true,
        StatementKind::Expression(value) | StatementKind::Return(Some(value)) => term(value),
        StatementKind::Cleanup(_, value) | StatementKind::GotoAny(value) => term(value),
        StatementKind::Declare(_, initial) => {
            initial.iter().flat_map(|initial| &initial.items).any(|item| term(&item.value))
        }
        StatementKind::Block(statements) => statements.iter().any(inside),
        StatementKind::If(condition, then, otherwise) => {
            term(condition) || inside(then) || otherwise.as_deref().is_some_and(inside)
        }
        StatementKind::While(value, body)
        | StatementKind::DoWhile(body, value)
        | StatementKind::Switch(value, body) => term(value) || inside(body),
        StatementKind::For(first, condition, step, body) => {
            first.iter().any(inside) || condition.iter().chain(step).any(term) || inside(body)
        }
        StatementKind::Assembly(assembly) => assembly.outputs.iter().chain(&assembly.inputs).any(term),
        StatementKind::Empty
        | StatementKind::Case(..)
        | StatementKind::Default
        | StatementKind::Label(_)
        | StatementKind::Goto(_)
        | StatementKind::Break
        | StatementKind::Continue
        | StatementKind::Return(None) => false,
    }
}

fn in_term(term: &Term, names: &FxHashSet<FunctionId>) -> bool {
    match &term.kind {
        TermKind::Function(id) => names.contains(id),
        TermKind::Block(statements, value) => {
            statements.iter().any(|statement| in_statement(statement, names))
                || value.as_deref().is_some_and(|value| in_term(value, names))
        }
        _ => term.any_child(&mut |child| in_term(child, names)),
    }
}
