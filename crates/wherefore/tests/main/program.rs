//! `wherefore check` and `wherefore project` as a user runs them.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

fn wherefore(arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let command = env!("CARGO_BIN_EXE_wherefore");
    Command::new(command).current_dir(root).args(arguments).output().expect("the program starts")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn answer(arguments: &[&str]) -> (Option<i32>, Value) {
    let output = wherefore(&[arguments, &["--json"]].concat());
    (output.status.code(), serde_json::from_slice(&output.stdout).expect("JSON"))
}

#[test]
fn a_shortest_failing_run_with_values() {
    let output = wherefore(&["check", "examples/getunit-b2.bp"]);
    assert_eq!(output.status.code(), Some(10));
    assert_eq!(
        text(&output),
        "\
examples/getunit-b2.bp: unsafe

a shortest failing run, to examples/getunit-b2.bp:10: assertion:
   12  main  getUnit()       nU0=T
    1    getUnit  skip       nU0=T
    2    getUnit  if (nU0)
    3    getUnit  if (*)
    8    getUnit  if (*)
    9    getUnit  if (nU0)
   10    getUnit  assert(F)
"
    );
    let (code, answer) = answer(&["check", "examples/getunit-b2.bp"]);
    assert_eq!(code, Some(10));
    assert_eq!(answer["verdict"], "unsafe");
    assert_eq!(answer["error"]["line"], 10);
    assert_eq!(answer["trace"][1]["values"]["nU0"], "T");
    assert_eq!(answer["trace"].as_array().map(Vec::len), Some(7));
}

#[test]
fn a_safe_program_leaves_with_zero() {
    let (code, answer) = answer(&["check", "examples/getunit-b3.bp"]);
    assert_eq!((code, &answer["verdict"]), (Some(0), &json!("safe")));
    let (code, answer) = self::answer(&["project", "examples/getunit-b3.bp"]);
    assert_eq!((code, &answer["projection"]["in"]), (Some(0), &json!([])));
}

/// [Lal09] Fig. 5.2: lines and steps outside the projection of getUnit's second abstraction.
#[test]
fn lines_steps_and_stores_of_get_unit() {
    let (code, answer) = answer(&["project", "examples/getunit-b2.bp", "--stores", "--edges"]);
    assert_eq!(code, Some(10));
    assert_eq!(answer["projection"], json!({ "in": [1, 2, 3, 8, 9, 10, 12], "out": [4, 5, 6, 7, 11] }));
    let inside = answer["edges"]["in"].as_array().expect("edges");
    let outside = answer["edges"]["out"].as_array().expect("edges");
    for edge in [[3, 8], [2, 3], [9, 10]] {
        assert!(inside.contains(&json!(edge)), "{edge:?}");
    }
    for edge in [[3, 4], [2, 7], [9, 11]] {
        assert!(outside.contains(&json!(edge)), "{edge:?}");
    }
    assert_eq!(answer["stores"]["2"], json!(["nU0"]));
}

#[test]
fn runs_through_a_line_or_the_word_that_there_is_none() {
    let (code, answer) = answer(&["project", "examples/getunit-b1.bp", "--through", "5"]);
    assert_eq!((code, &answer["through"]["exists"]), (Some(10), &json!(true)));
    let lines: Vec<_> = answer["through"]["trace"]
        .as_array()
        .expect("a run")
        .iter()
        .map(|step| step["line"].clone())
        .collect();
    assert!(lines.contains(&json!(5)) && lines.last() == Some(&json!(10)));
    let output = wherefore(&["project", "examples/getunit-b2.bp", "--through", "4"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output), "examples/getunit-b2.bp: unsafe; no failing run passes line 4\n");
}

#[test]
fn both_searches_agree_and_limits_are_unknown() {
    let (code, _) = answer(&["check", "examples/getunit-b2.bp", "--search", "backwards"]);
    assert_eq!(code, Some(10));
    let (code, answer) = answer(&["check", "examples/getunit-b2.bp", "--timeout", "0"]);
    assert_eq!((code, &answer["verdict"]), (Some(5), &json!("unknown")));
    assert_eq!(answer["reason"], "the time limit was reached");
}

#[test]
fn stages_can_be_printed() {
    for (stage, expected) in [
        ("cfa", "digraph"),
        ("listing", "getUnit"),
        ("pds", "<p, start> -> <p, main."),
        ("automaton", "digraph"),
    ] {
        let output = wherefore(&["check", "examples/getunit-b2.bp", "--dump", stage]);
        assert_eq!(output.status.code(), Some(0));
        assert!(text(&output).contains(expected), "{stage}");
    }
}

#[test]
fn bad_programs_and_questions_leave_with_two() {
    let folder = std::env::temp_dir().join(format!("wherefore-programs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let file = folder.join("bad.bp");
    std::fs::write(&file, "void main() begin\n  x := T;\n  y := ;\nend\n").expect("a temporary file");
    let file = file.display().to_string();
    let output = wherefore(&["check", &file]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("bad.bp:2:") && message.contains('^'), "{message}");
    for arguments in [
        &["check", "no-such-file.bp"][..],
        &["check", "README.md"],
        &["check", "examples/getunit-b2.bp", "--label", "nowhere"],
        &["check", "examples/getunit-b2.bp", "--entry", "nobody"],
        &["project", "examples/getunit-b2.bp", "--through", "99"],
        &["check", "examples/getunit-b2.bp", "--engine", "magic"],
    ] {
        assert_eq!(wherefore(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn threads_are_checked_and_projected() {
    let folder = std::env::temp_dir().join(format!("wherefore-programs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let file = folder.join("threads.bp");
    std::fs::write(
        &file,
        "decl x;\nvoid w() begin x := T; end\nvoid main() begin\n  x := F;\n  start_thread w();\n  assert(!x);\nend\n",
    )
    .expect("a file");
    let name = file.display().to_string();
    let (code, checked) = answer(&["check", &name]);
    assert_eq!((code, &checked["verdict"]), (Some(10), &json!("unsafe")));
    // Thread 0 is left when it has started the other one: that is no switch, but coming back is.
    assert_eq!(
        (&checked["switches"], &checked["fewest"], &checked["threads"]),
        (&json!(1), &json!(true), &json!(2))
    );
    let threads: Vec<&Value> =
        checked["schedule"].as_array().expect("a schedule").iter().map(|c| &c["thread"]).collect();
    assert_eq!(threads, [&json!(0), &json!(1), &json!(0)]);
    let (code, bounded) = answer(&["check", &name, "--switches", "0"]);
    assert_eq!((code, &bounded["verdict"]), (Some(5), &json!("unknown")));
    assert_eq!(bounded["covered"], json!({ "switches": 0 }));
    let (code, projected) = answer(&["project", &name]);
    assert_eq!((code, &projected["verdict"]), (Some(10), &json!("unsafe")));
    let lines = |thread: usize| &projected["projection"][thread]["in"];
    assert_eq!(lines(0), &json!({ "4": 1, "5": 1, "6": 1 }));
    assert_eq!(lines(1), &json!({ "2": 1 }));
}
