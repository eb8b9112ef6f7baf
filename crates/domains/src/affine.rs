//! Affine-relation analysis: which linear equations hold between the variables?
//!
//! \[Lal09\] §3.5.2, after Müller-Olm and Seidl. An affine relation `a₀ + a₁x₁ + … + aₙxₙ = 0` is
//! the column vector `(a₀, …, aₙ)`. A statement is a set of matrices that map a relation after it
//! to relations before it (weakest preconditions); a weight is the vector space they span. ⊗ is
//! spanned by the products, in the order of execution; ⊕ is the sum of spaces.
//!
//! - **Exact:** spaces are over the rationals. A space is kept as its reduced echelon basis, each
//!   row scaled to integers without common factor and with positive pivot: equal spaces have equal
//!   bases.
//! - **Chains** are finite: a chain of spaces of `(n+1)×(n+1)` matrices has at most `(n+1)²` steps.
//! - **Cost:** with `N = (n+1)²`, ⊕ takes `N³` operations at most. ⊗ multiplies up to `N²` pairs of
//!   matrices and is stopped as soon as the space is full. Bases are small in practice.
//!
//! Branch conditions are not modelled: a branch has weight 1, which over-approximates.

use std::fmt;
use std::sync::Arc;

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, Zero};
use wherefore_pushdown::{Merge, Semiring};

use crate::locals::Entry;

/// A row of integers, up to a factor.
type Row = Vec<BigInt>;

/// A space of row vectors, as its reduced echelon basis.
#[derive(Clone, Default)]
struct Basis {
    /// Pivots, and rows; pivots ascend, and each column of a pivot is 0 in all other rows.
    rows: Vec<(usize, Row)>,
}

impl Basis {
    /// Adds a vector to the space; says whether the space grew.
    fn insert(&mut self, mut row: Row) -> bool {
        for (pivot, base) in &self.rows {
            eliminate(&mut row, base, *pivot);
        }
        let Some(pivot) = row.iter().position(|x| !x.is_zero()) else { return false };
        normalise(&mut row, pivot);
        for (other, base) in &mut self.rows {
            if eliminate(base, &row, pivot) {
                normalise(base, *other);
            }
        }
        let place = self.rows.partition_point(|(p, _)| *p < pivot);
        self.rows.insert(place, (pivot, row));
        true
    }

    /// A basis of the vectors `v` with `row · v = 0` for all rows.
    fn kernel(&self, width: usize) -> Vec<Row> {
        let free = (0..width).filter(|column| self.rows.iter().all(|(pivot, _)| pivot != column));
        let vector = |column: usize| {
            let scale = self.rows.iter().fold(BigInt::one(), |scale, (pivot, row)| scale.lcm(&row[*pivot]));
            let mut vector = vec![BigInt::zero(); width];
            for (pivot, row) in &self.rows {
                vector[*pivot] = -(&row[column] * &scale / &row[*pivot]);
            }
            vector[column] = scale;
            let first = vector.iter().position(|x| !x.is_zero()).unwrap_or(column);
            normalise(&mut vector, first);
            vector
        };
        free.map(vector).collect()
    }
}

/// Makes `row[pivot]` zero by means of `base`; says whether it was not.
fn eliminate(row: &mut Row, base: &Row, pivot: usize) -> bool {
    if row[pivot].is_zero() {
        return false;
    }
    let common = row[pivot].gcd(&base[pivot]);
    let (up, down) = (&base[pivot] / &common, &row[pivot] / &common);
    for (x, b) in row.iter_mut().zip(base) {
        *x *= &up;
        if !b.is_zero() {
            *x -= b * &down;
        }
    }
    true
}

/// Divides by the common factor and makes `row[pivot]` positive.
fn normalise(row: &mut Row, pivot: usize) {
    let mut common = row.iter().fold(BigInt::zero(), |common, x| common.gcd(x));
    if row[pivot].is_negative() {
        common = -common;
    }
    if !common.is_one() {
        row.iter_mut().for_each(|x| *x /= &common);
    }
}

/// A vector space of matrices: a weight of [`AffineRelations`].
///
/// ```
/// use wherefore_domains::AffineRelations;
/// use wherefore_pushdown::Semiring;
///
/// let domain = AffineRelations::new(1);
/// assert_eq!(domain.one().dimension(), 1);
/// assert_eq!(domain.havoc(&[0]).dimension(), 2);
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct MatrixSpace {
    /// The reduced echelon basis of the matrices, read row after row.
    basis: Arc<[Row]>,
}

impl MatrixSpace {
    /// The dimension of the space: 0 only if there is no path.
    pub fn dimension(&self) -> usize {
        self.basis.len()
    }
}

