//! `wherefore check FILE` and `wherefore project FILE`: questions to programs.

mod again;
mod c;
pub mod check;
pub mod explain;
mod progress;
pub mod project;
mod property;
mod render;
mod run;
pub mod serve;
pub mod slice;
mod trust;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use serde::Serialize;
use wherefore_check::exact::{CheckOptions, Checker, Search, Verdict};
use wherefore_check::{CheckError, Prover};
use wherefore_frontend::load;
use wherefore_program::{ErrorKind, ErrorSite, Program, TargetChoice};
use wherefore_pushdown::StopReason;

use crate::exit::{CliError, Exit, print};
use crate::limits::LimitArgs;
use c::{CArgs, Loaded, Rest};

/// What all questions to programs have in common.
#[derive(Args)]
pub struct ProgramArgs {
    /// The program: C (.c, .i, or a task .yml), Cimple (.cimple), a Boolean program (.bp) or a Remopla file (.rem).
    file: PathBuf,

    /// Further files of a C program.
    #[arg(value_name = "FILES")]
    more: Vec<PathBuf>,

    /// The procedure where execution starts, instead of `main` or what FILE names.
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,

    /// Ask about this label (or about the entry of this procedure) instead of all checks and error labels. In C, labels are errors only
    /// if they are asked for.
    #[arg(long, value_name = "NAME")]
    label: Option<String>,

    /// From which end to search.
    #[arg(long, value_enum, default_value = "forwards")]
    search: SearchArg,

    /// What else counts as an error.
    #[arg(long, value_enum, value_name = "WHAT")]
    check: Option<ExtraCheck>,

    /// Print the answer as JSON (docs/json.md).
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    limits: LimitArgs,

    #[command(flatten)]
    c: CArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum SearchArg {
    /// From the start of the program.
    Forwards,
    /// From the errors.
    Backwards,
}

#[derive(Clone, Copy, ValueEnum)]
enum ExtraCheck {
    /// Indices outside their arrays.
    Bounds,
}

/// A program with the places it is asked about.
pub struct Subject {
    pub program: Arc<Program>,
    pub targets: Vec<ErrorSite>,
    /// What a C program has beside.
    pub rest: Option<Rest>,
    /// Why a property that was named holds of it vacuously, if it does.
    pub vacuity: Option<String>,
    /// Who checks proofs about it.
    pub prover: Prover,
    pub begin: Instant,
}

impl Subject {
    /// That no place was asked about, in words: no run fails then, whatever the program does.
    fn nothing_to_check(&self) -> Option<String> {
        if let Some(why) = &self.vacuity {
            return Some(format!("vacuously: {why}"));
        }
        let why = match &self.rest {
            _ if !self.targets.is_empty() => return None,
            Some(rest) if rest.mentions.includes(&rest.options.property) => {
                "what would be an error is in no function that is used".to_owned()
            }
            Some(rest) => property::nothing(rest),
            None => "no assertion, no error label".to_owned(),
        };
        Some(format!("nothing to check: {why}"))
    }
}

impl ProgramArgs {
    fn load(&self) -> Result<Subject, CliError> {
        self.limits.guard(self.unknown(StopReason::Time.why()));
        self.load_without_guard()
    }

    /// The answer *unknown*, and why, in the form that was asked for.
    fn unknown(&self, reason: &str) -> String {
        if self.json {
            format!("{}\n", serde_json::json!({ "verdict": "unknown", "reason": reason }))
        } else {
            format!("{}: unknown, because {reason}\n", self.name())
        }
    }

    /// The same for a command that goes on when the time for the verdict is over.
    fn load_without_guard(&self) -> Result<Subject, CliError> {
        let begin = Instant::now();
        let question = |message: String| CliError::Question { file: self.name(), message };
        let prover = self.c.prover()?;
        if prover != Prover::default() && !CArgs::applies_to(&self.file) {
            return Err(question("no solver takes part in proofs about such programs (--solver)".to_owned()));
        }
        let (mut program, rest) = if CArgs::applies_to(&self.file) {
            let files: Vec<PathBuf> = std::iter::once(&self.file).chain(&self.more).cloned().collect();
            let (program, rest) = match self.c.load(&files, self.entry.as_deref(), self.label.as_deref())? {
                Loaded::Program(loaded) => *loaded,
                Loaded::NotDecided(why) => {
                    return Err(CliError::NotDecided { answer: self.unknown(&why) });
                }
            };
            (program, Some(rest))
        } else {
            if let Some(other) = self.more.first() {
                return Err(question(format!("`{}` is one file too many", other.display())));
            }
            (load(&self.file, self.entry.as_deref())?, None)
        };
        if let Some(ExtraCheck::Bounds) = self.check {
            program = program.with_bounds_checks();
        }
        let choice = self.label.clone().map_or(TargetChoice::Default, TargetChoice::Label);
        let targets = program.targets(&choice).map_err(|error| question(error.to_string()))?;
        // Whoever asks about a label, or about indices, asks about something that occurs.
        let vacuity = rest
            .as_ref()
            .filter(|_| targets.is_empty() && self.label.is_none() && self.check.is_none())
            .and_then(|rest| property::vacuity(&rest.options.property, &rest.mentions));
        if let Some(why) = &vacuity {
            eprintln!("warning: {}: {why}", self.name());
        }
        Ok(Subject { program: Arc::new(program), targets, rest, vacuity, prover, begin })
    }

