//! Reads a program and shows its control-flow automata.
//!
//! `cargo run -p wherefore-frontend --example read_program -- FILE [--dot]`

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(file) = arguments.first() else {
        eprintln!("usage: read_program FILE [--dot]");
        return ExitCode::from(2);
    };
    match wherefore_frontend::load(file, None) {
        Ok(program) if arguments.iter().any(|argument| argument == "--dot") => print!("{}", program.dot()),
        Ok(program) => print!("{}", program.listing()),
        Err(error) => {
            eprint!("{}", error.render());
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
