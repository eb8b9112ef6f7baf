//! What a program is asked about: failing checks and labels.

use crate::error::ProgramError;
use crate::program::{LocationId, LocationKind, Node, ProcedureId, Program};
use crate::violation::ViolationKind;

/// Labels that are errors unless another one is asked for.
pub const ERROR_LABELS: [&str; 4] = ["ERROR", "SLIC_ERROR", "error", "ERR"];

/// Which locations are errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetChoice {
    /// Every failed check and every location labelled with one of [`ERROR_LABELS`].
    Default,
    /// Every location with this label; if there is none, the entry of the procedure of this name.
    Label(String),
}

/// A location that is an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorSite {
    /// The location: a run fails when it gets there.
    pub node: Node,
    /// What makes it an error.
    pub kind: ErrorKind,
}

/// What makes a location an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A check that failed.
    Assertion,
    /// A call of a function that stands for an error, by name.
    Call(String),
    /// A label, by name.
    Label(String),
    /// The entry of a procedure, by name.
    Entry(String),
    /// A rule of the language is broken.
    Violation(ViolationKind),
}

impl Program {
    /// The locations that are errors, in the order of procedures and locations. With a name that is
    /// no label and no procedure, an error that lists near names.
    pub fn targets(&self, choice: &TargetChoice) -> Result<Vec<ErrorSite>, ProgramError> {
        match choice {
            TargetChoice::Default => Ok(self.nodes().filter_map(|node| self.default_target(node)).collect()),
            TargetChoice::Label(name) => {
                let site = |node| ErrorSite { node, kind: ErrorKind::Label(name.clone()) };
                let labelled: Vec<_> = self.labelled(name).map(site).collect();
                if !labelled.is_empty() {
                    return Ok(labelled);
                }
                if let Some(procedure) = self.find_procedure(name) {
                    let node = Node { procedure, location: self.entered(procedure) };
                    return Ok(vec![ErrorSite { node, kind: ErrorKind::Entry(name.clone()) }]);
                }
                let procedures = self.procedures.iter().map(|procedure| procedure.name.as_str());
                Err(ProgramError::unknown_label(
                    name,
                    self.labels().map(|(label, _)| label).chain(procedures),
                ))
            }
        }
    }

    /// Where a call of a procedure has entered it: behind what it enforces.
    fn entered(&self, procedure: ProcedureId) -> LocationId {
        let body = self.procedure(procedure);
        match body.location(body.entry).kind {
            LocationKind::Enforce => {
                body.edges_from(body.entry).next().map_or(body.entry, |(_, edge)| edge.to)
            }
            _ => body.entry,
        }
    }

    /// All labels with their locations, in the order of procedures and locations.
    pub fn labels(&self) -> impl Iterator<Item = (&str, Node)> {
        let labels = |node| self.location(node).labels.iter().map(move |label| (label.as_str(), node));
        self.nodes().flat_map(labels)
    }

    /// The locations with a label.
    pub fn labelled<'a>(&'a self, label: &'a str) -> impl Iterator<Item = Node> + 'a {
        self.nodes().filter(move |node| self.location(*node).labels.iter().any(|other| other == label))
    }

    fn default_target(&self, node: Node) -> Option<ErrorSite> {
        let location = self.location(node);
        if location.kind == LocationKind::Error {
            let kind = match (&location.violation, &location.called) {
                (Some(violation), _) => ErrorKind::Violation(violation.kind),
                (None, Some(name)) => ErrorKind::Call(name.clone()),
                (None, None) => ErrorKind::Assertion,
            };
            return Some(ErrorSite { node, kind });
        }
        let label = location.labels.iter().find(|label| ERROR_LABELS.contains(&label.as_str()))?;
        Some(ErrorSite { node, kind: ErrorKind::Label(label.clone()) })
    }
}
