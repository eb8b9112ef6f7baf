//! C: preprocessed, parsed, typed, and lowered to control-flow automata.
//!
//! `docs/c.md` says what is modelled, what is assumed and what is refused.
//!
//! # Reading order
//! 1. [`translate`], [`Options`], [`Translation`]. `prp.rs` and `task.rs` read properties and tasks
//!    of SV-COMP into options.
//! 2. `input.rs`, `tokens.rs`, `spellings.rs`, `rewrite`, `lines.rs`: from files to parsed text,
//!    and back to places in files; `judge.rs`, `recover.rs`: whether a mistake is one, and what the
//!    parser does not know; `quotable.rs`: which files may be quoted. `cimple.rs`: Cimple as C.
//!    `attributes.rs`, `pragmas.rs`: what the parser does not keep. [`Mentions`]: whether a
//!    property speaks of anything in the text.
//! 3. `sema`: names and types; its result is `tree.rs`, its types are `ctype.rs`.
//!    `composed.rs`: integers of 128 bits and the like as structures.
//!    `floats.rs`: which floating-point types are followed.
//!    `variadic.rs`: variable arguments as a structure in memory; `bulk.rs`: `memset` and `memcpy`
//!    of whole objects as assignments.
//!    `provisional.rs`: definitions that are only for inlining. `errno.rs`: `errno` as an object.
//!    `scanf.rs`: what `scanf` reads as inputs; `sscanf.rs`: what `sscanf` reads; `printf.rs`: what
//!    functions write and return that print; `put_back.rs`: `ungetc`; `calls.rs`: what all need.
//!    `own_files.rs`: files that the program may have written itself.
//!    `linking.rs`: what the program does not define. `events.rs`: calls that the rules of a
//!    property are about.
//! 4. `usage.rs`, `points_to`: which objects live in memory, and which of them may be one;
//!    `doubts.rs`: addresses that are observed.
//! 5. `threads.rs`, `threads.c`: threads, and what is a step of one.
//! 6. `lower`: the automata. `models.rs`, `writes.rs`, `library.c` and the folder `library`:
//!    functions without a definition.
//! 7. `harness.rs`: a C file that calls a function. [`witness`]: what others say about a program.

mod attributes;
mod bulk;
mod calls;
mod cimple;
mod composed;
mod ctype;
mod doubts;
mod errno;
mod events;
mod files;
mod floats;
mod harness;
mod input;
mod judge;
mod lines;
mod linking;
mod lower;
mod mentions;
mod models;
mod own_files;
mod points_to;
mod pragmas;
mod printf;
mod problem;
mod provisional;
mod prp;
mod put_back;
mod quotable;
mod races;
mod recover;
mod rewrite;
mod scanf;
mod sema;
mod spellings;
mod sscanf;
mod task;
mod threads;
mod tokens;
mod tree;
mod usage;
mod variadic;
mod walk;
pub mod witness;
mod writes;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use wherefore_program::{
    About, Compilation, EdgeRef, Errors, Expr, InputModels, Language, Monitor, OwnFiles, Program, Recipe,
    Span, TargetChoice, Unsupported, ViolationKind,
};
pub use wherefore_program::{Assumption, Input};

use crate::conditions::{self, CONDITION, WrongCondition};
use crate::diagnostics::LoadError;
pub use cimple::is_cimple;
pub use ctype::DataModel;
pub use harness::harness;
use judge::Given;
use lines::Sources;
pub use mentions::Mentions;
use own_files::Files;
use problem::{Problem, refuse};
pub use prp::{Asked, parse_property};
use sema::Linkage;
pub use task::{Property as TaskProperty, Question, Task, read_property, read_task};
use tree::Tree;
use usage::Usage;

/// Which conventions count as errors. Calls that do not count end the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Property {
    /// Calls of `reach_error` and `__VERIFIER_error`, and failed assertions; with
    /// [`ErrorLabels::Usual`] also the usual labels.
    #[default]
    All,
    /// Calls of these functions only.
    Calls(Vec<String>),
    /// These labels only.
    Labels(Vec<String>),
    /// Failed assertions only.
    Assertions,
}

