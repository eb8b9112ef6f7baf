//! The embedded solver: circuits, a satisfiability solver, and lemmas for arrays.

use batsat::{Lit, Var};
use rustc_hash::FxHashMap;

use crate::blast::Blast;
use crate::budget::{Budget, Reason};
use crate::gates::Found;
use crate::model::{Model, Value};
use crate::reads::{self, Values};
use crate::recall::Recall;
use crate::solver::{Outcome, Solver};
use crate::terms::{Kind, Term, Terms};

/// How many times the bits of a question the circuits must have before the question is asked aside.
const ASIDE: u64 = 4;
/// Conflicts that a question asked aside may take.
const PATIENCE: u64 = 100;

/// One level of the stack of assertions.
struct Level {
    /// Assumed while the level is there; none on the outermost.
    activation: Option<Lit>,
    asserted: Vec<Term>,
    /// How many of them have clauses.
    encoded: usize,
}

/// What a check is about.
#[derive(Default)]
struct Cone {
    /// The bits of all terms; for floating-point operations, those of their circuits.
    bits: u64,
    inputs: Vec<Var>,
    variables: Vec<Term>,
    reads: Vec<Term>,
}

/// The embedded solver. It stays incremental: a term is translated once, whatever comes and goes
/// around it, and what was learnt is kept.
///
/// ```
/// use wherefore_smt::{BitBlaster, Budget, Outcome, Solver, Sort, Terms};
///
/// let mut terms = Terms::new();
/// let mut solver = BitBlaster::new();
/// let [x, y] = ["x", "y"].map(|name| terms.variable(name, Sort::Bits(32)));
/// let (product, wanted) = (terms.mul(x, y), terms.bits(391, 32));
/// let factored = terms.eq(product, wanted);
/// solver.assert(&mut terms, factored);
/// let (two, limit) = (terms.bits(2, 32), terms.bits(20, 32));
/// let (lower, upper) = (terms.ult(two, x), terms.ult(x, limit));
/// let outcome = solver.check(&mut terms, &[lower, upper], &Budget::default());
/// let model = outcome.model().expect("391 is 17 times 23, among others");
/// assert!(terms.holds(factored, model) && terms.holds(upper, model));
///
/// let even = terms.bit_and(x, two);
/// let even = terms.eq(even, two);
/// let odd = terms.not(even);
/// assert!(matches!(solver.check(&mut terms, &[lower, even, odd], &Budget::default()),
///     Outcome::Unsat(core) if core.len() == 2));
/// ```
pub struct BitBlaster {
    blast: Blast,
    levels: Vec<Level>,
    /// The check in which a term was last met.
    marks: Vec<u32>,
    round: u32,
    lemmas: u64,
    recall: Recall,
}

impl Default for BitBlaster {
    fn default() -> Self {
        Self::new()
    }
}

impl BitBlaster {
    /// A solver without assertions.
    pub fn new() -> Self {
        let outermost = Level { activation: None, asserted: Vec::new(), encoded: 0 };
        Self {
            blast: Blast::new(),
            levels: vec![outermost],
            marks: Vec::new(),
            round: 0,
            lemmas: 0,
            recall: Recall::default(),
        }
    }

    /// Variables and clauses of the satisfiability solver, and lemmas about arrays so far.
    pub fn figures(&self) -> (u64, u64, u64) {
        let (variables, clauses) = self.blast.gates.figures();
        (variables, clauses, self.lemmas)
    }

    /// Gives clauses to the assertions that have none yet.
    fn encode(&mut self, terms: &Terms, budget: &Budget) -> Result<(), Reason> {
        for level in &mut self.levels {
            while let Some(term) = level.asserted.get(level.encoded) {
                self.blast.blast(terms, &[*term], budget)?;
                let guard = level.activation.map(|activation| !activation);
                assert_clauses(&mut self.blast, terms, *term, guard);
                level.encoded += 1;
            }
        }
        Ok(())
    }

