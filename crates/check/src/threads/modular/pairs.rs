//! Invariants of pairs of threads, and of single ones: the strongest conjunctions of candidates
//! that the moves of all threads keep.
//!
//! For each two points at which two threads may stand at once there is a conjunction over what is
//! shared and the variables of both; none if they never do. A move of a third thread is one that
//! its own invariants with both of them allow (thread-modular reasoning for pairs: Flanagan and
//! Qadeer, SPIN 2003; Hoenicke, Majumdar and Podelski, *Thread modularity at many levels*, POPL
//! 2017). Pairs are needed to know that two threads do not hold one lock. The number of threads
//! does not matter.
//!
//! The search starts with nothing reached and weakens conjunctions: a state that a solver finds
//! outside of one takes away all candidates that it violates.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use wherefore_smt::{BitBlaster, Budget, Outcome, Solver, Term, Terms};

use super::candidates::strongest;
use super::kinds::{End, Kinds};
use crate::symbolic::Store;

/// The roles of threads in a question: the two of a pair, and a third.
const ROLES: usize = 3;

/// Who stands where: one point, or two in order.
type Place = (usize, Option<usize>);

pub(super) struct Pairs<'k, 'a> {
    pub kinds: &'k mut Kinds<'a>,
    budget: &'k Budget,
    /// The candidates of a kind, or of a pair of kinds: over the unknowns of roles 0 and 1.
    pub candidates: BTreeMap<(usize, Option<usize>), Vec<Term>>,
    /// What holds at a place: the candidates that are left.
    known: BTreeMap<Place, BTreeSet<usize>>,
    /// The unknowns of variables in each role.
    roles: [FxHashMap<Term, Term>; ROLES],
    /// Terms that were put into a role.
    in_role: [FxHashMap<Term, Term>; ROLES],
    /// Candidates for two threads in other roles than the first two.
    instances: BTreeMap<(usize, Option<usize>, [usize; 2]), Vec<Term>>,
    /// What is shared after a move: by point, move and role.
    effects: BTreeMap<(usize, usize, usize), Rc<FxHashMap<Term, Term>>>,
    /// The questions that were answered, with what was needed for it.
    answered: FxHashMap<(Place, Question), Vec<Term>>,
    work: VecDeque<Place>,
    waiting: BTreeSet<Place>,
    /// Whether something was taken away.
    is_weaker: bool,
}

/// What a question is about: the point and the number of a move, the one or two other points, and
/// which thread it is that the place is about.
type Question = (usize, usize, usize, usize, u8);

/// No other point.
const NOBODY: usize = usize::MAX;

/// Why there is no proof.
pub(super) enum NoProof {
    /// An error may be reached, as far as the candidates tell.
    Weak,
    Limit,
}

impl<'k, 'a> Pairs<'k, 'a> {
    pub fn new(kinds: &'k mut Kinds<'a>, budget: &'k Budget) -> Self {
        let mut roles: [FxHashMap<Term, Term>; ROLES] = Default::default();
        let variables: BTreeSet<u32> = kinds.kinds.iter().flat_map(|kind| kind.variables.clone()).collect();
        for variable in variables {
            let value = kinds.before.get(variable);
            let Some(name) = kinds.machine.terms.name(value).map(str::to_owned) else { continue };
            let sort = kinds.machine.terms.sort(value);
            for (role, map) in roles.iter_mut().enumerate() {
                map.insert(value, kinds.machine.terms.variable(&format!("{name}@{role}"), sort));
            }
        }
        let mut pairs = Self {
            kinds,
            budget,
            candidates: BTreeMap::new(),
            known: BTreeMap::new(),
            in_role: roles.clone(),
            instances: BTreeMap::new(),
            effects: BTreeMap::new(),
            roles,
            answered: FxHashMap::default(),
            work: VecDeque::new(),
            waiting: BTreeSet::new(),
            is_weaker: false,
        };
        pairs.find_candidates();
        pairs
    }

