//! Pushdown systems as files.
//!
//! Three formats, told apart by what is in the file:
//! - PDAAAL's JSON, if the first character is `{`;
//! - the plain format of rule lists, if the first word is `pds` and three numbers follow;
//! - else the readable format of `docs/pds-format.md`.
//!
//! ```
//! use wherefore_frontend::pds::{Source, Weights, read_str};
//!
//! let file = read_str(Source { name: "calls.pds", text: r#"
//!     weights shortest
//!     start  <p, main>
//!     target <p, error .*>
//!     <p, main> -> <p, f back> : 2   "call f"
//!     <p, f>    -> <p, error>  : 5
//! "# })?;
//! assert_eq!(file.system.rule_count(), 2);
//! assert!(matches!(file.weights, Weights::Shortest));
//! assert!(file.start.is_some() && file.target.is_some());
//!
//! let error = read_str(Source { name: "calls.pds", text: "start <p, main>" }).unwrap_err();
//! assert_eq!(error.render(), "\
//! calls.pds:1:8: unknown control state `p`
//!   start <p, main>
//!          ^
//! ");
//! # Ok::<(), wherefore_frontend::pds::PdsError>(())
//! ```

mod effect;
mod encoding;
mod error;
mod expression;
mod json;
mod p_automaton;
mod pdaaal;
mod plain;
mod text;

use std::fmt;
use std::fs;
use std::path::Path;

use rustc_hash::FxHashMap;
use wherefore_pushdown::{
    Automaton, Configuration, ConfigurationSet, Names, ParseError, Reading, Rhs, RuleId, System,
};

pub use effect::{Effect, Expression, Node, Operator, Relation, Scope, Update, Variable};
pub use encoding::Encoding;
pub use error::PdsError;

use p_automaton::{Labels, Set, StateNames, Table};

/// More transitions than this in the automaton of a set are refused.
const MAX_TRANSITIONS: usize = 100_000_000;

/// What the weights of a file are.
#[derive(Clone, Debug)]
pub enum Weights {
    /// There are none: can the target be reached?
    None,
    /// Numbers that add up: what is the cheapest way?
    Shortest,
    /// Relations between stores: with which values can the target be reached?
    Relation(Relation),
}

/// A pushdown system from a file, with the question that the file asks.
#[derive(Clone)]
pub struct PdsFile {
    /// The system. The weight of a rule is its cost; in a file without numbers it is 1, and in
    /// every file it is 0 for rules that only help another along, so that costs add up to those of
    /// the file.
    pub system: System<u64>,
    /// What the weights are.
    pub weights: Weights,
    /// The start set, if there is one: without ε, no transition into a control state, read backward
    /// as post\* wants it.
    pub start: Option<Automaton<()>>,
    /// The target set, if there is one: without ε, no transition into a control state, read forward
    /// as pre\* wants it.
    pub target: Option<Automaton<()>>,
    /// How configurations of the file are laid out in the system. Where control states are on the
    /// stack, the system is made for runs from `start`.
    pub encoding: Encoding,
    labels: FxHashMap<RuleId, String>,
}

impl PdsFile {
    /// The label that the file gives to a rule, if it does.
    pub fn label(&self, rule: RuleId) -> Option<&str> {
        self.labels.get(&rule).map(String::as_str)
    }

    /// Whether a rule is a call after which the caller's local variables must be restored: a push,
    /// in a system with local variables.
    pub fn restores_locals(&self, rule: RuleId) -> bool {
        let push = matches!(self.system.rule(rule).rhs, Rhs::Push(..));
        push && matches!(&self.weights, Weights::Relation(relation) if relation.has_locals())
    }
}

impl fmt::Debug for PdsFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PdsFile")
            .field("states", &self.system.state_count())
            .field("symbols", &self.system.symbol_count())
            .field("rules", &self.system.rule_count())
            .finish_non_exhaustive()
    }
}

/// A text with a name for messages.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The name, usually of a file.
    pub name: &'a str,
    /// The text.
    pub text: &'a str,
}

impl Source<'_> {
    fn error(&self, error: ParseError) -> PdsError {
        PdsError::Syntax { file: self.name.to_owned(), error }
    }
}

