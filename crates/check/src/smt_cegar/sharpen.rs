//! Steps of an abstract run that no predicates but a coarse relation allows.
//!
//! The relation of a block is left open where too many truth values would have to be enumerated
//! (`abstraction`). Then a run may stay possible although all its interpolants are tracked. Such a
//! run has a step that the truth values at its two ends forbid: it is found by one question a
//! block, and taken out of the relation, together with all steps that are forbidden for the same
//! reason, the core. The idea is that of S. Das and D. Dill, *Successive Approximation of Abstract
//! Transition Relations*, LICS 2001: exact only where counterexamples ask for it.

use wherefore_domains::bdd::{BddRelations, Predicate};
use wherefore_smt::{BitBlaster, Budget, Outcome, Reason, Solver, Term, Terms, minimise_core};

use super::layers::Graph;
use super::{Abstract, Refinement};

/// A truth value before or after a block.
#[derive(Clone, Copy)]
struct Literal {
    bit: usize,
    after: bool,
    value: bool,
}

impl Refinement<'_> {
    /// Takes steps that cannot be made out of the relations, all that one abstract run along a path
    /// makes; whether there is one.
    pub(super) fn sharpen(&mut self, program: &Abstract, path: &[usize]) -> Result<bool, Reason> {
        let graph = Graph::new(program, self.blocks.places.len(), self.blocks.start);
        let Some(stores) = graph.stores_along(path) else { return Ok(false) };
        let initial = self.blocks.blocks.len();
        let steps = std::iter::once((initial, None, &stores[0])).chain(
            path.iter().zip(stores.windows(2)).map(|(block, ends)| (*block, Some(&ends[0]), &ends[1])),
        );
        let mut sharper = false;
        for (block, before, after) in steps {
            if let Some(forbidden) = self.forbidden(block, before, after)? {
                let step = cube(&program.bits, &forbidden);
                let allowed = program.bits.not(&step);
                self.allowed[block] = program.bits.and(&self.allowed[block], &allowed);
                sharper = true;
            }
        }
        Ok(sharper)
    }

    /// Truth values that keep a block from leading from one store to another, if some do.
    fn forbidden(
        &mut self,
        at: usize,
        before: Option<&Vec<bool>>,
        after: &[bool],
    ) -> Result<Option<Vec<Literal>>, Reason> {
        let block = self.blocks.blocks.get(at).unwrap_or(&self.initial);
        let terms = &mut self.machine.terms;
        let mut literals: Vec<(Term, Literal)> = Vec::new();
        for (formula, bit) in before.iter().flat_map(|_| &self.predicates[block.from]) {
            let value = before.is_some_and(|before| before[*bit]);
            literals.push((signed(terms, *formula, value), Literal { bit: *bit, after: false, value }));
        }
        for (formula, bit) in &self.predicates[block.to] {
            let (read, value) = (block.before(terms, *formula), after[*bit]);
            literals.push((signed(terms, read, value), Literal { bit: *bit, after: true, value }));
        }
        let conditions: Vec<Term> = literals.iter().map(|(term, _)| *term).collect();
        let guard = terms.all(&block.guards);
        let values = terms.all(&conditions);
        let mut solver = BitBlaster::new();
        match solver.check(terms, &[guard, values], &self.budget) {
            Outcome::Sat(_) => return Ok(None),
            Outcome::Unknown(reason) => return Err(reason),
            Outcome::Unsat(_) => {}
        }
        let few = Budget { conflicts: Some(1_000), ..self.budget.clone() };
        solver.assert(terms, guard);
        let core = match solver.check(terms, &conditions, &few) {
            Outcome::Unsat(core) => minimise_core(&mut solver, terms, &core, &few),
            _ => conditions,
        };
        let involved = literals.into_iter().filter(|(term, _)| core.contains(term));
        Ok(Some(involved.map(|(_, literal)| literal).collect()))
    }
}

fn signed(terms: &mut Terms, formula: Term, value: bool) -> Term {
    if value { formula } else { terms.not(formula) }
}

fn cube(d: &BddRelations, literals: &[Literal]) -> Predicate {
    literals.iter().fold(d.constant(true), |all, Literal { bit, after, value }| {
        let variable = if *after { d.next(*bit) } else { d.var(*bit) };
        d.and(&all, &if *value { variable } else { d.not(&variable) })
    })
}
