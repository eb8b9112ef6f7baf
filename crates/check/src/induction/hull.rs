//! Affine equations modulo a power of two that hold of some points.
//!
//! M. Müller-Olm, H. Seidl, *Analysis of modular arithmetic* (TOPLAS 2007). What holds of points
//! p0, p1, … is every equation a·x = a·p0 with a·(pi − p0) = 0 for all i. The coefficients a form a
//! module; its generators are kept, and each point makes it smaller: one generator with the least
//! power of two in its product with the new difference takes the others' products away, and is
//! then multiplied until its own is gone. A generator that is divisible by a power of two is a
//! congruence: `x` is even is 2^31·x = 0.

use wherefore_smt::{Term, Terms};

/// The equations between some numbers of one width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hull {
    width: u32,
    first: Vec<u64>,
    /// Coefficients; all-zero rows are gone.
    generators: Vec<Vec<u64>>,
}

impl Hull {
    /// What holds of one point: everything.
    pub fn of_point(width: u32, point: Vec<u64>) -> Self {
        let count = point.len();
        let row = |i: usize| (0..count).map(|j| u64::from(i == j)).collect();
        Self { width, first: point, generators: (0..count).map(row).collect() }
    }

    fn mask(&self) -> u64 {
        u64::MAX >> (64 - self.width)
    }

    /// Adds a point; whether some equation does not hold of it.
    pub fn add(&mut self, point: &[u64]) -> bool {
        let mask = self.mask();
        let difference: Vec<u64> =
            point.iter().zip(&self.first).map(|(x, first)| x.wrapping_sub(*first) & mask).collect();
        let products: Vec<u64> = self.generators.iter().map(|row| dot(row, &difference) & mask).collect();
        let order = |product: u64| product.trailing_zeros().min(self.width);
        let Some(pivot) = (0..products.len()).min_by_key(|i| order(products[*i])) else { return false };
        let low = order(products[pivot]);
        if low == self.width {
            return false;
        }
        // The odd part has an inverse.
        let inverse = inverse(products[pivot] >> low);
        let pivot_row = self.generators[pivot].clone();
        for (i, row) in self.generators.iter_mut().enumerate() {
            let factor = if i == pivot {
                continue;
            } else {
                (products[i] >> low).wrapping_mul(inverse)
            };
            for (x, by) in row.iter_mut().zip(&pivot_row) {
                *x = x.wrapping_sub(factor.wrapping_mul(*by)) & mask;
            }
        }
        let shift = self.width - low;
        for x in &mut self.generators[pivot] {
            *x = if shift >= 64 { 0 } else { (*x << shift) & mask };
        }
        self.generators.retain(|row| row.iter().any(|x| *x != 0));
        true
    }

    /// The equations, over variables in the order of the points' coordinates; at most their lowest
    /// bits.
    pub fn equations(&self, terms: &mut Terms, variables: &[Term], most: u32) -> Vec<Term> {
        self.generators.iter().map(|row| self.equation(terms, variables, row, most)).collect()
    }

    fn equation(&self, terms: &mut Terms, variables: &[Term], row: &[u64], most: u32) -> Term {
        // A power of two that divides all coefficients is a congruence by what is left.
        let low = row.iter().map(|x| x.trailing_zeros()).min().unwrap_or(0).min(self.width - 1);
        let width = (self.width - low).min(most);
        let scaled: Vec<u64> = row.iter().map(|x| x >> low).collect();
        let mask = u64::MAX >> (64 - width);
        let unit = smallest_unit(&scaled, mask);
        let mut sum = terms.bits(0, width);
        let mut value = 0u64;
        for ((x, variable), first) in scaled.iter().zip(variables).zip(&self.first) {
            let factor = x.wrapping_mul(unit) & mask;
            if factor == 0 {
                continue;
            }
            value = value.wrapping_add(factor.wrapping_mul(*first));
            let factor = terms.bits(factor, width);
            let part = terms.extract(*variable, 0, width);
            let product = terms.mul(part, factor);
            sum = terms.add(sum, product);
        }
        let value = terms.bits(value & mask, width);
        terms.eq(sum, value)
    }
}

