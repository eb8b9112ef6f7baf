//! Claims about the front ends as a whole. One binary: what they have in common is compiled and
//! linked once.

mod c_bench;
mod c_floats;
mod c_front;
mod c_judged;
mod c_jumps;
mod c_layouts;
mod c_library;
mod c_nested;
mod c_order;
mod c_places;
mod c_support;
mod c_values;
mod c_vectors;
mod c_wide;
mod csmith;
mod load;
mod path_slice;
mod pds_fuzz;
mod pds_instances;
mod program_cases;
mod program_fuzz;
mod witness;
