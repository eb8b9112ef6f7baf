//! Random runs find failures that lie deep, and what data flow makes of a program has its runs.

use std::time::Duration;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use wherefore_check::{Budget, EngineChoice, Question, Replaying, Session, Verdict, answer};
use wherefore_flow::{Cells, LoopFacts, Ranges, fold};
use wherefore_frontend::c::{Options, translate_text};
use wherefore_program::{Choices, Interpreter, Program, Step, Stepped, Task, Trace};
use wherefore_testing::{cases, seed};

use crate::c_support::random;

pub(crate) fn task(text: &str) -> Task {
    translate_text("random.c", text, &Options::default())
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
        .into_task(&["random.c".into()], &Options::default())
}

/// The failing run that random runs find, as the number of its statements.
fn found(text: &str) -> Option<usize> {
    let task = task(text);
    let question =
        Question { engine: EngineChoice::Random, replaying: Replaying::Off, ..Question::default() };
    // Counted work, so that the result is always the same.
    let budget = Budget::default().spending(40_000_000);
    let answer = answer(&task, &question, &Session::default(), &budget);
    let run = answer.verdicts.iter().find_map(Verdict::run)?;
    task.program.replay(&run.trace).expect("the run is one of the program");
    Some(run.trace.length(&task.program))
}

const HEAD: &str = "int in(void); int getchar(void); void abort(void);\n\
                    void __VERIFIER_assert(int ok) { if (!ok) { ERROR: abort(); } }\n\
                    extern void reach_error(void);\n";

#[test]
fn a_queue_overflows_after_many_commands() {
    let text = format!(
        "{HEAD} int count; int main(void) {{ for (;;) {{ switch (in()) {{\n\
         case 5: if (count < 21) count++; break;\n case 6: if (count > 0) count--; break;\n\
         case 7: count = 0; break; }}\n if (count > 20) reach_error(); }} }}"
    );
    let length = found(&text).expect("a failing run");
    // Nothing but 21 insertions is left of the run that was found.
    assert!(length <= 21 * 8, "{length} statements");
}

#[test]
fn numbers_are_written_out() {
    let text = format!(
        "{HEAD} int main(void) {{ long n = 0; int c;\n\
         while ((c = in()) >= '0' && c <= '9' && n < 100000) n = 10 * n + c - '0';\n\
         if (n == 7301) reach_error(); return 0; }}"
    );
    assert!(found(&text).is_some());
}

#[test]
fn assumptions_are_met() {
    let text = format!(
        "extern void __VERIFIER_assume(int);\n{HEAD} int main(void) {{ int sum = 0;\n\
         for (int i = 0; i < 9; i++) {{ int x = in(); __VERIFIER_assume(x > 100 && x < 109); sum += x; }}\n\
         if (sum == 9 * 104) reach_error(); return 0; }}"
    );
    assert!(found(&text).is_some());
}

#[test]
fn nothing_is_found_where_nothing_fails() {
    let text = format!(
        "{HEAD} int main(void) {{ unsigned x = in(); if (x % 7 > 6) reach_error();\n\
         int a[4] = {{0}}; a[x % 4]++; if (a[0] + a[1] + a[2] + a[3] != 1) reach_error(); return 0; }}"
    );
    assert_eq!(found(&text), None);
}

/// Choices from a seed.
struct Drawn(u64);

impl Choices for Drawn {
    fn choose(&mut self, max: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let drawn = self.0 >> 33;
        if max == u64::MAX { drawn % 5 } else { (drawn % 5).min(max) }
    }
}

pub(crate) fn run(program: &Program, seed: u64) -> Trace {
    let interpreter = Interpreter::new(program);
    let mut choices = Drawn(seed);
    let mut state = interpreter.begin(&mut choices).expect("a first state");
    let mut trace = Trace { start: state.clone(), steps: Vec::new() };
    while trace.steps.len() < 400 {
        let Stepped::Edge(edge) = interpreter.take(&mut state, &mut choices) else { break };
        trace.steps.push(Step { edge, state: state.clone() });
    }
    trace
}

