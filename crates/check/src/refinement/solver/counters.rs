//! What loops count: guesses at invariants, for when the reasons of counterexamples go on as a
//! series.
//!
//! A variable that a loop changes by multiples of a power of two keeps its remainder by it. Two of
//! them that change together keep a linear combination. And what a loop asks about a variable tells
//! apart its phases. These are guesses: they are tracked, and the abstraction finds out whether
//! they hold.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use wherefore_program::Graph;
use wherefore_smt::{Kind, Op, Sort, Term, Terms};

use super::block::{Block, atoms};
use super::graph::PointId;

/// More conditions on a variable than this are not guessed with: it is then no counter, but a
/// state.
const MOST_CONDITIONS: usize = 6;

/// More pairs of a counter with others are not guessed.
const MOST_PAIRS: usize = 4;

/// The loops of a program: which blocks can be repeated together.
pub(crate) struct Loops {
    /// The strongly connected part of each point.
    part: Vec<usize>,
    /// The blocks within each part.
    blocks: Vec<Vec<usize>>,
}

/// By how much some blocks change a variable.
type Steps = BTreeMap<usize, u64>;

impl Loops {
    /// The loops of a graph of blocks.
    pub fn new(points: usize, blocks: &[&Block]) -> Self {
        let edges = blocks.iter().map(|block| (block.from as u32, block.to as u32));
        let components = Graph::new(points, edges).components();
        let mut part = vec![0; points];
        for (number, component) in components.iter().enumerate() {
            component.iter().for_each(|node| part[*node as usize] = number);
        }
        let mut within = vec![Vec::new(); components.len()];
        for (at, block) in blocks.iter().enumerate() {
            if part[block.from] == part[block.to] {
                within[part[block.from]].push(at);
            }
        }
        Self { part, blocks: within }
    }

    /// Guesses at a point about some variables; `values` are what variables hold there on some
    /// path.
    pub fn guesses(
        &self,
        terms: &mut Terms,
        blocks: &[&Block],
        point: PointId,
        variables: &[Term],
        values: &FxHashMap<Term, Term>,
    ) -> Vec<Term> {
        let within: Vec<(usize, &Block)> =
            self.blocks[self.part[point]].iter().map(|at| (*at, blocks[*at])).collect();
        let mut guesses = conditions(terms, &within, variables);
        let counters = counters(terms, &within);
        for (counter, steps) in counters.iter().filter(|(counter, _)| variables.contains(counter)) {
            guesses.extend(remainder(terms, *counter, steps, values));
            let others = counters.iter().filter(|(other, _)| other != counter);
            let kept = others.filter_map(|other| kept(terms, (*counter, steps), other, values));
            guesses.extend(kept.take(MOST_PAIRS));
        }
        guesses
    }
}

/// What the blocks ask about variables, if it is not much.
fn conditions(terms: &Terms, within: &[(usize, &Block)], variables: &[Term]) -> Vec<Term> {
    let mut found = Vec::new();
    for (_, block) in within {
        for atom in block.guards.iter().flat_map(|guard| atoms(terms, *guard)) {
            let own = terms.variables(atom);
            let is_about = own.iter().any(|variable| variables.contains(variable));
            if is_about && !own.iter().any(|variable| block.inputs.contains(variable)) {
                found.push(atom);
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    if found.len() <= MOST_CONDITIONS { found } else { Vec::new() }
}

/// The variables that the blocks change by fixed numbers or set to fixed numbers only, with the
/// changes.
fn counters(terms: &Terms, within: &[(usize, &Block)]) -> Vec<(Term, Steps)> {
    let mut counters: BTreeMap<Term, Option<Steps>> = BTreeMap::new();
    for (at, block) in within {
        for (variable, value) in &block.updates {
            let steps = counters.entry(*variable).or_insert_with(|| Some(Steps::new()));
            match step(terms, *variable, *value) {
                Some(by) => steps.iter_mut().for_each(|steps| {
                    steps.insert(*at, by);
                }),
                None if terms.constant(*value).is_some() => {}
                None => *steps = None,
            }
        }
    }
    let counters = counters.into_iter().filter_map(|(variable, steps)| Some((variable, steps?)));
    counters.filter(|(_, steps)| !steps.is_empty()).collect()
}

/// The number that is added to a variable, if that is all.
fn step(terms: &Terms, variable: Term, value: Term) -> Option<u64> {
    match terms.kind(value) {
        Kind::Binary(Op::Add, old, by) if *old == variable => terms.constant(*by),
        _ => None,
    }
}

/// A counter has the same remainder as now.
fn remainder(
    terms: &mut Terms,
    counter: Term,
    steps: &Steps,
    values: &FxHashMap<Term, Term>,
) -> Option<Term> {
    let Sort::Bits(width) = terms.sort(counter) else { return None };
    // Numbers wrap round, which keeps remainders by powers of two only.
    let low = steps.values().fold(0, |all, by| all | by).trailing_zeros();
    if low == 0 || low >= width {
        return None;
    }
    let rest = terms.extract(counter, 0, low);
    let now = terms.substitute(rest, values);
    terms.constant(now)?;
    Some(terms.eq(rest, now))
}

/// Two counters that change together keep a combination: it has the value that it has now, a number
/// or that of a variable.
fn kept(
    terms: &mut Terms,
    (counter, steps): (Term, &Steps),
    (other, others): &(Term, Steps),
    values: &FxHashMap<Term, Term>,
) -> Option<Term> {
    let Sort::Bits(width) = terms.sort(counter) else { return None };
    let together = steps.keys().eq(others.keys()) && terms.sort(*other) == terms.sort(counter);
    let (by, by_other) = (*steps.values().next()?, *others.values().next()?);
    let product = |a: u64, b: u64| a.wrapping_mul(b) << (64 - width);
    let mut pairs = steps.values().zip(others.values());
    if !together || !pairs.all(|(a, b)| product(*a, by_other) == product(*b, by)) {
        return None;
    }
    let common = gcd(distance(by, width), distance(by_other, width)).max(1);
    let scaled = |terms: &mut Terms, variable: Term, by: u64| {
        let factor = distance(by, width) / common;
        let factor = terms.bits(factor, width);
        let product = terms.mul(variable, factor);
        if is_negative(by, width) { terms.neg(product) } else { product }
    };
    let (left, right) = (scaled(terms, counter, by_other), scaled(terms, *other, by));
    let combination = terms.sub(left, right);
    let now = terms.substitute(combination, values);
    if terms.constant(now).is_some() {
        return Some(terms.eq(combination, now));
    }
    let mut holding: Vec<Term> =
        values.iter().filter(|(_, value)| **value == now).map(|(name, _)| *name).collect();
    holding.sort_unstable();
    let holder = holding.into_iter().find(|name| *name != counter && name != other)?;
    Some(terms.eq(combination, holder))
}

fn is_negative(number: u64, width: u32) -> bool {
    number >> (width - 1) & 1 == 1
}

/// How far a number is from 0, downwards or upwards.
fn distance(number: u64, width: u32) -> u64 {
    if is_negative(number, width) { number.wrapping_neg() << (64 - width) >> (64 - width) } else { number }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
