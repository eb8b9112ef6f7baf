//! The command line of `wherefore`: argument parsing, wiring, and exit codes. Every decision is a library's.

mod exit;
mod limits;
mod pds;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Tells whether a program can fail, and where and why.
#[derive(Parser)]
#[command(name = "wherefore", version, after_help = exit::HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Pds(pds::PdsArgs),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match &cli.command {
        Command::Pds(args) => pds::run(args, &mut std::io::stdout().lock()),
    };
    outcome.unwrap_or_else(|error| exit::report(&error)).into()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        super::Cli::command().debug_assert();
    }
}
