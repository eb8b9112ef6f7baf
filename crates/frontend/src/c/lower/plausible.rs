//! Where pointers from outside may point, if null pointers are asked about.
//!
//! A pointer that comes from outside is NULL or valid, and arithmetic on a valid pointer never gives
//! NULL. As a mere number it could be 8, so that `(char *)p - 8` is NULL, or the last number, so that
//! `p + 1` is: no run of the compiled program does that. So such a pointer is no number near zero or
//! near the end. Only a program that looks at pointers as numbers could tell (`Observed::looks`);
//! there they may be anything.

use wherefore_program::{BinaryOp, Expr, Span, Target, ViolationKind, When};

use super::{FUNCTIONS, Lower};
use crate::c::models;
use crate::c::problem::Checked;
use crate::c::tree::FunctionId;

/// The ends of what pointers from outside may be, for pointers of 32 and of 64 bits.
const NARROW_END: u64 = 0xc000_0000;
const WIDE_END: u64 = 1 << 62;

impl Lower<'_, '_> {
    fn restricts_pointers(&self) -> bool {
        self.asks(ViolationKind::Null) && !self.cx.looks_at_pointers
    }

    /// Whether an address is NULL, or far from both ends.
    fn is_plausible(&self, address: &Expr) -> Expr {
        let is_null = Expr::binary(BinaryOp::Eq, address.clone(), Expr::constant(0, address.ty));
        Expr::any(vec![is_null, self.is_there(address)])
    }

    /// Whether an address is far from both ends.
    pub(super) fn is_there(&self, address: &Expr) -> Expr {
        let ty = address.ty;
        let number = |value| Expr::constant(value, ty);
        let end = if ty.width() == 64 { WIDE_END } else { NARROW_END };
        let is_above = Expr::binary(BinaryOp::ULe, number(FUNCTIONS), address.clone());
        let is_below = Expr::binary(BinaryOp::ULt, address.clone(), number(end));
        Expr::all(vec![is_above, is_below])
    }

    /// What a function without a body returns is a pointer that is far from both ends. It is replaced
    /// by one if it is not, so that no step of a run depends on it.
    pub(super) fn keep_result_plausible(&mut self, name: &str, target: &Target, span: Span) {
        if !self.restricts_pointers() || models::meaning(name).is_some() {
            return;
        }
        let ty = self.cx.pointer();
        let result = Expr::read(target.variable, target.indices.clone(), When::Now, ty);
        let is_plausible = self.is_plausible(&result);
        let kept = Expr::if_then_else(is_plausible, result, Expr::constant(FUNCTIONS, ty));
        self.body.assign(span, vec![target.clone()], vec![kept]);
    }

    /// The arguments of an entry other than `main` that are pointers are far from both ends.
    pub(super) fn keep_arguments_plausible(&mut self, id: FunctionId) -> Checked<()> {
        let tree = self.cx.tree;
        let function = tree.function(id);
        let is_entry = self.entered_once && function.name != "main";
        if !is_entry || (!self.restricts_pointers() && self.cx.tree.watched.is_none()) {
            return Ok(());
        }
        for id in &function.parameters {
            let object = tree.object(*id);
            if object.ty.is_pointer() {
                let place = self.object(*id)?;
                let value = self.read(&place, object.span)?;
                if self.restricts_pointers() {
                    let is_plausible = self.is_plausible(&value);
                    self.assume_of_model(is_plausible, object.span);
                }
                self.keep_away_from_objects(value, object.span);
            }
        }
        Ok(())
    }
}
