//! Runs with values: from a sequence of rules to states of the interpreter.
//!
//! Going forward, the stores that are possible after each rule are computed; going backward from
//! one of the last, each rule gets one store that leads on to the next. A call that returns counts
//! as one step of its caller; its body is done afterwards in the same way, between the stores that
//! the caller has fixed. Each level of calls is done once, so the cost is linear in the length of
//! the run.

use wherefore_domains::bdd::Predicate;
use wherefore_program::{EdgeRef, Frame, Operation, Program, State, Step, Trace, Var};
use wherefore_pushdown::{Merge, Rhs, RuleId, Semiring, Symbol};

use super::{Encoding, Origin};

/// The values of all bits of a store.
type Store = Vec<bool>;

/// The run with values; `None` if decision diagrams ran out of memory.
pub(crate) fn trace(encoding: &Encoding, program: &Program, rules: &[RuleId]) -> Option<Trace> {
    let stores = Stores::find(encoding, rules)?;
    states(encoding, program, rules, &stores.before)
}

/// A stretch of rules on one level of the stack, and what is known of its ends: sets of stores,
/// over next values.
struct Level {
    first: usize,
    end: usize,
    start: Predicate,
    last: Predicate,
}

struct Stores<'a> {
    encoding: &'a Encoding,
    rules: &'a [RuleId],
    /// For a call that returns: the rule that returns from it.
    returns: Vec<Option<usize>>,
    /// For a call that returns: what it does to the caller's store.
    calls: Vec<Option<Predicate>>,
    /// The store before each rule, in the frame on top; and after the last one.
    before: Vec<Option<Store>>,
}

impl<'a> Stores<'a> {
    fn find(encoding: &'a Encoding, rules: &'a [RuleId]) -> Option<Self> {
        let count = rules.len();
        let mut stores = Self {
            encoding,
            rules,
            returns: vec![None; count],
            calls: vec![None; count],
            before: vec![None; count + 1],
        };
        stores.match_calls();
        let d = &encoding.domain;
        let whole = Level { first: 0, end: count, start: d.constant(true), last: d.constant(true) };
        let mut levels = vec![whole];
        while let Some(level) = levels.pop() {
            stores.fix(&level, &mut levels)?;
        }
        Some(stores)
    }

    /// Finds the returns of calls, and their effects.
    fn match_calls(&mut self) {
        let d = &self.encoding.domain;
        let mut open: Vec<(usize, Predicate)> = Vec::new();
        let mut weight = d.one();
        for (at, rule) in self.rules.iter().enumerate() {
            let own = self.encoding.system.weight(*rule);
            match self.encoding.system.rule(*rule).rhs {
                Rhs::Swap(_) => weight = d.extend(&weight, own),
                Rhs::Push(..) => open.push((at, std::mem::replace(&mut weight, d.one()))),
                Rhs::Pop => {
                    let callee = d.extend(&weight, own);
                    let Some((call, caller)) = open.pop() else { continue };
                    let Some(merge) = self.encoding.system.merge(self.rules[call]) else { continue };
                    let effect = merge.merge(d, &d.one(), &callee);
                    weight = d.extend(&caller, &effect);
                    self.returns[call] = Some(at);
                    self.calls[call] = Some(effect);
                }
            }
        }
    }

    /// The relation of the step at `at` on its level, and where the level goes on.
    fn step(&self, at: usize) -> (&Predicate, usize) {
        match (&self.calls[at], self.returns[at]) {
            (Some(effect), Some(end)) => (effect, end + 1),
            _ => (self.encoding.system.weight(self.rules[at]), at + 1),
        }
    }

    fn fix(&mut self, level: &Level, levels: &mut Vec<Level>) -> Option<()> {
        let encoding = self.encoding;
        let d = &encoding.domain;
        // Forward: the stores before each step.
        let mut possible: Vec<(usize, Predicate)> = vec![(level.first, level.start.clone())];
        let mut at = level.first;
        while at < level.end {
            let (relation, next) = self.step(at);
            let (_, so_far) = possible.last()?;
            possible.push((next, d.extend(so_far, relation)));
            at = next;
        }
        // Backward: one store each.
        let (_, ends) = possible.pop()?;
        let (_, mut after) = d.pick_pair(&d.and(&ends, &level.last))?;
        // If the run ends with a return, the callee ends there, too: the store is that of the caller,
        // whose level comes first.
        if level.end == self.rules.len() && self.before[level.end].is_none() {
            self.before[level.end] = Some(after.clone());
        }
        while let Some((at, so_far)) = possible.pop() {
            let (relation, _) = self.step(at);
            let leading_there = d.extend(relation, &d.store(&after));
            let before = d.pick_store(&d.and(&d.transpose(&so_far), &leading_there))?;
            if let Some(end) = self.returns[at] {
                let only = d.primed(&d.store(&before));
                let entered = d.extend(&only, encoding.system.weight(self.rules[at]));
                // The callee ends with the caller's globals; its locals do not matter.
                let kept = d.exists(&d.store(&after), &encoding.layout.local_bits());
                let last = d.primed(&kept);
                levels.push(Level { first: at + 1, end: end + 1, start: entered, last });
            }
            self.before[at] = Some(before.clone());
            after = before;
        }
        Some(())
    }
}

