//! The program in which an error is reached exactly if a run ends in a stack.
//!
//! Each frame of the stack gets a copy of its procedure, which never returns. In a copy, the calls
//! on the line of the frame lead to the copy of the frame above, or to the procedure itself, as
//! they did: a run guesses which call is the one that does not return before the crash. The copy
//! of the innermost frame has the error. The copies are entered one after the other, so that the
//! stack at the error is the given one; conversely, a run that ends in the stack has one last call
//! for each frame, at which it guesses right. What must be visited sets a flag, what comes in order
//! a counter, and the error is reached only if they are set.

use rustc_hash::FxHashMap;
use wherefore_program::{
    Assignment, BinaryOp, EdgeRef, ErrorKind, ErrorSite, Expr, Location, LocationId, LocationKind, Node,
    Operation, ProcedureId, Program, Scalar, Type, Var, Variable, ViolationKind,
};

use crate::bodies::{Body, Origins};
use crate::conditions::{Condition, procedures_of};
use crate::fit::{Fitted, Sites, starts};
use crate::lines::{is_start, line_of};

/// Which runs are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Those that come to the line of the crash with the stack.
    Arrive,
    /// Those that fail there.
    Fail {
        /// By one of these kinds, or any if there are none.
        kinds: Vec<ViolationKind>,
        /// Or by a failed assertion, or a call that is an error.
        assertions: bool,
    },
}

/// What a run must visit.
#[derive(Clone, Debug, Default)]
pub struct Required {
    /// One of each.
    pub points: Vec<Vec<Node>>,
    /// One of each, one after the other.
    pub order: Vec<Vec<Node>>,
    /// None of these.
    pub never: Vec<Node>,
}

/// A program in which errors stand for runs that end in a stack.
#[derive(Clone, Debug)]
pub struct Spine {
    /// The program.
    pub program: Program,
    /// The errors.
    pub errors: Vec<ErrorSite>,
    /// What its locations and edges were.
    pub origins: Origins,
}

/// Makes the program; none if a frame of the stack is not known.
pub fn spine(
    program: &Program,
    fitted: &Fitted,
    required: &Required,
    conditions: &[Condition],
    goal: &Goal,
) -> Option<Spine> {
    if fitted.frames.iter().any(|frame| frame.sites == Sites::Unknown) {
        return None;
    }
    let mut changed = program.clone();
    let bodies: Vec<Body> = program.procedures().map(|(id, _)| Body::new(program, id)).collect();
    let mut maker = Maker { program, bodies, moved: FxHashMap::default(), copies: FxHashMap::default() };
    let enough = maker.watch(&mut changed, required);
    maker.copy(fitted);
    maker.link(fitted, conditions);
    let errors = maker.errors(fitted, conditions, enough, goal);
    maker.begin(fitted, &mut changed);
    let (program, origins) = Origins::finish(program, changed, maker.bodies);
    Some(Spine { program, errors, origins })
}

struct Maker<'a> {
    program: &'a Program,
    /// The procedures, then the copies.
    bodies: Vec<Body>,
    /// Where the edges of a location start now, if not there.
    moved: FxHashMap<Node, LocationId>,
    /// The copies, by level and procedure.
    copies: FxHashMap<(usize, ProcedureId), ProcedureId>,
}

