//! Error projections of C programs: those of the documents (`tests/cases/c`), and random ones
//! against an exhaustive search.

#[allow(dead_code)]
use crate::case_facts_support::yaml;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use wherefore_check::bounded::{Bounded, check};
use wherefore_check::refinement::solver::{ProjectOptions, Projected, project};
use wherefore_check::{Budget, Decision, FailingRun, Through, project_from, through};
use wherefore_frontend::c::{self, Options};
use wherefore_program::{ErrorSite, Interpreter, Node, PathSlicer, Program, State, TargetChoice};

fn budget(seconds: u64) -> Budget {
    Budget::time(Duration::from_secs(seconds))
}

/// The projection by both engines: a run of bounded checking is the seed of refinement.
fn project_by_both(program: &Program, targets: &[ErrorSite], seconds: u64) -> Projected {
    let seeds = match check(program, targets, &budget(seconds).share(2), &|_| {}) {
        Bounded::Unsafe(runs) => runs.into_iter().take(1).collect(),
        _ => Vec::new(),
    };
    project_from(program, targets, seeds, &budget(seconds), &mut |_| {})
}

fn translate(file: &Path) -> (Program, Vec<ErrorSite>) {
    let translation = c::translate(&[file.to_owned()], &Options::default())
        .unwrap_or_else(|error| panic!("{}", error.render()));
    let targets = translation.program.targets(&TargetChoice::Default).unwrap();
    (translation.program, targets)
}

fn lines<'a>(program: &Program, nodes: impl IntoIterator<Item = &'a Node>) -> BTreeSet<u32> {
    nodes.into_iter().filter_map(|node| program.line(*node)).collect()
}

/// What holds of every projection.
fn consistent(program: &Program, targets: &[ErrorSite], found: &Projected) {
    assert!(found.confirmed.keys().all(|node| found.inside.contains(node)));
    assert_eq!(found.is_exact(), found.confirmed.len() == found.inside.len());
    for (node, run) in &found.confirmed {
        assert!(found.runs[*run].trace.states().any(|state| state.node() == Some(*node)));
    }
    for run in &found.runs {
        fails(program, targets, run);
    }
}

/// The run is one of the program, and ends at its target.
fn fails(program: &Program, targets: &[ErrorSite], run: &FailingRun) {
    assert_eq!(run.trace.last().node(), Some(targets[run.target].node));
    assert_eq!(run.trace.steps.iter().map(|step| step.edge).collect::<Vec<_>>(), run.path);
    PathSlicer::new(program).slice(&run.path).unwrap();
    if program.uses_memory().is_none() {
        assert_eq!(program.replay(&run.trace), Ok(()));
    }
}

#[test]
fn projections_of_the_programs_of_the_documents() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/c");
    let mut folders: Vec<_> = std::fs::read_dir(cases).unwrap().map(|case| case.unwrap().path()).collect();
    folders.sort();
    let mut count = 0;
    for folder in folders {
        let expected = yaml::read(&folder.join("expect.yaml"));
        for fact in yaml::list(&expected, "facts").unwrap_or_default() {
            let is_c = yaml::text(fact, "input").is_some_and(|file| file.ends_with(".c"));
            if yaml::text(fact, "kind") != Some("error_projection") || !is_c {
                continue;
            }
            let name = folder.file_name().unwrap().to_string_lossy().into_owned();
            let (program, targets) = translate(&folder.join(yaml::text(fact, "input").unwrap()));
            let found = project(&program, &targets, &ProjectOptions::default(), &budget(60), &mut |_| {});
            consistent(&program, &targets, &found);
            let (inside, confirmed) =
                (lines(&program, &found.inside), lines(&program, found.confirmed.keys()));
            for line in yaml::lines(fact, "in") {
                assert!(inside.contains(&line), "{name}: line {line} is inside");
            }
            for line in yaml::lines(fact, "out") {
                assert!(!inside.contains(&line), "{name}: line {line} is outside");
            }
            assert_eq!((found.reason, found.is_checked), (None, true), "{name}");
            assert_eq!(inside, confirmed);
            count += 1;
        }
    }
    assert!(count >= 9, "{count} projections");
}

