//! Branches that are decided by nothing but a value from outside: `if (*)` of Cimple, `if
//! (__VERIFIER_nondet_bool())` of C.
//!
//! Such a branch needs no reason to go one way. \[Focus\] keeps it only if something behind it
//! matters that the other way would miss; a branch on data is also kept if the other way could
//! change something that matters.

use std::collections::BTreeSet;

use wherefore_program::{
    Argument, Edge, EdgeRef, Expr, ExprKind, LocationKind, Node, Operation, Procedure, Program, Var,
};

/// The places of free choices, and the program in which they are choices without a condition.
pub(crate) struct FreeChoices {
    /// The branches.
    pub branches: BTreeSet<Node>,
    /// The program with the conditions of these branches left out. Edges keep their numbers.
    pub view: Program,
}

impl FreeChoices {
    /// Finds them.
    pub fn of(program: &Program) -> Self {
        let mut branches = BTreeSet::new();
        let mut view = program.with_rules_ignored();
        for (id, procedure) in program.procedures() {
            for location in procedure.location_ids() {
                let edges: Vec<_> = procedure.edges_from(location).collect();
                let is_branch = procedure.location(location).kind == LocationKind::Branch && edges.len() > 1;
                if is_branch && edges.iter().all(|(_, edge)| is_free(program, procedure, edge)) {
                    branches.insert(Node { procedure: id, location });
                    for (edge, _) in edges {
                        let body = &mut view.procedures[id.0 as usize];
                        body.edges[edge.0 as usize].operation = Operation::Skip;
                    }
                }
            }
        }
        Self { branches, view }
    }

    /// Whether an edge is one way of a free choice.
    pub fn contains(&self, program: &Program, edge: EdgeRef) -> bool {
        let location = program.edge(edge).from;
        self.branches.contains(&Node { procedure: edge.procedure, location })
    }
}

/// Whether the condition of an edge reads one value alone, which comes from outside in the step
/// before and goes nowhere else.
fn is_free(program: &Program, procedure: &Procedure, edge: &Edge) -> bool {
    match &edge.operation {
        Operation::Skip => true,
        Operation::Assume(condition) if matches!(condition.kind, ExprKind::Choice { .. }) => true,
        Operation::Assume(condition) => {
            let mut read = BTreeSet::new();
            condition.reads(&mut |variable, _| {
                read.insert(variable);
            });
            let Some(&variable) = read.first().filter(|_| read.len() == 1) else { return false };
            let havocs = |before: &Edge| {
                matches!(&before.operation, Operation::Havoc(targets)
                    if targets.iter().any(|target| target.variable == variable && target.indices.is_empty()))
            };
            is_temporary(program, procedure, variable)
                && procedure.edges.iter().filter(|before| before.to == edge.from).all(havocs)
        }
        _ => false,
    }
}

/// Whether a variable stands for the value of an expression, and not for one of the source.
pub(crate) fn is_temporary(program: &Program, procedure: &Procedure, variable: Var) -> bool {
    let Var::Local(index) = variable else { return false };
    let variable = &procedure.variables[index as usize];
    !program.source(variable.span).slice(variable.span).contains(variable.name.as_str())
}

/// The variable of the source that a value from outside is stored in: the one that gets it at this
/// step of a path or, if that is a temporary, the one that it is handed to next.
pub(crate) fn input_name(program: &Program, path: &[EdgeRef], at: usize, variable: Var) -> String {
    let owner = path[at].procedure;
    let name = |procedure, variable| program.variable(procedure, variable).name.clone();
    if !is_temporary(program, program.procedure(owner), variable) {
        return name(owner, variable);
    }
    let reads = |expr: &Expr| {
        let mut found = false;
        expr.reads(&mut |other, _| found |= other == variable);
        found
    };
    for edge in path[at + 1..].iter().take_while(|edge| edge.procedure == owner) {
        match &program.edge(*edge).operation {
            Operation::Assign(assignment) => {
                let mut parts = assignment.targets.iter().zip(&assignment.values);
                if let Some((target, _)) = parts.find(|(_, value)| reads(value)) {
                    return name(owner, target.variable);
                }
            }
            Operation::Call(call) => {
                let takes = |argument: &Argument| matches!(argument, Argument::Value(value) if reads(value));
                if let Some(parameter) = call.arguments.iter().position(takes) {
                    return name(call.callee, Var::Local(parameter as u32));
                }
            }
            Operation::Assume(condition) if reads(condition) => break,
            _ => {}
        }
    }
    let span = program.edge(path[at]).span;
    program.source(span).slice(span).trim().to_owned()
}
