//! Names and types: from the syntax tree of the parser to [`Tree`].
//!
//! # Reading order
//! 1. [`Linkage`] and [`Sema`]: what is known while a unit is read.
//! 2. `specifiers.rs`, `records.rs`: types; `shared.rs`: structures that several units have.
//!    `declare.rs`: declarations and functions; `unknown.rs`: those that are not understood.
//!    `initial.rs`: initialisers. `aliases.rs`: second names.
//! 3. `term.rs`, `operators.rs`, `convert.rs`, `reals.rs`: expressions; `composed.rs`, `wide.rs`,
//!    `vectors.rs`, `complex.rs`: those of types with several scalars. `builtins.rs`,
//!    `bit_builtins.rs`: functions that the compiler knows. `variadic.rs`: `va_list` and what is
//!    done with it.
//! 4. `statement.rs`: statements; `nested.rs`: functions inside of functions.

mod aliases;
mod assembly;
mod atomics;
mod bit_builtins;
mod builtins;
mod complex;
mod composed;
mod convert;
mod declare;
mod float_builtins;
mod initial;
mod literals;
mod nested;
mod operators;
mod reals;
mod records;
mod shared;
mod specifiers;
mod statement;
mod term;
mod unknown;
mod variadic;
mod vectors;
mod wide;

pub(crate) use atomics::Qualified;

use std::collections::BTreeSet;

use lang_c::ast::{ExternalDeclaration, StaticAssert};
use lang_c::span::Node;
use rustc_hash::{FxHashMap, FxHashSet};
use wherefore_program::Span;

use super::ctype::CType;
use super::input::Unit;
use super::lines::{LineTable, Sources};
use super::models::model_of;
use super::pragmas::Pragmas;
use super::problem::{Checked, Problem};
use super::tree::{Function, FunctionId, Lifetime, Object, ObjectId, Statement, Tree};

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Entity {
    Type(CType),
    Object(ObjectId),
    Function(FunctionId),
    Constant(u64, CType),
    /// A type that nothing can be declared with that is used.
    Refused(Problem, CType),
    /// Something whose declaration is not understood.
    Unknown(Problem),
}

/// Names that all units share.
#[derive(Default)]
pub(crate) struct Linkage {
    pub(super) objects: FxHashMap<String, ObjectId>,
    pub(super) functions: FxHashMap<String, FunctionId>,
    /// Names that differ from those for the assembler, and the latter.
    labels: Vec<(String, String, Span)>,
    /// Structures and unions of files that were read, by their text.
    records: FxHashMap<String, u32>,
    /// Names that all units see and whose declarations are not understood.
    unknown: FxHashMap<String, Problem>,
    /// The number of the unit at hand.
    unit: usize,
    /// Which units say that a function is weak, and which one has the definition that is taken.
    weak_functions: FxHashSet<(FunctionId, usize)>,
    function_definitions: FxHashMap<FunctionId, usize>,
    /// Which unit defines an object, and whether it is weak.
    object_definitions: FxHashMap<ObjectId, (usize, bool)>,
}

impl Linkage {
    /// The function of this name that all units see, or the only one that a unit sees.
    pub(crate) fn function(&self, name: &str) -> Option<FunctionId> {
        self.functions.get(name).copied()
    }

    /// Has all units that are read from now on see a function under a name.
    pub(crate) fn add_function(&mut self, name: &str, id: FunctionId) {
        self.functions.insert(name.to_owned(), id);
    }

    /// Has all units that are read from now on see an object under a name.
    pub(crate) fn add_object(&mut self, name: &str, id: ObjectId) {
        self.objects.insert(name.to_owned(), id);
    }

    /// The functions whose names for the assembler are others.
    pub(crate) fn functions_with_labels(&self) -> FxHashSet<FunctionId> {
        self.labels.iter().filter_map(|(name, ..)| self.functions.get(name).copied()).collect()
    }

    /// What other units know of a function or an object that one unit defines in a way that is not
    /// understood is not enough to use it.
    pub(crate) fn mark_unknown(&self, tree: &mut Tree) {
        for (name, problem) in &self.unknown {
            if let Some(id) = self.functions.get(name) {
                tree.functions[id.0 as usize].problems.push(problem.clone());
            }
            if let Some(id) = self.objects.get(name) {
                tree.objects[id.0 as usize].problem.get_or_insert(problem.clone());
            }
        }
    }

    /// A function of the C library that headers give another name for the assembler, for another
    /// standard of C, is the one of that name if there is a model of it.
    pub(crate) fn take_other_standard(&mut self, tree: &mut Tree) {
        for (name, label, _) in &self.labels {
            let Some(id) = self.functions.get(name).copied() else { continue };
            let is_free = tree.function(id).body.is_none() && !self.functions.contains_key(label);
            if is_free && label.starts_with("__isoc23_") && model_of(label).is_some() {
                tree.functions[id.0 as usize].name.clone_from(label);
                self.functions.remove(name);
                self.functions.insert(label.clone(), id);
            }
        }
    }

