//! The part of a program that decides whether runs come to some locations.
//!
//! A static slice (M. Weiser, *Program slicing*, ICSE 1981): assignments to variables that nothing
//! kept depends on are left out, and so are branches and loops that only contain such, and calls of
//! procedures whose effects do not matter. Variables are kept or not for the whole program.
//!
//! Every run of the program to one of the locations has a run of the slice to it, with the same
//! values of the variables that are kept: if no run of the slice comes there, no run of the program
//! does. The converse holds for what ends and does not stop the run: a loop that is left out may
//! not end, an assumption that is left out may not hold. So a run of the slice is followed in the
//! program ([`Slice::run_of_program`]), or it is one provided that the parts left out end
//! ([`Slice::must_end`]), which may be provable ([`Slice::surely_ends`]).

use std::collections::BTreeSet;

use wherefore_program::{
    Argument, Assignment, CallGraph, Choices, Dominators, Edge, EdgeRef, Expr, ExprKind, Graph, Interpreter,
    LocationId, LocationKind, ModRef, Node, Operation, Procedure, ProcedureId, Program, State, Step, Stepped,
    Target, Trace, Var,
};

use crate::termination::Termination;

/// A slice of a program. Procedures, locations, edges and variables keep their numbers.
#[derive(Clone, Debug)]
pub struct Slice {
    /// The program that is left.
    pub program: Program,
    /// The edges that were changed.
    changed: BTreeSet<EdgeRef>,
    /// The locations of branches, loops and calls that were left out.
    skipped: Vec<Node>,
    /// The procedures that are entered.
    entered: BTreeSet<u32>,
    /// The variables that are kept.
    variables: BTreeSet<Place>,
}

/// A variable of a program.
type Place = (Option<u32>, u32);

/// What is kept so far.
struct Kept<'p> {
    program: &'p Program,
    controls: Vec<Control>,
    /// The locations that runs shall come to, by procedure.
    wanted: Vec<BTreeSet<u32>>,
    variables: BTreeSet<Place>,
    /// Results of procedures that matter.
    results: BTreeSet<(u32, usize)>,
    /// Procedures that are entered.
    entered: BTreeSet<u32>,
    /// Procedures that come to a location that is wanted, or may end the run, or call such.
    special: Vec<bool>,
    effects: ModRef,
    /// Whether calls of procedures matter whatever becomes of their results, in this round.
    matters: Vec<Option<bool>>,
    /// Branches that matter.
    branches: BTreeSet<(u32, u32)>,
}

/// Which branches decide whether locations are reached, in one procedure.
struct Control {
    /// For each location, the branches that it depends on.
    by: Vec<Vec<u32>>,
    /// For each location, where all ways from it meet.
    meet: Vec<Option<u32>>,
}

impl Slice {
    /// The slice of a sequential program for some locations; none if nothing is left out.
    pub fn new(program: &Program, wanted: impl IntoIterator<Item = Node>) -> Option<Self> {
        if program.uses_threads().is_some() {
            return None;
        }
        let mut by_procedure = vec![BTreeSet::new(); program.procedures.len()];
        for node in wanted {
            by_procedure[node.procedure.0 as usize].insert(node.location.0);
        }
        let controls = (0..program.procedures.len())
            .map(|id| Control::new(program, ProcedureId(id as u32), &by_procedure[id]))
            .collect();
        let special = special(program, &by_procedure);
        let mut kept = Kept {
            program,
            controls,
            wanted: by_procedure,
            variables: BTreeSet::new(),
            results: BTreeSet::new(),
            entered: BTreeSet::from([program.entry.0]),
            special,
            effects: ModRef::new(program),
            matters: Vec::new(),
            branches: BTreeSet::new(),
        };
        while kept.grow() {}
        let slice = kept.cut();
        (!slice.skipped.is_empty()).then_some(slice)
    }

    /// Whether the slice has this location.
    pub fn has(&self, node: Node) -> bool {
        if !self.entered.contains(&node.procedure.0) {
            return false;
        }
        let body = self.program.procedure(node.procedure);
        let open = |edge: &Edge| !matches!(&edge.operation, Operation::Assume(condition) if condition.kind == ExprKind::Constant(0));
        let edges = body.edges.iter().filter(|edge| open(edge)).map(|edge| (edge.from.0, edge.to.0));
        let graph = Graph::new(body.locations.len(), edges);
        graph.reverse_postorder(body.entry.0).contains(&node.location.0)
    }

