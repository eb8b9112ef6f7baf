//! An abstract counterexample: can it be run, and if not, why not.
//!
//! \[Kie05\] §4.3.4 and §6.4, with satisfiability in place of decision diagrams. The formula of the
//! path is satisfiable exactly if it can be run. If not, only the conditions in an unsatisfiable
//! core matter. From the end of the path backwards, `before` gives the formula of each node; what
//! it is made of is tracked there.

use rustc_hash::FxHashMap;
use wherefore_smt::{BitBlaster, Budget, Kind, Model, Outcome, Reason, Solver, Sort, Term, Terms};

use super::abstraction::Tracked;
use super::before::Spurious;
use super::blocks::{Block, Blocks, Conditions, conjuncts};
use super::choice::{Found, judge};
use super::reasons::{OfSteps, Prefix};
use crate::symbolic::{Machine, Store};

/// Reasons that are looked at, at most.
pub(super) const MOST_REASONS: usize = 3;

/// Formulas with more parts are used only if there are no others.
const MOST_PARTS: usize = 400;

/// Weakest formulas with more parts are not used: they speak of all that happens on the path.
const MOST_PARTS_OF_WEAKEST: usize = 100;

/// Whether a path can be run.
pub(super) enum Feasibility {
    /// It can: the stores before the first edge and after each, and values.
    Real(Vec<Store>, Model),
    /// It cannot: for each node of the path, predicates that show it.
    Spurious(Found),
}

/// A path under examination.
pub(super) struct Path<'p> {
    pub blocks: &'p Blocks,
    /// What its steps do: blocks, or parts of them.
    pub steps: Vec<&'p Block>,
    /// Which conditions of the edges count.
    pub conditions: Conditions,
}

/// What symbolic execution of a path found.
struct Executed {
    /// Before the first edge and after each.
    stores: Vec<Store>,
    /// The conditions over the values at the start and inputs, each with its step. The first is
    /// about the start.
    guards: Vec<(usize, Term)>,
    /// The values of variables before each step.
    values: Vec<FxHashMap<Term, Term>>,
    /// All conditions.
    whole: Term,
}

impl<'p> Path<'p> {
    /// A path of whole blocks.
    pub fn whole(blocks: &'p Blocks, path: &[usize]) -> Self {
        let steps = path.iter().map(|block| &blocks.blocks[*block]).collect();
        Self { blocks, steps, conditions: Conditions::All }
    }

    fn execute(&self, machine: &mut Machine<'_>) -> Executed {
        let (mut store, valid) = self.blocks.initial(machine);
        let mut guards: Vec<(usize, Term)> = vec![(0, valid)];
        let mut values: Vec<FxHashMap<Term, Term>> = Vec::new();
        let mut stores: Vec<Store> = vec![store.clone()];
        for (step, block) in self.steps.iter().enumerate() {
            values.push(self.values(&machine.terms, &store));
            for (at, edge) in block.edges.iter().enumerate() {
                machine.name_prefix(format!("p{step}.{at}"));
                let (after, condition) = machine.step(&store, *edge);
                if self.conditions.count(machine, *edge) {
                    let parts = conjuncts(&machine.terms, condition);
                    guards.extend(parts.into_iter().map(|guard| (step, guard)));
                }
                store = after;
                stores.push(store.clone());
            }
        }
        let all: Vec<Term> = guards.iter().map(|(_, guard)| *guard).collect();
        Executed { stores, guards, values, whole: machine.terms.all(&all) }
    }

    /// Decides whether the path can be run.
    pub fn examine(
        &self,
        machine: &mut Machine<'_>,
        tracked: &[Vec<Tracked>],
        budget: &Budget,
    ) -> Result<Feasibility, Reason> {
        let Executed { stores, guards, values, whole } = self.execute(machine);
        let terms = &mut machine.terms;
        let mut solver = BitBlaster::new();
        // One question first: a satisfiability solver is slower with many assumptions than with
        // one, at times very much so.
        match solver.check(terms, &[whole], budget) {
            Outcome::Sat(model) => return Ok(Feasibility::Real(stores, model)),
            Outcome::Unknown(reason) => return Err(reason),
            Outcome::Unsat(_) => {}
        }
        let refuted = Refuted { path: self, guards, values, tracked, budget };
        Ok(Feasibility::Spurious(refuted.predicates(terms, &mut solver)?))
    }

    /// Whether the path can be run, and the solver soon knows.
    pub fn can_be_run(&self, machine: &mut Machine<'_>, budget: &Budget) -> bool {
        let few = Budget { conflicts: Some(2_000), ..budget.clone() };
        let whole = self.execute(machine).whole;
        matches!(BitBlaster::new().check(&mut machine.terms, &[whole], &few), Outcome::Sat(_))
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

/// A path that cannot be run.
struct Refuted<'r> {
    path: &'r Path<'r>,
    /// The conditions over the values at the start and inputs, each with its step. The first is
    /// about the start.
    guards: Vec<(usize, Term)>,
    /// The values of variables before each step.
    values: Vec<FxHashMap<Term, Term>>,
    tracked: &'r [Vec<Tracked>],
    budget: &'r Budget,
}

/// Which conditions of a path formulas speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// Those that are needed.
    Core,
    /// All that say something about the variables at hand: the formulas are weak, and hold more
    /// often.
    Weakest,
}

