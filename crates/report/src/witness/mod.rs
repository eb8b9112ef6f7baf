//! Verification witnesses, format 2.0 (YAML): how validators of other people check our verdicts.
//!
//! A violation witness is a sequence of segments with one waypoint each: the values of inputs,
//! decisions of branches, and at last the target. A correctness witness is a set of invariants. A
//! waypoint at a wrong place makes a witness wrong, a missing one only makes it weaker; so what
//! cannot be placed with certainty is left out.
//!
//! In format 2.0 the returned value of a call is constrained in ACSL (`acsl_expression`); later
//! versions call this `ext_c_expression`.

mod position;
mod yaml;

use wherefore_explain::model::{Explanation, Extent, InputValue, Invariant, Run, Step, Verdict};

use crate::digest::sha256;
use crate::source::Sources;
use position::{Position, call_end, header_keyword, loop_keyword};
use yaml::{Yaml, text};

/// What a witness says of the task that it belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// The property: `CHECK( init(main()), LTL(G ! call(reach_error())) )`.
    pub specification: String,
    /// The sizes of C's types.
    pub data_model: DataModel,
    /// When the witness is written: `2026-01-31T12:00:00Z`.
    pub creation_time: String,
    /// The names of the files of the task, as in [`Explanation::sources`]; if there are none, the
    /// first source.
    pub files: Vec<String>,
    /// An identifier of the witness; if there is none, it is derived from the content.
    pub uuid: Option<String>,
}

/// The sizes of C's types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DataModel {
    /// `int`, `long` and pointers have 32 bits.
    Ilp32,
    /// `long` and pointers have 64 bits.
    #[default]
    Lp64,
}

/// The witness of a verdict as YAML; none if the verdict is unknown, or if it is not known where
/// the program fails.
pub fn witness(explanation: &Explanation, task: &Task) -> Option<String> {
    let sources = Sources::new(explanation);
    let (kind, content) = match explanation.verdict {
        Verdict::Unknown => return None,
        Verdict::Unsafe => ("violation_sequence", violation(explanation, &sources)?),
        Verdict::Safe => ("invariant_set", correctness(explanation, &sources)),
    };
    let hashes = hashes(explanation, task);
    let uuid = task.uuid.clone().unwrap_or_else(|| uuid(&format!("{task:?}\n{hashes:?}\n{content:?}")));
    let metadata = Yaml::Map(vec![
        ("format_version", text("2.0")),
        ("uuid", text(&uuid)),
        ("creation_time", text(&task.creation_time)),
        (
            "producer",
            Yaml::Map(vec![("name", text("wherefore")), ("version", text(env!("CARGO_PKG_VERSION")))]),
        ),
        (
            "task",
            Yaml::Map(vec![
                ("input_files", Yaml::List(hashes.iter().map(|(name, _)| text(name)).collect())),
                ("input_file_hashes", Yaml::Named(hashes)),
                ("specification", text(&task.specification)),
                (
                    "data_model",
                    text(match task.data_model {
                        DataModel::Ilp32 => "ILP32",
                        DataModel::Lp64 => "LP64",
                    }),
                ),
                ("language", text("C")),
            ]),
        ),
    ]);
    let entry = Yaml::Map(vec![("entry_type", text(kind)), ("metadata", metadata), ("content", content)]);
    Some(Yaml::List(vec![entry]).to_string())
}

/// The files of a task with their digests.
fn hashes(explanation: &Explanation, task: &Task) -> Vec<(String, Yaml)> {
    let is_asked = |position: usize, name: &String| match task.files.is_empty() {
        true => position == 0,
        false => task.files.contains(name),
    };
    let sources = explanation.sources.iter().enumerate();
    let asked = sources.filter(|(position, source)| is_asked(*position, &source.name));
    let mut hashes: Vec<(String, Yaml)> = Vec::new();
    for (_, source) in asked {
        if !hashes.iter().any(|(name, _)| *name == source.name) {
            hashes.push((source.name.clone(), text(&sha256(&source.text))));
        }
    }
    hashes
}

/// An identifier in the form of a random one, from a text.
fn uuid(content: &str) -> String {
    let digest = sha256(content);
    let (variant, rest) = (["8", "9", "a", "b"][usize::from(digest.as_bytes()[16] % 4)], &digest[17..32]);
    format!(
        "{}-{}-4{}-{variant}{}-{}",
        &digest[..8],
        &digest[8..12],
        &digest[13..16],
        &rest[..3],
        &rest[3..15]
    )
}

fn violation(explanation: &Explanation, sources: &Sources) -> Option<Yaml> {
    let run = explanation.runs.first();
    let last = run.and_then(|run| run.steps.last());
    let (extent, procedure) = match (&explanation.error, last) {
        (Some(place), _) => (place.extent, place.procedure.as_str()),
        (None, Some(step)) => (step.extent, step.procedure.as_str()),
        (None, None) => return None,
    };
    let mut waypoints = run.map_or_else(Vec::new, |run| waypoints(run, sources));
    waypoints.push(waypoint("target", None, location(&extent, Some(start(&extent)), procedure, sources)));
    let segment =
        |waypoint| Yaml::Map(vec![("segment", Yaml::List(vec![Yaml::Map(vec![("waypoint", waypoint)])]))]);
    Some(Yaml::List(waypoints.into_iter().map(segment).collect()))
}

