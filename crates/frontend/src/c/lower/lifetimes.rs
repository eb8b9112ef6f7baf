//! Local objects that a pointer may outlive, where accesses to memory are checked.
//!
//! Such an object, and one of a recursive function, has fresh memory each time it is declared, like
//! memory from `malloc`, and that memory is freed where its scope is left. It must be clear where
//! that is: no jump from outside of its scope leads past its declaration. Other objects keep the
//! address that they always have, and a doubt says so.

use wherefore_program::{BinaryOp, Expr, LocationKind, Operation, Span, Target, Type, Var};

use super::storage::{Base, Storage};
use super::{Context, LOCALS, Lower};
use crate::c::ctype::{CType, Length};
use crate::c::points_to::Class;
use crate::c::problem::Problem;
use crate::c::tree::{FunctionId, Lifetime, ObjectId, Role, Statement, StatementKind, Term, TermKind};

/// What happens to an object when its scope is left.
#[derive(Clone, Debug)]
pub(crate) enum Ending {
    /// This is evaluated.
    Cleanup(Term),
    /// Its memory is no longer there.
    Life,
}

impl Context<'_> {
    /// Where fresh memory of local objects starts: none of it can be freed by the program.
    pub(super) fn first_local(&self) -> u64 {
        if self.tree.types.model.pointer_bits() == 64 { 1 << 62 } else { LOCALS }
    }

    /// The variable that holds the next free address for local objects.
    pub(super) fn locals_pointer(&mut self, span: Span) -> Var {
        if let Some(locals) = self.locals {
            return locals;
        }
        self.assume("memory never runs out", Some(span));
        let ty = Type::Scalar(self.pointer());
        let first = self.first_local();
        let locals = self.global("locals", ty, Some(first), span);
        *self.locals.insert(locals)
    }

    /// Whether a local object has fresh memory each time it is declared.
    pub(super) fn is_fresh(&mut self, id: ObjectId) -> bool {
        if let Some(known) = self.fresh.get(&id) {
            return *known;
        }
        let is_fresh = self.can_be_fresh(id);
        self.fresh.insert(id, is_fresh);
        is_fresh
    }

    fn can_be_fresh(&mut self, id: ObjectId) -> bool {
        let (tree, usage) = (self.tree, self.usage);
        let object = tree.object(id);
        let Some(owner) = object.owner.filter(|_| object.lifetime != Lifetime::Static) else { return false };
        let is_variable = matches!(object.ty, CType::Array(_, Length::Variable(_)));
        if !self.checks_memory()
            || self.has_threads
            || self.is_model(owner)
            || object.problem.is_some()
            || !usage.exposed.contains(&id)
            || usage.shared.contains(&id)
            || !(is_variable || tree.types.size(&object.ty).is_some())
        {
            return false;
        }
        let is_recursive = usage.recursive.contains(&owner);
        // No statement declares it.
        if object.role != Role::Plain {
            return is_recursive;
        }
        let class = self.classes.object(id);
        (is_recursive || self.may_be_outlived(id, class)) && is_declared_plainly(self, owner, id)
    }

    /// Whether a pointer may outlive a local object: if it is stored in memory or returned by the
    /// function of the object, or, for an object of an inner block, held by a variable. What is
    /// declared at the start of the entry lives as long as the program.
    fn may_be_outlived(&mut self, id: ObjectId, class: Class) -> bool {
        let (tree, usage) = (self.tree, self.usage);
        let object = tree.object(id);
        let Some(owner) = object.owner.filter(|_| object.lifetime != Lifetime::Static) else { return false };
        let function = tree.function(owner);
        let declares = |one: &Statement| match &one.kind {
            StatementKind::Declare(other, initial) => {
                let values = initial.iter().flat_map(|initial| &initial.items);
                *other == id || values.into_iter().any(|item| has_literal(&item.value, id))
            }
            StatementKind::Expression(term) | StatementKind::Return(Some(term)) => has_literal(term, id),
            _ => false,
        };
        let is_outer = function.parameters.contains(&id) || function.body.iter().flatten().any(declares);
        let lives = is_outer && function.name == self.options.entry && !usage.recursive.contains(&owner);
        if !usage.exposed.contains(&id) || lives {
            return false;
        }
        self.classes.is_result(owner, class)
            || self.classes.is_held(tree, usage, class, (!is_outer).then_some(owner))
    }

    /// Whether a pointer may outlive a local object of a class, and the end of the object is not
    /// followed. Variable arguments are there until the function that they are for returns.
    pub(super) fn dangles(&mut self, class: Class) -> bool {
        let tree = self.tree;
        let all = self.classes.all_objects_in(class);
        all.into_iter().any(|id| {
            let role = tree.object(id).role;
            let is_followed = self.is_fresh(id) && role == Role::Plain;
            role != Role::Arguments && !is_followed && self.may_be_outlived(id, class)
        })
    }

    /// Whether a pointer to memory that a function takes from its stack may outlive the call.
    pub(super) fn is_kept_after(&mut self, owner: FunctionId, class: Class) -> bool {
        let (tree, usage) = (self.tree, self.usage);
        let is_entry = tree.function(owner).name == self.options.entry && !usage.recursive.contains(&owner);
        !is_entry && (self.classes.is_result(owner, class) || self.classes.is_held(tree, usage, class, None))
    }
}

/// Whether an expression contains a compound literal, outside of the blocks in it.
fn has_literal(term: &Term, id: ObjectId) -> bool {
    match &term.kind {
        TermKind::Literal(other, _) if *other == id => true,
        TermKind::Block(..) => false,
        _ => term.any_child(&mut |child| has_literal(child, id)),
    }
}

