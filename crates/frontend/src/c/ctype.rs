//! The types of C: sizes, alignment, layout of structures, conversions.

use super::composed::Composed;
use super::problem::Problem;
use std::rc::Rc;

use wherefore_program::Scalar;

/// How wide the types of C are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DataModel {
    /// `int`, `long` and pointers have 32 bits, as on i386.
    Ilp32,
    /// `int` has 32 bits, `long` and pointers have 64, as on x86-64.
    #[default]
    Lp64,
}

impl DataModel {
    /// The width of a pointer.
    pub fn pointer_bits(self) -> u32 {
        match self {
            DataModel::Ilp32 => 32,
            DataModel::Lp64 => 64,
        }
    }

    /// The greatest alignment that a type has inside a structure.
    fn greatest_alignment(self) -> u64 {
        match self {
            DataModel::Ilp32 => 4,
            DataModel::Lp64 => 16,
        }
    }
}

/// How many elements an array has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    Known(u64),
    /// `[]`: told by the initialiser, or by another declaration.
    Unknown,
    /// Told at run time: the object that holds the number of elements.
    Variable(u32),
}

/// A type. Qualifiers are dropped, enumerations are integers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CType {
    Void,
    Bool,
    Int {
        bits: u32,
        signed: bool,
    },
    /// A floating-point type, by its size in bytes.
    Float(u64),
    Pointer(Rc<CType>),
    Array(Rc<CType>, Length),
    /// A structure or union, by its position in [`Types::records`].
    Record(u32),
    Function(Rc<Signature>),
}

/// What a function takes and returns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Signature {
    pub(crate) result: CType,
    pub(crate) parameters: Vec<CType>,
    pub(crate) rest: Rest,
}

impl Signature {
    /// Whether a function of one signature may be declared with the other: as many parameters, and
    /// pointers in the same places.
    pub(crate) fn is_like(&self, other: &Signature) -> bool {
        let is_like = |one: &CType, other: &CType| {
            one.is_pointer() == other.is_pointer() && one.is_float() == other.is_float()
        };
        let parameters = self.parameters.iter().zip(&other.parameters);
        let is_open = self.rest == Rest::Unspecified || other.rest == Rest::Unspecified;
        let same = self.parameters.len() == other.parameters.len()
            && parameters.into_iter().all(|(one, other)| is_like(one, other));
        is_open || (same && is_like(&self.result, &other.result))
    }
}

/// What may follow the parameters of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    Nothing,
    /// `...`
    Variadic,
    /// Nothing is said about parameters: `f()`.
    Unspecified,
}

impl CType {
    pub(crate) const INT: CType = CType::Int { bits: 32, signed: true };
    pub(crate) const UNSIGNED: CType = CType::Int { bits: 32, signed: false };
    pub(crate) const CHAR: CType = CType::Int { bits: 8, signed: true };
    pub(crate) const LONG_LONG: CType = CType::Int { bits: 64, signed: true };

    pub(crate) fn pointer_to(self) -> CType {
        CType::Pointer(Rc::new(self))
    }

    pub(crate) fn is_integer(&self) -> bool {
        matches!(self, CType::Bool | CType::Int { .. })
    }

    pub(crate) fn is_float(&self) -> bool {
        matches!(self, CType::Float(_))
    }

    pub(crate) fn is_arithmetic(&self) -> bool {
        self.is_integer() || self.is_float()
    }

    /// The type of the elements of an array of arrays; of anything else, the type itself.
    pub(crate) fn element_of_arrays(&self) -> &CType {
        match self {
            CType::Array(element, _) => element.element_of_arrays(),
            other => other,
        }
    }

    pub(crate) fn is_pointer(&self) -> bool {
        matches!(self, CType::Pointer(_))
    }

    pub(crate) fn is_scalar(&self) -> bool {
        self.is_arithmetic() || self.is_pointer()
    }

    pub(crate) fn is_signed(&self) -> bool {
        matches!(self, CType::Int { signed: true, .. })
    }

    pub(crate) fn pointee(&self) -> Option<&CType> {
        match self {
            CType::Pointer(to) => Some(to),
            _ => None,
        }
    }

    /// The type after the integer promotions.
    pub(crate) fn promoted(&self) -> CType {
        match self {
            CType::Bool => CType::INT,
            CType::Int { bits, .. } if *bits < 32 => CType::INT,
            other => other.clone(),
        }
    }

