//! Whether a program keeps the rules of the representation.

use std::collections::BTreeSet;

use crate::error::ProgramError;
use crate::expression::{BinaryOp, Expr, ExprKind, Target, UnaryOp, Var, When};
use crate::program::{
    Argument, Assignment, Edge, LocationId, LocationKind, Operation, Procedure, ProcedureId, Program,
    ThreadStart, Variable,
};
use crate::types::{MAX_WIDTH, Scalar, Type};

impl Program {
    /// Checks the types and the shape of the whole program. Front ends promise that this succeeds.
    pub fn check(&self) -> Result<(), ProgramError> {
        let fail = |place: &str, reason: String| ProgramError::IllFormed { place: place.to_owned(), reason };
        if self.entry.0 as usize >= self.procedures.len() {
            return Err(fail("entry", "there is no such procedure".to_owned()));
        }
        self.globals.iter().try_for_each(check_variable).map_err(|reason| fail("globals", reason))?;
        let mut names = BTreeSet::new();
        for (id, procedure) in self.procedures() {
            if !names.insert(&procedure.name) {
                return Err(fail(&procedure.name, "two procedures have this name".to_owned()));
            }
            let checker = Checker { program: self, id, procedure };
            checker.shape().map_err(|reason| fail(&procedure.name, reason))?;
            for (i, edge) in procedure.edges.iter().enumerate() {
                checker
                    .edge(edge)
                    .map_err(|reason| fail(&format!("{}, edge {i}", procedure.name), reason))?;
            }
        }
        Ok(())
    }
}

type Checked = Result<(), String>;

fn ensure(holds: bool, reason: &str) -> Checked {
    if holds { Ok(()) } else { Err(reason.to_owned()) }
}

fn check_scalar(ty: Scalar) -> Checked {
    ensure((1..=MAX_WIDTH).contains(&ty.width()), "a width is not between 1 and 64")
}

fn check_variable(variable: &Variable) -> Checked {
    check_scalar(variable.ty.element())?;
    if let Type::Array { dimensions, .. } = &variable.ty {
        ensure(matches!(dimensions.len(), 1 | 2), "an array has one or two dimensions")?;
        ensure(dimensions.iter().all(|d| d.length > 0), "a dimension is empty")?;
    }
    if let Type::Memory { address, .. } = variable.ty {
        check_scalar(Scalar::Bits(address))?;
    }
    ensure(variable.initial.is_none_or(|value| value <= variable.max()), "an initial value does not fit")?;
    let fits = variable.limit().is_none_or(|limit| limit > 0 && limit - 1 <= variable.ty.element().max());
    ensure(fits, "an enumeration does not fit its type")
}

struct Checker<'a> {
    program: &'a Program,
    id: ProcedureId,
    procedure: &'a Procedure,
}

