//! What a program uses: functions that can be called, objects whose address is taken.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::ctype::{CType, Length};
use super::lower::jumps::JUMP;
use super::tree::{FunctionId, Initial, Lifetime, ObjectId, Statement, StatementKind, Term, TermKind, Tree};
use wherefore_program::BinaryOp;

/// What a program uses from its entry on.
#[derive(Default)]
pub(crate) struct Usage {
    /// Functions with a body that may be called, and those without one that are mentioned.
    pub(crate) functions: BTreeSet<FunctionId>,
    /// Functions whose address is taken.
    pub(crate) addressed: BTreeSet<FunctionId>,
    /// Objects whose address is taken: they live in memory.
    pub(crate) exposed: FxHashSet<ObjectId>,
    /// Local objects that nested functions name.
    pub(crate) shared: FxHashSet<ObjectId>,
    /// Objects that statements assign to.
    pub(crate) assigned: FxHashSet<ObjectId>,
    /// Functions that may call themselves, directly or not.
    pub(crate) recursive: FxHashSet<FunctionId>,
    /// Functions that name local objects of others, which they are inside of.
    pub(crate) captures: BTreeSet<(FunctionId, FunctionId)>,
    /// Functions whose calls `longjmp` may leave: they call it, directly or not.
    pub(crate) jumping: FxHashSet<FunctionId>,
}

/// `array[index]` without the array turning into a pointer first.
pub(crate) fn element<'t>(pointer: &'t Term, tree: &Tree) -> Option<(&'t Term, Option<&'t Term>)> {
    let array = |term: &'t Term| match &term.kind {
        TermKind::Address(place) => match &place.ty {
            CType::Array(of, _) if term.ty.pointee() == Some(&**of) => Some(&**place),
            _ => None,
        },
        _ => None,
    };
    if let Some(place) = array(pointer) {
        return Some((place, None));
    }
    match &pointer.kind {
        TermKind::Offset(BinaryOp::Add, base, index, scale) => {
            let place = array(base)?;
            let CType::Array(of, _) = &place.ty else { return None };
            (tree.types.size(of) == Some(*scale) && pointer.ty == base.ty).then_some((place, Some(index)))
        }
        _ => None,
    }
}

/// Walks over bodies from the entry on.
struct Walk<'t> {
    tree: &'t Tree,
    usage: Usage,
    queue: Vec<FunctionId>,
    objects: FxHashSet<ObjectId>,
    /// The function at hand.
    function: Option<FunctionId>,
    /// Calls of the function at hand.
    calls: BTreeSet<FunctionId>,
    indirect: bool,
}

impl Usage {
    pub(crate) fn new(tree: &Tree, entries: &[FunctionId]) -> Usage {
        let mut walk = Walk {
            tree,
            usage: Usage::default(),
            queue: Vec::new(),
            objects: FxHashSet::default(),
            function: None,
            calls: BTreeSet::new(),
            indirect: false,
        };
        for id in entries.iter().copied().chain(tree.constructors()).chain(tree.destructors()) {
            walk.function(id);
        }
        let mut edges: Vec<CallsOf> = Vec::new();
        while let Some(id) = walk.queue.pop() {
            walk.calls.clear();
            walk.function = Some(id);
            walk.indirect = false;
            if let Some(body) = &tree.function(id).body {
                walk.statements(body);
            }
            edges.push((id, std::mem::take(&mut walk.calls), walk.indirect));
        }
        let mut usage = walk.usage;
        for (_, calls, indirect) in &mut edges {
            if *indirect {
                calls.extend(usage.addressed.iter().copied());
            }
        }
        usage.recursive = recursive(&edges);
        usage.jumping = jumping(tree, &edges);
        usage
    }
}

