//! Lines of the source, and the locations that stand for them.

use std::path::Path;

use wherefore_program::{Edge, LocationKind, Node, Operation, ProcedureId, Program, Target, Var};

/// A line of a file of the program: the number of the file, and of the line.
pub type Line = (u32, u32);

/// The name of a procedure in the source: copies, and functions of one name in several files, have
/// a number behind it.
pub fn source_name(name: &str) -> &str {
    name.split('@').next().unwrap_or(name)
}

/// Whether a procedure is not of the program's own text, but a model of a function of a library.
pub(crate) fn is_model(program: &Program, procedure: ProcedureId) -> bool {
    program.source(program.procedure(procedure).span).name().starts_with('<')
}

/// Whether a procedure is not of the source: it is the entry, and only starts the procedure whose
/// head it has.
pub(crate) fn is_start(program: &Program, procedure: ProcedureId) -> bool {
    let body = program.procedure(procedure);
    let starts = |edge: &Edge| match &edge.operation {
        Operation::Call(call) => program.procedure(call.callee).span == body.span,
        _ => false,
    };
    procedure == program.entry && body.edges.iter().any(starts)
}

/// The files of the program that a name may mean: one that ends with it, or has the same last part
/// if there is no such.
pub(crate) fn files(program: &Program, name: &str) -> Vec<u32> {
    let name = Path::new(name);
    let own = |index: &usize| !program.sources[*index].name().starts_with('<');
    let find = |matches: &dyn Fn(&Path) -> bool| -> Vec<u32> {
        let all = (0..program.sources.len()).filter(own);
        all.filter(|index| matches(Path::new(program.sources[*index].name()))).map(|i| i as u32).collect()
    };
    let exact = find(&|source| source == name || source.ends_with(name) || name.ends_with(source));
    if !exact.is_empty() {
        return exact;
    }
    find(&|source| source.file_name() == name.file_name())
}

/// The line of a location.
pub(crate) fn line_of(program: &Program, node: Node) -> Option<Line> {
    let location = program.location(node);
    let is_somewhere = location.kind != LocationKind::Exit && !is_start(program, node.procedure);
    is_somewhere.then(|| (location.span.file.0, program.position(location.span).line))
}

/// The last line of a location.
fn end_of(program: &Program, node: Node) -> u32 {
    let span = program.location(node).span;
    program.source(span).position(span.end.saturating_sub(1).max(span.start)).line
}

/// The locations of a procedure that a line stands for: those that begin there, or else those of
/// the shortest statement that covers it.
pub(crate) fn locations(program: &Program, procedure: ProcedureId, line: Line) -> Vec<Node> {
    let body = program.procedure(procedure);
    let nodes = || {
        let nodes = body.location_ids().map(move |location| Node { procedure, location });
        nodes.filter(|node| !matches!(program.location(*node).kind, LocationKind::Exit | LocationKind::Error))
    };
    let exact: Vec<Node> = nodes().filter(|node| line_of(program, *node) == Some(line)).collect();
    if !exact.is_empty() {
        return exact;
    }
    let covers = |node: &Node| {
        line_of(program, *node).is_some_and(|(file, first)| {
            file == line.0 && first <= line.1 && line.1 <= end_of(program, *node)
        })
    };
    let around: Vec<Node> = nodes().filter(covers).collect();
    let length = |node: &Node| program.location(*node).span.end - program.location(*node).span.start;
    let least = around.iter().map(length).min();
    around.into_iter().filter(|node| Some(length(node)) == least).collect()
}

/// The locations where runs come to a line: entered from another one, or from a caller.
pub(crate) fn entered(program: &Program, line: Line) -> Vec<Node> {
    let mut found = Vec::new();
    for (procedure, body) in program.procedures() {
        if is_start(program, procedure) {
            continue;
        }
        let here = locations(program, procedure, line);
        let is_here = |location| here.contains(&Node { procedure, location });
        let from_elsewhere = |node: &&Node| {
            body.entry == node.location
                || body.edges.iter().any(|edge| edge.to == node.location && !is_here(edge.from))
        };
        let entries: Vec<Node> = here.iter().filter(from_elsewhere).copied().collect();
        found.extend(if entries.is_empty() { here } else { entries });
    }
    found
}

/// Whether a location is a step of the source: a statement, a condition, a call or a return. What
/// reads inputs for a condition belongs to it, and a declaration without a value is no step.
pub(crate) fn counts(program: &Program, node: Node) -> bool {
    if is_start(program, node.procedure) || is_model(program, node.procedure) {
        return false;
    }
    let body = program.procedure(node.procedure);
    let location = body.location(node.location);
    if matches!(location.kind, LocationKind::Label | LocationKind::Error | LocationKind::Exit) {
        return false;
    }
    let mut edges = body.edges_from(node.location).map(|(_, edge)| edge);
    let (Some(first), None) = (edges.next(), edges.next()) else { return true };
    let is_statement = location.kind == LocationKind::Statement;
    let is_temporary = |target: &Target| is_temporary(program, node.procedure, target.variable);
    match &first.operation {
        // A declaration without a value; or an input, which the statement behind it reads.
        Operation::Havoc(targets) => !is_statement && !targets.iter().any(is_temporary),
        Operation::Assign(assignment) => !assignment.targets.iter().any(is_temporary),
        // That a value is as C demands.
        Operation::Assume(_) => !is_statement,
        // The rest of a statement.
        Operation::Skip => {
            let mut before = body.edges.iter().filter(|edge| edge.to == node.location).peekable();
            !is_statement
                || before.peek().is_none()
                || before.any(|edge| body.location(edge.from).span != location.span)
        }
        _ => true,
    }
}

/// Whether a variable stands for a value that the source does not name.
fn is_temporary(program: &Program, procedure: ProcedureId, variable: Var) -> bool {
    let Var::Local(_) = variable else { return false };
    let variable = program.variable(procedure, variable);
    !program.source(variable.span).slice(variable.span).contains(source_name(&variable.name))
}
