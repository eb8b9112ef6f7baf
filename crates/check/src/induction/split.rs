//! The system with points of its own for the values of variables that take few.
//!
//! How many elements a buffer holds, how high a stack is, which slot comes next: such a number
//! decides which cells are in use, and nothing short can be said of the cells without it. Here each
//! cut point becomes one point for each combination of values that such variables have there. On
//! each of them an invariant is a conjunction again: `sum == a[0] + a[1]` where two elements are
//! held. Loops with few iterations that are counted by a variable are unrolled by this, too.
//!
//! A variable qualifies if all it is ever given are constants and functions of variables that
//! qualify, and if its values turn out to be few. (Compare the splitting of control points in
//! L. Mauborgne, X. Rival, *Trace partitioning in abstract interpretation based static analyzers*,
//! ESOP 2005.) An inductive invariant of the split system is one of the whole system, as a
//! conjunction of implications; the check of proofs is asked about that one and knows nothing of
//! the split.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};
use wherefore_smt::{BitBlaster, Budget, Kind, Outcome, Solver, Sort, Term, Terms, Value, check_by_cases};

use super::candidates::Candidates;
use super::facts::{Sought, width};
use super::system::{Step, System};
use crate::refinement::solver::graph::{Graph, PointId};

/// A variable with more values does not split points.
const MOST_VALUES: usize = 20;

/// Points of the split system, at most.
const MOST_POINTS: usize = 400;

/// Conflicts that the question for the values behind a step may take.
const PATIENCE: u64 = 2_000;

/// Numbers of one width that equations are sought between, at most, with shorter ones that are
/// made as long.
const MOST_NUMBERS: usize = 20;

/// The values of variables at a point, in the order of the variables.
type Values = Vec<(Term, u64)>;

/// A system with points of their own for values.
pub(super) struct Split {
    pub system: System,
    /// The point of the whole system that each point is a part of, and the values there.
    origin: Vec<(PointId, Values)>,
}

/// Why a search for the points of a split system has ended.
enum End {
    /// This variable takes too many values.
    Values(Term),
    /// There are too many points, or a limit was met.
    TooMuch,
}

impl Split {
    /// Splits a system; none if no variable qualifies, if this takes too much, or where calls have
    /// summaries.
    pub fn new(terms: &mut Terms, graph: &Graph, system: &System, budget: &Budget) -> Option<Self> {
        if !graph.calls.is_empty() {
            return None;
        }
        let mut chosen = qualified(terms, graph, system);
        while !chosen.is_empty() {
            let mut search = Search::new(terms, graph, system, &chosen, budget);
            match search.run() {
                Ok(()) => {
                    let Search { origin, steps, .. } = search;
                    let count: BTreeSet<PointId> = origin.iter().map(|(point, _)| *point).collect();
                    return (count.len() < origin.len()).then(|| Self::of(system, origin, steps));
                }
                Err(End::Values(variable)) => {
                    chosen.remove(&variable);
                    close(terms, system, &mut chosen);
                }
                Err(End::TooMuch) => return None,
            }
        }
        None
    }

    fn of(whole: &System, origin: Vec<(PointId, Values)>, steps: Vec<Step>) -> Self {
        let points = origin.len();
        let mut system = System {
            cuts: (0..points).collect(),
            steps,
            into: vec![Vec::new(); points],
            out: vec![Vec::new(); points],
            reached: (0..points).collect(),
            relevant: whole.relevant.clone(),
        };
        for (i, step) in system.steps.iter().enumerate() {
            system.into[step.to].push(i);
            if let Some(from) = step.from {
                system.out[from].push(i);
            }
        }
        Self { system, origin }
    }

    /// The parts of some points of the whole system.
    pub fn parts(&self, points: &BTreeSet<PointId>) -> BTreeSet<PointId> {
        let origin = self.origin.iter().enumerate();
        origin.filter(|(_, (point, _))| points.contains(point)).map(|(part, _)| part).collect()
    }

    /// The point of the whole system that a point is a part of.
    pub fn origin(&self, part: PointId) -> PointId {
        self.origin[part].0
    }

