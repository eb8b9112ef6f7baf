//! `wherefore project FILE`: which lines lie on a failing run?

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::Serialize;
use wherefore_check::exact::{CheckOptions, Checker, Decision, Detail, Projection};
use wherefore_check::{Extent, Overall, Question, Size, Verdict, Why};
use wherefore_explain::Conditions;
use wherefore_explain::model::Line;
use wherefore_program::{EdgeRef, LocationKind, Node, Program};
use wherefore_pushdown::StopReason;

use super::explain::{EffortArgs, seen};
use super::report::{Replayed, Stats, Word};
use super::run::{RunStep, steps};
use super::schedule::ScheduleArgs;
use super::{ProgramArgs, Subject, text, threads};
use crate::exit::{CliError, Exit, print};

/// Mark every line of a program that lies on some failing run; no failing run goes through the
/// others.
#[derive(Args)]
pub struct ProjectArgs {
    #[command(flatten)]
    program: ProgramArgs,

    /// How to decide [default: exact if the data are small; else runs and refinement].
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

    #[command(flatten)]
    schedules: ScheduleArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// Decision diagrams over all of the data.
    Exact,
}

/// The answer.
#[derive(Serialize)]
pub struct ProjectReport {
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
    /// What the answer rests on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
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
    /// On a failing run that was found; only said of C programs, where a line inside need not be on
    /// one.
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

/// The time for the projection of a C program if no limit is given.
const MOST_TIME: Duration = Duration::from_secs(30);

/// Reads, decides, prints.
pub fn run(args: &ProjectArgs, out: &mut impl Write) -> Result<Exit, CliError> {
    let subject = args.program.load()?;
    if threads::has_threads(&args.program, &args.schedules, &subject)? {
        let given = [
            (args.engine.is_some(), "--engine"),
            (args.stores, "--stores"),
            (args.through.is_some(), "--through"),
            (args.edges, "--edges"),
        ];
        threads::refuse(&args.program, &given)?;
        return threads::project(&args.program, &args.schedules, &subject, out);
    }
    let report = ProjectReport::of(args, &subject)?;
    let exit = match &report.through {
        Some(through) if report.verdict != Word::Unknown => {
            if through.exists {
                Exit::Positive
            } else {
                Exit::Negative
            }
        }
        _ => report.verdict.exit(),
    };
    let text = match args.program.json {
        true => text::json(&report),
        false => text::project(&report, &subject.task.program, &args.program.name()),
    };
    print(out, &text, exit)
}

impl ProjectReport {
    fn of(args: &ProjectArgs, subject: &Subject) -> Result<Self, CliError> {
        let program = &subject.task.program;
        let mut report = Self {
            verdict: Word::Unknown,
            reason: None,
            vacuous: subject.vacuity.is_some(),
            projection: None,
            edges: None,
            stores: None,
            through: None,
            assumptions: subject.task.assumptions_in_words(),
            stats: Stats::default(),
        };
        if let Some(line) = args.through {
            if !program.nodes().any(|node| program.line(node) == Some(line)) {
                return Err(args.program.question(format!("line {line} has no statement")));
            }
        }
        let by_diagrams = args.engine == Some(Engine::Exact) || !subject.task.is_c();
        if args.edges && !by_diagrams {
            let message = "--edges is for exact projections (--engine exact), which this is not";
            return Err(args.program.question(message.to_owned()));
        }
        let mut size = None;
        if by_diagrams {
            let options = CheckOptions { search: args.program.search(), limits: subject.budget.limits() };
            match Checker::new(program, &subject.task.checks, options) {
                Ok(checker) => {
                    if let Err(stop) = report.fill(args, subject, &checker) {
                        report.verdict = Word::Unknown;
                        report.reason = Some(stop.why().to_owned());
                    }
                    if report.verdict == Word::Safe {
                        report.reason = subject.nothing_to_check();
                    }
                    let (bits, rules) = checker.size();
                    size = Some(Size { bits, rules, diagram_nodes: checker.diagram_nodes() });
                }
                Err(error) => report.reason = Some(Why::NotTaken(error).words(program)),
            }
        } else {
            report.fill_by_runs(args, subject);
        }
        report.stats = Stats::of(subject, size);
        Ok(report)
    }

    fn fill(
        &mut self,
        args: &ProjectArgs,
        subject: &Subject,
        checker: &Checker<'_>,
    ) -> Result<(), StopReason> {
        let program = &subject.task.program;
        self.verdict = match checker.verdict() {
            Decision::Safe => Word::Safe,
            Decision::Unsafe => Word::Unsafe,
            Decision::Unknown(stop) => return Err(stop),
        };
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
            let trace = run.as_ref().map(|run| steps(&subject.task, run)).unwrap_or_default();
            self.through = Some(Through { line, exists: run.is_some(), trace, reason: None, replay: None });
        }
        Ok(())
    }

    /// Lines of the first file, by runs and refinement.
    fn fill_by_runs(&mut self, args: &ProjectArgs, subject: &Subject) {
        let question = Question { extent: Extent::FirstFailure, ..args.program.usual_question() };
        let answer = subject.answer(&question);
        self.verdict = Word::of(&answer);
        self.reason = match answer.decision() {
            Overall::Unknown(why) => Some(why.words(&subject.task.program)),
            Overall::Safe => subject.nothing_to_check(),
            Overall::Unsafe(_) => None,
        };
        let seen = seen(&EffortArgs::much(), subject);
        let time = subject.budget.left().map_or(MOST_TIME, |left| left.mul_f64(0.9));
        let (projection, stores) = match (self.verdict, answer.verdicts.iter().find_map(Verdict::run)) {
            (Word::Unknown, _) | (Word::Unsafe, None) => return,
            (Word::Safe, _) => (seen.nothing_fails(), BTreeMap::new()),
            (Word::Unsafe, Some(run)) => {
                if let Some(line) = args.through {
                    return self.pass(args, subject, line, time);
                }
                let wanted = if args.stores { Conditions::Wanted } else { Conditions::Unwanted };
                let lines = seen.lines(run.clone(), seen.effort, wanted);
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
        let (task, program) = (&subject.task, &subject.task.program);
        let here = |node: &Node| {
            program.location(*node).span.file.0 == 0
                && program.line(*node) == Some(line)
                && node.procedure != program.entry
        };
        let nodes: Vec<Node> = program.nodes().filter(here).collect();
        let budget = subject.budget.within(time);
        let mut passing = Through { line, exists: false, trace: Vec::new(), reason: None, replay: None };
        let why = match wherefore_check::through(program, &task.checks, &nodes, &budget) {
            wherefore_check::Through::Run(run) => {
                let replay =
                    wherefore_check::replay(task, &run, &args.program.c.replaying(), &subject.budget);
                passing.exists = true;
                passing.trace = steps(task, &run);
                passing.replay = replay.as_ref().map(Replayed::of);
                self.through = Some(passing);
                return;
            }
            wherefore_check::Through::None { reason } => {
                // That no run passes is a proof, and proofs can be doubted.
                let engines = args.program.usual_question().engines(task);
                let doubt = wherefore_check::doubts(task, &engines, (&subject.session, &budget));
                match doubt {
                    None => {
                        passing.reason = Some(reason);
                        self.through = Some(passing);
                        return;
                    }
                    Some(why) => why,
                }
            }
            wherefore_check::Through::Unknown(why) => why,
        };
        self.verdict = Word::Unknown;
        self.reason = Some(format!("no failing run was found through line {line}: {}", why.words(program)));
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
