//! The rules of C that a step can break, so that its behaviour is undefined.
//!
//! A front end puts a check in front of a step that can break a rule: a location of kind
//! [`Assert`](crate::LocationKind::Assert), whose edge to an error carries the [`Violation`].

use std::fmt;
use std::sync::Arc;

use crate::expression::{Expr, Var};
use crate::interpret::{Interpreter, State};
use crate::program::{EdgeRef, LocationKind, Node, Operation, Program};
use crate::source::Span;

/// What a check of [`ViolationKind::Bounds`] says of an access outside of a whole object, rather than
/// outside of an array that may be a part of one.
pub const OUTSIDE_OF_OBJECT: &str = "is outside of its object";

/// The kinds of violations. Options, JSON and SARIF know them by [`ViolationKind::name`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ViolationKind {
    /// A null pointer is followed.
    Null,
    /// An access is outside of its array or object, or at an address where there is none.
    Bounds,
    /// Memory is used that was freed.
    UseAfterFree,
    /// A local object is used after its scope has ended.
    UseAfterScope,
    /// Memory is freed a second time.
    DoubleFree,
    /// Something is freed that is not the start of memory from `malloc` and the like.
    InvalidFree,
    /// Memory is not freed at the end.
    Leak,
    /// A division by zero, or of the least number by -1.
    Division,
    /// The result of signed arithmetic does not fit into its type.
    Overflow,
    /// A shift by the width or more, or by a negative number.
    Shift,
    /// A built-in function of the compiler is called where its result is not defined.
    Builtin,
    /// Two threads access one object at the same time, one of them writes, and not both accesses
    /// are atomic.
    Race,
    /// No thread can move, and the program has not ended.
    Deadlock,
    /// A lock is used against its rules.
    Lock,
    /// A library is used against the rules of the property with this name.
    Property(&'static str),
    /// A condition does not hold that was claimed to hold, by an annotation or a witness.
    Claim,
}

impl ViolationKind {
    /// Those about threads.
    pub const THREADS: [Self; 3] = [Self::Race, Self::Deadlock, Self::Lock];

    /// All that the language has: those of properties have names of their own.
    pub const ALL: [Self; 14] = [
        Self::Null,
        Self::Bounds,
        Self::UseAfterFree,
        Self::UseAfterScope,
        Self::DoubleFree,
        Self::InvalidFree,
        Self::Leak,
        Self::Division,
        Self::Overflow,
        Self::Shift,
        Self::Builtin,
        Self::Race,
        Self::Deadlock,
        Self::Lock,
    ];

    /// The name as options and JSON have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bounds => "bounds",
            Self::UseAfterFree => "use-after-free",
            Self::UseAfterScope => "use-after-scope",
            Self::DoubleFree => "double-free",
            Self::InvalidFree => "invalid-free",
            Self::Leak => "leak",
            Self::Division => "division",
            Self::Overflow => "overflow",
            Self::Shift => "shift",
            Self::Builtin => "builtin",
            Self::Race => "race",
            Self::Deadlock => "deadlock",
            Self::Lock => "lock",
            Self::Property(name) => name,
            Self::Claim => "claim",
        }
    }
}

impl fmt::Display for ViolationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How a step can break a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule.
    pub kind: ViolationKind,
    /// The expression that breaks it.
    pub subject: Span,
    /// What happens, in words that follow the expression: "is outside of its array of 8 elements".
    pub text: String,
    /// Numbers that show it, in the state in front of the error: a name, the value, and whether it
    /// is signed.
    pub shown: Vec<(String, Expr, bool)>,
    /// What is said instead if the last state is known.
    pub messages: Option<Box<Messages>>,
}

/// Messages that depend on the last state of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Messages {
    /// The first message whose condition holds is said. It may mention `$origin` and `$since`.
    pub cases: Vec<(Expr, String)>,
    /// The numbers of the places that messages mention, each behind the name without `$`.
    pub places: Vec<(&'static str, Expr)>,
    /// Whether a run ends there that keeps all rules on its way.
    pub at_exit: bool,
    /// The variable that holds the state of the automaton.
    pub state: Var,
    /// The places, from number 1 on.
    pub known: Arc<Vec<CallPlace>>,
}

/// A call in the source, as messages name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallPlace {
    /// The function that is called.
    pub function: String,
    /// The file.
    pub file: String,
    /// The line.
    pub line: u32,
}

impl Program {
    /// The violation that a location stands for.
    pub fn violation(&self, node: Node) -> Option<&Violation> {
        self.location(node).violation.as_deref()
    }

