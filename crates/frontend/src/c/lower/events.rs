//! The automaton of a property, as variables of the program.
//!
//! One object is followed: its name (a pointer or a number) is any value that is chosen at the
//! start, and a variable holds its state. An event that names this object checks the errors of its
//! rule, and then takes the transition that applies. Since objects do not depend on each other, the
//! program keeps the rules if it keeps them for each choice; which pointers are equal is decided by
//! the engines. Two more variables hold the calls that messages mention.
//!
//! A function whose result is the object creates it: the result is a new object or NULL, and never
//! one in a state for which the rule has no transition.

use wherefore_program::{
    BinaryOp, Expr, LocationKind, Messages, Operation, Scalar, Span, Target, Type, Var, Violation,
    ViolationKind,
};
use wherefore_properties::{Effect, Event, From, Handle, Property, Severity, StateId, Transition};

use super::guards::{Value, condition};
use super::rules::Reach;
use super::value::resize;
use super::{Context, Lower};
use crate::c::Warnings;
use crate::c::events::{Bound, Seen, Watched};
use crate::c::problem::{Checked, Problem};
use crate::c::tree::Term;

const STATE: Scalar = Scalar::Bits(8);
const NUMBER: Scalar = Scalar::Bits(32);

/// The variables of a property.
#[derive(Clone, Copy)]
pub(crate) struct Tracked {
    /// The object, if the rules are about one.
    object: Option<(Var, Scalar)>,
    state: Var,
    origin: Var,
    since: Var,
}

/// How a program ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// By a call of `exit`.
    Call,
    /// By the end of `main`.
    End,
}

/// A transition of an event, with the condition under which it is taken.
struct Taken<'p> {
    transition: &'p Transition,
    when: Expr,
}

/// What a step of the automaton is about.
struct At<'p> {
    /// The number of the call, and the function.
    place: u32,
    function: &'p str,
    /// Whether the object is created.
    creates: bool,
}

impl Context<'_> {
    fn tracked(&mut self, watched: &Watched, span: Span) -> Tracked {
        if let Some(tracked) = self.tracked {
            return tracked;
        }
        let name = &watched.property.name;
        let object = watched.property.object.as_ref().map(|object| {
            let ty = match object.handle {
                Handle::Pointer => self.pointer(),
                Handle::Number => Scalar::Bits(64),
            };
            (self.global(&format!("object of {name}"), Type::Scalar(ty), Some(0), span), ty)
        });
        let initial = u64::from(watched.property.initial.0);
        let state = self.global(&format!("state of {name}"), Type::Scalar(STATE), Some(initial), span);
        let origin = self.global(&format!("origin of {name}"), Type::Scalar(NUMBER), Some(0), span);
        let since = self.global(&format!("since of {name}"), Type::Scalar(NUMBER), Some(0), span);
        *self.tracked.insert(Tracked { object, state, origin, since })
    }
}

impl Context<'_> {
    /// The variable that holds the object that is followed.
    pub(crate) fn followed(&self) -> Option<Var> {
        self.tracked.and_then(|tracked| tracked.object).map(|(variable, _)| variable)
    }
}

impl Tracked {
    fn is_in(self, state: StateId) -> Expr {
        let now = Expr::variable(self.state, STATE);
        Expr::binary(BinaryOp::Eq, now, Expr::constant(u64::from(state.0), STATE))
    }

    fn is_from(self, from: &From) -> Expr {
        match from {
            From::Any => Expr::bool(true),
            From::States(states) => Expr::any(states.iter().map(|state| self.is_in(*state)).collect()),
        }
    }
}

impl Lower<'_, '_> {
    /// Whether accesses through pointers are events.
    pub(crate) fn watches_accesses(&self) -> bool {
        self.cx.tree.watched.as_ref().is_some_and(|watched| watched.property.watches_accesses())
    }

