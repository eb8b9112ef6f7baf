//! Markers in C texts that say which line of which file the next line is: `#line 12 "parser.y"`,
//! `# 12 "file.c" 2`.

/// The text without its markers, if it has any: places are those of the file at hand. The files that
/// markers name are not looked at: the text of a program could name any file.
///
/// A text that asks for its lines or its name (`__LINE__`, `__FILE__`) keeps its markers, for they
/// change what it means.
pub fn without_markers(text: &str) -> Option<String> {
    let matters = ["__LINE__", "__FILE__"].iter().any(|name| text.contains(name));
    let goes_on = |line: &str| is_marker(line) && line.trim_end().ends_with('\\');
    if matters || !text.lines().any(is_marker) || text.lines().any(goes_on) {
        return None;
    }
    let keep = |line| if is_marker(line) { "" } else { line };
    Some(text.lines().map(keep).collect::<Vec<_>>().join("\n") + "\n")
}

/// A preprocessed text whose places are those of the file of this name.
pub fn placed_in(name: &str, text: &str) -> String {
    let keep = |line| if is_marker(line) { "" } else { line };
    let lines: Vec<&str> = text.lines().map(keep).collect();
    format!("{}{}\n", first_line_of(name), lines.join("\n"))
}

/// A marker: the next line is the first one of a file.
pub fn first_line_of(name: &str) -> String {
    format!("# 1 \"{}\"\n", name.replace('\\', "\\\\").replace('"', "\\\""))
}

fn is_marker(line: &str) -> bool {
    let rest = line.trim_start().strip_prefix('#').map(str::trim_start);
    let rest = rest.map(|rest| rest.strip_prefix("line").unwrap_or(rest).trim_start());
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_become_empty_lines() {
        let text = "# 1 \"a.c\"\nint x;\n#line 7\n#define X 1\n";
        assert_eq!(without_markers(text).unwrap(), "\nint x;\n\n#define X 1\n");
        assert_eq!(without_markers("int x;\n"), None);
        assert_eq!(without_markers("# 3 \"y\"\nint x = __LINE__;\n"), None);
        assert_eq!(placed_in("b\"c.i", "# 9 \"y\"\nint x;"), "# 1 \"b\\\"c.i\"\n\nint x;\n");
    }
}
