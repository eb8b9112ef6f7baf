//! C: preprocessed, parsed, typed, and lowered to control-flow automata.
//!
//! `docs/c.md` says what is modelled, what is assumed and what is refused.
//!
//! # Reading order
//! 1. [`translate`], [`Options`], [`Translation`]. `task.rs` reads properties and tasks of SV-COMP into options.
//! 2. `input.rs`, `rewrite.rs`, `lines.rs`: from files to parsed text, and back to places in files. `cimple.rs`: Cimple as C.
//!    `attributes.rs`, `pragmas.rs`: what a parser does not keep. [`Mentions`]: whether a property speaks of anything in the text.
//! 3. `sema`: names and types; its result is `tree.rs`, its types are `ctype.rs`.
//! 4. `usage.rs`, `points_to.rs`: which objects live in memory, and which of them may be one; `doubts.rs`: addresses that
//!    are observed.
//! 5. `lower`: the automata. `models.rs`, `writes.rs`, `library.c`: functions without a definition.

mod attributes;
mod cimple;
mod ctype;
mod doubts;
mod files;
mod input;
mod lines;
mod lower;
mod mentions;
mod models;
mod points_to;
mod pragmas;
mod problem;
mod rewrite;
mod sema;
mod task;
mod tree;
mod usage;
mod writes;

use std::path::{Path, PathBuf};

use wherefore_program::{EdgeRef, Program, Scalar, Span};

use crate::diagnostics::LoadError;
pub use cimple::is_cimple;
pub use ctype::DataModel;
use lines::Sources;
pub use mentions::Mentions;
use problem::{Problem, refuse};
use sema::Linkage;
pub use task::{Property as TaskProperty, Task, read_property, read_task};
use tree::Tree;
use usage::Usage;

/// Which conventions count as errors. Calls that do not count end the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Property {
    /// Calls of `reach_error` and `__VERIFIER_error`, failed assertions, and the usual labels.
    #[default]
    All,
    /// Calls of these functions only.
    Calls(Vec<String>),
    /// These labels only.
    Labels(Vec<String>),
    /// Failed assertions only.
    Assertions,
}

/// What objects with static storage hold that have no initial value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Uninitialised {
    /// Zero, as in C.
    #[default]
    Zero,
    /// Anything, as in Cimple.
    Any,
}

/// How C is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How wide types are.
    pub data_model: DataModel,
    /// Handed to the preprocessor: `-D…`, `-I…`.
    pub preprocessor: Vec<String>,
    /// What is an error.
    pub property: Property,
    /// The function where runs start.
    pub entry: String,
    /// Whether `malloc` and the like may return NULL.
    pub malloc_may_fail: bool,
    /// What globals without an initial value hold. With a file of Cimple among those of a program, they hold anything.
    pub globals: Uninitialised,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            data_model: DataModel::default(),
            preprocessor: Vec::new(),
            property: Property::default(),
            entry: "main".to_owned(),
            malloc_may_fail: false,
            globals: Uninitialised::default(),
        }
    }
}

/// A program from C, with what its meaning rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translation {
    /// The program. It starts in a procedure that initialises and calls the entry.
    pub program: Program,
    /// The steps that bring values from outside, ordered by procedure and edge.
    pub inputs: Vec<Input>,
    /// What is assumed or over-approximated, in the order of the program, each text once.
    pub assumptions: Vec<Assumption>,
    /// Facts under which no proof holds, although the program is read: each says what must not matter.
    pub doubts: Vec<Assumption>,
    /// Objects that are declared and used but not defined.
    pub undefined: Vec<String>,
    /// The parts of memory: pointers into different ones never meet.
    pub regions: Vec<Region>,
    /// How wide types are.
    pub data_model: DataModel,
    /// What the text speaks of, and so what a property can ask about.
    pub mentions: Mentions,
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
    /// Whether the value is a pointer.
    pub pointer: bool,
    /// Whether the value is one scalar of a structure that is returned.
    pub part: bool,
}

/// Something that is taken for granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumption {
    /// What.
    pub text: String,
    /// The first place that needs it.
    pub span: Option<Span>,
}

/// A part of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The global variable that holds it, by position.
    pub variable: u32,
    /// The width of a cell in bits.
    pub cell: u32,
}

/// The stack of the thread that translates: trees of long programs are deep.
const STACK_SIZE: usize = 1 << 30;

/// Translates C files into one program. Files named `.cimple` are Cimple.
///
/// ```no_run
/// use wherefore_frontend::c::{Options, translate};
///
/// let translation = translate(&["driver.c".into()], &Options::default())?;
/// print!("{}", translation.program.listing());
/// # Ok::<(), wherefore_frontend::LoadError>(())
/// ```
pub fn translate(files: &[PathBuf], options: &Options) -> Result<Translation, LoadError> {
    in_thread(|| {
        let mut sources = Sources::default();
        let mut texts = Vec::new();
        for file in files {
            texts.push(input::read(file, &options.preprocessor, &mut sources)?);
        }
        if files.iter().any(|file| is_cimple(file)) {
            return translate_texts(texts, sources, &cimple::options(options));
        }
        translate_texts(texts, sources, options)
    })
}

