//! `wherefore trace FILE… --crash BACKTRACE`: how did the program get to a crash?
//!
//! `mod.rs`: arguments; `answer.rs`: the answer as data; `text.rs`: in words.

mod answer;
mod text;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use wherefore_check::{Budget, Replaying, Session};
use wherefore_frontend::load;
use wherefore_program::Task;
use wherefore_pushdown::Limits;
use wherefore_trace::{
    Backtrace, Clue, Clues, Coverage, Effort, Evidence, MOST_IN_ORDER, MOST_LINES, Origin, Outcome, Place,
    Subject, fit, has_steps, logged, search, trace,
};

use super::c::{CArgs, Loaded};
use super::progress::LiveLine;
use crate::exit::{CliError, Exit, print};
use crate::limits::{DEFAULT_FOR_C, LimitArgs};
use answer::TraceReport;

/// Show how a program got to a crash: a path or a run that ends in the stack of a backtrace.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct TraceArgs {
    /// The program: C (.c, .i, a folder of .c files, or - for standard input), Cimple (.cimple), a
    /// Boolean program (.bp) or a Remopla file (.rem).
    #[arg(required_unless_present = "project")]
    file: Option<PathBuf>,

    /// Further files of a C program.
    #[arg(value_name = "FILES")]
    more: Vec<PathBuf>,

    /// The backtrace: what gdb or lldb print (`bt`), a report of AddressSanitizer or
    /// UndefinedBehaviorSanitizer, lines of `backtrace_symbols` or `addr2line -fp`.
    #[arg(long, value_name = "BACKTRACE")]
    crash: PathBuf,

    /// The procedure where execution starts, instead of `main` or what FILE names.
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,

    /// The run visits this line: a number, or FILE:LINE; can be given several times.
    #[arg(long, value_name = "LINE")]
    visit: Vec<String>,

    /// The lines of --visit are visited in the order in which they are given.
    #[arg(long, requires = "visit")]
    order: bool,

    /// The run may have visited this line: as many of them as possible are visited.
    #[arg(long, value_name = "LINE")]
    prefer: Vec<String>,

    /// The run does not visit this line.
    #[arg(long, value_name = "LINE")]
    avoid: Vec<String>,

    /// Which lines were run (lcov's .info, or the JSON of gcov): those that never were are not
    /// visited, of the others as many as possible are.
    #[arg(long, value_name = "FILE")]
    coverage: Option<PathBuf>,

    /// What the run has written: its lines are matched with the formats of `printf`, `puts`,
    /// `syslog` and the like, and visited in their order, as far as possible.
    #[arg(long, value_name = "FILE", conflicts_with = "order")]
    log: Option<PathBuf>,

    /// A function of the program that writes its format to the log, too; can be given several
    /// times.
    #[arg(long, value_name = "NAME", requires = "log")]
    log_function: Vec<String>,

    /// Look for a path only, and do not ask whether it can be run.
    #[arg(long)]
    path_only: bool,

    /// Show all steps, also those of calls that have returned.
    #[arg(long)]
    all_steps: bool,

    /// Print the answer as JSON (docs/traces.md).
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    limits: LimitArgs,

    #[command(flatten)]
    c: CArgs,
}

const EXAMPLES: &str = "\
Exit codes: 10 a run ends in this stack, 0 none does, 5 not decided, 2 bad input

Examples:
  wherefore trace list.c --crash gdb.txt
  wherefore trace *.c --crash asan.txt --harness crash.c
  wherefore trace server.c --crash gdb.txt --visit 40 --visit 17 --order";

/// Reads, searches, decides, prints.
pub fn run(args: &TraceArgs, out: &mut impl Write) -> Result<Exit, CliError> {
    let (name, is_json) = (args.name(), args.json);
    args.limits.guard(move |reason| super::unknown(&name, is_json, reason));
    let mut budget = Budget::from_limits(&args.limits.limits());
    if args.limits.timeout().is_none() {
        budget = budget.within(DEFAULT_FOR_C);
    }
    let backtrace = args.backtrace()?;
    let plain = args.load(false)?;
    if plain.program.uses_threads().is_some() {
        return Err(args.question("programs with threads are not traced".to_owned()));
    }
    let checked = if plain.is_c() && !args.path_only { Some(args.load(true)?) } else { None };
    let (clues, notes) = args.clues(&plain, &backtrace)?;
    let prover = args.c.prover()?;
    let live = LiveLine::new();
    let session = Session::new(prover).with_listener(move |progress| live.show(progress));
    let replaying: Replaying = args.c.replaying();
    let effort = Effort {
        limits: &args.path_limits(),
        budget: &budget,
        session: &session,
        replaying: &replaying,
        wants_run: !args.path_only,
    };
    let subject = Subject { plain: &plain, checked: checked.as_ref() };
    let traced = trace(subject, &backtrace, &clues, &effort);
    let report = TraceReport::new(subject, &backtrace, &clues, &traced, notes);
    let text = match args.json {
        true => super::text::json(&report),
        false => text::show(&report, &args.name(), args.all_steps),
    };
    let exit = match &traced.outcome {
        Outcome::Feasible { .. } => Exit::Positive,
        Outcome::None(_) => Exit::Negative,
        Outcome::Open(_) => Exit::Unknown,
    };
    print(out, &text, exit)
}

