//! Sets of numbers between bounds.

use wherefore_program::Scalar;

/// The numbers of a width whose unsigned value lies in one interval and whose signed value lies in
/// another one. It is never empty: operations that could leave nothing return an [`Option`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    width: u32,
    /// The least and greatest unsigned value.
    unsigned: (u64, u64),
    /// The least and greatest signed value.
    signed: (i64, i64),
}

fn sign(value: u64, width: u32) -> i64 {
    let shift = 64 - width;
    ((value << shift) as i64) >> shift
}

impl Range {
    /// All numbers of a type.
    pub fn full(ty: Scalar) -> Self {
        let width = ty.width();
        let least = i64::MIN >> (64 - width);
        Self { width, unsigned: (0, ty.max()), signed: (least, !least) }
    }

    /// One number.
    pub fn constant(value: u64, ty: Scalar) -> Self {
        let (value, width) = (value & ty.max(), ty.width());
        Self { width, unsigned: (value, value), signed: (sign(value, width), sign(value, width)) }
    }

    /// The numbers of a type between two unsigned ones.
    pub fn unsigned(low: u64, high: u64, ty: Scalar) -> Option<Self> {
        Self::full(ty).with_unsigned(low, high)
    }

    /// The numbers of a type between two signed ones.
    pub fn signed(low: i64, high: i64, ty: Scalar) -> Option<Self> {
        Self::full(ty).with_signed(low, high)
    }

    /// The type of its numbers.
    pub(crate) fn scalar(self) -> Scalar {
        Scalar::Bits(self.width)
    }

    /// The width of the numbers.
    pub(crate) fn width(self) -> u32 {
        self.width
    }

    /// The least and greatest unsigned value.
    pub fn unsigned_bounds(self) -> (u64, u64) {
        self.unsigned
    }

    /// The least and greatest signed value.
    pub fn signed_bounds(self) -> (i64, i64) {
        self.signed
    }

    /// The number, if there is only one.
    pub fn as_constant(self) -> Option<u64> {
        (self.unsigned.0 == self.unsigned.1).then_some(self.unsigned.0)
    }

    /// Whether a number is in it.
    pub fn contains(self, value: u64) -> bool {
        let as_signed = sign(value, self.width);
        (self.unsigned.0..=self.unsigned.1).contains(&value)
            && (self.signed.0..=self.signed.1).contains(&as_signed)
    }

    /// The part between two unsigned numbers.
    pub fn with_unsigned(self, low: u64, high: u64) -> Option<Self> {
        let unsigned = (self.unsigned.0.max(low), self.unsigned.1.min(high));
        Self { unsigned, ..self }.reduced()
    }

    /// The part between two signed numbers.
    pub fn with_signed(self, low: i64, high: i64) -> Option<Self> {
        let signed = (self.signed.0.max(low), self.signed.1.min(high));
        Self { signed, ..self }.reduced()
    }

    /// The numbers in both.
    pub fn meet(self, other: Self) -> Option<Self> {
        self.with_unsigned(other.unsigned.0, other.unsigned.1)?.with_signed(other.signed.0, other.signed.1)
    }

    /// A range with the numbers of both.
    pub fn join(self, other: Self) -> Self {
        Self {
            width: self.width,
            unsigned: (self.unsigned.0.min(other.unsigned.0), self.unsigned.1.max(other.unsigned.1)),
            signed: (self.signed.0.min(other.signed.0), self.signed.1.max(other.signed.1)),
        }
    }

    /// What one kind of bounds says about the other: numbers of one sign are in the same order.
    fn reduced(mut self) -> Option<Self> {
        // Twice: the bounds that follow can make the others follow.
        for _ in 0..2 {
            if self.unsigned.0 > self.unsigned.1 || self.signed.0 > self.signed.1 {
                return None;
            }
            let mask = self.scalar().max();
            let half = mask >> 1;
            if self.signed.0 >= 0 || self.signed.1 < 0 {
                let (low, high) = (self.signed.0 as u64 & mask, self.signed.1 as u64 & mask);
                self.unsigned = (self.unsigned.0.max(low), self.unsigned.1.min(high));
            }
            if self.unsigned.1 <= half || self.unsigned.0 > half {
                let (low, high) = (sign(self.unsigned.0, self.width), sign(self.unsigned.1, self.width));
                self.signed = (self.signed.0.max(low), self.signed.1.min(high));
            }
        }
        (self.unsigned.0 <= self.unsigned.1 && self.signed.0 <= self.signed.1).then_some(self)
    }

