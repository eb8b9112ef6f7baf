//! The abstract program: an extended weighted pushdown system whose weights relate truth values of
//! predicates.
//!
//! \[Lal09\] §1.1.2 and §3.5, \[Kie05\] §5.3. Each location is a symbol, and each call has two
//! more: `call`, where the predicates at the callee's entry have been computed from the caller's,
//! and `pivot`, where the callee has returned and its effect is known. The merge function keeps the
//! truth values of the caller over the call; a last step puts them and the effect together.

use rustc_hash::FxHashMap;
use wherefore_domains::Entry;
use wherefore_domains::bdd::{BddRelations, LocalVariables, Predicate, ProjectLocals};
use wherefore_program::ProcedureId;
use wherefore_pushdown::{Rhs, Semiring, State, Symbol, System};
use wherefore_smt::{Budget, Reason, Term, Terms};

use super::super::abstraction::{Relations, Tracked};
use super::super::blocks::Block;
use super::graph::{Graph, Piece, PointId};

pub(super) const CONTROL: State = State(0);

/// Abstract bits that are prepared.
const RESERVE: usize = 96;

/// What an abstract bit is for. Each kind has bits of its own, so that all fit beside each other
/// during a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bit {
    /// Predicates at locations: local to a procedure.
    Local,
    /// Predicates at the entry of a callee, on their way there.
    Argument,
    /// Predicates at exits, on their way to the caller.
    Effect,
}

const KINDS: usize = 3;

pub(super) fn bit(kind: Bit, i: usize) -> usize {
    KINDS * i + kind as usize
}

/// What an abstract rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The start or the end of a run, the inside of a call.
    Between,
    /// A block or a return.
    Way(usize),
    /// A call is made.
    Call(usize),
}

/// The abstract program of one cycle.
pub(super) struct Abstract {
    pub bits: BddRelations,
    pub system: System<Predicate, ProjectLocals>,
    /// Of each rule.
    pub parts: Vec<Part>,
    pub start: Symbol,
    pub failed: Symbol,
}

/// What is tracked where.
pub(super) struct Predicates {
    /// At each point, the formulas with their numbers among those of the procedure.
    pub at: Vec<Vec<(Term, usize)>>,
    /// A formula and its negation share a number, and have the same one wherever they are tracked,
    /// so that keeping it is keeping the bit.
    numbers: FxHashMap<ProcedureId, FxHashMap<Term, usize>>,
}

impl Predicates {
    pub fn new(graph: &Graph) -> Self {
        Self { at: vec![Vec::new(); graph.points.len()], numbers: FxHashMap::default() }
    }

    /// Tracks a formula at a point; whether it is new there.
    pub fn track(&mut self, terms: &mut Terms, graph: &Graph, point: PointId, formula: Term) -> bool {
        let not = terms.not(formula);
        let known = self.at[point].iter().any(|(known, _)| *known == formula || *known == not);
        if formula == Terms::TRUE || formula == Terms::FALSE || known {
            return false;
        }
        let numbers = self.numbers.entry(graph.points[point].procedure).or_default();
        let next = numbers.len();
        let tracked = if numbers.contains_key(&not) { not } else { formula };
        let number = *numbers.entry(tracked).or_insert(next);
        self.at[point].push((tracked, number));
        true
    }

    /// The most formulas that a procedure has.
    fn width(&self) -> usize {
        self.numbers.values().map(FxHashMap::len).max().unwrap_or(0)
    }

    /// The formulas of a point with their bits.
    fn bits(&self, point: PointId, kind: Bit) -> Vec<Tracked> {
        self.at[point].iter().map(|(formula, number)| (*formula, bit(kind, *number))).collect()
    }

    pub fn total(&self) -> usize {
        self.at.iter().map(Vec::len).sum()
    }
}

/// Abstracts blocks and calls, and remembers the results.
pub(super) struct Abstraction {
    relations: Relations,
    base: BddRelations,
    /// By what is abstracted: the numbers of predicates it was abstracted with, and the relation.
    known: FxHashMap<Piece, (Vec<usize>, Predicate)>,
    /// Steps that have not been shown to be impossible by themselves (`sharpen`).
    pub(super) allowed: FxHashMap<Piece, Predicate>,
}

impl Abstraction {
    pub fn new() -> Self {
        let base = BddRelations::with_reserve(1, RESERVE, 1 << 24, 1 << 18);
        Self { relations: Relations::new(), base, known: FxHashMap::default(), allowed: FxHashMap::default() }
    }

    /// The relation of a piece: computed anew if there are more predicates at its ends.
    fn relation(
        &mut self,
        terms: &mut Terms,
        bits: &BddRelations,
        piece: Piece,
        block: &Block,
        (before, after): (&[Tracked], &[Tracked]),
        budget: &Budget,
    ) -> Result<Predicate, Reason> {
        let counts = vec![before.len(), after.len()];
        let allowed = self.allowed.get(&piece).cloned().unwrap_or_else(|| bits.constant(true));
        if let Some((with, relation)) = self.known.get(&piece) {
            if *with == counts {
                return Ok(bits.and(relation, &allowed));
            }
        }
        let relation = match piece {
            Piece::Resume(_) => self.relations.of_meeting(terms, bits, block, (before, after), budget)?,
            _ => self.relations.of_block(terms, bits, block, (before, after), budget)?,
        };
        let relation = bits.and(&relation, &allowed);
        self.known.insert(piece, (counts, relation.clone()));
        Ok(relation)
    }

