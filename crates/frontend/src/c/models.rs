//! Functions that have a meaning although the program does not define them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::events::EVENT;
use super::tree::{FunctionId, TermKind, Tree};
use super::walk::each_term;
use super::witness::{ASSUME, CLAIM};

/// What a call of a function means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// The error that a property asks about.
    Error,
    /// A failed assertion, as the macro `assert` calls it.
    AssertionFailed,
    /// An assertion of its argument.
    Assert,
    /// The run goes on only if the argument is not zero.
    Assume,
    /// The run ends.
    End,
    /// A value from outside.
    Input,
    Allocate,
    AllocateZero,
    Free,
    /// The size of memory that `malloc` or the like has given; in our models only.
    Size,
    /// What is undefined, and gives any value; in our models only.
    Undefined,
    /// Its argument must not be a null pointer; in our models only.
    Needed,
    /// An event of a property.
    Event,
    /// A condition that is claimed to hold; in our own texts only.
    Claim,
}

/// The meaning of a function, by its name.
pub(crate) fn meaning(name: &str) -> Option<Meaning> {
    Some(match name {
        "reach_error" | "__VERIFIER_error" => Meaning::Error,
        "__assert_fail" | "__assert" | "__assert_perror_fail" | "__assert_rtn" => Meaning::AssertionFailed,
        "assert" | "__VERIFIER_assert" | "__CPROVER_assert" => Meaning::Assert,
        "__VERIFIER_assume" | "assume_abort_if_not" | "__CPROVER_assume" | ASSUME => Meaning::Assume,
        CLAIM => Meaning::Claim,
        "abort"
        | "exit"
        | "_exit"
        | "_Exit"
        | "quick_exit"
        | "__builtin_trap"
        | "__builtin_unreachable"
        | "__builtin_abort" => Meaning::End,
        "malloc" | "alloca" | "__builtin_alloca" | "valloc" | "__builtin_own_room" => Meaning::Allocate,
        "calloc" => Meaning::AllocateZero,
        "free" | "cfree" => Meaning::Free,
        "__wherefore_size" => Meaning::Size,
        UNDEFINED => Meaning::Undefined,
        NEEDED => Meaning::Needed,
        EVENT => Meaning::Event,
        // What the compiled program decides.
        "__builtin_own_any"
        | "__builtin_own_any_int"
        | "__builtin_own_any_long"
        | "__builtin_own_printed"
        | "__builtin_own_real" => Meaning::Input,
        _ if name.starts_with("__VERIFIER_nondet_") || name.starts_with(INPUT) => Meaning::Input,
        _ => return None,
    })
}

/// What the names of functions begin with that bring the values from outside in our own texts.
pub(crate) const INPUT: &str = "__input_";

/// The result of a built-in function where it has none, in our own texts.
const UNDEFINED: &str = "__builtin_own_undefined";

/// What our own texts say of a pointer that they do not follow, though the real function does.
pub(crate) const NEEDED: &str = "__builtin_own_needed";

/// The function after whose call, in our own texts, `errno` may have another value.
pub(crate) const OUTSIDE: &str = "__outside";

/// Whether a function takes memory from the stack of its caller.
pub(crate) fn is_on_stack(name: &str) -> bool {
    matches!(name, "alloca" | "__builtin_alloca")
}

/// Whether an allocation may fail. What lives on the stack, and what our own texts need, is there.
pub(crate) fn may_fail(name: &str) -> bool {
    !matches!(name, "alloca" | "__builtin_alloca" | "__builtin_own_room")
}

/// The least and the greatest result of a function without a body, if they are known.
pub(crate) fn range(name: &str) -> Option<(i64, i64)> {
    Some(match name {
        "fgetc" | "getc" | "getchar" | "_IO_getc" | "getc_unlocked" | "getchar_unlocked"
        | "fgetc_unlocked" => (-1, 255),
        "rand" | "random" | "lrand48" | "rand_r" | "nrand48" => (0, 0x7fff_ffff),
        "printf" | "fprintf" | "vprintf" | "vfprintf" | "dprintf" | "vdprintf" | "sprintf" | "snprintf"
        | "vsprintf" | "vsnprintf" | "asprintf" | "vasprintf" => (-1, 0x7fff_ffff),
        "puts" | "puts_unlocked" | "fputs" | "fputs_unlocked" => (0, 0x7fff_ffff),
        "putchar" | "putc" | "fputc" => (-1, 255),
        "chdir" | "chmod" | "chown" | "fseek" | "fseeko" | "fstat" | "fsync" | "ftruncate" | "lstat"
        | "mkdir" | "rmdir" | "unlink" | "closedir" | "gettimeofday" | "clock_gettime" => (-1, 0),
        "isatty" => (0, 1),
        "fileno" | "mkstemp" | "fork" | "waitpid" => (-1, 0x7fff_ffff),
        // No program takes so long; -1 where the time is not known.
        "clock" => (-1, i64::MAX - 1),
        "getpid" | "getppid" => (0, 0x7fff_ffff),
        _ => return None,
    })
}

