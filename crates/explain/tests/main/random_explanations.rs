//! Explanations of random programs, against the compiled programs on all inputs that matter.
//!
//! Each program reads three inputs and looks at their lowest bits only. One C file holds the
//! program, the assumptions that were found and a loop over inputs; what it prints is what was
//! wrong.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use wherefore_check::{Budget, Extent, FailingRun, Question, Session, Verdict, portfolio};
use wherefore_explain::{Conditions, Lines, Reasons, Subject, why};
use wherefore_frontend::c::{Options, translate_text};
use wherefore_program::{ErrorSite, Interpreter, Language, Node, Program, State, TargetChoice, Task};

const TIME: Duration = Duration::from_secs(10);

/// More than any of the programs takes.
const EFFORT: u64 = 10_000_000;
/// Where the body of `main` begins, behind the inputs.
const FIRST_LINE: u32 = 16;

/// What a random program may contain.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parts {
    /// Branches, assignments, calls, loops.
    Plain,
    /// An array too.
    Array,
    /// Free choices too.
    Choices,
}

fn program(parts: Parts) -> impl Strategy<Value = String> {
    let names = match parts {
        Parts::Array => vec!["a", "b", "c", "g", "v[0]", "v[1]", "v[a & 1]"],
        Parts::Plain | Parts::Choices => vec!["a", "b", "c", "g"],
    };
    let variable = move || proptest::sample::select(names.clone());
    let operator = || proptest::sample::select(vec!["+", "-", "*", "&", "|", "^", "<", "==", "%"]);
    let expression = (variable(), operator(), variable(), 0_u32..4).prop_map(|(x, op, y, k)| match op {
        "%" => format!("({x} % {})", k + 1),
        _ => format!("({x} {op} ({y} + {k}))"),
    });
    let sign = || proptest::sample::select(vec!["==", "!=", "<", ">", "<=", ">="]);
    let atom = prop_oneof![
        3 => (variable(), sign(), 0_u32..4).prop_map(|(x, op, k)| format!("{x} {op} {k}")),
        2 => (variable(), sign(), variable()).prop_map(|(x, op, y)| format!("{x} {op} {y}")),
        1 => (expression.clone(), sign(), 0_u32..4).prop_map(|(e, op, k)| format!("{e} {op} {k}")),
    ];
    let join = proptest::sample::select(vec!["&&", "||", "&", "|"]);
    let condition = prop_oneof![
        3 => atom.clone(),
        1 => (atom.clone(), join, atom.clone()).prop_map(|(x, op, y)| format!("({x}) {op} ({y})")),
        1 => atom.clone().prop_map(|x| format!("!({x})")),
    ];
    let free = match parts {
        Parts::Choices => Just("__VERIFIER_nondet_int()".to_owned()).boxed(),
        Parts::Plain | Parts::Array => condition.clone().boxed(),
    };
    let simple = prop_oneof![
        6 => (variable(), expression.clone()).prop_map(|(t, e)| format!("{t} = {e};")),
        2 => (variable(), variable()).prop_map(|(t, e)| format!("{t} = {e};")),
        1 => condition.clone().prop_map(|e| format!("if ({e})\nreach_error();")),
        1 => condition.clone().prop_map(|e| format!("if ({e})\nreturn 0;")),
        1 => (variable(), expression.clone()).prop_map(|(t, e)| format!("{t} = twice({e});")),
    ];
    let pair = || proptest::collection::vec(simple.clone(), 1..3).prop_map(|all| all.join("\n"));
    let branch = |condition: BoxedStrategy<String>| {
        (condition, pair(), pair()).prop_map(|(e, x, y)| format!("if ({e}) {{\n{x}\n}} else {{\n{y}\n}}"))
    };
    let statement = prop_oneof![
        4 => simple.clone(),
        2 => branch(condition.clone().boxed()),
        2 => branch(free),
        1 => (1_u32..3, pair()).prop_map(|(n, x)| format!("for (int i = 0; i < {n}; i++) {{\n{x}\n}}")),
    ];
    (proptest::collection::vec(statement, 1..4), condition).prop_map(|(body, last)| {
        let body = body.join("\n");
        format!(
            "extern int __VERIFIER_nondet_int(void);\nextern void reach_error(void);\nstatic int g;\n\
             static int twice(int x) {{\nif (x == 5)\nreturn 1;\ng ^= x;\nreturn x + x;\n}}\n\
             int main(void) {{\nint a = __VERIFIER_nondet_int();\nint b = __VERIFIER_nondet_int();\n\
             int c = __VERIFIER_nondet_int();\na &= 3; b &= 3; c &= 1;\n\
             int v[2] = {{a, 1}};\n{body}\nif ({last})\nreach_error();\nreturn 0;\n}}\n"
        )
    })
}

