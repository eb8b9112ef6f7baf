//! The values of one variable with few values, along all valid paths, whatever the rest of the data
//! is.
//!
//! [Lal09] §2.4.3 runs a property automaton in a product with the program. Here the automaton is a
//! global variable of the program, and the product ignores all other data: a condition that does not
//! follow from the value of the variable may hold or not. The facts are pairs of the value at the
//! entry of a procedure and the value at a location, so that a call returns to its caller only
//! (tabulation; the transformers are distributive, and the result is the join over all valid paths).
//! **Divergence:** the automaton's step is an edge of its own, so the last location of a run is read.
//! **Cost:** edges times the square of the number of values.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use wherefore_program::{Expr, ExprKind, LocationId, Node, Operation, ProcedureId, Program, Var, When};

use crate::expression::{Known, range_of};
use crate::range::Range;

/// At most so many values are followed.
const MOST_VALUES: u64 = 64;

/// The values of a variable at all locations.
#[derive(Clone, Debug)]
pub struct States {
    at: FxHashMap<Node, u64>,
}

/// A value at the entry of a procedure, a location, and a value there.
type Fact = (ProcedureId, u8, LocationId, u8);

/// A procedure that waits for another one, the value that it was entered with, and where it goes on.
type Waiting = (ProcedureId, u8, LocationId);

/// The variable has one value, of the others nothing is known.
struct Only<'p> {
    program: &'p Program,
    variable: Var,
    value: u8,
}

impl Known for Only<'_> {
    fn of(&self, variable: Var) -> Option<Range> {
        let Var::Global(at) = variable else { return None };
        let ty = self.program.globals[at as usize].ty.element();
        (variable == self.variable).then(|| Range::constant(u64::from(self.value), ty))
    }
}

impl States {
    /// Follows a global variable; none if it has no initial value, may get values that are not small
    /// constants, or if there are threads.
    pub fn new(program: &Program, variable: Var) -> Option<Self> {
        let Var::Global(at) = variable else { return None };
        let initial = program.globals.get(at as usize)?.initial.filter(|value| *value < MOST_VALUES)?;
        if program.uses_threads().is_some() {
            return None;
        }
        let mut search = Search { program, variable, seen: FxHashSet::default(), open: Vec::new() };
        let entry = program.procedure(program.entry).entry;
        search.reach((program.entry, initial as u8, entry, initial as u8));
        // Who waits for a procedure that was entered with a value, and with which values it returned.
        let mut waiting: BTreeMap<(ProcedureId, u8), Vec<Waiting>> = BTreeMap::new();
        let mut returned: BTreeMap<(ProcedureId, u8), Vec<u8>> = BTreeMap::new();
        while let Some((procedure, entered, location, value)) = search.open.pop() {
            let body = program.procedure(procedure);
            for (_, edge) in body.edges_from(location) {
                match &edge.operation {
                    Operation::Call(call) => {
                        if call.results.iter().flatten().any(|target| target.variable == variable) {
                            return None;
                        }
                        let callee = (call.callee, value);
                        waiting.entry(callee).or_default().push((procedure, entered, edge.to));
                        for back in returned.get(&callee).cloned().unwrap_or_default() {
                            search.reach((procedure, entered, edge.to, back));
                        }
                        search.reach((call.callee, value, program.procedure(call.callee).entry, value));
                    }
                    Operation::Return(_) => {
                        let done = returned.entry((procedure, entered)).or_default();
                        if !done.contains(&value) {
                            done.push(value);
                            for (caller, first, to) in
                                waiting.get(&(procedure, entered)).cloned().unwrap_or_default()
                            {
                                search.reach((caller, first, to, value));
                            }
                        }
                    }
                    operation => {
                        for next in search.after(operation, value)? {
                            search.reach((procedure, entered, edge.to, next));
                        }
                    }
                }
            }
        }
        let mut at: FxHashMap<Node, u64> = FxHashMap::default();
        for (procedure, _, location, value) in search.seen {
            *at.entry(Node { procedure, location }).or_default() |= 1 << value;
        }
        Some(Self { at })
    }

    /// Whether no path comes to a location.
    pub fn is_unreachable(&self, node: Node) -> bool {
        !self.at.contains_key(&node)
    }

    /// The values at a location.
    pub fn values(&self, node: Node) -> impl Iterator<Item = u64> {
        let set = self.at.get(&node).copied().unwrap_or(0);
        (0..MOST_VALUES).filter(move |value| set >> value & 1 == 1)
    }
}

struct Search<'p> {
    program: &'p Program,
    variable: Var,
    seen: FxHashSet<Fact>,
    open: Vec<Fact>,
}

impl Search<'_> {
    fn reach(&mut self, fact: Fact) {
        if self.seen.insert(fact) {
            self.open.push(fact);
        }
    }

    /// The values after a step; none if they are not known to be few.
    fn after(&self, operation: &Operation, value: u8) -> Option<Vec<u8>> {
        let known = Only { program: self.program, variable: self.variable, value };
        match operation {
            Operation::Assume(condition) => {
                let holds = range_of(condition, &known).as_constant() != Some(0);
                Some(if holds { vec![value] } else { Vec::new() })
            }
            Operation::Assign(assignment) => {
                let written = assignment.targets.iter().zip(&assignment.values);
                let mut written = written.filter(|(target, _)| target.variable == self.variable);
                let Some((_, new)) = written.next() else { return Some(vec![value]) };
                let mut found = Vec::new();
                outcomes(new, &known, &mut found)?;
                assignment.constraint.is_none().then_some(found)
            }
            Operation::Havoc(targets) => {
                let is_kept = targets.iter().all(|target| target.variable != self.variable);
                is_kept.then(|| vec![value])
            }
            Operation::Skip => Some(vec![value]),
            _ => None,
        }
    }
}

/// The values that an expression can have; none if they are not known to be few.
fn outcomes(expr: &Expr, known: &Only<'_>, found: &mut Vec<u8>) -> Option<()> {
    match &expr.kind {
        ExprKind::Constant(value) if *value < MOST_VALUES => found.push(*value as u8),
        ExprKind::Read { variable, when: When::Now, .. } if *variable == known.variable => {
            found.push(known.value);
        }
        ExprKind::IfThenElse(condition, then, otherwise) => {
            let holds = range_of(condition, known).as_constant();
            if holds != Some(0) {
                outcomes(then, known, found)?;
            }
            if holds.is_none_or(|holds| holds == 0) {
                outcomes(otherwise, known, found)?;
            }
        }
        _ => return None,
    }
    found.sort_unstable();
    found.dedup();
    Some(())
}
