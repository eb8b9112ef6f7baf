//! Stores, and how formulas about them move along steps, calls and returns.
//!
//! \[Kie05\] §5.2. Three kinds of formulas: at a *point* of a procedure they speak of its store now
//! (current) and of its store at entry (history); at the *exit*, of the globals it leaves (current)
//! and of its store at entry (history); at the *pivot* of a call, of the caller's store at entry
//! (history), of the caller's locals (current) and of the callee's store at entry (next).

use wherefore_domains::bdd::{BddRelations, Moment, Predicate, Quantified, Substitution};

use Moment::{Current, History, Next};

/// A store: Boolean variables, some of them local to a procedure.
pub struct Space {
    domain: BddRelations,
    is_local: Vec<bool>,
    locals_now: Quantified,
    globals_now: Quantified,
    nexts: Quantified,
    /// All that only the caller knows.
    callers: Quantified,
    entry_to_next: Substitution,
    next_to_entry: Substitution,
    next_to_now: Substitution,
    now_to_next: Substitution,
    globals_to_next: Substitution,
    globals_to_now: Substitution,
    same: Predicate,
    /// Everything that formulas speak of.
    all: Quantified,
}

impl Space {
    /// The stores of a domain, with these of its variables as locals.
    pub fn new(domain: BddRelations, locals: &[usize]) -> Self {
        let count = domain.variable_count();
        let mut is_local = vec![false; count];
        for local in locals {
            is_local[*local] = true;
        }
        let all = || 0..count;
        let globals = || all().filter(|i| !is_local[*i]);
        let moves = |from: Moment, to: Moment| domain.substitution(all().map(|i| (i, from, to)));
        let locals_now = domain.quantified(locals.iter().map(|i| (*i, Current)));
        let histories = domain.quantified(all().map(|i| (i, History)));
        let same = |i: usize| domain.equiv(&domain.at(i, Current), &domain.at(i, History));
        Self {
            globals_now: domain.quantified(globals().map(|i| (i, Current))),
            nexts: domain.quantified(all().map(|i| (i, Next))),
            callers: domain.quantified_both(&histories, &locals_now),
            entry_to_next: moves(History, Next),
            next_to_entry: moves(Next, History),
            next_to_now: moves(Next, Current),
            now_to_next: moves(Current, Next),
            globals_to_next: domain.substitution(globals().map(|i| (i, Current, Next))),
            globals_to_now: domain.substitution(globals().map(|i| (i, Next, Current))),
            same: all().rev().fold(domain.constant(true), |rest, i| domain.and(&same(i), &rest)),
            all: domain.quantified(all().flat_map(|i| [Current, Next, History].map(|moment| (i, moment)))),
            locals_now,
            is_local,
            domain,
        }
    }

    /// The diagrams.
    pub fn domain(&self) -> &BddRelations {
        &self.domain
    }

    /// All variables, at all moments that formulas speak of.
    pub fn everything(&self) -> &Quantified {
        &self.all
    }

    /// "The store now is the store at entry".
    pub fn entry(&self) -> &Predicate {
        &self.same
    }

    /// A step that changes some variables: `relation` speaks of current values and of the next
    /// values of the changed ones.
    pub fn step(&self, changed: &[usize], relation: Predicate) -> Step {
        let d = &self.domain;
        let changes = |i: usize| changed.contains(&i);
        let kept: Vec<usize> =
            (0..self.is_local.len()).filter(|i| !self.is_local[*i] && !changes(*i)).collect();
        Step {
            relation,
            changed_now: d.quantified(changed.iter().map(|i| (*i, Current))),
            changed_globals_now: d
                .quantified(changed.iter().filter(|i| !self.is_local[**i]).map(|i| (*i, Current))),
            changed_next: d.quantified(changed.iter().map(|i| (*i, Next))),
            to_now: d.substitution(changed.iter().map(|i| (*i, Next, Current))),
            to_next: d.substitution(changed.iter().map(|i| (*i, Current, Next))),
            kept_to_next: d.substitution(kept.iter().map(|i| (*i, Current, Next))),
            kept_to_now: d.substitution(kept.iter().map(|i| (*i, Next, Current))),
            entry_after: d.substitution(
                (0..self.is_local.len()).map(|i| (i, History, if changes(i) { Next } else { Current })),
            ),
        }
    }

    /// What holds after a step, if `before` holds before it: the strongest such formula.
    pub fn after(&self, before: &Predicate, step: &Step) -> Predicate {
        let d = &self.domain;
        d.substitute(&d.some_of_both(before, &step.relation, &step.changed_now), &step.to_now)
    }

    /// What must hold before a step for `after` to hold after it: the weakest such formula.
    pub fn before(&self, after: &Predicate, step: &Step) -> Predicate {
        let d = &self.domain;
        d.every_implied(&step.relation, &d.substitute(after, &step.to_next), &step.changed_next)
    }

    /// The stores before a step from which it can lead to `after`.
    pub fn can_reach(&self, after: &Predicate, step: &Step) -> Predicate {
        let d = &self.domain;
        d.some_of_both(&step.relation, &d.substitute(after, &step.to_next), &step.changed_next)
    }

    /// The stores before a call from which it can lead to `pivot`.
    pub fn can_push(&self, pivot: &Predicate, push: &Step) -> Predicate {
        let d = &self.domain;
        d.some_of_both(&push.relation, &d.substitute(pivot, &push.kept_to_now), &push.changed_next)
    }

