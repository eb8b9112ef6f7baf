//! Facts: what always holds at cut points, found by guessing and checking.
//!
//! Equations are found by symbolic abstraction (T. Reps, M. Sagiv, G. Yorsh, *Symbolic
//! implementation of the best transformer*, VMCAI 2004): a model of a step whose end satisfies
//! not all equations so far is one more point of the hull at that end. The other candidates come
//! from the text of the program (`candidates.rs`), and those that are not inductive together are
//! dropped (C. Flanagan, R. Leino, *Houdini*, FME 2001). All of it is bit-precise, and nothing is
//! believed that is not inductive: a fact is a part of the proof, and is checked with it.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use wherefore_smt::{
    BitBlaster, Budget, Model, Outcome, Reason, Solver, Sort, Term, Terms, Value, check_by_cases,
    contradicts_by_arithmetic,
};

use super::candidates::Candidates;
use super::elements::{hold, instances};
use super::hull::Hull;
use super::system::{Step, System};
use super::walks::visited;
use crate::refinement::solver::block::conjuncts;
use crate::refinement::solver::graph::{Graph, PointId};

/// Conflicts that a question about facts may take.
const PATIENCE: u64 = 3_000;

/// The same where numbers are multiplied.
const PATIENCE_WITH_PRODUCTS: u64 = 60;

/// Models that equations at one point may take.
const MOST_POINTS: usize = 200;

/// How many of the lowest bits of equations are asked about, one after the other. First all, by
/// arithmetic only. Then models that break equations already in their lowest bits: an odd
/// difference takes an equation away at once, where others would leave one congruence after the
/// other.
const LOWEST: [u32; 6] = [u64::BITS, 1, 2, 4, 8, u64::BITS];

/// What always holds at each point.
pub(super) struct Facts {
    pub at: Vec<Vec<Term>>,
}

impl Facts {
    /// Finds facts among candidates, in addition to what is known at each point; those so far if a
    /// limit is met in time to keep them consistent, else only the latter.
    pub fn new(
        terms: &mut Terms,
        graph: &Graph,
        system: &System,
        candidates: Candidates,
        known: Vec<Vec<Term>>,
        budget: &Budget,
    ) -> Self {
        let visited = visited(terms, graph, system, budget);
        let mut found = Self::among(terms, system, (candidates, &visited), &known, budget);
        for (found, known) in found.at.iter_mut().zip(known) {
            found.extend(known);
            tidy(found);
        }
        found
    }

    fn among(
        terms: &mut Terms,
        system: &System,
        (candidates, visited): (Candidates, &[Vec<Model>]),
        known: &[Vec<Term>],
        budget: &Budget,
    ) -> Self {
        let mut finder = Finder {
            terms,
            system,
            known,
            solvers: system.steps.iter().map(|_| None).collect(),
            budget: Budget { conflicts: Some(PATIENCE), ..budget.clone() },
        };
        let mut texts = candidates.at;
        for ((list, known), visited) in texts.iter_mut().zip(known).zip(visited) {
            tidy(list);
            list.retain(|fact| !known.contains(fact));
            for state in visited {
                let mut holds = hold(finder.terms, list, state).into_iter();
                list.retain(|_| holds.next() == Some(true));
            }
        }
        // What the text suggests is inductive by itself, or nothing is known.
        let mut at = texts.clone();
        if finder.inductive(&mut at).is_err() {
            at.iter_mut().for_each(Vec::clear);
            return Self { at };
        }
        let equations = finder.equations(&candidates.sought, &at, visited);
        let Ok(equations) = equations else { return Self { at } };
        // With equations, more of it may be.
        let mut more = texts;
        for (point, (list, equations)) in more.iter_mut().zip(equations).enumerate() {
            list.extend(equations);
            list.extend(of_products(finder.terms, &candidates.sought[point], &visited[point]));
            tidy(list);
        }
        if more != at && finder.inductive(&mut more).is_ok() {
            at = more;
        }
        Self { at }
    }

    /// What is known at a point, with instances of facts about all elements for the steps from there.
    pub fn assumed(&self, terms: &mut Terms, system: &System, point: PointId) -> Vec<Term> {
        let mut known = self.at[point].clone();
        for step in &system.out[point] {
            let more = instances(terms, &self.at[point], &system.steps[*step].indices);
            known.extend(more.into_iter().map(|(instance, _)| instance));
        }
        known
    }

