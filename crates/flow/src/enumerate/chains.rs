//! Lists of any length: chains of blocks as one block.
//!
//! A block may stand for a chain of one or more blocks, each of which holds the address of the next
//! one in its *link*, and nothing else leads to any but the first. What the block holds, all blocks
//! of the chain hold; a symbol in it is another one in each of them; its link is that of the last.
//! At heads of loops, three neighbours that can be blocks of a chain become one. A step that looks
//! into a chain finds either a single block, or a first block and the rest of the chain. (This is
//! the list segment of shape analysis: D. Distefano, P. O'Hearn, H. Yang 2006, *A local shape
//! analysis based on separation logic*.)

use std::rc::Rc;

use rustc_hash::FxHashMap;
use wherefore_program::{Expr, ExprKind, Program, Scalar, Type, Var};

use super::naming::{Naming, as_base, is_of_block};
use super::state::{Slot, State, Symbols, Value};
use crate::expression::range_of;
use crate::range::Range;

/// Fewer neighbours stay apart. A chain counts as two blocks.
const LEAST: usize = 3;
/// The same of blocks that hold different constants: what is known of few is more than what they
/// have in common.
const LEAST_MIXED: usize = 6;
/// A reference by a whole address; one of a byte counts as one.
const WHOLE: u32 = 8;

/// Where blocks of a chain hold the address of the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Link {
    /// The memory, a global variable.
    memory: u32,
    /// How far behind the start of a block.
    offset: u64,
    /// How many cells hold the address.
    cells: u64,
}

impl Link {
    /// The values that the cells of the link hold for an address.
    fn values(self, to: &Value, naming: &Naming) -> Vec<Value> {
        if self.cells == 1 {
            return vec![to.clone()];
        }
        let address = to.expr(Scalar::Bits(naming.width));
        let byte = |at: u64| Expr {
            kind: ExprKind::Extract { value: Box::new(address.clone()), low: at as u32 * 8 },
            ty: Scalar::Bits(8),
        };
        (0..self.cells).map(|at| Value::Open(Rc::new(byte(at)))).collect()
    }

    fn keys(self, block: u32, naming: &Naming) -> std::ops::Range<u64> {
        let first = (u64::from(block) << naming.bits) + self.offset;
        first..first + self.cells
    }
}

fn cell(state: &State, variable: usize, key: u64) -> Option<&Value> {
    match &state.held.globals[variable] {
        Slot::Many(cells) => cells.at.get(&key),
        Slot::One(_) => None,
    }
}

fn set(state: &mut State, variable: usize, key: u64, value: Option<Value>) {
    if let Slot::Many(cells) = &mut Rc::make_mut(&mut state.held.globals)[variable] {
        match value {
            Some(value) => Rc::make_mut(cells).at.insert(key, value),
            None => Rc::make_mut(cells).at.remove(&key),
        };
    }
}

/// The first block of a chain, and the rest of it as a chain of its own; none if there is no number
/// left for it.
pub(super) fn unfold(state: &mut State, block: u32, program: &Program, naming: &Naming) -> Option<()> {
    let link = *state.held.chains.get(&block)?;
    let rest = naming.fresh(state, block)?;
    let symbols = state.symbols.clone();
    for (at, variable) in program.globals.iter().enumerate() {
        let Some((first, last)) = naming.cells_of(&variable.ty, block) else { continue };
        let (start, _) = naming.cells_of(&variable.ty, rest)?;
        let Slot::Many(cells) = &state.held.globals[at] else { continue };
        let held: Vec<(u64, Value)> =
            cells.at.range(first..=last).map(|(key, value)| (*key - first, value.clone())).collect();
        for (offset, value) in held {
            let is_link =
                at as u32 == link.memory && (link.offset..link.offset + link.cells).contains(&offset);
            let value = match value {
                Value::Open(expr) if !is_link && !is_of_block(&Value::Open(expr.clone())) => {
                    Rc::make_mut(&mut state.symbols).fresh(range_of(&expr, &*symbols), expr.ty)
                }
                value => value,
            };
            set(state, at, start + offset, Some(value));
        }
    }
    let next = Value::Address { block: rest, offset: 0 };
    for (key, value) in link.keys(block, naming).zip(link.values(&next, naming)) {
        set(state, link.memory as usize, key, Some(value));
    }
    let chains = Rc::make_mut(&mut state.held.chains);
    chains.remove(&block);
    chains.insert(rest, link);
    Some(())
}

/// Makes chains of neighbours; whether there were any.
pub(super) fn fold(state: &mut State, program: &Program, naming: &Naming) -> bool {
    let mut folded = false;
    // A fold changes what can be folded.
    while let Some((blocks, link)) = neighbours(state, program, naming) {
        let mut blocks = blocks.into_iter().rev();
        let Some(mut last) = blocks.next() else { return folded };
        for block in blocks {
            merge(state, block, last, link, program, naming);
            last = block;
        }
        Rc::make_mut(&mut state.held.chains).insert(last, link);
        folded = true;
    }
    folded
}

