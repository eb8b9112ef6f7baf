//! Facts of \[Focus\]: sequences, assumptions, ranks, reduced sets and neighbourhoods of the
//! document's programs.
//!
//! C programs are those that `wherefore-check` is tested with; cases without a program are in
//! `tests/cases`.

#[allow(dead_code)]
#[path = "../../../check/tests/main/case_facts_support/yaml.rs"]
mod yaml;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use saphyr::YamlOwned;
use wherefore_check::{Budget, Extent, FailingRun, Question, Session, Verdict, portfolio};
use wherefore_explain::rank::{Complexity, ranks};
use wherefore_explain::reduce::{Reducible, reduce};
use wherefore_explain::{Reasons, Subject, focus_of_path, why};
use wherefore_frontend::c::{self, Options};
use wherefore_program::{EdgeRef, LocationKind, Node, Operation, Program, Task};

const TIME: Duration = Duration::from_secs(20);

fn budget() -> Budget {
    Budget::time(TIME)
}

/// A failing run.
fn failing_run(task: &Task, budget: &Budget) -> Option<FailingRun> {
    let engines = Question::default().engines(task);
    let answer = portfolio(task, &engines, Extent::FirstFailure, &Session::default(), budget);
    answer.verdicts.iter().find_map(Verdict::run).cloned()
}

fn folder(case: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../check/tests/cases/c").join(case)
}

fn load(file: &Path) -> Task {
    c::load(&[file.to_owned()], &Options::default()).unwrap()
}

fn explained(case: &str) -> (Arc<Program>, Reasons) {
    let task = load(&folder(case).join("main.c"));
    let why = match failing_run(&task, &budget()) {
        Some(run) => why(&task.program, &task.checks, run, &budget()),
        None => Reasons::default(),
    };
    (task.program, why)
}

fn facts(case: &Path, kind: &str) -> Vec<YamlOwned> {
    let expected = yaml::read(&case.join("expect.yaml"));
    let facts = yaml::list(&expected, "facts").unwrap();
    facts.iter().filter(|fact| yaml::text(fact, "kind") == Some(kind)).cloned().collect()
}

/// Comparisons are told apart by what they say, not by which side stands left.
fn canonical(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        [a, sign, b] if a > b && !b.chars().all(|c| c.is_ascii_digit()) => {
            let turned = match sign {
                "<" => ">",
                ">" => "<",
                "<=" => ">=",
                ">=" => "<=",
                same => same,
            };
            format!("{b} {turned} {a}")
        }
        _ => text.to_owned(),
    }
}

fn assumptions(fact: &YamlOwned) -> BTreeSet<String> {
    yaml::names(fact, "assumptions").into_iter().map(canonical).collect()
}

/// Fig. 7's sequences begin with `int error=0`, on which nothing depends; in Fig. 4 the document
/// itself leaves such a statement out.
fn lines_of(case: &str, fact: &YamlOwned) -> Vec<u32> {
    let mut lines = yaml::lines(fact, "lines");
    if case == "fig7-sort5-bug14" && lines.first() == Some(&4) {
        lines.remove(0);
    }
    lines
}

const CASES: [&str; 5] =
    ["cimple-arrays", "fig1-locking", "fig2-minmax", "fig4-locking-expanded", "fig7-sort5-bug14"];

#[test]
fn sequences_with_their_assumptions_are_those_of_the_document() {
    let mut count = 0;
    for case in CASES {
        let (program, why) = explained(case);
        let found: Vec<(Vec<u32>, BTreeSet<String>)> = why
            .focus
            .iter()
            .map(|focus| {
                let assumed = focus.assumptions.iter().flatten().map(|one| canonical(&one.text));
                (focus.sequence.lines(&program), assumed.collect())
            })
            .collect();
        for fact in facts(&folder(case), "fss") {
            if fact.as_mapping_get("feasible").and_then(YamlOwned::as_bool) == Some(false) {
                continue;
            }
            let mut assumed = assumptions(&fact);
            if case == "cimple-arrays" {
                assumed = assumed.into_iter().map(|text| text.replace("in0", "inp")).collect();
            }
            let expected = (lines_of(case, &fact), assumed);
            assert!(found.contains(&expected), "{case}: {expected:?} is not among {found:#?}");
            count += 1;
        }
        for fact in facts(&folder(case), "not_in_fss") {
            for line in yaml::lines(&fact, "lines") {
                assert!(found.iter().all(|(lines, _)| !lines.contains(&line)), "{case}: line {line}");
            }
            count += 1;
        }
    }
    assert_eq!(count, 11);
}

