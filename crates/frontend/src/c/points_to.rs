//! Which places may be one: a points-to analysis by unification.
//!
//! Every object and every allocation has a class; a class has at most one class that its contents
//! point to. An assignment unifies what both sides point to (Steensgaard, *Points-to analysis in
//! almost linear time*). The fields of a structure are one class, but where pointers only point to
//! its start they get memories of their own. Integers may hold addresses, so they are followed as
//! pointers are; arithmetic on a pointer stays inside its object, arithmetic on integers may lead
//! from each operand.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use wherefore_program::Span;

use super::ctype::{CType, Length};
use super::models;
use super::tree::{
    FunctionId, Initial, Lifetime, ObjectId, Statement, StatementKind, Step, Term, TermKind, Tree,
};
use super::usage::{Usage, element, root};
use super::writes;

/// A class, by the number of one of its members.
pub(crate) type Class = u32;

/// What is known of a class.
#[derive(Clone, Default)]
pub(crate) struct Facts {
    /// The scalars that are read and written: how far they are from where a pointer points, and
    /// their sizes, in bytes.
    pub(crate) accesses: BTreeSet<(u64, u64)>,
    /// Every pointer into an object points to a multiple of this from its start; 0 if only to the
    /// start.
    pub(crate) period: u64,
    /// Whether there are accesses that fit no scheme: unions and bit-fields.
    pub(crate) bytes: bool,
    /// Whether memory that comes from `malloc` and the like is in it.
    pub(crate) heap: bool,
    /// Whether an object of the program whose address is taken is in it.
    pub(crate) exposed: bool,
    /// Whether an object of the program is in it.
    pub(crate) owned: bool,
    /// Where a pointer into it comes from, if from outside.
    pub(crate) outside: Option<Origin>,
    /// Whether memory that the program did not make is in it: it holds anything.
    pub(crate) foreign: bool,
    /// Whether a function without a body gets a pointer into it.
    pub(crate) escaped: bool,
    /// Functions in it.
    pub(crate) functions: BTreeSet<FunctionId>,
}

/// Where a pointer from outside comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// From a function without a body: it knows what was handed out.
    Function,
    /// From an input: it may be anything.
    Input,
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
    smallest: BTreeMap<Class, Option<u64>>,
    /// Classes below this one are no longer joined: zero while the analysis runs.
    complete: Class,
    /// What pointers from outside may point to, once it was asked for.
    elsewhere: Option<BTreeSet<Class>>,
}

