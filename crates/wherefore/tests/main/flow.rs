//! `wherefore flow`: facts beside lines, at one line, for stacks, as JSON; mistakes in questions.

use std::process::{Command, Output};

fn flow(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wherefore"));
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    command.arg("flow").args(args).output().expect("the binary runs")
}

fn text(args: &[&str]) -> String {
    let output = flow(args);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn refused(args: &[&str]) -> String {
    let output = flow(args);
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).expect("text")
}

const ODOMETER: &str = "examples/odometer.c";

#[test]
fn facts_are_beside_the_lines() {
    let shown = text(&[ODOMETER, "--domain", "affine:32"]);
    let line = |number: &str| shown.lines().find(|line| line.trim_start().starts_with(number)).unwrap();
    assert!(line("15 |").contains("start = miles - legs   trips = 2*legs + 1   legs ≡ 0 (mod 2)"), "{shown}");
    assert!(line("16 |").trim_end().ends_with("next_leg();"), "nothing is new there: {shown}");
    assert!(!shown.contains("not confirmed"), "{shown}");
    let all = text(&[ODOMETER, "--domain", "affine:32", "--all"]);
    assert!(all.lines().any(|line| line.contains("16 |") && line.contains("start = miles - legs")), "{all}");
    let some = text(&[ODOMETER, "--vars", "legs"]);
    assert!(some.contains("legs ≡ 0 (mod 2)") && !some.contains("miles - legs"), "{some}");
}

#[test]
fn the_documentation_shows_what_is_printed() {
    let guide = include_str!("../../../../docs/flow.md");
    for block in guide.split("```\n$ wherefore flow ").skip(1) {
        let (command, rest) = block.split_once('\n').expect("a command and its output");
        let (expected, _) = rest.split_once("```").expect("the end of a block");
        let args: Vec<String> = command.split('\'').enumerate().fold(Vec::new(), |mut args, (i, part)| {
            match i % 2 {
                0 => args.extend(part.split_whitespace().map(str::to_owned)),
                _ => args.push(part.to_owned()),
            }
            args
        });
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        assert_eq!(text(&args), expected, "wherefore flow {command}");
    }
}

#[test]
fn one_line_and_its_stacks() {
    let shown = text(&[ODOMETER, "--at", "7", "--stack", "main:17"]);
    assert!(shown.contains("trips = 2*legs + 1"), "{shown}");
    let shown = text(&[ODOMETER, "--at", "odometer.c:7", "--domain", "affine:32"]);
    assert!(shown.contains("trips ≡ 1 (mod 4)") && !shown.contains("trips = 2*legs + 1"), "{shown}");
}

#[test]
fn json_has_a_vector_for_each_equation() {
    let answer: serde_json::Value =
        serde_json::from_str(&text(&[ODOMETER, "--at", "15", "--domain", "affine:32", "--json"]))
            .expect("JSON");
    assert_eq!(answer["schema"], 1);
    let facts = answer["facts"].as_array().expect("facts");
    let even = facts.iter().find(|fact| fact["text"] == "legs ≡ 0 (mod 2)").expect("legs is even");
    assert_eq!(even["vector"], serde_json::json!([0, -2_147_483_648i64]));
    assert_eq!((&even["mod"], &even["verified"]), (&serde_json::json!(32), &serde_json::json!(true)));
    assert!(facts.iter().any(|fact| fact["variables"] == serde_json::json!(["start", "miles", "legs"])));
}

#[test]
fn other_languages_and_other_domains() {
    let shown = text(&["examples/getunit-b2.bp"]);
    assert!(shown.contains("nU0 = T") && shown.contains("nU0 = F"), "{shown}");
    let shown = text(&["examples/primality.rem", "--domain", "intervals"]);
    assert!(shown.contains("3 ≤ n ≤ 9") && shown.contains("not reached"), "{shown}");
    let shown = text(&[ODOMETER, "--domain", "live,reaching,uninitialised", "--at", "14"]);
    assert!(shown.contains("live: legs, miles, start") && shown.contains("miles from 13"), "{shown}");
}

#[test]
fn mistakes_are_named() {
    assert!(refused(&[ODOMETER, "--at", "10"]).contains("line 10 has no statement; the nearest"));
    assert!(refused(&[ODOMETER, "--at", "other.c:7"]).contains("no file of the program is called `other.c`"));
    assert!(refused(&[ODOMETER, "--at", "seven"]).contains("neither a line nor FILE:LINE"));
    assert!(refused(&[ODOMETER, "--domain", "shapes"]).contains("there is no domain `shapes`"));
    assert!(refused(&[ODOMETER, "--domain", "affine:7"]).contains("the width is 8, 16, 32 or 64"));
    assert!(refused(&[ODOMETER, "--vars", "nobody"]).contains("there is no variable `nobody`"));
    assert!(refused(&[ODOMETER, "--at", "7", "--stack", "main:5"]).contains("there is no call at `main:5`"));
    assert!(refused(&[ODOMETER, "--at", "7", "--stack", "f:17"]).contains("there is no function `f`"));
    assert!(refused(&[ODOMETER, "--at", "7", "--stack", ".. 17"]).contains("must be the last part"));
    let live = refused(&[ODOMETER, "--at", "7", "--stack", "17 ..", "--domain", "live"]);
    assert!(live.contains("known for all stacks together only"), "{live}");
    assert!(refused(&["examples/getunit-b2.bp", "--data-model", "lp64"]).contains("is for C programs"));
}

#[test]
fn a_condition_can_hold_or_not() {
    let can = |line: &str, condition: &str| {
        let output = flow(&[ODOMETER, "--at", line, "--can", condition]);
        let shown = String::from_utf8(output.stdout).expect("text");
        (output.status.code(), shown)
    };
    let (code, shown) = can("21", "legs % 2 == 1");
    assert_eq!(code, Some(0), "{shown}");
    assert!(
        shown.starts_with("examples/odometer.c:21: can `legs % 2 == 1` hold? no: this is proved"),
        "{shown}"
    );
    assert!(shown.contains("assumed: examples/odometer.c:15: `more` has no body"), "{shown}");
    // At the head of a loop it is each time that the condition is evaluated, not only the first.
    for (line, condition) in [("21", "legs == 6"), ("15", "legs == 4"), ("7", "d == 5")] {
        let (code, shown) = can(line, condition);
        assert_eq!(code, Some(10), "{shown}");
        assert!(shown.contains("hold? yes, in this run:\n"), "{shown}");
        assert!(shown.contains(&format!("here `{condition}` holds")), "{shown}");
    }
    let output = flow(&[ODOMETER, "--at", "21", "--can", "trips == 1", "--json"]);
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&answer["can"], answer["run"].is_array()), (&serde_json::json!("yes"), true));
    assert!(refused(&[ODOMETER, "--at", "21", "--can", "legs = 6"]).contains("changes nothing"));
    assert!(
        refused(&[ODOMETER, "--at", "3", "--can", "legs == 6"]).contains("no statement starts at line 3")
    );
    assert!(
        refused(&["examples/getunit-b1.bp", "--at", "3", "--can", "x"]).contains("--can is for C programs")
    );
    assert!(
        refused(&[ODOMETER, "--at", "21", "--can", "nothing == 6"]).contains("`nothing` is not declared")
    );
}
