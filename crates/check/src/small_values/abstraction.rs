//! The program in which each followed variable holds the number of an element of its domain, and
//! all others are left out.
//!
//! Each run of the program is one of the abstraction: an expression that cannot be computed from
//! the elements is a choice. Procedures, locations and edges keep their numbers.

use wherefore_flow::{Range, range_of};
use wherefore_program::{
    Argument, Assignment, BinaryOp, Call, Expr, ExprKind, Operation, ProcedureId, Program, Scalar, Target,
    Type, UnaryOp, Var, Variable,
};

use super::classes::{Classes, Domain, Row, Slot, is_extension_of, read_of, reads};

/// A condition about so many combinations of elements becomes a table; others are choices.
const MOST_ROWS: usize = 2048;

/// So many choices between two values inside of one expression are taken apart.
const MOST_SPLITS: usize = 8;

/// The abstraction of a program.
pub(super) fn abstraction(program: &Program, classes: &Classes) -> Program {
    let mut kept = Kept { globals: Vec::new(), locals: Vec::new() };
    let mut result = program.clone();
    result.globals.clear();
    for (variable, i) in program.globals.iter().zip(0..) {
        let new = classes.domain(Slot::Global(i)).map(|domain| abstract_variable(variable, domain));
        kept.globals.push(new.as_ref().map(|_| result.globals.len() as u32));
        result.globals.extend(new);
    }
    for (id, procedure) in program.procedures() {
        let new = &mut result.procedures[id.0 as usize];
        new.variables.clear();
        let mut numbers = Vec::new();
        for (variable, i) in procedure.variables.iter().zip(0..) {
            if i as usize == procedure.parameters {
                new.parameters = new.variables.len();
            }
            let variable =
                classes.domain(Slot::Local(id, i)).map(|domain| abstract_variable(variable, domain));
            numbers.push(variable.as_ref().map(|_| new.variables.len() as u32));
            new.variables.extend(variable);
        }
        if procedure.parameters == procedure.variables.len() {
            new.parameters = new.variables.len();
        }
        new.results = (0..procedure.results.len() as u32)
            .filter_map(|i| classes.domain(Slot::Result(id, i)).map(Domain::index_type))
            .collect();
        kept.locals.push(numbers);
    }
    for (id, procedure) in program.procedures() {
        let translator = Translator { classes, kept: &kept, procedure: id };
        let edges = &mut result.procedures[id.0 as usize].edges;
        for (edge, new) in procedure.edges.iter().zip(edges) {
            new.operation = translator.operation(&edge.operation);
        }
    }
    result
}

/// The new numbers of variables.
struct Kept {
    globals: Vec<Option<u32>>,
    locals: Vec<Vec<Option<u32>>>,
}

fn abstract_variable(variable: &Variable, domain: &Domain) -> Variable {
    Variable {
        ty: Type::Scalar(domain.index_type()),
        value_names: None,
        signed: false,
        pointer: false,
        initial: variable.initial.map(|number| domain.index_of(number) as u64),
        ..variable.clone()
    }
}

struct Translator<'p> {
    classes: &'p Classes,
    kept: &'p Kept,
    procedure: ProcedureId,
}

impl<'p> Translator<'p> {
    fn slot(&self, variable: Var) -> Slot {
        Slot::of(self.procedure, variable)
    }

