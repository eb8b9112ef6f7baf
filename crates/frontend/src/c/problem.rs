//! What is wrong with C programs, and where.

use std::collections::BTreeMap;

use wherefore_program::Span;
use wherefore_pushdown::ParseError;

use super::lines::Sources;
use crate::diagnostics::{Diagnostic, LoadError, MAX_DIAGNOSTICS};

/// One thing that is wrong.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) span: Span,
    pub(crate) message: String,
    pub(crate) kind: Kind,
}

/// Whose fault a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The text is not C, as far as we know.
    Mistake,
    /// Several texts are not a program together. No compiler of one of them knows.
    NotLinked,
    /// It is valid C but not handled.
    Unsupported,
}

impl Problem {
    /// What is not C.
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Problem {
        Problem { span, message: message.into(), kind: Kind::Mistake }
    }

    /// What is valid C but not handled.
    pub(crate) fn unsupported(span: Span, what: &str) -> Problem {
        Problem { span, message: format!("{what} not supported"), kind: Kind::Unsupported }
    }

    /// Definitions that exclude each other.
    pub(crate) fn not_linked(span: Span, message: impl Into<String>) -> Problem {
        Problem { span, message: message.into(), kind: Kind::NotLinked }
    }

    pub(crate) fn is_mistake(&self) -> bool {
        self.kind == Kind::Mistake
    }

    /// The problem in words for a place that is not modelled.
    pub(crate) fn as_place(&self) -> String {
        match self.kind {
            Kind::Unsupported => self.message.clone(),
            Kind::Mistake | Kind::NotLinked => format!("something here is not supported ({})", self.message),
        }
    }
}

pub(crate) type Checked<T> = Result<T, Problem>;

/// The error with all problems, sorted by place; two at one place are one.
pub(crate) fn refuse(sources: &Sources, problems: Vec<Problem>) -> LoadError {
    let mut sorted = BTreeMap::new();
    for problem in problems {
        sorted.entry((problem.span.file, problem.span.start)).or_insert(problem);
    }
    let diagnostic = |problem: Problem| {
        let source = &sources.files[problem.span.file.0 as usize];
        let at = problem.span.start as usize..problem.span.end as usize;
        let message = if sources.is_hidden(problem.span.file) {
            "something is wrong in this file, which does not lie with the program".to_owned()
        } else {
            problem.message
        };
        Diagnostic { file: source.name().to_owned(), error: ParseError::at(source.text(), at, message) }
    };
    let diagnostics = sorted.into_values().take(MAX_DIAGNOSTICS).map(diagnostic).collect();
    LoadError::Invalid { diagnostics }
}
