//! How C programs are read, and what is asked of them.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use wherefore_check::harness::Enclosure;
use wherefore_check::{NoProver, Prover, Replaying};
use wherefore_frontend::c::witness::{Insertions, Witness};
use wherefore_frontend::c::{
    self, DataModel, ErrorLabels, LibraryRules, Mentions, Options, Question, Uninitialised, Warnings,
};
use wherefore_program::{Task, ViolationKind, c_compiler};

use super::database::Database;
use super::files::{STANDARD_INPUT, StandardInput, Unsaved, in_folder};
use super::{mistakes, properties, property};
use crate::exit::CliError;

/// How C is read.
#[derive(Args)]
pub struct CArgs {
    /// How wide the types of C are.
    #[arg(long, value_enum, value_name = "MODEL", help_heading = "C", hide_short_help = true)]
    data_model: Option<Model>,

    /// What is an error: an SV-COMP property file (.prp), rules about a library (.spec, or a name
    /// that `wherefore properties` lists), or `races`, `deadlock` or `locks`.
    #[arg(long, value_name = "FILE", help_heading = "C")]
    property: Option<PathBuf>,

    /// Let the warnings of a property (.spec) count as errors.
    #[arg(long, help_heading = "C", requires = "property")]
    warnings: bool,

    /// Count calls of this function as errors, and nothing else; can be given several times.
    #[arg(long, value_name = "NAME", help_heading = "C", hide_short_help = true)]
    error_function: Vec<String>,

    /// Count this label as an error, and nothing else; can be given several times.
    #[arg(
        long,
        value_name = "NAME",
        help_heading = "C",
        conflicts_with = "error_function",
        hide_short_help = true
    )]
    error_label: Vec<String>,

    /// Count failed assertions as errors, and nothing else.
    #[arg(long, help_heading = "C", conflicts_with = "error_function")]
    assertions: bool,

    /// Which undefined behaviour is checked for: `default`, `all`, `none`, `memory`, …
    ///
    /// Which undefined behaviour is checked for: `default`, `all`, `none`, `memory`, `arithmetic`,
    /// `threads`, or names such as `bounds` or `overflow`, separated by commas. By default
    /// everything that C programmers expect; if a property, function or label is named as the
    /// error, nothing.
    #[arg(long, value_name = "LIST", help_heading = "C", value_delimiter = ',')]
    checks: Vec<Checks>,

    /// Check the invariants and assertions in comments, and use them.
    ///
    /// Check what comments claim (`//@ loop invariant i <= n;` in front of a loop, `//@ assert x >
    /// 0;` between statements), each as a check of its own, and use it in proofs.
    #[arg(long, help_heading = "C", hide_short_help = true)]
    annotations: bool,

    /// A witness that is checked.
    #[arg(skip)]
    pub(super) witness: Option<Witness>,

    /// The text of a file that an editor has not saved.
    #[arg(skip)]
    pub(super) unsaved: Option<Unsaved>,

    /// A condition that is claimed before a line.
    #[arg(skip)]
    pub(super) claimed: Option<Claimed>,

    /// Let malloc and the like return NULL.
    #[arg(long, help_heading = "C", hide_short_help = true)]
    malloc_may_fail: bool,

    /// Let printf, fclose and other functions that write to streams fail.
    #[arg(long, help_heading = "C", hide_short_help = true)]
    output_may_fail: bool,

    /// Define a macro for the preprocessor.
    #[arg(short = 'D', value_name = "MACRO", help_heading = "C")]
    define: Vec<String>,

    /// Let this solver check proofs instead of the embedded one: `z3`, or the command line of any
    /// that reads SMT-LIB 2. What it does not accept is no proof.
    #[arg(long, value_name = "COMMAND", help_heading = "C", hide_short_help = true)]
    solver: Option<String>,

    /// Do not run the compiled program with the inputs of a failing run. (By default it is run, in
    /// a sandbox: without network, and with files in a folder of its own only.)
    #[arg(long, help_heading = "C", hide_short_help = true)]
    no_replay: bool,

    /// Run the compiled program without a sandbox, as you: for systems that have none, and programs
    /// that you trust.
    #[arg(long, help_heading = "C", conflicts_with = "no_replay", hide_short_help = true)]
    no_sandbox: bool,

    /// Keep the C file that makes the compiled program fail.
    ///
    /// Keep the C file that feeds the inputs of a failing run to the compiled program.
    #[arg(long, value_name = "FILE", help_heading = "C", conflicts_with = "no_replay")]
    harness: Option<PathBuf>,

    /// Search a folder for header files.
    #[arg(short = 'I', value_name = "FOLDER", help_heading = "C")]
    include: Vec<PathBuf>,

    /// Take files and flags from a compile_commands.json.
    ///
    /// Take files and flags of the preprocessor from a compile_commands.json, or from the one in a
    /// folder: all its C files, or those of them that are given.
    #[arg(long, value_name = "PATH", help_heading = "C")]
    pub(super) project: Option<PathBuf>,

    /// Let the definitions in a C file take the place of functions that the program does not
    /// define, and of our models of the C library; can be given several times.
    #[arg(long, value_name = "FILE", help_heading = "C", hide_short_help = true)]
    model: Vec<PathBuf>,

    /// Assume that these functions without a body write nothing: they only return something.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "C", hide_short_help = true)]
    assume_pure: Vec<String>,

    /// Assume that these functions without a body do not return.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "C", hide_short_help = true)]
    no_return: Vec<String>,
}

