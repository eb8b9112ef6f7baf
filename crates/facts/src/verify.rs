//! Whether what the domains claim holds, checked by code that shares nothing with them.
//!
//! Claims at a location speak of the values there and at the entry of the procedure. They hold
//! whenever a run is there if they are *inductive*: true where the program starts; kept by each
//! edge; true of a callee's start wherever it is called; and, where it returns, what the caller knew
//! before and what is claimed of the callee's values at entry and return give what is claimed behind
//! the call. Each is one implication, in the wrapping arithmetic of the machine, decided by the
//! solver; what edges mean is said by `meaning.rs` of `wherefore-check`, which checks proofs.
//!
//! A claim that one of its implications does not give is dropped, and what rested on it is looked at
//! again: the claims that remain are the largest inductive part of them, as far as the solver can
//! tell.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};
use wherefore_check::meaning::{Held, Here, Meaning, type_sort};
use wherefore_program::{
    Call, Edge, EdgeId, LocationId, ModRef, Node, Operation, ProcedureId, Program, Var,
};
use wherefore_smt::{BitBlaster, Budget, Outcome, Sort, Term, Terms, check_by_cases};

use crate::analysed::Analysed;
use crate::claim::{Claim, Place};

/// One implication may take so long.
const PATIENCE: Duration = Duration::from_millis(300);

/// A solver is asked so many questions, then there is a new one.
const QUESTIONS: usize = 24;

/// The claims that were confirmed.
pub struct Verified<'a> {
    check: RefCell<Check<'a>>,
    at: BTreeMap<Node, Vec<Claim>>,
    /// Whether the check came to its end; else nothing is confirmed.
    pub is_complete: bool,
    /// How many claims were looked at, and how many of them dropped.
    pub counts: (usize, usize),
}

impl Verified<'_> {
    /// Whether a claim at a location is one of those that were confirmed, or follows from them.
    pub fn confirms(&self, node: Node, claim: &Claim) -> bool {
        if !self.is_complete {
            return false;
        }
        let known = self.at.get(&node).map_or(&[][..], Vec::as_slice);
        if known.contains(claim) {
            return true;
        }
        let check = &mut *self.check.borrow_mut();
        let program = check.program;
        let mut now = Values::now(node.procedure);
        let mut premises = check.all(known, &mut now, None);
        let entry = Node { procedure: node.procedure, location: program.procedure(node.procedure).entry };
        let first = self.at.get(&entry).map_or(&[][..], Vec::as_slice);
        premises.extend(check.at_entry(first, node.procedure));
        match check.try_formula(claim, &mut now, None) {
            Some(goal) => check.follows(&premises, goal, PATIENCE),
            None => false,
        }
    }
}

