//! Conditions over the globals of a program, in its own language.
//!
//! Each condition becomes the body of a function behind the text of the program, which nothing calls:
//! the reader of the language says what it means, and it is read off the function again.

use std::fs;
use std::path::Path;

use wherefore_program::{
    BinaryOp, Expr, ExprKind, Language, LocationKind, Operation, Program, Task, UnaryOp, Var,
};

use crate::diagnostics::LoadError;
use crate::load::{language_of, load, parse};

/// The names of the functions begin like this; a number follows.
pub(crate) const CONDITION: &str = "__wherefore_condition_";

/// What is wrong with a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongCondition {
    /// Its position in the list.
    pub number: usize,
    /// What is wrong, in words.
    pub why: String,
}

/// Reads a Boolean program or a program in Remopla, and conditions over its globals.
///
/// # Errors
/// The outer ones are about the program, the inner ones about the conditions.
pub fn load_with_conditions(
    path: &Path,
    entry: Option<&str>,
    conditions: &[String],
) -> Result<Result<(Task, Vec<Expr>), WrongCondition>, LoadError> {
    let task = load(path, entry)?;
    let file = path.display().to_string();
    let text = fs::read_to_string(path).map_err(|error| LoadError::Io { file: file.clone(), error })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let language = language_of(path).unwrap_or(Language::Boolean);
    let with = |chosen: &[(usize, &String)]| {
        let function = |(number, condition): &(usize, &String)| match language {
            Language::Remopla => format!("module bool {CONDITION}{number}() {{ return ({condition}\n); }}\n"),
            _ => format!("bool {CONDITION}{number}() begin return ({condition}\n); end\n"),
        };
        let functions: String = chosen.iter().map(function).collect();
        parse(language, &file, &format!("{text}\n{functions}"), entry)
    };
    let all: Vec<(usize, &String)> = conditions.iter().enumerate().collect();
    match with(&all) {
        Ok(mut with_them) => {
            let program = (*with_them.program).clone();
            Ok(taken(program, conditions.len()).map(|(program, found)| {
                with_them.program = program.into();
                with_them.checks = task.checks;
                (with_them, found)
            }))
        }
        Err(error) => {
            let alone = |one: &(usize, &String)| Some((one.0, with(&[*one]).err()?));
            let (number, error) = all.iter().find_map(alone).unwrap_or((0, error));
            let why =
                error.diagnostics().first().map_or(error.to_string(), |first| first.error.message.clone());
            Ok(Err(WrongCondition { number, why }))
        }
    }
}

/// Takes the conditions out of a program that was read with them.
pub(crate) fn taken(mut program: Program, count: usize) -> Result<(Program, Vec<Expr>), WrongCondition> {
    let mut found = Vec::new();
    for number in 0..count {
        let condition = condition_of(&program, &format!("{CONDITION}{number}"));
        found.push(condition.map_err(|why| WrongCondition { number, why: why.to_owned() })?);
    }
    // Nothing calls them: they are dropped if they stand behind all others.
    while program.procedures.last().is_some_and(|last| last.name.starts_with(CONDITION)) {
        program.procedures.pop();
    }
    Ok((program, found))
}

fn condition_of(program: &Program, name: &str) -> Result<Expr, &'static str> {
    const NOT_ONE: &str = "this is not a condition without side effects over global variables";
    let id = program.find_procedure(name).ok_or(NOT_ONE)?;
    let body = program.procedure(id);
    let mut at = body.entry;
    loop {
        let mut edges = body.edges_from(at);
        let (Some((_, edge)), None) = (edges.next(), edges.next()) else { return Err(NOT_ONE) };
        match &edge.operation {
            Operation::Skip if edge.to != at && body.location(at).kind != LocationKind::Branch => {
                at = edge.to
            }
            Operation::Return(values) => {
                let [value] = values.as_slice() else { return Err(NOT_ONE) };
                let mut is_global = true;
                value.reads(&mut |variable, _| is_global &= matches!(variable, Var::Global(_)));
                if value.has_choice() {
                    return Err("a condition cannot leave its value open");
                }
                return if is_global { Ok(truth(value)) } else { Err(NOT_ONE) };
            }
            _ => return Err(NOT_ONE),
        }
    }
}

/// A number as the truth value that it is not zero.
fn truth(value: &Expr) -> Expr {
    if value.ty == wherefore_program::Scalar::Bool {
        return match &value.kind {
            ExprKind::Binary(op @ (BinaryOp::Ne | BinaryOp::Eq), left, right)
                if right.as_constant() == Some(0) && is_truth(left) =>
            {
                if *op == BinaryOp::Ne {
                    truth(left)
                } else {
                    truth(left).not()
                }
            }
            ExprKind::Unary(UnaryOp::Not, inner) => truth(inner).not(),
            _ => value.clone(),
        };
    }
    match &value.kind {
        ExprKind::ZeroExtend(inner) if is_truth(inner) => truth(inner),
        _ => Expr::binary(BinaryOp::Ne, value.clone(), Expr::constant(0, value.ty)),
    }
}

/// Whether a value is 0 or 1 because it is a truth value.
fn is_truth(value: &Expr) -> bool {
    value.ty == wherefore_program::Scalar::Bool
        || matches!(&value.kind, ExprKind::ZeroExtend(inner) if is_truth(inner))
}
