//! Random Boolean programs: exact checking against an explicit-state search.

use std::time::Duration;

use proptest::prelude::*;
use wherefore_check::bounded::{self, Bounded};
use wherefore_check::exact::{CheckOptions, Checker, Decision, Detail, Search};
use wherefore_check::induction::{Induction, Way};
use wherefore_check::refinement::diagrams::interpolants::Heuristic;
use wherefore_check::refinement::diagrams::{Cegar, CegarOptions, Stopping};
use wherefore_check::refinement::solver::{self, Calls, Outcome as Refined, ProjectOptions, project};
use wherefore_check::small_values::SmallValues;
use wherefore_check::unrolled_proof::{self, Opinion};
use wherefore_check::{Engine, Overall, Prover, Session, Through, through};
use wherefore_program::{
    Coverage, ExploreLimits, Language, Outcome, Program, Runs, TargetChoice, Task, Var, explore,
};
use wherefore_pushdown::StopReason;

/// A random expression over these variables.
fn expression(names: &'static [&'static str]) -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        6 => proptest::sample::select(names).prop_map(str::to_owned),
        1 => Just("T".to_owned()),
        1 => Just("F".to_owned()),
        1 => Just("*".to_owned()),
    ];
    leaf.prop_recursive(2, 6, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|e| format!("!({e})")),
            (inner.clone(), proptest::sample::select(&["&", "|", "^", "=", "=>"][..]), inner.clone())
                .prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("schoose[{a}, {b}]")),
        ]
    })
}

const MAIN: &[&str] = &["g", "h", "x", "y"];
const CALLEE: &[&str] = &["g", "h", "a", "z"];

/// A random statement; calls go to `f` or `k`, which may call each other.
fn statement(names: &'static [&'static str], depth: u32) -> BoxedStrategy<String> {
    let target = || proptest::sample::select(names);
    let e = || expression(names);
    let simple = prop_oneof![
        4 => (target(), e()).prop_map(|(t, e)| format!("{t} := {e};")),
        1 => (e(), e()).prop_map(move |(a, b)| format!("{}, {} := {a}, {b};", names[0], names[2])),
        1 => (e(), e()).prop_map(move |(a, c)| {
            format!("{}, {} := {a}, * constrain ({c}) | '{};", names[1], names[3], names[3])
        }),
        2 => e().prop_map(|e| format!("assert({e});")),
        1 => e().prop_map(|e| format!("assume({e});")),
        1 => target().prop_map(|t| format!("dead {t};")),
        2 => (target(), e()).prop_map(|(t, e)| format!("{t} := f({e});")),
        1 => e().prop_map(|e| format!("k({e});")),
        1 => (e(), e()).prop_map(move |(a, b)| format!("{}, {} := two({a}, {b});", names[3], names[0])),
        1 => e().prop_map(move |a| format!("_, {} := two({a}, *);", names[2])),
        1 => Just("skip;".to_owned()),
    ];
    if depth == 0 {
        return simple.boxed();
    }
    let block = || proptest::collection::vec(statement(names, depth - 1), 0..3).prop_map(|all| all.join(" "));
    prop_oneof![
        5 => simple,
        1 => (e(), block(), block()).prop_map(|(c, a, b)| format!("if ({c}) then {a} else {b} fi;")),
        1 => (e(), block()).prop_map(|(c, a)| format!("while ({c}) do {a} od;")),
    ]
    .boxed()
}

pub(crate) fn program() -> impl Strategy<Value = String> {
    let body = |names| proptest::collection::vec(statement(names, 2), 1..4).prop_map(|all| all.join("\n  "));
    (body(MAIN), body(CALLEE), body(CALLEE), expression(CALLEE), any::<bool>()).prop_map(|(main, f, k, result, enforce)| {
        let enforce = if enforce { "enforce g | z;" } else { "" };
        format!(
            "decl g, h;\nbool f(a) begin\n  decl z;\n  if (*) then return {result}; fi;\n  {f}\n  return {result};\nend\n\
             void k(a) begin\n  decl z;\n  {enforce}\n  if (*) then\n  {k}\n  fi;\nend\n\
             bool<2> two(a, b) begin return b, a ^ g; end\nvoid main() begin\n  decl x, y;\n  {main}\nend\n"
        )
    })
}

