//! From rules with wildcards to a system, and from its configurations back to those of the file.
//!
//! A wildcard rule stands for one rule a label. Where that would be too many, the control state
//! moves onto the stack: `⟨p, u⟩` becomes `⟨•, p u⟩`, and a rule for every label becomes one rule
//! that does not look below `p`.
//!
//! | in the file | as a system |
//! | --- | --- |
//! | `⟨p, *⟩ → ⟨q, *⟩` | `⟨•, p⟩ → ⟨•, q⟩` |
//! | `⟨p, *⟩ → ⟨q, a *⟩` | `⟨•, p⟩ → ⟨•, q a⟩` |
//! | `⟨p, *⟩ → ⟨q, w⟩`, w without `*` | `⟨•, p⟩ → ⟨drop, ε⟩`, and `⟨drop, x⟩ → ⟨•, q w⟩` for every label x |
//! | `⟨p, a⟩ → ⟨q, w⟩` | `⟨•, p⟩ → ⟨look, ε⟩` and `⟨look, a⟩ → ⟨•, q w⟩` |
//!
//! `*` needs a symbol: `⟨p, ε⟩` is stuck, yet the rules of the first two lines would run on `⟨•,
//! p⟩`. So the system knows where the stack ends: the lowest symbol of a stack is a *bottom* copy
//! `a⊥` of its label, and a pop of `a⊥` leads to `⟨•, q°⟩`, where `q°` stands for "`q` with the
//! empty stack" and has no rules. `⟨p, a b⟩` is therefore `⟨•, p a b⊥⟩`, and `⟨p, ε⟩` is `⟨•, p°⟩`.
//! Only labels that can be lowest in a run from the start set get a bottom copy: those at the end
//! of its stacks and what swaps make of them. Without a start set every label gets one.
//!
//! The weight of a rule is on exactly one of the rules that it becomes; the others cost nothing.

use std::fmt::Write;

use rustc_hash::FxHashMap;
use wherefore_pushdown::{Automaton, Configuration, Names, Rhs, State, Symbol, System};

/// Wildcards are written out if that gives at most this many rules and twice as many as the file
/// has.
const AFFORDABLE: usize = 10_000;

/// More rules than this are refused.
const MAX_RULES: usize = 100_000_000;

/// The label of a wildcard rule.
pub(super) const WILDCARD: u32 = u32::MAX;

/// What a rule of the file does with the topmost symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Leaves it: only as `"*": {"swap": "*"}`.
    Keep,
    Pop,
    Swap(u32),
    /// Puts a label above it.
    Push(u32),
}

/// A rule of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct WildRule {
    pub from: u32,
    /// A label or [`WILDCARD`].
    pub label: u32,
    pub to: u32,
    pub action: Action,
    pub weight: u64,
}

/// How the configurations of a file are laid out in its system.
///
/// Most systems have the states and symbols of their file. Where wildcards would give too many
/// rules, the control state is on the stack. In both cases long rules may go through configurations
/// of their own, which mean nothing in the file.
#[derive(Clone, Debug)]
pub struct Encoding {
    states: Names,
    symbols: Names,
    on_stack: Option<OnStack>,
}

#[derive(Clone, Debug)]
struct OnStack {
    /// The bottom copies of labels, by label.
    bottom: FxHashMap<u32, Symbol>,
    /// What stands for a state with the empty stack, by state.
    empty: FxHashMap<u32, Symbol>,
    /// The label or state of each symbol in `bottom` and `empty`.
    special: FxHashMap<Symbol, Special>,
}

#[derive(Clone, Copy, Debug)]
enum Special {
    Bottom(u32),
    Empty(u32),
}

impl Encoding {
    /// The layout of a system whose first states and symbols are those of its file.
    pub(super) fn direct(states: Names, symbols: Names) -> Self {
        Self { states, symbols, on_stack: None }
    }

    /// The control states of the file.
    pub fn states(&self) -> &Names {
        &self.states
    }

