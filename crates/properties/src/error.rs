//! Mistakes in a file of rules.

/// A mistake, with its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {message}")]
pub struct PropertyError {
    /// The name of the file, as it was given.
    pub file: String,
    /// The line, from 1 on.
    pub line: u32,
    /// The column in characters, from 1 on.
    pub column: u32,
    /// What is wrong, in words.
    pub message: String,
}
