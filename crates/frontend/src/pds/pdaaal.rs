//! PDAAAL's JSON: systems, P-automata, and instances that hold a system and two automata.
//!
//! The text is read as a stream: no tree of JSON values is built. Two decisions where the format
//! leaves room:
//! - *Duplicate keys.* A label that occurs twice in a state adds rules, as in PDAAAL's own
//!   streaming reader; any other key that occurs twice is an error.
//! - *`initial`.* As in PDAAAL, the list of an automaton must name control states, and restricts
//!   nothing: every control state of the system is one of the automaton. (So `[]` is the same as
//!   leaving it out.)
//!
//! Stricter than PDAAAL: unknown keys, and `"*"` as a label anywhere but on the left and in `"*":
//! {"swap": "*"}`, are errors.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess};
use wherefore_pushdown::{Names, ParseError};

use super::encoding::{Action, WILDCARD, WildRule};
use super::json::{Expecting, Text, Visit, run, seed, visitor};
use super::p_automaton::{LabelSeed, Labels, Set, SetSeed, Star, StateNames, Table};

/// A system as it is in the file.
#[derive(Debug)]
pub(super) struct Pda {
    pub table: Table,
    pub rules: Vec<WildRule>,
    pub weighted: bool,
    pub start: Option<Set>,
    pub target: Option<Set>,
}

/// Reads a file with a system.
pub(super) fn read(text: &str) -> Result<Pda, ParseError> {
    let mut builder = Builder::new(text);
    run(text, TopSeed(&mut builder))?;
    if let Some(known) = builder.all_known() {
        // Somewhere a rule leads to a state that the file does not have. Now that all states are
        // known, a second reading stops at the place.
        let mut second = Builder::new(text);
        second.known = Some(known);
        run(text, TopSeed(&mut second))?;
    }
    let style = builder.style.unwrap_or(StateNames::Numbers);
    Ok(Pda {
        table: Table { states: builder.states, symbols: builder.symbols, style, labels: Labels::Open },
        rules: builder.rules,
        weighted: builder.weighted.unwrap_or(false),
        start: builder.start,
        target: builder.target,
    })
}

/// What has been read of a system.
struct Builder<'a> {
    text: &'a str,
    style: Option<StateNames>,
    weighted: Option<bool>,
    states: Names,
    /// Which of the named states the file has, or how many numbered ones it has.
    defined: Vec<bool>,
    largest: Option<u32>,
    symbols: Names,
    rules: Vec<WildRule>,
    start: Option<Set>,
    target: Option<Set>,
    known: Option<Known>,
}

/// The states of a file that was read once.
enum Known {
    Count(u32),
    Names(Names),
}

impl<'a> Builder<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            style: None,
            weighted: None,
            states: Names::new(),
            defined: Vec::new(),
            largest: None,
            symbols: Names::new(),
            rules: Vec::new(),
            start: None,
            target: None,
            known: None,
        }
    }

    /// If a rule leads to a state that the file does not have: the states that it has.
    fn all_known(&self) -> Option<Known> {
        match self.style {
            Some(StateNames::Strings) if self.defined.iter().any(|defined| !defined) => {
                let mut names = Names::new();
                for (i, _) in self.defined.iter().enumerate().filter(|(_, defined)| **defined) {
                    names.intern(&self.states.show(i as u32).to_string());
                }
                Some(Known::Names(names))
            }
            Some(StateNames::Strings) | None => None,
            Some(StateNames::Numbers) => {
                let count = self.states.len() as u32;
                self.largest.filter(|largest| *largest >= count).map(|_| Known::Count(count))
            }
        }
    }

    fn named(&mut self, name: &str) -> u32 {
        let id = self.states.intern(name);
        if id as usize == self.defined.len() {
            self.defined.push(false);
        }
        id
    }

    /// The states and symbols, with the builder left as it is: for the automata of an instance.
    fn with_table<T>(&mut self, read: impl FnOnce(&'a str, &mut Table) -> T) -> T {
        let style = self.style.unwrap_or(StateNames::Numbers);
        let states = std::mem::take(&mut self.states);
        let symbols = std::mem::take(&mut self.symbols);
        let mut table = Table { states, symbols, style, labels: Labels::Open };
        let value = read(self.text, &mut table);
        self.states = table.states;
        self.symbols = table.symbols;
        value
    }
}

