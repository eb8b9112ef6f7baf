//! Where C programs come from, and what is told about functions that they do not define.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A fresh folder with files.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let folder = std::env::temp_dir().join(format!("wherefore-sources-{}-{name}", std::process::id()));
        for (file, text) in files {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("a folder");
            fs::write(path, text).expect("the file is written");
        }
        Self(folder)
    }

    /// Runs `wherefore` in the folder.
    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wherefore"));
        command.current_dir(&self.0).args(arguments).output().expect("the binary runs")
    }

    #[track_caller]
    fn expect(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let text =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
        text
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const HEAD: &str = "extern void reach_error(void);\n";

#[test]
fn a_program_can_come_from_standard_input() {
    let folder = Folder::new("stdin", &[("n.h", "#define N 3\n")]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_wherefore"));
    command.current_dir(&folder.0).args(["check", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    let text = format!(
        "#include \"n.h\"\n{HEAD}int main(void) {{ int x = N;\n if (x == 3) reach_error(); return 0; }}\n"
    );
    child.stdin.take().expect("an input").write_all(text.as_bytes()).expect("the program is read");
    let output = child.wait_with_output().expect("it ends");
    let shown = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(10), "{shown}");
    assert!(shown.starts_with("-: unsafe"), "{shown}");
    assert!(shown.contains("replayed: the compiled program fails at <stdin>:4"), "{shown}");
}

#[test]
fn a_folder_stands_for_its_c_files() {
    let main =
        format!("{HEAD}extern int two(void); int main(void) {{ if (two() != 2) reach_error(); return 0; }}");
    let folder = Folder::new(
        "folder",
        &[("src/a.c", &main), ("src/b.c", "int two(void) { return 2; }"), ("src/c.txt", "?"), ("none/x", "")],
    );
    folder.expect(0, &["check", "src"]);
    let text = folder.expect(2, &["check", "none"]);
    assert!(text.contains("there is no C file in this folder"), "{text}");
}

#[test]
fn a_project_says_how_its_files_are_read() {
    let main = format!(
        "#include \"n.h\"\n{HEAD}extern int plus(int); int main(void) {{ if (plus(N) != M) reach_error(); return 0; }}"
    );
    let database = r#"[
        {"directory": "../build", "command": "gcc -I../include '-DM=5' -O2 -c ../src/a.c", "file": "../src/a.c"},
        {"directory": "../build", "arguments": ["gcc", "-D", "BY=1", "-c", "../src/b.c"], "file": "../src/b.c"},
        {"directory": "../build", "command": "g++ -c ../src/x.cc", "file": "../src/x.cc"}]"#;
    let files = [
        ("src/a.c", main.as_str()),
        ("src/b.c", "int plus(int x) { return x + BY; }"),
        ("include/n.h", "#define N 4\n"),
        ("build/compile_commands.json", database),
        ("bad/compile_commands.json", "{}"),
        (
            "char/compile_commands.json",
            r#"[{"directory": ".", "command": "cc -funsigned-char -c a.c", "file": "a.c"}]"#,
        ),
        ("other.c", "int main(void) { return 0; }"),
    ];
    let folder = Folder::new("project", &files);
    folder.expect(0, &["check", "--project", "build"]);
    folder.expect(0, &["check", "--project", "build/compile_commands.json"]);
    // One of its files alone: the other function is not defined then.
    let text = folder.expect(10, &["check", "--project", "build", "src/a.c"]);
    assert!(text.contains("functions without a body: `plus`"), "{text}");
    for (arguments, message) in [
        (&["--project", "build", "other.c"][..], "the project does not compile this file"),
        (&["--project", "bad"], "this is not a list of compile commands"),
        (&["--project", "char"], "-funsigned-char, which is not modelled"),
        (&["--project", "nowhere"], "nowhere"),
    ] {
        let text = folder.expect(2, &[&["check"], arguments].concat());
        assert!(text.contains(message), "{text}");
    }
}

#[test]
fn what_is_told_about_functions_without_a_body_counts() {
    let text = format!(
        "{HEAD}extern int get(int *); extern void die(void);\n\
         int main(void) {{ int y = 2, z = get(&y); if (z < 0) die(); if (y != 2 || z < 0) reach_error(); return 0; }}"
    );
    let files = [
        ("p.c", text.as_str()),
        ("good.c", "int get(int *p) { return *p; }\n"),
        ("bad.c", "int get(int *p) { *p = 3; return 1; }\n"),
        ("wrong.c", "int get(int *p) {"),
        ("strlen.c", "unsigned long strlen(const char *text) { return 7; }\n"),
        (
            "length.c",
            "extern void reach_error(void);\nunsigned long strlen(const char *);\nint main(void) { if (strlen(\"abc\") == 7) reach_error(); return 0; }",
        ),
    ];
    let folder = Folder::new("told", &files);
    let text = folder.expect(10, &["check", "p.c"]);
    assert!(text.contains("functions without a body: `die`, `get`"), "{text}");
    folder.expect(0, &["check", "p.c", "--assume-pure", "get", "--no-return", "die"]);
    folder.expect(10, &["check", "p.c", "--assume-pure", "get"]);
    folder.expect(0, &["check", "p.c", "--model", "good.c"]);
    let text = folder.expect(10, &["check", "p.c", "--model", "bad.c"]);
    assert!(text.contains("replayed: the compiled program fails"), "{text}");
    // Our models give way, too.
    folder.expect(0, &["check", "length.c"]);
    let text = folder.expect(10, &["check", "length.c", "--model", "strlen.c"]);
    assert!(text.contains("replayed: the compiled program fails"), "{text}");
    folder.expect(2, &["check", "p.c", "--model", "wrong.c"]);
    folder.expect(2, &["check", "p.c", "--model", "nowhere.c"]);
    for option in ["--assume-pure", "--no-return"] {
        let text = folder.expect(2, &["check", "p.c", option, "main"]);
        assert!(text.contains("there is no function `main` without a body"), "{text}");
    }
}

#[test]
fn a_harness_calls_a_function_with_any_arguments() {
    let text = "#include <assert.h>\ntypedef struct { int count; const char *name; struct item *next; } list;\n\
        struct item { double weight; list *owner; unsigned char bytes[4]; };\n\
        int total(list *all, struct item one, unsigned short by, const char *text, long *numbers) {\n\
          if (all && all->next && all->next->weight == 0.5 && by == 7 && text && text[0] == 'x' && numbers)\n\
            assert(all->count != 3 || numbers[1] != -1);\n  return one.bytes[0];\n}\nint main(void) { return 0; }\n";
    let folder = Folder::new("harness", &[("part.c", text)]);
    let harness = folder.expect(0, &["harness", "part.c", "--entry", "total"]);
    fs::write(folder.0.join("harness.c"), &harness).expect("the harness is written");
    let answer = folder.expect(10, &["check", "harness.c"]);
    assert!(answer.contains("replayed: the compiled program fails at part.c:6"), "{harness}\n{answer}");
    let text = folder.expect(2, &["harness", "part.c", "--entry", "nothing"]);
    assert!(text.contains("there is no function `nothing`"), "{text}");
    folder.expect(2, &["harness", "part.bp", "--entry", "f"]);
    folder.expect(2, &["harness", "nowhere.c", "--entry", "f"]);
}

#[test]
fn the_compiler_may_have_flags() {
    let text = format!("{HEAD}int main(void) {{ if (N == 3) reach_error(); return 0; }}");
    let folder = Folder::new(
        "flags",
        &[
            ("p.c", &text),
            (
                "wide.c",
                "extern void reach_error(void); int main(void) { if (sizeof(long) == 4) reach_error(); return 0; }",
            ),
        ],
    );
    let check = |cc: &str, file: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wherefore"));
        command.current_dir(&folder.0).env("CC", cc).args(["check", file]);
        command.output().expect("the binary runs").status.code()
    };
    assert_eq!(check("cc -DN=3", "p.c"), Some(10));
    assert_eq!(check("cc '-DN=1 + 1'", "p.c"), Some(0));
    assert_eq!(check("cc -m32", "wide.c"), Some(10));
    assert_eq!(check("cc", "wide.c"), Some(0));
    assert_eq!(check("no-such-compiler -m32", "p.c"), Some(2));
    // Flags that change what a program means are not ignored.
    for flag in ["-funsigned-char", "-fshort-enums", "-fpack-struct=1", "-mms-bitfields"] {
        assert_eq!(check(&format!("cc {flag}"), "wide.c"), Some(2), "{flag}");
    }
}
