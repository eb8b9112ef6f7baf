//! What happens when scopes are left (`cleanup`), and jumps to labels whose addresses are computed.

use rustc_hash::FxHashMap;
use wherefore_program::{BinaryOp, Expr, LocationKind, Operation, Span};

use super::Lower;
use super::lifetimes::Ending;
use crate::c::ctype::CType;
use crate::c::problem::{Checked, Problem};
use crate::c::tree::{ObjectId, Statement, StatementKind, Term, TermKind};

/// For each label of a body, the objects in whose scopes it is that have something to do at their
/// ends: those around the body, those that are cleaned up, and those whose memory is `fresh`.
pub(super) fn of_labels(
    body: &[Statement],
    mut around: Vec<ObjectId>,
    mut fresh: impl FnMut(ObjectId) -> bool,
) -> FxHashMap<String, Vec<ObjectId>> {
    let mut found = FxHashMap::default();
    in_statements(body, &mut around, &mut fresh, &mut found);
    found
}

fn in_statements(
    statements: &[Statement],
    scopes: &mut Vec<ObjectId>,
    fresh: &mut dyn FnMut(ObjectId) -> bool,
    found: &mut FxHashMap<String, Vec<ObjectId>>,
) {
    for statement in statements {
        let depth = scopes.len();
        match &statement.kind {
            StatementKind::Cleanup(id, _) => scopes.push(*id),
            StatementKind::Declare(id, _) if fresh(*id) => scopes.push(*id),
            StatementKind::Label(name) if !scopes.is_empty() => {
                found.insert(name.clone(), scopes.clone());
            }
            StatementKind::Block(inner) => {
                in_statements(inner, scopes, fresh, found);
                scopes.truncate(depth);
            }
            StatementKind::If(_, then, otherwise) => {
                in_statements(std::slice::from_ref(then), scopes, fresh, found);
                scopes.truncate(depth);
                if let Some(otherwise) = otherwise {
                    in_statements(std::slice::from_ref(otherwise), scopes, fresh, found);
                }
                scopes.truncate(depth);
            }
            StatementKind::While(_, body)
            | StatementKind::DoWhile(body, _)
            | StatementKind::Switch(_, body) => {
                in_statements(std::slice::from_ref(body), scopes, fresh, found);
                scopes.truncate(depth);
            }
            StatementKind::For(first, _, _, body) => {
                in_statements(first, scopes, fresh, found);
                in_statements(std::slice::from_ref(body), scopes, fresh, found);
                scopes.truncate(depth);
            }
            _ => {}
        }
    }
}

impl Lower<'_, '_> {
    /// Leaves all scopes but the outermost ones, for a jump: what follows in the text is still
    /// inside.
    pub(super) fn clean_up(&mut self, depth: usize) {
        let open: Vec<(ObjectId, Ending)> = self.cleanups[depth..].iter().rev().cloned().collect();
        for (id, ending) in open {
            match ending {
                Ending::Life => self.end_life(id),
                Ending::Cleanup(term) => {
                    let mark = self.body.mark();
                    self.attempt(|lower| lower.effects(&term));
                    self.body.release(&mark);
                }
            }
        }
    }

    /// Leaves all scopes but the outermost ones.
    pub(super) fn leave_scope(&mut self, depth: usize) {
        self.clean_up(depth);
        self.cleanups.truncate(depth);
    }

    /// How many of the scopes around the statement at hand are around a label, too.
    pub(super) fn common_scope(&self, label: &str) -> usize {
        let Some(around) = self.scopes_of_labels.get(label) else { return 0 };
        self.cleanups.iter().zip(around).take_while(|((id, _), other)| id == *other).count()
    }

    /// The statements of a statement expression. Its value would be needed before scopes are left.
    pub(super) fn inner_statements(&mut self, statements: &[Statement], span: Span) -> Checked<()> {
        let depth = self.cleanups.len();
        self.statements(statements);
        if self.cleanups.len() > depth {
            self.cleanups.truncate(depth);
            return Err(Problem::unsupported(span, "`cleanup` in a statement expression is"));
        }
        Ok(())
    }

    /// `goto *e`: one of the labels whose addresses are taken.
    pub(super) fn goto_any(&mut self, address: &Term, span: Span) -> Checked<()> {
        if !self.cleanups.is_empty() {
            return Err(Problem::unsupported(span, "a computed jump out of a scope with `cleanup` is"));
        }
        let value = self.value(address)?;
        let value = self.stable(value, span);
        let tree = self.cx.tree;
        let labels = self.function.map(|id| tree.function(id).labels.as_slice()).unwrap_or_default();
        self.cx.assume("labels whose addresses are taken are at different places", Some(span));
        let mut targets = Vec::new();
        for (name, object) in labels {
            let place = Term::new(TermKind::Object(*object), CType::CHAR, span);
            let address = Term::new(TermKind::Address(Box::new(place)), CType::CHAR.pointer_to(), span);
            let target = self.value(&address)?;
            targets.push((self.labelled(name, span), Expr::binary(BinaryOp::Eq, value.clone(), target)));
        }
        let at = self.body.fill(span, LocationKind::Branch);
        for (location, condition) in targets {
            self.body.edge(at, location, Operation::Assume(condition), span);
        }
        self.body.at = self.body.open(span);
        Ok(())
    }
}
