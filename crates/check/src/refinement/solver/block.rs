//! Basic blocks, each as one guarded parallel assignment.
//!
//! A chain of steps with one way in and one way out becomes one transition: the condition under
//! which it can be run, and the new value of each variable that it changes, both as terms over the
//! values before. Predicates are tracked at the ends of blocks.

use rustc_hash::FxHashMap;
use wherefore_program::{EdgeRef, Operation};
use wherefore_smt::{Kind, Term, Terms};

use super::graph::PointId;
use crate::symbolic::Machine;

/// A basic block; a return of a procedure with a summary is one of its own.
#[derive(Clone, Default)]
pub(crate) struct Block {
    pub from: PointId,
    pub to: PointId,
    /// The edges of the flat program, in the frames that stand for all calls of the procedure.
    pub edges: Vec<u32>,
    /// The return statement that leads to the exit of the procedure.
    pub returns: Option<EdgeRef>,
    /// The conjuncts of the condition under which the block can be run.
    pub guards: Vec<Term>,
    /// The new values of the variables that change, keyed by the term of their value before.
    pub updates: FxHashMap<Term, Term>,
    /// Values that come from outside.
    pub inputs: Vec<Term>,
}

/// Which conditions of edges count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conditions {
    /// All, also that values can be computed.
    All,
    /// Those of assumptions.
    Assumptions,
}

impl Conditions {
    /// Whether the condition of an edge counts.
    pub fn count(self, machine: &Machine<'_>, edge: u32) -> bool {
        let flat = &machine.flat;
        let operation = &flat.program.edge(flat.edges[edge as usize].edge).operation;
        self == Self::All || matches!(operation, Operation::Assume(_))
    }
}

impl Block {
    /// A formula about the store after the block, as one about the store before it.
    pub fn before(&self, terms: &mut Terms, formula: Term) -> Term {
        terms.substitute(formula, &self.updates)
    }

    /// Whether it does nothing, as parts of blocks may.
    pub fn is_skip(&self) -> bool {
        self.guards.is_empty() && self.updates.is_empty()
    }

    /// The block without its conditions.
    pub fn unguarded(&self) -> Block {
        Block { guards: Vec::new(), ..self.clone() }
    }
}

/// The parts of a conjunction.
pub(crate) fn conjuncts(terms: &Terms, term: Term) -> Vec<Term> {
    match terms.kind(term) {
        Kind::And(list) => list.to_vec(),
        _ if term == Terms::TRUE => Vec::new(),
        _ => vec![term],
    }
}

/// The conditions that a formula is made of.
pub(crate) fn atoms(terms: &Terms, formula: Term) -> Vec<Term> {
    let mut atoms = Vec::new();
    let mut open = vec![formula];
    let mut seen = rustc_hash::FxHashSet::default();
    while let Some(term) = open.pop() {
        if !seen.insert(term) {
            continue;
        }
        match terms.kind(term) {
            Kind::Not(inner) => open.push(*inner),
            Kind::And(list) | Kind::Or(list) => open.extend(list.iter().copied()),
            Kind::Ite(condition, then, otherwise) if terms.sort(term) == wherefore_smt::Sort::Bool => {
                open.extend([*condition, *then, *otherwise]);
            }
            Kind::Constant(_) => {}
            _ => atoms.push(term),
        }
    }
    atoms.sort_unstable();
    atoms
}
