//! Benchmarks and acceptance runs.
mod floor;
mod program_shaped;
use program_shaped::*;
use std::time::Instant;
use wherefore_domains::*;
use wherefore_pushdown::*;
fn main() {
    for (n, k) in [(10_000, 1), (30_000, 1), (10_000, 3)] {
        let program = Program::generate(&Shape { procedures: n, property: k, loops: 10, nodes: 28, seed: 1 });
        println!("{} rules", program.rule_count());
        let system = program.system(|_| true);
        let t = Instant::now();
        let c = floor::post_star(&system, program.start());
        println!("floor post {c} {:?}", t.elapsed());
        let t = Instant::now();
        let c = floor::pre_star(&system, program.end());
        println!("floor pre {c} {:?}", t.elapsed());
        let (p, s) = program.start();
        let start = Configuration { state: p, stack: vec![s] };
        let (p, s) = program.end();
        let end = Configuration { state: p, stack: vec![s] };
        let d = Reachability;
        let seed = Automaton::of_configuration(&system, &start, Reading::Backward, &d.one());
        let t = Instant::now();
        let r = post_star(&d, &system, &seed, &Options::default());
        println!("post {} {:?}", r.automaton.transition_count(), t.elapsed());
        let t = Instant::now();
        let c = r.automaton.contexts(&d);
        println!("contexts {} {:?}", c.below(State(0)), t.elapsed());
        let seed = Automaton::of_configuration(&system, &end, Reading::Forward, &d.one());
        let t = Instant::now();
        let r = pre_star(&d, &system, &seed, &Options::default());
        println!("pre {} {:?}", r.automaton.transition_count(), t.elapsed());
        let d = ShortestPath;
        let system = program.system(Cost::from);
        for order in [Order::Fifo, Order::Lifo, Order::Priority] {
            let options = Options { order, ..Options::default() };
            let seed = Automaton::of_configuration(&system, &start, Reading::Backward, &d.one());
            let t = Instant::now();
            let r = post_star(&d, &system, &seed, &options);
            println!("{order:?} sp post {} {:?}", r.automaton.transition_count(), t.elapsed());
            let t = Instant::now();
            let c = r.automaton.contexts(&d);
            println!("contexts {:?} {:?}", c.below(State(0)), t.elapsed());
            let seed = Automaton::of_configuration(&system, &end, Reading::Forward, &d.one());
            let t = Instant::now();
            let r = pre_star(&d, &system, &seed, &options);
            println!("{order:?} sp pre {} {:?}", r.automaton.transition_count(), t.elapsed());
        }
    }
}
