//! The explanation in the form that the script of the page reads. It is close to the model, but
//! small: values of a step are told as the difference to the step before, lines have a letter each,
//! places are arrays.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use wherefore_explain::model::{Explanation, Extent, Focus, Line, Run, Statement};

use super::PageOptions;
use crate::source::{check_word, decision, verdict_word};

/// The most bytes that runs beside the first may take, so that a page stays small.
const MOST_BYTES_OF_RUNS: usize = 3_000_000;

/// The runs that a page has, and where each run of the explanation is among them.
struct Runs {
    kept: Vec<Value>,
    position: Vec<Option<usize>>,
}

impl Runs {
    fn new(explanation: &Explanation) -> Self {
        let mut runs = Self { kept: Vec::new(), position: Vec::new() };
        let mut bytes = 0;
        for one in &explanation.runs {
            let value = run(one, explanation.sources.len());
            bytes += value.to_string().len();
            let is_kept = runs.kept.is_empty() || bytes <= MOST_BYTES_OF_RUNS;
            runs.position.push(is_kept.then_some(runs.kept.len()));
            if is_kept {
                runs.kept.push(value);
            }
        }
        runs
    }

    fn find(&self, run: usize) -> Option<usize> {
        self.position.get(run).copied().flatten()
    }
}

/// Everything that the script needs. `automata` says which procedures have a picture.
pub(super) fn data(
    explanation: &Explanation,
    options: &PageOptions,
    automata: &[Result<String, String>],
) -> Value {
    let runs = Runs::new(explanation);
    let projection = &explanation.projection;
    let error = explanation.error.as_ref().map(|place| {
        json!({
            "at": extent(&place.extent),
            "procedure": place.procedure,
            "kind": place.kind,
            "label": place.label,
        })
    });
    let procedures = explanation.procedures.iter().zip(automata).map(|(procedure, automaton)| {
        json!({
            "name": procedure.name,
            "at": line(procedure.line),
            "note": automaton.as_ref().err(),
        })
    });
    let suspicion = explanation.suspicion.iter().filter(|(_, score)| score.is_finite());
    let through =
        explanation.through.iter().filter_map(|(&at, &run)| Some((key(at), json!(runs.find(run)?))));
    json!({
        "file": explanation.file,
        "verdict": verdict_word(explanation.verdict),
        "reason": explanation.reason,
        "live": options.live,
        "error": error,
        "checks": explanation.checks.iter().map(|check| json!({
            "at": extent(&check.place.extent),
            "kind": check.place.kind,
            "label": check.place.label,
            "verdict": check_word(check.verdict),
            "reason": check.reason,
        })).collect::<Vec<_>>(),
        "always": explanation.always,
        "sources": explanation.sources.iter().map(|source| json!({ "name": source.name, "text": source.text })).collect::<Vec<_>>(),
        "marks": marks(explanation),
        "lines": {
            "inside": projection.inside.len(),
            "outside": projection.outside.len(),
            "confirmed": projection.confirmed.len(),
            "exact": projection.exact,
        },
        "suspicion": suspicion.map(|(&at, score)| (key(at), json!(score))).collect::<Map<_, _>>(),
        "stores": explanation.stores.iter().map(|(&at, stores)| (key(at), json!(stores))).collect::<Map<_, _>>(),
        "predicates": explanation.predicates.iter().map(|(&at, list)| (key(at), json!(list))).collect::<Map<_, _>>(),
        "runs": runs.kept,
        "left_out": explanation.runs.len() - runs.kept.len(),
        "through": through.collect::<Map<_, _>>(),
        "focus": explanation.focus.iter().map(|one| focus(explanation, one, &runs)).collect::<Vec<_>>(),
        "reduced": explanation.reduced.iter()
            .map(|one| json!({ "focus": one.focus, "assumptions": one.assumptions })).collect::<Vec<_>>(),
        "neighbourhoods": explanation.neighbourhoods.iter().map(|one| json!({
            "focus": one.focus,
            "lines": lines(&one.lines),
            "marked": lines(&one.marked),
            "repairs": lines(&one.repairs),
        })).collect::<Vec<_>>(),
        "invariants": explanation.invariants.iter().map(|one| json!({
            "at": extent(&one.extent),
            "procedure": one.procedure,
            "formula": one.formula,
            "loop": one.is_loop,
        })).collect::<Vec<_>>(),
        "procedures": procedures.collect::<Vec<_>>(),
        "assumptions": explanation.assumptions,
        "reproduce": { "command": explanation.reproduce.command, "harness": explanation.reproduce.harness },
        "stats": {
            "engine": explanation.stats.engine,
            "cycles": explanation.stats.cycles,
            "incomplete": explanation.stats.incomplete,
        },
    })
}

