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
