//! Gates: literals of the satisfiability solver with the clauses that define them, each gate once.

use batsat::{Lit, Solver, SolverInterface, SolverOpts, Var, lbool};
use rustc_hash::FxHashMap;

use crate::budget::{Budget, Reason};
use crate::preprocess::{Literal, Preprocessed};
use crate::search::{Scope, Watch};

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Gate {
    And(Lit, Lit),
    Xor(Lit, Lit),
    Mux(Lit, Lit, Lit),
    Majority(Lit, Lit, Lit),
}

/// The answer of the satisfiability search.
pub(crate) enum Found {
    /// The values of the inputs.
    Values(Vec<bool>),
    /// The assumptions that clash.
    Clash(Vec<Lit>),
    Stopped(Reason),
}

/// The circuit so far.
pub(crate) struct Gates {
    sat: Solver<Watch>,
    truth: Lit,
    gates: FxHashMap<Gate, Lit>,
    wide: FxHashMap<Box<[Lit]>, Lit>,
    clause: Vec<Lit>,
    /// All clauses, one after the other, and where each of them ends.
    all: Vec<Literal>,
    ends: Vec<u32>,
    /// Conflicts that a search may take before the clauses are simplified.
    patience: u64,
}

/// So many propagations are a step of work.
const PROPAGATIONS: u64 = 1_000;

/// Searches that take more conflicts than this are made on simplified clauses; the next one of the
/// same question after twice as many.
const PATIENCE: u64 = 3_000;

/// More clauses than this are not simplified.
const MOST_CLAUSES: usize = 4_000_000;

impl Gates {
    pub(crate) fn new() -> Self {
        let mut sat = Solver::new(SolverOpts::default(), Watch::default());
        let truth = Lit::new(sat.new_var_default(), true);
        let mut gates = Self {
            sat,
            truth,
            gates: FxHashMap::default(),
            wide: FxHashMap::default(),
            clause: Vec::new(),
            all: Vec::new(),
            ends: Vec::new(),
            patience: PATIENCE,
        };
        gates.clause(&[truth]);
        gates
    }

    /// The literal that is always true.
    pub(crate) fn truth(&self) -> Lit {
        self.truth
    }

    pub(crate) fn constant(&self, value: bool) -> Lit {
        if value { self.truth } else { !self.truth }
    }

    /// The value of a constant literal.
    pub(crate) fn known(&self, a: Lit) -> Option<bool> {
        (a.var() == self.truth.var()).then(|| a == self.truth)
    }

    /// Variables and clauses of the satisfiability solver.
    pub(crate) fn figures(&self) -> (u64, u64) {
        (self.sat.num_vars().into(), self.sat.num_clauses())
    }

    /// A literal that nothing is known about.
    pub(crate) fn input(&mut self) -> Lit {
        Lit::new(self.sat.new_var(lbool::UNDEF, true), true)
    }

    fn output(&mut self) -> Lit {
        self.input()
    }

    /// Adds a clause for good.
    pub(crate) fn clause(&mut self, literals: &[Lit]) {
        self.clause.clear();
        self.clause.extend_from_slice(literals);
        if self.ends.len() <= MOST_CLAUSES {
            self.all.extend(literals.iter().copied().map(number));
            self.ends.push(self.all.len() as u32);
        }
        self.sat.add_clause_reuse(&mut self.clause);
    }

    pub(crate) fn and(&mut self, a: Lit, b: Lit) -> Lit {
        match (self.known(a), self.known(b)) {
            (Some(true), _) => return b,
            (_, Some(true)) => return a,
            (Some(false), _) | (_, Some(false)) => return !self.truth,
            _ => {}
        }
        if a == b {
            return a;
        }
        if a == !b {
            return !self.truth;
        }
        let (a, b) = (a.min(b), a.max(b));
        if let Some(out) = self.gates.get(&Gate::And(a, b)) {
            return *out;
        }
        let out = self.output();
        self.clause(&[!out, a]);
        self.clause(&[!out, b]);
        self.clause(&[out, !a, !b]);
        self.gates.insert(Gate::And(a, b), out);
        out
    }

