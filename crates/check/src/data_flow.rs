//! What data flow does before an engine is asked: it decides easy checks, and simplifies the
//! program.
//!
//! Most rules of C (indices, arithmetic) are kept because of the ranges of variables, which
//! [`Ranges`] finds in one pass over the program, or because the same was checked before
//! ([`Available`]). Such a check is decided, and it is taken out of the program that engines see:
//! the way to its error is closed, and the condition on the other way, which always holds, is left
//! out. What the program itself asserts is left to engines, whose proofs are checked. With a solver
//! that must accept every proof, nothing is done here.
//!
//! Memory at known addresses becomes variables ([`Cells`]), and expressions with one value become
//! constants ([`fold`]); what is known at heads of loops is handed to engines ([`LoopFacts`]).
//! Locations and edges keep their numbers, so that a run of the program that is left is one of the
//! original, once its cells are put back into memory.

use std::sync::Arc;

use wherefore_flow::{Available, Cells, LoopFacts, Ranges, States, fold};
use wherefore_program::{
    ErrorKind, ErrorSite, Expr, Interpreter, LocationKind, Node, Operation, Program, Task, Trace,
};

use crate::portfolio::{Prepared, Runs};
use crate::prover::Prover;
use crate::verdict::{
    Cause, EngineName, Evidence, FailingRun, Proof, ProofCheck, ProofKind, Reached, Stopped, Verdict, Why,
};

/// A task whose easy checks are decided.
pub(crate) struct Discharged {
    /// The task that is left.
    pub task: Task,
    /// Where its checks are among those of the original.
    pub open: Vec<usize>,
    /// Which of the original checks hold.
    pub holds: Vec<bool>,
    /// Those of them that hold whatever the data are.
    by_states: Vec<bool>,
    /// What is known about what is left, and which failing runs can be put back.
    pub prepared: Prepared,
    /// How memory was split, one time after the other.
    splits: Vec<Cells>,
}

/// Memory is split so many times: what is found out about its cells may tell further addresses.
const MOST_SPLITS: usize = 3;

impl Discharged {
    /// Does what data flow can do for a task.
    pub fn new(task: &Task, prover: &Prover) -> Self {
        let mut left = Self {
            task: task.clone(),
            open: (0..task.checks.len()).collect(),
            holds: vec![false; task.checks.len()],
            by_states: vec![false; task.checks.len()],
            prepared: Prepared::default(),
            splits: Vec::new(),
        };
        let has_threads = task.program.uses_threads().is_some();
        if has_threads || task.program.has_small_data() || *prover != Prover::Embedded {
            return left;
        }
        left.by_states = closed_by_states(task);
        let mut program = task.program.clone();
        let mut ranges = Ranges::new(&program);
        while left.splits.len() < MOST_SPLITS {
            let Some(split) = ranges.as_ref().and_then(|ranges| Cells::new(&program, ranges)) else { break };
            program = Arc::new(split.program.clone());
            ranges = Ranges::new(&program);
            left.splits.push(split);
            left.prepared.runs = Runs::OfProgram;
        }
        let facts = Facts { ranges, available: Available::new(&program) };
        for ((check, holds), by_states) in task.checks.iter().zip(&mut left.holds).zip(&left.by_states) {
            let is_rule = matches!(check.kind, ErrorKind::Violation(_));
            *holds = *by_states || (is_rule && is_closed(&program, check.node, &facts));
        }
        let mut program = match &facts.ranges {
            Some(ranges) => fold(&program, ranges),
            None => (*program).clone(),
        };
        for (check, _) in task.checks.iter().zip(&left.holds).filter(|(_, holds)| **holds) {
            take_out(&mut program, check.node);
        }
        if let Some(ranges) = &facts.ranges {
            left.prepared.facts = LoopFacts::new(&program, ranges);
        }
        left.open.retain(|at| !left.holds[*at]);
        let checks = left.open.iter().map(|at| task.checks[*at].clone()).collect();
        left.task = Task { program: Arc::new(program), checks, ..task.clone() };
        left
    }

