//! The proof of an error projection, checked again.
//!
//! At each point there is a formula for what is *reached*, one for what of it is *leading* to an
//! error, and one for what is *failing*: leading to an error before the procedure returns. They are
//! about the store now and at the entry of the procedure, and the ones at an exit are about
//! returns. `reached` is inductive (`proof`). `failing` holds of what is reached at errors; before
//! a block, if it holds behind it; before a call, if it holds at the entry of the callee or behind
//! the call. `leading` holds where `failing` does; before a block, if it holds behind it; before a
//! call, if it holds behind the call; and at the exit of a callee, if it holds behind a call of it.
//! By induction from the end of a failing run to its start, and along its open calls, such a run
//! satisfies `reached` and `leading` everywhere: a point where they contradict each other is on no
//! failing run, and neither is a block that leads from what is reached to nothing that leads on.
//!
//! What the second part shares with the engine is the meaning of blocks and calls as terms, and the
//! solver.

use wherefore_smt::{BitBlaster, Budget, Term, Terms};

use super::abstraction::Element;
use super::block::Block;
use super::graph::Graph;
use super::proof::{Checked, discharge, inductive};
use crate::symbolic::Machine;

/// For each point, what is reached, what of that leads to an error, and what does before the
/// procedure returns.
pub(super) struct Separation {
    pub reached: Vec<Term>,
    pub leading: Vec<Term>,
    pub failing: Vec<Term>,
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
        let known = Self { reached, leading: self.leading.clone(), failing: self.failing.clone() };
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
            obligations.push(terms.implies(self.reached[*error], self.failing[*error]));
        }
        for point in 0..graph.points.len() {
            let fails = terms.and(self.reached[point], self.failing[point]);
            obligations.push(terms.implies(fails, self.leading[point]));
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
            if !graph.is_exit(block.to) {
                let fails = self.leads_on(terms, block, self.failing[block.to]);
                obligations.push(terms.implies(fails, self.failing[block.from]));
            }
        }
        for site in &graph.calls {
            let entered = self.leads_on(terms, &site.enter, self.failing[site.enter.to]);
            obligations.push(terms.implies(entered, self.failing[site.enter.from]));
            let exit = graph.exits[&site.callee];
            let effect = terms.substitute(self.reached[exit], &site.at_exit);
            let fails = self.leads_on(terms, &site.resume, self.failing[site.resume.to]);
            let fails = terms.and(effect, fails);
            obligations.push(terms.implies(fails, self.failing[site.resume.from]));
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
