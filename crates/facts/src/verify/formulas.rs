//! Claims as formulas, and what follows from what.

use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};
use wherefore_check::meaning::{Held, type_sort};
use wherefore_program::{ModRef, ProcedureId, Program, Var};
use wherefore_smt::{BitBlaster, Budget, Outcome, Sort, Term, Terms, check_by_cases};

use crate::claim::{Claim, Place};

/// A solver is asked so many questions, then there is a new one.
const QUESTIONS: usize = 24;

/// The values of the variables that a procedure sees.
pub(super) struct Values {
    pub procedure: ProcedureId,
    pub prefix: &'static str,
    /// Those that differ from what they are called.
    pub changed: FxHashMap<Var, Term>,
}

impl Values {
    pub fn now(procedure: ProcedureId) -> Self {
        Self { procedure, prefix: "now", changed: FxHashMap::default() }
    }

    pub fn entry(procedure: ProcedureId) -> Self {
        Self { procedure, prefix: "entry", changed: FxHashMap::default() }
    }
}

/// The term that stands for a variable.
pub(super) fn named(terms: &mut Terms, program: &Program, at: (ProcedureId, &str), variable: Var) -> Term {
    let sort = type_sort(&program.variable(at.0, variable).ty);
    let name = match variable {
        Var::Global(i) => format!("{} global {i}", at.1),
        Var::Local(i) => format!("{} local {i} of {}", at.1, at.0.0),
    };
    terms.variable(&name, sort)
}

pub(super) struct Reading<'v, 'a> {
    pub values: &'v Values,
    pub program: &'a Program,
}

impl Held for Reading<'_, '_> {
    fn held(&mut self, terms: &mut Terms, variable: Var) -> Term {
        match self.values.changed.get(&variable) {
            Some(term) => *term,
            None => named(terms, self.program, (self.values.procedure, self.values.prefix), variable),
        }
    }
}

pub(super) struct Check<'a> {
    pub program: &'a Program,
    pub effects: ModRef,
    pub terms: Terms,
    solver: BitBlaster,
    /// How many questions it was asked.
    asked: usize,
    /// The variables of formulas.
    variables: FxHashMap<Term, Vec<Term>>,
}

/// What must be shown: that premises give each claim of a target, in some values.
pub(super) struct Obligation {
    pub premises: Vec<Term>,
    pub values: Values,
    /// The values at entry of the procedure that the claims speak of; by default as they are
    /// called.
    pub entry: Option<Values>,
    pub results: Vec<Term>,
}

impl<'a> Check<'a> {
    pub fn new(program: &'a Program) -> Self {
        Self {
            program,
            effects: ModRef::new(program),
            terms: Terms::new(),
            solver: BitBlaster::new(),
            asked: 0,
            variables: FxHashMap::default(),
        }
    }

    pub fn value(&mut self, values: &Values, variable: Var) -> Term {
        Reading { values, program: self.program }.held(&mut self.terms, variable)
    }

    /// The low bits of a value, as a number.
    fn low(&mut self, value: Term, bits: u32) -> Term {
        let value = if self.terms.sort(value) == Sort::Bool { self.terms.bit_of(value) } else { value };
        if self.terms.width(value) > bits { self.terms.extract(value, 0, bits) } else { value }
    }

    fn place(&mut self, place: Place, now: &mut Values, other: Option<&Obligation>) -> Option<Term> {
        match place {
            Place::Now(variable) => Some(self.value(now, variable)),
            Place::Entry(variable) => match other.and_then(|other| other.entry.as_ref()) {
                Some(entry) => Some(self.value(entry, variable)),
                None => Some(self.value(&Values::entry(now.procedure), variable)),
            },
            Place::Result(number) => other?.results.get(number as usize).copied(),
        }
    }

    /// A claim as a formula; true if it speaks of what is not there.
    fn formula(&mut self, claim: &Claim, now: &mut Values, other: Option<&Obligation>) -> Term {
        self.try_formula(claim, now, other).unwrap_or(Terms::TRUE)
    }

