//! Preprocessing of clauses: units, subsumption, and elimination of variables by resolution.
//!
//! N. Eén, A. Biere, *Effective preprocessing in SAT through variable and clause elimination* (SAT
//! 2005). A variable whose resolvents are not more than the clauses that it occurs in is resolved
//! away; clauses that others imply are dropped, and a literal that resolution with another clause
//! takes away is removed. Circuits of bit-vectors are mostly definitions of gates, and large parts
//! of them vanish. The clauses of eliminated variables are kept, so that a model of the rest is
//! extended to one of all.

use crate::budget::{Budget, Reason};

/// A literal: twice the number of its variable, and one more if it is negated.
pub(crate) type Literal = u32;

/// Resolvents that are longer are not made.
const LONGEST: usize = 20;
/// Variables that occur more often than this both ways are not eliminated.
const MOST_OCCURRENCES: usize = 16;
/// Literals that may be looked at, for each literal of the clauses.
const EFFORT: u64 = 200;
/// Steps between two looks at the budget.
const PACE: u64 = 4_096;

struct Clause {
    literals: Vec<Literal>,
    /// A bit for each literal, modulo 64: a subset has no other bits.
    signature: u64,
    is_alive: bool,
}

/// Clauses that are simplified.
pub(crate) struct Preprocessed {
    clauses: Vec<Clause>,
    /// The clauses in which a literal occurs; some of them may be gone.
    occurrences: Vec<Vec<u32>>,
    /// The values of variables that follow from clauses with one literal.
    values: Vec<Option<bool>>,
    /// Literals that must hold, and have not been looked at.
    units: Vec<Literal>,
    /// Clauses that may subsume others.
    open: Vec<u32>,
    /// Eliminated literals with the clauses that they were in, the last one last.
    eliminated: Vec<(Literal, Vec<Vec<Literal>>)>,
    is_eliminated: Vec<bool>,
    is_clashing: bool,
    effort: u64,
    steps: u64,
}

fn signature(literals: &[Literal]) -> u64 {
    literals.iter().fold(0, |bits, literal| bits | 1 << (literal % 64))
}

