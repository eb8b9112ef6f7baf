//! What others say about a program: verification witnesses of format 2 (YAML), and invariants in
//! comments (ACSL), as texts that are put into the files before they are read.
//!
//! An invariant becomes a check of its own at its place ([`Claim`]): it must hold whenever a run
//! comes there, and the engines may use it because runs that break it end there. A failing run that
//! a witness describes becomes a counter: each waypoint that a run passes in its turn increases it,
//! and a failure counts only where the counter has reached the end.
//!
//! Reading order: `yaml.rs`: from the file to claims and waypoints. `comments.rs`: the same from
//! comments. `places.rs`: where in a text they belong. `insert.rs`: what is put there.
//! `condition.rs`: which conditions can be evaluated anywhere.

mod comments;
mod condition;
mod insert;
mod places;
mod yaml;

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use wherefore_program::from_bytes;
use wherefore_pushdown::ParseError;

use super::DataModel;
use crate::conditions::CONDITION;
use crate::diagnostics::{Diagnostic, LoadError};
pub(crate) use insert::Change;

/// The function that our own texts call with a condition that is claimed to hold, and the number of
/// the claim.
pub(crate) const CLAIM: &str = "__wherefore_claim";

/// The function that our own texts call with a condition under which the run goes on.
pub(crate) const ASSUME: &str = "__wherefore_assume";

/// Texts that are put into files before they are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Insertions {
    files: BTreeMap<PathBuf, Inserted>,
    /// The conditions that are claimed to hold, by their numbers.
    pub claims: Vec<String>,
    /// Waypoints that were left out, because they have no place in the text that is certain.
    pub left_out: usize,
    /// How many conditions over globals are read beside the program.
    pub(crate) conditions: usize,
}

/// What is put into one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inserted {
    /// Declarations in front of the text.
    pub(crate) head: String,
    /// What is put at each place, sorted.
    pub(crate) changes: Vec<Change>,
}

/// Where the declarations of [`Inserted`] are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head {
    /// In front of the text, on a line of their own.
    Inside,
    /// Not in the text.
    Apart,
}

impl Inserted {
    /// A text with what is put into it, and where in the result how many bytes were added.
    pub(crate) fn applied_to(&self, text: &str, head: Head) -> (String, Vec<(usize, usize)>) {
        let (mut out, mut added) = (String::with_capacity(text.len()), Vec::new());
        if head == Head::Inside {
            out.push_str(&self.head);
            out.push('\n');
            added.push((0, out.len()));
        }
        let mut from = 0;
        for Change { at, text: new } in &self.changes {
            out.push_str(&text[from..*at]);
            added.push((out.len(), new.len()));
            out.push_str(new);
            from = *at;
        }
        out.push_str(&text[from..]);
        (out, added)
    }
}

impl Insertions {
    /// Conditions over globals that are read beside a program, as functions behind the text of one
    /// of its files ([`Translation::take_conditions`](super::Translation::take_conditions)).
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn of_conditions(file: &Path, conditions: &[(usize, String)]) -> Result<Self, LoadError> {
        let bytes =
            fs::read(file).map_err(|error| LoadError::Io { file: file.display().to_string(), error })?;
        let text = from_bytes(&bytes);
        let function = |(number, condition): &(usize, String)| {
            let condition = condition.replace('\n', " ");
            format!(" _Bool {CONDITION}{number}(void) {{ return ({condition}); }}")
        };
        let functions: String = conditions.iter().map(function).collect();
        // A comment at the end of the text must not hide them.
        let end = if text.ends_with('\n') { "" } else { "\n" };
        let change = Change { at: text.len(), text: format!("{end}{functions}") };
        let inserted = Inserted { head: String::new(), changes: vec![change] };
        let files = BTreeMap::from([(file.to_owned(), inserted)]);
        Ok(Self { files, conditions: conditions.len(), ..Self::default() })
    }

    /// Whether nothing is put anywhere.
    pub fn is_empty(&self) -> bool {
        self.files.values().all(|file| file.changes.is_empty())
    }

    /// What is put into a file.
    pub(crate) fn of(&self, file: &Path) -> Option<&Inserted> {
        self.files.get(file)
    }
}

/// What a witness says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The proof or the run.
    pub content: Content,
    /// The property that it is about, as its file states it.
    pub specification: Option<String>,
    /// The sizes of C's types.
    pub data_model: Option<DataModel>,
    /// The digests (SHA-256) of the files that it is about, by name.
    pub digests: Vec<(String, String)>,
    /// The file, for messages.
    name: String,
    text: String,
}

/// A proof or a failing run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Conditions that hold whenever a run is at a place.
    Correctness(Vec<Claim>),
    /// Segments that a failing run passes one after the other; the last one ends at the failure.
    Violation(Vec<Segment>),
}

