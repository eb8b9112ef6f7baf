//! Lengths of shortest paths against a search over valid paths, one configuration at a time.

use std::collections::{BTreeMap, HashMap};

use wherefore_frontend::parse;
use wherefore_program::{EdgeRef, Language, Node, Operation, Program};
use wherefore_pushdown::Limits;
use wherefore_trace::{Clue, Clues, Evidence, Fitted, Origin, Sites, fit, is_step, search, visited};

use crate::random_programs::{Dice, program};
use crate::stacks::backtrace;

/// A stack of calls, and where the run is.
type Stack = (Vec<EdgeRef>, Node);

/// How far the search by single configurations goes.
const MOST: usize = 60_000;

/// The lines of a stack that some valid path comes to.
fn some_stack(program: &Program, dice: &mut Dice) -> Vec<u32> {
    let entry = program.procedure(program.entry).entry;
    let mut at: Stack = (Vec::new(), Node { procedure: program.entry, location: entry });
    for _ in 0..5 + dice.roll(40) {
        let edges: Vec<EdgeRef> = program
            .procedure(at.1.procedure)
            .edges_from(at.1.location)
            .map(|(edge, _)| EdgeRef { procedure: at.1.procedure, edge })
            .collect();
        if edges.is_empty() {
            break;
        }
        match step(program, &at, edges[dice.roll(edges.len() as u64) as usize]) {
            Some(next) => at = next,
            None => break,
        }
    }
    let from = |edge: &EdgeRef| Node { procedure: edge.procedure, location: program.edge(*edge).from };
    let below = at.0.iter().rev().map(|edge| program.line(from(edge)).expect("a line"));
    std::iter::once(program.line(at.1).expect("a line")).chain(below).collect()
}

/// One step, whatever the values; none if the run has ended.
fn step(program: &Program, (stack, node): &Stack, edge: EdgeRef) -> Option<Stack> {
    let (mut stack, at) = (stack.clone(), program.edge(edge));
    let location = match &at.operation {
        Operation::Call(call) => {
            stack.push(edge);
            let location = program.procedure(call.callee).entry;
            return Some((stack, Node { procedure: call.callee, location }));
        }
        Operation::Return(_) => {
            let call = stack.pop()?;
            return Some((stack, Node { procedure: call.procedure, location: program.edge(call).to }));
        }
        _ => at.to,
    };
    Some((stack, Node { procedure: node.procedure, location }))
}

fn is_there(fitted: &Fitted, (stack, node): &Stack) -> bool {
    stack.len() + 1 == fitted.frames.len()
        && fitted.frames.iter().enumerate().all(|(level, frame)| match &frame.sites {
            Sites::At(nodes) => nodes.contains(node),
            Sites::Calls(edges) => edges.contains(&stack[stack.len() - level]),
            Sites::Unknown => true,
        })
}

/// What was visited: a set, and how far in the order.
type Seen = (u32, u8);

/// The least lengths of all ways up to a length, by configurations in the order of their lengths;
/// none if there are too many.
fn by_configurations(
    program: &Program,
    fitted: &Fitted,
    (points, order): (&[Vec<Node>], &[Vec<Node>]),
    most: u64,
) -> Option<BTreeMap<Seen, u64>> {
    let mut found: BTreeMap<Seen, u64> = BTreeMap::new();
    let mut known: HashMap<(Stack, Seen), u64> = HashMap::new();
    let entry = Node { procedure: program.entry, location: program.procedure(program.entry).entry };
    let mut layers: Vec<Vec<(Stack, Seen)>> = vec![vec![((Vec::new(), entry), (0, 0))]];
    let mut cost = 0;
    while cost < layers.len() {
        while let Some((at, seen)) = layers[cost].pop() {
            if known.get(&(at.clone(), seen)).is_some_and(|before| *before <= cost as u64) {
                continue;
            }
            if known.len() > MOST {
                return None;
            }
            known.insert((at.clone(), seen), cost as u64);
            let touched = points.iter().enumerate().filter(|(_, nodes)| nodes.contains(&at.1));
            let touched = touched.fold(seen.0, |set, (i, _)| set | 1 << i);
            let is_next = order.get(usize::from(seen.1)).is_some_and(|nodes| nodes.contains(&at.1));
            let now = (touched, seen.1 + u8::from(is_next));
            let next = cost + usize::from(is_step(program, at.1));
            if is_there(fitted, &at) {
                let best = found.entry(now).or_insert(u64::MAX);
                *best = (*best).min(next as u64);
            }
            if next as u64 > most {
                continue;
            }
            while layers.len() <= next {
                layers.push(Vec::new());
            }
            for (edge, _) in program.procedure(at.1.procedure).edges_from(at.1.location) {
                let edge = EdgeRef { procedure: at.1.procedure, edge };
                if let Some(to) = step(program, &at, edge) {
                    layers[next].push((to, now));
                }
            }
        }
        cost += 1;
    }
    Some(found)
}

