//! A program with its calls inlined, as one graph.
//!
//! Each call has a frame of its own with its own variables. A recursive call is inlined up to a depth; what lies deeper is a
//! *cut*: a place with nothing after it, that whoever proves something must show to be out of reach.

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
    /// Calls that were not inlined: the run goes on, but not here.
    pub cuts: Vec<PlaceId>,
    /// How many variables all frames have together, globals first.
    pub variables: u32,
}

/// Variables of frames start at multiples of this, so that they can be dropped together.
pub(crate) const ALIGNMENT: u32 = 16;

impl<'a> Flat<'a> {
    /// Inlines all calls, recursive ones so many times; `None` if there are more than `most` places.
    pub fn new(program: &'a Program, targets: &[ErrorSite], depth: usize, most: usize) -> Option<Self> {
        let globals = (program.globals.len() as u32).next_multiple_of(ALIGNMENT);
        let mut flat = Self {
            program,
            frames: Vec::new(),
            places: Vec::new(),
            edges: Vec::new(),
            out: Vec::new(),
            start: 0,
            errors: BTreeMap::new(),
            cuts: Vec::new(),
            variables: globals,
        };
        let failing: BTreeMap<Node, usize> =
            targets.iter().enumerate().map(|(i, site)| (site.node, i)).collect();
        flat.frame(program.entry, None, &failing);
        flat.start = flat.place(0, program.procedure(program.entry).entry);
        let mut next = 0;
        while next < flat.frames.len() {
            flat.inline(next as u32, depth, &failing);
            next += 1;
            if flat.places.len() > most {
                return None;
            }
        }
        Some(flat)
    }

    fn frame(
        &mut self,
        procedure: ProcedureId,
        caller: Option<(u32, EdgeRef)>,
        failing: &BTreeMap<Node, usize>,
    ) -> u32 {
        let id = self.frames.len() as u32;
        let body = self.program.procedure(procedure);
        self.frames.push(Frame { procedure, caller, first: self.variables, place: self.places.len() as u32 });
        self.variables += (body.variables.len() as u32).next_multiple_of(ALIGNMENT);
        for location in body.location_ids() {
            if let Some(target) = failing.get(&Node { procedure, location }) {
                self.errors.insert(self.places.len() as u32, *target);
            }
            self.places.push(Place { frame: id, location });
            self.out.push(Vec::new());
        }
        id
    }

    /// The place of a location in a frame.
    fn place(&self, frame: u32, location: LocationId) -> PlaceId {
        self.frames[frame as usize].place + location.0
    }

    fn edge(&mut self, from: PlaceId, to: PlaceId, edge: EdgeRef, kind: Move) {
        self.out[from as usize].push(self.edges.len() as u32);
        self.edges.push(FlatEdge { from, to, edge, kind });
    }

    fn inline(&mut self, frame: u32, depth: usize, failing: &BTreeMap<Node, usize>) {
        let program = self.program;
        let procedure = self.frames[frame as usize].procedure;
        for (id, edge) in program.procedure(procedure).edges() {
            let at = EdgeRef { procedure, edge: id };
            let from = self.place(frame, edge.from);
            // A failing run ends where it fails.
            if self.errors.contains_key(&from) {
                continue;
            }
            match &edge.operation {
                Operation::Call(call) => {
                    if self.depth_of(frame, call.callee) > depth {
                        self.cuts.push(from);
                        continue;
                    }
                    let callee = self.frame(call.callee, Some((frame, at)), failing);
                    let entry = self.place(callee, program.procedure(call.callee).entry);
                    self.edge(from, entry, at, Move::Enter(callee));
                }
                Operation::Return(_) => {
                    if let Some((caller, call)) = self.frames[frame as usize].caller {
                        let back = self.place(caller, program.edge(call).to);
                        self.edge(from, back, at, Move::Leave);
                    }
                }
                _ => {
                    let to = self.place(frame, edge.to);
                    self.edge(from, to, at, Move::Step);
                }
            }
        }
    }

    /// How many frames of a procedure are open in a frame.
    fn depth_of(&self, frame: u32, procedure: ProcedureId) -> usize {
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

    /// The edges that leave a place.
    pub fn edges_from(&self, place: PlaceId) -> impl Iterator<Item = &FlatEdge> {
        self.out[place as usize].iter().map(|edge| &self.edges[*edge as usize])
    }
}
