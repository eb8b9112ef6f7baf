//! What tests of several crates have in common: how many random cases there are, and data that is
//! not part of the repository.
//!
//! A plain `cargo test` is a gate: random tests run a third of their cases, always the same ones
//! (`.cargo/config.toml` fixes the seed). `cargo xtask soak` runs all of them, with a fresh seed.

use std::path::PathBuf;

/// Set by `cargo xtask soak`.
pub const SOAK: &str = "WHEREFORE_SOAK";

/// The seed of random tests, also of those that `proptest` makes.
pub const SEED: &str = "PROPTEST_RNG_SEED";

/// How many random cases a test runs that has so many in a soak: a third of them otherwise.
pub fn cases(all: u32) -> u32 {
    if is_soak() { all } else { all.div_ceil(3) }
}

/// Whether tests may take their time.
pub fn is_soak() -> bool {
    std::env::var_os(SOAK).is_some()
}

/// The seed for tests that draw their cases themselves; zero unless it is set.
pub fn seed() -> u64 {
    std::env::var(SEED).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// The file or folder that an environment variable names. Tests that need one are ignored unless
/// they are asked for (`--include-ignored`).
///
/// # Panics
/// If the variable is not set: a test without its data must not pass.
pub fn given(variable: &str) -> PathBuf {
    match std::env::var_os(variable) {
        Some(path) => path.into(),
        None => panic!("{variable} is not set: this test needs data that is not part of the repository"),
    }
}
