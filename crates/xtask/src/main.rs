//! Benchmarks and acceptance runs: `cargo xtask …`.

mod bench;

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
}

fn main() {
    match Cli::parse().command {
        Command::Bench { subject } => bench::run(&subject),
    }
}
