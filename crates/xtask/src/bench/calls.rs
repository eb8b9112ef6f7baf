//! Deep call graphs: one property, calls of depth d with two calls in each procedure. The program
//! with its calls inlined has 2^d frames; its procedures grow linearly.

use std::fmt::Write;
use std::time::Duration;

use wherefore_check::{Budget, EngineChoice, Extent, Overall, Question, Session, portfolio};
use wherefore_frontend::{Language, parse};

use super::table::Table;
use super::{Extent as Sizes, measure};

/// The time limit of each row.
const LIMIT: Duration = Duration::from_secs(30);

/// Measures refinement, and all engines that suit the program, on growing depths.
pub fn run(sizes: Sizes) {
    let depths: &[usize] = match sizes {
        Sizes::Quick => &[4, 12],
        Sizes::Full => &[4, 8, 12, 16, 24, 32],
    };
    let mut table = Table::new(&["depth", "procedures", "frames if inlined", "refinement", "no options"]);
    for depth in depths {
        let task = parse(Language::C, "calls.c", &program(*depth), None)
            .unwrap_or_else(|e| panic!("{}", e.render()));
        let mut cells = vec![depth.to_string(), (depth + 2).to_string(), format!("2^{depth}")];
        for engine in [EngineChoice::Refinement, EngineChoice::Auto] {
            let question = Question { engine, extent: Extent::FirstFailure, ..Question::default() };
            let engines = question.engines(&task);
            let (answer, time, _) = measure(1, || {
                portfolio(&task, &engines, Extent::FirstFailure, &Session::default(), &Budget::time(LIMIT))
            });
            cells.push(match answer.decision() {
                Overall::Safe => format!("{:.1} ms", time.as_secs_f64() * 1e3),
                Overall::Unsafe(_) => panic!("a wrong verdict"),
                Overall::Unknown(_) => format!("over {} s", LIMIT.as_secs()),
            });
        }
        table.row(cells);
    }
    table.print("Deep call graphs: two calls in each procedure");
}

/// `g` changes by 2 in the innermost procedure, so that it stays even.
fn program(depth: usize) -> String {
    let mut text = String::from(
        "extern int __VERIFIER_nondet_int(void);\nextern void reach_error(void);\nint g;\n\
         void f0(void) { int x = __VERIFIER_nondet_int(); if (x > 3) g = g + 2; else g = g - 2; }\n",
    );
    for i in 1..=depth {
        let _ = writeln!(text, "void f{i}(void) {{ f{0}(); if (__VERIFIER_nondet_int()) f{0}(); }}", i - 1);
    }
    let _ = writeln!(text, "int main(void) {{ g = 0; f{depth}(); if (g & 1) reach_error(); return 0; }}");
    text
}
