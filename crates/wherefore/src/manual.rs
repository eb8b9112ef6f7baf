//! `wherefore completions` and `wherefore man`: what shells and `man` need to know, made of the
//! definition of the command line itself.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_complete::Shell;

use crate::exit::{CliError, Exit, print};

/// Print completions for a shell.
///
/// bash: `wherefore completions bash > ~/.local/share/bash-completion/completions/wherefore`; zsh:
/// into a file `_wherefore` in a folder of `$fpath`; fish: into
/// `~/.config/fish/completions/wherefore.fish`.
#[derive(Args)]
pub struct CompletionArgs {
    /// The shell.
    shell: Shell,
}

/// Print the manual page, or write the pages of all commands into a folder.
#[derive(Args)]
pub struct ManArgs {
    /// Write `wherefore.1`, `wherefore-check.1` and so on into this folder.
    folder: Option<PathBuf>,
}

/// Prints completions.
pub fn completions(
    args: &CompletionArgs,
    mut command: Command,
    out: &mut impl Write,
) -> Result<Exit, CliError> {
    let mut text = Vec::new();
    let name = command.get_name().to_owned();
    clap_complete::generate(args.shell, &mut command, name, &mut text);
    print(out, &String::from_utf8_lossy(&text), Exit::Negative)
}

/// Prints or writes manual pages.
pub fn man(args: &ManArgs, mut command: Command, out: &mut impl Write) -> Result<Exit, CliError> {
    // Names and usage lines of the subcommands are made here.
    command.build();
    let Some(folder) = &args.folder else {
        return print(out, &String::from_utf8_lossy(&page(&command)?), Exit::Negative);
    };
    let wrong = |path: &Path, error| CliError::File { file: path.display().to_string(), error };
    std::fs::create_dir_all(folder).map_err(|error| wrong(folder, error))?;
    let subcommands = command.get_subcommands().filter(|sub| sub.get_name() != "help");
    let mut names = Vec::new();
    for (name, command) in std::iter::once(("wherefore".to_owned(), &command))
        .chain(subcommands.map(|sub| (format!("wherefore-{}", sub.get_name()), sub)))
    {
        let path = folder.join(format!("{name}.1"));
        std::fs::write(&path, page(command)?).map_err(|error| wrong(&path, error))?;
        names.push(path.display().to_string() + "\n");
    }
    print(out, &names.concat(), Exit::Negative)
}

fn page(command: &Command) -> Result<Vec<u8>, CliError> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut text)?;
    Ok(text)
}
