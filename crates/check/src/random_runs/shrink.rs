//! From a failing run to a short one that fails at the same check (delta debugging).

use super::search::{End, Made, Search};
use super::tape::Tape;

/// How many steps of runs are spent on it.
const MOST_STEPS: usize = 4_000_000;

/// Removes choices from a tape, and makes the others smaller, while the run fails at the same
/// check.
pub(super) fn shrink(search: &mut Search<'_>, tape: Tape, made: Made) -> Tape {
    let mut best = Best { search, tape, made, steps: 0 };
    if best.tape.uninitialised != 0 {
        let tape = Tape { uninitialised: 0, ..best.tape.clone() };
        best.accept(tape);
    }
    let mut length = best.tape.values.len();
    loop {
        let before = (best.made.steps, best.tape.clone());
        length = length.min(best.tape.values.len());
        while length > 0 && best.steps < MOST_STEPS {
            best.without_parts(length);
            length /= 2;
        }
        best.smaller();
        length = best.tape.values.len().min(8);
        if best.steps >= MOST_STEPS || before == (best.made.steps, best.tape.clone()) {
            return best.tape;
        }
    }
}

struct Best<'a, 'p> {
    search: &'a mut Search<'p>,
    tape: Tape,
    made: Made,
    /// Spent so far.
    steps: usize,
}

impl Best<'_, '_> {
    /// Takes a tape if its run fails at the same check and is not longer.
    fn accept(&mut self, mut tape: Tape) -> bool {
        let End::Fails(target) = self.made.end else { return false };
        let made = self.search.repeat(&mut tape, self.made.steps);
        self.steps += made.steps + 1;
        let fails = made.end == End::Fails(target);
        if fails {
            self.tape = tape;
            self.made = made;
        }
        fails
    }

    /// Tries to do without each part of a length.
    fn without_parts(&mut self, length: usize) {
        let mut at = self.tape.values.len().saturating_sub(length);
        loop {
            if at + length <= self.tape.values.len() {
                let mut tape = self.tape.clone();
                tape.values.drain(at..at + length);
                self.accept(tape);
            }
            if at == 0 || self.steps >= MOST_STEPS {
                return;
            }
            at = at.saturating_sub(length);
        }
    }

    /// Tries smaller values.
    fn smaller(&mut self) {
        let mut at = 0;
        while at < self.tape.values.len() && self.steps < MOST_STEPS {
            let value = self.tape.values[at];
            for smaller in [0, 1, value / 2, value.saturating_sub(1)] {
                if smaller >= value {
                    continue;
                }
                let mut tape = self.tape.clone();
                tape.values[at] = smaller;
                if self.accept(tape) {
                    break;
                }
            }
            at += 1;
        }
        for (cell, value) in self.tape.memory.clone() {
            if value != 0 && self.steps < MOST_STEPS {
                let mut tape = self.tape.clone();
                tape.memory.insert(cell, 0);
                self.accept(tape);
            }
        }
    }
}
