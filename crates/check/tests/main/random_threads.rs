//! Random programs with threads: explicit search over schedules against the reduction to a
//! sequential program, against orders of events, and, in C, against invariants of pairs.

use std::collections::BTreeSet;
use wherefore_check::threads::{ScheduleLimits, ScheduleSearch, Way};
use wherefore_check::{Budget, Engine, Session, Verdict, Why};
use wherefore_frontend::{Language, parse};

use wherefore_program::{
    Interpreter, Program, SwitchPoints, Task, ThreadLimits, explore_threads, search_schedules, thread_starts,
};

/// Numbers that depend on the seed only.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len() as u64) as usize]
    }

    fn expression(&mut self, depth: u64) -> String {
        match self.below(if depth == 0 { 3 } else { 6 }) {
            0 | 1 => self.pick(&["g", "h", "x"]).to_owned(),
            2 => self.pick(&["T", "F", "*", "lock"]).to_owned(),
            3 => format!("!({})", self.expression(depth - 1)),
            _ => {
                let op = self.pick(&["&", "|", "^", "="]);
                format!("({} {op} {})", self.expression(depth - 1), self.expression(depth - 1))
            }
        }
    }

    fn statement(&mut self, depth: u64) -> String {
        let e = |random: &mut Self| random.expression(1);
        match self.below(if depth == 0 { 9 } else { 13 }) {
            0..=2 => format!("{} := {};", self.pick(&["g", "h", "x"]), e(self)),
            3 => format!("g, x := {}, {};", e(self), e(self)),
            4 => format!("assume({});", e(self)),
            5 => format!("assert(!({} & {} & {}));", e(self), e(self), self.expression(0)),
            6 => format!("x := f({});", e(self)),
            7 => format!("g := f({});", e(self)),
            8 => "p();".to_owned(),
            9 => {
                let (then, other) = (self.block(depth - 1, 2), self.block(depth - 1, 1));
                format!("if ({}) then {then} else {other} fi;", e(self))
            }
            10 => format!("while ({}) do {} od;", e(self), self.block(depth - 1, 2)),
            11 => format!("atomic_begin; {} atomic_end;", self.block(0, 2)),
            _ => {
                let inside = self.block(0, 1);
                format!("atomic_begin; assume(!lock); lock := T; atomic_end; {inside} lock := F;")
            }
        }
    }

    fn block(&mut self, depth: u64, most: u64) -> String {
        let count = 1 + self.below(most);
        (0..count).map(|_| self.statement(depth)).collect::<Vec<_>>().join(" ")
    }

    /// Two or three threads with two globals and a lock; `f` may call itself.
    pub(crate) fn program(&mut self) -> String {
        let recursive = self.below(8) == 0;
        let again = if recursive { "if (*) then x := f(!a); fi; " } else { "" };
        let threads = 2 + self.below(2);
        let mut text = format!(
            "decl g, h, lock;
             bool f(a) begin decl x; x := a; {again}g := g ^ a; {} return x; end
             void p() begin decl x; x := h; h := {}; end\n",
            ["", "h := !h;", "end_thread;"][self.below(3) as usize]
                .replace("end_thread;", "if (h & g & a) then end_thread; fi;"),
            self.expression(1),
        );
        for thread in 0..threads {
            let mut body = self.block(1, 2);
            if thread + 1 == threads {
                body += &format!(" assert(!({} & {}));", self.expression(0), self.expression(1));
            }
            text += &format!("void t{thread}() begin decl x; x := F; {body} end\n");
        }
        let mut starts: Vec<String> =
            (0..threads).map(|thread| format!("start_thread t{thread}();")).collect();
        match self.below(5) {
            // The first thread does something that others see.
            0 => starts.push("h := !h;".to_owned()),
            1 => starts.insert(1, "g := T;".to_owned()),
            2 => starts.push("if (*) then start_thread t0(); fi;".to_owned()),
            _ => {}
        }
        format!("{text}void main() begin decl x; x := F; g, h, lock := F, F, F; {} end\n", starts.join(" "))
    }
}

