//! Remopla: the language of Moped, guarded commands over truth values, integers, enumerations,
//! arrays and structures.
//!
//! `docs/languages.md` describes the language as it is read here.
//!
//! ```
//! use wherefore_program::{ExploreLimits, Outcome, TargetChoice, explore};
//!
//! let program = wherefore_frontend::remopla::parse("wrap.rem", "
//!     define DEFAULT_INT_BITS 3
//!     int x;
//!     module void main() {
//!       do :: x + 1 > x -> x = x + 1;
//!          :: else -> break;
//!       od
//!       if :: x == 7 -> goto error; :: else -> return; fi
//!       error: skip;
//!     }
//! ", None)?;
//! let targets = program.targets(&TargetChoice::Default).unwrap();
//! let exploration = explore(&program, &targets, ExploreLimits::default());
//! assert_eq!(exploration.outcome(), Outcome::Reached);
//!
//! let error = wherefore_frontend::remopla::parse("bad.rem", "module void main() { goto out; }", None).unwrap_err();
//! assert_eq!(error.render(), "\
//! bad.rem:1:27: there is no label `out` here
//!   module void main() { goto out; }
//!                             ^^^
//! ");
//! # Ok::<(), wherefore_frontend::LoadError>(())
//! ```

mod ast;
mod body;
mod declare;
mod lower;
mod parse;
mod parse_expr;
mod rules;
mod symbols;
mod value;

use wherefore_program::{Program, SourceFile};

use crate::diagnostics::{LoadError, Reporter};

/// Reads a Remopla program. `name` is for messages; execution starts at `entry`, or else where
/// `init` says, or else at `main`.
pub fn parse(name: &str, text: &str, entry: Option<&str>) -> Result<Program, LoadError> {
    let mut reporter = Reporter::new(name, text);
    let file = parse::parse(text, &mut reporter);
    let program = lower::lower(&file, SourceFile::new(name, text), entry, &mut reporter);
    reporter.finish()?;
    let program = program.expect("a program without errors is lowered");
    debug_assert_eq!(program.check(), Ok(()));
    Ok(program)
}

#[cfg(test)]
mod tests;
