//! Relations on Boolean variables, as binary decision diagrams.
//!
//! \[Lal09\] Def. 2.4.13, encoded symbolically: a relation on the stores of `n` Boolean variables
//! is a [`Predicate`] over their current and next values. This is the domain of Boolean programs
//! (§3.5.1).
//!
//! # Reading order
//! 1. [`BddRelations`]: the domain, and all operations of the traits; `statements`: how to build
//!    its weights.
//! 2. [`ProjectLocals`]: the merge function of Boolean programs.
//! 3. [`TensorProduct`]: tensor products, for context-bounded analysis (§6.5.2).
//! 4. `frames`: why composition with the weights of statements is cheap.
//! 5. [`Moment`]: more than two stores at a time, for abstraction and interpolation.
//! 6. `stores`: counting, picking and printing of stores. `core`: the only file that talks to the
//!    diagram library.
//!
//! # Layout
//! Variable `i` owns a block of consecutive levels: current value, temporary, next value, history.
//! So related values stay close, and the renamings that composition needs move nodes by one level
//! only. The order of the blocks is the order in which the caller numbers the variables: neighbours
//! in the program should be neighbours there.
//!
//! - **Chains** are finite: there are `2^(2^(2n))` relations, and a chain has at most `2^(2n)`
//!   steps. Diagrams are canonical, so equality is semantic, and takes constant time.
//! - **Cost:** ⊕ and difference take time proportional to the product of the diagrams' sizes; ⊗ is
//!   one relational product, exponential at worst, and cheaper if one side is the weight of a
//!   statement.
//! - **Memory** is bounded by the node capacity. When it is exceeded even after a collection, the
//!   domain is [`exhausted`](wherefore_pushdown::Semiring::exhausted), and every later result is
//!   the empty relation.

mod core;
mod frames;
mod locals;
mod moments;
mod relations;
mod statements;
mod stores;
mod tensor;

#[cfg(test)]
mod tests;

pub use core::Predicate;
pub use locals::{LocalVariables, ProjectLocals};
pub use moments::{Moment, Quantified, Substitution};
pub use relations::BddRelations;
pub use stores::{Cube, Store};
pub use tensor::TensorProduct;
