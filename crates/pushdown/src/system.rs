//! Pushdown systems: rules over control states and stack symbols, with weights and merge functions.
//!
//! \[Lal09\] Def. 2.3.1 (pushdown systems), Def. 2.4.2 (weights), Def. 3.1.3 (merge functions).
//! Rules have at most two symbols on the right; longer ones are split on entry
//! ([`System::add_rule`]).

use std::fmt;

use crate::names::{Names, RuleId, State, Symbol};
use crate::reachability::Reachability;
use crate::semiring::{Merge, Plain};

/// What a rule puts in the place of the topmost symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rhs {
    /// Nothing: the symbol is removed (a return).
    Pop,
    /// One symbol (a step inside a procedure).
    Swap(Symbol),
    /// Two symbols, the first one on top (a call: entry of the callee, return site).
    Push(Symbol, Symbol),
}

/// A rule `⟨from, symbol⟩ ↪ ⟨to, rhs⟩`, without its weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    /// Control state before the step.
    pub from: State,
    /// Topmost symbol before the step.
    pub symbol: Symbol,
    /// Control state after the step.
    pub to: State,
    /// What replaces the symbol.
    pub rhs: Rhs,
}

/// A configuration: a control state and a stack, topmost symbol first.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Configuration {
    /// The control state.
    pub state: State,
    /// The stack, topmost symbol first.
    pub stack: Vec<Symbol>,
}

const NONE: u32 = u32::MAX;

/// A rule in 20 bytes; large systems have millions of them.
#[derive(Clone, Copy)]
struct Packed {
    from: u32,
    symbol: u32,
    to: u32,
    first: u32,
    second: u32,
}

/// A weighted pushdown system, extended where `M` has values.
///
/// `W` is the type of weights; the domain itself is passed to the algorithms. A rule can be
/// [removed](Self::remove_rule): its number stays, so that the numbers of others do.
///
/// ```
/// use wherefore_pushdown::{Rhs, System};
///
/// let mut system: System<()> = System::new();
/// let p = system.state("p");
/// let (main, f, back) = (system.symbol("main"), system.symbol("f"), system.symbol("back"));
/// system.add(p, main, p, Rhs::Push(f, back), ());
/// system.add(p, f, p, Rhs::Pop, ());
/// assert_eq!(system.rule_count(), 2);
/// assert_eq!(system.show_rule(wherefore_pushdown::RuleId(0)).to_string(), "<p, main> -> <p, f back>");
/// ```
#[derive(Clone)]
pub struct System<W, M = Plain> {
    states: Names,
    symbols: Names,
    rules: Vec<Packed>,
    weights: Vec<W>,
    merges: Vec<Option<M>>,
    live_rules: usize,
    /// Rules and symbols that were made to split a longer rule.
    helper_rules: Vec<RuleId>,
    helper_symbols: Vec<Symbol>,
}

impl<W, M> Default for System<W, M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<W, M> System<W, M> {
    /// A system without rules.
    pub fn new() -> Self {
        Self::with_names(Names::new(), Names::new())
    }

    /// A system without rules over given names.
    pub fn with_names(states: Names, symbols: Names) -> Self {
        Self {
            states,
            symbols,
            rules: Vec::new(),
            weights: Vec::new(),
            merges: Vec::new(),
            live_rules: 0,
            helper_rules: Vec::new(),
            helper_symbols: Vec::new(),
        }
    }

    /// Makes room for `rules` more rules.
    pub fn reserve(&mut self, rules: usize) {
        self.rules.reserve_exact(rules);
        self.weights.reserve_exact(rules);
        self.merges.reserve_exact(rules);
    }

    /// The control state called `name`, a new one if need be.
    pub fn state(&mut self, name: &str) -> State {
        State(self.states.intern(name))
    }

    /// The stack symbol called `name`, a new one if need be.
    pub fn symbol(&mut self, name: &str) -> Symbol {
        Symbol(self.symbols.intern(name))
    }

    /// The names of the control states.
    pub fn states(&self) -> &Names {
        &self.states
    }

    /// The names of the stack symbols.
    pub fn symbols(&self) -> &Names {
        &self.symbols
    }