/// The functions from which calls lead to a jump.
fn jumping(tree: &Tree, edges: &[CallsOf]) -> FxHashSet<FunctionId> {
    let mut found = FxHashSet::default();
    loop {
        let before = found.len();
        for (from, calls, _) in edges {
            if calls.iter().any(|id| found.contains(id) || tree.function(*id).name == JUMP) {
                found.insert(*from);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// A function, those that it may call, and whether it calls through pointers.
type CallsOf = (FunctionId, BTreeSet<FunctionId>, bool);

/// The functions that can reach themselves.
fn recursive(edges: &[CallsOf]) -> FxHashSet<FunctionId> {
    let positions: FxHashMap<FunctionId, usize> =
        edges.iter().enumerate().map(|(i, (from, ..))| (*from, i)).collect();
    let successors: Vec<Vec<usize>> = edges
        .iter()
        .map(|(_, calls, _)| calls.iter().filter_map(|callee| positions.get(callee).copied()).collect())
        .collect();
    let mut found = FxHashSet::default();
    for start in 0..edges.len() {
        let mut seen = vec![false; edges.len()];
        let mut queue = successors[start].clone();
        while let Some(next) = queue.pop() {
            if next == start {
                found.insert(edges[start].0);
                break;
            }
            if !std::mem::replace(&mut seen[next], true) {
                queue.extend(&successors[next]);
            }
        }
    }
    found
}

impl<'t> Walk<'t> {
    fn function(&mut self, id: FunctionId) {
        if self.usage.functions.insert(id) {
            self.queue.push(id);
        }
    }

    /// An object is mentioned: what its initial value mentions is used too.
    fn object(&mut self, id: ObjectId) {
        // A nested function names it: it lives in memory, where both find it.
        let object = self.tree.object(id);
        let owner = object.owner.filter(|_| object.lifetime != Lifetime::Static);
        if let Some((owner, function)) = owner.zip(self.function).filter(|(owner, here)| owner != here) {
            self.usage.exposed.insert(id);
            self.usage.shared.insert(id);
            self.usage.captures.insert((function, owner));
        }
        if self.objects.insert(id) {
            if let Some(initial) = &self.tree.object(id).initial {
                self.initial(initial);
            }
        }
    }

    fn initial(&mut self, initial: &'t Initial) {
        for item in &initial.items {
            self.term(&item.value);
        }
    }

    fn statements(&mut self, statements: &'t [Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &'t Statement) {
        match &statement.kind {
            StatementKind::Expression(term) | StatementKind::Return(Some(term)) => self.term(term),
            StatementKind::Cleanup(_, term) | StatementKind::GotoAny(term) => self.term(term),
            StatementKind::Declare(id, initial) => {
                self.lengths(&self.tree.object(*id).ty);
                initial.iter().for_each(|initial| self.initial(initial));
            }
            StatementKind::Block(statements) => self.statements(statements),
            StatementKind::If(condition, then, otherwise) => {
                self.term(condition);
                self.statement(then);
                if let Some(otherwise) = otherwise {
                    self.statement(otherwise);
                }
            }
            StatementKind::While(term, body)
            | StatementKind::DoWhile(body, term)
            | StatementKind::Switch(term, body) => {
                self.term(term);
                self.statement(body);
            }
            StatementKind::For(first, condition, step, body) => {
                self.statements(first);
                condition.iter().chain(step).for_each(|term| self.term(term));
                self.statement(body);
            }
            StatementKind::Assembly(assembly) => {
                self.usage.assigned.extend(assembly.outputs.iter().filter_map(root));
                assembly.outputs.iter().chain(&assembly.inputs).for_each(|operand| self.term(operand));
            }
            _ => {}
        }
    }

    /// A nested function uses objects of this type: the lengths in it may be told by the function
    /// around.
    fn lengths(&mut self, ty: &CType) {
        if !self.function.is_some_and(|id| self.tree.function(id).nested) {
            return;
        }
        match ty {
            CType::Array(element, length) => {
                if let Length::Variable(length) = length {
                    self.object(ObjectId(*length));
                }
                self.lengths(element);
            }
            CType::Pointer(to) => self.lengths(to),
            _ => {}
        }
    }

    fn term(&mut self, term: &'t Term) {
        self.lengths(&term.ty);
        match &term.kind {
            TermKind::Function(id) => {
                self.function(*id);
                self.usage.addressed.insert(*id);
            }
            TermKind::Object(id) => self.object(*id),
            TermKind::Address(place) => {
                if let Some(root) = root(place) {
                    self.usage.exposed.insert(root);
                }
                self.term(place);
            }
            TermKind::Deref(pointer) => match element(pointer, self.tree) {
                Some((array, index)) => {
                    self.term(array);
                    index.into_iter().for_each(|index| self.term(index));
                }
                None => self.term(pointer),
            },
            TermKind::Call(callee, arguments) => {
                match callee.kind {
                    TermKind::Function(id) => {
                        self.function(id);
                        self.calls.insert(id);
                        if super::models::ends_in_order(&self.tree.function(id).name) {
                            self.calls.extend(self.tree.destructors());
                        }
                    }
                    _ => {
                        self.indirect = true;
                        self.term(callee);
                    }
                }
                arguments.iter().for_each(|argument| self.term(argument));
            }
            TermKind::Block(statements, value) => {
                self.statements(statements);
                value.iter().for_each(|value| self.term(value));
            }
            _ => {
                if let TermKind::Assign(place, _) | TermKind::Update(place, ..) = &term.kind {
                    self.usage.assigned.extend(root(place));
                }
                term.children().into_iter().for_each(|child| self.term(child));
            }
        }
    }
}

/// The object that a place is a part of.
pub(crate) fn root(place: &Term) -> Option<ObjectId> {
    match &place.kind {
        TermKind::Object(id) | TermKind::Materialise(id, _) | TermKind::Literal(id, _) => Some(*id),
        TermKind::Field(base, _) => root(base),
        TermKind::Deref(pointer) => match &pointer.kind {
            TermKind::Address(place) => root(place),
            TermKind::Offset(BinaryOp::Add, base, ..) => match &base.kind {
                TermKind::Address(place) => root(place),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}
