//! JSON says what the explanation says, and keeps to its published schema.

use crate::common;

use serde_json::{Value, json};

fn schema() -> jsonschema::Validator {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/explain.schema.json");
    let text = std::fs::read_to_string(path).expect("the schema is there");
    let schema: Value = serde_json::from_str(&text).expect("the schema is JSON");
    jsonschema::meta::validate(&schema).expect("the schema is a schema");
    jsonschema::validator_for(&schema).expect("the schema can be compiled")
}

fn is_null_free(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(items) => items.iter().all(is_null_free),
        Value::Object(entries) => entries.values().all(is_null_free),
        _ => true,
    }
}

#[test]
fn every_explanation_keeps_to_the_schema() {
    let schema = schema();
    for (name, explanation) in common::all().into_iter().chain([("large", common::large(300))]) {
        let value = wherefore_report::json(&explanation);
        let errors: Vec<String> =
            schema.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path)).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
        assert!(is_null_free(&value), "{name}");
    }
}

#[test]
fn the_schema_refuses_other_keys_and_missing_ones() {
    let schema = schema();
    let good = wherefore_report::json(&common::min_max());
    let mut more = good.clone();
    more["surprise"] = json!(1);
    assert!(!schema.is_valid(&more));
    let mut deep = good.clone();
    deep["trace"][0]["surprise"] = json!(1);
    assert!(!schema.is_valid(&deep));
    let mut less = good;
    less.as_object_mut().expect("an object").remove("verdict");
    assert!(!schema.is_valid(&less));
}

#[test]
fn a_failure_is_told_in_full() {
    let value = wherefore_report::json(&common::min_max());
    assert_eq!(value["verdict"], "unsafe");
    assert_eq!(value["error"], json!({ "file": "minmax.c", "line": 13, "kind": "assertion" }));
    let inside = json!([6, 7, 8, 9, 11, 12, 13]);
    assert_eq!(
        value["projection"],
        json!({ "in": inside, "out": [10, 14], "confirmed": inside, "exact": true })
    );
    assert_eq!(value["slice"], json!([6, 7, 8, 11, 12, 13]));
    assert_eq!(value["trace"][4]["holds"], json!(false));
    assert_eq!(value["trace"][4]["matters"], json!(false));
    assert_eq!(value["trace"][7]["values"]["max"], json!("0"));
    assert_eq!(
        value["focus"],
        json!([{
            "rank": 1,
            "lines": [8, 11, 12, 13],
            "statements": ["min = x", "min > y: true", "max = y", "min <= max: false"],
            "assumptions": ["x > y"],
            "feasible": true,
        }])
    );
    assert_eq!(value["reduced"], json!([{ "focus": 0, "lines": [8, 11, 12, 13], "assumptions": ["x > y"] }]));
    assert_eq!(
        value["neighbourhood"],
        json!([{ "focus": 0, "lines": [11, 12], "marked": [8, 11, 12], "repairs": [12] }])
    );
    assert_eq!(value["suspicion"]["12"], json!(1.0));
    assert_eq!(value["stores"]["11"], json!([["min > y", "max == x"]]));
    assert_eq!(value["inputs"][1]["value"], json!("0"));
    assert_eq!(value["replay"]["outcome"], json!("confirmed"));
}

#[test]
fn what_has_no_value_is_left_out() {
    let value = wherefore_report::json(&common::safe());
    let keys: Vec<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        ["assumptions", "grounds", "invariants", "predicates", "projection", "reproduce", "stats", "verdict"]
    );
}

#[test]
fn lines_of_other_files_have_their_names() {
    let value = wherefore_report::json(&common::two_files());
    assert_eq!(value["projection"]["in"], json!([3, 4, 5, 6]));
    assert_eq!(value["projection"]["files"][1]["file"], "lock.c");
    assert_eq!(value["projection"]["files"][1]["in"], json!([3, 4, 5]));
    assert_eq!(value["focus"][0]["lines"], json!(["lock.c:5", 5, "lock.c:3"]));
    assert_eq!(value["suspicion"]["lock.c:4"], json!(1.0));
}