    /// A term over the unknowns of a thread, in a role.
    pub fn as_role(&mut self, term: Term, role: usize) -> Term {
        self.kinds.machine.terms.substitute_with(term, &mut self.in_role[role])
    }

    /// Whether no error can be reached.
    pub fn prove(&mut self) -> Result<(), NoProof> {
        self.begin()?;
        // At the end everything is asked once more, without the answers that were kept.
        loop {
            self.drain()?;
            self.answered.clear();
            self.is_weaker = false;
            self.work = self.known.keys().copied().collect();
            self.waiting = self.known.keys().copied().collect();
            self.drain()?;
            if !self.is_weaker {
                break;
            }
        }
        self.errors()
    }

    /// Looks at all places that wait for it.
    fn drain(&mut self) -> Result<(), NoProof> {
        while let Some(place) = self.work.pop_front() {
            self.waiting.remove(&place);
            self.budget.look().map_err(|_| NoProof::Limit)?;
            match place {
                (p, None) => self.single(p)?,
                (p, Some(q)) => self.pair(p, q)?,
            }
        }
        Ok(())
    }

    /// The first thread at its start.
    fn begin(&mut self) -> Result<(), NoProof> {
        self.kinds.machine.name_prefix("begin".to_owned());
        let (start, valid) = self.kinds.machine.start();
        let first = self.kinds.kinds[0].first;
        let globals = self.kinds.machine.flat.program.globals.len() as u32;
        let mut map = FxHashMap::default();
        for i in 0..globals {
            if !self.kinds.is_own(i) {
                map.insert(self.kinds.before.get(i), start.get(i));
            }
        }
        let own = self.bound(0, &start, 0);
        map.extend(own);
        self.weaken((first, None), (NOBODY, 0, NOBODY, NOBODY, 0), &[valid], &map)
    }

    /// The unknowns of a kind in a role, with the values of a store.
    fn bound(&self, kind: usize, store: &Store, role: usize) -> Vec<(Term, Term)> {
        let mut map = Vec::new();
        for variable in &self.kinds.kinds[kind].variables {
            let unknown = self.kinds.before.get(*variable);
            let value = store.get(*variable);
            if let Some(unknown) = self.roles[role].get(&unknown) {
                if self.kinds.machine.terms.sort(*unknown) == self.kinds.machine.terms.sort(value) {
                    map.push((*unknown, value));
                }
            }
        }
        map
    }

    /// What is known at a place, with the two threads in these roles.
    fn holds(&mut self, place: Place, roles: [usize; 2]) -> Vec<Term> {
        let Some(known) = self.known.get(&place) else { return vec![Terms::FALSE] };
        let key = (self.kind(place.0), place.1.map(|q| self.kind(q)));
        let known = &strongest(&self.kinds.machine.terms, &self.candidates[&key], known);
        if roles == [0, 1] {
            return known.iter().map(|id| self.candidates[&key][*id]).collect();
        }
        if let Some(list) = self.instances.get(&(key.0, key.1, roles)) {
            return known.iter().map(|id| list[*id]).collect();
        }
        let mut map = FxHashMap::default();
        for (unknown, first) in &self.roles[0] {
            map.insert(*first, self.roles[roles[0]][unknown]);
        }
        for (unknown, second) in &self.roles[1] {
            map.insert(*second, self.roles[roles[1]][unknown]);
        }
        let terms = &mut self.kinds.machine.terms;
        let list = self.candidates[&key].iter().map(|term| terms.substitute_with(*term, &mut map)).collect();
        self.instances.insert((key.0, key.1, roles), list);
        let list = &self.instances[&(key.0, key.1, roles)];
        known.iter().map(|id| list[*id]).collect()
    }

    fn kind(&self, point: usize) -> usize {
        self.kinds.points[point].kind
    }

