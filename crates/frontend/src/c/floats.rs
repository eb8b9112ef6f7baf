//! Which floating-point types are followed, and the functions on them that are computed.
//!
//! `float` and `double` are the formats of IEEE 754, and every operation is rounded to its type. On
//! i386 this is an assumption: without `-mfpmath=sse`, compilers keep numbers with more precision
//! than they have. `long double` and `_Float128` have no exact model: values of such types are
//! *opaque*, anything each time they are read.

use wherefore_program::{Format, Rounding};

use super::ctype::{CType, Types};

/// A function or question that the compiler knows. The arguments have one floating-point type, but
/// for those of [`FloatFunction::Classify`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FloatFunction {
    Abs,
    Sqrt,
    Round(Rounding),
    CopySign,
    Min,
    Max,
    IsNan,
    IsInfinite,
    /// 1, -1 or 0.
    InfiniteSign,
    IsFinite,
    IsNormal,
    SignBit,
    /// Five integers for a NaN, infinity, and normal, subnormal numbers and zero, and the number.
    Classify,
    IsUnordered,
    /// Whether one of two is less than the other.
    LessOrGreater,
    /// Whether the first is greater, in this order of evaluation.
    Greater,
    GreaterEqual,
}

impl Types {
    /// The format of a floating-point type whose values are followed.
    pub(crate) fn format(&self, ty: &CType) -> Option<Format> {
        match ty {
            CType::Float(_) if self.rounding_changes => None,
            CType::Float(4) => Some(Format::Single),
            CType::Float(8) => Some(Format::Double),
            _ => None,
        }
    }

    /// Whether values of a type are anything each time they are read.
    pub(crate) fn is_opaque(&self, ty: &CType) -> bool {
        ty.is_float() && self.format(ty).is_none()
    }
}

/// Functions of the C library that change how results are rounded.
pub(crate) const ROUNDING: [&str; 3] = ["fesetround", "fesetenv", "feupdateenv"];

/// Between which numbers the result of a function of the C library is that is not computed, if it
/// is a number.
pub(crate) fn range(name: &str) -> Option<(f64, f64)> {
    use std::f64::consts::{FRAC_PI_2, PI};
    // Room for what is not rounded to the nearest number, of either type.
    const MORE: f64 = 1.0 + 1e-6;
    Some(match name.strip_suffix('f').unwrap_or(name) {
        "sin" | "cos" | "tanh" => (-1.0, 1.0),
        "exp" | "exp2" | "hypot" => (0.0, f64::INFINITY),
        "cosh" => (1.0, f64::INFINITY),
        "asin" | "atan" => (-FRAC_PI_2 * MORE, FRAC_PI_2 * MORE),
        "acos" => (0.0, PI * MORE),
        "atan2" => (-PI * MORE, PI * MORE),
        _ => return None,
    })
}
