//! Abstract states: constants, and symbols for what is not known.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use wherefore_program::{BinaryOp, EdgeId, Expr, ExprKind, LocationId, ProcedureId, Scalar, UnaryOp, Var};

use super::chains::Link;
use super::naming::{Naming, base};
use super::shorten::{contains, renamed, replaced, shortened, with_part};
use crate::expression::{Joined, Known, Narrow, assume, range_of};
use crate::range::Range;

/// Conditions between symbols that are kept, at most.
const MOST_FACTS: usize = 64;

/// A value: a constant, or an expression over symbols. The symbol `i` is written as the local
/// variable `i`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Value {
    Known(u64),
    /// An address in a block that has a name.
    Address {
        block: u32,
        offset: u64,
    },
    Open(Rc<Expr>),
}

impl Value {
    pub fn expr(&self, ty: Scalar) -> Expr {
        match self {
            Value::Known(value) => Expr::constant(*value, ty),
            Value::Address { block, offset: 0 } => base(*block, ty),
            Value::Address { block, offset } => {
                let (base, offset) = (base(*block, ty), Expr::constant(*offset, ty));
                Expr { kind: ExprKind::Binary(BinaryOp::Add, Box::new(base), Box::new(offset)), ty }
            }
            Value::Open(expr) => (**expr).clone(),
        }
    }
}

/// The cells of an array or of memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Cells {
    pub at: BTreeMap<u64, Value>,
    /// What the others hold; none is any value, which is fixed when it is first read.
    pub rest: Option<u64>,
}

/// The value of a variable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Slot {
    One(Value),
    Many(Rc<Cells>),
}

/// A procedure that is being executed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Frame {
    pub procedure: ProcedureId,
    pub location: LocationId,
    /// The call that it waits for.
    pub call: Option<EdgeId>,
    pub locals: Vec<Slot>,
}

/// What runs have in common that are at one place: where they are, and what they hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Held {
    pub globals: Rc<Vec<Slot>>,
    pub frames: Vec<Rc<Frame>>,
    /// The blocks that stand for chains.
    pub chains: Rc<BTreeMap<u32, Link>>,
}

/// What is known about symbols.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Symbols {
    pub ranges: Vec<Range>,
    /// Conditions that hold, or do not.
    pub facts: Vec<(Expr, bool)>,
    /// The names of blocks of memory, if they have any.
    pub naming: Option<Rc<Naming>>,
}

/// An abstract state: all states that have these values for some values of the symbols.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub held: Held,
    pub symbols: Rc<Symbols>,
    /// The values that were chosen in the step that is being taken, by parts of the program.
    pub chosen: Vec<(usize, Value)>,
    /// The block that was allocated last since the head of a loop, and the counter of its allocator.
    pub last: Option<(u32, Value)>,
}

impl Known for Symbols {
    fn of(&self, variable: Var) -> Option<Range> {
        match variable {
            Var::Local(symbol) => self.ranges.get(symbol as usize).copied(),
            Var::Global(block) => self.naming.as_ref()?.base(block),
        }
    }
}

impl Narrow for Symbols {
    fn narrow(&mut self, variable: Var, range: Range) -> bool {
        let Var::Local(symbol) = variable else { return true };
        let Some(known) = self.ranges.get_mut(symbol as usize) else { return true };
        match known.meet(range) {
            Some(both) => *known = both,
            None => return false,
        }
        true
    }
}

impl Joined for Symbols {
    fn join(&mut self, other: &Self) {
        for (range, other) in self.ranges.iter_mut().zip(&other.ranges) {
            *range = range.join(*other);
        }
    }
}

/// The symbols of an expression.
pub(super) fn symbols_of(expr: &Expr) -> Vec<u32> {
    let mut found = Vec::new();
    expr.reads(&mut |variable, _| {
        if let Var::Local(symbol) = variable {
            if !found.contains(&symbol) {
                found.push(symbol);
            }
        }
    });
    found
}

/// The symbol that an expression is.
pub(super) fn as_symbol(expr: &Expr) -> Option<u32> {
    match &expr.kind {
        ExprKind::Read { variable: Var::Local(symbol), indices, .. } if indices.is_empty() => Some(*symbol),
        _ => None,
    }
}

impl Symbols {
    /// A new symbol.
    pub fn fresh(&mut self, range: Range, ty: Scalar) -> Value {
        if let Some(value) = range.as_constant() {
            return Value::Known(value);
        }
        self.ranges.push(range);
        Value::Open(Rc::new(Expr::variable(Var::Local(self.ranges.len() as u32 - 1), ty)))
    }

