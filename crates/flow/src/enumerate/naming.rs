//! Names for blocks of memory, in the place of their addresses.
//!
//! An allocator that gives every block addresses of its own counts its blocks. States that differ
//! in these numbers only are the same for a program that does not look at them, and there are
//! endlessly many of them if it allocates in an endless loop. So the base address of a block is a
//! symbol of its own, of which nothing is known but that it is a multiple of the size of a slot, in
//! the region of its allocator, and not the base of another block. Whatever a program computes from
//! addresses is then an expression over these symbols; a comparison that depends on the numbers is
//! taken both ways. At heads of loops the blocks are numbered anew (`settle.rs`). (R. Iosif 2004,
//! *Symmetry reductions for model checking of concurrent dynamic software*.)
//!
//! Blocks whose numbers occur in the program as constants keep them: data flow writes addresses of
//! blocks that are allocated at most once into the program.

use std::rc::Rc;

use wherefore_program::{BinaryOp, Expr, ExprKind, Program, Scalar, Type, Var};

use super::allocators::{Allocator, is_read_of};
use super::shorten::shortened;
use super::state::{Slot, State, Symbols, Value};
use crate::expression::range_of;
use crate::range::Range;

/// Which blocks have names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Naming {
    /// Two to the power of this many bytes is the size of a slot.
    pub bits: u32,
    /// The width of addresses.
    pub width: u32,
    pub allocators: Vec<Allocator>,
}

impl Naming {
    /// The allocators of a program whose blocks can have names; none if there are none.
    pub fn new(program: &Program) -> Option<Self> {
        let bits = program.objects.blocks?.bits;
        let (width, allocators) = Allocator::all(program, bits)?;
        Some(Self { bits, width, allocators })
    }

    /// The allocator that a global variable counts for.
    fn allocator(&self, variable: Var) -> Option<&Allocator> {
        let Var::Global(at) = variable else { return None };
        self.allocators.iter().find(|allocator| allocator.counter == at)
    }

    /// Whether a variable says where the next block begins.
    pub fn is_counter(&self, variable: Var) -> bool {
        self.allocator(variable).is_some()
    }

    /// Where the next block begins, if a counter has this value.
    pub fn next(&self, counter: Var, value: u64) -> Option<Value> {
        let allocator = self.allocator(counter)?;
        let number = value >> self.bits;
        Some(match number < allocator.first {
            true => Value::Known(value),
            false => Value::Address { block: u32::try_from(number).ok()?, offset: 0 },
        })
    }

    /// The counter of which an expression is the value before the last allocation.
    pub fn is_last(&self, expr: &Expr) -> Option<u32> {
        let ExprKind::Binary(BinaryOp::Sub, a, by) = &expr.kind else { return None };
        let is_of = |allocator: &&Allocator| is_read_of(a, Var::Global(allocator.counter));
        let counter = self.allocators.iter().find(is_of)?.counter;
        (by.as_constant() == Some(1 << self.bits)).then_some(counter)
    }

    /// The value of a counter behind a step that moves it on; none if that is not known.
    pub fn moved_on(&self, counter: Var, now: u64, value: &Expr) -> Option<u64> {
        let allocator = self.allocator(counter)?;
        match value.as_constant() {
            None => now.checked_add(1 << self.bits).filter(|next| next >> self.bits < allocator.end),
            // Blocks with numbers of their own are counted as they are.
            Some(next) => (next >> self.bits <= allocator.first && now < next).then_some(next),
        }
    }

    fn of(&self, number: u64) -> Option<&Allocator> {
        self.allocators.iter().find(|allocator| (allocator.first..allocator.end).contains(&number))
    }

    /// What is known of the base address of a block.
    pub fn base(&self, block: u32) -> Option<Range> {
        let allocator = self.of(u64::from(block))?;
        let end = (allocator.end - 1) << self.bits;
        Range::unsigned(allocator.first << self.bits, end, Scalar::Bits(self.width))
    }

    /// The address of a cell of a block, if it is inside of its slot.
    fn address(&self, block: u32, offset: u64) -> Option<Value> {
        (offset >> self.bits == 0).then_some(Value::Address { block, offset })
    }

