//! Claims about the engines as a whole. One binary: what they have in common is compiled and linked
//! once.

mod c_cases;
mod c_projection;
mod c_refinement;
mod c_support;
mod case_facts;
mod case_facts_support;
mod cases;
mod enumeration;
mod interpolants;
mod memory;
mod properties;
mod properties_random;
mod random_programs;
mod random_runs;
mod random_threads;
mod recursion;
mod refinement;
mod rules;
mod single_run;
mod small_values;
mod termination;
mod thread_cases;
mod thread_reasons;
mod thread_rules;
mod unrolled_proofs;
