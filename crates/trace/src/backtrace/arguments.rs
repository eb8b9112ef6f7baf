//! Values of arguments in a frame: `n=5, p=0x0, s=0x4 "abc", x=<optimized out>`.

/// A value as a debugger prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number, or a null pointer, at the time of the crash.
    Number(i128),
    /// A pointer that is not null.
    NotNull,
    /// A number that the argument had when the function was called (`n@entry=5`).
    AtEntry(i128),
    /// Something else: it is not looked at.
    Other(String),
}

/// The arguments between the parentheses of a frame.
pub(super) fn arguments(text: &str) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for part in split(text) {
        let Some((name, value)) = part.split_once('=') else { continue };
        let name = name.trim();
        // gdb: `n=n@entry=5` if the value is still that of the entry, `n@entry=5` if the other one
        // is not known.
        let now = value.strip_prefix(name).and_then(|rest| rest.strip_prefix("@entry="));
        match (now, name.strip_suffix("@entry")) {
            (Some(same), _) => found.push((name.to_owned(), self::value(same))),
            (None, Some(name)) => {
                let value = match self::value(value) {
                    Value::Number(number) => Value::AtEntry(number),
                    other => other,
                };
                found.push((name.to_owned(), value));
            }
            (None, None) => found.push((name.to_owned(), self::value(value))),
        }
    }
    found
}

/// Commas inside of brackets and quotes separate nothing.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0i32);
    let mut quote = None;
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if is_escaped => is_escaped = false,
            (Some(_), '\\') => is_escaped = true,
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '{' | '(' | '[' | '<') => depth += 1,
            (None, '}' | ')' | ']' | '>') => depth -= 1,
            (None, ',') if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

fn value(text: &str) -> Value {
    let text = text.trim();
    let other = || Value::Other(text.to_owned());
    // A pointer to a function or a text comes with what it points to.
    let word = text.split_whitespace().next().unwrap_or_default();
    if let Some(digits) = word.strip_prefix("0x") {
        return match i128::from_str_radix(digits, 16) {
            Ok(0) => Value::Number(0),
            Ok(_) => Value::NotNull,
            Err(_) => other(),
        };
    }
    match text {
        "true" => return Value::Number(1),
        "false" => return Value::Number(0),
        _ => {}
    }
    // `97 'a'`: a character has its number first; lldb leaves the number out.
    let rest = text[word.len()..].trim();
    match word.parse() {
        Ok(number) if rest.is_empty() || rest.starts_with('\'') => Value::Number(number),
        _ => match text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
            Some(inside) if inside.len() == 1 && inside != "\\" => {
                Value::Number(i128::from(inside.as_bytes()[0]))
            }
            _ => other(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_told_apart() {
        let found = arguments(
            "n=-5, p=0x0, q=0x7ffe, s=0x4006 \"a, b\", c=97 'a', x=<optimized out>, k=k@entry=3, m@entry=4, \
             st={a = 1, b = 2}, f=1.5, d='z'",
        );
        let values: Vec<Value> = found.iter().map(|(_, value)| value.clone()).collect();
        assert_eq!(found.len(), 11);
        assert_eq!(
            values[..5],
            [Value::Number(-5), Value::Number(0), Value::NotNull, Value::NotNull, Value::Number(97)]
        );
        assert!(matches!(&values[5], Value::Other(text) if text == "<optimized out>"));
        assert_eq!((&values[6], &values[7]), (&Value::Number(3), &Value::AtEntry(4)));
        assert_eq!(found[7].0, "m");
        assert!(matches!(&values[8], Value::Other(_)) && matches!(&values[9], Value::Other(_)));
        assert_eq!(values[10], Value::Number(122));
    }
}
