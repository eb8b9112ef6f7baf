//! From terms to circuits: every bit of a term gets a literal, once.

use batsat::{Lit, Var};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::budget::{Budget, Reason};
use crate::circuits::{Circuits, Word, flip, left, right};
use crate::float_circuits::FloatCircuits;
use crate::gates::Gates;
use crate::operation::Op;
use crate::terms::{Kind, Term, Terms};

/// Terms between two looks at the clock.
const PACE: usize = 64;

/// Where the literals of a term start.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Unknown,
    /// An array: its parts have literals, it has none itself.
    Array,
    At(u32),
}

/// A quotient, its remainder, and the inputs that were made for them.
#[derive(Clone)]
struct Division {
    quotient: Word,
    remainder: Word,
    made: Word,
}

/// The circuits of all terms that were met so far.
pub(crate) struct Blast {
    pub(crate) gates: Gates,
    places: Vec<Place>,
    pool: Vec<Lit>,
    divisions: FxHashMap<(Word, Word), Division>,
    /// The inputs that a term brings in besides those of its subterms: of divisions.
    made: FxHashMap<Term, Word>,
    /// How many variables the circuits of floating-point operations have.
    weights: FxHashMap<Term, u64>,
}

impl Blast {
    pub(crate) fn new() -> Self {
        Self {
            gates: Gates::new(),
            places: Vec::new(),
            pool: Vec::new(),
            divisions: FxHashMap::default(),
            made: FxHashMap::default(),
            weights: FxHashMap::default(),
        }
    }

    fn place(&self, term: Term) -> Place {
        self.places.get(term.index()).copied().unwrap_or(Place::Unknown)
    }

    /// The literals of a term that was blasted, the lowest bit first.
    pub(crate) fn word(&self, terms: &Terms, term: Term) -> &[Lit] {
        match self.place(term) {
            Place::At(start) => &self.pool[start as usize..start as usize + terms.width(term) as usize],
            _ => unreachable!("only blasted terms are asked for"),
        }
    }

    /// The literal of a truth value that was blasted.
    pub(crate) fn literal(&self, terms: &Terms, term: Term) -> Lit {
        self.word(terms, term)[0]
    }

    /// The size of the circuit of a term, apart from its subterms.
    pub(crate) fn weight(&self, terms: &Terms, term: Term) -> u64 {
        self.weights.get(&term).copied().unwrap_or_else(|| u64::from(terms.width(term)))
    }

    /// The variables whose values decide those of a term, apart from its subterms.
    pub(crate) fn inputs(&self, terms: &Terms, term: Term, into: &mut Vec<Var>) {
        match terms.kind(term) {
            Kind::Variable(_) | Kind::Select(..) if !terms.sort(term).is_array() => {
                into.extend(self.word(terms, term).iter().map(|bit| bit.var()));
            }
            Kind::Binary(..) => {
                if let Some(made) = self.made.get(&term) {
                    into.extend(made.iter().map(|bit| bit.var()));
                }
            }
            _ => {}
        }
    }

    /// Gives literals to all subterms of the roots. What is done stays done if the budget runs out.
    pub(crate) fn blast(&mut self, terms: &Terms, roots: &[Term], budget: &Budget) -> Result<(), Reason> {
        if roots.iter().all(|root| self.place(*root) != Place::Unknown) {
            return Ok(());
        }
        let order = self.order(terms, roots);
        self.places.resize(terms.len().max(self.places.len()), Place::Unknown);
        for (i, term) in order.into_iter().enumerate() {
            let costly = match terms.kind(term) {
                Kind::Binary(op, ..) => *op != Op::Add,
                Kind::Float(..) => true,
                _ => false,
            };
            if i % PACE == 0 || costly {
                budget.look()?;
            }
            if terms.sort(term).is_array() {
                self.places[term.index()] = Place::Array;
                continue;
            }
            let word = self.circuit(terms, term);
            debug_assert_eq!(word.len(), terms.width(term) as usize);
            let start = u32::try_from(self.pool.len()).expect("fewer than 2^32 bits");
            self.pool.extend_from_slice(&word);
            self.places[term.index()] = Place::At(start);
        }
        Ok(())
    }

    /// The terms that have no literals yet, subterms first. The negation in a subtraction needs
    /// none.
    fn order(&self, terms: &Terms, roots: &[Term]) -> Vec<Term> {
        let mut order = Vec::new();
        let mut seen = FxHashSet::default();
        let mut stack: Vec<(Term, bool)> = roots.iter().rev().map(|root| (*root, false)).collect();
        while let Some((term, entered)) = stack.pop() {
            if entered {
                order.push(term);
            } else if self.place(term) == Place::Unknown && seen.insert(term) {
                stack.push((term, true));
                terms.for_each_child(term, |child| {
                    let subtracted = match (terms.kind(term), terms.kind(child)) {
                        (Kind::Binary(Op::Add, _, b), Kind::Neg(inner)) if *b == child => Some(*inner),
                        _ => None,
                    };
                    stack.push((subtracted.unwrap_or(child), false));
                });
            }
        }
        order
    }

