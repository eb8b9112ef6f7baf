//! Directives and flags that change what a text means.

/// What is left of the directives of a preprocessed text.
#[derive(Debug, Default)]
pub(crate) struct Pragmas {
    /// The greatest alignment of members from each place on, as `#pragma pack` says; none for the
    /// usual one.
    packs: Vec<(usize, Option<u64>)>,
    /// The first directive that is not understood: where it is, and its words.
    pub(crate) refused: Option<(usize, String)>,
    /// Whether `struct s;` and `T;` in a structure are members without a name (`-fms-extensions`).
    /// Else they declare no member.
    pub(crate) embeds: bool,
}

/// The flags that make members of structures that have a name of their own.
const EMBEDDING: [&str; 2] = ["-fms-extensions", "-fplan9-extensions"];

impl Pragmas {
    /// Reads the directives of a text.
    pub(crate) fn new(text: &str) -> Pragmas {
        let mut pragmas = Pragmas::default();
        let mut stack = Vec::new();
        let mut current = None;
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let rest =
                line.trim_start().strip_prefix('#').and_then(|rest| rest.trim_start().strip_prefix("pragma"));
            if let Some(rest) = rest.filter(|rest| rest.starts_with([' ', '\t'])) {
                let words = rest.trim();
                let understood = match words.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next() {
                    Some("pack") => pack(words, &mut current, &mut stack),
                    Some("scalar_storage_order" | "weak" | "redefine_extname") => false,
                    _ => true,
                };
                if understood {
                    pragmas.packs.push((start, current));
                } else {
                    let lead = line.len() - line.trim_start().len();
                    pragmas.refused.get_or_insert((start + lead, format!("#pragma {words}")));
                }
            }
            start += line.len();
        }
        pragmas
    }

    /// Takes note of the flags that the text is compiled with.
    pub(crate) fn with_flags<'f>(mut self, mut flags: impl Iterator<Item = &'f String>) -> Pragmas {
        self.embeds = flags.any(|flag| EMBEDDING.contains(&flag.as_str()));
        self
    }

    /// The greatest alignment of members of a structure that ends at a place.
    pub(crate) fn pack(&self, at: usize) -> Option<u64> {
        let before = self.packs.partition_point(|(start, _)| *start <= at);
        before.checked_sub(1).and_then(|last| self.packs[last].1)
    }
}

/// Reads `pack(…)`; whether it is understood.
fn pack(words: &str, current: &mut Option<u64>, stack: &mut Vec<(Option<String>, Option<u64>)>) -> bool {
    let inside = words.strip_prefix("pack").map(str::trim);
    let inside = inside.and_then(|rest| rest.strip_prefix('(')?.strip_suffix(')'));
    let Some(inside) = inside else { return false };
    let parts: Vec<&str> = inside.split(',').map(str::trim).collect();
    let number = |text: &str| match text.parse::<u64>() {
        Ok(0) => Some(None),
        Ok(number) if number <= 16 && number.is_power_of_two() => Some(Some(number)),
        _ => None,
    };
    let is_name = |text: &str| text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let mut pushed = None;
    let (pushes, rest) = match parts.as_slice() {
        ["push", name, rest @ ..] if is_name(name) => {
            pushed = Some((*name).to_owned());
            (true, rest)
        }
        ["push", rest @ ..] => (true, rest),
        // Without a matching push, nothing changes.
        ["pop"] => {
            *current = stack.pop().map_or(*current, |(_, value)| value);
            return true;
        }
        ["pop", name] if is_name(name) => {
            let at = stack.iter().rposition(|(known, _)| known.as_deref() == Some(*name));
            if let Some(at) = at {
                *current = stack[at].1;
                stack.truncate(at);
            }
            return true;
        }
        [""] => (false, &[] as &[&str]),
        rest => (false, rest),
    };
    let value = match rest {
        [] if pushes => *current,
        [] => None,
        [one] => match number(one) {
            Some(value) => value,
            None => return false,
        },
        _ => return false,
    };
    if pushes {
        stack.push((pushed, *current));
    }
    *current = value;
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packs_have_names() {
        let text = "#pragma pack(2)\n#pragma pack(pop)\na\n#pragma pack(push, one, 1)\nb\n\
            #pragma pack(push)\n#pragma pack(4)\nc\n#pragma pack(pop, two)\nd\n#pragma pack(pop, one)\ne\n";
        let pragmas = Pragmas::new(text);
        assert!(pragmas.refused.is_none());
        let at = |word: &str| pragmas.pack(text.find(word).unwrap_or(0));
        let found = ["\na\n", "\nb\n", "\nc\n", "\nd\n", "\ne\n"].map(at);
        assert_eq!(found, [Some(2), Some(1), Some(4), Some(4), Some(2)]);
    }

    #[test]
    fn packs_are_pushed_and_popped() {
        let text = "a\n#pragma pack(push, 1)\nb\n#pragma pack(2)\nc\n# pragma pack(pop)\nd\n";
        let pragmas = Pragmas::new(text);
        let at = |word: &str| pragmas.pack(text.find(word).unwrap_or(0));
        assert_eq!((at("a\n"), at("b\n"), at("c\n"), at("d\n")), (None, Some(1), Some(2), None));
        assert!(pragmas.refused.is_none());
        assert!(Pragmas::new("#pragma pack(pop, 3)\n").refused.is_some());
        assert!(Pragmas::new(" #pragma scalar_storage_order big-endian\n").refused.is_some());
        assert!(Pragmas::new("#pragma GCC diagnostic push\n").refused.is_none());
    }
}
