//! `wherefore check --per function|error`: many questions in one run, each with its own limit, and a
//! table of the checks.
//!
//! [Path slicing] section 5 checks a program function by function: each function with error points
//! is a question of its own. Here such a function is where runs start, with any arguments and any
//! values of global variables that have no initial value; objects are in their first state. So a
//! check that holds does so in every run of the program in which the objects that the function is
//! given are in their first state; one that can fail does so if the function is called like this.
//!
//! [Path slicing]: https://doi.org/10.1145/1065010.1065016

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use serde::Serialize;
use wherefore_program::{CallPlace, Compilation, ErrorSite, Program};

use super::c::Reading;
use super::check::CheckArgs;
use super::report::{CheckReport, CheckWord, Parts, Place, Run, Target};
use super::summary::Detail;
use super::{Subject, text};
use crate::colour::{self, Tone, painted};
use crate::exit::{CliError, Exit, print};
use crate::limits::is_interrupted;

/// What is asked about at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Per {
    /// Each function with checks, as the one where runs start.
    Function,
    /// Each check of the program.
    Error,
    /// All checks of the program.
    Program,
}

/// The time limit of one question if none is given.
const LIMIT: Duration = Duration::from_secs(20);

/// A check with its verdict.
#[derive(Serialize)]
struct Row {
    /// The property or the kind of the check.
    name: &'static str,
    file: String,
    line: u32,
    function: String,
    message: String,
    verdict: CheckWord,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Whether data flow decided, without an engine.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    by_data_flow: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<Run>,
    seconds: f64,
}

/// The answers to all questions.
#[derive(Serialize)]
struct Table {
    verdict: &'static str,
    property: String,
    functions: usize,
    properties: Vec<Row>,
    /// What the answers rest on.
    assumptions: Vec<String>,
    seconds: f64,
}

/// Asks, and prints the table.
pub fn run(args: &CheckArgs, per: Per, out: &mut impl Write) -> Result<Exit, CliError> {
    let begin = Instant::now();
    let (rows, assumptions, property) = match per {
        Per::Function => by_function(args)?,
        Per::Error | Per::Program => by_check(args)?,
    };
    let functions: BTreeSet<&str> = rows.iter().map(|row| row.function.as_str()).collect();
    let has = |word: CheckWord| rows.iter().any(|row| row.verdict == word);
    let (verdict, exit) = match (has(CheckWord::Unsafe), has(CheckWord::Unknown)) {
        (true, _) => ("unsafe", Exit::Positive),
        (_, true) => ("unknown", Exit::Unknown),
        _ => ("safe", Exit::Negative),
    };
    let functions = functions.len();
    let seconds = begin.elapsed().as_secs_f64();
    let table = Table { verdict, property, functions, properties: rows, assumptions, seconds };
    let text = match args.program().json {
        true => text::json(&table),
        false => words(&table, args.detail()),
    };
    print(out, &text, exit)
}

type Answers = (Vec<Row>, Vec<String>, String);

fn by_function(args: &CheckArgs) -> Result<Answers, CliError> {
    let program = args.program();
    let whole = program.load_as(None, Reading::EveryFunction, LIMIT)?;
    let mut functions: BTreeMap<(u32, u32), String> = BTreeMap::new();
    for site in &whole.task.checks {
        let body = whole.task.program.procedure(site.node.procedure);
        let span = body.span;
        functions.insert((span.file.0, span.start), body.name.clone());
    }
    let count_of = |name: &str| functions.values().filter(|other| base(other) == base(name)).count();
    let (mut rows, mut assumptions) = (Vec::new(), Vec::new());
    for name in functions.values() {
        if count_of(name) > 1 {
            let reason = "several files have a function of this name";
            rows.extend(open(&whole.task.program, &sites_in(&whole, name), reason));
            continue;
        }
        if is_interrupted() {
            rows.extend(open(&whole.task.program, &sites_in(&whole, name), "it was interrupted"));
            continue;
        }
        let reading = if name == "main" { Reading::Whole } else { Reading::OneFunction };
        let mut subject = program.load_as(Some(name), reading, LIMIT)?;
        subject.task.checks = sites_in(&subject, name);
        answered(args, &subject, &mut rows)?;
        for text in subject.task.assumptions_in_words() {
            if !assumptions.contains(&text) {
                assumptions.push(text);
            }
        }
    }
    rows.extend(not_modelled(&whole));
    if functions.values().any(|name| name != "main") {
        let text = "global variables with an initial value have it where a function other than `main` starts";
        assumptions.push(text.to_owned());
        if whole.c.as_ref().is_some_and(|c| c.options.library.is_some()) {
            assumptions.push("objects that a function is given are in their first state".to_owned());
        }
    }
    Ok((rows, assumptions, asked(&whole)))
}

fn by_check(args: &CheckArgs) -> Result<Answers, CliError> {
    let program = args.program();
    let mut subject = program.load_as(program.entry.as_deref(), Reading::Whole, LIMIT)?;
    let sites = subject.task.checks.clone();
    let mut rows = Vec::new();
    for site in sites {
        subject.task.checks = vec![site.clone()];
        subject.begin = Instant::now();
        subject.budget = program.budget(LIMIT);
        if is_interrupted() {
            rows.extend(open(&subject.task.program, &[site], "it was interrupted"));
            continue;
        }
        answered(args, &subject, &mut rows)?;
    }
    Ok((rows, subject.task.assumptions_in_words(), asked(&subject)))
}

