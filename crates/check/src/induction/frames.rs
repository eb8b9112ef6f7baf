//! Property-directed reachability on the system of cut points.
//!
//! A. Bradley, *SAT-based model checking without unrolling* (VMCAI 2011), with frames per location
//! as in T. Lange, M. Neuhäußer, T. Noll, *IC3 software model checking on control flow automata*
//! (FMCAD 2015). Frame i says at each cut point what holds within i steps. To show that no error is
//! reached within N steps, cubes of states that lead there are excluded, the last first: a cube
//! that no state of the frame before leads to is generalised, by unsatisfiable cores and by leaving
//! out conditions or weakening equations to inequalities, and its negation is a lemma. When all
//! lemmas of a frame also hold in the next one, they are inductive, and with the facts they are the
//! proof.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use rustc_hash::FxHashMap;
use wherefore_smt::{
    BitBlaster, Budget, Kind, Model, Outcome, Reason, Solver, Sort, Term, Terms, check_by_cases,
};

use super::facts::Facts;
use super::lifting::lift;
use super::system::System;
use crate::refinement::solver::graph::{Graph, PointId};

/// Lemmas and cubes with more conditions than this are not made smaller one by one.
const MOST_TRIED: usize = 40;

/// Conflicts that an attempt to generalise may take.
const PATIENCE: u64 = 2_000;

/// How a search ended.
pub(super) enum Found {
    /// The lemmas at each point are inductive.
    Inductive(Vec<Vec<Term>>),
    /// A way to an error that may be one.
    Way,
    /// Neither.
    Stopped(Reason),
}

/// A negated cube that holds in the frames up to a level.
struct Lemma {
    cube: Vec<Term>,
    level: usize,
}

/// A cube that must be excluded from the frame of a level.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Obligation {
    level: usize,
    /// Earlier ones of a level come later: they have been tried.
    age: Reverse<usize>,
    point: PointId,
    cube: Vec<Term>,
}

/// The search.
pub(super) struct Frames<'f> {
    terms: &'f mut Terms,
    system: &'f System,
    graph: &'f Graph,
    facts: &'f Facts,
    budget: &'f Budget,
    /// The errors that are to be excluded.
    errors: &'f BTreeSet<PointId>,
    lemmas: Vec<Vec<Lemma>>,
    /// Assumed when the lemmas of a level count.
    levels: Vec<Term>,
    solvers: Vec<Option<BitBlaster>>,
    /// What each of them was told.
    told: Vec<Vec<Term>>,
    /// Conditions behind a step, in terms of the values before.
    behind: Vec<FxHashMap<Term, Term>>,
    queue: BinaryHeap<Reverse<Obligation>>,
    age: usize,
    pub made: usize,
}

/// What a question about a step found.
enum Asked {
    /// These conditions of the cube are enough to exclude it.
    Excluded(Vec<Term>),
    Reached(Model),
}

impl<'f> Frames<'f> {
    pub fn new(
        terms: &'f mut Terms,
        graph: &'f Graph,
        system: &'f System,
        facts: &'f Facts,
        errors: &'f BTreeSet<PointId>,
        budget: &'f Budget,
    ) -> Self {
        let points = system.into.len();
        Self {
            terms,
            system,
            graph,
            facts,
            budget,
            errors,
            lemmas: (0..points).map(|_| Vec::new()).collect(),
            levels: Vec::new(),
            solvers: system.steps.iter().map(|_| None).collect(),
            told: vec![Vec::new(); system.steps.len()],
            behind: system.steps.iter().map(|step| step.updates.clone()).collect(),
            queue: BinaryHeap::new(),
            age: 0,
            made: 0,
        }
    }

    /// Searches until a frame is inductive, or a way to an error is found.
    pub fn run(&mut self, tell: &mut dyn FnMut(usize, usize)) -> Found {
        let mut last = 1;
        loop {
            match self.exclude_errors(last) {
                Ok(true) => {}
                Ok(false) => return Found::Way,
                Err(reason) => return Found::Stopped(reason),
            }
            tell(last, self.made);
            match self.push(last) {
                Ok(None) => last += 1,
                Ok(Some(level)) => return Found::Inductive(self.inductive(level)),
                Err(reason) => return Found::Stopped(reason),
            }
        }
    }

    /// What holds at each point from a level on.
    fn inductive(&mut self, level: usize) -> Vec<Vec<Term>> {
        let mut all = Vec::new();
        for list in &self.lemmas {
            let kept = list.iter().filter(|lemma| lemma.level >= level);
            let cubes: Vec<Vec<Term>> = kept.map(|lemma| lemma.cube.clone()).collect();
            all.push(cubes.iter().map(|cube| negated(self.terms, cube)).collect());
        }
        all
    }

    fn level(&mut self, level: usize) -> Term {
        while self.levels.len() <= level {
            let name = format!("frame {}", self.levels.len());
            self.levels.push(self.terms.variable(&name, Sort::Bool));
        }
        self.levels[level]
    }

