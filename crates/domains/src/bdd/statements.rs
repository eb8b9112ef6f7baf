//! Builders: predicates over the variables, and weights of statements.

use wherefore_pushdown::Semiring;

use super::core::Predicate;
use super::relations::{BddRelations, Levels, identity};

/// # Predicates
impl BddRelations {
    /// The current value of variable `i`.
    ///
    /// # Panics
    /// If there is no variable `i`, as in all operations that take a variable.
    pub fn var(&self, i: usize) -> Predicate {
        self.core().variable(self.inner().variables[i].current)
    }

    /// The next value of variable `i`.
    pub fn next(&self, i: usize) -> Predicate {
        self.core().variable(self.inner().variables[i].next)
    }

    /// The predicate that always has this value.
    pub fn constant(&self, value: bool) -> Predicate {
        if value { self.core().top.clone() } else { self.core().bottom.clone() }
    }

    /// Negation.
    pub fn not(&self, a: &Predicate) -> Predicate {
        self.core().not(a)
    }

    /// Conjunction.
    pub fn and(&self, a: &Predicate, b: &Predicate) -> Predicate {
        self.core().and(a, b)
    }

    /// Disjunction.
    pub fn or(&self, a: &Predicate, b: &Predicate) -> Predicate {
        self.core().or(a, b)
    }

    /// Exclusive disjunction.
    pub fn xor(&self, a: &Predicate, b: &Predicate) -> Predicate {
        self.core().xor(a, b)
    }

    /// Equivalence.
    pub fn equiv(&self, a: &Predicate, b: &Predicate) -> Predicate {
        self.core().equiv(a, b)
    }

    /// If `condition` then `a` else `b`.
    pub fn ite(&self, condition: &Predicate, a: &Predicate, b: &Predicate) -> Predicate {
        self.core().ite(condition, a, b)
    }

    /// "There are values of these variables, current and next, such that `a`".
    pub fn exists(&self, a: &Predicate, variables: &[usize]) -> Predicate {
        let levels = variables.iter().map(|i| self.inner().variables[*i]);
        let cube = self.core().cube(levels.flat_map(|l| [l.current, l.next]));
        self.core().exists(a, &cube)
    }

    /// Reads `a`, a predicate over current values, over next values instead.
    pub fn primed(&self, a: &Predicate) -> Predicate {
        self.core().rename(a, &self.inner().transpose)
    }
}

/// # Weights
impl BddRelations {
    /// "These variables keep their values": a predicate, not a weight, as it says nothing of the
    /// others.
    pub fn identity_on(&self, variables: impl IntoIterator<Item = usize>) -> Predicate {
        let levels: Vec<Levels> = variables.into_iter().map(|i| self.inner().variables[i]).collect();
        identity(self.core(), &levels)
    }

    /// The step that changes the given variables so that `p` holds, a predicate over current values
    /// and over the next values of the changed variables; others keep their values.
    ///
    /// The domain remembers the result, for as long as it lives, and composes with it faster than
    /// with other weights: build the weights of rules with this, or with [`assign`](Self::assign),
    /// [`havoc`](Self::havoc) and [`assume`](Self::assume), which use it.
    pub fn transition(&self, changed: &[usize], p: &Predicate) -> Predicate {
        let kept = self.identity_on((0..self.variable_count()).filter(|i| !changed.contains(i)));
        let w = self.and(p, &kept);
        if !self.is_zero(&w) && !self.is_one(&w) {
            self.remember_frame(&w, changed, p);
        }
        w
    }

    /// Assigns to each variable the value of the predicate over current values, all at once; others
    /// keep their values.
    ///
    /// Constants, copies and expressions: `assign(&[(0, domain.constant(true)), (1,
    /// domain.var(2))])`.
    pub fn assign(&self, assignments: &[(usize, Predicate)]) -> Predicate {
        let becomes = assignments.iter().fold(self.constant(true), |all, (i, value)| {
            let becomes = self.equiv(&self.next(*i), value);
            self.and(&all, &becomes)
        });
        let changed: Vec<usize> = assignments.iter().map(|(i, _)| *i).collect();
        self.transition(&changed, &becomes)
    }

    /// Gives these variables any values; others keep theirs.
    pub fn havoc(&self, variables: &[usize]) -> Predicate {
        self.transition(variables, &self.constant(true))
    }

    /// The partial identity on the stores that satisfy `condition`, a predicate over current
    /// values.
    ///
    /// The same weight as [`assume`](Self::assume), but not remembered: for sets that come and go.
    pub fn partial_identity(&self, condition: &Predicate) -> Predicate {
        self.and(condition, &self.one())
    }

    /// Goes on only in stores that satisfy `condition`, a predicate over current values: a partial
    /// identity.
    pub fn assume(&self, condition: &Predicate) -> Predicate {
        self.transition(&[], condition)
    }
}