/// The fewest switches of a failing schedule with at most `most`, if there is one; the run is
/// replayed. None if the search does not know.
fn fewest(task: &Task, way: Way, most: usize) -> Option<Option<usize>> {
    let limits = ScheduleLimits { switches: Some(most), ..ScheduleLimits::default() };
    let search = ScheduleSearch { limits, way };
    // Recursion makes explicit search infinite.
    let seconds = if way == Way::Explicit { 1 } else { 10 };
    let budget = Budget::time(std::time::Duration::from_secs(seconds));
    let answer = search.decide(task, &Session::default(), &budget);
    let mut least = None;
    let mut is_covered = true;
    for (site, verdict) in task.checks.iter().zip(&answer.verdicts) {
        match verdict {
            Verdict::Unsafe(run) => {
                let schedule = run.schedule.as_ref().expect("a schedule");
                Interpreter::new(&(*task.program).clone().with_unread_values_zero())
                    .replay_threads(&schedule.trace)
                    .expect("the schedule can be run");
                let last = schedule.trace.steps.last().expect("a step").thread as usize;
                assert_eq!(schedule.trace.last().node(last), Some(site.node));
                is_covered &= schedule.fewest;
                assert_eq!(schedule.trace.switches(&task.program), schedule.switches);
                least = Some(least.map_or(schedule.switches, |least: usize| least.min(schedule.switches)));
            }
            Verdict::Unknown(Why::Switches { covered, .. }) => {
                is_covered &= covered.switches.is_some_and(|covered| covered >= most);
            }
            Verdict::Safe(_) | Verdict::Unknown(Why::NotAsked) => {}
            Verdict::Unknown(other) => panic!("{other:?}"),
        }
    }
    is_covered.then_some(least)
}

/// What a search without a bound on switches has found.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    Fails { switches: usize, is_fewest: bool },
    Holds,
}

fn found(task: &Task, way: Way, seconds: u64) -> Option<Found> {
    let search = ScheduleSearch { limits: ScheduleLimits::default(), way };
    let budget = Budget::time(std::time::Duration::from_secs(seconds));
    let answer = search.decide(task, &Session::default(), &budget);
    let least = answer.verdicts.iter().filter_map(|verdict| match verdict {
        Verdict::Unsafe(run) => run.schedule.as_ref().map(|schedule| (schedule.switches, schedule.fewest)),
        _ => None,
    });
    if let Some((switches, is_fewest)) = least.min() {
        return Some(Found::Fails { switches, is_fewest });
    }
    let is_safe = answer.verdicts.iter().all(|verdict| matches!(verdict, Verdict::Safe(_)));
    assert!(
        !answer.verdicts.iter().any(|verdict| matches!(verdict, Verdict::Unknown(Why::NoRun(_)))),
        "a solution is a schedule"
    );
    is_safe.then_some(Found::Holds)
}

impl Random {
    fn c_value(&mut self) -> String {
        match self.below(5) {
            0 | 1 => self.pick(&["g", "h"]).to_owned(),
            2 => self.pick(&["0", "1", "2"]).to_owned(),
            3 => "x".to_owned(),
            _ => format!("({} + 1) % 3", self.pick(&["g", "h", "x"])),
        }
    }

    fn c_statement(&mut self, depth: u64) -> String {
        match self.below(if depth == 0 { 6 } else { 10 }) {
            0 | 1 => format!("{} = {};", self.pick(&["g", "h", "x"]), self.c_value()),
            2 => format!("if ({} == {}) {}", self.c_value(), self.c_value(), "x = 1;"),
            3 => format!("if ({} == 2) reach_error();", self.c_value()),
            4 => format!("__VERIFIER_assume({} != {});", self.c_value(), self.c_value()),
            5 => "f(&p);".to_owned(),
            6 => format!("while ({} == 1) {{ {} }}", self.pick(&["g", "h"]), self.c_statement(0)),
            7 => format!(
                "__VERIFIER_atomic_begin(); {} {} __VERIFIER_atomic_end();",
                self.c_statement(0),
                self.c_statement(0)
            ),
            _ => format!(
                "pthread_mutex_lock(&m); {} {} pthread_mutex_unlock(&m);",
                self.c_statement(depth - 1),
                self.c_statement(0)
            ),
        }
    }

    fn c_program(&mut self) -> String {
        let mut text = "typedef unsigned long pthread_t; typedef struct { int held; } pthread_mutex_t;
            extern int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
            extern int pthread_join(pthread_t, void **);
            extern int pthread_mutex_lock(pthread_mutex_t *); extern int pthread_mutex_unlock(pthread_mutex_t *);
            extern void __VERIFIER_assume(int); extern void reach_error(void);
            extern void __VERIFIER_atomic_begin(void); extern void __VERIFIER_atomic_end(void);
            pthread_mutex_t m; int g, h;
            void f(int *p) { *p = (*p + g) % 3; }\n"
            .to_owned();
        for thread in ["a", "b"] {
            let body: Vec<String> = (0..2 + self.below(2)).map(|_| self.c_statement(1)).collect();
            text += &format!(
                "void *{thread}(void *u) {{ int x = 0, p = 1; {} if (p == 0 && x == 1) h = 2; return 0; }}\n",
                body.join(" ")
            );
        }
        let join = ["", "pthread_join(s, 0);"][self.below(2) as usize];
        let start = match self.below(3) {
            0 => "for (int i = 0; i < 2; i++) pthread_create(&s, 0, a, 0);",
            _ => "pthread_create(&s, 0, a, 0);",
        };
        text + &format!(
            "int main(void) {{ pthread_t s, t; int x = 0, p = 0; {start} {join}
               pthread_create(&t, 0, b, 0); {} if (g == 2 && h == 1) reach_error(); return p; }}\n",
            self.c_statement(0)
        )
    }
}

