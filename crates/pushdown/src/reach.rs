//! Can a set of configurations be reached from another? Forwards, backwards, or from both ends at
//! once.

use crate::automaton::{Automaton, Reading};
use crate::limits::{Limits, StopReason};
use crate::post_star::post_star;
use crate::pre_star::pre_star;
use crate::reachability::Reachability;
use crate::saturation::{Direction, Options, Order, Recording, Saturation};
use crate::semiring::{Merge, Semiring};
use crate::system::System;

/// From which end to search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// post\* of the start.
    #[default]
    Post,
    /// pre\* of the target.
    Pre,
    /// Both, a stretch of each in turn, until they meet or one of them is complete.
    BothEnds,
}

/// The answer to a reachability question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reachable {
    /// Some target configuration can be reached.
    Yes,
    /// None can.
    No,
    /// A limit was met before either was certain.
    Unknown(StopReason),
}

/// Whether a configuration of `target` can be reached from one of `start`, weights aside.
///
/// ```
/// use wherefore_pushdown::*;
/// let mut system: System<()> = System::new();
/// let (p, a, b) = (system.state("p"), system.symbol("a"), system.symbol("b"));
/// system.add(p, a, p, Rhs::Push(a, b), ());
/// let stack = |n| Configuration { state: p, stack: [vec![a], vec![b; n]].concat() };
/// let set = |n| Automaton::of_configuration(&system, &stack(n), Reading::Forward, &());
/// for strategy in [Strategy::Post, Strategy::Pre, Strategy::BothEnds] {
///     assert_eq!(reachable(&system, &set(0), &set(3), strategy, &Limits::default()), Reachable::Yes);
///     assert_eq!(reachable(&system, &set(3), &set(0), strategy, &Limits::default()), Reachable::No);
/// }
/// ```
pub fn reachable<W, M>(
    system: &System<W, M>,
    start: &Automaton<()>,
    target: &Automaton<()>,
    strategy: Strategy,
    limits: &Limits,
) -> Reachable {
    let skeleton = system.skeleton();
    // Every transition is taken once, whatever the order; the last one is still in the cache.
    let options = Options { order: Order::Lifo, recording: Recording::Off, limits: limits.clone() };
    let search = |direction, seed: &Automaton<()>| {
        Saturation::new(direction, &Reachability, &skeleton, &seed.map_weights(|()| true), &options)
    };
    let decide = |search: &Saturation<'_, _, _>, other: &Automaton<()>| {
        if search.automaton().meets(other) { Reachable::Yes } else { Reachable::No }
    };
    let one_way = |direction, seed, other| {
        let mut search = search(direction, seed);
        match search.run() {
            StopReason::Complete => decide(&search, other),
            // What was found so far is certain.
            stop => match decide(&search, other) {
                Reachable::Yes => Reachable::Yes,
                _ => Reachable::Unknown(stop),
            },
        }
    };
    match strategy {
        Strategy::Post => one_way(Direction::Post, start, target),
        Strategy::Pre => one_way(Direction::Pre, target, start),
        Strategy::BothEnds => {
            let mut forwards = search(Direction::Post, start);
            let mut backwards = search(Direction::Pre, target);
            // Looking whether they meet costs as much as the two automata are large: stretches grow
            // with them.
            let mut stretch = 16;
            loop {
                for (search, other) in [(&mut forwards, target), (&mut backwards, start)] {
                    match search.run_stretch(stretch) {
                        None => {}
                        Some(StopReason::Complete) => return decide(search, other),
                        Some(stop) => return Reachable::Unknown(stop),
                    }
                }
                if forwards.automaton().meets(backwards.automaton()) {
                    return Reachable::Yes;
                }
                stretch *= 2;
            }
        }
    }
}

/// `IJOP(S, T)`: the combined weight of all runs from `start` to `target`, computed from one end
/// (\[Lal09\] Def. 2.4.3).
///
/// Both directions give the same weight; `Err` says which limit was met.
///
/// ```
/// use wherefore_pushdown::*;
/// let mut system: System<bool> = System::new();
/// let (p, a, b) = (system.state("p"), system.symbol("a"), system.symbol("b"));
/// system.add(p, a, p, Rhs::Swap(b), true);
/// let set = |s| Automaton::of_configuration(&system, &Configuration { state: p, stack: vec![s] }, Reading::Forward, &());
/// for direction in [Direction::Post, Direction::Pre] {
///     assert_eq!(ijop(&Reachability, &system, &set(a), &set(b), direction, &Options::default()), Ok(true));
/// }
/// ```
pub fn ijop<S: Semiring, M: Merge<S>>(
    domain: &S,
    system: &System<S::Weight, M>,
    start: &Automaton<()>,
    target: &Automaton<()>,
    direction: Direction,
    options: &Options,
) -> Result<S::Weight, StopReason> {
    let (saturated, query) = match direction {
        Direction::Post => {
            let seed = start.map_weights(|()| domain.one()).read(Reading::Backward);
            (post_star(domain, system, &seed, options), target)
        }
        Direction::Pre => {
            let seed = target.map_weights(|()| domain.one()).read(Reading::Forward);
            (pre_star(domain, system, &seed, options), start)
        }
    };
    match saturated.stop {
        StopReason::Complete => Ok(saturated.automaton.summary(domain, query)),
        stop => Err(stop),
    }
}
