//! From one model of a formula to a conjunction of conditions that implies it.
//!
//! A model of "this step leads to that cube" is one state. The conditions that it satisfies, on the
//! way through the formula that it takes, are a set of states, in the words of the program: of a
//! disjunction one part that holds, of a choice the side that is taken, of a read behind a write
//! whether it is the same cell. Inputs are what they are in the model. (Lifting as in IC3; for
//! terms compare N. Bjørner, A. Gurfinkel, *Property directed polyhedral abstraction*, VMCAI 2015,
//! on implicants.)

use rustc_hash::{FxHashMap, FxHashSet};
use wherefore_smt::{Kind, Model, Sort, Term, Terms};

/// Conditions that hold in a model, and together imply formulas that hold in it. `is_input` says
/// which variables are replaced by their values.
pub(super) fn lift(
    terms: &mut Terms,
    formulas: &[Term],
    model: &Model,
    is_input: &dyn Fn(Term) -> bool,
) -> Vec<Term> {
    let values = terms.values_below(formulas, model);
    let mut lifting = Lifting {
        terms,
        model,
        values,
        is_input,
        done: FxHashMap::default(),
        needed: FxHashSet::default(),
        found: Vec::new(),
    };
    for formula in formulas {
        lifting.need(*formula);
    }
    let mut found = lifting.found;
    found.sort_unstable();
    found.dedup();
    found
}

struct Lifting<'l> {
    terms: &'l mut Terms,
    model: &'l Model,
    values: FxHashMap<Term, u64>,
    is_input: &'l dyn Fn(Term) -> bool,
    /// Terms with choices taken and inputs replaced.
    done: FxHashMap<Term, Term>,
    /// Conditions that have been dealt with.
    needed: FxHashSet<Term>,
    found: Vec<Term>,
}

impl Lifting<'_> {
    fn value(&mut self, term: Term) -> u64 {
        if let Some(value) = self.values.get(&term) {
            return *value;
        }
        let more = self.terms.values_below(&[term], self.model);
        let value = more.get(&term).copied().unwrap_or(0);
        self.values.extend(more);
        value
    }

    /// The truth value of a condition must stay what it is.
    fn need(&mut self, condition: Term) {
        let mut open = vec![condition];
        while let Some(condition) = open.pop() {
            if !self.needed.insert(condition) {
                continue;
            }
            let holds = self.value(condition) == 1;
            match self.terms.kind(condition).clone() {
                Kind::Constant(_) => {}
                Kind::Not(inner) => open.push(inner),
                Kind::And(list) if holds => open.extend(list.iter().copied()),
                Kind::Or(list) if !holds => open.extend(list.iter().copied()),
                // One part decides: best one that has been needed before, else the smallest.
                Kind::And(list) | Kind::Or(list) => {
                    let decides: Vec<Term> =
                        list.iter().copied().filter(|part| (self.value(*part) == 1) == holds).collect();
                    let seen = decides.iter().copied().find(|part| self.needed.contains(part));
                    if seen.is_none() {
                        let smallest = decides.into_iter().min_by_key(|part| self.terms.size(*part));
                        open.extend(smallest);
                    }
                }
                Kind::Ite(choice, then, otherwise) => {
                    open.push(choice);
                    open.push(if self.value(choice) == 1 { then } else { otherwise });
                }
                Kind::Eq(a, b) if self.terms.sort(a) == Sort::Bool => open.extend([a, b]),
                _ => {
                    let plain = self.resolve(condition);
                    let literal = if holds { plain } else { self.terms.not(plain) };
                    if literal != Terms::TRUE {
                        self.found.push(literal);
                    }
                }
            }
        }
    }

    /// A term without choices, where they are as in the model.
    fn resolve(&mut self, term: Term) -> Term {
        // Children first, without recursion: terms can be deep.
        let mut open = vec![(term, false)];
        while let Some((at, is_ready)) = open.pop() {
            if self.done.contains_key(&at) {
                continue;
            }
            let kind = self.terms.kind(at).clone();
            if let Kind::Variable(_) = kind {
                let plain = if (self.is_input)(at) { self.constant(at) } else { at };
                self.done.insert(at, plain);
                continue;
            }
            // Truth values inside of numbers are conditions of their own.
            if at != term && self.terms.sort(at) == Sort::Bool {
                self.need(at);
                let value = self.value(at) == 1;
                let value = self.terms.bool(value);
                self.done.insert(at, value);
                continue;
            }
            if let Kind::Ite(choice, then, otherwise) = kind {
                let taken = if self.value(choice) == 1 { then } else { otherwise };
                if is_ready {
                    let plain = self.done[&taken];
                    self.done.insert(at, plain);
                } else {
                    self.need(choice);
                    open.extend([(at, true), (taken, false)]);
                }
                continue;
            }
            if !is_ready {
                open.push((at, true));
                self.terms.for_each_child(at, |child| open.push((child, false)));
                continue;
            }
            let mut children: FxHashMap<Term, Term> = FxHashMap::default();
            self.terms.for_each_child(at, |child| {
                children.insert(child, self.done[&child]);
            });
            let rebuilt = self.terms.substitute(at, &children);
            let plain = self.read(rebuilt);
            self.done.insert(at, plain);
        }
        self.done[&term]
    }

    /// A read behind writes: of the cell that it reads in the model.
    fn read(&mut self, term: Term) -> Term {
        let mut term = term;
        while let Kind::Select(array, index) = *self.terms.kind(term) {
            let Kind::Store(inner, written, value) = *self.terms.kind(array) else { break };
            let same = self.terms.eq(index, written);
            self.need(same);
            term = if self.value(same) == 1 { value } else { self.terms.select(inner, index) };
        }
        term
    }

    /// The value of an input; arrays stay what they are.
    fn constant(&mut self, input: Term) -> Term {
        match self.terms.sort(input) {
            Sort::Bool => {
                let value = self.value(input) == 1;
                self.terms.bool(value)
            }
            Sort::Bits(width) => {
                let value = self.value(input);
                self.terms.bits(value, width)
            }
            Sort::Array { .. } => input,
        }
    }
}
