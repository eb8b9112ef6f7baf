//! Analyses of one's own: a lattice of facts and what steps do to them; calls are solved here.
//!
//! M. Sharir and A. Pnueli, *Two approaches to interprocedural data flow analysis* (1981), the
//! functional approach, tabulated; J. Knoop and B. Steffen, *The interprocedural coincidence
//! theorem* (CC 1992), for [`Analysis::back`], which sees the facts of the caller and of the
//! callee: locals of the caller survive a call. A procedure is analysed once for each fact with
//! which it is entered. If there are more than [`CONTEXTS`] of them, the others are joined: what is
//! found then still holds, and may be less.
//!
//! If `edge`, `call` and `back` distribute over joins, the result is the join over all valid paths;
//! if they are only monotone, it is a safe approximation of it. The guide `docs/analyses.md` builds
//! two analyses from nothing.

use std::collections::BTreeSet;

use wherefore_program::{
    Argument, Edge, EdgeId, EdgeRef, Expr, LocationId, Node, Operation, ProcedureId, Program, Target, Var,
};

/// For so many facts at its entry a procedure is analysed apart.
pub const CONTEXTS: usize = 16;

/// No more steps than so many for each location: a lattice of unbounded height does not end.
const MOST_STEPS: usize = 20_000;

/// Which way facts flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// With the runs: a fact says what happened before.
    Forward,
    /// Against the runs: a fact says what will happen.
    Backward,
}

/// A step of a procedure.
#[derive(Clone, Copy, Debug)]
pub struct Step<'p> {
    /// The program.
    pub program: &'p Program,
    /// The edge.
    pub edge: EdgeRef,
    /// What it does. If a call assigns something in the same step, that is a step of its own,
    /// before the callee starts.
    pub operation: &'p Operation,
}

impl Step<'_> {
    /// What the step writes; for a call, where its results go.
    pub fn targets(&self) -> Vec<&Target> {
        match self.operation {
            Operation::Assign(assignment) => assignment.targets.iter().collect(),
            Operation::Havoc(targets) => targets.iter().collect(),
            Operation::Call(call) => call.results.iter().flatten().collect(),
            _ => Vec::new(),
        }
    }

    /// The variables that the step overwrites as wholes.
    pub fn overwrites(&self) -> Vec<Var> {
        self.targets().iter().filter(|target| target.indices.is_empty()).map(|t| t.variable).collect()
    }

    /// The variables that the step reads: in values, conditions, arguments and indices.
    pub fn reads(&self) -> BTreeSet<Var> {
        let mut found = BTreeSet::new();
        if let Operation::Call(call) = self.operation {
            for argument in &call.arguments {
                if let Argument::Copy(variable, _) = argument {
                    found.insert(*variable);
                }
            }
        }
        let mut see = |expr: &Expr| expr.reads(&mut |variable, _| _ = found.insert(variable));
        for target in self.targets() {
            target.indices.iter().for_each(&mut see);
        }
        match self.operation {
            Operation::Assume(condition) => see(condition),
            Operation::Assign(assignment) => {
                assignment.values.iter().chain(&assignment.constraint).for_each(see);
            }
            Operation::Return(values) => values.iter().for_each(see),
            Operation::Call(call) => {
                for argument in &call.arguments {
                    if let Argument::Value(value) = argument {
                        see(value);
                    }
                }
            }
            _ => {}
        }
        found
    }

    /// The line of the source where the step starts.
    pub fn line(&self) -> u32 {
        self.program.position(self.program.edge(self.edge).span).line
    }
}

/// An analysis: facts, how they are joined, and what steps do to them.
pub trait Analysis {
    /// What is known at a point. Joins must not grow for ever.
    type Fact: Clone + PartialEq;

    /// Which way facts flow.
    fn flow(&self) -> Flow {
        Flow::Forward
    }

    /// The fact where the program starts; for backward analyses, where it ends.
    fn start(&self, program: &Program) -> Self::Fact;

