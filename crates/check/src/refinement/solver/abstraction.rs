//! The abstract program: an extended weighted pushdown system whose weights relate truth values of
//! predicates.
//!
//! \[Lal09\] §1.1.2 and §3.5, \[Kie05\] §5.3. Each point is a symbol, and each call has two more:
//! `call`, where the predicates at the callee's entry have been computed from the caller's, and
//! `pivot`, where the callee has returned and its effect is known. The merge function keeps the
//! truth values of the caller over the call; a last step puts them and the effect together.

use rustc_hash::{FxHashMap, FxHashSet};
use wherefore_domains::Entry;
use wherefore_domains::bdd::{BddRelations, LocalVariables, Predicate, ProjectLocals};
use wherefore_program::ProcedureId;
use wherefore_pushdown::{Rhs, Semiring, State, Symbol, System};
use wherefore_smt::{Budget, Reason, Term, Terms};

use super::block::Block;
use super::graph::{Graph, PointId, Transition};
use super::relations::{Relations, Tracked};

/// The control state of runs; in a search for runs through an element, of those that have not been
/// there yet.
pub(super) const CONTROL: State = State(0);

/// The control state of runs that have been at the element.
const THROUGH: State = State(1);

/// Abstract bits that are prepared.
const RESERVE: usize = 96;

/// What an abstract bit is for. Each kind has bits of its own, so that all fit beside each other
/// during a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bit {
    /// Predicates at places: local to a procedure.
    Local,
    /// Predicates at the entry of a callee, on their way there.
    Argument,
    /// Predicates at exits, on their way to the caller.
    Effect,
}

/// A point or a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Element {
    Point(PointId),
    Block(usize),
}

/// The abstract program of one iteration.
pub(super) struct Abstract {
    pub bits: BddRelations,
    pub system: System<Predicate, ProjectLocals>,
    /// Of each rule; none for the push of a call, and the end of a run.
    pub origins: Vec<Option<Transition>>,
    pub start: Symbol,
    pub failed: Symbol,
    through: Option<Element>,
}

/// What is tracked where.
#[derive(Clone)]
pub(super) struct Predicates {
    /// At each point, the formulas. The number is that among the formulas of the procedure, and at
    /// an exit that among the formulas there.
    pub at: Vec<Vec<(Term, usize)>>,
    /// A formula and its negation share a number, and have the same one wherever they are tracked,
    /// so that keeping it is keeping the bit.
    numbers: FxHashMap<ProcedureId, FxHashMap<Term, usize>>,
    /// The bits of each kind. Procedures share them.
    local: Vec<usize>,
    argument: Vec<usize>,
    effect: Vec<usize>,
}

impl Predicates {
    pub fn new(graph: &Graph) -> Self {
        Self {
            at: vec![Vec::new(); graph.points.len()],
            numbers: FxHashMap::default(),
            local: Vec::new(),
            argument: Vec::new(),
            effect: Vec::new(),
        }
    }

    /// Tracks a formula at a point; whether it is new there.
    pub fn track(&mut self, terms: &mut Terms, graph: &Graph, point: PointId, formula: Term) -> bool {
        let not = terms.not(formula);
        let known = self.at[point].iter().any(|(known, _)| *known == formula || *known == not);
        if formula == Terms::TRUE || formula == Terms::FALSE || known {
            return false;
        }
        let position = self.at[point].len();
        if graph.is_exit(point) {
            self.at[point].push((formula, position));
            self.make_room(Bit::Effect, position);
            return true;
        }
        let procedure = graph.points[point].procedure;
        let numbers = self.numbers.entry(procedure).or_default();
        let next = numbers.len();
        let tracked = if numbers.contains_key(&not) { not } else { formula };
        let number = *numbers.entry(tracked).or_insert(next);
        self.at[point].push((tracked, number));
        self.make_room(Bit::Local, number);
        if graph.entries[&procedure] == point && !graph.calls.is_empty() {
            self.make_room(Bit::Argument, position);
        }
        true
    }

    /// Gives the first numbers of a kind bits, up to one.
    fn make_room(&mut self, kind: Bit, number: usize) {
        while self.of_kind(kind).len() <= number {
            let next = self.bit_count();
            match kind {
                Bit::Local => self.local.push(next),
                Bit::Argument => self.argument.push(next),
                Bit::Effect => self.effect.push(next),
            }
        }
    }

    fn of_kind(&self, kind: Bit) -> &[usize] {
        match kind {
            Bit::Local => &self.local,
            Bit::Argument => &self.argument,
            Bit::Effect => &self.effect,
        }
    }

    fn bit_count(&self) -> usize {
        self.local.len() + self.argument.len() + self.effect.len()
    }

