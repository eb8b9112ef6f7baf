//! Source texts that are not UTF-8, without loss.
//!
//! Every byte that is no part of a character becomes one character of the private use area, so that
//! texts can be cut and joined as strings, and their bytes come back in the end.

/// The characters that stand for the bytes from 0x80 on follow this one. Each takes three bytes, as
/// U+FFFD does.
const BASE: u32 = 0xF700;

/// The byte that a character stands for.
pub fn raw_byte(character: char) -> Option<u8> {
    u32::from(character).checked_sub(BASE).filter(|byte| (0x80..=0xFF).contains(byte)).map(|byte| byte as u8)
}

/// A text as a string. Characters that stand for bytes are themselves taken byte by byte.
///
/// ```
/// use wherefore_program::{from_bytes, to_bytes, shown};
///
/// let text = from_bytes(b"a\xFFb\xC3\xA4");
/// assert_eq!(shown(&text), "a\u{FFFD}b\u{e4}");
/// assert_eq!(to_bytes(&text), b"a\xFFb\xC3\xA4");
/// ```
pub fn from_bytes(bytes: &[u8]) -> String {
    let stands_for =
        |byte: &u8| char::from_u32(BASE + u32::from(*byte)).unwrap_or(char::REPLACEMENT_CHARACTER);
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match raw_byte(character) {
                Some(_) => text.extend(character.encode_utf8(&mut [0; 4]).as_bytes().iter().map(stands_for)),
                None => text.push(character),
            }
        }
        text.extend(chunk.invalid().iter().map(stands_for));
    }
    text
}

/// The bytes of a text that [`from_bytes`] made.
pub fn to_bytes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for character in text.chars() {
        match raw_byte(character) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes
}

/// A text of the same length for people to read.
pub fn shown(text: &str) -> String {
    let readable = |c: char| if raw_byte(c).is_some() { char::REPLACEMENT_CHARACTER } else { c };
    text.chars().map(readable).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sequence_of_bytes_comes_back() {
        let all: Vec<u8> = (0..=255).collect();
        let private = "\u{F77F}\u{F780}\u{F7FF}\u{F800}".as_bytes();
        for bytes in [&all[..], private, b"\xE2\x82", b"\xF0\x9F\x98\x80\xF0\x9F"] {
            let text = from_bytes(bytes);
            assert_eq!(to_bytes(&text), bytes);
            assert_eq!(shown(&text).len(), text.len());
        }
    }
}