    /// How many control states there are.
    pub fn state_count(&self) -> usize {
        self.states.len()
    }

    /// How many stack symbols there are.
    pub fn symbol_count(&self) -> usize {
        self.symbols.len()
    }

    /// How many rules there are, removed ones not counted.
    pub fn rule_count(&self) -> usize {
        self.live_rules
    }

    /// One more than the largest rule number: the size of an array indexed by rules.
    pub fn rule_bound(&self) -> usize {
        self.rules.len()
    }

    /// Adds a rule.
    pub fn add(&mut self, from: State, symbol: Symbol, to: State, rhs: Rhs, weight: W) -> RuleId {
        self.push(from, symbol, to, rhs, weight, None)
    }

    /// Adds a call with a merge function.
    ///
    /// `weight` counts while the call has not returned; once it has, `merge` decides alone.
    pub fn add_call(
        &mut self,
        from: State,
        symbol: Symbol,
        to: State,
        (entry, back): (Symbol, Symbol),
        weight: W,
        merge: M,
    ) -> RuleId {
        self.push(from, symbol, to, Rhs::Push(entry, back), weight, Some(merge))
    }

    fn push(
        &mut self,
        from: State,
        symbol: Symbol,
        to: State,
        rhs: Rhs,
        weight: W,
        merge: Option<M>,
    ) -> RuleId {
        debug_assert!(from.index() < self.states.len() && to.index() < self.states.len());
        debug_assert!(symbol.index() < self.symbols.len());
        let (first, second) = match rhs {
            Rhs::Pop => (NONE, NONE),
            Rhs::Swap(a) => (a.0, NONE),
            Rhs::Push(a, b) => (a.0, b.0),
        };
        self.rules.push(Packed { from: from.0, symbol: symbol.0, to: to.0, first, second });
        self.weights.push(weight);
        self.merges.push(merge);
        self.live_rules += 1;
        RuleId(self.rules.len() as u32 - 1)
    }

    /// Adds a rule with any number of symbols on the right; one with more than two is split.
    ///
    /// The split goes through new symbols, called after the number of the rule, below which the
    /// rest of the word is already in place: `⟨p, γ⟩ ↪ ⟨q, a b c⟩` becomes `⟨p, γ⟩ ↪ ⟨q, x c⟩` with
    /// the weight, and `⟨q, x⟩ ↪ ⟨q, a b⟩` with `one`. [`is_helper_rule`](Self::is_helper_rule) and
    /// [`is_helper_symbol`](Self::is_helper_symbol) tell them apart.
    pub fn add_rule(
        &mut self,
        from: State,
        symbol: Symbol,
        to: State,
        word: &[Symbol],
        weight: W,
        one: &W,
    ) -> RuleId
    where
        W: Clone,
    {
        let rhs = match *word {
            [] => Rhs::Pop,
            [a] => Rhs::Swap(a),
            [a, b] => Rhs::Push(a, b),
            _ => {
                let last = word[word.len() - 1];
                let number = self.rules.len();
                let mut below = word.len() - 1;
                let mut helper = self.helper_symbol(number, below);
                let id = self.add(from, symbol, to, Rhs::Push(helper, last), weight);
                while below > 2 {
                    let next = self.helper_symbol(number, below - 1);
                    let rhs = Rhs::Push(next, word[below - 1]);
                    let split = self.add(to, helper, to, rhs, one.clone());
                    self.helper_rules.push(split);
                    helper = next;
                    below -= 1;
                }
                let rhs = Rhs::Push(word[0], word[1]);
                let split = self.add(to, helper, to, rhs, one.clone());
                self.helper_rules.push(split);
                return id;
            }
        };
        self.add(from, symbol, to, rhs, weight)
    }

    fn helper_symbol(&mut self, rule: usize, below: usize) -> Symbol {
        let symbol = Symbol(self.symbols.fresh(&format!("rule{rule}.{below}")));
        self.helper_symbols.push(symbol);
        symbol
    }

    /// Whether `rule` was made to split a longer rule.
    pub fn is_helper_rule(&self, rule: RuleId) -> bool {
        self.helper_rules.binary_search(&rule).is_ok()
    }

