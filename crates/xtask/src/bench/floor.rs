//! The floor: post\* and pre\* without weights, orders, limits, witnesses or a general automaton.
//!
//! It answers nothing but "which transitions are there?", from one start or target configuration
//! with one symbol. What the engine takes above it is the price of everything else that the engine
//! does.

use wherefore_pushdown::{Rhs, State, Symbol, System};

const NONE: u32 = u32::MAX;

/// Transitions as linked lists, one for each head (control state, symbol) or (other state, symbol).
struct Lists {
    first: Vec<u32>,
    cells: Vec<(u32, u32, u32)>,
}

impl Lists {
    /// Adds target `to` to `head`; false if it was there.
    fn add(&mut self, head: u32, to: u32) -> bool {
        let mut cell = self.first[head as usize];
        while cell != NONE {
            let (_, target, next) = self.cells[cell as usize];
            if target == to {
                return false;
            }
            cell = next;
        }
        self.cells.push((head, to, self.first[head as usize]));
        self.first[head as usize] = self.cells.len() as u32 - 1;
        true
    }
}

/// Rules grouped by a key.
fn group(keys: impl Iterator<Item = u32> + Clone, bound: usize) -> (Vec<u32>, Vec<u32>) {
    let mut first = vec![0u32; bound + 1];
    keys.clone().for_each(|key| first[key as usize + 1] += 1);
    (0..bound).for_each(|i| first[i + 1] += first[i]);
    let mut fill = first.clone();
    let mut grouped = vec![0; *first.last().unwrap_or(&0) as usize];
    for (rule, key) in keys.enumerate() {
        grouped[fill[key as usize] as usize] = rule as u32;
        fill[key as usize] += 1;
    }
    (first, grouped)
}

/// The number of transitions of post\* from one configuration, ε-transitions included.
pub fn post_star<W>(system: &System<W>, start: (State, Symbol)) -> usize {
    let states = system.state_count() as u32;
    let heads = states * system.symbol_count() as u32;
    let head = |p: State, s: Symbol| s.0 * states + p.0;
    let rules: Vec<_> = system.rules().map(|(_, rule)| rule).collect();
    let (first, by_left) = group(rules.iter().map(|r| head(r.from, r.symbol)), heads as usize);
    // A state below calls is numbered by the head of the entry; heads of such states by the rule.
    let end = heads;
    let mut lists = Lists { first: vec![NONE; heads as usize], cells: Vec::new() };
    // Below an entry head: (return site, target) pairs; and the control states in which the callee
    // has returned.
    let mut below: Vec<Vec<(u32, u32)>> = vec![Vec::new(); heads as usize + 1];
    let mut returned: Vec<Vec<u32>> = vec![Vec::new(); heads as usize + 1];
    lists.add(head(start.0, start.1), end);
    let mut count = 0;
    let mut next = 0;
    while next < lists.cells.len() {
        let (from, to, _) = lists.cells[next];
        next += 1;
        for i in first[from as usize]..first[from as usize + 1] {
            let rule = &rules[by_left[i as usize] as usize];
            match rule.rhs {
                Rhs::Swap(a) => {
                    lists.add(head(rule.to, a), to);
                }
                Rhs::Pop => {
                    if !returned[to as usize].contains(&rule.to.0) {
                        returned[to as usize].push(rule.to.0);
                        count += 1;
                        for (back, target) in &below[to as usize] {
                            lists.add(head(rule.to, Symbol(*back)), *target);
                        }
                    }
                }
                Rhs::Push(a, b) => {
                    let entry = head(rule.to, a);
                    lists.add(entry, entry);
                    if !below[entry as usize].contains(&(b.0, to)) {
                        below[entry as usize].push((b.0, to));
                        count += 1;
                        for p in &returned[entry as usize] {
                            lists.add(head(State(*p), b), to);
                        }
                    }
                }
            }
        }
    }
    count + lists.cells.len()
}

/// The number of transitions of pre\* from one configuration.
pub fn pre_star<W>(system: &System<W>, target: (State, Symbol)) -> usize {
    let states = system.state_count() as u32;
    let heads = states * system.symbol_count() as u32;
    let head = |p: State, s: Symbol| s.0 * states + p.0;
    let rules: Vec<_> = system.rules().map(|(_, rule)| rule).collect();
    let right = rules.iter().map(|r| match r.rhs {
        Rhs::Pop => heads,
        Rhs::Swap(a) | Rhs::Push(a, _) => head(r.to, a),
    });
    let (first, by_right) = group(right, heads as usize + 1);
    let mut lists = Lists { first: vec![NONE; heads as usize], cells: Vec::new() };
    let mut notes: Vec<u32> = vec![NONE; heads as usize];
    let mut note_cells: Vec<(u32, u32)> = Vec::new();
    lists.add(head(target.0, target.1), states);
    for rule in rules.iter().filter(|rule| rule.rhs == Rhs::Pop) {
        lists.add(head(rule.from, rule.symbol), rule.to.0);
    }
    let mut next = 0;
    while next < lists.cells.len() {
        let (from, to, _) = lists.cells[next];
        next += 1;
        for i in first[from as usize]..first[from as usize + 1] {
            let rule = &rules[by_right[i as usize] as usize];
            let left = head(rule.from, rule.symbol);
            match rule.rhs {
                Rhs::Swap(_) => {
                    lists.add(left, to);
                }
                Rhs::Push(_, b) if to < states => {
                    let after = head(State(to), b);
                    note_cells.push((left, notes[after as usize]));
                    notes[after as usize] = note_cells.len() as u32 - 1;
                    let mut cell = lists.first[after as usize];
                    while cell != NONE {
                        let (_, target, rest) = lists.cells[cell as usize];
                        lists.add(left, target);
                        cell = rest;
                    }
                }
                _ => {}
            }
        }
        let mut note = notes[from as usize];
        while note != NONE {
            let (left, rest) = note_cells[note as usize];
            lists.add(left, to);
            note = rest;
        }
    }
    lists.cells.len()
}
