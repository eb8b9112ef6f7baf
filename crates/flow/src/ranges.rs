//! The ranges of all variables at all locations of a program.
//!
//! Cousot and Cousot, *Abstract interpretation: a unified lattice model for static analysis of
//! programs by construction or approximation of fixpoints* (1977): states are joined where control
//! meets, widened at loop heads to constants of the program, and narrowed by two more passes. Calls
//! of a procedure share one state at its entry and one at its exit; globals that it does not write
//! keep what the caller knows. The cells of an array, or of memory, have one range. For addresses
//! the set of values is kept as well, while it is small.
//!
//! The result is checked before it is handed out: a last pass makes sure that every edge leads from
//! the state of its source into that of its target.

use std::collections::BTreeSet;

use wherefore_program::{
    Argument, Assignment, Call, EdgeRef, Expr, ExprKind, Graph, LocationId, ModRef, Node, Operation,
    ProcedureId, Program, Scalar, Target, Type, Var, Variable,
};

use crate::expression::{Joined, Known, Narrow, assume, range_of};
use crate::few::{Few, few_values};
use crate::range::{Range, Thresholds};
use crate::shared::Shared;

/// States are widened after they have grown so many times.
const PATIENCE: u32 = 4;
/// More states than this, counted in variables, are not computed.
const MOST_CELLS: usize = 1 << 25;
/// No more steps than so many for each location: then nothing is known.
const MOST_STEPS: usize = 400;

/// What is known about one variable, or about all cells of one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fact {
    range: Range,
    /// Its values, if they are few. They are kept for addresses only.
    few: Option<Few>,
}

/// The width of addresses.
const ADDRESS: u32 = 64;

impl Fact {
    /// A value in a range; small ranges of addresses are sets.
    fn of_range(range: Range) -> Self {
        let few = if range.width() == ADDRESS { Few::of_range(range) } else { None };
        Self { range, few }
    }

    /// The values of an expression.
    fn of(expr: &Expr, known: &impl Known) -> Self {
        let range = range_of(expr, known);
        match few_values(expr, known).filter(|_| range.width() == ADDRESS) {
            Some(few) => Self { range: few.range(expr.ty).meet(range).unwrap_or(range), few: Some(few) },
            None => Self { range, few: None },
        }
    }

    fn join(&mut self, other: &Self) {
        self.range = self.range.join(other.range);
        self.few = self.few.as_ref().zip(other.few.as_ref()).and_then(|(a, b)| a.join(b));
    }

    /// Grows so that growing ends: a set has at most so many numbers, bounds stop at thresholds.
    fn widen(&mut self, next: &Self, thresholds: &Thresholds) {
        let few = self.few.as_ref().zip(next.few.as_ref()).and_then(|(a, b)| a.join(b));
        self.range = match few {
            Some(_) => self.range.join(next.range),
            None => self.range.widen(next.range, thresholds),
        };
        self.few = few;
    }

    fn includes(&self, other: &Self) -> bool {
        let few = match (&self.few, &other.few) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(wide), Some(narrow)) => wide.includes(narrow),
        };
        few && self.range.join(other.range) == self.range
    }

    /// The part in a range; false if there is none.
    fn narrow(&mut self, range: Range) -> bool {
        let Some(both) = self.range.meet(range) else { return false };
        self.range = both;
        if let Some(few) = &self.few {
            let Some(few) = few.within(both) else { return false };
            self.range = few.range(Scalar::Bits(ADDRESS)).meet(both).unwrap_or(both);
            self.few = Some(few);
        }
        true
    }
}

/// The ranges of all variables at one location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Values {
    globals: Shared<Fact>,
    locals: Shared<Fact>,
}

impl Values {
    fn fact(&self, variable: Var) -> Option<&Fact> {
        match variable {
            Var::Global(i) => self.globals.get(i as usize),
            Var::Local(i) => self.locals.get(i as usize),
        }
    }

    fn fact_mut(&mut self, variable: Var) -> &mut Fact {
        match variable {
            Var::Global(i) => self.globals.get_mut(i as usize),
            Var::Local(i) => self.locals.get_mut(i as usize),
        }
    }

