//! Whether what the domains claim holds, checked by code that shares nothing with them.
//!
//! Claims at a location speak of the values there and at the entry of the procedure. They hold
//! whenever a run is there if they are *inductive*: true where the program starts; kept by each
//! edge; true of a callee's start wherever it is called; and, where it returns, what the caller
//! knew before and what is claimed of the callee's values at entry and return give what is claimed
//! behind the call. Each is one implication, in the wrapping arithmetic of the machine, decided by
//! the solver; what edges mean is said by `meaning.rs` of `wherefore-check`, which checks proofs.
//!
//! A claim that one of its implications does not give is dropped, and what rested on it is looked
//! at again: the claims that remain are the largest inductive part of them, as far as the solver
//! can tell.

mod formulas;
mod obligations;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use wherefore_program::{EdgeId, Node, Operation, ProcedureId, Program};

use crate::analysed::Analysed;
use crate::claim::Claim;
use formulas::{Check, Obligation, Values};

/// One implication may take so long.
const PATIENCE: Duration = Duration::from_millis(300);

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

impl Check<'_> {
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
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    At(Node),
    Through(ProcedureId),
}
