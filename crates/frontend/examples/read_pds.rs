//! Reads a pushdown system, and says what is in it and how long reading took.
//!
//! `cargo run --release -p wherefore-frontend --example read_pds -- FILE [START [TARGET]]`

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use wherefore_frontend::pds::{Sets, read_with};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(system) = arguments.first() else {
        eprintln!("usage: read_pds FILE [START [TARGET]]");
        return ExitCode::from(2);
    };
    let sets = Sets { start: arguments.get(1).map(Path::new), target: arguments.get(2).map(Path::new) };
    let clock = Instant::now();
    match read_with(Path::new(system), sets) {
        Ok(file) => {
            println!("{file:?} in {:.3} s", clock.elapsed().as_secs_f64());
            println!("control states on the stack: {}", file.encoding.is_on_stack());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprint!("{}", error.render());
            ExitCode::from(2)
        }
    }
}
