//! `wherefore trace`: backtraces to runs, paths or none; evidence; mistakes; a compiled program
//! that crashes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn trace(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wherefore"));
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    command.arg("trace").args(args).output().expect("the binary runs")
}

fn text(args: &[&str], code: i32) -> String {
    let output = trace(args);
    let said = String::from_utf8(output.stdout).expect("text");
    assert_eq!(output.status.code(), Some(code), "{said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

fn refused(args: &[&str]) -> String {
    let output = trace(args);
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).expect("text")
}

/// A folder for the files of a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn written(folder: &Path, name: &str, text: &str) -> String {
    let file = folder.join(name);
    std::fs::write(&file, text).expect("a file");
    file.display().to_string()
}

fn json(args: &[&str], code: i32) -> Value {
    let answer: Value = serde_json::from_str(&text(args, code)).expect("JSON");
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/trace.schema.json");
    let schema: Value =
        serde_json::from_str(&std::fs::read_to_string(file).expect("the schema")).expect("JSON");
    let schema = jsonschema::validator_for(&schema).expect("the schema can be compiled");
    let wrong: Vec<String> = schema.iter_errors(&answer).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:?}\n{answer:#}");
    answer
}

const LIST: [&str; 3] = ["examples/list.c", "--crash", "examples/list-gdb.txt"];
const JOBS: [&str; 3] = ["examples/jobs.c", "--crash", "examples/jobs-ubsan.txt"];

#[test]
fn the_documentation_shows_what_is_printed() {
    let guide = include_str!("../../../../docs/traces.md");
    let mut count = 0;
    for block in guide.split("```\n$ wherefore trace ").skip(1) {
        let (command, rest) = block.split_once('\n').expect("a command and its output");
        let (expected, _) = rest.split_once("```").expect("the end of a block");
        let args: Vec<&str> = command.split_whitespace().collect();
        let output = trace(&args);
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "wherefore trace {command}");
        count += 1;
    }
    assert!(count > 2);
}

#[test]
fn a_backtrace_leads_to_inputs() {
    let answer = json(&[&LIST[..], &["--json"]].concat(), 10);
    let trace = &answer["trace"];
    assert_eq!((&trace["answer"], &trace["feasible"]), (&Value::from("feasible"), &Value::from(true)));
    assert_eq!(trace["inputs"], serde_json::json!([{ "function": "getchar", "value": "53" }]));
    assert!(trace["failure"].as_str().expect("words").contains("null pointer"));
    assert_eq!(trace["replay"]["outcome"], "confirmed");
    assert_eq!(trace["replay"]["same_stack"], true);
    assert_eq!(trace["stack"][0]["conditions"], serde_json::json!(["l = 0", "n = 3"]));
}

#[test]
fn values_that_do_not_fit_together_are_none() {
    let folder = folder("trace-values");
    let stack = "#0  nth (l=0x0, n=3) at list.c:10\n#1  nth (n=6) at list.c:10\n#2  main () at list.c:17\n";
    let stack = written(&folder, "gdb.txt", stack);
    let answer = json(&["examples/list.c", "--crash", &stack, "--json"], 0);
    assert_eq!(answer["trace"]["answer"], "none");
    assert!(answer["trace"]["reason"].as_str().expect("words").contains("with these values of arguments"));
    assert_eq!(answer["trace"]["length"], 8, "there is a path: {answer:#}");
    let other = text(&["examples/jobs.c", "--crash", "examples/list-gdb.txt"], 0);
    assert!(other.contains("none: frame #3 does not fit this program: `main` is in"), "{other}");
}

#[test]
fn evidence_is_visited() {
    let logged = text(&[&JOBS[..], &["--log", "examples/jobs.log", "--path-only"]].concat(), 5);
    for line in ["log line 1]", "log line 2]", "log line 3]"] {
        assert!(logged.contains(line), "{logged}");
    }
    let answer =
        json(&[&JOBS[..], &["--visit", "20", "--visit", "jobs.c:18", "--order", "--json"]].concat(), 10);
    let lines: Vec<u64> = answer["trace"]["run"]
        .as_array()
        .expect("a run")
        .iter()
        .filter_map(|step| step["line"].as_u64())
        .collect();
    let first = lines.iter().position(|line| *line == 20).expect("line 20 is visited");
    assert!(lines[first..].contains(&18), "{lines:?}");
    assert_eq!(answer["trace"]["missed"], serde_json::json!([]));
    let folder = folder("trace-coverage");
    let coverage =
        written(&folder, "cov.info", "SF:jobs.c\nDA:15,2\nDA:16,1\nDA:18,0\nDA:20,1\nend_of_record\n");
    let covered = json(&[&JOBS[..], &["--coverage", &coverage, "--path-only", "--json"]].concat(), 5);
    let lines: Vec<u64> = covered["trace"]["path"]
        .as_array()
        .expect("a path")
        .iter()
        .filter_map(|step| step["line"].as_u64())
        .collect();
    assert!(lines.contains(&20) && !lines.contains(&18), "{lines:?}");
    // Without a job the index is 0: the stack is reached, and nothing fails.
    let avoided = text(&[&JOBS[..], &["--avoid", "16"]].concat(), 10);
    assert!(avoided.contains("feasible: a run comes to this stack"), "{avoided}");
}

