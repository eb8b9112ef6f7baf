//! Why a file did not become a pushdown system.

use std::io;

use wherefore_pushdown::ParseError;

/// Why a file did not become a pushdown system.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PdsError {
    /// The file could not be opened or read.
    #[error("{file}: {error}")]
    Io {
        /// The file.
        file: String,
        /// What the operating system said.
        #[source]
        error: io::Error,
    },
    /// The text is not what it should be at one place.
    #[error("{file}:{error}")]
    Syntax {
        /// The file.
        file: String,
        /// The place and the message.
        #[source]
        error: ParseError,
    },
}

impl PdsError {
    /// The file that the error is about.
    pub fn file(&self) -> &str {
        match self {
            PdsError::Io { file, .. } | PdsError::Syntax { file, .. } => file,
        }
    }

    /// The line, from 1, where there is one.
    pub fn line(&self) -> Option<usize> {
        self.place().map(|error| error.line)
    }

    /// The column in characters, from 1, where there is one.
    pub fn column(&self) -> Option<usize> {
        self.place().map(|error| error.column)
    }

    /// What is wrong, without the place.
    pub fn message(&self) -> String {
        match self {
            PdsError::Io { error, .. } => error.to_string(),
            PdsError::Syntax { error, .. } => error.message.clone(),
        }
    }

    /// The message with the line of the file that it is about, and a mark under the offending part.
    pub fn render(&self) -> String {
        let excerpt = self.place().map_or("", ParseError::excerpt);
        format!("{self}\n{excerpt}")
    }

    fn place(&self) -> Option<&ParseError> {
        match self {
            PdsError::Io { .. } => None,
            PdsError::Syntax { error, .. } => Some(error),
        }
    }
}
