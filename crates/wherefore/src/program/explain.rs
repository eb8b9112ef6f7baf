//! `wherefore explain FILE`: where and why does the program fail?

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use clap::Args;
use wherefore_check::exact::{Checker, Detail};
use wherefore_check::harness::Replay;
use wherefore_check::{Decided, Engine, Failure, race};
use wherefore_explain::model::{self, Explanation};
use wherefore_explain::{Conditions, Grain, Lines, stats};
use wherefore_frontend::c::{DataModel, Property};
use wherefore_program::Node;
use wherefore_report::{PageOptions, Task, TerminalOptions};

use super::c::{self, Rest};
use super::progress::LiveLine;
use super::trust::{Proof, Replayed, Trusted, replay, trusted};
use super::{ProgramArgs, Subject, Word, print, render, unsupported};
use crate::exit::{CliError, Exit};

/// Say where and why a program fails: lines, statements, circumstances, the likely fault, and how to reproduce it.
#[derive(Args)]
pub struct ExplainArgs {
    #[command(flatten)]
    pub program: ProgramArgs,

    #[command(flatten)]
    pub effort: EffortArgs,

    /// Write a page to look around in: one HTML file that needs nothing else.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Write SARIF 2.1.0, for code-scanning services and editors.
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,

    /// Write an SV-COMP witness (format 2.0) of the verdict on a C program.
    #[arg(long, value_name = "FILE")]
    witness: Option<PathBuf>,

    /// Write the call graph and the control-flow automata with the projection, in the DOT language.
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,
}

/// How much is done for an explanation.
#[derive(Args)]
pub struct EffortArgs {
    /// Look for reasons this long [default: as long as the verdict took, and at least one second].
    #[arg(long, value_name = "SECONDS", value_parser = crate::limits::seconds)]
    effort: Option<Duration>,

    /// Show only assumptions on these inputs, by name.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    inputs: Vec<String>,
}

/// The least time for reasons.
const LEAST_EFFORT: Duration = Duration::from_secs(1);

/// Reads, decides, explains, prints, writes.
pub fn run(args: &ExplainArgs, out: &mut impl Write) -> Result<Exit, CliError> {
    let subject = args.program.load()?;
    let explained = Explained::find(&args.program, &args.effort, &subject);
    let explanation = &explained.explanation;
    args.write_files(&subject, explanation)?;
    let text = match args.program.json {
        true => render::json(&wherefore_report::json(explanation)),
        false => wherefore_report::terminal(explanation, &screen()),
    };
    print(out, &text, explained.word.exit())
}

/// What the standard output is like.
pub fn screen() -> TerminalOptions {
    let is_terminal = std::io::stdout().is_terminal();
    let columns = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let measured = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let width = columns.or(measured.filter(|_| is_terminal)).unwrap_or(80).clamp(40, 160);
    TerminalOptions { width, colour: is_terminal && std::env::var_os("NO_COLOR").is_none() }
}

impl ExplainArgs {
    fn write_files(&self, subject: &Subject, explanation: &Explanation) -> Result<(), CliError> {
        if let Some(file) = &self.html {
            write(file, &wherefore_report::page(explanation, &PageOptions { live: false }))?;
        }
        if let Some(file) = &self.sarif {
            write(file, &render::json(&wherefore_report::sarif(explanation)))?;
        }
        if let Some(file) = &self.dot {
            let [calls, automata] = [
                wherefore_report::dot::call_graph(explanation),
                wherefore_report::dot::automata(explanation),
            ];
            write(file, &format!("{calls}{automata}"))?;
        }
        if let Some(file) = &self.witness {
            let question =
                |message: &str| CliError::Question { file: self.program.name(), message: message.to_owned() };
            let Some(rest) = subject.rest.as_ref().filter(|rest| !rest.is_cimple()) else {
                return Err(question("witnesses are for C programs"));
            };
            match wherefore_report::witness(explanation, &task(rest)) {
                Some(text) => write(file, &text)?,
                None => {
                    eprintln!("{}: no witness is written, for the verdict is unknown", self.program.name())
                }
            }
        }
        Ok(())
    }
}

fn write(file: &Path, text: &str) -> Result<(), CliError> {
    std::fs::write(file, text).map_err(|error| CliError::File { file: file.display().to_string(), error })
}

/// What a witness says of the task.
fn task(rest: &Rest) -> Task {
    let entry = &rest.options.entry;
    let what = match &rest.options.property {
        Property::Calls(names) => {
            format!("G ! call({}())", names.first().map_or("reach_error", String::as_str))
        }
        Property::Labels(names) => format!("G ! label({})", names.first().map_or("ERROR", String::as_str)),
        Property::All | Property::Assertions => "G ! call(reach_error())".to_owned(),
    };
    Task {
        specification: format!("CHECK( init({entry}()), LTL({what}) )"),
        data_model: match rest.options.data_model {
            DataModel::Lp64 => wherefore_report::DataModel::Lp64,
            DataModel::Ilp32 => wherefore_report::DataModel::Ilp32,
        },
        creation_time: now(),
        files: rest.files.iter().map(|file| file.display().to_string()).collect(),
        uuid: None,
    }
}

