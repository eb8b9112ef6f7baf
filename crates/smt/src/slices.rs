//! Builders that cut, join and widen bit-vectors.
//!
//! Rules: constants, cuts of cuts, cuts of joins and of extensions, joins of neighbouring cuts,
//! extensions of extensions.

use crate::sort::{MAX_WIDTH, Sort, mask, signed};
use crate::terms::{Kind, Term, Terms};

/// How deep rules may call each other.
const NESTING: u32 = 16;

impl Terms {
    /// The `width` bits from `low` on.
    pub fn extract(&mut self, a: Term, low: u32, width: u32) -> Term {
        let whole = self.assert_bits(a, a);
        assert!(width >= 1 && low + width <= whole, "bits {low} to {} of {whole}", low + width - 1);
        if width == whole {
            return a;
        }
        if let Some(value) = self.map_choice(a, |terms, value| terms.extract(value, low, width)) {
            return value;
        }
        if self.depth >= NESTING {
            return self.intern(Kind::Extract { value: a, low }, Sort::Bits(width));
        }
        self.depth += 1;
        let result = self.extract_from(a, low, width);
        self.depth -= 1;
        result
    }

    fn extract_from(&mut self, a: Term, low: u32, width: u32) -> Term {
        match *self.kind(a) {
            Kind::Constant(value) => self.bits(value >> low, width),
            Kind::Extract { value, low: inner } => self.extract(value, inner + low, width),
            Kind::Concat(high, below) => {
                let border = self.width(below);
                if low >= border {
                    self.extract(high, low - border, width)
                } else if low + width <= border {
                    self.extract(below, low, width)
                } else {
                    let below = self.extract(below, low, border - low);
                    let high = self.extract(high, 0, low + width - border);
                    self.concat(high, below)
                }
            }
            Kind::ZeroExtend(x) => {
                let border = self.width(x);
                if low >= border {
                    self.bits(0, width)
                } else if low + width <= border {
                    self.extract(x, low, width)
                } else {
                    let part = self.extract(x, low, border - low);
                    self.zero_extend(part, width)
                }
            }
            Kind::SignExtend(x) => {
                let border = self.width(x);
                if low + width <= border {
                    self.extract(x, low, width)
                } else {
                    let from = low.min(border - 1);
                    let part = self.extract(x, from, border - from);
                    self.sign_extend(part, width)
                }
            }
            Kind::Ite(c, x, y) if self.constant(x).is_some() && self.constant(y).is_some() => {
                let then = self.extract(x, low, width);
                let otherwise = self.extract(y, low, width);
                self.ite(c, then, otherwise)
            }
            _ => self.intern(Kind::Extract { value: a, low }, Sort::Bits(width)),
        }
    }

    /// The bits of `high`, above those of `low`.
    pub fn concat(&mut self, high: Term, low: Term) -> Term {
        let (above, below) = (self.assert_bits(high, high), self.assert_bits(low, low));
        let width = above + below;
        assert!(width <= MAX_WIDTH, "at most {MAX_WIDTH} bits, not {width}");
        match (self.kind(high), self.kind(low)) {
            (Kind::Constant(h), Kind::Constant(l)) => {
                let value = (h << below) | l;
                self.bits(value, width)
            }
            (Kind::Constant(0), _) => self.zero_extend(low, width),
            (Kind::ZeroExtend(inner), _) => {
                let inner = *inner;
                let inner = self.concat_raw(inner, low);
                self.zero_extend(inner, width)
            }
            (Kind::Extract { value: x, low: from }, Kind::Extract { value: y, low: start })
                if x == y && *from == start + below =>
            {
                let (value, start) = (*x, *start);
                self.extract(value, start, width)
            }
            _ => self.concat_raw(high, low),
        }
    }

    fn concat_raw(&mut self, high: Term, low: Term) -> Term {
        let width = self.width(high) + self.width(low);
        self.intern(Kind::Concat(high, low), Sort::Bits(width))
    }

    /// The value with zeros in front, up to `width` bits in all.
    pub fn zero_extend(&mut self, a: Term, width: u32) -> Term {
        let from = self.assert_bits(a, a);
        assert!((from..=MAX_WIDTH).contains(&width), "{from} bits do not become {width}");
        if width == from {
            return a;
        }
        if let Some(value) = self.map_choice(a, |terms, value| terms.zero_extend(value, width)) {
            return value;
        }
        match *self.kind(a) {
            Kind::Constant(value) => self.bits(value, width),
            Kind::ZeroExtend(inner) => self.intern(Kind::ZeroExtend(inner), Sort::Bits(width)),
            Kind::Ite(c, x, y) => match (self.constant(x), self.constant(y)) {
                (Some(x), Some(y)) => {
                    let (then, otherwise) = (self.bits(x, width), self.bits(y, width));
                    self.ite(c, then, otherwise)
                }
                _ => self.intern(Kind::ZeroExtend(a), Sort::Bits(width)),
            },
            _ => self.intern(Kind::ZeroExtend(a), Sort::Bits(width)),
        }
    }

    /// The value with its sign repeated in front, up to `width` bits in all.
    pub fn sign_extend(&mut self, a: Term, width: u32) -> Term {
        let from = self.assert_bits(a, a);
        assert!((from..=MAX_WIDTH).contains(&width), "{from} bits do not become {width}");
        if width == from {
            return a;
        }
        if let Some(value) = self.map_choice(a, |terms, value| terms.sign_extend(value, width)) {
            return value;
        }
        match *self.kind(a) {
            Kind::Constant(value) => self.bits(signed(value, from) as u64, width),
            Kind::SignExtend(inner) => self.intern(Kind::SignExtend(inner), Sort::Bits(width)),
            Kind::ZeroExtend(inner) => self.intern(Kind::ZeroExtend(inner), Sort::Bits(width)),
            _ if self.upper(a) <= mask(from) >> 1 => self.zero_extend(a, width),
            _ => self.intern(Kind::SignExtend(a), Sort::Bits(width)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_join_again() {
        let mut t = Terms::new();
        let x = t.variable("x", Sort::Bits(16));
        let (high, low) = (t.extract(x, 8, 8), t.extract(x, 0, 8));
        let joined = t.concat(high, low);
        assert_eq!(joined, x);
        let swapped = t.concat(low, high);
        assert_eq!((t.extract(swapped, 8, 8), t.extract(swapped, 0, 8)), (low, high));
        let middle = t.extract(x, 4, 8);
        assert_eq!(t.extract(middle, 2, 4), t.extract(x, 6, 4));
    }

    #[test]
    fn extensions_are_cut_off_again() {
        let mut t = Terms::new();
        let x = t.variable("x", Sort::Bits(8));
        let (zeros, signs) = (t.zero_extend(x, 32), t.sign_extend(x, 32));
        assert_eq!((t.extract(zeros, 0, 8), t.extract(signs, 0, 8)), (x, x));
        assert_eq!(t.extract(zeros, 16, 8), t.bits(0, 8));
        assert_eq!(t.extract(signs, 0, 16), t.sign_extend(x, 16));
        assert_eq!(t.sign_extend(zeros, 64), t.zero_extend(x, 64));
    }
}
