//! Values that are one of a few constants, and arrays that are written at few places.
//!
//! An unrolled program computes many values from constants and conditions: addresses of blocks that
//! were allocated on some paths, links of lists, small counters. In an arena that keeps *choices*
//! ([`Terms::with_choices`]), such a value is a list of constants, each with the condition under
//! which it is the value; operations on them and comparisons are done constant by constant. A read
//! at one of a few indices is a choice between elements, a write changes each of these elements or
//! leaves it, and of two arrays under a condition the elements that differ are chosen. So arrays
//! are mostly written at constant indices, and the search hears little of them. (Sen, Necula, Gong,
//! Choi 2015, *MultiSE: Multi-path Symbolic Execution using Value Summaries*.)
//!
//! All rules are equations: a term has the same value in every model as without them.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::operation::Op;
use crate::sort::Sort;
use crate::terms::{Kind, Term, Terms};

/// A value with more constants is not a choice.
const MOST: usize = 32;
/// A choice has no more values that are no constants.
const MOST_OTHERS: usize = 4;
/// Pairs of constants that an operation looks at.
const MOST_PAIRS: usize = 256;
/// Writes to two arrays since they were one, when they are joined.
const MOST_WRITES: usize = 512;
/// Writes behind which an earlier one to the same element is found and left out.
const NEAR: usize = 12;
/// Writes at indices that are not known, which a read at a constant looks through.
const MOST_UNKNOWN: usize = 24;
/// A conjunction with more parts is not taken apart.
const LONG: usize = 64;

/// The values that a term can be, constants first, and when it is which: exactly one of the
/// conditions holds. What is no constant was read from an array that was not written there.
type Choice = Arc<[(Term, Term)]>;

/// What is known in an arena that keeps choices.
#[derive(Default)]
pub(crate) struct Choices {
    of: FxHashMap<Term, Choice>,
    /// Elements of arrays at constant indices.
    elements: FxHashMap<(Term, u64), Term>,
}

impl Terms {
    /// An arena that keeps choices between constants: for unrolled programs.
    pub fn with_choices() -> Self {
        let mut terms = Self::new();
        terms.choices = Some(Box::default());
        terms
    }

    /// Whether the arena keeps choices.
    pub fn keeps_choices(&self) -> bool {
        self.choices.is_some()
    }

    /// The values that a term can be; none if they are not known, or the term is a constant.
    fn choice(&self, term: Term) -> Option<Choice> {
        self.choices.as_ref()?.of.get(&term).cloned()
    }

    /// The same, where a single value is a choice, too.
    fn values(&self, term: Term) -> Option<Choice> {
        let is_value = match self.kind(term) {
            Kind::Constant(_) => true,
            Kind::Select(array, at) => {
                matches!(self.kind(*array), Kind::Variable(_)) && self.constant(*at).is_some()
            }
            _ => return self.choice(term),
        };
        is_value.then(|| -> Choice { Arc::new([(term, Self::TRUE)]) })
    }

    /// The values of two terms, of which one is a choice.
    fn two_choices(&self, a: Term, b: Term) -> Option<(Choice, Choice)> {
        let known = &self.choices.as_ref()?.of;
        if !known.contains_key(&a) && !known.contains_key(&b) {
            return None;
        }
        let (a, b) = (self.values(a)?, self.values(b)?);
        (a.len() * b.len() <= MOST_PAIRS).then_some((a, b))
    }

    /// Constants come first, by value.
    fn place(&self, value: Term) -> (bool, u64) {
        match self.constant(value) {
            Some(constant) => (false, constant),
            None => (true, value.index() as u64),
        }
    }

