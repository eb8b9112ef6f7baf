//! Rules about the use of libraries: streams are opened before they are used, locks are given back.
//!
//! A property is an automaton that reads calls. It is written in a small language
//! (`docs/properties.md`), and each object that the rules are about (a stream, a lock) has a state
//! of its own.
//!
//! # Reading order
//! 1. [`Property`] and its parts: `property.rs`. [`Glob`]: names of functions.
//! 2. [`parse`]: from text to a property; `lexer.rs`, `parser.rs`, `transitions.rs`. Mistakes have
//!    a line and a column: [`PropertyError`].
//! 3. [`shipped`], [`SHIPPED`]: the properties that come with the program.
//! 4. [`Machine`]: what a property means, event by event, with all objects followed at once;
//!    [`monitor`]: the same in C.

mod error;
mod lexer;
mod machine;
pub mod monitor;
mod parser;
mod property;
mod shipped;
mod transitions;

pub use error::PropertyError;
pub use machine::{Machine, Outcome, Reported};
pub use parser::parse;
pub use property::{
    Argument, Comparison, Effect, Event, From, Glob, Guard, Handle, Model, Object, Operand, Pattern,
    Property, Returns, Rule, Severity, State, StateId, Transition,
};
pub use shipped::{SHIPPED, Shipped, shipped};
