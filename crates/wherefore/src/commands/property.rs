//! Properties of C programs in words; and those that speak of nothing in a program, which hold
//! whatever it does. "Safe" is true then, and says little: the name may be misspelt, or the
//! property may be that of another program.

use wherefore_frontend::c::{Mentions, Property};
use wherefore_program::ViolationKind;

use super::c::CSubject;

/// Why a property holds of a program vacuously, with what could be asked instead; none if it names
/// something that occurs, or is the usual one, which was not named.
pub fn vacuity(property: &Property, mentions: &Mentions) -> Option<String> {
    if *property == Property::All || mentions.includes(property) {
        return None;
    }
    let asked = match property {
        Property::All => return None,
        // Only undefined behaviour is asked about.
        Property::Calls(names) if names.is_empty() => return None,
        Property::Calls(names) => {
            format!("calls of {}, which the program neither declares nor calls", quoted(names))
        }
        Property::Labels(names) => {
            let labels = if names.len() == 1 { "label" } else { "labels" };
            format!("the {labels} {}, which no function of the program has", quoted(names))
        }
        Property::Assertions => "assertions, and no function of the program has one".to_owned(),
    };
    Some(format!("the property asks about {asked}; {}", offer(mentions)))
}

/// Why there is nothing to check for the usual property.
pub fn nothing(c: &CSubject) -> String {
    if c.is_cimple() {
        return "no assertion, no error function, no error label".to_owned();
    }
    let labels: Vec<&str> = c.mentions.error_labels().collect();
    match labels.as_slice() {
        [] => "no assertion, no error function".to_owned(),
        [first, ..] => format!(
            "no assertion, no error function; a label is an error if asked for (--error-label {first})"
        ),
    }
}

/// What there is to ask about, with the options that do.
fn offer(mentions: &Mentions) -> String {
    let functions = mentions.error_functions().map(|name| format!("`{name}` (--error-function {name})"));
    let labels = mentions.error_labels().map(|name| format!("the label `{name}` (--error-label {name})"));
    let assertions = mentions.has_assertions().then(|| "assertions (--assertions)".to_owned());
    let all: Vec<String> = functions.chain(labels).chain(assertions).collect();
    match all.as_slice() {
        [] => "it has no assertion, no error function and no error label either".to_owned(),
        [one] => format!("it has {one}"),
        [first @ .., last] => format!("it has {} and {last}", first.join(", ")),
    }
}

/// What must not happen, in words.
pub fn words(c: &CSubject) -> String {
    let library =
        c.options.library.as_ref().map(|rules| {
            format!("the rules of `{}` are kept ({})", rules.property.name, rules.property.title)
        });
    let own = match &c.options.property {
        Property::All => {
            let labels = if c.is_cimple() { ", no error label" } else { "" };
            format!("no failed assertion, no call of `reach_error` or `__VERIFIER_error`{labels}")
        }
        Property::Calls(names) if names.is_empty() => String::new(),
        Property::Calls(names) => format!("no call of {}", quoted(names)),
        Property::Labels(names) => format!("no run comes to the label {}", quoted(names)),
        Property::Assertions => "no failed assertion".to_owned(),
    };
    let claims = match c.options.checks.contains(&ViolationKind::Claim) {
        true => "all claims hold",
        false => "",
    };
    let kinds = c.options.checks.iter().filter(|kind| **kind != ViolationKind::Claim);
    let (threads, rules): (Vec<ViolationKind>, Vec<ViolationKind>) =
        kinds.partition(|kind| ViolationKind::THREADS.contains(kind));
    let names: Vec<&str> = rules.iter().map(|kind| kind.name()).collect();
    let rules = if names.is_empty() {
        String::new()
    } else {
        format!("no undefined behaviour ({})", names.join(", "))
    };
    let about_threads = threads.into_iter().map(|kind| {
        let words = match kind {
            ViolationKind::Race => "no data race",
            ViolationKind::Deadlock => "no deadlock",
            _ => "no misuse of a lock",
        };
        words.to_owned()
    });
    [own, rules, claims.to_owned()]
        .into_iter()
        .chain(library)
        .chain(about_threads)
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("; ")
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ")
}
