//! Conditions of a run as trees of atoms, and which atoms a run looks at.
//!
//! `a && b` looks at `b` only if `a` holds; `a & b` looks at both. Each atom that is looked at is a
//! constraint on inputs, true or false: two runs that take the same steps but differ in an atom are
//! two ways to fail (\[Focus\] Fig. 2: FSS2 and FSS3).

use rustc_hash::FxHashSet;
use wherefore_check::PathTerms;
use wherefore_program::{BinaryOp, Expr, ExprKind, Scalar, UnaryOp};
use wherefore_smt::{Kind, Model, Sort, Term, Terms};

/// A condition with its atoms as terms.
#[derive(Clone, Debug)]
pub(crate) enum Condition {
    /// A comparison, or a truth value of the program.
    Atom(Term),
    /// The first decides whether the second is looked at: it is if the first has this value.
    Then(Box<Condition>, bool, Box<Condition>),
    /// The second if the first holds, else the third.
    Choice(Box<Condition>, Box<Condition>, Box<Condition>),
    /// All are looked at, and then the comparison that they are part of.
    Parts(Vec<Condition>, Term),
}

impl Condition {
    /// The condition that an expression is, where the walk stands.
    pub fn of(walk: &mut PathTerms<'_>, expr: &Expr) -> Self {
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => Self::of(walk, inner),
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or | BinaryOp::Implies), left, right) => {
                let wanted = *op != BinaryOp::Or;
                let (left, right) = (Self::decided(walk, left), Self::of(walk, right));
                Self::Then(Box::new(left), wanted, Box::new(right))
            }
            ExprKind::IfThenElse(condition, then, otherwise) if expr.ty == Scalar::Bool => {
                let parts = [condition, then, otherwise].map(|part| Box::new(Self::decided(walk, part)));
                let [condition, then, otherwise] = parts;
                Self::Choice(condition, then, otherwise)
            }
            _ => {
                let (value, _) = walk.value(expr);
                let mut parts = Vec::new();
                for child in expr.children() {
                    Self::parts(walk, child, &mut parts);
                }
                if parts.is_empty() { Self::Atom(value) } else { Self::Parts(parts, value) }
            }
        }
    }

    /// The same, with its value at hand.
    fn decided(walk: &mut PathTerms<'_>, expr: &Expr) -> Self {
        let inner = Self::of(walk, expr);
        match inner {
            Self::Atom(_) | Self::Parts(..) if !matches!(expr.kind, ExprKind::Unary(UnaryOp::Not, _)) => {
                inner
            }
            _ => {
                let (value, _) = walk.value(expr);
                Self::Parts(vec![inner], value)
            }
        }
    }

    /// The conditions inside a value.
    fn parts(walk: &mut PathTerms<'_>, expr: &Expr, found: &mut Vec<Condition>) {
        if expr.ty == Scalar::Bool && !matches!(expr.kind, ExprKind::Constant(_)) {
            found.push(Self::of(walk, expr));
        } else if let ExprKind::IfThenElse(condition, then, otherwise) = &expr.kind {
            let condition = Self::decided(walk, condition);
            let [mut then_parts, mut else_parts] = [Vec::new(), Vec::new()];
            Self::parts(walk, then, &mut then_parts);
            Self::parts(walk, otherwise, &mut else_parts);
            let all = |parts: Vec<Condition>| Box::new(Self::Parts(parts, Terms::TRUE));
            found.push(Self::Choice(Box::new(condition), all(then_parts), all(else_parts)));
        } else {
            for child in expr.children() {
                Self::parts(walk, child, found);
            }
        }
    }

    /// The atoms that a run with these values looks at, in order, each as it holds.
    pub fn looked_at(&self, terms: &mut Terms, model: &Model, found: &mut Vec<Term>) {
        match self {
            Self::Atom(atom) => implicant(terms, *atom, model, found),
            Self::Parts(parts, whole) => {
                parts.iter().for_each(|part| part.looked_at(terms, model, found));
                implicant(terms, *whole, model, found);
            }
            Self::Then(first, wanted, second) => {
                first.looked_at(terms, model, found);
                if terms.holds(first.value(), model) == *wanted {
                    second.looked_at(terms, model, found);
                }
            }
            Self::Choice(condition, then, otherwise) => {
                condition.looked_at(terms, model, found);
                let holds = terms.holds(condition.value(), model);
                if holds { then } else { otherwise }.looked_at(terms, model, found);
            }
        }
    }

    /// All atoms.
    pub fn atoms(&self, visit: &mut impl FnMut(Term)) {
        match self {
            Self::Atom(atom) => visit(*atom),
            Self::Parts(parts, whole) => {
                parts.iter().for_each(|part| part.atoms(visit));
                visit(*whole);
            }
            Self::Then(first, _, second) => [first, second].iter().for_each(|part| part.atoms(visit)),
            Self::Choice(condition, then, otherwise) => {
                [condition, then, otherwise].iter().for_each(|part| part.atoms(visit));
            }
        }
    }

    fn value(&self) -> Term {
        match self {
            Self::Atom(value) | Self::Parts(_, value) => *value,
            Self::Then(..) | Self::Choice(..) => {
                unreachable!("a condition that decides has its value at hand")
            }
        }
    }
}