/// Which neighbours become one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mix {
    /// Those that hold the same constants.
    Same,
    /// All.
    Any,
}

/// Blocks that can be one chain: best those that hold the same constants.
fn neighbours(state: &State, program: &Program, naming: &Naming) -> Option<(Vec<u32>, Link)> {
    let counts = references(state, naming, program);
    let of = |mix| neighbours_of(state, program, naming, &counts, mix);
    of(Mix::Same).or_else(|| of(Mix::Any))
}

fn neighbours_of(
    state: &State,
    program: &Program,
    naming: &Naming,
    counts: &FxHashMap<u32, u32>,
    mix: Mix,
) -> Option<(Vec<u32>, Link)> {
    let mut steps: FxHashMap<(u32, Link), u32> = FxHashMap::default();
    for (at, variable) in program.globals.iter().enumerate() {
        let Slot::Many(cells) = &state.held.globals[at] else { continue };
        if naming.is_table(&variable.ty) || naming.cells_of(&variable.ty, 0).is_none() {
            continue;
        }
        for (key, value) in &cells.at {
            let Some(from) = naming.block_of(&variable.ty, *key) else { continue };
            let Some((to, count)) = link_at(state, at, *key, value, naming) else { continue };
            let offset = key - (u64::from(from) << naming.bits);
            let link = Link { memory: at as u32, offset, cells: count };
            if from != to
                && counts.get(&to) == Some(&WHOLE)
                && alike(state, (from, to), link, program, naming, mix)
            {
                steps.insert((from, link), to);
            }
        }
    }
    let mut starts: Vec<(u32, Link)> = steps.keys().copied().collect();
    starts.sort_unstable();
    let weight = |block: u32| if state.held.chains.contains_key(&block) { 2 } else { 1 };
    starts.into_iter().find_map(|(start, link)| {
        let (mut blocks, mut total) = (vec![start], weight(start));
        let mut now = start;
        while let Some(next) = steps.get(&(now, link)).copied().filter(|next| !blocks.contains(next)) {
            blocks.push(next);
            total += weight(next);
            now = next;
        }
        let least = if mix == Mix::Same { LEAST } else { LEAST_MIXED };
        (blocks.len() > 1 && total >= least).then_some((blocks, link))
    })
}

/// The block whose start is in a cell, or in the cells from there on, and how many these are.
fn link_at(state: &State, memory: usize, key: u64, value: &Value, naming: &Naming) -> Option<(u32, u64)> {
    match value {
        Value::Address { block, offset: 0 } => Some((*block, 1)),
        Value::Open(_) => {
            let byte = |at: u64| match cell(state, memory, key + at)? {
                Value::Open(expr) => match &expr.kind {
                    ExprKind::Extract { value, low }
                        if u64::from(*low) == at * 8 && expr.ty == Scalar::Bits(8) =>
                    {
                        as_base(value)
                    }
                    _ => None,
                },
                _ => None,
            };
            let count = u64::from(naming.width) / 8;
            let block = byte(0)?;
            (1..count).all(|at| byte(at) == Some(block)).then_some((block, count))
        }
        _ => None,
    }
}

/// How often the address of each block is held.
fn references(state: &State, naming: &Naming, program: &Program) -> FxHashMap<u32, u32> {
    let mut counts: FxHashMap<u32, u32> = FxHashMap::default();
    let note = |counts: &mut FxHashMap<u32, u32>, value: &Value, times: u32| match value {
        Value::Known(_) => {}
        Value::Address { block, .. } => *counts.entry(*block).or_default() += WHOLE * times,
        Value::Open(expr) => {
            let units = if expr.ty == Scalar::Bits(8) { 1 } else { WHOLE };
            expr.reads(&mut |variable, _| {
                if let Var::Global(block) = variable {
                    *counts.entry(block).or_default() += units * times;
                }
            });
        }
    };
    for (at, (slot, variable)) in state.held.globals.iter().zip(&program.globals).enumerate() {
        match slot {
            Slot::One(value) => note(&mut counts, value, 1),
            Slot::Many(cells) => {
                for (key, value) in &cells.at {
                    // All blocks of a chain hold what is not its link.
                    let chain = naming.block_of(&variable.ty, *key).and_then(|block| {
                        let link = state.held.chains.get(&block)?;
                        Some((link, link.keys(block, naming)))
                    });
                    let times = match chain {
                        Some((link, keys)) if link.memory as usize != at || !keys.contains(key) => 2,
                        _ => 1,
                    };
                    note(&mut counts, value, times);
                }
            }
        }
    }
    for slot in state.held.frames.iter().flat_map(|frame| &frame.locals) {
        match slot {
            Slot::One(value) => note(&mut counts, value, 1),
            Slot::Many(cells) => cells.at.values().for_each(|value| note(&mut counts, value, 1)),
        }
    }
    for (fact, _) in &state.symbols.facts {
        note(&mut counts, &Value::Open(Rc::new(fact.clone())), 1);
    }
    counts
}

