//! Rules about libraries: the cases with their facts, each property that comes with the program with
//! programs that keep it and that break it, mutations, and failing runs by the compiled program.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use wherefore_check::harness::Replay;
use wherefore_check::{Answer, Budget, Question, Replaying, Session, Verdict, answer};
use wherefore_frontend::c::{self, LibraryRules, Options, Warnings, translate_text};
use wherefore_program::Task;
use wherefore_properties::{Property, parse, shipped};

use crate::case_facts_support::yaml;

pub fn options(property: Property, warnings: Warnings) -> Options {
    let library = Some(LibraryRules { property: Arc::new(property), warnings });
    Options { library, property: c::Property::Calls(Vec::new()), ..Options::default() }
}

pub fn decided(task: &Task, replaying: Replaying) -> Answer {
    let question = Question { replaying, ..Question::default() };
    let budget = Budget::default().within(Duration::from_secs(30));
    answer(task, &question, &Session::default(), &budget)
}

fn task_of(text: &str, property: Property, warnings: Warnings) -> Task {
    let options = options(property, warnings);
    let translation = translate_text("main.c", text, &options).unwrap_or_else(|e| panic!("{e}\n{text}"));
    translation.into_task(&["main.c".into()], &options)
}

/// The lines and messages of the checks that can fail. All others must hold.
fn failing(task: &Task, answer: &Answer) -> Vec<(u32, String)> {
    let mut found = Vec::new();
    for (check, verdict) in task.checks.iter().zip(&answer.verdicts) {
        let line = task.program.line(check.node).unwrap_or_default();
        match verdict {
            Verdict::Unsafe(run) => {
                let words = task.program.violation_in_words(check.node, run.trace.states().last());
                found.push((line, words.unwrap_or_default()));
            }
            Verdict::Safe(_) => {}
            Verdict::Unknown(why) => panic!("line {line}: {}", why.words(&task.program)),
        }
    }
    found.sort();
    found
}

fn broken(text: &str, name: &str) -> Vec<(u32, String)> {
    let property = shipped(name).unwrap().property();
    let task = task_of(text, property, Warnings::Off);
    let answer = decided(&task, Replaying::Off);
    failing(&task, &answer)
}

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/properties")
}

/// Calls that can fail, calls that cannot, and objects that are left open: exactly the facts of the
/// case.
#[test]
fn calls_fail_where_the_cases_say() {
    let mut count = 0;
    for case in ["lock-alternation", "stdio-alias", "stdio-flag", "stdio-null", "stdio-two-objects"] {
        let folder = cases().join(case);
        let expected = yaml::read(&folder.join("expect.yaml"));
        let name = if case.starts_with("lock") { "lock" } else { "stdio" };
        let text = std::fs::read_to_string(cases().join(format!("{name}.spec"))).unwrap();
        let property = parse(name, &text).unwrap();
        let program = std::fs::read_to_string(folder.join("main.c")).unwrap();
        let task = task_of(&program, property, Warnings::On);
        let answer = decided(&task, Replaying::Off);
        let failing = failing(&task, &answer);
        for fact in yaml::list(&expected, "facts").unwrap() {
            count += 1;
            match yaml::text(fact, "kind").unwrap() {
                "typestate" => {
                    let errors = yaml::list(fact, "errors").unwrap();
                    let mut wanted: Vec<(u32, String)> = errors
                        .iter()
                        .map(|error| {
                            let line = yaml::number(error.as_mapping_get("line").unwrap()) as u32;
                            (line, yaml::text(error, "state").unwrap().to_owned())
                        })
                        .collect();
                    let left = yaml::lines(fact, "left_open_at_exit");
                    wanted.extend(left.into_iter().map(|line| (line, "left open".to_owned())));
                    wanted.sort();
                    wanted.dedup();
                    assert_eq!(failing, wanted, "{case}");
                }
                "typestate_flow" => {
                    // What no run breaks, and flow alone may report: an upper bound.
                    let errors = yaml::list(fact, "errors").unwrap();
                    let lines: Vec<u32> = errors
                        .iter()
                        .map(|error| yaml::number(error.as_mapping_get("line").unwrap()) as u32)
                        .collect();
                    let reported = failing.iter().filter(|(_, state)| state != "left open");
                    assert!(reported.clone().all(|(line, _)| lines.contains(line)), "{case}: {failing:?}");
                }
                "property_clean" => {
                    let clean = yaml::lines(fact, "lines");
                    let reported = failing.iter().filter(|(_, state)| state != "left open");
                    assert!(reported.clone().all(|(line, _)| !clean.contains(line)), "{case}: {failing:?}");
                }
                other => panic!("{case}: a fact of kind {other}"),
            }
        }
    }
    assert_eq!(count, 15);
}

