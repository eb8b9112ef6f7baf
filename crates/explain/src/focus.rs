//! Focus-statement sequences: the statements of a failing run that its failure depends on.
//!
//! \[Focus\] Definition 1, by the path slicer of `wherefore-program`: a statement is in the
//! sequence if it is in the slice of the run, if it is a call or return with such a statement in
//! the body, or if it is a free choice that such a statement is control-dependent on. Slices are
//! taken with dynamic data and static alias facts, callees that do not matter are skipped as a
//! whole: what a procedure may write is computed once, however often it is called (§3.3).
//!
//! # Divergences
//! - A condition whose other way ends the run is kept, unless the other way fails too.
//! - Values from outside are unknowns, so the steps that bring them are left out.
//! - Fig. 7's sequences begin with `int error=0`, on which nothing depends; by Definition 1, and as
//!   in Fig. 4, it is left out.

use std::collections::BTreeSet;

use wherefore_program::{
    EdgeRef, LocationKind, Node, Operation, PathSlicer, Program, ProgramError, Span, Stops,
};

use crate::free_choices::FreeChoices;
use crate::words::one_line;

/// What an item of a sequence is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A condition on data, and whether it holds.
    Condition(bool),
    /// A choice that nothing decides, and which way it goes.
    Free(bool),
    /// A call with focus statements in its body.
    Call,
    /// Anything else.
    Statement,
}

/// A statement of a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The steps of the run, by position.
    pub positions: Vec<usize>,
    /// Where the first of them starts.
    pub node: Node,
    /// What it is.
    pub role: Role,
    /// The frame of the run that it belongs to: the position of the call that opened it; none for
    /// the first.
    pub frame: Option<usize>,
    /// The item that it is control-dependent on, by position in the sequence: the innermost
    /// condition around it, or the call.
    pub parent: Option<usize>,
}

/// The statements that a failure depends on, in the order of execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sequence {
    /// The statements.
    pub items: Vec<Item>,
    /// All steps that the failure depends on, by position, shown or not.
    pub steps: BTreeSet<usize>,
}

/// Finds sequences in runs of one program.
pub struct Focuser<'p> {
    program: &'p Program,
    free: &'p FreeChoices,
    slicer: PathSlicer<'p>,
    /// The slicer of the program itself, if it has free choices.
    whole: Option<PathSlicer<'p>>,
}

impl<'p> Focuser<'p> {
    /// Prepares a program.
    pub(crate) fn new(program: &'p Program, free: &'p FreeChoices) -> Self {
        let slicer = |program: &'p Program| PathSlicer::with_stops(program, Stops::ErrorsLikeLoops);
        let whole = (!free.branches.is_empty()).then(|| slicer(program));
        Self { program, free, slicer: slicer(&free.view), whole }
    }

    /// The sequence of a path from the entry of the program, which need not be feasible.
    ///
    /// # Errors
    /// If the edges are not a path.
    pub fn sequence(&mut self, path: &[EdgeRef]) -> Result<Sequence, ProgramError> {
        let frames = frames(self.program, path);
        let taken = self.slicer.slice(path)?.taken;
        let steps = taken.iter().copied().collect();
        let mut taken: BTreeSet<usize> = taken.into_iter().filter(|at| self.is_shown(path[*at])).collect();
        self.add_free_choices(path, &frames, &mut taken);
        self.drop_idle_calls(path, &frames, &mut taken);
        let items = self.assemble(path, &frames, &taken);
        Ok(Sequence { items, steps })
    }

    /// The steps of a path that decide which sequence it has, by position: also free choices that
    /// are not in the sequence, if the other way could change what matters.
    pub(crate) fn decisions(&mut self, path: &[EdgeRef], sequence: &Sequence) -> Vec<usize> {
        let mut decisions: BTreeSet<usize> = sequence.decisions().into_iter().collect();
        if let Some(Ok(slice)) = self.whole.as_mut().map(|slicer| slicer.slice(path)) {
            let is_free = |at: &usize| self.free.contains(self.program, path[*at]);
            decisions.extend(slice.taken.into_iter().filter(is_free));
        }
        decisions.into_iter().collect()
    }