impl Preprocessed {
    /// Simplifies clauses over some variables.
    ///
    /// # Errors
    /// The limit that was met.
    pub(crate) fn new<'c>(
        variables: usize,
        clauses: impl Iterator<Item = &'c [Literal]>,
        budget: &Budget,
    ) -> Result<Self, Reason> {
        let mut all = Self {
            clauses: Vec::new(),
            occurrences: vec![Vec::new(); 2 * variables],
            values: vec![None; variables],
            units: Vec::new(),
            open: Vec::new(),
            eliminated: Vec::new(),
            is_eliminated: vec![false; variables],
            is_clashing: false,
            effort: 0,
            steps: 0,
        };
        for clause in clauses {
            all.effort += EFFORT * clause.len() as u64;
            all.add(clause.to_vec());
        }
        all.run(budget)?;
        Ok(all)
    }

    /// Whether the clauses contradict each other.
    pub(crate) fn is_clashing(&self) -> bool {
        self.is_clashing
    }

    /// The clauses that are left.
    pub(crate) fn clauses(&self) -> impl Iterator<Item = &[Literal]> {
        self.clauses.iter().filter(|clause| clause.is_alive).map(|clause| &clause.literals[..])
    }

    /// Extends a model of the clauses that are left to one of all clauses.
    pub(crate) fn extend(&self, model: &mut [bool]) {
        for (value, known) in model.iter_mut().zip(&self.values) {
            *value = known.unwrap_or(*value);
        }
        let holds = |model: &[bool], literal: Literal| model[literal as usize / 2] != (literal % 2 == 1);
        for (literal, clauses) in self.eliminated.iter().rev() {
            let variable = *literal as usize / 2;
            let is_needed = clauses
                .iter()
                .any(|clause| !clause.iter().any(|other| other != literal && holds(model, *other)));
            model[variable] = is_needed != (literal % 2 == 1);
        }
    }

    fn add(&mut self, mut literals: Vec<Literal>) {
        literals.sort_unstable();
        literals.dedup();
        // A literal and its negation are neighbours.
        if literals.windows(2).any(|pair| pair[0] ^ 1 == pair[1]) {
            return;
        }
        if literals.iter().any(|literal| self.holds(*literal) == Some(true)) {
            return;
        }
        literals.retain(|literal| self.holds(*literal).is_none());
        match literals[..] {
            [] => self.is_clashing = true,
            [unit] => self.unit(unit),
            _ => {
                let id = self.clauses.len() as u32;
                for literal in &literals {
                    self.occurrences[*literal as usize].push(id);
                }
                self.clauses.push(Clause { signature: signature(&literals), literals, is_alive: true });
                self.open.push(id);
            }
        }
    }

    fn holds(&self, literal: Literal) -> Option<bool> {
        self.values[literal as usize / 2].map(|value| value != (literal % 2 == 1))
    }

    fn unit(&mut self, literal: Literal) {
        match self.holds(literal) {
            Some(true) => {}
            Some(false) => self.is_clashing = true,
            None => {
                self.values[literal as usize / 2] = Some(literal % 2 == 0);
                self.units.push(literal);
            }
        }
    }

    /// Propagates literals that must hold.
    fn propagate(&mut self) {
        while let Some(literal) = self.units.pop() {
            for id in std::mem::take(&mut self.occurrences[literal as usize]) {
                self.clauses[id as usize].is_alive = false;
            }
            for id in std::mem::take(&mut self.occurrences[literal as usize ^ 1]) {
                self.strengthen(id, literal ^ 1);
            }
        }
    }

    /// Takes a literal out of a clause.
    fn strengthen(&mut self, id: u32, literal: Literal) {
        let clause = &mut self.clauses[id as usize];
        if !clause.is_alive {
            return;
        }
        clause.literals.retain(|other| *other != literal);
        clause.signature = signature(&clause.literals);
        match clause.literals[..] {
            [] => self.is_clashing = true,
            [unit] => {
                clause.is_alive = false;
                self.unit(unit);
            }
            _ => self.open.push(id),
        }
    }

    fn spend(&mut self, work: usize, budget: &Budget) -> Result<bool, Reason> {
        let before = self.steps / PACE;
        self.steps += work as u64 + 1;
        if self.steps / PACE != before {
            budget.look()?;
        }
        Ok(self.steps < self.effort)
    }

    fn run(&mut self, budget: &Budget) -> Result<(), Reason> {
        loop {
            self.subsume(budget)?;
            if self.is_clashing || !self.eliminate(budget)? {
                return Ok(());
            }
        }
    }

    /// Drops clauses that others imply, and literals that resolution takes away.
    fn subsume(&mut self, budget: &Budget) -> Result<(), Reason> {
        loop {
            self.propagate();
            if self.is_clashing {
                return Ok(());
            }
            let Some(id) = self.open.pop() else { return Ok(()) };
            if !self.clauses[id as usize].is_alive {
                continue;
            }
            let literals = self.clauses[id as usize].literals.clone();
            let count = |literal: &Literal| {
                self.occurrences[*literal as usize].len() + self.occurrences[*literal as usize ^ 1].len()
            };
            let Some(best) = literals.iter().copied().min_by_key(count) else { continue };
            for at in [best, best ^ 1] {
                let others = self.occurrences[at as usize].clone();
                if !self.spend(others.len(), budget)? {
                    self.open.clear();
                    return Ok(());
                }
                for other in others {
                    if other == id || !self.clauses[other as usize].is_alive {
                        continue;
                    }
                    match self.relation(&literals, other) {
                        Relation::Apart => {}
                        Relation::Subsumes => self.clauses[other as usize].is_alive = false,
                        Relation::Strengthens(literal) => {
                            self.occurrences[literal as usize].retain(|clause| *clause != other);
                            self.strengthen(other, literal);
                        }
                    }
                }
            }
        }
    }

    /// How a clause relates to another one.
    fn relation(&self, literals: &[Literal], other: u32) -> Relation {
        let other = &self.clauses[other as usize];
        if literals.len() > other.literals.len() {
            return Relation::Apart;
        }
        let mut flipped = None;
        for literal in literals {
            let has = |literal: &Literal| {
                other.signature >> (literal % 64) & 1 == 1 && other.literals.binary_search(literal).is_ok()
            };
            if has(literal) {
                continue;
            }
            if flipped.is_some() || !has(&(literal ^ 1)) {
                return Relation::Apart;
            }
            flipped = Some(literal ^ 1);
        }
        flipped.map_or(Relation::Subsumes, Relation::Strengthens)
    }

    /// Resolves variables away; whether there was one.
    fn eliminate(&mut self, budget: &Budget) -> Result<bool, Reason> {
        let mut order: Vec<(usize, usize)> = Vec::new();
        for variable in 0..self.values.len() {
            if self.values[variable].is_none() && !self.is_eliminated[variable] {
                let [positive, negative] = [2 * variable, 2 * variable + 1].map(|literal| {
                    let clauses = &self.clauses;
                    self.occurrences[literal].retain(|id| clauses[*id as usize].is_alive);
                    self.occurrences[literal].len()
                });
                if positive + negative > 0 && positive.min(negative) <= MOST_OCCURRENCES {
                    order.push((positive * negative, variable));
                }
            }
        }
        order.sort_unstable();
        let mut has_changed = false;
        for (_, variable) in order {
            if self.values[variable].is_some() {
                continue;
            }
            let literal = 2 * variable as Literal;
            let [positive, negative] = [literal, literal ^ 1].map(|literal| {
                let ids = self.occurrences[literal as usize].iter().copied();
                ids.filter(|id| self.clauses[*id as usize].is_alive).collect::<Vec<u32>>()
            });
            if positive.len().min(negative.len()) > MOST_OCCURRENCES {
                continue;
            }
            let most = positive.len() + negative.len();
            let mut resolvents = Vec::new();
            let mut is_too_much = false;
            'pairs: for a in &positive {
                for b in &negative {
                    let (a, b) = (&self.clauses[*a as usize].literals, &self.clauses[*b as usize].literals);
                    let work = a.len() + b.len();
                    if let Some(resolvent) = resolvent(a, b, literal) {
                        is_too_much = resolvents.len() == most || resolvent.len() > LONGEST;
                        if is_too_much {
                            break 'pairs;
                        }
                        resolvents.push(resolvent);
                    }
                    if !self.spend(work, budget)? {
                        return Ok(false);
                    }
                }
            }
            if is_too_much {
                continue;
            }
            // The side with fewer clauses tells the value of the variable in a model.
            let (kept, side) = if positive.len() <= negative.len() {
                (literal, &positive)
            } else {
                (literal ^ 1, &negative)
            };
            let clauses = side.iter().map(|id| self.clauses[*id as usize].literals.clone()).collect();
            self.eliminated.push((kept, clauses));
            self.is_eliminated[variable] = true;
            for id in positive.iter().chain(&negative) {
                self.clauses[*id as usize].is_alive = false;
            }
            resolvents.into_iter().for_each(|resolvent| self.add(resolvent));
            has_changed = true;
            if self.is_clashing {
                return Ok(false);
            }
        }
        Ok(has_changed)
    }
}

