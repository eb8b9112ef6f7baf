//! Facts about all elements of arrays.
//!
//! A loop that fills, copies or searches an array makes something true of all elements up to its
//! counter: `a[k] == 7` for `0 <= k < i`. Such a fact has a variable that no program has, its
//! *bound variable*, and is meant for all values of it. No solver for quantifiers is needed: to show
//! the fact, the bound variable is any number; where the fact is known, it is used for that same
//! number, and for the indices that the step reads or writes. That is one arbitrary but fixed index
//! with a few instances (compare C. Flanagan, S. Qadeer, *Predicate abstraction for software
//! verification*, POPL 2002, on Skolem constants). Leaving out other instances loses proofs only.
//!
//! What is guessed of an element comes from the text: what is written there, and the conditions that
//! are asked about elements, with the counter replaced by the bound variable. The ranges are between
//! constants, counters, and what counters are compared with.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};
use wherefore_smt::{Kind, Model, Sort, Term, Terms, Value};

use super::candidates::conditions;
use crate::refinement::solver::block::Block;

/// Guesses about one element, ranges, and indices of one step, at most.
const MOST_SHAPES: usize = 20;
const MOST_RANGES: usize = 14;
const MOST_INDICES: usize = 12;

/// Larger conditions are not generalised.
const LARGE: usize = 40;

/// How names of bound variables begin; no name of a program has a blank.
const BOUND: &str = "for all ";

/// The bound variable of facts about indices of a width.
fn bound(terms: &mut Terms, width: u32) -> Term {
    terms.variable(&format!("{BOUND}{width}"), Sort::Bits(width))
}

/// The bound variable of a fact, if it has one.
pub(super) fn bound_of(terms: &Terms, fact: Term) -> Option<Term> {
    let variables = terms.variables(fact).into_iter();
    variables.into_iter().find(|variable| terms.name(*variable).is_some_and(|name| name.starts_with(BOUND)))
}

/// The indices of reads and writes in some terms, with shorter numbers that they are extended from,
/// as numbers that facts about elements are used for.
pub(super) fn indices(terms: &Terms, roots: impl IntoIterator<Item = Term>) -> Vec<Term> {
    let mut found: BTreeSet<Term> = BTreeSet::new();
    let mut seen: FxHashSet<Term> = FxHashSet::default();
    let mut open: Vec<Term> = roots.into_iter().collect();
    while let Some(term) = open.pop() {
        if !seen.insert(term) {
            continue;
        }
        if let Kind::Select(_, index) | Kind::Store(_, index, _) = *terms.kind(term) {
            found.insert(index);
            found.extend(extended(terms, index));
        }
        terms.for_each_child(term, |child| open.push(child));
    }
    found.retain(|index| terms.constant(*index).is_none() && bound_of(terms, *index).is_none());
    found.into_iter().take(MOST_INDICES).collect()
}

/// The numbers that parts of a sum are extended from.
fn extended(terms: &Terms, index: Term) -> Vec<Term> {
    let (mut open, mut found) = (vec![index], Vec::new());
    while let Some(term) = open.pop() {
        match *terms.kind(term) {
            Kind::ZeroExtend(inner) | Kind::SignExtend(inner) => found.push(inner),
            Kind::Binary(..) | Kind::Neg(_) | Kind::Concat(..) | Kind::Extract { .. } => {
                terms.for_each_child(term, |child| open.push(child));
            }
            _ => {}
        }
    }
    found
}

/// What facts for all numbers say of some indices, each with the fact that it comes from.
pub(super) fn instances(terms: &mut Terms, facts: &[Term], indices: &[Term]) -> Vec<(Term, Term)> {
    let mut found = Vec::new();
    if indices.is_empty() {
        return found;
    }
    for fact in facts {
        let Some(bound) = bound_of(terms, *fact) else { continue };
        for index in indices {
            if terms.sort(*index) != terms.sort(bound) {
                continue;
            }
            let instance = terms.substitute(*fact, &FxHashMap::from_iter([(bound, *index)]));
            if instance != Terms::TRUE {
                found.push((instance, *fact));
            }
        }
    }
    found
}