/// The text of a file.
fn read(file: &Path) -> Result<String, CliError> {
    let bytes = std::fs::read(file);
    let bytes = bytes.map_err(|error| CliError::File { file: file.display().to_string(), error })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

impl TraceArgs {
    fn name(&self) -> String {
        let mut files = self.file.iter().chain(&self.c.project).map(|path| path.display().to_string());
        files.next().unwrap_or_default()
    }

    /// What the search for a path may take.
    fn path_limits(&self) -> Limits {
        let limits = self.limits.limits();
        Limits { time: limits.time.or(Some(DEFAULT_FOR_C)), ..limits }
    }

    fn question(&self, message: String) -> CliError {
        CliError::Question { file: self.name(), message }
    }

    fn backtrace(&self) -> Result<Backtrace, CliError> {
        Backtrace::parse(&read(&self.crash)?)
            .map_err(|error| CliError::Mistake(format!("{}:{error}", self.crash.display())))
    }

    fn load(&self, with_rules: bool) -> Result<Task, CliError> {
        let file = self.file.as_deref().unwrap_or(Path::new(""));
        if self.file.is_none() || CArgs::applies_to(file) {
            let files: Vec<PathBuf> = self.file.iter().chain(&self.more).cloned().collect();
            let entry = self.entry.as_deref();
            let loaded = match with_rules {
                true => self.c.load(&files, entry, None)?,
                false => self.c.load_without_rules(&files, entry)?,
            };
            return match loaded {
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

    /// What is known of the run, and notes on what is not used of it.
    fn clues(&self, task: &Task, backtrace: &Backtrace) -> Result<(Clues, Vec<String>), CliError> {
        let named = |option: &str, lines: &[String]| -> Result<Vec<Clue>, CliError> {
            let places = lines.iter().map(|line| self.place(task, option, line));
            let clue = |place| Clue { places: vec![place], origin: Origin::Named };
            places.map(|place| place.map(clue)).collect()
        };
        let mut notes = Vec::new();
        let mut clues = Clues { should: named("--prefer", &self.prefer)?, ..Clues::default() };
        let visited = named("--visit", &self.visit)?;
        match self.order {
            true => (clues.order, clues.order_is_must) = (visited, true),
            false => clues.must = visited,
        }
        for line in &self.avoid {
            clues.never.push(self.place(task, "--avoid", line)?);
        }
        if clues.must.len() + clues.should.len() > MOST_LINES || clues.order.len() > MOST_IN_ORDER {
            return Err(self.question(format!(
                "at most {MOST_LINES} lines can be named without an order, and {MOST_IN_ORDER} with one"
            )));
        }
        let program = &task.program;
        if let Some(file) = &self.log {
            let logged = logged(program, &read(file)?, &self.log_function);
            let name = file.display();
            if logged.unmatched > 0 {
                let lines = if logged.unmatched == 1 { "line matches" } else { "lines match" };
                notes.push(format!("{name}: {} {lines} no format of the program", logged.unmatched));
            }
            if logged.left_out > 0 {
                notes.push(format!(
                    "{name}: of the lines that match, the first {} are left out",
                    logged.left_out
                ));
            }
            clues.order = logged.clues;
        }
        if let Some(file) = &self.coverage {
            let coverage = Coverage::parse(&read(file)?)
                .map_err(|error| CliError::Mistake(format!("{}:{error}", file.display())))?;
            // What the best path visits without it need not be weighed.
            let on_path = fit(program, backtrace).ok().and_then(|fitted| {
                let evidence = Evidence::new(program, &clues, &[]);
                search(program, &fitted, &evidence, &self.path_limits()).ok()?.path
            });
            let nodes = on_path.map_or(Vec::new(), |path| path.nodes(program));
            let left = coverage.add_to(program, &mut clues, &nodes);
            if left > 0 {
                notes.push(format!(
                    "{}: {left} more stretches of lines were run, and are not weighed",
                    file.display()
                ));
            }
        }
        Ok((clues, notes))
    }

    /// A line of the program.
    fn place(&self, task: &Task, option: &str, text: &str) -> Result<Place, CliError> {
        let first = || task.program.sources.first().map_or(String::new(), |source| source.name().to_owned());
        let (file, number) = match text.rsplit_once(':') {
            Some((file, number)) => (file.to_owned(), number),
            None => (first(), text),
        };
        let line: u32 = number
            .parse()
            .map_err(|_| self.question(format!("{option}: `{text}` is neither a line nor FILE:LINE")))?;
        let place = (file, line);
        match has_steps(&task.program, &place) {
            true => Ok(place),
            false => Err(self.question(format!("{option}: {}:{line} has no statement", place.0))),
        }
    }
}
