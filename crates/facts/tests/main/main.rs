//! Facts: those of the papers' cases, and of random programs.

mod cases;
mod random;
mod sets;
mod spans;
mod yaml;
