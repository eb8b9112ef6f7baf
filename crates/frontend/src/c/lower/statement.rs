//! Statements.

use std::collections::VecDeque;

use wherefore_program::{
    BinaryOp, ERROR_LABELS, Expr, LocationId, LocationKind, Operation, Span, Target, Type, Var,
};

use super::Lower;
use super::lifetimes::Ending;
use super::place::{Place, plus};

use crate::c::ctype::CType;
use crate::c::problem::{Checked, Problem};
use crate::c::tree::{FunctionId, ObjectId, Statement, StatementKind, Term};
use crate::c::{ErrorLabels, Property};

/// Where `break` and `continue` go, and the cases of a switch that are still to come.
pub(crate) struct Jumps {
    after: LocationId,
    again: Option<LocationId>,
    cases: VecDeque<LocationId>,
    /// How many scopes with something to do at their ends are around the statement.
    depth: usize,
}

impl Lower<'_, '_> {
    /// Lowers a function and says how many parameters it has.
    pub(crate) fn function(&mut self, id: FunctionId) -> usize {
        let tree = self.cx.tree;
        let function = tree.function(id);
        let mut stores = Vec::new();
        for parameter in &function.parameters {
            self.attempt(|lower| lower.parameter(*parameter, &mut stores));
        }
        let parameters = self.body.variables.len();
        for (place, values, span) in stores {
            self.attempt(|lower| lower.store_parameter(&place, values, span));
        }
        self.attempt(|lower| lower.keep_arguments_plausible(id));
        self.attempt(|lower| lower.keep_arguments(id));
        match function.problems.first() {
            None => {
                let body = function.body.as_deref().unwrap_or_default();
                let around = self.cleanups.iter().map(|(id, _)| *id).collect();
                self.scopes_of_labels = super::scopes::of_labels(body, around, |id| self.cx.is_fresh(id));
                self.statements(body);
                self.leave_scope(0);
            }
            Some(problem) => {
                self.cx.mistakes.extend(function.problems.iter().filter(|other| other.is_mistake()).cloned());
                self.unsupported_from(self.body.at, problem.clone());
            }
        }
        let results = self.cx.result_types(id).into_iter().map(Expr::choice).collect();
        self.leave(results, function.end, LocationKind::End);
        let undefined: Vec<String> =
            self.labels.iter().filter(|(_, (_, seen))| !seen).map(|(name, _)| name.clone()).collect();
        for name in undefined {
            let message = format!("there is no label `{name}` in `{}`", function.name);
            let location = self.labelled(&name, function.span);
            self.unsupported_from(location, Problem::new(function.span, message));
        }
        let results = self.cx.result_types(id);
        self.finish_jumps(&results, function.end);
        self.enter_frame(id);
        parameters
    }

    /// Gives a parameter its variables. If it lives in memory, it is stored there first.
    fn parameter(&mut self, id: ObjectId, stores: &mut Vec<(Place, Vec<Expr>, Span)>) -> Checked<()> {
        let object = self.cx.tree.object(id);
        let (ty, span, name) = (object.ty.clone(), object.span, object.name.clone());
        let exposed = self.cx.usage.exposed.contains(&id);
        let types = self.piece_types(&ty, span)?;
        // A split parameter without arrays and bit-fields is its own variables; else the pieces
        // arrive one by one.
        if !exposed
            && !self.cx.tree.types.has_union(&ty)
            && types.len() == self.cx.leaf_count(&ty)
            && !has_parts(self, &ty)
        {
            self.object(id)?;
            return Ok(());
        }
        let mut values = Vec::new();
        for (i, piece) in types.iter().enumerate() {
            let scalar = self.cx.tree.types.scalar(piece);
            if self.cx.tree.types.is_opaque(piece) {
                values.push(Expr::choice(scalar));
                continue;
            }
            let name = if types.len() == 1 { name.clone() } else { format!("{name}.{i}") };
            let variable = self.body.variable(&name, Type::Scalar(scalar), span);
            let made = self.body.variables.last_mut().expect("it was just made");
            (made.signed, made.float) = (piece.is_signed(), piece.is_float());
            made.pointer = piece.is_pointer();
            values.push(Expr::variable(variable, scalar));
        }
        stores.push((Place::Split { object: id, start: 0, indices: Vec::new(), ty, at: span }, values, span));
        Ok(())
    }