    fn set(&mut self, variable: Var, fact: Fact) {
        match variable {
            Var::Global(i) => self.globals.set(i as usize, fact),
            Var::Local(i) => self.locals.set(i as usize, fact),
        }
    }

    /// Whether everything in the other one is in this one.
    fn includes(&self, other: &Values) -> bool {
        self.globals.all(&other.globals, &Fact::includes) && self.locals.all(&other.locals, &Fact::includes)
    }

    /// Changes what does not include the other one.
    fn include(&mut self, other: &Values, mut change: impl FnMut(&mut Fact, &Fact)) {
        self.globals.include(&other.globals, &Fact::includes, &mut change);
        self.locals.include(&other.locals, &Fact::includes, &mut change);
    }

    /// Whether a condition can only hold here.
    pub fn implies(&self, condition: &Expr) -> bool {
        !assume(condition, false, &mut self.clone())
    }
}

impl Known for Values {
    fn of(&self, variable: Var) -> Option<Range> {
        self.fact(variable).map(|fact| fact.range)
    }

    fn few(&self, variable: Var) -> Option<&Few> {
        self.fact(variable)?.few.as_ref()
    }
}

impl Narrow for Values {
    fn narrow(&mut self, variable: Var, range: Range) -> bool {
        let Some(mut fact) = self.fact(variable).cloned() else { return true };
        let is_any = fact.narrow(range);
        self.set(variable, fact);
        is_any
    }
}

impl Joined for Values {
    fn join(&mut self, other: &Self) {
        self.include(other, Fact::join);
    }
}

/// What a procedure leaves behind.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Exit {
    globals: Shared<Fact>,
    results: Shared<Fact>,
}

impl Exit {
    fn includes(&self, other: &Self) -> bool {
        self.globals.all(&other.globals, &Fact::includes) && self.results.all(&other.results, &Fact::includes)
    }

    /// Changes what does not include the other one.
    fn include(&mut self, other: &Self, mut change: impl FnMut(&mut Fact, &Fact)) {
        self.globals.include(&other.globals, &Fact::includes, &mut change);
        self.results.include(&other.results, &Fact::includes, &mut change);
    }
}

/// The ranges of all variables at all locations.
#[derive(Clone, Debug)]
pub struct Ranges {
    states: Vec<Vec<Option<Values>>>,
}

impl Ranges {
    /// The ranges of a program; none if it has threads, is too large, or takes too long.
    pub fn new(program: &Program) -> Option<Self> {
        if program.uses_threads().is_some() {
            return None;
        }
        let cells = |id: &usize| {
            let procedure = &program.procedures[*id];
            procedure.locations.len() * (program.globals.len() + procedure.variables.len())
        };
        if (0..program.procedures.len()).map(|id| cells(&id)).sum::<usize>() > MOST_CELLS {
            return None;
        }
        let mut analysis = Analysis::new(program);
        analysis.ascend()?;
        let wide = analysis.solution.clone();
        for _ in 0..2 {
            analysis.descend();
        }
        if !analysis.is_closed() {
            analysis.solution = wide;
            if !analysis.is_closed() {
                return None;
            }
        }
        Some(Self { states: analysis.solution.states })
    }

    /// What is known where a location is reached; none if no run comes there.
    pub fn at(&self, node: Node) -> Option<&Values> {
        self.states[node.procedure.0 as usize][node.location.0 as usize].as_ref()
    }
}

#[derive(Clone)]
struct Solution {
    states: Vec<Vec<Option<Values>>>,
    exits: Vec<Option<Exit>>,
}

struct Analysis<'a> {
    program: &'a Program,
    effects: ModRef,
    thresholds: Thresholds,
    solution: Solution,
    /// How often the state of a location has grown.
    grown: Vec<Vec<u32>>,
    exits_grown: Vec<u32>,
    /// The position of each location in reverse postorder of its procedure.
    order: Vec<Vec<u32>>,
    /// Locations that an edge leads back to.
    heads: Vec<Vec<bool>>,
    /// The calls of each procedure.
    callers: Vec<Vec<EdgeRef>>,
    work: BTreeSet<(u32, u32, u32)>,
    steps: usize,
}

/// Where the outcome of an edge goes.
enum Flow {
    To(LocationId, Values),
    Exit(Exit),
    Enter(ProcedureId, Values),
}

