//! Where the members of structures lie is judged by gcc, for random structures.

use crate::c_support::{RESULTS, compare};

/// Random numbers, always the same ones.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}

const TYPES: [(&str, u64); 8] = [
    ("char", 8),
    ("unsigned char", 8),
    ("short", 16),
    ("unsigned short", 16),
    ("int", 32),
    ("unsigned", 32),
    ("long", 64),
    ("unsigned long long", 64),
];

/// The members of a structure, and the names of those that can be set.
fn members(numbers: &mut Numbers, attributes: &[&str]) -> (String, Vec<String>) {
    let (mut text, mut names) = (String::new(), Vec::new());
    for i in 0..2 + numbers.below(5) {
        let (ty, bits) = numbers.one(&TYPES);
        let attribute = if numbers.below(4) == 0 { numbers.one(attributes) } else { "" };
        match numbers.below(10) {
            0 => text.push_str(&format!("{ty} : 0; ")),
            1 => text.push_str(&format!("{ty} : {}; ", 1 + numbers.below(bits))),
            2..=6 => {
                text.push_str(&format!("{ty} m{i} : {}{attribute}; ", 1 + numbers.below(bits)));
                names.push(format!("m{i}"));
            }
            _ => {
                text.push_str(&format!("{ty} m{i}{attribute}; "));
                names.push(format!("m{i}"));
            }
        }
    }
    text.push_str("char last; ");
    names.push("last".to_owned());
    (text, names)
}

/// Compares the sizes, and the bytes that each member changes, of random structures.
fn layouts(name: &str, seed: u64, before: &[&str], behind: &[&str], attributes: &[&str]) {
    let mut numbers = Numbers(seed);
    for round in 0..6 {
        let mut text = format!("unsigned long long result[{RESULTS}];\n");
        let mut body = String::new();
        for i in 0..RESULTS {
            let (inside, names) = members(&mut numbers, attributes);
            let kind = if numbers.below(6) == 0 { "union" } else { "struct" };
            text.push_str(&format!(
                "{}\n{kind} S{i} {{ {inside}}}{} s{i};\n#pragma pack()\n",
                numbers.one(before),
                numbers.one(behind)
            ));
            body.push_str(&format!(
                "  h = sizeof s{i} * 100 + _Alignof({kind} S{i}); b = (unsigned char *)&s{i};\n"
            ));
            for name in names {
                body.push_str(&format!(
                    "  s{i}.{name} = -1; for (unsigned k = 0; k < sizeof s{i}; k++) h = h * 31 + b[k]; s{i}.{name} = 0;\n"
                ));
            }
            body.push_str(&format!("  result[{i}] = h;\n"));
        }
        text.push_str(&format!(
            "int main(void) {{ unsigned long long h; unsigned char *b;\n{body}  return 0;\n}}\n"
        ));
        compare(&format!("{name}{round}"), &text);
    }
}

const PACKED: &str = " __attribute__((packed))";

#[test]
fn usual_structures_are_laid_out_as_in_gcc() {
    layouts("usual", 1, &[""], &["", " __attribute__((aligned(16)))"], &[""]);
}

#[test]
fn packed_structures_are_laid_out_as_in_gcc() {
    layouts("packed", 2, &[""], &[PACKED, " __attribute__((packed, aligned(4)))"], &[""]);
}

#[test]
fn structures_below_pragma_pack_are_laid_out_as_in_gcc() {
    let packs =
        ["#pragma pack(1)", "#pragma pack(2)", "#pragma pack(4)", "#pragma pack(8)", "#pragma pack(16)"];
    layouts("pragma", 3, &packs, &["", " __attribute__((aligned(4)))"], &[""]);
}

#[test]
fn attributes_of_members_count_as_in_gcc() {
    let attributes = [PACKED, " __attribute__((aligned(2)))", " __attribute__((aligned(8)))"];
    layouts("members", 4, &["", "", "", "#pragma pack(2)"], &["", PACKED], &attributes);
}
