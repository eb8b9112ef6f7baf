//! Which values are related: those that moves compare with each other, or compute from each other.
//! Only related values are compared by candidates, and only with constants of their class.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};
use wherefore_smt::{Kind, Sort, Term, Terms};

use super::kinds::Kinds;

/// Classes of values: variables, and cells of arrays at constant indices.
#[derive(Default)]
pub(super) struct Related {
    parents: FxHashMap<Term, Term>,
    constants: BTreeMap<Term, BTreeSet<u64>>,
}

impl Related {
    /// The classes of a program.
    pub fn new(kinds: &mut Kinds<'_>) -> Self {
        let mut related = Related::default();
        let mut compared: FxHashSet<Term> = FxHashSet::default();
        let all: BTreeSet<u32> = (0..kinds.machine.flat.program.globals.len() as u32)
            .chain(kinds.kinds.iter().flat_map(|kind| kind.variables.clone()))
            .collect();
        // A value, and what it becomes.
        let mut changes: Vec<(Term, Term)> = Vec::new();
        for step in kinds.points.iter().flat_map(|point| &point.moves) {
            comparisons(&kinds.machine.terms, step.guard, &mut compared);
            for store in std::iter::once(&step.after).chain(step.starts.iter().map(|(_, values)| values)) {
                for variable in &all {
                    let (unknown, after) = (kinds.before.get(*variable), store.get(*variable));
                    if unknown != after && after != Terms::FALSE {
                        comparisons(&kinds.machine.terms, after, &mut compared);
                        changes.push((unknown, after));
                    }
                }
            }
        }
        let terms = &mut kinds.machine.terms;
        for (unknown, after) in changes {
            match terms.sort(unknown) {
                Sort::Array { .. } => related.written(terms, unknown, after),
                _ => related.join(terms, &[unknown, after]),
            }
        }
        for term in compared {
            let mut sides = Vec::new();
            terms.for_each_child(term, |side| sides.push(side));
            related.join(terms, &sides);
        }
        related
    }

    /// Stores into an array: each cell gets its value.
    fn written(&mut self, terms: &mut Terms, array: Term, after: Term) {
        let mut work = vec![after];
        while let Some(term) = work.pop() {
            match *terms.kind(term) {
                Kind::Store(rest, index, value) => {
                    if terms.constant(index).is_some() {
                        let cell = terms.select(array, index);
                        self.join(terms, &[cell, value]);
                    }
                    work.push(rest);
                }
                Kind::Ite(_, a, b) => work.extend([a, b]),
                _ => {}
            }
        }
    }

    fn root(&self, term: Term) -> Term {
        let mut at = term;
        while let Some(parent) = self.parents.get(&at).filter(|parent| **parent != at) {
            at = *parent;
        }
        at
    }

    /// All values in some terms belong together.
    fn join(&mut self, terms: &Terms, list: &[Term]) {
        let (mut values, mut constants) = (BTreeSet::new(), BTreeSet::new());
        for term in list {
            leaves(terms, *term, &mut values, &mut constants);
        }
        let Some(first) = values.first().copied() else { return };
        for value in values {
            let (a, b) = (self.root(first), self.root(value));
            if a != b {
                self.parents.insert(b, a);
                let more = self.constants.remove(&b).unwrap_or_default();
                self.constants.entry(a).or_default().extend(more);
            }
        }
        let root = self.root(first);
        self.constants.entry(root).or_default().extend(constants);
    }

    /// Whether two values belong together.
    pub fn are_related(&self, a: Term, b: Term) -> bool {
        self.root(a) == self.root(b)
    }

    /// The constants that a value has to do with.
    pub fn constants(&self, value: Term) -> BTreeSet<u64> {
        self.constants.get(&self.root(value)).cloned().unwrap_or_default()
    }
}

/// The comparisons in a term.
fn comparisons(terms: &Terms, root: Term, found: &mut FxHashSet<Term>) {
    let mut seen: FxHashSet<Term> = FxHashSet::default();
    let mut work = vec![root];
    while let Some(term) = work.pop() {
        if !seen.insert(term) {
            continue;
        }
        if matches!(terms.kind(term), Kind::Eq(..) | Kind::ULt(..) | Kind::SLt(..)) {
            found.insert(term);
        }
        terms.for_each_child(term, |child| work.push(child));
    }
}

/// The variables, cells and constants that a value is made of; conditions inside of it are not.
fn leaves(terms: &Terms, root: Term, values: &mut BTreeSet<Term>, constants: &mut BTreeSet<u64>) {
    let mut work = vec![root];
    let mut seen: FxHashSet<Term> = FxHashSet::default();
    while let Some(term) = work.pop() {
        if !seen.insert(term) {
            continue;
        }
        match terms.kind(term) {
            Kind::Constant(value) => drop(constants.insert(*value)),
            Kind::Variable(_) => {
                if !terms.sort(term).is_array() {
                    values.insert(term);
                }
            }
            Kind::Select(array, index) if matches!(terms.kind(*array), Kind::Variable(_)) => {
                if terms.constant(*index).is_some() {
                    values.insert(term);
                }
            }
            Kind::Select(..) | Kind::Store(..) | Kind::ConstArray(_) => {}
            Kind::Ite(_, a, b) => work.extend([*a, *b]),
            _ => terms.for_each_child(term, |child| work.push(child)),
        }
    }
}
