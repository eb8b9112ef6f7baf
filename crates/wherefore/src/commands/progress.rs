//! A line on the terminal that tells how far the engines are. It is written over, and gone when
//! there is an answer.

use std::io::{IsTerminal, Write, stderr};
use std::sync::Mutex;
use std::time::Instant;

use wherefore_check::Progress;

/// What is on the terminal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Line {
    /// Nothing of ours.
    Empty,
    /// A line that is to be removed.
    Shown,
    /// There is an answer, or no line is wanted.
    Over,
}

static LINE: Mutex<Line> = Mutex::new(Line::Empty);

/// Removes the line, for good: what is printed next stays.
pub fn clear() {
    let mut line = LINE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if *line == Line::Shown {
        let _ = write!(stderr(), "\r\u{1b}[K");
    }
    *line = Line::Over;
}

/// Shows no line at all.
pub fn silence() {
    clear();
}

/// Shows progress on standard error, if that is a terminal.
#[derive(Clone, Copy)]
pub struct LiveLine {
    is_terminal: bool,
    begin: Instant,
}

impl LiveLine {
    /// Looks at standard error.
    pub fn new() -> Self {
        Self { is_terminal: stderr().is_terminal(), begin: Instant::now() }
    }

    /// Shows how far an engine is.
    pub fn show(self, progress: &Progress) {
        if !self.is_terminal {
            return;
        }
        let width = terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0));
        let text = format!("{:4.0} s  {}", self.begin.elapsed().as_secs_f64(), words(progress));
        // The last column stays free: some terminals go to the next line behind it.
        let text: String = text.chars().take(width.saturating_sub(1)).collect();
        let mut line = LINE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if *line != Line::Over {
            let _ = write!(stderr(), "\r{text}\u{1b}[K");
            let _ = stderr().flush();
            *line = Line::Shown;
        }
    }
}

fn words(progress: &Progress) -> String {
    match progress {
        Progress::Bound(1) => "bounded checking: no run fails within 1 iteration of each loop".to_owned(),
        Progress::Bound(bound) => {
            format!("bounded checking: no run fails within {bound} iterations of each loop")
        }
        Progress::Switches { below, configurations: 0 } => {
            format!("schedules: no failure with fewer than {below} switches")
        }
        Progress::Switches { below, configurations } => {
            format!("schedules: no failure with fewer than {below} switches; {configurations} configurations")
        }
        Progress::Iteration { excluded, predicates, steps } => format!(
            "refinement, iteration {excluded}: {predicates} predicates; a counterexample of {steps} blocks"
        ),
        Progress::Cycle { excluded, predicates, inside, locations } => {
            let share = 100 * inside / (*locations).max(1);
            format!(
                "refinement, iteration {excluded}: {predicates} predicates; {inside} of {locations} locations ({share} %) on abstract failing runs"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_in_words() {
        let cycle = Progress::Cycle { excluded: 2, predicates: 7, inside: 3, locations: 12 };
        let shown =
            "refinement, iteration 2: 7 predicates; 3 of 12 locations (25 %) on abstract failing runs";
        assert_eq!(words(&cycle), shown);
        assert_eq!(
            words(&Progress::Bound(4)),
            "bounded checking: no run fails within 4 iterations of each loop"
        );
    }
}
