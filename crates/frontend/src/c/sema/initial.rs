//! Initialisers: every value is brought to the sub-object that it belongs to.

use lang_c::ast::{Designator, Expression, Initializer, InitializerListItem};
use lang_c::span::Node;
use wherefore_program::Span;

use super::Sema;
use super::literals::{string_items, string_text};
use crate::c::ctype::{CType, Length};
use crate::c::problem::{Checked, Problem};
use crate::c::tree::{Initial, InitialItem, Lifetime, ObjectId, Role, Step, Term, TermKind};

type List<'a> = &'a [Node<InitializerListItem>];

/// Whose braces the list of an aggregate is in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Braces {
    /// Its own: designators in it name its parts.
    Own,
    /// Those of something around it, and the designators of the first item led here.
    Outer,
    /// Those of something around it.
    None,
}

/// The values that were read for parts of an object.
struct Items {
    /// The type of the object.
    whole: CType,
    list: Vec<InitialItem>,
    /// The greatest path: what lies behind it has no value yet.
    greatest: Vec<Step>,
    has_union: bool,
}

impl Items {
    fn of(whole: CType, has_union: bool) -> Items {
        Items { whole, list: Vec::new(), greatest: Vec::new(), has_union }
    }

    fn extend(&mut self, items: Vec<InitialItem>) {
        for item in items {
            if item.path > self.greatest {
                self.greatest.clone_from(&item.path);
            }
            self.list.push(item);
        }
    }
}

/// How many elements of a member there are initial values for.
fn length_of_member(member: usize, items: &[InitialItem]) -> Option<u64> {
    let length = |item: &InitialItem| match item.path.as_slice() {
        [Step::Field(field), Step::Index(index), ..] if *field == member => Some(index + 1),
        _ => None,
    };
    items.iter().filter_map(length).max()
}