impl Maker<'_> {
    /// Has visits noted in new globals; the condition that all were made.
    fn watch(&mut self, changed: &mut Program, required: &Required) -> Vec<Expr> {
        let mut enough = Vec::new();
        let mut changes: FxHashMap<Node, Vec<(Var, Expr)>> = FxHashMap::default();
        for (i, nodes) in required.points.iter().enumerate() {
            let flag = self.add_global(changed, format!("visited@{i}"), Scalar::Bool);
            enough.push(Expr::variable(flag, Scalar::Bool));
            for node in nodes {
                changes.entry(*node).or_default().push((flag, Expr::bool(true)));
            }
        }
        if !required.order.is_empty() {
            let count = required.order.len() as u64;
            let ty = Scalar::Bits(u64::BITS - count.leading_zeros());
            let place = self.add_global(changed, "visited@order".to_owned(), ty);
            let read = || Expr::variable(place, ty);
            enough.push(Expr::binary(BinaryOp::Eq, read(), Expr::constant(count, ty)));
            let mut next: FxHashMap<Node, Expr> = FxHashMap::default();
            for (i, nodes) in required.order.iter().enumerate() {
                let is_next = Expr::binary(BinaryOp::Eq, read(), Expr::constant(i as u64, ty));
                for node in nodes {
                    let other = next.remove(node).unwrap_or_else(read);
                    let value = Expr::constant(i as u64 + 1, ty);
                    next.insert(*node, Expr::if_then_else(is_next.clone(), value, other));
                }
            }
            for (node, value) in next {
                changes.entry(node).or_default().push((place, value));
            }
        }
        let mut changes: Vec<(Node, Vec<(Var, Expr)>)> = changes.into_iter().collect();
        changes.sort_by_key(|(node, _)| *node);
        for (node, writes) in changes {
            let (targets, values) = writes.into_iter().map(|(var, value)| (var.into(), value)).unzip();
            let operation = Operation::Assign(Assignment { targets, values, constraint: None });
            let behind = self.bodies[node.procedure.0 as usize].split(node.location, operation);
            self.moved.insert(node, behind);
        }
        for node in &required.never {
            let from = self.at(*node);
            self.bodies[node.procedure.0 as usize].drop_edges(|edge| edge.from == from);
        }
        enough
    }

    fn add_global(&self, changed: &mut Program, name: String, ty: Scalar) -> Var {
        changed.globals.push(Variable {
            name,
            ty: Type::Scalar(ty),
            value_names: None,
            signed: false,
            float: false,
            pointer: false,
            shared: true,
            initial: Some(0),
            span: self.program.procedure(self.program.entry).span,
        });
        Var::Global(changed.globals.len() as u32 - 1)
    }

    /// Where the edges of a location start.
    fn at(&self, node: Node) -> LocationId {
        self.moved.get(&node).copied().unwrap_or(node.location)
    }

    /// Copies the procedures of the frames.
    fn copy(&mut self, fitted: &Fitted) {
        for (level, frame) in fitted.frames.iter().enumerate() {
            for procedure in procedures_of(&frame.sites) {
                let mut body = self.bodies[procedure.0 as usize].clone();
                body.rename(format!("{}@frame{level}", body.procedure().name));
                body.drop_edges(|edge| matches!(edge.operation, Operation::Return(_)));
                self.copies.insert((level, procedure), ProcedureId(self.bodies.len() as u32));
                self.bodies.push(body);
            }
        }
    }

    /// The condition on a frame: now, and at the entry of its procedure.
    fn conditions(
        &self,
        conditions: &[Condition],
        level: usize,
        procedure: ProcedureId,
    ) -> (Vec<Expr>, Vec<Expr>) {
        let here = conditions.iter().filter(|condition| condition.level == level);
        let all: Vec<(Expr, bool)> =
            here.filter_map(|condition| condition.expr(self.program, procedure)).collect();
        let (at_entry, now): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, at_entry)| *at_entry);
        let exprs = |list: Vec<(Expr, bool)>| list.into_iter().map(|(expr, _)| expr).collect();
        (exprs(now), exprs(at_entry))
    }

    /// Has the calls of the frames lead to the copies above.
    fn link(&mut self, fitted: &Fitted, conditions: &[Condition]) {
        for (level, frame) in fitted.frames.iter().enumerate() {
            for procedure in procedures_of(&frame.sites) {
                let (_, at_entry) = self.conditions(conditions, level, procedure);
                if !at_entry.is_empty() {
                    let copy = self.copies[&(level, procedure)];
                    let body = &mut self.bodies[copy.0 as usize];
                    let entry = body.procedure().entry;
                    let first = body.add_location(entry, LocationKind::Statement);
                    body.add_edge(first, entry, Operation::Assume(Expr::all(at_entry)));
                    body.enter_at(first);
                }
            }
            if let Sites::Calls(edges) = &frame.sites {
                for edge in edges {
                    let (now, _) = self.conditions(conditions, level, edge.procedure);
                    let copy = self.copies[&(level, edge.procedure)];
                    self.redirect(copy, *edge, level - 1, now);
                }
            }
        }
    }

    /// Gives a call of a body, once `edge`, another callee as a second way: a copy.
    fn redirect(&mut self, body: ProcedureId, edge: EdgeRef, level: usize, condition: Vec<Expr>) {
        let Operation::Call(call) = &self.program.edge(edge).operation else { return };
        let Some(copy) = self.copies.get(&(level, call.callee)).copied() else { return };
        let mut call = call.clone();
        call.callee = copy;
        let body = &mut self.bodies[body.0 as usize];
        for index in body.positions_of(edge.edge) {
            let (from, to) = (body.edge(index).from, body.edge(index).to);
            if body.edge(index).operation != self.program.edge(edge).operation {
                // One of the ways that were added.
                continue;
            }
            let usual = body.add_location(from, LocationKind::Call);
            let last = body.add_location(from, LocationKind::Call);
            body.set_kind(from, LocationKind::Branch);
            body.change_edge(index, |edge| edge.from = usual);
            body.add_edge(from, usual, Operation::Skip);
            body.add_edge(from, last, guard(condition.clone()));
            body.copy_edge(index, (last, to), Operation::Call(call.clone()));
        }
    }

    /// Makes the errors of the innermost frame.
    fn errors(
        &mut self,
        fitted: &Fitted,
        conditions: &[Condition],
        enough: Vec<Expr>,
        goal: &Goal,
    ) -> Vec<ErrorSite> {
        let mut errors = Vec::new();
        let Some(Sites::At(nodes)) = fitted.frames.first().map(|frame| &frame.sites) else { return errors };
        for procedure in procedures_of(&Sites::At(nodes.clone())) {
            let here: Vec<Node> = nodes.iter().copied().filter(|node| node.procedure == procedure).collect();
            let (now, _) = self.conditions(conditions, 0, procedure);
            let condition: Vec<Expr> = enough.iter().cloned().chain(now).collect();
            let copy = self.copies[&(0, procedure)];
            let site = |location, kind| ErrorSite { node: Node { procedure: copy, location }, kind };
            match goal {
                Goal::Arrive => {
                    for node in here {
                        let from = self.at(node);
                        let body = &mut self.bodies[copy.0 as usize];
                        let error = body.add_location(node.location, LocationKind::Error);
                        body.add_edge(from, error, guard(condition.clone()));
                        errors.push(site(error, ErrorKind::Assertion));
                    }
                }
                Goal::Fail { kinds, assertions } => {
                    for failure in self.failures(&here, kinds, *assertions) {
                        let body = &mut self.bodies[copy.0 as usize];
                        for index in 0..body.edge_count() {
                            if body.edge(index).to == failure && !condition.is_empty() {
                                body.change_edge(index, |edge| {
                                    let also = condition.clone();
                                    edge.operation = match &edge.operation {
                                        Operation::Assume(holds) => {
                                            guard(also.into_iter().chain([holds.clone()]).collect())
                                        }
                                        _ => guard(also),
                                    };
                                });
                            }
                        }
                        errors.push(site(
                            failure,
                            kind_of(self.program.procedure(procedure).location(failure)),
                        ));
                    }
                }
            }
        }
        errors
    }

    /// The failed checks of a statement.
    fn failures(&self, here: &[Node], kinds: &[ViolationKind], assertions: bool) -> Vec<LocationId> {
        let Some(procedure) = here.first().map(|node| node.procedure) else { return Vec::new() };
        let body = self.program.procedure(procedure);
        let lines: Vec<_> = here.iter().filter_map(|node| line_of(self.program, *node)).collect();
        let is_wanted = |location: &LocationId| {
            let node = Node { procedure, location: *location };
            let at = body.location(*location);
            let near = line_of(self.program, node).is_some_and(|line| lines.contains(&line))
                || body.edges.iter().any(|edge| {
                    edge.to == *location && here.contains(&Node { procedure, location: edge.from })
                });
            let fits = match &at.violation {
                Some(violation) => kinds.is_empty() || kinds.contains(&violation.kind),
                None => assertions,
            };
            at.kind == LocationKind::Error && near && fits
        };
        body.location_ids().filter(is_wanted).collect()
    }

    /// Where runs start.
    fn begin(&mut self, fitted: &Fitted, changed: &mut Program) {
        let lowest = fitted.frames.len() - 1;
        let procedures = procedures_of(&fitted.frames[lowest].sites);
        let is_called = |procedure: ProcedureId| procedures.contains(&procedure);
        if fitted.is_open {
            for (procedure, body) in self.program.procedures() {
                for (edge, step) in body.edges() {
                    if matches!(&step.operation, Operation::Call(call) if is_called(call.callee)) {
                        self.redirect(procedure, EdgeRef { procedure, edge }, lowest, Vec::new());
                    }
                }
            }
            return;
        }
        let first = self.program.entry;
        if !is_start(self.program, first) {
            changed.entry = self.copies.get(&(lowest, first)).copied().unwrap_or(first);
            return;
        }
        // The procedure that starts `main` starts its copy.
        let copies = &self.copies;
        let body = &mut self.bodies[first.0 as usize];
        for index in 0..body.edge_count() {
            body.change_edge(index, |edge| {
                if let Operation::Call(call) = &mut edge.operation {
                    if let (true, Some(copy)) =
                        (starts(self.program, call.callee), copies.get(&(lowest, call.callee)))
                    {
                        call.callee = *copy;
                    }
                }
            });
        }
    }
}

fn guard(condition: Vec<Expr>) -> Operation {
    match condition.is_empty() {
        true => Operation::Skip,
        false => Operation::Assume(Expr::all(condition)),
    }
}

fn kind_of(location: &Location) -> ErrorKind {
    match (&location.violation, &location.called) {
        (Some(violation), _) => ErrorKind::Violation(violation.kind),
        (None, Some(name)) => ErrorKind::Call(name.clone()),
        (None, None) => ErrorKind::Assertion,
    }
}
