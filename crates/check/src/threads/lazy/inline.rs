//! The sequential program: the code of all threads with its calls inlined, and a scheduler.
//!
//! Each thread has a program counter. A thread that may be interrupted goes to the scheduler, which
//! goes on where some thread stands. Threads are those of the starts that are left when calls are
//! inlined; a start that is taken again is cut, and the cut is a check of its own.

use std::collections::{BTreeMap, BTreeSet};

use wherefore_program::{
    Argument, Assignment, BinaryOp, Call, Edge, EdgeRef, ErrorKind, ErrorSite, Expr, ExprKind, Location,
    LocationId, LocationKind, Node, Operation, Procedure, ProcedureId, Program, Scalar, Span, SwitchPoints,
    Target, ThreadStart, Threads, Type, Var, Variable, thread_starts,
};

use crate::threads::eager::rename;

/// More locations than this are too many.
const MOST: usize = 30_000;

/// A procedure that was put in line.
pub(super) struct Instance {
    pub procedure: ProcedureId,
    /// Who calls it, and the call.
    pub parent: Option<(usize, EdgeRef)>,
    pub thread: usize,
    /// Where its variables begin.
    pub locals: u32,
    /// Where its locations begin.
    places: u32,
}

/// The sequential program for all schedules with a number of switches.
pub(super) struct Inlined {
    pub program: Program,
    /// The errors: those of the task, then the cut.
    pub checks: Vec<ErrorSite>,
    /// For each check, the one of the task.
    pub targets: Vec<Option<usize>>,
    /// For each edge, the thread and its step.
    pub steps: Vec<Option<(usize, EdgeRef)>>,
    /// For each location, the instance and the location there.
    pub places: Vec<Option<(usize, LocationId)>>,
    pub instances: Vec<Instance>,
    /// For each thread its first instance, and where it starts.
    pub threads: Vec<(usize, LocationId)>,
    /// For each thread, its copies of global variables that are not shared.
    pub own: Vec<BTreeMap<u32, u32>>,
    pub atomic: u32,
}

struct Builder<'a> {
    program: &'a Program,
    points: SwitchPoints,
    switches: usize,
    locations: Vec<Location>,
    places: Vec<Option<(usize, LocationId)>>,
    edges: Vec<(Edge, Option<(usize, EdgeRef)>)>,
    variables: Vec<Variable>,
    instances: Vec<Instance>,
    threads: Vec<(usize, LocationId)>,
    own: Vec<BTreeMap<u32, u32>>,
    counters: Vec<u32>,
    /// Points where threads may be resumed.
    resumed: BTreeSet<LocationId>,
    scheduler: LocationId,
    cut: LocationId,
    atomic: u32,
    span: Span,
}

const COUNTER: Scalar = Scalar::Bits(16);
const ENDED: u64 = 0xffff;

/// The sequential program; none if calls cannot be inlined, or the program is too large then.
pub(super) fn inline(program: &Program, checks: &[ErrorSite], switches: usize) -> Option<Inlined> {
    let span = program.procedure(program.entry).span;
    let mut builder = Builder {
        program,
        points: SwitchPoints::visible(program),
        switches,
        locations: vec![Location {
            span,
            labels: Vec::new(),
            kind: LocationKind::Exit,
            called: None,
            violation: None,
        }],
        places: vec![None],
        edges: Vec::new(),
        variables: Vec::new(),
        instances: Vec::new(),
        threads: Vec::new(),
        own: Vec::new(),
        counters: Vec::new(),
        resumed: BTreeSet::new(),
        scheduler: LocationId(0),
        cut: LocationId(0),
        atomic: 0,
        span,
    };
    builder.scheduler = builder.location(LocationKind::Branch);
    builder.cut = builder.location(LocationKind::Error);
    builder.atomic = builder.variable("@atomic", Scalar::Bool, 0);
    let entry = builder.thread(program.entry, program.procedure(program.entry).entry)?;
    builder.schedule();
    builder.finish(checks, entry)
}

