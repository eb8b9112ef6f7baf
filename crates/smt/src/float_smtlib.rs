//! Floating-point operations in SMT-LIB 2.
//!
//! Numbers are bit-vectors here and have a sort of their own there. The standard converts from bits
//! to numbers, not back: a result is a new bit-vector, of which it is asserted that it is the
//! number, and which bits a NaN has. Every number but NaN has exactly one such vector, so that this
//! is a definition.

use std::fmt::Write;

use wherefore_floats::{FloatOp, Format, Operation, Rounding};

/// Defines the symbol of a term by those of its operands.
pub(crate) fn define(op: FloatOp, operands: &[String], name: &str, into: &mut String) {
    let number = |i: usize| as_number(op.format, operands.get(i).map_or("", String::as_str));
    let (e, p) = sizes(op.format);
    let mut truth = |text: String| {
        let _ = writeln!(into, "(define-fun {name} () Bool {text})");
    };
    let (result, text) = match op.operation {
        Operation::Equal => return truth(format!("(fp.eq {} {})", number(0), number(1))),
        Operation::Less => return truth(format!("(fp.lt {} {})", number(0), number(1))),
        Operation::LessEqual => return truth(format!("(fp.leq {} {})", number(0), number(1))),
        Operation::FitsSigned(width) => return truth(fits(op.format, &number(0), width, true)),
        Operation::FitsUnsigned(width) => return truth(fits(op.format, &number(0), width, false)),
        Operation::ToSigned(width) | Operation::ToUnsigned(width) => {
            let signed = matches!(op.operation, Operation::ToSigned(_));
            let function = if signed { "fp.to_sbv" } else { "fp.to_ubv" };
            let highest = 1_u64 << (width - 1);
            let fits = fits(op.format, &number(0), width, signed);
            let integer = format!("((_ {function} {width}) RTZ {})", number(0));
            let _ = writeln!(
                into,
                "(define-fun {name} () (_ BitVec {width}) (ite {fits} {integer} (_ bv{highest} {width})))"
            );
            return;
        }
        Operation::Add => (op.format, format!("(fp.add RNE {} {})", number(0), number(1))),
        Operation::Sub => (op.format, format!("(fp.sub RNE {} {})", number(0), number(1))),
        Operation::Mul => (op.format, format!("(fp.mul RNE {} {})", number(0), number(1))),
        Operation::Div => (op.format, format!("(fp.div RNE {} {})", number(0), number(1))),
        Operation::Sqrt => (op.format, format!("(fp.sqrt RNE {})", number(0))),
        Operation::Round(rounding) => {
            let mode = match rounding {
                Rounding::ToZero => "RTZ",
                Rounding::Down => "RTN",
                Rounding::Up => "RTP",
                Rounding::NearestEven => "RNE",
                Rounding::NearestAway => "RNA",
            };
            (op.format, format!("(fp.roundToIntegral {mode} {})", number(0)))
        }
        Operation::FromSigned(_) => (op.format, format!("((_ to_fp {e} {p}) RNE {})", operands.join(" "))),
        Operation::FromUnsigned(_) => {
            (op.format, format!("((_ to_fp_unsigned {e} {p}) RNE {})", operands.join(" ")))
        }
        Operation::Convert => {
            let (e, p) = sizes(op.format.other());
            (op.format.other(), format!("((_ to_fp {e} {p}) RNE {})", number(0)))
        }
    };
    let (e, p) = sizes(result);
    let width = result.width();
    let _ = writeln!(into, "(define-fun {name}f () (_ FloatingPoint {e} {p}) {text})");
    let _ = writeln!(into, "(declare-fun {name} () (_ BitVec {width}))");
    let _ = writeln!(into, "(assert (= {} {name}f))", as_number(result, name));
    let nan = nan_bits(op, operands);
    let _ = writeln!(into, "(assert (=> (fp.isNaN {name}f) (= {name} {nan})))");
}

/// The bits of a result that is a NaN.
fn nan_bits(op: FloatOp, operands: &[String]) -> String {
    let (format, width) = (op.format, op.format.width());
    let new = format!("(_ bv{} {width})", format.nan());
    match op.operation {
        Operation::FromSigned(_) | Operation::FromUnsigned(_) => new,
        Operation::Convert => {
            let [bits] = operands else { return new };
            // The sign, the exponent and the quiet bit, and what both formats have of the payload.
            match format {
                Format::Single => {
                    format!("(concat ((_ extract 31 31) {bits}) #xfff ((_ extract 21 0) {bits}) (_ bv0 29))")
                }
                Format::Double => {
                    format!("(concat ((_ extract 63 63) {bits}) (_ bv511 9) ((_ extract 50 29) {bits}))")
                }
            }
        }
        _ => {
            let is_nan = |bits: &String| format!("(fp.isNaN {})", as_number(format, bits));
            let part = |bits: &String| format!("(ite {} {bits} (_ bv0 {width}))", is_nan(bits));
            let parts: Vec<String> = operands.iter().map(part).collect();
            let tests: Vec<String> = operands.iter().map(is_nan).collect();
            let quiet = format!("(_ bv{} {width})", format.quiet());
            format!("(ite (or false {}) (bvor {quiet} {}) {new})", tests.join(" "), parts.join(" "))
        }
    }
}

/// The bits of the exponent, and of the significand with its leading one.
fn sizes(format: Format) -> (u32, u32) {
    (format.exponent_bits(), format.fraction_bits() + 1)
}

fn as_number(format: Format, bits: &str) -> String {
    let (e, p) = sizes(format);
    format!("((_ to_fp {e} {p}) {bits})")
}

/// Whether a number without its fraction is an integer of a width.
fn fits(format: Format, number: &str, width: u32, signed: bool) -> String {
    let constant =
        |value: f64| as_number(format, &format!("(_ bv{} {})", format.bits_of(value), format.width()));
    let limit = 2_f64.powi(if signed { width - 1 } else { width } as i32);
    let below = format!("(fp.lt {number} {})", constant(limit));
    let above = if !signed {
        format!("(fp.lt {} {number})", constant(-1.0))
    } else if width <= format.fraction_bits() {
        format!("(fp.lt {} {number})", constant(-limit - 1.0))
    } else {
        // There is no number between the least integer and the next one below.
        format!("(fp.leq {} {number})", constant(-limit))
    };
    format!("(and {above} {below})")
}