    fn name(&self) -> String {
        self.file.display().to_string()
    }

    /// What is left of the time limit.
    fn left(&self, subject: &Subject) -> Option<Duration> {
        self.limits.limits().time.map(|time| time.saturating_sub(subject.begin.elapsed()))
    }

    fn options(&self) -> CheckOptions {
        let search = match self.search {
            SearchArg::Forwards => Search::Forwards,
            SearchArg::Backwards => Search::Backwards,
        };
        CheckOptions { search, limits: self.limits.limits() }
    }
}

/// Why a program that cannot be checked cannot be.
fn unsupported(program: &Program, error: &CheckError) -> String {
    match error {
        CheckError::Threads { at } | CheckError::Memory { at, .. } => {
            let source = program.source(*at);
            format!("{error} ({}:{})", source.name(), program.position(*at).line)
        }
        _ => error.to_string(),
    }
}

/// `safe`, `unsafe` or `unknown`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Word {
    Safe,
    Unsafe,
    Unknown,
}

impl Word {
    fn of(verdict: Verdict) -> (Self, Option<String>) {
        match verdict {
            Verdict::Safe => (Self::Safe, None),
            Verdict::Unsafe => (Self::Unsafe, None),
            Verdict::Unknown(stop) => (Self::Unknown, Some(stop.why().to_owned())),
        }
    }

    fn exit(self) -> Exit {
        match self {
            Self::Safe => Exit::Negative,
            Self::Unsafe => Exit::Positive,
            Self::Unknown => Exit::Unknown,
        }
    }
}

/// A place that is asked about.
#[derive(Clone, Debug, Serialize)]
pub struct Place {
    pub file: String,
    pub line: u32,
    /// `assertion`, `error-call`, `label` or `procedure`.
    pub kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

impl Place {
    fn of(program: &Program, site: &ErrorSite) -> Self {
        let span = program.location(site.node).span;
        let (kind, label) = match &site.kind {
            ErrorKind::Assertion => ("assertion", None),
            ErrorKind::Call(name) => ("error-call", Some(name.clone())),
            ErrorKind::Label(name) => ("label", Some(name.clone())),
            ErrorKind::Entry(name) => ("procedure", Some(name.clone())),
        };
        Self { file: program.source(span).name().to_owned(), line: program.position(span).line, kind, label }
    }

    fn words(&self) -> String {
        match &self.label {
            None => format!("{}:{}: {}", self.file, self.line, self.kind),
            Some(name) if self.kind == "error-call" => {
                format!("{}:{}: call of `{name}`", self.file, self.line)
            }
            Some(label) => format!("{}:{}: {} {label}", self.file, self.line, self.kind),
        }
    }
}

/// Figures of a run.
#[derive(Default, Serialize)]
pub struct Stats {
    pub locations: usize,
    pub bits: usize,
    pub rules: usize,
    pub diagram_nodes: usize,
    pub seconds: f64,
}

impl Stats {
    /// With the size of the encoding: Boolean variables of a store, rules, nodes of all diagrams.
    fn of(subject: &Subject, (bits, rules, diagram_nodes): (usize, usize, usize)) -> Self {
        let locations = subject.program.nodes().count();
        Self { locations, bits, rules, diagram_nodes, seconds: subject.begin.elapsed().as_secs_f64() }
    }
}

fn size_of(checker: &Checker<'_>) -> (usize, usize, usize) {
    let (bits, rules) = checker.size();
    (bits, rules, checker.diagram_nodes())
}

/// The reason for an unknown answer, in words.
fn because(stop: StopReason) -> String {
    stop.why().to_owned()
}
