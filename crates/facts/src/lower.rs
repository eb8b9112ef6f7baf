//! From a program to a weighted pushdown system, for any domain of variables.
//!
//! \[Lal09\] Fig. 2.4, §3.1 and §3.3: one control state; stack symbols are the locations, and a
//! place of its own behind each call, where the results are taken over. An edge is a rule with the
//! transformer of its operation. A call has the transformer that enters the callee: parameters are
//! bound, the other locals start afresh; the same is part of the merge function. Branches go both
//! ways unless the domain reads conditions.

use rustc_hash::FxHashMap;
use wherefore_program::{
    Argument, Assignment, Call, Edge, EdgeId, EdgeRef, Expr, ExprKind, Node, Operation, ProcedureId, Program,
    Scalar, Target, Var, When,
};
use wherefore_pushdown::{Merge, Names, Rhs, Semiring, State, Symbol, System};

use crate::linear::Linear;
use crate::slots::Slots;

/// Parallel assignments to slots: a linear form, or any value.
pub(crate) type Changes = Vec<(usize, Option<Linear>)>;

/// A domain whose weights are made from statements.
pub(crate) trait Statements: Semiring + Sized {
    /// The merge functions of calls.
    type Call: Merge<Self>;

    /// What the domain can say of an expression that is put into a value of this type. The flag
    /// says whether people read it as signed.
    fn value(
        &self,
        slots: &Slots,
        procedure: ProcedureId,
        expr: &Expr,
        into: (Scalar, bool),
    ) -> Option<Linear>;

    /// The form of a constant that a variable starts with.
    fn constant(&self, value: u64, ty: (Scalar, bool)) -> Option<Linear>;

    /// A value of one type that was returned, as it arrives in another one; none if it is changed.
    fn returned(&self, slot: usize, from: Scalar, to: Scalar) -> Option<Linear>;

    /// A parallel assignment.
    fn assign(&self, changes: &Changes) -> Self::Weight;

    /// A condition that holds.
    fn assume(&self, slots: &Slots, procedure: ProcedureId, condition: &Expr) -> Self::Weight;

    /// The merge function of a call that enters with this weight; the first slots are shared.
    fn call(&self, shared: usize, enter: Self::Weight) -> Self::Call;
}

/// The symbols of the system of a program.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    first: Vec<u32>,
    behind: FxHashMap<EdgeRef, Symbol>,
    /// Where everything starts: nothing is initialised yet.
    pub start: Symbol,
    count: u32,
}

/// The one control state.
pub(crate) const CONTROL: State = State(0);

impl Layout {
    pub fn new(program: &Program) -> Self {
        let mut count = 0;
        let mut first = Vec::new();
        for procedure in &program.procedures {
            first.push(count);
            count += procedure.locations.len() as u32;
        }
        let mut behind = FxHashMap::default();
        for (id, procedure) in program.procedures() {
            for (edge, body) in procedure.edges() {
                if matches!(body.operation, Operation::Call(_)) {
                    behind.insert(EdgeRef { procedure: id, edge }, Symbol(count));
                    count += 1;
                }
            }
        }
        Self { first, behind, start: Symbol(count), count: count + 1 }
    }

    /// The symbol of a location.
    pub fn of(&self, node: Node) -> Symbol {
        Symbol(self.first[node.procedure.0 as usize] + node.location.0)
    }

    /// The symbol of the place behind a call.
    pub fn behind(&self, call: EdgeRef) -> Symbol {
        self.behind[&call]
    }

    /// All calls, with the symbols behind them.
    pub fn calls(&self) -> impl Iterator<Item = (EdgeRef, Symbol)> + '_ {
        self.behind.iter().map(|(call, symbol)| (*call, *symbol))
    }
}

/// Makes the rules.
pub(crate) struct Lowering<'a, D> {
    pub program: &'a Program,
    pub domain: &'a D,
    pub slots: &'a Slots,
    pub layout: &'a Layout,
}

