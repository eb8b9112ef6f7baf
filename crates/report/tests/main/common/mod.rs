//! Explanations worked out by hand, for the tests and the example pages.

// Each test file is a crate of its own and uses only some of these.
#![allow(dead_code)]

use std::collections::BTreeMap;

use wherefore_explain::model::*;

/// All fixtures, by name.
pub fn all() -> Vec<(&'static str, Explanation)> {
    vec![
        ("min-max", min_max()),
        ("safe", safe()),
        ("unknown", unknown()),
        ("two-files", two_files()),
        ("hostile", hostile()),
        ("empty", Explanation::default()),
    ]
}

/// A line of the first file.
pub fn at(line: u32) -> Line {
    Line { file: 0, line }
}

fn lines(numbers: &[u32]) -> Vec<Line> {
    numbers.iter().map(|&line| at(line)).collect()
}

/// Where a text first stands in a line, from 1.
fn find(text: &str, file: usize, line: u32, part: &str) -> Extent {
    let row = text.lines().nth(line as usize - 1).expect("the line exists");
    let byte = row.find(part).unwrap_or_else(|| panic!("`{part}` is in `{row}`"));
    let start = row[..byte].chars().count() as u32 + 1;
    Extent { file, start: (line, start), end: (line, start + part.chars().count() as u32) }
}

fn values(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
}

fn step(extent: Extent, text: &str, pairs: &[(&str, &str)], holds: Option<bool>) -> Step {
    Step { extent, text: text.into(), procedure: "main".into(), depth: 0, values: values(pairs), holds }
}

pub const MIN_MAX: &str = "\
#include <assert.h>
extern int __VERIFIER_nondet_int(void);

int main(void)
{
    int x = __VERIFIER_nondet_int();
    int y = __VERIFIER_nondet_int();
    int min = x, max = x;
    if (max < y)
        max = y;
    if (min > y)
        max = y; /* min, not max */
    assert(min <= max);
    return 0;
}
";

