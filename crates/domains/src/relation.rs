//! Relations on a small finite set, one bit for each pair.
//!
//! \[Lal09\] Def. 2.4.13: `(2^(G×G), ∪, ;, ∅, id)`. The tensor product is the Kronecker product of
//! Boolean matrices (§6.5.2, Thm. 6.5.3): see [`RelationDomain::tensor`].
//!
//! - **Chains** are finite: a relation on `n` elements grows at most `n²` times.
//! - **Cost:** union takes `n²/64` word operations, composition and closure `n³/64`.
//!
//! For more than a few hundred stores use decision diagrams; this domain is their oracle.

use std::fmt;
use std::sync::Arc;

use wherefore_pushdown::{Adjoint, Atomic, Relational, Remembering, Semiring};

/// A relation on `0..n`: a weight of [`RelationDomain`]. Clones share their bits.
///
/// ```
/// use wherefore_domains::Relation;
///
/// let r = Relation::from_pairs(3, [(0, 1), (1, 2)]);
/// assert!(r.contains(0, 1) && !r.contains(1, 0));
/// assert_eq!(r.transpose().pairs().collect::<Vec<_>>(), [(1, 0), (2, 1)]);
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Relation {
    size: usize,
    /// Row after row, each of `size.div_ceil(64)` words; bits beyond `size` are 0.
    words: Arc<[u64]>,
}

impl Relation {
    /// The relation of the given pairs on `0..size`.
    ///
    /// # Panics
    /// If an element of a pair is not below `size`.
    pub fn from_pairs(size: usize, pairs: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut bits = Bits::new(size);
        for (a, b) in pairs {
            bits.insert(a, b);
        }
        bits.into()
    }

    /// The relation in which `a` is related to the elements of `image(a)`.
    ///
    /// # Panics
    /// If an image is not below `size`.
    pub fn from_fn<I: IntoIterator<Item = usize>>(size: usize, mut image: impl FnMut(usize) -> I) -> Self {
        let mut bits = Bits::new(size);
        for a in 0..size {
            for b in image(a) {
                bits.insert(a, b);
            }
        }
        bits.into()
    }

    /// How many elements the relation is on.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Whether `a` is related to `b`.
    pub fn contains(&self, a: usize, b: usize) -> bool {
        b < self.size && a < self.size && self.row(a)[b / 64] >> (b % 64) & 1 == 1
    }

    /// The pairs, in ascending order.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.size).flat_map(|a| self.image(a).map(move |b| (a, b)))
    }

    /// The elements that `a` is related to, in ascending order.
    pub fn image(&self, a: usize) -> impl Iterator<Item = usize> + '_ {
        ones(self.row(a))
    }

    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// The pairs, turned round (\[Lal09\] Def. 6.5.4).
    pub fn transpose(&self) -> Self {
        let mut bits = Bits::new(self.size);
        for (a, b) in self.pairs() {
            bits.insert(b, a);
        }
        bits.into()
    }

    fn row(&self, a: usize) -> &[u64] {
        let stride = self.size.div_ceil(64);
        &self.words[a * stride..(a + 1) * stride]
    }

    /// Word by word; `operation` must map two zeros to zero.
    fn zip(&self, other: &Self, operation: impl Fn(u64, u64) -> u64) -> Self {
        assert_eq!(self.size, other.size, "relations on sets of different sizes");
        let words = self.words.iter().zip(&*other.words).map(|(a, b)| operation(*a, *b)).collect();
        Self { size: self.size, words }
    }

    fn meets(&self, other: &Self) -> bool {
        self.words.iter().zip(&*other.words).any(|(a, b)| a & b != 0)
    }
}

impl fmt::Debug for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.pairs()).finish()
    }
}

/// A relation under construction.
struct Bits {
    size: usize,
    stride: usize,
    words: Vec<u64>,
}

impl Bits {
    fn new(size: usize) -> Self {
        let stride = size.div_ceil(64);
        Self { size, stride, words: vec![0; size * stride] }
    }

