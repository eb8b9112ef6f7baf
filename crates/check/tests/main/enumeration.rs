//! The enumeration of states misses no run, and proves what depends on pointers and flags.

use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use wherefore_check::{Budget, EngineChoice, Overall, Question, Replaying, Session, answer};
use wherefore_flow::Enumerated;
use wherefore_frontend::c::{Options, translate_text};
use wherefore_program::{Coverage, ExploreLimits, Program, Runs, TargetChoice, ViolationKind, explore};
use wherefore_testing::{cases, seed};

use crate::c_support::random;
use crate::random_programs::{parse, program};
use crate::random_runs::{run, task};

/// All states, if there are not too many.
fn enumerated(program: &Program) -> Option<Enumerated> {
    let mut looks = 0;
    Enumerated::new(program, &mut || {
        looks += 1;
        looks > 400
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(300), max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    /// Whatever a search over all configurations reaches is reached.
    #[test]
    fn no_location_of_a_boolean_program_is_missed(text in program()) {
        let program = parse(&text);
        let targets = program.targets(&TargetChoice::Default).unwrap();
        let limits = ExploreLimits { configurations: 20_000, ..ExploreLimits::default() };
        let oracle = explore(&program, &targets, limits);
        if let Some(found) = enumerated(&program) {
            for node in oracle.locations(Runs::All) {
                prop_assert!(found.reaches(node), "{:?} of\n{}", node, text);
            }
            if oracle.coverage() == Coverage::Complete && targets.iter().all(|target| !found.reaches(target.node)) {
                prop_assert!(oracle.shortest_trace().is_none(), "{}", text);
            }
        }
    }
}

/// A list on the heap, pointers to pointers, bytes of numbers, and a table of flags, which random
/// statements work on.
const HEAP: &str = "
#include <stdlib.h>
#include <string.h>
struct node { int v; char tag[2]; struct node *next; };
static struct node *list, *spare; static int count, flags[3];
static void push(int v) { struct node *n = malloc(sizeof *n); if (!n) return; n->v = v; n->tag[0] = (char)v; n->tag[1] = 1; n->next = list; list = n; count++; }
static int drop(int v) { struct node **at = &list; while (*at) { struct node *n = *at; if (n->v == v) { *at = n->next; free(n); count--; return 1; } at = &n->next; } return 0; }
static void spin(int k) { int i; for (i = 0; i < k; i++) flags[i % 3] ^= 1; }
static void swap(void) { struct node *t = list; if (t && t->next) { list = t->next; t->next = list->next; list->next = t; } }
static void work(int c) {
  switch (c & 7) {
  case 0: push(c); break; case 1: drop(__VERIFIER_nondet_int()); break; case 2: spin(c & 31); break;
  case 3: swap(); break; case 4: if (list) spare = list->next; break; case 5: if (list) g = list->tag[1] + list->v; break;
  case 6: flags[(unsigned)c % 3] = count; break; default: if (list && list->tag[0] > 2) g++; }
}
int main(void) { int rounds; for (rounds = 0; rounds < ROUNDS; rounds++) { work(__VERIFIER_nondet_int()); if (count > 2) g--; }";

/// Whatever a run of a random program in C comes to is reached, with memory as it is and split.
#[test]
fn no_location_of_a_run_in_c_is_missed() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed() as u8; 32]);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    let mut complete = 0;
    for case in 0..u64::from(cases(120)) {
        let text = random::program().new_tree(&mut runner).unwrap().current();
        let rounds = ["2", "3", "50"][case as usize % 3];
        let text = match case % 2 {
            0 => text,
            _ => text.replace("int main(void) {", &HEAP.replace("ROUNDS", rounds)),
        };
        let original = (*task(&text).program).clone();
        let split = wherefore_flow::Ranges::new(&original)
            .and_then(|ranges| wherefore_flow::Cells::new(&original, &ranges))
            .map(|cells| cells.program);
        for program in [Some(original), split].into_iter().flatten() {
            let Some(found) = enumerated(&program) else { continue };
            complete += 1;
            for round in 0..6 {
                for step in run(&program, case * 8 + round).steps {
                    let Some(node) = step.state.node() else { continue };
                    assert!(found.reaches(node), "{node:?} of\n{text}");
                }
            }
        }
    }
    assert!(complete > cases(120) as usize / 3, "{complete} searches ended");
}