    /// The locations of statements that are left: those from which a step leads that does
    /// something.
    pub fn statements(&self) -> BTreeSet<Node> {
        let mut found = BTreeSet::new();
        for id in self.entered.iter().copied().map(ProcedureId) {
            let body = self.program.procedure(id);
            let is_closed = |operation: &Operation| matches!(operation, Operation::Assume(condition) if condition.kind == ExprKind::Constant(0));
            let open: Vec<&Edge> = body.edges.iter().filter(|edge| !is_closed(&edge.operation)).collect();
            let graph = Graph::new(body.locations.len(), open.iter().map(|edge| (edge.from.0, edge.to.0)));
            let reached: BTreeSet<u32> = graph.reverse_postorder(body.entry.0).into_iter().collect();
            let acting = open.iter().filter(|edge| !matches!(edge.operation, Operation::Skip));
            let here = acting.filter(|edge| reached.contains(&edge.from.0));
            found.extend(here.map(|edge| Node { procedure: id, location: edge.from }));
        }
        found
    }

    /// Whether a variable has the same values as in the program.
    pub fn keeps(&self, procedure: ProcedureId, variable: Var) -> bool {
        self.entered.contains(&procedure.0) && self.variables.contains(&Kept::place(procedure.0, variable))
    }

    /// The run of the program that a run of the slice stands for, with at most so many steps. What
    /// the slice leaves open is 0, or else 1.
    pub fn run_of_program(&self, program: &Program, like: &Trace, most: usize) -> Option<Trace> {
        LEFT_OPEN.into_iter().find_map(|open| {
            let mut steps = Vec::new();
            let mut cells = 0;
            let start = self.pursue(program, (like, open), |edge, state| {
                steps.push(Step { edge, state: state.clone() });
                cells += state.globals.len() + 2 * state.memory.len();
                steps.len() <= most && cells <= MOST_CELLS
            });
            start.map(|start| Trace { start, steps })
        })
    }

    /// Whether a run of the slice stands for a run of the program, as [`Self::run_of_program`], but
    /// without keeping it; `goes_on` is asked at each step.
    pub fn is_run_of_program(
        &self,
        program: &Program,
        like: &Trace,
        mut goes_on: impl FnMut() -> bool,
    ) -> bool {
        LEFT_OPEN.into_iter().any(|open| self.pursue(program, (like, open), |_, _| goes_on()).is_some())
    }

    /// Makes the run of the program that a run of the slice stands for; its start, if it comes to
    /// the same end. What the slice leaves open is `open`. `each` gets the steps and the states
    /// behind them, until it says no.
    fn pursue(
        &self,
        program: &Program,
        (like, open): (&Trace, u64),
        mut each: impl FnMut(EdgeRef, &State) -> bool,
    ) -> Option<State> {
        let interpreter = Interpreter::new(program);
        let mut open = Always(open);
        let end = like.last().node()?;
        let start = interpreter.begin_like(&mut open, &like.start).ok()?;
        let mut state = start.clone();
        let mut ahead = like.steps.iter().peekable();
        let mut depth = like.start.stack.len();
        loop {
            let node = state.node()?;
            if node == end && ahead.peek().is_none() {
                return Some(start);
            }
            let is_next = |step: &&Step| {
                let from = Node { procedure: step.edge.procedure, location: program.edge(step.edge).from };
                from == node && state.stack.len() == depth
            };
            let step = ahead.next_if(is_next);
            if let Some(step) = step {
                depth = step.state.stack.len();
                let operation = &program.edge(step.edge).operation;
                let is_way = matches!(operation, Operation::Assume(_) | Operation::Skip);
                // Such values have no meaning in the slice.
                let is_open = match operation {
                    Operation::Havoc(targets) => {
                        !targets.iter().any(|target| self.keeps(step.edge.procedure, target.variable))
                    }
                    _ => false,
                };
                if !is_open && (!self.changed.contains(&step.edge) || !is_way) {
                    state = interpreter.step_like(&state, step.edge, &mut open, &step.state).ok()?;
                    if !each(step.edge, &state) {
                        return None;
                    }
                    continue;
                }
            }
            let Stepped::Edge(edge) = interpreter.take(&mut state, &mut open) else { return None };
            if !each(edge, &state) {
                return None;
            }
        }
    }

