//! The proof of a safe program with calls, checked again.
//!
//! At each point of a procedure there is an invariant about its store now and at entry; at its
//! exit, the effect. They are a proof if the first invariant holds at the start; each is kept by
//! each edge; each return gives the effect; each call enters where the callee's first invariant
//! holds; what a caller knew before a call, and the effect, give its invariant behind the call; and
//! the invariant is false where the program fails. By induction over runs, invariants then hold
//! always. The meaning of edges is that of [`Proof`], not the engine's.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use wherefore_program::{EdgeRef, Operation, ProcedureId, Program, Target, Var};
use wherefore_smt::{Budget, Solver, Term, Terms};

use super::super::certificate::Checked;
use super::super::proof::{Proof, Scope};
use super::graph::{Graph, PointId};
use crate::symbolic::Machine;

/// Checks that formulas, one a point, are a proof.
pub(super) fn check(
    machine: &mut Machine<'_>,
    graph: &Graph,
    holds: &[Term],
    solver: &mut dyn Solver,
    budget: &Budget,
) -> Checked {
    if graph.errors.keys().any(|error| holds[*error] != Terms::FALSE) {
        return Checked::Broken;
    }
    let mut names: FxHashMap<u32, Term> = FxHashMap::default();
    let mut invariants = FxHashMap::default();
    for (procedure, frame) in &graph.names.frames {
        names.extend(graph.names.visible(*procedure).map(|named| (named.number, named.now)));
        for location in machine.flat.program.procedure(*procedure).location_ids() {
            let node = wherefore_program::Node { procedure: *procedure, location };
            if let Some(point) = graph.point(node) {
                invariants.insert(machine.flat.place(*frame, location), holds[point]);
            }
        }
    }
    let proof = Proof::new(&mut machine.terms, &machine.flat, names, invariants);
    let mut check = Check { proof, graph, holds, writes: writes(machine.flat.program) };
    match check.obligations() {
        Some(obligations) => check.proof.discharge(obligations, solver, budget),
        None => Checked::Broken,
    }
}

struct Check<'c, 'p, 'a> {
    proof: Proof<'p, 'a>,
    graph: &'c Graph,
    holds: &'c [Term],
    /// The globals that each procedure, or one that it calls, writes.
    writes: Vec<BTreeSet<u32>>,
}

