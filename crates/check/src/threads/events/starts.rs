//! Starts of threads: what is shared from then on, and what a new thread begins with.

use wherefore_program::{Argument, Assignment, Call, Expr, LocationId, ProcedureId, Var};
use wherefore_smt::Term;

use super::access::reads_of;
use super::unfold::{Lane, Stop, Unfolding};
use crate::symbolic::Store;

impl Unfolding<'_> {
    /// The first start of a thread: from now on there is something shared. Main may be on this way
    /// or on others that are not followed yet.
    pub(super) fn share(&mut self, store: &Store) {
        if self.base.is_some() {
            return;
        }
        let mut base = store.clone();
        for coming in self.waiting.values().flatten() {
            base = coming.store.merged(&mut self.machine.terms, coming.guard, &base);
        }
        self.base = Some(base);
    }

    /// A new thread, with copies of the variables of the frame that starts it.
    pub(super) fn start(
        &mut self,
        procedure: ProcedureId,
        visit: usize,
        location: LocationId,
        (point, guard): (usize, Term),
        store: &Store,
    ) -> usize {
        let old = self.machine.flat.frame_of(self.visits[visit].place).first;
        let frame = self.machine.flat.template(procedure);
        let new = self.machine.flat.frames[frame as usize].first;
        let program = self.machine.flat.program;
        let mut own = Store::default();
        let base = self.base.clone().unwrap_or_default();
        for (i, variable) in program.globals.iter().enumerate() {
            let is_own = !variable.shared && !variable.ty.is_memory();
            own.set(i as u32, if is_own { store.get(i as u32) } else { base.get(i as u32) });
        }
        for i in 0..program.procedure(procedure).variables.len() as u32 {
            own.set(new + i, store.get(old + i));
        }
        self.lanes.push(Lane { start: Some(point), first: 0, points: Vec::new() });
        self.started.push((frame, location, guard, own));
        self.lanes.len() - 1
    }

    /// A new thread that runs a procedure.
    pub(super) fn start_call(
        &mut self,
        visit: usize,
        (callee, arguments): (ProcedureId, &[Argument]),
        (point, guard): (usize, Term),
        store: &Store,
    ) -> Result<usize, Stop> {
        let program = self.machine.flat.program;
        let mut reads = Vec::new();
        for argument in arguments {
            match argument {
                Argument::Value(value) => reads_of(value, &mut reads),
                Argument::Arbitrary => {}
                Argument::Copy(..) => return Err(Stop::TooLarge),
            }
        }
        // Arguments are values of the thread that starts it, and each thread has the same globals.
        let is_shared = |(variable, ..): &(Var, Vec<Expr>, u32)| matches!(variable, Var::Global(_));
        let has_own = program.globals.iter().any(|variable| !variable.shared && !variable.ty.is_memory());
        if has_own || reads.iter().any(is_shared) {
            return Err(Stop::TooLarge);
        }
        let caller = self.machine.flat.places[self.visits[visit].place as usize].frame;
        let frame = self.machine.flat.template(callee);
        let arguments = arguments.to_vec();
        let call = Call { callee, arguments, results: Vec::new(), assignment: Assignment::default() };
        self.machine.name_prefix(format!("v{visit}start{}", self.lanes.len()));
        let (_, entered, valid) = self.machine.call(store, caller, &call, frame);
        let guard = self.machine.terms.and(guard, valid);
        let mut own = self.base.clone().unwrap_or_default();
        let first = self.machine.flat.frames[frame as usize].first;
        for i in 0..program.procedure(callee).variables.len() as u32 {
            own.set(first + i, entered.get(first + i));
        }
        self.lanes.push(Lane { start: Some(point), first: 0, points: Vec::new() });
        self.started.push((frame, program.procedure(callee).entry, guard, own));
        Ok(self.lanes.len() - 1)
    }
}
