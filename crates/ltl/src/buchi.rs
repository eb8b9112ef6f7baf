//! From formulas to Büchi automata.
//!
//! The tableau of R. Gerth, D. Peled, M. Vardi, P. Wolper (*Simple on-the-fly automatic
//! verification of linear temporal logic*, PSTV 1995), with acceptance on transitions as J.-M.
//! Couvreur has it (FM 1999): a state is a set of formulas that must hold from now on. Each way to
//! make them true now is a transition, with a condition on the letter, and formulas that are left
//! for the next one. A transition *postpones* an until if it leaves its second part for later; a
//! run is accepted if it does not postpone any until for ever. A counter makes one set of accepting
//! transitions of that, and states that do the same become one.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::formula::Formula;

/// More states or transitions than this are refused.
const MOST: usize = 20_000;

/// A condition on a letter: which propositions hold and which do not.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Guard(pub BTreeMap<usize, bool>);

impl Guard {
    /// Whether a letter satisfies it.
    pub fn allows(&self, letter: &[bool]) -> bool {
        self.0.iter().all(|(atom, value)| letter[*atom] == *value)
    }

    /// Whether every letter that satisfies `other` satisfies this.
    fn is_implied_by(&self, other: &Guard) -> bool {
        self.0.iter().all(|(atom, value)| other.0.get(atom) == Some(value))
    }
}

/// A transition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Transition {
    /// What the letter must satisfy.
    pub guard: Guard,
    /// The next state.
    pub to: usize,
    /// Whether accepted runs take such transitions again and again.
    pub is_accepting: bool,
}

/// A Büchi automaton whose transitions accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buchi {
    /// The transitions of each state. State 0 is the first one.
    pub transitions: Vec<Vec<Transition>>,
}

/// The formula needs too large an automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

/// One way to make the formulas of a state true.
#[derive(Clone, Debug, Default)]
struct Way {
    guard: Guard,
    next: BTreeSet<usize>,
    postponed: BTreeSet<usize>,
}

/// The subformulas, numbered.
struct Tableau {
    formulas: Vec<Formula>,
    numbers: FxHashMap<Formula, usize>,
    /// The untils, in order.
    untils: Vec<usize>,
}

impl Tableau {
    fn number(&mut self, formula: &Formula) -> usize {
        if let Some(number) = self.numbers.get(formula) {
            return *number;
        }
        let number = self.formulas.len();
        self.formulas.push(formula.clone());
        self.numbers.insert(formula.clone(), number);
        if matches!(formula, Formula::Until(..)) {
            self.untils.push(number);
        }
        number
    }

    /// All ways to make a set of formulas true.
    fn ways(&mut self, state: &BTreeSet<usize>) -> Result<Vec<Way>, TooLarge> {
        let mut done = Vec::new();
        let first: Vec<usize> = state.iter().copied().collect();
        let mut open = vec![(first, BTreeSet::new(), Way::default())];
        while let Some((mut rest, mut seen, mut way)) = open.pop() {
            if done.len() + open.len() > MOST {
                return Err(TooLarge);
            }
            let Some(number) = rest.pop() else {
                done.push(way);
                continue;
            };
            if !seen.insert(number) {
                open.push((rest, seen, way));
                continue;
            }
            match self.formulas[number].clone() {
                Formula::Constant(false) => continue,
                Formula::Constant(true) => {}
                Formula::Atom(_) | Formula::Not(_) => {
                    let (atom, value) = match &self.formulas[number] {
                        Formula::Atom(atom) => (*atom, true),
                        Formula::Not(inner) => match **inner {
                            Formula::Atom(atom) => (atom, false),
                            _ => unreachable!("negations are in front of propositions"),
                        },
                        _ => unreachable!("the pattern says so"),
                    };
                    if *way.guard.0.entry(atom).or_insert(value) != value {
                        continue;
                    }
                }
                Formula::And(a, b) => rest.extend([self.number(&a), self.number(&b)]),
                Formula::Or(a, b) => {
                    let mut other = rest.clone();
                    other.push(self.number(&b));
                    open.push((other, seen.clone(), way.clone()));
                    rest.push(self.number(&a));
                }
                Formula::Next(a) => {
                    way.next.insert(self.number(&a));
                }
                Formula::Until(a, b) => {
                    let (mut other, mut later) = (rest.clone(), way.clone());
                    other.push(self.number(&a));
                    later.next.insert(number);
                    later.postponed.insert(number);
                    open.push((other, seen.clone(), later));
                    rest.push(self.number(&b));
                }
                Formula::Release(a, b) => {
                    let (mut other, mut later) = (rest.clone(), way.clone());
                    other.push(self.number(&b));
                    later.next.insert(number);
                    open.push((other, seen.clone(), later));
                    rest.extend([self.number(&a), self.number(&b)]);
                }
            }
            open.push((rest, seen, way));
        }
        Ok(done)
    }
}

