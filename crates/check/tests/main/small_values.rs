//! Exact checking of variables that take few values: state machines are decided, and what is
//! decided is right.

use std::time::Duration;

use wherefore_check::small_values::SmallValues;
use wherefore_check::{
    Budget, Engine, EngineChoice, EngineName, Overall, Question, Replaying, Session, Verdict, answer,
};
use wherefore_frontend::c::{Options, translate_text};
use wherefore_program::Task;
use wherefore_testing::{cases, seed};

/// Draws the parts of random programs.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

const HEAD: &str = "extern int in(void); extern void reach_error(void);\n";

fn task(text: &str) -> Task {
    translate_text("machine.c", text, &Options::default())
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
        .into_task(&["machine.c".into()], &Options::default())
}

fn decide(text: &str) -> (Task, Vec<Verdict>) {
    let task = task(&format!("{HEAD}{text}"));
    let budget = Budget::time(Duration::from_secs(20));
    let answer = SmallValues::default().decide(&task, &Session::default(), &budget);
    (task, answer.verdicts)
}

fn is_safe(text: &str) -> bool {
    let (_, verdicts) = decide(text);
    assert!(!verdicts.is_empty());
    verdicts.iter().all(|verdict| matches!(verdict, Verdict::Safe(_)))
}

/// The number of steps of the failing run.
fn fails(text: &str) -> Option<usize> {
    let (task, verdicts) = decide(text);
    let run = verdicts.iter().find_map(Verdict::run)?;
    task.program.replay(&run.trace).expect("the run is one of the program");
    Some(run.trace.steps.len())
}

#[test]
fn a_protocol_without_end_is_proved() {
    let machine = |last: i32| {
        format!(
            "int state = 3, seen;\n\
             static int next(int event) {{\n\
               switch (state) {{\n\
               case 3: if (event == 1) {{ state = 12; seen = 0; }} break;\n\
               case 12: if (event == 2) state = 40; else if (event > 7) state = 3; break;\n\
               case 40: seen = 1; state = {last}; break;\n\
               case 77: if (!seen) reach_error(); state = 3; break; }}\n\
               return state; }}\n\
             int main(void) {{ for (;;) {{ int s = next(in()); if (s == 41) reach_error(); }} }}"
        )
    };
    assert!(is_safe(&machine(77)));
    assert!(fails(&machine(41)).is_some());
}

#[test]
fn computed_values_are_followed_while_they_are_few() {
    let flags = |mask: i32| {
        format!(
            "unsigned flags; unsigned char turn;\n\
             int main(void) {{ for (;;) {{ switch (in()) {{\n\
             case 1: flags |= 4; break; case 2: flags &= ~6u; break; case 3: flags ^= 1; break; }}\n\
             turn = (turn + 1) % 3;\n\
             if ((flags & {mask}) || turn > 2) reach_error(); }} }}"
        )
    };
    assert!(is_safe(&flags(2)));
    assert!(fails(&flags(4)).is_some());
}

#[test]
fn other_numbers_are_no_points() {
    // An input is any number: one that the program does not name is equal to none that it names.
    assert!(is_safe(
        "int main(void) { int a = in(), b = a; if (a == 7 && b != 7) reach_error(); return 0; }"
    ));
    assert!(
        fails("int main(void) { int a = in(), b = in(); if (a == b) reach_error(); return 0; }").is_some()
    );
    // Two other numbers may be equal or not.
    let text =
        "int main(void) { int a = in(), b = in(); if (a != 5 && b != 5 && a != b) reach_error(); return 0; }";
    assert!(fails(text).is_some());
    assert!(!is_safe(
        "int main(void) { signed char c = in(); if (c != 1 && (int)c == -3) reach_error(); return 0; }"
    ));
}

#[test]
fn calls_and_recursion_keep_their_values_apart() {
    let text = |last: i32| {
        format!(
            "int depth;\n\
             int down(int mode) {{ if (in()) return mode == 2 ? 5 : 6; int r = down(mode == 1 ? 2 : mode); return r; }}\n\
             int main(void) {{ int a = down(2), b = down(3); if (a != 5 || b != {last}) reach_error(); return 0; }}"
        )
    };
    assert!(is_safe(&text(6)));
    assert!(fails(&text(5)).is_some());
}

#[test]
fn a_result_of_another_width_is_left_open() {
    let text = "unsigned char low(int x) { return x; }\n\
        int main(void) { int a = low(in() ? 256 : 3); if (a == 256) reach_error(); if (a == 3) reach_error(); return 0; }";
    let (_, verdicts) = decide(text);
    assert!(verdicts[1].run().is_some() || matches!(verdicts[1], Verdict::Unknown(_)));
    assert!(verdicts[0].run().is_none());
}

