//! Data that no condition is about.
//!
//! States that differ only in which of their cells hold the same unknown data are many. Where there
//! are many states, equalities between data that were never tested, and have no bounds, are given
//! up: each place gets a symbol of its own.

use std::rc::Rc;

use rustc_hash::FxHashSet;
use wherefore_program::Scalar;

use super::state::{Slot, State, Value, as_symbol, symbols_of};
use crate::range::Range;

/// Gives each place that holds data of which nothing is known a symbol of its own.
pub(super) fn separate(state: &mut State) {
    let symbols = &state.symbols;
    let mut tested: FxHashSet<u32> = FxHashSet::default();
    for (fact, _) in &symbols.facts {
        tested.extend(symbols_of(fact));
    }
    let is_open = |symbol: u32| {
        let range = symbols.ranges.get(symbol as usize);
        range.is_some_and(|range| *range == Range::full(Scalar::Bits(range.width())))
            && !tested.contains(&symbol)
    };
    // A symbol may stay in the first place that holds it alone.
    let mut taken: FxHashSet<u32> = FxHashSet::default();
    let mut places = Vec::new();
    let mut at = 0;
    state.each_open(&mut |expr| {
        let used = symbols_of(expr);
        let first = as_symbol(expr).is_some_and(|symbol| taken.insert(symbol));
        if !first && !used.is_empty() && used.iter().all(|symbol| is_open(*symbol)) {
            places.push(at);
        }
        at += 1;
    });
    if places.is_empty() {
        return;
    }
    let fresh = Rc::make_mut(&mut state.symbols);
    let mut at = 0;
    let mut wanted = places.iter().peekable();
    let mut held = state.held.clone();
    let mut in_value = |value: &mut Value| {
        let Value::Open(expr) = value else { return };
        if wanted.next_if(|place| **place == at).is_some() {
            let ty = expr.ty;
            *value = fresh.fresh(Range::full(ty), ty);
        }
        at += 1;
    };
    let mut in_slot = |slot: &mut Slot| match slot {
        Slot::One(value) => in_value(value),
        Slot::Many(cells) => {
            if cells.at.values().any(|value| matches!(value, Value::Open(_))) {
                Rc::make_mut(cells).at.values_mut().for_each(&mut in_value);
            }
        }
    };
    Rc::make_mut(&mut held.globals).iter_mut().for_each(&mut in_slot);
    for frame in &mut held.frames {
        Rc::make_mut(frame).locals.iter_mut().for_each(&mut in_slot);
    }
    state.held = held;
}
