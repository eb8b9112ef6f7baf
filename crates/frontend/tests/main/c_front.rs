//! What the C front end makes of programs: places, conventions, assumptions, refusals.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use wherefore_frontend::c::{
    DataModel, ErrorLabels, Options, Property, Question, Translation, read_task, translate, translate_text,
};
use wherefore_frontend::{LoadError, load};
use wherefore_program::{ErrorKind, Interpreter, LocationKind, Operation, Program, Scalar, TargetChoice};

fn parsed(text: &str) -> Translation {
    with(text, &Options::default())
}

/// With the label `ERROR` as the only error.
fn labelled(text: &str) -> Translation {
    let property = Property::Labels(vec!["ERROR".to_owned()]);
    with(text, &Options { property, ..Options::default() })
}

fn with(text: &str, options: &Options) -> Translation {
    let translation =
        translate_text("t.c", text, options).unwrap_or_else(|error| panic!("{}", error.render()));
    assert_eq!(translation.program.check(), Ok(()));
    translation
}

/// What is refused, or not modelled.
fn refused(text: &str) -> Vec<String> {
    match translate_text("t.c", text, &Options::default()) {
        Ok(translation) if translation.unsupported.is_empty() => panic!("this should be refused: {text}"),
        Ok(translation) => {
            let places = translation.unsupported.iter();
            places.map(|place| place.words(&translation.program).replace('`', "")).collect()
        }
        Err(error) => error.diagnostics().iter().map(ToString::to_string).collect(),
    }
}

