//! Whether a text is C: the compiler is the judge.
//!
//! What we take for a mistake may be our own: something that was not understood earlier, or that is
//! not known here. If the compiler accepts the text, it is a place that is not modelled instead.

use std::path::PathBuf;
use std::process::{Output, Stdio};

use wherefore_program::c_compiler;

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

impl Given<'_> {
    /// Whether the compiler accepts it.
    pub(crate) fn is_c(self, options: &Options) -> bool {
        let command = |flags: &[String]| {
            let mut command = c_compiler::command();
            command.args(["-fsyntax-only", "-w", "-std=gnu17"]).args(flags);
            command
        };
        let accepts = |output: std::io::Result<Output>| output.is_ok_and(|output| output.status.success());
        match self {
            Given::Files(files) if !files.iter().any(|file| is_cimple(file)) => files.iter().all(|file| {
                accepts(command(&options.flags_of(file)).arg(file).stdin(Stdio::null()).output())
            }),
            Given::Text(text) => {
                let mut command = command(&options.preprocessor);
                command.args(["-x", "cpp-output", "-"]);
                accepts(output_on(command, text.as_bytes()))
            }
            Given::Files(_) | Given::Cimple => false,
        }
    }
}
