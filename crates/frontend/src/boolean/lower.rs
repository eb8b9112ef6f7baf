//! From the tree to the program: names are resolved, statements become locations and edges.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use wherefore_program::{
    Argument, Assignment, BinaryOp, Call, Expr, FileId, LocationId, LocationKind, Objects, Operation,
    Procedure, ProcedureBuilder, ProcedureId, Program, Scalar, SourceFile, Span, Target, ThreadStart, Type,
    Var, Variable, When,
};

use super::ast::{self, At, ExprKind, Name, Statement, StatementKind};
use crate::diagnostics::Reporter;

/// The program, if there is nothing wrong with it; else something was reported.
pub(super) fn lower(
    file: &ast::File,
    source: SourceFile,
    entry: &str,
    reporter: &mut Reporter<'_>,
) -> Option<Program> {
    let mut globals = FxHashMap::default();
    declare(&file.globals, Var::Global, &mut globals, reporter);
    let mut procedures = FxHashMap::default();
    for (i, procedure) in file.procedures.iter().enumerate() {
        let known = Known { id: ProcedureId(i as u32), syntax: procedure };
        if procedures.insert(procedure.name.text.as_str(), known).is_some() {
            let message = format!("there is another procedure `{}`", procedure.name.text);
            reporter.error(procedure.name.at.clone(), message);
        }
    }
    let entry_id = procedures.get(entry).map(|known| known.id);
    if entry_id.is_none() && !file.incomplete {
        let end = source.text().trim_end().len();
        reporter.error(end.saturating_sub(1)..end, format!("there is no procedure `{entry}`"));
    }
    let scope = Scope { globals, procedures, incomplete: file.incomplete };
    let lowered = file.procedures.iter().map(|procedure| lower_procedure(procedure, &scope, reporter));
    let procedures: Vec<Procedure> = lowered.collect();
    let globals = file.globals.iter().map(|name| Variable { shared: true, ..variable(name) }).collect();
    let program =
        Program { sources: vec![source], globals, procedures, entry: entry_id?, objects: Objects::default() };
    reporter.is_clean().then_some(program)
}

struct Known<'a> {
    id: ProcedureId,
    syntax: &'a ast::Procedure,
}

struct Scope<'a> {
    globals: FxHashMap<String, Var>,
    procedures: FxHashMap<&'a str, Known<'a>>,
    incomplete: bool,
}

fn span(at: &At) -> Span {
    Span::new(FileId(0), at.start, at.end)
}

fn variable(name: &Name) -> Variable {
    let span = span(&name.at);
    Variable {
        name: name.text.clone(),
        ty: Type::BOOL,
        value_names: None,
        signed: false,
        float: false,
        pointer: false,
        shared: false,
        initial: None,
        span,
    }
}

fn declare(
    names: &[Name],
    var: fn(u32) -> Var,
    known: &mut FxHashMap<String, Var>,
    reporter: &mut Reporter<'_>,
) {
    for (i, name) in names.iter().enumerate() {
        if known.insert(name.text.clone(), var(i as u32)).is_some() {
            reporter.error(name.at.clone(), format!("`{}` is declared twice", name.text));
        }
    }
}

fn lower_procedure(procedure: &ast::Procedure, scope: &Scope<'_>, reporter: &mut Reporter<'_>) -> Procedure {
    let names: Vec<Name> = procedure.parameters.iter().chain(&procedure.locals).cloned().collect();
    let mut locals = FxHashMap::default();
    declare(&names, Var::Local, &mut locals, reporter);
    let mut builder = ProcedureBuilder::new(&procedure.name.text, span(&procedure.name.at));
    builder.variables(procedure.parameters.len(), names.iter().map(variable).collect());
    builder.results(vec![Scalar::Bool; procedure.results]);
    let mut lowering = Lowering {
        scope,
        reporter,
        locals,
        builder,
        locations: vec![LocationId(0); procedure.statements],
        labels: FxHashMap::default(),
        unknown: BTreeSet::new(),
        results: procedure.results,
    };
    let enforced = procedure.enforce.as_ref().map(|enforce| lowering.expr(enforce, When::Now));
    lowering.place(&procedure.body);
    let end = lowering.builder.location(span(&procedure.end), LocationKind::End);
    lowering.label(end, &procedure.end_labels);
    let entry = lowering.list(&procedure.body, end);
    let results = vec![Expr::choice(Scalar::Bool); procedure.results];
    let exit = lowering.builder.exit();
    lowering.builder.edge(end, exit, Operation::Return(results), span(&procedure.end));
    let finished = lowering.builder.finish(entry);
    match enforced {
        Some(condition) => finished.enforcing(&condition),
        None => finished,
    }
}