    /// The loops and calls that a run of the slice leaves out: it is a run of the program provided
    /// that they end.
    pub fn must_end(&self, program: &Program, run: &Trace) -> Vec<Node> {
        let mut found: Vec<Node> = Vec::new();
        for step in run.steps.iter().filter(|step| self.changed.contains(&step.edge)) {
            let procedure = step.edge.procedure;
            let body = program.procedure(procedure);
            let edge = self.program.edge(step.edge);
            if !self.skipped.contains(&Node { procedure, location: edge.from }) {
                continue;
            }
            let heads: BTreeSet<u32> = body.loops().iter().map(|found| found.head).collect();
            let mut seen = BTreeSet::from([edge.from]);
            let mut open = vec![edge.from];
            while let Some(location) = open.pop() {
                let node = Node { procedure, location };
                let is_call = body.location(location).kind == LocationKind::Call;
                if (is_call || heads.contains(&location.0)) && !found.contains(&node) {
                    found.push(node);
                }
                let next = body.edges_from(location).map(|(_, edge)| edge.to);
                open.extend(next.filter(|next| *next != edge.to && seen.insert(*next)));
            }
        }
        found.sort_unstable();
        found
    }

    /// Whether all that a run of the slice leaves out provably ends, without a failed check, so that
    /// it stands for a run of the program.
    pub fn surely_ends(&self, program: &Program, run: &Trace) -> bool {
        let mut termination = Termination::new(program);
        let left_out: BTreeSet<EdgeRef> =
            run.steps.iter().map(|step| step.edge).filter(|edge| self.changed.contains(edge)).collect();
        left_out.iter().all(|edge| {
            let (before, after) = (program.edge(*edge), self.program.edge(*edge));
            let node = Node { procedure: edge.procedure, location: before.from };
            match (&before.operation, &after.operation) {
                (Operation::Call(call), Operation::Skip) => {
                    call.assignment.constraint.is_none() && termination.returns(call.callee)
                }
                // A branch that is left out, up to where its ways meet.
                _ if self.skipped.contains(&node) => {
                    termination.comes_to(edge.procedure, before.from, after.to)
                }
                // A check that holds, but no assumption.
                (Operation::Assume(_), Operation::Skip) => {
                    termination.is_passed(program.procedure(edge.procedure), before.from)
                }
                _ => true,
            }
        })
    }
}

/// Every choice is one number, or the largest one.
struct Always(u64);

impl Choices for Always {
    fn choose(&mut self, max: u64) -> u64 {
        self.0.min(max)
    }
}

/// Runs with more cells of state than this are not kept.
const MOST_CELLS: usize = 1 << 27;

/// The values that are tried for what a slice leaves open. The number of arguments of a program is
/// not 0.
const LEFT_OPEN: [u64; 2] = [0, 1];

/// Whether runs end at a location that is no failed check, or go on in a way that is not known.
fn ends_run(body: &Procedure, location: LocationId) -> bool {
    let kind = body.location(location).kind;
    let is_last = location != body.exit && body.edges_from(location).next().is_none();
    is_last && kind != LocationKind::Error || kind == LocationKind::Unsupported
}

/// Which procedures come to a location that is wanted, or may end the run, or call such.
fn special(program: &Program, wanted: &[BTreeSet<u32>]) -> Vec<bool> {
    let calls = CallGraph::new(program);
    let mut special = vec![false; program.procedures.len()];
    // Callees come first.
    for component in calls.components() {
        let is_special = component.iter().any(|member| {
            let body = program.procedure(*member);
            !wanted[member.0 as usize].is_empty()
                || body.location_ids().any(|location| ends_run(body, location))
                || calls.callees(*member).any(|callee| special[callee.0 as usize])
        });
        component.iter().for_each(|member| special[member.0 as usize] = is_special);
    }
    special
}

/// Whether an edge leads to an error that is not wanted.
fn fails(body: &Procedure, edge: &Edge, wanted: &BTreeSet<u32>) -> bool {
    body.location(edge.to).kind == LocationKind::Error && !wanted.contains(&edge.to.0)
}

