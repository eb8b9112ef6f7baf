//! Claims about reports as a whole. One binary: what they have in common is compiled and linked
//! once.

mod any_text;
mod common;
mod dot;
mod html;
mod json;
mod sarif;
mod serve;
mod terminal;
mod witness;
