//! An abstract counterexample: can it be run, and if not, why not.
//!
//! \[Kie05\] §4.3.4 and §6.4, with satisfiability in place of decision diagrams. The formula of the path is satisfiable exactly if it can
//! be run. If not, only the conditions in an unsatisfiable core matter. From the end of the path backwards, `before` gives the formula
//! of each node; what it is made of is tracked there.

use rustc_hash::FxHashMap;
use wherefore_smt::{
    BitBlaster, Budget, Kind, Model, Outcome, Reason, Solver, Sort, Term, Terms, minimise_core,
};

use super::before::Spurious;
use super::blocks::{Block, Blocks, NodeId, conjuncts};
use crate::symbolic::{Machine, Store};

/// Whether a path can be run.
pub(super) enum Feasibility {
    /// It can: the stores before the first edge and after each, and values.
    Real(Vec<Store>, Model),
    /// It cannot: for each node of the path, predicates that show it.
    Spurious(Vec<(NodeId, Vec<Term>)>),
}

/// A path under examination.
pub(super) struct Path<'p> {
    pub blocks: &'p Blocks,
    pub path: &'p [usize],
}

impl Path<'_> {
    fn block(&self, step: usize) -> &Block {
        &self.blocks.blocks[self.path[step]]
    }

    /// Decides whether the path can be run.
    pub fn examine(&self, machine: &mut Machine<'_>, budget: &Budget) -> Result<Feasibility, Reason> {
        let (store, valid) = self.blocks.initial(machine);
        let mut stores = vec![store];
        // For each block, its guards over the values at the start and inputs; and the values of variables before it.
        let mut guards: Vec<(usize, Term)> = vec![(0, valid)];
        let mut values: Vec<FxHashMap<Term, Term>> = Vec::new();
        let mut edge_stores: Vec<Store> = vec![stores[0].clone()];
        for step in 0..self.path.len() {
            let mut store = stores[step].clone();
            values.push(self.values(&machine.terms, &store));
            for (at, edge) in self.block(step).edges.iter().enumerate() {
                machine.name_prefix(format!("p{step}.{at}"));
                let (after, condition) = machine.step(&store, *edge);
                guards.extend(conjuncts(&machine.terms, condition).into_iter().map(|guard| (step, guard)));
                store = after;
                edge_stores.push(store.clone());
            }
            stores.push(store);
        }
        let terms = &mut machine.terms;
        let mut solver = BitBlaster::new();
        let all: Vec<Term> = guards.iter().map(|(_, guard)| *guard).collect();
        // One question first: a satisfiability solver is slower with many assumptions than with one, at times very much so.
        let whole = terms.all(&all);
        match solver.check(terms, &[whole], budget) {
            Outcome::Sat(model) => return Ok(Feasibility::Real(edge_stores, model)),
            Outcome::Unknown(reason) => return Err(reason),
            Outcome::Unsat(_) => {}
        }
        let core = core_of(terms, &mut solver, all, budget);
        let relevant: Vec<usize> =
            guards.iter().filter(|(_, guard)| core.contains(guard)).map(|(step, _)| *step).collect();
        let spurious = Spurious {
            guards: &guards,
            values: &values,
            relevant: &relevant,
            fixed: FxHashMap::default(),
            budget,
        };
        Ok(Feasibility::Spurious(self.interpolants(terms, &mut solver, &spurious)?))
    }

    /// From the end backwards, predicates for each node that show why the path cannot be run.
    fn interpolants(
        &self,
        terms: &mut Terms,
        solver: &mut BitBlaster,
        spurious: &Spurious<'_>,
    ) -> Result<Vec<(NodeId, Vec<Term>)>, Reason> {
        let mut found = Vec::new();
        let mut formula = Terms::FALSE;
        for step in (0..self.path.len()).rev() {
            let block = self.block(step);
            formula = spurious.before(terms, solver, step, block, formula)?;
            if formula == Terms::TRUE {
                break;
            }
            found.push((block.from, atoms(terms, formula)));
        }
        Ok(found)
    }

    /// The values of all variables of a store, by the terms that predicates name them with.
    fn values(&self, terms: &Terms, store: &Store) -> FxHashMap<Term, Term> {
        let variables = self.blocks.variables();
        let has = |(i, name): (u32, Term)| {
            let value = store.get(i);
            (terms.sort(value) == terms.sort(name)).then_some((name, value))
        };
        variables.filter_map(has).collect()
    }
}

/// A small part of some conditions that cannot hold together which cannot either.
pub(super) fn core_of(
    terms: &mut Terms,
    solver: &mut BitBlaster,
    conditions: Vec<Term>,
    budget: &Budget,
) -> Vec<Term> {
    let few = Budget { conflicts: Some(2_000), ..budget.clone() };
    match solver.check(terms, &conditions, &few) {
        Outcome::Unsat(core) => minimise_core(solver, terms, &core, &few),
        // All of them, if the solver does not soon say which.
        _ => conditions,
    }
}

/// The conditions that a formula is made of.
pub(super) fn atoms(terms: &Terms, formula: Term) -> Vec<Term> {
    let mut atoms = Vec::new();
    let mut open = vec![formula];
    let mut seen = rustc_hash::FxHashSet::default();
    while let Some(term) = open.pop() {
        if !seen.insert(term) {
            continue;
        }
        match terms.kind(term) {
            Kind::Not(inner) => open.push(*inner),
            Kind::And(list) | Kind::Or(list) => open.extend(list.iter().copied()),
            Kind::Ite(condition, then, otherwise) if terms.sort(term) == Sort::Bool => {
                open.extend([*condition, *then, *otherwise]);
            }
            Kind::Constant(_) => {}
            _ => atoms.push(term),
        }
    }
    atoms.sort_unstable();
    atoms
}
