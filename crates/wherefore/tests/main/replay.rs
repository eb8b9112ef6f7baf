//! Failing runs of C programs are run by the compiled program; proofs that rest on doubts are none.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

/// Writes the files into a folder of their own.
fn folder(name: &str, files: &[(&str, &str)]) -> (PathBuf, Vec<String>) {
    let folder = std::env::temp_dir().join(format!("wherefore-cli-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let write = |(file, text): &(&str, &str)| {
        let path = folder.join(file);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let paths = files.iter().map(write).collect();
    (folder, paths)
}

fn check(name: &str, files: &[(&str, &str)], options: &[&str]) -> Value {
    let (folder, paths) = folder(name, files);
    let output = Command::new(env!("CARGO_BIN_EXE_wherefore"))
        .arg("check")
        .args(&paths)
        .args(["--json", "--timeout", "60"])
        .args(options)
        .output()
        .expect("the program starts");
    let _ = std::fs::remove_dir_all(folder);
    let errors = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("no answer: {errors}"))
}

fn one(name: &str, text: &str, options: &[&str]) -> Value {
    check(name, &[("t.c", text)], options)
}

#[track_caller]
fn confirmed(answer: &Value) {
    assert_eq!((&answer["verdict"], &answer["replay"]["outcome"]), (&json!("unsafe"), &json!("confirmed")));
}

#[track_caller]
fn unknown(answer: &Value, reason: &str) {
    assert_eq!(answer["verdict"], "unknown", "{answer}");
    let given = answer["reason"].as_str().unwrap_or_default();
    assert!(given.contains(reason), "{given}");
}

/// What the checked program does before `main`, and beside the checked path, stays in the sandbox.
#[test]
fn a_strangers_program_leaves_nothing_behind() {
    let left = std::env::temp_dir().join(format!("wherefore-left-{}", std::process::id()));
    let text = format!(
        "#include <fcntl.h>\n#include <stdlib.h>\n#include <unistd.h>\nextern void reach_error(void);\n\
         __attribute__((constructor)) static void early(void) {{\n  if (fork() == 0) {{ setsid(); sleep(1); }}\n  \
         system(\"touch {0}\"); close(open(\"{0}\", O_CREAT | O_WRONLY, 0600));\n}}\n\
         int main(void) {{ reach_error(); return 0; }}\n",
        left.display()
    );
    let answer = one("stranger", &text, &["--error-function", "reach_error"]);
    assert_eq!(answer["verdict"], "unsafe", "{answer}");
    std::thread::sleep(std::time::Duration::from_millis(1500));
    assert!(!left.exists(), "the sandbox was left");
}

const INPUTS: &str = "
extern void __VERIFIER_error(void);
extern void __VERIFIER_assume(int);
extern int __VERIFIER_nondet_int(void);
extern unsigned char __VERIFIER_nondet_uchar(void);
extern short __VERIFIER_nondet_short(void);
extern unsigned long __VERIFIER_nondet_ulong(void);
extern _Bool __VERIFIER_nondet_bool(void);
int somewhere(void);
int main(void) {
  int sum = 0;
  __VERIFIER_nondet_int();
  for (int i = 0; i < 3; i++) sum += __VERIFIER_nondet_int();
  unsigned char c = __VERIFIER_nondet_uchar();
  short s = __VERIFIER_nondet_short();
  unsigned long l = __VERIFIER_nondet_ulong();
  _Bool b = __VERIFIER_nondet_bool();
  __VERIFIER_assume(c > 200);
  if (sum == 77 && s == -12345 && l == 0xfedcba98u && b && somewhere() == 5 && c == 201) __VERIFIER_error();
  return 0;
}";

#[test]
fn inputs_of_several_types_are_fed_in_order() {
    confirmed(&one("types", INPUTS, &[]));
    confirmed(&one("types32", INPUTS, &["--data-model", "ilp32"]));
}

#[test]
fn the_harness_can_be_kept_and_says_how_to_compile_it() {
    let kept = std::env::temp_dir().join(format!("wherefore-kept-{}.c", std::process::id()));
    confirmed(&one("kept", INPUTS, &["--harness", &kept.display().to_string()]));
    let text = std::fs::read_to_string(&kept).unwrap();
    let _ = std::fs::remove_file(&kept);
    assert!(text.contains("harness.c -lm -o run && ./run"), "{text}");
    assert!(text.contains("__VERIFIER_nondet_short()"), "{text}");
    let answer = one("unkept", INPUTS, &["--no-replay"]);
    assert_eq!((&answer["verdict"], &answer["replay"]), (&json!("unsafe"), &Value::Null));
}

#[test]
fn errors_with_a_body_labels_and_assertions_leave_a_mark() {
    let head = "extern int __VERIFIER_nondet_int(void);\n";
    let with = |rest: &str| format!("{head}{rest}");
    let body = with(
        "void reach_error(void) {}\nint main(void) { if (__VERIFIER_nondet_int() == 9) reach_error(); return 0; }",
    );
    confirmed(&one("body", &body, &[]));
    let hidden = with(
        "static void reach_error(void) {}\nint main(void) { if (__VERIFIER_nondet_int() == 9) reach_error(); return 0; }",
    );
    confirmed(&one("static", &hidden, &["--error-function", "reach_error"]));
    let label = with(
        "int main(void) { int x = __VERIFIER_nondet_int(); if (x < -3) goto ERROR; return 0; ERROR: ; int y = 1; return y; }",
    );
    confirmed(&one("label", &label, &["--error-label", "ERROR"]));
    confirmed(&one("label-named", &label, &["--label", "ERROR"]));
    confirmed(&one("label32", &label, &["--error-label", "ERROR", "--data-model", "ilp32"]));
    let other = with("int main(void) { if (__VERIFIER_nondet_int() == 3) { WRONG: return 1; } return 0; }");
    confirmed(&one("other", &other, &["--error-label", "WRONG"]));
    let assertion = format!(
        "#include <assert.h>\n{head}int main(void) {{ assert(__VERIFIER_nondet_int() != 4); return 0; }}"
    );
    confirmed(&one("assert", &assertion, &[]));
    confirmed(&one("assert32", &assertion, &["--assertions", "--data-model", "ilp32"]));
}

#[test]
fn programs_of_two_files_and_other_entries_are_replayed() {
    let first = "int twice(int); int __VERIFIER_nondet_int(void); void reach_error(void);
int main(void) { if (twice(__VERIFIER_nondet_int()) == 84) reach_error(); return 0; }";
    let second = "int twice(int x) { return 2 * x; }";
    confirmed(&check("two", &[("a.c", first), ("b.c", second)], &[]));
    let entry = "void reach_error(void); int main(void) { return 0; } static void other(int x) { if (x == 1234) reach_error(); }
void use(void) { other(1); }";
    confirmed(&one("entry", entry, &["--entry", "other"]));
}

#[test]
fn memory_of_32_bits_is_laid_out_as_compiled() {
    let text = "void reach_error(void); void *malloc(unsigned long); int __VERIFIER_nondet_int(void);
struct node { struct node *next; long value; };
int main(void) {
  struct node *a = malloc(sizeof(struct node)), *b = malloc(sizeof *b);
  a->next = b; b->next = 0; b->value = __VERIFIER_nondet_int();
  long long wide = a->next->value; wide = wide * 1000003 / 7;
  if (sizeof(struct node) == 8 && wide % 1000 == 142) reach_error();
  return 0;
}";
    confirmed(&one("memory", text, &["--data-model", "ilp32"]));
}

/// Whether a program without a C library can be compiled for 32 bits here.
fn compiles_for_32_bits() -> bool {
    let (folder, paths) = folder("m32", &[("m32.c", "int f(int x) { return x; }")]);
    let object = folder.join("m32.o");
    let status = Command::new("cc").args(["-m32", "-c", "-o"]).arg(&object).args(&paths).output();
    let _ = std::fs::remove_dir_all(folder);
    status.is_ok_and(|output| output.status.success())
}

#[test]
#[ignore = "needs a compiler for 32 bits"]
fn wide_integers_that_are_only_declared_do_not_stop_a_replay_for_32_bits() {
    assert!(compiles_for_32_bits(), "this test needs a compiler for 32 bits");
    let with = |declared: &str, done: &str| {
        format!(
            "{declared} void reach_error(void); int __VERIFIER_nondet_int(void);
int main(void) {{ int x = __VERIFIER_nondet_int(); {done} if (x == 41 && sizeof(long) == 4) reach_error(); return 0; }}"
        )
    };
    let unused = "extern unsigned __int128 wide(__int128 a, int b); extern signed __int128 other(void); typedef __int128 large;";
    let answer = one("unused128", &with(unused, ""), &["--data-model", "ilp32"]);
    confirmed(&answer);
    assert_eq!(answer["replay"]["why"], Value::Null, "{answer}");
    // A program that computes with them still needs 64 bits, where `long` has another size.
    let used = [
        ("call128", with("extern __int128 wide(void);", "wide();")),
        ("object128", with("__int128 y, z;", "y = y + z;")),
        ("typedef128", with("typedef __int128 large;", "large y, z; y = y + z;")),
        ("cast128", with("long a[8];", "*(__int128 *)a;")),
    ];
    for (name, text) in used {
        let answer = one(name, &text, &["--data-model", "ilp32"]);
        let why = answer["replay"]["why"].as_str().unwrap_or_default();
        assert!(why.contains("it can only be compiled for 64 bits"), "{name}: {answer}");
    }
}

/// A value that C leaves open is open in the compiled program too; one that is approximated is not.
#[test]
fn a_run_that_depends_on_what_cannot_be_fed_counts_unless_the_value_is_approximated() {
    let with = |body: &str| {
        format!("void reach_error(void); void fill(int *); int main(void) {{ {body} return 0; }}")
    };
    for (name, body) in [
        ("chance", "int x; if (x == 12345) reach_error();"),
        ("written", "int x = 0; fill(&x); if (x == 5) reach_error();"),
    ] {
        let answer = one(name, &with(body), &[]);
        assert_eq!(
            (&answer["verdict"], &answer["replay"]["outcome"]),
            (&json!("unsafe"), &json!("not-replayed"))
        );
        let why = answer["replay"]["why"].as_str().unwrap();
        assert!(why.contains("the run depends on a value that no input gives"), "{why}");
    }
    let assembly = "int a; __asm__(\"xor %0, %0\" : \"=r\"(a)); if (a) reach_error();";
    let answer = one("assembly", &with(assembly), &[]);
    assert_eq!(answer["replay"]["outcome"], "not-confirmed", "{answer}");
    let why = answer["replay"]["why"].as_str().unwrap();
    assert!(
        why.contains("it leaves with exit code 0; the run depends on a value that no input gives"),
        "{why}"
    );
    assert!(why.contains("t.c:1"), "{why}");
    unknown(&answer, why);
}

/// What a built-in function gives where it is not defined is up to the compiler: no run of ours
/// tells that a program fails by it, unless the compiled program does so.
#[test]
fn a_run_that_depends_on_the_result_of_an_undefined_call_is_not_unsafe() {
    let with = |condition: &str| {
        format!(
            "void reach_error(void); unsigned long zero; int main(void) {{ unsigned long x = zero * 173;
if ({condition}) reach_error(); return 0; }}"
        )
    };
    let only = ["--error-function", "reach_error"];
    for (name, condition) in [
        ("clzl", "__builtin_clzl(x) == 77 || __builtin_clzl(x) == 78"),
        ("ctz", "__builtin_ctz(x) + 1000 < __builtin_ctz(x)"),
        ("clz", "__builtin_clz(x) == -12345"),
    ] {
        unknown(&one(name, &with(condition), &only), "the compiled program does not fail");
    }
    let answer = one("clzl-asked", &with("__builtin_clzl(x) == 77"), &[]);
    confirmed(&answer);
    assert_eq!(answer["error"]["kind"], "builtin", "{answer}");
    let reached = "int main(void) { int x = 3;\nif (x % 2) __builtin_unreachable(); return 0; }";
    confirmed(&one("unreachable", reached, &[]));
}