/// Whether a function without a body returns a pointer to something in any case.
pub(crate) fn is_never_null(name: &str) -> bool {
    matches!(
        name,
        "strerror"
            | "strerror_l"
            | "strsignal"
            | "gai_strerror"
            | "hstrerror"
            | "localeconv"
            | "gettext"
            | "dgettext"
            | "dcgettext"
            | "ngettext"
            | "dngettext"
            | "dcngettext"
    )
}

/// Whether a function ends the run as the end of `main` does, so that destructors run.
pub(crate) fn ends_in_order(name: &str) -> bool {
    name == "exit"
}

/// Whether a function returns fresh memory.
pub(crate) fn allocates(name: &str) -> bool {
    matches!(meaning(name), Some(Meaning::Allocate | Meaning::AllocateZero))
}

/// Whether a function allocates memory, itself or in a function that it calls by name.
pub(crate) fn may_allocate(tree: &Tree, id: FunctionId) -> bool {
    let (mut seen, mut open) = (vec![id], vec![id]);
    while let Some(next) = open.pop() {
        let mut body = tree.function(next).body.clone().unwrap_or_default();
        let mut called = Vec::new();
        each_term(&mut body, &mut |term| {
            if let TermKind::Function(other) = term.kind {
                called.push(other);
            }
        });
        for other in called {
            if allocates(&tree.function(other).name) {
                return true;
            }
            if !seen.contains(&other) {
                seen.push(other);
                open.push(other);
            }
        }
    }
    false
}

/// Whether a function only writes to the outside world or ends the run: its arguments do not
/// matter.
pub(crate) fn is_harmless(name: &str) -> bool {
    const QUIET: [&str; 42] = [
        "printf",
        "fprintf",
        "vprintf",
        "vfprintf",
        "dprintf",
        "vdprintf",
        "printf_unlocked",
        "fprintf_unlocked",
        "__printf_chk",
        "__fprintf_chk",
        "__vprintf_chk",
        "__vfprintf_chk",
        "puts",
        "puts_unlocked",
        "putchar",
        "putchar_unlocked",
        "fputs",
        "fputs_unlocked",
        "fputc",
        "fputc_unlocked",
        "putc",
        "putc_unlocked",
        "_IO_putc",
        "fwrite",
        "fwrite_unlocked",
        "perror",
        "fflush",
        "fflush_unlocked",
        "fclose",
        "setlinebuf",
        "flockfile",
        "funlockfile",
        "printk",
        "sleep",
        "usleep",
        "srand",
        "srandom",
        "rand",
        "random",
        "clock",
        "atexit",
        "syslog",
    ];
    let is_section = name == "__VERIFIER_atomic_begin" || name == "__VERIFIER_atomic_end";
    QUIET.contains(&name)
        || is_section
        || meaning(name).is_some_and(|meaning| !matches!(meaning, Meaning::Free))
}

/// Functions of the C library that call functions that they are given, now or later.
pub(crate) const CALLS_BACK: [&str; 5] = ["atexit", "on_exit", "at_quick_exit", "signal", "sigaction"];

/// Whether a function prints a text to where its first argument points, and the position of the
/// size that it is given, if it is.
pub(crate) fn prints_into(name: &str) -> Option<Option<usize>> {
    match name {
        "sprintf" | "vsprintf" => Some(None),
        "snprintf" | "vsnprintf" => Some(Some(1)),
        _ => None,
    }
}

/// Functions without a model that fill memory: the position of the pointer to it, and that of its
/// size in bytes, if they are told.
pub(crate) fn fills(name: &str) -> Option<(usize, Option<usize>)> {
    Some(match name {
        "sprintf" | "vsprintf" | "gets" | "asctime_r" | "ctime_r" | "wcscpy" | "wcscat" => (0, None),
        "snprintf" | "vsnprintf" | "strftime" | "getcwd" | "gethostname" => (0, Some(1)),
        "strxfrm" => (0, Some(2)),
        "recv" | "pread" | "readlink" | "recvfrom" => (1, Some(2)),
        _ => return None,
    })
}

/// The position of the format among the arguments of a function that prints them.
pub(crate) fn format_position(name: &str) -> Option<usize> {
    match name {
        "printf" | "printk" => Some(0),
        "fprintf" | "dprintf" | "sprintf" | "syslog" | "asprintf" => Some(1),
        "snprintf" => Some(2),
        _ => None,
    }
}

/// Whether a function calls a comparison of the program, in an order of its own.
pub(crate) fn compares(name: &str) -> bool {
    matches!(name, "qsort" | "bsearch" | "lfind" | "lsearch")
}

/// The name that a built-in function has without its prefix, if it means the same.
pub(crate) fn without_prefix(name: &str) -> Option<&str> {
    let plain = name.strip_prefix("__builtin_")?;
    const INTEGERS: [&str; 8] =
        ["sprintf", "snprintf", "vsprintf", "vsnprintf", "toupper", "tolower", "sscanf", "scanf"];
    let known = model_of(plain).is_some()
        || is_harmless(plain)
        || meaning(plain).is_some()
        || INTEGERS.contains(&plain);
    known.then_some(plain)
}

