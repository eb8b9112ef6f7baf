//! The enumeration of states misses no run, and proves what depends on pointers and flags.

use std::collections::BTreeSet;
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

/// Blocks with counts of their holders, copies of blocks that hold pointers, local objects with fresh
/// memory, and branches that tell blocks apart: random statements work on them for ever.
const HOLDERS: &str = "
#include <stdlib.h>
#include <string.h>
struct item { int holders; char data[3]; struct item *other; };
static struct item *slot[3]; static struct item **shown; static int seen, live;
static void drop(int i) { struct item *n = slot[i]; slot[i] = 0; if (n && --n->holders == 0) { free(n); live--; } }
static void fill(int i) { drop(i); slot[i] = malloc(sizeof *slot[i]); if (!slot[i]) return; slot[i]->holders = 1; slot[i]->other = slot[(i + 1) % 3]; live++; }
static void share(int i, int j) { if (i == j || !slot[j]) return; slot[j]->holders++; drop(i); slot[i] = slot[j]; }
static void copy(int i, int j) { if (slot[i] && slot[j]) { int h = slot[i]->holders; memcpy(slot[i], slot[j], sizeof *slot[i]); slot[i]->holders = h; } }
static int depth(struct item *n, int k) { struct item *here[1]; here[0] = n; shown = here; if (k > 0 && n) return 1 + depth(*shown, k - 1); return here[0] == n; }
static void look(int i, int j) {
  if (slot[i] == slot[j]) { if (i != j && slot[i]) seen |= 1; }
  else if (slot[i] && slot[j]) { if (slot[i] < slot[j]) seen |= 2; else seen |= 4; if (slot[i]->holders > 1) seen |= 8; }
  if (slot[i] && slot[i]->holders == 3) { if (live == 1) seen |= 16; else seen |= 32; }
  if (slot[i] && slot[j] && slot[i]->other && slot[i]->other == slot[j]) { if (slot[j]->other == slot[i]) seen |= 64; }
  if (seen == 127) seen = 0;
}
static void work(int c) {
  int i = (unsigned)__VERIFIER_nondet_int() % 3, j = (unsigned)__VERIFIER_nondet_int() % 3;
  switch (c & 7) {
  case 0: fill(i); break; case 1: drop(i); break; case 2: share(i, j); break; case 3: copy(i, j); break;
  case 4: look(i, j); break; case 5: g += depth(slot[i], c >> 3 & 3); break;
  case 6: if (slot[i]) { slot[i]->data[j] = (char)c; if (slot[i]->data[0] == 7) g++; } break; default: if (live > 2) g--; }
}
int main(void) { int rounds; for (rounds = 0; rounds < ROUNDS; rounds++) { work(__VERIFIER_nondet_int()); }";

/// Whatever a run of a random program in C comes to is reached, with memory as it is and split.
#[test]
fn no_location_of_a_run_in_c_is_missed() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed() as u8; 32]);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    let mut complete = 0;
    for case in 0..u64::from(cases(120)) {
        let text = random::program().new_tree(&mut runner).unwrap().current();
        let rounds = ["2", "3", "1000000"][case as usize % 3];
        let text = match case % 4 {
            0 => text,
            2 => text.replace("int main(void) {", &HOLDERS.replace("ROUNDS", rounds)),
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
    proves(text, ViolationKind::ALL.into_iter().collect())
}

fn proves(text: &str, checks: BTreeSet<ViolationKind>) -> bool {
    let question =
        Question { engine: EngineChoice::States, replaying: Replaying::Off, ..Question::default() };
    let budget = Budget::time(Duration::from_secs(20));
    let options = Options { checks, ..Options::default() };
    let translated = translate_text("twin.c", text, &options).expect("a program");
    let task = translated.into_task(&["twin.c".into()], &options);
    let answer = answer(&task, &question, &Session::default(), &budget);
    matches!(answer.decision(), Overall::Safe)
}

/// A queue as a list with a pointer to its last node.
const QUEUE: &str = "#include <stdlib.h>\n#include <assert.h>\n#include <string.h>\nextern int in(void);\n\
    struct n { int v; char tag[4]; struct n *next; }; static struct { struct n *first, *last; } q;\n\
    static void push(int v) { struct n *n = malloc(sizeof *n); if (!n) return; memset(n, 0, sizeof *n); n->v = v;\n\
    if (q.last) q.last->next = n; else q.first = n; q.last = n; }\n\
    static void pop(void) { struct n *n = q.first; if (!n) return; q.first = n->next; if (!q.first) q.last = 0; free(n); }\n\
    static void purge(int v) { struct n **at = &q.first, *last = 0; while (*at) { struct n *n = *at;\n\
    if (n->v < v) { *at = n->next; free(n); } else { last = n; at = &n->next; } } q.last = last; }\n\
    int main(void) { struct n *n; while (in()) { switch (in()) { case 1: push(in()); break; case 2: pop(); break; default: purge(in()); }\n\
    for (n = q.first; n; n = n->next) { assert(n->tag[3] == 0); if (!n->next) assert(q.last == n); } assert(!q.first == !q.last); }\n\
    while (q.first) pop(); return 0; }";

/// Changes that break the queue.
const BREAKS: &[(&str, &str)] = &[
    ("else q.first = n; q.last = n;", "else q.first = n; if (!q.last) q.last = n;"),
    ("{ *at = n->next; free(n); }", "{ *at = n->next; free(n); last = n; }"),
    ("if (!q.first) q.last = 0;", ""),
    ("*at = n->next; free(n);", "free(n); *at = n->next;"),
];

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
    // Blocks with several holders, for ever.
    (
        "#include <stdlib.h>\n#include <assert.h>\nextern unsigned in(void);\n\
         struct b { int holders; char data[4]; }; static struct b *port[3]; static int live;\n\
         static void drop(struct b **p) { if (*p && --(*p)->holders == 0) { free(*p); live--; } *p = 0; }\n\
         int main(void) { for (;;) { unsigned i = in() % 3, j = in() % 3; switch (in()) {\n\
         case 0: drop(&port[i]); port[i] = malloc(sizeof *port[i]); if (!port[i]) return 1; port[i]->holders = 1; live++; break;\n\
         case 1: if (i != j && port[j]) { port[j]->holders++; drop(&port[i]); port[i] = port[j]; } break;\n\
         case 2: if (port[i]) { assert(port[i]->holders > 0); port[i]->data[j] = 1; } break; default: drop(&port[i]); }\n\
         assert(live >= 0 && live <= 3); } }",
        "port[j]->holders++;",
        "port[j]->holders += 2; port[j]->holders -= i < j ? 1 : 2;",
    ),
    // A list of any length.
    (
        "#include <stdlib.h>\n#include <assert.h>\nextern int in(void); struct n { int v; struct n *next; };\n\
         int main(void) { struct n *head = 0, *n; while (in()) { int v = in(); if (v <= 0) continue;\n\
         n = malloc(sizeof *n); if (!n) break; n->v = v; n->next = head; head = n; }\n\
         while ((n = head)) { assert(n->v > 0); head = n->next; free(n); } return 0; }",
        "v <= 0",
        "v < 0",
    ),
    // A tree whose nodes know their parents.
    (
        "#include <stdlib.h>\n#include <assert.h>\nextern int in(void);\n\
         struct t { int key; struct t *left, *right, *parent; }; static struct t *root;\n\
         static void insert(int key) { struct t *parent = 0, **at = &root, *n;\n\
         while (*at) { parent = *at; if (key == parent->key) return; at = key < parent->key ? &parent->left : &parent->right; }\n\
         n = malloc(sizeof *n); if (!n) return; n->key = key; n->left = n->right = 0; n->parent = parent; *at = n; }\n\
         static int valid(struct t *n, struct t *parent) { if (!n) return 1; if (n->parent != parent) return 0;\n\
         if (n->left && n->left->key >= n->key) return 0; if (n->right && n->right->key <= n->key) return 0;\n\
         return valid(n->left, n) && valid(n->right, n); }\n\
         static void clear(struct t *n) { if (n) { clear(n->left); clear(n->right); free(n); } }\n\
         int main(void) { int i; for (i = 0; i < 4; i++) insert(in()); assert(valid(root, 0)); clear(root); return 0; }",
        "key < parent->key",
        "key <= parent->key + 1",
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

/// Nodes of a list of any length are freed once, and not used afterwards.
#[test]
fn lists_of_any_length_are_proved() {
    let is_asked = |kind: &ViolationKind| *kind != ViolationKind::Leak;
    let checks = || ViolationKind::ALL.into_iter().filter(is_asked).collect();
    for (good, bad) in BREAKS {
        let broken = QUEUE.replacen(good, bad, 1);
        assert_ne!(QUEUE, broken);
        assert!(!proves(&broken, checks()), "{broken}");
    }
    assert!(proves(QUEUE, checks()));
}

/// More values than are told apart: what is forgotten is not taken for known.
/// Blocks have names where accesses are not checked, too; and the last node of a list is not taken
/// for the others, which hold another constant.
#[test]
fn lists_without_checks_of_memory_are_proved() {
    let list = "#include <stdlib.h>\n#include <assert.h>\nextern int in(void); struct n { int h; struct n *next; };\n\
        int main(void) { struct n *first = malloc(sizeof *first), *p = first;\n\
        while (in()) { p->h = 1; p->next = malloc(sizeof *p); p = p->next; }\n\
        p->h = 2; p->next = 0; p = first; while (p->h == 1) p = p->next;\n\
        assert(p->h == 2); assert(!p->next); return 0; }";
    assert!(proves(list, BTreeSet::new()));
    for (from, to) in
        [("p->h = 1", "p->h = in()"), ("p->next = 0", "p->next = first"), ("p->h == 1", "p->h != 2 && in()")]
    {
        let broken = list.replace(from, to);
        assert_ne!(broken, list);
        assert!(!proves(&broken, BTreeSet::new()), "{broken}");
    }
}

#[test]
fn counters_that_run_on_are_not_taken_for_constants() {
    let text = "#include <assert.h>\nextern int in(void);\n\
                int main(void) { unsigned n = 0; for (;;) { if (in()) n++; assert(n != LIMIT); } }";
    for limit in ["30", "100", "100000"] {
        assert!(!is_proved(&text.replace("LIMIT", limit)));
    }
}
