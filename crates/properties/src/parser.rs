//! From a file of rules to a property.

use crate::error::PropertyError;
use crate::lexer::{Kind, Token, tokens};
use crate::property::{
    Argument, Event, Glob, Handle, Model, Object, Pattern, Property, Returns, Rule, State, StateId,
};

/// Words that have a meaning of their own, and name no state.
const KEYWORDS: [&str; 14] = [
    "property", "object", "state", "on", "at", "exit", "skip", "model", "returns", "any", "error", "warning",
    "stop", "if",
];

/// So many states are allowed.
const MOST_STATES: usize = 200;

/// Reads a file of rules. `file` is its name in messages.
///
/// ```
/// let text = "property lock \"a lock is given back\"\nobject $m : int*\nstate free initial, held\n\
///             on lock($m):\n  free -> held\n  held -> error \"locked twice\"\n";
/// let property = wherefore_properties::parse("lock.spec", text).unwrap();
/// assert_eq!(property.rules.len(), 1);
/// let wrong = text.replace("-> held", "-> hold");
/// let error = wherefore_properties::parse("lock.spec", &wrong).unwrap_err();
/// assert_eq!(error.to_string(), "lock.spec:5:11: there is no state `hold`");
/// ```
pub fn parse(file: &str, text: &str) -> Result<Property, PropertyError> {
    let tokens = tokens(file, text)?;
    let mut parser = Parser { file, tokens, at: 0 };
    parser.property()
}

pub(crate) struct Parser<'t> {
    file: &'t str,
    tokens: Vec<Token>,
    at: usize,
}

type Parsed<T> = Result<T, PropertyError>;

