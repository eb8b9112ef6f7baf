//! Regular expressions over weights, as shared DAGs, with incremental evaluation.
//!
//! \[Lal09\] §4.1.2: leaves are weights or out-nodes (summaries that other procedures contribute);
//! Fig. 4.4 re-evaluates only what depends on an out-node that changed. An expression without
//! out-nodes is evaluated once.
//!
//! **Invariant:** children have smaller numbers than their parents.

use rustc_hash::FxHashMap;

/// The number of an expression.
pub(crate) type ExprId = u32;

/// ∅.
pub(crate) const ZERO: ExprId = 0;
/// ε.
pub(crate) const ONE: ExprId = 1;

/// One node of the DAG.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Expr {
    /// ∅.
    Zero,
    /// ε.
    One,
    /// A letter: an edge of the graph that the expression describes.
    Letter(u32),
    /// Either.
    Alt(ExprId, ExprId),
    /// One path after the other.
    Cat(ExprId, ExprId),
    /// Any number of rounds.
    Star(ExprId),
}

/// Expressions that share their parts.
#[derive(Clone, Debug)]
pub(crate) struct Expressions {
    nodes: Vec<Expr>,
    index: FxHashMap<Expr, ExprId>,
}

impl Default for Expressions {
    fn default() -> Self {
        Self { nodes: vec![Expr::Zero, Expr::One], index: FxHashMap::default() }
    }
}

impl Expressions {
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn node(&self, id: ExprId) -> Expr {
        self.nodes[id as usize]
    }

    fn intern(&mut self, expr: Expr) -> ExprId {
        *self.index.entry(expr).or_insert_with(|| {
            self.nodes.push(expr);
            self.nodes.len() as ExprId - 1
        })
    }

    pub fn letter(&mut self, letter: u32) -> ExprId {
        self.intern(Expr::Letter(letter))
    }

    pub fn alt(&mut self, a: ExprId, b: ExprId) -> ExprId {
        match (a, b) {
            (ZERO, other) | (other, ZERO) => other,
            _ if a == b => a,
            _ => self.intern(Expr::Alt(a.min(b), a.max(b))),
        }
    }

    pub fn cat(&mut self, a: ExprId, b: ExprId) -> ExprId {
        match (a, b) {
            (ZERO, _) | (_, ZERO) => ZERO,
            (ONE, other) | (other, ONE) => other,
            _ => self.intern(Expr::Cat(a, b)),
        }
    }

    pub fn star(&mut self, a: ExprId) -> ExprId {
        match self.node(a) {
            Expr::Zero | Expr::One => ONE,
            Expr::Star(_) => a,
            _ => self.intern(Expr::Star(a)),
        }
    }

    /// The table that finds equal expressions is needed only while building.
    pub fn seal(&mut self) {
        self.index = FxHashMap::default();
        self.nodes.shrink_to_fit();
    }

    /// All expressions that `roots` are made of, in order.
    pub fn parts(&self, roots: impl IntoIterator<Item = ExprId>) -> Vec<ExprId> {
        let mut seen = vec![false; self.nodes.len()];
        let mut open: Vec<ExprId> = roots.into_iter().collect();
        while let Some(id) = open.pop() {
            if !std::mem::replace(&mut seen[id as usize], true) {
                match self.node(id) {
                    Expr::Alt(a, b) | Expr::Cat(a, b) => open.extend([a, b]),
                    Expr::Star(a) => open.push(a),
                    Expr::Zero | Expr::One | Expr::Letter(_) => {}
                }
            }
        }
        (0..self.nodes.len() as ExprId).filter(|id| seen[*id as usize]).collect()
    }
}

/// How letters and operators are read as weights.
pub(crate) trait Interpretation {
    type Value: Clone + Eq;
    /// The value of a letter, and the time at which it last changed (0: it never does).
    fn letter(&mut self, letter: u32) -> (Self::Value, u64);
    fn zero(&mut self) -> Self::Value;
    fn one(&mut self) -> Self::Value;
    fn alt(&mut self, a: &Self::Value, b: &Self::Value) -> Self::Value;
    /// First `a`, then `b`, in the sense of the graph.
    fn cat(&mut self, a: &Self::Value, b: &Self::Value) -> Self::Value;
    fn star(&mut self, a: &Self::Value) -> Self::Value;
    /// False when the evaluation is to stop; values are then not to be used.
    fn go_on(&mut self) -> bool;
}

/// Values of expressions, kept between evaluations.
#[derive(Clone, Debug)]
pub(crate) struct Values<V> {
    values: Vec<Option<V>>,
    /// When a node was last visited, and when its value last changed.
    seen: Vec<u64>,
    changed: Vec<u64>,
    /// Nodes whose value can never change again.
    fixed: Vec<bool>,
    /// How many operations were computed (Fig. 4.3 counts them).
    pub operations: u64,
}

impl<V: Clone + Eq> Values<V> {
    pub fn new(expressions: &Expressions) -> Self {
        let n = expressions.len();
        Self {
            values: vec![None; n],
            seen: vec![0; n],
            changed: vec![0; n],
            fixed: vec![false; n],
            operations: 0,
        }
    }

