//! Small rewritings of preprocessed text, so that the parser accepts it. Every byte stays where it is.

/// Blanks out what has no meaning here and is not understood by the parser: `__extension__`, `_Noreturn`, `__thread`,
/// attributes behind labels and on statements, and directives that the preprocessor left in place. A declaration
/// behind a label gets an empty statement in between, for which the blank after the colon is used.
///
/// Returns none if nothing had to change.
pub(crate) fn rewrite(text: &str) -> String {
    let mut out = text.as_bytes().to_vec();
    let mut tokens = Tokens { text, at: 0 };
    // The last two tokens, and how they could matter.
    let (mut previous, mut before): (&str, &str) = (";", ";");
    let mut questions = 0_usize;
    while let Some((start, token)) = tokens.next() {
        match token {
            "__extension__" | "__thread" | "_Thread_local" => blank(&mut out, start, start + token.len()),
            "__attribute__" | "__attribute" if matches!(previous, ":" | ";" | "{" | "}") => {
                let end = tokens.parentheses();
                let rest = text[end..].trim_start();
                // In front of a statement or `;`. In front of a declaration it stays: the parser knows it there.
                if previous == ":" || rest.starts_with(';') {
                    blank(&mut out, start, end);
                }
                continue;
            }
            "?" => questions += 1,
            ":" if questions > 0 => {
                questions -= 1;
                (before, previous) = (previous, "?:");
                continue;
            }
            ";" | "{" | "}" => questions = 0,
            _ if token.starts_with('#') => {
                let end = text[start..].find('\n').map_or(text.len(), |i| start + i);
                blank(&mut out, start, end);
                tokens.at = end;
                continue;
            }
            _ => {}
        }
        if previous == ":" && is_word(before) && starts_declaration(token) {
            // The byte in front of the declaration is a blank if the text is laid out as usual.
            if let Some(free) = start.checked_sub(1).filter(|i| out[*i].is_ascii_whitespace()) {
                if out[free] != b'\n' {
                    out[free] = b';';
                }
            }
        }
        if !matches!(token, "__extension__" | "__thread" | "_Thread_local") {
            (before, previous) = (previous, token);
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

fn blank(out: &mut [u8], start: usize, end: usize) {
    for byte in &mut out[start..end] {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && token != "default"
}

fn starts_declaration(token: &str) -> bool {
    matches!(
        token,
        "int"
            | "char"
            | "short"
            | "long"
            | "unsigned"
            | "signed"
            | "float"
            | "double"
            | "void"
            | "struct"
            | "union"
            | "enum"
            | "_Bool"
            | "const"
            | "static"
            | "volatile"
            | "register"
            | "extern"
    )
}

struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    /// Skips `( … )` and says where it ends.
    fn parentheses(&mut self) -> usize {
        let mut depth = 0_usize;
        while let Some((_, token)) = self.next() {
            match token {
                "(" => depth += 1,
                ")" => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        break;
                    }
                }
                _ if depth == 0 => break,
                _ => {}
            }
        }
        self.at
    }

    fn skip_quoted(&mut self, quote: u8) {
        let bytes = self.text.as_bytes();
        self.at += 1;
        while self.at < bytes.len() && bytes[self.at] != quote && bytes[self.at] != b'\n' {
            self.at += if bytes[self.at] == b'\\' { 2 } else { 1 };
        }
        self.at = (self.at + 1).min(bytes.len());
        while !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<(usize, &'a str)> {
        let bytes = self.text.as_bytes();
        while self.at < bytes.len() && bytes[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
        let start = self.at;
        let first = *bytes.get(start)?;
        match first {
            b'"' | b'\'' => self.skip_quoted(first),
            _ if first.is_ascii_alphanumeric() || first == b'_' => {
                while self.at < bytes.len()
                    && (bytes[self.at].is_ascii_alphanumeric() || bytes[self.at] == b'_')
                {
                    self.at += 1;
                }
            }
            _ => {
                self.at += 1;
                while !self.text.is_char_boundary(self.at) {
                    self.at += 1;
                }
            }
        }
        Some((start, &self.text[start..self.at]))
    }
}

/// Comments and continued lines turned into blanks, for text that no preprocessor has seen.
pub(crate) fn without_comments(text: &str) -> String {
    let mut out = text.as_bytes().to_vec();
    let mut at = 0;
    while at < out.len() {
        match out[at] {
            quote @ (b'"' | b'\'') => {
                at += 1;
                while at < out.len() && out[at] != quote && out[at] != b'\n' {
                    at += if out[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'/' if out.get(at + 1) == Some(&b'/') => {
                let end = out[at..].iter().position(|b| *b == b'\n').map_or(out.len(), |i| at + i);
                blank(&mut out, at, end);
                at = end;
            }
            b'/' if out.get(at + 1) == Some(&b'*') => {
                let close = out[at + 2..].windows(2).position(|w| w == b"*/");
                let end = close.map_or(out.len(), |i| at + i + 4);
                blank(&mut out, at, end);
                at = end;
            }
            _ => at += 1,
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_behind_labels_get_an_empty_statement() {
        assert_eq!(rewrite("{ l: int x; }"), "{ l:;int x; }");
        assert_eq!(rewrite("{ x = a ? b : c; }"), "{ x = a ? b : c; }");
        assert_eq!(rewrite("struct s { int a : 3; };"), "struct s { int a : 3; };");
    }

    #[test]
    fn words_without_meaning_are_blanked() {
        assert_eq!(rewrite("__extension__ int x;"), "              int x;");
        assert_eq!(
            rewrite("case 1: __attribute__((fallthrough)); x"),
            "case 1:                             ; x"
        );
        assert_eq!(rewrite("#pragma pack\nint x;"), "            \nint x;");
    }

    #[test]
    fn comments_become_blanks() {
        assert_eq!(without_comments("a /* b\nc */ d // e\n\"/*\""), "a     \n     d     \n\"/*\"");
    }
}
