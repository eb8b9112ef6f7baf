//! The plain format: one rule a line, everything a number.
//!
//! ```text
//! pds STATES LABELS RULES
//! init P G            target P G            dead G        each at most once, in any order, before the rules
//! 0 p g q w           ⟨p, g⟩ → ⟨q, ε⟩ with weight w
//! 1 p g q a w         ⟨p, g⟩ → ⟨q, a⟩
//! 2 p g q a b w       ⟨p, g⟩ → ⟨q, a b⟩
//! ```
//!
//! Blank lines are skipped. `dead` names a label that no rule mentions; it is checked, and
//! otherwise not used.

use wherefore_pushdown::{Configuration, Names, ParseError, Rhs, State, Symbol, System};

/// States and labels that even the smallest file may declare; above it a file needs a byte for
/// each.
const FREE_NAMES: u64 = 1 << 20;

/// A system in the plain format.
pub(super) struct Plain {
    pub system: System<u64>,
    pub start: Option<Configuration>,
    pub target: Option<Configuration>,
}

/// Reads the plain format.
pub(super) fn read(text: &str) -> Result<Plain, ParseError> {
    let mut lines = Lines { text, bytes: text.as_bytes(), at: 0 };
    lines.skip_blank_lines();
    let word = lines.word();
    if word != "pds" {
        return lines.error_before(word.len(), "expected `pds`");
    }
    let states = lines.count("control states")?;
    let labels = lines.count("labels")?;
    let rules = lines.number("the number of rules", u64::MAX)?;
    let rules_at = lines.at;
    lines.end_of_line()?;
    let mut system = System::with_names(Names::numbered(states), Names::numbered(labels));
    system.reserve(usize::try_from(rules).unwrap_or(usize::MAX).min(text.len() / 9));
    let (states, labels) = (u64::from(states), u64::from(labels));
    let (mut start, mut target, mut dead) = (None, None, None);
    let mut read = 0u64;
    while lines.skip_blank_lines() {
        let kind = lines.word();
        let length = match kind {
            "0" => 0,
            "1" => 1,
            "2" => 2,
            "init" | "target" => {
                let slot = if kind == "init" { &mut start } else { &mut target };
                if slot.is_some() {
                    return lines.error_before(kind.len(), format!("`{kind}` is given twice"));
                }
                let state = State(lines.below("control state", states)?);
                let stack = vec![Symbol(lines.below("label", labels)?)];
                *slot = Some(Configuration { state, stack });
                lines.end_of_line()?;
                continue;
            }
            "dead" => {
                if dead.is_some() {
                    return lines.error_before(kind.len(), "`dead` is given twice");
                }
                dead = Some(lines.below("label", labels)?);
                lines.end_of_line()?;
                continue;
            }
            _ => {
                return lines.error_before(kind.len(), "expected `0`, `1`, `2`, `init`, `target` or `dead`");
            }
        };
        if read == rules {
            return lines.error_before(kind.len(), format!("more rules than the {rules} announced"));
        }
        let from = State(lines.below("control state", states)?);
        let symbol = Symbol(lines.below("label", labels)?);
        let to = State(lines.below("control state", states)?);
        let rhs = match length {
            0 => Rhs::Pop,
            1 => Rhs::Swap(Symbol(lines.below("label", labels)?)),
            _ => {
                let first = Symbol(lines.below("label", labels)?);
                Rhs::Push(first, Symbol(lines.below("label", labels)?))
            }
        };
        let weight = lines.number("a weight", u64::MAX)?;
        lines.end_of_line()?;
        system.add(from, symbol, to, rhs, weight);
        read += 1;
    }
    if read < rules {
        let message = format!("{rules} rules announced, but only {read} given");
        return Err(ParseError::at(text, rules_at - 1..rules_at, message));
    }
    Ok(Plain { system, start, target })
}

/// Whether a text is in the plain format: the word `pds` and three numbers.
pub(super) fn is_plain(text: &str) -> bool {
    let mut words = text.split_ascii_whitespace();
    words.next() == Some("pds")
        && (0..3).all(|_| words.next().is_some_and(|w| w.bytes().all(|b| b.is_ascii_digit())))
}

struct Lines<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

