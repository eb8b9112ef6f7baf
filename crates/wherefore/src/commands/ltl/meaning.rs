//! What the propositions of a formula mean in a program.

use std::collections::BTreeSet;

use wherefore_frontend::c::{self, Options, witness::Insertions};
use wherefore_frontend::{WrongCondition, load_with_conditions};
use wherefore_ltl::{Meaning, Proposition, Specification};
use wherefore_program::{Expr, LocationKind, Node, Program, Task};

use crate::commands::c::Reading;
use crate::commands::{ProgramArgs, Subject};
use crate::exit::CliError;
use crate::limits::DEFAULT_FOR_C;

/// A program with what the propositions mean in it.
pub(super) struct Read {
    pub(super) subject: Subject,
    pub(super) meanings: Vec<Meaning>,
}

/// A mistake at a proposition, with its place in the formula.
pub(super) fn wrong(specification: &Specification, atom: usize, why: &str) -> CliError {
    let error = specification.error_at(atom, why);
    CliError::Mistake(format!("--ltl:{error}\n{}", error.excerpt()))
}

/// Reads the program, and the conditions in its language.
pub(super) fn read(program: &ProgramArgs, specification: &Specification) -> Result<Read, CliError> {
    let (name, is_json) = (program.name(), program.json);
    program.limits.guard(move |reason| super::super::unknown(&name, is_json, reason));
    let mut subject = program.load_as(program.entry.as_deref(), Reading::WithoutRules, DEFAULT_FOR_C)?;
    let conditions: Vec<(usize, String)> = specification
        .atoms
        .iter()
        .enumerate()
        .filter_map(|(number, atom)| match &atom.proposition {
            Proposition::Condition(text) => Some((number, text.clone())),
            _ => None,
        })
        .collect();
    let texts: Vec<String> = conditions.iter().map(|(_, text)| text.clone()).collect();
    let found = match &subject.c {
        Some(c) => in_c(&c.files, &c.options, &texts)?,
        None => {
            let file = program.file.clone().unwrap_or_default();
            load_with_conditions(&file, program.entry.as_deref(), &texts)?
        }
    };
    let (task, expressions) =
        found.map_err(|wrong_one| wrong(specification, conditions[wrong_one.number].0, &wrong_one.why))?;
    subject.task = task;
    let mut expressions = expressions.into_iter();
    let mut meanings = Vec::new();
    for (number, atom) in specification.atoms.iter().enumerate() {
        let program = &subject.task.program;
        let meaning = match &atom.proposition {
            Proposition::Condition(_) => expressions.next().map(Meaning::Condition),
            Proposition::End => Some(Meaning::End),
            Proposition::At(label) => {
                let nodes = at(program, label).map_err(|why| wrong(specification, number, &why))?;
                Some(Meaning::At(nodes))
            }
            Proposition::Line(line) => {
                let nodes = on_line(program, *line);
                if nodes.is_empty() {
                    return Err(wrong(specification, number, &format!("line {line} has no statement")));
                }
                Some(Meaning::At(nodes))
            }
        };
        meanings.extend(meaning);
    }
    Ok(Read { subject, meanings })
}

/// The locations with a label, or where a procedure begins.
fn at(program: &Program, label: &str) -> Result<BTreeSet<Node>, String> {
    let labelled: BTreeSet<Node> = program.labelled(label).collect();
    if !labelled.is_empty() {
        return Ok(labelled);
    }
    match program.find_procedure(label) {
        Some(procedure) => {
            let location = program.procedure(procedure).entry;
            Ok(BTreeSet::from([Node { procedure, location }]))
        }
        None => Err(format!("there is no label and no procedure `{label}`")),
    }
}

/// The statements of a line of the first file.
fn on_line(program: &Program, line: u32) -> BTreeSet<Node> {
    let is_here = |node: &Node| {
        let location = program.location(*node);
        location.kind != LocationKind::Exit && location.span.file.0 == 0 && program.line(*node) == Some(line)
    };
    program.nodes().filter(is_here).collect()
}

type Found = Result<(Task, Vec<Expr>), WrongCondition>;

/// Reads C files again, with conditions behind the first one.
fn in_c(files: &[std::path::PathBuf], options: &Options, texts: &[String]) -> Result<Found, CliError> {
    let Some(first) = files.first() else {
        return Ok(Err(WrongCondition { number: 0, why: "there is no file".to_owned() }));
    };
    let all: Vec<(usize, String)> = texts.iter().cloned().enumerate().collect();
    let with = |chosen: &[(usize, String)]| {
        let insertions = Insertions::of_conditions(first, chosen)?;
        let options = Options { insertions, ..options.clone() };
        c::translate(files, &options)
    };
    match with(&all) {
        Ok(translation) => {
            let taken = translation.take_conditions(all.len());
            Ok(taken.map(|(translation, found)| (translation.into_task(files, options), found)))
        }
        Err(error) => {
            // The program alone was read before: a condition is at fault.
            let alone = |one: &(usize, String)| Some((one.0, with(std::slice::from_ref(one)).err()?));
            let (number, error) = all.iter().find_map(alone).unwrap_or((0, error));
            let why = error
                .diagnostics()
                .first()
                .map_or_else(|| error.to_string(), |one| one.error.message.clone());
            Ok(Err(WrongCondition { number, why }))
        }
    }
}
