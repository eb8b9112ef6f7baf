//! What statements are in the three domains of equations.

use wherefore_domains::{
    AffineLocals, AffineRelations, CongruenceLocals, CongruenceRelations, Congruences, Entry, MatrixModule,
    MatrixSpace, ModularAffine, ModularLocals,
};
use wherefore_program::{Expr, ProcedureId, Scalar};
use wherefore_pushdown::{Merge, Semiring};

use crate::linear::{Linear, Numbers, equations};
use crate::lower::{Changes, Statements};
use crate::slots::Slots;

/// A domain with its numbers.
pub(crate) struct In<D> {
    pub domain: D,
    pub numbers: Numbers,
}

macro_rules! semiring_of_inner {
    ($inner:ty) => {
        impl Semiring for In<$inner> {
            type Weight = <$inner as Semiring>::Weight;

            fn zero(&self) -> Self::Weight {
                self.domain.zero()
            }

            fn one(&self) -> Self::Weight {
                self.domain.one()
            }

            fn combine(&self, a: &Self::Weight, b: &Self::Weight) -> Self::Weight {
                self.domain.combine(a, b)
            }

            fn extend(&self, a: &Self::Weight, b: &Self::Weight) -> Self::Weight {
                self.domain.extend(a, b)
            }

            fn is_zero(&self, w: &Self::Weight) -> bool {
                self.domain.is_zero(w)
            }

            fn is_one(&self, w: &Self::Weight) -> bool {
                self.domain.is_one(w)
            }

            fn is_tall(&self) -> bool {
                self.domain.is_tall()
            }
        }

        impl Merge<In<$inner>> for CallIn<$inner> {
            fn merge(
                &self,
                domain: &In<$inner>,
                caller: &<$inner as Semiring>::Weight,
                callee: &<$inner as Semiring>::Weight,
            ) -> <$inner as Semiring>::Weight {
                self.0.merge(&domain.domain, caller, callee)
            }
        }
    };
}

/// The merge function of the inner domain.
pub(crate) struct CallIn<D: Inner>(D::Locals);

semiring_of_inner!(AffineRelations);
semiring_of_inner!(ModularAffine);
semiring_of_inner!(CongruenceRelations);

/// What the three domains have in common.
pub(crate) trait Inner: Semiring + Sized {
    type Locals: Merge<Self>;

    fn slots(&self) -> usize;
    fn assign_all(&self, changes: &[(usize, Vec<i64>)], any: &[usize]) -> Self::Weight;
    fn assume_all(&self, equations: &[Vec<i64>]) -> Self::Weight;
    fn locals(&self, shared: usize, enter: Self::Weight) -> Self::Locals;
}

fn unsigned(vector: &[i64]) -> Vec<u64> {
    vector.iter().map(|x| *x as u64).collect()
}

impl Inner for AffineRelations {
    type Locals = AffineLocals;

    fn slots(&self) -> usize {
        self.variable_count()
    }

    fn assign_all(&self, changes: &[(usize, Vec<i64>)], any: &[usize]) -> MatrixSpace {
        self.extend(&self.assign(changes), &self.havoc(any))
    }

    fn assume_all(&self, _: &[Vec<i64>]) -> MatrixSpace {
        self.one()
    }

    fn locals(&self, shared: usize, enter: MatrixSpace) -> AffineLocals {
        AffineLocals::new(self, shared, Entry::Bound(enter))
    }
}

impl Inner for ModularAffine {
    type Locals = ModularLocals;

    fn slots(&self) -> usize {
        self.variable_count()
    }

    fn assign_all(&self, changes: &[(usize, Vec<i64>)], any: &[usize]) -> MatrixModule {
        let changes: Vec<_> = changes.iter().map(|(slot, value)| (*slot, unsigned(value))).collect();
        self.extend(&self.assign(&changes), &self.havoc(any))
    }

    fn assume_all(&self, _: &[Vec<i64>]) -> MatrixModule {
        self.one()
    }

    fn locals(&self, shared: usize, enter: MatrixModule) -> ModularLocals {
        ModularLocals::new(self, shared, Entry::Bound(enter))
    }
}

impl Inner for CongruenceRelations {
    type Locals = CongruenceLocals;

    fn slots(&self) -> usize {
        self.variable_count()
    }

    fn assign_all(&self, changes: &[(usize, Vec<i64>)], any: &[usize]) -> Congruences {
        let changed = changes.iter().map(|(slot, value)| (*slot, Some(unsigned(value))));
        self.assign(&changed.chain(any.iter().map(|slot| (*slot, None))).collect::<Vec<_>>())
    }

    fn assume_all(&self, equations: &[Vec<i64>]) -> Congruences {
        self.assume(&equations.iter().map(|equation| unsigned(equation)).collect::<Vec<_>>())
    }

    fn locals(&self, shared: usize, enter: Congruences) -> CongruenceLocals {
        CongruenceLocals::new(shared, enter)
    }
}

impl<D: Inner> Statements for In<D>
where
    Self: Semiring<Weight = D::Weight>,
    CallIn<D>: Merge<Self>,
{
    type Call = CallIn<D>;

    fn value(
        &self,
        slots: &Slots,
        procedure: ProcedureId,
        expr: &Expr,
        into: (Scalar, bool),
    ) -> Option<Linear> {
        let numbers = match self.numbers {
            Numbers::Integers(bits, _) => Numbers::Integers(bits, into.1),
            modulo @ Numbers::Modulo(_) => modulo,
        };
        Linear::of(expr, slots, procedure, numbers)
    }

    fn constant(&self, value: u64, (ty, signed): (Scalar, bool)) -> Option<Linear> {
        let numbers = match self.numbers {
            Numbers::Integers(bits, _) => Numbers::Integers(bits, signed),
            modulo @ Numbers::Modulo(_) => modulo,
        };
        numbers.constant(value, ty.width()).map(Linear::constant)
    }

    fn returned(&self, slot: usize, from: Scalar, to: Scalar) -> Option<Linear> {
        let kept = match self.numbers {
            Numbers::Modulo(bits) => from.width() >= bits && to.width() >= bits,
            Numbers::Integers(..) => from.width() == to.width(),
        };
        kept.then(|| Linear::slot(slot))
    }

    fn assign(&self, changes: &Changes) -> D::Weight {
        let count = self.domain.slots();
        let values = changes.iter().filter_map(|(slot, value)| Some((*slot, value.as_ref()?.vector(count))));
        let any = changes.iter().filter(|(_, value)| value.is_none()).map(|(slot, _)| *slot);
        self.domain.assign_all(&values.collect::<Vec<_>>(), &any.collect::<Vec<_>>())
    }

    fn assume(&self, slots: &Slots, procedure: ProcedureId, condition: &Expr) -> D::Weight {
        let numbers = self.numbers;
        let found = equations(condition, true, slots, procedure, numbers);
        let count = self.domain.slots();
        self.domain.assume_all(&found.iter().map(|form| form.vector(count)).collect::<Vec<_>>())
    }

    fn call(&self, shared: usize, enter: D::Weight) -> CallIn<D> {
        CallIn(self.domain.locals(shared, enter))
    }
}