/// The second `max = y` should set `min`. It fails whenever `x > y`: with `x = 1` and `y = 0`,
/// `max` becomes 0 while `min` stays 1. If line 10 is executed, `x < y`, and the assertion holds;
/// so lines 10 and 14 are on no failing run.
pub fn min_max() -> Explanation {
    let place = |line, part: &str| find(MIN_MAX, 0, line, part);
    let input = |line| place(line, "__VERIFIER_nondet_int()");
    let steps = vec![
        step(input(6), "x = __VERIFIER_nondet_int()", &[], None),
        step(input(7), "y = __VERIFIER_nondet_int()", &[("x", "1")], None),
        step(place(8, "min = x"), "min = x", &[("x", "1"), ("y", "0")], None),
        step(place(8, "max = x"), "max = x", &[("min", "1"), ("x", "1"), ("y", "0")], None),
        step(
            place(9, "max < y"),
            "if (max < y)",
            &[("max", "1"), ("min", "1"), ("x", "1"), ("y", "0")],
            Some(false),
        ),
        step(
            place(11, "min > y"),
            "if (min > y)",
            &[("max", "1"), ("min", "1"), ("x", "1"), ("y", "0")],
            Some(true),
        ),
        step(place(12, "max = y"), "max = y", &[("max", "1"), ("min", "1"), ("x", "1"), ("y", "0")], None),
        step(
            place(13, "assert(min <= max)"),
            "assert(min <= max)",
            &[("max", "0"), ("min", "1"), ("x", "1"), ("y", "0")],
            Some(false),
        ),
    ];
    let other = {
        let mut steps = steps.clone();
        for step in &mut steps {
            for (name, value) in &mut step.values {
                *value = if name == "y" || value == "0" { "-7".into() } else { "3".into() };
            }
        }
        Run {
            steps,
            slice: vec![0, 1, 2, 5, 6, 7],
            inputs: vec![given("x", "3", input(6)), given("y", "-7", input(7))],
            replay: None,
        }
    };
    let run = Run {
        steps,
        slice: vec![0, 1, 2, 5, 6, 7],
        inputs: vec![given("x", "1", input(6)), given("y", "0", input(7))],
        replay: Some(Replay {
            outcome: "confirmed".into(),
            why: Some("the compiled program fails at minmax.c:13".into()),
        }),
    };
    let statement = |line, part: &str, text: &str, step| Statement {
        extent: place(line, part),
        text: text.into(),
        procedure: "main".into(),
        step: Some(step),
    };
    let focus = Focus {
        rank: 1,
        statements: vec![
            statement(8, "min = x", "min = x", 2),
            statement(11, "min > y", "min > y: true", 5),
            statement(12, "max = y", "max = y", 6),
            statement(13, "assert(min <= max)", "min <= max: false", 7),
        ],
        assumptions: vec![Assumption { text: "x > y".into(), line: at(11), unless_overflow: false }],
        feasible: true,
        run: Some(0),
    };
    let inside = lines(&[6, 7, 8, 9, 11, 12, 13]);
    Explanation {
        file: "minmax.c".into(),
        verdict: Verdict::Unsafe,
        reason: None,
        error: Some(Place {
            extent: place(13, "assert(min <= max)"),
            procedure: "main".into(),
            kind: "assertion".into(),
            label: None,
        }),
        checks: vec![Check {
            place: Place {
                extent: place(13, "assert(min <= max)"),
                procedure: "main".into(),
                kind: "assertion".into(),
                label: None,
            },
            verdict: CheckVerdict::Unsafe,
            reason: None,
            run: None,
        }],
        always: false,
        sources: vec![Source { name: "minmax.c".into(), text: MIN_MAX.into() }],
        projection: Projection {
            inside: inside.clone(),
            outside: lines(&[10, 14]),
            confirmed: inside.clone(),
            exact: true,
        },
        runs: vec![run, other],
        through: inside.iter().map(|&line| (line, usize::from(line.line == 7))).collect(),
        focus: vec![focus],
        reduced: vec![Reduced { focus: 0, assumptions: vec!["x > y".into()] }],
        neighbourhoods: vec![Neighbourhood {
            focus: 0,
            lines: lines(&[11, 12]),
            marked: lines(&[8, 11, 12]),
            repairs: lines(&[12]),
        }],
        suspicion: [(6, 0.0), (7, 0.0), (8, 0.0), (9, 0.0), (11, 0.25), (12, 1.0), (13, 0.0)]
            .map(|(line, score)| (at(line), score))
            .into(),
        stores: [
            (8, vec![vec!["x > y".to_string()]]),
            (11, vec![vec!["min > y".to_string(), "max == x".to_string()]]),
            (12, vec![vec!["min > y".to_string()]]),
            (13, vec![vec!["min > max".to_string()]]),
        ]
        .map(|(line, stores)| (at(line), stores))
        .into(),
        predicates: [(11, vec!["min > y".to_string()]), (13, vec!["min <= max".to_string()])]
            .map(|(line, predicates)| (at(line), predicates))
            .into(),
        invariants: vec![],
        grounds: None,
        procedures: vec![min_max_graph()],
        assumptions: vec![],
        reproduce: Reproduce {
            command: "wherefore explain minmax.c".into(),
            harness: Some("wherefore check minmax.c --harness failing.c".into()),
        },
        stats: Stats {
            locations: 12,
            engine: Some("bounded".into()),
            cycles: 0,
            runs: 2,
            check_seconds: 0.02,
            seconds: 0.11,
            incomplete: vec![],
        },
    }
}

fn given(name: &str, value: &str, extent: Extent) -> InputValue {
    InputValue { name: name.into(), function: "__VERIFIER_nondet_int".into(), value: value.into(), extent }
}

fn point(line: u32, kind: &str, inside: bool) -> Point {
    Point { line: Some(at(line)), kind: kind.into(), inside }
}

