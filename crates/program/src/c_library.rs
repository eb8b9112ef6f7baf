//! Functions of the C library that are no inputs: what they do depends on nothing but their
//! arguments.

/// Functions of the C library whose results depend on nothing but their arguments and what these
/// point to (and on earlier calls of them), and that do no more than compute or print.
///
/// The front end has no model of them: they return anything. A harness that let them return the
/// values of the run would show that another program fails, one with another C library. So they are
/// not replaced, and a run that depends on what they return is only confirmed if the compiled
/// program fails with what they really return.
///
/// `feof` and `ferror` depend on what was read: the harness knows that.
///
/// Not here: sources of input (`rand`, `getchar`, `read`, `time`, `scanf`, `fgets`, `getenv`, …),
/// which give the values of the run; what has effects outside of the program (`system`, `remove`,
/// `fopen`, `kill`, …), which must not happen in a replay; and functions that the program does not
/// get from the library. Sorted, for the search.
const DETERMINISTIC: [&str; 239] = [
    "__ctype_b_loc",
    "__ctype_get_mb_cur_max",
    "__ctype_tolower_loc",
    "__ctype_toupper_loc",
    "__errno_location",
    "__finite",
    "__fpclassify",
    "__fprintf_chk",
    "__isinf",
    "__isnan",
    "__isoc23_sscanf",
    "__isoc23_strtol",
    "__isoc23_strtoll",
    "__isoc23_strtoul",
    "__isoc23_strtoull",
    "__isoc99_sscanf",
    "__isoc99_vsscanf",
    "__memcpy_chk",
    "__memmove_chk",
    "__memset_chk",
    "__printf_chk",
    "__signbit",
    "__snprintf_chk",
    "__sprintf_chk",
    "__strcat_chk",
    "__strcpy_chk",
    "__strncat_chk",
    "__strncpy_chk",
    "__vsnprintf_chk",
    "__vsprintf_chk",
    "abs",
    "acos",
    "asin",
    "asprintf",
    "atan",
    "atan2",
    "atof",
    "atoi",
    "atol",
    "atoll",
    "bcmp",
    "bcopy",
    "bsearch",
    "btowc",
    "bzero",
    "cbrt",
    "ceil",
    "ceilf",
    "copysign",
    "copysignf",
    "cos",
    "cosf",
    "cosh",
    "difftime",
    "div",
    "exp",
    "exp2",
    "expf",
    "expm1",
    "fabs",
    "fabsf",
    "fdim",
    "feof",
    "feof_unlocked",
    "ferror",
    "ferror_unlocked",
    "fflush",
    "ffs",
    "ffsl",
    "ffsll",
    "finite",
    "floor",
    "floorf",
    "fma",
    "fmax",
    "fmaxf",
    "fmin",
    "fminf",
    "fmod",
    "fmodf",
    "fnmatch",
    "fprintf",
    "fputc",
    "fputs",
    "frexp",
    "frexpf",
    "htonl",
    "htons",
    "hypot",
    "imaxabs",
    "imaxdiv",
    "index",
    "isalnum",
    "isalpha",
    "isascii",
    "isblank",
    "iscntrl",
    "isdigit",
    "isgraph",
    "isinf",
    "islower",
    "isnan",
    "isprint",
    "ispunct",
    "isspace",
    "isupper",
    "iswalnum",
    "iswalpha",
    "iswdigit",
    "iswlower",
    "iswspace",
    "iswupper",
    "isxdigit",
    "labs",
    "ldexp",
    "ldexpf",
    "ldiv",
    "lfind",
    "llabs",
    "lldiv",
    "llrint",
    "llround",
    "log",
    "log10",
    "log1p",
    "log2",
    "logf",
    "lrint",
    "lround",
    "lsearch",
    "mblen",
    "mbstowcs",
    "mbtowc",
    "memccpy",
    "memchr",
    "memcmp",
    "memcpy",
    "memmem",
    "memmove",
    "mempcpy",
    "memrchr",
    "memset",
    "modf",
    "modff",
    "nan",
    "nearbyint",
    "ntohl",
    "ntohs",
    "perror",
    "pow",
    "powf",
    "printf",
    "putc",
    "putchar",
    "putchar_unlocked",
    "puts",
    "qsort",
    "rawmemchr",
    "rindex",
    "rint",
    "round",
    "roundf",
    "sin",
    "sinf",
    "sinh",
    "snprintf",
    "sprintf",
    "sqrt",
    "sqrtf",
    "sscanf",
    "stpcpy",
    "stpncpy",
    "strcasecmp",
    "strcasestr",
    "strcat",
    "strchr",
    "strchrnul",
    "strcmp",
    "strcoll",
    "strcpy",
    "strcspn",
    "strdup",
    "strerror",
    "strlcat",
    "strlcpy",
    "strlen",
    "strncasecmp",
    "strncat",
    "strncmp",
    "strncpy",
    "strndup",
    "strnlen",
    "strpbrk",
    "strrchr",
    "strsep",
    "strspn",
    "strstr",
    "strtod",
    "strtof",
    "strtoimax",
    "strtok",
    "strtok_r",
    "strtol",
    "strtold",
    "strtoll",
    "strtoul",
    "strtoull",
    "strtoumax",
    "strxfrm",
    "tan",
    "tanf",
    "tanh",
    "toascii",
    "tolower",
    "toupper",
    "towlower",
    "towupper",
    "trunc",
    "truncf",
    "vasprintf",
    "vfprintf",
    "vprintf",
    "vsnprintf",
    "vsprintf",
    "vsscanf",
    "wcscat",
    "wcschr",
    "wcscmp",
    "wcscpy",
    "wcslen",
    "wcsncmp",
    "wcsncpy",
    "wcsrchr",
    "wcstombs",
    "wctob",
    "wctomb",
    "wmemcmp",
    "wmemcpy",
    "wmemset",
];

/// What stands behind the name of a function in the name of the input that is `errno` after a call.
const ERRNO: &str = ".errno";

/// The name of the input that is `errno` after a call of a function.
pub fn errno_of(function: &str) -> String {
    format!("{function}{ERRNO}")
}

/// The function whose call sets `errno` to an input of this name, if it is such an input.
pub fn sets_errno(input: &str) -> Option<&str> {
    input.strip_suffix(ERRNO)
}

/// Whether a call of this function is one of the real library, or of the compiler.
pub fn is_deterministic(name: &str) -> bool {
    // Built-in functions are the compiler's own; a definition would not be used.
    name.starts_with("__builtin_")
        || name.starts_with("__sync_")
        || name.starts_with("__atomic_")
        || DETERMINISTIC.binary_search(&name).is_ok()
}

/// Whether a function does nothing that the program could notice, except for what it returns.
pub fn only_prints(name: &str) -> bool {
    const PRINTS: [&str; 11] = [
        "printf", "fprintf", "vprintf", "vfprintf", "puts", "putchar", "fputs", "fputc", "putc", "fflush",
        "perror",
    ];
    PRINTS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_has_no_inputs_and_no_effects() {
        assert!(DETERMINISTIC.is_sorted(), "binary search needs it");
        for name in ["atoi", "printf", "qsort", "sscanf", "mempcpy", "isprint", "strtol", "__builtin_sprintf"]
        {
            assert!(is_deterministic(name), "{name}");
        }
        for name in [
            "rand", "read", "getchar", "time", "scanf", "fgets", "system", "remove", "fopen", "getenv",
            "input",
        ] {
            assert!(!is_deterministic(name), "{name}");
        }
    }
}
