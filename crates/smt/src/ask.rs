//! Questions in one call.

use rustc_hash::FxHashSet;

use crate::bit_blaster::BitBlaster;
use crate::budget::{Budget, Reason};
use crate::solver::{Outcome, Solver};
use crate::terms::{Term, Terms};

/// Whether a truth value can hold, with a model if it can. The embedded solver is asked, from
/// scratch.
pub fn is_sat(terms: &mut Terms, term: Term, budget: &Budget) -> Outcome {
    BitBlaster::new().check(terms, &[term], budget)
}

/// Whether a truth value always holds.
///
/// # Errors
/// Why this is not known, if a limit was met.
pub fn is_valid(terms: &mut Terms, term: Term, budget: &Budget) -> Result<bool, Reason> {
    let not = terms.not(term);
    match is_sat(terms, not, budget) {
        Outcome::Sat(_) => Ok(false),
        Outcome::Unsat(_) => Ok(true),
        Outcome::Unknown(reason) => Err(reason),
    }
}

/// Makes a core smaller: leaves out one assumption after the other while the rest stays
/// unsatisfiable.
///
/// **Requires:** with the assertions of the solver, `core` is unsatisfiable. **Ensures:** the
/// result is an unsatisfiable part of it; if every check was decided within the budget, none of its
/// members can be left out. Members that cannot be decided in time stay.
pub fn minimise_core(
    solver: &mut dyn Solver,
    terms: &mut Terms,
    core: &[Term],
    budget: &Budget,
) -> Vec<Term> {
    let mut rest = core.to_vec();
    let mut needed = 0;
    while needed < rest.len() {
        if budget.look().is_err() {
            break;
        }
        // The members before `needed` have been tried.
        let mut others = rest.clone();
        others.remove(needed);
        match solver.check(terms, &others, budget) {
            Outcome::Unsat(smaller) => {
                let kept: FxHashSet<Term> = smaller.into_iter().collect();
                rest = others.into_iter().filter(|term| kept.contains(term)).collect();
            }
            Outcome::Sat(_) | Outcome::Unknown(_) => needed += 1,
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sort;

    #[test]
    fn a_minimal_core_needs_every_member() {
        let mut t = Terms::new();
        let [x, y, z] = ["x", "y", "z"].map(|name| t.variable(name, Sort::Bits(8)));
        let facts = [t.ult(x, y), t.ult(x, z), t.ult(y, z), t.ult(z, y), t.ult(z, x)];
        let mut solver = BitBlaster::new();
        let core = minimise_core(&mut solver, &mut t, &facts, &Budget::default());
        assert_eq!(core.len(), 2);
        assert!(solver.check(&mut t, &core, &Budget::default()).is_unsat());
        for member in &core {
            assert!(solver.check(&mut t, &[*member], &Budget::default()).is_sat());
        }
    }

    #[test]
    fn laws_of_arithmetic_are_valid() {
        let mut t = Terms::new();
        let [x, y] = ["x", "y"].map(|name| t.variable(name, Sort::Bits(8)));
        let (quotient, remainder) = (t.udiv(x, y), t.urem(x, y));
        let product = t.mul(quotient, y);
        let sum = t.add(product, remainder);
        let law = t.eq(sum, x);
        assert_eq!(is_valid(&mut t, law, &Budget::default()), Ok(true));
        let wrong = t.ult(remainder, y);
        assert_eq!(is_valid(&mut t, wrong, &Budget::default()), Ok(false));
    }
}
