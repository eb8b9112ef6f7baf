//! post\* and pre\* with small weights, from 10³ to 10⁶ rules, above the floor.

use wherefore_domains::{Cost, Reachability, ShortestPath};
use wherefore_pushdown::{
    Automaton, Configuration, Direction, Method, Options, Order, Reading, Saturated, Semiring, System, solve,
};

use super::program_shaped::{Program, Recursion, Shape};
use super::table::{Table, ms, times};
use super::{Extent, floor, measure, ratio};

/// Measures all sizes.
pub fn run(extent: Extent) {
    let sizes: &[(u32, u32)] = match extent {
        Extent::Quick => &[(30, 1), (300, 1), (300, 3)],
        Extent::Full => &[(30, 1), (300, 1), (3_000, 1), (9_600, 1), (28_900, 1), (9_600, 3)],
    };
    let columns = &[
        "rules",
        "floor ms",
        "engine ms",
        "ratio",
        "engine MB",
        "µs/rule",
        "shortest ms",
        "ratio",
        "MB",
        "reading ms",
        "of saturation",
    ];
    let mut forwards = Table::new(columns);
    let mut backwards = Table::new(columns);
    for (procedures, property) in sizes {
        let shape = Shape {
            procedures: *procedures,
            property: *property,
            loops: 10,
            recursion: Recursion::Some,
            nodes: 28,
            seed: 1,
        };
        let program = Program::generate(&shape);
        let rounds = if *procedures > 1_000 { 3 } else { 7 };
        row(&mut forwards, &program, Direction::Post, rounds);
        row(&mut backwards, &program, Direction::Pre, rounds);
    }
    forwards.print("post* (the last row has three property states)");
    backwards.print("pre* (the last row has three property states)");
}

fn row(table: &mut Table, program: &Program, direction: Direction, rounds: usize) {
    let plain = program.system(|_| true);
    let (transitions, floor_time, _) = measure(rounds, || match direction {
        Direction::Post => floor::post_star(&plain, program.start()),
        Direction::Pre => floor::pre_star(&plain, program.end()),
    });
    let (saturated, time, memory) =
        measure(rounds, || saturate(&Reachability, &plain, program, direction, Order::Lifo));
    assert_eq!(saturated.automaton.transition_count(), transitions, "the engine and the floor disagree");
    let (_, reading, _) = measure(rounds, || saturated.automaton.contexts(&Reachability));
    drop((saturated, plain));
    let costs = program.system(Cost::from);
    let (shortest, shortest_time, shortest_memory) =
        measure(rounds, || saturate(&ShortestPath, &costs, program, direction, Order::Fifo));
    let (_, shortest_reading, _) = measure(rounds, || shortest.automaton.contexts(&ShortestPath));
    let rules = program.rule_count();
    table.row(vec![
        rules.to_string(),
        ms(floor_time),
        ms(time),
        times(ratio(time, floor_time)),
        format!("{memory:.0}"),
        format!("{:.2}", time.as_secs_f64() * 1e6 / rules as f64),
        ms(shortest_time),
        times(ratio(shortest_time, floor_time)),
        format!("{shortest_memory:.0}"),
        format!("{} / {}", ms(reading), ms(shortest_reading)),
        format!("{} / {}", times(ratio(reading, time)), times(ratio(shortest_reading, shortest_time))),
    ]);
}

fn saturate<S: Semiring>(
    domain: &S,
    system: &System<S::Weight>,
    program: &Program,
    direction: Direction,
    order: Order,
) -> Saturated<S::Weight> {
    let ((state, symbol), reading) = match direction {
        Direction::Post => (program.start(), Reading::Backward),
        Direction::Pre => (program.end(), Reading::Forward),
    };
    let configuration = Configuration { state, stack: vec![symbol] };
    let seed = Automaton::of_configuration(system, &configuration, reading, &domain.one());
    solve(direction, domain, system, &seed, Method::Worklist, &Options { order, ..Options::default() })
}
