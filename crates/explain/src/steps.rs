//! A failing run as steps of the source, with values.

use std::collections::{BTreeMap, BTreeSet};

use wherefore_program::{
    Interpreter, LocationKind, Operation, ProcedureId, Program, State, Trace, Var, Variable,
};

use crate::free_choices::is_temporary;
use crate::model::Step;
use crate::words::{extent, one_line};

/// Arrays with more cells than this are not shown.
const MOST_CELLS: usize = 8;

/// The steps of a run, and for each which positions of the run it stands for.
pub struct Steps {
    /// The steps, the failing one last.
    pub steps: Vec<Step>,
    /// For each, the positions of its states: the state before edge `i` has position `i`.
    pub positions: Vec<Vec<usize>>,
}

/// Whether one statement of the source is several steps of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grain {
    /// Each state is a step.
    Fine,
    /// As in C: states of one statement are one; what comes before `main`, and ends of procedures
    /// that are no statements, are left out.
    Statements,
}

impl Steps {
    /// Reads a run.
    pub fn of(program: &Program, trace: &Trace, grain: Grain) -> Self {
        let interpreter = Interpreter::new(program);
        let mut shown = Self { steps: Vec::new(), positions: Vec::new() };
        for (at, state) in trace.states().enumerate() {
            let Some(node) = state.node() else { continue };
            let location = program.location(node);
            let depth = state.stack.len();
            let is_before_main = grain == Grain::Statements && depth == 1;
            let is_end = grain == Grain::Statements && location.kind == LocationKind::End;
            // That a rule is kept is no step of the source.
            let keeps_rule = trace.steps.get(at).is_some_and(|step| program.keeps_rule(step.edge));
            let is_no_statement = matches!(location.kind, LocationKind::Enforce | LocationKind::Model);
            if is_before_main || is_end || keeps_rule || is_no_statement {
                continue;
            }
            let extent = extent(program, location.span);
            // A failed check is where the check is: the state before shows it.
            let shown_already = shown
                .steps
                .last()
                .is_some_and(|last| grain == Grain::Fine || last.extent.line() == extent.line());
            if location.kind == LocationKind::Error && shown_already {
                continue;
            }
            let step = Step {
                extent,
                text: one_line(program, location.span),
                procedure: program.procedure(node.procedure).name.clone(),
                depth: depth - usize::from(grain == Grain::Statements),
                values: values(program, &interpreter, node.procedure, state),
                holds: holds(program, trace, at),
            };
            shown.add(at, step, grain);
        }
        shown
    }

    fn add(&mut self, at: usize, step: Step, grain: Grain) {
        if let (Grain::Statements, Some(last), Some(positions)) =
            (grain, self.steps.last_mut(), self.positions.last_mut())
        {
            let place = |step: &Step| (step.extent, step.depth, step.procedure.clone());
            if place(last) == place(&step) {
                // The values before the statement stay, but a condition shows what was just read.
                if step.holds.is_some() {
                    last.values = step.values;
                }
                last.holds = step.holds.or(last.holds);
                positions.push(at);
                return;
            }
        }
        self.steps.push(step);
        self.positions.push(vec![at]);
    }

    /// Which steps stand for some of these positions, ascending.
    pub fn at(&self, positions: &BTreeSet<usize>) -> Vec<usize> {
        let found = |of: &&Vec<usize>| of.iter().any(|at| positions.contains(at));
        let numbered = self.positions.iter().enumerate();
        numbered.filter(|(_, of)| found(of)).map(|(i, _)| i).collect()
    }
}

/// For a state at a condition, whether it holds: whether the run goes on by its first edge.
fn holds(program: &Program, trace: &Trace, at: usize) -> Option<bool> {
    let edge = trace.steps.get(at)?.edge;
    let procedure = program.procedure(edge.procedure);
    let from = procedure.edge(edge.edge).from;
    let mut edges = procedure.edges_from(from);
    let first = edges.next()?.0 == edge.edge;
    let is_condition = matches!(procedure.edge(edge.edge).operation, Operation::Assume(_) | Operation::Skip);
    let kind = procedure.location(from).kind;
    let branches = matches!(kind, LocationKind::Branch | LocationKind::Assert);
    (is_condition && branches && edges.next().is_some()).then_some(first)
}

fn values(
    program: &Program,
    interpreter: &Interpreter<'_>,
    procedure: ProcedureId,
    state: &State,
) -> BTreeMap<String, String> {
    let body = program.procedure(procedure);
    let locals = body.variables.iter().zip((0..).map(Var::Local));
    // Arrays that are too large, and what is not in the source.
    let hidden = |(variable, var): &(&Variable, Var)| {
        let is_ours = || {
            let name = variable.name.split(['.', '@', ':']).next().unwrap_or_default();
            let declared = program.source(variable.span).slice(variable.span);
            matches!(var, Var::Global(_)) && variable.name != "errno" && !declared.contains(name)
        };
        variable.ty.cell_count() > MOST_CELLS || is_temporary(program, body, *var) || is_ours()
    };
    let globals = program.globals.iter().zip((0..).map(Var::Global));
    let large: BTreeSet<&str> =
        globals.chain(locals).filter(hidden).map(|(variable, _)| variable.name.as_str()).collect();
    let small = |(name, _): &(String, String)| !large.contains(name.split('[').next().unwrap_or(name));
    let mut shown: BTreeMap<String, String> = interpreter.show(state).into_iter().filter(small).collect();
    shown.extend(in_memory(program, &body.name, state));
    shown
}

/// The cells of memory that were written, of objects of the file and of the running function.
fn in_memory<'a>(
    program: &'a Program,
    function: &'a str,
    state: &'a State,
) -> impl Iterator<Item = (String, String)> + 'a {
    let shown = move |((memory, address), value): (&(u32, u64), &u64)| {
        let width = program.globals.get(*memory as usize)?.ty.element().width();
        let cell = program.named_cell(*address, width)?;
        let is_seen = cell.object.function.as_ref().is_none_or(|owner| owner == function);
        let is_small = cell.alike <= MOST_CELLS as u64;
        (is_seen && is_small).then(|| (cell.name, program.show_read(*value, width, cell.reading)))
    };
    state.memory.iter().filter_map(shown)
}
