//! Programs as readable text.

use std::fmt::{self, Write};

use wherefore_floats::Format;

use crate::expression::{BinaryOp, Expr, ExprKind, Target, UnaryOp, Var, When};
use crate::program::{
    Argument, Assignment, Edge, LocationKind, Operation, ProcedureId, Program, ThreadStart, Variable,
};

impl Program {
    /// The whole program as a listing: globals, then one procedure after the other.
    pub fn listing(&self) -> String {
        let mut out = String::new();
        for variable in &self.globals {
            let _ = writeln!(out, "global {}", Declaration(variable));
        }
        for (id, _) in self.procedures() {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&self.procedure_listing(id));
        }
        out
    }

    /// A procedure as a listing: a line for each location, with its edges below it.
    pub fn procedure_listing(&self, id: ProcedureId) -> String {
        let procedure = self.procedure(id);
        let mut out = String::new();
        let (parameters, locals) = procedure.variables.split_at(procedure.parameters);
        let list = |variables: &[Variable]| {
            variables.iter().map(|v| Declaration(v).to_string()).collect::<Vec<_>>().join(", ")
        };
        let results: Vec<String> = procedure.results.iter().map(ToString::to_string).collect();
        let _ = write!(out, "procedure {}({})", procedure.name, list(parameters));
        if !results.is_empty() {
            let _ = write!(out, " -> {}", results.join(", "));
        }
        let entry = if id == self.entry { "  (entry of the program)" } else { "" };
        let _ = writeln!(out, "{entry}");
        if !locals.is_empty() {
            let _ = writeln!(out, "  local {}", list(locals));
        }
        let _ = writeln!(out, "  start at {}", procedure.entry.0);
        for at in procedure.location_ids().filter(|at| *at != procedure.exit) {
            let location = procedure.location(at);
            let labels: String = location.labels.iter().map(|label| format!(" {label}:")).collect();
            let place = self.position(location.span);
            let _ = writeln!(out, "  {}  line {}, {}{labels}", at.0, place.line, location.kind.name());
            for (_, edge) in procedure.edges_from(at) {
                let to = if edge.to == procedure.exit { String::new() } else { format!(" -> {}", edge.to.0) };
                let _ = writeln!(out, "      {}{to}", self.describe(id, edge));
            }
        }
        out
    }

    /// An expression with the names that a procedure sees.
    pub fn show(&self, procedure: ProcedureId, expr: &Expr) -> String {
        let mut out = String::new();
        let printer = Printer { program: self, procedure };
        printer.expr(&mut out, expr, 0).expect("writing to a string succeeds");
        out
    }

    /// What an edge does, on one line.
    pub fn describe(&self, procedure: ProcedureId, edge: &Edge) -> String {
        let printer = Printer { program: self, procedure };
        let show = |expr: &Expr| self.show(procedure, expr);
        match &edge.operation {
            Operation::Skip => "skip".to_owned(),
            Operation::Assume(condition) => format!("assume {}", show(condition)),
            Operation::Assign(assignment) => printer.assignment(assignment),
            Operation::Havoc(targets) => {
                let targets: Vec<String> = targets.iter().map(|target| printer.target(target)).collect();
                format!("havoc {}", targets.join(", "))
            }
            Operation::Call(call) => {
                let mut text = String::new();
                if !call.results.is_empty() {
                    let results = call.results.iter();
                    let results =
                        results.map(|target| target.as_ref().map_or("_".to_owned(), |t| printer.target(t)));
                    let _ = write!(text, "{} := ", results.collect::<Vec<_>>().join(", "));
                }
                text.push_str(&printer.called(call.callee, &call.arguments));
                if !call.assignment.targets.is_empty() || call.assignment.constraint.is_some() {
                    let _ = write!(text, " with {}", printer.assignment(&call.assignment));
                }
                text
            }
            Operation::Return(values) if values.is_empty() => "return".to_owned(),
            Operation::Return(values) => {
                format!("return {}", values.iter().map(show).collect::<Vec<_>>().join(", "))
            }
            Operation::StartThread(ThreadStart::At(location)) => format!("start_thread at {}", location.0),
            Operation::StartThread(ThreadStart::Call { callee, arguments }) => {
                format!("start_thread {}", printer.called(*callee, arguments))
            }
            Operation::EndThread => "end_thread".to_owned(),
            Operation::AtomicBegin => "atomic_begin".to_owned(),
            Operation::AtomicEnd => "atomic_end".to_owned(),
            Operation::Sync => "sync".to_owned(),
        }
    }

    /// A value of a variable as the source would write it.
    pub fn show_value(&self, variable: &Variable, value: u64) -> String {
        let name = variable.value_names.as_ref().and_then(|names| names.get(value as usize));
        match (name, variable.ty.element()) {
            (Some(name), _) => name.clone(),
            (None, _) if variable.pointer => self.show_pointer(value),
            (None, crate::Scalar::Bits(width)) if variable.float && Format::of_width(width).is_some() => {
                Format::of_width(width).map_or_else(String::new, |format| format.show(value))
            }
            (None, crate::Scalar::Bool) => if value == 0 { "F" } else { "T" }.to_owned(),
            (None, crate::Scalar::Bits(width)) if variable.signed => {
                let unused = 64 - width;
                (((value << unused) as i64) >> unused).to_string()
            }
            (None, _) => value.to_string(),
        }
    }
}