    /// The inputs, variables and reads below the roots.
    fn cone(&mut self, terms: &Terms, roots: impl Iterator<Item = Term>) -> Cone {
        self.round += 1;
        self.marks.resize(terms.len().max(self.marks.len()), 0);
        let mut cone = Cone::default();
        let mut stack: Vec<Term> = Vec::new();
        for root in roots {
            stack.push(root);
            while let Some(term) = stack.pop() {
                if std::mem::replace(&mut self.marks[term.index()], self.round) == self.round {
                    continue;
                }
                match terms.kind(term) {
                    Kind::Variable(_) if !terms.sort(term).is_array() => cone.variables.push(term),
                    Kind::Select(..) => cone.reads.push(term),
                    _ => {}
                }
                cone.bits += self.blast.weight(terms, term);
                self.blast.inputs(terms, term, &mut cone.inputs);
                terms.for_each_child(term, |child| stack.push(child));
            }
        }
        cone
    }

    /// The values of the variables and reads of the cone.
    fn candidate(&self, terms: &Terms, cone: &Cone, bits: &[bool]) -> (Model, Values) {
        let bit: FxHashMap<Var, bool> = cone.inputs.iter().copied().zip(bits.iter().copied()).collect();
        let value = |term: Term| {
            let word = self.blast.word(terms, term);
            word.iter().enumerate().fold(0, |sum, (i, literal)| sum | u64::from(bit[&literal.var()]) << i)
        };
        let model = cone.variables.iter().map(|term| (*term, Value::Bits(value(*term)))).collect();
        let reads = cone.reads.iter().map(|term| (*term, value(*term))).collect();
        (model, reads)
    }

    fn learn(&mut self, terms: &Terms, lemma: &[Term], budget: &Budget) -> Result<(), Reason> {
        self.blast.blast(terms, lemma, budget)?;
        let clause: Vec<Lit> = lemma.iter().map(|term| self.blast.literal(terms, *term)).collect();
        self.blast.gates.clause(&clause);
        self.lemmas += 1;
        Ok(())
    }

    fn try_check(
        &mut self,
        terms: &mut Terms,
        assumptions: &[Term],
        budget: &Budget,
    ) -> Result<Outcome, Reason> {
        budget.look()?;
        if let Some(core) = self.recall.core(assumptions) {
            return Ok(Outcome::Unsat(core));
        }
        let asserted = self.levels.iter().flat_map(|level| &level.asserted);
        let roots: Vec<Term> = asserted.chain(assumptions).copied().collect();
        if let Some(model) = self.recall.model(terms, &roots) {
            return Ok(Outcome::Sat(model));
        }
        let outcome = self.search(terms, &roots, assumptions, budget)?;
        match &outcome {
            Outcome::Sat(model) => self.recall.add_model(model),
            Outcome::Unsat(core) => self.recall.add_core(self.levels.len(), core),
            Outcome::Unknown(_) => {}
        }
        Ok(outcome)
    }

    /// Asks a solver that knows nothing else, for a moment. The search gives values to all
    /// variables there are, so that a small question is soonest answered where there is little.
    fn aside(&self, terms: &mut Terms, assumptions: &[Term], budget: &Budget) -> Option<Outcome> {
        let mut small = BitBlaster::new();
        for term in self.levels.iter().flat_map(|level| &level.asserted) {
            small.assert(terms, *term);
        }
        let budget = Budget { conflicts: Some(PATIENCE), ..budget.clone() };
        let outcome = small.check(terms, assumptions, &budget);
        (!matches!(outcome, Outcome::Unknown(_))).then_some(outcome)
    }

