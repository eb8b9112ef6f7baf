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
    #include <limits.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <time.h>\n#include <unistd.h>\n";

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

#[test]
fn what_streams_bring_is_input() {
    judge(
        "streams",
        &[
            ("safe", "int c = getchar(); assert(c >= -1 && c < 256);"),
            ("safe", "char b[8]; if (fgets(b, 8, stdin)) assert(strlen(b) < 8);"),
            ("safe", "char b[8] = \"abcdefg\"; if (fgets(b, 4, stdin)) assert(b[4] == 'e');"),
            ("fails", "char b[8]; if (fgets(b, 8, stdin)) assert(strcmp(b, \"abc\\n\"));"),
            ("fails", "errno = 0; char b[4]; if (!fgets(b, 4, stdin) && errno == EIO) assert(0);"),
            ("fails", "unsigned char b[4]; if (read(0, b, 4) == 3) assert(b[2] != 9);"),
            ("safe", "unsigned char b[4] = {0}; if (read(0, b, 4) == 3) assert(b[3] == 0);"),
            ("fails", "int b[3]; if (fread(b, 4, 3, stdin) == 2) assert(b[1] != 0x01020304);"),
            ("safe", "int b[3]; assert(fread(b, 4, 3, stdin) <= 3);"),
            (
                "fails",
                "char *line = 0; size_t n = 0; if (getline(&line, &n, stdin) == 3) assert(line[0] != 'A');",
            ),
            (
                "fails",
                "FILE *f = fopen(\"x\", \"r\"); if (!f) return 1; fprintf(f, \"x\"); int c = getc(f); fclose(f);\n\
                 assert(c != 65);",
            ),
            ("fails", "assert(fopen(\"x\", \"r\"));"),
            ("safe", "FILE *f = fopen(\"x\", \"r\"), *g = fopen(\"x\", \"r\"); assert(!f || f != g);"),
            // The state of a stream agrees with what was read from it, or the run does not count.
            ("unknown", "int c = getchar(); if (c == EOF) assert(feof(stdin) || ferror(stdin));"),
            ("unknown", "char b[4]; if (!fgets(b, 4, stdin)) assert(feof(stdin) || ferror(stdin));"),
            ("fails", "int c = getchar(); if (feof(stdin)) assert(c != EOF);"),
            ("fails", "int n = 0; while (!feof(stdin)) { if (getchar() == 'x') n++; assert(n < 2); }"),
            // Functions without a body may get streams, and objects.
            (
                "safe",
                "extern int use(FILE *); FILE *f = fopen(\"x\", \"r\"); int x = 3; if (f) use(f); assert(x == 3);",
            ),
            (
                "safe",
                "extern void keep(int *); int x = 1, y = 2; keep(&x); char b[4]; fgets(b, 4, stdin); assert(y == 2);",
            ),
        ],
    );
}

#[test]
fn what_a_program_reads_from_files_of_its_own_is_no_input() {
    let read_back = "FILE *f = fopen(\"x\", \"w+\"); if (!f) return 0; fprintf(f, \"hello\"); rewind(f);\n\
        char b[8]; if (!fgets(b, 8, f)) return 0;";
    let again = "FILE *f = fopen(\"./x\", \"w\"); if (!f) return 0; fputs(\"17 abc\", f); fclose(f);\n\
        f = fopen(\"d/../x\", \"r\"); if (!f) return 0; int n = 0; char w[10] = \"\"; fscanf(f, \"%d %9s\", &n, w);";
    let other = "FILE *f = fopen(\"/tmp/out\", \"w\"), *g = fopen(\"/etc/some.conf\", \"r\"); char b[10];\n\
        if (!f || !g) return 0;";
    let descriptor = "int f = open(\"x\", O_RDWR | O_CREAT | O_TRUNC, 0600); if (f < 0) return 0;\n\
        write(f, \"abc\", 3); lseek(f, 0, SEEK_SET); char b[4] = \"zzz\"; if (read(f, b, 3) < 0) return 0;";
    let moved = "if (!freopen(\"x\", \"w\", stdout)) return 0; printf(\"hello\"); fclose(stdout);\n\
        if (!freopen(\"x\", \"r\", stdin)) return 0; int c = getchar();";
    let cases = [
        ("unknown", format!("{read_back} assert(!strcmp(b, \"hello\"));")),
        ("fails", format!("{read_back} assert(strcmp(b, \"hello\"));")),
        (
            "unknown",
            "FILE *f = tmpfile(); if (f) { fputc('a', f); rewind(f); assert(fgetc(f) == 'a'); }".to_owned(),
        ),
        (
            "fails",
            "FILE *f = tmpfile(); if (f) { fputc('a', f); rewind(f); assert(fgetc(f) != 'a'); }".to_owned(),
        ),
        ("unknown", format!("{again} assert(n == 17 && !strcmp(w, \"abc\") && ftell(f) == 6 && feof(f));")),
        ("fails", format!("{again} assert(n != 17 || strcmp(w, \"abc\"));")),
        ("unknown", format!("{descriptor} assert(!strcmp(b, \"abc\"));")),
        ("fails", format!("{descriptor} assert(strcmp(b, \"abc\"));")),
        ("unknown", format!("{moved} assert(c == 'h');")),
        ("fails", format!("{moved} assert(c != 'h');")),
        // Standard input and other files stay inputs.
        ("fails", format!("{other} int c = getchar(), d = fgetc(stdin); assert(c != 'a' || d != 'b');")),
        (
            "fails",
            format!("{other} while (fgets(b, 10, g)) {{ fputs(b, f); assert(b[0] != 'x' || b[1] != 'y'); }}"),
        ),
        ("fails", "FILE *g = fopen(\"conf\", \"r\"); if (g) assert(fgetc(g) != 'q');".to_owned()),
    ];
    let cases: Vec<(&str, &str)> = cases.iter().map(|(right, body)| (*right, body.as_str())).collect();
    judge("own-files", &cases);
}

