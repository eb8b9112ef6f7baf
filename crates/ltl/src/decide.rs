//! Whether a formula holds on all runs of a program.
//!
//! [Kie05] §8.2: the product of the program and a Büchi automaton for the negation of the formula
//! has a run that accepts, or the formula holds. For data that suit decision diagrams the product is
//! searched as it is. For others its abstraction is, in which variables with few values are followed
//! and all else is left open: what holds there holds in the program, and a lasso counts if the
//! program has one along the same edges.

use std::fmt;

use wherefore_check::exact::{CheckOptions, Checker, Search};
use wherefore_check::{Budget, CheckError, Decision, Head, Repetition, repetition, small_values};
use wherefore_program::{
    Assignment, BinaryOp, Edge, EdgeRef, ErrorKind, ErrorSite, Expr, LocationId, LocationKind, Node,
    Operation, ProcedureId, Program, State, Step, Target, Trace, Var, When,
};
use wherefore_pushdown::StopReason;

use crate::buchi::Buchi;
use crate::formula::Formula;
use crate::lasso::{Lasso, original_run};
use crate::product::{Derived, Subject};
use crate::states::{decide_by_states, looks_at_inputs};

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The formula holds on all runs.
    Holds,
    /// It does not hold on this run, which was replayed.
    Fails(Box<Lasso>),
    /// It is not known.
    Unknown(Reason),
}

/// Why it is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A limit was met.
    Limit(StopReason),
    /// The automaton of the formula would be too large.
    Formula,
    /// The program is not taken.
    Program(CheckError),
    /// A run of the abstraction violates the formula, and none of the program was found along its
    /// edges.
    Abstract,
    /// The program has too many states, or takes inputs that are not only compared with constants.
    ManyStates,
    /// A run may come to a place that is not modelled.
    NotModelled(Node),
    /// A run was found and could not be confirmed, for this reason.
    Unconfirmed(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Limit(stop) => f.write_str(stop.why()),
            Reason::Formula => f.write_str("the automaton of the formula is too large"),
            Reason::Program(_) => f.write_str("the program does not suit decision diagrams"),
            Reason::Abstract => f.write_str(
                "variables with many values were left open: a run that violates the formula may exist or not",
            ),
            Reason::ManyStates => f.write_str("the program has too many states"),
            Reason::NotModelled(_) => f.write_str("a run may come to a place that is not modelled"),
            Reason::Unconfirmed(why) => {
                write!(f, "a run that violates the formula was found and could not be confirmed: {why}")
            }
        }
    }
}

/// How a program was searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// With all of its data.
    Exact,
    /// With the variables that take few values.
    Abstract,
    /// With all values, one by one.
    States,
}

/// The answer, and how it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// The answer.
    pub verdict: Verdict,
    /// How the program was searched; none if it was not.
    pub way: Option<Way>,
    /// How many states the automaton of the negation has.
    pub states: usize,
}

/// Decides whether `formula` holds on all runs of a program.
pub fn decide(subject: &Subject<'_>, formula: &Formula, budget: &Budget) -> Decided {
    if subject.program.has_small_data() {
        return decide_in(subject, formula, Way::Exact, budget);
    }
    // Each of the two knows programs that the other one does not.
    let first = decide_in(subject, formula, Way::Abstract, &budget.share(2));
    if let Verdict::Unknown(Reason::Formula) | Verdict::Holds | Verdict::Fails(_) = first.verdict {
        return first;
    }
    let second = decide_in(subject, formula, Way::States, budget);
    match second.verdict {
        Verdict::Unknown(Reason::ManyStates) => first,
        _ => second,
    }
}

/// The same in a way of one's choice.
pub fn decide_in(subject: &Subject<'_>, formula: &Formula, way: Way, budget: &Budget) -> Decided {
    let Ok(automaton) = Buchi::new(&formula.clone().not()) else {
        return Decided { verdict: Verdict::Unknown(Reason::Formula), way: None, states: 0 };
    };
    if way == Way::States {
        let taken = !looks_at_inputs(subject);
        let verdict = taken.then(|| decide_by_states(subject, formula, budget)).flatten();
        let verdict = verdict.unwrap_or(Verdict::Unknown(Reason::ManyStates));
        return Decided { verdict, way: Some(way), states: automaton.state_count() };
    }
    let mut derived = Derived::product(subject, &automaton);
    if way == Way::Abstract {
        derived.program = small_values::abstracted(&derived.program);
    }
    let question = Question { subject, formula, derived, way, budget };
    let verdict = question.decide().unwrap_or_else(Verdict::Unknown);
    Decided { verdict, way: Some(way), states: automaton.state_count() }
}

