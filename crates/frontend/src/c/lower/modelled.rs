//! What a property says about functions without a body: what they return, and what they leave alone.

use wherefore_program::{BinaryOp, Expr, LocationKind, Operation, Scalar, Span};
use wherefore_properties::Returns;

use super::call::Want;
use super::{HEAP, Lower, STACK};
use crate::c::ctype::CType;
use crate::c::events::Watched;
use crate::c::problem::Checked;
use crate::c::tree::{FunctionId, Term};

/// The least size of a new object in bytes.
const LEAST_SIZE: u64 = 16;

impl Lower<'_, '_> {
    /// What a function without a body returns: anything, or what a property says.
    pub(crate) fn result(&mut self, id: FunctionId, term: &Term, want: Want) -> Checked<Vec<Expr>> {
        let function = self.cx.tree.function(id);
        let (name, span) = (function.name.as_str(), term.span);
        let is_followed = self.cx.tree.watched.as_ref().is_some_and(Watched::has_pointers);
        let result = function.result.filter(|_| term.ty.is_pointer());
        if result.is_none() && !(is_followed && term.ty.is_pointer()) {
            return self.input(name, term, want);
        }
        let pointer = self.cx.pointer();
        let given = self.input(name, term, Want::Value)?.pop().unwrap_or(Expr::choice(pointer));
        let Some(result) = result else {
            self.keep_away_from_objects(given.clone(), span);
            return Ok(self.hand_over(given, want, span));
        };
        let is_some = Expr::binary(BinaryOp::Ne, given.clone(), Expr::constant(0, pointer));
        if result.returns != Returns::FreshOrNull {
            self.require(is_some.clone(), span);
        }
        let value = if result.returns.is_fresh() {
            self.cx.assume(format!("`{name}` returns a new object{}", or_null(result.returns)), Some(span));
            let pointee = term.ty.pointee().and_then(|ty| self.cx.tree.types.size(ty));
            let size = Expr::constant(pointee.unwrap_or(0).max(LEAST_SIZE), pointer);
            let class = self.cx.classes.value(self.cx.tree, term);
            let fresh = self.body.temporary(pointer, span);
            self.allocate_fresh(fresh.into(), size, class, span);
            Expr::if_then_else(is_some, Expr::variable(fresh, pointer), Expr::constant(0, pointer))
        } else {
            given
        };
        Ok(self.hand_over(value, want, span))
    }

    /// Does with a value what is wanted.
    fn hand_over(&mut self, value: Expr, want: Want, span: Span) -> Vec<Expr> {
        match want {
            Want::Nothing => Vec::new(),
            Want::Into(target) => {
                self.body.assign(span, vec![target], vec![value]);
                Vec::new()
            }
            Want::Value => vec![self.keep(value, span)],
        }
    }

    /// Whether memory may run out: the user or a property says so.
    pub(crate) fn allocation_fails(&self, name: &str) -> bool {
        let model = self.cx.tree.watched.as_ref().and_then(|watched| watched.property.model_of(name));
        self.cx.options.malloc_may_fail || model == Some(Returns::FreshOrNull)
    }

    /// Whether an allocation that may fail does. What the user or a property says is no
    /// approximation: it is a step of its own.
    pub(crate) fn chance_of_failure(&mut self, span: Span) -> Expr {
        let fails = self.body.temporary(Scalar::Bool, span);
        let step = self.body.step(span, LocationKind::Call, Operation::Havoc(vec![fails.into()]));
        // It comes from outside, and replay cannot feed it.
        self.inputs.push((step, "malloc".to_owned(), Scalar::Bool, CType::INT, CType::Void));
        Expr::variable(fails, Scalar::Bool)
    }

    /// Whether an argument of a function is the object that the rules are about.
    pub(crate) fn is_handle(&self, name: &str, position: usize) -> bool {
        self.cx.tree.watched.as_ref().is_some_and(|watched| watched.property.is_about(name, position))
    }

    /// A function without a body gets the object that the rules are about: if it is not clear what
    /// that is, the function is taken to change only its state, which is not the program's own.
    pub(crate) fn change_handle(&mut self, name: &str, argument: &Term, span: Span) -> Checked<bool> {
        let (doubts, steps) = (self.cx.doubts.len(), self.body.edge_count());
        let is_clear = self.change(name, argument, false, span)?;
        if !is_clear && self.cx.doubts.len() > doubts && self.body.edge_count() == steps {
            self.cx.doubts.truncate(doubts);
            let text =
                format!("`{name}` changes nothing that the program itself reads of the object it is about");
            self.cx.assume(text, Some(span));
        }
        Ok(true)
    }

    /// Calls through pointers are not read.
    pub(crate) fn doubt_pointer(&mut self, id: FunctionId, span: Span) {
        let tree = self.cx.tree;
        let Some(watched) = &tree.watched else { return };
        let name = &tree.function(id).name;
        if watched.property.watches(name) {
            let text = format!("`{name}` is not called through a pointer: `{}` is about it", watched.name);
            self.cx.doubt_control(&text, Some(span));
        }
    }

    /// A pointer from outside is none that a function of the program has created.
    pub(crate) fn keep_away_from_objects(&mut self, value: Expr, span: Span) {
        if !self.cx.tree.watched.as_ref().is_some_and(Watched::has_pointers) {
            return;
        }
        let text = "pointers from outside point to no object that was created in the run";
        self.cx.assume(text, None);
        let number = |at: u64| Expr::constant(at, value.ty);
        let is_below = Expr::binary(BinaryOp::ULt, value.clone(), number(HEAP));
        let is_above = Expr::binary(BinaryOp::ULe, number(STACK), value.clone());
        self.body.step(span, LocationKind::Statement, Operation::Assume(Expr::any(vec![is_below, is_above])));
    }
}

fn or_null(returns: Returns) -> &'static str {
    if returns == Returns::FreshOrNull { ", or NULL" } else { "" }
}
