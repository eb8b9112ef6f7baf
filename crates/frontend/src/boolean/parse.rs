//! From text to the tree. After an error, parsing goes on at the next statement, so that several
//! are found.

use super::ast::{At, Expr, ExprKind, File, Name, Part, Procedure, Statement, StatementKind};
use crate::diagnostics::Reporter;
use crate::scan::{Cursor, Lexis, Reported, Token, tokens};

/// Deeper nesting than this is refused: whatever walks over programs may recurse.
const MAX_DEPTH: usize = 500;

/// Deeper statements than this are refused.
const MAX_BLOCKS: usize = 200;

const LEXIS: Lexis = Lexis {
    symbols: &[
        "<=>", ":=", "=>", "->", "&&", "||", "==", "!=", ":", ";", ",", "(", ")", "[", "]", "<", ">", "!",
        "~", "&", "|", "^", "=", "*", "?", "'",
    ],
    braced_names: true,
    hash_comments: false,
};

const RESERVED: &[&str] = &[
    "decl",
    "void",
    "bool",
    "begin",
    "end",
    "enforce",
    "constrain",
    "assume",
    "assert",
    "skip",
    "print",
    "dead",
    "goto",
    "if",
    "then",
    "elsif",
    "else",
    "fi",
    "while",
    "do",
    "od",
    "return",
    "start_thread",
    "end_thread",
    "sync",
    "atomic_begin",
    "atomic_end",
    "schoose",
    "T",
    "F",
    "true",
    "false",
    "_",
];

/// Words that can only start a statement or end a block: after an error, parsing goes on there.
const RESUME: &[&str] = &[
    "decl",
    "void",
    "bool",
    "end",
    "assume",
    "assert",
    "skip",
    "print",
    "dead",
    "goto",
    "if",
    "elsif",
    "else",
    "fi",
    "while",
    "od",
    "return",
    "start_thread",
    "end_thread",
    "sync",
    "atomic_begin",
    "atomic_end",
];

pub(super) fn parse(text: &str, reporter: &mut Reporter<'_>) -> File {
    let cursor = Cursor::new(tokens(text, &LEXIS, reporter));
    let mut parser = Parser { cursor, reporter, depth: 0, blocks: 0, statements: 0, incomplete: false };
    parser.file()
}

struct Parser<'a, 'r, 't> {
    cursor: Cursor<'a>,
    reporter: &'r mut Reporter<'t>,
    depth: usize,
    blocks: usize,
    statements: usize,
    incomplete: bool,
}

type Parsed<T> = Result<T, Reported>;

