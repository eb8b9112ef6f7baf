//! The reduction of \[Lal09\] §7.1 to 7.4, program to program.
//!
//! All contexts of the first thread run first, then all of the second, and so on. Context i of
//! each thread works on copy i of what is shared; copies 2 to K start with guessed values, of which
//! snapshots are kept, and the checker at the end requires that copy i ends as the snapshot of copy
//! i + 1 began. So the store at the end of copy K is one that the threads reach in K rounds.
//!
//! **Divergences** (`docs/papers.md`, errata E8 to E12): a thread begins in any round and advances
//! by any number of rounds at once, so that contexts may be empty; it may stop anywhere, and calls
//! that are open then are unwound. An assertion that fails stops its thread, and counts only
//! behind the checker. A counter of contexts bounds the switches, not only the rounds. Atomic
//! sections are neither left nor advanced from. Starts of threads note their round: a thread begins
//! no earlier.

use std::collections::BTreeMap;

use wherefore_program::{
    Assignment, BinaryOp, EdgeId, EdgeRef, ErrorKind, ErrorSite, Expr, Location, LocationId, LocationKind,
    Node, Objects, Operation, Procedure, ProcedureId, Program, Scalar, Span, SwitchPoints, Target, Type, Var,
    Variable, When,
};

use super::body::Code;
use super::plan::{First, Plan};

/// What an edge of the reduced program stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// A step of the thread that is being run.
    Step(EdgeRef),
    /// A step that starts a thread: this instance, or one that is not followed.
    Start(EdgeRef, Option<usize>),
    /// An instance begins; 0 is the first thread.
    Begin(usize),
    /// The thread is at an error.
    Fail(usize),
    /// Bookkeeping.
    Other,
}

/// The reduced program.
pub(super) struct Reduced {
    /// The program.
    pub program: Program,
    /// Its errors, one for each check of the original program.
    pub checks: Vec<ErrorSite>,
    /// What its edges stand for, by procedure and edge.
    pub origins: Vec<Vec<Origin>>,
    /// The variable that holds the round.
    pub round: Var,
}

/// The variables of the reduced program.
pub(super) struct Store<'a> {
    pub program: &'a Program,
    pub plan: &'a Plan,
    pub globals: Vec<Variable>,
    /// Where each global variable is in each round.
    copies: Vec<Vec<Var>>,
    /// The snapshots of rounds 2, 3, …
    snapshots: BTreeMap<u32, Vec<Var>>,
    pub round: Var,
    /// How many contexts were begun.
    used: Option<Var>,
    pub atomic: Var,
    /// The thread has stopped: calls are unwound.
    pub done: Var,
    pub error: Var,
    /// The first thread is in its first context and has not started all others.
    penalty: Option<Var>,
    /// For each instance the round in which it was started; 0 if it was not.
    pub started: Vec<Var>,
    /// The arguments of each instance.
    pub arguments: Vec<Vec<Var>>,
    round_type: Scalar,
    used_type: Scalar,
    pub error_type: Scalar,
    /// Where threads may be interrupted.
    pub points: SwitchPoints,
}

fn width(most: usize) -> Scalar {
    Scalar::Bits((usize::BITS - most.leading_zeros()).max(1))
}

