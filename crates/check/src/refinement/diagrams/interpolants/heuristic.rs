//! Names of the ways to choose interpolants.

use std::fmt;
use std::str::FromStr;

/// How to choose predicates between the strongest and the weakest interpolants (\[Kie05\] chapter
/// 6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Heuristic {
    /// The weakest ones (§4.3.2).
    Weakest,
    /// The strongest ones (§4.3.3).
    Strongest,
    /// Both of them (§6.2).
    Both,
    /// Weakest ones without the variables that the strongest do not mention (§6.3).
    Conciliated,
    /// Each statement is taken for a skip where the strongest interpolant allows it (§6.4).
    AssumeSkip,
    /// The last two together (§6.5).
    #[default]
    AssumeSkipConciliated,
}

impl Heuristic {
    /// All of them, in the order of the document.
    pub const ALL: [Heuristic; 6] = [
        Heuristic::Weakest,
        Heuristic::Strongest,
        Heuristic::Both,
        Heuristic::Conciliated,
        Heuristic::AssumeSkip,
        Heuristic::AssumeSkipConciliated,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Heuristic::Weakest => "weakest",
            Heuristic::Strongest => "strongest",
            Heuristic::Both => "both",
            Heuristic::Conciliated => "conciliated",
            Heuristic::AssumeSkip => "assume-skip",
            Heuristic::AssumeSkipConciliated => "assume-skip+conciliated",
        }
    }

    pub(super) fn skips(self) -> bool {
        matches!(self, Heuristic::AssumeSkip | Heuristic::AssumeSkipConciliated)
    }

    pub(super) fn conciliates(self) -> bool {
        matches!(self, Heuristic::Conciliated | Heuristic::AssumeSkipConciliated)
    }
}

impl fmt::Display for Heuristic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Heuristic {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Heuristic::ALL.into_iter().find(|heuristic| heuristic.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Heuristic::ALL.iter().map(|heuristic| heuristic.name()).collect();
            format!("no heuristic is called `{name}`; there are {}", names.join(", "))
        })
    }
}