    /// The numbers in a type of another width: cut, or with zeros in front.
    pub(crate) fn fitted(self, ty: Scalar) -> Self {
        let wide = (i128::from(self.unsigned.0), i128::from(self.unsigned.1));
        if ty.width() > self.width {
            return Self::of_wide(wide, wide, ty);
        }
        Self::of_wide(wide, (i128::from(self.signed.0), i128::from(self.signed.1)), ty)
    }

    /// The numbers of a type between these bounds, which are unsigned and signed values before they
    /// wrap; where they wrap, nothing is known.
    pub(crate) fn of_wide(unsigned: (i128, i128), signed: (i128, i128), ty: Scalar) -> Self {
        let full = Self::full(ty);
        let mut range = full;
        if unsigned.0 >= 0 && unsigned.1 <= i128::from(full.unsigned.1) {
            range.unsigned = (unsigned.0 as u64, unsigned.1 as u64);
        }
        if signed.0 >= i128::from(full.signed.0) && signed.1 <= i128::from(full.signed.1) {
            range.signed = (signed.0 as i64, signed.1 as i64);
        }
        range.reduced().unwrap_or(full)
    }

    /// A range that grows at most to the next of some bounds, so that growing ends: bounds that
    /// have moved from `self` to `next` go on to the nearest threshold.
    pub(crate) fn widen(self, next: Self, thresholds: &Thresholds) -> Self {
        let full = Self::full(self.scalar());
        let all = self.join(next);
        let below = |value: i64, least: i64| thresholds.signed_below(value).max(least);
        let above = |value: i64, most: i64| thresholds.signed_above(value).min(most);
        Self {
            width: self.width,
            unsigned: (
                if all.unsigned.0 < self.unsigned.0 {
                    thresholds.unsigned_below(all.unsigned.0)
                } else {
                    self.unsigned.0
                },
                if all.unsigned.1 > self.unsigned.1 {
                    thresholds.unsigned_above(all.unsigned.1).min(full.unsigned.1)
                } else {
                    self.unsigned.1
                },
            ),
            signed: (
                if all.signed.0 < self.signed.0 { below(all.signed.0, full.signed.0) } else { self.signed.0 },
                if all.signed.1 > self.signed.1 { above(all.signed.1, full.signed.1) } else { self.signed.1 },
            ),
        }
    }
}

/// Bounds that widening stops at: the constants of a program and their neighbours.
#[derive(Clone, Debug, Default)]
pub(crate) struct Thresholds {
    unsigned: Vec<u64>,
    signed: Vec<i64>,
}

impl Thresholds {
    pub(crate) fn new(constants: impl IntoIterator<Item = (u64, u32)>) -> Self {
        let mut found = Self::default();
        for (value, width) in constants {
            let as_signed = sign(value, width);
            found.unsigned.extend([value.saturating_sub(1), value, value.saturating_add(1)]);
            found.signed.extend([as_signed.saturating_sub(1), as_signed, as_signed.saturating_add(1)]);
        }
        for width in [8, 16, 32, 64] {
            let full = Range::full(Scalar::Bits(width));
            found.unsigned.push(full.unsigned.1);
            found.signed.extend([full.signed.0, full.signed.1]);
            found.signed.extend(i64::try_from(full.unsigned.1));
        }
        found.unsigned.extend([0, 1]);
        found.signed.extend([-1, 0, 1]);
        found.unsigned.sort_unstable();
        found.unsigned.dedup();
        found.signed.sort_unstable();
        found.signed.dedup();
        found
    }

    fn unsigned_above(&self, value: u64) -> u64 {
        self.unsigned.get(self.unsigned.partition_point(|at| *at < value)).copied().unwrap_or(u64::MAX)
    }

    fn unsigned_below(&self, value: u64) -> u64 {
        let at = self.unsigned.partition_point(|at| *at <= value);
        at.checked_sub(1).map_or(0, |at| self.unsigned[at])
    }

    fn signed_above(&self, value: i64) -> i64 {
        self.signed.get(self.signed.partition_point(|at| *at < value)).copied().unwrap_or(i64::MAX)
    }

    fn signed_below(&self, value: i64) -> i64 {
        let at = self.signed.partition_point(|at| *at <= value);
        at.checked_sub(1).map_or(i64::MIN, |at| self.signed[at])
    }
}
