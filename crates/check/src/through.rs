//! A failing run through given locations, by instrumentation: a question that every engine for C
//! can answer.
//!
//! A run goes through one of some locations and fails if it fails in a program that remembers
//! whether it has been there, and in which an error counts only then. This knows nothing of
//! projections: it is a second way to the same answer, and one by one it can be the faster way.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use wherefore_program::{
    Assignment, Edge, EdgeId, EdgeRef, ErrorSite, Expr, Language, Location, LocationId, LocationKind, Node,
    Operation, Procedure, ProcedureId, Program, Scalar, State, Step, Target, Task, Trace, Type, Var,
    Variable,
};

use crate::bounded::BoundedChecking;
use crate::budget::Budget;
use crate::engine::{Engine, Session};
use crate::portfolio::{Extent, portfolio};
use crate::refinement::solver::SolverRefinement;
use crate::verdict::{EngineName, FailingRun, Overall, Why};

/// Whether a failing run goes through given locations.
#[derive(Clone, Debug)]
pub enum Through {
    /// One does.
    Run(FailingRun),
    /// None does.
    None {
        /// Who says so.
        reason: String,
    },
    /// Neither is known, and why.
    Unknown(Why),
}

/// A failing run through one of some locations, or a proof that there is none.
///
/// **Ensures:** the run is one of `program`: its edges, its states, its targets.
pub fn through(program: &Program, targets: &[ErrorSite], nodes: &[Node], budget: &Budget) -> Through {
    let instrumented = Instrumented::new(program, targets, nodes);
    if instrumented.targets.is_empty() || nodes.is_empty() {
        let reason = if nodes.is_empty() { "there is no such location" } else { "there is no error" };
        return Through::None { reason: reason.to_owned() };
    }
    let Instrumented { program: asked, targets, edges, cells } = instrumented;
    let task = Task::new(asked, targets, Language::C);
    let engines: [Arc<dyn Engine>; 2] = [Arc::new(BoundedChecking), Arc::new(SolverRefinement::default())];
    let answer = portfolio(&task, &engines, Extent::FirstFailure, &Session::default(), budget);
    match answer.decision() {
        Overall::Unsafe(run) => Through::Run(original(run.clone(), &edges, cells)),
        Overall::Safe => {
            let iterations = answer.facts.refinement.as_ref().map_or(0, |refinement| refinement.iterations);
            let reason = match (answer.facts.by, answer.facts.bound) {
                (Some(EngineName::Bounded), Some(1)) => {
                    "bounded checking: all loops end within 1 iteration, and no run fails".to_owned()
                }
                (Some(EngineName::Bounded), Some(bound)) => {
                    format!("bounded checking: all loops end within {bound} iterations, and no run fails")
                }
                _ => format!("refinement: a proof, after {iterations} spurious counterexamples"),
            };
            Through::None { reason }
        }
        Overall::Unknown(why) => Through::Unknown(why.clone()),
    }
}

/// The program that remembers.
struct Instrumented {
    program: Program,
    /// The new targets, in the order of the old ones.
    targets: Vec<ErrorSite>,
    /// For each procedure, the old edge of each new one; new steps have none.
    edges: Vec<Vec<Option<EdgeId>>>,
    /// How many cells the old globals have.
    cells: usize,
}

impl Instrumented {
    /// A location of `nodes` is split: a new step behind it remembers the visit, and then all its
    /// edges follow. A target is left by one step only, to a new error, if a visit is remembered. A
    /// target of `nodes` stays as it is.
    fn new(program: &Program, targets: &[ErrorSite], nodes: &[Node]) -> Self {
        let mut made = program.clone();
        let remembered = Var::Global(made.globals.len() as u32);
        made.globals.push(Variable {
            name: "through".to_owned(),
            ty: Type::Scalar(Scalar::Bool),
            value_names: None,
            signed: false,
            float: false,
            pointer: false,
            shared: true,
            initial: Some(0),
            span: program.procedure(program.entry).span,
        });
        let nodes: BTreeSet<Node> = nodes.iter().copied().collect();
        let failing: BTreeSet<Node> = targets.iter().map(|site| site.node).collect();
        let mut moved: BTreeMap<Node, LocationId> = BTreeMap::new();
        let mut edges = Vec::new();
        for (procedure, body) in program.procedures() {
            let of = |set: &BTreeSet<Node>| -> BTreeSet<LocationId> {
                set.iter().filter(|node| node.procedure == procedure).map(|node| node.location).collect()
            };
            let split = Splitting { remembered, visits: of(&nodes), failing: of(&failing) };
            let (body, old) = split.split(body, procedure, &mut moved);
            made.procedures[procedure.0 as usize] = body;
            edges.push(old);
        }
        let target = |site: &ErrorSite| {
            let location = moved.get(&site.node).copied().unwrap_or(site.node.location);
            ErrorSite { node: Node { location, ..site.node }, kind: site.kind.clone() }
        };
        debug_assert_eq!(made.check(), Ok(()));
        let cells = program.globals.iter().map(|variable| variable.ty.cell_count()).sum();
        Self { program: made, targets: targets.iter().map(target).collect(), edges, cells }
    }
}

