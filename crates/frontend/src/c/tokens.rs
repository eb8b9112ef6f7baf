//! The tokens of a text, as far as rewriting needs them.

pub(crate) fn blank(out: &mut [u8], start: usize, end: usize) {
    for byte in &mut out[start..end] {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

/// The tokens of a text with their places, one character each unless they are words, numbers or
/// quoted.
pub(crate) struct Tokens<'a> {
    pub(crate) text: &'a str,
    pub(crate) at: usize,
}

impl<'a> Tokens<'a> {
    /// Skips `( … )` and says where it ends.
    pub(crate) fn parentheses(&mut self) -> usize {
        let mut depth = 0_usize;
        for (_, token) in self.by_ref() {
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

    /// Where the initial value of the one variable that is declared starts and ends.
    pub(crate) fn initial_value(&mut self) -> Option<(usize, usize)> {
        self.next()?;
        self.next().filter(|(_, token)| *token == "=")?;
        let (start, mut depth) = (self.at, 0_usize);
        for (at, token) in self.by_ref() {
            match token {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.checked_sub(1)?,
                ";" if depth == 0 => return Some((start, at)),
                "," if depth == 0 => return None,
                _ => {}
            }
        }
        None
    }

    /// The places of `(`, `,` and `)` around two arguments.
    pub(crate) fn two_arguments(&mut self) -> Option<(usize, usize, usize)> {
        let (mut depth, mut open, mut comma) = (0_usize, None, None);
        for (at, token) in self.by_ref() {
            match token {
                "(" | "[" | "{" => {
                    open = open.or(Some(at));
                    depth += 1;
                }
                ")" | "]" | "}" => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some((open?, comma?, at));
                    }
                }
                "," if depth == 1 => comma = comma.or(Some(at)),
                _ if depth == 0 => return None,
                _ => {}
            }
        }
        None
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
