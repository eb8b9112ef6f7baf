//! Weight domains for `wherefore-pushdown`.
//!
//! # Reading order
//! 1. [`Reachability`] and [`ShortestPath`]: the two smallest domains; read these to see what a
//!    domain must provide.
//! 2. [`RelationDomain`]: relations on a small finite set, spelt out; the oracle that other domains
//!    are tested against. [`Locals`] is its merge function, [`Entry`] says how a callee's locals
//!    start.
//! 3. [`bdd`]: relations on Boolean variables, as decision diagrams: the domain of Boolean
//!    programs.
//! 4. Domains made from domains: [`WeightedRelations`] (matrices), [`PropertyAutomaton::product`]
//!    (finite-state properties), [`ByLength`] (the same weights, sorted by the lengths of paths).
//! 5. Dataflow: [`CopyConstants`], [`AffineRelations`]; modulo `2^w`: [`Howell`] forms, and on them
//!    [`ModularAffine`] and [`CongruenceRelations`].
//!
//! # Papers
//! \[Lal09\] is Akash Lal, *Interprocedural Analysis and the Verification of Concurrent Programs*,
//! University of Wisconsin–Madison, 2009.
//!
//! # Conventions
//! A domain is a value that owns what its weights share; weights of different domain values must
//! not be mixed. Weights are read in the order of execution: `extend(a, b)` is "first `a`, then
//! `b`".

mod affine;
pub mod bdd;
mod by_length;
mod congruence_relations;
mod copy_constants;
mod howell;
mod locals;
mod modular_affine;
mod property;
mod relation;
mod shortest_path;
mod weighted_relation;

pub use affine::{Affine, AffineLocals, AffineRelations, MatrixSpace};
pub use by_length::{ByLength, ByLengthMerge, Lengths};
pub use congruence_relations::{CongruenceLocals, CongruenceRelations, Congruences};
pub use copy_constants::{Constant, CopyConstants, CopyLocals, Source, Transformer};
pub use howell::{Howell, Ring};
pub use locals::{Entry, Locals};
pub use modular_affine::{MatrixModule, ModularAffine, ModularLocals};
pub use property::PropertyAutomaton;
pub use relation::{Relation, RelationDomain};
pub use shortest_path::{Cost, ShortestPath};
pub use weighted_relation::{WeightedRelation, WeightedRelations};
pub use wherefore_pushdown::Reachability;
