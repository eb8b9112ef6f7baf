//! What is asked of a program, and what an answer about it rests on.
//!
//! A front end makes a [`Task`] from files; engines decide it, and nothing that an answer needs is
//! dropped on the way: the checks, the inputs, the assumptions, and how the program is compiled.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::expression::Var;
use crate::program::{EdgeRef, Node, Program};
use crate::source::Span;
use crate::targets::{ErrorSite, TargetChoice};
use crate::types::Scalar;
use crate::violation::CallPlace;

/// A program, the checks asked about, and what an answer rests on.
#[derive(Clone, Debug)]
pub struct Task {
    /// The program.
    pub program: Arc<Program>,
    /// The checks, in the order of the program. Each gets a verdict of its own.
    pub checks: Vec<ErrorSite>,
    /// Whether indices outside of their arrays are among the checks.
    pub checks_bounds: bool,
    /// The language of the program.
    pub language: Language,
    /// The steps that bring values from outside, ordered by procedure and edge.
    pub inputs: Vec<Input>,
    /// Steps that give a value at random that has one in the compiled program: inline assembly, and
    /// functions of the C library that are not modelled. A run that depends on one need not exist.
    pub approximations: Vec<EdgeRef>,
    /// Facts that are taken for granted.
    pub assumptions: Vec<Assumption>,
    /// Facts under which no proof holds, although the program is read: each says what must not
    /// matter.
    pub doubts: Vec<Assumption>,
    /// What is asked for besides the checks and not decided, in words: nothing is safe then.
    pub undecided: Option<String>,
    /// Places that are not modelled: a proof counts only if no run comes to any of them.
    pub unsupported: Vec<Unsupported>,
    /// How the program is compiled, so that failing runs can be replayed.
    pub compilation: Compilation,
}

/// A place that is not modelled. Runs end there, although those of the program go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The location, of kind [`LocationKind::Unsupported`](crate::LocationKind::Unsupported).
    pub node: Node,
    /// What is not supported, in words: "`setjmp` is not supported".
    pub what: String,
}

impl Unsupported {
    /// The place and what is not supported there, in words.
    pub fn words(&self, program: &Program) -> String {
        let span = program.location(self.node).span;
        let position = program.position(span);
        format!("`{}:{}:{}`: {}", program.source(span).name(), position.line, position.column, self.what)
    }
}

/// The languages that programs are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Language {
    /// Boolean programs, `.bp`.
    Boolean,
    /// Remopla, `.rem`.
    Remopla,
    /// C, `.c`, or `.i` if it is preprocessed.
    C,
    /// Cimple, `.cimple`: a small C with free choices.
    Cimple,
}

/// A step that brings a value from outside: a havoc of one target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The step.
    pub edge: EdgeRef,
    /// The function that is called: `__VERIFIER_nondet_int`, or one without a body.
    pub function: String,
    /// The type of the value.
    pub ty: Scalar,
    /// Whether C reads the value as signed.
    pub signed: bool,
    /// Whether the value is a floating-point number.
    pub float: bool,
    /// Whether the value is a pointer.
    pub pointer: bool,
    /// Whether the value is one scalar of a structure that is returned.
    pub part: bool,
}

/// A fact that is taken for granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumption {
    /// The fact, in words.
    pub text: String,
    /// The first place that needs it.
    pub span: Option<Span>,
    /// What it is about.
    pub about: About,
}

/// What a fact that is taken for granted is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum About {
    /// Values: paths through the program are the same without it.
    #[default]
    Data,
    /// Which functions are called.
    Control,
    /// A rule of C itself: that it is kept is not checked.
    Rule,
}

/// Whether the program can be compiled, to replay its failing runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Compilation {
    /// Its language has no compiler: the interpreter replays its runs.
    #[default]
    NoCompiler,
    /// A compiled program would not fail where this one does, for this reason.
    Pointless(String),
    /// It is compiled like this.
    Compiled(Box<Recipe>),
}

