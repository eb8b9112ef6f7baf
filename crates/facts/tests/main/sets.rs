//! Reaching definitions, live and uninitialised variables, against random walks of the interpreter:
//! what happens on a run is among what may happen.

use std::collections::BTreeMap;

use wherefore_flow::{Live, Reaching, Step, Uninitialised, tabulate};
use wherefore_program::{EdgeRef, Interpreter, Node, Operation, Program, State, Var};

use crate::random::{Dice, Writer, read};

/// A place of a variable on a run: locals of each frame are different ones.
type Cell = (usize, Var);

fn cell(depth: usize, variable: Var) -> Cell {
    match variable {
        Var::Global(_) => (0, variable),
        Var::Local(_) => (depth, variable),
    }
}

/// Some run, as the states before its steps and the steps.
fn walk(program: &Program, dice: &mut Dice) -> Vec<(State, EdgeRef)> {
    let interpreter = Interpreter::new(program);
    let (first, _) = interpreter.initial_states(64);
    let mut state = first[dice.roll(first.len() as u64) as usize].clone();
    let mut run = Vec::new();
    for _ in 0..60 {
        let (next, _) = interpreter.successors(&state, 64);
        if next.is_empty() {
            break;
        }
        let (edge, after) = next[dice.roll(next.len() as u64) as usize].clone();
        run.push((state, edge));
        state = after;
    }
    run
}

#[test]
fn sets_have_what_happens() {
    let mut seen = [0; 3];
    for case in 0..u64::from(wherefore_testing::cases(300)) {
        let (text, _) = Writer::program(31_000_000 + case + wherefore_testing::seed(), true);
        let program = read(&text);
        let reaching = tabulate(&program, &Reaching).unwrap();
        let live = tabulate(&program, &Live).unwrap();
        let open = tabulate(&program, &Uninitialised).unwrap();
        let mut dice = Dice(case * 2 + 1);
        for _ in 0..4 {
            let run = walk(&program, &mut dice);
            let mut writers: BTreeMap<Cell, EdgeRef> = BTreeMap::new();
            // For each cell, the nodes since its last write.
            let mut waiting: BTreeMap<Cell, Vec<(usize, Node)>> = BTreeMap::new();
            for (state, edge) in &run {
                let node = state.node().unwrap();
                let depth = state.stack.len();
                let defined = reaching.at(&Reaching, node).unwrap();
                let unset = open.at(&Uninitialised, node).unwrap();
                let locals = program.procedure(node.procedure).variables.len() as u32;
                let globals = (0..program.globals.len() as u32).map(Var::Global);
                for variable in globals.chain((0..locals).map(Var::Local)) {
                    match writers.get(&cell(depth, variable)) {
                        Some(writer) => {
                            assert!(
                                defined.contains(&(variable, *writer)),
                                "{text}\n{node:?} {variable:?} {writer:?}"
                            );
                            seen[0] += 1;
                        }
                        None if matches!(variable, Var::Local(_)) => {
                            assert!(
                                unset.contains(&variable),
                                "{text}\n{node:?} {variable:?} was never written"
                            );
                            seen[1] += 1;
                        }
                        None => {}
                    }
                    waiting.entry(cell(depth, variable)).or_default().push((depth, node));
                }
                let operation = &program.edge(*edge).operation;
                let step = Step { program: &program, edge: *edge, operation };
                for variable in step.reads() {
                    for (_, before) in waiting.remove(&cell(depth, variable)).unwrap_or_default() {
                        let here = live.at(&Live, before).unwrap();
                        let is_seen =
                            matches!(variable, Var::Global(_)) || before.procedure == node.procedure;
                        assert!(
                            !is_seen || here.contains(&variable),
                            "{text}\n{before:?} {variable:?} is read"
                        );
                        seen[2] += 1;
                    }
                }
                match operation {
                    Operation::Call(call) => {
                        for i in 0..call.arguments.len() as u32 {
                            writers.insert((depth + 1, Var::Local(i)), *edge);
                        }
                    }
                    Operation::Return(_) => {
                        writers.retain(|(frame, variable), _| {
                            *frame != depth || !matches!(variable, Var::Local(_))
                        });
                        waiting.retain(|(frame, variable), _| {
                            *frame != depth || !matches!(variable, Var::Local(_))
                        });
                        if let Some((call, frame)) = state
                            .stack
                            .len()
                            .checked_sub(2)
                            .map(|at| &state.stack[at])
                            .and_then(|frame| Some((frame.calling?, frame)))
                        {
                            let call = EdgeRef { procedure: frame.procedure, edge: call };
                            let back = Step {
                                program: &program,
                                edge: call,
                                operation: &program.edge(call).operation,
                            };
                            for variable in back.overwrites() {
                                writers.insert(cell(depth - 1, variable), call);
                                waiting.remove(&cell(depth - 1, variable));
                            }
                        }
                    }
                    _ => {
                        for variable in step.overwrites() {
                            writers.insert(cell(depth, variable), *edge);
                            waiting.remove(&cell(depth, variable));
                        }
                    }
                }
            }
        }
    }
    assert!(seen.iter().all(|count| *count > 300), "{seen:?}");
}
