//! Procedures that are called at one place, as parts of their callers.
//!
//! The weights of rules of the outermost procedure are sets of stores, those of others relations
//! between stores before and after: the fewer procedures there are, the smaller the diagrams.

use wherefore_program::{
    Argument, Assignment, Call, Edge, EdgeId, EdgeRef, Expr, LocationId, LocationKind, Node, Operation,
    ProcedureId, Program, Target, Type, Var, Variable, When,
};

use crate::rename;

/// A program in which procedures were put into their callers, and where its parts come from.
pub(super) struct Inlined {
    pub(super) program: Program,
    /// For each procedure, where each of its edges comes from.
    edges: Vec<Vec<EdgeRef>>,
    /// For each procedure of the original, where it is now and at which numbers its locations start.
    moved: Vec<(ProcedureId, u32)>,
}

impl Inlined {
    pub(super) fn new(program: Program) -> Self {
        let ids = |(procedure, count): (ProcedureId, usize)| {
            (0..count as u32).map(|edge| EdgeRef { procedure, edge: EdgeId(edge) }).collect()
        };
        let edges = program.procedures().map(|(id, body)| ids((id, body.edges.len()))).collect();
        let moved = program.procedures().map(|(id, _)| (id, 0)).collect();
        let mut inlined = Self { program, edges, moved };
        while let Some((caller, edge)) = inlined.candidate() {
            inlined.put_in(caller, edge);
        }
        inlined
    }

    /// Where a location of the original is.
    pub(super) fn node(&self, node: Node) -> Node {
        let (procedure, first) = self.moved[node.procedure.0 as usize];
        Node { procedure, location: LocationId(first + node.location.0) }
    }

    /// The edge of the original that an edge comes from.
    pub(super) fn original(&self, edge: EdgeRef) -> EdgeRef {
        self.edges[edge.procedure.0 as usize][edge.edge.0 as usize]
    }

    /// A call of a procedure that is called nowhere else.
    fn candidate(&self) -> Option<(ProcedureId, EdgeId)> {
        let mut calls: Vec<Vec<(ProcedureId, EdgeId)>> = vec![Vec::new(); self.program.procedures.len()];
        for (id, body) in self.program.procedures() {
            for (edge, step) in body.edges() {
                if let Operation::Call(call) = &step.operation {
                    calls[call.callee.0 as usize].push((id, edge));
                }
            }
        }
        let mut candidates = self.program.procedures().filter(|(id, _)| *id != self.program.entry);
        candidates.find_map(|(callee, _)| match calls[callee.0 as usize].as_slice() {
            [(caller, edge)] if *caller != callee && self.is_plain(*caller, *edge) => Some((*caller, *edge)),
            _ => None,
        })
    }

    /// Whether the arguments of a call are read before the step only.
    fn is_plain(&self, caller: ProcedureId, edge: EdgeId) -> bool {
        let Operation::Call(call) = &self.program.procedure(caller).edge(edge).operation else {
            return false;
        };
        call.arguments.iter().all(|argument| match argument {
            Argument::Value(value) => {
                let mut is_before = true;
                value.reads(&mut |_, when| is_before &= when == When::Now);
                is_before
            }
            Argument::Copy(..) => false,
            Argument::Arbitrary => true,
        })
    }

    /// Puts the procedure that an edge calls into the caller.
    fn put_in(&mut self, caller: ProcedureId, edge: EdgeId) {
        let Operation::Call(call) = self.program.procedure(caller).edge(edge).operation.clone() else {
            return;
        };
        let callee = call.callee;
        let back = self.program.procedure(caller).edge(edge).to;
        let body = &mut self.program.procedures[callee.0 as usize];
        let (variables, locations, steps) =
            (std::mem::take(&mut body.variables), body.locations.clone(), std::mem::take(&mut body.edges));
        let (parameters, entry) = (std::mem::take(&mut body.parameters), body.entry);
        // Without edges it is never left, nor is it called.
        let origins = std::mem::take(&mut self.edges[callee.0 as usize]);
        let into = &mut self.program.procedures[caller.0 as usize];
        let (first_variable, first) = (into.variables.len() as u32, into.locations.len() as u32);
        let start = entering(&call, parameters, &variables, first_variable);
        into.variables.extend(variables);
        into.locations.extend(locations.into_iter().map(|mut location| {
            if location.kind == LocationKind::Exit {
                location.kind = LocationKind::Label;
            }
            location
        }));
        let called = &mut into.edges[edge.0 as usize];
        called.operation = Operation::Assign(start);
        called.to = LocationId(first + entry.0);
        let mut all: Vec<(Edge, EdgeRef)> = std::mem::take(&mut into.edges)
            .into_iter()
            .zip(std::mem::take(&mut self.edges[caller.0 as usize]))
            .collect();
        for (mut step, origin) in steps.into_iter().zip(origins) {
            step.from = LocationId(first + step.from.0);
            step.to = LocationId(first + step.to.0);
            step.operation = shifted(&step.operation, first_variable);
            if let Operation::Return(values) = &step.operation {
                step.operation = Operation::Assign(leaving(&call, values));
                step.to = back;
            }
            all.push((step, origin));
        }
        all.sort_by_key(|(step, _)| step.from);
        (into.edges, self.edges[caller.0 as usize]) = all.into_iter().unzip();
        for (procedure, start) in &mut self.moved {
            if *procedure == callee {
                (*procedure, *start) = (caller, *start + first);
            }
        }
    }
}

/// What a call does before the callee starts: its variables get their values.
fn entering(call: &Call, parameters: usize, variables: &[Variable], first: u32) -> Assignment {
    let mut start = call.assignment.clone();
    for (variable, i) in variables.iter().zip(0_u32..) {
        let Type::Scalar(ty) = variable.ty else { continue };
        let value = match call.arguments.get(i as usize).filter(|_| (i as usize) < parameters) {
            Some(Argument::Value(value)) => value.clone(),
            _ => Expr::choice(ty),
        };
        start.targets.push(Target::from(Var::Local(first + i)));
        start.values.push(value);
    }
    start
}

/// What a return does in the caller.
fn leaving(call: &Call, values: &[Expr]) -> Assignment {
    let mut end = Assignment::default();
    for (target, value) in call.results.iter().zip(values) {
        if let Some(target) = target {
            end.targets.push(target.clone());
            end.values.push(value.clone());
        }
    }
    end
}

/// An operation whose local variables have moved.
fn shifted(operation: &Operation, by: u32) -> Operation {
    let to = |variable: Var| match variable {
        Var::Global(_) => variable,
        Var::Local(i) => Var::Local(i + by),
    };
    match operation {
        Operation::Assume(condition) => Operation::Assume(rename::expr(condition, &to)),
        Operation::Assign(assignment) => Operation::Assign(rename::assignment(assignment, &to, None)),
        Operation::Havoc(targets) => {
            Operation::Havoc(targets.iter().map(|target| rename::target(target, &to)).collect())
        }
        Operation::Call(call) => Operation::Call(Call {
            callee: call.callee,
            arguments: call.arguments.iter().map(|argument| rename::argument(argument, &to)).collect(),
            results: call
                .results
                .iter()
                .map(|target| target.as_ref().map(|target| rename::target(target, &to)))
                .collect(),
            assignment: rename::assignment(&call.assignment, &to, None),
        }),
        Operation::Return(values) => {
            Operation::Return(values.iter().map(|value| rename::expr(value, &to)).collect())
        }
        Operation::Skip
        | Operation::StartThread(_)
        | Operation::EndThread
        | Operation::AtomicBegin
        | Operation::AtomicEnd
        | Operation::Sync => operation.clone(),
    }
}
