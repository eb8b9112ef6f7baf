//! Where the data of a program live in a store: one Boolean variable a bit, and the order of these
//! variables.
//!
//! A store has room for the globals, for the locals of one procedure (procedures share that room:
//! \[Lal09\] §3.5.1 assumes without loss of generality that all have the same number), for values
//! in transfer between caller and callee, and for choices inside one step.
//!
//! The order decides over the size of diagrams. Bits that one operation reads or writes together
//! should be neighbours: the FORCE heuristic (Aloul, Markov and Sakallah, 2003) moves each bit to
//! the centre of gravity of the operations it occurs in, again and again. Equal bits of different
//! numbers are put together, as addition and comparison want them.

use wherefore_program::{
    Argument, Assignment, Expr, ExprKind, Operation, ProcedureId, Program, Target, Var, Variable,
};

/// Rounds of the ordering heuristic.
const ROUNDS: usize = 30;

/// The variables of a store.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// For each global variable, the first bit before ordering; likewise for each procedure's
    /// variables.
    globals: Vec<usize>,
    locals: Vec<Vec<usize>>,
    global_bits: usize,
    local_bits: usize,
    transfer_bits: usize,
    scratch_bits: usize,
    /// The place in the order of each bit.
    place: Vec<usize>,
}

impl Layout {
    pub fn new(program: &Program) -> Self {
        let starts = |variables: &[Variable]| {
            let mut next = 0;
            let starts: Vec<usize> = variables
                .iter()
                .map(|variable| {
                    let start = next;
                    next += bits_of(variable);
                    start
                })
                .collect();
            (starts, next)
        };
        let (globals, global_bits) = starts(&program.globals);
        let all: Vec<(Vec<usize>, usize)> = program.procedures.iter().map(|p| starts(&p.variables)).collect();
        let local_bits = all.iter().map(|(_, bits)| *bits).max().unwrap_or(0);
        let locals = all.into_iter().map(|(starts, _)| starts).collect();
        let mut transfer_bits = 0;
        let mut scratch_bits = 0;
        for procedure in &program.procedures {
            let results: usize = procedure.results.iter().map(|ty| ty.width() as usize).sum();
            transfer_bits = transfer_bits.max(results);
            for edge in &procedure.edges {
                let choices = scratch_bits_of(program, &edge.operation);
                if let Operation::Call(call) = &edge.operation {
                    let callee = program.procedure(call.callee);
                    transfer_bits =
                        transfer_bits.max(callee.variables[..call.arguments.len()].iter().map(bits_of).sum());
                }
                scratch_bits = scratch_bits.max(choices);
            }
        }
        let count = global_bits + local_bits + transfer_bits + scratch_bits;
        let mut layout = Self {
            globals,
            locals,
            global_bits,
            local_bits,
            transfer_bits,
            scratch_bits,
            place: (0..count).collect(),
        };
        layout.order(program);
        layout
    }

    /// How many Boolean variables a store has.
    pub fn bits(&self) -> usize {
        self.place.len()
    }

    /// The bits of one cell of a variable, the lowest first.
    pub fn cell(&self, program: &Program, procedure: ProcedureId, variable: Var, cell: usize) -> Vec<usize> {
        let width = program.variable(procedure, variable).ty.element().width() as usize;
        let start = match variable {
            Var::Global(i) => self.globals[i as usize],
            Var::Local(i) => self.global_bits + self.locals[procedure.0 as usize][i as usize],
        };
        (0..width).map(|bit| self.place[start + cell * width + bit]).collect()
    }

    /// The bits of all local variables, whatever the procedure.
    pub fn local_bits(&self) -> Vec<usize> {
        (self.global_bits..self.global_bits + self.local_bits).map(|bit| self.place[bit]).collect()
    }

    /// The bits for values in transfer.
    pub fn transfer(&self) -> Vec<usize> {
        let start = self.global_bits + self.local_bits;
        (start..start + self.transfer_bits).map(|bit| self.place[bit]).collect()
    }

    /// The bits for choices inside one step.
    pub fn scratch(&self) -> Vec<usize> {
        let start = self.global_bits + self.local_bits + self.transfer_bits;
        (start..start + self.scratch_bits).map(|bit| self.place[bit]).collect()
    }

    fn order(&mut self, program: &Program) {
        let groups = self.groups(program);
        let count = self.global_bits + self.local_bits;
        let mut position: Vec<f64> = (0..count).map(|bit| bit as f64).collect();
        for _ in 0..ROUNDS {
            let mut sum = vec![0.0; count];
            let mut weight = vec![0.0; count];
            for group in &groups {
                let centre = group.iter().map(|bit| position[*bit]).sum::<f64>() / group.len() as f64;
                for bit in group {
                    sum[*bit] += centre;
                    weight[*bit] += 1.0;
                }
            }
            let wish: Vec<f64> =
                (0..count).map(|b| if weight[b] > 0.0 { sum[b] / weight[b] } else { position[b] }).collect();
            let mut order: Vec<usize> = (0..count).collect();
            order.sort_by(|a, b| wish[*a].total_cmp(&wish[*b]).then(a.cmp(b)));
            for (place, bit) in order.iter().enumerate() {
                position[*bit] = place as f64;
            }
        }
        for (place, position) in self.place.iter_mut().zip(position) {
            *place = position as usize;
        }
    }

