//! `wherefore slice FILE`: what of a failing run matters?

use std::io::Write;

use clap::{Args, ValueEnum};
use serde::Serialize;
use wherefore_check::exact::Search;
use wherefore_check::{Way, decide};
use wherefore_program::{CallStack, EdgeRef, PathSlicer, Program, Record, SliceOptions, Stops};

use super::trust::{Trusted, trusted};
use super::{Place, ProgramArgs, Stats, Subject, Word, print, render, unsupported};
use crate::exit::{CliError, Exit};

/// Show what of a failing run decides that it fails; all else could be left out.
#[derive(Args)]
pub struct SliceArgs {
    #[command(flatten)]
    program: ProgramArgs,

    /// Whether the calls that lead to the failure are part of the slice.
    #[arg(long, value_enum, default_value = "keep")]
    calls: Calls,
}

#[derive(Clone, Copy, ValueEnum)]
enum Calls {
    /// They are.
    Keep,
    /// Only what the innermost procedure does is looked at. Incomplete: the slice may leave out what is needed.
    Skip,
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
    pub error: Option<Place>,
    /// How many steps the run has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<usize>,
    pub slice: Vec<SliceStep>,
    pub stats: Stats,
}

/// A step that matters.
#[derive(Serialize)]
pub struct SliceStep {
    /// Its place in the run, from 1.
    pub step: usize,
    pub file: String,
    pub line: u32,
    pub procedure: String,
    pub text: String,
}

impl SliceStep {
    fn of(program: &Program, step: usize, edge: EdgeRef) -> Self {
        let span = program.edge(edge).span;
        let source = program.source(span);
        let text = source.slice(span).lines().next().unwrap_or_default().trim().to_owned();
        Self {
            step: step + 1,
            file: source.name().to_owned(),
            line: program.position(span).line,
            procedure: program.procedure(edge.procedure).name.clone(),
            text,
        }
    }
}

/// Reads, decides, slices, prints.
pub fn run(args: &SliceArgs, out: &mut impl Write) -> Result<Exit, CliError> {
    let subject = args.program.load()?;
    let answer = Answer::find(args, &subject);
    let text =
        if args.program.json { render::json(&answer) } else { render::slice(&answer, &args.program.name()) };
    print(out, &text, answer.verdict.exit())
}

impl Answer {
    fn find(args: &SliceArgs, subject: &Subject) -> Self {
        let mut answer = Self {
            verdict: Word::Unknown,
            reason: None,
            vacuous: subject.vacuity.is_some(),
            error: None,
            steps: None,
            slice: Vec::new(),
            stats: Stats::of(subject, (0, 0, 0)),
        };
        match failing_path(args, subject) {
            Ok((verdict, reason, path)) => {
                (answer.verdict, answer.reason) = (verdict, reason);
                if answer.verdict == Word::Safe {
                    answer.reason = subject.nothing_to_check();
                }
                if let Some((path, target)) = path {
                    answer.error = target
                        .and_then(|at| subject.targets.get(at))
                        .map(|site| Place::of(&subject.program, site));
                    answer.fill(args, &subject.program, &path);
                }
            }
            Err(message) => answer.reason = Some(message),
        }
        answer.stats = Stats::of(subject, (0, 0, 0));
        answer
    }

    fn fill(&mut self, args: &SliceArgs, program: &Program, path: &[EdgeRef]) {
        let call_stack = match args.calls {
            Calls::Keep => CallStack::Keep,
            Calls::Skip => CallStack::Skip,
        };
        let options = SliceOptions { call_stack, record: Record::Nothing };
        let mut slicer = PathSlicer::with_stops(program, Stops::LikeExits);
        let all = &mut |_| std::ops::ControlFlow::Continue(());
        match slicer.slice_with(path, options, all) {
            Ok(slice) => {
                self.steps = Some(path.len());
                self.slice =
                    slice.taken.iter().map(|step| SliceStep::of(program, *step, path[*step])).collect();
            }
            Err(error) => self.reason = Some(error.to_string()),
        }
    }
}

/// The edges of a failing run, and the place that it reaches.
type Found = (Word, Option<String>, Option<(Vec<EdgeRef>, Option<usize>)>);

fn failing_path(args: &SliceArgs, subject: &Subject) -> Result<Found, String> {
    let limits = args.program.options().limits;
    let (program, targets) = (&subject.program, &subject.targets);
    if subject.rest.is_some() {
        let Trusted { verdict, reason, decided, .. } =
            trusted(&args.program, subject, Default::default(), |_| {});
        let path = decided.failure.map(|failure| (failure.path, Some(failure.target)));
        return Ok((verdict, reason, path));
    }
    let decision = decide(program, targets, Way::Exact(Search::Forwards), &limits, &mut |_| {})
        .map_err(|error| unsupported(program, &error))?;
    let path = decision.run.map(|run| {
        let end = run.trace.last().node();
        let target = targets.iter().position(|site| Some(site.node) == end);
        (run.trace.steps.iter().map(|step| step.edge).collect(), target)
    });
    let (verdict, reason) = Word::of(decision.verdict);
    Ok((verdict, reason, path))
}
