//! Facts: those of the papers' cases, and of random programs.

mod cases;
mod spans;
mod yaml;
