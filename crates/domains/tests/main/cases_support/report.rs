//! Running the facts of a folder of cases, and counting them.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use super::data::Data;
use super::facts::{Input, Verdict};
use super::{facts, incremental, inline};

/// Kinds that no test can check through the interface of the engine, and why.
pub const NOT_CHECKABLE: &[(&str, &str)] = &[
    (
        "context_insensitive",
        "what another analysis would report; the engine always matches calls and returns",
    ),
    ("operations", "counts inside one expression; expressions are not public"),
    ("paper_claim", "a remark about a text"),
    ("paper_table", "measurements of other tools"),
    ("performance_shape", "measurements of other tools"),
    ("reevaluated", "nodes of one expression; expressions are not public"),
    ("statement", "a sentence in words; the facts next to it give instances"),
    ("tdg_edge", "edges of the dependence graph, which is not public"),
    ("weight_text", "how a weight is printed; the values are checked by the fact on stores"),
];

/// What became of the facts of some cases.
#[derive(Default)]
pub struct Report {
    pub cases: usize,
    /// For each kind: facts, and ways in which they were checked.
    pub checked: BTreeMap<String, (usize, usize)>,
    /// Facts of [`NOT_CHECKABLE`] kinds.
    pub not_checkable: BTreeMap<String, usize>,
    /// Facts about inputs in other languages, by language.
    pub elsewhere: BTreeMap<String, usize>,
    /// Facts of kinds that are not known.
    pub unknown: BTreeMap<String, usize>,
    pub failures: Vec<String>,
}

impl Report {
    /// Runs all facts of all cases below `folder`.
    pub fn of(folder: &Path) -> Self {
        let mut report = Self::default();
        for area in entries(folder) {
            for case in entries(&area).into_iter().filter(|case| case.join("expect.yaml").is_file()) {
                report.run_case(&case);
            }
        }
        report
    }

    fn run_case(&mut self, case: &Path) {
        let expected = Data::read(&case.join("expect.yaml"));
        self.cases += 1;
        let inputs = expected.get("inputs");
        for fact in expected.get("facts").items() {
            let kind = fact.get("kind").to_string();
            let run = || run_fact(case, inputs, fact);
            match catch_unwind(AssertUnwindSafe(run)) {
                Ok(Fate::Checked(Ok(ways))) => {
                    let count = self.checked.entry(kind).or_default();
                    count.0 += 1;
                    count.1 += ways;
                }
                Ok(Fate::Checked(Err(found))) => self.fail(&expected, fact, &found),
                Ok(Fate::NotCheckable) => *self.not_checkable.entry(kind).or_default() += 1,
                Ok(Fate::Elsewhere(language)) => *self.elsewhere.entry(language).or_default() += 1,
                Ok(Fate::Unknown) => *self.unknown.entry(kind).or_default() += 1,
                Err(panic) => {
                    let text = panic.downcast_ref::<String>().cloned();
                    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
                    self.fail(&expected, fact, &text.unwrap_or_else(|| "a panic".into()));
                }
            }
        }
    }

    fn fail(&mut self, case: &Data, fact: &Data, found: &str) {
        self.failures.push(format!("{}: {fact}\n    {found}", case.get("case")));
    }
}

enum Fate {
    Checked(Verdict),
    NotCheckable,
    Elsewhere(String),
    Unknown,
}

fn run_fact(case: &Path, inputs: &Data, fact: &Data) -> Fate {
    let kind = fact.get("kind").to_string();
    if NOT_CHECKABLE.iter().any(|(k, _)| *k == kind) {
        return Fate::NotCheckable;
    }
    if kind == "recomputed" {
        let change = fact.get("change").to_string();
        let (before, after) = change.split_once("-to-").expect("a change from one file to another");
        let read = |name: &str| Data::read(&case.join(format!("{name}.yaml")));
        return Fate::Checked(incremental::check(&read(before), &read(after), fact));
    }
    // A fact without input is about the only system of its case, or brings its own weights.
    let named = match fact.get("input").as_text() {
        Some(name) => Some(name.to_owned()),
        None => {
            let mut systems = inputs.entries().iter().filter(|(_, about)| language(about) == "wpds");
            systems.next().filter(|_| systems.next().is_none()).map(|(name, _)| name.clone())
        }
    };
    let verdict = match named {
        None => inline::check(fact),
        Some(name) => match language(inputs.get(&name)).as_str() {
            "wpds" => {
                let input = Input { file: Data::read(&case.join(&name)), about: inputs.get(&name).clone() };
                facts::check(&input, fact)
            }
            other => return Fate::Elsewhere(other.to_owned()),
        },
    };
    verdict.map_or(Fate::Unknown, Fate::Checked)
}

fn language(about: &Data) -> String {
    about.get("lang").to_string()
}

/// What is in a folder, in order.
fn entries(folder: &Path) -> Vec<PathBuf> {
    if !folder.is_dir() {
        return Vec::new();
    }
    let read = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> = read.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} cases", self.cases)?;
        for (kind, (facts, ways)) in &self.checked {
            writeln!(f, "  checked        {facts:4}  {kind}, in {ways} ways")?;
        }
        for (title, counts) in [
            ("not checkable ", &self.not_checkable),
            ("other language", &self.elsewhere),
            ("UNKNOWN KIND  ", &self.unknown),
        ] {
            for (kind, facts) in counts {
                let why = NOT_CHECKABLE.iter().find(|(k, _)| k == kind).map_or("", |(_, why)| why);
                writeln!(f, "  {title} {facts:4}  {kind}  {why}")?;
            }
        }
        for failure in &self.failures {
            writeln!(f, "  FAILED {failure}")?;
        }
        Ok(())
    }
}