impl Builder<'_> {
    fn location(&mut self, kind: LocationKind) -> LocationId {
        self.locations.push(Location {
            span: self.span,
            labels: Vec::new(),
            kind,
            called: None,
            violation: None,
        });
        self.places.push(None);
        LocationId(self.locations.len() as u32 - 1)
    }

    fn variable(&mut self, name: &str, ty: Scalar, initial: u64) -> u32 {
        self.variables.push(Variable {
            name: format!("{name}{}", self.variables.len()),
            ty: Type::Scalar(ty),
            value_names: None,
            signed: false,
            float: false,
            pointer: false,
            shared: false,
            initial: Some(initial),
            span: self.span,
        });
        self.variables.len() as u32 - 1
    }

    fn edge(
        &mut self,
        from: LocationId,
        to: LocationId,
        operation: Operation,
        step: Option<(usize, EdgeRef)>,
    ) {
        let span = step.map_or(self.span, |(_, edge)| self.program.edge(edge).span);
        self.edges.push((Edge { from, to, operation, span }, step));
    }

    /// A thread that starts at a location of a procedure.
    fn thread(&mut self, root: ProcedureId, at: LocationId) -> Option<LocationId> {
        let thread = self.threads.len();
        let initial = if thread == 0 { ENDED } else { 0 };
        let counter = self.variable("@counter", COUNTER, initial);
        self.counters.push(counter);
        let mut own = BTreeMap::new();
        for (i, variable) in self.program.globals.iter().enumerate() {
            if !variable.shared && !variable.ty.is_memory() {
                let copy = self.variable(&variable.name, variable.ty.element(), variable.initial?);
                own.insert(i as u32, copy);
            }
        }
        self.own.push(own);
        let instance = self.instances.len();
        self.threads.push((instance, at));
        self.body(root, None, thread, at)?;
        Some(LocationId(self.instances[instance].places + at.0))
    }

    /// Puts a procedure in line, as far as it can be reached from a location.
    fn body(
        &mut self,
        id: ProcedureId,
        parent: Option<(usize, EdgeRef)>,
        thread: usize,
        start: LocationId,
    ) -> Option<usize> {
        let mut above = parent;
        while let Some((instance, _)) = above {
            if self.instances[instance].procedure == id {
                return None;
            }
            above = self.instances[instance].parent;
        }
        let original = self.program.procedure(id);
        if self.locations.len() + original.locations.len() > MOST || self.threads.len() > 8 {
            return None;
        }
        let instance = self.instances.len();
        let (places, locals) = (self.locations.len() as u32, self.variables.len() as u32);
        for variable in &original.variables {
            if matches!(variable.ty, Type::Array { .. }) && parent.is_none() && thread > 0 {
                return None;
            }
            self.variables
                .push(Variable { name: format!("{}@{instance}", variable.name), ..variable.clone() });
        }
        for at in original.location_ids() {
            let location = original.location(at);
            let kind =
                if location.kind == LocationKind::Exit { LocationKind::Statement } else { location.kind };
            self.locations.push(Location { kind, labels: Vec::new(), ..location.clone() });
            self.places.push(Some((instance, at)));
        }
        self.instances.push(Instance { procedure: id, parent, thread, locals, places });
        let mut seen = BTreeSet::from([start]);
        let mut work = vec![start];
        while let Some(at) = work.pop() {
            let here = LocationId(places + at.0);
            let is_point = match &self.points {
                SwitchPoints::All => true,
                SwitchPoints::Visible(points) => points[id.0 as usize][at.0 as usize],
            };
            let is_last =
                matches!(original.location(at).kind, LocationKind::Error | LocationKind::Unsupported);
            if is_point && !is_last {
                self.resumed.insert(here);
                self.interrupt(here, thread);
            }
            for (edge, next) in original.edges_from(at) {
                let step = EdgeRef { procedure: id, edge };
                self.step(instance, step, here)?;
                if seen.insert(next.to) && next.to != original.exit {
                    work.push(next.to);
                }
            }
        }
        Some(instance)
    }

    /// The thread may be interrupted here.
    fn interrupt(&mut self, at: LocationId, thread: usize) {
        let constraint = Some(Expr::variable(Var::Local(self.atomic), Scalar::Bool).not());
        let stands = Expr::constant(u64::from(at.0), COUNTER);
        let targets = vec![Var::Local(self.counters[thread]).into()];
        let operation = Operation::Assign(Assignment { targets, values: vec![stands], constraint });
        self.edge(at, self.scheduler, operation, None);
    }

    fn step(&mut self, instance: usize, step: EdgeRef, from: LocationId) -> Option<()> {
        let Instance { thread, locals, places, parent, .. } = self.instances[instance];
        let own = self.own[thread].clone();
        let map = move |variable: Var| match variable {
            Var::Local(i) => Var::Local(locals + i),
            Var::Global(i) => own.get(&i).map_or(variable, |copy| Var::Local(*copy)),
        };
        let here = self.program.edge(step);
        let to = LocationId(places + here.to.0);
        let taken = Some((thread, step));
        let set = |variable: u32, value: Expr| Assignment {
            targets: vec![Var::Local(variable).into()],
            values: vec![value],
            constraint: None,
        };
        let end = |builder: &mut Self| {
            let mut ended = set(builder.counters[thread], Expr::constant(ENDED, COUNTER));
            ended.targets.push(Var::Local(builder.atomic).into());
            ended.values.push(Expr::bool(false));
            builder.edge(from, builder.scheduler, Operation::Assign(ended), taken);
        };
        match &here.operation {
            Operation::Skip => self.edge(from, to, Operation::Skip, taken),
            Operation::Assume(condition) => {
                self.edge(from, to, Operation::Assume(rename::expr(condition, &map)), taken);
            }
            Operation::Assign(part) => {
                self.edge(from, to, Operation::Assign(rename::assignment(part, &map, None)), taken);
            }
            Operation::Havoc(targets) => {
                let targets = targets.iter().map(|target| rename::target(target, &map)).collect();
                self.edge(from, to, Operation::Havoc(targets), taken);
            }
            Operation::AtomicBegin => {
                let inside = set(self.atomic, Expr::bool(true));
                self.edge(from, to, Operation::Assign(inside), taken);
            }
            Operation::AtomicEnd => {
                let outside = set(self.atomic, Expr::bool(false));
                self.edge(from, to, Operation::Assign(outside), taken);
            }
            Operation::EndThread => end(self),
            Operation::Return(values) => match parent {
                None => end(self),
                Some((caller, edge)) => {
                    let operation = self.returned(values, &map, caller, edge);
                    let back = self.program.edge(edge).to;
                    let back = LocationId(self.instances[caller].places + back.0);
                    self.edge(from, back, operation, taken);
                }
            },
            Operation::Call(call) => {
                let entry = self.program.procedure(call.callee).entry;
                let callee = self.body(call.callee, Some((instance, step)), thread, entry)?;
                let operation = self.called(call, &map, callee)?;
                let entry = LocationId(self.instances[callee].places + entry.0);
                self.edge(from, entry, operation, taken);
            }
            Operation::StartThread(ThreadStart::At(at)) => {
                let started = self.threads.len();
                let place = self.thread(step.procedure, *at)?;
                self.resumed.insert(place);
                self.start(instance, (started, place), (from, to), taken);
            }
            Operation::StartThread(ThreadStart::Call { .. }) | Operation::Sync => return None,
        }
        Some(())
    }

    /// Gives a callee its arguments and fresh variables.
    fn called(&self, call: &Call, map: &impl Fn(Var) -> Var, callee: usize) -> Option<Operation> {
        if call.assignment != Assignment::default() {
            return None;
        }
        let Instance { procedure, locals, .. } = self.instances[callee];
        let (mut targets, mut values): (Vec<Target>, Vec<Expr>) = (Vec::new(), Vec::new());
        for (i, variable) in self.program.procedure(procedure).variables.iter().enumerate() {
            let ty = variable.ty.element();
            let any = || Expr { kind: ExprKind::Choice { below: variable.limit() }, ty };
            let value = match (call.arguments.get(i), variable.initial) {
                (Some(Argument::Value(value)), _) => rename::expr(value, map),
                (Some(Argument::Arbitrary), _) | (None, None) => any(),
                (None, Some(value)) => Expr::constant(value, ty),
                (Some(Argument::Copy(..)), _) => return None,
            };
            for cell in 0..variable.ty.cell_count() {
                let indices = variable.ty.indices(cell).into_iter();
                let indices = indices.map(|index| Expr::constant(index, Scalar::Bits(32))).collect();
                targets.push(Target { variable: Var::Local(locals + i as u32), indices });
                values.push(value.clone());
            }
        }
        Some(Operation::Assign(Assignment { targets, values, constraint: None }))
    }

    /// Hands results to the caller.
    fn returned(
        &self,
        values: &[Expr],
        map: &impl Fn(Var) -> Var,
        caller: usize,
        edge: EdgeRef,
    ) -> Operation {
        let Operation::Call(call) = &self.program.edge(edge).operation else {
            unreachable!("a callee was called");
        };
        let Instance { procedure, thread, locals, .. } = self.instances[caller];
        let own = &self.own[thread];
        let back = |variable: Var| match variable {
            Var::Local(i) => Var::Local(locals + i),
            Var::Global(i) => own.get(&i).map_or(variable, |copy| Var::Local(*copy)),
        };
        let (mut targets, mut given) = (Vec::new(), Vec::new());
        for (value, target) in values.iter().zip(&call.results) {
            let Some(target) = target else { continue };
            let value = rename::expr(value, map);
            let ty = self.program.variable(procedure, target.variable).ty.element();
            given.push(match (ty, value.ty) {
                (Scalar::Bits(width), Scalar::Bits(_)) => value.zero_extend(width),
                _ => value,
            });
            targets.push(rename::target(target, &back));
        }
        if targets.is_empty() {
            return Operation::Skip;
        }
        Operation::Assign(Assignment { targets, values: given, constraint: None })
    }

    /// A thread begins with copies of the variables of the one that starts it.
    fn start(
        &mut self,
        instance: usize,
        (started, place): (usize, LocationId),
        (from, to): (LocationId, LocationId),
        taken: Option<(usize, EdgeRef)>,
    ) {
        let thread = self.instances[instance].thread;
        let first = self.threads[started].0;
        let (old, new) = (self.instances[instance].locals, self.instances[first].locals);
        let procedure = self.program.procedure(self.instances[instance].procedure);
        let counter = Expr::variable(Var::Local(self.counters[started]), COUNTER);
        let fresh = Expr::binary(BinaryOp::Eq, counter, Expr::constant(0, COUNTER));
        let mut targets: Vec<Target> = vec![Var::Local(self.counters[started]).into()];
        let mut values = vec![Expr::constant(u64::from(place.0), COUNTER)];
        for (i, variable) in procedure.variables.iter().enumerate() {
            targets.push(Var::Local(new + i as u32).into());
            values.push(Expr::variable(Var::Local(old + i as u32), variable.ty.element()));
        }
        for (i, copy) in &self.own[started] {
            targets.push(Var::Local(*copy).into());
            let ty = self.program.globals[*i as usize].ty.element();
            values.push(Expr::variable(Var::Local(self.own[thread][i]), ty));
        }
        let begin = Assignment { targets, values, constraint: Some(fresh.clone()) };
        self.edge(from, to, Operation::Assign(begin), taken);
        self.edge(from, self.cut, Operation::Assume(fresh.not()), None);
    }

    /// The scheduler goes on where some thread stands, and counts switches.
    fn schedule(&mut self) {
        let width = Scalar::Bits(8);
        let used = self.variable("@switches", width, 0);
        let is_fixed = matches!(thread_starts(self.program), Threads::Fixed(_));
        let first = self.variable("@first", Scalar::Bool, u64::from(is_fixed));
        let most = Expr::constant(self.switches as u64, width);
        for thread in 0..self.threads.len() {
            let turn = self.location(LocationKind::Branch);
            let now = Expr::variable(Var::Local(used), width);
            let more = Expr::binary(BinaryOp::Add, now.clone(), Expr::constant(1, width));
            let started = self.counters.iter().map(|counter| {
                let counter = Expr::variable(Var::Local(*counter), COUNTER);
                Expr::binary(BinaryOp::Ne, counter, Expr::constant(0, COUNTER))
            });
            let mut free: Vec<Expr> = started.collect();
            free.push(Expr::variable(Var::Local(first), Scalar::Bool));
            let value = Expr::if_then_else(Expr::all(free), now, more);
            let operation = Operation::Assign(Assignment {
                targets: vec![Var::Local(used).into(), Var::Local(first).into()],
                values: vec![value, Expr::bool(false)],
                constraint: Some(Expr::binary(
                    BinaryOp::ULe,
                    Expr::next(Var::Local(used), width),
                    most.clone(),
                )),
            });
            self.edge(self.scheduler, turn, operation, None);
            let here = |at: &&LocationId| {
                let place = self.places[at.0 as usize];
                place.is_some_and(|(instance, _)| self.instances[instance].thread == thread)
            };
            for at in self.resumed.iter().filter(here).copied().collect::<Vec<_>>() {
                let counter = Expr::variable(Var::Local(self.counters[thread]), COUNTER);
                let stands = Expr::constant(u64::from(at.0), COUNTER);
                let condition = Expr::binary(BinaryOp::Eq, counter, stands);
                self.edge(turn, at, Operation::Assume(condition), None);
            }
        }
    }

    fn finish(mut self, checks: &[ErrorSite], entry: LocationId) -> Option<Inlined> {
        if self.locations.len() >= ENDED as usize {
            return None;
        }
        let (mut sites, mut targets) = (Vec::new(), Vec::new());
        for (at, place) in self.places.iter().enumerate() {
            let Some((instance, location)) = *place else { continue };
            let node = Node { procedure: self.instances[instance].procedure, location };
            let Some(target) = checks.iter().position(|site| site.node == node) else { continue };
            let node = Node { procedure: ProcedureId(0), location: LocationId(at as u32) };
            sites.push(ErrorSite { node, kind: ErrorKind::Assertion });
            targets.push(Some(target));
        }
        let node = Node { procedure: ProcedureId(0), location: self.cut };
        sites.push(ErrorSite { node, kind: ErrorKind::Assertion });
        targets.push(None);
        self.edges.sort_by_key(|(edge, _)| edge.from);
        let steps = self.edges.iter().map(|(_, step)| *step).collect();
        let procedure = Procedure {
            name: "@schedule".to_owned(),
            span: self.span,
            parameters: 0,
            variables: self.variables,
            results: Vec::new(),
            locations: self.locations,
            edges: self.edges.into_iter().map(|(edge, _)| edge).collect(),
            entry,
            exit: LocationId(0),
        };
        let program = Program {
            sources: self.program.sources.clone(),
            globals: self.program.globals.clone(),
            procedures: vec![procedure],
            entry: ProcedureId(0),
            objects: self.program.objects.clone(),
        };
        program.check().ok()?;
        Some(Inlined {
            program,
            checks: sites,
            targets,
            steps,
            places: self.places,
            instances: self.instances,
            threads: self.threads,
            own: self.own,
            atomic: self.atomic,
        })
    }
}
