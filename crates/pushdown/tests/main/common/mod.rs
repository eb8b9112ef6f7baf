//! Random systems over a domain that does not commute, and a brute-force search to compare with.
#![allow(dead_code)]

use std::collections::BTreeMap;

use proptest::prelude::*;
use wherefore_domains::{Entry, Locals, Relation, RelationDomain};
use wherefore_pushdown::{
    Automaton, Configuration, Merge, Reading, Rhs, RuleId, Semiring, State, Symbol, System, replay,
};

/// Stores of two global and two local values.
pub const STORES: usize = 4;

/// The domain of all random systems.
pub fn domain() -> RelationDomain {
    RelationDomain::new(STORES)
}

/// A system with merge functions on some of its calls.
pub type Extended = System<Relation, Locals>;

/// A random system with a start configuration and a target symbol.
#[derive(Clone, Debug)]
pub struct Case {
    pub states: u32,
    pub symbols: u32,
    pub rules: Vec<RawRule>,
    pub start: Configuration,
    /// Target configurations: this control state, this topmost symbol, any rest.
    pub target: (State, Symbol),
}

/// A rule before it is added: numbers, a relation, and perhaps a merge function.
#[derive(Clone, Debug)]
pub struct RawRule {
    pub from: u32,
    pub symbol: u32,
    pub to: u32,
    pub word: Vec<u32>,
    pub weight: Relation,
    pub merge: Option<Locals>,
}

fn relation() -> impl Strategy<Value = Relation> {
    prop_oneof![
        1 => Just(domain().one()),
        2 => proptest::collection::vec((0..STORES, 0..STORES), 1..5)
            .prop_map(|pairs| Relation::from_pairs(STORES, pairs)),
        2 => proptest::collection::vec(0..STORES, STORES)
            .prop_map(|image| Relation::from_fn(STORES, |a| [image[a]])),
    ]
}

fn merge() -> impl Strategy<Value = Option<Locals>> {
    prop_oneof![
        1 => Just(None),
        1 => Just(Some(Locals::new(2, Entry::Inherited))),
        1 => Just(Some(Locals::new(2, Entry::Uninitialised))),
        1 => relation().prop_map(|entry| Some(Locals::new(2, Entry::Bound(entry)))),
    ]
}

fn rule(states: u32, symbols: u32) -> impl Strategy<Value = RawRule> {
    (0..states, 0..symbols, 0..states, proptest::collection::vec(0..symbols, 0..3), relation(), merge())
        .prop_map(|(from, symbol, to, word, weight, merge)| RawRule { from, symbol, to, word, weight, merge })
}

/// Systems of up to three control states, four symbols and nine rules.
pub fn cases() -> impl Strategy<Value = Case> {
    (1u32..4, 1u32..5).prop_flat_map(|(states, symbols)| {
        (
            proptest::collection::vec(rule(states, symbols), 1..10),
            proptest::collection::vec(0..symbols, 1..3),
            (0..states, 0..symbols),
        )
            .prop_map(move |(rules, stack, target)| Case {
                states,
                symbols,
                rules,
                start: Configuration { state: State(0), stack: stack.into_iter().map(Symbol).collect() },
                target: (State(target.0), Symbol(target.1)),
            })
    })
}

impl Case {
    fn empty<W, M>(&self) -> System<W, M> {
        let mut system = System::new();
        for p in 0..self.states {
            system.state(&format!("p{p}"));
        }
        for s in 0..self.symbols {
            system.symbol(&format!("s{s}"));
        }
        system
    }

    /// The system without its merge functions.
    pub fn plain(&self) -> System<Relation> {
        let mut system = self.empty();
        for rule in &self.rules {
            let rhs = rule.rhs();
            let (from, symbol, to) = rule.ends();
            system.add(from, symbol, to, rhs, rule.weight.clone());
        }
        system
    }

    /// The system with its merge functions.
    pub fn extended(&self) -> Extended {
        let mut system = self.empty();
        for rule in &self.rules {
            let (from, symbol, to) = rule.ends();
            match (rule.rhs(), &rule.merge) {
                (Rhs::Push(a, b), Some(merge)) => {
                    system.add_call(from, symbol, to, (a, b), rule.weight.clone(), merge.clone())
                }
                (rhs, _) => system.add(from, symbol, to, rhs, rule.weight.clone()),
            };
        }
        system
    }