    /// Whether a step is that a rule is kept: it leads from a check of a rule, but not to its
    /// error.
    pub fn keeps_rule(&self, edge: EdgeRef) -> bool {
        let body = self.procedure(edge.procedure);
        let step = body.edge(edge.edge);
        if body.location(step.from).kind != LocationKind::Assert {
            return false;
        }
        let breaks = |to| {
            let location = body.location(to);
            location.kind == LocationKind::Error && location.violation.is_some()
        };
        !breaks(step.to) && body.edges_from(step.from).any(|(_, other)| breaks(other.to))
    }

    /// The same program, in which checks of rules do not stop runs: the steps that rules are kept
    /// have no condition. This is how a failing run is looked at: that it broke no rule before is
    /// not what its failure depends on.
    pub fn with_rules_ignored(&self) -> Program {
        let mut program = self.clone();
        for (procedure, body) in self.procedures() {
            for (i, _) in body.edges.iter().enumerate() {
                let edge = crate::program::EdgeId(i as u32);
                if self.keeps_rule(EdgeRef { procedure, edge }) {
                    let body = &mut program.procedures[procedure.0 as usize];
                    body.edges[i].operation = Operation::Skip;
                }
            }
        }
        program
    }

    /// What breaks the rule that a location stands for: "`a[i]`".
    pub fn violation_subject(&self, node: Node) -> Option<String> {
        let violation = self.violation(node)?;
        let text = self.source(violation.subject).text();
        match text.get(violation.subject.start as usize..violation.subject.end as usize)? {
            "" => Some(violation.text.trim_end_matches(" does not hold").to_owned()),
            subject => Some(format!("`{}`", shortened(subject))),
        }
    }

    /// What a run does that ends at an error, in one sentence without a full stop: "`a[i]` is
    /// outside of its array of 8 elements (index = 8)". `last` is the state at the error.
    pub fn violation_in_words(&self, node: Node, last: Option<&State>) -> Option<String> {
        let violation = self.violation(node)?;
        if let Some(words) = last.and_then(|last| self.message_in_words(violation, last)) {
            return Some(words);
        }
        let text = self.source(violation.subject).text();
        let subject = text.get(violation.subject.start as usize..violation.subject.end as usize)?;
        let mut words = match subject {
            // The text says it all.
            "" => violation.text.clone(),
            _ => format!("`{}` {}", shortened(subject), violation.text),
        };
        let shown: Vec<String> = last
            .into_iter()
            .flat_map(|state| {
                violation.shown.iter().filter_map(move |(name, value, signed)| {
                    let bits = Interpreter::new(self).evaluate(state, value)?;
                    let shift = 64 - value.ty.width();
                    let number = match signed {
                        true => (((bits << shift) as i64) >> shift).to_string(),
                        false => bits.to_string(),
                    };
                    Some(format!("{name} = {number}"))
                })
            })
            .collect();
        if !shown.is_empty() {
            words.push_str(&format!(" ({})", shown.join(", ")));
        }
        Some(words)
    }
}

impl Program {
    /// The message for a state at the error.
    fn message_in_words(&self, violation: &Violation, last: &State) -> Option<String> {
        let messages = violation.messages.as_deref()?;
        let interpreter = Interpreter::new(self);
        let holds = |condition: &Expr| interpreter.evaluate(last, condition) == Some(1);
        let (_, text) = messages.cases.iter().find(|(condition, _)| holds(condition))?;
        let here = self.source(violation.subject).name();
        let mut words = text.clone();
        for (name, number) in &messages.places {
            let number = interpreter.evaluate(last, number)? as usize;
            let place = number.checked_sub(1).and_then(|at| messages.known.get(at));
            let place = match place {
                Some(place) if place.file == here => format!("`{}` at line {}", place.function, place.line),
                Some(place) => format!("`{}` at {}:{}", place.function, place.file, place.line),
                None => "no call".to_owned(),
            };
            words = words.replace(&format!("${name}"), &place);
        }
        Some(words)
    }
}

/// A part of the source on one line, with its middle left out if it is long.
fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let count = line.chars().count();
    if count <= LONGEST_SUBJECT {
        return line;
    }
    let half = LONGEST_SUBJECT / 2;
    let head: String = line.chars().take(half).collect();
    let tail: String = line.chars().skip(count - half).collect();
    format!("{} … {}", head.trim_end(), tail.trim_start())
}

/// So many characters of the source are quoted at most.
const LONGEST_SUBJECT: usize = 80;