/// The waypoints of inputs and branches, in the order of execution.
fn waypoints(run: &Run, sources: &Sources) -> Vec<Yaml> {
    let mut inputs = run.inputs.iter().peekable();
    let mut out = Vec::new();
    for step in &run.steps {
        // A step reads an input once; the next value from the same place belongs to a later step.
        let mut last = None;
        let comes_in = |input: &InputValue, last: &Option<Extent>| {
            touches(&input.extent, &step.extent)
                && step.text.contains(&input.function)
                && last.is_none_or(|last| last < input.extent)
        };
        while let Some(input) = inputs.next_if(|input| comes_in(input, &last)) {
            last = Some(input.extent);
            if let (Some(end), true) =
                (call_end(&input.extent, &input.function, sources), is_number(&input.value))
            {
                let constraint = vec![
                    ("format", text("acsl_expression")),
                    ("value", text(&format!("\\result == {}", input.value))),
                ];
                let location = location(&input.extent, Some(end), &step.procedure, sources);
                out.push(waypoint("function_return", Some(constraint), location));
            }
        }
        out.extend(branching(step, sources));
    }
    out
}

/// Whether an input comes in at a statement: one lies within the other.
fn touches(input: &Extent, step: &Extent) -> bool {
    let within = |a: &Extent, b: &Extent| a.file == b.file && b.start <= a.start && a.end <= b.end;
    within(input, step) || within(step, input)
}

fn branching(step: &Step, sources: &Sources) -> Option<Yaml> {
    let holds = step.holds?;
    let keyword = header_keyword(&step.extent, sources)?;
    let constraint = vec![("value", text(if holds { "true" } else { "false" }))];
    Some(waypoint(
        "branching",
        Some(constraint),
        location(&step.extent, Some(keyword), &step.procedure, sources),
    ))
}

fn waypoint(kind: &str, constraint: Option<Vec<(&'static str, Yaml)>>, location: Yaml) -> Yaml {
    let mut entries = vec![("type", text(kind)), ("action", text("follow"))];
    entries.extend(constraint.map(|constraint| ("constraint", Yaml::Map(constraint))));
    entries.push(("location", location));
    Yaml::Map(entries)
}

fn start(extent: &Extent) -> Position {
    Position { line: extent.start.0, column: Some(extent.start.1) }
}

fn location(extent: &Extent, at: Option<Position>, procedure: &str, sources: &Sources) -> Yaml {
    let at = at.unwrap_or(Position { line: extent.start.0, column: None });
    let mut entries =
        vec![("file_name", text(sources.name(extent.file))), ("line", Yaml::Number(at.line.max(1)))];
    entries.extend(at.column.filter(|&column| column > 0).map(|column| ("column", Yaml::Number(column))));
    if !procedure.is_empty() {
        entries.push(("function", text(procedure)));
    }
    Yaml::Map(entries)
}

fn correctness(explanation: &Explanation, sources: &Sources) -> Yaml {
    let entry = |invariant: &Invariant| {
        if !is_c_expression(&invariant.formula) {
            return None;
        }
        let (kind, at) = match invariant.is_loop {
            true => ("loop_invariant", loop_keyword(&invariant.extent, sources)?),
            false => ("location_invariant", start(&invariant.extent)),
        };
        let location = location(&invariant.extent, Some(at), &invariant.procedure, sources);
        let entries = vec![
            ("type", text(kind)),
            ("location", location),
            ("value", text(&invariant.formula)),
            ("format", text("c_expression")),
        ];
        Some(Yaml::Map(vec![("invariant", Yaml::Map(entries))]))
    };
    Yaml::List(explanation.invariants.iter().filter_map(entry).collect())
}

/// Whether a value is a whole number: only such can stand behind `\result ==`.
fn is_number(value: &str) -> bool {
    let digits = value.strip_prefix('-').unwrap_or(value);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a formula looks like an expression of C without effects: no names of ours (`x!2`, `i#1`,
/// `old(x)`), no assignment.
fn is_c_expression(formula: &str) -> bool {
    let bytes = formula.as_bytes();
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b" _()[]<>=!&|+-*/%^~?:.,'".contains(byte);
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_ours = bytes
        .windows(2)
        .enumerate()
        .any(|(at, pair)| is_word(pair[0]) && pair[1] == b'!' && bytes.get(at + 2) != Some(&b'='));
    let assigns = (0..bytes.len()).any(|at| {
        let before = at.checked_sub(1).map_or(b' ', |at| bytes[at]);
        let after = bytes.get(at + 1).copied().unwrap_or(b' ');
        bytes[at] == b'=' && after != b'=' && !b"=<>!".contains(&before)
    });
    let balance = bytes.iter().try_fold(0_i32, |open, byte| match byte {
        b'(' => Some(open + 1),
        b')' if open > 0 => Some(open - 1),
        b')' => None,
        _ => Some(open),
    });
    !formula.trim().is_empty()
        && bytes.iter().all(allowed)
        && !is_ours
        && !assigns
        && !formula.contains("old(")
        && !formula.contains("++")
        && !formula.contains("--")
        && balance == Some(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_expressions_of_c_are_passed_on() {
        for good in ["x == 1", "a[i] <= n && !(p != 0)", "x!=1", "(x & 3) >= -2", "x->n == 0"] {
            assert!(is_c_expression(good), "{good}");
        }
        for bad in
            ["", "x!2 == 1", "x!2 != 1", "i#1 == 0", "x = 1", "old(x) == x", "(x", "x)(", "é == 1", "x++"]
        {
            assert!(!is_c_expression(bad), "{bad}");
        }
    }

    #[test]
    fn an_identifier_has_the_form_of_a_random_one() {
        let id = uuid("content");
        assert_eq!(id.len(), 36);
        assert_eq!(id.as_bytes()[14], b'4');
        assert!(b"89ab".contains(&id.as_bytes()[19]));
        assert_ne!(id, uuid("other"));
    }
}