/// A pointer that an entry gets is NULL or valid: arithmetic does not make it NULL.
#[test]
fn pointers_that_an_entry_gets_are_not_near_null() {
    let with = |body: &str| {
        format!(
            "struct list {{ struct list *next; }}; struct item {{ int key; struct list l; }};
int f(struct list *p) {{ {body} struct item *i = (struct item *)((char *)p - 8); return i->key; }}"
        )
    };
    let guarded = one("guarded", &with("if (!p) return 0;"), &["--entry", "f"]);
    assert_eq!(guarded["verdict"], "safe", "{guarded}");
    let open = one("open", &with("p = p->next;"), &["--entry", "f"]);
    assert_eq!(open["verdict"], "unsafe", "{open}");
}

/// What is read before it is written has some value in the compiled program. If that breaks no
/// rule, the run says nothing about the program.
#[test]
fn undefined_behaviour_that_needs_a_value_that_was_never_written_is_not_reported_unless_it_is_seen() {
    let sum =
        "int main(void) { int a[3], s = 0; int *p = a; for (int i = 0; i < 3; i++) s += p[i]; return 0; }";
    unknown(&one("sum", sum, &[]), "nothing was written there");
    // With an input that makes it fail, the place is the same.
    let input = "int __VERIFIER_nondet_int(void); int main(void) { int a[3], x = __VERIFIER_nondet_int();
int s = a[0] * 0; s = x + 1; return s * 0; }";
    confirmed(&one("input", input, &[]));
}

