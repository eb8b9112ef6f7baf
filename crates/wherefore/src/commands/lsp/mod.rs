//! `wherefore lsp`: the engines behind a language server.
//!
//! `crates/lsp` speaks with the editor. Here its questions are answered by the same calls as those
//! of `wherefore check` and `wherefore explain`: the options are parsed by the same parser, the
//! program is read by [`ProgramArgs`], decided by `check::answer`, and explained by `explained`.

mod mistakes;
mod repairs;
mod schedules;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Parser};
use wherefore_check::threads::ScheduleSearch;
use wherefore_check::{Answer, Question, Verdict};
use wherefore_explain::model::Explanation;
use wherefore_lsp::{Analyst, Ending, Findings, Outcome, Settings};

use super::c::Reading;
use super::explain::{EffortArgs, checks, explained, put_runs, seen};
use super::files::Unsaved;
use super::report::Word;
use super::{ProgramArgs, Subject};
use crate::exit::{CliError, Exit};

/// Serve an editor: which checks of a C file can fail, and how, while it is written.
///
/// Speak the Language Server Protocol on standard input and output, for an editor that starts it
/// (docs/editors.md). Messages for people are on standard error.
#[derive(Args)]
pub struct LspArgs {
    /// Use standard input and output. There is no other way; editors give the option.
    #[arg(long)]
    stdio: bool,
}

/// Serves until the editor ends the session.
pub fn run(args: &LspArgs) -> Result<Exit, CliError> {
    let LspArgs { stdio: _ } = args;
    super::progress::silence();
    let input = std::io::BufReader::new(std::io::stdin());
    let output = std::io::stdout();
    let ending = wherefore_lsp::serve(input, output, Settings::default(), Arc::new(Engines))?;
    Ok(match ending {
        Ending::Orderly => Exit::Negative,
        Ending::Abrupt => Exit::Abrupt,
    })
}

/// What an editor may set for a file: the options of `wherefore check` that say how programs are
/// read, and how much is explained.
#[derive(Parser)]
struct Asked {
    #[command(flatten)]
    program: ProgramArgs,

    #[command(flatten)]
    effort: EffortArgs,
}

/// Answers by the engines.
struct Engines;

impl Analyst for Engines {
    fn analyse(&self, question: &wherefore_lsp::Question, report: &mut dyn FnMut(Outcome)) {
        let unsaved = question.unsaved.as_deref();
        let (asked, subject) = match read(question, unsaved) {
            Ok(read) => read,
            Err(mistakes) => return report(Outcome::Mistakes(mistakes)),
        };
        let answer = subject.answer(&asked_question(&asked));
        let is_stopped = || subject.budget.stopped().is_some();
        let mut explanation = first_words(&asked, &subject, &answer);
        name_files(&mut explanation, &question.file);
        let mut findings = Findings { explanation, fixes: Vec::new() };
        report(Outcome::Found(Box::new(findings.clone())));
        if is_stopped() {
            return;
        }
        let has_threads = subject.task.program.uses_threads().is_some();
        if !has_threads {
            findings.explanation = explained(&asked.program, &asked.effort, &subject, &answer);
            put_runs(&mut findings.explanation, &seen(&asked.effort, &subject), &answer);
            name_files(&mut findings.explanation, &question.file);
            report(Outcome::Found(Box::new(findings.clone())));
        }
        if Word::of(&answer) != Word::Unsafe || is_stopped() {
            return;
        }
        findings.fixes = match has_threads {
            true => schedules::fixes(question, &subject, &answer, &findings),
            false => repairs::fixes(question, &subject, &answer, &findings),
        };
        if !findings.fixes.is_empty() {
            report(Outcome::Found(Box::new(findings)));
        }
    }
}

/// Gives the sources names that editors know: projects and options name files as they are seen from
/// here.
fn name_files(explanation: &mut Explanation, file: &Path) {
    // Models of the library are no files.
    for source in explanation.sources.iter_mut().filter(|source| !source.name.starts_with('<')) {
        source.name = known_as(Path::new(&source.name), file).display().to_string();
    }
}

