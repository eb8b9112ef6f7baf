//! Relations that were left open, made sharper where a counterexample asks for it.
//!
//! A relation of truth values is left open where too many of them would have to be enumerated. Then
//! a path may stay possible although all its formulas are tracked. But each of its triples says how
//! truth values before a transition determine others after it: taken into the relations, they rule
//! out the path. The idea is that of S. Das and D. Dill, *Successive Approximation of Abstract
//! Transition Relations*, LICS 2001: exact only where counterexamples ask for it.

use rustc_hash::FxHashMap;
use wherefore_domains::bdd::{BddRelations, Moment, Predicate};
use wherefore_smt::{BitBlaster, Budget, Kind, Outcome, Reason, Solver, Sort, Term, Terms};

use super::abstraction::{Abstraction, Bit, Predicates};
use super::graph::{Graph, PointId, Transition};
use super::interpolants::Triple;

/// What a triple is checked and read with.
pub(super) struct Sharpening<'s> {
    pub graph: &'s Graph,
    pub predicates: &'s Predicates,
    pub bits: &'s BddRelations,
    pub budget: &'s Budget,
}

impl Sharpening<'_> {
    /// Takes what the triples of a path rule out of the relations; whether that is anything.
    pub fn run(
        &self,
        abstraction: &mut Abstraction,
        terms: &mut Terms,
        triples: &[Triple],
    ) -> Result<bool, Reason> {
        let d = self.bits;
        let mut sharper = false;
        for triple in triples {
            if !self.is_valid(terms, triple)? {
                continue;
            }
            let Some(forbidden) = self.forbidden(terms, triple) else { continue };
            let allowed = abstraction.allowed.entry(triple.transition).or_insert_with(|| d.constant(true));
            let fewer = d.and(allowed, &d.not(&forbidden));
            sharper |= fewer != *allowed;
            *allowed = fewer;
        }
        Ok(sharper)
    }

    /// Formulas that were cut short may not be enough.
    fn is_valid(&self, terms: &mut Terms, triple: &Triple) -> Result<bool, Reason> {
        let block = self.graph.block(triple.transition);
        let after = block.before(terms, triple.after.1);
        let mut question = block.guards.clone();
        question.extend([triple.before.1, terms.not(after)]);
        if let (Some((_, effect)), Transition::Resume(call)) = (triple.effect, triple.transition) {
            question.push(terms.substitute(effect, &self.graph.calls[call].at_exit));
        }
        match BitBlaster::new().check(terms, &question, self.budget) {
            Outcome::Unsat(_) => Ok(true),
            Outcome::Sat(_) => Ok(false),
            Outcome::Unknown(reason) => Err(reason),
        }
    }

    /// The truth values that a triple forbids.
    fn forbidden(&self, terms: &mut Terms, triple: &Triple) -> Option<Predicate> {
        let d = self.bits;
        let mut forbidden = match triple.transition {
            Transition::Start => d.constant(true),
            _ => self.in_bits(terms, triple.before, Bit::Local, Moment::Current)?,
        };
        if let Some(effect) = triple.effect {
            forbidden = d.and(&forbidden, &self.in_bits(terms, effect, Bit::Effect, Moment::Current)?);
        }
        let kind = match triple.transition {
            Transition::Enter(_) => Bit::Argument,
            _ if self.graph.is_exit(triple.after.0) => Bit::Effect,
            _ => Bit::Local,
        };
        let after = self.in_bits(terms, triple.after, kind, Moment::Next)?;
        Some(d.and(&forbidden, &d.not(&after)))
    }

    /// A formula at a point in terms of what is tracked there.
    fn in_bits(
        &self,
        terms: &mut Terms,
        (point, formula): (PointId, Term),
        kind: Bit,
        moment: Moment,
    ) -> Option<Predicate> {
        let mut known: FxHashMap<Term, Predicate> = FxHashMap::default();
        for (tracked, bit) in self.predicates.bits(point, kind) {
            let holds = self.bits.at(bit, moment);
            known.insert(terms.not(tracked), self.bits.not(&holds));
            known.insert(tracked, holds);
        }
        combined(terms, self.bits, formula, &mut known)
    }
}

fn combined(
    terms: &Terms,
    d: &BddRelations,
    formula: Term,
    known: &mut FxHashMap<Term, Predicate>,
) -> Option<Predicate> {
    if let Some(known) = known.get(&formula) {
        return Some(known.clone());
    }
    let made = match terms.kind(formula) {
        Kind::Constant(value) => d.constant(*value != 0),
        Kind::Not(inner) => d.not(&combined(terms, d, *inner, known)?),
        Kind::And(list) => {
            let mut all = d.constant(true);
            for part in list {
                all = d.and(&all, &combined(terms, d, *part, known)?);
            }
            all
        }
        Kind::Or(list) => {
            let mut any = d.constant(false);
            for part in list {
                any = d.or(&any, &combined(terms, d, *part, known)?);
            }
            any
        }
        Kind::Ite(condition, then, otherwise) if terms.sort(formula) == Sort::Bool => {
            let condition = combined(terms, d, *condition, known)?;
            let (then, otherwise) =
                (combined(terms, d, *then, known)?, combined(terms, d, *otherwise, known)?);
            d.ite(&condition, &then, &otherwise)
        }
        _ => return None,
    };
    known.insert(formula, made.clone());
    Some(made)
}
