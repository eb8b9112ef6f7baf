//! Bodies of modules: statements become locations and edges.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use wherefore_program::{
    Argument, Assignment, BinaryOp, Call, Expr, ExprKind, LocationId, LocationKind, Operation, Procedure,
    ProcedureBuilder, Target, ThreadStart, When,
};

use super::ast::{self, Alternative, Assign, At, Kind, Name, Sign, Statement, StatementKind};
use super::declare::{Part, span};
use super::lower::{Signature, Unit, World};
use super::value::{Context, NoPrimes, Value, cell_value};
use crate::diagnostics::Reporter;

/// More ways than this to choose the variables of `E` in one statement are refused.
const MAX_ALTERNATIVES: usize = 4096;

/// One target of a parallel assignment, with what must hold of it.
#[derive(Clone)]
struct Piece {
    target: Target,
    value: Expr,
    condition: Option<Expr>,
}

pub(super) struct BodyLowering<'u, 'r, 't> {
    pub(super) unit: &'u Unit<'u>,
    pub(super) world: &'u World<'u>,
    pub(super) reporter: &'r mut Reporter<'t>,
    pub(super) builder: ProcedureBuilder,
    /// The location of each statement.
    locations: Vec<LocationId>,
    pub(super) labels: FxHashMap<String, LocationId>,
}

impl<'u, 'r, 't> BodyLowering<'u, 'r, 't> {
    pub(super) fn new(unit: &'u Unit<'u>, world: &'u World<'u>, reporter: &'r mut Reporter<'t>) -> Self {
        let mut builder = ProcedureBuilder::new(&unit.name, span(&unit.at));
        if let Some(signature) = unit.signature {
            // A copy that starts at a label gets all its variables from the rule that pushes it.
            let whole = unit.start.is_some();
            let parameters = if whole { signature.variables.len() } else { signature.parameter_count };
            builder.variables(parameters, signature.variables.clone());
            builder.results(signature.result.iter().map(|(scalar, _)| *scalar).collect());
        }
        let locations = vec![LocationId(0); unit.body.count];
        Self { unit, world, reporter, builder, locations, labels: FxHashMap::default() }
    }

    pub(super) fn run(mut self) -> Procedure {
        let body = self.unit.body;
        self.place(&body.statements);
        let end = self.builder.location(span(&body.end), LocationKind::End);
        self.label(end, &body.end_labels);
        self.place_symbols();
        let first = self.list(&body.statements, end, None);
        let void = self.unit.signature.is_none_or(|signature| signature.result.is_none());
        if void {
            // A module with a result must return it: its end is a dead end.
            let exit = self.builder.exit();
            self.builder.edge(end, exit, Operation::Return(Vec::new()), span(&body.end));
        }
        self.rules(first);
        let start = self.unit.start.as_ref().and_then(|label| self.labels.get(label)).copied();
        self.builder.finish(start.unwrap_or(first))
    }

