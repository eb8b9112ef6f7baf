//! Runs that break a rule of a property, by the compiled program.
//!
//! The objects of the program are changed so that calls which the rules are about go to functions of
//! the harness. These tell the rules, in C and for all objects at once, and then return what the run
//! says, or call the real function. The run is confirmed if the first rule that is broken is broken
//! at the place of the check.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use wherefore_program::{
    EdgeRef, ErrorKind, ErrorSite, Monitor, Monitored, Operation, Program, Recipe, Span, ViolationKind,
};

use super::Replay;
use super::text::FAILED;

/// Printed when a rule is broken, in front of the address of the call and the message.
const MARK: &str = "wherefore: a rule is broken at ";

/// What the names of our functions begin with.
const PREFIX: &str = "wherefore_watched_";

/// The rules that a compiled program is watched by.
#[derive(Clone, Debug)]
pub(crate) struct Watched<'a> {
    monitor: &'a Monitor,
    file: String,
    /// What the file is called where it is compiled: some tools know no other name of it.
    compiled: Option<String>,
    first_line: u32,
    last_line: u32,
}

impl<'a> Watched<'a> {
    /// The rules, if a check is about them.
    pub fn at(program: &Program, site: &ErrorSite, recipe: &'a Recipe) -> Option<Self> {
        let ErrorKind::Violation(ViolationKind::Property(_)) = site.kind else { return None };
        let span = program.location(site.node).span;
        let file = program.source(span).name().to_owned();
        let first_line = program.position(span).line;
        let last = Span { start: span.end, ..span };
        let last_line = program.position(last).line.max(first_line);
        let unit = recipe.files.iter().position(|unit| *unit == Path::new(&file));
        let compiled = unit.map(|unit| format!("{unit}.c"));
        Some(Self { monitor: recipe.monitor.as_ref()?, file, compiled, first_line, last_line })
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
            "extern char __executable_start[];\n\
             PLAIN static void wherefore_broken(const char *message, void *caller) {{\n  \
             unsigned long at = (char *)caller - __executable_start - 1;\n  char digits[17] = {{0}};\n  \
             for (int i = 15; i >= 0; i--, at >>= 4) digits[i] = \"0123456789abcdef\"[at & 15];\n  \
             say(\"\\n{MARK}\"); say(digits); say(\" \"); say(message); say(\"\\n\");\n  _exit({FAILED});\n}}\n\
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
                _ if defined.contains(name) && call.kind != Monitored::Defined => format!("(long){name}()"),
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
        let mut tool = Command::new("addr2line");
        let output = tool.arg("-e").arg(program).arg(format!("0x{address}")).output();
        let place = match output {
            Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
            _ => {
                let why = "a rule is broken, but there is no `addr2line` to say where".to_owned();
                return Some(Replay::NotReplayed { why });
            }
        };
        let place = place.split_whitespace().next().unwrap_or_default();
        let (file, line) = place.rsplit_once(':')?;
        let name = Path::new(file).file_name();
        let is_file = name == Path::new(&self.file).file_name()
            || self.compiled.as_deref().is_some_and(|compiled| name == Path::new(compiled).file_name());
        let is_here =
            is_file && line.parse().is_ok_and(|line: u32| (self.first_line..=self.last_line).contains(&line));
        Some(if is_here {
            Replay::Confirmed { note: None, report: None }
        } else if line.parse::<u32>().is_ok() {
            Replay::NotConfirmed { why: format!("it breaks a rule at {file}:{line} instead: {message}") }
        } else {
            Replay::NotReplayed { why: "a rule is broken, but it is not known where".to_owned() }
        })
    }
}
