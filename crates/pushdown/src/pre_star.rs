//! pre\*: the configurations from which a set can be reached, with weights.
//!
//! \[Lal09\] §2.4.1, algorithm *prestar*; for extended systems Fig. 3.3 and Thm. 3.2.1.
//!
//! A call needs two transitions: one that reads the callee's entry, ending in `q`, and one that
//! reads the return site from `q`. The first one leaves a note at the head (q, return site); a rule
//! that arrives there later finds it.

use crate::automaton::Automaton;
use crate::dependence::{Label, Production};
use crate::names::{RuleId, State, Symbol};
use crate::saturation::{Core, Direction, Options, Saturated, saturate};
use crate::semiring::{Merge, Semiring};
use crate::store::{HeadId, NONE, TransId};
use crate::system::{Rhs, System};
use crate::witness::Cause;

/// Computes the configurations from which one that `target` accepts can be reached, with weights.
///
/// The result is a [forward](crate::Reading::Forward) automaton `A` with
/// `A(c) = ⊕ { v(σ) ⊗ target(c′) | c ⇒σ c′ }` (\[Lal09\] Lemma 2.4.6, Thm. 3.2.1).
///
/// ```
/// use wherefore_pushdown::{pre_star, Automaton, Configuration, Options, Reading, Rhs, System};
/// # use wherefore_pushdown::Semiring;
/// # struct Steps;
/// # impl Semiring for Steps {
/// #     type Weight = u64;
/// #     fn zero(&self) -> u64 { u64::MAX }
/// #     fn one(&self) -> u64 { 0 }
/// #     fn combine(&self, a: &u64, b: &u64) -> u64 { *a.min(b) }
/// #     fn extend(&self, a: &u64, b: &u64) -> u64 { a.saturating_add(*b) }
/// # }
/// let mut system: System<u64> = System::new();
/// let p = system.state("p");
/// let (call, f, back, end) = (system.symbol("call"), system.symbol("f"), system.symbol("back"), system.symbol("end"));
/// system.add(p, call, p, Rhs::Push(f, back), 1);
/// system.add(p, f, p, Rhs::Pop, 10);
/// system.add(p, back, p, Rhs::Swap(end), 100);
/// let end = Configuration { state: p, stack: vec![end] };
/// let seed = Automaton::of_configuration(&system, &end, Reading::Forward, &0);
/// let before = pre_star(&Steps, &system, &seed, &Options::default());
/// let call = Configuration { state: p, stack: vec![call] };
/// assert_eq!(before.automaton.weight(&Steps, &call), 111);
/// ```
pub fn pre_star<S: Semiring, M: Merge<S>>(
    domain: &S,
    system: &System<S::Weight, M>,
    target: &Automaton<S::Weight>,
    options: &Options,
) -> Saturated<S::Weight> {
    saturate(Direction::Pre, domain, system, target, options)
}

/// A rule that can lead to a transition which reads its topmost symbol on the right.
#[derive(Clone, Copy)]
struct Step {
    rule: u32,
    /// The head of the left-hand side.
    left: HeadId,
    /// The return site of a call, else nothing.
    back: u32,
}

/// A call whose callee's part is known, waiting for transitions that read the return site.
#[derive(Clone, Copy)]
struct Note {
    rule: u32,
    left: HeadId,
    callee: TransId,
    next: u32,
}

/// The rules of a system by the head of their right-hand side, and the calls that wait.
pub(crate) struct PreRules {
    first: Vec<u32>,
    steps: Vec<Step>,
    /// For each head, the latest note.
    notes_at: Vec<u32>,
    notes: Vec<Note>,
    /// Transitions that have left their notes.
    noted: Vec<bool>,
}

impl PreRules {
    pub fn new<W: Clone, M>(system: &System<W, M>, automaton: &mut Automaton<W>) -> Self {
        let mut right = vec![NONE; system.rule_bound()];
        let mut count = 0;
        for (id, rule) in system.rules() {
            if let Rhs::Swap(a) | Rhs::Push(a, _) = rule.rhs {
                right[id.index()] = automaton.store.head(rule.to, a);
                count += 1;
            }
        }
        let heads = automaton.store.heads.len();
        let mut first = vec![0u32; heads + 1];
        for head in right.iter().filter(|head| **head != NONE) {
            first[*head as usize + 1] += 1;
        }
        for h in 0..heads {
            first[h + 1] += first[h];
        }
        let mut fill = first.clone();
        let mut steps = vec![Step { rule: NONE, left: NONE, back: NONE }; count];
        for (id, rule) in system.rules() {
            let back = match rule.rhs {
                Rhs::Pop => continue,
                Rhs::Swap(_) => NONE,
                Rhs::Push(_, b) => b.0,
            };
            let left = automaton.store.head(rule.from, rule.symbol);
            let at = &mut fill[right[id.index()] as usize];
            steps[*at as usize] = Step { rule: id.0, left, back };
            *at += 1;
        }
        Self { first, steps, notes_at: Vec::new(), notes: Vec::new(), noted: Vec::new() }
    }

    /// The heads that transitions of a head lead to.
    pub fn successors(&self, head: usize, into: &mut Vec<u32>) {
        if head + 1 < self.first.len() {
            let steps = &self.steps[self.first[head] as usize..self.first[head + 1] as usize];
            into.extend(steps.iter().map(|step| step.left));
        }
    }

