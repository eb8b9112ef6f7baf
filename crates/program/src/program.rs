//! Programs: procedures as control-flow automata.

use crate::error::ProgramError;
use crate::expression::{Expr, ExprKind, Target, Var, When};
use crate::objects::Objects;
use crate::source::{Position, SourceFile, Span};
use crate::types::{Scalar, Type};
use crate::violation::Violation;

/// A procedure, by its position in [`Program::procedures`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcedureId(pub u32);

/// A location of a procedure, by its position in [`Procedure::locations`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocationId(pub u32);

/// An edge of a procedure, by its position in [`Procedure::edges`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EdgeId(pub u32);

/// A location of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node {
    /// The procedure.
    pub procedure: ProcedureId,
    /// The location in it.
    pub location: LocationId,
}

/// An edge of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EdgeRef {
    /// The procedure.
    pub procedure: ProcedureId,
    /// The edge in it.
    pub edge: EdgeId,
}

/// A program over finite data.
///
/// # Meaning
/// A configuration is a value for every global variable and a stack of frames, each a location with
/// values for the variables of its procedure. A step is one edge of the procedure on top. Globals
/// start with their initial value or with any value; so do the variables of a procedure at every
/// call, except parameters, which get the arguments. The parameters of the entry procedure are
/// arbitrary.
///
/// Memory ([`Type::Memory`]) has a cell for every address, each with the initial value or any
/// value. The interpreter takes 0 for a cell with any value that was never written: it runs
/// programs with memory, but does not explore them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The texts that spans refer to.
    pub sources: Vec<SourceFile>,
    /// The global variables.
    pub globals: Vec<Variable>,
    /// The procedures; names are unique.
    pub procedures: Vec<Procedure>,
    /// Where execution starts.
    pub entry: ProcedureId,
    /// What lies where in memory.
    pub objects: Objects,
}

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The name in the source; a field of a structure is called `s.f`.
    pub name: String,
    /// The type.
    pub ty: Type,
    /// Names for the values 0, 1, … of an enumeration. They are all the values that the variable
    /// has.
    pub value_names: Option<Vec<String>>,
    /// Whether people read its values as signed. No operation depends on it: operations are signed
    /// or not themselves.
    pub signed: bool,
    /// Whether people read its values as floating-point numbers of that many bits.
    pub float: bool,
    /// Whether its values are addresses.
    pub pointer: bool,
    /// Whether all threads see one copy; else each has its own. Only globals are shared.
    pub shared: bool,
    /// The value at the start, the same for every cell of an array; none means any value.
    pub initial: Option<u64>,
    /// Where it is declared.
    pub span: Span,
}

impl Variable {
    /// The limit of arbitrary values of this variable, if it is less than what the type gives.
    pub fn limit(&self) -> Option<u64> {
        self.value_names.as_ref().map(|names| names.len() as u64)
    }

    /// The greatest value of a cell.
    pub fn max(&self) -> u64 {
        self.limit().map_or(self.ty.element().max(), |limit| limit.saturating_sub(1))
    }
}

/// A procedure as a control-flow automaton.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Procedure {
    /// The name.
    pub name: String,
    /// The head in the source.
    pub span: Span,
    /// How many of the first variables are parameters.
    pub parameters: usize,
    /// The parameters, then the local variables.
    pub variables: Vec<Variable>,
    /// The types of the values that it returns.
    pub results: Vec<Scalar>,
    /// The locations. Every statement of the source has one of its own.
    pub locations: Vec<Location>,
    /// The edges, ordered by where they start, then as in the source.
    pub edges: Vec<Edge>,
    /// Where a call starts.
    pub entry: LocationId,
    /// Where the edges of returns end, so that graph algorithms have one sink. A configuration is
    /// never there.
    pub exit: LocationId,
}

/// A point of a procedure: a statement that is about to be executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The statement, or the head of a compound one.
    pub span: Span,
    /// The labels in front of it.
    pub labels: Vec<String>,
    /// What it is.
    pub kind: LocationKind,
    /// The function whose call is the error that this location is.
    pub called: Option<String>,
    /// The rule of the language that is broken if this location is an error.
    pub violation: Option<Box<Violation>>,
}

/// What is at a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LocationKind {
    /// An assignment, assumption, or other simple statement.
    Statement,
    /// A condition with several ways on.
    Branch,
    /// A check, with an edge to an error of its own.
    Assert,
    /// A call.
    Call,
    /// A return in the source.
    Return,
    /// The end of the procedure, where it returns.
    End,
    /// A jump.
    Goto,
    /// A label with no statement.
    Label,
    /// What the procedure enforces (`enforce` of Boolean programs), behind a call or at the entry.
    Enforce,
    /// A step of the model that no statement stands for: what is assumed of values from outside, or
    /// kept to say so later.
    Model,
    /// A failed check: the run ends here.
    Error,
    /// Something that is not modelled: what a run does from here on is not known.
    Unsupported,
    /// The sink of returns.
    Exit,
}