/// The odd factor that makes the coefficients smallest in size: `a + b - 3·i` is easier for a solver
/// than `i` and large multiples of `a` and `b`.
fn smallest_unit(row: &[u64], mask: u64) -> u64 {
    let size = |unit: u64| -> u128 {
        let sizes = row.iter().map(|x| {
            let scaled = x.wrapping_mul(unit) & mask;
            u128::from(scaled.min(scaled.wrapping_neg() & mask))
        });
        sizes.sum()
    };
    let odd = row.iter().filter(|x| **x & 1 == 1).map(|x| inverse(*x));
    let units = odd.flat_map(|unit| SMALL_FACTORS.map(|factor| unit.wrapping_mul(factor)));
    units.min_by_key(|unit| size(*unit)).unwrap_or(1)
}

/// Factors that are tried: with 3, `a = b / 3` becomes `3·a = b`.
const SMALL_FACTORS: [u64; 6] = [1, 3, 5, 7, 9, 15];

fn dot(a: &[u64], b: &[u64]) -> u64 {
    a.iter().zip(b).fold(0, |sum: u64, (x, y)| sum.wrapping_add(x.wrapping_mul(*y)))
}

/// The inverse of an odd number modulo 2^64, by Newton's iteration.
fn inverse(odd: u64) -> u64 {
    (0..6).fold(odd, |x, _| x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x))))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use wherefore_smt::{Model, Sort, Value};

    use super::*;

    fn hull(width: u32, points: &[Vec<u64>]) -> Hull {
        let mut hull = Hull::of_point(width, points[0].clone());
        for point in &points[1..] {
            hull.add(point);
        }
        hull
    }

    fn hold(terms: &Terms, equations: &[Term], variables: &[Term], point: &[u64]) -> bool {
        let values = variables.iter().copied().zip(point.iter().map(|x| Value::Bits(*x)));
        let model = Model::from_iter(values);
        equations.iter().all(|equation| terms.holds(*equation, &model))
    }

    #[test]
    fn counters_that_go_together_and_remainders_are_found() {
        let mut terms = Terms::new();
        let variables = ["i", "j", "k"].map(|name| terms.variable(name, Sort::Bits(32)));
        // j = 2i + 1, k is odd.
        let points: Vec<Vec<u64>> = (0..5).map(|i| vec![i, 2 * i + 1, (i * i) * 2 + 1]).collect();
        let equations = hull(32, &points).equations(&mut terms, &variables, 64);
        assert!(hold(&terms, &equations, &variables, &[100, 201, 77]));
        assert!(!hold(&terms, &equations, &variables, &[100, 202, 77]));
        assert!(!hold(&terms, &equations, &variables, &[100, 201, 78]));
    }

    #[test]
    fn coefficients_are_small() {
        let mut terms = Terms::new();
        let variables = ["i", "a", "b"].map(|name| terms.variable(name, Sort::Bits(32)));
        // a + b = 3i.
        let points = [[0, 0, 0], [1, 1, 2], [1, 2, 1], [2, 4, 2]].map(|point| point.to_vec());
        let equations = hull(32, &points).equations(&mut terms, &variables, 64);
        let [equation] = equations[..] else { panic!("{equations:?}") };
        let (sum, product) = (terms.add(variables[1], variables[2]), terms.bits(3, 32));
        let product = terms.mul(variables[0], product);
        let expected = terms.eq(sum, product);
        let (found, expected) = (terms.display(equation).to_string(), terms.display(expected).to_string());
        assert!(found == expected || found.contains("* 3"), "{found}, not {expected}");
        assert!(found.len() <= expected.len() + 12, "{found}");
    }

    proptest! {
        /// All points satisfy the equations; and of the numbers of four bits, just those do that
        /// are affine combinations of the points.
        #[test]
        fn a_hull_is_the_least_affine_set(points in prop::collection::vec(prop::collection::vec(0u64..16, 2), 1..5)) {
            let mut terms = Terms::new();
            let variables = ["x", "y"].map(|name| terms.variable(name, Sort::Bits(4)));
            let equations = hull(4, &points).equations(&mut terms, &variables, 64);
            let mut closure = std::collections::BTreeSet::from([points[0].clone()]);
            loop {
                let mut more = closure.clone();
                for at in &closure {
                    for point in &points {
                        let moved = (0..2).map(|i| at[i].wrapping_add(point[i]).wrapping_sub(points[0][i]) & 15);
                        more.insert(moved.collect());
                    }
                }
                if more.len() == closure.len() {
                    break;
                }
                closure = more;
            }
            for x in 0..16 {
                for y in 0..16 {
                    let inside = hold(&terms, &equations, &variables, &[x, y]);
                    prop_assert_eq!(inside, closure.contains(&vec![x, y]), "{} {}", x, y);
                }
            }
        }
    }
}
