//! Explanations for people and for other tools: text, HTML, SARIF, witnesses, JSON, DOT.
//!
//! *Invariant:* a report says only what is in a [`wherefore_explain::model::Explanation`]; it
//! decides nothing. *Invariant:* no text of a source, however odd, breaks a report; positions that
//! point nowhere are left out.
//!
//! # Reading order
//! 1. [`mod@terminal`]: one screen of text, and the few lines that other commands end with.
//! 2. [`mod@json`]: everything, for programs.
//! 3. [`mod@sarif`]: for code-scanning services and editors.
//! 4. [`mod@witness`]: for the validators of verification witnesses.
//! 5. [`mod@html`]: one page to look around in; [`mod@serve`] answers its questions.
//! 6. [`dot`]: pictures for Graphviz.
//! 7. [`folds`]: iterations of loops in runs as one item.

mod digest;
pub mod dot;
pub mod folds;
pub mod html;
pub mod json;
pub mod sarif;
pub mod serve;
mod source;
pub mod terminal;
pub mod witness;

pub use digest::sha256_of;
pub use html::{PageOptions, page};
pub use json::json;
pub use sarif::{SarifOptions, sarif};
pub use serve::{Question, serve};
pub use terminal::{TerminalOptions, short, terminal};
pub use witness::{DataModel, Task, witness};
