//! The case files about traces, and those of a folder of others (`WHEREFORE_CASES`).

use std::path::{Path, PathBuf};
use std::time::Duration;

use saphyr::YamlOwned;
use wherefore_check::{Budget, Replaying, Session};
use wherefore_program::Program;
use wherefore_pushdown::Limits;
use wherefore_trace::{
    Clue, Clues, Effort, Evidence, Found, Origin, Outcome, Subject, fit, is_step, search, trace, visited,
};

use crate::stacks::backtrace;
use crate::yaml::{get, items, list, number, read, text};

fn numbers(fact: &YamlOwned, key: &str) -> Vec<u32> {
    list(fact, key).iter().map(|line| line.as_integer().expect("a line") as u32).collect()
}

fn clues(fact: &YamlOwned, file: &str) -> Clues {
    let clue = |line: u32| Clue { places: vec![(file.to_owned(), line)], origin: Origin::Named };
    Clues {
        should: numbers(fact, "should").into_iter().map(clue).collect(),
        order: numbers(fact, "order").into_iter().map(clue).collect(),
        never: numbers(fact, "never").into_iter().map(|line| (file.to_owned(), line)).collect(),
        ..Clues::default()
    }
}

/// The best path for a fact.
fn found(program: &Program, fact: &YamlOwned) -> Found {
    let clues = clues(fact, program.sources[0].name());
    let fitted = fit(program, &backtrace(program, &numbers(fact, "stack"))).expect("the stack fits");
    search(program, &fitted, &Evidence::new(program, &clues, &[]), &Limits::default()).expect("no limit")
}

fn check_path(program: &Program, fact: &YamlOwned) -> Result<(), String> {
    let Found { path, ways } = found(program, fact);
    if text(fact, "path") == Some("none") {
        return if ways.is_empty() { Ok(()) } else { Err(format!("{ways:?}")) };
    }
    let path = path.ok_or("no path")?;
    let length = number(fact, "length").expect("a length") as u64;
    if path.way.cost != length {
        return Err(format!("{} steps, not {length}", path.way.cost));
    }
    let touched = u32::from(path.way.to) + path.way.touched.count_ones();
    if touched as usize != list(fact, "touched").len() {
        return Err(format!("{touched} are touched"));
    }
    let from = |edge: &wherefore_program::EdgeRef| wherefore_program::Node {
        procedure: edge.procedure,
        location: program.edge(*edge).from,
    };
    let nodes: Vec<_> = path.edges.iter().map(from).chain([path.end]).collect();
    let lines: Vec<u32> =
        nodes.iter().filter(|node| is_step(program, **node)).filter_map(|node| program.line(*node)).collect();
    if lines.len() as u64 != length {
        return Err(format!("the path has {} steps", lines.len()));
    }
    if get(fact, "lines").is_some() && lines != numbers(fact, "lines") {
        return Err(format!("{lines:?}"));
    }
    // What the path visits is what its weight says.
    let clues = clues(fact, program.sources[0].name());
    let seen = visited(&Evidence::new(program, &clues, &[]), &nodes);
    let count = (0..clues.should.len() + clues.order.len()).filter(|clue| seen.is_visited(*clue)).count();
    if count != touched as usize {
        return Err(format!("{count} are visited, {touched} touched"));
    }
    for pair in list(fact, "front") {
        let pair: Vec<i64> = items(pair).iter().map(|n| n.as_integer().expect("a number")).collect();
        let at_least = |way: &&wherefore_trace::Way| {
            way.from == 0 && i64::from(way.to) + i64::from(way.touched.count_ones()) >= pair[0]
        };
        let least = ways.iter().filter(at_least).map(|way| way.cost as i64).min();
        if least != Some(pair[1]) {
            return Err(format!("at least {} cost {least:?}, not {}", pair[0], pair[1]));
        }
    }
    Ok(())
}

