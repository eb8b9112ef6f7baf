//! `wherefore flow FILE`: what holds at the lines of a program?
//!
//! `mod.rs`: arguments and the analyses; `answer.rs`: the facts of lines as data; `text.rs`: beside
//! the source. `can.rs`: whether a condition can hold at a line.

mod answer;
mod can;
mod text;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use wherefore_facts::{Analysed, Domain, Line, NoAnalysis, Stacks, verify};
use wherefore_flow::{Cells, Ranges};
use wherefore_frontend::load;
use wherefore_program::{Program, Scalar, Task, Type};

use super::c::{CArgs, Loaded};
use crate::exit::{CliError, Exit, print};
use crate::limits::{DEFAULT_FOR_C, LimitArgs};
use answer::FlowReport;

/// Show what holds at the lines of a program: constants, equations, congruences, bounds.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct FlowArgs {
    /// The program: C (.c, .i, a folder of .c files, or - for standard input), Cimple (.cimple), a
    /// Boolean program (.bp) or a Remopla file (.rem).
    #[arg(required_unless_present = "project")]
    file: Option<PathBuf>,

    /// Further files of a C program.
    #[arg(value_name = "FILES")]
    more: Vec<PathBuf>,

    /// The procedure where execution starts, instead of `main` or what FILE names.
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,

    /// What to look for, separated by commas: `constants`, `affine` (equations over the integers),
    /// `affine:8`, `affine:16`, `affine:32`, `affine:64` (equations and congruences in the
    /// arithmetic of the machine), `intervals`, `uninitialised`, `live`, `reaching`; or `auto`:
    /// what is cheap and worth showing.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "auto")]
    domain: Vec<Wanted>,

    /// Show only what holds before this line: a number, or FILE:LINE.
    #[arg(long, value_name = "LINE")]
    at: Option<String>,

    /// Show only facts about these variables, and nothing that others are needed for.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    vars: Option<Vec<String>>,

    /// Show all facts at every line, also those that held at the line before.
    #[arg(long)]
    all: bool,

    /// With --at: what holds there with this stack of calls, the innermost first: `g:17 main:40`,
    /// or `17 ..` for a call on line 17 and any calls below.
    #[arg(long, value_name = "CALLS", requires = "at")]
    stack: Option<String>,

    /// With --at: can this condition, an expression of C, hold before that line? The answer is yes
    /// with a run, no with a proof, or unknown (C).
    #[arg(long, value_name = "CONDITION", requires = "at", conflicts_with_all = ["stack", "vars", "all"])]
    can: Option<String>,

    /// Print facts that were not confirmed by the solver, too.
    #[arg(long)]
    no_verify_facts: bool,

    /// Print the answer as JSON (docs/flow.md).
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    limits: LimitArgs,

    #[command(flatten)]
    c: CArgs,
}

const EXAMPLES: &str = "\
Examples:
  wherefore flow odometer.c
  wherefore flow odometer.c --domain affine:32 --vars miles,legs
  wherefore flow odometer.c --at 17
  wherefore flow server.c --at 40 --stack 'handle:17 ..' --domain constants
  wherefore flow server.c --at 40 --can 'length == 0'

Exit codes:
  0   facts were printed; with --can: no, which is proved
  10  with --can: yes, a run was found
  5   unknown: a limit was reached
  2   bad input or usage";

/// A domain, or those that are worth it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Auto,
    Domain(Domain),
}

impl FromStr for Wanted {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        if name == "auto" {
            return Ok(Wanted::Auto);
        }
        name.parse().map(Wanted::Domain).map_err(|error: String| {
            format!(
                "{error}; there are auto, constants, affine, affine:8, affine:16, affine:32, affine:64, \
                 intervals, uninitialised, live, reaching"
            )
        })
    }
}

/// How long facts are checked if no time limit is given.
const CHECKING: Duration = Duration::from_secs(20);

/// How often memory at known addresses is split into variables.
const SPLITS: usize = 3;

/// Reads, analyses, verifies, prints.
pub fn run(args: &mut FlowArgs, out: &mut impl Write) -> Result<Exit, CliError> {
    let (name, is_json) = (args.name(), args.json);
    args.limits.guard(move |reason| super::unknown(&name, is_json, reason));
    if let Some(condition) = args.can.take() {
        return can::run(args, condition, out);
    }
    let task = args.load()?;
    let program = with_cells(&task.program);
    if program.uses_threads().is_some() {
        return Err(args.question(NoAnalysis::Threads.to_string()));
    }
    let line = args.at.as_deref().map(|at| args.line(&program, at)).transpose()?;
    if let Some(names) = &args.vars {
        let known = answer::names(&program);
        if let Some(unknown) = names.iter().find(|name| !known.contains(*name)) {
            return Err(args.question(format!("there is no variable `{unknown}`")));
        }
    }
    let stacks = args.stack.as_deref().map(|text| Stacks::parse(text, &program)).transpose();
    let stacks = stacks.map_err(|error| args.question(format!("--stack: {error}")))?;
    let (analyses, notes) = args.analyses(&program)?;
    if stacks.is_some() {
        let named = |domain: Domain| args.domain.contains(&Wanted::Domain(domain));
        let without = analyses.iter().find(|analysis| !analysis.knows_stacks() && named(analysis.domain()));
        if let Some(analysis) = without {
            let domain = analysis.domain();
            return Err(args.question(format!("--stack: {domain} is known for all stacks together only")));
        }
    }
    let verified = (!args.no_verify_facts && stacks.is_none())
        .then(|| verify(&program, &analyses, args.limits.limits().time.map_or(CHECKING, |time| time / 2)));
    let mut report = FlowReport::new(&task, notes);
    answer::collect(
        &mut report,
        &program,
        &analyses,
        verified.as_ref(),
        &answer::Choice {
            line,
            stacks: stacks.as_ref().zip(args.stack.as_deref()),
            names: args.vars.as_deref(),
            checks: !args.no_verify_facts,
        },
    );
    let text = match args.json {
        true => super::text::json(&report),
        false => text::show(&report, &program, line, args.all),
    };
    print(out, &text, Exit::Negative)
}

