//! The program between its cut points.
//!
//! Cut points are where procedures are entered and left, where calls with a summary begin and end,
//! where the program fails, and one on each cycle. All that happens from one to the next is one
//! *step*: a condition and the new values, with what branches do merged by conditions. These are
//! the large blocks of D. Beyer et al., *Software model checking via large-block encoding* (FMCAD
//! 2009): an invariant is needed at cut points only.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use wherefore_smt::{Budget, Kind, Reason, Sort, Term, Terms};

use super::elements::indices;
use crate::refinement::solver::block::Block;
use crate::refinement::solver::graph::{Graph, PointId};
use crate::symbolic::Machine;

/// What happens between two cut points.
pub(super) struct Step {
    /// None: the program starts.
    pub from: Option<PointId>,
    pub to: PointId,
    /// When it is possible.
    pub guard: Term,
    /// The values of variables behind it, in terms of those before it and of inputs.
    pub updates: FxHashMap<Term, Term>,
    /// For a call with a summary: the exit of the callee, and its names in terms of the caller's.
    pub effect: Option<(PointId, FxHashMap<Term, Term>)>,
    /// The indices of elements that it reads or writes.
    pub indices: Vec<Term>,
}

impl Step {
    /// A step without a call.
    pub fn new(
        terms: &Terms,
        from: Option<PointId>,
        to: PointId,
        guard: Term,
        updates: FxHashMap<Term, Term>,
    ) -> Self {
        let indices = indices(terms, updates.values().copied().chain([guard]));
        Self { from, to, guard, updates, effect: None, indices }
    }
}

/// The cut points and the steps between them.
pub(super) struct System {
    pub cuts: BTreeSet<PointId>,
    pub steps: Vec<Step>,
    /// The steps that lead to a point, and those that leave it.
    pub into: Vec<Vec<usize>>,
    pub out: Vec<Vec<usize>>,
    /// The points that steps lead to from the start.
    pub reached: FxHashSet<PointId>,
    /// The variables that decide whether steps are possible, directly or not.
    pub relevant: FxHashSet<Term>,
}

/// More terms than this are too much.
const MOST_TERMS: usize = 3_000_000;

/// Conjunctions that are longer are not taken apart.
const LONG: usize = 64;

/// Why there is no such system.
pub(super) enum TooMuch {
    Size,
    Limit(Reason),
}

/// The values of variables that have changed.
type Values = Rc<FxHashMap<Term, Term>>;

impl System {
    /// The system of a program.
    ///
    /// # Errors
    /// It is too large, or a limit was met.
    pub fn new(machine: &mut Machine<'_>, graph: &Graph, budget: &Budget) -> Result<Self, TooMuch> {
        let points = graph.points.len();
        let mut out: Vec<Vec<usize>> = vec![Vec::new(); points];
        for (i, block) in graph.blocks.iter().enumerate() {
            out[block.from].push(i);
        }
        let (cuts, rank) = cuts(graph);
        let mut builder =
            Builder { terms: &mut machine.terms, graph, out: &out, cuts: &cuts, rank: &rank, ways: 0 };
        let guard = builder.terms.all(&graph.initial.guards);
        let mut steps =
            vec![Step::new(builder.terms, None, graph.start, guard, graph.initial.updates.clone())];
        for cut in &cuts {
            budget.look().map_err(TooMuch::Limit)?;
            steps.extend(builder.steps_from(*cut, budget)?);
        }
        for site in &graph.calls {
            let Block { from, to, guards, updates, .. } = &site.enter;
            let guard = machine.terms.all(guards);
            let updates = updates.clone();
            steps.push(Step::new(&machine.terms, Some(*from), *to, guard, updates));
            let Block { from, to, guards, updates, .. } = &site.resume;
            let guard = machine.terms.all(guards);
            let effect = Some((graph.exits[&site.callee], site.at_exit.clone()));
            let step = Step::new(&machine.terms, Some(*from), *to, guard, updates.clone());
            steps.push(Step { effect, ..step });
        }
        steps.retain(|step| step.guard != Terms::FALSE);
        let mut system = Self {
            cuts,
            steps,
            into: vec![Vec::new(); points],
            out: vec![Vec::new(); points],
            reached: FxHashSet::default(),
            relevant: FxHashSet::default(),
        };
        system.prune(graph);
        system.relevant = relevant(&machine.terms, &system.steps);
        Ok(system)
    }

