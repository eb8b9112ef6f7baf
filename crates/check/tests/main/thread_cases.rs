//! Facts about programs with threads that were computed independently of this project's engines:
//! fewest switches, saturation, deadlocks, stores within a number of contexts.
//!
//! A case is a folder with programs and the facts that are expected of them (`expect.yaml`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use saphyr::{LoadableYamlNode, YamlOwned};
use wherefore_check::threads::{ScheduleLimits, ScheduleSearch, Way};
use wherefore_check::{Budget, Engine, Extent, Overall, Question, Session, Why, answer};
use wherefore_frontend::load;
use wherefore_program::{
    Interpreter, Program, TargetChoice, ThreadCoverage, ThreadExploration, ThreadLimits, ThreadedState,
    Threads, Var, explore_threads, thread_starts,
};

/// Cases of these folders, with what is expected.
pub(crate) fn cases() -> Vec<(PathBuf, YamlOwned)> {
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

pub(crate) fn text<'y>(yaml: &'y YamlOwned, key: &str) -> Option<&'y str> {
    yaml.as_mapping_get(key).and_then(YamlOwned::as_str)
}

pub(crate) fn number(yaml: &YamlOwned, key: &str) -> Option<usize> {
    yaml.as_mapping_get(key).and_then(YamlOwned::as_integer).map(|n| usize::try_from(n).expect("a count"))
}

pub(crate) fn list<'y>(yaml: &'y YamlOwned, key: &str) -> &'y [YamlOwned] {
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
            let program = load(folder.join(file), None).expect("a program").program.as_ref().clone();
            let program = program.with_unread_values_zero();
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
                    // The last state of a barrier for two that is used twice needs the order 1 2 1
                    // 2: the fact there has one switch less.
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

/// What the front door says: the verdict, the switches of the run, and whether they are the fewest.
fn answered(
    path: &Path,
    schedules: ScheduleSearch,
    checks_bounds: bool,
) -> (&'static str, Option<usize>, bool) {
    let task = match path.extension().is_some_and(|extension| extension == "c") {
        true => {
            wherefore_frontend::c::load(&[path.to_path_buf()], &wherefore_frontend::c::Options::default())
        }
        false => load(path, None),
    };
    let task = task.unwrap_or_else(|error| panic!("{}", error.render()));
    let task = if checks_bounds { task.with_bounds_checks() } else { task };
    let question = Question { schedules: Some(schedules), ..Question::default() };
    let budget = Budget::time(std::time::Duration::from_secs(60));
    let answer = answer(&task, &question, &Session::default(), &budget);
    match answer.decision() {
        Overall::Safe => ("safe", None, false),
        Overall::Unsafe(_) => {
            let runs = answer.verdicts.iter().filter_map(|verdict| verdict.run());
            let schedules = runs.map(|run| run.schedule.clone().expect("a schedule"));
            let least = schedules.min_by_key(|schedule| schedule.switches).expect("a run");
            ("unsafe", Some(least.switches), least.fewest)
        }
        Overall::Unknown(why) => panic!("{}: {}", path.display(), why.words(&task.program)),
    }
}

#[test]
fn c_programs_have_their_verdicts_and_fewest_switches() {
    let mut count = 0;
    for (folder, yaml) in cases() {
        for fact in list(&yaml, "facts") {
            let (Some("contexts"), Some(file)) = (text(fact, "kind"), text(fact, "input")) else { continue };
            // A thread that waits for a condition may go on without a signal.
            let other = file == "main.c" && folder.ends_with("api-cond");
            if !file.ends_with(".c") || other && fact.as_mapping_get("spurious").is_none() {
                continue;
            }
            // The failure there is an index outside of its array.
            let checks_bounds = folder.ends_with("fig1.7-interleaving");
            let found = answered(&folder.join(file), ScheduleSearch::default(), checks_bounds);
            let expected = match number(fact, "min_switches") {
                Some(switches) => ("unsafe", Some(switches), true),
                None => ("safe", None, false),
            };
            assert_eq!(found, expected, "{}/{file}", folder.display());
            count += 1;
        }
    }
    assert_eq!(count, 22);
}

