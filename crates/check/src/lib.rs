//! Verdicts on programs.
//!
//! # Reading order
//! 1. [`exact`]: programs over finite data, decided by decision diagrams on an extended weighted pushdown system.
//!    [`exact::Checker`] gives verdicts, shortest runs, the error projection, and the stores at each location.
//! 2. `encoding`, which it shares with refinement: `layout` (variables as bits, and their order), `bits` (expressions as
//!    predicates), edges as rules, `concrete` (runs with values).
//!
//! 3. [`interpolants`]: interpolants of formulas and of DAGs of counterexamples. [`cegar`]: abstraction refinement by them.
//! 4. For C, whose data are too large for diagrams: [`bounded`], [`smt_cegar`], over `symbolic` (programs as formulas);
//!    [`decide_unbounded`] asks both. [`smt_cegar::project`]: which locations lie on failing runs; [`through()`]: a failing run
//!    through some of them; [`project_unbounded`]: both together.
//!    Proofs are checked again, with `meaning` instead of `symbolic`: in `smt_cegar/proof.rs`, and by [`unrolled_proof`]; [`Prover`] is the
//!    solver that does.
//! 5. [`harness`]: failing runs of C programs, by the compiled program.
//! 6. [`PathTerms`]: a path as formulas over inputs, for explanations; [`bounded::Runs`]: many failing runs.
//! 7. [`decide()`], [`race`]: one question to any of these, or to several at once.
//!
//! # Soundness
//! [`Verdict::Safe`] and [`Verdict::Unsafe`] are promises. A limit, or a program that is not supported, is
//! [`Verdict::Unknown`] with its reason. Every run of a program over finite data is replayed by the interpreter of
//! `wherefore-program` before it is handed out; every proof by [`smt_cegar`] is checked again; for proofs by [`bounded`], callers have [`unrolled_proof::check`].

pub mod bounded;
pub mod cegar;
mod decide;
mod encoding;
pub mod exact;
pub mod harness;
pub mod interpolants;
mod meaning;
mod path_terms;
mod projected;
mod prover;
pub mod smt_cegar;
mod symbolic;
mod through;
mod unbounded;
pub mod unrolled_proof;
mod verdict;
mod watch;

pub use decide::{Decision, Way, decide, race};
pub use path_terms::{PathTerms, Unknown};
pub use projected::{project_from, project_unbounded};
pub use prover::{NoProver, Prover};
pub use through::{Through, through};
pub use unbounded::{Decided, Engine, Failure, decide_unbounded, decide_with_prover};
pub use verdict::{CheckError, Verdict};
