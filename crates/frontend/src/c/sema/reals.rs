//! Floating-point constants: folded where the value is known exactly, else any number.

use lang_c::ast::{Float, FloatBase, FloatFormat};
use wherefore_program::{BinaryOp, Scalar};

use crate::c::ctype::CType;
use crate::c::tree::TermKind;

/// The size of the type that a suffix gives; none for the long double of the data model.
pub(super) fn size(format: &FloatFormat) -> Option<u64> {
    match format {
        FloatFormat::Float => Some(4),
        FloatFormat::Double => Some(8),
        FloatFormat::LongDouble => None,
        FloatFormat::TS18661Format(_) => Some(16),
    }
}

/// The value of a constant in a type of so many bytes. Types wider than `double` hold more than we
/// can: their constants are known only if a `double` holds them, and if they are whole numbers,
/// since integers of 128 bits are such types too, or if they are so near to a `double` that they
/// become just that: `DBL_MAX` and its like are written so.
pub(super) fn constant(float: &Float, size: u64) -> Option<f64> {
    match (&float.base, size) {
        (FloatBase::Decimal, 4) => float.number.parse::<f32>().ok().map(f64::from),
        (FloatBase::Decimal, 8) => float.number.parse().ok(),
        (FloatBase::Decimal, _) => plain(&float.number).or_else(|| near(&float.number)),
        (FloatBase::Hexadecimal, _) => hexadecimal(&float.number, size),
    }
}

/// `12` or `12.0`.
fn plain(text: &str) -> Option<f64> {
    let (before, behind) = text.split_once('.').unwrap_or((text, ""));
    let number: u64 = before.parse().ok()?;
    (behind.bytes().all(|digit| digit == b'0')).then_some(number as f64).and_then(whole)
}

/// A number that has its first 19 digits in common with a `double`. It is no whole number, or a very
/// great one.
fn near(text: &str) -> Option<f64> {
    const DIGITS: usize = 19;
    /// The first digits as a number, and the power of ten of the first one.
    fn digits(text: &str) -> Option<(u64, i64)> {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (before, behind) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{before}{behind}");
        let zeros = all.bytes().take_while(|digit| *digit == b'0').count();
        let kept: String = all[zeros..].chars().chain(std::iter::repeat('0')).take(DIGITS).collect();
        let exponent: i64 = exponent.parse().ok()?;
        Some((kept.parse().ok()?, exponent + before.len() as i64 - zeros as i64))
    }
    let value: f64 = text.parse().ok()?;
    let is_fine = value.is_normal() && (value.fract() != 0.0 || value >= (1_u64 << 63) as f64);
    let ((a, at), (b, other)) = (digits(text)?, digits(&format!("{value:.30e}"))?);
    (is_fine && at == other && a.abs_diff(b) <= 1).then_some(value)
}

/// A whole number that was not rounded.
fn whole(value: f64) -> Option<f64> {
    (value.fract() == 0.0 && value.abs() < (1_u64 << 52) as f64).then_some(value)
}

/// `1.8p3` without its prefix.
fn hexadecimal(text: &str, size: u64) -> Option<f64> {
    let (digits, exponent) = text.split_once(['p', 'P'])?;
    // Beyond these ends every number is infinite or zero, whatever its digits.
    let exponent: i64 = match exponent.parse::<i64>() {
        Ok(exponent) => exponent.clamp(-1_000_000, 1_000_000),
        Err(_) => return None,
    };
    let (before, behind) = digits.split_once('.').unwrap_or((digits, ""));
    let mut exponent = exponent - 4 * i64::try_from(behind.len()).ok()?;
    let (mut mantissa, mut rest) = (0_u128, false);
    for digit in before.chars().chain(behind.chars()) {
        let digit = u128::from(digit.to_digit(16)?);
        if mantissa >> 120 == 0 {
            mantissa = mantissa << 4 | digit;
        } else {
            // More digits than matter, but for whether they are zero.
            exponent += 4;
            rest |= digit != 0;
        }
    }
    match size {
        4 => Some(rounded(mantissa, rest, exponent, 24, -149)).map(|number| f64::from(number as f32)),
        8 => Some(rounded(mantissa, rest, exponent, 53, -1074)),
        _ if rest || mantissa >= 1 << 52 => None,
        _ => whole(rounded(mantissa, rest, exponent, 53, -1074)),
    }
}

/// The number of so many bits, of which the last is at least 2 to the `least`, that is nearest to
/// `mantissa * 2^exponent` and something more; ties go to the even one.
fn rounded(mantissa: u128, more: bool, exponent: i64, precision: i64, least: i64) -> f64 {
    if mantissa == 0 {
        return 0.0;
    }
    let top = exponent + 128 - i64::from(mantissa.leading_zeros());
    let last = (top - precision).max(least);
    let (digits, last) = match last - exponent {
        shift if shift <= 0 => (mantissa, exponent),
        shift if shift > 127 => (0, last),
        shift => {
            let (kept, half) = (mantissa >> shift, 1_u128 << (shift - 1));
            let lost = mantissa & ((1 << shift) - 1);
            let up = lost > half || (lost == half && (more || kept & 1 == 1));
            (kept + u128::from(up), last)
        }
    };
    // In steps, so that nothing is rounded on the way.
    let (mut number, mut last) = (digits as f64, last);
    while last != 0 && number != 0.0 && number.is_finite() {
        let step = last.clamp(-1000, 1000);
        number *= 2_f64.powi(step as i32);
        last -= step;
    }
    number
}