/// How many ways there are on from a location, but for errors that are not wanted.
fn ways(body: &Procedure, location: LocationId, wanted: &BTreeSet<u32>) -> usize {
    body.edges_from(location).filter(|(_, edge)| !fails(body, edge, wanted)).count()
}

impl Control {
    fn new(program: &Program, id: ProcedureId, wanted: &BTreeSet<u32>) -> Self {
        let body = program.procedure(id);
        let count = body.locations.len();
        let sink = count as u32;
        let is_other_error = |location: LocationId| {
            body.location(location).kind == LocationKind::Error && !wanted.contains(&location.0)
        };
        let mut edges: Vec<(u32, u32)> = Vec::new();
        for edge in body.edges.iter().filter(|edge| !is_other_error(edge.to)) {
            edges.push((edge.from.0, edge.to.0));
        }
        let mut ends: BTreeSet<u32> = wanted.clone();
        ends.insert(body.exit.0);
        ends.extend(body.location_ids().filter(|location| ends_run(body, *location)).map(|at| at.0));
        edges.extend(ends.iter().map(|end| (*end, sink)));
        // A loop from which the procedure does not return is left only at a location that is wanted,
        // or that ends the run, and need not be left at all: its head counts as an end.
        let graph = Graph::new(count + 1, edges.iter().copied());
        let order = graph.reverse_postorder(body.entry.0);
        let mut rank = vec![usize::MAX; count + 1];
        order.iter().enumerate().for_each(|(i, node)| rank[*node as usize] = i);
        let returns: BTreeSet<u32> = graph.reversed().reverse_postorder(body.exit.0).into_iter().collect();
        for component in graph.components().iter().filter(|component| **component != [sink]) {
            let is_cycle =
                component.len() > 1 || component.iter().any(|node| graph.successors(*node).contains(node));
            let is_stuck = component.iter().all(|node| graph.successors(*node).is_empty());
            if (is_cycle || is_stuck) && !returns.contains(&component[0]) {
                let head = component.iter().copied().min_by_key(|node| rank[*node as usize]);
                edges.extend(head.map(|head| (head, sink)));
            }
        }
        let graph = Graph::new(count + 1, edges);
        let after = Dominators::new(&graph.reversed(), sink);
        let mut by: Vec<Vec<u32>> = vec![Vec::new(); count];
        for branch in 0..sink {
            let next = graph.successors(branch);
            if next.len() < 2 {
                continue;
            }
            let meet = after.immediate(branch);
            for way in next {
                let mut at = Some(*way);
                while let Some(node) = at.filter(|node| Some(*node) != meet && *node != sink) {
                    if !by[node as usize].contains(&branch) {
                        by[node as usize].push(branch);
                    }
                    at = after.immediate(node);
                }
            }
        }
        let meet = (0..sink).map(|node| after.immediate(node).filter(|meet| *meet != sink)).collect();
        Self { by, meet }
    }
}

