//! The rules of a program without the bits that do not matter any more.
//!
//! A bit is *live* at a stack symbol if its value there can have an influence on which rules apply
//! later. What a rule writes into bits that are not live afterwards need not be computed, nor what
//! it reads for that alone: these are the truly live variables of Giegerich, Möncke and Wilhelm
//! (1981), on the level of bits. Here such bits get any value, so that the diagrams of the weights
//! do not mention them.
//!
//! **Ensures:** the same sequences of rules are runs, apart from the rules that enter procedures,
//! which come last. Two stores that agree on the live bits of a symbol allow the same rules there
//! and lead to stores that agree again: a rule depends on bits that are live before it only, and a
//! bit that is live after it and not written is live before it. What is live at a return site and
//! is local, or not written by the callee and those it calls, is live at the call and stays with
//! the caller; the callee does not carry it.
//!
//! **Not kept:** the values of the other bits. Stores are shown with the rules of [`Encoding`].

use std::collections::BTreeMap;

use wherefore_domains::Entry;
use wherefore_domains::bdd::{LocalVariables, Moment, Predicate, ProjectLocals};
use wherefore_pushdown::{Rhs, RuleId, Semiring, Symbol, System};

use super::bit_set::BitSet;
use super::{CONTROL, Encoding};

/// The rules of an [`Encoding`], on live bits only.
pub(crate) struct LiveRules {
    /// The rules have the numbers that they have in the encoding; one for each callee, which enters
    /// it, comes after them.
    pub system: System<Predicate, ProjectLocals>,
    /// How many rules are the encoding's.
    count: usize,
}

impl LiveRules {
    pub fn new(encoding: &Encoding) -> Self {
        let live = Liveness::new(encoding);
        Builder::new(encoding, &live).rules()
    }

    /// A run of these rules as a run of the encoding's.
    pub fn run(&self, rules: &[RuleId]) -> Vec<RuleId> {
        rules.iter().copied().filter(|rule| rule.index() < self.count).collect()
    }
}

/// What a rule does, as far as liveness is concerned.
struct Step {
    from: usize,
    /// The node whose live bits count after the step: a symbol, or the exit of a procedure.
    to: usize,
    /// The symbol where a call goes on.
    back: Option<usize>,
    writes: BitSet,
    relation: Predicate,
    /// Written bits that do not matter, and the bits read for the others.
    known: Option<(BitSet, BitSet)>,
}

/// The live bits of each symbol.
struct Liveness {
    steps: Vec<Step>,
    /// Of each symbol; then, of each procedure, those live after its returns.
    live: Vec<BitSet>,
    /// The bits that each procedure may hand back changed.
    written: Vec<BitSet>,
}

impl Liveness {
    fn new(encoding: &Encoding) -> Self {
        let d = &encoding.domain;
        let bits = encoding.layout.bits();
        let symbols = encoding.system.symbol_count();
        let exit = |at: Symbol| symbols + encoding.node(at).map_or(0, |node| node.procedure.0 as usize);
        let mut steps: Vec<Step> = (encoding.system.rules())
            .map(|(id, rule)| {
                let (changed, relation) = encoding.step_of(id);
                let (to, back) = match rule.rhs {
                    Rhs::Pop => (exit(rule.symbol), None),
                    Rhs::Swap(to) => (to.index(), None),
                    Rhs::Push(entry, back) => (entry.index(), Some(back.index())),
                };
                let writes = BitSet::of(bits, changed.iter().copied());
                let mut relation = relation.clone();
                if rule.symbol == encoding.start {
                    // Nothing is before the start.
                    relation = d.some(&relation, &d.quantified((0..bits).map(|bit| (bit, Moment::Current))));
                }
                Step { from: rule.symbol.index(), to, back, writes, relation, known: None }
            })
            .collect();
        let written = written(encoding, &steps, exit);
        let mut live = vec![BitSet::new(bits); symbols + encoding.procedure_count()];
        // Whose live bits depend on a node's.
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); live.len()];
        for (i, step) in steps.iter().enumerate() {
            users[step.to].push(i);
            users[step.back.unwrap_or(step.to)].push(i);
        }
        let mut open: Vec<usize> = (0..steps.len()).collect();
        let mut waiting = vec![true; steps.len()];
        while let Some(i) = open.pop() {
            waiting[i] = false;
            let step = &mut steps[i];
            let mut needed = live[step.to].without(&step.writes);
            needed.add(&step.reads(encoding, &live[step.to]));
            let mut grown = Vec::new();
            if let Some(back) = step.back {
                let exit = exit(Symbol(step.to as u32));
                let results = &written[exit - symbols];
                needed.add(&live[back].without(results));
                let handed_back = live[back].within(results);
                grown.extend(live[exit].add(&handed_back).then_some(exit));
            }
            grown.extend(live[step.from].add(&needed).then_some(step.from));
            for user in grown.into_iter().flat_map(|node| &users[node]) {
                if !std::mem::replace(&mut waiting[*user], true) {
                    open.push(*user);
                }
            }
        }
        Self { steps, live, written }
    }
}

