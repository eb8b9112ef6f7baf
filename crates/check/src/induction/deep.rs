//! k-induction: a failure needs k steps between cut points, all from states that satisfy the facts,
//! before it.
//!
//! M. Sheeran, S. Singh, G. Stålmarck, *Checking safety properties using induction and a
//! SAT-solver* (FMCAD 2000), with auxiliary facts as in D. Beyer, M. Dangl, P. Wendler, *Boosting
//! k-induction with continuously-refined invariants* (CAV 2015). If no k steps from any state that
//! satisfies the facts lead to an error, and no fewer steps from the start do, no run fails.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use wherefore_smt::{BitBlaster, Budget, Outcome, Reason, Term, Terms, check_by_cases};

use super::facts::Facts;
use super::system::System;
use crate::refinement::solver::graph::{Graph, PointId};

/// Larger formulas are not asked about.
const MOST_TERMS: usize = 2_000_000;

/// When runs are somewhere, and with which values.
type State = (Term, FxHashMap<Term, Term>);

/// Where runs are after some steps.
type Layer = BTreeMap<PointId, State>;

/// The steps that are taken one after the other.
pub(super) struct Deep<'d> {
    pub terms: &'d mut Terms,
    pub graph: &'d Graph,
    pub system: &'d System,
    pub facts: &'d Facts,
    pub budget: &'d Budget,
}

impl Deep<'_> {
    /// Whether so many steps from states that satisfy the facts cannot end in an error, and fewer
    /// from the start cannot.
    pub fn is_inductive(&mut self, depth: usize) -> Result<bool, Reason> {
        if depth > 1 && !self.graph.calls.is_empty() {
            return Ok(false);
        }
        let starts: Vec<PointId> =
            self.system.cuts.iter().copied().filter(|cut| !self.system.out[*cut].is_empty()).collect();
        for start in starts {
            let known = self.terms.all(&self.facts.at[start]);
            let mut layer = Layer::from([(start, (known, FxHashMap::default()))]);
            for turn in 0..depth {
                layer = self.next(&layer, turn);
                if turn + 1 < depth {
                    self.assume(&mut layer);
                }
            }
            if self.fails(&layer)? {
                return Ok(false);
            }
        }
        if depth == 1 {
            // The start is no error, and the facts hold there.
            return Ok(!self.graph.errors.contains_key(&self.graph.start));
        }
        let first = self.system.steps.iter().find(|step| step.from.is_none());
        let Some(first) = first else { return Ok(true) };
        let mut layer = Layer::from([(first.to, (first.guard, first.updates.clone()))]);
        for turn in 1..depth {
            layer = self.next(&layer, turn);
            if self.fails(&layer)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// One more step.
    fn next(&mut self, layer: &Layer, turn: usize) -> Layer {
        let mut ways: BTreeMap<PointId, Vec<State>> = BTreeMap::new();
        for (point, (condition, values)) in layer {
            for step in &self.system.out[*point] {
                let step = &self.system.steps[*step];
                let mut done = values.clone();
                // Inputs are others in each turn.
                let read = step.updates.values().chain([&step.guard]);
                let inputs: Vec<Term> = read.flat_map(|term| self.terms.variables(*term)).collect();
                for input in inputs.into_iter().filter(|input| !self.graph.names.is_name(*input)) {
                    let name = format!("{}@{turn}", self.terms.name(input).unwrap_or_default());
                    let value = self.terms.variable(&name, self.terms.sort(input));
                    done.entry(input).or_insert(value);
                }
                let guard = self.terms.substitute_with(step.guard, &mut done);
                let taken = self.terms.and(*condition, guard);
                if taken == Terms::FALSE {
                    continue;
                }
                let mut after = values.clone();
                for (name, value) in &step.updates {
                    after.insert(*name, self.terms.substitute_with(*value, &mut done));
                }
                ways.entry(step.to).or_default().push((taken, after));
            }
        }
        let mut next = Layer::new();
        for (point, ways) in ways {
            let mut ways = ways.into_iter();
            let Some((mut condition, mut values)) = ways.next() else { continue };
            for (other, others) in ways {
                let names: Vec<Term> = values.keys().chain(others.keys()).copied().collect();
                for name in names {
                    let (mine, theirs) =
                        (values.get(&name).unwrap_or(&name), others.get(&name).unwrap_or(&name));
                    let merged = self.terms.ite(other, *theirs, *mine);
                    values.insert(name, merged);
                }
                condition = self.terms.or(condition, other);
            }
            next.insert(point, (condition, values));
        }
        next
    }

    /// The facts hold where runs are.
    fn assume(&mut self, layer: &mut Layer) {
        for (point, (condition, values)) in layer {
            let facts = self.terms.all(&self.facts.at[*point]);
            let known = self.terms.substitute(facts, values);
            *condition = self.terms.and(*condition, known);
        }
    }

    /// Whether runs can be at an error.
    fn fails(&mut self, layer: &Layer) -> Result<bool, Reason> {
        let errors = layer.iter().filter(|(point, _)| self.graph.errors.contains_key(point));
        let conditions: Vec<Term> = errors.map(|(_, (condition, _))| *condition).collect();
        let some = self.terms.any(&conditions);
        if some == Terms::FALSE {
            return Ok(false);
        }
        if self.terms.len() > MOST_TERMS {
            return Err(Reason::Work);
        }
        match check_by_cases(&mut BitBlaster::new(), self.terms, &[], &[some], self.budget) {
            Outcome::Sat(_) => Ok(true),
            Outcome::Unsat(_) => Ok(false),
            Outcome::Unknown(reason) => Err(reason),
        }
    }
}