/// Whether the run whose choices are all the least value fails.
fn fails(program: &Program) -> bool {
    let targets = program.targets(&TargetChoice::Default).unwrap();
    let interpreter = Interpreter::new(program);
    let mut state = interpreter.initial_states(1).0.remove(0);
    for _ in 0..1000 {
        let Some(node) = state.node() else { return false };
        if targets.iter().any(|target| target.node == node) {
            return true;
        }
        match interpreter.successors(&state, 1).0.pop() {
            Some((_, next)) => state = next,
            None => return false,
        }
    }
    panic!("the run does not end");
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("wherefore-front-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn errors_are_calls_assertions_and_labels_as_the_property_says() {
    let text = "
void reach_error(void) {}
void assert(int);
int main(void) {
  if (__VERIFIER_nondet_int() == 1) reach_error();
  if (__VERIFIER_nondet_int() == 2) assert(0);
  if (__VERIFIER_nondet_int() == 3) { ERROR: return 1; }
  if (__VERIFIER_nondet_int() == 4) { mine: return 1; }
  if (__VERIFIER_nondet_int() == 5) own();
  return 0;
}";
    let lines = |property: Property| {
        let program = with(text, &Options { property, ..Options::default() }).program;
        let targets = program.targets(&TargetChoice::Default).unwrap();
        targets.iter().filter_map(|target| program.line(target.node)).collect::<Vec<_>>()
    };
    assert_eq!(lines(Property::All), [5, 6], "labels count only where they are asked for");
    assert_eq!(lines(Property::Calls(vec!["reach_error".to_owned()])), [5]);
    assert_eq!(lines(Property::Calls(vec!["own".to_owned()])), [9]);
    assert_eq!(lines(Property::Assertions), [6]);
    assert_eq!(lines(Property::Labels(vec!["ERROR".to_owned()])), [7]);
    assert_eq!(lines(Property::Labels(vec!["mine".to_owned()])), [8]);
    let program = parsed(text).program;
    let kinds: Vec<ErrorKind> =
        program.targets(&TargetChoice::Default).unwrap().into_iter().map(|site| site.kind).collect();
    assert_eq!(kinds, [ErrorKind::Call("reach_error".to_owned()), ErrorKind::Assertion]);
    let usual = Options { error_labels: ErrorLabels::Usual, ..Options::default() };
    assert_eq!(with(text, &usual).program.targets(&TargetChoice::Default).unwrap().len(), 3);
    // A label that is named is found, whatever else is an error.
    let property = Property::Calls(vec!["own".to_owned()]);
    let names = Options { property, error_labels: ErrorLabels::Names, ..Options::default() };
    let named = with(text, &names).program.targets(&TargetChoice::Label("ERROR".to_owned())).unwrap();
    assert_eq!(named.len(), 1);
}

#[test]
fn calls_that_do_not_count_end_the_run() {
    let text = "void reach_error(void); int main(void) { reach_error(); ERROR: return 0; }";
    let labels = Options { property: Property::Labels(vec!["ERROR".to_owned()]), ..Options::default() };
    assert!(!fails(&with(text, &labels).program));
    assert!(fails(&parsed(text).program));
    for ending in ["abort()", "exit(1)", "__builtin_unreachable()", "__VERIFIER_assume(0)", "stop()"] {
        let text = format!("_Noreturn void stop(void); int main(void) {{ {ending}; ERROR: return 0; }}");
        assert!(!fails(&labelled(&text).program), "{ending}");
    }
}

#[test]
fn the_macro_assert_is_an_error() {
    let folder = folder("assert");
    let file = folder.join("a.c");
    fs::write(
        &file,
        "#include <assert.h>\nint main(void) {\n  int x = 3;\n  assert(x == 3);\n  assert(x == 4);\n}\n",
    )
    .unwrap();
    let program = load(&file, None).unwrap().program;
    let targets = program.targets(&TargetChoice::Default).unwrap();
    let lines: Vec<_> = targets.iter().filter_map(|target| program.line(target.node)).collect();
    assert_eq!(program.sources.len(), 1, "nothing of the header is used");
    assert_eq!(lines, [4, 5]);
    assert!(targets.iter().all(|target| target.kind == ErrorKind::Assertion));
    assert!(fails(&program));
}

#[test]
fn places_lead_to_the_files_that_people_wrote() {
    let folder = folder("places");
    let header = folder.join("h.h");
    let file = folder.join("p.c");
    fs::write(&header, "static int twice(int x) {\n  return x + x;\n}\n").unwrap();
    fs::write(
        &file,
        "#include \"h.h\"\n#define ADD(a, b) ((a) + (b))\nint y;\nint main(void) {\n  int x = ADD(1, 2);\n  y = twice(x);\n  return 0;\n}\n",
    )
    .unwrap();
    let program = translate(&[file], &Options::default()).unwrap().program;
    let text_at = |procedure: &str, kind: LocationKind| {
        let id = program.find_procedure(procedure).unwrap();
        let location = program.procedure(id).locations.iter().find(|location| location.kind == kind).unwrap();
        let source = program.source(location.span);
        let name = source.name().rsplit('/').next().unwrap().to_owned();
        (name, program.position(location.span).to_string(), source.slice(location.span).to_owned())
    };
    let own = |file: &str, place: &str, text: &str| (file.to_owned(), place.to_owned(), text.to_owned());
    // The line with the macro has changed, so the whole line stands for it.
    assert_eq!(text_at("main", LocationKind::Statement), own("p.c", "5:3", "int x = ADD(1, 2);"));
    assert_eq!(text_at("main", LocationKind::Call), own("p.c", "6:7", "twice(x)"));
    assert_eq!(text_at("twice", LocationKind::Return), own("h.h", "2:3", "return x + x;"));
}

/// Generated files name the files that they were made of. If those are not there, places are in the
/// generated file.
#[test]
fn markers_of_files_that_are_not_there_do_not_count() {
    let folder = folder("lost-markers");
    let file = folder.join("generated.c");
    let text = "#line 7 \"nowhere.c\"\nint main(void)\n{\n#line 12\n  int x = 1;\n#line 99 \"nowhere.h\"\n  ERROR: return x;\n}\n";
    std::fs::write(&file, text).unwrap();
    let property = Property::Labels(vec!["ERROR".to_owned()]);
    let translation =
        translate(std::slice::from_ref(&file), &Options { property, ..Options::default() }).unwrap();
    let program = &translation.program;
    let site = program.targets(&TargetChoice::Default).unwrap().remove(0);
    assert_eq!(program.line(site.node), Some(7));
    assert_eq!(program.source(program.location(site.node).span).name(), file.display().to_string());
}

/// Everything that an answer could show of a program: names and texts of files, or the messages.
fn told(file: &std::path::Path) -> String {
    match translate(&[file.to_owned()], &Options::default()) {
        Ok(translation) => translation
            .program
            .sources
            .iter()
            .map(|file| format!("{}:\n{}", file.name(), file.text()))
            .collect(),
        Err(error) => error.render(),
    }
}

#[test]
fn files_that_only_a_marker_names_are_not_read() {
    let (folder, other) = (folder("marked"), folder("marked-elsewhere"));
    let secret = other.join("secret");
    fs::write(&secret, "one of the secrets\ntwo of the secrets\n").unwrap();
    let name = secret.display();
    let ways = [
        format!("#line 1 \"{name}\"\nint main(void) {{ undeclared = 1; return 0; }}\n"),
        format!("# 1 \"{name}\" 1\nint main(void) {{ return 0; }}\n"),
        format!("int l = __LINE__;\n#line 1 \"{name}\"\nint main(void) {{ return undeclared; }}\n"),
        "#include \"marked.h\"\nint main(void) { return f(); }\n".to_owned(),
        "#include \"marked.h\"\nint main(void) { return undeclared; }\n".to_owned(),
    ];
    fs::write(folder.join("marked.h"), format!("#line 1 \"{name}\"\nint f(void) {{ return 1; }}\n")).unwrap();
    for (i, text) in ways.iter().enumerate() {
        for extension in ["c", "i"] {
            let file = folder.join(format!("marked-{i}.{extension}"));
            fs::write(&file, text).unwrap();
            let told = told(&file);
            assert!(!told.contains("of the secrets"), "{extension}: {text}\n{told}");
        }
    }
}

#[test]
fn files_that_are_included_from_elsewhere_are_not_quoted() {
    let (folder, other) = (folder("included"), folder("included-elsewhere"));
    fs::write(other.join("secret"), "root of_the_secrets\n").unwrap();
    fs::write(other.join("directive"), "#of_the_secrets\n").unwrap();
    let _ = fs::remove_file(folder.join("link.h"));
    std::os::unix::fs::symlink(other.join("secret"), folder.join("link.h")).unwrap();
    for name in [
        other.join("secret").display().to_string(),
        other.join("directive").display().to_string(),
        "link.h".to_owned(),
    ] {
        let file = folder.join("including.c");
        fs::write(&file, format!("#include \"{name}\"\nint main(void) {{ return 0; }}\n")).unwrap();
        let told = told(&file);
        assert!(!told.contains("of_the_secrets") && !told.contains("`root`"), "{told}");
        assert!(told.contains(":1:"), "the place is named: {told}");
    }
    // A folder that the user names is the program's.
    let file = folder.join("including.c");
    fs::write(&file, "#include <secret>\nint main(void) { return 0; }\n").unwrap();
    let options = Options { preprocessor: vec![format!("-I{}", other.display())], ..Options::default() };
    let error = translate(&[file], &options).unwrap_err().render();
    assert!(error.contains("root of_the_secrets"), "{error}");
}

#[test]
fn lines_are_those_of_the_file_whatever_its_markers_say() {
    let file = folder("numbered").join("numbered.c");
    fs::write(&file, "int x;\n\n#line 1\nint main(void) {\n  undeclared = 1;\n}\n").unwrap();
    let error = translate(&[file], &Options::default()).unwrap_err().render();
    assert!(error.contains("numbered.c:5:3: ") && error.contains("undeclared = 1;"), "{error}");
}

#[test]
fn statements_have_one_location_each() {
    let text = "int main(void) {\n  int x = 1;\n  x += 2;\n  if (x > 2)\n    x = 0;\n  while (x < 3)\n    x++;\n  return x;\n}\n";
    let program = parsed(text).program;
    let main = program.procedure(program.find_procedure("main").unwrap());
    let lines: Vec<u32> = main
        .location_ids()
        .filter(|id| *id != main.exit)
        .map(|id| program.position(main.location(id).span).line)
        .collect();
    let mut sorted = lines.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, [2, 3, 4, 5, 6, 7, 8], "{}", program.listing());
}