fn min_max_graph() -> Procedure {
    let points = vec![
        point(6, "statement", true),
        point(7, "statement", true),
        point(8, "statement", true),
        point(9, "branch", true),
        point(10, "statement", false),
        point(11, "branch", true),
        point(12, "statement", true),
        point(13, "branch", true),
        point(13, "error", true),
        point(14, "return", false),
        Point { line: None, kind: "exit".into(), inside: false },
    ];
    let edges = [
        (0, 1, "x = input"),
        (1, 2, "y = input"),
        (2, 3, "min = x, max = x"),
        (3, 4, "max < y"),
        (3, 5, "!(max < y)"),
        (4, 5, "max = y"),
        (5, 6, "min > y"),
        (5, 7, "!(min > y)"),
        (6, 7, "max = y"),
        (7, 8, "!(min <= max)"),
        (7, 9, "min <= max"),
        (9, 10, "return 0"),
    ];
    Procedure {
        name: "main".into(),
        line: at(4),
        points,
        edges: edges.map(|(from, to, text)| (from, to, text.to_string())).into(),
        calls: vec![],
    }
}

pub const TURNSTILE: &str = "\
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

int main(void)
{
    int locked = 1, coins = 0;
    while (__VERIFIER_nondet_int()) {
        if (locked) { locked = 0; coins = 1; }
        else { locked = 1; coins = 0; }
        if (locked + coins != 1) reach_error();
    }
    return 0;
}
";

/// A proof with invariants: `locked` and `coins` are always each other's opposite.
pub fn safe() -> Explanation {
    let place = |line, part: &str| find(TURNSTILE, 0, line, part);
    let invariant = |extent, formula: &str, is_loop| Invariant {
        extent,
        procedure: "main".into(),
        formula: formula.into(),
        is_loop,
    };
    Explanation {
        file: "turnstile.c".into(),
        verdict: Verdict::Safe,
        sources: vec![Source { name: "turnstile.c".into(), text: TURNSTILE.into() }],
        projection: Projection { outside: lines(&[6, 7, 8, 9, 10, 12]), exact: true, ..Default::default() },
        predicates: [(at(7), vec!["locked == 1".to_string(), "coins == 0".to_string()])].into(),
        invariants: vec![
            invariant(place(7, "while"), "locked + coins == 1 && (locked == 0 || locked == 1)", true),
            invariant(place(10, "if"), "locked + coins == 1", false),
        ],
        grounds: Some(Grounds {
            by_data_flow: 2,
            by_proof: 1,
            vacuous: 1,
            checked: Some("checked by other code".into()),
            lines: lines(&[6, 7, 8, 9, 12]),
            of: 6,
        }),
        assumptions: vec!["turnstile.c:7: the input function changes no memory of the program".into()],
        reproduce: Reproduce { command: "wherefore explain turnstile.c".into(), harness: None },
        stats: Stats {
            locations: 14,
            engine: Some("cegar".into()),
            cycles: 3,
            seconds: 0.4,
            ..Default::default()
        },
        ..Default::default()
    }
}

/// No verdict in time.
pub fn unknown() -> Explanation {
    Explanation {
        file: "turnstile.c".into(),
        verdict: Verdict::Unknown,
        reason: Some("out of time after 10 s; no run fails within 16 turns of each loop".into()),
        sources: vec![Source { name: "turnstile.c".into(), text: TURNSTILE.into() }],
        reproduce: Reproduce { command: "wherefore explain turnstile.c --timeout 10".into(), harness: None },
        stats: Stats {
            locations: 14,
            cycles: 7,
            seconds: 10.0,
            incomplete: vec!["projection".into(), "focus".into()],
            ..Default::default()
        },
        ..Default::default()
    }
}

pub const LOCK: &str = "\
static int held;
void take(void) {
    if (held)
        reach_error();
    held = 1;
}
";

pub const DRIVER: &str = "\
extern void take(void);
int main(void) {
    int again = __VERIFIER_nondet_int();
    take();
    if (again)
        take();
    return 0;
}
";

