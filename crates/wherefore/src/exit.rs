//! Exit codes: the one place where they are defined.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use wherefore_check::NoProver;
use wherefore_frontend::LoadError;
use wherefore_frontend::pds::PdsError;

/// Shown at the end of `-h`.
pub const SHORT_HELP: &str = "\
Exit codes: 0 safe, 10 unsafe, 5 unknown, 2 bad input, 130 interrupted. More options: --help";

/// Shown at the end of `--help`.
pub const HELP: &str = "\
Exit codes:
  0   safe: no run reaches the target
  10  unsafe: some run does
  5   unknown: a limit was reached, or the property is not decided
  2   bad input or usage
  130 interrupted before there was a verdict (Ctrl-C)";

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Nothing can go wrong, or nothing was reached; or what was asked for is no verdict.
    Negative,
    /// Something can go wrong; something was reached.
    Positive,
    /// A limit was met first, or the question is not decided.
    Unknown,
    /// The input or the arguments are at fault.
    BadInput,
    /// The user has interrupted it before there was a verdict.
    Interrupted,
    /// An editor has ended a session without the words for it.
    Abrupt,
}

impl Exit {
    /// The number.
    pub fn code(self) -> u8 {
        match self {
            Exit::Negative => 0,
            Exit::Positive => 10,
            Exit::Unknown => 5,
            Exit::BadInput => 2,
            // 128 and the number of SIGINT, as shells have it.
            Exit::Interrupted => 130,
            // The protocol of language servers says so.
            Exit::Abrupt => 1,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}

/// Why a command could not give an answer.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// The file is at fault; the message shows where.
    #[error("{}", .0.render().trim_end())]
    Pds(#[from] PdsError),
    /// The program is at fault; the messages show where.
    #[error("{}", .0.render().trim_end())]
    Load(#[from] LoadError),
    #[error(transparent)]
    Rules(#[from] wherefore_properties::PropertyError),
    /// What was given is a mistake, in words.
    #[error("{0}")]
    Mistake(String),
    /// A file cannot be read or written.
    #[error("{file}: {error}")]
    File {
        /// Its name.
        file: String,
        /// What the system says.
        error: io::Error,
    },
    /// The question cannot be asked of this file.
    #[error("{file}: {message}")]
    Question {
        /// The name of the file.
        file: String,
        /// What is missing or too much.
        message: String,
    },
    /// The solver that was named is none.
    #[error("{0}")]
    Solver(#[from] NoProver),
    /// What is asked is well known, and not decided here: an answer, not an error.
    #[error("{}", .answer.trim_end())]
    NotDecided {
        /// The answer, *unknown*, in the form that was asked for.
        answer: String,
    },
    /// The answer cannot be written.
    #[error("cannot write the answer: {0}")]
    Output(#[from] io::Error),
}

/// Prints an error and says how to leave.
pub fn report(error: &CliError) -> Exit {
    if let CliError::NotDecided { answer } = error {
        return print(&mut io::stdout(), answer, Exit::Unknown).unwrap_or_else(|error| report(&error));
    }
    crate::commands::progress::clear();
    eprintln!("error: {error}");
    Exit::BadInput
}

/// Whether the answer has been claimed by the thread that prints it.
static CLAIMED: AtomicBool = AtomicBool::new(false);

/// Claims the right to print the answer of the process: true for the first thread that does.
pub fn claim_output() -> bool {
    !CLAIMED.swap(true, Ordering::SeqCst)
}

/// Prints, and leaves as the answer says; a reader that has seen enough, such as `head`, does not
/// change it. If a limit was met first and its answer is being printed, the process ends with that
/// one.
pub fn print(out: &mut impl Write, text: &str, exit: Exit) -> Result<Exit, CliError> {
    if !claim_output() {
        loop {
            std::thread::park();
        }
    }
    print_claimed(out, text)?;
    Ok(exit)
}

/// Prints by a thread that has claimed the output.
pub fn print_claimed(out: &mut impl Write, text: &str) -> Result<(), CliError> {
    crate::commands::progress::clear();
    match out.write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