    /// What is each value under its condition; none if there are too many.
    fn chosen(&mut self, mut list: Vec<(Term, Term)>) -> Option<Term> {
        list.retain(|(_, condition)| *condition != Self::FALSE);
        list.sort_by_key(|(value, _)| self.place(*value));
        let mut joined: Vec<(Term, Term)> = Vec::with_capacity(list.len());
        let mut others = 0;
        for (value, condition) in list {
            match joined.last_mut() {
                Some((last, other)) if *last == value => *other = self.either(*other, condition),
                _ => {
                    others += usize::from(self.constant(value).is_none());
                    joined.push((value, condition));
                }
            }
            if joined.len() > MOST || others > MOST_OTHERS {
                return None;
            }
        }
        let (last, rest) = joined.split_last()?;
        let sort = self.sort(last.0);
        let mut term = last.0;
        for (value, condition) in rest.iter().rev() {
            let kind = match *self.kind(*condition) {
                Kind::Constant(1) => return Some(*value),
                Kind::Not(other) => Kind::Ite(other, term, *value),
                _ => Kind::Ite(*condition, *value, term),
            };
            term = self.intern(kind, sort);
        }
        if joined.len() > 1 {
            if let Some(choices) = &mut self.choices {
                choices.of.entry(term).or_insert_with(|| joined.into());
            }
        }
        Some(term)
    }

    /// One of two conditions, with what they have in common in front: so that the two sides of a
    /// branch join to what was before it.
    pub fn either(&mut self, a: Term, b: Term) -> Term {
        let (Some(of_a), Some(of_b)) = (self.conjuncts(a), self.conjuncts(b)) else { return self.or(a, b) };
        let common: Vec<Term> = of_a.iter().copied().filter(|part| of_b.contains(part)).collect();
        if common.is_empty() {
            return self.or(a, b);
        }
        let rest = |all: &[Term]| -> Vec<Term> {
            all.iter().copied().filter(|part| !common.contains(part)).collect()
        };
        let (rest_a, rest_b) = (rest(&of_a), rest(&of_b));
        let (rest_a, rest_b) = (self.all(&rest_a), self.all(&rest_b));
        let one = self.or(rest_a, rest_b);
        let common = self.all(&common);
        self.and(common, one)
    }

    /// A condition that tells one from the other where one of them holds and not both: the first
    /// without what both have in common.
    pub fn apart(&mut self, a: Term, b: Term) -> Term {
        let (Some(of_a), Some(of_b)) = (self.conjuncts(a), self.conjuncts(b)) else { return a };
        let rest: Vec<Term> = of_a.iter().copied().filter(|part| !of_b.contains(part)).collect();
        self.all(&rest)
    }

    /// The parts of a short conjunction.
    fn conjuncts(&self, term: Term) -> Option<Vec<Term>> {
        match self.kind(term) {
            Kind::And(list) if list.len() <= LONG => Some(list.to_vec()),
            Kind::And(_) => None,
            _ => Some(vec![term]),
        }
    }

    /// An operation on a choice, value by value.
    pub(crate) fn map_choice(&mut self, a: Term, apply: impl Fn(&mut Self, Term) -> Term) -> Option<Term> {
        let choice = self.choice(a)?;
        let mut list = Vec::with_capacity(choice.len());
        for (value, condition) in choice.iter() {
            list.push((apply(self, *value), *condition));
        }
        self.chosen(list)
    }

    /// An operation on two terms of which one is a choice and the other one, or a constant.
    pub(crate) fn map_choices(&mut self, op: Op, a: Term, b: Term) -> Option<Term> {
        let (of_a, of_b) = self.two_choices(a, b)?;
        let mut list = Vec::with_capacity(of_a.len() * of_b.len());
        for (x, when_x) in of_a.iter() {
            for (y, when_y) in of_b.iter() {
                let both = self.and(*when_x, *when_y);
                if both != Self::FALSE {
                    list.push((self.binary(op, *x, *y), both));
                }
            }
        }
        self.chosen(list)
    }