struct Lowering<'a, 'r, 't> {
    scope: &'a Scope<'a>,
    reporter: &'r mut Reporter<'t>,
    locals: FxHashMap<String, Var>,
    builder: ProcedureBuilder,
    /// The location of each statement.
    locations: Vec<LocationId>,
    labels: FxHashMap<String, LocationId>,
    /// Names already reported as unknown.
    unknown: BTreeSet<String>,
    results: usize,
}

impl Lowering<'_, '_, '_> {
    /// Gives every statement a location, in the order of the source, and every label its place.
    fn place(&mut self, statements: &[Statement]) {
        for statement in statements {
            let kind = match &statement.kind {
                StatementKind::Label => LocationKind::Label,
                StatementKind::If { .. } | StatementKind::While { .. } => LocationKind::Branch,
                StatementKind::Assert(_) => LocationKind::Assert,
                StatementKind::Call { .. } if asynchronous(statement).is_none() => LocationKind::Call,
                StatementKind::Return(_) => LocationKind::Return,
                StatementKind::Goto(_) => LocationKind::Goto,
                _ => LocationKind::Statement,
            };
            let location = self.builder.location(span(&statement.at), kind);
            self.locations[statement.id] = location;
            self.label(location, &statement.labels);
            match &statement.kind {
                StatementKind::If { parts, otherwise } => {
                    for part in parts {
                        if part.id != statement.id {
                            self.locations[part.id] =
                                self.builder.location(span(&part.at), LocationKind::Branch);
                        }
                        self.place(&part.then);
                    }
                    self.place(otherwise);
                }
                StatementKind::While { body, .. } => self.place(body),
                _ => {}
            }
        }
    }

    fn label(&mut self, location: LocationId, labels: &[Name]) {
        for label in labels {
            if self.labels.insert(label.text.clone(), location).is_some() {
                self.reporter.error(label.at.clone(), format!("there is another label `{}`", label.text));
            }
            self.builder.label(location, &label.text);
        }
    }

    /// Lowers a list and says where it starts, if `after` comes after it.
    fn list(&mut self, statements: &[Statement], after: LocationId) -> LocationId {
        for (i, statement) in statements.iter().enumerate() {
            let next = statements.get(i + 1).map_or(after, |next| self.locations[next.id]);
            self.statement(statement, next);
        }
        statements.first().map_or(after, |first| self.locations[first.id])
    }

    fn statement(&mut self, statement: &Statement, next: LocationId) {
        let at = self.locations[statement.id];
        let here = span(&statement.at);
        let operation = match &statement.kind {
            StatementKind::Label | StatementKind::Skip => Operation::Skip,
            StatementKind::Print(values) => {
                values.iter().for_each(|value| drop(self.expr(value, When::Now)));
                Operation::Skip
            }
            StatementKind::Dead(names) => Operation::Havoc(self.targets(names)),
            StatementKind::Assign { targets, values, constraint } => {
                if targets.len() != values.len() {
                    let message = format!(
                        "{} assigned to {}",
                        count(values.len(), "value"),
                        count(targets.len(), "variable")
                    );
                    self.reporter.error(statement.at.clone(), message);
                }
                let mut seen = BTreeSet::new();
                for target in targets.iter().filter(|target| !seen.insert(&target.text)) {
                    self.reporter.error(target.at.clone(), format!("`{}` is assigned twice", target.text));
                }
                let targets = self.targets(targets);
                let values = values.iter().map(|value| self.expr(value, When::Now)).collect();
                let constraint = constraint.as_ref().map(|constraint| self.expr(constraint, When::Next));
                Operation::Assign(Assignment { targets, values, constraint })
            }
            StatementKind::Call { targets, callee, arguments } => {
                let Some((callee_id, arguments, results)) = self.callee(callee, arguments) else { return };
                if let Some(label) = asynchronous(statement) {
                    if !targets.is_empty() {
                        let message = format!("`{}` starts a thread: it has no results", label.text);
                        self.reporter.error(statement.at.clone(), message);
                    }
                    Operation::StartThread(ThreadStart::Call { callee: callee_id, arguments })
                } else {
                    if targets.len() != results {
                        let hint = if results > targets.len() { " (`_` drops one)" } else { "" };
                        let message = format!(
                            "`{}` returns {}, not {}{hint}",
                            callee.text,
                            count(results, "value"),
                            targets.len()
                        );
                        self.reporter.error(statement.at.clone(), message);
                    }
                    let results = targets
                        .iter()
                        .map(|target| target.as_ref().and_then(|name| self.variable(name)).map(Target::from));
                    let results = results.collect();
                    let assignment = Assignment::default();
                    Operation::Call(Call { callee: callee_id, arguments, results, assignment })
                }
            }
            StatementKind::Assume(condition) => Operation::Assume(self.expr(condition, When::Now)),
            StatementKind::Assert(condition) => {
                let condition = self.expr(condition, When::Now);
                return self.builder.assert(at, condition, next);
            }
            StatementKind::Goto(labels) => {
                let mut seen = BTreeSet::new();
                for label in labels {
                    if let Some(to) = self.jump(label).filter(|to| seen.insert(*to)) {
                        self.builder.edge(at, to, Operation::Skip, here);
                    }
                }
                return;
            }
            StatementKind::If { parts, otherwise } => {
                let last = self.list(otherwise, next);
                for (i, part) in parts.iter().enumerate() {
                    let (at, here) = (self.locations[part.id], span(&part.at));
                    let condition = self.expr(&part.condition, When::Now);
                    let then = self.list(&part.then, next);
                    let otherwise = parts.get(i + 1).map_or(last, |part| self.locations[part.id]);
                    self.builder.edge(at, then, Operation::Assume(condition.clone()), here);
                    self.builder.edge(at, otherwise, Operation::Assume(condition.not()), here);
                }
                return;
            }
            StatementKind::While { condition, body } => {
                let condition = self.expr(condition, When::Now);
                let body = self.list(body, at);
                self.builder.edge(at, body, Operation::Assume(condition.clone()), here);
                self.builder.edge(at, next, Operation::Assume(condition.not()), here);
                return;
            }
            StatementKind::Return(values) => {
                if values.len() != self.results {
                    let message =
                        format!("{} returned instead of {}", count(values.len(), "value"), self.results);
                    self.reporter.error(statement.at.clone(), message);
                }
                let values = values.iter().map(|value| self.expr(value, When::Now)).collect();
                let exit = self.builder.exit();
                return self.builder.edge(at, exit, Operation::Return(values), here);
            }
            StatementKind::StartAt(label) => match self.jump(label) {
                Some(to) => Operation::StartThread(ThreadStart::At(to)),
                None => return,
            },
            StatementKind::StartCall { callee, arguments } => match self.callee(callee, arguments) {
                Some((callee, arguments, _)) => {
                    Operation::StartThread(ThreadStart::Call { callee, arguments })
                }
                None => return,
            },
            StatementKind::EndThread => {
                let exit = self.builder.exit();
                return self.builder.edge(at, exit, Operation::EndThread, here);
            }
            StatementKind::Sync => Operation::Sync,
            StatementKind::AtomicBegin => Operation::AtomicBegin,
            StatementKind::AtomicEnd => Operation::AtomicEnd,
        };
        self.builder.edge(at, next, operation, here);
    }

    fn jump(&mut self, label: &Name) -> Option<LocationId> {
        let found = self.labels.get(&label.text).copied();
        if found.is_none() && !self.scope.incomplete {
            self.reporter.error(label.at.clone(), format!("there is no label `{}` here", label.text));
        }
        found
    }

    fn callee(
        &mut self,
        name: &Name,
        arguments: &[ast::Expr],
    ) -> Option<(ProcedureId, Vec<Argument>, usize)> {
        let lowered: Vec<_> =
            arguments.iter().map(|argument| Argument::Value(self.expr(argument, When::Now))).collect();
        let Some(callee) = self.scope.procedures.get(name.text.as_str()) else {
            if !self.scope.incomplete {
                self.reporter.error(name.at.clone(), format!("there is no procedure `{}`", name.text));
            }
            return None;
        };
        let wanted = callee.syntax.parameters.len();
        if wanted != arguments.len() {
            let message =
                format!("`{}` takes {}, not {}", name.text, count(wanted, "argument"), arguments.len());
            self.reporter.error(name.at.clone(), message);
        }
        Some((callee.id, lowered, callee.syntax.results))
    }

    fn targets(&mut self, names: &[Name]) -> Vec<Target> {
        names.iter().filter_map(|name| self.variable(name)).map(Target::from).collect()
    }

    fn variable(&mut self, name: &Name) -> Option<Var> {
        let found = self.locals.get(&name.text).or_else(|| self.scope.globals.get(&name.text)).copied();
        if found.is_none() && !self.scope.incomplete && self.unknown.insert(name.text.clone()) {
            self.reporter.error(name.at.clone(), format!("`{}` is not declared", name.text));
        }
        found
    }

    /// Lowers an expression that may read states up to `latest`.
    fn expr(&mut self, expr: &ast::Expr, latest: When) -> Expr {
        let mut pair =
            |left: &ast::Expr, right: &ast::Expr| (self.expr(left, latest), self.expr(right, latest));
        match &expr.kind {
            ExprKind::Constant(value) => Expr::bool(*value),
            ExprKind::Choice => Expr::choice(Scalar::Bool),
            ExprKind::Variable(name) => self.read(name, When::Now),
            ExprKind::Next(name) => {
                if latest == When::Now {
                    let start = name.at.start.saturating_sub(1);
                    let message = format!("`'{}` is only known after `constrain`", name.text);
                    self.reporter.error(start..name.at.end, message);
                }
                self.read(name, When::Next)
            }
            ExprKind::Not(inner) => self.expr(inner, latest).not(),
            ExprKind::Equal(left, right) => {
                let (left, right) = pair(left, right);
                Expr::binary(BinaryOp::Eq, left, right)
            }
            ExprKind::Differ(left, right) => {
                let (left, right) = pair(left, right);
                Expr::binary(BinaryOp::Xor, left, right)
            }
            ExprKind::Implies(left, right) => {
                let (left, right) = pair(left, right);
                Expr::binary(BinaryOp::Implies, left, right)
            }
            ExprKind::All(parts) => Expr::all(parts.iter().map(|part| self.expr(part, latest)).collect()),
            ExprKind::Any(parts) => Expr::any(parts.iter().map(|part| self.expr(part, latest)).collect()),
            ExprKind::Choose(positive, negative) => {
                let (positive, negative) = pair(positive, negative);
                match (positive.as_constant(), negative.as_constant()) {
                    (Some(0), Some(0)) => Expr::choice(Scalar::Bool),
                    _ => {
                        Expr::any(vec![positive, Expr::all(vec![negative.not(), Expr::choice(Scalar::Bool)])])
                    }
                }
            }
        }
    }

    fn read(&mut self, name: &Name, when: When) -> Expr {
        match self.variable(name) {
            Some(variable) => Expr::read(variable, Vec::new(), when, Scalar::Bool),
            None => Expr::bool(false),
        }
    }
}

/// The label that makes a call the start of a thread, in the older way to write it.
fn asynchronous(statement: &Statement) -> Option<&Name> {
    statement.labels.iter().find(|label| label.text.starts_with("ASYNC_"))
}

fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}
