//! Modules of vectors over the numbers modulo a power of two, by their Howell form.
//!
//! J. A. Howell, *Spans in the module (Z_m)^s* (1986); the use for programs follows M. Müller-Olm
//! and H. Seidl, *Analysis of modular arithmetic* (ESOP 2005), and M. Elder, J. Lim, T. Sharma,
//! T. Andersen and T. Reps, *Abstract domains of affine relations* (TOPLAS 36(4), 2014).
//!
//! Every number `a ≠ 0` is `2^r · u` with `u` odd, and so invertible; `r` is its *rank*. A module
//! is kept as the rows of a matrix with these properties:
//!
//! 1. each row leads at another column, and rows are ordered by it;
//! 2. leading entries are powers of two;
//! 3. entries above a leading entry are less than it;
//! 4. every vector of the module that begins with `j` zeros is a combination of the rows that do.
//!
//! The last one is what fields have for nothing. Here `2^(w−r)` times a row that leads with `2^r`
//! has a zero there, and may be a vector that no later row gives: it is inserted as well.
//! Equal modules have equal forms. An ascending chain of modules with `c` columns has at most `w·c`
//! steps: each adds a leading entry or lowers the rank of one.

use std::fmt;

/// The numbers modulo `2^bits`, as [`u64`].
///
/// ```
/// use wherefore_domains::Ring;
///
/// let ring = Ring::new(8);
/// assert_eq!(ring.inverse(3), 171);
/// assert_eq!(ring.reduce(3u64.wrapping_mul(171)), 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ring {
    bits: u32,
}

impl Ring {
    /// The numbers modulo `2^bits`.
    ///
    /// # Panics
    /// If there are no bits, or more than 64.
    pub fn new(bits: u32) -> Self {
        assert!((1..=64).contains(&bits), "a ring has 1 to 64 bits, not {bits}");
        Self { bits }
    }

    /// How many bits a number has.
    pub fn bits(self) -> u32 {
        self.bits
    }

    /// The number of the ring that a number stands for.
    pub fn reduce(self, value: u64) -> u64 {
        value & (u64::MAX >> (64 - self.bits))
    }

    /// The largest `r` such that `2^r` divides the number; the number of bits for 0.
    pub fn rank(self, value: u64) -> u32 {
        self.reduce(value).trailing_zeros().min(self.bits)
    }

    /// The inverse of an odd number, by Newton's iteration: each round doubles the bits that are
    /// right.
    pub fn inverse(self, odd: u64) -> u64 {
        debug_assert!(odd & 1 == 1, "{odd} is even");
        let mut inverse = odd;
        for _ in 0..5 {
            inverse = inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse)));
        }
        self.reduce(inverse)
    }

    /// Adds `factor · from` to a row, from column `first` on.
    fn add_multiple(self, row: &mut [u64], from: &[u64], factor: u64, first: usize) {
        for (x, y) in row[first..].iter_mut().zip(&from[first..]) {
            *x = self.reduce(x.wrapping_add(y.wrapping_mul(factor)));
        }
    }

    fn scale(self, row: &mut [u64], factor: u64) {
        row.iter_mut().for_each(|x| *x = self.reduce(x.wrapping_mul(factor)));
    }
}

/// A module of row vectors.
///
/// ```
/// use wherefore_domains::{Howell, Ring};
///
/// // 2x + y and 2x generate y, and 4y = 0 modulo 4 adds nothing.
/// let mut module = Howell::new(Ring::new(2), 2);
/// assert!(module.insert(vec![2, 1]));
/// assert_eq!(module.rows(), [vec![2, 1], vec![0, 2]]);
/// assert!(module.insert(vec![2, 0]));
/// assert_eq!(module.rows(), [vec![2, 0], vec![0, 1]]);
/// assert!(!module.insert(vec![2, 3]));
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Howell {
    ring: Ring,
    columns: usize,
    rows: Vec<Vec<u64>>,
}

impl fmt::Debug for Howell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.rows).finish()
    }
}

fn leading(row: &[u64]) -> Option<usize> {
    row.iter().position(|x| *x != 0)
}

impl Howell {
    /// The module of the zero vector.
    pub fn new(ring: Ring, columns: usize) -> Self {
        Self { ring, columns, rows: Vec::new() }
    }

    /// The module that some rows generate.
    pub fn of(ring: Ring, columns: usize, rows: impl IntoIterator<Item = Vec<u64>>) -> Self {
        let mut module = Self::new(ring, columns);
        for row in rows {
            module.add(row);
        }
        module.reduce_above();
        module
    }

