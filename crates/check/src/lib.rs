//! Verdicts on programs, with their evidence.
//!
//! # Reading order
//! 1. [`answer()`]: the front door. A [`Task`](wherefore_program::Task) goes in, an [`Answer`]
//!    comes out: one [`Verdict`] for each check, each with its evidence. [`Question`]: how it is
//!    decided; [`Budget`]: what it may spend; [`Session`]: what engines share.
//! 2. [`Engine`]: the interface of all engines. [`portfolio()`] runs several side by side;
//!    [`confirm()`] questions what they say; `reached.rs`: whether runs come to a check at all.
//! 3. [`exact`]: programs over finite data, decided by decision diagrams on an extended weighted
//!    pushdown system. [`exact::Checker`] gives decisions, shortest runs, the error projection, and
//!    the stores at each location.
//! 4. `encoding`, which it shares with refinement: `layout` (variables as bits, and their order),
//!    `bits` (expressions as predicates), edges as rules, `concrete` (runs with values).
//! 5. [`refinement`]: abstraction refinement, one loop. [`refinement::diagrams`]: with decision
//!    diagrams, for finite data; [`refinement::solver`]: with a solver, for all others.
//! 6. For data that are too large for diagrams, beside it: [`bounded`], over `symbolic` (programs
//!    as formulas). [`refinement::solver::project`]: which locations lie on failing runs;
//!    [`through()`]: a failing run through some of them; [`project_from`]: both together. Proofs
//!    are checked again, with `meaning` instead of `symbolic`: in `refinement/solver/proof.rs`, and
//!    by [`unrolled_proof`]; [`Prover`] is the solver that does.
//!    [`induction`]: proofs by facts, k-induction and property-directed reachability, whose
//!    certificates `induction/certificate.rs` checks. [`small_values`]: exact checking of the
//!    variables that take few values.
//! 7. [`harness`]: failing runs of C programs, by the compiled program.
//! 8. [`threads`]: programs with threads, by explicit search over schedules and by a reduction to
//!    sequential programs.
//! 9. [`PathTerms`]: a path as formulas over inputs, for explanations; [`bounded::Runs`]: many
//!    failing runs.
//!
//! # Soundness
//! [`Verdict::Safe`] and [`Verdict::Unsafe`] are promises. A limit, or a program that is not
//! supported, is [`Verdict::Unknown`] with its reason. Every run of an engine with decision
//! diagrams is replayed by the interpreter of `wherefore-program` before it is handed out; every
//! proof by [`refinement::solver`] or [`induction`] is checked again, and every proof by
//! [`bounded`] is, by [`confirm()`].

mod answer;
pub mod bounded;
mod budget;
mod confirm;
mod data_flow;
mod encoding;
mod engine;
mod enumeration;
pub mod exact;
pub mod harness;
pub mod induction;
/// For crates that check claims about programs: the meaning that shares nothing with any engine.
#[doc(hidden)]
pub mod meaning;
mod path_terms;
mod portfolio;
mod projected;
mod prover;
mod random_runs;
mod reached;
pub mod refinement;
mod rename;
mod repeated;
mod single_run;
mod sliced;
pub mod small_values;
mod source_text;
mod symbolic;
pub mod threads;
mod through;
pub mod unrolled_proof;
mod verdict;
mod watch;

pub use answer::{EngineChoice, Question, answer};
pub use budget::Budget;
pub use confirm::{Replaying, confirm, doubts, replay};
pub use engine::{Engine, Progress, Session};
pub use enumeration::Enumeration;
pub use path_terms::{PathTerms, Unknown};
pub use portfolio::{Extent, portfolio};
pub use projected::project_from;
pub use prover::{NoProver, Prover};
pub use random_runs::RandomRuns;
pub use repeated::{Head, Repetition, repetition};
pub use single_run::SingleRun;
pub use through::{Through, through};
pub use verdict::{
    Answer, Cause, CheckError, Decision, EngineName, Evidence, Facts, FailingRun, LeftOut, Overall,
    PointKind, Proof, ProofCheck, ProofKind, Reached, Refinement, Size, Stopped, ThreadFacts, Tracked,
    Verdict, Why,
};
pub use watch::resident_memory;