/// Sets of configurations from files of their own; each takes the place of the one in the system's
/// file.
#[derive(Clone, Copy, Debug)]
pub struct Sets<T> {
    /// The start set.
    pub start: Option<T>,
    /// The target set.
    pub target: Option<T>,
}

/// Reads a file.
pub fn read(path: impl AsRef<Path>) -> Result<PdsFile, PdsError> {
    read_with(path.as_ref(), Sets { start: None, target: None })
}

/// Reads a file, and sets of configurations from files of their own: PDAAAL's `{"P-automaton": …}`
/// or the text syntax of [`ConfigurationSet`].
pub fn read_with(path: &Path, sets: Sets<&Path>) -> Result<PdsFile, PdsError> {
    let system = load(path)?;
    let start = sets.start.map(load).transpose()?;
    let target = sets.target.map(load).transpose()?;
    let sets =
        Sets { start: start.as_ref().map(Loaded::source), target: target.as_ref().map(Loaded::source) };
    read_str_with(system.source(), sets)
}

/// Reads a text.
pub fn read_str(source: Source<'_>) -> Result<PdsFile, PdsError> {
    read_str_with(source, Sets { start: None, target: None })
}

/// Reads a text, and sets of configurations from texts of their own.
pub fn read_str_with<'a>(source: Source<'a>, sets: Sets<Source<'a>>) -> Result<PdsFile, PdsError> {
    let source = Source { text: without_mark(source.text), ..source };
    if source.text.trim_start().starts_with('{') {
        from_pdaaal(source, sets)
    } else if plain::is_plain(source.text) {
        from_plain(source, sets)
    } else {
        from_text(source, sets)
    }
}

struct Loaded {
    name: String,
    text: String,
}

impl Loaded {
    fn source(&self) -> Source<'_> {
        Source { name: &self.name, text: &self.text }
    }
}

fn load(path: &Path) -> Result<Loaded, PdsError> {
    let name = path.display().to_string();
    let bytes = fs::read(path).map_err(|error| PdsError::Io { file: name.clone(), error })?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Loaded { name, text }),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(error.as_bytes());
            let error = ParseError::at(&text, at..at + 1, "the file is not text in UTF-8");
            Err(PdsError::Syntax { file: name, error })
        }
    }
}

/// The text without a byte-order mark.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// A set as it was read, with the text that it came from.
struct Read<'a> {
    source: Source<'a>,
    set: Set,
}

fn read_set<'a>(source: Source<'a>, table: &mut Table) -> Result<Read<'a>, PdsError> {
    let source = Source { text: without_mark(source.text), ..source };
    let set = if source.text.trim_start().starts_with('{') {
        p_automaton::read_set(source.text, table).map_err(|error| source.error(error))?
    } else {
        Set::Within(0..source.text.len())
    };
    Ok(Read { source, set })
}

impl Read<'_> {
    /// The automaton of the set in a system of `control` states and `symbols` symbols.
    fn automaton(
        &self,
        table: &Table,
        control: usize,
        symbols: usize,
        reading: Reading,
    ) -> Result<Automaton<()>, PdsError> {
        let parse =
            |text: &str, range| ConfigurationSet::parse_within(text, range, &table.states, &table.symbols);
        let set = match &self.set {
            Set::Graph(graph) => return Ok(graph.automaton(control, symbols, reading)),
            Set::Within(range) => parse(self.source.text, range.clone()),
            Set::Text(text) => parse(text, 0..text.len()),
        };
        compile(self.source, &set.map_err(|error| self.source.error(error))?, control, symbols, reading)
    }
}

fn compile(
    source: Source<'_>,
    set: &ConfigurationSet,
    control: usize,
    symbols: usize,
    reading: Reading,
) -> Result<Automaton<()>, PdsError> {
    let bound = set.transition_bound();
    if bound > MAX_TRANSITIONS {
        let message = format!("the set needs {bound} transitions, more than {MAX_TRANSITIONS}");
        return Err(source.error(ParseError::at(source.text, 0..0, message)));
    }
    Ok(set.to_automaton(control, symbols, reading, &()))
}

