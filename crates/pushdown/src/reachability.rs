//! The Boolean domain: is there a path at all?
//!
//! \[Lal09\] Def. 2.4.12: `({true, false}, ∨, ∧, false, true)`. With it, algorithms on weighted
//! systems become those on plain ones. Chains have two elements; every operation is one
//! instruction.

use crate::semiring::{Adjoint, Semiring};

/// The Boolean domain: `true` is "there is a path".
///
/// ```
/// use wherefore_pushdown::{Reachability, Semiring};
///
/// assert!(Reachability.combine(&true, &false));
/// assert!(!Reachability.extend(&true, &false));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reachability;

impl Semiring for Reachability {
    type Weight = bool;

    #[inline]
    fn zero(&self) -> bool {
        false
    }

    #[inline]
    fn one(&self) -> bool {
        true
    }

    #[inline]
    fn combine(&self, a: &bool, b: &bool) -> bool {
        *a | *b
    }

    #[inline]
    fn extend(&self, a: &bool, b: &bool) -> bool {
        *a & *b
    }

    #[inline]
    fn is_zero(&self, w: &bool) -> bool {
        !*w
    }

    #[inline]
    fn is_one(&self, w: &bool) -> bool {
        *w
    }

    #[inline]
    fn join(&self, into: &mut bool, w: &bool) -> bool {
        let grew = *w & !*into;
        *into |= *w;
        grew
    }

    #[inline]
    fn difference(&self, a: &bool, b: &bool) -> Option<bool> {
        Some(*a & !*b)
    }

    #[inline]
    fn star(&self, _: &bool) -> bool {
        true
    }
}

impl Adjoint for Reachability {
    type Context = bool;

    #[inline]
    fn any_context(&self) -> bool {
        true
    }

    #[inline]
    fn no_context(&self) -> bool {
        false
    }

    #[inline]
    fn join_context(&self, into: &mut bool, context: &bool) -> bool {
        self.join(into, context)
    }

    #[inline]
    fn pull(&self, before: &bool, context: &bool, after: &bool) -> bool {
        *before & *context & *after
    }

    #[inline]
    fn completes(&self, w: &bool, context: &bool) -> bool {
        *w & *context
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws;

    #[test]
    fn all_laws_hold() {
        laws::semiring(&Reachability, &[true, false]).unwrap();
        laws::adjoint(&Reachability, &[true, false]).unwrap();
    }

    #[test]
    fn joining_reports_only_a_change() {
        let mut w = false;
        assert!(!Reachability.join(&mut w, &false));
        assert!(Reachability.join(&mut w, &true));
        assert!(!Reachability.join(&mut w, &true));
        assert!(w);
    }
}