impl Sema<'_> {
    /// The initial value of an object, whose length it may tell.
    pub(super) fn initial(&mut self, id: ObjectId, initializer: &Node<Initializer>) -> Checked<Initial> {
        let span = self.span(initializer);
        match &initializer.node {
            Initializer::List(list) => self.initial_list(id, list, span),
            Initializer::Expression(expression) => {
                let ty = self.tree.object(id).ty.clone();
                if let Some((items, length)) = self.string_initial(&ty, &[], expression)? {
                    self.tell_length(id, length);
                    return Ok(Initial { items, span });
                }
                if let CType::Array(element, length) = &ty {
                    return self.array_of_literal(id, (element, length), expression, initializer);
                }
                let value = self.value(expression)?;
                if let Some(items) = self.items_of_literal(&value, &ty, &[]) {
                    return Ok(Initial { items, span });
                }
                let value = self.convert(value, &ty)?;
                Ok(Initial { items: vec![InitialItem { path: Vec::new(), value }], span })
            }
        }
    }

    /// GNU: an array is initialised by a literal of array type, as by its list.
    fn array_of_literal(
        &mut self,
        id: ObjectId,
        (element, length): (&CType, &Length),
        expression: &Node<Expression>,
        initializer: &Node<Initializer>,
    ) -> Checked<Initial> {
        let span = self.span(initializer);
        if let Expression::CompoundLiteral(_) = &expression.node {
            let literal = self.term(expression)?;
            if let CType::Array(of, Length::Known(has)) = &literal.ty {
                let fits = match length {
                    Length::Known(length) => has == length,
                    _ => true,
                };
                let items = self.items_of_literal(&literal, &literal.ty, &[]);
                if let (true, true, Some(items)) = (**of == *element, fits, items) {
                    self.tell_length(id, *has);
                    return Ok(Initial { items, span });
                }
            }
        }
        self.fail(initializer, "an array is initialised by a list")
    }

    /// The initial values of a literal of a type, which are those of the part at `path` that it is
    /// the initial value of. A literal with static lifetime need not have its value yet when that
    /// of another object is computed.
    fn items_of_literal(&self, value: &Term, ty: &CType, path: &[Step]) -> Option<Vec<InitialItem>> {
        let place = match &value.kind {
            TermKind::Load(place) => place,
            _ => value,
        };
        let initial = match &place.kind {
            TermKind::Object(id) => {
                let object = self.tree.object(*id);
                let is_literal = object.role == Role::Literal && object.owner.is_none();
                object.initial.as_ref().filter(|_| is_literal)?
            }
            TermKind::Literal(_, initial) if !ty.is_scalar() => initial,
            _ => return None,
        };
        if value.ty != *ty || self.tree.types.is_single(ty) {
            return None;
        }
        let within = |item: &InitialItem| InitialItem {
            path: path.iter().chain(&item.path).cloned().collect(),
            value: item.value.clone(),
        };
        Some(initial.items.iter().map(within).collect())
    }

    pub(super) fn initial_list(&mut self, id: ObjectId, list: List<'_>, span: Span) -> Checked<Initial> {
        let ty = self.tree.object(id).ty.clone();
        if let Some((open, last)) = self.with_open_end(&ty, id) {
            let open_type = CType::Record(open);
            let mut items = Items::of(open_type.clone(), true);
            self.braced(&open_type, &[], list, &mut items, span)?;
            let items = items.list;
            if let Some(length) = length_of_member(last, &items) {
                self.tell_flexible(open, length);
                self.tree.objects[id.0 as usize].ty = CType::Record(open);
            }
            return Ok(Initial { items, span });
        }
        let mut items = Items::of(ty.clone(), self.tree.types.has_union(&ty));
        let length = self.braced(&ty, &[], list, &mut items, span)?;
        self.tell_length(id, length);
        Ok(Initial { items: items.list, span })
    }

    /// A copy of a structure with a flexible array member, which takes any number of initial
    /// values, and the position of the member. Only objects with static lifetime have some.
    fn with_open_end(&mut self, ty: &CType, object: ObjectId) -> Option<(u32, usize)> {
        let CType::Record(id) = ty else { return None };
        let record = self.tree.types.record(*id);
        let last = record.fields.len().checked_sub(1)?;
        let CType::Array(element, Length::Known(0)) = &record.fields[last].ty else { return None };
        if record.union || self.tree.object(object).lifetime != Lifetime::Static {
            return None;
        }
        let mut open = record.clone();
        open.fields[last].ty = CType::Array(element.clone(), Length::Unknown);
        open.said_size = Some(record.size);
        self.tree.types.records.push(open);
        Some((self.tree.types.records.len() as u32 - 1, last))
    }

    /// The length of the flexible array member of such a copy.
    fn tell_flexible(&mut self, id: u32, length: u64) {
        let record = self.tree.types.record(id);
        let Some(field) = record.fields.last() else { return };
        let CType::Array(element, _) = &field.ty else { return };
        let ty = CType::Array(element.clone(), Length::Known(length));
        let end = self.tree.types.size(&ty).and_then(|size| size.checked_add(field.offset));
        let size = end.unwrap_or(0).max(record.size).next_multiple_of(record.align.max(1));
        let record = &mut self.tree.types.records[id as usize];
        record.size = size;
        if let Some(field) = record.fields.last_mut() {
            field.ty = ty;
        }
    }

    fn tell_length(&mut self, id: ObjectId, length: u64) {
        let ty = &mut self.tree.objects[id.0 as usize].ty;
        if let CType::Array(element, Length::Unknown) = ty {
            *ty = CType::Array(element.clone(), Length::Known(length));
        }
    }

    /// The items of an array of characters that a string initialises, and its length.
    fn string_initial(
        &mut self,
        ty: &CType,
        path: &[Step],
        expression: &Node<Expression>,
    ) -> Checked<Option<(Vec<InitialItem>, u64)>> {
        let (CType::Array(element, length), Expression::StringLiteral(parts)) = (ty, &expression.node) else {
            return Ok(None);
        };
        if !element.is_integer() {
            return Ok(None);
        }
        if *length == Length::Known(0) {
            return self.unsupported(expression, "an initial value of a flexible array member is");
        }
        let span = self.span(expression);
        let (text, character) = string_text(&parts.node, span)?;
        // A pointer in an array of pointers, or a mistake.
        if self.tree.types.size(&character) != self.tree.types.size(element) {
            return Ok(None);
        }
        let room = if let Length::Known(room) = length { *room } else { u64::MAX };
        Ok(Some((string_items(&text, element, path, room, span), text.len() as u64)))
    }

    /// Reads a list in braces and returns how many elements it mentions.
    fn braced(
        &mut self,
        ty: &CType,
        path: &[Step],
        list: List<'_>,
        out: &mut Items,
        span: Span,
    ) -> Checked<u64> {
        if let ([only], CType::Array(..)) = (list, ty) {
            if let (true, Initializer::Expression(expression)) =
                (only.node.designation.is_empty(), &only.node.initializer.node)
            {
                if let Some((items, length)) = self.string_initial(ty, path, expression)? {
                    out.extend(items);
                    return Ok(length);
                }
            }
        }
        if self.tree.types.is_single(ty) {
            if !list.is_empty() {
                self.item(ty, path, list, &mut 0, out)?;
            }
            return Ok(1);
        }
        let mut at = 0;
        let length = self.parts((ty, path), 0, list, &mut at, Braces::Own, out)?;
        if at < list.len() {
            return Err(Problem::new(span, "there are more initial values than there is room for"));
        }
        Ok(length)
    }

    /// Reads the values of the parts of an aggregate from part `next` on, until the list ends or
    /// there are no more parts. The designators of the item at hand belong to it only if the braces
    /// do.
    fn parts(
        &mut self,
        (ty, path): (&CType, &[Step]),
        mut next: u64,
        list: List<'_>,
        at: &mut usize,
        braces: Braces,
        out: &mut Items,
    ) -> Checked<u64> {
        let mut most = 0;
        let mut taken = braces == Braces::Outer;
        while let Some(item) = list.get(*at) {
            if !item.node.designation.is_empty() && !std::mem::take(&mut taken) {
                if braces != Braces::Own {
                    break;
                }
                next = self.designated(ty, path, list, at, out)?;
            } else {
                taken = false;
                let Some((step, part)) = self.part(ty, next) else { break };
                let mut path = path.to_vec();
                path.push(step);
                self.item(&part, &path, list, at, out)?;
                next += 1;
            }
            most = most.max(next);
        }
        Ok(most)
    }

    /// The `i`-th part of an aggregate; a union has only the first.
    fn part(&self, ty: &CType, i: u64) -> Option<(Step, CType)> {
        match ty {
            CType::Array(element, Length::Known(length)) if i >= *length => {
                let _ = element;
                None
            }
            CType::Array(element, _) => Some((Step::Index(i), (**element).clone())),
            CType::Record(id) => {
                let record = self.tree.types.record(*id);
                let field = record.fields.get(i as usize).filter(|_| !record.union || i == 0)?;
                Some((Step::Field(i as usize), field.ty.clone()))
            }
            _ => None,
        }
    }

    /// Reads a value with designators and those that follow it inside, and returns the position
    /// behind them.
    fn designated(
        &mut self,
        ty: &CType,
        path: &[Step],
        list: List<'_>,
        at: &mut usize,
        out: &mut Items,
    ) -> Checked<u64> {
        let item = &list[*at];
        // All places named, each with the steps from here.
        let mut places = vec![(Vec::new(), ty.clone())];
        for designator in &item.node.designation {
            let mut steps = Vec::new();
            match &designator.node {
                Designator::Member(name) => {
                    let CType::Record(id) = places[0].1 else {
                        return self.fail(designator, "only a structure has members");
                    };
                    let Some(found) = self.tree.types.find_field(id, &name.node.name) else {
                        return self.fail(designator, format!("there is no member `{}`", name.node.name));
                    };
                    steps.push(found.into_iter().map(Step::Field).collect::<Vec<_>>());
                }
                Designator::Index(index) => steps.push(vec![Step::Index(self.integer_constant(index)?)]),
                Designator::Range(range) => {
                    let from = self.integer_constant(&range.node.from)?;
                    let to = self.integer_constant(&range.node.to)?;
                    if to < from || to - from > 1 << 20 {
                        return self.fail(designator, "an impossible range");
                    }
                    steps.extend((from..=to).map(|i| vec![Step::Index(i)]));
                }
            }
            let mut longer = Vec::new();
            for (way, ty) in &places {
                for more in &steps {
                    let Some(ty) = self.type_at(ty, more) else {
                        return self.fail(designator, "this is outside of what is initialised");
                    };
                    longer.push((way.iter().chain(more).copied().collect::<Vec<Step>>(), ty));
                }
            }
            places = longer;
        }
        let start = *at;
        for (way, ty) in &places {
            *at = start;
            let whole: Vec<Step> = path.iter().chain(way).copied().collect();
            self.item(ty, &whole, list, at, out)?;
        }
        // What follows without designators goes on behind the last place, from the inside out.
        let way = places.pop().map(|(way, _)| way).unwrap_or_default();
        let position = |step: &Step| match step {
            Step::Field(i) => *i as u64,
            Step::Index(i) => *i,
        };
        for level in (1..way.len()).rev() {
            let whole: Vec<Step> = path.iter().chain(&way[..level]).copied().collect();
            let Some(inner) = self.type_at(ty, &way[..level]) else { continue };
            self.parts((&inner, &whole), position(&way[level]) + 1, list, at, Braces::None, out)?;
        }
        Ok(way.first().map_or(0, position) + 1)
    }

    fn type_at(&self, ty: &CType, steps: &[Step]) -> Option<CType> {
        steps.iter().try_fold(ty.clone(), |ty, step| match (ty, step) {
            (CType::Array(_, Length::Known(length)), Step::Index(i)) if *i >= length => None,
            (CType::Array(element, _), Step::Index(_)) => Some((*element).clone()),
            (CType::Record(id), Step::Field(i)) => {
                Some(self.tree.types.record(id).fields.get(*i)?.ty.clone())
            }
            _ => None,
        })
    }

    /// A sub-object gets another value: what its parts got before does not count any more, nor what
    /// other members of a union got. Of a value of structure type that is replaced in part,
    /// compilers make different things.
    fn replace(&self, path: &[Step], out: &mut Items, span: Span) -> Checked<()> {
        // Behind everything there is nothing to replace, but for another member of the last union.
        let is_new = out.greatest.as_slice() < path;
        if path.is_empty() || is_new && (!out.has_union || out.greatest.first() != path.first()) {
            return self.refuse_part(out.list.last(), path, span);
        }
        for item in &out.list {
            self.refuse_part(Some(item), path, span)?;
        }
        out.list.retain(|item| !item.path.starts_with(path));
        for (at, step) in path.iter().enumerate() {
            let around = &path[..at];
            let Some(CType::Record(id)) = self.type_at(&out.whole, around) else { continue };
            if self.tree.types.record(id).union {
                out.list.retain(|item| !item.path.starts_with(around) || item.path.get(at) == Some(step));
            }
        }
        Ok(())
    }

    fn refuse_part(&self, item: Option<&InitialItem>, path: &[Step], span: Span) -> Checked<()> {
        let is_part = |item: &InitialItem| path.len() > item.path.len() && path.starts_with(&item.path);
        match item.filter(|item| is_part(item)) {
            Some(_) => Err(Problem::unsupported(span, "an initial value that replaces part of another is")),
            None => Ok(()),
        }
    }

    /// Reads the value of one sub-object; without braces, an aggregate takes as many as it has
    /// parts.
    fn item(
        &mut self,
        ty: &CType,
        path: &[Step],
        list: List<'_>,
        at: &mut usize,
        out: &mut Items,
    ) -> Checked<()> {
        let node = &list[*at].node.initializer;
        let span = self.span(node);
        match &node.node {
            Initializer::List(inner) => {
                *at += 1;
                self.replace(path, out, span)?;
                self.braced(ty, path, inner, out, span)?;
            }
            Initializer::Expression(expression) => {
                if let Some((items, _)) = self.string_initial(ty, path, expression)? {
                    *at += 1;
                    self.replace(path, out, span)?;
                    out.extend(items);
                    return Ok(());
                }
                let value = self.value(expression)?;
                if let Some(items) = self.items_of_literal(&value, ty, path) {
                    *at += 1;
                    self.replace(path, out, span)?;
                    out.extend(items);
                    return Ok(());
                }
                if self.tree.types.is_single(ty) || value.ty == *ty {
                    *at += 1;
                    let value = self.convert(value, ty)?;
                    self.replace(path, out, span)?;
                    out.extend(vec![InitialItem { path: path.to_vec(), value }]);
                    return Ok(());
                }
                // The value is read again, for the first scalar inside.
                let start = *at;
                self.parts((ty, path), 0, list, at, Braces::Outer, out)?;
                if *at == start {
                    return self.fail(node, "this initial value does not fit");
                }
            }
        }
        Ok(())
    }
}