    /// What is known at each point, if this is known at the points of the whole system.
    pub fn known(&self, terms: &mut Terms, whole: &[Vec<Term>]) -> Vec<Vec<Term>> {
        let mut known = Vec::new();
        for (point, values) in &self.origin {
            let mut done = constants(terms, values);
            known.push(whole[*point].iter().map(|fact| terms.substitute_with(*fact, &mut done)).collect());
        }
        known
    }

    /// What is guessed at each point: that of the whole point, with the values put in.
    pub fn candidates(&self, terms: &mut Terms, whole: &Candidates) -> Candidates {
        let (at, mut sought) = (self.known(terms, &whole.at), Vec::new());
        for (point, values) in &self.origin {
            let is_open = |variable: &Term| !values.iter().any(|(name, _)| name == variable);
            let open = |list: &Vec<Term>| list.iter().copied().filter(is_open).collect();
            let numbers = whole.sought[*point].numbers.iter();
            let mut numbers: BTreeMap<u32, Vec<Term>> =
                numbers.map(|(width, list)| (*width, open(list))).collect();
            lengthen(terms, &mut numbers);
            sought.push(Sought { numbers, ..Sought::default() });
        }
        Candidates { at, sought }
    }

    /// Formulas at the points of the whole system: what holds where its variables have the values
    /// of a part, and that they have those of some part.
    pub fn whole(&self, terms: &mut Terms, points: usize, parts: &[Vec<Term>]) -> Vec<Vec<Term>> {
        let mut found: Vec<Vec<Term>> = vec![Vec::new(); points];
        let mut some: Vec<Vec<Term>> = vec![Vec::new(); points];
        for ((point, values), holds) in self.origin.iter().zip(parts) {
            let here = is_at(terms, values);
            some[*point].push(here);
            let holds = terms.all(holds);
            found[*point].push(terms.implies(here, holds));
        }
        for (found, some) in found.iter_mut().zip(some) {
            found.push(terms.any(&some));
        }
        found
    }
}

/// Shorter numbers are made as long as the longest of a point, so that a sum of them may be equal to
/// one.
fn lengthen(terms: &mut Terms, numbers: &mut BTreeMap<u32, Vec<Term>>) {
    let Some((longest, _)) = numbers.last_key_value().map(|(width, list)| (*width, list.len())) else {
        return;
    };
    let shorter: Vec<Term> = numbers.range(8..longest).rev().flat_map(|(_, list)| list.clone()).collect();
    let list = numbers.entry(longest).or_default();
    let room = MOST_NUMBERS.saturating_sub(list.len());
    list.extend(shorter.into_iter().take(room).map(|number| terms.sign_extend(number, longest)));
}

/// The variables with their values.
fn constants(terms: &mut Terms, values: &Values) -> FxHashMap<Term, Term> {
    values.iter().map(|(name, value)| (*name, constant(terms, *name, *value))).collect()
}

fn constant(terms: &mut Terms, like: Term, value: u64) -> Term {
    match terms.sort(like) {
        Sort::Bits(width) => terms.bits(value, width),
        _ => terms.bool(value == 1),
    }
}

/// Whether variables have these values.
fn is_at(terms: &mut Terms, values: &Values) -> Term {
    let mut all = Vec::new();
    for (name, value) in values {
        let value = constant(terms, *name, *value);
        all.push(terms.eq(*name, value));
    }
    terms.all(&all)
}

/// The variables that may be split by: what they are given are functions of such variables.
fn qualified(terms: &Terms, graph: &Graph, system: &System) -> FxHashSet<Term> {
    let mut changed: FxHashSet<Term> = FxHashSet::default();
    for step in system.steps.iter().filter(|step| step.from.is_some()) {
        changed.extend(step.updates.iter().filter(|(name, value)| name != value).map(|(name, _)| *name));
    }
    let is_number = |name: &Term| match terms.sort(*name) {
        Sort::Bool => true,
        sort => width(sort).is_some_and(|width| width <= u64::BITS),
    };
    changed.retain(|name| is_number(name) && system.relevant.contains(name) && graph.names.is_name(*name));
    close(terms, system, &mut changed);
    changed
}

