//! Traces, and whether the program can run them.

use crate::error::ProgramError;
use crate::evaluate::Blocked;
use crate::interpret::{Extent, Interpreter, State, enumerate};
use crate::program::{EdgeRef, LocationKind, Program};

/// How many combinations of choices inside expressions are tried for one step.
const MAX_TRIALS: usize = 1 << 20;

/// A run: a first configuration, and steps with the configurations after them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Where the run starts.
    pub start: State,
    /// The steps.
    pub steps: Vec<Step>,
}

/// A step of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The edge taken.
    pub edge: EdgeRef,
    /// The configuration after it.
    pub state: State,
}

impl Trace {
    /// All configurations, the first included.
    pub fn states(&self) -> impl Iterator<Item = &State> {
        std::iter::once(&self.start).chain(self.steps.iter().map(|step| &step.state))
    }

    /// The last configuration.
    pub fn last(&self) -> &State {
        self.steps.last().map_or(&self.start, |step| &step.state)
    }

    /// The length in statements: every statement, branch, call, return, jump and the failing check
    /// or label at the end counts one. A failed check is counted where it stands, not again as an
    /// error.
    pub fn length(&self, program: &Program) -> usize {
        let counts = |state: &&State| {
            state.node().is_some_and(|node| program.location(node).kind != LocationKind::Error)
        };
        self.states().filter(counts).count()
    }
}

/// Why a step was not found to be possible.
enum Mismatch {
    Impossible(String),
    TooManyOutcomes,
}

impl Program {
    /// Checks every step of a trace against the meaning of the program.
    pub fn replay(&self, trace: &Trace) -> Result<(), ProgramError> {
        Interpreter::new(self).replay(trace)
    }
}