    /// The stack symbols of the file.
    pub fn symbols(&self) -> &Names {
        &self.symbols
    }

    /// Whether the control states of the file are on the stack of the system.
    pub fn is_on_stack(&self) -> bool {
        self.on_stack.is_some()
    }

    /// The configuration of the file that a configuration of the system stands for, in the numbers
    /// of [`states`](Self::states) and [`symbols`](Self::symbols); `None` for one inside a step.
    pub fn decode(&self, configuration: &Configuration) -> Option<Configuration> {
        let label = |symbol: &Symbol| symbol.index() < self.symbols.len();
        let Some(layout) = &self.on_stack else {
            let known =
                configuration.state.index() < self.states.len() && configuration.stack.iter().all(label);
            return known.then(|| configuration.clone());
        };
        let (top, below) = configuration.stack.split_first()?;
        if configuration.state != DOT {
            return None;
        }
        let states = self.states.len() as u32;
        match (below.split_last(), layout.special.get(top)) {
            (None, Some(Special::Empty(p))) => Some(Configuration { state: State(*p), stack: Vec::new() }),
            (Some((last, middle)), None) if top.0 < states => {
                let Some(Special::Bottom(last)) = layout.special.get(last) else {
                    return None;
                };
                let unmoved = |s: &Symbol| s.0.checked_sub(states).map(Symbol).filter(label);
                let mut stack: Vec<Symbol> = middle.iter().map(unmoved).collect::<Option<_>>()?;
                stack.push(Symbol(*last));
                Some(Configuration { state: State(top.0), stack })
            }
            _ => None,
        }
    }

    /// What a node of the system (a control state and a topmost symbol) is in the file; `None` for
    /// one inside a step.
    ///
    /// Where control states are on the stack, the topmost symbol is the control state, and the
    /// symbol is not known.
    pub fn decode_node(&self, state: State, top: Symbol) -> Option<(State, Option<Symbol>)> {
        match &self.on_stack {
            None => {
                let known = state.index() < self.states.len() && top.index() < self.symbols.len();
                known.then_some((state, Some(top)))
            }
            Some(_) => (state == DOT && top.index() < self.states.len()).then_some((State(top.0), None)),
        }
    }

    /// A configuration of the file, ready to print: `<p, a b>`.
    pub fn show(&self, configuration: &Configuration) -> String {
        let mut shown = format!("<{},", self.states.show(configuration.state.0));
        for symbol in &configuration.stack {
            // Writing to a string does not fail.
            let _ = write!(shown, " {}", self.symbols.show(symbol.0));
        }
        shown.push('>');
        shown
    }

    /// The automaton over `system` for the configurations that `original`, over the file, accepts.
    ///
    /// **Requires:** `original` has no ε, and no transition of it enters a control state.
    pub(super) fn automaton(&self, system: &System<u64>, original: Automaton<()>) -> Automaton<()> {
        let Some(layout) = &self.on_stack else {
            return original;
        };
        let states = self.states.len() as u32;
        let mut moved = Automaton::for_system(system, original.reading());
        let end = moved.add_state();
        moved.set_final(end);
        let mut copies: Vec<Option<State>> = vec![None; original.state_count()];
        for q in (0..original.state_count() as u32).map(State) {
            let control = q.index() < original.control_count();
            if original.transitions_from(q).next().is_some() {
                let copy = moved.add_state();
                copies[q.index()] = Some(copy);
                if control {
                    moved.add(DOT, Symbol(q.0), copy, ());
                }
            }
            if let (true, true, Some(empty)) = (control, original.is_final(q), layout.empty.get(&q.0)) {
                moved.add(DOT, *empty, end, ());
            }
        }
        for (t, ()) in original.transitions() {
            let (Some(from), Some(symbol)) = (copies[t.from.index()], t.symbol) else {
                continue;
            };
            if let Some(to) = copies[t.to.index()] {
                moved.add(from, Symbol(states + symbol.0), to, ());
            }
            if let (true, Some(bottom)) = (original.is_final(t.to), layout.bottom.get(&symbol.0)) {
                moved.add(from, *bottom, end, ());
            }
        }
        moved
    }
}

