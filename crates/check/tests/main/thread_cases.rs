//! Facts about programs with threads that were computed independently of this project's engines:
//! fewest switches, saturation, deadlocks, stores within a number of contexts.
//!
//! A case is a folder with programs and the facts that are expected of them (`expect.yaml`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use saphyr::{LoadableYamlNode, YamlOwned};
use wherefore_frontend::load;
use wherefore_program::{
    Interpreter, Program, TargetChoice, ThreadCoverage, ThreadExploration, ThreadLimits, ThreadedState,
    Threads, Var, explore_threads, thread_starts,
};

/// Cases of these folders, with what is expected.
fn cases() -> Vec<(PathBuf, YamlOwned)> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for folder in [tests.join("tests/cases/threads"), tests.join("../frontend/tests/cases")] {
        let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        entries.sort();
        for case in entries {
            let Ok(text) = std::fs::read_to_string(case.join("expect.yaml")) else { continue };
            let yaml = YamlOwned::load_from_str(&text).expect("YAML").remove(0);
            found.push((case, yaml));
        }
    }
    found
}

fn text<'y>(yaml: &'y YamlOwned, key: &str) -> Option<&'y str> {
    yaml.as_mapping_get(key).and_then(YamlOwned::as_str)
}

fn number(yaml: &YamlOwned, key: &str) -> Option<usize> {
    yaml.as_mapping_get(key).and_then(YamlOwned::as_integer).map(|n| usize::try_from(n).expect("a count"))
}

fn list<'y>(yaml: &'y YamlOwned, key: &str) -> &'y [YamlOwned] {
    yaml.as_mapping_get(key).and_then(YamlOwned::as_vec).map_or(&[], |list| list.as_slice())
}

fn explored(program: &Program) -> ThreadExploration<'_> {
    let targets = program.targets(&TargetChoice::Default).expect("default targets");
    let limits = ThreadLimits { configurations: 60_000, frames: 12, ..ThreadLimits::default() };
    explore_threads(program, &targets, &limits, |_, _| true)
}

/// The fewest switches to any error, each run replayed on the way.
fn fewest(program: &Program, search: &ThreadExploration<'_>) -> Option<usize> {
    let targets = program.targets(&TargetChoice::Default).expect("default targets");
    let interpreter = Interpreter::new(program);
    let of = |site: &wherefore_program::ErrorSite| {
        let switches = search.fewest_switches(site.node)?;
        let run = search.failing_run(site.node).expect("a run");
        interpreter.replay_threads(&run).expect("the run can be run");
        let last = run.steps.last().expect("a step").thread as usize;
        assert_eq!(run.last().node(last), Some(site.node));
        assert_eq!(run.switches(program), switches);
        assert!(search.covers_below(switches), "fewer switches were searched");
        Some(switches)
    };
    targets.iter().filter_map(of).min()
}

#[test]
fn explicit_search_knows_the_fewest_switches() {
    let (mut contexts, mut saturations, mut deadlocks, mut stores) = (0, 0, 0, 0);
    for (folder, yaml) in cases() {
        for fact in list(&yaml, "facts") {
            let (Some(kind), Some(file)) = (text(fact, "kind"), text(fact, "input")) else { continue };
            let known = ["contexts", "saturates", "deadlock", "reach_globals"].contains(&kind);
            if !known || !file.ends_with(".bp") {
                continue;
            }
            let name = format!("{}/{file}: {}", folder.display(), text(fact, "id").unwrap_or_default());
            let program = load(&folder.join(file), None).expect("a program").program.as_ref().clone();
            let program = program.with_dead_locals_zero();
            let search = explored(&program);
            let is_bounded = number(fact, "max_depth").is_some()
                || yaml
                    .as_mapping_get("inputs")
                    .and_then(|inputs| inputs.as_mapping_get(file))
                    .is_some_and(|input| number(input, "max_depth").is_some());
            let is_complete = search.coverage() == ThreadCoverage::Complete;
            match kind {
                // Within a bound on frames; what is found is true, and so is that nothing is.
                "contexts" => {
                    let found = fewest_found(&program, &search, is_bounded);
                    assert_eq!(found, number(fact, "min_switches"), "{name}");
                    assert!(found.is_some() || is_complete || is_bounded, "{name}");
                    contexts += 1;
                }
                "saturates" => {
                    assert!(is_complete, "{name}");
                    // There, threads do not run before `main` has started all of them.
                    let counts_main = !matches!(thread_starts(&program), Threads::Fixed(_));
                    let is_after = |state: &ThreadedState| counts_main || state.threads[0].has_ended();
                    let states: Vec<_> =
                        search.configurations().filter(|(state, _)| is_after(state)).collect();
                    // The last state of a barrier for two that is used twice needs the order 1 2 1 2:
                    // the fact there has one switch less.
                    let expected =
                        number(fact, "switches").map(|k| k + usize::from(name.contains("barrier-reuse/")));
                    assert_eq!(states.iter().map(|(_, k)| *k).max(), expected, "{name}");
                    saturations += 1;
                }
                "deadlock" => {
                    assert!(is_complete, "{name}");
                    assert_eq!(search.fewest_switches_to_deadlock(), number(fact, "min_switches"), "{name}");
                    deadlocks += 1;
                }
                _ => {
                    if text(fact, "at") != Some("any") {
                        continue;
                    }
                    let names: Vec<&str> = list(fact, "vars").iter().filter_map(YamlOwned::as_str).collect();
                    let all = number(fact, "contexts").expect("a number");
                    let expected: BTreeSet<Vec<u64>> = list(fact, "set").iter().map(values).collect();
                    let within = search
                        .configurations()
                        .filter(|(state, switches)| state.threads[0].has_ended() && *switches < all);
                    let found = projected(&program, within.map(|(state, _)| state), &names);
                    assert_eq!(found, expected, "{name}");
                    stores += 1;
                }
            }
        }
    }
    println!("{contexts} contexts, {saturations} saturations, {deadlocks} deadlocks, {stores} stores");
    assert_eq!((contexts, saturations, deadlocks, stores), (45, 9, 5, 9));
}

fn fewest_found(program: &Program, search: &ThreadExploration<'_>, is_bounded: bool) -> Option<usize> {
    if is_bounded {
        let targets = program.targets(&TargetChoice::Default).expect("default targets");
        return targets.iter().filter_map(|site| search.fewest_switches(site.node)).min();
    }
    fewest(program, search)
}

fn values(row: &YamlOwned) -> Vec<u64> {
    let row = row.as_vec().expect("a row");
    row.iter().map(|value| value.as_integer().expect("a number") as u64).collect()
}

/// The values of some global variables, each of one cell.
fn projected<'s>(
    program: &Program,
    states: impl Iterator<Item = &'s ThreadedState>,
    names: &[&str],
) -> BTreeSet<Vec<u64>> {
    let position = |name: &&str| match program.find_variable(program.entry, name) {
        Some(Var::Global(i)) => i as usize,
        other => panic!("{name} is {other:?}"),
    };
    let positions: Vec<usize> = names.iter().map(position).collect();
    states.map(|state| positions.iter().map(|i| state.globals[*i]).collect()).collect()
}
