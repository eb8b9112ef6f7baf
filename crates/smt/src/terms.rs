//! The arena of terms: every term exists once, so that equality of terms is equality of numbers and
//! caches can be keyed by them.

use rustc_hash::FxHashMap;

use wherefore_floats::FloatOp;

use crate::choices::Choices;
use crate::operation::Op;
use crate::sort::{Sort, mask};

/// A term of one [`Terms`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(pub(crate) u32);

impl Term {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a term is, apart from its sort.
///
/// There is no subtraction, no implication, no "less or equal": the builders say these with what is
/// here.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A bit-vector, or a truth value as 0 or 1.
    Constant(u64),
    /// A variable; [`Terms::name`] knows its name.
    Variable(u32),
    /// Logical negation.
    Not(Term),
    /// Conjunction of at least two.
    And(Box<[Term]>),
    /// Disjunction of at least two.
    Or(Box<[Term]>),
    /// Equality of two bit-vectors, or of two truth values.
    Eq(Term, Term),
    /// Unsigned less than.
    ULt(Term, Term),
    /// Signed less than.
    SLt(Term, Term),
    /// The second if the first holds, else the third; of any sort.
    Ite(Term, Term, Term),
    /// Two's-complement negation.
    Neg(Term),
    /// Every bit flipped.
    BitNot(Term),
    /// An operation on two bit-vectors.
    Binary(Op, Term, Term),
    /// An operation on floating-point numbers, which are bit-vectors.
    Float(FloatOp, Box<[Term]>),
    /// The bits from `low` on, as many as the sort has.
    Extract {
        /// The value.
        value: Term,
        /// The lowest bit taken, counted from 0.
        low: u32,
    },
    /// The bits of the first, above those of the second.
    Concat(Term, Term),
    /// The value with zeros in front.
    ZeroExtend(Term),
    /// The value with its sign repeated in front.
    SignExtend(Term),
    /// The element of an array at an index.
    Select(Term, Term),
    /// The array with one element replaced: array, index, element.
    Store(Term, Term, Term),
    /// The array that has this element everywhere.
    ConstArray(Term),
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Node {
    kind: Kind,
    sort: Sort,
}

/// All terms of one problem. Builders simplify as they go; see the modules of their names.
///
/// Builders panic if sorts do not fit: that is a mistake of the caller, like an index out of
/// bounds.
pub struct Terms {
    nodes: Vec<Node>,
    table: FxHashMap<Node, Term>,
    names: Vec<String>,
    by_name: FxHashMap<(String, Sort), Term>,
    fresh: u64,
    /// How deep rules are nested: they give up early rather than overflow the stack.
    pub(crate) depth: u32,
    /// Values that are one of a few constants, in an arena that keeps them.
    pub(crate) choices: Option<Box<Choices>>,
}

impl Default for Terms {
    fn default() -> Self {
        Self::new()
    }
}

impl Terms {
    /// The truth value false.
    pub const FALSE: Term = Term(0);
    /// The truth value true.
    pub const TRUE: Term = Term(1);

    /// An arena with the two truth values.
    pub fn new() -> Self {
        let mut terms = Self {
            nodes: Vec::new(),
            table: FxHashMap::default(),
            names: Vec::new(),
            by_name: FxHashMap::default(),
            fresh: 0,
            depth: 0,
            choices: None,
        };
        terms.intern(Kind::Constant(0), Sort::Bool);
        terms.intern(Kind::Constant(1), Sort::Bool);
        terms
    }

    /// How many terms there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Never: the truth values are always there.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub(crate) fn intern(&mut self, kind: Kind, sort: Sort) -> Term {
        let node = Node { kind, sort };
        if let Some(term) = self.table.get(&node) {
            return *term;
        }
        let term = Term(u32::try_from(self.nodes.len()).expect("fewer than 2^32 terms"));
        self.nodes.push(node.clone());
        self.table.insert(node, term);
        term
    }