    /// The verdicts on all checks of the original, from those on what was left.
    pub fn complete(&self, original: &Task, left: Vec<Verdict>) -> Vec<Verdict> {
        let proof = |kind: ProofKind| {
            let evidence = Evidence { by: EngineName::DataFlow, kind, checked: ProofCheck::NotApplicable };
            Proof { evidence: Arc::new(evidence), reached: Reached::Unknown }
        };
        let (ranges, states) = (proof(ProofKind::Ranges), proof(ProofKind::States));
        let of = |by_states: &bool| Verdict::Safe(if *by_states { states.clone() } else { ranges.clone() });
        let mut verdicts: Vec<Verdict> = self.by_states.iter().map(of).collect();
        for (at, verdict) in self.open.iter().zip(left) {
            verdicts[*at] = match verdict {
                Verdict::Unsafe(run) => self.original_run(original, *run, *at),
                other => other,
            };
        }
        verdicts
    }

    /// The run of the original program that a run of what was left stands for.
    fn original_run(&self, original: &Task, run: FailingRun, target: usize) -> Verdict {
        if self.splits.is_empty() {
            return Verdict::Unsafe(Box::new(FailingRun { target, ..run }));
        }
        let mut trace: Trace = run.trace;
        for split in self.splits.iter().rev() {
            trace.start = split.original(&trace.start);
            for step in &mut trace.steps {
                step.state = split.original(&step.state);
            }
        }
        match Interpreter::new(&original.program).retrace(&trace) {
            Some(trace) => Verdict::Unsafe(Box::new(FailingRun { trace, target, ..run })),
            None => {
                let stopped = Stopped { engine: run.by, cause: Cause::Failed, bound: None, excluded: 0 };
                Verdict::Unknown(Why::Undecided(vec![stopped]))
            }
        }
    }
}

/// Which checks of a property hold by the states that its automaton can be in.
fn closed_by_states(task: &Task) -> Vec<bool> {
    let state = |node| task.program.violation(node)?.messages.as_ref().map(|messages| messages.state);
    let variable = task.checks.iter().find_map(|check| state(check.node));
    let states = variable.and_then(|variable| States::new(&task.program, variable));
    let is_closed = |check: &ErrorSite| {
        states.as_ref().is_some_and(|states| state(check.node).is_some() && states.is_unreachable(check.node))
    };
    task.checks.iter().map(is_closed).collect()
}

/// What data flow knows about a program.
struct Facts {
    ranges: Option<Ranges>,
    available: Available,
}

/// Whether no run comes to an error, by what is known about the steps that lead there.
fn is_closed(program: &Program, error: Node, facts: &Facts) -> bool {
    if facts.ranges.as_ref().is_some_and(|ranges| ranges.at(error).is_none()) {
        return true;
    }
    let body = program.procedure(error.procedure);
    if body.entry == error.location {
        return false;
    }
    body.edges.iter().filter(|edge| edge.to == error.location).all(|edge| {
        let from = Node { procedure: error.procedure, location: edge.from };
        let Operation::Assume(condition) = &edge.operation else { return false };
        let kept = condition.clone().not();
        let by_ranges = facts.ranges.as_ref().is_some_and(|ranges| match ranges.at(from) {
            None => true,
            Some(known) => known.implies(&kept),
        });
        by_ranges || facts.available.holds(from, &kept)
    })
}

/// Closes the way to an error. If the other way on is that its condition does not hold, it is free.
fn take_out(program: &mut Program, error: Node) {
    let body = &mut program.procedures[error.procedure.0 as usize];
    let sources: Vec<_> =
        body.edges.iter().filter(|edge| edge.to == error.location).map(|edge| edge.from).collect();
    for edge in body.edges.iter_mut().filter(|edge| edge.to == error.location) {
        edge.operation = Operation::Assume(Expr::bool(false));
    }
    for from in sources {
        if body.location(from).kind != LocationKind::Assert {
            continue;
        }
        let mut others: Vec<_> =
            body.edges.iter_mut().filter(|edge| edge.from == from && edge.to != error.location).collect();
        if let [only] = others.as_mut_slice() {
            if let Operation::Assume(_) = only.operation {
                only.operation = Operation::Skip;
            }
        }
    }
}