#[test]
fn functions_of_the_c_library_are_the_real_ones() {
    let with = |head: &str, condition: &str| {
        format!(
            "{head}\nvoid reach_error(void); int main(void) {{ if ({condition}) reach_error(); return 0; }}"
        )
    };
    for (name, head, condition) in [
        ("wctob", "int wctob(unsigned);", "wctob(97) != 97"),
        ("strverscmp", "int strverscmp(const char *, const char *);", "strverscmp(\"7\", \"7\") != 0"),
    ] {
        let answer = one(name, &with(head, condition), &[]);
        unknown(&answer, "no model says what is returned by");
        assert_eq!(answer["replay"]["outcome"], "not-confirmed", "{name}: {answer}");
    }
    // The program really fails: what the library returns is what the run needs.
    let strverscmp = "int strverscmp(const char *, const char *);";
    confirmed(&one("strverscmp-fails", &with(strverscmp, "strverscmp(\"42\", \"42\") == 0"), &[]));
    confirmed(&one("atoi-fails", &with("int atoi(const char *);", "atoi(\"42\") == 42"), &[]));
    // Functions with a model are computed.
    for (name, head, condition) in [
        ("atoi", "int atoi(const char *);", "atoi(\"42\") != 42"),
        ("isprint", "int isprint(int);", "!isprint('a')"),
        ("strtol", "long strtol(const char *, char **, int);", "strtol(\"7\", 0, 10) != 7"),
    ] {
        assert_eq!(one(name, &with(head, condition), &[])["verdict"], "safe", "{name}");
    }
    // Pages of memory come from the system: no run of ours knows where they are, or how large.
    let maps = "void *mmap(void *, unsigned long, int, int, int, long); long sysconf(int);";
    unknown(&one("mmap", &with(maps, "mmap(0, 4096, 3, 34, -1, 0) == 0"), &[]), "does not fail");
    let size = "int main(void) { return sysconf(30) * 2 < 0; }";
    unknown(&one("sysconf", &format!("{maps}\n{size}"), &[]), "does not fail");
    // Functions that bring inputs are fed, though the library defines them.
    confirmed(&one("rand", &with("int rand(void);", "rand() == 1234567"), &[]));
    confirmed(&one(
        "getchar",
        &with("int getchar(void); int puts(const char *);", "puts(\"x\"), getchar() == 'q'"),
        &[],
    ));
    let head = format!("{strverscmp} int rand(void);");
    let both = with(&head, "rand() == 12 && strverscmp(\"3\", \"3\") == 4");
    unknown(&one("both", &both, &[]), "`strverscmp`");
    // For 32 bits too, with a library or without one.
    unknown(
        &one(
            "strverscmp32",
            &with(strverscmp, "strverscmp(\"42\", \"42\") != 0"),
            &["--data-model", "ilp32"],
        ),
        "`strverscmp`",
    );
    let prints = with("int printf(const char *, ...); int rand(void);", "printf(\"x\"), rand() == 12");
    confirmed(&one("prints32", &prints, &["--data-model", "ilp32"]));
}

