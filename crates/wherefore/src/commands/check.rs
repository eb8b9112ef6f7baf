//! `wherefore check FILE`: can the program fail?

use std::io::Write;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use wherefore_check::exact::{CheckOptions, Checker};
use wherefore_check::refinement::diagrams::interpolants::Heuristic;
use wherefore_check::refinement::diagrams::{Cegar, CegarOptions, Drawing};
use wherefore_check::threads::{Way, eager};
use wherefore_check::{Answer, EngineChoice, Extent, Question, Why};

use super::explain::{EffortArgs, explained, screen};
use super::ltl;
use super::per::{self, Per};
use super::report::{CheckReport, Parts, Word};
use super::schedule::ScheduleArgs;
use super::summary::Detail;
use super::undecided::Undecided;
use super::{ProgramArgs, SearchArg, Subject, progress, text};
use crate::colour;
use crate::exit::{CliError, Exit, print};
use crate::limits::keep_answer;

/// Tell whether a program can fail, with a verdict for each check and a failing run.
#[derive(Args)]
#[command(after_help = crate::exit::SHORT_HELP, after_long_help = crate::exit::HELP)]
pub struct CheckArgs {
    #[command(flatten)]
    program: ProgramArgs,

    /// Ask whether a formula of linear temporal logic holds on all runs, instead of all checks.
    ///
    /// Ask whether a formula of linear temporal logic holds on all runs: `G (locked == 1 -> F
    /// locked == 0)`, `F end` (docs/ltl.md). Also for pushdown systems (.pds).
    #[arg(long, value_name = "FORMULA")]
    ltl: Option<String>,

    /// How to decide.
    #[arg(long, value_enum, default_value = "auto", hide_short_help = true)]
    engine: Engine,

    /// Which interpolants become predicates, in refinement with decision diagrams [default:
    /// assume-skip+conciliated].
    #[arg(long, value_name = "NAME", value_parser = heuristic_parser(), hide_short_help = true)]
    heuristic: Option<Heuristic>,

    /// Ask one by one, each question with its own time limit, and print a table.
    ///
    /// Ask about each function with checks alone, as the function where runs start; about each check
    /// alone; or about the whole program at once. Each question has the time limit for itself.
    #[arg(long, value_enum, value_name = "WHAT", help_heading = "C", conflicts_with_all = ["dump", "first_failure"])]
    per: Option<Per>,

    /// Stop at the first failing run, and leave other checks undecided.
    #[arg(long)]
    first_failure: bool,

    /// Show the invariants of a proof by refinement or induction, line by line. They have been
    /// checked.
    #[arg(long, hide_short_help = true)]
    invariants: bool,

    /// Show all steps of the failing run, not only those that matter.
    #[arg(long, help_heading = "C")]
    all_steps: bool,

    /// Show what refinement tracks at each location.
    #[arg(long, hide_short_help = true)]
    explain_abstraction: bool,

    /// Do not say where and why a C program fails; `wherefore explain` says more.
    #[arg(long, help_heading = "C")]
    no_explain: bool,

    /// Print the verdict only, in one line.
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,

    /// Print all checks, also those that hold, and how far each engine came.
    #[arg(short, long, conflicts_with_all = ["json", "quiet"])]
    verbose: bool,

    #[command(flatten)]
    schedules: ScheduleArgs,

    /// Print a stage of the work instead of an answer.
    #[arg(long, value_enum, value_name = "STAGE", hide_short_help = true)]
    dump: Option<Dump>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// Those that suit the program, side by side; the first verdict counts.
    Auto,
    /// Decision diagrams over all of the data; not for programs with memory.
    Exact,
    /// Abstraction refinement by interpolants.
    Cegar,
    /// All runs with a bounded number of iterations of each loop.
    Bounded,
    /// Runs with random inputs: finds failures, proves nothing.
    Random,
    /// k-induction from facts: ranges, equations, conditions that still hold.
    Induction,
    /// Property-directed reachability from these facts.
    Pdr,
    /// Decision diagrams over the variables that take few values; others are left open.
    Values,
    /// All states one by one, as far as constants go: proves only (C).
    States,
    /// The run of a program that takes no input, however long it is.
    Run,
    /// With threads: all configurations, one by one.
    Explicit,
    /// With threads: a bounded number of contexts as a sequential program, decided exactly.
    Eager,
    /// Programs with threads: all orders of the events of unrolled threads as one formula (C).
    Events,
    /// Programs with threads: invariants of pairs of threads; proves only (C).
    Modular,
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
    /// With threads: all schedules of two rounds (or --rounds) as a sequential program, as text.
    Sequential,
    /// The rules of the pushdown system.
    Pds,
    /// The saturated automaton, as a graph in the DOT language.
    Automaton,
    /// The spurious counterexamples of each iteration of refinement with their interpolants, as
    /// graphs in the DOT language.
    Dag,
}

