//! `wherefore project FILE`: which lines lie on a failing run?

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use clap::{Args, ValueEnum};
use serde::Serialize;
use wherefore_check::exact::{Checker, Detail, Projection};
use wherefore_program::{EdgeRef, LocationKind, Node, Program};
use wherefore_pushdown::StopReason;

use super::run::{RunStep, steps};
use super::{ProgramArgs, Stats, Subject, Word, because, print, render, size_of, unsupported};
use crate::exit::{CliError, Exit};

/// Mark every line of a program that lies on some failing run; the others are proved innocent.
#[derive(Args)]
pub struct ProjectArgs {
    #[command(flatten)]
    program: ProgramArgs,

    /// How to decide: the projection of a program over finite data is exact.
    #[arg(long, value_enum, default_value = "exact")]
    engine: Engine,

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
}

/// More alternatives than this are not listed.
const MOST_CUBES: usize = 64;

/// Reads, decides, prints.
pub fn run(args: &ProjectArgs, out: &mut impl Write) -> Result<Exit, CliError> {
    let Engine::Exact = args.engine;
    let subject = args.program.load()?;
    if subject.rest.is_some() {
        let message = "the projection of a C program is not supported yet; `wherefore slice` shows what of a failing run matters";
        return Err(CliError::Question { file: args.program.name(), message: message.to_owned() });
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
        match Checker::new(program, &subject.targets, args.program.options()) {
            Ok(checker) => {
                if let Err(stop) = answer.fill(args, program, &checker) {
                    answer.verdict = Word::Unknown;
                    answer.reason = Some(because(stop));
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
        self.projection = Some(Lines { inside, outside });
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
            self.through = Some(Through { line, exists: run.is_some(), trace });
        }
        Ok(())
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
