//! The abstract program: for each block, a relation between truth values of predicates, computed by
//! the solver.
//!
//! \[Lal09\] §1.1.2 and §5.1; \[Kie05\] §4.1 with satisfiability in place of decision diagrams. A
//! predicate after the block is first read before it, by substitution. If that is a constant or a
//! predicate tracked there, no question is needed. What remains falls into groups that share no
//! variables; each group is enumerated. A group that is too large is left open: the abstraction is
//! coarser, and sound.

use rustc_hash::FxHashMap;
use wherefore_domains::bdd::{BddRelations, Predicate};
use wherefore_smt::{BitBlaster, Budget, Outcome, Reason, Solver, Term, Terms};

use super::block::Block;

/// More combinations of truth values than this are not enumerated.
const MOST_MODELS: usize = 160;

/// Truth values before (current bits) and after (next bits) a block.
pub(super) struct Relations {
    solver: BitBlaster,
    /// Questions asked so far.
    pub questions: usize,
}

/// A predicate and its bit. A formula has the same bit wherever it is tracked, so that keeping it
/// is keeping the bit.
pub(super) type Tracked = (Term, usize);

/// A truth value with its bit: before or after the block.
#[derive(Clone, Copy)]
struct Bit {
    term: Term,
    index: usize,
    after: bool,
}

impl Relations {
    pub fn new() -> Self {
        Self { solver: BitBlaster::new(), questions: 0 }
    }

    /// The relation of a block; unused next bits are left to the caller.
    pub fn of_block(
        &mut self,
        terms: &mut Terms,
        bits: &BddRelations,
        block: &Block,
        tracked: (&[Tracked], &[Tracked]),
        budget: &Budget,
    ) -> Result<Predicate, Reason> {
        self.relation(terms, bits, block, tracked, false, budget)
    }

    /// The same where what is known before the block comes from two sides that have not met yet, so
    /// that it may contradict itself.
    pub fn of_meeting(
        &mut self,
        terms: &mut Terms,
        bits: &BddRelations,
        block: &Block,
        tracked: (&[Tracked], &[Tracked]),
        budget: &Budget,
    ) -> Result<Predicate, Reason> {
        self.relation(terms, bits, block, tracked, true, budget)
    }

    fn relation(
        &mut self,
        terms: &mut Terms,
        bits: &BddRelations,
        block: &Block,
        (before, after): (&[Tracked], &[Tracked]),
        meeting: bool,
        budget: &Budget,
    ) -> Result<Predicate, Reason> {
        let mut relation = bits.constant(true);
        let mut open: Vec<Bit> = Vec::new();
        for (formula, index) in after.iter().copied() {
            let read = block.before(terms, formula);
            let next = bits.next(index);
            let bit_of =
                |wanted: Term| before.iter().find(|(known, _)| *known == wanted).map(|(_, bit)| *bit);
            let same = bit_of(read);
            let opposite = bit_of(terms.not(read));
            let value = if read == Terms::TRUE || read == Terms::FALSE {
                bits.constant(read == Terms::TRUE)
            } else if let Some(known) = same {
                bits.var(known)
            } else if let Some(known) = opposite {
                bits.not(&bits.var(known))
            } else {
                open.push(Bit { term: read, index, after: true });
                continue;
            };
            relation = bits.and(&relation, &bits.equiv(&next, &value));
        }
        for group in self.groups(terms, block, before, &open, meeting) {
            let part = self.enumerate(terms, bits, &group, budget)?;
            relation = bits.and(&relation, &part);
        }
        Ok(relation)
    }

    /// Conditions and truth values that share variables, directly or by others.
    fn groups(
        &self,
        terms: &Terms,
        block: &Block,
        before: &[Tracked],
        open: &[Bit],
        meeting: bool,
    ) -> Vec<Group> {
        let mut items: Vec<(Vec<Term>, Item)> = Vec::new();
        for guard in &block.guards {
            items.push((terms.variables(*guard), Item::Guard(*guard)));
        }
        for bit in open {
            items.push((terms.variables(bit.term), Item::Bit(*bit)));
        }
        for (term, index) in before.iter().copied() {
            items.push((terms.variables(term), Item::Bit(Bit { term, index, after: false })));
        }
        let mut parent: Vec<usize> = (0..items.len()).collect();
        let mut owner: FxHashMap<Term, usize> = FxHashMap::default();
        for (i, (variables, _)) in items.iter().enumerate() {
            for variable in variables {
                let other = *owner.entry(*variable).or_insert(i);
                let (a, b) = (find(&mut parent, i), find(&mut parent, other));
                parent[a] = b;
            }
        }
        let mut groups: FxHashMap<usize, Group> = FxHashMap::default();
        for (i, (_, item)) in items.iter().enumerate() {
            let group = groups.entry(find(&mut parent, i)).or_default();
            match item {
                Item::Guard(guard) => group.guards.push(*guard),
                Item::Bit(bit) => group.bits.push(*bit),
            }
        }
        let mut groups: Vec<Group> = groups.into_values().collect();
        // Truth values before the block alone are related by what came before.
        groups.retain(|group| meeting || !group.guards.is_empty() || group.bits.iter().any(|bit| bit.after));
        groups.sort_by_key(|group| {
            (group.guards.first().copied(), group.bits.first().map(|bit| (bit.after, bit.index)))
        });
        groups
    }

    /// All combinations of truth values that are possible in a group.
    fn enumerate(
        &mut self,
        terms: &mut Terms,
        bits: &BddRelations,
        group: &Group,
        budget: &Budget,
    ) -> Result<Predicate, Reason> {
        let mut possible = bits.constant(false);
        let mut assumptions = group.guards.clone();
        for round in 0.. {
            self.questions += 1;
            budget.look()?;
            match self.solver.check(terms, &assumptions, budget) {
                Outcome::Unsat(_) => return Ok(possible),
                Outcome::Unknown(reason) => {
                    budget.look()?;
                    return match reason {
                        Reason::Time | Reason::Cancelled => Err(reason),
                        _ => Ok(bits.constant(true)),
                    };
                }
                Outcome::Sat(model) => {
                    if group.bits.is_empty() {
                        return Ok(bits.constant(true));
                    }
                    if round >= MOST_MODELS {
                        // Too many: the truth values after the block are open.
                        return Ok(bits.constant(true));
                    }
                    let values =
                        terms.evaluate_all(&group.bits.iter().map(|b| b.term).collect::<Vec<_>>(), &model);
                    let mut cube = bits.constant(true);
                    let mut differs = Vec::new();
                    for (bit, value) in group.bits.iter().zip(values) {
                        let holds = value.bits() == Some(1);
                        let variable = if bit.after { bits.next(bit.index) } else { bits.var(bit.index) };
                        cube = bits.and(&cube, &if holds { variable } else { bits.not(&variable) });
                        differs.push(if holds { terms.not(bit.term) } else { bit.term });
                    }
                    possible = bits.or(&possible, &cube);
                    let blocking = terms.any(&differs);
                    assumptions.push(blocking);
                }
            }
        }
        unreachable!("the loop returns")
    }
}

enum Item {
    Guard(Term),
    Bit(Bit),
}

#[derive(Default)]
struct Group {
    guards: Vec<Term>,
    bits: Vec<Bit>,
}

fn find(parent: &mut [usize], mut at: usize) -> usize {
    while parent[at] != at {
        parent[at] = parent[parent[at]];
        at = parent[at];
    }
    at
}
