//! What can be said of a program.

use wherefore_program::Span;
use wherefore_pushdown::StopReason;

/// Whether a program can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No run fails.
    Safe,
    /// Some run fails.
    Unsafe,
    /// A limit was met first.
    Unknown(StopReason),
}

/// Why a program cannot be checked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The program uses threads.
    #[error("threads are not supported yet")]
    Threads {
        /// The first place that does.
        at: Span,
    },
    /// The program has memory: more cells than can be listed.
    #[error("exact checking does not take programs with memory (`{variable}`)")]
    Memory {
        /// The first variable that is memory.
        variable: String,
        /// Where it is first used.
        at: Span,
    },
    /// The program has more bits of data than decision diagrams can take.
    #[error("the program has {bits} bits of data, more than the {most} that exact checking takes")]
    TooManyBits {
        /// How many there are.
        bits: usize,
        /// How many there may be.
        most: usize,
    },
}