#[test]
fn what_is_printed_is_as_long_as_it_is() {
    let log = "int log_to(char *to, size_t size, const char *format, ...) { __builtin_va_list list;\n\
        __builtin_va_start(list, format); return vsnprintf(to, size, format, list); }";
    let cases: [(&str, &str); 12] = [
        ("safe", "assert(printf(\"hello\\n\") == 6);"),
        ("fails", "assert(printf(\"hello\\n\") != 6);"),
        (
            "safe",
            "int c = getchar(); if (c > 9 && c < 100) assert(fprintf(stdout, \"%d%s\", c, \"ab\") == 4);",
        ),
        ("fails", "int c = getchar(); if (c > 9) assert(fprintf(stdout, \"%d%s\", c, \"ab\") == 4);"),
        ("safe", "assert(putchar('x') == 'x' && puts(\"x\") >= 0 && fwrite(\"abc\", 1, 3, stdout) == 3);"),
        ("safe", "FILE *f = fopen(\"x\", \"w\"); if (f) assert(fputs(\"x\", f) >= 0 && fclose(f) == 0);"),
        // Some length, the library knows which one.
        ("fails", "assert(puts(\"x\") == 0);"),
        ("unknown", "assert(printf(\"%f\", 0.5) == 8);"),
        ("safe", "assert(printf(\"%f\", 0.5) > 0);"),
        ("safe", "char b[8]; assert(log_to(b, 8, \"%d-%s\", 12, \"ab\") == 5 && !strcmp(b, \"12-ab\"));"),
        ("fails", "char b[8]; log_to(b, 9, \"%08x\", 1);"),
        ("safe", "char b[8]; log_to(b, 8, \"%08x\", 1); assert(strlen(b) == 7);"),
    ];
    let cases: Vec<(&str, String)> =
        cases.iter().map(|(right, body)| (*right, format!("int log_to(char *, size_t, const char *, ...);\n{body}\nreturn 0; }}\n{log}\nint end(void) {{"))).collect();
    let cases: Vec<(&str, &str)> = cases.iter().map(|(right, body)| (*right, body.as_str())).collect();
    judge("printed", &cases);
    // Unless it is asked for, output does not fail.
    let text = format!("{HEADERS}int main(void) {{ assert(printf(\"x\") > 0 && !fclose(stdout)); }}");
    assert_eq!(verdict("output", &text, &[]).0, "safe");
    assert_eq!(verdict("output-fails", &text, &["--output-may-fail"]).0, "unsafe");
}

#[test]
fn characters_that_are_put_back_are_read_again() {
    judge(
        "back",
        &[
            ("safe", "int c = getchar(); if (c != EOF) { ungetc(c, stdin); assert(getchar() == c); }"),
            ("fails", "int c = getchar(); if (c != EOF) { ungetc(c, stdin); assert(getchar() != c); }"),
            (
                "fails",
                "int c, n = 0; while ((c = getc(stdin)) >= '0' && c <= '9') n = n * 10 + c - '0';\n\
                 if (c != EOF) ungetc(c, stdin); assert(n != 42 || getc(stdin) != ';');",
            ),
            (
                "fails",
                "int c = getchar(); ungetc('x', stdin); if (getchar() == 'x') assert(getchar() != 'y');",
            ),
            // What reads more than a character does not see what was put back.
            (
                "unknown",
                "char b[4]; int c = getchar(); ungetc('x', stdin); if (fgets(b, 4, stdin)) assert(b[0] == 'x');",
            ),
            (
                "unknown",
                "FILE *f = fopen(\"x\", \"w+\"); if (f) { ungetc('q', f); rewind(f); assert(getc(f) == EOF); }",
            ),
            ("safe", "char b[8]; long n = write(1, b, 8); assert(n >= -1 && n <= 8);"),
            ("safe", "char b[8]; long n = readlink(\"x\", b, 7); if (n > 0) b[n] = 0;"),
            ("fails", "char b[8]; long n = readlink(\"x\", b, 8); if (n > 0) b[n] = 0;"),
            ("safe", "char b[8]; if (getcwd(b, 8)) assert(b[0] == '/' && strlen(b) < 8);"),
            ("fails", "char b[8]; if (getcwd(b, 8)) assert(b[1] != 'x');"),
            ("safe", "clock_t c = clock(); long d = clock() - c; (void)d;"),
        ],
    );
}

