//! Types of the compiler whose values have several scalars: integers of 128 bits, vectors, complex
//! numbers.
//!
//! They are structures here, so that they are laid out, copied, passed and returned like these;
//! `sema` says what is done with them scalar by scalar (decision 0047).

use std::rc::Rc;

use super::ctype::{CType, Field, Length, Record, Types};

/// What a structure stands for that the program has not written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Composed {
    /// An integer of 128 bits: its low half, then its high one.
    Wide { signed: bool },
    /// A vector of so many elements: an array.
    Vector { element: CType, count: u64 },
    /// A complex number: its real part, then its imaginary one.
    Complex(CType),
    /// A union of two types, of which a value of one is read as the other.
    Either(CType, CType),
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

    /// The elements of a vector, and how many there are.
    pub(crate) fn vector(&self, ty: &CType) -> Option<(CType, u64)> {
        match self.composed(ty) {
            Some(Composed::Vector { element, count }) => Some((element.clone(), *count)),
            _ => None,
        }
    }

    /// The type of the parts of a complex number.
    pub(crate) fn complex(&self, ty: &CType) -> Option<CType> {
        match self.composed(ty) {
            Some(Composed::Complex(part)) => Some(part.clone()),
            _ => None,
        }
    }

    /// The type of vectors of so many elements.
    pub(crate) fn vector_type(&mut self, element: &CType, count: u64) -> CType {
        let bytes = self.size(element).unwrap_or(0) * count;
        let stands_for = Composed::Vector { element: element.clone(), count };
        let array = CType::Array(Rc::new(element.clone()), Length::Known(count));
        self.composed_type(stands_for, format!("<vector of {bytes} bytes>"), vec![array], bytes)
    }

    /// The type of complex numbers with such parts.
    pub(crate) fn complex_type(&mut self, part: &CType) -> CType {
        let align = self.align(part);
        let name = format!("_Complex {}", self.show(part));
        self.composed_type(Composed::Complex(part.clone()), name, vec![part.clone(), part.clone()], align)
    }

    /// A union of two types.
    pub(crate) fn either_type(&mut self, one: &CType, other: &CType) -> CType {
        let align = self.align(one).max(self.align(other));
        let stands_for = Composed::Either(one.clone(), other.clone());
        let name = "<either of two>".to_owned();
        self.composed_type(stands_for, name, vec![one.clone(), other.clone()], align)
    }

    /// The type of integers of 128 bits.
    pub(crate) fn wide_type(&mut self, signed: bool) -> CType {
        let name = if signed { "__int128" } else { "unsigned __int128" };
        let half = CType::Int { bits: 64, signed: false };
        self.composed_type(Composed::Wide { signed }, name.to_owned(), vec![half.clone(), half], 16)
    }

    /// The structure that stands for something, with these members one behind the other.
    fn composed_type(
        &mut self,
        stands_for: Composed,
        name: String,
        members: Vec<CType>,
        align: u64,
    ) -> CType {
        let is_it = |record: &Record| record.stands_for.as_ref() == Some(&stands_for);
        if let Some(id) = self.records.iter().position(is_it) {
            return CType::Record(id as u32);
        }
        let mut fields = Vec::new();
        let union = matches!(stands_for, Composed::Either(..));
        let mut size = 0;
        for ty in members {
            let bytes = self.size(&ty).unwrap_or(0);
            let offset = if union { 0 } else { size };
            fields.push(Field { name: None, ty, offset, bits: None });
            size = bytes.max(offset + bytes);
        }
        let size = size.next_multiple_of(align.max(1));
        let stands_for = Some(stands_for);
        let record =
            Record { name, union, fields, size, align, complete: true, stands_for, ..Record::default() };
        self.records.push(record);
        CType::Record(self.records.len() as u32 - 1)
    }

    /// Whether values of a type are single values in C: numbers, also those of several scalars.
    pub(crate) fn is_number(&self, ty: &CType) -> bool {
        ty.is_arithmetic() || matches!(self.composed(ty), Some(Composed::Wide { .. } | Composed::Complex(_)))
    }

    /// Whether a type has no parts in C that can be initialised.
    pub(crate) fn is_single(&self, ty: &CType) -> bool {
        ty.is_scalar() || self.is_number(ty)
    }
}
