//! The walk along a path, from its end to its start: Algorithm *PathSlice*.

use std::ops::ControlFlow;

use super::effects::{Effect, Passage};
use super::facts::Facts;
use super::live::Live;
use super::path::Path;
use super::places::Place;
use super::slice::{Lvalue, Owner, PathSlice, Visit, WalkEnd};
use super::{CallStack, Record, SliceOptions, Taken};
use crate::expression::Var;
use crate::program::{EdgeRef, LocationId, ProcedureId};

/// The state of a walk. The live lvalues and the step location belong to the point before the edge
/// looked at last.
pub(super) struct Walk<'w, 'p> {
    facts: &'w mut Facts<'p>,
    path: &'w Path<'w>,
    options: SliceOptions,
    live: Live,
    step: LocationId,
    /// The calls that began the open frames but the first.
    frames: Vec<usize>,
    taken: Vec<usize>,
    visits: Vec<Visit>,
    /// Effects of edges that the path says more about than their text.
    along: Vec<Option<Effect>>,
}

impl<'w, 'p> Walk<'w, 'p> {
    pub(super) fn new(facts: &'w mut Facts<'p>, path: &'w Path<'w>, options: SliceOptions) -> Self {
        let depth = if path.ended { 0 } else { path.open.len() + 1 };
        let along = facts.effects_along(path.edges);
        Self {
            along,
            facts,
            path,
            options,
            live: Live::new(depth),
            step: path.end.1,
            frames: path.open.clone(),
            taken: Vec::new(),
            visits: Vec::new(),
        }
    }

    /// Walks to the start, or until `hook` says that it is enough.
    pub(super) fn run(mut self, hook: &mut dyn FnMut(Taken) -> ControlFlow<()>) -> PathSlice {
        // The edges from `rest` on have been looked at or skipped.
        let mut rest = self.path.edges.len();
        let mut end = WalkEnd::Start;
        while rest > 0 {
            let position = rest - 1;
            let edge = self.path.edges[position];
            let before = self.taken.len();
            rest = match self.effect(position).passage {
                Passage::Within => self.within(position, edge),
                Passage::Call { .. } => self.call(position, edge),
                Passage::Return { .. } => self.back(position, edge),
            };
            if self.options.record == Record::Visits {
                let visit = Visit { position, live: self.lvalues(), step: self.step };
                self.visits.push(visit);
            }
            if self.taken.len() > before && hook(Taken { position, edge }).is_break() {
                end = WalkEnd::Stopped;
                break;
            }
        }
        self.taken.reverse();
        PathSlice { live: self.lvalues(), taken: self.taken, end, visits: self.visits }
    }

    /// What an edge of the path does to data.
    fn effect(&self, position: usize) -> &Effect {
        match self.along.get(position) {
            Some(Some(effect)) => effect,
            _ => self.facts.effect(self.path.edges[position]),
        }
    }

    fn take(&mut self, position: usize, edge: EdgeRef) {
        self.taken.push(position);
        self.step = self.source(edge);
    }

    fn source(&self, edge: EdgeRef) -> LocationId {
        self.facts.program.edge(edge).from
    }

    /// *Take* for assignments and assumptions, with lines 7 to 12 of the algorithm.
    fn within(&mut self, position: usize, edge: EdgeRef) -> usize {
        let (procedure, from, step) = (edge.procedure, self.source(edge), self.step);
        let writes_live = self.writes_live(position, edge);
        let decides = !writes_live
            && self.facts.is_guard(edge)
            && (self.facts.can_bypass(procedure, from, step)
                || self.facts.live_written(procedure, from, step, &self.live));
        if writes_live || decides {
            self.update(position, edge);
            self.take(position, edge);
        }
        position
    }

    fn writes_live(&self, position: usize, edge: EdgeRef) -> bool {
        let mut parts = self.effect(position).parts.iter();
        parts.any(|part| self.live.may_alias(&self.facts.places, edge.procedure, part.target))
    }

    /// `Live := (Live \ Wt.op) ∪ Rd.op` for what the edge writes in its own frame.
    fn update(&mut self, position: usize, edge: EdgeRef) {
        let Self { along, facts, live, .. } = self;
        let effect = match along.get(position) {
            Some(Some(effect)) => effect,
            _ => facts.effect(edge),
        };
        let places = &facts.places;
        let matters = |target: Place| effect.entangled || live.may_alias(places, edge.procedure, target);
        let parts: Vec<_> = effect.parts.iter().filter(|part| matters(part.target)).collect();
        for part in &parts {
            live.kill(places, edge.procedure, part.target);
        }
        for part in parts {
            live.add(&part.reads);
        }
        live.add(&effect.condition);
    }