struct TopSeed<'b, 'a>(&'b mut Builder<'a>);
struct InstanceSeed<'b, 'a>(&'b mut Builder<'a>);
struct OptionsSeed<'b, 'a>(&'b mut Builder<'a>);
struct PdaSeed<'b, 'a>(&'b mut Builder<'a>);
struct StatesSeed<'b, 'a>(&'b mut Builder<'a>);
struct StateSeed<'b, 'a>(&'b mut Builder<'a>, u32);
struct RulesSeed<'b, 'a>(&'b mut Builder<'a>, u32, u32);
struct RuleSeed<'b, 'a>(&'b mut Builder<'a>, u32, u32);
struct ToSeed<'b, 'a>(&'b mut Builder<'a>);
struct WeightSeed;
struct PopSeed;

seed!(TopSeed<'b, 'a>, deserialize_map, (), "an object with `pda` or `instance`");
seed!(InstanceSeed<'b, 'a>, deserialize_seq, (), "a list of options, a system and two sets");
seed!(OptionsSeed<'b, 'a>, deserialize_map, (), "an object with `state-names` and `weight-type`");
seed!(PdaSeed<'b, 'a>, deserialize_map, (), "an object with `states`");
seed!(StatesSeed<'b, 'a>, deserialize_any, (), "a list or an object of states");
seed!(StateSeed<'b, 'a>, deserialize_map, (), "a state: an object from labels to rules");
seed!(RulesSeed<'b, 'a>, deserialize_any, (), "a rule or a list of rules");
seed!(RuleSeed<'b, 'a>, deserialize_map, (), "a rule: an object with `to` and one of `pop`, `swap`, `push`");
seed!(ToSeed<'b, 'a>, deserialize_any, u32, "a state");
seed!(WeightSeed, deserialize_any, u64, "a weight");
seed!(PopSeed, deserialize_str, (), "the string \"\"");

visitor!(
    TopSeed<'b, 'a>,
    InstanceSeed<'b, 'a>,
    OptionsSeed<'b, 'a>,
    PdaSeed<'b, 'a>,
    StatesSeed<'b, 'a>,
    StateSeed<'b, 'a>,
    RulesSeed<'b, 'a>,
    RuleSeed<'b, 'a>,
    ToSeed<'b, 'a>,
    WeightSeed,
    PopSeed
);

impl<'de> Visit<'de> for TopSeed<'_, '_> {
    type Value = ();
    fn object<A: MapAccess<'de>>(self, mut object: A, _: &Expecting<'de, ()>) -> Result<(), A::Error> {
        match object.next_key::<Text>()? {
            None => return Err(A::Error::custom("expected `pda` or `instance`")),
            Some(Text(key)) => match &*key {
                "pda" => object.next_value_seed(PdaSeed(self.0))?,
                "instance" => object.next_value_seed(InstanceSeed(self.0))?,
                "P-automaton" => {
                    return Err(A::Error::custom("this is a set of configurations, not a system"));
                }
                _ => {
                    return Err(A::Error::custom(format!(
                        "unknown key `{key}`, expected `pda` or `instance`"
                    )));
                }
            },
        }
        match object.next_key::<Text>()? {
            None => Ok(()),
            Some(Text(key)) => Err(A::Error::custom(format!("unexpected key `{key}`"))),
        }
    }
}

impl<'de> Visit<'de> for InstanceSeed<'_, '_> {
    type Value = ();
    fn list<A: SeqAccess<'de>>(self, mut list: A, _: &Expecting<'de, ()>) -> Result<(), A::Error> {
        let missing = |what: &str| A::Error::custom(format!("{what} is missing from the instance"));
        list.next_element_seed(OptionsSeed(self.0))?.ok_or_else(|| missing("the object of options"))?;
        list.next_element_seed(PdaSeed(self.0))?.ok_or_else(|| missing("the system"))?;
        let start = self.0.with_table(|text, table| list.next_element_seed(SetSeed { text, table }))?;
        self.0.start = Some(start.ok_or_else(|| missing("the initial set"))?);
        let target = self.0.with_table(|text, table| list.next_element_seed(SetSeed { text, table }))?;
        self.0.target = Some(target.ok_or_else(|| missing("the final set"))?);
        match list.next_element::<IgnoredAny>()? {
            None => Ok(()),
            Some(_) => Err(A::Error::custom("an instance has four parts")),
        }
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "kebab-case")]
enum OptionKey {
    StateNames,
    WeightType,
}

