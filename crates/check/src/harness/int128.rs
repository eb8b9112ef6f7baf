//! Declarations of 128-bit integers that are not used.
//!
//! Compilers refuse `__int128` for 32 bits, even in `extern __int128 f(void);` of a header. A
//! program that only declares such things means the same without them, so they get another type of
//! the same size and alignment. It must be one that cannot be computed with, or the compiled
//! program would mean something else: what is declared with it is `unavailable`, which makes every
//! use an error. An attribute is not looked at in a cast, so nothing is done for programs that name
//! the type inside of braces.

/// The type, as a definition for the preprocessor.
pub(crate) const DEFINITION: &str = "__int128=__attribute__((unavailable, vector_size(16))) long long";

/// A header that defines the type, where the compiler has none and knows the attribute.
pub(crate) fn header() -> String {
    let definition = DEFINITION.replacen('=', " ", 1);
    format!(
        "#if !defined __SIZEOF_INT128__ && defined __has_attribute\n#if __has_attribute(unavailable)\n#define {definition}\n#endif\n#endif\n"
    )
}

/// Whether a preprocessed text names the type, and only outside of braces: in declarations.
pub(crate) fn is_only_declared(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let (mut at, mut depth, mut named) = (0, 0_usize, false);
    while at < bytes.len() {
        let rest = &bytes[at..];
        at += match rest[0] {
            b'"' | b'\'' => literal(rest),
            b'/' if rest.starts_with(b"//") => rest.iter().take_while(|byte| **byte != b'\n').count(),
            b'/' if rest.starts_with(b"/*") => text[at + 2..].find("*/").map_or(rest.len(), |end| end + 4),
            b'{' => {
                depth += 1;
                1
            }
            b'}' => {
                depth = depth.saturating_sub(1);
                1
            }
            // Other ways to write a brace.
            b'<' if rest.starts_with(b"<%") => return false,
            b'?' if rest.starts_with(b"??") => return false,
            byte if is_word(&byte) => {
                let length = rest.iter().take_while(|byte| is_word(byte)).count();
                if matches!(&rest[..length], b"__int128" | b"__int128_t" | b"__uint128_t") {
                    if depth > 0 {
                        return false;
                    }
                    named = true;
                }
                length
            }
            _ => 1,
        };
    }
    named
}

/// The length of a string or a character with its quotes.
fn literal(text: &[u8]) -> usize {
    let mut at = 1;
    while at < text.len() && text[at] != text[0] {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_declarations_are_declarations() {
        assert!(is_only_declared("extern unsigned __int128 f(__int128); int main(void) { return '{'; }"));
        assert!(is_only_declared("/* } */ typedef __int128 wide; char *text = \"{\"; // {\n__int128 x;"));
        assert!(!is_only_declared("int main(void) { return 0; }"));
        assert!(!is_only_declared("int main(void) { long a[2]; *(__int128 *)a *= 2; return 0; }"));
        assert!(!is_only_declared("struct s { __int128 wide; };"));
        assert!(!is_only_declared("__int128 x; int main(void) <% __int128 y; return 0; %>"));
    }
}
