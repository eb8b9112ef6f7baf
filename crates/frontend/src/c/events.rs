//! Calls that the rules of a property are about.
//!
//! A call that matches a pattern becomes a statement expression: its arguments get their values, an
//! event is told, the function is called, and another event is told with the result. An event is a
//! call of [`EVENT`], which `lower/events.rs` turns into a check and a step of the automaton. So
//! arguments are evaluated once, and the events of a call are where the call is.

use std::sync::Arc;

use wherefore_program::{CallPlace, Monitor, Monitored, MonitoredCall, Span, Var};
use wherefore_properties::monitor::{self, Around};
use wherefore_properties::{Argument, Effect, Event, Handle, Property, Returns, Severity, Transition};

use super::calls::{Rewriting, declare};
use super::ctype::CType;
use super::lines::Sources;
use super::models;
use super::sema::Linkage;
use super::tree::{Function, FunctionId, Statement, StatementKind, Term, TermKind, Tree};
use super::walk::each_term;

/// The function that stands for an event: its number, and the values that are bound.
pub(crate) const EVENT: &str = "__wherefore_event";

/// The events of a program.
pub(crate) struct Watched {
    pub(crate) property: Arc<Property>,
    /// The name as violations have it.
    pub(crate) name: &'static str,
    pub(crate) events: Vec<Seen>,
    /// The calls, from number 1 on, and where they are.
    pub(crate) places: Arc<Vec<CallPlace>>,
    pub(crate) spans: Vec<Span>,
}

/// An event at one place.
pub(crate) struct Seen {
    /// The rule, by its position.
    pub(crate) rule: usize,
    /// The number of the call.
    pub(crate) place: u32,
    pub(crate) function: String,
    /// How many arguments it has.
    pub(crate) count: usize,
    /// The variables, in the order of the values.
    pub(crate) bound: Vec<Bound>,
    /// Whether the function has no body, and its result is the object.
    pub(crate) creates: bool,
    /// Whether the function around it is only there to be inlined: headers have many that are not
    /// used.
    pub(crate) in_header: bool,
}

/// What a value of an event is for.
pub(crate) enum Bound {
    Variable(String),
    /// The event happens only if the value is this number.
    Number(i64),
}

/// What a property says about the result of a function without a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Result {
    pub(crate) returns: Returns,
    /// Whether it can be read and written: a model says so.
    pub(crate) readable: bool,
}

impl Watched {
    /// Whether objects are named by pointers.
    pub(crate) fn has_pointers(&self) -> bool {
        self.property.object.as_ref().is_some_and(|object| object.handle == Handle::Pointer)
    }
}

/// Puts the events of a property into a program, and takes note of what it says about functions.
pub(crate) fn watch(tree: &mut Tree, linkage: &mut Linkage, sources: &Sources, property: &Arc<Property>) {
    for function in &mut tree.functions {
        let name = function.name.as_str();
        if function.body.is_some() && property.skip.iter().any(|glob| glob.matches(name)) && name != "main" {
            function.body = None;
            function.pure = true;
        }
        if function.body.is_some() {
            continue;
        }
        // Our own definitions of functions about memory say more than a model.
        let is_defined = models::meaning(name).is_some() || models::brings_no_input(name);
        match property.model_of(name) {
            Some(Returns::Never) => function.returns = false,
            Some(returns) if !is_defined => function.result = Some(Result { returns, readable: true }),
            None if property.creates(name) && !is_defined => {
                function.result = Some(Result { returns: Returns::FreshOrNull, readable: false });
            }
            _ => {}
        }
    }
    let mut watching = Watching { property, events: Vec::new(), places: Vec::new(), spans: Vec::new() };
    for i in 0..tree.functions.len() {
        let Some(mut body) = tree.functions[i].body.take() else { continue };
        let owner = FunctionId(i as u32);
        let mut rewriting = Rewriting { tree: &mut *tree, linkage: &mut *linkage, owner };
        each_term(&mut body, &mut |term| {
            if let Some(new) = watching.call(&mut rewriting, sources, term) {
                *term = new;
            }
        });
        tree.functions[i].body = Some(body);
    }
    tree.watched = Some(Watched {
        name: interned(&property.name),
        property: property.clone(),
        events: watching.events,
        places: Arc::new(watching.places),
        spans: watching.spans,
    });
}