    pub fn try_formula(
        &mut self,
        claim: &Claim,
        now: &mut Values,
        other: Option<&Obligation>,
    ) -> Option<Term> {
        match claim {
            Claim::Equation(equation) => {
                let bits = equation.bits;
                let mut sum = self.terms.bits(mask(equation.constant as u64, bits), bits);
                for (place, factor) in &equation.terms {
                    let value = self.place(*place, now, other)?;
                    let value = self.low(value, bits);
                    if self.terms.width(value) != bits {
                        return None;
                    }
                    let factor = self.terms.bits(mask(*factor as u64, bits), bits);
                    let product = self.terms.mul(factor, value);
                    sum = self.terms.add(sum, product);
                }
                let zero = self.terms.bits(0, bits);
                Some(self.terms.eq(sum, zero))
            }
            Claim::OneOf { place, constant, entry } => {
                let value = self.place(*place, now, other)?;
                let value = self.low(value, 64);
                let width = self.terms.width(value);
                let mut any = Terms::FALSE;
                if let Some(constant) = constant {
                    let constant = self.terms.bits(mask(*constant, width), width);
                    any = self.terms.eq(value, constant);
                }
                for variable in entry {
                    let source = self.place(Place::Entry(*variable), now, other)?;
                    let source = self.low(source, 64);
                    // Values are read as unsigned, whatever their width.
                    let wide = self.terms.width(source).max(width);
                    let (a, b) = (self.terms.zero_extend(value, wide), self.terms.zero_extend(source, wide));
                    let same = self.terms.eq(a, b);
                    any = self.terms.or(any, same);
                }
                Some(any)
            }
            Claim::Unreached => Some(Terms::FALSE),
            Claim::Range { place, range } => {
                let value = self.place(*place, now, other)?;
                let value = self.low(value, 64);
                let width = self.terms.width(value);
                let (low, high) = range.unsigned_bounds();
                let (least, most) = range.signed_bounds();
                let mut all = Terms::TRUE;
                let bounds = [(low, high, false), (least as u64, most as u64, true)];
                for (low, high, signed) in bounds {
                    let low = self.terms.bits(mask(low, width), width);
                    let high = self.terms.bits(mask(high, width), width);
                    let (below, above) = if signed {
                        (self.terms.slt(value, low), self.terms.slt(high, value))
                    } else {
                        (self.terms.ult(value, low), self.terms.ult(high, value))
                    };
                    let outside = self.terms.or(below, above);
                    let inside = self.terms.not(outside);
                    all = self.terms.and(all, inside);
                }
                Some(all)
            }
        }
    }

    pub fn all(&mut self, claims: &[Claim], now: &mut Values, other: Option<&Obligation>) -> Vec<Term> {
        claims.iter().map(|claim| self.formula(claim, now, other)).collect()
    }

    /// The claims at the entry of a procedure, of the values at entry.
    pub fn at_entry(&mut self, claims: &[Claim], procedure: ProcedureId) -> Vec<Term> {
        let mut entry = Values::entry(procedure);
        self.all(claims, &mut entry, None)
    }

    /// Whether premises give a goal: first those that it has to do with, then all of them.
    pub fn follows(&mut self, premises: &[Term], goal: Term, patience: Duration) -> bool {
        if goal == Terms::TRUE || premises.contains(&goal) {
            return true;
        }
        let near = self.connected(premises, goal);
        let is_part = near.len() < premises.len() && goal != Terms::FALSE;
        is_part && self.refutes(near, goal, patience) || self.refutes(premises.to_vec(), goal, patience)
    }

    /// Whether premises and the negation of a goal contradict each other.
    fn refutes(&mut self, mut premises: Vec<Term>, goal: Term, patience: Duration) -> bool {
        let broken = self.terms.not(goal);
        premises.retain(|term| *term != Terms::TRUE);
        premises.push(broken);
        let budget = Budget::time(patience);
        // What earlier questions left behind would be looked at again and again.
        self.asked += 1;
        if self.asked % QUESTIONS == 0 {
            self.solver = BitBlaster::new();
        }
        let outcome = check_by_cases(&mut self.solver, &mut self.terms, &[], &premises, &budget);
        matches!(outcome, Outcome::Unsat(_))
    }

    /// The premises that share variables with a goal, or with others that do.
    fn connected(&mut self, premises: &[Term], goal: Term) -> Vec<Term> {
        for term in premises.iter().chain([&goal]) {
            if !self.variables.contains_key(term) {
                self.variables.insert(*term, self.terms.variables(*term));
            }
        }
        let mut reached: FxHashSet<Term> = self.variables[&goal].iter().copied().collect();
        let mut taken = vec![false; premises.len()];
        loop {
            let mut grew = false;
            for (premise, taken) in premises.iter().zip(&mut taken).filter(|(_, taken)| !**taken) {
                let variables = &self.variables[premise];
                if variables.iter().any(|variable| reached.contains(variable)) {
                    reached.extend(variables);
                    *taken = true;
                    grew = true;
                }
            }
            if !grew {
                break;
            }
        }
        premises.iter().zip(taken).filter(|(_, taken)| *taken).map(|(premise, _)| *premise).collect()
    }
}

fn mask(value: u64, bits: u32) -> u64 {
    value & (u64::MAX >> (64 - bits))
}
