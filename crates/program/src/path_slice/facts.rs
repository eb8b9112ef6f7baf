//! What is known of a program before any path is looked at.

use std::rc::Rc;

use super::between::{Between, PlaceSet};
use super::bypass::Bypass;
use super::constants::{Constants, has_open_index};
use super::effects::{Effect, Guard, Passage, Reader, always_goes_on};
use super::places::{Place, Places};
use super::{Stops, live::Live};
use crate::call_graph::CallGraph;
use crate::program::{EdgeRef, LocationId, LocationKind, Operation, Procedure, ProcedureId, Program};

/// Effects, modified places and stops of all procedures; bypasses and writes of those that were
/// asked about.
#[derive(Debug)]
pub(super) struct Facts<'p> {
    pub(super) program: &'p Program,
    pub(super) places: Places,
    effects: Vec<Vec<Effect>>,
    /// *Mods*: the globals that a call of each procedure may write.
    mods: Vec<PlaceSet>,
    /// Whether a call of each procedure may not return although it does not run for ever; never
    /// with [`Stops::LikeLoops`].
    may_stop: Vec<bool>,
    stops: Stops,
    procedures: Vec<Option<(Bypass, Between)>>,
    /// Whether some edge starts, ends or awaits threads.
    pub(super) threads: bool,
}

impl<'p> Facts<'p> {
    pub(super) fn new(program: &'p Program, stops: Stops) -> Self {
        let places = Places::new(program);
        let effects: Vec<Vec<Effect>> = program
            .procedures()
            .map(|(procedure, body)| {
                let reader = Reader { program, places: &places, procedure, constants: None };
                body.edges.iter().map(|edge| reader.effect(edge)).collect()
            })
            .collect();
        let calls = CallGraph::new(program);
        let mods = mods(program, &calls, &effects);
        let thread = |operation: &Operation| {
            matches!(operation, Operation::StartThread(_) | Operation::EndThread | Operation::Sync)
        };
        let threads = program.procedures.iter().flat_map(|p| &p.edges).any(|edge| thread(&edge.operation));
        let procedures = program.procedures.iter().map(|_| None).collect();
        let may_stop = vec![false; program.procedures.len()];
        let mut facts = Self { program, places, effects, mods, may_stop, stops, procedures, threads };
        if stops != Stops::LikeLoops {
            facts.find_stops(&calls);
        }
        facts
    }

    /// Marks the procedures that may stop, callees first; those that call each other share the
    /// answer.
    fn find_stops(&mut self, calls: &CallGraph) {
        for component in calls.components() {
            let stops = component.iter().any(|&member| {
                let body = self.program.procedure(member);
                let mut ends = vec![false; body.locations.len()];
                for end in ends_of(body, self.stops) {
                    let before = body.graph().reversed().reverse_postorder(end.0);
                    before.iter().for_each(|at| ends[*at as usize] = true);
                }
                let reached = body.graph().reverse_postorder(body.entry.0);
                reached.iter().any(|at| !ends[*at as usize] || self.stops_at(member, LocationId(*at)))
            });
            component.iter().for_each(|member| self.may_stop[member.0 as usize] = stops);
        }
    }

    /// Whether a run may end at a location, or in a callee of it.
    fn stops_at(&self, procedure: ProcedureId, at: LocationId) -> bool {
        let body = self.program.procedure(procedure);
        let effects = &self.effects[procedure.0 as usize];
        let in_callee = body.edges_from(at).any(|(id, _)| match effects[id.0 as usize].passage {
            Passage::Call { callee, .. } => self.may_stop[callee.0 as usize],
            Passage::Within | Passage::Return { .. } => false,
        });
        !is_end(body, self.stops, at) && (in_callee || !always_goes_on(body, effects, at))
    }

    pub(super) fn effect(&self, edge: EdgeRef) -> &Effect {
        &self.effects[edge.procedure.0 as usize][edge.edge.0 as usize]
    }

    /// The effects of the edges of a path whose indices have values that are known there, but not
    /// from the text of the edge.
    pub(super) fn effects_along(&self, path: &[EdgeRef]) -> Vec<Option<Effect>> {
        let is_open = |edge: &EdgeRef| has_open_index(&self.program.edge(*edge).operation);
        if !path.iter().any(is_open) {
            return Vec::new();
        }
        let mut constants = Constants::new(self.program);
        let mut effects = Vec::with_capacity(path.len());
        for edge in path {
            effects.push(is_open(edge).then(|| {
                let (program, places, procedure) = (self.program, &self.places, edge.procedure);
                let reader = Reader { program, places, procedure, constants: Some(&constants) };
                reader.effect(self.program.edge(*edge))
            }));
            constants.step(*edge);
        }
        effects
    }