impl<'a> Store<'a> {
    fn new(program: &'a Program, plan: &'a Plan, checks: usize) -> Self {
        let mut globals: Vec<Variable> = Vec::new();
        let nowhere = program.procedure(program.entry).span;
        let mut add = |name: String, ty: Type, initial: Option<u64>, like: Option<&Variable>| {
            let (value_names, signed) = like.map_or((None, false), |v| (v.value_names.clone(), v.signed));
            let span = like.map_or(nowhere, |variable| variable.span);
            globals.push(Variable {
                name,
                ty,
                value_names,
                signed,
                float: false,
                pointer: false,
                shared: true,
                initial,
                span,
            });
            Var::Global(globals.len() as u32 - 1)
        };
        let (mut copies, mut snapshots) = (Vec::new(), BTreeMap::new());
        for (i, variable) in program.globals.iter().enumerate() {
            let name = &variable.name;
            let first = add(format!("{name}@1"), variable.ty.clone(), variable.initial, Some(variable));
            let mut rounds = vec![first; plan.rounds];
            if plan.copied.contains(&(i as u32)) {
                let mut guessed = Vec::new();
                for (at, copy) in rounds.iter_mut().enumerate().skip(1) {
                    let at = at + 1;
                    *copy = add(format!("{name}@{at}"), variable.ty.clone(), None, Some(variable));
                    guessed.push(add(format!("{name}@guess{at}"), variable.ty.clone(), None, Some(variable)));
                }
                snapshots.insert(i as u32, guessed);
            }
            copies.push(rounds);
        }
        let round_type = width(plan.rounds);
        // One more than the bound, so that a step beyond it does not wrap.
        let used_type = width(plan.contexts.unwrap_or(0) + 2);
        let error_type = width(checks);
        let scalar = Type::Scalar;
        let round = add("@round".to_owned(), scalar(round_type), Some(1), None);
        let begun = u64::from(plan.first == First::Counted);
        let used = plan.contexts.map(|_| add("@used".to_owned(), scalar(used_type), Some(begun), None));
        let atomic = add("@atomic".to_owned(), Type::BOOL, Some(0), None);
        let done = add("@done".to_owned(), Type::BOOL, Some(0), None);
        let error = add("@error".to_owned(), scalar(error_type), Some(0), None);
        let has_penalty = plan.first == First::Fixed && plan.contexts.is_some();
        let penalty = has_penalty.then(|| add("@penalty".to_owned(), Type::BOOL, Some(1), None));
        let (mut started, mut arguments) = (Vec::new(), Vec::new());
        for (i, instance) in plan.instances.iter().enumerate() {
            let root = program.procedure(instance.root);
            started.push(add(format!("@started{i}"), scalar(round_type), Some(0), None));
            let parameters = root.variables[..root.parameters].iter();
            let argument = |parameter: &Variable| {
                add(
                    format!("@argument{i}.{}", parameter.name),
                    parameter.ty.clone(),
                    Some(0),
                    Some(parameter),
                )
            };
            arguments.push(parameters.map(argument).collect());
        }
        Self {
            program,
            plan,
            globals,
            copies,
            snapshots,
            round,
            used,
            atomic,
            done,
            error,
            penalty,
            started,
            arguments,
            round_type,
            used_type,
            error_type,
            points: SwitchPoints::visible(program),
        }
    }

    /// A variable in a round, counted from 0; locals begin at `locals`.
    pub fn at(&self, variable: Var, round: usize, locals: u32) -> Var {
        match variable {
            Var::Global(i) => self.copies[i as usize][round],
            Var::Local(i) => Var::Local(i + locals),
        }
    }

    pub fn is_copied(&self, variable: Var) -> bool {
        matches!(variable, Var::Global(i) if self.plan.copied.contains(&i))
    }

    /// That the round is this one, counted from 0.
    pub fn is_round(&self, round: usize) -> Expr {
        let now = Expr::variable(self.round, self.round_type);
        Expr::binary(BinaryOp::Eq, now, Expr::constant(round as u64 + 1, self.round_type))
    }

    pub fn round_now(&self) -> Expr {
        Expr::variable(self.round, self.round_type)
    }

    pub fn holds(variable: Var) -> Expr {
        Expr::variable(variable, Scalar::Bool)
    }

    /// That an instance was started.
    pub fn is_started(&self, instance: usize) -> Expr {
        let when = Expr::variable(self.started[instance], self.round_type);
        Expr::binary(BinaryOp::Ne, when, Expr::constant(0, self.round_type))
    }

    /// Goes on to a later round, from a point outside of atomic sections.
    pub fn advance(&self) -> Option<Operation> {
        if self.plan.rounds < 2 {
            return None;
        }
        let next = Expr::next(self.round, self.round_type);
        let now = self.round_now();
        let last = Expr::constant(self.plan.rounds as u64, self.round_type);
        let constraint = vec![
            Self::holds(self.atomic).not(),
            Expr::binary(BinaryOp::ULt, now, next.clone()),
            Expr::binary(BinaryOp::ULe, next, last),
        ];
        let targets = vec![self.round.into()];
        let values = vec![Expr::choice(self.round_type)];
        Some(self.paying(targets, values, constraint, 1))
    }

    /// Stops the thread, outside of atomic sections.
    pub fn stop(&self) -> Operation {
        self.paying(vec![self.done.into()], vec![Expr::bool(true)], vec![Self::holds(self.atomic).not()], 0)
    }