/// Figures 1 and 2 as the document writes them: free choices, uninitialised globals, and `error =
/// true` as the failure.
#[test]
fn sequences_of_cimple_are_those_of_c() {
    for (file, case) in [("locking.cimple", "fig1-locking"), ("minmax.cimple", "fig2-minmax")] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../frontend/tests/cases/cimple").join(file);
        let task = load(&path);
        let program = task.program.clone();
        let run = failing_run(&task, &budget()).unwrap();
        let why = why(&program, &task.checks, run, &budget());
        let found: Vec<(Vec<u32>, BTreeSet<String>)> = why
            .focus
            .iter()
            .map(|focus| {
                let assumed = focus.assumptions.iter().flatten().map(|one| canonical(&one.text));
                (focus.sequence.lines(&program), assumed.collect())
            })
            .collect();
        for fact in facts(&folder(case), "fss") {
            let expected = (lines_of(case, &fact), assumptions(&fact));
            assert!(found.contains(&expected), "{file}: {expected:?} is not among {found:#?}");
        }
    }
}

#[test]
fn a_program_without_failure_has_no_sequence() {
    let (_, why) = explained("fig1-locking-fixed");
    assert!(why.focus.is_empty() && why.runs.is_empty());
}

#[test]
fn a_sequence_of_a_path_that_cannot_be_run_is_infeasible() {
    let case = folder("fig4-locking-expanded");
    let program = load(&case.join("main.c")).program;
    let fact = facts(&case, "fss").pop().unwrap();
    let before = [2, 3, 4, 5];
    let trace = [16, 17, 18, 19, 30, 31, 32, 34, 20, 21, 18, 19, 30, 31, 33];
    let path = path_along(&program, &[&before[..], &trace[..]].concat());
    let (sequence, assumed) = focus_of_path(&program, &path, &budget()).unwrap();
    assert_eq!(sequence.lines(&program), yaml::lines(&fact, "lines"));
    assert!(assumed.is_none(), "{assumed:?}");
}

/// A path to an error whose locations have these lines, repeats left out; conditions are not looked
/// at.
fn path_along(program: &Program, lines: &[u32]) -> Vec<EdgeRef> {
    let entry = Node { procedure: program.entry, location: program.procedure(program.entry).entry };
    let mut open = vec![(vec![entry], Vec::new(), 0, None)];
    while let Some((stack, path, mut at, mut last)) = open.pop() {
        let Some(&node) = stack.last() else { continue };
        let here = program.line(node).filter(|_| node.procedure != program.entry);
        if here != last && here.is_some() && program.location(node).kind != LocationKind::End {
            if lines.get(at) != here.as_ref() {
                continue;
            }
            (at, last) = (at + 1, here);
        }
        if program.location(node).kind == LocationKind::Error && at == lines.len() {
            return path;
        }
        let body = program.procedure(node.procedure);
        for (edge, step) in body.edges_from(node.location) {
            let (mut stack, mut path) = (stack.clone(), path.clone());
            path.push(EdgeRef { procedure: node.procedure, edge });
            stack.pop();
            match &step.operation {
                Operation::Return(_) => {}
                Operation::Call(call) => {
                    stack.push(Node { procedure: node.procedure, location: step.to });
                    let location = program.procedure(call.callee).entry;
                    stack.push(Node { procedure: call.callee, location });
                }
                _ => stack.push(Node { procedure: node.procedure, location: step.to }),
            }
            open.push((stack, path, at, last));
        }
    }
    panic!("there is no such path");
}

#[test]
fn ranks_are_those_of_definition_2() {
    let mut count = 0;
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/rank-order");
    for case in CASES.map(folder).into_iter().chain([own]) {
        for fact in facts(&case, "rank") {
            let number = |of: &YamlOwned, key: &str| yaml::number(of.as_mapping_get(key).unwrap()) as usize;
            let entries = yaml::entries(&fact, "fss");
            // The document counts a statement in Fig. 7 that nothing depends on; it does so for
            // both.
            let all: Vec<Complexity> = entries
                .iter()
                .map(|(_, of)| Complexity {
                    length: number(of, "length"),
                    variables: number(of, "variables"),
                })
                .collect();
            let of: BTreeMap<&str, usize> = entries.iter().map(|(name, _)| *name).zip(ranks(&all)).collect();
            for pair in yaml::names(&fact, "order").windows(2) {
                assert!(of[pair[0]] < of[pair[1]], "{of:?}");
            }
            for pair in yaml::list(&fact, "incomparable").into_iter().flatten() {
                let pair: Vec<&str> =
                    pair.as_sequence().unwrap().iter().filter_map(YamlOwned::as_str).collect();
                assert_eq!(of[pair[0]], of[pair[1]], "{of:?}");
            }
            count += 1;
        }
    }
    assert_eq!(count, 6);
    let (_, why) = explained("fig2-minmax");
    assert_eq!(why.focus.iter().map(|focus| focus.rank).collect::<Vec<_>>(), [1, 2, 2]);
}