/// Reads, decides, prints.
pub fn run(args: &CheckArgs, out: &mut impl Write) -> Result<Exit, CliError> {
    if args.quiet {
        progress::silence();
    }
    if let Some(formula) = &args.ltl {
        return ltl::run(args, formula, out);
    }
    if let Some(per) = args.per.filter(|per| *per != Per::Program) {
        return per::run(args, per, out);
    }
    let subject = args.program.load()?;
    if let Some(dump) = args.dump {
        return args.dump(&subject, dump, out);
    }
    let question = args.question(&subject)?;
    let answer = subject.answer(&question);
    let parts = Parts { predicates: args.explain_abstraction, invariants: args.invariants };
    let report = CheckReport::of(&subject, &answer, parts);
    let (name, exit) = (args.program.name(), report.verdict.exit());
    let text = match args.program.json {
        true => text::json(&report),
        false => {
            // Explanations may take long.
            let plain = args.style(&subject, &answer);
            keep_answer(text::check(&report, &name, &plain), exit);
            let explanation = args.explanation(&subject, &answer);
            text::check(&report, &name, &text::CheckStyle { explanation, ..plain })
        }
    };
    print(out, &text, exit)
}

impl CheckArgs {
    /// The program that is asked about.
    pub(super) fn program(&self) -> &ProgramArgs {
        &self.program
    }