    /// The place of two points: the smaller one is first.
    fn place(a: usize, b: usize) -> (Place, bool) {
        if a <= b { ((a, Some(b)), false) } else { ((b, Some(a)), true) }
    }

    /// Takes away the candidates of a place that do not hold in some state: `map` gives the values
    /// of the unknowns of roles 0 and 1 and of what is shared.
    ///
    /// A question that was answered before is answered as long as what the answer needed is given:
    /// what is known at the place only gets less.
    fn weaken(
        &mut self,
        place: Place,
        question: Question,
        given: &[Term],
        map: &FxHashMap<Term, Term>,
    ) -> Result<(), NoProof> {
        let key = (self.kind(place.0), place.1.map(|q| self.kind(q)));
        let list = &self.candidates[&key];
        let assumed: FxHashSet<Term> = given.iter().copied().collect();
        let is_known = |core: &Vec<Term>| core.iter().all(|term| assumed.contains(term));
        if assumed.contains(&Terms::FALSE) || self.answered.get(&(place, question)).is_some_and(is_known) {
            return Ok(());
        }
        let mut done = map.clone();
        let terms = &mut self.kinds.machine.terms;
        // Of a place that is reached, only what is left matters.
        let known = self.known.get(&place);
        let after: Vec<Term> = list
            .iter()
            .enumerate()
            .map(|(id, term)| match known {
                Some(known) if !known.contains(&id) => Terms::FALSE,
                _ => terms.substitute_with(*term, &mut done),
            })
            .collect();
        // A solver of its own: it has to know little.
        let mut solver = BitBlaster::new();
        loop {
            let known = self.known.get(&place);
            let mut wanted = given.to_vec();
            if let Some(known) = known {
                // All of it, also what is given: the answer must name what it rests on.
                let left: Vec<Term> = known.iter().map(|id| after[*id]).collect();
                let all = self.kinds.machine.terms.all(&left);
                let violated = self.kinds.machine.terms.not(all);
                if violated == Terms::FALSE {
                    return Ok(());
                }
                wanted.push(violated);
            }
            if wanted.contains(&Terms::FALSE) {
                return Ok(());
            }
            match solver.check(&mut self.kinds.machine.terms, &wanted, self.budget) {
                Outcome::Unsat(mut core) => {
                    core.retain(|term| assumed.contains(term));
                    self.answered.insert((place, question), core);
                    return Ok(());
                }
                Outcome::Unknown(_) => return Err(NoProof::Limit),
                Outcome::Sat(model) => {
                    let values = self.kinds.machine.terms.evaluate_all(&after, &model);
                    let holds = |id: &usize| values[*id].bits() == Some(1);
                    let left: BTreeSet<usize> = match self.known.get(&place) {
                        Some(known) => known.iter().copied().filter(holds).collect(),
                        None => (0..after.len()).filter(holds).collect(),
                    };
                    self.known.insert(place, left);
                    self.changed(place);
                }
            }
        }
    }

    /// What depends on a place is looked at again.
    fn changed(&mut self, place: Place) {
        self.is_weaker = true;
        let mut again = vec![place];
        if let (p, Some(q)) = place {
            again.extend([(p, None), (q, None)]);
            let others: Vec<Place> = self.known.keys().copied().collect();
            for other in others {
                let (a, b) = (other.0, other.1);
                let touches = |point: usize| a == point || b == Some(point);
                if touches(p) || touches(q) {
                    again.push(other);
                }
            }
        }
        for place in again {
            if self.known.contains_key(&place) && self.waiting.insert(place) {
                self.work.push_back(place);
            }
        }
    }

    /// What is shared after a move, whose thread has a role.
    fn shared_after(&mut self, point: usize, at: usize, role: usize) -> Rc<FxHashMap<Term, Term>> {
        if let Some(known) = self.effects.get(&(point, at, role)) {
            return known.clone();
        }
        let mut map = FxHashMap::default();
        for i in 0..self.kinds.machine.flat.program.globals.len() as u32 {
            if self.kinds.is_own(i) {
                continue;
            }
            let (unknown, after) =
                (self.kinds.before.get(i), self.kinds.points[point].moves[at].after.get(i));
            if unknown != after {
                let after = self.as_role(after, role);
                map.insert(unknown, after);
            }
        }
        let map = Rc::new(map);
        self.effects.insert((point, at, role), map.clone());
        map
    }

