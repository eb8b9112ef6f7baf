//! Transitions and their guards, in a file of rules.

use crate::error::PropertyError;
use crate::lexer::Kind;
use crate::parser::Parser;
use crate::property::{Comparison, Effect, From, Guard, Operand, Property, Severity, Transition};

type Parsed<T> = Result<T, PropertyError>;

/// What a message may mention.
const PLACEHOLDERS: [&str; 3] = ["call", "origin", "since"];

impl Parser<'_> {
    /// All transitions up to the next part of the file. Guards mention variables that every pattern
    /// binds.
    pub(crate) fn transitions(
        &mut self,
        property: &Property,
        bound: &[Vec<String>],
    ) -> Parsed<Vec<Transition>> {
        let mut found = Vec::new();
        loop {
            while self.take_sign(";") {}
            let ends = ["on", "at", "skip", "model"].iter().any(|word| self.is_word(word));
            if ends || *self.peek() == Kind::End {
                break;
            }
            found.push(self.transition(property, bound)?);
        }
        if found.is_empty() {
            return self.fail("expected a transition, such as `open -> closed`");
        }
        Ok(found)
    }

    fn transition(&mut self, property: &Property, bound: &[Vec<String>]) -> Parsed<Transition> {
        let from = if self.take_word("any") {
            From::Any
        } else {
            let mut states = vec![self.state(property)?];
            while self.take_sign(",") {
                states.push(self.state(property)?);
            }
            From::States(states)
        };
        self.expect_sign("->")?;
        let effect = if self.take_word("error") {
            Effect::Report(Severity::Error, self.message()?)
        } else if self.take_word("warning") {
            Effect::Report(Severity::Warning, self.message()?)
        } else if self.take_word("stop") {
            Effect::Stop
        } else {
            Effect::Goto(self.state(property)?)
        };
        let guard = match self.take_word("if") {
            true => Some(self.any_of(bound)?),
            false => None,
        };
        Ok(Transition { from, guard, effect })
    }

    fn message(&mut self) -> Parsed<String> {
        if let Kind::Text(text) = self.peek() {
            let mut rest = text.as_str();
            while let Some(at) = rest.find('$') {
                rest = &rest[at + 1..];
                if !PLACEHOLDERS.iter().any(|name| rest.starts_with(name)) {
                    return self.fail("a message may mention `$call`, `$origin` and `$since` only");
                }
            }
        }
        self.text()
    }

    fn any_of(&mut self, bound: &[Vec<String>]) -> Parsed<Guard> {
        let mut guard = self.all_of(bound)?;
        while self.take_sign("||") {
            guard = Guard::Or(Box::new(guard), Box::new(self.all_of(bound)?));
        }
        Ok(guard)
    }

    fn all_of(&mut self, bound: &[Vec<String>]) -> Parsed<Guard> {
        let mut guard = self.one_of(bound)?;
        while self.take_sign("&&") {
            guard = Guard::And(Box::new(guard), Box::new(self.one_of(bound)?));
        }
        Ok(guard)
    }

    fn one_of(&mut self, bound: &[Vec<String>]) -> Parsed<Guard> {
        if self.take_sign("!") {
            return Ok(Guard::Not(Box::new(self.one_of(bound)?)));
        }
        if self.take_sign("(") {
            let guard = self.any_of(bound)?;
            self.expect_sign(")")?;
            return Ok(guard);
        }
        let left = self.operand(bound)?;
        let comparison = match self.peek() {
            Kind::Sign("==") => Comparison::Equal,
            Kind::Sign("!=") => Comparison::Different,
            Kind::Sign("<") => Comparison::Less,
            Kind::Sign("<=") => Comparison::LessOrEqual,
            Kind::Sign(">") => Comparison::Greater,
            Kind::Sign(">=") => Comparison::GreaterOrEqual,
            other => {
                let message = format!("expected a comparison, found {}", other.words());
                return self.fail(message);
            }
        };
        self.next();
        let right = self.operand(bound)?;
        Ok(Guard::Compare(comparison, left, right))
    }

    fn operand(&mut self, bound: &[Vec<String>]) -> Parsed<Operand> {
        let is_negative = self.take_sign("-");
        let operand = match self.peek().clone() {
            Kind::Number(number) => Operand::Number(if is_negative { -number } else { number }),
            Kind::Word(word) if word == "NULL" && !is_negative => Operand::Number(0),
            Kind::Variable(name) if !is_negative => {
                if bound.is_empty() || !bound.iter().all(|names| names.contains(&name)) {
                    return self.fail(format!("`${name}` is not bound by every pattern of this rule"));
                }
                Operand::Variable(name)
            }
            other => {
                let message = format!("expected a variable or a number, found {}", other.words());
                return self.fail(message);
            }
        };
        self.next();
        Ok(operand)
    }
}
