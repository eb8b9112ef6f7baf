//! Questions to programs: `wherefore check`, `explain`, `flow`, `project`, `slice`, `trace`,
//! `validate` and `serve`.
//!
//! A command reads its arguments, hands a task to a library, and renders the answer. `c.rs`: how C
//! is read; `files.rs`, `database.rs`: from which files; `report.rs`: an answer as data for JSON;
//! `text.rs`, `summary.rs`: answers in words; `undecided.rs`: what is open, and what can help.

mod again;
mod c;
pub mod check;
mod database;
pub mod explain;
mod files;
pub mod flow;
mod folded;
pub mod harness;
pub mod lsp;
mod ltl;
mod mistakes;
mod per;
pub mod progress;
pub mod project;
pub mod properties;
mod property;
mod report;
mod run;
mod schedule;
pub mod serve;
pub mod slice;
mod summary;
mod text;
mod threads;
pub mod trace;
mod undecided;
pub mod validate;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use wherefore_check::exact::Search;
use wherefore_check::{Answer, Budget, Question, Session, answer};
use wherefore_frontend::{language_of, load};
use wherefore_program::{TargetChoice, Task};

use crate::exit::CliError;
use crate::limits::{DEFAULT_FOR_C, LimitArgs};
use c::{CArgs, CSubject, Loaded, Reading};
use progress::LiveLine;

/// What all questions to programs have in common.
#[derive(Args)]
pub struct ProgramArgs {
    /// The program: C (.c, .i, a folder, or - for standard input), Cimple, .bp, .rem.
    ///
    /// C (.c, .i, a task .yml, a folder of .c files, or - for standard input), Cimple (.cimple), a
    /// Boolean program (.bp) or a Remopla file (.rem).
    #[arg(required_unless_present = "project")]
    file: Option<PathBuf>,

    /// Further files of a C program.
    #[arg(value_name = "FILES")]
    more: Vec<PathBuf>,

    /// The function where execution starts, instead of `main` or what FILE names.
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,

    /// Ask about this label (or about the entry of this procedure) instead of all checks. In C,
    /// labels are errors only if they are asked for.
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    label: Option<String>,

    /// Ask only about the checks on this line of FILE.
    #[arg(long, value_name = "NUMBER", conflicts_with = "label")]
    line: Option<u32>,

    /// From which end exact checking searches.
    #[arg(long, value_enum, default_value = "forwards", hide_short_help = true)]
    search: SearchArg,

    /// What else counts as an error.
    #[arg(long, value_enum, value_name = "WHAT", hide_short_help = true)]
    check: Option<ExtraCheck>,

    /// Print the answer as JSON (docs/json.md).
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    limits: LimitArgs,

    #[command(flatten)]
    c: CArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
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

/// A task, with what a command needs to answer it.
pub struct Subject {
    /// The task.
    pub task: Task,
    /// How a C program was read.
    pub c: Option<CSubject>,
    /// Why a property that was named holds vacuously, if it does.
    pub vacuity: Option<String>,
    /// What the command may spend.
    pub budget: Budget,
    /// What engines share.
    pub session: Session,
    /// When the command began.
    pub begin: Instant,
    /// The time limit.
    pub time_limit: Option<Duration>,
    /// Whether the time is limited although no limit was given.
    pub has_default_limit: bool,
}

impl Subject {
    /// Why no check was asked about: no run fails then, whatever the program does.
    fn nothing_to_check(&self) -> Option<String> {
        if let Some(why) = &self.vacuity {
            return Some(format!("vacuously: {why}"));
        }
        if !self.task.checks.is_empty() {
            return None;
        }
        Some(match &self.c {
            Some(c) => c.nothing_to_check(),
            None => "nothing to check: no assertion, no error label".to_owned(),
        })
    }

    /// Decides its checks.
    fn answer(&self, question: &Question) -> Answer {
        answer(&self.task, question, &self.session, &self.budget)
    }
}

/// The answer *unknown*, and why, in the form that was asked for.
fn unknown(name: &str, is_json: bool, reason: &str) -> String {
    if is_json {
        format!("{}\n", serde_json::json!({ "verdict": "unknown", "reason": reason }))
    } else {
        format!("{name}: unknown, because {reason}\n")
    }
}

impl ProgramArgs {
    fn load(&self) -> Result<Subject, CliError> {
        let (name, is_json) = (self.name(), self.json);
        self.limits.guard(move |reason| unknown(&name, is_json, reason));
        self.load_without_guard()
    }

