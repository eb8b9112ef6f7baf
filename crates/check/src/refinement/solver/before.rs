//! From a formula behind a block to one before it, along a path that cannot be run.
//!
//! \[Kie05\] §6.4: the formula is copied over the block where that is allowed (*assume skip*), else
//! read before it by substitution, under those conditions that are needed. A value from outside is
//! replaced by those values of it that matter.

use rustc_hash::FxHashMap;
use wherefore_smt::{BitBlaster, Budget, Model, Outcome, Reason, Solver, Sort, Term, Terms, Value};

use super::block::Block;

/// Values of an input that are tried before giving up on it.
const MOST_INSTANCES: usize = 12;

/// What the solver may spend on a question whose answer only makes a formula shorter.
const FEW: u64 = 5_000;

/// A path that cannot be run.
pub(crate) struct Spurious<'i> {
    /// The conditions along the path over the values at its start and inputs, each with its step.
    pub guards: &'i [(usize, Term)],
    /// The values of variables before each step, by the terms that formulas name them with.
    pub values: &'i [FxHashMap<Term, Term>],
    /// Steps with a condition in the unsatisfiable core.
    pub relevant: &'i [usize],
    /// The values of variables that are the same at every step.
    pub fixed: FxHashMap<Term, Term>,
    pub budget: &'i Budget,
}

impl Spurious<'_> {
    /// A formula that holds before a block on this path, and leads to `after` behind it.
    pub fn before(
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
        self.without(terms, solver, &block.inputs, needed)
    }

    /// The same by all conditions of the block that have a variable in common with the formula,
    /// directly or by others. The formula is weaker than it need be, and depends less on how the
    /// path came here.
    pub fn weakest_before(
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
        if after != Terms::FALSE && read != after {
            let kept = terms.implies(after, follows);
            if self.valid(terms, solver, kept)? && self.holds_at(terms, solver, step, after)? {
                return Ok(after);
            }
        }
        let mut needed = follows;
        if after != Terms::FALSE {
            let related = related(terms, &block.guards, read);
            if related.len() < block.guards.len() {
                let guard = terms.all(&related);
                let formula = terms.implies(guard, read);
                if self.holds_at(terms, solver, step, formula)? {
                    needed = formula;
                }
            }
        }
        self.without(terms, solver, &block.inputs, needed)
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

    /// Whether a formula always holds, as far as the solver soon knows.
    pub fn valid(&self, terms: &mut Terms, solver: &mut BitBlaster, formula: Term) -> Result<bool, Reason> {
        let not = terms.not(formula);
        self.contradicts(terms, solver, not)
    }

    /// Whether no values satisfy a formula. No answer asks for more conditions, and is never wrong:
    /// so hard questions have none.
    fn contradicts(&self, terms: &mut Terms, solver: &mut BitBlaster, formula: Term) -> Result<bool, Reason> {
        let budget = Budget { conflicts: Some(FEW), ..self.budget.clone() };
        match solver.check(terms, &[formula], &budget) {
            Outcome::Unsat(_) => Ok(true),
            Outcome::Sat(_) => Ok(false),
            Outcome::Unknown(_) => self.budget.look().map(|()| false),
        }
    }

    /// Whether a formula holds when the path has come to a step, as far as the solver soon knows.
    pub fn holds_at(
        &self,
        terms: &mut Terms,
        solver: &mut BitBlaster,
        step: usize,
        formula: Term,
    ) -> Result<bool, Reason> {
        let here = terms.substitute(formula, &self.values[step]);
        let here = terms.substitute(here, &self.fixed);
        let not = terms.not(here);
        let mut assumptions: Vec<Term> =
            self.guards.iter().filter(|(of, _)| *of < step || step == 0).map(|(_, guard)| *guard).collect();
        if step == 0 {
            assumptions.truncate(1);
        }
        assumptions.push(not);
        let whole = terms.all(&assumptions);
        self.contradicts(terms, solver, whole)
    }

    /// The formula for all values of some variables: enough instances of it to imply it.
    pub fn without(
        &self,
        terms: &mut Terms,
        solver: &mut BitBlaster,
        unwanted: &[Term],
        formula: Term,
    ) -> Result<Term, Reason> {
        let variables = terms.variables(formula);
        let inputs: Vec<Term> = unwanted.iter().copied().filter(|input| variables.contains(input)).collect();
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

/// The conditions that have a variable in common with a formula, directly or by other conditions.
fn related(terms: &Terms, conditions: &[Term], formula: Term) -> Vec<Term> {
    let mut variables = terms.variables(formula);
    let mut rest: Vec<(Term, Vec<Term>)> =
        conditions.iter().map(|condition| (*condition, terms.variables(*condition))).collect();
    let mut found = Vec::new();
    loop {
        let (near, far): (Vec<_>, Vec<_>) =
            rest.into_iter().partition(|(_, own)| own.iter().any(|variable| variables.contains(variable)));
        if near.is_empty() {
            return found;
        }
        for (condition, own) in near {
            found.push(condition);
            variables.extend(own);
        }
        rest = far;
    }
}

/// The value of a variable in a model, as a term.
pub(super) fn constant(terms: &mut Terms, variable: Term, model: &Model) -> Term {
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
