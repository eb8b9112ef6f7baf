//! Path expressions against the best worklist order, on systems with many loops and with few, in
//! tall domains.

use std::time::Duration;

use wherefore_domains::bdd::{BddRelations, Predicate};
use wherefore_domains::{
    AffineRelations, Cost, MatrixSpace, Relation, RelationDomain, ShortestPath, WeightedRelations,
};
use wherefore_pushdown::{
    Automaton, Configuration, Direction, Limits, Method, Options, Order, Reading, Semiring, System, solve,
};

use super::program_shaped::{Program, Recursion, Shape};
use super::table::{Table, ms, times};
use super::{Extent, measure, median, ratio};

/// Orders that take longer are stopped: their figures are lower bounds.
const PATIENCE: Duration = Duration::from_secs(2);

/// Measures all kinds.
pub fn run(extent: Extent) {
    let procedures: &[u32] = match extent {
        Extent::Quick => &[5],
        Extent::Full => &[15, 60],
    };
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
        "fifo / paths",
        "best worklist / paths",
        "auto / best",
    ]);
    let (mut heavy, mut light) = (Vec::new(), Vec::new());
    for (loops, speedups) in [(60, &mut heavy), (0, &mut light)] {
        for count in procedures {
            let recursion = Recursion::None;
            let shape = Shape { procedures: *count, property: 1, loops, recursion, nodes: 60, seed: 7 };
            let program = Program::generate(&shape);
            for direction in [Direction::Post, Direction::Pre] {
                let mut bench = Bench { table: &mut table, loops, program: &program, direction };
                speedups.push(bench.row("affine, 3 variables", || {
                    let domain = AffineRelations::new(3);
                    let palette = affine_palette(&domain);
                    (domain, program.system(|w| palette[w as usize % palette.len()].clone()))
                }));
                speedups.push(bench.row("costs on 24 stores", || {
                    let domain = WeightedRelations::new(ShortestPath, 24);
                    let costly = |(a, b)| (a, b, Cost::finite(1));
                    let palette: Vec<_> =
                        relation_palette(24).iter().map(|r| domain.weight(r.pairs().map(costly))).collect();
                    (domain, program.system(|w| palette[w as usize % palette.len()].clone()))
                }));
                speedups.push(bench.row("relations on 128 stores", || {
                    let palette = relation_palette(128);
                    (
                        RelationDomain::new(128),
                        program.system(|w| palette[w as usize % palette.len()].clone()),
                    )
                }));
                speedups.push(bench.row("BDD, 12 variables", || {
                    let domain = BddRelations::new(12, 1 << 22);
                    let palette = bdd_palette(&domain);
                    (domain, program.system(|w| palette[w as usize % palette.len()].clone()))
                }));
            }
        }
    }
    table.print("path expressions (2000 ms: stopped)");
    for (name, rows) in [("with many loops", &heavy), ("without loops", &light)] {
        let median = |what: &dyn Fn(&Speed) -> f64| times(median(rows.iter().map(what).collect()));
        println!(
            "median speed-up {name}: {} over breadth first (the order of the paper), {} over the best order",
            median(&|s| s.over_breadth_first),
            median(&|s| s.over_best)
        );
    }
    let auto = || heavy.iter().chain(&light).map(|s| s.auto);
    println!(
        "auto: median {}, at worst {} of the best",
        times(median(auto().collect())),
        times(auto().fold(0.0, f64::max))
    );
}

/// How path expressions compare.
struct Speed {
    over_breadth_first: f64,
    over_best: f64,
    /// The automatic choice, as a multiple of the best one.
    auto: f64,
}

/// What the rows of a table have in common.
struct Bench<'a> {
    table: &'a mut Table,
    loops: u64,
    program: &'a Program,
    direction: Direction,
}

impl Bench<'_> {
    /// Measures one domain and adds a row.
    ///
    /// Every run gets a domain of its own, so that none profits from what an earlier one left in a
    /// cache.
    fn row<S: Semiring>(&mut self, name: &str, fresh: impl Fn() -> (S, System<S::Weight>)) -> Speed {
        let Self { table, loops, program, direction } = self;
        let direction = *direction;
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
                best = (
                    solved.stop.is_complete().then(|| solved.automaton.transition_count()),
                    time.min(best.1),
                );
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
        let over_breadth_first = ratio(fifo, paths);
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
            times(over_breadth_first),
            times(speedup),
            times(overhead),
        ]);
        Speed { over_breadth_first, over_best: speedup, auto: overhead }
    }
}

/// Statements on a counter: mostly small steps, so that loops take many rounds.
fn relation_palette(n: usize) -> Vec<Relation> {
    let step = |f: &dyn Fn(usize) -> Option<usize>| Relation::from_fn(n, f);
    vec![
        step(&|x| Some((x + 1) % n)),
        step(&Some),
        step(&|x| (x != 17).then_some(x)),
        step(&|x| Some((x + 3) % n)),
        step(&Some),
        step(&|x| (x < n - 4).then_some(x)),
        step(&|x| Some(x & !1)),
        step(&Some),
        step(&|x| (x > 2).then_some(x)),
        step(&|x| Some(x.saturating_sub(1))),
    ]
}

/// Affine assignments to three variables.
fn affine_palette(d: &AffineRelations) -> Vec<MatrixSpace> {
    let skip = d.one();
    vec![
        d.assign(&[(0, vec![1, 1, 0, 0])]),
        skip.clone(),
        d.assign(&[(1, vec![0, 2, 0, 0])]),
        d.assign(&[(2, vec![0, 1, 1, 0])]),
        skip.clone(),
        d.assign(&[(0, vec![3, 0, 0, 0])]),
        d.assign(&[(1, vec![1, 0, 1, 0]), (2, vec![2, 0, 0, 1])]),
        skip,
        d.havoc(&[1]),
        d.assign(&[(2, vec![0, 0, 1, 0])]),
    ]
}

/// Statements on twelve bits: a counter of four bits, copies, tests.
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
    let skip = d.one();
    vec![
        increment(0),
        skip.clone(),
        d.assume(&d.or(&d.var(3), &d.var(4))),
        d.assign(&[(4, d.not(&d.var(5)))]),
        skip.clone(),
        d.assign(&[(6, d.var(7)), (7, d.var(6))]),
        d.assume(&d.not(&d.and(&d.var(8), &d.var(9)))),
        skip,
        d.assign(&[(10, d.or(&d.var(10), &d.var(11)))]),
        d.havoc(&[9]),
    ]
}
