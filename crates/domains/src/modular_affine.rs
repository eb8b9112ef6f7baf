//! Affine relations modulo a power of two, all that hold on all valid paths.
//!
//! \[Lal09\] §3.5.2 with its last paragraph, after M. Müller-Olm and H. Seidl, *Analysis of modular
//! arithmetic* (ESOP 2005): as [`AffineRelations`](crate::AffineRelations), with modules over the
//! numbers modulo `2^w` in the place of vector spaces, in [Howell form](crate::Howell). Machine
//! arithmetic needs no exception for wrapping, and congruences are relations: `2^(w−k)·(x − c) = 0`
//! says `x ≡ c (mod 2^k)`.
//!
//! - **Exact** for programs whose assignments are affine and whose branches go both ways.
//! - **Chains:** at most `w·(n+1)²` steps, see [`Howell`].
//! - **Cost:** ⊗ multiplies all pairs of generators, and there may be `(n+1)²` of each: for few
//!   variables. [`CongruenceRelations`](crate::CongruenceRelations) are cheaper and say less.

use std::fmt;
use std::sync::Arc;

use wherefore_pushdown::{Merge, Semiring};

use crate::howell::{Howell, Ring};
use crate::locals::Entry;

/// A module of matrices: a weight of [`ModularAffine`].
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct MatrixModule(Arc<Howell>);

impl fmt::Debug for MatrixModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The domain of affine relations between `n` variables modulo `2^w`.
///
/// ```
/// use wherefore_domains::{ModularAffine, Ring};
/// use wherefore_pushdown::Semiring;
///
/// // x = ?; y = 2·x + 1 modulo 16
/// let domain = ModularAffine::new(Ring::new(4), 2);
/// let path = domain.extend(&domain.havoc(&[0]), &domain.assign(&[(1, vec![1, 2, 0])]));
/// assert_eq!(domain.relations(&path).rows(), [vec![1, 2, 15]]);
/// // After x = ? again, y is odd: 8·(y + 1) = 0.
/// let path = domain.extend(&path, &domain.havoc(&[0]));
/// assert_eq!(domain.relations(&path).rows(), [vec![8, 0, 8]]);
/// ```
#[derive(Clone, Debug)]
pub struct ModularAffine {
    ring: Ring,
    /// Variables and the constant.
    size: usize,
    one: MatrixModule,
}

impl ModularAffine {
    /// The affine relations between `variables` variables.
    pub fn new(ring: Ring, variables: usize) -> Self {
        let size = variables + 1;
        let identity = (0..size * size).map(|i| u64::from(i / size == i % size)).collect();
        let one = MatrixModule(Arc::new(Howell::of(ring, size * size, [identity])));
        Self { ring, size, one }
    }

    /// How many variables there are.
    pub fn variable_count(&self) -> usize {
        self.size - 1
    }

    fn module(&self, matrices: impl IntoIterator<Item = Vec<u64>>) -> MatrixModule {
        let mut module = Howell::new(self.ring, self.size * self.size);
        for matrix in matrices {
            if module.is_full() {
                break;
            }
            module.insert(matrix);
        }
        MatrixModule(Arc::new(module))
    }

    /// Assigns affine expressions `[a₀, …, aₙ]` over old values to some variables, all at once;
    /// others keep their values.
    ///
    /// # Panics
    /// If an expression does not have one coefficient for each variable and the constant.
    pub fn assign(&self, assignments: &[(usize, Vec<u64>)]) -> MatrixModule {
        let mut matrix = self.one.0.rows()[0].clone();
        for (variable, expression) in assignments {
            assert_eq!(expression.len(), self.size, "one coefficient for each variable and the constant");
            for (i, coefficient) in expression.iter().enumerate() {
                matrix[i * self.size + variable + 1] = self.ring.reduce(*coefficient);
            }
        }
        self.module([matrix])
    }

    /// Gives these variables any values; others keep theirs.
    pub fn havoc(&self, variables: &[usize]) -> MatrixModule {
        // With `x = 0` and `x = 1` the module has every `x = c`; all matrices differ from the first
        // in one column, so that one step does for all variables.
        let matrix = |one: Option<usize>| {
            let mut matrix = self.one.0.rows()[0].clone();
            for x in variables {
                (0..self.size).for_each(|i| matrix[i * self.size + x + 1] = 0);
            }
            if let Some(x) = one {
                matrix[x + 1] = 1;
            }
            matrix
        };
        self.module(std::iter::once(matrix(None)).chain(variables.iter().map(|x| matrix(Some(*x)))))
    }

    /// All relations `a₀ + a₁x₁ + … + aₙxₙ = 0` that hold after all paths of `w`, whatever the
    /// values were before.
    pub fn relations(&self, w: &MatrixModule) -> Howell {
        let rows = w.0.rows().iter().flat_map(|matrix| matrix.chunks(self.size)).map(<[u64]>::to_vec);
        Howell::of(self.ring, self.size, rows).kernel()
    }

    /// All relations between the values after the paths of `w` and those before: vectors
    /// `[a₀, a₁, …, aₙ, b₁, …, bₙ]`, the `aᵢ` for the values after, the `bᵢ` for those before.
    pub fn relations_to_start(&self, w: &MatrixModule) -> Howell {
        let n = self.size;
        // The matrix M of a path has top left entry 1; `M·a + M₀₀·b = 0` is linear in M.
        let mut rows = Vec::new();
        for matrix in w.0.rows() {
            for (i, row) in matrix.chunks(n).enumerate() {
                let mut equation = row.to_vec();
                equation.extend((1..n).map(|j| if i == j { matrix[0] } else { 0 }));
                rows.push(equation);
            }
        }
        Howell::of(self.ring, 2 * n - 1, rows).kernel()
    }

