//! Data races, deadlocks and misuse of locks in C: cases with known answers, and random programs
//! against all configurations of the program without these checks.

use std::collections::BTreeSet;
use std::time::Duration;

use proptest::prelude::*;
use wherefore_check::{Budget, Overall, Question, Session, answer};
use wherefore_frontend::c::{Options, Property, translate_text};
use wherefore_program::{
    ErrorKind, Node, Operation, Program, SwitchPoints, Task, ThreadExploration, ThreadLimits, ThreadedState,
    Var, ViolationKind, explore_threads,
};

const HEADER: &str = "typedef unsigned long pthread_t;
    typedef union { int numbers[10]; long align; } pthread_mutex_t, pthread_cond_t, pthread_barrier_t;
    typedef int pthread_mutexattr_t, pthread_once_t;
    extern int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
    extern int pthread_join(pthread_t, void **);
    extern void pthread_exit(void *);
    extern int pthread_mutex_init(pthread_mutex_t *, const pthread_mutexattr_t *);
    extern int pthread_mutex_destroy(pthread_mutex_t *);
    extern int pthread_mutex_lock(pthread_mutex_t *);
    extern int pthread_mutex_unlock(pthread_mutex_t *);
    extern int pthread_mutexattr_init(pthread_mutexattr_t *);
    extern int pthread_mutexattr_settype(pthread_mutexattr_t *, int);
    extern int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *);
    extern int pthread_cond_signal(pthread_cond_t *);
    extern int pthread_barrier_init(pthread_barrier_t *, const void *, unsigned);
    extern int pthread_barrier_wait(pthread_barrier_t *);
    extern int pthread_once(pthread_once_t *, void (*)(void));
    extern void reach_error(void);
    pthread_mutex_t a, b; pthread_cond_t c; pthread_barrier_t barrier;
    int x, y;";

fn task(text: &str, kind: Option<ViolationKind>) -> Task {
    let property = if kind.is_some() { Property::Calls(Vec::new()) } else { Property::All };
    let options = Options { checks: kind.into_iter().collect(), property, ..Options::default() };
    let translation = translate_text("rules.c", &format!("{HEADER}\n{text}"), &options)
        .unwrap_or_else(|error| panic!("{}\n{text}", error.render()));
    translation.into_task(&[], &options)
}

/// The verdict, and the fewest switches of a failing schedule.
fn decided(task: &Task) -> (&'static str, Option<usize>) {
    let budget = Budget::time(Duration::from_secs(60));
    let answer = answer(task, &Question::default(), &Session::default(), &budget);
    match answer.decision() {
        Overall::Safe => ("safe", None),
        Overall::Unsafe(_) => {
            let runs = answer.verdicts.iter().filter_map(|verdict| verdict.run());
            let switches = runs.filter_map(|run| run.schedule.as_ref().map(|schedule| schedule.switches));
            ("unsafe", switches.min())
        }
        Overall::Unknown(why) => panic!("{}", why.words(&task.program)),
    }
}

fn verdict(kind: ViolationKind, text: &str) -> &'static str {
    decided(&task(text, Some(kind))).0
}

fn two(thread: &str) -> String {
    format!(
        "{thread}
         int main(void) {{
           pthread_t p, q;
           pthread_create(&p, 0, t, (void *)0); pthread_create(&q, 0, t, (void *)1);
           pthread_join(p, 0); pthread_join(q, 0);
           return 0;
         }}"
    )
}