/// The only control state of configurations that stand for one of the file.
const DOT: State = State(0);

/// Builds the system of a file; `Err` says how many rules it would have if they are too many.
///
/// `sets` are the start set and the target set, over the names of the file.
pub(super) fn encode(
    states: Names,
    symbols: Names,
    rules: &[WildRule],
    start: Option<&Automaton<()>>,
    target: Option<&Automaton<()>>,
) -> Result<(System<u64>, Encoding), usize> {
    let wild = rules.iter().filter(|r| r.label == WILDCARD).count();
    let labels = symbols.len();
    let expanded = wild.saturating_mul(labels).saturating_add(rules.len() - wild);
    if wild.saturating_mul(labels) > 2 * rules.len() + AFFORDABLE {
        let moved = Mover::estimate(rules, labels);
        if moved < expanded {
            if moved > MAX_RULES {
                return Err(moved);
            }
            return Ok(on_stack(states, symbols, rules, start, target));
        }
    }
    if expanded > MAX_RULES {
        return Err(expanded);
    }
    Ok(written_out(states, symbols, rules, expanded))
}

fn written_out(states: Names, symbols: Names, rules: &[WildRule], count: usize) -> (System<u64>, Encoding) {
    let labels = symbols.len() as u32;
    let mut system = System::with_names(states.clone(), symbols.clone());
    system.reserve(count);
    for rule in rules {
        let tops = if rule.label == WILDCARD { 0..labels } else { rule.label..rule.label + 1 };
        for top in tops.map(Symbol) {
            let rhs = match rule.action {
                Action::Keep => Rhs::Swap(top),
                Action::Pop => Rhs::Pop,
                Action::Swap(a) => Rhs::Swap(Symbol(a)),
                Action::Push(a) => Rhs::Push(Symbol(a), top),
            };
            system.add(State(rule.from), top, State(rule.to), rhs, rule.weight);
        }
    }
    (system, Encoding::direct(states, symbols))
}

fn on_stack(
    states: Names,
    symbols: Names,
    rules: &[WildRule],
    start: Option<&Automaton<()>>,
    target: Option<&Automaton<()>>,
) -> (System<u64>, Encoding) {
    let (count, labels) = (states.len() as u32, symbols.len() as u32);
    let lowest = lowest_labels(labels, rules, start);
    let mut stack_names = states.clone();
    for label in 0..labels {
        stack_names.fresh(&symbols.show(label).to_string());
    }
    let mut layout =
        OnStack { bottom: FxHashMap::default(), empty: FxHashMap::default(), special: FxHashMap::default() };
    for label in (0..labels).filter(|a| lowest[*a as usize]) {
        let symbol = Symbol(stack_names.fresh(&format!("{}⊥", symbols.show(label))));
        layout.bottom.insert(label, symbol);
        layout.special.insert(symbol, Special::Bottom(label));
    }
    let mut emptied = vec![false; count as usize];
    for rule in rules.iter().filter(|r| r.action == Action::Pop) {
        emptied[rule.to as usize] |= match rule.label {
            WILDCARD => !layout.bottom.is_empty(),
            label => lowest[label as usize],
        };
    }
    for set in start.into_iter().chain(target) {
        for p in 0..count {
            emptied[p as usize] |= set.is_final(State(p));
        }
    }
    for p in (0..count).filter(|p| emptied[*p as usize]) {
        let symbol = Symbol(stack_names.fresh(&format!("{}°", states.show(p))));
        layout.empty.insert(p, symbol);
        layout.special.insert(symbol, Special::Empty(p));
    }
    let mut control_names = Names::new();
    control_names.intern("•");
    let mut mover = Mover {
        states: &states,
        symbols: &symbols,
        layout: &layout,
        system: System::with_names(control_names, stack_names),
        looks: FxHashMap::default(),
        drops: FxHashMap::default(),
    };
    mover.system.reserve(rules.len());
    for rule in rules {
        mover.add(rule);
    }
    let system = mover.system;
    (system, Encoding { states, symbols, on_stack: Some(layout) })
}