    /// The same for a command that goes on when the time for the verdict is over.
    fn load_without_guard(&self) -> Result<Subject, CliError> {
        self.load_as(self.entry.as_deref(), Reading::Whole, DEFAULT_FOR_C)
    }

    /// The same for another entry and another way to read C; `limit` is the time limit for C if none
    /// is given.
    fn load_as(&self, entry: Option<&str>, reading: Reading, limit: Duration) -> Result<Subject, CliError> {
        let begin = Instant::now();
        let mut budget = Budget::from_limits(&self.limits.limits());
        let prover = self.c.prover()?;
        let is_c = self.file.as_deref().is_none_or(CArgs::applies_to);
        if let Some(file) = self.file.as_deref().filter(|file| !is_c && language_of(file).is_none()) {
            return Err(mistakes::unknown_language(file));
        }
        let about_deadlocks = !is_c && self.c.asks_about_deadlocks();
        let mut for_c = self.c.given().filter(|option| !(about_deadlocks && *option == "--property"));
        if let (false, Some(option)) = (is_c, for_c.next()) {
            return Err(self.question(format!("{option} is for C programs")));
        }
        let has_default_limit = is_c && self.limits.timeout().is_none();
        if has_default_limit {
            budget = budget.within(limit);
        }
        let time_limit = self.limits.timeout().or(has_default_limit.then_some(limit));
        let (mut task, c) = if is_c {
            match self.c.load_as(&self.files(), entry, self.label.as_deref(), reading)? {
                Loaded::Task(loaded) => (loaded.0, Some(loaded.1)),
                Loaded::NotDecided(why) => {
                    return Err(CliError::NotDecided { answer: unknown(&self.name(), self.json, &why) });
                }
            }
        } else {
            if let Some(other) = self.more.first() {
                return Err(self.question(format!("`{}` is one file too many", other.display())));
            }
            (load(self.file.as_deref().unwrap_or(Path::new("")), entry)?, None)
        };
        if about_deadlocks {
            if task.program.uses_threads().is_none() {
                return Err(self.question("--property deadlock is for programs with threads".to_owned()));
            }
            task = task.with_deadlock_checks();
        }
        // In C the rule about bounds covers more, and is confirmed by the compiled program.
        if matches!(self.check, Some(ExtraCheck::Bounds)) && !task.checks_bounds {
            task = task.with_bounds_checks();
        }
        if let Some(label) = &self.label {
            let choice = TargetChoice::Label(label.clone());
            task.checks = task.program.targets(&choice).map_err(|error| self.question(error.to_string()))?;
        }
        if let Some(line) = self.line {
            let program = task.program.clone();
            let here = |node| program.location(node).span.file.0 == 0 && program.line(node) == Some(line);
            task.checks.retain(|site| here(site.node));
            if task.checks.is_empty() {
                return Err(self.question(format!("line {line} has no check")));
            }
        }
        // A label, or indices, that are asked about do occur.
        let is_named = self.label.is_none() && self.check.is_none();
        let vacuity = c
            .as_ref()
            .filter(|_| task.checks.is_empty() && is_named)
            .and_then(|c| property::vacuity(&c.options.property, &c.mentions));
        if let Some(why) = &vacuity {
            eprintln!("warning: {}: {why}", self.name());
        }
        let live = LiveLine::new();
        let session = Session::new(prover).with_listener(move |progress| live.show(progress));
        Ok(Subject { task, c, vacuity, budget, session, begin, time_limit, has_default_limit })
    }

    /// What one of several questions may spend.
    fn budget(&self, limit: Duration) -> Budget {
        let budget = Budget::from_limits(&self.limits.limits());
        if self.limits.timeout().is_none() { budget.within(limit) } else { budget }
    }

    /// A question that cannot be asked of the program.
    fn question(&self, message: String) -> CliError {
        CliError::Question { file: self.name(), message }
    }

    fn name(&self) -> String {
        self.file
            .iter()
            .chain(&self.c.project)
            .map(|path| path.display().to_string())
            .next()
            .unwrap_or_default()
    }

    /// The files that were given.
    fn files(&self) -> Vec<PathBuf> {
        self.file.iter().chain(&self.more).cloned().collect()
    }

    fn search(&self) -> Search {
        match self.search {
            SearchArg::Forwards => Search::Forwards,
            SearchArg::Backwards => Search::Backwards,
        }
    }

    /// The usual question.
    fn usual_question(&self) -> Question {
        let replaying = self.c.replaying();
        Question { search: self.search(), replaying, schedules: None, ..Question::default() }
    }
}
