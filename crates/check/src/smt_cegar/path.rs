//! An abstract counterexample: can it be run, and if not, why not.
//!
//! \[Kie05\] §4.3.4 and §6.4, with satisfiability in place of decision diagrams. The formula of the path is satisfiable exactly if it can
//! be run. If not, only the conditions in an unsatisfiable core matter. From the end of the path backwards, each formula is
//! copied over a block where that is allowed (*assume skip*), else read before the block by substitution, under the conditions of the
//! core. A value from outside is replaced by those values of it that matter.

use rustc_hash::FxHashMap;
use wherefore_smt::{
    BitBlaster, Budget, Kind, Model, Outcome, Reason, Solver, Sort, Term, Terms, Value, minimise_core,
};

use super::blocks::{Block, Blocks, NodeId, conjuncts};
use crate::symbolic::{Machine, Store};

/// Values of an input that are tried before giving up on it.
const MOST_INSTANCES: usize = 12;

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
        let core = match solver.check(terms, &all, &few(budget)) {
            Outcome::Unsat(core) => minimise_core(&mut solver, terms, &core, &few(budget)),
            // All of them, if the solver does not soon say which.
            _ => all,
        };
        let relevant: Vec<usize> =
            guards.iter().filter(|(_, guard)| core.contains(guard)).map(|(step, _)| *step).collect();
        let interpolants =
            Interpolation { path: self, guards: &guards, values: &values, relevant: &relevant, budget };
        Ok(Feasibility::Spurious(interpolants.run(terms, &mut solver)?))
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

fn few(budget: &Budget) -> Budget {
    Budget { conflicts: Some(2_000), ..budget.clone() }
}

struct Interpolation<'i, 'p> {
    path: &'i Path<'p>,
    guards: &'i [(usize, Term)],
    values: &'i [FxHashMap<Term, Term>],
    relevant: &'i [usize],
    budget: &'i Budget,
}

impl Interpolation<'_, '_> {
    fn run(&self, terms: &mut Terms, solver: &mut BitBlaster) -> Result<Vec<(NodeId, Vec<Term>)>, Reason> {
        let mut found = Vec::new();
        let mut formula = Terms::FALSE;
        for step in (0..self.path.path.len()).rev() {
            let block = self.path.block(step);
            formula = self.before(terms, solver, step, block, formula)?;
            if formula == Terms::TRUE {
                break;
            }
            found.push((block.from, atoms(terms, formula)));
        }
        Ok(found)
    }

    /// A formula that holds before a block on this path, and leads to `after` behind it.
    fn before(
        &self,
        terms: &mut Terms,
        solver: &mut BitBlaster,
        step: usize,
        block: &Block,
        after: Term,
    ) -> Result<Term, Reason> {
        let read = block.before(terms, after);
        let guard = terms.all(&block.guards);
        let follows = terms.implies(guard, read);
        if follows == Terms::TRUE || self.valid(terms, solver, follows)? {
            return Ok(Terms::TRUE);
        }
        // Skip: the same formula before the block.
        if after != Terms::FALSE && read != after {
            let kept = terms.implies(after, follows);
            if self.valid(terms, solver, kept)? && self.holds_at(terms, solver, step, after)? {
                return Ok(after);
            }
        }
        // Only the guards in the core, if they are enough.
        let mut needed = read;
        if self.relevant.contains(&step) {
            let needed_guards = self.guards_for(terms, solver, step, block, read)?;
            let guard = terms.all(&needed_guards);
            needed = terms.implies(guard, read);
        } else if !self.holds_at(terms, solver, step, read)? {
            needed = follows;
        }
        self.without_inputs(terms, solver, block, needed)
    }

    /// The guards of a block that are needed for the formula to hold at the step.
    fn guards_for(
        &self,
        terms: &mut Terms,
        solver: &mut BitBlaster,
        step: usize,
        block: &Block,
        read: Term,
    ) -> Result<Vec<Term>, Reason> {
        let mut kept = block.guards.clone();
        let mut at = 0;
        while at < kept.len() && kept.len() <= 12 {
            let mut fewer = kept.clone();
            fewer.remove(at);
            let guard = terms.all(&fewer);
            let formula = terms.implies(guard, read);
            if self.holds_at(terms, solver, step, formula)? {
                kept = fewer;
            } else {
                at += 1;
            }
        }
        Ok(kept)
    }

    /// Whether a formula always holds.
    fn valid(&self, terms: &mut Terms, solver: &mut BitBlaster, formula: Term) -> Result<bool, Reason> {
        let not = terms.not(formula);
        match solver.check(terms, &[not], self.budget) {
            Outcome::Unsat(_) => Ok(true),
            Outcome::Sat(_) => Ok(false),
            Outcome::Unknown(reason) => Err(reason),
        }
    }

    /// Whether a formula holds when the path has come to a step.
    fn holds_at(
        &self,
        terms: &mut Terms,
        solver: &mut BitBlaster,
        step: usize,
        formula: Term,
    ) -> Result<bool, Reason> {
        let here = terms.substitute(formula, &self.values[step]);
        let not = terms.not(here);
        let mut assumptions: Vec<Term> =
            self.guards.iter().filter(|(of, _)| *of < step || step == 0).map(|(_, guard)| *guard).collect();
        if step == 0 {
            assumptions.truncate(1);
        }
        assumptions.push(not);
        let whole = terms.all(&assumptions);
        match solver.check(terms, &[whole], self.budget) {
            Outcome::Unsat(_) => Ok(true),
            Outcome::Sat(_) => Ok(false),
            Outcome::Unknown(reason) => Err(reason),
        }
    }

    /// The formula for all values of the block's inputs: enough instances of it to imply it.
    fn without_inputs(
        &self,
        terms: &mut Terms,
        solver: &mut BitBlaster,
        block: &Block,
        formula: Term,
    ) -> Result<Term, Reason> {
        let variables = terms.variables(formula);
        let inputs: Vec<Term> =
            block.inputs.iter().copied().filter(|input| variables.contains(input)).collect();
        if inputs.is_empty() {
            return Ok(formula);
        }
        let mut instances = Terms::TRUE;
        for _ in 0..MOST_INSTANCES {
            let not = terms.not(formula);
            match solver.check(terms, &[instances, not], self.budget) {
                Outcome::Unsat(_) => return Ok(instances),
                Outcome::Unknown(reason) => return Err(reason),
                Outcome::Sat(model) => {
                    let mut map = FxHashMap::default();
                    for input in &inputs {
                        let value = constant(terms, *input, &model);
                        map.insert(*input, value);
                    }
                    let instance = terms.substitute(formula, &map);
                    instances = terms.and(instances, instance);
                }
            }
        }
        Ok(instances)
    }
}

fn constant(terms: &mut Terms, variable: Term, model: &Model) -> Term {
    match (terms.sort(variable), terms.evaluate(variable, model)) {
        (Sort::Bool, value) => terms.bool(value.bits() == Some(1)),
        (Sort::Bits(width), value) => terms.bits(value.bits().unwrap_or(0), width),
        (Sort::Array { index, element }, Value::Array { default, entries }) => {
            let default = terms.bits(default, element);
            let mut array = terms.const_array(index, default);
            for (at, value) in entries {
                let (at, value) = (terms.bits(at, index), terms.bits(value, element));
                array = terms.store(array, at, value);
            }
            array
        }
        (Sort::Array { .. }, Value::Bits(_)) => variable,
    }
}

/// The conditions that a formula is made of.
fn atoms(terms: &Terms, formula: Term) -> Vec<Term> {
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
