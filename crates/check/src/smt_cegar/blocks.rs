//! Basic blocks of a flat program, each as one guarded parallel assignment.
//!
//! A chain of places with one way in and one way out becomes one step: the condition under which it
//! can be run, and the new value of each variable that it changes, both as terms over the values
//! before. Predicates are tracked at the ends of blocks.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use wherefore_program::Operation;
use wherefore_smt::{Term, Terms};

use super::counters::Loops;
use crate::source_text::Vocabulary;
use crate::symbolic::{Machine, PlaceId, Store};

/// A node: a place where blocks start or end.
pub(super) type NodeId = usize;

/// A basic block.
#[derive(Clone, Default)]
pub(super) struct Block {
    pub from: NodeId,
    pub to: NodeId,
    /// The edges of the flat program.
    pub edges: Vec<u32>,
    /// The conjuncts of the condition under which the block can be run.
    pub guards: Vec<Term>,
    /// The new values of the variables that change, keyed by the term of their value before.
    pub updates: FxHashMap<Term, Term>,
    /// Values that come from outside.
    pub inputs: Vec<Term>,
}

/// Which conditions of edges count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conditions {
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

/// The blocks of a program.
pub(super) struct Blocks {
    pub places: Vec<PlaceId>,
    pub blocks: Vec<Block>,
    pub start: NodeId,
    /// Nodes where the program fails, with the number of the target.
    pub errors: BTreeMap<NodeId, usize>,
    /// Nodes where calls were not inlined.
    pub cuts: Vec<NodeId>,
    /// Which blocks can be repeated together.
    pub loops: Loops,
    /// The term of each variable that has been read so far, by its number.
    names: FxHashMap<u32, Term>,
    /// The store in which every variable is the term of its name.
    before: Store,
}

impl Blocks {
    /// Cuts a flat program into blocks.
    pub fn new(machine: &mut Machine<'_>) -> Self {
        let flat = &machine.flat;
        let mut in_degree = vec![0_u32; flat.places.len()];
        let mut reached = vec![false; flat.places.len()];
        let mut open = vec![flat.start];
        reached[flat.start as usize] = true;
        while let Some(place) = open.pop() {
            for edge in flat.edges_from(place) {
                in_degree[edge.to as usize] += 1;
                if !std::mem::replace(&mut reached[edge.to as usize], true) {
                    open.push(edge.to);
                }
            }
        }
        let is_node = |place: PlaceId| {
            let at = place as usize;
            let plain = in_degree[at] == 1 && flat.out[at].len() == 1;
            !plain || place == flat.start || flat.errors.contains_key(&place) || flat.cuts.contains(&place)
        };
        let places: Vec<PlaceId> =
            (0..flat.places.len() as PlaceId).filter(|p| reached[*p as usize] && is_node(*p)).collect();
        let number: FxHashMap<PlaceId, NodeId> = places.iter().enumerate().map(|(i, p)| (*p, i)).collect();
        let mut made = Self {
            start: number[&flat.start],
            errors: (flat.errors.iter())
                .filter_map(|(place, target)| Some((*number.get(place)?, *target)))
                .collect(),
            cuts: flat.cuts.iter().filter_map(|place| number.get(place).copied()).collect(),
            blocks: Vec::new(),
            loops: Loops::new(0, &[]),
            names: FxHashMap::default(),
            before: Store::default(),
            places,
        };
        made.cuts.sort_unstable();
        made.cuts.dedup();
        let mut chains = Vec::new();
        for (from, place) in made.places.iter().enumerate() {
            for edge in &flat.out[*place as usize] {
                let mut edges = vec![*edge];
                let mut at = flat.edges[*edge as usize].to;
                while !is_node(at) {
                    let next = flat.out[at as usize][0];
                    edges.push(next);
                    at = flat.edges[next as usize].to;
                }
                chains.push(((from, number[&at]), edges));
            }
        }
        made.before = made.symbolic_store(machine);
        for (ends, edges) in chains {
            let block = made.block(machine, ends, edges, Conditions::All);
            if !block.guards.contains(&Terms::FALSE) {
                made.blocks.push(block);
            }
        }
        made.loops = Loops::new(made.places.len(), &made.blocks);
        made
    }

    /// A store in which every variable is a term of its own.
    fn symbolic_store(&mut self, machine: &mut Machine<'_>) -> Store {
        let flat = &machine.flat;
        let mut store = Store::default();
        let mut made = Vec::new();
        let globals = flat.program.globals.iter().zip(0..).map(|(variable, i)| (variable, i, None));
        let locals = flat.frames.iter().zip(0..).flat_map(|(frame, number)| {
            let variables = &flat.program.procedure(frame.procedure).variables;
            variables.iter().zip(frame.first..).map(move |(variable, i)| (variable, i, Some(number)))
        });
        for (variable, i, frame) in globals.chain(locals) {
            let name = match frame {
                None => variable.name.clone(),
                Some(0) => variable.name.clone(),
                Some(frame) => format!("{}#{frame}", variable.name),
            };
            // Two variables of one frame can have one name, in different scopes of the source.
            let name = format!("{name}!{i}");
            made.push((i, name, Machine::sort(&variable.ty)));
        }
        for (i, name, sort) in made {
            let term = machine.terms.variable(&name, sort);
            store.set(i, term);
            self.names.insert(i, term);
        }
        store
    }

