//! The rules of C as checks: each kind with programs that keep it and that break it, and random
//! programs against the sanitizers of the compiler.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use wherefore_check::{Answer, Budget, Question, Replaying, Session, Verdict, answer};
use wherefore_flow::{Available, Known, Ranges};
use wherefore_frontend::c::{Options, translate_text};
use wherefore_program::{ErrorKind, Interpreter, Operation, Task, Var, ViolationKind};
use wherefore_testing::{cases, seed};

fn options() -> Options {
    Options { checks: ViolationKind::ALL.into_iter().collect::<BTreeSet<_>>(), ..Options::default() }
}

fn decide(name: &str, text: &str, replaying: Replaying) -> (Task, Answer) {
    let task = translate_text(name, text, &options())
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
        .into_task(&[name.into()], &options());
    let question = Question { replaying, ..Question::default() };
    let budget = Budget::default().within(Duration::from_secs(20));
    let answer = answer(&task, &question, &Session::default(), &budget);
    (task, answer)
}

/// The kinds and lines of the checks that can fail. All others must hold.
fn failing(text: &str) -> Vec<(&'static str, u32)> {
    let (task, answer) = decide("rules.c", text, Replaying::Off);
    let mut found = Vec::new();
    for (check, verdict) in task.checks.iter().zip(&answer.verdicts) {
        let line = task.program.line(check.node).unwrap_or_default();
        let kind = match &check.kind {
            ErrorKind::Violation(kind) => kind.name(),
            _ => "assertion",
        };
        match verdict {
            Verdict::Unsafe(_) => found.push((kind, line)),
            Verdict::Safe(_) => {}
            Verdict::Unknown(why) => panic!("{kind} in line {line}: {}\n{text}", why.words(&task.program)),
        }
    }
    found.sort_by_key(|(_, line)| *line);
    found
}

const HEAD: &str = "typedef unsigned long size_t; void *malloc(size_t); void free(void *); \
                    void *realloc(void *, size_t); void *memcpy(void *, const void *, size_t); \
                    char *strcpy(char *, const char *); size_t strlen(const char *); void exit(int); \
                    int in(void); unsigned un(void);\n";

fn fails(body: &str) -> Vec<(&'static str, u32)> {
    failing(&format!("{HEAD}{body}"))
}

#[test]
fn arithmetic_leaves_its_type() {
    assert_eq!(fails("int main(void) { int x = in(); return x + 1; }"), [("overflow", 2)]);
    assert_eq!(fails("int main(void) { int x = in(); if (x < 9)\n return x + 1; return 0; }"), []);
    assert_eq!(fails("int main(void) { unsigned x = un(); return (int)(x + 1u); }"), []);
    assert_eq!(fails("int main(void) { long x = in(); return (int)(x * x); }"), []);
    assert_eq!(fails("int main(void) { int x = in();\n return x * x; }"), [("overflow", 3)]);
    assert_eq!(fails("int main(void) { signed char c = in();\n c++; return -c; }"), []);
    assert_eq!(fails("int main(void) { int x = in();\n return -x; }"), [("overflow", 3)]);
    assert_eq!(
        fails("int main(void) { long x = in();\n x = x << 32;\n return x + x < 0; }"),
        [("overflow", 4)]
    );
    assert_eq!(
        fails("int main(void) { int x = in(), y = in();\n x = x - 5;\n return 5 - y; }"),
        [("overflow", 3), ("overflow", 4)]
    );
}

#[test]
fn divisions_and_shifts() {
    assert_eq!(fails("int main(void) { int x = in();\n return 7 / x; }"), [("division", 3)]);
    assert_eq!(fails("int main(void) { int x = in();\n return x && 7 % x; }"), []);
    assert_eq!(fails("int main(void) { int x = in();\n return x ? in() / x : 0; }"), [("overflow", 3)]);
    assert_eq!(fails("int main(void) { unsigned x = un();\n return 1u << x; }"), [("shift", 3)]);
    assert_eq!(fails("int main(void) { unsigned x = un();\n return 1u << (x & 31); }"), []);
    assert_eq!(fails("int main(void) { int x = in();\n return 5 >> x; }"), [("shift", 3)]);
    // What is computed and not used breaks rules all the same.
    assert_eq!(fails("int main(void) { int x = in();\n 7 / x; return 0; }"), [("division", 3)]);
}

