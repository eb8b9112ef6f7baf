//! What is wrong with a source file, place by place.

use std::fmt;
use std::io;
use std::ops::Range;

use wherefore_pushdown::ParseError;

/// At most so many errors are reported for one file.
pub const MAX_DIAGNOSTICS: usize = 20;

/// Why a file did not become a program.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file could not be opened or read.
    #[error("{file}: {error}")]
    Io {
        /// The file.
        file: String,
        /// What the operating system said.
        #[source]
        error: io::Error,
    },
    /// The name of the file does not say which language it is in.
    #[error(
        "{file}: unknown language: expected a name that ends in .bp (Boolean program), .rem (Remopla), .c or .i (C), .cimple (Cimple)"
    )]
    UnknownLanguage {
        /// The file.
        file: String,
    },
    /// The text is not a program.
    #[error("{}", list(diagnostics))]
    Invalid {
        /// What is wrong: at least one entry, sorted by position.
        diagnostics: Vec<Diagnostic>,
    },
}

impl LoadError {
    /// The messages, each with the source line that it is about and a mark under the offending
    /// part.
    pub fn render(&self) -> String {
        match self {
            LoadError::Invalid { diagnostics } => diagnostics.iter().map(Diagnostic::render).collect(),
            _ => format!("{self}\n"),
        }
    }

    /// What is wrong with the text; empty if the text could not even be read.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            LoadError::Invalid { diagnostics } => diagnostics,
            _ => &[],
        }
    }
}

fn list(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// One thing that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file.
    pub file: String,
    /// The place and the message.
    pub error: ParseError,
}

impl Diagnostic {
    /// The message with the source line and a mark under the offending part.
    pub fn render(&self) -> String {
        format!("{self}\n{}", self.error.excerpt())
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.error)
    }
}

/// Collects what is wrong with one text.
pub(crate) struct Reporter<'a> {
    file: &'a str,
    text: &'a str,
    found: Vec<(Range<usize>, String)>,
}

/// More than this is not even collected, so that garbage is refused quickly.
const MAX_COLLECTED: usize = 1000;

impl<'a> Reporter<'a> {
    pub(crate) fn new(file: &'a str, text: &'a str) -> Self {
        Self { file, text, found: Vec::new() }
    }

    pub(crate) fn error(&mut self, at: Range<usize>, message: impl Into<String>) {
        if self.found.len() < MAX_COLLECTED {
            self.found.push((at, message.into()));
        }
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.found.is_empty()
    }

    /// The error with all that was found, if anything was.
    pub(crate) fn finish(mut self) -> Result<(), LoadError> {
        if self.found.is_empty() {
            return Ok(());
        }
        self.found.sort_by_key(|(at, _)| at.start);
        // Two errors at one place are one mistake: the first found speaks for it.
        self.found.dedup_by_key(|(at, _)| at.start);
        let diagnostic = |(at, message): (Range<usize>, String)| Diagnostic {
            file: self.file.to_owned(),
            error: ParseError::at(self.text, at, message),
        };
        let diagnostics = self.found.into_iter().take(MAX_DIAGNOSTICS).map(diagnostic).collect();
        Err(LoadError::Invalid { diagnostics })
    }
}
