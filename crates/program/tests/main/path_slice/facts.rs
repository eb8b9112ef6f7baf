//! The facts of the cases, each checked.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use saphyr::YamlOwned;
use wherefore_program::*;

use crate::path_slice::cfa::Cfa;
use crate::path_slice::long::{Tie, long_path};
use crate::path_slice::run::{end_of, ends};
use crate::path_slice::straight::Straight;
use crate::path_slice::yaml::{self, entries, flag, items, list, name, names, number, text};

fn options(fact: &YamlOwned) -> SliceOptions {
    let skip = flag(fact, "skip_functions") == Some(true);
    let call_stack = if skip { CallStack::Skip } else { CallStack::Keep };
    SliceOptions { call_stack, record: Record::Visits }
}

fn slice(cfa: &Cfa, path: &[EdgeRef], fact: &YamlOwned) -> PathSlice {
    let early = flag(fact, "early_stop") == Some(true);
    let states = cfa.states();
    let mut taken = Vec::new();
    let mut hook = |edge: Taken| {
        taken.insert(0, edge.position);
        let line = Straight::new(&cfa.program, path, &taken);
        match early && line.running(&states).is_empty() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    PathSlicer::new(&cfa.program).slice_with(path, options(fact), &mut hook).expect("a path")
}

fn path_slice(cfa: &Cfa, fact: &YamlOwned) {
    let path = cfa.path(list(fact, "path"));
    let found = slice(cfa, &path, fact);
    assert_eq!(found.edges(&path).collect::<Vec<_>>(), cfa.path(list(fact, "slice")));
    for (position, expected) in entries(fact, "log") {
        let position: usize = position.parse().expect("a position");
        let visit = found.visits.iter().find(|visit| visit.position + 1 == position).expect("a visit");
        let [live, step] = items(expected) else { panic!("live lvalues and a location") };
        let mut shown: Vec<String> = visit.live.iter().map(|lvalue| cfa.lvalue_name(lvalue)).collect();
        shown.sort();
        assert_eq!(shown, names(items(live)), "live at {position}");
        // A skipped callee leaves the step location in the caller.
        let procedure = cfa.node(&name(step)).procedure;
        let node = Node { procedure, location: visit.step };
        assert_eq!(cfa.location_name(node), name(step), "step at {position}");
    }
    let states = cfa.states();
    let line = Straight::new(&cfa.program, &path, &found.taken);
    let running: Vec<State> = line.running(&states).into_iter().cloned().collect();
    assert_eq!(Some(!running.is_empty()), flag(fact, "feasible"), "feasible");
    if let Some(expected) = flag(fact, "path_feasible") {
        let all: Vec<usize> = (0..path.len()).collect();
        let line = Straight::new(&cfa.program, &path, &all);
        assert_eq!(!line.running(&states).is_empty(), expected, "path_feasible");
    }
    if let Some(formula) = text(fact, "wp") {
        assert_eq!(running, cfa.satisfying(formula), "wp");
    }
}

fn bypass(cfa: &Cfa, fact: &YamlOwned) {
    let mut slicer = PathSlicer::new(&cfa.program);
    let step = cfa.node(text(fact, "step").expect("a step"));
    for (key, expected) in [("in", true), ("not_in", false)] {
        for from in names(list(fact, key)) {
            assert_eq!(slicer.can_bypass(cfa.node(&from), step), expected, "{from}");
        }
    }
}

fn mods(cfa: &Cfa, fact: &YamlOwned) {
    let slicer = PathSlicer::new(&cfa.program);
    for (procedure, expected) in entries(fact, "sets") {
        let procedure = cfa.program.find_procedure(&procedure).expect("a procedure");
        let found: Vec<String> = slicer.may_write(procedure).iter().map(|l| cfa.lvalue_name(l)).collect();
        assert_eq!(found, names(items(expected)));
    }
}

fn slice_property(cfa: &Cfa, fact: &YamlOwned) {
    let path = cfa.path(list(fact, "path"));
    let candidate = cfa.path(list(fact, "candidate"));
    let chosen = (0..path.len()).filter(|i| candidate.contains(&path[*i])).collect::<Vec<_>>();
    let line = Straight::new(&cfa.program, &path, &chosen);
    let whole = Straight::new(&cfa.program, &path, &(0..path.len()).collect::<Vec<_>>());
    let states = cfa.states();
    let running = line.running(&states);
    let sound = whole.running(&states).iter().all(|state| running.contains(state));
    assert_eq!(Some(sound), flag(fact, "sound"));
    if let Some(expected) = flag(fact, "complete") {
        let target = end_of(&cfa.program, &path);
        let interpreter = Interpreter::new(&cfa.program);
        let complete = running.into_iter().all(|state| {
            let ends = ends(&interpreter, state, target).expect("a small program");
            ends.target || !ends.end
        });
        assert_eq!(complete, expected);
    }
}

/// The slice meant is the one with skipped functions of the same case.
fn slice_completeness(cfa: &Cfa, fact: &YamlOwned, facts: &[YamlOwned]) {
    let of = facts.iter().find(|other| flag(other, "skip_functions") == Some(true)).expect("a slice");
    let path = cfa.path(list(of, "path"));
    let found = slice(cfa, &path, of);
    let values: BTreeMap<String, u64> = entries(fact, "state")
        .into_iter()
        .map(|(name, value)| (name, value.as_integer().expect("a number") as u64))
        .collect();
    let tuple: Vec<u64> =
        cfa.domain.iter().map(|(name, _)| values.get(name).copied().unwrap_or_default()).collect();
    let state = cfa.state(&tuple);
    let line = Straight::new(&cfa.program, &path, &found.taken);
    let states = [state];
    assert_eq!(Some(!line.running(&states).is_empty()), flag(fact, "executes_slice"));
    let interpreter = Interpreter::new(&cfa.program);
    let ends = ends(&interpreter, &states[0], end_of(&cfa.program, &path)).expect("a small program");
    assert_eq!(Some(ends.target), flag(fact, "reaches_target"));
}

fn generated(fact: &YamlOwned) {
    let args = names(list(fact, "args"));
    let after = |key: &str| {
        let at = args.iter().position(|arg| arg == key).expect("an argument");
        args[at + 1].parse::<u32>().expect("a number")
    };
    let tie = if args.contains(&"--safe".to_owned()) { Tie::Guarded } else { Tie::None };
    let long = long_path(after("--calls") as usize, after("--procs"), tie);
    assert_eq!(long.program.check(), Ok(()));
    let slice = PathSlicer::new(&long.program).slice(&long.path).expect("a path");
    assert_eq!(Some(long.path.len() as i64), number(fact, "path_edges"));
    assert_eq!(Some(slice.taken.len() as i64), number(fact, "slice_edges"));
}

#[test]
fn every_fact_of_the_cases_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/path_slice");
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for case in std::fs::read_dir(folder).expect("cases").flatten() {
        let expect = yaml::read(&case.path().join("expect.yaml"));
        let file = case.path().join("cfa.yaml");
        let cfa = file.exists().then(|| Cfa::new(&yaml::read(&file)));
        let facts = list(&expect, "facts");
        for fact in facts {
            let kind = text(fact, "kind").expect("a kind");
            println!("{} {}", case.path().display(), text(fact, "id").expect("an id"));
            match (kind, &cfa) {
                ("path_slice", Some(cfa)) => path_slice(cfa, fact),
                ("bypass", Some(cfa)) => bypass(cfa, fact),
                ("mods", Some(cfa)) => mods(cfa, fact),
                ("slice_property", Some(cfa)) => slice_property(cfa, fact),
                ("slice_completeness", Some(cfa)) => slice_completeness(cfa, fact, facts),
                ("generated", None) => generated(fact),
                other => panic!("{}: who checks {}?", case.path().display(), other.0),
            }
            *count.entry(kind.to_owned()).or_default() += 1;
        }
    }
    let expected = [
        ("bypass", 2),
        ("generated", 6),
        ("mods", 1),
        ("path_slice", 12),
        ("slice_completeness", 1),
        ("slice_property", 2),
    ];
    assert_eq!(count, expected.map(|(kind, count)| (kind.to_owned(), count)).into());
}
