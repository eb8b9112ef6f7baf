//! Tests of temporal logic.

mod automata;
mod finite;
mod formulas;
mod generator;
mod recursion;
mod values;