    /// The solver of a step: its guard, the facts before it, and the lemmas there.
    fn prepare(&mut self, step: usize) {
        if self.solvers[step].is_some() {
            return;
        }
        let at = &self.system.steps[step];
        let mut told = vec![at.guard];
        told.extend(self.facts.before(self.terms, at));
        if let Some(from) = at.from {
            let known: Vec<(Vec<Term>, usize)> =
                self.lemmas[from].iter().map(|lemma| (lemma.cube.clone(), lemma.level)).collect();
            for (cube, level) in known {
                told.push(self.guarded(&cube, level));
            }
        }
        let mut solver = BitBlaster::new();
        for term in &told {
            solver.assert(self.terms, *term);
        }
        self.told[step] = told;
        self.solvers[step] = Some(solver);
    }

    /// A lemma that counts from its level downwards.
    fn guarded(&mut self, cube: &[Term], level: usize) -> Term {
        let frame = self.level(level);
        let lemma = negated(self.terms, cube);
        self.terms.implies(frame, lemma)
    }

    /// Whether a step leads from the frame of a level into a cube.
    fn ask(
        &mut self,
        step: usize,
        level: usize,
        cube: &[Term],
        besides: Option<Term>,
        conflicts: Option<u64>,
    ) -> Result<Asked, Reason> {
        let from = self.system.steps[step].from;
        if from.is_some() && level == 0 {
            return Ok(Asked::Excluded(Vec::new()));
        }
        self.prepare(step);
        let mut conditions: Vec<Term> = Vec::new();
        if from.is_some() {
            let last = self.levels.len().max(level + 1) - 1;
            for level in level..=last {
                conditions.push(self.level(level));
            }
        }
        conditions.extend(besides);
        let mut literal_of: FxHashMap<Term, Term> = FxHashMap::default();
        for literal in cube {
            let before = self.terms.substitute_with(*literal, &mut self.behind[step]);
            if before == Terms::FALSE {
                return Ok(Asked::Excluded(vec![*literal]));
            }
            if before != Terms::TRUE {
                literal_of.insert(before, *literal);
                conditions.push(before);
            }
        }
        let budget = Budget { conflicts, ..self.budget.clone() };
        let Some(solver) = &mut self.solvers[step] else { return Ok(Asked::Excluded(Vec::new())) };
        let outcome = match conflicts {
            Some(_) => solver.check(self.terms, &conditions, &budget),
            None => check_by_cases(solver, self.terms, &self.told[step], &conditions, &budget),
        };
        match outcome {
            Outcome::Sat(model) => Ok(Asked::Reached(model)),
            Outcome::Unsat(core) => {
                Ok(Asked::Excluded(core.iter().filter_map(|term| literal_of.get(term).copied()).collect()))
            }
            Outcome::Unknown(reason) => Err(reason),
        }
    }

    /// Shows that no error is reached within so many steps; false if a way was found.
    fn exclude_errors(&mut self, last: usize) -> Result<bool, Reason> {
        self.level(last);
        self.queue.clear();
        for error in self.errors {
            if !self.system.into[*error].is_empty() {
                self.oblige(last, *error, Vec::new());
            }
        }
        while let Some(Reverse(obligation)) = self.queue.pop() {
            self.budget.look()?;
            let Obligation { level, point, cube, .. } = obligation;
            if self.is_excluded(level, point, &cube) {
                self.again(last, level, point, cube);
                continue;
            }
            let mut core: BTreeSet<Term> = BTreeSet::new();
            let mut reached = None;
            for step in self.system.into[point].clone() {
                let besides = self.besides(step, point, &cube);
                match self.ask(step, level - 1, &cube, besides, None)? {
                    Asked::Excluded(part) => core.extend(part),
                    Asked::Reached(model) => {
                        reached = Some((step, model));
                        break;
                    }
                }
            }
            match reached {
                None => {
                    let core: Vec<Term> = cube.iter().copied().filter(|part| core.contains(part)).collect();
                    let core = self.generalise(level, point, core)?;
                    let level = self.highest(level, last, point, &core)?;
                    self.learn(level, point, core);
                    self.again(last, level, point, cube);
                }
                Some((step, model)) => {
                    let Some(from) = self.system.steps[step].from else { return Ok(false) };
                    let before = self.predecessor(step, &cube, &model);
                    self.oblige(level, point, cube);
                    self.oblige(level - 1, from, before);
                }
            }
        }
        Ok(true)
    }

    fn oblige(&mut self, level: usize, point: PointId, cube: Vec<Term>) {
        self.age += 1;
        self.queue.push(Reverse(Obligation { level, age: Reverse(self.age), point, cube }));
    }

    /// A cube that is excluded from a level is most likely to be excluded from the next.
    fn again(&mut self, last: usize, level: usize, point: PointId, cube: Vec<Term>) {
        if level < last {
            self.oblige(level + 1, point, cube);
        }
    }

    /// In a loop of one step, the cube itself is excluded before it.
    fn besides(&mut self, step: usize, point: PointId, cube: &[Term]) -> Option<Term> {
        (self.system.steps[step].from == Some(point)).then(|| negated(self.terms, cube))
    }

    fn is_excluded(&self, level: usize, point: PointId, cube: &[Term]) -> bool {
        self.lemmas[point]
            .iter()
            .any(|lemma| lemma.level >= level && lemma.cube.iter().all(|part| cube.contains(part)))
    }

