//! Where objects are kept: in variables of their own, or in memory.

use wherefore_program::{Dimension, Scalar, Span, Type, Var, Variable};

use super::Context;
use super::body::Body;
use crate::c::ctype::{BitField, CType, Length};
use crate::c::problem::{Checked, Problem};
use crate::c::tree::{Lifetime, ObjectId};

/// Where an object is kept.
#[derive(Clone, Debug)]
pub(crate) enum Storage {
    /// Every scalar of the object, in the order of its type, has a variable; arrays keep their
    /// dimensions.
    Split(Vec<Leaf>),
    Memory(Base),
}

/// Where an object starts in memory.
#[derive(Clone, Debug)]
pub(crate) enum Base {
    Constant(u64),
    /// So many bytes above the frame of a recursive procedure.
    Frame(u64),
    /// At an address that a variable holds.
    Variable(Var),
}

/// A scalar of a split object.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    /// The type in C.
    pub(crate) ty: CType,
    pub(crate) bits: Option<BitField>,
    /// None for what is opaque: it has no value that is followed.
    pub(crate) variable: Option<Var>,
}

/// The bytes that are set aside for an array of unknown length.
const UNKNOWN_LENGTH: u64 = 1 << 20;

/// Objects with more cells than this live in memory.
const MAX_CELLS: u64 = 1 << 16;

/// The shape of a leaf: its name below the object, its type, and the lengths of the arrays around
/// it.
struct Shape {
    name: String,
    ty: CType,
    bits: Option<BitField>,
    lengths: Vec<u64>,
}

