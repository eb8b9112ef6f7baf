//! Structures, unions and enumerations.

use lang_c::ast::{EnumType, SpecifierQualifier, StructDeclaration, StructKind, StructType, TypeSpecifier};
use lang_c::span::Node;

use super::specifiers::Attributes;
use super::{Entity, Sema};
use crate::c::ctype::{CType, Length, Member, Record, UNNAMED};
use crate::c::problem::{Checked, Problem};

/// Structures of more bytes are not laid out: the number of their bits may not fit.
const GREATEST_SIZE: u128 = 1 << 56;

impl Sema<'_> {
    /// A structure or a union. One with a tag whose members are not understood is refused where it
    /// is mentioned.
    pub(super) fn record_type(
        &mut self,
        syntax: &Node<StructType>,
        attributes: Attributes,
    ) -> Checked<CType> {
        let before = self.refused.len();
        let tag = syntax.node.identifier.as_ref().map(|name| name.node.name.clone());
        let outcome = self.record(syntax, attributes);
        if syntax.node.declarations.is_some() {
            self.refuse_attributes(syntax);
        }
        let id = match (&outcome, tag) {
            (Ok(CType::Record(id)), _) => *id,
            (Err(_), Some(tag)) => match self.here().records.get(&tag) {
                Some(id) => *id,
                None => return outcome,
            },
            _ => return outcome,
        };
        let problem = outcome.err().or_else(|| self.refused.get(before).cloned());
        match (syntax.node.declarations.is_some(), problem) {
            (true, Some(problem)) => {
                self.problems.extend(Some(problem.clone()).filter(Problem::is_mistake));
                self.refused.push(problem.clone());
                self.tree.types.records[id as usize].problem.get_or_insert(problem);
            }
            _ => self.refused.extend(self.tree.types.record(id).problem.clone()),
        }
        Ok(CType::Record(id))
    }

    /// Attributes inside a definition, or in front of its name, that are not modelled and that
    /// nothing else was refused for.
    fn refuse_attributes(&mut self, syntax: &Node<StructType>) {
        // Those right behind the braces, too: the parser drops them.
        let end = self.lines.end_of_attributes(syntax.span.start, syntax.span.end);
        let range = self.lines.original(syntax.span.start)..end.max(self.lines.original(syntax.span.end));
        for (at, name) in self.serious.clone() {
            if range.contains(&at) && self.met.insert(at) {
                let span = self.lines.place_of(self.sources, at, name.len());
                self.refused.push(super::unsupported_attribute(span, &name));
            }
        }
    }

    fn record(&mut self, syntax: &Node<StructType>, attributes: Attributes) -> Checked<CType> {
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
                let name = tag.clone().unwrap_or_else(|| UNNAMED.to_owned());
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
            let shared = id < self.first_record;
            if self.tree.types.record(id).complete && !shared {
                return self.fail(syntax, "this structure is defined twice");
            }
            let mut members = self.members(declarations)?;
            self.note_members(id);
            for member in &mut members {
                member.packed |= attributes.packed;
            }
            let sizes = members.iter().map(|member| self.tree.types.size(&member.ty).unwrap_or(u64::MAX));
            if sizes.map(u128::from).sum::<u128>() > GREATEST_SIZE {
                return self.unsupported(syntax, "a structure of this size is");
            }
            let pack = self.pragmas.pack(self.lines.original(syntax.span.end));
            if !shared {
                self.tree.types.complete(id, members, pack, attributes.align);
                return Ok(CType::Record(self.unnamed_elsewhere(id).unwrap_or(id)));
            }
            // Another unit has the same text: it must mean the same.
            let again = self.tree.types.records.len() as u32;
            let name = self.tree.types.record(id).name.clone();
            self.tree.types.records.push(Record { name, union, ..Record::default() });
            self.tree.types.complete(again, members, pack, attributes.align);
            if !self.tree.types.record(again).is_like(self.tree.types.record(id)) {
                return self
                    .unsupported(syntax, "a structure whose text means something else in another file is");
            }
        }
        Ok(CType::Record(id))
    }

    fn members(&mut self, declarations: &[Node<StructDeclaration>]) -> Checked<Vec<Member>> {
        let mut members = Vec::new();
        let mut atomic = Vec::new();
        for (position, declaration) in declarations.iter().enumerate() {
            let field = match &declaration.node {
                StructDeclaration::Field(field) => field,
                StructDeclaration::StaticAssert(assertion) => {
                    self.static_assert(assertion)?;
                    continue;
                }
            };
            let (base, whole) = self.qualified(&field.node.specifiers, field.span)?;
            // Attributes of a structure that is defined here are its own.
            let whole = if defines(&field.node.specifiers) { Attributes::default() } else { whole };
            let is_member = self.pragmas.embeds || defines_unnamed(&field.node.specifiers);
            if field.node.declarators.is_empty() && matches!(base, CType::Record(_)) && is_member {
                members.push(Member {
                    name: None,
                    ty: base.clone(),
                    width: None,
                    align: whole.align,
                    packed: whole.packed,
                });
            }
            for declarator in &field.node.declarators {
                let mut attributes = whole;
                let (name, mut ty) = match &declarator.node.declarator {
                    Some(inner) => {
                        attributes = whole.and(self.attributes(&inner.node.extensions));
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
                if attributes.atomic && ty == base {
                    atomic.extend(name.iter().map(|(name, _)| name.clone()));
                }
                let Attributes { align, packed, .. } = attributes;
                members.push(Member { name: name.map(|(name, _)| name), ty, width, align, packed });
            }
        }
        self.atomic_members = atomic;
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
        // The value of the next enumerator, and whether it is below zero.
        let (mut next, mut negative) = (0_u64, false);
        let (mut low, mut high, mut large) = (0_i64, 0_u64, Vec::new());
        for enumerator in &syntax.node.enumerators {
            if let Some(expression) = &enumerator.node.expression {
                next = self.integer_constant(expression)?;
                let is_signed = self.value(expression)?.ty.is_signed();
                negative = is_signed && (next as i64) < 0;
            }
            self.attributes(&enumerator.node.extensions);
            if negative {
                low = low.min(next as i64);
            } else {
                high = high.max(next);
            }
            let fits =
                if negative { i32::try_from(next as i64).is_ok() } else { i32::try_from(next).is_ok() };
            let ty = if fits { CType::INT } else { CType::Int { bits: 64, signed: negative } };
            let value = if fits { next & u64::from(u32::MAX) } else { next };
            let name = &enumerator.node.identifier.node.name;
            self.bind(name, Entity::Constant(value, ty));
            if !fits {
                large.push((name, next));
            }
            next = next.wrapping_add(1);
            negative &= next != 0;
        }
        let around = self.lines.attributes_around(syntax.span.start, syntax.span.end);
        let packed = around.contains("packed");
        let ty = match smallest(low, high) {
            packed_type if packed => packed_type,
            CType::Int { bits, signed } => CType::Int { bits: bits.max(32), signed },
            other => other,
        };
        // As gcc does it: an enumerator that is no `int` has the type of the enumeration.
        for (name, value) in large {
            let value = value & wherefore_program::Scalar::Bits(self.bits(&ty)).max();
            self.bind(name, Entity::Constant(value, ty.clone()));
        }
        if let Some(tag) = tag {
            self.here().enums.insert(tag, ty.clone());
        }
        Ok(ty)
    }
}

/// Whether a structure is defined among the specifiers.
fn defines(specifiers: &[Node<SpecifierQualifier>]) -> bool {
    structures(specifiers).any(|record| record.node.declarations.is_some())
}

/// Whether a structure without a tag is defined among the specifiers.
fn defines_unnamed(specifiers: &[Node<SpecifierQualifier>]) -> bool {
    structures(specifiers).any(|record| record.node.identifier.is_none())
}

fn structures(specifiers: &[Node<SpecifierQualifier>]) -> impl Iterator<Item = &Node<StructType>> {
    specifiers.iter().filter_map(|specifier| match &specifier.node {
        SpecifierQualifier::TypeSpecifier(ty) => match &ty.node {
            TypeSpecifier::Struct(record) => Some(record),
            _ => None,
        },
        _ => None,
    })
}

/// The smallest integer type that holds all numbers from `low`, which is at most zero, to `high`.
fn smallest(low: i64, high: u64) -> CType {
    let signed = low < 0;
    let fits = |bits: &u32| {
        let top = u64::MAX >> (64 - bits + u32::from(signed));
        high <= top && (!signed || low >= -(top as i64) - 1)
    };
    CType::Int { bits: [8, 16, 32].into_iter().find(fits).unwrap_or(64), signed }
}
