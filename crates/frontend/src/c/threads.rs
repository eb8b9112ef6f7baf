//! Threads in C: which functions have a model, and what a step is.
//!
//! The functions of POSIX threads are C text (`threads.c`) over four functions of our own, which
//! become operations of the program: a start, an end, and the two ends of an atomic section. The
//! text is linked only if a program starts threads. Then each access to what threads may share is a
//! step of its own ([`one_access_a_step`]): `x++` reads in one and writes in another.

use std::collections::{BTreeMap, BTreeSet};

use wherefore_program::{
    Argument, Assignment, BinaryOp, Edge, EdgeId, Expr, ExprKind, Location, LocationId, LocationKind,
    Operation, Procedure, Program, Scalar, Span, Target, ThreadStart, Type, Unsupported, Var, Variable,
    ViolationKind, When, thread_starts,
};

use super::ctype::CType;
use super::tree::{FunctionId, Object, Step, Term, TermKind, Tree};
use super::usage::Usage;
use super::walk::each_term;

/// The models. Lines that begin with a word in capitals are there only if they are needed.
const TEXT: &str = include_str!("threads.c");

/// The models as a program needs them.
pub(crate) fn text(tree: &Tree, usage: &Usage, checks: &BTreeSet<ViolationKind>) -> String {
    let is_used = |name: &str| usage.functions.iter().any(|id| tree.function(*id).name == name);
    let has_rules = checks.contains(&ViolationKind::Lock);
    let has_kinds = is_used("pthread_mutexattr_settype")
        || is_used("mtx_init")
        || tree.objects.iter().any(|object| has_kind(tree, object));
    let marks = [
        ("LOCK", has_rules),
        ("KIND", has_kinds),
        ("OWNER", has_rules || has_kinds),
        ("PLAIN", !has_rules && !has_kinds),
        ("ERRNO", tree.errno.is_some()),
        ("KEYS", is_used("pthread_key_create") || is_used("tss_create")),
        ("DEADLOCK", checks.contains(&ViolationKind::Deadlock)),
    ];
    let most = most_threads(checks).to_string();
    let mut text = String::new();
    for line in TEXT.lines() {
        let marked = marks.iter().find_map(|(mark, is_needed)| Some((line.strip_prefix(mark)?, *is_needed)));
        let (line, is_needed) = marked.unwrap_or((line, true));
        if is_needed {
            text.push_str(&line.replace("MOST", &most));
            text.push('\n');
        }
    }
    text
}

/// How many threads the models know, with the first one. Deadlocks are searched for among fewer:
/// each configuration says what each thread waits for.
fn most_threads(checks: &BTreeSet<ViolationKind>) -> usize {
    if checks.contains(&ViolationKind::Deadlock) { 12 } else { 64 }
}

/// Whether an object is initialised as a mutex of another kind than the plain one.
fn has_kind(tree: &Tree, object: &Object) -> bool {
    object.initial.iter().flat_map(|initial| &initial.items).any(|item| {
        let mut ty = &object.ty;
        let mut is_kind = false;
        for step in &item.path {
            match (step, ty) {
                (Step::Index(_), CType::Array(element, _)) => ty = element,
                (Step::Field(at), CType::Record(id)) => {
                    let Some(field) = tree.types.record(*id).fields.get(*at) else { return false };
                    is_kind = field.name.as_deref() == Some("__kind");
                    ty = &field.ty;
                }
                _ => return false,
            }
        }
        is_kind && item.value.constant() != Some(0)
    })
}

/// The name under which they appear in spans.
pub(crate) const NAME: &str = "<threads>";

/// The functions that start threads.
pub(crate) const STARTS: [&str; 2] = ["pthread_create", "thrd_create"];

