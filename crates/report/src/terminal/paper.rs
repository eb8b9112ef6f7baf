//! Text that fits a screen: wrapped prose, source lines cut to a width, colours that can be
//! switched off.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::TerminalOptions;

/// How far a tab goes.
const TAB: usize = 4;

/// A role of a piece of text.
#[derive(Clone, Copy)]
pub(super) enum Ink {
    Heading,
    Bad,
    Good,
    Doubt,
    Faint,
    Mark,
}

/// The sheet that a report is written on.
pub(super) struct Paper {
    width: usize,
    colour: bool,
    text: String,
}

impl Paper {
    pub(super) fn new(options: &TerminalOptions) -> Self {
        Self { width: options.width.max(30), colour: options.colour, text: String::new() }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    pub(super) fn blank(&mut self) {
        self.text.push('\n');
    }

    fn ink(&self, ink: Ink, text: &str) -> String {
        let code = match ink {
            Ink::Heading => "1",
            Ink::Bad => "1;31",
            Ink::Good => "1;32",
            Ink::Doubt => "1;33",
            Ink::Faint => "2",
            Ink::Mark => "31",
        };
        if self.colour && !text.is_empty() { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.into() }
    }

    /// Prose behind a coloured lead, wrapped; later lines are indented by `indent`.
    pub(super) fn prose(&mut self, lead: &str, ink: Ink, text: &str, indent: usize) {
        let lead = clean(lead);
        self.text += &self.ink(ink, &lead);
        for line in wrap(&clean(text), lead.width(), indent, self.width) {
            self.text += &line;
            self.text.push('\n');
        }
    }

    /// A source line with its number; a mark under the columns from..to (characters, from 1); and a
    /// note behind the mark.
    pub(super) fn source(&mut self, number: &str, text: &str, marked: Option<(u32, u32)>, note: &str) {
        let gutter = format!("{number:>5} | ");
        let room = self.width.saturating_sub(gutter.len()).max(10);
        let shown = Cut::new(text, marked, room);
        self.text += &self.ink(Ink::Faint, &gutter);
        self.text += shown.text.trim_end();
        self.text.push('\n');
        if marked.is_some() {
            let carets = "^".repeat(shown.length.max(1));
            let note = if note.is_empty() { String::new() } else { format!(" {note}") };
            self.text += &self.ink(Ink::Faint, "      | ");
            self.text += &" ".repeat(shown.start);
            self.text += &self.ink(Ink::Mark, &format!("{carets}{note}"));
            self.text.push('\n');
        }
    }

    /// Source lines with notes behind them, in a column of their own.
    pub(super) fn noted(&mut self, lines: &[(String, &str, String)]) {
        let note_width = lines.iter().map(|line| clean(&line.2).width()).max().unwrap_or(0);
        let room = self.width.saturating_sub(8 + 2 + note_width).max(10);
        let shown: Vec<String> = lines.iter().map(|line| Cut::new(line.1, None, room).text).collect();
        let column = shown.iter().map(|text| text.trim_end().width()).max().unwrap_or(0);
        for ((number, _, note), text) in lines.iter().zip(shown) {
            let text = text.trim_end();
            self.text += &self.ink(Ink::Faint, &format!("{number:>5} | "));
            self.text += text;
            if !note.is_empty() {
                self.text += &" ".repeat(column.saturating_sub(text.width()) + 2);
                self.text += &self.ink(Ink::Faint, &clean(note));
            }
            self.text.push('\n');
        }
    }

    /// A line that stands for left-out ones.
    pub(super) fn gap(&mut self) {
        self.text += &self.ink(Ink::Faint, "    … |");
        self.text.push('\n');
    }

    /// A line of a file's name between source lines.
    pub(super) fn file(&mut self, name: &str) {
        let name = clean(name);
        self.text += &self.ink(Ink::Faint, &format!("  --> {name}"));
        self.text.push('\n');
    }
}

/// A text without letters that move the cursor or change the screen.
pub(super) fn clean(text: &str) -> String {
    let visible = |letter: char| match letter {
        '\t' | '\n' | '\r' => ' ',
        letter if letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}') => '\u{fffd}',
        letter => letter,
    };
    text.chars().map(visible).collect()
}

