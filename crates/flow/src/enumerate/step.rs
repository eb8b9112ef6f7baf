//! What a step does to an abstract state.

use std::rc::Rc;

use wherefore_program::{
    Argument, Assignment, BinaryOp, Call, Edge, EdgeId, Expr, ExprKind, Operation, ProcedureId, Program,
    Scalar, Target, Type, Var, Variable, When, binary, unary,
};

use super::state::{Cells, Frame, Slot, State, Symbols, Value, as_symbol, symbols_of};
use crate::expression::range_of;
use crate::range::Range;

/// A symbol with no more values is looked at value by value, if an address depends on it.
const FEW: u64 = 16;
/// Larger expressions are replaced by symbols.
const LARGE: usize = 28;

/// Cells that a write may have changed get symbols, if they are at most so many.
const MOST_OPENED: u64 = 64;

/// Which cell of an array or of memory is meant.
#[derive(Clone, Copy, Debug)]
enum Place {
    Cell(u64),
    /// One between these two.
    Between(u64, u64),
    Any,
}

/// Why a step was not taken.
pub(super) enum Stop {
    /// It depends on a condition.
    Condition(Expr),
    /// It looks into a block that stands for a chain.
    Chain(u32),
    /// It depends on the value of an expression that has few values.
    Few(Expr),
    /// It cannot be taken.
    Blocked,
    /// It is not known what it does.
    NotKnown,
}

pub(super) type Taken<T> = Result<T, Stop>;

/// The first part of an expression that has few values, but is no constant.
fn few_valued(expr: &Expr, symbols: &Symbols) -> Option<Expr> {
    if symbols_of(expr).is_empty() {
        return None;
    }
    let inner = expr.children().into_iter().find_map(|part| few_valued(part, symbols));
    if inner.is_some() {
        return inner;
    }
    let range = range_of(expr, symbols);
    let (low, high) = range.unsigned_bounds();
    let (least, most) = range.signed_bounds();
    let is_few = high - low < FEW || most.wrapping_sub(least) as u64 <= FEW;
    (is_few && expr.ty != Scalar::Bool).then(|| expr.clone())
}

/// The part with few values that an equation is about, if the equation says what it is only value by
/// value.
pub(super) fn deciding_part(condition: &Expr, symbols: &Symbols) -> Option<Expr> {
    let ExprKind::Binary(BinaryOp::Eq | BinaryOp::Ne, a, b) = &condition.kind else { return None };
    let is_plain = |side: &Expr| as_symbol(side).is_some() || side.as_constant().is_some();
    match (is_plain(a) && is_plain(b), symbols_of(condition).as_slice()) {
        (false, [_]) => few_valued(condition, symbols),
        _ => None,
    }
}

/// The state in which an edge is taken.
pub(super) struct Stepping<'a, 's> {
    pub program: &'a Program,
    pub state: &'s mut State,
    pub edge: EdgeId,
}

/// Any value of a variable.
pub(super) fn any_range(variable: &Variable) -> Range {
    let ty = variable.ty.element();
    Range::unsigned(0, variable.max(), ty).unwrap_or(Range::full(ty))
}

impl Stepping<'_, '_> {
    fn frame(&self) -> &Frame {
        let frames = &self.state.held.frames;
        &frames[frames.len() - 1]
    }

    fn procedure(&self) -> ProcedureId {
        self.frame().procedure
    }

    fn slot(&self, variable: Var) -> &Slot {
        match variable {
            Var::Global(i) => &self.state.held.globals[i as usize],
            Var::Local(i) => &self.frame().locals[i as usize],
        }
    }

    fn slot_mut(&mut self, variable: Var) -> &mut Slot {
        match variable {
            Var::Global(i) => &mut Rc::make_mut(&mut self.state.held.globals)[i as usize],
            Var::Local(i) => {
                let frames = &mut self.state.held.frames;
                let at = frames.len() - 1;
                &mut Rc::make_mut(&mut frames[at]).locals[i as usize]
            }
        }
    }

