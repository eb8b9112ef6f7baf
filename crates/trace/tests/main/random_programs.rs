//! Random Boolean programs with calls, loops and recursion.

use std::fmt::Write;

/// Random numbers (xorshift).
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }
}

/// Writes a program: each statement on a line of its own. Conditions are choices, or read values.
pub fn program(dice: &mut Dice, reads_values: bool) -> String {
    let mut text = "decl g, h;\n".to_owned();
    for name in ["f", "k", "main"] {
        let parameter = if name == "main" { "" } else { "a" };
        let _ = writeln!(text, "void {name}({parameter})\nbegin");
        let mut left = 5 + dice.roll(5);
        statements(dice, &mut text, name, (&mut left, 0), reads_values);
        text.push_str("  skip;\n  return;\nend\n");
    }
    text
}

fn value(dice: &mut Dice, name: &str) -> &'static str {
    let values: &[&str] =
        if name == "main" { &["g", "h", "!g", "T", "F"] } else { &["g", "h", "a", "!a", "T", "F"] };
    values[dice.roll(values.len() as u64) as usize]
}

fn statements(dice: &mut Dice, text: &mut String, name: &str, (left, depth): (&mut u64, usize), reads: bool) {
    for _ in 0..1 + dice.roll(3) {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let condition = if reads && dice.roll(3) > 0 { value(dice, name) } else { "*" };
        match dice.roll(if depth < 2 { 7 } else { 4 }) {
            0 => text.push_str("  skip;\n"),
            1 => {
                let target = ["g", "h"][dice.roll(2) as usize];
                let _ = writeln!(text, "  {target} := {};", value(dice, name));
            }
            2 | 3 => {
                let callee = ["f", "k"][dice.roll(2) as usize];
                let _ = writeln!(text, "  {callee}({});", value(dice, name));
            }
            4 => {
                let _ = writeln!(text, "  while ({condition}) do");
                statements(dice, text, name, (left, depth + 1), reads);
                text.push_str("  skip;\n  od;\n");
            }
            _ => {
                let _ = writeln!(text, "  if ({condition}) then");
                statements(dice, text, name, (left, depth + 1), reads);
                text.push_str("  skip;\n  else\n");
                statements(dice, text, name, (left, depth + 1), reads);
                text.push_str("  skip;\n  fi;\n");
            }
        }
    }
}
