//! What is not modelled is a place of its own; the rest of the program counts.

use wherefore_frontend::c::{Options, Translation, translate_text};
use wherefore_program::{Interpreter, LocationKind, TargetChoice};

fn translated(text: &str) -> Translation {
    let translation = translate_text("t.c", text, &Options::default());
    let translation = translation.unwrap_or_else(|error| panic!("{}\n{text}", error.render()));
    assert_eq!(translation.program.check(), Ok(()), "{text}");
    for place in &translation.unsupported {
        assert_eq!(translation.program.location(place.node).kind, LocationKind::Unsupported);
    }
    translation
}

/// Where the run ends whose choices are all the least value.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Error,
    Place(String),
    Other,
}

fn end(text: &str) -> End {
    let translation = translated(text);
    let program = &translation.program;
    let targets = program.targets(&TargetChoice::Default).expect("targets");
    let interpreter = Interpreter::new(program);
    let mut state = interpreter.initial_states(1).0.remove(0);
    for _ in 0..10_000 {
        let Some(node) = state.node() else { return End::Other };
        if targets.iter().any(|target| target.node == node) {
            return End::Error;
        }
        if let Some(place) = translation.unsupported.iter().find(|place| place.node == node) {
            return End::Place(place.words(program));
        }
        match interpreter.successors(&state, 1).0.into_iter().next() {
            Some((_, next)) => state = next,
            None => return End::Other,
        }
    }
    panic!("the run does not end: {text}");
}

const HEAD: &str = "extern void reach_error(void); extern unsigned __builtin_ia32_rdtsc_(void);\n";

fn end_of(body: &str) -> End {
    end(&format!("{HEAD}{body}"))
}

#[test]
fn a_statement_that_is_not_modelled_is_a_place() {
    let place = |at: &str, what: &str| End::Place(format!("`t.c:{at}`: {what} is not supported"));
    let call = "__builtin_ia32_rdtsc()";
    let what = "`__builtin_ia32_rdtsc`";
    for (body, expected) in [
        // Reached or not.
        (format!("int main(void) {{ {call}; reach_error(); }}"), place("2:18", what)),
        (format!("int main(void) {{ int x = 0; if (x) {call}; reach_error(); }}"), End::Error),
        (format!("int main(void) {{ int x = 1; if (x) {call}; reach_error(); }}"), place("2:36", what)),
        // The parts of compound statements.
        (format!("int main(void) {{ if ({call}) reach_error(); }}"), place("2:22", what)),
        (format!("int main(void) {{ while ({call}) reach_error(); }}"), place("2:25", what)),
        (format!("int main(void) {{ do {{}} while ({call}); reach_error(); }}"), place("2:31", what)),
        (format!("int main(void) {{ for (; {call};) {{}} reach_error(); }}"), place("2:25", what)),
        (format!("int main(void) {{ for (;; {call}) {{ reach_error(); }} }}"), End::Error),
        (format!("int main(void) {{ switch ({call}) {{ default: reach_error(); }} }}"), place("2:26", what)),
        (format!("int main(void) {{ return {call}; }}"), place("2:25", what)),
        (format!("int main(void) {{ int x = {call}; reach_error(); }}"), place("2:26", what)),
        // Labels behind a place and inside of what has one.
        (format!("int main(void) {{ goto l; {call}; l: reach_error(); }}"), End::Error),
        (format!("int main(void) {{ goto l; if ({call}) {{ l: reach_error(); }} }}"), End::Error),
        (format!("int main(void) {{ switch (3) {{ case 2: {call}; case 3: reach_error(); }} }}"), End::Error),
        // In a function, and in one that a pointer points to.
        (format!("void f(void) {{ {call}; }} int main(void) {{ f(); reach_error(); }}"), place("2:16", what)),
        (
            format!(
                "void f(void) {{ {call}; }} void g(void) {{}} void (*p)(void) = g; void (*q)(void) = f; int main(void) {{ p(); reach_error(); }}"
            ),
            End::Error,
        ),
    ] {
        assert_eq!(end_of(&body), expected, "{body}");
    }
}

