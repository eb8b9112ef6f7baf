//! Questions about the part of a program that matters for them.
//!
//! Engines see the static slice for the checks that are asked about ([`Slice`]). A proof for the
//! slice is one for the program. A failing run of the slice is followed in the program. If that
//! takes too many steps, the run stands all the same if what it leaves out provably ends: the claim
//! of R. Jhala, R. Majumdar, *Path slicing* (PLDI 2005), §3.2. Otherwise the whole program is asked
//! about, and if that is not decided either, the answer names what must end so that the program
//! fails.

use std::sync::Arc;

use wherefore_flow::Slice;
use wherefore_program::{EdgeRef, Node, Span, Task};

use crate::budget::Budget;
use crate::portfolio::Runs;
use crate::prover::Prover;
use crate::verdict::{Answer, Evidence, FailingRun, LeftOut, Proof, ProofKind, Verdict, Why};

/// A run of the slice is followed for so many steps.
const MOST_STEPS: usize = 100_000;
/// Steps between two looks at the budget.
const PACE: u64 = 4096;

/// A task whose program is a slice.
pub(crate) struct Sliced {
    original: Task,
    pub slice: Slice,
    /// The task for engines.
    pub task: Task,
}

/// What an answer about a slice says about the program.
pub(crate) struct Followed {
    /// The verdicts that hold for the program.
    pub answer: Answer,
    /// The checks that fail in the slice, and not surely in the program.
    pub provided: Vec<Provided>,
}

/// A failing run of a slice that is one of the program if what it leaves out ends.
pub(crate) struct Provided {
    /// The check, by its position.
    pub check: usize,
    /// What must end.
    pub parts: Vec<Span>,
    /// The run. It says what it leaves out.
    pub run: Box<FailingRun>,
}

impl Sliced {
    /// The slice for the checks of a task; none if it would leave nothing out, or if engines are
    /// not to see one.
    pub fn new(task: &Task, prover: &Prover) -> Option<Self> {
        // Variants of a program that others make need not be well-formed.
        let is_other = task.program.has_small_data() || task.program.check().is_err();
        if *prover != Prover::Embedded || is_other {
            return None;
        }
        let slice = Slice::new(&task.program, task.checks.iter().map(|check| check.node))?;
        let sliced = Task { program: Arc::new(slice.program.clone()), ..task.clone() };
        Some(Self { original: task.clone(), slice, task: sliced })
    }

    /// Follows failing runs in the program, and keeps of proofs what speaks of it.
    pub fn follow(&self, mut answer: Answer, runs: Runs) -> Followed {
        let mut provided = Vec::new();
        let program = &self.original.program;
        for (at, verdict) in answer.verdicts.iter_mut().enumerate() {
            match verdict {
                Verdict::Unsafe(run) => match self.slice.run_of_program(program, &run.trace, MOST_STEPS) {
                    Some(trace) => **run = FailingRun::of_trace(trace, run.target, run.by),
                    None => {
                        let nodes = self.slice.must_end(program, &run.trace);
                        let spans: Vec<Span> =
                            nodes.iter().map(|node| program.location(*node).span).collect();
                        run.left_out = Some(Arc::new(self.left_out(spans.clone())));
                        if runs != Runs::OfSlices || !self.slice.surely_ends(program, &run.trace) {
                            provided.push(Provided { check: at, parts: spans, run: run.clone() });
                            *verdict = Verdict::Unknown(Why::NotAsked);
                        }
                    }
                },
                Verdict::Safe(proof) => *proof = self.of_program(proof),
                Verdict::Unknown(_) => {}
            }
        }
        Followed { answer, provided }
    }

    /// Whether a run of the program is seen to come to the end of one of the slice: what is left out
    /// ends for some values of what it takes as input.
    pub fn ends(&self, run: &FailingRun, budget: &Budget) -> bool {
        let mut steps: u64 = 0;
        let goes_on = || {
            steps += 1;
            steps % PACE != 0 || budget.stopped().is_none()
        };
        self.slice.is_run_of_program(&self.original.program, &run.trace, goes_on)
    }

    /// What a run leaves out.
    fn left_out(&self, parts: Vec<Span>) -> LeftOut {
        let is_left_out = |edge: EdgeRef| {
            let location = self.original.program.edge(edge).from;
            !self.slice.has(Node { procedure: edge.procedure, location })
        };
        let takes_input = self.original.inputs.iter().any(|input| is_left_out(input.edge));
        LeftOut { parts, takes_input, slice: Arc::new(self.slice.clone()) }
    }