    /// Every instance of a saturation rule in a saturated store (\[Lal09\] Figs. 2.13 and 3.9).
    pub fn productions<W, V, M>(
        &self,
        system: &System<V, M>,
        automaton: &Automaton<W>,
        emit: &mut dyn FnMut(Production),
    ) where
        W: Clone,
    {
        let store = &automaton.store;
        let find = |head: HeadId, to: u32| {
            store.find(head, State(to)).expect("a saturated store has what its rules imply")
        };
        for (id, rule) in system.rules().filter(|(_, rule)| rule.rhs == Rhs::Pop) {
            let head = store.find_head(rule.from, rule.symbol).expect("the head of a pop rule");
            let target = find(head, rule.to.0);
            emit(Production { target, source: None, label: Label::Rule(id) });
        }
        for id in 0..store.trans.len() as TransId {
            let trans = store.trans[id as usize];
            let h = trans.head as usize;
            if h + 1 >= self.first.len() {
                continue;
            }
            for i in self.first[h]..self.first[h + 1] {
                let step = self.steps[i as usize];
                let rule = RuleId(step.rule);
                if step.back == NONE {
                    let target = find(step.left, trans.to);
                    emit(Production { target, source: Some(id), label: Label::Rule(rule) });
                    continue;
                }
                for after in store.on(State(trans.to), Symbol(step.back)) {
                    let target = find(step.left, store.trans[after as usize].to);
                    let returned = automaton.is_returning(State(trans.to));
                    let label = Label::Call { rule, callee: id, returned };
                    emit(Production { target, source: Some(after), label });
                }
            }
        }
    }

    /// The transitions that hold before anything is propagated: pops.
    pub fn pops<S: Semiring, M>(&self, system: &System<S::Weight, M>, core: &mut Core<'_, S>) {
        for (id, rule) in system.rules() {
            if rule.rhs == Rhs::Pop {
                let head = core.automaton.store.head(rule.from, rule.symbol);
                core.insert(head, rule.to, system.weight(id).clone(), Cause::pop(id));
            }
        }
    }

    pub fn propagate<S: Semiring, M: Merge<S>>(
        &mut self,
        system: &System<S::Weight, M>,
        core: &mut Core<'_, S>,
        id: TransId,
        delta: &S::Weight,
    ) {
        let trans = core.store().trans[id as usize];
        let h = trans.head as usize;
        let to = State(trans.to);
        let version = core.version(id);
        if h + 1 < self.first.len() {
            if self.noted.len() <= id as usize {
                self.noted.resize(core.store().trans.len(), false);
            }
            let first_time = !std::mem::replace(&mut self.noted[id as usize], true);
            for i in self.first[h]..self.first[h + 1] {
                let step = self.steps[i as usize];
                let rule = RuleId(step.rule);
                if step.back == NONE {
                    let weight = core.domain.extend(system.weight(rule), delta);
                    core.insert(step.left, to, weight, Cause::rule(rule, id, version));
                } else {
                    self.callee_known(system, core, step, id, delta, first_time);
                }
            }
        }
        // Calls that wait for this head.
        let mut note = self.notes_at.get(h).copied().unwrap_or(NONE);
        while note != NONE {
            let Note { rule, left, callee, next } = self.notes[note as usize];
            let called = called_weight(
                system,
                core.domain,
                RuleId(rule),
                core.automaton.is_returning(State(core.store().trans[callee as usize].to)),
                &core.store().weights[callee as usize],
            );
            let weight = core.domain.extend(&called, delta);
            let cause = Cause::calls(RuleId(rule), callee, core.version(callee), id, version);
            core.insert(left, to, weight, cause);
            note = next;
        }
    }

    /// The callee's part of a call grew: go on with what is known to read the return site.
    fn callee_known<S: Semiring, M: Merge<S>>(
        &mut self,
        system: &System<S::Weight, M>,
        core: &mut Core<'_, S>,
        step: Step,
        callee: TransId,
        delta: &S::Weight,
        first_time: bool,
    ) {
        let middle = State(core.store().trans[callee as usize].to);
        let head = core.automaton.store.head(middle, Symbol(step.back));
        if first_time {
            if self.notes_at.len() <= head as usize {
                self.notes_at.resize(core.store().heads.len(), NONE);
            }
            let latest = &mut self.notes_at[head as usize];
            let next = std::mem::replace(latest, self.notes.len() as u32);
            self.notes.push(Note { rule: step.rule, left: step.left, callee, next });
        }
        let rule = RuleId(step.rule);
        let mut each = core.store().heads[head as usize].first;
        if each == NONE {
            return;
        }
        let returning = core.automaton.is_returning(middle);
        let called = called_weight(system, core.domain, rule, returning, delta);
        while each != NONE {
            let after = core.store().trans[each as usize];
            let weight = core.domain.extend(&called, &core.store().weights[each as usize]);
            let cause = Cause::calls(rule, callee, core.version(callee), each, core.version(each));
            core.insert(step.left, State(after.to), weight, cause);
            each = after.next;
        }
    }
}

/// The weight of a call up to its return site, or up to the end of a path that stays in the callee.
pub(crate) fn called_weight<S: Semiring, M: Merge<S>>(
    system: &System<S::Weight, M>,
    domain: &S,
    rule: RuleId,
    returned: bool,
    callee: &S::Weight,
) -> S::Weight {
    match system.merge(rule) {
        Some(merge) if returned => merge.merge(domain, &domain.one(), callee),
        _ => domain.extend(system.weight(rule), callee),
    }
}