#[test]
fn accesses_that_nothing_orders_race() {
    let race = |thread: &str| verdict(ViolationKind::Race, &two(thread));
    assert_eq!(race("void *t(void *i) { x = 1; return 0; }"), "unsafe");
    assert_eq!(race("void *t(void *i) { int l = x; return 0; }"), "safe", "reads do not race");
    assert_eq!(race("void *t(void *i) { if (i) x = 1; else y = x; return 0; }"), "unsafe");
    let locked = "pthread_mutex_lock(&a); x++; pthread_mutex_unlock(&a);";
    assert_eq!(race(&format!("void *t(void *i) {{ {locked} return 0; }}")), "safe");
    assert_eq!(race(&format!("void *t(void *i) {{ {locked} return x ? i : 0; }}")), "unsafe");
    // Each thread has its own lock.
    let apart = "pthread_mutex_t *m = i ? &a : &b; pthread_mutex_lock(m); x++; pthread_mutex_unlock(m);";
    assert_eq!(race(&format!("void *t(void *i) {{ {apart} return 0; }}")), "unsafe");
    // Neighbours in an array are different objects.
    assert_eq!(race("int v[2]; void *t(void *i) { v[(long)i] = 1; return 0; }"), "safe");
    assert_eq!(
        race("int v[2]; void *t(void *i) { v[(long)i] = 1; y = v[1 - (long)i]; return 0; }"),
        "unsafe"
    );
    assert_eq!(race("char v[2]; void *t(void *i) { char *p = v + (long)i; *p = 1; return 0; }"), "safe");
    // A result is written when the call has returned.
    assert_eq!(race("int f(void) { return 1; } void *t(void *i) { x = f(); return 0; }"), "unsafe");
    let inside = "int f(void) { return 1; }
        void *t(void *i) { pthread_mutex_lock(&a); x = f(); pthread_mutex_unlock(&a); return 0; }";
    assert_eq!(race(inside), "safe");
}

#[test]
fn what_is_not_evaluated_is_no_access() {
    let race = |thread: &str| verdict(ViolationKind::Race, &two(thread));
    assert_eq!(race("void *t(void *i) { if (!i) x = 1; else if (i || x) y = 2; return 0; }"), "safe");
    assert_eq!(race("void *t(void *i) { if (!i) x = 1; else if (!i && x) y = 2; return 0; }"), "safe");
    assert_eq!(race("void *t(void *i) { if (!i) x = 1; else if (i && x) y = 2; return 0; }"), "unsafe");
    let own = "int v[2]; void *t(void *i) { int l = i ? v[1] : v[0]; v[(long)i] = l + 1; return 0; }";
    assert_eq!(race(own), "safe");
    let other = "int v[2]; void *t(void *i) { int l = i ? v[0] : v[1]; v[(long)i] = l + 1; return 0; }";
    assert_eq!(race(other), "unsafe");
}

#[test]
fn values_that_are_not_used_are_read() {
    let race = |read: &str| {
        let thread = format!("void *t(void *i) {{ if (i) {read} else x = 1; return 0; }}");
        verdict(ViolationKind::Race, &two(&format!("extern int printf(const char *, ...); {thread}")))
    };
    assert_eq!(race("printf(\"%d\", x);"), "unsafe");
    assert_eq!(race("printf(\"%d\", y);"), "safe");
    assert_eq!(race("x;"), "unsafe");
    assert_eq!(race("(void)x;"), "unsafe");
    assert_eq!(race("(void)sizeof x;"), "safe");
}

#[test]
fn neighbouring_bit_fields_are_one_memory_location() {
    let race = |fields: &str| {
        let thread = "void *t(void *i) { if (i) s.m = 1; else s.n = 1; return 0; }";
        verdict(ViolationKind::Race, &two(&format!("struct {{ {fields} }} s; {thread}")))
    };
    assert_eq!(race("unsigned m : 4, n : 4;"), "unsafe");
    assert_eq!(race("unsigned m : 4; unsigned : 0; unsigned n : 4;"), "safe");
    assert_eq!(race("unsigned m : 4; char n;"), "safe");
    // An update of one of them may undo that of the other.
    let text = "struct { unsigned m : 4, n : 4; } s; void *t(void *i) { s.m = 1; return 0; }
        int main(void) {
          pthread_t p; pthread_create(&p, 0, t, 0); s.n = 1; pthread_join(p, 0);
          if (s.m + s.n != 2) reach_error();
          return 0;
        }";
    assert_eq!(decided(&task(text, None)).0, "unsafe");
}

