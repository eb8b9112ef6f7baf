//! Why schedules fail: where switches may happen, which of them matter, what of a run matters, and
//! what repairs it, against a search that shares nothing with it but single steps.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use wherefore_check::threads::repair::{Extent, repaired};
use wherefore_check::threads::{Schedule, ScheduleLimits, ScheduleSearch, Way, why};
use wherefore_check::{Budget, Engine, Session, Verdict};
use wherefore_frontend::{Language, load, parse};
use wherefore_program::{
    ErrorSite, Interpreter, LocationKind, Node, Program, Starting, SwitchPoints, Task, ThreadLimits,
    ThreadStep, ThreadTrace, ThreadedState, explore_threads, thread_projection, thread_slice, windows,
};

use crate::random_threads::Random;
use crate::thread_cases::{cases, list, number, text};

/// Where a schedule is: the configuration, the position in the order of threads, and whether the
/// thread has moved.
type Point = (ThreadedState, usize, bool);

/// Whether a schedule of an order of threads fails, and the windows of its switches, by single steps;
/// none if there are too many configurations.
fn by_steps(
    program: &Program,
    site: &ErrorSite,
    order: &[u32],
) -> Option<(bool, Vec<BTreeSet<Option<Node>>>)> {
    let interpreter = Interpreter::new(program);
    let mut numbers: BTreeMap<Point, usize> = BTreeMap::new();
    let mut points: Vec<Point> = Vec::new();
    let mut into: Vec<Vec<usize>> = Vec::new();
    let mut queue: VecDeque<usize> = VecDeque::new();
    let mut failing: Vec<usize> = Vec::new();
    for state in interpreter.initial_threads(1 << 10).0 {
        numbers.insert((state.clone(), 0, false), points.len());
        queue.push_back(points.len());
        points.push((state, 0, false));
        into.push(Vec::new());
    }
    while let Some(at) = queue.pop_front() {
        if points.len() > 30_000 {
            return None;
        }
        let (state, position, has_moved) = points[at].clone();
        let thread = order[position] as usize;
        let node = state.node(thread);
        if node == Some(site.node) && position + 1 == order.len() && has_moved {
            failing.push(at);
        }
        let is_error = node.is_some_and(|node| program.location(node).kind == LocationKind::Error);
        if is_error || node == Some(site.node) && state.atomic.is_some() {
            continue;
        }
        let mut next: Vec<Point> = Vec::new();
        if let Some(node) = node {
            for (edge, _) in program.procedure(node.procedure).edges_from(node.location) {
                let edge = wherefore_program::EdgeRef { procedure: node.procedure, edge };
                let outcomes = interpreter.thread_step(&state, thread, edge, Starting::Followed, 1 << 10).0;
                next.extend(outcomes.into_iter().map(|outcome| (outcome, position, true)));
            }
        }
        if let (Some(other), None, true) = (order.get(position + 1), state.atomic, has_moved) {
            if state.node(*other as usize).is_some() {
                next.push((state.clone(), position + 1, false));
            }
        }
        for point in next {
            if point.0.threads.iter().any(|thread| thread.stack.len() > 12) {
                return None;
            }
            let number = *numbers.entry(point.clone()).or_insert_with(|| {
                points.push(point);
                into.push(Vec::new());
                queue.push_back(points.len() - 1);
                points.len() - 1
            });
            into[number].push(at);
        }
    }
    let mut is_bad = vec![false; points.len()];
    while let Some(at) = failing.pop() {
        if !std::mem::replace(&mut is_bad[at], true) {
            failing.extend(&into[at]);
        }
    }
    let mut found = vec![BTreeSet::new(); order.len() - 1];
    for (at, (state, position, has_moved)) in points.iter().enumerate() {
        if is_bad[at] && !has_moved && *position > 0 {
            // It was left in this configuration, and not inside of an atomic section.
            found[position - 1].insert(state.node(order[position - 1] as usize));
        }
    }
    Some((points.iter().zip(&is_bad).any(|((_, at, moved), bad)| *bad && *at == 0 && !moved), found))
}

fn limits(program: &Program) -> ThreadLimits {
    let threads = wherefore_program::thread_starts(program).most().unwrap_or(6);
    ThreadLimits { configurations: 30_000, frames: 12, threads, ..ThreadLimits::default() }
}