    /// Asks the satisfiability solver until no array contradicts its answer.
    fn search(
        &mut self,
        terms: &mut Terms,
        roots: &[Term],
        assumptions: &[Term],
        budget: &Budget,
    ) -> Result<Outcome, Reason> {
        self.encode(terms, budget)?;
        self.blast.blast(terms, assumptions, budget)?;
        let cone = self.cone(terms, roots.iter().copied());
        if cone.bits * ASIDE < self.blast.gates.figures().0 && budget.conflicts.is_none() {
            if let Some(outcome) = self.aside(terms, assumptions, budget) {
                return Ok(outcome);
            }
        }
        let mut literals: Vec<Lit> = self.levels.iter().filter_map(|level| level.activation).collect();
        literals.extend(assumptions.iter().map(|term| self.blast.literal(terms, *term)));
        self.blast.gates.start();
        loop {
            let bits = match self.blast.gates.solve(&literals, &cone.inputs, budget) {
                Found::Values(bits) => bits,
                Found::Stopped(reason) => return Err(reason),
                Found::Clash(core) => {
                    let mut rest = core;
                    let mut involved = |term: &Term| {
                        let literal = self.blast.literal(terms, *term);
                        let at = rest.iter().position(|other| *other == literal);
                        at.map(|at| rest.swap_remove(at)).is_some()
                    };
                    return Ok(Outcome::Unsat(assumptions.iter().copied().filter(|t| involved(t)).collect()));
                }
            };
            let (mut model, mut values) = self.candidate(terms, &cone, &bits);
            if !cone.reads.is_empty() {
                let mut below = Vec::new();
                for read in &cone.reads {
                    terms.for_each_child(*read, |child| below.push(child));
                }
                terms.evaluate_with(&below, &model, &mut values);
                let lemmas = reads::check(terms, &cone.reads, &values, &mut model);
                for lemma in &lemmas {
                    self.learn(terms, lemma, budget)?;
                }
                if !lemmas.is_empty() {
                    continue;
                }
            }
            debug_assert!(
                roots.iter().all(|term| terms.holds(*term, &model)),
                "a model satisfies what was asked"
            );
            return Ok(Outcome::Sat(model));
        }
    }
}

/// Adds the clauses of an assertion: conjunctions are taken apart, disjunctions are one clause.
fn assert_clauses(blast: &mut Blast, terms: &Terms, term: Term, guard: Option<Lit>) {
    let mut todo = vec![term];
    while let Some(term) = todo.pop() {
        match terms.kind(term) {
            Kind::And(list) => todo.extend_from_slice(list),
            Kind::Or(list) => {
                let mut clause: Vec<Lit> = list.iter().map(|t| blast.literal(terms, *t)).collect();
                clause.extend(guard);
                blast.gates.clause(&clause);
            }
            _ => {
                let mut clause = vec![blast.literal(terms, term)];
                clause.extend(guard);
                blast.gates.clause(&clause);
            }
        }
    }
}

impl Solver for BitBlaster {
    fn assert(&mut self, terms: &mut Terms, term: Term) {
        terms.assert_bool(term);
        if let Some(level) = self.levels.last_mut() {
            if term != Terms::TRUE {
                level.asserted.push(term);
            }
        }
    }

    fn push(&mut self) {
        let activation = Some(self.blast.gates.input());
        self.levels.push(Level { activation, asserted: Vec::new(), encoded: 0 });
    }

    fn pop(&mut self) {
        if self.levels.len() > 1 {
            if let Some(Level { activation: Some(activation), .. }) = self.levels.pop() {
                self.blast.gates.clause(&[!activation]);
            }
            self.recall.pop(self.levels.len());
        }
    }

    fn check(&mut self, terms: &mut Terms, assumptions: &[Term], budget: &Budget) -> Outcome {
        assumptions.iter().for_each(|term| terms.assert_bool(*term));
        if self.levels.iter().any(|level| level.asserted.contains(&Terms::FALSE)) {
            return Outcome::Unsat(Vec::new());
        }
        if assumptions.contains(&Terms::FALSE) {
            return Outcome::Unsat(vec![Terms::FALSE]);
        }
        match self.try_check(terms, assumptions, budget) {
            Ok(outcome) => outcome,
            Err(reason) => Outcome::Unknown(reason),
        }
    }
}