/// Takes out variables that are given something else, until the rest depends on itself only.
fn close(terms: &Terms, system: &System, chosen: &mut FxHashSet<Term>) {
    loop {
        let depends = |name: &Term| {
            let given = system.steps.iter().filter_map(|step| step.updates.get(name));
            given.into_iter().all(|value| {
                let of = outcomes(terms, *value).into_iter().flat_map(|outcome| terms.variables(outcome));
                of.into_iter().all(|variable| chosen.contains(&variable))
            })
        };
        let gone: Vec<Term> = chosen.iter().copied().filter(|name| !depends(name)).collect();
        if gone.is_empty() {
            return;
        }
        gone.iter().for_each(|name| {
            chosen.remove(name);
        });
    }
}

/// What a term can be, whatever its conditions are.
fn outcomes(terms: &Terms, term: Term) -> Vec<Term> {
    let (mut open, mut seen, mut found) = (vec![term], FxHashSet::default(), Vec::new());
    while let Some(term) = open.pop() {
        if !seen.insert(term) {
            continue;
        }
        match *terms.kind(term) {
            Kind::Ite(_, then, otherwise) => open.extend([then, otherwise]),
            _ => found.push(term),
        }
    }
    found
}

/// The search for the points of the split system.
struct Search<'s> {
    terms: &'s mut Terms,
    graph: &'s Graph,
    whole: &'s System,
    chosen: &'s FxHashSet<Term>,
    /// The variables that points are split by: those that are read from there on.
    by: Vec<Vec<Term>>,
    budget: Budget,
    origin: Vec<(PointId, Values)>,
    known: BTreeMap<(PointId, Values), PointId>,
    /// The values of each variable so far.
    taken: FxHashMap<Term, BTreeSet<u64>>,
    steps: Vec<Step>,
}

impl<'s> Search<'s> {
    fn new(
        terms: &'s mut Terms,
        graph: &'s Graph,
        whole: &'s System,
        chosen: &'s FxHashSet<Term>,
        budget: &Budget,
    ) -> Self {
        let by = live(terms, graph, whole);
        let by = by.into_iter().map(|live| live.into_iter().filter(|name| chosen.contains(name)).collect());
        Self {
            terms,
            graph,
            whole,
            chosen,
            by: by.collect(),
            budget: Budget { conflicts: Some(PATIENCE), ..budget.clone() },
            origin: Vec::new(),
            known: BTreeMap::new(),
            taken: FxHashMap::default(),
            steps: Vec::new(),
        }
    }

    fn run(&mut self) -> Result<(), End> {
        let whole = self.whole;
        for step in whole.steps.iter().filter(|step| step.from.is_none()) {
            self.follow(step, None)?;
        }
        let mut next = 0;
        while next < self.origin.len() {
            let point = self.origin[next].0;
            for step in &whole.out[point] {
                self.follow(&whole.steps[*step], Some(next))?;
            }
            next += 1;
        }
        Ok(())
    }

