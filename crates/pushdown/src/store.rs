//! Transitions by number: the array structure under every automaton and every saturation.
//!
//! A *head* is an interned pair (state, symbol); a transition is a head and a target state. Rules
//! are resolved to heads once, before saturation starts, so that the inner loop inserts by number
//! and hashes nothing. A head of many targets keeps its targets in a hash table as well, so that
//! insertion stays constant on average.

use rustc_hash::FxHashMap;

use crate::names::{RuleId, State, Symbol};

/// "No such thing" in arrays of numbers.
pub(crate) const NONE: u32 = u32::MAX;

/// The symbol of an ε-transition.
pub(crate) const EPSILON: Symbol = Symbol(u32::MAX);

/// Targets of one head that are searched one by one; above this a hash table helps.
const SHORT_LIST: u32 = 8;

/// The number of a head.
pub(crate) type HeadId = u32;

/// The number of a transition.
pub(crate) type TransId = u32;

/// A pair (state, symbol), and for a call with a merge function its rule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    pub state: u32,
    pub symbol: u32,
    /// The rule of a call with a merge function: transitions of different rules are kept apart.
    pub call: u32,
    /// Latest transition of this head.
    pub first: TransId,
    pub len: u32,
    /// Next head of the same state.
    pub next_of_state: HeadId,
    /// Next head with the same state and symbol, but another call rule.
    pub next_variant: HeadId,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Trans {
    pub head: HeadId,
    pub to: u32,
    /// Next transition of the same head.
    pub next: TransId,
}

/// Heads, transitions and weights.
#[derive(Clone, Debug)]
pub(crate) struct Store<W> {
    control: usize,
    symbols: usize,
    /// `symbol * control + state` for control states, where that table is small enough.
    dense: Vec<HeadId>,
    sparse: FxHashMap<u64, HeadId>,
    pub heads: Vec<Head>,
    head_of_state: Vec<HeadId>,
    pub trans: Vec<Trans>,
    pub weights: Vec<W>,
    long_lists: FxHashMap<u64, TransId>,
}

impl<W> Store<W> {
    /// An empty store for `control` control states and `symbols` symbols, in a system of `rules`
    /// rules.
    pub fn new(control: usize, symbols: usize, rules: usize) -> Self {
        let cells = control.saturating_mul(symbols);
        let affordable = cells <= 4 * (rules + symbols) + 1024;
        Self {
            control,
            symbols,
            dense: if affordable { vec![NONE; cells] } else { Vec::new() },
            sparse: FxHashMap::default(),
            heads: Vec::new(),
            head_of_state: vec![NONE; control],
            trans: Vec::new(),
            weights: Vec::new(),
            long_lists: FxHashMap::default(),
        }
    }

    pub fn state_count(&self) -> usize {
        self.head_of_state.len()
    }

    pub fn add_state(&mut self) -> State {
        self.head_of_state.push(NONE);
        State(self.head_of_state.len() as u32 - 1)
    }

    fn cell(&self, state: State, symbol: Symbol) -> Option<usize> {
        (!self.dense.is_empty() && state.index() < self.control && symbol.index() < self.symbols)
            .then(|| symbol.index() * self.control + state.index())
    }

    /// The head of (state, symbol), if it was ever named.
    pub fn find_head(&self, state: State, symbol: Symbol) -> Option<HeadId> {
        let id = match self.cell(state, symbol) {
            Some(cell) => self.dense[cell],
            None => *self.sparse.get(&key(state.0, symbol.0))?,
        };
        (id != NONE).then_some(id)
    }

    /// The head of (state, symbol).
    pub fn head(&mut self, state: State, symbol: Symbol) -> HeadId {
        if let Some(id) = self.find_head(state, symbol) {
            return id;
        }
        let id = self.push_head(state, symbol, NONE);
        match self.cell(state, symbol) {
            Some(cell) => self.dense[cell] = id,
            None => {
                self.sparse.insert(key(state.0, symbol.0), id);
            }
        }
        id
    }

    /// The head of (state, symbol) for transitions made by the call rule `call`.
    pub fn call_head(&mut self, state: State, symbol: Symbol, call: RuleId) -> HeadId {
        let plain = self.head(state, symbol);
        let mut last = plain;
        loop {
            let head = &self.heads[last as usize];
            if head.call == call.0 {
                return last;
            }
            if head.next_variant == NONE {
                break;
            }
            last = head.next_variant;
        }
        let id = self.push_head(state, symbol, call.0);
        self.heads[last as usize].next_variant = id;
        id
    }

    fn push_head(&mut self, state: State, symbol: Symbol, call: u32) -> HeadId {
        let id = self.heads.len() as HeadId;
        self.heads.push(Head {
            state: state.0,
            symbol: symbol.0,
            call,
            first: NONE,
            len: 0,
            next_of_state: std::mem::replace(&mut self.head_of_state[state.index()], id),
            next_variant: NONE,
        });
        id
    }