    /// The common type of the usual arithmetic conversions.
    ///
    /// Of two integers of one width the unsigned one wins, else the wider one: ranks add nothing to
    /// this, since a type of higher rank and the same width as an unsigned type turns into its
    /// unsigned counterpart.
    pub(crate) fn common(a: &CType, b: &CType) -> CType {
        match (a, b) {
            (CType::Float(x), CType::Float(y)) => CType::Float(*x.max(y)),
            (CType::Float(_), _) => a.clone(),
            (_, CType::Float(_)) => b.clone(),
            _ => match (a.promoted(), b.promoted()) {
                (CType::Int { bits: x, signed: s }, CType::Int { bits: y, signed: t }) => {
                    let signed = match x.cmp(&y) {
                        std::cmp::Ordering::Less => t,
                        std::cmp::Ordering::Equal => s && t,
                        std::cmp::Ordering::Greater => s,
                    };
                    CType::Int { bits: x.max(y), signed }
                }
                (a, _) => a,
            },
        }
    }
}

/// A member of a structure or union.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    /// None for an unnamed structure or union inside another.
    pub(crate) name: Option<String>,
    pub(crate) ty: CType,
    /// In bytes, from the start of the structure; for a bit-field the byte of its lowest bit.
    pub(crate) offset: u64,
    pub(crate) bits: Option<BitField>,
}

/// Where a bit-field lies in the bytes from the offset of its field on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BitField {
    pub(crate) low: u32,
    pub(crate) width: u32,
}

/// The name of structures that have none.
pub(crate) const UNNAMED: &str = "<unnamed>";

/// A structure or a union.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    pub(crate) name: String,
    /// The name of the type, if the structure itself has none.
    pub(crate) alias: Option<String>,
    pub(crate) union: bool,
    pub(crate) fields: Vec<Field>,
    pub(crate) size: u64,
    pub(crate) align: u64,
    pub(crate) complete: bool,
    /// What `sizeof` says, if that is less: of an object whose flexible array member has initial
    /// values.
    pub(crate) said_size: Option<u64>,
    /// What is wrong with it: matters only if it is used.
    pub(crate) problem: Option<Problem>,
    /// What it is in C, if that is no structure.
    pub(crate) stands_for: Option<Composed>,
}

impl Record {
    /// Whether both have the same members at the same places.
    pub(crate) fn is_like(&self, other: &Record) -> bool {
        let same = |(one, other): (&Field, &Field)| {
            one.name == other.name
                && one.ty == other.ty
                && one.offset == other.offset
                && one.bits == other.bits
        };
        self.complete == other.complete
            && self.union == other.union
            && (self.size, self.align) == (other.size, other.align)
            && self.fields.len() == other.fields.len()
            && self.fields.iter().zip(&other.fields).all(same)
    }
}

/// A member as it is declared.
pub(crate) struct Member {
    pub(crate) name: Option<String>,
    pub(crate) ty: CType,
    pub(crate) width: Option<u32>,
    pub(crate) align: Option<u64>,
    pub(crate) packed: bool,
}

/// All structures and unions, and what sizes depend on.
#[derive(Debug, Default)]
pub(crate) struct Types {
    pub(crate) model: DataModel,
    pub(crate) records: Vec<Record>,
    /// The structure behind `va_list`, once it is needed.
    pub(crate) va_list: Option<u32>,
    /// Whether the program may change how results are rounded: then no floating-point number is
    /// followed.
    pub(crate) rounding_changes: bool,
    /// Which operations on constants are not done in advance.
    pub(crate) kept: Kept,
}

/// Which operations on constants whose result does not fit stay, so that they are checked where
/// a run comes to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kept {
    /// Signed arithmetic.
    pub(crate) arithmetic: bool,
    /// Signed numbers that are shifted to the left.
    pub(crate) shifts: bool,
}

impl Types {
    pub(crate) fn long(&self, signed: bool) -> CType {
        CType::Int { bits: self.model.pointer_bits(), signed }
    }

    pub(crate) fn size_type(&self) -> CType {
        self.long(false)
    }

    pub(crate) fn record(&self, id: u32) -> &Record {
        &self.records[id as usize]
    }

