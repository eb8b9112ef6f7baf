//! The choices of one run, in order. The same tape gives the same run.

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::FxHashMap;
use wherefore_program::{Choices, Node, Program};

use super::values::{Dictionary, Habit, Random};

/// The choices of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tape {
    /// Inputs and choices among edges, in the order of the run.
    pub values: Vec<u64>,
    /// The value of all variables that come into being without one.
    pub uninitialised: u64,
    /// Cells of memory that held anything when the run began.
    pub memory: BTreeMap<(u32, u64), u64>,
}

/// Feeds a run from a tape, and writes down what is chosen when the tape is at its end.
pub(crate) struct Player<'a> {
    program: &'a Program,
    pub tape: &'a mut Tape,
    at: usize,
    /// The location of the run: where a choice is made, as far as habits are concerned.
    pub node: Option<Node>,
    fresh: Fresh<'a>,
    /// Characters that the next draws give.
    text: VecDeque<u64>,
}

/// Where choices come from that are not on the tape.
pub(crate) enum Fresh<'a> {
    /// They are 0.
    Zero,
    /// They are drawn.
    Drawn { dictionary: &'a Dictionary, random: Random, habits: FxHashMap<Place, Habit> },
}

/// What has a habit: the inputs at a location, or the cells of a memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    At(Option<Node>),
    Memory(u32),
}

/// A number is written out digit by digit once in so many draws.
const RARELY: u64 = 24;

impl<'a> Player<'a> {
    pub fn new(program: &'a Program, tape: &'a mut Tape, fresh: Fresh<'a>) -> Self {
        Self { program, tape, at: 0, node: None, fresh, text: VecDeque::new() }
    }

    /// How many choices of the tape were used.
    pub fn used(&self) -> usize {
        self.at
    }

    fn draw(&mut self, place: Place, max: u64) -> u64 {
        // Shorter ranges hold no characters.
        if max >= 127 {
            if let Some(character) = self.text.pop_front() {
                return character;
            }
            if let Fresh::Drawn { dictionary, random, .. } = &mut self.fresh {
                if random.below(RARELY) == 0 {
                    self.text = dictionary.digits(random).into();
                }
            }
        }
        match &mut self.fresh {
            Fresh::Zero => 0,
            Fresh::Drawn { dictionary, random, habits } => {
                let habit = habits.entry(place).or_insert_with(|| Habit::new(max, dictionary, random));
                habit.draw(max, dictionary, random)
            }
        }
    }
}

impl Choices for Player<'_> {
    fn choose(&mut self, max: u64) -> u64 {
        if self.at == self.tape.values.len() {
            let value = self.draw(Place::At(self.node), max);
            self.tape.values.push(value);
        }
        self.at += 1;
        self.tape.values[self.at - 1].min(max)
    }

    fn uninitialised(&mut self, max: u64) -> u64 {
        self.tape.uninitialised.min(max)
    }

    fn unset(&mut self, cell: (u32, u64), is_arbitrary: bool) -> Option<u64> {
        if !is_arbitrary {
            return None;
        }
        let max = self.program.globals[cell.0 as usize].ty.element().max();
        let value = match self.tape.memory.get(&cell) {
            Some(value) => *value,
            None => {
                let value = self.draw(Place::Memory(cell.0), max);
                self.tape.memory.insert(cell, value);
                value
            }
        };
        Some(value.min(max))
    }
}
