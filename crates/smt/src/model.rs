//! Models: values of variables, and the value of every term under them.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::sort::{mask, signed};
use crate::terms::{Kind, Term, Terms};

/// The value of a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A bit-vector, or a truth value as 0 or 1.
    Bits(u64),
    /// An array: an element everywhere, but for some indices.
    Array {
        /// The element at every index that is not listed.
        default: u64,
        /// The elements that differ from the default.
        entries: BTreeMap<u64, u64>,
    },
}

impl Value {
    /// The bit-vector, or a truth value as 0 or 1; none for an array.
    pub fn bits(&self) -> Option<u64> {
        match self {
            Value::Bits(value) => Some(*value),
            Value::Array { .. } => None,
        }
    }

    /// The element at an index; none if this is not an array.
    pub fn element(&self, index: u64) -> Option<u64> {
        match self {
            Value::Bits(_) => None,
            Value::Array { default, entries } => Some(entries.get(&index).copied().unwrap_or(*default)),
        }
    }
}

/// Values of variables. A variable that is not listed is 0, or the array of zeros.
///
/// ```
/// use wherefore_smt::{Model, Sort, Terms, Value};
///
/// let mut terms = Terms::new();
/// let [x, y] = ["x", "y"].map(|name| terms.variable(name, Sort::Bits(8)));
/// let model = Model::from_iter([(x, Value::Bits(250))]);
/// let (sum, less) = (terms.add(x, x), terms.ult(y, x));
/// assert_eq!(terms.evaluate(sum, &model), Value::Bits(244));
/// assert!(terms.holds(less, &model));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    values: BTreeMap<Term, Value>,
}

impl FromIterator<(Term, Value)> for Model {
    fn from_iter<I: IntoIterator<Item = (Term, Value)>>(values: I) -> Self {
        Self { values: values.into_iter().collect() }
    }
}

impl Model {
    /// The value of a variable, if it is listed.
    pub fn get(&self, variable: Term) -> Option<&Value> {
        self.values.get(&variable)
    }

    /// Sets the value of a variable.
    pub fn set(&mut self, variable: Term, value: Value) {
        self.values.insert(variable, value);
    }

    /// Sets one element of an array variable.
    pub(crate) fn set_element(&mut self, array: Term, index: u64, element: u64) {
        let empty = Value::Array { default: 0, entries: BTreeMap::new() };
        if let Value::Array { entries, .. } = self.values.entry(array).or_insert(empty) {
            entries.insert(index, element);
        }
    }

    /// All listed variables, in the order in which they were made.
    pub fn iter(&self) -> impl Iterator<Item = (Term, &Value)> {
        self.values.iter().map(|(term, value)| (*term, value))
    }
}

/// Where following a read down an array has ended.
pub(crate) enum Found {
    /// At a written or constant element.
    Element(Term),
    /// At a variable.
    Variable(Term),
}

impl Terms {
    /// Follows a read at `index` down to what it reads. `value` knows the values of the indices and
    /// conditions on the way; `pass` hears of every node and whether the index was the one written,
    /// or the condition true.
    pub(crate) fn follow(
        &self,
        array: Term,
        index: u64,
        value: impl Fn(Term) -> u64,
        mut pass: impl FnMut(Term, bool),
    ) -> Found {
        let mut array = array;
        loop {
            match *self.kind(array) {
                Kind::Store(inner, at, element) => {
                    let hit = value(at) == index;
                    pass(array, hit);
                    if hit {
                        return Found::Element(element);
                    }
                    array = inner;
                }
                Kind::Ite(condition, then, otherwise) => {
                    let holds = value(condition) == 1;
                    pass(array, holds);
                    array = if holds { then } else { otherwise };
                }
                Kind::ConstArray(element) => return Found::Element(element),
                _ => return Found::Variable(array),
            }
        }
    }

    /// The values of many terms under one model: what they share is looked at once.
    pub fn evaluate_all(&self, roots: &[Term], model: &Model) -> Vec<Value> {
        let mut known = FxHashMap::default();
        self.evaluate_with(roots, model, &mut known);
        let value = |term: &Term| match self.sort(*term).is_array() {
            false => Value::Bits(known[term]),
            true => self.evaluate_array(*term, model, &known),
        };
        roots.iter().map(value).collect()
    }

    /// The value of a term under a model.
    pub fn evaluate(&self, term: Term, model: &Model) -> Value {
        let mut known = FxHashMap::default();
        self.evaluate_with(&[term], model, &mut known);
        match self.sort(term).is_array() {
            false => Value::Bits(known[&term]),
            true => self.evaluate_array(term, model, &known),
        }
    }

