//! Lines of a log, matched with the texts that calls of functions like `printf` write.

use wherefore_program::{LocationKind, Node, Program};

use crate::evidence::{Clue, MOST_IN_ORDER, Origin, Place};
use crate::lines::{is_model, is_start};

/// Functions that write a line to a log, and take a format.
const FUNCTIONS: [&str; 14] = [
    "printf", "fprintf", "vprintf", "vfprintf", "dprintf", "puts", "fputs", "perror", "syslog", "warn",
    "warnx", "err", "errx", "error",
];

/// A place that writes to a log.
struct Writer {
    place: Place,
    pattern: Pattern,
}

/// The parts of a text that are always the same, in order.
struct Pattern {
    parts: Vec<String>,
}

/// What a log tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Logged {
    /// The lines that were matched, in order.
    pub clues: Vec<Clue>,
    /// How many lines match nothing.
    pub unmatched: usize,
    /// How many lines were matched and left out, since there are too many.
    pub left_out: usize,
}

/// Matches the lines of a log with the program. `functions` also write to the log.
pub fn logged(program: &Program, text: &str, functions: &[String]) -> Logged {
    let writers = writers(program, functions);
    let mut logged = Logged::default();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        let fitting: Vec<&Writer> = writers.iter().filter(|writer| writer.pattern.matches(line)).collect();
        // What says most about the line is meant.
        let most = fitting.iter().map(|writer| writer.pattern.length()).max();
        let mut places: Vec<Place> = fitting
            .iter()
            .filter(|writer| Some(writer.pattern.length()) == most)
            .map(|writer| writer.place.clone())
            .collect();
        places.sort_unstable();
        places.dedup();
        match places.is_empty() {
            true => logged.unmatched += 1,
            false => logged.clues.push(Clue { places, origin: Origin::Log(number) }),
        }
    }
    // The last lines are nearest to the crash.
    let left_out = logged.clues.len().saturating_sub(MOST_IN_ORDER);
    logged.clues.drain(..left_out);
    logged.left_out = left_out;
    logged
}

fn writers(program: &Program, functions: &[String]) -> Vec<Writer> {
    let mut found = Vec::new();
    for (procedure, body) in program.procedures() {
        if is_start(program, procedure) || is_model(program, procedure) {
            continue;
        }
        for location in body.location_ids() {
            let node = Node { procedure, location };
            let at = program.location(node);
            if matches!(at.kind, LocationKind::Exit | LocationKind::Error) {
                continue;
            }
            let source = program.source(at.span);
            let text = source.slice(at.span);
            for (offset, format) in formats(text, functions) {
                let line = source.position(at.span.start + offset as u32).line;
                // The line of the statement is where runs come to it.
                let line = line.min(program.position(at.span).line);
                let pattern = Pattern::of(&format);
                if pattern.length() > 0 {
                    found.push(Writer { place: (source.name().to_owned(), line), pattern });
                }
            }
        }
    }
    found
}

/// The texts that calls in a statement write, and where the calls are.
fn formats(text: &str, functions: &[String]) -> Vec<(usize, String)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let names = FUNCTIONS.iter().copied().chain(functions.iter().map(String::as_str));
    let mut found = Vec::new();
    for name in names {
        for (at, _) in text.match_indices(name) {
            let rest = text[at + name.len()..].trim_start();
            let is_call = rest.starts_with('(') && !text[..at].ends_with(is_word);
            if let (true, Some(literal)) = (is_call, literal(rest)) {
                found.push((at, literal));
            }
        }
    }
    found
}

/// The first string literal of the arguments, with those right behind it.
fn literal(text: &str) -> Option<String> {
    let start = text.find('"')?;
    let mut literal = String::new();
    let mut rest = &text[start..];
    while let Some(inside) = rest.strip_prefix('"') {
        let mut chars = inside.char_indices();
        let end = loop {
            match chars.next()? {
                (at, '"') => break at,
                (_, '\\') => match chars.next()?.1 {
                    'n' => literal.push('\n'),
                    't' => literal.push('\t'),
                    '"' => literal.push('"'),
                    '\\' => literal.push('\\'),
                    // Others are rare in a log: anything may stand there.
                    _ => literal.push_str("%s"),
                },
                (_, c) => literal.push(c),
            }
        };
        rest = inside[end + 1..].trim_start();
    }
    Some(literal)
}

impl Pattern {
    fn of(format: &str) -> Self {
        let mut parts = vec![String::new()];
        let mut chars = format.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '%' if chars.peek() == Some(&'%') => {
                    chars.next();
                    parts.last_mut().expect("there is one").push('%');
                }
                '%' => {
                    // Flags, width, precision and length end with a letter that is a conversion.
                    for next in chars.by_ref() {
                        if next.is_ascii_alphabetic() && !"hlLqjzt".contains(next) {
                            break;
                        }
                    }
                    parts.push(String::new());
                }
                '\n' | '\r' => parts.push(String::new()),
                c => parts.last_mut().expect("there is one").push(c),
            }
        }
        Self {
            parts: parts
                .into_iter()
                .map(|part| part.trim().to_owned())
                .filter(|part| !part.is_empty())
                .collect(),
        }
    }

    /// How many letters and digits are always the same.
    fn length(&self) -> usize {
        let count: usize =
            self.parts.iter().map(|part| part.chars().filter(|c| c.is_alphanumeric()).count()).sum();
        // Less than this says nothing.
        if count < 2 { 0 } else { count }
    }

    fn matches(&self, line: &str) -> bool {
        let mut rest = line;
        self.parts.iter().all(|part| match rest.find(part.as_str()) {
            Some(at) => {
                rest = &rest[at + part.len()..];
                true
            }
            None => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_become_patterns() {
        let call = r#"if (fprintf(stderr, "user %-8s has " "%5.2f%%\n", name, x) < 0)"#;
        let found = formats(call, &[]);
        assert_eq!(found[0].1, "user %-8s has %5.2f%%\n");
        let pattern = Pattern::of(&found[0].1);
        assert_eq!(pattern.parts, ["user", "has", "%"]);
        assert!(pattern.matches("12:00:01 user me       has  3.50%"));
        assert!(!pattern.matches("has user 1"));
        assert!(formats("my_printf(\"no\")", &[]).is_empty());
        assert_eq!(formats("log_it(3, \"yes\\t%d\")", &["log_it".to_owned()])[0].1, "yes\t%d");
        assert_eq!(Pattern::of("%d\n").length(), 0);
    }
}
