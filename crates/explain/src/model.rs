//! An explanation as data: all that a report shows, in words and numbers of the source. Nothing
//! here refers to programs, terms or engines, so that a report needs no more than this file.

use std::collections::BTreeMap;

/// Everything that can be said about a program and its failures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explanation {
    /// The file that was asked about, as it was named.
    pub file: String,
    /// Whether the program can fail.
    pub verdict: Verdict,
    /// Why the verdict is unknown, or why a part is missing.
    pub reason: Option<String>,
    /// Where the first run fails.
    pub error: Option<Place>,
    /// The texts that lines refer to; those of the files that were asked about come first, in their
    /// order.
    pub sources: Vec<Source>,
    /// The lines on and off failing runs.
    pub projection: Projection,
    /// Failing runs. The first is the one that stands for all; others go through more lines.
    pub runs: Vec<Run>,
    /// Each check that was asked about, with its verdict.
    pub checks: Vec<Check>,
    /// A failing run through each confirmed line, by its position in [`Explanation::runs`].
    pub through: BTreeMap<Line, usize>,
    /// Whether it is proved that no run ends without failing.
    pub always: bool,
    /// The focus-statement sequences, the highest rank first.
    pub focus: Vec<Focus>,
    /// What is left of them after the differences between them are discarded.
    pub reduced: Vec<Reduced>,
    /// Where the fault is likely to be, the neighbourhood of the highest-ranked sequence first.
    pub neighbourhoods: Vec<Neighbourhood>,
    /// How much a line speaks for failure, from 0 (as often on passing runs) to 1 (on failing runs
    /// only). Only lines of failing runs are here.
    pub suspicion: BTreeMap<Line, f64>,
    /// Conditions at a line under which the program goes on to fail: alternatives, each a
    /// conjunction. In the syntax of the source.
    pub stores: BTreeMap<Line, Vec<Vec<String>>>,
    /// What the abstraction tracks at a line.
    pub predicates: BTreeMap<Line, Vec<String>>,
    /// After a proof: what always holds at a line.
    pub invariants: Vec<Invariant>,
    /// After a proof: how the checks hold, and which lines they depend on.
    pub grounds: Option<Grounds>,
    /// The control-flow automata, for pictures.
    pub procedures: Vec<Procedure>,
    /// What the answer rests on.
    pub assumptions: Vec<String>,
    /// How the failing run is reproduced.
    pub reproduce: Reproduce,
    /// Figures.
    pub stats: Stats,
}

/// Whether a program can fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// No run fails.
    Safe,
    /// Some run fails.
    Unsafe,
    /// Neither is known.
    #[default]
    Unknown,
}

/// A check with its verdict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Check {
    /// Where it is, and what it is.
    pub place: Place,
    /// The verdict.
    pub verdict: CheckVerdict,
    /// Why it is unknown or unreachable.
    pub reason: Option<String>,
    /// The run on which it fails, where reports want the runs of all checks.
    pub run: Option<Run>,
}

/// The verdict on one check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CheckVerdict {
    /// It holds.
    Safe,
    /// It can fail.
    Unsafe,
    /// Neither is known.
    #[default]
    Unknown,
    /// It holds because no run comes there.
    Unreachable,
}

/// A line of a source, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Line {
    /// The position of the file in [`Explanation::sources`].
    pub file: usize,
    /// The line in it.
    pub line: u32,
}

/// A part of a source within a file: from a line and column to a line and column, both from 1. The
/// end is behind the last letter; columns count characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Extent {
    /// The position of the file in [`Explanation::sources`].
    pub file: usize,
    /// Where it starts.
    pub start: (u32, u32),
    /// Where it ends.
    pub end: (u32, u32),
}

impl Extent {
    /// The line where it starts.
    pub fn line(&self) -> Line {
        Line { file: self.file, line: self.start.0 }
    }
}

/// Where a run fails.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Where it is.
    pub extent: Extent,
    /// The procedure.
    pub procedure: String,
    /// `assertion`, `error-call`, `label`, `procedure`, or the name of a rule of C.
    pub kind: String,
    /// The name of the label or procedure; for a rule, what breaks it.
    pub label: Option<String>,
}

impl Place {
    /// Whether a rule of C is broken there.
    pub fn is_rule(&self) -> bool {
        !matches!(self.kind.as_str(), "" | "assertion" | "error-call" | "label" | "procedure")
    }
}

/// A text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// The name of the file.
    pub name: String,
    /// What is in it.
    pub text: String,
}

/// Which lines lie on failing runs. Only lines with statements are in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Projection {
    /// On some failing run of the abstraction, or of the program.
    pub inside: Vec<Line>,
    /// On no failing run: proved.
    pub outside: Vec<Line>,
    /// On a failing run of the program that was found.
    pub confirmed: Vec<Line>,
    /// Whether every line inside is confirmed: then no better projection exists.
    pub exact: bool,
}