    pub(super) fn context(&mut self) -> Context<'_, '_, 't> {
        Context {
            types: self.world.types,
            scopes: self.unit.scopes,
            reporter: self.reporter,
            bound: Vec::new(),
            parts: 0,
        }
    }

    /// Gives every statement a location, in the order of the source, and every label its place.
    fn place(&mut self, statements: &[Statement]) {
        for statement in statements {
            let kind = match &statement.kind {
                StatementKind::Label | StatementKind::Rules => LocationKind::Label,
                StatementKind::If(_) | StatementKind::Do(_) => LocationKind::Branch,
                StatementKind::Call { .. } => LocationKind::Call,
                StatementKind::Return(_) => LocationKind::Return,
                StatementKind::Goto(_) | StatementKind::Break => LocationKind::Goto,
                _ => LocationKind::Statement,
            };
            let location = self.builder.location(span(&statement.at), kind);
            self.locations[statement.id] = location;
            self.label(location, &statement.labels);
            if let StatementKind::If(alternatives) | StatementKind::Do(alternatives) = &statement.kind {
                alternatives.iter().for_each(|alternative| self.place(&alternative.body));
            }
        }
    }

    fn label(&mut self, location: LocationId, labels: &[Name]) {
        for label in labels {
            if self.labels.insert(label.text.clone(), location).is_some() {
                self.reporter.error(label.at.clone(), format!("there is another label `{}`", label.text));
            }
            self.builder.label(location, &label.text);
        }
    }

    /// Lowers a list and says where it starts, if `after` comes after it and `break` leads to
    /// `out`.
    fn list(&mut self, statements: &[Statement], after: LocationId, out: Option<LocationId>) -> LocationId {
        for (i, statement) in statements.iter().enumerate() {
            let next = statements.get(i + 1).map_or(after, |next| self.locations[next.id]);
            // What was reported is left without edges: the program is refused anyway.
            let _ = self.statement(statement, next, out);
        }
        statements.first().map_or(after, |first| self.locations[first.id])
    }

    fn statement(&mut self, statement: &Statement, next: LocationId, out: Option<LocationId>) -> Option<()> {
        let at = self.locations[statement.id];
        let here = span(&statement.at);
        let operations = match &statement.kind {
            StatementKind::Label | StatementKind::Skip(None) => vec![Operation::Skip],
            StatementKind::Rules => return Some(()),
            StatementKind::Skip(Some(condition)) => {
                vec![Operation::Assume(self.context().bool(condition, &mut NoPrimes)?)]
            }
            StatementKind::Assign(assigns) => {
                let alternatives = self.assignments(assigns, &statement.at)?;
                alternatives.into_iter().map(assign_or_havoc).collect()
            }
            StatementKind::Call { target, callee, arguments, with } => {
                self.calls(target.as_ref(), callee, arguments, with, &statement.at)?
            }
            StatementKind::Fork { callee, arguments } => {
                let (signature, arguments, condition) = self.callee(callee, arguments)?;
                if condition.is_some() {
                    return self
                        .fail(&statement.at, "a thread gets a value that may not be in its enumeration");
                }
                let callee = signature.id?;
                vec![Operation::StartThread(ThreadStart::Call { callee, arguments })]
            }
            StatementKind::If(alternatives) => {
                self.alternatives(at, alternatives, next, out);
                return Some(());
            }
            StatementKind::Do(alternatives) => {
                self.alternatives(at, alternatives, at, Some(next));
                return Some(());
            }
            StatementKind::Break => {
                let Some(out) = out else { return self.fail(&statement.at, "`break` outside `do`") };
                self.builder.edge(at, out, Operation::Skip, here);
                return Some(());
            }
            StatementKind::Goto(label) => {
                match self.labels.get(&label.text) {
                    Some(to) => self.builder.edge(at, *to, Operation::Skip, here),
                    None if self.world.types.incomplete => {}
                    None => return self.fail(&label.at, format!("there is no label `{}` here", label.text)),
                }
                return Some(());
            }
            StatementKind::Return(value) => {
                let operation = self.returned(value.as_ref(), &statement.at)?;
                let exit = self.builder.exit();
                self.builder.edge(at, exit, operation, here);
                return Some(());
            }
        };
        for operation in operations {
            self.builder.edge(at, next, operation, here);
        }
        Some(())
    }

    pub(super) fn fail<T>(&mut self, at: &At, message: impl Into<String>) -> Option<T> {
        self.reporter.error(at.clone(), message);
        None
    }

    /// The edges of `if` and `do`. `else` is open if no other guard is.
    fn alternatives(
        &mut self,
        at: LocationId,
        alternatives: &[Alternative],
        after: LocationId,
        out: Option<LocationId>,
    ) {
        let mut context = self.context();
        let guard = |alternative: &Alternative| {
            alternative.guard.as_ref().map(|guard| context.bool(guard, &mut NoPrimes))
        };
        let guards: Vec<Option<Option<Expr>>> = alternatives.iter().map(guard).collect();
        let others: Vec<Expr> = guards.iter().flatten().flatten().cloned().collect();
        let mut seen_else = false;
        for (alternative, guard) in alternatives.iter().zip(guards) {
            let first = self.list(&alternative.body, after, out);
            let guard = match guard {
                Some(guard) => guard,
                None if std::mem::replace(&mut seen_else, true) => {
                    self.fail(&alternative.at, "there is another `else`")
                }
                None => Some(Expr::any(others.clone()).not()),
            };
            if let Some(guard) = guard {
                self.builder.edge(at, first, Operation::Assume(guard), span(&alternative.at));
            }
        }
    }

    fn returned(&mut self, value: Option<&ast::Expr>, at: &At) -> Option<Operation> {
        let result = self.unit.signature.and_then(|signature| signature.result);
        match (value, result) {
            (None, None) => Some(Operation::Return(Vec::new())),
            (None, Some(_)) => self.fail(at, "a value must be returned"),
            (Some(value), None) => self.fail(&value.at, "a `void` module returns nothing"),
            (Some(value), Some((ty, enumeration))) => {
                let mut context = self.context();
                if let ast::ExprKind::Undef = value.kind {
                    let below = enumeration.map(|id| context.types.enumerations[id].values.len() as u64);
                    return Some(Operation::Return(vec![Expr { kind: ExprKind::Choice { below }, ty }]));
                }
                let lowered = context.value(value, &mut NoPrimes)?;
                let (lowered, condition) = context.convert(lowered, ty, enumeration, &value.at)?;
                match condition {
                    None => Some(Operation::Return(vec![lowered])),
                    Some(_) => self.fail(&value.at, "the value may not be in the enumeration"),
                }
            }
        }
    }

    /// The ways to do a parallel assignment: one for each choice of the variables of `E`.
    fn assignments(&mut self, assigns: &[Assign], at: &At) -> Option<Vec<Assignment>> {
        let mut context = self.context();
        let mut alternatives = vec![Vec::new()];
        let mut failed = false;
        for assign in assigns {
            match expand(&mut context, assign, 0) {
                Some(more) => alternatives = product(&mut context, alternatives, &more, at)?,
                None => failed = true,
            }
        }
        if failed {
            return None;
        }
        let mut assignments = Vec::new();
        let wanted = alternatives.len();
        'next: for pieces in alternatives {
            let mut seen = BTreeSet::new();
            let mut assignment = Assignment::default();
            let mut conditions = Vec::new();
            for Piece { target, value, condition } in pieces {
                let constant: Option<Vec<u64>> = target.indices.iter().map(Expr::as_constant).collect();
                if constant.is_some_and(|indices| !seen.insert((target.variable, indices))) {
                    // Two parts that choose one cell are no way to do it.
                    continue 'next;
                }
                assignment.targets.push(target);
                assignment.values.push(value);
                conditions.extend(condition);
            }
            assignment.constraint = (!conditions.is_empty()).then(|| Expr::all(conditions));
            assignments.push(assignment);
        }
        if assignments.is_empty() && wanted > 0 {
            return self.fail(at, "one variable is assigned twice");
        }
        Some(assignments)
    }

    fn calls(
        &mut self,
        target: Option<&ast::Reference>,
        callee: &Name,
        arguments: &[ast::Expr],
        with: &[Assign],
        at: &At,
    ) -> Option<Vec<Operation>> {
        let (signature, arguments, condition) = self.callee(callee, arguments)?;
        let results = match (target, signature.result) {
            (None, None) => Vec::new(),
            (None, Some(_)) => vec![None],
            (Some(target), None) => {
                return self.fail(&target.at, format!("`{}` returns nothing", callee.text));
            }
            (Some(target), Some((ty, enumeration))) => {
                let cell = self.context().cell(target, &mut NoPrimes)?;
                let bits = |ty| matches!(ty, wherefore_program::Scalar::Bits(_));
                let other = cell.part.enumeration.is_some() && cell.part.enumeration != enumeration;
                if bits(cell.element()) != bits(ty) || other {
                    let message = format!("`{}` returns a value of another type", callee.text);
                    return self.fail(&target.at, message);
                }
                vec![Some(cell.target())]
            }
        };
        let callee = signature.id?;
        let assignments = self.assignments(with, at)?;
        let call = |mut assignment: Assignment| {
            let conditions: Vec<Expr> =
                assignment.constraint.take().into_iter().chain(condition.clone()).collect();
            assignment.constraint = (!conditions.is_empty()).then(|| Expr::all(conditions));
            let (arguments, results) = (arguments.clone(), results.clone());
            Operation::Call(Call { callee, arguments, results, assignment })
        };
        Some(assignments.into_iter().map(call).collect())
    }

    /// A module that is called, its arguments, and what must hold of them.
    fn callee(
        &mut self,
        name: &Name,
        arguments: &[ast::Expr],
    ) -> Option<(&'u Signature, Vec<Argument>, Option<Expr>)> {
        let world = self.world;
        let Some(signature) = world.signatures.get(&name.text) else {
            if world.types.incomplete {
                return None;
            }
            return self.fail(&name.at, format!("there is no module `{}`", name.text));
        };
        if signature.id.is_none() {
            return self.fail(&name.at, format!("`{}` is declared, but there is no such module", name.text));
        }
        if signature.parameters.len() != arguments.len() {
            let plural = if signature.parameters.len() == 1 { "" } else { "s" };
            let wanted = format!("{} argument{plural}", signature.parameters.len());
            let message = format!("`{}` takes {wanted}, not {}", name.text, arguments.len());
            return self.fail(&name.at, message);
        }
        let mut context = self.context();
        let (mut lowered, mut conditions) = (Vec::new(), Vec::new());
        let mut failed = false;
        for (argument, parts) in arguments.iter().zip(&signature.parameters) {
            failed |= argument_for(&mut context, argument, parts, &mut lowered, &mut conditions).is_none();
        }
        let condition = (!conditions.is_empty()).then(|| Expr::all(conditions));
        if failed { None } else { Some((signature, lowered, condition)) }
    }
}