    pub(crate) fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    pub(crate) fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        match (self.known(a), self.known(b)) {
            (Some(value), _) => return b ^ value,
            (_, Some(value)) => return a ^ value,
            _ => {}
        }
        if a.var() == b.var() {
            return self.constant(a != b);
        }
        let flipped = a.sign() != b.sign();
        let (a, b) = (positive(a.min(b)), positive(a.max(b)));
        let out = match self.gates.get(&Gate::Xor(a, b)) {
            Some(out) => *out,
            None => {
                let out = self.output();
                self.clause(&[!out, a, b]);
                self.clause(&[!out, !a, !b]);
                self.clause(&[out, !a, b]);
                self.clause(&[out, a, !b]);
                self.gates.insert(Gate::Xor(a, b), out);
                out
            }
        };
        out ^ flipped
    }

    /// `a` if `c`, else `b`.
    pub(crate) fn mux(&mut self, c: Lit, a: Lit, b: Lit) -> Lit {
        if a == b {
            return a;
        }
        if let Some(value) = self.known(c) {
            return if value { a } else { b };
        }
        match (self.known(a), self.known(b)) {
            (Some(true), _) => return self.or(c, b),
            (Some(false), _) => return self.and(!c, b),
            (_, Some(true)) => return self.or(!c, a),
            (_, Some(false)) => return self.and(c, a),
            _ => {}
        }
        if a == !b {
            return !self.xor(c, a);
        }
        if c.var() == a.var() {
            return if c == a { self.or(c, b) } else { self.and(!c, b) };
        }
        if c.var() == b.var() {
            return if c == b { self.and(c, a) } else { self.or(!c, a) };
        }
        let (c, a, b) = if c.sign() { (c, a, b) } else { (!c, b, a) };
        // The output is positive where `a` is.
        let (flipped, a, b) = if a.sign() { (false, a, b) } else { (true, !a, !b) };
        let out = match self.gates.get(&Gate::Mux(c, a, b)) {
            Some(out) => *out,
            None => {
                let out = self.output();
                self.clause(&[!c, !a, out]);
                self.clause(&[!c, a, !out]);
                self.clause(&[c, !b, out]);
                self.clause(&[c, b, !out]);
                self.clause(&[!a, !b, out]);
                self.clause(&[a, b, !out]);
                self.gates.insert(Gate::Mux(c, a, b), out);
                out
            }
        };
        out ^ flipped
    }

    /// At least two of three: the carry of an adder.
    pub(crate) fn majority(&mut self, a: Lit, b: Lit, c: Lit) -> Lit {
        let mut three = [a, b, c];
        three.sort_unstable();
        let [a, b, c] = three;
        for (x, y, z) in [(a, b, c), (b, c, a), (a, c, b)] {
            if let Some(value) = self.known(x) {
                return if value { self.or(y, z) } else { self.and(y, z) };
            }
            if x == y {
                return x;
            }
            if x == !y {
                return z;
            }
        }
        // The middle one of the flipped is the flipped middle one.
        let flipped = !a.sign();
        let [a, b, c] = [a ^ flipped, b ^ flipped, c ^ flipped];
        let out = match self.gates.get(&Gate::Majority(a, b, c)) {
            Some(out) => *out,
            None => {
                let out = self.output();
                for (x, y) in [(a, b), (a, c), (b, c)] {
                    self.clause(&[!x, !y, out]);
                    self.clause(&[x, y, !out]);
                }
                self.gates.insert(Gate::Majority(a, b, c), out);
                out
            }
        };
        out ^ flipped
    }

    /// The conjunction of all.
    pub(crate) fn all(&mut self, literals: &[Lit]) -> Lit {
        let mut list = literals.to_vec();
        list.sort_unstable();
        list.dedup();
        list.retain(|literal| *literal != self.truth);
        // A literal and its negation are neighbours.
        if list.contains(&!self.truth) || list.windows(2).any(|pair| pair[0] == !pair[1]) {
            return !self.truth;
        }
        match list[..] {
            [] => self.truth,
            [only] => only,
            [a, b] => self.and(a, b),
            _ => {
                if let Some(out) = self.wide.get(&list[..]) {
                    return *out;
                }
                let out = self.output();
                for literal in &list {
                    self.clause(&[!out, *literal]);
                }
                let mut long: Vec<Lit> = list.iter().map(|literal| !*literal).collect();
                long.push(out);
                self.clause(&long);
                self.wide.insert(list.into_boxed_slice(), out);
                out
            }
        }
    }

    /// The disjunction of all.
    pub(crate) fn any(&mut self, literals: &[Lit]) -> Lit {
        let flipped: Vec<Lit> = literals.iter().map(|literal| !*literal).collect();
        !self.all(&flipped)
    }

    /// A new check starts: conflicts are counted from here.
    pub(crate) fn start(&mut self) {
        self.sat.cb_mut().reset_conflicts();
        self.patience = PATIENCE;
    }

    /// Searches for values of the inputs under which the assumptions hold: first among all clauses,
    /// where much may be known from earlier searches; if that takes long, among simplified ones.
    pub(crate) fn solve(&mut self, assumptions: &[Lit], inputs: &[Var], budget: &Budget) -> Found {
        if budget.conflicts.is_some() || self.ends.len() > MOST_CLAUSES {
            return self.solve_incrementally(assumptions, inputs, budget);
        }
        let conflicts = self.sat.cb().conflicts() + self.patience;
        let first = Budget { conflicts: Some(conflicts), ..budget.clone() };
        match self.solve_incrementally(assumptions, inputs, &first) {
            Found::Stopped(Reason::Conflicts) => {
                self.patience *= 2;
                self.solve_simplified(assumptions, inputs, budget)
            }
            found => found,
        }
    }

    fn solve_incrementally(&mut self, assumptions: &[Lit], inputs: &[Var], budget: &Budget) -> Found {
        if !self.sat.is_ok() {
            return Found::Clash(Vec::new());
        }
        let enough = self.sat.cb_mut().start(budget);
        let mut scope = Scope::new(assumptions, inputs, enough);
        let before = self.sat.num_propagations();
        let status = self.sat.solve_limited_th(&mut scope, assumptions);
        if let Some(work) = &budget.work {
            work.spend((self.sat.num_propagations() - before) / PROPAGATIONS);
        }
        if let Some(values) = scope.into_values() {
            return Found::Values(values);
        }
        if status == lbool::FALSE {
            return Found::Clash(self.sat.unsat_core().iter().map(|literal| !*literal).collect());
        }
        Found::Stopped(self.sat.cb().reason())
    }

    /// Searches among the clauses and the assumptions together, after they have been simplified.
    fn solve_simplified(&mut self, assumptions: &[Lit], inputs: &[Var], budget: &Budget) -> Found {
        let variables = self.sat.num_vars() as usize;
        let assumed: Vec<Literal> = assumptions.iter().copied().map(number).collect();
        let starts = std::iter::once(0).chain(self.ends.iter().map(|end| *end as usize));
        let clauses = starts.zip(&self.ends).map(|(start, end)| &self.all[start..*end as usize]);
        let simple = match Preprocessed::new(variables, clauses.chain(assumed.chunks(1)), budget) {
            Ok(simple) => simple,
            Err(reason) => return Found::Stopped(reason),
        };
        let all = || Found::Clash(assumptions.to_vec());
        if simple.is_clashing() {
            return all();
        }
        let mut occurs = vec![false; variables];
        simple.clauses().flatten().for_each(|literal| occurs[*literal as usize / 2] = true);
        let mut sat = Solver::new(SolverOpts::default(), Watch::default());
        let made: Vec<Var> = occurs.iter().map(|occurs| sat.new_var(lbool::UNDEF, *occurs)).collect();
        for clause in simple.clauses() {
            self.clause.clear();
            let literals =
                clause.iter().map(|literal| Lit::new(made[*literal as usize / 2], literal % 2 == 0));
            self.clause.extend(literals);
            sat.add_clause_reuse(&mut self.clause);
        }
        sat.cb_mut().start(budget);
        let status = sat.solve_limited(&[]);
        if let Some(work) = &budget.work {
            work.spend(sat.num_propagations() / PROPAGATIONS);
        }
        if status == lbool::FALSE {
            return all();
        }
        if status != lbool::TRUE {
            return Found::Stopped(sat.cb().reason());
        }
        let mut model: Vec<bool> =
            made.iter().map(|variable| sat.value_var(*variable) == lbool::TRUE).collect();
        simple.extend(&mut model);
        Found::Values(inputs.iter().map(|input| model[input.idx() as usize]).collect())
    }
}

