//! Sets of the bits of a store.

/// A set of numbers below a bound.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BitSet(Vec<u64>);

impl BitSet {
    /// The empty set of numbers below `bound`.
    pub fn new(bound: usize) -> Self {
        Self(vec![0; bound.div_ceil(64)])
    }

    /// All numbers below `bound`.
    pub fn full(bound: usize) -> Self {
        Self::of(bound, 0..bound)
    }

    /// The set of these numbers.
    pub fn of(bound: usize, numbers: impl IntoIterator<Item = usize>) -> Self {
        let mut set = Self::new(bound);
        for number in numbers {
            set.0[number / 64] |= 1 << (number % 64);
        }
        set
    }

    /// Adds the numbers of another set; says whether one was new.
    pub fn add(&mut self, other: &Self) -> bool {
        let mut grew = false;
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            grew |= *more & !*word != 0;
            *word |= more;
        }
        grew
    }

    /// The numbers that are not in the other set.
    pub fn without(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a & !b).collect())
    }

    /// The numbers that are in both sets.
    pub fn within(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// The numbers, in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let words = self.0.iter().enumerate();
        words.flat_map(|(i, word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| 64 * i + bit)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::BitSet;

    #[test]
    fn sets_are_what_their_numbers_say() {
        let (a, b) = (BitSet::of(100, [1, 64, 99]), BitSet::of(100, [64, 65]));
        let list = |set: &BitSet| set.iter().collect::<Vec<_>>();
        assert_eq!(list(&a.without(&b)), [1, 99]);
        assert_eq!(list(&a.within(&b)), [64]);
        assert_eq!(BitSet::full(100).iter().count(), 100);
        let mut sum = a.clone();
        assert!(sum.add(&b) && !sum.add(&b));
        assert_eq!(list(&sum), [1, 64, 65, 99]);
        assert!(a.without(&a).is_empty() && !a.is_empty());
    }
}