/// What a parameter gets, which is several variables if it is a structure.
fn argument_for(
    context: &mut Context<'_, '_, '_>,
    argument: &ast::Expr,
    parts: &[Part],
    lowered: &mut Vec<Argument>,
    conditions: &mut Vec<Expr>,
) -> Option<()> {
    if let ast::ExprKind::Undef = argument.kind {
        lowered.extend(parts.iter().map(|_| Argument::Arbitrary));
        return Some(());
    }
    if let [Part { ty: wherefore_program::Type::Scalar(ty), enumeration, .. }] = parts {
        let value = context.value(argument, &mut NoPrimes)?;
        let (value, condition) = context.convert(value, *ty, *enumeration, &argument.at)?;
        lowered.push(Argument::Value(value));
        conditions.extend(condition);
        return Some(());
    }
    let ast::ExprKind::Reference(reference) = &argument.kind else {
        return context.error(&argument.at, "expected an array or a structure");
    };
    let given = context.select(reference, &mut NoPrimes)?;
    let fits = given.len() == parts.len()
        && given.iter().zip(parts).all(|(given, part)| {
            let same = if given.indices.is_empty() {
                given.part.ty == part.ty
            } else {
                wherefore_program::Type::Scalar(given.element()) == part.ty
            };
            same && given.part.enumeration == part.enumeration
        });
    if !fits {
        return context.error(&argument.at, "the argument has another type than the parameter");
    }
    for given in given {
        lowered.push(if given.is_cell() {
            Argument::Value(given.read(When::Now))
        } else {
            Argument::Copy(given.part.var, When::Now)
        });
    }
    Some(())
}

