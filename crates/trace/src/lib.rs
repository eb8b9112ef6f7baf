//! How a program got to a crash: from a backtrace to a path, and from a path to a run.
//!
//! # Reading order
//! 1. [`Backtrace`]: what debuggers, sanitizers and the C library print. [`fit`]: its frames as
//!    locations and calls of a program.
//! 2. [`Clues`]: what else is known of the run. `coverage.rs`, `log.rs`: where it is from;
//!    [`Evidence`]: the same as locations.
//! 3. [`Visits`]: weights of paths; [`search`]: a shortest path that ends in the stack.
//! 4. [`spine`](spine()): the program in which an error is reached exactly if a run ends in the
//!    stack; [`decide`](decide()): asks the engines of `wherefore-check` whether there is such a
//!    run. [`trace`](trace()): all of it.
//!
//! \[Lal09\] is Akash Lal, *Interprocedural Analysis and the Verification of Concurrent Programs*,
//! University of Wisconsin–Madison, 2009; `docs/papers.md` says where this departs from it.

mod backtrace;
mod bodies;
mod conditions;
mod coverage;
mod decide;
mod evidence;
mod fit;
mod lines;
mod log;
mod runtime;
mod search;
mod spine;
mod trace;
mod visited;
mod visits;

pub use backtrace::{Backtrace, BadBacktrace, Frame, Happened, Value};
pub use bodies::Origins;
pub use conditions::{Condition, conditions};
pub use coverage::Coverage;
pub use decide::{Asked, Feasibility, Run, decide};
pub use evidence::{Clue, Clues, Evidence, MOST_IN_ORDER, MOST_LINES, Origin, Place, has_steps};
pub use fit::{Fitted, FittedFrame, Misfit, Sites, fit};
pub use lines::{Line, source_name};
pub use log::{Logged, logged};
pub use search::{Found, Path, search};
pub use spine::{Goal, Required, Spine, spine};
pub use trace::{Effort, Outcome, Reason, Subject, Traced, trace};
pub use visited::{Visited, is_step, visited};
pub use visits::{Visits, Way, Ways};