/// A failing run.
fn failing_run(task: &Task, budget: &Budget) -> Option<FailingRun> {
    let engines = Question::default().engines(task);
    let answer = portfolio(task, &engines, Extent::FirstFailure, &Session::default(), budget);
    answer.verdicts.iter().find_map(Verdict::run).cloned()
}

/// A program with everything that is said about it.
struct Said<'p> {
    text: &'p str,
    program: &'p Arc<Program>,
    why: Reasons,
    lines: Lines,
}

fn explained<'p>(text: &'p str, program: &'p Arc<Program>, targets: &[ErrorSite]) -> Option<Said<'p>> {
    let mut task = Task::new((**program).clone(), targets.to_vec(), Language::C);
    // Its arrays are read where they have elements.
    task.checks_bounds = true;
    let failure = failing_run(&task, &Budget::time(TIME))?;
    let subject = Subject { task: &task, budget: Budget::time(TIME), effort: EFFORT, only: Vec::new() };
    let begin = Instant::now();
    let mut lines = subject.lines(failure.clone(), EFFORT, Conditions::Wanted);
    if begin.elapsed() >= TIME.mul_f64(0.9) {
        // Alternatives of some runs may be missing.
        lines.stores.clear();
    }
    let why = why(program, targets, failure, &Budget::time(TIME));
    Some(Said { text, program, why, lines })
}

/// Names of explanations as names of C: `x#2` is the second value of `x`, `x@2` the second variable
/// of this name.
fn plain(text: &str) -> String {
    text.replace('#', "_value_").replace('@', "_variable_")
}

/// A text of an explanation as C; none if it was too long to be written.
fn as_c(texts: &[String]) -> Option<String> {
    let mut all = "1".to_owned();
    for text in texts {
        if text.contains("a long condition") || text.contains('…') {
            return None;
        }
        let _ = write!(all, " && ({})", plain(text));
    }
    Some(all)
}

impl Said<'_> {
    /// A C program that prints what is wrong.
    fn checker(&self) -> String {
        let mut out = String::from("#include <setjmp.h>\n#include <stdint.h>\n#include <stdio.h>\n");
        out += "static jmp_buf end;\nstatic int at, choices, values[3];\n#define main program\n";
        out += self.text;
        out += "#undef main\nint __VERIFIER_nondet_int(void) {\n  if (at < 3) return values[at++];\n";
        out += "  return choices >> (at++ - 3) & 1;\n}\nvoid reach_error(void) { longjmp(end, 1); }\n";
        let many = if self.text.matches("nondet_int()").count() > 3 { 256 } else { 1 };
        let _ = writeln!(out, "static int fails(void) {{\n  for (int i = 0; i < {many}; i++) {{");
        out += "    at = g = 0; choices = i;\n    if (setjmp(end)) return 1;\n    program();\n  }\n  return 0;\n}\n";
        out += "int main(void) {\n  static const int tried[] = {0, 1, 2, 3, -1, 6, -100};\n";
        out += "  for (int i = 0; i < 343; i++) {\n    int a = tried[i % 7], b = tried[i / 7 % 7], c = tried[i / 49];\n";
        out += "    values[0] = a; values[1] = b; values[2] = c;\n    int fail = fails(), some = 0;\n";
        let mut is_complete = self.why.is_complete;
        for (i, focus) in self.why.focus.iter().enumerate() {
            let Some(assumptions) = &focus.assumptions else { continue };
            let texts: Vec<String> = assumptions.iter().map(|one| one.text.clone()).collect();
            let Some(text) = as_c(&texts) else {
                is_complete = false;
                continue;
            };
            let _ = writeln!(out, "    if ({text}) {{ some = 1; if (!fail) {{");
            let _ = writeln!(
                out,
                "      printf(\"%d %d %d satisfy sequence {i} and do not fail\\n\", a, b, c); return 1; }} }}"
            );
        }
        if is_complete {
            out += "    if (fail && !some) {\n";
            out += "      printf(\"%d %d %d fail in a way that was not found\\n\", a, b, c); return 1; }\n";
        }
        out += "  }\n";
        self.write_stores(&mut out);
        out += "  return 0;\n}\n";
        out
    }

    /// What the conditions at lines say of the runs that they come from.
    fn write_stores(&self, out: &mut String) {
        for (number, run) in self.lines.cover.runs.iter().enumerate() {
            let mut last: BTreeMap<Node, &State> = BTreeMap::new();
            for state in run.trace.states() {
                last.extend(state.node().map(|node| (node, state)));
            }
            for (node, state) in last {
                let line = self.program.line(node).unwrap_or(0);
                // Among the inputs, a name can stand for a value to come.
                let is_input =
                    Some(node.procedure) == self.program.find_procedure("main") && line < FIRST_LINE;
                let Some(stores) = self.lines.stores.get(&node).filter(|_| !is_input) else { continue };
                let Some(alternatives) = stores.iter().map(|cube| as_c(cube)).collect::<Option<Vec<_>>>()
                else {
                    continue;
                };
                let text = alternatives.join(" || ");
                let _ = writeln!(out, "  {{\n    {}", declarations(self.program, state));
                let _ = writeln!(out, "    if (!({text})) {{");
                let _ = writeln!(
                    out,
                    "      puts(\"run {number} does not satisfy {text} at line {line}\"); return 1; }}\n  }}"
                );
            }
        }
    }
}

