//! Arrays without initial values that a run fills, element by element.

use rustc_hash::{FxHashMap, FxHashSet};
use wherefore_program::{Type, Var};

/// Of arrays that are open, the elements that have got values since.
#[derive(Default)]
pub(super) struct Filled {
    elements: FxHashMap<Var, FxHashSet<Vec<u64>>>,
}

impl Filled {
    /// An element of an array has got a value: whether all of the array have one now.
    pub(super) fn add(&mut self, array: Var, ty: &Type, at: Vec<u64>) -> bool {
        let Type::Array { dimensions, .. } = ty else { return false };
        let sizes = || dimensions.iter().map(|dimension| dimension.length);
        // Below these sizes, and from zero on, an element has one number, whatever its width.
        let starts_at_zero = dimensions.iter().all(|dimension| dimension.low == 0);
        let is_inside = at.iter().zip(sizes()).all(|(index, size)| *index < size);
        if at.len() != dimensions.len() || !starts_at_zero || !is_inside {
            return false;
        }
        let known = self.elements.entry(array).or_default();
        known.insert(at);
        known.len() as u64 == sizes().product::<u64>()
    }

    /// An array has values that are open, or none that are: it is not filled any more.
    pub(super) fn forget(&mut self, array: Var) {
        self.elements.remove(&array);
    }
}