    /// Leaves out what cannot be reached, or cannot lead to an error or a return; then connects.
    fn prune(&mut self, graph: &Graph) {
        let mut reached: FxHashSet<PointId> = FxHashSet::default();
        loop {
            let before = reached.len();
            for step in &self.steps {
                if step.from.is_none_or(|from| reached.contains(&from)) {
                    reached.insert(step.to);
                }
            }
            if reached.len() == before {
                break;
            }
        }
        self.reached = reached.clone();
        let ends = graph.errors.keys().chain(graph.exits.values());
        let mut leading: FxHashSet<PointId> = ends.copied().collect();
        loop {
            let before = leading.len();
            for step in &self.steps {
                if let Some(from) = step.from.filter(|_| leading.contains(&step.to)) {
                    leading.insert(from);
                }
            }
            if leading.len() == before {
                break;
            }
        }
        self.steps.retain(|step| {
            step.from.is_none_or(|from| reached.contains(&from)) && leading.contains(&step.to)
        });
        for (i, step) in self.steps.iter().enumerate() {
            self.into[step.to].push(i);
            if let Some(from) = step.from {
                self.out[from].push(i);
            }
        }
    }

    /// The variables that have another value when runs come back to a point.
    pub fn changed(&self, point: PointId) -> FxHashSet<Term> {
        let steps = self.out[point].iter().chain(&self.into[point]).map(|step| &self.steps[*step]);
        let updates = steps.filter(|step| step.from.is_some()).flat_map(|step| &step.updates);
        updates.filter(|(name, value)| name != value).map(|(name, _)| *name).collect()
    }

    /// The steps that must be looked at again when less is known at a point: those that leave it,
    /// and calls of the procedure that it is the exit of.
    pub fn depending(&self, point: PointId) -> impl Iterator<Item = usize> + '_ {
        let calls = self.steps.iter().enumerate();
        let calls =
            calls.filter(move |(_, step)| step.effect.as_ref().is_some_and(|(exit, _)| *exit == point));
        self.out[point].iter().copied().chain(calls.map(|(i, _)| i))
    }
}

/// The cut points of a graph, and the place of each point in an order in which steps that do not
/// lead to a cut point go forwards.
fn cuts(graph: &Graph) -> (BTreeSet<PointId>, Vec<usize>) {
    let mut cuts: BTreeSet<PointId> = graph.entries.values().chain(graph.exits.values()).copied().collect();
    cuts.extend(graph.errors.keys());
    for site in &graph.calls {
        cuts.extend([site.resume.from, site.resume.to]);
    }
    let points = graph.points.len();
    // The check of proofs follows all ways of the text.
    let mut out: Vec<Vec<PointId>> = vec![Vec::new(); points];
    for (from, to) in &graph.ways {
        out[*from].push(*to);
    }
    // A search in depth: what leads back to an open point closes a cycle.
    let (mut state, mut rank, mut count) = (vec![0u8; points], vec![0; points], points);
    let roots: Vec<PointId> = cuts.iter().copied().collect();
    for root in roots {
        if state[root] != 0 {
            continue;
        }
        state[root] = 1;
        let mut open = vec![(root, 0)];
        while let Some((at, next)) = open.last_mut() {
            let Some(to) = out[*at].get(*next).copied() else {
                count -= 1;
                rank[*at] = count;
                state[*at] = 2;
                open.pop();
                continue;
            };
            *next += 1;
            match state[to] {
                0 => {
                    state[to] = 1;
                    open.push((to, 0));
                }
                1 => {
                    cuts.insert(to);
                }
                _ => {}
            }
        }
    }
    (cuts, rank)
}

/// The variables that guards depend on.
fn relevant(terms: &Terms, steps: &[Step]) -> FxHashSet<Term> {
    let mut found: FxHashSet<Term> = FxHashSet::default();
    let mut open: Vec<Term> = steps.iter().flat_map(|step| terms.variables(step.guard)).collect();
    let mut by_name: FxHashMap<Term, Vec<Term>> = FxHashMap::default();
    for step in steps {
        step.updates.iter().for_each(|(name, value)| by_name.entry(*name).or_default().push(*value));
        if let Some((_, at_exit)) = &step.effect {
            at_exit.iter().for_each(|(name, value)| by_name.entry(*value).or_default().push(*name));
        }
    }
    while let Some(variable) = open.pop() {
        if found.insert(variable) {
            for value in by_name.get(&variable).into_iter().flatten() {
                open.extend(terms.variables(*value));
            }
        }
    }
    found
}

struct Builder<'b> {
    terms: &'b mut Terms,
    graph: &'b Graph,
    out: &'b [Vec<usize>],
    cuts: &'b BTreeSet<PointId>,
    rank: &'b [usize],
    /// Choices between ways that are possible at once.
    ways: usize,
}