impl Kept<'_> {
    fn place(procedure: u32, variable: Var) -> Place {
        match variable {
            Var::Global(at) => (None, at),
            Var::Local(at) => (Some(procedure), at),
        }
    }

    fn has(&self, procedure: u32, target: &Target) -> bool {
        self.variables.contains(&Self::place(procedure, target.variable))
    }

    /// Keeps what more is needed; whether something was.
    fn grow(&mut self) -> bool {
        let size = self.size();
        self.matters = vec![None; self.program.procedures.len()];
        for procedure in self.entered.clone() {
            let body = self.program.procedure(ProcedureId(procedure));
            let mut kept: BTreeSet<u32> = self.wanted[procedure as usize].clone();
            kept.extend(body.location_ids().filter(|location| ends_run(body, *location)).map(|at| at.0));
            for edge in &body.edges {
                let ways = ways(body, edge.from, &self.wanted[procedure as usize]);
                if self.keep(procedure, &edge.operation, ways) {
                    kept.insert(edge.from.0);
                    if ways > 1 {
                        self.branches.insert((procedure, edge.from.0));
                    }
                }
            }
            let mut open: Vec<u32> = kept.into_iter().collect();
            while let Some(location) = open.pop() {
                for branch in self.controls[procedure as usize].by[location as usize].clone() {
                    if self.branches.insert((procedure, branch)) {
                        open.push(branch);
                    }
                }
            }
            let branches: Vec<u32> =
                self.branches.range((procedure, 0)..(procedure + 1, 0)).map(|(_, branch)| *branch).collect();
            for branch in branches {
                for (_, edge) in body.edges_from(LocationId(branch)) {
                    if let Operation::Assume(condition) = &edge.operation {
                        self.read(procedure, condition);
                    }
                }
            }
        }
        self.size() != size
    }

    fn size(&self) -> usize {
        self.variables.len() + self.results.len() + self.entered.len() + self.branches.len()
    }

    fn read(&mut self, procedure: u32, expr: &Expr) {
        expr.reads(&mut |variable, _| {
            self.variables.insert(Self::place(procedure, variable));
        });
    }

    /// Whether an operation matters; if so, what it reads is kept.
    fn keep(&mut self, procedure: u32, operation: &Operation, ways: usize) -> bool {
        match operation {
            Operation::Skip
            | Operation::StartThread(_)
            | Operation::EndThread
            | Operation::AtomicBegin
            | Operation::AtomicEnd
            | Operation::Sync => false,
            // Of several ways, one is taken; a single one stops runs.
            Operation::Assume(condition) => {
                let mut is_about = false;
                condition.reads(&mut |variable, _| {
                    is_about |= self.variables.contains(&Self::place(procedure, variable));
                });
                let is_kept = ways == 1 && is_about;
                if is_kept {
                    self.read(procedure, condition);
                }
                is_kept
            }
            Operation::Assign(assignment) => self.keep_assignment(procedure, assignment),
            Operation::Havoc(targets) => {
                let kept: Vec<&Target> =
                    targets.iter().filter(|target| self.has(procedure, target)).collect();
                self.keep_targets(procedure, &kept);
                !kept.is_empty()
            }
            Operation::Call(call) => {
                let is_assigned = self.keep_assignment(procedure, &call.assignment);
                let callee = call.callee.0;
                let mut has_result = false;
                for (at, target) in call.results.iter().enumerate() {
                    if let Some(target) = target.as_ref().filter(|target| self.has(procedure, target)) {
                        has_result = true;
                        self.results.insert((callee, at));
                        self.keep_targets(procedure, &[target]);
                    }
                }
                let is_entered = has_result || is_assigned || self.matters(callee);
                if is_entered {
                    self.entered.insert(callee);
                    for (at, argument) in call.arguments.iter().enumerate() {
                        if !self.variables.contains(&(Some(callee), at as u32)) {
                            continue;
                        }
                        match argument {
                            Argument::Value(value) => self.read(procedure, value),
                            Argument::Copy(variable, _) => {
                                self.variables.insert(Self::place(procedure, *variable));
                            }
                            Argument::Arbitrary => {}
                        }
                    }
                }
                is_entered
            }
            Operation::Return(values) => {
                for (at, value) in values.iter().enumerate() {
                    if self.results.contains(&(procedure, at)) {
                        self.read(procedure, value);
                    }
                }
                true
            }
        }
    }

    /// Whether a call of a procedure matters, whatever becomes of its results: it comes to a
    /// location that is wanted, may end the run, or changes a global that is kept.
    fn matters(&mut self, procedure: u32) -> bool {
        if let Some(known) = self.matters[procedure as usize] {
            return known;
        }
        let writes = &self.effects.effects(ProcedureId(procedure)).writes;
        let matters = self.special[procedure as usize]
            || writes.iter().any(|global| self.variables.contains(&(None, *global)));
        self.matters[procedure as usize] = Some(matters);
        matters
    }

    fn keep_assignment(&mut self, procedure: u32, assignment: &Assignment) -> bool {
        if let Some(constraint) = &assignment.constraint {
            self.read(procedure, constraint);
            assignment.targets.iter().for_each(|target| {
                self.variables.insert(Self::place(procedure, target.variable));
            });
        }
        let kept: Vec<(&Target, &Expr)> = assignment
            .targets
            .iter()
            .zip(&assignment.values)
            .filter(|(target, _)| self.has(procedure, target))
            .collect();
        for (target, value) in &kept {
            self.read(procedure, value);
            self.keep_targets(procedure, &[target]);
        }
        !kept.is_empty() || assignment.constraint.is_some()
    }

    fn keep_targets(&mut self, procedure: u32, targets: &[&Target]) {
        for index in targets.iter().flat_map(|target| &target.indices) {
            self.read(procedure, index);
        }
    }

    /// Leaves out what is not kept.
    fn cut(&mut self) -> Slice {
        let mut program = self.program.clone();
        let (mut changed, mut skipped) = (BTreeSet::new(), Vec::new());
        for (at, variable) in program.globals.iter_mut().enumerate() {
            // Its assignments are gone: nothing is known about it.
            if !self.variables.contains(&(None, at as u32)) {
                variable.initial = None;
            }
        }
        for (id, body) in program.procedures.iter_mut().enumerate() {
            let id = id as u32;
            let original = self.program.procedure(ProcedureId(id));
            if !self.entered.contains(&id) {
                continue;
            }
            for location in original.location_ids() {
                let node = Node { procedure: ProcedureId(id), location };
                let ways: Vec<_> = original.edges_from(location).map(|(edge, _)| edge).collect();
                let is_branch = self::ways(original, location, &self.wanted[id as usize]) > 1;
                if is_branch && !self.branches.contains(&(id, location.0)) {
                    let meet = self.controls[id as usize].meet[location.0 as usize];
                    for (i, edge) in ways.iter().enumerate() {
                        let edge_of = &mut body.edges[edge.0 as usize];
                        edge_of.operation = match (i, meet) {
                            (0, Some(meet)) => {
                                edge_of.to = LocationId(meet);
                                Operation::Skip
                            }
                            (_, Some(_)) => Operation::Assume(Expr::bool(false)),
                            (_, None) => Operation::Skip,
                        };
                        changed.insert(EdgeRef { procedure: ProcedureId(id), edge: *edge });
                    }
                    if meet.is_some() {
                        skipped.push(node);
                    }
                    continue;
                }
                for edge in ways.iter().copied() {
                    let before = &original.edge(edge).operation;
                    if is_branch && matches!(before, Operation::Assume(_)) {
                        continue;
                    }
                    let is_failure =
                        ways.len() > 1 && fails(original, original.edge(edge), &self.wanted[id as usize]);
                    let after = match before {
                        // The way to another error is open where its condition is kept.
                        Operation::Assume(_) if is_failure && self.keep(id, before, 1) => continue,
                        _ if is_failure => Operation::Assume(Expr::bool(false)),
                        _ => self.reduced(id, before),
                    };
                    if after != *before {
                        if matches!(before, Operation::Call(_)) && after == Operation::Skip {
                            skipped.push(node);
                        }
                        body.edges[edge.0 as usize].operation = after;
                        changed.insert(EdgeRef { procedure: ProcedureId(id), edge });
                    }
                }
            }
        }
        Slice { program, changed, skipped, entered: self.entered.clone(), variables: self.variables.clone() }
    }

    /// What is left of an operation.
    fn reduced(&mut self, procedure: u32, operation: &Operation) -> Operation {
        let mut operation = operation.clone();
        if !self.keep(procedure, &operation.clone(), 1) {
            return Operation::Skip;
        }
        match &mut operation {
            Operation::Assign(assignment) => self.reduce_assignment(procedure, assignment),
            Operation::Havoc(targets) => targets.retain(|target| self.has(procedure, target)),
            Operation::Call(call) => {
                self.reduce_assignment(procedure, &mut call.assignment);
                for target in &mut call.results {
                    if target.as_ref().is_some_and(|target| !self.has(procedure, target)) {
                        *target = None;
                    }
                }
                for (at, argument) in call.arguments.iter_mut().enumerate() {
                    if let Argument::Value(value) = argument {
                        if !self.variables.contains(&(Some(call.callee.0), at as u32)) {
                            *value = Expr::constant(0, value.ty);
                        }
                    }
                }
            }
            Operation::Return(values) => {
                for (at, value) in values.iter_mut().enumerate() {
                    if !self.results.contains(&(procedure, at)) {
                        *value = Expr::constant(0, value.ty);
                    }
                }
            }
            _ => {}
        }
        operation
    }

    fn reduce_assignment(&self, procedure: u32, assignment: &mut Assignment) {
        if assignment.constraint.is_some() {
            return;
        }
        let all = std::mem::take(assignment);
        for (target, value) in all.targets.into_iter().zip(all.values) {
            if self.has(procedure, &target) {
                assignment.targets.push(target);
                assignment.values.push(value);
            }
        }
    }
}