#[test]
fn atomic_accesses_do_not_race_with_each_other() {
    let race = |thread: &str| verdict(ViolationKind::Race, &two(thread));
    assert_eq!(race("_Atomic int n; void *t(void *i) { n++; n = n + 1; return 0; }"), "safe");
    assert_eq!(race("void *t(void *i) { __atomic_fetch_add(&x, 1, 5); return 0; }"), "safe");
    assert_eq!(
        race("void *t(void *i) { if (i) __atomic_fetch_add(&x, 1, 5); else x = 1; return 0; }"),
        "unsafe"
    );
    let spin = "void *t(void *i) { while (!__sync_bool_compare_and_swap(&y, 0, 1)) ; x++;
                                   __sync_lock_release(&y); return 0; }";
    assert_eq!(race(spin), "safe");
    assert_eq!(race("struct { int m; _Atomic int n; } s; void *t(void *i) { s.n += 2; return 0; }"), "safe");
    assert_eq!(
        race("struct { int m; _Atomic int n; } s; void *t(void *i) { s.m += 2; return 0; }"),
        "unsafe"
    );
    let flag = "typedef struct { unsigned char value; } flag; flag f;
        void *t(void *i) { while (__atomic_test_and_set(&f, 5)) ; x++; __atomic_clear(&f, 5); return 0; }";
    assert_eq!(race(flag), "safe");
    assert_eq!(race("typedef _Atomic(int) number; number n; void *t(void *i) { n--; return 0; }"), "safe");
}

#[test]
fn atomic_updates_are_one_step_and_plain_ones_are_two() {
    let check = |declared: &str, update: &str| {
        let text = format!(
            "{declared} void *t(void *i) {{ {update}; return 0; }}
             int main(void) {{
               pthread_t p, q;
               pthread_create(&p, 0, t, 0); pthread_create(&q, 0, t, 0);
               pthread_join(p, 0); pthread_join(q, 0);
               if (n != 2) reach_error();
               return 0;
             }}"
        );
        decided(&task(&text, None)).0
    };
    assert_eq!(check("int n;", "n++"), "unsafe");
    assert_eq!(check("_Atomic int n;", "n++"), "safe");
    assert_eq!(check("_Atomic int n;", "n += 1"), "safe");
    assert_eq!(check("_Atomic int n;", "n = n + 1"), "unsafe");
    assert_eq!(check("int n;", "__sync_fetch_and_add(&n, 1)"), "safe");
    let loop_of_exchanges = "int old = n; while (!__atomic_compare_exchange_n(&n, &old, old + 1, 0, 5, 5)) ;";
    assert_eq!(check("int n;", loop_of_exchanges), "safe");
    assert_eq!(
        check("static __thread int own = 1; int n = 1;", "own++; if (own != 2) n = 7; else n = 2"),
        "safe"
    );
    assert_eq!(check("static _Thread_local int own; int n = 2;", "own++; if (own != 1) n = 7"), "safe");
}