/// A failing schedule of a program; none if there is none, or if the search did not end.
fn failing(task: &Task) -> Option<(Schedule, ErrorSite)> {
    let search = ScheduleSearch { limits: ScheduleLimits::default(), way: Way::Auto };
    let answer = search.decide(task, &Session::default(), &Budget::time(Duration::from_secs(1)));
    let run = answer.verdicts.iter().find_map(Verdict::run)?;
    Some((run.schedule.as_deref()?.clone(), task.checks[run.target].clone()))
}

#[test]
fn windows_and_switches_that_matter_are_those_of_all_schedules() {
    let mut random = Random(0x51de ^ wherefore_testing::seed());
    let (mut compared, mut switches, mut idle, mut repaired_programs) = (0, 0, 0, 0);
    for _ in 0..wherefore_testing::cases(400) {
        let text = random.program();
        let task = parse(Language::Boolean, "random.bp", &text, None).expect("it is well formed");
        let Some((schedule, site)) = failing(&task) else { continue };
        let program = (*task.program).clone().with_unread_values_zero();
        let order: Vec<u32> = schedule.trace.contexts().iter().map(|context| context.thread).collect();
        let Some((_, expected)) = by_steps(&program, &site, &order) else { continue };
        let found = windows(&program, std::slice::from_ref(&site), &order, &limits(&program), || true);
        if !found.is_complete {
            continue;
        }
        assert!(found.fails, "{text}");
        assert_eq!(found.points, expected, "{order:?} of\n{text}");
        compared += 1;
        switches += expected.len();
        // Said to be the fewest or not, what matters is decided by all schedules without it.
        let plain = Schedule { fewest: false, ..schedule.clone() };
        let longer = with_a_detour(&program, &schedule, &site);
        for schedule in [schedule.clone(), plain].into_iter().chain(longer) {
            let is_fewest = schedule.fewest;
            let order: Vec<u32> = schedule.trace.contexts().iter().map(|context| context.thread).collect();
            let budget = Budget::time(Duration::from_secs(5));
            for (at, reason) in why::switches(&task, &schedule, &site, &budget).iter().enumerate() {
                let Some(matters) = reason.matters else { continue };
                let without = |left_out: usize| {
                    let mut rest = order.clone();
                    rest.remove(left_out);
                    rest.dedup();
                    match rest[0] {
                        0 => by_steps(&program, &site, &rest).map(|(fails, _)| fails),
                        _ => Some(false),
                    }
                };
                let outcomes = [without(at), without(at + 1)];
                let survives = outcomes.contains(&Some(true));
                if !survives && outcomes.contains(&None) {
                    continue;
                }
                // The first leave of the first thread is no switch that counts.
                if at > 0 || !is_fewest {
                    assert_eq!(matters, !survives, "switch {at} of {order:?} of\n{text}");
                }
                idle += usize::from(!matters);
            }
        }
        let kept = thread_slice(&program, &schedule.trace);
        assert_eq!(kept.len(), schedule.trace.steps.len());
        assert!(kept.iter().any(|kept| *kept), "{text}");
        repaired_programs += usize::from(repairs_hold(&task, &schedule, &text));
    }
    assert!(compared >= 10, "{compared} programs");
    assert!(
        switches > compared && idle > 0 && repaired_programs > 1,
        "{switches} {idle} {repaired_programs}"
    );
}

