//! The abstract program of a cycle as a pushdown system, and the search for a failing run of it.
//!
//! Calls are inlined, so all rules are swap rules, one a block; their weights are the relations of
//! the blocks. post\* runs in the worklist with its log on: the log says in which order truth
//! values were found, and so a shortest run is read off it backwards.

use std::time::Instant;

use rustc_hash::FxHashMap;
use wherefore_domains::bdd::{BddRelations, Predicate};
use wherefore_pushdown::{
    Automaton, Configuration, Limits, Method, Options, Order, Reading, Recording, Relational, Rhs, RuleId,
    Saturated, Semiring, State, StopReason, Symbol, System, solve,
};
use wherefore_smt::Reason;

use super::Refinement;
use super::abstraction::Tracked;

pub(super) const CONTROL: State = State(0);

/// The abstract program of one cycle.
pub(super) struct Abstract {
    pub bits: BddRelations,
    pub system: System<Predicate>,
    /// Of each rule: the block; none for the start and the end.
    pub origins: Vec<Option<usize>>,
}

impl Refinement<'_> {
    pub(super) fn failed(&self) -> Symbol {
        Symbol(self.blocks.places.len() as u32 + 1)
    }

    pub(super) fn abstract_program(&mut self) -> Result<Abstract, Reason> {
        let most = self.bits.len();
        let bits = self.base.companion(most);
        let mut system: System<Predicate> = System::new();
        system.state("p");
        for node in 0..self.blocks.places.len() {
            system.symbol(&format!("n{node}"));
        }
        let start = system.symbol("start");
        let failed = system.symbol("failed");
        let all: Vec<usize> = (0..most).collect();
        let nothing = bits.store(&vec![false; most]);

        let mut origins = Vec::new();
        for at in 0..=self.blocks.blocks.len() {
            if self.outside.get(at).is_some_and(|outside| *outside) {
                continue;
            }
            let relation = self.relation(&bits, at)?;
            let block = self.blocks.blocks.get(at);
            let (from, to) = block.map_or((start, self.blocks.start), |b| (Symbol(b.from as u32), b.to));
            // The bits that are not tracked at a node are 0 there.
            let mut changed: Vec<usize> = self.predicates[to].iter().map(|(_, bit)| *bit).collect();
            let mut relation = relation;
            for (_, bit) in block.iter().flat_map(|block| &self.predicates[block.from]) {
                if !changed.contains(bit) {
                    changed.push(*bit);
                    relation = bits.and(&relation, &bits.not(&bits.next(*bit)));
                }
            }
            if block.is_none() {
                relation = bits.and(&relation, &nothing);
            }
            changed.sort_unstable();
            let weight = bits.transition(&changed, &relation);
            if !bits.is_zero(&weight) {
                system.add(CONTROL, from, CONTROL, Rhs::Swap(Symbol(to as u32)), weight);
                origins.push(block.map(|_| at));
            }
        }
        let end = bits.transition(&all, &bits.primed(&nothing));
        for node in self.blocks.errors.keys() {
            system.add(CONTROL, Symbol(*node as u32), CONTROL, Rhs::Swap(failed), end.clone());
            origins.push(None);
        }
        Ok(Abstract { bits, system, origins })
    }

    /// The relation of a block: computed anew if there are more predicates at its ends.
    fn relation(&mut self, bits: &BddRelations, at: usize) -> Result<Predicate, Reason> {
        let block = self.blocks.blocks.get(at).unwrap_or(&self.initial);
        let is_initial = at == self.blocks.blocks.len();
        let before: &[Tracked] = if is_initial { &[] } else { &self.predicates[block.from] };
        let after = &self.predicates[block.to];
        let counts = (before.len(), after.len());
        if let Some((with, relation)) = &self.known[at] {
            if *with == counts {
                return Ok(bits.and(relation, &self.allowed[at]));
            }
        }
        let relation =
            self.relations.of_block(&mut self.machine.terms, bits, block, (before, after), &self.budget)?;
        let relation = bits.and(&relation, &self.allowed[at]);
        self.known[at] = Some((counts, relation.clone()));
        Ok(relation)
    }

    pub(super) fn post_star(
        &self,
        program: &Abstract,
        limits: &Limits,
    ) -> Result<Saturated<Predicate>, StopReason> {
        let d = &program.bits;
        let start = Configuration { state: CONTROL, stack: vec![Symbol(self.blocks.places.len() as u32)] };
        let seed = Automaton::of_configuration(&program.system, &start, Reading::Backward, &d.one());
        let time = self.budget.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let limits = Limits { time, steps: None, memory: None, cancel: limits.cancel.clone() };
        let options = Options { order: Order::Fifo, recording: Recording::Witnesses, limits };
        let post =
            solve(wherefore_pushdown::Direction::Post, d, &program.system, &seed, Method::Worklist, &options);
        match post.stop {
            _ if d.exhausted() => Err(StopReason::Memory),
            StopReason::Complete => Ok(post),
            stop => Err(stop),
        }
    }

    fn query(&self, program: &Abstract, symbol: Symbol) -> Automaton<()> {
        let goal = Configuration { state: CONTROL, stack: vec![symbol] };
        Automaton::of_configuration(&program.system, &goal, Reading::Forward, &())
    }

    pub(super) fn reaches(&self, program: &Abstract, post: &Saturated<Predicate>, symbol: Symbol) -> bool {
        let query = self.query(program, symbol);
        !program.bits.is_zero(&post.automaton.summary(&program.bits, &query))
    }

    /// The blocks of a shortest abstract run to a symbol, if there is one.
    pub(super) fn abstract_run(
        &self,
        program: &Abstract,
        post: &Saturated<Predicate>,
        symbol: Symbol,
    ) -> Option<Vec<usize>> {
        if !self.reaches(program, post, symbol) {
            return None;
        }
        let d = &program.bits;
        let versions = post.versions(d, &program.system).ok()?;
        // The stores that each version gained, and the versions of each symbol in order of time.
        let stores: Vec<Predicate> =
            versions.iter().map(|version| d.stores_of(&d.range_of(&version.gained))).collect();
        let mut at_symbol: FxHashMap<Symbol, Vec<usize>> = FxHashMap::default();
        for (at, version) in versions.iter().enumerate() {
            at_symbol.entry(version.transition.symbol?).or_default().push(at);
        }
        let mut into: FxHashMap<Symbol, Vec<RuleId>> = FxHashMap::default();
        for (id, rule) in program.system.rules() {
            if let Rhs::Swap(to) = rule.rhs {
                into.entry(to).or_default().push(id);
            }
        }
        // Backwards: each version follows from an earlier one by some rule.
        let mut at = *at_symbol.get(&symbol)?.first()?;
        let mut goal = stores[at].clone();
        let mut path = Vec::new();
        while let Some(rules) = into.get(&versions[at].transition.symbol?) {
            let mut earliest: Option<(usize, Predicate, RuleId)> = None;
            for rule in rules {
                let leading = d.stores_of(&d.and(program.system.weight(*rule), &d.primed(&goal)));
                let from = program.system.rule(*rule).symbol;
                for before in at_symbol.get(&from).into_iter().flatten().copied() {
                    if before >= at || earliest.as_ref().is_some_and(|(other, ..)| *other <= before) {
                        break;
                    }
                    let possible = d.and(&leading, &stores[before]);
                    if !d.is_zero(&possible) {
                        earliest = Some((before, possible, *rule));
                        break;
                    }
                }
            }
            let (before, possible, rule) = earliest?;
            path.extend(program.origins[rule.index()]);
            (at, goal) = (before, possible);
        }
        path.reverse();
        Some(path)
    }
}
