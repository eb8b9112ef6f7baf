//! Which linear equations hold between variables: over the integers (\[Lal09\] §3.5.2), and modulo
//! powers of two, by matrices where there are few variables, and by relations between states.

mod statements;

use num_traits::ToPrimitive;
use wherefore_domains::{AffineRelations, CongruenceRelations, Howell, ModularAffine, Ring};
use wherefore_program::{Node, ProcedureId, Program, Scalar, Var, Variable};
use wherefore_pushdown::{Limits, Semiring, StopReason};

use crate::claim::{Claim, Equation, Place};
use crate::linear::Numbers;
use crate::lower::Statements;
use crate::slots::Slots;
use crate::solved::Solved;
use crate::stack::Stacks;
use statements::{In, Inner};

/// Matrices are computed for at most so many slots.
const MOST_FOR_MATRICES: usize = 10;
/// Relations are computed for at most so many slots.
const MOST_SLOTS: usize = 160;

/// The equations of a program.
pub(crate) struct Equations<'a> {
    bits: u32,
    integers: Option<Solved<'a, In<AffineRelations>>>,
    matrices: Option<Solved<'a, In<ModularAffine>>>,
    relations: Option<Solved<'a, In<CongruenceRelations>>>,
}

/// Which numbers, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Over the integers, of the values with so many bits.
    Integers,
    /// Modulo two to the power of the bits, by matrices only: exact where branches go both ways.
    Exact,
    /// The same by matrices, where there are few variables, and by relations.
    Both,
}

/// Why there are no equations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoEquations {
    /// The search was stopped.
    Stopped(StopReason),
    /// There are too many variables.
    TooMany(usize),
}

fn is_number(variable: &Variable) -> bool {
    !variable.pointer && !variable.float && variable.value_names.is_none()
}

impl<'a> Equations<'a> {
    pub fn new(program: &'a Program, bits: u32, way: Way, limits: &Limits) -> Result<Self, NoEquations> {
        let slots = Slots::new(program, |variable| {
            let width = variable.ty.element().width();
            let fits = if way == Way::Integers { width == bits } else { width >= bits };
            fits && variable.ty.element() != Scalar::Bool && is_number(variable)
        });
        let count = slots.count;
        if count > MOST_SLOTS {
            return Err(NoEquations::TooMany(count));
        }
        let ring = Ring::new(bits);
        let modulo = Numbers::Modulo(bits);
        let mut equations = Self { bits, integers: None, matrices: None, relations: None };
        if way == Way::Integers {
            let domain = In { domain: AffineRelations::new(count), numbers: Numbers::Integers(bits, true) };
            let solved = Solved::new(program, domain, slots, limits).map_err(NoEquations::Stopped)?;
            equations.integers = Some(solved);
            return Ok(equations);
        }
        if way == Way::Exact || count <= MOST_FOR_MATRICES {
            let domain = In { domain: ModularAffine::new(ring, count), numbers: modulo };
            let solved = Solved::new(program, domain, slots.clone(), limits).map_err(NoEquations::Stopped)?;
            equations.matrices = Some(solved);
        }
        if way == Way::Both {
            let domain = In { domain: CongruenceRelations::new(ring, count), numbers: modulo };
            let solved = Solved::new(program, domain, slots, limits).map_err(NoEquations::Stopped)?;
            equations.relations = Some(solved);
        }
        Ok(equations)
    }

    /// The equations between the variables that `keep` accepts, at a location; none if no path
    /// comes there.
    pub fn at(
        &self,
        node: Node,
        stacks: Option<&Stacks>,
        keep: &dyn Fn(Var) -> bool,
    ) -> Option<Vec<Equation>> {
        if let Some(solved) = &self.integers {
            let (w, shown) = read(solved, node, stacks, keep)?;
            let mut found = Vec::new();
            for relation in solved.domain.domain.relations(&w) {
                let vector: Option<Vec<i64>> = relation.iter().map(ToPrimitive::to_i64).collect();
                found.extend(vector.and_then(|vector| equation(self.bits, true, &vector, &shown)));
            }
            return Some(found);
        }
        let mut module: Option<(Howell, Vec<Option<Place>>)> = None;
        if let Some(solved) = &self.matrices {
            let (w, shown) = read(solved, node, stacks, keep)?;
            module = Some((solved.domain.domain.relations(&w), shown));
        }
        if let Some(solved) = &self.relations {
            let (w, shown) = read(solved, node, stacks, keep)?;
            let found = solved.domain.domain.relations(&w)?;
            module = Some(match module {
                None => (found, shown),
                Some((mut both, shown)) => {
                    for row in found.rows() {
                        both.insert(row.clone());
                    }
                    (both, shown)
                }
            });
        }
        let (module, shown) = module?;
        Some(self.equations(&module, &shown))
    }

    /// The rows of a module as equations, solved for what was declared last.
    fn equations(&self, module: &Howell, places: &[Option<Place>]) -> Vec<Equation> {
        let turned = module.rows().iter().map(|row| row.iter().rev().copied().collect());
        let turned = Howell::of(module.ring(), module.columns(), turned);
        let turned = nearest_to_zero(&turned);
        let rows = turned.iter().filter_map(|row| {
            let vector: Vec<i64> = row.iter().rev().map(|x| *x as i64).collect();
            equation(self.bits, false, &vector, places)
        });
        rows.collect()
    }

