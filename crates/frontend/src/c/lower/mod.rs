//! From [`Tree`] to control-flow automata.
//!
//! # Reading order
//! 1. [`lower`] and [`Context`]: the whole program. `body.rs`: a procedure under construction.
//! 2. `storage.rs`: where objects are kept; `place.rs`, `memory.rs`: reading and writing them.
//! 3. `value.rs`, `branch.rs`: expressions as values and as conditions; `order.rs`: what is
//!    evaluated first; `rules.rs`, `slots.rs`: checks in front of what C leaves
//!    undefined.
//! 4. `statement.rs`, `declare.rs`, `scopes.rs`, `call.rs`, `conventions.rs`, `initial.rs`;
//!    `outside.rs`: functions without a body; `jumps.rs`: `setjmp` and `longjmp`; `events.rs`,
//!    `guards.rs`, `modelled.rs`: rules of a property; `start.rs`: what happens before `main`.

mod arguments;
mod blocks;
mod body;
mod branch;
mod call;
mod conventions;
mod declare;
mod events;
mod floats;
mod guards;
mod initial;
pub(crate) mod jumps;
mod lifetimes;
mod memory;
mod modelled;
mod object_names;
mod order;
mod outside;
mod overflow;
mod padding;
mod place;
mod plausible;
mod rules;
mod scopes;
mod slots;
mod start;
mod statement;
mod storage;
mod threads;
mod value;

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use wherefore_program::{
    About, EdgeId, EdgeRef, Expr, LocationId, LocationKind, Node, Objects, Operation, Procedure, ProcedureId,
    Scalar, Span, Type, Unsupported, Var, Variable, ViolationKind, c_library,
};

use super::ctype::CType;
use super::doubts::Observed;
use super::points_to::{Class, Classes};
use super::problem::{Checked, Problem};
use super::tree::{FunctionId, ObjectId, Tree};
use super::usage::Usage;
use super::{Assumption, Input, Options, Region};
use body::Body;
use storage::{Frame, Storage};

/// Where functions, objects, those that must not be written to, the heap and the stack start in
/// memory.
const FUNCTIONS: u64 = 0x1_0000;
const OBJECTS: u64 = 0x40_0000;
const READ_ONLY: u64 = 0x1e00_0000;
const HEAP: u64 = 0x2000_0000;
const STACK: u64 = 0x8000_0000;
/// Where local objects with fresh memory start, where pointers have 32 bits.
const LOCALS: u64 = 0xc000_0000;

/// Functions that free memory.
const RELEASE: [&str; 3] = ["free", "cfree", "realloc"];

