//! Boolean programs: the language of SLAM, Bebop, Boppo, Boom, SATABS and Getafix.
//!
//! `docs/languages.md` describes the language as it is read here.
//!
//! ```
//! use wherefore_program::{ExploreLimits, Outcome, TargetChoice, explore};
//!
//! let program = wherefore_frontend::boolean::parse("lock.bp", "
//!     decl locked;
//!     void main() begin
//!       locked := F;
//!       while * do locked := !locked; od
//!       assert(!locked);
//!     end
//! ", None)?;
//! let targets = program.targets(&TargetChoice::Default).unwrap();
//! let exploration = explore(&program, &targets, ExploreLimits::default());
//! assert_eq!(exploration.outcome(), Outcome::Reached);
//!
//! let error = wherefore_frontend::boolean::parse("bad.bp", "void main() begin x := T; end", None).unwrap_err();
//! assert_eq!(error.render(), "\
//! bad.bp:1:19: `x` is not declared
//!   void main() begin x := T; end
//!                     ^
//! ");
//! # Ok::<(), wherefore_frontend::LoadError>(())
//! ```

mod ast;
mod lower;
mod parse;

use wherefore_program::{Program, SourceFile};

use crate::diagnostics::{LoadError, Reporter};

/// Reads a Boolean program. `name` is for messages; execution starts at `entry`, or else at `main`.
pub fn parse(name: &str, text: &str, entry: Option<&str>) -> Result<Program, LoadError> {
    let mut reporter = Reporter::new(name, text);
    let file = parse::parse(text, &mut reporter);
    let program = lower::lower(&file, SourceFile::new(name, text), entry.unwrap_or("main"), &mut reporter);
    reporter.finish()?;
    let program = program.expect("a program without errors is lowered");
    debug_assert_eq!(program.check(), Ok(()));
    Ok(program)
}

#[cfg(test)]
mod tests;