impl Context<'_> {
    /// How many leaves a type has.
    pub(crate) fn leaf_count(&self, ty: &CType) -> usize {
        match ty {
            CType::Array(element, _) => self.leaf_count(element),
            CType::Record(id) => {
                self.tree.types.record(*id).fields.iter().map(|field| self.leaf_count(&field.ty)).sum()
            }
            _ => 1,
        }
    }

    fn shapes(&self, ty: &CType, name: &str, lengths: &[u64], bits: Option<BitField>, out: &mut Vec<Shape>) {
        match ty {
            CType::Array(element, Length::Known(length)) => {
                let lengths: Vec<u64> = lengths.iter().copied().chain([*length]).collect();
                self.shapes(element, name, &lengths, None, out);
            }
            CType::Record(id) => {
                for field in &self.tree.types.record(*id).fields {
                    let name = match &field.name {
                        Some(field) => format!("{name}.{field}"),
                        None => name.to_owned(),
                    };
                    self.shapes(&field.ty, &name, lengths, field.bits, out);
                }
            }
            _ => out.push(Shape { name: name.to_owned(), ty: ty.clone(), bits, lengths: lengths.to_vec() }),
        }
    }

    /// Whether an object can be kept in variables; `fixed` if it is static.
    fn can_split(&self, ty: &CType, fixed: bool) -> bool {
        if self.tree.types.size(ty).is_none() || self.tree.types.has_union(ty) {
            return false;
        }
        let mut shapes = Vec::new();
        self.shapes(ty, "", &[], None, &mut shapes);
        // Neighbouring bit-fields are one memory location: a write to one of them reads and writes
        // the bytes that others have a part in, which another thread may see.
        if fixed && self.has_threads && shapes.iter().filter(|shape| shape.bits.is_some()).count() > 1 {
            return false;
        }
        shapes.iter().all(|shape| {
            let cells = shape.lengths.iter().try_fold(1_u64, |cells, n| cells.checked_mul(*n));
            shape.lengths.len() <= 2 && cells.is_some_and(|cells| cells > 0 && cells <= MAX_CELLS)
        })
    }

    /// Decides where an object is kept; `body` is that of its owner if it is automatic.
    pub(crate) fn storage(&mut self, id: ObjectId, body: &mut Body, frame: &mut Frame) -> Checked<Storage> {
        if let Some(storage) = self.storages.get(&id) {
            return Ok(storage.clone());
        }
        let object = self.tree.object(id);
        if let Some(problem) = &object.problem {
            return Err(problem.clone());
        }
        let (ty, span, name) = (object.ty.clone(), object.span, object.name.clone());
        let fixed = object.lifetime == Lifetime::Static;
        let split = !self.usage.exposed.contains(&id) && self.can_split(&ty, fixed);
        let storage = if split {
            let name = match (fixed, object.owner) {
                (true, Some(owner)) => format!("{}::{name}", self.tree.function(owner).name),
                _ => name,
            };
            self.split(&ty, &name, fixed, span, body)
        } else if matches!(ty, CType::Array(_, Length::Variable(_))) || self.is_fresh(id) {
            let (pointer, name) = (Type::Scalar(self.pointer()), format!("&{name}"));
            // A nested function finds it, too.
            let variable = match self.usage.shared.contains(&id) {
                true => self.global(&name, pointer, Some(0), span),
                false => body.variable(&name, pointer, span),
            };
            Storage::Memory(Base::Variable(variable))
        } else {
            let size = self.tree.types.size(&ty).or_else(|| {
                // Another file says how long it is: there is room for many elements.
                let open = fixed && !object.defined && matches!(ty, CType::Array(_, Length::Unknown));
                open.then_some(UNKNOWN_LENGTH)
            });
            let Some(size) = size else {
                return Err(Problem::new(span, format!("the size of `{name}` is not known")));
            };
            let owner = object.owner.filter(|owner| !fixed && self.usage.recursive.contains(owner));
            match owner {
                Some(_) => {
                    let offset = frame.size;
                    frame.size += size.max(1).next_multiple_of(16) + 16;
                    Storage::Memory(Base::Frame(offset))
                }
                None => {
                    let address = self.allocate(id, size, span)?;
                    self.name_object(id, address, size);
                    Storage::Memory(Base::Constant(address))
                }
            }
        };
        self.storages.insert(id, storage.clone());
        if fixed {
            self.statics.push(id);
        }
        Ok(storage)
    }

    /// Gives an object in memory that is not on a stack its constant address.
    pub(crate) fn constant_base(&mut self, id: ObjectId, size: u64, span: Span) -> Checked<u64> {
        let address = self.allocate(id, size, span)?;
        self.name_object(id, address, size);
        self.storages.insert(id, Storage::Memory(Base::Constant(address)));
        if self.tree.object(id).lifetime == Lifetime::Static {
            self.statics.push(id);
        }
        Ok(address)
    }

    fn split(&mut self, ty: &CType, name: &str, fixed: bool, span: Span, body: &mut Body) -> Storage {
        let mut shapes = Vec::new();
        self.shapes(ty, name, &[], None, &mut shapes);
        let mut leaves = Vec::new();
        for shape in shapes {
            if self.tree.types.is_opaque(&shape.ty) {
                leaves.push(Leaf { ty: shape.ty, bits: None, variable: None });
                continue;
            }
            let scalar = match shape.bits {
                Some(bits) => Scalar::Bits(bits.width),
                None => self.tree.types.scalar(&shape.ty),
            };
            let dimensions: Vec<Dimension> =
                shape.lengths.iter().map(|length| Dimension { low: 0, length: *length }).collect();
            let ty = match dimensions.is_empty() {
                true => Type::Scalar(scalar),
                false => Type::Array { element: scalar, dimensions },
            };
            let (variable, list) = match fixed {
                true => (self.global(&shape.name, ty, Some(0), span), &mut self.globals),
                false => (body.variable(&shape.name, ty, span), &mut body.variables),
            };
            let made = list.last_mut().expect("it was just made");
            (made.signed, made.float) = (shape.ty.is_signed(), shape.ty.is_float());
            made.pointer = shape.ty.is_pointer();
            leaves.push(Leaf { ty: shape.ty, bits: shape.bits, variable: Some(variable) });
        }
        Storage::Split(leaves)
    }

    /// A new global variable.
    pub(crate) fn global(&mut self, name: &str, ty: Type, initial: Option<u64>, span: Span) -> Var {
        let mut unique = name.to_owned();
        let mut count = 1;
        while !self.names.insert(unique.clone()) {
            count += 1;
            unique = format!("{name}@{count}");
        }
        self.globals.push(Variable {
            name: unique,
            ty,
            value_names: None,
            signed: false,
            float: false,
            pointer: false,
            shared: true,
            initial,
            span,
        });
        Var::Global(self.globals.len() as u32 - 1)
    }

    /// Constant addresses for an object, with a gap behind it.
    fn allocate(&mut self, id: ObjectId, size: u64, span: Span) -> Checked<u64> {
        let (next, most) = match self.tree.is_read_only(id) {
            true => (&mut self.next_read_only, super::HEAP),
            false => (&mut self.next_address, super::READ_ONLY),
        };
        let address = *next;
        let end = size.max(1).checked_next_multiple_of(16).and_then(|size| address.checked_add(size + 16));
        match end.filter(|end| *end < most) {
            Some(end) => {
                *next = end;
                Ok(address)
            }
            None => Err(Problem::unsupported(span, "an object of this size is")),
        }
    }
}

/// The room that the objects of a recursive procedure need.
#[derive(Default)]
pub(crate) struct Frame {
    pub(crate) size: u64,
    pub(crate) base: Option<Var>,
}