#[test]
fn built_in_functions_are_called_where_they_are_defined() {
    for call in ["clz(x)", "ctz(x)", "clzl(x)", "ctzl(x)", "clzll(x)", "ctzll(x)"] {
        let open = format!("int main(void) {{ unsigned x = un();\n return __builtin_{call}; }}");
        assert_eq!(fails(&open), [("builtin", 3)], "{call}");
        let guarded = format!("int main(void) {{ unsigned x = un();\n return x ? __builtin_{call} : 9; }}");
        assert_eq!(fails(&guarded), [], "{call}");
    }
    for call in ["ffs(x)", "popcount(x)", "parity(x)", "clrsb(x)", "ffsll(x)"] {
        let text = format!("int main(void) {{ unsigned x = un();\n return __builtin_{call}; }}");
        assert_eq!(fails(&text), [], "{call}");
    }
    assert_eq!(fails("int main(void) {\n return __builtin_clz(0); }"), [("builtin", 3)]);
    // Only the low bits are looked at.
    assert_eq!(fails("int main(void) { long x = 1L << 32;\n return __builtin_ctz(x); }"), [("builtin", 3)]);
    let reached = "int main(void) { if (in() == 3)\n __builtin_unreachable(); return 0; }";
    assert_eq!(fails(reached), [("builtin", 3)]);
    let not_reached = "int main(void) { int x = un() % 3; if (x == 3) __builtin_unreachable(); return x; }";
    assert_eq!(fails(not_reached), []);
}

/// Arithmetic on a pointer from outside does not make it NULL.
#[test]
fn pointers_from_outside_are_not_near_null() {
    let with = |body: &str| {
        format!(
            "struct list {{ struct list *next; }}; struct item {{ int key; struct list l; }};
struct list *get(void); char *text(void); int main(void) {{ struct list *p = get(); char *t = text();\n{body} return 0; }}"
        )
    };
    let item = "(struct item *)((char *)p - __builtin_offsetof(struct item, l))";
    let guarded = [
        format!("if (p) {{ struct item *i = {item}; i->key = 3; }}"),
        "if (t) { char *u = t + 10; *u = 1; }".to_owned(),
        "if (t) { char *u = t - 1; *u = 1; }".to_owned(),
        "if (p) { struct list *q = p + 3; q->next = 0; }".to_owned(),
    ];
    for body in &guarded {
        assert_eq!(fails(&with(body)), [], "{body}");
    }
    assert_eq!(fails(&with("*t = 1;")), [("null", 4)]);
    assert_eq!(fails(&with("if (p && !p->next)\n *p->next = *p;")), [("null", 5)]);
}

#[test]
fn indices_stay_in_their_arrays() {
    assert_eq!(fails("int main(void) { int a[3], i = in();\n a[i] = 1;\n return a[i]; }"), [("bounds", 3)]);
    assert_eq!(fails("int main(void) { int a[3], i = un() % 3;\n a[i] = 1;\n return a[i]; }"), []);
    assert_eq!(
        fails("int main(void) { int a[2][3], i = un() % 4;\n a[1][i] = 1; return 0; }"),
        [("bounds", 3)]
    );
    let guarded = "int a[3]; int main(void) { int i = in();\n return i >= 0 && i < 3 && a[i] == 0; }";
    assert_eq!(fails(guarded), []);
    let wrong_order = "int a[3]; int main(void) { int i = in();\n return a[i] == 0 && i >= 0 && i < 3; }";
    assert_eq!(fails(wrong_order), [("bounds", 3)]);
    // The address behind the last element may be computed, and not used.
    let end = "int a[3]; int main(void) { int s = 0; for (int *p = a; p != &a[3]; p++) s += *p; return s; }";
    assert_eq!(fails(end), []);
    let inner = "struct r { int buf[4]; int n; } g; int main(void) { struct r *p = &g;\n p->buf[un() % 5] = 1; return 0; }";
    assert_eq!(fails(inner), [("bounds", 3)]);
    let length = "int main(void) { int n = un() % 4 + 1; int a[n];\n a[0] = 1;\n a[n] = 1; return 0; }";
    assert_eq!(fails(length), [("bounds", 4)]);
}

