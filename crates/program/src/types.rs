//! Types of variables and of expressions.

use std::fmt;

/// The widest bit-vector.
pub const MAX_WIDTH: u32 = 64;

/// The type of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scalar {
    /// A truth value; as a number, 0 or 1.
    Bool,
    /// A bit-vector of 1 to 64 bits. Whether it is signed is a matter of the operation.
    Bits(u32),
}

impl Scalar {
    /// The number of bits: 1 for a truth value.
    pub fn width(self) -> u32 {
        match self {
            Scalar::Bool => 1,
            Scalar::Bits(width) => width,
        }
    }

    /// The largest value, as an unsigned number.
    pub fn max(self) -> u64 {
        u64::MAX >> (MAX_WIDTH - self.width().clamp(1, MAX_WIDTH))
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Bool => f.write_str("bool"),
            Scalar::Bits(width) => write!(f, "bits({width})"),
        }
    }
}

/// The indices of one dimension of an array: `low`, `low + 1`, …, `low + length - 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dimension {
    /// The least index.
    pub low: u64,
    /// How many indices there are; at least one.
    pub length: u64,
}

/// The type of a variable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// One value.
    Scalar(Scalar),
    /// Cells of one type in one or two dimensions, row by row.
    Array {
        /// The type of a cell.
        element: Scalar,
        /// The dimensions, the outermost first.
        dimensions: Vec<Dimension>,
    },
    /// A cell for every address. Only globals have this type.
    Memory {
        /// The width of an address.
        address: u32,
        /// The type of a cell.
        element: Scalar,
    },
}

impl Type {
    /// The truth values.
    pub const BOOL: Type = Type::Scalar(Scalar::Bool);

    /// Bit-vectors of `width` bits.
    pub fn bits(width: u32) -> Type {
        Type::Scalar(Scalar::Bits(width))
    }

    /// The type of one cell: of the value itself, or of an element.
    pub fn element(&self) -> Scalar {
        match self {
            Type::Scalar(scalar) => *scalar,
            Type::Array { element, .. } | Type::Memory { element, .. } => *element,
        }
    }

    /// The dimensions; none for a single value.
    pub fn dimensions(&self) -> &[Dimension] {
        match self {
            Type::Scalar(_) | Type::Memory { .. } => &[],
            Type::Array { dimensions, .. } => dimensions,
        }
    }

    /// Whether it is memory.
    pub fn is_memory(&self) -> bool {
        matches!(self, Type::Memory { .. })
    }

    /// How many indices a read or a write has.
    pub fn index_count(&self) -> usize {
        if self.is_memory() { 1 } else { self.dimensions().len() }
    }

    /// How many cells a variable of this type has among the others. Memory has none there: it is
    /// kept apart.
    pub fn cell_count(&self) -> usize {
        if self.is_memory() {
            return 0;
        }
        self.dimensions().iter().map(|d| d.length as usize).product()
    }

    /// The cell that the indices name, or none if one of them is out of bounds.
    ///
    /// ```
    /// use wherefore_program::{Dimension, Scalar, Type};
    ///
    /// let dimensions = vec![Dimension { low: 1, length: 2 }, Dimension { low: 0, length: 3 }];
    /// let array = Type::Array { element: Scalar::Bool, dimensions };
    /// assert_eq!(array.cell(&[2, 1]), Some(4));
    /// assert_eq!(array.cell(&[0, 1]), None);
    /// ```
    pub fn cell(&self, indices: &[u64]) -> Option<usize> {
        debug_assert_eq!(indices.len(), self.dimensions().len());
        let mut cell = 0;
        for (index, dimension) in indices.iter().zip(self.dimensions()) {
            let offset = index.checked_sub(dimension.low).filter(|offset| *offset < dimension.length)?;
            cell = cell * dimension.length as usize + offset as usize;
        }
        Some(cell)
    }

    /// The indices of a cell: the inverse of [`Type::cell`].
    pub fn indices(&self, mut cell: usize) -> Vec<u64> {
        let mut indices = Vec::new();
        for dimension in self.dimensions().iter().rev() {
            indices.push(dimension.low + (cell % dimension.length as usize) as u64);
            cell /= dimension.length as usize;
        }
        indices.reverse();
        indices
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.element())?;
        if let Type::Memory { address, .. } = self {
            return write!(f, "[every bits({address})]");
        }
        for Dimension { low, length } in self.dimensions() {
            match low {
                0 => write!(f, "[{length}]")?,
                low => write!(f, "[{low},{}]", low + length - 1)?,
            }
        }
        Ok(())
    }
}