/// Whether facts hold in a state; one with a bound variable for some numbers that it may stand for.
pub(super) fn hold(terms: &Terms, facts: &[Term], state: &Model) -> Vec<bool> {
    let values = terms.evaluate_all(facts, state);
    let mut holds: Vec<bool> = values.iter().map(|value| *value == Value::Bits(1)).collect();
    let mut of_bound: BTreeMap<Term, Vec<usize>> = BTreeMap::new();
    for (i, fact) in facts.iter().enumerate() {
        if let Some(bound) = bound_of(terms, *fact) {
            of_bound.entry(bound).or_default().push(i);
        }
    }
    for (bound, places) in of_bound {
        let width = terms.width(bound);
        let mut numbers: BTreeSet<u64> = (0..4).collect();
        for (variable, value) in state.iter() {
            if let (Sort::Bits(own), Some(value)) = (terms.sort(variable), value.bits()) {
                if own == width && value < 1 << 20 && numbers.len() < 16 {
                    numbers.extend([value, value.saturating_sub(1)]);
                }
            }
        }
        let list: Vec<Term> = places.iter().map(|place| facts[*place]).collect();
        for number in numbers {
            let mut state = state.clone();
            state.set(bound, Value::Bits(number & (u64::MAX >> (64 - width))));
            for (place, value) in places.iter().zip(terms.evaluate_all(&list, &state)) {
                holds[*place] &= value == Value::Bits(1);
            }
        }
    }
    holds
}

/// What the text of a program suggests about elements of its arrays.
#[derive(Default)]
pub(super) struct Shapes {
    /// Conditions with a bound variable, without their range.
    shapes: Vec<Term>,
    /// The variables that count, by width; they were replaced by bound variables.
    counters: BTreeMap<u32, BTreeSet<Term>>,
    /// What counters are compared with or set to.
    limits: BTreeMap<u32, BTreeSet<Term>>,
    /// Constants that counters are set to.
    first: BTreeMap<u32, BTreeSet<u64>>,
}

impl Shapes {
    pub fn new(terms: &mut Terms, blocks: &[&Block]) -> Self {
        let mut shapes = Self::default();
        let changed: FxHashSet<Term> = blocks
            .iter()
            .flat_map(|block| &block.updates)
            .filter(|(name, value)| name != value)
            .map(|(name, _)| *name)
            .collect();
        let mut found: BTreeSet<Term> = BTreeSet::new();
        for block in blocks {
            for atom in conditions(terms, block) {
                for shape in shapes.general(terms, atom, &changed) {
                    let not = terms.not(shape);
                    found.extend([shape, not]);
                }
            }
            for value in block.updates.values() {
                for (array, index, element) in writes(terms, *value) {
                    if terms.size(element) > LARGE {
                        continue;
                    }
                    let before = base(terms, array);
                    let read = terms.select(before, index);
                    // The element as a variable: the write itself must not be looked through.
                    let shape = terms.eq(read, element);
                    found.extend(shapes.general(terms, shape, &changed));
                }
            }
        }
        found.retain(|shape| terms.constant(*shape).is_none());
        shapes.shapes = found.into_iter().collect();
        if !shapes.shapes.is_empty() {
            shapes.note_limits(terms, blocks);
        }
        shapes
    }

    /// A condition about elements, with one of the variables of their indices as a bound variable.
    fn general(&mut self, terms: &mut Terms, condition: Term, changed: &FxHashSet<Term>) -> Vec<Term> {
        if terms.size(condition) > LARGE {
            return Vec::new();
        }
        let mut counters: BTreeSet<Term> = BTreeSet::new();
        let mut open = vec![condition];
        while let Some(term) = open.pop() {
            if let Kind::Select(_, index) = *terms.kind(term) {
                let variables = terms.variables(index).into_iter();
                counters.extend(variables.filter(|variable| {
                    changed.contains(variable)
                        && matches!(terms.sort(*variable), Sort::Bits(width) if width >= 8)
                }));
            }
            terms.for_each_child(term, |child| open.push(child));
        }
        let mut found = Vec::new();
        for counter in counters.into_iter().take(3) {
            let width = terms.width(counter);
            let any = bound(terms, width);
            self.counters.entry(width).or_default().insert(counter);
            found.push(terms.substitute(condition, &FxHashMap::from_iter([(counter, any)])));
        }
        found
    }

