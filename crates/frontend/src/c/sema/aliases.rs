//! Second names: the attribute `alias`.

use super::{Entity, Sema, unsupported_attribute};
use crate::c::tree::{FunctionId, ObjectId};

/// A pair of a second name and what it stands for.
enum Pair {
    Functions(FunctionId, FunctionId),
    Objects(ObjectId, ObjectId),
}

impl Sema<'_> {
    /// The declaration at hand is one of a second name, if an attribute said so.
    pub(super) fn note_alias(&mut self, name: &str) {
        if let Some((target, span)) = self.alias.take() {
            self.aliases.push((name.to_owned(), target, span));
        }
    }

    /// What is declared here cannot be a second name.
    pub(super) fn refuse_alias(&mut self) {
        if let Some((_, span)) = self.alias.take() {
            self.refused.push(unsupported_attribute(span, "alias"));
        }
    }

    /// Looks up the names that second names stand for, once the unit is read: they may be defined
    /// behind them.
    pub(super) fn settle_aliases(&mut self) {
        for (name, target, span) in std::mem::take(&mut self.aliases) {
            let entity = |name: &str| self.scopes[0].names.get(name).cloned();
            let pair = match (entity(&name), entity(&target)) {
                (Some(Entity::Function(from)), Some(Entity::Function(to)))
                    if self.tree.function(to).body.is_some() =>
                {
                    Some(Pair::Functions(from, to))
                }
                (Some(Entity::Object(from)), Some(Entity::Object(to)))
                    if self.tree.object(to).defined
                        && self.tree.object(to).ty == self.tree.object(from).ty =>
                {
                    Some(Pair::Objects(from, to))
                }
                _ => None,
            };
            let problem = unsupported_attribute(span, "alias");
            match (pair, entity(&name)) {
                (Some(Pair::Functions(from, to)), _) => self.tree.function_aliases.push((from, to)),
                (Some(Pair::Objects(from, to)), _) => self.tree.object_aliases.push((from, to)),
                (None, Some(Entity::Function(id))) => {
                    self.tree.functions[id.0 as usize].problems.push(problem);
                }
                (None, Some(Entity::Object(id))) => {
                    self.tree.objects[id.0 as usize].problem.get_or_insert(problem);
                }
                (None, _) => self.problems.push(problem),
            }
        }
    }
}