/// [Lal09] Fig. 2.15: the first dereference is guarded, the second is not.
#[test]
fn a_null_pointer_is_followed_where_the_figure_says() {
    let program = std::fs::read_to_string(cases().join("fig2.15-null-unsafe/main.c")).unwrap();
    assert_eq!(broken(&program, "null"), [(18, "the pointer is NULL".to_owned())]);
}

const HEAD: &str = "typedef struct F FILE; typedef struct D DIR; typedef unsigned long size_t; typedef long ssize_t;\n\
    FILE *fopen(const char *, const char *); int fclose(FILE *); int fputs(const char *, FILE *); int fgetc(FILE *);\n\
    int open(const char *, int, ...); ssize_t read(int, void *, size_t); int close(int);\n\
    int socket(int, int, int); int bind(int, void *, int); int listen(int, int); int accept(int, void *, void *);\n\
    int pthread_mutex_lock(int *); int pthread_mutex_unlock(int *); void *malloc(size_t); void free(void *);\n\
    DIR *opendir(const char *); void *readdir(DIR *); int closedir(DIR *); int any(void);\n";
/// The line of a program behind the head.
const FIRST: u32 = 7;

/// Each property with a program that keeps it, and the same with one change that breaks it.
#[test]
fn shipped_properties_are_kept_and_broken() {
    let programs: [(&str, &str, &str, &str, &str); 9] = [
        (
            "stdio",
            "int main(void) { FILE *f = fopen(\"a\", \"w\"); if (!f) return 1; fputs(\"x\", f); fclose(f); return 0; }",
            "if (!f) return 1; ",
            "",
            "fputs: the stream was never opened (`fopen` at line 7 returned NULL)",
        ),
        (
            "stdio",
            "int main(void) { FILE *f = fopen(\"a\", \"w\"); if (!f) return 1; while (any()) fputs(\"x\", f); fclose(f); return 0; }",
            "while (any()) ",
            "fclose(f); ",
            "fputs: the stream was closed before (`fclose` at line 7)",
        ),
        (
            "fd",
            "int main(void) { char b[4]; int d = open(\"a\", 0); if (d < 0) return 1; read(d, b, 4); close(d); return 0; }",
            "close(d); ",
            "close(d); close(d); ",
            "close: the file is closed a second time (first by `close` at line 7)",
        ),
        (
            "fd",
            "int main(void) { char b[4]; int d = open(\"a\", 0); if (d < 0) return 1; read(d, b, 4); close(d); return 0; }",
            "if (d < 0) return 1; ",
            "",
            "read: the file was never opened (`open` at line 7 failed)",
        ),
        (
            "lock",
            "int m, n; int main(void) { int *p = any() ? &m : &n; pthread_mutex_lock(p); pthread_mutex_lock(p == &m ? &n : &m); pthread_mutex_unlock(&m); pthread_mutex_unlock(&n); return 0; }",
            "p == &m ? &n : &m",
            "&m",
            "pthread_mutex_lock: the lock is held already (since `pthread_mutex_lock` at line 7)",
        ),
        (
            "socket",
            "int main(void) { int s = socket(2, 1, 0); if (s < 0 || bind(s, 0, 0) || listen(s, 5)) return 1; accept(s, 0, 0); return 0; }",
            " || listen(s, 5)",
            "",
            "accept: the socket does not listen",
        ),
        (
            "null",
            "int main(void) { int *p = malloc(4); if (!p) return 1; *p = 3; return *p; }",
            "if (!p) return 1; ",
            "",
            "the pointer is NULL",
        ),
        (
            "malloc",
            "int main(void) { int *p = malloc(8); p[1] = 3; int r = p[1]; free(p); return r; }",
            "int r = p[1]; free(p); ",
            "free(p); int r = p[1]; ",
            "the memory was freed before (`free` at line 7)",
        ),
        (
            "dir",
            "int main(void) { DIR *d = opendir(\".\"); if (!d) return 1; while (readdir(d)) ; closedir(d); return 0; }",
            "if (!d) return 1; ",
            "",
            "readdir: the directory was never opened (`opendir` at line 7 returned NULL)",
        ),
    ];
    for (name, program, old, new, message) in programs {
        let whole = format!("{HEAD}{program}");
        assert_eq!(broken(&whole, name), [], "{name} is kept: {program}");
        assert!(program.contains(old), "{name}: {old}");
        let changed = format!("{HEAD}{}", program.replacen(old, new, 1));
        let found = broken(&changed, name);
        assert!(found.contains(&(FIRST, message.to_owned())), "{name} is broken: {changed}\n{found:?}");
    }
}

/// What is left open is told on request only, once for each call that opened it.
#[test]
fn warnings_are_told_on_request() {
    let program = format!(
        "{HEAD}int main(void) {{\n FILE *f = fopen(\"a\", \"w\");\n FILE *g = fopen(\"b\", \"w\");\n if (g) fclose(g);\n return 0;\n}}"
    );
    let property = || shipped("stdio").unwrap().property();
    assert_eq!(broken(&program, "stdio"), []);
    let task = task_of(&program, property(), Warnings::On);
    let message = format!("the stream that was opened by `fopen` at line {} is never closed", FIRST + 1);
    assert_eq!(failing(&task, &decided(&task, Replaying::Off)), [(FIRST + 1, message)]);
}