    /// At the start, the object that is followed is chosen.
    pub(crate) fn choose_object(&mut self, span: Span) {
        if let Some((object, _)) = self.cx.tracked.and_then(|tracked| tracked.object) {
            self.body.step(span, LocationKind::Statement, Operation::Havoc(vec![object.into()]));
        }
    }

    /// An event happens: a call of our own function with its number and the values that it binds.
    pub(crate) fn event(&mut self, arguments: &[Term], span: Span) -> Checked<()> {
        let tree = self.cx.tree;
        let Some((number, values)) = arguments.split_first() else { return Ok(()) };
        let watched = tree.watched.as_ref();
        let seen = number.constant().and_then(|at| watched?.events.get(at as usize));
        let (Some(watched), Some(seen)) = (watched, seen) else {
            return Err(Problem::unsupported(span, "this event is"));
        };
        if self.cx.has_threads {
            return Err(Problem::unsupported(span, "a property of a program with threads is"));
        }
        let Seen { rule, place, function, bound, creates, .. } = seen;
        let (mut known, mut happens) = (Vec::new(), Vec::new());
        for (term, bound) in values.iter().zip(bound) {
            if !term.ty.is_scalar() || term.ty.is_float() {
                return Err(Problem::unsupported(span, "a rule about an argument that is no number is"));
            }
            let value = self.value(term)?;
            let value = self.stable(value, span);
            let is_signed = term.ty.is_signed() && !term.ty.is_pointer();
            match bound {
                Bound::Variable(name) => {
                    known.push((name.as_str(), Value { value, is_signed, is_pointer: term.ty.is_pointer() }));
                }
                Bound::Number(number) => {
                    let wide = resize(value, is_signed, Scalar::Bits(64));
                    let number = Expr::constant(*number as u64, Scalar::Bits(64));
                    happens.push(Expr::binary(BinaryOp::Eq, wide, number));
                }
            }
        }
        let at = At { place: *place, function, creates: *creates };
        self.automaton(watched, (&watched.property.rules[*rule].transitions, at), (known, happens), span);
        Ok(())
    }

    /// A place in memory is read or written.
    pub(crate) fn access_event(&mut self, reach: &Reach, at: Span) {
        let tree = self.cx.tree;
        let Some(watched) = tree.watched.as_ref().filter(|watched| watched.property.watches_accesses())
        else {
            return;
        };
        let Some(pointer) = reach.base.as_deref().cloned().filter(|_| !self.is_library) else { return };
        if watched.property.object.is_some() {
            let text =
                "memory is accessed through pointers to its start, as far as the property is concerned";
            self.cx.assume(text, None);
        }
        for rule in &watched.property.rules {
            for pattern in &rule.patterns {
                let Event::Access(name) = &pattern.event else { continue };
                let value = Value { value: pointer.clone(), is_signed: false, is_pointer: true };
                let known = vec![(name.as_str(), value)];
                let place = At { place: 0, function: "*", creates: false };
                self.automaton(watched, (&rule.transitions, place), (known, Vec::new()), at);
            }
        }
    }