    /// Notes what counters are compared with, and the constants that they are set to.
    fn note_limits(&mut self, terms: &Terms, blocks: &[&Block]) {
        for block in blocks {
            for atom in conditions(terms, block) {
                let (Kind::Eq(a, b) | Kind::SLt(a, b) | Kind::ULt(a, b)) = *terms.kind(atom) else {
                    continue;
                };
                for (side, other) in [(a, b), (b, a)] {
                    let Sort::Bits(width) = terms.sort(side) else { continue };
                    let is_limit = matches!(terms.kind(other), Kind::Variable(_) | Kind::Constant(_));
                    if is_limit && self.counters.get(&width).is_some_and(|list| list.contains(&side)) {
                        self.limits.entry(width).or_default().insert(other);
                    }
                }
            }
            for (name, value) in &block.updates {
                let Sort::Bits(width) = terms.sort(*name) else { continue };
                if let Some(value) = terms.constant(*value) {
                    if self.counters.get(&width).is_some_and(|list| list.contains(name)) {
                        self.first.entry(width).or_default().insert(value);
                    }
                }
            }
        }
    }

    /// Facts to guess at a point where some variables are visible.
    pub fn candidates(&self, terms: &mut Terms, visible: &FxHashSet<Term>) -> Vec<Term> {
        let mut ranges: BTreeMap<u32, Vec<Term>> = BTreeMap::new();
        let mut found = Vec::new();
        let mut count = 0;
        for shape in &self.shapes {
            let Some(bound) = bound_of(terms, *shape) else { continue };
            let of = terms.variables(*shape);
            if count >= MOST_SHAPES || !of.iter().all(|name| *name == bound || visible.contains(name)) {
                continue;
            }
            count += 1;
            let width = terms.width(bound);
            let ranges = ranges.entry(width).or_insert_with(|| self.ranges(terms, bound, visible));
            found.extend(ranges.iter().map(|range| terms.implies(*range, *shape)));
        }
        found
    }

    /// Ranges of a bound variable: from a constant up to a limit or a counter, and from a counter on.
    fn ranges(&self, terms: &mut Terms, bound: Term, visible: &FxHashSet<Term>) -> Vec<Term> {
        let width = terms.width(bound);
        let is_visible =
            |terms: &Terms, term: &Term| terms.constant(*term).is_some() || visible.contains(term);
        let counters = self.counters.get(&width).into_iter().flatten().copied();
        let counters: Vec<Term> = counters.filter(|term| is_visible(terms, term)).take(4).collect();
        let limits = self.limits.get(&width).into_iter().flatten().copied();
        let limits: Vec<Term> = limits
            .filter(|term| is_visible(terms, term) && !counters.contains(term))
            .filter(|term| terms.constant(*term) != Some(0))
            .take(3)
            .collect();
        let zero = terms.bits(0, width);
        let mut from: BTreeSet<u64> = BTreeSet::from([0]);
        from.extend(self.first.get(&width).into_iter().flatten().filter(|value| **value <= 8).take(2));
        let mut found = Vec::new();
        for low in from {
            let low = terms.bits(low, width);
            let at_least = terms.sle(low, bound);
            for high in counters.iter().chain(&limits) {
                let below = terms.slt(bound, *high);
                found.push(terms.and(at_least, below));
            }
        }
        let at_least = terms.sle(zero, bound);
        for counter in &counters {
            for limit in &limits {
                let (from, behind) = (terms.sle(*counter, bound), terms.slt(*counter, bound));
                let below = terms.slt(bound, *limit);
                found.push(terms.all(&[at_least, from, below]));
                found.push(terms.all(&[at_least, behind, below]));
            }
        }
        found.truncate(MOST_RANGES);
        found
    }
}

/// The array that others are made of by writes and choices.
fn base(terms: &Terms, array: Term) -> Term {
    let mut array = array;
    while let Kind::Store(inner, ..) | Kind::Ite(_, inner, _) = *terms.kind(array) {
        array = inner;
    }
    array
}

/// The writes that a value of an array consists of: the array, the index and the element of each.
fn writes(terms: &Terms, value: Term) -> Vec<(Term, Term, Term)> {
    let (mut open, mut found, mut seen) = (vec![value], Vec::new(), FxHashSet::default());
    while let Some(term) = open.pop() {
        if !seen.insert(term) {
            continue;
        }
        match *terms.kind(term) {
            Kind::Store(inner, index, element) => {
                found.push((inner, index, element));
                open.push(inner);
            }
            Kind::Ite(_, then, otherwise) if terms.sort(term).is_array() => open.extend([then, otherwise]),
            _ => {}
        }
    }
    found
}
