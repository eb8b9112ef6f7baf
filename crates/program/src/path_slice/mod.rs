//! Path slices: what of a path to an error decides whether the error can be reached.
//!
//! A counterexample of a large program is long, and most of it has nothing to do with the error:
//! loops that only count, procedures that work on other data. [`PathSlicer`] drops those edges. The
//! slice is
//!
//! - **sound:** every state that can run the path can run the slice, so if the slice is infeasible,
//!   so is the path;
//! - **complete:** from every state that can run the slice, either some path of the program reaches
//!   the end of the given path, or the program does not get to its end: it runs for ever or is
//!   stuck.
//!
//! The path need not be feasible itself. \[PathSlice\] Theorem 1, with pointers (§3.4) and
//! procedures (§4).
//!
//! # Reading order
//! `walk.rs` is the algorithm; `path.rs` what it walks along; `places.rs`, `effects.rs` and
//! `live.rs` the lvalues; `bypass.rs`, `between.rs` and `facts.rs` the relations By, WrBt and Mods;
//! `slice.rs` the result.
//!
//! # Cost
//! Linear in the path, with a logarithm of the number of live lvalues; By is asked in constant
//! time. WrBt is computed once for each pair of components of a procedure that comes up, Mods once
//! for the program.
//!
//! # Divergences
//! - Skips, conditions that are nothing but a choice, and the condition `true` are never taken:
//!   they can always be run.
//! - Parameters and results are not globals. A call gives the parameters their values, a return the
//!   results; an argument is read only if its parameter is live. Each call on the path has a frame
//!   of its own, so recursion needs no renaming.
//! - Constraints of assignments, and indices that may be out of bounds where there is another way
//!   on, are assumptions.
//! - [`Stops::LikeExits`] and [`Stops::ErrorsLikeLoops`] are ours.

mod between;
mod bypass;
mod constants;
mod effects;
mod facts;
mod live;
mod path;
mod places;
mod slice;
mod walk;

use std::ops::ControlFlow;

pub use slice::{Lvalue, Owner, PathSlice, Visit, WalkEnd};

use crate::error::ProgramError;
use crate::program::{EdgeRef, Node, ProcedureId, Program};
use facts::Facts;
use path::Path;
use places::Place;
use walk::Walk;

/// What a run counts as that is stuck: at a condition without an alternative, at another error, in
/// a callee that ends the run. One that breaks a rule of the language elsewhere always counts as
/// one that runs for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stops {
    /// As one that runs for ever, as in the document: a slice says nothing about such runs. Slices
    /// are smallest, but an assumption that everything depends on is dropped if no branch goes
    /// round it.
    #[default]
    LikeLoops,
    /// As one that has left the procedure: what may stop a run is in the slice. From every state
    /// that can run the slice, the end of the path is reached or the program runs for ever.
    LikeExits,
    /// The same, but a run that fails elsewhere counts as one that runs for ever: another error is
    /// no way round this one. From every state that can run the slice, the program fails or runs
    /// for ever.
    ErrorsLikeLoops,
}

/// What happens in the procedures that have not returned at the end of the path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallStack {
    /// The conditions under which each calls the next are kept.
    #[default]
    Keep,
    /// What is in front of a call of the next is dropped if it writes nothing live. The slice stays
    /// sound but is **not complete** any more: \[PathSlice\] §4.2, *Skipping Functions*.
    Skip,
}

/// Whether the walk is written down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Record {
    /// No.
    #[default]
    Nothing,
    /// [`PathSlice::visits`] has an entry for each edge looked at. This costs time for every live
    /// lvalue of every edge.
    Visits,
}

/// How to slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SliceOptions {
    /// What happens on the call stack at the end.
    pub call_stack: CallStack,
    /// Whether the walk is written down.
    pub record: Record,
}

/// An edge that was added to a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Its position on the path.
    pub position: usize,
    /// The edge.
    pub edge: EdgeRef,
}

