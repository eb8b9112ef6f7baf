//! Constants in the place of expressions that have one value, by the ranges of variables.
//!
//! A limit in a variable that never changes becomes a number: refinement then needs one predicate
//! about it and not one for each of its values. Conditions that hold, or do not, become constants.

use wherefore_program::{Expr, ExprKind, Node, ProcedureId, Program, Target, When};

use crate::expression::range_of;
use crate::ranges::{Ranges, Values};
use crate::rewrite::{self, Rewrite};

/// The same program with constants where ranges have one value. Locations, edges and variables keep
/// their numbers.
pub fn fold(program: &Program, ranges: &Ranges) -> Program {
    let mut program = program.clone();
    for (id, procedure) in program.procedures.iter_mut().enumerate() {
        for edge in &mut procedure.edges {
            let node = Node { procedure: ProcedureId(id as u32), location: edge.from };
            if let Some(known) = ranges.at(node) {
                rewrite::operation(&mut edge.operation, &mut Fold { known });
            }
        }
    }
    program
}

struct Fold<'a> {
    known: &'a Values,
}

impl Rewrite for Fold<'_> {
    fn expr(&mut self, expr: &mut Expr) {
        let is_open = match &expr.kind {
            ExprKind::Constant(_) | ExprKind::Choice { .. } => return,
            // An index that is outside of its array stops the run, whatever the cells hold.
            ExprKind::Read { indices, when, .. } => *when == When::Next || !indices.is_empty(),
            _ => has_choice_or_index(expr),
        };
        if is_open {
            return;
        }
        if let Some(value) = range_of(expr, self.known).as_constant() {
            *expr = Expr::constant(value, expr.ty);
        }
    }

    fn target(&mut self, _: &mut Target, _: bool) {}
}

/// Whether an expression makes a choice, may have no value, or reads the state after the step.
fn has_choice_or_index(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |part| match &part.kind {
        ExprKind::Choice { .. } => found = true,
        ExprKind::Read { indices, when, .. } => found |= !indices.is_empty() || *when == When::Next,
        _ => {}
    });
    found
}