    /// A comparison of two terms of which one is a choice and the other one, or a constant.
    pub(crate) fn compare_choices(
        &mut self,
        a: Term,
        b: Term,
        compare: impl Fn(&mut Self, Term, Term) -> Term,
    ) -> Option<Term> {
        let (of_a, of_b) = self.two_choices(a, b)?;
        let mut yes = Vec::new();
        let mut no = Vec::new();
        for (x, when_x) in of_a.iter() {
            for (y, when_y) in of_b.iter() {
                let both = self.and(*when_x, *when_y);
                if both == Self::FALSE {
                    continue;
                }
                let holds = compare(self, *x, *y);
                if holds != Self::FALSE {
                    yes.push(self.and(both, holds));
                }
                if holds != Self::TRUE {
                    let fails = self.not(holds);
                    no.push(self.and(both, fails));
                }
            }
        }
        Some(match (yes.is_empty(), no.is_empty()) {
            (_, true) => Self::TRUE,
            (true, _) => Self::FALSE,
            // The fewer cases make the shorter formula.
            _ if yes.len() <= no.len() => self.one_of(&yes),
            _ => {
                let other = self.one_of(&no);
                self.not(other)
            }
        })
    }

    fn one_of(&mut self, conditions: &[Term]) -> Term {
        conditions.iter().copied().fold(Self::FALSE, |all, condition| self.either(all, condition))
    }

    /// A choice between two choices.
    pub(crate) fn join_choices(&mut self, condition: Term, then: Term, otherwise: Term) -> Option<Term> {
        self.choices.as_ref()?;
        let (of_then, of_other) = (self.values(then)?, self.values(otherwise)?);
        let not = self.not(condition);
        let mut list = Vec::with_capacity(of_then.len() + of_other.len());
        for (value, when) in of_then.iter() {
            let when = match of_other.iter().find(|(other, _)| other == value) {
                Some((_, other)) => self.ite(condition, *when, *other),
                None => self.and(condition, *when),
            };
            list.push((*value, when));
        }
        for (value, when) in of_other.iter() {
            if of_then.iter().all(|(other, _)| other != value) {
                list.push((*value, self.and(not, *when)));
            }
        }
        self.chosen(list)
    }

    /// A read at one of a few indices, or at a constant.
    pub(crate) fn select_choice(&mut self, array: Term, index: Term) -> Option<Term> {
        self.choices.as_ref()?;
        if let Some(at) = self.constant(index) {
            return Some(self.element(array, at, MOST_UNKNOWN));
        }
        let choice = self.choice(index)?;
        let mut value = None;
        for (at, when) in choice.iter().rev() {
            let element = match self.constant(*at) {
                Some(at) => self.element(array, at, MOST_UNKNOWN),
                None => self.select(array, *at),
            };
            value = Some(match value {
                None => element,
                Some(value) => self.ite(*when, element, value),
            });
        }
        value
    }

    /// The element of an array at a constant index.
    fn element(&mut self, array: Term, at: u64, patience: usize) -> Term {
        let Sort::Array { index: width, element } = self.sort(array) else { return array };
        let index = self.bits(at, width);
        let mut below = array;
        let mut passed = 0;
        let found = loop {
            passed += 1;
            if passed % 16 == 0 {
                let known = self.choices.as_ref().and_then(|known| known.elements.get(&(below, at)));
                if let Some(known) = known {
                    break *known;
                }
            }
            match *self.kind(below) {
                Kind::ConstArray(value) => break value,
                Kind::Store(inner, other, value) => match self.constant(other) {
                    Some(other) if other == at => break value,
                    Some(_) => below = inner,
                    None if patience == 0 => {
                        break self.intern(Kind::Select(below, index), Sort::Bits(element));
                    }
                    None => {
                        if let Some(known) = self.known_element(below, at) {
                            break known;
                        }
                        let rest = self.element(inner, at, patience - 1);
                        let here = self.eq(other, index);
                        let found = self.ite(here, value, rest);
                        self.note_element(below, at, found);
                        break found;
                    }
                },
                Kind::Ite(condition, then, otherwise) => {
                    if let Some(known) = self.known_element(below, at) {
                        break known;
                    }
                    let then = self.element(then, at, patience);
                    let otherwise = self.element(otherwise, at, patience);
                    let found = self.ite(condition, then, otherwise);
                    self.note_element(below, at, found);
                    break found;
                }
                _ => break self.intern(Kind::Select(below, index), Sort::Bits(element)),
            }
        };
        if passed > 16 {
            self.note_element(array, at, found);
        }
        found
    }

