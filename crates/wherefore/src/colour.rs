//! Whether and how words are coloured: `--color`, and the variables that terminals agree on
//! (<https://no-color.org>, <https://bixense.com/clicolors>).

use std::io::IsTerminal;
use std::sync::OnceLock;

use anstyle::{AnsiColor, Style};
use clap::ColorChoice;

static CHOICE: OnceLock<ColorChoice> = OnceLock::new();

/// Keeps what `--color` says, for the whole process.
pub fn choose(choice: ColorChoice) {
    let _ = CHOICE.set(choice);
}

/// Whether the standard output is coloured.
pub fn is_wanted() -> bool {
    let choice = CHOICE.get().copied().unwrap_or_default();
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
    let surroundings = Surroundings {
        no_color: std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()),
        force: is_set("CLICOLOR_FORCE"),
        is_off: std::env::var_os("CLICOLOR").is_some_and(|value| value == "0"),
        is_terminal: std::io::stdout().is_terminal(),
        is_dumb: std::env::var_os("TERM").is_some_and(|value| value == "dumb"),
    };
    decide(choice, surroundings)
}

/// What the environment says.
#[derive(Clone, Copy, Default)]
#[allow(clippy::struct_excessive_bools)]
struct Surroundings {
    no_color: bool,
    force: bool,
    is_off: bool,
    is_terminal: bool,
    is_dumb: bool,
}

fn decide(choice: ColorChoice, around: Surroundings) -> bool {
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if around.no_color => false,
        ColorChoice::Auto => around.force || around.is_terminal && !around.is_off && !around.is_dumb,
    }
}

/// What a word says of a program.
#[derive(Clone, Copy)]
pub enum Tone {
    /// It holds.
    Good,
    /// It can fail.
    Bad,
    /// It is not known.
    Open,
    /// It is less important than the rest.
    Faint,
}

/// A word in its colour, if colours are on.
pub fn painted(text: &str, tone: Tone, is_on: bool) -> String {
    if !is_on {
        return text.to_owned();
    }
    let style = match tone {
        Tone::Good => Style::new().bold().fg_color(Some(AnsiColor::Green.into())),
        Tone::Bad => Style::new().bold().fg_color(Some(AnsiColor::Red.into())),
        Tone::Open => Style::new().bold().fg_color(Some(AnsiColor::Yellow.into())),
        Tone::Faint => Style::new().dimmed(),
    };
    format!("{style}{text}{style:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_beats_the_environment_and_no_color_beats_force() {
        let terminal = Surroundings { is_terminal: true, ..Surroundings::default() };
        assert!(decide(ColorChoice::Auto, terminal));
        assert!(!decide(ColorChoice::Auto, Surroundings { is_dumb: true, ..terminal }));
        assert!(!decide(ColorChoice::Auto, Surroundings { is_off: true, ..terminal }));
        assert!(!decide(ColorChoice::Auto, Surroundings { no_color: true, force: true, ..terminal }));
        assert!(!decide(ColorChoice::Auto, Surroundings::default()));
        assert!(decide(ColorChoice::Auto, Surroundings { force: true, ..Surroundings::default() }));
        assert!(decide(ColorChoice::Always, Surroundings { no_color: true, ..Surroundings::default() }));
        assert!(!decide(ColorChoice::Never, Surroundings { force: true, ..terminal }));
    }
}
