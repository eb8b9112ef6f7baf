//! The code of threads in the reduced program: the bodies of threads one behind the other in one
//! procedure, so that its weights are sets; procedures that they call as procedures.

use std::collections::{BTreeMap, BTreeSet};

use wherefore_program::{
    Argument, Assignment, Call, EdgeRef, Expr, ExprKind, Location, LocationId, LocationKind, Node, Operation,
    Procedure, ProcedureId, Program, Scalar, Span, SwitchPoints, Target, ThreadStart, Type, Var, Variable,
};

use super::plan::Plan;
use super::reduce::{Marked, Origin, Store, like, sorted};
use crate::rename;

/// A procedure under construction.
pub(super) struct Code {
    locations: Vec<Location>,
    edges: Vec<Marked>,
    variables: Vec<Variable>,
}

impl Code {
    pub fn new(span: Span) -> Self {
        let exit =
            Location { span, labels: Vec::new(), kind: LocationKind::Exit, called: None, violation: None };
        Self { locations: vec![exit], edges: Vec::new(), variables: Vec::new() }
    }

    pub fn location(&mut self, span: Span, kind: LocationKind) -> LocationId {
        self.locations.push(Location { span, labels: Vec::new(), kind, called: None, violation: None });
        LocationId(self.locations.len() as u32 - 1)
    }

    pub fn edge(
        &mut self,
        from: LocationId,
        to: LocationId,
        operation: Operation,
        span: Span,
        origin: Origin,
    ) {
        self.edges.push((from, to, operation, span, origin));
    }

    fn temporary(&mut self, ty: Scalar, span: Span) -> Var {
        let name = format!("@result{}", self.variables.len());
        self.variables.push(Variable {
            name,
            ty: Type::Scalar(ty),
            value_names: None,
            signed: false,
            float: false,
            pointer: false,
            shared: false,
            initial: Some(0),
            span,
        });
        Var::Local(self.variables.len() as u32 - 1)
    }

    pub fn finish(
        self,
        name: &str,
        results: Vec<Scalar>,
        entry: LocationId,
        parameters: usize,
    ) -> (Procedure, Vec<Origin>) {
        let (edges, origins) = sorted(self.edges);
        let procedure = Procedure {
            name: name.to_owned(),
            span: self.locations[0].span,
            parameters,
            variables: self.variables,
            results,
            locations: self.locations,
            edges,
            entry,
            exit: LocationId(0),
        };
        (procedure, origins)
    }
}

/// A body that was put into another procedure.
pub(super) struct Inlined {
    pub entry: LocationId,
    /// Where its variables begin.
    pub locals: u32,
}

/// Where a body goes when its thread ends or stops, or when it returns.
#[derive(Clone, Copy)]
enum Way {
    /// Both lead on to the next thread.
    Thread(LocationId),
    /// A call returns, or is unwound here.
    Call(LocationId),
}

/// The procedures that threads call, in the order of the program.
pub(super) fn called(program: &Program, plan: &Plan) -> BTreeSet<ProcedureId> {
    let mut found = BTreeSet::new();
    let mut roots: Vec<ProcedureId> = plan.instances.iter().map(|instance| instance.root).collect();
    roots.push(program.entry);
    let mut work = roots;
    let mut seen: BTreeSet<ProcedureId> = work.iter().copied().collect();
    while let Some(id) = work.pop() {
        for edge in &program.procedure(id).edges {
            if let Operation::Call(call) = &edge.operation {
                found.insert(call.callee);
                if seen.insert(call.callee) {
                    work.push(call.callee);
                }
            }
        }
    }
    found
}

/// What bodies are translated with.
pub(super) struct Context<'a> {
    pub store: &'a Store<'a>,
    /// The errors, by number.
    pub targets: &'a BTreeMap<Node, usize>,
    /// The procedures that are called.
    pub ids: &'a BTreeMap<ProcedureId, ProcedureId>,
}

