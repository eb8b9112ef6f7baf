//! What a property means: the states of all objects, event by event.
//!
//! This is the definition that instrumented programs and monitors are tested against. Engines never
//! run it: in a program that is checked, one object is followed that was chosen at the start.

use std::collections::BTreeMap;

use crate::property::{Argument, Effect, Event, Handle, Pattern, Property, Severity, StateId, Transition};

/// The states of all objects of a run.
#[derive(Clone, Debug)]
pub struct Machine<'p> {
    property: &'p Property,
    objects: BTreeMap<i64, Followed>,
}

/// An object of a run.
#[derive(Clone, Copy, Debug)]
struct Followed {
    state: StateId,
    origin: u32,
    since: u32,
}

/// What an event does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The run goes on; warnings are given.
    Goes(Vec<Reported>),
    /// The run ends without an error.
    Stops,
    /// A rule is broken: the run ends.
    Fails(Reported),
}

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported {
    /// The message, as it stands in the file of rules.
    pub message: String,
    /// The state that the object was in.
    pub state: StateId,
    /// The place where the object was created, or left its first state; 0 if it never did.
    pub origin: u32,
    /// The place where it came into its state.
    pub since: u32,
}

impl<'p> Machine<'p> {
    /// All objects are in their first state.
    pub fn new(property: &'p Property) -> Self {
        Self { property, objects: BTreeMap::new() }
    }

    /// A call of a function: in front of it without a result, behind it with one. `place` is a
    /// number of the caller's choice.
    pub fn call(&mut self, function: &str, arguments: &[i64], result: Option<i64>, place: u32) -> Outcome {
        let property = self.property;
        let mut warnings = Vec::new();
        for rule in &property.rules {
            for pattern in &rule.patterns {
                let Some(bound) = bound(pattern, function, arguments, result) else { continue };
                let value = |name: &str| bound.iter().find(|(known, _)| known == name).map(|(_, v)| *v);
                let object = property.object.as_ref().map_or(Some(0), |object| value(&object.variable));
                let Some(object) = object else { continue };
                let creates = property.object.as_ref().is_some_and(|object| {
                    matches!(&pattern.event, Event::Call { result: Some(name), .. } if *name == object.variable)
                });
                match self.step(&rule.transitions, object, &value, (place, creates)) {
                    Outcome::Goes(more) => warnings.extend(more),
                    other => return other,
                }
            }
        }
        Outcome::Goes(warnings)
    }

    /// The program ends: what is reported of each object.
    pub fn exit(&self) -> Vec<Reported> {
        let mut found = Vec::new();
        for followed in self.objects.values() {
            let taken = self.property.at_exit.iter().find(|transition| transition.applies_to(followed.state));
            if let Some(Effect::Report(_, message)) = taken.map(|transition| &transition.effect) {
                found.push(reported(message, followed));
            }
        }
        found
    }

    fn step(
        &mut self,
        transitions: &[Transition],
        object: i64,
        value: &impl Fn(&str) -> Option<i64>,
        (place, creates): (u32, bool),
    ) -> Outcome {
        let property = self.property;
        let initial = property.initial;
        let followed = self.objects.entry(object).or_insert(Followed { state: initial, origin: 0, since: 0 });
        let unsigned = |name: &str| {
            property
                .object
                .as_ref()
                .is_some_and(|object| object.variable == name && object.handle == Handle::Pointer)
        };
        let applies = |transition: &&Transition| {
            transition.applies_to(followed.state)
                && transition.guard.as_ref().is_none_or(|guard| guard.holds(value, &unsigned))
        };
        match transitions.iter().find(applies).map(|transition| &transition.effect) {
            None => Outcome::Goes(Vec::new()),
            Some(Effect::Stop) => Outcome::Stops,
            Some(Effect::Report(Severity::Error, message)) => Outcome::Fails(reported(message, followed)),
            Some(Effect::Report(Severity::Warning, message)) => {
                Outcome::Goes(vec![reported(message, followed)])
            }
            Some(Effect::Goto(state)) => {
                if creates || followed.state == initial {
                    followed.origin = place;
                }
                followed.state = *state;
                followed.since = place;
                Outcome::Goes(Vec::new())
            }
        }
    }
}

fn reported(message: &str, followed: &Followed) -> Reported {
    Reported {
        message: message.to_owned(),
        state: followed.state,
        origin: followed.origin,
        since: followed.since,
    }
}

/// The values that a pattern binds, if the call matches it.
fn bound(
    pattern: &Pattern,
    function: &str,
    given: &[i64],
    result: Option<i64>,
) -> Option<Vec<(String, i64)>> {
    let Event::Call { result: name, function: glob, arguments, more } = &pattern.event else { return None };
    let fits = arguments.len() == given.len() || (*more && arguments.len() <= given.len());
    if !glob.matches(function) || !fits || name.is_some() != result.is_some() {
        return None;
    }
    let mut found = Vec::new();
    for (argument, value) in arguments.iter().zip(given) {
        match argument {
            Argument::Any => {}
            Argument::Number(number) if number == value => {}
            Argument::Number(_) => return None,
            Argument::Variable(name) => found.push((name.clone(), *value)),
        }
    }
    found.extend(name.clone().zip(result));
    Some(found)
}