    /// States before a step from which it leads into a cube.
    fn predecessor(&mut self, step: usize, cube: &[Term], model: &Model) -> Vec<Term> {
        let mut formulas = vec![self.system.steps[step].guard];
        for literal in cube {
            formulas.push(self.terms.substitute_with(*literal, &mut self.behind[step]));
        }
        let names = &self.graph.names;
        lift(self.terms, &formulas, model, &|variable| !names.is_name(variable))
    }

    /// Whether no step leads into a cube from the frame before a level.
    fn holds(&mut self, level: usize, point: PointId, cube: &[Term]) -> Result<Option<Vec<Term>>, Reason> {
        let mut core: BTreeSet<Term> = BTreeSet::new();
        for step in self.system.into[point].clone() {
            let besides = self.besides(step, point, cube);
            match self.ask(step, level - 1, cube, besides, Some(PATIENCE)) {
                Ok(Asked::Excluded(part)) => core.extend(part),
                Ok(Asked::Reached(_)) => return Ok(None),
                Err(Reason::Conflicts) => return Ok(None),
                Err(reason) => return Err(reason),
            }
        }
        Ok(Some(cube.iter().copied().filter(|part| core.contains(part)).collect()))
    }

    /// A smaller cube that is excluded too: conditions are left out, equations are weakened.
    fn generalise(&mut self, level: usize, point: PointId, cube: Vec<Term>) -> Result<Vec<Term>, Reason> {
        let mut cube = cube;
        let mut tried: BTreeSet<Term> = BTreeSet::new();
        for _ in 0..MOST_TRIED {
            // The largest first: they say most about where the cube comes from.
            let open = cube.iter().copied().filter(|part| !tried.contains(part));
            let Some(part) = open.max_by_key(|part| self.terms.size(*part)) else { break };
            tried.insert(part);
            let rest: Vec<Term> = cube.iter().copied().filter(|other| *other != part).collect();
            if let Some(smaller) = self.holds(level, point, &rest)? {
                cube = smaller;
                continue;
            }
            for weaker in weakened(self.terms, part) {
                let mut changed = rest.clone();
                changed.push(weaker);
                if let Some(smaller) = self.holds(level, point, &changed)? {
                    tried.insert(weaker);
                    cube = smaller;
                    break;
                }
            }
        }
        Ok(cube)
    }

    /// The highest level that a cube is excluded from.
    fn highest(&mut self, level: usize, last: usize, point: PointId, cube: &[Term]) -> Result<usize, Reason> {
        let mut level = level;
        while level < last && self.holds(level + 1, point, cube)?.is_some() {
            level += 1;
        }
        Ok(level)
    }

    fn learn(&mut self, level: usize, point: PointId, cube: Vec<Term>) {
        self.made += 1;
        let is_weaker =
            |lemma: &Lemma| lemma.level <= level && cube.iter().all(|part| lemma.cube.contains(part));
        self.lemmas[point].retain(|lemma| !is_weaker(lemma));
        self.assert(level, point, &cube);
        self.lemmas[point].push(Lemma { cube, level });
    }

    /// Tells the solvers of the steps that leave a point.
    fn assert(&mut self, level: usize, point: PointId, cube: &[Term]) {
        let lemma = self.guarded(cube, level);
        for step in self.system.out[point].clone() {
            if let Some(solver) = &mut self.solvers[step] {
                solver.assert(self.terms, lemma);
                self.told[step].push(lemma);
            }
        }
    }

    /// Lifts lemmas to the next level where they hold there too; the level from which all do.
    fn push(&mut self, last: usize) -> Result<Option<usize>, Reason> {
        for level in 1..=last {
            for point in self.system.cuts.iter().copied().collect::<Vec<_>>() {
                for at in 0..self.lemmas[point].len() {
                    if self.lemmas[point][at].level != level {
                        continue;
                    }
                    let cube = self.lemmas[point][at].cube.clone();
                    if self.holds(level + 1, point, &cube)?.is_some() {
                        self.assert(level + 1, point, &cube);
                        self.lemmas[point][at].level = level + 1;
                    }
                }
            }
            let is_empty = self.lemmas.iter().flatten().all(|lemma| lemma.level != level);
            if is_empty {
                return Ok(Some(level + 1));
            }
        }
        Ok(None)
    }
}

/// Not all of these.
fn negated(terms: &mut Terms, cube: &[Term]) -> Term {
    let cube = terms.all(cube);
    terms.not(cube)
}

/// Weaker conditions than an equation with a number: at least, and at most.
fn weakened(terms: &mut Terms, condition: Term) -> Vec<Term> {
    let Kind::Eq(a, b) = *terms.kind(condition) else { return Vec::new() };
    if terms.sort(a) == Sort::Bool || terms.constant(a).is_none() && terms.constant(b).is_none() {
        return Vec::new();
    }
    let found = [terms.sle(a, b), terms.sle(b, a)];
    found.into_iter().filter(|weaker| *weaker != condition && *weaker != Terms::TRUE).collect()
}
