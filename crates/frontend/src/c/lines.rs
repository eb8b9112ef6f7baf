//! From places in preprocessed text back to the files that a person wrote.

use std::fs;

use rustc_hash::{FxHashMap, FxHashSet};
use wherefore_program::{FileId, SourceFile, Span, from_bytes, shown};

use super::quotable::{Quotable, Shown};
use super::witness::Change;

/// The files that spans refer to. A file is read when a span first leads to it, if it may be
/// quoted.
#[derive(Default)]
pub(crate) struct Sources {
    pub(crate) files: Vec<SourceFile>,
    pub(crate) quotable: Quotable,
    known: FxHashMap<String, Option<FileId>>,
    /// Files of which only places are shown.
    hidden: FxHashSet<FileId>,
    /// What was put into files before they were read.
    pub(crate) changes: FxHashMap<FileId, Vec<Change>>,
}

impl Sources {
    /// Adds a text under its name.
    pub(crate) fn add(&mut self, name: &str, text: &str) -> FileId {
        let id = FileId(self.files.len() as u32);
        self.files.push(SourceFile::new(name, shown(text)));
        self.known.insert(name.to_owned(), Some(id));
        id
    }

    /// Has a file found under another name too.
    pub(crate) fn also_named(&mut self, name: &str, file: FileId) {
        self.known.insert(name.to_owned(), Some(file));
    }

    /// Whether only the places of a file are shown.
    pub(crate) fn is_hidden(&self, file: FileId) -> bool {
        self.hidden.contains(&file)
    }

    /// The file of this name, if the program was read from it.
    fn find(&mut self, name: &str) -> Option<FileId> {
        if let Some(found) = self.known.get(name) {
            return *found;
        }
        let extent = self.quotable.shown(name);
        let bytes = if extent == Shown::Nothing { None } else { fs::read(name).ok() };
        let Some(bytes) = bytes else {
            self.known.insert(name.to_owned(), None);
            return None;
        };
        let text = from_bytes(&bytes);
        if extent == Shown::All {
            return Some(self.add(name, &text));
        }
        let lines: String = text.chars().filter(|c| *c == '\n').collect();
        let id = self.add(name, &lines);
        self.hidden.insert(id);
        Some(id)
    }

    /// A line of a file without the blanks around it.
    fn line(&self, file: FileId, line: u32) -> Option<Span> {
        let source = &self.files[file.0 as usize];
        let text = source.line(line)?;
        let start = text.as_ptr() as usize - source.text().as_ptr() as usize;
        let lead = text.len() - text.trim_start().len();
        Some(Span::new(file, start + lead, start + text.trim_end().len()))
    }
}

/// One line of a preprocessed text.
struct Line {
    start: usize,
    /// The file named by the marker above it, by its position in [`LineTable::names`].
    name: u32,
    number: u32,
}

/// The lines of one preprocessed text.
pub(crate) struct LineTable {
    main: FileId,
    text: String,
    names: Vec<String>,
    lines: Vec<Line>,
    /// What each rewriting added, the last one first, in offsets of its result: where, how many
    /// bytes, and how many before.
    added: Vec<Vec<(usize, usize, usize)>>,
}

impl LineTable {
    /// Takes note of what a rewriting added to the text, or to the result of the one before.
    pub(crate) fn with_added(mut self, added: Vec<(usize, usize)>) -> Self {
        let mut shift = 0;
        let mut list = Vec::with_capacity(added.len());
        for (at, length) in added {
            list.push((at, length, shift));
            shift += length;
        }
        self.added.insert(0, list);
        self
    }

    /// The place in the text of a place in what was parsed.
    pub(crate) fn original(&self, offset: usize) -> usize {
        self.added.iter().fold(offset, |offset, added| {
            let before = added.partition_point(|(at, _, _)| *at < offset);
            let Some((at, length, shift)) = before.checked_sub(1).map(|i| added[i]) else { return offset };
            offset - (shift + length.min(offset - at))
        })
    }

    /// A text whose places are those of the file itself.
    pub(crate) fn identity(main: FileId, text: &str) -> Self {
        Self { main, text: text.to_owned(), names: Vec::new(), lines: Vec::new(), added: Vec::new() }
    }

