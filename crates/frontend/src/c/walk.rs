//! Terms that are changed in place.

use rustc_hash::FxHashMap;

use super::ctype::CType;
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
            in_initial(initial, &mut |term, _| act(term));
        }
    }
}

/// Hands every term of some statements to `act`, the parts of a term before the term itself.
pub(crate) fn each_term(statements: &mut [Statement], act: &mut dyn FnMut(&mut Term)) {
    each_use(statements, &mut |term, _| act(term));
}

/// The same, and whether the value of the term is used.
pub(crate) fn each_use(statements: &mut [Statement], act: &mut dyn FnMut(&mut Term, bool)) {
    for statement in statements {
        in_statement(statement, act);
    }
}

/// Hands every statement to `act`, also those in expressions and those inside of others; some more
/// than once.
pub(crate) fn each_statement(statements: &mut [Statement], act: &mut dyn FnMut(&mut Statement)) {
    use StatementKind::*;
    for statement in &mut *statements {
        match &mut statement.kind {
            Block(inner) => each_statement(inner, act),
            If(_, then, otherwise) => {
                each_statement(std::slice::from_mut(then), act);
                if let Some(otherwise) = otherwise {
                    each_statement(std::slice::from_mut(otherwise), act);
                }
            }
            While(_, body) | DoWhile(body, _) | Switch(_, body) => {
                each_statement(std::slice::from_mut(body), act);
            }
            For(first, _, _, body) => {
                each_statement(first, act);
                each_statement(std::slice::from_mut(body), act);
            }
            _ => {}
        }
        act(statement);
    }
    each_term(statements, &mut |term| {
        if let TermKind::Block(inner, _) = &mut term.kind {
            inner.iter_mut().for_each(|statement| each_statement(std::slice::from_mut(statement), act));
        }
    });
}

fn in_statement(statement: &mut Statement, act: &mut dyn FnMut(&mut Term, bool)) {
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
        Return(Some(term)) => in_term(term, true, act),
        GotoAny(term) => in_term(term, true, act),
        Expression(term) => in_term(term, false, act),
        Cleanup(_, term) => in_term(term, false, act),
        Declare(_, Some(initial)) => in_initial(initial, act),
        Block(statements) => each_use(statements, act),
        If(condition, then, otherwise) => {
            in_term(condition, true, act);
            in_statement(then, act);
            if let Some(otherwise) = otherwise {
                in_statement(otherwise, act);
            }
        }
        While(term, body) | DoWhile(body, term) | Switch(term, body) => {
            in_term(term, true, act);
            in_statement(body, act);
        }
        For(first, condition, step, body) => {
            each_use(first, act);
            if let Some(term) = condition {
                in_term(term, true, act);
            }
            if let Some(term) = step {
                in_term(term, false, act);
            }
            in_statement(body, act);
        }
        Assembly(assembly) => {
            for term in assembly.outputs.iter_mut().chain(&mut assembly.inputs) {
                in_term(term, true, act);
            }
        }
    }
}

fn in_initial(initial: &mut Initial, act: &mut dyn FnMut(&mut Term, bool)) {
    for item in &mut initial.items {
        in_term(&mut item.value, true, act);
    }
}

fn in_term(term: &mut Term, used: bool, act: &mut dyn FnMut(&mut Term, bool)) {
    use TermKind::*;
    let is_void = term.ty == CType::Void;
    match &mut term.kind {
        Constant(_) | Real(_) | Object(_) | Function(_) | Old => {}
        Convert(a) => in_term(a, used && !is_void, act),
        Deref(a)
        | Field(a, _)
        | Materialise(_, a)
        | Load(a)
        | Address(a)
        | Unary(_, a)
        | Fill(a, _)
        | Not(a) => in_term(a, true, act),
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
            in_term(a, true, act);
            in_term(b, true, act);
        }
        Conditional(a, b, c) => {
            in_term(a, true, act);
            in_term(b, used, act);
            in_term(c, used, act);
        }
        Comma(terms) => {
            let last = terms.len().saturating_sub(1);
            for (i, part) in terms.iter_mut().enumerate() {
                in_term(part, used && i == last, act);
            }
        }
        Compose(terms) | FloatCall(_, terms) => terms.iter_mut().for_each(|part| in_term(part, true, act)),
        Block(statements, value) => {
            each_use(statements, act);
            if let Some(value) = value {
                in_term(value, used, act);
            }
        }
        Call(callee, arguments) => {
            in_term(callee, true, act);
            arguments.iter_mut().for_each(|argument| in_term(argument, true, act));
        }
    }
    act(term, used);
}
