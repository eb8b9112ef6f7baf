//! `wherefore slice FILE`: what of a failing run matters?

use std::io::Write;

use clap::{Args, ValueEnum};
use serde::Serialize;
use wherefore_check::{Extent, Overall, Question, Verdict};
use wherefore_program::CallStack;

use super::report::{Place, Stats, Word};
use super::run::{RunStep, sliced_steps};
use super::schedule::ScheduleArgs;
use super::{ProgramArgs, Subject, text, threads};
use crate::exit::{CliError, Exit, print};

/// Show what of a failing run decides that it fails; all else could be left out.
#[derive(Args)]
pub struct SliceArgs {
    #[command(flatten)]
    program: ProgramArgs,

    /// Whether the calls that lead to the failure are part of the slice.
    #[arg(long, value_enum, default_value = "keep")]
    calls: Calls,

    #[command(flatten)]
    schedules: ScheduleArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Calls {
    /// They are.
    Keep,
    /// Only what the innermost procedure does is looked at. Incomplete: the slice may leave out
    /// what is needed.
    Skip,
}

/// The answer.
#[derive(Serialize)]
pub struct SliceReport {
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
    /// What the answer rests on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
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
    fn of((at, step): (usize, RunStep)) -> Self {
        Self { step: at + 1, file: step.file, line: step.line, procedure: step.procedure, text: step.text }
    }
}

/// Reads, decides, slices, prints.
pub fn run(args: &SliceArgs, out: &mut impl Write) -> Result<Exit, CliError> {
    let subject = args.program.load()?;
    if threads::has_threads(&args.program, &args.schedules, &subject)? {
        threads::refuse(&args.program, &[(args.calls == Calls::Skip, "--calls skip")])?;
        return threads::explain(&args.program, &args.schedules, &subject, threads::Depth::Slice, out);
    }
    let report = SliceReport::of(args, &subject);
    let text = match args.program.json {
        true => text::json(&report),
        false => text::slice(&report, &args.program.name()),
    };
    print(out, &text, report.verdict.exit())
}

impl SliceReport {
    fn of(args: &SliceArgs, subject: &Subject) -> Self {
        let question = Question { extent: Extent::FirstFailure, ..args.program.usual_question() };
        let answer = subject.answer(&question);
        let program = &subject.task.program;
        let mut report = Self {
            verdict: Word::of(&answer),
            reason: match answer.decision() {
                Overall::Unknown(why) => Some(why.words(program)),
                Overall::Safe => subject.nothing_to_check(),
                Overall::Unsafe(_) => None,
            },
            vacuous: subject.vacuity.is_some(),
            error: None,
            steps: None,
            slice: Vec::new(),
            assumptions: subject.task.assumptions_in_words(),
            stats: Stats::of(subject, answer.facts.size),
        };
        if let Some(run) = answer.verdicts.iter().find_map(Verdict::run) {
            report.error = Some(Place::of(program, &subject.task.checks[run.target], Some(run)));
            report.reason = run.too_long();
            if report.reason.is_some() {
                return report;
            }
            let call_stack = match args.calls {
                Calls::Keep => CallStack::Keep,
                Calls::Skip => CallStack::Skip,
            };
            let steps = sliced_steps(&subject.task, run, call_stack);
            report.steps = Some(steps.len());
            let taken = steps.into_iter().enumerate().filter(|(_, step)| step.matters == Some(true));
            report.slice = taken.map(SliceStep::of).collect();
        }
        report
    }
}
