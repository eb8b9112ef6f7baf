//! Why a path with calls cannot be run: predicates for its points, and effects for the procedures
//! that return on it.
//!
//! \[Kie05\] §5.3 and §6.4, as nested interpolants (M. Heizmann, J. Hoenicke, A. Podelski, *Nested
//! Interpolants*, POPL 2010), with substitution and instances in place of quantifiers. Backwards
//! from `false` at the end, a formula is read before each block (`before`). At the return of a
//! call, the formula F speaks of what the callee left and of the caller's own store. It is taken
//! through the callee twice:
//!
//! 1. As it is, with the caller's values frozen. At the entry it has become W, which is what the
//!    caller must know before the call.
//! 2. The effect `W at entry → F`, freed of frozen values by instances, is the formula at the exit.
//!    Going backwards through the callee it becomes true at the entry at the latest. Its parts are
//!    tracked in the callee: they speak of the callee's store now and at entry alone.
//!
//! What the caller knows and the effect together give F, so that the path is no abstract run any
//! more.

use rustc_hash::{FxHashMap, FxHashSet};
use wherefore_smt::{BitBlaster, Kind, Model, Outcome, Reason, Solver, Sort, Term, Terms};

use super::before::{Spurious, constant};
use super::block::{Block, atoms};
use super::counterexample::{Path, Step};
use super::graph::{CallSite, Graph, PointId, Transition};

/// Values of frozen variables that are tried before giving up on them.
const MOST_INSTANCES: usize = 12;

/// Which conditions of a path formulas speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Those that are needed.
    Core,
    /// All that say something about the variables at hand: the formulas are weak, and hold more
    /// often.
    Weakest,
}

/// A path that cannot be run.
pub(super) struct Nested<'n> {
    pub graph: &'n Graph,
    pub path: &'n Path,
    pub style: Style,
    /// Formulas with more parts are given up.
    pub most_parts: usize,
    /// The steps whose conditions count, in order. The last one contradicts the others.
    pub prefix: &'n [usize],
    pub spurious: Spurious<'n>,
    pub found: Vec<Triple>,
    pub is_given_up: bool,
}

/// What a transition of the path makes of what holds before it. Together, the triples of a path
/// lead from what holds at the start to `false`.
pub(super) struct Triple {
    pub transition: Transition,
    pub before: (PointId, Term),
    /// What is known of the callee, when the transition is the end of a call.
    pub effect: Option<(PointId, Term)>,
    pub after: (PointId, Term),
}

impl Triple {
    /// Its formulas with their points.
    pub fn formulas(&self) -> impl Iterator<Item = (PointId, Term)> + use<> {
        [self.before, self.after].into_iter().chain(self.effect)
    }
}

