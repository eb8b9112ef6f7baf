//! Path expressions against the best worklist order, on systems with many loops and with few, in tall domains.

use std::time::Duration;

use wherefore_domains::bdd::{BddRelations, Predicate};
use wherefore_domains::{Relation, RelationDomain};
use wherefore_pushdown::{
    Automaton, Configuration, Direction, Limits, Method, Options, Order, Reading, Semiring, System, solve,
};

use super::program_shaped::{Program, Shape};
use super::table::{Table, ms, times};
use super::{Extent, measure, median, ratio};

/// Orders that take longer are stopped: their figures are lower bounds.
const PATIENCE: Duration = Duration::from_secs(2);

/// Measures all kinds.
pub fn run(extent: Extent) {
    let procedures: &[u32] = match extent {
        Extent::Quick => &[5],
        Extent::Full => &[20, 100, 300],
    };
    let mut heavy = Vec::new();
    let mut light = Vec::new();
    let mut table = Table::new(&[
        "domain",
        "loops",
        "rules",
        "direction",
        "fifo ms",
        "lifo ms",
        "priority ms",
        "paths ms",
        "auto ms",
        "best worklist / paths",
        "auto / best",
    ]);
    for (loops, speedups) in [(35, &mut heavy), (0, &mut light)] {
        for count in procedures {
            let shape = Shape { procedures: *count, property: 1, loops, nodes: 28, seed: 7 };
            let program = Program::generate(&shape);
            for direction in [Direction::Post, Direction::Pre] {
                let relations = || {
                    let palette = relation_palette();
                    (RelationDomain::new(64), program.system(|w| palette[w as usize % palette.len()].clone()))
                };
                speedups.push(row(&mut table, "relation, 64 stores", loops, relations, &program, direction));
                let bdds = || {
                    let domain = BddRelations::new(12, 1 << 22);
                    let palette = bdd_palette(&domain);
                    (domain, program.system(|w| palette[w as usize % palette.len()].clone()))
                };
                speedups.push(row(&mut table, "BDD, 12 variables", loops, bdds, &program, direction));
            }
        }
    }
    table.print("path expressions");
    println!(
        "median speed-up over the best worklist order: {} with many loops, {} without",
        times(median(heavy.iter().map(|s| s.0).collect())),
        times(median(light.iter().map(|s| s.0).collect()))
    );
    let worst = heavy.iter().chain(&light).map(|s| s.1).fold(0.0, f64::max);
    println!("auto, at worst: {} of the best", times(worst));
}

/// A row; returns the speed-up of path expressions over the best order, and auto as a multiple of the best of all.
///
/// Every run gets a domain of its own, so that none profits from what an earlier one left in a cache.
fn row<S: Semiring>(
    table: &mut Table,
    name: &str,
    loops: u64,
    fresh: impl Fn() -> (S, System<S::Weight>),
    program: &Program,
    direction: Direction,
) -> (f64, f64) {
    let ((state, symbol), reading) = match direction {
        Direction::Post => (program.start(), Reading::Backward),
        Direction::Pre => (program.end(), Reading::Forward),
    };
    let configuration = Configuration { state, stack: vec![symbol] };
    let time = |method, order| -> (Option<usize>, Duration) {
        let limits = Limits { time: Some(PATIENCE), ..Limits::default() };
        let options = Options { order, limits, ..Options::default() };
        let mut best = (None, Duration::MAX);
        for _ in 0..2 {
            let (domain, system) = fresh();
            let seed = Automaton::of_configuration(&system, &configuration, reading, &domain.one());
            let (solved, time, _) =
                measure(1, || solve(direction, &domain, &system, &seed, method, &options));
            best = (solved.stop.is_complete().then(|| solved.automaton.transition_count()), time.min(best.1));
            if time >= PATIENCE {
                break;
            }
        }
        best
    };
    let (by_fifo, fifo) = time(Method::Worklist, Order::Fifo);
    let (by_lifo, lifo) = time(Method::Worklist, Order::Lifo);
    let (by_priority, priority) = time(Method::Worklist, Order::Priority);
    let (by_paths, paths) = time(Method::PathExpressions, Order::Fifo);
    let (by_auto, auto) = time(Method::Auto, Order::Fifo);
    let counts: Vec<usize> =
        [by_fifo, by_lifo, by_priority, by_paths, by_auto].into_iter().flatten().collect();
    assert!(counts.windows(2).all(|pair| pair[0] == pair[1]), "two methods disagree");
    let best = fifo.min(lifo).min(priority);
    let (speedup, overhead) = (ratio(best, paths), ratio(auto, best.min(paths)));
    table.row(vec![
        name.to_owned(),
        format!("{loops} %"),
        program.rule_count().to_string(),
        format!("{direction:?}").to_lowercase(),
        ms(fifo),
        ms(lifo),
        ms(priority),
        ms(paths),
        ms(auto),
        times(speedup),
        times(overhead),
    ]);
    (speedup, overhead)
}

/// Statements on a counter from 0 to 63: mostly small steps, so that loops take many rounds.
fn relation_palette() -> Vec<Relation> {
    let step = |f: &dyn Fn(usize) -> Option<usize>| Relation::from_fn(64, f);
    vec![
        step(&|x| Some((x + 1) % 64)),
        step(&Some),
        step(&|x| (x != 17).then_some(x)),
        step(&|x| Some((x + 3) % 64)),
        step(&Some),
        step(&|x| (x < 60).then_some(x)),
        step(&|x| Some(x & !1)),
        step(&Some),
        step(&|x| (x > 2).then_some(x)),
        step(&|x| Some(x.saturating_sub(1))),
    ]
}

/// Statements on twelve bits: counters of four bits, copies, tests.
fn bdd_palette(d: &BddRelations) -> Vec<Predicate> {
    let increment = |low: usize| {
        let mut carry = d.constant(true);
        let mut sum = Vec::new();
        for bit in low..low + 4 {
            sum.push((bit, d.xor(&d.var(bit), &carry)));
            carry = d.and(&d.var(bit), &carry);
        }
        d.assign(&sum)
    };
    let (skip, a, b) = (d.one(), d.var(3), d.var(9));
    vec![
        increment(0),
        skip.clone(),
        d.assume(&d.or(&a, &b)),
        increment(4),
        skip.clone(),
        d.assign(&[(8, d.var(0)), (9, d.var(5))]),
        increment(8),
        skip,
        d.assume(&d.not(&d.and(&d.var(7), &d.var(2)))),
        d.havoc(&[10]),
    ]
}
