//! What an answer leaves open: why, in a few words instead of the report of every engine, and what
//! can be done about it. JSON has the reasons in full.

use std::time::Duration;

use wherefore_check::{Answer, Cause, Overall, Stopped, Verdict, Why};
use wherefore_program::{ErrorKind, ErrorSite};
use wherefore_pushdown::StopReason;

use super::c::is_about_memory;
use super::{ProgramArgs, Subject};

/// What is open, and why.
pub struct Undecided {
    /// What follows the word *unknown*.
    pub head: String,
    /// For each check, what is special about it; the usual reasons are in the head.
    pub notes: Vec<Option<String>>,
    /// For each check, how far the engines came.
    pub engines: Vec<Vec<String>>,
    /// Options that can help, and what for.
    pub advice: Vec<(String, String)>,
}

impl Undecided {
    /// What an answer leaves open; `has_choice` says that one engine was chosen.
    pub fn of(args: &ProgramArgs, subject: &Subject, answer: &Answer, has_choice: bool) -> Self {
        let program = &subject.task.program;
        let overall = match answer.decision() {
            Overall::Unknown(why) => Some(why),
            _ => None,
        };
        let note = |verdict: &Verdict| {
            let why = verdict.why()?;
            // The head says what is usual, and the first reason.
            let is_said = is_usual(why) && overall.is_none_or(is_usual);
            (!is_said && Some(why) != overall).then(|| match why {
                Why::Undecided(_) => format!("undecided: {}", limit_in_words(stop_of(why), subject)),
                _ => why.words(program),
            })
        };
        let engines = |verdict: &Verdict| match verdict.why() {
            Some(Why::Undecided(list)) => {
                list.iter().map(|stopped| Why::Undecided(vec![stopped.clone()]).words(program)).collect()
            }
            _ => Vec::new(),
        };
        Self {
            head: overall.map(|why| head(why, subject, answer)).unwrap_or_default(),
            notes: answer.verdicts.iter().map(note).collect(),
            engines: answer.verdicts.iter().map(engines).collect(),
            advice: overall.map(|_| advice(args, subject, answer, has_choice)).unwrap_or_default(),
        }
    }
}

/// Whether effort alone can help.
fn is_usual(why: &Why) -> bool {
    matches!(why, Why::Undecided(_) | Why::Limit(_))
}

/// What follows the word *unknown*.
fn head(why: &Why, subject: &Subject, answer: &Answer) -> String {
    let several = matches!(why, Why::Undecided(engines) if engines.len() > 1);
    if !several {
        return format!(", because {}", why.words(&subject.task.program));
    }
    let known = match common_bound(answer) {
        Some(1) => "no run fails within 1 iteration of each loop, and no proof was found".to_owned(),
        Some(bound) => {
            format!("no run fails within {bound} iterations of each loop, and no proof was found")
        }
        None => "neither a failing run nor a proof was found".to_owned(),
    };
    match (stop_of(why), subject.time_limit) {
        (Some(StopReason::Time), Some(limit)) => format!(" within {}: {known}", seconds(limit)),
        (stop, _) => format!(", because {}; {known}", limit_in_words(stop, subject)),
    }
}

fn limit_in_words(stop: Option<StopReason>, subject: &Subject) -> String {
    match (stop, subject.time_limit) {
        (Some(StopReason::Time), Some(limit)) => format!("the time limit of {} was reached", seconds(limit)),
        (Some(StopReason::Cancelled), _) => "it was interrupted".to_owned(),
        (Some(stop), _) => stop.why().to_owned(),
        (None, _) => "no engine can decide it".to_owned(),
    }
}

/// The limit that stopped an engine, time before others.
fn stop_of(why: &Why) -> Option<StopReason> {
    let stops: Vec<StopReason> = match why {
        Why::Limit(stop) => vec![*stop],
        Why::Undecided(engines) => engines.iter().filter_map(stop_of_engine).collect(),
        Why::Switches { stop, .. } => stop.iter().copied().collect(),
        _ => Vec::new(),
    };
    stops.iter().copied().find(|stop| *stop == StopReason::Time).or(stops.first().copied())
}

fn stop_of_engine(stopped: &Stopped) -> Option<StopReason> {
    match stopped.cause {
        Cause::Limit(stop) => Some(stop),
        _ => None,
    }
}

/// A number of iterations within which no check fails that is open.
fn common_bound(answer: &Answer) -> Option<usize> {
    let bound = |why: &Why| match why {
        Why::Undecided(engines) => engines.iter().filter_map(|stopped| stopped.bound).max(),
        _ => None,
    };
    let bounds: Option<Vec<usize>> = answer.verdicts.iter().filter_map(Verdict::why).map(bound).collect();
    bounds?.into_iter().min()
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}

