//! Relations between the values before and after, by equations modulo a power of two.
//!
//! A. King and H. Søndergaard, *Inferring congruence equations using SAT* (CAV 2008) and *Automatic
//! abstraction for congruences* (VMCAI 2010); the operations follow M. Elder, J. Lim, T. Sharma,
//! T. Andersen and T. Reps, *Abstract domains of affine relations* (TOPLAS 36(4), 2014). A weight
//! is the set of pairs of states that satisfy equations over `(x′, x, 1)`, where `x` are the values
//! before and `x′` those after: the rows of a [`Howell`] form. No rows: all pairs.
//!
//! - ⊗ eliminates the states in the middle, exactly; ⊕ keeps the equations that both have, which
//!   are all that hold of the union.
//! - **Monotone only:** ⊗ does not distribute over ⊕, since the union of two solution sets is
//!   closed under affine combinations. Saturation is safe with it, and what it finds may depend on
//!   the order ([Lal09] §2.4.1, *Approximate analysis*).
//! - **Incomparable** with [`ModularAffine`](crate::ModularAffine): "`x` stays or becomes 0" is
//!   nothing here; but equations in branch conditions are read.
//! - **Chains:** at most `w·(2n+1)` steps. **Cost:** cubic in the number of variables.

use std::fmt;
use std::sync::Arc;

use wherefore_pushdown::{Merge, Semiring};

use crate::howell::{Howell, Ring};

/// Pairs of states: a weight of [`CongruenceRelations`]. `None`: there are no pairs.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Congruences(Option<Arc<Howell>>);

impl fmt::Debug for Congruences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => f.write_str("none"),
            Some(rows) => rows.fmt(f),
        }
    }
}

impl Congruences {
    /// The equations `[a₀, a₁, …, aₙ, b₁, …, bₙ]`, the `aᵢ` for the values after, the `bᵢ` for
    /// those before; none if there are no pairs.
    pub fn equations(&self) -> Option<Howell> {
        let rows = self.0.as_ref()?;
        let turned = rows.rows().iter().map(|row| {
            let (constant, others) = row.split_last().expect("there is the constant");
            [&[*constant], others].concat()
        });
        Some(Howell::of(rows.ring(), rows.columns(), turned))
    }
}

/// The domain of such relations between the states of `n` variables.
///
/// ```
/// use wherefore_domains::{CongruenceRelations, Ring};
/// use wherefore_pushdown::Semiring;
///
/// // y = x + 1; assume y == 3
/// let domain = CongruenceRelations::new(Ring::new(8), 2);
/// let path = domain.extend(&domain.assign(&[(1, Some(vec![1, 1, 0]))]), &domain.assume(&[vec![253, 0, 1]]));
/// assert_eq!(domain.relations(&path).unwrap().rows(), [vec![1, 0, 85], vec![0, 1, 170]]);
/// ```
#[derive(Clone, Debug)]
pub struct CongruenceRelations {
    ring: Ring,
    variables: usize,
    one: Congruences,
}

impl CongruenceRelations {
    /// The relations between states of `variables` variables.
    pub fn new(ring: Ring, variables: usize) -> Self {
        let mut domain = Self { ring, variables, one: Congruences(None) };
        domain.one = domain.assign(&[]);
        domain
    }

    /// How many variables there are.
    pub fn variable_count(&self) -> usize {
        self.variables
    }

    fn columns(&self) -> usize {
        2 * self.variables + 1
    }

    /// The pairs that satisfy these equations.
    fn of(&self, equations: Howell) -> Congruences {
        // An equation that says `c = 0` for a constant `c ≠ 0`. By saturation it is there if the
        // equations contradict each other.
        let constant = self.columns() - 1;
        let impossible = equations.rows().last().is_some_and(|row| row[..constant].iter().all(|x| *x == 0));
        Congruences((!impossible).then(|| Arc::new(equations)))
    }

