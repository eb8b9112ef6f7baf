//! The command line of `wherefore`: argument parsing, wiring, and exit codes. Every decision is a
//! library's.

mod colour;
mod commands;
mod exit;
mod limits;
mod manual;
mod pds;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use exit::Exit;

/// Tells whether a program can fail, and where and why.
#[derive(Parser)]
#[command(name = "wherefore", version, after_help = exit::HELP)]
struct Cli {
    /// Colour the answer.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_short_help = true)]
    color: clap::ColorChoice,

    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Check(commands::check::CheckArgs),
    Explain(commands::explain::ExplainArgs),
    Project(commands::project::ProjectArgs),
    Flow(commands::flow::FlowArgs),
    Slice(commands::slice::SliceArgs),
    Trace(commands::trace::TraceArgs),
    Validate(commands::validate::ValidateArgs),
    Serve(commands::serve::ServeArgs),
    Lsp(commands::lsp::LspArgs),
    Harness(commands::harness::HarnessArgs),
    Properties(commands::properties::PropertiesArgs),
    Pds(pds::PdsArgs),
    Completions(manual::CompletionArgs),
    Man(manual::ManArgs),
}

fn main() -> ExitCode {
    let mut cli = Cli::parse();
    colour::choose(cli.color);
    let out = &mut std::io::stdout();
    let outcome = match &mut cli.command {
        Command::Check(args) => commands::check::run(args, out),
        Command::Explain(args) => commands::explain::run(args, out),
        Command::Project(args) => commands::project::run(args, out),
        Command::Flow(args) => commands::flow::run(args, out),
        Command::Slice(args) => commands::slice::run(args, out),
        Command::Trace(args) => commands::trace::run(args, out),
        Command::Validate(args) => commands::validate::run(args, out),
        Command::Serve(args) => commands::serve::run(args, out),
        Command::Lsp(args) => commands::lsp::run(args),
        Command::Harness(args) => commands::harness::run(args, out),
        Command::Properties(args) => commands::properties::run(args, out),
        Command::Pds(args) => pds::run(args, out),
        Command::Completions(args) => manual::completions(args, Cli::command(), out),
        Command::Man(args) => manual::man(args, Cli::command(), out),
    };
    let exit = match outcome {
        Ok(Exit::Unknown) if limits::is_interrupted() => Exit::Interrupted,
        Ok(exit) => exit,
        Err(error) => exit::report(&error),
    };
    exit.into()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        super::Cli::command().debug_assert();
    }
}
