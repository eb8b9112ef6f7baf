//! What objects in memory, and their parts, are called.

use wherefore_program::{Object, Part, Reading};

use super::Context;
use crate::c::ctype::{BitField, CType, Length};
use crate::c::tree::ObjectId;

/// Objects with more parts than this have none.
const MOST_PARTS: usize = 256;

/// The text of a string literal, as a literal.
fn literal_of(object: &crate::c::tree::Object) -> Option<String> {
    let items = &object.initial.as_ref()?.items;
    let text: Option<Vec<u8>> = items.iter().map(|item| u8::try_from(item.value.constant()?).ok()).collect();
    let text: Vec<u8> = text?.into_iter().take_while(|byte| *byte != 0).collect();
    Some(format!("\"{}\"", text.escape_ascii()))
}

impl Context<'_> {
    /// Notes that an object lies at an address.
    pub(crate) fn name_object(&mut self, id: ObjectId, address: u64, size: u64) {
        let object = self.tree.object(id);
        if object.name.starts_with("string.") {
            let name = literal_of(object).unwrap_or_else(|| "a string".to_owned());
            self.objects.fixed.push(Object { name, function: None, address, size, parts: Vec::new() });
            return;
        }
        let function = object.owner.map(|owner| self.tree.function(owner).name.clone());
        let mut parts = Vec::new();
        let whole = Part {
            offset: 0,
            width: 0,
            names: vec![String::new()],
            arrays: Vec::new(),
            reading: Reading::Unsigned,
        };
        self.parts(&object.ty.clone(), None, whole, &mut parts);
        if parts.len() > MOST_PARTS {
            parts.clear();
        }
        let name = self.tree.object(id).name.clone();
        self.objects.fixed.push(Object { name, function, address, size, parts });
    }

    /// Adds the scalars of a type; `at` is the part so far.
    fn parts(&self, ty: &CType, bits: Option<BitField>, mut at: Part, out: &mut Vec<Part>) {
        match ty {
            _ if out.len() > MOST_PARTS => {}
            CType::Array(element, Length::Known(length)) => {
                let Some(bytes) = self.tree.types.size(element) else { return };
                at.arrays.push((*length, bytes));
                at.names.push(String::new());
                self.parts(element, None, at, out);
            }
            CType::Record(id) => {
                for field in &self.tree.types.record(*id).fields {
                    let mut part = at.clone();
                    part.offset += field.offset;
                    if let (Some(name), Some(last)) = (&field.name, part.names.last_mut()) {
                        last.push('.');
                        last.push_str(name);
                    }
                    self.parts(&field.ty, field.bits, part, out);
                }
            }
            // A bit-field has no bytes of its own.
            _ if bits.is_some() || self.tree.types.is_opaque(ty) || self.tree.types.size(ty).is_none() => {}
            _ => {
                at.width = self.tree.types.scalar(ty).width();
                at.reading = match ty {
                    _ if ty.is_pointer() => Reading::Pointer,
                    _ if ty.is_float() => Reading::Float,
                    _ if ty.is_signed() => Reading::Signed,
                    _ => Reading::Unsigned,
                };
                out.push(at);
            }
        }
    }
}