    fn insert(&mut self, a: usize, b: usize) {
        assert!(a < self.size && b < self.size, "({a}, {b}) is not a pair on 0..{}", self.size);
        self.words[a * self.stride + b / 64] |= 1 << (b % 64);
    }

    fn add_row(&mut self, a: usize, row: &[u64]) {
        let into = &mut self.words[a * self.stride..][..self.stride];
        into.iter_mut().zip(row).for_each(|(into, word)| *into |= word);
    }
}

impl From<Bits> for Relation {
    fn from(bits: Bits) -> Self {
        Self { size: bits.size, words: bits.words.into() }
    }
}

fn ones(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(i, word)| {
        let mut rest = *word;
        std::iter::from_fn(move || {
            let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(64 * i + bit)
        })
    })
}

/// The relational domain on `0..size`.
///
/// ```
/// use wherefore_domains::{Relation, RelationDomain};
/// use wherefore_pushdown::Semiring;
///
/// let domain = RelationDomain::new(3);
/// let step = Relation::from_pairs(3, [(0, 1), (1, 2)]);
/// assert_eq!(domain.extend(&step, &step), Relation::from_pairs(3, [(0, 2)]));
/// assert_eq!(domain.star(&step).len(), 6);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelationDomain {
    zero: Relation,
    one: Relation,
}

impl RelationDomain {
    /// The relations on `0..size`.
    pub fn new(size: usize) -> Self {
        let one = Relation::from_fn(size, |a| [a]);
        Self { zero: Bits::new(size).into(), one }
    }

    /// How many elements the relations are on.
    pub fn size(&self) -> usize {
        self.one.size
    }

    /// The relation of all pairs.
    pub fn full(&self) -> Relation {
        Relation::from_fn(self.size(), |_| 0..self.size())
    }

    /// The partial identity on `set`: how a set of stores is written as a weight.
    pub fn partial_identity(&self, set: impl IntoIterator<Item = usize>) -> Relation {
        Relation::from_pairs(self.size(), set.into_iter().map(|a| (a, a)))
    }

    /// The domain of tensor products: relations on pairs, `(a, b)` being element `a · size + b`.
    pub fn tensor_domain(&self) -> Self {
        Self::new(self.size() * self.size())
    }

    /// `a ⊙ b`, a weight of [`tensor_domain`](Self::tensor_domain) (\[Lal09\] §6.5.2):
    /// `(a ⊙ b) ⊗ (c ⊙ d) = (a ⊗ c) ⊙ (b ⊗ d)`.
    pub fn tensor(&self, a: &Relation, b: &Relation) -> Relation {
        let n = self.size();
        let pairs = a.pairs().flat_map(|(i, j)| b.pairs().map(move |(k, l)| (i * n + k, j * n + l)));
        Relation::from_pairs(n * n, pairs)
    }

    /// *DeTensor* (\[Lal09\] Thm. 6.5.3): takes `a ⊙ b` to `a ⊗ b`, and distributes over ⊕.
    pub fn detensor(&self, w: &Relation) -> Relation {
        let n = self.size();
        let ends = w.pairs().filter(|(i, j)| i % n == j / n).map(|(i, j)| (i / n, j % n));
        Relation::from_pairs(n, ends)
    }

    /// *TDeTensor* (\[Lal09\] Def. 6.5.4): takes `a ⊙ b` to `a ⊗ bᵀ`, and distributes over ⊕.
    pub fn detensor_transposed(&self, w: &Relation) -> Relation {
        let n = self.size();
        let ends = w.pairs().filter(|(_, j)| j / n == j % n).map(|(i, _)| (i / n, i % n));
        Relation::from_pairs(n, ends)
    }
}

impl Semiring for RelationDomain {
    type Weight = Relation;

    fn zero(&self) -> Relation {
        self.zero.clone()
    }

    fn one(&self) -> Relation {
        self.one.clone()
    }

    fn combine(&self, a: &Relation, b: &Relation) -> Relation {
        a.zip(b, |a, b| a | b)
    }

    fn extend(&self, a: &Relation, b: &Relation) -> Relation {
        assert_eq!(a.size, b.size, "relations on sets of different sizes");
        let mut bits = Bits::new(a.size);
        for i in 0..a.size {
            for j in a.image(i) {
                bits.add_row(i, b.row(j));
            }
        }
        bits.into()
    }

