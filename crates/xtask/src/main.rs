//! Benchmarks, acceptance runs and long tests: `cargo xtask …`.

mod accept;
mod apps;
mod bench;
mod csmith;
mod soak;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Heap use is part of what benchmarks report.
#[global_allocator]
static ALLOCATOR: peak_alloc::PeakAlloc = peak_alloc::PeakAlloc;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Benchmarks, acceptance runs and long tests")]
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
    /// Fetch real programs from Debian, and print how much of them the front end translates.
    Apps(apps::AppsArgs),
    /// Check random programs of csmith, whose results the compiler has computed; `wherefore` must
    /// have been built with the same profile.
    Csmith(csmith::CsmithArgs),
    /// Run all tests with all of their random cases, from a fresh seed.
    Soak(soak::SoakArgs),
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Bench { subject } => bench::run(&subject),
        Command::Accept(args) => accept::run(&args),
        Command::Apps(args) => apps::run(&args),
        Command::Csmith(args) => csmith::run(&args),
        Command::Soak(args) => soak::run(&args),
    }
}