struct Question<'a> {
    subject: &'a Subject<'a>,
    formula: &'a Formula,
    derived: Derived,
    way: Way,
    budget: &'a Budget,
}

impl Question<'_> {
    fn decide(&self) -> Result<Verdict, Reason> {
        let derived = &self.derived;
        // Nothing accepts if nobody marks: an abstraction leaves the mark out then.
        let Some(mark) = derived.mark() else { return self.holds() };
        let is_wanted = |node| derived.original(node).is_some();
        let found = repetition(&derived.program, mark, is_wanted, self.budget).map_err(Reason::Program)?;
        let head = match found {
            Repetition::Never => return self.holds(),
            Repetition::Unknown(stop) => return Err(Reason::Limit(stop)),
            Repetition::At(head) => head,
        };
        let lasso = self.lasso(&head, mark)?;
        let confirmed = lasso.confirm(self.subject, self.formula);
        // A run along the edges of an abstract one need not have its values.
        confirmed.map_err(|why| {
            if self.way == Way::Abstract { Reason::Abstract } else { Reason::Unconfirmed(why) }
        })?;
        Ok(Verdict::Fails(Box::new(lasso)))
    }

    /// The formula holds unless runs come to places that are not modelled.
    fn holds(&self) -> Result<Verdict, Reason> {
        let program = self.subject.program;
        let open: Vec<ErrorSite> = program
            .nodes()
            .filter(|node| program.location(*node).kind == LocationKind::Unsupported)
            .map(|node| ErrorSite { node, kind: ErrorKind::Assertion })
            .collect();
        if open.is_empty() {
            return Ok(Verdict::Holds);
        }
        let checker = Checker::new(&self.derived.program, &open, self.options()).map_err(Reason::Program)?;
        for site in &open {
            match checker.verdict_of(Some(site.node)) {
                Decision::Safe => {}
                Decision::Unsafe => return Err(Reason::NotModelled(site.node)),
                Decision::Unknown(stop) => return Err(Reason::Limit(stop)),
            }
        }
        Ok(Verdict::Holds)
    }

    fn options(&self) -> CheckOptions {
        CheckOptions { search: Search::Forwards, limits: self.budget.limits() }
    }

    /// A shortest run to a head, and a shortest one from there to itself with the mark set.
    fn lasso(&self, head: &Head, mark: Var) -> Result<Lasso, Reason> {
        let stem = self.run(with_goal(&self.derived, &[head.node], head, mark, None))?;
        if self.derived.procedures[head.node.procedure.0 as usize].is_none() {
            // It has returned from the entry.
            return self.original(&stem, None);
        }
        if self.subject.is_last(head.node) {
            return self.original(&stem, None);
        }
        let mut again = self.derived.clone();
        let copy = again.add_copy(head.node.procedure);
        let begin = again.add_location(copy, LocationKind::Statement);
        let state = all_cells(&again.program, copy, head, None);
        let set =
            |(variable, indices, value, ty): Cell| (Target { variable, indices }, Expr::constant(value, ty));
        let (mut targets, mut values): (Vec<Target>, Vec<Expr>) = state.into_iter().map(set).unzip();
        targets.push(Target::from(mark));
        values.push(Expr::bool(false));
        let span = again.program.procedure(copy).span;
        let assignment = Assignment { targets, values, constraint: None };
        let to = head.node.location;
        again.add_edge(copy, Edge { from: begin, to, operation: Operation::Assign(assignment), span });
        again.program.procedures[copy.0 as usize].entry = begin;
        again.program.entry = copy;
        let here = Node { procedure: copy, location: head.node.location };
        let turn = self.run(with_goal(&again, &[here, head.node], head, mark, Some(true)))?;
        self.original(&stem, Some(&turn))
    }

    fn run(&self, (derived, goal): (Derived, Vec<ErrorSite>)) -> Result<(Derived, Trace), Reason> {
        let checker = Checker::new(&derived.program, &goal, self.options()).map_err(Reason::Program)?;
        let found = checker.failing_run(None).map_err(Reason::Limit)?;
        let Some(mut run) = found else {
            return Err(Reason::Unconfirmed("its parts were not found again".to_owned()));
        };
        // The last step is ours.
        run.trace.steps.pop();
        Ok((derived, run.trace))
    }

    /// A lasso of the program from runs of derived programs.
    fn original(&self, stem: &(Derived, Trace), turn: Option<&(Derived, Trace)>) -> Result<Lasso, Reason> {
        let program = self.subject.program;
        let broken = || Reason::Unconfirmed("it is none of the program".to_owned());
        if self.way == Way::Abstract {
            let has_returned = stem.1.last().stack.len() == 1 && turn.is_none();
            let mut stem = path(stem);
            let Some(turn) = turn else {
                // The return from the entry leads out of the program: formulas about runs end before it.
                let last = if has_returned { stem.pop() } else { None };
                let run = small_values::run_along(program, &stem, self.budget);
                let mut stem = run.ok_or(Reason::Abstract)?;
                if let Some(edge) = last {
                    let state = State { stack: Vec::new(), ..stem.last().clone() };
                    stem.steps.push(Step { edge, state });
                }
                return Ok(Lasso { stem, turn: Vec::new() });
            };
            let run = small_values::lasso_along(program, &stem, &path(turn), self.budget);
            return Ok(Lasso::cut(run.ok_or(Reason::Abstract)?, stem.len()));
        }
        let stem = original_run(&stem.0, program, &stem.1, &[]).ok_or_else(broken)?;
        let Some((derived, turn)) = turn else { return Ok(Lasso { stem, turn: Vec::new() }) };
        let (_, below) = stem.last().stack.split_last().ok_or_else(broken)?;
        // The first step sets the stage.
        let turn = original_run(derived, program, turn, below).ok_or_else(broken)?;
        Ok(Lasso { turn: turn.steps, stem })
    }
}