/// What the usual error labels (`ERROR:` and the like) mean where no property names them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ErrorLabels {
    /// Nothing, as in C, where `error:` is where many functions clean up.
    #[default]
    OnlyAsked,
    /// Errors for [`Property::All`], as in Cimple.
    Usual,
    /// They are labels like all others: the question names one of them.
    Names,
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
    /// Handed to the preprocessor for single files.
    pub flags: BTreeMap<PathBuf, Vec<String>>,
    /// Files that stand for others, with the names that places in them have: for standard input
    /// ([`STANDARD_INPUT`]), or for a file whose text in an editor was not saved.
    pub shown_as: BTreeMap<PathBuf, String>,
    /// Files whose definitions take the place of what the program does not define.
    pub models: Vec<PathBuf>,
    /// Functions without a body that write nothing.
    pub pure: Vec<String>,
    /// Functions without a body that do not return.
    pub no_return: Vec<String>,
    /// What is an error.
    pub property: Property,
    /// The function where runs start.
    pub entry: String,
    /// Whether `malloc` and the like may return NULL.
    pub malloc_may_fail: bool,
    /// Whether what is written to a stream may not get there.
    pub output_may_fail: bool,
    /// What globals without an initial value hold. With a file of Cimple among those of a program,
    /// they hold anything.
    pub globals: Uninitialised,
    /// What the usual error labels mean.
    pub error_labels: ErrorLabels,
    /// The rules of C whose violations are errors.
    pub checks: BTreeSet<ViolationKind>,
    /// Which accesses are outside of what they are about.
    pub standard: Standard,
    /// What is asked for besides and not decided: nothing is safe then.
    pub undecided: Option<String>,
    /// Rules about the use of a library, whose violations are errors.
    pub library: Option<LibraryRules>,
    /// What is put into files before they are read: claims of others.
    pub insertions: witness::Insertions,
}

/// Rules about the use of a library that are checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibraryRules {
    /// The rules.
    pub property: Arc<wherefore_properties::Property>,
    /// Whether warnings count as errors, too.
    pub warnings: Warnings,
}

/// Whether warnings of a property are checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Warnings {
    /// They are not.
    #[default]
    Off,
    /// They count as errors.
    On,
}

/// Which accesses break the rule about bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standard {
    /// Those outside of the array that is indexed, as in C.
    #[default]
    Arrays,
    /// Those outside of the whole object, as in properties of SV-COMP.
    Objects,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            data_model: DataModel::default(),
            preprocessor: Vec::new(),
            flags: BTreeMap::new(),
            shown_as: BTreeMap::new(),
            models: Vec::new(),
            pure: Vec::new(),
            no_return: Vec::new(),
            property: Property::default(),
            entry: "main".to_owned(),
            malloc_may_fail: false,
            output_may_fail: false,
            globals: Uninitialised::default(),
            error_labels: ErrorLabels::default(),
            checks: BTreeSet::new(),
            standard: Standard::default(),
            undecided: None,
            library: None,
            insertions: witness::Insertions::default(),
        }
    }
}

impl Options {
    /// The name of a file in messages and answers.
    pub fn name_of(&self, file: &Path) -> String {
        self.shown_as.get(file).cloned().unwrap_or_else(|| file.display().to_string())
    }

    /// The file that holds the text of a name in messages and answers.
    pub fn file_of(&self, name: &str) -> PathBuf {
        let stands_for = self.shown_as.iter().find(|(_, shown)| shown.as_str() == name);
        stands_for.map_or_else(|| name.into(), |(file, _)| file.clone())
    }

    /// What the preprocessor gets for a file.
    pub fn flags_of(&self, file: &Path) -> Vec<String> {
        self.preprocessor.iter().chain(self.flags.get(file).into_iter().flatten()).cloned().collect()
    }
}

/// The name of standard input in messages and answers.
pub const STANDARD_INPUT: &str = "<stdin>";

