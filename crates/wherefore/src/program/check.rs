//! `wherefore check FILE`: can the program fail?

use std::io::Write;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use serde::Serialize;
use wherefore_check::cegar::{self, Cegar, CegarOptions, Drawing, PointPredicates};
use wherefore_check::exact::{Checker, Search};
use wherefore_check::interpolants::Heuristic;
use wherefore_check::{CheckError, Decision, Way, decide, race};
use wherefore_program::Program;

use super::explain::{EffortArgs, of_c, screen};
use super::progress::LiveLine;
use super::run::{RunStep, c_steps, sliced, steps};
use super::trust::{Proof, Replayed, Trusted, trusted};
use super::{Place, ProgramArgs, Stats, Subject, Word, because, print, render, unsupported};
use super::{again, c, property};
use crate::exit::{CliError, Exit};

/// Tell whether a program can fail, with a failing run.
#[derive(Args)]
pub struct CheckArgs {
    #[command(flatten)]
    program: ProgramArgs,

    /// How to decide.
    #[arg(long, value_enum, default_value = "auto")]
    engine: Engine,

    /// Which interpolants become predicates in refinement [default: assume-skip+conciliated].
    #[arg(long, value_name = "NAME", value_parser = heuristic_parser())]
    heuristic: Option<Heuristic>,

    /// Show the invariant of a proof by refinement, line by line. It has been checked.
    #[arg(long, help_heading = "C")]
    invariants: bool,

    /// Show all steps of the failing run of a C program, not only those that matter.
    #[arg(long, help_heading = "C")]
    all_steps: bool,

    /// Show what refinement tracks at each location.
    #[arg(long)]
    explain_abstraction: bool,

    /// Do not say where and why a C program fails; `wherefore explain` says more.
    #[arg(long, help_heading = "C")]
    no_explain: bool,

    /// Print a stage of the work instead of an answer.
    #[arg(long, value_enum, value_name = "STAGE")]
    dump: Option<Dump>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Engine {
    /// Two of them side by side, refinement and the other one that applies; the first verdict counts.
    Auto,
    /// Decision diagrams over all of the data; not for C.
    Exact,
    /// Abstraction refinement by interpolants.
    Cegar,
    /// All runs with a bounded number of turns of each loop; for C.
    Bounded,
}

fn heuristic_parser() -> impl TypedValueParser<Value = Heuristic> {
    PossibleValuesParser::new(Heuristic::ALL.map(Heuristic::name))
        .map(|name| name.parse().expect("only the names of heuristics are possible"))
}

#[derive(Clone, Copy, ValueEnum)]
enum Dump {
    /// The control-flow automata, as a graph in the DOT language.
    Cfa,
    /// The control-flow automata, as text.
    Listing,
    /// The rules of the pushdown system.
    Pds,
    /// The saturated automaton, as a graph in the DOT language.
    Automaton,
    /// The spurious counterexamples of each cycle of refinement with their interpolants, as graphs in the DOT language.
    Dag,
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
    /// Who found it: `exact` or `cegar`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<&'static str>,
    /// What must not happen; only said of C programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub property: Option<String>,
    /// The command that gives this answer again; only said of C programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Where the run fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Place>,
    /// Each place that was asked about.
    pub targets: Vec<Target>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<RunStep>,
    /// Whether no failing run has fewer steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortest: Option<bool>,
    /// How much of the run matters; only said of C programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slice: Option<Slice>,
    /// Whether to show all steps of the run as text.
    #[serde(skip)]
    pub all_steps: bool,
    /// Where and why it fails, in short; only said of C programs, and only as text.
    #[serde(skip)]
    pub explanation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refinement: Option<Refinement>,
    /// No run fails within so many turns of each loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<usize>,
    /// Whether the proof was checked a second time; only said of C programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// What the compiled program does with the inputs of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<Replayed>,
    /// What always holds, line by line: the proof, if it was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub invariants: Vec<Tracked>,
    /// What the answer rests on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
    pub stats: Stats,
}

/// A place and whether a run fails there.
#[derive(Serialize)]
pub struct Target {
    #[serde(flatten)]
    pub place: Place,
    pub verdict: Word,
}

/// Reads, decides, prints.
pub fn run(args: &CheckArgs, out: &mut impl Write) -> Result<Exit, CliError> {
    let subject = args.program.load()?;
    if let Some(dump) = args.dump {
        return print(out, &dumped(args, &subject, dump)?, Exit::Negative);
    }
    let answer = Answer::find(args, &subject);
    let text =
        if args.program.json { render::json(&answer) } else { render::check(&answer, &args.program.name()) };
    print(out, &text, answer.verdict.exit())
}

fn dumped(args: &CheckArgs, subject: &Subject, dump: Dump) -> Result<String, CliError> {
    let program = &subject.program;
    let checker = || {
        Checker::new(program, &subject.targets, args.program.options()).map_err(|error| CliError::Question {
            file: args.program.name(),
            message: unsupported(program, &error),
        })
    };
    Ok(match dump {
        Dump::Cfa => program.dot(),
        Dump::Listing => program.listing(),
        Dump::Pds => checker()?.show_system(),
        Dump::Automaton => checker()?.show_automaton(),
        Dump::Dag => {
            let options = CegarOptions {
                heuristic: args.heuristic.unwrap_or_default(),
                limits: args.program.options().limits,
                drawing: Drawing::Spurious,
                ..CegarOptions::default()
            };
            let mut cegar = Cegar::new(program, &subject.targets, options).map_err(|error| {
                CliError::Question { file: args.program.name(), message: unsupported(program, &error) }
            })?;
            cegar.run(&mut |_| {});
            cegar.pictures().concat()
        }
    })
}

impl Answer {
    fn find(args: &CheckArgs, subject: &Subject) -> Self {
        let program = &subject.program;
        let mut answer = Self {
            verdict: Word::Unknown,
            reason: None,
            vacuous: subject.vacuity.is_some(),
            engine: None,
            error: None,
            targets: Vec::new(),
            trace: Vec::new(),
            property: None,
            command: None,
            shortest: None,
            slice: None,
            all_steps: args.all_steps,
            explanation: None,
            refinement: None,
            bound: None,
            proof: None,
            replay: None,
            invariants: Vec::new(),
            assumptions: Vec::new(),
            stats: Stats::of(subject, (0, 0, 0)),
        };
        if subject.rest.is_some() {
            answer.fill_c(args, subject);
            return answer;
        }
        if let Engine::Bounded = args.engine {
            answer.reason = Some("bounded checking is for C programs".to_owned());
            return answer;
        }
        match args.decide(subject) {
            Ok(decision) => answer.fill(args, subject, &decision),
            Err(error) => answer.reason = Some(unsupported(program, &error)),
        }
        answer
    }

