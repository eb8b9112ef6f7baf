//! Regular sets of configurations, written as text.
//!
//! ```text
//! SET    = ATOM ("|" ATOM)* | REGEX               a bare REGEX: in any control state
//! ATOM   = "<" STATES "," REGEX ">"
//! STATES = NAME | "." | "[" NAME,… "]" | "[^" NAME,… "]"
//! REGEX  = SEQ ("|" SEQ)*
//! SEQ    = ITEM*                                  no item: the empty stack
//! ITEM   = (NAME | "." | "[" NAME,… "]" | "[^" NAME,… "]" | "(" REGEX ")") ("*" | "+" | "?")*
//! ```
//!
//! Names are runs of characters other than blanks and `< > , [ ] ^ . ( ) * + ? | # "`; any other
//! name goes between double quotes, with `\"` and `\\` for a quote and a backslash. `#` starts a
//! comment that ends with the line. The syntax contains that of PDAAAL's P-automata.
//!
//! The automaton is Glushkov's: one state for each place of the expression where a symbol is read,
//! so it needs no ε.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::automaton::{Automaton, Reading};
use crate::lexer::{Lexer, Token};
use crate::names::{Names, State, Symbol};
use crate::parse_error::ParseError;

/// Parentheses may be nested this deep.
const MAX_DEPTH: usize = 200;

/// Pairs of neighbouring places that an expression may have.
const MAX_PAIRS: usize = 1 << 24;

/// A set of names: control states or stack symbols.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Class {
    Any,
    Only(Vec<u32>),
    Not(Vec<u32>),
}

impl Class {
    fn members(&self, bound: u32) -> impl Iterator<Item = u32> + '_ {
        let (only, range) = match self {
            Class::Only(names) => (names.as_slice(), 0..0),
            _ => (&[][..], 0..bound),
        };
        let except = match self {
            Class::Not(names) => names.as_slice(),
            _ => &[],
        };
        only.iter().copied().chain(range.filter(|n| except.binary_search(n).is_err()))
    }

    fn len(&self, bound: u32) -> usize {
        match self {
            Class::Any => bound as usize,
            Class::Only(names) => names.len(),
            Class::Not(names) => bound as usize - names.len(),
        }
    }
}

/// `<states, …>`: where the positions of one alternative start.
#[derive(Clone, Debug)]
struct Atom {
    states: Class,
    first: Vec<u32>,
    accepts_empty: bool,
}

/// A place of the expression where a symbol is read.
#[derive(Clone, Debug)]
struct Position {
    symbols: Class,
    follow: Vec<u32>,
    last: bool,
    /// The first position with the same future: they share a state.
    group: u32,
}

/// A regular set of configurations.
///
/// ```
/// use wherefore_pushdown::{Automaton, ConfigurationSet, Reading, State, System};
///
/// let mut system: System<()> = System::new();
/// let p = system.state("p");
/// let [n4, n8, n9] = ["n4", "n8", "n9"].map(|name| system.symbol(name));
/// let set = ConfigurationSet::parse("n8 n4 .*", system.states(), system.symbols())?;
/// let automaton: Automaton<()> = set.to_automaton(1, 3, Reading::Forward, &());
/// // p -n8-> q0 -n4-> q1, and q1 loops on the three symbols.
/// assert_eq!((automaton.state_count(), automaton.transition_count()), (3, 5));
/// assert!(automaton.is_final(State(2)));
///
/// let error = ConfigurationSet::parse("n8 n5", system.states(), system.symbols()).unwrap_err();
/// assert_eq!(error.to_string(), "1:4: unknown stack symbol `n5`");
/// # Ok::<(), wherefore_pushdown::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ConfigurationSet {
    states: u32,
    symbols: u32,
    atoms: Vec<Atom>,
    positions: Vec<Position>,
}

impl ConfigurationSet {
    /// Reads a set. `.` and `[^…]` stand for names that are in the tables now.
    pub fn parse(text: &str, states: &Names, symbols: &Names) -> Result<Self, ParseError> {
        Self::parse_within(text, 0..text.len(), states, symbols)
    }