    /// Values from outside are unknowns: the steps that bring them are not statements of interest.
    fn is_shown(&self, edge: EdgeRef) -> bool {
        !matches!(self.program.edge(edge).operation, Operation::Havoc(_))
            && edge.procedure != self.program.entry
    }

    fn source(&self, edge: EdgeRef) -> Node {
        Node { procedure: edge.procedure, location: self.program.edge(edge).from }
    }

    /// Takes the free choices that lead to something taken: the other way would miss it.
    fn add_free_choices(&mut self, path: &[EdgeRef], frames: &[Option<usize>], taken: &mut BTreeSet<usize>) {
        // For each frame, where its first step after the present one that is taken starts.
        let mut next: std::collections::BTreeMap<Option<usize>, Node> = std::collections::BTreeMap::new();
        for at in (0..path.len()).rev() {
            let from = self.source(path[at]);
            let leads = |slicer: &mut PathSlicer<'_>| {
                next.get(&frames[at]).is_some_and(|step| slicer.can_bypass(from, *step))
            };
            let is_call = matches!(self.program.edge(path[at]).operation, Operation::Call(_));
            // A call is taken if something in it is.
            let enters = is_call && next.contains_key(&Some(at)) && path[at].procedure != self.program.entry;
            if enters || (self.free.contains(self.program, path[at]) && leads(&mut self.slicer)) {
                taken.insert(at);
            }
            if taken.contains(&at) {
                next.insert(frames[at], from);
            }
        }
    }

    /// Leaves out calls and returns of procedures that have nothing else in the sequence.
    fn drop_idle_calls(&self, path: &[EdgeRef], frames: &[Option<usize>], taken: &mut BTreeSet<usize>) {
        let is_passage = |at: usize| match &self.program.edge(path[at]).operation {
            Operation::Call(_) => true,
            Operation::Return(values) => values.is_empty(),
            _ => false,
        };
        let mut busy: BTreeSet<usize> = BTreeSet::new();
        for at in taken.iter().copied().filter(|at| !is_passage(*at)) {
            let mut frame = frames[at];
            while let Some(call) = frame {
                if !busy.insert(call) {
                    break;
                }
                frame = frames[call];
            }
        }
        // Calls that are open at the end hold the failing statement.
        let mut frame =
            path.len().checked_sub(1).and_then(|last| match self.program.edge(path[last]).operation {
                Operation::Call(_) => Some(last),
                _ => frames[last],
            });
        while let Some(call) = frame {
            busy.insert(call);
            frame = frames[call];
        }
        taken.retain(|at| match &self.program.edge(path[*at]).operation {
            Operation::Call(_) => busy.contains(at),
            Operation::Return(values) if values.is_empty() => {
                let explicit = self.program.location(self.source(path[*at])).kind == LocationKind::Return;
                explicit && frames[*at].is_some_and(|call| busy.contains(&call))
            }
            _ => true,
        });
    }

    fn assemble(&mut self, path: &[EdgeRef], frames: &[Option<usize>], taken: &BTreeSet<usize>) -> Vec<Item> {
        let mut items: Vec<Item> = Vec::new();
        for &at in taken {
            let (edge, node) = (path[at], self.source(path[at]));
            let role = self.role(edge, node);
            let line = |node: Node| self.program.line(node);
            if let Some(last) = items.last_mut() {
                // One statement of the source can be several steps.
                let same_line = last.frame == frames[at] && line(last.node) == line(node);
                if role == Role::Statement && last.role == Role::Statement && same_line {
                    last.positions.push(at);
                    continue;
                }
            }
            let parent = self.parent(&items, node, frames[at]);
            items.push(Item { positions: vec![at], node, role, frame: frames[at], parent });
        }
        self.end(path, frames, &mut items);
        items
    }

    /// The failing statement, unless it is the check that is there already.
    fn end(&mut self, path: &[EdgeRef], frames: &[Option<usize>], items: &mut Vec<Item>) {
        let Some((last, edge)) = path.iter().enumerate().next_back() else { return };
        let (node, frame) = match &self.program.edge(*edge).operation {
            Operation::Call(call) => {
                let location = self.program.procedure(call.callee).entry;
                (Node { procedure: call.callee, location }, Some(last))
            }
            _ => (Node { procedure: edge.procedure, location: self.program.edge(*edge).to }, frames[last]),
        };
        let line = |node: Node| self.program.line(node);
        if items.last().is_some_and(|item| item.frame == frame && line(item.node) == line(node)) {
            return;
        }
        let parent = self.parent(items, node, frame);
        items.push(Item { positions: Vec::new(), node, role: Role::Statement, frame, parent });
    }

    fn role(&self, edge: EdgeRef, node: Node) -> Role {
        let procedure = self.program.procedure(edge.procedure);
        let mut edges = procedure.edges_from(node.location);
        let first = edges.next().is_some_and(|(id, _)| id == edge.edge);
        let several = edges.next().is_some();
        match &self.program.edge(edge).operation {
            Operation::Call(_) => Role::Call,
            _ if self.free.branches.contains(&node) => Role::Free(first),
            Operation::Assume(_) | Operation::Skip if several => Role::Condition(first),
            _ => Role::Statement,
        }
    }

    fn parent(&mut self, items: &[Item], node: Node, frame: Option<usize>) -> Option<usize> {
        let decides = |(_, item): &(usize, &Item)| {
            let branch = matches!(item.role, Role::Condition(_) | Role::Free(_));
            branch && item.frame == frame && self.slicer.can_bypass(item.node, node)
        };
        let around = items.iter().enumerate().rev().find(decides).map(|(i, _)| i);
        around.or_else(|| {
            items.iter().rposition(|item| item.role == Role::Call && item.positions.first().copied() == frame)
        })
    }
}