    /// Two names of one function or object: it is not followed which ones are one.
    pub(crate) fn mark_second_names(&self, tree: &mut Tree) {
        for (name, problem) in self.second_names(tree) {
            for function in tree.functions.iter_mut().filter(|function| function.name == name) {
                function.problems.push(problem.clone());
            }
            let is_static = |object: &&mut Object| object.lifetime == Lifetime::Static && object.name == name;
            for object in tree.objects.iter_mut().filter(is_static) {
                object.problem.get_or_insert(problem.clone());
            }
        }
    }

    /// The second names, and those that they stand for.
    fn second_names(&self, tree: &Tree) -> Vec<(String, Problem)> {
        let is_known = |label: &str| {
            let object = |object: &Object| object.lifetime == Lifetime::Static && object.name == label;
            let function = |function: &Function| function.name == label;
            tree.objects.iter().any(object) || tree.functions.iter().any(function)
        };
        let has_body = |name: &str| tree.functions.iter().any(|f| f.name == name && f.body.is_some());
        let is_object = |name: &str| self.objects.contains_key(name);
        let mut problems = Vec::new();
        for (name, label, span) in &self.labels {
            let shared = self.labels.iter().any(|(other, same, _)| other != name && same == label);
            let defined = has_body(name) || has_body(label) || is_object(name);
            if defined && (shared || is_known(label)) {
                let problem = Problem::unsupported(*span, &format!("a second name for `{label}` is"));
                problems.push((name.clone(), problem.clone()));
                problems.push((label.clone(), problem));
            }
        }
        problems
    }
}

#[derive(Default)]
struct Scope {
    names: FxHashMap<String, Entity>,
    /// Structures and unions by tag, then enumerations by tag.
    records: FxHashMap<String, u32>,
    enums: FxHashMap<String, CType>,
}

/// Reads one unit.
pub(crate) struct Sema<'a> {
    pub(super) tree: &'a mut Tree,
    pub(super) linkage: &'a mut Linkage,
    pub(super) sources: &'a mut Sources,
    lines: &'a LineTable,
    pragmas: &'a Pragmas,
    scopes: Vec<Scope>,
    function: Option<FunctionId>,
    result: CType,
    /// Statements that the declaration at hand implies: the sizes of arrays of variable length.
    implied: Vec<Statement>,
    problems: Vec<Problem>,
    /// Attributes that are not supported, of the declaration at hand.
    refused: Vec<Problem>,
    /// The name that the declaration at hand is a second one for, and where that is said.
    alias: Option<(String, Span)>,
    /// Second names of the unit, and what they stand for.
    aliases: Vec<(String, String, Span)>,
    /// Where such attributes were met.
    met: BTreeSet<usize>,
    /// Whether names with `_` may have other characters in the text.
    renames: bool,
    /// Attributes that may change what the program does, by their places.
    serious: Vec<(usize, String)>,
    /// What to do with a second definition of a function.
    again: Again,
    /// How many lists of parameters are being read, one inside the other.
    in_prototype: usize,
    /// Whether the outermost of them is that of the function at hand: its lengths are evaluated.
    defines: bool,
    /// The structures below this number are those of other units.
    first_record: u32,
    /// The members of the structure that was read last that are atomic.
    atomic_members: Vec<String>,
    /// Whether something in the unit has an alignment of its own.
    aligns: bool,
    /// Where bodies were cut out, and why.
    lost: Vec<(std::ops::Range<usize>, Problem)>,
    /// The switches around the statement at hand.
    switches: Vec<Switch>,
    /// Functions to whose labels nested functions jump.
    left_for: Vec<nested::Left>,
}

/// A switch that is being read.
struct Switch {
    /// The type of its value.
    ty: CType,
    /// What is wrong with one of its cases.
    problem: Option<Problem>,
}

/// What to do with a second definition of a function.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Again {
    Refuse,
    /// The program's own definition stays.
    Skip,
    /// The same, and a definition is left out if the program declares another function.
    Library,
}

/// Adds definitions of functions that the program does not define.
pub(crate) fn analyse_models(
    unit: &Unit,
    tree: &mut Tree,
    linkage: &mut Linkage,
    sources: &mut Sources,
) -> Vec<Problem> {
    analyse_unit(unit, tree, linkage, sources, Again::Skip)
}

/// Adds our own definitions of library functions, where the program has none, and means them.
pub(crate) fn analyse_library(
    unit: &Unit,
    tree: &mut Tree,
    linkage: &mut Linkage,
    sources: &mut Sources,
) -> Vec<Problem> {
    analyse_unit(unit, tree, linkage, sources, Again::Library)
}

