//! Counterexamples that go round for ever: whether a loop can be run without end.
//!
//! \[Kie05\] §8.2. After the stem the stores are `P`, and one turn of the loop is the relation `R`.
//! The lasso is spurious exactly if some number of turns is impossible; with finitely many stores
//! it is then impossible within as many turns as there are stores, so repeated squaring decides it,
//! and a search by halves finds the least number.

use wherefore_domains::bdd::{BddRelations, Predicate};
use wherefore_pushdown::Semiring;

/// The least number of turns that no run can make; `None` if the loop can be run for ever.
///
/// `stem` and `turn` are weights of the domain: relations between stores.
///
/// ```
/// use wherefore_check::refinement::diagrams::interpolants::impossible_turns;
/// use wherefore_domains::bdd::BddRelations;
///
/// // x := false; loop { assume !x; x := true }
/// let d = BddRelations::new(1, 1 << 12);
/// let stem = d.assign(&[(0, d.constant(false))]);
/// let turn = d.transition(&[0], &d.and(&d.not(&d.var(0)), &d.next(0)));
/// assert_eq!(impossible_turns(&d, &stem, &turn), Some(2));
/// assert_eq!(impossible_turns(&d, &stem, &d.havoc(&[0])), None);
/// ```
pub fn impossible_turns(domain: &BddRelations, stem: &Predicate, turn: &Predicate) -> Option<u64> {
    // powers[k] is 2^k turns.
    let mut powers = vec![turn.clone()];
    let most = domain.variable_count().min(63);
    loop {
        let last = powers.last()?;
        if domain.is_zero(&domain.extend(stem, last)) {
            break;
        }
        // 2^most turns visit some store twice.
        if powers.len() > most {
            return None;
        }
        let squared = domain.extend(last, last);
        if squared == *last {
            return None;
        }
        powers.push(squared);
    }
    // The most turns that are possible, from the highest power down.
    let (mut possible, mut after) = (0, stem.clone());
    for (k, power) in powers.iter().enumerate().rev() {
        let further = domain.extend(&after, power);
        if !domain.is_zero(&further) {
            possible += 1 << k;
            after = further;
        }
    }
    Some(possible + 1)
}
