//! A property as C: compiled into a program, it follows all objects at once.
//!
//! This is how a failing run is confirmed. It shares nothing with the instrumentation of the program
//! that engines see but the property itself.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::property::{
    Argument, Comparison, Effect, Event, From, Guard, Handle, Operand, Pattern, Property, Rule, Severity,
};

/// What is done around a call, as statements of C. The arguments are `a0` to `a5`, the result is
/// `r`, all of type `long`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Around {
    /// In front of the call.
    pub before: String,
    /// Behind it.
    pub after: String,
}

/// The functions take at most so many arguments.
const MOST_ARGUMENTS: usize = 6;

/// Definitions in C: the states of all objects, and a function for each rule. A broken rule is
/// told to `void wherefore_broken(const char *message, void *caller)`, which does not return.
pub fn definitions(property: &Property) -> String {
    let initial = property.initial.0;
    let mut out = format!(
        "struct followed {{ long object; int state; }};\nstatic struct followed followed[4096];\n\
         static unsigned followed_count;\n\
         PLAIN static struct followed *follow(long object) {{\n  \
         for (unsigned i = 0; i < followed_count; i++) if (followed[i].object == object) return followed + i;\n  \
         if (followed_count == 4096) _exit(1);\n  \
         followed[followed_count] = (struct followed){{object, {initial}}};\n  \
         return followed + followed_count++;\n}}\n"
    );
    for (number, rule) in property.rules.iter().enumerate() {
        let parameters: String =
            guard_variables(rule).iter().map(|name| format!(", long v_{name}")).collect();
        let _ = writeln!(
            out,
            "PLAIN static void wherefore_rule_{number}(void *caller, long object{parameters}) {{\n  \
             struct followed *f = follow(object);\n  int s = f->state;"
        );
        for transition in &rule.transitions {
            let from = match &transition.from {
                From::Any => "1".to_owned(),
                From::States(states) => {
                    let tests: Vec<String> = states.iter().map(|state| format!("s == {}", state.0)).collect();
                    tests.join(" || ")
                }
            };
            let guard = transition.guard.as_ref().map_or("1".to_owned(), |guard| condition(property, guard));
            let effect = match &transition.effect {
                Effect::Goto(state) => format!("f->state = {}; return;", state.0),
                Effect::Stop => "_exit(0);".to_owned(),
                Effect::Report(Severity::Error, message) => {
                    format!("wherefore_broken({}, caller); return;", quoted(message))
                }
                Effect::Report(Severity::Warning, _) => "return;".to_owned(),
            };
            let _ = writeln!(out, "  if (({from}) && ({guard})) {{ {effect} }}");
        }
        out.push_str("}\n");
    }
    out
}

/// What is done around a call of a function with so many arguments; none if it is no event, or if
/// an argument that matters is not among the first six.
pub fn around(property: &Property, function: &str, count: usize) -> Option<Around> {
    let mut around = Around::default();
    for (number, rule) in property.rules.iter().enumerate() {
        for pattern in &rule.patterns {
            let Event::Call { result, function: glob, arguments, more } = &pattern.event else { continue };
            let fits = arguments.len() == count || (*more && arguments.len() <= count);
            if !fits || !glob.matches(function) {
                continue;
            }
            let statement = call(property, (number, rule), pattern)?;
            match result {
                Some(_) => around.after.push_str(&statement),
                None => around.before.push_str(&statement),
            }
        }
    }
    (around != Around::default()).then_some(around)
}

fn call(property: &Property, (number, rule): (usize, &Rule), pattern: &Pattern) -> Option<String> {
    let Event::Call { result, arguments, .. } = &pattern.event else { return None };
    let mut tests = Vec::new();
    let mut values: Vec<(&str, String)> = Vec::new();
    for (at, argument) in arguments.iter().enumerate() {
        let value = match argument {
            Argument::Any => continue,
            _ if at >= MOST_ARGUMENTS => return None,
            Argument::Number(number) => {
                tests.push(format!("(int)a{at} == {number}"));
                continue;
            }
            Argument::Variable(name) => (name.as_str(), cast(property, name, &format!("a{at}"))),
        };
        values.push(value);
    }
    if let Some(name) = result {
        values.push((name.as_str(), cast(property, name, "r")));
    }
    let find = |name: &str| values.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
    let object = property.object.as_ref().map_or(Some("0".to_owned()), |object| find(&object.variable))?;
    let mut given = vec!["caller".to_owned(), object];
    for name in guard_variables(rule) {
        given.push(find(name)?);
    }
    let test = if tests.is_empty() { String::new() } else { format!("if ({}) ", tests.join(" && ")) };
    Some(format!("  {test}wherefore_rule_{number}({});\n", given.join(", ")))
}

/// A value as the rules read it: objects that are numbers have the type `int`. Other values are
/// only followed if they are no pointers, or compared with NULL.
fn cast(property: &Property, variable: &str, value: &str) -> String {
    let is_number = property
        .object
        .as_ref()
        .is_some_and(|object| object.variable == variable && object.handle == Handle::Number);
    if is_number { format!("(int){value}") } else { value.to_owned() }
}

fn guard_variables(rule: &Rule) -> BTreeSet<&str> {
    rule.transitions
        .iter()
        .filter_map(|transition| transition.guard.as_ref())
        .flat_map(Guard::variables)
        .collect()
}

fn condition(property: &Property, guard: &Guard) -> String {
    match guard {
        Guard::And(a, b) => format!("({}) && ({})", condition(property, a), condition(property, b)),
        Guard::Or(a, b) => format!("({}) || ({})", condition(property, a), condition(property, b)),
        Guard::Not(inner) => format!("!({})", condition(property, inner)),
        Guard::Compare(comparison, left, right) => {
            let is_pointer = |side: &Operand| match side {
                Operand::Variable(name) => property
                    .object
                    .as_ref()
                    .is_some_and(|object| object.variable == *name && object.handle == Handle::Pointer),
                Operand::Number(_) => false,
            };
            let ty = if is_pointer(left) || is_pointer(right) { "unsigned long" } else { "long" };
            let of = |side: &Operand| match side {
                Operand::Variable(name) => format!("({ty})v_{name}"),
                Operand::Number(number) => format!("({ty}){number}L"),
            };
            let sign = match comparison {
                Comparison::Equal => "==",
                Comparison::Different => "!=",
                Comparison::Less => "<",
                Comparison::LessOrEqual => "<=",
                Comparison::Greater => ">",
                Comparison::GreaterOrEqual => ">=",
            };
            format!("{} {sign} {}", of(left), of(right))
        }
    }
}

/// A text as a literal of C.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => {
                out.push('\\');
                out.push(char::from(byte));
            }
            b' '..=b'~' => out.push(char::from(byte)),
            other => {
                let _ = write!(out, "\\{other:03o}");
            }
        }
    }
    out.push('"');
    out
}
