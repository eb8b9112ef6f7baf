//! Property files as SV-COMP writes them: `CHECK( init(main()), LTL(G ! call(reach_error())) )`.
//!
//! ```text
//! file    = check+
//! check   = "CHECK" "(" "init" "(" NAME "(" ")" ")" "," "LTL" "(" formula ")" ")"
//!         | "COVER" "(" "init" "(" NAME "(" ")" ")" "," "FQL" "(" balanced text ")" ")"
//! formula = "G" "!" "call" "(" NAME "(" ")" ")"  |  "G" "!" "label" "(" NAME ")"
//!         | "G" ["!"] WORD  |  "F" "end"
//! ```
//!
//! Blanks are free. A file with several lines asks for all of them.

use std::collections::BTreeSet;
use std::ops::Range;

use wherefore_program::ViolationKind;
use wherefore_pushdown::ParseError;

use super::Property;
use crate::diagnostics::{Diagnostic, LoadError};

/// What a property file asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// That something is never reached: a question that is decided.
    Reachability {
        /// What must not happen.
        property: Property,
        /// The rules of C that must not be broken.
        rules: BTreeSet<ViolationKind>,
        /// What is asked for besides and not decided, in words.
        undecided: Option<String>,
        /// The function where runs start.
        entry: String,
    },
    /// A property that others decide and this program does not, in words.
    Other(String),
}

/// Properties that are known by name and not decided: the formula without blanks, and its name in
/// words.
const NOT_DECIDED: [(&str, &str); 2] =
    [("Fend", "termination"), ("Gvalid-memtrack", "the proof that no memory is lost (valid-memtrack)")];

/// That all behaviour is defined: the formula without blanks, the rules of it that are checked, and
/// its name in words. A run that breaks one of them breaks the property; that all of them are kept
/// does not prove it.
const DEFINED: (&str, &[ViolationKind], &str) = (
    "Gdef-behavior",
    &[
        ViolationKind::Null,
        ViolationKind::Bounds,
        ViolationKind::UseAfterFree,
        ViolationKind::UseAfterScope,
        ViolationKind::DoubleFree,
        ViolationKind::InvalidFree,
        ViolationKind::Division,
        ViolationKind::Overflow,
        ViolationKind::Shift,
        ViolationKind::Builtin,
    ],
    "that all behaviour is defined (def-behavior)",
);

/// Properties that are rules of C: the formula without blanks, and the rules.
const RULES: [(&str, &[ViolationKind]); 6] = [
    (
        "Gvalid-deref",
        &[
            ViolationKind::Null,
            ViolationKind::Bounds,
            ViolationKind::UseAfterFree,
            ViolationKind::UseAfterScope,
        ],
    ),
    ("Gvalid-free", &[ViolationKind::DoubleFree, ViolationKind::InvalidFree]),
    ("Gvalid-memcleanup", &[ViolationKind::Leak]),
    ("G!overflow", &[ViolationKind::Overflow]),
    ("G!data-race", &[ViolationKind::Race]),
    ("G!deadlock", &[ViolationKind::Deadlock]),
];

/// Reads a property file. `name` is for messages.
pub fn parse_property(name: &str, text: &str) -> Result<Asked, LoadError> {
    let mut parser = Parser { tokens: tokens(text), at: 0, end: text.len() };
    parser.file().map_err(|(at, message)| {
        let error = ParseError::at(text, at, message);
        LoadError::Invalid { diagnostics: vec![Diagnostic { file: name.to_owned(), error }] }
    })
}

type Outcome<T> = Result<T, (Range<usize>, String)>;

/// A word (a name, perhaps with hyphens inside) or a single character.
struct Token<'a> {
    text: &'a str,
    at: usize,
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-' || c == '@';
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length =
            if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        if !first.is_whitespace() {
            out.push(Token { text: &rest[..length], at });
        }
        at += length;
    }
    out
}

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
    end: usize,
}

impl<'a> Parser<'a> {
    fn file(&mut self) -> Outcome<Asked> {
        let (mut functions, mut labels) = (Vec::new(), Vec::new());
        let mut others: Vec<String> = Vec::new();
        let mut rules = BTreeSet::new();
        let mut entry: Option<String> = None;
        loop {
            let start = self.at;
            let (here, formula) = self.check()?;
            if entry.as_ref().is_some_and(|entry| *entry != here) {
                return Err(self.wrong_since(start, "all lines must start runs in the same function"));
            }
            entry = Some(here);
            match formula {
                Formula::NoCall(name) => functions.push(name),
                Formula::NoLabel(name) => labels.push(name),
                Formula::Rules(kinds) => rules.extend(kinds.iter().copied()),
                Formula::Partly(kinds, words) => {
                    rules.extend(kinds.iter().copied());
                    others.push(words.to_owned());
                }
                Formula::Other(words) => others.push(words),
            }
            if self.at == self.tokens.len() {
                break;
            }
        }
        let undecided = (!others.is_empty()).then(|| others.join(" and "));
        if let (Some(words), true) = (&undecided, rules.is_empty()) {
            return Ok(Asked::Other(words.clone()));
        }
        let property = match (functions.is_empty(), labels.is_empty()) {
            (false, false) => {
                return Err(self.wrong_since(0, "calls and labels cannot be asked about together"));
            }
            (_, true) => Property::Calls(functions),
            (true, _) => Property::Labels(labels),
        };
        Ok(Asked::Reachability { property, rules, undecided, entry: entry.unwrap_or_default() })
    }

