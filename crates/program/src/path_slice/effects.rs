//! What each edge reads and writes: Rd and Wt of \[PathSlice\], Fig. 3, for the operations that we
//! have.
//!
//! A parallel assignment is several assignments: each is live or not by itself, and only what the
//! live ones read becomes live. An operation that may refuse to run (a condition, a constraint, an
//! index that may be out of bounds) depends on everything that it looks at.

use std::collections::BTreeSet;

use super::constants::Constants;
use super::places::{Place, Places};
use crate::expression::{BinaryOp, Expr, ExprKind, Target, Var, When};
use crate::program::{Argument, Assignment, Call, Edge, Operation, Procedure, ProcedureId, Program};
use crate::types::{Dimension, Type};

/// One write, and what its value and its index depend on.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) target: Place,
    pub(super) reads: Vec<Place>,
}

/// How an edge goes between frames.
#[derive(Debug)]
pub(super) enum Passage {
    /// It does not.
    Within,
    /// Into a callee.
    Call {
        callee: ProcedureId,
        /// What each parameter is made of.
        arguments: Vec<Vec<Place>>,
        /// Where the results go, in the frame of the caller.
        results: Vec<Option<Part>>,
    },
    /// Back to the caller.
    Return {
        /// What each value is made of, in the frame of the callee.
        values: Vec<Vec<Place>>,
    },
}

/// When an edge refuses to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guard {
    /// Never.
    Open,
    /// If an index is out of bounds.
    Bounds,
    /// If a condition or a constraint does not hold.
    Condition,
}

/// What an edge does to data.
#[derive(Debug)]
pub(super) struct Effect {
    pub(super) parts: Vec<Part>,
    /// What the condition or constraint looks at.
    pub(super) condition: Vec<Place>,
    pub(super) guard: Guard,
    /// Whether an index may be out of bounds, whatever else decides.
    pub(super) may_be_out: bool,
    /// Whether everything that it looks at matters as soon as it is taken.
    pub(super) entangled: bool,
    pub(super) passage: Passage,
}

impl Effect {
    /// What the edge itself writes in its own frame, the results of a call included.
    pub(super) fn writes(&self) -> impl Iterator<Item = Place> + '_ {
        let results: &[Option<Part>] = match &self.passage {
            Passage::Call { results, .. } => results,
            Passage::Within | Passage::Return { .. } => &[],
        };
        self.parts.iter().chain(results.iter().flatten()).map(|part| part.target)
    }
}

/// Finds the effects of the edges of one procedure.
pub(super) struct Reader<'a> {
    pub(super) program: &'a Program,
    pub(super) places: &'a Places,
    pub(super) procedure: ProcedureId,
    /// What is known on the path at hand.
    pub(super) constants: Option<&'a Constants<'a>>,
}