    /// The formulas of a point with their bits of a kind: those of exits are effects, those of
    /// entries arguments too, and all others local.
    pub fn bits(&self, point: PointId, kind: Bit) -> Vec<Tracked> {
        let bits = self.of_kind(kind);
        let bit = |(position, (formula, number)): (usize, &(Term, usize))| match kind {
            Bit::Local | Bit::Effect => (*formula, bits[*number]),
            Bit::Argument => (*formula, bits[position]),
        };
        self.at[point].iter().enumerate().map(bit).collect()
    }

    /// The formulas of a point with the bits they have while a run is there.
    pub fn here(&self, graph: &Graph, point: PointId) -> Vec<Tracked> {
        self.bits(point, if graph.is_exit(point) { Bit::Effect } else { Bit::Local })
    }

    /// How many formulas are tracked at all points, and at the point that has most.
    pub fn count(&self) -> (usize, usize) {
        let each = || self.at.iter().map(Vec::len);
        (each().sum(), each().max().unwrap_or(0))
    }
}

/// Abstracts blocks and calls, and remembers the results.
pub(super) struct Abstraction {
    relations: Relations,
    base: BddRelations,
    /// By transition: the numbers of predicates it was abstracted with, and the relation.
    known: FxHashMap<Transition, ([usize; 2], Predicate)>,
    /// Steps that have not been shown to be impossible by themselves (`sharpen`).
    pub allowed: FxHashMap<Transition, Predicate>,
    /// Transitions that are left out, for being on no failing run (`narrow`).
    pub outside: FxHashSet<Transition>,
}

impl Abstraction {
    pub fn new() -> Self {
        let base = BddRelations::with_reserve(1, RESERVE, 1 << 24, 1 << 18);
        Self {
            relations: Relations::new(),
            base,
            known: FxHashMap::default(),
            allowed: FxHashMap::default(),
            outside: FxHashSet::default(),
        }
    }

    /// The relation of a transition: computed anew if there are more predicates at its ends.
    fn relation(
        &mut self,
        terms: &mut Terms,
        bits: &BddRelations,
        (transition, block): (Transition, &Block),
        (before, after): (&[Tracked], &[Tracked]),
        budget: &Budget,
    ) -> Result<Predicate, Reason> {
        let counts = [before.len(), after.len()];
        let allowed = self.allowed.get(&transition).cloned().unwrap_or_else(|| bits.constant(true));
        if let Some((with, relation)) = self.known.get(&transition) {
            if *with == counts {
                return Ok(bits.and(relation, &allowed));
            }
        }
        let relation = match transition {
            Transition::Resume(_) => {
                self.relations.of_meeting(terms, bits, block, (before, after), budget)?
            }
            _ => self.relations.of_block(terms, bits, block, (before, after), budget)?,
        };
        let relation = bits.and(&relation, &allowed);
        self.known.insert(transition, (counts, relation.clone()));
        Ok(relation)
    }

    /// The abstract program of the predicates so far. If an element is given, only runs through it
    /// reach the end.
    pub fn program(
        &mut self,
        terms: &mut Terms,
        graph: &Graph,
        predicates: &Predicates,
        through: Option<Element>,
        budget: &Budget,
    ) -> Result<Abstract, Reason> {
        let count = predicates.bit_count();
        let bits = self.base.companion(count);
        let everything: Vec<usize> = (0..count).collect();
        let nothing = bits.store(&vec![false; count]);
        let locals = LocalVariables::new(&bits, &predicates.local);

        let mut made = Abstract::new(graph, bits.clone(), through);
        let at_start = predicates.bits(graph.start, Bit::Local);
        let first = (Transition::Start, &graph.initial);
        let relation = self.relation(terms, &bits, first, (&[], &at_start), budget)?;
        // One store at the start: then the weights of the outermost procedure are sets.
        let relation = bits.and(&relation, &nothing);
        let weight = made.weight(&[], &at_start, &relation);
        made.add(made.start, Rhs::Swap(symbol(graph.start)), &weight, Some(Transition::Start));

        for (i, block) in graph.blocks.iter().enumerate() {
            let transition = Transition::Block(i);
            if self.outside.contains(&transition) {
                continue;
            }
            let (before, after) = (predicates.bits(block.from, Bit::Local), predicates.here(graph, block.to));
            let relation = self.relation(terms, &bits, (transition, block), (&before, &after), budget)?;
            let weight = made.weight(&before, &after, &relation);
            let rhs = if graph.is_exit(block.to) { Rhs::Pop } else { Rhs::Swap(symbol(block.to)) };
            made.add(symbol(block.from), rhs, &weight, Some(transition));
        }
        for (i, site) in graph.calls.iter().enumerate() {
            let (call, pivot) = graph.call_symbols(i);
            let here = predicates.bits(site.enter.from, Bit::Local);
            let entry = site.enter.to;
            if !self.outside.contains(&Transition::Enter(i)) {
                let entered = predicates.bits(entry, Bit::Argument);
                let enter = (Transition::Enter(i), &site.enter);
                let relation = self.relation(terms, &bits, enter, (&here, &entered), budget)?;
                let weight = made.weight(&[], &entered, &relation);
                made.add(symbol(site.enter.from), Rhs::Swap(call), &weight, Some(Transition::Enter(i)));
                let enter = entering(&bits, predicates, entry);
                made.push(call, (symbol(entry), pivot), &enter, &locals);
            }
            if !self.outside.contains(&Transition::Resume(i)) {
                let effect = predicates.bits(graph.exits[&site.callee], Bit::Effect).into_iter();
                let effect = effect.map(|(formula, bit)| (terms.substitute(formula, &site.at_exit), bit));
                let before: Vec<Tracked> = here.into_iter().chain(effect).collect();
                let after = predicates.bits(site.resume.to, Bit::Local);
                let resume = (Transition::Resume(i), &site.resume);
                let relation = self.relation(terms, &bits, resume, (&before, &after), budget)?;
                let weight = made.weight(&before, &after, &relation);
                made.add(pivot, Rhs::Swap(symbol(site.resume.to)), &weight, Some(Transition::Resume(i)));
            }
        }
        let end = bits.transition(&everything, &bits.primed(&nothing));
        for point in graph.errors.keys() {
            made.end(*point, &end);
        }
        Ok(made)
    }

