//! `wherefore pds FILE`: questions to pushdown systems.

mod answer;
mod relation;
mod render;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueEnum};
use wherefore_frontend::pds::{PdsFile, Sets, Source, read_str_with};
use wherefore_pushdown::{Automaton, Direction, Limits, Method, Order, Strategy};

use crate::exit::{CliError, Exit, print};
use crate::limits::LimitArgs;
use answer::Answer;

/// Ask whether a pushdown system can reach a configuration, how, and through which nodes.
///
/// FILE is a system in PDAAAL's JSON format, in the plain `pds` format, or in the readable format
/// of docs/pds-format.md; the format is recognised by its content.
#[derive(Args)]
pub struct PdsArgs {
    /// The pushdown system.
    file: PathBuf,

    /// Start configurations, as in `<p, main>`; takes the place of those in FILE.
    #[arg(long, value_name = "SET", conflicts_with = "start_file")]
    start: Option<String>,

    /// Target configurations, as in `<p, error .*>` or just `error .*`; takes the place of those in
    /// FILE.
    #[arg(long, value_name = "SET", conflicts_with = "target_file")]
    target: Option<String>,

    /// A file with the start configurations: a P-automaton in JSON, or a set.
    #[arg(long, value_name = "FILE")]
    start_file: Option<PathBuf>,

    /// A file with the target configurations: a P-automaton in JSON, or a set.
    #[arg(long, value_name = "FILE")]
    target_file: Option<PathBuf>,

    /// Print a shortest run from start to target.
    #[arg(long)]
    trace: bool,

    /// Print which nodes lie on some run from start to target, and which on none.
    #[arg(long)]
    projection: bool,

    /// With `weights relation`: print the stores that occur at each node on runs from start to
    /// target.
    #[arg(long)]
    stores: bool,

    /// Print the saturated automaton in the DOT language instead of an answer in words.
    #[arg(long, conflicts_with_all = ["json", "trace", "projection", "stores"])]
    dot: bool,

    /// From which end to search.
    #[arg(long, value_enum, default_value = "post")]
    strategy: StrategyArg,

    /// How to solve for weights.
    #[arg(long, value_enum, default_value = "auto")]
    method: MethodArg,

    /// In which order the worklist is taken.
    #[arg(long, value_enum, default_value = "fifo")]
    order: OrderArg,

    /// Print the answer as JSON (docs/json.md).
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    limits: LimitArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum StrategyArg {
    /// Forwards from the start.
    Post,
    /// Backwards from the target.
    Pre,
    /// From both ends at once (reachability only; otherwise as post).
    Both,
}

#[derive(Clone, Copy, ValueEnum)]
enum MethodArg {
    /// Path expressions where they pay, else a worklist.
    Auto,
    /// Saturation with a worklist.
    Worklist,
    /// Path expressions.
    Paths,
}

#[derive(Clone, Copy, ValueEnum)]
enum OrderArg {
    /// First in, first out.
    Fifo,
    /// Last in, first out.
    Lifo,
    /// Smallest weight first, then in the order of the program.
    Priority,
}

/// What is asked of a system.
pub struct Question {
    pub start: Automaton<()>,
    pub target: Automaton<()>,
    pub trace: bool,
    pub projection: bool,
    pub stores: bool,
    pub strategy: Strategy,
    pub method: Method,
    pub order: Order,
    pub limits: Limits,
    /// When the command began: the time limit is for all of it.
    pub begin: Instant,
}

impl Question {
    /// The direction of a search that can go only one way.
    pub fn direction(&self) -> Direction {
        match self.strategy {
            Strategy::Pre => Direction::Pre,
            Strategy::Post | Strategy::BothEnds => Direction::Post,
        }
    }
}

/// Reads, decides, prints.
pub fn run(args: &PdsArgs, out: &mut impl Write) -> Result<Exit, CliError> {
    let begin = Instant::now();
    let is_json = args.json;
    args.limits.guard(move |reason| match is_json {
        true => format!("{}\n", serde_json::json!({ "answer": "unknown", "reason": reason })),
        false => format!("unknown, because {reason}\n"),
    });
    let file = args.load()?;
    let loaded = begin.elapsed();
    let question = args.question(&file, begin)?;
    let name = args.file.display().to_string();
    if args.dot {
        return match answer::dot(&file, &question, &name)? {
            Ok(graph) => print(out, &graph, Exit::Negative),
            Err(stop) => {
                eprintln!("unknown, because {}", stop.why());
                Ok(Exit::Unknown)
            }
        };
    }
    let mut answer = Answer::find(&file, &question, &name)?;
    answer.stats.load_seconds = loaded.as_secs_f64();
    answer.stats.seconds = begin.elapsed().as_secs_f64();
    let text = if args.json { render::json(&answer) } else { render::text(&answer) };
    print(out, &text, answer.exit())
}

impl PdsArgs {
    fn load(&self) -> Result<PdsFile, CliError> {
        let text = read(&self.file)?;
        let start = self.start_file.as_deref().map(read).transpose()?;
        let target = self.target_file.as_deref().map(read).transpose()?;
        let name = self.file.display().to_string();
        let file_name = |path: &Option<PathBuf>| {
            path.as_ref().map_or_else(String::new, |path| path.display().to_string())
        };
        let (start_name, target_name) = (file_name(&self.start_file), file_name(&self.target_file));
        let sets = Sets {
            start: match (&self.start, &start) {
                (Some(text), _) => Some(Source { name: "--start", text }),
                (_, Some(text)) => Some(Source { name: &start_name, text }),
                _ => None,
            },
            target: match (&self.target, &target) {
                (Some(text), _) => Some(Source { name: "--target", text }),
                (_, Some(text)) => Some(Source { name: &target_name, text }),
                _ => None,
            },
        };
        Ok(read_str_with(Source { name: &name, text: &text }, sets)?)
    }

    fn question(&self, file: &PdsFile, begin: Instant) -> Result<Question, CliError> {
        let missing = |what: &str| CliError::Question {
            file: self.file.display().to_string(),
            message: format!(
                "no {what} configurations: the file names none, so give --{what} or --{what}-file"
            ),
        };
        Ok(Question {
            start: file.start.clone().ok_or_else(|| missing("start"))?,
            target: file.target.clone().ok_or_else(|| missing("target"))?,
            trace: self.trace,
            projection: self.projection,
            stores: self.stores,
            strategy: match self.strategy {
                StrategyArg::Post => Strategy::Post,
                StrategyArg::Pre => Strategy::Pre,
                StrategyArg::Both => Strategy::BothEnds,
            },
            method: match self.method {
                MethodArg::Auto => Method::Auto,
                MethodArg::Worklist => Method::Worklist,
                MethodArg::Paths => Method::PathExpressions,
            },
            order: match self.order {
                OrderArg::Fifo => Order::Fifo,
                OrderArg::Lifo => Order::Lifo,
                OrderArg::Priority => Order::Priority,
            },
            limits: self.limits.limits(),
            begin,
        })
    }
}

fn read(path: &Path) -> Result<String, CliError> {
    let file = path.display().to_string();
    let bytes = fs::read(path).map_err(|error| CliError::File { file: file.clone(), error })?;
    String::from_utf8(bytes).map_err(|error| CliError::Question {
        file,
        message: format!("byte {} is not UTF-8 text", error.utf8_error().valid_up_to()),
    })
}