    /// Replaces `into` by the join of both and says whether it changed.
    fn join(&self, into: &mut Self::Fact, fact: &Self::Fact) -> bool;

    /// The fact behind a step that is no call; for backward analyses, before it. Returns are steps,
    /// too: the fact behind them is that of the callee in [`back`](Self::back).
    fn edge(&self, step: &Step<'_>, fact: &Self::Fact) -> Self::Fact;

    /// The fact with which the callee of a call starts; for backward analyses, ends.
    fn call(&self, step: &Step<'_>, fact: &Self::Fact) -> Self::Fact;

    /// The fact behind a call, from that of the caller before it and that with which the callee
    /// returns; for backward analyses, before it, from that behind it and at the callee's start.
    fn back(&self, step: &Step<'_>, caller: &Self::Fact, callee: &Self::Fact) -> Self::Fact;
}

/// The facts of all locations.
#[derive(Clone, Debug)]
pub struct Tables<F> {
    tables: Vec<Table<F>>,
}

/// A procedure with the fact at its start.
#[derive(Clone, Debug)]
struct Table<F> {
    procedure: ProcedureId,
    first: F,
    facts: Vec<Option<F>>,
    /// What callers get.
    last: Option<F>,
    callers: BTreeSet<(usize, EdgeId)>,
}

/// The analysis takes too many steps: its lattice may be too high.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoEnd;

impl<F: Clone + PartialEq> Tables<F> {
    /// The fact at a location, over all contexts; none if no path comes there.
    pub fn at<A: Analysis<Fact = F>>(&self, analysis: &A, node: Node) -> Option<F> {
        let mut contexts = self.contexts(node).map(|(_, fact)| fact);
        let mut all = contexts.next()?.clone();
        contexts.for_each(|fact| _ = analysis.join(&mut all, fact));
        Some(all)
    }

    /// The facts at a location, each with the fact at the start of its procedure that it holds for.
    pub fn contexts(&self, node: Node) -> impl Iterator<Item = (&F, &F)> {
        let tables = self.tables.iter().filter(move |table| table.procedure == node.procedure);
        tables.filter_map(move |table| Some((&table.first, table.facts[node.location.0 as usize].as_ref()?)))
    }
}

/// Solves an analysis.
pub fn tabulate<A: Analysis>(program: &Program, analysis: &A) -> Result<Tables<A::Fact>, NoEnd> {
    let mut solver = Solver { program, analysis, tables: Vec::new(), work: BTreeSet::new() };
    solver.table(program.entry, analysis.start(program));
    let locations: usize = program.procedures.iter().map(|procedure| procedure.locations.len()).sum();
    let mut steps = 0;
    while let Some((table, location)) = solver.work.pop_first() {
        steps += 1;
        if steps > MOST_STEPS.saturating_mul(locations.max(16)) {
            return Err(NoEnd);
        }
        solver.visit(table, LocationId(location));
    }
    Ok(Tables { tables: solver.tables })
}

struct Solver<'a, A: Analysis> {
    program: &'a Program,
    analysis: &'a A,
    tables: Vec<Table<A::Fact>>,
    work: BTreeSet<(usize, u32)>,
}

impl<A: Analysis> Solver<'_, A> {
    fn is_forward(&self) -> bool {
        self.analysis.flow() == Flow::Forward
    }

    /// The table of a procedure that starts with a fact.
    fn table(&mut self, procedure: ProcedureId, first: A::Fact) -> usize {
        let body = self.program.procedure(procedure);
        let of_it = |table: &&Table<A::Fact>| table.procedure == procedure;
        let same = |table: &Table<A::Fact>| table.procedure == procedure && table.first == first;
        if let Some(at) = self.tables.iter().position(same) {
            return at;
        }
        let begin = if self.is_forward() { body.entry } else { body.exit };
        let at = if self.tables.iter().filter(of_it).count() >= CONTEXTS {
            let at = self.tables.iter().rposition(|table| table.procedure == procedure).unwrap_or(0);
            self.analysis.join(&mut self.tables[at].first, &first);
            at
        } else {
            let facts = vec![None; body.locations.len()];
            let table =
                Table { procedure, first: first.clone(), facts, last: None, callers: BTreeSet::new() };
            self.tables.push(table);
            self.tables.len() - 1
        };
        self.arrive(at, begin, first);
        // A run may stop anywhere, or never: what will happen is then no more than at its end.
        if !self.is_forward() {
            let end = self.analysis.start(self.program);
            for location in body.location_ids().filter(|location| *location != begin) {
                self.arrive(at, location, end.clone());
            }
        }
        at
    }

    fn arrive(&mut self, table: usize, location: LocationId, fact: A::Fact) {
        let slot = &mut self.tables[table].facts[location.0 as usize];
        let grew = match slot {
            Some(known) => self.analysis.join(known, &fact),
            None => {
                *slot = Some(fact);
                true
            }
        };
        if grew {
            self.work.insert((table, location.0));
            let is_first = location == self.program.procedure(self.tables[table].procedure).entry;
            if is_first && !self.is_forward() {
                let fact = self.tables[table].facts[location.0 as usize].clone();
                fact.into_iter().for_each(|fact| self.finish(table, fact));
            }
        }
    }

    /// The callee of a table has come to its other end.
    fn finish(&mut self, table: usize, fact: A::Fact) {
        let last = &mut self.tables[table].last;
        let grew = match last {
            Some(known) => self.analysis.join(known, &fact),
            None => {
                *last = Some(fact);
                true
            }
        };
        if grew {
            for (caller, edge) in self.tables[table].callers.clone() {
                let edge = self.program.procedure(self.tables[caller].procedure).edge(edge);
                let at = if self.is_forward() { edge.from } else { edge.to };
                self.work.insert((caller, at.0));
            }
        }
    }

    fn visit(&mut self, table: usize, location: LocationId) {
        let procedure = self.tables[table].procedure;
        let body = self.program.procedure(procedure);
        let Some(fact) = self.tables[table].facts[location.0 as usize].clone() else { return };
        let is_forward = self.is_forward();
        let here = |edge: &Edge| if is_forward { edge.from == location } else { edge.to == location };
        let edges: Vec<(EdgeId, &Edge)> = body.edges().filter(|(_, edge)| here(edge)).collect();
        for (id, edge) in edges {
            let step = Step {
                program: self.program,
                edge: EdgeRef { procedure, edge: id },
                operation: &edge.operation,
            };
            let next = if is_forward { edge.to } else { edge.from };
            match &edge.operation {
                Operation::Call(call) => {
                    let own = Operation::Assign(call.assignment.clone());
                    let own = Step { operation: &own, ..step };
                    let assigns = !call.assignment.targets.is_empty();
                    let apply = |fact: A::Fact| match assigns {
                        true => self.analysis.edge(&own, &fact),
                        false => fact,
                    };
                    let caller = if is_forward { apply(fact.clone()) } else { fact.clone() };
                    let first = self.analysis.call(&step, &caller);
                    let callee = self.table(call.callee, first);
                    self.tables[callee].callers.insert((table, id));
                    if let Some(last) = self.tables[callee].last.clone() {
                        let behind = self.analysis.back(&step, &caller, &last);
                        let behind = match (is_forward, assigns) {
                            (false, true) => self.analysis.edge(&own, &behind),
                            _ => behind,
                        };
                        self.arrive(table, next, behind);
                    }
                }
                Operation::Return(_) if is_forward => {
                    let fact = self.analysis.edge(&step, &fact);
                    self.finish(table, fact);
                }
                _ => {
                    let fact = self.analysis.edge(&step, &fact);
                    self.arrive(table, next, fact);
                }
            }
        }
    }
}
