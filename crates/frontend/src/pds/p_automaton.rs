//! PDAAAL's P-automata: sets of configurations in JSON.
//!
//! As in PDAAAL, the list `initial` must name control states, and restricts nothing: every control
//! state of the system is one of the automaton. (So `[]` is the same as leaving it out.)

use std::borrow::Cow;
use std::ops::Range;

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess};
use wherefore_pushdown::{Automaton, Names, ParseError, Reading, State, Symbol};

use super::encoding::WILDCARD;
use super::json::{Expecting, Text, Visit, run, seed, visitor};

/// How control states are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StateNames {
    Numbers,
    Strings,
}

/// Whether a P-automaton may use labels that the system does not mention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Labels {
    Open,
    Closed,
}

/// The names of a system, as far as they are known.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub states: Names,
    pub symbols: Names,
    pub style: StateNames,
    pub labels: Labels,
}

/// A set of configurations as it is in the file.
#[derive(Debug)]
pub(super) enum Set {
    /// A P-automaton.
    Graph(Graph),
    /// A text in the syntax of `ConfigurationSet`: bytes of the file.
    Within(Range<usize>),
    /// Such a text that had to be unescaped.
    Text(String),
}

/// A P-automaton: control states come first, ε has label [`WILDCARD`].
#[derive(Debug, Default)]
pub(super) struct Graph {
    states: u32,
    accepting: Vec<u32>,
    edges: Vec<(u32, u32, u32)>,
}

/// Reads a file with a P-automaton.
pub(super) fn read_set(text: &str, table: &mut Table) -> Result<Set, ParseError> {
    run(text, WrappedSetSeed(SetSeed { text, table }))
}

impl Graph {
    /// The automaton, without ε and with no transition into a control state.
    pub fn automaton(&self, control: usize, symbols: usize, reading: Reading) -> Automaton<()> {
        let mut automaton = Automaton::new(control, symbols, reading);
        let count = (self.states as usize).max(control);
        for _ in control..count {
            automaton.add_state();
        }
        let mut accepting = vec![false; count];
        for q in &self.accepting {
            accepting[*q as usize] = true;
            automaton.set_final(State(*q));
        }
        let mut out: FxHashMap<u32, Vec<(u32, u32)>> = FxHashMap::default();
        let mut silent: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (from, label, to) in &self.edges {
            if *label == WILDCARD {
                silent.entry(*from).or_default().push(*to);
            } else {
                automaton.add(State(*from), Symbol(*label), State(*to), ());
                out.entry(*from).or_default().push((*label, *to));
            }
        }
        let mut sources: Vec<u32> = silent.keys().copied().collect();
        sources.sort_unstable();
        for source in sources {
            let mut seen = vec![source];
            let mut visited: FxHashMap<u32, ()> = FxHashMap::from_iter([(source, ())]);
            let mut i = 0;
            while i < seen.len() {
                for next in silent.get(&seen[i]).into_iter().flatten() {
                    if visited.insert(*next, ()).is_none() {
                        seen.push(*next);
                    }
                }
                i += 1;
            }
            for q in &seen[1..] {
                if accepting[*q as usize] {
                    automaton.set_final(State(source));
                }
                for (label, to) in out.get(q).into_iter().flatten() {
                    automaton.add(State(source), Symbol(*label), State(*to), ());
                }
            }
        }
        if automaton.enters_control() { automaton.normalised() } else { automaton }
    }
}

/// A label: its number, or [`WILDCARD`] for `*` where that is allowed.
///
/// Labels are seeds of their own so that errors about them are raised, and placed, while they are
/// read.
pub(super) struct LabelSeed<'n>(pub &'n mut Names, pub Star);

/// Whether `*` may stand where a label is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Star {
    Refused,
    Allowed,
}

/// A P-automaton or a text.
pub(super) struct SetSeed<'s, 'a> {
    pub text: &'a str,
    pub table: &'s mut Table,
}

/// `{"P-automaton": …}`.
struct WrappedSetSeed<'s, 'a>(SetSeed<'s, 'a>);

/// What has been read of a P-automaton.
struct GraphBuilder<'s> {
    table: &'s mut Table,
    graph: Graph,
    by_number: FxHashMap<u64, u32>,
    by_name: FxHashMap<Box<str>, u32>,
}

/// Which states a list may name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Control,
    All,
}

struct RefSeed<'g, 's>(&'g mut GraphBuilder<'s>, Which);
struct RefsSeed<'g, 's>(&'g mut GraphBuilder<'s>, Which);
struct EdgeLabelSeed<'s>(&'s mut Table);
struct EdgeSeed<'g, 's>(&'g mut GraphBuilder<'s>);
struct EdgesSeed<'g, 's>(&'g mut GraphBuilder<'s>);

