//! k-induction: a failure needs k steps between cut points, all from states that satisfy the facts,
//! before it.
//!
//! M. Sheeran, S. Singh, G. Stålmarck, *Checking safety properties using induction and a
//! SAT-solver* (FMCAD 2000), with auxiliary facts as in D. Beyer, M. Dangl, P. Wendler, *Boosting
//! k-induction with continuously-refined invariants* (CAV 2015). If no k steps from any state that
//! satisfies the facts lead to an error, and no fewer steps from the start do, no run fails. Several
//! errors are asked about at once: those that a model reaches are left out, until no other is.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use wherefore_smt::{BitBlaster, Budget, Outcome, Reason, Term, Terms, Value, check_by_cases};

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
    /// Those of some errors in which so many steps from states that satisfy the facts cannot end,
    /// and fewer from the start cannot.
    pub fn excluded(
        &mut self,
        depth: usize,
        errors: &BTreeSet<PointId>,
    ) -> Result<BTreeSet<PointId>, Reason> {
        let mut left = errors.clone();
        if depth > 1 && !self.graph.calls.is_empty() {
            return Ok(BTreeSet::new());
        }
        let starts: Vec<PointId> =
            self.system.cuts.iter().copied().filter(|cut| !self.system.out[*cut].is_empty()).collect();
        for start in starts {
            let known = self.facts.assumed(self.terms, self.system, start);
            let known = self.terms.all(&known);
            let mut layer = Layer::from([(start, (known, FxHashMap::default()))]);
            for turn in 0..depth {
                layer = self.next(&layer, turn);
                if turn + 1 < depth {
                    self.assume(&mut layer);
                }
            }
            self.leave_out_reached(&layer, &mut left)?;
            if left.is_empty() {
                return Ok(left);
            }
        }
        if depth == 1 {
            // The facts hold at the start.
            let starts = self.system.steps.iter().filter(|step| step.from.is_none());
            starts.for_each(|step| {
                left.remove(&step.to);
            });
            return Ok(left);
        }
        let first = self.system.steps.iter().find(|step| step.from.is_none());
        let Some(first) = first else { return Ok(left) };
        let mut layer = Layer::from([(first.to, (first.guard, first.updates.clone()))]);
        for turn in 1..depth {
            layer = self.next(&layer, turn);
            self.leave_out_reached(&layer, &mut left)?;
        }
        Ok(left)
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
            let facts = self.facts.assumed(self.terms, self.system, *point);
            let facts = self.terms.all(&facts);
            let known = self.terms.substitute(facts, values);
            *condition = self.terms.and(*condition, known);
        }
    }

    /// Leaves out the errors that runs can be at.
    fn leave_out_reached(&mut self, layer: &Layer, left: &mut BTreeSet<PointId>) -> Result<(), Reason> {
        let mut open: Vec<(PointId, Term)> = Vec::new();
        for (point, (condition, _)) in layer.iter().filter(|(point, _)| left.contains(point)) {
            open.push((*point, *condition));
        }
        let mut solver = BitBlaster::new();
        loop {
            let conditions: Vec<Term> = open.iter().map(|(_, condition)| *condition).collect();
            let some = self.terms.any(&conditions);
            if some == Terms::FALSE {
                return Ok(());
            }
            if self.terms.len() > MOST_TERMS {
                return Err(Reason::Work);
            }
            match check_by_cases(&mut solver, self.terms, &[], &[some], self.budget) {
                Outcome::Unsat(_) => return Ok(()),
                Outcome::Unknown(reason) => return Err(reason),
                Outcome::Sat(model) => {
                    let values = self.terms.evaluate_all(&conditions, &model);
                    let mut values = values.iter();
                    open.retain(|(point, _)| {
                        let is_reached = values.next() == Some(&Value::Bits(1));
                        is_reached.then(|| left.remove(point)).is_none()
                    });
                }
            }
        }
    }
}
