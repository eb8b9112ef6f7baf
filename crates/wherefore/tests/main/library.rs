//! Verdicts on programs that depend on what functions of the C library do, and what the compiled
//! program says about them.

use std::fs;
use std::process::Command;

/// The verdict on a program, and what came of its replay if there was one.
fn verdict(name: &str, text: &str, options: &[&str]) -> (String, String) {
    let folder = std::env::temp_dir().join(format!("wherefore-library-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("program.c");
    fs::write(&file, text).expect("the program is written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_wherefore"));
    command.arg("check").arg(&file).args(["--json", "--timeout", "30"]).args(options);
    let output = command.output().expect("the binary runs");
    let _ = fs::remove_dir_all(folder);
    let errors = String::from_utf8_lossy(&output.stderr);
    let answer: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{name}: no answer: {errors}"));
    let word = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    (word(&answer["verdict"]), word(&answer["replay"]["outcome"]))
}

const HEADERS: &str = "#define _GNU_SOURCE\n#include <assert.h>\n#include <errno.h>\n#include <fcntl.h>\n\
    #include <limits.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n";

/// Judges bodies of `main`: each is safe, or fails in the compiled program too, or is unknown.
fn judge(class: &str, cases: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (i, (right, body)) in cases.iter().enumerate() {
        let text = format!("{HEADERS}int main(void) {{\n{body}\nreturn 0;\n}}\n");
        let (found, replay) = verdict(&format!("{class}-{i}"), &text, &[]);
        let found = match (found.as_str(), replay.as_str()) {
            ("unsafe", "confirmed") => "fails".to_owned(),
            ("unsafe", other) => format!("unsafe, {other}"),
            (other, _) => other.to_owned(),
        };
        if found != *right {
            wrong.push(format!("{found} instead of {right}: {body}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn errno_is_an_object_that_functions_without_a_model_may_set() {
    judge(
        "errno",
        &[
            ("safe", "assert(errno == 0);"),
            ("safe", "errno = 5; int *place = &errno; *place = 6; assert(errno == 6);"),
            ("safe", "errno = 3; close(4); assert(errno > 0);"),
            ("fails", "if (open(\"x\", O_RDONLY) < 0 && errno == ENOENT) assert(0);"),
            ("fails", "errno = 0; close(4); assert(errno == 0);"),
            ("fails", "errno = 0; close(4); assert(errno != 0);"),
            // What printing does to it is up to the real library, which leaves it here.
            ("unknown", "errno = 0; printf(\"x\"); assert(errno == 0);"),
        ],
    );
}

#[test]
fn numbers_in_texts_set_errno_if_they_do_not_fit() {
    judge(
        "strtol",
        &[
            (
                "safe",
                "char *end; errno = 0; long x = strtol(\" -12x\", &end, 10);\n\
                 assert(x == -12 && *end == 'x' && errno == 0);",
            ),
            (
                "safe",
                "char *end; errno = 0; long x = strtol(\"99999999999999999999\", &end, 10);\n\
                 assert(x == LONG_MAX && *end == 0 && errno == ERANGE);",
            ),
            ("fails", "char *end; assert(strtoul(\"0x1f\", &end, 0) == 1);"),
            (
                "safe",
                "extern long read_number(const char *, char **, int) __asm__(\"__isoc23_strtol\");\n\
                 char *end; assert(read_number(\"0b11\", &end, 0) == 3 && *end == 0);",
            ),
        ],
    );
}