    fn domain(&self, variable: Var) -> Option<&'p Domain> {
        self.classes.domain(self.slot(variable))
    }

    fn kept(&self, variable: Var) -> Option<Var> {
        match variable {
            Var::Global(i) => self.kept.globals[i as usize].map(Var::Global),
            Var::Local(i) => self.kept.locals[self.procedure.0 as usize][i as usize].map(Var::Local),
        }
    }

    fn operation(&self, operation: &Operation) -> Operation {
        match operation {
            Operation::Assume(condition) => Operation::Assume(self.condition(condition)),
            Operation::Assign(assignment) => Operation::Assign(self.assignment(assignment)),
            Operation::Havoc(targets) => {
                let targets: Vec<Target> = targets.iter().filter_map(|target| self.target(target)).collect();
                if targets.is_empty() { Operation::Skip } else { Operation::Havoc(targets) }
            }
            Operation::Call(call) => Operation::Call(self.call(call)),
            Operation::Return(values) => {
                let followed = values.iter().zip(0..).filter_map(|(value, i)| {
                    let slot = Slot::Result(self.procedure, i);
                    Some(self.index(self.classes.domain(slot)?, self.classes.class(slot), value))
                });
                Operation::Return(followed.collect())
            }
            Operation::Skip
            | Operation::StartThread(_)
            | Operation::EndThread
            | Operation::AtomicBegin
            | Operation::AtomicEnd
            | Operation::Sync => operation.clone(),
        }
    }

    fn target(&self, target: &Target) -> Option<Target> {
        let variable = self.kept(target.variable).filter(|_| target.indices.is_empty())?;
        Some(Target::from(variable))
    }

    fn assignment(&self, assignment: &Assignment) -> Assignment {
        let mut new = Assignment::default();
        for (target, value) in assignment.targets.iter().zip(&assignment.values) {
            if let (Some(to), Some(domain)) = (self.target(target), self.domain(target.variable)) {
                new.targets.push(to);
                new.values.push(self.index(domain, self.classes.class(self.slot(target.variable)), value));
            }
        }
        new.constraint = assignment.constraint.as_ref().map(|constraint| self.condition(constraint));
        new
    }

    fn call(&self, call: &Call) -> Call {
        let mut new = Call { arguments: Vec::new(), results: Vec::new(), ..call.clone() };
        new.assignment = self.assignment(&call.assignment);
        for (argument, i) in call.arguments.iter().zip(0..) {
            let slot = Slot::Local(call.callee, i);
            let Some(domain) = self.classes.domain(slot) else { continue };
            new.arguments.push(match argument {
                Argument::Value(value) => {
                    Argument::Value(self.index(domain, self.classes.class(slot), value))
                }
                Argument::Copy(..) | Argument::Arbitrary => Argument::Arbitrary,
            });
        }
        for (target, i) in call.results.iter().zip(0..) {
            if self.classes.domain(Slot::Result(call.callee, i)).is_some() {
                new.results.push(target.as_ref().and_then(|target| self.target(target)));
            }
        }
        new
    }

    /// The element that a value belongs to.
    fn index(&self, domain: &Domain, class: Option<usize>, value: &Expr) -> Expr {
        self.split_index(domain, class, value, MOST_SPLITS)
    }

    fn split_index(&self, domain: &Domain, class: Option<usize>, value: &Expr, splits: usize) -> Expr {
        let ty = domain.index_type();
        if domain.ty == Scalar::Bool {
            return self.split_condition(value, splits);
        }
        match &value.kind {
            ExprKind::Constant(number) => return Expr::constant(domain.index_of(*number) as u64, ty),
            ExprKind::Choice { .. } => return Expr::choice(ty),
            ExprKind::Read { variable, indices, when } if indices.is_empty() => {
                let (kept, from) = (self.kept(*variable), self.classes.class(self.slot(*variable)));
                match kept {
                    None => return Expr::choice(ty),
                    Some(kept) if from == class => return Expr::read(kept, Vec::new(), *when, ty),
                    Some(_) => {}
                }
            }
            _ => {}
        }
        if let Some((condition, then, otherwise)) = split(value).filter(|_| splits > 0) {
            let part = |value: &Expr| self.split_index(domain, class, value, splits - 1);
            return choose(self.split_condition(&condition, splits - 1), part(&then), part(&otherwise));
        }
        let Some(table) = self.table(value, |range| range.as_constant().map(|it| domain.index_of(it))) else {
            return Expr::choice(ty);
        };
        let mut result = Expr::choice(ty);
        for index in 0..domain.size() {
            let rows = table.iter().filter(|(_, found)| *found == Some(index));
            let rows: Vec<Expr> = rows.map(|(row, _)| row.clone()).collect();
            if !rows.is_empty() {
                let number = Expr::constant(index as u64, ty);
                result = choose(Expr::any(rows), number, result);
            }
        }
        result
    }

    /// A condition on the elements that holds where the condition can hold; a choice where it need
    /// not.
    fn condition(&self, condition: &Expr) -> Expr {
        self.split_condition(condition, MOST_SPLITS)
    }

    fn split_condition(&self, condition: &Expr, splits: usize) -> Expr {
        let part = |expr: &Expr| self.split_condition(expr, splits);
        match &condition.kind {
            ExprKind::Constant(_) => return condition.clone(),
            ExprKind::Choice { .. } => return Expr::choice(Scalar::Bool),
            ExprKind::Unary(UnaryOp::Not, inner) => return part(inner).not(),
            ExprKind::Binary(op, left, right)
                if op.is_logical() || (is_equality(*op) && left.ty == Scalar::Bool) =>
            {
                return Expr::binary(*op, part(left), part(right));
            }
            ExprKind::IfThenElse(test, then, otherwise) => {
                return choose(part(test), part(then), part(otherwise));
            }
            ExprKind::Read { variable, indices, when } if indices.is_empty() => {
                return match self.kept(*variable) {
                    Some(kept) => Expr::read(kept, Vec::new(), *when, Scalar::Bool),
                    None => Expr::choice(Scalar::Bool),
                };
            }
            _ => {}
        }
        if let Some((test, then, otherwise)) = split(condition).filter(|_| splits > 0) {
            let part = |expr: &Expr| self.split_condition(expr, splits - 1);
            return choose(part(&test), part(&then), part(&otherwise));
        }
        if let Some(equality) = self.equality(condition) {
            return equality;
        }
        let Some(table) = self.table(condition, |range| range.as_constant().map(|it| it != 0)) else {
            return Expr::choice(Scalar::Bool);
        };
        let rows = |wanted: Option<bool>| {
            let rows = table.iter().filter(|(_, found)| *found == wanted).map(|(row, _)| row.clone());
            rows.collect::<Vec<Expr>>()
        };
        let (holds, open) = (rows(Some(true)), rows(None));
        match (holds.is_empty(), open.is_empty()) {
            (_, true) => Expr::any(holds),
            (is_never, false) => {
                let open = Expr::binary(BinaryOp::And, Expr::any(open), Expr::choice(Scalar::Bool));
                if is_never { open } else { Expr::binary(BinaryOp::Or, Expr::any(holds), open) }
            }
        }
    }

    /// Equality of two variables of one class, or of a variable and a point of its domain: this is
    /// known even if a variable is none of the points.
    fn equality(&self, condition: &Expr) -> Option<Expr> {
        let ExprKind::Binary(op, left, right) = &condition.kind else { return None };
        if !is_equality(*op) {
            return None;
        }
        let (left, right) = if left.as_constant().is_some() { (right, left) } else { (left, right) };
        let (variable, when) = read_of(left)?;
        let domain = self.domain(variable)?;
        let kept = Expr::read(self.kept(variable)?, Vec::new(), when, domain.index_type());
        if let Some(number) = right.as_constant() {
            if !is_extension_of(number, left, domain.ty) {
                return None;
            }
            let index = domain.index_of(number & domain.ty.max());
            domain.number(index)?;
            return Some(Expr::binary(*op, kept, Expr::constant(index as u64, domain.index_type())));
        }
        let (ExprKind::Read { .. }, (other, when)) = (&left.kind, read_of(right)?) else { return None };
        let is_same = self.classes.class(self.slot(variable)) == self.classes.class(self.slot(other));
        let (true, ExprKind::Read { .. }) = (is_same, &right.kind) else { return None };
        let other = Expr::read(self.kept(other)?, Vec::new(), when, domain.index_type());
        let last = domain.size() - 1;
        let both_others = match domain.number(last) {
            Some(_) => Expr::bool(false),
            None => Expr::binary(
                BinaryOp::And,
                is_element(kept.clone(), last, domain),
                is_element(other.clone(), last, domain),
            ),
        };
        Some(choose(both_others, Expr::choice(Scalar::Bool), Expr::binary(*op, kept, other)))
    }

    /// For each combination of elements of the variables that an expression reads: that they have
    /// these, and what the expression is then, if that is known. None if there are too many.
    fn table<T>(&self, expr: &Expr, read: impl Fn(Range) -> Option<T>) -> Option<Vec<(Expr, Option<T>)>> {
        let reads = reads(expr)?;
        let domains: Vec<Option<&Domain>> =
            reads.iter().map(|(variable, _)| self.domain(*variable)).collect();
        let size = |domain: &Option<&Domain>| domain.map_or(1, Domain::size);
        let count = domains.iter().try_fold(1_usize, |all, domain| all.checked_mul(size(domain)))?;
        if count > MOST_ROWS || domains.iter().all(Option::is_none) {
            return None;
        }
        let mut rows = Vec::with_capacity(count);
        for number in 0..count {
            let (mut rest, mut known, mut tests) = (number, Vec::new(), Vec::new());
            for ((variable, ty), domain) in reads.iter().zip(&domains) {
                let Some(domain) = domain else { continue };
                let index = rest % domain.size();
                rest /= domain.size();
                let value = domain.number(index);
                known.push((*variable, value.map(|value| Range::constant(value, *ty))));
                let kept = Expr::variable(self.kept(*variable)?, domain.index_type());
                tests.push(is_element(kept, index, domain));
            }
            rows.push((Expr::all(tests), read(range_of(expr, &Row(known)))));
        }
        Some(rows)
    }
}

