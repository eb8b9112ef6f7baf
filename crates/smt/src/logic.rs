//! Builders of truth values: negation, conjunction, disjunction, choice.
//!
//! Rules: constants, double negation, flattening of short lists, complements, contradictory
//! equalities with constants, choices between constants and under the same condition.

use rustc_hash::FxHashMap;

use crate::sort::Sort;
use crate::terms::{Kind, Term, Terms};

/// A nested list is copied into the outer one up to this length: longer ones would make building
/// quadratic.
const FLATTEN: usize = 32;

#[derive(Clone, Copy, PartialEq)]
enum Junction {
    And,
    Or,
}

impl Terms {
    /// Negation.
    pub fn not(&mut self, a: Term) -> Term {
        self.assert_bool(a);
        match self.kind(a) {
            Kind::Constant(value) => self.bool(*value == 0),
            Kind::Not(inner) => *inner,
            _ => self.intern(Kind::Not(a), Sort::Bool),
        }
    }

    /// Conjunction of two.
    pub fn and(&mut self, a: Term, b: Term) -> Term {
        self.junction(Junction::And, &[a, b])
    }

    /// Disjunction of two.
    pub fn or(&mut self, a: Term, b: Term) -> Term {
        self.junction(Junction::Or, &[a, b])
    }

    /// Conjunction of any number; true if there are none.
    pub fn all(&mut self, list: &[Term]) -> Term {
        self.junction(Junction::And, list)
    }

    /// Disjunction of any number; false if there are none.
    pub fn any(&mut self, list: &[Term]) -> Term {
        self.junction(Junction::Or, list)
    }

