//! The two formats, and their numbers as text.

/// A format of floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// binary32, `float` in C.
    Single,
    /// binary64, `double` in C.
    Double,
}

impl Format {
    /// The format of so many bits.
    pub fn of_width(width: u32) -> Option<Format> {
        match width {
            32 => Some(Format::Single),
            64 => Some(Format::Double),
            _ => None,
        }
    }

    /// The number of bits.
    pub fn width(self) -> u32 {
        match self {
            Format::Single => 32,
            Format::Double => 64,
        }
    }

    /// The number of bits of the exponent.
    pub fn exponent_bits(self) -> u32 {
        match self {
            Format::Single => 8,
            Format::Double => 11,
        }
    }

    /// The number of bits of the fraction, without the leading one that is not stored.
    pub fn fraction_bits(self) -> u32 {
        match self {
            Format::Single => 23,
            Format::Double => 52,
        }
    }

    /// The other format.
    pub fn other(self) -> Format {
        match self {
            Format::Single => Format::Double,
            Format::Double => Format::Single,
        }
    }

    /// The bit of the sign.
    pub fn sign(self) -> u64 {
        1 << (self.width() - 1)
    }

    /// Positive infinity.
    pub fn infinity(self) -> u64 {
        ((1 << self.exponent_bits()) - 1) << self.fraction_bits()
    }

    /// The bit that makes a NaN quiet.
    pub fn quiet(self) -> u64 {
        1 << (self.fraction_bits() - 1)
    }

    /// The NaN of operations on numbers: quiet, negative, as the instructions of x86 make it.
    pub fn nan(self) -> u64 {
        self.sign() | self.infinity() | self.quiet()
    }

    /// The least number that is normal.
    pub fn least_normal(self) -> u64 {
        1 << self.fraction_bits()
    }

    /// Whether the bits are not a number.
    pub fn is_nan(self, bits: u64) -> bool {
        bits & !self.sign() > self.infinity()
    }

    /// A number as bits; one that the format does not hold is rounded.
    ///
    /// ```
    /// use wherefore_floats::Format;
    ///
    /// assert_eq!(Format::Single.bits_of(1.0), 0x3f80_0000);
    /// assert_eq!(Format::Single.bits_of(-f64::NAN) & Format::Single.sign(), Format::Single.sign());
    /// ```
    pub fn bits_of(self, number: f64) -> u64 {
        match self {
            Format::Single if number.is_nan() => {
                let positive = self.nan() & !self.sign();
                if number.is_sign_negative() { positive | self.sign() } else { positive }
            }
            Format::Single => u64::from((number as f32).to_bits()),
            Format::Double => number.to_bits(),
        }
    }

    /// The number that the bits are.
    pub fn number(self, bits: u64) -> f64 {
        match self {
            Format::Single => f64::from(f32::from_bits(bits as u32)),
            Format::Double => f64::from_bits(bits),
        }
    }

    /// The shortest decimal number that is read back as these bits; `NaN`, `inf`, `-inf` for what
    /// is none.
    ///
    /// ```
    /// use wherefore_floats::Format;
    ///
    /// assert_eq!(Format::Single.show(0x3dcc_cccd), "0.1");
    /// assert_eq!(Format::Double.show(1 << 63), "-0.0");
    /// assert_eq!(Format::Double.show(0x7fe1_ccf3_85eb_c8a0), "1e308");
    /// assert_eq!(Format::Single.show(0xff80_0000), "-inf");
    /// ```
    pub fn show(self, bits: u64) -> String {
        match self {
            Format::Single => format!("{:?}", f32::from_bits(bits as u32)),
            Format::Double => format!("{:?}", f64::from_bits(bits)),
        }
    }

    /// The same as a constant expression of C of the type that has the format; what is no number
    /// needs `<math.h>`.
    ///
    /// ```
    /// use wherefore_floats::Format;
    ///
    /// assert_eq!(Format::Single.c_text(0x3dcc_cccd), "0.1f");
    /// assert_eq!(Format::Double.c_text(0xfff0_0000_0000_0000), "-INFINITY");
    /// ```
    pub fn c_text(self, bits: u64) -> String {
        let sign = if bits & self.sign() != 0 { "-" } else { "" };
        match bits & !self.sign() {
            magnitude if magnitude == self.infinity() => format!("{sign}INFINITY"),
            magnitude if magnitude > self.infinity() => format!("{sign}NAN"),
            _ if self == Format::Single => format!("{}f", self.show(bits)),
            _ => self.show(bits),
        }
    }
}