impl Parser<'_> {
    pub(crate) fn peek(&self) -> &Kind {
        &self.tokens[self.at].kind
    }

    fn peek_at(&self, ahead: usize) -> &Kind {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.at + ahead).min(last)].kind
    }

    pub(crate) fn next(&mut self) -> Kind {
        let kind = self.peek().clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        kind
    }

    /// A mistake at the word at hand.
    pub(crate) fn fail<T>(&self, message: impl Into<String>) -> Parsed<T> {
        Err(self.mistake(self.at, message))
    }

    fn mistake(&self, at: usize, message: impl Into<String>) -> PropertyError {
        let token = &self.tokens[at];
        PropertyError {
            file: self.file.to_owned(),
            line: token.line,
            column: token.column,
            message: message.into(),
        }
    }

    fn fail_expecting<T>(&self, what: &str) -> Parsed<T> {
        self.fail(format!("expected {what}, found {}", self.peek().words()))
    }

    pub(crate) fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Kind::Sign(found) if *found == sign)
    }

    pub(crate) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Kind::Word(found) if found == word)
    }

    pub(crate) fn take_sign(&mut self, sign: &str) -> bool {
        let is = self.is_sign(sign);
        if is {
            self.next();
        }
        is
    }

    pub(crate) fn take_word(&mut self, word: &str) -> bool {
        let is = self.is_word(word);
        if is {
            self.next();
        }
        is
    }

    pub(crate) fn expect_sign(&mut self, sign: &str) -> Parsed<()> {
        if self.take_sign(sign) { Ok(()) } else { self.fail_expecting(&format!("`{sign}`")) }
    }

    fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.take_word(word) { Ok(()) } else { self.fail_expecting(&format!("`{word}`")) }
    }

    pub(crate) fn text(&mut self) -> Parsed<String> {
        match self.peek().clone() {
            Kind::Text(text) => {
                self.next();
                Ok(text)
            }
            _ => self.fail_expecting("a text in quotes"),
        }
    }

    /// A name without `*` that is no keyword.
    fn name(&mut self, what: &str) -> Parsed<String> {
        match self.peek().clone() {
            Kind::Word(word) if KEYWORDS.contains(&word.as_str()) => {
                self.fail(format!("`{word}` has a meaning of its own, and cannot be {what}"))
            }
            Kind::Word(word) if !word.contains('*') && word != "_" => {
                self.next();
                Ok(word)
            }
            _ => self.fail_expecting(what),
        }
    }

    /// The name of a function, with `*` for any characters.
    fn glob(&mut self) -> Parsed<Glob> {
        match self.peek().clone() {
            Kind::Word(word) if word != "_" => {
                self.next();
                Ok(Glob(word))
            }
            _ => self.fail_expecting("the name of a function"),
        }
    }

    fn property(&mut self) -> Parsed<Property> {
        self.expect_word("property")?;
        let name = self.name("the name of the property")?;
        let title = self.text()?;
        let mut property = Property {
            name,
            title,
            object: None,
            states: Vec::new(),
            initial: StateId(0),
            rules: Vec::new(),
            at_exit: Vec::new(),
            skip: Vec::new(),
            models: Vec::new(),
        };
        if self.take_word("object") {
            property.object = Some(self.object()?);
        }
        self.states(&mut property)?;
        loop {
            match self.peek().clone() {
                Kind::End => break,
                Kind::Word(word) if word == "on" => {
                    let rule = self.rule(&property)?;
                    property.rules.push(rule);
                }
                Kind::Word(word) if word == "at" => {
                    self.next();
                    self.expect_word("exit")?;
                    self.expect_sign(":")?;
                    let transitions = self.transitions(&property, &[])?;
                    property.at_exit.extend(transitions);
                }
                Kind::Word(word) if word == "skip" => {
                    self.next();
                    let mut names = vec![self.glob()?];
                    while self.take_sign(",") {
                        names.push(self.glob()?);
                    }
                    property.skip.extend(names);
                }
                Kind::Word(word) if word == "model" => {
                    self.next();
                    let models = self.model()?;
                    property.models.extend(models);
                }
                _ => return self.fail_expecting("`on`, `at exit`, `skip` or `model`"),
            }
        }
        if property.rules.is_empty() {
            return self.fail("the property has no rule");
        }
        Ok(property)
    }

    fn object(&mut self) -> Parsed<Object> {
        let Kind::Variable(variable) = self.peek().clone() else {
            return self.fail_expecting("a variable such as `$f`");
        };
        self.next();
        self.expect_sign(":")?;
        let (mut is_pointer, mut is_empty) = (false, true);
        loop {
            match self.peek() {
                Kind::Word(word) if KEYWORDS.contains(&word.as_str()) => break,
                Kind::Word(word) => is_pointer |= word.contains('*'),
                Kind::Sign("*") => is_pointer = true,
                _ => break,
            }
            is_empty = false;
            self.next();
        }
        if is_empty {
            return self.fail_expecting("a type of C");
        }
        let handle = if is_pointer { Handle::Pointer } else { Handle::Number };
        Ok(Object { variable, handle })
    }

    fn states(&mut self, property: &mut Property) -> Parsed<()> {
        self.expect_word("state")?;
        let mut initial = None;
        loop {
            let at = self.at;
            let name = self.name("the name of a state")?;
            if property.states.iter().any(|state| state.name == name) {
                return Err(self.mistake(at, format!("the state `{name}` is declared twice")));
            }
            if property.states.len() == MOST_STATES {
                return Err(self.mistake(at, format!("there are more than {MOST_STATES} states")));
            }
            let id = StateId(property.states.len() as u8);
            property.states.push(State { name });
            let at = self.at;
            if self.take_word("initial") && initial.replace(id).is_some() {
                return Err(self.mistake(at, "there is one initial state"));
            }
            if !self.take_sign(",") {
                break;
            }
        }
        match initial {
            Some(initial) => {
                property.initial = initial;
                Ok(())
            }
            None => self.fail("one of the states must be marked `initial`"),
        }
    }

    /// A state by its name.
    pub(crate) fn state(&mut self, property: &Property) -> Parsed<StateId> {
        let at = self.at;
        let name = self.name("the name of a state")?;
        match property.states.iter().position(|state| state.name == name) {
            Some(position) => Ok(StateId(position as u8)),
            None => Err(self.mistake(at, format!("there is no state `{name}`"))),
        }
    }

    fn rule(&mut self, property: &Property) -> Parsed<Rule> {
        self.expect_word("on")?;
        let mut patterns = vec![self.pattern(property)?];
        while self.take_sign("|") {
            patterns.push(self.pattern(property)?);
        }
        self.expect_sign(":")?;
        let bound: Vec<Vec<String>> = patterns.iter().map(|pattern| pattern.event.bound()).collect();
        let transitions = self.transitions(property, &bound)?;
        Ok(Rule { patterns, transitions })
    }

    fn pattern(&mut self, property: &Property) -> Parsed<Pattern> {
        let (at, line) = (self.at, self.tokens[self.at].line);
        let event = match (self.peek().clone(), self.peek_at(1).clone()) {
            (Kind::Sign("*"), Kind::Variable(name)) => {
                self.next();
                self.next();
                Event::Access(name)
            }
            (Kind::Variable(name), _) => {
                self.next();
                self.expect_sign("=")?;
                self.call(Some(name))?
            }
            _ => self.call(None)?,
        };
        let bound = event.bound();
        for (i, name) in bound.iter().enumerate() {
            if bound[..i].contains(name) {
                return Err(self.mistake(at, format!("`${name}` is bound twice")));
            }
        }
        let is_about = property.object.as_ref().is_none_or(|object| bound.contains(&object.variable));
        if let (false, Some(object)) = (is_about, &property.object) {
            return Err(self.mistake(at, format!("the object `${}` does not occur here", object.variable)));
        }
        Ok(Pattern { event, line })
    }

    fn call(&mut self, result: Option<String>) -> Parsed<Event> {
        let function = self.glob()?;
        self.expect_sign("(")?;
        let (mut arguments, mut more) = (Vec::new(), false);
        while !self.is_sign(")") {
            if !arguments.is_empty() || more {
                self.expect_sign(",")?;
            }
            if more {
                return self.fail("nothing can stand behind `...`");
            }
            let is_negative = self.take_sign("-");
            match self.peek().clone() {
                Kind::Number(number) => {
                    arguments.push(Argument::Number(if is_negative { -number } else { number }));
                }
                _ if is_negative => return self.fail_expecting("a number"),
                Kind::Word(word) if word == "_" => arguments.push(Argument::Any),
                Kind::Word(word) if word == "NULL" => arguments.push(Argument::Number(0)),
                Kind::Variable(name) => arguments.push(Argument::Variable(name)),
                Kind::Sign("...") => more = true,
                _ => return self.fail_expecting("`_`, `...`, a variable or a number"),
            }
            self.next();
        }
        self.expect_sign(")")?;
        Ok(Event::Call { result, function, arguments, more })
    }

    fn model(&mut self) -> Parsed<Vec<Model>> {
        let mut functions = vec![self.glob()?];
        while self.take_sign(",") {
            functions.push(self.glob()?);
        }
        let returns = if self.take_word("does") {
            self.expect_word("not")?;
            self.expect_word("return")?;
            Returns::Never
        } else {
            self.expect_word("returns")?;
            let at = self.at;
            let mut results = Vec::new();
            loop {
                match self.next() {
                    Kind::Word(word) => results.push(word),
                    _ => results.push(String::new()),
                }
                if !self.take_sign("|") {
                    break;
                }
            }
            let mut words: Vec<&str> = results.iter().map(String::as_str).collect();
            words.sort_unstable();
            match words.as_slice() {
                ["fresh"] => Returns::Fresh,
                ["fresh", "null"] => Returns::FreshOrNull,
                ["nonnull"] => Returns::NotNull,
                _ => {
                    let message = "expected `fresh`, `fresh | null` or `nonnull`";
                    return Err(self.mistake(at, message));
                }
            }
        };
        Ok(functions.into_iter().map(|function| Model { function, returns }).collect())
    }
}

impl Event {
    /// The variables that it binds: those of the arguments, and that of the result.
    pub fn bound(&self) -> Vec<String> {
        match self {
            Self::Access(name) => vec![name.clone()],
            Self::Call { result, arguments, .. } => {
                let of = |argument: &Argument| match argument {
                    Argument::Variable(name) => Some(name.clone()),
                    Argument::Any | Argument::Number(_) => None,
                };
                arguments.iter().filter_map(of).chain(result.clone()).collect()
            }
        }
    }
}