/// Checks what analyses of one program claim at all its locations.
pub fn verify<'a>(program: &'a Program, analyses: &[Analysed<'a>], limit: Duration) -> Verified<'a> {
    let deadline = Instant::now() + limit;
    let mut claims = Claims { at: BTreeMap::new(), through: BTreeMap::new() };
    for node in program.nodes() {
        let mut here = Vec::new();
        for analysis in analyses {
            match analysis.claims(node, None, &|_| true) {
                Some(claims) => {
                    here.extend(claims);
                    here.extend(analysis.since_entry(node));
                }
                None => here.push(Claim::Unreached),
            }
        }
        claims.at.insert(node, here);
    }
    for (procedure, _) in program.procedures() {
        let through = analyses.iter().flat_map(|analysis| analysis.through(procedure));
        claims.through.insert(procedure, through.collect());
    }
    let count = claims.count();
    let mut check = Check::new(program);
    let is_complete = check.reduce(&mut claims, deadline);
    let counts = (count, count - claims.count());
    Verified { check: RefCell::new(check), at: claims.at, is_complete, counts }
}

/// What is claimed.
struct Claims {
    at: BTreeMap<Node, Vec<Claim>>,
    through: BTreeMap<ProcedureId, Vec<Claim>>,
}

impl Claims {
    fn count(&self) -> usize {
        self.at.values().chain(self.through.values()).map(Vec::len).sum()
    }
}

/// The values of the variables that a procedure sees.
struct Values {
    procedure: ProcedureId,
    prefix: &'static str,
    /// Those that differ from what they are called.
    changed: FxHashMap<Var, Term>,
}

impl Values {
    fn now(procedure: ProcedureId) -> Self {
        Self { procedure, prefix: "now", changed: FxHashMap::default() }
    }

    fn entry(procedure: ProcedureId) -> Self {
        Self { procedure, prefix: "entry", changed: FxHashMap::default() }
    }
}

/// The term that stands for a variable.
fn named(terms: &mut Terms, program: &Program, at: (ProcedureId, &str), variable: Var) -> Term {
    let sort = type_sort(&program.variable(at.0, variable).ty);
    let name = match variable {
        Var::Global(i) => format!("{} global {i}", at.1),
        Var::Local(i) => format!("{} local {i} of {}", at.1, at.0.0),
    };
    terms.variable(&name, sort)
}

struct Reading<'v, 'a> {
    values: &'v Values,
    program: &'a Program,
}

impl Held for Reading<'_, '_> {
    fn held(&mut self, terms: &mut Terms, variable: Var) -> Term {
        match self.values.changed.get(&variable) {
            Some(term) => *term,
            None => named(terms, self.program, (self.values.procedure, self.values.prefix), variable),
        }
    }
}

struct Check<'a> {
    program: &'a Program,
    effects: ModRef,
    terms: Terms,
    solver: BitBlaster,
    /// How many questions it was asked.
    asked: usize,
    /// The variables of formulas.
    variables: FxHashMap<Term, Vec<Term>>,
}

/// What must be shown: that premises give each claim of a target, in some values.
struct Obligation {
    premises: Vec<Term>,
    values: Values,
    /// The values at entry of the procedure that the claims speak of; by default as they are called.
    entry: Option<Values>,
    results: Vec<Term>,
}

impl<'a> Check<'a> {
    fn new(program: &'a Program) -> Self {
        Self {
            program,
            effects: ModRef::new(program),
            terms: Terms::new(),
            solver: BitBlaster::new(),
            asked: 0,
            variables: FxHashMap::default(),
        }
    }