/// What `--checks` names: a kind of violation, or several.
#[derive(Clone, Copy)]
struct Checks(&'static [ViolationKind]);

/// The rules that can be checked: those about memory, about arithmetic, and on
/// request: leaks, and those about threads.
static CHECKS: [ViolationKind; 14] = [
    ViolationKind::Null,
    ViolationKind::Bounds,
    ViolationKind::UseAfterFree,
    ViolationKind::UseAfterScope,
    ViolationKind::DoubleFree,
    ViolationKind::InvalidFree,
    ViolationKind::Division,
    ViolationKind::Overflow,
    ViolationKind::Shift,
    ViolationKind::Builtin,
    ViolationKind::Leak,
    ViolationKind::Race,
    ViolationKind::Deadlock,
    ViolationKind::Lock,
];
const MEMORY: usize = 6;
const THREADS: usize = 3;
const ON_REQUEST: usize = 1 + THREADS;

/// The checks about threads that can be named as a property.
fn about_threads(name: &Path) -> Option<ViolationKind> {
    match name.to_str()? {
        "races" => Some(ViolationKind::Race),
        "deadlock" => Some(ViolationKind::Deadlock),
        "locks" => Some(ViolationKind::Lock),
        _ => None,
    }
}

/// Whether undefined behaviour is about memory, not about arithmetic.
pub fn is_about_memory(kind: ViolationKind) -> bool {
    !matches!(
        kind,
        ViolationKind::Division | ViolationKind::Overflow | ViolationKind::Shift | ViolationKind::Builtin
    )
}

impl Checks {
    fn kinds(&self) -> &'static [ViolationKind] {
        self.0
    }
}

impl std::str::FromStr for Checks {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let kinds: &'static [ViolationKind] = match name {
            "none" => &[],
            "default" => &CHECKS[..CHECKS.len() - ON_REQUEST],
            "all" => &CHECKS,
            "memory" => &CHECKS[..MEMORY],
            "arithmetic" => &CHECKS[MEMORY..CHECKS.len() - ON_REQUEST],
            "threads" => &CHECKS[CHECKS.len() - THREADS..],
            _ => match CHECKS.iter().position(|kind| kind.name() == name) {
                Some(at) => &CHECKS[at..=at],
                None => {
                    let names: Vec<&str> = CHECKS.iter().map(|kind| kind.name()).collect();
                    let names = names.join(", ");
                    return Err(format!(
                        "expected `default`, `all`, `none`, `memory`, `arithmetic`, `threads`, or some of {names}"
                    ));
                }
            },
        };
        Ok(Self(kinds))
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum Model {
    /// 64-bit pointers and longs.
    Lp64,
    /// 32-bit pointers and longs.
    Ilp32,
}

/// How a C program is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// From its entry on.
    Whole,
    /// The same without checks of the rules of C, unless they are asked for.
    WithoutRules,
    /// All its functions: a run starts in any one of them.
    EveryFunction,
    /// One of its functions, in which a run starts whatever happened before.
    OneFunction,
}

/// What came of reading a C program.
pub enum Loaded {
    /// A task.
    Task(Box<(Task, CSubject)>),
    /// The property is well known, and not decided here: the reason for *unknown*.
    NotDecided(String),
}

/// How a C program was read.
pub struct CSubject {
    /// What its text speaks of.
    pub mentions: Mentions,
    /// The files that were read.
    pub files: Vec<PathBuf>,
    /// The options they were read with.
    pub options: Options,
    /// Functions without a body that the program uses.
    pub without_body: Vec<String>,
    /// What was read from standard input, while it is needed.
    _standard_input: Option<StandardInput>,
}

