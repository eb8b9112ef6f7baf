//! Several reasons why one path cannot be run.
//!
//! A path through a loop often contradicts itself more than once: it leaves the loop too early,
//! *and* the assertion behind the loop holds there. An unsatisfiable core knows one of these
//! reasons, and which one decides whether the predicates are an invariant or the next number of
//! turns. Reasons are told apart as in D. Beyer, S. Löwe, P. Wendler, *Sliced Path Prefixes: An
//! Effective Method to Enable Refinement Selection*, FORTE 2015: the first condition that
//! contradicts those before it ends a prefix, and is then left out; so the next one is found, and
//! so on to the end of the path.

use wherefore_smt::{BitBlaster, Budget, Model, Outcome, Reason, Solver, Term, Terms, minimise_core};

/// What the solver may spend on a question.
const FEW: u64 = 2_000;

/// A part of the path that contradicts itself: the steps whose conditions count. The last one
/// contradicts the others.
pub(super) type Prefix = Vec<usize>;

/// The conditions of a path.
pub(super) struct OfSteps<'c> {
    /// What holds of the values at the start.
    pub start: Term,
    /// The condition of each step over the values at the start and inputs.
    pub steps: &'c [Term],
}

impl OfSteps<'_> {
    /// Contradicting prefixes of a path that cannot be run, the shortest first; at least one. A
    /// condition that the solver does not soon decide is left out.
    ///
    /// **Cost:** one question for each condition that does not hold in the model of those before
    /// it.
    pub fn prefixes(
        &self,
        terms: &mut Terms,
        solver: &mut BitBlaster,
        budget: &Budget,
    ) -> Result<Vec<Prefix>, Reason> {
        let few = Budget { conflicts: Some(FEW), ..budget.clone() };
        let mut found = Vec::new();
        let mut kept = Vec::new();
        let mut conditions = vec![self.start];
        let mut model: Option<Model> = None;
        for (step, condition) in self.steps.iter().copied().enumerate() {
            if condition == Terms::TRUE {
                // It holds on this path, and need not on others: formulas may use it.
                kept.push(step);
                continue;
            }
            if condition == Terms::FALSE {
                found.push([kept.clone(), vec![step]].concat());
                continue;
            }
            if !model.as_ref().is_some_and(|model| terms.holds(condition, model)) {
                conditions.push(condition);
                let whole = terms.all(&conditions);
                conditions.pop();
                match solver.check(terms, &[whole], &few) {
                    Outcome::Sat(found) => model = Some(found),
                    Outcome::Unknown(_) => {
                        budget.look()?;
                        continue;
                    }
                    Outcome::Unsat(_) => {
                        found.push([kept.clone(), vec![step]].concat());
                        continue;
                    }
                }
            }
            conditions.push(condition);
            kept.push(step);
        }
        if found.is_empty() {
            found.push((0..self.steps.len()).collect());
        }
        Ok(found)
    }

    /// The steps of a prefix that contradict each other, none of which could be left out. Early
    /// ones are left out first.
    pub fn core(
        &self,
        terms: &mut Terms,
        solver: &mut BitBlaster,
        prefix: &[usize],
        budget: &Budget,
    ) -> Vec<usize> {
        let few = Budget { conflicts: Some(FEW), ..budget.clone() };
        let mut conditions = vec![self.start];
        conditions.extend(prefix.iter().map(|step| self.steps[*step]));
        let core = match solver.check(terms, &conditions, &few) {
            Outcome::Unsat(core) => {
                let core: Vec<Term> =
                    conditions.into_iter().filter(|condition| core.contains(condition)).collect();
                minimise_core(solver, terms, &core, &few)
            }
            // All of them, if the solver does not soon say which.
            _ => conditions,
        };
        prefix.iter().copied().filter(|step| core.contains(&self.steps[*step])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wherefore_smt::Sort;

    #[test]
    fn each_contradiction_is_a_reason_of_its_own() {
        let mut terms = Terms::new();
        let [x, y] = ["x", "y"].map(|name| terms.variable(name, Sort::Bits(8)));
        let (low, high) = (terms.bits(3, 8), terms.bits(9, 8));
        // x < 3, y < 3, 9 < x, true, 9 < y: the third contradicts the first, the last the second.
        let steps =
            [terms.ult(x, low), terms.ult(y, low), terms.ult(high, x), Terms::TRUE, terms.ult(high, y)];
        let conditions = OfSteps { start: Terms::TRUE, steps: &steps };
        let (mut solver, budget) = (BitBlaster::new(), Budget::default());
        let prefixes = conditions.prefixes(&mut terms, &mut solver, &budget).unwrap();
        assert_eq!(prefixes, [vec![0, 1, 2], vec![0, 1, 3, 4]]);
        assert_eq!(conditions.core(&mut terms, &mut solver, &prefixes[0], &budget), [0, 2]);
        assert_eq!(conditions.core(&mut terms, &mut solver, &prefixes[1], &budget), [1, 4]);
    }
}
