//! Vectors of one length that share the parts in which they agree.
//!
//! A program has a state at each location, and a step changes little of it: states are trees whose
//! parts are shared, so that a copy costs nothing and a comparison looks at what differs.

use std::sync::Arc;

/// The number of parts of a part.
const WIDTH: usize = 16;

/// A vector whose length does not change.
#[derive(Clone, Debug)]
pub(crate) struct Shared<T> {
    root: Arc<Tree<T>>,
    /// The number of elements below each part of the root.
    below: usize,
    len: usize,
}

#[derive(Clone, Debug)]
enum Tree<T> {
    Leaf(Vec<T>),
    Inner(Vec<Arc<Tree<T>>>),
}

impl<T: Clone + PartialEq> Shared<T> {
    pub(crate) fn get(&self, at: usize) -> Option<&T> {
        let (mut tree, mut below, mut at) = (&*self.root, self.below, at);
        loop {
            match tree {
                Tree::Leaf(values) => return values.get(at),
                Tree::Inner(parts) => tree = parts.get(at / below)?,
            }
            at %= below;
            below /= WIDTH;
        }
    }

    /// The place of an element. The parts around it are copied if others share them.
    ///
    /// # Panics
    /// If there is no such element.
    pub(crate) fn get_mut(&mut self, at: usize) -> &mut T {
        let (mut tree, mut below, mut at) = (Arc::make_mut(&mut self.root), self.below, at);
        loop {
            match tree {
                Tree::Leaf(values) => return &mut values[at],
                Tree::Inner(parts) => tree = Arc::make_mut(&mut parts[at / below]),
            }
            at %= below;
            below /= WIDTH;
        }
    }

    /// Sets an element.
    pub(crate) fn set(&mut self, at: usize, value: T) {
        if self.get(at) != Some(&value) {
            *self.get_mut(at) = value;
        }
    }

    /// Whether something holds of all pairs of elements, if it holds of those that are equal.
    pub(crate) fn all(&self, other: &Self, holds: &impl Fn(&T, &T) -> bool) -> bool {
        all(&self.root, &other.root, holds)
    }

    /// Changes the elements that do not include those of another vector.
    pub(crate) fn include(
        &mut self,
        other: &Self,
        includes: &impl Fn(&T, &T) -> bool,
        change: &mut impl FnMut(&mut T, &T),
    ) {
        include(&mut self.root, &other.root, includes, change);
    }
}

impl<T: Clone + PartialEq> FromIterator<T> for Shared<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut values = values.into_iter();
        let mut parts = Vec::new();
        let mut len = 0;
        loop {
            let leaf: Vec<T> = values.by_ref().take(WIDTH).collect();
            len += leaf.len();
            let is_last = leaf.len() < WIDTH;
            if !leaf.is_empty() || parts.is_empty() {
                parts.push(Arc::new(Tree::Leaf(leaf)));
            }
            if is_last {
                break;
            }
        }
        let mut below = 1;
        while parts.len() > 1 {
            below *= WIDTH;
            parts = parts.chunks(WIDTH).map(|chunk| Arc::new(Tree::Inner(chunk.to_vec()))).collect();
        }
        let root = parts.pop().unwrap_or_else(|| Arc::new(Tree::Leaf(Vec::new())));
        Self { root, below, len }
    }
}

impl<T: PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && all(&self.root, &other.root, &|a, b| a == b)
    }
}

impl<T: Eq> Eq for Shared<T> {}

fn all<T>(left: &Arc<Tree<T>>, right: &Arc<Tree<T>>, holds: &impl Fn(&T, &T) -> bool) -> bool {
    if Arc::ptr_eq(left, right) {
        return true;
    }
    match (&**left, &**right) {
        (Tree::Leaf(left), Tree::Leaf(right)) => left.iter().zip(right).all(|(a, b)| holds(a, b)),
        (Tree::Inner(left), Tree::Inner(right)) => left.iter().zip(right).all(|(a, b)| all(a, b, holds)),
        (Tree::Leaf(_), Tree::Inner(_)) | (Tree::Inner(_), Tree::Leaf(_)) => false,
    }
}

fn include<T: Clone + PartialEq>(
    into: &mut Arc<Tree<T>>,
    more: &Arc<Tree<T>>,
    includes: &impl Fn(&T, &T) -> bool,
    change: &mut impl FnMut(&mut T, &T),
) {
    if all(into, more, includes) {
        return;
    }
    // What becomes equal to the other part is shared with it.
    let is_other = match (Arc::make_mut(into), &**more) {
        (Tree::Leaf(into), Tree::Leaf(more)) => {
            for (into, more) in into.iter_mut().zip(more) {
                if !includes(into, more) {
                    change(into, more);
                }
            }
            into == more
        }
        (Tree::Inner(into), Tree::Inner(more)) => {
            for (into, more) in into.iter_mut().zip(more) {
                include(into, more, includes, change);
            }
            into.iter().zip(more).all(|(into, more)| Arc::ptr_eq(into, more))
        }
        (Tree::Leaf(_), Tree::Inner(_)) | (Tree::Inner(_), Tree::Leaf(_)) => false,
    };
    if is_other {
        *into = Arc::clone(more);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Shared;

    proptest! {
        /// It does what a vector does, for all shapes of trees.
        #[test]
        fn it_is_a_vector(
            values in proptest::collection::vec(0_u8..4, 0..600),
            more in proptest::collection::vec((0_usize..600, 0_u8..4), 0..40),
        ) {
            let first: Shared<u8> = values.iter().copied().collect();
            let (mut second, mut changed) = (first.clone(), values.clone());
            for (at, value) in &more {
                if let Some(cell) = changed.get_mut(*at) {
                    *cell = *value;
                    second.set(*at, *value);
                }
            }
            for at in 0..values.len() {
                prop_assert_eq!(first.get(at), values.get(at));
                prop_assert_eq!(second.get(at), changed.get(at));
            }
            prop_assert_eq!(first.get(values.len()), None);
            prop_assert_eq!(first == second, values == changed);
            let wide = values.iter().zip(&changed).all(|(a, b)| a >= b);
            prop_assert_eq!(first.all(&second, &|a, b| a >= b), wide);
            let mut both = first.clone();
            both.include(&second, &|a, b| a >= b, &mut |a, b| *a = *b);
            let most: Shared<u8> = values.iter().zip(&changed).map(|(a, b)| *a.max(b)).collect();
            prop_assert!(both == most);
        }
    }
}