/// A name that lives as long as the process: kinds of violations are plain values, and there is one
/// property a command.
fn interned(name: &str) -> &'static str {
    match wherefore_properties::shipped(name) {
        Some(shipped) => shipped.name,
        None => Box::leak(name.to_owned().into_boxed_str()),
    }
}

/// The rules in C, and what is done around the calls that they are about.
pub(crate) fn monitor(tree: &Tree, object: Option<Var>) -> Option<Monitor> {
    let watched = tree.watched.as_ref()?;
    let property = &watched.property;
    let mut monitor = Monitor { definitions: monitor::definitions(property), object, ..Monitor::default() };
    for seen in &watched.events {
        let name = &seen.function;
        if monitor.calls.iter().any(|call| call.function == *name) || monitor.unavailable.is_some() {
            continue;
        }
        let function = tree.functions.iter().find(|function| function.name == *name);
        let has_body = function.is_some_and(|function| function.body.is_some());
        let is_ours = function.is_some_and(|function| tree.library.contains(&function.span.file));
        let kind = match function.and_then(|function| function.result) {
            Some(result) if result.returns.is_fresh() => Monitored::Fresh,
            _ if has_body || models::meaning(name).is_some() => Monitored::Defined,
            _ => Monitored::Input,
        };
        match monitor::around(property, name, seen.count) {
            _ if has_body && !is_ours => monitor.unwatched = Some(name.clone()),
            Some(Around { before, after }) => {
                monitor.calls.push(MonitoredCall { function: name.clone(), kind, before, after });
            }
            None => monitor.unavailable = Some(format!("calls of `{name}` cannot be watched")),
        }
    }
    let can_break = |seen: &&Seen| {
        let reports =
            |transition: &Transition| matches!(transition.effect, Effect::Report(Severity::Error, _));
        property.rules[seen.rule].transitions.iter().any(reports)
    };
    for seen in watched.events.iter().filter(can_break).filter(|seen| !seen.in_header) {
        let place = &watched.places[seen.place as usize - 1];
        if monitor.places.last() != Some(place) {
            monitor.places.push(place.clone());
        }
    }
    if property.watches_accesses() {
        monitor.unavailable = Some("accesses to memory cannot be watched".to_owned());
    }
    Some(monitor)
}

struct Watching<'p> {
    property: &'p Property,
    events: Vec<Seen>,
    places: Vec<CallPlace>,
    spans: Vec<Span>,
}

/// A pattern that a call matches.
struct Match<'p> {
    /// The rule, by its position.
    rule: usize,
    arguments: &'p [Argument],
    result: Option<&'p String>,
}