    /// The abstract program of the predicates so far.
    pub fn program(
        &mut self,
        terms: &mut Terms,
        graph: &Graph,
        initial: &Block,
        predicates: &Predicates,
        budget: &Budget,
    ) -> Result<Abstract, Reason> {
        let width = predicates.width();
        let bits = self.base.companion(KINDS * width);
        let everything: Vec<usize> = (0..KINDS * width).collect();
        let all = |kind: Bit| (0..width).map(move |i| bit(kind, i));
        let nothing = bits.store(&vec![false; KINDS * width]);
        let locals = LocalVariables::new(&bits, &all(Bit::Local).collect::<Vec<_>>());

        let mut system: System<Predicate, ProjectLocals> = System::new();
        system.state("p");
        for point in 0..graph.points.len() {
            system.symbol(&format!("n{point}"));
        }
        for call in 0..graph.calls.len() {
            system.symbol(&format!("call{call}"));
            system.symbol(&format!("pivot{call}"));
        }
        let (start, failed) = (system.symbol("start"), system.symbol("failed"));
        let mut made = Abstract { bits: bits.clone(), system, parts: Vec::new(), start, failed };

        let at_start = predicates.bits(graph.start, Bit::Local);
        let relation = self.relation(terms, &bits, Piece::Start, initial, (&[], &at_start), budget)?;
        // One store at the start: then the weights of the outermost procedure are sets.
        let relation = bits.and(&relation, &nothing);
        let weight = made.weight(&[], &at_start, &relation);
        made.add(start, Rhs::Swap(symbol(graph.start)), weight, Part::Between);

        for (i, way) in graph.ways.iter().enumerate() {
            let block = &way.block;
            let is_return = graph.points[block.to].location.is_none();
            let kind = if is_return { Bit::Effect } else { Bit::Local };
            let (before, after) = (predicates.bits(block.from, Bit::Local), predicates.bits(block.to, kind));
            let piece = Piece::Way(i);
            let relation = self.relation(terms, &bits, piece, block, (&before, &after), budget)?;
            let weight = made.weight(&before, &after, &relation);
            let rhs = if is_return { Rhs::Pop } else { Rhs::Swap(symbol(block.to)) };
            made.add(symbol(block.from), rhs, weight, Part::Way(i));
        }
        let enter: Vec<(usize, Predicate)> = (0..width)
            .flat_map(|i| {
                let argument = bits.var(bit(Bit::Argument, i));
                [(bit(Bit::Local, i), argument), (bit(Bit::Argument, i), bits.constant(false))]
            })
            .collect();
        let enter = bits.assign(&enter);
        for (i, site) in graph.calls.iter().enumerate() {
            let (call, pivot) = graph.call_symbols(i);
            let here = predicates.bits(site.enter.from, Bit::Local);
            let entered = predicates.bits(site.enter.to, Bit::Argument);
            let (piece, block) = (Piece::Enter(i), &site.enter);
            let relation = self.relation(terms, &bits, piece, block, (&here, &entered), budget)?;
            let weight = made.weight(&[], &entered, &relation);
            made.add(symbol(block.from), Rhs::Swap(call), weight, Part::Call(i));

            let merge = ProjectLocals::new(locals.clone(), Entry::Bound(enter.clone()));
            let entry = symbol(site.enter.to);
            made.system.add_call(CONTROL, call, CONTROL, (entry, pivot), enter.clone(), merge);
            made.parts.push(Part::Between);

            let effect = predicates.bits(graph.exits[&site.callee], Bit::Effect).into_iter();
            let effect = effect.map(|(formula, bit)| (terms.substitute(formula, &site.at_exit), bit));
            let before: Vec<Tracked> = here.into_iter().chain(effect).collect();
            let after = predicates.bits(site.resume.to, Bit::Local);
            let (piece, block) = (Piece::Resume(i), &site.resume);
            let relation = self.relation(terms, &bits, piece, block, (&before, &after), budget)?;
            let weight = made.weight(&before, &after, &relation);
            made.add(pivot, Rhs::Swap(symbol(block.to)), weight, Part::Between);
        }
        let end = bits.transition(&everything, &bits.primed(&nothing));
        for point in graph.errors.keys() {
            made.add(symbol(*point), Rhs::Swap(failed), end.clone(), Part::Between);
        }
        Ok(made)
    }

    /// Whether there is no room for diagrams any more.
    pub fn exhausted(&self) -> bool {
        self.base.exhausted()
    }
}

impl Abstract {
    fn add(&mut self, from: Symbol, rhs: Rhs, weight: Predicate, part: Part) {
        if !self.bits.is_zero(&weight) {
            self.system.add(CONTROL, from, CONTROL, rhs, weight);
            self.parts.push(part);
        }
    }

    /// A relation as a weight: the bits before that are not used after are 0 then, and all others
    /// stay.
    fn weight(&self, before: &[Tracked], after: &[Tracked], relation: &Predicate) -> Predicate {
        let bits = &self.bits;
        let mut changed: Vec<usize> = after.iter().map(|(_, bit)| *bit).collect();
        let mut relation = relation.clone();
        for (_, bit) in before {
            if !changed.contains(bit) {
                changed.push(*bit);
                relation = bits.and(&relation, &bits.not(&bits.next(*bit)));
            }
        }
        changed.sort_unstable();
        bits.transition(&changed, &relation)
    }
}

/// The symbol of a point.
pub(super) fn symbol(point: PointId) -> Symbol {
    Symbol(point as u32)
}

impl Graph {
    /// The two symbols of a call.
    fn call_symbols(&self, call: usize) -> (Symbol, Symbol) {
        let first = (self.points.len() + 2 * call) as u32;
        (Symbol(first), Symbol(first + 1))
    }
}
