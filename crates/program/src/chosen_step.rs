//! One run at a time, in place: all choices come from outside.
//!
//! A run is a function of the choices that it is given, so that it can be repeated, shortened and
//! changed by changing them. Nothing is copied: millions of steps a second are possible.

use crate::evaluate::{Blocked, Choices};
use crate::interpret::{Interpreter, State};
use crate::program::{EdgeId, EdgeRef, Node, Operation};

/// What became of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stepped {
    /// This edge was taken.
    Edge(EdgeRef),
    /// No edge can be taken: no condition holds, or the step has no outcome.
    Blocked,
    /// There is no edge, or the run had ended.
    Ended,
}

impl Interpreter<'_> {
    /// The configuration where a run starts.
    ///
    /// # Errors
    /// If there is none with these choices.
    pub fn begin(&self, choices: &mut dyn Choices) -> Result<State, Blocked> {
        self.start(choices, None)
    }

    /// The configuration where a run starts, with the values of another one where they are open.
    ///
    /// # Errors
    /// If there is none with these choices.
    pub fn begin_like(&self, choices: &mut dyn Choices, like: &State) -> Result<State, Blocked> {
        self.start(choices, Some(like))
    }

    /// The configuration behind a step, with the values of another one where they are open.
    ///
    /// # Errors
    /// If there is none with these choices.
    pub fn step_like(
        &self,
        state: &State,
        edge: EdgeRef,
        choices: &mut dyn Choices,
        like: &State,
    ) -> Result<State, Blocked> {
        self.execute(state, edge, choices, Some(like))
    }

    /// Takes a step in place. If several edges can be taken, one of them is chosen.
    pub fn take(&self, state: &mut State, choices: &mut dyn Choices) -> Stepped {
        let Some(node) = state.node() else { return Stepped::Ended };
        let edges = self.edges_from(node);
        match edges.len() {
            0 => return Stepped::Ended,
            1 => return self.forced(state, edges.start, choices),
            _ => {}
        }
        let mut enabled = 0;
        let mut last = edges.start;
        let mut others = Vec::new();
        for edge in edges {
            let edge = EdgeRef { procedure: node.procedure, edge: EdgeId(edge) };
            if let Operation::Assume(condition) = &self.program().edge(edge).operation {
                if !matches!(self.scope_of(state).holds(condition, choices), Ok(true)) {
                    continue;
                }
            }
            if enabled > 0 {
                others.push(last);
            }
            enabled += 1;
            last = edge.edge.0;
        }
        if enabled == 0 {
            return Stepped::Blocked;
        }
        if let Some(other) = (enabled > 1).then(|| choices.choose(enabled - 1) as usize) {
            last = others.get(other).copied().unwrap_or(last);
        }
        let edge = EdgeRef { procedure: node.procedure, edge: EdgeId(last) };
        let here = self.program().edge(edge);
        match (&here.operation, state.stack.last_mut()) {
            // The condition holds with the choices that were made for it.
            (Operation::Assume(_), Some(frame)) => {
                frame.location = here.to;
                Stepped::Edge(edge)
            }
            _ => self.forced(state, last, choices),
        }
    }

    /// Takes an edge of the location on top, if it has an outcome.
    fn forced(&self, state: &mut State, edge: u32, choices: &mut dyn Choices) -> Stepped {
        let Some(node) = state.node() else { return Stepped::Ended };
        let edge = EdgeRef { procedure: node.procedure, edge: EdgeId(edge) };
        match self.advance(state, edge, choices, None) {
            Ok(()) => Stepped::Edge(edge),
            Err(_) => Stepped::Blocked,
        }
    }

    /// The edges of a location, by number.
    fn edges_from(&self, node: Node) -> std::ops::Range<u32> {
        let starts = &self.layout().edges[node.procedure.0 as usize];
        starts[node.location.0 as usize]..starts[node.location.0 as usize + 1]
    }
}