    fn junction(&mut self, junction: Junction, list: &[Term]) -> Term {
        let (neutral, absorbing) = match junction {
            Junction::And => (Self::TRUE, Self::FALSE),
            Junction::Or => (Self::FALSE, Self::TRUE),
        };
        let mut flat = Vec::with_capacity(list.len());
        for term in list {
            self.assert_bool(*term);
            match (self.kind(*term), junction) {
                (Kind::And(inner), Junction::And) | (Kind::Or(inner), Junction::Or)
                    if inner.len() <= FLATTEN || list.len() == 1 =>
                {
                    flat.extend_from_slice(inner);
                }
                _ if *term == neutral => {}
                _ => flat.push(*term),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        let clash = |term: &Term| match self.kind(*term) {
            Kind::Not(inner) => flat.binary_search(inner).is_ok(),
            _ => *term == absorbing,
        };
        if flat.iter().any(clash) || self.equalities_clash(junction, &flat) {
            return absorbing;
        }
        match flat[..] {
            [] => neutral,
            [only] => only,
            _ => {
                let list = flat.into_boxed_slice();
                let kind = if junction == Junction::And { Kind::And(list) } else { Kind::Or(list) };
                self.intern(kind, Sort::Bool)
            }
        }
    }

    /// Whether two members say that one term equals, or dually differs from, two constants.
    fn equalities_clash(&self, junction: Junction, list: &[Term]) -> bool {
        let equality = |term: Term| match (self.kind(term), junction) {
            (Kind::Eq(x, c), Junction::And) => Some((*x, *c)),
            (Kind::Not(inner), Junction::Or) => match self.kind(*inner) {
                Kind::Eq(x, c) => Some((*x, *c)),
                _ => None,
            },
            _ => None,
        };
        let constant = |(_, c): &(Term, Term)| self.constant(*c).is_some();
        let mut seen = FxHashMap::default();
        let mut found = list.iter().filter_map(|term| equality(*term)).filter(constant);
        found.any(|(x, c)| seen.insert(x, c).is_some_and(|other| other != c))
    }

    /// Exclusive or.
    pub fn xor(&mut self, a: Term, b: Term) -> Term {
        let same = self.iff(a, b);
        self.not(same)
    }

    /// Implication.
    pub fn implies(&mut self, a: Term, b: Term) -> Term {
        let not_a = self.not(a);
        self.or(not_a, b)
    }

    /// Equality of truth values.
    pub fn iff(&mut self, a: Term, b: Term) -> Term {
        self.assert_bool(a);
        self.assert_bool(b);
        if a == b {
            return Self::TRUE;
        }
        match (self.kind(a).clone(), self.kind(b).clone()) {
            (Kind::Constant(value), _) => return if value == 1 { b } else { self.not(b) },
            (_, Kind::Constant(value)) => return if value == 1 { a } else { self.not(a) },
            (Kind::Not(x), Kind::Not(y)) => return self.iff_raw(x, y),
            (Kind::Not(x), _) | (_, Kind::Not(x)) => {
                let other = if matches!(self.kind(a), Kind::Not(_)) { b } else { a };
                if x == other {
                    return Self::FALSE;
                }
                let same = self.iff_raw(x, other);
                return self.not(same);
            }
            _ => {}
        }
        self.iff_raw(a, b)
    }

    fn iff_raw(&mut self, a: Term, b: Term) -> Term {
        self.intern(Kind::Eq(a.min(b), a.max(b)), Sort::Bool)
    }

    /// All are different from each other.
    pub fn distinct(&mut self, list: &[Term]) -> Term {
        let mut pairs = Vec::new();
        for (i, a) in list.iter().enumerate() {
            for b in &list[i + 1..] {
                let same = self.eq(*a, *b);
                pairs.push(self.not(same));
            }
        }
        self.all(&pairs)
    }

    /// `then` if the condition holds, else `otherwise`; of any sort.
    pub fn ite(&mut self, condition: Term, then: Term, otherwise: Term) -> Term {
        self.assert_bool(condition);
        let sort = self.sort(then);
        assert_eq!(sort, self.sort(otherwise), "both sides of a choice have one sort");
        let (mut condition, mut then, mut otherwise) = (condition, then, otherwise);
        match self.kind(condition) {
            Kind::Constant(value) => return if *value == 1 { then } else { otherwise },
            Kind::Not(inner) => {
                condition = *inner;
                std::mem::swap(&mut then, &mut otherwise);
            }
            _ => {}
        }
        if let Kind::Ite(c, x, _) = self.kind(then) {
            if *c == condition {
                then = *x;
            }
        }
        if let Kind::Ite(c, _, y) = self.kind(otherwise) {
            if *c == condition {
                otherwise = *y;
            }
        }
        if then == otherwise {
            return then;
        }
        if sort == Sort::Bool {
            if let Some(simple) = self.ite_bool(condition, then, otherwise) {
                return simple;
            }
        }
        let joined = match sort {
            Sort::Bool => None,
            Sort::Bits(_) => self.join_choices(condition, then, otherwise),
            Sort::Array { .. } => self.join_arrays(condition, then, otherwise),
        };
        if let Some(joined) = joined {
            return joined;
        }
        if let Kind::Ite(c, x, y) = *self.kind(otherwise) {
            if x == then {
                let either = self.or(condition, c);
                if either == Self::TRUE {
                    return then;
                }
                return self.intern(Kind::Ite(either, then, y), sort);
            }
        }
        self.intern(Kind::Ite(condition, then, otherwise), sort)
    }

    fn ite_bool(&mut self, condition: Term, then: Term, otherwise: Term) -> Option<Term> {
        let not = self.not(condition);
        if then == Self::TRUE || then == condition {
            return Some(self.or(condition, otherwise));
        }
        if then == Self::FALSE || then == not {
            return Some(self.and(not, otherwise));
        }
        if otherwise == Self::TRUE || otherwise == not {
            return Some(self.or(not, then));
        }
        if otherwise == Self::FALSE || otherwise == condition {
            return Some(self.and(condition, then));
        }
        let complement = self.not(then);
        (complement == otherwise).then(|| self.iff(condition, then))
    }

    /// A truth value as a vector of one bit.
    pub fn bit_of(&mut self, a: Term) -> Term {
        let (one, zero) = (self.bits(1, 1), self.bits(0, 1));
        self.ite(a, one, zero)
    }

    /// Whether a bit-vector is not zero.
    pub fn is_set(&mut self, a: Term) -> Term {
        let zero = self.bits(0, self.width(a));
        let clear = self.eq(a, zero);
        self.not(clear)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn junctions_are_flat_and_see_complements() {
        let mut t = Terms::new();
        let [a, b, c] = ["a", "b", "c"].map(|name| t.variable(name, Sort::Bool));
        let ab = t.and(a, b);
        let (left, right) = (t.and(ab, c), t.all(&[c, b, a, Terms::TRUE]));
        assert_eq!(left, right);
        let not_a = t.not(a);
        assert_eq!((t.and(left, not_a), t.or(a, not_a)), (Terms::FALSE, Terms::TRUE));
        assert_eq!((t.all(&[]), t.any(&[]), t.or(a, a)), (Terms::TRUE, Terms::FALSE, a));
        assert_eq!((t.not(not_a), t.xor(a, not_a), t.iff(a, not_a)), (a, Terms::TRUE, Terms::FALSE));
    }

    #[test]
    fn one_term_does_not_equal_two_constants() {
        let mut t = Terms::new();
        let x = t.variable("x", Sort::Bits(4));
        let (one, two) = (t.bits(1, 4), t.bits(2, 4));
        let (is_one, is_two) = (t.eq(x, one), t.eq(x, two));
        assert_eq!(t.and(is_one, is_two), Terms::FALSE);
        assert_eq!(t.distinct(&[x, one, x]), Terms::FALSE);
    }

    #[test]
    fn choices_with_known_sides_are_junctions() {
        let mut t = Terms::new();
        let [a, b] = ["a", "b"].map(|name| t.variable(name, Sort::Bool));
        let (or, and, not_b) = (t.or(a, b), t.and(a, b), t.not(b));
        assert_eq!((t.ite(a, Terms::TRUE, b), t.ite(a, b, Terms::FALSE), t.ite(a, b, b)), (or, and, b));
        assert_eq!(t.ite(a, b, not_b), t.iff(a, b));
        let bit = t.bit_of(a);
        assert_eq!(t.is_set(bit), a);
    }
}