/// A run that fails.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// The statements about to be executed, the failing one last.
    pub steps: Vec<Step>,
    /// Which steps its slice takes, by position, ascending.
    pub slice: Vec<usize>,
    /// The values that come from outside, in their order.
    pub inputs: Vec<InputValue>,
    /// What the compiled program did with these inputs.
    pub replay: Option<Replay>,
}

/// A statement about to be executed, and the values before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// The statement.
    pub extent: Extent,
    /// Its text, on one line.
    pub text: String,
    /// The procedure.
    pub procedure: String,
    /// How many calls are open.
    pub depth: usize,
    /// The variables that can be seen, by name.
    pub values: BTreeMap<String, String>,
    /// For a condition: whether it holds.
    pub holds: Option<bool>,
}

/// A value from outside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputValue {
    /// The variable that it is first stored in, as in assumptions.
    pub name: String,
    /// Who delivers it: `__VERIFIER_nondet_int`.
    pub function: String,
    /// The value.
    pub value: String,
    /// Where it comes in.
    pub extent: Extent,
}

/// What the compiled program did with the inputs of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// `confirmed`, `not-confirmed` or `not-replayed`.
    pub outcome: String,
    /// More about it.
    pub why: Option<String>,
}

/// A focus-statement sequence: the statements of a failing run that the failure depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Focus {
    /// From 1; sequences that are not comparable share a rank.
    pub rank: usize,
    /// The statements, in the order of execution.
    pub statements: Vec<Statement>,
    /// What must hold of inputs and uninitialised variables for the run to fail.
    pub assumptions: Vec<Assumption>,
    /// Whether some run executes the sequence.
    pub feasible: bool,
    /// The run that it was found on, by position in [`Explanation::runs`].
    pub run: Option<usize>,
}

/// A statement of a sequence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statement {
    /// Where it is.
    pub extent: Extent,
    /// What it does: `min = x`, `min > y: true`.
    pub text: String,
    /// The procedure.
    pub procedure: String,
    /// The position of its step in the run.
    pub step: Option<usize>,
}

/// A condition on inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assumption {
    /// In the syntax of the source.
    pub text: String,
    /// The condition that demands it.
    pub line: Line,
    /// Whether the text is the condition only if no arithmetic overflows.
    pub unless_overflow: bool,
}

/// A sequence with what is left of its assumptions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reduced {
    /// The sequence, by position in [`Explanation::focus`].
    pub focus: usize,
    /// The assumptions that are left.
    pub assumptions: Vec<String>,
}

/// Statements that are likely to hold the fault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Neighbourhood {
    /// The sequence, by position in [`Explanation::focus`].
    pub focus: usize,
    /// The lines, in the order of execution, each once.
    pub lines: Vec<Line>,
    /// All that the document's algorithm marks, if that is more.
    pub marked: Vec<Line>,
    /// The lines of [`Neighbourhood::lines`] where some other value or decision makes all runs pass
    /// that were tried.
    pub repairs: Vec<Line>,
}

/// Why a program is safe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grounds {
    /// How many checks hold by the ranges of variables, which data flow finds.
    pub by_data_flow: usize,
    /// How many hold by the proof of an engine.
    pub by_proof: usize,
    /// How many of all hold only because no run comes to them.
    pub vacuous: usize,
    /// How the proof was checked, in words; none if proofs of its kind are not.
    pub checked: Option<String>,
    /// The lines that decide whether runs come to the checks of the proof, or to all checks if none
    /// needs one. Empty if nothing can be left out.
    pub lines: Vec<Line>,
    /// How many lines have statements.
    pub of: usize,
}

/// What always holds at a point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Invariant {
    /// The point: before the statement here.
    pub extent: Extent,
    /// The procedure.
    pub procedure: String,
    /// What holds.
    pub formula: String,
    /// Whether the point is the head of a loop.
    pub is_loop: bool,
}

/// A procedure as a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Procedure {
    /// The name.
    pub name: String,
    /// Where it begins.
    pub line: Line,
    /// The points.
    pub points: Vec<Point>,
    /// Steps: from, to (positions of points), and what they do.
    pub edges: Vec<(usize, usize, String)>,
    /// The procedures that it calls, by position in [`Explanation::procedures`].
    pub calls: Vec<usize>,
}

/// A point of a procedure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// The line; none for the sink of returns.
    pub line: Option<Line>,
    /// `statement`, `branch`, `call`, `return`, `error`, `exit` and so on.
    pub kind: String,
    /// Whether it lies on a failing run.
    pub inside: bool,
}

/// How a failing run is reproduced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reproduce {
    /// The command that finds the failure again.
    pub command: String,
    /// The command that keeps a failing test.
    pub harness: Option<String>,
}

/// Figures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// Locations of the program.
    pub locations: usize,
    /// Who decided: `bounded`, `cegar` or `exact`.
    pub engine: Option<String>,
    /// Counterexamples that refinement ruled out.
    pub cycles: usize,
    /// Failing runs that were looked at.
    pub runs: usize,
    /// Seconds until the verdict.
    pub check_seconds: f64,
    /// Seconds for everything.
    pub seconds: f64,
    /// Parts that were cut short by the budget.
    pub incomplete: Vec<String>,
}