/// A failure in the second of two files: `take` twice.
pub fn two_files() -> Explanation {
    let driver = |line, part: &str| find(DRIVER, 0, line, part);
    let lock = |line, part: &str| find(LOCK, 1, line, part);
    let step = |extent, text: &str, depth, pairs: &[(&str, &str)], holds| Step {
        procedure: if depth == 0 { "main".into() } else { "take".into() },
        depth,
        ..step(extent, text, pairs, holds)
    };
    let steps = vec![
        step(
            driver(3, "__VERIFIER_nondet_int()"),
            "again = __VERIFIER_nondet_int()",
            0,
            &[("held", "0")],
            None,
        ),
        step(driver(4, "take()"), "take()", 0, &[("again", "1"), ("held", "0")], None),
        step(lock(3, "held"), "if (held)", 1, &[("held", "0")], Some(false)),
        step(lock(5, "held = 1"), "held = 1", 1, &[("held", "0")], None),
        step(driver(5, "again"), "if (again)", 0, &[("again", "1"), ("held", "1")], Some(true)),
        step(driver(6, "take()"), "take()", 0, &[("again", "1"), ("held", "1")], None),
        step(lock(3, "held"), "if (held)", 1, &[("held", "1")], Some(true)),
        step(lock(4, "reach_error()"), "reach_error()", 1, &[("held", "1")], None),
    ];
    let inside = vec![at(3), at(4), at(5), at(6), other(3), other(4), other(5)];
    let statement = |extent, text: &str, procedure: &str, step| Statement {
        extent,
        text: text.into(),
        procedure: procedure.into(),
        step: Some(step),
    };
    Explanation {
        file: "driver.c".into(),
        verdict: Verdict::Unsafe,
        error: Some(Place {
            extent: lock(4, "reach_error()"),
            procedure: "take".into(),
            kind: "procedure".into(),
            label: Some("reach_error".into()),
        }),
        sources: vec![
            Source { name: "driver.c".into(), text: DRIVER.into() },
            Source { name: "lock.c".into(), text: LOCK.into() },
        ],
        projection: Projection {
            inside: inside.clone(),
            outside: vec![at(7)],
            confirmed: inside.clone(),
            exact: true,
        },
        runs: vec![Run {
            steps,
            slice: vec![0, 3, 4, 5, 6, 7],
            inputs: vec![given("again", "1", driver(3, "__VERIFIER_nondet_int()"))],
            replay: Some(Replay {
                outcome: "not-replayed".into(),
                why: Some("the compiler is missing".into()),
            }),
        }],
        through: inside.iter().map(|&line| (line, 0)).collect(),
        focus: vec![Focus {
            rank: 1,
            statements: vec![
                statement(lock(5, "held = 1"), "held = 1", "take", 3),
                statement(driver(5, "again"), "again: true", "main", 4),
                statement(lock(3, "held"), "held: true", "take", 6),
            ],
            assumptions: vec![Assumption { text: "again != 0".into(), line: at(5), unless_overflow: false }],
            feasible: true,
            run: Some(0),
        }],
        neighbourhoods: vec![Neighbourhood {
            focus: 0,
            lines: vec![other(5), at(5)],
            marked: vec![],
            repairs: vec![at(5)],
        }],
        suspicion: [(at(5), 0.1), (at(6), 1.0), (other(4), 1.0), (other(5), 0.0)].into(),
        stores: [(at(5), vec![vec!["again != 0".to_string(), "held == 1".to_string()]])].into(),
        procedures: vec![
            Procedure {
                name: "main".into(),
                line: at(2),
                points: vec![
                    point(3, "statement", true),
                    point(4, "call", true),
                    point(5, "branch", true),
                    point(6, "call", true),
                    point(7, "return", false),
                ],
                edges: [
                    (0, 1, "again = input"),
                    (1, 2, "take()"),
                    (2, 3, "again"),
                    (2, 4, "!again"),
                    (3, 4, "take()"),
                ]
                .map(|(from, to, text)| (from, to, text.to_string()))
                .into(),
                calls: vec![1],
            },
            Procedure {
                name: "take".into(),
                line: other(2),
                points: vec![
                    Point { line: Some(other(3)), kind: "branch".into(), inside: true },
                    Point { line: Some(other(4)), kind: "error".into(), inside: true },
                    Point { line: Some(other(5)), kind: "statement".into(), inside: true },
                    Point { line: None, kind: "exit".into(), inside: true },
                ],
                edges: [(0, 1, "held"), (0, 2, "!held"), (2, 3, "held = 1")]
                    .map(|(from, to, text)| (from, to, text.to_string()))
                    .into(),
                calls: vec![],
            },
        ],
        assumptions: vec!["driver.c:3: `__VERIFIER_nondet_int` is not declared: it returns an int".into()],
        reproduce: Reproduce { command: "wherefore explain driver.c lock.c".into(), harness: None },
        ..Default::default()
    }
}

