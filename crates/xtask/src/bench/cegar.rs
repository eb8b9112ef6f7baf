//! Abstraction refinement: the tables of \[Kie05\] chapter 6, with ours beside them, and the race
//! of engines.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use wherefore_check::refinement::diagrams::interpolants::Heuristic;
use wherefore_check::{Budget, EngineChoice, Overall, Question, Session, portfolio};
use wherefore_frontend::Language;
use wherefore_program::Task;

use super::table::{Table, times};
use super::{Extent, measure};

/// What one try may take.
const LIMIT: Duration = Duration::from_secs(20);

/// An example of the document: where it stands, its file, and what was printed for heuristics
/// (cycles, predicates, seconds).
struct Example {
    title: &'static str,
    file: &'static str,
    printed: &'static [(Heuristic, &'static str)],
    printed_exact: &'static str,
}

const CASES: &str = "../frontend/tests/cases";

const EXAMPLES: &[Example] = &[
    Example {
        title: "Fig. 6.2: bubble sort, 4 elements of 5 bits",
        file: "ex6.1-bubble-sort/main.rem",
        printed: &[
            (Heuristic::Weakest, "55 / 113 / 15 s"),
            (Heuristic::Strongest, "13 / 12 / 0.15 s"),
            (Heuristic::Both, "8 / 34 / 0.8 s"),
        ],
        printed_exact: "fastest",
    },
    Example {
        title: "§6.2.2: loop invariant, 4 bits",
        file: "ex6.2-loop-invariant/main.rem",
        printed: &[
            (Heuristic::Weakest, "2 / 1 / low"),
            (Heuristic::Strongest, "32 / 16 / -"),
            (Heuristic::Both, "2 / 3 / low"),
        ],
        printed_exact: "quick",
    },
    Example {
        title: "Fig. 6.6: invariant X = Y, 3 bits",
        file: "ex6.5-xy-invariant/main.rem",
        printed: &[(Heuristic::Weakest, "5 / 11 / 3.8 s"), (Heuristic::Conciliated, "3 / 6 / 0.1 s")],
        printed_exact: "10 s",
    },
    Example {
        title: "Fig. 6.10: quicksort",
        file: "../../../../examples/quicksort.rem",
        printed: &[
            (Heuristic::AssumeSkip, "4 / 9 / 3.5 s"),
            (Heuristic::AssumeSkipConciliated, "1 / 3 / 0.1 s"),
        ],
        printed_exact: "1.7 s",
    },
    Example {
        title: "§6.6: primality",
        file: "../../../../examples/primality.rem",
        printed: &[(Heuristic::Weakest, "3 / 2 / 0.5 s")],
        printed_exact: "9 s",
    },
];

/// Measures all examples.
pub fn run(extent: Extent) {
    for example in EXAMPLES {
        if extent == Extent::Quick && example.file.contains("bubble") {
            continue;
        }
        compare(example, extent);
    }
    if extent == Extent::Full {
        widths();
    }
}

fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(CASES).join(file)
}

fn parse(text: &str) -> Task {
    wherefore_frontend::parse(Language::Remopla, "example.rem", text, None)
        .unwrap_or_else(|e| panic!("{}", e.render()))
}

/// What an attempt found: cycles, most predicates, milliseconds; `None` if it took too long.
type Attempt = Option<(usize, usize, f64)>;