impl<'de> Visit<'de> for OptionsSeed<'_, '_> {
    type Value = ();
    fn object<A: MapAccess<'de>>(self, mut object: A, _: &Expecting<'de, ()>) -> Result<(), A::Error> {
        let builder = self.0;
        while let Some(key) = object.next_key::<OptionKey>()? {
            match key {
                OptionKey::StateNames if builder.style.is_some() => {
                    return Err(A::Error::duplicate_field("state-names"));
                }
                OptionKey::StateNames => {
                    let names = object.next_value::<bool>()?;
                    builder.style = Some(if names { StateNames::Strings } else { StateNames::Numbers });
                }
                OptionKey::WeightType if builder.weighted.is_some() => {
                    return Err(A::Error::duplicate_field("weight-type"));
                }
                OptionKey::WeightType => {
                    builder.weighted = Some(match object.next_value::<WeightType>()? {
                        WeightType::None => false,
                        WeightType::Uint | WeightType::Int => true,
                    });
                }
            }
        }
        Ok(())
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum WeightType {
    None,
    Uint,
    Int,
}

impl<'de> Visit<'de> for PdaSeed<'_, '_> {
    type Value = ();
    fn object<A: MapAccess<'de>>(self, mut object: A, _: &Expecting<'de, ()>) -> Result<(), A::Error> {
        match object.next_key::<Text>()? {
            None => return Err(A::Error::missing_field("states")),
            Some(Text(key)) if key == "states" => object.next_value_seed(StatesSeed(self.0))?,
            Some(Text(key)) => {
                return Err(A::Error::custom(format!("unknown key `{key}`, expected `states`")));
            }
        }
        match object.next_key::<Text>()? {
            None => Ok(()),
            Some(Text(key)) => Err(A::Error::custom(format!("unexpected key `{key}`"))),
        }
    }
}

impl<'de> Visit<'de> for StatesSeed<'_, '_> {
    type Value = ();
    fn list<A: SeqAccess<'de>>(self, mut list: A, _: &Expecting<'de, ()>) -> Result<(), A::Error> {
        let builder = self.0;
        if builder.style == Some(StateNames::Strings) {
            return Err(A::Error::custom("with `state-names` the states are an object, not a list"));
        }
        builder.style = Some(StateNames::Numbers);
        let mut count = 0;
        while list.next_element_seed(StateSeed(builder, count))?.is_some() {
            count += 1;
        }
        builder.states = Names::numbered(count);
        Ok(())
    }

    fn object<A: MapAccess<'de>>(self, mut object: A, _: &Expecting<'de, ()>) -> Result<(), A::Error> {
        let builder = self.0;
        if builder.style == Some(StateNames::Numbers) {
            return Err(A::Error::custom("without `state-names` the states are a list, not an object"));
        }
        builder.style = Some(StateNames::Strings);
        while let Some(Text(name)) = object.next_key::<Text>()? {
            let id = builder.named(&name);
            if std::mem::replace(&mut builder.defined[id as usize], true) {
                return Err(A::Error::custom(format!("state `{name}` is given twice")));
            }
            object.next_value_seed(StateSeed(builder, id))?;
        }
        Ok(())
    }
}

impl<'de> Visit<'de> for StateSeed<'_, '_> {
    type Value = ();
    fn object<A: MapAccess<'de>>(self, mut object: A, _: &Expecting<'de, ()>) -> Result<(), A::Error> {
        while let Some(symbol) = object.next_key_seed(LabelSeed(&mut self.0.symbols, Star::Allowed))? {
            object.next_value_seed(RulesSeed(self.0, self.1, symbol))?;
        }
        Ok(())
    }
}