/// Literals that hold in a model and imply that a truth value is what it is there. A value that was
/// computed earlier in the run is taken apart so.
fn implicant(terms: &mut Terms, term: Term, model: &Model, found: &mut Vec<Term>) {
    let mut seen = FxHashSet::default();
    take_apart(terms, term, model, &mut seen, found);
}

/// The same without what has been taken apart before.
fn take_apart(
    terms: &mut Terms,
    term: Term,
    model: &Model,
    seen: &mut FxHashSet<Term>,
    found: &mut Vec<Term>,
) {
    if !seen.insert(term) {
        return;
    }
    let holds = terms.holds(term, model);
    match terms.kind(term).clone() {
        Kind::Constant(_) => {}
        Kind::Not(inner) => take_apart(terms, inner, model, seen, found),
        Kind::And(parts) | Kind::Or(parts) => {
            // One part decides a conjunction that does not hold, and a disjunction that does.
            let decisive = matches!(terms.kind(term), Kind::Or(_));
            if holds == decisive {
                let part = parts.iter().copied().find(|part| terms.holds(*part, model) == decisive);
                take_apart(terms, part.expect("some part decides"), model, seen, found);
            } else {
                parts.iter().for_each(|part| take_apart(terms, *part, model, seen, found));
            }
        }
        Kind::Ite(condition, then, otherwise) => {
            take_apart(terms, condition, model, seen, found);
            let chosen = if terms.holds(condition, model) { then } else { otherwise };
            take_apart(terms, chosen, model, seen, found);
        }
        Kind::Eq(a, b) if terms.sort(a) == Sort::Bool => {
            take_apart(terms, a, model, seen, found);
            take_apart(terms, b, model, seen, found);
        }
        _ => match choice_inside(terms, term) {
            Some(choice) => {
                let Some((condition, then, otherwise)) = parts_of_choice(terms, choice) else { return };
                take_apart(terms, condition, model, seen, found);
                let chosen = if terms.holds(condition, model) { then } else { otherwise };
                let decided = terms.substitute(term, &std::iter::once((choice, chosen)).collect());
                take_apart(terms, decided, model, seen, found);
            }
            None => found.push(if holds { term } else { terms.not(term) }),
        },
    }
}

/// A choice as a condition, what is chosen if it holds, and what else: an element of an array that
/// was written to is the value that was written, or what was there before.
fn parts_of_choice(terms: &mut Terms, choice: Term) -> Option<(Term, Term, Term)> {
    match *terms.kind(choice) {
        Kind::Ite(condition, then, otherwise) => Some((condition, then, otherwise)),
        Kind::Select(array, index) => {
            let Kind::Store(before, at, value) = *terms.kind(array) else { return None };
            let condition = terms.eq(index, at);
            Some((condition, value, terms.select(before, index)))
        }
        _ => None,
    }
}

/// A choice between values somewhere in a term.
fn choice_inside(terms: &Terms, term: Term) -> Option<Term> {
    let mut seen = FxHashSet::default();
    let mut waiting = vec![term];
    while let Some(part) = waiting.pop() {
        let is_choice = match *terms.kind(part) {
            Kind::Ite(..) => true,
            Kind::Select(array, _) => matches!(terms.kind(array), Kind::Store(..)),
            _ => false,
        };
        if is_choice {
            return Some(part);
        }
        terms.for_each_child(part, |child| {
            if seen.insert(child) {
                waiting.push(child);
            }
        });
    }
    None
}