impl LocationKind {
    /// The kind in one word.
    pub fn name(self) -> &'static str {
        match self {
            LocationKind::Statement => "statement",
            LocationKind::Branch => "branch",
            LocationKind::Assert => "assert",
            LocationKind::Call => "call",
            LocationKind::Return => "return",
            LocationKind::End => "end",
            LocationKind::Goto => "goto",
            LocationKind::Enforce => "enforce",
            LocationKind::Label => "label",
            LocationKind::Model => "model",
            LocationKind::Error => "error",
            LocationKind::Unsupported => "unsupported",
            LocationKind::Exit => "exit",
        }
    }
}

struct Declaration<'a>(&'a Variable);

impl fmt::Display for Declaration<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.name, self.0.ty)?;
        if let Some(names) = &self.0.value_names {
            write!(f, " {{{}}}", names.join(", "))?;
        }
        match self.0.initial {
            Some(value) => write!(f, " = {value}"),
            None => Ok(()),
        }
    }
}

struct Printer<'a> {
    program: &'a Program,
    procedure: ProcedureId,
}

impl Printer<'_> {
    fn name(&self, variable: Var) -> &str {
        &self.program.variable(self.procedure, variable).name
    }

    fn target(&self, target: &Target) -> String {
        let indices = target.indices.iter().map(|i| format!("[{}]", self.program.show(self.procedure, i)));
        format!("{}{}", self.name(target.variable), indices.collect::<String>())
    }

    fn assignment(&self, assignment: &Assignment) -> String {
        let targets: Vec<String> = assignment.targets.iter().map(|target| self.target(target)).collect();
        let values = assignment.values.iter().map(|value| self.program.show(self.procedure, value));
        let mut text = format!("{} := {}", targets.join(", "), values.collect::<Vec<_>>().join(", "));
        if let Some(constraint) = &assignment.constraint {
            let _ = write!(text, " constrain {}", self.program.show(self.procedure, constraint));
        }
        text
    }

    fn called(&self, callee: ProcedureId, arguments: &[Argument]) -> String {
        let arguments = arguments.iter().map(|argument| match argument {
            Argument::Value(value) => self.program.show(self.procedure, value),
            Argument::Copy(array, When::Now) => self.name(*array).to_owned(),
            Argument::Copy(array, When::Next) => format!("'{}", self.name(*array)),
            Argument::Arbitrary => "*".to_owned(),
        });
        let arguments: Vec<String> = arguments.collect();
        format!("{}({})", self.program.procedure(callee).name, arguments.join(", "))
    }

    /// Prints with parentheses if the operator binds less tightly than `outer`.
    fn expr(&self, out: &mut String, expr: &Expr, outer: u8) -> fmt::Result {
        match &expr.kind {
            ExprKind::Constant(value) => match expr.ty {
                crate::Scalar::Bool => out.write_str(if *value == 0 { "F" } else { "T" }),
                crate::Scalar::Bits(_) => write!(out, "{value}"),
            },
            ExprKind::Choice { below: None } => out.write_char('*'),
            ExprKind::Choice { below: Some(below) } => write!(out, "*({below})"),
            ExprKind::Read { variable, indices, when } => {
                if *when == When::Next {
                    out.push('\'');
                }
                out.push_str(self.name(*variable));
                for index in indices {
                    out.push('[');
                    self.expr(out, index, 0)?;
                    out.push(']');
                }
                Ok(())
            }
            ExprKind::Unary(op, value) => {
                out.push_str(match op {
                    UnaryOp::Not => "!",
                    UnaryOp::Neg => "-",
                    UnaryOp::BitNot => "~",
                });
                self.expr(out, value, u8::MAX)
            }
            ExprKind::Binary(op, left, right) => {
                let (symbol, level) = operator(*op);
                if level < outer {
                    out.push('(');
                }
                self.expr(out, left, level)?;
                write!(out, " {symbol} ")?;
                self.expr(out, right, level + 1)?;
                if level < outer {
                    out.push(')');
                }
                Ok(())
            }
            ExprKind::ZeroExtend(value) => self.wrapped(out, &format!("zext{}", expr.ty.width()), &[value]),
            ExprKind::SignExtend(value) => self.wrapped(out, &format!("sext{}", expr.ty.width()), &[value]),
            ExprKind::Extract { value, low } => {
                self.wrapped(out, &format!("bits{}to{}", low, low + expr.ty.width() - 1), &[value])
            }
            ExprKind::Float(op, operands) => {
                self.wrapped(out, &op.name(), &operands.iter().collect::<Vec<_>>())
            }
            ExprKind::IfThenElse(condition, then, otherwise) => {
                self.wrapped(out, "ite", &[condition, then, otherwise])
            }
        }
    }

    fn wrapped(&self, out: &mut String, name: &str, parts: &[&Expr]) -> fmt::Result {
        write!(out, "{name}(")?;
        for (i, part) in parts.iter().enumerate() {
            if i > 0 {
                out.push_str(", ");
            }
            self.expr(out, part, 0)?;
        }
        out.write_char(')')
    }
}

fn operator(op: BinaryOp) -> (&'static str, u8) {
    use BinaryOp::*;
    match op {
        Implies => ("=>", 1),
        Or => ("|", 2),
        And => ("&", 3),
        Xor => ("^", 4),
        Eq => ("=", 5),
        Ne => ("!=", 5),
        ULt => ("<", 6),
        ULe => ("<=", 6),
        SLt => ("<s", 6),
        SLe => ("<=s", 6),
        BitOr => ("bor", 7),
        BitXor => ("bxor", 8),
        BitAnd => ("band", 9),
        Shl => ("<<", 10),
        LShr => (">>", 10),
        AShr => (">>s", 10),
        Add => ("+", 11),
        Sub => ("-", 11),
        Mul => ("*", 12),
        UDiv => ("/", 12),
        SDiv => ("/s", 12),
        URem => ("%", 12),
        SRem => ("%s", 12),
    }
}
