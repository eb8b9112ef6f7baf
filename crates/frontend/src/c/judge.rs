//! Whether a text is C: the compiler is the judge.
//!
//! What we take for a mistake may be our own: something that was not understood earlier, or that is
//! not known here. If the compiler accepts the text, it is a place that is not modelled instead.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::input::output_on;
use super::{Options, is_cimple};

/// What was read.
#[derive(Clone, Copy)]
pub(crate) enum Given<'a> {
    Files(&'a [PathBuf]),
    Text(&'a str),
    /// A text that no compiler knows.
    Cimple,
}

/// The compiler: `$CC`, else `cc`.
pub(crate) fn compiler() -> OsString {
    std::env::var_os("CC").filter(|cc| !cc.is_empty()).unwrap_or_else(|| OsString::from("cc"))
}

impl Given<'_> {
    /// Whether the compiler accepts it.
    pub(crate) fn is_c(self, options: &Options) -> bool {
        let mut command = Command::new(compiler());
        command.args(["-fsyntax-only", "-w", "-std=gnu17"]).args(&options.preprocessor);
        let output = match self {
            Given::Files(files) if !files.iter().any(|file| is_cimple(file)) => {
                command.args(files).stdin(Stdio::null()).output()
            }
            Given::Text(text) => {
                command.args(["-x", "cpp-output", "-"]);
                output_on(command, text.as_bytes())
            }
            Given::Files(_) | Given::Cimple => return false,
        };
        output.is_ok_and(|output| output.status.success())
    }
}