/// Translates a text that needs no preprocessor. `name` is for messages.
///
/// ```
/// use wherefore_frontend::c::{Options, translate_text};
/// use wherefore_program::TargetChoice;
///
/// let text = "int x; int main(void) { x = 1; if (x != 1) { ERROR: return 1; } return 0; }";
/// let translation = translate_text("tiny.c", text, &Options::default())?;
/// assert_eq!(translation.program.targets(&TargetChoice::Default).unwrap().len(), 1);
/// # Ok::<(), wherefore_frontend::LoadError>(())
/// ```
pub fn translate_text(name: &str, text: &str, options: &Options) -> Result<Translation, LoadError> {
    in_thread(|| {
        let mut sources = Sources::default();
        let texts = vec![input::own(name, text, &mut sources)];
        translate_texts(texts, sources, options)
    })
}

/// Translates a text in Cimple, whatever it is called.
///
/// ```
/// use wherefore_frontend::c::{Options, translate_cimple};
/// use wherefore_program::TargetChoice;
///
/// let text = "int lock; bool error; int main() { if (lock != 0) error = true; }";
/// let translation = translate_cimple("tiny.cimple", text, &Options::default())?;
/// assert_eq!(translation.program.targets(&TargetChoice::Default).unwrap().len(), 1);
/// # Ok::<(), wherefore_frontend::LoadError>(())
/// ```
pub fn translate_cimple(name: &str, text: &str, options: &Options) -> Result<Translation, LoadError> {
    in_thread(|| {
        let mut sources = Sources::default();
        let texts = vec![input::cimple(name, text, &mut sources)];
        translate_texts(texts, sources, &cimple::options(options))
    })
}

fn in_thread(work: impl FnOnce() -> Result<Translation, LoadError> + Send) -> Result<Translation, LoadError> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, work);
        match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(error) => Err(LoadError::Io { file: "the translation".to_owned(), error }),
        }
    })
}

fn translate_texts(
    texts: Vec<input::Text>,
    mut sources: Sources,
    options: &Options,
) -> Result<Translation, LoadError> {
    let given = texts.len();
    let mut tree = Tree::default();
    tree.types.model = options.data_model;
    let mut linkage = Linkage::default();
    let mut problems = Vec::new();
    let mut mentions = Mentions::default();
    for text in texts {
        match input::parse(text, &mut sources) {
            Ok(unit) => {
                if unit.is_cimple {
                    mentions.add_cimple(&unit.tree);
                } else {
                    mentions.add(&unit.tree);
                }
                problems.extend(sema::analyse(&unit, &mut tree, &mut linkage, &mut sources));
            }
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(refuse(&sources.files, problems));
    }
    let with_body = |id: &tree::FunctionId| tree.function(*id).body.is_some();
    let only_here = || {
        let named = |function: &tree::Function| function.name == options.entry && function.body.is_some();
        tree.functions.iter().position(named).map(|i| tree::FunctionId(i as u32))
    };
    let entry = linkage.function(&options.entry).filter(with_body).or_else(only_here);
    let Some(entry) = entry else {
        let span = Span::new(wherefore_program::FileId(0), 0, 0);
        let problem = Problem::new(span, format!("there is no function `{}`", options.entry));
        return Err(refuse(&sources.files, vec![problem]));
    };
    let mut usage = Usage::new(&tree, entry);
    let called = |id: &tree::FunctionId| {
        let function = tree.function(*id);
        function.body.is_none() && models::MODELLED.contains(&function.name.as_str())
    };
    if usage.functions.iter().any(called) {
        let text = input::own(models::NAME, models::TEXT, &mut sources);
        let problems = match input::parse(text, &mut sources) {
            Ok(unit) => sema::analyse_library(&unit, &mut tree, &mut linkage, &mut sources),
            Err(problem) => vec![problem],
        };
        if !problems.is_empty() {
            return Err(refuse(&sources.files, problems));
        }
        usage = Usage::new(&tree, entry);
    }
    let mut lowered = match lower::lower(&tree, &usage, entry, options) {
        Ok(lowered) => lowered,
        Err(problems) => return Err(refuse(&sources.files, problems)),
    };
    let sources = files::keep_used(
        sources.files,
        given,
        &mut lowered.globals,
        &mut lowered.procedures,
        lowered.assumptions.iter_mut().chain(&mut lowered.doubts),
    );
    let program =
        Program { sources, globals: lowered.globals, procedures: lowered.procedures, entry: lowered.entry };
    debug_assert_eq!(program.check(), Ok(()));
    Ok(Translation {
        program,
        inputs: lowered.inputs,
        assumptions: lowered.assumptions,
        doubts: lowered.doubts,
        undefined: lowered.undefined,
        regions: lowered.regions,
        data_model: options.data_model,
        mentions,
    })
}

/// Whether the name of a file says that it is C.
pub fn is_c(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "c" || extension == "i")
}
