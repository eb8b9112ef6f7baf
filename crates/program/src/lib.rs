//! Programs over finite data: what they are, what they mean, and what can be said about them
//! without running them.
//!
//! # Reading order
//! 1. [`Program`], [`Procedure`], [`Operation`]: procedures as control-flow automata. A statement
//!    of the source is a location, a step is an edge.
//! 2. [`Expr`], [`Type`]: truth values, bit-vectors, arrays; nondeterminism is an expression,
//!    [`ExprKind::Choice`].
//! 3. [`Interpreter`], [`Trace`]: the meaning, step by step; [`explore()`] visits every
//!    configuration; `chance.rs`: what a run rests on; `chosen_step.rs`: one run in place.
//! 4. `threads`: programs with threads, [`explore_threads`]: all schedules; `docs/threads.md`.
//! 5. [`TargetChoice`]: which locations are errors. [`Task`]: what is asked of a program.
//! 6. Static facts: [`CallGraph`], [`Dominators`], [`loops`], [`ModRef`].
//! 7. [`PathSlicer`]: what of a path matters for getting to its end.
//! 8. [`Object`]: what lies where in memory, in the words of the source.
//! 9. [`ProcedureBuilder`] makes procedures; [`Program::check`] judges them; [`Program::listing`]
//!    and [`Program::dot`] show them. `bytes.rs`: source texts that are not UTF-8.
//!
//! *Invariant:* a front end hands over only programs that [`Program::check`] accepts.

mod bounds;
mod builder;
mod bytes;
pub mod c_compiler;
pub mod c_library;
mod call_graph;
mod chance;
mod check;
mod chosen_step;
mod dominators;
mod dot;
mod enforce;
mod error;
mod evaluate;
mod explore;
mod expression;
mod float_use;
mod graph;
mod interpret;
pub mod loops;
pub mod markers;
mod mod_ref;
mod objects;
mod path_slice;
mod print;
mod program;
mod replay;
mod source;
mod targets;
mod task;
mod threads;
mod types;
mod violation;

pub use builder::ProcedureBuilder;
pub use bytes::{from_bytes, raw_byte, shown, to_bytes};
pub use call_graph::CallGraph;
pub use chance::Unset;
pub use chosen_step::Stepped;
pub use dominators::Dominators;
pub use error::ProgramError;
pub use evaluate::{Blocked, Choices, binary, unary};
pub use explore::{Coverage, Exploration, ExploreLimits, Outcome, Runs, explore};
pub use expression::{BinaryOp, Expr, ExprKind, Target, UnaryOp, Var, When};
pub use graph::Graph;
pub use interpret::{Extent, Frame, Interpreter, State};
pub use mod_ref::{Effects, ModRef};
pub use objects::{Blocks, NamedCell, Object, Objects, Part, Reading};
pub use path_slice::{
    CallStack, Lvalue, Owner, PathSlice, PathSlicer, Record, SliceOptions, Stops, Taken, Visit, WalkEnd,
};
pub use program::{
    Argument, Assignment, Call, Edge, EdgeId, EdgeRef, Location, LocationId, LocationKind, Node, Operation,
    Procedure, ProcedureId, Program, ThreadStart, Variable,
};
pub use replay::{Step, Trace};
pub use source::{FileId, Position, SourceFile, Span};
pub use targets::{ERROR_LABELS, ErrorKind, ErrorSite, TargetChoice};
pub use task::{
    About, Assumption, Compilation, Errors, Input, InputModels, Language, Monitor, Monitored, MonitoredCall,
    OwnFiles, Recipe, Task, Unsupported,
};
pub use threads::{
    Context, Move, Moves, Place, ScheduleSet, Starting, StepEffects, SwitchPoints, Thread, ThreadCoverage,
    ThreadExploration, ThreadLimits, ThreadProjection, ThreadStep, ThreadTrace, ThreadWalk, ThreadedState,
    Threads, Windows, can_always_end, explore_threads, search_schedules, thread_projection, thread_slice,
    thread_starts, windows,
};
pub use types::{Dimension, MAX_WIDTH, Scalar, Type};
pub use violation::{CallPlace, Messages, OUTSIDE_OF_OBJECT, Violation, ViolationKind};
pub use wherefore_floats::{FloatOp, Format, Operation as FloatOperation, Rounding};
