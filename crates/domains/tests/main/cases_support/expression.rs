//! Integer expressions as the case files write them: Python's operators, and C's for `and`, `or`
//! and `not`.

/// Evaluates `text`, with the values of variables from `variable`; truth is 1 and falsehood 0.
pub fn evaluate(text: &str, variable: &dyn Fn(&str) -> Option<i64>) -> i64 {
    let mut reader = Reader { tokens: tokens(text), at: 0, text, variable };
    let value = reader.binary(0);
    assert_eq!(reader.at, reader.tokens.len(), "`{text}` goes on after an expression");
    value
}

fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let length = if word(first) {
            rest.find(|c| !word(c)).unwrap_or(rest.len())
        } else {
            let two = ["==", "!=", "<=", ">=", "&&", "||", "//"];
            two.iter().find(|t| rest.starts_with(**t)).map_or(first.len_utf8(), |t| t.len())
        };
        tokens.push(rest[..length].to_owned());
        rest = rest[length..].trim_start();
    }
    tokens
}

/// Binary operators, the loosest first.
const LEVELS: [&[&str]; 5] =
    [&["or", "||"], &["and", "&&"], &["==", "!=", "<", "<=", ">", ">="], &["+", "-"], &["*", "//", "/", "%"]];

struct Reader<'a> {
    tokens: Vec<String>,
    at: usize,
    text: &'a str,
    variable: &'a dyn Fn(&str) -> Option<i64>,
}

impl Reader<'_> {
    fn skip(&mut self, tokens: &[&str]) -> Option<String> {
        let token = self.tokens.get(self.at).filter(|t| tokens.contains(&t.as_str()))?.clone();
        self.at += 1;
        Some(token)
    }

    fn binary(&mut self, level: usize) -> i64 {
        if level == 2 && self.skip(&["not", "!"]).is_some() {
            return i64::from(self.binary(2) == 0);
        }
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut value = self.binary(level + 1);
        while let Some(operator) = self.skip(operators) {
            let other = self.binary(level + 1);
            value = match operator.as_str() {
                "or" | "||" => i64::from(value != 0 || other != 0),
                "and" | "&&" => i64::from(value != 0 && other != 0),
                "==" => i64::from(value == other),
                "!=" => i64::from(value != other),
                "<" => i64::from(value < other),
                "<=" => i64::from(value <= other),
                ">" => i64::from(value > other),
                ">=" => i64::from(value >= other),
                "+" => value + other,
                "-" => value - other,
                "*" => value * other,
                "%" => value.rem_euclid(other),
                _ => value.div_euclid(other),
            };
        }
        value
    }

    fn unary(&mut self) -> i64 {
        if self.skip(&["-"]).is_some() {
            return -self.unary();
        }
        if self.skip(&["("]).is_some() {
            let value = self.binary(0);
            assert!(self.skip(&[")"]).is_some(), "`{}` lacks a parenthesis", self.text);
            return value;
        }
        let token = self.tokens.get(self.at).unwrap_or_else(|| panic!("`{}` ends early", self.text)).clone();
        self.at += 1;
        if self.skip(&["("]).is_some() {
            let mut values = vec![self.binary(0)];
            while self.skip(&[","]).is_some() {
                values.push(self.binary(0));
            }
            assert!(self.skip(&[")"]).is_some(), "`{}` lacks a parenthesis", self.text);
            let chosen = match token.as_str() {
                "min" => values.iter().min(),
                "max" => values.iter().max(),
                _ => panic!("`{}` calls {token}", self.text),
            };
            return *chosen.expect("there is an argument");
        }
        match token.as_str() {
            "True" | "true" => 1,
            "False" | "false" => 0,
            name => (self.variable)(name)
                .or_else(|| name.parse().ok())
                .unwrap_or_else(|| panic!("`{}`: what is {name}?", self.text)),
        }
    }
}

#[test]
fn operators_bind_as_in_python() {
    let x = |name: &str| (name == "x").then_some(3);
    for (text, value) in [
        ("1 + 2 * x", 7),
        ("min(x + 1, 255)", 4),
        ("not x == 3 or x < 4 and (x - 5) % 4 == 2", 1),
        ("not x == 3", 0),
        ("-x // 2 - 1", -3),
        ("!(x >= 4) && True", 1),
    ] {
        assert_eq!(evaluate(text, &x), value, "{text}");
    }
}