    fn circuit(&mut self, terms: &Terms, term: Term) -> Word {
        let width = terms.width(term) as usize;
        let of = |t: &Term| self.word(terms, *t).to_vec();
        match terms.kind(term) {
            Kind::Constant(value) => self.gates.word(*value, width),
            Kind::Variable(_) | Kind::Select(..) => (0..width).map(|_| self.gates.input()).collect(),
            Kind::Not(a) | Kind::BitNot(a) => flip(&of(a)),
            Kind::And(list) => {
                let list: Word = list.iter().map(|t| self.literal(terms, *t)).collect();
                vec![self.gates.all(&list)]
            }
            Kind::Or(list) => {
                let list: Word = list.iter().map(|t| self.literal(terms, *t)).collect();
                vec![self.gates.any(&list)]
            }
            Kind::Eq(a, b) => {
                let (a, b) = (of(a), of(b));
                vec![self.gates.equal(&a, &b)]
            }
            Kind::ULt(a, b) => {
                let (a, b) = (of(a), of(b));
                vec![self.gates.less(&a, &b)]
            }
            Kind::SLt(a, b) => {
                let (a, b) = (of(a), of(b));
                vec![self.gates.less_signed(&a, &b)]
            }
            Kind::Ite(c, a, b) => {
                let (c, a, b) = (of(c), of(a), of(b));
                self.gates.choose(c[0], &a, &b)
            }
            Kind::Neg(a) => {
                let a = of(a);
                self.gates.negate(&a)
            }
            Kind::Binary(Op::Add, a, b) if matches!(terms.kind(*b), Kind::Neg(_)) => {
                // The subtraction needs no negation of its own.
                let Kind::Neg(b) = terms.kind(*b) else { unreachable!("it was matched") };
                let (a, b) = (of(a), of(b));
                self.gates.subtract(&a, &b).0
            }
            Kind::Binary(op, a, b) => {
                let scaled = match *terms.kind(*a) {
                    Kind::Binary(Op::Mul, x, factor) => terms.constant(factor).map(|factor| (of(&x), factor)),
                    _ => None,
                };
                let (a, b) = (of(a), of(b));
                let word = self.operation(term, *op, a, b.clone());
                if let (Op::UDiv | Op::SDiv, Some((x, factor))) = (op, scaled) {
                    self.gates.bound_scaled(&x, factor, &b, &word, *op == Op::SDiv);
                }
                word
            }
            Kind::Float(op, list) => {
                let operands: Vec<Word> = list.iter().map(of).collect();
                let before = self.gates.figures().0;
                let word = self.gates.float(*op, &operands);
                self.weights.insert(term, self.gates.figures().0 - before);
                word
            }
            Kind::Extract { value, low } => of(value)[*low as usize..*low as usize + width].to_vec(),
            Kind::Concat(high, low) => {
                let mut word = of(low);
                word.extend(of(high));
                word
            }
            Kind::ZeroExtend(a) => {
                let mut word = of(a);
                word.resize(width, !self.gates.truth());
                word
            }
            Kind::SignExtend(a) => {
                let mut word = of(a);
                let sign = word[word.len() - 1];
                word.resize(width, sign);
                word
            }
            Kind::Store(..) | Kind::ConstArray(_) => unreachable!("arrays have no literals"),
        }
    }

    fn operation(&mut self, term: Term, op: Op, a: Word, b: Word) -> Word {
        let gates = &mut self.gates;
        let zero = !gates.truth();
        let sign = a[a.len() - 1];
        match op {
            Op::Add => gates.add(&a, &b),
            Op::Mul => gates.multiply(&a, &b),
            Op::Shl => gates.shift(&a, &b, zero, left),
            Op::LShr => gates.shift(&a, &b, zero, right),
            Op::AShr => gates.shift(&a, &b, sign, right),
            Op::BitAnd => a.iter().zip(&b).map(|(x, y)| gates.and(*x, *y)).collect(),
            Op::BitOr => a.iter().zip(&b).map(|(x, y)| gates.or(*x, *y)).collect(),
            Op::BitXor => a.iter().zip(&b).map(|(x, y)| gates.xor(*x, *y)).collect(),
            Op::UDiv => self.division(term, a, b).quotient,
            Op::URem => self.division(term, a, b).remainder,
            Op::SDiv | Op::SRem => {
                let other = b[b.len() - 1];
                let (a, b) = (gates.negate_if(sign, &a), gates.negate_if(other, &b));
                let Division { quotient, remainder, .. } = self.division(term, a, b);
                if op == Op::SDiv {
                    let negative = self.gates.xor(sign, other);
                    self.gates.negate_if(negative, &quotient)
                } else {
                    self.gates.negate_if(sign, &remainder)
                }
            }
        }
    }

    /// Quotient and remainder: one circuit for both.
    fn division(&mut self, term: Term, a: Word, b: Word) -> Division {
        let division = match self.divisions.get(&(a.clone(), b.clone())) {
            Some(known) => known.clone(),
            None => {
                let (quotient, remainder, made) = self.gates.divide(&a, &b);
                let division = Division { quotient, remainder, made };
                self.divisions.insert((a, b), division.clone());
                division
            }
        };
        if !division.made.is_empty() {
            self.made.insert(term, division.made.clone());
        }
        division
    }
}
