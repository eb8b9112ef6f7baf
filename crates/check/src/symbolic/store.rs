//! A term for each variable of a flat program; copies share what they do not change.
//!
//! A program with recursion has many frames, of which few are open at a time. Only those take room:
//! an unrolling keeps a store for each of its visits.

use std::rc::Rc;

use wherefore_smt::{Term, Terms};

use super::flat::ALIGNMENT;

const CHUNK: usize = ALIGNMENT as usize;
const EMPTY: [Term; CHUNK] = [Terms::FALSE; CHUNK];

/// Values of variables as terms.
#[derive(Clone, Default)]
pub(crate) struct Store {
    /// By number, in order; in one that is missing, nothing has a value.
    chunks: Vec<(u32, Rc<[Term; CHUNK]>)>,
}

impl Store {
    /// Where a chunk is, or belongs.
    fn find(&self, chunk: u32) -> Result<usize, usize> {
        // Most often none is missing before it.
        match self.chunks.get(chunk as usize) {
            Some((number, _)) if *number == chunk => Ok(chunk as usize),
            _ => self.chunks.binary_search_by_key(&chunk, |(number, _)| *number),
        }
    }

    /// The value of a variable.
    pub fn get(&self, variable: u32) -> Term {
        match self.find(variable / ALIGNMENT) {
            Ok(at) => self.chunks[at].1[variable as usize % CHUNK],
            Err(_) => Terms::FALSE,
        }
    }

    /// Gives a variable a value.
    pub fn set(&mut self, variable: u32, value: Term) {
        if self.get(variable) == value {
            return;
        }
        let chunk = variable / ALIGNMENT;
        let at = self.find(chunk).unwrap_or_else(|at| {
            self.chunks.insert(at, (chunk, Rc::new(EMPTY)));
            at
        });
        Rc::make_mut(&mut self.chunks[at].1)[variable as usize % CHUNK] = value;
    }

    /// Takes the values of some variables away: all that start in the same chunks.
    pub fn forget(&mut self, first: u32, count: u32) {
        let at = |chunk: u32| self.find(chunk).unwrap_or_else(|at| at);
        let gone = at(first / ALIGNMENT)..at((first + count).div_ceil(ALIGNMENT));
        self.chunks.drain(gone);
    }

    /// The values of this store where `condition` holds, and those of `other` elsewhere.
    pub fn merged(&self, terms: &mut Terms, condition: Term, other: &Store) -> Store {
        let mut chunks = Vec::with_capacity(self.chunks.len().max(other.chunks.len()));
        let (mut mine, mut theirs) = (self.chunks.iter().peekable(), other.chunks.iter().peekable());
        loop {
            let next = [mine.peek(), theirs.peek()].into_iter().flatten().map(|(number, _)| *number).min();
            let Some(number) = next else { return Store { chunks } };
            let here = |(other, _): &&(u32, Rc<[Term; CHUNK]>)| *other == number;
            let chunk = match (mine.next_if(here), theirs.next_if(here)) {
                (Some((_, mine)), Some((_, theirs))) if Rc::ptr_eq(mine, theirs) => theirs.clone(),
                (mine, theirs) => {
                    let values =
                        |chunk: Option<&(u32, Rc<[Term; CHUNK]>)>| chunk.map_or(EMPTY, |(_, chunk)| **chunk);
                    let (mine, theirs) = (values(mine), values(theirs));
                    Rc::new(std::array::from_fn(|i| merge(terms, condition, mine[i], theirs[i])))
                }
            };
            chunks.push((number, chunk));
        }
    }
}

fn merge(terms: &mut Terms, condition: Term, mine: Term, theirs: Term) -> Term {
    if mine == theirs {
        return theirs;
    }
    // A variable that has a value on one side only is not in use any more.
    if terms.sort(mine) == terms.sort(theirs) { terms.ite(condition, mine, theirs) } else { Terms::FALSE }
}

#[cfg(test)]
mod tests {
    use wherefore_smt::Sort;

    use super::*;

    #[test]
    fn what_is_forgotten_takes_no_room() {
        let mut terms = Terms::new();
        let x = terms.variable("x", Sort::Bits(8));
        let mut store = Store::default();
        for variable in [3, 40, 1_000_000] {
            store.set(variable, x);
        }
        assert_eq!([3, 40, 41, 1_000_000].map(|variable| store.get(variable)), [x, x, Terms::FALSE, x]);
        store.forget(1_000_000 / ALIGNMENT * ALIGNMENT, 1);
        store.forget(32, 9);
        assert_eq!(store.chunks.len(), 1);
        assert_eq!([3, 40, 1_000_000].map(|variable| store.get(variable)), [x, Terms::FALSE, Terms::FALSE]);
    }

    #[test]
    fn a_merge_keeps_both_sides() {
        let mut terms = Terms::new();
        let [x, y] = ["x", "y"].map(|name| terms.variable(name, Sort::Bits(8)));
        let [b, c] = ["b", "c"].map(|name| terms.variable(name, Sort::Bool));
        let (mut one, mut two) = (Store::default(), Store::default());
        one.set(0, x);
        two.set(0, y);
        one.set(50, y);
        two.set(99, b);
        let merged = one.merged(&mut terms, c, &two);
        let (chosen, truth) = (terms.ite(c, x, y), terms.ite(c, Terms::FALSE, b));
        assert_eq!([0, 50, 99].map(|variable| merged.get(variable)), [chosen, Terms::FALSE, truth]);
    }
}