#[test]
fn deadlocks_of_c_programs_have_their_fewest_switches() {
    let mut count = 0;
    for (folder, yaml) in cases() {
        for fact in list(&yaml, "facts") {
            let (Some("deadlock"), Some(file)) = (text(fact, "kind"), text(fact, "input")) else { continue };
            if !file.ends_with(".c") {
                continue;
            }
            let checks = [wherefore_program::ViolationKind::Deadlock].into();
            let property = wherefore_frontend::c::Property::Calls(Vec::new());
            let options = wherefore_frontend::c::Options { checks, property, ..Default::default() };
            let name = format!("{}/{file}", folder.display());
            let task = wherefore_frontend::c::load(&[folder.join(file)], &options)
                .unwrap_or_else(|error| panic!("{}", error.render()));
            let budget = Budget::time(std::time::Duration::from_secs(60));
            let question = Question { extent: Extent::FirstFailure, ..Question::default() };
            let answer = answer(&task, &question, &Session::default(), &budget);
            let runs = answer.verdicts.iter().filter_map(|verdict| verdict.run());
            let found = runs.map(|run| run.schedule.as_ref().expect("a schedule").switches).min();
            assert_eq!(found, number(fact, "min_switches"), "{name}");
            assert!(found.is_some() || matches!(answer.decision(), Overall::Safe), "{name}");
            count += 1;
        }
    }
    assert_eq!(count, 6);
}

#[test]
fn the_reduction_needs_the_rounds_that_are_expected() {
    let mut count = 0;
    for (folder, yaml) in cases() {
        for fact in list(&yaml, "facts") {
            let (Some(rounds), Some(file)) = (number(fact, "round_robin_k"), text(fact, "input")) else {
                continue;
            };
            // Larger ones take too long here.
            if rounds > 2 || !file.ends_with(".bp") {
                continue;
            }
            let name = format!("{}/{file}", folder.display());
            let task = load(folder.join(file), None).expect("a program");
            for asked in 1..=rounds {
                let limits = ScheduleLimits { rounds: Some(asked), ..ScheduleLimits::default() };
                let search = ScheduleSearch { limits, way: Way::Eager };
                let answer = search.decide(&task, &Session::default(), &Budget::default());
                match answer.decision() {
                    Overall::Unsafe(_) => assert_eq!(asked, rounds, "{name}"),
                    Overall::Unknown(Why::Switches { covered, .. }) => {
                        assert_eq!(covered.rounds, Some(asked), "{name}");
                        assert!(asked < rounds, "{name}");
                    }
                    other => panic!("{name}: {other:?}"),
                }
            }
            count += 1;
        }
    }
    assert_eq!(count, 22);
}

/// The tool never says *safe* because a bound was reached.
#[test]
fn a_bound_is_no_proof() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/threads");
    let limits = ScheduleLimits { switches: Some(1), ..ScheduleLimits::default() };
    for file in ["sec6.2-saturation/main.bp", "deep-switch/once.bp", "dekker-correct/main.bp"] {
        let task = load(folder.join(file), None).expect("a program");
        for way in [Way::Auto, Way::Explicit, Way::Eager] {
            if way == Way::Explicit && file.starts_with("deep") {
                continue;
            }
            let answer =
                ScheduleSearch { limits, way }.decide(&task, &Session::default(), &Budget::default());
            let Overall::Unknown(Why::Switches { covered, .. }) = answer.decision() else {
                panic!("{file}: {:?}", answer.decision());
            };
            assert_eq!(covered.switches, Some(1), "{file} {way:?}");
        }
    }
}

/// A value that explicit search does not try: bounded checking finds the schedule, and it is run by
/// the interpreter.
#[test]
fn schedules_that_need_a_large_value_are_found() {
    let text = "typedef unsigned long pthread_t;
        extern int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
        extern void reach_error(void);
        extern int __VERIFIER_nondet_int(void);
        int y;
        void *writer(void *a) { int v = __VERIFIER_nondet_int(); if (v > 1000) y = v; return 0; }
        void *reader(void *a) { if (y == 1234) reach_error(); return 0; }
        int main(void) {
          pthread_t a, b;
          pthread_create(&a, 0, writer, 0);
          pthread_create(&b, 0, reader, 0);
          return 0;
        }";
    let options = wherefore_frontend::c::Options::default();
    let translation = wherefore_frontend::c::translate_text("large.c", text, &options).expect("a program");
    let task = translation.into_task(&[], &options);
    let decide = |way| {
        let limits = ScheduleLimits { switches: Some(1), ..ScheduleLimits::default() };
        ScheduleSearch { limits, way }.decide(&task, &Session::default(), &Budget::default())
    };
    let explicit = decide(Way::Explicit);
    assert!(matches!(explicit.decision(), Overall::Unknown(Why::Switches { .. })));
    let events = decide(Way::Events);
    let Overall::Unsafe(run) = events.decision() else { panic!("{:?}", events.decision()) };
    let schedule = run.schedule.as_ref().expect("a schedule");
    assert_eq!((schedule.switches, schedule.fewest), (1, true));
}

const POSIX: &str = "typedef unsigned long pthread_t;
    extern int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
    extern int pthread_join(pthread_t, void **);
    extern void reach_error(void);
    int x, y;";

fn in_c(text: &str) -> Result<wherefore_program::Task, wherefore_frontend::LoadError> {
    let options = wherefore_frontend::c::Options::default();
    let translation =
        wherefore_frontend::c::translate_text("threads.c", &format!("{POSIX}\n{text}"), &options)?;
    Ok(translation.into_task(&[], &options))
}

