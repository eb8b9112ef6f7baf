//! Initialisers: every value is brought to the sub-object that it belongs to.

use lang_c::ast::{Designator, Expression, Initializer, InitializerListItem};
use lang_c::span::Node;
use wherefore_program::Span;

use super::Sema;
use super::literals::{characters, string_items};
use crate::c::ctype::{CType, Length};
use crate::c::problem::{Checked, Problem};
use crate::c::tree::{Initial, InitialItem, ObjectId, Step};

type List<'a> = &'a [Node<InitializerListItem>];

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
                if matches!(ty, CType::Array(..)) {
                    return self.fail(initializer, "an array is initialised by a list");
                }
                let value = self.value(expression)?;
                let value = self.convert(value, &ty)?;
                Ok(Initial { items: vec![InitialItem { path: Vec::new(), value }], span })
            }
        }
    }

    pub(super) fn initial_list(&mut self, id: ObjectId, list: List<'_>, span: Span) -> Checked<Initial> {
        let ty = self.tree.object(id).ty.clone();
        let mut items = Vec::new();
        let length = self.braced(&ty, &[], list, &mut items, span)?;
        self.tell_length(id, length);
        Ok(Initial { items, span })
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
        let span = self.span(expression);
        let mut text: Vec<u32> = parts.node.iter().flat_map(|part| characters(part, '"').0).collect();
        text.push(0);
        let room = if let Length::Known(room) = length { *room } else { u64::MAX };
        Ok(Some((string_items(&text, element, path, room, span), text.len() as u64)))
    }

    /// Reads a list in braces and returns how many elements it mentions.
    fn braced(
        &mut self,
        ty: &CType,
        path: &[Step],
        list: List<'_>,
        out: &mut Vec<InitialItem>,
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
        if ty.is_scalar() {
            if !list.is_empty() {
                self.item(ty, path, list, &mut 0, out)?;
            }
            return Ok(1);
        }
        let mut at = 0;
        let length = self.parts(ty, path, list, &mut at, true, out)?;
        if at < list.len() {
            return Err(Problem::new(span, "there are more initial values than there is room for"));
        }
        Ok(length)
    }

    /// Reads the values of the parts of an aggregate, until the list ends or there are no more parts.
    fn parts(
        &mut self,
        ty: &CType,
        path: &[Step],
        list: List<'_>,
        at: &mut usize,
        braces: bool,
        out: &mut Vec<InitialItem>,
    ) -> Checked<u64> {
        let (mut next, mut most) = (0, 0);
        while let Some(item) = list.get(*at) {
            if !item.node.designation.is_empty() {
                if !braces {
                    break;
                }
                next = self.designated(ty, path, item, out)?;
                *at += 1;
            } else {
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

    /// Reads a value with designators and returns the position behind it.
    fn designated(
        &mut self,
        ty: &CType,
        path: &[Step],
        item: &Node<InitializerListItem>,
        out: &mut Vec<InitialItem>,
    ) -> Checked<u64> {
        let mut places = vec![(path.to_vec(), ty.clone())];
        let mut behind = None;
        for designator in &item.node.designation {
            let first;
            let mut steps = Vec::new();
            match &designator.node {
                Designator::Member(name) => {
                    let CType::Record(id) = places[0].1 else {
                        return self.fail(designator, "only a structure has members");
                    };
                    let Some(found) = self.tree.types.find_field(id, &name.node.name) else {
                        return self.fail(designator, format!("there is no member `{}`", name.node.name));
                    };
                    first = found[0] as u64;
                    steps.push(found.into_iter().map(Step::Field).collect::<Vec<_>>());
                }
                Designator::Index(index) => {
                    first = self.integer_constant(index)?;
                    steps.push(vec![Step::Index(first)]);
                }
                Designator::Range(range) => {
                    let from = self.integer_constant(&range.node.from)?;
                    first = self.integer_constant(&range.node.to)?;
                    if first < from || first - from > 1 << 20 {
                        return self.fail(designator, "an impossible range");
                    }
                    steps.extend((from..=first).map(|i| vec![Step::Index(i)]));
                }
            }
            behind.get_or_insert(first + 1);
            let mut longer = Vec::new();
            for (path, ty) in &places {
                for more in &steps {
                    let Some(ty) = self.type_at(ty, more) else {
                        return self.fail(designator, "this is outside of what is initialised");
                    };
                    longer.push((path.iter().chain(more).copied().collect::<Vec<_>>(), ty));
                }
            }
            places = longer;
        }
        for (path, ty) in &places {
            self.item(ty, path, std::slice::from_ref(item), &mut 0, out)?;
        }
        Ok(behind.unwrap_or(0))
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

    /// Reads the value of one sub-object; without braces, an aggregate takes as many as it has parts.
    fn item(
        &mut self,
        ty: &CType,
        path: &[Step],
        list: List<'_>,
        at: &mut usize,
        out: &mut Vec<InitialItem>,
    ) -> Checked<()> {
        let node = &list[*at].node.initializer;
        match &node.node {
            Initializer::List(inner) => {
                *at += 1;
                let span = self.span(node);
                self.braced(ty, path, inner, out, span)?;
            }
            Initializer::Expression(expression) => {
                if let Some((items, _)) = self.string_initial(ty, path, expression)? {
                    *at += 1;
                    out.extend(items);
                    return Ok(());
                }
                let value = self.value(expression)?;
                if ty.is_scalar() || value.ty == *ty {
                    *at += 1;
                    let value = self.convert(value, ty)?;
                    out.push(InitialItem { path: path.to_vec(), value });
                    return Ok(());
                }
                // The value is read again, for the first scalar inside. A designated value has no followers.
                let start = *at;
                let plain: Vec<Node<InitializerListItem>>;
                let rest = if list[*at].node.designation.is_empty() {
                    list
                } else {
                    let item = InitializerListItem { designation: Vec::new(), ..list[*at].node.clone() };
                    plain = vec![Node::new(item, list[*at].span)];
                    *at = 0;
                    &plain
                };
                self.parts(ty, path, rest, at, false, out)?;
                if *at == 0 || (*at == start && std::ptr::eq(rest, list)) {
                    return self.fail(node, "this initial value does not fit");
                }
                if !std::ptr::eq(rest, list) {
                    *at = start + 1;
                }
            }
        }
        Ok(())
    }
}
