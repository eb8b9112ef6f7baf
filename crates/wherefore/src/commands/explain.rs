//! `wherefore explain FILE`: where and why does the program fail?

use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::Args;
use wherefore_check::bounded::{self, Bounded};
use wherefore_check::{
    Answer, EngineName, FailingRun, Overall, ProofCheck, ProofKind, Question, Reached, Verdict,
};
use wherefore_explain::model::{self, Explanation};
use wherefore_explain::{Conditions, stats};
use wherefore_frontend::c::{DataModel, Property};
use wherefore_program::ViolationKind;
use wherefore_report::{PageOptions, SarifOptions, Task, TerminalOptions};

use super::c::CSubject;
use super::report::{Replayed, Word, check_word};
use super::schedule::{self, ScheduleArgs};
use super::{ProgramArgs, Subject, text, threads};
use crate::colour;
use crate::exit::{CliError, Exit, print};

/// Say where and why a program fails: lines, statements, circumstances, the likely fault, and how
/// to reproduce it.
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

    #[command(flatten)]
    schedules: ScheduleArgs,
}

/// How much is done for an explanation.
#[derive(Args)]
pub struct EffortArgs {
    /// How much work to spend on reasons: 2 is twice the usual. The same effort gives the same
    /// explanation on every machine; 1 takes about a second or two.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = effort)]
    effort: f64,

    /// Show only assumptions on these inputs, by name.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    inputs: Vec<String>,
}

/// The usual work, in steps.
const STEPS: u64 = 6_000;

/// The part of the time that is left which explanations may use.
const MOST_TIME: f64 = 0.8;

fn effort(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(factor) if factor.is_finite() && factor > 0.0 => Ok(factor),
        _ => Err("a number above 0 is expected".to_owned()),
    }
}

/// Reads, decides, explains, prints, writes.
pub fn run(args: &ExplainArgs, out: &mut impl Write) -> Result<Exit, CliError> {
    let subject = args.program.load()?;
    if threads::has_threads(&args.program, &args.schedules, &subject)? {
        let files = [
            (args.html.is_some(), "--html"),
            (args.sarif.is_some(), "--sarif"),
            (args.witness.is_some(), "--witness"),
            (args.dot.is_some(), "--dot"),
            (!args.effort.inputs.is_empty(), "--inputs"),
        ];
        threads::refuse(&args.program, &files)?;
        return threads::explain(&args.program, &args.schedules, &subject, threads::Depth::Everything, out);
    }
    let question = Question { shows_proofs: true, ..args.program.usual_question() };
    let answer = subject.answer(&question);
    let explanation = explained(&args.program, &args.effort, &subject, &answer);
    args.write_files(&subject, &answer, &explanation)?;
    let text = match args.program.json {
        true => text::json(&wherefore_report::json(&explanation)),
        false => wherefore_report::terminal(&explanation, &screen()),
    };
    print(out, &text, Word::of(&answer).exit())
}

/// What the standard output is like.
pub fn screen() -> TerminalOptions {
    let is_terminal = std::io::stdout().is_terminal();
    let columns = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let measured = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let width = columns.or(measured.filter(|_| is_terminal)).unwrap_or(80).clamp(40, 160);
    TerminalOptions { width, colour: colour::is_wanted() }
}