#[test]
fn threads_that_wait_for_each_other_are_a_deadlock() {
    let deadlock = |text: &str| verdict(ViolationKind::Deadlock, text);
    let ordered = "void *t(void *i) { pthread_mutex_lock(&a); pthread_mutex_lock(&b);
                     pthread_mutex_unlock(&b); pthread_mutex_unlock(&a); return 0; }";
    assert_eq!(deadlock(&two(ordered)), "safe");
    let crossed = "void *t(void *i) { pthread_mutex_lock(i ? &a : &b); pthread_mutex_lock(i ? &b : &a);
                     pthread_mutex_unlock(&b); pthread_mutex_unlock(&a); return 0; }";
    assert_eq!(deadlock(&two(crossed)), "unsafe");
    // A signal that nobody waits for is lost.
    let waits = |set: &str| {
        format!(
            "void *t(void *i) {{ {set} return 0; }}
             int main(void) {{
               pthread_t p; pthread_create(&p, 0, t, 0);
               pthread_mutex_lock(&a); while (!x) pthread_cond_wait(&c, &a); pthread_mutex_unlock(&a);
               return 0;
             }}"
        )
    };
    let held = "pthread_mutex_lock(&a); x = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&a);";
    assert_eq!(deadlock(&waits(held)), "safe");
    assert_eq!(deadlock(&waits("x = 1; pthread_cond_signal(&c);")), "unsafe");
    assert_eq!(deadlock(&waits("pthread_mutex_lock(&a); x = 1; pthread_mutex_unlock(&a);")), "unsafe");
    // Three threads are expected, and two come.
    let meets = |count: u32| {
        format!(
            "void *t(void *i) {{ pthread_barrier_wait(&barrier); return 0; }}
             int main(void) {{
               pthread_t p; pthread_barrier_init(&barrier, 0, {count});
               pthread_create(&p, 0, t, 0); pthread_barrier_wait(&barrier); pthread_join(p, 0);
               return 0;
             }}"
        )
    };
    assert_eq!(deadlock(&meets(2)), "safe");
    assert_eq!(deadlock(&meets(3)), "unsafe");
    // When `main` returns, the program ends, whatever other threads wait for.
    let left = |end: &str| {
        format!(
            "void *t(void *i) {{ pthread_mutex_lock(&a); return 0; }}
             int main(void) {{
               pthread_t p; pthread_mutex_lock(&a); pthread_create(&p, 0, t, 0); {end} return 0;
             }}"
        )
    };
    assert_eq!(deadlock(&left("")), "safe");
    assert_eq!(deadlock(&left("pthread_exit(0);")), "unsafe");
}

#[test]
fn waiting_for_what_is_done_once_is_a_deadlock_if_it_is_never_done() {
    let once = |first: &str, main: &str| {
        let text = format!(
            "pthread_once_t once; void first(void) {{ {first} }}
             void *t(void *i) {{ pthread_once(&once, first); return 0; }}
             int main(void) {{
               pthread_t p; pthread_create(&p, 0, t, 0); {main} pthread_join(p, 0);
               return 0;
             }}"
        );
        verdict(ViolationKind::Deadlock, &text)
    };
    assert_eq!(once("x = 1;", "pthread_once(&once, first);"), "safe");
    assert_eq!(once("pthread_once(&once, 0);", ""), "unsafe");
    let locked = "pthread_mutex_lock(&a); pthread_mutex_unlock(&a);";
    let inside = "pthread_mutex_lock(&a); pthread_once(&once, first); pthread_mutex_unlock(&a);";
    assert_eq!(once(locked, inside), "unsafe");
}

#[test]
fn who_waits_for_some_time_only_does_not_wait_for_ever() {
    let timed = "extern int pthread_mutex_timedlock(pthread_mutex_t *, const void *);
        void *t(void *i) { if (!pthread_mutex_timedlock(&a, 0)) pthread_mutex_unlock(&a); return 0; }
        int main(void) {
          pthread_t p; pthread_mutex_lock(&a); pthread_create(&p, 0, t, 0); pthread_join(p, 0);
          return 0;
        }";
    assert_eq!(verdict(ViolationKind::Deadlock, timed), "safe");
    // The thread that waits for some time only may be the one that the signal wakes.
    let wakes = |kind: &str| {
        let text = "extern int pthread_cond_timedwait(pthread_cond_t *, pthread_mutex_t *, const void *);
             void *t(void *i) {
               pthread_mutex_lock(&a); x = 1; pthread_cond_timedwait(&c, &a, 0); pthread_mutex_unlock(&a);
               return 0;
             }
             int main(void) {
               pthread_t p, q; pthread_create(&p, 0, t, 0);
               pthread_mutex_lock(&a);
               if (x) { pthread_create(&q, 0, signals, 0); pthread_cond_wait(&c, &a); }
               pthread_mutex_unlock(&a);
               return 0;
             }";
        let signals = format!(
            "void *signals(void *i) {{
               pthread_mutex_lock(&a); pthread_cond_{kind}(&c); pthread_mutex_unlock(&a); return 0;
             }}"
        );
        let declared = "extern int pthread_cond_broadcast(pthread_cond_t *);";
        verdict(ViolationKind::Deadlock, &format!("{declared} {signals} {text}"))
    };
    assert_eq!(wakes("broadcast"), "safe");
    assert_eq!(wakes("signal"), "unsafe");
}