/// That a variable has an element. What has no number of its own belongs to the last one.
fn is_element(variable: Expr, index: usize, domain: &Domain) -> Expr {
    let ty = domain.index_type();
    let number = Expr::constant(index as u64, ty);
    match ty {
        Scalar::Bool if index == 0 => variable.not(),
        Scalar::Bool => variable,
        Scalar::Bits(_) if index + 1 < domain.size() => Expr::binary(BinaryOp::Eq, variable, number),
        Scalar::Bits(_) => Expr::binary(BinaryOp::ULe, number, variable),
    }
}

fn is_equality(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Eq | BinaryOp::Ne)
}

fn choose(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    match condition.as_constant() {
        Some(0) => otherwise,
        Some(_) => then,
        None if then == otherwise && !then.has_choice() => then,
        None => Expr::if_then_else(condition, then, otherwise),
    }
}

/// An expression that has a choice between two values inside, as a choice between two expressions.
/// A truth value as a number is a choice between 1 and 0.
fn split(expr: &Expr) -> Option<(Expr, Expr, Expr)> {
    match &expr.kind {
        ExprKind::IfThenElse(condition, then, otherwise) => {
            Some(((**condition).clone(), (**then).clone(), (**otherwise).clone()))
        }
        ExprKind::ZeroExtend(value) if value.ty == Scalar::Bool => {
            Some(((**value).clone(), Expr::constant(1, expr.ty), Expr::constant(0, expr.ty)))
        }
        ExprKind::ZeroExtend(value) => split_inside(expr, value, |part| ExprKind::ZeroExtend(Box::new(part))),
        ExprKind::SignExtend(value) => split_inside(expr, value, |part| ExprKind::SignExtend(Box::new(part))),
        ExprKind::Extract { value, low } => {
            split_inside(expr, value, |part| ExprKind::Extract { value: Box::new(part), low: *low })
        }
        ExprKind::Unary(op, value) => split_inside(expr, value, |part| ExprKind::Unary(*op, Box::new(part))),
        ExprKind::Binary(op, left, right) => {
            split_inside(expr, left, |part| ExprKind::Binary(*op, Box::new(part), right.clone())).or_else(
                || split_inside(expr, right, |part| ExprKind::Binary(*op, left.clone(), Box::new(part))),
            )
        }
        ExprKind::Constant(_) | ExprKind::Read { .. } | ExprKind::Choice { .. } | ExprKind::Float(..) => None,
    }
}

/// The same for an expression with a part that has such a choice.
fn split_inside(expr: &Expr, part: &Expr, whole: impl Fn(Expr) -> ExprKind) -> Option<(Expr, Expr, Expr)> {
    let (condition, then, otherwise) = split(part)?;
    let with = |part: Expr| Expr { kind: whole(part), ty: expr.ty };
    Some((condition, with(then), with(otherwise)))
}