/// Functions of locks that do nothing, and succeed, in a program with one thread that uses them as
/// it must.
const DO_NOTHING: [&str; 29] = [
    "pthread_mutex_init",
    "pthread_mutex_destroy",
    "pthread_mutex_lock",
    "pthread_mutex_unlock",
    "pthread_mutexattr_init",
    "pthread_mutexattr_destroy",
    "pthread_mutexattr_settype",
    "pthread_cond_init",
    "pthread_cond_destroy",
    "pthread_cond_signal",
    "pthread_cond_broadcast",
    "pthread_rwlock_init",
    "pthread_rwlock_destroy",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "pthread_rwlock_unlock",
    "pthread_spin_init",
    "pthread_spin_destroy",
    "pthread_spin_lock",
    "pthread_spin_unlock",
    "mtx_init",
    "mtx_destroy",
    "mtx_lock",
    "mtx_unlock",
    "cnd_init",
    "cnd_destroy",
    "cnd_signal",
    "cnd_broadcast",
    "thrd_yield",
];

/// Whether a function does nothing if there is one thread.
pub(crate) fn does_nothing_alone(name: &str) -> bool {
    DO_NOTHING.contains(&name)
}

/// That a key is none of those that are modelled.
pub(crate) const OTHER_KEYS: &str = "a key with a destructor, or a fifth one, is";

/// The variable that says which thread this is: each thread has its own.
pub(crate) const SELF: &str = "__wherefore_self";

/// Where a new thread starts, until that is known: the edge of `sync` beside its start leads there.
pub(crate) const NOWHERE: LocationId = LocationId(u32::MAX);

/// Whether a program starts threads.
pub(crate) fn has_threads(tree: &Tree, usage: &Usage) -> bool {
    usage.functions.iter().any(|id| {
        let function = tree.function(*id);
        STARTS.contains(&function.name.as_str())
    })
}

/// A join without a place for the result does not read it: then results are not stored for nothing.
pub(crate) fn simplify_joins(tree: &mut Tree) {
    let named = |name: &str| {
        let at = tree.functions.iter().position(|function| function.name == name);
        at.map(|at| FunctionId(at as u32))
    };
    let (Some(join), Some(simple)) = (named("pthread_join"), named("__wherefore_join")) else { return };
    let mut act = |term: &mut Term| {
        let TermKind::Call(callee, arguments) = &mut term.kind else { return };
        let is_null = arguments.get(1).is_some_and(|result| result.constant() == Some(0));
        if is_null && matches!(callee.kind, TermKind::Function(id) if id == join) {
            callee.kind = TermKind::Function(simple);
        }
    };
    for function in &mut tree.functions {
        each_term(function.body.as_deref_mut().unwrap_or_default(), &mut act);
    }
}

/// That more threads may be started than the models know.
pub(crate) const TOO_MANY: &str = "waiting for one of so many threads is";

/// Leaves out the place where too many threads are started, if there are never so many.
pub(crate) fn forget_many(
    program: &Program,
    checks: &BTreeSet<ViolationKind>,
    unsupported: &mut Vec<Unsupported>,
) {
    if thread_starts(program).most().is_some_and(|most| most < most_threads(checks)) {
        unsupported.retain(|place| !place.what.starts_with(TOO_MANY));
    }
}

/// A word about atomic operations of C in a text that also has atomic sections, which do not nest.
pub(crate) fn not_modelled(text: &str) -> Option<(&str, usize)> {
    let has_sections = text.contains("__VERIFIER_atomic");
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = 0;
    while let Some(start) = text[rest..].find(is_word).map(|at| rest + at) {
        let end = text[start..].find(|c| !is_word(c)).map_or(text.len(), |length| start + length);
        let word = &text[start..end];
        let is_called = text[end..].trim_start().starts_with('(');
        let is_builtin = word.starts_with("__atomic_") || word.starts_with("__sync_");
        if has_sections && (word == "_Atomic" || is_builtin && is_called) {
            return Some((word, start));
        }
        rest = end;
    }
    None
}

/// Makes every access to a shared variable a step of its own. `own` are global variables that are
/// not shared, or whose accesses belong together. Locations stay; the answer says where each edge
/// went.
pub(crate) fn one_access_a_step(
    procedure: &mut Procedure,
    globals: &[Variable],
    own: &[Var],
) -> BTreeMap<EdgeId, EdgeId> {
    let edges = std::mem::take(&mut procedure.edges);
    let mut split = Split { procedure, globals, own, made: Vec::new() };
    let mut at = 0;
    while at < edges.len() {
        let from = edges[at].from;
        let count = edges[at..].iter().take_while(|edge| edge.from == from).count();
        split.location(&edges[at..at + count], at);
        at += count;
    }
    let mut made = split.made;
    made.sort_by_key(|(edge, _)| edge.from);
    let mut moved = BTreeMap::new();
    for (new, (_, old)) in made.iter().enumerate() {
        if let Some(old) = old {
            moved.insert(EdgeId(*old as u32), EdgeId(new as u32));
        }
    }
    procedure.edges = made.into_iter().map(|(edge, _)| edge).collect();
    moved
}

