//! The text of a harness.

use std::collections::BTreeSet;
use std::fmt::Write;

use wherefore_program::{OwnFiles, c_library};

use super::labels::REACHED;
use super::place::SAY_PLACE;
use super::{Case, FeedType, Feeding};

/// Left with when an error that counts is reached.
pub(crate) const FAILED: i32 = 70;
/// Left with when an assumption does not hold.
pub(crate) const NOT_ASSUMED: i32 = 71;
/// Left with at an error that does not count.
pub(crate) const ENDED: i32 = 72;
/// Printed when an error that counts is reached.
pub(crate) const MARK: &str = "wherefore: reached";

/// Printed behind its name, in front of the address of the call.
pub(crate) const AT: &str = " at ";

/// Errors by the usual names.
const ERRORS: [&str; 2] = ["reach_error", "__VERIFIER_error"];
const ASSUMPTIONS: [&str; 3] = ["__VERIFIER_assume", "assume_abort_if_not", "__CPROVER_assume"];
const ASSERTIONS: [&str; 3] = ["assert", "__VERIFIER_assert", "__CPROVER_assert"];

/// What models of functions that bring input need.
const INPUTS: &str = include_str!("inputs.c");

/// The state of streams, for programs that ask for it, and the functions that tell it.
const STREAMS: &str = include_str!("streams.c");

/// Files of the program's own, and what models do with them.
const FILES: &str = include_str!("files.c");
const WRAPPED: [&str; 13] = [
    "ungetc",
    "fopen",
    "fdopen",
    "freopen",
    "tmpfile",
    "popen",
    "fgets",
    "fgets_unlocked",
    "gets",
    "getdelim",
    "getline",
    "fread",
    "read",
];
const STREAM_STATES: [&str; 4] = ["feof", "feof_unlocked", "ferror", "ferror_unlocked"];

/// The model that puts characters back: with it, functions that read one have another.
const PUTS_BACK: &str = "ungetc";

/// What a function does to the state of a stream that goes to another place of it.
const BEGINS_AGAIN: &str = "begin_again(stream);";

/// What the linker missed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Missing(pub(crate) BTreeSet<String>);

