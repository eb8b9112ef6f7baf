//! `wherefore explain`, `project` and `serve` as a user sees them: exit codes, what is printed,
//! files that are written.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

const ABSMINUS: &str = "extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
static int unused;
int main(void) {
  int x = __VERIFIER_nondet_int();
  int y = __VERIFIER_nondet_int();
  int k = 0;
  int result;
  if (x < 0 || x > 9 || y < 0 || y > 9)
    return 0;
  if (x <= y)
    k = k + 2;
  if (k == 1 && x != y)
    result = y - x;
  else
    result = x - y;
  unused = k;
  if (result < 0)
    reach_error();
  unused = result;
  return 0;
}
";

/// A folder of its own for each test, which goes when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("wherefore-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("absminus.c"), ABSMINUS).expect("a program");
        Self(folder)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wherefore"));
        command.current_dir(&self.0).args(arguments).output().expect("the binary runs")
    }

    fn text(&self, file: &str) -> String {
        std::fs::read_to_string(self.0.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn repository(path: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path).display().to_string()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn json(output: &Output) -> Value {
    serde_json::from_str(&text(output)).unwrap_or_else(|error| panic!("{error}: {}", text(output)))
}

/// Explanations that the schema does not accept.
fn mistakes(answer: &Value) -> Vec<String> {
    let schema =
        std::fs::read_to_string(repository("docs/explain.schema.json")).expect("the schema is there");
    let schema: Value = serde_json::from_str(&schema).expect("the schema is JSON");
    let schema = jsonschema::validator_for(&schema).expect("the schema can be compiled");
    schema.iter_errors(answer).map(|error| format!("{}: {error}", error.instance_path)).collect()
}

#[test]
fn an_explanation_names_the_fault_and_how_to_see_it() {
    let folder = Folder::new("explain");
    let output = folder.run(&["explain", "absminus.c"]);
    assert_eq!(output.status.code(), Some(10));
    let shown = text(&output);
    for wanted in ["absminus.c", "k = k + 2", "wherefore check absminus.c"] {
        assert!(shown.contains(wanted), "{wanted} is not in\n{shown}");
    }
}

/// The effort is counted in steps, so the same question has the same explanation.
#[test]
fn explanations_are_the_same_every_time() {
    let folder = Folder::new("same");
    for file in ["absminus.c", "examples/device.c", "examples/mccarthy.c", "examples/getunit-b3.bp"] {
        let path = if file.starts_with("examples") { repository(file) } else { file.to_owned() };
        let first = text(&folder.run(&["explain", &path, "--effort", "0.3"]));
        for _ in 0..2 {
            assert_eq!(text(&folder.run(&["explain", &path, "--effort", "0.3"])), first, "{file}");
        }
    }
    let output = folder.run(&["explain", "absminus.c", "--effort", "none"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn explanations_as_json_are_those_of_the_schema() {
    let folder = Folder::new("explain-json");
    let failing = folder.run(&["explain", "absminus.c", "--json"]);
    assert_eq!(failing.status.code(), Some(10));
    let answer = json(&failing);
    assert_eq!(mistakes(&answer), [""; 0]);
    assert_eq!(answer["verdict"], "unsafe");
    assert_eq!(answer["error"]["line"], 19);
    assert_eq!(answer["replay"]["outcome"], "confirmed");
    let lines = |key: &str| answer["projection"][key].as_array().cloned().unwrap_or_default();
    assert!(
        lines("in").contains(&12.into()) && lines("out").contains(&14.into()),
        "{}",
        answer["projection"]
    );
    let near = answer["neighbourhood"][0]["lines"].as_array().expect("a neighbourhood");
    assert!(near.contains(&12.into()), "{near:?}");
    let safe = folder.run(&["explain", &repository("examples/turnstile.c"), "--json"]);
    assert_eq!(safe.status.code(), Some(0));
    assert_eq!(mistakes(&json(&safe)), [""; 0]);
    assert_eq!(json(&safe)["verdict"], "safe");
    let boolean = folder.run(&["explain", &repository("examples/getunit-b1.bp"), "--json"]);
    assert_eq!(boolean.status.code(), Some(10));
    assert_eq!(mistakes(&json(&boolean)), [""; 0]);
    assert_eq!(json(&boolean)["projection"]["exact"], true);
}

#[test]
fn a_proof_names_the_lines_that_it_depends_on_and_what_is_vacuous() {
    let folder = Folder::new("explain-safe");
    let program = "\
extern unsigned __VERIFIER_nondet_uint(void);
extern void reach_error(void);
int main(void)
{
    unsigned x = __VERIFIER_nondet_uint(), noise = 0;
    unsigned square = x * x;
    if (x > 3)
        noise = x;
    if (x % 2 == 1 && square % 2 == 0)
        reach_error();
    if (x % 2 == 1 && square % 8 != 1) {
        if (x == 5)
            reach_error();
    }
    return noise > 7;
}
";
    std::fs::write(folder.0.join("safe.c"), program).expect("the program is written");
    let answer = json(&folder.run(&["explain", "safe.c", "--json"]));
    assert_eq!(mistakes(&answer), [""; 0]);
    let grounds = &answer["grounds"];
    let held = grounds["by_proof"].as_u64().zip(grounds["by_data_flow"].as_u64());
    assert_eq!(held.map(|(proof, flow)| proof + flow), Some(2), "{answer}");
    assert_eq!(
        grounds["vacuous"],
        answer["targets"]
            .as_array()
            .map_or(0, |all| { all.iter().filter(|check| check["verdict"] == "unreachable").count() })
    );
    let lines = grounds["lines"].as_array().expect("lines");
    assert!(lines.contains(&6.into()) && lines.contains(&9.into()), "{grounds}");
    assert!(!lines.contains(&7.into()) && !lines.contains(&8.into()), "{grounds}");
    let shown = text(&folder.run(&["explain", "safe.c"]));
    assert!(shown.contains("do not matter for these checks"), "{shown}");
    let answer = json(&folder.run(&["explain", &repository("examples/mccarthy.c"), "--json"]));
    let invariants = answer["invariants"].as_array().expect("invariants");
    assert!(invariants.iter().any(|one| one["formula"] == "n > 100 || result == 91"), "{invariants:?}");
}

#[test]
fn pages_logs_and_witnesses_are_written() {
    let folder = Folder::new("explain-files");
    let files =
        ["--html", "page.html", "--sarif", "log.sarif", "--witness", "witness.yml", "--dot", "graphs.dot"];
    let output = folder.run(&[&["explain", "absminus.c"], &files[..]].concat());
    assert_eq!(output.status.code(), Some(10));
    assert!(folder.text("page.html").to_lowercase().starts_with("<!doctype html>"));
    let log: Value = serde_json::from_str(&folder.text("log.sarif")).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    assert!(folder.text("witness.yml").contains("violation_sequence"));
    assert!(folder.text("graphs.dot").contains("digraph"));
    let refused = folder.run(&["explain", &repository("examples/getunit-b1.bp"), "--witness", "other.yml"]);
    assert_eq!(refused.status.code(), Some(2));
    let lost = folder.run(&["explain", "absminus.c", "--html", "no/such/folder/page.html"]);
    assert_eq!(lost.status.code(), Some(2));
}

#[test]
fn assumptions_are_shown_on_the_inputs_that_are_asked_for() {
    let folder = Folder::new("explain-inputs");
    let assumptions = |arguments: &[&str]| -> Vec<String> {
        let answer = json(&folder.run(&[&["explain", "absminus.c", "--json"], arguments].concat()));
        let all = answer["focus"].as_array().expect("sequences").iter();
        all.flat_map(|focus| focus["assumptions"].as_array().cloned().unwrap_or_default())
            .map(|one| one.as_str().unwrap_or_default().to_owned())
            .collect()
    };
    assert!(assumptions(&[]).iter().any(|one| one.contains('y')));
    let only = assumptions(&["--inputs", "x"]);
    assert!(!only.is_empty() && only.iter().all(|one| !one.contains('y')), "{only:?}");
}

#[test]
fn a_projection_of_c_clears_lines_and_answers_for_each() {
    let folder = Folder::new("project");
    let output = folder.run(&["project", "absminus.c", "--json"]);
    assert_eq!(output.status.code(), Some(10));
    let answer = json(&output);
    let shown = text(&folder.run(&["project", "absminus.c"]));
    assert!(shown.contains("k = k + 2"), "{shown}");
    assert!(answer.to_string().contains("12"), "{answer}");
    assert_eq!(folder.run(&["project", "absminus.c", "--through", "12"]).status.code(), Some(10));
    assert_eq!(folder.run(&["project", "absminus.c", "--through", "14"]).status.code(), Some(0));
    assert_eq!(folder.run(&["project", "absminus.c", "--through", "20"]).status.code(), Some(0));
    let nothing_there = folder.run(&["project", "absminus.c", "--through", "999"]);
    assert_eq!(nothing_there.status.code(), Some(2));
    assert!(!nothing_there.stderr.is_empty());
}

#[test]
fn a_projection_with_stores_says_when_the_program_goes_on_to_fail() {
    let folder = Folder::new("project-stores");
    let shown = text(&folder.run(&["project", "absminus.c", "--stores"]));
    assert!(shown.contains("result < 0"), "{shown}");
}

#[test]
fn cimple_is_explained_but_not_replayed() {
    let folder = Folder::new("cimple");
    let locking = repository("crates/frontend/tests/cases/cimple/locking.cimple");
    let output = folder.run(&["explain", &locking, "--json"]);
    assert_eq!(output.status.code(), Some(10));
    let answer = json(&output);
    assert_eq!(mistakes(&answer), [""; 0]);
    assert_eq!(answer["replay"]["outcome"], "not-replayed");
    assert_eq!(answer["replay"]["why"], "Cimple is not compiled");
    let assumed = &answer["focus"][0]["assumptions"];
    assert_eq!(*assumed, serde_json::json!(["gotlock == 1"]));
    assert!(answer["reproduce"]["harness"].is_null());
    for verb in ["check", "project", "slice"] {
        assert_eq!(folder.run(&[verb, &locking]).status.code(), Some(10), "{verb}");
    }
    let checked = text(&folder.run(&["check", &locking]));
    assert!(checked.contains("not replayed: Cimple is not compiled"), "{checked}");
    std::fs::write(folder.0.join("odd.cimple"), "int main() {\n  if (*)\n    y = 1;\n}\n").expect("a file");
    let odd = folder.run(&["check", "odd.cimple"]);
    assert_eq!(odd.status.code(), Some(2));
    let message = String::from_utf8_lossy(&odd.stderr).into_owned();
    assert!(message.contains("odd.cimple:3:5"), "{message}");
}

/// A server that ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn get(port: u16, path: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n")
        .expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

#[test]
fn a_page_is_served_and_answers_questions() {
    let folder = Folder::new("serve");
    let mut command = Command::new(env!("CARGO_BIN_EXE_wherefore"));
    command.current_dir(&folder.0).args(["serve", "absminus.c", "--port", "0"]);
    let mut server = Server(command.stdout(Stdio::piped()).spawn().expect("the binary runs"));
    let mut line = String::new();
    let out = server.0.stdout.take().expect("a pipe");
    BufReader::new(out).read_line(&mut line).expect("a line");
    let rest = line.strip_prefix("http://localhost:").unwrap_or_else(|| panic!("{line}"));
    let port: u16 = rest.split('/').next().and_then(|port| port.parse().ok()).expect("a port");
    let page = get(port, "/");
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("absminus.c"), "{page}");
    let run = get(port, "/through?file=0&line=12");
    assert!(run.starts_with("HTTP/1.1 200"), "{run}");
    let body = |answer: &str| -> Value {
        let body = answer.split_once("\r\n\r\n").expect("a body").1;
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}"))
    };
    assert!(body(&run).to_string().contains("k = k + 2"), "{run}");
    assert!(body(&get(port, "/through?file=0&line=14")).to_string().contains("no failing run"));
    assert!(get(port, "/through").starts_with("HTTP/1.1 400"));
    assert!(server.0.try_wait().expect("a process").is_none(), "it goes on");
    server.0.kill().expect("it can be ended");
    assert!(server.0.wait().is_ok());
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err(), "nobody listens any more");
}
