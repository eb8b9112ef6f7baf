//! One run to a target, read from the log of post\* pair by pair.
//!
//! [`Saturated::witnesses`] justifies a whole weight by paths and computes covers of all that led
//! to it. For one run less is enough: pick an [atom](Atomic) of the target's weight, and go
//! backwards from it. Each growth of a weight has a cause; the part of the cause that leads to the
//! atom has an atom again, which grew earlier. So the walk ends, and each step costs little: atoms
//! are small.

use crate::automaton::{Automaton, Reading};
use crate::names::RuleId;
use crate::saturation::Saturated;
use crate::semiring::{AdjointMerge, Atomic};
use crate::store::TransId;
use crate::summary::{AcceptingPath, accepting_paths, first_accepting_path};
use crate::system::System;
use crate::witness::{Cause, Log};

/// What is left to do; done from the end of the run to its start.
enum Task<C> {
    /// Find how a transition got a weight that the context accepts, in the first log entries.
    Reach {
        trans: TransId,
        until: u32,
        context: C,
    },
    Rule(RuleId),
}

impl<W: Clone + Eq> Saturated<W> {
    /// The rules of a run from the seed to a configuration of `query`; `None` if there is none, or
    /// nothing was recorded.
    ///
    /// For post\* only. Weights on the seed count as `one`. Of several ways, the walk takes the one
    /// that saturation found first; the run need not be a shortest one.
    ///
    /// ```
    /// use wherefore_domains::{Relation, RelationDomain};
    /// use wherefore_pushdown::*;
    /// // A counter that starts with 0, and a test whether it is 2.
    /// let d = RelationDomain::new(3);
    /// let mut system: System<Relation> = System::new();
    /// let (p, s, a, b) = (system.state("p"), system.symbol("s"), system.symbol("a"), system.symbol("b"));
    /// let start = system.add(p, s, p, Rhs::Swap(a), Relation::from_pairs(3, [(0, 0)]));
    /// let up = system.add(p, a, p, Rhs::Swap(a), Relation::from_pairs(3, [(0, 1), (1, 2)]));
    /// let test = system.add(p, a, p, Rhs::Swap(b), Relation::from_pairs(3, [(2, 2)]));
    /// let at = |symbol| Configuration { state: p, stack: vec![symbol] };
    /// let seed = Automaton::of_configuration(&system, &at(s), Reading::Backward, &d.one());
    /// let options = Options { recording: Recording::Witnesses, ..Options::default() };
    /// let reached = post_star(&d, &system, &seed, &options);
    /// let goal = Automaton::of_configuration(&system, &at(b), Reading::Forward, &());
    /// assert_eq!(reached.some_run(&d, &system, &goal), Some(vec![start, up, up, test]));
    /// ```
    pub fn some_run<S, M>(
        &self,
        domain: &S,
        system: &System<W, M>,
        query: &Automaton<()>,
    ) -> Option<Vec<RuleId>>
    where
        S: Atomic<Weight = W>,
        M: AdjointMerge<S>,
    {
        let path = first_accepting_path(domain, &self.automaton, query)?;
        self.run_along(domain, system, &path, &domain.any_context())
    }

    /// The same for a run whose weight a context accepts: with costs, one that is cheap enough.
    pub fn some_run_that<S, M>(
        &self,
        domain: &S,
        system: &System<W, M>,
        query: &Automaton<()>,
        wanted: &S::Context,
    ) -> Option<Vec<RuleId>>
    where
        S: Atomic<Weight = W>,
        M: AdjointMerge<S>,
    {
        let along = |path: &AcceptingPath| {
            let weights = path.transitions.iter().map(|id| &self.automaton.store.weights[*id as usize]);
            weights.fold(domain.one(), |after, weight| domain.extend(weight, &after))
        };
        let paths = accepting_paths(domain, &self.automaton, query);
        let path = paths.into_iter().find(|path| domain.completes(&along(path), wanted))?;
        self.run_along(domain, system, &path, wanted)
    }

    fn run_along<S, M>(
        &self,
        domain: &S,
        system: &System<W, M>,
        path: &AcceptingPath,
        wanted: &S::Context,
    ) -> Option<Vec<RuleId>>
    where
        S: Atomic<Weight = W>,
        M: AdjointMerge<S>,
    {
        let log = self.log.as_ref().filter(|_| self.automaton.reading() == Reading::Backward)?;
        let mut walk = Walk::new(domain, system, self, log);
        walk.start(path, wanted)?;
        walk.run()
    }
}

struct Walk<'a, S: Atomic, M> {
    domain: &'a S,
    system: &'a System<S::Weight, M>,
    saturated: &'a Saturated<S::Weight>,
    /// Of each transition, the log entries about it with their causes, in order.
    growths: Vec<Vec<(u32, Cause)>>,
    /// The last one is next.
    tasks: Vec<Task<S::Context>>,
}

