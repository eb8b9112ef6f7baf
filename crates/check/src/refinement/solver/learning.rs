//! What is learnt from a counterexample that cannot be run.
//!
//! Several reasons are asked (`reasons`), each gives formulas along the path (`interpolants`), and
//! the ones that look most general are taken (`choice`). Where all of them go on with a series,
//! guesses at invariants of loops are added (`counters`).

use rustc_hash::FxHashMap;
use wherefore_smt::{BitBlaster, Budget, Reason, Term, Terms};

use super::abstraction::Predicates;
use super::before::Spurious;
use super::block::atoms;
use super::choice::{Found, Judgement, judge};
use super::counterexample::{Executed, Path, Step};
use super::graph::Graph;
use super::interpolants::{Nested, Style, Triple};
use super::reasons::{OfSteps, Prefix};

/// Reasons that are looked at, at most.
const MOST_REASONS: usize = 3;

/// Formulas with more parts are used only if there are no others.
const MOST_PARTS: usize = 400;

/// Weakest formulas with more parts are not used: they speak of all that happens on the path.
const MOST_PARTS_OF_WEAKEST: usize = 100;

/// What a counterexample taught.
#[derive(Default)]
pub(super) struct Lesson {
    /// What rules out the path.
    pub triples: Vec<Triple>,
    /// What else is worth tracking.
    pub more: Found,
}

/// A path that cannot be run.
pub(super) struct Refuted<'r> {
    pub graph: &'r Graph,
    pub path: &'r Path,
    pub executed: &'r Executed,
    pub predicates: &'r Predicates,
    pub budget: &'r Budget,
}

impl Refuted<'_> {
    /// Formulas that rule out the path, by the reason that looks most general.
    pub fn learn(&self, terms: &mut Terms, solver: &mut BitBlaster) -> Result<Lesson, Reason> {
        let steps = self.executed.conditions(terms);
        let conditions = OfSteps { start: self.executed.guards[0].1, steps: &steps };
        let prefixes = conditions.prefixes(terms, solver, self.budget)?;
        // What is near the error comes first: it is what the program is asked for.
        let mut reasons: Vec<(Style, Prefix)> =
            prefixes.into_iter().rev().map(|prefix| (Style::Core, prefix)).collect();
        if reasons.len() > MOST_REASONS {
            reasons.drain(MOST_REASONS - 1..reasons.len() - 1);
        }
        let shortest = reasons.len().saturating_sub(1);
        // Weakest formulas would ask all that happens on the path of the effects of callees.
        if !self.path.steps.iter().any(|step| matches!(step, Step::Leave { .. })) {
            reasons.push((Style::Weakest, (0..steps.len()).collect()));
        }
        let mut judged: Vec<(Judgement, Vec<Triple>)> = Vec::new();
        for (number, (style, prefix)) in reasons.into_iter().enumerate() {
            let relevant = match style {
                Style::Core => conditions.core(terms, solver, &prefix, self.budget),
                Style::Weakest => prefix.clone(),
            };
            // Long formulas are for when there are no others.
            let most_parts = match style {
                Style::Core if number == shortest && judged.is_empty() => usize::MAX,
                Style::Core => MOST_PARTS,
                Style::Weakest => MOST_PARTS_OF_WEAKEST,
            };
            let found = self.formulas(terms, solver, (style, most_parts), &prefix, &relevant)?;
            let Some(triples) = found else { continue };
            let formulas = triples.iter().flat_map(Triple::formulas);
            let found = formulas.map(|(point, formula)| (point, atoms(terms, formula))).collect();
            let judgement = judge(terms, &self.predicates.at, found);
            if judgement.is_fine() {
                return Ok(Lesson { triples, more: Found::new() });
            }
            judged.push((judgement, triples));
        }
        let costs = judged.iter().enumerate().map(|(i, (judgement, _))| (judgement.cost(), i));
        let Some((_, best)) = costs.min() else { return Ok(Lesson::default()) };
        let mut more: Found = judged.iter().flat_map(|(judgement, _)| judgement.fresh.clone()).collect();
        more.extend(self.guesses(terms, &judged[best].0.series));
        Ok(Lesson { triples: judged.swap_remove(best).1, more })
    }

    /// The formulas of one reason; none if they are too long.
    fn formulas(
        &self,
        terms: &mut Terms,
        solver: &mut BitBlaster,
        (style, most_parts): (Style, usize),
        prefix: &[usize],
        relevant: &[usize],
    ) -> Result<Option<Vec<Triple>>, Reason> {
        let guards = self.executed.guards.iter().enumerate();
        let guards = guards.filter(|(i, (step, _))| *i == 0 || prefix.binary_search(step).is_ok());
        let guards: Vec<(usize, Term)> = guards.map(|(_, guard)| *guard).collect();
        let spurious = Spurious {
            guards: &guards,
            values: &self.executed.values,
            relevant,
            fixed: FxHashMap::default(),
            budget: self.budget,
        };
        let (graph, path) = (self.graph, self.path);
        let mut nested = Nested {
            graph,
            path,
            style,
            most_parts,
            prefix,
            spurious,
            found: Vec::new(),
            is_given_up: false,
        };
        nested.run(terms, solver)?;
        Ok((!nested.is_given_up).then_some(nested.found))
    }

    /// Guesses at invariants where formulas go on with a series.
    fn guesses(&self, terms: &mut Terms, series: &Found) -> Found {
        let steps = self.graph.steps();
        let mut found = Vec::new();
        for (point, formulas) in series {
            let first = self.path.first_at(self.graph, *point);
            let Some(values) = first.map(|step| &self.executed.values[step]) else { continue };
            let about = formulas.iter().flat_map(|formula| terms.variables(*formula)).collect::<Vec<_>>();
            found.push((*point, self.graph.loops.guesses(terms, &steps, *point, &about, values)));
        }
        found
    }
}
