//! Counting, picking and printing the stores of a relation.

use oxidd::BooleanFunction;
use oxidd::util::num::F64;
use oxidd::util::{FxHasher, OptBool, SatCountCache};
use std::hash::BuildHasherDefault;

use super::core::Predicate;
use super::relations::BddRelations;

/// The values of all variables.
pub type Store = Vec<bool>;

/// The values of some variables; `None` stands for both.
pub type Cube = Vec<Option<bool>>;

/// # Stores
impl BddRelations {
    /// The pairs of stores in `w` (rounded, where there are more than 2⁵³).
    pub fn pair_count(&self, w: &Predicate) -> f64 {
        count(w, 2 * self.variable_count())
    }

    /// The stores from which `w` leads somewhere; for a partial identity, the stores in it.
    pub fn store_count(&self, w: &Predicate) -> f64 {
        count(&self.core().exists(w, &self.inner().nexts), self.variable_count())
    }

    /// The stores from which `w` leads somewhere, as a predicate over current values.
    pub fn stores_of(&self, w: &Predicate) -> Predicate {
        self.core().exists(w, &self.inner().nexts)
    }

    /// Some pair of stores in `w`.
    pub fn pick_pair(&self, w: &Predicate) -> Option<(Store, Store)> {
        // Where both values will do, false is taken.
        let values = w.0.pick_cube(|_, _, _| false)?;
        let value = |level: u32| values[level as usize] == OptBool::True;
        let variables = &self.inner().variables;
        let store = variables.iter().map(|l| value(l.current)).collect();
        Some((store, variables.iter().map(|l| value(l.next)).collect()))
    }

    /// Some store from which `w` leads somewhere; for a partial identity, some store in it.
    pub fn pick_store(&self, w: &Predicate) -> Option<Store> {
        Some(self.pick_pair(w)?.0)
    }

    /// Whether `w` relates `before` to `after`.
    pub fn contains(&self, w: &Predicate, before: &[bool], after: &[bool]) -> bool {
        let pairs = self.inner().variables.iter().zip(before.iter().zip(after));
        w.0.eval(pairs.flat_map(|(l, (a, b))| [(l.current, *a), (l.next, *b)]))
    }

    /// The predicate over current values that holds in `store` alone.
    pub fn store(&self, store: &[bool]) -> Predicate {
        self.cube(&store.iter().copied().map(Some).collect::<Vec<_>>())
    }

    /// The predicate over current values that `cube` stands for.
    pub fn cube(&self, cube: &[Option<bool>]) -> Predicate {
        let core = self.core();
        cube.iter().enumerate().rev().fold(core.top.clone(), |all, (i, value)| match value {
            Some(true) => core.and(&self.var(i), &all),
            Some(false) => core.minus(&all, &self.var(i)),
            None => all,
        })
    }

    /// The stores from which `w` leads somewhere, as a union of cubes: no cube is superfluous, no
    /// value in one is.
    ///
    /// Stops after `limit` cubes. Minato's irredundant sums of products; the number of cubes may be
    /// exponential.
    pub fn cubes(&self, w: &Predicate, limit: usize) -> Vec<Cube> {
        let set = self.core().exists(w, &self.inner().nexts);
        let mut cubes = Vec::new();
        let mut cube = vec![None; self.variable_count()];
        self.cover(&set, &set, &mut cube, limit, &mut cubes);
        cubes
    }

    /// Adds to `cubes` a cover of `lower` that stays within `upper`, each intersected with `cube`;
    /// returns its union.
    fn cover(
        &self,
        lower: &Predicate,
        upper: &Predicate,
        cube: &mut Cube,
        limit: usize,
        cubes: &mut Vec<Cube>,
    ) -> Predicate {
        let core = self.core();
        if *lower == core.bottom || cubes.len() >= limit {
            return core.bottom.clone();
        }
        if *upper == core.top {
            cubes.push(cube.clone());
            return core.top.clone();
        }
        let level = top_level(lower).min(top_level(upper));
        // A domain made by a tensor product may have its variables anywhere: look the level up.
        let Some(i) = self.inner().variables.iter().position(|l| l.current == level) else {
            return core.bottom.clone();
        };
        let (lower_yes, lower_no) = cofactors(lower, level);
        let (upper_yes, upper_no) = cofactors(upper, level);
        cube[i] = Some(false);
        let no = self.cover(&core.minus(&lower_no, &upper_yes), &upper_no, cube, limit, cubes);
        cube[i] = Some(true);
        let yes = self.cover(&core.minus(&lower_yes, &upper_no), &upper_yes, cube, limit, cubes);
        cube[i] = None;
        let rest = core.or(&core.minus(&lower_no, &no), &core.minus(&lower_yes, &yes));
        let both = self.cover(&rest, &core.and(&upper_no, &upper_yes), cube, limit, cubes);
        core.or(&core.ite(&self.var(i), &yes, &no), &both)
    }
}

fn count(w: &Predicate, variables: usize) -> f64 {
    let mut cache: SatCountCache<F64, BuildHasherDefault<FxHasher>> = SatCountCache::default();
    w.0.sat_count(variables as u32, &mut cache).0
}

/// The level of the root; constants lie below all levels.
fn top_level(a: &Predicate) -> u32 {
    a.split().map_or(u32::MAX, |(level, ..)| level)
}

fn cofactors(a: &Predicate, level: u32) -> (Predicate, Predicate) {
    match a.split() {
        Some((top, yes, no)) if top == level => (yes, no),
        _ => (a.clone(), a.clone()),
    }
}