/// The harness. `command` compiles and runs it; all definitions give way to those of the program.
/// With threads, `scheduler` lets them run in the order of the run.
pub(crate) fn text(
    case: &Case<'_>,
    feeding: &Feeding<'_>,
    missing: &Missing,
    command: &str,
    scheduler: Option<&str>,
) -> String {
    let mut out = String::new();
    if scheduler.is_some() {
        out.push_str("#define _GNU_SOURCE\n");
    }
    // With threads, a failure counts only at the end of the schedule, and inputs come in its order.
    let (before, check) = match scheduler {
        Some(_) => ("static void failure(void);\n", "failure(); "),
        None => ("", ""),
    };
    let _ = write!(
        out,
        "/* Feeds the inputs of a failing run. To compile and run:\n\n{command}\n\n   \
         The exit code is {FAILED} if an error is reached, {NOT_ASSUMED} if an assumption does not hold, and {ENDED} if\n   \
         the run ends at an error that was not asked about. */\n\n"
    );
    let (say_place, at) = match (case.place.is_some(), case.watched.is_some()) {
        (true, _) => (SAY_PLACE, format!("say(\"{AT}\"); say_place(caller); ")),
        (false, true) => (SAY_PLACE, String::new()),
        (false, false) => ("", String::new()),
    };
    let _ = write!(
        out,
        "#define WEAK __attribute__((weak))\n#define PLAIN __attribute__((no_instrument_function))\n\
         extern long write(int, const void *, __SIZE_TYPE__);\nextern void _exit(int);\n\n\
         PLAIN static void say(const char *text) {{\n  __SIZE_TYPE__ length = 0;\n  \
         while (text[length]) length++;\n  write(2, text, length);\n}}\n\
         {say_place}\
         {before}PLAIN static void reached(const char *what, void *caller) {{\n  \
         {check}say(\"\\n{MARK} \"); say(what); {at}say(\"\\n\"); \
         _exit({FAILED});\n}}\n\
         #define HERE __builtin_return_address(0)\n\
         PLAIN void {REACHED}(const char *label) {{ reached(label, HERE); }}\n\
         PLAIN void __builtin_own_needed(const void *pointer) {{ if (!pointer) *(volatile char *)pointer; }}\n\n"
    );
    out.push_str(case.broken.as_ref().map_or("", |broken| broken.definitions()));
    if let Some(watched) = &case.watched {
        out.push_str(&watched.definitions());
    }
    out.push_str(scheduler.unwrap_or_default());
    let mut defined: BTreeSet<String> = BTreeSet::new();
    let mut hooks = String::new();
    let errors = case.errors.functions.iter().map(String::as_str);
    for name in errors.chain(ERRORS) {
        if !defined.insert(name.to_owned()) {
            continue;
        }
        let counts = case.errors.functions.iter().any(|other| other == name);
        let act = |caller: &str| match counts {
            true => format!("reached(\"{name}\", {caller});"),
            false => format!("_exit({ENDED});"),
        };
        // Of a function of this kind the program may hold a definition of its own.
        let _ = writeln!(out, "WEAK PLAIN void {name}() {{ {} }}", act("HERE"));
        let _ = writeln!(hooks, "  if (function == (void *){name}) {}", act("site"));
    }
    for name in ["__assert_fail", "__assert", "__assert_perror_fail", "__assert_rtn"] {
        if defined.insert(name.to_owned()) {
            let act = if case.errors.assertions {
                "reached(\"a failed assertion\", HERE);".to_owned()
            } else {
                format!("_exit({ENDED});")
            };
            let _ = writeln!(out, "WEAK PLAIN void {name}() {{ {act} }}");
        }
    }
    for name in ASSERTIONS {
        if defined.insert(name.to_owned()) {
            let act = if case.errors.assertions {
                format!("reached(\"{name}\", HERE);")
            } else {
                format!("_exit({ENDED});")
            };
            let _ = writeln!(out, "WEAK PLAIN void {name}(int condition) {{ if (!condition) {act} }}");
        }
    }
    for name in ASSUMPTIONS {
        if defined.insert(name.to_owned()) {
            let _ = writeln!(
                out,
                "WEAK PLAIN void {name}(int condition) {{ if (!condition) _exit({NOT_ASSUMED}); }}"
            );
        }
    }
    let _ = writeln!(
        out,
        "PLAIN void __cyg_profile_func_enter(void *function, void *site) {{\n{hooks}}}\n\
         PLAIN void __cyg_profile_func_exit(void *function, void *site) {{}}\n"
    );
    let has_streams = case.feeds.iter().any(|feed| STREAM_STATES.contains(&feed.function.as_str()));
    let has_files = case.has_own_files();
    let models = case.models.map_or(&[][..], |models| &models.names);
    let has_back = models.iter().any(|name| name == PUTS_BACK);
    if has_back {
        out.push_str("#define HAS_BACK\nvoid __builtin_own_forget(void *stream);\n");
    }
    let wrapped: Vec<&str> = match has_files {
        true => WRAPPED.into_iter().filter(|name| models.iter().any(|model| model == name)).collect(),
        false => Vec::new(),
    };
    if has_files {
        for name in &wrapped {
            let _ = writeln!(out, "#define WRAPS_{name}");
        }
        let is_own = u8::from(case.own_files == OwnFiles::AlsoInput);
        let _ = writeln!(out, "#define NOT_ASSUMED {NOT_ASSUMED}\n#define INPUT_IS_OWN {is_own}");
        out.push_str(FILES);
    }
    if has_streams {
        out.push_str(STREAMS);
    }
    let errno = |name: &str| feeding.functions.get(c_library::errno_of(name).as_str());
    let has_errno = feeding.functions.keys().any(|name| c_library::sets_errno(name).is_some());
    if has_errno {
        let _ = writeln!(out, "extern int *__errno_location(void);");
    }
    for (name, (ty, values)) in &feeding.functions {
        // A function without a result may set `errno`.
        let (name, results) = match c_library::sets_errno(name) {
            Some(function) if feeding.functions.contains_key(function) => continue,
            Some(function) => (function, None),
            None => (*name, Some((*ty, values))),
        };
        if !defined.insert(name.to_owned()) {
            continue;
        }
        let set = errno(name).map_or(String::new(), |(_, values)| {
            format!("  {}\n  if (value) *__errno_location() = (int)value;\n", next_of(values))
        });
        let (ty, give) = match results {
            Some((ty, values)) => {
                let give = format!("  {}\n  return {};\n", next_of(values), converted(ty, "value"));
                (c_type(ty), give)
            }
            None => ("long long", "  return 0;\n".to_owned()),
        };
        let set = if set.is_empty() { set } else { format!("  {{\n{set}  }}\n") };
        let stream = stream_of(name).filter(|_| has_streams || has_files || has_back);
        let (parameter, give) = match stream {
            Some((parameter, act)) => {
                let stream = if parameter.is_empty() { "stdin" } else { "stream" };
                let act = match has_files && c_library::reads_files(name) {
                    true => format!("if (is_own({stream})) return own_byte({stream});\n  {act}"),
                    // What is put back before another place is gone.
                    false if act == BEGINS_AGAIN => {
                        let forget = if has_back { "__builtin_own_forget(stream);" } else { "" };
                        format!("{forget} {}", if has_streams { act } else { "" })
                    }
                    false => act.to_owned(),
                };
                (parameter, give.replacen("  return", &format!("  {act}\n  return"), 1))
            }
            None => (needed_parameters(name), give),
        };
        // What watches a call does not know what the function takes.
        let parameter =
            if case.watched.is_some() { without_prototype(parameter) } else { format!("({parameter})") };
        let needed: String = match parameter == "()" {
            true => String::new(),
            false => c_library::needs(name).iter().map(|at| needed(*at, stream.is_some())).collect(),
        };
        let wait = match scheduler {
            Some(_) => format!("  wherefore_call(\"{name}\");\n"),
            None => String::new(),
        };
        let _ = writeln!(out, "{} {{\n{wait}{needed}{set}{give}}}", head(ty, name, &parameter));
    }
    for name in &missing.0 {
        if case.undefined.contains(name) {
            let _ = writeln!(out, "WEAK long long {name}[8192];");
        } else if defined.insert(name.clone()) {
            let ty = match name.strip_prefix("__VERIFIER_nondet_") {
                Some("float") => "float",
                Some("double") => "double",
                _ => "long long",
            };
            let _ = writeln!(out, "{} {{ return 0; }}", head(ty, name, "()"));
        }
    }
    if let Some(models) = case.models {
        // Definitions of the program take their place.
        let _ = writeln!(out);
        for name in &models.names {
            let _ = writeln!(out, "#pragma weak {name}");
        }
        let again = if wrapped.contains(&PUTS_BACK) { Some("__builtin_own_getc") } else { None };
        let wrapped = || wrapped.iter().copied().chain(again);
        for name in wrapped() {
            let _ = writeln!(out, "#define {name} fed_{}", name.trim_start_matches('_'));
        }
        let _ = writeln!(out, "{}", models.text);
        for name in wrapped() {
            let _ = writeln!(out, "#undef {name}");
        }
        out.push_str(INPUTS);
    }
    if let Some(watched) = &case.watched {
        out.push_str(&watched.wrappers(&defined));
    }
    if case.entry != "main" {
        let values = feeding.arguments.iter().map(|(ty, value)| converted(*ty, &format!("{value}ULL")));
        let values: Vec<String> = values.collect();
        // Without a prototype, a `float` would be passed as a `double`.
        let has_float = feeding.arguments.iter().any(|(ty, _)| matches!(ty, FeedType::Float(..=32)));
        let types: Vec<&str> = match has_float {
            true => feeding.arguments.iter().map(|(ty, _)| c_type(*ty)).collect(),
            false => Vec::new(),
        };
        let _ = writeln!(
            out,
            "\nextern int {0}({1});\nPLAIN int main(void) {{ {0}({2}); return 0; }}",
            case.entry,
            types.join(", "),
            values.join(", ")
        );
    }
    out
}