fn any_value(variable: &Variable) -> Fact {
    let full = Range::full(variable.ty.element());
    Fact::of_range(Range::unsigned(0, variable.max(), variable.ty.element()).unwrap_or(full))
}

fn first_value(variable: &Variable) -> Fact {
    match variable.initial {
        Some(value) => Fact::of_range(Range::constant(value, variable.ty.element())),
        None => any_value(variable),
    }
}

pub(crate) fn constants_of(program: &Program) -> Vec<(u64, u32)> {
    let mut found = Vec::new();
    let mut visit = |expr: &Expr| {
        expr.walk(&mut |part| {
            if let ExprKind::Constant(value) = part.kind {
                found.push((value, part.ty.width()));
            }
        });
    };
    for edge in program.procedures.iter().flat_map(|procedure| &procedure.edges) {
        match &edge.operation {
            Operation::Assume(condition) => visit(condition),
            Operation::Assign(assignment) => assignment.values.iter().for_each(&mut visit),
            Operation::Call(call) => {
                for argument in &call.arguments {
                    if let Argument::Value(value) = argument {
                        visit(value);
                    }
                }
            }
            Operation::Return(values) => values.iter().for_each(&mut visit),
            _ => {}
        }
    }
    let lengths = program.procedures.iter().flat_map(|procedure| &procedure.variables);
    for variable in lengths.chain(&program.globals) {
        found.extend(variable.ty.dimensions().iter().map(|dimension| (dimension.length, 64)));
    }
    found
}

impl<'a> Analysis<'a> {
    fn new(program: &'a Program) -> Self {
        let procedures = &program.procedures;
        let empty = |count: usize| vec![None; count];
        let mut order = Vec::new();
        let mut heads = Vec::new();
        let mut callers: Vec<Vec<EdgeRef>> = vec![Vec::new(); procedures.len()];
        for (i, procedure) in procedures.iter().enumerate() {
            let count = procedure.locations.len();
            let edges = procedure.edges.iter().map(|edge| (edge.from.0, edge.to.0));
            let graph = Graph::new(count, edges);
            let mut rank = vec![u32::MAX; count];
            for (at, node) in graph.reverse_postorder(procedure.entry.0).into_iter().enumerate() {
                rank[node as usize] = at as u32;
            }
            let mut back = vec![false; count];
            for (at, edge) in procedure.edges.iter().enumerate() {
                back[edge.to.0 as usize] |= rank[edge.to.0 as usize] <= rank[edge.from.0 as usize];
                if let Operation::Call(call) = &edge.operation {
                    let edge = wherefore_program::EdgeId(at as u32);
                    callers[call.callee.0 as usize].push(EdgeRef { procedure: ProcedureId(i as u32), edge });
                }
            }
            order.push(rank);
            heads.push(back);
        }
        Self {
            program,
            effects: ModRef::new(program),
            thresholds: Thresholds::new(constants_of(program)),
            solution: Solution {
                states: procedures.iter().map(|procedure| empty(procedure.locations.len())).collect(),
                exits: vec![None; procedures.len()],
            },
            grown: procedures.iter().map(|procedure| vec![0; procedure.locations.len()]).collect(),
            exits_grown: vec![0; procedures.len()],
            order,
            heads,
            callers,
            work: BTreeSet::new(),
            steps: 0,
        }
    }

    /// The state in which the program starts.
    fn start(&self) -> (ProcedureId, Values) {
        let globals = self.program.globals.iter().map(first_value).collect();
        let variables = &self.program.procedure(self.program.entry).variables;
        let locals = variables.iter().enumerate().map(|(i, variable)| {
            match i < self.program.procedure(self.program.entry).parameters {
                true => any_value(variable),
                false => first_value(variable),
            }
        });
        (self.program.entry, Values { globals, locals: locals.collect() })
    }

    fn push(&mut self, procedure: ProcedureId, location: LocationId) {
        let rank = self.order[procedure.0 as usize][location.0 as usize];
        self.work.insert((rank, procedure.0, location.0));
    }