    /// An instance begins, in the round in which it was started or a later one.
    fn begin(&self, instance: usize, root: &Procedure, locals: u32) -> Operation {
        let next = || Expr::next(self.round, self.round_type);
        let last = Expr::constant(self.plan.rounds as u64, self.round_type);
        let since = Expr::variable(self.started[instance], self.round_type);
        let constraint = vec![
            self.is_started(instance),
            Expr::binary(BinaryOp::ULe, since, next()),
            Expr::binary(BinaryOp::ULe, next(), last),
        ];
        let mut targets: Vec<Target> = vec![self.round.into(), self.atomic.into(), self.done.into()];
        let mut values = vec![Expr::choice(self.round_type), Expr::bool(false), Expr::bool(false)];
        for (at, argument) in self.arguments[instance].iter().enumerate() {
            targets.push(Var::Local(locals + at as u32).into());
            values.push(Expr::variable(*argument, root.variables[at].ty.element()));
        }
        // What is not shared, each thread has for itself.
        for (i, variable) in self.program.globals.iter().enumerate().filter(|(_, v)| !v.shared) {
            for cell in 0..variable.ty.cell_count() {
                let indices = constants(&variable.ty, cell);
                targets.push(Target { variable: self.copies[i][0], indices });
                let ty = variable.ty.element();
                values.push(match (variable.initial, variable.limit()) {
                    (Some(value), _) => Expr::constant(value, ty),
                    (None, below) => Expr { kind: wherefore_program::ExprKind::Choice { below }, ty },
                });
            }
        }
        self.paying(targets, values, constraint, 1)
    }

    /// An assignment that counts contexts.
    fn paying(
        &self,
        mut targets: Vec<Target>,
        mut values: Vec<Expr>,
        mut constraint: Vec<Expr>,
        contexts: u64,
    ) -> Operation {
        if let Some(used) = self.used {
            let mut value = Expr::variable(used, self.used_type);
            if contexts > 0 {
                value = Expr::binary(BinaryOp::Add, value, Expr::constant(contexts, self.used_type));
            }
            if let Some(penalty) = self.penalty {
                let more = Self::holds(penalty).zero_extend(self.used_type.width());
                value = Expr::binary(BinaryOp::Add, value, more);
                targets.push(penalty.into());
                values.push(Expr::bool(false));
            }
            let most = Expr::constant(self.plan.contexts.unwrap_or(0) as u64, self.used_type);
            targets.push(used.into());
            values.push(value);
            constraint.push(Expr::binary(BinaryOp::ULe, Expr::next(used, self.used_type), most));
        }
        let constraint = Some(Expr::all(constraint));
        Operation::Assign(Assignment { targets, values, constraint })
    }

    /// What a start does besides: whether the first thread has started all others then.
    pub fn pay_off(&self, instance: usize, targets: &mut Vec<Target>, values: &mut Vec<Expr>) {
        if let Some(penalty) = self.penalty {
            let others = (0..self.started.len()).filter(|other| *other != instance);
            let all = Expr::all(others.map(|other| self.is_started(other)).collect());
            targets.push(penalty.into());
            values.push(Expr::all(vec![Self::holds(penalty), all.not()]));
        }
    }

    /// Snapshots of the guessed values.
    fn guess(&self) -> Operation {
        let (mut targets, mut values) = (Vec::new(), Vec::new());
        for (i, snapshots) in &self.snapshots {
            let ty = &self.program.globals[*i as usize].ty;
            for (copy, snapshot) in self.copies[*i as usize].iter().skip(1).zip(snapshots) {
                for cell in 0..ty.cell_count() {
                    targets.push(Target { variable: *snapshot, indices: constants(ty, cell) });
                    values.push(Expr::read(*copy, constants(ty, cell), When::Now, ty.element()));
                }
            }
        }
        Operation::Assign(Assignment { targets, values, constraint: None })
    }

    /// That each copy ended as the next one began.
    fn checked(&self) -> Expr {
        let mut parts = Vec::new();
        for (i, snapshots) in &self.snapshots {
            let ty = &self.program.globals[*i as usize].ty;
            for (copy, snapshot) in self.copies[*i as usize].iter().zip(snapshots) {
                for cell in 0..ty.cell_count() {
                    let read = |variable| Expr::read(variable, constants(ty, cell), When::Now, ty.element());
                    parts.push(Expr::binary(BinaryOp::Eq, read(*copy), read(*snapshot)));
                }
            }
        }
        Expr::all(parts)
    }
}

