//! Reads the expressions of guards and updates.
//!
//! From loosest to tightest: `||`, `&&`, comparisons (which do not chain), `+ -`, `* / %`, unary `-
//! !`. Numbers and conditions are kept apart.

use std::ops::Range;

use rustc_hash::FxHashMap;
use wherefore_pushdown::ParseError;

use super::effect::{Expression, Node, Operator};

/// Parentheses, calls and signs may be nested this deep.
const MAX_DEPTH: usize = 200;

/// Words that cannot be names of variables.
pub(super) const NAMES_TAKEN: [&str; 4] = ["min", "max", "true", "false"];

/// What an expression gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    Condition,
}

/// Reads an expression of the given kind.
pub(super) fn expression(
    cursor: &mut Cursor<'_>,
    variables: &FxHashMap<String, usize>,
    kind: Kind,
) -> Result<Expression, ParseError> {
    let mut parser = Parser { cursor, variables, nodes: Vec::new() };
    parser.cursor.skip_blanks();
    let start = parser.cursor.position();
    let root = parser.binary(0, 0)?;
    parser.check(root, kind, start)?;
    Ok(Expression::new(parser.nodes))
}

/// A place in one line of a text.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    source: &'a str,
    at: usize,
    end: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(source: &'a str, range: Range<usize>) -> Self {
        Self { source, at: range.start, end: range.end }
    }

    pub fn position(&self) -> usize {
        self.at
    }

    pub fn rest(&self) -> &'a str {
        &self.source[self.at..self.end]
    }

    pub fn advance(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Skips blanks and a comment.
    pub fn skip_blanks(&mut self) {
        let rest = self.rest().trim_start();
        self.at = if rest.starts_with('#') { self.end } else { self.end - rest.len() };
    }

    pub fn at_end(&self) -> bool {
        self.at == self.end
    }

    pub fn skip(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    pub fn expect(&mut self, text: &str) -> Result<(), ParseError> {
        self.expect_one_of(text, &format!("`{text}`"))
    }

    pub fn expect_one_of(&mut self, text: &str, what: &str) -> Result<(), ParseError> {
        self.skip_blanks();
        if self.skip(text) { Ok(()) } else { self.expected(what) }
    }

    pub fn end(&mut self) -> Result<(), ParseError> {
        self.skip_blanks();
        if self.at_end() { Ok(()) } else { self.expected("the end of the line") }
    }

    /// A letter or `_`, and letters, digits and `_`; or digits. Empty if something else is next.
    pub fn word(&mut self) -> (&'a str, Range<usize>) {
        let rest = self.rest();
        let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let start = self.at;
        self.at += length;
        let span = if length == 0 { start..start + 1 } else { start..self.at };
        (&rest[..length], span)
    }

    pub fn integer(&mut self) -> Result<i64, ParseError> {
        self.skip_blanks();
        let start = self.at;
        let sign = self.skip("-");
        let (digits, _) = self.word();
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            self.at = start;
            return self.expected("a number");
        }
        let text = &self.source[if sign { start } else { self.at - digits.len() }..self.at];
        text.parse().or_else(|_| self.error(start..self.at, format!("{text} does not fit in 64 bits")))
    }

    pub fn error<T>(&self, span: Range<usize>, message: impl Into<String>) -> Result<T, ParseError> {
        Err(ParseError::at(self.source, span, message))
    }

    pub fn expected<T>(&mut self, what: &str) -> Result<T, ParseError> {
        self.skip_blanks();
        let start = self.at;
        let (word, span) = self.word();
        self.at = start;
        match self.rest().chars().next() {
            None => self.error(self.end..self.end, format!("expected {what}, found the end of the line")),
            Some(c) if word.is_empty() => {
                self.error(start..start + c.len_utf8(), format!("expected {what}, found `{c}`"))
            }
            Some(_) => self.error(span, format!("expected {what}, found `{word}`")),
        }
    }
}

/// Operators, longer ones before their beginnings, with how tightly they bind.
const OPERATORS: [(&str, Operator, u8); 13] = [
    ("||", Operator::Or, 1),
    ("&&", Operator::And, 2),
    ("==", Operator::Equal, 3),
    ("!=", Operator::NotEqual, 3),
    ("<=", Operator::LessOrEqual, 3),
    (">=", Operator::GreaterOrEqual, 3),
    ("<", Operator::Less, 3),
    (">", Operator::Greater, 3),
    ("+", Operator::Add, 4),
    ("-", Operator::Subtract, 4),
    ("*", Operator::Multiply, 5),
    ("/", Operator::Divide, 5),
    ("%", Operator::Remainder, 5),
];

const COMPARISON: u8 = 3;

/// A part of an expression: its node and its kind.
type Part = (usize, Kind);

struct Parser<'c, 'a> {
    cursor: &'c mut Cursor<'a>,
    variables: &'c FxHashMap<String, usize>,
    nodes: Vec<Node>,
}

