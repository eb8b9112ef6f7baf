//! Runs that break a rule of a property, by the compiled program.
//!
//! The objects of the program are changed so that calls which the rules are about go to functions of
//! the harness. These tell the rules, in C and for all objects at once, and then return what the run
//! says, or call the real function. The run is confirmed if the first rule that is broken is broken
//! at the place of the check.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use wherefore_program::{
    EdgeRef, ErrorKind, ErrorSite, Monitor, Monitored, Operation, Program, Recipe, ViolationKind,
};

use super::Replay;
use super::place::{Compiled, Place};
use super::text::FAILED;

/// Printed when a rule is broken, in front of the address of the call and the message.
const MARK: &str = "wherefore: a rule is broken at ";

/// What the names of our functions begin with.
const PREFIX: &str = "wherefore_watched_";

/// The rules that a compiled program is watched by.
#[derive(Clone, Debug)]
pub(crate) struct Watched<'a> {
    monitor: &'a Monitor,
    place: Place,
}

impl<'a> Watched<'a> {
    /// The rules, if a check is about them.
    pub fn at(program: &Program, site: &ErrorSite, recipe: &'a Recipe) -> Option<Self> {
        let ErrorKind::Violation(ViolationKind::Property(_)) = site.kind else { return None };
        let place = Place::of(program, program.location(site.node).span, &recipe.files);
        Some(Self { monitor: recipe.monitor.as_ref()?, place })
    }

    /// Whether a step chooses the object that is followed.
    pub fn chooses(&self, program: &Program, edge: EdgeRef) -> bool {
        match &program.edge(edge).operation {
            Operation::Havoc(targets) => {
                matches!(targets.as_slice(), [only] if Some(only.variable) == self.monitor.object)
            }
            _ => false,
        }
    }

    /// Definitions for the harness.
    pub fn definitions(&self) -> String {
        format!(
            "PLAIN static void wherefore_broken(const char *message, void *caller) {{\n  \
             say(\"\\n{MARK}\"); say_place(caller); say(\" \"); say(message); say(\"\\n\");\n  \
             _exit({FAILED});\n}}\n\
             PLAIN static void *wherefore_object(void) {{\n  static char objects[4096][256];\n  \
             static unsigned count;\n  return count < 4096 ? objects[count++] : 0;\n}}\n{}",
            self.monitor.definitions
        )
    }

    /// The functions that watched calls go to. `defined` are functions of the harness.
    pub fn wrappers(&self, defined: &BTreeSet<String>) -> String {
        let mut out = String::new();
        for call in &self.monitor.calls {
            let name = &call.function;
            let result = match call.kind {
                _ if defined.contains(name) && call.kind != Monitored::Defined => {
                    format!("(long){name}(a0, a1, a2, a3, a4, a5)")
                }
                Monitored::Defined => {
                    let _ = writeln!(out, "extern long real_{name}() __asm__(\"{name}\");");
                    format!("real_{name}(a0, a1, a2, a3, a4, a5)")
                }
                Monitored::Fresh | Monitored::Input => "0".to_owned(),
            };
            let _ = writeln!(
                out,
                "PLAIN long {PREFIX}{name}(long a0, long a1, long a2, long a3, long a4, long a5) {{\n  \
                 void *caller = __builtin_return_address(0);\n  long r;\n{}  r = {result};\n{}  return r;\n}}",
                call.before, call.after
            );
        }
        out
    }

    /// Options of `objcopy` for the objects of the program.
    pub fn redefinitions(&self) -> Vec<String> {
        let names = self.monitor.calls.iter().map(|call| &call.function);
        names.map(|name| format!("--redefine-sym={name}={PREFIX}{name}")).collect()
    }

    /// What a run has told; none if no rule was broken.
    pub fn judge(&self, said: &str, program: &Path) -> Option<Replay> {
        let outcome = self.outcome(said, program);
        // Without some of the calls, only a rule that is broken at the place of the check counts.
        match (&self.monitor.unwatched, outcome) {
            (_, Some(Replay::Confirmed { note, report })) => Some(Replay::Confirmed { note, report }),
            (Some(name), _) => {
                let why = format!("the program defines `{name}` itself, and its calls cannot be watched");
                Some(Replay::NotReplayed { why })
            }
            (None, outcome) => outcome,
        }
    }

    fn outcome(&self, said: &str, program: &Path) -> Option<Replay> {
        let line = said.lines().find_map(|line| line.strip_prefix(MARK))?;
        let (address, message) = line.split_once(' ')?;
        Some(match Compiled::of(program, address) {
            Compiled::NoTool => {
                let why = "a rule is broken, but there is no `addr2line` to say where".to_owned();
                Replay::NotReplayed { why }
            }
            Compiled::Unknown => {
                Replay::NotReplayed { why: "a rule is broken, but it is not known where".to_owned() }
            }
            Compiled::At(file, line) if self.place.has(&file, line) => {
                Replay::Confirmed { note: None, report: None }
            }
            Compiled::At(file, line) => {
                Replay::NotConfirmed { why: format!("it breaks a rule at {file}:{line} instead: {message}") }
            }
        })
    }
}