    /// A call is always taken, so that locations are compared inside one procedure only. It gives
    /// the parameters their values and all other variables of the frame new ones: nothing of the
    /// frame is live before it.
    fn call(&mut self, position: usize, edge: EdgeRef) -> usize {
        let returned = self.path.open.binary_search(&position).is_err();
        let live = self.live.pop();
        self.frames.pop();
        // The assignment comes before the callee starts, but arguments may see it: their reads
        // count as after it.
        let effect = self.effect(position);
        let mut read: Vec<Place> = Vec::new();
        if let Passage::Call { callee, arguments, .. } = &effect.passage {
            for (parameter, reads) in (0..).zip(arguments) {
                let range = self.facts.places.local_range(*callee, parameter);
                if effect.entangled || live.range(range).next().is_some() {
                    read.extend(reads);
                }
            }
        }
        let now: Vec<Place> = match &effect.passage {
            Passage::Call { arguments, .. } if effect.entangled => arguments.concat(),
            _ => Vec::new(),
        };
        self.live.add(&read);
        self.update(position, edge);
        // … and as before it: which of the two they mean does not matter here.
        self.live.add(&now);
        self.take(position, edge);
        let from = self.step;
        let skip = self.options.call_stack == CallStack::Skip && !returned && {
            let entry = self.facts.program.procedure(edge.procedure).entry;
            !self.facts.live_written(edge.procedure, entry, from, &self.live)
        };
        match self.path.frames[position] {
            _ if !skip => position,
            Some(call) => call + 1,
            None => 0,
        }
    }

    /// A return is taken if the callee may write something live; else the callee is skipped as a
    /// whole.
    fn back(&mut self, position: usize, edge: EdgeRef) -> usize {
        let Some(call) = self.path.frames[position] else {
            // The end of the run: the first frame comes into being, and nothing is live.
            self.live.push();
            return position;
        };
        let call_edge = self.path.edges[call];
        let caller = call_edge.procedure;
        if !self.callee_matters(call, edge.procedure) {
            return call;
        }
        let (mut reads, mut killed, mut indices) = (Vec::new(), Vec::new(), Vec::new());
        let (calling, returning) = (self.effect(call), self.effect(position));
        if let (Passage::Call { results, .. }, Passage::Return { values }) =
            (&calling.passage, &returning.passage)
        {
            let entangled = calling.entangled || returning.entangled;
            let (live, places) = (&self.live, &self.facts.places);
            let matters = |target: Place| entangled || live.may_alias(places, caller, target);
            let used =
                results.iter().zip(values).filter_map(|(result, value)| Some((result.as_ref()?, value)));
            for (result, value) in used.filter(|(result, _)| matters(result.target)) {
                killed.push(result.target);
                indices.extend_from_slice(&result.reads);
                reads.extend_from_slice(value);
            }
        }
        for target in killed {
            self.live.kill(&self.facts.places, caller, target);
        }
        self.live.add(&indices);
        self.live.push();
        self.live.add(&reads);
        self.frames.push(call);
        self.take(position, edge);
        position
    }

    /// Whether a call that has returned may have changed something live, or may have stopped.
    fn callee_matters(&self, position: usize, callee: ProcedureId) -> bool {
        let places = &self.facts.places;
        let call = self.path.edges[position];
        self.live.meets(places, call.procedure, self.facts.mods(callee))
            || self.effect(position).writes().any(|place| self.live.may_alias(places, call.procedure, place))
            || self.facts.may_stop(callee)
            || self.facts.is_guard(call)
    }

    fn lvalues(&self) -> Vec<Lvalue> {
        let entry = self.facts.program.entry;
        let lvalue = |owner: Owner, procedure: ProcedureId, place: Place| {
            let (variable, cell) = self.facts.places.variable_and_cell(procedure, place);
            let (Var::Global(variable) | Var::Local(variable)) = variable;
            Lvalue { owner, variable, cell }
        };
        let mut found: Vec<Lvalue> =
            self.live.globals().map(|place| lvalue(Owner::Program, entry, place)).collect();
        let calls = std::iter::once(None).chain(self.frames.iter().copied().map(Some));
        for (call, frame) in calls.zip(self.live.frames()) {
            let procedure = call.map_or(entry, |call| self.callee(call));
            found.extend(frame.map(|place| lvalue(Owner::Frame { procedure, call }, procedure, place)));
        }
        found
    }

    fn callee(&self, call: usize) -> ProcedureId {
        match self.facts.effect(self.path.edges[call]).passage {
            Passage::Call { callee, .. } => callee,
            Passage::Within | Passage::Return { .. } => self.facts.program.entry,
        }
    }
}