    fn is_zero(&self, w: &Relation) -> bool {
        w.is_empty()
    }

    fn is_one(&self, w: &Relation) -> bool {
        *w == self.one
    }

    fn difference(&self, a: &Relation, b: &Relation) -> Option<Relation> {
        Some(a.zip(b, |a, b| a & !b))
    }

    /// Warshall's closure.
    fn star(&self, w: &Relation) -> Relation {
        let mut bits = Bits { size: w.size, stride: w.size.div_ceil(64), words: w.words.to_vec() };
        for k in 0..w.size {
            bits.insert(k, k);
            let through = bits.words[k * bits.stride..][..bits.stride].to_vec();
            for a in 0..w.size {
                if bits.words[a * bits.stride + k / 64] >> (k % 64) & 1 == 1 {
                    bits.add_row(a, &through);
                }
            }
        }
        bits.into()
    }

    fn is_tall(&self) -> bool {
        true
    }
}

/// A context is the relation of acceptable (entry, exit) pairs.
impl Adjoint for RelationDomain {
    type Context = Relation;

    fn any_context(&self) -> Relation {
        self.full()
    }

    fn no_context(&self) -> Relation {
        self.zero()
    }

    fn join_context(&self, into: &mut Relation, context: &Relation) -> bool {
        self.join(into, context)
    }

    fn pull(&self, before: &Relation, context: &Relation, after: &Relation) -> Relation {
        self.extend(&self.extend(&before.transpose(), context), &after.transpose())
    }

    fn completes(&self, w: &Relation, context: &Relation) -> bool {
        w.meets(context)
    }

    fn is_no_context(&self, context: &Relation) -> bool {
        context.is_empty()
    }
}

/// Atoms are pairs.
impl Atomic for RelationDomain {
    fn atom(&self, w: &Relation, context: &Relation) -> Option<(Relation, Relation)> {
        let pair = Relation::from_pairs(w.size, [self.meet(w, context).pairs().next()?]);
        Some((pair.clone(), pair))
    }

    fn beginning_as(&self, w: &Relation, atom: &Relation) -> Relation {
        self.extend(&self.domain_of(atom), w)
    }
}

impl Relational for RelationDomain {
    fn domain_of(&self, w: &Relation) -> Relation {
        self.partial_identity((0..w.size).filter(|a| w.image(*a).next().is_some()))
    }

    fn range_of(&self, w: &Relation) -> Relation {
        self.partial_identity(w.pairs().map(|(_, b)| b))
    }

    fn meet(&self, a: &Relation, b: &Relation) -> Relation {
        a.zip(b, |a, b| a & b)
    }

    fn accepted(&self, w: &Relation, context: &Relation) -> Relation {
        self.meet(w, context)
    }

    fn middle(&self, before: &Relation, after: &Relation, context: &Relation) -> Relation {
        let wanted = self.extend(&before.transpose(), context);
        let common = wanted.zip(after, |a, b| a & b);
        self.domain_of(&common)
    }
}

/// One relation for every `y`, in the order of the elements.
impl Remembering for RelationDomain {
    type Memory = Vec<Relation>;

    fn remember(&self) -> Vec<Relation> {
        (0..self.size()).map(|v| self.partial_identity([v])).collect()
    }

    fn map_memory(
        &self,
        memory: &Vec<Relation>,
        function: &mut dyn FnMut(&Relation) -> Relation,
    ) -> Vec<Relation> {
        memory.iter().map(function).collect()
    }

    fn join_memory(&self, into: &mut Vec<Relation>, memory: &Vec<Relation>) -> bool {
        let mut grew = false;
        for (into, w) in into.iter_mut().zip(memory) {
            grew |= self.join(into, w);
        }
        grew
    }

    fn remembered(&self, memory: &Vec<Relation>) -> Relation {
        self.partial_identity((0..self.size()).filter(|y| !memory[*y].is_empty()))
    }
}

#[cfg(test)]
#[path = "relation_tests.rs"]
mod tests;