/// Words in lines of at most `width` columns; `used` columns of the first line are taken, all
/// others are indented. Spaces in front of the first word are kept. A word that is longer than a
/// line stays whole.
fn wrap(text: &str, used: usize, indent: usize, width: usize) -> Vec<String> {
    let lead = text.len() - text.trim_start().len();
    let mut lines = vec![text[..lead].to_string()];
    let mut taken = used + lead;
    for (position, word) in text.split_whitespace().enumerate() {
        let line = lines.last_mut().expect("there is always a line");
        let gap = usize::from(position > 0);
        if gap > 0 && taken + gap + word.width() > width {
            lines.push(" ".repeat(indent) + word);
            taken = indent + word.width();
        } else {
            *line += &" ".repeat(gap);
            *line += word;
            taken += gap + word.width();
        }
    }
    lines
}

/// A source line as it is shown.
struct Cut {
    text: String,
    /// Where the mark starts, in columns of the screen.
    start: usize,
    /// How many columns it takes.
    length: usize,
}

impl Cut {
    /// Expands tabs, and cuts a line that does not fit so that the marked part is seen.
    fn new(text: &str, marked: Option<(u32, u32)>, room: usize) -> Self {
        let (from, to) = marked.unwrap_or((1, 1));
        let mut columns: Vec<(char, usize)> = Vec::new();
        let (mut column, mut start, mut end) = (0, None, None);
        for (position, letter) in text.chars().enumerate() {
            let position = position as u32 + 1;
            if position == from {
                start = Some(column);
            }
            if position == to {
                end = Some(column);
            }
            if letter == '\t' {
                let spaces = TAB - column % TAB;
                columns.extend((0..spaces).map(|_| (' ', 1)));
                column += spaces;
            } else {
                let letter = clean(letter.encode_utf8(&mut [0; 4])).chars().next().unwrap_or(' ');
                let width = letter.width().unwrap_or(1);
                columns.push((letter, width));
                column += width;
            }
        }
        let start = start.unwrap_or(column);
        let end = end.unwrap_or(column).max(start);
        if column <= room {
            let text = columns.into_iter().map(|(letter, _)| letter).collect();
            return Self { text, start, length: (end - start).min(room.saturating_sub(start)) };
        }
        // The first column that is shown: 0, or such that the mark begins within the first third.
        let first = if end < room { 0 } else { start.saturating_sub(room / 3) };
        let mut shown = String::new();
        let (mut at, mut used) = (0, 0);
        if first > 0 {
            shown.push('…');
            used = 1;
        }
        let is_last = column - first < room;
        let limit = if is_last { room } else { room - 1 };
        for (letter, width) in columns {
            if at >= first + usize::from(first > 0) {
                if used + width > limit {
                    break;
                }
                shown.push(letter);
                used += width;
            }
            at += width;
        }
        if !is_last {
            shown.push('…');
        }
        let start = (start - first.min(start)).min(room - 1);
        Self { text: shown, start, length: (end - first.min(end)).saturating_sub(start).min(room - start) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_wrapped_at_words_and_later_lines_are_indented() {
        assert_eq!(wrap("one two three", 3, 2, 8), ["one", "  two", "  three"]);
    }

    #[test]
    fn a_tab_moves_the_mark() {
        let cut = Cut::new("\tx = 1;", Some((2, 3)), 40);
        assert_eq!((cut.text.as_str(), cut.start, cut.length), ("    x = 1;", 4, 1));
    }

    #[test]
    fn a_wide_letter_takes_two_columns() {
        let cut = Cut::new("漢 x", Some((3, 4)), 40);
        assert_eq!((cut.start, cut.length), (3, 1));
    }

    #[test]
    fn a_long_line_is_cut_around_its_mark() {
        let text = format!("{}needle{}", "a".repeat(100), "b".repeat(100));
        let cut = Cut::new(&text, Some((101, 107)), 30);
        assert!(cut.text.width() <= 30 && cut.text.contains("needle"), "{}", cut.text);
        assert!(cut.text.starts_with('…') && cut.text.ends_with('…'));
        let marked: String = cut.text.chars().skip(cut.start).take(cut.length).collect();
        assert_eq!(marked, "needle");
    }

    #[test]
    fn letters_that_control_a_screen_are_replaced() {
        assert_eq!(clean("a\u{1b}[31mb\u{7}\u{2028}"), "a\u{fffd}[31mb\u{fffd}\u{fffd}");
    }
}
