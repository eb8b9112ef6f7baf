//! Which cells several threads touch, as an unrolling of the code has shown.
//!
//! The first unrolling takes everything for shared. The next one knows more: a cell that one thread
//! alone touches is part of that thread's store, one that nobody writes after the first start is a
//! constant. So thread identifiers become constants, and with them the cells of arrays. Each
//! unrolling notes its own accesses, so that what was assumed can be checked afterwards
//! ([`Sharing::is_confirmed_by`]).

use std::collections::{BTreeMap, BTreeSet};

/// A set of threads.
type Threads = BTreeSet<usize>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Cell {
    readers: Threads,
    writers: Threads,
}

impl Cell {
    fn add(&mut self, other: &Cell) {
        self.readers.extend(&other.readers);
        self.writers.extend(&other.writers);
    }

    /// Whether what a thread reads here may be written by another one.
    fn is_shared_by(&self, thread: usize) -> bool {
        let is_alone = |threads: &Threads| threads.iter().all(|other| *other == thread);
        let is_private = is_alone(&self.readers) && is_alone(&self.writers);
        !self.writers.is_empty() && !is_private
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Variable {
    /// Cells with constant indices; a single value is cell 0.
    cells: BTreeMap<u64, Cell>,
    /// Accesses whose index is not a constant.
    somewhere: Option<Cell>,
}

/// The accesses of an unrolling, after the first start of a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Accesses {
    variables: BTreeMap<u32, Variable>,
}

impl Accesses {
    /// Notes an access. The index is none for a single value, and may be no constant.
    pub fn note(&mut self, thread: usize, variable: u32, index: Option<Option<u64>>, is_write: bool) {
        let variable = self.variables.entry(variable).or_default();
        let cell = match index {
            None => variable.cells.entry(0).or_default(),
            Some(Some(index)) => variable.cells.entry(index).or_default(),
            Some(None) => variable.somewhere.get_or_insert_default(),
        };
        let threads = if is_write { &mut cell.writers } else { &mut cell.readers };
        threads.insert(thread);
    }
}

/// What is taken for shared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sharing {
    /// None: everything.
    known: Option<Accesses>,
}

impl Sharing {
    /// What these accesses share.
    pub fn of(accesses: Accesses) -> Self {
        Self { known: Some(accesses) }
    }

    /// Whether an access of a thread is one that others may see, or whose value others may write.
    pub fn is_event(&self, thread: usize, variable: u32, index: Option<Option<u64>>) -> bool {
        let Some(variable) = self.known.as_ref().map(|known| known.variables.get(&variable)) else {
            return true;
        };
        let Some(variable) = variable else { return true };
        let mut all = variable.somewhere.clone().unwrap_or_default();
        variable.cells.values().for_each(|cell| all.add(cell));
        if !all.is_shared_by(thread) {
            return false;
        }
        let cell = match index {
            None => variable.cells.get(&0),
            Some(Some(index)) if variable.somewhere.is_none() => variable.cells.get(&index),
            Some(_) => None,
        };
        cell.is_none_or(|cell| cell.is_shared_by(thread))
    }

    /// Whether what this takes for private is so, judged by the accesses that were made.
    pub fn is_confirmed_by(&self, accesses: &Accesses) -> bool {
        let found = Sharing::of(accesses.clone());
        let same = |thread: usize, variable: u32, index: Option<Option<u64>>| {
            self.is_event(thread, variable, index) || !found.is_event(thread, variable, index)
        };
        accesses.variables.iter().all(|(id, variable)| {
            let cells = variable.cells.iter().all(|(index, cell)| {
                let mut threads = cell.readers.union(&cell.writers);
                threads.all(|thread| same(*thread, *id, Some(Some(*index))) && same(*thread, *id, None))
            });
            let somewhere = variable.somewhere.as_ref().is_none_or(|cell| {
                cell.readers.union(&cell.writers).all(|thread| same(*thread, *id, Some(None)))
            });
            cells && somewhere
        })
    }
}
