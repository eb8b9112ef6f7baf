//! Models of functions of the C library against the library itself: one program computes a number
//! from many results, compiled with gcc and by the interpreter.

use std::fs;
use std::process::Command;

use wherefore_frontend::c::{Options, translate};
use wherefore_program::{Interpreter, Program, TargetChoice};

/// The value of `result` when the run is over.
fn interpreted(program: &Program) -> u64 {
    let targets = program.targets(&TargetChoice::Default).expect("targets");
    assert!(targets.is_empty(), "nothing fails");
    let result = program.globals.iter().position(|global| global.name == "result").expect("a result");
    let before: usize = program.globals[..result].iter().map(|global| global.ty.cell_count()).sum();
    let interpreter = Interpreter::new(program);
    let mut state = interpreter.initial_states(1).0.remove(0);
    for _ in 0..3_000_000 {
        match interpreter.successors(&state, 1).0.into_iter().next() {
            Some((_, next)) => state = next,
            None => return state.globals[before],
        }
    }
    panic!("the run does not end");
}

fn compiled(file: &std::path::Path) -> u64 {
    let binary = file.with_extension("exe");
    let judge = file.with_file_name("judge.c");
    let text = "#include <stdio.h>\nextern unsigned long long result; void compute(void);\n\
        int main(void) { compute(); printf(\"%llu\", result); return 0; }\n";
    fs::write(&judge, text).expect("the judge is written");
    let status = Command::new("cc")
        .args(["-w", "-O0", "-fwrapv", "-fno-builtin", "-Dmain=compute", "-c", "-o"])
        .arg(file.with_extension("o"))
        .arg(file)
        .status();
    assert!(status.expect("the compiler runs").success());
    let linked = Command::new("cc").arg("-o").arg(&binary).arg(file.with_extension("o")).arg(&judge).status();
    assert!(linked.expect("the compiler runs").success());
    let output = Command::new(&binary).output().expect("the program runs");
    String::from_utf8_lossy(&output.stdout).parse().expect("a number")
}