#[test]
fn a_run_that_the_compiled_program_contradicts_is_not_unsafe() {
    // The addresses of our objects are not those of the compiled program.
    let text = "void reach_error(void); int x; int main(void) { if ((unsigned long)&x == 0x400000) reach_error(); return 0; }";
    let answer = one("contradicted", text, &[]);
    assert_eq!(answer["replay"]["outcome"], "not-confirmed");
    unknown(&answer, "the compiled program does not fail with its inputs");
    assert_eq!(answer["trace"], Value::Null);
}

#[test]
fn a_run_is_not_confirmed_by_an_error_that_is_reached_elsewhere() {
    let text = "extern void reach_error(void);\nint main(void) {\n  int a = 1;\n  \
                __asm__(\"xorl %0, %0\" : \"=r\"(a));\n  if (a)\n    reach_error();\n  reach_error();\n}\n";
    let answer = one("elsewhere", text, &["--error-function", "reach_error"]);
    let verdicts: Vec<&Value> =
        answer["targets"].as_array().unwrap().iter().map(|target| &target["verdict"]).collect();
    assert_eq!(verdicts, ["unknown", "unsafe"], "{answer}");
}

#[test]
fn no_proof_rests_on_the_number_that_an_address_is() {
    let with = |condition: &str| {
        format!(
            "void reach_error(void); int x, y; int main(void) {{ int *p = &x; if ({condition}) reach_error(); return 0; }}"
        )
    };
    unknown(&one("number", &with("(unsigned long)p == 5"), &[]), "the number that an address is");
    unknown(&one("compared", &with("p == (int *)5"), &[]), "is a given number");
    for (name, condition) in [
        ("null", "p == 0"),
        ("back", "(int *)(unsigned long)p != p"),
        ("other", "p == &y"),
        ("truth", "!(unsigned long)p"),
        ("zero", "(unsigned long)p == 0"),
    ] {
        assert_eq!(one(name, &with(condition), &[])["verdict"], "safe", "{condition}");
    }
}

