//! What is asked of C programs only: how they are read, what their answers rest on, and replay.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use wherefore_check::harness::{self, Case, Errors, Feed, FeedType, Replay, Replayed};
use wherefore_check::{NoProver, Prover};
use wherefore_frontend::c::{self, Assumption, DataModel, ErrorLabels, Input, Mentions, Options, Question};
use wherefore_program::{ErrorKind, ErrorSite, LocationKind, Program, Trace};

use crate::exit::CliError;

/// How C is read.
#[derive(Args)]
pub struct CArgs {
    /// How wide the types of C are.
    #[arg(long, value_enum, value_name = "MODEL", help_heading = "C")]
    data_model: Option<Model>,

    /// What is an error, as an SV-COMP property file (.prp).
    #[arg(long, value_name = "FILE", help_heading = "C")]
    property: Option<PathBuf>,

    /// Count calls of this function as errors, and nothing else; can be given several times.
    #[arg(long, value_name = "NAME", help_heading = "C")]
    error_function: Vec<String>,

    /// Count this label as an error, and nothing else; can be given several times.
    #[arg(long, value_name = "NAME", help_heading = "C", conflicts_with = "error_function")]
    error_label: Vec<String>,

    /// Count failed assertions as errors, and nothing else.
    #[arg(long, help_heading = "C", conflicts_with = "error_function")]
    assertions: bool,

    /// Let malloc and the like return NULL.
    #[arg(long, help_heading = "C")]
    malloc_may_fail: bool,

    /// Define a macro for the preprocessor.
    #[arg(short = 'D', value_name = "MACRO", help_heading = "C")]
    define: Vec<String>,

    /// Let this solver check proofs instead of the embedded one: `z3`, or the command line of any that reads SMT-LIB 2. What it does
    /// not accept is no proof.
    #[arg(long, value_name = "COMMAND", help_heading = "C")]
    solver: Option<String>,

    /// Do not run the compiled program with the inputs of a failing run.
    #[arg(long, help_heading = "C")]
    no_replay: bool,

    /// Keep the C file that feeds the inputs of a failing run to the compiled program.
    #[arg(long, value_name = "FILE", help_heading = "C", conflicts_with = "no_replay")]
    harness: Option<PathBuf>,

    /// Search a folder for header files.
    #[arg(short = 'I', value_name = "FOLDER", help_heading = "C")]
    include: Vec<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Model {
    /// 64-bit pointers and longs.
    Lp64,
    /// 32-bit pointers and longs.
    Ilp32,
}

/// What came of reading a C program.
pub enum Loaded {
    Program(Box<(Program, Rest)>),
    /// The property is well known, and not decided here: the reason for *unknown*.
    NotDecided(String),
}

/// What the answer about a C program rests on.
pub struct Rest {
    pub inputs: Vec<Input>,
    pub assumptions: Vec<Assumption>,
    /// What must not matter for a proof.
    pub doubts: Vec<Assumption>,
    /// Objects that are not defined.
    pub undefined: Vec<String>,
    /// What its text speaks of.
    pub mentions: Mentions,
    /// The files that were read, and how.
    pub files: Vec<PathBuf>,
    pub options: Options,
}

impl Rest {
    /// Whether some of it is Cimple, which no compiler knows.
    pub fn is_cimple(&self) -> bool {
        self.files.iter().any(|file| c::is_cimple(file))
    }
}

impl CArgs {
    /// Who checks proofs.
    pub fn prover(&self) -> Result<Prover, NoProver> {
        self.solver.as_deref().map_or(Ok(Prover::default()), Prover::command)
    }

    /// Whether a file is C or Cimple, or a task about C.
    pub fn applies_to(file: &Path) -> bool {
        c::is_c(file) || c::is_cimple(file) || file.extension().is_some_and(|extension| extension == "yml")
    }