    /// The ring of the entries.
    pub fn ring(&self) -> Ring {
        self.ring
    }

    /// How many entries a vector has.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The rows of the Howell form.
    pub fn rows(&self) -> &[Vec<u64>] {
        &self.rows
    }

    /// Whether all vectors are in the module.
    pub fn is_full(&self) -> bool {
        self.rows.len() == self.columns && self.rows.iter().enumerate().all(|(i, row)| row[i] == 1)
    }

    /// Adds a vector; says whether the module grew.
    ///
    /// # Panics
    /// If the vector has another number of entries.
    pub fn insert(&mut self, row: Vec<u64>) -> bool {
        let grew = self.add(row);
        if grew {
            self.reduce_above();
        }
        grew
    }

    /// Adds a vector and restores all but property 3.
    fn add(&mut self, mut row: Vec<u64>) -> bool {
        assert_eq!(row.len(), self.columns, "one entry for each column");
        let ring = self.ring;
        row.iter_mut().for_each(|x| *x = ring.reduce(*x));
        let mut grew = false;
        let mut work = vec![row];
        while let Some(mut row) = work.pop() {
            let mut at = 0;
            while let Some(column) = leading(&row[at..]).map(|offset| at + offset) {
                at = column;
                let place = self.rows.partition_point(|other| leading(other) < Some(column));
                let rank = ring.rank(row[column]);
                match self.rows.get_mut(place).filter(|other| leading(other) == Some(column)) {
                    Some(pivot) if ring.rank(pivot[column]) <= rank => {
                        let factor = row[column] >> ring.rank(pivot[column]);
                        ring.add_multiple(&mut row, pivot, factor.wrapping_neg(), column);
                        continue;
                    }
                    found => {
                        let odd = row[column] >> rank;
                        ring.scale(&mut row, ring.inverse(odd));
                        if rank > 0 {
                            let mut saturating = row.clone();
                            ring.scale(&mut saturating, 1 << (ring.bits - rank));
                            work.push(saturating);
                        }
                        match found {
                            Some(pivot) => {
                                std::mem::swap(pivot, &mut row);
                                let factor = row[column] >> rank;
                                ring.add_multiple(&mut row, pivot, factor.wrapping_neg(), column);
                                work.push(row);
                            }
                            None => self.rows.insert(place, row),
                        }
                        grew = true;
                        break;
                    }
                }
            }
        }
        grew
    }

    /// Property 3: each leading entry is greater than what is above it.
    fn reduce_above(&mut self) {
        for i in 0..self.rows.len() {
            let (above, rest) = self.rows.split_at_mut(i);
            let pivot = &rest[0];
            let Some(column) = leading(pivot) else { continue };
            let rank = self.ring.rank(pivot[column]);
            for row in above.iter_mut().filter(|row| row[column] >> rank != 0) {
                let factor = (row[column] >> rank).wrapping_neg();
                self.ring.add_multiple(row, pivot, factor, column);
            }
        }
    }

    /// Whether a vector is in the module.
    pub fn contains(&self, vector: &[u64]) -> bool {
        let mut rest: Vec<u64> = vector.iter().map(|x| self.ring.reduce(*x)).collect();
        for row in &self.rows {
            let Some(column) = leading(row) else { continue };
            let rank = self.ring.rank(row[column]);
            let factor = (rest[column] >> rank).wrapping_neg();
            self.ring.add_multiple(&mut rest, row, factor, column);
        }
        leading(&rest).is_none()
    }

    /// The vectors `v` with `row · v = 0` for all rows.
    ///
    /// The rows of `[Mᵗ | I]` pair values of `M · v` with `v`; by property 4 those of its Howell
    /// form that begin with zeros generate all `v` with `M · v = 0`.
    pub fn kernel(&self) -> Howell {
        let height = self.rows.len();
        let pairs = (0..self.columns).map(|column| {
            let mut pair = vec![0; height + self.columns];
            for (i, row) in self.rows.iter().enumerate() {
                pair[i] = row[column];
            }
            pair[height + column] = 1;
            pair
        });
        Howell::of(self.ring, height + self.columns, pairs).without(height)
    }

    /// The vectors of the module that begin with so many zeros, without these.
    pub fn without(&self, first: usize) -> Howell {
        let kept = self.rows.iter().filter(|row| leading(row) >= Some(first));
        let rows = kept.map(|row| row[first..].to_vec()).collect();
        Howell { ring: self.ring, columns: self.columns - first, rows }
    }

