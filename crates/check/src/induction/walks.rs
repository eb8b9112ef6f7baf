//! States of random walks through a system.
//!
//! Most guesses about a point are wrong, and most of those are refuted by a state that a short walk
//! from the start comes to. Evaluating terms takes microseconds, where a question to the solver
//! takes milliseconds. Nothing is believed because of a walk: it only refutes.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;
use wherefore_smt::{Budget, Model, Sort, Term, Terms, Value};

use super::system::{Step, System};
use crate::random_runs::Random;
use crate::refinement::solver::graph::{Graph, PointId};

/// States that are kept of each point, at most.
const MOST_STATES: usize = 48;

/// How many walks there are, how many of them may find nothing new in a row, and how many steps
/// each has, at most.
const WALKS: u64 = 4_000;
const IDLE: u64 = 150;
const STEPS: usize = 120;

/// How often inputs are drawn at a point so that some step is possible.
const DRAWS: usize = 12;

/// All walks together take at most this long.
const TIME: Duration = Duration::from_millis(400);

/// Constants that are drawn, at most.
const MOST_CONSTANTS: usize = 60;

/// States that walks come to at each point.
pub(super) fn visited(terms: &Terms, graph: &Graph, system: &System, budget: &Budget) -> Vec<Vec<Model>> {
    let mut walks = Walks {
        terms,
        graph,
        system,
        constants: constants(terms, system),
        begin: Instant::now(),
        found: vec![Vec::new(); system.into.len()],
    };
    let mut last = 0;
    for walk in 0..WALKS {
        if budget.look().is_err() || walks.begin.elapsed() > TIME || walk - last > IDLE {
            break;
        }
        if walks.walk(&mut Random(walk)) {
            last = walk;
        }
    }
    walks.found
}

/// The numbers that occur in a system, and their neighbours.
fn constants(terms: &Terms, system: &System) -> Vec<u64> {
    let mut found: BTreeSet<u64> = BTreeSet::from([0, 1]);
    let mut open: Vec<Term> = system.steps.iter().map(|step| step.guard).collect();
    let mut seen: FxHashSet<Term> = FxHashSet::default();
    while let Some(term) = open.pop().filter(|_| found.len() < MOST_CONSTANTS) {
        if seen.insert(term) {
            found.extend(terms.constant(term));
            terms.for_each_child(term, |child| open.push(child));
        }
    }
    let near = found.iter().flat_map(|value| [value.wrapping_sub(1), *value, value.wrapping_add(1)]);
    near.collect::<BTreeSet<u64>>().into_iter().collect()
}

struct Walks<'w> {
    terms: &'w Terms,
    graph: &'w Graph,
    system: &'w System,
    constants: Vec<u64>,
    begin: Instant,
    found: Vec<Vec<Model>>,
}

impl Walks<'_> {
    /// A walk; whether it came to a point of which more states are wanted.
    fn walk(&mut self, random: &mut Random) -> bool {
        let mut is_new = false;
        let starts: Vec<&Step> = self.system.steps.iter().filter(|step| step.from.is_none()).collect();
        let Some((mut at, mut state)) = self.step(&starts, &Model::default(), random) else {
            return false;
        };
        for _ in 0..STEPS {
            if self.found[at].len() < MOST_STATES {
                self.found[at].push(state.clone());
                is_new = true;
            }
            if self.begin.elapsed() > TIME {
                break;
            }
            let steps: Vec<&Step> =
                self.system.out[at].iter().map(|step| &self.system.steps[*step]).collect();
            let Some(next) = self.step(&steps, &state, random) else { break };
            (at, state) = next;
        }
        is_new
    }

    /// A possible step, with drawn inputs.
    fn step(&self, steps: &[&Step], state: &Model, random: &mut Random) -> Option<(PointId, Model)> {
        // What calls do is not known here.
        let steps: Vec<&&Step> = steps.iter().filter(|step| step.effect.is_none()).collect();
        let mut read: BTreeSet<Term> = BTreeSet::new();
        for step in &steps {
            read.extend(self.terms.variables(step.guard));
            read.extend(step.updates.values().flat_map(|value| self.terms.variables(*value)));
        }
        let inputs: Vec<Term> = read.into_iter().filter(|term| state.get(*term).is_none()).collect();
        let guards: Vec<Term> = steps.iter().map(|step| step.guard).collect();
        for _ in 0..DRAWS {
            let mut model = state.clone();
            for input in &inputs {
                if let Some(value) = self.draw(*input, random) {
                    model.set(*input, value);
                }
            }
            let possible = self.terms.evaluate_all(&guards, &model);
            let possible = possible.iter().zip(&steps).filter(|(holds, _)| **holds == Value::Bits(1));
            let possible: Vec<&&&Step> = possible.map(|(_, step)| step).collect();
            if possible.is_empty() {
                continue;
            }
            let step = possible[random.index(possible.len())];
            let (names, values): (Vec<Term>, Vec<Term>) = step.updates.iter().unzip();
            let values = self.terms.evaluate_all(&values, &model);
            let mut next = state.clone();
            // A variable that was read without being set keeps its value; an input is another one.
            for input in inputs.iter().filter(|input| self.graph.names.is_name(**input)) {
                if let Some(value) = model.get(*input) {
                    next.set(*input, value.clone());
                }
            }
            names.into_iter().zip(values).for_each(|(name, value)| next.set(name, value));
            return Some((step.to, next));
        }
        None
    }

    /// A value of a variable: mostly a constant of the program.
    fn draw(&self, variable: Term, random: &mut Random) -> Option<Value> {
        let value = match random.below(4) {
            0 => random.below(16),
            1 if random.below(4) == 0 => random.next(),
            _ => self.constants[random.index(self.constants.len())],
        };
        match self.terms.sort(variable) {
            Sort::Bool => Some(Value::Bits(value & 1)),
            Sort::Bits(width) => Some(Value::Bits(value & (u64::MAX >> (64 - width)))),
            Sort::Array { .. } => None,
        }
    }
}