    /// What holds at a location since the entry, or when the procedure returns.
    fn to_entry(&self, procedure: ProcedureId, node: Option<Node>) -> Vec<Claim> {
        let mut claims = Vec::new();
        let hidden = |place: Place| {
            matches!(
                (node, place),
                (Some(_), Place::Result(_)) | (None, Place::Now(Var::Local(_))) | (_, Place::Entry(_))
            )
        };
        if let Some(solved) = &self.matrices {
            let w = node.map_or_else(|| solved.through(procedure), |node| solved.since_entry(node));
            if solved.domain.is_zero(&w) {
                return vec![Claim::Unreached];
            }
            let (after, entry) = both_places(&solved.slots, procedure, &hidden);
            let gone: Vec<usize> =
                after.iter().enumerate().filter(|(_, p)| p.is_none()).map(|(i, _)| i).collect();
            let w = solved.domain.extend(&w, &solved.domain.domain.havoc(&gone));
            let module = solved.domain.domain.relations_to_start(&w);
            claims.extend(self.projected(&module, after, entry));
        }
        if let Some(solved) = &self.relations {
            let w = node.map_or_else(|| solved.through(procedure), |node| solved.since_entry(node));
            let (after, entry) = both_places(&solved.slots, procedure, &hidden);
            let Some(module) = w.equations() else { return vec![Claim::Unreached] };
            claims.extend(self.projected(&module, after, entry));
        }
        claims
    }

    /// Equations over `[1, after, entry]`, those columns eliminated that have no place.
    fn projected(&self, module: &Howell, after: Vec<Option<Place>>, entry: Vec<Option<Place>>) -> Vec<Claim> {
        let places: Vec<Option<Place>> = after.into_iter().chain(entry).collect();
        let columns = |wanted: bool| {
            let all = places.iter().enumerate();
            all.filter(move |(_, place)| place.is_some() == wanted).map(|(i, _)| i + 1)
        };
        let order: Vec<usize> = columns(false).chain([0]).chain(columns(true)).collect();
        let gone = columns(false).count();
        let turned = module.rows().iter().map(|row| order.iter().map(|i| row[*i]).collect());
        let kept = Howell::of(module.ring(), module.columns(), turned).without(gone);
        let places: Vec<Option<Place>> = places.into_iter().filter(Option::is_some).collect();
        self.equations(&kept, &places).into_iter().map(Claim::Equation).collect()
    }

    /// What holds at a location since the entry.
    pub fn since_entry(&self, node: Node) -> Vec<Claim> {
        self.to_entry(node.procedure, Some(node))
    }

    /// What holds when a procedure returns.
    pub fn through(&self, procedure: ProcedureId) -> Vec<Claim> {
        self.to_entry(procedure, None)
    }
}

/// The rows of a Howell form, with factors near 0: an entry above a leading one can be changed by
/// multiples of it.
fn nearest_to_zero(module: &Howell) -> Vec<Vec<u64>> {
    let mut rows = module.rows().to_vec();
    let ring = module.ring();
    for pivot in 1..rows.len() {
        let (above, rest) = rows.split_at_mut(pivot);
        let Some(column) = rest[0].iter().position(|x| *x != 0) else { continue };
        let leading = rest[0][column];
        for row in above.iter_mut().filter(|row| row[column] > leading / 2) {
            for (x, y) in row.iter_mut().zip(&rest[0]) {
                *x = ring.reduce(x.wrapping_sub(*y));
            }
        }
    }
    rows
}

/// The places of the slots after and at entry.
fn both_places(
    slots: &Slots,
    procedure: ProcedureId,
    hidden: &dyn Fn(Place) -> bool,
) -> (Vec<Option<Place>>, Vec<Option<Place>>) {
    let places: Vec<Option<Place>> = (0..slots.count).map(|slot| slots.place(procedure, slot)).collect();
    let entry = places.iter().map(|place| match place {
        Some(Place::Now(variable)) => Some(Place::Entry(*variable)),
        _ => None,
    });
    let entry = entry.collect();
    (places.into_iter().map(|place| place.filter(|place| !hidden(*place))).collect(), entry)
}

/// The weight at a location, with all forgotten that is not to be shown, and the places of slots.
fn read<D: Inner>(
    solved: &Solved<'_, In<D>>,
    node: Node,
    stacks: Option<&Stacks>,
    keep: &dyn Fn(Var) -> bool,
) -> Option<(D::Weight, Vec<Option<Place>>)>
where
    In<D>: Statements<Weight = D::Weight>,
{
    let weight = stacks.map_or_else(|| solved.at(node), |stacks| solved.at_with(node, stacks));
    if solved.domain.is_zero(&weight) {
        return None;
    }
    let place = |slot| match solved.slots.place(node.procedure, slot) {
        Some(Place::Now(variable)) if keep(variable) => Some(Place::Now(variable)),
        _ => None,
    };
    let places: Vec<Option<Place>> = (0..solved.slots.count).map(place).collect();
    let gone = places.iter().enumerate().filter(|(_, place)| place.is_none()).map(|(slot, _)| (slot, None));
    let forget = solved.domain.assign(&gone.collect());
    Some((solved.domain.extend(&weight, &forget), places))
}

/// A vector `[a₀, a₁, …, aₙ]` as an equation; none if it says nothing, or speaks of what has no
/// place.
fn equation(bits: u32, integral: bool, vector: &[i64], places: &[Option<Place>]) -> Option<Equation> {
    let mut terms = Vec::new();
    for (factor, place) in vector[1..].iter().zip(places) {
        if *factor != 0 {
            terms.push(((*place)?, *factor));
        }
    }
    terms.reverse();
    (!terms.is_empty()).then(|| Equation { bits, integral, constant: vector[0], terms })
}
