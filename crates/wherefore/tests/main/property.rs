//! A property that speaks of nothing in the program holds vacuously, and the answer says so.

use std::path::PathBuf;
use std::process::Command;

/// What `wherefore` says about a file with some text: exit code, standard output and standard
/// error.
fn ask(verb: &str, name: &str, text: &str, options: &[&str]) -> (Option<i32>, String, String) {
    let folder: PathBuf =
        std::env::temp_dir().join(format!("wherefore-property-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("t.c"), text).unwrap();
    std::fs::write(folder.join("p.prp"), "CHECK( init(main()), LTL(G ! call(reach_error())) )\n").unwrap();
    let task = "format_version: '2.0'\ninput_files: 't.c'\nproperties:\n  - property_file: p.prp\n";
    std::fs::write(folder.join("t.yml"), task).unwrap();
    let file = if options == ["as a task"] { "t.yml" } else { "t.c" };
    let options = options.iter().filter(|option| **option != "as a task");
    let output = Command::new(env!("CARGO_BIN_EXE_wherefore"))
        .current_dir(&folder)
        .args([verb, file, "--timeout", "60"])
        .args(options)
        .output()
        .expect("the program starts");
    let _ = std::fs::remove_dir_all(folder);
    let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), words(&output.stdout), words(&output.stderr))
}

#[track_caller]
fn vacuous(name: &str, text: &str, options: &[&str], message: &str) {
    let (file, why) = message.split_once(": ").unwrap();
    let (code, out, errors) = ask("check", name, text, options);
    assert_eq!(code, Some(0), "{errors}");
    assert!(out.starts_with(&format!("{file}: safe (vacuously: {why})\n")), "{out}");
    assert_eq!(errors.trim_end(), format!("warning: {message}"));
    if options != ["as a task"] {
        let (_, out, _) = ask("check", &format!("{name}-json"), text, &[options, &["--json"]].concat());
        let answer: serde_json::Value = serde_json::from_str(&out).expect("JSON");
        assert_eq!((&answer["verdict"], &answer["vacuous"]), (&"safe".into(), &true.into()), "{out}");
    }
}

const LABEL: &str = "int input(void); int main(void) { if (input() == 5) { ERROR: return 1; } return 0; }";

#[test]
fn functions_that_are_neither_declared_nor_called_are_never_called() {
    let offer = "it has the label `ERROR` (--error-label ERROR)";
    let one = "the property asks about calls of `reach_error`, which the program neither declares nor calls";
    vacuous("prp", LABEL, &["--property", "p.prp"], &format!("t.c: {one}; {offer}"));
    vacuous("yml", LABEL, &["as a task"], &format!("t.yml: {one}; {offer}"));
    let two = "the property asks about calls of `oops` or `__VERIFIER_error`, which the program neither declares nor calls";
    let options = ["--error-function", "oops", "--error-function", "__VERIFIER_error"];
    vacuous("functions", LABEL, &options, &format!("t.c: {two}; {offer}"));
    for verb in ["project", "explain", "slice"] {
        let (code, out, errors) = ask(verb, verb, LABEL, &["--error-function", "oops"]);
        assert_eq!(code, Some(0), "{verb}: {out}");
        assert!(out.contains("vacuously") && errors.starts_with("warning: "), "{verb}: {out} {errors}");
    }
    // What is doubtful about other proofs does not matter here.
    let odd = "int x; int main(void) { return (unsigned long)&x & 64 ? 1 : 0; }";
    assert_eq!(ask("check", "odd", odd, &["--error-function", "oops"]).0, Some(0));
}

#[test]
fn labels_and_assertions_that_do_not_occur_are_never_reached() {
    let asserting = "#include <assert.h>\nvoid reach_error(void);\nint main(void) { assert(1); return 0; }";
    vacuous(
        "label",
        asserting,
        &["--error-label", "ERROR"],
        "t.c: the property asks about the label `ERROR`, which no function of the program has; it has \
         `reach_error` (--error-function reach_error) and assertions (--assertions)",
    );
    let bare = "#include <assert.h>\nint main(void) { return 0; }";
    vacuous(
        "assertions",
        bare,
        &["--assertions"],
        "t.c: the property asks about assertions, and no function of the program has one; it has no assertion, no \
         error function and no error label either",
    );
}

#[test]
fn what_occurs_but_is_out_of_reach_is_safe() {
    let declared = "extern void reach_error(void); int main(void) { return 0; }";
    let unused = "void reach_error(void); void f(void) { reach_error(); } int main(void) { return 0; }";
    for (name, text) in [("declared", declared), ("unused", unused)] {
        for options in [&["--property", "p.prp"][..], &["as a task"], &[]] {
            let (code, out, _) = ask("check", name, text, options);
            assert_eq!(code, Some(0), "{name}: {out}");
            let said = "safe (nothing to check: what would be an error is in no function that is used)";
            assert!(out.contains(said), "{name}: {out}");
        }
    }
    assert_eq!(ask("check", "labelled", LABEL, &["--error-label", "ERROR"]).0, Some(10));
    let instead = LABEL.replace("ERROR", "HERE");
    assert_eq!(
        ask("check", "instead", &instead, &["--error-function", "oops", "--label", "HERE"]).0,
        Some(10)
    );
}

#[test]
fn a_label_of_c_is_an_error_only_if_it_is_asked_for() {
    for name in ["ERROR", "error"] {
        let text = LABEL.replace("ERROR", name);
        let (code, out, _) = ask("check", &format!("unasked-{name}"), &text, &[]);
        assert_eq!(code, Some(0), "{out}");
        assert!(out.contains(&format!("a label is an error if asked for (--error-label {name})")), "{out}");
        for option in ["--error-label", "--label"] {
            let asked = ask("check", &format!("asked{option}-{name}"), &text, &[option, name]);
            assert_eq!(asked.0, Some(10), "{option} {name}: {asked:?}");
        }
    }
    // An assertion beside it counts, the label does not.
    let both = "#include <assert.h>\nint main(void) { int x = 1; assert(x); if (x) goto error; return 0; error: return 1; }";
    assert_eq!(ask("check", "beside", both, &[]).0, Some(0));
}

#[test]
fn calls_of_an_error_function_are_told_apart_from_assertions() {
    let text = "#include <assert.h>\nvoid reach_error(void); int input(void);
int main(void) { int x = input(); assert(x != 1); if (x == 2) reach_error(); return 0; }";
    let (_, out, _) = ask("check", "kinds", text, &[]);
    assert!(out.contains("t.c:3: call of `reach_error`") && out.contains("t.c:3: assertion"), "{out}");
    let (_, out, _) = ask("check", "kinds-json", text, &["--json", "--error-function", "reach_error"]);
    let answer: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let error = &answer["error"];
    assert_eq!((&error["kind"], &error["label"]), (&"error-call".into(), &"reach_error".into()), "{out}");
}

#[test]
fn a_program_with_nothing_to_check_is_said_to_have_nothing() {
    let text = "int main(void) { return 0; }";
    let (code, out, _) = ask("check", "nothing", text, &[]);
    assert_eq!(code, Some(0));
    assert!(out.contains("t.c: safe (nothing to check: no assertion, no error function, nothing that is checked for undefined behaviour)\n"), "{out}");
    let (_, out, _) = ask("check", "nothing-json", text, &["--json"]);
    let answer: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(
        answer["reason"],
        "nothing to check: no assertion, no error function, nothing that is checked for undefined behaviour"
    );
    assert_eq!(answer["vacuous"], serde_json::Value::Null, "nothing was named");
}