    /// Joins and widens until nothing grows.
    fn ascend(&mut self) -> Option<()> {
        let (entry, first) = self.start();
        self.enter(entry, first);
        let nodes: usize = self.order.iter().map(Vec::len).sum();
        while let Some((_, procedure, location)) = self.work.pop_first() {
            self.steps += 1;
            if self.steps > MOST_STEPS * nodes.max(16) {
                return None;
            }
            let node = Node { procedure: ProcedureId(procedure), location: LocationId(location) };
            for flow in self.flows(node) {
                match flow {
                    Flow::To(to, values) => self.arrive(node.procedure, to, values),
                    Flow::Enter(callee, values) => self.enter(callee, values),
                    Flow::Exit(exit) => self.leave(node.procedure, exit),
                }
            }
        }
        Some(())
    }

    fn enter(&mut self, procedure: ProcedureId, values: Values) {
        self.heads[procedure.0 as usize][self.program.procedure(procedure).entry.0 as usize] = true;
        self.arrive(procedure, self.program.procedure(procedure).entry, values);
    }

    fn arrive(&mut self, procedure: ProcedureId, to: LocationId, values: Values) {
        let (p, l) = (procedure.0 as usize, to.0 as usize);
        match &mut self.solution.states[p][l] {
            None => self.solution.states[p][l] = Some(values),
            Some(known) if known.includes(&values) => return,
            Some(known) => {
                self.grown[p][l] += 1;
                let patience = if self.heads[p][l] { PATIENCE } else { 16 * PATIENCE };
                if self.grown[p][l] > patience {
                    known.include(&values, |fact, next| fact.widen(next, &self.thresholds));
                } else {
                    known.join(&values);
                }
            }
        }
        self.push(procedure, to);
    }

    fn leave(&mut self, procedure: ProcedureId, exit: Exit) {
        let p = procedure.0 as usize;
        match &mut self.solution.exits[p] {
            known @ None => *known = Some(exit),
            Some(known) => {
                if known.includes(&exit) {
                    return;
                }
                if self.exits_grown[p] > PATIENCE {
                    known.include(&exit, |fact, next| fact.widen(next, &self.thresholds));
                } else {
                    known.include(&exit, Fact::join);
                }
                self.exits_grown[p] += 1;
            }
        }
        for edge in self.callers[p].clone() {
            let from = self.program.edge(edge).from;
            if self.solution.states[edge.procedure.0 as usize][from.0 as usize].is_some() {
                self.push(edge.procedure, from);
            }
        }
    }

    /// Computes all states afresh from the present ones, which may be too wide.
    fn descend(&mut self) {
        let (entry, first) = self.start();
        let empty = |states: &Vec<Option<Values>>| vec![None; states.len()];
        let mut next = Solution {
            states: self.solution.states.iter().map(empty).collect(),
            exits: vec![None; self.solution.exits.len()],
        };
        let put = |states: &mut Vec<Vec<Option<Values>>>, p: ProcedureId, to: LocationId, values: Values| {
            let slot = &mut states[p.0 as usize][to.0 as usize];
            match slot {
                Some(known) => known.join(&values),
                None => *slot = Some(values),
            }
        };
        put(&mut next.states, entry, self.program.procedure(entry).entry, first);
        for node in self.program.nodes().collect::<Vec<_>>() {
            for flow in self.flows(node) {
                match flow {
                    Flow::To(to, values) => put(&mut next.states, node.procedure, to, values),
                    Flow::Enter(callee, values) => {
                        put(&mut next.states, callee, self.program.procedure(callee).entry, values);
                    }
                    Flow::Exit(exit) => match &mut next.exits[node.procedure.0 as usize] {
                        known @ None => *known = Some(exit),
                        Some(known) => known.include(&exit, Fact::join),
                    },
                }
            }
        }
        self.solution = next;
    }

    /// Whether every edge leads into the state of its target.
    fn is_closed(&self) -> bool {
        let holds = |p: ProcedureId, to: LocationId, values: &Values| {
            let state = &self.solution.states[p.0 as usize][to.0 as usize];
            state.as_ref().is_some_and(|state| state.includes(values))
        };
        let (entry, first) = self.start();
        holds(entry, self.program.procedure(entry).entry, &first)
            && self.program.nodes().all(|node| {
                self.flows(node).iter().all(|flow| match flow {
                    Flow::To(to, values) => holds(node.procedure, *to, values),
                    Flow::Enter(callee, values) => {
                        holds(*callee, self.program.procedure(*callee).entry, values)
                    }
                    Flow::Exit(exit) => match &self.solution.exits[node.procedure.0 as usize] {
                        None => false,
                        Some(known) => known.includes(exit),
                    },
                })
            })
    }