/// What the whole program shares.
pub(crate) struct Context<'t> {
    pub(crate) tree: &'t Tree,
    pub(crate) usage: &'t Usage,
    pub(crate) classes: Classes,
    pub(crate) options: &'t Options,
    globals: Vec<Variable>,
    names: BTreeSet<String>,
    storages: FxHashMap<ObjectId, Storage>,
    /// Objects with static lifetime that are used.
    statics: Vec<ObjectId>,
    regions: BTreeMap<Class, memory::Division>,
    memories: usize,
    next_address: u64,
    next_read_only: u64,
    /// What lies where, and what it is called.
    objects: Objects,
    /// For functions that need not exist, whether they do.
    weak: FxHashMap<FunctionId, Var>,
    /// The tables of extents, and where objects are, of classes whose accesses are checked.
    extents: BTreeMap<Class, Var>,
    layouts: BTreeMap<Class, slots::Layout>,
    /// Calls of our models of library functions whose accesses are checked: each has a copy of the
    /// model, whose steps are at the call.
    copies: Vec<(FunctionId, Span)>,
    /// The copy that is lowered.
    copy: Option<Span>,
    /// Whether a model is lowered that is no copy: only pointers lead to it, if any do.
    in_whole_model: bool,
    /// Where memory is allocated, if it must be freed.
    allocations: Vec<Span>,
    /// The address of one allocation that is not freed, by choice, and the number of its place.
    kept: Option<(Var, Var)>,
    /// Whether the program may look at pointers as numbers.
    looks_at_pointers: bool,
    /// Whether the program frees memory.
    frees: bool,
    /// The classes that arguments of `main` lead to that are not followed.
    given: BTreeSet<Class>,
    /// The arguments of `main`, if they are followed.
    arguments: Option<arguments::Arguments>,
    heap: Option<Var>,
    stack: Option<Var>,
    locals: Option<Var>,
    /// The variables of jumps by `longjmp`.
    jumping: Option<jumps::Jumping>,
    /// Whether the program takes memory from the stack (`alloca`).
    takes_from_stack: bool,
    /// Which local objects have fresh memory each time they are declared, as far as it is known.
    fresh: FxHashMap<ObjectId, bool>,
    /// The variables of a property.
    tracked: Option<events::Tracked>,
    /// Variables that each thread has for itself.
    own: Vec<Var>,
    /// Whether the program starts threads.
    pub(crate) has_threads: bool,
    procedures: FxHashMap<FunctionId, ProcedureId>,
    inputs: Vec<Input>,
    approximations: Vec<EdgeRef>,
    assumptions: Vec<Assumption>,
    doubts: Vec<Assumption>,
    undefined: Vec<String>,
    unsupported: Vec<Unsupported>,
    /// What is not C, as far as we know, in what is used.
    mistakes: Vec<Problem>,
}

/// The memory of a class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cells {
    pub(crate) variable: Var,
    /// The size of a cell in bytes.
    pub(crate) size: u64,
}

/// The result of lowering.
pub(crate) struct Lowered {
    pub(crate) globals: Vec<Variable>,
    pub(crate) procedures: Vec<Procedure>,
    pub(crate) entry: ProcedureId,
    pub(crate) objects: Objects,
    pub(crate) inputs: Vec<Input>,
    pub(crate) approximations: Vec<EdgeRef>,
    pub(crate) assumptions: Vec<Assumption>,
    pub(crate) doubts: Vec<Assumption>,
    pub(crate) undefined: Vec<String>,
    pub(crate) unsupported: Vec<Unsupported>,
    pub(crate) mistakes: Vec<Problem>,
    pub(crate) regions: Vec<Region>,
    /// Variables that are not the program's own: accesses to them do not race.
    pub(crate) unwatched: BTreeSet<Var>,
    /// The procedures that stand for functions about threads.
    pub(crate) models: BTreeSet<ProcedureId>,
    /// The variable that holds the object that a property follows.
    pub(crate) followed: Option<Var>,
}

