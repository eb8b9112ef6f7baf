//! Addresses that are observed as numbers.
//!
//! Objects have addresses of our choice, so that a program that looks at one may behave otherwise
//! elsewhere. Whether a pointer is NULL, equal to another, or before another in one object is no
//! such look. Tools that simplify C keep pointers in integers for a moment: a local integer that
//! only holds addresses, and is only compared with others, is followed.

use std::collections::{BTreeMap, BTreeSet};

use wherefore_program::{BinaryOp, Span};

use super::ctype::CType;
use super::models;
use super::points_to::Classes;
use super::tree::{Initial, Lifetime, ObjectId, Statement, StatementKind, Term, TermKind, Tree};
use super::usage::Usage;

/// The first place where a pointer becomes a number, and the first where it is compared with one.
#[derive(Default)]
pub(crate) struct Observed {
    pub(crate) number: Option<Span>,
    pub(crate) compared: Option<Span>,
    /// Whether any pointer, from outside too, may be looked at as a number: it is converted to one,
    /// compared with one, or lies in a union or behind a pointer to another type.
    pub(crate) looks: bool,
}

/// How a value is used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// As a number.
    Number,
    /// Only as a pointer again, or to see whether it is zero.
    Blind,
}

struct Walk<'t> {
    tree: &'t Tree,
    classes: &'t mut Classes,
    observed: Observed,
    /// Integers that get an address, and where first.
    held: BTreeMap<ObjectId, Span>,
    /// Objects that get anything else.
    mixed: BTreeSet<ObjectId>,
    /// Integers that are used as numbers.
    leaked: BTreeSet<ObjectId>,
    /// Comparisons of integers that may be addresses, and whether one side surely is one.
    compared: Vec<(Vec<ObjectId>, bool, Span)>,
}

impl Observed {
    /// Looks through everything that is used.
    pub(crate) fn new(tree: &Tree, usage: &Usage, classes: &mut Classes) -> Observed {
        let mut walk = Walk {
            tree,
            classes,
            observed: Observed::default(),
            held: BTreeMap::new(),
            mixed: usage.exposed.iter().copied().collect(),
            leaked: usage.exposed.iter().copied().collect(),
            compared: Vec::new(),
        };
        for id in &usage.functions {
            for statement in tree.function(*id).body.iter().flatten() {
                walk.statement(statement);
            }
        }
        for object in &tree.objects {
            object.initial.iter().for_each(|initial| walk.initial(initial));
        }
        walk.settle();
        walk.observed
    }
}

/// Whether an address is a mere number: NULL, or a field of an object at NULL, as `offsetof` is
/// written.
fn is_number(term: &Term) -> bool {
    match &term.kind {
        TermKind::Constant(_) => true,
        TermKind::Convert(inner) | TermKind::Address(inner) | TermKind::Deref(inner) => is_number(inner),
        TermKind::Field(inner, _) => is_number(inner),
        TermKind::Offset(_, pointer, index, _) => is_number(pointer) && is_number(index),
        _ => false,
    }
}

fn is_null(term: &Term) -> bool {
    match &term.kind {
        TermKind::Constant(0) => true,
        TermKind::Convert(inner) => is_null(inner),
        _ => false,
    }
}

/// Whether a pointer was a number just before.
fn comes_from_number(term: &Term) -> bool {
    match &term.kind {
        TermKind::Constant(value) => *value != 0,
        TermKind::Convert(inner) if inner.ty.is_pointer() => comes_from_number(inner),
        TermKind::Convert(inner) => inner.ty.is_integer() && !is_null(inner) && !is_address(inner),
        _ => false,
    }
}

/// Whether a number is a pointer that was just converted.
fn is_address(term: &Term) -> bool {
    match &term.kind {
        TermKind::Convert(_) if term.ty == CType::Bool => false,
        TermKind::Convert(inner) => inner.ty.is_pointer() || is_address(inner),
        _ => false,
    }
}

/// An integer variable that is read.
fn variable(term: &Term) -> Option<ObjectId> {
    match &term.kind {
        TermKind::Load(place) => match place.kind {
            TermKind::Object(id) if term.ty.is_integer() => Some(id),
            _ => None,
        },
        _ => None,
    }
}