    /// Whether there is no room for diagrams any more.
    pub fn exhausted(&self) -> bool {
        self.base.exhausted()
    }
}

/// A call enters its callee: predicates at the entry get the truth values that were computed for
/// them, and no other predicate is tracked there.
fn entering(bits: &BddRelations, predicates: &Predicates, entry: PointId) -> Predicate {
    let arguments = predicates.bits(entry, Bit::Argument).into_iter();
    let locals = predicates.bits(entry, Bit::Local).into_iter();
    let given: FxHashMap<usize, usize> =
        locals.map(|(_, bit)| bit).zip(arguments.map(|(_, bit)| bit)).collect();
    let local = predicates.local.iter().map(|bit| match given.get(bit) {
        Some(argument) => (*bit, bits.var(*argument)),
        None => (*bit, bits.constant(false)),
    });
    let argument = predicates.argument.iter().map(|bit| (*bit, bits.constant(false)));
    bits.assign(&local.chain(argument).collect::<Vec<_>>())
}

impl Abstract {
    fn new(graph: &Graph, bits: BddRelations, through: Option<Element>) -> Self {
        let mut system: System<Predicate, ProjectLocals> = System::new();
        system.state("p");
        if through.is_some() {
            system.state("through");
        }
        for point in 0..graph.points.len() {
            system.symbol(&format!("n{point}"));
        }
        for call in 0..graph.calls.len() {
            system.symbol(&format!("call{call}"));
            system.symbol(&format!("pivot{call}"));
        }
        let (start, failed) = (system.symbol("start"), system.symbol("failed"));
        Self { bits, system, origins: Vec::new(), start, failed, through }
    }

    /// The control states that a rule leads from and to.
    fn controls(&self, from: Symbol, origin: Option<Transition>) -> Vec<(State, State)> {
        let passes = match self.through {
            None => return vec![(CONTROL, CONTROL)],
            Some(Element::Point(point)) => from == symbol(point),
            Some(Element::Block(block)) => origin == Some(Transition::Block(block)),
        };
        vec![(CONTROL, if passes { THROUGH } else { CONTROL }), (THROUGH, THROUGH)]
    }

    fn add(&mut self, from: Symbol, rhs: Rhs, weight: &Predicate, origin: Option<Transition>) {
        if self.bits.is_zero(weight) {
            return;
        }
        for (before, after) in self.controls(from, origin) {
            self.system.add(before, from, after, rhs, weight.clone());
            self.origins.push(origin);
        }
    }

    fn push(&mut self, call: Symbol, stack: (Symbol, Symbol), enter: &Predicate, locals: &LocalVariables) {
        for (before, after) in self.controls(call, None) {
            let merge = ProjectLocals::new(locals.clone(), Entry::Bound(enter.clone()));
            self.system.add_call(before, call, after, stack, enter.clone(), merge);
            self.origins.push(None);
        }
    }

    /// A run fails at a point; if it has to go through an element, only if it has.
    fn end(&mut self, point: PointId, weight: &Predicate) {
        let from = symbol(point);
        let last = if self.through.is_some() { THROUGH } else { CONTROL };
        for (before, after) in self.controls(from, None) {
            if after == last {
                self.system.add(before, from, CONTROL, Rhs::Swap(self.failed), weight.clone());
                self.origins.push(None);
            }
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
