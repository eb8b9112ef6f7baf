//! `wherefore project FILE`: which lines lie on a failing run?

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::Serialize;
use wherefore_check::exact::{Checker, Detail, Projection};
use wherefore_explain::Conditions;
use wherefore_explain::model::Line;
use wherefore_program::{EdgeRef, LocationKind, Node, Program};
use wherefore_pushdown::{Limits, StopReason};

use super::explain::{EffortArgs, seen};
use super::progress::LiveLine;
use super::run::{RunStep, c_steps, steps};
use super::trust::{Replayed, replay, trusted};
use super::{ProgramArgs, Stats, Subject, Word, because, print, render, size_of, unsupported};
use crate::exit::{CliError, Exit};

/// Mark every line of a program that lies on some failing run; the others are proved innocent.
#[derive(Args)]
pub struct ProjectArgs {
    #[command(flatten)]
    program: ProgramArgs,

    /// How to decide [default: exact for finite data; for C, runs and refinement].
    #[arg(long, value_enum)]
    engine: Option<Engine>,

    /// Add the values of variables with which the program goes on to fail, at each line.
    #[arg(long)]
    stores: bool,

    /// Print a failing run through this line, or say that none exists (exit code 0).
    #[arg(long, value_name = "LINE")]
    through: Option<u32>,

    /// Add the steps from line to line that lie on failing runs, and those that do not.
    #[arg(long)]
    edges: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Engine {
    /// Decision diagrams over all of the data.
    Exact,
}

/// The answer.
#[derive(Serialize)]
pub struct Answer {
    pub verdict: Word,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether nothing that the property names occurs in the program; only said if so.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub vacuous: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub projection: Option<Lines>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edges: Option<Edges>,
    /// For each line on failing runs, the values there, as alternatives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stores: Option<BTreeMap<u32, Vec<String>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub through: Option<Through>,
    pub stats: Stats,
}

/// Line numbers of the checked file.
#[derive(Serialize)]
pub struct Lines {
    /// On some failing run.
    #[serde(rename = "in")]
    pub inside: BTreeSet<u32>,
    /// With a statement, but on no failing run.
    #[serde(rename = "out")]
    pub outside: BTreeSet<u32>,
    /// On a failing run that was found; only said of C programs, where a line inside need not be on one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmed: Option<BTreeSet<u32>>,
}

/// Steps inside a procedure, from line to line.
#[derive(Serialize)]
pub struct Edges {
    #[serde(rename = "in")]
    pub inside: BTreeSet<(u32, u32)>,
    #[serde(rename = "out")]
    pub outside: BTreeSet<(u32, u32)>,
}

/// A failing run through a line.
#[derive(Serialize)]
pub struct Through {
    pub line: u32,
    pub exists: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<RunStep>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What the compiled program does with the inputs of the run; only said of C programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<Replayed>,
}

/// More alternatives than this are not listed.
const MOST_CUBES: usize = 64;

/// Reads, decides, prints.
pub fn run(args: &ProjectArgs, out: &mut impl Write) -> Result<Exit, CliError> {
    let subject = args.program.load()?;
    if let (Some(Engine::Exact), true) = (args.engine, subject.rest.is_some()) {
        let message = "exact checking is for programs over finite data, not for C".to_owned();
        return Err(CliError::Question { file: args.program.name(), message });
    }
    let answer = Answer::find(args, &subject)?;
    let exit = match &answer.through {
        Some(through) if answer.verdict != Word::Unknown => {
            if through.exists {
                Exit::Positive
            } else {
                Exit::Negative
            }
        }
        _ => answer.verdict.exit(),
    };
    let text = if args.program.json {
        render::json(&answer)
    } else {
        render::project(&answer, &subject.program, &args.program.name())
    };
    print(out, &text, exit)
}

impl Answer {
    fn find(args: &ProjectArgs, subject: &Subject) -> Result<Self, CliError> {
        let program = &subject.program;
        let mut answer = Self {
            verdict: Word::Unknown,
            reason: None,
            vacuous: subject.vacuity.is_some(),
            projection: None,
            edges: None,
            stores: None,
            through: None,
            stats: Stats::of(subject, (0, 0, 0)),
        };
        if let Some(line) = args.through {
            if !program.nodes().any(|node| program.line(node) == Some(line)) {
                let message = format!("line {line} has no statement");
                return Err(CliError::Question { file: args.program.name(), message });
            }
        }
        if subject.rest.is_some() {
            if args.edges {
                let message = "the projection of a C program has lines, but no steps".to_owned();
                return Err(CliError::Question { file: args.program.name(), message });
            }
            answer.fill_c(args, subject);
            answer.stats = Stats::of(subject, (0, 0, 0));
            return Ok(answer);
        }
        match Checker::new(program, &subject.targets, args.program.options()) {
            Ok(checker) => {
                if let Err(stop) = answer.fill(args, program, &checker) {
                    answer.verdict = Word::Unknown;
                    answer.reason = Some(because(stop));
                }
                if answer.verdict == Word::Safe {
                    answer.reason = subject.nothing_to_check();
                }
                answer.stats = Stats::of(subject, size_of(&checker));
            }
            Err(error) => answer.reason = Some(unsupported(program, &error)),
        }
        Ok(answer)
    }