#[test]
fn a_recursive_mutex_is_not_unlocked_by_another_thread() {
    let program = |kind: u32| {
        let text = format!(
            "void *t(void *i) {{ pthread_mutex_unlock(&a); return 0; }}
             extern int pthread_mutex_trylock(pthread_mutex_t *);
             void *u(void *i) {{ if (!pthread_mutex_trylock(&a)) reach_error(); return 0; }}
             int main(void) {{
               pthread_t p; pthread_mutexattr_t attributes;
               pthread_mutexattr_init(&attributes); pthread_mutexattr_settype(&attributes, {kind});
               pthread_mutex_init(&a, &attributes); pthread_mutex_lock(&a);
               pthread_create(&p, 0, t, 0); pthread_join(p, 0);
               pthread_create(&p, 0, u, 0); pthread_join(p, 0);
               return 0;
             }}"
        );
        decided(&task(&text, None)).0
    };
    assert_eq!((program(1), program(2)), ("safe", "safe"));
}

#[test]
fn locks_have_rules() {
    let lock = |thread: &str| {
        verdict(ViolationKind::Lock, &two(&format!("void *t(void *i) {{ {thread} return 0; }}")))
    };
    assert_eq!(lock("pthread_mutex_lock(&a); pthread_mutex_unlock(&a);"), "safe");
    assert_eq!(lock("pthread_mutex_unlock(&a);"), "unsafe");
    assert_eq!(lock("pthread_mutex_lock(&a);"), "unsafe", "it is held when the thread ends");
    assert_eq!(lock("pthread_mutex_lock(&a); pthread_mutex_lock(&a);"), "unsafe");
    assert_eq!(
        lock(
            "if (i) pthread_mutex_lock(&a); else pthread_mutex_destroy(&a); if (i) pthread_mutex_unlock(&a);"
        ),
        "unsafe"
    );
    assert_eq!(lock("pthread_cond_wait(&c, &a);"), "unsafe");
    assert_eq!(lock("pthread_mutex_lock(&a); pthread_cond_wait(&c, &a); pthread_mutex_unlock(&a);"), "safe");
}

#[test]
fn recursive_mutexes_can_be_locked_again() {
    let program = |kind: u32| {
        format!(
            "void *t(void *i) {{
               pthread_mutex_lock(&a); pthread_mutex_lock(&a); x++; pthread_mutex_unlock(&a);
               if (x == 7) y = 1; pthread_mutex_unlock(&a); return 0;
             }}
             int main(void) {{
               pthread_t p, q; pthread_mutexattr_t attributes;
               pthread_mutexattr_init(&attributes); pthread_mutexattr_settype(&attributes, {kind});
               pthread_mutex_init(&a, &attributes);
               pthread_create(&p, 0, t, 0); pthread_create(&q, 0, t, 0);
               pthread_join(p, 0); pthread_join(q, 0);
               return 0;
             }}"
        )
    };
    assert_eq!(verdict(ViolationKind::Deadlock, &program(1)), "safe");
    assert_eq!(verdict(ViolationKind::Deadlock, &program(0)), "unsafe");
    assert_eq!(verdict(ViolationKind::Lock, &program(1)), "safe");
    assert_eq!(verdict(ViolationKind::Race, &program(1)), "safe");
}

