//! Which places may be one: a points-to analysis by unification.
//!
//! Every object and every allocation has a class; a class has at most one class that its contents
//! point to. An assignment unifies what both sides point to (Steensgaard, *Points-to analysis in
//! almost linear time*). The fields of a structure are one class, but where pointers only point to
//! its start they get memories of their own. Integers may hold addresses, so they are followed as
//! pointers are; arithmetic on a pointer stays inside its object, arithmetic on integers may lead
//! from each operand.
//!
//! The classes are here; which terms join them is in `flow.rs`.

mod flow;

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use wherefore_program::Span;

use super::ctype::{CType, Length};
use super::tree::{FunctionId, Lifetime, ObjectId, Term, Tree};
use super::usage::Usage;

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
    /// The arrays inside structures that are only indexed: where they start, the size of an
    /// element, and how many there are. Indices are known to stay inside of them.
    pub(crate) arrays: BTreeSet<(u64, u64, u64)>,
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
    /// Whether indices are checked, so that arrays inside structures are apart from other fields.
    indices_checked: bool,
    /// What the function at hand returns points to.
    block_result: Option<Class>,
    smallest: BTreeMap<Class, Option<u64>>,
    /// Classes below this one are no longer joined: zero while the analysis runs.
    complete: Class,
    /// What pointers from outside may point to, once it was asked for.
    elsewhere: Option<BTreeSet<Class>>,
}