#[test]
fn integers_that_only_hold_addresses_are_followed() {
    let with = |condition: &str| {
        format!("void reach_error(void); int x, y; int main(void) {{ unsigned long p = (unsigned long)&x, q, n = 5;
q = (unsigned long)&y; if ({condition}) reach_error(); return 0; }}")
    };
    assert_eq!(one("holders", &with("p == q || p == 0 || q == (unsigned long)&x"), &[])["verdict"], "safe");
    for (name, condition) in [("leak", "p % 4 == 3"), ("mixed", "p == n"), ("cut", "(char)p == 1")] {
        unknown(&one(name, &with(condition), &[]), "the number that an address is");
    }
}

#[test]
fn no_proof_rests_on_where_pointers_from_outside_point() {
    let with = |get: &str| {
        format!("void reach_error(void); void keep(int *); int *get(void); void *__VERIFIER_nondet_pointer(void); int x;
int main(void) {{ {get} x = 1; *p = 2; if (x != 1) reach_error(); return 0; }}")
    };
    unknown(
        &one("kept-pointer", &with("int *q = &x; keep(q); int *p = get();"), &["--checks", "none"]),
        "comes from outside",
    );
    unknown(
        &one(
            "any-pointer",
            &with("int *q = &x; *q = 0; int *p = __VERIFIER_nondet_pointer();"),
            &["--checks", "none"],
        ),
        "comes from outside",
    );
    assert_eq!(
        one("no-escape", &with("int *q = &x; *q = 0; int *p = get();"), &["--checks", "none"])["verdict"],
        "safe"
    );
}

#[test]
fn no_proof_rests_on_functions_that_are_called_back() {
    let text = "int on_exit(void (*)(int, void *), void *); void reach_error(void); void last(int s, void *p) { reach_error(); }
int main(void) { on_exit(last, 0); return 0; }";
    unknown(&one("on-exit", text, &[]), "`on_exit` calls no function of the program");
}

#[test]
fn a_proof_does_not_hold_where_an_index_can_be_outside() {
    let with = |bound: &str| {
        format!(
            "void reach_error(void); int __VERIFIER_nondet_int(void);
int main(void) {{
  int a[4] = {{0}}; int i = __VERIFIER_nondet_int();
  if (i >= 0 && i < {bound}) {{
    a[i] = 1;
    if (i >= 4) reach_error();
  }}
  return 0;
}}"
        )
    };
    // Also by engines that prove only.
    for engine in ["auto", "cegar", "induction", "states"] {
        let options = ["--checks", "none", "--engine", engine];
        let answer = one("outside", &with("5"), &options);
        unknown(&answer, "an index can be outside of its array at ");
        assert!(answer["reason"].as_str().unwrap().contains("t.c:5"), "{answer}");
        assert_eq!(one("inside", &with("4"), &options)["verdict"], "safe", "{engine}");
    }
}

/// Sanitizers report places of the text that the compiler sees: markers in a preprocessed file must
/// not lead elsewhere.
#[test]
fn undefined_behaviour_in_preprocessed_files_is_replayed() {
    let text = "# 1 \"foo.c\"\n# 10 \"foo.c\"\nint a[4];\n# 100 \"bar.h\"\nint f(int i) { return\n a[i]; }\nint main(void) { return f(4); }\n";
    confirmed(&check("markers", &[("t.i", text)], &[]));
    confirmed(&check(
        "unmarked",
        &[("t.i", "int f(int i) {\n return 7 / i; }\nint main(void) { return f(0); }\n")],
        &[],
    ));
    confirmed(&one(
        "line",
        "#line 70 \"parser.y\"\nint a[4];\nint main(int c, char **v) { return a[c > 0 ? 4 : 0]; }\n",
        &["--no-explain"],
    ));
}

/// What compilers do with overflow, and what lies around objects, does not hide what is undefined.
#[test]
fn undefined_behaviour_that_sanitizers_see_only_with_care_is_replayed() {
    let texts = [
        "int in(void); int main(void) { int x = in(); return x + 1 > x; }",
        "int a[4]; int main(void) { int s = 0; for (int *p = a; p <= a + 4; p++) s += *p; return s; }",
        "int a[4]; int main(void) { int *p = a + 3; return p[-4]; }",
        "void (*f)(void); int main(void) { f(); return 0; }",
        "int abs(int); int in(void); int main(void) { return abs(in()) > 5; }",
        "int *f(void) { int x = 1, *p = &x; return p; } int main(void) { return *f(); }",
        "int main(void) { char *p = \"abc\"; p[0] = 'x'; return 0; }",
        "#include <unistd.h>\nint main(void) { char b[4]; return read(0, b, 5) > 4; }",
    ];
    for (i, text) in texts.iter().enumerate() {
        let answer = one(&format!("care-{i}"), text, &["--no-explain"]);
        assert_eq!(answer["replay"]["outcome"], "confirmed", "{text}\n{answer}");
    }
}

/// Without a 32-bit library there are no sanitizers for 32 bits: nothing is learnt then.
#[test]
fn undefined_behaviour_of_32_bits_is_not_refuted_without_sanitizers() {
    let text = "int in(void); int main(void) { long x = in(); return x + 1 > 5; }";
    assert_eq!(one("narrow", text, &["--data-model", "ilp32"])["verdict"], "unsafe");
    let text = "void *malloc(unsigned); void free(void *); int main(void) { int *p = malloc(8); p[2] = 1; free(p); return 0; }";
    assert_eq!(one("narrow-heap", text, &["--data-model", "ilp32"])["verdict"], "unsafe");
}

#[test]
fn functions_that_run_at_the_end_are_called_in_reverse_order() {
    let text = |number: u32| {
        format!(
            "#include <stdlib.h>\nextern void reach_error(void); int n; void a(void) {{ n = n * 10 + 1; if (n == {number}) reach_error(); }}\n\
             void b(void) {{ n = n * 10 + 2; }}\nint main(void) {{ atexit(a); atexit(b); return 0; }}\n"
        )
    };
    confirmed(&one("atexit", &text(21), &[]));
    // Without a C library for 32 bits, `atexit` must not be made up.
    confirmed(&one("atexit-narrow", &text(21), &["--data-model", "ilp32"]));
    assert_eq!(one("atexit-not", &text(12), &[])["verdict"], "safe");
}
