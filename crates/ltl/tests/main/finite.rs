//! Programs without recursion: against an explicit search through configurations.

use std::collections::BTreeMap;

use wherefore_check::Budget;
use wherefore_ltl::{Buchi, Formula, Meaning, Subject, Verdict, Way, decide_in};
use wherefore_program::{Expr, Interpreter, Program, State};
use wherefore_testing::cases;

use crate::automata::{Random, random_formula};
use crate::generator::{Calls, meanings, parse, program};

/// More configurations than this are not searched.
const MOST: usize = 4_000;

/// The graph of configurations: successors, and the letter of each. An ended run follows itself.
struct Graph {
    next: Vec<Vec<usize>>,
    letters: Vec<Vec<bool>>,
    first: Vec<usize>,
}

fn graph(program: &Program, meanings: &[Meaning]) -> Option<Graph> {
    let interpreter = Interpreter::new(program);
    let (first, _) = interpreter.initial_states(1 << 10);
    let mut numbers: BTreeMap<State, usize> = BTreeMap::new();
    let mut states: Vec<State> = Vec::new();
    let mut number = |state: State, states: &mut Vec<State>| {
        *numbers.entry(state.clone()).or_insert_with(|| {
            states.push(state);
            states.len() - 1
        })
    };
    let first = first.into_iter().map(|state| number(state, &mut states)).collect();
    let (mut next, mut letters) = (Vec::new(), Vec::new());
    while next.len() < states.len() {
        if states.len() > MOST {
            return None;
        }
        let at = next.len();
        let state = states[at].clone();
        let node = state.node();
        let last = |node: wherefore_program::Node| {
            program.procedure(node.procedure).edges_from(node.location).next().is_none()
        };
        let is_end = node.is_none_or(last);
        let letter = |meaning: &Meaning| match meaning {
            // In these programs, only globals that are truth values.
            Meaning::Condition(condition) => state.globals[global(condition)] == 1,
            Meaning::At(nodes) => node.is_some_and(|node| nodes.contains(&node)),
            Meaning::End => is_end,
        };
        letters.push(meanings.iter().map(letter).collect());
        let found = interpreter.successors(&state, 1 << 10).0;
        let mut out: Vec<usize> = found.into_iter().map(|(_, state)| number(state, &mut states)).collect();
        if is_end {
            out.push(at);
        }
        next.push(out);
    }
    Some(Graph { next, letters, first })
}

fn global(condition: &Expr) -> usize {
    let mut found = 0;
    condition.reads(&mut |variable, _| {
        if let wherefore_program::Var::Global(i) = variable {
            found = i as usize;
        }
    });
    found
}

/// Whether some infinite path is accepted: the greatest set of pairs from which an accepting step
/// into the set can be reached, pair by pair.
fn accepts(graph: &Graph, automaton: &Buchi) -> bool {
    let count = automaton.state_count();
    let total = graph.next.len() * count;
    let mut steps: Vec<Vec<(usize, bool)>> = vec![Vec::new(); total];
    let mut seen = vec![false; total];
    let mut open: Vec<usize> = graph.first.iter().map(|first| first * count).collect();
    for pair in &open {
        seen[*pair] = true;
    }
    let mut at = 0;
    while at < open.len() {
        let pair = open[at];
        at += 1;
        let (state, read) = (pair / count, pair % count);
        for transition in &automaton.transitions[read] {
            if !transition.guard.allows(&graph.letters[state]) {
                continue;
            }
            for next in &graph.next[state] {
                let to = next * count + transition.to;
                steps[pair].push((to, transition.is_accepting));
                if !std::mem::replace(&mut seen[to], true) {
                    open.push(to);
                }
            }
        }
    }
    let mut hopeful = seen;
    loop {
        let mut can = vec![false; total];
        loop {
            let mut changed = false;
            for pair in &open {
                if hopeful[*pair] && !can[*pair] {
                    let good = |(to, marked): &(usize, bool)| hopeful[*to] && (*marked || can[*to]);
                    if steps[*pair].iter().any(good) {
                        can[*pair] = true;
                        changed = true;
                    }
                }
            }
            if !changed {
                break;
            }
        }
        if can == hopeful {
            return can.into_iter().any(|pair| pair);
        }
        hopeful = can;
    }
}

#[test]
fn programs_without_recursion_as_by_explicit_search() {
    let mut random = Random(wherefore_testing::seed().wrapping_add(11));
    let (mut holds, mut fails, mut open, mut abstractly) = (0, 0, 0, 0);
    for _ in 0..cases(500) {
        let text = program(&mut random, Calls::Flat);
        let program = parse(&text);
        let meanings = meanings(&program);
        let Some(graph) = graph(&program, &meanings) else { continue };
        let subject = Subject { program: &program, meanings: &meanings, silent: None };
        for _ in 0..3 {
            let formula: Formula = random_formula(&mut random, 3, 4);
            let Ok(automaton) = Buchi::new(&formula.clone().not()) else { continue };
            if automaton.state_count() > 12 {
                continue;
            }
            let expected = !accepts(&graph, &automaton);
            let found = decide_in(&subject, &formula, Way::Exact, &Budget::default());
            match &found.verdict {
                Verdict::Holds => assert!(expected, "{formula:?} does not hold\n{text}"),
                Verdict::Fails(_) => assert!(!expected, "{formula:?} holds\n{text}"),
                Verdict::Unknown(reason) => panic!("{reason}: {formula:?}\n{text}"),
            }
            *(if expected { &mut holds } else { &mut fails }) += 1;
            // The abstraction may leave it open, but not err.
            match decide_in(&subject, &formula, Way::Abstract, &Budget::default()).verdict {
                Verdict::Holds => assert!(expected, "abstractly: {formula:?} does not hold\n{text}"),
                Verdict::Fails(_) => assert!(!expected, "abstractly: {formula:?} holds\n{text}"),
                Verdict::Unknown(_) => open += 1,
            }
            abstractly += 1;
        }
    }
    assert!(holds > 100 && fails > 100 && open * 2 < abstractly, "{holds} {fails} {open}");
}
