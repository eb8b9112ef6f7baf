//! One numbering of blocks for all states that differ in the numbers of blocks only.
//!
//! Blocks that no value leads to are forgotten, and the others are numbered in the order in which a
//! walk from the variables meets them.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use wherefore_program::{Expr, Program, Type, Var};

use super::allocators::Allocator;
use super::naming::{Naming, as_base, base, is_of_block, mentions_block};
use super::shorten::mapped;
use super::state::{Frame, Slot, State, Value};

/// The entry of a block that was freed, in a table of blocks. (What such a block holds may be
/// forgotten whatever the entry means.)
const FREED: u64 = u32::MAX as u64;

/// Forgets what is in blocks that were freed.
fn empty_freed(state: &mut State, program: &Program, naming: &Naming) {
    let globals = &state.held.globals;
    let mut freed = Vec::new();
    for (slot, variable) in globals.iter().zip(&program.globals) {
        let Slot::Many(cells) = slot else { continue };
        if naming.is_table(&variable.ty) {
            let is_freed = |value: &Value| *value == Value::Known(FREED);
            let blocks = cells.at.iter().filter(|(_, value)| is_freed(value)).map(|(key, _)| *key);
            freed.extend(blocks.filter_map(|key| naming.block_of(&variable.ty, key)));
        }
    }
    for block in freed {
        for (at, variable) in program.globals.iter().enumerate() {
            let Slot::Many(cells) = &state.held.globals[at] else { continue };
            let Some((first, last)) = naming.cells_of(&variable.ty, block) else { continue };
            let keys: Vec<u64> = cells.at.range(first..=last).map(|(key, _)| *key).collect();
            if cells.rest.is_some() || naming.is_table(&variable.ty) || keys.is_empty() {
                continue;
            }
            if let Slot::Many(cells) = &mut Rc::make_mut(&mut state.held.globals)[at] {
                let cells = Rc::make_mut(cells);
                keys.iter().for_each(|key| {
                    cells.at.remove(key);
                });
            }
        }
    }
}

/// Numbers blocks in the order in which a walk from the variables meets them, and forgets those that
/// it does not meet.
pub(super) fn settle(state: &mut State, program: &Program, naming: &Rc<Naming>) {
    empty_freed(state, program, naming);
    let mut walk = Walk { naming, met: FxHashMap::default(), order: Vec::new(), counts: Vec::new() };
    walk.counts = naming.allocators.iter().map(|allocator| allocator.first).collect();
    let globals = state.held.globals.clone();
    for (slot, variable) in globals.iter().zip(&program.globals) {
        walk.roots(slot, &variable.ty);
    }
    for frame in &state.held.frames {
        for (slot, variable) in frame.locals.iter().zip(&program.procedure(frame.procedure).variables) {
            walk.roots(slot, &variable.ty);
        }
    }
    let mut at = 0;
    while let Some(block) = walk.order.get(at).copied() {
        at += 1;
        for (slot, variable) in globals.iter().zip(&program.globals) {
            walk.inside(slot, &variable.ty, block);
        }
    }
    let counts = std::mem::take(&mut walk.counts);
    let met = std::mem::take(&mut walk.met);
    drop(globals);
    let same = met.iter().all(|(old, new)| old == new)
        && state.held.chains.keys().all(|block| met.contains_key(block));
    let kept = |slot: &Slot, ty: &Type| match slot {
        Slot::Many(cells) => {
            cells.at.keys().all(|key| naming.block_of(ty, *key).is_none_or(|block| met.contains_key(&block)))
        }
        Slot::One(_) => true,
    };
    for (allocator, next) in naming.allocators.iter().zip(counts) {
        let counter = &state.held.globals[allocator.counter as usize];
        let now = match counter {
            Slot::One(Value::Known(now)) => *now >> naming.bits,
            _ => continue,
        };
        if now > allocator.first && now != next {
            let value = Value::Known(next.max(allocator.first) << naming.bits);
            Rc::make_mut(&mut state.held.globals)[allocator.counter as usize] = Slot::One(value);
        }
    }
    if same
        && state.held.globals.iter().zip(&program.globals).all(|(slot, variable)| kept(slot, &variable.ty))
    {
        return;
    }
    let chains = std::mem::take(&mut state.held.chains);
    let kept = chains.iter().filter_map(|(block, link)| Some((*met.get(block)?, *link)));
    state.held.chains = Rc::new(kept.collect());
    let rename = |value: &Value| renamed(value, &met);
    let in_slot = |slot: &mut Slot, ty: &Type| match slot {
        Slot::One(value) => {
            if let Some(new) = rename(value) {
                *value = new;
            }
        }
        Slot::Many(cells) => {
            let cells = Rc::make_mut(cells);
            let old = std::mem::take(&mut cells.at);
            cells.at.extend(old.into_iter().filter_map(|(key, value)| {
                let key = match naming.block_of(ty, key) {
                    None => key,
                    Some(block) => {
                        let (old, _) = naming.cells_of(ty, block)?;
                        let (new, _) = naming.cells_of(ty, *met.get(&block)?)?;
                        new + (key - old)
                    }
                };
                let value = rename(&value).unwrap_or(value);
                Some((key, value))
            }));
        }
    };
    for (slot, variable) in Rc::make_mut(&mut state.held.globals).iter_mut().zip(&program.globals) {
        in_slot(slot, &variable.ty);
    }
    for frame in &mut state.held.frames {
        if frame.locals.iter().any(has_block) {
            let frame: &mut Frame = Rc::make_mut(frame);
            let variables = &program.procedure(frame.procedure).variables;
            frame.locals.iter_mut().zip(variables).for_each(|(slot, variable)| in_slot(slot, &variable.ty));
        }
    }
    let symbols = Rc::make_mut(&mut state.symbols);
    symbols.facts.retain_mut(|(fact, _)| match mentions_block(fact) {
        false => true,
        true => match rename_expr(fact, &met) {
            Some(new) => {
                *fact = new;
                true
            }
            None => false,
        },
    });
}