struct Split<'a> {
    procedure: &'a mut Procedure,
    globals: &'a [Variable],
    own: &'a [Var],
    /// The edges, with the position of the one that each stands for.
    made: Vec<(Edge, Option<usize>)>,
}

/// An access: the variable, and for bytes of memory the address that they are counted from.
type Access = (Var, Option<Expr>, Option<Expr>);

impl Split<'_> {
    fn is_shared(&self, variable: Var) -> bool {
        match variable {
            Var::Global(i) => self.globals[i as usize].shared && !self.own.contains(&variable),
            Var::Local(_) => false,
        }
    }

    /// What is accessed: the bytes of one number are one access.
    fn access(&self, variable: Var, indices: &[Expr]) -> Access {
        let Var::Global(i) = variable else { return (variable, None, None) };
        match (&self.globals[i as usize].ty, indices) {
            (Type::Memory { element: Scalar::Bits(8), .. }, [address]) => {
                (variable, Some(base(address)), None)
            }
            (_, [index, ..]) => (variable, Some(index.clone()), indices.get(1).cloned()),
            (_, []) => (variable, None, None),
        }
    }

    /// The edges from one location.
    fn location(&mut self, edges: &[Edge], first: usize) {
        if let [start, fork] = edges {
            if start.operation == Operation::StartThread(ThreadStart::At(NOWHERE)) {
                let operation = Operation::StartThread(ThreadStart::At(fork.to));
                return self.made.push((Edge { operation, ..start.clone() }, Some(first)));
            }
        }
        let conditions: Option<Vec<&Expr>> = edges
            .iter()
            .map(|edge| match &edge.operation {
                Operation::Assume(condition) => Some(condition),
                _ => None,
            })
            .collect();
        if let Some(conditions) = conditions {
            if self.accesses(&conditions).len() < 2 {
                let kept = edges.iter().enumerate().map(|(at, edge)| (edge.clone(), Some(first + at)));
                self.made.extend(kept);
                return;
            }
            let conditions = conditions.into_iter().cloned().collect();
            let (at, conditions) = self.read_first(edges[0].from, conditions, edges[0].span);
            for (position, (edge, condition)) in edges.iter().zip(conditions).enumerate() {
                let new = Edge { from: at, operation: Operation::Assume(condition), ..edge.clone() };
                self.made.push((new, Some(first + position)));
            }
            return;
        }
        for (position, edge) in edges.iter().enumerate() {
            self.edge(edge, first + position);
        }
    }

    fn edge(&mut self, edge: &Edge, position: usize) {
        let keep = |split: &mut Self| split.made.push((edge.clone(), Some(position)));
        match &edge.operation {
            // What is done under a condition is one step: the models use this.
            Operation::Assign(Assignment { constraint: None, targets, values }) => {
                self.assign(edge, targets, values, position);
            }
            Operation::Havoc(targets) => {
                let indices: Vec<Expr> = targets.iter().flat_map(|target| target.indices.clone()).collect();
                let reads = self.accesses(&indices.iter().collect::<Vec<_>>()).len();
                if reads == 0 {
                    return keep(self);
                }
                let (at, indices) = self.read_first(edge.from, indices, edge.span);
                let targets = with_indices(targets, indices);
                let operation = Operation::Havoc(targets);
                self.made.push((Edge { from: at, operation, ..edge.clone() }, Some(position)));
            }
            Operation::Return(values) => {
                let reads = self.accesses(&values.iter().collect::<Vec<_>>()).len();
                if reads == 0 {
                    return keep(self);
                }
                let (at, values) = self.read_first(edge.from, values.clone(), edge.span);
                let operation = Operation::Return(values);
                self.made.push((Edge { from: at, operation, ..edge.clone() }, Some(position)));
            }
            Operation::Call(call) if call.assignment == Assignment::default() => {
                let value = |argument: &Argument| match argument {
                    Argument::Value(value) => Some(value.clone()),
                    _ => None,
                };
                let values: Vec<Expr> = call.arguments.iter().filter_map(value).collect();
                if self.accesses(&values.iter().collect::<Vec<_>>()).len() < 2 {
                    return keep(self);
                }
                let (at, values) = self.read_first(edge.from, values, edge.span);
                let mut values = values.into_iter();
                let mut call = call.clone();
                for argument in &mut call.arguments {
                    if let Argument::Value(value) = argument {
                        *value = values.next().expect("one for each");
                    }
                }
                let new = Edge { from: at, operation: Operation::Call(call), ..edge.clone() };
                self.made.push((new, Some(position)));
            }
            _ => keep(self),
        }
    }

    fn assign(&mut self, edge: &Edge, targets: &[Target], values: &[Expr], position: usize) {
        let mut writes: Vec<Access> = Vec::new();
        for target in targets.iter().filter(|target| self.is_shared(target.variable)) {
            let access = self.access(target.variable, &target.indices);
            if !writes.contains(&access) {
                writes.push(access);
            }
        }
        let indices: Vec<Expr> = targets.iter().flat_map(|target| target.indices.clone()).collect();
        let all: Vec<&Expr> = values.iter().chain(&indices).collect();
        let reads = self.accesses(&all).len();
        if reads + writes.len() < 2 {
            return self.made.push((edge.clone(), Some(position)));
        }
        let (mut at, mut read) =
            self.read_first(edge.from, values.iter().chain(&indices).cloned().collect(), edge.span);
        let indices = read.split_off(values.len());
        let targets = with_indices(targets, indices);
        // One write after the other, those of variables that are not shared at the end.
        let mut groups: Vec<(Vec<Target>, Vec<Expr>)> = vec![Default::default(); writes.len() + 1];
        for ((target, value), old) in targets.into_iter().zip(read).zip(&edge_targets(edge)) {
            let access = self.access(old.variable, &old.indices);
            let is_shared = self.is_shared(old.variable);
            let group = writes.iter().position(|write| is_shared && *write == access).unwrap_or(writes.len());
            groups[group].0.push(target);
            groups[group].1.push(value);
        }
        groups.retain(|(targets, _)| !targets.is_empty());
        let last = groups.len().saturating_sub(1);
        for (i, (targets, values)) in groups.into_iter().enumerate() {
            let to = if i == last { edge.to } else { self.open(edge.span) };
            let operation = Operation::Assign(Assignment { targets, values, constraint: None });
            let old = (i == last).then_some(position);
            self.made.push((Edge { from: at, to, operation, span: edge.span }, old));
            at = to;
        }
    }

    /// The shared accesses of expressions.
    fn accesses(&self, values: &[&Expr]) -> Vec<Access> {
        let mut found: Vec<Access> = Vec::new();
        for value in values {
            value.walk(&mut |part| {
                let ExprKind::Read { variable, indices, .. } = &part.kind else { return };
                let access = self.access(*variable, indices);
                if self.is_shared(*variable) && !found.contains(&access) {
                    found.push(access);
                }
            });
        }
        found
    }

    /// Reads what is shared, one access a step, innermost first; the location behind that, and the
    /// expressions over what was read.
    fn read_first(&mut self, from: LocationId, mut values: Vec<Expr>, span: Span) -> (LocationId, Vec<Expr>) {
        let mut at = from;
        loop {
            let mut reads: Vec<Expr> = Vec::new();
            for value in &values {
                self.innermost(value, &mut reads);
            }
            let Some(first) = reads.first().cloned() else { return (at, values) };
            let of = |split: &Self, read: &Expr| match &read.kind {
                ExprKind::Read { variable, indices, .. } => split.access(*variable, indices),
                _ => unreachable!("it is a read"),
            };
            let access = of(self, &first);
            reads.retain(|read| of(self, read) == access);
            let to = self.open(span);
            let mut known: Vec<(Expr, Expr)> = Vec::new();
            let (mut targets, mut read_values) = (Vec::new(), Vec::new());
            for read in reads {
                if known.iter().any(|(old, _)| *old == read) {
                    continue;
                }
                let variable = self.temporary(read.ty, span);
                targets.push(variable.into());
                read_values.push(read.clone());
                known.push((read.clone(), Expr::variable(variable, read.ty)));
            }
            let operation = Operation::Assign(Assignment { targets, values: read_values, constraint: None });
            self.made.push((Edge { from: at, to, operation, span }, None));
            values = values.iter().map(|value| replaced(value, &known)).collect();
            at = to;
        }
    }

    /// The shared reads whose indices read nothing shared, in the order of evaluation.
    fn innermost(&self, value: &Expr, found: &mut Vec<Expr>) {
        for child in value.children() {
            self.innermost(child, found);
        }
        if let ExprKind::Read { variable, indices, .. } = &value.kind {
            let inner: Vec<&Expr> = indices.iter().collect();
            if self.is_shared(*variable) && self.accesses(&inner).is_empty() {
                found.push(value.clone());
            }
        }
    }

    fn open(&mut self, span: Span) -> LocationId {
        let kind = LocationKind::Statement;
        self.procedure.locations.push(Location {
            span,
            labels: Vec::new(),
            kind,
            called: None,
            violation: None,
        });
        LocationId(self.procedure.locations.len() as u32 - 1)
    }

    fn temporary(&mut self, ty: Scalar, span: Span) -> Var {
        let name = format!("read@{}", self.procedure.variables.len());
        self.procedure.variables.push(Variable {
            name,
            ty: Type::Scalar(ty),
            value_names: None,
            signed: false,
            float: false,
            pointer: false,
            shared: false,
            initial: None,
            span,
        });
        Var::Local(self.procedure.variables.len() as u32 - 1)
    }
}

