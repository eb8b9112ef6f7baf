//! Types of the compiler whose values have several scalars: integers of 128 bits.
//!
//! They are structures here, so that they are laid out, copied, passed and returned like these;
//! `sema` says what is done with them scalar by scalar (decision 0047).

use super::ctype::{CType, Field, Record, Types};

/// What a structure stands for that the program has not written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Composed {
    /// An integer of 128 bits: its low half, then its high one.
    Wide { signed: bool },
}

impl Types {
    /// What a type stands for, if it is no structure of the program.
    pub(crate) fn composed(&self, ty: &CType) -> Option<&Composed> {
        match ty {
            CType::Record(id) => self.record(*id).stands_for.as_ref(),
            _ => None,
        }
    }

    /// Whether a type is an integer of 128 bits, and if so, whether it has a sign.
    pub(crate) fn wide(&self, ty: &CType) -> Option<bool> {
        match self.composed(ty) {
            Some(Composed::Wide { signed }) => Some(*signed),
            _ => None,
        }
    }

    /// The type of integers of 128 bits.
    pub(crate) fn wide_type(&mut self, signed: bool) -> CType {
        let name = if signed { "__int128" } else { "unsigned __int128" };
        let half = CType::Int { bits: 64, signed: false };
        self.composed_type(Composed::Wide { signed }, name.to_owned(), vec![half.clone(), half])
    }

    /// The structure that stands for something, with these members one behind the other.
    fn composed_type(&mut self, stands_for: Composed, name: String, members: Vec<CType>) -> CType {
        let is_it = |record: &Record| record.stands_for.as_ref() == Some(&stands_for);
        if let Some(id) = self.records.iter().position(is_it) {
            return CType::Record(id as u32);
        }
        let mut fields = Vec::new();
        let mut size = 0;
        for ty in members {
            let bytes = self.size(&ty).unwrap_or(0);
            fields.push(Field { name: None, ty, offset: size, bits: None });
            size += bytes;
        }
        let align = size.max(1);
        let stands_for = Some(stands_for);
        self.records.push(Record {
            name,
            fields,
            size,
            align,
            complete: true,
            stands_for,
            ..Record::default()
        });
        CType::Record(self.records.len() as u32 - 1)
    }

    /// Whether values of a type are single values in C: numbers, also those of several scalars.
    pub(crate) fn is_number(&self, ty: &CType) -> bool {
        ty.is_arithmetic() || matches!(self.composed(ty), Some(Composed::Wide { .. }))
    }

    /// Whether a type has no parts in C that can be initialised.
    pub(crate) fn is_single(&self, ty: &CType) -> bool {
        ty.is_scalar() || self.is_number(ty)
    }
}