/// Explicit search is complete for these programs: the other ways must not say otherwise.
#[test]
fn all_ways_agree_on_random_programs_in_c() {
    let options = wherefore_frontend::c::Options::default();
    let (mut compared, mut failing, mut proved) = (0, 0, 0);
    for case in 0..u64::from(wherefore_testing::cases(45)) {
        let mut random = Random(
            (wherefore_testing::seed() ^ 0x51ed_270b_93c1_9d0f)
                .wrapping_add(case.wrapping_mul(0xd1b5_4a32_d192_ed03))
                | 1,
        );
        random.below(2);
        let text = random.c_program();
        let translation = wherefore_frontend::c::translate_text("random.c", &text, &options)
            .unwrap_or_else(|error| panic!("{text}\n{error:?}"));
        let task = translation.into_task(&[], &options);
        let Some(explicit) = found(&task, Way::Explicit, 2) else { continue };
        for way in [Way::Events, Way::Modular] {
            match (&explicit, found(&task, way, 4)) {
                (Found::Holds, Some(Found::Fails { .. })) | (Found::Fails { .. }, Some(Found::Holds)) => {
                    panic!("{way:?} against {explicit:?}\n{text}");
                }
                (
                    Found::Fails { switches: a, is_fewest: is_known },
                    Some(Found::Fails { switches: b, is_fewest }),
                ) => {
                    assert!(!is_known || *a <= b, "{a} {b} {way:?}\n{text}");
                    assert!(!is_fewest || b <= *a, "{a} {b} {way:?}\n{text}");
                    failing += 1;
                }
                (Found::Holds, Some(Found::Holds)) => proved += 1,
                _ => {}
            }
        }
        compared += 1;
    }
    println!("{compared} compared: {failing} failures found again, {proved} proofs");
    assert!(compared >= 8 && failing >= 1 && proved >= 4);
}

/// Compares the search up to the names of threads with the one that tells all configurations apart:
/// whether it is complete, and whether a check fails. None if there are too many configurations.
fn compare_up_to_names(program: &Program, task: &Task, limits: &ThreadLimits) -> Option<(bool, bool)> {
    let slow = explore_threads(program, &task.checks, limits, |_, _| true);
    if slow.was_stopped() {
        return None;
    }
    let fast = search_schedules(program, &task.checks, limits, |_, _| true);
    let mut failing = 0;
    for site in &task.checks {
        let fewest = fast.fewest_switches(site.node);
        assert_eq!(fewest, slow.fewest_switches(site.node));
        if fewest.is_some() {
            failing += 1;
            let run = fast.failing_run(site.node).expect("a run");
            Interpreter::new(program).replay_threads(&run).expect("the run is one of the program");
            let expected = slow.failing_run(site.node).expect("a run");
            assert_eq!(run.switches(program), expected.switches(program));
            assert_eq!(fast.covers_below(fewest.unwrap_or(0)), slow.covers_below(fewest.unwrap_or(0)));
        }
    }
    // The fast search ends when all checks have failed.
    if failing < task.checks.len() {
        assert_eq!(fast.coverage(), slow.coverage());
        assert_eq!(fast.most_threads(), slow.most_threads());
        // Those that differ in what is not read any more count once, too.
        assert!(fast.saturated_at() <= slow.saturated_at());
        let without_names: BTreeSet<_> = slow
            .configurations()
            .map(|(state, _)| {
                let mut state = state.clone();
                state.threads.sort_unstable();
                let inside = state.atomic.take().is_some();
                (state, inside)
            })
            .collect();
        assert!(fast.configuration_count() <= without_names.len());
    }
    // A deadlock is one for both, at the same number of switches.
    let waits = Task { program: program.clone().into(), ..task.clone() }.with_deadlock_checks();
    let fast_waits = search_schedules(&waits.program, &waits.checks, limits, |_, _| true);
    let least = waits.checks.iter().filter_map(|site| fast_waits.fewest_switches(site.node)).min();
    // Where threads are left out, they might move.
    let has_all = thread_starts(program).most().is_some_and(|most| most <= limits.threads);
    if has_all && slow.coverage() == fast.coverage() && failing < task.checks.len() {
        assert_eq!(least, slow.fewest_switches_to_deadlock());
    }
    for site in &waits.checks {
        if let Some(run) = fast_waits.failing_run(site.node) {
            Interpreter::new(program).replay_threads(&run).expect("the run is one of the program");
            assert!((0..run.last().threads.len()).any(|thread| run.last().node(thread) == Some(site.node)));
        }
    }
    Some((fast.coverage() == wherefore_program::ThreadCoverage::Complete, failing > 0))
}

