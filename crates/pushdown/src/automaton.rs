//! Weighted automata that read stacks: regular sets of configurations, with weights.
//!
//! \[Lal09\] Def. 2.3.2 (P-automata), Def. 2.4.5 (weights; forward and backward reading). The first
//! states are the control states of the system: a configuration `⟨p, u⟩` is accepted if `u` leads
//! from `p` to a final state.

use std::fmt;

use rustc_hash::FxHashMap;

use crate::names::{RuleId, State, Symbol};
use crate::semiring::Semiring;
use crate::store::{EPSILON, Store, TransId};
use crate::system::{Configuration, System, fmt_from};

/// In which order the weights along a path of transitions are extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reading {
    /// First transition first, as in a pre\* automaton.
    Forward,
    /// Last transition first, as in a post\* automaton: what lies deeper in the stack happened
    /// earlier.
    Backward,
}

/// One transition of an [`Automaton`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Transition {
    /// Source.
    pub from: State,
    /// What is read; `None` for ε, which only post\* makes, from a control state to the end of a
    /// popped frame.
    pub symbol: Option<Symbol>,
    /// Target.
    pub to: State,
    /// The call rule that made it, if that rule has a merge function.
    pub call: Option<RuleId>,
}

/// What a state that is not a control state stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// Made with the automaton, not by saturation.
    Given,
    /// Made by post\*: the frames below a call that entered at this control state and symbol.
    Below(State, Symbol),
}

/// A weighted automaton over the stacks of a system.
///
/// ```
/// use wherefore_pushdown::{Automaton, Reading, State, Symbol};
///
/// // All stacks that start with symbol 0 and go on with 1s, for control state 0 of 1.
/// let mut automaton: Automaton<()> = Automaton::new(1, 2, Reading::Forward);
/// let end = automaton.add_state();
/// automaton.set_final(end);
/// automaton.add(State(0), Symbol(0), end, ());
/// automaton.add(end, Symbol(1), end, ());
/// assert_eq!(automaton.transition_count(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct Automaton<W> {
    pub(crate) store: Store<W>,
    pub(crate) reading: Reading,
    pub(crate) control: usize,
    pub(crate) symbols: usize,
    finals: Vec<bool>,
    origins: Vec<Origin>,
    /// States that stand for "the frame above has returned", though they are not control states.
    returning: Vec<bool>,
    /// For transitions of calls with merge functions: the caller's weight before the call.
    pub(crate) callers: FxHashMap<TransId, W>,
}

impl<W: Clone> Automaton<W> {
    /// An automaton that accepts nothing, for a system of `control` control states and `symbols`
    /// symbols.
    pub fn new(control: usize, symbols: usize, reading: Reading) -> Self {
        Self::over(Store::new(control, symbols, symbols), control, symbols, reading)
    }

    pub(crate) fn over(store: Store<W>, control: usize, symbols: usize, reading: Reading) -> Self {
        let states = store.state_count();
        Self {
            store,
            reading,
            control,
            symbols,
            finals: vec![false; states],
            origins: vec![Origin::Given; states],
            returning: (0..states).map(|q| q < control).collect(),
            callers: FxHashMap::default(),
        }
    }

    /// An automaton for `system` that accepts nothing.
    pub fn for_system<V, M>(system: &System<V, M>, reading: Reading) -> Self {
        Self::new(system.state_count(), system.symbol_count(), reading)
    }

    /// An automaton that accepts one configuration, with weight `one`.
    pub fn of_configuration<V, M>(
        system: &System<V, M>,
        configuration: &Configuration,
        reading: Reading,
        one: &W,
    ) -> Self {
        let mut automaton = Self::for_system(system, reading);
        let mut at = configuration.state;
        for symbol in &configuration.stack {
            let next = automaton.add_state();
            automaton.add(at, *symbol, next, one.clone());
            at = next;
        }
        automaton.set_final(at);
        automaton
    }