impl<D: Statements> Lowering<'_, D> {
    /// The system of the program.
    pub fn system(&self) -> System<D::Weight, D::Call> {
        let mut system = System::with_names(Names::numbered(1), Names::numbered(self.layout.count));
        let node = |procedure, location| self.layout.of(Node { procedure, location });
        let entry = |procedure| node(procedure, self.program.procedure(procedure).entry);
        let first = self.domain.assign(&self.at_start());
        system.add(CONTROL, self.layout.start, CONTROL, Rhs::Swap(entry(self.program.entry)), first);
        for (id, procedure) in self.program.procedures() {
            for (number, edge) in procedure.edges() {
                let (from, to) = (node(id, edge.from), node(id, edge.to));
                match &edge.operation {
                    Operation::Call(call) => {
                        let behind = self.layout.behind(EdgeRef { procedure: id, edge: number });
                        let before = self.domain.assign(&self.assigned(id, &call.assignment));
                        let enter = self.domain.assign(&self.entered(id, call));
                        let from = if self.domain.is_one(&before) {
                            from
                        } else {
                            let middle = system.symbol(&format!("call {} {}", id.0, number.0));
                            system.add(CONTROL, from, CONTROL, Rhs::Swap(middle), before);
                            middle
                        };
                        let merge = self.domain.call(self.slots.shared, enter.clone());
                        let places = (entry(call.callee), behind);
                        system.add_call(CONTROL, from, CONTROL, places, enter, merge);
                        let taken = self.domain.assign(&self.taken(id, call));
                        system.add(CONTROL, behind, CONTROL, Rhs::Swap(to), taken);
                    }
                    Operation::Return(_) => {
                        system.add(CONTROL, from, CONTROL, Rhs::Pop, self.step(id, edge));
                    }
                    _ => {
                        let weight = self.step(id, edge);
                        if !self.domain.is_zero(&weight) {
                            system.add(CONTROL, from, CONTROL, Rhs::Swap(to), weight);
                        }
                    }
                }
            }
        }
        system
    }

    /// What an edge does that is no call.
    pub fn step(&self, procedure: ProcedureId, edge: &Edge) -> D::Weight {
        match &edge.operation {
            Operation::Assume(condition) if condition.as_constant() == Some(0) => self.domain.zero(),
            Operation::Assume(condition) => self.domain.assume(self.slots, procedure, condition),
            Operation::Assign(assignment) => self.domain.assign(&self.assigned(procedure, assignment)),
            Operation::Havoc(targets) => {
                let slots = targets.iter().filter_map(|target| self.slots.of(procedure, target.variable));
                self.domain.assign(&slots.map(|slot| (slot, None)).collect())
            }
            Operation::Return(values) => {
                let results = &self.program.procedure(procedure).results;
                let put = |(i, (value, ty)): (usize, (&Expr, &Scalar))| {
                    (self.slots.result(i), self.domain.value(self.slots, procedure, value, (*ty, true)))
                };
                self.domain.assign(&values.iter().zip(results).enumerate().map(put).collect())
            }
            _ => self.domain.one(),
        }
    }

    /// What an edge does that is a call, up to the place behind it, seen from the caller: only what
    /// it assigns in the same step.
    fn assigned(&self, procedure: ProcedureId, assignment: &Assignment) -> Changes {
        let mut changes = Changes::new();
        for (target, value) in assignment.targets.iter().zip(&assignment.values) {
            let Some((slot, ty)) = self.target(procedure, target) else { continue };
            changes.retain(|(other, _)| *other != slot);
            changes.push((slot, self.domain.value(self.slots, procedure, value, ty)));
        }
        changes
    }

    fn target(&self, procedure: ProcedureId, target: &Target) -> Option<(usize, (Scalar, bool))> {
        let slot = self.slots.of(procedure, target.variable)?;
        let variable = self.program.variable(procedure, target.variable);
        Some((slot, (variable.ty.element(), variable.signed)))
    }

    fn at_start(&self) -> Changes {
        let mut changes: Changes = (0..self.slots.count).map(|slot| (slot, None)).collect();
        let entry = self.program.entry;
        let body = self.program.procedure(entry);
        let globals = (0..self.program.globals.len() as u32).map(Var::Global);
        let locals = (body.parameters as u32..body.variables.len() as u32).map(Var::Local);
        for variable in globals.chain(locals) {
            self.initialise(entry, variable, &mut changes);
        }
        changes
    }

    /// A variable with an initial value gets it.
    fn initialise(&self, procedure: ProcedureId, variable: Var, changes: &mut Changes) {
        let Some(slot) = self.slots.of(procedure, variable) else { return };
        let variable = self.program.variable(procedure, variable);
        let ty = (variable.ty.element(), variable.signed);
        let value = variable.initial.and_then(|value| self.domain.constant(value, ty));
        if let Some(change) = changes.iter_mut().find(|(other, _)| *other == slot) {
            change.1 = value;
        }
    }

    /// Parameters are bound, the other locals of the callee start afresh, and those of the caller
    /// are out of sight.
    fn entered(&self, procedure: ProcedureId, call: &Call) -> Changes {
        let mut changes: Changes =
            (self.slots.result(0)..self.slots.count).map(|slot| (slot, None)).collect();
        let callee = self.program.procedure(call.callee);
        for i in callee.parameters..callee.variables.len() {
            self.initialise(call.callee, Var::Local(i as u32), &mut changes);
        }
        let written: Vec<Var> = call.assignment.targets.iter().map(|target| target.variable).collect();
        for (i, argument) in call.arguments.iter().enumerate() {
            let Some(slot) = self.slots.of(call.callee, Var::Local(i as u32)) else { continue };
            let variable = &callee.variables[i];
            let value = match argument {
                // The assignment has been done: what it wrote is now what was to be next.
                Argument::Value(value) => after(value, &written).and_then(|value| {
                    self.domain.value(self.slots, procedure, &value, (variable.ty.element(), variable.signed))
                }),
                Argument::Copy(..) | Argument::Arbitrary => None,
            };
            if let Some(change) = changes.iter_mut().find(|(other, _)| *other == slot) {
                change.1 = value;
            }
        }
        changes
    }

    /// Behind a call, its results are put where they belong and forgotten.
    fn taken(&self, procedure: ProcedureId, call: &Call) -> Changes {
        let types = &self.program.procedure(call.callee).results;
        let mut changes: Changes =
            (self.slots.result(0)..self.slots.shared).map(|slot| (slot, None)).collect();
        for (i, (target, from)) in call.results.iter().zip(types).enumerate() {
            let Some(target) = target else { continue };
            let Some((slot, (to, _))) = self.target(procedure, target) else { continue };
            changes.retain(|(other, _)| *other != slot);
            changes.push((slot, self.domain.returned(self.slots.result(i), *from, to)));
        }
        changes
    }
}

