//! `wherefore flow FILE --at LINE --can CONDITION`: can a condition hold before a line?
//!
//! That it does not hold there is a check of its own, which the engines decide like any other: a
//! failing run is one in which the condition holds.

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::Serialize;
use wherefore_check::{Budget, Overall, Question, Replaying, Session, answer};
use wherefore_program::{ErrorKind, Unsupported, ViolationKind};

use super::FlowArgs;
use crate::commands::c::{CArgs, Claimed, Loaded};
use crate::commands::report::{CheckReport, Parts};
use crate::commands::run::RunStep;
use crate::commands::{Subject, folded, text};
use crate::exit::{CliError, Exit, print};
use crate::limits::DEFAULT_FOR_C;

/// The answer as JSON.
#[derive(Serialize)]
struct Answered<'a> {
    at: &'a str,
    condition: &'a str,
    can: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    engine: Option<&'static str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    run: &'a [RunStep],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    assumptions: &'a [String],
}

/// Reads, decides, prints.
pub(super) fn run(args: &mut FlowArgs, condition: String, out: &mut impl Write) -> Result<Exit, CliError> {
    let begin = Instant::now();
    let files: Vec<PathBuf> = args.file.iter().chain(&args.more).cloned().collect();
    if args.file.as_deref().is_some_and(|file| !CArgs::applies_to(file) || is_cimple(file)) {
        return Err(args.question("--can is for C programs".to_owned()));
    }
    let at = args.at.clone().unwrap_or_default();
    let (file, line) = args.place(&at)?;
    let claimed = Claimed { file: file.map(str::to_owned), line, condition: format!("!({condition})") };
    args.c.claimed = Some(claimed);
    let (mut task, c) = match args.c.load_without_rules(&files, args.entry.as_deref())? {
        Loaded::Task(loaded) => *loaded,
        Loaded::NotDecided(why) => return Err(args.question(why)),
    };
    task.checks.retain(|site| site.kind == ErrorKind::Violation(ViolationKind::Claim));
    let is_here = |place: &&Unsupported| task.program.line(place.node) == Some(line);
    if let (true, Some(place)) = (task.checks.is_empty(), task.unsupported.iter().find(is_here)) {
        return Err(args.question(format!("--can: {}", place.what)));
    }
    let limits = args.limits.limits();
    let mut budget = Budget::from_limits(&limits);
    if limits.time.is_none() {
        budget = budget.within(DEFAULT_FOR_C);
    }
    let session = Session::new(args.c.prover()?);
    // The compiled program does not evaluate the condition.
    let question = Question { replaying: Replaying::Off, ..Question::default() };
    let found = answer(&task, &question, &session, &budget);
    let subject = Subject {
        task,
        c: Some(c),
        vacuity: None,
        budget,
        session,
        begin,
        time_limit: limits.time.or(Some(DEFAULT_FOR_C)),
        has_default_limit: limits.time.is_none(),
    };
    let mut report = CheckReport::of(&subject, &found, Parts::default());
    if let Some(last) = report.trace.last_mut() {
        last.text = format!("here `{condition}` holds");
    }
    let (can, exit) = match found.decision() {
        Overall::Unsafe(_) => ("yes", Exit::Positive),
        Overall::Safe => ("no", Exit::Negative),
        Overall::Unknown(_) => ("unknown", Exit::Unknown),
    };
    let reason = match found.decision() {
        Overall::Unknown(why) => Some(why.words(&subject.task.program)),
        Overall::Safe if subject.task.checks.is_empty() => {
            Some("the line is not reached from the entry, or the condition is constant".to_owned())
        }
        _ => None,
    };
    let engine = found.facts.by.map(|by| by.option()).filter(|_| reason.is_none());
    if args.json {
        let (run, assumptions) = (report.trace.as_slice(), report.assumptions.as_slice());
        let answered = Answered { at: &at, condition: &condition, can, reason, engine, run, assumptions };
        return print(out, &text::json(&answered), exit);
    }
    let mut shown = format!("{}:{line}: can `{condition}` hold? ", file.unwrap_or(&args.name()));
    match (can, &reason) {
        ("yes", _) => {
            shown.push_str("yes, in this run:\n");
            folded::write(&mut shown, &report.trace);
        }
        ("no", None) => {
            shown.push_str("no: this is proved\n");
        }
        ("no", Some(why)) => {
            let _ = writeln!(shown, "no: {why}");
        }
        (_, why) => {
            let _ = writeln!(shown, "unknown, because {}", why.as_deref().unwrap_or("it was not decided"));
        }
    }
    for assumption in &report.assumptions {
        let _ = writeln!(shown, "assumed: {assumption}");
    }
    print(out, &shown, exit)
}

fn is_cimple(file: &Path) -> bool {
    wherefore_frontend::c::is_cimple(file)
}