    /// Adds a state.
    pub fn add_state(&mut self) -> State {
        self.finals.push(false);
        self.origins.push(Origin::Given);
        self.returning.push(false);
        self.store.add_state()
    }

    pub(crate) fn add_below(&mut self, state: State, symbol: Symbol) -> State {
        let below = self.add_state();
        self.origins[below.index()] = Origin::Below(state, symbol);
        below
    }

    /// The control state and entry symbol of the calls below which `state` lies, if post\* made it
    /// for calls.
    pub fn entry_of(&self, state: State) -> Option<(State, Symbol)> {
        match self.origins[state.index()] {
            Origin::Given => None,
            Origin::Below(p, symbol) => Some((p, symbol)),
        }
    }

    pub(crate) fn copy_origin(&mut self, state: State, of: &Self, from: State) {
        self.origins[state.index()] = of.origins[from.index()];
        self.returning[state.index()] = of.returning[from.index()];
    }

    /// Whether reaching `state` means that the frame read before has returned: true of control
    /// states, and of their copies in an intersection.
    pub fn is_returning(&self, state: State) -> bool {
        self.returning[state.index()]
    }

    pub(crate) fn set_returning(&mut self, state: State, returning: bool) {
        self.returning[state.index()] = returning;
    }

    /// Makes a state final.
    pub fn set_final(&mut self, state: State) {
        self.finals[state.index()] = true;
    }

    /// Whether a state is final.
    pub fn is_final(&self, state: State) -> bool {
        self.finals[state.index()]
    }

    /// How many states there are, control states included.
    pub fn state_count(&self) -> usize {
        self.store.state_count()
    }

    /// How many control states there are: the states that a configuration starts from.
    pub fn control_count(&self) -> usize {
        self.control
    }

    /// How many symbols the system has.
    pub fn symbol_count(&self) -> usize {
        self.symbols
    }

    /// How many transitions there are.
    pub fn transition_count(&self) -> usize {
        self.store.trans.len()
    }

    /// How paths are read.
    pub fn reading(&self) -> Reading {
        self.reading
    }

    /// The same automaton, read in another direction.
    pub fn read(self, reading: Reading) -> Self {
        Self { reading, ..self }
    }

    /// Adds a transition; does nothing if it is there already.
    pub fn add(&mut self, from: State, symbol: Symbol, to: State, weight: W) {
        let head = self.store.head(from, symbol);
        if self.store.find(head, to).is_none() {
            self.store.push(head, to, weight);
        }
    }

    /// Adds a transition, joining weights if it is there already.
    pub fn join<S>(&mut self, domain: &S, from: State, symbol: Symbol, to: State, weight: &W)
    where
        S: Semiring<Weight = W>,
    {
        let head = self.store.head(from, symbol);
        match self.store.find(head, to) {
            Some(id) => {
                domain.join(&mut self.store.weights[id as usize], weight);
            }
            None => {
                self.store.push(head, to, weight.clone());
            }
        }
    }

