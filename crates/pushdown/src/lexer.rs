//! Names and marks: the words of every text that mentions states and symbols.
//!
//! Names are runs of characters other than blanks and `< > , [ ] ^ . ( ) * + ? | # "`; any other
//! name goes between double quotes, with `\"` and `\\` for a quote and a backslash.

use std::borrow::Cow;
use std::ops::Range;

use crate::parse_error::ParseError;

/// A name, a mark, or the end of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token<'a> {
    /// A name, without its quotes.
    Name(Cow<'a, str>),
    /// One of the characters `< > , [ ] ^ . ( ) * + ? |`.
    Mark(char),
    /// The end of the text.
    End,
}

const MARKS: &str = "<>,[]^.()*+?|";

/// Cuts a text into names and marks; blanks and `#` comments only separate.
#[derive(Clone, Debug)]
pub struct Lexer<'a> {
    source: &'a str,
    at: usize,
    end: usize,
}

impl<'a> Lexer<'a> {
    /// A lexer for the bytes `range` of `source`.
    pub fn new(source: &'a str, range: Range<usize>) -> Self {
        Self { source, at: range.start, end: range.end }
    }

    /// The whole text, of which the lexer may read only a part.
    pub fn source(&self) -> &'a str {
        self.source
    }

    /// Where the next token is looked for.
    pub fn position(&self) -> usize {
        self.at
    }

    /// The next token and its bytes.
    pub fn token(&mut self) -> Result<(Token<'a>, Range<usize>), ParseError> {
        let mut rest = &self.source[self.at..self.end];
        loop {
            rest = rest.trim_start();
            if !rest.starts_with('#') {
                break;
            }
            rest = rest.find('\n').map_or("", |i| &rest[i..]);
        }
        let start = self.end - rest.len();
        let Some(c) = rest.chars().next() else {
            self.at = self.end;
            return Ok((Token::End, self.end..self.end));
        };
        let (token, length) = if MARKS.contains(c) {
            (Token::Mark(c), 1)
        } else if c == '"' {
            let (name, length) =
                quoted(rest).map_err(|message| ParseError::at(self.source, start..start + 1, message))?;
            (Token::Name(name), length)
        } else {
            let ends = |c: char| c.is_whitespace() || c == '"' || c == '#' || MARKS.contains(c);
            let length = rest.find(ends).unwrap_or(rest.len());
            (Token::Name(Cow::Borrowed(&rest[..length])), length)
        };
        self.at = start + length;
        Ok((token, start..start + length))
    }
}

/// Reads a text in double quotes from the start of `text`, which is a quote; also returns how many
/// bytes it takes.
pub fn quoted(text: &str) -> Result<(Cow<'_, str>, usize), &'static str> {
    let mut unescaped: Option<String> = None;
    let mut chars = text.char_indices().skip(1);
    while let Some((i, c)) = chars.next() {
        match c {
            '"' => {
                let name = unescaped.map_or(Cow::Borrowed(&text[1..i]), Cow::Owned);
                return Ok((name, i + 1));
            }
            '\n' => break,
            '\\' => {
                let name = unescaped.get_or_insert_with(|| text[1..i].to_owned());
                match chars.next() {
                    Some((_, c @ ('"' | '\\'))) => name.push(c),
                    _ => return Err("a backslash in quotes stands before `\"` or `\\`"),
                }
            }
            c => {
                if let Some(name) = &mut unescaped {
                    name.push(c);
                }
            }
        }
    }
    Err("this quote is not closed")
}
