//! Benchmarks and acceptance runs: `cargo xtask …`.

mod accept;
mod bench;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Heap use is part of what benchmarks report.
#[global_allocator]
static ALLOCATOR: peak_alloc::PeakAlloc = peak_alloc::PeakAlloc;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Benchmarks and acceptance runs")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure, and print tables of ratios.
    Bench {
        #[command(subcommand)]
        subject: bench::Subject,
    },
    /// Check programs with known verdicts; `wherefore` must have been built with the same profile.
    Accept(accept::AcceptArgs),
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Bench { subject } => bench::run(&subject),
        Command::Accept(args) => accept::run(&args),
    }
}