    /// A proof without what it says about locations that the slice does not have.
    fn of_program(&self, proof: &Proof) -> Proof {
        let ProofKind::Invariants { holds, bounds } = &proof.evidence.kind else { return proof.clone() };
        let kept = |list: &[(Node, String)]| {
            list.iter().filter(|(node, _)| self.slice.has(*node)).cloned().collect()
        };
        let kind = ProofKind::Invariants { holds: kept(holds), bounds: bounds.as_deref().map(kept) };
        let evidence = Evidence { kind, ..(*proof.evidence).clone() };
        Proof { evidence: Arc::new(evidence), ..proof.clone() }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::time::Duration;

    use proptest::prelude::*;
    use proptest::test_runner::{Config, TestRunner};
    use wherefore_frontend::{Language, parse};
    use wherefore_program::{ExploreLimits, Interpreter, Program, explore};

    use super::*;
    use crate::{Budget, Question, Session, answer};

    fn task(text: &str) -> Task {
        parse(Language::C, "t.c", text, None).unwrap_or_else(|error| panic!("{}\n{text}", error.render()))
    }

    /// A program over six small numbers, with a loop, a loop in a procedure, and a procedure that
    /// may end the run.
    fn program() -> impl Strategy<Value = String> {
        let name = || prop::sample::select(&["x", "y", "z", "u", "v", "w"][..]);
        let value = || prop_oneof![name().prop_map(str::to_owned), (0..4u32).prop_map(|n| n.to_string())];
        let condition = || {
            (value(), prop::sample::select(&["<", "==", "!="][..]), value())
                .prop_map(|(a, op, b)| format!("{a} {op} {b}"))
        };
        let assign = || (name(), value(), value()).prop_map(|(t, a, b)| format!("{t} = ({a} + {b}) & 3;"));
        let statement = || {
            prop_oneof![
                4 => assign(),
                1 => (condition(), assign(), assign())
                    .prop_map(|(c, a, b)| format!("if ({c}) {{ {a} }} else {{ {b} }}")),
                1 => name().prop_map(|t| format!("{t} = outside() & 3;")),
                1 => (condition(), assign()).prop_map(|(c, a)| format!("while ({c}) {{ {a} if (outside()) break; }}")),
                1 => (name(), assign()).prop_map(|(t, a)| format!("for ({t} = 0; {t} < 3; {t}++) {{ {a} }}")),
                1 => Just("f();".to_owned()),
                1 => name().prop_map(|t| format!("{t} = g({t});")),
                1 => condition().prop_map(|c| format!("stop({c});")),
                1 => condition().prop_map(|c| format!("if ({c}) return 0;")),
            ]
        };
        let block = || prop::collection::vec(statement(), 1..5).prop_map(|list| list.join("\n"));
        (assign(), assign(), condition(), block(), condition(), block()).prop_map(
            |(f, g, guard, first, check, last)| {
                format!(
                    "extern _Bool outside(void); extern void reach_error(void); extern void exit(int);\n\
                     unsigned char x = 0, y = 1, z = 2, u = 3, v, w;\n\
                     static void stop(int c) {{ if (c) exit(1); }}\n\
                     static void f(void) {{ while (outside()) {{ {f} }} }}\n\
                     static unsigned char g(unsigned char a) {{ if ({guard}) {{ {g} a = (a + 1) & 3; }} return a; }}\n\
                     int main(void) {{\n{first}\nif ({check}) reach_error();\n{last}\nreturn 0; }}\n"
                )
            },
        )
    }

    /// If a run of the program fails, a run of the slice does; and a run of the slice that can be
    /// followed is one of the program.
    #[test]
    fn slices_have_all_failures() {
        let (sliced_programs, followed, ending) = (Cell::new(0), Cell::new(0), Cell::new(0));
        let config = Config {
            cases: wherefore_testing::cases(500),
            max_shrink_iters: 200,
            failure_persistence: None,
            ..Config::default()
        };
        let result = TestRunner::new(config).run(&program(), |text| {
            let task = task(&text);
            let wanted = task.checks.iter().map(|check| check.node);
            let Some(slice) = Slice::new(&task.program, wanted) else { return Ok(()) };
            sliced_programs.set(sliced_programs.get() + 1);
            let limits = ExploreLimits { configurations: 60_000, ..ExploreLimits::default() };
            let fails = |program: &Program| explore(program, &task.checks, limits).shortest_trace();
            // What is not kept may have any value: one is enough here.
            let mut small = slice.program.clone();
            small.globals.clone_from(&task.program.globals);
            let (whole, part) = (fails(&task.program), fails(&small));
            prop_assert!(whole.is_none() || part.is_some(), "the slice has no failing run:\n{text}");
            if let Some(trace) = part {
                let run = slice.run_of_program(&task.program, &trace, 10_000);
                let ends = slice.surely_ends(&task.program, &trace);
                ending.set(ending.get() + usize::from(ends));
                prop_assert!(run.is_some() || !ends, "what is left out does not end:\n{text}");
                if let Some(run) = run {
                    followed.set(followed.get() + 1);
                    Interpreter::new(&task.program).replay(&run).unwrap();
                    prop_assert_eq!(run.last().node(), trace.last().node());
                }
            }
            Ok(())
        });
        if let Err(error) = result {
            panic!("{error}");
        }
        let counts = [sliced_programs.get(), followed.get(), ending.get()];
        println!("slices, failing runs followed, of them provably ending: {counts:?}");
        assert!(counts[0] > 50 && counts[1] > 20 && counts[2] > 10, "{counts:?}");
    }

    #[test]
    fn a_loop_that_does_not_matter_is_not_run() {
        let text = "extern int outside(void); extern void reach_error(void); int n, s;\n\
                    int f(int n) {\n  int i, s = 0;\n  for (i = 0; i < n; i++) s ^= i;\n  return s; }\n\
                    int main(void) { int x = outside(); s = f(1000000000);\n\
                    if (x > 5) { if (x == 4) reach_error(); }\n\
                    if (x == 7) reach_error(); return 0; }\n";
        let task = task(text);
        let budget = Budget::time(Duration::from_secs(6));
        let answer = answer(&task, &Question::default(), &Session::default(), &budget);
        let left_out = answer.verdicts[1].run().and_then(|run| run.left_out.as_deref());
        let parts = &left_out.unwrap_or_else(|| panic!("{:?}", answer.verdicts)).parts;
        let lines: Vec<u32> = parts.iter().map(|span| task.program.position(*span).line).collect();
        assert_eq!(lines, [6]);
        assert!(answer.verdicts[0].proof().is_some(), "{:?}", answer.verdicts);
        // Loops that may not end, an assumption, an end of the run: no verdict, or another one.
        for (from, to) in [
            ("i++", "i += in()"),
            ("s ^= i", "s ^= i, i &= 7"),
            ("return s;", "__VERIFIER_assume(s == 3); return s;"),
            ("return s;", "return s + f(n);"),
        ] {
            let text = text.replacen(from, to, 1).replacen(
                "int n, s;",
                "extern int in(void); extern void __VERIFIER_assume(int); int n, s;",
                1,
            );
            let task = self::task(&text);
            let budget = Budget::time(Duration::from_secs(2));
            let answer = self::answer(&task, &Question::default(), &Session::default(), &budget);
            let left_out = answer.verdicts[1].run().and_then(|run| run.left_out.as_ref());
            assert!(left_out.is_none(), "{text}\n{:?}", answer.verdicts);
        }
    }

    #[test]
    fn a_long_part_that_is_seen_to_end_is_left_out_of_a_run() {
        let text = "extern int in(void); extern void reach_error(void); unsigned n = 27, s;\n\
                    int main(void) { int shown = in(); for (int i = 0; i < 2000; i++) {\n\
                    unsigned k = n + i;\n\
                    while (k != 1) { k = k % 2 ? 3 * k + 1 : k / 2; s += shown; }\n\
                    }\n\
                    n = 1; if (in() > 3) reach_error(); return 0; }\n";
        let task = task(text);
        let budget = Budget::time(Duration::from_secs(20));
        let answer = answer(&task, &Question::default(), &Session::default(), &budget);
        let run = answer.verdicts[0].run().unwrap_or_else(|| panic!("{:?}", answer.verdicts));
        assert!(run.left_out.as_ref().is_some_and(|left_out| !left_out.parts.is_empty()));
    }

    #[test]
    fn a_failure_behind_a_loop_that_never_ends_is_no_verdict() {
        for text in [
            "extern void reach_error(void);\n\
             int main(void) { int i = 2, j = 1, x = 3;\n\
             while (1) { if (i < x) if (x < j) break; }\n\
             reach_error(); return 0; }\n",
            "extern int in(void); extern void reach_error(void);\n\
             int main(void) { int a = in(), b = 5;\n\
             while (1) { a = a + in(); if (a > 0) b = 10; if (b == 20) { reach_error(); return 1; } } }\n",
            "extern int in(void); extern void reach_error(void);\n\
             int main(void) { int a = 0;\n\
             do { if (in()) a++; else a--; } while (a < 3 || a > 2); reach_error(); return 0; }\n",
        ] {
            let task = task(text);
            let budget = Budget::time(Duration::from_secs(2));
            let answer = answer(&task, &Question::default(), &Session::default(), &budget);
            assert!(answer.verdicts[0].run().is_none(), "{text}\n{:?}", answer.verdicts);
        }
    }
}
