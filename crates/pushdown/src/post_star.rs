//! post\*: the configurations that can be reached, with weights.
//!
//! \[Lal09\] §2.4.1, algorithm *poststar*; for extended systems Fig. 3.4 and Thm. 3.2.5.
//!
//! **Divergences.** The paper allows one call rule for each target and splits others on entry; here
//! a call with a merge function tags the transition below it with its rule, so that calls which
//! share a target stay apart. The pair of weights of Fig. 3.4 becomes the caller's weight on such a
//! transition; the weight of the open call is put in place at the end.

use crate::automaton::Automaton;
use crate::dependence::{Label, Production};
use crate::names::{RuleId, State, Symbol};
use crate::saturation::{Core, Direction, Options, Saturated, saturate};
use crate::semiring::{Merge, Semiring};
use crate::store::{EPSILON, HeadId, NONE, Store, TransId};
use crate::system::{Rhs, System};
use crate::witness::Cause;

/// Computes the configurations reachable from those that `start` accepts, with weights.
///
/// The result is a [backward](crate::Reading::Backward) automaton `A` with
/// `A(c) = ⊕ { start(c′) ⊗ v(σ) | c′ ⇒σ c }` (\[Lal09\] Lemma 2.4.6, Thm. 3.2.5).
///
/// **Cost:** Lemma 2.4.11; on program-shaped systems linear in the rules times the height of the
/// domain.
///
/// ```
/// use wherefore_pushdown::{post_star, Automaton, Configuration, Options, Reading, Rhs, System};
/// # use wherefore_pushdown::Semiring;
/// # struct Steps;
/// # impl Semiring for Steps {
/// #     type Weight = u64;
/// #     fn zero(&self) -> u64 { u64::MAX }
/// #     fn one(&self) -> u64 { 0 }
/// #     fn combine(&self, a: &u64, b: &u64) -> u64 { *a.min(b) }
/// #     fn extend(&self, a: &u64, b: &u64) -> u64 { a.saturating_add(*b) }
/// # }
/// // [Lal09] Fig. 6.4: ⟨p1, a⟩ grows to b…b a, and turns to p2 once.
/// let mut system: System<u64> = System::new();
/// let (p1, p2) = (system.state("p1"), system.state("p2"));
/// let (a, b) = (system.symbol("a"), system.symbol("b"));
/// system.add(p1, a, p1, Rhs::Push(a, b), 1);
/// system.add(p1, a, p2, Rhs::Swap(b), 1);
/// system.add(p2, b, p1, Rhs::Pop, 1);
/// let start = Configuration { state: p1, stack: vec![a] };
/// let seed = Automaton::of_configuration(&system, &start, Reading::Backward, &0);
/// let reached = post_star(&Steps, &system, &seed, &Options::default());
/// let three = Configuration { state: p2, stack: vec![b, b, b] };
/// assert_eq!(reached.automaton.weight(&Steps, &three), 3);
/// ```
pub fn post_star<S: Semiring, M: Merge<S>>(
    domain: &S,
    system: &System<S::Weight, M>,
    start: &Automaton<S::Weight>,
    options: &Options,
) -> Saturated<S::Weight> {
    saturate(Direction::Post, domain, system, start, options)
}

/// What a rule does to a transition that matches its left-hand side.
#[derive(Clone, Copy)]
struct Step {
    rule: u32,
    /// The head that gets a transition: of the swapped or pushed symbol, or of ε.
    head: HeadId,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Pop,
    Swap,
    /// The state below the call and the head of (that state, return site).
    Push {
        below: u32,
        back: HeadId,
    },
}

/// The rules of a system by the head of their left-hand side, and the ε-transitions by their
/// target.
pub(crate) struct PostRules {
    /// `steps[first[h]..first[h + 1]]` are the rules of head `h`; later heads have none.
    first: Vec<u32>,
    steps: Vec<Step>,
    /// For each state, the latest link of ε-transitions into it.
    epsilons: Vec<u32>,
    links: Vec<(TransId, u32)>,
}

