//! Structures and unions that several units define with the same text, mostly in a header: they are
//! one type, so that values of it go from one file to another.

use lang_c::ast::{Statement, StructKind, StructType, TranslationUnit};
use lang_c::span::Span;
use lang_c::visit::{Visit, visit_struct_type, visit_translation_unit};

use super::Sema;
use crate::c::ctype::UNNAMED;

/// The definitions outside of functions that have a tag: the tag, whether it is a union, and the
/// place.
#[derive(Default)]
struct Definitions(Vec<(String, bool, Span)>);

impl<'a> Visit<'a> for Definitions {
    fn visit_struct_type(&mut self, record: &'a StructType, span: &'a Span) {
        if let (Some(name), Some(_)) = (&record.identifier, &record.declarations) {
            self.0.push((name.node.name.clone(), record.kind.node == StructKind::Union, *span));
        }
        visit_struct_type(self, record, span);
    }

    fn visit_statement(&mut self, _: &'a Statement, _: &'a Span) {}
}

impl Sema<'_> {
    /// Binds the tags that an earlier unit defines with the same text. Gives the tags and texts of
    /// this unit.
    pub(super) fn share_records(&mut self, unit: &TranslationUnit) -> Vec<(String, String)> {
        let mut definitions = Definitions::default();
        visit_translation_unit(&mut definitions, unit);
        let mut found = Vec::new();
        for (tag, union, span) in definitions.0 {
            let text = format!("{union} {}", self.lines.words(span.start, span.end));
            if let Some(id) = self.linkage.records.get(&text) {
                self.scopes[0].records.insert(tag.clone(), *id);
            }
            found.push((tag, text));
        }
        found
    }

    /// Lets later units have the structures of this one.
    pub(super) fn offer_records(&mut self, definitions: Vec<(String, String)>) {
        for (tag, text) in definitions {
            let id = self.scopes[0].records.get(&tag).copied();
            if let Some(id) = id.filter(|id| self.tree.types.record(*id).complete) {
                self.linkage.records.entry(text).or_insert(id);
            }
        }
    }

    /// A structure without a tag that another unit has with the same members.
    pub(super) fn unnamed_elsewhere(&self, id: u32) -> Option<u32> {
        let record = self.tree.types.record(id);
        let is_same = |other: &u32| {
            let other = self.tree.types.record(*other);
            other.name == UNNAMED && other.is_like(record)
        };
        (0..self.first_record).find(is_same).filter(|_| record.name == UNNAMED)
    }
}