    /// The size in bytes; none for incomplete types and those of variable size.
    pub(crate) fn size(&self, ty: &CType) -> Option<u64> {
        match ty {
            // As gcc does it.
            CType::Void | CType::Bool | CType::Function(_) => Some(1),
            // The value of a bit-field can have any width.
            CType::Int { bits, .. } => Some(u64::from(bits.div_ceil(8).next_power_of_two())),
            CType::Float(size) => Some(*size),
            CType::Pointer(_) => Some(u64::from(self.model.pointer_bits() / 8)),
            CType::Array(element, Length::Known(length)) => self.size(element)?.checked_mul(*length),
            CType::Array(..) => None,
            CType::Record(id) => self.record(*id).complete.then(|| self.record(*id).size),
        }
    }

    pub(crate) fn align(&self, ty: &CType) -> u64 {
        match ty {
            CType::Array(element, _) => self.align(element),
            CType::Record(id) => self.record(*id).align.max(1),
            other => {
                let natural = self.size(other).unwrap_or(1).next_power_of_two();
                natural.min(self.model.greatest_alignment())
            }
        }
    }

    /// Whether some bits of a value of the type belong to no scalar.
    pub(crate) fn has_padding(&self, ty: &CType) -> bool {
        match ty {
            CType::Array(element, _) => self.has_padding(element),
            CType::Record(id) => {
                let record = self.record(*id);
                let sizes = record.fields.iter().map(|field| self.size(&field.ty).unwrap_or(0));
                let odd = |field: &Field| field.bits.is_some() || self.has_padding(&field.ty);
                !record.union && (record.fields.iter().any(odd) || sizes.sum::<u64>() != record.size)
            }
            _ => false,
        }
    }

    /// Whether a value of the type has this many bytes somewhere that unions share.
    pub(crate) fn has_union(&self, ty: &CType) -> bool {
        match ty {
            CType::Array(element, _) => self.has_union(element),
            CType::Record(id) => {
                let record = self.record(*id);
                record.union || record.fields.iter().any(|field| self.has_union(&field.ty))
            }
            _ => false,
        }
    }

    /// The type of the values of a scalar. `_Bool` is one bit; floating-point numbers have their
    /// bits.
    pub(crate) fn scalar(&self, ty: &CType) -> Scalar {
        match ty {
            CType::Bool => Scalar::Bits(1),
            CType::Int { bits, .. } => Scalar::Bits(*bits),
            CType::Float(size) => Scalar::Bits((*size * 8).min(64) as u32),
            _ => Scalar::Bits(self.model.pointer_bits()),
        }
    }

    /// Lays out a structure or union as gcc does on x86, and completes it. `pack` is the greatest
    /// alignment that `#pragma pack` allows: bit-fields lie without gaps then.
    pub(crate) fn complete(&mut self, id: u32, members: Vec<Member>, pack: Option<u64>, align: Option<u64>) {
        let union = self.record(id).union;
        let mut fields = Vec::new();
        // The next free bit, the greatest size of a union so far, and the alignment of the whole.
        let (mut next, mut size, mut whole) = (0_u64, 0_u64, 1_u64);
        for member in members {
            let own = self.align(&member.ty);
            // Below `#pragma pack`, bit-fields align the structure even if they are packed.
            let packed = member.packed && (member.width.is_none() || pack.is_none());
            let natural = if packed { 1 } else { own };
            let natural = natural.max(member.align.unwrap_or(1)).min(pack.unwrap_or(u64::MAX));
            let bytes = self.size(&member.ty).unwrap_or(0);
            if union {
                next = 0;
            }
            let bits = match member.width {
                None => {
                    next = next.div_ceil(8).next_multiple_of(natural) * 8;
                    None
                }
                Some(0) => {
                    next = next.next_multiple_of(self.align(&member.ty) * 8);
                    continue;
                }
                Some(width) => {
                    if member.align.is_some() {
                        next = next.next_multiple_of(natural * 8);
                    }
                    let step = own * 8;
                    let crosses = (next % step + u64::from(width)).div_ceil(step) > bytes * 8 / step;
                    if crosses && !member.packed && pack.is_none() {
                        next = next.next_multiple_of(natural * 8);
                    }
                    Some(BitField { low: (next % 8) as u32, width })
                }
            };
            let offset = next / 8;
            next += bits.map_or(bytes * 8, |bits| u64::from(bits.width));
            size = size.max(next.div_ceil(8));
            // An unnamed bit-field takes room but does not align the structure.
            if member.name.is_some() || bits.is_none() {
                whole = whole.max(natural);
                fields.push(Field { name: member.name, ty: member.ty, offset, bits });
            }
        }
        whole = whole.max(align.unwrap_or(1));
        let record = &mut self.records[id as usize];
        record.fields = fields;
        record.align = whole;
        record.size = size.next_multiple_of(whole);
        record.complete = true;
    }