#[test]
fn initial_values_say_that_a_mutex_is_recursive() {
    let program = |kind: u32| {
        two(&format!(
            "typedef union {{ struct {{ int lock; unsigned count; int owner; unsigned users; int __kind; }} data;
                             long align; }} mutex_t;
             mutex_t m = {{ {{ 0, 0, 0, 0, {kind} }} }};
             void *t(void *i) {{
               pthread_mutex_lock((pthread_mutex_t *)&m); pthread_mutex_lock((pthread_mutex_t *)&m);
               pthread_mutex_unlock((pthread_mutex_t *)&m); pthread_mutex_unlock((pthread_mutex_t *)&m);
               return 0;
             }}"
        ))
    };
    assert_eq!(verdict(ViolationKind::Deadlock, &program(1)), "safe");
    assert_eq!(verdict(ViolationKind::Deadlock, &program(0)), "unsafe");
}

#[test]
fn what_runs_once_runs_before_others_go_on() {
    let text = two("pthread_once_t once; void first(void) { x++; }
        void *t(void *i) { pthread_once(&once, first); if (x != 1) reach_error(); return 0; }");
    assert_eq!(decided(&task(&text, None)).0, "safe");
}

/// A step of a random thread.
fn steps() -> impl Strategy<Value = Vec<&'static str>> {
    let step = prop_oneof![
        3 => Just("pthread_mutex_lock(&a);"),
        3 => Just("pthread_mutex_unlock(&a);"),
        2 => Just("pthread_mutex_lock(&b);"),
        2 => Just("pthread_mutex_unlock(&b);"),
        2 => Just("x = 1;"),
        1 => Just("y = x;"),
        1 => Just("if (x) y = 2;"),
        1 => Just("__atomic_store_n(&x, 2, 5);"),
    ];
    prop::collection::vec(step, 1..5)
}

fn explored(program: &Program) -> ThreadExploration<'_> {
    let points = SwitchPoints::visible(program);
    let limits = ThreadLimits { configurations: 100_000, choices: 8, points, ..ThreadLimits::default() };
    explore_threads(program, &[], &limits, |_, _| true)
}

/// An access to a variable: which one, whether it writes, whether it is in an atomic section.
type Access = (u32, bool, bool);

/// The accesses to the variables `x` and `y` that a thread stands in front of: those of its next
/// step, or of the atomic section that begins there.
fn accesses(program: &Program, node: Node) -> BTreeSet<Access> {
    let watched: Vec<Var> =
        ["x", "y"].iter().filter_map(|name| program.find_variable(program.entry, name)).collect();
    let body = program.procedure(node.procedure);
    let mut found = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut work = vec![(node.location, false)];
    while let Some((at, inside)) = work.pop() {
        if !seen.insert((at, inside)) {
            continue;
        }
        for (_, edge) in body.edges_from(at) {
            edge.operation.accesses(&mut |variable, writes| {
                if let (true, Var::Global(i)) = (watched.contains(&variable), variable) {
                    found.insert((i, writes, inside));
                }
            });
            let begins = edge.operation == Operation::AtomicBegin;
            if (inside || begins) && edge.operation != Operation::AtomicEnd {
                work.push((edge.to, true));
            }
        }
    }
    found
}

