//! A line on the terminal that tells how far refinement is.

use std::io::{IsTerminal, Write, stderr};

use wherefore_check::cegar::Cycle;
use wherefore_check::smt_cegar;

/// Shows each cycle, one line each, on standard error if that is a terminal.
pub struct LiveLine {
    is_terminal: bool,
}

impl LiveLine {
    /// Looks at standard error.
    pub fn new() -> Self {
        Self { is_terminal: stderr().is_terminal() }
    }

    /// Shows a cycle of refinement of a C program.
    pub fn show_path(&self, cycle: &smt_cegar::Cycle) {
        if self.is_terminal {
            let smt_cegar::Cycle { cycles, predicates, steps } = cycle;
            let _ = writeln!(
                stderr(),
                "cycle {cycles}: {predicates} predicates; a counterexample of {steps} blocks"
            );
        }
    }

    /// Shows a cycle.
    pub fn show(&self, cycle: &Cycle) {
        if self.is_terminal {
            let _ = writeln!(stderr(), "{}", words(cycle));
        }
    }
}

fn words(cycle: &Cycle) -> String {
    let share = 100 * cycle.inside / cycle.locations.max(1);
    format!(
        "cycle {}: {} predicates, at most {} at a point; {} of {} locations ({share} %) inside the projection; {:.2} s",
        cycle.refinements,
        cycle.predicates,
        cycle.most_predicates,
        cycle.inside,
        cycle.locations,
        cycle.elapsed.as_secs_f64()
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_cycle_in_words() {
        let cycle = Cycle {
            refinements: 2,
            predicates: 7,
            most_predicates: 1,
            inside: 3,
            locations: 12,
            abstracted: 20,
            elapsed: Duration::from_millis(1500),
        };
        let shown = "cycle 2: 7 predicates, at most 1 at a point; 3 of 12 locations (25 %) inside the projection; 1.50 s";
        assert_eq!(words(&cycle), shown);
    }
}
