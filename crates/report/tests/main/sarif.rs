//! SARIF keeps to the schema of its standard, which is read from the file that
//! `WHEREFORE_SARIF_SCHEMA` names (`.ci/schemas` fetches it). Without it that test is ignored, and
//! only the structure is checked.

use crate::common;

use serde_json::{Value, json};
use wherefore_explain::model::{Check, CheckVerdict, Explanation};
use wherefore_report::SarifOptions;

fn sarif(explanation: &Explanation) -> Value {
    wherefore_report::sarif(explanation, &SarifOptions::default())
}

#[test]
#[ignore = "needs the schema of SARIF, WHEREFORE_SARIF_SCHEMA (.ci/schemas fetches it)"]
fn every_log_keeps_to_the_schema_of_the_standard() {
    let path = wherefore_testing::given("WHEREFORE_SARIF_SCHEMA");
    let text = std::fs::read_to_string(path).expect("the schema can be read");
    let schema: Value = serde_json::from_str(&text).expect("the schema is JSON");
    let schema = jsonschema::validator_for(&schema).expect("the schema can be compiled");
    assert!(!schema.is_valid(&json!({ "version": "2.1.0" })), "the schema refuses what is wrong");
    for (name, explanation) in common::all().into_iter().chain([("large", common::large(300))]) {
        let options = SarifOptions { root: Some("/home/someone/a b".into()) };
        let log = wherefore_report::sarif(&explanation, &options);
        let errors: Vec<String> =
            schema.iter_errors(&log).map(|error| format!("{}: {error}", error.instance_path)).collect();
        assert!(errors.is_empty(), "{name}: {errors:#?}");
    }
}

#[test]
fn every_log_has_the_structure_of_the_standard() {
    for (name, explanation) in common::all() {
        let log = sarif(&explanation);
        assert_eq!(log["version"], "2.1.0", "{name}");
        let run = &log["runs"][0];
        let driver = &run["tool"]["driver"];
        assert_eq!(driver["name"], "wherefore");
        assert_eq!(driver["version"], env!("CARGO_PKG_VERSION"));
        let rules = driver["rules"].as_array().expect("rules");
        for result in run["results"].as_array().expect("results") {
            let index = result["ruleIndex"].as_u64().expect("an index") as usize;
            assert_eq!(rules[index]["id"], result["ruleId"]);
            assert!(result["message"]["text"].as_str().is_some_and(|text| !text.is_empty()));
            assert!(result["locations"][0]["physicalLocation"]["region"]["startLine"].as_u64() >= Some(1));
        }
    }
}

#[test]
fn a_failure_has_its_run_and_its_likely_fault() {
    let log = sarif(&common::min_max());
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "wherefore/assertion");
    let region = &result["locations"][0]["physicalLocation"]["region"];
    assert_eq!(*region, json!({ "startLine": 13, "startColumn": 5, "endLine": 13, "endColumn": 23 }));
    let steps = result["codeFlows"][0]["threadFlows"][0]["locations"].as_array().expect("steps");
    assert_eq!(steps.len(), 8);
    assert_eq!(steps[7]["state"]["max"]["text"], "0");
    assert_eq!(steps[5]["importance"], "essential");
    assert_eq!(steps[4]["importance"], "unimportant");
    assert_eq!(steps[5]["location"]["message"]["text"], "if (min > y): true");
    let related = result["relatedLocations"].as_array().expect("related locations");
    assert_eq!(related.len(), 6);
    assert_eq!(related[1]["physicalLocation"]["region"]["startLine"], 12);
    assert!(result["message"]["text"].as_str().expect("a text").contains("likely to be at minmax.c:12"));
}

#[test]
fn calls_nest() {
    let log = sarif(&common::two_files());
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "wherefore/error-call");
    let steps = &result["codeFlows"][0]["threadFlows"][0]["locations"];
    assert_eq!(steps[2]["nestingLevel"], 1);
    assert_eq!(steps[2]["location"]["physicalLocation"]["artifactLocation"]["uri"], "lock.c");
}

#[test]
fn a_safe_program_has_no_results_and_an_unknown_one_a_notification() {
    assert_eq!(sarif(&common::safe())["runs"][0]["results"], json!([]));
    let log = sarif(&common::unknown());
    assert_eq!(log["runs"][0]["results"], json!([]));
    let note = &log["runs"][0]["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"];
    assert!(note.as_str().expect("a text").contains("out of time"));
}

