//! A property as data.

use std::fmt;

/// A set of rules about one kind of object, or about the whole program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// The name: the kind of its checks.
    pub name: String,
    /// What the rules are about, in a sentence.
    pub title: String,
    /// The objects that have a state each; none if there is one state for the whole program.
    pub object: Option<Object>,
    /// The states. The first one that is marked `initial` is the state of every object at first.
    pub states: Vec<State>,
    /// The state of every object at first.
    pub initial: StateId,
    /// The rules, in the order of the file.
    pub rules: Vec<Rule>,
    /// What happens when the program ends.
    pub at_exit: Vec<Transition>,
    /// Functions with a body that are not entered.
    pub skip: Vec<Glob>,
    /// What functions without a body return.
    pub models: Vec<Model>,
}

/// What the rules are about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// The variable that stands for it, without `$`.
    pub variable: String,
    /// How the program names it.
    pub handle: Handle,
}

/// How a program names an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handle {
    /// By a pointer; NULL is no object.
    Pointer,
    /// By a number; negative numbers are no objects.
    Number,
}

/// A state, by its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateId(pub u8);

/// A state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Its name.
    pub name: String,
}

/// What happens at some events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The events: any one of them.
    pub patterns: Vec<Pattern>,
    /// The first transition that applies is taken; without one the state stays as it is.
    pub transitions: Vec<Transition>,
}

/// An event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// What happens.
    pub event: Event,
    /// The line of the file where it is written.
    pub line: u32,
}

/// What a rule reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A call: `f(args)` in front of it, `$x = f(args)` behind it.
    Call {
        /// The variable that the result is bound to.
        result: Option<String>,
        /// The function.
        function: Glob,
        /// The arguments.
        arguments: Vec<Argument>,
        /// Whether there may be more arguments: `...`.
        more: bool,
    },
    /// An access to memory through a pointer: `*$x`.
    Access(String),
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// Anything: `_`.
    Any,
    /// Bound to a variable.
    Variable(String),
    /// This number.
    Number(i64),
}

/// A step of the automaton.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The states that it applies to.
    pub from: From,
    /// What must hold besides.
    pub guard: Option<Guard>,
    /// What it does.
    pub effect: Effect,
}

/// The states that a transition applies to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum From {
    /// All of them.
    Any,
    /// These.
    States(Vec<StateId>),
}

/// What a transition does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The object is in another state from then on.
    Goto(StateId),
    /// A rule is broken.
    Report(Severity, String),
    /// The run ends without an error.
    Stop,
}

/// How bad it is that a rule is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The run ends there.
    Error,
    /// The run goes on; only told on request.
    Warning,
}

/// A condition on bound variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guard {
    /// A comparison.
    Compare(Comparison, Operand, Operand),
    /// Both.
    And(Box<Guard>, Box<Guard>),
    /// One of them, or both.
    Or(Box<Guard>, Box<Guard>),
    /// Not this one.
    Not(Box<Guard>),
}

/// A comparison of two numbers. Pointers are compared as unsigned numbers, others as signed ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Comparison {
    Equal,
    Different,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// What is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A bound variable.
    Variable(String),
    /// A number.
    Number(i64),
}

/// What a function without a body does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// The function.
    pub function: Glob,
    /// What it returns.
    pub returns: Returns,
}

/// What a function without a body returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returns {
    /// It does not return.
    Never,
    /// A new object that can be read and written.
    Fresh,
    /// A new object, or NULL.
    FreshOrNull,
    /// Any pointer but NULL.
    NotNull,
}

impl Returns {
    /// Whether the result can be a new object.
    pub fn is_fresh(self) -> bool {
        matches!(self, Self::Fresh | Self::FreshOrNull)
    }
}

/// The name of a function, in which `*` stands for any characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(pub String);