/// A line of the second file.
pub fn other(line: u32) -> Line {
    Line { file: 1, line }
}

pub const HOSTILE: &str = "int main(void) {\n\tchar *größe = \"</script><b>&\\\"'\"; /* <!-- <script> ]]> 漢字 \u{1b}[31m */\n\tint\té = 1;\tif (é) reach_error(); // {{x}} ${y} `z` \u{2028}\n}\n";

/// Text that would break a page, a document or a screen if it were not quoted.
pub fn hostile() -> Explanation {
    let place = |line, part: &str| find(HOSTILE, 0, line, part);
    let name = "</script><img src=x onerror=alert(1)>.c";
    let steps = vec![
        step(place(2, "größe"), "größe = \"</script><b>&\\\"'\"", &[], None),
        step(
            place(3, "é = 1"),
            "é = 1",
            &[("größe", "\"</script><b>&\\\"'\""), ("<!--", "# not: a comment")],
            None,
        ),
        step(place(3, "é"), "if (é)", &[("é", "1\n- injected: true")], Some(true)),
        step(place(3, "reach_error()"), "reach_error()", &[("é", "1")], None),
    ];
    Explanation {
        file: name.into(),
        verdict: Verdict::Unsafe,
        reason: Some("a \"reason\" with <b>tags</b>, 'quotes' and a\nnew line".into()),
        error: Some(Place {
            extent: place(3, "reach_error()"),
            procedure: "main</script>".into(),
            kind: "procedure".into(),
            label: Some("reach_error</script>".into()),
        }),
        sources: vec![Source { name: name.into(), text: HOSTILE.into() }],
        projection: Projection { inside: lines(&[2, 3]), confirmed: lines(&[3]), ..Default::default() },
        runs: vec![Run {
            steps,
            slice: vec![1, 2, 3],
            inputs: vec![given("</script>", "'\"\\", place(3, "é = 1"))],
            replay: Some(Replay {
                outcome: "confirmed".into(),
                why: Some("<i>\u{1b}[31mred\u{1b}[0m</i>".into()),
            }),
        }],
        through: [(at(3), 0)].into(),
        focus: vec![Focus {
            rank: 1,
            statements: vec![Statement {
                extent: place(3, "é = 1"),
                text: "é = 1 </script>".into(),
                procedure: "main".into(),
                step: Some(1),
            }],
            assumptions: vec![Assumption {
                text: "é < \"</script>\"".into(),
                line: at(3),
                unless_overflow: true,
            }],
            feasible: false,
            run: Some(0),
        }],
        neighbourhoods: vec![Neighbourhood { focus: 0, lines: lines(&[3]), ..Default::default() }],
        suspicion: [(at(3), 0.5)].into(),
        stores: [(at(3), vec![vec!["é == 1 && \"</script>\"".to_string()]])].into(),
        procedures: vec![Procedure {
            name: "main</script>\"".into(),
            line: at(1),
            points: vec![point(2, "statement", true), point(3, "<error>", true)],
            edges: vec![(0, 1, "\"</script>\" \\ é\n".into()), (1, 9, "points nowhere".into())],
            calls: vec![0, 7],
        }],
        assumptions: vec!["a: b # c".into()],
        reproduce: Reproduce { command: "wherefore explain '</script>'".into(), harness: None },
        ..Default::default()
    }
}

