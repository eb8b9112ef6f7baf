//! From text to the tree: expressions.
//!
//! Binding, tightest first: `!`, then `* / %`, `+ -`, `<< >>`, `&`, `^`, `|`, then `< <= >= >`, `==
//! !=`, then `&&`, `^^`, `||`. A quantifier reaches as far to the right as it can.

use super::ast::{Expr, ExprKind, Kind, Operator, Quantifier, Reference};
use super::parse::{Parsed, Parser};
use crate::scan::{Reported, Token};

/// Deeper nesting than this is refused: whatever walks over programs may recurse.
const MAX_DEPTH: usize = 500;

/// The operators of each level between `&&` and `!`, the loosest level first.
const LEVELS: &[&[(&str, Operator)]] = &[
    &[("==", Operator::Eq), ("!=", Operator::Ne)],
    &[("<", Operator::Lt), ("<=", Operator::Le), (">", Operator::Gt), (">=", Operator::Ge)],
    &[("|", Operator::BitOr)],
    &[("^", Operator::BitXor)],
    &[("&", Operator::BitAnd)],
    &[("<<", Operator::Shl), (">>", Operator::Shr)],
    &[("+", Operator::Add), ("-", Operator::Sub)],
    &[("*", Operator::Mul), ("/", Operator::Div), ("%", Operator::Rem)],
];

/// The first level of integers.
const BITS: usize = 2;

