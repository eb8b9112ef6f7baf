//! Everything as JSON. `docs/explain-json.md` says what the keys mean, `docs/explain.schema.json`
//! what may stand where.
//!
//! Keys without a value are left out. A line is a number if it lies in the first file, else the
//! text `file:line`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use wherefore_explain::model::{
    Check, Explanation, Focus, Grounds, InputValue, Invariant, Line, Neighbourhood, Projection, Reduced, Run,
    Stats, Step,
};

use crate::source::{Sources, check_word, files_of, lines_in, verdict_word};

/// An explanation as JSON.
pub fn json(explanation: &Explanation) -> Value {
    let sources = Sources::new(explanation);
    let mut out = Map::new();
    out.insert("verdict".into(), verdict_word(explanation.verdict).into());
    put(&mut out, "reason", explanation.reason.as_deref());
    put(&mut out, "error", error(explanation, &sources));
    put_list(&mut out, "targets", targets(explanation, &sources));
    put(&mut out, "projection", projection(&explanation.projection, &sources));
    if let Some(run) = explanation.runs.first() {
        out.insert("trace".into(), trace(run, &sources));
        let steps = run.slice.iter().filter_map(|&step| run.steps.get(step));
        out.insert("slice".into(), steps.map(|step| line(step.extent.line(), &sources)).collect());
        put_list(&mut out, "inputs", inputs(run, &sources));
        put(
            &mut out,
            "replay",
            run.replay.as_ref().map(|replay| {
                let mut out = Map::new();
                out.insert("outcome".into(), replay.outcome.as_str().into());
                put(&mut out, "why", replay.why.as_deref());
                out
            }),
        );
    }
    put(&mut out, "always", explanation.always.then_some(true));
    put_list(&mut out, "focus", explanation.focus.iter().map(|sequence| focus(sequence, &sources)).collect());
    put_list(&mut out, "reduced", reduced(explanation, &sources));
    put_list(&mut out, "neighbourhood", neighbourhoods(explanation, &sources));
    let suspicion = explanation.suspicion.iter().filter(|(_, score)| score.is_finite());
    put_map(&mut out, "suspicion", suspicion.map(|(&at, &score)| (key(at, &sources), json!(score))));
    put_map(&mut out, "stores", by_line(&explanation.stores, &sources));
    put_map(&mut out, "predicates", by_line(&explanation.predicates, &sources));
    put_list(&mut out, "invariants", invariants(explanation, &sources));
    put(&mut out, "grounds", explanation.grounds.as_ref().map(|grounds| self::grounds(grounds, &sources)));
    put_list(&mut out, "assumptions", explanation.assumptions.iter().map(|text| json!(text)).collect());
    put(&mut out, "reproduce", reproduce(explanation));
    out.insert("stats".into(), stats(&explanation.stats).into());
    Value::Object(out)
}

fn put(out: &mut Map<String, Value>, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        out.insert(key.into(), value.into());
    }
}

fn put_list(out: &mut Map<String, Value>, key: &str, list: Vec<Value>) {
    put(out, key, (!list.is_empty()).then_some(list));
}

fn put_map(out: &mut Map<String, Value>, key: &str, entries: impl Iterator<Item = (String, Value)>) {
    let map: Map<String, Value> = entries.collect();
    put(out, key, (!map.is_empty()).then_some(map));
}

/// A line of the first file as a number, of another as `file:line`.
fn line(at: Line, sources: &Sources) -> Value {
    if at.file == 0 { at.line.into() } else { sources.place(at).into() }
}

fn lines(at: &[Line], sources: &Sources) -> Value {
    at.iter().map(|&at| line(at, sources)).collect()
}

fn key(at: Line, sources: &Sources) -> String {
    if at.file == 0 { at.line.to_string() } else { sources.place(at) }
}

fn by_line<'a, T: Clone + Into<Value> + 'a>(
    map: &'a BTreeMap<Line, Vec<T>>,
    sources: &'a Sources,
) -> impl Iterator<Item = (String, Value)> + 'a {
    map.iter().map(|(&at, values)| (key(at, sources), values.clone().into()))
}

fn error(explanation: &Explanation, sources: &Sources) -> Option<Value> {
    let place = explanation.error.as_ref()?;
    let mut out = Map::new();
    out.insert("file".into(), sources.name(place.extent.file).into());
    out.insert("line".into(), place.extent.start.0.into());
    out.insert("kind".into(), place.kind.as_str().into());
    put(&mut out, "label", place.label.as_deref());
    Some(out.into())
}

/// Each check with its verdict.
fn targets(explanation: &Explanation, sources: &Sources) -> Vec<Value> {
    let one = |check: &Check| {
        let mut out = Map::new();
        out.insert("file".into(), sources.name(check.place.extent.file).into());
        out.insert("line".into(), check.place.extent.start.0.into());
        out.insert("kind".into(), check.place.kind.as_str().into());
        put(&mut out, "label", check.place.label.as_deref());
        out.insert("verdict".into(), check_word(check.verdict).into());
        put(&mut out, "reason", check.reason.as_deref());
        Value::Object(out)
    };
    explanation.checks.iter().map(one).collect()
}