/// The bits, other than locals, that each procedure and those it calls may write.
fn written(encoding: &Encoding, steps: &[Step], exit: impl Fn(Symbol) -> usize) -> Vec<BitSet> {
    let bits = encoding.layout.bits();
    let symbols = encoding.system.symbol_count();
    let locals = BitSet::of(bits, encoding.layout.local_bits());
    // Symbols that are no locations belong to the procedure whose steps lead there.
    let node = |at: usize| encoding.node(Symbol(at as u32)).map(|_| exit(Symbol(at as u32)) - symbols);
    let mut owner: Vec<Option<usize>> = (0..symbols).map(node).collect();
    let mut again = true;
    while again {
        again = false;
        for step in steps {
            let next = step.back.unwrap_or(step.to);
            if next < symbols && owner[next].is_none() && owner[step.from].is_some() {
                owner[next] = owner[step.from];
                again = true;
            }
        }
    }
    let mut written = vec![BitSet::new(bits); encoding.procedure_count()];
    again = true;
    while again {
        again = false;
        for step in steps {
            let Some(procedure) = owner[step.from] else { continue };
            let mut here = step.writes.without(&locals);
            if step.back.is_some() {
                here.add(&written[exit(Symbol(step.to as u32)) - symbols]);
            }
            again |= written[procedure].add(&here);
        }
    }
    written
}

impl Step {
    /// The bits that the step reads for the sake of what is live after it.
    fn reads(&mut self, encoding: &Encoding, after: &BitSet) -> BitSet {
        let dead = self.writes.without(after);
        match &self.known {
            Some((of, reads)) if *of == dead => reads.clone(),
            _ => {
                let d = &encoding.domain;
                let relation = self.relation_on(encoding, after);
                let currents = d.support(&relation).into_iter().filter(|(_, at)| *at == Moment::Current);
                let reads = BitSet::of(encoding.layout.bits(), currents.map(|(bit, _)| bit));
                self.known = Some((dead, reads.clone()));
                reads
            }
        }
    }

    /// The relation, without what it says of written bits that are not in `after`.
    fn relation_on(&self, encoding: &Encoding, after: &BitSet) -> Predicate {
        let d = &encoding.domain;
        let dead = self.writes.without(after);
        if dead.is_empty() {
            return self.relation.clone();
        }
        d.some(&self.relation, &d.quantified(dead.iter().map(|bit| (bit, Moment::Next))))
    }
}

/// Makes the rules.
struct Builder<'a> {
    encoding: &'a Encoding,
    live: &'a Liveness,
    /// For each entry symbol that is called: the symbol that comes before it, and the bits that
    /// matter there.
    enters: BTreeMap<usize, (Symbol, BitSet)>,
    /// What is kept over a call, by its entry and its return site.
    kept: BTreeMap<(usize, usize), LocalVariables>,
}

impl<'a> Builder<'a> {
    fn new(encoding: &'a Encoding, live: &'a Liveness) -> Self {
        Self { encoding, live, enters: BTreeMap::new(), kept: BTreeMap::new() }
    }