#[test]
fn pointers_lead_to_objects() {
    assert_eq!(fails("int main(void) { int *p = 0;\n return in() && *p; }"), [("null", 3)]);
    assert_eq!(fails("int main(void) { int x = 0, *p = in() ? &x : 0;\n return p ? *p : 0; }"), []);
    assert_eq!(fails("int main(void) { int x = 1;\n return (&x)[un() % 2]; }"), [("bounds", 3)]);
    let small = "int main(void) { char *p = malloc(3);\n *(int *)p = 1; free(p); return 0; }";
    assert_eq!(fails(small), [("bounds", 3)]);
    let list = "struct n { struct n *next; int v; }; int main(void) { struct n *h = 0; \
                for (int i = 0; i < 3; i++) { struct n *e = malloc(sizeof *e); e->next = h; e->v = i; h = e; }\n \
                int s = 0; for (struct n *e = h; e; e = e->next) s += e->v;\n \
                while (h) { struct n *e = h->next; free(h); h = e; } return s; }";
    assert_eq!(fails(list), []);
    let after = "struct n { struct n *next; }; int main(void) { struct n *h = malloc(sizeof *h); h->next = 0;\n \
                 free(h);\n return h->next != 0; }";
    assert_eq!(fails(after), [("use-after-free", 4)]);
    assert_eq!(fails("void (*f)(void); int main(void) {\n f(); return 0; }"), [("null", 3)]);
}

#[test]
fn memory_is_freed_once_and_where_it_was_given() {
    let twice = "int main(void) { char *p = malloc(3);\n free(p);\n if (in()) free(p); return 0; }";
    assert_eq!(fails(twice), [("double-free", 4)]);
    assert_eq!(
        fails("int main(void) { char *p = malloc(3);\n free(p + 1); return 0; }"),
        [("invalid-free", 3)]
    );
    assert_eq!(fails("int x; int main(void) { int *p = &x;\n free(p); return 0; }"), [("invalid-free", 3)]);
    assert_eq!(fails("int main(void) { free(0); return 0; }"), []);
    let leak = "int main(void) { char *p =\n malloc(3); if (in()) free(p); return 0; }";
    assert_eq!(fails(leak), [("leak", 3)]);
    let ends = "int main(void) { char *p = malloc(3); if (in())\n exit(1);\n free(p); return 0; }";
    assert_eq!(fails(ends), [("leak", 3)]);
    let grown = "int main(void) { char *p = malloc(2); p[1] = 7; p = realloc(p, 4);\n p[3] = 1;\n \
                 int s = p[1];\n p[4] = 1; free(p); return s; }";
    assert_eq!(fails(grown), [("bounds", 5)]);
}

/// The same `fails`, for `--checks` of one kind only.
fn fails_at(kind: &str, body: &str) -> Vec<u32> {
    let found = fails(body);
    assert!(found.iter().all(|(other, _)| *other == kind), "{found:?}: {body}");
    found.into_iter().map(|(_, line)| line).collect()
}

#[test]
fn local_objects_are_not_used_after_their_scope() {
    let scope = |body: &str| fails_at("use-after-scope", body);
    let returned = "int *f(void) { int x = 3; return &x; } int main(void) { int *p = f();\n return *p; }";
    assert_eq!(scope(returned), [3]);
    let parameter = "int *f(int x) { return &x; } int main(void) {\n return *f(3); }";
    assert_eq!(scope(parameter), [3]);
    let global = "int *g; void f(void) { int x = 1; g = &x; } int main(void) { f();\n *g = 2; return 0; }";
    assert_eq!(scope(global), [3]);
    assert_eq!(scope("int main(void) { int *p; { int x = 1; p = &x; }\n return *p; }"), [3]);
    let out = "void f(int **p) { int x = 1; *p = &x; } int main(void) { int *p; f(&p);\n return *p; }";
    assert_eq!(scope(out), [3]);
    // Every way out of a scope ends it.
    for way in ["break;", "goto out;", "if (i) continue; break;"] {
        let left = format!(
            "int main(void) {{ int *p = 0; for (int i = 0; i < 3; i++) {{ int x = i; p = &x; {way} }}\n out: return p ? *p : 0; }}"
        );
        assert_eq!(scope(&left), [3], "{way}");
    }
    // The next object of the same name is another one.
    let again = "int main(void) { int *p = 0, s = 0; for (int i = 0; i < 3; i++) { int x = i;\n if (p) s += *p;\n p = &x; } return s; }";
    assert_eq!(scope(again), [3]);
    let length = "int *g; void f(int n) { int a[n]; a[0] = 1; g = a; } int main(void) { f(3);\n return *g; }";
    assert_eq!(scope(length), [3]);
    let deep = "int *g; int f(int n) { int x = n; g = &x; return n ? f(n - 1) : 0; } int main(void) { f(2);\n return *g; }";
    assert_eq!(scope(deep), [3]);
}