/// A program from C, with what its meaning rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translation {
    /// The program. It starts in a procedure that initialises and calls the entry.
    pub program: Program,
    /// The steps that bring values from outside, ordered by procedure and edge.
    pub inputs: Vec<Input>,
    /// Steps that give a value at random that has one in the compiled program.
    pub approximations: Vec<EdgeRef>,
    /// What is assumed or over-approximated, in the order of the program, each text once.
    pub assumptions: Vec<Assumption>,
    /// Facts under which no proof holds, although the program is read: each says what must not
    /// matter.
    pub doubts: Vec<Assumption>,
    /// Places that are not modelled: runs end there, and a proof counts only if none comes there.
    pub unsupported: Vec<Unsupported>,
    /// Objects that are declared and used but not defined.
    pub undefined: Vec<String>,
    /// Functions without a body that the program uses, by name: what they do is assumed.
    pub without_body: Vec<String>,
    /// Definitions in C of functions of the library that bring inputs, if the program uses them.
    pub models: Option<InputModels>,
    /// What the program may do with files of its own.
    pub own_files: OwnFiles,
    /// Whether the program puts characters back into streams.
    pub puts_back: bool,
    /// The rules of a property in C, if one is checked.
    pub monitor: Option<Monitor>,
    /// The parts of memory: pointers into different ones never meet.
    pub regions: Vec<Region>,
    /// How wide types are.
    pub data_model: DataModel,
    /// What the text speaks of, and so what a property can ask about.
    pub mentions: Mentions,
    /// The rules of C whose violations are errors.
    pub rules: BTreeSet<ViolationKind>,
    /// What is asked for and not decided, in words.
    pub undecided: Option<String>,
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
    translate_files(files, Roots::Entry, options)
}

/// Translates C files that are a part of a program: a run starts in any one of their functions,
/// with any arguments. The entry that the options name does not matter.
pub fn translate_every_function(files: &[PathBuf], options: &Options) -> Result<Translation, LoadError> {
    translate_files(files, Roots::Every, options)
}

/// Where runs start.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Roots {
    /// In the entry that the options name.
    Entry,
    /// In any function.
    Every,
}

fn translate_files(files: &[PathBuf], roots: Roots, options: &Options) -> Result<Translation, LoadError> {
    in_thread(|| {
        let mut sources = Sources::default();
        let mut texts = Vec::new();
        for file in files {
            texts.push(input::read(file, options, &mut sources)?);
        }
        for file in &options.models {
            texts.push(input::read(file, options, &mut sources)?);
        }
        if files.iter().any(|file| is_cimple(file)) {
            return translate_texts(texts, sources, (Given::Files(files), roots), &cimple::options(options));
        }
        translate_texts(texts, sources, (Given::Files(files), roots), options)
    })
}

/// Translates a text that needs no preprocessor. `name` is for messages.
///
/// ```
/// use wherefore_frontend::c::{Options, translate_text};
/// use wherefore_program::TargetChoice;
///
/// let text = "void reach_error(void); int x; int main(void) { x = 1; if (x != 1) reach_error(); return 0; }";
/// let translation = translate_text("tiny.c", text, &Options::default())?;
/// assert_eq!(translation.program.targets(&TargetChoice::Default).unwrap().len(), 1);
/// # Ok::<(), wherefore_frontend::LoadError>(())
/// ```
pub fn translate_text(name: &str, text: &str, options: &Options) -> Result<Translation, LoadError> {
    in_thread(|| {
        let mut sources = Sources::default();
        let texts = vec![input::own(name, text, &mut sources)];
        translate_texts(texts, sources, (Given::Text(text), Roots::Entry), options)
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
        translate_texts(texts, sources, (Given::Cimple, Roots::Entry), &cimple::options(options))
    })
}