#[test]
fn the_portfolio_asks_it() {
    // Each bit depends on all others: many lemmas, few values.
    let mut text =
        format!("{HEAD}int a = 1, b = 2, c = 3, d = 4;\nint main(void) {{ for (;;) {{ int i = in();\n");
    for (i, (x, y)) in
        [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("a", "c"), ("b", "d")].iter().enumerate()
    {
        text +=
            &format!("if (i == {i} && {x} == {}) {{ {x} = {y}; {y} = {}; }}\n", i % 4 + 1, (i + 1) % 4 + 1);
    }
    text += "if (a > 4 || b > 4 || c < 1 || d == 9) reach_error(); } }";
    let task = task(&text);
    let question =
        Question { engine: EngineChoice::SmallValues, replaying: Replaying::Off, ..Question::default() };
    let answer = answer(&task, &question, &Session::default(), &Budget::time(Duration::from_secs(20)));
    assert!(matches!(answer.decision(), Overall::Safe), "{:?}", answer.verdicts);
    assert_eq!(answer.facts.by, Some(EngineName::SmallValues));
}

/// A random machine: variables of several widths, copies, arithmetic, calls, inputs.
fn machine(draw: &mut Draw) -> String {
    let names = ["g", "h", "u", "c"];
    let constant = |draw: &mut Draw| draw.of(&["0", "1", "2", "3", "5", "-1", "200"]).to_string();
    let value = |draw: &mut Draw| match draw.below(9) {
        0..=3 => constant(draw),
        4 => draw.of(&names).to_owned(),
        5 => format!("{} + 1", draw.of(&names)),
        6 => format!("{} & 3", draw.of(&names)),
        7 => format!("f({}, {})", draw.of(&names), draw.of(&names)),
        _ => "in()".to_owned(),
    };
    let test = |draw: &mut Draw| {
        let op = draw.of(&["==", "!=", "<", ">=", "=="]);
        let right = if draw.below(4) == 0 { draw.of(&names).to_owned() } else { constant(draw) };
        format!("{} {op} {right}", draw.of(&names))
    };
    let mut steps = String::new();
    for _ in 0..3 + draw.below(5) {
        let (name, value, first, second) = (draw.of(&names), value(draw), test(draw), test(draw));
        let and = if draw.below(2) == 0 { format!("({first}) && ({second})") } else { first };
        steps += &format!("    if ({and}) {name} = {value};\n");
    }
    let (a, b) = (test(draw), test(draw));
    let (back, other) = (constant(draw), test(draw));
    let loops = if draw.below(3) == 0 { "for (int i = 0; i < 4; i++)" } else { "while (in())" };
    format!(
        "{HEAD}int g = 1, h; unsigned u = 2; signed char c;\n\
         int f(int x, unsigned char y) {{ if (x == y) return {back}; if ({other}) h = x; return y; }}\n\
         int main(void) {{\n  {loops} {{\n{steps}    if (({a}) && ({b})) reach_error();\n  }}\n  return 0;\n}}\n"
    )
}

#[test]
fn random_machines_are_decided_as_by_others() {
    let (mut proofs, mut runs) = (0, 0);
    let count = cases(360);
    let mut draw = Draw(seed());
    for _ in 0..count {
        let text = machine(&mut draw);
        let task = task(&text);
        let budget = Budget::time(Duration::from_secs(10));
        let found = SmallValues::default().decide(&task, &Session::default(), &budget);
        let check = |engine: EngineChoice| {
            let question = Question { engine, replaying: Replaying::Off, ..Question::default() };
            answer(&task, &question, &Session::default(), &Budget::default().spending(300_000))
        };
        match found.decision() {
            Overall::Safe => {
                proofs += 1;
                for engine in [EngineChoice::Bounded, EngineChoice::Random] {
                    let other = check(engine);
                    assert!(!matches!(other.decision(), Overall::Unsafe(_)), "{engine:?} fails:\n{text}");
                }
            }
            Overall::Unsafe(run) => {
                runs += 1;
                task.program.replay(&run.trace).unwrap_or_else(|_| panic!("no run of\n{text}"));
            }
            Overall::Unknown(_) => {}
        }
    }
    assert!(proofs * 10 >= count && runs * 10 >= count, "{proofs} proofs and {runs} runs of {count}");
}