    /// The globals that a call may write.
    pub(super) fn mods(&self, procedure: ProcedureId) -> &PlaceSet {
        &self.mods[procedure.0 as usize]
    }

    /// Whether a call may stop the run.
    pub(super) fn may_stop(&self, procedure: ProcedureId) -> bool {
        self.may_stop[procedure.0 as usize]
    }

    /// Whether the edge is treated like an assumption: it may refuse to run, and then the run goes
    /// elsewhere.
    pub(super) fn is_guard(&self, edge: EdgeRef) -> bool {
        match self.effect(edge).guard {
            Guard::Open => false,
            Guard::Condition => true,
            Guard::Bounds => {
                let body = self.program.procedure(edge.procedure);
                self.stops != Stops::LikeLoops || body.edges_from(body.edge(edge.edge).from).count() > 1
            }
        }
    }

    fn of(&mut self, procedure: ProcedureId) -> &mut (Bypass, Between) {
        let index = procedure.0 as usize;
        if self.procedures[index].is_none() {
            let body = self.program.procedure(procedure);
            let stopping: Vec<LocationId> = match self.stops {
                Stops::LikeLoops => Vec::new(),
                Stops::LikeExits | Stops::ErrorsLikeLoops => {
                    body.location_ids().filter(|at| self.stops_at(procedure, *at)).collect()
                }
            };
            let bypass = Bypass::new(body, stopping.into_iter(), self.stops);
            let (effects, mods) = (&self.effects[index], &self.mods);
            let between = Between::new(body, |edge| {
                let effect = &effects[edge];
                let own = sorted(effect.writes().collect());
                match effect.passage {
                    Passage::Call { callee, .. } => super::between::join(&mods[callee.0 as usize], &own),
                    Passage::Within | Passage::Return { .. } => own,
                }
            });
            self.procedures[index] = Some((bypass, between));
        }
        match &mut self.procedures[index] {
            Some(facts) => facts,
            None => unreachable!("it was just put there"),
        }
    }

    /// Whether `from ∈ By.step`.
    pub(super) fn can_bypass(&mut self, procedure: ProcedureId, from: LocationId, step: LocationId) -> bool {
        self.of(procedure).0.can_bypass(from, step)
    }

    /// What may be written between two locations.
    pub(super) fn written(&mut self, procedure: ProcedureId, from: LocationId, to: LocationId) -> PlaceSet {
        self.of(procedure).1.written(from, to)
    }

    /// Whether something live may be written between two locations.
    pub(super) fn live_written(
        &mut self,
        procedure: ProcedureId,
        from: LocationId,
        to: LocationId,
        live: &Live,
    ) -> bool {
        let written = self.written(procedure, from, to);
        live.meets(&self.places, procedure, &written)
    }
}

/// Where runs may end without being stuck: the exit, and other errors if they count as runs that go
/// on for ever.
pub(super) fn ends_of(body: &Procedure, stops: Stops) -> impl Iterator<Item = LocationId> {
    body.location_ids().filter(move |at| is_end(body, stops, *at))
}

fn is_end(body: &Procedure, stops: Stops, at: LocationId) -> bool {
    let location = body.location(at);
    let fails = location.kind == LocationKind::Error;
    at == body.exit || (fails && (stops == Stops::ErrorsLikeLoops || location.violation.is_some()))
}

fn sorted(mut places: Vec<Place>) -> PlaceSet {
    places.sort_unstable();
    places.dedup();
    places.into()
}

/// *Mods* of all procedures: as [`ModRef`](crate::ModRef), with cells kept apart.
fn mods(program: &Program, calls: &CallGraph, effects: &[Vec<Effect>]) -> Vec<PlaceSet> {
    let mut mods: Vec<PlaceSet> = program.procedures.iter().map(|_| Rc::from([])).collect();
    for component in calls.components() {
        let mut joint = Vec::new();
        for member in component {
            let own = effects[member.0 as usize].iter().flat_map(Effect::writes);
            joint.extend(own.filter(|place| matches!(place, Place::Global(_))));
            for callee in calls.callees(*member) {
                joint.extend(mods[callee.0 as usize].iter().copied());
            }
        }
        let joint = sorted(joint);
        component.iter().for_each(|member| mods[member.0 as usize] = Rc::clone(&joint));
    }
    mods
}