    /// Adds the steps that a step is from a point, one for each combination of values behind it.
    fn follow(&mut self, step: &Step, from: Option<PointId>) -> Result<(), End> {
        self.budget.look().map_err(|_| End::TooMuch)?;
        let mut done = match from {
            Some(from) => constants(self.terms, &self.origin[from].1),
            None => FxHashMap::default(),
        };
        let guard = self.terms.substitute_with(step.guard, &mut done);
        if guard == Terms::FALSE {
            return Ok(());
        }
        let mut updates: FxHashMap<Term, Term> = FxHashMap::default();
        for (name, value) in &step.updates {
            updates.insert(*name, self.terms.substitute_with(*value, &mut done));
        }
        let split_by = self.by[step.to].clone();
        let mut behind = Vec::new();
        for name in split_by {
            let value = match updates.get(&name) {
                Some(value) => *value,
                None => self.terms.substitute_with(name, &mut done),
            };
            // It was never given a value, or comes from a variable that is not known here.
            if outcomes(self.terms, value).iter().any(|outcome| self.terms.constant(*outcome).is_none()) {
                return Err(End::Values(name));
            }
            behind.push((name, value));
        }
        let open: Vec<(Term, Term)> =
            behind.iter().copied().filter(|(_, value)| self.terms.constant(*value).is_none()).collect();
        let mut excluded = Vec::new();
        loop {
            let (mut here, mut values) = (guard, behind.clone());
            if !open.is_empty() {
                let Some(found) = self.outcome(guard, &open, &excluded)? else { break };
                for ((name, value), number) in open.iter().zip(found) {
                    let number = constant(self.terms, *name, number);
                    let is_it = self.terms.eq(*value, number);
                    here = self.terms.and(here, is_it);
                    values
                        .iter_mut()
                        .filter(|(other, _)| other == name)
                        .for_each(|(_, value)| *value = number);
                }
                let mut rest = here;
                if rest != Terms::FALSE {
                    rest = self.terms.not(rest);
                }
                excluded.push(rest);
            }
            let to = self.point(step.to, &values)?;
            let mut updates = updates.clone();
            updates.extend(values);
            self.steps.push(Step::new(self.terms, from, to, here, updates));
            if open.is_empty() {
                break;
            }
        }
        Ok(())
    }

    /// The values of some terms in a model of a guard, but for those that are excluded.
    fn outcome(
        &mut self,
        guard: Term,
        open: &[(Term, Term)],
        excluded: &[Term],
    ) -> Result<Option<Vec<u64>>, End> {
        let mut solver = BitBlaster::new();
        solver.assert(self.terms, guard);
        match check_by_cases(&mut solver, self.terms, &[guard], excluded, &self.budget) {
            Outcome::Unsat(_) => Ok(None),
            Outcome::Unknown(_) => Err(End::Values(open[0].0)),
            Outcome::Sat(model) => {
                let values: Vec<Term> = open.iter().map(|(_, value)| *value).collect();
                let values = self.terms.evaluate_all(&values, &model);
                Ok(Some(values.iter().filter_map(Value::bits).collect()))
            }
        }
    }

    /// The point for some values, which are constants.
    fn point(&mut self, point: PointId, values: &[(Term, Term)]) -> Result<PointId, End> {
        let mut found = Values::new();
        for (name, value) in values {
            let value = self.terms.constant(*value).unwrap_or_default();
            let taken = self.taken.entry(*name).or_default();
            taken.insert(value);
            if taken.len() > MOST_VALUES {
                return Err(End::Values(*name));
            }
            found.push((*name, value));
        }
        found.sort_unstable();
        let next = self.origin.len();
        let part = *self.known.entry((point, found.clone())).or_insert(next);
        if part == next {
            self.origin.push((point, found));
        }
        if self.origin.len() > MOST_POINTS {
            // The variable with the most values splits most.
            let most = self.taken.iter().max_by_key(|(name, values)| (values.len(), **name));
            return Err(most.map_or(End::TooMuch, |(name, _)| End::Values(*name)));
        }
        debug_assert!(self.chosen.len() >= self.by[point].len());
        debug_assert!(!self.graph.is_exit(point) || self.by[point].is_empty());
        Ok(part)
    }
}

/// The variables that are read at each point or later, before they are set.
fn live(terms: &Terms, graph: &Graph, system: &System) -> Vec<BTreeSet<Term>> {
    let mut live: Vec<BTreeSet<Term>> = vec![BTreeSet::new(); system.into.len()];
    let is_name = |variable: &Term| graph.names.is_name(*variable);
    loop {
        let mut is_changed = false;
        for step in &system.steps {
            let Some(from) = step.from else { continue };
            let mut read: BTreeSet<Term> = terms.variables(step.guard).into_iter().filter(is_name).collect();
            for name in &live[step.to] {
                match step.updates.get(name) {
                    Some(value) => read.extend(terms.variables(*value).into_iter().filter(is_name)),
                    None => {
                        read.insert(*name);
                    }
                }
            }
            let count = live[from].len();
            live[from].extend(read);
            is_changed |= live[from].len() > count;
        }
        if !is_changed {
            return live;
        }
    }
}