    /// Whether `symbol` was made to split a longer rule.
    pub fn is_helper_symbol(&self, symbol: Symbol) -> bool {
        self.helper_symbols.binary_search(&symbol).is_ok()
    }

    /// Removes a rule; its number is not used again.
    pub fn remove_rule(&mut self, rule: RuleId) {
        let packed = &mut self.rules[rule.index()];
        if packed.from != NONE {
            packed.from = NONE;
            self.live_rules -= 1;
        }
    }

    /// Whether `rule` has not been removed.
    pub fn is_live(&self, rule: RuleId) -> bool {
        self.rules[rule.index()].from != NONE
    }

    /// The rule with number `id`.
    ///
    /// # Panics
    /// If the rule was removed or never existed.
    pub fn rule(&self, id: RuleId) -> Rule {
        let packed = self.rules[id.index()];
        assert!(packed.from != NONE, "rule {} was removed", id.0);
        unpack(packed)
    }

    /// All rules with their numbers.
    pub fn rules(&self) -> impl Iterator<Item = (RuleId, Rule)> + '_ {
        self.rules
            .iter()
            .enumerate()
            .filter(|(_, packed)| packed.from != NONE)
            .map(|(i, packed)| (RuleId(i as u32), unpack(*packed)))
    }

    /// The weight of a rule.
    pub fn weight(&self, id: RuleId) -> &W {
        &self.weights[id.index()]
    }

    /// The merge function of a call rule, if it has one.
    pub fn merge(&self, id: RuleId) -> Option<&M> {
        self.merges[id.index()].as_ref()
    }

    /// Whether some rule has a merge function.
    pub fn is_extended(&self) -> bool {
        self.merges.iter().any(Option::is_some)
    }

    /// The same system with other weights, and without merge functions.
    pub fn map_weights<V>(&self, mut weight: impl FnMut(RuleId, &W) -> V) -> System<V> {
        self.map(|id, w| (weight(id, w), None))
    }

    /// The same rules with other weights and other merge functions; those on rules that are no
    /// calls do not matter.
    ///
    /// `weight` is asked for removed rules too, so that the numbers stay the same.
    pub fn map<V, N>(&self, mut weight: impl FnMut(RuleId, &W) -> (V, Option<N>)) -> System<V, N> {
        let (weights, merges) =
            self.weights.iter().enumerate().map(|(i, w)| weight(RuleId(i as u32), w)).unzip();
        System {
            states: self.states.clone(),
            symbols: self.symbols.clone(),
            rules: self.rules.clone(),
            weights,
            merges,
            live_rules: self.live_rules,
            helper_rules: self.helper_rules.clone(),
            helper_symbols: self.helper_symbols.clone(),
        }
    }

    /// The rules without their weights; merge functions leave a mark where they were.
    pub(crate) fn skeleton(&self) -> System<bool, Mark> {
        System {
            states: Names::numbered(self.states.len() as u32),
            symbols: Names::numbered(self.symbols.len() as u32),
            rules: self.rules.clone(),
            weights: vec![true; self.rules.len()],
            merges: self.merges.iter().map(|merge| merge.as_ref().map(|_| Mark)).collect(),
            live_rules: self.live_rules,
            helper_rules: Vec::new(),
            helper_symbols: Vec::new(),
        }
    }

    /// A rule, ready to print: `<p, a> -> <q, b c>`; one that was split shows as it was.
    pub fn show_rule(&self, id: RuleId) -> impl fmt::Display + '_ {
        let rule = self.rule(id);
        fmt_from(move |f| {
            let mut word = match rule.rhs {
                Rhs::Pop => vec![],
                Rhs::Swap(a) => vec![a],
                Rhs::Push(a, b) => vec![a, b],
            };
            // A rule that was split shows as it was.
            while let Some((first, rest)) =
                word.split_first().filter(|(first, _)| self.is_helper_symbol(**first))
            {
                let part =
                    self.helper_rules.iter().map(|id| self.rules[id.index()]).find(|r| r.symbol == first.0);
                let Some(Rhs::Push(a, b)) = part.map(|part| unpack(part).rhs) else { break };
                word = [&[a, b], rest].concat();
            }
            let left = self.show_parts(rule.from, std::slice::from_ref(&rule.symbol));
            write!(f, "{left} -> {}", self.show_parts(rule.to, &word))
        })
    }

    /// A configuration, ready to print: `<p, a b>`.
    pub fn show<'a>(&'a self, configuration: &'a Configuration) -> impl fmt::Display + 'a {
        self.show_parts(configuration.state, &configuration.stack)
    }

    fn show_parts<'a>(&'a self, state: State, stack: &'a [Symbol]) -> impl fmt::Display + 'a {
        fmt_from(move |f| {
            write!(f, "<{},", self.states.show(state.0))?;
            for symbol in stack {
                write!(f, " {}", self.symbols.show(symbol.0))?;
            }
            f.write_str(">")
        })
    }

    /// Runs one rule on a configuration; `None` if it does not apply.
    pub fn step(&self, id: RuleId, configuration: &Configuration) -> Option<Configuration> {
        let rule = self.rule(id);
        let (top, rest) = configuration.stack.split_first()?;
        if rule.from != configuration.state || rule.symbol != *top {
            return None;
        }
        let mut stack = Vec::with_capacity(rest.len() + 2);
        match rule.rhs {
            Rhs::Pop => {}
            Rhs::Swap(a) => stack.push(a),
            Rhs::Push(a, b) => stack.extend([a, b]),
        }
        stack.extend_from_slice(rest);
        Some(Configuration { state: rule.to, stack })
    }
}