enum Relation {
    Apart,
    /// The first implies the second.
    Subsumes,
    /// Their resolvent is the second without this literal.
    Strengthens(Literal),
}

/// The resolvent of two sorted clauses on a literal; none if it always holds.
fn resolvent(a: &[Literal], b: &[Literal], on: Literal) -> Option<Vec<Literal>> {
    let mut all: Vec<Literal> = a.iter().chain(b).copied().filter(|literal| literal | 1 != on | 1).collect();
    all.sort_unstable();
    all.dedup();
    (!all.windows(2).any(|pair| pair[0] ^ 1 == pair[1])).then_some(all)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_model(clauses: &[Vec<Literal>], model: &[bool]) -> bool {
        clauses
            .iter()
            .all(|clause| clause.iter().any(|literal| model[*literal as usize / 2] != (literal % 2 == 1)))
    }

    fn models(variables: usize) -> impl Iterator<Item = Vec<bool>> {
        (0..1_u32 << variables).map(move |bits| (0..variables).map(|i| bits >> i & 1 == 1).collect())
    }

    proptest! {
        /// What is left has a model if all have one, and each of its models extends to one of all.
        #[test]
        fn models_of_the_rest_extend(
            clauses in prop::collection::vec(prop::collection::vec(0..16_u32, 1..4), 0..30),
        ) {
            let done = Preprocessed::new(8, clauses.iter().map(Vec::as_slice), &Budget::default());
            let done = done.unwrap_or_else(|reason| panic!("{reason:?}"));
            let has_model = models(8).any(|model| is_model(&clauses, &model));
            let rest: Vec<Vec<Literal>> = done.clauses().map(<[Literal]>::to_vec).collect();
            let mut has_rest = false;
            if !done.is_clashing() {
                for mut model in models(8).filter(|model| is_model(&rest, model)) {
                    has_rest = true;
                    done.extend(&mut model);
                    prop_assert!(is_model(&clauses, &model), "{:?} {:?}", rest, model);
                }
            }
            prop_assert_eq!(has_model, has_rest);
        }
    }
}