fn edges(trace: &Trace) -> Vec<wherefore_program::EdgeRef> {
    trace.steps.iter().map(|step| step.edge).collect()
}

/// A program whose memory is split, and whose constants are folded, has the runs of the original:
/// the same choices give the same steps, and its states stand for those of the original.
#[test]
fn simplified_programs_have_the_runs_of_the_original() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed() as u8; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let (mut split, mut followed) = (0, 0);
    for case in 0..u64::from(cases(300)) {
        let text = random::program().new_tree(&mut runner).unwrap().current();
        // Structures behind pointers, and an array that a pointer runs over.
        let text = text.replace(
            "int main(void) {",
            "struct pair { int x, y, z[3]; }; static struct pair one, two;\n\
             static void set(struct pair *p, int v) { p->x = v; p->y = p->x + 1; for (int *q = p->z; q < p->z + 3; q++) *q = v; }\n\
             int main(void) { set(&one, __VERIFIER_nondet_int() & 7); set(&two, one.y); two.z[one.y % 3]++; g = two.z[1];",
        );
        // A local array begins with any values, which are chosen in another order if its cells are
        // variables: then the runs differ, but are runs of the original all the same.
        let is_same = case % 2 == 0;
        let text = if is_same { text.replace("int v[4]", "static int v[4]") } else { text };
        let original = (*task(&text).program).clone();
        let ranges = Ranges::new(&original).expect("the program is small");
        let folded = fold(&original, &ranges);
        let assumed = LoopFacts::new(&original, &ranges).assumed(&original, |_, _| true);
        assumed.iter().for_each(|program| assert_eq!(program.check(), Ok(()), "{text}"));
        for round in 0..4 {
            let wanted = run(&original, case * 4 + round);
            let same = run(&folded, case * 4 + round);
            assert!(wanted == same, "folded:\n{text}");
            if let Some(assumed) = &assumed {
                // A condition that did not hold would stop the run.
                assert!(wanted == run(assumed, case * 4 + round), "with facts at loops:\n{text}");
            }
        }
        let Some(cells) = Cells::new(&original, &ranges) else { continue };
        split += 1;
        assert_eq!(cells.program.check(), Ok(()), "{text}");
        for round in 0..4 {
            let wanted = run(&original, case * 4 + round);
            let mut other = run(&cells.program, case * 4 + round);
            if is_same {
                assert_eq!(edges(&wanted), edges(&other), "{text}");
            }
            other.start = cells.original(&other.start);
            for step in &mut other.steps {
                step.state = cells.original(&step.state);
            }
            let back = Interpreter::new(&original).retrace(&other);
            assert!(back.is_some(), "no run of the original:\n{text}");
            if is_same {
                assert!(back == Some(wanted), "another run of the original:\n{text}");
                followed += 1;
            }
        }
    }
    assert!(split > 20 && followed > 80, "{split} programs were split");
}

#[test]
fn answers_with_the_same_work_are_the_same() {
    let text = format!(
        "{HEAD} int main(void) {{ int s = 0; for (;;) {{ int c = in();\n\
         if (s == 0 && c == 17) s = 1; else if (s == 1 && c == 4) s = 2; else if (c == 90) s = 0;\n\
         if (s == 2 && c == 33) reach_error(); }} }}"
    );
    let decide = || {
        let task = task(&text);
        let question = Question { replaying: Replaying::Off, ..Question::default() };
        let budget = Budget::time(Duration::from_secs(60)).spending(10_000_000);
        let answer = answer(&task, &question, &Session::default(), &budget);
        answer.verdicts.iter().find_map(Verdict::run).map(|run| run.trace.clone())
    };
    assert!(decide().is_some());
    assert_eq!(decide(), decide());
}
