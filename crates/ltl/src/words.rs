//! Whether a formula holds on an infinite word that repeats itself from some position on.
//!
//! The textbook semantics, computed position by position: independent of automata, and so what
//! confirms the runs that the search finds.

use crate::formula::Formula;

/// The word `stem` followed by `turn` for ever. A letter says for each proposition whether it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The letters in front.
    pub stem: Vec<Vec<bool>>,
    /// The letters that are repeated; at least one.
    pub turn: Vec<Vec<bool>>,
}

impl Word {
    /// Whether the formula holds at the first letter.
    ///
    /// # Panics
    /// If no letter is repeated, or a letter lacks a proposition.
    pub fn satisfies(&self, formula: &Formula) -> bool {
        assert!(!self.turn.is_empty(), "an infinite word repeats something");
        self.values(formula)[0]
    }

    fn len(&self) -> usize {
        self.stem.len() + self.turn.len()
    }

    fn after(&self, position: usize) -> usize {
        if position + 1 == self.len() { self.stem.len() } else { position + 1 }
    }

    /// The truth value at each position.
    fn values(&self, formula: &Formula) -> Vec<bool> {
        let zip = |a: &Formula, b: &Formula, f: fn(bool, bool) -> bool| -> Vec<bool> {
            self.values(a).into_iter().zip(self.values(b)).map(|(a, b)| f(a, b)).collect()
        };
        match formula {
            Formula::Constant(value) => vec![*value; self.len()],
            Formula::Atom(atom) => self.stem.iter().chain(&self.turn).map(|letter| letter[*atom]).collect(),
            Formula::Not(a) => self.values(a).into_iter().map(|a| !a).collect(),
            Formula::And(a, b) => zip(a, b, |a, b| a && b),
            Formula::Or(a, b) => zip(a, b, |a, b| a || b),
            Formula::Next(a) => {
                let values = self.values(a);
                (0..self.len()).map(|position| values[self.after(position)]).collect()
            }
            Formula::Until(a, b) => self.fixpoint(&self.values(a), &self.values(b), false),
            Formula::Release(a, b) => {
                // The dual: not (not a U not b).
                let not = |values: Vec<bool>| values.into_iter().map(|value| !value).collect::<Vec<_>>();
                not(self.fixpoint(&not(self.values(a)), &not(self.values(b)), false))
            }
        }
    }

    /// The least solution of `x = b or (a and next x)`.
    fn fixpoint(&self, a: &[bool], b: &[bool], start: bool) -> Vec<bool> {
        let mut values = vec![start; self.len()];
        // Backwards twice: the second time the loop's last position knows its first one.
        for _ in 0..2 {
            for position in (0..self.len()).rev() {
                values[position] = b[position] || (a[position] && values[self.after(position)]);
            }
        }
        values
    }
}