/// Adds a unit to the tree. Problems in bodies are kept with the functions; the others are
/// returned.
pub(crate) fn analyse(
    unit: &Unit,
    tree: &mut Tree,
    linkage: &mut Linkage,
    sources: &mut Sources,
) -> Vec<Problem> {
    analyse_unit(unit, tree, linkage, sources, Again::Refuse)
}

fn analyse_unit(
    unit: &Unit,
    tree: &mut Tree,
    linkage: &mut Linkage,
    sources: &mut Sources,
    again: Again,
) -> Vec<Problem> {
    let first_record = tree.types.records.len() as u32;
    linkage.unit += 1;
    let mut sema = Sema {
        tree,
        linkage,
        sources,
        lines: &unit.lines,
        pragmas: &unit.pragmas,
        scopes: vec![Scope::default()],
        function: None,
        result: CType::Void,
        implied: Vec::new(),
        problems: Vec::new(),
        refused: Vec::new(),
        alias: None,
        aliases: Vec::new(),
        met: BTreeSet::new(),
        renames: unit.renames,
        serious: unit.serious.iter().map(|(at, name)| (*at, name.to_string())).collect(),
        again,
        in_prototype: 0,
        defines: false,
        first_record,
        atomic_members: Vec::new(),
        aligns: false,
        switches: Vec::new(),
        left_for: Vec::new(),
        lost: Vec::new(),
    };
    for lost in &unit.lost {
        let span = unit.lines.span(sema.sources, lost.at.start, lost.at.end);
        let problem = Problem::unsupported(span, &format!("the syntax at `{}` is", lost.word));
        // What nobody declares any more is a mistake where it is used, or a function of any result;
        // the latter are known to be unknown by their names.
        for name in &lost.names {
            sema.linkage.unknown.insert(name.clone(), problem.clone());
        }
        if lost.names.is_empty() {
            sema.lost.push((lost.range.clone(), problem));
        }
    }
    let definitions = sema.share_records(&unit.tree);
    for declaration in &unit.tree.0 {
        let outcome = match &declaration.node {
            ExternalDeclaration::Declaration(declaration) => sema.declaration(declaration).map(drop),
            ExternalDeclaration::StaticAssert(assertion) => sema.static_assert(assertion),
            ExternalDeclaration::FunctionDefinition(definition) => sema.definition(definition),
        };
        if let Err(problem) = outcome {
            sema.not_understood(declaration, problem);
        }
        // Those of no name in particular.
        let refused = std::mem::take(&mut sema.refused);
        sema.problems.extend(refused);
    }
    sema.settle_aliases();
    for (at, name) in &unit.serious {
        if sema.met.contains(at) {
            continue;
        }
        let span = unit.lines.place_of(sema.sources, *at, name.len());
        let problem = unsupported_attribute(span, name);
        let is_around = |node: &&Node<ExternalDeclaration>| {
            unit.lines.original(node.span.start) <= *at && *at < unit.lines.original(node.span.end)
        };
        match unit.tree.0.iter().find(is_around) {
            Some(Node { node: ExternalDeclaration::FunctionDefinition(definition), .. }) => {
                sema.spoil_function(definition, problem);
            }
            _ => sema.problems.push(problem),
        }
    }
    sema.offer_records(definitions);
    sema.problems
}

fn unsupported_attribute(span: Span, name: &str) -> Problem {
    Problem::unsupported(span, &format!("the attribute `{name}` is"))
}

impl Sema<'_> {
    pub(super) fn span<T>(&mut self, node: &Node<T>) -> Span {
        self.lines.span(self.sources, node.span.start, node.span.end)
    }

    pub(super) fn span_between(&mut self, start: usize, end: usize) -> Span {
        self.lines.span(self.sources, start, end)
    }

    pub(super) fn fail<T, N>(&mut self, node: &Node<N>, message: impl Into<String>) -> Checked<T> {
        Err(Problem::new(self.span(node), message))
    }

    pub(super) fn unsupported<T, N>(&mut self, node: &Node<N>, what: &str) -> Checked<T> {
        Err(Problem::unsupported(self.span(node), what))
    }

    fn enter(&mut self) {
        self.scopes.push(Scope::default());
    }

    fn leave(&mut self) {
        self.scopes.pop();
    }

    fn lookup(&self, name: &str) -> Option<&Entity> {
        self.scopes.iter().rev().find_map(|scope| scope.names.get(name))
    }

    fn here(&mut self) -> &mut Scope {
        self.scopes.last_mut().expect("there is always the scope of the file")
    }

    fn bind(&mut self, name: &str, entity: Entity) {
        self.here().names.insert(name.to_owned(), entity);
    }

    fn static_assert(&mut self, assertion: &Node<StaticAssert>) -> Checked<()> {
        match self.integer_constant(&assertion.node.expression)? {
            0 => self.fail(assertion, "the static assertion fails"),
            _ => Ok(()),
        }
    }
}