#[test]
fn local_objects_may_be_used_in_their_scope() {
    let good = [
        "struct s { int a, b; }; void init(struct s *p) { p->a = 1; p->b = 2; } \
         int use(void) { struct s x; init(&x); struct s *q = &x; return q->a + q->b; } \
         int main(void) { int t = 0; for (int i = 0; i < 3; i++) { struct s y; init(&y); t += y.a; } return t + use(); }",
        "struct s { int *p; }; void f(struct s *s, int *q) { s->p = q; } \
         int main(void) { for (int i = 0; i < 2; i++) { struct s s; int x = 1; f(&s, &x); if (*s.p != 1) return 1; } return 0; }",
        "int main(void) { int *p = 0; { int x = 3; p = &x; again: x++; if (*p < 6) goto again; } return 0; }",
        "int main(void) { int r = 0; switch (in()) { case 1: { int x = 1, *p = &x; r = *p; break; } case 2: r = 2; } return r; }",
        // Local objects of recursive functions have a size.
        "int f(int *up, int n) { int a[2] = {n, n + 1}; return n ? f(a, n - 1) : up[0] + up[1]; } \
         int main(void) { int z[2] = {5, 6}; return f(z, 3); }",
        "struct n { int v; struct n *next; }; int sum(struct n *l) { int s = 0; for (; l; l = l->next) s += l->v; return s; } \
         int all(struct n *l, int k) { struct n me = {k, l}; return k ? all(&me, k - 1) : sum(&me); } \
         int main(void) { return all(0, 3); }",
    ];
    for body in good {
        assert_eq!(fails(body), [], "{body}");
    }
    let small = "int f(int *up, int n) { int a[2] = {0, 0};\n return n ? f(a, n - 1) : up[2]; } \
                 int main(void) { int z[3] = {0}; return f(z, 1); }";
    assert_eq!(fails(small), [("bounds", 3)]);
}

#[test]
fn variable_arguments_are_no_objects_that_are_outlived() {
    let sum = "int sum(int n, ...) { __builtin_va_list l; __builtin_va_start(l, n); int s = 0; \
               for (int i = 0; i < n; i++) s += __builtin_va_arg(l, int); __builtin_va_end(l); return s; } \
               int main(void) { return sum(2, 3, 4); }";
    assert_eq!(fails(sum), []);
}

#[test]
fn memory_of_the_stack_is_not_freed() {
    let length = "int main(void) { int n = 3, a[n], *p = a; a[0] = 1;\n free(p); return 0; }";
    assert_eq!(fails(length), [("invalid-free", 3)]);
    let taken = "int main(void) { char *p = __builtin_alloca(3);\n free(p); return 0; }";
    assert_eq!(fails(taken), [("invalid-free", 3)]);
    let local = "void drop(int *p) {\n free(p); } int f(int n) { int x = n; if (n) drop(&x); return n ? f(n - 1) : 0; } \
                 int main(void) { return f(1); }";
    assert_eq!(fails(local), [("invalid-free", 3)]);
}

#[test]
fn literals_and_constants_are_not_written_to() {
    let written = "void up(char *s) { for (; *s; s++)\n *s -= 1; } int main(void) { char b[] = \"ok\"; up(b); up(\"bad\"); return 0; }";
    assert_eq!(fails(written), [("bounds", 3)]);
    let kept = "void up(char *s) { for (; *s; s++) *s -= 1; } int main(void) { char b[] = \"ok\", *n = \"lit\"; up(b); return n[0]; }";
    assert_eq!(fails(kept), []);
    let constant = "const int k[2] = {1, 2}; int x; int main(void) { int *p = in() ? &x : (int *)&k[1];\n *p = 3; return 0; }";
    assert_eq!(fails(constant), [("bounds", 3)]);
    let copied = "int main(void) { char *d = \"abc\";\n strcpy(d, \"x\"); return 0; }";
    assert_eq!(fails(copied), [("bounds", 3)]);
}

