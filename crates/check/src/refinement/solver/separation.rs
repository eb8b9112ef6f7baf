//! The proof of an error projection, checked again.
//!
//! At each point there is a formula for what is *reached*, and one for what of it is *leading* to
//! an error; both are about the store now and at the entry of the procedure, and the ones at an
//! exit are about returns. `reached` is inductive (`proof`). `leading` holds of what is reached at
//! errors; before a block, if it holds behind it; before a call, if it holds at the entry of the
//! callee or behind the call; and at the exit of a callee, if it holds behind a call of it. So a
//! failing run satisfies both everywhere: a point where they contradict each other is on no failing
//! run, and neither is a block that leads from what is reached to nothing that leads on.
//!
//! What the second part shares with the engine is the meaning of blocks and calls as terms, and the
//! solver.

use wherefore_smt::{BitBlaster, Budget, Term, Terms};

use super::abstraction::Element;
use super::block::Block;
use super::graph::Graph;
use super::proof::{Checked, discharge, inductive};
use crate::symbolic::Machine;

/// For each point, what is reached, and what of that leads to an error.
pub(super) struct Separation {
    pub reached: Vec<Term>,
    pub leading: Vec<Term>,
}

impl Separation {
    /// Checks that everything is outside that is not said to be inside.
    pub fn check(
        &self,
        machine: &mut Machine<'_>,
        graph: &Graph,
        is_inside: impl Fn(Element) -> bool,
        budget: &Budget,
    ) -> Checked {
        let mut solver = BitBlaster::new();
        let reached = graph.with_facts(machine, &self.reached);
        match inductive(machine, graph, &reached, &mut solver, budget) {
            Checked::Proof => {}
            other => return other,
        }
        let known = Self { reached, leading: self.leading.clone() };
        let obligations = known.obligations(&mut machine.terms, graph, is_inside);
        discharge(&mut machine.terms, obligations, &mut solver, budget)
    }

    fn obligations(
        &self,
        terms: &mut Terms,
        graph: &Graph,
        is_inside: impl Fn(Element) -> bool,
    ) -> Vec<Term> {
        let mut obligations = Vec::new();
        for error in graph.errors.keys() {
            obligations.push(terms.implies(self.reached[*error], self.leading[*error]));
        }
        for point in 0..graph.points.len() {
            if !graph.is_exit(point) && !is_inside(Element::Point(point)) {
                let both = terms.and(self.reached[point], self.leading[point]);
                obligations.push(terms.not(both));
            }
        }
        for (at, block) in graph.blocks.iter().enumerate() {
            let leads_on = self.leads_on(terms, block, self.leading[block.to]);
            let is_outside = !graph.is_exit(block.to) && !is_inside(Element::Block(at));
            let needed = if is_outside { Terms::FALSE } else { self.leading[block.from] };
            obligations.push(terms.implies(leads_on, needed));
        }
        for site in &graph.calls {
            let entered = self.leads_on(terms, &site.enter, self.leading[site.enter.to]);
            obligations.push(terms.implies(entered, self.leading[site.enter.from]));
            let exit = graph.exits[&site.callee];
            let effect = terms.substitute(self.reached[exit], &site.at_exit);
            let resumed = self.leads_on(terms, &site.resume, self.leading[site.resume.to]);
            let resumed = terms.and(effect, resumed);
            obligations.push(terms.implies(resumed, self.leading[site.resume.from]));
            let at_exit = terms.substitute(self.leading[exit], &site.at_exit);
            obligations.push(terms.implies(resumed, at_exit));
        }
        obligations
    }

    /// What is reached before a block, can run it, and has a formula behind it.
    fn leads_on(&self, terms: &mut Terms, block: &Block, after: Term) -> Term {
        let before = block.before(terms, after);
        let guard = terms.all(&block.guards);
        terms.all(&[self.reached[block.from], guard, before])
    }
}