/// An assignment of nothing but arbitrary values says so.
fn assign_or_havoc(assignment: Assignment) -> Operation {
    let arbitrary = |value: &Expr| matches!(value.kind, ExprKind::Choice { .. });
    if assignment.constraint.is_none() && assignment.values.iter().all(arbitrary) {
        return Operation::Havoc(assignment.targets);
    }
    Operation::Assign(assignment)
}

/// The ways to do one part of an assignment, from its quantifier `depth` on.
fn expand(context: &mut Context<'_, '_, '_>, assign: &Assign, depth: usize) -> Option<Vec<Vec<Piece>>> {
    let Some(quantifier) = assign.quantifiers.get(depth) else {
        return Some(vec![pieces(context, assign)?]);
    };
    let mut alternatives = match quantifier.kind {
        Kind::All => vec![Vec::new()],
        Kind::Some => Vec::new(),
    };
    for value in context.range(quantifier)? {
        context.bound.push((quantifier.name.text.clone(), value));
        let more = expand(context, assign, depth + 1);
        context.bound.pop();
        let more = more?;
        match quantifier.kind {
            Kind::All => alternatives = product(context, alternatives, &more, &assign.target.at)?,
            Kind::Some => alternatives.extend(more),
        }
    }
    Some(alternatives)
}