impl<'a, S: Atomic, M: AdjointMerge<S>> Walk<'a, S, M> {
    fn new(
        domain: &'a S,
        system: &'a System<S::Weight, M>,
        saturated: &'a Saturated<S::Weight>,
        log: &Log,
    ) -> Self {
        let mut growths = vec![Vec::new(); saturated.automaton.store.trans.len()];
        for (number, (trans, _, cause)) in (0..).zip(log.entries()) {
            growths[trans as usize].push((number, cause));
        }
        Self { domain, system, saturated, growths, tasks: Vec::new() }
    }

    /// Chooses an atom for each transition of an accepting path, from the topmost symbol down.
    fn start(&mut self, path: &AcceptingPath, wanted: &S::Context) -> Option<()> {
        let d = self.domain;
        let automaton = &self.saturated.automaton;
        let weight = |id: &TransId| &automaton.store.weights[*id as usize];
        // The weights of all that lies below each transition.
        let mut below = vec![d.one()];
        for id in path.transitions.iter().skip(1).rev() {
            let last = below.last()?;
            below.push(d.extend(last, weight(id)));
        }
        let mut after = d.one();
        let mut tasks = Vec::new();
        for id in &path.transitions {
            let call = automaton.store.call(*id);
            let caller = automaton.callers.get(id).unwrap_or_else(|| weight(id));
            if let Some(call) = call {
                after = d.extend(self.system.weight(call), &after);
                tasks.push(Task::Rule(call));
            }
            let here = d.pull(&below.pop()?, wanted, &after);
            let (atom, context) = d.atom(caller, &here)?;
            after = d.extend(&atom, &after);
            tasks.push(Task::Reach { trans: *id, until: u32::MAX, context });
        }
        tasks.reverse();
        self.tasks = tasks;
        Some(())
    }

    fn run(mut self) -> Option<Vec<RuleId>> {
        let mut rules = Vec::new();
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::Rule(rule) => rules.push(rule),
                Task::Reach { trans, until, context } => self.reach(trans, until, context)?,
            }
            if self.domain.exhausted() {
                return None;
            }
        }
        rules.reverse();
        Some(rules)
    }

    /// The entries about a transition, up to one of them.
    fn growths(&self, trans: TransId, until: u32) -> impl Iterator<Item = (u32, Cause)> + use<'_, 'a, S, M> {
        self.growths[trans as usize].iter().copied().take_while(move |(number, _)| *number <= until)
    }

    fn reach(&mut self, trans: TransId, until: u32, context: S::Context) -> Option<()> {
        let d = self.domain;
        let store = &self.saturated.automaton.store;
        let gained = &self.saturated.gained;
        let (number, cause) = self
            .growths(trans, until)
            .find(|(number, _)| d.completes(&gained[*number as usize], &context))?;
        match (cause.rule_applied(), cause.first(), cause.second()) {
            (_, None, _) => {}
            (Some(rule), Some((source, until)), _) if store.call(trans) == Some(rule) => {
                // The rule belongs to the part of the run that returns from the call, or does not.
                self.tasks.push(Task::Reach { trans: source, until, context });
            }
            (Some(rule), Some((source, until)), _) => {
                let context = d.pull(&d.one(), &context, self.system.weight(rule));
                self.tasks.push(Task::Reach { trans: source, until, context });
                self.tasks.push(Task::Rule(rule));
            }
            (None, Some((source, until)), Some((callee, callee_until))) => {
                // The parts of caller and callee must fit each other: both are chosen for one atom.
                let (atom, context) = d.atom(&gained[number as usize], &context)?;
                let mut caller = d.zero();
                for (number, _) in self.growths(source, until) {
                    d.join(&mut caller, &d.beginning_as(&gained[number as usize], &atom));
                }
                let call = store.call(source);
                let merge = call.and_then(|call| self.system.merge(call));
                let wanted = match merge {
                    Some(merge) => merge.pull(d, &caller, &context, &d.one()),
                    None => d.pull(&caller, &context, &d.one()),
                };
                let (returned, inside) = self
                    .growths(callee, callee_until)
                    .find_map(|(n, _)| d.atom(&gained[n as usize], &wanted))?;
                // By path extension, merging is extending by what the call does.
                let effect = match merge {
                    Some(merge) => merge.merge(d, &d.one(), &returned),
                    None => returned,
                };
                let context = d.pull(&d.one(), &context, &effect);
                self.tasks.push(Task::Reach { trans: source, until, context });
                self.tasks.extend(call.map(Task::Rule));
                self.tasks.push(Task::Reach { trans: callee, until: callee_until, context: inside });
            }
            (None, Some((source, until)), None) => {
                self.tasks.push(Task::Reach { trans: source, until, context });
            }
        }
        Some(())
    }
}