#[test]
fn what_texts_hold_is_read_from_them() {
    judge(
        "texts",
        &[
            ("safe", "int a, b; assert(sscanf(\"12 0x1f\", \"%d%i\", &a, &b) == 2 && a == 12 && b == 31);"),
            ("fails", "int a, b; assert(sscanf(\"12 0x1f\", \"%d%i\", &a, &b) != 2 || b != 31);"),
            (
                "safe",
                "int a = 3; assert(sscanf(\"x\", \"%d\", &a) == 0 && sscanf(\"\", \"%d\", &a) == -1 && a == 3);",
            ),
            ("fails", "char w[4]; sscanf(\"word\", \"%s\", w);"),
            (
                "safe",
                "char k[8], v[8]; assert(sscanf(\"key=v1\", \"%7[^=]=%7s\", k, v) == 2 && v[1] == '1');",
            ),
            (
                "fails",
                "char b[8]; int n; if (fgets(b, 8, stdin) && sscanf(b, \"n=%d\", &n) == 1) assert(n != 42);",
            ),
            ("safe", "assert(strtod(\"-2.5e1\", 0) == -25.0 && atof(\"0.1\") == 0.1);"),
            ("fails", "assert(strtod(\"-2.5e1\", 0) != -25.0);"),
            // More digits than a number has: the library knows better.
            ("unknown", "assert(atof(\"3.141592653589793238462643383279\") > 3.0);"),
            ("safe", "assert(atof(\"3.141592653589793238462643383279\") >= 0.0);"),
            (
                "safe",
                "time_t t = time(0); struct tm *d = localtime(&t); int m[12] = {0}; assert(m[d->tm_mon] == 0);",
            ),
            ("unknown", "time_t t = 0; assert(gmtime(&t)->tm_year == 70);"),
            ("fails", "time_t t = 0; assert(gmtime(&t)->tm_year != 70);"),
            ("safe", "char *m = strerror(2); assert(m); assert(stdout);"),
        ],
    );
}

#[test]
fn what_scanf_reads_is_input() {
    judge(
        "scanf",
        &[
            ("fails", "int x, y; if (scanf(\"%d %d\", &x, &y) == 2 && x + y == 100) assert(x <= y);"),
            ("safe", "int x = 7; if (scanf(\"%d\", &x) < 1) assert(x == 7);"),
            ("safe", "int x; assert(scanf(\"%d\", &x) <= 1);"),
            // Arguments are evaluated before anything is read.
            ("safe", "int a[3] = {0}, n = 0; scanf(\"%d%d\", &n, &a[n]); assert(a[1] == 0);"),
            (
                "fails",
                "struct { short s; unsigned char c; double d; } v;\n\
                 if (scanf(\"%hd%hhu%lf\", &v.s, &v.c, &v.d) == 3 && v.s < 0 && v.c == 200 && v.d == 0.5) assert(0);",
            ),
            ("fails", "char w[6]; if (scanf(\"%5s\", w) == 1) assert(strcmp(w, \"hey\"));"),
            ("safe", "char w[6]; if (scanf(\"%5s\", w) == 1) assert(w[0] != ' ');"),
            ("safe", "char c; if (scanf(\" %c\", &c) == 1) assert(c != ' ');"),
            ("fails", "char c; if (scanf(\"%c\", &c) == 1) assert(c != ' ');"),
            (
                "safe",
                "int x, y; if (scanf(\"%2d%1d\", &x, &y) == 2) assert(x > -10 && x < 100 && y >= 0 && y < 10);",
            ),
            ("fails", "int x, y; if (scanf(\"%2d%1d\", &x, &y) == 2) assert(x != -9 || y != 9);"),
            ("fails", "int x, y; if (scanf(\"%2d%1d\", &x, &y) == 2) assert(x != 99 || y != 0);"),
            (
                "fails",
                "long x; char c; if (fscanf(stdin, \"%c%ld\", &c, &x) == 2) assert(c != 'q' || x != -5);",
            ),
        ],
    );
}

