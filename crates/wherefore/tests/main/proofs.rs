//! Proofs about C programs are checked again, by a solver of choice; what is not checked is said or
//! is no proof.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

/// A folder that is removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("wherefore-proofs-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        let write = |name: &str, text: &str| std::fs::write(path.join(name), text).unwrap();
        // The loop is counted in the first, and has no end in the second.
        write(
            "counted.c",
            "int input(void); void reach_error(void);
int main(void) { unsigned char n = input(); int i = 0; if (n * n > 16) return 0; while (i < n) i++; if (i > 4) reach_error(); return 0; }",
        );
        write(
            "endless.c",
            "int input(void); void reach_error(void);
int main(void) { int on = 0; while (input()) { on = !on; if (on != 0 && on != 1) reach_error(); } return 0; }",
        );
        Self(path)
    }

    fn check(&self, file: &str, options: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wherefore"));
        command.current_dir(&self.0).args(["check", file, "--timeout", "60"]).args(options);
        command.output().expect("the program starts")
    }

    fn json(&self, file: &str, options: &[&str]) -> Value {
        let output = self.check(file, &[options, &["--json"]].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("no answer: {errors}"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const WAYS: [(&str, &str, &str); 2] =
    [("counted.c", "bounded", "unrolling"), ("endless.c", "cegar", "invariant")];

fn is_installed(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| Path::new(&folder).join(name).is_file())
}

fn assert_proof(answer: &Value, how: &str, solver: &str) {
    assert_eq!(answer["verdict"], "safe", "{answer}");
    let rests_on_bounds = answer["proof"]["rests_on_bounds"].as_bool();
    // Unrolling assumes nothing about loops.
    assert!(
        rests_on_bounds == Some(false) || (how == "invariant" && rests_on_bounds == Some(true)),
        "{answer}"
    );
    let proof = json!({ "checked": true, "how": how, "solver": solver, "rests_on_bounds": rests_on_bounds });
    assert_eq!(answer["proof"], proof, "{answer}");
}

#[test]
fn proofs_of_both_engines_are_checked() {
    let folder = Folder::new("both");
    for (file, engine, how) in WAYS {
        let answer = folder.json(file, &["--engine", engine]);
        assert_proof(&answer, how, "embedded");
        let shown = String::from_utf8_lossy(&folder.check(file, &["--engine", engine]).stdout).into_owned();
        assert!(shown.contains("the proof was checked: "), "{shown}");
    }
}

#[test]
#[ignore = "needs z3"]
fn another_solver_can_check_proofs() {
    assert!(is_installed("z3"), "this test needs z3");
    let folder = Folder::new("z3");
    for (file, engine, how) in WAYS {
        for solver in ["z3", "z3 -in -smt2"] {
            let answer = folder.json(file, &["--engine", engine, "--solver", solver]);
            assert_proof(&answer, how, solver);
        }
    }
}

#[test]
fn what_is_no_solver_is_an_error() {
    let folder = Folder::new("none");
    for solver in ["/no/such/solver", "true", "cat"] {
        let output = folder.check("counted.c", &["--solver", solver]);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{errors}");
        assert!(errors.contains(&format!("`{solver}` is of no use as a solver")), "{errors}");
    }
}

/// Knows the answers to the questions that tell a solver from other programs, but has no more to
/// say when it is started again.
#[cfg(unix)]
const SHORT_LIVED: &str = r#"#!/bin/sh
if [ -e started ]; then echo "$1"; exit 3; fi
touch started
answer=sat
while read -r line; do
  case "$line" in
    "(check-sat)") echo $answer; answer=unsat ;;
    "(get-value"*) echo "((x #x00) (y #x01))" ;;
    "(get-unsat-core)"*) echo "()" ;;
  esac
done
"#;

#[cfg(unix)]
#[test]
fn a_solver_that_dies_or_babbles_proves_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("dies");
    let solver = folder.0.join("solver");
    std::fs::write(&solver, SHORT_LIVED).unwrap();
    std::fs::set_permissions(&solver, std::fs::Permissions::from_mode(0o755)).unwrap();
    let said = [
        ("", "ended without an answer"),
        ("sorry", "the solver answered: sorry"),
        ("unknown", "the solver answered: unknown"),
    ];
    for (file, engine, _) in WAYS {
        for (word, reason) in said {
            let _ = std::fs::remove_file(folder.0.join("started"));
            let answer = folder.json(file, &["--engine", engine, "--solver", &format!("./solver {word}")]);
            assert_eq!(answer["verdict"], "unknown", "{answer}");
            let given = answer["reason"].as_str().unwrap_or_default();
            assert!(given.contains("a proof was found, but") && given.contains(reason), "{given}");
        }
    }
}
