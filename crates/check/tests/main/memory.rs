//! Programs with memory: which engines refuse them, and what slices know of pointers.

use std::collections::BTreeSet;

use wherefore_check::Budget;
use wherefore_check::bounded::{Bounded, check};
use wherefore_check::exact::{CheckError, CheckOptions, Checker};
use wherefore_frontend::c::{Options, translate_text};
use wherefore_program::{PathSlicer, TargetChoice};

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

/// After `p = &x`, a write through `p` is one to `x`: what `x` was before does not matter, and
/// neither does what other pointers write elsewhere.
#[test]
fn slices_know_where_pointers_point() {
    let text = "extern void reach_error(void);
int x, y, z;
int main(void) {
  int *p, *q = &z;
  x = 0;
  y = 7;
  p = &x;
  *q = 3;
  *p = y;
  *q = 4;
  if (x == 7)
    reach_error();
  return *q;
}
";
    let program = translate_text("t.c", text, &Options::default()).unwrap().program;
    let targets = program.targets(&TargetChoice::Default).unwrap();
    let Bounded::Unsafe(runs) = check(&program, &targets, &Budget::default(), &|_| {}) else {
        panic!("it fails");
    };
    let run = &runs[0];
    let slice = PathSlicer::new(&program).slice(&run.path).unwrap();
    let line = |position: &usize| program.position(program.edge(run.path[*position]).span).line;
    let main = program.procedures().find(|(_, body)| body.name == "main").unwrap().0;
    let lines: BTreeSet<u32> =
        slice.taken.iter().filter(|at| run.path[**at].procedure == main).map(line).collect();
    for needed in [6, 7, 9, 11] {
        assert!(lines.contains(&needed), "{needed} is not in {lines:?}");
    }
    for not_needed in [5, 8, 10] {
        assert!(!lines.contains(&not_needed), "{not_needed} is in {lines:?}");
    }
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
