//! Places of a program as places of its text.

use wherefore_program::{LocationKind, Node, Program, Span};

use crate::model::{Extent, Line};

/// The part of the text that a span covers. Blanks at its end do not count.
pub(crate) fn extent(program: &Program, span: Span) -> Extent {
    let source = program.source(span);
    let text = source.slice(span);
    let end = span.start + text.trim_end().len() as u32;
    let (start, end) = (source.position(span.start), source.position(end));
    Extent { file: span.file.0 as usize, start: (start.line, start.column), end: (end.line, end.column) }
}

/// The line of a location.
pub(crate) fn line(program: &Program, node: Node) -> Option<Line> {
    let location = program.location(node);
    if location.kind == LocationKind::Model {
        return None;
    }
    let span = location.span;
    program.line(node).map(|line| Line { file: span.file.0 as usize, line })
}

/// The text of a span on one line, without comments, and without a brace or semicolon at its end.
pub(crate) fn one_line(program: &Program, span: Span) -> String {
    let text = program.source(span).slice(span);
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        let (before, comment) = rest.split_at(at);
        kept.push_str(before);
        rest = if comment.starts_with("//") {
            comment.find('\n').map_or("", |end| &comment[end..])
        } else if comment.starts_with("/*") {
            comment.find("*/").map_or("", |end| &comment[end + 2..])
        } else {
            kept.push('/');
            &comment[1..]
        };
    }
    kept.push_str(rest);
    let words: Vec<&str> = kept.split_whitespace().collect();
    words.join(" ").trim_end_matches(['{', ';', ' ']).to_owned()
}
