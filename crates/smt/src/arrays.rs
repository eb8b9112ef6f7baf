//! Builders of arrays.
//!
//! Rules: a read looks through writes at indices that are equal or differ by a constant; a write
//! hides an earlier one at the same index.

use crate::sort::{Sort, mask};
use crate::terms::{Kind, Term, Terms};

/// Writes that a read looks through.
const REACH: usize = 4096;

/// What is known about two indices.
#[derive(Clone, Copy, PartialEq)]
enum Alias {
    Same,
    Different,
    Unknown,
}

impl Terms {
    fn alias(&self, i: Term, j: Term) -> Alias {
        if i == j {
            return Alias::Same;
        }
        let ((base_i, ci), (base_j, cj)) = (self.base_and_offset(i), self.base_and_offset(j));
        // Terms are unique: with equal offsets they would be the same.
        if base_i == base_j && (ci ^ cj) & mask(self.width(i)) != 0 {
            Alias::Different
        } else {
            Alias::Unknown
        }
    }

    fn array_widths(&self, array: Term) -> (u32, u32) {
        match self.sort(array) {
            Sort::Array { index, element } => (index, element),
            other => panic!("an array is wanted, not {other}"),
        }
    }

    /// The element of an array at an index.
    pub fn select(&mut self, array: Term, index: Term) -> Term {
        let (index_width, element) = self.array_widths(array);
        assert_eq!(self.sort(index), Sort::Bits(index_width), "the index fits the array");
        if let Some(element) = self.select_choice(array, index) {
            return element;
        }
        let mut array = array;
        for _ in 0..REACH {
            match *self.kind(array) {
                Kind::ConstArray(value) => return value,
                Kind::Store(inner, at, value) => match self.alias(at, index) {
                    Alias::Same => return value,
                    Alias::Different => array = inner,
                    Alias::Unknown => break,
                },
                _ => break,
            }
        }
        self.intern(Kind::Select(array, index), Sort::Bits(element))
    }

    /// The array with the element at an index replaced.
    pub fn store(&mut self, array: Term, index: Term, value: Term) -> Term {
        let (index_width, element) = self.array_widths(array);
        assert_eq!(self.sort(index), Sort::Bits(index_width), "the index fits the array");
        assert_eq!(self.sort(value), Sort::Bits(element), "the element fits the array");
        if let Some(written) = self.store_choice(array, index, value) {
            return written;
        }
        let mut below = array;
        match *self.kind(array) {
            Kind::ConstArray(all) if all == value => return array,
            Kind::Store(inner, at, _) if at == index => below = inner,
            _ => {}
        }
        if let Kind::Select(from, at) = *self.kind(value) {
            if from == array && at == index {
                return array;
            }
        }
        self.intern(Kind::Store(below, index, value), self.sort(array))
    }

    /// The array that has `value` everywhere, with indices of `index` bits.
    pub fn const_array(&mut self, index: u32, value: Term) -> Term {
        let element = self.assert_bits(value, value);
        let sort = Sort::Array { index, element };
        assert!(sort.is_valid(), "widths from 1 to 64, not {sort}");
        self.intern(Kind::ConstArray(value), sort)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_look_through_writes_that_miss() {
        let mut t = Terms::new();
        let a = t.variable("a", Sort::Array { index: 8, element: 16 });
        let [i, j] = ["i", "j"].map(|name| t.variable(name, Sort::Bits(8)));
        let (v, one) = (t.variable("v", Sort::Bits(16)), t.bits(1, 8));
        let next = t.add(i, one);
        let written = t.store(a, next, v);
        let read = t.select(a, i);
        assert_eq!((t.select(written, next), t.select(written, i)), (v, read));
        assert_ne!(t.select(written, j), t.select(a, j));
        assert_eq!(t.store(a, i, read), a);
        let zero = t.bits(0, 16);
        let empty = t.const_array(8, zero);
        assert_eq!(t.select(empty, j), zero);
    }
}