impl Interpreter<'_> {
    /// Checks every step of a trace against the meaning of the program.
    pub fn replay(&self, trace: &Trace) -> Result<(), ProgramError> {
        let impossible = |step, mismatch: Mismatch| match mismatch {
            Mismatch::Impossible(reason) => ProgramError::Impossible { step, reason },
            Mismatch::TooManyOutcomes => ProgramError::TooManyOutcomes { step },
        };
        self.matches(&trace.start, |choices, hint| self.start(choices, Some(hint)))
            .map_err(|reason| impossible(0, reason))?;
        let mut before = &trace.start;
        for (i, Step { edge, state }) in trace.steps.iter().enumerate() {
            let fail = |mismatch| impossible(i + 1, mismatch);
            let wrong = |reason: &str| fail(Mismatch::Impossible(reason.to_owned()));
            let Some(node) = before.node() else { return Err(wrong("the run has ended")) };
            let procedure = self.program().procedure(node.procedure);
            let known = (edge.edge.0 as usize) < procedure.edges.len();
            if edge.procedure != node.procedure || !known || procedure.edge(edge.edge).from != node.location {
                return Err(wrong("the edge does not start where the run is"));
            }
            self.matches(state, |choices, hint| self.execute(before, *edge, choices, Some(hint)))
                .map_err(fail)?;
            before = state;
        }
        Ok(())
    }

    /// The run that takes the steps of a trace, with its values, where the trace may say too much
    /// about memory: cells that were never written. None if there is no such run.
    pub fn retrace(&self, like: &Trace) -> Option<Trace> {
        let mut start = self.first(&like.start, |choices, hint| self.start(choices, Some(hint)))?;
        // Memory that begins with any values has those of the trace.
        let is_open = |variable: u32| self.program().globals[variable as usize].initial.is_none();
        let open = like.start.memory.iter().filter(|((variable, _), _)| is_open(*variable));
        start.memory.extend(open.map(|(cell, value)| (*cell, *value)));
        let mut trace = Trace { start, steps: Vec::with_capacity(like.steps.len()) };
        for Step { edge, state } in &like.steps {
            let before = trace.last();
            let node = before.node()?;
            let body = self.program().procedure(node.procedure);
            if edge.procedure != node.procedure || body.edges.get(edge.edge.0 as usize)?.from != node.location
            {
                return None;
            }
            let state =
                self.first(state, |choices, hint| self.execute(trace.last(), *edge, choices, Some(hint)))?;
            trace.steps.push(Step { edge: *edge, state });
        }
        Some(trace)
    }

    /// The first outcome that agrees with a state in all that was written.
    fn first(
        &self,
        like: &State,
        mut outcome: impl FnMut(&mut dyn crate::evaluate::Choices, &State) -> Result<State, Blocked>,
    ) -> Option<State> {
        let initial = |variable: u32| self.program().globals[variable as usize].initial;
        let agrees = |state: &State| {
            let mut cells = like.memory.iter();
            state.globals == like.globals
                && state.stack == like.stack
                && cells.all(|(cell, value)| match state.memory.get(cell).copied().or(initial(cell.0)) {
                    Some(other) => other == *value,
                    None => true,
                })
        };
        let mut found = None;
        enumerate(MAX_TRIALS, |choices| {
            if found.is_none() {
                found = outcome(choices, like).ok().filter(|state| agrees(state));
            }
        });
        found
    }

    /// Whether a step can follow a configuration; its edge must start there.
    pub(crate) fn follows(&self, before: &State, step: &Step) -> bool {
        self.matches(&step.state, |choices, hint| self.execute(before, step.edge, choices, Some(hint)))
            .is_ok()
    }

    /// Whether some sequence of choices leads to `wanted`; if not, why.
    fn matches(
        &self,
        wanted: &State,
        mut outcome: impl FnMut(&mut dyn crate::evaluate::Choices, &State) -> Result<State, Blocked>,
    ) -> Result<(), Mismatch> {
        let mut found = false;
        let mut closest: Option<Result<State, Blocked>> = None;
        let extent = enumerate(MAX_TRIALS, |choices| {
            // Once found, the remaining choices are not looked at: each trial is then free.
            if !found {
                let result = outcome(choices, wanted);
                found = result.as_ref() == Ok(wanted);
                if closest.as_ref().is_none_or(Result::is_err) {
                    closest = Some(result);
                }
            }
        });
        match closest {
            _ if found => Ok(()),
            _ if extent == Extent::Cut => Err(Mismatch::TooManyOutcomes),
            Some(Err(blocked)) => Err(Mismatch::Impossible(blocked.to_string())),
            Some(Ok(state)) => Err(Mismatch::Impossible(self.difference(&state, wanted))),
            None => Err(Mismatch::Impossible("there is no outcome".to_owned())),
        }
    }

    fn difference(&self, possible: &State, claimed: &State) -> String {
        if possible.globals.len() != claimed.globals.len() {
            return format!("{} global cells instead of {}", claimed.globals.len(), possible.globals.len());
        }
        if possible.stack.len() != claimed.stack.len() {
            return format!("{} frames instead of {}", claimed.stack.len(), possible.stack.len());
        }
        for variable in (0..self.program().globals.len() as u32).map(crate::Var::Global) {
            let (can, claims) = (self.cells(possible, variable), self.cells(claimed, variable));
            if can != claims {
                let name = &self.program().variable(self.program().entry, variable).name;
                return format!(
                    "`{name}` would be {:?}, not {:?}",
                    can.unwrap_or_default(),
                    claims.unwrap_or_default()
                );
            }
        }
        for (can, claims) in possible.stack.iter().zip(&claimed.stack) {
            let name = &self.program().procedure(can.procedure).name;
            if (can.procedure, can.location, can.calling)
                != (claims.procedure, claims.location, claims.calling)
            {
                return format!("the run would be elsewhere, in `{name}`");
            }
            if can.locals != claims.locals {
                return format!(
                    "the variables of `{name}` would be {:?}, not {:?}",
                    can.locals, claims.locals
                );
            }
        }
        "the configuration differs".to_owned()
    }
}
