//! A program together with an automaton that reads its runs.
//!
//! The product is a program, too: before each step of the program, the automaton reads the
//! configuration and takes a transition, whose condition the globals must satisfy; a mark is set if the
//! transition accepts. Locations of the program keep their numbers. A run that has ended, because
//! the entry procedure has returned or because the run is at a location that nothing follows, stays
//! there for ever, and the automaton goes on reading. Runs that a condition blocks are none.

use std::collections::BTreeSet;

use wherefore_program::{
    Argument, Assignment, BinaryOp, Call, Edge, EdgeId, EdgeRef, Expr, Location, LocationId, LocationKind,
    Node, Operation, Procedure, ProcedureId, Program, Scalar, Span, Target, Type, Var, Variable,
};

use crate::buchi::{Buchi, Transition};

/// What a proposition means in a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A condition over globals.
    Condition(Expr),
    /// The run is at one of these locations.
    At(BTreeSet<Node>),
    /// The run has ended.
    End,
}

/// What is asked of a program.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    /// The program.
    pub program: &'a Program,
    /// What the propositions mean.
    pub meanings: &'a [Meaning],
    /// A procedure whose steps are no part of runs: the one that initialises a C program. It is the
    /// entry.
    pub silent: Option<ProcedureId>,
}

impl Subject<'_> {
    /// Whether nothing follows a location.
    pub fn is_last(&self, node: Node) -> bool {
        let body = self.program.procedure(node.procedure);
        body.location(node.location).kind != LocationKind::Exit
            && body.edges_from(node.location).next().is_none()
    }

    /// Whether a run that is at a location (none: it has returned from the entry) has ended.
    pub fn is_end(&self, node: Option<Node>) -> bool {
        let is_supported = |node: Node| self.program.location(node).kind != LocationKind::Unsupported;
        node.is_none_or(|node| self.is_last(node) && is_supported(node))
    }

    /// Whether the configuration is one of the run.
    pub fn is_read(&self, node: Option<Node>) -> bool {
        node.is_none_or(|node| Some(node.procedure) != self.silent || self.is_last(node))
    }
}

/// A program whose locations and edges stem from another one.
#[derive(Clone, Debug)]
pub struct Derived {
    /// The program.
    pub program: Program,
    /// Of each procedure and edge: the edge of the original program that it is.
    pub origins: Vec<Vec<Option<EdgeId>>>,
    /// Of each procedure: the original one that it is, or is a copy of.
    pub procedures: Vec<Option<ProcedureId>>,
    /// How many locations each original procedure has.
    pub locations: Vec<u32>,
}

/// The name of the truth value that accepting transitions set.
pub const MARK: &str = "accepting (of the formula)";
const STATE: &str = "state (of the formula)";

impl Derived {
    /// The product of a program and an automaton.
    pub fn product(subject: &Subject<'_>, automaton: &Buchi) -> Self {
        let original = subject.program;
        let mut program = original.clone();
        let bits = (usize::BITS - (automaton.state_count().max(2) - 1).leading_zeros()).max(1);
        let state = Var::Global(program.globals.len() as u32);
        let mark = Var::Global(program.globals.len() as u32 + 1);
        let span: Span = original.procedure(original.entry).span;
        let variable = |name: &str, ty: Scalar| Variable {
            name: name.to_owned(),
            ty: Type::Scalar(ty),
            value_names: None,
            signed: false,
            float: false,
            pointer: false,
            shared: true,
            initial: Some(0),
            span,
        };
        program.globals.push(variable(STATE, Scalar::Bits(bits)));
        program.globals.push(variable(MARK, Scalar::Bool));
        let reader = Reader { subject, automaton, state, mark, ty: Scalar::Bits(bits) };
        let mut origins = Vec::new();
        for (id, body) in original.procedures() {
            let (new, origin) = reader.procedure(id, body);
            program.procedures[id.0 as usize] = new;
            origins.push(origin);
        }
        let (outermost, origin) = reader.outermost(&program);
        origins.push(origin);
        let mut procedures: Vec<Option<ProcedureId>> =
            original.procedures().map(|(id, _)| Some(id)).collect();
        procedures.push(None);
        program.entry = ProcedureId(program.procedures.len() as u32);
        program.procedures.push(outermost);
        let locations = original.procedures.iter().map(|body| body.locations.len() as u32).collect();
        debug_assert_eq!(program.check(), Ok(()));
        Self { program, origins, procedures, locations }
    }