pub(crate) fn parse(text: &str) -> Program {
    wherefore_frontend::boolean::parse("random.bp", text, None)
        .unwrap_or_else(|e| panic!("{}\n{text}", e.render()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: wherefore_testing::cases(300), max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn verdicts_projections_stores_and_runs(text in program()) {
        let program = parse(&text);
        let targets = program.targets(&TargetChoice::Default).unwrap();
        let limits = ExploreLimits { configurations: 20_000, ..ExploreLimits::default() };
        let oracle = explore(&program, &targets, limits);
        let complete = oracle.coverage() == Coverage::Complete;
        let forwards = Checker::new(&program, &targets, CheckOptions::default()).unwrap();
        let backwards = CheckOptions { search: Search::Backwards, ..CheckOptions::default() };
        let backwards = Checker::new(&program, &targets, backwards).unwrap();
        let verdict = forwards.verdict();
        prop_assert_eq!(verdict, backwards.verdict());
        match oracle.outcome() {
            Outcome::Reached => prop_assert_eq!(verdict, Decision::Unsafe, "{}", text),
            _ if complete => prop_assert_eq!(verdict, Decision::Safe, "{}", text),
            _ => {}
        }
        // Runs are replayed by the interpreter inside the checker.
        let run = forwards.failing_run(None).unwrap();
        prop_assert_eq!(run.is_some(), verdict == Decision::Unsafe);
        if let (Some(run), true, Some(shortest)) = (&run, complete, oracle.shortest_trace()) {
            prop_assert!(run.is_shortest);
            prop_assert_eq!(run.trace.length(&program), shortest.length(&program), "{}", text);
        }
        let projection = forwards.projection(Detail::Stores).unwrap();
        // On live bits as on all.
        let located = forwards.projection(Detail::Locations).unwrap();
        prop_assert_eq!(located.nodes().collect::<Vec<_>>(), projection.nodes().collect::<Vec<_>>(), "{}", text);
        let failing = oracle.locations(Runs::Failing);
        for node in program.nodes() {
            let inside = projection.contains(node);
            prop_assert!(inside || !failing.contains(&node), "{:?} of\n{}", node, text);
            prop_assert!(!complete || inside == failing.contains(&node), "{:?} of\n{}", node, text);
            let through = forwards.run_through(node).unwrap();
            prop_assert_eq!(through.is_some(), inside);
            if let Some(through) = through {
                let states = std::iter::once(&through.trace.start).chain(through.trace.steps.iter().map(|s| &s.state));
                prop_assert!(states.into_iter().any(|state| state.node() == Some(node)));
            }
            if complete {
                let locals = program.procedure(node.procedure).variables.len() as u32;
                let vars: Vec<Var> = [Var::Global(0), Var::Global(1)].into_iter().chain((0..locals).map(Var::Local)).collect();
                let expected: Vec<Vec<u64>> = oracle.stores(node, &vars, Runs::Failing).into_iter().collect();
                prop_assert_eq!(projection.values(node, &vars, 1000), expected, "stores at {:?} of\n{}", node, text);
                let expected: Vec<Vec<u64>> = oracle.stores(node, &vars, Runs::All).into_iter().collect();
                prop_assert_eq!(forwards.reachable_values(node, &vars, 1000).unwrap(), expected);
            }
        }
        if complete {
            let edges = oracle.edges(Runs::Failing);
            for (procedure, body) in program.procedures() {
                for (edge, _) in body.edges() {
                    let edge = wherefore_program::EdgeRef { procedure, edge };
                    prop_assert_eq!(projection.contains_edge(edge), edges.contains(&edge), "{:?} of\n{}", edge, text);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: wherefore_testing::cases(150), max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    /// Every heuristic ends with the exact verdict, and every failing run replays.
    #[test]
    fn refinement_agrees_with_exact_checking(text in program()) {
        let program = parse(&text);
        let targets = program.targets(&TargetChoice::Default).unwrap();
        let exact = Checker::new(&program, &targets, CheckOptions::default()).unwrap();
        let failing = exact.projection(Detail::Locations).unwrap();
        for heuristic in Heuristic::ALL {
            for stopping in [Stopping::Lazy, Stopping::Eager] {
                let options = CegarOptions { heuristic, stopping, ..CegarOptions::default() };
                let mut cegar = Cegar::new(&program, &targets, options).unwrap();
                let refined = cegar.run(&mut |_| {});
                prop_assert_eq!(refined.decision, exact.verdict(), "{} of\n{}", heuristic, text);
                prop_assert_eq!(refined.trace.is_some(), refined.decision == Decision::Unsafe);
                // What is outside the projection of the abstraction is innocent.
                for node in failing.nodes() {
                    prop_assert!(cegar.inside().contains(&node), "{:?} of\n{}", node, text);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: wherefore_testing::cases(150), max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    /// Bounded checking and refinement by satisfiability know less, but nothing else; and every
    /// failing run replays.
    #[test]
    fn engines_for_large_data_agree_with_exact_checking(text in program()) {
        let program = parse(&text);
        // Choices in a procedure's invariant are made to its advantage: the engines for C do not
        // know such invariants.
        let targets = program.targets(&TargetChoice::Default).unwrap();
        let exact = Checker::new(&program, &targets, CheckOptions::default()).unwrap().verdict();
        let budget = wherefore_check::Budget::time(Duration::from_secs(2));
        match bounded::check(&program, &targets, &budget, &|_| {}) {
            Bounded::Safe { bound } => {
                prop_assert_eq!(exact, Decision::Safe, "bounded: {}", text);
                let opinion = unrolled_proof::check(&program, &targets, bound, &Prover::default(), &budget);
                let is_late = matches!(&opinion, Opinion::Undecided(why) if why.contains("time limit"));
                prop_assert!(is_late || opinion == Opinion::Accepted, "bounded: {:?}: {}", opinion, text);
            }
            Bounded::Unsafe(runs) => {
                prop_assert_eq!(exact, Decision::Unsafe, "bounded: {}", text);
                let opinion = unrolled_proof::check(&program, &targets, 64, &Prover::default(), &budget);
                prop_assert!(opinion != Opinion::Accepted, "bounded: {}", text);
                for run in &runs {
                    prop_assert_eq!(program.replay(&run.trace), Ok(()), "bounded: {}", text);
                    prop_assert_eq!(run.trace.last().node(), Some(targets[run.target].node));
                }
                let failing: std::collections::BTreeSet<usize> = runs.iter().map(|run| run.target).collect();
                prop_assert_eq!(failing.len(), runs.len(), "a check fails twice: {}", text);
            }
            Bounded::Unknown { .. } => {}
        }
        for calls in [Calls::Auto, Calls::Summarised] {
            match solver::check(&program, &targets, calls, &budget, &Prover::default(), &mut |_| {}).outcome {
                Refined::Safe => prop_assert_eq!(exact, Decision::Safe, "{:?}: {}", calls, text),
                Refined::Unsafe(run) => {
                    prop_assert_eq!(exact, Decision::Unsafe, "{:?}: {}", calls, text);
                    prop_assert_eq!(program.replay(&run.trace), Ok(()), "{:?}: {}", calls, text);
                    prop_assert_eq!(run.trace.last().node(), Some(targets[run.target].node));
                }
                // Truth values are few, so there is always something to learn.
                Refined::Unknown(reason) => {
                    prop_assert_eq!(reason, StopReason::Time, "{:?}: {}", calls, text);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: wherefore_testing::cases(150), max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    /// Projections by refinement enclose the exact one, whatever the depth of recursion.
    #[test]
    fn projections_for_large_data_enclose_the_exact_one(text in program()) {
        let program = parse(&text);
        let targets = program.targets(&TargetChoice::Default).unwrap();
        let checker = Checker::new(&program, &targets, CheckOptions::default()).unwrap();
        let exact = checker.projection(Detail::Locations).unwrap();
        let budget = wherefore_check::Budget::time(Duration::from_secs(3));
        for calls in [Calls::Auto, Calls::Summarised] {
            let options = ProjectOptions { calls, ..ProjectOptions::default() };
            let found = project(&program, &targets, &options, &budget, &mut |_| {});
            for node in program.nodes() {
                let fails = exact.contains(node);
                prop_assert!(!fails || found.inside.contains(&node), "{:?}: {:?} is outside in\n{}", calls, node, text);
                prop_assert!(fails || !found.confirmed.contains_key(&node), "{:?}: {:?} is confirmed in\n{}", calls, node, text);
            }
            for run in &found.runs {
                prop_assert_eq!(program.replay(&run.trace), Ok(()), "{:?}: {}", calls, text);
            }
            match found.verdict {
                Decision::Unknown(_) => {}
                verdict => prop_assert_eq!(verdict, checker.verdict(), "{:?}: {}", calls, text),
            }
            // Truth values are few, so every location is confirmed or excluded, unless time is up.
            let is_late = found.reason == Some(StopReason::Time);
            prop_assert!(is_late || (found.is_exact() && found.is_checked), "{:?}: {:?} in\n{}", calls, found.reason, text);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: wherefore_testing::cases(15), max_shrink_iters: 200, ..ProptestConfig::default() })]

    /// A failing run through a location is found by instrumentation if the exact projection has it,
    /// and is a run of the program.
    #[test]
    fn runs_through_locations_agree_with_the_exact_projection(text in program()) {
        let program = parse(&text);
        let targets = program.targets(&TargetChoice::Default).unwrap();
        let checker = Checker::new(&program, &targets, CheckOptions::default()).unwrap();
        let exact = checker.projection(Detail::Locations).unwrap();
        let budget = wherefore_check::Budget::time(Duration::from_millis(500));
        for node in program.nodes() {
            match through(&program, &targets, &[node], &budget) {
                Through::Run(run) => {
                    prop_assert!(exact.contains(node), "{:?} of\n{}", node, text);
                    prop_assert_eq!(program.replay(&run.trace), Ok(()), "{:?} of\n{}", node, text);
                    prop_assert!(run.trace.states().any(|state| state.node() == Some(node)));
                    prop_assert_eq!(run.trace.last().node(), Some(targets[run.target].node));
                }
                Through::None { .. } => prop_assert!(!exact.contains(node), "{:?} of\n{}", node, text),
                Through::Unknown(_) => {}
            }
        }
    }
}

/// A callee that returns to two callers, of which one goes on to fail: the other is outside, and
/// that is proved.
#[test]
fn a_callee_may_lead_to_failure_by_one_caller_only() {
    let text = "decl g;\nbool f(a) begin\n  if (*) then return g; fi;\n  g := g;\n  return g;\nend\n\
        void main() begin\n  if (g) then if (g) then g := f(g); assert(F); else skip; fi; else g := f(g); fi;\nend\n";
    let program = parse(text);
    let targets = program.targets(&TargetChoice::Default).unwrap();
    let options = ProjectOptions { calls: Calls::Summarised, ..ProjectOptions::default() };
    let budget = wherefore_check::Budget::time(Duration::from_secs(20));
    let found = project(&program, &targets, &options, &budget, &mut |_| {});
    assert!(found.is_exact() && found.is_checked, "{:?}", found.reason);
    let checker = Checker::new(&program, &targets, CheckOptions::default()).unwrap();
    let exact = checker.projection(Detail::Locations).unwrap();
    assert!(program.nodes().all(|node| exact.contains(node) == found.inside.contains(&node)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: wherefore_testing::cases(150), max_shrink_iters: 500, ..ProptestConfig::default() })]

    /// Proofs by induction are proofs, with recursion too.
    #[test]
    fn induction_agrees_with_exact_checking(text in program()) {
        let program = parse(&text);
        let targets = program.targets(&TargetChoice::Default).unwrap();
        let exact = Checker::new(&program, &targets, CheckOptions::default()).unwrap().verdict();
        let task = Task::new(program, targets, Language::Boolean);
        for way in [Way::Deep, Way::Directed, Way::Both] {
            let budget = wherefore_check::Budget::time(Duration::from_secs(2));
            let answer = Induction { way }.decide(&task, &Session::default(), &budget);
            match answer.decision() {
                Overall::Safe => prop_assert_eq!(exact, Decision::Safe, "{:?}: {}", way, text),
                Overall::Unsafe(_) => prop_assert!(false, "{:?} makes no runs: {}", way, text),
                Overall::Unknown(why) => {
                    let why = why.words(&task.program);
                    prop_assert!(!why.contains("error of ours"), "{}: {}", why, text);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: wherefore_testing::cases(150), max_shrink_iters: 500, ..ProptestConfig::default() })]

    /// Truth values are few: following them is exact checking, with procedures put into callers.
    #[test]
    fn small_values_agree_with_exact_checking(text in program()) {
        let program = parse(&text);
        let targets = program.targets(&TargetChoice::Default).unwrap();
        let exact = Checker::new(&program, &targets, CheckOptions::default()).unwrap().verdict();
        let task = Task::new(program, targets, Language::Boolean);
        let budget = wherefore_check::Budget::time(Duration::from_secs(5));
        match SmallValues::default().decide(&task, &Session::default(), &budget).decision() {
            Overall::Safe => prop_assert_eq!(exact, Decision::Safe, "{}", text),
            Overall::Unsafe(run) => {
                prop_assert_eq!(exact, Decision::Unsafe, "{}", text);
                prop_assert!(task.program.replay(&run.trace).is_ok(), "{}", text);
            }
            Overall::Unknown(_) => {}
        }
    }
}
