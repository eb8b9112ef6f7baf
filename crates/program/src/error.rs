//! What can be wrong with a program, a question about one, or a trace.

/// What can be wrong with a program, a question about one, or a trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// The program breaks a rule of the representation: a mistake of its front end.
    #[error("ill-formed program: {place}: {reason}")]
    IllFormed {
        /// The procedure and the edge, or another part.
        place: String,
        /// The rule broken.
        reason: String,
    },
    /// No label or procedure has this name.
    #[error("no label or procedure is called `{name}`{}", suggest(near))]
    UnknownLabel {
        /// The name asked for.
        name: String,
        /// Names like it.
        near: Vec<String>,
    },
    /// No procedure has this name.
    #[error("no procedure is called `{name}`{}", suggest(near))]
    UnknownProcedure {
        /// The name asked for.
        name: String,
        /// Names like it.
        near: Vec<String>,
    },
    /// A step of a trace is not possible.
    #[error("step {step} is impossible: {reason}")]
    Impossible {
        /// The step, from 1; 0 is the first state.
        step: usize,
        /// Why.
        reason: String,
    },
    /// A step of a trace has too many outcomes to look for the given one.
    #[error("step {step} has too many outcomes to try them all")]
    TooManyOutcomes {
        /// The step, from 1; 0 is the first state.
        step: usize,
    },
}

impl ProgramError {
    pub(crate) fn unknown_label<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Self {
        ProgramError::UnknownLabel { name: name.to_owned(), near: near(name, names) }
    }

    pub(crate) fn unknown_procedure<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Self {
        ProgramError::UnknownProcedure { name: name.to_owned(), near: near(name, names) }
    }
}

fn suggest(near: &[String]) -> String {
    match near {
        [] => String::new(),
        [one] => format!("; did you mean `{one}`?"),
        many => format!("; did you mean one of `{}`?", many.join("`, `")),
    }
}

/// At most five names at a small distance from `name`, the nearest first.
fn near<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let most = name.chars().count() / 3 + 1;
    let mut ranked: Vec<(usize, &str)> =
        names.map(|other| (distance(name, other), other)).filter(|(distance, _)| *distance <= most).collect();
    ranked.sort_unstable();
    ranked.dedup();
    ranked.into_iter().take(5).map(|(_, other)| other.to_owned()).collect()
}

/// The edit distance, with letters compared without case.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substitute = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substitute.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_come_nearest_first() {
        let names = ["ERROR", "error2", "main", "err"];
        assert_eq!(near("error", names.into_iter()), ["ERROR", "error2", "err"]);
        let error = ProgramError::unknown_label("eror", names.into_iter());
        assert!(error.to_string().contains("did you mean one of `ERROR`"), "{error}");
    }
}