/// Whether an object is a parameter, or is declared by a statement that no jump goes past.
fn is_declared_plainly(context: &Context<'_>, owner: FunctionId, id: ObjectId) -> bool {
    let function = context.tree.function(owner);
    if !function.labels.is_empty() {
        return false;
    }
    if function.parameters.contains(&id) {
        return true;
    }
    let body = function.body.as_deref().unwrap_or_default();
    scope_of(body, id).is_some_and(|scope| {
        let mut inside = Jumped::default();
        scope.iter().for_each(|statement| inside.look_at(statement));
        if inside.cases > 0 {
            return false;
        }
        let mut everywhere = Jumped::default();
        body.iter().for_each(|statement| everywhere.look_at(statement));
        let count =
            |jumps: &Jumped<'_>, label: &str| jumps.gotos.iter().filter(|name| **name == label).count();
        inside.labels.iter().all(|label| count(&inside, label) == count(&everywhere, label))
    })
}

/// The statements in the scope of an object, from its declaration on.
fn scope_of(statements: &[Statement], id: ObjectId) -> Option<Vec<&Statement>> {
    for (i, statement) in statements.iter().enumerate() {
        let found = match &statement.kind {
            StatementKind::Declare(other, _) if *other == id => Some(statements[i..].iter().collect()),
            StatementKind::Block(inner) => scope_of(inner, id),
            StatementKind::If(_, then, otherwise) => scope_of(std::slice::from_ref(then), id)
                .or_else(|| scope_of(std::slice::from_ref(otherwise.as_deref()?), id)),
            StatementKind::While(_, body)
            | StatementKind::DoWhile(body, _)
            | StatementKind::Switch(_, body) => scope_of(std::slice::from_ref(body), id),
            StatementKind::For(first, _, _, body) => scope_of(first, id)
                .map(|mut scope| {
                    scope.push(body);
                    scope
                })
                .or_else(|| scope_of(std::slice::from_ref(body), id)),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Labels, jumps to labels, and cases that belong to a switch around the statements.
#[derive(Default)]
struct Jumped<'t> {
    labels: Vec<&'t str>,
    gotos: Vec<&'t str>,
    cases: usize,
}

impl<'t> Jumped<'t> {
    fn look_at(&mut self, statement: &'t Statement) {
        match &statement.kind {
            StatementKind::Label(name) => self.labels.push(name),
            StatementKind::Goto(name) => self.gotos.push(name),
            StatementKind::Case(..) | StatementKind::Default => self.cases += 1,
            StatementKind::Block(inner) => inner.iter().for_each(|statement| self.look_at(statement)),
            StatementKind::If(_, then, otherwise) => {
                self.look_at(then);
                otherwise.iter().for_each(|statement| self.look_at(statement));
            }
            StatementKind::While(_, body) | StatementKind::DoWhile(body, _) => self.look_at(body),
            StatementKind::For(first, _, _, body) => {
                first.iter().for_each(|statement| self.look_at(statement));
                self.look_at(body);
            }
            StatementKind::Switch(_, body) => {
                let cases = self.cases;
                self.look_at(body);
                self.cases = cases;
            }
            _ => {}
        }
    }
}

impl Lower<'_, '_> {
    /// An object that is declared gets fresh memory, if it is one that does.
    pub(super) fn begin_life(&mut self, id: ObjectId, span: Span) {
        if !self.cx.is_fresh(id) {
            return;
        }
        let object = self.cx.tree.object(id);
        let is_variable = matches!(object.ty, CType::Array(_, Length::Variable(_)));
        if let (false, Some(size)) = (is_variable, self.cx.tree.types.size(&object.ty)) {
            let Some(variable) = self.address_variable(id) else { return };
            let pointer = self.cx.pointer();
            if pointer.width() < 64 {
                self.leave_room(span);
            }
            let class = self.cx.classes.object(id);
            self.allocate_local(variable.into(), Expr::constant(size, pointer), class, span);
        }
        if object.role == Role::Plain {
            self.cleanups.push((id, Ending::Life));
        }
    }

    /// There are only so many addresses for local objects.
    fn leave_room(&mut self, span: Span) {
        let locals = self.cx.locals_pointer(span);
        let pointer = self.cx.pointer();
        let most = Expr::constant(pointer.max() << self.cx.slot_bits() & pointer.max(), pointer);
        let fits = Expr::binary(BinaryOp::ULt, Expr::variable(locals, pointer), most);
        let at = self.body.fill(span, LocationKind::Branch);
        let (next, full) = (self.body.open(span), self.body.open(span));
        self.body.edge(at, next, Operation::Assume(fits.clone()), span);
        self.body.edge(at, full, Operation::Assume(fits.not()), span);
        self.unsupported_from(full, Problem::unsupported(span, "so many local objects are"));
        self.body.at = next;
    }

    /// The scope of an object is left: its memory is freed.
    pub(super) fn end_life(&mut self, id: ObjectId) {
        let Some(variable) = self.address_variable(id) else { return };
        let span = self.cx.tree.object(id).span;
        let class = self.cx.classes.object(id);
        let address = Expr::variable(variable, self.cx.pointer());
        let (target, value): (Target, Expr) = self.cx.freed(class, &address, span);
        self.body.assign(span, vec![target], vec![value]);
    }

    /// The variable that holds the address of an object.
    fn address_variable(&self, id: ObjectId) -> Option<Var> {
        match self.cx.storages.get(&id) {
            Some(Storage::Memory(Base::Variable(variable))) => Some(*variable),
            _ => None,
        }
    }
}