/// Lowers everything that is used from some entries on: each run starts in one of them.
pub(crate) fn lower(tree: &Tree, usage: &Usage, entries: &[FunctionId], options: &Options) -> Lowered {
    let bodies: Vec<FunctionId> =
        usage.functions.iter().copied().filter(|id| tree.function(*id).body.is_some()).collect();
    let procedures = bodies.iter().copied().zip((0..).map(ProcedureId)).collect();
    let mut context = Context {
        tree,
        usage,
        classes: Classes::new(tree, usage, entries, options.checks.contains(&ViolationKind::Bounds)),
        options,
        globals: Vec::new(),
        names: BTreeSet::new(),
        storages: FxHashMap::default(),
        statics: Vec::new(),
        regions: BTreeMap::new(),
        memories: 0,
        next_address: OBJECTS,
        next_read_only: READ_ONLY,
        objects: Objects::default(),
        weak: FxHashMap::default(),
        extents: BTreeMap::new(),
        layouts: BTreeMap::new(),
        copies: Vec::new(),
        copy: None,
        in_whole_model: false,
        allocations: Vec::new(),
        kept: None,
        looks_at_pointers: true,
        frees: usage.functions.iter().any(|id| RELEASE.contains(&tree.function(*id).name.as_str())),
        given: BTreeSet::new(),
        arguments: None,
        heap: None,
        stack: None,
        locals: None,
        jumping: None,
        takes_from_stack: usage
            .functions
            .iter()
            .any(|id| super::models::is_on_stack(&tree.function(*id).name)),
        fresh: FxHashMap::default(),
        tracked: None,
        own: Vec::new(),
        has_threads: super::threads::has_threads(tree, usage),
        procedures,
        inputs: Vec::new(),
        approximations: Vec::new(),
        assumptions: Vec::new(),
        doubts: Vec::new(),
        undefined: Vec::new(),
        unsupported: Vec::new(),
        mistakes: Vec::new(),
    };
    context.follow_arguments(entries);
    if let Some(span) = tree.output {
        context.assume("what is written to a stream gets there", Some(span));
    }
    for (name, text) in super::models::ASSUMED {
        let is_ours = |id: &FunctionId| context.is_model(*id) && tree.function(*id).name == name;
        if bodies.iter().any(is_ours) {
            context.assume(text, None);
        }
    }
    let observed = Observed::new(tree, usage, &mut context.classes);
    context.looks_at_pointers = observed.looks;
    let mut lowered = Vec::new();
    let mut names = BTreeSet::new();
    for id in &bodies {
        let function = tree.function(*id);
        let mut name = function.name.clone();
        let mut count = 1;
        while !names.insert(name.clone()) {
            count += 1;
            name = format!("{}@{count}", function.name);
        }
        let known = context.assumptions.len();
        context.in_whole_model = context.is_model(*id);
        lowered.push(context.procedure(*id, name));
        context.in_whole_model = false;
        // Calls of models go to copies of them.
        if context.is_model(*id) && !options.checks.is_empty() && !usage.addressed.contains(id) {
            context.assumptions.truncate(known);
        }
    }
    let name = (0..).map(|i| if i == 0 { "start".to_owned() } else { format!("start@{i}") });
    let name = name.into_iter().find(|name| !names.contains(name)).expect("there is a free name");
    names.insert(name.clone());
    lowered.push(context.start(entries, name));
    let entry = ProcedureId(lowered.len() as u32 - 1);
    let mut copied = 0;
    while let Some((id, span)) = context.copies.get(copied).copied() {
        copied += 1;
        let function = &tree.function(id).name;
        let name = (copied..).map(|i| format!("{function}@{i}")).find(|name| names.insert(name.clone()));
        lowered.push(context.copied(id, span, name.unwrap_or_default()));
    }
    if observed.number.is_some() {
        context.doubt("nothing depends on the number that an address is", observed.number);
    }
    if observed.compared.is_some() {
        context.doubt("nothing depends on whether an address is a given number", observed.compared);
    }
    // Those that must not be written to are apart.
    context.objects.fixed.sort_by_key(|object| object.address);
    let regions = context.named_regions();
    let is_ours = |id: FunctionId| context.is_about_threads(id);
    let whole = bodies.iter().copied().zip(0..);
    let copies = context.copies.iter().map(|(id, _)| *id).zip(entry.0 + 1..);
    let models = whole.chain(copies).filter(|(id, _)| is_ours(*id)).map(|(_, id)| ProcedureId(id)).collect();
    let unwatched = context.unwatched();
    let followed = context.followed();
    let (has_threads, heap, stack, own) =
        (context.has_threads, context.heap, context.stack, std::mem::take(&mut context.own));
    let lowered = Lowered {
        globals: context.globals,
        procedures: lowered,
        entry,
        objects: context.objects,
        inputs: context.inputs,
        approximations: context.approximations,
        assumptions: context.assumptions,
        doubts: context.doubts,
        undefined: context.undefined,
        unsupported: context.unsupported,
        mistakes: context.mistakes,
        regions,
        unwatched,
        models,
        followed,
    };
    match (has_threads, heap) {
        (true, _) => lowered.with_threads(heap, stack, &own),
        (false, Some(heap)) if stack.is_none() && lowered.objects.blocks.is_none() => {
            lowered.with_even_blocks(heap)
        }
        _ => lowered,
    }
}

