//! Violations of rules of C, as the sanitizers of the compiler report them.
//!
//! A run that breaks a rule does not fail by itself: it goes on with undefined behaviour. So the
//! program is compiled with the sanitizers for that rule, and the run is confirmed if they report
//! the place that the check is at.

use std::path::Path;

use wherefore_program::markers::first_line_of;
use wherefore_program::{ErrorKind, ErrorSite, Program, ViolationKind};

use super::Replay;

/// A rule that a run breaks, and where.
#[derive(Clone, Debug)]
pub(crate) struct Broken {
    kind: ViolationKind,
    whole_objects: bool,
    file: String,
    first_line: u32,
    last_line: u32,
    /// Whether a call of `abs` or the like breaks it.
    is_absolute: bool,
    /// Whether a number that is shifted to the left may break it.
    is_shifted: bool,
    /// Whether it is about numbers of 128 bits.
    is_wide: bool,
}

/// What names standard input, and the file that it was written to.
const STANDARD_INPUT: (&str, &str) = ("-", "stdin.c");

impl Broken {
    /// The rule that a run to this check breaks, if it breaks one.
    /// With `whole_objects`, an index that stays inside of the whole object breaks none.
    pub fn at(program: &Program, site: &ErrorSite, whole_objects: bool) -> Option<Self> {
        let ErrorKind::Violation(kind) = site.kind else { return None };
        if matches!(kind, ViolationKind::Property(_)) {
            return None;
        }
        let span = program.location(site.node).span;
        let file = match program.source(span).name() {
            name if name == STANDARD_INPUT.0 => STANDARD_INPUT.1.to_owned(),
            name => name.to_owned(),
        };
        let is_absolute =
            kind == ViolationKind::Overflow && program.procedure(site.node.procedure).name.contains("abs");
        let is_wide = program.procedure(site.node.procedure).name.starts_with("__builtin_own_wide");
        let first_line = program.position(span).line;
        let last = wherefore_program::Span { start: span.end, ..span };
        let last_line = program.position(last).line.max(first_line);
        let text = program.source(span).text().get(span.start as usize..span.end as usize);
        let is_shifted =
            kind == ViolationKind::Overflow && whole_objects && text.is_some_and(|text| text.contains("<<"));
        Some(Self { kind, whole_objects, file, first_line, last_line, is_absolute, is_shifted, is_wide })
    }

    fn uses_address_sanitizer(&self) -> bool {
        !matches!(
            self.kind,
            ViolationKind::Overflow | ViolationKind::Shift | ViolationKind::Division | ViolationKind::Builtin
        )
    }

    /// The options of the compiler. Signed arithmetic must not be defined to wrap; to trap is better
    /// than to be undefined, for compilers then do not conclude that `x + 1 > x`.
    pub fn flags(&self) -> Vec<String> {
        let sanitizers = match self.kind {
            ViolationKind::Overflow if self.is_shifted => {
                "signed-integer-overflow,integer-divide-by-zero,shift-base"
            }
            ViolationKind::Overflow => "signed-integer-overflow,integer-divide-by-zero",
            ViolationKind::Shift => "shift-exponent",
            ViolationKind::Builtin => "builtin,unreachable",
            ViolationKind::Division => "integer-divide-by-zero",
            ViolationKind::Null => "null,address",
            ViolationKind::Bounds if !self.whole_objects => "bounds,address",
            _ => "address",
        };
        let mut flags = vec![format!("-fsanitize={sanitizers}"), "-fno-sanitize-recover=all".to_owned()];
        // Sums of 128 bits would trap in front of the report.
        let traps = if self.is_wide { "-fno-trapv" } else { "-ftrapv" };
        flags.extend(["-fno-wrapv", traps, "-g1"].map(str::to_owned));
        if self.is_absolute {
            // Only what the compiler computes itself is watched.
            let own = ["abs", "labs", "llabs"].map(|name| format!("-D{name}=__builtin_{name}"));
            flags.extend(own);
        }
        flags
    }

    /// Whether the sanitizers reserve more addresses than a limit on memory allows.
    pub fn needs_addresses(&self) -> bool {
        self.uses_address_sanitizer()
    }