    /// The variables of a thread after a move, as those of a role.
    fn own_after(&mut self, point: usize, at: usize, role: usize, into: usize) -> Vec<(Term, Term)> {
        let kind = self.kind(point);
        let pairs = self.bound(kind, &self.kinds.points[point].moves[at].after, into);
        pairs.into_iter().map(|(unknown, value)| (unknown, self.as_role(value, role))).collect()
    }

    /// The moves of a thread that may be alone, and what others do to it.
    fn single(&mut self, p: usize) -> Result<(), NoProof> {
        let given = self.holds((p, None), [0, 1]);
        for at in 0..self.kinds.points[p].moves.len() {
            let step = &self.kinds.points[p].moves[at];
            let (guard, starts) = (step.guard, step.starts.clone());
            let to = match step.end {
                End::Point(to) => Some(to),
                End::Error | End::Nowhere => None,
            };
            let mut given = given.clone();
            given.push(self.as_role(guard, 0));
            let shared = self.shared_after(p, at, 0);
            if let Some(to) = to {
                let mut map = (*shared).clone();
                map.extend(self.own_after(p, at, 0, 0));
                self.weaken((to, None), (p, at, NOBODY, NOBODY, 0), &given, &map)?;
            }
            for (kind, values) in &starts {
                let first = self.kinds.kinds[*kind].first;
                let born = self.bound(*kind, values, 0);
                let mut map = (*shared).clone();
                for (unknown, value) in born {
                    let value = self.as_role(value, 0);
                    map.insert(unknown, value);
                }
                self.weaken((first, None), (p, at, NOBODY, NOBODY, 1), &given, &map)?;
                let Some(to) = to else { continue };
                let (place, is_swapped) = Self::place(to, first);
                let (old, new) = if is_swapped { (1, 0) } else { (0, 1) };
                let mut map = (*shared).clone();
                map.extend(self.own_after(p, at, 0, old));
                for (unknown, value) in self.bound(*kind, values, new) {
                    let value = self.as_role(value, 0);
                    map.insert(unknown, value);
                }
                self.weaken(place, (p, at, NOBODY, NOBODY, 2), &given, &map)?;
            }
        }
        for r in 0..self.kinds.points.len() {
            let (place, is_swapped) = Self::place(p, r);
            if !self.known.contains_key(&place) || !self.may_meet(p, r) {
                continue;
            }
            for at in 0..self.kinds.points[r].moves.len() {
                let shared = self.shared_after(r, at, 1);
                if shared.is_empty() {
                    continue;
                }
                let mut given = self.holds((p, None), [0, 1]);
                given.extend(self.holds(place, if is_swapped { [1, 0] } else { [0, 1] }));
                let guard = self.kinds.points[r].moves[at].guard;
                given.push(self.as_role(guard, 1));
                self.weaken((p, None), (r, at, p, NOBODY, 3), &given, &shared)?;
            }
        }
        Ok(())
    }

    fn may_meet(&self, p: usize, q: usize) -> bool {
        self.kind(p) != self.kind(q) || self.kinds.kinds[self.kind(p)].is_many
    }