fn in_thread<R: Send>(work: impl FnOnce() -> Result<R, LoadError> + Send) -> Result<R, LoadError> {
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
    (given_as, roots): (Given<'_>, Roots),
    options: &Options,
) -> Result<Translation, LoadError> {
    let given = texts.len();
    let own = if let Given::Files(files) = given_as { files.len() } else { given };
    let mut tree = Tree::default();
    tree.types.model = options.data_model;
    let is_asked = options.checks.contains(&ViolationKind::Overflow);
    let shifts = is_asked && options.standard == Standard::Objects;
    tree.types.kept = ctype::Kept { arithmetic: is_asked, shifts };
    let mut linkage = Linkage::default();
    let (mut problems, mut syntax) = (Vec::new(), Vec::new());
    let mut mentions = Mentions::new(options.error_labels);
    let judged = std::cell::OnceCell::new();
    let is_c = || *judged.get_or_init(|| given_as.is_c(options));
    let mut odd = None;
    for (i, text) in texts.into_iter().enumerate() {
        odd = odd.or_else(|| text.not_modelled_with_threads(&mut sources));
        match input::parse(text, &mut sources, is_c) {
            Ok(unit) if i >= own => {
                problems.extend(sema::analyse_models(&unit, &mut tree, &mut linkage, &mut sources));
            }
            Ok(unit) => {
                if unit.is_cimple {
                    mentions.add_cimple(&unit.tree);
                } else {
                    mentions.add(&unit.tree);
                }
                problems.extend(sema::analyse(&unit, &mut tree, &mut linkage, &mut sources));
            }
            Err(problem) => syntax.push(problem),
        }
    }
    if !syntax.is_empty() {
        problems.extend(syntax);
        return Err(refuse(&sources, problems));
    }
    provisional::give_up(&mut tree, &linkage.functions_with_labels());
    linkage.mark_second_names(&mut tree);
    linkage.take_other_standard(&mut tree);
    linkage.mark_unknown(&mut tree);
    // Mistakes may be ours: then the names that they are about are known to be unknown.
    if !problems.iter().all(|problem| problem.is_mistake() && is_c()) {
        return Err(refuse(&sources, problems));
    }
    problems.extend(linking::told(&mut tree, options));
    if !problems.iter().all(Problem::is_mistake) {
        return Err(refuse(&sources, problems));
    }
    walk::resolve_aliases(&mut tree);
    let errno = linkage.function(errno::FUNCTION).filter(|id| tree.function(*id).body.is_none());
    if let Some(errno) = errno.and_then(|function| errno::as_object(&mut tree, function)) {
        linkage.add_object(errno::OBJECT, errno);
    }
    if let Some(rules) = &options.library {
        events::watch(&mut tree, &mut linkage, &sources, &rules.property);
    }
    scanf::as_inputs(&mut tree, &mut linkage, options.checks.contains(&ViolationKind::Bounds));
    let puts_back = put_back::rewrite(&mut tree, &mut linkage, options.library.is_some());
    sscanf::as_statements(&mut tree, &mut linkage);
    printf::as_statements(&mut tree, &mut linkage, options.output_may_fail);
    variadic::pass_in_memory(&mut tree);
    bulk::as_assignments(&mut tree);
    let with_body = |id: &tree::FunctionId| tree.function(*id).body.is_some();
    let only_here = || {
        let named = |function: &tree::Function| {
            function.name == options.entry && function.body.is_some() && !function.nested
        };
        tree.functions.iter().position(named).map(|i| tree::FunctionId(i as u32))
    };
    let entry = linkage.function(&options.entry).filter(with_body).or_else(only_here);
    let entries: Vec<tree::FunctionId> = match roots {
        Roots::Entry => entry.into_iter().collect(),
        Roots::Every => (0..tree.functions.len() as u32)
            .map(tree::FunctionId)
            .filter(with_body)
            .filter(|id| !tree.function(*id).is_for_inlining() && !tree.function(*id).nested)
            .collect(),
    };
    if entries.is_empty() && roots == Roots::Entry {
        let span = Span::new(wherefore_program::FileId(0), 0, 0);
        let problem = Problem::new(span, format!("there is no function `{}`", options.entry));
        return Err(refuse(&sources, vec![problem]));
    }
    // Conditions are read although nothing calls them.
    let is_condition = |id: &tree::FunctionId| {
        options.insertions.conditions > 0 && tree.function(*id).name.starts_with(CONDITION)
    };
    let added = (0..tree.functions.len() as u32).map(tree::FunctionId).filter(is_condition);
    let used: Vec<tree::FunctionId> = entries.iter().copied().chain(added).collect();
    let mut usage = Usage::new(&tree, &used);
    let has_threads = threads::has_threads(&tree, &usage);
    if has_threads {
        if let Some(problem) = odd {
            return Err(refuse(&sources, vec![problem]));
        }
        let text = threads::text(&tree, &usage, &options.checks);
        linking::link((&mut tree, &mut linkage, &mut sources), (threads::NAME, &text))
            .map_err(|problems| refuse(&sources, problems))?;
        tree.threads = tree.library.last().copied();
        threads::simplify_joins(&mut tree);
        usage = Usage::new(&tree, &used);
    }
    linking::add_library((&mut tree, &mut linkage, &mut sources), &used, &mut usage)
        .map_err(|problems| refuse(&sources, problems))?;
    if has_threads {
        // A function may run in several threads at once: its objects are not at one place.
        let with_body = usage.functions.iter().copied().filter(|id| tree.function(*id).body.is_some());
        let others: Vec<tree::FunctionId> = with_body.filter(|id| !entries.contains(id)).collect();
        usage.recursive.extend(others);
    }
    // Objects that several calls of a function have are not those that a nested function means.
    for (inner, owner) in &usage.captures {
        if usage.recursive.contains(owner) {
            let span = tree.function(*inner).span;
            let what = "a nested function that uses variables of a function that may call itself is";
            tree.functions[owner.0 as usize].problems.push(Problem::unsupported(span, what));
        }
    }
    // Where threads interrupt each other, only rules about threads are checked, unless the question
    // is about others.
    let (about_threads, others): (BTreeSet<_>, BTreeSet<_>) =
        options.checks.iter().partition(|kind| ViolationKind::THREADS.contains(kind));
    let is_question = options.property != Property::All && !others.contains(&ViolationKind::Leak);
    let plain = Options { checks: about_threads, ..options.clone() };
    let asks_rules = has_threads && !others.is_empty() && !is_question;
    let options = if asks_rules { &plain } else { options };
    let sets_rounding = |id: &tree::FunctionId| {
        let function = tree.function(*id);
        function.body.is_none() && floats::ROUNDING.contains(&function.name.as_str())
    };
    tree.types.rounding_changes = usage.functions.iter().any(sets_rounding);
    tree.files = Files { puts_back, ..Files::new(&tree, &usage) };
    let mut lowered = lower::lower(&tree, &usage, &entries, options);
    let rules = "in programs with threads only the checks about threads are made";
    let undecided = (asks_rules && options.property != Property::All).then(|| rules.to_owned());
    if asks_rules && undecided.is_none() {
        lowered.assumptions.push(Assumption {
            text: "no behaviour of the program is undefined".to_owned(),
            span: None,
            about: About::Data,
        });
    }
    if !lowered.mistakes.is_empty() && !is_c() {
        return Err(refuse(&sources, lowered.mistakes));
    }
    let without_body = linking::without_body(&tree, &usage);
    let models = linking::input_models(&tree, &usage, &sources);
    let own_files = tree.files.replayed();
    let puts_back = tree.files.puts_back;
    let monitor = events::monitor(&tree, lowered.followed);
    let sources = files::keep_used(
        sources.files,
        given,
        &mut lowered.globals,
        &mut lowered.procedures,
        lowered.assumptions.iter_mut().chain(&mut lowered.doubts),
    );
    let mut program = Program {
        sources,
        globals: lowered.globals,
        procedures: lowered.procedures,
        entry: lowered.entry,
        objects: lowered.objects,
    };
    if has_threads && options.checks.contains(&ViolationKind::Race) {
        let text = "functions of the library without a model access no object that another thread writes";
        lowered.assumptions.push(Assumption { text: text.to_owned(), span: None, about: About::Data });
        races::watch(&mut program, &lowered.unwatched, &lowered.models, &mut |go| {
            lowered.inputs.iter_mut().for_each(|input| go(&mut input.edge));
            lowered.approximations.iter_mut().for_each(&mut *go);
        });
    }
    debug_assert_eq!(program.check(), Ok(()));
    if has_threads {
        threads::forget_many(&program, &options.checks, &mut lowered.unsupported);
    }
    Ok(Translation {
        program,
        inputs: lowered.inputs,
        approximations: lowered.approximations,
        assumptions: lowered.assumptions,
        doubts: lowered.doubts,
        unsupported: lowered.unsupported,
        undefined: lowered.undefined,
        without_body,
        models,
        own_files,
        puts_back,
        monitor,
        regions: lowered.regions,
        data_model: options.data_model,
        mentions,
        rules: options.checks.clone(),
        undecided,
    })
}

impl Translation {
    /// Takes the conditions out that were read beside the program
    /// ([`witness::Insertions::of_conditions`]).
    ///
    /// # Errors
    /// If one of them is none, or has side effects.
    pub fn take_conditions(mut self, count: usize) -> Result<(Self, Vec<Expr>), WrongCondition> {
        let mut places = self.unsupported.iter();
        let not_modelled = places.find_map(|place| {
            let name = &self.program.procedure(place.node.procedure).name;
            Some((name.strip_prefix(CONDITION)?.parse().ok()?, place.what.clone()))
        });
        if let Some((number, why)) = not_modelled {
            return Err(WrongCondition { number, why });
        }
        let (program, found) = conditions::taken(self.program, count)?;
        self.program = program;
        Ok((self, found))
    }

    /// The task that this translation of some files is: its default checks.
    pub fn into_task(self, files: &[PathBuf], options: &Options) -> wherefore_program::Task {
        let is_cimple = files.iter().any(|file| is_cimple(file));
        let compilation = match is_cimple {
            true => Compilation::Pointless("Cimple is not compiled".to_owned()),
            false => Compilation::Compiled(Box::new(Recipe {
                files: files.iter().chain(&options.models).cloned().collect(),
                weak_files: options.models.len(),
                preprocessor: options.preprocessor.clone(),
                flags: options.flags.clone(),
                pointer_bits: options.data_model.pointer_bits(),
                entry: options.entry.clone(),
                errors: options.property.errors(),
                undefined: self.undefined,
                whole_objects: options.standard == Standard::Objects,
                models: self.models,
                own_files: self.own_files,
                puts_back: self.puts_back,
                monitor: self.monitor,
            })),
        };
        wherefore_program::Task {
            checks: self.program.targets(&TargetChoice::Default).unwrap_or_default(),
            program: Arc::new(self.program),
            checks_bounds: self.rules.contains(&ViolationKind::Bounds),
            language: if is_cimple { Language::Cimple } else { Language::C },
            inputs: self.inputs,
            approximations: self.approximations,
            assumptions: self.assumptions,
            doubts: self.doubts,
            undecided: options.undecided.clone().or(self.undecided),
            unsupported: self.unsupported,
            compilation,
        }
    }
}

impl Property {
    /// What marks an error in the compiled program. Labels are known from the checks.
    fn errors(&self) -> Errors {
        let usual = || vec!["reach_error".to_owned(), "__VERIFIER_error".to_owned()];
        match self {
            Property::All => Errors { functions: usual(), labels: Vec::new(), assertions: true },
            Property::Calls(names) => Errors { functions: names.clone(), ..Errors::default() },
            Property::Labels(names) => Errors { labels: names.clone(), ..Errors::default() },
            Property::Assertions => Errors { assertions: true, ..Errors::default() },
        }
    }
}

/// Reads C files into a task.
pub fn load(files: &[PathBuf], options: &Options) -> Result<wherefore_program::Task, LoadError> {
    Ok(translate(files, options)?.into_task(files, options))
}

/// Whether the name of a file says that it is C.
pub fn is_c(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "c" || extension == "i")
}
