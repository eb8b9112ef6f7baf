//! A language server for C: which checks can fail, and the run on which they do, in the editor.
//!
//! # Reading order
//! 1. [`Analyst`] (`analyst.rs`): who decides about a text. The server knows no engine: it asks an
//!    analyst, and shows [`Findings`], of which the explanation is that of `wherefore explain`.
//! 2. [`serve`] (`server.rs`): the loop over messages, answers of the analyst and the clock;
//!    `requests.rs`: what is answered to a request.
//! 3. `framing.rs`: messages on a stream; `protocol.rs`: their kinds; `settings.rs`: what a user may
//!    set; `documents.rs`: texts, their names and places in them.
//! 4. `diagnostics.rs`, `hover.rs`, `lens.rs`, `actions.rs`: findings as the protocol has them.
//!
//! *Invariant:* no message of a client ends the server but `exit` and the end of the stream; what
//! is shown of a text was found out about this very text.

mod actions;
mod analyst;
mod diagnostics;
mod documents;
mod framing;
mod hover;
mod lens;
mod protocol;
mod requests;
mod server;
mod settings;

pub use analyst::{Analyst, Edit, Findings, Fix, Mistake, Outcome, Question};
pub use server::{Ending, serve};
pub use settings::Settings;