    /// An automaton for the start configuration.
    pub fn start_automaton<W: Clone>(&self, reading: Reading, one: &W) -> Automaton<W> {
        Automaton::of_configuration(&self.empty::<(), ()>(), &self.start, reading, one)
    }

    /// An automaton for the target configurations.
    pub fn target_automaton<W: Clone>(&self, reading: Reading, one: &W) -> Automaton<W> {
        top_automaton(self.states, self.symbols, self.target.0, self.target.1, reading, one)
    }
}

impl RawRule {
    /// The two control states and the symbol.
    pub fn ends(&self) -> (State, Symbol, State) {
        (State(self.from), Symbol(self.symbol), State(self.to))
    }

    /// The right-hand side.
    pub fn rhs(&self) -> Rhs {
        match self.word[..] {
            [] => Rhs::Pop,
            [a] => Rhs::Swap(Symbol(a)),
            [a, b] => Rhs::Push(Symbol(a), Symbol(b)),
            _ => unreachable!("random words have at most two symbols"),
        }
    }
}

/// Accepts `⟨state, top …⟩` with any rest.
pub fn top_automaton<W: Clone>(
    states: u32,
    symbols: u32,
    state: State,
    top: Symbol,
    reading: Reading,
    one: &W,
) -> Automaton<W> {
    let mut automaton = Automaton::new(states as usize, symbols as usize, reading);
    let rest = automaton.add_state();
    automaton.set_final(rest);
    automaton.add(state, top, rest, one.clone());
    for symbol in 0..symbols {
        automaton.add(rest, Symbol(symbol), rest, one.clone());
    }
    automaton
}

/// All runs of at most `length` rules (and at most `most` of them), by the configuration in which
/// they end.
///
/// Values come from [`replay`], which shares nothing with saturation.
pub fn runs<S: Semiring, M: Merge<S>>(
    domain: &S,
    system: &System<S::Weight, M>,
    start: &Configuration,
    length: usize,
    most: usize,
) -> Vec<(Vec<RuleId>, Configuration, S::Weight)> {
    let rules: Vec<RuleId> = system.rules().map(|(id, _)| id).collect();
    let mut found: Vec<(Vec<RuleId>, Configuration)> = vec![(vec![], start.clone())];
    let mut next = 0;
    while next < found.len() && found.len() < most {
        let (run, at) = found[next].clone();
        if run.len() < length {
            for rule in &rules {
                if let Some(to) = system.step(*rule, &at) {
                    let mut run = run.clone();
                    run.push(*rule);
                    found.push((run, to));
                }
            }
        }
        next += 1;
    }
    found
        .into_iter()
        .map(|(run, end)| {
            let value = replay(domain, system, start, &run).expect("the run was made step by step").weight;
            (run, end, value)
        })
        .collect()
}

/// The combined values of [`runs`], by the configuration in which they end.
pub fn values<S: Semiring, M: Merge<S>>(
    domain: &S,
    system: &System<S::Weight, M>,
    start: &Configuration,
    length: usize,
    most: usize,
) -> BTreeMap<Configuration, S::Weight> {
    let mut values = BTreeMap::new();
    for (_, end, value) in runs(domain, system, start, length, most) {
        let entry = values.entry(end).or_insert_with(|| domain.zero());
        domain.join(entry, &value);
    }
    values
}

/// Whether `a ⊕ b = b`.
pub fn within<S: Semiring>(domain: &S, a: &S::Weight, b: &S::Weight) -> bool {
    domain.combine(a, b) == *b
}

/// The exact weights of all configurations of stack height at most `height`, by iteration over
/// those configurations.
///
/// Runs that leave that height are cut off, so this is a lower bound; merge functions are not
/// supported.
pub fn bounded_fixpoint<S: Semiring>(
    domain: &S,
    system: &System<S::Weight>,
    start: &Configuration,
    height: usize,
) -> BTreeMap<Configuration, S::Weight> {
    let mut values = BTreeMap::from([(start.clone(), domain.one())]);
    let mut open = vec![start.clone()];
    while let Some(at) = open.pop() {
        let weight = values[&at].clone();
        for (id, _) in system.rules() {
            let Some(to) = system.step(id, &at).filter(|to| to.stack.len() <= height) else { continue };
            let value = domain.extend(&weight, system.weight(id));
            let entry = values.entry(to.clone()).or_insert_with(|| domain.zero());
            if domain.join(entry, &value) {
                open.push(to);
            }
        }
    }
    values
}