    /// An expression as the address of a block, with a constant offset.
    pub fn as_address(&self, expr: &Expr) -> Option<Value> {
        if let Some(block) = as_base(expr) {
            return self.address(block, 0);
        }
        let ExprKind::Binary(BinaryOp::Add, base, offset) = &expr.kind else { return None };
        self.address(as_base(base)?, offset.as_constant()?)
    }

    /// What an expression over base addresses is in fewer operations: numbers of slots and positions
    /// in slots of addresses that stay inside of their slot.
    pub fn shortened(&self, expr: &Expr, symbols: &Symbols) -> Option<Expr> {
        let ExprKind::Extract { value, low } = &expr.kind else { return None };
        let is_number = *low == self.bits && expr.ty.width() == self.width - self.bits;
        let is_position = *low == 0 && expr.ty.width() == self.bits;
        if !is_number && !is_position || value.ty.width() != self.width {
            return None;
        }
        let (block, offset) = split(value)?;
        if is_number && as_base(value).is_some() {
            return None;
        }
        let (_, most) = range_of(&offset, symbols).unsigned_bounds();
        if most >> self.bits != 0 {
            return None;
        }
        Some(match is_number {
            true => number(block, self),
            false => {
                shortened(Expr { kind: ExprKind::Extract { value: Box::new(offset), low: 0 }, ty: expr.ty })
            }
        })
    }

    /// Whether two expressions are equal, if that follows from the blocks that they point into.
    pub fn equal(&self, a: &Expr, b: &Expr, symbols: &Symbols) -> Option<bool> {
        if let (Some(a), Some(b)) = (as_number(a, self), as_number(b, self)) {
            return Some(a == b);
        }
        let ((first, a), (second, b)) = (split(a)?, split(b)?);
        if first == second {
            return match (a.as_constant(), b.as_constant()) {
                (Some(a), Some(b)) => Some(a == b),
                _ if a == b => Some(true),
                _ => None,
            };
        }
        let is_inside = |offset: &Expr| range_of(offset, symbols).unsigned_bounds().1 >> self.bits == 0;
        (is_inside(&a) && is_inside(&b)).then_some(false)
    }

    /// Whether two blocks are of the same allocator.
    pub fn of_one_allocator(&self, a: u32, b: u32) -> bool {
        let of = |block: u32| self.of(u64::from(block)).map(|allocator| allocator.counter);
        of(a).is_some() && of(a) == of(b)
    }

    /// The number of a block that is not there, of the allocator of another one.
    pub fn fresh(&self, state: &mut State, like: u32) -> Option<u32> {
        let counter = self.of(u64::from(like))?.counter;
        let Slot::One(Value::Known(now)) = state.held.globals[counter as usize] else { return None };
        let Value::Address { block, .. } = self.next(Var::Global(counter), now)? else { return None };
        let next = self.moved_on(
            Var::Global(counter),
            now,
            &Expr::variable(Var::Global(counter), Scalar::Bits(self.width)),
        )?;
        Rc::make_mut(&mut state.held.globals)[counter as usize] = Slot::One(Value::Known(next));
        Some(block)
    }

    /// The block and the offset of a cell, if cells are named by addresses of this width.
    pub fn block_of(&self, ty: &Type, key: u64) -> Option<u32> {
        let Type::Memory { address, .. } = ty else { return None };
        let number = match *address {
            width if width == self.width => key >> self.bits,
            width if width == self.width - self.bits => key,
            _ => return None,
        };
        self.of(number).map(|_| number as u32)
    }

    /// The first and the last cell that an index may name; none if it may be any.
    pub fn between(&self, ty: &Type, index: &Expr, symbols: &Symbols) -> Option<(u64, u64)> {
        if let (Some((block, offset)), true) = (split(index), !self.is_table(ty)) {
            let (low, high) = range_of(&offset, symbols).unsigned_bounds();
            let (first, last) = self.cells_of(ty, block)?;
            return (high <= last - first).then(|| (first + low, first + high));
        }
        if mentions_block(index) {
            return None;
        }
        let (low, high) = range_of(index, symbols).unsigned_bounds();
        let Type::Memory { address, .. } = ty else { return None };
        let bits = if *address == self.width { self.bits } else { 0 };
        let is_named = |allocator: &Allocator| allocator.first <= high >> bits && low >> bits < allocator.end;
        (!self.allocators.iter().any(is_named)).then_some((low, high))
    }

