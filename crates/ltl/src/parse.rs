//! Formulas as text.
//!
//! From the loosest operators to the tightest: `<->`; `->` (to the right); `||`; `&&`; `U`, `R`,
//! `W` (to the right); `!`, `X`, `F` or `<>`, `G` or `[]`; conditions in the language of the
//! program. The language is not known here: a condition goes on to the next of these operators, or
//! to the end of the parentheses around it. Parentheses belong to a condition if what follows them
//! does not end it, as in `(a + b) == c`.

use std::fmt;
use std::ops::Range;

use wherefore_pushdown::ParseError;

use crate::formula::Formula;

/// Deeper formulas are refused.
const DEEPEST: usize = 200;

/// What a proposition is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proposition {
    /// A condition in the language of the program.
    Condition(String),
    /// The run is at a label, or at the first statement of a procedure.
    At(String),
    /// The run is at a statement of this line.
    Line(u32),
    /// The run has ended.
    End,
}

/// A proposition with its place in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Atom {
    /// What it says.
    pub proposition: Proposition,
    /// The first place where it stands.
    pub range: Range<usize>,
}

impl fmt::Display for Proposition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Proposition::Condition(text) => f.write_str(text),
            Proposition::At(name) => write!(f, "at {name}"),
            Proposition::Line(line) => write!(f, "line {line}"),
            Proposition::End => f.write_str("end"),
        }
    }
}

/// A formula with its propositions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Specification {
    /// The text.
    pub text: String,
    /// The formula.
    pub formula: Formula,
    /// Its propositions, each once.
    pub atoms: Vec<Atom>,
}

impl Specification {
    /// Reads a formula.
    ///
    /// ```
    /// use wherefore_ltl::{Proposition, Specification};
    ///
    /// let read = Specification::parse("G (locked == 1 -> F locked == 0)").unwrap();
    /// assert_eq!(read.atoms[1].proposition, Proposition::Condition("locked == 0".to_owned()));
    /// let error = Specification::parse("G (a U )").unwrap_err();
    /// assert_eq!(error.to_string(), "1:8: a formula is expected here");
    /// ```
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let mut parser = Parser { text, tokens: tokens(text)?, at: 0, depth: 0, atoms: Vec::new() };
        let formula = parser.equivalence()?;
        if let Some(token) = parser.tokens.get(parser.at) {
            return Err(parser.error(token.range.clone(), "this does not belong to the formula"));
        }
        Ok(Self { text: text.to_owned(), formula, atoms: parser.atoms })
    }

    /// A mistake at a proposition.
    pub fn error_at(&self, atom: usize, message: impl Into<String>) -> ParseError {
        ParseError::at(&self.text, self.atoms[atom].range.clone(), message)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Word,
    Number,
    Open,
    Close,
    Iff,
    Implies,
    Or,
    And,
    Not,
    Box,
    Diamond,
    /// Any other sign.
    Sign,
    /// A character or a text in quotes.
    Quoted,
}

#[derive(Clone, Debug)]
struct Token {
    kind: Kind,
    range: Range<usize>,
}

fn tokens(text: &str) -> Result<Vec<Token>, ParseError> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let signs = [
        ("<->", Kind::Iff),
        ("->", Kind::Implies),
        ("||", Kind::Or),
        ("&&", Kind::And),
        ("[]", Kind::Box),
        ("<>", Kind::Diamond),
        ("<=>", Kind::Sign),
        ("==", Kind::Sign),
        ("!=", Kind::Sign),
        ("<=", Kind::Sign),
        (">=", Kind::Sign),
        ("=>", Kind::Sign),
        ("<<", Kind::Sign),
        (">>", Kind::Sign),
        ("(", Kind::Open),
        (")", Kind::Close),
        ("!", Kind::Not),
    ];
    let (mut tokens, mut at) = (Vec::new(), 0);
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let (kind, length) = if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        } else if is_word(c) {
            let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            (if c.is_ascii_digit() { Kind::Number } else { Kind::Word }, length)
        } else if c == '"' || c == '\'' {
            let Some(end) = rest[1..].find(c) else {
                return Err(ParseError::at(text, at..at + 1, "the quotation does not end"));
            };
            (Kind::Quoted, end + 2)
        } else if let Some((sign, kind)) = signs.iter().find(|(sign, _)| rest.starts_with(sign)) {
            (*kind, sign.len())
        } else {
            (Kind::Sign, c.len_utf8())
        };
        tokens.push(Token { kind, range: at..at + length });
        at += length;
    }
    Ok(tokens)
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    atoms: Vec<Atom>,
}

