//! `wherefore harness FILE --entry NAME`: a C file that calls a function with any arguments.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use wherefore_frontend::c::{self, Options};

use crate::exit::{CliError, Exit, print};

/// Print a C file that calls a function with any arguments, to be edited and checked.
///
/// Numbers are inputs. A pointer is NULL or points to an object with any values: a structure, an
/// array of 4 elements, or a text of at most 15 characters.
#[derive(Args)]
pub struct HarnessArgs {
    /// The C file that defines the function, and further files that it needs.
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,

    /// The function to call.
    #[arg(long, value_name = "NAME")]
    entry: String,

    /// Define a macro for the preprocessor.
    #[arg(short = 'D', value_name = "MACRO")]
    define: Vec<String>,

    /// Search a folder for header files.
    #[arg(short = 'I', value_name = "FOLDER")]
    include: Vec<PathBuf>,
}

/// Reads, and prints the file.
pub fn run(args: &HarnessArgs, out: &mut impl Write) -> Result<Exit, CliError> {
    if let Some(file) = args.files.iter().find(|file| !c::is_c(file)) {
        let message = "a harness is for C files (.c, .i)".to_owned();
        return Err(CliError::Question { file: file.display().to_string(), message });
    }
    let mut preprocessor: Vec<String> = args.define.iter().map(|text| format!("-D{text}")).collect();
    preprocessor.extend(args.include.iter().map(|folder| format!("-I{}", folder.display())));
    let options = Options { preprocessor, entry: args.entry.clone(), ..Options::default() };
    print(out, &c::harness(&args.files, &options)?, Exit::Negative)
}