/// A program of many lines with a long run, to see that pages stay fast.
pub fn large(count: u32) -> Explanation {
    let mut text = String::from("int step(int state) {\n");
    for line in 2..count {
        if line % 100 == 0 {
            text.push_str("    /* the next hundred transitions of the protocol */\n");
        } else {
            text.push_str(&format!(
                "    if (state == {line}) state = next_{}(state, {});\n",
                line % 37,
                line * 7
            ));
        }
    }
    text.push_str("}\n");
    let statements: Vec<u32> = (2..count).filter(|line| line % 100 != 0).collect();
    let inside: Vec<u32> = statements.iter().copied().filter(|line| (line / 50) % 3 != 0).collect();
    let outside: Vec<u32> = statements.iter().copied().filter(|line| (line / 50) % 3 == 0).collect();
    let extent = |line| find(&text, 0, line, "if");
    let run = |first: usize| {
        let steps: Vec<Step> = inside
            .iter()
            .skip(first)
            .take(600)
            .enumerate()
            .map(|(position, &line)| Step {
                extent: extent(line),
                text: format!("if (state == {line})"),
                procedure: "step".into(),
                depth: position % 3,
                values: values(&[
                    ("state", &line.to_string()),
                    ("round", &(position / 10).to_string()),
                    ("seed", "12345"),
                    ("limit", "600"),
                ]),
                holds: Some(position % 2 == 0),
            })
            .collect();
        let slice = (0..steps.len()).step_by(5).collect();
        Run { steps, slice, inputs: vec![], replay: None }
    };
    let runs: Vec<Run> = (0..8).map(|part| run(part * 400)).collect();
    let mut through = BTreeMap::new();
    for (position, run) in runs.iter().enumerate() {
        for step in &run.steps {
            through.entry(step.extent.line()).or_insert(position);
        }
    }
    let points =
        inside.iter().take(300).map(|&line| point(line, "statement", line % 7 != 0)).collect::<Vec<_>>();
    let mut edges: Vec<(usize, usize, String)> =
        (1..points.len()).map(|to| (to - 1, to, format!("state == {to}"))).collect();
    edges.extend((0..points.len() - 12).step_by(9).map(|from| (from, from + 11, "skip".into())));
    edges.push((points.len() - 1, 0, "again".into()));
    Explanation {
        file: "protocol.c".into(),
        verdict: Verdict::Unsafe,
        error: runs[0].steps.last().map(|step| Place {
            extent: step.extent,
            procedure: "step".into(),
            kind: "label".into(),
            label: Some("ERROR".into()),
        }),
        projection: Projection {
            inside: lines(&inside),
            outside: lines(&outside),
            confirmed: through.keys().copied().collect(),
            exact: false,
        },
        suspicion: inside.iter().map(|&line| (at(line), f64::from(line % 11) / 10.0)).collect(),
        stores: inside
            .iter()
            .filter(|&line| line % 4 == 0)
            .map(|&line| (at(line), vec![vec![format!("state == {line}")]]))
            .collect(),
        focus: vec![Focus {
            rank: 1,
            statements: runs[0]
                .steps
                .iter()
                .enumerate()
                .step_by(40)
                .map(|(position, step)| Statement {
                    extent: step.extent,
                    text: step.text.clone(),
                    procedure: "step".into(),
                    step: Some(position),
                })
                .collect(),
            feasible: true,
            run: Some(0),
            ..Default::default()
        }],
        through,
        runs,
        procedures: vec![
            Procedure { name: "step".into(), line: at(1), points: points.clone(), edges, calls: vec![0, 1] },
            Procedure {
                name: "too_large".into(),
                line: at(1),
                points: (0..500).map(|_| point(2, "statement", true)).collect(),
                ..Default::default()
            },
        ],
        sources: vec![Source { name: "protocol.c".into(), text }],
        reproduce: Reproduce { command: "wherefore explain protocol.c".into(), harness: None },
        ..Default::default()
    }
}
