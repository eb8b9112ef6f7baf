//! Recursive programs: decision diagrams against rules one by one, and loops whose stack grows.

use std::collections::BTreeMap;

use wherefore_check::Budget;
use wherefore_ltl::{
    Explicit, ExplicitRule, ExplicitVerdict, Lasso, Meaning, Subject, TopOfStack, Verdict, Way,
    decide_explicit, decide_in,
};
use wherefore_program::{Frame, Interpreter, Program, State};
use wherefore_testing::cases;

use crate::automata::{Random, random_formula};
use crate::generator::{Calls, formula, meanings, parse, program};

/// The control state before a run starts; others are the values of the globals.
const BEFORE: u32 = 99;

/// A program whose procedures return nothing as rules: control states are the values of globals,
/// symbols are frames; and what is read at a head.
struct Rules {
    rules: Vec<ExplicitRule>,
    /// The frames of symbols 2, 3, …; 0 lies below all, and from 1 nothing goes on.
    frames: Vec<Frame>,
    globals: Vec<Vec<u64>>,
}

const BOTTOM: u32 = 0;
const BLOCKED: u32 = 1;

fn rules(program: &Program) -> Rules {
    let interpreter = Interpreter::new(program);
    let mut numbers: BTreeMap<Frame, u32> = BTreeMap::new();
    let mut frames: Vec<Frame> = Vec::new();
    let mut symbol = |frame: &Frame, frames: &mut Vec<Frame>| {
        let frame = Frame { calling: None, ..frame.clone() };
        *numbers.entry(frame.clone()).or_insert_with(|| {
            frames.push(frame);
            frames.len() as u32 + 1
        })
    };
    let bits = program.globals.len();
    let globals: Vec<Vec<u64>> =
        (0..1_u64 << bits).map(|all| (0..bits).map(|bit| all >> bit & 1).collect()).collect();
    let control = |values: &[u64]| values.iter().rev().fold(0, |sum, value| sum * 2 + *value as u32);
    let mut rules = Vec::new();
    for state in interpreter.initial_states(1 << 10).0 {
        let top = symbol(&state.stack[0], &mut frames);
        let (from, to) = ((BEFORE, BOTTOM), control(&state.globals));
        rules.push(ExplicitRule { from, to, push: vec![top, BOTTOM] });
    }
    let mut at = 0;
    while at < frames.len() {
        let frame = frames[at].clone();
        let top = at as u32 + 2;
        let body = program.procedure(frame.procedure);
        let is_last = body.edges_from(frame.location).next().is_none();
        for values in &globals {
            let state =
                State { globals: values.clone(), memory: BTreeMap::new(), stack: vec![frame.clone()] };
            let from = (control(values), top);
            let next = interpreter.successors(&state, 1 << 10).0;
            if next.is_empty() && !is_last {
                rules.push(ExplicitRule { from, to: from.0, push: vec![BLOCKED] });
            }
            for (_, next) in next {
                let push = next.stack.iter().rev().map(|frame| symbol(frame, &mut frames)).collect();
                rules.push(ExplicitRule { from, to: control(&next.globals), push });
            }
        }
        at += 1;
    }
    for to in 0..globals.len() as u32 {
        rules.push(ExplicitRule { from: (to, BLOCKED), to, push: vec![BLOCKED] });
    }
    Rules { rules, frames, globals }
}

fn letter(
    rules: &Rules,
    meanings: &[Meaning],
    (control, top): TopOfStack,
    is_stuck: bool,
) -> Option<Vec<bool>> {
    if control == BEFORE || top == BLOCKED {
        return None;
    }
    let frame = (top as usize).checked_sub(2).map(|number| &rules.frames[number]);
    let holds = |meaning: &Meaning| match meaning {
        Meaning::Condition(condition) => {
            let mut value = false;
            condition.reads(&mut |variable, _| {
                if let wherefore_program::Var::Global(i) = variable {
                    value = rules.globals[control as usize][i as usize] == 1;
                }
            });
            value
        }
        Meaning::At(nodes) => frame.is_some_and(|frame| {
            nodes.contains(&wherefore_program::Node { procedure: frame.procedure, location: frame.location })
        }),
        Meaning::End => is_stuck,
    };
    Some(meanings.iter().map(holds).collect())
}

#[test]
fn recursive_programs_as_rule_by_rule() {
    let mut random = Random(wherefore_testing::seed().wrapping_add(12));
    let (mut holds, mut fails, mut grown) = (0, 0, 0);
    for _ in 0..cases(400) {
        let text = program(&mut random, Calls::Recursive);
        let program = parse(&text);
        let meanings = meanings(&program);
        let rules = rules(&program);
        let letter = |head: TopOfStack, is_stuck: bool| letter(&rules, &meanings, head, is_stuck);
        let system = Explicit { rules: rules.rules.clone(), start: (BEFORE, BOTTOM), letter: &letter };
        let subject = Subject { program: &program, meanings: &meanings, silent: None };
        for _ in 0..3 {
            let formula = random_formula(&mut random, 3, 4);
            let one = decide_explicit(&system, &formula, &Budget::default());
            let two = decide_in(&subject, &formula, Way::Exact, &Budget::default()).verdict;
            match (&one, &two) {
                (ExplicitVerdict::Holds, Verdict::Holds) => holds += 1,
                (ExplicitVerdict::Fails(_), Verdict::Fails(lasso)) => {
                    fails += 1;
                    grown += usize::from(lasso.growth() > 0);
                }
                _ => panic!("{one:?}\n{two:?}\n{formula:?}\n{text}"),
            }
        }
    }
    assert!(holds > 50 && fails > 50 && grown > 3, "{holds} {fails} {grown}");
}

fn fails(text: &str, asked: &str) -> Lasso {
    let program = parse(text);
    let (formula, meanings) = formula(&program, asked);
    let subject = Subject { program: &program, meanings: &meanings, silent: None };
    match decide_in(&subject, &formula, Way::Exact, &Budget::default()).verdict {
        Verdict::Fails(lasso) => *lasso,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_stack_that_grows_for_ever_has_no_repeated_configuration_but_a_head() {
    let text = "decl locked;\nvoid visit() begin locked := T; visit(); locked := F; end\n\
        void main() begin locked := F; visit(); end";
    let lasso = fails(text, "G (locked -> F ! (locked))");
    assert_eq!((lasso.growth(), lasso.ends()), (1, false));
    // Each turn is one more call.
    let run = lasso.unrolled(10).unwrap();
    assert!(parse(text).replay(&run).is_ok());
    assert!(run.last().stack.len() > 10);
}

#[test]
fn a_run_that_ends_stays_where_it_is() {
    let text = "decl locked;\nvoid main() begin locked := T; if (*) then return; fi; locked := F; end";
    assert!(fails(text, "G (locked -> F ! (locked))").ends());
    assert!(fails(text, "F G locked && F end").ends());
    let text = "decl ok;\nvoid main() begin ok := F; assert(ok); ok := T; end";
    assert!(fails(text, "F ok").ends());
}

#[test]
fn a_loop_may_return_from_calls_but_not_from_its_own_frame() {
    let text = "decl a;\nvoid f(n) begin if (n) then f(F); fi; a := !a; end\n\
        void main() begin a := F; while (T) do f(T); od; end";
    let lasso = fails(text, "F end || F G a || F G ! (a)");
    assert_eq!(lasso.growth(), 0);
    assert!(!lasso.ends());
}