    /// A text with markers `# 12 "file.c"`; places without one belong to `main`.
    pub(crate) fn with_markers(main: FileId, text: &str) -> Self {
        let mut table = Self {
            main,
            text: text.to_owned(),
            names: vec![String::new()],
            lines: Vec::new(),
            added: Vec::new(),
        };
        let mut indices: FxHashMap<String, u32> = FxHashMap::default();
        let (mut name, mut number, mut start) = (0, 1, 0);
        for line in text.split_inclusive('\n') {
            match marker(line) {
                Some((next, file)) => {
                    let fresh = table.names.len() as u32;
                    name = *indices.entry(file.clone()).or_insert(fresh);
                    if name == fresh {
                        table.names.push(file);
                    }
                    number = next;
                    table.lines.push(Line { start, name: 0, number: 0 });
                }
                None => {
                    table.lines.push(Line { start, name, number });
                    number += 1;
                }
            }
            start += line.len();
        }
        table
    }

    /// The place in a file that the bytes from `start` to `end` come from: exact where the line is
    /// unchanged, else the whole line.
    pub(crate) fn span(&self, sources: &mut Sources, start: usize, end: usize) -> Span {
        self.place_between(sources, self.original(start), self.original(end))
    }

    /// The same for bytes of the text before it was rewritten.
    pub(crate) fn place_of(&self, sources: &mut Sources, start: usize, length: usize) -> Span {
        self.place_between(sources, start, start + length)
    }

    fn place_between(&self, sources: &mut Sources, start: usize, end: usize) -> Span {
        if self.lines.is_empty() {
            return Span::new(self.main, start.min(self.text.len()), end.min(self.text.len()));
        }
        let first = self.place(sources, start);
        let last = if end > start + 1 { self.place(sources, end - 1) } else { first };
        if last.file == first.file && last.start >= first.start {
            Span { end: last.end.max(first.end), ..first }
        } else {
            first
        }
    }