impl<'p> Watching<'p> {
    /// The patterns that a call matches, in the order of the rules.
    fn matches(&self, name: &str, count: usize) -> Vec<Match<'p>> {
        let mut found = Vec::new();
        for (rule, of) in self.property.rules.iter().enumerate() {
            for one in &of.patterns {
                let Event::Call { result, function, arguments, more } = &one.event else { continue };
                let fits = arguments.len() == count || (*more && arguments.len() <= count);
                if fits && function.matches(name) {
                    found.push(Match { rule, arguments, result: result.as_ref() });
                }
            }
        }
        found
    }

    /// Whether the object of a pattern is a pointer in the program if it is one in the rules.
    fn has_types(&self, one: &Match<'_>, arguments: &[Term], result: &CType) -> bool {
        let Some(object) = &self.property.object else { return true };
        let fits = |ty: &CType| match object.handle {
            Handle::Pointer => ty.is_pointer(),
            Handle::Number => ty.is_integer(),
        };
        let is_object =
            |argument: &Argument| matches!(argument, Argument::Variable(name) if *name == object.variable);
        let mut given = one.arguments.iter().zip(arguments).filter(|(argument, _)| is_object(argument));
        let by_result = one.result.is_none_or(|name| *name != object.variable || fits(result));
        by_result && given.all(|(_, term)| fits(&term.ty))
    }

    fn call(&mut self, rewriting: &mut Rewriting<'_>, sources: &Sources, term: &Term) -> Option<Term> {
        let TermKind::Call(callee, arguments) = &term.kind else { return None };
        let TermKind::Function(id) = callee.kind else { return None };
        let function: &Function = rewriting.tree.function(id);
        let (name, has_body) = (function.name.clone(), function.body.is_some() || id == rewriting.owner);
        let in_header = rewriting.tree.function(rewriting.owner).is_for_inlining();
        let mut matches = self.matches(&name, arguments.len());
        matches.retain(|one| self.has_types(one, arguments, &term.ty));
        if matches.is_empty() {
            return None;
        }
        let span = term.span;
        let file = &sources.files[span.file.0 as usize];
        let line = file.position(span.start).line;
        self.places.push(CallPlace { function: name.clone(), file: file.name().to_owned(), line });
        self.spans.push(span);
        let place = self.places.len() as u32;
        let mut statements = Vec::new();
        let looks_behind = matches.iter().any(|one| one.result.is_some());
        let arguments = kept_arguments(rewriting, &matches, arguments, looks_behind, &mut statements);
        let told = |watching: &mut Self,
                    rewriting: &mut Rewriting<'_>,
                    one: &Match<'_>,
                    result: Option<&Term>| {
            let mut bound = Vec::new();
            let mut values = Vec::new();
            for (argument, value) in one.arguments.iter().zip(&arguments) {
                match argument {
                    Argument::Any => continue,
                    Argument::Variable(name) => bound.push(Bound::Variable(name.clone())),
                    Argument::Number(number) => bound.push(Bound::Number(*number)),
                }
                values.push(value.clone());
            }
            if let (Some(name), Some(result)) = (one.result, result) {
                bound.push(Bound::Variable(name.clone()));
                values.push(result.clone());
            }
            let is_object = one.result.is_some_and(|name| watching.property.is_object(name));
            let creates = !has_body && is_object && watching.property.lets_create(one.rule);
            let number = watching.events.len() as u64;
            let function = name.clone();
            let count = arguments.len();
            watching.events.push(Seen { rule: one.rule, place, function, count, bound, creates, in_header });
            let mut given = vec![Term::new(TermKind::Constant(number), CType::INT, span)];
            given.extend(values);
            let call = rewriting.call(EVENT, CType::Void, given, span);
            Statement { kind: StatementKind::Expression(call), span }
        };
        for one in matches.iter().filter(|one| one.result.is_none()) {
            statements.push(told(self, rewriting, one, None));
        }
        let call = Term::new(TermKind::Call(callee.clone(), arguments.clone()), term.ty.clone(), span);
        if term.ty == CType::Void {
            statements.push(Statement { kind: StatementKind::Expression(call), span });
            return Some(Term::new(TermKind::Block(statements, None), CType::Void, span));
        }
        if !looks_behind {
            return Some(Term::new(TermKind::Block(statements, Some(Box::new(call))), term.ty.clone(), span));
        }
        let id = rewriting.object("result", term.ty.clone(), span);
        statements.push(declare(id, call, span));
        let place = Term::new(TermKind::Object(id), term.ty.clone(), span);
        let result = Term::new(TermKind::Load(Box::new(place)), term.ty.clone(), span);
        for one in matches.iter().filter(|one| one.result.is_some()) {
            statements.push(told(self, rewriting, one, Some(&result)));
        }
        Some(Term::new(TermKind::Block(statements, Some(Box::new(result))), term.ty.clone(), span))
    }
}

/// The arguments of a call as terms that can be looked at twice. If one has effects, all are
/// evaluated first, from right to left; if the result is looked at, those that are bound are, since
/// the call may change what they are read from.
fn kept_arguments(
    rewriting: &mut Rewriting<'_>,
    matches: &[Match<'_>],
    arguments: &[Term],
    looks_behind: bool,
    statements: &mut Vec<Statement>,
) -> Vec<Term> {
    let has_effects = arguments.iter().any(Term::has_effects);
    let is_bound = |at: usize| {
        let binds = |one: &Match<'_>| {
            one.result.is_some() && one.arguments.get(at).is_some_and(|argument| *argument != Argument::Any)
        };
        matches.iter().any(binds)
    };
    let mut kept = arguments.to_vec();
    for (at, argument) in arguments.iter().enumerate().rev() {
        let is_fixed = match &argument.kind {
            TermKind::Constant(_) => true,
            TermKind::Address(place) => matches!(place.kind, TermKind::Object(_) | TermKind::Function(_)),
            TermKind::Convert(inner) => inner.constant().is_some(),
            _ => false,
        };
        if !is_fixed && (has_effects || (looks_behind && is_bound(at))) {
            kept[at] = rewriting.kept("argument", argument.clone(), statements);
        }
    }
    kept
}