/// Where a merge function was, in a [skeleton](System::skeleton).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark;

impl Merge<Reachability> for Mark {
    fn merge(&self, _: &Reachability, caller: &bool, callee: &bool) -> bool {
        *caller && *callee
    }
}

fn unpack(packed: Packed) -> Rule {
    Rule {
        from: State(packed.from),
        symbol: Symbol(packed.symbol),
        to: State(packed.to),
        rhs: match (packed.first, packed.second) {
            (NONE, _) => Rhs::Pop,
            (a, NONE) => Rhs::Swap(Symbol(a)),
            (a, b) => Rhs::Push(Symbol(a), Symbol(b)),
        },
    }
}

/// `Display` from a closure.
pub(crate) fn fmt_from<F: Fn(&mut fmt::Formatter<'_>) -> fmt::Result>(f: F) -> impl fmt::Display {
    struct FromFn<F>(F);
    impl<F: Fn(&mut fmt::Formatter<'_>) -> fmt::Result> fmt::Display for FromFn<F> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            (self.0)(f)
        }
    }
    FromFn(f)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_right_hand_side_is_split_and_runs_to_the_same_stack() {
        let mut system: System<u32> = System::new();
        let p = system.state("p");
        let s: Vec<Symbol> = "abcde".chars().map(|c| system.symbol(&c.to_string())).collect();
        let id = system.add_rule(p, s[0], p, &s[1..], 7, &0);
        assert_eq!(*system.weight(id), 7);
        let mut now = Configuration { state: p, stack: vec![s[0]] };
        while let Some((next, _)) = system.rules().find(|(r, _)| system.step(*r, &now).is_some()) {
            now = system.step(next, &now).unwrap();
        }
        assert_eq!(now.stack, s[1..]);
        assert_eq!(system.rule_count(), 3);
        assert!(!system.is_helper_rule(id));
        assert!(system.is_helper_rule(RuleId(1)));
    }

    #[test]
    fn a_removed_rule_leaves_the_numbers_of_others() {
        let mut system: System<()> = System::new();
        let (p, a) = (system.state("p"), system.symbol("a"));
        let first = system.add(p, a, p, Rhs::Pop, ());
        let second = system.add(p, a, p, Rhs::Swap(a), ());
        system.remove_rule(first);
        system.remove_rule(first);
        assert_eq!(system.rule_count(), 1);
        assert_eq!(system.rule(second).rhs, Rhs::Swap(a));
        assert!(!system.is_live(first));
    }
}