/// Which labels can be lowest in a stack that a run from `start` reaches, or a few more.
fn lowest_labels(labels: u32, rules: &[WildRule], start: Option<&Automaton<()>>) -> Vec<bool> {
    let Some(start) = start else {
        return vec![true; labels as usize];
    };
    let mut lowest = vec![false; labels as usize];
    let mut todo = Vec::new();
    for (t, ()) in start.transitions().filter(|(t, ())| start.is_final(t.to)) {
        if let Some(symbol) = t.symbol {
            if !std::mem::replace(&mut lowest[symbol.index()], true) {
                todo.push(symbol.0);
            }
        }
    }
    if todo.is_empty() {
        return lowest;
    }
    let mut swaps: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for rule in rules {
        if let Action::Swap(a) = rule.action {
            if rule.label != WILDCARD {
                swaps.entry(rule.label).or_default().push(a);
            } else if !std::mem::replace(&mut lowest[a as usize], true) {
                todo.push(a);
            }
        }
    }
    while let Some(label) = todo.pop() {
        for next in swaps.get(&label).into_iter().flatten() {
            if !std::mem::replace(&mut lowest[*next as usize], true) {
                todo.push(*next);
            }
        }
    }
    lowest
}

struct Mover<'a> {
    states: &'a Names,
    symbols: &'a Names,
    layout: &'a OnStack,
    system: System<u64>,
    /// By state: the control state that has taken it off the stack to look at the label below.
    looks: FxHashMap<u32, State>,
    /// By what comes next (a state, and a label if one replaces the other): the control state that
    /// drops any label.
    drops: FxHashMap<(u32, Option<u32>), State>,
}

