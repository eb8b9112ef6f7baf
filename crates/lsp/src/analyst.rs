//! Who decides about a text, and what comes of it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use wherefore_explain::model::{Check, CheckVerdict, Explanation, Extent, Place, Run};

use crate::settings::Settings;

/// Decides about texts. The server asks one question at a time, on a thread of its own.
pub trait Analyst: Send + Sync {
    /// Decides about a text, and reports what is known: once, or several times, each report in the
    /// place of the one before. A question that is cancelled needs no report.
    fn analyse(&self, question: &Question, report: &mut dyn FnMut(Outcome));
}

/// A text, and how it is to be checked.
#[derive(Clone, Debug)]
pub struct Question {
    /// The file, by its absolute path.
    pub file: PathBuf,
    /// The text, if it is not that of the file.
    pub unsaved: Option<String>,
    /// What the user has set.
    pub settings: Settings,
    /// Set to true when nobody waits for the answer any more.
    pub cancel: Arc<AtomicBool>,
}

/// What came of a question.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The program was read, and its checks were decided or left open.
    Found(Box<Findings>),
    /// The text is not a program that can be checked.
    Mistakes(Vec<Mistake>),
}

/// What is known of a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// Its explanation, as far as it is known. Checks that can fail have their runs.
    pub explanation: Explanation,
    /// Changes of the text after which nothing fails.
    pub fixes: Vec<Fix>,
}

/// A change of the text after which nothing fails that failed before: this was checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fix {
    /// The change in words.
    pub title: String,
    /// The checks that can fail without it, by their positions in [`Explanation::checks`].
    pub checks: Vec<usize>,
    /// What is replaced; the parts do not overlap.
    pub edits: Vec<Edit>,
}

/// A part of a text that is replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edit {
    /// The part.
    pub extent: Extent,
    /// The new text.
    pub text: String,
}

/// Why a text cannot be checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mistake {
    /// The file; none is the one that was asked about.
    pub file: Option<PathBuf>,
    /// The line and the column where it begins, from 1; columns count characters. Line 0 is the
    /// whole file.
    pub start: (u32, u32),
    /// The column behind its end, on the same line.
    pub end: u32,
    /// What is wrong.
    pub message: String,
    /// Whether it says how the text could be checked, rather than that it is wrong.
    pub is_advice: bool,
}

impl Findings {
    /// The text of a source; empty if there is none.
    pub(crate) fn text(&self, file: usize) -> &str {
        self.explanation.sources.get(file).map_or("", |source| source.text.as_str())
    }

    /// The file of a source, if it is one: models of the library are none.
    pub(crate) fn path(&self, file: usize) -> Option<PathBuf> {
        let name = &self.explanation.sources.get(file)?.name;
        (!name.starts_with('<')).then(|| PathBuf::from(name))
    }

    /// The checks that can fail, with their positions and the runs on which they do.
    pub(crate) fn failing(&self) -> impl Iterator<Item = (usize, &Check, Option<&Run>)> {
        let checks = self.explanation.checks.iter().enumerate();
        let failing = checks.filter(|(_, check)| check.verdict == CheckVerdict::Unsafe);
        failing.map(|(at, check)| (at, check, check.run.as_ref()))
    }
}

/// What a failing check says, as a sentence without its end.
pub(crate) fn sentence(place: &Place) -> String {
    let label = place.label.as_deref().unwrap_or_default();
    match place.kind.as_str() {
        "assertion" => "this assertion can fail".to_owned(),
        "error-call" => format!("`{label}` can be called here"),
        "label" => format!("the label `{label}` can be reached"),
        "procedure" => format!("`{label}` can be entered"),
        kind if label.is_empty() => format!("this can break the rule `{kind}`"),
        _ => label.to_owned(),
    }
}
