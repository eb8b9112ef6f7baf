//! The small programs of the literature, with what is known about them: verdicts, error
//! projections, stores at places, shortest traces. All of it is found by exhaustive search.

use std::collections::BTreeSet;
use std::path::Path;

use wherefore_frontend::load;
use wherefore_program::{
    Coverage, Exploration, ExploreLimits, Node, Outcome, Program, Runs, TargetChoice, Var, explore,
};

fn case(name: &str) -> Program {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(name);
    let task = load(path, None).unwrap_or_else(|error| panic!("{}", error.render()));
    (*task.program).clone()
}

const LIMITS: ExploreLimits = ExploreLimits { configurations: 3_000_000, choices: 1 << 16 };

fn search(program: &Program) -> Exploration<'_> {
    assert_eq!(program.check(), Ok(()));
    let targets = program.targets(&TargetChoice::Default).expect("the default always exists");
    let exploration = explore(program, &targets, LIMITS);
    if let Some(trace) = exploration.shortest_trace() {
        assert_eq!(program.replay(&trace), Ok(()));
    }
    exploration
}

fn complete(program: &Program) -> Exploration<'_> {
    let exploration = search(program);
    assert_eq!(exploration.coverage(), Coverage::Complete);
    exploration
}

/// Lines that are on some failing run, and lines that are not.
fn projection(name: &str, inside: &[u32], outside: &[u32]) {
    let program = case(name);
    let lines = complete(&program).lines(Runs::Failing);
    let missing: Vec<_> = inside.iter().filter(|line| !lines.contains(line)).collect();
    let wrong: Vec<_> = outside.iter().filter(|line| lines.contains(line)).collect();
    assert!(missing.is_empty() && wrong.is_empty(), "{name}: missing {missing:?}, wrong {wrong:?}");
}