impl Context<'_> {
    /// Whether the compiled program computes what a function without a body gives.
    pub(crate) fn computes(&self, name: &str) -> bool {
        c_library::is_deterministic(name) || self.tree.files.computes(name)
    }

    pub(crate) fn pointer(&self) -> Scalar {
        Scalar::Bits(self.tree.types.model.pointer_bits())
    }

    /// Records an assumption, once for each text.
    pub(crate) fn assume(&mut self, text: impl Into<String>, span: Option<Span>) {
        let text = text.into();
        let is_ours = |span: &Span| self.tree.library.contains(&span.file);
        let span = self.copy.or(span).filter(|span| !is_ours(span));
        if !self.assumptions.iter().any(|known| known.text == text) {
            self.assumptions.push(Assumption { text, span, about: About::Data });
        }
    }

    /// Records something that must not matter for a proof, once for each text.
    pub(crate) fn doubt(&mut self, text: &str, span: Option<Span>) {
        if !self.doubts.iter().any(|known| known.text == text) {
            self.doubts.push(Assumption { text: text.to_owned(), span, about: About::Data });
        }
    }

    /// The same about which functions are called.
    pub(crate) fn doubt_control(&mut self, text: &str, span: Option<Span>) {
        if !self.doubts.iter().any(|known| known.text == text) {
            self.doubts.push(Assumption { text: text.to_owned(), span, about: About::Control });
        }
    }

    /// The same about a rule that is asked about, and not checked here.
    pub(crate) fn doubt_rule(&mut self, text: &str, span: Option<Span>) {
        if !self.doubts.iter().any(|known| known.text == text) {
            self.doubts.push(Assumption { text: text.to_owned(), span, about: About::Rule });
        }
    }

    /// The value of a function: its address, or NULL if it need not exist and does not.
    pub(crate) fn function_value(&mut self, id: FunctionId, ty: Scalar) -> Expr {
        let address = Expr::constant(self.function_address(id), ty);
        let function = self.tree.function(id);
        let Some(span) = function.weak.filter(|_| function.body.is_none()) else { return address };
        let exists = match self.weak.get(&id) {
            Some(exists) => *exists,
            None => {
                let name = format!("exists({})", function.name);
                let exists = self.global(&name, Type::Scalar(Scalar::Bool), None, span);
                self.weak.insert(id, exists);
                exists
            }
        };
        Expr::if_then_else(Expr::variable(exists, Scalar::Bool), address, Expr::constant(0, ty))
    }

    /// The address of a function.
    pub(crate) fn function_address(&self, id: FunctionId) -> u64 {
        FUNCTIONS + 16 * u64::from(id.0)
    }

    /// Whether a function is one of our models of the C library.
    fn is_model(&self, id: FunctionId) -> bool {
        self.tree.library.contains(&self.tree.function(id).span.file)
    }

    /// Whether a function is one of our models of functions about threads.
    fn is_about_threads(&self, id: FunctionId) -> bool {
        self.tree.threads == Some(self.tree.function(id).span.file)
    }

    /// Variables that are not the program's own.
    fn unwatched(&self) -> BTreeSet<Var> {
        let is_ours = |variable: &Variable| {
            !variable.ty.is_memory()
                && (self.tree.library.contains(&variable.span.file) || variable.name == "errno")
        };
        let ours = (0..).map(Var::Global).zip(&self.globals).filter(|(_, variable)| is_ours(variable));
        let tables = self.extents.values().copied().chain(self.heap).chain(self.stack).chain(self.locals);
        ours.map(|(id, _)| id).chain(tables).collect()
    }

    /// The procedure that a call of a function goes to.
    pub(crate) fn callee(&mut self, id: FunctionId, span: Span) -> ProcedureId {
        if !self.is_model(id) || self.options.checks.is_empty() || self.in_whole_model {
            return self.procedures[&id];
        }
        let call = (id, self.copy.unwrap_or(span));
        let at = self.copies.iter().position(|known| *known == call).unwrap_or_else(|| {
            self.copies.push(call);
            self.copies.len() - 1
        });
        // The procedures of the program come first, then the start.
        ProcedureId((self.procedures.len() + 1 + at) as u32)
    }

    /// A copy of a model of a library function, for one call: its steps are at the call.
    fn copied(&mut self, id: FunctionId, span: Span, name: String) -> Procedure {
        let tree = self.tree;
        // Variables are those of the procedure at hand.
        self.storages.retain(|object, storage| {
            tree.object(*object).owner != Some(id) || matches!(storage, Storage::Memory(_))
        });
        let whole = self.procedures[&id];
        let copy = self.callee(id, span);
        self.procedures.insert(id, copy);
        self.copy = Some(span);
        let mut procedure = self.procedure(id, name);
        self.copy = None;
        self.procedures.insert(id, whole);
        procedure.locations.iter_mut().for_each(|location| {
            location.span = span;
            location.violation.iter_mut().for_each(|violation| violation.subject = span);
        });
        procedure.edges.iter_mut().for_each(|edge| edge.span = span);
        procedure
    }

    fn procedure(&mut self, id: FunctionId, name: String) -> Procedure {
        let tree = self.tree;
        let function = tree.function(id);
        let is_library = self.is_model(id);
        let mut lower = Lower {
            body: Body::new(function.span),
            cx: self,
            frame: Frame::default(),
            labels: FxHashMap::default(),
            targets: Vec::new(),
            olds: Vec::new(),
            inputs: Vec::new(),
            approximated: Vec::new(),
            result: function.signature.result.clone(),
            entered_once: false,
            head: None,
            function: Some(id),
            unsupported: Vec::new(),
            cleanups: Vec::new(),
            scopes_of_labels: FxHashMap::default(),
            guards: Vec::new(),
            is_library,
            is_claim: false,
            returning: jumps::Returning::default(),
            sure: (LocationId(0), Vec::new()),
        };
        lower.entered_once =
            function.name == lower.cx.options.entry && !lower.cx.usage.recursive.contains(&id);
        let parameters = lower.function(id);
        lower.finish(name, function.span, parameters, id)
    }
}

