//! The order in which post\* takes up a program: callees first, each procedure from its entry on.
//!
//! In post\* what is found inside a procedure does not depend on its callers, except for whether
//! there are any. So nothing is done twice, recursion and loops aside, if a callee is finished
//! before its callers go on, and a procedure before it returns. Inside a procedure the order is
//! reverse postorder: a loop converges before what follows it.
//!
//! A procedure, here, is what is connected by swaps and by calls with their return sites. Symbols
//! without rules do not connect: errors of all procedures may lead to one. Systems that are not
//! made from programs may be one large procedure; then the order is reverse postorder.

use crate::automaton::Automaton;
use crate::graph::{components, reverse_postorder};
use crate::post_star::PostRules;

/// The place of each head; and, for each state below calls, the place of returns to it.
pub(crate) fn program_order<W: Clone>(rules: &PostRules, automaton: &Automaton<W>) -> (Vec<u32>, Vec<u32>) {
    let store = &automaton.store;
    let heads = store.heads.len();
    let mut classes = Classes { parent: (0..heads as u32).collect() };
    let mut calls: Vec<(u32, u32)> = Vec::new();
    let (mut next, mut entries) = (Vec::new(), Vec::new());
    for head in 0..heads {
        next.clear();
        entries.clear();
        rules.successors(store, head, &mut next, &mut entries);
        calls.extend(entries.iter().map(|entry| (head as u32, *entry)));
        for other in &next {
            if rules.has_rules(*other)
                || store.heads[*other as usize].state as usize >= automaton.control_count()
            {
                classes.join(head as u32, *other);
            }
        }
    }
    let mut callees: Vec<Vec<usize>> = vec![Vec::new(); heads];
    for (caller, callee) in calls {
        callees[classes.find(caller) as usize].push(classes.find(callee) as usize);
    }
    // Callees come first.
    let parts = components(heads, |class| callees[class].iter().copied());
    let rank = |classes: &mut Classes, head: u32| parts.of[classes.find(head) as usize];
    let within = reverse_postorder(heads, |head, into| rules.successors(store, head, into, &mut Vec::new()));
    let mut order: Vec<(u32, u32, usize)> =
        (0..heads).map(|head| (rank(&mut classes, head as u32), within[head], head)).collect();
    for state in 0..automaton.state_count() {
        let entry = automaton.entry_of(crate::State(state as u32));
        if let Some(head) = entry.and_then(|(p, symbol)| store.find_head(p, symbol)) {
            order.push((rank(&mut classes, head), u32::MAX, heads + state));
        }
    }
    order.sort_unstable();
    let mut places = vec![0; heads];
    let mut returns = vec![0; automaton.state_count()];
    for (place, (_, _, what)) in (0..).zip(order) {
        match what.checked_sub(heads) {
            Some(state) => returns[state] = place,
            None => places[what] = place,
        }
    }
    (places, returns)
}

/// Sets of heads that are joined one by one.
struct Classes {
    parent: Vec<u32>,
}

impl Classes {
    fn find(&mut self, mut a: u32) -> u32 {
        while self.parent[a as usize] != a {
            let above = self.parent[self.parent[a as usize] as usize];
            self.parent[a as usize] = above;
            a = above;
        }
        a
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a as usize] = b;
    }
}