    /// The truth value that accepting transitions set.
    pub fn mark(&self) -> Option<Var> {
        let at = self.program.globals.iter().position(|variable| variable.name == MARK)?;
        Some(Var::Global(at as u32))
    }

    /// The location of the original program that one of this is, if the automaton has not read yet.
    /// The inner none: the run has returned from the entry.
    pub fn original(&self, node: Node) -> Option<Option<Node>> {
        match self.procedures[node.procedure.0 as usize] {
            Some(procedure) if node.location.0 < self.locations[procedure.0 as usize] => {
                Some(Some(Node { procedure, location: node.location }))
            }
            Some(_) => None,
            None => (node.location == ENDED).then_some(None),
        }
    }

    /// The edge of the original program that one of this is, if it is one.
    pub fn original_edge(&self, edge: EdgeRef) -> Option<EdgeRef> {
        let procedure = self.procedures[edge.procedure.0 as usize]?;
        let edge = self.origins[edge.procedure.0 as usize].get(edge.edge.0 as usize).copied().flatten()?;
        Some(EdgeRef { procedure, edge })
    }

    /// The same with one more edge in a procedure.
    pub fn add_edge(&mut self, procedure: ProcedureId, edge: Edge) {
        let edges = &mut self.program.procedures[procedure.0 as usize].edges;
        let at = edges.partition_point(|other| other.from <= edge.from);
        edges.insert(at, edge);
        self.origins[procedure.0 as usize].insert(at, None);
    }

    /// The same with one more location in a procedure.
    pub fn add_location(&mut self, procedure: ProcedureId, kind: LocationKind) -> LocationId {
        let body = &mut self.program.procedures[procedure.0 as usize];
        body.locations.push(location(body.span, kind));
        LocationId(body.locations.len() as u32 - 1)
    }

    /// The same with a copy of a procedure, which nothing calls.
    pub fn add_copy(&mut self, procedure: ProcedureId) -> ProcedureId {
        let id = ProcedureId(self.program.procedures.len() as u32);
        let mut body = self.program.procedure(procedure).clone();
        body.name = self.fresh_name(&format!("{} (from here on)", body.name));
        self.program.procedures.push(body);
        self.origins.push(self.origins[procedure.0 as usize].clone());
        self.procedures.push(self.procedures[procedure.0 as usize]);
        id
    }

    fn fresh_name(&self, name: &str) -> String {
        fresh_name(&self.program, name)
    }
}

fn fresh_name(program: &Program, name: &str) -> String {
    let mut name = name.to_owned();
    while program.find_procedure(&name).is_some() {
        name.push('\'');
    }
    name
}

fn location(span: Span, kind: LocationKind) -> Location {
    Location { span, labels: Vec::new(), kind, called: None, violation: None }
}

/// In the outermost procedure: the call of the entry, and where the run is when it has returned.
const CALL: LocationId = LocationId(0);
const ENDED: LocationId = LocationId(1);

/// Makes the steps of the automaton.
struct Reader<'a> {
    subject: &'a Subject<'a>,
    automaton: &'a Buchi,
    state: Var,
    mark: Var,
    ty: Scalar,
}

type Body = (Procedure, Vec<Option<EdgeId>>);