/// With data: there is a run or none, and how much it visits.
fn check_run(file: &Path, program: &Program, fact: &YamlOwned) -> Result<(), String> {
    let task = wherefore_frontend::load(file, None).unwrap_or_else(|e| panic!("{}", e.render()));
    let clues = clues(fact, program.sources[0].name());
    let stack = backtrace(program, &numbers(fact, "stack"));
    let effort = Effort {
        limits: &Limits::default(),
        budget: &Budget::default().within(Duration::from_secs(60)),
        session: &Session::default(),
        replaying: &Replaying::Off,
        wants_run: true,
    };
    let traced = trace(Subject { plain: &task, checked: None }, &stack, &clues, &effort);
    match (&traced.outcome, text(fact, "path")) {
        (Outcome::None(_), Some("none")) => Ok(()),
        (Outcome::Feasible { run, .. }, None) => {
            let nodes: Vec<_> = run.trace.states().filter_map(|state| state.node()).collect();
            let seen = visited(&Evidence::new(&task.program, &clues, &[]), &nodes);
            let count = (0..clues.should.len() + clues.order.len()).filter(|clue| seen.is_visited(*clue));
            let (count, expected) = (count.count(), list(fact, "touched").len());
            if count == expected { Ok(()) } else { Err(format!("{count} are visited, not {expected}")) }
        }
        (other, _) => Err(format!("{other:?}")),
    }
}

/// All `expect.yaml` below a folder.
fn expectations(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            expectations(&path, files);
        } else if path.file_name().is_some_and(|name| name == "expect.yaml") {
            files.push(path);
        }
    }
}

fn check(folder: &Path) -> usize {
    let mut files = Vec::new();
    expectations(folder, &mut files);
    files.sort();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for file in files {
        let case = read(&file);
        for fact in list(&case, "facts") {
            if text(fact, "kind") != Some("trace") || get(fact, "stack").is_none() {
                continue;
            }
            count += 1;
            let input = file.with_file_name(text(fact, "input").unwrap_or("main.c"));
            let task = wherefore_frontend::load(&input, None).unwrap_or_else(|e| panic!("{}", e.render()));
            let checked = match text(fact, "data") {
                Some("followed") => check_run(&input, &task.program, fact),
                _ => check_path(&task.program, fact),
            };
            if let Err(why) = checked {
                wrong.push(format!("{} {}: {why}", file.display(), text(fact, "id").unwrap_or("")));
            }
        }
    }
    println!("{count} facts");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    count
}

#[test]
fn traces_of_cases() {
    assert_eq!(check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")), 20);
}

#[test]
#[ignore = "needs a folder of cases, WHEREFORE_CASES"]
fn traces_of_other_cases() {
    assert!(check(&wherefore_testing::given("WHEREFORE_CASES")) > 0, "there are no facts");
}

/// The shortest path visits a preferred line, and no run does: *none* must not follow from that.
#[test]
fn a_preferred_line_that_no_run_visits_does_not_exclude_runs() {
    let text = "decl g;\nvoid main()\nbegin\n  g := F;\n  if (g) then\n    skip;\n  else\n    skip;\n    skip;\n  fi;\n  \
                g := T;\nend\n";
    let task = wherefore_frontend::parse(wherefore_program::Language::Boolean, "small.bp", text, None)
        .expect("a program");
    let clue = Clue { places: vec![("small.bp".to_owned(), 6)], origin: Origin::Named };
    let clues = Clues { should: vec![clue], ..Clues::default() };
    let effort = Effort {
        limits: &Limits::default(),
        budget: &Budget::default().within(Duration::from_secs(60)),
        session: &Session::default(),
        replaying: &Replaying::Off,
        wants_run: true,
    };
    let stack = backtrace(&task.program, &[11]);
    let traced = trace(Subject { plain: &task, checked: None }, &stack, &clues, &effort);
    assert!(matches!(traced.outcome, Outcome::Feasible { is_best: false, .. }), "{:?}", traced.outcome);
}