    /// The transitions of an event, each with the condition under which it is taken.
    fn taken<'p>(
        &self,
        transitions: &'p [Transition],
        known: &[(&str, Value)],
        (tracked, named): (Tracked, &Expr),
    ) -> Vec<Taken<'p>> {
        let mut found: Vec<Taken<'p>> = Vec::new();
        for transition in transitions {
            let mut parts = vec![named.clone(), tracked.is_from(&transition.from)];
            parts.extend(transition.guard.as_ref().map(|guard| condition(guard, known)));
            // An earlier one that applies to the same states comes first.
            for earlier in found.iter().filter(|earlier| overlaps(earlier.transition, transition)) {
                parts.push(earlier.when.clone().not());
            }
            parts.retain(|part| part.as_constant() != Some(1));
            let when = if parts.is_empty() { Expr::bool(true) } else { Expr::all(parts) };
            found.push(Taken { transition, when });
        }
        found
    }

    fn automaton(
        &mut self,
        watched: &Watched,
        (transitions, at): (&[Transition], At<'_>),
        (known, mut happens): (Vec<(&str, Value)>, Vec<Expr>),
        span: Span,
    ) {
        let property = &watched.property;
        let tracked = self.cx.tracked(watched, span);
        let object = property.object.as_ref().and_then(|object| {
            known.iter().find(|(name, _)| *name == object.variable).map(|(_, value)| value.clone())
        });
        if let (Some((variable, ty)), Some(object)) = (tracked.object, &object) {
            let value = resize(object.value.clone(), object.is_signed, ty);
            happens.push(Expr::binary(BinaryOp::Eq, Expr::variable(variable, ty), value));
        }
        let named = if happens.is_empty() { Expr::bool(true) } else { Expr::all(happens) };
        let taken = self.taken(transitions, &known, (tracked, &named));
        if at.creates {
            self.require_new(&taken, (&named, object.as_ref()), span);
        }
        let is_warned = self.warns();
        for severity in [Severity::Error, Severity::Warning] {
            let cases: Vec<(Expr, String)> = taken
                .iter()
                .filter_map(|taken| match &taken.transition.effect {
                    Effect::Report(of, text) if *of == severity => {
                        Some((taken.when.clone(), text.replace("$call", at.function)))
                    }
                    _ => None,
                })
                .collect();
            if cases.is_empty() || (severity == Severity::Warning && !is_warned) {
                continue;
            }
            self.report(watched, severity, cases, (tracked, span, None));
        }
        let stops = taken.iter().filter(|taken| taken.transition.effect == Effect::Stop);
        for stop in stops.map(|taken| taken.when.clone()).collect::<Vec<_>>() {
            self.require(stop.not(), span);
        }
        self.advance(property, &taken, (tracked, &at), span);
    }

    /// The result of a function that creates objects is none that a rule does not let be created.
    fn require_new(&mut self, taken: &[Taken<'_>], (named, object): (&Expr, Option<&Value>), span: Span) {
        let Some(object) = object else { return };
        let zero = Expr::constant(0, object.value.ty);
        let is_none = match object.is_pointer {
            true => Expr::binary(BinaryOp::Eq, object.value.clone(), zero),
            false => Expr::binary(BinaryOp::SLt, object.value.clone(), zero),
        };
        let mut ways = vec![named.clone().not(), is_none];
        ways.extend(taken.iter().map(|taken| taken.when.clone()));
        self.require(Expr::any(ways), span);
    }

    fn warns(&self) -> bool {
        self.cx.options.library.as_ref().is_some_and(|rules| rules.warnings == Warnings::On)
    }

    /// A check that no rule is broken in one of these cases. Behind a warning the run goes on.
    fn report(
        &mut self,
        watched: &Watched,
        severity: Severity,
        cases: Vec<(Expr, String)>,
        (tracked, span, exit): (Tracked, Span, Option<Exit>),
    ) {
        let broken = Expr::any(cases.iter().map(|(when, _)| when.clone()).collect());
        let mut parts: Vec<Expr> = self.guards.iter().cloned().map(Self::negated).collect();
        parts.push(broken.not());
        let holds = Expr::any(parts);
        let when = if exit == Some(Exit::End) { " when the program ends" } else { "" };
        let messages = Messages {
            cases,
            at_exit: exit.is_some(),
            state: tracked.state,
            places: vec![
                ("origin", Expr::variable(tracked.origin, NUMBER)),
                ("since", Expr::variable(tracked.since, NUMBER)),
            ],
            known: watched.places.clone(),
        };
        let violation = Violation {
            kind: ViolationKind::Property(watched.name),
            subject: span,
            text: format!("breaks a rule of `{}`{when}", watched.name),
            shown: Vec::new(),
            messages: Some(Box::new(messages)),
        };
        match severity {
            Severity::Error => self.body.check(span, holds, violation),
            Severity::Warning => self.body.warn(span, &holds, violation),
        }
    }

    /// The state and the calls that messages mention, after an event.
    fn advance(
        &mut self,
        property: &Property,
        taken: &[Taken<'_>],
        (tracked, at): (Tracked, &At<'_>),
        span: Span,
    ) {
        let mut state = Expr::variable(tracked.state, STATE);
        let mut moves = Vec::new();
        for taken in taken.iter().rev() {
            let Effect::Goto(to) = taken.transition.effect else { continue };
            let to = Expr::constant(u64::from(to.0), STATE);
            state = Expr::if_then_else(taken.when.clone(), to, state);
            moves.push(taken.when.clone());
        }
        if moves.is_empty() {
            return;
        }
        let moves = Expr::any(moves);
        let place = Expr::constant(u64::from(at.place), NUMBER);
        let origins = match at.creates {
            true => moves.clone(),
            false => Expr::all(vec![moves.clone(), tracked.is_in(property.initial)]),
        };
        let origin = Expr::if_then_else(origins, place.clone(), Expr::variable(tracked.origin, NUMBER));
        let since = Expr::if_then_else(moves, place, Expr::variable(tracked.since, NUMBER));
        let targets: Vec<Target> = vec![tracked.state.into(), tracked.origin.into(), tracked.since.into()];
        self.body.assign(span, targets, vec![state, origin, since]);
    }

    /// The program ends. At the end of `main` there is a check for each call that an object may come
    /// from; where the program ends by itself, there is one for all of them.
    pub(crate) fn exit_event(&mut self, exit: Exit, span: Span) {
        let tree = self.cx.tree;
        let Some(watched) = tree.watched.as_ref().filter(|watched| !watched.property.at_exit.is_empty())
        else {
            return;
        };
        let property = &watched.property;
        let tracked = self.cx.tracked(watched, span);
        let taken = self.taken(&property.at_exit, &[], (tracked, &Expr::bool(true)));
        for severity in [Severity::Error, Severity::Warning] {
            if severity == Severity::Warning && !self.warns() {
                continue;
            }
            let cases = || {
                let of = |taken: &Taken<'_>| match &taken.transition.effect {
                    Effect::Report(of, text) if *of == severity => {
                        Some((taken.when.clone(), text.replace("$call", "the end of the program")))
                    }
                    _ => None,
                };
                taken.iter().filter_map(of).collect::<Vec<_>>()
            };
            if cases().is_empty() {
                continue;
            }
            if exit == Exit::Call {
                self.report(watched, severity, cases(), (tracked, span, Some(exit)));
                continue;
            }
            for place in origins(watched) {
                let here = Expr::binary(
                    BinaryOp::Eq,
                    Expr::variable(tracked.origin, NUMBER),
                    Expr::constant(u64::from(place), NUMBER),
                );
                let cases =
                    cases().into_iter().map(|(when, text)| (Expr::all(vec![here.clone(), when]), text));
                let span = watched.spans[place as usize - 1];
                self.report(watched, severity, cases.collect(), (tracked, span, Some(exit)));
            }
        }
    }
}

/// Whether two transitions may apply to one state.
fn overlaps(a: &Transition, b: &Transition) -> bool {
    match (&a.from, &b.from) {
        (From::Any, _) | (_, From::Any) => true,
        (From::States(a), From::States(b)) => a.iter().any(|state| b.contains(state)),
    }
}

/// The calls at which objects are created or leave their first state.
fn origins(watched: &Watched) -> Vec<u32> {
    let property = &watched.property;
    let leaves = |seen: &&Seen| {
        let transitions = &property.rules[seen.rule].transitions;
        transitions.iter().any(|transition| {
            let goes = matches!(transition.effect, Effect::Goto(_));
            goes && (seen.creates || transition.applies_to(property.initial))
        })
    };
    let mut found: Vec<u32> = watched.events.iter().filter(leaves).map(|seen| seen.place).collect();
    found.dedup();
    found
}
