//! Abstract states: constants, and symbols for what is not known.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use wherefore_program::{
    BinaryOp, EdgeId, Expr, ExprKind, LocationId, ProcedureId, Scalar, UnaryOp, Var, binary, unary,
};

use crate::expression::{Joined, Known, Narrow, assume, range_of};
use crate::range::Range;

/// Conditions between symbols that are kept, at most.
const MOST_FACTS: usize = 64;

/// A value: a constant, or an expression over symbols. The symbol `i` is written as the local
/// variable `i`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Value {
    Known(u64),
    Open(Rc<Expr>),
}

impl Value {
    pub fn expr(&self, ty: Scalar) -> Expr {
        match self {
            Value::Known(value) => Expr::constant(*value, ty),
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
}

/// What is known about symbols.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Symbols {
    pub ranges: Vec<Range>,
    /// Conditions that hold, or do not.
    pub facts: Vec<(Expr, bool)>,
}

/// An abstract state: all states that have these values for some values of the symbols.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub held: Held,
    pub symbols: Rc<Symbols>,
    /// The values that were chosen in the step that is being taken, by parts of the program.
    pub chosen: Vec<(usize, Value)>,
}

impl Known for Symbols {
    fn of(&self, variable: Var) -> Option<Range> {
        match variable {
            Var::Local(symbol) => self.ranges.get(symbol as usize).copied(),
            Var::Global(_) => None,
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
        let expr = shortened(expr);
        if let Some(value) = expr.as_constant() {
            return Value::Known(value);
        }
        if let Some(value) = range_of(&expr, self).as_constant() {
            return Value::Known(value);
        }
        if expr.ty == Scalar::Bool {
            if let Some(holds) = self.decided(&expr) {
                return Value::Known(u64::from(holds));
            }
        }
        Value::Open(Rc::new(expr))
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
        let plain = Symbols { ranges, facts: Vec::new() };
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

    fn mentions(&self, symbol: u32) -> bool {
        let in_value = |value: &Value| match value {
            Value::Known(_) => false,
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

    /// A symbol has one value.
    pub fn pin(&mut self, symbol: u32, value: u64) -> bool {
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
        let ranges = order.iter().map(|symbol| old.ranges[*symbol as usize]).collect();
        let mut facts = Vec::new();
        for (fact, holds) in &old.facts {
            if symbols_of(fact).iter().all(|symbol| numbers.contains_key(symbol)) {
                facts.push((renamed(fact, &numbers), *holds));
            }
        }
        self.symbols = Rc::new(Symbols { ranges, facts });
    }
}

fn mapped(expr: &Expr, change: &impl Fn(&Expr) -> Option<Expr>) -> Expr {
    if let Some(new) = change(expr) {
        return new;
    }
    let inner = |part: &Expr| Box::new(mapped(part, change));
    let kind = match &expr.kind {
        ExprKind::Unary(op, a) => ExprKind::Unary(*op, inner(a)),
        ExprKind::Binary(op, a, b) => ExprKind::Binary(*op, inner(a), inner(b)),
        ExprKind::ZeroExtend(a) => ExprKind::ZeroExtend(inner(a)),
        ExprKind::SignExtend(a) => ExprKind::SignExtend(inner(a)),
        ExprKind::Extract { value, low } => ExprKind::Extract { value: inner(value), low: *low },
        ExprKind::IfThenElse(c, a, b) => ExprKind::IfThenElse(inner(c), inner(a), inner(b)),
        ExprKind::Float(op, list) => {
            ExprKind::Float(*op, list.iter().map(|part| mapped(part, change)).collect())
        }
        ExprKind::Constant(_) | ExprKind::Read { .. } | ExprKind::Choice { .. } => expr.kind.clone(),
    };
    shortened(Expr { kind, ty: expr.ty })
}

fn replaced(expr: &Expr, symbol: u32, by: &Expr) -> Expr {
    mapped(expr, &|part| {
        (as_symbol(part) == Some(symbol)).then(|| match by.as_constant() {
            Some(value) => Expr::constant(value, part.ty),
            None => by.clone(),
        })
    })
}

fn renamed(expr: &Expr, numbers: &FxHashMap<u32, u32>) -> Expr {
    mapped(expr, &|part| {
        let number = numbers.get(&as_symbol(part)?)?;
        Some(Expr::variable(Var::Local(*number), part.ty))
    })
}

/// The same value by fewer operations, where the outermost one allows it.
pub(super) fn shortened(expr: Expr) -> Expr {
    let ty = expr.ty;
    let constant = |value: u64| Expr::constant(value, ty);
    match &expr.kind {
        ExprKind::Unary(op, a) => match (op, a.as_constant(), &a.kind) {
            (_, Some(value), _) => constant(unary(*op, value, a.ty)),
            (UnaryOp::Not, _, ExprKind::Unary(UnaryOp::Not, inner)) => (**inner).clone(),
            _ => expr,
        },
        ExprKind::Binary(op, a, b) => match (a.as_constant(), b.as_constant()) {
            (Some(x), Some(y)) => constant(binary(*op, x, y, a.ty)),
            (Some(_), None) if matches!(op, BinaryOp::Add | BinaryOp::BitOr) => {
                shortened(Expr { kind: ExprKind::Binary(*op, b.clone(), a.clone()), ty })
            }
            (None, Some(y)) => match (op, &a.kind) {
                (BinaryOp::Add | BinaryOp::Sub | BinaryOp::BitOr | BinaryOp::BitXor | BinaryOp::Shl, _)
                    if y == 0 =>
                {
                    (**a).clone()
                }
                (BinaryOp::Sub, _) => {
                    let minus = Expr::constant(y.wrapping_neg(), b.ty);
                    shortened(Expr { kind: ExprKind::Binary(BinaryOp::Add, a.clone(), Box::new(minus)), ty })
                }
                (BinaryOp::Add, ExprKind::Binary(BinaryOp::Add, x, c)) if c.as_constant().is_some() => {
                    let sum = c.as_constant().unwrap_or_default().wrapping_add(y);
                    let sum = Expr::constant(sum, b.ty);
                    shortened(Expr { kind: ExprKind::Binary(BinaryOp::Add, x.clone(), Box::new(sum)), ty })
                }
                (BinaryOp::Eq | BinaryOp::Ne, ExprKind::Binary(BinaryOp::Add, x, c))
                    if c.as_constant().is_some() =>
                {
                    let rest = y.wrapping_sub(c.as_constant().unwrap_or_default());
                    let rest = Expr::constant(rest, b.ty);
                    shortened(Expr { kind: ExprKind::Binary(*op, x.clone(), Box::new(rest)), ty })
                }
                _ => expr,
            },
            (None, None) if *op == BinaryOp::BitOr && a != b => match whole(&expr) {
                Some(value) => value,
                None => expr,
            },
            (None, None) if a == b => match op {
                BinaryOp::Sub | BinaryOp::BitXor => constant(0),
                BinaryOp::Eq | BinaryOp::ULe | BinaryOp::SLe => constant(1),
                BinaryOp::Ne | BinaryOp::ULt | BinaryOp::SLt => constant(0),
                _ => expr,
            },
            _ => expr,
        },
        ExprKind::ZeroExtend(a) => match a.as_constant() {
            Some(value) => constant(value),
            None if a.ty == ty => (**a).clone(),
            None => expr,
        },
        ExprKind::SignExtend(a) => match a.as_constant() {
            Some(value) => {
                let shift = 64 - a.ty.width();
                constant((((value << shift) as i64) >> shift) as u64)
            }
            None if a.ty == ty => (**a).clone(),
            None => expr,
        },
        ExprKind::Extract { value, low } => match (value.as_constant(), &value.kind) {
            (Some(value), _) => constant(value.checked_shr(*low).unwrap_or(0)),
            (None, ExprKind::ZeroExtend(inner) | ExprKind::SignExtend(inner))
                if *low == 0 && inner.ty == ty =>
            {
                (**inner).clone()
            }
            (None, _) if *low == 0 && value.ty == ty => (**value).clone(),
            _ => expr,
        },
        _ => expr,
    }
}

/// The value of which a disjunction has all bytes, each in its place.
fn whole(expr: &Expr) -> Option<Expr> {
    let (mut found, mut covered): (Option<&Expr>, u64) = (None, 0);
    let mut todo = vec![expr];
    while let Some(part) = todo.pop() {
        let (byte, place) = match &part.kind {
            ExprKind::Binary(BinaryOp::BitOr, a, b) => {
                todo.extend([&**a, &**b]);
                continue;
            }
            ExprKind::Binary(BinaryOp::Shl, a, by) => (&**a, by.as_constant()?),
            _ => (part, 0),
        };
        let ExprKind::ZeroExtend(inner) = &byte.kind else { return None };
        let ExprKind::Extract { value, low } = &inner.kind else { return None };
        if u64::from(*low) != place || inner.ty != Scalar::Bits(8) || value.ty != expr.ty || place % 8 != 0 {
            return None;
        }
        if found.is_some_and(|other| *other != **value) {
            return None;
        }
        found = Some(value);
        covered |= 1 << (place / 8);
    }
    let bytes = expr.ty.width() / 8;
    (expr.ty.width() % 8 == 0 && covered == (1_u64 << bytes) - 1).then(|| found.cloned()).flatten()
}