impl Sequence {
    /// The lines, in the order of execution.
    pub fn lines(&self, program: &Program) -> Vec<u32> {
        self.items.iter().filter_map(|item| program.line(item.node)).collect()
    }

    /// The steps that decide which way the run goes, by position.
    pub fn decisions(&self) -> Vec<usize> {
        let branch = |item: &&Item| matches!(item.role, Role::Condition(_) | Role::Free(_));
        self.items.iter().filter(branch).flat_map(|item| item.positions.iter().copied()).collect()
    }

    /// Whether an item lies in the block that another one opens.
    pub fn is_inside(&self, item: usize, block: usize) -> bool {
        let mut at = self.items[item].parent;
        while let Some(parent) = at {
            if parent == block {
                return true;
            }
            at = self.items[parent].parent;
        }
        false
    }
}

/// For each step, the position of the call that opened its frame.
fn frames(program: &Program, path: &[EdgeRef]) -> Vec<Option<usize>> {
    let mut open: Vec<usize> = Vec::new();
    let mut frames = Vec::with_capacity(path.len());
    for (at, edge) in path.iter().enumerate() {
        frames.push(open.last().copied());
        match program.edge(*edge).operation {
            Operation::Call(_) => open.push(at),
            Operation::Return(_) => {
                open.pop();
            }
            _ => {}
        }
    }
    frames
}

/// The text of an item: the condition, the call, or the statements of its steps.
pub fn text(program: &Program, path: &[EdgeRef], item: &Item) -> String {
    let words = |span: Span| one_line(program, span);
    let Some(first) = item.positions.first().map(|at| program.edge(path[*at])) else {
        return words(program.location(item.node).span);
    };
    match item.role {
        Role::Condition(holds) => {
            let procedure = item.node.procedure;
            let broken = program.violation_in_words(Node { procedure, location: first.to }, None);
            broken.unwrap_or_else(|| format!("{}: {holds}", words(first.span)))
        }
        Role::Free(holds) => format!("{} (free): {holds}", words(first.span)),
        Role::Call | Role::Statement => {
            let mut parts: Vec<String> = Vec::new();
            for at in &item.positions {
                let edge = path[*at];
                let part = words(program.location(node_of(program, edge)).span);
                if parts.last() != Some(&part) {
                    parts.push(part);
                }
            }
            parts.join(", ")
        }
    }
}

fn node_of(program: &Program, edge: EdgeRef) -> Node {
    Node { procedure: edge.procedure, location: program.edge(edge).from }
}