    /// Bits that one operation touches together: equal bits of all its variables.
    fn groups(&self, program: &Program) -> Vec<Vec<usize>> {
        let mut groups = Vec::new();
        for (id, procedure) in program.procedures() {
            for edge in &procedure.edges {
                let mut variables = Vec::new();
                operation_expressions(&edge.operation, &mut |expr| expr.reads(&mut |v, _| variables.push(v)));
                operation_targets(&edge.operation, &mut |target| variables.push(target.variable));
                variables.sort_unstable();
                variables.dedup();
                let start = |v: &Var| match v {
                    Var::Global(i) => self.globals[*i as usize],
                    Var::Local(i) => self.global_bits + self.locals[id.0 as usize][*i as usize],
                };
                let width = |v: &Var| program.variable(id, *v).ty.element().width() as usize;
                let widest = variables.iter().map(width).max().unwrap_or(0);
                for bit in 0..widest {
                    let of = |v: &&Var| bit < width(v);
                    let group: Vec<usize> = variables.iter().filter(of).map(|v| start(v) + bit).collect();
                    if group.len() > 1 {
                        groups.push(group);
                    }
                }
            }
        }
        groups
    }
}

fn bits_of(variable: &Variable) -> usize {
    variable.ty.cell_count() * variable.ty.element().width() as usize
}

/// The choices of an operation that need bits of their own: a variable that becomes anything needs
/// none.
fn scratch_bits_of(program: &Program, operation: &Operation) -> usize {
    let mut bits = 0;
    operation_expressions(operation, &mut |expr| bits += choice_bits(expr));
    let whole = |assignment: &Assignment| -> usize {
        let pairs = assignment.targets.iter().zip(&assignment.values);
        let free = pairs.filter(|(t, v)| t.indices.is_empty() && matches!(v.kind, ExprKind::Choice { .. }));
        free.map(|(_, value)| value.ty.width() as usize).sum()
    };
    match operation {
        Operation::Assign(assignment) => bits - whole(assignment),
        Operation::Call(call) => {
            let arbitrary = call.arguments.iter().zip(&program.procedure(call.callee).variables);
            let arbitrary = arbitrary.filter(|(argument, _)| matches!(argument, Argument::Arbitrary));
            bits - whole(&call.assignment) + arbitrary.map(|(_, parameter)| bits_of(parameter)).sum::<usize>()
        }
        _ => bits,
    }
}

fn choice_bits(expr: &Expr) -> usize {
    let mut bits = 0;
    expr.walk(&mut |part| {
        if let ExprKind::Choice { .. } = part.kind {
            bits += part.ty.width() as usize;
        }
    });
    bits
}

/// Calls `visit` with every expression of an operation.
pub(crate) fn operation_expressions<'a>(operation: &'a Operation, visit: &mut dyn FnMut(&'a Expr)) {
    fn targets<'a>(targets: impl IntoIterator<Item = &'a Target>, visit: &mut dyn FnMut(&'a Expr)) {
        targets.into_iter().flat_map(|target| &target.indices).for_each(visit);
    }
    fn assignment<'a>(assignment: &'a Assignment, visit: &mut dyn FnMut(&'a Expr)) {
        targets(&assignment.targets, visit);
        assignment.values.iter().chain(&assignment.constraint).for_each(visit);
    }
    match operation {
        Operation::Assume(condition) => visit(condition),
        Operation::Assign(step) => assignment(step, visit),
        Operation::Havoc(all) => targets(all, visit),
        Operation::Return(values) => values.iter().for_each(visit),
        Operation::Call(call) => {
            assignment(&call.assignment, visit);
            targets(call.results.iter().flatten(), visit);
            for argument in &call.arguments {
                if let Argument::Value(value) = argument {
                    visit(value);
                }
            }
        }
        Operation::Skip
        | Operation::StartThread(_)
        | Operation::EndThread
        | Operation::AtomicBegin
        | Operation::AtomicEnd
        | Operation::Sync => {}
    }
}

fn operation_targets<'a>(operation: &'a Operation, visit: &mut dyn FnMut(&'a Target)) {
    match operation {
        Operation::Assign(step) => step.targets.iter().for_each(visit),
        Operation::Havoc(all) => all.iter().for_each(visit),
        Operation::Call(call) => {
            call.assignment.targets.iter().for_each(&mut *visit);
            call.results.iter().flatten().for_each(visit);
        }
        Operation::Assume(_)
        | Operation::Return(_)
        | Operation::Skip
        | Operation::StartThread(_)
        | Operation::EndThread
        | Operation::AtomicBegin
        | Operation::AtomicEnd
        | Operation::Sync => {}
    }
}