#[test]
fn the_search_up_to_the_names_of_threads_finds_what_the_plain_one_finds() {
    let options = wherefore_frontend::c::Options::default();
    let (mut complete, mut bounded, mut failing) = (0, 0, 0);
    for case in 0..u64::from(wherefore_testing::cases(150)) {
        let seed = wherefore_testing::seed().wrapping_add(case.wrapping_mul(0xa076_1d64_78bd_642f)) | 1;
        let mut random = Random(seed);
        random.below(2);
        let in_c = case % 3 == 0;
        let (text, task) = if in_c {
            let text = random.c_program();
            let translation = wherefore_frontend::c::translate_text("random.c", &text, &options)
                .unwrap_or_else(|error| panic!("{text}\n{error:?}"));
            (text, translation.into_task(&[], &options))
        } else {
            // Several threads of one kind, in a loop at times.
            let again = match case % 5 {
                1 => "while (*) do start_thread t1(); od;",
                _ => "start_thread t1(); start_thread t1();",
            };
            let text = random.program().replace("start_thread t1();", again);
            let task = parse(Language::Boolean, "random.bp", &text, None)
                .unwrap_or_else(|e| panic!("{text}\n{}", e.render()));
            (text, task)
        };
        let program = (*task.program).clone().with_unread_values_zero();
        let points = match case % 2 {
            0 => SwitchPoints::visible(&program),
            _ => SwitchPoints::All,
        };
        let limits = ThreadLimits {
            configurations: 8_000,
            choices: 8,
            frames: 6,
            threads: if case % 4 == 0 { 3 } else { 8 },
            switches: if case % 7 == 0 { Some(2) } else { None },
            points,
        };
        let compared = std::panic::catch_unwind(|| compare_up_to_names(&program, &task, &limits));
        let compared = compared.unwrap_or_else(|_| panic!("they differ on case {case}:\n{text}"));
        let Some((is_complete, fails)) = compared else { continue };
        complete += usize::from(is_complete);
        bounded += usize::from(!is_complete);
        failing += usize::from(fails);
    }
    println!("{complete} complete, {bounded} bounded, {failing} failing");
    assert!(complete >= 10 && bounded >= 8 && failing >= 5);
}

#[test]
fn explicit_search_and_the_reduction_agree_on_the_fewest_switches() {
    const MOST: usize = 2;
    let (mut compared, mut failing, mut none, mut by_events) = (0, [0_usize; MOST + 1], 0, 0);
    for case in 0..u64::from(wherefore_testing::cases(450)) {
        let seed = (wherefore_testing::seed() ^ 0x9e37_79b9_7f4a_7c15)
            .wrapping_add(case.wrapping_mul(0xd1b5_4a32_d192_ed03))
            | 1;
        let mut random = Random(seed);
        random.below(2);
        let text = random.program();
        let task = parse(Language::Boolean, "random.bp", &text, None)
            .unwrap_or_else(|e| panic!("{text}\n{}", e.render()));
        let (Some(explicit), Some(eager)) =
            (fewest(&task, Way::Explicit, MOST), fewest(&task, Way::Eager, MOST))
        else {
            continue;
        };
        assert_eq!(explicit, eager, "{text}");
        // With a bound on loops, more switches may be needed, and nothing is proved beyond it.
        match found(&task, Way::Events, 5) {
            Some(Found::Fails { switches, is_fewest }) => {
                assert!(explicit.is_none_or(|least| least <= switches), "{text}");
                assert!(switches > MOST || explicit.is_some(), "{text}");
                assert!(!is_fewest || explicit == Some(switches) || switches > MOST, "{text}");
                by_events += 1;
            }
            Some(Found::Holds) => {
                assert_eq!(explicit, None, "{text}");
                by_events += 1;
            }
            None => {}
        }
        compared += 1;
        match explicit {
            Some(switches) => failing[switches] += 1,
            None => none += 1,
        }
    }
    println!("{compared} compared, {by_events} with events: {failing:?} fail, {none} do not");
    assert!(compared >= 50 && by_events >= 40 && failing.iter().all(|count| *count > 1) && none > 5);
}
