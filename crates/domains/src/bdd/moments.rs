//! The four values of each variable, one by one: for relations between more than two stores.
//!
//! A weight relates current to next values. Abstraction and interpolation (\[Kie05\] chapters 4 and
//! 5) also speak of the store at the entry of a procedure and of the store handed to a callee. Here
//! a variable can be named, quantified and renamed at each [`Moment`]; a
//! [`companion`](BddRelations::companion) has variables of its own in the same diagrams.

use std::collections::BTreeSet;

use oxidd::BooleanFunction;
use oxidd::util::OptBool;
use rustc_hash::FxHashMap;

use super::core::{Predicate, Renaming};
use super::relations::{BddRelations, Levels};

/// Which value of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Moment {
    /// Before a step.
    Current,
    /// Free for use between two operations: composing weights uses it.
    Temporary,
    /// After a step.
    Next,
    /// At some earlier time.
    History,
}

impl Levels {
    fn at(&self, moment: Moment) -> u32 {
        match moment {
            Moment::Current => self.current,
            Moment::Temporary => self.temporary,
            Moment::Next => self.next,
            Moment::History => self.history,
        }
    }
}

/// Some variables at some moments, to be quantified.
#[derive(Clone)]
pub struct Quantified(Predicate);

/// A renaming of variables from moment to moment, made once and used often.
pub struct Substitution(Renaming);

/// # Moments
impl BddRelations {
    /// The value of variable `i` at a moment.
    pub fn at(&self, i: usize, moment: Moment) -> Predicate {
        self.core().variable(self.inner().variables[i].at(moment))
    }

    /// Prepares the quantification of variables.
    pub fn quantified(&self, variables: impl IntoIterator<Item = (usize, Moment)>) -> Quantified {
        let levels = &self.inner().variables;
        Quantified(self.core().cube(variables.into_iter().map(|(i, moment)| levels[i].at(moment))))
    }

    /// Both sets of variables.
    pub fn quantified_both(&self, a: &Quantified, b: &Quantified) -> Quantified {
        Quantified(self.core().and(&a.0, &b.0))
    }

    /// "There are values such that `a`".
    pub fn some(&self, a: &Predicate, variables: &Quantified) -> Predicate {
        self.core().exists(a, &variables.0)
    }

    /// "There are values such that `a` and `b`".
    pub fn some_of_both(&self, a: &Predicate, b: &Predicate, variables: &Quantified) -> Predicate {
        self.core().and_exists(a, b, &variables.0)
    }

    /// "For all values, `a`".
    pub fn every(&self, a: &Predicate, variables: &Quantified) -> Predicate {
        self.not(&self.some(&self.not(a), variables))
    }

    /// "For all values, if `a` then `b`".
    pub fn every_implied(&self, a: &Predicate, b: &Predicate, variables: &Quantified) -> Predicate {
        self.not(&self.some_of_both(a, &self.not(b), variables))
    }

    /// "`a` implies `b`", as a fact.
    pub fn entails(&self, a: &Predicate, b: &Predicate) -> bool {
        self.core().minus(a, b) == self.core().bottom
    }

    /// Prepares the simultaneous renaming of each variable from its first moment to its second.
    pub fn substitution(&self, moves: impl IntoIterator<Item = (usize, Moment, Moment)>) -> Substitution {
        let levels = &self.inner().variables;
        let pairs: Vec<(u32, u32)> =
            moves.into_iter().map(|(i, from, to)| (levels[i].at(from), levels[i].at(to))).collect();
        Substitution(self.core().brief_renaming(&pairs))
    }

    /// Renames the variables of `a`.
    pub fn substitute(&self, a: &Predicate, substitution: &Substitution) -> Predicate {
        self.core().rename(a, &substitution.0)
    }

    /// One of the assignments of `a`, as a predicate that fixes all variables at these moments;
    /// `None` if there is none.
    pub fn one_of(&self, a: &Predicate, moments: &[Moment]) -> Option<Predicate> {
        let values = a.0.pick_cube(|_, _, _| false)?;
        let levels = self.inner().variables.iter().flat_map(|l| moments.iter().map(|moment| l.at(*moment)));
        let mut levels: Vec<u32> = levels.collect();
        levels.sort_unstable();
        let core = self.core();
        Some(levels.into_iter().rev().fold(core.top.clone(), |all, level| {
            let variable = core.variable(level);
            match values[level as usize] {
                OptBool::True => core.and(&variable, &all),
                _ => core.minus(&all, &variable),
            }
        }))
    }