    /// One line: where runs start, and what is asked of them.
    fn check(&mut self) -> Outcome<(String, Formula)> {
        let covers = match self.peek() {
            "CHECK" => false,
            "COVER" => true,
            _ => return Err(self.wrong("a property begins with `CHECK(` or `COVER(`")),
        };
        self.at += 1;
        for expected in ["(", "init", "("] {
            self.expect(expected)?;
        }
        let entry = self.name("the name of a function")?;
        for expected in ["(", ")", ")", ","] {
            self.expect(expected)?;
        }
        let formula = if covers {
            self.expect("FQL")?;
            self.expect("(")?;
            self.balanced()?;
            Formula::Other("which parts of the program tests can cover (coverage)".to_owned())
        } else {
            self.expect("LTL")?;
            self.expect("(")?;
            self.formula()?
        };
        self.expect(")")?;
        self.expect(")")?;
        Ok((entry, formula))
    }

    fn formula(&mut self) -> Outcome<Formula> {
        let start = self.at;
        let never = self.eat("G") && self.eat("!");
        if never && self.eat("call") {
            self.expect("(")?;
            let name = self.name("the name of a function")?;
            for expected in ["(", ")", ")"] {
                self.expect(expected)?;
            }
            return Ok(Formula::NoCall(name));
        }
        if never && self.eat("label") {
            self.expect("(")?;
            let name = self.name("the name of a label")?;
            self.expect(")")?;
            return Ok(Formula::NoLabel(name));
        }
        self.at = start;
        let mut squeezed = String::new();
        while !matches!(self.peek(), ")" | "(" | "") {
            squeezed.push_str(self.peek());
            self.at += 1;
        }
        if let Some((_, kinds)) = RULES.iter().find(|(formula, _)| *formula == squeezed) {
            if self.peek() == ")" {
                return Ok(Formula::Rules(kinds));
            }
        }
        let (defined, kinds, words) = DEFINED;
        if squeezed == defined && self.peek() == ")" {
            return Ok(Formula::Partly(kinds, words));
        }
        match NOT_DECIDED.iter().find(|(formula, _)| *formula == squeezed) {
            Some((_, words)) if self.peek() == ")" => Ok(Formula::Other((*words).to_owned())),
            _ => Err(self.wrong_since(
                start,
                "this property is not understood: expected `G ! call(f())`, `G ! label(l)` or another property of SV-COMP",
            )),
        }
    }

    /// Skips text up to the parenthesis that closes what is open.
    fn balanced(&mut self) -> Outcome<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                "" => return Err(self.wrong("expected `)`")),
                ")" if depth == 0 => return Ok(()),
                ")" => depth -= 1,
                "(" => depth += 1,
                _ => {}
            }
            self.at += 1;
        }
    }

    /// The token at hand; empty at the end.
    fn peek(&self) -> &'a str {
        self.tokens.get(self.at).map_or("", |token| token.text)
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.peek() == text;
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, text: &str) -> Outcome<()> {
        if self.eat(text) { Ok(()) } else { Err(self.wrong(&format!("expected `{text}`"))) }
    }

    fn name(&mut self, what: &str) -> Outcome<String> {
        let token = self.peek();
        let starts = token.starts_with(|c: char| c.is_alphabetic() || c == '_');
        if !starts || token.contains(['-', '@']) {
            return Err(self.wrong(&format!("expected {what}")));
        }
        self.at += 1;
        Ok(token.to_owned())
    }

    fn wrong(&self, message: &str) -> (Range<usize>, String) {
        let at = match self.tokens.get(self.at) {
            Some(token) => token.at..token.at + token.text.len(),
            None => self.end..self.end,
        };
        (at, message.to_owned())
    }

    /// The complaint about everything from a token up to here.
    fn wrong_since(&self, start: usize, message: &str) -> (Range<usize>, String) {
        let from = self.tokens.get(start).map_or(self.end, |token| token.at);
        let last = self.tokens.get(self.at.saturating_sub(1).max(start));
        let to = last.map_or(self.end, |token| token.at + token.text.len());
        (from..to, message.to_owned())
    }
}

