//! The first part of an answer of `check`: the verdict, a line for each check that must be known,
//! and what can be done about those that are open.

use std::collections::BTreeMap;
use std::fmt::Write;

use wherefore_program::ViolationKind;

use super::report::{CheckReport, CheckWord, Target, Word};
use super::undecided::Undecided;
use crate::colour::{Tone, painted};

/// How much is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// The verdict.
    Verdict,
    /// What a user must know.
    #[default]
    Usual,
    /// All checks, and how far each engine came.
    All,
}

/// How many open checks for undefined behaviour are listed; assertions always are.
const MOST_LISTED: usize = 20;

/// The verdict of a command, as it stands behind the name of the file.
pub fn verdict(out: &mut String, word: Word, reason: Option<&str>, colour: bool) {
    let _ = match (word, reason) {
        (Word::Safe, Some(reason)) => write!(out, "{} ({reason})", painted("safe", Tone::Good, colour)),
        (Word::Safe, None) => write!(out, "{}", painted("safe", Tone::Good, colour)),
        (Word::Unsafe, _) => write!(out, "{}", painted("unsafe", Tone::Bad, colour)),
        (Word::Unknown, reason) => {
            let unknown = painted("unknown", Tone::Open, colour);
            write!(out, "{unknown}, because {}", reason.unwrap_or("of a limit"))
        }
    };
}

/// The verdict of `check`, with the sum of the verdicts on all checks.
pub fn head(out: &mut String, report: &CheckReport, undecided: Option<&Undecided>, colour: bool) {
    match undecided.filter(|undecided| report.verdict == Word::Unknown && !undecided.head.is_empty()) {
        Some(undecided) => {
            let _ = write!(out, "{}{}", painted("unknown", Tone::Open, colour), undecided.head);
        }
        None => verdict(out, report.verdict, report.reason.as_deref(), colour),
    }
    let _ = writeln!(out, "{}", sum(report));
}

/// The sum of the verdicts on all checks.
fn sum(report: &CheckReport) -> String {
    let count = report.targets.len();
    let [safe, can_fail, unknown, unreachable] =
        [CheckWord::Safe, CheckWord::Unsafe, CheckWord::Unknown, CheckWord::Unreachable]
            .map(|word| report.count(word));
    if count == 1 {
        let only = if unreachable == 1 { " (the check is unreachable)" } else { "" };
        return only.to_owned();
    }
    let mut parts = Vec::new();
    match report.verdict {
        _ if count == 0 => return String::new(),
        Word::Safe => parts.push(format!("all {count} checks hold")),
        _ => {
            parts.push(format!("{can_fail} of {count} checks can fail"));
            if unknown > 0 {
                parts.push(format!("{unknown} unknown"));
            }
            if safe > 0 && can_fail == 0 {
                parts.push(if safe == 1 { "1 holds".to_owned() } else { format!("{safe} hold") });
            }
        }
    }
    if unreachable > 0 {
        parts.push(format!("{unreachable} unreachable"));
    }
    if report.by_data_flow > 0 {
        parts.push(format!("{} by data flow", report.by_data_flow));
    }
    format!(" ({})", parts.join(", "))
}