impl<'a> Lines<'a> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while self.peek().is_some_and(is_blank) {
            self.at += 1;
        }
    }

    /// Moves to the next line with something on it; false at the end of the file.
    fn skip_blank_lines(&mut self) -> bool {
        while self.peek().is_some_and(|b| is_blank(b) || b == b'\n') {
            self.at += 1;
        }
        self.at < self.bytes.len()
    }

    /// The next word of the line, empty at its end.
    fn word(&mut self) -> &'a str {
        self.skip_blanks();
        let start = self.at;
        while self.peek().is_some_and(|b| !is_blank(b) && b != b'\n') {
            self.at += 1;
        }
        // Words start and end beside ASCII characters, so at boundaries of characters.
        &self.text[start..self.at]
    }

    fn error_before<T>(&self, length: usize, message: impl Into<String>) -> Result<T, ParseError> {
        Err(ParseError::at(self.text, self.at - length..self.at, message))
    }

    #[inline]
    fn number(&mut self, what: &str, max: u64) -> Result<u64, ParseError> {
        self.skip_blanks();
        let start = self.at;
        let mut value = 0u64;
        let mut fits = true;
        while let Some(byte @ b'0'..=b'9') = self.peek() {
            let next = value.checked_mul(10).and_then(|v| v.checked_add(u64::from(byte - b'0')));
            fits &= next.is_some();
            value = next.unwrap_or(value);
            self.at += 1;
        }
        let ended = self.peek().is_none_or(|b| is_blank(b) || b == b'\n');
        if self.at > start && ended && fits && value <= max {
            return Ok(value);
        }
        self.at = start;
        self.bad_number(what, max)
    }

    #[cold]
    fn bad_number(&mut self, what: &str, max: u64) -> Result<u64, ParseError> {
        let word = self.word();
        let digits = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
        let message = match word {
            "" => format!("expected {what}, found the end of the line"),
            _ if digits => format!("{word} is too large for {what}: the largest is {max}"),
            _ => format!("expected {what}, found `{word}`"),
        };
        self.error_before(word.len(), message)
    }

    #[inline]
    fn below(&mut self, what: &str, bound: u64) -> Result<u32, ParseError> {
        let value = self.number(what, u64::MAX)?;
        if value >= bound {
            let length =
                self.at - self.bytes[..self.at].iter().rposition(|b| is_blank(*b)).map_or(0, |i| i + 1);
            return self.error_before(length, format!("unknown {what} {value}: there are {bound}"));
        }
        Ok(value as u32)
    }

    /// A number of names, in proportion to the file, so that a small file cannot ask for much
    /// memory.
    fn count(&mut self, what: &str) -> Result<u32, ParseError> {
        let max = (FREE_NAMES + self.bytes.len() as u64).min(u64::from(u32::MAX) / 2);
        Ok(self.number(&format!("the number of {what}"), max)? as u32)
    }

    #[inline]
    fn end_of_line(&mut self) -> Result<(), ParseError> {
        self.skip_blanks();
        match self.peek() {
            None => Ok(()),
            Some(b'\n') => {
                self.at += 1;
                Ok(())
            }
            Some(_) => {
                let word = self.word();
                self.error_before(word.len(), format!("expected the end of the line, found `{word}`"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "pds 2 3 3\ninit 0 0\ntarget 1 1\ndead 2\n1 0 0 1 1 4\n2 1 1 0 0 1 5\n\n0 0 0 1 6\n";

    #[test]
    fn the_three_kinds_of_rules_are_read() {
        let Plain { system, start, target } = read(SMALL).unwrap();
        let shown: Vec<String> = system.rules().map(|(r, _)| system.show_rule(r).to_string()).collect();
        assert_eq!(shown, ["<0, 0> -> <1, 1>", "<1, 1> -> <0, 0 1>", "<0, 0> -> <1,>"]);
        let weights: Vec<u64> = system.rules().map(|(r, _)| *system.weight(r)).collect();
        assert_eq!(weights, [4, 5, 6]);
        assert_eq!(start.unwrap(), Configuration { state: State(0), stack: vec![Symbol(0)] });
        assert_eq!(target.unwrap(), Configuration { state: State(1), stack: vec![Symbol(1)] });
    }

    #[test]
    fn every_malformed_line_has_its_place() {
        for (text, expected) in [
            ("pds 2 3", "1:8: expected the number of rules, found the end of the line"),
            ("pds 2 x 1", "1:7: expected the number of labels, found `x`"),
            ("pds 2 3 1 7", "1:11: expected the end of the line, found `7`"),
            ("pds 9999999999 3 1", "1:5: 9999999999 is too large for the number of control states"),
            ("pds 2 3 1\n1 0 0 1 1 4 4", "2:13: expected the end of the line, found `4`"),
            ("pds 2 3 1\n1 0 0 1 1", "2:10: expected a weight, found the end of the line"),
            ("pds 2 3 1\n1 2 0 1 1 1", "2:3: unknown control state 2: there are 2"),
            ("pds 2 3 1\n1 0 30 1 1 1", "2:5: unknown label 30: there are 3"),
            ("pds 2 3 1\n3 0 0 1", "2:1: expected `0`, `1`, `2`, `init`, `target` or `dead`"),
            ("pds 2 3 1\n1 0 0 1 1 -4", "2:11: expected a weight, found `-4`"),
            ("pds 2 3 1\n0 0 0 1 4\n0 0 0 1 4", "3:1: more rules than the 1 announced"),
            ("pds 2 3 2\n0 0 0 1 4\n", "1:9: 2 rules announced, but only 1 given"),
            ("pds 2 3 0\ninit 0 0\ninit 0 0", "3:1: `init` is given twice"),
            (
                "pds 2 3 1\n0 0 0 1 18446744073709551616",
                "2:9: 18446744073709551616 is too large for a weight",
            ),
        ] {
            let error = read(text).err().unwrap().to_string();
            assert!(error.starts_with(expected), "{text:?}: {error}");
        }
    }
}