    /// Reads a set from a part of a larger text; errors are about places of the whole.
    ///
    /// # Panics
    /// If the range does not lie in the text, on boundaries of characters.
    pub fn parse_within(
        source: &str,
        range: Range<usize>,
        states: &Names,
        symbols: &Names,
    ) -> Result<Self, ParseError> {
        let lexer = Lexer::new(source, range);
        let mut parser =
            Parser { token: Token::End, span: 0..0, lexer, states, symbols, positions: vec![], pairs: 0 };
        parser.advance()?;
        let atoms = parser.set()?;
        let mut set = Self {
            states: states.len() as u32,
            symbols: symbols.len() as u32,
            atoms,
            positions: parser.positions,
        };
        set.trim();
        set.group();
        Ok(set)
    }

    /// The configurations of both sets.
    ///
    /// **Requires:** both were read with the same names.
    pub fn union(mut self, other: Self) -> Self {
        debug_assert!(self.states == other.states && self.symbols == other.symbols);
        let offset = self.positions.len() as u32;
        let shifted = |places: Vec<u32>| places.into_iter().map(|q| q + offset).collect();
        self.atoms.extend(other.atoms.into_iter().map(|atom| Atom { first: shifted(atom.first), ..atom }));
        let moved = other.positions.into_iter();
        self.positions.extend(moved.map(|q| Position {
            follow: shifted(q.follow),
            group: q.group + offset,
            ..q
        }));
        self
    }

    /// How many transitions the automaton has at most: worth a look before
    /// [`to_automaton`](Self::to_automaton) where there are many control states or symbols.
    pub fn transition_bound(&self) -> usize {
        let read = |places: &[u32]| {
            places
                .iter()
                .map(|q| self.positions[*q as usize].symbols.len(self.symbols))
                .fold(0, usize::saturating_add)
        };
        let starts = self.atoms.iter().map(|a| read(&a.first).saturating_mul(a.states.len(self.states)));
        let groups = self.positions.iter().enumerate().filter(|(i, q)| q.group as usize == *i);
        starts.chain(groups.map(|(_, q)| read(&q.follow))).fold(0, usize::saturating_add)
    }

    /// The automaton of the set, with weight `one` everywhere: without ε, no transition enters a
    /// control state, and every state leads to a final one.
    ///
    /// **Requires:** `control` and `symbols` count at least the names that the set was read with.
    pub fn to_automaton<W: Clone>(
        &self,
        control: usize,
        symbols: usize,
        reading: Reading,
        one: &W,
    ) -> Automaton<W> {
        debug_assert!(control >= self.states as usize && symbols >= self.symbols as usize);
        let mut automaton = Automaton::new(control, symbols, reading);
        let mut state_of: FxHashMap<u32, State> = FxHashMap::default();
        for (i, position) in self.positions.iter().enumerate() {
            if position.group as usize == i {
                let state = automaton.add_state();
                state_of.insert(i as u32, state);
                if position.last {
                    automaton.set_final(state);
                }
            }
        }
        let add = |automaton: &mut Automaton<W>, from: State, places: &[u32]| {
            for place in places {
                let position = &self.positions[*place as usize];
                for symbol in position.symbols.members(self.symbols) {
                    automaton.add(from, Symbol(symbol), state_of[&position.group], one.clone());
                }
            }
        };
        for atom in &self.atoms {
            for p in atom.states.members(self.states).map(State) {
                if atom.accepts_empty {
                    automaton.set_final(p);
                }
                add(&mut automaton, p, &atom.first);
            }
        }
        for (i, position) in self.positions.iter().enumerate() {
            if let Some(state) = state_of.get(&(i as u32)) {
                add(&mut automaton, *state, &position.follow);
            }
        }
        automaton
    }

