//! Tensor products of relations on Boolean variables.
//!
//! \[Lal09\] §6.5.2, Thm. 6.5.3. The tensor `a ⊙ b` of two relations on `n` variables is a relation
//! on `2n`: the conjunction of `a` on the first `n` and of `b`, renamed, on the others. It is a
//! weight of an ordinary [`BddRelations`] on the doubled variables, which shares the manager with
//! the domain of `a` and `b`. *DeTensor* identifies the exit of the first half with the entry of
//! the second and forgets both: one renaming and one quantification.

use std::fmt;

use super::core::{Predicate, Renaming};
use super::relations::BddRelations;

/// The tensor product of a domain with itself.
///
/// The product of the product's domain with itself is one of four factors, and so on.
///
/// ```
/// use wherefore_domains::bdd::{BddRelations, TensorProduct};
/// use wherefore_pushdown::Semiring;
///
/// let domain = BddRelations::new(2, 1 << 16);
/// let product = TensorProduct::new(&domain);
/// let (a, b) = (domain.assign(&[(0, domain.var(1))]), domain.havoc(&[1]));
/// let tensor = product.tensor(&a, &b);
/// assert_eq!(product.detensor(&tensor), domain.extend(&a, &b));
/// ```
pub struct TensorProduct {
    factor: BddRelations,
    product: BddRelations,
    /// First half → second half.
    second: Renaming,
    /// Entry and exit of the first half, entry and exit of the second → current, temporary,
    /// temporary, next.
    sequence: Renaming,
    /// … → current, temporary, next, temporary.
    opposed: Renaming,
    temporaries: Predicate,
}

impl TensorProduct {
    /// The tensor product of `factor` with itself.
    ///
    /// It takes variables from those that [`BddRelations::with_factors`] has set aside, or else
    /// adds some.
    pub fn new(factor: &BddRelations) -> Self {
        let n = factor.variable_count();
        let first = &factor.inner().variables;
        let product = factor.doubled();
        let core = factor.core();
        let pairs: Vec<_> = first.iter().zip(&product.inner().variables[n..]).collect();
        let renaming = |of: fn([u32; 5]) -> Vec<(u32, u32)>| {
            let levels = pairs.iter().map(|(a, b)| [a.current, a.temporary, a.next, b.current, b.next]);
            core.renaming(&levels.flat_map(of).collect::<Vec<_>>())
        };
        let second = renaming(|[a, _, a2, b, b2]| vec![(a, b), (a2, b2)]);
        let sequence = renaming(|[_, t, a2, b, b2]| vec![(a2, t), (b, t), (b2, a2)]);
        let opposed = renaming(|[_, t, a2, b, b2]| vec![(a2, t), (b2, t), (b, a2)]);
        let temporaries = core.cube(first.iter().map(|l| l.temporary));
        Self { factor: factor.clone(), second, sequence, opposed, temporaries, product }
    }

    /// The domain of the factors.
    pub fn factor(&self) -> &BddRelations {
        &self.factor
    }

    /// The domain of the tensors: variables `0..n` belong to the first factor, `n..2n` to the
    /// second.
    pub fn domain(&self) -> &BddRelations {
        &self.product
    }

    /// `a ⊙ b`: `(a ⊙ b) ⊗ (c ⊙ d) = (a ⊗ c) ⊙ (b ⊗ d)`.
    pub fn tensor(&self, a: &Predicate, b: &Predicate) -> Predicate {
        let core = self.factor.core();
        core.and(a, &core.rename(b, &self.second))
    }

    /// *DeTensor*: takes `a ⊙ b` to `a ⊗ b`, and distributes over ⊕.
    pub fn detensor(&self, w: &Predicate) -> Predicate {
        let core = self.factor.core();
        core.exists(&core.rename(w, &self.sequence), &self.temporaries)
    }

    /// *TDeTensor* (\[Lal09\] Def. 6.5.4): takes `a ⊙ b` to `a ⊗ bᵀ`, and distributes over ⊕.
    pub fn detensor_transposed(&self, w: &Predicate) -> Predicate {
        let core = self.factor.core();
        core.exists(&core.rename(w, &self.opposed), &self.temporaries)
    }
}

impl fmt::Debug for TensorProduct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TensorProduct").field("factor", &self.factor).finish_non_exhaustive()
    }
}