    /// Assigns affine expressions `[a₀, …, aₙ]` over old values to some variables, all at once, or
    /// any value; others keep their values.
    pub fn assign(&self, assignments: &[(usize, Option<Vec<u64>>)]) -> Congruences {
        let n = self.variables;
        let mut rows: Vec<Option<Vec<u64>>> = (0..n)
            .map(|x| {
                let mut row = vec![0; self.columns()];
                row[x] = u64::MAX;
                row[n + x] = 1;
                Some(row)
            })
            .collect();
        for (variable, value) in assignments {
            rows[*variable] = value.as_ref().map(|value| {
                let mut row = vec![0; self.columns()];
                row[*variable] = u64::MAX;
                row[n..2 * n].copy_from_slice(&value[1..]);
                row[2 * n] = value[0];
                row
            });
        }
        self.of(Howell::of(self.ring, self.columns(), rows.into_iter().flatten()))
    }

    /// Goes on only with states that satisfy the equations `[a₀, …, aₙ]`.
    pub fn assume(&self, equations: &[Vec<u64>]) -> Congruences {
        let n = self.variables;
        let mut all =
            self.one.0.as_deref().cloned().unwrap_or_else(|| Howell::new(self.ring, self.columns()));
        for equation in equations {
            let mut row = vec![0; self.columns()];
            row[n..2 * n].copy_from_slice(&equation[1..]);
            row[2 * n] = equation[0];
            all.insert(row);
        }
        self.of(all)
    }

    /// All relations `a₀ + a₁x₁ + … + aₙxₙ = 0` between the values after; none if there are no
    /// pairs.
    pub fn relations(&self, w: &Congruences) -> Option<Howell> {
        let n = self.variables;
        let rows = w.0.as_ref()?;
        let turned = rows.rows().iter().map(|row| [&row[n..2 * n], &row[2 * n..], &row[..n]].concat());
        Some(Howell::of(self.ring, self.columns(), turned).without(n))
    }
}

impl Semiring for CongruenceRelations {
    type Weight = Congruences;

    fn zero(&self) -> Congruences {
        Congruences(None)
    }

    fn one(&self) -> Congruences {
        self.one.clone()
    }

    fn combine(&self, a: &Congruences, b: &Congruences) -> Congruences {
        match (&a.0, &b.0) {
            (None, _) => b.clone(),
            (_, None) => a.clone(),
            (Some(x), Some(y)) if x == y => a.clone(),
            (Some(x), Some(y)) => Congruences(Some(Arc::new(x.intersection(y)))),
        }
    }

    fn extend(&self, a: &Congruences, b: &Congruences) -> Congruences {
        let (Some(first), Some(then)) = (&a.0, &b.0) else { return self.zero() };
        if self.is_one(a) {
            return b.clone();
        }
        if self.is_one(b) {
            return a.clone();
        }
        // Columns: in the middle, after, before, 1.
        let n = self.variables;
        let zeros = vec![0; n];
        let first = first.rows().iter().map(|row| [&row[..n], &zeros, &row[n..]].concat());
        let then = then.rows().iter().map(|row| [&row[n..2 * n], &row[..n], &zeros, &row[2 * n..]].concat());
        self.of(Howell::of(self.ring, 3 * n + 1, first.chain(then)).without(n))
    }

    fn is_tall(&self) -> bool {
        true
    }
}

/// Calls keep the caller's local variables: `merge(w₁, w₂) = w₁ ⊗ project(entry ⊗ w₂)`, where
/// *project* forgets the locals after, and puts those before in their place, as for Boolean
/// programs (\[Lal09\] §3.5.1).
#[derive(Clone, Debug)]
pub struct CongruenceLocals {
    globals: usize,
    entry: Congruences,
}

impl CongruenceLocals {
    /// The variables `0..globals` are global, the others local; `entry` relates the state of the
    /// caller to that in which the callee starts.
    pub fn new(globals: usize, entry: Congruences) -> Self {
        Self { globals, entry }
    }
}