    /// What an expression over symbols is, in short.
    pub fn value(&self, expr: Expr) -> Value {
        let mut expr = shortened(expr);
        if let Some(naming) = &self.naming {
            if let Some(shorter) = naming.shortened(&expr, self) {
                expr = shorter;
            }
            if let Some(address) = naming.as_address(&expr) {
                return address;
            }
        }
        if let Some(value) = expr.as_constant() {
            return Value::Known(value);
        }
        if let Some(value) = range_of(&expr, self).as_constant() {
            return Value::Known(value);
        }
        if let Some(value) = self.pinned(&expr) {
            return Value::Known(value);
        }
        if expr.ty == Scalar::Bool {
            if let Some(holds) = self.decided(&expr) {
                return Value::Known(u64::from(holds));
            }
        }
        Value::Open(Rc::new(expr))
    }

    /// The value that an expression was found to have.
    fn pinned(&self, expr: &Expr) -> Option<u64> {
        let ExprKind::Binary(op, ..) = &expr.kind else { return None };
        if op.is_test() {
            return None;
        }
        self.facts.iter().find_map(|(fact, holds)| match &fact.kind {
            ExprKind::Binary(BinaryOp::Eq, part, value) if *holds && **part == *expr => value.as_constant(),
            _ => None,
        })
    }