    /// The answer about a C program.
    fn fill_c(&mut self, args: &CheckArgs, subject: &Subject) {
        let (program, targets) = (&subject.program, &subject.targets);
        let engine = match args.engine {
            Engine::Auto if args.asks_for_refinement() => wherefore_check::Engine::Refinement,
            Engine::Auto => wherefore_check::Engine::Auto,
            Engine::Cegar => wherefore_check::Engine::Refinement,
            Engine::Bounded => wherefore_check::Engine::Bounded,
            Engine::Exact => {
                self.reason = Some("exact checking is for programs over finite data, not for C".to_owned());
                return;
            }
        };
        let live = LiveLine::new();
        let trusted = trusted(&args.program, subject, engine, move |cycle| live.show_path(cycle));
        if let (Some(rest), Word::Unsafe, false) =
            (&subject.rest, trusted.verdict, args.no_explain || args.program.json)
        {
            let explanation = of_c(&args.program, &EffortArgs::little(), subject, rest, &trusted);
            self.explanation = Some(wherefore_report::short(&explanation, &screen()));
        }
        let Trusted { verdict, reason, decided, replay, proof } = trusted;
        (self.verdict, self.reason, self.replay, self.proof) = (verdict, reason, replay, proof);
        self.engine = match decided.engine {
            wherefore_check::Engine::Bounded => Some("bounded"),
            wherefore_check::Engine::Refinement => Some("cegar"),
            wherefore_check::Engine::Auto => None,
        };
        for (i, site) in targets.iter().enumerate() {
            let failed = decided.failure.as_ref().is_some_and(|failure| failure.target == i);
            let verdict = match self.verdict {
                Word::Unsafe if !failed => Word::Unknown,
                verdict => verdict,
            };
            self.targets.push(Target { place: Place::of(program, site), verdict });
        }
        if let Some(failure) = &decided.failure {
            self.error = targets.get(failure.target).map(|site| Place::of(program, site));
            let slice = sliced(program, &failure.path);
            self.slice = slice.as_ref().map(|slice| Slice { matter: slice.len(), of: failure.path.len() });
            self.trace = c_steps(program, &failure.trace, slice.as_ref());
        }
        self.bound = decided.bound;
        if args.invariants {
            let holding = decided.invariants.iter().filter(|(_, formula)| formula != "false");
            self.invariants = holding
                .map(|(node, formula)| Tracked::at(program, *node, std::slice::from_ref(formula)))
                .collect();
        }
        if decided.engine == wherefore_check::Engine::Refinement {
            self.refinement = Some(Refinement {
                heuristic: Heuristic::AssumeSkip.name(),
                cycles: decided.cycles,
                predicates: decided.predicates.0,
                most_predicates: decided.predicates.1,
                abstracted_rules: 0,
                points: args.explain_abstraction.then(|| {
                    let tracked = decided.tracked.iter();
                    tracked.map(|(node, predicates)| Tracked::at(program, *node, predicates)).collect()
                }),
            });
        }
        if let Some(rest) = &subject.rest {
            self.property = Some(property::words(rest));
            self.command = Some(again::command(self.engine));
            self.assumptions =
                rest.assumptions.iter().map(|assumption| c::words(program, assumption)).collect();
        }
        self.stats = Stats::of(subject, (0, 0, 0));
    }