impl Checker<'_> {
    fn shape(&self) -> Checked {
        let procedure = self.procedure;
        procedure.variables.iter().try_for_each(check_variable)?;
        ensure(!procedure.variables.iter().any(|variable| variable.ty.is_memory()), "memory is global")?;
        procedure.results.iter().copied().try_for_each(check_scalar)?;
        ensure(procedure.parameters <= procedure.variables.len(), "a parameter is missing")?;
        self.known(procedure.entry)?;
        self.known(procedure.exit)?;
        ensure(procedure.entry != procedure.exit, "the entry is the exit")?;
        ensure(procedure.edges.is_sorted_by_key(|edge| edge.from), "edges are not sorted")?;
        for id in procedure.location_ids() {
            let exit = procedure.location(id).kind == LocationKind::Exit;
            ensure(exit == (id == procedure.exit), "there must be one exit")?;
        }
        let sources = self.program.sources.len();
        let spans = procedure.locations.iter().map(|location| location.span);
        let spans = spans.chain(procedure.edges.iter().map(|edge| edge.span)).chain([procedure.span]);
        for span in spans {
            ensure((span.file.0 as usize) < sources, "a span is in no file")?;
        }
        Ok(())
    }

    fn known(&self, location: LocationId) -> Checked {
        ensure((location.0 as usize) < self.procedure.locations.len(), "there is no such location")
    }

    fn edge(&self, edge: &Edge) -> Checked {
        self.known(edge.from)?;
        self.known(edge.to)?;
        let kind = self.procedure.location(edge.from).kind;
        let last = matches!(kind, LocationKind::Error | LocationKind::Unsupported | LocationKind::Exit);
        ensure(!last, "nothing follows an error, an unsupported place or the exit")?;
        let ends = matches!(edge.operation, Operation::Return(_) | Operation::EndThread);
        ensure(ends == (edge.to == self.procedure.exit), "returns, and only they, go to the exit")?;
        match &edge.operation {
            Operation::Skip
            | Operation::EndThread
            | Operation::AtomicBegin
            | Operation::AtomicEnd
            | Operation::Sync => Ok(()),
            Operation::Assume(condition) => self.expr(condition, Scalar::Bool, When::Now),
            Operation::Assign(assignment) => self.assignment(assignment),
            Operation::Havoc(targets) => {
                targets.iter().try_for_each(|target| self.target(target).map(|_| ()))
            }
            Operation::Call(call) => {
                let callee = self.callee(call.callee, &call.arguments, When::Next)?;
                ensure(call.results.len() == callee.results.len(), "wrong number of results")?;
                for (target, ty) in call.results.iter().zip(&callee.results) {
                    if let Some(target) = target {
                        let bits = matches!((self.target(target)?, ty), (Scalar::Bits(_), Scalar::Bits(_)));
                        let same = bits || self.target(target)? == *ty;
                        ensure(same, "a result has another type than its target")?;
                    }
                }
                self.assignment(&call.assignment)
            }
            Operation::Return(values) => {
                ensure(values.len() == self.procedure.results.len(), "wrong number of returned values")?;
                let pairs = values.iter().zip(&self.procedure.results);
                pairs.into_iter().try_for_each(|(value, ty)| self.expr(value, *ty, When::Now))
            }
            Operation::StartThread(ThreadStart::At(location)) => self.known(*location),
            Operation::StartThread(ThreadStart::Call { callee, arguments }) => {
                self.callee(*callee, arguments, When::Now).map(|_| ())
            }
        }
    }

    fn callee(&self, id: ProcedureId, arguments: &[Argument], latest: When) -> Result<&Procedure, String> {
        let callee = self.program.procedures.get(id.0 as usize).ok_or("there is no such procedure")?;
        ensure(arguments.len() == callee.parameters, "wrong number of arguments")?;
        for (argument, parameter) in arguments.iter().zip(&callee.variables) {
            match argument {
                Argument::Value(value) => {
                    ensure(parameter.ty.index_count() == 0, "an array gets a single value")?;
                    self.expr(value, parameter.ty.element(), latest)?;
                }
                Argument::Copy(array, when) => {
                    ensure(*when <= latest, "the next state is read where there is none")?;
                    ensure(self.variable(*array)?.ty == parameter.ty, "an array gets one of another type")?;
                }
                Argument::Arbitrary => {}
            }
        }
        Ok(callee)
    }

    fn assignment(&self, assignment: &Assignment) -> Checked {
        ensure(assignment.targets.len() == assignment.values.len(), "as many targets as values")?;
        for (target, value) in assignment.targets.iter().zip(&assignment.values) {
            self.expr(value, self.target(target)?, When::Now)?;
        }
        assignment
            .constraint
            .iter()
            .try_for_each(|constraint| self.expr(constraint, Scalar::Bool, When::Next))
    }

    fn variable(&self, variable: Var) -> Result<&Variable, String> {
        let found = match variable {
            Var::Global(i) => self.program.globals.get(i as usize),
            Var::Local(i) => self.program.procedure(self.id).variables.get(i as usize),
        };
        found.ok_or_else(|| "there is no such variable".to_owned())
    }

    fn target(&self, target: &Target) -> Result<Scalar, String> {
        self.cell(target.variable, &target.indices, When::Now)
    }

    fn cell(&self, variable: Var, indices: &[Expr], latest: When) -> Result<Scalar, String> {
        let ty = &self.variable(variable)?.ty;
        ensure(indices.len() == ty.index_count(), "one index a dimension")?;
        if let (Type::Memory { address, .. }, [index]) = (ty, indices) {
            ensure(index.ty == Scalar::Bits(*address), "an address of another width")?;
        }
        indices.iter().try_for_each(|index| self.expr(index, index.ty, latest))?;
        Ok(ty.element())
    }

    /// Checks an expression of type `ty` that may read up to the state `latest`.
    fn expr(&self, expr: &Expr, ty: Scalar, latest: When) -> Checked {
        if expr.ty != ty {
            return Err(format!("expected {ty}, found {}", expr.ty));
        }
        check_scalar(ty)?;
        let same = |part: &Expr| self.expr(part, part.ty, latest);
        let bits = |ty: Scalar| ensure(matches!(ty, Scalar::Bits(_)), "a truth value where bits are needed");
        match &expr.kind {
            ExprKind::Constant(value) => ensure(*value <= ty.max(), "a constant does not fit"),
            ExprKind::Choice { below } => ensure(*below != Some(0), "a choice from nothing"),
            ExprKind::Read { variable, indices, when } => {
                ensure(*when <= latest, "the next state is read where there is none")?;
                let element = self.cell(*variable, indices, latest)?;
                ensure(element == ty, "a variable has another type than its use")
            }
            ExprKind::Unary(op, value) => {
                self.expr(value, ty, latest)?;
                let logical = *op == UnaryOp::Not;
                ensure(logical == (ty == Scalar::Bool), "an operation on values of the wrong type")
            }
            ExprKind::Binary(op, left, right) => {
                ensure(left.ty == right.ty, "operands have different types")?;
                let result = if op.is_test() { Scalar::Bool } else { left.ty };
                ensure(result == ty, "an operation has another type")?;
                if op.is_logical() {
                    ensure(left.ty == Scalar::Bool, "a logical operation on bits")?;
                } else if !matches!(op, BinaryOp::Eq | BinaryOp::Ne) {
                    bits(left.ty)?;
                }
                same(left)?;
                same(right)
            }
            ExprKind::ZeroExtend(value) | ExprKind::SignExtend(value) => {
                bits(ty)?;
                same(value)
            }
            ExprKind::Extract { value, low } => {
                bits(ty)?;
                let inside = low.checked_add(ty.width()).is_some_and(|end| end <= value.ty.width());
                ensure(inside, "bits are taken from outside a value")?;
                same(value)
            }
            ExprKind::Float(op, operands) => {
                let result = op.result_width().map_or(Scalar::Bool, Scalar::Bits);
                ensure(result == ty, "an operation has another type")?;
                ensure(operands.len() == op.arity(), "an operation has another number of operands")?;
                let width = Scalar::Bits(op.operand_width());
                operands.iter().try_for_each(|operand| self.expr(operand, width, latest))
            }
            ExprKind::IfThenElse(condition, then, otherwise) => {
                self.expr(condition, Scalar::Bool, latest)?;
                self.expr(then, ty, latest)?;
                self.expr(otherwise, ty, latest)
            }
        }
    }
}