enum Formula {
    NoCall(String),
    NoLabel(String),
    Rules(&'static [ViolationKind]),
    /// These rules, and more that is not decided.
    Partly(&'static [ViolationKind], &'static str),
    Other(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Asked, String> {
        parse_property("p.prp", text).map_err(|error| error.to_string())
    }

    fn reachability(property: Property, entry: &str) -> Result<Asked, String> {
        Ok(Asked::Reachability { property, rules: BTreeSet::new(), undecided: None, entry: entry.to_owned() })
    }

    #[test]
    fn properties_name_a_function_or_a_label() {
        let calls = |name: &str| Property::Calls(vec![name.to_owned()]);
        let labels = Property::Labels(vec!["ERROR".to_owned()]);
        assert_eq!(
            read("CHECK( init(main()), LTL(G ! call(reach_error())) )\n\n"),
            reachability(calls("reach_error"), "main")
        );
        assert_eq!(read("CHECK(init ( f ( ) ) ,\n LTL ( G! label( ERROR ) ) )"), reachability(labels, "f"));
        let two = "CHECK( init(main()), LTL(G ! call(f())) )\nCHECK( init(main()), LTL(G ! call(g())) )";
        let both = Property::Calls(vec!["f".to_owned(), "g".to_owned()]);
        assert_eq!(read(two), reachability(both, "main"));
    }

    #[test]
    fn properties_that_others_decide_are_known_by_name() {
        for (formula, words) in [("LTL(F end)", "termination"), ("LTL(G valid-memtrack)", "valid-memtrack")] {
            let asked = read(&format!("CHECK( init(main()), {formula} )"));
            assert!(
                matches!(&asked, Ok(Asked::Other(found)) if found.contains(words)),
                "{formula}: {asked:?}"
            );
        }
        let covering = "COVER( init(main()), FQL(COVER EDGES(@DECISIONEDGE)) )";
        assert!(matches!(read(covering), Ok(Asked::Other(found)) if found.contains("coverage")));
        let mixed = "CHECK( init(main()), LTL(G ! call(f())) )\nCHECK( init(main()), LTL(F end) )";
        assert_eq!(read(mixed), Ok(Asked::Other("termination".to_owned())));
    }

    #[test]
    fn rules_of_c_are_decided_and_what_is_not_is_said() {
        let text = "CHECK( init(main()), LTL(G valid-free) )\nCHECK( init(main()), LTL(G valid-deref) )\n\
                    CHECK( init(main()), LTL(G valid-memtrack) )";
        let Ok(Asked::Reachability { property, rules, undecided, .. }) = read(text) else { panic!() };
        assert_eq!(property, Property::Calls(Vec::new()));
        use ViolationKind::{Bounds, DoubleFree, InvalidFree, Null, UseAfterFree, UseAfterScope};
        let expected = [Null, Bounds, UseAfterFree, UseAfterScope, DoubleFree, InvalidFree];
        assert_eq!(rules, BTreeSet::from(expected));
        assert!(undecided.is_some_and(|words| words.contains("valid-memtrack")));
        let Ok(Asked::Reachability { rules, undecided, .. }) =
            read("CHECK( init(main()), LTL(G ! overflow) )")
        else {
            panic!()
        };
        assert_eq!((rules, undecided), (BTreeSet::from([ViolationKind::Overflow]), None));
        let Ok(Asked::Reachability { rules, undecided, .. }) =
            read("CHECK( init(main()), LTL(G def-behavior) )")
        else {
            panic!()
        };
        assert!(rules.contains(&ViolationKind::Division) && rules.contains(&ViolationKind::Bounds));
        assert!(undecided.is_some_and(|words| words.contains("def-behavior")));
    }

    #[test]
    fn what_is_no_property_is_refused_with_its_place() {
        for (text, message) in [
            ("", "p.prp:1:1: a property begins with `CHECK(` or `COVER(`"),
            ("G ! call(reach_error())", "p.prp:1:1: a property begins with `CHECK(` or `COVER(`"),
            ("CHECK( init(main), LTL(F end) )", "p.prp:1:17: expected `(`"),
            ("CHECK( init(main()), LTL(G ! call(reach_error)) )", "p.prp:1:46: expected `(`"),
            ("CHECK( init(main()),\n LTL(G ! call(())) )", "p.prp:2:15: expected the name of a function"),
            (
                "CHECK( init(main()), LTL(F end) ) x",
                "p.prp:1:35: a property begins with `CHECK(` or `COVER(`",
            ),
            ("CHECK( init(main()), LTL(F end)", "p.prp:1:32: expected `)`"),
        ] {
            assert_eq!(read(text), Err(message.to_owned()), "{text}");
        }
        for formula in
            ["F ! call(f())", "G call(f())", "G ! end", "G ! call-me", "F end && G ! overflow", "(F end)"]
        {
            let error = read(&format!("CHECK( init(main()), LTL({formula}) )")).unwrap_err();
            assert!(error.starts_with("p.prp:1:26: this property is not understood"), "{formula}: {error}");
        }
        // What only contains a property is none.
        assert!(read("NOCHECK( init(main()), LTL(G ! call(reach_error())) )").is_err());
        assert!(read("CHECK( init(main()), LTL(X G ! call(reach_error())) )").is_err());
    }
}