impl Check<'_, '_, '_> {
    fn obligations(&mut self) -> Option<Vec<Term>> {
        let (graph, flat) = (self.graph, self.proof.flat);
        let program = flat.program;
        let mut obligations = vec![self.at_start()];
        for (point, at) in graph.points.iter().enumerate() {
            let (procedure, Some(location)) = (at.procedure, at.location) else { continue };
            let invariant = self.holds[point];
            if invariant == Terms::FALSE {
                continue;
            }
            let frame = graph.names.frames[&procedure];
            let scope = Scope { procedure, first: flat.frames[frame as usize].first };
            for (edge, way) in program.procedure(procedure).edges_from(location) {
                let edge = EdgeRef { procedure, edge };
                match &way.operation {
                    Operation::Call(_) => {
                        obligations.push(self.entering(point, scope, edge)?);
                        obligations.push(self.resuming(point, scope, edge)?);
                    }
                    Operation::Return(values) => {
                        let (values, possible) = self.proof.results(scope, values);
                        let names = graph.names.results[&procedure].iter().copied();
                        let results = names.zip(values).collect();
                        let effect = self.holds[graph.exits[&procedure]];
                        let terms = &mut *self.proof.meaning.terms;
                        let effect = terms.substitute(effect, &results);
                        let needed = terms.implies(possible, effect);
                        obligations.push(terms.implies(invariant, needed));
                    }
                    _ => {
                        let needed = self.proof.before_way(flat.edge_in(frame, edge)?)?;
                        obligations.push(self.proof.meaning.terms.implies(invariant, needed));
                    }
                }
            }
        }
        Some(obligations)
    }

    /// The first invariant, with the initial values as those now and at entry.
    fn at_start(&mut self) -> Term {
        let (graph, flat) = (self.graph, self.proof.flat);
        let entry = flat.program.entry;
        let first = flat.frames[graph.names.frames[&entry] as usize].first;
        let (mut values, possible) = self.proof.initial_values(first);
        for named in graph.names.visible(entry) {
            if let Some(value) = values.get(&named.now).copied() {
                values.insert(named.old, value);
            }
        }
        let terms = &mut *self.proof.meaning.terms;
        let needed = terms.substitute(self.holds[graph.start], &values);
        terms.implies(possible, needed)
    }

    /// The callee's first invariant holds when it is called.
    fn entering(&mut self, point: PointId, scope: Scope, edge: EdgeRef) -> Option<Term> {
        let (changes, given, possible) = self.called(scope, edge)?;
        let callee = self.callee(edge)?;
        let mut values: FxHashMap<Term, Term> = FxHashMap::default();
        for global in &self.graph.names.globals {
            let value = changes.get(&global.now).copied().unwrap_or(global.now);
            values.extend([(global.now, value), (global.old, value)]);
        }
        for (named, value) in self.graph.names.locals[&callee].iter().zip(given) {
            values.extend([(named.now, value), (named.old, value)]);
        }
        let terms = &mut *self.proof.meaning.terms;
        let needed = terms.substitute(self.holds[self.graph.entries[&callee]], &values);
        let needed = terms.implies(possible, needed);
        Some(terms.implies(self.holds[point], needed))
    }

    /// The invariant behind a call holds when it has returned.
    fn resuming(&mut self, point: PointId, scope: Scope, edge: EdgeRef) -> Option<Term> {
        let graph = self.graph;
        let program = self.proof.flat.program;
        let Operation::Call(call) = &program.edge(edge).operation else { return None };
        let behind = graph
            .point(wherefore_program::Node { procedure: edge.procedure, location: program.edge(edge).to })?;
        let (changes, given, possible) = self.called(scope, edge)?;
        // The callee's names at entry have the values of the call; its results, and what it writes,
        // any.
        let mut at_exit: FxHashMap<Term, Term> = FxHashMap::default();
        let mut left: FxHashMap<Term, Term> = changes.clone();
        for global in &graph.names.globals {
            let value = changes.get(&global.now).copied().unwrap_or(global.now);
            at_exit.insert(global.old, value);
            if self.writes[call.callee.0 as usize].contains(&global.number) {
                let sort = self.proof.meaning.terms.sort(global.now);
                left.insert(global.now, self.proof.meaning.unknown(sort));
            }
            at_exit.insert(global.now, left.get(&global.now).copied().unwrap_or(global.now));
        }
        for (named, value) in graph.names.locals[&call.callee].iter().zip(given) {
            at_exit.insert(named.old, value);
        }
        let mut results = Vec::new();
        for result in &graph.names.results[&call.callee] {
            let sort = self.proof.meaning.terms.sort(*result);
            let value = self.proof.meaning.unknown(sort);
            at_exit.insert(*result, value);
            results.push(value);
        }
        // The results are written into the store of the caller, with what the callee left.
        let needed = self.proof.before_results(scope, call, &results, self.holds[behind]);
        let terms = &mut *self.proof.meaning.terms;
        let needed = terms.substitute(needed, &left);
        let effect = terms.substitute(self.holds[graph.exits[&call.callee]], &at_exit);
        let known = terms.all(&[self.holds[point], possible, effect]);
        Some(terms.implies(known, needed))
    }

    fn callee(&self, edge: EdgeRef) -> Option<ProcedureId> {
        match &self.proof.flat.program.edge(edge).operation {
            Operation::Call(call) => Some(call.callee),
            _ => None,
        }
    }

    fn called(&mut self, scope: Scope, edge: EdgeRef) -> Option<(FxHashMap<Term, Term>, Vec<Term>, Term)> {
        match &self.proof.flat.program.edge(edge).operation {
            Operation::Call(call) => Some(self.proof.called(scope, call)),
            _ => None,
        }
    }
}

/// Which globals each procedure may change: found anew, so that an error of the engine's analysis
/// shows.
fn writes(program: &Program) -> Vec<BTreeSet<u32>> {
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
                    _ => {}
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
    use wherefore_pushdown::Limits;
    use wherefore_smt::BitBlaster;

    use super::super::{Outcome, Refinement};
    use super::*;
    use crate::prover::Prover;

    /// A proof is accepted; with one formula of it lost or made up, it is not.
    #[test]
    fn a_proof_with_one_formula_changed_is_refused() {
        let text = "decl g;\nbool same(a) begin\n  decl r;\n  if (*) then return a; fi;\n  g := !g;\n  r := same(a);\n  g := !g;\n  return r;\nend\n\
            void main() begin\n  decl x, y;\n  g := x;\n  y := same(x);\n  assert(x = y);\n  assert(g = x);\nend\n";
        let program = wherefore_frontend::boolean::parse("same.bp", text, None).unwrap();
        let targets = program.targets(&TargetChoice::Default).unwrap();
        let mut refinement = Refinement::new(&program, &targets, Budget::default(), &Prover::default());
        let outcome = refinement.run(&Limits::default(), &mut |_| {});
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