/// A condition that is said to hold at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    place: Place,
    /// Whether it is about the head of a loop, not about a statement.
    is_loop: bool,
    condition: String,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    file: String,
    line: u32,
    /// In characters, from 1; none for the first suitable one of the line.
    column: Option<u32>,
    /// Where it stands in the witness or the comment, for messages.
    at: Range<usize>,
}

/// What a run must pass, and what it must not pass before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    avoid: Vec<Waypoint>,
    follow: Waypoint,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Waypoint {
    place: Place,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// A condition in front of a statement.
    Assumption(String),
    /// The decision of a branch.
    Branching(bool),
    /// A call.
    Enter,
    /// The end of a call, with a condition on `\result`.
    Return(Option<String>),
    /// The failure.
    Target,
    /// Known, and left out.
    Other,
}

/// Reads a witness of format 2.
///
/// ```
/// use wherefore_frontend::c::witness::{Content, read_witness};
///
/// let text = "- entry_type: invariant_set\n  content:\n  - invariant:\n      type: loop_invariant\n      \
///     location: {file_name: a.c, line: 3}\n      value: i <= 10\n      format: c_expression\n";
/// let Content::Correctness(claims) = read_witness("w.yml", text)?.content else { panic!() };
/// assert_eq!(claims.len(), 1);
/// # Ok::<(), wherefore_frontend::LoadError>(())
/// ```
pub fn read_witness(name: &str, text: &str) -> Result<Witness, LoadError> {
    yaml::read(name, text)
}

impl Witness {
    /// What is put into the files of the program for it.
    pub fn insertions(&self, files: &[PathBuf]) -> Result<Insertions, LoadError> {
        let wrong = |at: &Range<usize>, message: String| invalid(&self.name, &self.text, at.clone(), message);
        let file_of = |place: &Place| match files {
            // With one file there is no doubt, wherever the witness was made.
            [file] => Ok(file.clone()),
            files => {
                let last = Path::new(&place.file).file_name();
                let mut found = files.iter().filter(|file| file.file_name() == last);
                match (found.next(), found.next()) {
                    (Some(file), None) => Ok(file.clone()),
                    _ => Err(wrong(&place.at, format!("`{}` is not one file of the program", place.file))),
                }
            }
        };
        let mut writer = insert::Writer::new(files)?;
        match &self.content {
            Content::Correctness(claims) => {
                for claim in claims {
                    let file = file_of(&claim.place)?;
                    writer.claim(&file, claim).map_err(|message| wrong(&claim.place.at, message))?;
                }
            }
            Content::Violation(segments) => {
                for segment in segments {
                    for avoid in &segment.avoid {
                        let file = file_of(&avoid.place)?;
                        writer
                            .waypoint(&file, avoid, insert::Action::Avoid)
                            .map_err(|message| wrong(&avoid.place.at, message))?;
                    }
                    let file = file_of(&segment.follow.place)?;
                    writer
                        .waypoint(&file, &segment.follow, insert::Action::Follow)
                        .map_err(|message| wrong(&segment.follow.place.at, message))?;
                }
            }
        }
        Ok(writer.finish())
    }
}

/// The invariants and assertions in comments (`//@ loop invariant …;`, `/*@ assert …; */`) of
/// files, as what is put into them.
pub fn annotations(files: &[PathBuf]) -> Result<Insertions, LoadError> {
    let mut writer = insert::Writer::new(files)?;
    for file in files {
        let name = file.display().to_string();
        let bytes = fs::read(file).map_err(|error| LoadError::Io { file: name.clone(), error })?;
        let text = from_bytes(&bytes);
        let wrong = |at: Range<usize>, message: String| invalid(&name, &text, at, message);
        for claim in comments::claims(&text).map_err(|(at, message)| wrong(at, message))? {
            writer.claim(file, &claim).map_err(|message| wrong(claim.place.at.clone(), message))?;
        }
    }
    Ok(writer.finish())
}

/// A condition that is claimed to hold before a line of a file of the program, whenever a run comes
/// there, as what is put into the files. Before a loop, that is each time that its condition is
/// evaluated.
///
/// # Errors
/// What is wrong with the condition or the line, in words.
pub fn claim_before(
    files: &[PathBuf],
    file: &Path,
    line: u32,
    condition: &str,
) -> Result<Result<Insertions, String>, LoadError> {
    let mut writer = insert::Writer::new(files)?;
    let place = Place { file: file.display().to_string(), line, column: None, at: 0..0 };
    let claim = |is_loop| Claim { place: place.clone(), is_loop, condition: condition.to_owned() };
    let put = writer.claim(file, &claim(true)).or_else(|_| writer.claim(file, &claim(false)));
    Ok(put.map(|()| writer.finish()))
}

fn invalid(name: &str, text: &str, at: Range<usize>, message: String) -> LoadError {
    let error = ParseError::at(text, at, message);
    LoadError::Invalid { diagnostics: vec![Diagnostic { file: name.to_owned(), error }] }
}