impl Parser<'_, '_> {
    fn push(&mut self, node: Node, kind: Kind) -> Part {
        self.nodes.push(node);
        (self.nodes.len() - 1, kind)
    }

    fn check(&self, (node, found): Part, wanted: Kind, start: usize) -> Result<usize, ParseError> {
        if found == wanted {
            return Ok(node);
        }
        let message = match wanted {
            Kind::Number => "expected a number, found a condition",
            Kind::Condition => "expected a condition, found a number",
        };
        self.cursor.error(start..self.cursor.position(), message)
    }

    /// Reads operators that bind more tightly than `outer`.
    fn binary(&mut self, outer: u8, depth: usize) -> Result<Part, ParseError> {
        self.cursor.skip_blanks();
        let start = self.cursor.position();
        let mut left = self.unary(depth)?;
        loop {
            let end = self.cursor.position();
            self.cursor.skip_blanks();
            let rest = self.cursor.rest();
            let found = OPERATORS.iter().find(|(text, ..)| rest.starts_with(text));
            let Some((text, operator, level)) = found.copied().filter(|(_, _, level)| *level > outer) else {
                self.cursor.at = end;
                return Ok(left);
            };
            let operands = if level < COMPARISON { Kind::Condition } else { Kind::Number };
            let left_node = {
                let here = std::mem::replace(&mut self.cursor.at, end);
                let node = self.check(left, operands, start)?;
                self.cursor.at = here;
                node
            };
            self.cursor.advance(text.len());
            self.cursor.skip_blanks();
            let right_start = self.cursor.position();
            let right = self.binary(level, depth)?;
            let right_node = self.check(right, operands, right_start)?;
            let kind = if level <= COMPARISON { Kind::Condition } else { Kind::Number };
            left = self.push(Node::Binary(operator, left_node, right_node), kind);
        }
    }

    fn unary(&mut self, depth: usize) -> Result<Part, ParseError> {
        self.cursor.skip_blanks();
        let start = self.cursor.position();
        if depth > MAX_DEPTH {
            return self
                .cursor
                .error(start..start + 1, format!("the expression is nested more than {MAX_DEPTH} deep"));
        }
        let rest = self.cursor.rest();
        if rest.starts_with('!') || rest.starts_with('-') {
            let (kind, node): (Kind, fn(usize) -> Node) = if rest.starts_with('!') {
                (Kind::Condition, Node::Not)
            } else {
                (Kind::Number, Node::Negate)
            };
            self.cursor.advance(1);
            self.cursor.skip_blanks();
            let inner_start = self.cursor.position();
            let inner = self.unary(depth + 1)?;
            let inner = self.check(inner, kind, inner_start)?;
            return Ok(self.push(node(inner), kind));
        }
        if self.cursor.skip("(") {
            let inner = self.binary(0, depth + 1)?;
            self.cursor.expect_one_of(")", "an operator or `)`")?;
            return Ok(inner);
        }
        if rest.starts_with(|c: char| c.is_ascii_digit()) {
            let value = self.cursor.integer()?;
            return Ok(self.push(Node::Constant(value), Kind::Number));
        }
        if rest.starts_with('?') {
            return self.cursor.error(start..start + 1, "`?` stands alone on the right of `:=`");
        }
        let (name, span) = self.cursor.word();
        match name {
            "true" => Ok(self.push(Node::Constant(1), Kind::Condition)),
            "false" => Ok(self.push(Node::Constant(0), Kind::Condition)),
            "min" => self.extremum(Operator::Minimum, depth),
            "max" => self.extremum(Operator::Maximum, depth),
            "" => self.cursor.expected("a number, a variable or `(`"),
            _ => match self.variables.get(name) {
                Some(x) => Ok(self.push(Node::Variable(*x), Kind::Number)),
                None => self.cursor.error(span, format!("unknown variable `{name}`")),
            },
        }
    }

    /// Reads the arguments of `min` or `max`, two or more.
    fn extremum(&mut self, operator: Operator, depth: usize) -> Result<Part, ParseError> {
        self.cursor.expect("(")?;
        let mut all = None;
        let mut count = 0;
        loop {
            self.cursor.skip_blanks();
            let start = self.cursor.position();
            let next = self.binary(0, depth + 1)?;
            let next = self.check(next, Kind::Number, start)?;
            count += 1;
            all = Some(match all {
                None => next,
                Some(all) => self.push(Node::Binary(operator, all, next), Kind::Number).0,
            });
            self.cursor.skip_blanks();
            match all {
                Some(all) if count > 1 && self.cursor.skip(")") => return Ok((all, Kind::Number)),
                _ => self.cursor.expect_one_of(",", if count > 1 { "`,` or `)`" } else { "`,`" })?,
            }
        }
    }
}
