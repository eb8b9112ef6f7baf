//! C programs of the documents with their verdicts (`tests/cases/c`), and random ones against their
//! compiled selves.

#[allow(dead_code)]
use crate::case_facts_support::yaml;

use crate::c_support::random;

use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use wherefore_check::{Answer, Budget, EngineChoice, Extent, Overall, Question, Session, portfolio};
use wherefore_frontend::c::{self, Options};

fn decide(file: &Path, engine: EngineChoice, seconds: u64) -> Answer {
    let task =
        c::load(&[file.to_owned()], &Options::default()).unwrap_or_else(|error| panic!("{}", error.render()));
    let engines = Question { engine, ..Question::default() }.engines(&task);
    let budget = Budget::time(Duration::from_secs(seconds));
    portfolio(&task, &engines, Extent::FirstFailure, &Session::default(), &budget)
}

/// Programs whose verdict is not found in time. They get less of it, and must not be answered
/// wrongly.
const UNDECIDED: &[&str] = &["ex6.8-quicksort/main.c"];

#[test]
fn verdicts_on_the_programs_of_the_documents() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/c");
    let mut undecided = Vec::new();
    let mut count = 0;
    let mut folders: Vec<_> = std::fs::read_dir(cases).unwrap().map(|case| case.unwrap().path()).collect();
    folders.sort();
    for folder in folders {
        let expected = yaml::read(&folder.join("expect.yaml"));
        // The facts of a case may be about programs in other languages too.
        let verdicts =
            yaml::entries(&expected, "verdict").into_iter().filter(|(file, _)| file.ends_with(".c"));
        for (file, verdict) in verdicts {
            let path = folder.join(file);
            let name = format!("{}/{file}", folder.file_name().unwrap().to_string_lossy());
            let gap = UNDECIDED.contains(&name.as_str());
            let decided = decide(&path, EngineChoice::Auto, if gap { 2 } else { 60 });
            match (decided.decision(), verdict.as_str()) {
                (Overall::Safe, Some("safe")) | (Overall::Unsafe(_), Some("unsafe")) => {}
                (Overall::Unknown(_), _) if gap => {}
                (Overall::Unknown(_), _) => undecided.push(name),
                (found, expected) => panic!("{name}: {found:?} instead of {expected:?}"),
            }
            count += 1;
        }
    }
    assert_eq!(undecided, [""; 0]);
    assert!(count >= 30, "{count} programs");
}

/// Runs the compiled program on all inputs: whether one of them fails.
fn fails(folder: &Path, name: &str) -> bool {
    let mut harness = String::from("#include <stdlib.h>\nstatic int at, values[3];\n");
    let _ = writeln!(harness, "int __VERIFIER_nondet_int(void) {{ return values[at++ % 3]; }}");
    let _ = writeln!(harness, "void reach_error(void) {{ exit(70); }}\nextern int real_main(void);");
    let _ = writeln!(harness, "#include <unistd.h>\n#include <sys/wait.h>\nint main(void) {{");
    let _ = writeln!(
        harness,
        "  for (int i = 0; i < 32; i++) {{ at = 0; values[0] = i & 3; values[1] = i >> 2 & 3; values[2] = i >> 4 & 1;"
    );
    let _ = writeln!(harness, "    int status, child = fork(); if (!child) {{ real_main(); _exit(0); }}");
    let _ = writeln!(
        harness,
        "    waitpid(child, &status, 0); if (WIFEXITED(status) && WEXITSTATUS(status) == 70) return 70; }}\n  return 0; }}"
    );
    let driver = folder.join("driver.c");
    std::fs::write(&driver, harness).unwrap();
    let binary = folder.join("program");
    let compiled = Command::new("cc")
        .args(["-w", "-O0", "-fwrapv", "-c", "-Dmain=real_main", "-o"])
        .arg(folder.join("program.o"))
        .arg(folder.join(name))
        .status();
    assert!(compiled.unwrap().success());
    let linked =
        Command::new("cc").args(["-w", "-o"]).arg(&binary).arg(driver).arg(folder.join("program.o")).status();
    assert!(linked.unwrap().success());
    Command::new(binary).status().unwrap().code() == Some(70)
}

#[test]
fn verdicts_on_random_programs_are_those_of_the_compiled_programs() {
    let folder = std::env::temp_dir().join(format!("wherefore-c-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut runner = TestRunner::new(Config {
        cases: wherefore_testing::cases(40),
        max_shrink_iters: 200,
        failure_persistence: None,
        ..Config::default()
    });
    let result = runner.run(&random::program(), |text| {
        let file = folder.join("random.c");
        std::fs::write(&file, &text).unwrap();
        let expected = fails(&folder, "random.c");
        // Refinement need not decide: the gate does not wait for it as long as a soak does.
        let patience = if wherefore_testing::is_soak() { 20 } else { 3 };
        let engines =
            [(EngineChoice::Bounded, 20), (EngineChoice::Refinement, patience), (EngineChoice::Random, 2)];
        for (engine, seconds) in engines {
            let decided = decide(&file, engine, seconds);
            match decided.decision() {
                Overall::Safe => prop_assert!(!expected, "{:?} on\n{}", engine, text),
                Overall::Unsafe(_) => prop_assert!(expected, "{:?} on\n{}", engine, text),
                Overall::Unknown(_) => {
                    prop_assert!(engine != EngineChoice::Bounded, "bounded checking decides\n{}", text);
                }
            }
        }
        Ok(())
    });
    let _ = std::fs::remove_dir_all(&folder);
    result.unwrap();
}
