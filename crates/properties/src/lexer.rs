//! The words of a file of rules.

use crate::error::PropertyError;

/// A word, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name; with `*` in it, or alone `_`.
    Word(String),
    /// `$name`.
    Variable(String),
    Number(i64),
    Text(String),
    /// `->`, `...`, or a sign.
    Sign(&'static str),
    End,
}

impl Kind {
    /// The word as messages quote it.
    pub(crate) fn words(&self) -> String {
        match self {
            Kind::Word(word) => format!("`{word}`"),
            Kind::Variable(name) => format!("`${name}`"),
            Kind::Number(number) => format!("`{number}`"),
            Kind::Text(_) => "a text in quotes".to_owned(),
            Kind::Sign(sign) => format!("`{sign}`"),
            Kind::End => "the end of the file".to_owned(),
        }
    }
}

const SIGNS: [&str; 22] = [
    "...", "->", "==", "!=", "<=", ">=", "&&", "||", "=", "<", ">", "!", "(", ")", ",", ":", ";", "|", "*",
    "-", "{", "}",
];

/// Cuts a text into words.
pub(crate) fn tokens(file: &str, text: &str) -> Result<Vec<Token>, PropertyError> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let characters: Vec<char> = line.chars().collect();
        let mut at = 0;
        let place = |column: usize| (number as u32 + 1, column as u32 + 1);
        let fail = |column: usize, message: String| PropertyError {
            file: file.to_owned(),
            line: number as u32 + 1,
            column: column as u32 + 1,
            message,
        };
        while at < characters.len() {
            let start = at;
            let rest = &characters[at..];
            let first = rest[0];
            if first.is_whitespace() {
                at += 1;
                continue;
            }
            if first == '#' || (first == '/' && rest.get(1) == Some(&'/')) {
                break;
            }
            let is_word = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
            let word_of = |from: &[char], stars: bool| -> String {
                from.iter().take_while(|c| is_word(c) || (stars && **c == '*')).collect()
            };
            let starts_glob = first == '*' && rest.get(1).is_some_and(is_word);
            let kind = if first == '$' {
                let name = word_of(&rest[1..], false);
                if name.is_empty() {
                    return Err(fail(start, "expected a name behind `$`".to_owned()));
                }
                at += 1 + name.len();
                Kind::Variable(name)
            } else if first.is_ascii_digit() {
                let digits = word_of(rest, false);
                at += digits.len();
                let number = match digits.strip_prefix("0x") {
                    Some(hexadecimal) => i64::from_str_radix(hexadecimal, 16),
                    None => digits.parse(),
                };
                Kind::Number(number.map_err(|_| fail(start, format!("`{digits}` is no number")))?)
            } else if is_word(&first) || starts_glob {
                let word = word_of(rest, true);
                at += word.len();
                Kind::Word(word)
            } else if first == '"' {
                let (text, length) =
                    quoted(rest).ok_or_else(|| fail(start, "the text has no end on this line".to_owned()))?;
                at += length;
                Kind::Text(text)
            } else {
                let starts = |sign: &&&str| {
                    sign.chars()
                        .zip(rest.iter().map(Some).chain(std::iter::repeat(None)))
                        .all(|(a, b)| b == Some(&a))
                };
                let sign = SIGNS.iter().find(starts);
                let sign = sign.ok_or_else(|| fail(start, format!("`{first}` has no meaning here")))?;
                at += sign.len();
                Kind::Sign(sign)
            };
            let (line, column) = place(start);
            found.push(Token { kind, line, column });
        }
    }
    let line = text.lines().count().max(1) as u32;
    let column = text.lines().last().map_or(0, |line| line.chars().count()) as u32 + 1;
    found.push(Token { kind: Kind::End, line, column });
    Ok(found)
}

/// A text in quotes, and how many characters it takes.
fn quoted(rest: &[char]) -> Option<(String, usize)> {
    let mut text = String::new();
    let mut at = 1;
    loop {
        match rest.get(at)? {
            '"' => return Some((text, at + 1)),
            '\\' => {
                text.push(*rest.get(at + 1)?);
                at += 2;
            }
            other => {
                text.push(*other);
                at += 1;
            }
        }
    }
}
