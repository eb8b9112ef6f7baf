//! Counterexample-guided abstraction refinement: one loop, two theories.
//!
//! \[Lal09\] §1.1.2, \[Kie05\] chapter 4. Abstract the program by the predicates known so far, and
//! search the abstract program, a weighted pushdown system; if the error is out of reach there, the
//! program is safe; else take a counterexample: either it can be run, or its interpolants are the
//! predicates of the next iteration.
//!
//! A `Theory` says what formulas are. [`diagrams`]: decision diagrams over the bits of a finite
//! store, with the interpolants of \[Kie05\]. [`solver`]: terms over bit-vectors and arrays, with
//! nested interpolants by a solver. Which one is tried follows from the data of the program
//! ([`Program::has_small_data`](wherefore_program::Program::has_small_data)).

pub mod diagrams;
pub mod solver;

use wherefore_pushdown::StopReason;

/// What the loop needs to know of formulas.
pub(crate) trait Theory {
    /// An abstract program that has been searched.
    type Abstraction;
    /// A failing run.
    type Run;
    /// The evidence that no run fails.
    type Proof;

    /// Whether the limits allow another iteration.
    fn look(&self, iterations: usize) -> Result<(), StopReason>;

    /// Abstracts the program by the predicates so far, and searches it.
    fn search(&mut self, iterations: usize) -> Result<Search<Self::Abstraction>, StopReason>;

    /// The proof that an abstraction without failing runs is. An error if it is not accepted.
    fn prove(&mut self, abstraction: Self::Abstraction) -> Result<Self::Proof, StopReason>;

    /// Takes a counterexample: runs it, or learns from it.
    fn examine(
        &mut self,
        abstraction: Self::Abstraction,
        iterations: usize,
    ) -> Result<Examined<Self::Run>, StopReason>;
}

/// What the search of an abstract program found.
pub(crate) enum Search<A> {
    /// No abstract run fails.
    Holds(A),
    /// Some do.
    Fails(A),
}

/// What came of a counterexample.
pub(crate) enum Examined<R> {
    /// It can be run.
    Real(R),
    /// The new predicates exclude it.
    Excluded,
    /// Neither: formulas that were cut short may rule out nothing.
    Open,
}

/// What the loop found.
pub(crate) enum Outcome<R, P> {
    /// No run fails.
    Safe(P),
    /// A run fails.
    Unsafe(R),
}

/// Runs the loop to its end; `progress` is told how many counterexamples have been excluded, after
/// each iteration.
pub(crate) fn refine<T: Theory>(
    theory: &mut T,
    progress: &mut dyn FnMut(&T, usize),
) -> Result<Outcome<T::Run, T::Proof>, StopReason> {
    let mut iterations = 0;
    loop {
        theory.look(iterations)?;
        let examined = match theory.search(iterations)? {
            Search::Holds(abstraction) => {
                let proof = theory.prove(abstraction);
                progress(theory, iterations);
                return proof.map(Outcome::Safe);
            }
            Search::Fails(abstraction) => theory.examine(abstraction, iterations),
        };
        progress(theory, iterations);
        match examined? {
            Examined::Real(run) => return Ok(Outcome::Unsafe(run)),
            Examined::Open => return Err(StopReason::Steps),
            Examined::Excluded => iterations += 1,
        }
    }
}