    /// Gives a structure without a name another alignment, if that changes nothing else; whether it
    /// did.
    pub(crate) fn realign_unnamed(&mut self, ty: &CType, align: u64) -> bool {
        let CType::Record(id) = ty else { return false };
        let record = &mut self.records[*id as usize];
        let fits = record.complete && record.name == UNNAMED && record.size % align == 0;
        if fits {
            record.align = align;
        }
        fits
    }

    /// The way to a member: through unnamed structures and unions if need be.
    pub(crate) fn find_field(&self, id: u32, name: &str) -> Option<Vec<usize>> {
        let record = self.record(id);
        for (i, field) in record.fields.iter().enumerate() {
            match (&field.name, &field.ty) {
                (Some(found), _) if found == name => return Some(vec![i]),
                (None, CType::Record(inner)) => {
                    if let Some(mut rest) = self.find_field(*inner, name) {
                        rest.insert(0, i);
                        return Some(rest);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// A type in the words of C, for messages.
    pub(crate) fn show(&self, ty: &CType) -> String {
        match ty {
            CType::Void => "void".to_owned(),
            CType::Bool => "_Bool".to_owned(),
            CType::Int { bits, signed } => {
                let name = match bits {
                    8 => "char",
                    16 => "short",
                    32 => "int",
                    _ => "long long",
                };
                if *signed { name.to_owned() } else { format!("unsigned {name}") }
            }
            CType::Float(4) => "float".to_owned(),
            CType::Float(8) => "double".to_owned(),
            CType::Float(_) => "long double".to_owned(),
            CType::Pointer(to) => format!("{} *", self.show(to)),
            CType::Array(of, Length::Known(length)) => format!("{} [{length}]", self.show(of)),
            CType::Array(of, _) => format!("{} []", self.show(of)),
            CType::Record(id) => {
                let record = self.record(*id);
                if record.stands_for.is_some() {
                    return record.name.clone();
                }
                format!("{} {}", if record.union { "union" } else { "struct" }, record.name)
            }
            CType::Function(signature) => format!("function returning {}", self.show(&signature.result)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, ty: CType, width: Option<u32>) -> Member {
        Member { name: (!name.is_empty()).then(|| name.to_owned()), ty, width, align: None, packed: false }
    }

    fn laid_out(model: DataModel, members: Vec<Member>) -> Record {
        let mut types = Types { model, records: vec![Record::default()], ..Types::default() };
        types.complete(0, members, None, None);
        types.records.remove(0)
    }

    #[test]
    fn structures_are_padded_as_the_data_model_says() {
        let members = || vec![member("c", CType::CHAR, None), member("l", CType::LONG_LONG, None)];
        let wide = laid_out(DataModel::Lp64, members());
        assert_eq!((wide.size, wide.align, wide.fields[1].offset), (16, 8, 8));
        let narrow = laid_out(DataModel::Ilp32, members());
        assert_eq!((narrow.size, narrow.align, narrow.fields[1].offset), (12, 4, 4));
    }

    #[test]
    fn bit_fields_share_units_and_do_not_cross_them() {
        let int = || CType::INT;
        let record = laid_out(
            DataModel::Lp64,
            vec![
                member("a", int(), Some(3)),
                member("b", int(), Some(30)),
                member("", int(), Some(0)),
                member("c", int(), Some(1)),
                member("d", CType::CHAR, None),
            ],
        );
        let places: Vec<_> =
            record.fields.iter().map(|f| (f.offset, f.bits.map(|b| (b.low, b.width)))).collect();
        assert_eq!(places, [(0, Some((0, 3))), (4, Some((0, 30))), (8, Some((0, 1))), (9, None)]);
        assert_eq!((record.size, record.align), (12, 4));
    }

    #[test]
    fn arithmetic_conversions_prefer_width_then_unsigned() {
        let int = |bits, signed| CType::Int { bits, signed };
        assert_eq!(CType::common(&CType::CHAR, &int(16, false)), CType::INT);
        assert_eq!(CType::common(&CType::INT, &CType::UNSIGNED), CType::UNSIGNED);
        assert_eq!(CType::common(&CType::UNSIGNED, &CType::LONG_LONG), CType::LONG_LONG);
        assert_eq!(CType::common(&int(64, false), &CType::LONG_LONG), int(64, false));
        assert_eq!(CType::common(&CType::INT, &CType::Float(4)), CType::Float(4));
    }
}