#[test]
fn reduction_is_that_of_figure_5() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/reduce-uniqueness");
    let mut count = 0;
    for case in [own, folder("fig2-minmax"), folder("fig7-sort5-bug14")] {
        for fact in facts(&case, "reduce") {
            let mut opposite: BTreeMap<String, String> = BTreeMap::new();
            for pair in yaml::list(&fact, "negations").unwrap() {
                let pair: Vec<&str> =
                    pair.as_sequence().unwrap().iter().filter_map(YamlOwned::as_str).collect();
                opposite.insert(pair[0].to_owned(), pair[1].to_owned());
                opposite.insert(pair[1].to_owned(), pair[0].to_owned());
            }
            let entries = yaml::entries(&fact, "fss");
            let given = entries.iter().enumerate().map(|(sequence, (_, of))| {
                let says = yaml::names(of, "assumptions").into_iter();
                let assumptions: Vec<(String, String)> = says
                    .map(|says| {
                        (
                            says.to_owned(),
                            opposite.get(says).cloned().unwrap_or_else(|| format!("not {says}")),
                        )
                    })
                    .collect();
                let statements = yaml::lines(of, "lines").into_iter().map(u64::from).collect();
                let kept = (0..assumptions.len()).collect();
                Reducible { sequence, statements, assumptions, kept }
            });
            let found: BTreeMap<&str, BTreeSet<String>> = reduce(given.collect())
                .into_iter()
                .map(|one| {
                    (entries[one.sequence].0, one.assumptions.into_iter().map(|(says, _)| says).collect())
                })
                .collect();
            let expected: BTreeMap<&str, BTreeSet<String>> = yaml::entries(&fact, "result")
                .into_iter()
                .map(|(name, list)| {
                    let list = list.as_sequence().unwrap().iter().filter_map(YamlOwned::as_str);
                    (name, list.map(str::to_owned).collect())
                })
                .collect();
            assert_eq!(found, expected);
            count += 1;
        }
    }
    assert_eq!(count, 5);
}

#[test]
fn neighbourhoods_are_those_of_the_document() {
    let of = |case: &str| -> Vec<(Vec<u32>, Vec<u32>)> {
        let (program, why) = explained(case);
        why.neighbourhoods
            .iter()
            .map(|marked| {
                let sequence = &why.focus[marked.focus].sequence;
                let mut lines: Vec<u32> =
                    marked.items.iter().filter_map(|item| program.line(sequence.items[*item].node)).collect();
                lines.dedup();
                (sequence.lines(&program), lines)
            })
            .collect()
    };
    let case = "fig7-sort5-bug14";
    let found = of(case);
    let expected = facts(&folder(case), "nest");
    assert_eq!(expected.len(), 2);
    for (fact, (_, lines)) in expected.iter().zip(&found) {
        assert_eq!(*lines, yaml::lines(fact, "lines"));
    }
    // The text on Fig. 2 names the block of line 6; the literal algorithm would mark all of main.
    let fact = facts(&folder("fig2-minmax"), "localised").pop().unwrap();
    let found = of("fig2-minmax");
    assert_eq!(found.len(), 2, "two sequences are left");
    assert!(found.iter().all(|(_, lines)| *lines == yaml::lines(&fact, "lines")), "{found:?}");
}

#[test]
fn projections_by_runs_are_exact_where_no_run_is_missed() {
    let mut complete = 0;
    let mut cases: Vec<PathBuf> =
        std::fs::read_dir(folder("")).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    for case in cases {
        for fact in facts(&case, "error_projection") {
            let file = yaml::text(&fact, "input").unwrap();
            let inside: BTreeSet<u32> = yaml::lines(&fact, "in").into_iter().collect();
            if !file.ends_with(".c") || inside.is_empty() {
                continue;
            }
            let task = load(&case.join(file));
            let program = task.program.clone();
            let budget = Budget::time(Duration::from_secs(5));
            let Some(failure) = failing_run(&task, &budget) else { continue };
            let subject = Subject {
                task: &task,
                budget: budget.within(Duration::from_secs(5)),
                effort: 100_000,
                only: Vec::new(),
            };
            let lines = subject.cover(failure, 100_000);
            let of = |nodes: &mut dyn Iterator<Item = Node>| -> BTreeSet<u32> {
                nodes
                    .filter(|node| node.procedure != program.entry)
                    .filter_map(|node| program.line(node))
                    .collect()
            };
            let confirmed = of(&mut lines.cover.through.keys().copied());
            let outside: BTreeSet<u32> = yaml::lines(&fact, "out").into_iter().collect();
            let name = case.display();
            assert!(confirmed.is_disjoint(&outside), "{name}: {confirmed:?} and {outside:?}");
            if lines.cover.is_complete {
                assert!(inside.is_subset(&confirmed), "{name}: {inside:?} and {confirmed:?}");
                complete += 1;
            }
        }
    }
    assert!(complete >= 3, "{complete} complete projections");
}