    /// Any value in a range, for a part of the program. If the step is taken again, it is the same.
    fn choose<T>(&mut self, part: &T, range: Range, ty: Scalar) -> Value {
        let part = std::ptr::from_ref(part).addr();
        if let Some((_, value)) = self.state.chosen.iter().find(|(other, _)| *other == part) {
            return value.clone();
        }
        let value = Rc::make_mut(&mut self.state.symbols).fresh(range, ty);
        self.state.chosen.push((part, value.clone()));
        value
    }

    /// The cell that indices name, which is in no chain.
    fn cell(&mut self, variable: Var, indices: &[Expr]) -> Taken<Place> {
        let place = self.any_cell(variable, indices)?;
        if self.state.held.chains.is_empty() {
            return Ok(place);
        }
        let Some(naming) = self.state.symbols.naming.clone() else { return Ok(place) };
        let key = match place {
            Place::Cell(key) | Place::Between(key, _) => key,
            Place::Any => return Ok(place),
        };
        let ty = &self.program.variable(self.procedure(), variable).ty;
        match naming.block_of(ty, key).filter(|block| self.state.held.chains.contains_key(block)) {
            Some(block) => Err(Stop::Chain(block)),
            None => Ok(place),
        }
    }

    /// The cell that indices name.
    fn any_cell(&mut self, variable: Var, indices: &[Expr]) -> Taken<Place> {
        let ty = self.program.variable(self.procedure(), variable).ty.clone();
        let mut known = Vec::with_capacity(indices.len());
        let naming = self.state.symbols.naming.clone();
        for index in indices {
            match self.value(index)? {
                Value::Known(value) if naming.is_none() => known.push(value),
                value @ (Value::Known(_) | Value::Address { .. }) => match &naming {
                    Some(naming) if ty.is_memory() => {
                        return Ok(naming.cell(&ty, &value).map_or(Place::Any, Place::Cell));
                    }
                    _ => match value {
                        Value::Known(value) => known.push(value),
                        _ => return Ok(Place::Any),
                    },
                },
                Value::Open(expr) => {
                    if let Some(cell) =
                        naming.as_ref().and_then(|naming| naming.cell(&ty, &Value::Open(expr.clone())))
                    {
                        return Ok(Place::Cell(cell));
                    }
                    if let Some(part) = few_valued(&expr, &self.state.symbols) {
                        return Err(Stop::Few(part));
                    }
                    return Ok(self.between(&ty, &expr));
                }
            }
        }
        match ty.is_memory() {
            true => Ok(Place::Cell(known[0])),
            false => ty.cell(&known).map(|cell| Place::Cell(cell as u64)).ok_or(Stop::Blocked),
        }
    }

    /// The cells that an index may name.
    fn between(&self, ty: &Type, index: &Expr) -> Place {
        let symbols = &*self.state.symbols;
        let cells = match &symbols.naming {
            Some(naming) if ty.is_memory() => naming.between(ty, index, symbols),
            _ => Some(range_of(index, symbols).unsigned_bounds()),
        };
        match (cells, ty.dimensions()) {
            (Some((low, high)), []) => Place::Between(low, high),
            (Some((low, high)), [only]) => {
                Place::Between(low.saturating_sub(only.low), high.saturating_sub(only.low))
            }
            _ => Place::Any,
        }
    }