impl Nested<'_> {
    /// Finds formulas; they are in `found` then, unless they were given up.
    pub fn run(&mut self, terms: &mut Terms, solver: &mut BitBlaster) -> Result<(), Reason> {
        let end = self.prefix.last().map_or(0, |last| last + 1);
        let first = self.back(terms, solver, (0, end), Terms::FALSE, true)?;
        let start = self.graph.start;
        self.note(Transition::Start, (start, Terms::TRUE), (start, first), true);
        Ok(())
    }

    fn note(
        &mut self,
        transition: Transition,
        before: (PointId, Term),
        after: (PointId, Term),
        wanted: bool,
    ) {
        if wanted {
            self.found.push(Triple { transition, before, effect: None, after });
        }
    }

    /// The formula before a block, by those of its conditions that count.
    fn before(
        &self,
        terms: &mut Terms,
        solver: &mut BitBlaster,
        at: usize,
        block: &Block,
        after: Term,
    ) -> Result<Term, Reason> {
        if block.is_skip() {
            return Ok(after);
        }
        let unguarded;
        let mut block = block;
        if self.prefix.binary_search(&at).is_err() && !block.guards.is_empty() {
            unguarded = block.unguarded();
            block = &unguarded;
        }
        match self.style {
            Style::Core => self.spurious.before(terms, solver, at, block, after),
            Style::Weakest => self.spurious.weakest_before(terms, solver, at, block, after),
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
            let transition = match self.path.steps[at] {
                Step::Block(block) => Transition::Block(block),
                Step::Enter(call) => Transition::Enter(call),
                Step::Leave { entered, .. } => {
                    formula = self.over_call(terms, solver, at, formula, wanted)?;
                    at = entered;
                    continue;
                }
            };
            let block = self.path.block(graph, at);
            let before = self.before(terms, solver, at, block, formula)?;
            self.note(transition, (block.from, before), (block.to, formula), wanted);
            formula = before;
            if terms.size(formula) > self.most_parts {
                self.is_given_up = true;
                return Ok(Terms::TRUE);
            }
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
        let Step::Leave { block, call, entered } = self.path.steps[at] else { return Ok(after) };
        let graph = self.graph;
        let (site, leave) = (&graph.calls[call], &*graph.blocks[block]);
        let (transition, behind) = (Transition::Resume(call), (site.resume.to, after));
        // A call that does not matter.
        let read = terms.substitute(after, &site.resume.updates);
        let inputs = &site.resume.inputs;
        let is_left_alone = !terms.variables(read).iter().any(|variable| inputs.contains(variable));
        if after != Terms::FALSE && is_left_alone && self.spurious.holds_at(terms, solver, entered, read)? {
            self.note(transition, (site.resume.from, read), behind, wanted);
            return Ok(read);
        }
        // What must hold at the exit, with frozen values that belong to this call alone.
        let left = terms.substitute(after, &site.back);
        let left = terms.implies(site.back_guard, left);
        let (left, frozen) = self.freeze(terms, site, left, at, entered);
        let mut needed = self.before(terms, solver, at, leave, left)?;
        needed = self.back(terms, solver, (entered + 1, at), needed, false)?;
        let effect = match wanted {
            true => {
                let at_entry = terms.substitute(needed, &graph.names.at_entry(site.callee));
                let effect = match self.difference(terms, solver, at, (at_entry, left))? {
                    Some(difference) => difference,
                    None => self.effect(terms, solver, site, (at_entry, left), &frozen)?,
                };
                let inside = self.before(terms, solver, at, leave, effect)?;
                self.note(Transition::Block(block), (leave.from, inside), (leave.to, effect), true);
                self.back(terms, solver, (entered + 1, at), inside, true)?;
                effect
            }
            false => Terms::TRUE,
        };
        let general: FxHashMap<Term, Term> = frozen.iter().map(|f| (f.name, f.general)).collect();
        let mut before = terms.substitute(needed, &general);
        if before != Terms::TRUE {
            before = self.before(terms, solver, entered, &site.enter, before)?;
        }
        if wanted {
            let effect = Some((leave.to, effect));
            let before = (site.resume.from, before);
            self.found.push(Triple { transition, before, effect, after: behind });
        }
        Ok(before)
    }

    /// Gives the values in a formula that a call leaves alone names of their own: the largest terms
    /// of frozen values and globals that it does not write; but those that are computed from what
    /// the callee was given part by part.
    fn freeze(
        &mut self,
        terms: &mut Terms,
        site: &CallSite,
        formula: Term,
        at: usize,
        entered: usize,
    ) -> (Term, Vec<Frozen>) {
        let mut own = FxHashMap::default();
        let mut frozen = Vec::new();
        let mut all = Vec::new();
        for term in left_alone(terms, site, formula) {
            let is_part = |part: &Term| site.frozen.iter().any(|(_, frozen)| frozen == part);
            let parts: Vec<Term> = terms.variables(term).into_iter().filter(is_part).collect();
            let given =
                |part: &Term| self.computed_from_entry(terms, site, site.enter.updates[part]).is_some();
            if parts.iter().all(given) { all.extend(parts) } else { all.push(term) }
        }
        all.sort_unstable();
        all.dedup();
        for general in all {
            let name = terms.variable(&format!("caller({at}.{})", own.len()), terms.sort(general));
            let assigned = terms.substitute(general, &site.enter.updates);
            let value = terms.substitute(assigned, &self.spurious.values[entered]);
            self.spurious.fixed.insert(name, value);
            own.insert(general, name);
            frozen.push(Frozen { name, general, assigned });
        }
        (terms.substitute(formula, &own), frozen)
    }

    /// A guess for an effect that ends with a number if it started with one: that the two differ by
    /// as much always. Taken if it is enough, and the path makes it true from any store.
    fn difference(
        &mut self,
        terms: &mut Terms,
        solver: &mut BitBlaster,
        at: usize,
        (at_entry, left): (Term, Term),
    ) -> Result<Option<Term>, Reason> {
        let Step::Leave { block, call, entered } = self.path.steps[at] else { return Ok(None) };
        let (ends, starts) = (numbers(terms, left), numbers(terms, at_entry));
        for (end, end_is) in ends {
            for (start, start_is) in &starts {
                if terms.sort(end) != terms.sort(*start) {
                    continue;
                }
                let apart = terms.sub(end_is, *start_is);
                let moved = terms.add(*start, apart);
                let guess = terms.eq(end, moved);
                let enough = terms.all(&[guess, at_entry]);
                let enough = terms.implies(enough, left);
                if guess == Terms::TRUE || !self.spurious.valid(terms, solver, enough)? {
                    continue;
                }
                let inside = self.before(terms, solver, at, &self.graph.blocks[block], guess)?;
                let first = self.back(terms, solver, (entered + 1, at), inside, false)?;
                let first =
                    terms.substitute(first, &self.graph.names.at_entry(self.graph.calls[call].callee));
                if self.spurious.valid(terms, solver, first)? {
                    return Ok(Some(guess));
                }
            }
        }
        Ok(None)
    }

    /// An effect that gives `left` at the exit whenever `at_entry` held at the entry, without
    /// frozen values.
    fn effect(
        &self,
        terms: &mut Terms,
        solver: &mut BitBlaster,
        site: &CallSite,
        (at_entry, left): (Term, Term),
        frozen: &[Frozen],
    ) -> Result<Term, Reason> {
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
        // Others get values one after the other, as long as the caller could still see the effect
        // fail.
        let choices: Vec<Vec<Term>> =
            open.iter().map(|value| compared_with(terms, at_entry, value.name)).collect();
        let mut seen_by_caller = site.at_exit.clone();
        seen_by_caller.extend(open.iter().map(|value| (value.name, value.assigned)));
        let wanted = terms.substitute(effect, &seen_by_caller);
        let not_wanted = terms.not(wanted);
        let guard = terms.all(&site.resume.guards);
        let mut instances = Terms::TRUE;
        for _ in 0..MOST_INSTANCES {
            let known = terms.substitute(instances, &site.at_exit);
            let question = terms.all(&[guard, known, not_wanted]);
            match solver.check(terms, &[question], self.spurious.budget) {
                Outcome::Unsat(_) => break,
                Outcome::Unknown(reason) => return Err(reason),
                Outcome::Sat(model) => {
                    let instance = ruling_out(terms, site, effect, (&open, &choices), &model);
                    instances = terms.and(instances, instance);
                }
            }
        }
        Ok(instances)
    }

    /// A value of the caller's in terms of what the callee has at its entry, if it is one of them
    /// up to a constant.
    fn computed_from_entry(&self, terms: &mut Terms, site: &CallSite, value: Term) -> Option<Term> {
        if terms.constant(value).is_some() {
            return Some(value);
        }
        for named in self.graph.names.scopes[&site.callee].at_entry() {
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

/// The largest terms in a formula that are about frozen values, and beside them at most about
/// globals that the call does not write.
fn left_alone(terms: &Terms, site: &CallSite, formula: Term) -> Vec<Term> {
    let is_frozen = |variable: &Term| site.frozen.iter().any(|(_, frozen)| frozen == variable);
    let mut found = Vec::new();
    let mut seen = FxHashSet::default();
    let mut open = vec![formula];
    while let Some(term) = open.pop() {
        if !seen.insert(term) {
            continue;
        }
        let variables = terms.variables(term);
        if !variables.iter().any(is_frozen) {
            continue;
        }
        if variables.iter().all(|variable| is_frozen(variable) || site.kept.contains(variable)) {
            found.push(term);
        } else {
            terms.for_each_child(term, |child| open.push(child));
        }
    }
    found
}

/// The terms, free of frozen values, that a formula compares a frozen value with, and their
/// neighbours.
fn compared_with(terms: &mut Terms, formula: Term, name: Term) -> Vec<Term> {
    let mut equal = Vec::new();
    let mut near = Vec::new();
    for atom in atoms(terms, formula) {
        let (a, b) = match *terms.kind(atom) {
            Kind::Eq(a, b) | Kind::ULt(a, b) | Kind::SLt(a, b) => (a, b),
            _ => continue,
        };
        // The value for which both sides are equal, if it can be told by moving terms across.
        let other = if a == name {
            b
        } else if b == name {
            a
        } else if terms.sort(a) == terms.sort(name) && matches!(terms.sort(a), Sort::Bits(_)) {
            let apart = terms.sub(a, b);
            let (less, more) = (terms.sub(name, apart), terms.add(name, apart));
            if terms.variables(less).contains(&name) { more } else { less }
        } else {
            continue;
        };
        if terms.variables(other).iter().any(|variable| is_frozen(terms, *variable)) {
            continue;
        }
        equal.push(other);
        if let Sort::Bits(width) = terms.sort(other) {
            let one = terms.bits(1, width);
            near.extend([terms.sub(other, one), terms.add(other, one)]);
        }
    }
    equal.extend(near);
    equal
}

/// The terms, free of frozen values, that a formula says to be numbers.
fn numbers(terms: &Terms, formula: Term) -> Vec<(Term, Term)> {
    let mut numbers = Vec::new();
    for atom in atoms(terms, formula) {
        if let Kind::Eq(a, b) = *terms.kind(atom) {
            let (number, other) = if terms.constant(a).is_some() { (a, b) } else { (b, a) };
            let is_number = terms.constant(number).is_some() && matches!(terms.sort(other), Sort::Bits(_));
            if is_number && !terms.variables(other).iter().any(|v| is_frozen(terms, *v)) {
                numbers.push((other, number));
            }
        }
    }
    numbers
}

fn is_frozen(terms: &Terms, variable: Term) -> bool {
    terms.name(variable).is_some_and(|name| name.starts_with("caller("))
}

/// An instance of an effect that does not hold in a model in which the effect does not: if possible
/// with terms, else with the model's values.
fn ruling_out(
    terms: &mut Terms,
    site: &CallSite,
    effect: Term,
    (open, choices): (&[&Frozen], &[Vec<Term>]),
    model: &Model,
) -> Term {
    let values: Vec<Term> = open.iter().map(|value| constant(terms, value.assigned, model)).collect();
    // One value is a term, the others are the model's.
    for (value, choices) in open.iter().zip(choices) {
        for choice in choices {
            let mut map: FxHashMap<Term, Term> =
                open.iter().map(|value| value.name).zip(values.iter().copied()).collect();
            map.insert(value.name, *choice);
            let instance = terms.substitute(effect, &map);
            let seen = terms.substitute(instance, &site.at_exit);
            if terms.evaluate(seen, model).bits() == Some(0) {
                return instance;
            }
        }
    }
    let map = open.iter().map(|value| value.name).zip(values).collect();
    terms.substitute(effect, &map)
}

/// A value of the caller while a callee runs.
struct Frozen {
    /// Its name for one call of the path.
    name: Term,
    /// The same in terms of names for all calls.
    general: Term,
    /// The value in terms of the caller's store before the call.
    assigned: Term,
}