/// Handles in arrays and structures, passed by address and returned: the engines' business.
#[test]
fn handles_are_followed_through_memory() {
    let program = |last: &str| {
        format!(
            "{HEAD}struct S {{ int n; FILE *of[3]; }};\n\
             static void fill(struct S *s) {{ for (int i = 0; i < 3; i++) s->of[i] = fopen(\"a\", \"r\"); }}\n\
             static FILE *take(struct S *s, int i) {{ return s->of[i]; }}\n\
             int main(void) {{ struct S s; fill(&s); int i = any();\n if (i < 0 || i > 2) return 0;\n \
             for (int j = 0; j < 3; j++) if (!s.of[j]) return 1;\n fclose(take(&s, i));\n \
             {last}\n return 0; }}"
        )
    };
    assert_eq!(broken(&program("fputs(\"x\", s.of[(i + 1) % 3]);"), "stdio"), []);
    let found = broken(&program("fputs(\"x\", s.of[(i + 3) % 3]);"), "stdio");
    let message = "fputs: the stream was closed before (`fclose` at line 13)".to_owned();
    assert_eq!(found, [(14, message)]);
}

/// A function that is named by `skip` is not entered; one with a model does not return, or returns
/// a readable object.
#[test]
fn models_and_skipped_functions() {
    let rules = "property p \"t\"\nobject $f : FILE*\nstate start initial, open\n\
                 on $f = fopen(_, _): start -> open if $f != 0\n\
                 on use($f): open -> error \"used\"\n";
    let program = "typedef struct F FILE; FILE *fopen(const char *, const char *); void use(FILE *); void die(void);\n\
                   struct P { int id; }; struct P *look(void);\n\
                   void log_it(FILE *f) { use(f); }\n\
                   int main(void) { FILE *f = fopen(\"a\", \"r\"); struct P *p = look();\n\
                   log_it(f); if (p->id == 3) die();\n if (p->id == 3) use(f); return 0; }\n";
    let lines = |more: &str| {
        let task = task_of(program, parse("p.spec", &format!("{rules}{more}")).unwrap(), Warnings::Off);
        let answer = decided(&task, Replaying::Off);
        let verdicts = task.checks.iter().zip(&answer.verdicts);
        let failing = verdicts.filter(|(_, verdict)| verdict.run().is_some());
        failing.map(|(check, _)| task.program.line(check.node).unwrap()).collect::<Vec<u32>>()
    };
    // The run ends where the stream is used first.
    assert_eq!(lines("model look returns fresh\n"), [3]);
    assert_eq!(lines("model look returns fresh\nskip log_*\n"), [6]);
    assert!(lines("model look returns fresh\nmodel die does not return\nskip log_*\n").is_empty());
}

/// With threads, a rule about locks would take the lock of another thread for its own.
#[test]
fn programs_with_threads_are_unknown() {
    let text = "typedef unsigned long pthread_t; int pthread_create(pthread_t *, void *, void *(*)(void *), void *);\n\
                int lock(int *); int unlock(int *); int m; void *run(void *p) { lock(&m); unlock(&m); return 0; }\n\
                int main(void) { pthread_t t; pthread_create(&t, 0, run, 0); lock(&m); unlock(&m); return 0; }\n";
    let task = task_of(text, shipped("lock").unwrap().property(), Warnings::Off);
    let answer = decided(&task, Replaying::Off);
    assert!(matches!(answer.decision(), wherefore_check::Overall::Unknown(_)));
}

/// The compiled program breaks the same rule at the same place.
#[test]
fn failing_runs_are_confirmed_by_the_compiled_program() {
    for (case, name, count) in [
        ("stdio-null", "stdio", 1),
        ("stdio-alias", "stdio", 2),
        ("stdio-two-objects", "stdio", 1),
        ("lock-alternation", "lock", 2),
    ] {
        let files = [cases().join(case).join("main.c")];
        let options = options(shipped(name).unwrap().property(), Warnings::Off);
        let task = c::load(&files, &options).unwrap();
        let answer = decided(
            &task,
            Replaying::On { enclosure: wherefore_check::harness::Enclosure::None, keep: None },
        );
        let confirmed = answer.verdicts.iter().filter_map(Verdict::run).map(|run| run.replay.clone());
        let confirmed: Vec<_> = confirmed.collect();
        assert_eq!(confirmed.len(), count, "{case}");
        assert!(
            confirmed.iter().all(|replay| matches!(replay, Some(Replay::Confirmed { .. }))),
            "{case}: {confirmed:?}"
        );
    }
}