    /// The first option of this command that was given and has no meaning for formulas.
    pub(super) fn given_beside_ltl(&self) -> Option<&'static str> {
        let options = [
            (self.engine != Engine::Auto, "--engine"),
            (self.heuristic.is_some(), "--heuristic"),
            (self.per.is_some(), "--per"),
            (self.first_failure, "--first-failure"),
            (self.invariants, "--invariants"),
            (self.all_steps, "--all-steps"),
            (self.explain_abstraction, "--explain-abstraction"),
            (self.no_explain, "--no-explain"),
            (self.verbose, "--verbose"),
            (self.dump.is_some(), "--dump"),
        ];
        let found = options.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option);
        found.or_else(|| self.schedules.given())
    }

    /// Whether only the verdict is printed.
    pub(super) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// The question that is asked; options that do not apply to the program are refused.
    pub(super) fn question(&self, subject: &Subject) -> Result<Question, CliError> {
        let wants_refinement = self.heuristic.is_some() || self.explain_abstraction;
        let backwards = self.program.search == SearchArg::Backwards;
        let engine = match self.engine {
            Engine::Auto if wants_refinement => EngineChoice::Refinement,
            Engine::Auto if self.invariants => EngineChoice::Invariants,
            Engine::Auto if backwards => EngineChoice::Exact,
            Engine::Auto => EngineChoice::Auto,
            Engine::Exact => EngineChoice::Exact,
            Engine::Cegar => EngineChoice::Refinement,
            Engine::Bounded => EngineChoice::Bounded,
            Engine::Random => EngineChoice::Random,
            Engine::Induction => EngineChoice::Induction,
            Engine::Pdr => EngineChoice::Reachability,
            Engine::Values => EngineChoice::SmallValues,
            Engine::States => EngineChoice::States,
            Engine::Run => EngineChoice::SingleRun,
            Engine::Explicit | Engine::Eager | Engine::Events | Engine::Modular => EngineChoice::Auto,
        };
        let refused = |what: &str| Err(self.program.question(what.to_owned()));
        if wants_refinement && engine != EngineChoice::Refinement {
            return refused("--heuristic and --explain-abstraction are for refinement (--engine cegar)");
        }
        if self.invariants
            && matches!(
                engine,
                EngineChoice::Exact
                    | EngineChoice::Bounded
                    | EngineChoice::Random
                    | EngineChoice::SmallValues
                    | EngineChoice::States
                    | EngineChoice::SingleRun
            )
        {
            return refused(
                "--invariants is for proofs by refinement or induction (--engine cegar, induction, pdr)",
            );
        }
        if backwards && engine != EngineChoice::Exact {
            return refused("--search backwards is for exact checking (--engine exact)");
        }
        if self.heuristic.is_some() && !subject.task.program.has_small_data() {
            return refused(
                "--heuristic is for refinement with decision diagrams: the data of this program are too large for them",
            );
        }
        if self.invariants && subject.task.program.has_small_data() {
            return refused(
                "--invariants is for refinement with a solver: the data of this program are small, and all reachable values are computed",
            );
        }
        let has_threads = subject.task.program.uses_threads().is_some();
        if let (false, Some(option)) = (has_threads, self.schedules.given()) {
            return refused(&format!("{option} is for programs with threads"));
        }
        let way = match self.engine {
            Engine::Auto => Some(Way::Auto),
            Engine::Explicit => Some(Way::Explicit),
            Engine::Eager => Some(Way::Eager),
            Engine::Exact
            | Engine::Cegar
            | Engine::Bounded
            | Engine::Induction
            | Engine::Pdr
            | Engine::Values
            | Engine::States
            | Engine::Run => None,
            Engine::Random => has_threads.then_some(Way::Random),
            Engine::Events => Some(Way::Events),
            Engine::Modular => Some(Way::Modular),
        };
        if !has_threads && matches!(way, Some(Way::Explicit | Way::Eager | Way::Events | Way::Modular)) {
            return refused("--engine explicit, eager, events and modular are for programs with threads");
        }
        let schedules = way.map(|way| self.schedules.search(way));
        let extent = if self.first_failure { Extent::FirstFailure } else { Extent::EveryCheck };
        Ok(Question { engine, heuristic: self.heuristic, extent, schedules, ..self.program.usual_question() })
    }

    /// Why a program in C fails, in a few lines.
    fn explanation(&self, subject: &Subject, answer: &Answer) -> Option<String> {
        let has_threads = subject.task.program.uses_threads().is_some();
        let is_wanted = !self.no_explain && !self.quiet && subject.task.is_c() && !has_threads;
        (is_wanted && Word::of(answer) == Word::Unsafe)
            .then(|| explained(&self.program, &EffortArgs::little(), subject, answer))
            .map(|explanation| wherefore_report::short(&explanation, &screen()))
    }

    fn style(&self, subject: &Subject, answer: &Answer) -> text::CheckStyle {
        let has_choice = self.engine != Engine::Auto;
        text::CheckStyle {
            all_steps: self.all_steps,
            explanation: None,
            undecided: Some(Undecided::of(&self.program, subject, answer, has_choice)),
            detail: self.detail(),
            colour: colour::is_wanted(),
        }
    }

    pub(super) fn detail(&self) -> Detail {
        match (self.quiet, self.verbose) {
            (true, _) => Detail::Verdict,
            (_, true) => Detail::All,
            _ => Detail::Usual,
        }
    }

    fn dump(&self, subject: &Subject, dump: Dump, out: &mut impl Write) -> Result<Exit, CliError> {
        let (program, checks) = (&subject.task.program, &subject.task.checks);
        let limits = subject.budget.limits();
        let refused =
            |error: wherefore_check::CheckError| self.program.question(Why::NotTaken(error).words(program));
        let checker = || {
            let options = CheckOptions { search: self.program.search(), limits: limits.clone() };
            Checker::new(program, checks, options).map_err(refused)
        };
        let shown = match dump {
            Dump::Cfa => Ok(program.dot()),
            Dump::Listing => Ok(program.listing()),
            Dump::Sequential => {
                let rounds = self.schedules.rounds().unwrap_or(2);
                Ok(eager::sequential(&subject.task, rounds).map_err(refused)?.listing())
            }
            Dump::Pds => Ok(checker()?.show_system()),
            Dump::Automaton => checker()?.show_automaton(),
            Dump::Dag => {
                let options = CegarOptions {
                    heuristic: self.heuristic.unwrap_or_default(),
                    limits: limits.clone(),
                    drawing: Drawing::Spurious,
                    ..CegarOptions::default()
                };
                let mut cegar = Cegar::new(program, checks, options).map_err(refused)?;
                match cegar.run(&mut |_| {}).decision {
                    wherefore_check::Decision::Unknown(stop) => Err(stop),
                    _ => Ok(cegar.pictures().concat()),
                }
            }
        };
        match shown {
            Ok(text) => print(out, &text, Exit::Negative),
            Err(stop) => {
                let text = format!("{}: unknown, because {}\n", self.program.name(), stop.why());
                print(out, &text, Exit::Unknown)
            }
        }
    }
}