/// A failing schedule with one more context, somewhere in the middle: one step of another thread.
fn with_a_detour(program: &Program, schedule: &Schedule, site: &ErrorSite) -> Option<Schedule> {
    let interpreter = Interpreter::new(program);
    let trace = &schedule.trace;
    let outcomes = |state: &ThreadedState, thread: usize, edge| {
        interpreter.thread_step(state, thread, edge, Starting::Followed, 1 << 10).0
    };
    for at in 1..trace.steps.len() {
        let state = &trace.steps[at - 1].state;
        let running = trace.steps[at].thread as usize;
        for other in (0..state.threads.len()).filter(|other| *other != running && state.atomic.is_none()) {
            let Some(node) = state.node(other) else { continue };
            let Some((edge, _)) = program.procedure(node.procedure).edges_from(node.location).next() else {
                continue;
            };
            let edge = wherefore_program::EdgeRef { procedure: node.procedure, edge };
            let Some(next) = outcomes(state, other, edge).into_iter().find(|next| next.atomic.is_none())
            else {
                continue;
            };
            let mut steps = trace.steps[..at].to_vec();
            steps.push(ThreadStep { thread: other as u32, edge, state: next });
            for step in &trace.steps[at..] {
                let now = &steps.last().expect("a step").state;
                if now.node(step.thread as usize)
                    != Some(Node { procedure: step.edge.procedure, location: program.edge(step.edge).from })
                {
                    break;
                }
                let wanted = step.state.threads.get(step.thread as usize);
                let all = outcomes(now, step.thread as usize, step.edge);
                let same = all.iter().find(|next| next.threads.get(step.thread as usize) == wanted);
                let Some(state) = same.or(all.first()).cloned() else { break };
                steps.push(ThreadStep { state, ..step.clone() });
            }
            let longer = ThreadTrace { start: trace.start.clone(), steps };
            let last = longer.steps.last().expect("a step").thread as usize;
            let fails = longer.last().node(last) == Some(site.node);
            if fails && longer.contexts().len() > trace.contexts().len() {
                interpreter.replay_threads(&longer).expect("it can be run");
                let switches = longer.switches(program);
                return Some(Schedule { trace: longer, switches, fewest: false });
            }
        }
    }
    None
}

/// Checks the repairs of a program by explicit search, statement by statement; whether there is one.
fn repairs_hold(task: &Task, schedule: &Schedule, text: &str) -> bool {
    let budget = Budget::time(Duration::from_secs(5));
    let found = wherefore_check::threads::repair::repairs(task, schedule, (&Session::default(), &budget));
    for repair in &found.found {
        let program = repaired(task, schedule, repair).expect("it is one of those that were tried");
        program.check().expect("it is well formed");
        let limits = ThreadLimits { points: SwitchPoints::All, ..limits(&program) };
        let after = explore_threads(&program, &task.checks, &limits, |_, _| true);
        let name = &program.procedure(repair.procedure).name;
        let least = task.checks.iter().filter_map(|site| after.fewest_switches(site.node)).min();
        match repair.extent {
            Extent::Every => assert_eq!(least, None, "{}\n{text}", repair.change.words(name)),
            Extent::Switches(most) => {
                assert!(least.is_none_or(|least| least > most), "{}\n{text}", repair.change.words(name));
            }
        }
    }
    !found.found.is_empty()
}

/// The lines of the next steps where thread i can be left in i, j, i: \[Lal09\] §5.5.
#[test]
fn switch_points_of_the_cases() {
    let mut known = 0;
    for (folder, yaml) in cases() {
        for fact in list(&yaml, "facts") {
            let (Some("switch_points"), Some(file)) = (text(fact, "kind"), text(fact, "input")) else {
                continue;
            };
            let task = load(folder.join(file), None).expect("a program");
            let threads: Vec<u32> = numbers(fact, "threads").into_iter().collect();
            let order = [0, threads[0], threads[1], threads[0]];
            let mut lines = BTreeSet::new();
            for site in &task.checks {
                let program = (*task.program).clone().with_unread_values_zero();
                let limits = ThreadLimits { configurations: 200_000, frames: 64, ..limits(&program) };
                let found = windows(&program, std::slice::from_ref(site), &order, &limits, || true);
                assert!(found.is_complete, "{} {fact:?}", folder.display());
                let window = found.points[1].iter().flatten();
                lines.extend(window.filter_map(|node| task.program.line(*node)));
                // In the facts a thread may also be left before its first step.
                let order = [0, threads[1], threads[0]];
                if windows(&program, std::slice::from_ref(site), &order, &limits, || true).fails {
                    let all = thread_projection(&program, &task.checks, &limits, || true);
                    let root = *all.roots[&threads[0]].first().expect("a procedure");
                    let location = program.procedure(root).entry;
                    lines.extend(program.line(Node { procedure: root, location }));
                }
            }
            let expected: BTreeSet<u32> = numbers(fact, "lines").into_iter().collect();
            assert_eq!(lines, expected, "{} {fact:?}", folder.display());
            known += 1;
        }
    }
    assert!(known >= 8, "{known} facts");
}

fn numbers(yaml: &saphyr::YamlOwned, key: &str) -> Vec<u32> {
    list(yaml, key).iter().filter_map(saphyr::YamlOwned::as_integer).map(|n| n as u32).collect()
}

