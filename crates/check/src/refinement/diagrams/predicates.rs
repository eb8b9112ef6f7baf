//! Localized predicates: for each point of the program, the formulas that the abstraction tracks
//! there.
//!
//! \[Kie05\] §4.1, §5.3.1, §7.1, §7.2. The abstract value of the i-th predicate at a point is in
//! the i-th abstract bit, whatever the point: points share bits. A *concretisation* links the bits
//! of a point with their meaning; it grows with the predicates.

use std::cell::RefCell;
use std::collections::BTreeMap;

use wherefore_domains::bdd::{BddRelations, Moment, Predicate};
use wherefore_program::ProcedureId;
use wherefore_pushdown::{RuleId, Symbol};

use crate::refinement::diagrams::interpolants::Space;

/// Where predicates are tracked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Point {
    /// At a stack symbol: a location, or a part of a step.
    At(Symbol),
    /// Between caller and callee, for the call of a rule.
    Pivot(RuleId),
    /// At the end of a procedure: its effect.
    Exit(ProcedureId),
}

/// What an abstract bit is for. Each kind has bits of its own, so that all fit beside each other
/// during a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bit {
    /// Predicates at symbols and pivots: local to a procedure.
    Local,
    /// Predicates at the entry of a callee, on their way there.
    Argument,
    /// Predicates at exits, on their way to the caller.
    Global,
}

/// Kinds of bits.
const KINDS: usize = 3;

/// The number of an abstract variable. It does not change when more predicates come.
pub(super) fn bit(kind: Bit, i: usize) -> usize {
    KINDS * i + kind as usize
}

/// All predicates.
#[derive(Default)]
pub(super) struct Predicates {
    lists: BTreeMap<Point, Vec<Predicate>>,
    /// The concretisations, over current abstract bits, with the number of predicates in them.
    links: RefCell<BTreeMap<Point, (usize, Predicate)>>,
}

impl Predicates {
    /// Adds a predicate, unless it or its negation is tracked at the point already.
    pub fn add(&mut self, domain: &BddRelations, point: Point, formula: Predicate) -> bool {
        let list = self.lists.entry(point).or_default();
        if list.contains(&formula) || list.contains(&domain.not(&formula)) {
            return false;
        }
        list.push(formula);
        true
    }

    /// The predicates at a point.
    pub fn at(&self, point: Point) -> &[Predicate] {
        self.lists.get(&point).map_or(&[], Vec::as_slice)
    }

    /// How many predicates there are at a point.
    pub fn count(&self, point: Point) -> usize {
        self.at(point).len()
    }

    /// The points that have predicates.
    pub fn points(&self) -> impl Iterator<Item = (Point, &[Predicate])> {
        self.lists.iter().map(|(point, list)| (*point, list.as_slice()))
    }

    /// The largest number of predicates at one point.
    pub fn most(&self) -> usize {
        self.lists.values().map(Vec::len).max().unwrap_or(0)
    }

    /// The number of all predicates.
    pub fn total(&self) -> usize {
        self.lists.values().map(Vec::len).sum()
    }

    /// The abstract variables that all predicates need.
    pub fn variables(&self) -> usize {
        KINDS * self.most()
    }

    /// "Each current bit of the point is the truth value of its predicate".
    pub fn concretisation(&self, space: &Space, bits: &BddRelations, point: Point) -> Predicate {
        let d = space.domain();
        let list = self.lists.get(&point).map_or(&[][..], Vec::as_slice);
        let mut links = self.links.borrow_mut();
        let (known, link) = links.entry(point).or_insert_with(|| (0, d.constant(true)));
        let kind = if matches!(point, Point::Exit(_)) { Bit::Global } else { Bit::Local };
        for (i, formula) in list.iter().enumerate().skip(*known) {
            let means = d.equiv(&bits.at(bit(kind, i), Moment::Current), formula);
            *link = d.and(link, &means);
        }
        *known = list.len();
        link.clone()
    }

    /// "Each next bit of this kind is the truth value of its predicate at the point, read as `read`
    /// says".
    pub fn concretisation_after(
        &self,
        space: &Space,
        bits: &BddRelations,
        (point, kind): (Point, Bit),
        read: impl Fn(&Predicate) -> Predicate,
    ) -> Predicate {
        let d = space.domain();
        self.at(point).iter().enumerate().fold(d.constant(true), |all, (i, formula)| {
            d.and(&all, &d.equiv(&bits.at(bit(kind, i), Moment::Next), &read(formula)))
        })
    }
}