impl CSubject {
    /// Whether some of it is Cimple, which no compiler knows.
    pub fn is_cimple(&self) -> bool {
        self.files.iter().any(|file| c::is_cimple(file))
    }

    /// Why no check was asked about.
    pub fn nothing_to_check(&self) -> String {
        let why = if self.mentions.includes(&self.options.property) {
            "what would be an error is in no function that is used".to_owned()
        } else if self.options.checks.is_empty() {
            property::nothing(self)
        } else {
            format!("{}, nothing that is checked for undefined behaviour", property::nothing(self))
        };
        format!("nothing to check: {why}")
    }
}

/// A condition that is claimed to hold before a line.
pub struct Claimed {
    /// The end of the path of the file; none if there is only one.
    pub file: Option<String>,
    /// The line.
    pub line: u32,
    /// The condition, in C.
    pub condition: String,
}

impl Claimed {
    fn insertions(&self, files: &[PathBuf]) -> Result<Insertions, CliError> {
        let wanted = self.file.as_deref();
        let is_file = |file: &&PathBuf| wanted.is_none_or(|wanted| file.ends_with(wanted));
        let mut found = files.iter().filter(is_file);
        let question = |message: String| {
            let name = files.first().map_or_else(String::new, |file| file.display().to_string());
            CliError::Question { file: name, message }
        };
        let (Some(file), None) = (found.next(), found.next()) else {
            let what = wanted.map_or("a line of several files".to_owned(), |file| format!("`{file}`"));
            return Err(question(format!("--at: {what} is not one file of the program (FILE:LINE)")));
        };
        let claimed = c::witness::claim_before(files, file, self.line, &self.condition)?;
        claimed.map_err(|why| question(format!("--can: {why}")))
    }
}

impl CArgs {
    /// Whether the question is about deadlocks, which can also be asked of other languages.
    pub fn asks_about_deadlocks(&self) -> bool {
        self.property.as_deref().and_then(about_threads) == Some(ViolationKind::Deadlock)
    }