    /// All transitions with their weights.
    pub fn transitions(&self) -> impl Iterator<Item = (Transition, &W)> + '_ {
        (0..self.store.trans.len() as TransId)
            .map(|id| (self.transition(id), &self.store.weights[id as usize]))
    }

    /// The transitions that leave a state, with their weights.
    pub fn transitions_from(&self, state: State) -> impl Iterator<Item = (Transition, &W)> + '_ {
        self.store.from(state).map(|id| (self.transition(id), &self.store.weights[id as usize]))
    }

    /// The transitions that leave a state on a symbol, with their weights.
    pub fn transitions_on(
        &self,
        state: State,
        symbol: Symbol,
    ) -> impl Iterator<Item = (Transition, &W)> + '_ {
        self.store.on(state, symbol).map(|id| (self.transition(id), &self.store.weights[id as usize]))
    }

    pub(crate) fn transition(&self, id: TransId) -> Transition {
        let (from, symbol, to) = self.store.ends(id);
        Transition { from, symbol: (symbol != EPSILON).then_some(symbol), to, call: self.store.call(id) }
    }

    /// The weight on a transition; `None` if there is no such transition.
    ///
    /// For calls with merge functions this is the weight of the call that has not returned.
    pub fn weight_of<S>(&self, domain: &S, from: State, symbol: Symbol, to: State) -> Option<W>
    where
        S: Semiring<Weight = W>,
    {
        self.store
            .on(from, symbol)
            .filter(|id| self.store.trans[*id as usize].to == to.0)
            .map(|id| self.store.weights[id as usize].clone())
            .reduce(|a, b| domain.combine(&a, &b))
    }

    /// The same automaton with other weights.
    pub fn map_weights<V: Clone>(&self, mut weight: impl FnMut(&W) -> V) -> Automaton<V> {
        self.rebuild(|id| {
            let caller = self.callers.get(&id).map(&mut weight);
            Some((weight(&self.store.weights[id as usize]), caller))
        })
    }

    /// The same states, and those transitions for which `weight` gives a weight (and, for calls
    /// with merge functions, the caller's).
    pub(crate) fn rebuild<V: Clone>(
        &self,
        mut weight: impl FnMut(TransId) -> Option<(V, Option<V>)>,
    ) -> Automaton<V> {
        let mut copy = Automaton::new(self.control, self.symbols, self.reading);
        for q in self.control..self.state_count() {
            copy.add_state();
            copy.origins[q] = self.origins[q];
        }
        copy.finals.clone_from(&self.finals);
        copy.returning.clone_from(&self.returning);
        for id in 0..self.store.trans.len() as TransId {
            let Some((weight, caller)) = weight(id) else { continue };
            let (from, symbol, to) = self.store.ends(id);
            let head = match self.store.call(id) {
                Some(call) => copy.store.call_head(from, symbol, call),
                None => copy.store.head(from, symbol),
            };
            let new = copy.store.push(head, to, weight);
            if let Some(caller) = caller {
                copy.callers.insert(new, caller);
            }
        }
        copy
    }

    /// Leaves out what lies above calls that cannot happen: states below calls from which no
    /// transition leads on.
    pub(crate) fn without_dead_callees(self) -> Self {
        let callees = |q: usize| matches!(self.origins[q], Origin::Below(..));
        let mut alive: Vec<bool> = (0..self.state_count()).map(|q| !callees(q)).collect();
        let mut into: Vec<Vec<u32>> = vec![Vec::new(); self.state_count()];
        for id in 0..self.store.trans.len() as TransId {
            let (from, _, to) = self.store.ends(id);
            if callees(from.index()) {
                into[to.index()].push(from.0);
            }
        }
        let mut open: Vec<usize> = (0..alive.len()).filter(|q| alive[*q]).collect();
        while let Some(q) = open.pop() {
            for from in &into[q] {
                if !std::mem::replace(&mut alive[*from as usize], true) {
                    open.push(*from as usize);
                }
            }
        }
        if alive.iter().all(|alive| *alive) {
            return self;
        }
        self.rebuild(|id| {
            let (_, _, to) = self.store.ends(id);
            let weight = self.store.weights[id as usize].clone();
            alive[to.index()].then(|| (weight, self.callers.get(&id).cloned()))
        })
    }

    /// Whether some transition enters a control state, which saturation does not allow.
    pub fn enters_control(&self) -> bool {
        self.store.trans.iter().any(|trans| (trans.to as usize) < self.control)
    }

    /// An automaton for the same configurations in which no transition enters a control state.
    ///
    /// Control states that are entered get a copy with the same transitions (\[Lal09\] Def. 2.3.2:
    /// no loss of generality).
    pub fn normalised(&self) -> Self {
        let mut copy_of: FxHashMap<State, State> = FxHashMap::default();
        let mut normal = self.clone();
        let mut entered: Vec<State> =
            (self.store.trans.iter()).map(|t| State(t.to)).filter(|q| q.index() < self.control).collect();
        entered.sort_unstable();
        entered.dedup();
        for q in &entered {
            let copy = normal.add_state();
            normal.finals[copy.index()] = self.is_final(*q);
            copy_of.insert(*q, copy);
        }
        let mut clean = Automaton::new(self.control, self.symbols, self.reading);
        for q in self.control..normal.state_count() {
            clean.add_state();
            clean.origins[q] = normal.origins[q];
            clean.returning[q] = normal.returning[q];
        }
        clean.finals.clone_from(&normal.finals);
        for id in 0..self.store.trans.len() as TransId {
            let (from, symbol, to) = self.store.ends(id);
            let to = copy_of.get(&to).copied().unwrap_or(to);
            for from in std::iter::once(from).chain(copy_of.get(&from).copied()) {
                let head = match self.store.call(id) {
                    Some(call) => clean.store.call_head(from, symbol, call),
                    None => clean.store.head(from, symbol),
                };
                let new = clean.store.push(head, to, self.store.weights[id as usize].clone());
                if let Some(caller) = self.callers.get(&id) {
                    clean.callers.insert(new, caller.clone());
                }
            }
        }
        clean
    }

    /// The automaton as a graph in the DOT language; `label` prints a weight (nothing, for an empty
    /// string).
    pub fn dot<'a, V, M>(
        &'a self,
        system: &'a System<V, M>,
        label: impl Fn(&W) -> String + 'a,
    ) -> impl fmt::Display + 'a {
        fmt_from(move |f| {
            let name = |q: State| match self.entry_of(q) {
                _ if q.index() < self.control => system.states().show(q.0).to_string(),
                Some((p, s)) => {
                    format!("{}_{}", system.states().show(p.0), system.symbols().show(s.0))
                }
                None => format!("q{}", q.index() - self.control),
            };
            writeln!(f, "digraph automaton {{")?;
            writeln!(f, "  rankdir=LR;")?;
            for q in (0..self.state_count() as u32).map(State) {
                let shape = if self.is_final(q) { "doublecircle" } else { "circle" };
                let used = q.index() >= self.control || self.store.heads_of(q).next().is_some();
                if used || self.is_final(q) {
                    writeln!(f, "  s{} [label={:?}, shape={shape}];", q.0, name(q))?;
                }
            }
            for (t, weight) in self.transitions() {
                let mut text = match t.symbol {
                    Some(symbol) => system.symbols().show(symbol.0).to_string(),
                    None => "ε".to_owned(),
                };
                let weight = label(weight);
                if !weight.is_empty() {
                    text = format!("{text} : {weight}");
                }
                writeln!(f, "  s{} -> s{} [label={text:?}];", t.from.0, t.to.0)?;
            }
            writeln!(f, "}}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalising_keeps_the_language() {
        let mut automaton: Automaton<()> = Automaton::new(2, 2, Reading::Forward);
        automaton.add(State(0), Symbol(0), State(1), ());
        automaton.add(State(1), Symbol(1), State(1), ());
        automaton.set_final(State(1));
        assert!(automaton.enters_control());
        let normal = automaton.normalised();
        assert!(!normal.enters_control());
        assert!(normal.is_final(State(1)));
        assert_eq!(normal.transition_count(), 3);
        assert_eq!(normal.state_count(), 3);
    }

    #[test]
    fn dot_output_names_states_and_symbols() {
        let mut system: System<()> = System::new();
        let (p, a) = (system.state("p"), system.symbol("a"));
        let one = Configuration { state: p, stack: vec![a] };
        let automaton = Automaton::of_configuration(&system, &one, Reading::Forward, &());
        let dot = automaton.dot(&system, |_| String::new()).to_string();
        assert!(dot.contains("s0 -> s1 [label=\"a\"]"), "{dot}");
        assert!(dot.contains("doublecircle"));
    }
}
