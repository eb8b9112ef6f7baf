//! Walks over terms: free variables, size, substitution. None of them recurses, and none visits a
//! term twice.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::terms::{Kind, Term, Terms};

impl Terms {
    /// Calls `f` with every immediate subterm, from left to right.
    pub fn for_each_child(&self, term: Term, mut f: impl FnMut(Term)) {
        match self.kind(term) {
            Kind::Constant(_) | Kind::Variable(_) => {}
            Kind::Not(a)
            | Kind::Neg(a)
            | Kind::BitNot(a)
            | Kind::Extract { value: a, .. }
            | Kind::ZeroExtend(a)
            | Kind::SignExtend(a)
            | Kind::ConstArray(a) => f(*a),
            Kind::Eq(a, b)
            | Kind::ULt(a, b)
            | Kind::SLt(a, b)
            | Kind::Binary(_, a, b)
            | Kind::Concat(a, b)
            | Kind::Select(a, b) => {
                f(*a);
                f(*b);
            }
            Kind::Ite(a, b, c) | Kind::Store(a, b, c) => {
                f(*a);
                f(*b);
                f(*c);
            }
            Kind::And(list) | Kind::Or(list) | Kind::Float(_, list) => list.iter().copied().for_each(f),
        }
    }

    /// Visits all subterms of the roots, each once and after its own subterms. `enter` says whether
    /// to go into a term; it is asked once for each.
    pub(crate) fn postorder(
        &self,
        roots: &[Term],
        mut enter: impl FnMut(Term) -> bool,
        mut visit: impl FnMut(Term),
    ) {
        let mut stack: Vec<(Term, bool)> = roots.iter().rev().map(|root| (*root, false)).collect();
        let mut seen = FxHashSet::default();
        while let Some((term, entered)) = stack.pop() {
            if entered {
                visit(term);
            } else if seen.insert(term) && enter(term) {
                stack.push((term, true));
                let start = stack.len();
                self.for_each_child(term, |child| stack.push((child, false)));
                stack[start..].reverse();
            }
        }
    }

    /// The free variables of a term, in the order in which they were made.
    pub fn variables(&self, term: Term) -> Vec<Term> {
        let mut found = Vec::new();
        self.postorder(
            &[term],
            |_| true,
            |t| {
                if matches!(self.kind(t), Kind::Variable(_)) {
                    found.push(t);
                }
            },
        );
        found.sort_unstable();
        found
    }

    /// How many different subterms a term has, itself included.
    pub fn size(&self, term: Term) -> usize {
        let mut size = 0;
        self.postorder(&[term], |_| true, |_| size += 1);
        size
    }

    /// The term with others in place of some of its subterms (usually variables), all at once.
    /// What is put in is not looked at again.
    ///
    /// ```
    /// use wherefore_smt::{Sort, Terms};
    ///
    /// let mut terms = Terms::new();
    /// let [x, y] = ["x", "y"].map(|name| terms.variable(name, Sort::Bits(8)));
    /// let less = terms.ult(x, y);
    /// let swapped = terms.substitute(less, &[(x, y), (y, x)].into_iter().collect());
    /// assert_eq!(swapped, terms.ult(y, x));
    /// ```
    pub fn substitute(&mut self, term: Term, map: &FxHashMap<Term, Term>) -> Term {
        let mut done = map.clone();
        self.substitute_with(term, &mut done)
    }

    /// As [`Terms::substitute`], with a cache that can be kept for more terms under the same
    /// substitution: it starts as the substitution itself.
    pub fn substitute_with(&mut self, term: Term, done: &mut FxHashMap<Term, Term>) -> Term {
        let mut order = Vec::new();
        self.postorder(&[term], |t| !done.contains_key(&t), |t| order.push(t));
        for t in order {
            let new = self.rebuild(t, done);
            done.insert(t, new);
        }
        done[&term]
    }

    /// The term with its subterms replaced.
    fn rebuild(&mut self, term: Term, done: &FxHashMap<Term, Term>) -> Term {
        let mut same = true;
        self.for_each_child(term, |child| same &= done[&child] == child);
        if same {
            return term;
        }
        let width = self.width(term);
        match self.kind(term).clone() {
            Kind::Constant(_) | Kind::Variable(_) => term,
            Kind::Not(a) => self.not(done[&a]),
            Kind::And(list) => {
                let list: Vec<Term> = list.iter().map(|t| done[t]).collect();
                self.all(&list)
            }
            Kind::Or(list) => {
                let list: Vec<Term> = list.iter().map(|t| done[t]).collect();
                self.any(&list)
            }
            Kind::Eq(a, b) => self.eq(done[&a], done[&b]),
            Kind::ULt(a, b) => self.ult(done[&a], done[&b]),
            Kind::SLt(a, b) => self.slt(done[&a], done[&b]),
            Kind::Ite(c, a, b) => self.ite(done[&c], done[&a], done[&b]),
            Kind::Neg(a) => self.neg(done[&a]),
            Kind::BitNot(a) => self.bit_not(done[&a]),
            Kind::Binary(op, a, b) => self.binary(op, done[&a], done[&b]),
            Kind::Float(op, list) => {
                let list: Vec<Term> = list.iter().map(|t| done[t]).collect();
                self.float(op, &list)
            }
            Kind::Extract { value, low } => self.extract(done[&value], low, width),
            Kind::Concat(a, b) => self.concat(done[&a], done[&b]),
            Kind::ZeroExtend(a) => self.zero_extend(done[&a], width),
            Kind::SignExtend(a) => self.sign_extend(done[&a], width),
            Kind::Select(a, i) => self.select(done[&a], done[&i]),
            Kind::Store(a, i, v) => self.store(done[&a], done[&i], done[&v]),
            Kind::ConstArray(v) => match self.sort(term) {
                crate::Sort::Array { index, .. } => self.const_array(index, done[&v]),
                _ => unreachable!("a constant array is an array"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Model, Sort, Value};

    #[test]
    fn deep_terms_do_not_overflow_the_stack() {
        let mut t = Terms::new();
        let [x, y] = ["x", "y"].map(|name| t.variable(name, Sort::Bits(32)));
        let mut deep = x;
        for _ in 0..50_000 {
            let product = t.mul(deep, y);
            deep = t.bit_xor(product, x);
        }
        assert_eq!(t.size(deep), 100_002);
        assert_eq!(t.variables(deep), [x, y]);
        let one = t.bits(1, 32);
        let folded = t.substitute(deep, &[(y, one)].into_iter().collect());
        assert_eq!(t.variables(folded), [x]);
        let model = Model::from_iter([(x, Value::Bits(5)), (y, Value::Bits(1))]);
        assert_eq!(t.evaluate(deep, &model), t.evaluate(folded, &model));
        assert!(t.display(deep).to_string().len() > 100_000);
    }

    #[test]
    fn deep_choices_do_not_overflow_the_stack() {
        let mut t = Terms::new();
        let x = t.variable("x", Sort::Bits(32));
        let mut deep = x;
        for i in 0..100_000 {
            let value = t.bits(i, 32);
            let hit = t.eq(x, value);
            let then = t.bits(i * 7, 32);
            deep = t.ite(hit, then, deep);
        }
        let value = t.bits(3, 32);
        let question = t.eq(deep, value);
        let order = t.slt(deep, value);
        assert!(t.size(question) > 100_000 && t.size(order) > 100_000);
    }
}