    /// Removes the places that no word of the set uses: their class is empty, or that of a place
    /// they need is.
    fn trim(&mut self) {
        let count = self.positions.len();
        let readable = |q: u32| self.positions[q as usize].symbols.len(self.symbols) > 0;
        let mut reached = vec![false; count];
        let mut todo: Vec<u32> = Vec::new();
        let starts = self.atoms.iter().filter(|a| a.states.len(self.states) > 0);
        for place in starts.flat_map(|a| &a.first) {
            if readable(*place) && !std::mem::replace(&mut reached[*place as usize], true) {
                todo.push(*place);
            }
        }
        while let Some(q) = todo.pop() {
            for next in &self.positions[q as usize].follow {
                if readable(*next) && !std::mem::replace(&mut reached[*next as usize], true) {
                    todo.push(*next);
                }
            }
        }
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); count];
        let mut useful = vec![false; count];
        for (q, position) in self.positions.iter().enumerate().filter(|(q, _)| reached[*q]) {
            for next in position.follow.iter().filter(|n| reached[**n as usize]) {
                before[*next as usize].push(q as u32);
            }
            if position.last {
                useful[q] = true;
                todo.push(q as u32);
            }
        }
        while let Some(q) = todo.pop() {
            for previous in &before[q as usize] {
                if !std::mem::replace(&mut useful[*previous as usize], true) {
                    todo.push(*previous);
                }
            }
        }
        let mut number = vec![0; count];
        let mut kept = 0;
        for q in 0..count {
            number[q] = kept;
            kept += u32::from(useful[q]);
        }
        let clean = |places: &mut Vec<u32>| {
            places.retain(|q| useful[*q as usize]);
            for q in places.iter_mut() {
                *q = number[*q as usize];
            }
            places.sort_unstable();
            places.dedup();
        };
        for atom in &mut self.atoms {
            clean(&mut atom.first);
        }
        let mut q = 0;
        self.positions.retain_mut(|position| {
            clean(&mut position.follow);
            q += 1;
            useful[q - 1]
        });
    }

    /// Lets places with the same future share a state, so that `a .*` loops on one state instead of
    /// entering another.
    fn group(&mut self) {
        let mut first_with: FxHashMap<(bool, &[u32]), u32> = FxHashMap::default();
        let groups: Vec<u32> = (self.positions.iter().enumerate())
            .map(|(i, q)| *first_with.entry((q.last, &q.follow)).or_insert(i as u32))
            .collect();
        for (position, group) in self.positions.iter_mut().zip(groups) {
            position.group = group;
        }
    }
}

/// A part of an expression: what it can start and end with, and whether it accepts the empty word.
#[derive(Default)]
struct Part {
    empty: bool,
    first: Vec<u32>,
    last: Vec<u32>,
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    token: Token<'a>,
    span: Range<usize>,
    states: &'a Names,
    symbols: &'a Names,
    positions: Vec<Position>,
    pairs: usize,
}

impl<'a> Parser<'a> {
    fn error<T>(&self, message: impl Into<String>) -> Result<T, ParseError> {
        Err(ParseError::at(self.lexer.source(), self.span.clone(), message))
    }

    fn expected<T>(&self, what: &str) -> Result<T, ParseError> {
        match &self.token {
            Token::Name(name) => self.error(format!("expected {what}, found `{name}`")),
            Token::Mark(c) => self.error(format!("expected {what}, found `{c}`")),
            Token::End => self.error(format!("expected {what}, found the end of the set")),
        }
    }