impl PostRules {
    pub fn new<W: Clone, M>(system: &System<W, M>, automaton: &mut Automaton<W>) -> Self {
        let mut left = vec![NONE; system.rule_bound()];
        for (id, rule) in system.rules() {
            left[id.index()] = automaton.store.head(rule.from, rule.symbol);
        }
        let heads = automaton.store.heads.len();
        let mut first = vec![0u32; heads + 1];
        for head in left.iter().filter(|head| **head != NONE) {
            first[*head as usize + 1] += 1;
        }
        for h in 0..heads {
            first[h + 1] += first[h];
        }
        let mut fill = first.clone();
        let placeholder = Step { rule: NONE, head: NONE, kind: Kind::Pop };
        let mut steps = vec![placeholder; system.rule_count()];
        let mut below_of_head: Vec<u32> = Vec::new();
        for (id, rule) in system.rules() {
            let (head, kind) = match rule.rhs {
                Rhs::Pop => (automaton.store.head(rule.to, EPSILON), Kind::Pop),
                Rhs::Swap(a) => (automaton.store.head(rule.to, a), Kind::Swap),
                Rhs::Push(a, b) => {
                    let head = automaton.store.head(rule.to, a);
                    if below_of_head.len() <= head as usize {
                        below_of_head.resize(automaton.store.heads.len(), NONE);
                    }
                    if below_of_head[head as usize] == NONE {
                        below_of_head[head as usize] = automaton.add_below(rule.to, a).0;
                    }
                    let below = below_of_head[head as usize];
                    let back = match system.merge(id) {
                        Some(_) => automaton.store.call_head(State(below), b, id),
                        None => automaton.store.head(State(below), b),
                    };
                    (head, Kind::Push { below, back })
                }
            };
            let at = &mut fill[left[id.index()] as usize];
            steps[*at as usize] = Step { rule: id.0, head, kind };
            *at += 1;
        }
        Self { first, steps, epsilons: vec![NONE; automaton.state_count()], links: Vec::new() }
    }

    /// Whether some rule applies to a head.
    pub fn has_rules(&self, head: HeadId) -> bool {
        let head = head as usize;
        head + 1 < self.first.len() && self.first[head] < self.first[head + 1]
    }

    /// The heads that transitions of a head lead to, with calls leading to their return sites; and
    /// apart from them the entries of callees.
    pub fn successors<W>(&self, store: &Store<W>, head: usize, into: &mut Vec<u32>, entries: &mut Vec<u32>) {
        if head + 1 >= self.first.len() {
            return;
        }
        for step in &self.steps[self.first[head] as usize..self.first[head + 1] as usize] {
            match step.kind {
                Kind::Pop => {}
                Kind::Swap => into.push(step.head),
                Kind::Push { back, .. } => {
                    let entry = store.heads[step.head as usize];
                    let after = Symbol(store.heads[back as usize].symbol);
                    into.extend(store.find_head(State(entry.state), after));
                    into.push(back);
                    entries.push(step.head);
                }
            }
        }
    }

    /// Every instance of a saturation rule in a saturated store (\[Lal09\] Figs. 2.14 and 3.13).
    pub fn productions<W>(&self, control: usize, store: &Store<W>, emit: &mut dyn FnMut(Production)) {
        let find = |head: HeadId, to: u32| {
            store.find(head, State(to)).expect("a saturated store has what its rules imply")
        };
        for id in 0..store.trans.len() as TransId {
            let trans = store.trans[id as usize];
            let head = store.heads[trans.head as usize];
            if head.symbol == EPSILON.0 {
                continue;
            }
            if head.state as usize >= control {
                let mut link = self.epsilons[head.state as usize];
                while link != NONE {
                    let (epsilon, next) = self.links[link as usize];
                    let (state, _, _) = store.ends(epsilon);
                    let top = store.find_head(state, Symbol(head.symbol));
                    let target = find(top.expect("the head of a transition"), trans.to);
                    let call = (head.call != NONE).then_some(RuleId(head.call));
                    let label = Label::Returned { call, callee: epsilon };
                    emit(Production { target, source: Some(id), label });
                    link = next;
                }
                continue;
            }
            let h = trans.head as usize;
            if h + 1 >= self.first.len() {
                continue;
            }
            for i in self.first[h]..self.first[h + 1] {
                let step = self.steps[i as usize];
                let rule = Label::Rule(RuleId(step.rule));
                match step.kind {
                    Kind::Swap | Kind::Pop => {
                        emit(Production { target: find(step.head, trans.to), source: Some(id), label: rule });
                    }
                    Kind::Push { below, back } => {
                        let entry = find(step.head, below);
                        emit(Production { target: entry, source: None, label: Label::Empty });
                        let tagged = store.heads[back as usize].call != NONE;
                        let label = if tagged { Label::Called(RuleId(step.rule)) } else { rule };
                        emit(Production { target: find(back, trans.to), source: Some(id), label });
                    }
                }
            }
        }
    }