seed!(SetSeed<'s, 'a>, deserialize_any, Set, "a P-automaton, or a set of configurations as a string");
seed!(WrappedSetSeed<'s, 'a>, deserialize_map, Set, "an object with `P-automaton`");
seed!(RefSeed<'g, 's>, deserialize_any, u32, "a state");
seed!(RefsSeed<'g, 's>, deserialize_seq, Vec<u32>, "a list of states");
seed!(EdgeSeed<'g, 's>, deserialize_seq, (), "an edge: a list of a state, a label and a state");
seed!(EdgeLabelSeed<'s>, deserialize_str, u32, "a label");
seed!(EdgesSeed<'g, 's>, deserialize_seq, (), "a list of edges");
seed!(LabelSeed<'n>, deserialize_str, u32, "a label");

visitor!(
    SetSeed<'s, 'a>,
    WrappedSetSeed<'s, 'a>,
    LabelSeed<'n>,
    EdgeSeed<'g, 's>,
    EdgesSeed<'g, 's>,
    RefSeed<'g, 's>,
    RefsSeed<'g, 's>,
    EdgeLabelSeed<'s>
);

impl<'de> Visit<'de> for LabelSeed<'_> {
    type Value = u32;
    fn string<E: Error>(self, text: Cow<'de, str>, _: &Expecting<'de, ()>) -> Result<u32, E> {
        match &*text {
            "*" if self.1 == Star::Allowed => Ok(WILDCARD),
            "*" => Err(E::custom(
                "`*` stands for every label only on the left and in `\"*\": {\"swap\": \"*\"}`",
            )),
            "" => Err(E::custom("a label needs at least one character")),
            name => Ok(self.0.intern(name)),
        }
    }
}

impl<'de> Visit<'de> for WrappedSetSeed<'_, '_> {
    type Value = Set;
    fn object<A: MapAccess<'de>>(self, mut object: A, _: &Expecting<'de, ()>) -> Result<Set, A::Error> {
        let set = match object.next_key::<Text>()? {
            None => return Err(A::Error::missing_field("P-automaton")),
            Some(Text(key)) if key == "P-automaton" => object.next_value_seed(self.0)?,
            Some(Text(key)) => {
                return Err(A::Error::custom(format!("unknown key `{key}`, expected `P-automaton`")));
            }
        };
        match object.next_key::<Text>()? {
            None => Ok(set),
            Some(Text(key)) => Err(A::Error::custom(format!("unexpected key `{key}`"))),
        }
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum SetKey {
    Accepting,
    Initial,
    Edges,
}

impl<'de> Visit<'de> for SetSeed<'_, '_> {
    type Value = Set;
    fn string<E: Error>(self, text: Cow<'de, str>, _: &Expecting<'de, ()>) -> Result<Set, E> {
        Ok(match text {
            Cow::Owned(text) => Set::Text(text),
            Cow::Borrowed(text) => {
                // A borrowed string lies in the file: its address says where.
                match (text.as_ptr() as usize).checked_sub(self.text.as_ptr() as usize) {
                    Some(at) if self.text.get(at..at + text.len()) == Some(text) => {
                        Set::Within(at..at + text.len())
                    }
                    _ => Set::Text(text.to_owned()),
                }
            }
        })
    }

    fn object<A: MapAccess<'de>>(self, mut object: A, _: &Expecting<'de, ()>) -> Result<Set, A::Error> {
        let states = self.table.states.len() as u32;
        let mut builder = GraphBuilder {
            table: self.table,
            graph: Graph { states, ..Graph::default() },
            by_number: FxHashMap::default(),
            by_name: FxHashMap::default(),
        };
        let (mut accepting, mut initial, mut edges) = (false, false, false);
        while let Some(key) = object.next_key::<SetKey>()? {
            let (seen, name) = match key {
                SetKey::Accepting => (&mut accepting, "accepting"),
                SetKey::Initial => (&mut initial, "initial"),
                SetKey::Edges => (&mut edges, "edges"),
            };
            if std::mem::replace(seen, true) {
                return Err(A::Error::duplicate_field(name));
            }
            match key {
                SetKey::Accepting => {
                    builder.graph.accepting = object.next_value_seed(RefsSeed(&mut builder, Which::All))?;
                }
                SetKey::Initial => {
                    object.next_value_seed(RefsSeed(&mut builder, Which::Control))?;
                }
                SetKey::Edges => object.next_value_seed(EdgesSeed(&mut builder))?,
            }
        }
        if !accepting {
            return Err(A::Error::missing_field("accepting"));
        }
        if !edges {
            return Err(A::Error::missing_field("edges"));
        }
        Ok(Set::Graph(builder.graph))
    }
}

impl<'de> Visit<'de> for RefSeed<'_, '_> {
    type Value = u32;
    fn number<E: Error>(self, number: i128, _: &Expecting<'de, ()>) -> Result<u32, E> {
        let RefSeed(builder, which) = self;
        let control = builder.table.states.len() as u32;
        if builder.table.style == StateNames::Numbers && (0..i128::from(control)).contains(&number) {
            return Ok(number as u32);
        }
        let Ok(number) = u64::try_from(number) else {
            return Err(E::custom(format!("state {number} is negative")));
        };
        if which == Which::Control {
            return Err(E::custom(format!("state {number} is not a control state of the system")));
        }
        let next = builder.graph.states;
        let state = *builder.by_number.entry(number).or_insert(next);
        builder.graph.states = next.max(state + 1);
        Ok(state)
    }
    fn string<E: Error>(self, text: Cow<'de, str>, _: &Expecting<'de, ()>) -> Result<u32, E> {
        let RefSeed(builder, which) = self;
        if builder.table.style == StateNames::Numbers {
            return Err(E::custom(format!("states are numbers here, found the name `{text}`")));
        }
        if let Some(state) = builder.table.states.get(&text) {
            return Ok(state);
        }
        if which == Which::Control {
            return Err(E::custom(format!("state `{text}` is not a control state of the system")));
        }
        let next = builder.graph.states;
        let state = *builder.by_name.entry(text.into()).or_insert(next);
        builder.graph.states = next.max(state + 1);
        Ok(state)
    }
}

impl<'de> Visit<'de> for RefsSeed<'_, '_> {
    type Value = Vec<u32>;
    fn list<A: SeqAccess<'de>>(self, mut list: A, _: &Expecting<'de, ()>) -> Result<Vec<u32>, A::Error> {
        let mut states = Vec::new();
        while let Some(state) = list.next_element_seed(RefSeed(self.0, self.1))? {
            states.push(state);
        }
        Ok(states)
    }
}

