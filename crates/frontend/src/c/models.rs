//! Functions that have a meaning although the program does not define them.

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
}

/// The meaning of a function, by its name.
pub(crate) fn meaning(name: &str) -> Option<Meaning> {
    Some(match name {
        "reach_error" | "__VERIFIER_error" => Meaning::Error,
        "__assert_fail" | "__assert" | "__assert_perror_fail" | "__assert_rtn" => Meaning::AssertionFailed,
        "assert" | "__VERIFIER_assert" | "__CPROVER_assert" => Meaning::Assert,
        "__VERIFIER_assume" | "assume_abort_if_not" | "__CPROVER_assume" => Meaning::Assume,
        "abort"
        | "exit"
        | "_exit"
        | "_Exit"
        | "quick_exit"
        | "__builtin_trap"
        | "__builtin_unreachable"
        | "__builtin_abort" => Meaning::End,
        "malloc" | "alloca" | "__builtin_alloca" | "valloc" => Meaning::Allocate,
        "calloc" => Meaning::AllocateZero,
        "free" | "cfree" => Meaning::Free,
        "__wherefore_size" => Meaning::Size,
        _ if name.starts_with("__VERIFIER_nondet_") => Meaning::Input,
        _ => return None,
    })
}

/// Whether a function ends the run as the end of `main` does, so that destructors run.
pub(crate) fn ends_in_order(name: &str) -> bool {
    name == "exit"
}

/// Whether a function returns fresh memory.
pub(crate) fn allocates(name: &str) -> bool {
    matches!(meaning(name), Some(Meaning::Allocate | Meaning::AllocateZero))
}

/// Whether a function only writes to the outside world or ends the run: its arguments do not
/// matter.
pub(crate) fn is_harmless(name: &str) -> bool {
    const QUIET: [&str; 21] = [
        "printf", "fprintf", "vprintf", "vfprintf", "puts", "putchar", "fputs", "fputc", "putc", "perror",
        "fflush", "fclose", "printk", "sleep", "usleep", "srand", "rand", "random", "clock", "atexit",
        "syslog",
    ];
    QUIET.contains(&name) || meaning(name).is_some_and(|meaning| !matches!(meaning, Meaning::Free))
}

/// Functions of the C library that call functions that they are given, now or later.
pub(crate) const CALLS_BACK: [&str; 7] =
    ["atexit", "on_exit", "at_quick_exit", "signal", "sigaction", "qsort", "bsearch"];

/// The name that a built-in function has without its prefix, if it means the same.
pub(crate) fn without_prefix(name: &str) -> Option<&str> {
    let plain = name.strip_prefix("__builtin_")?;
    const INTEGERS: [&str; 8] =
        ["sprintf", "snprintf", "vsprintf", "vsnprintf", "toupper", "tolower", "sscanf", "scanf"];
    let known = MODELLED.contains(&plain)
        || is_harmless(plain)
        || meaning(plain).is_some()
        || INTEGERS.contains(&plain);
    known.then_some(plain)
}

/// The functions that [`TEXT`] defines.
pub(crate) const MODELLED: [&str; 115] = [
    "memcpy",
    "memmove",
    "memset",
    "memcmp",
    "strlen",
    "strcpy",
    "strncpy",
    "strcat",
    "strncat",
    "strcmp",
    "strncmp",
    "strchr",
    "strrchr",
    "strdup",
    "realloc",
    "abs",
    "labs",
    "llabs",
    "memchr",
    "__builtin_expect",
    "__builtin_bswap16",
    "__builtin_bswap32",
    "__builtin_bswap64",
    "__builtin_popcountll",
    "__builtin_parityll",
    "__builtin_ctzll",
    "__builtin_clzll",
    "__builtin_clz",
    "__builtin_ffsll",
    "__builtin_clrsbll",
    "__builtin_own_add",
    "__builtin_own_sub",
    "__builtin_own_mul",
    "__builtin_own_fits",
    "fabs",
    "fabsf",
    "sqrt",
    "sqrtf",
    "trunc",
    "truncf",
    "floor",
    "floorf",
    "ceil",
    "ceilf",
    "rint",
    "rintf",
    "nearbyint",
    "nearbyintf",
    "round",
    "roundf",
    "copysign",
    "copysignf",
    "fmin",
    "fminf",
    "fmax",
    "fmaxf",
    "isnan",
    "isnanf",
    "__isnan",
    "__isnanf",
    "isinf",
    "isinff",
    "__isinf",
    "__isinff",
    "finite",
    "finitef",
    "__finite",
    "__finitef",
    "__signbit",
    "__signbitf",
    "__fpclassify",
    "__fpclassifyf",
    "fdim",
    "fdimf",
    "lround",
    "lrint",
    "isdigit",
    "isupper",
    "islower",
    "isalpha",
    "isalnum",
    "isxdigit",
    "isspace",
    "isprint",
    "isgraph",
    "isblank",
    "iscntrl",
    "ispunct",
    "isascii",
    "toascii",
    "tolower",
    "toupper",
    "__builtin_own_number",
    "atoi",
    "atol",
    "atoll",
    "strnlen",
    "mempcpy",
    "stpcpy",
    "memrchr",
    "rawmemchr",
    "strchrnul",
    "strspn",
    "strcspn",
    "strpbrk",
    "strstr",
    "__builtin_own_lower",
    "strcasecmp",
    "strncasecmp",
    "strndup",
    "bzero",
    "bcmp",
    "index",
    "rindex",
    "swab",
];

/// Definitions of library functions in C, linked when a program calls them without defining them.
pub(crate) const TEXT: &str = include_str!("library.c");

/// The name under which they appear in spans.
pub(crate) const NAME: &str = "<library>";