impl Refuted<'_> {
    /// Predicates for the nodes of the path, by the reason that looks most general.
    fn predicates(&self, terms: &mut Terms, solver: &mut BitBlaster) -> Result<Found, Reason> {
        let mut steps = vec![Terms::TRUE; self.path.steps.len()];
        for (step, guard) in &self.guards[1..] {
            steps[*step] = terms.and(steps[*step], *guard);
        }
        let conditions = OfSteps { start: self.guards[0].1, steps: &steps };
        let prefixes = conditions.prefixes(terms, solver, self.budget)?;
        // What is near the error comes first: it is what the program is asked for.
        let mut reasons: Vec<(Style, Prefix)> =
            prefixes.into_iter().rev().map(|prefix| (Style::Core, prefix)).collect();
        if reasons.len() > MOST_REASONS {
            reasons.drain(MOST_REASONS - 1..reasons.len() - 1);
        }
        let shortest = reasons.len().saturating_sub(1);
        reasons.push((Style::Weakest, (0..steps.len()).collect()));
        let mut judged = Vec::new();
        for (number, (style, prefix)) in reasons.into_iter().enumerate() {
            let relevant = match style {
                Style::Core => conditions.core(terms, solver, &prefix, self.budget),
                Style::Weakest => prefix.clone(),
            };
            // Long formulas are for when there are no others.
            let most = match style {
                Style::Core if number == shortest && judged.is_empty() => usize::MAX,
                Style::Core => MOST_PARTS,
                Style::Weakest => MOST_PARTS_OF_WEAKEST,
            };
            let found = self.interpolants(terms, solver, (style, most), &prefix, &relevant)?;
            let Some(found) = found else { continue };
            let judgement = judge(terms, self.tracked, found);
            if judgement.is_fine() {
                return Ok(judgement.found);
            }
            judged.push(judgement);
        }
        let Some(best) = judged.iter().min_by_key(|judgement| judgement.cost()) else {
            return Ok(Vec::new());
        };
        let mut found = best.found.clone();
        found.extend(judged.iter().flat_map(|judgement| judgement.fresh.clone()));
        found.extend(self.guesses(terms, &best.series));
        Ok(found)
    }

    /// Guesses at invariants where formulas go on with a series.
    fn guesses(&self, terms: &mut Terms, series: &Found) -> Found {
        let blocks = self.path.blocks;
        let mut found = Vec::new();
        for (node, formulas) in series {
            let first = (0..self.path.steps.len()).find(|step| self.path.steps[*step].from == *node);
            let Some(values) = first.map(|step| &self.values[step]) else { continue };
            let about = formulas.iter().flat_map(|formula| terms.variables(*formula)).collect::<Vec<_>>();
            found.push((*node, blocks.loops.guesses(terms, &blocks.blocks, *node, &about, values)));
        }
        found
    }

    /// From the end of a prefix backwards, predicates for each node that show why it cannot be run.
    /// None if a formula has more parts than so many.
    fn interpolants(
        &self,
        terms: &mut Terms,
        solver: &mut BitBlaster,
        (style, most): (Style, usize),
        prefix: &[usize],
        relevant: &[usize],
    ) -> Result<Option<Found>, Reason> {
        let counts = |step: usize| prefix.binary_search(&step).is_ok();
        let start = self.guards[..1].iter();
        let guards: Vec<(usize, Term)> =
            start.chain(self.guards[1..].iter().filter(|(step, _)| counts(*step))).copied().collect();
        let spurious = Spurious {
            guards: &guards,
            values: &self.values,
            relevant,
            fixed: FxHashMap::default(),
            budget: self.budget,
        };
        let mut found = Vec::new();
        let mut formula = Terms::FALSE;
        let end = prefix.last().map_or(0, |last| last + 1);
        for step in (0..end).rev() {
            let block = self.path.steps[step];
            let unguarded;
            let block = if counts(step) || block.guards.is_empty() {
                block
            } else {
                unguarded = block.unguarded();
                &unguarded
            };
            formula = match style {
                _ if block.is_skip() => formula,
                Style::Core => spurious.before(terms, solver, step, block, formula)?,
                Style::Weakest => spurious.weakest_before(terms, solver, step, block, formula)?,
            };
            if formula == Terms::TRUE {
                break;
            }
            if terms.size(formula) > most {
                return Ok(None);
            }
            found.push((block.from, atoms(terms, formula)));
        }
        Ok(Some(found))
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
