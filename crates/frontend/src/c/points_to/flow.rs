//! What flows where: the terms and statements of a program, as the analysis sees them.

use super::{Class, Classes, Origin};
use crate::c::ctype::{CType, Length};
use crate::c::models;
use crate::c::tree::{Initial, Statement, StatementKind, Step, Term, TermKind, Tree};
use crate::c::usage::{element, root};
use crate::c::writes;

impl Classes {
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
                    match array.kind {
                        TermKind::Field(..) => self.indexed(tree, place, &array.ty),
                        _ => self.moved(place.0, tree.types.size(&term.ty).unwrap_or(1)),
                    }
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

    pub(super) fn store(&mut self, tree: &Tree, place: (Class, u64), value: &Term) -> Class {
        let to = self.value(tree, value);
        self.touch(tree, place, &value.ty);
        let contents = self.contents(place.0);
        self.join(contents, to)
    }

    pub(super) fn initial(&mut self, tree: &Tree, class: Class, ty: &CType, initial: &Initial) {
        // A list, also an empty one, sets all scalars; what contains a union is set to zero cell by
        // cell.
        let is_list = initial.items.is_empty() || initial.items.iter().any(|item| !item.path.is_empty());
        if is_list && !tree.types.has_union(ty) {
            self.touch(tree, (class, 0), ty);
        }
        for item in &initial.items {
            let (mut offset, mut at, mut is_field) = (0, ty.clone(), false);
            for step in &item.path {
                let was_field = std::mem::replace(&mut is_field, matches!(step, Step::Field(_)));
                at = match (step, at) {
                    (Step::Field(i), CType::Record(id)) => {
                        let record = tree.types.record(id);
                        if record.fields[*i].bits.is_some() || record.union {
                            self.facts(class).bytes = true;
                        }
                        offset += record.fields[*i].offset;
                        record.fields[*i].ty.clone()
                    }
                    (Step::Index(_), CType::Array(element, length)) => {
                        if was_field {
                            let array = CType::Array(element.clone(), length);
                            self.indexed(tree, (class, offset), &array);
                        } else {
                            self.moved(class, tree.types.size(&element).unwrap_or(1));
                        }
                        (*element).clone()
                    }
                    (_, other) => other,
                };
            }
            self.store(tree, (class, offset), &item.value);
        }
    }

    pub(super) fn all(&mut self, tree: &Tree, terms: &[&Term]) -> Class {
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
                // A pointer to an element points into the array.
                let mut part = &**place;
                loop {
                    part = match &part.kind {
                        TermKind::Field(base, _) => base,
                        TermKind::Deref(pointer) => match element(pointer, tree) {
                            Some((array, _)) => {
                                self.moved(class, tree.types.size(&part.ty).unwrap_or(1));
                                array
                            }
                            None => break,
                        },
                        _ => break,
                    };
                }
                class
            }
            TermKind::Fill(place, _) => {
                let ty = &place.ty;
                let place = self.place(tree, place);
                self.touch(tree, place, ty);
                self.fresh()
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
            TermKind::Compose(terms) => self.all(tree, &terms.iter().collect::<Vec<_>>()),
            TermKind::FloatCall(_, terms) => {
                for term in terms {
                    self.value(tree, term);
                }
                self.fresh()
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

    pub(super) fn call(&mut self, tree: &Tree, callee: &Term, arguments: &[Term], term: &Term) -> Class {
        let mut values = Vec::new();
        for argument in arguments {
            values.push(self.value(tree, argument));
        }
        let class = match callee.kind {
            TermKind::Function(id) if tree.function(id).body.is_none() => {
                let name = tree.function(id).name.as_str();
                let is_new = tree.function(id).result.is_some_and(|result| {
                    result.readable && result.returns.is_fresh() && term.ty.is_pointer()
                });
                if models::allocates(name) || is_new {
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
                let frees = models::meaning(name) == Some(models::Meaning::Free);
                if !models::is_harmless(name) && !frees {
                    let written = writes::writes(name);
                    for (at, (value, argument)) in values.iter().zip(arguments).enumerate() {
                        if let Some(to) = argument.ty.pointee() {
                            self.touch(tree, (*value, 0), to);
                            if models::prints_into(name).is_some() {
                                self.moved(*value, 1);
                            }
                            let is_pure = tree.function(id).pure;
                            // What the rules of a property are about is not kept.
                            let is_handle = tree
                                .watched
                                .as_ref()
                                .is_some_and(|watched| watched.property.is_about(name, at));
                            if written.is_none() && !is_pure && !is_handle && !is_text(tree, argument) {
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

    pub(super) fn statements(&mut self, tree: &Tree, statements: &[Statement], result: Class) {
        let outer = self.block_result.replace(result);
        for statement in statements {
            self.statement(tree, statement, result);
        }
        self.block_result = outer;
    }

    pub(super) fn statement(&mut self, tree: &Tree, statement: &Statement, result: Class) {
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