    fn known_element(&self, array: Term, at: u64) -> Option<Term> {
        self.choices.as_ref()?.elements.get(&(array, at)).copied()
    }

    fn note_element(&mut self, array: Term, at: u64, element: Term) {
        if let Some(choices) = &mut self.choices {
            choices.elements.insert((array, at), element);
        }
    }

    /// A write at one of a few indices, or at a constant.
    pub(crate) fn store_choice(&mut self, array: Term, index: Term, value: Term) -> Option<Term> {
        self.choices.as_ref()?;
        if let Some(at) = self.constant(index) {
            return Some(self.put(array, at, value));
        }
        let choice = self.choice(index)?;
        let mut after = array;
        for (at, when) in choice.iter() {
            let before = self.select(array, *at);
            let new = self.ite(*when, value, before);
            after = match self.constant(*at) {
                Some(at) => self.put(after, at, new),
                // The elements that were changed before are others, or this one is not written.
                None => {
                    let now = self.select(after, *at);
                    let new = self.ite(*when, value, now);
                    self.store(after, *at, new)
                }
            };
        }
        Some(after)
    }

    /// A write at a constant index. One to the same element that is not far behind is left out.
    fn put(&mut self, array: Term, at: u64, value: Term) -> Term {
        let sort = self.sort(array);
        let Sort::Array { index: width, .. } = sort else { return array };
        let mut passed = Vec::new();
        let mut below = array;
        let base = loop {
            match *self.kind(below) {
                Kind::Store(inner, other, old) => match self.constant(other) {
                    Some(other) if other == at && old == value => return array,
                    Some(other) if other == at => break Some(inner),
                    Some(_) if passed.len() < NEAR => {
                        passed.push((other, old));
                        below = inner;
                    }
                    _ => break None,
                },
                Kind::ConstArray(all) if all == value => return array,
                Kind::Variable(_) => {
                    let index = self.bits(at, width);
                    match *self.kind(value) {
                        Kind::Select(of, from) if of == below && from == index => return array,
                        _ => break None,
                    }
                }
                _ => break None,
            }
        };
        let mut array = array;
        if let Some(base) = base {
            array = base;
            for (other, old) in passed.into_iter().rev() {
                array = self.intern(Kind::Store(array, other, old), sort);
            }
        }
        let index = self.bits(at, width);
        self.intern(Kind::Store(array, index, value), sort)
    }

    /// Two arrays that were one some writes ago, joined element by element.
    pub(crate) fn join_arrays(&mut self, condition: Term, then: Term, otherwise: Term) -> Option<Term> {
        self.choices.as_ref()?;
        let (mut a, mut b) = (then, otherwise);
        let mut written = Vec::new();
        while a != b {
            // What a term is made of was there before it.
            let later = if a > b { &mut a } else { &mut b };
            let Kind::Store(inner, at, _) = *self.kind(*later) else { return None };
            written.push(self.constant(at)?);
            *later = inner;
            if written.len() > MOST_WRITES {
                return None;
            }
        }
        written.sort_unstable();
        written.dedup();
        let mut joined = a;
        for at in written {
            let (x, y) = (self.element(then, at, MOST_UNKNOWN), self.element(otherwise, at, MOST_UNKNOWN));
            let value = self.ite(condition, x, y);
            joined = self.put(joined, at, value);
        }
        Some(joined)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Model, Value};

    /// Numbers from a seed.
    struct Drawn(u64);

    impl Drawn {
        fn below(&mut self, limit: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % limit
        }
    }

