//! Formulas of linear temporal logic, over propositions that are numbered.

/// A formula. `F`, `G`, `W`, `->` and `<->` are written with the operators that are left.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Formula {
    /// True or false.
    Constant(bool),
    /// A proposition, by its position.
    Atom(usize),
    /// Negation.
    Not(Box<Formula>),
    /// Both hold.
    And(Box<Formula>, Box<Formula>),
    /// At least one holds.
    Or(Box<Formula>, Box<Formula>),
    /// It holds after one step.
    Next(Box<Formula>),
    /// The second holds some time, and the first until then.
    Until(Box<Formula>, Box<Formula>),
    /// The second holds up to and including the moment when the first does, for ever if it never
    /// does.
    Release(Box<Formula>, Box<Formula>),
}

impl Formula {
    /// Negation.
    #[allow(clippy::should_implement_trait)]
    pub fn not(self) -> Self {
        Formula::Not(Box::new(self))
    }

    /// Conjunction.
    pub fn and(self, other: Self) -> Self {
        Formula::And(Box::new(self), Box::new(other))
    }

    /// Disjunction.
    pub fn or(self, other: Self) -> Self {
        Formula::Or(Box::new(self), Box::new(other))
    }

    /// After one step.
    pub fn next(self) -> Self {
        Formula::Next(Box::new(self))
    }

    /// `self U other`.
    pub fn until(self, other: Self) -> Self {
        Formula::Until(Box::new(self), Box::new(other))
    }

    /// `self R other`.
    pub fn release(self, other: Self) -> Self {
        Formula::Release(Box::new(self), Box::new(other))
    }

    /// `self W other`: until, or for ever.
    pub fn weak_until(self, other: Self) -> Self {
        other.clone().release(self.or(other))
    }

    /// `F self`.
    pub fn eventually(self) -> Self {
        Formula::Constant(true).until(self)
    }

    /// `G self`.
    pub fn always(self) -> Self {
        Formula::Constant(false).release(self)
    }

    /// The formula, or its negation, with negations in front of propositions only.
    pub fn normal(&self, is_negated: bool) -> Formula {
        let both = |a: &Formula, b: &Formula| (a.normal(is_negated), b.normal(is_negated));
        match self {
            Formula::Constant(value) => Formula::Constant(*value != is_negated),
            Formula::Atom(_) if is_negated => self.clone().not(),
            Formula::Atom(_) => self.clone(),
            Formula::Not(inner) => inner.normal(!is_negated),
            Formula::Next(inner) => inner.normal(is_negated).next(),
            Formula::And(a, b) | Formula::Or(a, b) => {
                let is_and = matches!(self, Formula::And(..)) != is_negated;
                let (a, b) = both(a, b);
                if is_and { a.and(b) } else { a.or(b) }
            }
            Formula::Until(a, b) | Formula::Release(a, b) => {
                let is_until = matches!(self, Formula::Until(..)) != is_negated;
                let (a, b) = both(a, b);
                if is_until { a.until(b) } else { a.release(b) }
            }
        }
    }

    /// Whether it speaks of single steps.
    pub fn counts_steps(&self) -> bool {
        match self {
            Formula::Constant(_) | Formula::Atom(_) => false,
            Formula::Next(_) => true,
            Formula::Not(a) => a.counts_steps(),
            Formula::And(a, b) | Formula::Or(a, b) | Formula::Until(a, b) | Formula::Release(a, b) => {
                a.counts_steps() || b.counts_steps()
            }
        }
    }
}