    fn rules(mut self) -> LiveRules {
        let (encoding, live) = (self.encoding, self.live);
        let d = &encoding.domain;
        let whole = &encoding.system;
        let mut system: System<Predicate, ProjectLocals> =
            System::with_names(whole.states().clone(), whole.symbols().clone());
        self.find_enters();
        for ((_, rule), step) in whole.rules().zip(&live.steps) {
            let after = match step.back {
                Some(_) => &self.enters[&step.to].1,
                None => &live.live[step.to],
            };
            let weight = self.weight(step, after);
            match (rule.rhs, step.back) {
                (Rhs::Push(_, back), Some(site)) => {
                    let merge = ProjectLocals::new(self.kept_at(step.to, site), Entry::Bound(weight.clone()));
                    let enter = self.enters[&step.to].0;
                    system.add_call(CONTROL, rule.symbol, CONTROL, (enter, back), weight, merge);
                }
                (rhs, _) => {
                    system.add(CONTROL, rule.symbol, CONTROL, rhs, weight);
                }
            }
        }
        for (entry, (enter, matters)) in &self.enters {
            let free: Vec<usize> = BitSet::full(encoding.layout.bits()).without(matters).iter().collect();
            let weight = d.havoc(&free);
            system.add(CONTROL, *enter, CONTROL, Rhs::Swap(Symbol(*entry as u32)), weight);
        }
        LiveRules { system, count: whole.rule_count() }
    }

    /// A symbol before each entry: there only those bits matter that not every call leaves open.
    fn find_enters(&mut self) {
        let d = &self.encoding.domain;
        let bits = self.encoding.layout.bits();
        let mut matters: BTreeMap<usize, BitSet> = BTreeMap::new();
        for step in self.live.steps.iter().filter(|step| step.back.is_some()) {
            let entered = &self.live.live[step.to];
            let nexts = d.support(&step.relation_on(self.encoding, entered)).into_iter();
            let nexts = nexts.filter(|(_, at)| *at == Moment::Next).map(|(bit, _)| bit);
            let mut here = BitSet::of(bits, nexts);
            here.add(&entered.without(&step.writes));
            matters.entry(step.to).or_insert_with(|| BitSet::new(bits)).add(&here);
        }
        for (entry, matters) in matters {
            let Some(node) = self.encoding.node(Symbol(entry as u32)) else { continue };
            self.enters.insert(entry, (self.encoding.enter(node.procedure), matters));
        }
    }

    /// The weight of a step after which the bits in `after` matter.
    fn weight(&self, step: &Step, after: &BitSet) -> Predicate {
        let d = &self.encoding.domain;
        let relation = step.relation_on(self.encoding, after);
        let mut changed = match step.back {
            // Into a callee, what does not matter there is changed as well: so all calls of it look
            // alike.
            Some(_) => BitSet::full(self.encoding.layout.bits()).without(after),
            None => self.live.live[step.from].without(after),
        };
        changed.add(&step.writes);
        if changed.is_empty() && relation == d.constant(true) {
            return d.one();
        }
        d.transition(&changed.iter().collect::<Vec<_>>(), &relation)
    }

    /// What a caller that goes on at `site` has kept.
    fn kept_at(&mut self, entry: usize, site: usize) -> LocalVariables {
        let live = &self.live.live[site];
        let all = BitSet::full(self.encoding.layout.bits());
        let procedure = self.encoding.node(Symbol(entry as u32)).map_or(0, |node| node.procedure.0 as usize);
        let results = live.within(&self.live.written[procedure]);
        let made = self.kept.entry((entry, site)).or_insert_with(|| {
            // What the callee leaves in other bits is forgotten.
            let forgotten: Vec<usize> = all.without(&results).iter().collect();
            let kept: Vec<usize> = live.without(&results).iter().collect();
            LocalVariables::keeping(&self.encoding.domain, &forgotten, &kept)
        });
        made.clone()
    }
}