    /// One case of a call that returns: what holds at the pivot, and at the callee's exit.
    ///
    /// `all` speaks of the pivot, and of the globals after the return as current ones.
    pub fn split_return(&self, all: &Predicate) -> Option<(Predicate, Predicate)> {
        let d = &self.domain;
        let one = d.one_of(all, &[History, Current, Next])?;
        let pivot = d.some(&one, &self.globals_now);
        let exit = d.substitute(&d.some(&one, &self.callers), &self.next_to_entry);
        Some((pivot, exit))
    }

    /// At the pivot, after a call whose step is `push`.
    pub fn after_push(&self, before: &Predicate, push: &Step) -> Predicate {
        let d = &self.domain;
        let called = d.some_of_both(before, &push.relation, &push.changed_globals_now);
        d.substitute(&called, &push.kept_to_next)
    }

    /// Before the call, for `pivot` to hold.
    pub fn before_push(&self, pivot: &Predicate, push: &Step) -> Predicate {
        let d = &self.domain;
        d.every_implied(&push.relation, &d.substitute(pivot, &push.kept_to_now), &push.changed_next)
    }

    /// At the first point of a callee that will not return: what the caller knows is forgotten
    /// (\[Kie05\] §5.2.4).
    pub fn after_enter(&self, pivot: &Predicate) -> Predicate {
        let d = &self.domain;
        d.substitute(&d.some(pivot, &self.callers), &self.next_to_now)
    }

    /// At the pivot, for `entry` to hold at the first point of the callee.
    pub fn before_enter(&self, entry: &Predicate) -> Predicate {
        self.domain.substitute(entry, &self.now_to_next)
    }

    /// What is left of a formula when the locals are gone: at the exit.
    pub fn without_locals(&self, point: &Predicate) -> Predicate {
        self.domain.some(point, &self.locals_now)
    }

    /// Where the caller goes on, from the pivot and the effect of the callee.
    pub fn after_return(&self, pivot: &Predicate, exit: &Predicate) -> Predicate {
        let d = &self.domain;
        d.some_of_both(pivot, &self.exit_at_pivot(exit), &self.nexts)
    }

    /// At the pivot, for `after` to hold where the caller goes on, if the callee has the effect
    /// `exit`.
    pub fn pivot_before(&self, after: &Predicate, exit: &Predicate) -> Predicate {
        let d = &self.domain;
        d.every_implied(&self.exit_at_pivot(exit), after, &self.globals_now)
    }

    /// The weakest effect of a callee that takes `pivot` to `after`.
    pub fn exit_before(&self, after: &Predicate, pivot: &Predicate) -> Predicate {
        let d = &self.domain;
        d.substitute(&d.every_implied(pivot, after, &self.callers), &self.next_to_entry)
    }

    /// A formula of an exit, read at a pivot: the callee's store at entry is the next one.
    pub fn exit_at_pivot(&self, exit: &Predicate) -> Predicate {
        self.domain.substitute(exit, &self.entry_to_next)
    }

    /// `after`, read at the pivot as if the callee did nothing.
    pub fn pivot_if_skipped(&self, after: &Predicate) -> Predicate {
        self.domain.substitute(after, &self.globals_to_next)
    }

    /// `pivot`, read before the call as if the call did nothing; `None` if it speaks of the
    /// callee's locals.
    pub fn point_if_skipped(&self, pivot: &Predicate) -> Option<Predicate> {
        let d = &self.domain;
        let of_callee = |(i, moment): &(usize, Moment)| *moment == Next && self.is_local[*i];
        (!d.support(pivot).iter().any(of_callee)).then(|| d.substitute(pivot, &self.globals_to_now))
    }
}

/// A step between two stores, prepared for use with many formulas.
pub struct Step {
    relation: Predicate,
    changed_now: Quantified,
    changed_globals_now: Quantified,
    changed_next: Quantified,
    to_now: Substitution,
    to_next: Substitution,
    kept_to_next: Substitution,
    kept_to_now: Substitution,
    /// The store at entry is the one after the step.
    entry_after: Substitution,
}

impl Step {
    /// The relation: current values, and next values of what changes.
    pub fn relation(&self) -> &Predicate {
        &self.relation
    }

    /// A formula of a point, read of the store after the step: current values of the store before
    /// it where nothing changes.
    pub fn read_after(&self, domain: &BddRelations, point: &Predicate) -> Predicate {
        domain.substitute(point, &self.to_next)
    }

    /// A formula of the first point of a callee, read when it is entered by this step.
    pub fn read_at_entry(&self, domain: &BddRelations, point: &Predicate) -> Predicate {
        self.read_after(domain, &domain.substitute(point, &self.entry_after))
    }

    /// A formula of a pivot, read when the callee is entered by this step.
    pub fn read_at_pivot(&self, domain: &BddRelations, pivot: &Predicate) -> Predicate {
        domain.substitute(pivot, &self.kept_to_now)
    }
}

/// The relation between truth values of predicates before and after a step (\[Kie05\] Example 4.1).
///
/// `bits` are a [companion](BddRelations::companion) of the store's variables: predicate `i` before
/// the step is current bit `i`, predicate `j` after it is next bit `j`.
pub fn existential_abstraction(
    space: &Space,
    bits: &BddRelations,
    (before, step, after): (&[Predicate], &Step, &[Predicate]),
) -> Predicate {
    let d = &space.domain;
    let link = |all: Predicate, (bit, formula): (Predicate, Predicate)| d.and(&all, &d.equiv(&bit, &formula));
    let now = before.iter().enumerate().map(|(i, formula)| (bits.var(i), formula.clone()));
    let next = after.iter().enumerate().map(|(j, formula)| (bits.next(j), step.read_after(d, formula)));
    let linked = now.fold(step.relation.clone(), link);
    d.some(&next.fold(linked, link), &space.all)
}