/// An integer as a number of a floating-point type.
pub(super) fn from_integer(value: u64, signed: bool, size: u64) -> Option<f64> {
    let number = value as i64;
    match (size, signed) {
        (4, true) => Some(f64::from(number as f32)),
        (4, false) => Some(f64::from(value as f32)),
        (8, true) => Some(number as f64),
        (8, false) => Some(value as f64),
        (_, true) => whole(number as f64),
        (_, false) => whole(value as f64),
    }
}

/// A number of one floating-point type in another.
pub(super) fn between(value: f64, from: u64, to: u64) -> Option<f64> {
    match to {
        // A great unsigned number of 128 bits looks negative.
        _ if from > 8 && value < 0.0 => None,
        4 => Some(f64::from(value as f32)),
        8 => Some(value),
        _ => whole(value),
    }
}

/// A number as an integer; none where C does not say which.
pub(super) fn to_integer(value: f64, bits: u32, signed: bool) -> Option<u64> {
    let whole = value.trunc();
    let (low, high) = match signed {
        true => (-(2_f64.powi(bits as i32 - 1)), 2_f64.powi(bits as i32 - 1)),
        false => (0.0, 2_f64.powi(bits as i32)),
    };
    if !(low..high).contains(&whole) {
        return None;
    }
    let value = if signed { whole as i64 as u64 } else { whole as u64 };
    Some(value & Scalar::Bits(bits).max())
}

/// A comparison of two constants of one type.
pub(super) fn compare(op: BinaryOp, a: f64, b: f64, ty: &CType) -> Option<TermKind> {
    if !matches!(ty, CType::Float(4 | 8)) {
        return None;
    }
    let holds = match op {
        BinaryOp::Eq => a == b,
        BinaryOp::Ne => a != b,
        BinaryOp::ULt | BinaryOp::SLt => a < b,
        BinaryOp::ULe | BinaryOp::SLe => a <= b,
        _ => return None,
    };
    Some(TermKind::Constant(u64::from(holds)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_constants_are_scaled_by_powers_of_two() {
        assert_eq!(hexadecimal("1p3", 8), Some(8.0));
        assert_eq!(hexadecimal("1.8p1", 8), Some(3.0));
        assert_eq!(hexadecimal(".8p0", 4), Some(0.5));
        assert_eq!(hexadecimal("1000001p0", 4), Some(16_777_216.0));
        assert_eq!(hexadecimal("1000003p0", 4), Some(16_777_220.0));
        assert_eq!(hexadecimal("1.00000000000000000000000000000001p0", 8), Some(1.0));
        assert_eq!(hexadecimal("1.00000000000008000000000000000000000000001p0", 8), Some(1.0 + f64::EPSILON));
        assert_eq!(hexadecimal("1p-1070", 8), Some(f64::from_bits(16)));
        assert_eq!(hexadecimal("1.8p-1075", 8), Some(f64::from_bits(1)));
        assert_eq!(hexadecimal("1p-1075", 8), Some(0.0));
        assert_eq!(hexadecimal("1p99999", 8), Some(f64::INFINITY));
        assert_eq!(hexadecimal("1.fffffep127", 4), Some(f64::from(f32::MAX)));
        assert_eq!(hexadecimal("1.ffffffp127", 4), Some(f64::INFINITY));
        assert_eq!(hexadecimal("1p-149", 4), Some(f64::from(f32::from_bits(1))));
        assert_eq!(hexadecimal("1.8p0", 16), None);
    }

    #[test]
    fn long_constants_are_known_if_they_are_as_good_as_a_double() {
        assert_eq!(near("1.79769313486231570814527423731704357e+308"), Some(f64::MAX));
        assert_eq!(near("2.22507385850720138309023271733240406e-308"), Some(f64::MIN_POSITIVE));
        assert_eq!(near("2.22044604925031308084726333618164062e-16"), Some(f64::EPSILON));
        assert_eq!(near("0.5"), Some(0.5));
        assert_eq!(near("00.0625e1"), Some(0.625));
        for text in ["0.1", "2.99999999999999999999", "3.0", "1e400", "1e-320", "0.0"] {
            assert_eq!(near(text), None, "{text}");
        }
    }

    #[test]
    fn integers_are_rounded_to_the_type_and_back_only_if_they_fit() {
        assert_eq!(from_integer(16_777_217, true, 4), Some(16_777_216.0));
        assert_eq!(from_integer((1 << 53) + 1, true, 8), Some((1_u64 << 53) as f64));
        assert_eq!(from_integer((1 << 53) + 1, true, 16), None);
        assert_eq!(to_integer(300.5, 8, false), None);
        assert_eq!(to_integer(-1.5, 32, true), Some(u64::from(u32::MAX)));
        assert_eq!(to_integer(-0.5, 32, false), Some(0));
        assert_eq!(to_integer(f64::NAN, 32, true), None);
    }
}