fn has_block(slot: &Slot) -> bool {
    match slot {
        Slot::One(value) => is_of_block(value),
        Slot::Many(cells) => cells.at.values().any(is_of_block),
    }
}

/// A value with other numbers of blocks, if it has any.
fn renamed(value: &Value, met: &FxHashMap<u32, u32>) -> Option<Value> {
    match value {
        Value::Known(_) => None,
        Value::Address { block, offset } => Some(Value::Address { block: *met.get(block)?, offset: *offset }),
        Value::Open(expr) if mentions_block(expr) => Some(Value::Open(Rc::new(rename_expr(expr, met)?))),
        Value::Open(_) => None,
    }
}

fn rename_expr(expr: &Expr, met: &FxHashMap<u32, u32>) -> Option<Expr> {
    let mut is_met = true;
    expr.reads(&mut |variable, _| {
        if let Var::Global(block) = variable {
            is_met &= met.contains_key(&block);
        }
    });
    is_met.then(|| mapped(expr, &|part| as_base(part).map(|block| base(met[&block], part.ty))))
}

/// A walk through the blocks of a state.
struct Walk<'a> {
    naming: &'a Naming,
    /// The new numbers of blocks.
    met: FxHashMap<u32, u32>,
    /// The blocks in the order in which they were met.
    order: Vec<u32>,
    /// The next number of each allocator.
    counts: Vec<u64>,
}

impl Walk<'_> {
    fn meet(&mut self, block: u32) {
        if self.met.contains_key(&block) {
            return;
        }
        let is_of = |allocator: &Allocator| (allocator.first..allocator.end).contains(&u64::from(block));
        let Some(at) = self.naming.allocators.iter().position(is_of) else { return };
        self.met.insert(block, self.counts[at] as u32);
        self.counts[at] += 1;
        self.order.push(block);
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Known(_) => {}
            Value::Address { block, .. } => self.meet(*block),
            Value::Open(expr) => expr.reads(&mut |variable, _| {
                if let Var::Global(block) = variable {
                    self.meet(block);
                }
            }),
        }
    }

    /// The values of a variable that is no cell of a block.
    fn roots(&mut self, slot: &Slot, ty: &Type) {
        match slot {
            Slot::One(value) => self.value(value),
            Slot::Many(cells) => {
                for (key, value) in &cells.at {
                    if is_of_block(value) && self.naming.block_of(ty, *key).is_none() {
                        self.value(value);
                    }
                }
            }
        }
    }

    /// The values in a block.
    fn inside(&mut self, slot: &Slot, ty: &Type, block: u32) {
        let (Slot::Many(cells), Some((first, last))) = (slot, self.naming.cells_of(ty, block)) else {
            return;
        };
        for (_, value) in cells.at.range(first..=last) {
            self.value(value);
        }
    }
}