impl Context<'_> {
    /// Puts the body of a thread into `code`; it goes on at `next`.
    pub fn inline(&self, code: &mut Code, id: ProcedureId, next: LocationId, interrupted: bool) -> Inlined {
        let locals = code.variables.len() as u32;
        code.variables.extend(self.store.program.procedure(id).variables.iter().cloned());
        let entry = self.body(code, id, locals, Way::Thread(next), interrupted);
        Inlined { entry, locals }
    }

    /// A procedure that threads call.
    pub fn procedure(&self, id: ProcedureId) -> (Procedure, Vec<Origin>) {
        let original = self.store.program.procedure(id);
        let mut code = Code::new(original.span);
        code.variables = original.variables.clone();
        let unwind = code.location(original.span, LocationKind::Return);
        let results: Vec<Expr> = original.results.iter().map(|ty| Expr::constant(0, *ty)).collect();
        code.edge(unwind, LocationId(0), Operation::Return(results), original.span, Origin::Other);
        let entry = self.body(&mut code, id, 0, Way::Call(unwind), true);
        code.finish(&original.name, original.results.clone(), entry, original.parameters)
    }

    fn body(&self, code: &mut Code, id: ProcedureId, locals: u32, way: Way, interrupted: bool) -> LocationId {
        let store = self.store;
        let original = store.program.procedure(id);
        let offset = code.locations.len() as u32;
        code.locations.extend(original.locations.iter().map(like));
        let place = |at: LocationId| LocationId(offset + at.0);
        let out = match way {
            Way::Thread(next) => next,
            Way::Call(unwind) => unwind,
        };
        for at in original.location_ids() {
            let location = original.location(at);
            let node = Node { procedure: id, location: at };
            if let Some(target) = self.targets.get(&node) {
                code.edge(place(at), out, self.fail(*target), location.span, Origin::Fail(*target));
            }
            let is_last = matches!(location.kind, LocationKind::Error | LocationKind::Exit);
            if is_last || !interrupted {
                continue;
            }
            let is_point = match &store.points {
                SwitchPoints::All => true,
                SwitchPoints::Visible(points) => points[id.0 as usize][at.0 as usize],
            };
            if let Some(advance) = store.advance().filter(|_| is_point) {
                code.edge(place(at), place(at), advance, location.span, Origin::Other);
            }
            // A thread that waits stops, and so does one that has come to where others may run.
            let may_wait = original.edges_from(at).all(|(_, edge)| match &edge.operation {
                Operation::Assume(_) => true,
                Operation::Assign(assignment) => {
                    assignment.constraint.is_some() || has_index(&edge.operation)
                }
                other => has_index(other),
            });
            if is_point || may_wait {
                code.edge(place(at), out, store.stop(), location.span, Origin::Other);
            }
        }
        for (edge, here) in original.edges() {
            let step = EdgeRef { procedure: id, edge };
            let (from, to, span) = (place(here.from), place(here.to), here.span);
            self.step(code, step, (from, to), locals, way, span);
        }
        place(original.entry)
    }

    /// The error is noted, unless one was noted before, and the thread stops.
    fn fail(&self, target: usize) -> Operation {
        let store = self.store;
        let none = Expr::binary(
            wherefore_program::BinaryOp::Eq,
            Expr::variable(store.error, store.error_type),
            Expr::constant(0, store.error_type),
        );
        let mut stop = match store.stop() {
            Operation::Assign(assignment) => assignment,
            _ => unreachable!("stopping is an assignment"),
        };
        stop.targets.push(store.error.into());
        stop.values.push(Expr::constant(target as u64 + 1, store.error_type));
        // Also inside of an atomic section.
        stop.targets.push(store.atomic.into());
        stop.values.push(Expr::bool(false));
        let constraint = stop.constraint.map(|constraint| without_atomic(constraint, store.atomic));
        stop.constraint = Some(Expr::all(constraint.into_iter().chain([none]).collect()));
        Operation::Assign(stop)
    }

    fn step(
        &self,
        code: &mut Code,
        step: EdgeRef,
        (from, to): (LocationId, LocationId),
        locals: u32,
        way: Way,
        span: Span,
    ) {
        let store = self.store;
        let operation = &store.program.edge(step).operation;
        let origin = Origin::Step(step);
        let assign = |variable: Var, value: bool| {
            Operation::Assign(Assignment {
                targets: vec![variable.into()],
                values: vec![Expr::bool(value)],
                constraint: None,
            })
        };
        match operation {
            Operation::Skip => code.edge(from, to, Operation::Skip, span, origin),
            Operation::AtomicBegin => code.edge(from, to, assign(store.atomic, true), span, origin),
            Operation::AtomicEnd => code.edge(from, to, assign(store.atomic, false), span, origin),
            Operation::EndThread => {
                let out = match way {
                    Way::Thread(out) | Way::Call(out) => out,
                };
                code.edge(from, out, assign(store.done, true), span, origin);
            }
            Operation::Return(values) => match way {
                Way::Thread(next) => code.edge(from, next, assign(store.done, true), span, origin),
                Way::Call(_) => {
                    let value = |value: &Expr| self.by_round(value, locals);
                    let values = values.iter().map(value).collect();
                    code.edge(from, LocationId(0), Operation::Return(values), span, origin);
                }
            },
            Operation::Assume(_) | Operation::Assign(_) | Operation::Havoc(_) => {
                for (round, guard) in self.rounds(operation) {
                    let map = |variable| store.at(variable, round, locals);
                    let new = match operation {
                        Operation::Assume(condition) => {
                            let parts = vec![rename::expr(condition, &map)];
                            Operation::Assume(Expr::all(guard.into_iter().chain(parts).collect()))
                        }
                        Operation::Assign(part) => Operation::Assign(rename::assignment(part, &map, guard)),
                        Operation::Havoc(targets) => self.havoc(targets, step.procedure, &map, guard),
                        _ => unreachable!("one of the three"),
                    };
                    code.edge(from, to, new, span, origin);
                }
            }
            Operation::Call(call) => self.call(code, call, (from, to), locals, way, (span, origin)),
            Operation::StartThread(ThreadStart::Call { arguments, .. }) => {
                self.start(code, step, arguments, (from, to), locals, span);
            }
            Operation::StartThread(ThreadStart::At(_)) | Operation::Sync => {
                unreachable!("such programs are refused")
            }
        }
    }

    /// The rounds that an operation is made for, each with its guard: one without a guard if the
    /// operation touches nothing that is copied.
    fn rounds(&self, operation: &Operation) -> Vec<(usize, Option<Expr>)> {
        let mut is_copied = false;
        operation.variables(&mut |variable| is_copied |= self.store.is_copied(variable));
        if !is_copied || self.store.plan.rounds == 1 {
            return vec![(0, None)];
        }
        (0..self.store.plan.rounds).map(|round| (round, Some(self.store.is_round(round)))).collect()
    }

    /// Arbitrary values, under a guard.
    fn havoc(
        &self,
        targets: &[Target],
        procedure: ProcedureId,
        map: &impl Fn(Var) -> Var,
        guard: Option<Expr>,
    ) -> Operation {
        let value = |target: &Target| {
            let variable = self.store.program.variable(procedure, target.variable);
            Expr { kind: ExprKind::Choice { below: variable.limit() }, ty: variable.ty.element() }
        };
        let values = targets.iter().map(value).collect();
        let targets = targets.iter().map(|target| rename::target(target, map)).collect();
        Operation::Assign(Assignment { targets, values, constraint: guard })
    }

    /// A value that is read in whatever round it is.
    fn by_round(&self, value: &Expr, locals: u32) -> Expr {
        let store = self.store;
        let mut is_copied = false;
        value.reads(&mut |variable, _| is_copied |= store.is_copied(variable));
        let of = |round: usize| rename::expr(value, &|variable| store.at(variable, round, locals));
        if !is_copied {
            return of(0);
        }
        let last = store.plan.rounds - 1;
        (0..last)
            .rev()
            .fold(of(last), |rest, round| Expr::if_then_else(store.is_round(round), of(round), rest))
    }

    fn call(
        &self,
        code: &mut Code,
        call: &Call,
        (from, to): (LocationId, LocationId),
        locals: u32,
        way: Way,
        (span, origin): (Span, Origin),
    ) {
        let store = self.store;
        let back = code.location(span, LocationKind::Statement);
        let types = &store.program.procedure(call.callee).results;
        // What is shared is written when the callee has returned, in the round of that moment.
        let own = |target: &Target| {
            let mut is_own = !store.is_copied(target.variable);
            let indices = target.indices.iter();
            indices.for_each(|index| index.reads(&mut |variable, _| is_own &= !store.is_copied(variable)));
            is_own
        };
        let mut late: Vec<(Target, Expr)> = Vec::new();
        let mut results = Vec::new();
        for (target, ty) in call.results.iter().zip(types) {
            results.push(match target {
                Some(target) if own(target) => {
                    Some(rename::target(target, &|variable| store.at(variable, 0, locals)))
                }
                Some(target) => {
                    let result = code.temporary(*ty, span);
                    late.push((target.clone(), Expr::variable(result, *ty)));
                    Some(result.into())
                }
                None => None,
            });
        }
        let before = Operation::Call(Call { results: Vec::new(), ..call.clone() });
        for (round, guard) in self.rounds(&before) {
            let map = |variable| store.at(variable, round, locals);
            let new = Call {
                callee: self.ids[&call.callee],
                arguments: call.arguments.iter().map(|argument| rename::argument(argument, &map)).collect(),
                results: results.clone(),
                assignment: rename::assignment(&call.assignment, &map, guard),
            };
            code.edge(from, back, Operation::Call(new), span, origin);
        }
        let out = match way {
            Way::Thread(out) | Way::Call(out) => out,
        };
        let done = Store::holds(store.done);
        code.edge(back, out, Operation::Assume(done.clone()), span, Origin::Other);
        if late.is_empty() {
            return code.edge(back, to, Operation::Assume(done.not()), span, Origin::Other);
        }
        for round in 0..store.plan.rounds {
            let map = |variable| store.at(variable, round, locals);
            let (mut targets, mut values) = (Vec::new(), Vec::new());
            for (target, value) in &late {
                let Var::Global(i) = target.variable else { unreachable!("locals are not copied") };
                let ty = store.program.globals[i as usize].ty.element();
                targets.push(rename::target(target, &map));
                values.push(match (ty, value.ty) {
                    (Scalar::Bits(width), Scalar::Bits(_)) => value.clone().zero_extend(width),
                    _ => value.clone(),
                });
            }
            let constraint = Some(Expr::all(vec![done.clone().not(), store.is_round(round)]));
            let assignment = Assignment { targets, values, constraint };
            code.edge(back, to, Operation::Assign(assignment), span, Origin::Other);
        }
    }

    /// A start takes the first free instance, or makes a thread that is not followed.
    fn start(
        &self,
        code: &mut Code,
        step: EdgeRef,
        arguments: &[Argument],
        (from, to): (LocationId, LocationId),
        locals: u32,
        span: Span,
    ) {
        let store = self.store;
        let instances = store.plan.instances.iter().enumerate();
        let here: Vec<usize> =
            instances.filter(|(_, instance)| instance.site == step).map(|(at, _)| at).collect();
        let operation = &store.program.edge(step).operation;
        for (position, &instance) in here.iter().enumerate() {
            let root = store.program.procedure(store.plan.instances[instance].root);
            for (round, guard) in self.rounds(operation) {
                let map = |variable| store.at(variable, round, locals);
                let mut targets: Vec<Target> = vec![store.started[instance].into()];
                let mut values = vec![store.round_now()];
                for (at, argument) in arguments.iter().enumerate() {
                    targets.push(store.arguments[instance][at].into());
                    let parameter = &root.variables[at];
                    values.push(match argument {
                        Argument::Value(value) => rename::expr(value, &map),
                        Argument::Arbitrary | Argument::Copy(..) => Expr {
                            kind: ExprKind::Choice { below: parameter.limit() },
                            ty: parameter.ty.element(),
                        },
                    });
                }
                store.pay_off(instance, &mut targets, &mut values);
                let mut parts = vec![store.is_started(instance).not()];
                parts.extend(here[..position].iter().map(|other| store.is_started(*other)));
                parts.extend(guard);
                let constraint = Some(Expr::all(parts));
                let assignment = Assignment { targets, values, constraint };
                let origin = Origin::Start(step, Some(instance));
                code.edge(from, to, Operation::Assign(assignment), span, origin);
            }
        }
        if store.plan.optional.contains(&step) {
            code.edge(from, to, Operation::Skip, span, Origin::Start(step, None));
        }
    }
}