impl Parser<'_> {
    fn error(&self, range: Range<usize>, message: &str) -> ParseError {
        ParseError::at(self.text, range, message)
    }

    fn kind(&self, at: usize) -> Option<Kind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| &self.text[token.range.clone()])
    }

    fn expected(&self) -> ParseError {
        let end = self.text.len();
        let range = self.tokens.get(self.at).map_or(end..end, |token| token.range.clone());
        self.error(range, "a formula is expected here")
    }

    fn eat(&mut self, kind: Kind) -> bool {
        let found = self.kind(self.at) == Some(kind);
        self.at += usize::from(found);
        found
    }

    /// Parses a part, unless parts are nested too deeply.
    fn nested(
        &mut self,
        part: impl FnOnce(&mut Self) -> Result<Formula, ParseError>,
    ) -> Result<Formula, ParseError> {
        if self.depth >= DEEPEST {
            let end = self.text.len();
            let at = self.tokens.get(self.at).map_or(end..end, |token| token.range.clone());
            return Err(self.error(at, &format!("formulas are nested at most {DEEPEST} deep")));
        }
        self.depth += 1;
        let result = part(self);
        self.depth -= 1;
        result
    }

    fn equivalence(&mut self) -> Result<Formula, ParseError> {
        let mut left = self.implication()?;
        let mut count = 0;
        while self.eat(Kind::Iff) {
            let right = self.implication()?;
            count += 1;
            if count > 10 {
                return Err(self.error(0..self.text.len(), "the formula has too many equivalences"));
            }
            left = left.clone().and(right.clone()).or(left.not().and(right.not()));
        }
        Ok(left)
    }

    fn implication(&mut self) -> Result<Formula, ParseError> {
        let left = self.disjunction()?;
        if self.eat(Kind::Implies) {
            let right = self.nested(Self::implication)?;
            return Ok(left.not().or(right));
        }
        Ok(left)
    }

    fn disjunction(&mut self) -> Result<Formula, ParseError> {
        let mut left = self.conjunction()?;
        let mut count = 0;
        while self.eat(Kind::Or) {
            let right = self.conjunction()?;
            left = self.counted(left.or(right), &mut count)?;
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Result<Formula, ParseError> {
        let mut left = self.temporal()?;
        let mut count = 0;
        while self.eat(Kind::And) {
            let right = self.temporal()?;
            left = self.counted(left.and(right), &mut count)?;
        }
        Ok(left)
    }

    fn counted(&self, formula: Formula, count: &mut usize) -> Result<Formula, ParseError> {
        *count += 1;
        if *count > 4 * DEEPEST {
            return Err(self.error(0..self.text.len(), "the formula has too many parts"));
        }
        Ok(formula)
    }

    fn temporal(&mut self) -> Result<Formula, ParseError> {
        let left = self.unary()?;
        let make = match (self.kind(self.at), self.word(self.at)) {
            (Some(Kind::Word), "U") => Formula::until,
            (Some(Kind::Word), "R") => Formula::release,
            (Some(Kind::Word), "W") => Formula::weak_until,
            _ => return Ok(left),
        };
        self.at += 1;
        let right = self.nested(Self::temporal)?;
        Ok(make(left, right))
    }

    /// Whether the word here is an operator with one operand, and not the name of a variable.
    fn is_operator(&self, at: usize) -> bool {
        let is_letter = matches!(self.word(at), "G" | "F" | "X");
        let next = match self.kind(at + 1) {
            None => false,
            Some(Kind::Word | Kind::Number | Kind::Open | Kind::Not | Kind::Box | Kind::Diamond) => true,
            Some(Kind::Quoted) => true,
            Some(Kind::Sign) => matches!(self.word(at + 1), "-" | "~" | "*" | "&"),
            Some(_) => false,
        };
        is_letter && next
    }

    fn unary(&mut self) -> Result<Formula, ParseError> {
        let make = match self.kind(self.at) {
            Some(Kind::Box) => Formula::always,
            Some(Kind::Diamond) => Formula::eventually,
            Some(Kind::Word) if self.is_operator(self.at) => match self.word(self.at) {
                "G" => Formula::always,
                "F" => Formula::eventually,
                _ => Formula::next,
            },
            Some(Kind::Not) if self.negates_formula() => Formula::not,
            Some(Kind::Open) if self.holds_formula(self.at) => {
                let open = self.tokens[self.at].range.clone();
                self.at += 1;
                let inner = self.nested(Self::equivalence)?;
                if !self.eat(Kind::Close) {
                    return Err(match self.tokens.get(self.at) {
                        Some(token) => self.error(token.range.clone(), "`)` or an operator is expected here"),
                        None => self.error(open, "this parenthesis is not closed"),
                    });
                }
                return Ok(inner);
            }
            _ => return self.atom(),
        };
        self.at += 1;
        Ok(make(self.nested(Self::unary)?))
    }

    /// Whether a `!` is about a formula: else it belongs to the condition that it begins.
    fn negates_formula(&self) -> bool {
        let mut at = self.at;
        while self.kind(at) == Some(Kind::Not) {
            at += 1;
        }
        match self.kind(at) {
            Some(Kind::Box | Kind::Diamond) => true,
            Some(Kind::Word) => self.is_operator(at) || matches!(self.word(at), "at" | "line" | "end"),
            Some(Kind::Open) => self.holds_formula(at),
            _ => false,
        }
    }

    /// Whether the parentheses that open here are around a formula: what follows them ends one.
    fn holds_formula(&self, open: usize) -> bool {
        let mut depth = 0;
        for at in open..self.tokens.len() {
            match self.tokens[at].kind {
                Kind::Open => depth += 1,
                Kind::Close => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return self.ends(at + 1);
            }
        }
        true
    }

    /// Whether a condition ends before this token.
    fn ends(&self, at: usize) -> bool {
        match self.kind(at) {
            None | Some(Kind::Close | Kind::Iff | Kind::Implies | Kind::Or | Kind::And) => true,
            Some(Kind::Word) => matches!(self.word(at), "U" | "R" | "W"),
            _ => false,
        }
    }

    fn atom(&mut self) -> Result<Formula, ParseError> {
        let begin = self.at;
        if self.ends(begin) && self.kind(begin) != Some(Kind::Word) {
            return Err(self.expected());
        }
        let word = |at: usize| (self.kind(at) == Some(Kind::Word)).then(|| self.word(at));
        match word(begin) {
            Some("true") if self.ends(begin + 1) => {
                self.at += 1;
                return Ok(Formula::Constant(true));
            }
            Some("false") if self.ends(begin + 1) => {
                self.at += 1;
                return Ok(Formula::Constant(false));
            }
            Some("end") if self.ends(begin + 1) => return Ok(self.found(Proposition::End, begin, begin + 1)),
            Some("at") => {
                if let Some((name, next)) = self.argument(begin) {
                    return Ok(self.found(Proposition::At(name), begin, next));
                }
            }
            Some("line") => {
                if let Some((number, next)) = self.argument(begin) {
                    if let Ok(line) = number.parse() {
                        return Ok(self.found(Proposition::Line(line), begin, next));
                    }
                }
            }
            _ => {}
        }
        let mut depth = 0;
        let mut at = begin;
        while at < self.tokens.len() {
            let is_operand = at > begin
                && matches!(self.tokens[at - 1].kind, Kind::Word | Kind::Number | Kind::Close | Kind::Quoted);
            let is_letter = self.tokens[at].kind == Kind::Word;
            // A `U` where an operand is expected is a variable.
            if depth == 0 && self.ends(at) && (!is_letter || is_operand) {
                break;
            }
            match self.tokens[at].kind {
                Kind::Open => depth += 1,
                Kind::Close => depth -= 1,
                _ => {}
            }
            at += 1;
        }
        if at == begin {
            return Err(self.expected());
        }
        if depth > 0 {
            return Err(self.error(self.tokens[begin].range.clone(), "a parenthesis is not closed here"));
        }
        let range = self.tokens[begin].range.start..self.tokens[at - 1].range.end;
        let text = self.text[range].to_owned();
        Ok(self.found(Proposition::Condition(text), begin, at))
    }

    /// The argument of `at` or `line`, with or without parentheses, if a condition ends behind it.
    fn argument(&self, begin: usize) -> Option<(String, usize)> {
        let is_name = |at: usize| {
            matches!(self.kind(at), Some(Kind::Word | Kind::Number | Kind::Quoted))
                .then(|| self.word(at).trim_matches(['"', '\'']).to_owned())
        };
        let (name, next) = match self.kind(begin + 1)? {
            Kind::Open if self.kind(begin + 3) == Some(Kind::Close) => (is_name(begin + 2)?, begin + 4),
            _ => (is_name(begin + 1)?, begin + 2),
        };
        self.ends(next).then_some((name, next))
    }

    fn found(&mut self, proposition: Proposition, begin: usize, next: usize) -> Formula {
        let range = self.tokens[begin].range.start..self.tokens[next - 1].range.end;
        self.at = next;
        let known = self.atoms.iter().position(|atom| atom.proposition == proposition);
        Formula::Atom(known.unwrap_or_else(|| {
            self.atoms.push(Atom { proposition, range });
            self.atoms.len() - 1
        }))
    }
}