/// A random program over three small inputs: arithmetic, branches, loops, calls, several errors.
fn program() -> impl Strategy<Value = String> {
    let variable = || proptest::sample::select(vec!["a", "b", "c", "g"]);
    let operator = || proptest::sample::select(vec!["+", "-", "*", "&", "|", "^", "<", "==", "%"]);
    let expression = (variable(), operator(), variable(), 0_u32..4).prop_map(|(x, op, y, k)| match op {
        "%" => format!("({x} % {})", k + 1),
        _ => format!("({x} {op} ({y} + {k}))"),
    });
    let condition = (expression.clone(), proptest::sample::select(vec!["==", ">", "!="]), 0_u32..4)
        .prop_map(|(e, op, k)| format!("{e} {op} {k}"));
    let simple = prop_oneof![
        6 => (variable(), expression.clone()).prop_map(|(t, e)| format!("{t} = {e};")),
        1 => condition.clone().prop_map(|e| format!("if ({e})\n reach_error();")),
        1 => condition.clone().prop_map(|e| format!("if ({e})\n return 0;")),
        1 => (variable(), expression.clone()).prop_map(|(t, e)| format!("{t} = twice({e});")),
        1 => variable().prop_map(|t| format!("{t} = __VERIFIER_nondet_int() & 1;")),
    ];
    let pair = || proptest::collection::vec(simple.clone(), 1..3).prop_map(|all| all.join("\n"));
    let statement = prop_oneof![
        4 => simple.clone(),
        3 => (condition.clone(), pair(), pair()).prop_map(|(e, x, y)| format!("if ({e}) {{\n{x}\n}} else {{\n{y}\n}}")),
        1 => (1_u32..4, pair()).prop_map(|(n, x)| format!("for (int i = 0; i < {n}; i++) {{\n{x}\n}}")),
        1 => (1_u32..4, pair()).prop_map(|(n, x)| format!("switch (a & 3) {{\ncase {n}:\n{x}\nbreak;\ndefault:\ng++;\n}}")),
    ];
    (proptest::collection::vec(statement, 1..5), condition).prop_map(|(body, last)| {
        let body = body.join("\n");
        format!(
            "extern int __VERIFIER_nondet_int(void);\nextern void reach_error(void);\nstatic int g;\n\
             static int twice(int x) {{\nif (x == 5)\nreturn 1;\ng ^= x;\nreturn x + x;\n}}\n\
             int main(void) {{\nint a = __VERIFIER_nondet_int() & 3;\nint b = __VERIFIER_nondet_int() & 3;\n\
             int c = __VERIFIER_nondet_int() & 1;\n{body}\nif ({last})\nreach_error();\nreturn 0;\n}}\n"
        )
    })
}

/// All locations on failing runs, by running the program on all inputs: of an input only the two
/// lowest bits matter.
fn failing(program: &Program, targets: &[ErrorSite]) -> BTreeSet<Node> {
    let interpreter = Interpreter::new(program);
    let is_target = |state: &State| targets.iter().any(|site| state.node() == Some(site.node));
    let mut numbers: BTreeMap<State, usize> = BTreeMap::new();
    let mut states = interpreter.initial_states(1).0;
    numbers.insert(states[0].clone(), 0);
    let mut before: Vec<Vec<usize>> = vec![Vec::new()];
    let mut next = 0;
    while next < states.len() {
        let successors =
            if is_target(&states[next]) { Vec::new() } else { interpreter.successors(&states[next], 4).0 };
        for (_, state) in successors {
            let number = *numbers.entry(state.clone()).or_insert_with(|| {
                states.push(state);
                before.push(Vec::new());
                states.len() - 1
            });
            before[number].push(next);
        }
        next += 1;
    }
    let mut open: Vec<usize> = (0..states.len()).filter(|at| is_target(&states[*at])).collect();
    let mut seen: BTreeSet<usize> = open.iter().copied().collect();
    while let Some(at) = open.pop() {
        open.extend(before[at].iter().copied().filter(|from| seen.insert(*from)));
    }
    seen.into_iter().filter_map(|at| states[at].node()).collect()
}

fn run_random(cases: u32, test: impl Fn(&str, &Program, &[ErrorSite]) -> Result<(), TestCaseError>) {
    let cases = wherefore_testing::cases(cases);
    let config = Config { cases, max_shrink_iters: 200, failure_persistence: None, ..Config::default() };
    let result = TestRunner::new(config).run(&program(), |text| {
        let translation = c::translate_text("random.c", &text, &Options::default()).unwrap();
        let targets = translation.program.targets(&TargetChoice::Default).unwrap();
        test(&text, &translation.program, &targets)
    });
    result.unwrap();
}

