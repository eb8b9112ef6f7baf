//! `wherefore check --property FILE.spec`, `wherefore properties`, `--per`; `docs/properties.md`
//! shows what is printed.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

const PAGE: &str = include_str!("../../../../docs/properties.md");
const LISTING: &str = "examples/listing.c";

fn wherefore(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wherefore"));
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    command.args(args).output().expect("the binary runs")
}

fn text(args: &[&str], code: i32) -> String {
    let output = wherefore(args);
    let said = String::from_utf8(output.stdout).expect("text");
    assert_eq!(output.status.code(), Some(code), "{said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

fn refused(args: &[&str]) -> String {
    let output = wherefore(args);
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).expect("text")
}

fn written(name: &str, text: &str) -> String {
    let folder: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("properties");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join(name), text).expect("a file");
    folder.join(name).display().to_string()
}

/// Whether lines are as expected; a line `…` stands for any number of them, `… ` within a line for
/// a number.
fn matches(expected: &[&str], lines: &[&str]) -> bool {
    let same = |a: &str, b: &str| match a.split_once('…') {
        Some((head, tail)) => b.starts_with(head) && b.ends_with(tail),
        None => a == b,
    };
    match expected {
        [] => lines.is_empty(),
        ["…", rest @ ..] => (0..=lines.len()).any(|skipped| matches(rest, &lines[skipped..])),
        [first, rest @ ..] => {
            lines.first().is_some_and(|line| same(first, line)) && matches(rest, &lines[1..])
        }
    }
}

#[test]
fn the_page_shows_what_is_printed() {
    let blocks: Vec<&str> =
        PAGE.split("\n```console\n").skip(1).filter_map(|part| Some(part.split_once("```")?.0)).collect();
    assert_eq!(blocks.len(), 3);
    for block in blocks {
        let (command, expected) = block.split_once('\n').expect("a command and its output");
        let arguments: Vec<&str> =
            command.strip_prefix("$ wherefore ").expect("a command of ours").split(' ').collect();
        let shown = String::from_utf8(wherefore(&arguments).stdout).expect("text");
        let (expected, lines): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), shown.lines().collect());
        assert!(matches(&expected, &lines), "{command}\n{shown}");
    }
}

#[test]
fn shipped_files_are_printed() {
    let shown = text(&["properties", "lock"], 0);
    assert!(shown.starts_with("property lock "), "{shown}");
    // What is printed can be given back.
    let file = written("again.spec", &shown);
    let program =
        written("locks.c", "int lock(int *); int m; int main(void) { lock(&m); lock(&m); return 0; }\n");
    assert!(text(&["check", &program, "--property", &file, "-q"], 10).contains("1 of 2 checks can fail"));
    assert!(text(&["check", &program, "--property", "lock", "-q"], 10).contains("1 of 2 checks can fail"));
    assert!(
        refused(&["properties", "locks"]).contains("there is no property of this name; there are `stdio`")
    );
}

#[test]
fn mistakes_name_file_line_and_column() {
    let file = written("bad.spec", "property p \"t\"\nstate a initial\non f($x): a -> b\n");
    let said = refused(&["check", LISTING, "--property", &file]);
    assert!(said.starts_with(&format!("error: {file}:3:16: there is no state `b`")), "{said}");
    assert!(refused(&["check", LISTING, "--property", "none.spec"]).contains("none.spec"));
    assert!(refused(&["check", LISTING, "--assertions", "--warnings"]).contains("--property"));
}

#[test]
fn checks_have_places_messages_and_runs() {
    let answer: Value =
        serde_json::from_str(&text(&["check", LISTING, "--property", "stdio", "--json"], 10)).expect("JSON");
    let targets = answer["targets"].as_array().expect("checks");
    assert_eq!(targets.len(), 6);
    assert!(targets.iter().all(|target| target["kind"] == "stdio"));
    let unsafe_ones: Vec<&Value> = targets.iter().filter(|target| target["verdict"] == "unsafe").collect();
    assert_eq!(unsafe_ones.len(), 1);
    assert_eq!(unsafe_ones[0]["line"], 26);
    assert_eq!(
        answer["error"]["message"],
        "fgets: the stream was never opened (`open_listing` at line 25 returned NULL)"
    );
    assert!(answer["property"].as_str().expect("words").starts_with("the rules of `stdio` are kept"));
    let table: Value = serde_json::from_str(&text(
        &["check", LISTING, "--property", "stdio", "--per", "function", "--json"],
        10,
    ))
    .expect("JSON");
    let rows = table["properties"].as_array().expect("rows");
    let failing: Vec<&Value> = rows.iter().filter(|row| row["verdict"] == "unsafe").collect();
    assert_eq!((rows.len(), failing.len()), (6, 1));
    assert_eq!((&failing[0]["function"], &failing[0]["line"]), (&"print_status".into(), &26.into()));
    assert!(!failing[0]["run"]["trace"].as_array().expect("steps").is_empty());
}

#[test]
fn questions_can_be_asked_one_by_one() {
    let by_check = text(&["check", LISTING, "--property", "stdio", "--per", "error", "-v"], 10);
    assert!(
        by_check.starts_with("stdio: 6 checks in 2 functions: 5 proved, 1 can fail, 0 unknown"),
        "{by_check}"
    );
    assert_eq!(by_check.matches("  proved  ").count(), 5, "{by_check}");
    // Assertions and rules of C can be asked about this way, too.
    let plain = text(&["check", "examples/history.c", "--per", "function"], 10);
    assert!(plain.starts_with("checks: "), "{plain}");
}

#[test]
fn reports_are_made_of_properties() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("properties");
    std::fs::create_dir_all(&folder).expect("a folder");
    let sarif = folder.join("listing.sarif").display().to_string();
    text(&["explain", LISTING, "--property", "stdio", "--sarif", &sarif], 10);
    let report: Value =
        serde_json::from_str(&std::fs::read_to_string(&sarif).expect("a report")).expect("JSON");
    let results = report["runs"][0]["results"].as_array().expect("results");
    assert!(
        results.iter().any(|result| result["ruleId"] == "wherefore/property" && result["message"]["text"].as_str().is_some_and(|text| text.starts_with("On some run, fgets: the stream was never opened (`open_listing` at line 25 returned NULL)."))),
        "{results:#?}"
    );
}

/// The harness of a failing run is kept, and confirms it.
#[test]
fn the_compiled_program_breaks_the_rule() {
    let program = written(
        "twice.c",
        "#include <stdio.h>\nint main(void) {\n FILE *f = fopen(\"a\", \"r\");\n if (!f) return 1;\n fclose(f);\n return fclose(f);\n}\n",
    );
    let said = text(&["check", &program, "--property", "stdio", "--no-explain", "--no-sandbox"], 10);
    assert!(said.contains("replayed: the compiled program fails at"), "{said}");
    assert!(
        said.contains("fclose: the stream is closed a second time (first by `fclose` at line 5)"),
        "{said}"
    );
}