    /// The same operations on random terms, in an arena of each kind.
    fn grow(terms: &mut Terms, drawn: &mut Drawn) -> (Vec<Term>, Vec<Term>, Vec<Term>) {
        let mut bools: Vec<Term> = (0..4).map(|i| terms.variable(&format!("c{i}"), Sort::Bool)).collect();
        let mut bits = vec![terms.variable("x", Sort::Bits(8))];
        bits.extend([0, 1, 2, 7, 200, 255].map(|value| terms.bits(value, 8)));
        let zero = terms.bits(0, 8);
        let sort = Sort::Array { index: 8, element: 8 };
        let mut arrays = vec![terms.variable("a", sort), terms.const_array(8, zero)];
        for _ in 0..60 {
            let c = bools[drawn.below(bools.len())];
            let (a, b) = (bits[drawn.below(bits.len())], bits[drawn.below(bits.len())]);
            let (m, n) = (arrays[drawn.below(arrays.len())], arrays[drawn.below(arrays.len())]);
            match drawn.below(14) {
                0..=2 => bits.push(terms.ite(c, a, b)),
                3 => bits.push(terms.add(a, b)),
                4 => bits.push(terms.binary([Op::Mul, Op::BitOr, Op::Shl, Op::URem][drawn.below(4)], a, b)),
                5 => {
                    let low = terms.extract(a, 2, 4);
                    bits.push(terms.sign_extend(low, 8));
                }
                6 => bools.push(terms.eq(a, b)),
                7 => bools.push(terms.ult(a, b)),
                8 => bools.push(terms.slt(a, b)),
                9 | 10 => bits.push(terms.select(m, a)),
                11 => arrays.push(terms.store(m, a, b)),
                12 => arrays.push(terms.ite(c, m, n)),
                _ => {
                    let other = bools[drawn.below(bools.len())];
                    bools.push(terms.either(c, other));
                }
            }
        }
        (bools, bits, arrays)
    }

    #[test]
    fn terms_have_the_values_that_they_have_without_choices() {
        for seed in 0..400 {
            let (mut plain, mut choosing) = (Terms::new(), Terms::with_choices());
            let (bools, bits, arrays) = grow(&mut plain, &mut Drawn(seed));
            let (other_bools, other_bits, other_arrays) = grow(&mut choosing, &mut Drawn(seed));
            for round in 0..6 {
                let mut drawn = Drawn(seed * 8 + round + 1);
                let values: Vec<u64> = (0..4).map(|_| drawn.below(2) as u64).collect();
                let (x, cells) = (drawn.below(256) as u64, [drawn.below(256), drawn.below(256)]);
                let model = |terms: &mut Terms| {
                    let mut model = Model::default();
                    for (i, value) in values.iter().enumerate() {
                        model.set(terms.variable(&format!("c{i}"), Sort::Bool), Value::Bits(*value));
                    }
                    model.set(terms.variable("x", Sort::Bits(8)), Value::Bits(x));
                    let entries = [(1, cells[0] as u64), (200, cells[1] as u64)].into();
                    let a = terms.variable("a", Sort::Array { index: 8, element: 8 });
                    model.set(a, Value::Array { default: 9, entries });
                    model
                };
                let (left, right) = (model(&mut plain), model(&mut choosing));
                for (a, b) in bools.iter().chain(&bits).zip(other_bools.iter().chain(&other_bits)) {
                    assert_eq!(plain.evaluate(*a, &left), choosing.evaluate(*b, &right), "seed {seed}");
                }
                for (a, b) in arrays.iter().zip(&other_arrays) {
                    let (a, b) = (plain.evaluate(*a, &left), choosing.evaluate(*b, &right));
                    assert!((0..256).all(|i| a.element(i) == b.element(i)), "seed {seed}");
                }
            }
        }
    }

    #[test]
    fn reads_and_writes_at_a_few_places_are_choices() {
        let mut t = Terms::with_choices();
        let [b, c] = ["b", "c"].map(|name| t.variable(name, Sort::Bool));
        let [four, eight, one, two] = [4, 8, 1, 2].map(|value| t.bits(value, 8));
        let zero = t.bits(0, 8);
        let empty = t.const_array(8, zero);
        let at = t.ite(b, four, eight);
        let written = t.store(empty, at, one);
        assert_eq!(t.select(written, at), one);
        let read = t.select(written, four);
        assert_eq!(t.eq(read, one), b);
        assert_eq!(t.select(written, two), zero);
        let other = t.store(empty, four, two);
        let joined = t.ite(c, written, other);
        let (read, want) = (t.select(joined, eight), t.not(b));
        let is_one = t.eq(read, one);
        assert_eq!(is_one, t.and(c, want));
    }
}