    /// Whether cells are named by the numbers of blocks.
    pub fn is_table(&self, ty: &Type) -> bool {
        matches!(ty, Type::Memory { address, .. } if *address == self.width - self.bits && *address != self.width)
    }

    /// The first and the last cell of a block, if cells are named by addresses or by blocks.
    pub fn cells_of(&self, ty: &Type, block: u32) -> Option<(u64, u64)> {
        let Type::Memory { address, .. } = ty else { return None };
        let number = u64::from(block);
        match *address {
            width if width == self.width => {
                let first = number << self.bits;
                Some((first, first | ((1 << self.bits) - 1)))
            }
            width if width == self.width - self.bits => Some((number, number)),
            _ => None,
        }
    }

    /// The cell that an index names; none if it is not known which one.
    pub fn cell(&self, ty: &Type, index: &Value) -> Option<u64> {
        let Type::Memory { address, .. } = ty else { return None };
        match index {
            // A number that a block with a name may have.
            Value::Known(key) => self.block_of(ty, *key).is_none().then_some(*key),
            Value::Address { block, offset } if *address == self.width => {
                Some(u64::from(*block) << self.bits | offset)
            }
            Value::Open(expr) if *address == self.width - self.bits => as_number(expr, self).map(u64::from),
            _ => None,
        }
    }
}

/// The base address of a block as an expression: the global variable with its number.
pub(super) fn base(block: u32, ty: Scalar) -> Expr {
    Expr::variable(Var::Global(block), ty)
}

/// The number of the slot of a block.
fn number(block: u32, naming: &Naming) -> Expr {
    let value = Box::new(base(block, Scalar::Bits(naming.width)));
    Expr { kind: ExprKind::Extract { value, low: naming.bits }, ty: Scalar::Bits(naming.width - naming.bits) }
}

pub(super) fn as_base(expr: &Expr) -> Option<u32> {
    match &expr.kind {
        ExprKind::Read { variable: Var::Global(block), .. } => Some(*block),
        _ => None,
    }
}

/// The block of whose slot an expression is the number.
fn as_number(expr: &Expr, naming: &Naming) -> Option<u32> {
    match &expr.kind {
        ExprKind::Extract { value, low }
            if *low == naming.bits && expr.ty.width() == naming.width - naming.bits =>
        {
            as_base(value)
        }
        _ => None,
    }
}

/// The one base address that is a summand of an expression, and the rest.
fn split(expr: &Expr) -> Option<(u32, Expr)> {
    if let Some(block) = as_base(expr) {
        return Some((block, Expr::constant(0, expr.ty)));
    }
    let ExprKind::Binary(BinaryOp::Add, a, b) = &expr.kind else { return None };
    let sum = |rest: Expr, other: &Expr| {
        shortened(Expr {
            kind: ExprKind::Binary(BinaryOp::Add, Box::new(rest), Box::new(other.clone())),
            ty: expr.ty,
        })
    };
    match (mentions_block(a), mentions_block(b)) {
        (true, false) => split(a).map(|(block, rest)| (block, sum(rest, b))),
        (false, true) => split(b).map(|(block, rest)| (block, sum(rest, a))),
        _ => None,
    }
}

/// Whether a base address occurs in an expression.
pub(super) fn mentions_block(expr: &Expr) -> bool {
    let mut found = false;
    expr.reads(&mut |variable, _| found |= matches!(variable, Var::Global(_)));
    found
}

/// Whether a value depends on the address of a block.
pub(super) fn is_of_block(value: &Value) -> bool {
    match value {
        Value::Known(_) => false,
        Value::Address { .. } => true,
        Value::Open(expr) => mentions_block(expr),
    }
}
