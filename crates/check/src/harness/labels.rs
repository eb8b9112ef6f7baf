//! Calls behind labels.

/// What is called when a label is reached.
pub(crate) const REACHED: &str = "__wherefore_reached";

/// A preprocessed text in which every one of the labels is followed by a call. Lines stay where
/// they are.
pub(crate) fn mark(text: &str, labels: &[String]) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    let bytes = text.as_bytes();
    // The last token, as far as it matters: a punctuation mark, or `a` for a word.
    let (mut at, mut last, mut line_start) = (0, b';', true);
    while at < bytes.len() {
        let start = at;
        let byte = bytes[at];
        match byte {
            b'\n' => {
                line_start = true;
                at += 1;
            }
            b' ' | b'\t' | b'\r' => at += 1,
            b'#' if line_start => {
                at = text[at..].find('\n').map_or(bytes.len(), |end| at + end);
            }
            b'/' if text[at..].starts_with("//") => {
                at = text[at..].find('\n').map_or(bytes.len(), |end| at + end);
            }
            b'/' if text[at..].starts_with("/*") => {
                at = text[at + 2..].find("*/").map_or(bytes.len(), |end| at + end + 4);
            }
            b'"' | b'\'' => {
                at += 1;
                while at < bytes.len() && bytes[at] != byte {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at = (at + 1).min(bytes.len());
                last = b'a';
            }
            _ if byte.is_ascii_alphanumeric() || byte == b'_' => {
                let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
                at += bytes[at..].iter().take_while(|byte| word(byte)).count();
                let name = &text[start..at];
                let colon = text[at..].len() - text[at..].trim_start().len() + at;
                let statement = matches!(last, b';' | b'{' | b'}' | b':' | b')');
                last = b'a';
                if statement && bytes.get(colon) == Some(&b':') && labels.iter().any(|label| label == name) {
                    out.push_str(&text[start..=colon]);
                    out.push_str(&format!(" {REACHED}(\"{name}\");"));
                    at = colon + 1;
                    last = b';';
                    continue;
                }
            }
            _ => {
                last = byte;
                at += text[at..].chars().next().map_or(1, char::len_utf8);
            }
        }
        if !byte.is_ascii_whitespace() {
            line_start = false;
        }
        at = at.min(bytes.len());
        out.push_str(&text[start..at]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_get_a_call_and_other_uses_of_the_name_do_not() {
        let labels = ["ERROR".to_owned()];
        let marked = |text: &str| mark(text, &labels);
        assert_eq!(marked("{ ERROR: x(); }"), "{ ERROR: __wherefore_reached(\"ERROR\"); x(); }");
        assert_eq!(marked("a: ERROR :\n}"), "a: ERROR : __wherefore_reached(\"ERROR\");\n}");
        for text in [
            "x = c ? ERROR : 1;",
            "case ERROR: f();",
            "struct { int ERROR : 3; };",
            "f(\"; ERROR: \", ';'); // ERROR:\n/* ; ERROR: */ goto ERROR;",
            "# 1 \"ERROR:\"\nXERROR: ERRORS: ;",
        ] {
            assert_eq!(marked(text), text);
        }
    }
}
