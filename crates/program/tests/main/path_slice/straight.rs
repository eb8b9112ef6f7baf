//! Some edges of a path as a straight line, and the states that can run it.
//!
//! This is the trace of the document: operations one after the other, without control. Every frame
//! of the path has variables of its own. It shares nothing with the slicer.

use std::collections::{BTreeMap, BTreeSet};

use wherefore_program::*;

/// A program with one procedure and no branches.
pub struct Straight {
    program: Program,
}

/// The variables of a frame: where they start among the globals. A frame is known by its call; none
/// is the first.
type Frames = BTreeMap<Option<usize>, u32>;

impl Straight {
    /// The edges at some positions of a path, ascending.
    pub fn new(program: &Program, path: &[EdgeRef], positions: &[usize]) -> Self {
        let mut globals = program.globals.clone();
        let mut frames = Frames::new();
        let mut open: Vec<Option<usize>> = vec![None];
        frames.insert(None, globals.len() as u32);
        globals.extend(program.procedure(program.entry).variables.iter().cloned());
        let span = Span::new(FileId(0), 0, 0);
        let mut builder = ProcedureBuilder::new("straight", span);
        let mut at = builder.location(span, LocationKind::Statement);
        let entry = at;
        for (position, reference) in path.iter().enumerate() {
            let taken = positions.contains(&position);
            let here = *open.last().expect("a frame");
            let mut operations = Vec::new();
            match &program.edge(*reference).operation {
                Operation::Call(call) => {
                    open.push(Some(position));
                    let callee = program.procedure(call.callee);
                    let first = globals.len() as u32;
                    frames.insert(Some(position), first);
                    globals.extend(callee.variables.iter().cloned());
                    assert_eq!(call.assignment, Assignment::default(), "not generated");
                    operations.push(pass(call, first, &frames, here));
                    for (variable, i) in callee.variables.iter().zip(first..).skip(callee.parameters) {
                        operations.push(fresh(variable, Var::Global(i)));
                    }
                }
                Operation::Return(values) => {
                    open.pop();
                    if let (Some(call), Some(caller)) = (here, open.last()) {
                        let Operation::Call(call) = &program.edge(path[call]).operation else {
                            panic!("a frame begins with a call");
                        };
                        let mut assignment = Assignment::default();
                        for (value, result) in values.iter().zip(&call.results) {
                            if let Some(result) = result {
                                assignment.targets.push(target(result, &frames, *caller));
                                assignment.values.push(moved(value, &frames, here));
                            }
                        }
                        operations.push(Operation::Assign(assignment));
                    }
                }
                Operation::Assume(condition) => {
                    operations.push(Operation::Assume(moved(condition, &frames, here)));
                }
                Operation::Assign(assignment) => operations.push(Operation::Assign(Assignment {
                    targets: assignment.targets.iter().map(|t| target(t, &frames, here)).collect(),
                    values: assignment.values.iter().map(|value| moved(value, &frames, here)).collect(),
                    constraint: assignment.constraint.as_ref().map(|c| moved(c, &frames, here)),
                })),
                Operation::Havoc(targets) => {
                    let targets = targets.iter().map(|t| target(t, &frames, here)).collect();
                    operations.push(Operation::Havoc(targets));
                }
                Operation::Skip => {}
                other => panic!("{other:?} is not generated"),
            }
            for operation in operations.into_iter().filter(|_| taken) {
                let next = builder.location(span, LocationKind::Statement);
                builder.edge(at, next, operation, span);
                at = next;
            }
        }
        let procedures = vec![builder.finish(entry)];
        let sources = program.sources.clone();
        Self {
            program: Program {
                sources,
                globals,
                procedures,
                entry: ProcedureId(0),
                objects: Objects::default(),
            },
        }
    }

    /// The first states of the program that can run the whole line.
    pub fn running<'s>(&self, starts: &'s [State]) -> Vec<&'s State> {
        let interpreter = Interpreter::new(&self.program);
        starts.iter().filter(|start| self.runs(&interpreter, start)).collect()
    }

    fn runs(&self, interpreter: &Interpreter<'_>, start: &State) -> bool {
        let cells = self.program.globals.iter().map(|variable| variable.ty.cell_count()).sum();
        let mut globals = start.globals.clone();
        globals.extend_from_slice(&start.stack[0].locals);
        globals.resize(cells, 0);
        let body = self.program.procedure(ProcedureId(0));
        let frame =
            Frame { procedure: ProcedureId(0), location: body.entry, calling: None, locals: Vec::new() };
        let mut states =
            BTreeSet::from([State { globals, memory: start.memory.clone(), stack: vec![frame] }]);
        for edge in 0..body.edges.len() as u32 {
            let edge = EdgeRef { procedure: ProcedureId(0), edge: EdgeId(edge) };
            let step = |state: &State| {
                let (next, extent) = interpreter.step(state, edge, 1 << 12);
                assert_eq!(extent, Extent::All, "few choices are generated");
                next
            };
            states = states.iter().flat_map(step).collect();
            if states.is_empty() {
                return false;
            }
        }
        true
    }
}

fn pass(call: &Call, first: u32, frames: &Frames, caller: Option<usize>) -> Operation {
    let mut assignment = Assignment::default();
    for (argument, i) in call.arguments.iter().zip(first..) {
        let Argument::Value(value) = argument else { panic!("{argument:?} is not generated") };
        assignment.targets.push(Var::Global(i).into());
        assignment.values.push(moved(value, frames, caller));
    }
    Operation::Assign(assignment)
}

/// What a call does to a variable that is no parameter.
fn fresh(variable: &Variable, var: Var) -> Operation {
    let cells = (0..variable.ty.cell_count()).map(|cell| Target {
        variable: var,
        indices: variable.ty.indices(cell).into_iter().map(|i| Expr::constant(i, Scalar::Bits(32))).collect(),
    });
    let targets: Vec<Target> = cells.collect();
    match variable.initial {
        Some(value) => {
            let values = targets.iter().map(|_| Expr::constant(value, variable.ty.element())).collect();
            Operation::Assign(Assignment { targets, values, constraint: None })
        }
        None => Operation::Havoc(targets),
    }
}

fn moved(expr: &Expr, frames: &Frames, frame: Option<usize>) -> Expr {
    let part = |expr: &Expr| Box::new(moved(expr, frames, frame));
    let kind = match &expr.kind {
        ExprKind::Read { variable, indices, when } => ExprKind::Read {
            variable: place(*variable, frames, frame),
            indices: indices.iter().map(|index| moved(index, frames, frame)).collect(),
            when: *when,
        },
        ExprKind::Unary(op, value) => ExprKind::Unary(*op, part(value)),
        ExprKind::Binary(op, left, right) => ExprKind::Binary(*op, part(left), part(right)),
        ExprKind::Constant(_) | ExprKind::Choice { .. } => expr.kind.clone(),
        other => panic!("{other:?} is not generated"),
    };
    Expr { kind, ty: expr.ty }
}

fn target(target: &Target, frames: &Frames, frame: Option<usize>) -> Target {
    Target {
        variable: place(target.variable, frames, frame),
        indices: target.indices.iter().map(|index| moved(index, frames, frame)).collect(),
    }
}

fn place(variable: Var, frames: &Frames, frame: Option<usize>) -> Var {
    match variable {
        Var::Global(_) => variable,
        Var::Local(i) => Var::Global(frames[&frame] + i),
    }
}
