//! Making a procedure piece by piece.

use crate::expression::Expr;
use crate::program::{Edge, Location, LocationId, LocationKind, Operation, Procedure, Variable};
use crate::source::Span;
use crate::types::Scalar;

/// Makes a procedure: locations in the order of the source, edges in any order.
///
/// ```
/// use wherefore_program::*;
///
/// let source = SourceFile::new("tiny.bp", "void main() begin assert(F); end");
/// let span = Span::new(FileId(0), 18, 28);
/// let mut main = ProcedureBuilder::new("main", span);
/// let check = main.location(span, LocationKind::Assert);
/// let end = main.location(Span::new(FileId(0), 29, 32), LocationKind::End);
/// main.assert(check, Expr::bool(false), end);
/// main.edge(end, main.exit(), Operation::Return(Vec::new()), span);
/// let main = main.finish(check);
/// let program = Program { sources: vec![source], globals: vec![], procedures: vec![main], entry: ProcedureId(0), objects: Default::default() };
///
/// let targets = program.targets(&TargetChoice::Default)?;
/// let exploration = explore(&program, &targets, ExploreLimits::default());
/// assert_eq!(exploration.outcome(), Outcome::Reached);
/// assert_eq!(exploration.shortest_trace().unwrap().length(&program), 1);
/// # Ok::<(), ProgramError>(())
/// ```
pub struct ProcedureBuilder {
    procedure: Procedure,
}

impl ProcedureBuilder {
    /// A procedure without variables and statements.
    pub fn new(name: impl Into<String>, span: Span) -> Self {
        let exit =
            Location { span, labels: Vec::new(), kind: LocationKind::Exit, called: None, violation: None };
        let procedure = Procedure {
            name: name.into(),
            span,
            parameters: 0,
            variables: Vec::new(),
            results: Vec::new(),
            locations: vec![exit],
            edges: Vec::new(),
            entry: LocationId(0),
            exit: LocationId(0),
        };
        Self { procedure }
    }

    /// The sink of returns.
    pub fn exit(&self) -> LocationId {
        self.procedure.exit
    }

    /// Gives the procedure its variables: the parameters first.
    pub fn variables(&mut self, parameters: usize, variables: Vec<Variable>) {
        self.procedure.parameters = parameters;
        self.procedure.variables = variables;
    }

    /// Adds a local variable and says where it is.
    pub fn add_variable(&mut self, variable: Variable) -> u32 {
        self.procedure.variables.push(variable);
        self.procedure.variables.len() as u32 - 1
    }

    /// How many variables there are so far.
    pub fn variable_count(&self) -> u32 {
        self.procedure.variables.len() as u32
    }

    /// Gives the procedure the types of its results.
    pub fn results(&mut self, results: Vec<Scalar>) {
        self.procedure.results = results;
    }

    /// Adds a location.
    pub fn location(&mut self, span: Span, kind: LocationKind) -> LocationId {
        self.procedure.locations.push(Location {
            span,
            labels: Vec::new(),
            kind,
            called: None,
            violation: None,
        });
        LocationId(self.procedure.locations.len() as u32 - 1)
    }

    /// Adds a label to a location.
    pub fn label(&mut self, location: LocationId, label: impl Into<String>) {
        self.procedure.locations[location.0 as usize].labels.push(label.into());
    }

    /// The span of a location.
    pub fn span(&self, location: LocationId) -> Span {
        self.procedure.location(location).span
    }

    /// Adds an edge.
    pub fn edge(&mut self, from: LocationId, to: LocationId, operation: Operation, span: Span) {
        self.procedure.edges.push(Edge { from, to, operation, span });
    }

    /// Makes a location a check: one edge goes on to `next`, one to an error of its own.
    pub fn assert(&mut self, at: LocationId, condition: Expr, next: LocationId) {
        let span = self.span(at);
        let error = self.location(span, LocationKind::Error);
        self.edge(at, next, Operation::Assume(condition.clone()), span);
        self.edge(at, error, Operation::Assume(condition.not()), span);
    }

    /// The procedure, with its edges sorted.
    pub fn finish(mut self, entry: LocationId) -> Procedure {
        self.procedure.entry = entry;
        self.procedure.edges.sort_by_key(|edge| edge.from);
        self.procedure
    }
}