/// A step between two locations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Where it starts.
    pub from: LocationId,
    /// Where it ends. For a call this is where the caller goes on; for a return it is the exit.
    pub to: LocationId,
    /// What it does.
    pub operation: Operation,
    /// The part of the source that says so.
    pub span: Span,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Nothing.
    Skip,
    /// Goes on only if the condition holds.
    Assume(Expr),
    /// Parallel assignment.
    Assign(Assignment),
    /// Gives the targets any values.
    Havoc(Vec<Target>),
    /// Calls a procedure.
    Call(Call),
    /// Goes back to the caller with these values. The run ends if there is no caller.
    Return(Vec<Expr>),
    /// Starts a thread.
    StartThread(ThreadStart),
    /// Ends the thread.
    EndThread,
    /// Begins a part that no other thread interrupts.
    AtomicBegin,
    /// Ends such a part.
    AtomicEnd,
    /// Waits for the other threads, in the concurrent dialect of Boolean programs.
    Sync,
}

/// A parallel assignment: all values and indices are read before the step. An index out of bounds
/// blocks. If two targets are one cell, the later wins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignment {
    /// What is assigned.
    pub targets: Vec<Target>,
    /// The values, one a target.
    pub values: Vec<Expr>,
    /// Must hold of the states before ([`When::Now`](crate::When::Now)) and after
    /// ([`When::Next`](crate::When::Next)).
    pub constraint: Option<Expr>,
}

/// A call. Arguments are read in the state before the step, and may also read what the assignment
/// puts there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The procedure called.
    pub callee: ProcedureId,
    /// One argument a parameter.
    pub arguments: Vec<Argument>,
    /// Where the results go, one a result; none drops it. Indices are read when the callee has
    /// returned. A bit-vector is cut or gets zeros in front, as the width of its target demands.
    pub results: Vec<Option<Target>>,
    /// Done in the same step, before the callee starts.
    pub assignment: Assignment,
}

/// What a parameter gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// The value of an expression.
    Value(Expr),
    /// A copy of an array of the same type, as it is in one of the two states.
    Copy(Var, When),
    /// Any value.
    Arbitrary,
}

/// Where a new thread starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ThreadStart {
    /// At a location of the same procedure, with a copy of the variables.
    At(LocationId),
    /// In a procedure.
    Call {
        /// The procedure.
        callee: ProcedureId,
        /// One argument a parameter.
        arguments: Vec<Argument>,
    },
}

impl Operation {
    /// Whether an expression of the operation leaves its value open.
    pub fn has_choice(&self) -> bool {
        let any = |values: &[Expr]| values.iter().any(Expr::has_choice);
        let in_targets = |targets: &[Target]| targets.iter().any(|target| any(&target.indices));
        let in_assignment = |assignment: &Assignment| {
            any(&assignment.values)
                || in_targets(&assignment.targets)
                || assignment.constraint.as_ref().is_some_and(Expr::has_choice)
        };
        match self {
            Operation::Assume(condition) => condition.has_choice(),
            Operation::Assign(assignment) => in_assignment(assignment),
            Operation::Havoc(targets) => in_targets(targets),
            Operation::Call(call) => {
                let open =
                    |argument: &Argument| matches!(argument, Argument::Value(value) if value.has_choice());
                call.arguments.iter().any(open) || in_assignment(&call.assignment)
            }
            Operation::Return(values) => any(values),
            _ => false,
        }
    }
}

impl Procedure {
    /// The location with this id.
    pub fn location(&self, id: LocationId) -> &Location {
        &self.locations[id.0 as usize]
    }

    /// The edge with this id.
    pub fn edge(&self, id: EdgeId) -> &Edge {
        &self.edges[id.0 as usize]
    }

    /// The ids of all locations.
    pub fn location_ids(&self) -> impl Iterator<Item = LocationId> + use<> {
        (0..self.locations.len() as u32).map(LocationId)
    }

    /// The edges with their ids.
    pub fn edges(&self) -> impl Iterator<Item = (EdgeId, &Edge)> {
        self.edges.iter().enumerate().map(|(i, edge)| (EdgeId(i as u32), edge))
    }

    /// The edges that start at a location.
    pub fn edges_from(&self, from: LocationId) -> impl Iterator<Item = (EdgeId, &Edge)> {
        let start = self.edges.partition_point(|edge| edge.from < from);
        let end = self.edges.partition_point(|edge| edge.from <= from);
        (start..end).map(|i| (EdgeId(i as u32), &self.edges[i]))
    }

    /// The number of cells of all variables.
    pub fn cell_count(&self) -> usize {
        self.variables.iter().map(|variable| variable.ty.cell_count()).sum()
    }
}

