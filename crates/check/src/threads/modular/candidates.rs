//! The candidates of invariants, and what of them is worth telling a solver.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;
use wherefore_smt::{Kind, Sort, Term, Terms};

use super::pairs::Pairs;
use super::related::Related;

/// Constants below this, and their negatives, are numbers.
const SMALL: u64 = 1 << 14;

/// A value in a role, and what it is the value of.
struct Value {
    of: Term,
    term: Term,
}

impl Pairs<'_, '_> {
    /// Comparisons of what is shared and of the variables of one or two threads with each other and
    /// with constants, where moves have to do with both.
    pub fn find_candidates(&mut self) {
        let program = self.kinds.machine.flat.program;
        let related = Related::new(self.kinds);
        let mut shared: Vec<Value> = Vec::new();
        for (i, variable) in program.globals.iter().enumerate() {
            if variable.shared && !variable.ty.is_memory() && variable.ty.index_count() == 0 {
                let of = self.kinds.before.get(i as u32);
                shared.push(Value { of, term: of });
            }
        }
        shared.extend(self.cells().into_iter().map(|of| Value { of, term: of }));
        let count = self.kinds.kinds.len();
        for a in 0..count {
            let mine = self.own(a, 0);
            let mut list = Vec::new();
            self.with_constants(&shared, &related, &mut list);
            self.with_constants(&mine, &related, &mut list);
            self.compared(&shared, &shared, &related, &mut list);
            self.compared(&mine, &shared, &related, &mut list);
            self.compared(&mine, &mine, &related, &mut list);
            self.candidates.insert((a, None), distinct(&list));
            for b in 0..count {
                let theirs = self.own(b, 1);
                let mut both = list.clone();
                self.with_constants(&theirs, &related, &mut both);
                self.compared(&theirs, &shared, &related, &mut both);
                self.compared(&theirs, &theirs, &related, &mut both);
                self.differ(&mine, &theirs, &related, &mut both);
                self.candidates.insert((a, Some(b)), distinct(&both));
            }
        }
    }

    /// Cells of memory and arrays that moves touch at constant indices.
    fn cells(&mut self) -> Vec<Term> {
        let program = self.kinds.machine.flat.program;
        let mut arrays: BTreeMap<Term, BTreeSet<u64>> = BTreeMap::new();
        let globals: BTreeSet<Term> = (0..program.globals.len() as u32)
            .filter(|i| {
                program.globals[*i as usize].ty.index_count() > 0
                    || program.globals[*i as usize].ty.is_memory()
            })
            .map(|i| self.kinds.before.get(i))
            .collect();
        let mut roots = Vec::new();
        for point in &self.kinds.points {
            for step in &point.moves {
                roots.push(step.guard);
                roots.extend((0..program.globals.len() as u32).map(|i| step.after.get(i)));
            }
        }
        let terms = &self.kinds.machine.terms;
        let mut seen: BTreeSet<Term> = BTreeSet::new();
        let mut work = roots;
        while let Some(term) = work.pop() {
            if !seen.insert(term) {
                continue;
            }
            let mut children = Vec::new();
            terms.for_each_child(term, |child| children.push(child));
            if let [array, index, ..] = children[..] {
                if let (true, Some(index)) = (globals.contains(&array), terms.constant(index)) {
                    arrays.entry(array).or_default().insert(index);
                }
            }
            work.extend(children);
        }
        let mut cells = Vec::new();
        for (array, indices) in arrays {
            for index in indices.into_iter().take(24) {
                let Sort::Array { index: width, .. } = self.kinds.machine.terms.sort(array) else { continue };
                let index = self.kinds.machine.terms.bits(index, width);
                cells.push(self.kinds.machine.terms.select(array, index));
            }
        }
        cells
    }

    /// The variables of a kind in a role that are single values.
    fn own(&mut self, kind: usize, role: usize) -> Vec<Value> {
        let variables = self.kinds.kinds[kind].variables.clone();
        let mut found = Vec::new();
        for variable in variables {
            let of = self.kinds.before.get(variable);
            let terms = &self.kinds.machine.terms;
            if !terms.sort(of).is_array() && terms.constant(of).is_none() {
                let term = self.as_role(of, role);
                found.push(Value { of, term });
            }
        }
        found
    }