    /// The options for C that were given.
    pub fn given(&self) -> impl Iterator<Item = &'static str> {
        let options = [
            (self.data_model.is_some(), "--data-model"),
            (self.property.is_some(), "--property"),
            (!self.error_function.is_empty(), "--error-function"),
            (!self.error_label.is_empty(), "--error-label"),
            (self.warnings, "--warnings"),
            (self.assertions, "--assertions"),
            (!self.checks.is_empty(), "--checks"),
            (self.annotations, "--annotations"),
            (self.malloc_may_fail, "--malloc-may-fail"),
            (self.output_may_fail, "--output-may-fail"),
            (!self.define.is_empty(), "-D"),
            (self.solver.is_some(), "--solver"),
            (self.no_replay, "--no-replay"),
            (self.no_sandbox, "--no-sandbox"),
            (self.harness.is_some(), "--harness"),
            (!self.include.is_empty(), "-I"),
            (self.project.is_some(), "--project"),
            (!self.model.is_empty(), "--model"),
            (!self.assume_pure.is_empty(), "--assume-pure"),
            (!self.no_return.is_empty(), "--no-return"),
        ];
        options.into_iter().filter(|(given, _)| *given).map(|(_, name)| name)
    }

    /// The first option that says what is checked, or how failures are confirmed.
    pub fn given_about_checks(&self) -> Option<&'static str> {
        let options = [
            (self.property.is_some(), "--property"),
            (self.warnings, "--warnings"),
            (!self.error_function.is_empty(), "--error-function"),
            (!self.error_label.is_empty(), "--error-label"),
            (self.assertions, "--assertions"),
            (!self.checks.is_empty(), "--checks"),
            (self.annotations, "--annotations"),
            (self.solver.is_some(), "--solver"),
            (self.no_replay, "--no-replay"),
            (self.no_sandbox, "--no-sandbox"),
            (self.harness.is_some(), "--harness"),
        ];
        options.into_iter().find(|(given, _)| *given).map(|(_, name)| name)
    }

    /// Whether it was said what is checked.
    pub fn names_what_is_checked(&self) -> bool {
        let names = !self.error_function.is_empty() || !self.error_label.is_empty() || self.assertions;
        names || self.property.is_some() || !self.checks.is_empty()
    }

    /// The property of the witness that is checked.
    fn specification(&self) -> Option<&str> {
        self.witness.as_ref()?.specification.as_deref()
    }

    /// Who checks proofs.
    pub fn prover(&self) -> Result<Prover, NoProver> {
        self.solver.as_deref().map_or(Ok(Prover::default()), Prover::command)
    }

    /// Whether failing runs are replayed.
    pub fn replaying(&self) -> Replaying {
        if self.no_replay {
            return Replaying::Off;
        }
        let enclosure = if self.no_sandbox { Enclosure::None } else { Enclosure::Sandbox };
        Replaying::On { enclosure, keep: self.harness.clone() }
    }

    /// Whether a file is C or Cimple, or a task about C.
    pub fn applies_to(file: &Path) -> bool {
        let is_task = file.extension().is_some_and(|extension| extension == "yml");
        let stands_for_others = file.is_dir() || file == Path::new(STANDARD_INPUT);
        c::is_c(file) || c::is_cimple(file) || is_task || stands_for_others
    }

    /// Reads C files, or a task. What is named here takes the place of what the task asks.
    pub fn load(
        &self,
        files: &[PathBuf],
        entry: Option<&str>,
        label: Option<&str>,
    ) -> Result<Loaded, CliError> {
        self.load_as(files, entry, label, Reading::Whole)
    }

    /// Reads C files without checks of the rules of C, unless they are asked for.
    pub fn load_without_rules(&self, files: &[PathBuf], entry: Option<&str>) -> Result<Loaded, CliError> {
        self.load_as(files, entry, None, Reading::WithoutRules)
    }

    /// Reads C files, or a task, in one of several ways.
    pub fn load_as(
        &self,
        files: &[PathBuf],
        entry: Option<&str>,
        label: Option<&str>,
        reading: Reading,
    ) -> Result<Loaded, CliError> {
        let named = !self.error_function.is_empty()
            || !self.error_label.is_empty()
            || self.assertions
            || label.is_some();
        let database = self.project.as_deref().map(Database::read).transpose()?;
        let (mut files, standard_input) = expanded(files, database.as_ref())?;
        let replaced = self.unsaved.as_ref().and_then(|unsaved| unsaved.replace(&mut files));
        let (task, files) = match files.as_slice() {
            [task] if !c::is_c(task) && !c::is_cimple(task) => {
                let task = c::read_task(task)?;
                let files = task.files.clone();
                (Some(task), files)
            }
            files => (None, files.to_vec()),
        };
        if let Some(flag) = c_compiler::not_modelled(&c_compiler::words()) {
            return Err(CliError::Mistake(format!("$CC has the flag {flag}, which is not modelled")));
        }
        let is_task = task.is_some();
        let options = task.as_ref().map_or_else(Options::default, |task| task.options.clone());
        let rules = self.property.as_deref().map(properties::find).transpose()?.flatten();
        if self.warnings && rules.is_none() {
            let message = "--warnings is for rules about a library (--property FILE.spec)".to_owned();
            return Err(CliError::Question { file: "--warnings".to_owned(), message });
        }
        let question = match (&self.property, task) {
            (Some(_), _) if rules.is_some() => {
                let warnings = if self.warnings { Warnings::On } else { Warnings::Off };
                let library = rules.map(|property| LibraryRules { property, warnings });
                let property = c::Property::Calls(Vec::new());
                Question::Decided(Box::new(Options { library, property, ..options.clone() }))
            }
            (Some(name), _) if about_threads(name).is_some() && !name.exists() => {
                let checks = about_threads(name).into_iter().collect();
                let property = c::Property::Calls(Vec::new());
                Question::Decided(Box::new(Options { checks, property, ..options.clone() }))
            }
            (Some(file), _) => {
                let name = file.display().to_string();
                let text = std::fs::read_to_string(file)
                    .map_err(|error| CliError::File { file: name.clone(), error })?;
                c::read_property(&name, &text, &options)?
            }
            (None, Some(task)) if !named => task.question()?,
            (None, None) if !named && self.specification().is_some() => {
                c::read_property("the witness", self.specification().unwrap_or_default(), &options)?
            }
            _ => Question::Decided(Box::new(options.clone())),
        };
        let mut options = match question {
            Question::Decided(options) => *options,
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
        let is_told = named || self.property.is_some() || self.specification().is_some() || is_task;
        let is_open = options.property == c::Property::All && !is_told;
        if !self.checks.is_empty() {
            // Beside those that the property asks for.
            options.checks.extend(self.checks.iter().flat_map(|list| list.kinds()).copied());
        } else if reading != Reading::WithoutRules && is_open && !files.iter().any(|file| c::is_cimple(file))
        {
            options.checks = CHECKS[..CHECKS.len() - ON_REQUEST].iter().copied().collect();
        }
        if label.is_some() {
            options.error_labels = ErrorLabels::Names;
        }
        let is_narrow = database.as_ref().is_some_and(|database| database.is_narrow)
            || c_compiler::words().iter().any(|word| word == "-m32");
        match self.data_model {
            None if is_narrow => options.data_model = DataModel::Ilp32,
            Some(Model::Lp64) => options.data_model = DataModel::Lp64,
            Some(Model::Ilp32) => options.data_model = DataModel::Ilp32,
            None => {
                let model = self.witness.as_ref().and_then(|witness| witness.data_model);
                options.data_model = model.unwrap_or(options.data_model);
            }
        }
        if let Some(entry) = entry {
            options.entry = entry.to_owned();
        }
        options.malloc_may_fail |= self.malloc_may_fail;
        options.output_may_fail |= self.output_may_fail;
        options.preprocessor.extend(self.define.iter().map(|text| format!("-D{text}")));
        options.preprocessor.extend(self.include.iter().map(|folder| format!("-I{}", folder.display())));
        options.flags = database.map(|database| database.flags).unwrap_or_default();
        if let Some(input) = &standard_input {
            // Headers are looked for where the command was given.
            options.flags.insert(input.file.clone(), vec!["-iquote".to_owned(), ".".to_owned()]);
            options.shown_as.insert(input.file.clone(), c::STANDARD_INPUT.to_owned());
        }
        if let (Some(unsaved), Some(file)) = (&self.unsaved, replaced) {
            let own = options.flags.get(&file).cloned().unwrap_or_default();
            let flags = options.flags.entry(unsaved.holder.clone()).or_insert(own);
            // Headers are looked for where the file is.
            let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new(".")).display().to_string();
            flags.extend(["-iquote".to_owned(), folder]);
            options.shown_as.insert(unsaved.holder.clone(), file.display().to_string());
        }
        if let Some(witness) = &self.witness {
            options.insertions = witness.insertions(&files)?;
        } else if self.annotations {
            options.insertions = c::witness::annotations(&files)?;
        } else if let Some(claimed) = &self.claimed {
            options.insertions = claimed.insertions(&files)?;
        }
        if !options.insertions.claims.is_empty() {
            options.checks.insert(ViolationKind::Claim);
        }
        options.models.clone_from(&self.model);
        options.pure.clone_from(&self.assume_pure);
        options.no_return.clone_from(&self.no_return);
        if reading == Reading::OneFunction {
            options.globals = Uninitialised::Any;
        }
        let translated = match reading {
            Reading::EveryFunction => c::translate_every_function(&files, &options),
            _ => c::translate(&files, &options),
        };
        let translation = translated.map_err(|error| mistakes::explained(error, &files, &options))?;
        let mentions = translation.mentions.clone();
        let without_body = translation.without_body.clone();
        let task = translation.into_task(&files, &options);
        // With threads the usual question is not about undefined behaviour; that there is none is
        // assumed.
        if task.program.uses_threads().is_some() && options.property == c::Property::All {
            options.checks.retain(|kind| ViolationKind::THREADS.contains(kind));
        }
        let subject = CSubject { mentions, files, options, without_body, _standard_input: standard_input };
        Ok(Loaded::Task(Box::new((task, subject))))
    }
}

/// The files that the given ones stand for: folders stand for the C files in them, `-` for standard
/// input, and no file at all for those of the project.
fn expanded(
    given: &[PathBuf],
    database: Option<&Database>,
) -> Result<(Vec<PathBuf>, Option<StandardInput>), CliError> {
    let (mut files, mut input) = (Vec::new(), None);
    for file in given {
        if file == Path::new(STANDARD_INPUT) {
            let read = match input.take() {
                Some(_) => {
                    let message = "standard input can be read only once".to_owned();
                    return Err(CliError::Question { file: STANDARD_INPUT.to_owned(), message });
                }
                None => StandardInput::read()?,
            };
            files.push(read.file.clone());
            input = Some(read);
        } else if file.is_dir() {
            files.extend(in_folder(file)?);
        } else {
            files.push(file.clone());
        }
    }
    let Some(database) = database else { return Ok((files, input)) };
    if files.is_empty() {
        return Ok((database.files.clone(), input));
    }
    for file in &mut files {
        let name = file.display().to_string();
        let known = database.find(file).ok_or_else(|| CliError::Question {
            file: name,
            message: "the project does not compile this file".to_owned(),
        })?;
        file.clone_from(known);
    }
    Ok((files, input))
}