#[test]
fn declarations_that_are_not_understood_matter_where_they_are_used() {
    for (body, is_place) in [
        ("_Decimal64 z; int main(void) { reach_error(); }", false),
        ("_Decimal64 z; int main(void) { z = 1; reach_error(); }", true),
        ("_Decimal64 f(void); int main(void) { f(); reach_error(); }", true),
        ("struct s { _Decimal64 z; int a; }; int main(void) { reach_error(); }", false),
        ("struct s { _Decimal64 z; int a; }; struct s v; int main(void) { v.a = 1; reach_error(); }", true),
        ("struct s { _Decimal64 z; }; int main(void) { struct s v; reach_error(); }", true),
        ("typedef _Decimal64 c; int main(void) { return sizeof(c); }", true),
        // In an object, the value of a wide bit-field takes more room than its bits.
        ("struct { long x : 33; } s; int main(void) { __typeof__(s.x + 0) v = 1; reach_error(); }", true),
        ("struct { long x : 33; } s; int main(void) { __auto_type v = s.x + 0; reach_error(); }", true),
        ("struct { long x : 31; } s; int main(void) { __typeof__(s.x + 0) v = 1; reach_error(); }", false),
        ("void f(_Decimal64 z) {} int main(void) { reach_error(); }", false),
        ("void f(_Decimal64 z) {} int main(void) { f(1); reach_error(); }", true),
        // What the parser does not know.
        ("int main(void) { int f(x) int x; { return 1; } reach_error(); }", true),
        ("void g(void) { int f(x) int x; { return 1; } f(1); } int main(void) { reach_error(); }", false),
        ("void g(void) { int f(x) int x; { return 1; } f(1); } int main(void) { g(); reach_error(); }", true),
        ("asm(\".globl g\\ng: ret\"); void g(void); int main(void) { reach_error(); }", false),
        ("asm(\".globl g\\ng: ret\"); void g(void); int main(void) { g(); reach_error(); }", true),
        // A case that is not understood spoils its switch.
        (
            "int main(void) { switch (1) { case (int)__builtin_ia32_rdtsc(): break; default: reach_error(); } }",
            true,
        ),
    ] {
        let found = end_of(body);
        if is_place {
            assert!(matches!(found, End::Place(_)), "{body}: {found:?}");
        } else {
            assert_eq!(found, End::Error, "{body}");
        }
    }
}

#[test]
fn mistakes_are_still_refused() {
    for (text, message) in [
        ("int main(void) { return x; }", "`x` is not declared"),
        ("int main(void) { int f(void) { return 1; } return 1 +; }", "syntax error"),
        ("struct s { int a; } v; int main(void) { return v.b; }", "has no member"),
        ("int main(void) { goto l; }", "there is no label `l`"),
    ] {
        match translate_text("t.c", text, &Options::default()) {
            Ok(_) => panic!("this should be refused: {text}"),
            Err(error) => assert!(error.render().contains(message), "{}", error.render()),
        }
    }
}

#[test]
fn jumps_that_c_leaves_undefined_are_places() {
    let head = "typedef long jmp_buf[25]; int setjmp(jmp_buf); void longjmp(jmp_buf, int); jmp_buf b;\n";
    let end = |body: &str| end(&format!("{HEAD}{head}{body}"));
    let again = "int main(void) { int v = setjmp(b); if (v == 2) reach_error(); longjmp(b, v + 1); }";
    assert_eq!(end(again), End::Error);
    for (body, message) in [
        ("int main(void) { longjmp(b, 1); }", "no call of `setjmp` has filled"),
        ("int f(void) { return setjmp(b); } int main(void) { f(); longjmp(b, 1); }", "has returned"),
        (
            "int f(void) { return 1; } int main(void) { int x = f() + setjmp(b); return x; }",
            "within a larger expression",
        ),
        ("int main(void) { int (*f)(jmp_buf) = setjmp; return f(b); }", "through a pointer"),
    ] {
        let found = end(body);
        assert!(matches!(&found, End::Place(what) if what.contains(message)), "{body}: {found:?}");
    }
}

#[test]
fn a_function_that_need_not_exist_may_be_null() {
    let text = "int w(void) __attribute__((weak)); int main(void) { if (!w) reach_error(); return w(); }";
    assert_eq!(end_of(text), End::Error);
    let translation = translated(&format!("{HEAD}{text}"));
    assert!(translation.unsupported.is_empty());
}

#[test]
fn a_part_of_a_program_starts_in_any_function() {
    let folder = std::env::temp_dir().join(format!("wherefore-places-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("part.c");
    std::fs::write(&file, "static int f(int x) { return x; } int g(int y) { return y + 1; }")
        .expect("a file");
    let translation = wherefore_frontend::c::translate_every_function(&[file], &Options::default());
    let program = translation.expect("it is translated").program;
    assert_eq!(program.check(), Ok(()));
    assert!(program.find_procedure("f").is_some() && program.find_procedure("g").is_some());
}

#[test]
fn assembly_that_jumps_is_a_place() {
    let text = |x: u32| {
        format!(
            "int f(int x) {{ if (x) {{ asm volatile goto (\"jmp %l[out]\" : : : : out); }} return 1; out: return 2; }}\n\
             int main(void) {{ if (f({x}) == 1) reach_error(); return 0; }}"
        )
    };
    assert_eq!(end_of(&text(0)), End::Error);
    assert!(matches!(end_of(&text(1)), End::Place(what) if what.contains("asm_goto")));
}