impl Glob {
    /// Whether a name is meant.
    ///
    /// ```
    /// use wherefore_properties::Glob;
    ///
    /// assert!(Glob("log_*".to_owned()).matches("log_line"));
    /// assert!(!Glob("log_*".to_owned()).matches("syslog_"));
    /// ```
    pub fn matches(&self, name: &str) -> bool {
        let mut parts = self.0.split('*');
        let first = parts.next().unwrap_or_default();
        let Some(mut rest) = name.strip_prefix(first) else { return false };
        let mut parts: Vec<&str> = parts.collect();
        let Some(last) = parts.pop() else { return rest.is_empty() };
        for part in parts {
            match rest.find(part) {
                Some(at) => rest = &rest[at + part.len()..],
                None => return false,
            }
        }
        rest.ends_with(last)
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Transition {
    /// Whether it applies to a state, apart from its guard.
    pub fn applies_to(&self, state: StateId) -> bool {
        match &self.from {
            From::Any => true,
            From::States(states) => states.contains(&state),
        }
    }
}

impl Guard {
    /// Whether the condition holds, given the values of variables; `unsigned` says how a variable
    /// is compared.
    pub fn holds(&self, value: &impl Fn(&str) -> Option<i64>, unsigned: &impl Fn(&str) -> bool) -> bool {
        match self {
            Self::Compare(comparison, left, right) => {
                let of = |operand: &Operand| match operand {
                    Operand::Variable(name) => value(name),
                    Operand::Number(number) => Some(*number),
                };
                let is_unsigned = [left, right]
                    .iter()
                    .any(|side| matches!(side, Operand::Variable(name) if unsigned(name)));
                let (Some(left), Some(right)) = (of(left), of(right)) else { return false };
                let order = match is_unsigned {
                    true => (left as u64).cmp(&(right as u64)),
                    false => left.cmp(&right),
                };
                match comparison {
                    Comparison::Equal => order.is_eq(),
                    Comparison::Different => order.is_ne(),
                    Comparison::Less => order.is_lt(),
                    Comparison::LessOrEqual => order.is_le(),
                    Comparison::Greater => order.is_gt(),
                    Comparison::GreaterOrEqual => order.is_ge(),
                }
            }
            Self::And(left, right) => left.holds(value, unsigned) && right.holds(value, unsigned),
            Self::Or(left, right) => left.holds(value, unsigned) || right.holds(value, unsigned),
            Self::Not(inner) => !inner.holds(value, unsigned),
        }
    }

    /// The variables that it mentions.
    pub fn variables(&self) -> Vec<&str> {
        match self {
            Self::Compare(_, left, right) => [left, right]
                .into_iter()
                .filter_map(|side| match side {
                    Operand::Variable(name) => Some(name.as_str()),
                    Operand::Number(_) => None,
                })
                .collect(),
            Self::And(left, right) | Self::Or(left, right) => {
                left.variables().into_iter().chain(right.variables()).collect()
            }
            Self::Not(inner) => inner.variables(),
        }
    }
}

impl Property {
    /// Whether calls of a function are events.
    pub fn watches(&self, function: &str) -> bool {
        let is_meant = |pattern: &Pattern| match &pattern.event {
            Event::Call { function: glob, .. } => glob.matches(function),
            Event::Access(_) => false,
        };
        self.rules.iter().flat_map(|rule| &rule.patterns).any(is_meant)
    }

    /// Whether accesses to memory are events.
    pub fn watches_accesses(&self) -> bool {
        let is_access = |pattern: &Pattern| matches!(pattern.event, Event::Access(_));
        self.rules.iter().flat_map(|rule| &rule.patterns).any(is_access)
    }

    /// Whether a variable stands for the object.
    pub fn is_object(&self, variable: &str) -> bool {
        self.object.as_ref().is_some_and(|object| object.variable == variable)
    }

    /// What a model says about the result of a function without a body.
    pub fn model_of(&self, function: &str) -> Option<Returns> {
        self.models.iter().find(|model| model.function.matches(function)).map(|model| model.returns)
    }

    /// Whether the argument at a position of a function is the object of a rule.
    pub fn is_about(&self, function: &str, position: usize) -> bool {
        let is_about = |pattern: &Pattern| match &pattern.event {
            Event::Call { function: glob, arguments, .. } => {
                let object = match arguments.get(position) {
                    Some(Argument::Variable(name)) => self.is_object(name),
                    _ => false,
                };
                object && glob.matches(function)
            }
            Event::Access(_) => false,
        };
        self.rules.iter().flat_map(|rule| &rule.patterns).any(is_about)
    }

    /// Whether the result of a function is the object of a rule.
    pub fn creates(&self, function: &str) -> bool {
        let creates = |pattern: &Pattern| match &pattern.event {
            Event::Call { result: Some(result), function: glob, .. } => {
                glob.matches(function) && self.is_object(result)
            }
            _ => false,
        };
        self.rules.iter().flat_map(|rule| &rule.patterns).any(creates)
    }

    /// Whether a rule about a result says what becomes of a new object: not only what becomes of
    /// NULL, or of a negative number.
    pub fn lets_create(&self, rule: usize) -> bool {
        let Some(object) = &self.object else { return false };
        let new = match object.handle {
            Handle::Pointer => 0x1000,
            Handle::Number => 3,
        };
        let value = |name: &str| (name == object.variable).then_some(new);
        let is_for_new = |transition: &Transition| {
            let goes = matches!(transition.effect, Effect::Goto(_));
            goes && transition.guard.as_ref().is_none_or(|guard| guard.holds(&value, &|_| true))
        };
        self.rules.get(rule).is_some_and(|rule| rule.transitions.iter().any(is_for_new))
    }

    /// Whether some transition has a warning.
    pub fn has_warnings(&self) -> bool {
        let is_warning =
            |transition: &Transition| matches!(transition.effect, Effect::Report(Severity::Warning, _));
        self.rules.iter().flat_map(|rule| &rule.transitions).chain(&self.at_exit).any(is_warning)
    }
}