/// The checks, each in a line.
pub fn checks(
    out: &mut String,
    report: &CheckReport,
    undecided: Option<&Undecided>,
    detail: Detail,
    colour: bool,
) {
    let nothing = Vec::new();
    let notes = undecided.map_or(&nothing, |undecided| &undecided.notes);
    let reasons = Reasons::of(report, notes);
    let mut listed = 0;
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    if report.targets.len() == 1 && report.count(CheckWord::Unreachable) == 0 {
        engines(out, undecided, 0, detail);
        return;
    }
    for (number, target) in report.targets.iter().enumerate() {
        // Those for undefined behaviour that hold are many, and their number has been said.
        if is_rule(target) && target.verdict == CheckWord::Safe && detail != Detail::All && !is_claim(target)
        {
            continue;
        }
        if is_rule(target) && target.verdict == CheckWord::Unknown && detail != Detail::All {
            listed += 1;
            if listed > MOST_LISTED {
                *left.entry(target.place.kind).or_default() += 1;
                continue;
            }
        }
        let (word, tone) = match target.verdict {
            CheckWord::Safe => ("holds", Tone::Good),
            CheckWord::Unsafe => ("can fail", Tone::Bad),
            CheckWord::Unknown => ("unknown", Tone::Open),
            CheckWord::Unreachable => ("unreachable", Tone::Faint),
        };
        let word = painted(&format!("{word:11}"), tone, colour);
        let place = match target.verdict {
            CheckWord::Safe | CheckWord::Unreachable => target.place.words_without_failure(),
            CheckWord::Unsafe | CheckWord::Unknown => target.place.words(),
        };
        let _ = writeln!(out, "  {word}  {place}{}", reasons.behind(number));
        engines(out, undecided, number, detail);
    }
    if !left.is_empty() {
        let count: usize = left.values().sum();
        let kinds: Vec<String> = left.iter().map(|(kind, count)| format!("{count} [{kind}]")).collect();
        let word = painted(&format!("{:11}", "unknown"), Tone::Open, colour);
        let _ = writeln!(out, "  {word}  {count} more: {} (-v lists them)", kinds.join(", "));
    }
    reasons.list(out);
}

/// Whether it is a claim of the user, not a rule of C.
fn is_claim(target: &Target) -> bool {
    target.place.kind == ViolationKind::Claim.name()
}

fn is_rule(target: &Target) -> bool {
    target.place.message.is_some()
}

/// How far each engine came with a check, a line for each.
fn engines(out: &mut String, undecided: Option<&Undecided>, check: usize, detail: Detail) {
    let Some(undecided) = undecided.filter(|_| detail == Detail::All) else { return };
    for engine in undecided.engines.get(check).into_iter().flatten() {
        let _ = writeln!(out, "               {engine}");
    }
}

/// What can be done about what is open.
pub fn advice(out: &mut String, undecided: &Undecided, detail: Detail) {
    let mut advice = undecided.advice.clone();
    if detail != Detail::All && undecided.engines.iter().any(|engines| engines.len() > 1) {
        advice.push(("-v".to_owned(), "how far each engine came".to_owned()));
    }
    if advice.is_empty() {
        return;
    }
    let width = advice.iter().map(|(option, _)| option.chars().count()).max().unwrap_or(0);
    let _ = writeln!(out, "\nwhat can help:");
    for (option, what) in &advice {
        let _ = writeln!(out, "  {option:width$}  {what}");
    }
}

/// Reasons of single checks. One that several checks share is listed once, with a number.
struct Reasons<'a> {
    of: Vec<Option<&'a str>>,
    shared: Vec<&'a str>,
}

impl<'a> Reasons<'a> {
    fn of(report: &'a CheckReport, notes: &'a [Option<String>]) -> Self {
        let reason = |(number, target): (usize, &'a Target)| match target.verdict {
            CheckWord::Unknown => notes.get(number)?.as_deref(),
            _ => target.reason.as_deref(),
        };
        let of: Vec<Option<&str>> = report.targets.iter().enumerate().map(reason).collect();
        let mut shared = Vec::new();
        for (number, target) in report.targets.iter().enumerate() {
            let Some(reason) = of[number].filter(|_| target.verdict == CheckWord::Unknown) else { continue };
            let count = of.iter().filter(|other| **other == Some(reason)).count();
            if count > 1 && !shared.contains(&reason) {
                shared.push(reason);
            }
        }
        Self { of, shared }
    }

    /// What stands behind a check.
    fn behind(&self, number: usize) -> String {
        let Some(reason) = self.of[number] else { return String::new() };
        match self.shared.iter().position(|shared| *shared == reason) {
            Some(at) => format!(" ({})", at + 1),
            None => format!(": {reason}"),
        }
    }

    fn list(&self, out: &mut String) {
        for (at, reason) in self.shared.iter().enumerate() {
            let _ = writeln!(out, "  ({}) {reason}", at + 1);
        }
    }
}