fn is_proved(text: &str) -> bool {
    let question =
        Question { engine: EngineChoice::States, replaying: Replaying::Off, ..Question::default() };
    let budget = Budget::time(Duration::from_secs(20));
    let options = Options { checks: ViolationKind::ALL.into_iter().collect(), ..Options::default() };
    let translated = translate_text("twin.c", text, &options).expect("a program");
    let task = translated.into_task(&["twin.c".into()], &options);
    let answer = answer(&task, &question, &Session::default(), &budget);
    matches!(answer.decision(), Overall::Safe)
}

/// Programs that hold, and a change that breaks each of them.
const TWINS: &[(&str, &str, &str)] = &[
    // A ring of three blocks on the heap, turned for ever.
    (
        "#include <stdlib.h>\n#include <assert.h>\nextern int in(void);\n\
         struct n { struct n *next, *prev; int v; };\n\
         int main(void) { struct n *h = 0; int i;\n\
         for (i = 0; i < 3; i++) { struct n *n = malloc(sizeof *n); if (!n) return 1; n->v = i;\n\
         if (!h) { n->next = n->prev = n; } else { n->next = h; n->prev = h->prev; h->prev->next = n; h->prev = n; } h = n; }\n\
         for (;;) { if (in()) h = h->next; else h = h->prev; assert(h->next->prev == h && h->v >= 0 && h->v < 3); } }",
        "h->prev = n; }",
        "h->prev = h; }",
    ),
    // Equal data stay equal, whatever they are.
    (
        "#include <assert.h>\nextern unsigned in(void); static unsigned key[4], value[4]; static int used;\n\
         static int find(unsigned k) { int i; for (i = 0; i < used; i++) if (key[i] == k) return i; return -1; }\n\
         int main(void) { for (;;) { unsigned k = in(), v = in(); int at = find(k);\n\
         if (at < 0) { if (used == 4) used = 0; at = used++; key[at] = k; } value[at] = v;\n\
         assert(find(k) >= 0 && value[find(k)] == v); } }",
        "key[at] = k;",
        "key[at] = v;",
    ),
    // Orders of data that are chained.
    (
        "#include <assert.h>\nextern int in(void);\n\
         int main(void) { int a = in(), b = in(), c = in(), t;\n\
         if (a > b) { t = a; a = b; b = t; } if (b > c) { t = b; b = c; c = t; } if (a > b) { t = a; a = b; b = t; }\n\
         assert(a <= b && b <= c && a <= c); return 0; }",
        "if (b > c)",
        "if (a > c)",
    ),
    // A block is freed once by the one who holds it.
    (
        "#include <stdlib.h>\nextern int in(void);\n\
         int main(void) { char *p = 0; int turn; for (turn = 0; turn < 9; turn++) { switch (in()) {\n\
         case 1: if (!p) p = malloc(8); break; case 2: free(p); p = 0; break; case 3: if (p) p[7] = 1; break; } } free(p); return 0; }",
        "free(p); p = 0;",
        "free(p);",
    ),
];

#[test]
fn what_depends_on_pointers_and_flags_is_proved() {
    for (text, good, bad) in TWINS {
        let broken = text.replacen(good, bad, 1);
        assert_ne!(*text, broken);
        assert!(!is_proved(&broken), "{broken}");
        assert!(is_proved(text), "{text}");
    }
}

/// More values than are told apart: what is forgotten is not taken for known.
#[test]
fn counters_that_run_on_are_not_taken_for_constants() {
    let text = "#include <assert.h>\nextern int in(void);\n\
                int main(void) { unsigned n = 0; for (;;) { if (in()) n++; assert(n != LIMIT); } }";
    for limit in ["30", "100", "100000"] {
        assert!(!is_proved(&text.replace("LIMIT", limit)));
    }
}
