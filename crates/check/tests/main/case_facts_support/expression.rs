//! Conditions on integers as the case files write them, with Python's operators.

/// The value of `text`; truth is 1 and falsehood 0.
pub fn evaluate(text: &str, variable: &dyn Fn(&str) -> Option<i64>) -> i64 {
    let spaced = text.replace('(', " ( ").replace(')', " ) ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = &tokens[..];
    let value = binary(&mut rest, 0, variable);
    assert!(rest.is_empty(), "`{text}` goes on after an expression");
    value
}

/// Binary operators, the loosest first.
const LEVELS: [&[&str]; 5] =
    [&["or"], &["and"], &["==", "!=", "<", "<=", ">", ">="], &["+", "-"], &["*", "%"]];

fn binary(rest: &mut &[&str], level: usize, variable: &dyn Fn(&str) -> Option<i64>) -> i64 {
    let Some(operators) = LEVELS.get(level) else { return operand(rest, variable) };
    let mut a = binary(rest, level + 1, variable);
    while let Some((operator, after)) = rest.split_first().filter(|(first, _)| operators.contains(first)) {
        *rest = after;
        let b = binary(rest, level + 1, variable);
        a = match *operator {
            "or" => i64::from(a != 0 || b != 0),
            "and" => i64::from(a != 0 && b != 0),
            "==" => i64::from(a == b),
            "!=" => i64::from(a != b),
            "<" => i64::from(a < b),
            "<=" => i64::from(a <= b),
            ">" => i64::from(a > b),
            ">=" => i64::from(a >= b),
            "+" => a + b,
            "-" => a - b,
            "*" => a * b,
            _ => a.rem_euclid(b),
        };
    }
    a
}

fn operand(rest: &mut &[&str], variable: &dyn Fn(&str) -> Option<i64>) -> i64 {
    let (first, after) = rest.split_first().expect("an operand");
    *rest = after;
    if *first == "(" {
        let value = binary(rest, 0, variable);
        let (close, after) = rest.split_first().expect("a closing parenthesis");
        assert_eq!(*close, ")");
        *rest = after;
        return value;
    }
    variable(first).or_else(|| first.parse().ok()).unwrap_or_else(|| panic!("what is {first}?"))
}

#[test]
fn operators_bind_as_in_python() {
    let x = |name: &str| (name == "x").then_some(3);
    for (text, value) in
        [("1 + 2 * x", 7), ("(x - 4) % 4 == 3", 1), ("x < 3 or x == 3 and x != 4", 1), ("x - 1 - 1 >= 2", 0)]
    {
        assert_eq!(evaluate(text, &x), value, "{text}");
    }
}