/// The least time that is worth another try.
const MORE: f64 = 300.0;

/// Options that can help, and what for.
fn advice(args: &ProgramArgs, subject: &Subject, answer: &Answer, has_choice: bool) -> Vec<(String, String)> {
    let mut list = Vec::new();
    let mut say = |option: String, what: String| list.push((option, what));
    let whys = || answer.verdicts.iter().filter_map(Verdict::why).chain(&answer.facts.spoilt);
    let stops = |stop: StopReason| whys().any(|why| stop_of(why) == Some(stop));
    if stops(StopReason::Time) {
        let limit = subject.time_limit.unwrap_or_default();
        let usual = if subject.has_default_limit { ", which is the default for C" } else { "" };
        let more = (5.0 * limit.as_secs_f64()).max(MORE);
        say(format!("--timeout {more}"), format!("more time than {}{usual}", seconds(limit)));
    }
    if stops(StopReason::Memory) {
        say("--memory MB".to_owned(), "more memory".to_owned());
    }
    if stops(StopReason::Steps) {
        say("--steps NUMBER".to_owned(), "more steps".to_owned());
    }
    if has_choice && whys().any(is_usual) {
        say("--engine auto".to_owned(), "all engines that suit the program, side by side".to_owned());
    }
    let is_open = |(_, verdict): &(&ErrorSite, &Verdict)| verdict.why().is_some_and(is_usual);
    let open: Vec<&ErrorSite> =
        subject.task.checks.iter().zip(&answer.verdicts).filter(is_open).map(|(site, _)| site).collect();
    if let (None, None, Some(line)) = (args.line, &args.label, first_line(subject, &open)) {
        if subject.task.checks.len() > 1 {
            say(format!("--line {line}"), format!("only the checks on line {line}: all the time for them"));
        }
    }
    if let Some((list, what)) = fewer_rules(args, subject, &open) {
        say(format!("--checks {list}"), what);
    }
    if whys().any(|why| matches!(why, Why::Unsupported { .. })) {
        let what = "functions that are not modelled, as you define them in a file of your own";
        say("--model FILE.c".to_owned(), what.to_owned());
    }
    if whys().any(|why| matches!(why, Why::NotConfirmed(_) | Why::ValueLeftOpen { .. })) {
        let what = "keeps the C file with the inputs of the run that was not confirmed";
        say("--harness FILE.c".to_owned(), what.to_owned());
    }
    list
}

/// The line of an open check of the first file, of an assertion before others.
fn first_line(subject: &Subject, open: &[&ErrorSite]) -> Option<u32> {
    let program = &subject.task.program;
    let here = |site: &&&ErrorSite| program.location(site.node).span.file.0 == 0;
    let is_assertion = |site: &&&ErrorSite| !matches!(site.kind, ErrorKind::Violation(_));
    let first = open.iter().filter(here).find(is_assertion).or_else(|| open.iter().find(here));
    first.and_then(|site| program.line(site.node))
}

/// The undefined behaviour that can be left out, if it is checked although nobody asked for it.
fn fewer_rules(args: &ProgramArgs, subject: &Subject, open: &[&ErrorSite]) -> Option<(&'static str, String)> {
    if subject.c.is_none() || args.c.names_what_is_checked() || args.line.is_some() || args.label.is_some() {
        return None;
    }
    let count = |sites: &[&ErrorSite]| {
        let [mut memory, mut arithmetic, mut others] = [0; 3];
        for site in sites {
            match site.kind {
                ErrorKind::Violation(kind) if is_about_memory(kind) => memory += 1,
                ErrorKind::Violation(_) => arithmetic += 1,
                _ => others += 1,
            }
        }
        (memory, arithmetic, others)
    };
    let all: Vec<&ErrorSite> = subject.task.checks.iter().collect();
    let (has_memory, has_arithmetic, _) = count(&all);
    let total = open.len();
    match count(open) {
        (0, arithmetic, _) if arithmetic > 0 && has_memory > 0 => Some((
            "memory",
            format!("without overflow, division and shifts: {arithmetic} of the {total} open checks"),
        )),
        (memory, 0, _) if memory > 0 && has_arithmetic > 0 => {
            Some(("arithmetic", format!("without pointers and bounds: {memory} of the {total} open checks")))
        }
        (memory, arithmetic, others) if memory + arithmetic > 0 && others > 0 => {
            let rules = memory + arithmetic;
            Some((
                "none",
                format!("assertions only, without undefined behaviour: {rules} of the {total} open checks"),
            ))
        }
        _ => None,
    }
}
