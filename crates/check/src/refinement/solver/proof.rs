//! The proof of a safe program with calls, checked again.
//!
//! At each point of a procedure there is an invariant about its store now and at entry; at its
//! exit, the effect. They are a proof if the first invariant holds at the start; each is kept by
//! each edge; each return gives the effect; each call enters where the callee's first invariant
//! holds; what a caller knew before a call, and the effect, give its invariant behind the call; and
//! the invariant is false where the program fails. By induction over runs, invariants then hold
//! always. The meaning of edges is that of [`Preconditions`], not the engine's.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use wherefore_program::{EdgeRef, Operation, ProcedureId, Program, Target, Var};
use wherefore_pushdown::StopReason;
use wherefore_smt::{Budget, Outcome, Reason, Solver, Term, Terms, check_by_cases};

use super::graph::{Graph, PointId};
use super::preconditions::{Preconditions, Scope};
use crate::symbolic::{Machine, PlaceId};

/// What the check of a proof found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Checked {
    /// It is a proof.
    Proof,
    /// It is not inductive.
    Broken,
    /// The solver does not know.
    Unknown(Reason),
}

impl Checked {
    /// Why a proof does not count, if it does not, in words and as what it stopped.
    pub fn refusal(self) -> Option<(String, StopReason)> {
        let (why, stop) = match self {
            Self::Proof => return None,
            Self::Unknown(reason) => {
                (format!("its check was not decided: {}", reason.why()), super::stop(&reason))
            }
            Self::Broken => ("it is not inductive, which is an error of ours".to_owned(), StopReason::Steps),
        };
        Some((format!("a proof was found, but {why}"), stop))
    }
}

/// Whether all formulas always hold.
pub(crate) fn discharge(
    terms: &mut Terms,
    obligations: Vec<Term>,
    solver: &mut dyn Solver,
    budget: &Budget,
) -> Checked {
    for obligation in obligations {
        let broken = terms.not(obligation);
        match check_by_cases(solver, terms, &[], &[broken], budget) {
            Outcome::Unsat(_) => {}
            Outcome::Sat(_) => return Checked::Broken,
            Outcome::Unknown(reason) => return Checked::Unknown(reason),
        }
    }
    Checked::Proof
}

/// Checks that formulas, one a point, are a proof.
pub(crate) fn check(
    machine: &mut Machine<'_>,
    graph: &Graph,
    holds: &[Term],
    solver: &mut dyn Solver,
    budget: &Budget,
) -> Checked {
    if graph.errors.keys().any(|error| holds[*error] != Terms::FALSE) {
        return Checked::Broken;
    }
    inductive(machine, graph, holds, solver, budget)
}

/// Checks that formulas, one a point, always hold.
pub(crate) fn inductive(
    machine: &mut Machine<'_>,
    graph: &Graph,
    holds: &[Term],
    solver: &mut dyn Solver,
    budget: &Budget,
) -> Checked {
    let scopes = graph.names.scopes.values();
    let names = scopes.flat_map(|scope| scope.all().map(|named| (named.number, named.now))).collect();
    let points = graph.points.iter().zip(holds);
    let invariants = points.filter_map(|(point, holds)| Some((point.place?, *holds))).collect();
    let writes = writes(machine.flat.program);
    let before = Preconditions::new(&mut machine.terms, &machine.flat, names, invariants);
    let mut check = Check { before, graph, holds, writes };
    match check.obligations() {
        Some(obligations) => discharge(&mut machine.terms, obligations, solver, budget),
        None => Checked::Broken,
    }
}

struct Check<'c, 'p, 'a> {
    before: Preconditions<'p, 'a>,
    graph: &'c Graph,
    holds: &'c [Term],
    /// The globals that each procedure, or one that it calls, writes.
    writes: Vec<BTreeSet<u32>>,
}

