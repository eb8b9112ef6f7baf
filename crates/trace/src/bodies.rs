//! Programs that are changed, with what each location and edge was before.

use wherefore_program::{
    Edge, EdgeId, EdgeRef, Frame, Location, LocationId, LocationKind, Node, Operation, Procedure,
    ProcedureId, Program, State, Step, Trace,
};

/// A procedure that is changed: locations keep their numbers, new ones are added behind them.
#[derive(Clone)]
pub(crate) struct Body {
    procedure: Procedure,
    /// The procedure that it was.
    id: ProcedureId,
    /// Of each location, the one that it was or belongs to.
    locations: Vec<LocationId>,
    /// Of each edge, the one that it was; none if it was added.
    edges: Vec<Option<EdgeId>>,
}

impl Body {
    pub fn new(program: &Program, id: ProcedureId) -> Self {
        let procedure = program.procedure(id).clone();
        let locations = procedure.location_ids().collect();
        let edges = procedure.edges().map(|(edge, _)| Some(edge)).collect();
        Self { procedure, id, locations, edges }
    }

    pub fn procedure(&self) -> &Procedure {
        &self.procedure
    }

    pub fn rename(&mut self, name: String) {
        self.procedure.name = name;
    }

    pub fn enter_at(&mut self, location: LocationId) {
        self.procedure.entry = location;
    }

    /// A new location that belongs to another one.
    pub fn add_location(&mut self, of: LocationId, kind: LocationKind) -> LocationId {
        let span = self.procedure.location(of).span;
        let location = Location { span, labels: Vec::new(), kind, called: None, violation: None };
        self.procedure.locations.push(location);
        self.locations.push(self.locations[of.0 as usize]);
        LocationId(self.procedure.locations.len() as u32 - 1)
    }

    /// A new edge.
    pub fn add_edge(&mut self, from: LocationId, to: LocationId, operation: Operation) {
        let span = self.procedure.location(from).span;
        self.procedure.edges.push(Edge { from, to, operation, span });
        self.edges.push(None);
    }

    /// A copy of an edge, between other locations; it still is that edge.
    pub fn copy_edge(&mut self, index: usize, (from, to): (LocationId, LocationId), operation: Operation) {
        let span = self.procedure.edges[index].span;
        self.procedure.edges.push(Edge { from, to, operation, span });
        self.edges.push(self.edges[index]);
    }

    /// Puts an operation in front of all edges of a location; where they start now.
    pub fn split(&mut self, at: LocationId, operation: Operation) -> LocationId {
        let kind = self.procedure.location(at).kind;
        let behind = self.add_location(at, kind);
        for edge in self.procedure.edges.iter_mut().filter(|edge| edge.from == at) {
            edge.from = behind;
        }
        self.procedure.locations[at.0 as usize].kind = LocationKind::Statement;
        self.add_edge(at, behind, operation);
        behind
    }

    /// The positions of the edges, by what they were.
    pub fn positions_of(&self, edge: EdgeId) -> Vec<usize> {
        (0..self.edges.len()).filter(|i| self.edges[*i] == Some(edge)).collect()
    }

    pub fn edge(&self, index: usize) -> &Edge {
        &self.procedure.edges[index]
    }

    pub fn edge_count(&self) -> usize {
        self.edges.len()
    }

    pub fn change_edge(&mut self, index: usize, change: impl FnOnce(&mut Edge)) {
        change(&mut self.procedure.edges[index]);
    }

    pub fn set_kind(&mut self, location: LocationId, kind: LocationKind) {
        self.procedure.locations[location.0 as usize].kind = kind;
    }

    /// Drops the edges for which this holds.
    pub fn drop_edges(&mut self, is_dropped: impl Fn(&Edge) -> bool) {
        let keep: Vec<bool> = self.procedure.edges.iter().map(|edge| !is_dropped(edge)).collect();
        let mut kept = keep.iter();
        self.procedure.edges.retain(|_| *kept.next().unwrap_or(&true));
        let mut kept = keep.iter();
        self.edges.retain(|_| *kept.next().unwrap_or(&true));
    }

