//! Runs that end in a stack against the explicit search of the interpreter.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use wherefore_check::{Budget, Replaying, Session};
use wherefore_frontend::parse;
use wherefore_program::{EdgeRef, Interpreter, Language, Node, State};
use wherefore_trace::{
    Asked, Clue, Clues, Evidence, Feasibility, Fitted, Goal, Origin, Required, Sites, decide, fit, visited,
};

use crate::random_programs::{Dice, program};
use crate::stacks::backtrace;

const MOST: usize = 20_000;

fn is_there(fitted: &Fitted, state: &State) -> bool {
    state.stack.len() == fitted.frames.len()
        && fitted.frames.iter().zip(state.stack.iter().rev()).all(|(expected, frame)| match &expected.sites {
            Sites::At(nodes) => {
                nodes.contains(&Node { procedure: frame.procedure, location: frame.location })
            }
            Sites::Calls(edges) => frame
                .calling
                .is_some_and(|edge| edges.contains(&EdgeRef { procedure: frame.procedure, edge })),
            Sites::Unknown => true,
        })
}

#[test]
fn answers_are_those_of_explicit_search() {
    let (mut runs, mut none, mut open) = (0, 0, 0);
    for seed in 0..u64::from(wherefore_testing::cases(300)) {
        let mut dice = Dice::new(seed + wherefore_testing::seed() * 1_000_003 + 77);
        let text = program(&mut dice, true);
        let task = parse(Language::Boolean, "random.bp", &text, None)
            .unwrap_or_else(|e| panic!("{}\n{text}", e.render()));
        let program = &task.program;
        let interpreter = Interpreter::new(program);
        // All configurations with few frames, and what was visited.
        let lines: Vec<u32> = program.nodes().filter_map(|node| program.line(node)).collect();
        let wanted: Vec<u32> =
            (0..dice.roll(3)).map(|_| lines[dice.roll(lines.len() as u64) as usize]).collect();
        let clue = |line: &u32| Clue { places: vec![("random.bp".to_owned(), *line)], origin: Origin::Named };
        let in_order = dice.roll(2) == 0;
        let list: Vec<Clue> = wanted.iter().map(clue).collect();
        let clues = match in_order {
            true => Clues { order: list, ..Clues::default() },
            false => Clues { must: list, ..Clues::default() },
        };
        let evidence = Evidence::new(program, &clues, &[]);
        let mut known: BTreeSet<(State, u32, u8)> = BTreeSet::new();
        let mut reached: Vec<(State, u32, u8)> = Vec::new();
        let mut open_states: VecDeque<(State, u32, u8)> =
            interpreter.initial_states(64).0.into_iter().map(|state| (state, 0, 0)).collect();
        let mut is_complete = true;
        while let Some((state, touched, place)) = open_states.pop_front() {
            if known.len() > MOST {
                is_complete = false;
                break;
            }
            if state.stack.len() > 6 {
                is_complete = false;
                continue;
            }
            let Some(node) = state.node() else { continue };
            let all = evidence.points().iter().enumerate().filter(|(_, nodes)| nodes.contains(&node));
            let touched = all.fold(touched, |set, (i, _)| set | 1 << i);
            let next = evidence.in_order().get(usize::from(place)).is_some_and(|nodes| nodes.contains(&node));
            let place = place + u8::from(next);
            if !known.insert((state.clone(), touched, place)) {
                continue;
            }
            reached.push((state.clone(), touched, place));
            for (_, next) in interpreter.successors(&state, 64).0 {
                open_states.push_back((next, touched, place));
            }
        }
        // A stack that is reached, or one line of it moved.
        let some = &reached[dice.roll(reached.len() as u64) as usize].0;
        let from = |frame: &wherefore_program::Frame| match frame.calling {
            Some(edge) => program.procedure(frame.procedure).edge(edge).from,
            None => frame.location,
        };
        let place = |frame: &wherefore_program::Frame| {
            program.line(Node { procedure: frame.procedure, location: from(frame) }).expect("a line")
        };
        let stack: Vec<u32> = some.stack.iter().rev().map(place).collect();
        let fitted = fit(program, &backtrace(program, &stack)).expect("it fits");
        let required = Required {
            points: evidence.points().to_vec(),
            order: evidence.in_order().to_vec(),
            never: Vec::new(),
        };
        let enough = |(state, touched, place): &(State, u32, u8)| {
            is_there(&fitted, state)
                && *touched == (1 << required.points.len()) - 1
                && usize::from(*place) == required.order.len()
        };
        let expected = reached.iter().any(enough);
        let asked = Asked { fitted: &fitted, required: &required, conditions: &[], goal: &Goal::Arrive };
        let budget = Budget::default().within(Duration::from_secs(20));
        match decide(&task, &asked, &Replaying::Off, &Session::default(), &budget) {
            Feasibility::Run(run) => {
                runs += 1;
                program.replay(&run.trace).unwrap_or_else(|e| panic!("{e}\n{text}"));
                assert!(is_there(&fitted, run.trace.last()), "{stack:?}\n{text}");
                let nodes: Vec<Node> = run.trace.states().filter_map(State::node).collect();
                let seen = visited(&evidence, &nodes);
                assert!((0..wanted.len()).all(|clue| seen.is_visited(clue)), "{wanted:?}\n{text}");
                assert!(expected || !is_complete, "explicit search finds no such run: {stack:?}\n{text}");
            }
            Feasibility::None { .. } => {
                none += 1;
                assert!(!expected, "explicit search comes to {stack:?} by {wanted:?}\n{text}");
            }
            Feasibility::Open(why) => {
                open += 1;
                println!("open: {why}");
            }
        }
    }
    assert!(runs > 20 && none > 5 && open * 10 < runs, "{runs} runs, {none} times none, {open} open");
}