impl Check<'_, '_, '_> {
    fn obligations(&mut self) -> Option<Vec<Term>> {
        let (graph, flat) = (self.graph, self.before.flat);
        let mut obligations = vec![self.at_start()];
        for (point, at) in graph.points.iter().enumerate() {
            let Some(place) = at.place else { continue };
            let invariant = self.holds[point];
            if invariant == Terms::FALSE {
                continue;
            }
            let frame = flat.places[place as usize].frame;
            for edge in flat.out[place as usize].clone() {
                let needed = self.before.before_chain(edge)?;
                obligations.push(self.before.meaning.terms.implies(invariant, needed));
            }
            // What the graph has no edges for: calls with a summary, and returns from them.
            let scope = self.scope(frame);
            let body = flat.program.procedure(scope.procedure);
            for (edge, leaving) in body.edges_from(flat.places[place as usize].location) {
                let edge = EdgeRef { procedure: scope.procedure, edge };
                match &leaving.operation {
                    Operation::Call(_) if !flat.is_open(frame, edge) => {
                        obligations.push(self.entering(point, place, edge)?);
                        obligations.push(self.resuming(point, place, edge)?);
                    }
                    Operation::Return(values) if flat.frames[frame as usize].caller.is_none() => {
                        let (values, possible) = self.before.results(scope, values);
                        let names = graph.names.scopes[&at.procedure].results.iter().copied();
                        let results = names.zip(values).collect();
                        let effect = self.holds[graph.exits[&at.procedure]];
                        let terms = &mut *self.before.meaning.terms;
                        let effect = terms.substitute(effect, &results);
                        let needed = terms.implies(possible, effect);
                        obligations.push(terms.implies(invariant, needed));
                    }
                    // All others are edges of the graph.
                    _ => {}
                }
            }
        }
        Some(obligations)
    }

    /// Where expressions of a frame are read.
    fn scope(&self, frame: u32) -> Scope {
        let frame = &self.before.flat.frames[frame as usize];
        Scope { procedure: frame.procedure, first: frame.first }
    }

    /// The first invariant, with the initial values as those now and at entry.
    fn at_start(&mut self) -> Term {
        let (graph, flat) = (self.graph, self.before.flat);
        let scope = &graph.names.scopes[&flat.program.entry];
        let first = flat.frames[scope.frame() as usize].first;
        let (mut values, possible) = self.before.initial_values(first);
        for named in scope.at_entry() {
            if let Some(value) = values.get(&named.now).copied() {
                values.insert(named.old, value);
            }
        }
        let terms = &mut *self.before.meaning.terms;
        let needed = terms.substitute(self.holds[graph.start], &values);
        terms.implies(possible, needed)
    }

    /// The callee's first invariant holds when it is called.
    fn entering(&mut self, point: PointId, place: PlaceId, edge: EdgeRef) -> Option<Term> {
        let (changes, given, possible) = self.called(place, edge)?;
        let callee = self.callee(edge)?;
        let scope = &self.graph.names.scopes[&callee];
        let mut values: FxHashMap<Term, Term> = FxHashMap::default();
        for global in &scope.globals {
            let value = changes.get(&global.now).copied().unwrap_or(global.now);
            values.extend([(global.now, value), (global.old, value)]);
        }
        for (named, value) in scope.locals.iter().zip(given) {
            values.extend([(named.now, value), (named.old, value)]);
        }
        let terms = &mut *self.before.meaning.terms;
        let needed = terms.substitute(self.holds[self.graph.entries[&callee]], &values);
        let needed = terms.implies(possible, needed);
        Some(terms.implies(self.holds[point], needed))
    }

    /// The invariant behind a call holds when it has returned.
    fn resuming(&mut self, point: PointId, place: PlaceId, edge: EdgeRef) -> Option<Term> {
        let (graph, flat) = (self.graph, self.before.flat);
        let Operation::Call(call) = &flat.program.edge(edge).operation else { return None };
        let frame = flat.places[place as usize].frame;
        let behind = graph.point(flat.place(frame, flat.program.edge(edge).to))?;
        let (changes, given, possible) = self.called(place, edge)?;
        let callee = &graph.names.scopes[&call.callee];
        // The callee's names at entry have the values of the call; its results, and what it writes,
        // any.
        let mut at_exit: FxHashMap<Term, Term> = FxHashMap::default();
        let mut left: FxHashMap<Term, Term> = changes.clone();
        for global in &callee.globals {
            let value = changes.get(&global.now).copied().unwrap_or(global.now);
            at_exit.insert(global.old, value);
            if self.writes[call.callee.0 as usize].contains(&global.number) {
                let sort = self.before.meaning.terms.sort(global.now);
                left.insert(global.now, self.before.meaning.unknown(sort));
            }
            at_exit.insert(global.now, left.get(&global.now).copied().unwrap_or(global.now));
        }
        for (named, value) in callee.locals.iter().zip(given) {
            at_exit.insert(named.old, value);
        }
        let mut results = Vec::new();
        for result in &callee.results {
            let sort = self.before.meaning.terms.sort(*result);
            let value = self.before.meaning.unknown(sort);
            at_exit.insert(*result, value);
            results.push(value);
        }
        // The results are written into the store of the caller, with what the callee left.
        let needed = self.before.before_results(self.scope(frame), call, &results, self.holds[behind]);
        let terms = &mut *self.before.meaning.terms;
        let needed = terms.substitute(needed, &left);
        let effect = terms.substitute(self.holds[graph.exits[&call.callee]], &at_exit);
        let known = terms.all(&[self.holds[point], possible, effect]);
        Some(terms.implies(known, needed))
    }

    fn callee(&self, edge: EdgeRef) -> Option<ProcedureId> {
        match &self.before.flat.program.edge(edge).operation {
            Operation::Call(call) => Some(call.callee),
            _ => None,
        }
    }

    fn called(&mut self, place: PlaceId, edge: EdgeRef) -> Option<(FxHashMap<Term, Term>, Vec<Term>, Term)> {
        let scope = self.scope(self.before.flat.places[place as usize].frame);
        match &self.before.flat.program.edge(edge).operation {
            Operation::Call(call) => Some(self.before.called(scope, call)),
            _ => None,
        }
    }
}

