//! Terms that are changed in place.

use rustc_hash::FxHashMap;

use super::tree::{FunctionId, Initial, ObjectId, Statement, StatementKind, Term, TermKind, Tree};

/// Puts functions and objects in the place of their second names. A second name that another file
/// defines is the one of that file.
pub(crate) fn resolve_aliases(tree: &mut Tree) {
    let functions = tree.function_aliases.iter().copied();
    let functions: FxHashMap<FunctionId, FunctionId> =
        functions.filter(|(name, _)| tree.function(*name).body.is_none()).collect();
    let objects: FxHashMap<ObjectId, ObjectId> = tree.object_aliases.iter().copied().collect();
    if functions.is_empty() && objects.is_empty() {
        return;
    }
    let mut act = |term: &mut Term| match &mut term.kind {
        TermKind::Function(id) => *id = functions.get(id).copied().unwrap_or(*id),
        TermKind::Object(id) => *id = objects.get(id).copied().unwrap_or(*id),
        _ => {}
    };
    for name in objects.keys() {
        tree.objects[name.0 as usize].defined = true;
    }
    for function in &mut tree.functions {
        each_term(function.body.as_deref_mut().unwrap_or_default(), &mut act);
    }
    for object in &mut tree.objects {
        if let Some(initial) = &mut object.initial {
            in_initial(initial, &mut act);
        }
    }
}

/// Hands every term of some statements to `act`, the parts of a term before the term itself.
pub(crate) fn each_term(statements: &mut [Statement], act: &mut dyn FnMut(&mut Term)) {
    for statement in statements {
        in_statement(statement, act);
    }
}

fn in_statement(statement: &mut Statement, act: &mut dyn FnMut(&mut Term)) {
    use StatementKind::*;
    match &mut statement.kind {
        Empty
        | Case(..)
        | Default
        | Label(_)
        | Goto(_)
        | Break
        | Continue
        | Return(None)
        | Unsupported(_)
        | Declare(_, None) => {}
        Expression(term) | Return(Some(term)) => in_term(term, act),
        Cleanup(_, term) | GotoAny(term) => in_term(term, act),
        Declare(_, Some(initial)) => in_initial(initial, act),
        Block(statements) => each_term(statements, act),
        If(condition, then, otherwise) => {
            in_term(condition, act);
            in_statement(then, act);
            if let Some(otherwise) = otherwise {
                in_statement(otherwise, act);
            }
        }
        While(term, body) | DoWhile(body, term) | Switch(term, body) => {
            in_term(term, act);
            in_statement(body, act);
        }
        For(first, condition, step, body) => {
            each_term(first, act);
            for term in condition.iter_mut().chain(step) {
                in_term(term, act);
            }
            in_statement(body, act);
        }
        Assembly(assembly) => {
            for term in assembly.outputs.iter_mut().chain(&mut assembly.inputs) {
                in_term(term, act);
            }
        }
    }
}

fn in_initial(initial: &mut Initial, act: &mut dyn FnMut(&mut Term)) {
    for item in &mut initial.items {
        in_term(&mut item.value, act);
    }
}

fn in_term(term: &mut Term, act: &mut dyn FnMut(&mut Term)) {
    use TermKind::*;
    match &mut term.kind {
        Constant(_) | Real(_) | Object(_) | Function(_) | Old => {}
        Deref(a)
        | Field(a, _)
        | Materialise(_, a)
        | Load(a)
        | Address(a)
        | Convert(a)
        | Unary(_, a)
        | Fill(a, _)
        | Not(a) => in_term(a, act),
        Literal(_, initial) => in_initial(initial, act),
        Arithmetic(_, a, b)
        | Compare(_, a, b)
        | Shift(_, a, b)
        | Divide(_, a, b)
        | Offset(_, a, b, _)
        | Difference(a, b, _)
        | And(a, b)
        | Or(a, b)
        | Assign(a, b)
        | Update(a, b, _) => {
            in_term(a, act);
            in_term(b, act);
        }
        Conditional(a, b, c) => [a, b, c].into_iter().for_each(|part| in_term(part, act)),
        Comma(terms) | Compose(terms) | FloatCall(_, terms) => {
            terms.iter_mut().for_each(|part| in_term(part, act))
        }
        Block(statements, value) => {
            each_term(statements, act);
            if let Some(value) = value {
                in_term(value, act);
            }
        }
        Call(callee, arguments) => {
            in_term(callee, act);
            arguments.iter_mut().for_each(|argument| in_term(argument, act));
        }
    }
    act(term);
}
