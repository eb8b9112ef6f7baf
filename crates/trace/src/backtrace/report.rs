//! What happened, in the words of a debugger or a sanitizer.

use wherefore_program::ViolationKind;

use super::Frame;
use super::frames::place_of;

/// What happened at the crash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Happened {
    /// The words of the text: `SIGSEGV`, `heap-use-after-free`, …
    pub words: String,
    /// The rules of C that may have been broken; all, if there are none.
    pub kinds: Vec<ViolationKind>,
    /// Whether the program has ended itself, by a failed assertion or otherwise.
    pub is_abort: bool,
}

/// What a line says.
pub(super) fn happened(line: &str) -> Option<Happened> {
    if let Some((_, what)) = line.split_once("ERROR: AddressSanitizer: ") {
        let what = what.strip_prefix("attempting ").unwrap_or(what);
        let words: Vec<&str> = what.split_whitespace().take_while(|word| *word != "on").collect();
        return Some(of_words(&words.join(" ")));
    }
    if let Some((_, what)) = line.split_once(": runtime error: ") {
        return Some(of_words(what.trim()));
    }
    let signal = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').find(|word| {
        ["SIGSEGV", "SIGBUS", "SIGFPE", "SIGABRT", "SIGILL", "SIGTRAP"].contains(word)
            || line.contains("stop reason") && *word == "EXC_BAD_ACCESS"
    })?;
    Some(of_words(signal))
}

fn of_words(words: &str) -> Happened {
    let is_abort = ["SIGABRT", "ABRT", "SIGTRAP", "SIGILL"].contains(&words);
    Happened { kinds: kinds_of(words), words: words.to_owned(), is_abort }
}

/// The place in front of a message of UndefinedBehaviorSanitizer: `a.c:4:33: runtime error: …`.
pub(super) fn place(line: &str) -> Option<Frame> {
    let (place, _) = line.split_once(": runtime error: ")?;
    let (file, line) = place_of(place.trim());
    Some(Frame { function: None, file, line, arguments: Vec::new(), module: None, at: 0 })
        .filter(|frame| frame.line.is_some())
}

/// Words for accesses outside of an object.
const BOUNDS: [&str; 5] =
    ["buffer-overflow", "buffer-underflow", "out of bounds", "out-of-bounds", "insufficient space"];

fn kinds_of(words: &str) -> Vec<ViolationKind> {
    use ViolationKind::{
        Bounds, Builtin, Division, DoubleFree, InvalidFree, Null, Overflow, Shift, UseAfterFree,
        UseAfterScope,
    };
    let has = |part: &str| words.contains(part);
    if has("use-after-free") {
        vec![UseAfterFree]
    } else if has("use-after-scope") || has("use-after-return") {
        vec![UseAfterScope]
    } else if has("double-free") {
        vec![DoubleFree]
    } else if has("bad-free") || has("free on address") {
        vec![InvalidFree]
    } else if BOUNDS.iter().any(|part| has(part)) {
        vec![Bounds]
    } else if has("null pointer") {
        vec![Null]
    } else if has("division by zero") || has("SIGFPE") || words.starts_with("FPE") {
        vec![Division]
    } else if has("signed integer overflow") || has("negation of") || has("cannot be represented in type") {
        vec![Overflow, Division, Shift]
    } else if has("shift exponent") || has("left shift of") {
        vec![Shift]
    } else if words.starts_with("SEGV") || has("SIGSEGV") || has("SIGBUS") || has("EXC_BAD_ACCESS") {
        vec![Null, Bounds, UseAfterFree, UseAfterScope]
    } else if has("SIGABRT") {
        // What the C library notices, and then aborts.
        vec![DoubleFree, InvalidFree]
    } else if has("param-overlap") {
        vec![Bounds]
    } else if has("builtin") || has("unreachable program point") || has("not a valid argument") {
        vec![Builtin]
    } else {
        Vec::new()
    }
}