/// The widest number that decision diagrams suit: their arithmetic grows with the width.
const WIDEST: u32 = 16;

/// An array of numbers with more bits is large.
const LARGEST: u64 = 64;

impl Program {
    /// The procedure with this id.
    pub fn procedure(&self, id: ProcedureId) -> &Procedure {
        &self.procedures[id.0 as usize]
    }

    /// The procedures with their ids.
    pub fn procedures(&self) -> impl Iterator<Item = (ProcedureId, &Procedure)> {
        self.procedures.iter().enumerate().map(|(i, procedure)| (ProcedureId(i as u32), procedure))
    }

    /// The procedure called `name`.
    pub fn find_procedure(&self, name: &str) -> Option<ProcedureId> {
        self.procedures().find(|(_, procedure)| procedure.name == name).map(|(id, _)| id)
    }

    /// The variable called `name` as `procedure` sees it: its own before a global one.
    pub fn find_variable(&self, procedure: ProcedureId, name: &str) -> Option<Var> {
        let find = |variables: &[Variable]| variables.iter().position(|variable| variable.name == name);
        let local = find(&self.procedure(procedure).variables).map(|i| Var::Local(i as u32));
        local.or_else(|| find(&self.globals).map(|i| Var::Global(i as u32)))
    }

    /// A variable of `procedure` or a global one.
    pub fn variable(&self, procedure: ProcedureId, variable: Var) -> &Variable {
        match variable {
            Var::Global(i) => &self.globals[i as usize],
            Var::Local(i) => &self.procedure(procedure).variables[i as usize],
        }
    }

    /// A location.
    pub fn location(&self, node: Node) -> &Location {
        self.procedure(node.procedure).location(node.location)
    }

    /// An edge.
    pub fn edge(&self, edge: EdgeRef) -> &Edge {
        self.procedure(edge.procedure).edge(edge.edge)
    }

    /// All locations, procedure by procedure.
    pub fn nodes(&self) -> impl Iterator<Item = Node> + '_ {
        self.procedures().flat_map(|(procedure, body)| {
            body.location_ids().map(move |location| Node { procedure, location })
        })
    }

    /// The file of a span.
    pub fn source(&self, span: Span) -> &SourceFile {
        &self.sources[span.file.0 as usize]
    }

    /// The line and column where a span starts.
    pub fn position(&self, span: Span) -> Position {
        self.source(span).position(span.start)
    }

    /// The line of a location; none for the sink of returns, which is nowhere.
    pub fn line(&self, node: Node) -> Option<u32> {
        let location = self.location(node);
        (location.kind != LocationKind::Exit).then(|| self.position(location.span).line)
    }

    /// The program with another entry procedure.
    pub fn with_entry(mut self, name: &str) -> Result<Program, ProgramError> {
        match self.find_procedure(name) {
            Some(entry) => {
                self.entry = entry;
                Ok(self)
            }
            None => {
                let names = self.procedures.iter().map(|procedure| procedure.name.as_str());
                Err(ProgramError::unknown_procedure(name, names))
            }
        }
    }

    /// The first variable that is memory.
    pub fn uses_memory(&self) -> Option<&Variable> {
        self.globals.iter().find(|variable| variable.ty.is_memory())
    }

    /// Whether decision diagrams suit the data: no memory, and no wide numbers in variables, or as
    /// results that may be anything; no large arrays of numbers, whose sums have large diagrams.
    pub fn has_small_data(&self) -> bool {
        let fits = |ty: &Type| {
            let width = ty.element().width();
            let is_large =
                width > 1 && ty.cell_count() > 1 && ty.cell_count() as u64 * u64::from(width) > LARGEST;
            !ty.is_memory() && width <= WIDEST && !is_large
        };
        let locals = self.procedures.iter().flat_map(|procedure| &procedure.variables);
        let edges = self.procedures.iter().flat_map(|procedure| &procedure.edges);
        let is_any = |edge: &Edge| match &edge.operation {
            Operation::Return(values) => values
                .iter()
                .any(|value| value.ty.width() > WIDEST && matches!(value.kind, ExprKind::Choice { .. })),
            _ => false,
        };
        self.globals.iter().chain(locals).all(|variable| fits(&variable.ty))
            && self.uses_floats().is_none()
            && !edges.into_iter().any(is_any)
    }

    /// The first place, in reading order, that starts, ends or synchronises threads.
    pub fn uses_threads(&self) -> Option<Span> {
        use Operation::{AtomicBegin, AtomicEnd, EndThread, StartThread, Sync};
        let edges = self.procedures.iter().flat_map(|procedure| &procedure.edges);
        let threads = |edge: &&Edge| {
            matches!(edge.operation, StartThread(_) | EndThread | AtomicBegin | AtomicEnd | Sync)
        };
        edges.filter(threads).map(|edge| edge.span).min()
    }
}