#[test]
fn mistakes_are_named() {
    let folder = folder("trace-mistakes");
    let file = |name: &str, text: &str| written(&folder, name, text);
    let nothing = file("nothing.txt", "it crashed\n");
    assert!(
        refused(&["examples/list.c", "--crash", &nothing]).contains("nothing.txt:1:1: no frame of a stack")
    );
    let broken = file("broken.txt", "#0  nth () at list.c:10\n#1  0xq main\n");
    assert!(
        refused(&["examples/list.c", "--crash", &broken]).contains("broken.txt:2:3: a function is expected")
    );
    assert!(refused(&["examples/list.c", "--crash", "no-such-file"]).contains("no-such-file"));
    assert!(refused(&[&LIST[..], &["--visit", "1"]].concat()).contains("examples/list.c:1 has no statement"));
    assert!(refused(&[&LIST[..], &["--visit", "ten"]].concat()).contains("neither a line nor FILE:LINE"));
    let coverage = file("bad.info", "SF:list.c\nDA:x,1\n");
    let said = refused(&[&LIST[..], &["--coverage", &coverage]].concat());
    assert!(said.contains("bad.info:2:4: a line number is expected"), "{said}");
}

#[test]
fn other_languages_have_traces() {
    let folder = folder("trace-bp");
    let stack = written(&folder, "stack.txt", "getUnit at getunit-b2.bp:10\nmain at getunit-b2.bp:12\n");
    let answer = text(&["examples/getunit-b2.bp", "--crash", &stack], 10);
    assert!(answer.contains("feasible: a run comes to this stack"), "{answer}");
}

/// A program is compiled with AddressSanitizer and crashes; its report leads to inputs that make it
/// crash again with the same stack.
#[test]
fn a_report_of_address_sanitizer_is_reproduced() {
    let folder = folder("trace-asan");
    let source = include_str!("../data/uaf.c");
    let file = written(&folder, "uaf.c", source);
    let program = folder.join("uaf");
    let compiled = Command::new("gcc").args(["-g", "-fsanitize=address", &file, "-o"]).arg(&program).output();
    if !compiled.is_ok_and(|output| output.status.success()) {
        eprintln!("gcc with AddressSanitizer is not here: nothing was tested");
        return;
    }
    let input = written(&folder, "input", "aabbuqccu");
    let input = std::fs::File::open(input).expect("the input");
    let crashed = Command::new(&program).stdin(input).output().expect("it runs");
    let report = written(&folder, "asan.txt", &String::from_utf8_lossy(&crashed.stderr));
    let answer = json(&[&file, "--crash", &report, "--json"], 10);
    let trace = &answer["trace"];
    assert_eq!(trace["happened"], "heap-use-after-free");
    assert_eq!(
        (&trace["replay"]["outcome"], &trace["replay"]["same_stack"]),
        (&Value::from("confirmed"), &Value::from(true))
    );
    let inputs: Vec<u8> = trace["inputs"]
        .as_array()
        .expect("inputs")
        .iter()
        .filter_map(|input| input["value"].as_str()?.parse::<i64>().ok())
        .filter_map(|value| u8::try_from(value).ok())
        .collect();
    std::fs::write(folder.join("again"), inputs).expect("a file");
    let input = std::fs::File::open(folder.join("again")).expect("the input");
    let again = Command::new(&program).stdin(input).output().expect("it runs");
    let places = |text: &[u8]| -> Vec<String> {
        let text = String::from_utf8_lossy(text).into_owned();
        let frames = text.lines().map(str::trim).skip_while(|line| !line.starts_with("#0")).take(2);
        frames.filter_map(|line| line.split_once(" in ").map(|(_, rest)| rest.to_owned())).collect()
    };
    assert_eq!(places(&again.stderr), places(&crashed.stderr));
    assert_eq!(places(&again.stderr).len(), 2);
}
