//! Explanations for people and for other tools: text, HTML, SARIF, witnesses, JSON, DOT.
//!
//! *Invariant:* a report says only what is in a [`wherefore_explain::model::Explanation`]; it decides nothing.