/// The program with variables in the place of memory whose addresses are known. Locations keep
/// their numbers.
fn with_cells(program: &Program) -> Program {
    let mut program = program.clone();
    for _ in 0..SPLITS {
        let ranges = if program.uses_memory().is_some() { Ranges::new(&program) } else { None };
        match ranges.and_then(|ranges| Cells::new(&program, &ranges)) {
            Some(cells) => program = cells.program,
            None => break,
        }
    }
    program
}

impl FlowArgs {
    fn name(&self) -> String {
        let mut files = self.file.iter().chain(&self.c.project).map(|path| path.display().to_string());
        files.next().unwrap_or_default()
    }

    fn question(&self, message: String) -> CliError {
        CliError::Question { file: self.name(), message }
    }

    fn load(&self) -> Result<Task, CliError> {
        let file = self.file.as_deref().unwrap_or(Path::new(""));
        if self.file.is_none() || CArgs::applies_to(file) {
            let files: Vec<PathBuf> = self.file.iter().chain(&self.more).cloned().collect();
            return match self.c.load_without_rules(&files, self.entry.as_deref())? {
                Loaded::Task(loaded) => Ok(loaded.0),
                Loaded::NotDecided(why) => Err(self.question(why)),
            };
        }
        if let Some(option) = self.c.given().next() {
            return Err(self.question(format!("{option} is for C programs")));
        }
        if let Some(other) = self.more.first() {
            return Err(self.question(format!("`{}` is one file too many", other.display())));
        }
        Ok(load(file, self.entry.as_deref())?)
    }

    /// The analyses that were asked for. One that was named must be possible; of those that `auto`
    /// chooses, a note says which are not.
    fn analyses<'a>(&self, program: &'a Program) -> Result<(Vec<Analysed<'a>>, Vec<String>), CliError> {
        let (mut analyses, mut notes) = (Vec::new(), Vec::new());
        let mut limits = self.limits.limits();
        limits.time = limits.time.or(Some(DEFAULT_FOR_C));
        for wanted in &self.domain {
            let domains = match wanted {
                Wanted::Domain(domain) => vec![*domain],
                Wanted::Auto => automatic(program),
            };
            for domain in domains {
                if analyses.iter().any(|analysis: &Analysed<'_>| analysis.domain() == domain) {
                    continue;
                }
                match Analysed::new(program, domain, &limits) {
                    Ok(analysis) => analyses.push(analysis),
                    Err(why) if *wanted == Wanted::Auto => notes.push(format!("{domain}: {why}")),
                    Err(why @ NoAnalysis::Stopped(_)) => {
                        let answer = super::unknown(&self.name(), self.json, &format!("{domain}: {why}"));
                        return Err(CliError::NotDecided { answer });
                    }
                    Err(why) => return Err(self.question(format!("{domain}: {why}"))),
                }
            }
        }
        Ok((analyses, notes))
    }

    /// The file and the number that `--at` names.
    fn place<'a>(&self, at: &'a str) -> Result<(Option<&'a str>, u32), CliError> {
        let (file, number) = match at.rsplit_once(':') {
            Some((file, number)) => (Some(file), number),
            None => (None, at),
        };
        let number = number
            .parse()
            .map_err(|_| self.question(format!("--at: `{at}` is neither a line nor FILE:LINE")))?;
        Ok((file, number))
    }

    /// The line that `--at` names.
    fn line(&self, program: &Program, at: &str) -> Result<Line, CliError> {
        let (file, number) = self.place(at)?;
        let points = wherefore_facts::points(program);
        let is_file = |index: u32| {
            let name = Path::new(program.sources[index as usize].name());
            file.is_none_or(|file| name.ends_with(file) || name == Path::new(file))
        };
        let files: BTreeSet<u32> =
            points.keys().map(|(file, _)| *file).filter(|file| is_file(*file)).collect();
        if files.is_empty() {
            return Err(
                self.question(format!("--at: no file of the program is called `{}`", file.unwrap_or("")))
            );
        }
        let line = files.iter().map(|file| (*file, number)).find(|line| points.contains_key(line));
        line.ok_or_else(|| {
            let nearest = points
                .keys()
                .filter(|(file, _)| files.contains(file))
                .min_by_key(|(_, line)| line.abs_diff(number))
                .map_or(String::new(), |(_, line)| format!("; the nearest line that has one is {line}"));
            self.question(format!("--at: line {number} has no statement{nearest}"))
        })
    }
}

/// What is cheap for a program.
fn automatic(program: &Program) -> Vec<Domain> {
    let locals = program.procedures.iter().flat_map(|procedure| &procedure.variables);
    let has = |width: u32| {
        program.globals.iter().chain(locals.clone()).any(|variable| {
            variable.ty == Type::Scalar(Scalar::Bits(width)) && !variable.pointer && !variable.float
        })
    };
    let widths = [32, 64].into_iter().filter(|width| has(*width)).map(Domain::Modular);
    [Domain::Constants].into_iter().chain(widths).chain([Domain::Intervals]).collect()
}