    /// Reads C files, or a task. What is named here takes the place of what the task asks.
    pub fn load(
        &self,
        files: &[PathBuf],
        entry: Option<&str>,
        label: Option<&str>,
    ) -> Result<Loaded, CliError> {
        let named = !self.error_function.is_empty()
            || !self.error_label.is_empty()
            || self.assertions
            || label.is_some();
        let (task, files) = match files {
            [task] if !c::is_c(task) && !c::is_cimple(task) => {
                let task = c::read_task(task)?;
                let files = task.files.clone();
                (Some(task), files)
            }
            files => (None, files.to_vec()),
        };
        let options = task.as_ref().map_or_else(Options::default, |task| task.options.clone());
        let question = match (&self.property, task) {
            (Some(file), _) => {
                let name = file.display().to_string();
                let text = std::fs::read_to_string(file)
                    .map_err(|error| CliError::File { file: name.clone(), error })?;
                c::read_property(&name, &text, &options)?
            }
            (None, Some(task)) if !named => task.question()?,
            _ => Question::Decided(options.clone()),
        };
        let mut options = match question {
            Question::Decided(options) => options,
            Question::NotDecided(_) if named => options,
            Question::NotDecided(why) => {
                for file in &files {
                    std::fs::File::open(file)
                        .map_err(|error| CliError::File { file: file.display().to_string(), error })?;
                }
                return Ok(Loaded::NotDecided(why));
            }
        };
        if !self.error_function.is_empty() {
            options.property = c::Property::Calls(self.error_function.clone());
        }
        if !self.error_label.is_empty() {
            options.property = c::Property::Labels(self.error_label.clone());
        }
        if self.assertions {
            options.property = c::Property::Assertions;
        }
        if label.is_some() {
            options.error_labels = ErrorLabels::Names;
        }
        match self.data_model {
            Some(Model::Lp64) => options.data_model = DataModel::Lp64,
            Some(Model::Ilp32) => options.data_model = DataModel::Ilp32,
            None => {}
        }
        if let Some(entry) = entry {
            options.entry = entry.to_owned();
        }
        options.malloc_may_fail |= self.malloc_may_fail;
        options.preprocessor.extend(self.define.iter().map(|text| format!("-D{text}")));
        options.preprocessor.extend(self.include.iter().map(|folder| format!("-I{}", folder.display())));
        let translation = c::translate(&files, &options)?;
        let rest = Rest {
            inputs: translation.inputs,
            assumptions: translation.assumptions,
            doubts: translation.doubts,
            undefined: translation.undefined,
            mentions: translation.mentions,
            files,
            options,
        };
        Ok(Loaded::Program(Box::new((translation.program, rest))))
    }

    /// Runs the compiled program with the inputs of a failing run; none if that is not wanted. The harness is kept if
    /// it was asked for.
    pub fn replay(
        &self,
        program: &Program,
        rest: &Rest,
        trace: &Trace,
        site: &ErrorSite,
        time: Duration,
    ) -> Option<Replay> {
        if self.no_replay {
            return None;
        }
        if rest.is_cimple() {
            return Some(Replay::NotReplayed { why: "Cimple is not compiled".to_owned() });
        }
        let feed = |input: &Input| {
            let width = input.ty.width();
            let ty = match (input.pointer, input.signed) {
                _ if input.part => FeedType::Part,
                (true, _) => FeedType::Pointer,
                (false, true) => FeedType::Signed(width),
                (false, false) => FeedType::Unsigned(width),
            };
            Feed { edge: input.edge, function: input.function.clone(), ty }
        };
        let feeds: Vec<Feed> = rest.inputs.iter().map(feed).collect();
        let case = Case {
            program,
            trace,
            feeds: &feeds,
            files: &rest.files,
            preprocessor: &rest.options.preprocessor,
            pointer_bits: rest.options.data_model.pointer_bits(),
            entry: &rest.options.entry,
            errors: errors(program, &rest.options.property, site),
            undefined: &rest.undefined,
        };
        let Replayed { harness, outcome } = harness::replay(&case, time);
        let written = self.harness.as_ref().map_or(Ok(()), |file| std::fs::write(file, harness));
        Some(match written {
            Ok(()) => outcome,
            Err(error) => Replay::NotReplayed { why: format!("the harness cannot be kept: {error}") },
        })
    }
}

/// What marks the error of a run.
fn errors(program: &Program, property: &c::Property, site: &ErrorSite) -> Errors {
    let usual = || vec!["reach_error".to_owned(), "__VERIFIER_error".to_owned()];
    let mut errors = match property {
        c::Property::All => Errors { functions: usual(), labels: Vec::new(), assertions: true },
        c::Property::Calls(names) => Errors { functions: names.clone(), ..Errors::default() },
        c::Property::Labels(_) => Errors::default(),
        c::Property::Assertions => Errors { assertions: true, ..Errors::default() },
    };
    match (&site.kind, property) {
        (ErrorKind::Label(name), _) => errors.labels.push(name.clone()),
        (ErrorKind::Entry(name), _) => {
            let name = name.split('@').next().unwrap_or(name);
            errors.functions.push(name.to_owned());
        }
        (ErrorKind::Assertion, c::Property::Labels(names))
            if program.location(site.node).kind == LocationKind::Error =>
        {
            errors.labels.extend(names.iter().cloned());
        }
        (ErrorKind::Assertion | ErrorKind::Call(_), _) => {}
    }
    errors
}

/// An assumption with its place, in words.
pub fn words(program: &Program, assumption: &Assumption) -> String {
    match assumption.span {
        Some(span) => {
            format!("{}:{}: {}", program.source(span).name(), program.position(span).line, assumption.text)
        }
        None => assumption.text.clone(),
    }
}
