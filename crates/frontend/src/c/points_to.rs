//! Which places may be one: a points-to analysis by unification.
//!
//! Every object and every allocation has a class; a class has at most one class that its contents point to. An
//! assignment unifies what both sides point to (Steensgaard, *Points-to analysis in almost linear time*). Structures are
//! not split into fields. Integers may hold addresses, so they are followed as pointers are; arithmetic on a pointer stays
//! inside its object, arithmetic on integers may lead from each operand.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use wherefore_program::Span;

use super::ctype::{CType, Length};
use super::models;
use super::tree::{
    FunctionId, Initial, Lifetime, ObjectId, Statement, StatementKind, Step, Term, TermKind, Tree,
};
use super::usage::Usage;

/// A class, by the number of one of its members.
pub(crate) type Class = u32;

/// What is known of a class.
#[derive(Clone, Default)]
pub(crate) struct Facts {
    /// The sizes of the scalars that are read and written, in bytes.
    pub(crate) sizes: BTreeSet<u64>,
    /// Every distance from the start of an object is a multiple of this; 0 if there is only the start.
    pub(crate) step: u64,
    /// Whether memory that comes from `malloc` and the like is in it.
    pub(crate) heap: bool,
    /// Whether an object of the program is in it.
    pub(crate) owned: bool,
    /// Functions in it.
    pub(crate) functions: BTreeSet<FunctionId>,
}

#[derive(Default)]
pub(crate) struct Classes {
    parent: Vec<Class>,
    pointee: Vec<Option<Class>>,
    facts: Vec<Facts>,
    /// What a function in the class takes and returns, as classes pointed to.
    signatures: Vec<Option<(Vec<Class>, Class)>>,
    objects: FxHashMap<ObjectId, Class>,
    results: FxHashMap<FunctionId, Class>,
    functions: FxHashMap<FunctionId, Class>,
    allocations: BTreeMap<Span, Class>,
    absolute: Option<Class>,
    old: Vec<Class>,
    /// What the function at hand returns points to.
    block_result: Option<Class>,
    /// Classes below this one are no longer joined: zero while the analysis runs.
    complete: Class,
}

impl Classes {
    pub(crate) fn new(tree: &Tree, usage: &Usage) -> Classes {
        let mut classes = Classes::default();
        for id in &usage.functions {
            if let Some(body) = &tree.function(*id).body {
                let result = classes.result(*id);
                classes.statements(tree, body, result);
            }
        }
        for (i, object) in tree.objects.iter().enumerate() {
            if let (Lifetime::Static, Some(initial)) = (object.lifetime, &object.initial) {
                let class = classes.object(ObjectId(i as u32));
                classes.initial(tree, class, &object.ty, initial);
            }
        }
        classes.complete = classes.parent.len() as Class;
        classes
    }

    fn fresh(&mut self) -> Class {
        let class = self.parent.len() as Class;
        self.parent.push(class);
        self.pointee.push(None);
        self.facts.push(Facts::default());
        self.signatures.push(None);
        class
    }

    pub(crate) fn find(&mut self, mut class: Class) -> Class {
        while self.parent[class as usize] != class {
            let up = self.parent[class as usize];
            self.parent[class as usize] = self.parent[up as usize];
            class = up;
        }
        class
    }

    pub(crate) fn facts(&mut self, class: Class) -> &mut Facts {
        let class = self.find(class);
        &mut self.facts[class as usize]
    }

    fn join(&mut self, a: Class, b: Class) -> Class {
        let mut queue = vec![(a, b)];
        while let Some((a, b)) = queue.pop() {
            let (a, b) = (self.find(a), self.find(b));
            if a == b {
                continue;
            }
            // The older one stands for both, so that classes keep their names once all is known.
            let (a, b) = (a.min(b), a.max(b));
            debug_assert!(b >= self.complete, "all classes are known before they are used");
            self.parent[b as usize] = a;
            let gone = std::mem::take(&mut self.facts[b as usize]);
            let facts = &mut self.facts[a as usize];
            facts.sizes.extend(gone.sizes);
            facts.step = gcd(facts.step, gone.step);
            facts.heap |= gone.heap;
            facts.owned |= gone.owned;
            facts.functions.extend(gone.functions);
            match (self.pointee[a as usize], self.pointee[b as usize].take()) {
                (Some(x), Some(y)) => queue.push((x, y)),
                (None, other) => self.pointee[a as usize] = other,
                _ => {}
            }
            match (self.signatures[a as usize].clone(), self.signatures[b as usize].take()) {
                (Some((xs, x)), Some((ys, y))) => {
                    queue.push((x, y));
                    queue.extend(xs.iter().copied().zip(ys.iter().copied()));
                    if ys.len() > xs.len() {
                        self.signatures[a as usize] = Some((ys, x));
                    }
                }
                (None, other) => self.signatures[a as usize] = other,
                _ => {}
            }
        }
        self.find(a)
    }

