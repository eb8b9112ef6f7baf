//! Abstraction refinement: the tables of [Kie05] chapter 6, with ours beside them, and the race of engines.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use wherefore_check::interpolants::Heuristic;
use wherefore_check::{Decision, Verdict, Way, decide, exact, race};
use wherefore_frontend::remopla;
use wherefore_program::{ErrorSite, Program, TargetChoice};
use wherefore_pushdown::Limits;

use super::table::{Table, ms, times};
use super::{Extent, measure, ratio};

/// What one try may take.
const LIMIT: Duration = Duration::from_secs(20);

/// An example of the document: where it stands, its file, and what was printed for heuristics (cycles, predicates, seconds).
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

fn read(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(CASES).join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn parse(text: &str) -> (Arc<Program>, Vec<ErrorSite>) {
    let program = remopla::parse("example.rem", text, None).unwrap_or_else(|e| panic!("{}", e.render()));
    let targets = program.targets(&TargetChoice::Default).unwrap_or_default();
    (Arc::new(program), targets)
}

fn limits() -> Limits {
    Limits { time: Some(LIMIT), ..Limits::default() }
}

fn attempt(program: &Program, targets: &[ErrorSite], way: Way) -> (Option<Decision>, Duration) {
    let (decision, time, _) = measure(1, || decide(program, targets, way, &limits(), &mut |_| {}).ok());
    if let Some(Decision { verdict: Verdict::Unsafe, .. }) = decision {
        panic!("a wrong verdict");
    }
    (decision.filter(Decision::is_definite), time)
}

fn counts(decision: &Option<Decision>, time: Duration) -> String {
    match decision {
        Some(decision) => {
            let cycle = decision.cycle.as_ref();
            let (cycles, most) = cycle.map_or((0, 0), |cycle| (cycle.refinements, cycle.most_predicates));
            format!("{cycles} / {most} / {} ms", ms(time))
        }
        None => format!("over {} s", LIMIT.as_secs()),
    }
}

fn compare(example: &Example, extent: Extent) {
    let (program, targets) = parse(&read(example.file));
    let mut table = Table::new(&["heuristic", "printed: cycles / predicates / time", "ours"]);
    let mut best = LIMIT;
    for heuristic in Heuristic::ALL {
        let printed = example.printed.iter().find(|(of, _)| *of == heuristic);
        let named = printed.is_some() || heuristic == Heuristic::default();
        if extent == Extent::Quick && !named {
            continue;
        }
        let (decision, time) = attempt(&program, &targets, Way::Refinement(heuristic));
        if decision.is_some() {
            best = best.min(time);
        }
        let printed = printed.map_or("-", |(_, printed)| printed).to_owned();
        table.row(vec![heuristic.to_string(), printed, counts(&decision, time)]);
    }
    if extent == Extent::Full {
        let exactly = Way::Exact(exact::Search::Forwards);
        let (decision, time) = attempt(&program, &targets, exactly);
        let shown = if decision.is_some() { format!("{} ms", ms(time)) } else { counts(&decision, time) };
        if decision.is_some() {
            best = best.min(time);
        }
        table.row(vec!["exact".to_owned(), example.printed_exact.to_owned(), shown]);
    }
    let (_, time, _) = measure(1, || race(&program, &targets, &limits()).ok());
    let shown = format!("{} ms, {} the best", ms(time), times(ratio(time, best)));
    table.row(vec!["no options".to_owned(), "-".to_owned(), shown]);
    table.print(example.title);
}

/// Wider data: what abstraction gains over exact checking.
fn widths() {
    let mut table = Table::new(&["program", "bits", "default: cycles / predicates / time", "exact"]);
    let loop_invariant = read("ex6.2-loop-invariant/main.rem");
    let x_is_y = read("ex6.5-xy-invariant/main.rem");
    let primality = read("../../../../examples/primality.rem");
    for bits in [4_u32, 6, 8, 10, 12] {
        let wide = |text: &str, old: u32| {
            let modulus = format!("% {}", 1_u64 << bits);
            text.replace(&format!("DEFAULT_INT_BITS {old}"), &format!("DEFAULT_INT_BITS {bits}"))
                .replace("% 16", &modulus)
        };
        let texts = [
            ("loop invariant", wide(&loop_invariant, 4)),
            ("X = Y", wide(&x_is_y, 3)),
            ("primality", wide(&primality, 4)),
        ];
        for (name, text) in texts {
            if name == "primality" && bits > 8 {
                continue;
            }
            let (program, targets) = parse(&text);
            let (refined, time) = attempt(&program, &targets, Way::Refinement(Heuristic::default()));
            let (exactly, exact_time) = attempt(&program, &targets, Way::Exact(exact::Search::Forwards));
            let exactly = exactly.map_or(counts(&None, exact_time), |_| format!("{} ms", ms(exact_time)));
            table.row(vec![name.to_owned(), bits.to_string(), counts(&refined, time), exactly]);
        }
    }
    table.print("Growing widths");
}