impl Parser<'_, '_, '_> {
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        let mut parts = vec![self.exclusive()?];
        while self.cursor.eat_symbol("||") {
            parts.push(self.exclusive()?);
        }
        Ok(many(ExprKind::Any, parts))
    }

    /// An integer without Boolean operators around it.
    pub(super) fn bits(&mut self) -> Parsed<Expr> {
        self.level(BITS)
    }

    fn exclusive(&mut self) -> Parsed<Expr> {
        let mut left = self.conjunction()?;
        while self.cursor.eat_symbol("^^") {
            let right = self.conjunction()?;
            left = self.pair(Operator::Xor, left, right)?;
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Parsed<Expr> {
        let mut parts = vec![self.level(0)?];
        while self.cursor.eat_symbol("&&") {
            parts.push(self.level(0)?);
        }
        Ok(many(ExprKind::All, parts))
    }

    /// Operators of one level and tighter, left-associative. One function climbs all levels, so
    /// that nesting costs few frames.
    fn level(&mut self, loosest: usize) -> Parsed<Expr> {
        let mut left = self.unary()?;
        while let Some((level, operator)) = self.operator().filter(|(level, _)| *level >= loosest) {
            self.cursor.advance();
            let right = self.level(level + 1)?;
            left = self.pair(operator, left, right)?;
        }
        Ok(left)
    }

    fn operator(&self) -> Option<(usize, Operator)> {
        let Token::Symbol(symbol) = self.cursor.peek() else { return None };
        LEVELS.iter().enumerate().find_map(|(level, operators)| {
            let found = operators.iter().find(|(name, _)| *name == symbol);
            found.map(|(_, operator)| (level, *operator))
        })
    }

    fn pair(&mut self, operator: Operator, left: Expr, right: Expr) -> Parsed<Expr> {
        let depth = left.depth.max(right.depth) + 1;
        if depth > MAX_DEPTH {
            return self.too_deep();
        }
        let at = left.at.start..right.at.end;
        Ok(Expr { kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)), at, depth })
    }

    fn too_deep<T>(&mut self) -> Parsed<T> {
        self.reporter.error(self.cursor.span(), "the expression is nested too deeply");
        Err(Reported)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let start = self.cursor.span().start;
        let mut negations = 0_usize;
        while self.cursor.eat_symbol("!") {
            negations += 1;
        }
        self.depth += 1;
        let inner = if self.depth > MAX_DEPTH { self.too_deep() } else { self.primary() };
        self.depth -= 1;
        let mut inner = inner?;
        // Two negations cancel, but what is negated must be a truth value.
        if negations > 0 {
            for _ in 0..2 - negations % 2 {
                let (at, depth) = (start..inner.at.end, inner.depth + 1);
                inner = Expr { kind: ExprKind::Not(Box::new(inner)), at, depth };
            }
        }
        Ok(inner)
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let at = self.cursor.span();
        let kind = match self.cursor.peek() {
            Token::Symbol("(") => {
                self.cursor.advance();
                let inner = self.expr()?;
                self.symbol(")")?;
                return Ok(Expr { at: at.start..self.cursor.last_end(), ..inner });
            }
            Token::Number(value) => ExprKind::Number(value),
            Token::Name("true") => ExprKind::Bool(true),
            Token::Name("false") => ExprKind::Bool(false),
            Token::Name("undef") => ExprKind::Undef,
            Token::Name(_) if self.is_quantifier() => {
                let quantifier = self.quantifier()?;
                let body = self.expr()?;
                let (at, depth) = (at.start..body.at.end, body.depth + 20);
                return Ok(Expr {
                    kind: ExprKind::Quantified(Box::new(quantifier), Box::new(body)),
                    at,
                    depth,
                });
            }
            Token::Name(_) => {
                let reference = self.reference()?;
                let at = reference.at.clone();
                return Ok(Self::leaf(ExprKind::Reference(Box::new(reference)), at));
            }
            _ => return self.cursor.fail(self.reporter, "an expression"),
        };
        self.cursor.advance();
        Ok(Self::leaf(kind, at))
    }

    pub(super) fn is_quantifier(&self) -> bool {
        let next = (self.cursor.peek(), self.cursor.peek_at(1), self.cursor.peek_at(2));
        matches!(next, (Token::Name("A" | "E"), Token::Name(_), Token::Symbol("(")))
    }

    /// `A i (low, high)` or `E i (low, high)`.
    pub(super) fn quantifier(&mut self) -> Parsed<Quantifier> {
        let kind = if self.cursor.is_word("A") { Kind::All } else { Kind::Some };
        self.cursor.advance();
        let name = self.name("a variable")?;
        self.symbol("(")?;
        let low = self.bits()?;
        self.symbol(",")?;
        let high = self.bits()?;
        self.symbol(")")?;
        Ok(Quantifier { kind, name, low, high })
    }

    pub(super) fn reference(&mut self) -> Parsed<Reference> {
        let name = self.name("an expression")?;
        let start = name.at.start;
        let mut primes = self.primes();
        let indices = self.indices()?;
        let mut field = None;
        if self.cursor.eat_symbol(".") {
            let name = self.name("a field")?;
            primes += self.primes();
            field = Some((name, self.indices()?));
        }
        primes += self.primes();
        Ok(Reference { name, indices, field, primes, at: start..self.cursor.last_end() })
    }

    fn primes(&mut self) -> usize {
        let mut primes = 0;
        loop {
            if self.cursor.eat_symbol("''") {
                primes += 2;
            } else if self.cursor.eat_symbol("'") {
                primes += 1;
            } else {
                return primes;
            }
        }
    }

    fn indices(&mut self) -> Parsed<Vec<Expr>> {
        let mut indices = Vec::new();
        while self.cursor.eat_symbol("[") {
            indices.push(self.expr()?);
            self.symbol("]")?;
        }
        Ok(indices)
    }
}

/// A list of parts, which lowering makes a balanced tree.
fn many(kind: fn(Vec<Expr>) -> ExprKind, mut parts: Vec<Expr>) -> Expr {
    if parts.len() == 1 {
        return parts.pop().expect("there is one part");
    }
    let deepest = parts.iter().map(|part| part.depth).max().unwrap_or(0);
    let depth = deepest + parts.len().next_power_of_two().trailing_zeros() as usize;
    let at = parts[0].at.start..parts[parts.len() - 1].at.end;
    Expr { kind: kind(parts), at, depth }
}