    /// Whether a condition holds by what was found out before.
    fn decided(&self, condition: &Expr) -> Option<bool> {
        if let ExprKind::Unary(UnaryOp::Not, inner) = &condition.kind {
            return self.decided(inner).map(|holds| !holds);
        }
        for (fact, holds) in &self.facts {
            if fact == condition {
                return Some(*holds);
            }
        }
        let ExprKind::Binary(op, a, b) = &condition.kind else { return None };
        if a == b {
            return match op {
                BinaryOp::Eq | BinaryOp::ULe | BinaryOp::SLe => Some(true),
                BinaryOp::Ne | BinaryOp::ULt | BinaryOp::SLt => Some(false),
                _ => None,
            };
        }
        match op {
            BinaryOp::Eq | BinaryOp::Ne => {
                if let Some(equal) = self.naming.as_ref().and_then(|naming| naming.equal(a, b, self)) {
                    return Some(equal == (*op == BinaryOp::Eq));
                }
                let apart = self.differ(a, b)
                    || [true, false].into_iter().any(|signed| {
                        self.order(a, b, signed) == Some(true) || self.order(b, a, signed) == Some(true)
                    });
                apart.then_some(*op == BinaryOp::Ne)
            }
            BinaryOp::ULt | BinaryOp::SLt => {
                let signed = *op == BinaryOp::SLt;
                match (self.order(a, b, signed), self.order(b, a, signed)) {
                    (Some(true), _) => Some(true),
                    (_, Some(_)) => Some(false),
                    _ => None,
                }
            }
            BinaryOp::ULe | BinaryOp::SLe => {
                let signed = *op == BinaryOp::SLe;
                match (self.order(a, b, signed), self.order(b, a, signed)) {
                    (Some(_), _) => Some(true),
                    (_, Some(true)) => Some(false),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Whether it is known that a condition holds, or does not.
    pub fn implies(&self, condition: &Expr, holds: bool) -> bool {
        let is_listed = |(fact, other): &(Expr, bool)| *other == holds && fact == condition;
        self.facts.iter().any(is_listed) || self.decided(condition) == Some(holds)
    }

    /// Whether it was found out that two expressions differ.
    fn differ(&self, a: &Expr, b: &Expr) -> bool {
        self.facts.iter().any(|(fact, holds)| match &fact.kind {
            ExprKind::Binary(BinaryOp::Eq, x, y) if !holds => {
                (&**x, &**y) == (a, b) || (&**x, &**y) == (b, a)
            }
            ExprKind::Binary(BinaryOp::Ne, x, y) if *holds => {
                (&**x, &**y) == (a, b) || (&**x, &**y) == (b, a)
            }
            _ => false,
        })
    }

    /// Whether one expression is less than another one (true), or at most equal (false), by a chain
    /// of conditions that were found out before.
    fn order(&self, from: &Expr, to: &Expr, signed: bool) -> Option<bool> {
        let mut edges: Vec<(&Expr, &Expr, bool)> = Vec::new();
        for (fact, holds) in &self.facts {
            let ExprKind::Binary(op, x, y) = &fact.kind else { continue };
            match (op, signed) {
                (BinaryOp::SLt, true) | (BinaryOp::ULt, false) if *holds => edges.push((x, y, true)),
                (BinaryOp::SLt, true) | (BinaryOp::ULt, false) => edges.push((y, x, false)),
                (BinaryOp::SLe, true) | (BinaryOp::ULe, false) if *holds => edges.push((x, y, false)),
                (BinaryOp::SLe, true) | (BinaryOp::ULe, false) => edges.push((y, x, true)),
                _ => {}
            }
        }
        // At most equal and different is less.
        for (x, y, is_less) in edges.iter_mut().filter(|(.., is_less)| !is_less) {
            *is_less = self.differ(x, y);
        }
        let mut best: Vec<(&Expr, bool)> = vec![(from, false)];
        let mut at = 0;
        while let Some((here, strict)) = best.get(at).copied() {
            at += 1;
            if here == to && at > 1 {
                if strict {
                    return Some(true);
                }
                continue;
            }
            for (x, y, is_less) in &edges {
                let next = (*y, strict || *is_less);
                if *x == here && !best.contains(&next) {
                    best.push(next);
                }
            }
        }
        best.iter().skip(1).any(|(here, _)| *here == to).then_some(false)
    }
}

impl State {
    /// Replaces a symbol; false if what is known of it cannot be then.
    fn substitute(&mut self, symbol: u32, by: &Expr) -> bool {
        let ranges = self.symbols.ranges.clone();
        let plain = Symbols { ranges, facts: Vec::new(), naming: self.symbols.naming.clone() };
        let mut facts = std::mem::take(&mut Rc::make_mut(&mut self.symbols).facts);
        let mut possible = true;
        facts.retain_mut(|(fact, holds)| {
            if !symbols_of(fact).contains(&symbol) {
                return true;
            }
            match plain.value(replaced(fact, symbol, by)) {
                Value::Known(value) => {
                    possible &= (value == 1) == *holds;
                    false
                }
                Value::Open(expr) => {
                    *fact = (*expr).clone();
                    true
                }
                // A condition is no address.
                Value::Address { .. } => false,
            }
        });
        Rc::make_mut(&mut self.symbols).facts = facts;
        let symbols = self.symbols.clone();
        self.each_value(&mut |value| match value {
            Value::Open(expr) if symbols_of(expr).contains(&symbol) => {
                Some(symbols.value(replaced(expr, symbol, by)))
            }
            _ => None,
        });
        // It is not used any more.
        if let Some(range) = Rc::make_mut(&mut self.symbols).ranges.get_mut(symbol as usize) {
            *range = Range::full(Scalar::Bits(range.width()));
        }
        possible
    }

    /// Changes values that are no constants, wherever they are.
    pub fn each_value(&mut self, change: &mut impl FnMut(&Value) -> Option<Value>) {
        let mut in_slot = |slot: &mut Slot| match slot {
            Slot::One(value) => {
                if let Some(new) = change(value) {
                    *value = new;
                }
            }
            Slot::Many(cells) => {
                let new: Vec<(u64, Value)> =
                    cells.at.iter().filter_map(|(at, value)| Some((*at, change(value)?))).collect();
                if !new.is_empty() {
                    Rc::make_mut(cells).at.extend(new);
                }
            }
        };
        let has_open = |slot: &Slot| match slot {
            Slot::One(value) => matches!(value, Value::Open(_)),
            Slot::Many(cells) => cells.at.values().any(|value| matches!(value, Value::Open(_))),
        };
        if self.held.globals.iter().any(has_open) {
            let globals = Rc::make_mut(&mut self.held.globals);
            globals.iter_mut().filter(|slot| has_open(slot)).for_each(&mut in_slot);
        }
        for frame in &mut self.held.frames {
            if frame.locals.iter().any(has_open) {
                let locals = Rc::make_mut(frame).locals.iter_mut();
                locals.filter(|slot| has_open(slot)).for_each(&mut in_slot);
            }
        }
        for (_, value) in &mut self.chosen {
            if let Some(new) = change(value) {
                *value = new;
            }
        }
    }

    /// Takes a condition for true or false; false if that cannot be.
    pub fn assume(&mut self, condition: &Expr, holds: bool) -> bool {
        if let ExprKind::Unary(UnaryOp::Not, inner) = &condition.kind {
            return self.assume(inner, !holds);
        }
        if self.symbols.decided(condition) == Some(!holds)
            || !assume(condition, holds, Rc::make_mut(&mut self.symbols))
        {
            return false;
        }
        let equal = match &condition.kind {
            ExprKind::Binary(BinaryOp::Eq, a, b) if holds => Some((a, b)),
            ExprKind::Binary(BinaryOp::Ne, a, b) if !holds => Some((a, b)),
            _ => None,
        };
        let symbols = Rc::make_mut(&mut self.symbols);
        if symbols.facts.len() == MOST_FACTS {
            symbols.facts.remove(0);
        }
        match equal {
            Some((a, b)) => {
                let replaceable =
                    |of: &Expr, by: &Expr| as_symbol(of).filter(|symbol| !symbols_of(by).contains(symbol));
                let possible = match (replaceable(a, b), replaceable(b, a)) {
                    (Some(symbol), _) => self.substitute(symbol, b),
                    (_, Some(symbol)) => self.substitute(symbol, a),
                    _ => {
                        symbols.facts.push((condition.clone(), holds));
                        true
                    }
                };
                if !possible {
                    return false;
                }
            }
            None => symbols.facts.push((condition.clone(), holds)),
        }
        self.fix()
    }

    /// Replaces symbols that can have one value only.
    fn fix(&mut self) -> bool {
        let used = |state: &Self, symbol: u32| {
            state.symbols.facts.iter().any(|(fact, _)| symbols_of(fact).contains(&symbol))
                || state.mentions(symbol)
        };
        for symbol in 0..self.symbols.ranges.len() {
            let range = self.symbols.ranges[symbol];
            if let Some(value) = range.as_constant() {
                if used(self, symbol as u32) {
                    let by = Expr::constant(value, Scalar::Bits(range.width()));
                    if !self.substitute(symbol as u32, &by) {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// Looks at the values that are no constants and no addresses, in the order of the places.
    pub fn each_open(&self, look: &mut impl FnMut(&Expr)) {
        let mut in_slot = |slot: &Slot| match slot {
            Slot::One(Value::Open(expr)) => look(expr),
            Slot::One(_) => {}
            Slot::Many(cells) => cells.at.values().for_each(|value| {
                if let Value::Open(expr) = value {
                    look(expr);
                }
            }),
        };
        self.held.globals.iter().for_each(&mut in_slot);
        self.held.frames.iter().for_each(|frame| frame.locals.iter().for_each(&mut in_slot));
    }

    fn mentions(&self, symbol: u32) -> bool {
        let in_value = |value: &Value| match value {
            Value::Known(_) | Value::Address { .. } => false,
            Value::Open(expr) => symbols_of(expr).contains(&symbol),
        };
        let in_slot = |slot: &Slot| match slot {
            Slot::One(value) => in_value(value),
            Slot::Many(cells) => cells.at.values().any(in_value),
        };
        self.held.globals.iter().any(in_slot)
            || self.held.frames.iter().any(|frame| frame.locals.iter().any(in_slot))
            || self.chosen.iter().any(|(_, value)| in_value(value))
    }

    /// An expression over symbols has a value; false if that cannot be.
    pub fn pin(&mut self, part: &Expr, value: u64) -> bool {
        let constant = Expr::constant(value, part.ty);
        let Some(symbol) = as_symbol(part) else {
            let equation = ExprKind::Binary(BinaryOp::Eq, Box::new(part.clone()), Box::new(constant.clone()));
            if !self.assume(&Expr { kind: equation, ty: Scalar::Bool }, true) {
                return false;
            }
            let symbols = self.symbols.clone();
            self.each_value(&mut |held| match held {
                Value::Open(expr) if contains(expr, part) => {
                    Some(symbols.value(with_part(expr, part, &constant)))
                }
                _ => None,
            });
            return true;
        };
        let Some(range) = self.symbols.ranges.get(symbol as usize).copied() else { return true };
        if !range.contains(value) {
            return false;
        }
        let ty = Scalar::Bits(range.width());
        Rc::make_mut(&mut self.symbols).ranges[symbol as usize] = Range::constant(value, ty);
        self.substitute(symbol, &Expr::constant(value, ty))
    }

    /// Numbers symbols in the order in which they are met, and forgets the others.
    pub fn renumber(&mut self) {
        let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
        let mut order = Vec::new();
        self.each_value(&mut |value| {
            let Value::Open(expr) = value else { return None };
            for symbol in symbols_of(expr) {
                numbers.entry(symbol).or_insert_with(|| {
                    order.push(symbol);
                    order.len() as u32 - 1
                });
            }
            let is_same = symbols_of(expr).iter().all(|symbol| numbers[symbol] == *symbol);
            (!is_same).then(|| Value::Open(Rc::new(renamed(expr, &numbers))))
        });
        let old = std::mem::take(&mut self.symbols);
        let naming = old.naming.clone();
        let ranges = order.iter().map(|symbol| old.ranges[*symbol as usize]).collect();
        let mut facts = Vec::new();
        for (fact, holds) in &old.facts {
            if symbols_of(fact).iter().all(|symbol| numbers.contains_key(symbol)) {
                facts.push((renamed(fact, &numbers), *holds));
            }
        }
        self.symbols = Rc::new(Symbols { ranges, facts, naming });
    }
}