/// The value of a call is read in one step and written in another.
#[test]
fn a_thread_may_be_interrupted_before_a_result_is_written() {
    let task = in_c(
        "int get(void) { return x; }
         void *reader(void *a) { y = get(); return 0; }
         void *writer(void *a) { y = 5; x = 2; return 0; }
         int main(void) {
           pthread_t a, b;
           pthread_create(&a, 0, reader, 0); pthread_create(&b, 0, writer, 0);
           pthread_join(a, 0); pthread_join(b, 0);
           if (y == 0 && x == 2) reach_error();
           return 0;
         }",
    );
    let task = task.expect("a program");
    let answer = ScheduleSearch::default().decide(&task, &Session::default(), &Budget::default());
    let Overall::Unsafe(run) = answer.decision() else { panic!("{:?}", answer.decision()) };
    let schedule = run.schedule.as_ref().expect("a schedule");
    assert_eq!((schedule.switches, schedule.fewest), (3, true));
}

/// What is not modelled is no reason to say *safe*.
#[test]
fn what_is_not_modelled_with_threads_is_unknown_or_refused() {
    let start = "int main(void) { pthread_t a; pthread_create(&a, 0, (void *(*)(void *))t, 0);
        pthread_join(a, 0); if (x == 1) reach_error(); return 0; }";
    let task = in_c(&format!("void t(void) {{ x = 1; }} {start}")).expect("a program");
    let question = Question { schedules: Some(ScheduleSearch::default()), ..Question::default() };
    let answer = answer(&task, &question, &Session::default(), &Budget::default());
    let Overall::Unknown(why) = answer.decision() else { panic!("{:?}", answer.decision()) };
    assert!(why.words(&task.program).contains("a thread that starts in a function of another type"));
    // An object of each thread whose address is taken.
    let task =
        in_c(&format!("_Thread_local int z; void *t(void *a) {{ int *p = &z; *p = 1; return 0; }} {start}"));
    let task = task.expect("a program");
    let answer = wherefore_check::answer(&task, &question, &Session::default(), &Budget::default());
    let Overall::Unknown(why) = answer.decision() else { panic!("{:?}", answer.decision()) };
    assert!(why.words(&task.program).contains("each thread has for itself"), "{}", why.words(&task.program));
    let sections = "void __VERIFIER_atomic_begin(void); _Atomic int z;";
    let refused = in_c(&format!("{sections} void *t(void *a) {{ z = 1; return 0; }} {start}"));
    let message = refused.expect_err("refused").to_string();
    assert!(message.contains("`_Atomic` beside atomic sections is not supported"), "{message}");
}

/// What invariants of pairs rest on must not get lost: each thread adds one, and the last one makes
/// it too many.
#[test]
fn threads_that_are_started_in_a_loop_are_counted_by_no_invariant() {
    let text = |most: u32| {
        format!(
            "void *check(void *a) {{ if (x >= {most}) reach_error(); return 0; }}
             void *add(void *a) {{ int t = x; x = t + 1; return 0; }}
             int main(void) {{
               pthread_t a;
               pthread_create(&a, 0, check, 0);
               for (int i = 0; i < 5; i++) pthread_create(&a, 0, add, 0);
               return 0;
             }}"
        )
    };
    for most in [2, 5] {
        let task = in_c(&text(most)).expect("a program");
        let search = ScheduleSearch { limits: ScheduleLimits::default(), way: Way::Modular };
        let answer = search.decide(&task, &Session::default(), &Budget::default());
        assert!(matches!(answer.decision(), Overall::Unknown(_)), "{most}: {:?}", answer.decision());
    }
}

/// Nobody enters twice, however many threads there are.
#[test]
fn a_lock_is_proved_for_any_number_of_threads() {
    let task = in_c(
        "extern void __VERIFIER_assume(int);
         int lock, inside;
         void __VERIFIER_atomic_enter(void) { __VERIFIER_assume(lock == 0); lock = 1; }
         void __VERIFIER_atomic_leave(void) { lock = 0; }
         void *worker(void *a) {
           __VERIFIER_atomic_enter();
           inside = 1;
           if (inside != 1) reach_error();
           inside = 0;
           __VERIFIER_atomic_leave();
           return 0;
         }
         int main(void) { pthread_t a; while (1) pthread_create(&a, 0, worker, 0); }",
    )
    .expect("a program");
    let search = ScheduleSearch { limits: ScheduleLimits::default(), way: Way::Modular };
    let answer = search.decide(&task, &Session::default(), &Budget::default());
    assert!(matches!(answer.decision(), Overall::Safe), "{:?}", answer.decision());
}