impl Classes {
    pub(crate) fn new(tree: &Tree, usage: &Usage, entries: &[FunctionId]) -> Classes {
        let mut classes = Classes::default();
        for id in &usage.functions {
            if let Some(body) = &tree.function(*id).body {
                // Parameters in memory are stored there, whether they are read or not.
                for parameter in &tree.function(*id).parameters {
                    let ty = &tree.object(*parameter).ty;
                    if usage.exposed.contains(parameter) || tree.types.has_union(ty) {
                        let class = classes.object(*parameter);
                        classes.touch(tree, (class, 0), ty);
                    }
                }
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
        for id in &usage.exposed {
            let class = classes.object(*id);
            classes.facts(class).exposed |= !tree.object(*id).name.starts_with("string.");
        }
        for parameter in entries.iter().flat_map(|entry| &tree.function(*entry).parameters) {
            classes.comes_from_outside(*parameter);
        }
        for (i, object) in tree.objects.iter().enumerate() {
            if object.lifetime == Lifetime::Static && !object.defined {
                let id = ObjectId(i as u32);
                classes.comes_from_outside(id);
                if let Some(class) = classes.objects.get(&id).copied() {
                    classes.facts(class).foreign = true;
                }
            }
        }
        classes.spread_foreign();
        classes.complete = classes.parent.len() as Class;
        classes
    }

    /// An object gets its value from outside: a pointer in it points to memory that is not ours.
    fn comes_from_outside(&mut self, id: ObjectId) {
        if let Some(class) = self.objects.get(&id) {
            let to = self.contents(*class);
            self.facts(to).foreign = true;
        }
    }

    /// What lies in memory that is not ours points to such memory.
    fn spread_foreign(&mut self) {
        for class in 0..self.parent.len() as Class {
            let foreign = |facts: &Facts| facts.foreign || facts.outside.is_some();
            let mut at = Some(class).filter(|_| foreign(self.facts(class)));
            let mut seen = BTreeSet::new();
            while let Some(next) = at.map(|at| self.find(at)).filter(|next| seen.insert(*next)) {
                self.facts[next as usize].foreign = true;
                at = self.pointee[next as usize];
            }
        }
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
            facts.accesses.extend(gone.accesses);
            facts.period = gcd(facts.period, gone.period);
            facts.bytes |= gone.bytes;
            facts.heap |= gone.heap;
            facts.owned |= gone.owned;
            facts.exposed |= gone.exposed;
            facts.outside = facts.outside.max(gone.outside);
            facts.foreign |= gone.foreign;
            facts.escaped |= gone.escaped;
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

    /// The objects of a class that have a name and can be written: not the text of literals.
    pub(crate) fn objects_in(&mut self, tree: &Tree, class: Class) -> Vec<ObjectId> {
        let class = self.find(class);
        let all: Vec<(ObjectId, Class)> = self.objects.iter().map(|(id, class)| (*id, *class)).collect();
        let named = |id: &ObjectId| !tree.object(*id).name.starts_with("string.");
        let mut found: Vec<ObjectId> = all
            .into_iter()
            .filter(|(_, of)| self.find(*of) == class)
            .map(|(id, _)| id)
            .filter(named)
            .collect();
        found.sort();
        found
    }

    /// The classes that a pointer into `class` reaches, itself first.
    pub(crate) fn reached(&mut self, class: Class) -> Vec<Class> {
        let mut found = Vec::new();
        let mut at = Some(class);
        while let Some(next) = at.map(|at| self.find(at)).filter(|next| !found.contains(next)) {
            found.push(next);
            at = self.pointee[next as usize];
        }
        found
    }

    /// The classes that functions without a body were given pointers into, and what these reach.
    pub(crate) fn handed_out(&mut self) -> BTreeSet<Class> {
        let escaped: Vec<Class> =
            (0..self.complete).filter(|class| self.facts[*class as usize].escaped).collect();
        escaped.into_iter().flat_map(|class| self.reached(class)).collect()
    }

    /// Whether objects of the program whose address is taken, or fresh memory, are in a class.
    pub(crate) fn is_ours(&mut self, class: Class) -> bool {
        let facts = self.facts(class);
        (facts.owned && facts.exposed) || facts.heap
    }

    /// The size of the smallest object of a class that has a name.
    pub(crate) fn smallest_object(&mut self, tree: &Tree, class: Class) -> Option<u64> {
        let class = self.find(class);
        if let Some(known) = self.smallest.get(&class) {
            return *known;
        }
        let objects: Vec<(ObjectId, Class)> = self.objects.iter().map(|(id, class)| (*id, *class)).collect();
        let mut smallest: Option<u64> = None;
        for (id, of) in objects {
            if self.find(of) == class {
                let size = tree.types.size(&tree.object(id).ty);
                smallest = smallest.into_iter().chain(size).min();
            }
        }
        self.smallest.insert(class, smallest);
        smallest
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

    /// A scalar, or every scalar of an aggregate, is read or written so many bytes from where a
    /// pointer points.
    fn touch(&mut self, tree: &Tree, (class, offset): (Class, u64), ty: &CType) {
        match ty {
            CType::Void | CType::Function(_) => {}
            CType::Array(element, _) => {
                self.moved(class, tree.types.size(element).unwrap_or(1));
                self.touch(tree, (class, offset), element);
            }
            CType::Record(id) => {
                let record = tree.types.record(*id);
                for field in &record.fields {
                    if field.bits.is_some() || record.union {
                        self.facts(class).bytes = true;
                    } else {
                        self.touch(tree, (class, offset + field.offset), &field.ty);
                    }
                }
            }
            scalar => {
                let size = tree.types.size(scalar).unwrap_or(1);
                // A long double has cells of bytes.
                let facts = self.facts(class);
                facts.bytes |= size > 8;
                facts.accesses.insert((offset, size));
            }
        }
    }

    /// A pointer into the class moves by a multiple of so many bytes.
    fn moved(&mut self, class: Class, by: u64) {
        let facts = self.facts(class);
        facts.period = gcd(facts.period, by);
    }

    /// Whether a pointer into the class comes from outside and may point to an object of another
    /// class.
    pub(crate) fn may_be_elsewhere(&mut self, class: Class) -> bool {
        let class = self.find(class);
        let Some(origin) = self.facts[class as usize].outside else { return false };
        // An input can be the address of anything, also of what the program itself never takes the
        // address of.
        if origin == Origin::Input {
            return true;
        }
        // What is known does not change any more.
        if let Some(known) = &self.elsewhere {
            return known.iter().any(|other| *other != class);
        }
        let mut reached = BTreeSet::new();
        for other in 0..self.complete {
            let facts = &self.facts[other as usize];
            let mut at = Some(other).filter(|_| facts.escaped && self.parent[other as usize] == other);
            while let Some(next) = at.map(|at| self.find(at)).filter(|next| reached.insert(*next)) {
                at = self.pointee[next as usize];
            }
        }
        reached.retain(|other| {
            let facts = &self.facts[*other as usize];
            (facts.owned && facts.exposed) || facts.heap
        });
        self.elsewhere.insert(reached).iter().any(|other| *other != class)
    }

    /// The scalars that memory is divided into, once all is known: they repeat with the period. If
    /// they overlap, memory is divided into bytes.
    pub(crate) fn division(&mut self, class: Class) -> (u64, Vec<(u64, u64)>) {
        let facts = self.facts(class);
        let period = facts.period;
        let inside =
            |(offset, size): &(u64, u64)| (if period > 0 { offset % period } else { *offset }, *size);
        let scalars: BTreeSet<(u64, u64)> = facts.accesses.iter().map(inside).collect();
        let scalars: Vec<(u64, u64)> = scalars.into_iter().collect();
        let apart = scalars.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0);
        let fits = period == 0 || scalars.last().is_none_or(|(offset, size)| offset + size <= period);
        if apart && fits && !facts.bytes { (period, scalars) } else { (1, vec![(0, 1)]) }
    }

    /// The class of a place, and how far it is from where a pointer points. Elements of arrays do
    /// not count for this: the period divides their size.
    pub(crate) fn place(&mut self, tree: &Tree, term: &Term) -> (Class, u64) {
        match &term.kind {
            TermKind::Object(id) => (self.object(*id), 0),
            TermKind::Deref(pointer) => {
                if let Some((array, index)) = element(pointer, tree) {
                    if let Some(index) = index {
                        self.value(tree, index);
                    }
                    let place = self.place(tree, array);
                    self.moved(place.0, tree.types.size(&term.ty).unwrap_or(1));
                    return place;
                }
                (self.value(tree, pointer), 0)
            }
            TermKind::Field(base, i) => {
                let (class, offset) = self.place(tree, base);
                let CType::Record(id) = base.ty else { return (class, offset) };
                let field = &tree.types.record(id).fields[*i];
                if field.bits.is_some() || tree.types.record(id).union {
                    self.facts(class).bytes = true;
                }
                (class, offset + field.offset)
            }
            TermKind::Materialise(id, value) => {
                let class = self.object(*id);
                self.store(tree, (class, 0), value);
                (class, 0)
            }
            TermKind::Literal(id, initial) => {
                let class = self.object(*id);
                self.initial(tree, class, &term.ty, initial);
                (class, 0)
            }
            _ => (self.value(tree, term), 0),
        }
    }

    fn store(&mut self, tree: &Tree, place: (Class, u64), value: &Term) -> Class {
        let to = self.value(tree, value);
        self.touch(tree, place, &value.ty);
        let contents = self.contents(place.0);
        self.join(contents, to)
    }

    fn initial(&mut self, tree: &Tree, class: Class, ty: &CType, initial: &Initial) {
        // A list sets all scalars; what contains a union is set to zero cell by cell.
        if initial.items.iter().any(|item| !item.path.is_empty()) && !tree.types.has_union(ty) {
            self.touch(tree, (class, 0), ty);
        }
        for item in &initial.items {
            let (mut offset, mut at) = (0, ty.clone());
            for step in &item.path {
                at = match (step, at) {
                    (Step::Field(i), CType::Record(id)) => {
                        let record = tree.types.record(id);
                        if record.fields[*i].bits.is_some() || record.union {
                            self.facts(class).bytes = true;
                        }
                        offset += record.fields[*i].offset;
                        record.fields[*i].ty.clone()
                    }
                    (Step::Index(_), CType::Array(element, _)) => {
                        self.moved(class, tree.types.size(&element).unwrap_or(1));
                        (*element).clone()
                    }
                    (_, other) => other,
                };
            }
            self.store(tree, (class, offset), &item.value);
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
                let place = self.place(tree, place);
                self.touch(tree, place, &term.ty);
                self.contents(place.0)
            }
            TermKind::Address(place) => {
                let (class, offset) = self.place(tree, place);
                self.moved(class, offset);
                class
            }
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
                let place = self.place(tree, place);
                self.store(tree, place, value)
            }
            TermKind::Update(place, value, _) => {
                let place = self.place(tree, place);
                let old = self.contents(place.0);
                self.old.push(old);
                let new = self.store(tree, place, value);
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
                // A return inside leaves the function: its value is handled by the statement
                // itself.
                let result = self.block_result;
                self.statements(tree, statements, result.unwrap_or(0));
                match value {
                    Some(value) => self.value(tree, value),
                    None => self.fresh(),
                }
            }
            // A place that is a value by itself: a structure.
            _ => {
                let place = self.place(tree, term);
                self.touch(tree, place, &term.ty);
                self.contents(place.0)
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
                // The same wherever the call is looked at again.
                let fresh = self.fresh();
                let mut class = *self.allocations.entry(term.span).or_insert(fresh);
                if term.ty.is_pointer() || matches!(term.ty, CType::Record(_)) {
                    let input = models::meaning(name) == Some(models::Meaning::Input);
                    self.facts(class).outside = Some(if input { Origin::Input } else { Origin::Function });
                }
                if !models::is_harmless(name) {
                    let written = writes::writes(name);
                    for (value, argument) in values.iter().zip(arguments) {
                        if let Some(to) = argument.ty.pointee() {
                            self.touch(tree, (*value, 0), to);
                            if written.is_none() && !is_text(tree, argument) {
                                self.facts(*value).escaped = true;
                                // What it puts there may come from anywhere.
                                let inside = self.contents(*value);
                                let facts = self.facts(inside);
                                facts.outside = facts.outside.max(Some(Origin::Function));
                            }
                            // A pointer that is returned may point anywhere into any of them.
                            if term.ty.is_pointer() {
                                class = self.join(class, *value);
                                self.moved(class, 1);
                            }
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

    fn statements(&mut self, tree: &Tree, statements: &[Statement], result: Class) {
        let outer = self.block_result.replace(result);
        for statement in statements {
            self.statement(tree, statement, result);
        }
        self.block_result = outer;
    }

    fn statement(&mut self, tree: &Tree, statement: &Statement, result: Class) {
        match &statement.kind {
            StatementKind::Cleanup(_, term) | StatementKind::GotoAny(term) => {
                self.value(tree, term);
            }
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
            StatementKind::Assembly(assembly) => {
                for input in &assembly.inputs {
                    self.value(tree, input);
                }
                for output in &assembly.outputs {
                    let place = self.place(tree, output);
                    self.touch(tree, place, &output.ty);
                    // A pointer that comes out may point anywhere.
                    let to = self.contents(place.0);
                    self.facts(to).outside = Some(Origin::Input);
                }
            }
            _ => {}
        }
    }
}

/// Whether an argument is a string literal.
fn is_text(tree: &Tree, argument: &Term) -> bool {
    match &argument.kind {
        TermKind::Convert(inner) => is_text(tree, inner),
        TermKind::Address(place) => root(place).is_some_and(|id| tree.object(id).name.starts_with("string.")),
        _ => false,
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