/// The time of day as `2026-01-31T12:00:00Z`.
fn now() -> String {
    let seconds = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Years of 365.2425 days that begin in March: the leap day is the last of its year.
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let (year, month) = (year + era * 400 + u64::from(month >= 10), (month + 2) % 12 + 1);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// An explanation with its exit code.
pub struct Explained {
    pub word: Word,
    pub explanation: Explanation,
}

impl Explained {
    /// Decides and explains.
    pub fn find(args: &ProgramArgs, effort: &EffortArgs, subject: &Subject) -> Self {
        let (word, mut explanation) = match &subject.rest {
            Some(rest) => {
                let live = LiveLine::new();
                let trusted = trusted(args, subject, Engine::Auto, move |cycle| live.show_path(cycle));
                (trusted.verdict, of_c(args, effort, subject, rest, &trusted))
            }
            None => of_finite(args, effort, subject),
        };
        let begin = subject.begin;
        explanation.file = args.name();
        explanation.stats.seconds = begin.elapsed().as_secs_f64();
        explanation.reproduce = reproduce(args, subject, &explanation);
        Self { word, explanation }
    }
}

/// The commands that find a failure again.
fn reproduce(args: &ProgramArgs, subject: &Subject, explanation: &Explanation) -> model::Reproduce {
    let given: Vec<String> = std::iter::once(&args.file).chain(&args.more).map(|file| quoted(file)).collect();
    let command = format!("wherefore check {}", given.join(" "));
    let is_failure = explanation.verdict == model::Verdict::Unsafe;
    let is_compiled = subject.rest.as_ref().is_some_and(|rest| !rest.is_cimple());
    let harness = (is_compiled && is_failure).then(|| format!("{command} --harness failing-test.c"));
    model::Reproduce { command, harness }
}

fn quoted(file: &Path) -> String {
    let text = file.display().to_string();
    let plain = text.chars().all(|c| c.is_alphanumeric() || "/._-+".contains(c));
    if plain { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// The subject as explanations see it.
pub fn seen<'a>(
    args: &ProgramArgs,
    effort: &EffortArgs,
    subject: &'a Subject,
    time: Duration,
) -> wherefore_explain::Subject<'a> {
    let inputs = subject.rest.iter().flat_map(|rest| &rest.inputs);
    wherefore_explain::Subject {
        program: &subject.program,
        targets: &subject.targets,
        inputs: inputs.map(|input| (input.edge, input.function.clone())).collect(),
        grain: if subject.rest.is_some() { Grain::Statements } else { Grain::Fine },
        limits: args.options().limits,
        time: effort.time(args, subject, time),
        only: effort.inputs.clone(),
    }
}

impl EffortArgs {
    /// How long to look for reasons, after so long for the verdict.
    fn time(&self, args: &ProgramArgs, subject: &Subject, taken: Duration) -> Duration {
        let wanted = self.effort.unwrap_or_else(|| taken.max(LEAST_EFFORT));
        args.left(subject).map_or(wanted, |left| wanted.min(left.mul_f64(0.8)))
    }

    /// Enough for the few lines at the end of another answer.
    pub fn little() -> Self {
        Self { effort: Some(Duration::from_millis(600)), inputs: Vec::new() }
    }

    /// No more than is needed.
    pub fn least() -> Self {
        Self { effort: None, inputs: Vec::new() }
    }
}

/// A verdict about a C program, explained.
pub fn of_c(
    args: &ProgramArgs,
    effort: &EffortArgs,
    subject: &Subject,
    rest: &Rest,
    trusted: &Trusted,
) -> Explanation {
    let taken = subject.begin.elapsed();
    let seen = seen(args, effort, subject, taken);
    let begin = Instant::now();
    let mut explanation = match &trusted.decided.failure {
        Some(failure) if trusted.verdict == Word::Unsafe => {
            let lines = seen.lines(failure.clone(), seen.time / 2, Conditions::Wanted);
            let rest = seen.time.saturating_sub(begin.elapsed()).max(seen.time / 2);
            let mut explanation =
                wherefore_explain::Subject { time: rest, ..seen }.explain(failure.clone(), lines);
            if let (Some(first), Some(outcome)) = (explanation.runs.first_mut(), &trusted.replay) {
                first.replay = Some(model_replay(outcome));
            }
            explanation
        }
        _ => {
            let mut explanation = seen.without_failure();
            if trusted.verdict == Word::Safe {
                explanation.verdict = model::Verdict::Safe;
                explanation.projection = seen.nothing_fails();
                explanation.invariants = seen.invariants(&trusted.decided.invariants);
            }
            explanation.predicates = seen.at_lines(&trusted.decided.tracked);
            explanation
        }
    };
    explanation.reason = trusted.reason.clone();
    explanation.assumptions = rest.assumptions.iter().map(|one| c::words(&subject.program, one)).collect();
    put_stats(&mut explanation, subject, &trusted.decided, taken);
    let doubt = |doubt| format!("lines are cleared only if {}", c::words(&subject.program, doubt));
    explanation.stats.incomplete.extend(rest.doubts.iter().map(doubt));
    let unchecked = trusted.proof.iter().filter(|proof| !proof.checked);
    explanation.stats.incomplete.extend(unchecked.map(Proof::words));
    explanation
}

fn model_replay(replayed: &Replayed) -> model::Replay {
    model::Replay { outcome: replayed.outcome.to_owned(), why: replayed.why.clone() }
}

fn put_stats(explanation: &mut Explanation, subject: &Subject, decided: &Decided, taken: Duration) {
    let incomplete = std::mem::take(&mut explanation.stats.incomplete);
    explanation.stats = model::Stats {
        runs: explanation.runs.len(),
        check_seconds: taken.as_secs_f64(),
        incomplete,
        ..stats(&subject.program, decided)
    };
}

/// A program over finite data: the projection is exact.
fn of_finite(args: &ProgramArgs, effort: &EffortArgs, subject: &Subject) -> (Word, Explanation) {
    let program = &subject.program;
    let seen_without = |word: Word, reason: Option<String>| {
        let seen = seen(args, effort, subject, subject.begin.elapsed());
        let mut explanation = seen.without_failure();
        if word == Word::Safe {
            explanation.verdict = model::Verdict::Safe;
            explanation.projection = seen.nothing_fails();
        }
        explanation.reason = reason.or_else(|| subject.nothing_to_check());
        explanation.stats.locations = program.nodes().count();
        explanation.stats.check_seconds = subject.begin.elapsed().as_secs_f64();
        (word, explanation)
    };
    let decision = match race(program, &subject.targets, &args.options().limits) {
        Ok(decision) => decision,
        Err(error) => return seen_without(Word::Unknown, Some(unsupported(program, &error))),
    };
    let (word, reason) = Word::of(decision.verdict);
    let Some(run) = decision.run.filter(|_| word == Word::Unsafe) else { return seen_without(word, reason) };
    let taken = subject.begin.elapsed();
    let end = run.trace.last().node();
    let target = subject.targets.iter().position(|site| Some(site.node) == end).unwrap_or(0);
    let path = run.trace.steps.iter().map(|step| step.edge).collect();
    let failure = Failure { trace: run.trace, path, target };
    let seen = seen(args, effort, subject, taken);
    let lines = exact_lines(args, subject, &failure, Instant::now() + seen.time / 2);
    let mut explanation = seen.explain(failure, lines);
    explanation.reason = reason;
    explanation.stats.locations = program.nodes().count();
    explanation.stats.engine = Some("exact".to_owned());
    explanation.stats.check_seconds = taken.as_secs_f64();
    explanation.stats.runs = explanation.runs.len();
    (word, explanation)
}

/// The exact projection with runs and stores, as far as the time goes.
fn exact_lines(args: &ProgramArgs, subject: &Subject, first: &Failure, until: Instant) -> Lines {
    let program = &subject.program;
    let mut lines = Lines::default();
    lines.cover.add(first.clone());
    let all = |lines: &mut Lines, why: String| {
        lines.inside = program.nodes().collect();
        lines.incomplete = Some(why);
    };
    let checker = match Checker::new(program, &subject.targets, args.options()) {
        Ok(checker) => checker,
        Err(error) => {
            all(&mut lines, unsupported(program, &error));
            return lines;
        }
    };
    match checker.projection(Detail::Stores) {
        Ok(projection) => {
            lines.inside = projection.nodes().collect();
            for node in &lines.inside {
                let cubes = projection.cubes(*node, 8).into_iter().map(|cube| vec![cube.to_string()]);
                lines.stores.insert(*node, cubes.collect());
            }
        }
        Err(stop) => {
            all(&mut lines, stop.why().to_owned());
            return lines;
        }
    }
    let open: Vec<Node> =
        lines.inside.iter().copied().filter(|node| !lines.cover.through.contains_key(node)).collect();
    for node in open {
        if lines.cover.through.contains_key(&node) || Instant::now() >= until {
            continue;
        }
        if let Ok(Some(run)) = checker.run_through(node) {
            let end = run.trace.last().node();
            let target = subject.targets.iter().position(|site| Some(site.node) == end).unwrap_or(0);
            let path = run.trace.steps.iter().map(|step| step.edge).collect();
            lines.cover.add(Failure { trace: run.trace, path, target });
        }
    }
    lines
}

/// What the compiled program does with a run that was found on demand.
pub fn replayed(args: &ProgramArgs, subject: &Subject, failure: &Failure) -> Option<model::Replay> {
    let rest = subject.rest.as_ref()?;
    let outcome: Replay = replay(args, subject, rest, failure)?;
    Some(model_replay(&Replayed::from(outcome)))
}