impl Reader<'_> {
    fn procedure(&self, id: ProcedureId, body: &Procedure) -> Body {
        let mut new = body.clone();
        let mut edges: Vec<(Edge, Option<EdgeId>)> = Vec::new();
        for at in body.location_ids() {
            let node = Node { procedure: id, location: at };
            if body.location(at).kind == LocationKind::Exit {
                continue;
            }
            let own = body.edges_from(at).map(|(id, edge)| (edge.clone(), Some(id)));
            if !self.subject.is_read(Some(node)) {
                edges.extend(own);
                continue;
            }
            new.locations[at.0 as usize].kind = LocationKind::Statement;
            let read = LocationId(new.locations.len() as u32);
            new.locations.push(location(body.location(at).span, LocationKind::Statement));
            edges.extend(self.steps(Some(node), at, read).map(|edge| (edge, None)));
            if self.subject.is_end(Some(node)) {
                let span = body.location(at).span;
                edges.push((Edge { from: read, to: at, operation: Operation::Skip, span }, None));
            }
            edges.extend(own.map(|(edge, origin)| (Edge { from: read, ..edge }, origin)));
        }
        finish(new, edges)
    }

    /// Calls the entry, and stays where it is when that has returned.
    fn outermost(&self, program: &Program) -> Body {
        let entry = program.procedure(program.entry);
        let span = entry.span;
        let read = LocationId(2);
        let call = Call {
            callee: program.entry,
            arguments: vec![Argument::Arbitrary; entry.parameters],
            results: vec![None; entry.results.len()],
            assignment: Assignment::default(),
        };
        let edge = |from, to, operation| (Edge { from, to, operation, span }, None);
        let mut edges = vec![edge(CALL, ENDED, Operation::Call(call)), edge(read, ENDED, Operation::Skip)];
        edges.extend(self.steps(None, ENDED, read).map(|edge| (edge, None)));
        // Somebody reads the mark, so that abstractions follow it; nothing comes of it.
        let seen = Operation::Assume(Expr::variable(self.mark, Scalar::Bool));
        edges.push(edge(ENDED, LocationId(3), seen));
        let body = Procedure {
            name: fresh_name(program, "run"),
            span,
            parameters: 0,
            variables: Vec::new(),
            results: Vec::new(),
            locations: (0..5)
                .map(|i| location(span, if i == 4 { LocationKind::Exit } else { LocationKind::Statement }))
                .collect(),
            edges: Vec::new(),
            entry: CALL,
            exit: LocationId(4),
        };
        finish(body, edges)
    }

    /// What the automaton can do in a configuration.
    fn steps(
        &self,
        node: Option<Node>,
        from: LocationId,
        to: LocationId,
    ) -> impl Iterator<Item = Edge> + use<'_> {
        let span = match node {
            Some(node) => self.subject.program.location(node).span,
            None => self.subject.program.procedure(self.subject.program.entry).span,
        };
        let all = self.automaton.transitions.iter().enumerate();
        let all = all.flat_map(|(state, out)| out.iter().map(move |transition| (state, transition)));
        all.filter_map(move |(state, transition)| {
            let constraint = self.condition(node, state, transition)?;
            let constant = |value: usize| Expr::constant(value as u64, self.ty);
            let mut targets = vec![Target::from(self.state)];
            let mut values = vec![constant(transition.to)];
            if transition.is_accepting {
                targets.push(Target::from(self.mark));
                values.push(Expr::bool(true));
            }
            let assignment = Assignment { targets, values, constraint: Some(constraint) };
            Some(Edge { from, to, operation: Operation::Assign(assignment), span })
        })
    }

    /// When a transition can be taken; none if it never can.
    fn condition(&self, node: Option<Node>, state: usize, transition: &Transition) -> Option<Expr> {
        let now = Expr::variable(self.state, self.ty);
        let mut parts = vec![Expr::binary(BinaryOp::Eq, now, Expr::constant(state as u64, self.ty))];
        for (atom, value) in &transition.guard.0 {
            match &self.subject.meanings[*atom] {
                Meaning::Condition(condition) if *value => parts.push(condition.clone()),
                Meaning::Condition(condition) => parts.push(condition.clone().not()),
                Meaning::At(nodes) if node.is_some_and(|node| nodes.contains(&node)) == *value => {}
                Meaning::End if self.subject.is_end(node) == *value => {}
                Meaning::At(_) | Meaning::End => return None,
            }
        }
        Some(Expr::all(parts))
    }
}

fn finish(mut body: Procedure, mut edges: Vec<(Edge, Option<EdgeId>)>) -> Body {
    edges.sort_by_key(|(edge, _)| edge.from);
    let origins = edges.iter().map(|(_, origin)| *origin).collect();
    body.edges = edges.into_iter().map(|(edge, _)| edge).collect();
    (body, origins)
}
