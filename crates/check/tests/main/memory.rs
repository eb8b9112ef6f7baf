//! Programs with memory are refused, not guessed.

use wherefore_check::exact::{CheckError, CheckOptions, Checker};
use wherefore_frontend::c::{Options, translate_text};
use wherefore_program::TargetChoice;

#[test]
fn memory_is_refused() {
    let text = "int a; int main(void) { int *p = &a; *p = 1; return *p; }";
    let program = translate_text("t.c", text, &Options::default()).unwrap().program;
    let targets = program.targets(&TargetChoice::Default).unwrap();
    let error = Checker::new(&program, &targets, CheckOptions::default()).err();
    assert!(matches!(error, Some(CheckError::Memory { .. })), "{error:?}");
}

#[test]
fn refinement_with_diagrams_refuses_memory_too() {
    let text = "int a; int main(void) { int *p = &a; *p = 1; return *p; }";
    let program = translate_text("t.c", text, &Options::default()).unwrap().program;
    let targets = program.targets(&TargetChoice::Default).unwrap();
    let error =
        wherefore_check::refinement::diagrams::Cegar::new(&program, &targets, Default::default()).err();
    assert!(matches!(error, Some(CheckError::Memory { .. })), "{error:?}");
}

/// A caller of the library gets what the command prints: a proof that something speaks against is
/// none.
#[test]
fn the_library_doubts_what_the_command_doubts() {
    let text = "extern void reach_error(void); int x; int main(void) { if ((unsigned long)&x == 5) reach_error(); return 0; }";
    let task = wherefore_frontend::parse(wherefore_frontend::Language::C, "t.c", text, None).unwrap();
    let answer = wherefore_check::answer(
        &task,
        &wherefore_check::Question::default(),
        &wherefore_check::Session::default(),
        &wherefore_check::Budget::time(std::time::Duration::from_secs(20)),
    );
    let verdict = &answer.verdicts[0];
    assert!(matches!(verdict.why(), Some(wherefore_check::Why::Doubts(_))), "{verdict:?}");
}