    /// A conjunction of values of variables that meets `a` and implies `whole`, with as few of them
    /// as a walk finds.
    ///
    /// **Requires:** `a` implies `whole`, and some assignment satisfies it.
    pub fn large_cube(&self, a: &Predicate, whole: &Predicate) -> Predicate {
        let core = self.core();
        let literals = a.0.pick_cube(|_, _, _| false).unwrap_or_default();
        let levels: Vec<(u32, bool)> = (0..)
            .zip(literals)
            .filter(|(_, value)| *value != OptBool::None)
            .map(|(level, value)| (level, value == OptBool::True))
            .collect();
        let literal = |(level, value): (u32, bool)| {
            let variable = core.variable(level);
            if value { variable } else { core.not(&variable) }
        };
        let all = |levels: &[(u32, bool)]| {
            levels.iter().rev().fold(core.top.clone(), |all, level| core.and(&literal(*level), &all))
        };
        let mut kept = levels;
        let mut at = 0;
        while at < kept.len() {
            let mut fewer = kept.clone();
            fewer.remove(at);
            if self.entails(&all(&fewer), whole) {
                kept = fewer;
            } else {
                at += 1;
            }
        }
        all(&kept)
    }

    /// The diagram of `a`, a predicate over current values, from the bottom up: `ends` are false
    /// and true, `choose` gets a variable and what becomes of its two sides (true first). What is
    /// shared in the diagram is visited once.
    pub fn fold<T: Clone>(
        &self,
        a: &Predicate,
        ends: (T, T),
        choose: &mut impl FnMut(usize, T, T) -> T,
    ) -> T {
        self.fold_relation(a, ends, &mut |i, _, high, low| choose(i, high, low))
    }

    /// The same for a relation: `choose` is also told which value of the variable it is.
    pub fn fold_relation<T: Clone>(
        &self,
        a: &Predicate,
        ends: (T, T),
        choose: &mut impl FnMut(usize, Moment, T, T) -> T,
    ) -> T {
        let variables = self.inner().variables.iter().enumerate();
        let of_level: FxHashMap<u32, (usize, Moment)> = variables
            .flat_map(|(i, l)| [(l.current, (i, Moment::Current)), (l.next, (i, Moment::Next))])
            .collect();
        self.fold_with(a, &ends, &of_level, &mut FxHashMap::default(), choose)
    }

    #[allow(clippy::mutable_key_type)] // The hash of a predicate is that of its node, which does not change.
    fn fold_with<T: Clone>(
        &self,
        a: &Predicate,
        ends: &(T, T),
        of_level: &FxHashMap<u32, (usize, Moment)>,
        done: &mut FxHashMap<Predicate, T>,
        choose: &mut impl FnMut(usize, Moment, T, T) -> T,
    ) -> T {
        let Some((level, high, low)) = a.split() else {
            return if *a == self.core().top { ends.1.clone() } else { ends.0.clone() };
        };
        if let Some(known) = done.get(a) {
            return known.clone();
        }
        let high = self.fold_with(&high, ends, of_level, done, choose);
        let low = self.fold_with(&low, ends, of_level, done, choose);
        let (i, moment) = of_level[&level];
        let made = choose(i, moment, high, low);
        done.insert(a.clone(), made.clone());
        made
    }

    /// The variables of this domain that occur in the diagram of `a`, with their moments.
    pub fn support(&self, a: &Predicate) -> BTreeSet<(usize, Moment)> {
        let levels = a.levels();
        let moments = [Moment::Current, Moment::Temporary, Moment::Next, Moment::History];
        let variables = self.inner().variables.iter().enumerate();
        let all = variables.flat_map(|(i, l)| moments.map(|moment| (i, moment, l.at(moment))));
        all.filter(|(_, _, level)| levels.contains(level)).map(|(i, moment, _)| (i, moment)).collect()
    }
}
