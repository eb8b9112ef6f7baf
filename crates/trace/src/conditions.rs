//! Values of arguments in a backtrace as conditions on the frames of a program.

use wherefore_program::{
    Assignment, BinaryOp, Expr, Node, Operation, ProcedureId, Program, Target, Type, Var,
};

use crate::backtrace::{Backtrace, Value};
use crate::fit::{Fitted, Sites};
use crate::lines::source_name;

/// A condition on a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The frame, by its position among those of the program.
    pub level: usize,
    /// The argument.
    pub name: String,
    /// Its value.
    pub value: Value,
}

/// The conditions of a backtrace, and in words which values are not looked at.
pub fn conditions(
    program: &Program,
    backtrace: &Backtrace,
    fitted: &Fitted,
) -> (Vec<Condition>, Vec<String>) {
    let (mut found, mut ignored) = (Vec::new(), Vec::new());
    for (level, frame) in fitted.frames.iter().enumerate() {
        let procedures = procedures_of(&frame.sites);
        for (name, value) in &backtrace.frames[frame.frame].arguments {
            let why = match value {
                // An address says that it is not null, which is no news.
                Value::Other(_) => Some("it is no number"),
                _ => procedures
                    .iter()
                    .find_map(|procedure| reason(program, *procedure, &frame.sites, name, value)),
            };
            match why {
                None => found.push(Condition { level, name: name.clone(), value: value.clone() }),
                Some(why) => ignored.push(format!("`{name}` of frame #{}: {why}", frame.frame)),
            }
        }
    }
    (found, ignored)
}

pub(crate) fn procedures_of(sites: &Sites) -> Vec<ProcedureId> {
    let mut found: Vec<ProcedureId> = match sites {
        Sites::At(nodes) => nodes.iter().map(|node| node.procedure).collect(),
        Sites::Calls(edges) => edges.iter().map(|edge| edge.procedure).collect(),
        Sites::Unknown => Vec::new(),
    };
    found.sort_unstable();
    found.dedup();
    found
}

/// The parameter of this name.
fn parameter(program: &Program, procedure: ProcedureId, name: &str) -> Option<Var> {
    let body = program.procedure(procedure);
    let parameters = &body.variables[..body.parameters];
    parameters.iter().position(|variable| variable.name == name).map(|i| Var::Local(i as u32))
}

/// Why the value of an argument is not looked at.
fn reason(
    program: &Program,
    procedure: ProcedureId,
    sites: &Sites,
    name: &str,
    value: &Value,
) -> Option<&'static str> {
    let Some(variable) = parameter(program, procedure, name) else {
        return Some("there is no such parameter, or it is not one value");
    };
    let declared = program.variable(procedure, variable);
    let Type::Scalar(ty) = declared.ty else { return Some("it is not one value") };
    if declared.float {
        return Some("it is a floating-point number");
    }
    let function = source_name(&program.procedure(procedure).name);
    let is_in_memory = program.objects.fixed.iter().any(|object| {
        object.name == name && object.function.as_deref().is_some_and(|owner| source_name(owner) == function)
    });
    if is_in_memory || is_addressed(program, procedure, name) {
        return Some("its address is taken");
    }
    let fits = |number: i128| {
        let width = ty.width();
        (-(1i128 << (width - 1))..=(ty.max() as i128)).contains(&number)
    };
    match value {
        Value::NotNull if !declared.pointer => return Some("it is no number"),
        Value::Number(number) | Value::AtEntry(number) if !fits(*number) => {
            return Some("it does not fit its type");
        }
        Value::Number(number) if declared.pointer && *number != 0 => return Some("it is an address"),
        _ => {}
    }
    // The statement may have changed it before the crash or the call.
    let is_entry = matches!(value, Value::AtEntry(_));
    if !is_entry && is_written(program, procedure, sites, variable) {
        return Some("its line may change it");
    }
    None
}

/// Whether the text of a procedure takes the address of a variable.
fn is_addressed(program: &Program, procedure: ProcedureId, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    program.procedure(procedure).locations.iter().any(|location| {
        let text = program.source(location.span).slice(location.span);
        text.match_indices('&').any(|(at, _)| {
            let rest = text[at + 1..].trim_start_matches([' ', '(']);
            rest.strip_prefix(name).is_some_and(|rest| !rest.starts_with(is_word))
        })
    })
}

/// Whether a statement that a frame is at writes a variable.
fn is_written(program: &Program, procedure: ProcedureId, sites: &Sites, variable: Var) -> bool {
    let body = program.procedure(procedure);
    let spans: Vec<_> = match sites {
        Sites::At(nodes) => nodes.iter().map(|node| program.location(*node).span).collect(),
        Sites::Calls(edges) => edges.iter().map(|edge| program.edge(*edge).span).collect(),
        Sites::Unknown => Vec::new(),
    };
    let overlaps = |node: Node| {
        let span = program.location(node).span;
        spans.iter().any(|other| other.file == span.file && other.start < span.end && span.start < other.end)
    };
    let writes =
        |assignment: &Assignment| assignment.targets.iter().any(|target| target.variable == variable);
    body.edges.iter().any(|edge| {
        overlaps(Node { procedure, location: edge.from })
            && match &edge.operation {
                Operation::Assign(assignment) => writes(assignment),
                Operation::Havoc(targets) => {
                    targets.iter().any(|target: &Target| target.variable == variable)
                }
                Operation::Call(call) => {
                    writes(&call.assignment)
                        || call.results.iter().flatten().any(|target| target.variable == variable)
                }
                _ => false,
            }
    })
}

impl Condition {
    /// The condition in a procedure: at the crash or call, or at the entry.
    pub(crate) fn expr(&self, program: &Program, procedure: ProcedureId) -> Option<(Expr, bool)> {
        let variable = parameter(program, procedure, &self.name)?;
        let ty = program.variable(procedure, variable).ty.element();
        let read = Expr::variable(variable, ty);
        let equal = |number: i128| Expr::constant(number as u64, ty);
        Some(match &self.value {
            Value::Number(number) => (Expr::binary(BinaryOp::Eq, read, equal(*number)), false),
            Value::AtEntry(number) => (Expr::binary(BinaryOp::Eq, read, equal(*number)), true),
            Value::NotNull => (Expr::binary(BinaryOp::Ne, read, equal(0)), false),
            Value::Other(_) => return None,
        })
    }
}