    fn store_parameter(&mut self, place: &Place, parts: Vec<Expr>, span: Span) -> Checked<()> {
        let Place::Split { object, .. } = place else { return Ok(()) };
        let place = self.object(*object)?;
        self.begin_life(*object, span);
        self.assign_parts(&place, parts, span)
    }

    pub(crate) fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            let mark = self.body.mark();
            self.attempt(|lower| lower.statement(statement));
            // In a statement expression outer values are still in use; they are below the mark.
            self.body.release(&mark);
        }
    }

    /// A condition. If it is not modelled, what comes behind it is still reached by jumps.
    fn branch_or_place(&mut self, condition: &Term, yes: LocationId, no: LocationId) {
        self.attempt(|lower| lower.branch(condition, yes, no));
    }

    fn statement(&mut self, statement: &Statement) -> Checked<()> {
        let span = statement.span;
        self.head = None;
        match &statement.kind {
            // Nothing is done here, but runs come by: the statement has a place.
            StatementKind::Empty => {
                self.body.step(span, LocationKind::Statement, Operation::Skip);
            }
            StatementKind::Expression(term) => {
                if self.is_pure(term) {
                    // It does nothing, but it is a statement.
                    self.body.step(span, LocationKind::Statement, Operation::Skip);
                    // What it reads may race, or break a rule.
                    if self.watches_races() || self.has_rules() {
                        self.effects(term)?;
                    }
                } else {
                    self.effects(term)?;
                }
            }
            StatementKind::Declare(id, initial) => self.declare(*id, initial.as_ref(), span)?,
            StatementKind::Block(statements) => {
                let depth = self.cleanups.len();
                self.statements(statements);
                self.leave_scope(depth);
            }
            StatementKind::Cleanup(id, term) => {
                self.cleanups.push((*id, Ending::Cleanup((**term).clone())));
            }
            StatementKind::GotoAny(address) => self.goto_any(address, span)?,
            StatementKind::If(condition, then, otherwise) => {
                let (yes, no, end) = (self.body.open(then.span), self.body.open(span), self.body.open(span));
                self.head = Some(span);
                self.branch_or_place(condition, yes, no);
                self.body.at = yes;
                self.statements(std::slice::from_ref(then));
                self.body.join(end, span);
                self.body.at = no;
                if let Some(otherwise) = otherwise {
                    self.statements(std::slice::from_ref(otherwise));
                }
                self.body.join(end, span);
            }
            StatementKind::While(condition, body) => {
                let (head, inside, after) =
                    (self.body.open(span), self.body.open(body.span), self.body.open(span));
                self.body.join(head, span);
                self.head = Some(span);
                self.branch_or_place(condition, inside, after);
                self.repeat(inside, body, head, after);
                self.body.join(head, span);
                self.body.at = after;
            }
            StatementKind::DoWhile(body, condition) => {
                let (head, check, after) =
                    (self.body.open(body.span), self.body.open(condition.span), self.body.open(span));
                self.body.join(head, span);
                self.repeat(head, body, check, after);
                self.body.join(check, span);
                self.branch_or_place(condition, head, after);
                self.body.at = after;
            }
            StatementKind::For(first, condition, step, body) => {
                let depth = self.cleanups.len();
                self.statements(first);
                let (head, next, after) = (self.body.open(span), self.body.open(span), self.body.open(span));
                self.body.join(head, span);
                let inside = match condition {
                    Some(condition) => {
                        let inside = self.body.open(body.span);
                        self.head = Some(span);
                        self.branch_or_place(condition, inside, after);
                        inside
                    }
                    None => head,
                };
                self.repeat(inside, body, next, after);
                self.body.join(next, span);
                if let Some(step) = step {
                    let mark = self.body.mark();
                    self.attempt(|lower| lower.effects(step));
                    self.body.release(&mark);
                }
                self.body.join(head, span);
                self.body.at = after;
                self.leave_scope(depth);
            }
            StatementKind::Switch(value, body) => self.switch(value, body, span),
            StatementKind::Unsupported(problem) => return Err((**problem).clone()),
            StatementKind::Case(..) | StatementKind::Default => {
                let next = self.targets.iter_mut().rev().find_map(|jumps| jumps.cases.pop_front());
                match next {
                    Some(case) => self.body.join(case, span),
                    None => return Err(Problem::new(span, "a case outside of a switch")),
                }
            }
            StatementKind::Label(name) => {
                let location = self.labelled(name, span);
                if self.labels.insert(name.clone(), (location, true)).is_some_and(|(_, seen)| seen) {
                    return Err(Problem::new(span, format!("there is another label `{name}`")));
                }
                self.body.join(location, span);
                self.error_label(location, name, span);
            }
            StatementKind::Goto(name) => {
                let location = self.labelled(name, span);
                self.clean_up(self.common_scope(name));
                self.jump(location, span);
            }
            StatementKind::Break => match self.targets.last() {
                Some(jumps) => {
                    let (to, depth) = (jumps.after, jumps.depth);
                    self.clean_up(depth);
                    self.jump(to, span);
                }
                None => return Err(Problem::new(span, "`break` outside of a loop")),
            },
            StatementKind::Continue => match self
                .targets
                .iter()
                .rev()
                .find_map(|jumps| jumps.again.map(|again| (again, jumps.depth)))
            {
                Some((to, depth)) => {
                    self.clean_up(depth);
                    self.jump(to, span);
                }
                None => return Err(Problem::new(span, "`continue` outside of a loop")),
            },
            StatementKind::Return(value) => self.give_back(value.as_ref(), span)?,
            StatementKind::Assembly(assembly) => {
                self.cx.assume("inline assembly only changes its outputs, to anything", Some(span));
                if assembly.memory {
                    self.cx.doubt_control("inline assembly changes only its outputs", Some(span));
                }
                assembly.inputs.iter().try_for_each(|input| self.effects(input))?;
                for output in &assembly.outputs {
                    let place = self.place(output)?;
                    self.approximating(|lower| lower.havoc(&place, span))?;
                }
            }
        }
        Ok(())
    }

    /// A jump is a statement of its own.
    pub(super) fn jump(&mut self, to: LocationId, span: Span) {
        let from = self.body.fill(span, LocationKind::Goto);
        self.body.edge(from, to, Operation::Skip, span);
        self.body.at = self.body.open(span);
    }

    pub(super) fn labelled(&mut self, name: &str, span: Span) -> LocationId {
        if let Some((location, _)) = self.labels.get(name) {
            return *location;
        }
        let location = self.body.open(span);
        self.labels.insert(name.to_owned(), (location, false));
        location
    }

    /// A label counts as an error, is a mere name, or is left out, as the property says.
    fn error_label(&mut self, location: LocationId, name: &str, span: Span) {
        let usual = ERROR_LABELS.contains(&name);
        match (&self.cx.options.property, self.cx.options.error_labels) {
            (Property::All, ErrorLabels::Usual) | (_, ErrorLabels::Names) => self.body.label(location, name),
            (Property::Labels(names), _) if names.iter().any(|wanted| wanted == name) => {
                self.body.label(location, name);
                if !usual {
                    self.body.halt(span, LocationKind::Error);
                }
            }
            _ if usual => {}
            _ => self.body.label(location, name),
        }
    }

    fn repeat(&mut self, inside: LocationId, body: &Statement, again: LocationId, after: LocationId) {
        self.targets.push(Jumps {
            after,
            again: Some(again),
            cases: VecDeque::new(),
            depth: self.cleanups.len(),
        });
        let once = std::mem::replace(&mut self.entered_once, false);
        self.body.at = inside;
        self.statements(std::slice::from_ref(body));
        self.entered_once = once;
        self.targets.pop();
    }

    fn switch(&mut self, value: &Term, body: &Statement, span: Span) {
        let ty = self.cx.tree.types.scalar(&value.ty);
        let value = self.attempt(|lower| lower.value(value)).unwrap_or(Expr::constant(0, ty));
        let value = self.stable(value, span);
        let mut labels = Vec::new();
        collect_cases(body, &mut labels);
        let at = self.body.fill(span, LocationKind::Branch);
        let after = self.body.open(span);
        let mut cases = VecDeque::new();
        let (mut taken, mut default) = (Vec::new(), after);
        for (range, at_label) in labels {
            let location = self.body.open(at_label);
            cases.push_back(location);
            let Some((low, high)) = range else {
                default = location;
                continue;
            };
            let bound = |bound| Expr::constant(bound, value.ty);
            let condition = if low == high {
                Expr::binary(BinaryOp::Eq, value.clone(), bound(low))
            } else {
                // Both bounds were converted to the type of the switch; distances are unsigned.
                let distance = Expr::binary(BinaryOp::Sub, value.clone(), bound(low));
                Expr::binary(BinaryOp::ULe, distance, bound(high.wrapping_sub(low)))
            };
            self.body.edge(at, location, Operation::Assume(condition.clone()), at_label);
            taken.push(condition);
        }
        let otherwise = match taken.is_empty() {
            true => Operation::Skip,
            false => Operation::Assume(Expr::any(taken).not()),
        };
        self.body.edge(at, default, otherwise, span);
        self.body.at = self.body.open(body.span);
        self.targets.push(Jumps { after, again: None, cases, depth: self.cleanups.len() });
        self.statements(std::slice::from_ref(body));
        self.targets.pop();
        self.body.join(after, span);
    }

    fn give_back(&mut self, value: Option<&Term>, span: Span) -> Checked<()> {
        let ty = self.result.clone();
        let values = match value {
            Some(value) if ty == CType::Void => {
                self.effects(value)?;
                Vec::new()
            }
            Some(value) if self.cx.tree.types.is_opaque(&ty) => {
                self.effects(value)?;
                Vec::new()
            }
            Some(value) if ty.is_scalar() => vec![self.value(value)?],
            Some(value) => {
                let values = self.aggregate(value)?;
                let types = self.piece_types(&ty, span)?;
                values
                    .into_iter()
                    .zip(types)
                    .filter(|(_, ty)| !self.cx.tree.types.is_opaque(ty))
                    .map(|(value, _)| value)
                    .collect()
            }
            None => {
                let types = self.piece_types(&ty, span)?;
                let types =
                    types.iter().filter(|ty| !self.cx.tree.types.is_opaque(ty) && **ty != CType::Void);
                types.map(|ty| Expr::choice(self.cx.tree.types.scalar(ty))).collect()
            }
        };
        let values = match self.cleanups.is_empty() {
            true => values,
            // What is returned is fixed before scopes are left.
            false => values.into_iter().map(|value| self.keep(value, span)).collect(),
        };
        self.clean_up(0);
        self.leave(values, span, LocationKind::Return);
        Ok(())
    }

    /// Returns from the procedure; a recursive one gives its frame back.
    fn leave(&mut self, values: Vec<Expr>, span: Span, kind: LocationKind) {
        let at = self.body.fill(span, kind);
        self.body.edge(at, LocationId(0), Operation::Return(values), span);
        self.body.at = self.body.open(span);
    }

    /// The variable that holds where the frame of this procedure starts.
    pub(crate) fn frame_base(&mut self, span: Span) -> Var {
        if let Some(base) = self.frame.base {
            return base;
        }
        let pointer = self.cx.pointer();
        let base = self.body.variable("frame", Type::Scalar(pointer), span);
        self.frame.base = Some(base);
        base
    }

    /// A recursive procedure with objects in memory takes room on the stack when it is entered, and
    /// gives it back when it returns.
    fn enter_frame(&mut self, id: FunctionId) {
        let Some(base) = self.frame.base else { return };
        let span = self.cx.tree.function(id).span;
        let pointer = self.cx.pointer();
        let stack = self.cx.stack_pointer(span);
        let top = Expr::variable(stack, pointer);
        let moved = plus(top.clone(), self.frame.size);
        let targets: Vec<Target> = vec![base.into(), stack.into()];
        self.body.prepend(span, targets, vec![top, moved]);
        self.body.before_returns(stack, &Expr::variable(base, pointer));
    }
}

/// Whether a type has arrays or bit-fields in it.
fn has_parts(lower: &Lower<'_, '_>, ty: &CType) -> bool {
    match ty {
        CType::Array(..) => true,
        CType::Record(id) => {
            let mut fields = lower.cx.tree.types.record(*id).fields.iter();
            fields.any(|field| field.bits.is_some() || has_parts(lower, &field.ty))
        }
        _ => false,
    }
}

/// The cases of a switch in reading order: their ranges, or none for the default.
fn collect_cases(statement: &Statement, out: &mut Vec<(Option<(u64, u64)>, Span)>) {
    match &statement.kind {
        StatementKind::Case(low, high) => out.push((Some((*low, *high)), statement.span)),
        StatementKind::Default => out.push((None, statement.span)),
        StatementKind::Block(statements) => statements.iter().for_each(|s| collect_cases(s, out)),
        StatementKind::If(_, then, otherwise) => {
            collect_cases(then, out);
            otherwise.iter().for_each(|s| collect_cases(s, out));
        }
        StatementKind::While(_, body)
        | StatementKind::DoWhile(body, _)
        | StatementKind::For(_, _, _, body) => {
            collect_cases(body, out);
        }
        _ => {}
    }
}
