//! SHA-256, as other tools write it.

use std::fmt::Write;

use sha2::{Digest, Sha256};

/// The digest of a text, as 64 hexadecimal digits.
pub(crate) fn sha256(text: &str) -> String {
    sha256_of(text.as_bytes())
}

/// The digest of a file, as 64 hexadecimal digits.
pub fn sha256_of(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        write!(out, "{byte:02x}").expect("a string takes any text");
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_empty_text_has_the_known_digest() {
        assert_eq!(super::sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
}
