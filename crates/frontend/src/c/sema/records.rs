//! Structures, unions and enumerations.

use lang_c::ast::{EnumType, StructDeclaration, StructKind, StructType};
use lang_c::span::Node;

use super::specifiers::Attributes;
use super::{Entity, Sema};
use crate::c::ctype::{CType, Length, Member, Record};
use crate::c::problem::Checked;

impl Sema<'_> {
    pub(super) fn record_type(
        &mut self,
        syntax: &Node<StructType>,
        attributes: Attributes,
    ) -> Checked<CType> {
        let union = syntax.node.kind.node == StructKind::Union;
        let tag = syntax.node.identifier.as_ref().map(|name| name.node.name.clone());
        let known = tag.as_ref().and_then(|tag| match &syntax.node.declarations {
            // A definition belongs to the scope at hand, a mere mention to the nearest.
            Some(_) => self.here().records.get(tag).copied(),
            None => self.scopes.iter().rev().find_map(|scope| scope.records.get(tag).copied()),
        });
        let id = match known {
            Some(id) => id,
            None => {
                let id = self.tree.types.records.len() as u32;
                let name = tag.clone().unwrap_or_else(|| "<unnamed>".to_owned());
                self.tree.types.records.push(Record { name, union, ..Record::default() });
                if let Some(tag) = tag {
                    self.here().records.insert(tag, id);
                }
                id
            }
        };
        let mut attributes = attributes;
        if syntax.node.declarations.is_some() {
            // The parser drops the attributes next to the braces.
            let around = self.lines.attributes_around(syntax.span.start, syntax.span.end);
            if around.contains("packed") {
                attributes.packed = true;
            }
            if let Some(at) = around.find("aligned") {
                let rest = around[at + "aligned".len()..].trim_start_matches('_').trim_start();
                let number = rest.strip_prefix('(').and_then(|rest| rest.split(')').next());
                match number.map(|number| number.trim().parse::<u64>()) {
                    Some(Ok(align)) if align.is_power_of_two() => attributes.align = Some(align),
                    None => attributes.align = Some(16),
                    _ => return self.unsupported(syntax, "this alignment is"),
                }
            }
        }
        if let Some(declarations) = &syntax.node.declarations {
            if self.tree.types.record(id).complete {
                return self.fail(syntax, "this structure is defined twice");
            }
            let members = self.members(declarations)?;
            self.tree.types.complete(id, members, attributes.packed, attributes.align);
        }
        Ok(CType::Record(id))
    }

    fn members(&mut self, declarations: &[Node<StructDeclaration>]) -> Checked<Vec<Member>> {
        let mut members = Vec::new();
        for (position, declaration) in declarations.iter().enumerate() {
            let field = match &declaration.node {
                StructDeclaration::Field(field) => field,
                StructDeclaration::StaticAssert(assertion) => {
                    self.static_assert(assertion)?;
                    continue;
                }
            };
            let base = self.qualified(&field.node.specifiers, field.span)?;
            if field.node.declarators.is_empty() && matches!(base, CType::Record(_)) {
                members.push(Member { name: None, ty: base.clone(), width: None, align: None });
            }
            for declarator in &field.node.declarators {
                let mut align = None;
                let (name, mut ty) = match &declarator.node.declarator {
                    Some(inner) => {
                        align = self.attributes(&inner.node.extensions).align;
                        self.declarator(inner, base.clone())?
                    }
                    None => (None, base.clone()),
                };
                let last = position + 1 == declarations.len();
                if let (CType::Array(element, Length::Unknown), true) = (&ty, last) {
                    ty = CType::Array(element.clone(), Length::Known(0));
                }
                if self.tree.types.size(&ty).is_none() {
                    return self.fail(declarator, "a member has an incomplete type");
                }
                let width = match &declarator.node.bit_width {
                    Some(width) => {
                        let value = self.integer_constant(width)?;
                        let most = if ty == CType::Bool { 1 } else { u64::from(self.bits(&ty)) };
                        if !ty.is_integer() || value > most || (value == 0 && name.is_some()) {
                            return self.fail(width, "a bit-field has an impossible width");
                        }
                        Some(value as u32)
                    }
                    None => None,
                };
                members.push(Member { name: name.map(|(name, _)| name), ty, width, align });
            }
        }
        Ok(members)
    }

    pub(super) fn enum_type(&mut self, syntax: &Node<EnumType>) -> Checked<CType> {
        let tag = syntax.node.identifier.as_ref().map(|name| name.node.name.clone());
        if syntax.node.enumerators.is_empty() {
            let known = tag
                .as_ref()
                .and_then(|tag| self.scopes.iter().rev().find_map(|scope| scope.enums.get(tag).cloned()));
            return Ok(known.unwrap_or(CType::UNSIGNED));
        }
        let (mut next, mut signed, mut wide) = (0_u64, false, false);
        for enumerator in &syntax.node.enumerators {
            if let Some(expression) = &enumerator.node.expression {
                next = self.integer_constant(expression)?;
            }
            signed |= (next as i64) < 0;
            let fits = i32::try_from(next as i64).is_ok();
            wide |= !fits && u32::try_from(next).is_err();
            let ty = if fits { CType::INT } else { CType::LONG_LONG };
            let value = if fits { next & u64::from(u32::MAX) } else { next };
            self.bind(&enumerator.node.identifier.node.name, Entity::Constant(value, ty));
            next = next.wrapping_add(1);
        }
        let ty = CType::Int { bits: if wide { 64 } else { 32 }, signed };
        if let Some(tag) = tag {
            self.here().enums.insert(tag, ty.clone());
        }
        Ok(ty)
    }
}
