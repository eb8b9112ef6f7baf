//! Tasks and property files of SV-COMP: what they ask is answered, is *unknown*, or is bad input;
//! nothing else is answered instead.

use std::path::PathBuf;
use std::process::Command;

const SAFE: &str = "CHECK( init(main()), LTL(G ! call(reach_error())) )\n";
const PROGRAM: &str = "void reach_error(void); int input(void);
int main(void) { if (input() == 5) reach_error(); return 0; }\n";

/// What `wherefore` says in a folder with these files: exit code, standard output and standard
/// error.
fn ask(name: &str, files: &[(&str, &str)], arguments: &[&str]) -> (Option<i32>, String, String) {
    let folder: PathBuf = std::env::temp_dir().join(format!("wherefore-task-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (file, text) in files.iter().chain(&[("t.c", PROGRAM)]) {
        std::fs::write(folder.join(file), text).unwrap();
    }
    let output = Command::new(env!("CARGO_BIN_EXE_wherefore"))
        .current_dir(&folder)
        .args(arguments)
        .args(["--timeout", "60"])
        .output()
        .expect("the program starts");
    let _ = std::fs::remove_dir_all(folder);
    let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), words(&output.stdout), words(&output.stderr))
}

fn task(properties: &[&str]) -> String {
    let list: String = properties.iter().map(|file| format!("  - property_file: {file}\n")).collect();
    format!("format_version: '2.0'\ninput_files: 't.c'\nproperties:\n{list}")
}

#[test]
fn a_property_that_others_decide_is_unknown_and_not_safe() {
    let ends = "CHECK( init(main()), LTL(F end) )\n";
    let one = task(&["end.prp"]);
    let files = [("t.yml", one.as_str()), ("end.prp", ends)];
    let reason = "end.prp asks for termination, which is not decided here";
    let (code, out, _) = ask("end", &files, &["check", "t.yml"]);
    assert_eq!((code, out.as_str()), (Some(5), format!("t.yml: unknown, because {reason}\n").as_str()));
    let (code, out, _) = ask("end-json", &files, &["check", "t.c", "--property", "end.prp", "--json"]);
    let answer: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((code, &answer["verdict"], &answer["reason"]), (Some(5), &"unknown".into(), &reason.into()));
    for verb in ["project", "explain", "slice"] {
        assert_eq!(ask(verb, &files, &[verb, "t.yml"]).0, Some(5), "{verb}");
    }
    let memory = "CHECK( init(main()), LTL(G valid-free) )\nCHECK( init(main()), LTL(G valid-deref) )\n";
    let (code, out, _) = ask("memory", &[("m.prp", memory)], &["check", "t.c", "--property", "m.prp"]);
    assert_eq!(code, Some(0), "{out}");
    let lost = format!("{memory}CHECK( init(main()), LTL(G valid-memtrack) )\n");
    let (code, out, _) = ask("lost", &[("m.prp", &lost)], &["check", "t.c", "--property", "m.prp"]);
    assert_eq!(code, Some(5), "{out}");
    assert!(out.contains("m.prp also asks for the proof that no memory is lost (valid-memtrack)"), "{out}");
}

#[test]
fn the_first_property_that_is_decided_counts_unless_another_is_named() {
    let ends = "CHECK( init(main()), LTL(F end) )\n";
    let both = task(&["end.prp", "safe.prp"]);
    let files = [("t.yml", both.as_str()), ("end.prp", ends), ("safe.prp", SAFE)];
    assert_eq!(ask("both", &files, &["check", "t.yml"]).0, Some(10));
    assert_eq!(ask("chosen", &files, &["check", "t.yml", "--property", "end.prp"]).0, Some(5));
    assert_eq!(ask("named", &files, &["check", "t.yml", "--error-function", "reach_error"]).0, Some(10));
}

#[test]
fn what_is_no_property_and_what_is_not_there_is_bad_input() {
    let missing = task(&["safe.prp", "gone.prp"]);
    let (code, out, errors) = ask("gone", &[("t.yml", &missing), ("safe.prp", SAFE)], &["check", "t.yml"]);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(errors.contains("t.yml:5:20: the property file `gone.prp` cannot be read"), "{errors}");
    let text = "CHECK( init(main()), LTL(G ! call(reach_error()) && F end) )\n";
    let odd = task(&["odd.prp"]);
    for arguments in [&["check", "t.yml"][..], &["check", "t.c", "--property", "odd.prp"]] {
        let (code, out, errors) = ask("odd", &[("t.yml", &odd), ("odd.prp", text)], arguments);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{errors}");
        assert!(errors.contains("odd.prp:1:50: expected `)`"), "{errors}");
    }
    // The program must be there, whatever is asked of it.
    let ends = "CHECK( init(main()), LTL(F end) )\n";
    assert_eq!(ask("no-file", &[("p.prp", ends)], &["check", "u.c", "--property", "p.prp"]).0, Some(2));
}