    /// What a block does after its first edges.
    pub fn rest(&self, machine: &mut Machine<'_>, block: usize, first: usize) -> Block {
        let block = &self.blocks[block];
        self.block(machine, (block.from, block.to), block.edges[first..].to_vec(), Conditions::All)
    }

    /// What some edges of a block do, given by their positions: the others are skipped, and only
    /// assumptions are conditions.
    pub fn part(&self, machine: &mut Machine<'_>, block: usize, kept: &[usize]) -> Block {
        let block = &self.blocks[block];
        if kept.is_empty() {
            return Block { from: block.from, to: block.to, ..Block::default() };
        }
        let edges = kept.iter().map(|position| block.edges[*position]).collect();
        self.block(machine, (block.from, block.to), edges, Conditions::Assumptions)
    }

    fn block(
        &self,
        machine: &mut Machine<'_>,
        (from, to): (NodeId, NodeId),
        edges: Vec<u32>,
        conditions: Conditions,
    ) -> Block {
        let mut store = self.before.clone();
        let mut guard = Terms::TRUE;
        for edge in &edges {
            machine.name_prefix(format!("in{edge}"));
            let (after, condition) = machine.step(&store, *edge);
            if conditions.count(machine, *edge) {
                guard = machine.terms.and(guard, condition);
            }
            store = after;
        }
        let mut updates = FxHashMap::default();
        for (i, name) in &self.names {
            let value = store.get(*i);
            // A variable whose frame has been left has no value: nothing speaks of it any more.
            if value != *name && machine.terms.sort(value) == machine.terms.sort(*name) {
                updates.insert(*name, value);
            }
        }
        let guards = conjuncts(&machine.terms, guard);
        let named: rustc_hash::FxHashSet<Term> = self.names.values().copied().collect();
        let mut inputs: Vec<Term> = Vec::new();
        for term in guards.iter().chain(updates.values()) {
            inputs.extend(machine.terms.variables(*term).into_iter().filter(|v| !named.contains(v)));
        }
        inputs.sort_unstable();
        inputs.dedup();
        Block { from, to, edges, guards, updates, inputs }
    }

    /// The store at the start of the program: for each variable its initial value, and the
    /// condition on them.
    pub fn initial(&self, machine: &mut Machine<'_>) -> (Store, Term) {
        machine.name_prefix("start".to_owned());
        machine.start()
    }

    /// The names of variables as the frame of a place sees them.
    pub fn vocabulary(&self, machine: &Machine<'_>, place: PlaceId, frames: Frames) -> Vocabulary {
        let (flat, program) = (&machine.flat, machine.flat.program);
        let own = flat.frame_of(place);
        let mut words = Vocabulary::default();
        let globals = program.globals.len() as u32;
        let hides = |name: &str| {
            program.procedure(own.procedure).variables.iter().any(|variable| variable.name == name)
        };
        for (number, term) in self.variables() {
            if number < globals {
                let variable = &program.globals[number as usize];
                if !hides(&variable.name) {
                    words.add(term, variable.name.clone(), variable);
                }
                continue;
            }
            let after = flat.frames.partition_point(|frame| frame.first <= number);
            let Some(frame) = after.checked_sub(1).map(|at| &flat.frames[at]) else { continue };
            let body = program.procedure(frame.procedure);
            let Some(variable) = body.variables.get((number - frame.first) as usize) else { continue };
            if frame.first == own.first {
                words.add(term, variable.name.clone(), variable);
            } else if frames == Frames::All {
                words.add(term, format!("{}::{}", body.name, variable.name), variable);
            }
        }
        words
    }

    /// The variables by the terms of their values.
    pub fn variables(&self) -> impl Iterator<Item = (u32, Term)> {
        self.names.iter().map(|(i, term)| (*i, *term))
    }
}

/// Whose variables have a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frames {
    /// Those of the procedure at hand, and globals.
    Own,
    /// Those of callers too, as `caller::x`.
    All,
}

/// The parts of a conjunction.
pub(super) fn conjuncts(terms: &Terms, term: Term) -> Vec<Term> {
    match terms.kind(term) {
        wherefore_smt::Kind::And(list) => list.to_vec(),
        _ if term == Terms::TRUE => Vec::new(),
        _ => vec![term],
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