impl ExplainArgs {
    fn write_files(
        &self,
        subject: &Subject,
        answer: &Answer,
        explanation: &Explanation,
    ) -> Result<(), CliError> {
        if let Some(file) = &self.html {
            write(file, &wherefore_report::page(explanation, &PageOptions { live: false }))?;
        }
        if let Some(file) = &self.sarif {
            let mut explanation = explanation.clone();
            put_runs(&mut explanation, &seen(&self.effort, subject), answer);
            let options = SarifOptions { root: std::env::current_dir().ok() };
            write(file, &text::json(&wherefore_report::sarif(&explanation, &options)))?;
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
            let Some(c) = subject.c.as_ref().filter(|c| !c.is_cimple()) else {
                return Err(question("witnesses are for C programs"));
            };
            match wherefore_report::witness(explanation, &task(c, explanation)) {
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

/// What was asked, as formulas: all of it about a proof, what is broken about a failing run.
fn formulas(c: &CSubject, explanation: &Explanation) -> Vec<String> {
    let broken = explanation.error.as_ref();
    let rule = |kind: ViolationKind| match kind {
        ViolationKind::Null
        | ViolationKind::Bounds
        | ViolationKind::UseAfterFree
        | ViolationKind::UseAfterScope => "G valid-deref",
        ViolationKind::DoubleFree | ViolationKind::InvalidFree => "G valid-free",
        ViolationKind::Leak => "G valid-memcleanup",
        ViolationKind::Overflow => "G ! overflow",
        ViolationKind::Race => "G ! data-race",
        ViolationKind::Deadlock => "G ! deadlock",
        _ => "G def-behavior",
    };
    if let Some(place) = broken.filter(|place| place.is_rule()) {
        let kind = c.options.checks.iter().find(|kind| kind.name() == place.kind);
        return vec![kind.map_or("G def-behavior", |kind| rule(*kind)).to_owned()];
    }
    let call = |name: &str| format!("G ! call({name}())");
    let mut list = match &c.options.property {
        Property::Calls(names) => names.iter().map(|name| call(name)).collect(),
        Property::Labels(names) => names.iter().map(|name| format!("G ! label({name})")).collect(),
        Property::Assertions => vec![call("__assert_fail")],
        Property::All => vec![call("reach_error"), call("__assert_fail")],
    };
    match broken {
        Some(place) if place.kind == "assertion" => list.retain(|formula| *formula == call("__assert_fail")),
        Some(place) if place.kind == "error-call" => {
            list = place.label.iter().map(|name| call(name)).collect();
        }
        Some(_) => {}
        // C leaves more undefined than is checked: that all behaviour is defined is not proved.
        None => {
            let rules = c.options.checks.iter().map(|kind| rule(*kind));
            list.extend(rules.filter(|formula| *formula != "G def-behavior").map(str::to_owned));
        }
    }
    let mut seen = BTreeSet::new();
    list.retain(|formula| seen.insert(formula.clone()));
    list
}

/// What a witness says of the task.
fn task(c: &CSubject, explanation: &Explanation) -> Task {
    let entry = &c.options.entry;
    let lines = formulas(c, explanation).into_iter();
    let lines = lines.map(|formula| format!("CHECK( init({entry}()), LTL({formula}) )"));
    Task {
        specification: lines.collect::<Vec<_>>().join("\n"),
        data_model: match c.options.data_model {
            DataModel::Lp64 => wherefore_report::DataModel::Lp64,
            DataModel::Ilp32 => wherefore_report::DataModel::Ilp32,
        },
        creation_time: now(),
        files: c.files.iter().map(|file| file.display().to_string()).collect(),
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

/// Explains an answer.
pub fn explained(args: &ProgramArgs, effort: &EffortArgs, subject: &Subject, answer: &Answer) -> Explanation {
    let taken = subject.begin.elapsed();
    let seen = seen(effort, subject);
    let program = &subject.task.program;
    let mut explanation = match answer.decision() {
        Overall::Unsafe(run) => {
            let run = &settled(args, subject, run, &seen);
            match run.too_long() {
                Some(why) => unexplained(subject, run, why, seen),
                None => explained_failure(run, seen),
            }
        }
        Overall::Safe => {
            let mut explanation = seen.without_failure();
            explanation.verdict = model::Verdict::Safe;
            explanation.projection = seen.nothing_fails();
            explanation.reason = subject.nothing_to_check();
            explanation.grounds = grounds(&seen, answer);
            // Some checks may hold by data flow, which has none.
            let mut proofs = answer.verdicts.iter().filter_map(Verdict::proof);
            let invariants = proofs.find_map(|proof| match &proof.evidence.kind {
                ProofKind::Invariants { holds, bounds } => Some((holds, bounds)),
                _ => None,
            });
            if let Some((holds, bounds)) = invariants {
                let bounds = bounds.iter().flatten();
                explanation.invariants =
                    seen.invariants(&holds.iter().chain(bounds).cloned().collect::<Vec<_>>());
            }
            explanation
        }
        Overall::Unknown(why) => {
            let mut explanation = seen.without_failure();
            explanation.reason = Some(why.words(program));
            explanation
        }
    };
    if explanation.predicates.is_empty() {
        let tracked = answer.facts.refinement.iter().flat_map(|refinement| &refinement.tracked);
        explanation.predicates = self::seen(effort, subject).at_lines(&tracked.cloned().collect::<Vec<_>>());
    }
    explanation.checks = checks(subject, answer);
    explanation.assumptions = subject.task.assumptions_in_words();
    explanation.file = args.name();
    let incomplete = std::mem::take(&mut explanation.stats.incomplete);
    explanation.stats = model::Stats {
        runs: explanation.runs.len(),
        check_seconds: taken.as_secs_f64(),
        seconds: subject.begin.elapsed().as_secs_f64(),
        incomplete,
        ..stats(program, answer)
    };
    explanation.reproduce = reproduce(args, subject, &explanation);
    explanation
}

/// A failing run, with all that is found out about it.
fn explained_failure(run: &FailingRun, seen: wherefore_explain::Subject<'_>) -> Explanation {
    let half = seen.effort / 2;
    let lines = match seen.task.program.has_small_data() {
        true => seen.exact_lines(run.clone(), half),
        false => seen.lines(run.clone(), half, Conditions::Wanted),
    };
    let mut explanation = wherefore_explain::Subject { effort: half, ..seen }.explain(run.clone(), lines);
    if let (Some(first), Some(outcome)) = (explanation.runs.first_mut(), &run.replay) {
        first.replay = Some(model_replay(&Replayed::of(outcome)));
    }
    explanation
}

/// Where the program fails, and why no more is told.
fn unexplained(
    subject: &Subject,
    run: &FailingRun,
    why: String,
    seen: wherefore_explain::Subject<'_>,
) -> Explanation {
    let last = run.trace.states().last();
    let place = wherefore_explain::place_of(&subject.task.program, &subject.task.checks[run.target], last);
    Explanation {
        verdict: model::Verdict::Unsafe,
        error: Some(place),
        reason: Some(why),
        ..seen.without_failure()
    }
}

/// The run that is explained: that of bounded checking if it finds one, whichever engine was faster
/// this time.
fn settled(
    args: &ProgramArgs,
    subject: &Subject,
    run: &FailingRun,
    seen: &wherefore_explain::Subject<'_>,
) -> FailingRun {
    let task = &subject.task;
    if task.program.has_small_data() || run.by == EngineName::Bounded {
        return run.clone();
    }
    let check = std::slice::from_ref(&task.checks[run.target]);
    match bounded::check(&task.program, check, &seen.budget.spending(seen.effort), &|_| {}) {
        Bounded::Unsafe(found) => {
            let Some(found) = found.into_iter().next() else { return run.clone() };
            let mut found = FailingRun { target: run.target, ..found };
            if run.replay.is_some() {
                found.replay = wherefore_check::replay(task, &found, &args.c.replaying(), &seen.budget);
            }
            found
        }
        Bounded::Safe { .. } | Bounded::Unknown { .. } => run.clone(),
    }
}

/// Each check with its verdict, for reports.
pub fn checks(subject: &Subject, answer: &Answer) -> Vec<model::Check> {
    let program = &subject.task.program;
    let of = |(site, verdict): (&wherefore_program::ErrorSite, &Verdict)| {
        let (word, reason) = check_word(program, verdict);
        let place = {
            let last = verdict.run().and_then(|run| run.trace.states().last());
            wherefore_explain::place_of(program, site, last)
        };
        let verdict = match word {
            super::report::CheckWord::Safe => model::CheckVerdict::Safe,
            super::report::CheckWord::Unsafe => model::CheckVerdict::Unsafe,
            super::report::CheckWord::Unknown => model::CheckVerdict::Unknown,
            super::report::CheckWord::Unreachable => model::CheckVerdict::Unreachable,
        };
        model::Check { place, verdict, reason, run: None }
    };
    subject.task.checks.iter().zip(&answer.verdicts).map(of).collect()
}

/// Why a program is safe: how its checks hold, and which lines they depend on.
fn grounds(seen: &wherefore_explain::Subject<'_>, answer: &Answer) -> Option<model::Grounds> {
    if answer.verdicts.is_empty() {
        return None;
    }
    let by_data_flow = answer.verdicts.iter().filter(|verdict| verdict.is_by_data_flow()).count();
    let is_vacuous =
        |verdict: &&Verdict| verdict.proof().is_some_and(|proof| matches!(proof.reached, Reached::No { .. }));
    let proofs = answer.verdicts.iter().filter(|verdict| !verdict.is_by_data_flow());
    let checked = proofs.filter_map(Verdict::proof).find_map(|proof| match &proof.evidence.checked {
        ProofCheck::NotApplicable => None,
        ProofCheck::Accepted(None) => Some("checked by other code".to_owned()),
        ProofCheck::Accepted(Some(solver)) => Some(format!("checked by {solver}")),
        ProofCheck::Undecided(why) => Some(format!("not checked by other code: {why}")),
    });
    // What data flow decides would keep nearly every line.
    let is_by_all = by_data_flow == answer.verdicts.len();
    let checks = seen.task.checks.iter().zip(&answer.verdicts);
    let checks = checks.filter(|(_, verdict)| is_by_all || !verdict.is_by_data_flow());
    let nodes: Vec<_> = checks.map(|(site, _)| site.node).collect();
    let (lines, of) = seen.lines_behind(&nodes);
    Some(model::Grounds {
        by_data_flow,
        by_proof: answer.verdicts.len() - by_data_flow,
        vacuous: answer.verdicts.iter().filter(is_vacuous).count(),
        checked,
        lines,
        of,
    })
}

/// The failing run of each check that can fail.
pub fn put_runs(explanation: &mut Explanation, seen: &wherefore_explain::Subject<'_>, answer: &Answer) {
    for (check, verdict) in explanation.checks.iter_mut().zip(&answer.verdicts) {
        check.run = verdict.run().map(|run| match &run.schedule {
            Some(schedule) => schedule::as_run(seen.task, schedule),
            None => seen.run(run),
        });
    }
}

/// The commands that find a failure again.
fn reproduce(args: &ProgramArgs, subject: &Subject, explanation: &Explanation) -> model::Reproduce {
    let project = args.c.project.iter().flat_map(|path| ["--project".to_owned(), quoted(path)]);
    let given: Vec<String> = args.files().iter().map(|file| quoted(file)).chain(project).collect();
    let command = format!("wherefore check {}", given.join(" "));
    let is_failure = explanation.verdict == model::Verdict::Unsafe;
    let is_compiled = subject.c.as_ref().is_some_and(|c| !c.is_cimple());
    let harness = (is_compiled && is_failure).then(|| format!("{command} --harness failing-test.c"));
    model::Reproduce { command, harness }
}

fn quoted(file: &Path) -> String {
    let text = file.display().to_string();
    let plain = text.chars().all(|c| c.is_alphanumeric() || "/._-+".contains(c));
    if plain { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// The subject as explanations see it.
pub fn seen<'a>(effort: &EffortArgs, subject: &'a Subject) -> wherefore_explain::Subject<'a> {
    let left = subject.budget.left();
    wherefore_explain::Subject {
        task: &subject.task,
        budget: left
            .map_or_else(|| subject.budget.clone(), |left| subject.budget.within(left.mul_f64(MOST_TIME))),
        effort: effort.steps(),
        only: effort.inputs.clone(),
    }
}

impl EffortArgs {
    /// How much work to spend on reasons.
    fn steps(&self) -> u64 {
        (self.effort * STEPS as f64) as u64
    }

    /// Enough for the few lines at the end of another answer.
    pub fn little() -> Self {
        Self { effort: 0.5, inputs: Vec::new() }
    }

    /// Enough for an answer that consists of nothing else.
    pub fn much() -> Self {
        Self { effort: 10.0, inputs: Vec::new() }
    }
}

fn model_replay(replayed: &Replayed) -> model::Replay {
    model::Replay { outcome: replayed.outcome.to_owned(), why: replayed.why.clone() }
}

/// What the compiled program does with a run that was found on demand.
pub fn replayed(
    args: &ProgramArgs,
    subject: &Subject,
    run: &wherefore_check::FailingRun,
) -> Option<model::Replay> {
    let outcome = wherefore_check::replay(&subject.task, run, &args.c.replaying(), &subject.budget)?;
    Some(model_replay(&Replayed::of(&outcome)))
}
