//! C programs whose data are 32 bits wide: the two ways to decide them do not contradict each other.

use std::time::Duration;

use wherefore_check::Budget;
use wherefore_frontend::c::{self, Options};
use wherefore_ltl::{Formula, Meaning, Subject, Verdict, Way, decide_in};
use wherefore_program::{BinaryOp, Expr, Program, Scalar, Var};
use wherefore_testing::cases;

use crate::automata::{Random, random_formula};

fn statement(random: &mut Random, calls: bool, depth: usize) -> String {
    let global = ["g", "h"][random.below(2)];
    let number = random.below(4);
    let part = |random: &mut Random| statement(random, calls, depth.saturating_sub(1));
    match random.below(if depth == 0 { 6 } else { 9 }) {
        0 | 1 => format!("{global} = {number};"),
        2 => format!("{global} = ({global} + 1) % 3;"),
        3 => "g = h;".to_owned(),
        4 if calls => format!("f({number});"),
        5 if calls => "h = k(g);".to_owned(),
        4 | 5 => format!("if ({global} == {number}) return 0;"),
        6 => format!("if (__VERIFIER_nondet_int()) {{ {} }} else {{ {} }}", part(random), part(random)),
        7 => format!("if ({global} < {number}) {{ {} {} }}", part(random), part(random)),
        _ => {
            let body = part(random);
            match random.below(3) {
                0 => format!("while (__VERIFIER_nondet_int() > {number}) {{ {body} }}"),
                1 => format!("while ({global} != {number}) {{ {body} }}"),
                _ => format!("for (int i = 0; i < {number}; i++) {{ {body} }}"),
            }
        }
    }
}

fn program(random: &mut Random) -> (String, Program) {
    let mut body = |calls: bool, length: usize| -> String {
        (0..length).map(|_| statement(random, calls, 2)).collect::<Vec<_>>().join("\n  ")
    };
    let (f, k, main) = (body(true, 2), body(false, 1), body(true, 3));
    let text = format!(
        "extern int __VERIFIER_nondet_int(void);\nint g, h = 1;\nint k(int n) {{ if (n > 2) return 1; {k} return n; }}\n\
         int f(int n) {{ if (n == 0) return 0; {f} return k(n - 1); }}\nint main(void) {{\n  {main}\n  return 0;\n}}\n"
    );
    let translation = c::translate_text("random.c", &text, &Options::default());
    let program = translation.unwrap_or_else(|error| panic!("{}\n{text}", error.render())).program;
    (text, program)
}

fn meanings() -> Vec<Meaning> {
    let is = |variable: u32, value: u64| {
        let ty = Scalar::Bits(32);
        let read = Expr::variable(Var::Global(variable), ty);
        Meaning::Condition(Expr::binary(BinaryOp::Eq, read, Expr::constant(value, ty)))
    };
    vec![is(0, 1), is(1, 2), Meaning::End]
}

#[test]
fn two_ways_to_decide_c_agree() {
    let mut random = Random(wherefore_testing::seed().wrapping_add(13));
    let mut decided = [0; 2];
    let (mut holds, mut fails) = (0, 0);
    for _ in 0..cases(90) {
        let (text, program) = program(&mut random);
        if program.globals.len() != 2 {
            continue;
        }
        let meanings = meanings();
        let subject = Subject { program: &program, meanings: &meanings, silent: Some(program.entry) };
        for _ in 0..2 {
            let formula: Formula = random_formula(&mut random, 3, 3);
            let mut found: Option<bool> = None;
            for (number, way) in [Way::Abstract, Way::States].into_iter().enumerate() {
                let budget = Budget::time(Duration::from_secs(2));
                let answer = match decide_in(&subject, &formula, way, &budget).verdict {
                    Verdict::Holds => true,
                    Verdict::Fails(_) => false,
                    Verdict::Unknown(_) => continue,
                };
                decided[number] += 1;
                let first = *found.get_or_insert(answer);
                assert_eq!(first, answer, "{way:?}: {formula:?}\n{text}");
            }
            match found {
                Some(true) => holds += 1,
                Some(false) => fails += 1,
                None => {}
            }
        }
    }
    assert!(decided.iter().all(|count| *count > 10) && holds > 5 && fails > 5, "{decided:?} {holds} {fails}");
}