    fn advance(&mut self) -> Result<Token<'a>, ParseError> {
        let (token, span) = self.lexer.token()?;
        self.span = span;
        Ok(std::mem::replace(&mut self.token, token))
    }

    fn is(&self, mark: char) -> bool {
        self.token == Token::Mark(mark)
    }

    fn skip(&mut self, mark: char) -> Result<bool, ParseError> {
        let found = self.is(mark);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn set(&mut self) -> Result<Vec<Atom>, ParseError> {
        let mut atoms = Vec::new();
        if !self.is('<') {
            let part = self.regex(0)?;
            atoms.push(self.atom(Class::Any, part));
        } else {
            loop {
                if !self.skip('<')? {
                    return self.expected("`<`");
                }
                let states = match self.class(self.states, "control state")? {
                    Some(states) => states,
                    None => return self.expected("a control state, `[` or `.`"),
                };
                if !self.skip(',')? {
                    return self.expected("`,`");
                }
                let part = self.regex(0)?;
                if !self.skip('>')? {
                    return self.expected("a stack symbol or `>`");
                }
                atoms.push(self.atom(states, part));
                if !self.skip('|')? {
                    break;
                }
            }
        }
        match self.token {
            Token::End => Ok(atoms),
            _ if atoms.len() == 1 && atoms[0].states == Class::Any => {
                self.expected("a stack symbol or an operator")
            }
            _ => self.expected("`|` or the end of the set"),
        }
    }

    fn atom(&mut self, states: Class, part: Part) -> Atom {
        for q in part.last {
            self.positions[q as usize].last = true;
        }
        Atom { states, first: part.first, accepts_empty: part.empty }
    }

    /// A name, `.`, `[…]` or `[^…]`; nothing if none of them is next.
    fn class(&mut self, names: &Names, what: &str) -> Result<Option<Class>, ParseError> {
        if let Token::Name(_) = self.token {
            return Ok(Some(Class::Only(vec![self.name(names, what)?])));
        }
        if self.skip('.')? {
            return Ok(Some(Class::Any));
        }
        if !self.skip('[')? {
            return Ok(None);
        }
        let negated = self.skip('^')?;
        let mut members = Vec::new();
        loop {
            members.push(self.name(names, what)?);
            if self.skip(']')? {
                break;
            }
            if !self.skip(',')? {
                return self.expected("`,` or `]`");
            }
        }
        members.sort_unstable();
        members.dedup();
        Ok(Some(if negated { Class::Not(members) } else { Class::Only(members) }))
    }

    fn name(&mut self, names: &Names, what: &str) -> Result<u32, ParseError> {
        let Token::Name(name) = &self.token else {
            return self.expected(&format!("a {what}"));
        };
        match names.get(name) {
            Some(id) => {
                self.advance()?;
                Ok(id)
            }
            None => self.error(format!("unknown {what} `{name}`")),
        }
    }

    fn regex(&mut self, depth: usize) -> Result<Part, ParseError> {
        let mut choice = self.sequence(depth)?;
        while self.skip('|')? {
            let other = self.sequence(depth)?;
            choice.empty |= other.empty;
            choice.first.extend(other.first);
            choice.last.extend(other.last);
        }
        Ok(choice)
    }

    fn sequence(&mut self, depth: usize) -> Result<Part, ParseError> {
        let mut sequence = Part { empty: true, ..Part::default() };
        while let Some(item) = self.item(depth)? {
            self.connect(&sequence.last, &item.first)?;
            if sequence.empty {
                sequence.first.extend(item.first);
            }
            if item.empty {
                sequence.last.extend(item.last);
            } else {
                sequence.last = item.last;
            }
            sequence.empty &= item.empty;
        }
        Ok(sequence)
    }

    fn item(&mut self, depth: usize) -> Result<Option<Part>, ParseError> {
        let mut part = if self.is('(') {
            if depth == MAX_DEPTH {
                return self.error(format!("parentheses are nested more than {MAX_DEPTH} deep"));
            }
            self.advance()?;
            let inner = self.regex(depth + 1)?;
            if !self.skip(')')? {
                return self.expected("a stack symbol or `)`");
            }
            inner
        } else if let Some(symbols) = self.class(self.symbols, "stack symbol")? {
            let q = self.positions.len() as u32;
            self.positions.push(Position { symbols, follow: Vec::new(), last: false, group: q });
            Part { empty: false, first: vec![q], last: vec![q] }
        } else {
            return Ok(None);
        };
        // `a?+` is `a*`, and so on: only whether each of the two properties was ever asked for
        // counts.
        let (mut optional, mut repeated) = (false, false);
        while let Token::Mark(c @ ('*' | '+' | '?')) = self.token {
            optional |= c != '+';
            repeated |= c != '?';
            self.advance()?;
        }
        if repeated {
            self.connect(&part.last, &part.first)?;
        }
        part.empty |= optional;
        Ok(Some(part))
    }

    fn connect(&mut self, last: &[u32], first: &[u32]) -> Result<(), ParseError> {
        self.pairs = self.pairs.saturating_add(last.len().saturating_mul(first.len()));
        if self.pairs > MAX_PAIRS {
            return self.error("the expression is too large: too many symbols can follow each other");
        }
        for q in last {
            self.positions[*q as usize].follow.extend_from_slice(first);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An expression, for a matcher that shares no code with the automaton.
    #[derive(Clone, Debug)]
    enum Tree {
        Class(String, Vec<u32>),
        Sequence(Vec<Tree>),
        Choice(Vec<Tree>),
        Repeat(Box<Tree>, char),
    }

    impl Tree {
        fn text(&self) -> String {
            let join = |parts: &[Tree], by: &str| parts.iter().map(Tree::text).collect::<Vec<_>>().join(by);
            match self {
                Tree::Class(text, _) => text.clone(),
                Tree::Sequence(parts) => format!("({})", join(parts, " ")),
                Tree::Choice(parts) => format!("({})", join(parts, "|")),
                Tree::Repeat(part, operator) => format!("{}{operator}", part.text()),
            }
        }

        /// The places where a match that starts at `from` can end.
        fn ends(&self, word: &[u32], from: usize) -> Vec<usize> {
            let mut ends = match self {
                Tree::Class(_, symbols) => {
                    if word.get(from).is_some_and(|s| symbols.contains(s)) {
                        vec![from + 1]
                    } else {
                        vec![]
                    }
                }
                Tree::Sequence(parts) => parts.iter().fold(vec![from], |starts, part| {
                    let mut ends: Vec<usize> = starts.iter().flat_map(|s| part.ends(word, *s)).collect();
                    ends.sort_unstable();
                    ends.dedup();
                    ends
                }),
                Tree::Choice(parts) => parts.iter().flat_map(|part| part.ends(word, from)).collect(),
                Tree::Repeat(part, operator) => {
                    let mut ends = if *operator == '+' { part.ends(word, from) } else { vec![from] };
                    let mut i = 0;
                    if *operator == '?' {
                        ends.extend(part.ends(word, from));
                        i = ends.len();
                    }
                    while i < ends.len() {
                        for end in part.ends(word, ends[i]) {
                            if !ends.contains(&end) {
                                ends.push(end);
                            }
                        }
                        i += 1;
                    }
                    ends
                }
            };
            ends.sort_unstable();
            ends.dedup();
            ends
        }

        fn accepts(&self, word: &[u32]) -> bool {
            self.ends(word, 0).contains(&word.len())
        }
    }

    fn tree() -> impl Strategy<Value = Tree> {
        let class = prop_oneof![
            Just(Tree::Class("a".into(), vec![0])),
            Just(Tree::Class("\"b\"".into(), vec![1])),
            Just(Tree::Class("c".into(), vec![2])),
            Just(Tree::Class(".".into(), vec![0, 1, 2])),
            Just(Tree::Class("[a, c]".into(), vec![0, 2])),
            Just(Tree::Class("[^ a]".into(), vec![1, 2])),
            Just(Tree::Class("[^a,b,c]".into(), vec![])),
        ];
        class.prop_recursive(4, 12, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Tree::Sequence),
                prop::collection::vec(inner.clone(), 1..4).prop_map(Tree::Choice),
                (inner, prop::sample::select(vec!['*', '+', '?']))
                    .prop_map(|(part, operator)| Tree::Repeat(Box::new(part), operator)),
            ]
        })
    }

    fn names() -> (Names, Names) {
        let (mut states, mut symbols) = (Names::new(), Names::new());
        for p in ["p", "q"] {
            states.intern(p);
        }
        for a in ["a", "b", "c"] {
            symbols.intern(a);
        }
        (states, symbols)
    }

    fn automaton(text: &str) -> Automaton<()> {
        let (states, symbols) = names();
        let set = ConfigurationSet::parse(text, &states, &symbols).unwrap_or_else(|e| panic!("{text}: {e}"));
        let automaton = set.to_automaton(2, 3, Reading::Forward, &());
        assert!(!automaton.enters_control());
        assert!(automaton.transition_count() <= set.transition_bound());
        automaton
    }

    fn accepts(automaton: &Automaton<()>, p: u32, word: &[u32]) -> bool {
        let mut now = vec![State(p)];
        for symbol in word {
            now = now
                .iter()
                .flat_map(|q| automaton.transitions_on(*q, Symbol(*symbol)))
                .map(|(t, ())| t.to)
                .collect();
            now.sort_unstable();
            now.dedup();
        }
        now.iter().any(|q| automaton.is_final(*q))
    }

    fn message(text: &str) -> String {
        let (states, symbols) = names();
        ConfigurationSet::parse(text, &states, &symbols).unwrap_err().to_string()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn the_automaton_accepts_what_the_expression_matches(
            one in tree(), two in tree(), words in prop::collection::vec(prop::collection::vec(0..3u32, 0..6), 20)
        ) {
            let both = automaton(&format!("<p, {}> # first\n | <[q], {}>", one.text(), two.text()));
            let bare = automaton(&one.text());
            for word in &words {
                prop_assert_eq!(accepts(&both, 0, word), one.accepts(word));
                prop_assert_eq!(accepts(&both, 1, word), two.accepts(word));
                prop_assert_eq!(accepts(&bare, 0, word), one.accepts(word));
                prop_assert_eq!(accepts(&bare, 1, word), one.accepts(word));
            }
        }

        #[test]
        fn every_state_is_useful(one in tree()) {
            let automaton = automaton(&one.text());
            let count = automaton.state_count();
            let (mut reached, mut useful) = (vec![false; count], vec![false; count]);
            for q in 0..count {
                reached[q] = q < 2;
                useful[q] = automaton.is_final(State(q as u32));
            }
            for _ in 0..count {
                for (t, ()) in automaton.transitions() {
                    reached[t.to.index()] |= reached[t.from.index()];
                    useful[t.from.index()] |= useful[t.to.index()];
                }
            }
            prop_assert!(reached.iter().all(|r| *r));
            prop_assert!(useful[2..].iter().all(|u| *u));
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in "[<>,.()*+?|#\"\\\\\\[\\]^pqabc \nä]{0,40}") {
            let (states, symbols) = names();
            let _ = ConfigurationSet::parse(&text, &states, &symbols);
        }
    }

    #[test]
    fn different_control_states_do_not_mix() {
        let set = automaton("<p, a b> | <q, a c>");
        assert!(accepts(&set, 0, &[0, 1]) && accepts(&set, 1, &[0, 2]));
        assert!(!accepts(&set, 0, &[0, 2]) && !accepts(&set, 1, &[0, 1]));
    }

    #[test]
    fn a_union_accepts_what_either_accepts() {
        let (states, symbols) = names();
        let parse = |text| ConfigurationSet::parse(text, &states, &symbols).unwrap();
        let both =
            parse("<p, a .*>").union(parse("<q, b c*> | <p,>")).to_automaton(2, 3, Reading::Forward, &());
        for (p, word) in [(0, &[0, 2, 1][..]), (1, &[1, 2, 2]), (0, &[])] {
            assert!(accepts(&both, p, word));
        }
        assert!(!accepts(&both, 1, &[]) && !accepts(&both, 0, &[1]) && !accepts(&both, 1, &[1, 1]));
    }

    #[test]
    fn the_empty_expression_is_the_empty_stack() {
        for text in ["<p,>", "<p, ()>", "<p, (a b)?>", "<[^q], # nothing\n >"] {
            assert!(accepts(&automaton(text), 0, &[]), "{text}");
            assert!(!accepts(&automaton(text), 1, &[]), "{text}");
        }
        assert!(accepts(&automaton(""), 1, &[]));
    }

    #[test]
    fn places_with_the_same_future_share_a_state() {
        assert_eq!(automaton("<p, a .*>").state_count(), 3);
        assert_eq!(automaton("<p, .* a .*>").state_count(), 4);
    }

    #[test]
    fn errors_say_where_and_what() {
        for (text, expected) in [
            ("a d", "1:3: unknown stack symbol `d`"),
            ("<p, a> |\n <r, a>", "2:3: unknown control state `r`"),
            ("<p a>", "1:4: expected `,`, found `a`"),
            ("<p, a", "1:6: expected a stack symbol or `>`, found the end of the set"),
            ("<p, a> b", "1:8: expected `|` or the end of the set, found `b`"),
            ("<p, a> | b", "1:10: expected `<`, found `b`"),
            ("a | <p, b>", "1:5: expected a stack symbol or an operator, found `<`"),
            ("[a b]", "1:4: expected `,` or `]`, found `b`"),
            ("[]", "1:2: expected a stack symbol, found `]`"),
            ("*", "1:1: expected a stack symbol or an operator, found `*`"),
            ("a \"b", "1:3: this quote is not closed"),
            ("\"\\n\"", "1:1: a backslash in quotes stands before `\"` or `\\`"),
            ("(a", "1:3: expected a stack symbol or `)`, found the end of the set"),
        ] {
            assert_eq!(message(text), expected);
        }
        let (states, symbols) = names();
        let error = ConfigurationSet::parse("<q, a>\n| <p, bb>", &states, &symbols).unwrap_err();
        assert_eq!(error.excerpt(), "  | <p, bb>\n        ^^\n");
    }

    #[test]
    fn deep_nesting_and_huge_expressions_are_refused() {
        let nested = |depth: usize| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
        automaton(&nested(MAX_DEPTH));
        assert!(message(&nested(MAX_DEPTH + 1)).contains("nested"));
        assert!(message(&nested(1_000_000)).contains("nested"));
        assert!(message(&"a?".repeat(10_000)).contains("too large"));
        automaton(&"a*".to_owned().replace('*', &"*+?".repeat(100_000)));
    }
}