    /// What a term is.
    pub fn kind(&self, term: Term) -> &Kind {
        &self.nodes[term.index()].kind
    }

    /// The sort of a term.
    pub fn sort(&self, term: Term) -> Sort {
        self.nodes[term.index()].sort
    }

    /// The number of bits of a term: 1 for a truth value.
    pub fn width(&self, term: Term) -> u32 {
        self.sort(term).width()
    }

    /// A truth value.
    pub fn bool(&self, value: bool) -> Term {
        if value { Self::TRUE } else { Self::FALSE }
    }

    /// A bit-vector, cut to its width.
    pub fn bits(&mut self, value: u64, width: u32) -> Term {
        assert!(Sort::Bits(width).is_valid(), "a width from 1 to 64, not {width}");
        self.intern(Kind::Constant(value & mask(width)), Sort::Bits(width))
    }

    /// A variable. The same name and sort give the same term.
    pub fn variable(&mut self, name: &str, sort: Sort) -> Term {
        assert!(sort.is_valid(), "widths from 1 to 64, not {sort}");
        if let Some(term) = self.by_name.get(&(name.to_owned(), sort)) {
            return *term;
        }
        let number = u32::try_from(self.names.len()).expect("fewer than 2^32 variables");
        self.names.push(name.to_owned());
        let term = self.intern(Kind::Variable(number), sort);
        self.by_name.insert((name.to_owned(), sort), term);
        term
    }

    /// A variable that was not there before, of a name that starts with `prefix`.
    pub fn fresh(&mut self, prefix: &str, sort: Sort) -> Term {
        loop {
            let name = format!("{prefix}!{}", self.fresh);
            self.fresh += 1;
            if !self.by_name.contains_key(&(name.clone(), sort)) {
                return self.variable(&name, sort);
            }
        }
    }

    /// The name of a variable; none if the term is not one.
    pub fn name(&self, term: Term) -> Option<&str> {
        match self.kind(term) {
            Kind::Variable(number) => Some(&self.names[*number as usize]),
            _ => None,
        }
    }

    /// The value of a constant bit-vector or truth value.
    pub fn constant(&self, term: Term) -> Option<u64> {
        match self.kind(term) {
            Kind::Constant(value) => Some(*value),
            _ => None,
        }
    }

    /// Whether a term is this constant.
    pub(crate) fn is(&self, term: Term, value: u64) -> bool {
        self.constant(term) == Some(value & mask(self.width(term)))
    }

    pub(crate) fn assert_bool(&self, term: Term) {
        assert_eq!(self.sort(term), Sort::Bool, "a truth value is wanted");
    }

    /// The common width of two bit-vectors.
    pub(crate) fn assert_bits(&self, a: Term, b: Term) -> u32 {
        match (self.sort(a), self.sort(b)) {
            (Sort::Bits(left), Sort::Bits(right)) if left == right => left,
            (left, right) => panic!("two bit-vectors of one width are wanted, not {left} and {right}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_exists_once() {
        let mut terms = Terms::new();
        let x = terms.variable("x", Sort::Bits(8));
        assert_eq!(terms.variable("x", Sort::Bits(8)), x);
        assert_ne!(terms.variable("x", Sort::Bits(9)), x);
        assert_eq!(terms.bits(0x1ff, 8), terms.bits(0xff, 8));
        let first = terms.fresh("x", Sort::Bool);
        assert_ne!(terms.fresh("x", Sort::Bool), first);
        assert_eq!((terms.name(first), terms.name(Terms::TRUE)), (Some("x!0"), None));
    }

    #[test]
    #[should_panic(expected = "one width")]
    fn sorts_that_do_not_fit_are_refused() {
        let mut terms = Terms::new();
        let (x, y) = (terms.variable("x", Sort::Bits(8)), terms.variable("y", Sort::Bits(9)));
        terms.add(x, y);
    }
}