#[test]
fn the_environment_the_clock_and_chance_are_input() {
    judge(
        "environment",
        &[
            ("safe", "char *a = getenv(\"X\"), *b = getenv(\"X\"); assert(a == b);"),
            ("fails", "char *a = getenv(\"X\"), *b = getenv(\"Y\"); assert(!a || !b || a[0] == b[0]);"),
            ("fails", "char *home = getenv(\"HOME\"); if (home) assert(home[0] == '/');"),
            ("safe", "assert(rand() >= 0 && rand() <= RAND_MAX);"),
            ("safe", "long kept; extern long time(long *); assert(time(&kept) == kept);"),
        ],
    );
}

#[test]
fn qsort_and_bsearch_call_the_comparison() {
    let head = "#include <assert.h>\n#include <stdlib.h>\nextern int __VERIFIER_nondet_int(void);\nint calls;\n\
        struct pair { int key, place; };\n\
        int up(const void *a, const void *b) { calls = 1; int x = *(const int *)a, y = *(const int *)b; return x < y ? -1 : x > y; }\n";
    let cases = [
        (
            "safe",
            "int a[3]; for (int i = 0; i < 3; i++) a[i] = __VERIFIER_nondet_int(); qsort(a, 3, 4, up); assert(a[0] <= a[1] && a[1] <= a[2]);",
        ),
        ("unsafe", "int a[2] = {2, 1}; qsort(a, 2, 4, up); assert(calls == 0);"),
        ("safe", "int a[3] = {1, 3, 5}, key = 3; assert((int *)bsearch(&key, a, 3, 4, up) == a + 1);"),
        // In which order equal elements come is open, and up to the real library in a replay.
        ("unknown", "struct pair a[2] = {{1, 1}, {1, 2}}; qsort(a, 2, 8, up); assert(a[0].place == 1);"),
    ];
    for (i, (right, body)) in cases.into_iter().enumerate() {
        let text = format!("{head}int main(void) {{ {body} return 0; }}\n");
        assert_eq!(verdict(&format!("sort-{i}"), &text, &[]).0, right, "{body}");
    }
}

#[test]
fn functions_that_only_have_a_name_of_the_library_are_inputs() {
    let head = "#include <assert.h>\nextern int scanf(const char *, ...);\n";
    let cases = [
        ("fails", "extern int read(void); int x; if (scanf(\"%d\", &x) == 1 && x == 3) assert(read() != 5);"),
        ("fails", "extern int getline(void); assert(getline() != 5);"),
        ("fails", "extern int qsort(int); assert(qsort(3) == 3);"),
    ];
    for (i, (_, body)) in cases.into_iter().enumerate() {
        let text = format!("{head}int main(void) {{ {body} return 0; }}\n");
        let found = verdict(&format!("names-{i}"), &text, &[]);
        // The compiler knows better than to replay the last one: `qsort` is of the library.
        assert_eq!(found.0, if i == 2 { "unknown" } else { "unsafe" }, "{body}: {found:?}");
    }
}

#[test]
fn what_is_printed_into_memory_ends_within_its_size() {
    judge(
        "print",
        &[
            (
                "safe",
                "char b[8]; int x; scanf(\"%d\", &x); snprintf(b, 8, \"%d\", x); assert(strlen(b) < 8);",
            ),
            ("safe", "char b[8], c = 7; snprintf(&c, 0, \"abc\"); assert(c == 7 || c != 7);"),
            ("safe", "char b[8]; assert(snprintf(b, 8, \"%d\", 5) >= -1);"),
            ("safe", "char b[8]; assert(sprintf(b, \"a%sc\", \"b\") == 3 && !strcmp(b, \"abc\"));"),
            ("fails", "char b[8]; int c = getchar(); sprintf(b, \"%c%%\", c); assert(strcmp(b, \"q%\"));"),
            ("fails", "char b[8]; sprintf(b, \"%d\", 42); assert(b[0] != '4');"),
            ("safe", "char b[8]; sprintf(b, \"%d\", 42); assert(b[0] == '4' && !b[2]);"),
            ("unknown", "char b[80]; sprintf(b, \"%g\", 4.0); assert(b[0] == '4');"),
            ("fails", "char b[80]; sprintf(b, \"%g\", 4.0); assert(b[0] != '4');"),
            ("safe", "int n; char b[8]; snprintf(b, 8, \"ab%nc\", &n); assert(n == 2);"),
            ("fails", "int n = 1; printf(\"ab%n\", &n); assert(n == 1);"),
        ],
    );
}
