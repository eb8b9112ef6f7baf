//! Variants of a program: the same text with some steps changed, asked whether it can still pass.

use std::collections::{BTreeMap, BTreeSet};

use wherefore_program::{
    Argument, Assignment, BinaryOp, EdgeRef, ErrorKind, ErrorSite, Expr, LocationKind, Node, Operation,
    Program, Scalar, Target, Trace, Type, Var, Variable,
};

/// Where the program ends well: the end of its outermost procedure.
pub(crate) fn good_end(program: &Program) -> Option<ErrorSite> {
    let entry = program.procedure(program.entry);
    let location = entry.location_ids().find(|at| entry.location(*at).kind == LocationKind::End)?;
    let node = Node { procedure: program.entry, location };
    Some(ErrorSite { node, kind: ErrorKind::Label("end".to_owned()) })
}

/// The program without what comes after its errors: a run that gets there does not go on.
pub(crate) fn without_failures(program: &Program, targets: &[ErrorSite]) -> Program {
    let mut variant = program.clone();
    for site in targets {
        let body = &mut variant.procedures[site.node.procedure.0 as usize];
        for edge in body.edges.iter_mut().filter(|edge| edge.from == site.node.location) {
            edge.operation = Operation::Assume(Expr::bool(false));
        }
    }
    variant
}

/// The program with the values that come from outside fixed to those of a run, in the order in
/// which each step brings them. Beyond them values are arbitrary.
pub(crate) fn with_inputs_of(program: &Program, trace: &Trace) -> Program {
    let mut variant = program.clone();
    let mut brought: BTreeMap<EdgeRef, Vec<u64>> = BTreeMap::new();
    for step in &trace.steps {
        let edge = program.edge(step.edge);
        if let (Operation::Havoc(targets), Some(frame)) = (&edge.operation, step.state.stack.last()) {
            if let [Target { variable, indices }] = targets.as_slice() {
                let cell = |index: u32, of: &[Variable], cells: &[u64]| {
                    let before: usize = of[..index as usize].iter().map(|v| v.ty.cell_count()).sum();
                    cells.get(before).copied()
                };
                let value = match variable {
                    Var::Global(i) => cell(*i, &program.globals, &step.state.globals),
                    Var::Local(i) => {
                        let variables = &program.procedure(step.edge.procedure).variables;
                        (frame.procedure == step.edge.procedure)
                            .then(|| cell(*i, variables, &frame.locals))
                            .flatten()
                    }
                };
                if let (Some(value), true) = (value, indices.is_empty()) {
                    brought.entry(step.edge).or_default().push(value);
                }
            }
        }
    }
    for (at, values) in brought {
        let Operation::Havoc(targets) = program.edge(at).operation.clone() else { continue };
        let ty = program.variable(at.procedure, targets[0].variable).ty.element();
        let counter = Var::Global(variant.globals.len() as u32);
        let count = Expr::variable(counter, Scalar::Bits(16));
        let mut value = Expr::choice(ty);
        for (i, known) in values.iter().enumerate().rev() {
            let now = Expr::binary(BinaryOp::Eq, count.clone(), Expr::constant(i as u64, Scalar::Bits(16)));
            value = Expr::if_then_else(now, Expr::constant(*known, ty), value);
        }
        let next = Expr::binary(BinaryOp::Add, count, Expr::constant(1, Scalar::Bits(16)));
        variant.globals.push(Variable {
            name: format!("times {}", variant.globals.len()),
            ty: Type::Scalar(Scalar::Bits(16)),
            value_names: None,
            signed: false,
            float: false,
            pointer: false,
            shared: true,
            initial: Some(0),
            span: program.edge(at).span,
        });
        let assignment = Assignment {
            targets: vec![targets[0].clone(), counter.into()],
            values: vec![value, next],
            constraint: None,
        };
        variant.procedures[at.procedure.0 as usize].edges[at.edge.0 as usize].operation =
            Operation::Assign(assignment);
    }
    fix_initial(&mut variant, program, trace);
    variant
}

/// Variables without an initial value get the one of the run.
fn fix_initial(variant: &mut Program, program: &Program, trace: &Trace) {
    let mut at = 0;
    for (variable, fixed) in program.globals.iter().zip(&mut variant.globals) {
        if let (None, Type::Scalar(_), Some(value)) =
            (variable.initial, &variable.ty, trace.start.globals.get(at))
        {
            fixed.initial = Some(*value);
        }
        at += variable.ty.cell_count();
    }
    let mut seen = BTreeSet::new();
    for step in &trace.steps {
        let Operation::Call(call) = &program.edge(step.edge).operation else { continue };
        let Some(frame) = step.state.stack.last().filter(|_| seen.insert(call.callee)) else { continue };
        let body = program.procedure(call.callee);
        let mut at = 0;
        for (i, variable) in body.variables.iter().enumerate() {
            if let (None, Type::Scalar(_), Some(value)) =
                (variable.initial, &variable.ty, frame.locals.get(at))
            {
                if i >= body.parameters {
                    variant.procedures[call.callee.0 as usize].variables[i].initial = Some(*value);
                }
            }
            at += variable.ty.cell_count();
        }
    }
}

/// Lets the statements at some locations do anything: assign any values, go either way, pass and
/// return any values.
pub(crate) fn relax(program: &mut Program, nodes: &BTreeSet<Node>) {
    for node in nodes {
        let globals = program.globals.clone();
        let body = &mut program.procedures[node.procedure.0 as usize];
        let variables = body.variables.clone();
        for edge in body.edges.iter_mut().filter(|edge| edge.from == node.location) {
            match &mut edge.operation {
                Operation::Assume(condition) => *condition = Expr::choice(Scalar::Bool),
                Operation::Assign(assignment) => {
                    for (target, value) in assignment.targets.iter().zip(&mut assignment.values) {
                        let variable = match target.variable {
                            Var::Global(i) => &globals[i as usize],
                            Var::Local(i) => &variables[i as usize],
                        };
                        *value = Expr::choice(variable.ty.element());
                    }
                }
                Operation::Call(call) => {
                    for argument in &mut call.arguments {
                        if let Argument::Value(value) = argument {
                            *value = Expr::choice(value.ty);
                        }
                    }
                }
                Operation::Return(values) => {
                    for value in values {
                        *value = Expr::choice(value.ty);
                    }
                }
                _ => {}
            }
        }
    }
}