impl Parser<'_, '_, '_> {
    fn file(&mut self) -> File {
        let (mut globals, mut procedures) = (Vec::new(), Vec::new());
        loop {
            if self.cursor.peek() == Token::End {
                break;
            }
            if self.cursor.is_word("decl") {
                let late = !procedures.is_empty();
                if late {
                    self.reporter
                        .error(self.cursor.span(), "global variables are declared before procedures");
                }
                self.declaration(&mut globals);
                continue;
            }
            let done = if self.cursor.is_word("void") || self.cursor.is_word("bool") {
                self.procedure().map(|procedure| procedures.push(procedure))
            } else {
                self.cursor.fail(self.reporter, "`decl`, `void` or `bool`")
            };
            if done.is_err() {
                self.incomplete = true;
                while !matches!(self.cursor.peek(), Token::End | Token::Name("decl" | "void" | "bool")) {
                    self.cursor.advance();
                }
            }
        }
        File { globals, procedures, incomplete: self.incomplete }
    }

    /// `decl a, b;`, at the word `decl`.
    fn declaration(&mut self, names: &mut Vec<Name>) {
        self.cursor.advance();
        let parsed = self.names(names).and_then(|()| self.cursor.expect_symbol(self.reporter, ";"));
        if parsed.is_err() {
            self.incomplete = true;
            self.resume();
        }
    }

    fn names(&mut self, names: &mut Vec<Name>) -> Parsed<()> {
        loop {
            names.push(self.name("a variable")?);
            if !self.cursor.eat_symbol(",") {
                return Ok(());
            }
        }
    }

    fn name(&mut self, what: &str) -> Parsed<Name> {
        match self.cursor.peek() {
            Token::Name(text) if !RESERVED.contains(&text) => {
                let at = self.cursor.span();
                self.cursor.advance();
                Ok(Name { text: text.to_owned(), at })
            }
            _ => self.cursor.fail(self.reporter, what),
        }
    }

    fn procedure(&mut self) -> Parsed<Procedure> {
        let results = self.result_count()?;
        let name = self.name("the name of a procedure")?;
        self.cursor.expect_symbol(self.reporter, "(")?;
        let mut parameters = Vec::new();
        if !self.cursor.is_symbol(")") {
            self.names(&mut parameters)?;
        }
        self.cursor.expect_symbol(self.reporter, ")")?;
        self.cursor.expect_word(self.reporter, "begin")?;
        let mut locals = Vec::new();
        while self.cursor.is_word("decl") {
            self.declaration(&mut locals);
        }
        let mut enforce = None;
        if self.cursor.eat_word("enforce") {
            match self.expr().and_then(|e| self.cursor.expect_symbol(self.reporter, ";").map(|()| e)) {
                Ok(expr) => enforce = Some(expr),
                Err(Reported) => self.resume(),
            }
        }
        self.statements = 0;
        let mut body = self.statements_until(&["end"])?;
        let end = self.cursor.span();
        self.cursor.expect_word(self.reporter, "end")?;
        let mut end_labels = Vec::new();
        if matches!(body.last(), Some(Statement { kind: StatementKind::Label, .. })) {
            end_labels = body.pop().map(|label| label.labels).unwrap_or_default();
        }
        let statements = self.statements;
        Ok(Procedure { name, results, parameters, locals, enforce, body, end, end_labels, statements })
    }

    fn result_count(&mut self) -> Parsed<usize> {
        if self.cursor.eat_word("void") {
            return Ok(0);
        }
        self.cursor.expect_word(self.reporter, "bool")?;
        if !self.cursor.eat_symbol("<") {
            return Ok(1);
        }
        let Token::Number(count @ 1..=1024) = self.cursor.peek() else {
            return self.cursor.fail(self.reporter, "a number of results between 1 and 1024");
        };
        self.cursor.advance();
        self.cursor.expect_symbol(self.reporter, ">")?;
        Ok(count as usize)
    }

    /// Statements up to one of the words, which is not eaten. Fails only at the end of the file or
    /// of the procedure.
    fn statements_until(&mut self, stops: &[&str]) -> Parsed<Vec<Statement>> {
        self.blocks += 1;
        if self.blocks > MAX_BLOCKS {
            self.reporter.error(self.cursor.span(), "statements are nested too deeply");
            self.blocks -= 1;
            return Err(Reported);
        }
        let mut statements = Vec::new();
        let result = loop {
            if let Token::Name(word) = self.cursor.peek() {
                if stops.contains(&word) {
                    break Ok(statements);
                }
                if matches!(word, "end" | "void" | "bool" | "decl" | "fi" | "od" | "else" | "elsif") {
                    let stops: Vec<String> = stops.iter().map(|stop| format!("`{stop}`")).collect();
                    let expected = format!("a statement or {}", stops.join(" or "));
                    if word == "decl" {
                        self.reporter
                            .error(self.cursor.span(), "variables are declared before the first statement");
                        self.declaration(&mut Vec::new());
                        continue;
                    }
                    let failed = self.cursor.fail(self.reporter, &expected);
                    if self.blocks == 1 && matches!(word, "fi" | "od" | "else" | "elsif") {
                        // Nothing is open that it could close: it is left out.
                        self.cursor.advance();
                        self.cursor.eat_symbol(";");
                        continue;
                    }
                    break failed;
                }
            } else if self.cursor.peek() == Token::End {
                break self.cursor.fail(self.reporter, &format!("`{}`", stops.join("` or `")));
            }
            let before = self.cursor.position();
            match self.statement() {
                Ok(statement) => statements.push(statement),
                Err(Reported) => {
                    self.resume();
                    if self.cursor.position() == before {
                        self.cursor.advance();
                    }
                }
            }
        };
        self.blocks -= 1;
        result
    }

    /// Skips to the next place where a statement may start.
    fn resume(&mut self) {
        loop {
            match self.cursor.peek() {
                Token::End => return,
                Token::Name(word) if RESUME.contains(&word) => return,
                Token::Symbol(";") => {
                    self.cursor.advance();
                    return;
                }
                _ => {
                    self.cursor.advance();
                }
            }
        }
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let mut labels = Vec::new();
        while matches!((self.cursor.peek(), self.cursor.peek_at(1)), (Token::Name(_), Token::Symbol(":"))) {
            labels.push(self.name("a label")?);
            self.cursor.advance();
        }
        let id = self.statements;
        self.statements += 1;
        let start = self.cursor.span().start;
        if let (Token::Name("fi" | "od" | "else" | "elsif" | "end"), Some(label)) =
            (self.cursor.peek(), labels.last())
        {
            let at = label.at.clone();
            return Ok(Statement { id, labels, at, kind: StatementKind::Label });
        }
        let compound = matches!(self.cursor.peek(), Token::Name("if" | "while"));
        let (kind, at) = if compound {
            self.compound(id, start)?
        } else {
            let kind = self.simple()?;
            (kind, start..self.cursor.last_end())
        };
        if !self.cursor.eat_symbol(";") {
            let optional = matches!(self.cursor.peek(), Token::Name("end" | "fi" | "od" | "else" | "elsif"));
            if !compound && !optional {
                // The statement itself is fine: it is kept, and the next one starts here.
                let _ = self.cursor.fail::<()>(self.reporter, "`;`");
                if !matches!(self.cursor.peek(), Token::Name(_)) {
                    self.resume();
                }
            }
        }
        Ok(Statement { id, labels, at, kind })
    }

    fn compound(&mut self, id: usize, start: usize) -> Parsed<(StatementKind, At)> {
        if self.cursor.eat_word("while") {
            let (condition, end) = self.condition("do")?;
            let at = start..end;
            let body = self.statements_until(&["od"])?;
            self.cursor.expect_word(self.reporter, "od")?;
            return Ok((StatementKind::While { condition, body }, at));
        }
        let (mut parts, mut id, mut start) = (Vec::new(), id, start);
        loop {
            self.cursor.advance();
            let (condition, end) = self.condition("then")?;
            let at = start..end;
            let then = self.statements_until(&["elsif", "else", "fi"])?;
            parts.push(Part { id, at, condition, then });
            if !self.cursor.is_word("elsif") {
                break;
            }
            start = self.cursor.span().start;
            id = self.statements;
            self.statements += 1;
        }
        let otherwise =
            if self.cursor.eat_word("else") { self.statements_until(&["fi"])? } else { Vec::new() };
        self.cursor.expect_word(self.reporter, "fi")?;
        let at = parts[0].at.clone();
        Ok((StatementKind::If { parts, otherwise }, at))
    }

    /// A condition and where it ends, with the word behind it. If only the condition is wrong, the
    /// block that follows is read all the same.
    fn condition(&mut self, word: &str) -> Parsed<(Expr, usize)> {
        let parsed = self.expr().and_then(|condition| {
            let end = self.cursor.last_end();
            self.cursor.expect_word(self.reporter, word).map(|()| (condition, end))
        });
        if parsed.is_ok() {
            return parsed;
        }
        loop {
            match self.cursor.peek() {
                Token::Name(next) if next == word => {
                    self.cursor.advance();
                    return Ok((Expr::leaf(ExprKind::Choice), self.cursor.last_end()));
                }
                Token::Name(next) if RESUME.contains(&next) => return Err(Reported),
                Token::End | Token::Symbol(";" | ":=") => return Err(Reported),
                _ => {
                    self.cursor.advance();
                }
            }
        }
    }

    fn simple(&mut self) -> Parsed<StatementKind> {
        let Token::Name(word) = self.cursor.peek() else {
            return self.cursor.fail(self.reporter, "a statement");
        };
        if !RESERVED.contains(&word) || word == "_" {
            return self.assignment_or_call();
        }
        if !RESUME.contains(&word) {
            return self.cursor.fail(self.reporter, "a statement");
        }
        self.cursor.advance();
        Ok(match word {
            "skip" => StatementKind::Skip,
            "sync" => StatementKind::Sync,
            "end_thread" => StatementKind::EndThread,
            "atomic_begin" => StatementKind::AtomicBegin,
            "atomic_end" => StatementKind::AtomicEnd,
            "assume" => StatementKind::Assume(self.in_parentheses()?),
            "assert" => StatementKind::Assert(self.in_parentheses()?),
            "print" => StatementKind::Print(self.arguments()?),
            "dead" => {
                let mut names = Vec::new();
                self.names(&mut names)?;
                StatementKind::Dead(names)
            }
            "goto" => StatementKind::Goto(self.labels()?),
            "return" => {
                let ends = matches!(
                    self.cursor.peek(),
                    Token::Symbol(";") | Token::Name("end" | "fi" | "od" | "else" | "elsif")
                );
                StatementKind::Return(if ends { Vec::new() } else { self.exprs()? })
            }
            "start_thread" if self.cursor.eat_word("goto") => StatementKind::StartAt(self.name("a label")?),
            "start_thread" => {
                let callee = self.name("a procedure or `goto`")?;
                StatementKind::StartCall { callee, arguments: self.arguments()? }
            }
            _ => return self.cursor.fail(self.reporter, "a statement"),
        })
    }

    fn labels(&mut self) -> Parsed<Vec<Name>> {
        let mut labels = vec![self.name("a label")?];
        while self.cursor.eat_symbol(",") {
            labels.push(self.name("a label")?);
        }
        Ok(labels)
    }

    fn assignment_or_call(&mut self) -> Parsed<StatementKind> {
        if self.cursor.peek_at(1) == Token::Symbol("(") {
            let callee = self.name("a procedure")?;
            return Ok(StatementKind::Call { targets: Vec::new(), callee, arguments: self.arguments()? });
        }
        let mut targets = Vec::new();
        let mut dropped = None;
        loop {
            if self.cursor.is_word("_") {
                dropped.get_or_insert(self.cursor.span());
                self.cursor.advance();
                targets.push(None);
            } else {
                targets.push(Some(self.name("a variable")?));
            }
            if !self.cursor.eat_symbol(",") {
                break;
            }
        }
        if !self.cursor.eat_symbol(":=") {
            return self.cursor.fail(self.reporter, "`:=`");
        }
        if let (Token::Name(name), Token::Symbol("(")) = (self.cursor.peek(), self.cursor.peek_at(1)) {
            if !RESERVED.contains(&name) {
                let callee = self.name("a procedure")?;
                return Ok(StatementKind::Call { targets, callee, arguments: self.arguments()? });
            }
        }
        let values = self.exprs()?;
        let constraint = if self.cursor.eat_word("constrain") { Some(self.expr()?) } else { None };
        if let Some(at) = dropped {
            self.reporter.error(at, "`_` drops a result of a call; here is no call");
        }
        let targets = targets.into_iter().flatten().collect();
        Ok(StatementKind::Assign { targets, values, constraint })
    }

    fn in_parentheses(&mut self) -> Parsed<Expr> {
        self.cursor.expect_symbol(self.reporter, "(")?;
        let expr = self.expr()?;
        self.cursor.expect_symbol(self.reporter, ")")?;
        Ok(expr)
    }

    fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        self.cursor.expect_symbol(self.reporter, "(")?;
        let arguments = if self.cursor.is_symbol(")") { Vec::new() } else { self.exprs()? };
        self.cursor.expect_symbol(self.reporter, ")")?;
        Ok(arguments)
    }

    fn exprs(&mut self) -> Parsed<Vec<Expr>> {
        let mut exprs = vec![self.expr()?];
        while self.cursor.eat_symbol(",") {
            exprs.push(self.expr()?);
        }
        Ok(exprs)
    }

    fn expr(&mut self) -> Parsed<Expr> {
        self.implication()
    }

    /// Right-associative: `a => b => c` is `a => (b => c)`.
    fn implication(&mut self) -> Parsed<Expr> {
        let mut parts = vec![self.disjunction()?];
        while self.cursor.eat_symbol("=>") || self.cursor.eat_symbol("->") {
            parts.push(self.disjunction()?);
        }
        let mut result = parts.pop().expect("there is a first part");
        while let Some(left) = parts.pop() {
            result = self.pair(ExprKind::Implies, left, result)?;
        }
        Ok(result)
    }

    fn disjunction(&mut self) -> Parsed<Expr> {
        let first = self.conjunction()?;
        let mut parts = vec![first];
        while self.cursor.eat_symbol("|") || self.cursor.eat_symbol("||") {
            parts.push(self.conjunction()?);
        }
        Ok(many(ExprKind::Any, parts))
    }

    fn conjunction(&mut self) -> Parsed<Expr> {
        let first = self.comparison()?;
        let mut parts = vec![first];
        while self.cursor.eat_symbol("&") || self.cursor.eat_symbol("&&") {
            parts.push(self.comparison()?);
        }
        Ok(many(ExprKind::All, parts))
    }

    /// All of one level, left-associative.
    fn comparison(&mut self) -> Parsed<Expr> {
        let mut left = self.unary()?;
        while let Token::Symbol(symbol @ ("=" | "==" | "!=" | "^" | "<=>")) = self.cursor.peek() {
            self.cursor.advance();
            let right = self.unary()?;
            let equal = matches!(symbol, "=" | "==" | "<=>");
            left = self.pair(if equal { ExprKind::Equal } else { ExprKind::Differ }, left, right)?;
        }
        Ok(left)
    }

    fn pair(&mut self, kind: fn(Box<Expr>, Box<Expr>) -> ExprKind, left: Expr, right: Expr) -> Parsed<Expr> {
        let depth = left.depth.max(right.depth) + 1;
        if depth > MAX_DEPTH {
            return self.too_deep();
        }
        Ok(Expr { kind: kind(Box::new(left), Box::new(right)), depth })
    }

    fn too_deep<T>(&mut self) -> Parsed<T> {
        self.reporter.error(self.cursor.span(), "the expression is nested too deeply");
        Err(Reported)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let mut negations = 0_usize;
        while self.cursor.eat_symbol("!") || self.cursor.eat_symbol("~") {
            negations += 1;
        }
        self.depth += 1;
        let inner = if self.depth > MAX_DEPTH { self.too_deep() } else { self.primary() };
        self.depth -= 1;
        let inner = inner?;
        if negations % 2 == 0 {
            return Ok(inner);
        }
        let depth = inner.depth + 1;
        Ok(Expr { kind: ExprKind::Not(Box::new(inner)), depth })
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let kind = match self.cursor.peek() {
            Token::Symbol("(") => {
                self.cursor.advance();
                let inner = self.expr()?;
                self.cursor.expect_symbol(self.reporter, ")")?;
                return Ok(inner);
            }
            Token::Symbol("*" | "?") => ExprKind::Choice,
            Token::Number(value @ (0 | 1)) => ExprKind::Constant(value == 1),
            Token::Name("T" | "true") => ExprKind::Constant(true),
            Token::Name("F" | "false") => ExprKind::Constant(false),
            Token::Symbol("'") => {
                self.cursor.advance();
                return Ok(Expr::leaf(ExprKind::Next(self.name("a variable")?)));
            }
            Token::Name("schoose") => {
                self.cursor.advance();
                self.cursor.expect_symbol(self.reporter, "[")?;
                let positive = self.expr()?;
                self.cursor.expect_symbol(self.reporter, ",")?;
                let negative = self.expr()?;
                self.cursor.expect_symbol(self.reporter, "]")?;
                return self.pair(ExprKind::Choose, positive, negative);
            }
            Token::Name(name) if !RESERVED.contains(&name) => {
                return Ok(Expr::leaf(ExprKind::Variable(self.name("a variable")?)));
            }
            _ => return self.cursor.fail(self.reporter, "an expression"),
        };
        self.cursor.advance();
        Ok(Expr::leaf(kind))
    }
}

/// A list of parts, which lowering makes a balanced tree.
fn many(kind: fn(Vec<Expr>) -> ExprKind, mut parts: Vec<Expr>) -> Expr {
    if parts.len() == 1 {
        return parts.pop().expect("there is one part");
    }
    let deepest = parts.iter().map(|part| part.depth).max().unwrap_or(0);
    let depth = deepest + parts.len().next_power_of_two().trailing_zeros() as usize;
    Expr { kind: kind(parts), depth }
}