fn edge_targets(edge: &Edge) -> Vec<Target> {
    match &edge.operation {
        Operation::Assign(assignment) => assignment.targets.clone(),
        _ => Vec::new(),
    }
}

/// Targets with other indices, in their order.
fn with_indices(targets: &[Target], indices: Vec<Expr>) -> Vec<Target> {
    let mut indices = indices.into_iter();
    let of = |target: &Target| Target {
        variable: target.variable,
        indices: indices.by_ref().take(target.indices.len()).collect(),
    };
    targets.iter().map(of).collect()
}

/// An address without a constant that is added to it.
fn base(address: &Expr) -> Expr {
    match &address.kind {
        ExprKind::Binary(BinaryOp::Add, left, right) if right.as_constant().is_some() => base(left),
        // Neighbours in one object: objects are further apart.
        ExprKind::Constant(value) => Expr::constant(value & !15, address.ty),
        _ => address.clone(),
    }
}

/// An expression with some parts replaced.
fn replaced(value: &Expr, known: &[(Expr, Expr)]) -> Expr {
    if let Some((_, new)) = known.iter().find(|(old, _)| old == value) {
        return new.clone();
    }
    let boxed = |part: &Expr| Box::new(replaced(part, known));
    let all = |parts: &[Expr]| parts.iter().map(|part| replaced(part, known)).collect();
    let kind = match &value.kind {
        ExprKind::Read { variable, indices, when } => {
            debug_assert_eq!(*when, When::Now);
            ExprKind::Read { variable: *variable, indices: all(indices), when: *when }
        }
        ExprKind::Unary(op, value) => ExprKind::Unary(*op, boxed(value)),
        ExprKind::Binary(op, left, right) => ExprKind::Binary(*op, boxed(left), boxed(right)),
        ExprKind::IfThenElse(condition, then, otherwise) => {
            ExprKind::IfThenElse(boxed(condition), boxed(then), boxed(otherwise))
        }
        ExprKind::Float(op, operands) => ExprKind::Float(*op, all(operands)),
        ExprKind::ZeroExtend(value) => ExprKind::ZeroExtend(boxed(value)),
        ExprKind::SignExtend(value) => ExprKind::SignExtend(boxed(value)),
        ExprKind::Extract { value, low } => ExprKind::Extract { value: boxed(value), low: *low },
        ExprKind::Constant(_) | ExprKind::Choice { .. } => value.kind.clone(),
    };
    Expr { kind, ty: value.ty }
}