/// A literal as preprocessing counts it.
fn number(literal: Lit) -> Literal {
    2 * literal.var().idx() + u32::from(!literal.sign())
}

fn positive(a: Lit) -> Lit {
    Lit::new(a.var(), true)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Both ways to search agree, and find values that satisfy the clauses.
        #[test]
        fn simplified_clauses_have_the_same_answer(
            clauses in prop::collection::vec(prop::collection::vec((0..9_usize, any::<bool>()), 1..4), 0..40),
            assumed in prop::collection::vec((0..9_usize, any::<bool>()), 0..3),
        ) {
            let mut gates = Gates::new();
            let inputs: Vec<Lit> = (0..9).map(|_| gates.input()).collect();
            let literal = |(input, sign): &(usize, bool)| inputs[*input] ^ !*sign;
            for clause in &clauses {
                let clause: Vec<Lit> = clause.iter().map(literal).collect();
                gates.clause(&clause);
            }
            let assumptions: Vec<Lit> = assumed.iter().map(literal).collect();
            let variables: Vec<Var> = inputs.iter().map(|input| input.var()).collect();
            let budget = Budget::default();
            let plain = gates.solve_incrementally(&assumptions, &variables, &budget);
            let simple = gates.solve_simplified(&assumptions, &variables, &budget);
            prop_assert_eq!(matches!(plain, Found::Clash(_)), matches!(simple, Found::Clash(_)));
            if let Found::Values(values) = simple {
                let holds = |(input, sign): &(usize, bool)| values[*input] == *sign;
                prop_assert!(clauses.iter().all(|clause| clause.iter().any(holds)));
                prop_assert!(assumed.iter().all(holds));
            }
        }
    }
}