/// Walks the rules and puts states together.
fn states(
    encoding: &Encoding,
    program: &Program,
    rules: &[RuleId],
    stores: &[Option<Store>],
) -> Option<Trace> {
    let mut walk = Walk { encoding, program, frames: Vec::new(), start: None, steps: Vec::new() };
    let mut edge: Option<EdgeRef> = None;
    for (at, rule) in rules.iter().enumerate() {
        if let Origin::Edge(of) = encoding.origins[rule.index()] {
            edge = Some(of);
        }
        let store = stores[at + 1].as_ref()?;
        let top = match encoding.system.rule(*rule).rhs {
            Rhs::Swap(symbol) => Some(symbol),
            Rhs::Push(entry, _) => {
                walk.call(edge?);
                Some(entry)
            }
            Rhs::Pop => {
                walk.frames.pop();
                None
            }
        };
        // After a return the caller's location is where it waited, unless a part of the step is
        // still to come.
        let next_is_part = rules.get(at + 1).is_some_and(|next| {
            let from = encoding.system.rule(*next).symbol;
            encoding.node(from).is_none()
        });
        walk.arrive(top, store);
        if !next_is_part {
            walk.commit(&mut edge, store);
        }
    }
    Some(Trace { start: walk.start?, steps: walk.steps })
}

struct Walk<'a> {
    encoding: &'a Encoding,
    program: &'a Program,
    frames: Vec<Frame>,
    start: Option<State>,
    steps: Vec<Step>,
}

impl Walk<'_> {
    /// The frame on top waits for a callee.
    fn call(&mut self, edge: EdgeRef) {
        if let Some(frame) = self.frames.last_mut() {
            frame.location = self.program.edge(edge).to;
            frame.calling = Some(edge.edge);
        }
        let Operation::Call(call) = &self.program.edge(edge).operation else { return };
        let entry = self.program.procedure(call.callee).entry;
        self.frames.push(Frame {
            procedure: call.callee,
            location: entry,
            calling: None,
            locals: Vec::new(),
        });
    }

    /// The frame on top has this store now.
    fn arrive(&mut self, top: Option<Symbol>, store: &Store) {
        let node = top.and_then(|symbol| self.encoding.node(symbol));
        if let (Some(node), true) = (node, self.frames.is_empty()) {
            let (procedure, location) = (node.procedure, node.location);
            self.frames.push(Frame { procedure, location, calling: None, locals: Vec::new() });
        }
        let Some(frame) = self.frames.last_mut() else { return };
        if let Some(node) = node {
            frame.location = node.location;
        }
        let variables = &self.program.procedure(frame.procedure).variables;
        let procedure = frame.procedure;
        frame.locals = (variables.iter().zip((0..).map(Var::Local)))
            .flat_map(|(variable, var)| (0..variable.ty.cell_count()).map(move |cell| (var, cell)))
            .map(|(var, cell)| {
                super::number(store, &self.encoding.layout.cell(self.program, procedure, var, cell))
            })
            .collect();
    }

    /// A state of the program is reached.
    fn commit(&mut self, edge: &mut Option<EdgeRef>, store: &Store) {
        if let Some(frame) = self.frames.last_mut() {
            frame.calling = None;
        }
        let globals = (self.program.globals.iter().zip((0..).map(Var::Global)))
            .flat_map(|(variable, var)| (0..variable.ty.cell_count()).map(move |cell| (var, cell)))
            .map(|(var, cell)| {
                super::number(store, &self.encoding.layout.cell(self.program, self.program.entry, var, cell))
            })
            .collect();
        let memory = Default::default();
        let state = State { globals, memory, stack: self.frames.clone() };
        match edge.take() {
            Some(edge) => self.steps.push(Step { edge, state }),
            None => self.start = Some(state),
        }
    }
}
