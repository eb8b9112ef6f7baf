//! What a program's text speaks of: its functions and labels, used or not.
//!
//! A property about something that does not occur at all is true of every run. That says nothing of
//! the program: most likely the property was meant for another one. So the text is asked before
//! anyone answers "safe". It is the text and not the control-flow automata, because these leave out
//! functions that are not used, and an error in one of those is out of reach, not absent.

use std::collections::BTreeSet;

use lang_c::ast::{
    CallExpression, Declarator, DeclaratorKind, DerivedDeclarator, Expression, FunctionDefinition, Label,
    TranslationUnit,
};
use lang_c::span::Span;
use lang_c::visit::{self, Visit};
use wherefore_program::ERROR_LABELS;

use super::models::{self, Meaning};
use super::{ErrorLabels, Property};

/// The functions and labels of a program, also those that no run gets to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mentions {
    /// Functions that are declared or defined.
    declared: BTreeSet<String>,
    /// Functions with a body.
    defined: BTreeSet<String>,
    /// Functions that are called by their name.
    called: BTreeSet<String>,
    labels: BTreeSet<String>,
    error_labels: ErrorLabels,
}

impl Mentions {
    /// Of a program without text. `error_labels` says whether labels belong to the usual property.
    pub(crate) fn new(error_labels: ErrorLabels) -> Self {
        Self { error_labels, ..Self::default() }
    }

    /// Adds what a text mentions.
    pub(crate) fn add(&mut self, unit: &TranslationUnit) {
        self.visit_translation_unit(unit);
    }

    /// Adds what a text in Cimple mentions. Its declarations were put there by us.
    pub(crate) fn add_cimple(&mut self, unit: &TranslationUnit) {
        let mut added = Self::default();
        added.add(unit);
        self.declared.extend(added.declared.intersection(&added.called).cloned());
        self.declared.extend(added.defined.iter().cloned());
        self.defined.append(&mut added.defined);
        self.called.append(&mut added.called);
        self.labels.append(&mut added.labels);
    }

    /// Whether something that a property names occurs. Otherwise the property holds whatever the
    /// program does.
    pub fn includes(&self, property: &Property) -> bool {
        match property {
            Property::All => {
                self.has_assertions()
                    || self.error_functions().next().is_some()
                    || (self.error_labels == ErrorLabels::Usual && self.error_labels().next().is_some())
            }
            Property::Calls(names) => {
                names.iter().any(|name| self.declared.contains(name) || self.called.contains(name))
            }
            Property::Labels(names) => names.iter().any(|name| self.labels.contains(name)),
            Property::Assertions => self.has_assertions(),
        }
    }

    /// Whether some function asserts something.
    pub fn has_assertions(&self) -> bool {
        self.called.iter().any(|name| match models::meaning(name) {
            Some(Meaning::AssertionFailed) => true,
            // With a body it is a function like any other.
            Some(Meaning::Assert) => !self.defined.contains(name),
            _ => false,
        })
    }

    /// The usual error functions that are declared or called.
    pub fn error_functions(&self) -> impl Iterator<Item = &str> {
        let is_error = |name: &&String| models::meaning(name) == Some(Meaning::Error);
        self.declared.union(&self.called).filter(is_error).map(String::as_str)
    }

    /// The usual error labels that occur.
    pub fn error_labels(&self) -> impl Iterator<Item = &str> {
        self.labels.iter().map(String::as_str).filter(|name| ERROR_LABELS.contains(name))
    }
}

/// The name that a declarator gives, and whether it is that of a function.
fn declared(declarator: &Declarator) -> Option<(&str, bool)> {
    let is_function = |part: &DerivedDeclarator| {
        matches!(part, DerivedDeclarator::Function(_) | DerivedDeclarator::KRFunction(_))
    };
    let here = declarator.derived.iter().any(|part| is_function(&part.node));
    match &declarator.kind.node {
        DeclaratorKind::Abstract => None,
        DeclaratorKind::Identifier(name) => Some((&name.node.name, here)),
        DeclaratorKind::Declarator(inner) => {
            declared(&inner.node).map(|(name, inside)| (name, here || inside))
        }
    }
}

