//! A program with its calls inlined, as one graph.
//!
//! Each call has a frame of its own with its own variables. Calls are opened one by one, as runs
//! and paths come to them; a call that is not open has no edge in the graph.

use std::collections::BTreeMap;

use wherefore_program::{EdgeRef, ErrorSite, LocationId, Node, Operation, ProcedureId, Program};

/// A place of the graph, by its number.
pub(crate) type PlaceId = u32;

/// A call, or the outermost procedure.
pub(crate) struct Frame {
    pub procedure: ProcedureId,
    /// The frame of the caller and the call.
    pub caller: Option<(u32, EdgeRef)>,
    /// The number of the first of its variables.
    pub first: u32,
    /// The place of its first location; others follow.
    place: PlaceId,
}

/// A location in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub frame: u32,
    pub location: LocationId,
}

/// What an edge does beside what its operation says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    /// A step within a frame.
    Step,
    /// A call, into this frame.
    Enter(u32),
    /// A return to the caller.
    Leave,
}

/// An edge of the graph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlatEdge {
    pub from: PlaceId,
    pub to: PlaceId,
    pub edge: EdgeRef,
    pub kind: Move,
}

/// The graph.
pub(crate) struct Flat<'a> {
    pub program: &'a Program,
    pub frames: Vec<Frame>,
    pub places: Vec<Place>,
    pub edges: Vec<FlatEdge>,
    /// For each place, the edges that leave it.
    pub out: Vec<Vec<u32>>,
    pub start: PlaceId,
    /// Where the program fails, with the number of the target.
    pub errors: BTreeMap<PlaceId, usize>,
    /// How many variables all frames have together, globals first.
    pub variables: u32,
    failing: BTreeMap<Node, usize>,
    /// Frames of calls that have been opened.
    opened: BTreeMap<(u32, EdgeRef), u32>,
}

/// Variables of frames start at multiples of this, so that they can be dropped together.
pub(crate) const ALIGNMENT: u32 = 16;

impl<'a> Flat<'a> {
    /// The outermost procedure alone: calls are opened one by one.
    pub fn new(program: &'a Program, targets: &[ErrorSite]) -> Self {
        let globals = (program.globals.len() as u32).next_multiple_of(ALIGNMENT);
        let mut flat = Self {
            program,
            frames: Vec::new(),
            places: Vec::new(),
            edges: Vec::new(),
            out: Vec::new(),
            start: 0,
            errors: BTreeMap::new(),
            variables: globals,
            failing: targets.iter().enumerate().map(|(i, site)| (site.node, i)).collect(),
            opened: BTreeMap::new(),
        };
        flat.frame(program.entry, None);
        flat.start = flat.place(0, program.procedure(program.entry).entry);
        flat
    }

    /// A frame that stands for all calls of a procedure: it has no caller, and does not return.
    pub fn template(&mut self, procedure: ProcedureId) -> u32 {
        self.frame(procedure, None)
    }

    /// The edge of a frame that is one of the program, if it is there.
    pub fn edge_in(&self, frame: u32, edge: EdgeRef) -> Option<u32> {
        let from = self.place(frame, self.program.edge(edge).from);
        self.out[from as usize].iter().copied().find(|id| self.edges[*id as usize].edge == edge)
    }

    /// The calls of a frame that can be reached: those where nothing has failed yet.
    pub fn calls(&self, frame: u32) -> Vec<(EdgeRef, ProcedureId)> {
        let procedure = self.frames[frame as usize].procedure;
        let edges = self.program.procedure(procedure).edges();
        edges
            .filter(|(_, edge)| !self.errors.contains_key(&self.place(frame, edge.from)))
            .filter_map(|(id, edge)| match &edge.operation {
                Operation::Call(call) => Some((EdgeRef { procedure, edge: id }, call.callee)),
                _ => None,
            })
            .collect()
    }

    /// Opens the call of a frame, if it is not open yet: the number of the edge into it.
    pub fn open(&mut self, frame: u32, call: EdgeRef) -> u32 {
        if let Some(edge) = self.opened.get(&(frame, call)) {
            return *edge;
        }
        let Operation::Call(operation) = &self.program.edge(call).operation else {
            unreachable!("only calls are opened");
        };
        let from = self.place(frame, self.program.edge(call).from);
        let callee = self.frame(operation.callee, Some((frame, call)));
        let entry = self.place(callee, self.program.procedure(operation.callee).entry);
        let edge = self.edge(from, entry, call, Move::Enter(callee));
        self.opened.insert((frame, call), edge);
        edge
    }

    /// Whether the call of a frame has been opened.
    pub fn is_open(&self, frame: u32, call: EdgeRef) -> bool {
        self.opened.contains_key(&(frame, call))
    }

    fn frame(&mut self, procedure: ProcedureId, caller: Option<(u32, EdgeRef)>) -> u32 {
        let id = self.frames.len() as u32;
        let body = self.program.procedure(procedure);
        self.frames.push(Frame { procedure, caller, first: self.variables, place: self.places.len() as u32 });
        self.variables += (body.variables.len() as u32).next_multiple_of(ALIGNMENT);
        for location in body.location_ids() {
            if let Some(target) = self.failing.get(&Node { procedure, location }) {
                self.errors.insert(self.places.len() as u32, *target);
            }
            self.places.push(Place { frame: id, location });
            self.out.push(Vec::new());
        }
        for (number, edge) in body.edges() {
            let at = EdgeRef { procedure, edge: number };
            let from = self.place(id, edge.from);
            // A failing run ends where it fails.
            if self.errors.contains_key(&from) {
                continue;
            }
            match (&edge.operation, caller) {
                (Operation::Call(_), _) | (Operation::Return(_), None) => {}
                (Operation::Return(_), Some((caller, call))) => {
                    let back = self.place(caller, self.program.edge(call).to);
                    self.edge(from, back, at, Move::Leave);
                }
                _ => {
                    let to = self.place(id, edge.to);
                    self.edge(from, to, at, Move::Step);
                }
            }
        }
        id
    }

    /// The place of a location in a frame.
    pub fn place(&self, frame: u32, location: LocationId) -> PlaceId {
        self.frames[frame as usize].place + location.0
    }

    fn edge(&mut self, from: PlaceId, to: PlaceId, edge: EdgeRef, kind: Move) -> u32 {
        let id = self.edges.len() as u32;
        self.out[from as usize].push(id);
        self.edges.push(FlatEdge { from, to, edge, kind });
        id
    }

    /// How many frames of a procedure are open in a frame.
    pub fn depth_of(&self, frame: u32, procedure: ProcedureId) -> usize {
        let mut open = 0;
        let mut at = Some(frame);
        while let Some(frame) = at {
            let frame = &self.frames[frame as usize];
            open += usize::from(frame.procedure == procedure);
            at = frame.caller.map(|(caller, _)| caller);
        }
        open
    }

    /// The location of a place.
    pub fn node(&self, place: PlaceId) -> Node {
        let Place { frame, location } = self.places[place as usize];
        Node { procedure: self.frames[frame as usize].procedure, location }
    }

    /// The frame of a place.
    pub fn frame_of(&self, place: PlaceId) -> &Frame {
        &self.frames[self.places[place as usize].frame as usize]
    }
}
