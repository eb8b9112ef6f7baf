//! Characters in literals that the parser does not know.

/// The universal character names (`\\u00e4`) of a literal, by place, and escapes that mean the
/// same. Those that cannot be said otherwise are left out: the parser refuses them.
pub(super) fn universal(quoted: &str, wide: bool) -> Vec<(usize, String)> {
    let (bytes, mut at, mut found) = (quoted.as_bytes(), 0, Vec::new());
    while at + 1 < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        let length = match bytes[at + 1] {
            b'u' => 6,
            b'U' => 10,
            _ => {
                at += 2;
                continue;
            }
        };
        let digits = quoted.get(at + 2..at + length);
        let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let character = number.and_then(char::from_u32).filter(|c| !c.is_ascii());
        let next_is_digit = bytes.get(at + length).is_some_and(u8::is_ascii_hexdigit);
        if let (Some(character), Some(digits)) = (character, digits) {
            if wide && !next_is_digit && u32::from(character) < 0x1_0000 {
                found.push((at, format!("\\x{digits}")));
            } else if !wide {
                let mut buffer = [0; 4];
                let units = character.encode_utf8(&mut buffer).bytes();
                let escape: String = units.map(|byte| format!("\\{byte:03o}")).collect();
                if escape.len() >= length {
                    found.push((at, escape));
                }
            }
        }
        at += 2;
    }
    found
}

/// The places of `e` behind a backslash.
pub(super) fn escapes(quoted: &str) -> Vec<usize> {
    let (bytes, mut at, mut found) = (quoted.as_bytes(), 0, Vec::new());
    while at + 1 < bytes.len() {
        if bytes[at] == b'\\' {
            if bytes[at + 1] == b'e' {
                found.push(at + 1);
            }
            at += 1;
        }
        at += 1;
    }
    found
}