/// The edges of the original program on a run.
fn path((derived, trace): &(Derived, Trace)) -> Vec<EdgeRef> {
    trace.steps.iter().filter_map(|step| derived.original_edge(step.edge)).collect()
}

/// A cell of a variable: its indices, its value, and its type.
type Cell = (Var, Vec<Expr>, u64, wherefore_program::Scalar);

/// All cells that are seen in a procedure, with the values of a head, but for the mark.
fn all_cells(program: &Program, procedure: ProcedureId, head: &Head, mark: Option<Var>) -> Vec<Cell> {
    let globals = program.globals.iter().zip((0..).map(Var::Global));
    let locals = program.procedure(procedure).variables.iter().zip((0..).map(Var::Local));
    let mut cells = Vec::new();
    let mut values = head.globals.iter().chain(&head.locals);
    for (variable, var) in globals.chain(locals) {
        for cell in 0..variable.ty.cell_count() {
            let Some(value) = values.next() else { return cells };
            if Some(var) == mark || variable.name == crate::product::MARK {
                continue;
            }
            let constant = |index: u64| Expr::constant(index, index_type(index));
            let indices = variable.ty.indices(cell).into_iter().map(constant).collect();
            cells.push((var, indices, *value, variable.ty.element()));
        }
    }
    cells
}

fn index_type(index: u64) -> wherefore_program::Scalar {
    wherefore_program::Scalar::Bits((u64::BITS - index.leading_zeros()).max(1))
}

/// The program with errors where a run is at a head; with the mark set, if that is asked for.
fn with_goal(
    derived: &Derived,
    at: &[Node],
    head: &Head,
    mark: Var,
    marked: Option<bool>,
) -> (Derived, Vec<ErrorSite>) {
    let mut derived = derived.clone();
    let mut goal = Vec::new();
    for node in at {
        let cells = all_cells(&derived.program, node.procedure, head, Some(mark));
        let mut parts: Vec<Expr> = cells
            .into_iter()
            .map(|(variable, indices, value, ty)| {
                let read = Expr::read(variable, indices, When::Now, ty);
                Expr::binary(BinaryOp::Eq, read, Expr::constant(value, ty))
            })
            .collect();
        if let Some(marked) = marked {
            let mark = Expr::variable(mark, wherefore_program::Scalar::Bool);
            parts.push(if marked { mark } else { mark.not() });
        }
        let error: LocationId = derived.add_location(node.procedure, LocationKind::Error);
        let span = derived.program.procedure(node.procedure).span;
        let operation = Operation::Assume(Expr::all(parts));
        derived.add_edge(node.procedure, Edge { from: node.location, to: error, operation, span });
        let node = Node { procedure: node.procedure, location: error };
        goal.push(ErrorSite { node, kind: ErrorKind::Assertion });
    }
    debug_assert_eq!(derived.program.check(), Ok(()));
    (derived, goal)
}
