//! Candidates for facts, from the text of the program.
//!
//! What is asked anywhere about the variables of a point, and its opposite: a guard or an
//! assumption from before that still holds; and with equality allowed, which is what a loop with
//! the guard `i < e` keeps. Ranges by the constants that a variable is compared with, orders of
//! pairs of numbers and ranges of their differences, first of those that change at the point. The set of constants that a
//! variable is ever given. These are guesses: `facts.rs` finds out which of them are inductive.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};
use wherefore_smt::{Kind, Sort, Term, Terms};

use super::elements::Shapes;
use super::facts::{Sought, width};
use super::system::System;
use crate::refinement::solver::block::{Block, atoms};
use crate::refinement::solver::graph::{Graph, Point, PointId};
use crate::symbolic::Machine;

/// Candidates at one point, at most.
const MOST: usize = 500;
/// Constants that ranges of one variable are guessed with, at most.
const MOST_CONSTANTS: usize = 10;
/// Numbers of one width that are compared with each other, at most.
const MOST_COMPARED: usize = 12;
/// Constants that ranges of differences are guessed with, at most.
const MOST_OFFSETS: usize = 4;
/// Numbers of one width that equations are sought between, at most.
const MOST_NUMBERS: usize = 14;
/// Numbers that products are made of, at most.
const MOST_FACTORS: usize = 6;
/// If more conditions could tell phases of a loop apart, none is taken.
const MOST_PHASES: usize = 6;
/// Larger sets of values are not guessed.
const MOST_VALUES: usize = 24;
/// Larger conditions are not taken.
const LARGE: usize = 60;

/// How much is guessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guesses {
    All,
    /// No orders of two variables, and no equations that hold in some phase only.
    Few,
}

/// The candidates at each point.
pub(super) struct Candidates {
    pub at: Vec<Vec<Term>>,
    /// What equations are sought between.
    pub sought: Vec<Sought>,
}

/// What the text says about variables.
struct Text {
    /// The conditions of each procedure.
    atoms: BTreeMap<u32, Vec<Term>>,
    /// What a variable is compared with or set to.
    constants: FxHashMap<Term, BTreeSet<u64>>,
    /// The constants that a variable is set to, if it is only set to constants.
    values: FxHashMap<Term, BTreeSet<u64>>,
    /// Variables that are compared as unsigned numbers.
    unsigned: FxHashSet<Term>,
    /// Variables that are computed with.
    computed: FxHashSet<Term>,
    /// What may hold of all elements of arrays.
    shapes: Shapes,
    /// Whether numbers are multiplied with each other.
    has_products: bool,
}

impl Candidates {
    pub fn new(machine: &mut Machine<'_>, graph: &Graph, system: &System, guesses: Guesses) -> Self {
        let text = Text::new(&mut machine.terms, graph);
        let mut at = vec![Vec::new(); graph.points.len()];
        let mut sought = vec![Sought::default(); graph.points.len()];
        for point in &system.cuts {
            if graph.errors.contains_key(point) || system.into[*point].is_empty() {
                continue;
            }
            let is_relevant = |variable: &Term| system.relevant.contains(variable) || graph.is_exit(*point);
            let (arrays, mut variables): (Vec<Term>, Vec<Term>) = visible(machine, graph, *point)
                .into_iter()
                .filter(is_relevant)
                .partition(|variable| machine.terms.sort(*variable).is_array());
            let changed = system.changed(*point);
            variables.sort_by_key(|variable| !changed.contains(variable));
            let is_visible: FxHashSet<Term> = variables.iter().copied().chain(arrays).collect();
            let terms = &mut machine.terms;
            at[*point] = text.candidates(terms, graph.points[*point], &variables, guesses);
            at[*point].extend(text.shapes.candidates(terms, &is_visible));
            let numbers = &mut sought[*point].numbers;
            for variable in &variables {
                if let Some(width) = width(terms.sort(*variable)).filter(|width| *width > 1) {
                    numbers.entry(width).or_default().push(*variable);
                }
            }
            for list in numbers.values_mut() {
                list.sort_by_key(|variable| !text.computed.contains(variable));
                list.truncate(MOST_NUMBERS);
            }
            if text.has_products && guesses == Guesses::All {
                let numbers = numbers.iter();
                let products = numbers.map(|(width, list)| (*width, products(terms, list)));
                sought[*point].products = products.collect();
            }
            if guesses == Guesses::All {
                sought[*point].phases = text.phases(terms, graph.points[*point], &variables);
            }
        }
        Self { at, sought }
    }
}