    /// What is known before a step, with the effect of a callee.
    pub fn before(&self, terms: &mut Terms, step: &Step) -> Vec<Term> {
        before(terms, step, &self.at)
    }
}

/// Each candidate once.
fn tidy(list: &mut Vec<Term>) {
    list.sort_unstable();
    list.dedup();
    list.retain(|fact| *fact != Terms::TRUE);
}

fn before(terms: &mut Terms, step: &Step, at: &[Vec<Term>]) -> Vec<Term> {
    let mut known: Vec<Term> = step.from.map(|from| at[from].clone()).unwrap_or_default();
    let more = instances(terms, &known, &step.indices);
    known.extend(more.into_iter().map(|(instance, _)| instance));
    if let Some((exit, names)) = &step.effect {
        let mut done = names.clone();
        known.extend(at[*exit].iter().map(|fact| terms.substitute_with(*fact, &mut done)));
    }
    known
}

struct Finder<'f> {
    terms: &'f mut Terms,
    system: &'f System,
    /// What is known at each point beside what is found.
    known: &'f [Vec<Term>],
    solvers: Vec<Option<BitBlaster>>,
    budget: Budget,
}

/// What equations are sought between at a point.
#[derive(Clone, Debug, Default)]
pub(super) struct Sought {
    /// Numbers, by width.
    pub numbers: BTreeMap<u32, Vec<Term>>,
    /// Products of some of them, by width: what equations hold of them in states that were visited is
    /// a guess.
    pub products: BTreeMap<u32, Vec<Term>>,
    /// Conditions that may tell apart different equations: phases of a loop.
    pub phases: Vec<Term>,
}

/// The equations at a point so far: all, and of the states where each of some conditions holds;
/// none where there are no such states.
struct Hulls {
    of: Vec<(Term, Option<BTreeMap<u32, Hull>>)>,
}

impl Hulls {
    fn new(terms: &mut Terms, sought: &Sought) -> Self {
        let mut of = vec![(Terms::TRUE, None)];
        for phase in &sought.phases {
            of.extend([(*phase, None), (terms.not(*phase), None)]);
        }
        Self { of }
    }

    /// Adds the end of a step, under a model, to what holds there.
    fn add(&mut self, terms: &mut Terms, step: &Step, sought: &Sought, model: &Model) {
        let mut done = step.updates.clone();
        let phases: Vec<Term> =
            self.of.iter().map(|(phase, _)| terms.substitute_with(*phase, &mut done)).collect();
        let mut numbers: BTreeMap<u32, Vec<Term>> = BTreeMap::new();
        for (width, list) in &sought.numbers {
            let list = list.iter().map(|number| terms.substitute_with(*number, &mut done));
            numbers.insert(*width, list.collect());
        }
        self.add_values(terms, &phases, &numbers, model);
    }

    /// Adds a state.
    fn add_state(&mut self, terms: &Terms, sought: &Sought, state: &Model) {
        let phases: Vec<Term> = self.of.iter().map(|(phase, _)| *phase).collect();
        self.add_values(terms, &phases, &sought.numbers, state);
    }

    fn add_values(
        &mut self,
        terms: &Terms,
        phases: &[Term],
        numbers: &BTreeMap<u32, Vec<Term>>,
        model: &Model,
    ) {
        for (phase, (_, hulls)) in phases.iter().zip(&mut self.of) {
            if !terms.holds(*phase, model) {
                continue;
            }
            let is_first = hulls.is_none();
            let hulls = hulls.get_or_insert_with(BTreeMap::new);
            for (width, numbers) in numbers {
                let values = terms.evaluate_all(numbers, model);
                let point: Vec<u64> = values.iter().filter_map(Value::bits).collect();
                if is_first {
                    hulls.insert(*width, Hull::of_point(*width, point));
                } else if let Some(hull) = hulls.get_mut(width) {
                    hull.add(&point);
                }
            }
        }
    }

    /// What holds so far, of the lowest bits of equations.
    fn facts(&self, terms: &mut Terms, sought: &Sought, most: u32) -> Vec<Term> {
        let mut facts: Vec<Term> = Vec::new();
        for (phase, hulls) in &self.of {
            let Some(hulls) = hulls else {
                facts.push(terms.not(*phase));
                continue;
            };
            let mut found = Vec::new();
            for (width, hull) in hulls {
                found.extend(hull.equations(terms, &sought.numbers[width], most));
            }
            found.retain(|equation| !facts.contains(equation));
            for equation in found {
                facts.push(terms.implies(*phase, equation));
            }
        }
        facts
    }
}