    /// The vectors of both modules.
    ///
    /// # Panics
    /// If their rings or columns differ.
    pub fn intersection(&self, other: &Howell) -> Howell {
        assert_eq!((self.ring, self.columns), (other.ring, other.columns), "vectors of one kind");
        let zeros = vec![0; self.columns];
        let twice = self.rows.iter().map(|row| [row.as_slice(), row].concat());
        let once = other.rows.iter().map(|row| [row.as_slice(), &zeros].concat());
        Howell::of(self.ring, 2 * self.columns, twice.chain(once)).without(self.columns)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// All combinations of the rows.
    fn span(ring: Ring, columns: usize, rows: &[Vec<u64>]) -> BTreeSet<Vec<u64>> {
        let mut found = BTreeSet::from([vec![0; columns]]);
        for row in rows {
            let mut more = BTreeSet::new();
            for vector in &found {
                for factor in 0..1u64 << ring.bits() {
                    let sum = vector.iter().zip(row).map(|(x, y)| ring.reduce(x + factor * y));
                    more.insert(sum.collect());
                }
            }
            found = more;
        }
        found
    }

    fn all_vectors(ring: Ring, columns: usize) -> Vec<Vec<u64>> {
        let unit = |i: usize| (0..columns).map(|j| u64::from(i == j)).collect::<Vec<u64>>();
        span(ring, columns, &(0..columns).map(unit).collect::<Vec<_>>()).into_iter().collect()
    }

    fn rows(columns: usize) -> impl Strategy<Value = Vec<Vec<u64>>> {
        prop::collection::vec(prop::collection::vec(0..16u64, columns), 0..4)
    }

    fn check(ring: Ring, columns: usize, first: &[Vec<u64>], second: &[Vec<u64>]) {
        let cut = |rows: &[Vec<u64>]| -> Vec<Vec<u64>> {
            rows.iter().map(|row| row.iter().map(|x| ring.reduce(*x)).collect()).collect()
        };
        let (first, second) = (cut(first), cut(second));
        let (a, b) = (Howell::of(ring, columns, first.clone()), Howell::of(ring, columns, second.clone()));
        let (all_a, all_b) = (span(ring, columns, &first), span(ring, columns, &second));
        assert_eq!(span(ring, columns, a.rows()), all_a);
        assert_eq!(a == b, all_a == all_b, "equal modules have equal forms");
        let both: BTreeSet<Vec<u64>> = all_a.intersection(&all_b).cloned().collect();
        assert_eq!(span(ring, columns, a.intersection(&b).rows()), both);
        let orthogonal = |v: &Vec<u64>| {
            first.iter().all(|row| ring.reduce(row.iter().zip(v).map(|(x, y)| x * y).sum()) == 0)
        };
        let vectors = all_vectors(ring, columns);
        let kernel: BTreeSet<Vec<u64>> = vectors.iter().filter(|v| orthogonal(v)).cloned().collect();
        assert_eq!(span(ring, columns, a.kernel().rows()), kernel);
        assert!(vectors.iter().all(|v| a.contains(v) == all_a.contains(v)));
        assert_eq!(a.is_full(), all_a.len() == vectors.len());
        for skip in 1..columns {
            let begins = all_a.iter().filter(|v| v[..skip].iter().all(|x| *x == 0));
            let rest: BTreeSet<Vec<u64>> = begins.map(|v| v[skip..].to_vec()).collect();
            assert_eq!(span(ring, columns - skip, a.without(skip).rows()), rest);
        }
        let mut one_by_one = Howell::new(ring, columns);
        for row in &first {
            let grows = !one_by_one.contains(row);
            assert_eq!(one_by_one.insert(row.clone()), grows);
        }
        assert_eq!(one_by_one, a);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(wherefore_testing::cases(600)))]

        #[test]
        fn forms_are_right_modulo_8(a in rows(3), b in rows(3)) {
            check(Ring::new(3), 3, &a, &b);
        }

        #[test]
        fn forms_are_right_modulo_16(a in rows(2), b in rows(2)) {
            check(Ring::new(4), 2, &a, &b);
        }
    }

    #[test]
    fn odd_numbers_have_inverses_in_all_rings() {
        for bits in 1..=64 {
            let ring = Ring::new(bits);
            for odd in [1, 3, 5, 171, 2_863_311_531, u64::MAX, 0xdead_beef_cafe_babf] {
                assert_eq!(ring.reduce(odd.wrapping_mul(ring.inverse(odd))), 1);
            }
        }
    }
}