impl<'de> Visit<'de> for EdgesSeed<'_, '_> {
    type Value = ();
    fn list<A: SeqAccess<'de>>(self, mut list: A, _: &Expecting<'de, ()>) -> Result<(), A::Error> {
        while list.next_element_seed(EdgeSeed(self.0))?.is_some() {}
        Ok(())
    }
}

impl<'de> Visit<'de> for EdgeLabelSeed<'_> {
    type Value = u32;
    fn string<E: Error>(self, text: Cow<'de, str>, expecting: &Expecting<'de, ()>) -> Result<u32, E> {
        let table = self.0;
        match table.labels {
            _ if text.is_empty() => Ok(WILDCARD),
            Labels::Open => LabelSeed(&mut table.symbols, Star::Refused).string(text, expecting),
            Labels::Closed => {
                table.symbols.get(&text).ok_or_else(|| E::custom(format!("unknown stack symbol `{text}`")))
            }
        }
    }
}

impl<'de> Visit<'de> for EdgeSeed<'_, '_> {
    type Value = ();
    fn list<A: SeqAccess<'de>>(self, mut list: A, _: &Expecting<'de, ()>) -> Result<(), A::Error> {
        let short = || A::Error::custom("an edge is a list of a state, a label and a state");
        let builder = self.0;
        let from = list.next_element_seed(RefSeed(builder, Which::All))?.ok_or_else(short)?;
        let symbol = list.next_element_seed(EdgeLabelSeed(builder.table))?.ok_or_else(short)?;
        let to = list.next_element_seed(RefSeed(builder, Which::All))?.ok_or_else(short)?;
        if list.next_element::<IgnoredAny>()?.is_some() {
            return Err(short());
        }
        builder.graph.edges.push((from, symbol, to));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silent_edges_are_followed_to_the_end() {
        // 0 -ε-> 1 -ε-> 2 -a-> 0, where 0 is the control state and 2 accepts.
        let graph = Graph {
            states: 3,
            accepting: vec![2],
            edges: vec![(0, WILDCARD, 1), (1, WILDCARD, 2), (2, 0, 0)],
        };
        let automaton = graph.automaton(1, 1, Reading::Forward);
        assert!(!automaton.enters_control());
        assert!(automaton.is_final(State(0)));
        let (step, ()) = automaton.transitions_on(State(0), Symbol(0)).next().unwrap();
        assert!(automaton.is_final(step.to));
        assert_eq!(automaton.transitions_on(step.to, Symbol(0)).count(), 1);
    }
}