impl Builder<'_> {
    /// All steps from a cut point.
    fn steps_from(&mut self, cut: PointId, budget: &Budget) -> Result<Vec<Step>, TooMuch> {
        if self.graph.errors.contains_key(&cut) {
            return Ok(Vec::new());
        }
        let mut waiting: BTreeMap<(usize, PointId), Vec<(Term, Values)>> = BTreeMap::new();
        let mut ends: BTreeMap<PointId, Vec<(Term, Values)>> = BTreeMap::new();
        let (mut at, mut condition, mut values) = (cut, Terms::TRUE, Values::default());
        loop {
            let (graph, out) = (self.graph, self.out);
            let blocks: Vec<&Block> = out[at].iter().map(|block| &*graph.blocks[*block]).collect();
            let mut done: FxHashMap<Term, Term> = (*values).clone();
            let mut guards: Vec<Term> = Vec::new();
            for block in &blocks {
                let parts: Vec<Term> =
                    block.guards.iter().map(|guard| self.terms.substitute_with(*guard, &mut done)).collect();
                guards.push(self.terms.all(&parts));
            }
            self.separate(&mut guards);
            for (block, guard) in blocks.into_iter().zip(guards) {
                let taken = self.terms.and(condition, guard);
                if taken == Terms::FALSE {
                    continue;
                }
                let mut after = (*values).clone();
                for (name, value) in &block.updates {
                    after.insert(*name, self.terms.substitute_with(*value, &mut done));
                }
                let arrived = (taken, Rc::new(after));
                if self.cuts.contains(&block.to) {
                    ends.entry(block.to).or_default().push(arrived);
                } else {
                    waiting.entry((self.rank[block.to], block.to)).or_default().push(arrived);
                }
            }
            if self.terms.len() > MOST_TERMS {
                return Err(TooMuch::Size);
            }
            budget.look().map_err(TooMuch::Limit)?;
            let Some(((_, point), ways)) = waiting.pop_first() else { break };
            at = point;
            (condition, values) = self.merged(ways);
        }
        let mut steps = Vec::new();
        for (to, ways) in ends {
            let (guard, values) = self.merged(ways);
            let updates = values.iter().filter(|(name, value)| name != value);
            let updates = updates.map(|(name, value)| (*name, *value)).collect();
            steps.push(Step::new(self.terms, Some(cut), to, guard, updates));
        }
        Ok(steps)
    }

    /// A run takes one way: where two are possible at once, new values decide between them.
    fn separate(&mut self, guards: &mut [Term]) {
        let terms = &mut *self.terms;
        let is_apart = guards
            .iter()
            .enumerate()
            .all(|(i, guard)| guards[i + 1..].iter().all(|other| terms.and(*guard, *other) == Terms::FALSE));
        if is_apart {
            return;
        }
        let mut left = Terms::TRUE;
        let last = guards.len() - 1;
        for (i, guard) in guards.iter_mut().enumerate() {
            self.ways += 1;
            let this = terms.variable(&format!("way {}", self.ways), Sort::Bool);
            let chosen = if i == last { left } else { terms.and(left, this) };
            *guard = terms.and(*guard, chosen);
            let not = terms.not(this);
            left = terms.and(left, not);
        }
    }

    /// Where one of several ways was taken: the condition and the values.
    fn merged(&mut self, ways: Vec<(Term, Values)>) -> (Term, Values) {
        let mut ways = ways.into_iter();
        let Some((mut condition, mut values)) = ways.next() else { return (Terms::FALSE, Values::default()) };
        for (other, others) in ways {
            let mut merged = FxHashMap::default();
            for name in values.keys().chain(others.keys()) {
                if merged.contains_key(name) {
                    continue;
                }
                let (mine, theirs) = (values.get(name).unwrap_or(name), others.get(name).unwrap_or(name));
                merged.insert(*name, self.terms.ite(other, *theirs, *mine));
            }
            values = Rc::new(merged);
            condition = either(self.terms, condition, other);
        }
        (condition, values)
    }
}

/// One of two conditions: what they share, and one of the rests. So two branches join to what was
/// before them.
pub(super) fn either(terms: &mut Terms, a: Term, b: Term) -> Term {
    let parts = |terms: &Terms, term: Term| match terms.kind(term) {
        Kind::And(list) if list.len() > LONG => None,
        Kind::And(list) => Some(list.to_vec()),
        _ => Some(vec![term]),
    };
    let (Some(of_a), Some(of_b)) = (parts(terms, a), parts(terms, b)) else { return terms.or(a, b) };
    let (shared, rest_a): (Vec<Term>, Vec<Term>) = of_a.into_iter().partition(|part| of_b.contains(part));
    let rest_b: Vec<Term> = of_b.into_iter().filter(|part| !shared.contains(part)).collect();
    let (rest_a, rest_b) = (terms.all(&rest_a), terms.all(&rest_b));
    let rest = terms.or(rest_a, rest_b);
    let shared = terms.all(&shared);
    terms.and(shared, rest)
}