/// None if nothing is known of any line.
fn projection(projection: &Projection, sources: &Sources) -> Option<Value> {
    let all = || projection.inside.iter().chain(&projection.outside).chain(&projection.confirmed);
    all().next()?;
    let part = |file: usize| {
        let mut out = Map::new();
        out.insert("in".into(), lines_in(&projection.inside, file).into());
        out.insert("out".into(), lines_in(&projection.outside, file).into());
        out.insert("confirmed".into(), lines_in(&projection.confirmed, file).into());
        out
    };
    let mut out = part(0);
    out.insert("exact".into(), projection.exact.into());
    let files = files_of(all());
    if files.iter().any(|&file| file > 0) {
        let named = |&file: &usize| {
            let mut out = part(file);
            out.insert("file".into(), sources.name(file).into());
            Value::Object(out)
        };
        out.insert("files".into(), files.iter().map(named).collect());
    }
    Some(out.into())
}

fn trace(run: &Run, sources: &Sources) -> Value {
    let slice: BTreeSet<usize> = run.slice.iter().copied().collect();
    let step = |(position, step): (usize, &Step)| {
        let mut out = Map::new();
        out.insert("file".into(), sources.name(step.extent.file).into());
        out.insert("line".into(), step.extent.start.0.into());
        out.insert("procedure".into(), step.procedure.as_str().into());
        out.insert("text".into(), step.text.as_str().into());
        out.insert("depth".into(), step.depth.into());
        out.insert("values".into(), json!(step.values));
        out.insert("matters".into(), slice.contains(&position).into());
        put(&mut out, "holds", step.holds);
        Value::Object(out)
    };
    run.steps.iter().enumerate().map(step).collect()
}

fn inputs(run: &Run, sources: &Sources) -> Vec<Value> {
    let input = |input: &InputValue| {
        json!({
            "name": input.name,
            "function": input.function,
            "value": input.value,
            "file": sources.name(input.extent.file),
            "line": input.extent.start.0,
        })
    };
    run.inputs.iter().map(input).collect()
}

/// The lines of a sequence, with repeats.
fn focus_lines(focus: &Focus, sources: &Sources) -> Value {
    focus.statements.iter().map(|statement| line(statement.extent.line(), sources)).collect()
}

fn focus(focus: &Focus, sources: &Sources) -> Value {
    json!({
        "rank": focus.rank,
        "lines": focus_lines(focus, sources),
        "statements": focus.statements.iter().map(|statement| &statement.text).collect::<Vec<_>>(),
        "assumptions": focus.assumptions.iter().map(|assumption| &assumption.text).collect::<Vec<_>>(),
        "feasible": focus.feasible,
    })
}

fn reduced(explanation: &Explanation, sources: &Sources) -> Vec<Value> {
    let one = |reduced: &Reduced| {
        let focus = explanation.focus.get(reduced.focus);
        let lines = focus.map_or_else(|| Value::Array(Vec::new()), |focus| focus_lines(focus, sources));
        json!({ "focus": reduced.focus, "lines": lines, "assumptions": reduced.assumptions })
    };
    explanation.reduced.iter().map(one).collect()
}

fn neighbourhoods(explanation: &Explanation, sources: &Sources) -> Vec<Value> {
    let one = |neighbourhood: &Neighbourhood| {
        let mut out = Map::new();
        out.insert("focus".into(), neighbourhood.focus.into());
        out.insert("lines".into(), lines(&neighbourhood.lines, sources));
        for (key, list) in [("marked", &neighbourhood.marked), ("repairs", &neighbourhood.repairs)] {
            put(&mut out, key, (!list.is_empty()).then(|| lines(list, sources)));
        }
        Value::Object(out)
    };
    explanation.neighbourhoods.iter().map(one).collect()
}

fn invariants(explanation: &Explanation, sources: &Sources) -> Vec<Value> {
    let one = |invariant: &Invariant| {
        json!({
            "file": sources.name(invariant.extent.file),
            "line": invariant.extent.start.0,
            "procedure": invariant.procedure,
            "formula": invariant.formula,
            "loop": invariant.is_loop,
        })
    };
    explanation.invariants.iter().map(one).collect()
}

fn grounds(grounds: &Grounds, sources: &Sources) -> Map<String, Value> {
    let mut out = Map::new();
    out.insert("by_data_flow".into(), grounds.by_data_flow.into());
    out.insert("by_proof".into(), grounds.by_proof.into());
    out.insert("vacuous".into(), grounds.vacuous.into());
    put(&mut out, "checked", grounds.checked.as_deref());
    put_list(&mut out, "lines", grounds.lines.iter().map(|&at| line(at, sources)).collect());
    out.insert("of".into(), grounds.of.into());
    out
}

fn reproduce(explanation: &Explanation) -> Option<Value> {
    let reproduce = &explanation.reproduce;
    let mut out = Map::new();
    put(&mut out, "command", (!reproduce.command.is_empty()).then_some(reproduce.command.as_str()));
    put(&mut out, "harness", reproduce.harness.as_deref());
    (!out.is_empty()).then_some(out.into())
}

fn stats(stats: &Stats) -> Map<String, Value> {
    let mut out = Map::new();
    out.insert("locations".into(), stats.locations.into());
    put(&mut out, "engine", stats.engine.as_deref());
    out.insert("cycles".into(), stats.cycles.into());
    out.insert("runs".into(), stats.runs.into());
    for (key, seconds) in [("check_seconds", stats.check_seconds), ("seconds", stats.seconds)] {
        put(&mut out, key, seconds.is_finite().then_some(seconds));
    }
    put_list(&mut out, "incomplete", stats.incomplete.iter().map(|part| json!(part)).collect());
    out
}