/// Whether a function without a body leaves `errno` as it is.
pub(crate) fn leaves_errno(name: &str) -> bool {
    const QUIET: [&str; 22] = [
        "rand",
        "srand",
        "random",
        "srandom",
        "getenv",
        "time",
        "clock",
        "atexit",
        "getpid",
        "getppid",
        "getuid",
        "geteuid",
        "getgid",
        "getegid",
        "feof",
        "ferror",
        "clearerr",
        "umask",
        "div",
        "ldiv",
        "lldiv",
        "__ctype_get_mb_cur_max",
    ];
    QUIET.contains(&name) || name.starts_with("__builtin_") || name.starts_with("__VERIFIER_")
}

/// What our definitions of functions assume.
pub(crate) const ASSUMED: [(&str, &str); 2] = [
    ("getopt", "options of the command come before its other arguments"),
    ("getopt_long", "options of the command come before its other arguments"),
];

/// A file of definitions of library functions in C.
pub(crate) struct Model {
    /// The name under which it appears in spans.
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
}

/// The files. One is linked when a program uses a function that it defines and the program does
/// not.
pub(crate) const MODELS: &[Model] = &[
    Model { name: "<library>", text: include_str!("library.c") },
    Model { name: "<texts>", text: include_str!("library/texts.c") },
    Model { name: "<exits>", text: include_str!("library/exits.c") },
    Model { name: "<jumps>", text: include_str!("library/jumps.c") },
    Model { name: "<quotients>", text: include_str!("library/quotients.c") },
    Model { name: "<numbers>", text: include_str!("library/numbers.c") },
    Model { name: "<wide>", text: include_str!("library/wide.c") },
    Model { name: "<complex>", text: include_str!("library/complex.c") },
    Model { name: "<reals>", text: include_str!("library/reals.c") },
    Model { name: "<scan>", text: include_str!("library/scan.c") },
    Model { name: "<search>", text: include_str!("library/search.c") },
    Model { name: "<clock>", text: include_str!("library/clock.c") },
    Model { name: "<options>", text: include_str!("library/options.c") },
    Model { name: "<paths>", text: include_str!("library/paths.c") },
    Model { name: "<sort>", text: include_str!("library/sort.c") },
    Model { name: "<print>", text: include_str!("library/print.c") },
    Model { name: "<format>", text: include_str!("library/format.c") },
    Model { name: INPUTS, text: include_str!("library/inputs.c") },
];

/// The name of the file that replay compiles, too.
pub(crate) const INPUTS: &str = "<inputs>";

/// The file that defines a function, by its position.
pub(crate) fn model_of(name: &str) -> Option<usize> {
    static DEFINED: LazyLock<BTreeMap<&'static str, usize>> = LazyLock::new(|| {
        let all = MODELS.iter().enumerate();
        all.flat_map(|(i, model)| defined(model.text).map(move |name| (name, i))).collect()
    });
    DEFINED.get(name).copied()
}

/// Whether a function that is not declared may be taken for one that returns `int`: none of ours
/// returns anything else.
pub(crate) fn returns_int(name: &str) -> bool {
    let Some(model) = model_of(name) else { return true };
    let mut heads = MODELS[model].text.lines().filter(|line| defined(line).next() == Some(name));
    // Nobody uses the result of those that have none.
    let is_int = |head: &str| {
        let result = head.strip_prefix("int ").or_else(|| head.strip_prefix("void "));
        result.is_some_and(|name| !name.starts_with('*'))
    };
    heads.next().is_none_or(is_int)
}

/// Whether we define a function, and it brings no input.
pub(crate) fn brings_no_input(name: &str) -> bool {
    model_of(name).is_some_and(|model| MODELS[model].name != INPUTS)
}

/// The functions of a text of ours that other texts see.
pub(crate) fn seen_from_outside(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().filter(|line| !line.starts_with("static"));
    lines.filter_map(|line| defined(line).next())
}

/// The functions that a text of ours defines. Their heads are the lines that begin with a word and
/// have parameters, and do not end with a semicolon.
fn defined(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let is_head = line.starts_with(|c: char| c.is_alphabetic())
            && !line.ends_with(';')
            && !line.starts_with("typedef");
        let (before, _) = line.split_once('(').filter(|_| is_head)?;
        before.rsplit([' ', '*']).next()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_found_by_their_heads() {
        for name in ["memcpy", "strchr", "isdigit", "__builtin_own_integer", "strtol", "__errno_location"] {
            assert!(model_of(name).is_some(), "{name}");
        }
        for name in
            ["add", "sub", "smul", "mul", "sdiv", "srem", "udiv", "urem", "shl", "lshr", "ashr", "overflows"]
        {
            assert!(model_of(&format!("__builtin_own_wide_{name}")).is_some(), "{name}");
        }
        for name in ["to_double", "sto_double", "to_float", "sto_float", "from_double", "sfrom_double"] {
            assert!(model_of(&format!("__builtin_own_wide_{name}")).is_some(), "{name}");
        }
        for name in ["malloc", "size_t", "if", "for", "printf", ""] {
            assert!(model_of(name).is_none(), "{name}");
        }
    }
}