/// The variables that exist at a point.
fn visible(machine: &Machine<'_>, graph: &Graph, point: PointId) -> Vec<Term> {
    let Point { procedure, place } = graph.points[point];
    let scope = &graph.names.scopes[&procedure];
    let flat = &machine.flat;
    let mut open = Vec::new();
    let mut frame = place.map(|place| flat.places[place as usize].frame);
    while let Some(at) = frame {
        open.push(at);
        frame = flat.frames[at as usize].caller.map(|(caller, _)| caller);
    }
    let mut found = Vec::new();
    let named = scope.globals.iter().chain(scope.locals.iter());
    for named in named {
        // At the exit, locals are gone; what they were at entry is not.
        let is_global = (named.number as usize) < flat.program.globals.len();
        if place.is_some() || is_global {
            found.push(named.now);
        }
        found.push(named.old);
    }
    let folded = scope.folded.iter().filter(|(of, _)| open.contains(of));
    found.extend(folded.flat_map(|(_, list)| list).map(|named| named.now));
    if place.is_none() {
        found.extend(&scope.results);
    }
    let mut seen = FxHashSet::default();
    found.retain(|term| seen.insert(*term));
    found
}

impl Text {
    fn new(terms: &mut Terms, graph: &Graph) -> Self {
        let mut text = Self {
            atoms: BTreeMap::new(),
            constants: FxHashMap::default(),
            values: FxHashMap::default(),
            unsigned: FxHashSet::default(),
            computed: FxHashSet::default(),
            shapes: Shapes::default(),
            has_products: false,
        };
        let calls = graph.calls.iter().flat_map(|site| [&site.enter, &site.resume]);
        let blocks: Vec<&Block> =
            graph.blocks.iter().map(|block| &**block).chain(calls).chain([&graph.initial]).collect();
        for block in &blocks {
            let procedure = graph.points[block.from].procedure.0;
            for atom in conditions(terms, block) {
                text.atoms.entry(procedure).or_default().push(atom);
                text.compared(terms, atom);
            }
            for (name, value) in &block.updates {
                match (terms.constant(*value), terms.kind(*value)) {
                    (Some(value), _) => {
                        text.constants.entry(*name).or_default().insert(value);
                    }
                    (None, Kind::Variable(_)) => {}
                    _ => {
                        text.computed.insert(*name);
                        text.computed.extend(terms.variables(*value));
                    }
                }
            }
        }
        text.atoms.values_mut().for_each(|list| {
            list.sort_unstable();
            list.dedup();
        });
        text.values = values(terms, &blocks);
        text.shapes = Shapes::new(terms, &blocks);
        let mut parts = blocks.iter().flat_map(|block| block.guards.iter().chain(block.updates.values()));
        text.has_products = parts.any(|part| terms.has_product(*part));
        text
    }

    /// Notes what a condition compares.
    fn compared(&mut self, terms: &Terms, atom: Term) {
        let (a, b, is_unsigned) = match terms.kind(atom) {
            Kind::Eq(a, b) | Kind::SLt(a, b) => (*a, *b, false),
            Kind::ULt(a, b) => (*a, *b, true),
            _ => return,
        };
        if terms.sort(a) == Sort::Bool {
            return;
        }
        let mask = u64::MAX >> (64 - terms.width(a));
        for (side, other) in [(a, b), (b, a)] {
            let variables = terms.variables(side);
            if let Some(value) = terms.constant(other) {
                for variable in &variables {
                    if terms.sort(*variable) == terms.sort(side) {
                        let near = [value, value.wrapping_add(1) & mask, value.wrapping_sub(1) & mask];
                        self.constants.entry(*variable).or_default().extend(near);
                    }
                }
            } else {
                self.computed.extend(&variables);
            }
            if is_unsigned {
                self.unsigned.extend(&variables);
            }
        }
    }

