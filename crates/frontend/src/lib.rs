//! Front ends: from files to programs and pushdown systems.
//!
//! # Reading order
//! 1. [`load()`]: a task from a file; [`Language`] says which languages there are, [`LoadError`]
//!    what can be wrong.
//! 2. [`boolean`]: Boolean programs.
//! 3. [`remopla`]: Moped's language.
//! 4. [`mod@c`] reads C; start at [`c::translate`].
//! 5. [`pds`]: pushdown systems as files, in three formats; start at [`pds::read`] and
//!    [`pds::PdsFile`].
//! 6. [`load_with_conditions`]: conditions over globals beside a program.

pub mod boolean;
pub mod c;
mod conditions;
mod diagnostics;
mod load;
pub mod pds;
pub mod remopla;
mod scan;
#[cfg(test)]
mod test_support;

pub use conditions::{WrongCondition, load_with_conditions};
pub use diagnostics::{Diagnostic, LoadError, MAX_DIAGNOSTICS};
pub use load::{language_of, load, parse};
pub use wherefore_program::Language;