#[test]
fn what_is_computed_and_not_used_breaks_rules_too() {
    assert_eq!(fails("int main(void) { int x = in();\n x + 1; return 0; }"), [("overflow", 3)]);
    assert_eq!(fails("int main(void) { int *p = 0;\n *p; return 0; }"), [("null", 3)]);
}

#[test]
fn library_functions_break_rules_at_their_calls() {
    let copy = "int main(void) { char a[4], b[8] = {0};\n memcpy(a, b, 4);\n memcpy(a, b, 5); return 0; }";
    assert_eq!(fails(copy), [("bounds", 4)]);
    assert_eq!(
        fails("int main(void) { char a[4];\n strcpy(a, \"abc\");\n strcpy(a, \"abcd\"); return 0; }"),
        [("bounds", 4)]
    );
    assert_eq!(fails("int main(void) { char *p = 0;\n return strlen(p) == 0; }"), [("null", 3)]);
    let absolute = "int abs(int); long labs(long); int main(void) { int x = in();\n int r = abs(x) > 5;\n long l = x;\n r += labs(l) > 5; return r; }";
    assert_eq!(fails(absolute), [("overflow", 3)]);
    let line = "char *gets(char *); int main(void) { char b[4];\n gets(b); return 0; }";
    assert!(fails_at("bounds", line).iter().all(|at| *at == 3));
    assert!(!fails(line).is_empty());
    let word = "int scanf(const char *, ...); int main(void) { char b[4];\n scanf(\"%s\", b); return 0; }";
    assert!(!fails_at("bounds", word).is_empty());
    let limited =
        "int scanf(const char *, ...); int main(void) { char b[4];\n scanf(\"%3s\", b); return 0; }";
    assert_eq!(fails(limited), []);
    let copy = "char *strdup(const char *); int main(void) { char *p =\n strdup(\"a\"); return p[0]; }";
    assert_eq!(fails(copy), [("leak", 3)]);
    let emptied = "int main(void) { char *p = malloc(3); p = realloc(p, 0); return p != 0; }";
    assert_eq!(fails(emptied), []);
}

/// Random statements over a few objects.
fn random_program(mut state: u64) -> String {
    let mut next = move |below: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    let mut text = String::from(
        "#include <stdlib.h>\n#include <string.h>\nstruct s { int f; int g[3]; int h; };\nint a[4]; struct s t; int m[2][3];\n\
         int main(void) {\n  int x = 1, y = 2, l[3] = {0}; long w = 5; struct s u = {0}, *p = &t; int *q = a, *h = malloc(12);\n  \
         h[0] = h[1] = h[2] = 0; char c[6] = \"ab\";\n",
    );
    for _ in 0..4 + next(8) {
        let (i, j, k) = (next(4), next(5), next(7));
        let big = [2147483647_u64, 100000, 3, 65536][next(4) as usize];
        let line = match next(26) {
            0 => format!("x = x + {big};"),
            1 => format!("x = x * {};", big.min(2147483647)),
            2 => "y = x - y;".to_owned(),
            3 => format!("w = w * {big}L;"),
            4 => format!("y = {} / (x - {i});", j + 1),
            5 => format!("y = x % (y - {j});"),
            6 => format!("x = 1 << (y + {});", next(34)),
            7 => format!("a[x & {}] = y;", [1, 3, 7][next(3) as usize]),
            8 => format!("l[{i} - 1] = x;"),
            9 => format!("m[y & 1][{i}] = x;"),
            10 => format!("p = {};", ["&t", "&u", "0", "p"][next(4) as usize]),
            11 => format!("p->g[{i}] = y;"),
            12 => "y = p->f + p->h;".to_owned(),
            13 => format!("q = {};", ["a", "l", "h", "&a[1]", "u.g"][next(5) as usize]),
            14 => format!("q[{}] = {k};", j.saturating_sub(1)),
            15 => "q++;".to_owned(),
            16 => format!("x = *(q + {i});"),
            17 => "free(h);".to_owned(),
            18 => format!("h = malloc({});", 4 * (1 + i)),
            19 => format!("h[{i}] = x;"),
            20 => format!("memcpy(c, \"abcdefgh\", {});", 3 + i),
            21 => format!("strcpy(c, \"{}\");", &"abcdefg"[..k as usize]),
            22 => format!("for (int i = 0; i < {j}; i++) l[i] += i;"),
            23 => format!("if (x > {i}) y = -y;"),
            24 => "x = q && *q;".to_owned(),
            _ => format!("u = *p; x = u.g[{i} % 3] + y;"),
        };
        let _ = writeln!(text, "  {line}");
    }
    text.push_str("  return 0;\n}\n");
    text
}

