//! `wherefore pds` as a user runs it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn wherefore(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wherefore")).args(arguments).output().expect("the program starts")
}

fn example(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    root.join(name).display().to_string()
}

fn temporary(name: &str, text: &str) -> String {
    let path: PathBuf = std::env::temp_dir().join(format!("wherefore-{}-{name}", std::process::id()));
    std::fs::write(&path, text).expect("a temporary file");
    path.display().to_string()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_example_fails_only_through_its_third_call() {
    let output = wherefore(&["pds", &example("three-calls.pds"), "--trace", "--stores"]);
    assert_eq!(output.status.code(), Some(10));
    assert_eq!(
        text(&output),
        "\
reachable

a shortest run, 7 steps:
    0  <p, start>
    1  <p, c3>       <p, start> -> <p, c3>
    2  <p, foo r3>   <p, c3> -> <p, foo r3>
    3  <p, n r3>     <p, foo> -> <p, n>
    4  <p, exit r3>  <p, n> -> <p, exit>
    5  <p, r3>       <p, exit> -> <p,>
    6  <p, end>      <p, r3> -> <p, end>
    7  <p, error>    <p, end> -> <p, error>

8 of 12 nodes lie on a run from start to target
  start  any
  c3     x = 9
  foo    x = 9
  r3     x = 9
  n      x = 9
  exit   x = 9
  end    x = 10
  error  x = 10
  off: c1 c2 r1 r2
"
    );
}

#[test]
fn every_strategy_method_and_order_gives_the_same_answer() {
    let file = example("three-calls.pds");
    for strategy in ["post", "pre", "both"] {
        for method in ["auto", "worklist", "paths"] {
            for order in ["fifo", "lifo", "priority"] {
                let options = ["--strategy", strategy, "--method", method, "--order", order];
                let output = wherefore(&[&["pds", &file, "--trace", "--json"][..], &options].concat());
                assert_eq!(output.status.code(), Some(10), "{options:?}");
                let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
                assert_eq!(answer["answer"], "reachable");
                assert_eq!(answer["trace"].as_array().map(Vec::len), Some(8), "{options:?}");
            }
        }
    }
}

#[test]
fn what_cannot_be_reached_leaves_with_zero() {
    let output = wherefore(&["pds", &example("three-calls.pds"), "--start", "<p, c1>", "--projection"]);
    // From c1 the value of x is arbitrary, so 8 leads to 10: the file's question is another one.
    assert_eq!(output.status.code(), Some(10));
    let output =
        wherefore(&["pds", &example("three-calls.pds"), "--start", "<p, end>", "--target", "foo .*"]);
    assert_eq!((output.status.code(), text(&output).as_str()), (Some(0), "not reachable\n"));
}

#[test]
fn costs_and_long_rules() {
    let file = temporary(
        "long.pds",
        "weights shortest\nstart <p, a>\ntarget <q, d>\n<p, a> -> <p, b c d> : 5 \"go\"\n<p, b> -> <q,> : 2\n<q, c> -> <q,> : 3\n",
    );
    let output = wherefore(&["pds", &file, "--trace", "--projection"]);
    assert_eq!(
        text(&output),
        "\
reachable, at cost 10

a cheapest run, 3 steps:
    0  <p, a>
    1  <p, b c d>  go
    2  <q, c d>    <p, b> -> <q,>
    3  <q, d>      <q, c> -> <q,>

4 of 4 nodes lie on a run from start to target
  on:  <p, a> <p, b> <q, c> <q, d>
  off: 
"
    );
}

#[test]
fn a_limit_is_unknown_not_safe() {
    let output = wherefore(&["pds", &example("three-calls.pds"), "--timeout", "0"]);
    assert_eq!(output.status.code(), Some(5));
    assert_eq!(text(&output), "unknown, because the time limit was reached\n");
    let output = wherefore(&["pds", &example("three-calls.pds"), "--timeout", "0", "--json"]);
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answer["answer"], "unknown");
    assert_eq!(answer["reason"], "the time limit was reached");
}

#[test]
fn bad_input_names_its_place_and_leaves_with_two() {
    let file = temporary("bad.pds", "start <p, a>\n<p, a> -> <p b>\n");
    let output = wherefore(&["pds", &file]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("bad.pds:2:"), "{message}");
    assert!(message.contains('^'), "{message}");
    for arguments in
        [&["pds", "no-such-file.pds"][..], &["pds"], &["pds", "x", "--order", "random"], &["nothing"]]
    {
        assert_eq!(wherefore(arguments).status.code(), Some(2), "{arguments:?}");
    }
    let file = temporary("unasked.pds", "<p, a> -> <p, b>\n");
    let output = wherefore(&["pds", &file]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--start"));
}

#[test]
fn the_automaton_as_a_graph() {
    let output = wherefore(&["pds", &example("three-calls.pds"), "--dot"]);
    assert!(text(&output).starts_with("digraph automaton {"));
    assert!(text(&output).contains("label=\"p_foo\""));
}

/// The instances of a public collection, where they are at hand: every answer, from either end and
/// from both.
#[test]
#[ignore = "needs a folder of programs, WHEREFORE_BENCH"]
fn collected_instances_have_their_known_answers() {
    use wherefore_frontend::pds::read;
    use wherefore_pushdown::{Limits, Reachable, Strategy, reachable};
    let folder = wherefore_testing::given("WHEREFORE_BENCH").join("pds");
    let index = std::fs::read_to_string(folder.join("index.csv")).expect("an index of instances");
    let mut count = 0;
    for line in index.lines().skip(1) {
        let (name, answer) = line.split_once(',').expect("two columns");
        let expected = if answer == "true" { Reachable::Yes } else { Reachable::No };
        let file = read(folder.join(name)).expect("a readable instance");
        let (start, target) = (file.start.expect("a start"), file.target.expect("a target"));
        for strategy in [Strategy::Post, Strategy::Pre, Strategy::BothEnds] {
            let got = reachable(&file.system, &start, &target, strategy, &Limits::default());
            assert_eq!(got, expected, "{name} by {strategy:?}");
        }
        count += 1;
    }
    println!("{count} instances, three ways each");
    assert!(count >= 1500);
}