/// Whether two threads stand in front of accesses to one variable, one of them a write, not both in
/// atomic sections.
fn is_race(program: &Program, state: &ThreadedState) -> bool {
    if state.atomic.is_some() {
        return false;
    }
    let nodes = (0..state.threads.len()).filter_map(|thread| state.node(thread));
    let all: Vec<BTreeSet<Access>> = nodes.map(|node| accesses(program, node)).collect();
    let conflict =
        |one: &Access, other: &Access| one.0 == other.0 && (one.1 || other.1) && !(one.2 && other.2);
    let conflicts =
        |i: usize, j: usize| all[i].iter().any(|one| all[j].iter().any(|other| conflict(one, other)));
    (0..all.len()).any(|i| (0..i).any(|j| conflicts(i, j)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, ..ProptestConfig::default() })]

    #[test]
    fn random_programs_race_and_wait_as_their_configurations_say(first in steps(), second in steps()) {
        let text = format!(
            "void *f(void *i) {{ {} return 0; }}
             void *g(void *i) {{ {} return 0; }}
             int main(void) {{
               pthread_t p, q;
               pthread_create(&p, 0, f, 0); pthread_create(&q, 0, g, 0);
               pthread_join(p, 0); pthread_join(q, 0);
               return 0;
             }}",
            first.join(" "), second.join(" ")
        );
        let plain = task(&text, None);
        let program = plain.program.as_ref().clone().with_unread_values_zero();
        let search = explored(&program);
        let has_race = search.configurations().any(|(state, _)| is_race(&program, state));
        let racing = task(&text, Some(ViolationKind::Race));
        prop_assert_eq!(decided(&racing).0 == "unsafe", has_race, "races: {}", text);
        let stuck = search.fewest_switches_to_deadlock();
        let waiting = task(&text, Some(ViolationKind::Deadlock));
        prop_assert!(waiting.checks.iter().all(|check| check.kind == ErrorKind::Violation(ViolationKind::Deadlock)));
        prop_assert_eq!(decided(&waiting).1, stuck, "deadlocks: {}", text);
    }
}

const C11: &str = "typedef unsigned long thrd_t; typedef unsigned tss_t; typedef int once_flag;
    typedef union { int numbers[10]; long align; } mtx_t; typedef union { int numbers[12]; long align; } cnd_t;
    extern int thrd_create(thrd_t *, int (*)(void *), void *); extern int thrd_join(thrd_t, int *);
    extern void thrd_exit(int);
    extern int mtx_init(mtx_t *, int); extern int mtx_lock(mtx_t *); extern int mtx_unlock(mtx_t *);
    extern int mtx_trylock(mtx_t *); extern void call_once(once_flag *, void (*)(void));
    extern int tss_create(tss_t *, void (*)(void *)); extern void *tss_get(tss_t); extern int tss_set(tss_t, void *);
    extern int pthread_key_create(tss_t *, void (*)(void *)); extern void *pthread_getspecific(tss_t);
    extern int pthread_setspecific(tss_t, const void *);
    mtx_t m; tss_t key; once_flag once; int n;";

/// A thread with this body beside `main`, which then has these statements.
fn c11(thread: &str, before: &str, after: &str) -> String {
    format!(
        "{C11}
         int t(void *i) {{ {thread} }}
         int main(void) {{
           thrd_t p; int r = 0; {before} thrd_create(&p, t, 0);
           {after}
           return 0;
         }}"
    )
}

#[test]
fn threads_of_c11() {
    let add = "mtx_lock(&m); x++; mtx_unlock(&m);";
    let sum = |thread: &str, main: &str| {
        let after = format!("{main} thrd_join(p, &r); if (x != 2 || r != 7) reach_error();");
        decided(&task(&c11(&format!("{thread} return 7;"), "mtx_init(&m, 0);", &after), None)).0
    };
    assert_eq!(sum(add, add), "safe");
    assert_eq!(sum("x++;", add), "unsafe");
    assert_eq!(sum("x++; thrd_exit(7);", "thrd_join(p, &r); x++;"), "safe");
    let twice = "mtx_lock(&m); mtx_lock(&m); x++; mtx_unlock(&m); mtx_unlock(&m); return 0;";
    let of_kind = |kind: u32| {
        let before = format!("mtx_init(&m, {kind});");
        verdict(ViolationKind::Deadlock, &c11(twice, &before, "thrd_join(p, 0);"))
    };
    assert_eq!((of_kind(1), of_kind(0)), ("safe", "unsafe"));
    let race = |thread: &str| {
        verdict(ViolationKind::Race, &c11(&format!("{thread} return 0;"), "mtx_init(&m, 0);", add))
    };
    assert_eq!((race(add), race("x++;")), ("safe", "unsafe"));
    let done = "void first(void) { n++; }";
    let once =
        c11("call_once(&once, first); return 0;", "", "call_once(&once, first); if (n != 1) reach_error();");
    let once = once.replacen("int t(", &format!("{done} int t("), 1);
    assert_eq!(decided(&task(&once, None)).0, "safe");
}

