//! Programs with threads from the command line: schedules that the compiled program follows, what of
//! them matters, repairs, and lines of threads.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

fn run(arguments: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_wherefore"))
        .args(arguments)
        .current_dir(root())
        .output()
        .expect("the program starts");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"), "{arguments:?}");
    output
}

fn text(arguments: &[&str]) -> String {
    String::from_utf8(run(arguments).stdout).expect("text")
}

fn answer(arguments: &[&str]) -> Value {
    let output = run(arguments);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{arguments:?} has no answer"))
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("wherefore-schedules-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Writes a program, asks about it, and removes it again.
fn asked(name: &str, program: &str, command: &str, options: &[&str]) -> Value {
    let folder = folder(name);
    let file = folder.join("t.c");
    std::fs::write(&file, program).expect("it can be written");
    let file = file.display().to_string();
    let mut arguments = vec![command, file.as_str(), "--json", "--timeout", "60"];
    arguments.extend(options);
    let answer = answer(&arguments);
    let _ = std::fs::remove_dir_all(folder);
    answer
}

/// Each failing case in C is replayed by the compiled program under its schedule.
#[test]
fn the_compiled_program_follows_the_schedules_of_the_cases() {
    let cases = [
        "aba-stack/main.c",
        "api-cond/main.c",
        "api-join/early.c",
        "api-rwlock/wrong-mode.c",
        "api-sem/two.c",
        "api-trylock/main.c",
        "bt-v3-2a1s-plain/main.c",
        "double-checked-buggy/main.c",
        "lost-update/main.c",
        "peterson-reordered/main.c",
        "ring-spsc-buggy/main.c",
        "unlock-not-held/main.c",
    ];
    for case in cases {
        let file = format!("crates/check/tests/cases/threads/{case}");
        let answer = answer(&["check", &file, "--json", "--timeout", "60", "--first-failure"]);
        assert_eq!(answer["verdict"], "unsafe", "{case}");
        assert_eq!(answer["replay"]["outcome"], "confirmed", "{case}: {}", answer["replay"]);
    }
}

/// Compiles a program with a harness, by the commands that the harness names.
fn compiled(folder: &Path, source: &Path, harness: &Path) -> PathBuf {
    let (object, program) = (folder.join("t.o"), folder.join("run"));
    let mut compile = Command::new("cc");
    compile.args([
        "-c",
        "-fsanitize=thread",
        "-w",
        "-O0",
        "-std=gnu11",
        "-fno-builtin",
        "-finstrument-functions",
    ]);
    let compiled = compile.arg(source).arg("-o").arg(&object).status().expect("a compiler");
    assert!(compiled.success());
    let mut link = Command::new("cc");
    link.args(["-w", "-fno-builtin"]).arg(harness).arg(&object).args(["-lm", "-o"]).arg(&program);
    assert!(link.status().expect("a compiler").success());
    program
}

#[test]
fn the_example_fails_a_hundred_times_of_a_hundred() {
    let folder = folder("hundred");
    let harness = folder.join("harness.c");
    let name = harness.display().to_string();
    let answer = text(&["check", "examples/driver.c", "--harness", &name]);
    assert!(answer.contains("replayed: the compiled program fails at examples/driver.c:18"), "{answer}");
    let program = compiled(&folder, &root().join("examples/driver.c"), &harness);
    for _ in 0..100 {
        let output = Command::new(&program).output().expect("it runs");
        assert_eq!(output.status.code(), Some(70), "{}", String::from_utf8_lossy(&output.stderr));
    }
    // Another order of the gates is another schedule: the program departs from it, or does not fail.
    let text = std::fs::read_to_string(&harness).expect("a harness");
    let gates = text.find("static const struct gate gates").expect("gates");
    let (before, rest) = text.split_at(gates);
    let (list, behind) = rest.split_at(rest.find("};").expect("the end"));
    let mut lines: Vec<&str> = list.lines().collect();
    let writes = |line: &&&str| line.contains("'W'");
    let first = lines.iter().position(|line| writes(&line)).expect("a write");
    lines.remove(first);
    std::fs::write(&harness, format!("{before}{}\n{behind}", lines.join("\n"))).expect("it can be written");
    let program = compiled(&folder, &root().join("examples/driver.c"), &harness);
    let output = Command::new(&program).output().expect("it runs");
    assert_eq!(output.status.code(), Some(73), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stderr).contains("departs"));
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn inputs_atomics_memory_and_thread_local_objects_are_replayed() {
    let inputs = "#include <pthread.h>
extern int __VERIFIER_nondet_int(void); extern void reach_error(void);
int x; _Thread_local int mine = 3;
void *t(void *a) { int n = __VERIFIER_nondet_int();
  mine = mine + 1;
  if (n == 5) x = x + mine;
  return 0; }
int main(void) { pthread_t p; int n = __VERIFIER_nondet_int();
  if (n == 7) x = 10;
  pthread_create(&p, 0, t, 0);
  int l = x;
  x = l + 1;
  pthread_join(p, 0);
  if (x == 11 && mine == 3 && l == 10) reach_error();
  return 0; }\n";
    let heap = "#include <pthread.h>
#include <stdlib.h>
#include <stdatomic.h>
extern void reach_error(void);
struct cell { int value; struct cell *next; };
struct cell *list; atomic_int count;
void *t(void *a) { struct cell *mine = malloc(sizeof *mine);
  mine->value = 1;
  mine->next = list;
  list = mine;
  atomic_fetch_add(&count, 1);
  return 0; }
int main(void) { pthread_t p, q;
  pthread_create(&p, 0, t, 0);
  pthread_create(&q, 0, t, 0);
  pthread_join(p, 0);
  pthread_join(q, 0);
  int n = 0;
  for (struct cell *c = list; c; c = c->next) n += c->value;
  if (n != atomic_load(&count)) reach_error();
  return 0; }\n";
    for (name, program) in [("inputs", inputs), ("heap", heap)] {
        let answer = asked(name, program, "check", &[]);
        assert_eq!(
            (&answer["verdict"], &answer["replay"]["outcome"]),
            (&json!("unsafe"), &json!("confirmed")),
            "{name}: {}",
            answer["replay"]
        );
    }
}

#[test]
fn the_driver_is_explained() {
    let answer = answer(&["explain", "examples/driver.c", "--json"]);
    assert_eq!((&answer["switches"], &answer["fewest"]), (&json!(2), &json!(true)));
    assert_eq!(answer["replayed"]["outcome"], "confirmed");
    let switch = &answer["schedule"][1]["switch"];
    assert_eq!((&switch["at"], &switch["since"]), (&json!({"line": 17}), &json!(15)));
    assert_eq!(switch["window"], json!([{"line": 17}]));
    assert_eq!((&switch["matters"], &switch["complete"]), (&json!(true), &json!(true)));
    let repair = &answer["repairs"][0];
    assert_eq!((&repair["kind"], &repair["lines"]), (&json!("atomic"), &json!([15, 17])));
    assert_eq!(repair["holds"], "for every number of switches");
    // What the stopped thread did before matters only as far as the failure reads it.
    let steps = answer["schedule"].as_array().expect("contexts").iter();
    let steps: Vec<&Value> = steps.flat_map(|context| context["steps"].as_array().expect("steps")).collect();
    let matters = |line: u64| steps.iter().any(|step| step["line"] == line && step["matters"] == true);
    assert!(matters(11) && matters(15) && matters(18) && !matters(24) && !matters(12));
}

#[test]
fn repairs_of_c_programs() {
    let early = "#include <pthread.h>
extern void reach_error(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int c;
void *inc(void *a) {
  int l;
  l = c;
  pthread_mutex_lock(&m);
  c = l + 1;
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, inc, 0);
  pthread_create(&b, 0, inc, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  if (c != 2) reach_error();
  return 0;
}\n";
    let late = early.replace(
        "  l = c;\n  pthread_mutex_lock(&m);\n  c = l + 1;\n  pthread_mutex_unlock(&m);\n",
        "  pthread_mutex_lock(&m);\n  l = c;\n  pthread_mutex_unlock(&m);\n  c = l + 1;\n",
    );
    let cases = [
        ("early", early.to_owned(), "lock-earlier", "the lock of line 7 of inc taken before line 6"),
        ("late", late, "unlock-later", "the lock given back at line 8 of inc held until after line 9"),
    ];
    for (name, program, kind, words) in cases {
        let answer = asked(name, &program, "explain", &[]);
        let repairs = answer["repairs"].as_array().expect("repairs");
        let found = repairs.iter().find(|repair| repair["kind"] == kind);
        let found = found.unwrap_or_else(|| panic!("{name}: {repairs:?}"));
        assert_eq!(
            (&found["change"], &found["holds"]),
            (&json!(words), &json!("for every number of switches"))
        );
    }
    let file = "crates/check/tests/cases/threads/api-cond/main.c";
    let shown = text(&["explain", file]);
    assert!(shown.contains("repair: `while` instead of `if` at line 8 of consumer: no failure"), "{shown}");
    let shown = text(&["explain", "examples/stack.c"]);
    assert!(shown.contains("repair: lines 17 to 18 of pop as one step: no failure, for every"), "{shown}");
    assert!(!shown.contains("`while` instead"), "a loop that is not left is no repair: {shown}");
}

#[test]
fn lines_of_threads() {
    let file = "crates/check/tests/cases/threads/sec7.3-projection/main.bp";
    let four = answer(&["project", file, "--switches", "4", "--json"]);
    assert_eq!((&four["verdict"], &four["complete"]), (&json!("unsafe"), &json!(true)));
    let lines = |answer: &Value, thread: usize| -> Vec<String> {
        answer["projection"][thread]["in"].as_object().expect("lines").keys().cloned().collect()
    };
    assert_eq!(lines(&four, 3), Vec::<String>::new());
    assert_eq!(four["projection"][1]["out"], json!([13, 15, 16]));
    let five = answer(&["project", file, "--switches", "5", "--json"]);
    assert_eq!(lines(&five, 3), ["29", "30"]);
    let three = run(&["project", file, "--switches", "3"]);
    assert_eq!(three.status.code(), Some(5));
    let safe = text(&["project", "crates/check/tests/cases/threads/readers-writers-correct/main.bp"]);
    assert!(
        safe.contains("safe\nno line lies on a failing schedule, for every number of switches"),
        "{safe}"
    );
    let refused = run(&["project", file, "--stores"]);
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn slices_leave_out_what_does_not_matter() {
    let shown = text(&["slice", "crates/frontend/tests/cases/fig1.7-interleaving/main.bp"]);
    assert!(shown.contains("10  npos := F"), "{shown}");
    assert!(!shown.contains("  end"), "{shown}");
    let refused = run(&["slice", "examples/getunit-b2.bp", "--switches", "2"]);
    assert_eq!(refused.status.code(), Some(2));
}

/// Every command in the document prints what is printed there; `…` stands for anything.
#[test]
fn the_document_shows_what_is_printed() {
    let document = std::fs::read_to_string(root().join("docs/threads.md")).expect("the document");
    let mut shown = 0;
    for block in document.split("```\n$ wherefore ").skip(1) {
        let block = block.split("\n```").next().expect("the end of the block");
        let (command, expected) = block.split_once('\n').expect("an answer");
        let arguments: Vec<&str> = command.split(' ').collect();
        if !root().join(arguments[1]).exists() {
            continue;
        }
        let printed = text(&arguments);
        let mut rest = printed.as_str();
        for part in expected.split("\n…\n").flat_map(|part| part.split("\n…")) {
            let part = part.trim_matches('\n');
            let at = rest.find(part).unwrap_or_else(|| panic!("{command}:\n{part}\nis not in\n{rest}"));
            rest = &rest[at + part.len()..];
        }
        shown += 1;
    }
    assert!(shown >= 5, "{shown} commands");
}

/// A place where a thread may wait is a check of its own, with a schedule after which no thread can
/// move.
#[test]
fn deadlocks_of_boolean_programs_have_schedules() {
    let folder = folder("deadlocks");
    let program = |first: &str, second: &str| {
        let take = |lock: &str| format!("atomic_begin; assume(!{lock}); {lock} := T; atomic_end;\n");
        let thread = |name: &str, a: &str, b: &str| {
            format!("void {name}() begin\n{}{}{b} := F; {a} := F;\nend\n", take(a), take(b))
        };
        let threads = thread("one", "p", "q") + &thread("two", first, second);
        format!(
            "decl p, q;\n{threads}void main() begin\np, q := F, F;\nstart_thread one(); start_thread two();\nend\n"
        )
    };
    let file = folder.join("t.bp");
    let ask = |text: &str, options: &[&str]| {
        std::fs::write(&file, text).expect("it can be written");
        let file = file.display().to_string();
        let mut arguments = vec!["check", file.as_str(), "--json", "--timeout", "60"];
        arguments.extend(options);
        answer(&arguments)
    };
    let crossed = ask(&program("q", "p"), &["--property", "deadlock"]);
    assert_eq!(crossed["verdict"], "unsafe");
    assert_eq!((&crossed["switches"], &crossed["fewest"]), (&json!(1), &json!(true)));
    let failing = |answer: &Value| -> Vec<u64> {
        let targets = answer["targets"].as_array().expect("checks").iter();
        targets.filter(|target| target["verdict"] == "unsafe").filter_map(|t| t["line"].as_u64()).collect()
    };
    assert_eq!(failing(&crossed), [4, 9], "each thread waits for its second lock");
    let ordered = ask(&program("p", "q"), &["--property", "deadlock"]);
    assert_eq!(ordered["verdict"], "safe");
    // A thread that is not followed might open the lock.
    let many = "decl l; void open() begin l := F; end\nvoid main() begin\nl := T;\n\
                while (*) do start_thread open(); od;\nstart_thread open();\nassume(!l);\nend\n";
    assert_eq!(ask(many, &["--property", "deadlock", "--threads", "2"])["verdict"], "unknown");
    // An assertion is another question, and a program without threads has no deadlocks.
    assert_eq!(ask(&program("q", "p"), &[])["verdict"], "safe");
    std::fs::write(&file, "void main() begin assume(F); end").expect("it can be written");
    let path = file.display().to_string();
    let refused = run(&["check", &path, "--property", "deadlock"]);
    assert_eq!(refused.status.code(), Some(2));
    let _ = std::fs::remove_dir_all(folder);
}
