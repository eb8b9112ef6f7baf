//! Answers of before that answer again.
//!
//! Many small questions to one solver are about the same few terms. A model of before often
//! satisfies the next question too, and a core of before is often part of it. Looking costs
//! microseconds: values of terms under an old model are kept.

use std::collections::VecDeque;

use crate::model::Model;
use crate::reads::Values;
use crate::terms::{Term, Terms};

/// Models that are kept.
const MODELS: usize = 128;
/// Cores that are kept.
const CORES: usize = 64;
/// Terms that are evaluated for one question before it goes to the search.
const EFFORT: usize = 2000;
/// Values that are kept of one model.
const VALUES: usize = 100_000;

/// Recent models and cores of one solver.
#[derive(Default)]
pub(crate) struct Recall {
    models: VecDeque<(Model, Values)>,
    /// With the number of levels whose assertions the core needs.
    cores: VecDeque<(usize, Vec<Term>)>,
}

impl Recall {
    /// A model of before under which all of these hold.
    pub(crate) fn model(&mut self, terms: &Terms, roots: &[Term]) -> Option<Model> {
        let mut effort = 0;
        let mut found = None;
        'models: for (i, (model, values)) in self.models.iter_mut().enumerate() {
            for root in roots.iter().rev() {
                let value = match values.get(root) {
                    Some(value) => *value,
                    None if effort > EFFORT => continue 'models,
                    None => {
                        let before = values.len();
                        terms.evaluate_with(&[*root], model, values);
                        effort += values.len() - before;
                        values[root]
                    }
                };
                if value == 0 {
                    continue 'models;
                }
            }
            found = Some(i);
            break;
        }
        let recent = self.models.remove(found?)?;
        let model = recent.0.clone();
        self.models.push_front(recent);
        Some(model)
    }

    /// A core of before that is part of the assumptions.
    pub(crate) fn core(&self, assumptions: &[Term]) -> Option<Vec<Term>> {
        let inside = |core: &Vec<Term>| core.iter().all(|term| assumptions.contains(term));
        self.cores.iter().map(|(_, core)| core).find(|core| inside(core)).cloned()
    }

    /// Keeps a model.
    pub(crate) fn add_model(&mut self, model: &Model) {
        self.models.retain(|(_, values)| values.len() < VALUES);
        self.models.truncate(MODELS - 1);
        self.models.push_front((model.clone(), Values::default()));
    }

    /// Keeps a core that holds while there are at least so many levels.
    pub(crate) fn add_core(&mut self, levels: usize, core: &[Term]) {
        self.cores.truncate(CORES - 1);
        self.cores.push_front((levels, core.to_vec()));
    }

    /// Forgets the cores of levels that are gone.
    pub(crate) fn pop(&mut self, levels: usize) {
        self.cores.retain(|(needed, _)| *needed <= levels);
    }
}
