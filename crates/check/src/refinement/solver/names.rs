//! What formulas call the values of variables.
//!
//! Formulas of a procedure speak of its store and of its store *at entry*, written `old(x)`. One
//! about the two stores at its exit, and its *results*, is the effect of the procedure. While a
//! callee runs, formulas may also speak of the caller's store, which does not change meanwhile: its
//! values are *frozen*. The variables of folded calls belong to the store of the procedure that
//! they are folded into.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use wherefore_program::{CallGraph, ModRef, ProcedureId, Program, Scalar};
use wherefore_smt::{Sort, Term, Terms};

use super::constants::Writes;
use super::folding::Folding;
use crate::source_text::Vocabulary;
use crate::symbolic::{Machine, PlaceId, Store};

/// A variable of a store: its number in the flat program, and its names. What a procedure never
/// changes is what it was at entry, and has one name.
#[derive(Clone, Copy)]
pub(crate) struct Named {
    pub number: u32,
    pub now: Term,
    pub old: Term,
}

/// A procedure with a summary.
pub(crate) struct Scope {
    /// Its frame, and those of the calls that are folded into it.
    pub frames: Vec<u32>,
    pub globals: Vec<Named>,
    pub locals: Vec<Named>,
    /// The variables of folded calls, by frame. They have no value at entry.
    pub folded: Vec<(u32, Vec<Named>)>,
    pub results: Vec<Term>,
}

impl Scope {
    /// What exists when the procedure is entered: globals, and its own variables.
    pub fn at_entry(&self) -> impl Iterator<Item = Named> + '_ {
        self.globals.iter().chain(&self.locals).copied()
    }

    /// All that formulas of the procedure speak of.
    pub fn all(&self) -> impl Iterator<Item = Named> + '_ {
        self.at_entry().chain(self.folded.iter().flat_map(|(_, named)| named).copied())
    }

    /// The frame that the procedure runs in.
    pub fn frame(&self) -> u32 {
        self.frames[0]
    }
}

/// The names of all variables.
pub(crate) struct Names {
    /// The procedures that are not folded into others.
    pub scopes: BTreeMap<ProcedureId, Scope>,
    /// The store in which every variable has its name as its value.
    pub store: Store,
    /// The procedure that each frame belongs to.
    owners: FxHashMap<u32, ProcedureId>,
    all: FxHashSet<Term>,
}

impl Names {
    pub fn new(machine: &mut Machine<'_>, program: &Program, folding: &Folding) -> Self {
        let calls = CallGraph::new(program);
        let mod_ref = ModRef::new(program);
        let mut names = Self {
            scopes: BTreeMap::new(),
            store: Store::default(),
            owners: FxHashMap::default(),
            all: FxHashSet::default(),
        };
        let mut globals = Vec::new();
        for (variable, number) in program.globals.iter().zip(0..) {
            let sort = Machine::sort(&variable.ty);
            globals.push(names.add(&mut machine.terms, &variable.name, number, sort));
        }
        for id in calls.reachable(program.entry).into_iter().filter(|id| !folding.folds(*id)) {
            // A procedure that nobody calls has no caller who would ask what it changed.
            let is_called = id != program.entry || calls.is_recursive(id);
            let frames = frames(machine, folding, id);
            names.owners.extend(frames.iter().map(|frame| (*frame, id)));
            let writes = &mod_ref.effects(id).writes;
            let written = Writes::of(program.procedure(id)).counts;
            let globals =
                globals.iter().map(|named| named.if_written(is_called && writes.contains(&named.number)));
            let globals = globals.collect();
            let locals = names.of_frame(machine, frames[0]).into_iter().enumerate();
            let locals = locals
                .map(|(i, named)| named.if_written(is_called && written.contains_key(&(i as u32))))
                .collect();
            let folded = frames[1..].iter();
            let folded = folded.map(|frame| {
                let of_frame = names.of_frame(machine, *frame).into_iter();
                (*frame, of_frame.map(|named| named.if_written(false)).collect())
            });
            let folded = folded.collect();
            let results = names.results(&mut machine.terms, program, id);
            names.scopes.insert(id, Scope { frames, globals, locals, folded, results });
        }
        names
    }

    /// The names of the variables of a frame.
    fn of_frame(&mut self, machine: &mut Machine<'_>, frame: u32) -> Vec<Named> {
        let program = machine.flat.program;
        let frame = &machine.flat.frames[frame as usize];
        let (first, variables) = (frame.first, &program.procedure(frame.procedure).variables);
        let mut named = Vec::new();
        for (variable, number) in variables.iter().zip(first..) {
            named.push(self.add(&mut machine.terms, &variable.name, number, Machine::sort(&variable.ty)));
        }
        named
    }

    fn add(&mut self, terms: &mut Terms, name: &str, number: u32, sort: Sort) -> Named {
        let now = terms.variable(&format!("{name}!{number}"), sort);
        let old = terms.variable(&format!("old({name}!{number})"), sort);
        self.store.set(number, now);
        self.all.extend([now, old]);
        Named { number, now, old }
    }

