//! `wherefore check FILE`: can the program fail?

use std::io::Write;

use clap::{Args, ValueEnum};
use serde::Serialize;
use wherefore_check::exact::Checker;

use super::run::{RunStep, steps};
use super::{Place, ProgramArgs, Stats, Subject, Word, because, print, render, unsupported};
use crate::exit::{CliError, Exit};

/// Tell whether a program can fail, with a shortest failing run.
#[derive(Args)]
pub struct CheckArgs {
    #[command(flatten)]
    program: ProgramArgs,

    /// Print a stage of the work instead of an answer.
    #[arg(long, value_enum, value_name = "STAGE")]
    dump: Option<Dump>,
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
}

/// The answer.
#[derive(Serialize)]
pub struct Answer {
    pub verdict: Word,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
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
    })
}

impl Answer {
    fn find(args: &CheckArgs, subject: &Subject) -> Self {
        let program = &subject.program;
        let mut answer = Self {
            verdict: Word::Unknown,
            reason: None,
            error: None,
            targets: Vec::new(),
            trace: Vec::new(),
            shortest: None,
            stats: Stats::default(),
        };
        let checker = match Checker::new(program, &subject.targets, args.program.options()) {
            Ok(checker) => checker,
            Err(error) => {
                answer.reason = Some(unsupported(program, &error));
                answer.stats = Stats::of(subject, None);
                return answer;
            }
        };
        (answer.verdict, answer.reason) = Word::of(checker.verdict());
        for site in &subject.targets {
            let (verdict, _) = Word::of(checker.verdict_of(Some(site.node)));
            answer.targets.push(Target { place: Place::of(program, site), verdict });
        }
        if answer.verdict == Word::Unsafe {
            match checker.failing_run(None) {
                Ok(Some(run)) => {
                    let end = run.trace.last().node();
                    let site = subject.targets.iter().find(|site| Some(site.node) == end);
                    answer.error = site.map(|site| Place::of(program, site));
                    answer.trace = steps(program, &run.trace);
                    answer.shortest = Some(run.is_shortest);
                }
                Ok(None) => {}
                Err(stop) => answer.reason = Some(format!("no run can be shown, because {}", because(stop))),
            }
        }
        answer.stats = Stats::of(subject, Some(&checker));
        answer
    }
}
