//! The answer about a formula, in words and as data.

use std::fmt::Write;
use std::time::Instant;

use serde::{Serialize, Serializer};
use wherefore_ltl::{Lasso, Specification, Way};
use wherefore_program::{Task, Trace};

use crate::commands::run::{self, RunStep};
use crate::commands::{folded, text};
use crate::exit::Exit;

/// The answer in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Word {
    Holds,
    Fails,
    Unknown,
}

impl Word {
    pub(super) fn exit(self) -> Exit {
        match self {
            Word::Holds => Exit::Negative,
            Word::Fails => Exit::Positive,
            Word::Unknown => Exit::Unknown,
        }
    }
}

fn way<S: Serializer>(way: &Option<Way>, serializer: S) -> Result<S::Ok, S::Error> {
    match way {
        Some(Way::Exact) => serializer.serialize_str("exact"),
        Some(Way::States) => serializer.serialize_str("states"),
        Some(Way::Abstract) => serializer.serialize_str("values"),
        None => serializer.serialize_none(),
    }
}

/// What the answer took.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Stats {
    pub(super) seconds: f64,
}

/// The answer as data.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Report {
    pub(super) verdict: Word,
    pub(super) formula: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    /// How the program was searched.
    #[serde(serialize_with = "way", skip_serializing_if = "Option::is_none")]
    pub(super) method: Option<Way>,
    /// The states of the automaton of the negation.
    pub(super) automaton_states: usize,
    /// The run that violates the formula, up to the loop; or to its end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) stem: Vec<RunStep>,
    /// What is repeated for ever.
    #[serde(rename = "loop", skip_serializing_if = "Vec::is_empty")]
    pub(super) turn: Vec<RunStep>,
    /// By how many frames the stack grows with each turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) growth: Option<usize>,
    /// A run of a pushdown system: the configurations of the stem and of one turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) configurations: Option<[Vec<String>; 2]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) assumptions: Vec<String>,
    pub(super) stats: Stats,
}

impl Report {
    pub(super) fn new(specification: &Specification, begin: Instant) -> Self {
        Self {
            verdict: Word::Unknown,
            formula: specification.text.clone(),
            reason: None,
            method: None,
            automaton_states: 0,
            stem: Vec::new(),
            turn: Vec::new(),
            growth: None,
            configurations: None,
            assumptions: Vec::new(),
            stats: Stats { seconds: begin.elapsed().as_secs_f64() },
        }
    }

    pub(super) fn unknown(&mut self, why: &str) {
        self.verdict = Word::Unknown;
        self.reason = Some(why.to_owned());
    }

    pub(super) fn fails(&mut self, task: &Task, lasso: &Lasso) {
        self.verdict = Word::Fails;
        let mut stem = lasso.stem.clone();
        if !lasso.ends() {
            let turn = Trace { start: stem.last().clone(), steps: lasso.turn.clone() };
            self.turn = run::of_trace(task, &turn);
            self.growth = Some(lasso.growth());
            // The last configuration is the first one of the loop.
            if stem.steps.pop().is_none() {
                return;
            }
        }
        self.stem = run::of_trace(task, &stem);
    }

    /// The answer in words.
    pub(super) fn text(&self, file: &str, is_quiet: bool) -> String {
        let mut out = String::new();
        let formula = &self.formula;
        let _ = match self.verdict {
            Word::Holds => writeln!(out, "{file}: holds on all runs: {formula}"),
            Word::Fails => writeln!(out, "{file}: fails: {formula}"),
            Word::Unknown => {
                let why = self.reason.as_deref().unwrap_or("nothing was found out");
                writeln!(out, "{file}: unknown, because {why}")
            }
        };
        if is_quiet {
            return out;
        }
        if self.verdict == Word::Fails {
            self.run(&mut out);
        }
        text::assumptions(&mut out, &self.assumptions);
        out
    }

    fn run(&self, out: &mut String) {
        if let Some([stem, turn]) = &self.configurations {
            let _ = writeln!(out, "\na run on which it does not hold:");
            for configuration in stem {
                let _ = writeln!(out, "  {configuration}");
            }
            if let Some(last) = turn.last().filter(|_| turn.len() > 1) {
                let _ = writeln!(out, "and then again and again:");
                for configuration in &turn[..turn.len() - 1] {
                    let _ = writeln!(out, "  {configuration}");
                }
                let _ = writeln!(out, "the first time up to {last}");
            } else {
                let _ = writeln!(out, "where it stays for ever");
            }
            self.grows(out);
            return;
        }
        if self.turn.is_empty() {
            let _ = writeln!(out, "\na run on which it does not hold; it ends, and stays as it is:");
            folded::write_all(out, &self.stem);
            return;
        }
        if self.stem.is_empty() {
            let _ =
                writeln!(out, "\na run on which it does not hold, again and again from here back to here:");
        } else {
            let _ = writeln!(out, "\na run on which it does not hold:");
            folded::write_all(out, &self.stem);
            let _ = writeln!(out, "and then again and again, from here back to here:");
        }
        folded::write_all(out, &self.turn);
        self.grows(out);
    }

    fn grows(&self, out: &mut String) {
        let one = if self.configurations.is_some() { "symbol" } else { "frame" };
        if let Some(growth) = self.growth.filter(|growth| *growth > 0) {
            let end = if growth == 1 { "" } else { "s" };
            let _ = writeln!(out, "the stack grows by {growth} {one}{end} each time");
        }
    }
}
