//! Text inside HTML, and JSON inside a script of HTML.

use serde_json::Value;

/// A text as the content of an element or of a quoted attribute. Letters that HTML does not allow
/// are replaced.
pub(super) fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(letter),
            letter if letter.is_control() => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

/// JSON that can stand in a script element: no `<`, so that nothing in it ends the script or opens
/// a comment.
pub(super) fn script(value: &Value) -> String {
    let text = value.to_string();
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            // Outside of strings, JSON has none of these.
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_does_not_end_early_and_stays_the_same_json() {
        let value = serde_json::json!({ "</script><!--": ["<b>&\u{2028}\u{2029}\"\\"] });
        let text = script(&value);
        assert!(!text.contains('<') && !text.contains('\u{2028}'));
        assert_eq!(serde_json::from_str::<Value>(&text).expect("it is JSON"), value);
    }

    #[test]
    fn text_has_no_tags() {
        assert_eq!(html("<a b=\"c\">&'\u{0}"), "&lt;a b=&quot;c&quot;&gt;&amp;&#39;\u{fffd}");
    }
}