    /// The values of all single-valued terms below some terms, and their own, under a model.
    pub fn values_below(&self, roots: &[Term], model: &Model) -> FxHashMap<Term, u64> {
        let mut known = FxHashMap::default();
        self.evaluate_with(roots, model, &mut known);
        known
    }

    /// Whether a truth value holds under a model.
    pub fn holds(&self, term: Term, model: &Model) -> bool {
        self.evaluate(term, model) == Value::Bits(1)
    }

    /// Adds the values of all single-valued subterms of the roots to `known`.
    pub(crate) fn evaluate_with(&self, roots: &[Term], model: &Model, known: &mut FxHashMap<Term, u64>) {
        let mut order = Vec::new();
        self.postorder(roots, |t| !known.contains_key(&t), |t| order.push(t));
        for term in order {
            if !self.sort(term).is_array() {
                let value = self.step(term, model, known);
                known.insert(term, value);
            }
        }
    }

    /// The value of a single-valued term whose subterms are known.
    fn step(&self, term: Term, model: &Model, known: &FxHashMap<Term, u64>) -> u64 {
        let width = self.width(term);
        let of = |t: &Term| known[t];
        match self.kind(term) {
            Kind::Constant(value) => *value,
            Kind::Variable(_) => model.get(term).and_then(Value::bits).unwrap_or(0) & mask(width),
            Kind::Not(a) => 1 - of(a),
            Kind::And(list) => u64::from(list.iter().all(|t| of(t) == 1)),
            Kind::Or(list) => u64::from(list.iter().any(|t| of(t) == 1)),
            Kind::Eq(a, b) => u64::from(of(a) == of(b)),
            Kind::ULt(a, b) => u64::from(of(a) < of(b)),
            Kind::SLt(a, b) => {
                let width = self.width(*a);
                u64::from(signed(of(a), width) < signed(of(b), width))
            }
            Kind::Ite(c, a, b) => {
                if of(c) == 1 {
                    of(a)
                } else {
                    of(b)
                }
            }
            Kind::Neg(a) => of(a).wrapping_neg() & mask(width),
            Kind::BitNot(a) => !of(a) & mask(width),
            Kind::Binary(op, a, b) => op.apply(of(a), of(b), width),
            Kind::Float(op, list) => op.apply(&list.iter().map(of).collect::<Vec<u64>>()),
            Kind::Extract { value, low } => (of(value) >> low) & mask(width),
            Kind::Concat(a, b) => (of(a) << self.width(*b)) | of(b),
            Kind::ZeroExtend(a) => of(a),
            Kind::SignExtend(a) => signed(of(a), self.width(*a)) as u64 & mask(width),
            Kind::Select(array, index) => {
                let index = of(index);
                match self.follow(*array, index, |t| known[&t], |_, _| {}) {
                    Found::Element(element) => known[&element],
                    Found::Variable(variable) => {
                        model.get(variable).and_then(|array| array.element(index)).unwrap_or(0) & mask(width)
                    }
                }
            }
            Kind::Store(..) | Kind::ConstArray(_) => unreachable!("arrays have no single value"),
        }
    }

    fn evaluate_array(&self, term: Term, model: &Model, known: &FxHashMap<Term, u64>) -> Value {
        let mut written = BTreeMap::new();
        let mut array = term;
        let (default, mut entries) = loop {
            match *self.kind(array) {
                Kind::Store(inner, index, value) => {
                    written.entry(known[&index]).or_insert(known[&value]);
                    array = inner;
                }
                Kind::Ite(c, a, b) => array = if known[&c] == 1 { a } else { b },
                Kind::ConstArray(value) => break (known[&value], BTreeMap::new()),
                _ => match model.get(array) {
                    Some(Value::Array { default, entries }) => break (*default, entries.clone()),
                    _ => break (0, BTreeMap::new()),
                },
            }
        };
        entries.append(&mut written);
        entries.retain(|_, element| *element != default);
        Value::Array { default, entries }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sort;

    #[test]
    fn arrays_have_values() {
        let mut t = Terms::new();
        let a = t.variable("a", Sort::Array { index: 4, element: 8 });
        let [i, v] = [("i", 4), ("v", 8)].map(|(name, width)| t.variable(name, Sort::Bits(width)));
        let (written, seven) = (t.store(a, i, v), t.bits(7, 4));
        let read = t.select(written, seven);
        let mut model = Model::from_iter([(i, Value::Bits(7)), (v, Value::Bits(9))]);
        model.set_element(a, 3, 4);
        assert_eq!(t.evaluate(read, &model), Value::Bits(9));
        let entries = BTreeMap::from([(3, 4), (7, 9)]);
        assert_eq!(t.evaluate(written, &model), Value::Array { default: 0, entries });
        model.set(i, Value::Bits(8));
        assert_eq!(t.evaluate(read, &model), Value::Bits(0));
    }
}