impl From<Basis> for MatrixSpace {
    fn from(basis: Basis) -> Self {
        Self { basis: basis.rows.into_iter().map(|(_, row)| row).collect() }
    }
}

impl fmt::Debug for MatrixSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |row: &Row| row.iter().map(BigInt::to_string).collect::<Vec<_>>().join(" ");
        f.debug_list().entries(self.basis.iter().map(row)).finish()
    }
}

/// An expression or a relation `a₀ + a₁x₁ + … + aₙxₙ`, as its coefficients `[a₀, …, aₙ]`.
pub type Affine = Vec<i64>;

/// The domain of affine relations between `n` variables.
///
/// ```
/// use wherefore_domains::AffineRelations;
/// use wherefore_pushdown::Semiring;
///
/// // x = ?; y = x + 1
/// let domain = AffineRelations::new(2);
/// let path = domain.extend(&domain.havoc(&[0]), &domain.assign(&[(1, vec![1, 1, 0])]));
/// assert!(domain.holds(&path, &[1, 1, -1]));
/// assert!(!domain.holds(&path, &[0, 1, -1]));
/// assert_eq!(domain.relations(&path).len(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct AffineRelations {
    /// Variables and the constant.
    size: usize,
    one: MatrixSpace,
}

impl AffineRelations {
    /// The affine relations between `variables` variables.
    pub fn new(variables: usize) -> Self {
        let size = variables + 1;
        let identity = (0..size * size).map(|i| BigInt::from(u8::from(i / size == i % size))).collect();
        Self { size, one: MatrixSpace { basis: [identity].into() } }
    }

    /// How many variables there are.
    pub fn variable_count(&self) -> usize {
        self.size - 1
    }

    /// Assigns affine expressions over old values to some variables, all at once; others keep their
    /// values.
    ///
    /// # Panics
    /// If a variable does not exist, or an expression does not have one coefficient for each
    /// variable and the constant.
    pub fn assign(&self, assignments: &[(usize, Affine)]) -> MatrixSpace {
        let mut basis = Basis::default();
        basis.insert(self.matrix(assignments));
        basis.into()
    }

    /// Gives these variables any values; others keep theirs.
    pub fn havoc(&self, variables: &[usize]) -> MatrixSpace {
        // A relation holds for all values of a variable exactly when it holds for 0 and for 1.
        let constant = |value: i64| {
            let mut expression = vec![0; self.size];
            expression[0] = value;
            expression
        };
        variables.iter().fold(self.one(), |all, x| {
            let either = self.combine(&self.assign(&[(*x, constant(0))]), &self.assign(&[(*x, constant(1))]));
            self.extend(&all, &either)
        })
    }

    /// Whether the relation holds after all paths of `w`, whatever the values were before.
    ///
    /// # Panics
    /// If the relation does not have one coefficient for each variable and the constant.
    pub fn holds(&self, w: &MatrixSpace, relation: &[i64]) -> bool {
        assert_eq!(relation.len(), self.size, "one coefficient for each variable and the constant");
        let zero = |row: &[BigInt]| row.iter().zip(relation).map(|(m, a)| m * a).sum::<BigInt>().is_zero();
        w.basis.iter().all(|matrix| matrix.chunks(self.size).all(zero))
    }

    /// A basis of all relations that hold after all paths of `w`, whatever the values were before.
    ///
    /// Relations are scaled to integers without common factor.
    pub fn relations(&self, w: &MatrixSpace) -> Vec<Vec<BigInt>> {
        // The intersection of the null spaces of the matrices.
        let mut equations = Basis::default();
        for matrix in w.basis.iter() {
            for row in matrix.chunks(self.size) {
                equations.insert(row.to_vec());
            }
        }
        equations.kernel(self.size)
    }

    /// Column `j` holds the coefficients of the new value of variable `j`.
    fn matrix(&self, assignments: &[(usize, Affine)]) -> Row {
        let mut matrix = self.one.basis[0].clone();
        for (variable, expression) in assignments {
            assert!(*variable < self.variable_count(), "there is no variable {variable}");
            assert_eq!(expression.len(), self.size, "one coefficient for each variable and the constant");
            for (i, coefficient) in expression.iter().enumerate() {
                matrix[i * self.size + variable + 1] = BigInt::from(*coefficient);
            }
        }
        matrix
    }

    fn multiply(&self, a: &Row, b: &Row) -> Row {
        let n = self.size;
        let mut product = vec![BigInt::zero(); n * n];
        for i in 0..n {
            for j in (0..n).filter(|j| !a[i * n + j].is_zero()) {
                for k in (0..n).filter(|k| !b[j * n + k].is_zero()) {
                    product[i * n + k] += &a[i * n + j] * &b[j * n + k];
                }
            }
        }
        product
    }