impl<'de> Visit<'de> for RulesSeed<'_, '_> {
    type Value = ();
    fn list<A: SeqAccess<'de>>(self, mut list: A, _: &Expecting<'de, ()>) -> Result<(), A::Error> {
        while list.next_element_seed(RuleSeed(self.0, self.1, self.2))?.is_some() {}
        Ok(())
    }
    fn object<A: MapAccess<'de>>(self, object: A, expecting: &Expecting<'de, ()>) -> Result<(), A::Error> {
        RuleSeed(self.0, self.1, self.2).object(object, expecting)
    }
}

#[derive(Deserialize, Clone, Copy)]
#[serde(field_identifier, rename_all = "lowercase")]
enum RuleKey {
    To,
    Pop,
    Swap,
    Push,
    Weight,
}

impl<'de> Visit<'de> for RuleSeed<'_, '_> {
    type Value = ();
    fn object<A: MapAccess<'de>>(self, mut object: A, _: &Expecting<'de, ()>) -> Result<(), A::Error> {
        let RuleSeed(builder, from, on) = self;
        let (mut to, mut action, mut weight) = (None, None, None);
        while let Some(key) = object.next_key::<RuleKey>()? {
            match key {
                RuleKey::To if to.is_some() => return Err(A::Error::duplicate_field("to")),
                RuleKey::To => to = Some(object.next_value_seed(ToSeed(builder))?),
                RuleKey::Weight if weight.is_some() => return Err(A::Error::duplicate_field("weight")),
                RuleKey::Weight if builder.weighted == Some(false) => {
                    return Err(A::Error::custom("a rule with a weight in a system without weights"));
                }
                RuleKey::Weight => weight = Some(object.next_value_seed(WeightSeed)?),
                RuleKey::Pop | RuleKey::Swap | RuleKey::Push if action.is_some() => {
                    return Err(A::Error::custom("a rule has exactly one of `pop`, `swap` and `push`"));
                }
                RuleKey::Pop => {
                    object.next_value_seed(PopSeed)?;
                    action = Some(Action::Pop);
                }
                RuleKey::Swap => {
                    let star = if on == WILDCARD { Star::Allowed } else { Star::Refused };
                    let symbol = object.next_value_seed(LabelSeed(&mut builder.symbols, star))?;
                    action = Some(if symbol == WILDCARD { Action::Keep } else { Action::Swap(symbol) });
                }
                RuleKey::Push => {
                    let symbol = object.next_value_seed(LabelSeed(&mut builder.symbols, Star::Refused))?;
                    action = Some(Action::Push(symbol));
                }
            }
        }
        let to = to.ok_or_else(|| A::Error::missing_field("to"))?;
        let action = action.ok_or_else(|| A::Error::custom("a rule has one of `pop`, `swap` and `push`"))?;
        // Where no option says it, the first rule tells whether the file has weights.
        let weighted = *builder.weighted.get_or_insert(weight.is_some());
        let weight = match weight {
            Some(weight) => weight,
            None if weighted => {
                return Err(A::Error::custom("a rule without a weight in a system with weights"));
            }
            None => 1,
        };
        builder.rules.push(WildRule { from, label: on, to, action, weight });
        Ok(())
    }
}

impl<'de> Visit<'de> for ToSeed<'_, '_> {
    type Value = u32;
    fn number<E: Error>(self, number: i128, _: &Expecting<'de, ()>) -> Result<u32, E> {
        let builder = self.0;
        if builder.style == Some(StateNames::Strings) {
            return Err(E::custom(format!("states have names here, found the number {number}")));
        }
        let count = match builder.known {
            Some(Known::Count(count)) => i128::from(count),
            _ => i128::from(u32::MAX),
        };
        if number < 0 || number >= count {
            return Err(E::custom(format!("unknown state {number}")));
        }
        let number = number as u32;
        builder.largest = builder.largest.max(Some(number));
        Ok(number)
    }
    fn string<E: Error>(self, text: Cow<'de, str>, _: &Expecting<'de, ()>) -> Result<u32, E> {
        let builder = self.0;
        if builder.style == Some(StateNames::Numbers) {
            return Err(E::custom(format!("states are numbers here, found the name `{text}`")));
        }
        if let Some(Known::Names(names)) = &builder.known {
            if names.get(&text).is_none() {
                return Err(E::custom(format!("unknown state `{text}`")));
            }
        }
        Ok(builder.named(&text))
    }
}

