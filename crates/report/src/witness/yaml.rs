//! The part of YAML that a witness needs. Every text is quoted, so that nothing in it has a
//! meaning.

use std::fmt;

/// A document or a part of one.
#[derive(Clone, Debug)]
pub(super) enum Yaml {
    Text(String),
    Number(u32),
    List(Vec<Yaml>),
    /// Keys of ours.
    Map(Vec<(&'static str, Yaml)>),
    /// Keys that are texts.
    Named(Vec<(String, Yaml)>),
}

/// A text.
pub(super) fn text(text: &str) -> Yaml {
    Yaml::Text(text.into())
}

impl Yaml {
    fn write(&self, out: &mut fmt::Formatter<'_>, indent: usize) -> fmt::Result {
        match self {
            Yaml::Text(text) => quote(out, text),
            Yaml::Number(number) => write!(out, "{number}"),
            Yaml::List(items) if items.is_empty() => out.write_str("[]"),
            Yaml::List(items) => {
                for (position, item) in items.iter().enumerate() {
                    if position > 0 {
                        write!(out, "\n{:indent$}", "")?;
                    }
                    out.write_str("- ")?;
                    item.write(out, indent + 2)?;
                }
                Ok(())
            }
            Yaml::Map(entries) => write_entries(out, indent, entries.iter(), |out, key| out.write_str(key)),
            Yaml::Named(entries) => write_entries(out, indent, entries.iter(), |out, key| quote(out, key)),
        }
    }

    fn is_nested(&self) -> bool {
        match self {
            Yaml::Text(_) | Yaml::Number(_) => false,
            Yaml::List(items) => !items.is_empty(),
            Yaml::Map(entries) => !entries.is_empty(),
            Yaml::Named(entries) => !entries.is_empty(),
        }
    }
}

fn write_entries<'a, K: 'a>(
    out: &mut fmt::Formatter<'_>,
    indent: usize,
    entries: impl ExactSizeIterator<Item = &'a (K, Yaml)>,
    write_key: impl Fn(&mut fmt::Formatter<'_>, &K) -> fmt::Result,
) -> fmt::Result {
    if entries.len() == 0 {
        return out.write_str("{}");
    }
    for (position, (key, value)) in entries.enumerate() {
        if position > 0 {
            write!(out, "\n{:indent$}", "")?;
        }
        write_key(out, key)?;
        out.write_str(":")?;
        if value.is_nested() {
            let inner = indent + 2;
            write!(out, "\n{:inner$}", "")?;
            value.write(out, inner)?;
        } else {
            out.write_str(" ")?;
            value.write(out, indent)?;
        }
    }
    Ok(())
}

/// A document, with a new line at its end.
impl fmt::Display for Yaml {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(out, 0)?;
        out.write_str("\n")
    }
}

fn quote(out: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    out.write_str("\"")?;
    for letter in text.chars() {
        match letter {
            '"' => out.write_str("\\\"")?,
            '\\' => out.write_str("\\\\")?,
            '\n' => out.write_str("\\n")?,
            '\t' => out.write_str("\\t")?,
            ' '..='~' => write!(out, "{letter}")?,
            // What some reader might not take as printable, or as the end of a line.
            letter if letter.is_alphabetic() || letter.is_numeric() => write!(out, "{letter}")?,
            letter if u32::from(letter) <= 0xffff => write!(out, "\\u{:04X}", u32::from(letter))?,
            letter => write!(out, "\\U{:08X}", u32::from(letter))?,
        }
    }
    out.write_str("\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_are_indented() {
        let list =
            Yaml::List(vec![Yaml::Map(vec![("a", Yaml::Number(1)), ("b", Yaml::List(vec![text("x")]))])]);
        assert_eq!(list.to_string(), "- a: 1\n  b:\n    - \"x\"\n");
        assert_eq!(Yaml::Map(vec![("content", Yaml::List(vec![]))]).to_string(), "content: []\n");
    }

    #[test]
    fn letters_with_a_meaning_are_escaped() {
        assert_eq!(
            text("a\"\\\n\u{85}\u{2028}\u{1F600}é").to_string(),
            "\"a\\\"\\\\\\n\\u0085\\u2028\\U0001F600é\"\n"
        );
    }
}