/// Every way of the left with every way of the right.
fn product(
    context: &mut Context<'_, '_, '_>,
    mut left: Vec<Vec<Piece>>,
    right: &[Vec<Piece>],
    at: &At,
) -> Option<Vec<Vec<Piece>>> {
    if left.len().saturating_mul(right.len()) > MAX_ALTERNATIVES {
        return context.error(at, "there are too many ways to choose for `E`");
    }
    if let [only] = right {
        left.iter_mut().for_each(|pieces| pieces.extend_from_slice(only));
        return Some(left);
    }
    let both = left.iter().flat_map(|first| right.iter().map(move |second| [&first[..], second].concat()));
    Some(both.collect())
}

/// The cells that an assignment without quantifiers sets.
fn pieces(context: &mut Context<'_, '_, '_>, assign: &Assign) -> Option<Vec<Piece>> {
    context.count(&assign.target.at)?;
    if assign.target.primes > 0 {
        return context.error(&assign.target.at, "primes are for rules only");
    }
    let selected = context.select(&assign.target, &mut NoPrimes)?;
    let single = selected.len() == 1 && selected[0].is_cell();
    if let ast::ExprKind::Undef = assign.value.kind {
        if assign.sign == Sign::Different {
            return context.error(&assign.value.at, "nothing differs from `undef`");
        }
        let cells = selected.iter().flat_map(|selected| selected.cells());
        return Some(
            cells
                .map(|cell| Piece {
                    target: cell.target(),
                    value: context.arbitrary(&cell.part),
                    condition: None,
                })
                .collect(),
        );
    }
    if single {
        let cell = &selected[0];
        let value = context.value(&assign.value, &mut NoPrimes)?;
        let piece = match assign.sign {
            Sign::Equal => {
                let (value, condition) =
                    context.convert(value, cell.element(), cell.part.enumeration, &assign.value.at)?;
                Piece { target: cell.target(), value, condition }
            }
            Sign::Different => {
                let different = different(context, cell_value(cell, When::Next), value, &assign.value.at)?;
                let value = context.arbitrary(&cell.part);
                Piece { target: cell.target(), value, condition: Some(different) }
            }
        };
        return Some(vec![piece]);
    }
    let whole = match &assign.value.kind {
        ast::ExprKind::Reference(reference) if assign.sign == Sign::Equal && reference.primes == 0 => {
            reference
        }
        _ => {
            return context.error(&assign.target.at, "an array or structure is assigned another, or `undef`");
        }
    };
    let given = context.select(whole, &mut NoPrimes)?;
    let (to, from): (Vec<_>, Vec<_>) = (
        selected.iter().flat_map(|selected| selected.cells()).collect(),
        given.iter().flat_map(|selected| selected.cells()).collect(),
    );
    let fits = to.len() == from.len()
        && selected.len() == given.len()
        && to
            .iter()
            .zip(&from)
            .all(|(a, b)| (a.element(), a.part.enumeration) == (b.element(), b.part.enumeration));
    if !fits {
        return context.error(&assign.value.at, "the two sides have different types");
    }
    let copy = |(to, from): (&super::value::Selected, &super::value::Selected)| Piece {
        target: to.target(),
        value: from.read(When::Now),
        condition: None,
    };
    Some(to.iter().zip(&from).map(copy).collect())
}

/// That two values differ.
fn different(context: &mut Context<'_, '_, '_>, a: Value, b: Value, at: &At) -> Option<Expr> {
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => Some(Expr::binary(BinaryOp::Xor, a, b)),
        (Value::Bits(a, _), b @ (Value::Bits(..) | Value::Number(_))) => {
            let b = match b {
                Value::Bits(b, _) => b,
                number => context.convert(number, wherefore_program::Scalar::Bits(64), None, at)?.0,
            };
            let width = a.ty.width().max(b.ty.width());
            Some(Expr::binary(BinaryOp::Ne, a.zero_extend(width), b.zero_extend(width)))
        }
        _ => context.error(at, "a truth value and an integer do not mix"),
    }
}