impl Reader<'_> {
    pub(super) fn effect(&self, edge: &Edge) -> Effect {
        let mut effect = Effect {
            parts: Vec::new(),
            condition: Vec::new(),
            guard: Guard::Open,
            may_be_out: false,
            entangled: false,
            passage: Passage::Within,
        };
        let mut bounds = false;
        match &edge.operation {
            Operation::Skip
            | Operation::AtomicBegin
            | Operation::AtomicEnd
            | Operation::StartThread(_)
            | Operation::EndThread
            | Operation::Sync => {}
            Operation::Assume(condition) if always_possible(condition) => {}
            Operation::Assume(condition) => {
                bounds = self.may_be_out(condition);
                effect.condition = self.reads([condition]);
                effect.guard = Guard::Condition;
            }
            Operation::Assign(assignment) => self.assignment(assignment, &mut effect, &mut bounds),
            Operation::Havoc(targets) => {
                bounds |= targets.iter().any(|target| self.target_may_be_out(target));
                effect.parts = targets.iter().map(|target| self.part(target, &[])).collect();
            }
            Operation::Call(call) => self.call(call, &mut effect, &mut bounds),
            Operation::Return(values) => {
                bounds |= values.iter().any(|value| self.may_be_out(value));
                let values = values.iter().map(|value| self.reads([value])).collect();
                effect.passage = Passage::Return { values };
            }
        }
        effect.may_be_out = bounds;
        if bounds && effect.guard == Guard::Open {
            effect.guard = Guard::Bounds;
        }
        effect.entangled |= effect.guard != Guard::Open;
        effect
    }

    fn call(&self, call: &Call, effect: &mut Effect, bounds: &mut bool) {
        self.assignment(&call.assignment, effect, bounds);
        // Arguments may read what the assignment has written.
        effect.entangled = !call.assignment.targets.is_empty();
        let mut argument = |argument: &Argument| match argument {
            Argument::Value(value) => {
                *bounds |= self.may_be_out(value);
                self.reads([value])
            }
            Argument::Copy(array, _) => vec![self.places.whole(self.procedure, *array)],
            Argument::Arbitrary => Vec::new(),
        };
        let arguments = call.arguments.iter().map(&mut argument).collect();
        // The return would refuse, but what it depends on is known here.
        *bounds |= call.results.iter().flatten().any(|target| self.target_may_be_out(target));
        // Their indices are read when the callee has returned: what is known now may have changed.
        let after = Self { constants: None, ..*self };
        let result = |target: &Option<Target>| target.as_ref().map(|target| after.part(target, &[]));
        let results = call.results.iter().map(result).collect();
        effect.passage = Passage::Call { callee: call.callee, arguments, results };
    }

    fn assignment(&self, assignment: &Assignment, effect: &mut Effect, bounds: &mut bool) {
        for (target, value) in assignment.targets.iter().zip(&assignment.values) {
            *bounds |= self.target_may_be_out(target) || self.may_be_out(value);
            effect.parts.push(self.part(target, &[value]));
        }
        if let Some(constraint) = &assignment.constraint {
            effect.condition = self.reads([constraint]);
            // What is read after the step and surely written by it is not looked at before.
            let mut now = BTreeSet::new();
            constraint.walk(&mut |part| {
                if let ExprKind::Read { variable, indices, when: When::Now } = &part.kind {
                    now.insert(self.place(*variable, indices));
                }
            });
            let written: BTreeSet<Place> = effect.parts.iter().map(|part| part.target).collect();
            effect.condition.retain(|place| {
                now.contains(place)
                    || !written.contains(place)
                    || !self.places.is_exact(self.procedure, *place)
            });
            effect.guard = Guard::Condition;
        }
    }

    fn part(&self, target: &Target, values: &[&Expr]) -> Part {
        let reads = self.reads(target.indices.iter().chain(values.iter().copied()));
        Part { target: self.place(target.variable, &target.indices), reads }
    }

    fn place(&self, variable: Var, indices: &[Expr]) -> Place {
        let value = |index: &Expr| match self.constants {
            Some(constants) => constants.value(index),
            None => index.as_constant(),
        };
        self.places.place(self.program, self.procedure, variable, indices, value)
    }

    fn reads<'e>(&self, exprs: impl IntoIterator<Item = &'e Expr>) -> Vec<Place> {
        let mut reads = Vec::new();
        for expr in exprs {
            expr.walk(&mut |part| {
                if let ExprKind::Read { variable, indices, .. } = &part.kind {
                    reads.push(self.place(*variable, indices));
                }
            });
        }
        reads.sort_unstable();
        reads.dedup();
        reads
    }

    fn may_be_out(&self, expr: &Expr) -> bool {
        let mut out = false;
        expr.walk(&mut |part| {
            if let ExprKind::Read { variable, indices, .. } = &part.kind {
                out |= self.access_may_be_out(*variable, indices);
            }
        });
        out
    }

    fn target_may_be_out(&self, target: &Target) -> bool {
        self.access_may_be_out(target.variable, &target.indices)
            || target.indices.iter().any(|index| self.may_be_out(index))
    }

    fn access_may_be_out(&self, variable: Var, indices: &[Expr]) -> bool {
        let Type::Array { dimensions, .. } = &self.program.variable(self.procedure, variable).ty else {
            return false;
        };
        let inside = |(index, dimension): (&Expr, &Dimension)| {
            let (least, greatest) = match index.as_constant() {
                Some(value) => (value, value),
                None => (0, index.ty.max()),
            };
            least >= dimension.low && greatest - dimension.low < dimension.length
        };
        !indices.iter().zip(dimensions).all(inside)
    }
}

/// Whether some choice makes the condition true in every state: it is a choice, or the constant
/// true.
fn always_possible(condition: &Expr) -> bool {
    match condition.kind {
        ExprKind::Choice { below } => below != Some(1),
        ExprKind::Constant(value) => value != 0,
        _ => false,
    }
}

/// Whether a run that has come to a location can always go on from there.
pub(super) fn always_goes_on(procedure: &Procedure, effects: &[Effect], at: crate::LocationId) -> bool {
    let mut conditions = Vec::new();
    for (id, edge) in procedure.edges_from(at) {
        let effect = &effects[id.0 as usize];
        if effect.guard == Guard::Open {
            return true;
        }
        match &edge.operation {
            Operation::Assume(condition) if !effect.may_be_out => conditions.push(condition),
            _ => {}
        }
    }
    conditions.iter().enumerate().any(|(i, a)| conditions[i + 1..].iter().any(|b| complementary(a, b)))
}

/// Whether one of two conditions holds in every state. May say no where it is so.
fn complementary(a: &Expr, b: &Expr) -> bool {
    use BinaryOp::{Eq, Ne, SLe, SLt, ULe, ULt};
    if a.has_choice() {
        return false;
    }
    if (*a).clone().not() == *b || (*b).clone().not() == *a {
        return true;
    }
    match (&a.kind, &b.kind) {
        (ExprKind::Binary(p, a1, a2), ExprKind::Binary(q, b1, b2)) => match (p, q) {
            (Eq, Ne) | (Ne, Eq) => a1 == b1 && a2 == b2,
            (ULt, ULe) | (ULe, ULt) | (SLt, SLe) | (SLe, SLt) => a1 == b2 && a2 == b1,
            _ => false,
        },
        _ => false,
    }
}
