//! The command line of `wherefore`: argument parsing, wiring, and exit codes. Every decision is a library's.

mod exit;
mod limits;
mod pds;
mod program;

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
    Check(program::check::CheckArgs),
    Explain(program::explain::ExplainArgs),
    Project(program::project::ProjectArgs),
    Slice(program::slice::SliceArgs),
    Serve(program::serve::ServeArgs),
    Pds(pds::PdsArgs),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let out = &mut std::io::stdout();
    let outcome = match &cli.command {
        Command::Check(args) => program::check::run(args, out),
        Command::Explain(args) => program::explain::run(args, out),
        Command::Project(args) => program::project::run(args, out),
        Command::Slice(args) => program::slice::run(args, out),
        Command::Serve(args) => program::serve::run(args, out),
        Command::Pds(args) => pds::run(args, out),
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