/// The values of variables as declarations in C. Callees hide what callers call the same.
fn declarations(program: &Program, state: &State) -> String {
    let interpreter = Interpreter::new(program);
    let mut values: BTreeMap<String, String> = BTreeMap::new();
    for depth in (1..=state.stack.len()).rev() {
        let mut below = state.clone();
        below.stack.truncate(depth);
        for (name, value) in interpreter.show(&below) {
            values.entry(plain(&name)).or_insert(value);
        }
    }
    let is_plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let mut out: String = values
        .iter()
        .filter(|(name, _)| is_plain(name))
        .map(|(name, value)| format!("int {name} = {value}; "))
        .collect();
    if let (Some(first), Some(second)) = (values.get("v[0]"), values.get("v[1]")) {
        let _ = write!(out, "int v[2] = {{{first}, {second}}};");
    }
    out
}

/// Runs the checker; what it prints.
fn run(folder: &Path, checker: &str) -> String {
    let (file, binary) = (folder.join("checker.c"), folder.join("checker"));
    std::fs::write(&file, checker).unwrap();
    let compiled =
        Command::new("cc").args(["-w", "-O0", "-fwrapv", "-o"]).arg(&binary).arg(&file).output().unwrap();
    if !compiled.status.success() {
        return String::from_utf8_lossy(&compiled.stderr).into_owned();
    }
    let output = Command::new(binary).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
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

/// Tests random programs until so many of them fail.
fn test(parts: Parts, name: &str, cases: u32) {
    let cases = wherefore_testing::cases(cases);
    let folder: PathBuf =
        std::env::temp_dir().join(format!("wherefore-explain-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let config = Config { cases, max_shrink_iters: 80, failure_persistence: None, ..Config::default() };
    let (failed, complete, covered) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let count = |cell: &Cell<u32>| cell.set(cell.get() + 1);
    let mut runner = TestRunner::new(config);
    let result = runner.run(&program(parts), |text| {
        let translation = translate_text("random.c", &text, &Options::default()).unwrap();
        let program = Arc::new(translation.program);
        let targets = program.targets(&TargetChoice::Default).unwrap();
        let expected = failing(&program, &targets);
        let Some(said) = explained(&text, &program, &targets) else {
            prop_assert!(expected.is_empty(), "a failure was missed in\n{}", text);
            return Ok(());
        };
        count(&failed);
        let wrong = run(&folder, &said.checker());
        prop_assert!(wrong.is_empty(), "{} in\n{}", wrong, text);
        if said.why.is_complete {
            count(&complete);
        }
        let confirmed: BTreeSet<Node> = said.lines.cover.through.keys().copied().collect();
        prop_assert!(confirmed.is_subset(&expected), "{:?} in\n{}", confirmed.difference(&expected), text);
        prop_assert!(
            expected.is_subset(&said.lines.inside),
            "{:?} in\n{}",
            expected.difference(&said.lines.inside),
            text
        );
        if said.lines.cover.is_complete {
            count(&covered);
            prop_assert_eq!(&confirmed, &expected, "in\n{}", text);
        }
        Ok(())
    });
    let _ = std::fs::remove_dir_all(&folder);
    result.unwrap();
    let (failed, complete, covered) = (failed.get(), complete.get(), covered.get());
    println!("{failed} of {cases} programs fail; {complete} have all sequences, {covered} all runs");
    // Chance, and a slow machine, leave room.
    assert!(5 * failed >= cases, "{failed} of {cases} programs fail");
    assert!(4 * complete >= failed, "{complete} of {failed} have all sequences");
    assert!(2 * covered >= failed, "{covered} of {failed} have all runs");
}

#[test]
fn assumptions_and_conditions_of_random_programs_lead_to_failure() {
    test(Parts::Plain, "plain", 30);
}

#[test]
fn assumptions_and_conditions_hold_with_arrays() {
    test(Parts::Array, "array", 20);
}

#[test]
fn assumptions_and_conditions_hold_with_free_choices() {
    test(Parts::Choices, "choices", 20);
}