fn constants(ty: &Type, cell: usize) -> Vec<Expr> {
    // Indices are numbers of any width that is wide enough.
    ty.indices(cell).into_iter().map(|index| Expr::constant(index, Scalar::Bits(32))).collect()
}

/// The reduced program.
pub(super) fn reduce(program: &Program, checks: &[ErrorSite], plan: &Plan) -> Reduced {
    let store = Store::new(program, plan, checks.len());
    let span = program.procedure(program.entry).span;
    let mut main = Code::new(span);
    let targets: BTreeMap<Node, usize> =
        checks.iter().enumerate().map(|(at, site)| (site.node, at)).collect();
    let called = super::body::called(program, plan);
    let ids: BTreeMap<ProcedureId, ProcedureId> =
        called.iter().enumerate().map(|(at, id)| (*id, ProcedureId(at as u32 + 1))).collect();
    let context = super::body::Context { store: &store, targets: &targets, ids: &ids };

    let start = main.location(span, LocationKind::Statement);
    let ends: Vec<LocationId> =
        (0..=plan.instances.len()).map(|_| main.location(span, LocationKind::Statement)).collect();
    let first = context.inline(&mut main, program.entry, ends[0], plan.first != First::Prologue);
    main.edge(start, first.entry, store.guess(), span, Origin::Begin(0));
    for (i, instance) in plan.instances.iter().enumerate() {
        let inlined = context.inline(&mut main, instance.root, ends[i + 1], true);
        let begin = store.begin(i, program.procedure(instance.root), inlined.locals);
        main.edge(ends[i], inlined.entry, begin, span, Origin::Begin(i + 1));
        main.edge(ends[i], ends[i + 1], Operation::Skip, span, Origin::Other);
    }
    let checked = main.location(span, LocationKind::Branch);
    let last = *ends.last().expect("there is an end");
    main.edge(last, checked, Operation::Assume(store.checked()), span, Origin::Other);
    let mut sites = Vec::new();
    for (at, site) in checks.iter().enumerate() {
        let error = main.location(program.location(site.node).span, LocationKind::Error);
        let failed = Expr::binary(
            BinaryOp::Eq,
            Expr::variable(store.error, store.error_type),
            Expr::constant(at as u64 + 1, store.error_type),
        );
        main.edge(checked, error, Operation::Assume(failed), span, Origin::Other);
        let node = Node { procedure: ProcedureId(0), location: error };
        sites.push(ErrorSite { node, kind: ErrorKind::Assertion });
    }
    let (main, main_origins) = main.finish("@schedule", Vec::new(), start, 0);
    let mut procedures = vec![main];
    let mut origins = vec![main_origins];
    for id in &called {
        let (procedure, from) = context.procedure(*id);
        procedures.push(procedure);
        origins.push(from);
    }
    let (globals, round) = (store.globals, store.round);
    let program = Program {
        sources: program.sources.clone(),
        globals,
        procedures,
        entry: ProcedureId(0),
        objects: Objects::default(),
    };
    debug_assert_eq!(program.check(), Ok(()));
    Reduced { program, checks: sites, origins, round }
}

/// Locations and edges with what they stand for.
pub(super) type Marked = (LocationId, LocationId, Operation, Span, Origin);

/// Sorts edges, and keeps what they stand for beside them.
pub(super) fn sorted(mut edges: Vec<Marked>) -> (Vec<wherefore_program::Edge>, Vec<Origin>) {
    edges.sort_by_key(|(from, ..)| *from);
    let origins = edges.iter().map(|(.., origin)| *origin).collect();
    let edge = |(from, to, operation, span, _)| wherefore_program::Edge { from, to, operation, span };
    (edges.into_iter().map(edge).collect(), origins)
}

/// The origin of an edge of the reduced program.
pub(super) fn origin(reduced: &Reduced, edge: EdgeRef) -> Origin {
    let EdgeId(at) = edge.edge;
    reduced.origins[edge.procedure.0 as usize][at as usize]
}

/// A location like one of the original program.
pub(super) fn like(location: &Location) -> Location {
    let kind = match location.kind {
        // Errors are behind the checker.
        LocationKind::Error | LocationKind::Unsupported | LocationKind::Exit => LocationKind::Statement,
        kind => kind,
    };
    Location { span: location.span, labels: Vec::new(), kind, called: None, violation: None }
}