    /// Remembers a new transition if it is an ε-transition.
    pub fn note<S: Semiring>(&mut self, core: &Core<'_, S>, id: TransId) {
        let (_, symbol, to) = core.store().ends(id);
        if symbol == EPSILON {
            let link = self.links.len() as u32;
            self.links.push((id, std::mem::replace(&mut self.epsilons[to.index()], link)));
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
        let head = core.store().heads[trans.head as usize];
        if head.symbol == EPSILON.0 {
            self.returned(system, core, id, delta);
        } else if (head.state as usize) < system.state_count() {
            self.apply_rules(system, core, id, delta);
        } else {
            self.below_grew(system, core, id, delta);
        }
    }

    /// A transition from a control state: the rules for its head apply.
    fn apply_rules<S: Semiring, M: Merge<S>>(
        &mut self,
        system: &System<S::Weight, M>,
        core: &mut Core<'_, S>,
        id: TransId,
        delta: &S::Weight,
    ) {
        let trans = core.store().trans[id as usize];
        let h = trans.head as usize;
        if h + 1 >= self.first.len() {
            return;
        }
        let to = State(trans.to);
        let version = core.version(id);
        for i in self.first[h]..self.first[h + 1] {
            let step = self.steps[i as usize];
            let rule = RuleId(step.rule);
            let cause = Cause::rule(rule, id, version);
            match step.kind {
                Kind::Swap => {
                    let weight = core.domain.extend(delta, system.weight(rule));
                    core.insert(step.head, to, weight, cause);
                }
                Kind::Pop => {
                    let weight = core.domain.extend(delta, system.weight(rule));
                    if let Some(new) = core.insert(step.head, to, weight, cause) {
                        self.note(core, new);
                    }
                }
                Kind::Push { below, back } => {
                    let weight = match system.merge(rule) {
                        Some(_) => delta.clone(),
                        None => core.domain.extend(delta, system.weight(rule)),
                    };
                    if !core.domain.is_zero(&weight) {
                        core.insert(step.head, State(below), core.domain.one(), Cause::given());
                        core.insert(back, to, weight, cause);
                    }
                }
            }
        }
    }

    /// An ε-transition into `q`: the frame has returned, and what lies below it is on top now.
    fn returned<S: Semiring, M: Merge<S>>(
        &mut self,
        system: &System<S::Weight, M>,
        core: &mut Core<'_, S>,
        id: TransId,
        delta: &S::Weight,
    ) {
        let (state, _, below) = core.store().ends(id);
        if below.index() < system.state_count() {
            return;
        }
        let version = core.version(id);
        // Insertion adds transitions from control states only, so these lists do not change under
        // our feet.
        let mut head = core.store().first_head(below);
        while head != NONE {
            let entry = core.store().heads[head as usize];
            head = entry.next_of_state;
            if entry.first == NONE {
                continue;
            }
            let top = core.automaton.store.head(state, Symbol(entry.symbol));
            let mut each = entry.first;
            while each != NONE {
                let caller = core.store().trans[each as usize];
                let weight = returned_weight(
                    system,
                    core.domain,
                    entry.call,
                    &core.store().weights[each as usize],
                    delta,
                );
                let cause = Cause::call(each, core.version(each), id, version);
                core.insert(top, State(caller.to), weight, cause);
                each = caller.next;
            }
        }
    }

    /// A transition from a state below calls: those that have returned already go on from it.
    fn below_grew<S: Semiring, M: Merge<S>>(
        &mut self,
        system: &System<S::Weight, M>,
        core: &mut Core<'_, S>,
        id: TransId,
        delta: &S::Weight,
    ) {
        let trans = core.store().trans[id as usize];
        let head = core.store().heads[trans.head as usize];
        let version = core.version(id);
        let mut link = self.epsilons[head.state as usize];
        while link != NONE {
            let (epsilon, next) = self.links[link as usize];
            let (state, _, _) = core.store().ends(epsilon);
            let weight = returned_weight(
                system,
                core.domain,
                head.call,
                delta,
                &core.store().weights[epsilon as usize],
            );
            let top = core.automaton.store.head(state, Symbol(head.symbol));
            let cause = Cause::call(id, version, epsilon, core.version(epsilon));
            core.insert(top, State(trans.to), weight, cause);
            link = next;
        }
    }
}

/// The weight at the return site, from the weights of the caller and of the callee.
pub(crate) fn returned_weight<S: Semiring, M: Merge<S>>(
    system: &System<S::Weight, M>,
    domain: &S,
    call: u32,
    caller: &S::Weight,
    callee: &S::Weight,
) -> S::Weight {
    let merge = if call == NONE { None } else { system.merge(RuleId(call)) };
    match merge {
        Some(merge) => merge.merge(domain, caller, callee),
        None => domain.extend(caller, callee),
    }
}