    pub(crate) fn object(&mut self, id: ObjectId) -> Class {
        match self.objects.get(&id) {
            Some(class) => *class,
            None => {
                let class = self.fresh();
                self.facts[class as usize].owned = true;
                self.objects.insert(id, class);
                class
            }
        }
    }

    fn result(&mut self, id: FunctionId) -> Class {
        match self.results.get(&id) {
            Some(class) => *class,
            None => {
                let class = self.fresh();
                self.results.insert(id, class);
                class
            }
        }
    }

    /// What the contents of a class point to.
    fn contents(&mut self, class: Class) -> Class {
        let class = self.find(class);
        match self.pointee[class as usize] {
            Some(to) => self.find(to),
            None => {
                let to = self.fresh();
                self.pointee[class as usize] = Some(to);
                to
            }
        }
    }

    /// The class of a function as something that is pointed to.
    fn function(&mut self, tree: &Tree, id: FunctionId) -> Class {
        if let Some(class) = self.functions.get(&id) {
            return *class;
        }
        let class = self.fresh();
        self.functions.insert(id, class);
        self.facts[class as usize].functions.insert(id);
        let mut parameters = Vec::new();
        for parameter in &tree.function(id).parameters {
            let object = self.object(*parameter);
            parameters.push(self.contents(object));
        }
        let result = self.result(id);
        self.signatures[class as usize] = Some((parameters, result));
        class
    }

    /// A scalar or every scalar of an aggregate is read or written.
    fn touch(&mut self, tree: &Tree, class: Class, ty: &CType) {
        match ty {
            CType::Void | CType::Function(_) => {}
            CType::Array(element, length) => {
                self.touch(tree, class, element);
                if *length != Length::Known(1) {
                    self.moved(class, tree.types.size(element).unwrap_or(1));
                }
            }
            CType::Record(id) => {
                let record = tree.types.record(*id);
                for field in &record.fields {
                    self.moved(class, field.offset);
                    if field.bits.is_some() || record.union {
                        self.facts(class).sizes.insert(1);
                        self.moved(class, 1);
                    } else {
                        self.touch(tree, class, &field.ty);
                    }
                }
            }
            scalar => {
                let size = tree.types.size(scalar).unwrap_or(1);
                // A long double has cells of bytes.
                let size = if size > 8 { 1 } else { size };
                self.facts(class).sizes.insert(size);
            }
        }
    }

    fn moved(&mut self, class: Class, by: u64) {
        let facts = self.facts(class);
        facts.step = gcd(facts.step, by);
    }

    /// The class of a place.
    pub(crate) fn place(&mut self, tree: &Tree, term: &Term) -> Class {
        match &term.kind {
            TermKind::Object(id) => self.object(*id),
            TermKind::Deref(pointer) => self.value(tree, pointer),
            TermKind::Field(base, i) => {
                let class = self.place(tree, base);
                if let CType::Record(id) = base.ty {
                    let field = &tree.types.record(id).fields[*i];
                    self.moved(class, field.offset);
                    if field.bits.is_some() {
                        self.facts(class).sizes.insert(1);
                        self.moved(class, 1);
                    }
                }
                class
            }
            TermKind::Materialise(id, value) => {
                let class = self.object(*id);
                self.store(tree, class, value);
                class
            }
            TermKind::Literal(id, initial) => {
                let class = self.object(*id);
                self.initial(tree, class, &term.ty, initial);
                class
            }
            _ => self.value(tree, term),
        }
    }

    fn store(&mut self, tree: &Tree, class: Class, value: &Term) -> Class {
        let to = self.value(tree, value);
        self.touch(tree, class, &value.ty);
        let contents = self.contents(class);
        self.join(contents, to)
    }