/// The equations between numbers and their products that hold in all of some states, if those are
/// enough to refute most that do not hold always.
fn of_products(terms: &mut Terms, sought: &Sought, visited: &[Model]) -> Vec<Term> {
    let mut found = Vec::new();
    for (width, products) in &sought.products {
        let mut numbers = sought.numbers.get(width).cloned().unwrap_or_default();
        numbers.extend(products);
        if products.is_empty() || visited.len() <= numbers.len() {
            continue;
        }
        let mut hull: Option<Hull> = None;
        for state in visited {
            let values = terms.evaluate_all(&numbers, state);
            let point: Vec<u64> = values.iter().filter_map(Value::bits).collect();
            match &mut hull {
                None => hull = Some(Hull::of_point(*width, point)),
                Some(hull) => {
                    hull.add(&point);
                }
            }
        }
        found.extend(hull.iter().flat_map(|hull| hull.equations(terms, &numbers, u64::BITS)));
    }
    found.retain(|equation| terms.has_product(*equation));
    found
}

impl Finder<'_> {
    /// A model of a step, under conditions.
    fn ask(&mut self, step: usize, conditions: &[Term]) -> Result<Option<Model>, Reason> {
        let guard = self.system.steps[step].guard;
        let mut parts = conditions.iter().chain([&guard]);
        let has_product = parts.any(|part| self.terms.has_product(*part));
        let most = if has_product { PATIENCE_WITH_PRODUCTS } else { PATIENCE };
        let budget = Budget { conflicts: Some(most), ..self.budget.clone() };
        let solver = self.solvers[step].get_or_insert_with(|| {
            let mut solver = BitBlaster::new();
            solver.assert(self.terms, guard);
            solver
        });
        match check_by_cases(solver, self.terms, &[guard], conditions, &budget) {
            Outcome::Sat(model) => Ok(Some(model)),
            Outcome::Unsat(_) => Ok(None),
            Outcome::Unknown(reason) => Err(reason),
        }
    }

    /// What is known before a step, with other facts.
    fn before(&mut self, step: &Step, at: &[Vec<Term>]) -> Vec<Term> {
        let mut all = before(self.terms, step, at);
        all.extend(before(self.terms, step, self.known));
        all
    }

    /// A model of a step in which one of some conditions holds, if there are any, where equations
    /// and other facts hold before. If that is too hard, each condition is asked about by itself,
    /// first with the equations only: arithmetic decides most of these questions.
    fn ask_any(
        &mut self,
        step: usize,
        equations: &[Term],
        facts: &[Term],
        wanted: Option<Vec<Term>>,
    ) -> Result<Option<Model>, Reason> {
        let mut all = [equations, facts].concat();
        let Some(wanted) = wanted else { return self.ask(step, &all) };
        all.push(self.terms.any(&wanted));
        let outcome = self.ask(step, &all);
        if !matches!(outcome, Err(Reason::Conflicts)) {
            return outcome;
        }
        for condition in wanted {
            let mut few = equations.to_vec();
            few.push(condition);
            if matches!(self.ask(step, &few), Ok(None)) {
                continue;
            }
            all.pop();
            all.push(condition);
            if let Some(model) = self.ask(step, &all)? {
                return Ok(Some(model));
            }
        }
        Ok(None)
    }

    /// Equations between numbers that always hold, where other facts do.
    fn equations(
        &mut self,
        sought: &[Sought],
        facts: &[Vec<Term>],
        visited: &[Vec<Model>],
    ) -> Result<Vec<Vec<Term>>, Reason> {
        let points = sought.len();
        let mut hulls: Vec<Option<Hulls>> = (0..points).map(|_| None).collect();
        let mut known: Vec<Vec<Term>> = vec![Vec::new(); points];
        // Where too many models are needed, or a question is too hard, nothing is known.
        let (mut models, mut is_open) = (vec![0; points], vec![false; points]);
        let starts = (0..self.system.steps.len()).filter(|step| self.system.steps[*step].from.is_none());
        let mut open: BTreeSet<usize> = starts.collect();
        for (point, states) in visited.iter().enumerate() {
            for state in states {
                let hulls = hulls[point].get_or_insert_with(|| Hulls::new(self.terms, &sought[point]));
                hulls.add_state(self.terms, &sought[point], state);
            }
            if let Some(hulls) = &hulls[point] {
                known[point] = hulls.facts(self.terms, &sought[point], u64::BITS);
                open.extend(self.system.depending(point));
            }
        }
        while let Some(at) = open.pop_first() {
            let step = &self.system.steps[at];
            let exit = step.effect.as_ref().map(|(exit, _)| *exit);
            let is_reached = |point: PointId| is_open[point] || hulls[point].is_some();
            if ![step.from, exit].into_iter().flatten().all(is_reached) {
                continue;
            }
            let to = step.to;
            // Whether an error can be reached is not asked here.
            if sought[to].numbers.values().all(Vec::is_empty) {
                if !std::mem::replace(&mut is_open[to], true) {
                    open.extend(self.system.depending(to));
                }
                continue;
            }
            let mut bits = LOWEST.iter();
            let mut most = bits.next();
            while let Some(lowest) = most.filter(|_| !is_open[to]) {
                let equations = before(self.terms, step, &known);
                let others = self.before(step, facts);
                let violated = hulls[to].as_ref().map(|hulls| {
                    let mut done = step.updates.clone();
                    let facts = hulls.facts(self.terms, &sought[to], *lowest).into_iter();
                    let violated = facts.map(|fact| {
                        let after = self.terms.substitute_with(fact, &mut done);
                        self.terms.not(after)
                    });
                    let mut violated: Vec<Term> = violated.collect();
                    // What equations say of equations needs no search.
                    violated.retain(|condition| {
                        let mut few = equations.clone();
                        few.push(*condition);
                        !contradicts_by_arithmetic(self.terms, &few)
                    });
                    violated
                });
                // Equations that hold in all bits hold in fewer.
                if bits.len() + 1 == LOWEST.len() && violated.is_some() {
                    most = if violated == Some(Vec::new()) { None } else { bits.next() };
                    continue;
                }
                match self.ask_any(at, &equations, &others, violated) {
                    // The lowest bits are only asked about to find good models.
                    Err(Reason::Conflicts) if *lowest != u64::BITS => {
                        most = bits.next();
                        continue;
                    }
                    Ok(None) => {
                        most = bits.next();
                        continue;
                    }
                    Ok(Some(model)) if models[to] < MOST_POINTS => {
                        models[to] += 1;
                        let hulls = hulls[to].get_or_insert_with(|| Hulls::new(self.terms, &sought[to]));
                        hulls.add(self.terms, step, &sought[to], &model);
                        known[to] = hulls.facts(self.terms, &sought[to], u64::BITS);
                    }
                    Err(reason @ (Reason::Time | Reason::Cancelled | Reason::Work)) => return Err(reason),
                    _ => {
                        is_open[to] = true;
                        known[to].clear();
                    }
                }
                open.extend(self.system.depending(to));
            }
        }
        Ok(known)
    }

    /// Drops candidates until all of them are inductive together.
    fn inductive(&mut self, at: &mut [Vec<Term>]) -> Result<(), Reason> {
        let mut open: BTreeSet<usize> = (0..self.system.steps.len()).collect();
        // The start comes first: what does not hold there goes soonest.
        while let Some(number) = open.pop_first() {
            let step = &self.system.steps[number];
            let to = step.to;
            let mut after: FxHashMap<Term, Term> = FxHashMap::default();
            let mut done = step.updates.clone();
            for fact in &at[to] {
                after.insert(*fact, self.terms.substitute_with(*fact, &mut done));
            }
            let count = at[to].len();
            if self.multiplies(step, after.values()) {
                self.by_parts(number, at, &after)?;
                if at[to].len() < count {
                    open.extend(self.system.depending(to));
                }
                continue;
            }
            loop {
                let violated: Vec<Term> = at[to].iter().map(|fact| self.terms.not(after[fact])).collect();
                let violated = self.terms.any(&violated);
                if violated == Terms::FALSE {
                    break;
                }
                let mut conditions = self.before(step, at);
                conditions.push(violated);
                match self.ask(number, &conditions) {
                    Ok(None) => break,
                    Ok(Some(model)) => {
                        let values: Vec<Term> = at[to].iter().map(|fact| after[fact]).collect();
                        let values = self.terms.evaluate_all(&values, &model);
                        let mut values = values.iter();
                        at[to].retain(|_| values.next() == Some(&Value::Bits(1)));
                    }
                    Err(reason @ (Reason::Time | Reason::Cancelled | Reason::Work)) => return Err(reason),
                    Err(_) => {
                        self.one_by_one(number, at, &after)?;
                        break;
                    }
                }
            }
            if at[to].len() < count {
                open.extend(self.system.depending(to));
            }
        }
        Ok(())
    }

    /// Whether a question about a step has products of numbers.
    fn multiplies<'t>(&self, step: &Step, mut after: impl Iterator<Item = &'t Term>) -> bool {
        self.terms.has_product(step.guard) || after.any(|after| self.terms.has_product(*after))
    }

    /// Drops candidates behind a step in which numbers are multiplied: what has no products is asked
    /// about without what has some; the others one at a time, for algebra decides most of them.
    fn by_parts(
        &mut self,
        number: usize,
        at: &mut [Vec<Term>],
        after: &FxHashMap<Term, Term>,
    ) -> Result<(), Reason> {
        let step = &self.system.steps[number];
        let known = self.before(step, at);
        let mut plain = conjuncts(self.terms, step.guard);
        plain.extend(&known);
        plain.retain(|part| !self.terms.has_product(*part));
        let mut solver = BitBlaster::new();
        for part in &plain {
            solver.assert(self.terms, *part);
        }
        let (mut open, products): (Vec<Term>, Vec<Term>) =
            at[step.to].iter().copied().partition(|fact| !self.terms.has_product(after[fact]));
        let mut kept = Vec::new();
        while !open.is_empty() {
            let violated: Vec<Term> = open.iter().map(|fact| self.terms.not(after[fact])).collect();
            let some = self.terms.any(&violated);
            match check_by_cases(&mut solver, self.terms, &plain, &[some], &self.budget) {
                Outcome::Unsat(_) => break,
                Outcome::Sat(model) => {
                    let values: Vec<Term> = open.iter().map(|fact| after[fact]).collect();
                    let values = self.terms.evaluate_all(&values, &model);
                    let mut values = values.iter();
                    open.retain(|_| values.next() == Some(&Value::Bits(1)));
                }
                Outcome::Unknown(reason @ (Reason::Time | Reason::Cancelled | Reason::Work)) => {
                    return Err(reason);
                }
                Outcome::Unknown(_) => {
                    let few = Budget { conflicts: Some(PATIENCE_WITH_PRODUCTS), ..self.budget.clone() };
                    let all = std::mem::take(&mut open);
                    for (fact, violated) in all.into_iter().zip(violated) {
                        let outcome = check_by_cases(&mut solver, self.terms, &plain, &[violated], &few);
                        if outcome.is_unsat() {
                            kept.push(fact);
                        }
                    }
                }
            }
        }
        kept.extend(open);
        for fact in products {
            let mut conditions = known.clone();
            conditions.push(self.terms.not(after[&fact]));
            match self.ask(number, &conditions) {
                Ok(None) => kept.push(fact),
                Err(reason @ (Reason::Time | Reason::Cancelled | Reason::Work)) => return Err(reason),
                _ => {}
            }
        }
        kept.sort_unstable();
        at[step.to] = kept;
        Ok(())
    }

    /// Keeps the candidates behind a step that are decided alone.
    fn one_by_one(
        &mut self,
        number: usize,
        at: &mut [Vec<Term>],
        after: &FxHashMap<Term, Term>,
    ) -> Result<(), Reason> {
        let step = &self.system.steps[number];
        loop {
            let known = self.before(step, at);
            let count = at[step.to].len();
            let mut kept = Vec::new();
            for fact in at[step.to].clone() {
                let mut conditions = known.clone();
                conditions.push(self.terms.not(after[&fact]));
                match self.ask(number, &conditions) {
                    Ok(None) => kept.push(fact),
                    Err(reason @ (Reason::Time | Reason::Cancelled | Reason::Work)) => return Err(reason),
                    _ => {}
                }
            }
            at[step.to] = kept;
            // In a loop of one step, less is known before it now.
            if at[step.to].len() == count {
                return Ok(());
            }
        }
    }
}

/// Whether a sort is that of a number.
pub(super) fn width(sort: Sort) -> Option<u32> {
    match sort {
        Sort::Bits(width) => Some(width),
        _ => None,
    }
}