fn from_pdaaal<'a>(source: Source<'a>, sets: Sets<Source<'a>>) -> Result<PdsFile, PdsError> {
    let mut pda = pdaaal::read(source.text).map_err(|error| source.error(error))?;
    let mut choose = |given: Option<Source<'a>>, own: Option<Set>| match given {
        Some(given) => read_set(given, &mut pda.table).map(Some),
        None => Ok(own.map(|set| Read { source, set })),
    };
    // Both automata are read before either is built: each may bring labels, and `*` and `.` stand
    // for all of them.
    let start = choose(sets.start, pda.start.take())?;
    let target = choose(sets.target, pda.target.take())?;
    let (control, symbols) = (pda.table.states.len(), pda.table.symbols.len());
    let build = |set: Option<Read<'_>>, reading| {
        set.map(|set| set.automaton(&pda.table, control, symbols, reading)).transpose()
    };
    let start = build(start, Reading::Backward)?;
    let target = build(target, Reading::Forward)?;
    let Table { states, symbols, .. } = pda.table;
    let encoded = encoding::encode(states, symbols, &pda.rules, start.as_ref(), target.as_ref());
    let (system, encoding) = encoded.map_err(|count| {
        source.error(ParseError::at(
            source.text,
            0..1,
            format!("the wildcards stand for {count} rules: too many"),
        ))
    })?;
    Ok(PdsFile {
        start: start.map(|set| encoding.automaton(&system, set)),
        target: target.map(|set| encoding.automaton(&system, set)),
        system,
        weights: if pda.weighted { Weights::Shortest } else { Weights::None },
        encoding,
        labels: FxHashMap::default(),
    })
}

fn from_plain(source: Source<'_>, sets: Sets<Source<'_>>) -> Result<PdsFile, PdsError> {
    let plain = plain::read(source.text).map_err(|error| source.error(error))?;
    let system = plain.system;
    let singleton = |set: Option<Configuration>, reading| {
        set.map(|configuration| Automaton::of_configuration(&system, &configuration, reading, &()))
    };
    let start = singleton(plain.start, Reading::Backward);
    let target = singleton(plain.target, Reading::Forward);
    let names = (system.states().clone(), system.symbols().clone());
    let (start, target) = replace_sets(&system, &names, StateNames::Numbers, sets, start, target)?;
    let encoding = Encoding::direct(names.0, names.1);
    Ok(PdsFile { system, weights: Weights::Shortest, start, target, encoding, labels: FxHashMap::default() })
}

fn from_text(source: Source<'_>, sets: Sets<Source<'_>>) -> Result<PdsFile, PdsError> {
    let text = text::read(source.text).map_err(|error| source.error(error))?;
    let system = text.system;
    let build = |set: Option<ConfigurationSet>, reading| {
        set.map(|set| compile(source, &set, system.state_count(), system.symbol_count(), reading)).transpose()
    };
    let start = build(text.start, Reading::Backward)?;
    let target = build(text.target, Reading::Forward)?;
    let names = (text.states, text.symbols);
    let (start, target) = replace_sets(&system, &names, StateNames::Strings, sets, start, target)?;
    let weights = match text.weights {
        text::TextWeights::None => Weights::None,
        text::TextWeights::Shortest => Weights::Shortest,
        text::TextWeights::Relation(relation) => Weights::Relation(relation),
    };
    let encoding = Encoding::direct(names.0, names.1);
    Ok(PdsFile { system, weights, start, target, encoding, labels: text.labels })
}

type StartAndTarget = (Option<Automaton<()>>, Option<Automaton<()>>);

/// Puts sets from files of their own in the place of those from the system's file.
fn replace_sets(
    system: &System<u64>,
    (states, symbols): &(Names, Names),
    style: StateNames,
    sets: Sets<Source<'_>>,
    start: Option<Automaton<()>>,
    target: Option<Automaton<()>>,
) -> Result<StartAndTarget, PdsError> {
    if sets.start.is_none() && sets.target.is_none() {
        return Ok((start, target));
    }
    let mut table = Table { states: states.clone(), symbols: symbols.clone(), style, labels: Labels::Closed };
    let mut choose = |given: Option<Source<'_>>, own, reading| match given {
        Some(given) => {
            let set = read_set(given, &mut table)?;
            set.automaton(&table, system.state_count(), system.symbol_count(), reading).map(Some)
        }
        None => Ok(own),
    };
    Ok((choose(sets.start, start, Reading::Backward)?, choose(sets.target, target, Reading::Forward)?))
}

#[cfg(test)]
mod tests;
