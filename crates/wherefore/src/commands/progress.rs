//! A line on the terminal that tells how far the engines are.

use std::io::{IsTerminal, Write, stderr};

use wherefore_check::Progress;

/// Shows progress, one line each, on standard error if that is a terminal.
#[derive(Clone, Copy)]
pub struct LiveLine {
    is_terminal: bool,
}

impl LiveLine {
    /// Looks at standard error.
    pub fn new() -> Self {
        Self { is_terminal: stderr().is_terminal() }
    }

    /// Shows how far an engine is.
    pub fn show(self, progress: &Progress) {
        if self.is_terminal {
            let _ = writeln!(stderr(), "{}", words(progress));
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