    fn multiply(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let n = self.size;
        let mut product = vec![0u64; n * n];
        for i in 0..n {
            for j in (0..n).filter(|j| a[i * n + j] != 0) {
                let factor = a[i * n + j];
                for k in 0..n {
                    let sum = product[i * n + k].wrapping_add(factor.wrapping_mul(b[j * n + k]));
                    product[i * n + k] = sum;
                }
            }
        }
        product.iter_mut().for_each(|x| *x = self.ring.reduce(*x));
        product
    }
}

impl Semiring for ModularAffine {
    type Weight = MatrixModule;

    fn zero(&self) -> MatrixModule {
        self.module([])
    }

    fn one(&self) -> MatrixModule {
        self.one.clone()
    }

    fn combine(&self, a: &MatrixModule, b: &MatrixModule) -> MatrixModule {
        if a == b || self.is_zero(b) {
            return a.clone();
        }
        let mut sum = (*a.0).clone();
        for row in b.0.rows() {
            sum.insert(row.clone());
        }
        MatrixModule(Arc::new(sum))
    }

    fn extend(&self, a: &MatrixModule, b: &MatrixModule) -> MatrixModule {
        if self.is_one(a) || self.is_zero(b) {
            return b.clone();
        }
        if self.is_one(b) {
            return a.clone();
        }
        self.module(a.0.rows().iter().flat_map(|a| b.0.rows().iter().map(|b| self.multiply(a, b))))
    }

    fn is_zero(&self, w: &MatrixModule) -> bool {
        w.0.rows().is_empty()
    }

    fn is_one(&self, w: &MatrixModule) -> bool {
        *w == self.one
    }

    fn is_tall(&self) -> bool {
        true
    }
}

/// Calls keep the caller's local variables, as [`AffineLocals`](crate::AffineLocals) do: it departs
/// from the printed *project* in the same way.
#[derive(Clone, Debug)]
pub struct ModularLocals {
    globals: usize,
    /// `None` stands for 1.
    entry: Option<MatrixModule>,
}

impl ModularLocals {
    /// The variables `0..globals` are global, the others local.
    pub fn new(domain: &ModularAffine, globals: usize, entry: Entry<MatrixModule>) -> Self {
        let locals = || (globals..domain.variable_count()).collect::<Vec<_>>();
        let entry = match entry {
            Entry::Inherited => None,
            Entry::Bound(entry) => Some(entry),
            Entry::Uninitialised => Some(domain.havoc(&locals())),
        };
        Self { globals, entry }
    }
}

impl Merge<ModularAffine> for ModularLocals {
    fn merge(&self, domain: &ModularAffine, caller: &MatrixModule, callee: &MatrixModule) -> MatrixModule {
        let entered = self.entry.as_ref().map(|entry| domain.extend(entry, callee));
        let n = domain.size;
        let keep = |matrix: &Vec<u64>| {
            let mut kept = matrix.clone();
            for local in self.globals + 1..n {
                (0..n).for_each(|i| kept[i * n + local] = 0);
                kept[local * n + local] = matrix[0];
            }
            kept
        };
        let projected = domain.module(entered.as_ref().unwrap_or(callee).0.rows().iter().map(keep));
        domain.extend(caller, &projected)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use wherefore_pushdown::laws;

    use super::*;

    fn weight() -> impl Strategy<Value = MatrixModule> {
        let step = (0..2usize, prop::option::of(prop::collection::vec(0..8u64, 3)));
        prop::collection::vec(prop::collection::vec(step, 0..3), 0..3).prop_map(|paths| {
            let domain = ModularAffine::new(Ring::new(3), 2);
            paths.iter().fold(domain.zero(), |all, path| {
                let along = path.iter().fold(domain.one(), |w, (x, value)| match value {
                    Some(value) => domain.extend(&w, &domain.assign(&[(*x, value.clone())])),
                    None => domain.extend(&w, &domain.havoc(&[*x])),
                });
                domain.combine(&all, &along)
            })
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(wherefore_testing::cases(120)))]

        #[test]
        fn laws_hold(samples in prop::collection::vec(weight(), 3), bound in weight()) {
            let domain = ModularAffine::new(Ring::new(3), 2);
            laws::semiring(&domain, &samples).unwrap();
            for entry in [Entry::Inherited, Entry::Uninitialised, Entry::Bound(bound)] {
                laws::merge(&domain, &ModularLocals::new(&domain, 1, entry), &samples).unwrap();
            }
        }

        #[test]
        fn relations_to_the_start_are_those_of_all_states(w in weight()) {
            // Two more variables that keep the start say the same, at greater cost.
            let (small, large) = (ModularAffine::new(Ring::new(3), 2), ModularAffine::new(Ring::new(3), 4));
            let widen = |matrix: &Vec<u64>| {
                let mut wide = vec![0; 25];
                for i in 0..3 {
                    for j in 0..3 {
                        wide[i * 5 + j] = matrix[i * 3 + j];
                    }
                }
                for kept in 3..5 {
                    wide[(kept - 2) * 5 + kept] = matrix[0];
                }
                wide
            };
            let wide = large.module(w.0.rows().iter().map(widen));
            prop_assert_eq!(small.relations_to_start(&w), large.relations(&wide));
        }
    }
}