/// The line where the sanitizers report a violation first.
fn sanitized(folder: &Path, text: &str) -> Option<u32> {
    let (source, program) = (folder.join("random.c"), folder.join("random"));
    std::fs::write(&source, text).unwrap();
    let mut compile = Command::new("gcc");
    compile.args(["-w", "-g1", "-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
    compile.args(["-fno-sanitize=shift-base,alignment,object-size", "-fno-builtin"]);
    assert!(compile.arg(&source).arg("-o").arg(&program).status().unwrap().success(), "{text}");
    let run = Command::new(&program).env("ASAN_OPTIONS", "detect_leaks=0").output().unwrap();
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    let at = said.find("random.c:")?;
    said[at + 9..].split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[test]
#[ignore = "needs gcc with its sanitizers"]
fn random_programs_break_rules_where_sanitizers_say() {
    let folder = std::env::temp_dir().join(format!("wherefore-rules-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut options = options();
    // Sanitizers do not count leaks as violations of a line.
    options.checks.remove(&ViolationKind::Leak);
    for case in 0..u64::from(cases(300)) {
        let text = random_program(seed().wrapping_mul(1_000_003).wrapping_add(case));
        let expected = sanitized(&folder, &text);
        let task = wherefore_frontend::c::load(&[folder.join("random.c")], &options).unwrap();
        let question = Question { replaying: Replaying::Off, ..Question::default() };
        let budget = Budget::default().within(Duration::from_secs(30));
        let answer = answer(&task, &question, &Session::default(), &budget);
        let found: BTreeSet<u32> = task
            .checks
            .iter()
            .zip(&answer.verdicts)
            .filter(|(_, verdict)| verdict.run().is_some())
            .filter_map(|(check, _)| task.program.line(check.node))
            .collect();
        let unknown = answer.verdicts.iter().any(|verdict| verdict.why().is_some());
        // The program has one run, so that one check fails, or none.
        assert!(!unknown, "case {case}:\n{text}");
        assert_eq!(found, expected.into_iter().collect(), "case {case}:\n{text}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// What data flow says about a location holds in every state of a run there.
#[test]
fn data_flow_says_nothing_false_about_runs() {
    let mut tested = 0;
    for case in 0..u64::from(cases(600)) {
        let text = random_program(seed().wrapping_mul(999_983).wrapping_add(case));
        let text = text.replace("#include <stdlib.h>\n#include <string.h>", HEAD);
        let program = translate_text("random.c", &text, &options()).unwrap().program;
        let ranges = Ranges::new(&program).expect("the program is small");
        let available = Available::new(&program);
        let interpreter = Interpreter::new(&program);
        let mut state = interpreter.initial_states(1).0.pop();
        for _ in 0..2000 {
            let Some(here) = state else { break };
            let Some(node) = here.node() else { break };
            let known = ranges.at(node).unwrap_or_else(|| panic!("line {:?}:\n{text}", program.line(node)));
            let locals = program.procedure(node.procedure).variables.len() as u32;
            let variables =
                (0..program.globals.len() as u32).map(Var::Global).chain((0..locals).map(Var::Local));
            for variable in variables {
                let range = known.of(variable).expect("a range");
                for value in interpreter.cells(&here, variable).unwrap_or_default() {
                    let name = &program.variable(node.procedure, variable).name;
                    assert!(range.contains(*value), "{name} is {value}, not in {range:?}:\n{text}");
                    tested += 1;
                }
            }
            for (_, edge) in program.procedure(node.procedure).edges_from(node.location) {
                let Operation::Assume(condition) = &edge.operation else { continue };
                let holds = interpreter.evaluate(&here, condition) == Some(1);
                assert!(holds || !available.holds(node, condition), "{condition:?}:\n{text}");
                assert!(holds || !known.implies(condition), "{condition:?} in {known:?}:\n{text}");
            }
            state = interpreter.successors(&here, 1).0.into_iter().next().map(|(_, state)| state);
        }
    }
    assert!(tested > 10_000, "only {tested} values were tested");
}
