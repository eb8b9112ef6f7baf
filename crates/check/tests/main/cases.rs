//! Programs with known answers: exact checking against what is expected, and against explicit-state
//! search.

use std::path::{Path, PathBuf};

use wherefore_check::exact::{CheckOptions, Checker, Decision, Detail};
use wherefore_frontend::load;
use wherefore_program::{Coverage, ExploreLimits, Outcome, Runs, TargetChoice, explore};
use wherefore_pushdown::Limits;

fn programs(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            programs(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "bp" || extension == "rem") {
            found.push(path);
        }
    }
}

fn options() -> CheckOptions {
    let limits = Limits { time: Some(std::time::Duration::from_secs(10)), ..Limits::default() };
    CheckOptions { limits, ..CheckOptions::default() }
}

/// Every program of a folder that explicit-state search can finish: same verdict, same lines, same
/// length of run.
fn compare(folder: &Path) -> usize {
    let mut found = Vec::new();
    programs(folder, &mut found);
    let mut compared = 0;
    for path in found {
        let program = load(&path, None).unwrap_or_else(|error| panic!("{}", error.render())).program;
        if program.uses_threads().is_some() {
            continue;
        }
        let targets = program.targets(&TargetChoice::Default).expect("default targets");
        let oracle =
            explore(&program, &targets, ExploreLimits { configurations: 60_000, ..ExploreLimits::default() });
        if oracle.coverage() != Coverage::Complete {
            println!("{}: too large for explicit search", path.display());
            continue;
        }
        let name = path.display();
        let checker = Checker::new(&program, &targets, options()).expect("a program without threads");
        let expected = match oracle.outcome() {
            Outcome::Reached => Decision::Unsafe,
            _ => Decision::Safe,
        };
        assert_eq!(checker.verdict(), expected, "{name}");
        let projection = checker.projection(Detail::Stores).expect("no limit");
        let lines: std::collections::BTreeSet<u32> =
            projection.nodes().filter_map(|node| program.line(node)).collect();
        assert_eq!(lines, oracle.lines(Runs::Failing), "{name}");
        let run = checker.failing_run(None).expect("no limit");
        let length = run.as_ref().map(|run| run.trace.length(&program));
        assert_eq!(length, oracle.shortest_trace().map(|trace| trace.length(&program)), "{name}");
        compared += 1;
    }
    compared
}

#[test]
fn programs_of_the_papers() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../frontend/tests/cases");
    assert!(compare(&cases) >= 15);
}

/// A collection of Boolean programs with their verdicts, where it is at hand.
#[test]
#[ignore = "needs a folder of programs, WHEREFORE_BENCH"]
fn collected_programs_have_their_known_verdicts() {
    let folder = wherefore_testing::given("WHEREFORE_BENCH").join("boppo");
    let index = std::fs::read_to_string(folder.join("index.csv")).expect("an index");
    let mut count = 0;
    for line in index.lines().skip(1) {
        let mut columns = line.split(',');
        let (Some(path), Some(verdict)) = (columns.next(), columns.next()) else {
            panic!("two columns: {line}")
        };
        let label = columns.next().filter(|label| !label.is_empty());
        let program =
            load(folder.join(path), None).unwrap_or_else(|error| panic!("{}", error.render())).program;
        let choice = label.map_or(TargetChoice::Default, |label| TargetChoice::Label(label.to_owned()));
        let targets = program.targets(&choice).expect("known labels");
        let checker = Checker::new(&program, &targets, options()).expect("sequential programs");
        let expected = if verdict == "safe" { Decision::Safe } else { Decision::Unsafe };
        assert_eq!(checker.verdict(), expected, "{path}");
        assert_eq!(checker.failing_run(None).expect("no limit").is_some(), verdict == "unsafe", "{path}");
        count += 1;
    }
    assert!(count >= 17);
}

#[test]
fn a_limit_is_unknown_not_safe() {
    let program =
        wherefore_frontend::boolean::parse("a.bp", "void main() begin assert(*); end", None).unwrap();
    let targets = program.targets(&TargetChoice::Default).unwrap();
    let limits = Limits { steps: Some(0), ..Limits::default() };
    let checker =
        Checker::new(&program, &targets, CheckOptions { limits, ..CheckOptions::default() }).unwrap();
    assert!(matches!(checker.verdict(), Decision::Unknown(_)));
    assert!(checker.projection(Detail::Stores).is_err());
}

/// The caller's locals are those of the run, not those of the callee that has just returned.
#[test]
fn a_run_that_ends_with_a_return_replays() {
    let text =
        "void f(z) begin z := F; end\nvoid main() begin decl x, y; x := T; y := x; f(y); mine: skip; end";
    let program = wherefore_frontend::boolean::parse("a.bp", text, None).unwrap();
    let targets = program.targets(&TargetChoice::Label("mine".to_owned())).unwrap();
    let checker = Checker::new(&program, &targets, CheckOptions::default()).unwrap();
    let run = checker.failing_run(None).expect("no limit").expect("a run");
    assert_eq!(program.replay(&run.trace), Ok(()));
    let last = run.trace.last().stack.last().expect("a frame").locals.clone();
    assert_eq!(last, [1, 1]);
}

/// Arithmetic of the encoding against the interpreter: every operation on all values of three bits.
#[test]
fn arithmetic_is_that_of_the_interpreter() {
    let operators = ["+", "-", "*", "/", "<<", ">>", "&", "|", "^"];
    for op in operators {
        let text = format!(
            "int x(3), y(3), z(3);\ninit main;\nmodule void main() {{\n  z = x {op} y;\n  if :: z == 5 -> error: skip;\n  :: else -> skip;\n  fi\n}}\n"
        );
        let program = wherefore_frontend::remopla::parse("op.rem", &text, None)
            .unwrap_or_else(|error| panic!("{}", error.render()));
        let targets = program.targets(&TargetChoice::Default).unwrap();
        let oracle = explore(&program, &targets, ExploreLimits::default());
        assert_eq!(oracle.coverage(), Coverage::Complete);
        let checker = Checker::new(&program, &targets, options()).unwrap();
        let projection = checker.projection(Detail::Stores).unwrap();
        let vars: Vec<_> = (0..3).map(wherefore_program::Var::Global).collect();
        for node in program.nodes() {
            let expected: Vec<Vec<u64>> = oracle.stores(node, &vars, Runs::Failing).into_iter().collect();
            assert_eq!(projection.values(node, &vars, 1000), expected, "{op} at {node:?}");
            let expected: Vec<Vec<u64>> = oracle.stores(node, &vars, Runs::All).into_iter().collect();
            assert_eq!(checker.reachable_values(node, &vars, 1000).unwrap(), expected, "{op} at {node:?}");
        }
    }
}