#[test]
fn lengths_are_those_of_a_search_by_configurations() {
    let (mut compared, mut ways_seen) = (0, 0);
    for seed in 0..u64::from(wherefore_testing::cases(900)) {
        let mut dice = Dice::new(seed + wherefore_testing::seed() * 1_000_003 + 1);
        let text = program(&mut dice, false);
        let task = parse(Language::Boolean, "random.bp", &text, None)
            .unwrap_or_else(|e| panic!("{}\n{text}", e.render()));
        let program = &task.program;
        let fitted = fit(program, &backtrace(program, &some_stack(program, &mut dice))).expect("it fits");
        let lines: Vec<u32> = program.nodes().filter_map(|node| program.line(node)).collect();
        let mut some = |count: u64| -> Vec<Clue> {
            let line = |dice: &mut Dice| lines[dice.roll(lines.len() as u64) as usize];
            (0..dice.roll(count))
                .map(|_| Clue {
                    places: vec![("random.bp".to_owned(), line(&mut dice))],
                    origin: Origin::Named,
                })
                .collect()
        };
        let clues = Clues { should: some(4), order: some(4), ..Clues::default() };
        let evidence = Evidence::new(program, &clues, &[]);
        let found = search(program, &fitted, &evidence, &Limits::default()).expect("no limit");
        let best = found.ways.iter().filter(|way| way.from == 0);
        let most = best.clone().map(|way| way.cost).max().unwrap_or(12);
        let points = (evidence.points(), evidence.in_order());
        let Some(expected) = by_configurations(program, &fitted, points, most) else { continue };
        compared += 1;
        // Who touches as much has the same least length in both.
        let ours = |touched: u32, to: u8| {
            let as_good = best.clone().filter(|way| way.to >= to && way.touched & touched == touched);
            as_good.map(|way| way.cost).min()
        };
        let theirs = |touched: u32, to: u8| {
            let as_good =
                expected.iter().filter(|((set, place), _)| *place >= to && set & touched == touched);
            as_good.map(|(_, cost)| *cost).min()
        };
        for way in best.clone() {
            ways_seen += 1;
            assert_eq!(Some(way.cost), theirs(way.touched, way.to), "{way:?} {fitted:?}\n{text}");
        }
        for ((touched, to), cost) in expected.iter().filter(|(_, cost)| **cost <= most) {
            let least = ours(*touched, *to);
            assert!(least.is_some_and(|least| least <= *cost), "{touched:b} {to} {cost}: {least:?}\n{text}");
        }
        // The path that is shown has the weight that it is said to have.
        if let Some(path) = &found.path {
            let mut at: Stack = (
                Vec::new(),
                Node { procedure: program.entry, location: program.procedure(program.entry).entry },
            );
            let mut nodes = vec![at.1];
            for edge in &path.edges {
                assert_eq!(program.edge(*edge).from, at.1.location, "{text}");
                at = step(program, &at, *edge).expect("it goes on");
                nodes.push(at.1);
            }
            assert!(is_there(&fitted, &at) && at.1 == path.end, "{text}");
            let length = nodes.iter().filter(|node| is_step(program, **node)).count() as u64;
            assert_eq!(length, path.way.cost, "{text}");
            let seen = visited(&evidence, &nodes);
            let count =
                (0..clues.should.len() + clues.order.len()).filter(|clue| seen.is_visited(*clue)).count();
            assert_eq!(count as u32, path.way.touched.count_ones() + u32::from(path.way.to), "{text}");
        }
    }
    assert!(compared > 100 && ways_seen > compared, "{compared} programs, {ways_seen} ways");
}