#[test]
fn a_fingerprint_does_not_depend_on_line_numbers() {
    let print = |explanation| sarif(&explanation)["runs"][0]["results"][0]["partialFingerprints"].clone();
    let first = print(common::min_max());
    let mut moved = common::min_max();
    moved.sources[0].text.insert_str(0, "\n\n");
    let place = moved.error.as_mut().expect("it fails");
    place.extent.start.0 += 2;
    place.extent.end.0 += 2;
    assert_eq!(print(moved), first);
    let mut indented = common::min_max();
    indented.sources[0].text =
        indented.sources[0].text.replace("    assert(min <= max)", "  assert(min  <= max)");
    indented.sources[0].name = "/elsewhere/minmax.c".into();
    assert_eq!(print(indented), first);
}

/// A program with three checks that can fail, two of them on lines of the same text.
fn several() -> Explanation {
    let mut explanation = common::min_max();
    let own = explanation.checks[0].place.clone();
    let run = explanation.runs[0].clone();
    let other = |kind: &str, line: u32| {
        let mut place = own.clone();
        place.kind = kind.into();
        place.label = Some("`i` is {odd}".into());
        (place.extent.start.0, place.extent.end.0) = (line, line);
        Check { place, verdict: CheckVerdict::Unsafe, reason: None, run: Some(run.clone()) }
    };
    explanation.checks.extend([other("bounds", 6), other("overflow", 10), other("overflow", 12)]);
    explanation.sources[0].text =
        explanation.sources[0].text.replace("max = y; /* min, not max */", "max = y;");
    explanation
}

#[test]
fn every_check_that_can_fail_is_a_result_with_its_run() {
    let log = sarif(&several());
    let results = log["runs"][0]["results"].as_array().expect("results");
    let rules: Vec<&Value> = results.iter().map(|result| &result["ruleId"]).collect();
    let expected = ["assertion", "bounds", "overflow", "overflow"].map(|rule| format!("wherefore/{rule}"));
    assert_eq!(rules, expected.iter().map(String::as_str).collect::<Vec<_>>());
    for result in results {
        let steps = &result["codeFlows"][0]["threadFlows"][0]["locations"];
        assert_eq!(steps.as_array().map(Vec::len), Some(8), "{result}");
    }
}

#[test]
fn results_of_the_same_text_have_different_fingerprints() {
    let log = sarif(&several());
    let results = log["runs"][0]["results"].as_array().expect("results");
    let prints: Vec<&str> =
        results.iter().filter_map(|result| result["partialFingerprints"]["failure/v2"].as_str()).collect();
    assert_eq!(prints.len(), 4);
    assert_eq!(prints[2].strip_suffix(":1"), prints[3].strip_suffix(":2"), "{prints:?}");
    assert_ne!(prints[0], prints[1]);
}

#[test]
fn names_are_seen_from_the_root() {
    let mut explanation = common::two_files();
    explanation.sources[0].name = "/home/someone/a b/src/main.c".into();
    let options = SarifOptions { root: Some("/home/someone/a b".into()) };
    let log = wherefore_report::sarif(&explanation, &options);
    let run = &log["runs"][0];
    assert_eq!(run["originalUriBaseIds"], json!({ "%SRCROOT%": { "uri": "file:///home/someone/a%20b/" } }));
    let of = |file: usize| run["artifacts"][file]["location"].clone();
    assert_eq!(of(0), json!({ "uri": "src/main.c", "uriBaseId": "%SRCROOT%" }));
    assert_eq!(of(1), json!({ "uri": "lock.c", "uriBaseId": "%SRCROOT%" }));
    explanation.sources[1].name = "/usr/include/lock.h".into();
    let log = wherefore_report::sarif(&explanation, &options);
    assert_eq!(log["runs"][0]["artifacts"][1]["location"], json!({ "uri": "file:///usr/include/lock.h" }));
}

#[test]
fn every_rule_says_what_it_means_and_what_to_do() {
    let log = sarif(&common::safe());
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().expect("rules");
    for kind in [
        "null",
        "bounds",
        "use-after-free",
        "use-after-scope",
        "double-free",
        "invalid-free",
        "division",
        "overflow",
        "shift",
        "builtin",
        "leak",
        "race",
        "deadlock",
        "lock",
    ] {
        assert!(rules.iter().any(|rule| rule["id"] == format!("wherefore/{kind}")), "{kind}");
    }
    for rule in rules {
        for part in ["/shortDescription/text", "/fullDescription/text", "/help/text", "/help/markdown"] {
            let text = rule.pointer(part).and_then(Value::as_str).unwrap_or_default();
            assert!(text.len() > 20, "{part} of {rule}");
        }
    }
}
