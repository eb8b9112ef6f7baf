//! `explain`, `slice` and `project` for programs with threads: the failing schedule in lanes, what
//! of it matters, where its switches may happen, what would repair it, and which lines of which
//! thread lie on failing schedules.

pub mod lanes;
mod project;
pub mod switches;
mod why;

use wherefore_check::threads::Way;
use wherefore_check::{Answer, Extent, Overall, Question};

use super::schedule::ScheduleArgs;
use super::{ProgramArgs, Subject};
use crate::exit::CliError;

pub use project::project;
pub use why::{Depth, explain};

/// Whether a program has threads; options about schedules are refused if not.
pub fn has_threads(
    args: &ProgramArgs,
    schedules: &ScheduleArgs,
    subject: &Subject,
) -> Result<bool, CliError> {
    let has_threads = subject.task.program.uses_threads().is_some();
    if subject.task.checks.iter().any(|site| site.is_waiting_place(&subject.task.program)) {
        return Err(
            args.question("in this language, --property deadlock is for `wherefore check` only".to_owned())
        );
    }
    match schedules.given() {
        Some(option) if !has_threads => Err(args.question(format!("{option} is for programs with threads"))),
        _ => Ok(has_threads),
    }
}

/// Refuses options that are not for programs with threads.
pub fn refuse(args: &ProgramArgs, given: &[(bool, &str)]) -> Result<(), CliError> {
    match given.iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) => Err(args.question(format!("{option} is not for programs with threads"))),
        None => Ok(()),
    }
}

/// Searches a failing schedule.
fn answer(args: &ProgramArgs, schedules: &ScheduleArgs, subject: &Subject) -> Answer {
    let question = Question {
        extent: Extent::EveryCheck,
        schedules: Some(schedules.search(Way::Auto)),
        ..args.usual_question()
    };
    subject.answer(&question)
}

/// Why there is no failing schedule to show, if there is a reason.
fn reason(subject: &Subject, answer: &Answer) -> Option<String> {
    match answer.decision() {
        Overall::Unknown(why) => Some(why.words(&subject.task.program)),
        Overall::Safe => subject.nothing_to_check(),
        Overall::Unsafe(_) => None,
    }
}