/// Lowers one function.
pub(crate) struct Lower<'c, 't> {
    pub(crate) cx: &'c mut Context<'t>,
    pub(crate) body: Body,
    pub(crate) frame: Frame,
    /// Where labels are, and whether one was already seen.
    labels: FxHashMap<String, (LocationId, bool)>,
    /// What `break`, `continue` and `case` refer to.
    targets: Vec<statement::Jumps>,
    /// The values that updates start from.
    olds: Vec<Expr>,
    /// Steps with the function that is called, their types, and the type that it returns.
    inputs: Vec<(usize, String, Scalar, CType, CType)>,
    /// Steps that give a value at random that has one in the compiled program.
    approximated: Vec<usize>,
    result: CType,
    /// Whether the procedure runs at most once.
    entered_once: bool,
    /// The span of the compound statement whose condition comes next.
    head: Option<Span>,
    /// The function that is lowered; none for the start.
    function: Option<FunctionId>,
    /// Places that are not modelled.
    unsupported: Vec<(LocationId, String)>,
    /// What is evaluated when the scopes around the statement at hand are left, the innermost last.
    cleanups: Vec<(ObjectId, lifetimes::Ending)>,
    scopes_of_labels: FxHashMap<String, Vec<ObjectId>>,
    /// What must hold for the part of an expression at hand to be evaluated.
    guards: Vec<Expr>,
    /// Whether the function is one of our models of the C library.
    is_library: bool,
    /// Whether a claim is evaluated, which is no part of the program.
    is_claim: bool,
    /// The calls of `setjmp`.
    returning: jumps::Returning,
    /// What checks have just made sure of, and the location behind them.
    sure: (LocationId, Vec<Expr>),
}

