//! What functions of the C library write through the pointers that they are given.

/// What a function of the C library writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writes {
    /// Nothing that belongs to the program.
    Nothing,
    /// What these arguments point to, by their positions.
    Arguments(&'static [usize]),
    /// What the arguments from this one on point to.
    From(usize),
}

impl Writes {
    /// Whether the argument at a position is written through.
    pub(crate) fn contains(self, position: usize) -> bool {
        match self {
            Writes::Nothing => false,
            Writes::Arguments(positions) => positions.contains(&position),
            Writes::From(first) => position >= first,
        }
    }
}

/// `<stdio.h>`
const STDIO: [&str; 36] = [
    "printf", "fprintf", "vprintf", "vfprintf", "dprintf", "vdprintf", "puts", "putchar", "fputs", "fputc",
    "putc", "perror", "fflush", "fclose", "fopen", "fdopen", "freopen", "fwrite", "ferror", "feof",
    "clearerr", "fileno", "fseek", "fseeko", "ftell", "ftello", "rewind", "remove", "rename", "tmpfile",
    "getchar", "getc", "fgetc", "ungetc", "popen", "pclose",
];
/// `<stdlib.h>`, `<math.h>`, `<time.h>` and `<locale.h>`
const STDLIB: [&str; 26] = [
    "atoi",
    "atol",
    "atoll",
    "atof",
    "getenv",
    "system",
    "rand",
    "srand",
    "random",
    "srandom",
    "drand48",
    "srand48",
    "lrand48",
    "setenv",
    "unsetenv",
    "putenv",
    "clock",
    "difftime",
    "asctime",
    "ctime",
    "localtime",
    "gmtime",
    "setlocale",
    "localeconv",
    "div",
    "ldiv",
];
/// `<ctype.h>`, `<string.h>` and `<strings.h>`
const STRING: [&str; 34] = [
    "isalnum",
    "isalpha",
    "isblank",
    "iscntrl",
    "isdigit",
    "isgraph",
    "islower",
    "isprint",
    "ispunct",
    "isspace",
    "isupper",
    "isxdigit",
    "isascii",
    "toascii",
    "tolower",
    "toupper",
    "__ctype_b_loc",
    "__ctype_tolower_loc",
    "__ctype_toupper_loc",
    "strcasecmp",
    "strncasecmp",
    "strstr",
    "strcasestr",
    "strpbrk",
    "strspn",
    "strcspn",
    "strcoll",
    "strnlen",
    "memmem",
    "memrchr",
    "rawmemchr",
    "strerror",
    "strsignal",
    "bcmp",
];
/// `<unistd.h>`, `<fcntl.h>`, `<errno.h>` and others of POSIX
const POSIX: [&str; 48] = [
    "open",
    "openat",
    "creat",
    "close",
    "write",
    "pwrite",
    "lseek",
    "access",
    "unlink",
    "link",
    "symlink",
    "mkdir",
    "rmdir",
    "chdir",
    "chmod",
    "chown",
    "fsync",
    "ftruncate",
    "truncate",
    "dup",
    "dup2",
    "isatty",
    "getpid",
    "getppid",
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "setuid",
    "setgid",
    "fork",
    "vfork",
    "kill",
    "raise",
    "sleep",
    "usleep",
    "alarm",
    "pause",
    "sysconf",
    "umask",
    "syslog",
    "openlog",
    "closelog",
    "opendir",
    "readdir",
    "closedir",
    "__errno_location",
    "printk",
];

/// What a function writes, if it is one of the C library.
pub(crate) fn writes(name: &str) -> Option<Writes> {
    let quiet = [&STDIO[..], &STDLIB, &STRING, &POSIX].iter().any(|names| names.contains(&name));
    if quiet {
        return Some(Writes::Nothing);
    }
    let name = name.strip_prefix("__isoc99_").unwrap_or(name);
    Some(match name {
        "scanf" => Writes::From(1),
        "fscanf" | "sscanf" => Writes::From(2),
        "vscanf" | "vfscanf" | "vsscanf" => Writes::From(0),
        "fgets" | "gets" | "fread" | "getcwd" | "sprintf" | "snprintf" | "vsprintf" | "vsnprintf"
        | "asprintf" | "vasprintf" | "time" | "gettimeofday" | "pipe" | "wait" | "mempcpy" | "stpcpy"
        | "stpncpy" | "bzero" | "mktime" | "timegm" | "strtok" | "strsep" | "strftime" | "strxfrm"
        | "memccpy" | "sigemptyset" | "sigfillset" | "sigaddset" | "sigdelset" | "poll" | "times"
        | "uname" | "gethostname" => Writes::Arguments(&[0]),
        "read" | "pread" | "recv" | "readlink" | "strtol" | "strtoul" | "strtoll" | "strtoull" | "strtod"
        | "strtof" | "strtold" | "stat" | "fstat" | "lstat" | "clock_gettime" | "localtime_r"
        | "gmtime_r" | "ctime_r" | "asctime_r" | "waitpid" | "frexp" | "modf" | "bcopy" | "swab"
        | "nanosleep" | "setvbuf" | "setbuf" => Writes::Arguments(&[1]),
        "getline" | "getdelim" => Writes::Arguments(&[0, 1]),
        "strtok_r" => Writes::Arguments(&[0, 2]),
        "ioctl" | "sigaction" | "sigprocmask" => Writes::Arguments(&[2]),
        "recvfrom" => Writes::Arguments(&[1, 4, 5]),
        "accept" | "getsockname" | "getpeername" => Writes::Arguments(&[1, 2]),
        "select" => Writes::Arguments(&[1, 2, 3, 4]),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_read_write_what_they_read() {
        assert_eq!(writes("puts"), Some(Writes::Nothing));
        assert!(writes("__isoc99_sscanf").is_some_and(|writes| writes.contains(2) && !writes.contains(1)));
        assert_eq!(writes("fill"), None);
    }
}