impl Classes {
    pub(crate) fn new(tree: &Tree, usage: &Usage, entries: &[FunctionId], indices_checked: bool) -> Classes {
        let mut classes = Classes { indices_checked, ..Classes::default() };
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
            facts.arrays.extend(gone.arrays);
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

    /// All objects of a class, the text of literals among them.
    pub(crate) fn all_objects_in(&mut self, class: Class) -> Vec<ObjectId> {
        let class = self.find(class);
        let all: Vec<(ObjectId, Class)> = self.objects.iter().map(|(id, class)| (*id, *class)).collect();
        let mut found: Vec<ObjectId> =
            all.into_iter().filter(|(_, of)| self.find(*of) == class).map(|(id, _)| id).collect();
        found.sort();
        found
    }

    /// The class that an object points into, if it is a pointer that is followed.
    pub(crate) fn behind_object(&mut self, id: ObjectId) -> Option<Class> {
        let object = self.object(id);
        let first = self.find(object);
        self.pointee[first as usize].map(|to| self.find(to))
    }

    /// Whether a function returns pointers into a class.
    pub(crate) fn is_result(&mut self, function: FunctionId, class: Class) -> bool {
        let result = self.results.get(&function).copied();
        result.is_some_and(|result| self.find(result) == self.find(class))
    }

    /// Whether a pointer into a class is held by memory, by an object with static lifetime, or by a
    /// local variable of this function that is no parameter.
    pub(crate) fn is_held(
        &mut self,
        tree: &Tree,
        usage: &Usage,
        class: Class,
        of: Option<FunctionId>,
    ) -> bool {
        let class = self.find(class);
        let holds = |classes: &mut Self, of: Class| {
            let of = classes.find(of);
            classes.pointee[of as usize].is_some_and(|to| classes.find(to) == class)
        };
        for holder in 0..self.parent.len() as Class {
            let facts = &self.facts[holder as usize];
            let is_memory = facts.heap || facts.foreign || facts.escaped || facts.outside.is_some();
            if self.parent[holder as usize] == holder && is_memory && holds(self, holder) {
                return true;
            }
        }
        let all: Vec<(ObjectId, Class)> = self.objects.iter().map(|(id, class)| (*id, *class)).collect();
        all.into_iter().any(|(id, own)| {
            let object = tree.object(id);
            let is_parameter =
                object.owner.is_some_and(|owner| tree.function(owner).parameters.contains(&id));
            let counts = object.lifetime == Lifetime::Static
                || usage.exposed.contains(&id)
                || (of.is_some() && object.owner == of && !is_parameter);
            counts && holds(self, own)
        })
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

    /// Whether a pointer may be the address of something, and not only a number that was converted,
    /// such as the argument of a thread: `(void *)1`.
    pub(crate) fn may_hold_address(&mut self, tree: &Tree, pointer: &Term) -> bool {
        let class = self.value(tree, pointer);
        let facts = self.facts(class);
        facts.owned || facts.heap || facts.foreign || facts.outside.is_some() || !facts.functions.is_empty()
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
                    let place = (class, offset + field.offset);
                    if field.bits.is_some() || record.union {
                        self.facts(class).bytes = true;
                    } else if let CType::Array(element, _) = &field.ty {
                        self.indexed(tree, place, &field.ty);
                        self.touch(tree, place, element);
                    } else {
                        self.touch(tree, place, &field.ty);
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

    /// An array that is a field of a structure is indexed.
    fn indexed(&mut self, tree: &Tree, (class, offset): (Class, u64), ty: &CType) {
        let CType::Array(element, length) = ty else { return };
        let size = tree.types.size(element).unwrap_or(1);
        match length {
            Length::Known(length @ 2..) if self.indices_checked => {
                self.facts(class).arrays.insert((offset, size, *length));
            }
            _ => self.moved(class, size),
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
    pub(crate) fn division(&mut self, class: Class) -> (u64, Vec<Scalar>) {
        let facts = self.facts(class);
        if let Some(division) = with_arrays(facts) {
            return division;
        }
        let period = facts.arrays.iter().fold(facts.period, |period, (_, size, _)| gcd(period, *size));
        let inside =
            |(offset, size): &(u64, u64)| (if period > 0 { offset % period } else { *offset }, *size);
        let scalars: BTreeSet<(u64, u64)> = facts.accesses.iter().map(inside).collect();
        let scalars: Vec<(u64, u64)> = scalars.into_iter().collect();
        let apart = scalars.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0);
        let fits = period == 0 || scalars.last().is_none_or(|(offset, size)| offset + size <= period);
        let once = |(start, size): (u64, u64)| Scalar { start, size, distance: 0, count: 1 };
        if apart && fits && !facts.bytes {
            (period, scalars.into_iter().map(once).collect())
        } else {
            (1, vec![once((0, 1))])
        }
    }
}

/// A scalar that memory is divided into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scalar {
    /// Where it starts, in bytes from where a pointer points.
    pub(crate) start: u64,
    /// Its size in bytes.
    pub(crate) size: u64,
    /// In an array inside the structure: the distance from one element to the next.
    pub(crate) distance: u64,
    /// How many elements there are; 1 outside of arrays.
    pub(crate) count: u64,
}

/// The longest array inside a structure that is itself an element of an array.
const LONGEST: u64 = 64;

/// The division in which arrays inside structures are apart from the other fields; none if
/// accesses do not fit into it.
fn with_arrays(facts: &Facts) -> Option<(u64, Vec<Scalar>)> {
    if facts.bytes || facts.arrays.is_empty() {
        return None;
    }
    let period = facts.period;
    let inside = |offset: u64| if period > 0 { offset % period } else { offset };
    let arrays: BTreeSet<(u64, u64, u64)> =
        facts.arrays.iter().map(|(start, size, count)| (inside(*start), *size, *count)).collect();
    let mut scalars: BTreeMap<(u64, u64), Scalar> = BTreeMap::new();
    // The bytes that each scalar, or the whole array that it is in, takes.
    let mut taken: BTreeSet<(u64, u64)> = BTreeSet::new();
    for (offset, size) in &facts.accesses {
        let (start, size) = (inside(*offset), *size);
        let mut around = arrays.iter().filter(|(first, element, count)| {
            (*first..first + element * count).contains(&start) && *count > 0
        });
        let scalar = match (around.next(), around.next()) {
            (None, _) => {
                taken.insert((start, start + size));
                Scalar { start, size, distance: 0, count: 1 }
            }
            (Some((first, element, count)), None) => {
                if start - first + size > *element || (period > 0 && *count > LONGEST) {
                    return None;
                }
                taken.insert((*first, first + element * count));
                Scalar { start, size, distance: *element, count: *count }
            }
            _ => return None,
        };
        scalars.insert((start, size), scalar);
    }
    let bounds: Vec<(u64, u64)> = taken.into_iter().collect();
    let apart = bounds.windows(2).all(|pair| pair[0].1 <= pair[1].0);
    let fits = period == 0 || bounds.last().is_none_or(|(_, end)| *end <= period);
    let scalars: Vec<Scalar> = scalars.into_values().collect();
    let distinct = scalars.windows(2).all(|pair| pair[0].start + pair[0].size <= pair[1].start);
    (apart && fits && distinct).then_some((period, scalars))
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
