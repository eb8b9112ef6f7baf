//! Why a path with calls cannot be run: predicates for its points, and effects for the procedures that return on it.
//!
//! \[Kie05\] §5.3 and §6.4, as nested interpolants (M. Heizmann, J. Hoenicke, A. Podelski, *Nested Interpolants*, POPL 2010), with substitution and
//! instances in place of quantifiers. Backwards from `false` at the end, a formula is read before each block (`before`). At the return of a
//! call, the formula F speaks of what the callee left and of the caller's own store. It is taken through the callee twice:
//!
//! 1. As it is, with the caller's values frozen. At the entry it has become W, which is what the caller must know before the call.
//! 2. The effect `W at entry → F`, freed of frozen values by instances, is the formula at the exit. Going backwards through the callee it becomes
//!    true at the entry at the latest. Its parts are tracked in the callee: they speak of the callee's store now and at entry alone.
//!
//! What the caller knows and the effect together give F, so that the path is no abstract run any more.

use rustc_hash::FxHashMap;
use wherefore_smt::{BitBlaster, Outcome, Reason, Solver, Sort, Term, Terms};

use super::super::before::{Spurious, constant};
use super::super::path::atoms;
use super::graph::{CallSite, Graph, PointId};
use super::path::Step;

/// Values of frozen variables that are tried before giving up on them.
const MOST_INSTANCES: usize = 12;

/// A path that cannot be run.
pub(super) struct Nested<'n> {
    pub graph: &'n Graph,
    pub path: &'n [Step],
    pub spurious: Spurious<'n>,
    /// Formulas for points.
    pub found: Vec<(PointId, Vec<Term>)>,
}