#[derive(Clone, Copy)]
enum Place {
    Line(u32),
    Label(&'static str),
}

fn nodes(program: &Program, place: Place) -> Vec<Node> {
    match place {
        Place::Line(line) => program.nodes().filter(|node| program.line(*node) == Some(line)).collect(),
        Place::Label(label) => program.labelled(label).collect(),
    }
}

fn stores(name: &str, place: Place, names: &[&str], runs: Runs) -> BTreeSet<Vec<u64>> {
    let program = case(name);
    let exploration = complete(&program);
    let mut found = BTreeSet::new();
    for node in nodes(&program, place) {
        let find = |name: &&str| program.find_variable(node.procedure, name);
        if let Some(variables) = names.iter().map(find).collect::<Option<Vec<Var>>>() {
            found.extend(exploration.stores(node, &variables, runs));
        }
    }
    found
}

fn set<const N: usize, const M: usize>(values: [[u64; M]; N]) -> BTreeSet<Vec<u64>> {
    values.iter().map(|value| value.to_vec()).collect()
}

#[test]
fn a_call_correlated_with_its_caller_is_on_no_failing_run() {
    projection("fig1-correlation/main.bp", &[], &[3, 6, 7, 8, 9, 10, 12, 13, 14, 15, 18]);
    assert_eq!(stores("fig1-correlation/main.bp", Place::Label("n"), &["x"], Runs::All), set([[0], [1]]));
}

#[test]
fn a_loop_that_resets_its_state_is_inside_but_for_the_dead_branch() {
    projection("loop-reset/main.bp", &[3, 6, 9, 13, 14, 15, 16, 17, 19, 21, 22, 24], &[7]);
}

#[test]
fn a_passed_check_leads_to_no_failure() {
    let name = "table1-switch/abs.bp";
    projection(name, &[3, 9, 10, 11, 12, 17, 18], &[4, 5, 13, 14]);
    assert_eq!(stores(name, Place::Line(3), &["i"], Runs::Failing), set([[0]]));
    assert_eq!(stores(name, Place::Line(3), &["i"], Runs::All), set([[0], [1]]));
}

#[test]
fn a_correct_program_has_an_empty_projection() {
    projection("zero-percent/main.bp", &[], &[3, 4, 7, 8, 11, 12, 13, 14, 15, 16, 18]);
    projection("fig5.2-getunit-b3/main.bp", &[], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
}

#[test]
fn get_unit_b1_leaves_out_only_the_last_else() {
    projection("fig5.2-getunit-b1/main.bp", &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], &[11]);
    let program = case("fig5.2-getunit-b1/main.bp");
    assert_eq!(complete(&program).shortest_trace().expect("it fails").length(&program), 7);
}

#[test]
fn get_unit_b2_leaves_out_what_clears_the_predicate() {
    let name = "fig5.2-getunit-b2/main.bp";
    projection(name, &[1, 2, 3, 8, 9, 10], &[4, 5, 6, 7, 11]);
    assert_eq!(stores(name, Place::Line(2), &["nU0"], Runs::Failing), set([[1]]));
    assert_eq!(stores(name, Place::Line(1), &["nU0"], Runs::Failing), set([[1]]));
    assert_eq!(stores(name, Place::Line(8), &["nU0"], Runs::All), set([[0], [1]]));
    let program = case(name);
    let edges = complete(&program).edges(Runs::Failing);
    let line = |procedure, location| program.line(Node { procedure, location }).unwrap_or(0);
    let edges: BTreeSet<(u32, u32)> = edges
        .into_iter()
        .map(|edge| {
            let here = program.edge(edge);
            (line(edge.procedure, here.from), line(edge.procedure, here.to))
        })
        .collect();
    assert!([(3, 8), (2, 3), (9, 10)].iter().all(|edge| edges.contains(edge)), "{edges:?}");
    assert!([(3, 4), (2, 7), (9, 11)].iter().all(|edge| !edges.contains(edge)), "{edges:?}");
}

#[test]
fn get_unit_b3_relates_its_predicates() {
    let name = "fig5.2-getunit-b3/main.bp";
    assert_eq!(stores(name, Place::Line(8), &["nU0", "cE"], Runs::All), set([[0, 1], [1, 0]]));
    let reached = |name| complete(&case(name)).lines(Runs::All);
    let lines = reached(name);
    assert!([1, 2, 3, 4, 5, 6, 7, 8, 9, 11].iter().all(|line| lines.contains(line)) && !lines.contains(&10));
    let lines = reached("fig5.2-getunit-b3/restricted.bp");
    assert!([1, 2, 3, 8].iter().all(|line| lines.contains(line)), "{lines:?}");
    assert!([5, 6, 9, 10].iter().all(|line| !lines.contains(line)), "{lines:?}");
}

#[test]
fn the_guess_of_a_sequential_reduction_is_fixed_by_its_check() {
    let name = "sec7.1-reduction-k2/seq.bp";
    assert_eq!(stores(name, Place::Line(23), &["vflag2", "vstopped2"], Runs::Failing), set([[1, 1]]));
}

#[test]
fn calls_that_do_not_matter_are_still_on_failing_runs() {
    projection("sec3.3-summaries/main.bp", &[4, 5, 6, 7, 9, 13, 14, 15, 16, 17, 18, 19], &[20]);
}

#[test]
fn values_of_integer_programs_are_as_known() {
    assert_eq!(
        stores("fig2.11-xy-wpds/main.rem", Place::Label("n6"), &["x", "y"], Runs::All),
        set([[3, 3], [7, 7]])
    );
    assert_eq!(stores("fig5.1-foo-x9/main.rem", Place::Label("n"), &["x"], Runs::Failing), set([[9]]));
    assert_eq!(stores("fig5.1-foo-x9/main.rem", Place::Label("n"), &["x"], Runs::All), set([[5], [8], [9]]));
    assert_eq!(stores("ex2.6-even/small.rem", Place::Label("m2"), &["G"], Runs::All), set([[0]]));
    assert_eq!(stores("ex5.3-recursion/main.rem", Place::Line(6), &["G", "D"], Runs::All), set([[1, 1]]));
    assert_eq!(stores("ex6.2-as-printed/main.rem", Place::Label("after"), &["j"], Runs::All), set([[15]]));
}

#[test]
fn invariants_of_integer_programs_hold() {
    let holds = |name, label, names: &[&str], invariant: fn(&[u64]) -> bool| {
        let found = stores(name, Place::Label(label), names, Runs::All);
        assert!(!found.is_empty());
        found.iter().all(|values| invariant(values))
    };
    for name in ["ex6.2-as-printed/main.rem", "ex6.2-loop-invariant/main.rem"] {
        assert!(holds(name, "head", &["i", "j", "g"], |v| (v[0] + v[1]) % 16 == v[2]));
    }
    assert!(holds("ex6.5-xy-invariant/small.rem", "m", &["X", "Y"], |v| v[0] == v[1]));
    assert!(holds("ex4.2-dag/main.rem", "l7", &["X"], |v| v[0] % 2 == 0));
    assert!(holds("ex2.6-even/small.rem", "m1", &["L"], |v| v[0] % 2 == 0));
    let queue = ["hd", "tl", "cnt"];
    for label in ["inv", "inv2"] {
        assert!(holds("fig6.1-circular-queue/main.rem", label, &queue, |v| (8 + v[1] - v[0] - v[2]) % 4 == 0));
    }
    assert!(holds("fig6.1-circular-queue/main.rem", "inv", &queue, |v| v[2] <= 4));
    assert!(!holds("fig6.1-circular-queue/main.rem", "inv", &queue, |v| (8 + v[0] - v[1] - v[2]) % 4 == 0));
}

#[test]
fn the_odd_branch_is_never_taken() {
    let lines = complete(&case("ex2.6-even/small.rem")).lines(Runs::All);
    assert!(lines.contains(&6) && !lines.contains(&8) && !lines.contains(&17));
}

#[test]
fn only_the_check_after_the_loop_fails() {
    projection("ex6.2-as-printed/main.rem", &[4, 5, 6, 8, 11, 12, 14, 16, 17], &[9, 18]);
    projection("fig5.1-foo-x9/main.rem", &[4, 7, 14, 15, 16, 18, 19], &[8, 9, 10, 11, 12, 13, 20]);
}

/// Every program that is ours, with its verdict; none where threads decide.
#[test]
fn verdicts_are_as_known() {
    for (name, unsafe_) in [
        ("fig1-correlation/main.bp", Some(false)),
        ("loop-reset/main.bp", Some(true)),
        ("table1-switch/abs.bp", Some(true)),
        ("zero-percent/main.bp", Some(false)),
        ("fig5.2-getunit-b1/main.bp", Some(true)),
        ("fig5.2-getunit-b2/main.bp", Some(true)),
        ("fig5.2-getunit-b3/main.bp", Some(false)),
        ("fig5.2-getunit-b3/restricted.bp", Some(false)),
        ("sec7.1-reduction-k2/seq.bp", Some(true)),
        ("sec7.1-reduction-k2/seq-k1.bp", Some(false)),
        ("sec3.3-summaries/main.bp", Some(true)),
        ("ex4.2-dag/abs0.bp", Some(true)),
        ("fig5.1-foo-x9/main.rem", Some(true)),
        ("fig5.2-getunit-p/main.rem", Some(false)),
        ("ex2.6-even/small.rem", Some(false)),
        ("ex4.2-dag/main.rem", Some(false)),
        ("ex5.2-push-only/main.rem", Some(false)),
        ("ex5.3-recursion/main.rem", Some(false)),
        ("ex6.1-bubble-sort/small.rem", Some(false)),
        ("ex6.2-as-printed/main.rem", Some(true)),
        ("ex6.2-loop-invariant/main.rem", Some(false)),
        ("ex6.5-xy-invariant/small.rem", Some(false)),
        ("anderson-buggy/main.bp", None),
        ("bakery2-correct/main.bp", None),
        ("bluetooth-fixed/main.bp", None),
        ("bluetooth-v1/main.bp", None),
        ("cba-recursive/main.bp", None),
        ("cba-recursive/safe.bp", None),
        ("ctx-ladder/k5.bp", None),
        ("fig1.7-interleaving/main.bp", None),
        ("peterson2-buggy/main.bp", None),
        ("peterson3-correct/main.bp", None),
        ("sec5.5-kiss-switch/main.bp", None),
        ("sec6.1-cba-two-copies/main.bp", None),
        ("sec7.1-reduction-k2/conc.bp", None),
    ] {
        let program = case(name);
        assert_eq!(program.uses_threads().is_some(), unsafe_.is_none(), "{name}");
        if let Some(unsafe_) = unsafe_ {
            let expected = if unsafe_ { Outcome::Reached } else { Outcome::Unreachable };
            assert_eq!(complete(&program).outcome(), expected, "{name}");
        }
    }
}

/// A verdict must not be contradicted; it must be found unless data is too wide for exhaustive
/// search.
fn agrees(path: &Path, label: &str, expected: &str) -> Coverage {
    let program = load(path, None).unwrap_or_else(|error| panic!("{}", error.render())).program;
    assert_eq!(program.check(), Ok(()));
    if program.uses_threads().is_some() {
        return Coverage::Threads;
    }
    let choice = match label {
        "" => TargetChoice::Default,
        label => TargetChoice::Label(label.to_owned()),
    };
    let targets = program.targets(&choice).expect("the label exists");
    if targets.is_empty() {
        assert_eq!(expected, "safe", "{}", path.display());
        return Coverage::Complete;
    }
    let exploration = explore(&program, &targets, LIMITS);
    let wrong = match expected {
        "safe" => Outcome::Reached,
        _ => Outcome::Unreachable,
    };
    assert_ne!(exploration.outcome(), wrong, "{}", path.display());
    exploration.coverage()
}

#[test]
#[ignore = "needs a folder of programs, WHEREFORE_BENCH"]
fn programs_of_others_have_their_known_verdicts() {
    let folder = wherefore_testing::given("WHEREFORE_BENCH").join("boppo");
    let index = std::fs::read_to_string(folder.join("index.csv")).expect("an index");
    for row in index.lines().skip(1) {
        let fields: Vec<&str> = row.split(',').collect();
        let coverage = agrees(&folder.join(fields[0]), fields[2], fields[1]);
        assert_eq!(coverage, Coverage::Complete, "{}", fields[0]);
    }
}

#[test]
#[ignore = "needs a folder of cases, WHEREFORE_CASES"]
fn all_cases_have_their_stated_verdicts() {
    let root = wherefore_testing::given("WHEREFORE_CASES");
    let mut seen = 0;
    for area in std::fs::read_dir(root).expect("a folder").flatten().filter(|entry| entry.path().is_dir()) {
        for case in std::fs::read_dir(area.path()).expect("a folder").flatten() {
            let Ok(text) = std::fs::read_to_string(case.path().join("expect.yaml")) else { continue };
            let Some(line) = text.lines().find_map(|line| line.strip_prefix("verdict: {")) else { continue };
            for entry in line.trim_end_matches('}').split(", ") {
                let Some((file, verdict)) = entry.split_once(": ") else { continue };
                if file.ends_with(".bp") || file.ends_with(".rem") {
                    let coverage = agrees(&case.path().join(file), "", verdict);
                    eprintln!("{}/{file}: {coverage:?}", case.path().display());
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 20, "{seen}");
}