    fn value(&mut self, values: &Values, variable: Var) -> Term {
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

    fn try_formula(&mut self, claim: &Claim, now: &mut Values, other: Option<&Obligation>) -> Option<Term> {
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

    fn all(&mut self, claims: &[Claim], now: &mut Values, other: Option<&Obligation>) -> Vec<Term> {
        claims.iter().map(|claim| self.formula(claim, now, other)).collect()
    }

    /// The claims at the entry of a procedure, of the values at entry.
    fn at_entry(&mut self, claims: &[Claim], procedure: ProcedureId) -> Vec<Term> {
        let mut entry = Values::entry(procedure);
        self.all(claims, &mut entry, None)
    }

    /// Whether premises give a goal: first those that it has to do with, then all of them.
    fn follows(&mut self, premises: &[Term], goal: Term, patience: Duration) -> bool {
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

    /// Drops claims until all that are left are inductive; false if the time is over.
    fn reduce(&mut self, claims: &mut Claims, deadline: Instant) -> bool {
        let program = self.program;
        let start = Node { procedure: program.entry, location: program.procedure(program.entry).entry };
        let obligation = self.at_start();
        self.filter(claims, Target::At(start), &obligation);
        let mut work: BTreeSet<(ProcedureId, EdgeId)> = BTreeSet::new();
        for (procedure, body) in program.procedures() {
            work.extend(body.edges().map(|(edge, _)| (procedure, edge)));
        }
        while let Some((procedure, edge)) = work.pop_first() {
            if Instant::now() >= deadline {
                return false;
            }
            let body = program.procedure(procedure).edge(edge);
            for (target, obligation) in self.obligations(claims, procedure, body) {
                if !self.filter(claims, target, &obligation) {
                    continue;
                }
                match target {
                    Target::At(node) => {
                        let from = program.procedure(node.procedure).edges_from(node.location);
                        work.extend(from.map(|(edge, _)| (node.procedure, edge)));
                        // What holds at the entry is a premise everywhere.
                        if node.location == program.procedure(node.procedure).entry {
                            let all = program.procedure(node.procedure).edges();
                            work.extend(all.map(|(edge, _)| (node.procedure, edge)));
                        }
                    }
                    Target::Through(callee) => {
                        for (caller, body) in program.procedures() {
                            let calls = body.edges().filter(|(_, edge)| {
                                matches!(&edge.operation, Operation::Call(call) if call.callee == callee)
                            });
                            work.extend(calls.map(|(edge, _)| (caller, edge)));
                        }
                    }
                }
            }
        }
        true
    }

    /// Drops the claims of a target that an obligation does not give; says whether there were some.
    fn filter(&mut self, claims: &mut Claims, target: Target, obligation: &Obligation) -> bool {
        let list = match target {
            Target::At(node) => claims.at.get(&node),
            Target::Through(procedure) => claims.through.get(&procedure),
        };
        let list = list.cloned().unwrap_or_default();
        let mut now = Values { changed: obligation.values.changed.clone(), ..obligation.values };
        let mut kept = Vec::with_capacity(list.len());
        let count = list.len();
        for claim in list {
            let goal = self.try_formula(&claim, &mut now, Some(obligation));
            if goal.is_some_and(|goal| self.follows(&obligation.premises, goal, PATIENCE)) {
                kept.push(claim);
            }
        }
        let dropped = kept.len() < count;
        match target {
            Target::At(node) => claims.at.insert(node, kept),
            Target::Through(procedure) => claims.through.insert(procedure, kept),
        };
        dropped
    }

    /// The state in which the program starts.
    fn at_start(&mut self) -> Obligation {
        let procedure = self.program.entry;
        let body = self.program.procedure(procedure);
        let mut meaning = Meaning::new(&mut self.terms, self.program);
        let mut values = Values::now(procedure);
        let mut premises = Vec::new();
        for (i, variable) in self.program.globals.iter().enumerate() {
            let (value, fits) = meaning.initial(variable);
            values.changed.insert(Var::Global(i as u32), value);
            premises.push(fits);
        }
        for (i, variable) in body.variables.iter().enumerate() {
            let (value, fits) = if i < body.parameters {
                let any = wherefore_program::Variable { initial: None, ..variable.clone() };
                meaning.initial(&any)
            } else {
                meaning.initial(variable)
            };
            values.changed.insert(Var::Local(i as u32), value);
            premises.push(fits);
        }
        let entry = Values { changed: values.changed.clone(), ..Values::entry(procedure) };
        Obligation { premises, values, entry: Some(entry), results: Vec::new() }
    }

    /// What an edge demands.
    fn obligations(
        &mut self,
        claims: &Claims,
        procedure: ProcedureId,
        edge: &Edge,
    ) -> Vec<(Target, Obligation)> {
        let from = Node { procedure, location: edge.from };
        let entry = Node { procedure, location: self.program.procedure(procedure).entry };
        let mut now = Values::now(procedure);
        let mut premises = self.all(&claims.at[&from], &mut now, None);
        premises.extend(self.at_entry(&claims.at[&entry], procedure));
        let to = |location: LocationId| Target::At(Node { procedure, location });
        let mut reading = Reading { values: &now, program: self.program };
        let mut here = Here { procedure, values: &mut reading };
        let mut meaning = Meaning::new(&mut self.terms, self.program);
        let (changes, possible) = match &edge.operation {
            Operation::Assume(condition) => {
                let (holds, fits) = meaning.value(&mut here, condition);
                premises.push(holds);
                (Vec::new(), fits)
            }
            Operation::Assign(assignment) => meaning.assigned(&mut here, assignment),
            Operation::Havoc(targets) => meaning.havocked(&mut here, targets),
            Operation::Return(values) => {
                let mut results = Vec::new();
                for value in values {
                    let (value, fits) = meaning.value(&mut here, value);
                    results.push(value);
                    premises.push(fits);
                }
                let obligation = Obligation { premises, values: now, entry: None, results };
                return vec![(Target::Through(procedure), obligation)];
            }
            Operation::Call(call) => {
                return self.call_obligations(claims, (procedure, edge), call, premises);
            }
            _ => (Vec::new(), Terms::TRUE),
        };
        premises.push(possible);
        let values = Values { changed: changes.into_iter().collect(), ..now };
        vec![(to(edge.to), Obligation { premises, values, entry: None, results: Vec::new() })]
    }

    fn call_obligations(
        &mut self,
        claims: &Claims,
        (procedure, edge): (ProcedureId, &Edge),
        call: &Call,
        mut premises: Vec<Term>,
    ) -> Vec<(Target, Obligation)> {
        let program = self.program;
        let now = Values::now(procedure);
        let mut reading = Reading { values: &now, program };
        let mut here = Here { procedure, values: &mut reading };
        let entered = Meaning::new(&mut self.terms, program).entered(&mut here, call);
        premises.push(entered.possible);
        let caller = Values { changed: entered.changes.into_iter().collect(), ..now };
        // The callee starts: its values now are those at entry.
        let mut first = FxHashMap::default();
        for i in 0..program.globals.len() as u32 {
            first.insert(Var::Global(i), self.value(&caller, Var::Global(i)));
        }
        for (i, value) in entered.locals.iter().enumerate() {
            first.insert(Var::Local(i as u32), *value);
        }
        let start = Node { procedure: call.callee, location: program.procedure(call.callee).entry };
        let entering = Obligation {
            premises: premises.clone(),
            values: Values { changed: first.clone(), ..Values::now(call.callee) },
            entry: Some(Values { changed: first.clone(), ..Values::entry(call.callee) }),
            results: Vec::new(),
        };
        // The callee has returned: what it writes has any values that fit what is claimed of it.
        let writes = &self.effects.effects(call.callee).writes;
        let mut last = first.clone();
        let mut after = caller.changed.clone();
        for i in writes {
            let variable = Var::Global(*i);
            let value = named(&mut self.terms, program, (procedure, "returned"), variable);
            last.insert(variable, value);
            after.insert(variable, value);
        }
        let callee = program.procedure(call.callee);
        let results: Vec<Term> = callee.results.iter().enumerate().map(|(i, ty)| {
            let sort = type_sort(&wherefore_program::Type::Scalar(*ty));
            self.terms.variable(&format!("result {i} of {}", call.callee.0), sort)
        }).collect();
        let returned = Obligation {
            premises: Vec::new(),
            values: Values { changed: last, ..Values::now(call.callee) },
            entry: Some(Values { changed: first.clone(), ..Values::entry(call.callee) }),
            results: results.clone(),
        };
        let mut behind = premises;
        let mut then = Values { changed: returned.values.changed.clone(), ..Values::now(call.callee) };
        behind.extend(self.all(&claims.through[&call.callee], &mut then, Some(&returned)));
        // Results go where they belong.
        let state = Values { changed: after.clone(), ..Values::now(procedure) };
        let mut reading = Reading { values: &state, program };
        let mut here = Here { procedure, values: &mut reading };
        let mut meaning = Meaning::new(&mut self.terms, program);
        let (mut targets, mut values) = (Vec::new(), Vec::new());
        for (target, value) in call.results.iter().zip(results) {
            let Some(target) = target else { continue };
            if target.indices.iter().any(wherefore_program::Expr::has_choice) {
                let lost = named(meaning.terms, program, (procedure, "lost"), target.variable);
                after.insert(target.variable, lost);
            } else {
                let ty = program.variable(procedure, target.variable).ty.element();
                values.push(meaning.fitted(value, ty));
                targets.push(target.clone());
            }
        }
        let (changes, possible) = meaning.written(&mut here, &targets, &values);
        behind.push(possible);
        after.extend(changes);
        let resuming = Obligation {
            premises: behind,
            values: Values { changed: after, ..Values::now(procedure) },
            entry: None,
            results: Vec::new(),
        };
        let to = Node { procedure, location: edge.to };
        vec![(Target::At(start), entering), (Target::At(to), resuming)]
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    At(Node),
    Through(ProcedureId),
}

fn mask(value: u64, bits: u32) -> u64 {
    value & (u64::MAX >> (64 - bits))
}