    fn candidates(&self, terms: &mut Terms, point: Point, variables: &[Term], guesses: Guesses) -> Vec<Term> {
        let is_visible: FxHashSet<Term> = variables.iter().copied().collect();
        let mut found = Vec::new();
        for variable in variables {
            if let Some(values) = self.values.get(variable) {
                let sort = terms.sort(*variable);
                let equal = |terms: &mut Terms, value: u64| match sort {
                    Sort::Bits(width) => {
                        let value = terms.bits(value, width);
                        terms.eq(*variable, value)
                    }
                    _ if value == 1 => *variable,
                    _ => terms.not(*variable),
                };
                let equal: Vec<Term> = values.iter().map(|value| equal(terms, *value)).collect();
                found.push(terms.any(&equal));
            }
        }
        for atom in self.atoms.get(&point.procedure.0).into_iter().flatten() {
            let of = terms.variables(*atom);
            if of.iter().all(|variable| is_visible.contains(variable)) && terms.size(*atom) < LARGE {
                found.extend([*atom, terms.not(*atom)]);
                found.extend(or_equal(terms, *atom));
            }
        }
        found.truncate(MOST / 2);
        self.ranges(terms, variables, &mut found);
        if guesses == Guesses::All {
            self.orders(terms, variables, &mut found);
        }
        found.truncate(MOST);
        found
    }

    /// Conditions about numbers that are computed, if they are few: phases of a loop.
    fn phases(&self, terms: &Terms, point: Point, variables: &[Term]) -> Vec<Term> {
        let is_visible: FxHashSet<Term> = variables.iter().copied().collect();
        let mut found = Vec::new();
        for atom in self.atoms.get(&point.procedure.0).into_iter().flatten() {
            let of = terms.variables(*atom);
            let is_about = of.iter().any(|variable| self.computed.contains(variable));
            if is_about
                && of.iter().all(|variable| is_visible.contains(variable))
                && terms.size(*atom) < LARGE
            {
                found.push(*atom);
            }
        }
        if found.len() <= MOST_PHASES { found } else { Vec::new() }
    }

    /// Ranges of variables.
    fn ranges(&self, terms: &mut Terms, variables: &[Term], found: &mut Vec<Term>) {
        for variable in variables {
            let Some(width) = width(terms.sort(*variable)) else { continue };
            let known = self.constants.get(variable);
            let known = known.into_iter().flatten().copied();
            let mut constants: BTreeSet<u64> = known.take(MOST_CONSTANTS).collect();
            constants.insert(0);
            for value in constants {
                let value = terms.bits(value, width);
                found.extend([terms.sle(value, *variable), terms.sle(*variable, value)]);
                if self.unsigned.contains(variable) {
                    found.push(terms.ule(*variable, value));
                }
            }
        }
    }

    /// Orders of pairs of variables.
    fn orders(&self, terms: &mut Terms, variables: &[Term], found: &mut Vec<Term>) {
        let mut by_width: BTreeMap<u32, Vec<Term>> = BTreeMap::new();
        for variable in variables.iter().filter(|variable| self.computed.contains(variable)) {
            if let Some(width) = width(terms.sort(*variable)) {
                by_width.entry(width).or_default().push(*variable);
            }
        }
        for list in by_width.values() {
            let list = &list[..list.len().min(MOST_COMPARED)];
            for a in list {
                for b in list.iter().filter(|b| *b != a) {
                    found.push(terms.sle(*a, *b));
                    if self.unsigned.contains(a) && self.unsigned.contains(b) {
                        found.push(terms.ule(*a, *b));
                    }
                    self.differences(terms, *a, *b, found);
                }
            }
        }
    }
}