    fn span(&self, matrices: impl IntoIterator<Item = Row>) -> MatrixSpace {
        let full = self.size * self.size;
        let mut basis = Basis::default();
        for matrix in matrices {
            if basis.rows.len() == full {
                break;
            }
            basis.insert(matrix);
        }
        basis.into()
    }
}

impl Semiring for AffineRelations {
    type Weight = MatrixSpace;

    fn zero(&self) -> MatrixSpace {
        Basis::default().into()
    }

    fn one(&self) -> MatrixSpace {
        self.one.clone()
    }

    fn combine(&self, a: &MatrixSpace, b: &MatrixSpace) -> MatrixSpace {
        if a == b || self.is_zero(b) {
            return a.clone();
        }
        self.span(a.basis.iter().chain(b.basis.iter()).cloned())
    }

    fn is_tall(&self) -> bool {
        true
    }

    fn extend(&self, a: &MatrixSpace, b: &MatrixSpace) -> MatrixSpace {
        if self.is_one(a) || self.is_zero(b) {
            return b.clone();
        }
        if self.is_one(b) {
            return a.clone();
        }
        self.span(a.basis.iter().flat_map(|a| b.basis.iter().map(move |b| self.multiply(a, b))))
    }

    fn is_zero(&self, w: &MatrixSpace) -> bool {
        w.basis.is_empty()
    }

    fn is_one(&self, w: &MatrixSpace) -> bool {
        *w == self.one
    }
}

/// Calls keep the caller's local variables: `merge(w₁, w₂) = w₁ ⊗ project(entry ⊗ w₂)`.
///
/// \[Lal09\] §3.5.2, *Incorporating Local Variables*. In every matrix the columns of the locals,
/// which give their new values, are replaced by those of the identity, scaled by the top left
/// entry: this keeps the operation linear.
///
/// **Divergence.** The printed *project* also clears the third quadrant, the influence of old
/// locals on new globals. That is right if the callee's locals start as 0: [`Entry::Bound`] to the
/// assignment of 0. Where parameters are bound to the caller's locals, that influence must stay.
///
/// ```
/// use wherefore_domains::{AffineLocals, AffineRelations, Entry};
/// use wherefore_pushdown::{Merge, Semiring};
///
/// // g (0) is global, l (1) is local: the callee adds 2 to g and destroys its own l.
/// let domain = AffineRelations::new(2);
/// let call = AffineLocals::new(&domain, 1, Entry::Uninitialised);
/// let caller = domain.assign(&[(0, vec![0, 0, 1])]);
/// let callee = domain.assign(&[(0, vec![2, 1, 0]), (1, vec![7, 0, 0])]);
/// let after = call.merge(&domain, &caller, &callee);
/// assert!(domain.holds(&after, &[2, -1, 1]), "g = l + 2");
/// ```
#[derive(Clone, Debug)]
pub struct AffineLocals {
    globals: usize,
    /// `None` stands for 1.
    entry: Option<MatrixSpace>,
}

impl AffineLocals {
    /// The variables `0..globals` are global, the others local.
    pub fn new(domain: &AffineRelations, globals: usize, entry: Entry<MatrixSpace>) -> Self {
        let entry = match entry {
            Entry::Inherited => None,
            Entry::Bound(entry) => Some(entry),
            Entry::Uninitialised => {
                Some(domain.havoc(&(globals..domain.variable_count()).collect::<Vec<_>>()))
            }
        };
        Self { globals, entry }
    }

    /// Puts the identity in the place of what `entry ⊗ w` does to the locals.
    pub fn project(&self, domain: &AffineRelations, w: &MatrixSpace) -> MatrixSpace {
        let entered = self.entry.as_ref().map(|entry| domain.extend(entry, w));
        let n = domain.size;
        let keep = |matrix: &Row| {
            let mut kept = matrix.clone();
            for local in self.globals + 1..n {
                (0..n).for_each(|i| kept[i * n + local] = BigInt::zero());
                kept[local * n + local] = matrix[0].clone();
            }
            kept
        };
        domain.span(entered.as_ref().unwrap_or(w).basis.iter().map(keep))
    }
}

impl Merge<AffineRelations> for AffineLocals {
    fn merge(&self, domain: &AffineRelations, caller: &MatrixSpace, callee: &MatrixSpace) -> MatrixSpace {
        domain.extend(caller, &self.project(domain, callee))
    }
}

#[cfg(test)]
#[path = "affine_tests.rs"]
mod tests;
