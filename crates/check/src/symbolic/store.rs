//! A term for each variable of a flat program; copies share what they do not change.

use std::rc::Rc;

use wherefore_smt::{Term, Terms};

use super::flat::ALIGNMENT;

const CHUNK: usize = ALIGNMENT as usize;

/// Values of variables as terms.
#[derive(Clone)]
pub(crate) struct Store {
    chunks: Vec<Rc<[Term; CHUNK]>>,
}

impl Store {
    /// A store in which nothing has a value yet.
    pub fn new(variables: u32) -> Self {
        let empty = Rc::new([Terms::FALSE; CHUNK]);
        Self { chunks: vec![empty; variables.div_ceil(ALIGNMENT) as usize] }
    }

    /// Makes room for more variables.
    pub fn grow(&mut self, variables: u32) {
        let chunks = variables.div_ceil(ALIGNMENT) as usize;
        if self.chunks.len() < chunks {
            self.chunks.resize(chunks, Rc::new([Terms::FALSE; CHUNK]));
        }
    }

    /// The value of a variable.
    pub fn get(&self, variable: u32) -> Term {
        self.chunks
            .get(variable as usize / CHUNK)
            .map_or(Terms::FALSE, |chunk| chunk[variable as usize % CHUNK])
    }

    /// Gives a variable a value.
    pub fn set(&mut self, variable: u32, value: Term) {
        if self.get(variable) != value {
            Rc::make_mut(&mut self.chunks[variable as usize / CHUNK])[variable as usize % CHUNK] = value;
        }
    }

    /// Takes the values of some variables away: all that start in the same chunks.
    pub fn forget(&mut self, first: u32, count: u32) {
        let chunks = first as usize / CHUNK..(first + count).div_ceil(ALIGNMENT) as usize;
        for chunk in &mut self.chunks[chunks] {
            if chunk.iter().any(|value| *value != Terms::FALSE) {
                *chunk = Rc::new([Terms::FALSE; CHUNK]);
            }
        }
    }

    /// The values of this store where `condition` holds, and those of `other` elsewhere.
    pub fn merged(&self, terms: &mut Terms, condition: Term, other: &Store) -> Store {
        let mut merged = other.clone();
        merged.grow((self.chunks.len() * CHUNK) as u32);
        for (chunk, mine) in merged.chunks.iter_mut().zip(&self.chunks) {
            if Rc::ptr_eq(chunk, mine) || chunk == mine {
                continue;
            }
            let theirs = Rc::make_mut(chunk);
            for (value, mine) in theirs.iter_mut().zip(mine.iter()) {
                if *value == *mine {
                    continue;
                }
                // A variable that has a value on one side only is not in use any more.
                *value = if terms.sort(*value) == terms.sort(*mine) {
                    terms.ite(condition, *mine, *value)
                } else {
                    Terms::FALSE
                };
            }
        }
        merged
    }
}
