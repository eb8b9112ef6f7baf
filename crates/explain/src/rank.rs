//! The rank of a sequence: \[Focus\] Definition 2.

use std::cmp::Ordering;

/// What the rank of a sequence rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Complexity {
    /// How many statements it has.
    pub length: usize,
    /// How many variables its assumptions name.
    pub variables: usize,
}

impl Complexity {
    /// `Less` if this one ranks higher: if it is shorter, or as short with fewer variables. `Equal`
    /// if the two are not comparable.
    pub fn compare(&self, other: &Self) -> Ordering {
        (self.length, self.variables).cmp(&(other.length, other.variables))
    }
}

/// The ranks of some sequences, from 1; those that are not comparable share one.
pub fn ranks(all: &[Complexity]) -> Vec<usize> {
    let above = |one: &Complexity| all.iter().filter(|other| other.compare(one) == Ordering::Less).count();
    all.iter().map(|one| above(one) + 1).collect()
}