impl Merge<CongruenceRelations> for CongruenceLocals {
    fn merge(&self, domain: &CongruenceRelations, caller: &Congruences, callee: &Congruences) -> Congruences {
        let entered = domain.extend(&self.entry, callee);
        let Some(rows) = &entered.0 else { return domain.zero() };
        let (n, globals) = (domain.variables, self.globals);
        let locals = n - globals;
        let turned = rows.rows().iter().map(|row| [&row[globals..n], &row[..globals], &row[n..]].concat());
        let kept = Howell::of(domain.ring, domain.columns(), turned).without(locals);
        let zeros = vec![0; locals];
        let kept = kept.rows().iter().map(|row| [&row[..globals], &zeros, &row[globals..]].concat());
        let same = (globals..n).map(|x| {
            let mut row = vec![0; domain.columns()];
            row[x] = u64::MAX;
            row[n + x] = 1;
            row
        });
        let projected = domain.of(Howell::of(domain.ring, domain.columns(), kept.chain(same)));
        domain.extend(caller, &projected)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const N: usize = 2;
    const BITS: u32 = 2;
    const SIZE: u64 = 1 << BITS;

    fn domain() -> CongruenceRelations {
        CongruenceRelations::new(Ring::new(BITS), N)
    }

    fn states() -> Vec<Vec<u64>> {
        (0..SIZE).flat_map(|x| (0..SIZE).map(move |y| vec![x, y])).collect()
    }

    /// The pairs (before, after) of a weight.
    fn pairs(w: &Congruences) -> BTreeSet<(Vec<u64>, Vec<u64>)> {
        let Some(rows) = &w.0 else { return BTreeSet::new() };
        let holds = |before: &[u64], after: &[u64]| {
            let point = [after, before, &[1]].concat();
            let zero = |row: &Vec<u64>| row.iter().zip(&point).map(|(a, x)| a * x).sum::<u64>() % SIZE == 0;
            rows.rows().iter().all(zero)
        };
        let all = states();
        let found = all.iter().flat_map(|a| all.iter().map(move |b| (a.clone(), b.clone())));
        found.filter(|(before, after)| holds(before, after)).collect()
    }

    fn weight() -> impl Strategy<Value = Congruences> {
        prop::collection::vec(prop::collection::vec(0..SIZE, 2 * N + 1), 0..4).prop_map(|rows| {
            let domain = domain();
            domain.of(Howell::of(domain.ring, 2 * N + 1, rows))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(wherefore_testing::cases(300)))]

        #[test]
        fn extend_is_composition(a in weight(), b in weight()) {
            let mut expected = BTreeSet::new();
            let (first, then) = (pairs(&a), pairs(&b));
            for (before, middle) in &first {
                expected.extend(then.iter().filter(|(m, _)| m == middle).map(|(_, after)| (before.clone(), after.clone())));
            }
            prop_assert_eq!(pairs(&domain().extend(&a, &b)), expected);
        }

        #[test]
        fn combine_is_the_least_that_has_both(a in weight(), b in weight(), c in weight()) {
            let both = domain().combine(&a, &b);
            let union: BTreeSet<_> = pairs(&a).union(&pairs(&b)).cloned().collect();
            prop_assert!(union.is_subset(&pairs(&both)));
            if union.is_subset(&pairs(&c)) {
                prop_assert!(pairs(&both).is_subset(&pairs(&c)));
            }
            prop_assert_eq!(domain().is_zero(&a), pairs(&a).is_empty());
        }

        #[test]
        fn calls_keep_locals(caller in weight(), entry in weight(), callee in weight()) {
            let domain = domain();
            let merged = CongruenceLocals::new(1, entry.clone()).merge(&domain, &caller, &callee);
            let through = pairs(&domain.extend(&entry, &callee));
            let mut expected = BTreeSet::new();
            for (start, here) in pairs(&caller) {
                for (_, after) in through.iter().filter(|(before, _)| *before == here) {
                    expected.insert((start.clone(), vec![after[0], here[1]]));
                }
            }
            prop_assert_eq!(pairs(&merged), expected);
        }

        #[test]
        fn relations_after_are_those_of_the_image(w in weight()) {
            let image: BTreeSet<Vec<u64>> = pairs(&w).into_iter().map(|(_, after)| after).collect();
            let Some(relations) = domain().relations(&w) else { prop_assert!(image.is_empty()); return Ok(()) };
            let holds = |state: &Vec<u64>| {
                let zero = |row: &Vec<u64>| (row[0] + row[1] * state[0] + row[2] * state[1]) % SIZE == 0;
                relations.rows().iter().all(zero)
            };
            prop_assert_eq!(states().into_iter().filter(holds).collect::<BTreeSet<_>>(), image);
        }
    }
}
