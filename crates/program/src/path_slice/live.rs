//! The live lvalues: those whose values decide whether the part of the slice behind a point can
//! run.

use std::collections::BTreeSet;

use super::places::{Place, Places};
use crate::program::ProcedureId;

/// Live places of the globals and of every frame that is open at a point of the path. Questions and
/// changes are about the frame on top, whose procedure is passed along.
pub(super) struct Live {
    globals: BTreeSet<u32>,
    frames: Vec<BTreeSet<u32>>,
}

impl Live {
    /// Nothing is live, and this many frames are open.
    pub(super) fn new(frames: usize) -> Self {
        Self { globals: BTreeSet::new(), frames: vec![BTreeSet::new(); frames] }
    }

    /// Enters a frame, from its end.
    pub(super) fn push(&mut self) {
        self.frames.push(BTreeSet::new());
    }

    /// Leaves a frame through its beginning: its variables do not exist before.
    pub(super) fn pop(&mut self) -> BTreeSet<u32> {
        self.frames.pop().unwrap_or_default()
    }

    fn set(&self, place: Place) -> Option<(&BTreeSet<u32>, u32)> {
        match place {
            Place::Global(i) => Some((&self.globals, i)),
            Place::Local(i) => self.frames.last().map(|frame| (frame, i)),
        }
    }

    /// Whether a write to a place may change something live.
    pub(super) fn may_alias(&self, places: &Places, procedure: ProcedureId, place: Place) -> bool {
        let Some((set, i)) = self.set(place) else { return false };
        let siblings = places.siblings(procedure, place);
        if i == siblings.start {
            set.range(siblings).next().is_some()
        } else {
            set.contains(&i) || set.contains(&siblings.start)
        }
    }

    /// Whether writes to these places, which are sorted, may change something live.
    pub(super) fn meets(&self, places: &Places, procedure: ProcedureId, written: &[Place]) -> bool {
        let top = self.frames.last();
        if written.len() <= self.globals.len() + top.map_or(0, BTreeSet::len) {
            return written.iter().any(|place| self.may_alias(places, procedure, *place));
        }
        let hit = |place: Place, number: fn(u32) -> Place| {
            let siblings = places.siblings(procedure, place);
            if place == number(siblings.start) {
                let at = written.partition_point(|other| *other < place);
                written.get(at).is_some_and(|found| *found < number(siblings.end))
            } else {
                written.binary_search(&place).is_ok()
                    || written.binary_search(&number(siblings.start)).is_ok()
            }
        };
        self.globals.iter().any(|i| hit(Place::Global(*i), Place::Global))
            || top.into_iter().flatten().any(|i| hit(Place::Local(*i), Place::Local))
    }

    /// A write that surely changes a place makes its old value irrelevant.
    pub(super) fn kill(&mut self, places: &Places, procedure: ProcedureId, place: Place) {
        if places.is_exact(procedure, place) {
            match place {
                Place::Global(i) => self.globals.remove(&i),
                Place::Local(i) => self.frames.last_mut().is_some_and(|frame| frame.remove(&i)),
            };
        }
    }

    /// Makes places live.
    pub(super) fn add(&mut self, places: &[Place]) {
        for place in places {
            match place {
                Place::Global(i) => {
                    self.globals.insert(*i);
                }
                Place::Local(i) => {
                    if let Some(frame) = self.frames.last_mut() {
                        frame.insert(*i);
                    }
                }
            }
        }
    }

    /// The live globals.
    pub(super) fn globals(&self) -> impl Iterator<Item = Place> + '_ {
        self.globals.iter().map(|i| Place::Global(*i))
    }

    /// The live places of each open frame, the first frame first.
    pub(super) fn frames(&self) -> impl Iterator<Item = impl Iterator<Item = Place> + '_> + '_ {
        self.frames.iter().map(|frame| frame.iter().map(|i| Place::Local(*i)))
    }
}