    /// The value of an expression.
    pub fn value(&mut self, expr: &Expr) -> Taken<Value> {
        let ty = expr.ty;
        let built = match &expr.kind {
            ExprKind::Constant(value) => return Ok(Value::Known(*value)),
            ExprKind::Choice { below } => {
                let full = Range::full(ty);
                let range = below.map_or(Some(full), |below| Range::unsigned(0, below.saturating_sub(1), ty));
                return Ok(self.choose(expr, range.unwrap_or(full), ty));
            }
            ExprKind::Read { when: When::Next, .. } => return Err(Stop::NotKnown),
            ExprKind::Read { variable, indices, when: When::Now } => {
                return self.read(expr, *variable, indices);
            }
            ExprKind::Float(..) => return Ok(self.choose(expr, Range::full(ty), ty)),
            ExprKind::IfThenElse(condition, then, otherwise) => {
                return match self.value(condition)? {
                    Value::Known(0) => self.value(otherwise),
                    Value::Known(_) => self.value(then),
                    Value::Open(open) => Err(Stop::Condition((*open).clone())),
                    Value::Address { .. } => Err(Stop::NotKnown),
                };
            }
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or | BinaryOp::Implies), left, right) => {
                let left = match self.value(left)? {
                    Value::Known(value) => value != 0,
                    Value::Open(open) => return Err(Stop::Condition((*open).clone())),
                    Value::Address { .. } => return Err(Stop::NotKnown),
                };
                return match (op, left) {
                    (BinaryOp::And, false) => Ok(Value::Known(0)),
                    (BinaryOp::Or, true) | (BinaryOp::Implies, false) => Ok(Value::Known(1)),
                    _ => self.value(right),
                };
            }
            ExprKind::Binary(BinaryOp::Sub, ..) if self.is_last(expr).is_some() => {
                let counter = self.is_last(expr);
                return Ok(match &self.state.last {
                    Some((of, block)) if counter == Some(*of) => block.clone(),
                    _ => self.choose(expr, Range::full(ty), ty),
                });
            }
            ExprKind::Unary(op, a) => match self.value(a)? {
                Value::Known(x) => return Ok(Value::Known(unary(*op, x, a.ty))),
                x => ExprKind::Unary(*op, Box::new(x.expr(a.ty))),
            },
            ExprKind::Binary(op, a, b) => match (self.value(a)?, self.value(b)?) {
                (Value::Known(x), Value::Known(y)) => return Ok(Value::Known(binary(*op, x, y, a.ty))),
                (x, y) => ExprKind::Binary(*op, Box::new(x.expr(a.ty)), Box::new(y.expr(b.ty))),
            },
            ExprKind::ZeroExtend(a) => match self.value(a)? {
                Value::Known(x) => return Ok(Value::Known(x & ty.max())),
                x => ExprKind::ZeroExtend(Box::new(x.expr(a.ty))),
            },
            ExprKind::SignExtend(a) => ExprKind::SignExtend(Box::new(self.value(a)?.expr(a.ty))),
            ExprKind::Extract { value, low } => match self.value(value)? {
                Value::Known(x) => return Ok(Value::Known(x.checked_shr(*low).unwrap_or(0) & ty.max())),
                x => ExprKind::Extract { value: Box::new(x.expr(value.ty)), low: *low },
            },
        };
        let built = Expr { kind: built, ty };
        let value = self.state.symbols.value(built);
        if let Value::Open(open) = &value {
            let mut size = 0;
            open.walk(&mut |_| size += 1);
            if size > LARGE {
                let range = range_of(open, &*self.state.symbols);
                return Ok(self.choose(expr, range, ty));
            }
        }
        Ok(value)
    }

    fn read(&mut self, expr: &Expr, variable: Var, indices: &[Expr]) -> Taken<Value> {
        if let Slot::One(value) = self.slot(variable) {
            if let (Some(naming), Value::Known(value)) = (&self.state.symbols.naming, value) {
                if let Some(next) = naming.next(variable, *value) {
                    return Ok(next);
                }
            }
            return Ok(value.clone());
        }
        let Place::Cell(cell) = self.cell(variable, indices)? else {
            let range = any_range(self.program.variable(self.procedure(), variable));
            return Ok(self.choose(expr, range, expr.ty));
        };
        let Slot::Many(cells) = self.slot(variable) else { return Err(Stop::NotKnown) };
        if let Some(value) = cells.at.get(&cell) {
            return Ok(value.clone());
        }
        if let Some(value) = cells.rest {
            return Ok(Value::Known(value));
        }
        let range = any_range(self.program.variable(self.procedure(), variable));
        let value = Rc::make_mut(&mut self.state.symbols).fresh(range, expr.ty);
        if let Slot::Many(cells) = self.slot_mut(variable) {
            Rc::make_mut(cells).at.insert(cell, value.clone());
        }
        Ok(value)
    }

    /// Where values go: a variable, or a cell of it.
    fn place(&mut self, target: &Target) -> Taken<(Var, Place)> {
        match self.slot(target.variable) {
            Slot::One(_) => Ok((target.variable, Place::Cell(0))),
            Slot::Many(_) => Ok((target.variable, self.cell(target.variable, &target.indices)?)),
        }
    }

    fn write(&mut self, (variable, place): (Var, Place), value: Value) {
        match (self.slot_mut(variable), place) {
            (Slot::One(held), _) => *held = value,
            (Slot::Many(cells), Place::Cell(cell)) => {
                Rc::make_mut(cells).at.insert(cell, value);
            }
            // Each of the cells may have changed. Those that are not there have any value.
            (Slot::Many(cells), Place::Between(low, high)) if cells.rest.is_none() => {
                if cells.at.range(low..=high).next().is_some() {
                    Rc::make_mut(cells).at.retain(|cell, _| !(low..=high).contains(cell));
                }
            }
            (Slot::Many(_), Place::Between(low, high)) if high - low < MOST_OPENED => {
                let range = any_range(self.program.variable(self.procedure(), variable));
                let ty = self.program.variable(self.procedure(), variable).ty.element();
                for cell in low..=high {
                    let value = Rc::make_mut(&mut self.state.symbols).fresh(range, ty);
                    if let Slot::Many(cells) = self.slot_mut(variable) {
                        Rc::make_mut(cells).at.insert(cell, value);
                    }
                }
            }
            // Every cell may have changed, so that nothing is known of the blocks of chains.
            (Slot::Many(cells), _) => {
                *cells = Rc::new(Cells { at: Default::default(), rest: None });
                self.state.held.chains = Rc::default();
            }
        }
    }

    /// The counter of which an expression is the value before the last allocation.
    fn is_last(&self, expr: &Expr) -> Option<u32> {
        self.state.symbols.naming.as_ref()?.is_last(expr)
    }

    /// The next value of the counter of an allocator.
    fn moved_on(&mut self, variable: Var, value: &Expr) -> Taken<Option<Value>> {
        let Some(naming) = self.state.symbols.naming.clone() else { return Ok(None) };
        if !naming.is_counter(variable) {
            return Ok(None);
        }
        let Slot::One(Value::Known(now)) = *self.slot(variable) else { return Err(Stop::NotKnown) };
        match naming.moved_on(variable, now, value) {
            Some(next) => {
                if let (Var::Global(counter), Some(block)) = (variable, naming.next(variable, now)) {
                    self.state.last = Some((counter, block));
                }
                Ok(Some(Value::Known(next)))
            }
            None => Err(Stop::NotKnown),
        }
    }

    fn assign(&mut self, assignment: &Assignment) -> Taken<()> {
        let mut writes = Vec::with_capacity(assignment.targets.len());
        for (target, value) in assignment.targets.iter().zip(&assignment.values) {
            let value = match self.moved_on(target.variable, value)? {
                Some(value) => value,
                None => self.value(value)?,
            };
            writes.push((self.place(target)?, value));
        }
        // A constraint only leaves runs out; without it there are more of them.
        for (place, value) in writes {
            self.write(place, value);
        }
        Ok(())
    }

    /// Takes the edge.
    pub fn take(
        &mut self,
        edge: &Edge,
        starts: &dyn Fn(&mut State, ProcedureId, usize) -> Slot,
    ) -> Taken<()> {
        match &edge.operation {
            Operation::Skip => {}
            Operation::Assume(condition) => match self.value(condition)? {
                Value::Known(0) => return Err(Stop::Blocked),
                Value::Known(_) => {}
                Value::Open(open) => return Err(Stop::Condition((*open).clone())),
                Value::Address { .. } => return Err(Stop::NotKnown),
            },
            Operation::Assign(assignment) => self.assign(assignment)?,
            Operation::Havoc(targets) => {
                let mut writes = Vec::new();
                for target in targets {
                    let variable = self.program.variable(self.procedure(), target.variable).clone();
                    if let (Type::Array { .. }, []) = (&variable.ty, target.indices.as_slice()) {
                        writes.push(((target.variable, Place::Any), Value::Known(0)));
                        continue;
                    }
                    let value = self.choose(target, any_range(&variable), variable.ty.element());
                    writes.push((self.place(target)?, value));
                }
                for (place, value) in writes {
                    self.write(place, value);
                }
            }
            Operation::Call(call) => return self.call(call, starts),
            Operation::Return(values) => return self.leave(values),
            _ => return Err(Stop::NotKnown),
        }
        self.go(edge);
        Ok(())
    }

    fn go(&mut self, edge: &Edge) {
        let frames = &mut self.state.held.frames;
        let at = frames.len() - 1;
        Rc::make_mut(&mut frames[at]).location = edge.to;
    }

    fn call(&mut self, call: &Call, starts: &dyn Fn(&mut State, ProcedureId, usize) -> Slot) -> Taken<()> {
        let mut given = Vec::new();
        for argument in &call.arguments {
            given.push(match argument {
                Argument::Value(value) => Some(Slot::One(self.value(value)?)),
                Argument::Copy(array, When::Now) => Some(self.slot(*array).clone()),
                Argument::Copy(_, When::Next) => return Err(Stop::NotKnown),
                Argument::Arbitrary => None,
            });
        }
        self.assign(&call.assignment)?;
        let callee = self.program.procedure(call.callee);
        let mut locals = Vec::with_capacity(callee.variables.len());
        for at in 0..callee.variables.len() {
            locals.push(match given.get_mut(at).and_then(Option::take) {
                Some(slot) => slot,
                None => starts(self.state, call.callee, at),
            });
        }
        let edge = self.edge;
        let frames = &mut self.state.held.frames;
        let at = frames.len() - 1;
        Rc::make_mut(&mut frames[at]).call = Some(edge);
        frames.push(Rc::new(Frame { procedure: call.callee, location: callee.entry, call: None, locals }));
        Ok(())
    }

    fn leave(&mut self, values: &[Expr]) -> Taken<()> {
        let mut results = Vec::new();
        for value in values {
            results.push((self.value(value)?, value.ty));
        }
        // The index of a result is read in the caller, behind the results before it.
        let is_simple = |call: &Call| {
            call.results.len() < 2 || call.results.iter().flatten().all(|to| to.indices.is_empty())
        };
        let before = self.state.held.frames.pop();
        let Some(waiting) = self.state.held.frames.last().and_then(|frame| frame.call) else {
            return Ok(());
        };
        let (program, procedure) = (self.program, self.procedure());
        let edge = program.procedure(procedure).edge(waiting);
        let Operation::Call(call) = &edge.operation else { return Err(Stop::NotKnown) };
        if !is_simple(call) {
            return Err(Stop::NotKnown);
        }
        let mut writes = Vec::new();
        for ((value, ty), target) in results.into_iter().zip(&call.results) {
            let Some(target) = target else { continue };
            let place = match self.place(target) {
                Ok(place) => place,
                Err(stop) => {
                    // The step is taken again from where it started.
                    self.state.held.frames.extend(before);
                    return Err(stop);
                }
            };
            let wanted = program.variable(procedure, target.variable).ty.element();
            let value = match (ty, wanted) {
                (Scalar::Bits(has), Scalar::Bits(wants)) if has != wants => {
                    let kind = ExprKind::ZeroExtend(Box::new(value.expr(ty)));
                    self.state.symbols.value(Expr { kind, ty: wanted })
                }
                _ => value,
            };
            writes.push((place, value));
        }
        for (place, value) in writes {
            self.write(place, value);
        }
        let frames = &mut self.state.held.frames;
        let at = frames.len() - 1;
        let frame = Rc::make_mut(&mut frames[at]);
        frame.call = None;
        frame.location = edge.to;
        Ok(())
    }
}