    fn initial(&mut self, tree: &Tree, class: Class, ty: &CType, initial: &Initial) {
        // A list sets all scalars; what contains a union is set to zero cell by cell.
        if initial.items.iter().any(|item| !item.path.is_empty()) && !tree.types.has_union(ty) {
            self.touch(tree, class, ty);
        }
        for item in &initial.items {
            for (i, step) in item.path.iter().enumerate() {
                let at = type_at(tree, ty, &item.path[..i]);
                match (step, at) {
                    (Step::Field(i), Some(CType::Record(id))) => {
                        let field = &tree.types.record(id).fields[*i];
                        self.moved(class, field.offset);
                        if field.bits.is_some() {
                            self.facts(class).sizes.insert(1);
                            self.moved(class, 1);
                        }
                    }
                    (Step::Index(_), Some(CType::Array(element, _))) => {
                        self.moved(class, tree.types.size(&element).unwrap_or(1));
                    }
                    _ => {}
                }
            }
            self.store(tree, class, &item.value);
        }
    }

    fn all(&mut self, tree: &Tree, terms: &[&Term]) -> Class {
        let mut class = self.fresh();
        for term in terms {
            let value = self.value(tree, term);
            class = self.join(class, value);
        }
        class
    }

    /// What a value may point to.
    pub(crate) fn value(&mut self, tree: &Tree, term: &Term) -> Class {
        match &term.kind {
            TermKind::Constant(0) | TermKind::Real(_) => self.fresh(),
            TermKind::Constant(_) if term.ty.is_pointer() => match self.absolute {
                Some(class) => class,
                None => {
                    let class = self.fresh();
                    self.moved(class, 1);
                    *self.absolute.insert(class)
                }
            },
            TermKind::Constant(_) => self.fresh(),
            TermKind::Load(place) => {
                let class = self.place(tree, place);
                self.touch(tree, class, &term.ty);
                self.contents(class)
            }
            TermKind::Address(place) => self.place(tree, place),
            TermKind::Function(id) => self.function(tree, *id),
            TermKind::Convert(value) => self.value(tree, value),
            TermKind::Offset(_, pointer, index, scale) => {
                let moved = self.value(tree, pointer);
                let other = self.value(tree, index);
                let by = index.constant().map_or(*scale, |index| index.wrapping_mul(*scale));
                self.moved(moved, by);
                if pointer.constant().is_some() {
                    self.moved(other, 1);
                    return self.join(moved, other);
                }
                moved
            }
            TermKind::Compare(..)
            | TermKind::Not(_)
            | TermKind::And(..)
            | TermKind::Or(..)
            | TermKind::Difference(..) => {
                for child in term.children() {
                    self.value(tree, child);
                }
                self.fresh()
            }
            TermKind::Unary(..) | TermKind::Arithmetic(..) | TermKind::Shift(..) | TermKind::Divide(..) => {
                let class = self.all(tree, &term.children());
                self.moved(class, 1);
                class
            }
            TermKind::Conditional(condition, then, otherwise) => {
                self.value(tree, condition);
                self.all(tree, &[then, otherwise])
            }
            TermKind::Assign(place, value) => {
                let class = self.place(tree, place);
                self.store(tree, class, value)
            }
            TermKind::Update(place, value, _) => {
                let class = self.place(tree, place);
                let old = self.contents(class);
                self.old.push(old);
                let new = self.store(tree, class, value);
                self.old.pop();
                new
            }
            TermKind::Old => match self.old.last() {
                Some(class) => *class,
                None => self.fresh(),
            },
            TermKind::Comma(terms) => {
                let mut last = self.fresh();
                for term in terms {
                    last = self.value(tree, term);
                }
                last
            }
            TermKind::Call(callee, arguments) => self.call(tree, callee, arguments, term),
            TermKind::Block(statements, value) => {
                // A return inside leaves the function: its value is handled by the statement itself.
                let result = self.block_result;
                self.statements(tree, statements, result.unwrap_or(0));
                match value {
                    Some(value) => self.value(tree, value),
                    None => self.fresh(),
                }
            }
            // A place that is a value by itself: a structure.
            _ => {
                let class = self.place(tree, term);
                self.contents(class)
            }
        }
    }