    /// The attributes of the structure that is defined from `start` to `end`: in front of its
    /// members, and behind them. The text between two places, with its blanks and directives
    /// normalised.
    pub(crate) fn words(&self, start: usize, end: usize) -> String {
        let inside = self.text.get(self.original(start)..self.original(end)).unwrap_or("");
        let lines = inside.lines().filter(|line| !line.trim_start().starts_with('#'));
        lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn attributes_around(&self, start: usize, end: usize) -> String {
        let behind = self.end_of_attributes(start, end);
        let (start, end) = (self.original(start), self.original(end));
        let inside = self.text.get(start..end).unwrap_or("");
        let head = &inside[..inside.find('{').unwrap_or(0)];
        let tail = start + inside.rfind('}').map_or(inside.len(), |i| i + 1);
        format!("{head}{}", self.text.get(tail..behind).unwrap_or("").trim())
    }

    /// Where the attributes right behind the braces of a definition end, in what was read.
    pub(crate) fn end_of_attributes(&self, start: usize, end: usize) -> usize {
        let (start, end) = (self.original(start), self.original(end));
        let inside = self.text.get(start..end).unwrap_or("");
        let mut at = start + inside.rfind('}').map_or(inside.len(), |i| i + 1);
        loop {
            let rest = self.text.get(at..).unwrap_or("");
            let tail = rest.trim_start();
            if !tail.starts_with("__attribute") {
                return at;
            }
            let mut depth = 0;
            let mut length = tail.len();
            for (i, c) in tail.char_indices() {
                match c {
                    '(' => depth += 1,
                    ')' if depth == 1 => {
                        length = i + 1;
                        break;
                    }
                    ')' => depth -= 1,
                    _ => {}
                }
            }
            at += rest.len() - tail.len() + length;
        }
    }

    /// The end of the parenthesis that closes behind `offset`, if one does.
    pub(crate) fn close(&self, offset: usize) -> usize {
        let rest = self.text.get(self.original(offset)..).unwrap_or("");
        let blank = rest.len() - rest.trim_start().len();
        if rest[blank..].starts_with(')') { offset + blank + 1 } else { offset }
    }

    /// The end of what stands between `start` and the body at `body`, without blanks.
    pub(crate) fn head_end(&self, start: usize, body: usize) -> usize {
        let head = self.text.get(self.original(start)..self.original(body)).unwrap_or("");
        let blanks = head.len() - head.trim_end().len();
        body.saturating_sub(blanks).max(start)
    }

    /// The place of one byte, or its line.
    fn place(&self, sources: &mut Sources, offset: usize) -> Span {
        let index = self.lines.partition_point(|line| line.start <= offset).saturating_sub(1);
        let line = &self.lines[index];
        let fallback = Span::new(self.main, 0, 0);
        if line.number == 0 {
            return fallback;
        }
        let Some(file) = sources.find(&self.names[line.name as usize]) else { return fallback };
        let Some(trimmed) = sources.line(file, line.number) else { return fallback };
        let end = self.lines.get(index + 1).map_or(self.text.len(), |next| next.start);
        let here = self.text[line.start..end].trim_end_matches(['\n', '\r']);
        let source = &sources.files[file.0 as usize];
        let original = source.line(line.number).unwrap_or("");
        let column = original.as_ptr() as usize - source.text().as_ptr() as usize;
        let within = offset - line.start;
        let exact = |within: usize| {
            let at = column + within.min(original.len());
            Span::new(file, at, at + 1)
        };
        if is_unchanged(here, original) {
            return exact(within);
        }
        let changes = sources.changes.get(&file).map(Vec::as_slice).unwrap_or_default();
        let inside = |change: &&Change| (column..=column + original.len()).contains(&change.at);
        let mut changed = original.to_owned();
        for change in changes.iter().filter(inside).rev() {
            changed.insert_str(change.at - column, &change.text);
        }
        if is_unchanged(here, &changed) {
            let mut added = 0;
            for change in changes.iter().filter(inside) {
                let start = change.at - column + added;
                if within < start {
                    break;
                }
                // What was put there belongs to what stands behind it.
                added += change.text.len().min(within - start);
            }
            return exact(within - added);
        }
        trimmed
    }
}

/// Whether a line of preprocessed text is a line of the source, but for a comment at its end.
fn is_unchanged(here: &str, original: &str) -> bool {
    if here == original || shown(here) == original {
        return true;
    }
    let rest = original.strip_prefix(here.trim_end());
    rest.is_some_and(|rest| rest.trim_start().starts_with("//") || rest.trim_start().starts_with("/*"))
}

/// The line and the file of a marker.
fn marker(line: &str) -> Option<(u32, String)> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("line").unwrap_or(rest).trim_start();
    let (number, rest) = rest.split_once([' ', '\t'])?;
    let number = number.parse().ok()?;
    let quoted = rest.trim_start().strip_prefix('"')?;
    let mut name = String::new();
    let mut characters = quoted.chars();
    loop {
        match characters.next()? {
            '"' => return Some((number, name)),
            '\\' => name.push(characters.next()?),
            other => name.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_name_a_line_and_a_file() {
        assert_eq!(marker("# 12 \"a \\\"b\\\".c\" 2 3\n"), Some((12, "a \"b\".c".to_owned())));
        assert_eq!(marker("#line 3 \"x.c\"\n"), Some((3, "x.c".to_owned())));
        assert_eq!(marker("#pragma once\n"), None);
        assert_eq!(marker("int x;\n"), None);
    }

    #[test]
    fn unchanged_lines_keep_columns_and_expanded_ones_become_the_line() {
        let mut sources = Sources::default();
        let file = sources.add("a.c", "#define X 1\nint a;\n  int b = X;\n");
        let text = "# 1 \"a.c\"\n\nint a;\n  int b = 1;\n";
        let table = LineTable::with_markers(file, text);
        let at = text.find("a;").unwrap();
        let span = table.span(&mut sources, at, at + 1);
        assert_eq!(sources.files[0].slice(span), "a");
        let at = text.find("= 1").unwrap();
        let span = table.span(&mut sources, at, at + 3);
        assert_eq!(sources.files[0].slice(span), "int b = X;");
    }

    #[test]
    fn comments_at_the_end_and_what_was_put_in_keep_columns() {
        let mut sources = Sources::default();
        let original = "a = b; // why\nwhile (c) d++;\n";
        let file = sources.add("a.c", original);
        let at = original.find("c)").unwrap();
        let put = [(at, "f(x), ("), (at + 1, ")")];
        let put = put.map(|(at, text)| Change { at, text: text.to_owned() });
        sources.changes.insert(file, put.to_vec());
        let text = "# 1 \"a.c\"\na = b;\nwhile (f(x), (c)) d++;\n";
        let table = LineTable::with_markers(file, text);
        for (words, found) in [("b;", "b;"), ("c)", "c)"), ("d++", "d++"), ("while", "while")] {
            let at = text.find(words).unwrap();
            let span = table.span(&mut sources, at, at + found.len());
            assert_eq!(sources.files[0].slice(span), found, "{words}");
        }
    }
}