/// Slices paths of one program. What it learns of the program for one path, it keeps for the next.
///
/// ```
/// use wherefore_program::*;
///
/// // [PathSlice] §3.2: assume l = 0; l := 1; assume l = 1. Each edge is needed.
/// let span = Span::new(FileId(0), 0, 0);
/// let (l, ty) = (Var::Global(0), Scalar::Bits(2));
/// let is = |value| Expr::binary(BinaryOp::Eq, Expr::variable(l, ty), Expr::constant(value, ty));
/// let one = vec![Expr::constant(1, ty)];
/// let assign = Operation::Assign(Assignment { targets: vec![l.into()], values: one, constraint: None });
/// let mut main = ProcedureBuilder::new("main", span);
/// let at: Vec<_> = (0..5).map(|_| main.location(span, LocationKind::Statement)).collect();
/// main.edge(at[0], at[1], Operation::Assume(is(0)), span);
/// main.edge(at[0], at[4], Operation::Assume(is(0).not()), span);
/// main.edge(at[1], at[2], assign, span);
/// main.edge(at[2], at[3], Operation::Assume(is(1)), span);
/// main.edge(at[2], at[4], Operation::Assume(is(1).not()), span);
/// main.edge(at[3], at[4], Operation::Skip, span);
/// main.edge(at[4], main.exit(), Operation::Return(vec![]), span);
/// # let variable = Variable { name: "l".into(), ty: Type::bits(2), value_names: None, signed: false, float: false, pointer: false, shared: true, initial: None, span };
/// let procedures = vec![main.finish(at[0])];
/// let program = Program { sources: vec![SourceFile::new("x", "")], globals: vec![variable], procedures, entry: ProcedureId(0), objects: Default::default() };
///
/// let path = [0, 2, 3].map(|edge| EdgeRef { procedure: ProcedureId(0), edge: EdgeId(edge) });
/// let slice = PathSlicer::new(&program).slice(&path)?;
/// assert_eq!(slice.taken, [0, 1, 2]);
/// assert_eq!(slice.live[0].show(&program), "l");
/// # Ok::<(), ProgramError>(())
/// ```
#[derive(Debug)]
pub struct PathSlicer<'p> {
    facts: Facts<'p>,
}

impl<'p> PathSlicer<'p> {
    /// Prepares a program, which must be well-formed. Runs that are stuck count as in the document.
    pub fn new(program: &'p Program) -> Self {
        Self::with_stops(program, Stops::default())
    }

    /// Prepares a program, and says what a run counts as that is stuck.
    pub fn with_stops(program: &'p Program, stops: Stops) -> Self {
        debug_assert_eq!(program.check(), Ok(()));
        Self { facts: Facts::new(program, stops) }
    }

    /// The slice of a path from the entry of the program.
    ///
    /// **Ensures:** sound and complete, as the head of this module says.
    ///
    /// # Errors
    /// [`ProgramError::Impossible`] if the edges are not a path from the entry through calls and
    /// returns, or if the program has threads.
    pub fn slice(&mut self, path: &[EdgeRef]) -> Result<PathSlice, ProgramError> {
        self.slice_with(path, SliceOptions::default(), &mut |_| ControlFlow::Continue(()))
    }

    /// The slice of a path, with options. `hook` is called after each edge that is taken, the last
    /// of the path first, and may end the walk: once the edges taken contradict each other, more of
    /// them change nothing (\[PathSlice\] §4.2, *Unsatisfiable Path Slices*).
    ///
    /// **Ensures:** sound, also if stopped. Complete if it is not stopped and the call stack is
    /// kept.
    ///
    /// # Errors
    /// As [`PathSlicer::slice`].
    pub fn slice_with(
        &mut self,
        path: &[EdgeRef],
        options: SliceOptions,
        hook: &mut dyn FnMut(Taken) -> ControlFlow<()>,
    ) -> Result<PathSlice, ProgramError> {
        if self.facts.threads {
            let reason = "threads are not sliced".to_owned();
            return Err(ProgramError::Impossible { step: 0, reason });
        }
        let path = Path::new(self.facts.program, path)?;
        Ok(Walk::new(&mut self.facts, &path, options).run(hook))
    }

    /// Whether a run at one location may end the procedure without visiting the other: `from ∈
    /// By.step`. Locations of two procedures always bypass each other.
    pub fn can_bypass(&mut self, from: Node, step: Node) -> bool {
        from.procedure != step.procedure
            || self.facts.can_bypass(from.procedure, from.location, step.location)
    }

    /// The globals that a call of a procedure may write: *Mods*. Cells whose index is a constant
    /// are told apart.
    pub fn may_write(&self, procedure: ProcedureId) -> Vec<Lvalue> {
        let lvalue = |place: &Place| {
            let (variable, cell) = self.facts.places.variable_and_cell(procedure, *place);
            let (crate::Var::Global(variable) | crate::Var::Local(variable)) = variable;
            Lvalue { owner: Owner::Program, variable, cell }
        };
        self.facts.mods(procedure).iter().map(lvalue).collect()
    }
}