impl Text {
    /// Ranges of the difference of two variables: what was known of one of them before a loop that
    /// changes both.
    fn differences(&self, terms: &mut Terms, a: Term, b: Term, found: &mut Vec<Term>) {
        let difference = terms.sub(a, b);
        let known = self.constants.get(&a).into_iter().flatten().copied();
        for value in known.take(MOST_OFFSETS) {
            let value = terms.bits(value, terms.width(a));
            found.extend([terms.sle(value, difference), terms.sle(difference, value)]);
        }
    }
}

/// Products of the first of some numbers, which equations may be between.
fn products(terms: &mut Terms, numbers: &[Term]) -> Vec<Term> {
    let first: Vec<Term> = numbers.iter().copied().take(MOST_FACTORS).collect();
    let mut found = Vec::new();
    for (i, a) in first.iter().enumerate() {
        for b in &first[i..] {
            found.push(terms.mul(*a, *b));
        }
    }
    found
}

/// The conditions of a block: those that it is guarded by, and those that values depend on, as the
/// argument of a function that checks it.
pub(super) fn conditions(terms: &Terms, block: &Block) -> Vec<Term> {
    let mut found: BTreeSet<Term> = BTreeSet::new();
    found.extend(block.guards.iter().flat_map(|guard| atoms(terms, *guard)));
    let (mut open, mut seen) = (Vec::new(), FxHashSet::default());
    open.extend(block.updates.values().copied());
    while let Some(term) = open.pop() {
        if !seen.insert(term) {
            continue;
        }
        if let Kind::Ite(condition, ..) = terms.kind(term) {
            found.extend(atoms(terms, *condition));
        }
        terms.for_each_child(term, |child| open.push(child));
    }
    found.into_iter().collect()
}

/// A comparison of numbers of which none is a constant, with equality allowed.
fn or_equal(terms: &mut Terms, atom: Term) -> Vec<Term> {
    let (a, b) = match *terms.kind(atom) {
        Kind::Eq(a, b) | Kind::SLt(a, b) | Kind::ULt(a, b) => (a, b),
        _ => return Vec::new(),
    };
    let is_number = width(terms.sort(a)).is_some_and(|width| width > 1);
    if !is_number || terms.constant(a).is_some() || terms.constant(b).is_some() {
        return Vec::new();
    }
    match terms.kind(atom) {
        Kind::Eq(..) => vec![terms.sle(a, b), terms.sle(b, a)],
        Kind::SLt(..) => vec![terms.sle(a, b)],
        _ => vec![terms.ule(a, b)],
    }
}

/// The constants that variables are set to, of those that are only set to constants and to each
/// other. What a variable holds before it is first set is left out.
fn values(terms: &Terms, blocks: &[&Block]) -> FxHashMap<Term, BTreeSet<u64>> {
    let mut sets: FxHashMap<Term, Option<BTreeSet<u64>>> = FxHashMap::default();
    let mut copies: Vec<(Term, Term)> = Vec::new();
    for block in blocks {
        for (name, value) in &block.updates {
            let set = sets.entry(*name).or_insert_with(|| Some(BTreeSet::new()));
            match (terms.constant(*value), terms.kind(*value)) {
                (Some(value), _) => {
                    set.iter_mut().for_each(|set| {
                        set.insert(value);
                    });
                }
                (None, Kind::Variable(_)) if block.inputs.contains(value) => {}
                (None, Kind::Variable(_)) => copies.push((*name, *value)),
                _ => *set = None,
            }
        }
    }
    loop {
        let mut changed = false;
        for (name, value) in &copies {
            let from = sets.get(value).cloned().unwrap_or_else(|| Some(BTreeSet::new()));
            let set = sets.entry(*name).or_insert_with(|| Some(BTreeSet::new()));
            let before = set.as_ref().map(BTreeSet::len);
            *set = match (set.take(), from) {
                (Some(mut set), Some(from)) => {
                    set.extend(from);
                    Some(set).filter(|set| set.len() <= MOST_VALUES)
                }
                _ => None,
            };
            changed |= before != set.as_ref().map(BTreeSet::len);
        }
        if !changed {
            break;
        }
    }
    let sets = sets.into_iter().filter_map(|(name, set)| Some((name, set?)));
    sets.filter(|(_, set)| !set.is_empty() && set.len() <= MOST_VALUES).collect()
}
