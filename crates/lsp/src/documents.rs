//! Texts that are open in the editor, their names, and places in texts.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use wherefore_explain::model::Extent;

/// A text that is open.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// The name that the editor gives it.
    pub uri: String,
    /// Its file.
    pub path: PathBuf,
    /// The number of its version.
    pub version: i64,
    /// What is in the editor.
    pub text: String,
}

impl Document {
    /// The text, if it is not that of the file.
    pub fn unsaved(&self) -> Option<String> {
        let is_saved = std::fs::read(&self.path).is_ok_and(|bytes| bytes == self.text.as_bytes());
        (!is_saved).then(|| self.text.clone())
    }
}

/// Whether a file is one that is checked by itself: C, and not a header.
pub(crate) fn is_checked(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "c" || extension == "i")
}

/// The path of a `file:` name.
pub(crate) fn path_of(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    // An authority other than this machine is not a file of ours.
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    if !rest.starts_with('/') {
        return None;
    }
    let mut bytes = Vec::new();
    let mut letters = rest.bytes();
    while let Some(letter) = letters.next() {
        if letter != b'%' {
            bytes.push(letter);
            continue;
        }
        let digits = [letters.next()?, letters.next()?];
        let digits = std::str::from_utf8(&digits).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
    }
    Some(PathBuf::from(String::from_utf8(bytes).ok()?))
}

/// The `file:` name of a path.
pub(crate) fn uri_of(path: &Path) -> String {
    let mut uri = "file://".to_owned();
    for byte in path.to_string_lossy().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(byte as char);
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// A place in a text as the protocol counts: lines from 0, units of UTF-16 from 0.
pub(crate) fn position(text: &str, (line, column): (u32, u32)) -> Value {
    let line = line.saturating_sub(1);
    let content = text.split('\n').nth(line as usize).unwrap_or("").trim_end_matches('\r');
    let before = content.chars().take(column.saturating_sub(1) as usize);
    json!({ "line": line, "character": before.map(char::len_utf16).sum::<usize>() })
}

/// A part of a text as the protocol counts.
pub(crate) fn range(text: &str, extent: &Extent) -> Value {
    let end = extent.end.max(extent.start);
    json!({ "start": position(text, extent.start), "end": position(text, end) })
}

/// The whole of a line, from 1, without the blanks around it.
pub(crate) fn line_range(text: &str, line: u32) -> Value {
    let content = text.split('\n').nth(line.saturating_sub(1) as usize).unwrap_or("");
    let blanks = content.chars().take_while(|letter| letter.is_whitespace()).count() as u32;
    let length = content.trim_end().chars().count() as u32;
    let start = (line.max(1), blanks.min(length) + 1);
    range(text, &Extent { file: 0, start, end: (line.max(1), length + 1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_paths_and_back() {
        let path = Path::new("/tmp/a b/größe#1.c");
        assert_eq!(path_of(&uri_of(path)).as_deref(), Some(path));
        assert_eq!(path_of("file://localhost/x.c"), Some("/x.c".into()));
        for other in
            ["untitled:Untitled-1", "file://host/x.c", "file:///a%2", "file:///a%zz", "file:///%ff", ""]
        {
            assert_eq!(path_of(other), None, "{other}");
        }
    }

    #[test]
    fn columns_count_units_of_utf_16() {
        let text = "a\n\u{1F600}é x\r\n";
        assert_eq!(position(text, (2, 1)), json!({ "line": 1, "character": 0 }));
        assert_eq!(position(text, (2, 4)), json!({ "line": 1, "character": 4 }));
        assert_eq!(position(text, (2, 99)), json!({ "line": 1, "character": 5 }));
        assert_eq!(position(text, (9, 9)), json!({ "line": 8, "character": 0 }));
        let whole = json!({ "start": { "line": 1, "character": 0 }, "end": { "line": 1, "character": 5 } });
        assert_eq!(line_range(text, 2), whole);
    }
}
