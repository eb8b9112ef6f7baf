//! What can be said of the values at a location, as data: the common language of the domains, which
//! find it, of `verify.rs`, which checks it, and of `words.rs`, which prints it.

use wherefore_flow::Range;
use wherefore_program::Var;

/// A value that a claim speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// The value of a variable now.
    Now(Var),
    /// Its value when the procedure was entered.
    Entry(Var),
    /// A value that the procedure returns; only where it does.
    Result(u32),
}

/// `constant + Σ factor · place = 0`, of the low bits of the values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Equation {
    /// It holds modulo two to the power of this.
    pub bits: u32,
    /// Whether it was found over the integers: it holds there as long as nothing wraps.
    pub integral: bool,
    /// The constant.
    pub constant: i64,
    /// The factors of values, none of them 0.
    pub terms: Vec<(Place, i64)>,
}

/// Something that can be said of the values at a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// An equation or a congruence.
    Equation(Equation),
    /// A value is a constant, or that of a variable at the entry of the procedure.
    OneOf {
        /// The value.
        place: Place,
        /// The constant.
        constant: Option<u64>,
        /// The variables.
        entry: Vec<Var>,
    },
    /// No run comes here.
    Unreached,
    /// A value lies between bounds.
    Range {
        /// The value.
        place: Place,
        /// The bounds.
        range: Range,
    },
}

impl Claim {
    /// All values that it speaks of.
    pub fn places(&self) -> Vec<Place> {
        match self {
            Claim::Equation(equation) => equation.terms.iter().map(|(place, _)| *place).collect(),
            Claim::OneOf { place, entry, .. } => {
                std::iter::once(*place).chain(entry.iter().map(|variable| Place::Entry(*variable))).collect()
            }
            Claim::Range { place, .. } => vec![*place],
            Claim::Unreached => Vec::new(),
        }
    }

    /// Whether it speaks of the present state alone.
    pub fn is_about_now(&self) -> bool {
        self.places().iter().all(|place| matches!(place, Place::Now(_)))
    }
}