impl Walk<'_> {
    /// Looks at the integers that hold addresses, once all their uses are known.
    fn settle(&mut self) {
        let mut number = self.observed.number;
        for (id, span) in &self.held {
            if self.leaked.contains(id) {
                number = number.or(Some(*span));
            }
        }
        for (ids, address, span) in &self.compared {
            let pure = |id: &ObjectId| {
                let local = self.tree.object(*id).lifetime == Lifetime::Automatic;
                local && !self.mixed.contains(id)
            };
            let some = *address || ids.iter().any(|id| self.held.contains_key(id));
            if some && !ids.iter().all(pure) {
                number = number.or(Some(*span));
            }
        }
        self.observed.number = number;
    }

    /// A variable gets a value.
    fn assigned(&mut self, id: ObjectId, value: &Term, span: Span) {
        let wide = self.tree.types.size(&self.tree.object(id).ty) == self.tree.types.size(&value.ty);
        let is_address = self.is_address(value);
        let used = if value.ty.is_integer() && wide && is_address {
            self.held.entry(id).or_insert(span);
            Use::Blind
        } else {
            if !is_null(value) {
                self.mixed.insert(id);
            }
            Use::Number
        };
        self.term(value, used);
    }

    /// Whether a number is a pointer that was just converted, and that may be an address.
    fn is_address(&mut self, term: &Term) -> bool {
        match &term.kind {
            TermKind::Convert(_) if term.ty == CType::Bool => false,
            TermKind::Convert(inner) if inner.ty.is_pointer() => {
                self.classes.may_hold_address(self.tree, inner)
            }
            TermKind::Convert(inner) => self.is_address(inner),
            _ => false,
        }
    }

    /// Whether a conversion shows a pointer as a number, or leads to a place that does.
    fn looks(&self, term: &Term, inner: &Term) -> bool {
        let is_arithmetic = |ty: &CType| ty.is_integer() || ty.is_float();
        let (to, from) = (&term.ty, &inner.ty);
        let is_shown = is_arithmetic(to) && *to != CType::Bool && from.is_pointer() && !is_number(inner);
        let holds_pointer = from.pointee().is_some_and(|ty| self.has_pointer(ty));
        // Bytes are for moving around in an object, and for copying it.
        let is_wide = |ty: &CType| is_arithmetic(ty) && self.tree.types.size(ty) != Some(1);
        is_shown || (holds_pointer && to.pointee().is_some_and(is_wide))
    }

    /// Whether an object of this type has a pointer as a part.
    fn has_pointer(&self, ty: &CType) -> bool {
        match ty {
            CType::Array(element, _) => self.has_pointer(element),
            CType::Record(id) => {
                self.tree.types.record(*id).fields.iter().any(|field| self.has_pointer(&field.ty))
            }
            _ => ty.is_pointer(),
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Expression(term) => self.term(term, Use::Blind),
            StatementKind::Cleanup(_, term) | StatementKind::GotoAny(term) => self.term(term, Use::Blind),
            StatementKind::Return(Some(term)) => self.term(term, Use::Number),
            StatementKind::Declare(id, Some(initial)) => match initial.items.as_slice() {
                [only] if only.path.is_empty() => self.assigned(*id, &only.value, statement.span),
                _ => self.initial(initial),
            },
            StatementKind::Block(statements) => self.statements(statements),
            StatementKind::If(condition, then, otherwise) => {
                self.term(condition, Use::Blind);
                self.statement(then);
                otherwise.iter().for_each(|statement| self.statement(statement));
            }
            StatementKind::While(condition, body) | StatementKind::DoWhile(body, condition) => {
                self.term(condition, Use::Blind);
                self.statement(body);
            }
            StatementKind::Switch(value, body) => {
                self.term(value, Use::Number);
                self.statement(body);
            }
            StatementKind::For(first, condition, step, body) => {
                self.statements(first);
                condition.iter().chain(step).for_each(|term| self.term(term, Use::Blind));
                self.statement(body);
            }
            StatementKind::Assembly(assembly) => {
                let operands = assembly.outputs.iter().chain(&assembly.inputs);
                operands.for_each(|operand| self.term(operand, Use::Number));
            }
            _ => {}
        }
    }

    fn statements(&mut self, statements: &[Statement]) {
        statements.iter().for_each(|statement| self.statement(statement));
    }

    fn initial(&mut self, initial: &Initial) {
        initial.items.iter().for_each(|item| self.term(&item.value, Use::Number));
    }

    fn term(&mut self, term: &Term, used: Use) {
        match &term.kind {
            TermKind::Convert(inner) => {
                let number = term.ty.is_integer() && term.ty != CType::Bool;
                self.observed.looks |= self.looks(term, inner);
                let is_look = number && inner.ty.is_pointer() && used == Use::Number && !is_number(inner);
                if is_look && self.classes.may_hold_address(self.tree, inner) {
                    self.observed.number.get_or_insert(term.span);
                }
                let blind = term.ty.is_pointer() || !number || (used == Use::Blind && inner.ty.is_pointer());
                // A number that is cut or widened on its way back to a pointer is still one.
                let kept =
                    used == Use::Blind && self.tree.types.size(&term.ty) >= self.tree.types.size(&inner.ty);
                self.term(inner, if blind || kept { Use::Blind } else { Use::Number });
            }
            TermKind::Compare(BinaryOp::Eq | BinaryOp::Ne, left, right) => {
                let like = |term: &Term| is_null(term) || is_address(term) || variable(term).is_some();
                let both = left.ty.is_integer() && like(left) && like(right);
                if both {
                    let ids = [variable(left), variable(right)].into_iter().flatten().collect();
                    self.compared.push((ids, is_address(left) || is_address(right), term.span));
                }
                for (one, other) in [(left, right), (right, left)] {
                    self.observed.looks |= one.ty.is_pointer() && comes_from_number(one);
                    if one.ty.is_pointer() && comes_from_number(one) && !comes_from_number(other) {
                        self.observed.compared.get_or_insert(term.span);
                    }
                    self.term(one, if both || is_null(other) { Use::Blind } else { Use::Number });
                }
            }
            TermKind::Assign(place, value) => {
                let TermKind::Object(id) = place.kind else {
                    self.term(place, Use::Number);
                    return self.term(value, Use::Number);
                };
                self.assigned(id, value, term.span);
                if used == Use::Number {
                    self.leaked.insert(id);
                }
            }
            TermKind::Object(id) => {
                // Read or changed in a way that is not known.
                self.mixed.insert(*id);
                self.leaked.insert(*id);
            }
            TermKind::Load(_) if variable(term).is_some() => {
                if let (Use::Number, Some(id)) = (used, variable(term)) {
                    self.leaked.insert(id);
                }
            }
            TermKind::Not(inner) => self.term(inner, Use::Blind),
            TermKind::Field(inner, _) => {
                let is_union = matches!(&inner.ty, CType::Record(id) if self.tree.types.record(*id).union);
                self.observed.looks |= is_union && !term.ty.is_pointer() && self.has_pointer(&inner.ty);
                self.term(inner, Use::Number);
            }
            TermKind::And(left, right) | TermKind::Or(left, right) => {
                self.term(left, Use::Blind);
                self.term(right, Use::Blind);
            }
            TermKind::Conditional(condition, then, otherwise) => {
                self.term(condition, Use::Blind);
                self.term(then, used);
                self.term(otherwise, used);
            }
            TermKind::Comma(terms) => {
                for (i, part) in terms.iter().enumerate() {
                    self.term(part, if i + 1 == terms.len() { used } else { Use::Blind });
                }
            }
            TermKind::Call(callee, arguments) => {
                // What is only printed does not matter.
                let printed = match callee.kind {
                    TermKind::Function(id) => {
                        let function = self.tree.function(id);
                        function.body.is_none() && models::is_harmless(&function.name)
                    }
                    _ => false,
                };
                self.term(callee, Use::Number);
                let used = if printed { Use::Blind } else { Use::Number };
                arguments.iter().for_each(|argument| self.term(argument, used));
            }
            TermKind::Block(statements, value) => {
                self.statements(statements);
                value.iter().for_each(|value| self.term(value, used));
            }
            TermKind::Literal(_, initial) => self.initial(initial),
            _ => term.children().into_iter().for_each(|child| self.term(child, Use::Number)),
        }
    }
}