#[test]
fn projections_of_random_programs_are_the_failing_runs() {
    let exact = std::cell::Cell::new((0, 0));
    run_random(150, |text, program, targets| {
        let expected = failing(program, targets);
        let found = project(program, targets, &ProjectOptions::default(), &budget(3), &mut |_| {});
        consistent(program, targets, &found);
        let confirmed: BTreeSet<Node> = found.confirmed.keys().copied().collect();
        prop_assert!(
            confirmed.is_subset(&expected),
            "{:?} is confirmed in\n{}",
            confirmed.difference(&expected),
            text
        );
        prop_assert!(
            expected.is_subset(&found.inside),
            "{:?} is outside in\n{}",
            expected.difference(&found.inside),
            text
        );
        if found.is_exact() {
            let verdict = if expected.is_empty() { Decision::Safe } else { Decision::Unsafe };
            prop_assert_eq!(found.verdict, verdict, "{}", text);
        }
        let (of, all) = exact.get();
        exact.set((of + u32::from(found.is_exact()), all + 1));
        Ok(())
    });
    let (of, all) = exact.get();
    assert!(10 * of >= 9 * all, "{of} of {all} are exact");
}

#[test]
fn both_engines_together_are_exact_on_random_programs() {
    run_random(60, |text, program, targets| {
        let found = project_by_both(program, targets, 30);
        consistent(program, targets, &found);
        prop_assert!(found.is_exact(), "{:?} in\n{}", found.reason, text);
        prop_assert_eq!(&found.inside, &failing(program, targets), "{}", text);
        Ok(())
    });
}

fn read(text: &str) -> (Program, Vec<ErrorSite>) {
    let translation = c::translate_text("case.c", text, &Options::default()).unwrap();
    let targets = translation.program.targets(&TargetChoice::Default).unwrap();
    (translation.program, targets)
}

const DEEP: &str = "extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int depth;
void down(int n) {
  if (n > 0)
    down(n - 1);
  if (depth == 6)
    reach_error();
  depth++;
}
void aside(void) {
  depth = 0;
}
int main(void) {
  int n = __VERIFIER_nondet_int();
  if (n > 1000)
    return 1;
  down(n);
  return 0;
}
";

/// The failure is seven calls deep. Recursion has no bound in projections: what leads to it is
/// confirmed, and what cannot lead to it is excluded.
#[test]
fn failures_deep_in_recursion_are_projected() {
    let (program, targets) = read(DEEP);
    let found = project_by_both(&program, &targets, 20);
    consistent(&program, &targets, &found);
    assert_eq!(found.verdict, Decision::Unsafe);
    let (inside, confirmed) = (lines(&program, &found.inside), lines(&program, found.confirmed.keys()));
    assert!([5, 6, 7, 8, 9, 15, 16, 18].iter().all(|line| confirmed.contains(line)), "{confirmed:?}");
    assert!(!inside.contains(&12) && !inside.contains(&17), "{inside:?}");
}

/// A recursive call behind which nothing fails is outside.
#[test]
fn recursion_that_leads_to_no_error_is_outside() {
    let text = "extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
void down(int n) {
  if (n > 0)
    down(n - 1);
}
int main(void) {
  int n = __VERIFIER_nondet_int();
  if (n == 3)
    reach_error();
  down(n);
  return 0;
}
";
    let (program, targets) = read(text);
    let found = project(&program, &targets, &ProjectOptions::default(), &budget(20), &mut |_| {});
    consistent(&program, &targets, &found);
    assert!(found.is_exact() && found.is_checked);
    assert_eq!(lines(&program, &found.inside), BTreeSet::from([7, 8, 9, 10]));
}

/// What a recursive procedure leaves decides whether its caller fails, at every depth.
#[test]
fn projections_relate_a_recursive_callee_to_its_caller() {
    let text = "extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int g;
void walk(int n) {
  if (n > 0) {
    g = g + 2;
    walk(n - 1);
  }
}
int main(void) {
  int odd = __VERIFIER_nondet_int();
  g = 0;
  if (odd)
    g = 1;
  walk(__VERIFIER_nondet_int());
  if ((g & 1) == 1)
    reach_error();
  g = 5;
  return 0;
}
";
    let (program, targets) = read(text);
    let found = project(&program, &targets, &ProjectOptions::default(), &budget(20), &mut |_| {});
    consistent(&program, &targets, &found);
    assert!(found.is_exact() && found.is_checked, "{:?}", found.reason);
    let inside = lines(&program, &found.inside);
    assert!([5, 6, 7, 14, 15, 16, 17].iter().all(|line| inside.contains(line)), "{inside:?}");
    assert!(!inside.contains(&18), "{inside:?}");
}