impl Lower<'_, '_> {
    /// What was made from this location on does not count: it is not modelled what happens there.
    pub(crate) fn unsupported_from(&mut self, start: LocationId, problem: Problem) {
        let at = self.body.cut(start, problem.span);
        self.unsupported.push((at, problem.as_place()));
        self.cx.mistakes.extend(Some(problem).filter(Problem::is_mistake));
    }

    /// Does some work; if it cannot be done, there is a place instead that is not modelled.
    pub(crate) fn attempt<R>(&mut self, work: impl FnOnce(&mut Self) -> Checked<R>) -> Option<R> {
        let (start, olds) = (self.body.at, self.olds.len());
        match work(self) {
            Ok(result) => Some(result),
            Err(problem) => {
                self.unsupported_from(start, problem);
                self.olds.truncate(olds);
                None
            }
        }
    }

    fn finish(self, name: String, span: Span, parameters: usize, id: FunctionId) -> Procedure {
        let results = self.cx.result_types(id);
        self.close(name, span, parameters, results, Some(id))
    }

    fn close(
        self,
        name: String,
        span: Span,
        parameters: usize,
        results: Vec<Scalar>,
        of: Option<FunctionId>,
    ) -> Procedure {
        let id = match of {
            Some(id) => self.cx.procedures[&id],
            None => ProcedureId(self.cx.procedures.len() as u32),
        };
        let (procedure, went, moved) = self.body.finish(name, span, parameters, results);
        let mut unsupported: Vec<Unsupported> = Vec::new();
        for (at, what) in self.unsupported {
            let Some(location) = moved[at.0 as usize] else { continue };
            let node = Node { procedure: id, location };
            if !unsupported.iter().any(|known| known.node == node) {
                unsupported.push(Unsupported { node, what });
            }
        }
        self.cx.unsupported.extend(unsupported);
        for (edge, function, ty, of, whole) in self.inputs {
            if let Some(edge) = went[edge] {
                let edge = EdgeRef { procedure: id, edge: EdgeId(edge) };
                self.cx.inputs.push(Input {
                    edge,
                    function,
                    ty,
                    signed: of.is_signed(),
                    float: of.is_float(),
                    pointer: of.is_pointer(),
                    part: !whole.is_scalar(),
                });
            }
        }
        for edge in self.approximated.into_iter().filter_map(|edge| went[edge]) {
            self.cx.approximations.push(EdgeRef { procedure: id, edge: EdgeId(edge) });
        }
        procedure
    }

    /// Does some work whose steps give values at random that have one in the compiled program.
    pub(crate) fn approximating<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> R {
        let before = self.body.edge_count();
        let result = work(self);
        self.approximated.extend(before..self.body.edge_count());
        result
    }

    /// Stores a value in a new temporary.
    pub(crate) fn keep(&mut self, value: Expr, span: Span) -> Expr {
        let variable = self.body.temporary(value.ty, span);
        let ty = value.ty;
        self.body.assign(span, vec![variable.into()], vec![value]);
        Expr::variable(variable, ty)
    }

    /// A value that is the same wherever it is used.
    pub(crate) fn stable(&mut self, value: Expr, span: Span) -> Expr {
        if value.has_choice() { self.keep(value, span) } else { value }
    }

    /// The run goes on only if the condition holds.
    pub(crate) fn require(&mut self, condition: Expr, span: Span) {
        if condition.as_constant() != Some(1) {
            self.body.step(span, LocationKind::Statement, Operation::Assume(condition));
        }
    }

    /// The same for something that the model assumes, and no statement says.
    fn assume_of_model(&mut self, condition: Expr, span: Span) {
        if condition.as_constant() != Some(1) {
            self.body.step(span, LocationKind::Model, Operation::Assume(condition));
        }
    }
}
