//! Classical analyses of sets: what is generated and what is killed. They are written with
//! [`Analysis`] only, as anyone's would be.

use std::collections::BTreeSet;

use wherefore_program::{EdgeRef, LocationKind, Node, Operation, Program, Var};

use crate::analysis::{Analysis, Flow, Step};

fn union<T: Ord + Clone>(into: &mut BTreeSet<T>, other: &BTreeSet<T>) -> bool {
    let before = into.len();
    into.extend(other.iter().cloned());
    into.len() > before
}

fn is_global(variable: &Var) -> bool {
    matches!(variable, Var::Global(_))
}

/// The globals of one set and the locals of another.
fn merged(locals: &BTreeSet<Var>, globals: &BTreeSet<Var>) -> BTreeSet<Var> {
    let locals = locals.iter().filter(|variable| !is_global(variable));
    locals.chain(globals.iter().filter(|variable| is_global(variable))).copied().collect()
}

/// Which steps may have written the value that a variable has now.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reaching;

impl Analysis for Reaching {
    type Fact = BTreeSet<(Var, EdgeRef)>;

    fn start(&self, _: &Program) -> Self::Fact {
        BTreeSet::new()
    }

    fn join(&self, into: &mut Self::Fact, fact: &Self::Fact) -> bool {
        union(into, fact)
    }

    fn edge(&self, step: &Step<'_>, fact: &Self::Fact) -> Self::Fact {
        let gone = step.overwrites();
        let kept = fact.iter().filter(|(variable, _)| !gone.contains(variable)).copied();
        kept.chain(step.targets().iter().map(|target| (target.variable, step.edge))).collect()
    }

    fn call(&self, step: &Step<'_>, fact: &Self::Fact) -> Self::Fact {
        let Operation::Call(call) = step.operation else { return fact.clone() };
        let globals = fact.iter().filter(|(variable, _)| is_global(variable)).copied();
        let parameters = (0..call.arguments.len() as u32).map(|i| (Var::Local(i), step.edge));
        globals.chain(parameters).collect()
    }

    fn back(&self, step: &Step<'_>, caller: &Self::Fact, callee: &Self::Fact) -> Self::Fact {
        let locals = caller.iter().filter(|(variable, _)| !is_global(variable));
        let both = locals.chain(callee.iter().filter(|(variable, _)| is_global(variable)));
        self.edge(step, &both.copied().collect())
    }
}

/// Which variables may be read before they are written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Live;

impl Analysis for Live {
    type Fact = BTreeSet<Var>;

    fn flow(&self) -> Flow {
        Flow::Backward
    }

    fn start(&self, _: &Program) -> Self::Fact {
        BTreeSet::new()
    }

    fn join(&self, into: &mut Self::Fact, fact: &Self::Fact) -> bool {
        union(into, fact)
    }

    fn edge(&self, step: &Step<'_>, fact: &Self::Fact) -> Self::Fact {
        let gone = step.overwrites();
        let kept = fact.iter().filter(|variable| !gone.contains(variable)).copied();
        kept.chain(step.reads()).collect()
    }

    fn call(&self, step: &Step<'_>, fact: &Self::Fact) -> Self::Fact {
        let gone = step.overwrites();
        fact.iter().filter(|variable| is_global(variable) && !gone.contains(variable)).copied().collect()
    }

    fn back(&self, step: &Step<'_>, caller: &Self::Fact, callee: &Self::Fact) -> Self::Fact {
        let gone = step.overwrites();
        let kept: BTreeSet<Var> =
            caller.iter().filter(|variable| !gone.contains(variable)).copied().collect();
        merged(&kept, callee).into_iter().chain(step.reads()).collect()
    }
}

/// Which variables may still have the value of a declaration without one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uninitialised;

impl Uninitialised {
    /// The variables of a procedure that start without a value. Its parameters have one.
    fn fresh(program: &Program, procedure: wherefore_program::ProcedureId) -> impl Iterator<Item = Var> {
        let body = program.procedure(procedure);
        let locals = body.variables.iter().enumerate().skip(body.parameters);
        locals.filter(|(_, variable)| variable.initial.is_none()).map(|(i, _)| Var::Local(i as u32))
    }

    /// A value of the environment is one; that of a declaration is not.
    fn leaves_open(step: &Step<'_>) -> bool {
        let node = Node { procedure: step.edge.procedure, location: step.program.edge(step.edge).from };
        matches!(step.operation, Operation::Havoc(_))
            && step.program.location(node).kind == LocationKind::Statement
    }
}

impl Analysis for Uninitialised {
    type Fact = BTreeSet<Var>;

    fn start(&self, program: &Program) -> Self::Fact {
        Self::fresh(program, program.entry).collect()
    }

    fn join(&self, into: &mut Self::Fact, fact: &Self::Fact) -> bool {
        union(into, fact)
    }

    fn edge(&self, step: &Step<'_>, fact: &Self::Fact) -> Self::Fact {
        let written = step.overwrites();
        if Self::leaves_open(step) {
            return fact.iter().chain(&written).copied().collect();
        }
        fact.iter().filter(|variable| !written.contains(variable)).copied().collect()
    }

    fn call(&self, step: &Step<'_>, fact: &Self::Fact) -> Self::Fact {
        let Operation::Call(call) = step.operation else { return fact.clone() };
        let globals = fact.iter().filter(|variable| is_global(variable)).copied();
        globals.chain(Self::fresh(step.program, call.callee)).collect()
    }

    fn back(&self, step: &Step<'_>, caller: &Self::Fact, callee: &Self::Fact) -> Self::Fact {
        let written = step.overwrites();
        merged(caller, callee).into_iter().filter(|variable| !written.contains(variable)).collect()
    }
}
