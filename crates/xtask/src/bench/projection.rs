//! The error projection of all nodes on decision diagrams: adjoints, functional automata and double
//! pre\*.
//!
//! Each step runs once: a second time it would find its results in the cache of the decision
//! diagrams.

use wherefore_domains::bdd::{BddRelations, Predicate};
use wherefore_pushdown::{
    AdjointProjection, Automaton, Configuration, Direction, FunctionalAutomaton, Method, Options, Order,
    Reading, Rhs, Semiring, State, Symbol, System, chop_by_pre_star, solve,
};

use super::program_shaped::{Program, Random, Recursion, Shape};
use super::table::{Table, ms, times};
use super::{Extent, measure, ratio};

/// Measures all sizes.
pub fn run(extent: Extent) {
    let procedures: &[u32] = match extent {
        Extent::Quick => &[10],
        Extent::Full => &[20, 60, 170],
    };
    let mut table = Table::new(&[
        "nodes",
        "variables",
        "on",
        "post* ms",
        "pre* ms",
        "adjoint ms",
        "of post*+pre*",
        "functional ms",
        "of post*+pre*",
        "double pre* ms (estimated)",
        "double pre* / adjoint",
    ]);
    for count in procedures {
        row(&mut table, *count, 8);
    }
    row(&mut table, procedures[0], 12);
    table.print("error projection of all nodes, decision diagrams");
}

fn row(table: &mut Table, procedures: u32, variables: usize) {
    let shape = Shape { procedures, property: 1, loops: 10, recursion: Recursion::Some, nodes: 28, seed: 3 };
    let program = Program::generate(&shape);
    let d = BddRelations::new(variables, 1 << 23);
    let mut random = Random::new(11);
    let palette = palette(&d, variables, &mut random);
    let mut system: System<Predicate> =
        program.system(|_| palette[random.below(palette.len() as u64) as usize].clone());
    // An assertion in every eighth procedure: a test that can fail leads to one error node.
    let error = system.symbol("error");
    let p = State(0);
    for entry in (0..procedures).step_by(8) {
        let (a, b) = (random.below(variables as u64) as usize, random.below(variables as u64) as usize);
        let failed = d.assume(&d.and(&d.var(a), &d.not(&d.var(b))));
        system.add(p, Symbol(2 * entry + 1), p, Rhs::Swap(error), failed);
    }
    let (state, symbol) = program.start();
    let start = Configuration { state, stack: vec![symbol] };
    let post_seed = Automaton::of_configuration(&system, &start, Reading::Backward, &d.one());
    let start = Automaton::of_configuration(&system, &start, Reading::Forward, &());
    let pre_seed = top(&system, error, &d.one());
    let options = Options { order: Order::Lifo, ..Options::default() };
    let (post, post_time, _) =
        measure(1, || solve(Direction::Post, &d, &system, &post_seed, Method::Auto, &options).automaton);
    let (pre, pre_time, _) =
        measure(1, || solve(Direction::Pre, &d, &system, &pre_seed, Method::Auto, &options).automaton);
    let (nodes, adjoint_time, _) = measure(1, || {
        let functional = FunctionalAutomaton::new(&d, &system, &post, &pre);
        AdjointProjection::new(&functional).nodes()
    });
    let (same, functional_time, _) =
        measure(1, || FunctionalAutomaton::new(&d, &system, &post, &pre).projection());
    assert_eq!(nodes, same, "two ways to project disagree");
    // Double pre* is measured on a sample of nodes.
    let symbols = system.symbol_count() as u32;
    let sample: Vec<Symbol> = (0..symbols).step_by((symbols / 4).max(1) as usize).map(Symbol).collect();
    let (on, double_time, _) = measure(1, || {
        let one_chop = |symbol: &&Symbol| {
            let chop = top(&system, **symbol, &());
            chop_by_pre_star(&d, &system, &start, &chop, &pre, &options)
                .is_ok_and(|weight| !d.is_zero(&weight))
        };
        sample.iter().filter(one_chop).count()
    });
    assert_eq!(on, sample.iter().filter(|s| nodes.contains(&(p, **s))).count(), "double pre* disagrees");
    let double_all = double_time.mul_f64(f64::from(symbols) / sample.len() as f64);
    let both = post_time + pre_time;
    table.row(vec![
        symbols.to_string(),
        variables.to_string(),
        format!("{} %", 100 * nodes.len() / symbols as usize),
        ms(post_time),
        ms(pre_time),
        ms(adjoint_time),
        times(ratio(adjoint_time, both)),
        ms(functional_time),
        times(ratio(functional_time, both)),
        ms(double_all),
        times(ratio(double_all, adjoint_time)),
    ]);
}

/// Accepts stacks with `symbol` on top.
fn top<W: Clone, V>(system: &System<V>, symbol: Symbol, one: &W) -> Automaton<W> {
    let mut automaton = Automaton::for_system(system, Reading::Forward);
    let rest = automaton.add_state();
    automaton.set_final(rest);
    automaton.add(State(0), symbol, rest, one.clone());
    for other in 0..system.symbol_count() as u32 {
        automaton.add(rest, Symbol(other), rest, one.clone());
    }
    automaton
}

/// Statements of Boolean programs: mostly skips, and statements on neighbouring variables.
fn palette(d: &BddRelations, variables: usize, random: &mut Random) -> Vec<Predicate> {
    let mut palette = vec![d.one(); 4 * variables];
    for a in 0..variables {
        let b = (a + 1) % variables;
        let c = (a + 1 + random.below(2) as usize) % variables;
        palette.push(d.assign(&[(a, d.or(&d.var(b), &d.var(c)))]));
        palette.push(d.assign(&[(a, d.not(&d.var(b)))]));
        palette.push(d.assign(&[(a, d.constant(random.chance(50)))]));
        palette.push(d.assume(&d.or(&d.var(a), &d.not(&d.var(b)))));
    }
    palette
}