/// The head of a function. Models declare what brings their input with types of their own.
fn head(ty: &str, name: &str, parameters: &str) -> String {
    match name.starts_with("__input_") || name == "__outside" {
        true => format!("{ty} fed{name}() __asm__(\"{name}\");\nWEAK PLAIN {ty} fed{name}()"),
        false => format!("WEAK PLAIN {ty} {name}{parameters}"),
    }
}

/// Parameters so that calls may have any arguments.
fn without_prototype(parameters: &str) -> String {
    let all: Vec<&str> = parameters.split(", ").filter(|one| !one.is_empty()).collect();
    let names: Vec<&str> = all.iter().filter_map(|one| one.rsplit([' ', '*']).next()).collect();
    let types: String = all.iter().map(|one| format!(" {one};")).collect();
    format!("({}){types}", names.join(", "))
}

/// The parameters of a function some of whose arguments must not be null pointers.
fn needed_parameters(name: &str) -> &'static str {
    if c_library::needs(name).is_empty() { "" } else { "long a0, long a1, long a2, long a3" }
}

/// The run ends where such an argument is a null pointer.
fn needed(position: usize, has_stream: bool) -> String {
    match has_stream {
        true => "  __builtin_own_needed(stream);\n".to_owned(),
        false => format!("  __builtin_own_needed((void *)a{position});\n"),
    }
}