    /// The transition of `head` to `to`, if there is one.
    pub fn find(&self, head: HeadId, to: State) -> Option<TransId> {
        let entry = &self.heads[head as usize];
        if entry.len > SHORT_LIST {
            return self.long_lists.get(&key(head, to.0)).copied();
        }
        let mut id = entry.first;
        while id != NONE {
            let trans = &self.trans[id as usize];
            if trans.to == to.0 {
                return Some(id);
            }
            id = trans.next;
        }
        None
    }

    /// Adds a transition that is known to be new.
    pub fn push(&mut self, head: HeadId, to: State, weight: W) -> TransId {
        let id = self.trans.len() as TransId;
        let entry = &mut self.heads[head as usize];
        self.trans.push(Trans { head, to: to.0, next: std::mem::replace(&mut entry.first, id) });
        self.weights.push(weight);
        entry.len += 1;
        if entry.len > SHORT_LIST + 1 {
            self.long_lists.insert(key(head, to.0), id);
        } else if entry.len == SHORT_LIST + 1 {
            let mut each = id;
            while each != NONE {
                let trans = &self.trans[each as usize];
                self.long_lists.insert(key(head, trans.to), each);
                each = trans.next;
            }
        }
        id
    }

    /// The state and symbol that a transition reads, and the state it enters.
    pub fn ends(&self, id: TransId) -> (State, Symbol, State) {
        let trans = &self.trans[id as usize];
        let head = &self.heads[trans.head as usize];
        (State(head.state), Symbol(head.symbol), State(trans.to))
    }

    /// The call rule that made a transition, if that rule has a merge function.
    pub fn call(&self, id: TransId) -> Option<RuleId> {
        let call = self.heads[self.trans[id as usize].head as usize].call;
        (call != NONE).then_some(RuleId(call))
    }

    /// The transitions of one head, latest first.
    pub fn of_head(&self, head: HeadId) -> impl Iterator<Item = TransId> + '_ {
        let first = self.heads[head as usize].first;
        std::iter::successors((first != NONE).then_some(first), |id| {
            let next = self.trans[*id as usize].next;
            (next != NONE).then_some(next)
        })
    }

    /// The latest head of one state; [`Head::next_of_state`] leads on.
    pub fn first_head(&self, state: State) -> HeadId {
        self.head_of_state[state.index()]
    }

    /// The heads of one state.
    pub fn heads_of(&self, state: State) -> impl Iterator<Item = HeadId> + '_ {
        let first = self.head_of_state[state.index()];
        std::iter::successors((first != NONE).then_some(first), |id| {
            let next = self.heads[*id as usize].next_of_state;
            (next != NONE).then_some(next)
        })
    }

    /// The heads of (state, symbol): the plain one, then those of calls with merge functions.
    pub fn variants(&self, state: State, symbol: Symbol) -> impl Iterator<Item = HeadId> + '_ {
        std::iter::successors(self.find_head(state, symbol), |id| {
            let next = self.heads[*id as usize].next_variant;
            (next != NONE).then_some(next)
        })
    }

    /// The transitions that leave a state.
    pub fn from(&self, state: State) -> impl Iterator<Item = TransId> + '_ {
        self.heads_of(state).flat_map(|head| self.of_head(head))
    }

    /// The transitions that leave a state on one symbol.
    pub fn on(&self, state: State, symbol: Symbol) -> impl Iterator<Item = TransId> + '_ {
        self.variants(state, symbol).flat_map(|head| self.of_head(head))
    }

    /// About how many bytes the store takes, weights counted by their size alone.
    pub fn bytes(&self) -> usize {
        const ENTRY: usize = 24;
        self.heads.capacity() * size_of::<Head>()
            + self.trans.capacity() * size_of::<Trans>()
            + self.weights.capacity() * size_of::<W>()
            + (self.dense.capacity() + self.head_of_state.capacity()) * 4
            + (self.sparse.capacity() + self.long_lists.capacity()) * ENTRY
    }
}

fn key(a: u32, b: u32) -> u64 {
    (u64::from(a) << 32) | u64::from(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_and_short_ones_find_the_same_targets() {
        let mut store: Store<u32> = Store::new(1, 1, 1);
        let states: Vec<State> = (0..40).map(|_| store.add_state()).collect();
        let head = store.head(State(0), Symbol(0));
        for (i, to) in states.iter().enumerate() {
            assert_eq!(store.find(head, *to), None);
            let id = store.push(head, *to, i as u32);
            assert_eq!(store.find(head, *to), Some(id));
            assert_eq!(store.find(head, states[0]), Some(0));
        }
        assert_eq!(store.from(State(0)).count(), 40);
    }

    #[test]
    fn calls_of_different_rules_are_kept_apart() {
        let mut store: Store<()> = Store::new(1, 2, 1);
        let mid = store.add_state();
        let a = store.call_head(mid, Symbol(1), RuleId(4));
        let b = store.call_head(mid, Symbol(1), RuleId(7));
        assert_ne!(a, b);
        assert_eq!(store.call_head(mid, Symbol(1), RuleId(4)), a);
        store.push(a, State(0), ());
        store.push(b, State(0), ());
        assert_eq!(store.on(mid, Symbol(1)).count(), 2);
    }
}