    fn call(&mut self, tree: &Tree, callee: &Term, arguments: &[Term], term: &Term) -> Class {
        let mut values = Vec::new();
        for argument in arguments {
            values.push(self.value(tree, argument));
        }
        let class = match callee.kind {
            TermKind::Function(id) if tree.function(id).body.is_none() => {
                let name = tree.function(id).name.as_str();
                if models::allocates(name) {
                    let fresh = self.fresh();
                    let class = *self.allocations.entry(term.span).or_insert(fresh);
                    self.facts(class).heap = true;
                    return class;
                }
                let mut class = self.fresh();
                if !models::is_harmless(name) {
                    for (value, argument) in values.iter().zip(arguments) {
                        if let Some(to) = argument.ty.pointee() {
                            class = self.join(class, *value);
                            self.touch(tree, class, to);
                            self.touch_argument(tree, argument);
                        }
                    }
                }
                return class;
            }
            TermKind::Function(id) => self.function(tree, id),
            TermKind::Deref(ref pointer) => self.value(tree, pointer),
            _ => self.value(tree, callee),
        };
        let class = self.find(class);
        let (mut parameters, result) = match self.signatures[class as usize].clone() {
            Some(signature) => signature,
            None => (Vec::new(), self.fresh()),
        };
        while parameters.len() < values.len() {
            parameters.push(self.fresh());
        }
        self.signatures[class as usize] = Some((parameters.clone(), result));
        for (parameter, value) in parameters.into_iter().zip(values) {
            self.join(parameter, value);
        }
        self.find(result)
    }

    /// A function without a body may change what `&x` points to, as a whole.
    fn touch_argument(&mut self, tree: &Tree, argument: &Term) {
        match &argument.kind {
            TermKind::Convert(inner) => self.touch_argument(tree, inner),
            TermKind::Address(place) => {
                let class = self.place(tree, place);
                self.touch(tree, class, &place.ty);
            }
            _ => {}
        }
    }

    fn statements(&mut self, tree: &Tree, statements: &[Statement], result: Class) {
        let outer = self.block_result.replace(result);
        for statement in statements {
            self.statement(tree, statement, result);
        }
        self.block_result = outer;
    }

    fn statement(&mut self, tree: &Tree, statement: &Statement, result: Class) {
        match &statement.kind {
            StatementKind::Expression(term) => {
                self.value(tree, term);
            }
            StatementKind::Return(Some(term)) => {
                let value = self.value(tree, term);
                self.join(result, value);
            }
            StatementKind::Declare(id, None) => {
                if let CType::Array(_, Length::Variable(_)) = tree.object(*id).ty {
                    let class = self.object(*id);
                    self.facts(class).heap = true;
                }
            }
            StatementKind::Declare(id, Some(initial)) => {
                let class = self.object(*id);
                let ty = tree.object(*id).ty.clone();
                self.initial(tree, class, &ty, initial);
            }
            StatementKind::Block(statements) => self.statements(tree, statements, result),
            StatementKind::If(condition, then, otherwise) => {
                self.value(tree, condition);
                self.statement(tree, then, result);
                if let Some(otherwise) = otherwise {
                    self.statement(tree, otherwise, result);
                }
            }
            StatementKind::While(term, body)
            | StatementKind::DoWhile(body, term)
            | StatementKind::Switch(term, body) => {
                self.value(tree, term);
                self.statement(tree, body, result);
            }
            StatementKind::For(first, condition, step, body) => {
                self.statements(tree, first, result);
                for term in condition.iter().chain(step) {
                    self.value(tree, term);
                }
                self.statement(tree, body, result);
            }
            StatementKind::Assembly(outputs) => {
                for output in outputs {
                    let class = self.place(tree, output);
                    self.touch(tree, class, &output.ty);
                }
            }
            _ => {}
        }
    }
}

fn type_at(tree: &Tree, ty: &CType, path: &[Step]) -> Option<CType> {
    path.iter().try_fold(ty.clone(), |ty, step| match (ty, step) {
        (CType::Array(element, _), Step::Index(_)) => Some((*element).clone()),
        (CType::Record(id), Step::Field(i)) => Some(tree.types.record(id).fields.get(*i)?.ty.clone()),
        _ => None,
    })
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