/// What a function does to the state of a stream: its parameter, and the statement.
fn stream_of(name: &str) -> Option<(&'static str, &'static str)> {
    match name {
        "getchar" | "getchar_unlocked" => Some(("", "if ((int)value == -1) __builtin_own_ended(stdin, 1);")),
        "getc" | "fgetc" | "_IO_getc" | "getc_unlocked" | "fgetc_unlocked" => {
            Some(("void *stream", "if ((int)value == -1) __builtin_own_ended(stream, 1);"))
        }
        "fseek" | "fseeko" | "fsetpos" => Some(("void *stream", BEGINS_AGAIN)),
        _ => None,
    }
}

/// Declares `value`, the next one of a list, and 0 behind its end.
fn next_of(values: &[u64]) -> String {
    let list: Vec<String> = values.iter().map(|value| format!("{value}ULL")).collect();
    format!(
        "static const unsigned long long values[] = {{{}}};\n  static unsigned next;\n  \
         unsigned long long value = next < {} ? values[next++] : 0;",
        list.join(", "),
        values.len()
    )
}

/// The bits of a number as a value of its type.
fn converted(ty: FeedType, bits: &str) -> String {
    let name = c_type(ty);
    match ty {
        FeedType::Float(width) => {
            let integer = if width <= 32 { "unsigned" } else { "unsigned long long" };
            format!("((union {{ {integer} bits; {name} number; }}){{ .bits = ({integer}){bits} }}).number")
        }
        FeedType::Pointer => format!("({name})(__UINTPTR_TYPE__)({bits})"),
        FeedType::Fresh => format!("({bits}) ? wherefore_object() : 0"),
        _ => format!("({name}){bits}"),
    }
}

fn c_type(ty: FeedType) -> &'static str {
    match ty {
        FeedType::Pointer | FeedType::Fresh => "void *",
        FeedType::Float(..=32) => "float",
        FeedType::Float(_) => "double",
        FeedType::Part => "long long",
        FeedType::Signed(1) | FeedType::Unsigned(1) => "_Bool",
        FeedType::Signed(..=8) => "signed char",
        FeedType::Signed(..=16) => "short",
        FeedType::Signed(..=32) => "int",
        FeedType::Signed(_) => "long long",
        FeedType::Unsigned(..=8) => "unsigned char",
        FeedType::Unsigned(..=16) => "unsigned short",
        FeedType::Unsigned(..=32) => "unsigned",
        FeedType::Unsigned(_) => "unsigned long long",
    }
}