/// What is checked, in a word.
fn asked(subject: &Subject) -> String {
    let library = subject.c.as_ref().and_then(|c| c.options.library.as_ref());
    library.map_or("checks".to_owned(), |rules| rules.property.name.clone())
}

/// Rows for calls that a rule is about and that have no check: the code around them is not modelled.
fn not_modelled(whole: &Subject) -> Vec<Row> {
    let Compilation::Compiled(recipe) = &whole.task.compilation else { return Vec::new() };
    let program = &whole.task.program;
    let place_of = |site: &ErrorSite| {
        let span = program.location(site.node).span;
        (program.source(span).name().to_owned(), program.position(span).line)
    };
    let checked: BTreeSet<(String, u32)> = whole.task.checks.iter().map(place_of).collect();
    let reason = match whole.task.unsupported.first() {
        Some(place) => format!("the code around it is not modelled; first {}", place.words(program)),
        None => "the code around it is not modelled".to_owned(),
    };
    let row = |place: &CallPlace| Row {
        name: whole.task.checks.first().map_or("rule", |site| Place::of(program, site, None).kind),
        file: place.file.clone(),
        line: place.line,
        function: "?".to_owned(),
        message: format!("`{}`", place.function),
        verdict: CheckWord::Unknown,
        reason: Some(reason.clone()),
        by_data_flow: false,
        run: None,
        seconds: 0.0,
    };
    let places = recipe.monitor.iter().flat_map(|monitor| &monitor.places);
    places.filter(|place| !checked.contains(&(place.file.clone(), place.line))).map(row).collect()
}

/// The name of a function without the number that tells it from others of this name.
fn base(name: &str) -> &str {
    name.split('@').next().unwrap_or(name)
}

fn sites_in(subject: &Subject, function: &str) -> Vec<ErrorSite> {
    let program = &subject.task.program;
    let is_here = |site: &&ErrorSite| program.procedure(site.node.procedure).name == function;
    subject.task.checks.iter().filter(is_here).cloned().collect()
}

/// Rows for checks that were not asked about.
fn open(program: &Program, sites: &[ErrorSite], reason: &str) -> Vec<Row> {
    let row = |site: &ErrorSite| {
        let place = Place::of(program, site, None);
        let function = program.procedure(site.node.procedure).name.clone();
        Row {
            name: place.kind,
            message: place.message.or(place.label).unwrap_or_default(),
            file: place.file,
            line: place.line,
            function,
            verdict: CheckWord::Unknown,
            reason: Some(reason.to_owned()),
            by_data_flow: false,
            run: None,
            seconds: 0.0,
        }
    };
    sites.iter().map(row).collect()
}

/// Answers one question.
fn answered(args: &CheckArgs, subject: &Subject, rows: &mut Vec<Row>) -> Result<(), CliError> {
    let question = args.question(subject)?;
    let answer = subject.answer(&question);
    let report = CheckReport::of(subject, &answer, Parts::default());
    let seconds = subject.begin.elapsed().as_secs_f64();
    let program = &subject.task.program;
    let mut shown =
        answer.verdicts.iter().find_map(wherefore_check::Verdict::run).map(|run| Run::of(&subject.task, run));
    for ((target, site), verdict) in
        report.targets.into_iter().zip(&subject.task.checks).zip(&answer.verdicts)
    {
        let Target { place, verdict: word, reason, run } = target;
        let run = match word {
            CheckWord::Unsafe => run.or_else(|| shown.take()),
            _ => None,
        };
        rows.push(Row {
            name: place.kind,
            message: place.message.or(place.label).unwrap_or_default(),
            file: place.file,
            line: place.line,
            function: program.procedure(site.node.procedure).name.clone(),
            verdict: word,
            reason,
            by_data_flow: verdict.is_by_data_flow(),
            run,
            seconds,
        });
    }
    Ok(())
}

/// The table in words.
fn words(table: &Table, detail: Detail) -> String {
    let colour = colour::is_wanted();
    let rows = &table.properties;
    let count = |word: CheckWord| rows.iter().filter(|row| row.verdict == word).count();
    let proved = count(CheckWord::Safe) + count(CheckWord::Unreachable);
    let by_flow = rows.iter().filter(|row| row.by_data_flow).count();
    let by_flow = if by_flow > 0 { format!(" ({by_flow} by data flow)") } else { String::new() };
    let plural = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let mut out = format!(
        "{}: {} in {}: {proved} proved{by_flow}, {} can fail, {} unknown ({:.0} s)\n",
        table.property,
        plural(rows.len(), "check"),
        plural(table.functions, "function"),
        count(CheckWord::Unsafe),
        count(CheckWord::Unknown),
        table.seconds,
    );
    if detail == Detail::Verdict {
        return out;
    }
    for row in rows {
        let (word, tone) = match row.verdict {
            CheckWord::Safe | CheckWord::Unreachable if detail != Detail::All => continue,
            CheckWord::Safe => ("proved", Tone::Good),
            CheckWord::Unreachable => ("unreachable", Tone::Faint),
            CheckWord::Unsafe => ("can fail", Tone::Bad),
            CheckWord::Unknown => ("unknown", Tone::Open),
        };
        let word = painted(&format!("{word:11}"), tone, colour);
        let reason = row.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        let Row { file, line, function, message, .. } = row;
        let _ = writeln!(out, "  {word}  {file}:{line} {function}: {message}{reason}");
        if let Some(run) = &row.run {
            text::run_in_short(&mut out, run);
        }
    }
    text::assumptions(&mut out, &table.assumptions);
    out
}
