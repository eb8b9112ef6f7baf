//! Places of the program that the compiled program tells by addresses of its code.
//!
//! The compiled program may reach another error than the one that a run was found for: if the run
//! rests on a value that is approximated, or that was not fed. It then confirms nothing, so that
//! errors tell where they were reached.

use std::path::{Path, PathBuf};
use std::process::Command;

use wherefore_program::{ErrorKind, ErrorSite, Program, Span, Task};

use super::Replay;

/// Defines a function for the harness that prints where a call is, as [`Compiled::of`] reads it.
pub(crate) const SAY_PLACE: &str = "extern char __executable_start[];
PLAIN static void say_place(void *caller) {
  unsigned long at = (unsigned long)caller - 1;
#ifdef __PIE__
  at -= (unsigned long)__executable_start;
#endif
  char digits[17] = {0};
  for (int i = 15; i >= 0; i--, at >>= 4) digits[i] = \"0123456789abcdef\"[at & 15];
  say(digits);
}
";

/// Lines of a file.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    file: String,
    /// What the file is called where it is compiled: some tools know no other name of it.
    compiled: Option<String>,
    first_line: u32,
    last_line: u32,
}

impl Place {
    /// The lines of a span. `units` are the files that are compiled.
    pub fn of(program: &Program, span: Span, units: &[PathBuf]) -> Self {
        let file = program.source(span).name().to_owned();
        let first_line = program.position(span).line;
        let last = Span { start: span.end, ..span };
        let last_line = program.position(last).line.max(first_line);
        let unit = units.iter().position(|unit| *unit == Path::new(&file));
        Self { compiled: unit.map(|unit| format!("{unit}.c")), file, first_line, last_line }
    }

    /// Whether a line of a file is one of these.
    pub fn has(&self, file: &str, line: u32) -> bool {
        let name = Path::new(file).file_name();
        let is_file = name == Path::new(&self.file).file_name()
            || self.compiled.as_deref().is_some_and(|compiled| name == Path::new(compiled).file_name());
        is_file && (self.first_line..=self.last_line).contains(&line)
    }
}

/// Where in the program an address of the compiled one is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Compiled {
    /// A line of a file.
    At(String, u32),
    /// The tables for debuggers do not say it.
    Unknown,
    /// There is no tool that reads them.
    NoTool,
}

impl Compiled {
    /// The place of an address, in hexadecimal digits. **Requires:** compiled with `-g1`.
    pub fn of(program: &Path, address: &str) -> Self {
        let output = Command::new("addr2line").arg("-e").arg(program).arg(format!("0x{address}")).output();
        let said = match output {
            Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
            _ => return Self::NoTool,
        };
        let place = said.split_whitespace().next().and_then(|place| place.rsplit_once(':'));
        match place.map(|(file, line)| (file, line.parse())) {
            Some((file, Ok(line))) => Self::At(file.to_owned(), line),
            _ => Self::Unknown,
        }
    }
}

/// The error that a run ends at, and the others of its program.
#[derive(Clone, Debug)]
pub(crate) struct ErrorPlace {
    own: Place,
    others: Vec<Place>,
}

impl ErrorPlace {
    /// The place of a check among those of its task; none if there is no other one, or if the check
    /// is about a rule of C.
    pub fn at(task: &Task, site: &ErrorSite, units: &[PathBuf]) -> Option<Self> {
        let shows = |site: &ErrorSite| {
            matches!(site.kind, ErrorKind::Call(_) | ErrorKind::Assertion | ErrorKind::Label(_))
        };
        let place = |site: &ErrorSite| Place::of(&task.program, task.program.location(site.node).span, units);
        let others = task.checks.iter().filter(|other| other.node != site.node && shows(other));
        let others: Vec<Place> = others.map(place).collect();
        (shows(site) && !others.is_empty()).then(|| Self { own: place(site), others })
    }

    /// Why a run that has reached an error at an address does not confirm this one, if so.
    pub fn contradicts(&self, program: &Path, address: &str) -> Option<Replay> {
        let Compiled::At(file, line) = Compiled::of(program, address) else { return None };
        if self.own.has(&file, line) {
            return None;
        }
        let other = self.others.iter().find(|other| other.has(&file, line))?;
        Some(Replay::NotConfirmed { why: format!("it fails at {}:{line} instead", other.file) })
    }
}