/// Conditions from predicates, which the first counterexample needs, and from the guards on the
/// way.
#[test]
fn conditions_are_those_under_which_the_program_fails() {
    let text = "extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
  int x = __VERIFIER_nondet_int();
  int y;
  if (x < 7)
    y = 0;
  else
    y = 1;
  x = x + 1;
  if (y == 1)
    reach_error();
  return 0;
}
";
    let (program, targets) = read(text);
    let found = project(&program, &targets, &ProjectOptions::default(), &budget(20), &mut |_| {});
    let at = |line: u32| -> Vec<String> {
        let here = found.stores.iter().filter(|(node, _)| program.line(**node) == Some(line));
        here.flat_map(|(_, stores)| stores.iter().map(|conditions| conditions.join(" && "))).collect()
    };
    assert_eq!(at(4), [""]);
    assert_eq!(at(6), ["x >= 7"]);
    assert_eq!(at(7), [""; 0]);
    assert_eq!(at(9), [""]);
    assert_eq!((at(10), at(11)), (vec!["y == 1".to_owned()], vec!["y == 1".to_owned()]));
    assert_eq!(at(12), [""]);
}

/// A failing run ends at its target: what follows there, inside a procedure whose entry is the
/// target, is on no failing run.
#[test]
fn a_run_through_locations_ends_at_its_target() {
    let text = "extern int __VERIFIER_nondet_int(void);
int g;
void helper(void) {
  g = 1;
  g = 2;
}
int main(void) {
  g = 3;
  if (__VERIFIER_nondet_int())
    helper();
  g = 4;
  return 0;
}
";
    let program = c::translate_text("case.c", text, &Options::default()).unwrap().program;
    let targets = program.targets(&TargetChoice::Label("helper".to_owned())).unwrap();
    assert_eq!(targets.len(), 1);
    let found = project(&program, &targets, &ProjectOptions::default(), &budget(20), &mut |_| {});
    assert!(found.is_exact());
    for line in [4, 5, 8, 9, 10, 11, 12] {
        let nodes: Vec<Node> = program.nodes().filter(|node| program.line(*node) == Some(line)).collect();
        let inside = nodes.iter().any(|node| found.inside.contains(node));
        match through(&program, &targets, &nodes, &budget(20)) {
            Through::Run(run) => {
                fails(&program, &targets, &run);
                assert!(inside && [4, 8, 9, 10].contains(&line), "line {line}");
            }
            Through::None { .. } => assert!(!inside && [5, 11, 12].contains(&line), "line {line}"),
            Through::Unknown(stop) => panic!("{stop:?} at line {line}"),
        }
    }
    assert!(matches!(through(&program, &targets, &[], &budget(20)), Through::None { .. }));
    assert!(matches!(through(&program, &[], &[targets[0].node], &budget(20)), Through::None { .. }));
}

#[test]
fn runs_through_lines_of_random_programs() {
    run_random(12, |text, program, targets| {
        let expected = failing(program, targets);
        let mut on_line: BTreeMap<u32, Vec<Node>> = BTreeMap::new();
        for node in program.nodes() {
            on_line.entry(program.line(node).unwrap_or(0)).or_default().push(node);
        }
        for (line, nodes) in on_line {
            let fails_here = nodes.iter().any(|node| expected.contains(node));
            match through(program, targets, &nodes, &budget(20)) {
                Through::Run(run) => {
                    fails(program, targets, &run);
                    let passes = run
                        .trace
                        .states()
                        .any(|state| state.node().is_some_and(|node| nodes.contains(&node)));
                    prop_assert!(passes && fails_here, "line {} of\n{}", line, text);
                }
                Through::None { .. } => prop_assert!(!fails_here, "line {} of\n{}", line, text),
                Through::Unknown(stop) => prop_assert!(false, "{:?} at line {} of\n{}", stop, line, text),
            }
        }
        Ok(())
    });
}