/// Which globals each procedure may change: found anew, so that an error of the engine's analysis
/// shows.
pub(crate) fn writes(program: &Program) -> Vec<BTreeSet<u32>> {
    fn add<'t>(set: &mut BTreeSet<u32>, targets: impl IntoIterator<Item = &'t Target>) {
        set.extend(targets.into_iter().filter_map(|target| match target.variable {
            Var::Global(i) => Some(i),
            Var::Local(_) => None,
        }));
    }
    let mut writes = vec![BTreeSet::new(); program.procedures.len()];
    loop {
        let before: usize = writes.iter().map(BTreeSet::len).sum();
        for (i, procedure) in program.procedures.iter().enumerate() {
            for edge in &procedure.edges {
                match &edge.operation {
                    Operation::Assign(assignment) => add(&mut writes[i], &assignment.targets),
                    Operation::Havoc(targets) => add(&mut writes[i], targets),
                    Operation::Call(call) => {
                        add(&mut writes[i], &call.assignment.targets);
                        add(&mut writes[i], call.results.iter().flatten());
                        let callee = writes[call.callee.0 as usize].clone();
                        writes[i].extend(callee);
                    }
                    Operation::Assume(_)
                    | Operation::Return(_)
                    | Operation::Skip
                    | Operation::StartThread(_)
                    | Operation::EndThread
                    | Operation::AtomicBegin
                    | Operation::AtomicEnd
                    | Operation::Sync => {}
                }
            }
        }
        if writes.iter().map(BTreeSet::len).sum::<usize>() == before {
            return writes;
        }
    }
}

#[cfg(test)]
mod tests {
    use wherefore_program::TargetChoice;
    use wherefore_smt::BitBlaster;

    use super::super::{Calls, Outcome, Refinement};
    use super::*;
    use crate::prover::Prover;

    /// A proof is accepted; with one formula of it lost or made up, it is not.
    #[test]
    fn a_proof_with_one_formula_changed_is_refused() {
        let text = "decl g;\nbool same(a) begin\n  decl r;\n  if (*) then return a; fi;\n  g := !g;\n  r := same(a);\n  g := !g;\n  return r;\nend\n\
            void main() begin\n  decl x, y;\n  g := x;\n  y := same(x);\n  assert(x = y);\n  assert(g = x);\nend\n";
        let program = wherefore_frontend::boolean::parse("same.bp", text, None).unwrap();
        let targets = program.targets(&TargetChoice::Default).unwrap();
        let mut refinement = Refinement::new(
            &program,
            &targets,
            Calls::Summarised,
            &crate::Budget::default(),
            &Prover::default(),
        );
        let outcome = refinement.run(&mut |_| {});
        assert!(matches!(outcome, Outcome::Safe), "{outcome:?}");
        let Refinement { mut machine, graph, invariants, .. } = refinement;
        let mut verdict =
            |holds: &[Term]| check(&mut machine, &graph, holds, &mut BitBlaster::new(), &Budget::default());
        assert_eq!(verdict(&invariants), Checked::Proof);
        let mut changed = 0;
        for point in 0..invariants.len() {
            for formula in [Terms::TRUE, Terms::FALSE] {
                let mut mutant = invariants.clone();
                if mutant[point] == formula {
                    continue;
                }
                mutant[point] = formula;
                assert_eq!(verdict(&mutant), Checked::Broken, "{formula:?} at {:?}", graph.points[point]);
                changed += 1;
            }
        }
        assert!(changed > 10, "{changed}");
    }
}