/// How a C program is compiled and told to fail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recipe {
    /// The files that were translated.
    pub files: Vec<PathBuf>,
    /// Options of the preprocessor.
    pub preprocessor: Vec<String>,
    /// Options of the preprocessor for single files.
    pub flags: BTreeMap<PathBuf, Vec<String>>,
    /// How many of the files, the last ones, give way to definitions of the others.
    pub weak_files: usize,
    /// 64, or 32.
    pub pointer_bits: u32,
    /// The function where runs start.
    pub entry: String,
    /// What counts as an error.
    pub errors: Errors,
    /// Objects that are declared but not defined.
    pub undefined: Vec<String>,
    /// Whether only accesses outside of a whole object are errors, and not those outside of an
    /// array inside of it.
    pub whole_objects: bool,
    /// Definitions of functions of the C library that bring inputs, if the program uses them.
    pub models: Option<InputModels>,
    /// What the program may do with files of its own.
    pub own_files: OwnFiles,
    /// Whether the program puts characters back into streams: only functions that read one character
    /// see them.
    pub puts_back: bool,
    /// The rules of a property, in C.
    pub monitor: Option<Monitor>,
}

/// The rules of a property in C, which the compiled program is watched by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Monitor {
    /// Functions that calls tell the rules by.
    pub definitions: String,
    /// The functions whose calls are watched.
    pub calls: Vec<MonitoredCall>,
    /// The variable of the program that holds the object that is followed.
    pub object: Option<Var>,
    /// The calls that can break a rule, by the text of the program.
    pub places: Vec<CallPlace>,
    /// Why the compiled program cannot be watched, if it cannot.
    pub unavailable: Option<String>,
    /// A function of the program whose calls are not watched, although rules are about them.
    pub unwatched: Option<String>,
}

/// A function whose calls are watched. The statements mention the arguments `a0` to `a5`, the result
/// `r`, and the address `caller`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonitoredCall {
    /// Its name.
    pub function: String,
    /// What it does.
    pub kind: Monitored,
    /// Statements in front of the call.
    pub before: String,
    /// Statements behind it.
    pub after: String,
}

/// What a watched function does in the compiled program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Monitored {
    /// It returns a new object, or NULL.
    Fresh,
    /// It returns an input, or nothing that matters.
    Input,
    /// What it always does.
    Defined,
}

/// Definitions in C of functions of the C library that bring inputs. What they get from outside
/// comes from functions whose names begin with `__input_`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputModels {
    /// The text.
    pub text: String,
    /// The functions that programs may call.
    pub names: Vec<String>,
}

/// What a program may do with files that it has written itself. What it reads from them is no input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OwnFiles {
    /// It writes none.
    #[default]
    None,
    /// It may write some. Standard input is none of them.
    Some,
    /// It may write some, and standard input may be one of them.
    AlsoInput,
}

/// What counts as an error in a compiled program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Errors {
    /// Calls of these functions.
    pub functions: Vec<String>,
    /// These labels.
    pub labels: Vec<String>,
    /// Whether failed assertions count.
    pub assertions: bool,
}

impl Task {
    /// A task about a program without inputs and assumptions: its default checks.
    pub fn new(program: Program, checks: Vec<ErrorSite>, language: Language) -> Self {
        Self {
            program: Arc::new(program),
            checks,
            checks_bounds: false,
            language,
            inputs: Vec::new(),
            approximations: Vec::new(),
            assumptions: Vec::new(),
            doubts: Vec::new(),
            undecided: None,
            unsupported: Vec::new(),
            compilation: Compilation::NoCompiler,
        }
    }

    /// The same with indices outside of their arrays as further checks. Compiled programs do not
    /// notice those.
    pub fn with_bounds_checks(mut self) -> Self {
        let program = (*self.program).clone().with_bounds_checks();
        self.checks = program.targets(&TargetChoice::Default).unwrap_or_default();
        self.program = Arc::new(program);
        self.checks_bounds = true;
        if self.is_c() {
            let why = "compiled programs do not notice an index outside of its array";
            self.compilation = Compilation::Pointless(why.to_owned());
        }
        self
    }

    /// The same program with other checks.
    pub fn with_checks(&self, checks: Vec<ErrorSite>) -> Self {
        Self { checks, ..self.clone() }
    }

    /// Whether the program is C or Cimple.
    pub fn is_c(&self) -> bool {
        matches!(self.language, Language::C | Language::Cimple)
    }

    /// The assumptions with their places, in words.
    pub fn assumptions_in_words(&self) -> Vec<String> {
        self.assumptions.iter().map(|assumption| assumption.words(&self.program)).collect()
    }
}

impl Assumption {
    /// The fact with its place, in words.
    pub fn words(&self, program: &Program) -> String {
        match self.span {
            Some(span) => {
                format!("{}:{}: {}", program.source(span).name(), program.position(span).line, self.text)
            }
            None => self.text.clone(),
        }
    }
}
