//! `cargo xtask soak`: all tests with all of their random cases, from a fresh seed.

use std::hash::{BuildHasher, RandomState};
use std::process::{Command, ExitCode};
use std::time::Instant;

use clap::Args;

/// What tests look at, as `wherefore-testing` says: that crate is not published, and packages need
/// all that they use.
const SOAK: &str = "WHEREFORE_SOAK";
const SEED: &str = "PROPTEST_RNG_SEED";

/// What to run.
#[derive(Args)]
pub struct SoakArgs {
    /// Run again with the seed of an earlier run [default: a fresh one each round].
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,

    /// How many times to run, each time with a seed of its own.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, conflicts_with = "seed")]
    rounds: usize,

    /// Handed to `cargo test`: names of tests, `--package NAME`, `-- --include-ignored`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    options: Vec<String>,
}

/// Runs the tests, and says with which seed; fails if a test does.
pub fn run(args: &SoakArgs) -> ExitCode {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    for round in 0..args.rounds {
        let seed = args.seed.unwrap_or_else(|| RandomState::new().hash_one(round));
        println!("soak: seed {seed}");
        let begin = Instant::now();
        let mut command = Command::new(&cargo);
        command.args(["test", "--workspace", "--no-fail-fast"]).args(&args.options);
        command.env(SOAK, "1").env(SEED, seed.to_string());
        let status = match command.status() {
            Ok(status) => status,
            Err(error) => {
                eprintln!("error: cargo cannot be run: {error}");
                return ExitCode::from(2);
            }
        };
        if !status.success() {
            eprintln!("soak: a test failed; again with: cargo xtask soak --seed {seed}");
            return ExitCode::FAILURE;
        }
        println!("soak: all tests passed with seed {seed} in {:.0} s", begin.elapsed().as_secs_f64());
    }
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    #[test]
    fn tests_look_at_the_same_variables() {
        assert_eq!((super::SOAK, super::SEED), (wherefore_testing::SOAK, wherefore_testing::SEED));
    }
}
