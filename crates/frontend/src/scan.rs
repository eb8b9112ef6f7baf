//! From characters to tokens, for all program languages.

use std::ops::Range;

use crate::diagnostics::Reporter;

/// What sets the tokens of one language apart.
pub(crate) struct Lexis {
    /// Symbols; where one begins another, the longer comes first.
    pub(crate) symbols: &'static [&'static str],
    /// Whether `{…}` without blanks is a name.
    pub(crate) braced_names: bool,
    /// Whether `#` starts a comment, as `//` does.
    pub(crate) hash_comments: bool,
}

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// A word, or a name in braces.
    Name(&'a str),
    /// A number; one that is too large is the largest.
    Number(u64),
    /// A symbol of the language.
    Symbol(&'static str),
    /// The inside of a string in double quotes.
    Text(&'a str),
    /// The end of the text.
    End,
}

impl Token<'_> {
    pub(crate) fn describe(&self) -> String {
        match self {
            Token::Name(name) => format!("`{name}`"),
            Token::Number(number) => format!("`{number}`"),
            Token::Symbol(symbol) => format!("`{symbol}`"),
            Token::Text(_) => "a string".to_owned(),
            Token::End => "the end of the file".to_owned(),
        }
    }
}

/// All tokens with their places, the end included. What is no token is reported and left out.
pub(crate) fn tokens<'a>(
    text: &'a str,
    lexis: &Lexis,
    reporter: &mut Reporter<'_>,
) -> Vec<(Token<'a>, Range<usize>)> {
    let mut tokens = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        let start = at;
        let byte = bytes[at];
        if byte.is_ascii_whitespace() {
            at += 1;
        } else if rest.starts_with("//") || (lexis.hash_comments && byte == b'#') {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if let Some(inside) = rest.strip_prefix("/*") {
            match inside.find("*/") {
                Some(end) => at += end + 4,
                None => {
                    reporter.error(start..start + 2, "the comment does not end");
                    at = bytes.len();
                }
            }
        } else if byte.is_ascii_alphabetic() || byte == b'_' {
            at += rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            tokens.push((Token::Name(&text[start..at]), start..at));
        } else if byte.is_ascii_digit() {
            at += rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            tokens.push((number(&text[start..at], start..at, reporter), start..at));
        } else if byte == b'{' && lexis.braced_names && braced(rest).is_some() {
            at += braced(rest).unwrap_or(1);
            tokens.push((Token::Name(&text[start..at]), start..at));
        } else if let Some(symbol) = lexis.symbols.iter().find(|symbol| rest.starts_with(**symbol)) {
            at += symbol.len();
            tokens.push((Token::Symbol(symbol), start..at));
        } else if byte == b'"' {
            let inside = &rest[1..];
            match inside.find(['"', '\n']).filter(|end| inside.as_bytes()[*end] == b'"') {
                Some(end) => {
                    at += end + 2;
                    tokens.push((Token::Text(&inside[..end]), start..at));
                }
                None => {
                    reporter.error(start..start + 1, "the string does not end on its line");
                    at += inside.find('\n').unwrap_or(inside.len()) + 1;
                }
            }
        } else {
            let c = rest.chars().next().expect("the rest is not empty");
            at += c.len_utf8();
            reporter.error(start..at, format!("unexpected character `{}`", c.escape_default()));
        }
    }
    tokens.push((Token::End, text.len()..text.len()));
    tokens
}

/// The length of a name in braces at the start of the text.
fn braced(text: &str) -> Option<usize> {
    let end = text.find(|c: char| c == '}' || c.is_whitespace())?;
    (end > 1 && text[end..].starts_with('}')).then_some(end + 1)
}

fn number<'a>(text: &'a str, at: Range<usize>, reporter: &mut Reporter<'_>) -> Token<'a> {
    let parsed = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    Token::Number(parsed.unwrap_or_else(|_| {
        let digits = text.bytes().all(|b| b.is_ascii_digit());
        reporter.error(
            at,
            if digits { "the number is too large" } else { "this is neither a number nor a name" },
        );
        u64::MAX
    }))
}

/// A place in a list of tokens.
pub(crate) struct Cursor<'a> {
    tokens: Vec<(Token<'a>, Range<usize>)>,
    at: usize,
}

/// A syntax error, already reported: the caller looks for a place to go on.
#[derive(Debug)]
pub(crate) struct Reported;

impl<'a> Cursor<'a> {
    pub(crate) fn new(tokens: Vec<(Token<'a>, Range<usize>)>) -> Self {
        Self { tokens, at: 0 }
    }

    pub(crate) fn peek(&self) -> Token<'a> {
        self.tokens[self.at].0
    }

    /// The token `ahead` places on.
    pub(crate) fn peek_at(&self, ahead: usize) -> Token<'a> {
        self.tokens.get(self.at + ahead).map_or(Token::End, |(token, _)| *token)
    }

    /// The place of the next token.
    pub(crate) fn span(&self) -> Range<usize> {
        self.tokens[self.at].1.clone()
    }

    /// Where the last token ended.
    pub(crate) fn last_end(&self) -> usize {
        self.at.checked_sub(1).map_or(0, |last| self.tokens[last].1.end)
    }

    pub(crate) fn position(&self) -> usize {
        self.at
    }

    pub(crate) fn advance(&mut self) -> Token<'a> {
        let token = self.peek();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    pub(crate) fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self.peek(), Token::Symbol(next) if next == symbol)
    }

    pub(crate) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Name(next) if next == word)
    }

    pub(crate) fn eat_symbol(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(symbol);
        if found {
            self.advance();
        }
        found
    }

    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    pub(crate) fn fail<T>(&self, reporter: &mut Reporter<'_>, expected: &str) -> Result<T, Reported> {
        reporter.error(self.span(), format!("expected {expected}, found {}", self.peek().describe()));
        Err(Reported)
    }

    pub(crate) fn expect_symbol(
        &mut self,
        reporter: &mut Reporter<'_>,
        symbol: &str,
    ) -> Result<(), Reported> {
        if self.eat_symbol(symbol) { Ok(()) } else { self.fail(reporter, &format!("`{symbol}`")) }
    }

    pub(crate) fn expect_word(&mut self, reporter: &mut Reporter<'_>, word: &str) -> Result<(), Reported> {
        if self.eat_word(word) { Ok(()) } else { self.fail(reporter, &format!("`{word}`")) }
    }
}