    /// Where the edges of a location lead, with the states there.
    fn flows(&self, node: Node) -> Vec<Flow> {
        let Some(before) = &self.solution.states[node.procedure.0 as usize][node.location.0 as usize] else {
            return Vec::new();
        };
        let procedure = self.program.procedure(node.procedure);
        let mut flows = Vec::new();
        for (_, edge) in procedure.edges_from(node.location) {
            let mut values = before.clone();
            match &edge.operation {
                Operation::Skip | Operation::AtomicBegin | Operation::AtomicEnd | Operation::Sync => {}
                Operation::Assume(condition) => {
                    if !assume(condition, true, &mut values) {
                        continue;
                    }
                }
                Operation::Assign(assignment) => self.assign(node.procedure, assignment, &mut values),
                Operation::Havoc(targets) => {
                    for target in targets {
                        let fact = any_value(self.program.variable(node.procedure, target.variable));
                        put(self.program, node.procedure, target, fact, &mut values);
                    }
                }
                Operation::Return(results) => {
                    let results = results.iter().map(|result| Fact::of(result, before)).collect();
                    flows.push(Flow::Exit(Exit { globals: before.globals.clone(), results }));
                    continue;
                }
                Operation::Call(call) => {
                    self.assign(node.procedure, &call.assignment, &mut values);
                    flows.push(Flow::Enter(call.callee, self.entered(call, before, &values)));
                    let Some(exit) = &self.solution.exits[call.callee.0 as usize] else { continue };
                    for written in &self.effects.effects(call.callee).writes {
                        if let Some(fact) = exit.globals.get(*written as usize) {
                            values.set(Var::Global(*written), fact.clone());
                        }
                    }
                    for (at, target) in call.results.iter().enumerate() {
                        let (Some(target), Some(fact)) = (target, exit.results.get(at)) else { continue };
                        let ty = self.program.variable(node.procedure, target.variable).ty.element();
                        let fact = match ty.width() == fact.range.width() {
                            true => fact.clone(),
                            false => Fact::of_range(fact.range.fitted(ty)),
                        };
                        put(self.program, node.procedure, target, fact, &mut values);
                    }
                }
                // Programs with threads are not analysed.
                Operation::StartThread(_) | Operation::EndThread => continue,
            }
            flows.push(Flow::To(edge.to, values));
        }
        flows
    }

    fn assign(&self, procedure: ProcedureId, assignment: &Assignment, values: &mut Values) {
        let facts: Vec<Fact> = assignment.values.iter().map(|value| Fact::of(value, values)).collect();
        for (target, fact) in assignment.targets.iter().zip(facts) {
            put(self.program, procedure, target, fact, values);
        }
    }

    /// The state in which a callee starts. `before` is the state before the call, `after` that with
    /// its assignment done.
    fn entered(&self, call: &Call, before: &Values, after: &Values) -> Values {
        let callee = self.program.procedure(call.callee);
        let locals = callee.variables.iter().enumerate().map(|(i, variable)| {
            match call.arguments.get(i).filter(|_| i < callee.parameters) {
                None => first_value(variable),
                Some(Argument::Value(value)) => Fact::of(value, before),
                Some(Argument::Copy(from, when)) => {
                    let of = match when {
                        wherefore_program::When::Now => before.fact(*from),
                        wherefore_program::When::Next => after.fact(*from),
                    };
                    of.cloned().unwrap_or_else(|| any_value(variable))
                }
                Some(Argument::Arbitrary) => any_value(variable),
            }
        });
        Values { locals: locals.collect(), globals: after.globals.clone() }
    }
}

/// A target gets a value in a range: a variable has it then, a cell may.
fn put(program: &Program, procedure: ProcedureId, target: &Target, fact: Fact, values: &mut Values) {
    match program.variable(procedure, target.variable).ty {
        Type::Scalar(_) => values.set(target.variable, fact),
        Type::Array { .. } | Type::Memory { .. } => values.fact_mut(target.variable).join(&fact),
    }
}