#[test]
fn inputs_are_steps_of_their_own() {
    let translation = parsed(
        "unsigned char __VERIFIER_nondet_uchar(void); long other(void);
         int main(void) { unsigned char c = __VERIFIER_nondet_uchar(); int i = __VERIFIER_nondet_int(); return c + i + other(); }",
    );
    let found: Vec<_> =
        translation.inputs.iter().map(|input| (input.function.as_str(), input.ty, input.signed)).collect();
    let expected = [
        ("__VERIFIER_nondet_uchar", Scalar::Bits(8), false),
        ("__VERIFIER_nondet_int", Scalar::Bits(32), true),
        ("other", Scalar::Bits(64), true),
    ];
    assert_eq!(found, expected);
    for input in &translation.inputs {
        let operation = &translation.program.edge(input.edge).operation;
        assert!(matches!(operation, Operation::Havoc(targets) if targets.len() == 1), "{operation:?}");
    }
    let texts: Vec<&str> = translation.assumptions.iter().map(|a| a.text.as_str()).collect();
    assert_eq!(texts, ["`other` has no body: it returns anything and changes nothing"]);
}

#[test]
fn what_is_assumed_is_said() {
    let translation = parsed(
        "void *malloc(unsigned long); void free(void *); void fill(int *); long double f;
         int main(void) { int x; fill(&x); int *p = malloc(4); *p = x; free(p); asm(\"nop\"); if (f > 1) return *p; return 0; }",
    );
    let texts: Vec<&str> = translation.assumptions.iter().map(|a| a.text.as_str()).collect();
    for wanted in
        ["`fill` has no body", "never return NULL", "after it is freed", "inline assembly", "long double"]
    {
        assert!(texts.iter().any(|text| text.contains(wanted)), "{wanted}: {texts:?}");
    }
    assert!(translation.assumptions.iter().all(|assumption| assumption.span.is_some()));
}

#[test]
fn divisions_by_zero_end_the_run_where_they_stand() {
    let text = "int main(void) { int d = 0, x = 1; if (d != 0 && x / d > 0) x = 2; ERROR: return x; }";
    assert!(fails(&labelled(text).program));
    let text = "int main(void) { int d = 0, x = 1; x = x / d; ERROR: return x; }";
    assert!(!fails(&labelled(text).program));
    let text = "int main(void) { int d = -1, x = -2147483647 - 1; x = x % d; ERROR: return x; }";
    assert!(!fails(&labelled(text).program));
}

#[test]
fn shifts_too_far_give_anything() {
    let text = "int main(void) { unsigned char x = 1; unsigned n = 40; unsigned y = x << n; if (y == 0) return 0; if (y != 0) { ERROR: ; } return 0; }";
    let program = parsed(text).program;
    assert!(program.listing().contains('*'), "{}", program.listing());
}

#[test]
fn the_data_model_decides_widths() {
    let text = "long x; int *p; int main(void) { x = sizeof(p); return 0; }";
    let width = |data_model| {
        let program = with(text, &Options { data_model, ..Options::default() }).program;
        program.globals.iter().find(|variable| variable.name == "x").unwrap().ty.element()
    };
    assert_eq!(width(DataModel::Lp64), Scalar::Bits(64));
    assert_eq!(width(DataModel::Ilp32), Scalar::Bits(32));
}

#[test]
fn structures_without_addresses_are_variables() {
    let program = parsed(
        "struct s { int a; struct { char b; } in; }; struct s g; int t[3]; struct s many[2];
         int main(void) { struct s l = {1, {2}}; g = l; t[1] = g.a; many[t[1]].in.b = 3; return l.in.b; }",
    )
    .program;
    let names: Vec<&str> = program.globals.iter().map(|variable| variable.name.as_str()).collect();
    assert_eq!(names, ["g.a", "g.in.b", "t", "many.a", "many.in.b"]);
    assert!(program.uses_memory().is_none());
}

#[test]
fn pointers_that_never_meet_have_memories_of_their_own() {
    let translation = parsed(
        "int a, b; char c; int main(void) { int *p = &a, *q = &b; char *r = &c; *p = 1; *q = 2; *r = 3; return *p; }",
    );
    let cells: Vec<u32> = translation.regions.iter().map(|region| region.cell).collect();
    assert_eq!(cells, [32, 32, 8]);
    let translation =
        parsed("int a, b; int main(void) { int *p = &a; if (b) p = &b; *p = 1; return *(char *)p; }");
    let cells: Vec<u32> = translation.regions.iter().map(|region| region.cell).collect();
    assert_eq!(cells, [8]);
}

#[test]
fn several_files_are_linked() {
    let folder = folder("link");
    let (a, b) = (folder.join("a.c"), folder.join("b.c"));
    fs::write(
        &a,
        "extern int shared; int f(int); static int own = 1; int main(void) { shared = f(own); return 0; }",
    )
    .unwrap();
    fs::write(&b, "int shared = 3; static int own = 2; int f(int x) { return x + own + shared; }").unwrap();
    let program = translate(&[a.clone(), b.clone()], &Options::default()).unwrap().program;
    assert_eq!(program.sources.len(), 2);
    let names: Vec<&str> = program.globals.iter().map(|variable| variable.name.as_str()).collect();
    assert_eq!(names.iter().filter(|name| name.starts_with("own")).count(), 2);
    let c = folder.join("c.c");
    fs::write(&c, "int f(int x) { return 0; }").unwrap();
    let error = translate(&[a, b, c], &Options::default()).unwrap_err();
    assert!(error.to_string().contains("`f` is defined twice"), "{error}");
}

#[test]
fn what_is_not_supported_is_refused_with_its_line() {
    let cases = [
        ("int main(void) {\n  return x;\n}", "t.c:2:10: `x` is not declared"),
        ("int main(void) {\n  pthread_barrier_wait(0);\n}", "t.c:2:3: pthread_barrier_wait is not supported"),
        ("int main(void) {\n  int x = 1 +;\n}", "t.c:2:14: syntax error at `;`"),
        ("int main(void) {\n  goto nowhere;\n}", "t.c:1:5: there is no label `nowhere` in `main`"),
        (
            "int f(int x) { return x; }\nint main(void) {\n  return f(1, 2);\n}",
            "t.c:3:10: 2 arguments instead of 1",
        ),
        ("int main(void) {\n  break;\n}", "t.c:2:3: `break` outside of a loop"),
        (
            "struct s { int a; } g;\nint main(void) {\n  return g.b;\n}",
            "t.c:3:10: `struct s` has no member `b`",
        ),
        (
            "#pragma pack(pop, 3)\nint main(void) { return 0; }",
            "t.c:1:1: `#pragma pack(pop, 3)` is not supported",
        ),
        (
            "int f(int n, ...) {\n  __builtin_va_list l;\n  __builtin_va_start(l, n);\n  return __builtin_va_arg(l, char);\n}\nint main(void) { return f(1); }",
            "t.c:4:10: an argument of this type is not supported",
        ),
        ("int f(void) { return 0; }", "t.c:1:1: there is no function `main`"),
        (
            "int main(void) {\n  int a[3] = {1, 2, 3, 4};\n}",
            "t.c:2:12: something here is not supported (there are more initial values than there is room for)",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(refused(text).first().map(String::as_str), Some(message), "{text}");
    }
    let many = refused("int main(void) {\n  a = 1;\n  b = 2;\n  return c;\n}");
    assert_eq!(many.len(), 3, "{many:?}");
}

#[test]
fn functions_that_nobody_calls_may_hold_anything() {
    parsed("int f(void) { return undeclared; } int main(void) { return 0; }");
}

#[test]
fn tasks_tell_files_model_and_property() {
    let folder = folder("task");
    fs::write(folder.join("p.prp"), "CHECK( init(main()), LTL(G ! call(reach_error())) )\n").unwrap();
    let task = folder.join("t.yml");
    fs::write(
        &task,
        "format_version: '2.0'\ninput_files: 'x.c'\nproperties:\n  - property_file: p.prp\n    expected_verdict: false\noptions:\n  language: C\n  data_model: ILP32\n",
    )
    .unwrap();
    let task = read_task(&task).unwrap();
    assert_eq!(task.files, [folder.join("x.c")]);
    assert_eq!(task.options.data_model, DataModel::Ilp32);
    let Question::Decided(options) = task.question().unwrap() else { panic!("it is decided") };
    assert_eq!(options.property, Property::Calls(vec!["reach_error".to_owned()]));
    assert_eq!(options.data_model, DataModel::Ilp32);
    assert_eq!(task.properties[0].expected, Some(false));
}

#[test]
fn long_and_deep_programs_are_read() {
    let mut text = String::from("int x; int main(void) {\n");
    for i in 0..3000 {
        text.push_str(&format!("  {}if (x == {i}) x = {};\n", if i == 0 { "" } else { "else " }, i + 1));
    }
    text.push_str("  x = 0");
    for i in 0..3000 {
        text.push_str(&format!(" + {i}"));
    }
    text.push_str(";\n");
    for i in 0..4000 {
        text.push_str(&format!("  x = x * {i} + 1;\n"));
    }
    text.push_str("  return 0;\n}\n");
    let program = parsed(&text).program;
    assert!(program.procedures[0].locations.len() > 10_000);
}

#[test]
fn a_missing_file_is_an_error() {
    let error = translate(&["/nowhere/at-all.c".into()], &Options::default()).unwrap_err();
    assert!(matches!(error, LoadError::Io { .. }));
}

const SEEDS: [&str; 3] = [
    "struct s { int a : 3; union { char b[4]; float f; }; } g = {1}; enum { A, B = 3 }; typedef int (*fn)(int);
     int f(int x) { static int n; return x ? f(x - 1) + n++ : 0; } fn table[2] = {f};
     int main(int argc, char **argv) { int a[argc]; for (int i = 0; i < 3; i++) { a[i] = table[0](i); if (a[i]) continue; }
       switch (argc) { case 1 ... 3: g.a = 2; break; default: goto end; } struct s *p = &g; p->b[1] = *argv[0]; end: return ({ int t = sizeof *p; t; }); }",
    "void *malloc(unsigned long); struct n { struct n *next; int v; }; int m[2][3] = {{1}, [1] = {[2] = 4}};
     int main() { struct n *l = 0; do { struct n *x = malloc(sizeof(struct n)); x->next = l; l = x; } while (__VERIFIER_nondet_int()); while (l) l = l->next;
       char s[] = \"ab\" \"c\"; long long k = m[1][2] << 3 | s[0] % 7; k >>= 2, k++; return k > 3u ? (int)k : -(short)k; }",
    "k(a, b) char *a; { return *a + b; } extern int e; int main(void) { int x = 1, *p = &x, **q = &p; **q += k(\"z\", e) && !x || ~x; _Bool b = p; asm(\"\" : \"=r\"(x)); __VERIFIER_assume(x); assert(b); return (struct { int i; }){x}.i; }",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: wherefore_testing::cases(400), ..ProptestConfig::default() })]

    #[test]
    fn mutated_text_never_panics(
        seed in 0..SEEDS.len(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..4_u8), 1..5),
    ) {
        let mut words: Vec<String> = Vec::new();
        for c in SEEDS[seed].chars() {
            match words.last_mut() {
                Some(word) if c.is_alphanumeric() && word.chars().all(char::is_alphanumeric) => word.push(c),
                _ => words.push(c.to_string()),
            }
        }
        for (at, other, kind) in edits {
            let (i, j) = (at.index(words.len()), other.index(words.len()));
            match kind {
                0 => drop(words.remove(i)),
                1 => words.insert(i, words[j].clone()),
                2 => words.swap(i, j),
                _ => words[i] = words[j].clone(),
            }
            if words.is_empty() {
                words.push(";".to_owned());
            }
        }
        let text = words.concat();
        if let Ok(translation) = translate_text("fuzz.c", &text, &Options::default()) {
            prop_assert_eq!(translation.program.check(), Ok(()), "{}", text);
        }
    }
}
