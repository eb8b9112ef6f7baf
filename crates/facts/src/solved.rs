//! Programs solved by post\*, and what is read off: at a location over all stacks, over the stacks
//! of a pattern (\[Lal09\] Thm. 3.3.2), and since the entry of the procedure.

use wherefore_program::{Node, ProcedureId, Program};
use wherefore_pushdown::{
    Automaton, Configuration, Contexts, Direction, Limits, Method, Options, Reading, StopReason, solve,
};

use crate::lower::{CONTROL, Layout, Lowering, Statements, returns};
use crate::slots::Slots;
use crate::stack::Stacks;

/// A program solved in a domain.
pub(crate) struct Solved<'a, D: Statements> {
    pub program: &'a Program,
    pub domain: D,
    pub slots: Slots,
    layout: Layout,
    automaton: Automaton<D::Weight>,
    contexts: Contexts<D::Weight>,
}

impl<'a, D: Statements> Solved<'a, D> {
    /// Solves a program. A search that was stopped says nothing.
    pub fn new(program: &'a Program, domain: D, slots: Slots, limits: &Limits) -> Result<Self, StopReason> {
        let layout = Layout::new(program);
        let lowering = Lowering { program, domain: &domain, slots: &slots, layout: &layout };
        let system = lowering.system();
        let start = Configuration { state: CONTROL, stack: vec![layout.start] };
        let seed = Automaton::of_configuration(&system, &start, Reading::Backward, &domain.one());
        let options = Options { limits: limits.clone(), ..Options::default() };
        let solved = solve(Direction::Post, &domain, &system, &seed, Method::Auto, &options);
        if !solved.stop.is_complete() {
            return Err(solved.stop);
        }
        let automaton = solved.automaton;
        let contexts = automaton.contexts(&domain);
        Ok(Self { program, domain, slots, layout, automaton, contexts })
    }

    /// The weight of all paths to a location, whatever the stack.
    pub fn at(&self, node: Node) -> D::Weight {
        self.contexts.of_top(&self.domain, &self.automaton, CONTROL, self.layout.of(node))
    }

    /// The weight of all paths to a location with some of the stacks.
    pub fn at_with(&self, node: Node, stacks: &Stacks) -> D::Weight {
        let symbols = self.automaton.symbol_count();
        let query = stacks.query(self.program, &self.layout, self.layout.of(node), symbols);
        self.automaton.summary(&self.domain, &query)
    }

    /// The weight of all paths to a location from where its procedure was entered; for the entry of
    /// the program, from its start.
    pub fn since_entry(&self, node: Node) -> D::Weight {
        let mut sum = self.domain.zero();
        for (_, weight) in self.automaton.transitions_on(CONTROL, self.layout.of(node)) {
            self.domain.join(&mut sum, weight);
        }
        sum
    }

    /// The weight of all paths through a procedure, its return included.
    pub fn through(&self, procedure: ProcedureId) -> D::Weight {
        let Self { program, domain, slots, layout, .. } = self;
        let lowering = Lowering { program, domain, slots, layout };
        let mut sum = self.domain.zero();
        for (_, edge) in returns(self.program, procedure) {
            let before = self.since_entry(Node { procedure, location: edge.from });
            self.domain.join(&mut sum, &self.domain.extend(&before, &lowering.step(procedure, edge)));
        }
        sum
    }
}