/// A program with these declarations whose `main` mixes numbers into the result.
fn agree(name: &str, declarations: &str, body: &str) {
    let folder = std::env::temp_dir().join(format!("wherefore-library-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("program.c");
    let text = format!(
        "{declarations}\nunsigned long long result = 7;\n\
         void mix(unsigned long long x) {{ result = result * 1000003u + x; }}\nint main(void) {{\n{body}\nreturn 0;\n}}\n"
    );
    fs::write(&file, text).expect("the program is written");
    let translation = translate(std::slice::from_ref(&file), &Options::default());
    let translation = translation.unwrap_or_else(|error| panic!("{}", error.render()));
    assert_eq!(interpreted(&translation.program), compiled(&file), "{name}");
    let _ = fs::remove_dir_all(folder);
}

#[test]
fn classes_of_characters() {
    let all = "isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit tolower toupper";
    let each: Vec<String> = all.split(' ').map(|name| format!("mix({name}(c));")).collect();
    agree("ctype", "#include <ctype.h>", &format!("for (int c = -1; c < 256; c++) {{ {} }}", each.join(" ")));
}

#[test]
fn numbers_in_texts() {
    let texts = [
        "0",
        "42",
        "-17",
        "+8",
        "  99x",
        "\\t-3",
        "",
        "-",
        "abc",
        "2147483647",
        "-2147483648",
        "9223372036854775807",
        "-9223372036854775808",
        "9223372036854775808",
        "99999999999999999999",
        "-99999999999999999999",
        "007",
        "1 2",
    ];
    let each = |text: &&str| format!("mix(atoi(\"{text}\")); mix(atol(\"{text}\")); mix(atoll(\"{text}\"));");
    let body: Vec<String> = texts.iter().map(each).collect();
    agree("numbers", "#include <stdlib.h>", &body.join("\n"));
}

#[test]
fn parts_of_texts() {
    let texts = ["", "a", "abc", "abcabd", "Hello, World", "hello", "HELLO", "aaa", "cab", ",. "];
    let mut body = String::from("char room[40];\n");
    for a in texts {
        body.push_str(&format!(
            "{{ const char *a = \"{a}\"; mix(strnlen(a, 4)); mix(strchrnul(a, 'l') - a); mix(stpcpy(room, a) - room);\n\
             mix(room[0]); mix((char *)mempcpy(room, a, 1) - room); bzero(room, 3); mix(room[1]); }}\n"
        ));
        for b in texts {
            body.push_str(&format!(
                "{{ const char *a = \"{a}\", *b = \"{b}\"; char *found;\n\
                 mix(strspn(a, b)); mix(strcspn(a, b)); found = strpbrk(a, b); mix(found ? found - a : 99);\n\
                 found = strstr(a, b); mix(found ? found - a : 99); int d = strcasecmp(a, b); mix(d < 0 ? 1 : d > 0 ? 2 : 3);\n\
                 d = strncasecmp(a, b, 3); mix(d < 0 ? 1 : d > 0 ? 2 : 3); }}\n"
            ));
        }
    }
    body.push_str(
        "char *copy = strndup(\"abcdef\", 3); mix(copy[2]); mix(copy[3]); mix(bcmp(\"abc\", \"abd\", 2));\n",
    );
    agree("strings", "#define _GNU_SOURCE\n#include <string.h>\n#include <strings.h>", &body);
}

#[test]
fn integers_in_any_base() {
    let texts = [
        "0",
        "42",
        "-17",
        "+8",
        "  99x",
        "\\t-3",
        "",
        "-",
        "+ 1",
        "abc",
        "0x1fG",
        "0X",
        "-0x",
        "0xg",
        "  0x",
        "077",
        "08",
        "0b11",
        "zZ",
        "7fffffffffffffff",
        "2147483648",
        "-2147483649",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "-9223372036854775809",
        "18446744073709551615",
        "18446744073709551616",
        "-18446744073709551615",
        "-18446744073709551616",
        "99999999999999999999 1",
        "-1",
    ];
    let mut body = String::from("char *end;\n");
    for text in texts {
        body.push_str(&format!(
            "{{ const char *text = \"{text}\"; static const int bases[] = {{0, 2, 8, 10, 16, 36, 1, 37, -1}};\n\
             for (int i = 0; i < 9; i++) {{ int base = bases[i]; const char *none = text;\n"
        ));
        for function in ["strtol", "strtoul", "strtoll", "strtoull"] {
            body.push_str(&format!(
                "errno = 0; end = (char *)none; mix({function}(text, &end, base)); mix(end - text); mix(errno);\n\
                 mix({function}(text, 0, base));\n"
            ));
        }
        body.push_str("}}\n");
    }
    agree("bases", "#include <stdlib.h>\n#include <errno.h>", &body);
}

#[test]
fn other_functions_on_memory_and_tables() {
    let head = "#define _GNU_SOURCE\n#include <search.h>\n#include <string.h>\n#include <strings.h>\n#include <time.h>\n#include <stdlib.h>\n\
        static int same(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }";
    let body = "char room[12] = \"abcdef\", other[12] = \"zzzzzzzzzzz\"; bcopy(room, room + 2, 6); for (int i = 0; i < 12; i++) mix(room[i]);\n\
        mix(strcoll(\"a\", \"b\") < 0); mix(strxfrm(other, \"abc\", 2)); for (int i = 0; i < 5; i++) mix(other[i]);\n\
        mix(strxfrm(other, \"abc\", 10)); for (int i = 0; i < 5; i++) mix(other[i]);\n\
        for (int i = 0; i < 20; i++) mix(ffs(i * 8)); mix(ffsl(1l << 40)); mix(ffsll(0));\n\
        int table[8] = {3, 1, 4}; size_t count = 3; for (int i = 0; i < 6; i++) { int *found = lfind(&i, table, &count, 4, same); mix(found ? found - table : 99); }\n\
        for (int i = 0; i < 6; i++) { int *found = lsearch(&i, table, &count, 4, same); mix(found - table); mix(count); }\n\
        mix(difftime(100, 60) == 40.0);";
    agree("tables", head, body);
}

#[test]
fn sorting_and_searching_call_back() {
    let head = "#include <stdlib.h>\n\
        static int up(const void *a, const void *b) { return *(const int *)a < *(const int *)b ? -1 : *(const int *)a > *(const int *)b; }\n\
        static int down(const void *a, const void *b) { return up(b, a); }\n\
        struct pair { char key; short value; };\n\
        static int keys(const void *a, const void *b) { return ((const struct pair *)a)->key - ((const struct pair *)b)->key; }";
    let body = "int numbers[] = {5, -3, 9, 0, 2147483647, 7, -8, 1}; int key = 7, none = 6, *found;\n\
        qsort(numbers, 8, sizeof *numbers, up); for (int i = 0; i < 8; i++) mix(numbers[i]);\n\
        for (int i = -9; i < 11; i++) { found = bsearch(&i, numbers, 8, sizeof *numbers, up); mix(found ? found - numbers : 99); }\n\
        qsort(numbers, 8, sizeof *numbers, down); for (int i = 0; i < 8; i++) mix(numbers[i]);\n\
        qsort(numbers, 0, sizeof *numbers, up); mix(bsearch(&none, numbers, 0, sizeof *numbers, up) == 0);\n\
        struct pair pairs[] = {{'c', 1}, {'a', 2}, {'b', 3}, {'e', 4}, {'d', 5}};\n\
        qsort(pairs, 5, sizeof *pairs, keys); for (int i = 0; i < 5; i++) mix(pairs[i].value);";
    agree("sort", head, body);
}

#[test]
fn texts_that_are_printed_into_memory() {
    let mut body =
        String::from("char room[24]; const char *words[] = {\"\", \"a\", \"abc\", \"longer than that\"};\n");
    for (format, arguments) in [
        ("plain", ""),
        ("", ""),
        ("%s", ", word"),
        ("<%s|%c>", ", word, 'x'"),
        ("100%%%c", ", 0"),
        ("%s%s", ", word, word"),
    ] {
        // Two long words are too much for the room without a limit.
        let unlimited = if format == "%s%s" { "" } else { "all(sprintf(room, FORMAT));" };
        let limited = "for (size_t size = 0; size < 20; size++) all(snprintf(room, size, FORMAT));";
        let calls = format!("{unlimited} {limited}").replace("FORMAT", &format!("\"{format}\"{arguments}"));
        body.push_str(&format!("for (int i = 0; i < 4; i++) {{ const char *word = words[i]; {calls} }}\n"));
    }
    let head = "#include <stdio.h>\n#include <string.h>\nvoid mix(unsigned long long);\n\
        #define all(call) memset(room, 'z', sizeof room), mix(call), each(room)\n\
        void each(const char *room) { for (int i = 0; i < 24; i++) mix(room[i]); }";
    agree("print", head, &body);
}

/// Numbers with flags, widths, precisions and lengths: all are exact.
#[test]
fn numbers_that_are_printed_into_memory() {
    let conversions = ["d", "i", "u", "x", "X", "o"];
    let layouts =
        ["", "5", "-5", "05", "+", " ", "#", ".3", ".0", "8.3", "-8.3", "08", "+07", "#8", "#.0", "- 6"];
    let mut body = String::from(
        "char room[80]; int values[] = {0, 1, -1, 42, -42, 2147483647, -2147483647 - 1, 0x1f0};\n\
         long wide[] = {0, -1, 99, 0x7fffffffffffffff, -0x7fffffffffffffff - 1, 0x123456789abcdef};\n",
    );
    let mut narrow = String::new();
    let mut long = String::new();
    for conversion in conversions {
        for layout in layouts {
            narrow.push_str(&format!("all(sprintf(room, \"<%{layout}{conversion}>\", v));\n"));
        }
        for length in ["hh", "h"] {
            narrow.push_str(&format!("all(sprintf(room, \"%{length}{conversion}\", v));\n"));
        }
        for length in ["l", "ll", "z", "j", "t"] {
            long.push_str(&format!("all(snprintf(room, 12, \"%4{length}{conversion};\", w));\n"));
        }
        narrow.push_str(&format!("all(sprintf(room, \"%*{conversion}|%.*{conversion}|%-*.*{conversion}\", 6, v, 3, v, -7, -1, v));\n"));
    }
    let texts = "all(sprintf(room, \"%5s|%-5s|%.2s|%8.2s|%5c|%-5c|%*s\", \"abc\", \"abc\", \"abc\", \"abc\", 'x', 'y', -4, \"d\"));\n\
        int n; all(sprintf(room, \"ab%nc%s\", &n, \"d\")); mix(n);";
    body.push_str(&format!("for (int i = 0; i < 8; i++) {{ int v = values[i]; {narrow} }}\n"));
    body.push_str(&format!("for (int i = 0; i < 6; i++) {{ long w = wide[i]; {long} }}\n{texts}"));
    let head = "#include <stdio.h>\n#include <string.h>\nvoid mix(unsigned long long);\n\
        #define all(call) memset(room, 'z', sizeof room), mix(call), each(room)\n\
        void each(const char *room) { for (int i = 0; i < 48; i++) mix(room[i]); }";
    agree("numbers", head, &body);
}

#[test]
fn floating_point_numbers_in_texts() {
    let texts = [
        "0",
        "-0",
        "1",
        "+2.5",
        "  -3.25e2x",
        ".5",
        "5.",
        ".",
        "",
        "-",
        "e5",
        "1e",
        "1e+",
        "1e5",
        "1E-3",
        "12e-22",
        "9007199254740992",
        "4503599627370497e3",
        "0x1p4",
        "0x.8",
        "0x",
        "0xg",
        "-0x1.8p-1",
        "0x1p",
        "0x10.4p+2q",
        "inf",
        "-INFINITY",
        "infinit",
        "nan",
        "-nanx",
        "1.5.5",
        "1 2",
        "000.125",
        "123456789.125",
        "1e400",
        "1e-500",
        "0.0000000000000000000000000000000000",
        "0e999999",
        "3.0e22",
    ];
    let mut body = String::from("char *end;\n");
    for text in texts {
        body.push_str(&format!(
            "{{ const char *text = \"{text}\"; errno = 0; end = 0; bits(strtod(text, &end)); mix(end - text); mix(errno);\n\
             bits(atof(text)); end = 0; errno = 0; narrow(strtof(text, &end)); mix(end - text); }}\n"
        ));
    }
    let head = "#include <stdlib.h>\n#include <errno.h>\n#include <string.h>\nvoid mix(unsigned long long);\n\
        void bits(double x) { unsigned long long y; memcpy(&y, &x, 8); mix(y); }\n\
        void narrow(float x) { unsigned y; memcpy(&y, &x, 4); mix(y); }";
    agree("reals", head, &body);
}

#[test]
fn what_is_read_from_texts_by_a_format() {
    let mut body = String::from(
        "int x, y, n; long l; short s; signed char c; unsigned u; double d; float f; char w[20], v[20];\n",
    );
    let numbers = [
        "",
        " ",
        "12",
        "-7 8",
        "+",
        "0x1f",
        "0xg",
        "x1",
        "12a34",
        "99999999999",
        "0777",
        "1,2",
        "08",
        "-0x10",
        "123456",
    ];
    for text in numbers {
        for (format, arguments) in [
            ("%d", "&x"),
            ("%i%d", "&x, &y"),
            ("%d%d", "&x, &y"),
            ("%d,%d", "&x, &y"),
            ("%x%n", "&u, &n"),
            ("%o", "&u"),
            ("%u%s", "&u, w"),
            ("%2d%3d", "&x, &y"),
            ("%*d%d", "&x"),
            ("%ld", "&l"),
            ("%hd%hhd", "&s, &c"),
            ("%1x%2i", "&u, &x"),
            ("%3i", "&x"),
            ("a%d", "&x"),
            (" %d%%", "&x"),
            ("%*x%n", "&n"),
        ] {
            body.push_str(&format!("all(sscanf(\"{text}\", \"{format}\", {arguments}));\n"));
        }
    }
    for text in ["", "abc", "  abc def", "key = value", "a]b", "x-y", "<tag>", "100%", "ab"] {
        for (format, arguments) in [
            ("%s%s", "w, v"),
            ("%3s%c", "w, v"),
            ("%c%c", "w, v"),
            ("%5c", "w"),
            ("%[a-c]%s", "w, v"),
            ("%[^=]= %s", "w, v"),
            ("%[]a]%n", "w, &n"),
            ("%[^]-]", "w"),
            ("%[x-]", "w"),
            ("<%9[^>]>%n", "w, &n"),
            ("%*s %s", "w"),
            (" %c", "w"),
            ("%*[a-z]%n", "&n"),
            ("%d%%", "&x"),
            ("%2[a-z]%[a-z]", "w, v"),
        ] {
            body.push_str(&format!("all(sscanf(\"{text}\", \"{format}\", {arguments}));\n"));
        }
    }
    for text in ["1.5", "-2e3 4", "x", "", ".5.5", "7"] {
        body.push_str(&format!("all(sscanf(\"{text}\", \"%lf%f%n\", &d, &f, &n));\n"));
    }
    let head = "#include <stdio.h>\n#include <string.h>\nvoid mix(unsigned long long);\n\
        void each(const char *room) { for (int i = 0; i < 6; i++) mix(room[i]); }\n\
        #define all(call) (x = y = n = 77, l = s = c = u = 78, d = f = 0.5, memset(w, 'z', 20), memset(v, 'y', 20), \\\n\
          mix(call), mix(x), mix(y), mix(n), mix(l), mix(s), mix(c), mix(u), mix((long long)(d * 8)), mix((long long)(f * 8)), each(w), each(v))";
    agree("sscanf", head, &body);
}

#[test]
fn parts_of_names_of_files() {
    let paths =
        ["", "/", "//", "///", "a", "a/", "/a", "//a", "a/b", "a//b//", "/a/b", "/a/", "///a", "a/b/c", "."];
    let each = |path: &&str| {
        format!(
            "strcpy(room, \"{path}\"); text(basename(room)); text(__xpg_basename(room)); text(room);\n\
             strcpy(room, \"{path}\"); text(dirname(room)); text(room);\n"
        )
    };
    let body: String = paths.iter().map(each).collect();
    let head = "#define _GNU_SOURCE\n#include <string.h>\nvoid mix(unsigned long long);\n\
        extern char *__xpg_basename(char *), *dirname(char *); static char room[20];\n\
        static void text(const char *text) { for (; *text; text++) mix(*text); mix(0); }";
    agree("paths", head, &body);
}

#[test]
fn options_of_commands() {
    let lines = [
        "",
        "-v",
        "-n 5",
        "-n5 -v",
        "-vn5 x",
        "-v b",
        "-n 7 -v c",
        "-v -- -n x",
        "a b",
        "-x",
        "-vxn",
        "-n",
        "-v -n",
        "- x",
        "-o -v",
        "-ofile",
        "-- b",
        "--",
        "-v -- -n",
        "--number=4 a",
        "--number 4",
        "--num",
        "--n=3 -v",
        "--verbose",
        "--verb a",
        "--verbose=1",
        "--none",
        "--flag x",
        "--ver --number",
        "--optional --optional=z b",
        "--=x",
        "-:",
    ];
    let mut body = String::new();
    for (i, line) in lines.iter().enumerate() {
        let words: Vec<String> = line.split_whitespace().map(|word| format!("\"{word}\"")).collect();
        let options = ["n:vo::", "+n:vo::", "-n:vo::", ":n:vo::"];
        for (j, options) in options.iter().enumerate() {
            let is_long = i >= 19 || j == 0;
            body.push_str(&format!(
                "{{ char *words[] = {{\"run\", {} 0}}; all({}, words, \"{options}\", {}); }}\n",
                words.iter().map(|word| format!("{word},")).collect::<String>(),
                words.len() + 1,
                u8::from(is_long)
            ));
        }
    }
    let head = "#include <getopt.h>\n#include <string.h>\nvoid mix(unsigned long long); static int flag;\n\
        static const struct option names[] = {{\"number\", 1, 0, 'N'}, {\"verbose\", 0, 0, 'v'}, {\"version\", 0, 0, 'V'},\n\
          {\"flag\", 0, &flag, 9}, {\"optional\", 2, 0, 300}, {0, 0, 0, 0}};\n\
        static void text(const char *text) { mix(text != 0); if (text) for (; *text; text++) mix(*text); }\n\
        static void all(int count, char **words, const char *options, int is_long) {\n\
          int c, at = 77, left = 12; optind = 0; opterr = 0; flag = 3;\n\
          while ((c = is_long ? getopt_long(count, words, options, names, &at) : getopt(count, words, options)) != -1 && left-- > 0) {\n\
            mix(c); mix(at); mix(flag); mix(optind); text(optarg); if (c == '?' || c == ':') mix(optopt); }\n\
          mix(optind); for (int i = 0; i < count; i++) text(words[i]); }";
    agree("options", head, &body);
}

/// Formats that are read while the program runs, and what a call that prints returns.
#[test]
fn formats_that_are_no_constants() {
    let head = "#define _GNU_SOURCE\n#include <stdarg.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
        void mix(unsigned long long); static char room[48];\n\
        static void all(size_t size, const char *format, ...) { va_list list; memset(room, 'z', sizeof room);\n\
          va_start(list, format); mix(vsnprintf(room, size, format, list)); va_end(list);\n\
          for (int i = 0; i < 40; i++) mix(room[i]); }\n\
        static void each(const char *room) { for (int i = 0; i < 40; i++) mix(room[i]); }\n\
        static int print(const char *format, ...) { va_list list; va_start(list, format);\n\
          FILE *null = fopen(\"/dev/null\", \"w\"); int length = vfprintf(null, format, list); va_end(list); return length; }";
    let mut body = String::from(
        "int values[] = {0, -1, 42, -2147483647 - 1}; long wide[] = {-1, 99, 0x7fffffffffffffff};\n\
         FILE *null = fopen(\"/dev/null\", \"w\");\n",
    );
    let (mut narrow, mut long) = (String::new(), String::new());
    for conversion in ["d", "u", "X", "o"] {
        for layout in ["", "-5", "05", "+", "#", ".3", "-8.3"] {
            narrow.push_str(&format!("all(40, \"<%{layout}{conversion}>\", v);\n"));
        }
        for length in ["hh", "h"] {
            narrow.push_str(&format!("all(40, \"%{length}{conversion}\", v);\n"));
        }
        for length in ["l", "ll", "z"] {
            long.push_str(&format!("all(5, \"%4{length}{conversion};\", w);\n"));
        }
    }
    narrow.push_str(
        "all(40, \"%*d|%-*.*i\", 6, v, -7, -1, v);\n\
         mix(fprintf(null, \"%5d|%x\", v, v)); mix(print(\"%d-%o\", v, v)); mix(fputc(v, null));\n",
    );
    body.push_str(&format!("for (int i = 0; i < 4; i++) {{ int v = values[i]; {narrow} }}\n"));
    body.push_str(&format!("for (int i = 0; i < 3; i++) {{ long w = wide[i]; {long} }}\n"));
    body.push_str(
        "int n; all(40, \"ab%nc%s%%\", &n, \"d\"); mix(n); all(0, \"%s\", \"abc\");\n\
         all(40, \"%5s|%-5s|%.2s|%c|%-3c|\", \"abc\", \"abc\", \"abc\", 'x', 'y');\n\
         const char *format = values[1] ? \"%s=%d\" : \"%d\"; char *made; memset(room, 0, sizeof room);\n\
         mix(sprintf(room, format, \"x\", 7)); each(room); mix(snprintf(room, 3, format, \"long\", 7)); each(room);\n\
         mix(asprintf(&made, format, \"y\", 8)); mix(strlen(made)); mix(made[2]);\n\
         mix(fprintf(null, \"plain\")); mix(fprintf(null, format, \"z\", 9)); mix(fwrite(room, 3, 5, null));\n\
         mix(fwrite(room, 0, 5, null)); mix(fflush(null)); mix(fputs(\"x\", null) >= 0); mix(fclose(null));",
    );
    agree("formats", head, &body);
}

#[test]
fn words_of_texts() {
    let mut body = String::from("char room[32]; char *rest, *word;\n");
    for (text, separators) in
        [(",a,,bc;d", ",;"), ("", ","), (",,,", ","), ("abc", ""), ("a b  c", " "), ("x,", ",")]
    {
        body.push_str(&format!(
            "strcpy(room, \"{text}\"); for (word = strtok(room, \"{separators}\"); word; word = strtok(0, \"{separators}\")) {{ mix(word - room); mix(strlen(word)); }}\n\
             strcpy(room, \"{text}\"); for (word = strtok_r(room, \"{separators}\", &rest); word; word = strtok_r(0, \"{separators}\", &rest)) mix(word - room);\n\
             strcpy(room, \"{text}\"); rest = room; while ((word = strsep(&rest, \"{separators}\"))) {{ mix(word - room); mix(strlen(word)); }}\n"
        ));
    }
    agree("words", "#define _GNU_SOURCE\n#include <string.h>", &body);
}

#[test]
fn other_functions_on_texts_and_numbers() {
    let mut body = String::from("char room[16]; char *at;\n");
    for (text, part) in [("abcabd", "abd"), ("xABCy", "bc"), ("aaa", "aaaa"), ("abc", ""), ("", "a")] {
        body.push_str(&format!(
            "at = strcasestr(\"{text}\", \"{part}\"); mix(at ? strlen(at) : 99);\n\
             at = memmem(\"{text}\", sizeof \"{text}\" - 1, \"{part}\", sizeof \"{part}\" - 1); mix(at ? strlen(at) : 99);\n\
             memset(room, 7, 16); mix(stpncpy(room, \"{text}\", 5) - room); for (int i = 0; i < 16; i++) mix(room[i]);\n\
             memset(room, 7, 16); at = memccpy(room, \"{text}\", 'c', sizeof \"{text}\"); mix(at ? at - room : 99); mix(room[3]);\n"
        ));
    }
    body.push_str(
        "for (int a = -9; a < 10; a++) for (int b = -4; b < 5; b++) if (b) { div_t d = div(a, b); ldiv_t l = ldiv(a, b); lldiv_t w = lldiv(a, b); \
         mix(d.quot); mix(d.rem); mix(l.quot); mix(l.rem); mix(w.quot); mix(w.rem); }\n",
    );
    agree("others", "#define _GNU_SOURCE\n#include <stdlib.h>\n#include <string.h>", &body);
}
