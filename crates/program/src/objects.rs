//! Objects at constant addresses, and what their cells are called in the source.
//!
//! Engines know numbers. People read `rx.data[3]`, `&rx`, `NULL`: the front end says which object
//! lies where, and how it is made of parts; here addresses get their names.

use std::fmt::Write;

use crate::program::{Program, Variable};

/// What lies where in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Objects {
    /// Objects at constant addresses, by address.
    pub fixed: Vec<Object>,
    /// Where the blocks of an allocator are, if each has addresses of its own.
    pub blocks: Option<Blocks>,
}

/// An object at a constant address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// The name in the source.
    pub name: String,
    /// The function that it is a variable of; none for those of a file.
    pub function: Option<String>,
    /// Where it begins.
    pub address: u64,
    /// Its bytes.
    pub size: u64,
    /// Its scalars, in the order of their offsets. Those of a union may overlap.
    pub parts: Vec<Part>,
}

/// A scalar of an object, or all scalars at the same place in the elements of arrays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where the first of them begins, in bytes from the start of the object.
    pub offset: u64,
    /// How many bits it has.
    pub width: u32,
    /// What stands between the indices: `.rows` and `.x` for `.rows[i].x`. One more than indices.
    pub names: Vec<String>,
    /// The arrays around it, the outermost first: how many elements, and the bytes of one.
    pub arrays: Vec<(u64, u64)>,
    /// How people read it.
    pub reading: Reading,
}

/// How people read a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// As a number that is not negative.
    Unsigned,
    /// As a number that may be negative.
    Signed,
    /// As a floating-point number.
    Float,
    /// As an address.
    Pointer,
}

/// A cell of memory as the source has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedCell<'a> {
    /// The object.
    pub object: &'a Object,
    /// The name: `rx.data[3]`.
    pub name: String,
    /// How people read it.
    pub reading: Reading,
    /// How many cells there are like it: those of all elements of the arrays around it.
    pub alike: u64,
}

impl Part {
    /// The name of the scalar of this part that begins so many bytes behind the start of the
    /// object.
    fn name(&self, offset: u64) -> Option<String> {
        let mut rest = offset.checked_sub(self.offset)?;
        let mut name = self.names.first()?.clone();
        for ((count, bytes), next) in self.arrays.iter().zip(&self.names[1..]) {
            let index = rest.checked_div(*bytes)?;
            if index >= *count {
                return None;
            }
            rest %= bytes;
            let _ = write!(name, "[{index}]{next}");
        }
        (rest == 0).then_some(name)
    }
}

/// A run allocates fewer blocks than this.
const MOST_BLOCKS: u64 = 1 << 24;

impl Program {
    /// The object that an address points into, or right behind.
    fn object_at(&self, address: u64) -> Option<&Object> {
        let at = self.objects.fixed.partition_point(|object| object.address <= address);
        let object = &self.objects.fixed[at.checked_sub(1)?];
        (address - object.address <= object.size).then_some(object)
    }

    /// What a cell of so many bits at an address is called; none if it has no name.
    pub fn named_cell(&self, address: u64, width: u32) -> Option<NamedCell<'_>> {
        let object = self.object_at(address)?;
        let offset = address - object.address;
        let mut parts = object.parts.iter().filter(|part| part.width == width);
        let (part, name) = parts.find_map(|part| Some((part, part.name(offset)?)))?;
        let name = format!("{}{name}", object.name);
        let alike = part.arrays.iter().map(|(count, _)| *count).product();
        Some(NamedCell { object, name, reading: part.reading, alike })
    }

    /// An address in the words of the source: `NULL`, `&rx`, `&rx.data[3]`, `block 2`.
    pub fn show_pointer(&self, address: u64) -> String {
        if address == 0 {
            return "NULL".to_owned();
        }
        if let Some(object) = self.object_at(address) {
            let offset = address - object.address;
            // Literals have no parts, nor have objects that are too large for it.
            if object.parts.is_empty() {
                return match offset {
                    0 => object.name.clone(),
                    _ => format!("{} + {offset} bytes", object.name),
                };
            }
            if offset == object.size && object.size > 0 {
                return format!("&{} + 1", object.name);
            }
            let is_array = object.parts.first().is_some_and(|part| {
                !part.arrays.is_empty() && part.names.first().is_some_and(String::is_empty)
            });
            if offset == 0 && !is_array {
                return format!("&{}", object.name);
            }
            let part = object.parts.iter().find_map(|part| part.name(offset));
            return match part {
                Some(part) => format!("&{}{part}", object.name),
                None => format!("&{} + {offset} bytes", object.name),
            };
        }
        match self.objects.blocks {
            // What is farther away comes from outside.
            Some(blocks)
                if address >= blocks.first && (address - blocks.first) >> blocks.bits < MOST_BLOCKS =>
            {
                let number = ((address - blocks.first) >> blocks.bits) + 1;
                match (address - blocks.first) & ((1 << blocks.bits) - 1) {
                    0 => format!("block {number}"),
                    offset => format!("block {number} + {offset} bytes"),
                }
            }
            _ => address.to_string(),
        }
    }

    /// A value as people read it.
    pub fn show_read(&self, value: u64, width: u32, reading: Reading) -> String {
        match reading {
            Reading::Pointer => self.show_pointer(value),
            Reading::Unsigned => value.to_string(),
            Reading::Signed => {
                let unused = 64 - width.clamp(1, 64);
                (((value << unused) as i64) >> unused).to_string()
            }
            Reading::Float => wherefore_floats::Format::of_width(width)
                .map_or_else(|| value.to_string(), |format| format.show(value)),
        }
    }
}

/// Where the blocks of `malloc` are, if each has addresses of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// The address of the first one.
    pub first: u64,
    /// Two to the power of this many bytes later is the next one.
    pub bits: u32,
}

impl Variable {
    /// How people read its values.
    pub fn reading(&self) -> Reading {
        match (self.pointer, self.float, self.signed) {
            (true, ..) => Reading::Pointer,
            (_, true, _) => Reading::Float,
            (_, _, true) => Reading::Signed,
            _ => Reading::Unsigned,
        }
    }
}
