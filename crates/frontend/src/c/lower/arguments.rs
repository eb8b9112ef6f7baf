//! The arguments of the program: `argv[0]` to `argv[argc - 1]` are strings, and `argv[argc]` is NULL.
//!
//! Memory behind `argv` may hold anything. What is known of it is assumed where an element is read,
//! with the number and the address that `main` was given: other functions read elements, too.

use std::collections::BTreeSet;

use wherefore_program::{
    Assignment, BinaryOp, Expr, LocationKind, Operation, Scalar, Span, Type, Var, ViolationKind,
};

use super::place::Place;
use super::storage::Storage;
use super::value::resize;
use super::{Context, Lower};
use crate::c::ctype::CType;
use crate::c::points_to::Class;
use crate::c::problem::Checked;
use crate::c::tree::{FunctionId, ObjectId};

/// More than systems allow.
const MOST_ARGUMENTS: u64 = 1 << 24;

/// What `main` was given.
#[derive(Clone)]
pub(super) struct Arguments {
    /// The variable that holds how many there are.
    count: Var,
    /// The variable that holds where they are.
    vector: Var,
    /// The class of the array.
    class: Class,
    /// The classes that the array leads to, and its own.
    behind: BTreeSet<Class>,
}

impl Context<'_> {
    /// Takes note of the parameters of `main`: its arguments are followed if it is the only entry
    /// and null pointers are asked about. What else is given is taken to be there.
    pub(super) fn follow_arguments(&mut self, entries: &[FunctionId]) {
        let tree = self.tree;
        for id in entries.iter().filter(|id| tree.function(**id).name == "main") {
            let function = tree.function(*id);
            let mut rest = function.parameters.as_slice();
            let is_again = self.usage.recursive.contains(id);
            if let ([_], [count, vector, others @ ..], false) = (entries, rest, self.has_threads || is_again)
            {
                if self.follow(*count, *vector, function.span) {
                    rest = others;
                }
            }
            for parameter in rest {
                if let Some(class) = self.classes.behind_object(*parameter) {
                    self.given.extend(self.classes.reached(class));
                }
            }
        }
    }

    fn follow(&mut self, count: ObjectId, vector: ObjectId, span: Span) -> bool {
        let tree = self.tree;
        let is_array = match &tree.object(vector).ty {
            CType::Pointer(to) => to.is_pointer(),
            _ => false,
        };
        let is_asked = self.options.checks.contains(&ViolationKind::Null);
        if !is_asked || !is_array || tree.object(count).ty != CType::INT {
            return false;
        }
        let Some(class) = self.classes.behind_object(vector) else { return false };
        let behind = self.classes.reached(class).into_iter().collect();
        let pointer = Type::Scalar(self.pointer());
        let (count, vector) = (&tree.object(count).name, &tree.object(vector).name);
        let count = self.global(count, Type::Scalar(Scalar::Bits(32)), Some(0), span);
        let vector = self.global(vector, pointer, Some(0), span);
        self.arguments = Some(Arguments { count, vector, class, behind });
        true
    }
}

impl Lower<'_, '_> {
    /// `main` begins: its arguments are kept, and the one behind the last is NULL.
    pub(super) fn keep_arguments(&mut self, id: FunctionId) -> Checked<()> {
        let tree = self.cx.tree;
        let function = tree.function(id);
        let Some(arguments) = self.cx.arguments.clone() else { return Ok(()) };
        let ([count, vector, ..], "main", true) =
            (function.parameters.as_slice(), function.name.as_str(), self.entered_once)
        else {
            return Ok(());
        };
        let span = function.span;
        let places = (self.object(*count)?, self.object(*vector)?);
        let values = vec![self.read(&places.0, span)?, self.read(&places.1, span)?];
        let targets = vec![arguments.count.into(), arguments.vector.into()];
        let keep = Operation::Assign(Assignment { targets, values, constraint: None });
        self.body.step(span, LocationKind::Model, keep);
        // A parameter that keeps its value is the same variable from now on.
        for (id, kept) in [(*count, arguments.count), (*vector, arguments.vector)] {
            if let (Some(Storage::Split(leaves)), false) =
                (self.cx.storages.get_mut(&id), self.cx.usage.assigned.contains(&id))
            {
                leaves.iter_mut().for_each(|leaf| leaf.variable = Some(kept));
            }
        }
        let (first, length) = self.extent_of_arguments(&arguments);
        if first.ty.width() == 32 {
            // They fit into memory.
            let most = Expr::constant(MOST_ARGUMENTS, Scalar::Bits(32));
            let count = Expr::variable(arguments.count, Scalar::Bits(32));
            self.assume_of_model(Expr::binary(BinaryOp::ULt, count, most), span);
        }
        let is_there = self.is_there(&first);
        self.assume_of_model(is_there, span);
        let last = Expr::binary(BinaryOp::Add, first, length);
        let ty = CType::CHAR.pointer_to();
        if let Ok(last) = self.load((arguments.class, 0), &last, &ty, None, span) {
            let null = Expr::constant(0, last.ty);
            self.assume_of_model(Expr::binary(BinaryOp::Eq, last, null), span);
        }
        Ok(())
    }

    /// Where the arguments begin, and how many bytes long their array is without the last element.
    fn extent_of_arguments(&self, arguments: &Arguments) -> (Expr, Expr) {
        let pointer = self.cx.pointer();
        let count = Expr::variable(arguments.count, Scalar::Bits(32));
        let count = resize(count, true, pointer);
        let size = Expr::constant(u64::from(pointer.width() / 8), pointer);
        (Expr::variable(arguments.vector, pointer), Expr::binary(BinaryOp::Mul, count, size))
    }

    /// An element of `argv` is read: it is no null pointer if there are so many.
    pub(super) fn argument_is_there(&mut self, place: &Place, span: Span) {
        let Place::Memory { class, offset, address, ty, bits: None, .. } = place else { return };
        let Some(arguments) = self.cx.arguments.clone() else { return };
        let is_element =
            ty.is_pointer() && self.cx.classes.find(*class) == self.cx.classes.find(arguments.class);
        if !is_element || address.has_choice() {
            return;
        }
        let Ok(value) = self.load((*class, *offset), address, ty, None, span) else { return };
        let (first, length) = self.extent_of_arguments(&arguments);
        let position = Expr::binary(BinaryOp::Sub, address.clone(), first);
        let is_one = Expr::binary(BinaryOp::ULt, position, length);
        let mut ways: Vec<Expr> = self.guards.iter().cloned().map(Self::negated).collect();
        ways.extend([is_one.not(), self.is_there(&value)]);
        self.assume_of_model(Expr::any(ways), span);
    }

    /// A pointer into what `argv` leads to is moved: it does not become NULL.
    pub(super) fn moved_argument(&mut self, place: &Place, old: &Expr, new: Expr) -> Expr {
        let (Place::Split { object, .. }, Some(arguments)) = (place, &self.cx.arguments) else { return new };
        let behind = arguments.behind.clone();
        if !place.ty().is_pointer() || !self.cx.tree.object(*object).ty.is_pointer() {
            return new;
        }
        let class = self.cx.classes.behind_object(*object);
        if !class.is_some_and(|class| behind.iter().any(|one| self.cx.classes.find(*one) == class)) {
            return new;
        }
        let null = Expr::constant(0, new.ty);
        let wraps = Expr::all(vec![
            Expr::binary(BinaryOp::Eq, new.clone(), null.clone()),
            Expr::binary(BinaryOp::Ne, old.clone(), null),
        ]);
        Expr::if_then_else(wraps, Expr::constant(super::FUNCTIONS, new.ty), new)
    }
}