    fn fill(
        &mut self,
        args: &ProjectArgs,
        program: &Program,
        checker: &Checker<'_>,
    ) -> Result<(), StopReason> {
        (self.verdict, self.reason) = Word::of(checker.verdict());
        let detail = if args.stores || args.edges { Detail::Stores } else { Detail::Locations };
        let projection = checker.projection(detail)?;
        let inside: BTreeSet<u32> = projection.nodes().filter_map(|node| program.line(node)).collect();
        let all: BTreeSet<u32> = program.nodes().filter_map(|node| program.line(node)).collect();
        let outside = all.difference(&inside).copied().collect();
        self.projection = Some(Lines { inside, outside, confirmed: None });
        if args.edges {
            self.edges = Some(edges(program, &projection));
        }
        if args.stores {
            self.stores = Some(stores(program, &projection));
        }
        if let Some(line) = args.through {
            let here = |node: &Node| program.line(*node) == Some(line);
            let mut run = None;
            for node in projection.nodes().filter(here) {
                run = checker.run_through(node)?;
                if run.is_some() {
                    break;
                }
            }
            let trace = run.as_ref().map(|run| steps(program, &run.trace)).unwrap_or_default();
            self.through = Some(Through { line, exists: run.is_some(), trace, reason: None, replay: None });
        }
        Ok(())
    }
}

/// The time for the projection of a C program if no limit is given.
const MOST_TIME: Duration = Duration::from_secs(30);

impl Answer {
    /// The answer about a C program: lines of its first file.
    fn fill_c(&mut self, args: &ProjectArgs, subject: &Subject) {
        let live = LiveLine::new();
        let trusted = trusted(&args.program, subject, wherefore_check::Engine::Auto, move |cycle| {
            live.show_path(cycle)
        });
        (self.verdict, self.reason) = (trusted.verdict, trusted.reason.clone());
        let effort = EffortArgs::least();
        let seen = seen(&args.program, &effort, subject, Duration::ZERO);
        let time = args.program.left(subject).map_or(MOST_TIME, |left| left.mul_f64(0.9));
        let (projection, stores) = match (trusted.verdict, trusted.decided.failure) {
            (Word::Unknown, _) | (Word::Unsafe, None) => return,
            (Word::Safe, _) => (seen.nothing_fails(), BTreeMap::new()),
            (Word::Unsafe, Some(failure)) => {
                if let Some(line) = args.through {
                    return self.pass(args, subject, line, time);
                }
                let wanted = if args.stores { Conditions::Wanted } else { Conditions::Unwanted };
                let lines = seen.lines(failure, time, wanted);
                self.reason = lines.incomplete.clone();
                (seen.projection(&lines), seen.stores(&lines))
            }
        };
        if let Some(line) = args.through {
            let reason = Some("the program cannot fail".to_owned());
            self.through = Some(Through { line, exists: false, trace: Vec::new(), reason, replay: None });
        }
        let of_first =
            |lines: &[Line]| lines.iter().filter(|line| line.file == 0).map(|line| line.line).collect();
        self.projection = Some(Lines {
            inside: of_first(&projection.inside),
            outside: of_first(&projection.outside),
            confirmed: Some(of_first(&projection.confirmed)),
        });
        if args.stores {
            let text =
                |cube: &Vec<String>| if cube.is_empty() { "any".to_owned() } else { cube.join(" && ") };
            let here = stores.iter().filter(|(line, _)| line.file == 0);
            let here = here.map(|(line, cubes)| (line.line, cubes.iter().map(text).collect()));
            self.stores = Some(here.collect());
        }
    }

    /// A failing run through a line, or that there is none.
    fn pass(&mut self, args: &ProjectArgs, subject: &Subject, line: u32, time: Duration) {
        let program = &subject.program;
        let here = |node: &Node| {
            program.location(*node).span.file.0 == 0
                && program.line(*node) == Some(line)
                && node.procedure != program.entry
        };
        let nodes: Vec<Node> = program.nodes().filter(here).collect();
        let limits = Limits { time: Some(time), ..args.program.options().limits };
        let mut passing = Through { line, exists: false, trace: Vec::new(), reason: None, replay: None };
        match wherefore_check::through(program, &subject.targets, &nodes, &limits) {
            wherefore_check::Through::Run(failure) => {
                let slice = super::run::sliced(program, &failure.path);
                passing.exists = true;
                passing.trace = c_steps(program, &failure.trace, slice.as_ref());
                passing.replay = subject
                    .rest
                    .as_ref()
                    .and_then(|rest| replay(&args.program, subject, rest, &failure))
                    .map(Replayed::from);
            }
            wherefore_check::Through::None { reason } => passing.reason = Some(reason),
            wherefore_check::Through::Unknown(stop) => {
                self.verdict = Word::Unknown;
                self.reason = Some(format!("no failing run was found through line {line}: {}", stop.why()));
                return;
            }
        }
        self.through = Some(passing);
    }
}

fn edges(program: &Program, projection: &Projection<'_, '_>) -> Edges {
    let mut inside = BTreeSet::new();
    let mut all = BTreeSet::new();
    for (procedure, body) in program.procedures() {
        for (id, edge) in body.edges() {
            let line = |location| program.line(Node { procedure, location });
            if let (Some(from), Some(to)) = (line(edge.from), line(edge.to)) {
                if body.location(edge.to).kind == LocationKind::Error {
                    continue;
                }
                all.insert((from, to));
                if projection.contains_edge(EdgeRef { procedure, edge: id }) {
                    inside.insert((from, to));
                }
            }
        }
    }
    let outside = all.difference(&inside).copied().collect();
    Edges { inside, outside }
}

fn stores(program: &Program, projection: &Projection<'_, '_>) -> BTreeMap<u32, Vec<String>> {
    let mut lines: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for node in projection.nodes() {
        if program.location(node).kind == LocationKind::Error {
            continue;
        }
        if let Some(line) = program.line(node) {
            let here = lines.entry(line).or_default();
            for cube in projection.cubes(node, MOST_CUBES) {
                let words = cube.to_string();
                if !here.contains(&words) {
                    here.push(words);
                }
            }
        }
    }
    lines
}