impl Buchi {
    /// An automaton that accepts the words on which the formula holds.
    ///
    /// # Errors
    /// If it has too many states.
    pub fn new(formula: &Formula) -> Result<Self, TooLarge> {
        let mut tableau = Tableau { formulas: Vec::new(), numbers: FxHashMap::default(), untils: Vec::new() };
        let first = BTreeSet::from([tableau.number(&formula.normal(false))]);
        let mut states = vec![first.clone()];
        let mut numbers = BTreeMap::from([(first, 0)]);
        let mut ways: Vec<Vec<(Way, usize)>> = Vec::new();
        let mut total = 0;
        while ways.len() < states.len() {
            let mut out = Vec::new();
            for way in tableau.ways(&states[ways.len()].clone())? {
                let to = *numbers.entry(way.next.clone()).or_insert_with(|| {
                    states.push(way.next.clone());
                    states.len() - 1
                });
                out.push((way, to));
            }
            total += out.len();
            ways.push(out);
            if states.len() > MOST || total > MOST {
                return Err(TooLarge);
            }
        }
        let untils = tableau.untils;
        // Which until is waited for next; all of them in turn.
        let mut transitions: Vec<Vec<Transition>> = Vec::new();
        let (mut pairs, mut known) = (vec![(0, 0)], BTreeMap::from([((0, 0), 0)]));
        while transitions.len() < pairs.len() {
            let (state, waiting) = pairs[transitions.len()];
            let mut out = Vec::new();
            for (way, to) in &ways[state] {
                let met = untils[waiting..].iter().take_while(|until| !way.postponed.contains(until));
                let reached = waiting + met.count();
                let is_accepting = reached == untils.len();
                let waiting = if is_accepting { 0 } else { reached };
                let to = *known.entry((*to, waiting)).or_insert_with(|| {
                    pairs.push((*to, waiting));
                    pairs.len() - 1
                });
                out.push(Transition { guard: way.guard.clone(), to, is_accepting });
            }
            transitions.push(out);
            if pairs.len() > MOST {
                return Err(TooLarge);
            }
        }
        let mut automaton = Self { transitions };
        automaton.simplify();
        Ok(automaton)
    }

    /// The number of states.
    pub fn state_count(&self) -> usize {
        self.transitions.len()
    }

    fn simplify(&mut self) {
        loop {
            let before = self.transitions.clone();
            self.drop_hopeless();
            self.drop_implied();
            self.join_equal();
            if self.transitions == before {
                return;
            }
        }
    }

    /// Removes transitions into states from which nothing is accepted.
    fn drop_hopeless(&mut self) {
        let count = self.state_count();
        let mut hopeful = vec![true; count];
        // The greatest set from which an accepting transition can be taken again and again in it.
        loop {
            let mut can = vec![false; count];
            loop {
                let step = |t: &Transition, can: &[bool]| hopeful[t.to] && (t.is_accepting || can[t.to]);
                let new: Vec<usize> = (0..count)
                    .filter(|state| !can[*state] && hopeful[*state])
                    .filter(|state| self.transitions[*state].iter().any(|t| step(t, &can)))
                    .collect();
                if new.is_empty() {
                    break;
                }
                for state in new {
                    can[state] = true;
                }
            }
            if can == hopeful {
                break;
            }
            hopeful = can;
        }
        for out in &mut self.transitions {
            out.retain(|transition| hopeful[transition.to]);
        }
    }

    /// Removes transitions beside which another one does as well.
    fn drop_implied(&mut self) {
        for out in &mut self.transitions {
            out.sort();
            out.dedup();
            let all = out.clone();
            let mut kept = vec![true; all.len()];
            for (i, one) in all.iter().enumerate() {
                let better = |(j, other): (usize, &Transition)| {
                    i != j
                        && kept[j]
                        && other.to == one.to
                        && (other.is_accepting || !one.is_accepting)
                        && other.guard.is_implied_by(&one.guard)
                };
                if all.iter().enumerate().any(better) {
                    kept[i] = false;
                }
            }
            let mut kept = kept.into_iter();
            out.retain(|_| kept.next().unwrap_or(true));
        }
    }

    /// Makes one of states with the same transitions, and drops those that cannot be reached.
    fn join_equal(&mut self) {
        let count = self.state_count();
        let mut class = vec![0; count];
        loop {
            let mut numbers = BTreeMap::new();
            let next: Vec<usize> = (0..count)
                .map(|state| {
                    let out: BTreeSet<(Guard, usize, bool)> = self.transitions[state]
                        .iter()
                        .map(|t| (t.guard.clone(), class[t.to], t.is_accepting))
                        .collect();
                    let fresh = numbers.len();
                    *numbers.entry((class[state], out)).or_insert(fresh)
                })
                .collect();
            if next == class {
                break;
            }
            class = next;
        }
        let mut first = BTreeMap::new();
        for (state, class) in class.iter().enumerate() {
            first.entry(*class).or_insert(state);
        }
        let mut order = vec![first[&class[0]]];
        let mut numbers = BTreeMap::from([(class[0], 0)]);
        let mut transitions = Vec::new();
        while transitions.len() < order.len() {
            let mut out: Vec<Transition> = Vec::new();
            for transition in &self.transitions[order[transitions.len()]] {
                let to = class[transition.to];
                let to = *numbers.entry(to).or_insert_with(|| {
                    order.push(first[&to]);
                    order.len() - 1
                });
                out.push(Transition { to, ..transition.clone() });
            }
            transitions.push(out);
        }
        self.transitions = transitions;
    }
}