/// The absolute path of a file; `file` is known to the editor by exactly this path.
fn known_as(name: &Path, file: &Path) -> PathBuf {
    let is_same = || name.canonicalize().is_ok_and(|one| file.canonicalize().is_ok_and(|other| one == other));
    if name == file || is_same() {
        return file.to_owned();
    }
    std::path::absolute(name).unwrap_or_else(|_| name.to_owned())
}

/// Reads the program with a text in the place of its file, if one is given.
fn read(
    question: &wherefore_lsp::Question,
    text: Option<&str>,
) -> Result<(Asked, Subject), Vec<wherefore_lsp::Mistake>> {
    let settings = &question.settings;
    let checks = Some(settings.checks.join(",")).filter(|list| !list.is_empty());
    let words = ["wherefore".into(), question.file.clone().into_os_string()].into_iter();
    let words = words.chain(settings.options.iter().map(Into::into));
    let words = words.chain(checks.into_iter().flat_map(|list| ["--checks".into(), list.into()]));
    let mut asked = Asked::try_parse_from(words).map_err(|error| mistakes::of_options(&error))?;
    let unsaved = text.map(|text| Unsaved::new(&question.file, text)).transpose();
    asked.program.c.unsaved = unsaved.map_err(|error| {
        let file = question.file.display().to_string();
        mistakes::of_error(&CliError::File { file, error }, &question.file, None)
    })?;
    let entry = asked.program.entry.as_deref();
    let mut subject = asked.program.load_as(entry, Reading::Whole, settings.timeout).map_err(|error| {
        let holder = asked.program.c.unsaved.as_ref().map(|unsaved| unsaved.holder.clone());
        mistakes::of_error(&error, &question.file, holder.as_deref())
    })?;
    subject.budget = subject.budget.cancelled_by(&question.cancel);
    Ok((asked, subject))
}

/// The question of `wherefore check`.
fn asked_question(asked: &Asked) -> Question {
    Question { schedules: Some(ScheduleSearch::default()), ..asked.program.usual_question() }
}

/// What is known before the reasons are.
fn first_words(asked: &Asked, subject: &Subject, answer: &Answer) -> Explanation {
    let mut explanation = seen(&asked.effort, subject).without_failure();
    explanation.verdict = match Word::of(answer) {
        Word::Safe => wherefore_explain::model::Verdict::Safe,
        Word::Unsafe => wherefore_explain::model::Verdict::Unsafe,
        Word::Unknown => wherefore_explain::model::Verdict::Unknown,
    };
    explanation.checks = checks(subject, answer);
    put_runs(&mut explanation, &seen(&asked.effort, subject), answer);
    explanation
}

/// Which checks fail no more if the file has another text, and none is worse for it: their
/// positions. A check that no run comes to any more has not been mended.
fn mended(
    question: &wherefore_lsp::Question,
    text: &str,
    budget: &wherefore_check::Budget,
    before: &Answer,
) -> Vec<usize> {
    let mut question = question.clone();
    let Some(left) = budget.left() else { return Vec::new() };
    question.settings.timeout = left;
    let Ok((asked, subject)) = read(&question, Some(text)) else { return Vec::new() };
    let unchecked = Question { replaying: wherefore_check::Replaying::Off, ..asked_question(&asked) };
    let after = subject.answer(&unchecked);
    if after.verdicts.len() != before.verdicts.len() {
        return Vec::new();
    }
    let is_unreachable = |verdict: &Verdict| {
        verdict.proof().is_some_and(|proof| matches!(proof.reached, wherefore_check::Reached::No { .. }))
    };
    let mut mended = Vec::new();
    for (at, (old, new)) in before.verdicts.iter().zip(&after.verdicts).enumerate() {
        match (old, new) {
            (Verdict::Safe(_), Verdict::Safe(_)) if is_unreachable(old) || !is_unreachable(new) => {}
            (Verdict::Safe(_), _) => return Vec::new(),
            (Verdict::Unsafe(_), Verdict::Safe(_)) if is_unreachable(new) => return Vec::new(),
            (Verdict::Unsafe(_), Verdict::Safe(_)) => mended.push(at),
            _ => {}
        }
    }
    mended
}

/// The text that was asked about.
fn text_of(question: &wherefore_lsp::Question) -> Option<String> {
    let read = |file: &Path| Some(String::from_utf8_lossy(&std::fs::read(file).ok()?).into_owned());
    question.unsaved.clone().or_else(|| read(&question.file))
}