/// An argument of a call as an expression over the state after the call's own assignment; none if
/// it reads what the assignment has overwritten.
fn after(expr: &Expr, written: &[Var]) -> Option<Expr> {
    let mut lost = false;
    expr.reads(&mut |variable, when| lost |= when == When::Now && written.contains(&variable));
    if lost {
        return None;
    }
    let mut expr = expr.clone();
    now(&mut expr);
    Some(expr)
}

fn now(expr: &mut Expr) {
    match &mut expr.kind {
        ExprKind::Constant(_) | ExprKind::Choice { .. } => {}
        ExprKind::Read { indices, when, .. } => {
            *when = When::Now;
            indices.iter_mut().for_each(now);
        }
        ExprKind::Float(_, parts) => parts.iter_mut().for_each(now),
        ExprKind::Unary(_, value)
        | ExprKind::ZeroExtend(value)
        | ExprKind::SignExtend(value)
        | ExprKind::Extract { value, .. } => now(value),
        ExprKind::Binary(_, left, right) => {
            now(left);
            now(right);
        }
        ExprKind::IfThenElse(a, b, c) => [a, b, c].into_iter().for_each(|part| now(part)),
    }
}

/// The edges of a procedure that return.
pub(crate) fn returns(program: &Program, procedure: ProcedureId) -> impl Iterator<Item = (EdgeId, &Edge)> {
    program.procedure(procedure).edges().filter(|(_, edge)| matches!(edge.operation, Operation::Return(_)))
}