/// Decides in a process of its own, which can be ended: a single operation on diagrams may take
/// very long.
fn attempt(file: &Path, way: &str) -> Attempt {
    let me = std::env::current_exe().expect("this program has a name");
    let mut child = Command::new(me)
        .args(["bench", "attempt"])
        .arg(file)
        .arg(way)
        .stdout(Stdio::piped())
        .spawn()
        .expect("this program can be started again");
    let deadline = Instant::now() + LIMIT;
    while child.try_wait().expect("a child can be waited for").is_none() {
        if Instant::now() > deadline {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output().expect("a child can be waited for");
    assert!(output.status.success(), "{way} on {}", file.display());
    let text = String::from_utf8_lossy(&output.stdout);
    let mut words = text.split_whitespace();
    let mut next = || words.next().and_then(|word| word.parse::<f64>().ok());
    Some((next()? as usize, next()? as usize, next()?))
}

/// The other side of [`attempt`]: prints cycles, most predicates and milliseconds.
pub fn one(file: &Path, way: &str) {
    let text = std::fs::read_to_string(file).expect("the file of an attempt");
    let task = parse(&text);
    let question = match way {
        "exact" => Question { engine: EngineChoice::Exact, ..Question::default() },
        "race" => Question::default(),
        name => Question {
            engine: EngineChoice::Refinement,
            heuristic: Some(name.parse().expect("a heuristic")),
            ..Question::default()
        },
    };
    let engines = question.engines(&task);
    let (answer, time, _) =
        measure(1, || portfolio(&task, &engines, question.extent, &Session::default(), &Budget::time(LIMIT)));
    assert!(matches!(answer.decision(), Overall::Safe), "a wrong verdict");
    let refinement = answer.facts.refinement.as_ref();
    let (cycles, most) = refinement.map_or((0, 0), |facts| (facts.iterations, facts.most_predicates));
    println!("{cycles} {most} {}", time.as_secs_f64() * 1e3);
    // The engine that lost the race is not waited for.
    std::process::exit(0);
}

fn counts(attempt: Attempt) -> String {
    match attempt {
        Some((cycles, most, ms)) => format!("{cycles} / {most} / {ms:.1} ms"),
        None => over(),
    }
}

fn over() -> String {
    format!("over {} s", LIMIT.as_secs())
}

fn compare(example: &Example, extent: Extent) {
    let file = path(example.file);
    let mut table = Table::new(&["heuristic", "printed: cycles / predicates / time", "ours"]);
    let mut best = f64::MAX;
    for heuristic in Heuristic::ALL {
        let printed = example.printed.iter().find(|(of, _)| *of == heuristic);
        let named = printed.is_some() || heuristic == Heuristic::default();
        if extent == Extent::Quick && !named {
            continue;
        }
        let attempt = attempt(&file, heuristic.name());
        best = best.min(attempt.map_or(f64::MAX, |(.., ms)| ms));
        let printed = printed.map_or("-", |(_, printed)| printed).to_owned();
        table.row(vec![heuristic.to_string(), printed, counts(attempt)]);
    }
    if extent == Extent::Full {
        let exactly = attempt(&file, "exact");
        best = best.min(exactly.map_or(f64::MAX, |(.., ms)| ms));
        let shown = exactly.map_or_else(over, |(.., ms)| format!("{ms:.1} ms"));
        table.row(vec!["exact".to_owned(), example.printed_exact.to_owned(), shown]);
    }
    let shown = attempt(&file, "race")
        .map_or_else(over, |(.., ms)| format!("{ms:.1} ms, {} the best", times(ms / best)));
    table.row(vec!["no options".to_owned(), "-".to_owned(), shown]);
    table.print(example.title);
}

/// Wider data: what abstraction gains over exact checking.
fn widths() {
    let mut table = Table::new(&["program", "bits", "default: cycles / predicates / time", "exact"]);
    let read = |file| std::fs::read_to_string(path(file)).expect("an example");
    let programs = [
        ("loop invariant", read("ex6.2-loop-invariant/main.rem"), 4),
        ("X = Y", read("ex6.5-xy-invariant/main.rem"), 3),
        ("primality", read("../../../../examples/primality.rem"), 4),
    ];
    let folder = std::env::temp_dir().join(format!("wherefore-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for wide programs");
    for bits in [4_u32, 6, 8, 10, 12] {
        for (name, text, old) in &programs {
            let wide = text
                .replace(&format!("DEFAULT_INT_BITS {old}"), &format!("DEFAULT_INT_BITS {bits}"))
                .replace("% 16", &format!("% {}", 1_u64 << bits));
            let file = folder.join("wide.rem");
            std::fs::write(&file, wide).expect("a file for a wide program");
            let refined = attempt(&file, Heuristic::default().name());
            let exactly = attempt(&file, "exact").map_or_else(over, |(.., ms)| format!("{ms:.1} ms"));
            table.row(vec![(*name).to_owned(), bits.to_string(), counts(refined), exactly]);
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    table.print("Growing widths");
}