    /// An option with which objects that are defined without an initial value have a zone around
    /// them. Files may then not share such a definition.
    pub fn apart(&self) -> Option<&'static str> {
        self.uses_address_sanitizer().then_some("-fno-common")
    }

    /// A text with objects before and after all others, so that the outermost ones have a zone
    /// around them too.
    pub fn fenced(&self, text: String) -> String {
        if !self.uses_address_sanitizer() {
            return text;
        }
        let fence = |name: &str| {
            let object = "__attribute__((used)) static";
            format!(
                "{object} char wherefore_{name}_zero[64]; {object} char wherefore_{name}[64] = {{1}}; \
                 {object} const char wherefore_{name}_const[64] = {{1}};\n"
            )
        };
        format!("{}{}{text}\n{}", fence("low"), first_line_of(&self.file), fence("high"))
    }

    /// Definitions for the harness.
    pub fn definitions(&self) -> &'static str {
        match self.uses_address_sanitizer() {
            true => {
                "PLAIN const char *__asan_default_options(void) {\n  \
                 return \"detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=2048:\"\n    \
                 \"detect_stack_use_after_return=1\";\n}\n\
                 PLAIN const char *__ubsan_default_options(void) { return \"print_stacktrace=1\"; }\n"
            }
            false => "PLAIN const char *__ubsan_default_options(void) { return \"print_stacktrace=1\"; }\n",
        }
    }

    /// What the reports say about the run; none if there is no report.
    pub fn judge(&self, said: &str) -> Option<Replay> {
        let Some(report) = first_report(said, &self.file) else {
            // Where a null pointer was called from is not on the stack that is shown.
            let called = self.kind == ViolationKind::Null && said.contains("pc points to the zero page");
            let what = "AddressSanitizer: a null pointer is called".to_owned();
            return called.then(|| Replay::Confirmed { note: Some(what), report: Some(said.to_owned()) });
        };
        let same_file = Path::new(&report.file).file_name() == Path::new(&self.file).file_name();
        if same_file && (self.first_line..=self.last_line).contains(&report.line) {
            return Some(Replay::Confirmed { note: Some(report.what), report: Some(said.to_owned()) });
        }
        Some(Replay::NotConfirmed {
            why: format!("it fails at {}:{} instead: {}", report.file, report.line, report.what),
        })
    }
}

struct Report {
    what: String,
    file: String,
    line: u32,
}

/// The first report of a sanitizer, with its innermost place in the program.
fn first_report(said: &str, file: &str) -> Option<Report> {
    let mut lines = said.lines();
    while let Some(line) = lines.next() {
        if let Some((place, what)) = line.split_once(": runtime error: ") {
            let (file, line) = place_of(place)?;
            return Some(Report { what: what.trim().to_owned(), file, line });
        }
        let Some((_, what)) = line.split_once("ERROR: AddressSanitizer: ") else { continue };
        let words: Vec<&str> = what.split_whitespace().take_while(|word| *word != "on").collect();
        let what = format!("AddressSanitizer: {}", words.join(" "));
        let name = Path::new(file).file_name()?;
        for frame in lines.by_ref() {
            let Some(place) =
                frame.trim().starts_with('#').then(|| frame.split_whitespace().last()).flatten()
            else {
                continue;
            };
            if let Some((file, line)) = place_of(place) {
                if Path::new(&file).file_name() == Some(name) {
                    return Some(Report { what, file, line });
                }
            }
        }
        return None;
    }
    None
}

/// `file:line` or `file:line:column`.
fn place_of(place: &str) -> Option<(String, u32)> {
    let mut parts: Vec<&str> = place.trim().split(':').collect();
    let mut line: u32 = parts.pop()?.parse().ok()?;
    if parts.len() > 1 {
        if let Ok(number) = parts[parts.len() - 1].parse() {
            line = number;
            parts.pop();
        }
    }
    Some((parts.join(":"), line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_name_the_innermost_place_in_the_program() {
        let text = "==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x602 at pc 0x4\n\
                    READ of size 4 at 0x602 thread T0\n    #0 0x7f in memcpy (/lib/libasan.so.8+0x1)\n    \
                    #1 0x55 in main folder/a.c:12\n";
        let report = first_report(text, "other/a.c").unwrap();
        assert_eq!((report.file.as_str(), report.line), ("folder/a.c", 12));
        assert_eq!(report.what, "AddressSanitizer: heap-use-after-free");
        let text = "a.c:4:33: runtime error: index 8 out of bounds for type 'int [8]'\n";
        let report = first_report(text, "a.c").unwrap();
        assert_eq!((report.line, report.what.as_str()), (4, "index 8 out of bounds for type 'int [8]'"));
    }
}
