//! What formulas call the values of variables.
//!
//! Formulas of a procedure speak of its store and of its store *at entry*, written `old(x)`. One
//! about the two stores at its exit, and its *results*, is the effect of the procedure. While a
//! callee runs, formulas may also speak of the caller's store, which does not change meanwhile: its
//! values are *frozen*.

use rustc_hash::{FxHashMap, FxHashSet};
use wherefore_program::{Operation, Procedure, ProcedureId, Program, Target, Var};
use wherefore_smt::{Sort, Term, Terms};

use crate::source_text::Vocabulary;
use crate::symbolic::{Machine, Store};

/// A variable of a store: its number in the flat program, and its names.
#[derive(Clone, Copy)]
pub(super) struct Named {
    pub number: u32,
    pub now: Term,
    pub old: Term,
}

/// The names of all variables.
pub(super) struct Names {
    pub globals: Vec<Named>,
    /// Of each procedure that can be called.
    pub locals: FxHashMap<ProcedureId, Vec<Named>>,
    pub results: FxHashMap<ProcedureId, Vec<Term>>,
    /// A frame for each of these procedures.
    pub frames: FxHashMap<ProcedureId, u32>,
    /// The store in which every variable has its name as its value.
    pub store: Store,
    all: FxHashSet<Term>,
}

impl Names {
    pub fn new(machine: &mut Machine<'_>, program: &Program, procedures: &[ProcedureId]) -> Self {
        let frames: FxHashMap<ProcedureId, u32> =
            procedures.iter().map(|procedure| (*procedure, machine.flat.template(*procedure))).collect();
        let mut names = Self {
            globals: Vec::new(),
            locals: FxHashMap::default(),
            results: FxHashMap::default(),
            frames,
            store: Store::default(),
            all: FxHashSet::default(),
        };
        for (variable, number) in program.globals.iter().zip(0..) {
            let named = names.add(&mut machine.terms, &variable.name, number, Machine::sort(&variable.ty));
            names.globals.push(named);
        }
        for id in procedures {
            let first = machine.flat.frames[names.frames[id] as usize].first;
            let procedure = program.procedure(*id);
            let written = written_locals(procedure);
            let mut locals = Vec::new();
            for (i, (variable, number)) in procedure.variables.iter().zip(first..).enumerate() {
                let sort = Machine::sort(&variable.ty);
                let mut named = names.add(&mut machine.terms, &variable.name, number, sort);
                // What never changes is what it was at entry.
                if !written.contains(&(i as u32)) {
                    named.old = named.now;
                }
                locals.push(named);
            }
            names.locals.insert(*id, locals);
            let mut results = Vec::new();
            for (i, ty) in procedure.results.iter().enumerate() {
                let sort = match ty {
                    wherefore_program::Scalar::Bool => Sort::Bool,
                    wherefore_program::Scalar::Bits(width) => Sort::Bits(*width),
                };
                // The number of the procedure keeps results apart; people are not shown it.
                let text = if i == 0 { "\\result".to_owned() } else { format!("\\result_{i}") };
                let result = machine.terms.variable(&format!("{text}!{}", id.0), sort);
                names.all.insert(result);
                results.push(result);
            }
            names.results.insert(*id, results);
        }
        names
    }

    fn add(&mut self, terms: &mut Terms, name: &str, number: u32, sort: Sort) -> Named {
        let now = terms.variable(&format!("{name}!{number}"), sort);
        let old = terms.variable(&format!("old({name}!{number})"), sort);
        self.store.set(number, now);
        self.all.extend([now, old]);
        Named { number, now, old }
    }

    /// What a procedure can see: globals, and its own variables.
    pub fn visible(&self, procedure: ProcedureId) -> impl Iterator<Item = Named> + '_ {
        self.globals.iter().chain(&self.locals[&procedure]).copied()
    }

    /// The names of what formulas of a procedure speak of: its store, its store at entry, its
    /// results, and the store of its caller.
    pub fn vocabulary(&self, program: &Program, procedure: ProcedureId) -> Vocabulary {
        let mut words = Vocabulary::default();
        let body = program.procedure(procedure);
        let hides = |name: &str| body.variables.iter().any(|variable| variable.name == name);
        let globals = self.globals.iter().zip(&program.globals).filter(|(_, global)| !hides(&global.name));
        for (named, variable) in globals.chain(self.locals[&procedure].iter().zip(&body.variables)) {
            words.add(named.old, format!("old({})", variable.name), variable);
            words.add(named.now, variable.name.clone(), variable);
        }
        for (i, result) in self.results[&procedure].iter().enumerate() {
            let text = if i == 0 { "\\result".to_owned() } else { format!("\\result_{i}") };
            words.add_value(*result, text);
        }
        words
    }

    /// What a procedure can see now as what it could see at its entry.
    pub fn at_entry(&self, procedure: ProcedureId) -> FxHashMap<Term, Term> {
        self.visible(procedure).map(|named| (named.now, named.old)).collect()
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

/// The variables of a procedure that one of its edges may change.
fn written_locals(procedure: &Procedure) -> FxHashSet<u32> {
    let mut written = FxHashSet::default();
    for edge in &procedure.edges {
        let (targets, results): (&[Target], &[Option<Target>]) = match &edge.operation {
            Operation::Assign(assignment) => (&assignment.targets, &[]),
            Operation::Havoc(targets) => (targets, &[]),
            Operation::Call(call) => (&call.assignment.targets, &call.results),
            _ => continue,
        };
        for target in targets.iter().chain(results.iter().flatten()) {
            if let Var::Local(i) = target.variable {
                written.insert(i);
            }
        }
    }
    written
}
