//! Parts of a procedure that are one statement of the source, or several: those that can be moved
//! or enclosed.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use wherefore_program::{LocationId, LocationKind, Procedure, ProcedureId, Program};

/// A procedure by its lines.
pub(super) struct Lines<'p> {
    pub(super) program: &'p Program,
    pub(super) id: ProcedureId,
    pub(super) procedure: &'p Procedure,
    /// The line of each location; none for the sink of returns.
    of: Vec<Option<u32>>,
}

/// Locations with one way in and one way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) lines: RangeInclusive<u32>,
    pub(super) locations: BTreeSet<LocationId>,
    /// Where it begins.
    pub(super) entry: LocationId,
    /// Where it goes on behind it.
    pub(super) exit: LocationId,
}

impl<'p> Lines<'p> {
    pub(super) fn new(program: &'p Program, id: ProcedureId) -> Self {
        let procedure = program.procedure(id);
        let line = |location: &wherefore_program::Location| match location.kind {
            LocationKind::Exit => None,
            _ => Some(program.position(location.span).line),
        };
        Self { program, id, procedure, of: procedure.locations.iter().map(line).collect() }
    }

    /// The line of a location.
    pub(super) fn line(&self, at: LocationId) -> Option<u32> {
        self.of.get(at.0 as usize).copied().flatten()
    }

    /// All lines with a statement, in order.
    pub(super) fn all(&self) -> BTreeSet<u32> {
        self.of.iter().flatten().copied().collect()
    }

    /// The locations of lines.
    pub(super) fn locations(&self, lines: &RangeInclusive<u32>) -> BTreeSet<LocationId> {
        let located = self.of.iter().enumerate();
        let inside = located.filter(|(_, line)| line.is_some_and(|line| lines.contains(&line)));
        inside.map(|(at, _)| LocationId(at as u32)).collect()
    }

    fn is_error(&self, at: LocationId) -> bool {
        self.procedure.location(at).kind == LocationKind::Error
    }

    /// Lines as a segment, if they have one way in and one way out. A failed check is no way out.
    pub(super) fn segment(&self, lines: RangeInclusive<u32>) -> Option<Segment> {
        let locations = self.locations(&lines);
        let inside = |at: LocationId| locations.contains(&at);
        let mut entries: BTreeSet<LocationId> = BTreeSet::new();
        let mut exits: BTreeSet<LocationId> = BTreeSet::new();
        entries.extend(Some(self.procedure.entry).filter(|entry| inside(*entry)));
        for edge in &self.procedure.edges {
            match (inside(edge.from), inside(edge.to)) {
                (false, true) => drop(entries.insert(edge.to)),
                (true, false) if !self.is_error(edge.to) => drop(exits.insert(edge.to)),
                _ => {}
            }
        }
        let (entry, exit) = (entries.first().copied()?, exits.first().copied()?);
        let is_one = entries.len() == 1 && exits.len() == 1 && exit != self.procedure.exit;
        is_one.then_some(Segment { lines, locations, entry, exit })
    }

    /// The segment that begins where another one ends.
    pub(super) fn behind(&self, segment: &Segment) -> Option<Segment> {
        let first = self.line(segment.exit)?;
        let lines = self.all();
        let ends = lines.range(first..).take(MOST_LINES);
        let found = ends.filter_map(|end| self.segment(first..=*end));
        let mut found = found.filter(|next| next.entry == segment.exit);
        found.find(|next| next.locations.is_disjoint(&segment.locations))
    }

    /// The segment that ends where another one begins. Statements may have been moved: their lines
    /// need not be in order.
    pub(super) fn before(&self, segment: &Segment) -> Option<Segment> {
        let enters = |edge: &&wherefore_program::Edge| {
            edge.to == segment.entry && !segment.locations.contains(&edge.from)
        };
        let last = self.line(self.procedure.edges.iter().find(enters)?.from)?;
        let lines = self.all();
        let starts = lines.range(..=last).rev().take(MOST_LINES);
        let found = starts.filter_map(|start| self.segment(*start..=last));
        let mut found = found.filter(|before| before.exit == segment.entry);
        found.find(|before| before.locations.is_disjoint(&segment.locations))
    }
}

/// A segment that is moved or passed has at most so many lines.
const MOST_LINES: usize = 12;