impl Mover<'_> {
    /// How many rules there will be at most.
    fn estimate(rules: &[WildRule], labels: usize) -> usize {
        let mut drops: Vec<(u32, Option<u32>)> = (rules.iter())
            .filter(|r| r.label == WILDCARD)
            .filter_map(|r| match r.action {
                Action::Pop => Some((r.to, None)),
                Action::Swap(a) => Some((r.to, Some(a))),
                _ => None,
            })
            .collect();
        drops.sort_unstable();
        drops.dedup();
        let once = rules.iter().map(|r| if r.label == WILDCARD { 1 } else { 5 }).sum::<usize>();
        once.saturating_add(drops.len().saturating_mul(2 * labels))
    }

    fn add(&mut self, rule: &WildRule) {
        let (from, to) = (Symbol(rule.from), Symbol(rule.to));
        if rule.label != WILDCARD {
            let look = self.look(rule.from);
            return self.below(look, rule.label, rule.to, rule.action, rule.weight);
        }
        match rule.action {
            Action::Keep => {
                self.system.add(DOT, from, DOT, Rhs::Swap(to), rule.weight);
            }
            Action::Push(a) => {
                self.system.add(DOT, from, DOT, Rhs::Push(to, self.label(a)), rule.weight);
            }
            Action::Pop | Action::Swap(_) => {
                let drop = self.drop_any(rule.to, rule.action);
                self.system.add(DOT, from, drop, Rhs::Pop, rule.weight);
            }
        }
    }

    fn label(&self, label: u32) -> Symbol {
        Symbol(self.states.len() as u32 + label)
    }

    fn look(&mut self, from: u32) -> State {
        if let Some(look) = self.looks.get(&from) {
            return *look;
        }
        let look = self.system.state(&format!("look {}", self.states.show(from)));
        self.looks.insert(from, look);
        self.system.add(DOT, Symbol(from), look, Rhs::Pop, 0);
        look
    }

    fn drop_any(&mut self, to: u32, action: Action) -> State {
        let swap = match action {
            Action::Swap(a) => Some(a),
            _ => None,
        };
        if let Some(drop) = self.drops.get(&(to, swap)) {
            return *drop;
        }
        let name = match swap {
            // Tabs keep the two names apart: both may contain blanks.
            Some(a) => format!("drop {}\t{}", self.states.show(to), self.symbols.show(a)),
            None => format!("drop {}", self.states.show(to)),
        };
        let drop = State(self.fresh_state(&name));
        self.drops.insert((to, swap), drop);
        for label in 0..self.symbols.len() as u32 {
            self.below(drop, label, to, action, 0);
        }
        drop
    }

    /// A control state with a new name.
    fn fresh_state(&mut self, stem: &str) -> u32 {
        let mut name = stem.to_owned();
        while self.system.states().get(&name).is_some() {
            name.push('\'');
        }
        self.system.state(&name).0
    }

    /// The rules that do `action` on the label below the place of the state, which has been taken
    /// off.
    fn below(&mut self, look: State, label: u32, to: u32, action: Action, weight: u64) {
        let state = Symbol(to);
        let plain = self.label(label);
        let word = |this: &Self, own: Symbol, end: &dyn Fn(u32) -> Option<Symbol>| match action {
            Action::Keep => Some(vec![state, own]),
            Action::Pop => None,
            Action::Swap(a) => end(a).map(|a| vec![state, a]),
            Action::Push(a) => Some(vec![state, this.label(a), own]),
        };
        let middle = word(self, plain, &|a| Some(self.label(a))).unwrap_or_else(|| vec![state]);
        self.system.add_rule(look, plain, DOT, &middle, weight, &0);
        if let Some(bottom) = self.layout.bottom.get(&label).copied() {
            let last = match action {
                Action::Pop => self.layout.empty.get(&to).map(|empty| vec![*empty]),
                _ => word(self, bottom, &|a| self.layout.bottom.get(&a).copied()),
            };
            if let Some(last) = last {
                self.system.add_rule(look, bottom, DOT, &last, weight, &0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use wherefore_pushdown::Reading;

    use super::*;

    const STATES: u32 = 3;
    const LABELS: u32 = 3;

    /// Stacks of the file are explored up to this height.
    const HEIGHT: usize = 4;

    fn names() -> (Names, Names) {
        // The same names on both sides, so that they clash on the stack.
        (Names::numbered(STATES), Names::numbered(LABELS))
    }

    fn rule() -> impl Strategy<Value = WildRule> {
        let label = prop_oneof![Just(WILDCARD), 0..LABELS];
        let action = (0..4, 0..LABELS);
        (0..STATES, label, 0..STATES, action, 0..4u64).prop_map(|(from, label, to, (kind, a), weight)| {
            let action = match kind {
                0 if label == WILDCARD => Action::Keep,
                0 | 1 => Action::Pop,
                2 => Action::Swap(a),
                _ => Action::Push(a),
            };
            WildRule { from, label, to, action, weight }
        })
    }

    fn configuration() -> impl Strategy<Value = Configuration> {
        (0..STATES, prop::collection::vec((0..LABELS).prop_map(Symbol), 0..HEIGHT))
            .prop_map(|(p, stack)| Configuration { state: State(p), stack })
    }

    fn words() -> Vec<Vec<Symbol>> {
        let mut words = vec![vec![]];
        for i in 0.. {
            if i == words.len() || words[i].len() == 3 {
                break;
            }
            for a in 0..LABELS {
                let mut longer = words[i].clone();
                longer.push(Symbol(a));
                words.push(longer);
            }
        }
        words
    }

    fn set_of(configurations: &[Configuration]) -> Automaton<()> {
        let mut set = Automaton::new(STATES as usize, LABELS as usize, Reading::Forward);
        for configuration in configurations {
            let mut at = configuration.state;
            for symbol in &configuration.stack {
                let next = set.add_state();
                set.add(at, *symbol, next, ());
                at = next;
            }
            set.set_final(at);
        }
        set
    }

    fn accepts(automaton: &Automaton<()>, configuration: &Configuration) -> bool {
        let mut now = vec![configuration.state];
        for symbol in &configuration.stack {
            now =
                now.iter().flat_map(|q| automaton.transitions_on(*q, *symbol)).map(|(t, ())| t.to).collect();
        }
        now.iter().any(|q| automaton.is_final(*q))
    }

    /// The configurations of a system that an automaton accepts, up to a height.
    fn members(automaton: &Automaton<()>, height: usize) -> Vec<Configuration> {
        let mut found = Vec::new();
        let mut todo: Vec<(State, Configuration)> = (0..automaton.control_count() as u32)
            .map(|p| (State(p), Configuration { state: State(p), stack: vec![] }))
            .collect();
        while let Some((q, configuration)) = todo.pop() {
            for (t, ()) in automaton.transitions_from(q).filter(|_| configuration.stack.len() < height) {
                let mut longer = configuration.clone();
                longer.stack.extend(t.symbol);
                todo.push((t.to, longer));
            }
            if automaton.is_final(q) {
                found.push(configuration);
            }
        }
        found.sort();
        found.dedup();
        found
    }

    /// The cheapest way to each configuration, by brute force.
    fn costs(
        start: Vec<Configuration>,
        next: impl Fn(&Configuration) -> Vec<(Configuration, u64)>,
    ) -> BTreeMap<Configuration, u64> {
        let mut costs: BTreeMap<Configuration, u64> = start.iter().map(|c| (c.clone(), 0)).collect();
        let mut todo = start;
        while let Some(configuration) = todo.pop() {
            let cost = costs[&configuration];
            for (after, step) in next(&configuration) {
                let better = costs.get(&after).is_none_or(|old| cost + step < *old);
                if better {
                    costs.insert(after.clone(), cost + step);
                    todo.push(after);
                }
            }
        }
        costs
    }

    /// The rules of the file, run as the format says.
    fn steps_of_the_file(rules: &[WildRule], now: &Configuration) -> Vec<(Configuration, u64)> {
        let Some((top, rest)) = now.stack.split_first() else {
            return vec![];
        };
        let mut after = Vec::new();
        for rule in rules.iter().filter(|r| State(r.from) == now.state) {
            if rule.label == WILDCARD || Symbol(rule.label) == *top {
                let mut stack = match rule.action {
                    Action::Keep => vec![*top],
                    Action::Pop => vec![],
                    Action::Swap(a) => vec![Symbol(a)],
                    Action::Push(a) => vec![Symbol(a), *top],
                };
                stack.extend(rest);
                if stack.len() <= HEIGHT {
                    after.push((Configuration { state: State(rule.to), stack }, rule.weight));
                }
            }
        }
        after
    }

    fn steps_of_the_system(
        system: &System<u64>,
        encoding: &Encoding,
        now: &Configuration,
    ) -> Vec<(Configuration, u64)> {
        let low = |c: &Configuration| encoding.decode(c).is_none_or(|c| c.stack.len() <= HEIGHT);
        (system.rules())
            .filter_map(|(rule, _)| Some((system.step(rule, now)?, *system.weight(rule))))
            .filter(|(after, _)| low(after))
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn both_layouts_reach_what_the_file_reaches_at_the_same_cost(
            rules in prop::collection::vec(rule(), 0..9),
            start in prop::collection::vec(configuration(), 1..3),
            known in any::<bool>(),
        ) {
            let expected = costs(start.clone(), |now| steps_of_the_file(&rules, now));
            let set = set_of(&start);
            let (states, symbols) = names();
            let known = known.then_some(&set);
            let layouts = [
                written_out(states.clone(), symbols.clone(), &rules, 0),
                on_stack(states, symbols, &rules, Some(&set), known),
                on_stack(names().0, names().1, &rules, None, Some(&set)),
            ];
            for (system, encoding) in layouts {
                let moved = members(&encoding.automaton(&system, set.clone()), HEIGHT + 1);
                prop_assert_eq!(moved.len(), members(&set, HEIGHT).len());
                let reached = costs(moved, |now| steps_of_the_system(&system, &encoding, now));
                let mut decoded = BTreeMap::new();
                for (configuration, cost) in reached {
                    if let Some(original) = encoding.decode(&configuration) {
                        prop_assert_eq!(decoded.insert(original, cost), None, "two codes of one configuration");
                    }
                }
                prop_assert_eq!(&decoded, &expected);
            }
        }

        #[test]
        fn moved_sets_hold_the_same_configurations(members_of in prop::collection::vec(configuration(), 0..5)) {
            let set = set_of(&members_of);
            let (states, symbols) = names();
            let (system, encoding) = on_stack(states, symbols, &[], None, Some(&set));
            let moved = encoding.automaton(&system, set.clone());
            prop_assert!(!moved.enters_control());
            let mut decoded: Vec<Configuration> =
                members(&moved, HEIGHT + 1).iter().filter_map(|c| encoding.decode(c)).collect();
            decoded.sort();
            decoded.dedup();
            let mut expected = members_of.clone();
            expected.sort();
            expected.dedup();
            prop_assert_eq!(&decoded, &expected);
            for p in 0..STATES {
                for stack in words() {
                    let configuration = Configuration { state: State(p), stack };
                    prop_assert_eq!(accepts(&set, &configuration), decoded.contains(&configuration));
                }
            }
        }
    }

    #[test]
    fn a_wildcard_rule_is_stuck_on_the_empty_stack() {
        let keep = WildRule { from: 0, label: WILDCARD, to: 1, action: Action::Keep, weight: 1 };
        let empty = set_of(&[Configuration { state: State(0), stack: vec![] }]);
        let (states, symbols) = names();
        let (system, encoding) = on_stack(states, symbols, &[keep], Some(&empty), None);
        let start = members(&encoding.automaton(&system, empty), 3);
        assert_eq!(start.len(), 1);
        assert_eq!(encoding.decode(&start[0]), Some(Configuration { state: State(0), stack: vec![] }));
        assert!(system.rules().all(|(rule, _)| system.step(rule, &start[0]).is_none()));
    }

    #[test]
    fn many_wildcards_move_the_state_to_the_stack() {
        let count = 500;
        let rules: Vec<WildRule> = (0..count)
            .map(|p| {
                let to = (p + 1) % count;
                WildRule { from: p, label: WILDCARD, to, action: Action::Push(p), weight: 1 }
            })
            .collect();
        let encoded = encode(Names::numbered(count), Names::numbered(count), &rules, None, None).unwrap();
        assert!(encoded.1.is_on_stack());
        assert_eq!(encoded.0.rule_count(), 500);
        let few = encode(Names::numbered(count), Names::numbered(count), &rules[..10], None, None).unwrap();
        assert!(!few.1.is_on_stack());
        assert_eq!(few.0.rule_count(), 5000);
    }

    #[test]
    fn in_between_configurations_mean_nothing() {
        let push = WildRule { from: 0, label: 1, to: 2, action: Action::Push(0), weight: 1 };
        let (states, symbols) = names();
        let (system, encoding) = on_stack(states, symbols, &[push], None, None);
        let start = set_of(&[Configuration { state: State(0), stack: vec![Symbol(1)] }]);
        let mut now = members(&encoding.automaton(&system, start), 3).remove(0);
        let mut seen = vec![encoding.decode(&now)];
        while let Some(next) = system.rules().find_map(|(rule, _)| system.step(rule, &now)) {
            seen.push(encoding.decode(&next));
            now = next;
        }
        let shown: Vec<_> = seen.iter().map(|c| c.as_ref().map(|c| encoding.show(c))).collect();
        assert_eq!(shown, [Some("<0, 1>".to_owned()), None, None, Some("<2, 0 1>".to_owned())]);
    }
}
