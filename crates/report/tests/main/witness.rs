//! Witnesses keep to format 2.0, as we read it: `schemas/witness-2.0.schema.json`.

use crate::common;

use serde_json::{Value, json};
use wherefore_explain::model::Explanation;
use wherefore_report::{DataModel, Task, witness};

fn task() -> Task {
    Task {
        specification: "CHECK( init(main()), LTL(G ! call(reach_error())) )".into(),
        data_model: DataModel::Lp64,
        creation_time: "2026-01-31T12:00:00Z".into(),
        ..Task::default()
    }
}

fn read(explanation: &Explanation) -> Value {
    let text = witness(explanation, &task()).expect("there is a witness");
    serde_yaml_ng::from_str(&text).unwrap_or_else(|error| panic!("{error}:\n{text}"))
}

fn schema() -> jsonschema::Validator {
    let schema =
        serde_json::from_str(include_str!("../schemas/witness-2.0.schema.json")).expect("the schema is JSON");
    jsonschema::meta::validate(&schema).expect("the schema is a schema");
    jsonschema::validator_for(&schema).expect("the schema can be compiled")
}

/// The waypoints of a violation witness: type, line, column, value.
fn waypoints(value: &Value) -> Vec<(String, u64, u64, String)> {
    let content = value[0]["content"].as_array().expect("segments");
    let one = |segment: &Value| {
        let waypoint = &segment["segment"][0]["waypoint"];
        let word = |value: &Value| value.as_str().unwrap_or("").to_string();
        (
            word(&waypoint["type"]),
            waypoint["location"]["line"].as_u64().unwrap_or(0),
            waypoint["location"]["column"].as_u64().unwrap_or(0),
            word(&waypoint["constraint"]["value"]),
        )
    };
    content.iter().map(one).collect()
}

#[test]
fn every_witness_keeps_to_the_format() {
    let schema = schema();
    for (name, explanation) in common::all().into_iter().chain([("large", common::large(300))]) {
        let Some(text) = witness(&explanation, &task()) else { continue };
        let value: Value =
            serde_yaml_ng::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}:\n{text}"));
        let errors: Vec<String> =
            schema.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path)).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}\n{text}");
    }
}

#[test]
fn an_unknown_verdict_has_no_witness() {
    assert_eq!(witness(&common::unknown(), &task()), None);
    assert_eq!(witness(&Explanation::default(), &task()), None);
}

#[test]
fn a_violation_is_a_sequence_of_inputs_and_branches_to_the_target() {
    let value = read(&common::min_max());
    assert_eq!(value[0]["entry_type"], "violation_sequence");
    let expected = [
        ("function_return", 6, 35, "\\result == 1"),
        ("function_return", 7, 35, "\\result == 0"),
        ("branching", 9, 5, "false"),
        ("branching", 11, 5, "true"),
        ("target", 13, 5, ""),
    ];
    let expected: Vec<_> =
        expected.map(|(kind, line, column, value)| (kind.into(), line, column, value.into())).into();
    assert_eq!(waypoints(&value), expected);
    let location = &value[0]["content"][0]["segment"][0]["waypoint"]["location"];
    assert_eq!(location["function"], "main");
    assert_eq!(location["file_name"], "minmax.c");
}

#[test]
fn an_input_in_a_loop_is_read_once_a_turn() {
    let mut explanation = common::min_max();
    let run = &mut explanation.runs[0];
    // As if lines 7 to 9 were a loop: the input of line 7 is read, a branch is taken, and it is
    // read again.
    let turn: Vec<_> = [1, 4, 1, 4].map(|step| run.steps[step].clone()).into();
    run.steps = turn;
    let (mut first, mut second) = (run.inputs[1].clone(), run.inputs[1].clone());
    first.value = "7".into();
    second.value = "8".into();
    run.inputs = vec![first, second];
    let values: Vec<String> = waypoints(&read(&explanation)).into_iter().map(|waypoint| waypoint.3).collect();
    assert_eq!(values, ["\\result == 7", "false", "\\result == 8", "false", ""]);
}

#[test]
fn waypoints_lie_in_the_files_of_the_run() {
    let value = read(&common::two_files());
    let kinds: Vec<String> =
        waypoints(&value).into_iter().map(|(kind, line, ..)| format!("{kind} {line}")).collect();
    assert_eq!(kinds, ["function_return 3", "branching 3", "branching 5", "branching 3", "target 4"]);
}

#[test]
fn a_proof_is_a_set_of_invariants() {
    let value = read(&common::safe());
    assert_eq!(value[0]["entry_type"], "invariant_set");
    let content = &value[0]["content"];
    assert_eq!(content[0]["invariant"]["type"], "loop_invariant");
    let location = json!({ "file_name": "turnstile.c", "line": 7, "column": 5, "function": "main" });
    assert_eq!(content[0]["invariant"]["location"], location);
    assert_eq!(content[1]["invariant"]["type"], "location_invariant");
    assert_eq!(content[1]["invariant"]["value"], "locked + coins == 1");
}

#[test]
fn the_task_is_named_with_its_digest() {
    let metadata = &read(&common::min_max())[0]["metadata"];
    assert_eq!(metadata["format_version"], "2.0");
    assert_eq!(metadata["task"]["input_files"], json!(["minmax.c"]));
    let digest = metadata["task"]["input_file_hashes"]["minmax.c"].as_str().expect("a digest");
    assert_eq!(digest.len(), 64);
    assert_eq!(metadata["task"]["data_model"], "LP64");
    assert_eq!(metadata["producer"]["name"], "wherefore");
}

#[test]
fn the_identifier_depends_on_the_content_only() {
    let id = |explanation: &Explanation| read(explanation)[0]["metadata"]["uuid"].clone();
    assert_eq!(id(&common::min_max()), id(&common::min_max()));
    assert_ne!(id(&common::min_max()), id(&common::safe()));
    let given = Task { uuid: Some("c0ffee00-0000-4000-8000-000000000000".into()), ..task() };
    assert!(
        witness(&common::safe(), &given).expect("a witness").contains("c0ffee00-0000-4000-8000-000000000000")
    );
}