    /// Sorts the edges as programs have them.
    fn finish(mut self) -> (Procedure, BodyOrigin) {
        let mut all: Vec<(Edge, Option<EdgeId>)> =
            self.procedure.edges.drain(..).zip(self.edges.drain(..)).collect();
        all.sort_by_key(|(edge, _)| edge.from);
        let (edges, origins) = all.into_iter().unzip();
        self.procedure.edges = edges;
        (self.procedure, BodyOrigin { id: self.id, locations: self.locations, edges: origins })
    }
}

#[derive(Clone, Debug)]
struct BodyOrigin {
    id: ProcedureId,
    locations: Vec<LocationId>,
    edges: Vec<Option<EdgeId>>,
}

/// What the locations and edges of a changed program were before.
#[derive(Clone, Debug)]
pub struct Origins {
    bodies: Vec<BodyOrigin>,
    /// The cells of the globals that there were before; others come behind them.
    global_cells: usize,
}

impl Origins {
    /// Puts bodies into a program, whose globals may have become more.
    pub(crate) fn finish(before: &Program, mut program: Program, bodies: Vec<Body>) -> (Program, Self) {
        let global_cells = before.globals.iter().map(|variable| variable.ty.cell_count()).sum();
        let (procedures, bodies) = bodies.into_iter().map(Body::finish).unzip();
        program.procedures = procedures;
        (program, Self { bodies, global_cells })
    }

    /// The location that one was.
    pub fn node(&self, node: Node) -> Node {
        let body = &self.bodies[node.procedure.0 as usize];
        Node { procedure: body.id, location: body.locations[node.location.0 as usize] }
    }

    /// The edge that one was; none if it was added.
    pub fn edge(&self, edge: EdgeRef) -> Option<EdgeRef> {
        let body = &self.bodies[edge.procedure.0 as usize];
        body.edges[edge.edge.0 as usize].map(|edge| EdgeRef { procedure: body.id, edge })
    }

    /// All edges of the changed program that were some of these.
    pub fn edges_of<'a>(
        &'a self,
        wanted: impl Fn(EdgeRef) -> bool + 'a,
    ) -> impl Iterator<Item = (EdgeRef, EdgeRef)> + 'a {
        self.bodies
            .iter()
            .enumerate()
            .flat_map(move |(i, body)| {
                let procedure = ProcedureId(i as u32);
                (0..body.edges.len() as u32).map(move |edge| EdgeRef { procedure, edge: EdgeId(edge) })
            })
            .filter_map(move |edge| {
                self.edge(edge).filter(|before| wanted(*before)).map(|before| (edge, before))
            })
    }

    /// All locations of the changed program.
    pub fn nodes(&self) -> impl Iterator<Item = (Node, Node)> + '_ {
        self.bodies.iter().enumerate().flat_map(move |(i, body)| {
            let procedure = ProcedureId(i as u32);
            (0..body.locations.len() as u32).map(move |location| {
                let node = Node { procedure, location: LocationId(location) };
                (node, self.node(node))
            })
        })
    }

    /// A run of the changed program as one of the program before.
    pub fn trace(&self, trace: &Trace) -> Trace {
        let start = self.state(&trace.start);
        let steps = trace
            .steps
            .iter()
            .filter_map(|step| Some(Step { edge: self.edge(step.edge)?, state: self.state(&step.state) }));
        Trace { start, steps: steps.collect() }
    }

    fn state(&self, state: &State) -> State {
        let frame = |frame: &Frame| {
            let node = self.node(Node { procedure: frame.procedure, location: frame.location });
            let calling = frame.calling.and_then(|edge| {
                self.edge(EdgeRef { procedure: frame.procedure, edge }).map(|edge| edge.edge)
            });
            Frame {
                procedure: node.procedure,
                location: node.location,
                calling,
                locals: frame.locals.clone(),
            }
        };
        State {
            globals: state.globals[..self.global_cells.min(state.globals.len())].to_vec(),
            memory: state.memory.clone(),
            stack: state.stack.iter().map(frame).collect(),
        }
    }
}