    fn with_constants(&mut self, values: &[Value], related: &Related, list: &mut Vec<Term>) {
        for value in values {
            let terms = &mut self.kinds.machine.terms;
            if terms.sort(value.term) == Sort::Bool {
                list.extend([value.term, terms.not(value.term)]);
                continue;
            }
            let width = terms.width(value.term);
            let largest = u64::MAX >> (64 - width);
            let constants = related.constants(value.of).into_iter().chain([0]);
            for number in constants.filter(|number| *number <= largest).take(24) {
                let constant = terms.bits(number, width);
                let same = terms.eq(value.term, constant);
                list.push(same);
                // Large constants are most often addresses: there is no order on them.
                if number > SMALL && largest - number > SMALL {
                    continue;
                }
                list.push(terms.not(same));
                list.extend([terms.sle(constant, value.term), terms.sle(value.term, constant)]);
            }
        }
    }

    fn compared(&mut self, a: &[Value], b: &[Value], related: &Related, list: &mut Vec<Term>) {
        for x in a {
            for y in b {
                let terms = &mut self.kinds.machine.terms;
                let is_number = terms.sort(x.term) == terms.sort(y.term) && terms.sort(x.term) != Sort::Bool;
                if x.term == y.term || !is_number || !related.are_related(x.of, y.of) {
                    continue;
                }
                let (x, y) = (x.term, y.term);
                let same = terms.eq(x, y);
                list.extend([same, terms.not(same)]);
                list.extend([terms.ule(x, y), terms.ule(y, x), terms.sle(x, y), terms.sle(y, x)]);
            }
        }
    }

    fn differ(&mut self, a: &[Value], b: &[Value], related: &Related, list: &mut Vec<Term>) {
        for x in a {
            for y in b {
                let terms = &mut self.kinds.machine.terms;
                let is_number = terms.sort(x.term) == terms.sort(y.term) && terms.sort(x.term) != Sort::Bool;
                if is_number && related.are_related(x.of, y.of) {
                    let same = terms.eq(x.term, y.term);
                    list.push(terms.not(same));
                }
            }
        }
    }
}

/// Candidates that say something, each once.
fn distinct(list: &[Term]) -> Vec<Term> {
    let kept = list.iter().copied().filter(|term| *term != Terms::TRUE && *term != Terms::FALSE);
    kept.collect::<BTreeSet<Term>>().into_iter().collect()
}

/// What is known without what follows from an equality of the same terms.
pub(super) fn strongest(terms: &Terms, list: &[Term], known: &BTreeSet<usize>) -> Vec<usize> {
    let sides = |term: Term| {
        let mut sides = Vec::new();
        terms.for_each_child(term, |child| sides.push(child));
        sides
    };
    // Terms that are equal to a constant, and pairs of equal terms.
    let (mut fixed, mut equal) = (FxHashSet::default(), FxHashSet::default());
    for id in known {
        if let (Kind::Eq(..), [a, b]) = (terms.kind(list[*id]), &sides(list[*id])[..]) {
            let is_constant = |term: Term| terms.constant(term).is_some();
            match (is_constant(*a), is_constant(*b)) {
                (true, false) => drop(fixed.insert(*b)),
                (false, true) => drop(fixed.insert(*a)),
                _ => drop(equal.insert((*a.min(b), *a.max(b)))),
            }
        }
    }
    let follows = |term: Term| {
        let inner = match terms.kind(term) {
            Kind::Not(inner) => *inner,
            Kind::Eq(..) => return false,
            _ => term,
        };
        let sides = sides(inner);
        let [a, b] = sides[..] else { return false };
        let is_known = |side: Term| terms.constant(side).is_some() || fixed.contains(&side);
        is_known(a) && is_known(b) || equal.contains(&(a.min(b), a.max(b)))
    };
    known.iter().copied().filter(|id| !follows(list[*id])).collect()
}