/// Whether an operation reads or writes an element of an array: an index outside of it blocks.
fn has_index(operation: &Operation) -> bool {
    let mut found = false;
    let mut see = |value: &Expr| {
        value.walk(&mut |part| {
            found |= matches!(&part.kind, ExprKind::Read { indices, .. } if !indices.is_empty());
        });
    };
    match operation {
        Operation::Assume(condition) => see(condition),
        Operation::Assign(assignment) => {
            assignment.values.iter().for_each(&mut see);
            found |= assignment.targets.iter().any(|target| !target.indices.is_empty());
        }
        Operation::Havoc(targets) => found |= targets.iter().any(|target| !target.indices.is_empty()),
        Operation::Call(_) | Operation::Return(_) | Operation::StartThread(_) => return true,
        _ => {}
    }
    found
}

/// The conjunction without the part that forbids atomic sections.
fn without_atomic(constraint: Expr, atomic: Var) -> Expr {
    let forbids = Store::holds(atomic).not();
    let mut parts = Vec::new();
    let mut work = vec![constraint];
    while let Some(part) = work.pop() {
        match part.kind {
            ExprKind::Binary(wherefore_program::BinaryOp::And, left, right) => work.extend([*left, *right]),
            _ if part == forbids => {}
            _ => parts.push(part),
        }
    }
    Expr::all(parts)
}