    /// The value of `root` at time `now` (Fig. 4.4, without recursion); `None` if the
    /// interpretation wants to stop.
    pub fn evaluate<I: Interpretation<Value = V>>(
        &mut self,
        expressions: &Expressions,
        interpretation: &mut I,
        root: ExprId,
        now: u64,
    ) -> Option<&V> {
        let mut open = vec![root];
        while let Some(id) = open.last().copied() {
            let n = id as usize;
            if self.is_current(id, now) {
                open.pop();
                continue;
            }
            let expr = expressions.node(id);
            if let Expr::Alt(a, b) | Expr::Cat(a, b) = expr {
                let waiting = open.len();
                open.extend([b, a].into_iter().filter(|child| !self.is_current(*child, now)));
                if open.len() > waiting {
                    continue;
                }
            } else if let Expr::Star(a) = expr {
                if !self.is_current(a, now) {
                    open.push(a);
                    continue;
                }
            }
            if !interpretation.go_on() {
                return None;
            }
            let (value, at) = match expr {
                Expr::Zero => (Some(interpretation.zero()), 0),
                Expr::One => (Some(interpretation.one()), 0),
                Expr::Letter(letter) => {
                    let (value, at) = interpretation.letter(letter);
                    (Some(value), at)
                }
                Expr::Alt(a, b) | Expr::Cat(a, b) => {
                    let at = self.changed[a as usize].max(self.changed[b as usize]);
                    let stale = self.values[n].is_none() || at > self.seen[n];
                    let value = stale.then(|| {
                        self.operations += 1;
                        let (a, b) = (self.get(a), self.get(b));
                        match expr {
                            Expr::Alt(..) => interpretation.alt(a, b),
                            _ => interpretation.cat(a, b),
                        }
                    });
                    (value, at)
                }
                Expr::Star(a) => {
                    let at = self.changed[a as usize];
                    let stale = self.values[n].is_none() || at > self.seen[n];
                    let value = stale.then(|| {
                        self.operations += 1;
                        interpretation.star(self.get(a))
                    });
                    (value, at)
                }
            };
            self.fixed[n] = match expr {
                Expr::Zero | Expr::One => true,
                Expr::Letter(_) => at == 0,
                Expr::Alt(a, b) | Expr::Cat(a, b) => self.fixed[a as usize] && self.fixed[b as usize],
                Expr::Star(a) => self.fixed[a as usize],
            };
            if value.is_some() && self.values[n] != value {
                self.values[n] = value;
                self.changed[n] = at;
            }
            self.seen[n] = now;
            open.pop();
        }
        self.values[root as usize].as_ref()
    }

    fn is_current(&self, id: ExprId, now: u64) -> bool {
        let n = id as usize;
        self.values[n].is_some() && (self.fixed[n] || self.seen[n] == now)
    }

    fn get(&self, id: ExprId) -> &V {
        self.values[id as usize].as_ref().expect("children are evaluated before their parents")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words over letters: concatenation does not commute.
    struct Words {
        t6: (String, u64),
    }

    impl Interpretation for Words {
        type Value = String;
        fn letter(&mut self, letter: u32) -> (String, u64) {
            if letter == 6 { self.t6.clone() } else { (format!("w{letter} "), 0) }
        }
        fn zero(&mut self) -> String {
            "0".into()
        }
        fn one(&mut self) -> String {
            String::new()
        }
        fn alt(&mut self, a: &String, b: &String) -> String {
            format!("({a}+{b})")
        }
        fn cat(&mut self, a: &String, b: &String) -> String {
            format!("{a}{b}")
        }
        fn star(&mut self, a: &String) -> String {
            format!("({a})*")
        }
        fn go_on(&mut self) -> bool {
            true
        }
    }

    /// \[Lal09\] Fig. 4.3: five operations at first, three after a change of t6, none when nothing
    /// changed.
    #[test]
    fn only_ancestors_of_a_changed_leaf_are_evaluated_again() {
        let mut e = Expressions::default();
        let w: Vec<ExprId> = (0..6).map(|i| e.letter(i)).collect();
        let t6 = e.letter(6);
        let a2 = e.cat(w[1], w[2]);
        let a4 = e.cat(w[3], t6);
        let a5 = e.cat(w[4], w[5]);
        let a3 = e.cat(a4, a5);
        let a1 = e.cat(a2, a3);
        let mut values = Values::new(&e);
        let mut words = Words { t6: ("t ".into(), 1) };
        assert_eq!(values.evaluate(&e, &mut words, a1, 1).unwrap(), "w1 w2 w3 t w4 w5 ");
        assert_eq!(values.operations, 5);
        words.t6 = ("u ".into(), 2);
        assert_eq!(values.evaluate(&e, &mut words, a1, 2).unwrap(), "w1 w2 w3 u w4 w5 ");
        assert_eq!(values.operations, 8);
        values.evaluate(&e, &mut words, a1, 2);
        values.evaluate(&e, &mut words, a1, 3);
        assert_eq!(values.operations, 8);
    }

    #[test]
    fn trivial_expressions_are_simplified() {
        let mut e = Expressions::default();
        let a = e.letter(0);
        assert_eq!(e.cat(a, ZERO), ZERO);
        assert_eq!(e.cat(ONE, a), a);
        assert_eq!(e.alt(a, a), a);
        assert_eq!(e.alt(ZERO, a), a);
        assert_eq!(e.star(ONE), ONE);
        let star = e.star(a);
        assert_eq!(e.star(star), star);
    }
}