/// What two cells have in common.
enum Common {
    Value(Value),
    /// Any value of a range.
    Any(Range),
    Nothing,
}

fn common(a: &Value, b: &Value, ty: Scalar, symbols: &Symbols) -> Common {
    if is_of_block(a) || is_of_block(b) {
        return if a == b { Common::Value(a.clone()) } else { Common::Nothing };
    }
    match (a, b) {
        (Value::Known(x), Value::Known(y)) if x == y => Common::Value(a.clone()),
        _ => {
            let range = range_of(&a.expr(ty), symbols).join(range_of(&b.expr(ty), symbols));
            Common::Any(range)
        }
    }
}

/// The cells of a block in a variable, by their distance from its start.
fn cells_of(state: &State, at: usize, ty: &Type, block: u32, naming: &Naming) -> Vec<(u64, Value)> {
    let (Slot::Many(cells), Some((first, last))) = (&state.held.globals[at], naming.cells_of(ty, block))
    else {
        return Vec::new();
    };
    cells.at.range(first..=last).map(|(key, value)| (*key - first, value.clone())).collect()
}

/// Whether two blocks can be blocks of one chain.
fn alike(
    state: &State,
    (a, b): (u32, u32),
    link: Link,
    program: &Program,
    naming: &Naming,
    mix: Mix,
) -> bool {
    let fits = |block: u32| state.held.chains.get(&block).is_none_or(|other| *other == link);
    if !fits(a) || !fits(b) || !naming.of_one_allocator(a, b) {
        return false;
    }
    program.globals.iter().enumerate().all(|(at, variable)| {
        let ty = &variable.ty;
        let (first, second) = (cells_of(state, at, ty, a, naming), cells_of(state, at, ty, b, naming));
        let is_any = matches!(&state.held.globals[at], Slot::Many(cells) if cells.rest.is_none());
        let is_link = |offset: u64| {
            at as u32 == link.memory && (link.offset..link.offset + link.cells).contains(&offset)
        };
        if naming.is_table(ty) {
            return first == second;
        }
        let inside = |list: &[(u64, Value)]| -> Vec<u64> {
            list.iter().map(|(offset, _)| *offset).filter(|offset| !is_link(*offset)).collect()
        };
        if !is_any && inside(&first) != inside(&second) {
            return false;
        }
        // The last block of a chain has a link, too.
        if at as u32 == link.memory
            && !(link.offset..link.offset + link.cells)
                .all(|offset| second.iter().any(|(other, _)| *other == offset))
        {
            return false;
        }
        first.iter().filter(|(offset, _)| !is_link(*offset)).all(|(offset, value)| {
            match second.iter().find(|(other, _)| other == offset) {
                Some((_, other)) => {
                    let differ = match (value, other) {
                        (Value::Known(x), Value::Known(y)) => x != y,
                        (a, b) => matches!(a, Value::Known(_)) != matches!(b, Value::Known(_)),
                    };
                    let fits = !differ || mix == Mix::Any;
                    fits && !matches!(common(value, other, ty.element(), &state.symbols), Common::Nothing)
                }
                None => is_any,
            }
        })
    })
}

/// Makes one block of two neighbours.
fn merge(state: &mut State, block: u32, next: u32, link: Link, program: &Program, naming: &Naming) {
    let symbols = state.symbols.clone();
    for (at, variable) in program.globals.iter().enumerate() {
        let ty = &variable.ty;
        let Some((first, _)) = naming.cells_of(ty, block) else { continue };
        let Some((second, _)) = naming.cells_of(ty, next) else { continue };
        let (held, other) = (cells_of(state, at, ty, block, naming), cells_of(state, at, ty, next, naming));
        let is_link = |offset: u64| {
            at as u32 == link.memory && (link.offset..link.offset + link.cells).contains(&offset)
        };
        for (offset, value) in held.into_iter().filter(|(offset, _)| !is_link(*offset)) {
            let found = other.iter().find(|(place, _)| *place == offset);
            let value = match found.map(|(_, other)| common(&value, other, ty.element(), &symbols)) {
                Some(Common::Value(value)) => Some(value),
                Some(Common::Any(range)) => Some(Rc::make_mut(&mut state.symbols).fresh(range, ty.element())),
                // It may hold any value.
                Some(Common::Nothing) | None => None,
            };
            set(state, at, first + offset, value);
        }
        for (offset, value) in other {
            if is_link(offset) {
                set(state, at, first + offset, Some(value));
            }
            set(state, at, second + offset, None);
        }
    }
    Rc::make_mut(&mut state.held.chains).remove(&next);
}
