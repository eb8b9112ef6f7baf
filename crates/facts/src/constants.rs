//! Which variables are constant: copy constants with locals, \[Lal09\] §2.1.2 and §3.1.

use wherefore_domains::{Constant, CopyConstants, CopyLocals, Entry, Source, Transformer};
use wherefore_program::{Expr, ExprKind, Node, ProcedureId, Program, Scalar, Var, When};
use wherefore_pushdown::{Limits, StopReason};

use crate::claim::{Claim, Place};
use crate::linear::Linear;
use crate::lower::{Changes, Statements};
use crate::slots::Slots;
use crate::solved::Solved;
use crate::stack::Stacks;

/// Values are unsigned, whatever their width.
fn copied(slots: &Slots, procedure: ProcedureId, expr: &Expr) -> Option<Linear> {
    match &expr.kind {
        ExprKind::Constant(value) => Some(Linear::constant(*value as i64)),
        ExprKind::Read { variable, indices, when: When::Now } if indices.is_empty() => {
            slots.of(procedure, *variable).map(Linear::slot)
        }
        ExprKind::ZeroExtend(value) if value.ty.width() <= expr.ty.width() => copied(slots, procedure, value),
        _ => None,
    }
}

impl Statements for CopyConstants {
    type Call = CopyLocals;

    fn value(&self, slots: &Slots, procedure: ProcedureId, expr: &Expr, _: (Scalar, bool)) -> Option<Linear> {
        copied(slots, procedure, expr)
    }

    fn constant(&self, value: u64, _: (Scalar, bool)) -> Option<Linear> {
        Some(Linear::constant(value as i64))
    }

    fn returned(&self, slot: usize, from: Scalar, to: Scalar) -> Option<Linear> {
        (from.width() <= to.width()).then(|| Linear::slot(slot))
    }

    fn assign(&self, changes: &Changes) -> Transformer {
        let source = |value: &Option<Linear>| match value {
            None => Source::Top,
            Some(value) => match value.terms.keys().next() {
                Some(slot) => Source::variable(*slot),
                None => Source::constant(value.constant),
            },
        };
        CopyConstants::assign(self, changes.iter().map(|(slot, value)| (*slot, source(value))))
    }

    fn assume(&self, _: &Slots, _: ProcedureId, _: &Expr) -> Transformer {
        wherefore_pushdown::Semiring::one(self)
    }

    fn call(&self, shared: usize, enter: Transformer) -> CopyLocals {
        let locals: Vec<usize> = (shared..self.variable_count()).collect();
        let others: Vec<usize> = (0..shared).collect();
        CopyLocals::new(self, &locals, &others, Entry::Bound(enter))
    }
}

/// The constants of a program.
pub(crate) struct Constants<'a>(Solved<'a, CopyConstants>);

impl<'a> Constants<'a> {
    pub fn new(program: &'a Program, limits: &Limits) -> Result<Self, StopReason> {
        let slots = Slots::new(program, |_| true);
        let domain = CopyConstants::new(slots.count);
        Solved::new(program, domain, slots, limits).map(Self)
    }

    /// The variables that are constant at a location; none if no path comes there.
    pub fn at(&self, node: Node, stacks: Option<&Stacks>) -> Option<Vec<(Var, u64)>> {
        let Self(solved) = self;
        let weight = stacks.map_or_else(|| solved.at(node), |stacks| solved.at_with(node, stacks));
        let values = weight.apply(&vec![Constant::Top; solved.slots.count])?;
        let known = values.into_iter().enumerate().filter_map(|(slot, value)| {
            let Constant::Known(value) = value else { return None };
            match solved.slots.place(node.procedure, slot)? {
                Place::Now(variable) => Some((variable, value as u64)),
                _ => None,
            }
        });
        Some(known.collect())
    }

    /// What is known of the values at a location, or returned, from those at entry.
    fn sources(&self, procedure: ProcedureId, weight: &Transformer, results: bool) -> Vec<Claim> {
        let slots = &self.0.slots;
        let Some(sources) = weight.sources() else { return vec![Claim::Unreached] };
        let mut claims = Vec::new();
        for (slot, source) in sources.iter().enumerate() {
            let (Source::Join { variables, constant }, Some(place)) = (source, slots.place(procedure, slot))
            else {
                continue;
            };
            let is_result = matches!(place, Place::Result(_));
            let is_local = matches!(place, Place::Now(Var::Local(_)));
            if is_result && !results || is_local && results {
                continue;
            }
            let entry: Option<Vec<Var>> = variables
                .iter()
                .map(|slot| match slots.place(procedure, *slot)? {
                    Place::Now(variable) => Some(variable),
                    _ => None,
                })
                .collect();
            let constant = constant.map(|constant| constant as u64);
            claims.extend(entry.map(|entry| Claim::OneOf { place, constant, entry }));
        }
        claims
    }

    /// What holds at a location since the entry.
    pub fn since_entry(&self, node: Node) -> Vec<Claim> {
        self.sources(node.procedure, &self.0.since_entry(node), false)
    }

    /// What holds when a procedure returns.
    pub fn through(&self, procedure: ProcedureId) -> Vec<Claim> {
        self.sources(procedure, &self.0.through(procedure), true)
    }
}
