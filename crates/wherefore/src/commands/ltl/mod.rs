//! `wherefore check FILE --ltl FORMULA`: does a formula of linear temporal logic hold on all runs?
//!
//! `meaning.rs`: what its propositions mean in the file; `answer.rs`: the answer, in words and as
//! data.

mod answer;
mod meaning;
mod pushdown;

use std::io::Write;
use std::time::Instant;

use wherefore_frontend::c::is_cimple;
use wherefore_ltl::{Reason, Specification, Subject, Verdict, decide};
use wherefore_program::ProcedureId;

use super::check::CheckArgs;
use super::{ProgramArgs, SearchArg, text};
use crate::exit::{CliError, Exit, print};
use answer::{Report, Word};

/// Reads a formula, with a message that shows where it is wrong.
fn specification(formula: &str) -> Result<Specification, CliError> {
    Specification::parse(formula)
        .map_err(|error| CliError::Mistake(format!("--ltl:{error}\n{}", error.excerpt())))
}

/// Reads, decides, prints.
pub(super) fn run(args: &CheckArgs, formula: &str, out: &mut impl Write) -> Result<Exit, CliError> {
    let begin = Instant::now();
    let program = args.program();
    if let Some(option) = args.given_beside_ltl().or(given(program)) {
        return Err(program.question(format!("{option} does not go together with --ltl")));
    }
    let specification = specification(formula)?;
    let is_pds = program.file.as_deref().and_then(|file| file.extension()).is_some_and(|end| end == "pds");
    let report = match is_pds {
        true => pushdown::report(program, &specification, begin)?,
        false => report(program, &specification, begin)?,
    };
    let exit = report.verdict.exit();
    let text = if program.json { text::json(&report) } else { report.text(&program.name(), args.is_quiet()) };
    print(out, &text, exit)
}

/// The first option of the program that has no meaning for formulas.
fn given(program: &ProgramArgs) -> Option<&'static str> {
    let own = [
        (program.label.is_some(), "--label"),
        (program.line.is_some(), "--line"),
        (program.search == SearchArg::Backwards, "--search backwards"),
        (program.check.is_some(), "--check"),
    ];
    let found = own.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option);
    found.or_else(|| program.c.given_about_checks())
}

fn report(program: &ProgramArgs, specification: &Specification, begin: Instant) -> Result<Report, CliError> {
    if program.files().iter().any(|file| is_cimple(file)) {
        return Err(program.question("--ltl is not for Cimple".to_owned()));
    }
    let read = meaning::read(program, specification)?;
    let mut report = Report::new(specification, begin);
    let task = &read.subject.task;
    report.assumptions = task.assumptions_in_words();
    if task.program.uses_threads().is_some() {
        report.unknown("formulas about programs with threads are not decided");
        return Ok(report);
    }
    // A program in C begins in a procedure that initialises it.
    let silent: Option<ProcedureId> = task.is_c().then_some(task.program.entry);
    let subject = Subject { program: &task.program, meanings: &read.meanings, silent };
    let decided = decide(&subject, &specification.formula, &read.subject.budget);
    report.method = decided.way;
    report.automaton_states = decided.states;
    match &decided.verdict {
        Verdict::Holds => match task.doubts.first() {
            Some(doubt) => report.unknown(&format!("it may matter that {}", doubt.words(&task.program))),
            None => report.verdict = Word::Holds,
        },
        Verdict::Fails(lasso) => {
            let mut edges = lasso.stem.steps.iter().chain(&lasso.turn).map(|step| step.edge);
            if edges.any(|edge| task.approximations.contains(&edge)) {
                report.unknown("the run that was found rests on a value that is not modelled");
            } else {
                report.fails(task, lasso);
            }
        }
        Verdict::Unknown(reason) => {
            let why = match reason {
                Reason::NotModelled(node) => {
                    let place = task.unsupported.iter().find(|place| place.node == *node);
                    place.map_or_else(|| reason.to_string(), |place| place.words(&task.program))
                }
                Reason::Program(error) => wherefore_check::Why::NotTaken(error.clone()).words(&task.program),
                _ => reason.to_string(),
            };
            report.unknown(&why);
        }
    }
    report.stats.seconds = begin.elapsed().as_secs_f64();
    Ok(report)
}