#[test]
fn each_thread_has_its_own_values_of_keys() {
    let own =
        "if (tss_get(key)) reach_error(); tss_set(key, &x); if (tss_get(key) != &x) reach_error(); return 0;";
    let main = "tss_set(key, &y); thrd_join(p, 0); if (tss_get(key) != &y) reach_error();";
    assert_eq!(decided(&task(&c11(own, "tss_create(&key, 0);", main), None)).0, "safe");
    let posix = "pthread_setspecific(key, &x); return 0;";
    let main =
        "pthread_setspecific(key, &y); thrd_join(p, 0); if (pthread_getspecific(key) == &y) reach_error();";
    assert_eq!(decided(&task(&c11(posix, "pthread_key_create(&key, 0);", main), None)).0, "unsafe");
}

#[test]
fn locks_of_a_program_with_one_thread_do_nothing() {
    let text = "int main(void) { pthread_mutex_lock(&a); x++; pthread_mutex_unlock(&a);
        if (x != 1) reach_error(); return 0; }";
    assert_eq!(decided(&task(text, None)).0, "safe");
    let failing = text.replace("x != 1", "x == 1");
    assert_eq!(decided(&task(&failing, None)).0, "unsafe");
}

/// What is asked about by a property is checked in every thread.
#[test]
fn overflow_and_memory_are_checked_if_they_are_asked_about() {
    let overflow = |text: &str| verdict(ViolationKind::Overflow, text);
    assert_eq!(overflow(&two("int n = 2147483646; void *t(void *p) { n++; return 0; }")), "unsafe");
    assert_eq!(overflow(&two("int n = 2147483645; void *t(void *p) { n++; return 0; }")), "safe");
    let checked = "int n = 2147483646; void *t(void *p) { LOCK if (n < 2147483647) n++; UNLOCK return 0; }";
    assert_eq!(overflow(&two(&checked.replace("UNLOCK", "").replace("LOCK", ""))), "unsafe");
    let locked =
        checked.replace("UNLOCK", "pthread_mutex_unlock(&a);").replace("LOCK", "pthread_mutex_lock(&a);");
    assert_eq!(overflow(&two(&locked)), "safe");
    let null = |text: &str| verdict(ViolationKind::Null, text);
    let cleared = |joins: &str, use_: &str| {
        format!(
            "int *g; void *t(void *p) {{ g = 0; return 0; }} int main(void) {{ int v; g = &v; pthread_t p; \
             pthread_create(&p, 0, t, 0); {use_} {joins} return 0; }}"
        )
    };
    assert_eq!(null(&cleared("pthread_join(p, 0);", "*g = 1;")), "unsafe");
    assert_eq!(null(&cleared("pthread_join(p, 0);", "int *h = g; if (h) *h = 1;")), "safe");
    let freed = |before: &str, behind: &str| {
        format!(
            "extern void *malloc(unsigned long); extern void free(void *); int *g; void *t(void *p) {{ free(g); return 0; }} \
             int main(void) {{ g = malloc(4); pthread_t p; {before} pthread_create(&p, 0, t, 0); {behind} pthread_join(p, 0); return 0; }}"
        )
    };
    assert_eq!(verdict(ViolationKind::UseAfterFree, &freed("", "*g = 1;")), "unsafe");
    assert_eq!(verdict(ViolationKind::UseAfterFree, &freed("*g = 1;", "")), "safe");
}