impl<'de> Visit<'de> for WeightSeed {
    type Value = u64;
    fn number<E: Error>(self, number: i128, _: &Expecting<'de, ()>) -> Result<u64, E> {
        u64::try_from(number).map_err(|_| {
            E::custom(format!(
                "weight {number} is negative: shortest traces with negative weights are not supported"
            ))
        })
    }
}

impl<'de> Visit<'de> for PopSeed {
    type Value = ();
    fn string<E: Error>(self, text: Cow<'de, str>, _: &Expecting<'de, ()>) -> Result<(), E> {
        if text.is_empty() { Ok(()) } else { Err(E::custom("`pop` has the value \"\"")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        match read(text) {
            Ok(pda) => format!("no error, {} rules", pda.rules.len()),
            Err(error) => error.to_string(),
        }
    }

    /// A system of one state with the given rules for its labels.
    fn one_state(rules: &str) -> String {
        format!("{{\"pda\": {{\"states\": [\n{{{rules}}}]}}}}")
    }

    fn instance(options: &str, states: &str, start: &str, target: &str) -> String {
        format!("{{\"instance\": [{{{options}}}, {{\"states\": {states}}},\n{start},\n{target}]}}")
    }

    #[test]
    fn rules_alone_and_in_lists_are_read() {
        let pda = read(&one_state(
            r#""a": {"to": 0, "pop": ""}, "*": [{"swap": "*", "to": 0}, {"to": 0, "push": "b"}], "a": {"to": 0, "swap": "c"}"#,
        ))
        .unwrap();
        let actions: Vec<(u32, Action)> = pda.rules.iter().map(|r| (r.label, r.action)).collect();
        let expected =
            [(0, Action::Pop), (WILDCARD, Action::Keep), (WILDCARD, Action::Push(1)), (0, Action::Swap(2))];
        assert_eq!(actions, expected);
        assert!(!pda.weighted && pda.rules.iter().all(|r| r.weight == 1));
    }

    #[test]
    fn errors_are_at_the_offending_value() {
        for (rules, expected) in [
            (r#""a": {"to": 1, "pop": ""}"#, "2:14: unknown state 1"),
            (r#""a": {"to": "p", "pop": ""}"#, "2:14: states are numbers here, found the name `p`"),
            (r#""a": {"to": 0}"#, "2:15: a rule has one of `pop`, `swap` and `push`"),
            (
                r#""a": {"to": 0, "pop": "", "swap": "b"}"#,
                "2:28: a rule has exactly one of `pop`, `swap` and `push`",
            ),
            (r#""a": {"to": 0, "pop": "b"}"#, "2:24: `pop` has the value \"\""),
            (r#""a": {"to": 0, "go": "b"}"#, "2:17: unknown field `go`, expected one of"),
            (r#""a": {"to": 0, "swap": 5}"#, "2:25: invalid type: integer `5`, expected a label"),
            (r#""a": {"to": 0, "swap": "*"}"#, "2:25: `*` stands for every label only on the left"),
            (r#""a": {"to": 0, "push": ""}"#, "2:25: a label needs at least one character"),
            (r#""a": {"to": -1, "pop": ""}"#, "2:14: unknown state -1"),
            (r#""a": {"to": 0, "to": 0, "pop": ""}"#, "2:17: duplicate field `to`"),
            (
                r#""a": {"to": 0, "pop": "", "weight": -3}"#,
                "2:38: weight -3 is negative: shortest traces with negative",
            ),
            (
                r#""a": {"to": 0, "pop": "", "weight": 1.5}"#,
                "2:38: invalid type: floating point `1.5`, expected a weight",
            ),
            (
                r#""a": [{"to": 0, "pop": ""}, {"to": 0, "pop": "", "weight": 3}]"#,
                "2:51: a rule with a weight in a system without weights",
            ),
            (
                r#""a": [{"to": 0, "pop": "", "weight": 3}, {"to": 0, "pop": ""}]"#,
                "2:62: a rule without a weight in a system with weights",
            ),
            (r#""a": 7"#, "2:7: invalid type: integer `7`, expected a rule or a list of rules"),
        ] {
            let found = message(&one_state(rules));
            assert!(found.starts_with(expected), "{rules}\n found    {found}\n expected {expected}");
        }
        for (text, expected) in [
            (r#"{"P-automaton": {}}"#, "1:2: this is a set of configurations, not a system"),
            (r#"{}"#, "1:2: expected `pda` or `instance`"),
            (r#"{"pda": {"states": []}} x"#, "1:25: trailing characters"),
            (r#"{"pda": {"states": []}, "pda": 1}"#, "1:25: unexpected key `pda`"),
            (r#"{"pda": {"states": [], "more": 1}}"#, "1:24: unexpected key `more`"),
            (r#"{"pda": {"states": {"p": {}, "p": {}}}}"#, "1:30: state `p` is given twice"),
            (r#"{"pda": {"states": {"p": {"a": {"to": "q", "pop": ""}}}}}"#, "1:39: unknown state `q`"),
            (r#"{"pda": {"states": "#, "1:20: EOF while parsing a value"),
        ] {
            let found = message(text);
            assert!(found.starts_with(expected), "{text}\n found    {found}\n expected {expected}");
        }
    }

    #[test]
    fn instances_hold_a_system_and_two_sets() {
        let states = r#"{"p": {"a": {"to": "q", "swap": "b"}}, "q": {}}"#;
        let graph = r#"{"accepting": ["f"], "initial": [], "edges": [["p", "a", "f"], ["f", "new", "f"]]}"#;
        let options = r#""state-names": true, "weight-type": "none""#;
        let pda = read(&instance(options, states, graph, r#""<q, b .*>""#)).unwrap();
        assert_eq!(pda.table.symbols.get("new"), Some(2));
        assert!(matches!(pda.target, Some(Set::Within(_))));
        let Some(Set::Graph(graph)) = pda.start else { panic!("no automaton") };
        let automaton = graph.automaton(2, 3, wherefore_pushdown::Reading::Forward);
        assert_eq!((automaton.state_count(), automaton.transition_count()), (3, 2));
    }

    #[test]
    fn automata_are_checked_against_the_system() {
        let states = r#"[{"a": {"to": 0, "pop": ""}}]"#;
        let good = r#"{"accepting": [], "edges": []}"#;
        for (start, expected) in [
            (r#"{"accepting": ["p"], "edges": []}"#, "2:16: states are numbers here, found the name `p`"),
            (
                r#"{"accepting": [], "initial": [1], "edges": []}"#,
                "2:31: state 1 is not a control state of the system",
            ),
            (r#"{"accepting": []}"#, "2:17: missing field `edges`"),
            (
                r#"{"accepting": [], "edges": [[0, "a"]]}"#,
                "2:36: an edge is a list of a state, a label and a state",
            ),
            (r#"{"accepting": [], "edges": [[0, "*", 1]]}"#, "2:33: `*` stands for every label only"),
            (r#"{"accepting": [], "edges": [[0, "a", 1, 2]]}"#, "2:42: an edge is a list of"),
            (r#"{"accepting": [], "accepting": []}"#, "2:19: duplicate field `accepting`"),
        ] {
            let found = message(&instance("", states, start, good));
            assert!(found.starts_with(expected), "{start}\n found    {found}\n expected {expected}");
        }
        let options = r#""weight-type": "float""#;
        assert!(
            message(&instance(options, states, good, good))
                .contains("unknown variant `float`, expected one of `none`, `uint`, `int`")
        );
        let options = r#""state-names": true"#;
        assert!(
            message(&instance(options, states, good, good)).contains("the states are an object, not a list")
        );
    }

    #[test]
    fn deep_json_is_refused() {
        assert!(message(&one_state(&format!("\"a\": {}", "[".repeat(100_000)))).contains("invalid type"));
    }
}