impl<'ast> Visit<'ast> for Mentions {
    fn visit_declarator(&mut self, declarator: &'ast Declarator, span: &'ast Span) {
        if let Some((name, true)) = declared(declarator) {
            self.declared.insert(name.to_owned());
        }
        visit::visit_declarator(self, declarator, span);
    }

    fn visit_function_definition(&mut self, function: &'ast FunctionDefinition, span: &'ast Span) {
        if let Some((name, _)) = declared(&function.declarator.node) {
            self.defined.insert(name.to_owned());
        }
        visit::visit_function_definition(self, function, span);
    }

    fn visit_call_expression(&mut self, call: &'ast CallExpression, span: &'ast Span) {
        if let Expression::Identifier(name) = &call.callee.node {
            self.called.insert(name.node.name.clone());
        }
        visit::visit_call_expression(self, call, span);
    }

    fn visit_label(&mut self, label: &'ast Label, span: &'ast Span) {
        if let Label::Identifier(name) = label {
            self.labels.insert(name.node.name.clone());
        }
        visit::visit_label(self, label, span);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Options, Translation, translate_cimple, translate_text};
    use super::*;

    fn mentions(text: &str) -> Mentions {
        let translation = translate_text("t.c", text, &Options::default());
        translation.unwrap_or_else(|error| panic!("{}", error.render())).mentions
    }

    fn calls(name: &str) -> Property {
        Property::Calls(vec![name.to_owned()])
    }

    fn labels(name: &str) -> Property {
        Property::Labels(vec![name.to_owned()])
    }

    #[test]
    fn functions_that_are_only_declared_are_mentioned() {
        let found = mentions("extern void reach_error(void); int main(void) { return 0; }");
        assert!(found.includes(&calls("reach_error")) && found.includes(&Property::All));
        assert!(!found.includes(&calls("main_error")));
        assert!(mentions("int main(void) { later(); return 0; }").includes(&calls("later")));
        assert!(mentions("int (f)(int), *g(void); int main(void) { return 0; }").includes(&calls("g")));
        assert!(!mentions("int reach_error; int main(void) { return 0; }").includes(&calls("reach_error")));
    }

    #[test]
    fn labels_of_functions_that_are_not_used_or_not_read_count() {
        let text = "void f(void) { return; ERROR: ; } int main(void) { return 0; }";
        assert!(mentions(text).includes(&labels("ERROR")));
        assert!(!mentions(text).includes(&labels("error")));
        let broken = "void f(void) { undeclared = 1; ERROR: ; } int main(void) { return 0; }";
        assert!(mentions(broken).includes(&labels("ERROR")));
    }

    #[test]
    fn assertions_are_mentioned_where_they_are_used() {
        let header = "extern void __assert_fail(const char *, const char *, unsigned, const char *);";
        assert!(
            !mentions(&format!("{header} int main(void) {{ return 0; }}")).includes(&Property::Assertions)
        );
        let macros = format!(
            "{header} int main(void) {{ int x = 1; ({{ if (x) ; else __assert_fail(\"x\", \"t.c\", 1, \"main\"); }}); return 0; }}"
        );
        assert!(mentions(&macros).includes(&Property::Assertions));
        let own =
            "void assert(int c) { if (!c) { ERROR: goto ERROR; } } int main(void) { assert(1); return 0; }";
        assert!(!mentions(own).includes(&Property::Assertions));
        assert!(!mentions(own).includes(&Property::All), "labels count where they are asked for");
        assert!(mentions(own).includes(&labels("ERROR")));
        assert!(!mentions("int main(void) { return 0; }").includes(&Property::All));
    }

    #[test]
    fn declarations_of_ours_are_none_of_cimple() {
        let read = |text: &str| -> Translation {
            translate_cimple("t.cimple", text, &Options::default())
                .unwrap_or_else(|error| panic!("{}", error.render()))
        };
        assert!(!read("int main() { return 0; }").mentions.includes(&calls("reach_error")));
        let failing = "bool error; int main() { if (*) error = true; }";
        assert!(read(failing).mentions.includes(&calls("reach_error")));
    }
}
