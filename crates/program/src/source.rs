//! Source texts and places in them.

use std::fmt;

/// A source file of a program, by its position in [`Program::sources`](crate::Program::sources).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A part of a source file, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The bytes from `start` to `end` of `file`.
    pub fn new(file: FileId, start: usize, end: usize) -> Self {
        Self { file, start: start as u32, end: end.max(start) as u32 }
    }

    /// The smallest span that holds both; both must be in one file.
    pub fn to(self, other: Span) -> Span {
        debug_assert_eq!(self.file, other.file);
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A line and a column, both from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A source text with its name and a table of its lines.
///
/// ```
/// use wherefore_program::SourceFile;
///
/// let file = SourceFile::new("a.bp", "decl x;\nvoid main()");
/// assert_eq!(file.position(8).to_string(), "2:1");
/// assert_eq!(file.line(1), Some("decl x;"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    name: String,
    text: String,
    line_starts: Vec<u32>,
}

impl SourceFile {
    /// A file called `name` that contains `text`.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let ends = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i as u32 + 1);
        let line_starts = std::iter::once(0).chain(ends).collect();
        Self { name: name.into(), text, line_starts }
    }

    /// The name, usually a path.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How many lines the text has; an empty text has one.
    pub fn line_count(&self) -> u32 {
        self.line_starts.len() as u32
    }

    /// The text of a line, counted from 1, without its end.
    pub fn line(&self, line: u32) -> Option<&str> {
        let index = line.checked_sub(1)? as usize;
        let start = *self.line_starts.get(index)? as usize;
        let end = self.line_starts.get(index + 1).map_or(self.text.len(), |end| *end as usize);
        Some(self.text[start..end].trim_end_matches(['\n', '\r']))
    }

    /// The position of a byte; one past the end is the end.
    pub fn position(&self, offset: u32) -> Position {
        let mut offset = (offset as usize).min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.line_starts.partition_point(|start| *start as usize <= offset);
        let start = self.line_starts[line - 1] as usize;
        let column = self.text[start..offset].chars().count() + 1;
        Position { line: line as u32, column: column as u32 }
    }

    /// The text of a span of this file.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_lines_end_anyhow() {
        let file = SourceFile::new("f", "äb\r\nc");
        assert_eq!(file.position(2), Position { line: 1, column: 2 });
        assert_eq!(file.position(5), Position { line: 2, column: 1 });
        assert_eq!(file.position(1), Position { line: 1, column: 1 });
        assert_eq!(file.position(99), Position { line: 2, column: 2 });
        assert_eq!((file.line(1), file.line(2), file.line(3)), (Some("äb"), Some("c"), None));
        assert_eq!(file.line(0), None);
    }
}
