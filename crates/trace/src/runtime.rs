//! Frames that are not of the program: the C library, the sanitizers, what starts `main`.

use crate::backtrace::Frame;

/// Functions of the runtime whose names do not begin with an underscore.
const NAMES: [&str; 24] = [
    "abort",
    "raise",
    "gsignal",
    "kill",
    "tgkill",
    "exit",
    "start_thread",
    "clone",
    "clone3",
    "start",
    "<signal handler>",
    "qsort",
    "bsearch",
    "memcpy",
    "memmove",
    "memset",
    "strlen",
    "strcpy",
    "strcmp",
    "free",
    "malloc",
    "realloc",
    "calloc",
    "printf",
];

/// Whether a frame is of the runtime: by its name, its library, or its file.
pub(crate) fn is_runtime(frame: &Frame) -> bool {
    let by_name =
        frame.function.as_deref().is_some_and(|name| name.starts_with('_') || NAMES.contains(&name));
    let is_library = |module: &String| {
        let name = module.rsplit('/').next().unwrap_or(module);
        name.contains(".so") || name.ends_with(".dylib") || name.starts_with("lib") || name == "dyld"
    };
    let of_system = |file: &String| {
        file.starts_with("../sysdeps")
            || file.starts_with("../csu")
            || file.contains("/libsanitizer/")
            || file.starts_with("/usr/")
            || file.contains("compiler-rt/")
    };
    by_name || frame.module.as_ref().is_some_and(is_library) || frame.file.as_ref().is_some_and(of_system)
}