fn line(at: Line) -> Value {
    json!([at.file, at.line])
}

fn lines(at: &[Line]) -> Vec<Value> {
    at.iter().map(|&at| line(at)).collect()
}

/// File, start line, start column, end line, end column.
fn extent(at: &Extent) -> Value {
    json!([at.file, at.start.0, at.start.1, at.end.0, at.end.1])
}

fn key(at: Line) -> String {
    format!("{}:{}", at.file, at.line)
}

/// For each file a text with a letter for each line: `c` confirmed, `i` inside, `o` outside, `.`
/// for lines without statements.
fn marks(explanation: &Explanation) -> Vec<String> {
    let mut marks: Vec<Vec<u8>> =
        explanation.sources.iter().map(|source| vec![b'.'; source.text.lines().count()]).collect();
    let projection = &explanation.projection;
    for (list, letter) in
        [(&projection.outside, b'o'), (&projection.inside, b'i'), (&projection.confirmed, b'c')]
    {
        for at in list {
            let position = (at.line as usize).checked_sub(1);
            let file = marks.get_mut(at.file);
            if let Some(mark) = file.zip(position).and_then(|(file, position)| file.get_mut(position)) {
                *mark = letter;
            }
        }
    }
    marks.into_iter().map(|letters| letters.into_iter().map(char::from).collect()).collect()
}

/// A run. Steps in files that are not there are told without a place.
pub(super) fn run(run: &Run, files: usize) -> Value {
    let mut before: &BTreeMap<String, String> = &BTreeMap::new();
    let mut steps: Vec<Value> = Vec::with_capacity(run.steps.len());
    for step in &run.steps {
        let set: Map<String, Value> = step
            .values
            .iter()
            .filter(|(name, value)| before.get(*name) != Some(value))
            .map(|(name, value)| (name.clone(), json!(value)))
            .collect();
        let gone: Vec<&String> = before.keys().filter(|name| !step.values.contains_key(*name)).collect();
        before = &step.values;
        let mut out = Map::new();
        if step.extent.file < files {
            out.insert("at".into(), extent(&step.extent));
        }
        out.insert("text".into(), json!(step.text));
        out.insert("procedure".into(), json!(step.procedure));
        out.insert("depth".into(), json!(step.depth));
        if let Some(holds) = step.holds {
            out.insert("holds".into(), json!(holds));
        }
        if !set.is_empty() {
            out.insert("set".into(), set.into());
        }
        if !gone.is_empty() {
            out.insert("gone".into(), json!(gone));
        }
        steps.push(out.into());
    }
    let slice: BTreeSet<usize> = run.slice.iter().copied().filter(|&step| step < steps.len()).collect();
    json!({
        "steps": steps,
        "slice": slice,
        "inputs": run.inputs.iter().map(|input| json!({
            "name": input.name,
            "function": input.function,
            "value": input.value,
            "at": extent(&input.extent),
        })).collect::<Vec<_>>(),
        "replay": run.replay.as_ref().map(|replay| json!({ "outcome": replay.outcome, "why": replay.why })),
    })
}

fn focus(explanation: &Explanation, focus: &Focus, runs: &Runs) -> Value {
    let statement = |(position, statement): (usize, &Statement)| {
        json!({
            "at": extent(&statement.extent),
            "text": statement.text,
            "procedure": statement.procedure,
            "step": statement.step,
            "holds": decision(explanation, focus, position),
        })
    };
    json!({
        "rank": focus.rank,
        "feasible": focus.feasible,
        "run": focus.run.and_then(|run| runs.find(run)),
        "statements": focus.statements.iter().enumerate().map(statement).collect::<Vec<_>>(),
        "assumptions": focus.assumptions.iter().map(|one| json!({
            "text": one.text,
            "at": line(one.line),
            "overflow": one.unless_overflow,
        })).collect::<Vec<_>>(),
    })
}