impl Nested<'_> {
    /// Finds predicates; they are in `found` then.
    pub fn run(&mut self, terms: &mut Terms, solver: &mut BitBlaster) -> Result<(), Reason> {
        self.back(terms, solver, (0, self.path.len()), Terms::FALSE, true).map(|_| ())
    }

    fn note(&mut self, terms: &Terms, point: PointId, formula: Term, wanted: bool) {
        if wanted {
            self.found.push((point, atoms(terms, formula)));
        }
    }

    /// The formula before the first of some steps, if the given one is that behind the last.
    fn back(
        &mut self,
        terms: &mut Terms,
        solver: &mut BitBlaster,
        (first, end): (usize, usize),
        after: Term,
        wanted: bool,
    ) -> Result<Term, Reason> {
        let graph = self.graph;
        let mut formula = after;
        let mut at = end;
        while at > first && formula != Terms::TRUE {
            at -= 1;
            let (block, before) = match self.path[at] {
                Step::Way(way) => (&graph.ways[way].block, at),
                Step::Enter(call) => (&graph.calls[call].enter, at),
                Step::Leave { call, entered, .. } => {
                    formula = self.over_call(terms, solver, at, formula, wanted)?;
                    at = entered;
                    self.note(terms, graph.calls[call].enter.from, formula, wanted);
                    continue;
                }
            };
            formula = self.spurious.before(terms, solver, before, block, formula)?;
            self.note(terms, block.from, formula, wanted);
        }
        Ok(formula)
    }

    /// The formula before a call that returns in a step.
    fn over_call(
        &mut self,
        terms: &mut Terms,
        solver: &mut BitBlaster,
        at: usize,
        after: Term,
        wanted: bool,
    ) -> Result<Term, Reason> {
        let Step::Leave { way, call, entered } = self.path[at] else { return Ok(after) };
        let graph = self.graph;
        let (site, leave) = (&graph.calls[call], &graph.ways[way].block);
        // A call that does not matter.
        let read = terms.substitute(after, &site.resume.updates);
        let inputs = &site.resume.inputs;
        let is_left_alone = !terms.variables(read).iter().any(|variable| inputs.contains(variable));
        if after != Terms::FALSE && is_left_alone && self.spurious.holds_at(terms, solver, entered, read)? {
            return Ok(read);
        }
        // What must hold at the exit, with frozen values that belong to this call alone.
        let left = terms.substitute(after, &site.back);
        let left = terms.implies(site.back_guard, left);
        let (left, frozen) = self.freeze(terms, site, left, at, entered);
        let mut needed = self.spurious.before(terms, solver, at, leave, left)?;
        needed = self.back(terms, solver, (entered + 1, at), needed, false)?;
        if wanted {
            let effect = self.effect(terms, solver, site, (needed, left), &frozen)?;
            self.note(terms, graph.exits[&site.callee], effect, true);
            let inside = self.spurious.before(terms, solver, at, leave, effect)?;
            self.note(terms, leave.from, inside, true);
            self.back(terms, solver, (entered + 1, at), inside, true)?;
        }
        let thawed: FxHashMap<Term, Term> = frozen.iter().map(|f| (f.name, f.general)).collect();
        let needed = terms.substitute(needed, &thawed);
        if needed == Terms::TRUE {
            return Ok(needed);
        }
        self.spurious.before(terms, solver, entered, &site.enter, needed)
    }

    /// Gives the frozen values in a formula names of their own.
    fn freeze(
        &mut self,
        terms: &mut Terms,
        site: &CallSite,
        formula: Term,
        at: usize,
        entered: usize,
    ) -> (Term, Vec<Frozen>) {
        let variables = terms.variables(formula);
        let mut own = FxHashMap::default();
        let mut frozen = Vec::new();
        for (_, general) in site.frozen.iter().filter(|(_, general)| variables.contains(general)) {
            let text = format!("{}.{at}", terms.name(*general).unwrap_or_default());
            let name = terms.variable(&text, terms.sort(*general));
            let assigned = site.enter.updates[general];
            let value = terms.substitute(assigned, &self.spurious.values[entered]);
            self.spurious.fixed.insert(name, value);
            own.insert(*general, name);
            frozen.push(Frozen { name, general: *general, assigned, value });
        }
        (terms.substitute(formula, &own), frozen)
    }

    /// An effect that gives `left` at the exit whenever `needed` holds at the entry, without frozen values.
    fn effect(
        &self,
        terms: &mut Terms,
        solver: &mut BitBlaster,
        site: &CallSite,
        (needed, left): (Term, Term),
        frozen: &[Frozen],
    ) -> Result<Term, Reason> {
        let at_entry = terms.substitute(needed, &self.graph.names.at_entry(site.callee));
        let effect = terms.implies(at_entry, left);
        let variables = terms.variables(effect);
        // A value that can be computed from what the callee was given is.
        let mut instance: FxHashMap<Term, Term> = FxHashMap::default();
        let mut open: Vec<&Frozen> = Vec::new();
        for value in frozen.iter().filter(|value| variables.contains(&value.name)) {
            match self.computed_from_entry(terms, site, value.assigned) {
                Some(term) => {
                    instance.insert(value.name, term);
                }
                None => open.push(value),
            }
        }
        let effect = terms.substitute(effect, &instance);
        if open.is_empty() {
            return Ok(effect);
        }
        // Others have the value of the path, then those that show that the instances so far are not enough.
        let mut seen_by_caller = site.at_exit.clone();
        seen_by_caller.extend(open.iter().map(|value| (value.name, value.assigned)));
        let wanted = terms.substitute(effect, &seen_by_caller);
        let not_wanted = terms.not(wanted);
        let guard = terms.all(&site.resume.guards);
        let mut instances = Terms::TRUE;
        let constants = open.iter().all(|value| terms.constant(value.value).is_some());
        if constants {
            let map = open.iter().map(|value| (value.name, value.value)).collect();
            instances = terms.substitute(effect, &map);
        }
        for _ in 0..MOST_INSTANCES {
            let known = terms.substitute(instances, &site.at_exit);
            let question = terms.all(&[guard, known, not_wanted]);
            match solver.check(terms, &[question], self.spurious.budget) {
                Outcome::Unsat(_) => break,
                Outcome::Unknown(reason) => return Err(reason),
                Outcome::Sat(model) => {
                    let mut map = FxHashMap::default();
                    for value in &open {
                        let constant = constant(terms, value.assigned, &model);
                        map.insert(value.name, constant);
                    }
                    let instance = terms.substitute(effect, &map);
                    instances = terms.and(instances, instance);
                }
            }
        }
        Ok(instances)
    }

    /// A value of the caller's in terms of what the callee has at its entry, if it is one of them up to a constant.
    fn computed_from_entry(&self, terms: &mut Terms, site: &CallSite, value: Term) -> Option<Term> {
        if terms.constant(value).is_some() {
            return Some(value);
        }
        for named in self.graph.names.visible(site.callee) {
            let given = site.enter.updates[&named.now];
            if given == value {
                return Some(named.old);
            }
            if terms.sort(given) == terms.sort(value) && matches!(terms.sort(given), Sort::Bits(_)) {
                let apart = terms.sub(given, value);
                if terms.constant(apart).is_some() {
                    return Some(terms.sub(named.old, apart));
                }
            }
        }
        None
    }
}

/// A value of the caller while a callee runs.
struct Frozen {
    /// Its name for one call of the path, and for all.
    name: Term,
    general: Term,
    /// The value in terms of the caller's store before the call, and on the path.
    assigned: Term,
    value: Term,
}