    /// The moves of two threads, and what a third one does to them.
    fn pair(&mut self, p: usize, q: usize) -> Result<(), NoProof> {
        for (mover, other, role) in [(p, q, 0), (q, p, 1)] {
            let given = self.holds((p, Some(q)), [0, 1]);
            let rest = 1 - role;
            for at in 0..self.kinds.points[mover].moves.len() {
                let step = &self.kinds.points[mover].moves[at];
                let (guard, starts) = (step.guard, step.starts.clone());
                let to = match step.end {
                    End::Point(to) => Some(to),
                    End::Error | End::Nowhere => None,
                };
                let mut given = given.clone();
                given.push(self.as_role(guard, role));
                let shared = self.shared_after(mover, at, role);
                let other_kind = self.kind(other);
                if let Some(to) = to {
                    let (place, is_swapped) = Self::place(to, other);
                    let (mine, theirs) = if is_swapped { (1, 0) } else { (0, 1) };
                    let mut map = (*shared).clone();
                    map.extend(self.own_after(mover, at, role, mine));
                    map.extend(self.unchanged(other_kind, rest, theirs));
                    self.weaken(place, (mover, at, other, NOBODY, 4 + role as u8), &given, &map)?;
                }
                for (kind, values) in &starts {
                    let first = self.kinds.kinds[*kind].first;
                    let (place, is_swapped) = Self::place(other, first);
                    let (theirs, new) = if is_swapped { (1, 0) } else { (0, 1) };
                    let mut map = (*shared).clone();
                    map.extend(self.unchanged(other_kind, rest, theirs));
                    for (unknown, value) in self.bound(*kind, values, new) {
                        let value = self.as_role(value, role);
                        map.insert(unknown, value);
                    }
                    self.weaken(place, (mover, at, other, NOBODY, 6 + role as u8), &given, &map)?;
                }
            }
        }
        for r in 0..self.kinds.points.len() {
            let (with_p, p_swapped) = Self::place(p, r);
            let (with_q, q_swapped) = Self::place(q, r);
            let meets = self.known.contains_key(&with_p) && self.known.contains_key(&with_q);
            // Of one kind there are at least three only if there are many.
            if !meets || !self.may_meet(p, r) || !self.may_meet(q, r) {
                continue;
            }
            for at in 0..self.kinds.points[r].moves.len() {
                let shared = self.shared_after(r, at, 2);
                if shared.is_empty() {
                    continue;
                }
                let mut given = self.holds((p, Some(q)), [0, 1]);
                given.extend(self.holds(with_p, if p_swapped { [2, 0] } else { [0, 2] }));
                given.extend(self.holds(with_q, if q_swapped { [2, 1] } else { [1, 2] }));
                let guard = self.kinds.points[r].moves[at].guard;
                given.push(self.as_role(guard, 2));
                self.weaken((p, Some(q)), (r, at, p, q, 8), &given, &shared)?;
            }
        }
        Ok(())
    }

    /// The variables of a thread in one role, as those of another.
    fn unchanged(&self, kind: usize, from: usize, into: usize) -> Vec<(Term, Term)> {
        let mut map = Vec::new();
        for variable in &self.kinds.kinds[kind].variables {
            let unknown = self.kinds.before.get(*variable);
            if let (Some(from), Some(into)) = (self.roles[from].get(&unknown), self.roles[into].get(&unknown))
            {
                map.push((*into, *from));
            }
        }
        map
    }

    /// No move of a reached point leads to an error.
    fn errors(&mut self) -> Result<(), NoProof> {
        for p in 0..self.kinds.points.len() {
            if !self.known.contains_key(&(p, None)) {
                continue;
            }
            let given = self.holds((p, None), [0, 1]);
            for at in 0..self.kinds.points[p].moves.len() {
                let step = &self.kinds.points[p].moves[at];
                if !matches!(step.end, End::Error) {
                    continue;
                }
                let guard = step.guard;
                let mut wanted = given.clone();
                wanted.push(self.as_role(guard, 0));
                match BitBlaster::new().check(&mut self.kinds.machine.terms, &wanted, self.budget) {
                    Outcome::Unsat(_) => {}
                    Outcome::Sat(_) => return Err(NoProof::Weak),
                    Outcome::Unknown(_) => return Err(NoProof::Limit),
                }
            }
        }
        Ok(())
    }
}