/// The lines of each thread on failing schedules with at most so many switches.
#[test]
fn projections_of_the_cases() {
    let mut known = 0;
    for (folder, yaml) in cases() {
        for fact in list(&yaml, "facts") {
            let (Some("conc_projection"), Some(file)) = (text(fact, "kind"), text(fact, "input")) else {
                continue;
            };
            let task = load(folder.join(file), None).expect("a program");
            let limits = ThreadLimits { switches: number(fact, "switches"), ..limits(&task.program) };
            let found = thread_projection(&task.program, &task.checks, &limits, || true);
            assert!(found.is_complete);
            let mut lines: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
            for (thread, node) in found.nodes.keys().filter(|(thread, _)| *thread > 0) {
                lines.entry(*thread).or_default().extend(task.program.line(*node));
            }
            let inside = fact.as_mapping_get("in").and_then(saphyr::YamlOwned::as_mapping).expect("lines");
            let expected: BTreeMap<u32, BTreeSet<u32>> = inside
                .iter()
                .map(|(thread, lines)| {
                    let lines = lines.as_vec().expect("a list").iter();
                    let lines = lines.filter_map(saphyr::YamlOwned::as_integer).map(|n| n as u32).collect();
                    (thread.as_integer().expect("a thread") as u32, lines)
                })
                .collect();
            assert_eq!(lines, expected, "{} {fact:?}", folder.display());
            known += 1;
        }
    }
    assert_eq!(known, 2);
}

/// A projection is what single failing schedules go through: each line that is said to be on one
/// with so many switches is on none with fewer.
#[test]
fn projections_grow_with_the_switches() {
    let mut random = Random(0x9e37 ^ wherefore_testing::seed());
    let mut compared = 0;
    for _ in 0..wherefore_testing::cases(150) {
        let text = random.program();
        let task = parse(Language::Boolean, "random.bp", &text, None).expect("it is well formed");
        let program = &task.program;
        let all = thread_projection(program, &task.checks, &limits(program), || true);
        if !all.is_complete || all.nodes.is_empty() {
            continue;
        }
        compared += 1;
        for most in 0..4 {
            let limits = ThreadLimits { switches: Some(most), ..limits(program) };
            let some = thread_projection(program, &task.checks, &limits, || true);
            let expected: BTreeMap<_, _> =
                all.nodes.iter().filter(|(_, least)| **least <= most).map(|(at, n)| (*at, *n)).collect();
            assert_eq!(some.nodes, expected, "{most} switches of\n{text}");
        }
        let found = explore_threads(program, &task.checks, &limits(program), |_, _| true);
        let least = task.checks.iter().filter_map(|site| found.fewest_switches(site.node)).min();
        assert_eq!(all.nodes.values().copied().min(), least, "{text}");
    }
    assert!(compared > 10, "{compared} programs");
}

/// The classics: each has a repair that explicit search confirms, or none of the kinds.
#[test]
fn the_classics_have_repairs() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let classics = [
        ("../frontend/tests/cases/fig1.7-interleaving/main.bp", Some("lines 4 to 5 of t1 as one step")),
        ("../frontend/tests/cases/bluetooth-v1/main.bp", Some("lines 4 to 7 of IoIncrement as one step")),
        ("../frontend/tests/cases/peterson2-buggy/main.bp", None),
        ("tests/cases/threads/bt-v3-2a1s-plain/main.bp", Some("lines 5 to 6 of IoIncrement as one step")),
        ("tests/cases/threads/aba-stack/main.bp", Some("lines 7 to 11 of popper as one step")),
        ("tests/cases/threads/double-checked-buggy/main.bp", Some("lines 7 and 8 of get exchanged")),
    ];
    for (file, expected) in classics {
        let task = load(folder.join(file), None).expect("a program");
        let (schedule, _) = failing(&task).expect("it fails");
        let budget = Budget::time(Duration::from_secs(20));
        let found =
            wherefore_check::threads::repair::repairs(&task, &schedule, (&Session::default(), &budget));
        let words: Vec<String> = found
            .found
            .iter()
            .map(|repair| repair.change.words(&task.program.procedure(repair.procedure).name))
            .collect();
        match expected {
            Some(expected) => assert!(words.iter().any(|words| words == expected), "{file}: {words:?}"),
            None => assert_eq!(words, Vec::<String>::new(), "{file}"),
        }
        assert!(found.is_complete, "{file}");
        repairs_hold(&task, &schedule, file);
    }
}