    fn results(&mut self, terms: &mut Terms, program: &Program, id: ProcedureId) -> Vec<Term> {
        let mut results = Vec::new();
        for (i, ty) in program.procedure(id).results.iter().enumerate() {
            let sort = match ty {
                Scalar::Bool => Sort::Bool,
                Scalar::Bits(width) => Sort::Bits(*width),
            };
            // The number of the procedure keeps results apart; people are not shown it.
            let result = terms.variable(&format!("{}!{}", result_name(i), id.0), sort);
            self.all.insert(result);
            results.push(result);
        }
        results
    }

    /// The procedure whose formulas speak about a place: the one that its frame is folded into.
    pub fn owner(&self, machine: &Machine<'_>, place: PlaceId) -> ProcedureId {
        self.owner_of(machine.flat.places[place as usize].frame)
    }

    /// The procedure that a frame belongs to.
    pub fn owner_of(&self, frame: u32) -> ProcedureId {
        self.owners[&frame]
    }

    /// Whether a variable is a name; else it is a value from outside.
    pub fn is_name(&self, variable: Term) -> bool {
        self.all.contains(&variable)
    }

    /// What formulas at a place call things in the source. Variables of other calls than that of
    /// the place are written `procedure::x`, or have no name.
    pub fn vocabulary(&self, machine: &Machine<'_>, place: PlaceId, frames: Frames) -> Vocabulary {
        let (flat, program) = (&machine.flat, machine.flat.program);
        let scope = &self.scopes[&self.owner(machine, place)];
        let own = flat.places[place as usize].frame;
        let body = program.procedure(flat.frames[own as usize].procedure);
        let is_whole = own == scope.frame();
        let mut words = Vocabulary::default();
        let hides = |name: &str| body.variables.iter().any(|variable| variable.name == name);
        let globals = scope.globals.iter().zip(&program.globals).filter(|(_, global)| !hides(&global.name));
        for (named, variable) in globals {
            // In a folded call, `old` would be taken for the entry of the callee.
            if is_whole {
                words.add(named.old, format!("old({})", variable.name), variable);
            }
            words.add(named.now, variable.name.clone(), variable);
        }
        let of_frames = std::iter::once((&scope.frames[0], &scope.locals));
        let of_frames = of_frames.chain(scope.folded.iter().map(|(frame, named)| (frame, named)));
        for (frame, list) in of_frames {
            let body = program.procedure(flat.frames[*frame as usize].procedure);
            for (named, variable) in list.iter().zip(&body.variables) {
                if *frame == own {
                    if is_whole {
                        words.add(named.old, format!("old({})", variable.name), variable);
                    }
                    words.add(named.now, variable.name.clone(), variable);
                } else if frames == Frames::All {
                    words.add(named.now, format!("{}::{}", body.name, variable.name), variable);
                }
            }
        }
        if is_whole {
            for (i, result) in scope.results.iter().enumerate() {
                words.add_value(*result, result_name(i));
            }
        }
        words
    }

    /// What a procedure can see now as what it could see at its entry.
    pub fn at_entry(&self, procedure: ProcedureId) -> FxHashMap<Term, Term> {
        self.scopes[&procedure].at_entry().map(|named| (named.now, named.old)).collect()
    }

    /// The name of a frozen value.
    pub fn frozen(&mut self, terms: &mut Terms, name: Term) -> Term {
        let text = format!("caller({})", terms.name(name).unwrap_or_default());
        let frozen = terms.variable(&text, terms.sort(name));
        self.all.insert(frozen);
        frozen
    }

    /// The variables of some terms that are not names: values from outside.
    pub fn inputs<'t>(&self, terms: &Terms, of: impl IntoIterator<Item = &'t Term>) -> Vec<Term> {
        let variables = of.into_iter().flat_map(|term| terms.variables(*term));
        let mut inputs: Vec<Term> = variables.filter(|variable| !self.all.contains(variable)).collect();
        inputs.sort_unstable();
        inputs.dedup();
        inputs
    }
}

/// Whose variables have a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frames {
    /// Those of the procedure at hand, and globals.
    Own,
    /// Those of other calls in the same store too, as `caller::x`.
    All,
}

impl Named {
    /// A name for the value at entry only if the variable is written.
    fn if_written(self, is_written: bool) -> Self {
        if is_written { self } else { Self { old: self.now, ..self } }
    }
}

fn result_name(i: usize) -> String {
    if i == 0 { "\\result".to_owned() } else { format!("\\result_{i}") }
}

/// The frame that stands for all calls of a procedure, and those of the calls folded into it.
fn frames(machine: &mut Machine<'_>, folding: &Folding, id: ProcedureId) -> Vec<u32> {
    let flat = &mut machine.flat;
    let mut frames = vec![flat.template(id)];
    let mut next = 0;
    while let Some(frame) = frames.get(next).copied() {
        for (call, callee) in flat.calls(frame) {
            if folding.folds(callee) {
                let edge = flat.open(frame, call);
                let entry = flat.edges[edge as usize].to;
                frames.push(flat.places[entry as usize].frame);
            }
        }
        next += 1;
    }
    frames
}