/// What is done to one procedure.
struct Splitting {
    remembered: Var,
    visits: BTreeSet<LocationId>,
    failing: BTreeSet<LocationId>,
}

impl Splitting {
    fn split(
        &self,
        body: &Procedure,
        procedure: ProcedureId,
        moved: &mut BTreeMap<Node, LocationId>,
    ) -> (Procedure, Vec<Option<EdgeId>>) {
        let mut made = body.clone();
        let mut edges: Vec<(Edge, Option<EdgeId>)> = Vec::new();
        for from in body.location_ids() {
            let span = body.location(from).span;
            let out = body.edges_from(from).map(|(id, edge)| (edge.clone(), Some(id)));
            let step = |to, operation| (Edge { from, to, operation, span }, None);
            let fresh = LocationId(made.locations.len() as u32);
            let place = |kind| Location { span, labels: Vec::new(), kind, called: None, violation: None };
            match (self.failing.contains(&from), self.visits.contains(&from)) {
                // A failing run ends here, whatever follows.
                (true, true) => {}
                (true, false) => {
                    moved.insert(Node { procedure, location: from }, fresh);
                    made.locations[from.0 as usize].kind = LocationKind::Statement;
                    made.locations.push(place(LocationKind::Error));
                    edges.push(step(fresh, Operation::Assume(self.read())));
                }
                (false, true) if from != body.exit && body.edges_from(from).next().is_some() => {
                    made.locations.push(place(LocationKind::Statement));
                    edges.push(step(fresh, self.remember()));
                    edges.extend(out.map(|(edge, id)| (Edge { from: fresh, ..edge }, id)));
                }
                (false, _) => edges.extend(out),
            }
        }
        edges.sort_by_key(|(edge, _)| edge.from);
        let (edges, old) = edges.into_iter().unzip();
        made.edges = edges;
        (made, old)
    }

    fn read(&self) -> Expr {
        Expr::variable(self.remembered, Scalar::Bool)
    }

    fn remember(&self) -> Operation {
        let target = Target { variable: self.remembered, indices: Vec::new() };
        let values = vec![Expr::bool(true)];
        Operation::Assign(Assignment { targets: vec![target], values, constraint: None })
    }
}

/// A failing run of the instrumented program as one of the program itself.
fn original(failure: FailingRun, edges: &[Vec<Option<EdgeId>>], cells: usize) -> FailingRun {
    let old = |edge: EdgeRef| {
        let known = edges[edge.procedure.0 as usize][edge.edge.0 as usize];
        known.map(|known| EdgeRef { edge: known, ..edge })
    };
    let state = |mut state: State| {
        state.globals.truncate(cells);
        for frame in &mut state.stack {
            let known = |edge| old(EdgeRef { procedure: frame.procedure, edge }).map(|edge| edge.edge);
            frame.calling = frame.calling.and_then(known);
        }
        state
    };
    let (trace, path) = (failure.trace.clone(), failure.path.clone());
    // The new steps change nothing that the program knows of, so what is behind them is left out.
    let steps = trace.steps.into_iter().filter_map(|step| {
        let edge = old(step.edge)?;
        Some(Step { edge, state: state(step.state) })
    });
    let trace = Trace { steps: steps.collect(), start: state(trace.start) };
    let path = path.into_iter().filter_map(old).collect();
    FailingRun { trace, path, is_shortest: false, ..failure }
}