    fn fill(&mut self, args: &CheckArgs, subject: &Subject, decision: &Decision) {
        let program = &subject.program;
        (self.verdict, self.reason) = Word::of(decision.verdict);
        let heuristic = match decision.way {
            Way::Exact(_) => None,
            Way::Refinement(heuristic) => Some(heuristic),
        };
        self.engine = Some(if heuristic.is_some() { "cegar" } else { "exact" });
        for (site, verdict) in subject.targets.iter().zip(&decision.at) {
            let (verdict, _) = Word::of(*verdict);
            self.targets.push(Target { place: Place::of(program, site), verdict });
        }
        if let Some(run) = &decision.run {
            let end = run.trace.last().node();
            let site = subject.targets.iter().find(|site| Some(site.node) == end);
            self.error = site.map(|site| Place::of(program, site));
            self.trace = steps(program, &run.trace);
            self.shortest = Some(run.is_shortest);
        }
        if let Some(stop) = decision.no_run {
            self.reason = Some(format!("no run can be shown, because {}", because(stop)));
        }
        if self.verdict == Word::Safe {
            self.reason = subject.nothing_to_check();
        }
        if let (Some(heuristic), Some(cycle)) = (heuristic, &decision.cycle) {
            self.refinement = Some(Refinement {
                heuristic: heuristic.name(),
                cycles: cycle.refinements,
                predicates: cycle.predicates,
                most_predicates: cycle.most_predicates,
                abstracted_rules: cycle.abstracted,
                points: args
                    .explain_abstraction
                    .then(|| decision.predicates.iter().map(|point| Tracked::of(program, point)).collect()),
            });
        }
        self.stats = Stats::of(subject, decision.size);
    }
}

/// How much of a run matters.
#[derive(Serialize)]
pub struct Slice {
    /// Steps in the slice.
    pub matter: usize,
    /// Steps of the run.
    pub of: usize,
}

/// What abstraction refinement did.
#[derive(Serialize)]
pub struct Refinement {
    pub heuristic: &'static str,
    /// How many times the abstraction was refined.
    pub cycles: usize,
    /// Predicates at all points, and at the point that has most.
    pub predicates: usize,
    pub most_predicates: usize,
    /// How many abstract rules were computed, over all cycles.
    pub abstracted_rules: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<Vec<Tracked>>,
}

/// The predicates at a point.
#[derive(Serialize)]
pub struct Tracked {
    pub line: u32,
    pub procedure: String,
    /// `before` a statement, during a `call`, or at the `exit` of the procedure.
    pub place: &'static str,
    pub predicates: Vec<String>,
}

impl Tracked {
    fn of(program: &Program, point: &PointPredicates) -> Self {
        let place = match point.place {
            cegar::Place::Before => "before",
            cegar::Place::Call => "call",
            cegar::Place::Exit => "exit",
        };
        let procedure = program.procedure(point.node.procedure);
        let line = match point.place {
            cegar::Place::Exit => program.position(procedure.span).line,
            _ => program.line(point.node).unwrap_or_default(),
        };
        Self { line, procedure: procedure.name.clone(), place, predicates: point.predicates.clone() }
    }
}

impl Tracked {
    fn at(program: &Program, node: wherefore_program::Node, predicates: &[String]) -> Self {
        Self {
            line: program.line(node).unwrap_or_default(),
            procedure: program.procedure(node.procedure).name.clone(),
            place: "before",
            predicates: predicates.to_vec(),
        }
    }
}

impl CheckArgs {
    fn decide(&self, subject: &Subject) -> Result<Decision, CheckError> {
        let (program, targets) = (&subject.program, &subject.targets);
        let options = self.program.options();
        let way = match self.engine {
            Engine::Auto if self.asks_for_refinement() => Way::Refinement(self.heuristic.unwrap_or_default()),
            Engine::Auto if options.search == Search::Forwards => {
                return race(program, targets, &options.limits);
            }
            // Bounded checking has been refused before.
            Engine::Auto | Engine::Exact | Engine::Bounded => Way::Exact(options.search),
            Engine::Cegar => Way::Refinement(self.heuristic.unwrap_or_default()),
        };
        let live = LiveLine::new();
        decide(program, targets, way, &options.limits, &mut |cycle| live.show(cycle))
    }

    fn asks_for_refinement(&self) -> bool {
        self.heuristic.is_some() || self.explain_abstraction || self.invariants
    }
}
