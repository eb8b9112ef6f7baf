//! From text to the tree: declarations, modules and statements. After an error, parsing goes on at
//! the next statement.

use super::ast::{
    Alternative, Assign, At, Body, Bounds, Declaration, Declarator, Expr, ExprKind, File, Module, Name,
    Quantifier, Rule, Sign, Statement, StatementKind, TypeSpec,
};
use crate::diagnostics::Reporter;
use crate::scan::{Cursor, Lexis, Reported, Token, tokens};

/// Deeper statements than this are refused.
const MAX_BLOCKS: usize = 200;

const LEXIS: Lexis = Lexis {
    symbols: &[
        "-->", "->", "::", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||", "^^", "''", ":", ";", ",", "(",
        ")", "[", "]", "{", "}", "<", ">", "=", "!", "&", "|", "^", "+", "-", "*", "/", "%", ".", "'",
    ],
    braced_names: false,
    hash_comments: true,
};

const RESERVED: &[&str] = &[
    "define", "bool", "int", "enum", "struct", "shared", "module", "void", "init", "if", "fi", "do", "od",
    "else", "break", "goto", "return", "skip", "fork", "undef", "true", "false",
];

pub(super) fn parse(text: &str, reporter: &mut Reporter<'_>) -> File {
    let cursor = Cursor::new(tokens(text, &LEXIS, reporter));
    let mut parser = Parser {
        cursor,
        reporter,
        depth: 0,
        blocks: 0,
        count: 0,
        rules: Vec::new(),
        state: None,
        incomplete: false,
    };
    parser.file()
}

pub(super) struct Parser<'a, 'r, 't> {
    pub(super) cursor: Cursor<'a>,
    pub(super) reporter: &'r mut Reporter<'t>,
    pub(super) depth: usize,
    blocks: usize,
    count: usize,
    rules: Vec<Rule>,
    /// The control state of raw rules: there is only one.
    state: Option<String>,
    incomplete: bool,
}

pub(super) type Parsed<T> = Result<T, Reported>;

impl Parser<'_, '_, '_> {
    fn file(&mut self) -> File {
        let mut file = File::default();
        let mut loose_count = 0;
        loop {
            let before = self.cursor.position();
            let Token::Name(word) = self.cursor.peek() else {
                if self.cursor.peek() == Token::End {
                    break;
                }
                let _ = self.cursor.fail::<()>(self.reporter, "a declaration, a module or a statement");
                self.resume_top(before);
                continue;
            };
            let parsed = match word {
                "define" => self.define().map(|define| file.defines.push(define)),
                "shared" | "bool" | "int" | "enum" | "struct" => {
                    self.declaration().map(|declaration| file.globals.push(declaration))
                }
                "init" => {
                    if !file.init.is_empty() {
                        self.reporter.error(self.cursor.span(), "there is another `init`");
                    }
                    self.init().map(|init| file.init = init)
                }
                "module" => self.module().map(|module| file.modules.push(module)),
                _ => {
                    self.count = loose_count;
                    let statement = self.statement_or_rule();
                    loose_count = self.count;
                    file.loose.rules.append(&mut self.rules);
                    statement.map(|statement| file.loose.statements.extend(statement))
                }
            };
            if parsed.is_err() {
                if matches!(word, "define" | "shared" | "bool" | "int" | "enum" | "struct" | "module") {
                    self.incomplete = true;
                }
                self.resume_top(before);
            }
        }
        file.loose.count = loose_count;
        file.loose.end = self.cursor.span();
        file.incomplete = self.incomplete;
        file
    }

    /// Skips to the next place where an item may start.
    fn resume_top(&mut self, before: usize) {
        if self.cursor.position() == before {
            self.cursor.advance();
        }
        loop {
            match self.cursor.peek() {
                Token::End => return,
                Token::Name("define" | "shared" | "bool" | "int" | "enum" | "struct" | "module" | "init") => {
                    return;
                }
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

    pub(super) fn name(&mut self, what: &str) -> Parsed<Name> {
        match self.cursor.peek() {
            Token::Name(text) if !RESERVED.contains(&text) => {
                let at = self.cursor.span();
                self.cursor.advance();
                Ok(Name { text: text.to_owned(), at })
            }
            _ => self.cursor.fail(self.reporter, what),
        }
    }

    pub(super) fn symbol(&mut self, symbol: &str) -> Parsed<()> {
        self.cursor.expect_symbol(self.reporter, symbol)
    }

    fn define(&mut self) -> Parsed<(Name, Expr)> {
        self.cursor.advance();
        let name = self.name("the name of a constant")?;
        let value = self.integer()?;
        self.cursor.eat_symbol(";");
        Ok((name, value))
    }

    fn init(&mut self) -> Parsed<Vec<Name>> {
        self.cursor.advance();
        let mut names = vec![self.name("a module or a label")?];
        while !self.cursor.is_symbol(";") {
            names.push(self.name("a module, a label or `;`")?);
        }
        self.symbol(";")?;
        Ok(names)
    }

    fn type_spec(&mut self) -> Parsed<TypeSpec> {
        if self.cursor.eat_word("bool") {
            return Ok(TypeSpec::Bool);
        }
        if self.cursor.eat_word("int") {
            let width = if self.cursor.is_symbol("(") { Some(self.width()?) } else { None };
            return Ok(TypeSpec::Int(width));
        }
        if self.cursor.eat_word("enum") {
            let name = self.name("the name of an enumeration")?;
            let mut values = None;
            if self.cursor.eat_symbol("{") {
                let mut names = vec![self.name("the name of a value")?];
                while self.cursor.eat_symbol(",") {
                    names.push(self.name("the name of a value")?);
                }
                self.symbol("}")?;
                values = Some(names);
            }
            return Ok(TypeSpec::Enum(name, values));
        }
        if self.cursor.eat_word("struct") {
            let name = self.name("the name of a structure")?;
            let mut fields = None;
            if self.cursor.eat_symbol("{") {
                let mut list = Vec::new();
                while !self.cursor.eat_symbol("}") {
                    list.push(self.declaration()?);
                }
                fields = Some(list);
            }
            return Ok(TypeSpec::Struct(name, fields));
        }
        self.cursor.fail(self.reporter, "a type")
    }

    fn width(&mut self) -> Parsed<Expr> {
        self.symbol("(")?;
        let width = self.integer()?;
        self.symbol(")")?;
        Ok(width)
    }

    fn declaration(&mut self) -> Parsed<Declaration> {
        self.blocks += 1;
        let parsed = if self.blocks > MAX_BLOCKS {
            self.reporter.error(self.cursor.span(), "declarations are nested too deeply");
            Err(Reported)
        } else {
            self.declaration_here()
        };
        self.blocks -= 1;
        parsed
    }

    fn declaration_here(&mut self) -> Parsed<Declaration> {
        let shared = self.cursor.eat_word("shared");
        let ty = self.type_spec()?;
        let mut declarators = Vec::new();
        let complete = matches!(&ty, TypeSpec::Enum(_, Some(_)) | TypeSpec::Struct(_, Some(_)));
        if !(complete && self.cursor.is_symbol(";")) {
            declarators.push(self.declarator()?);
            while self.cursor.eat_symbol(",") {
                declarators.push(self.declarator()?);
            }
        }
        self.symbol(";")?;
        Ok(Declaration { ty, shared, declarators })
    }

    fn declarator(&mut self) -> Parsed<Declarator> {
        let name = self.name("a variable")?;
        let mut dimensions = Vec::new();
        while self.cursor.is_symbol("[") {
            let start = self.cursor.span().start;
            self.cursor.advance();
            let first = self.integer()?;
            let second = if self.cursor.eat_symbol(",") { Some(self.integer()?) } else { None };
            self.symbol("]")?;
            dimensions.push(Bounds { first, second, at: start..self.cursor.last_end() });
        }
        let width = if self.cursor.is_symbol("(") { Some(self.width()?) } else { None };
        Ok(Declarator { name, dimensions, width })
    }

    fn module(&mut self) -> Parsed<Module> {
        self.cursor.advance();
        let result = if self.cursor.eat_word("void") { None } else { Some(self.type_spec()?) };
        let name = self.name("the name of a module")?;
        self.symbol("(")?;
        let mut parameters = Vec::new();
        if !self.cursor.is_symbol(")") {
            loop {
                let ty = self.type_spec()?;
                let declarators = vec![self.declarator()?];
                parameters.push(Declaration { ty, shared: false, declarators });
                if !self.cursor.eat_symbol(",") {
                    break;
                }
            }
        }
        self.symbol(")")?;
        let body = if self.cursor.eat_symbol(";") { None } else { Some(self.body()?) };
        Ok(Module { name, result, parameters, body })
    }

    fn body(&mut self) -> Parsed<Body> {
        self.symbol("{")?;
        let mut declarations = Vec::new();
        while let Token::Name("bool" | "int" | "enum" | "struct" | "shared") = self.cursor.peek() {
            match self.declaration() {
                Ok(declaration) => declarations.push(declaration),
                Err(Reported) => {
                    self.incomplete = true;
                    self.resume();
                }
            }
        }
        self.count = 0;
        self.rules = Vec::new();
        let mut statements = self.statements()?;
        while matches!(self.cursor.peek(), Token::Name("fi" | "od") | Token::Symbol("::")) {
            // Nothing is open that it could close: it is left out.
            let _ = self.cursor.fail::<()>(self.reporter, "a statement or `}`");
            self.cursor.advance();
            self.cursor.eat_symbol(";");
            statements.extend(self.statements()?);
        }
        let end = self.cursor.span();
        self.symbol("}")?;
        let mut end_labels = Vec::new();
        if matches!(statements.last(), Some(Statement { kind: StatementKind::Label, .. })) {
            end_labels = statements.pop().map(|label| label.labels).unwrap_or_default();
        }
        let rules = std::mem::take(&mut self.rules);
        Ok(Body { declarations, statements, rules, end, end_labels, count: self.count })
    }

    /// Statements up to `}`, `fi`, `od` or `::`. Fails only where no block can go on.
    fn statements(&mut self) -> Parsed<Vec<Statement>> {
        self.blocks += 1;
        if self.blocks > MAX_BLOCKS {
            self.reporter.error(self.cursor.span(), "statements are nested too deeply");
            self.blocks -= 1;
            return Err(Reported);
        }
        let mut statements = Vec::new();
        let result = loop {
            match self.cursor.peek() {
                Token::Symbol("}" | "::") | Token::Name("fi" | "od") => break Ok(statements),
                Token::End | Token::Name("module" | "define" | "init") => {
                    break self.cursor.fail(self.reporter, "a statement or the end of a block");
                }
                Token::Name("bool" | "int" | "enum" | "struct" | "shared") => {
                    self.reporter
                        .error(self.cursor.span(), "variables are declared before the first statement");
                    self.incomplete = true;
                    if self.declaration().is_err() {
                        self.resume();
                    }
                    continue;
                }
                _ => {}
            }
            let before = self.cursor.position();
            match self.statement_or_rule() {
                Ok(statement) => statements.extend(statement),
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
                Token::End | Token::Symbol("}" | "::") => return,
                Token::Name(
                    "if" | "fi" | "do" | "od" | "break" | "goto" | "return" | "skip" | "fork" | "module",
                ) => {
                    return;
                }
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

    fn statement_or_rule(&mut self) -> Parsed<Option<Statement>> {
        let mut labels = Vec::new();
        while matches!((self.cursor.peek(), self.cursor.peek_at(1)), (Token::Name(_), Token::Symbol(":"))) {
            labels.push(self.name("a label")?);
            self.cursor.advance();
        }
        let start = self.cursor.span().start;
        let ends =
            matches!(self.cursor.peek(), Token::Symbol("}" | "::") | Token::Name("fi" | "od") | Token::End);
        if let (true, Some(label)) = (ends, labels.last()) {
            let at = label.at.clone();
            return Ok(Some(self.numbered(labels, at, StatementKind::Label)));
        }
        if let (Token::Name(_), Token::Symbol("<")) = (self.cursor.peek(), self.cursor.peek_at(1)) {
            let rule = self.rule(start)?;
            self.rules.push(rule);
            self.cursor.eat_symbol(";");
            let Some(label) = labels.last() else { return Ok(None) };
            let at = label.at.clone();
            return Ok(Some(self.numbered(labels, at, StatementKind::Rules)));
        }
        let id = self.count;
        self.count += 1;
        let compound = matches!(self.cursor.peek(), Token::Name("if" | "do"));
        let (kind, at) = if compound {
            let at = self.cursor.span();
            (self.compound()?, at)
        } else {
            let kind = self.simple()?;
            (kind, start..self.cursor.last_end())
        };
        if !self.cursor.eat_symbol(";") {
            let optional = matches!(self.cursor.peek(), Token::Symbol("}" | "::") | Token::Name("fi" | "od"));
            if !compound && !optional {
                let _ = self.cursor.fail::<()>(self.reporter, "`;`");
                if !matches!(self.cursor.peek(), Token::Name(_)) {
                    self.resume();
                }
            }
        }
        Ok(Some(Statement { id, labels, at, kind }))
    }

    fn numbered(&mut self, labels: Vec<Name>, at: At, kind: StatementKind) -> Statement {
        self.count += 1;
        Statement { id: self.count - 1, labels, at, kind }
    }

    fn compound(&mut self) -> Parsed<StatementKind> {
        let is_if = self.cursor.is_word("if");
        self.cursor.advance();
        let mut alternatives = Vec::new();
        while self.cursor.is_symbol("::") {
            self.cursor.advance();
            let start = self.cursor.span().start;
            let (guard, end) = self.guard()?;
            let at = start..end;
            let body = self.statements()?;
            alternatives.push(Alternative { guard, at, body });
        }
        if alternatives.is_empty() {
            return self.cursor.fail(self.reporter, "`::`");
        }
        self.cursor.expect_word(self.reporter, if is_if { "fi" } else { "od" })?;
        Ok(if is_if { StatementKind::If(alternatives) } else { StatementKind::Do(alternatives) })
    }

    /// A guard, none for `else`, and where it ends, with the arrow behind it. If only the guard is
    /// wrong, what it guards is read all the same.
    fn guard(&mut self) -> Parsed<(Option<Expr>, usize)> {
        let guard = if self.cursor.eat_word("else") { Ok(None) } else { self.expr().map(Some) };
        let parsed = guard.and_then(|guard| {
            let end = self.cursor.last_end();
            self.symbol("->").map(|()| (guard, end))
        });
        if parsed.is_ok() {
            return parsed;
        }
        loop {
            match self.cursor.peek() {
                Token::Symbol("->") => {
                    self.cursor.advance();
                    let at = self.cursor.last_end();
                    return Ok((Some(Self::leaf(ExprKind::Bool(true), at..at)), at));
                }
                Token::End | Token::Symbol(";" | "::" | "}" | "=") => return Err(Reported),
                Token::Name("if" | "fi" | "do" | "od" | "goto" | "return" | "skip" | "break" | "module") => {
                    return Err(Reported);
                }
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
        match word {
            "skip" => {
                self.cursor.advance();
                if !self.cursor.is_symbol("(") {
                    return Ok(StatementKind::Skip(None));
                }
                self.cursor.advance();
                let condition = self.expr()?;
                self.symbol(")")?;
                Ok(StatementKind::Skip(Some(condition)))
            }
            "break" => {
                self.cursor.advance();
                Ok(StatementKind::Break)
            }
            "goto" => {
                self.cursor.advance();
                Ok(StatementKind::Goto(self.name("a label")?))
            }
            "return" => {
                self.cursor.advance();
                let ends =
                    matches!(self.cursor.peek(), Token::Symbol(";" | "}" | "::") | Token::Name("fi" | "od"));
                Ok(StatementKind::Return(if ends { None } else { Some(self.expr()?) }))
            }
            "fork" => {
                self.cursor.advance();
                let callee = self.name("a module")?;
                Ok(StatementKind::Fork { callee, arguments: self.arguments()? })
            }
            _ => self.assignment_or_call(),
        }
    }

    fn is_call(&self) -> bool {
        let named = matches!(self.cursor.peek(), Token::Name(name) if !RESERVED.contains(&name));
        named && self.cursor.peek_at(1) == Token::Symbol("(")
    }

    fn assignment_or_call(&mut self) -> Parsed<StatementKind> {
        let (mut call, mut with) = (None, Vec::new());
        loop {
            let start = self.cursor.span();
            let mut target = None;
            if !self.is_call() {
                let quantifiers = self.quantifiers()?;
                let reference = self.reference()?;
                let sign = match self.cursor.peek() {
                    Token::Symbol("=") => Sign::Equal,
                    Token::Symbol("!=") => Sign::Different,
                    _ => return self.cursor.fail(self.reporter, "`=` or `!=`"),
                };
                self.cursor.advance();
                if self.is_call() && quantifiers.is_empty() && sign == Sign::Equal {
                    target = Some(reference);
                } else {
                    let value = self.expr()?;
                    with.push(Assign { quantifiers, target: reference, sign, value });
                }
            }
            if self.is_call() {
                let callee = self.name("a module")?;
                let arguments = self.arguments()?;
                if call.replace((target, callee, arguments)).is_some() {
                    self.reporter.error(start, "there can be one call in a statement");
                    return Err(Reported);
                }
            }
            if !self.cursor.eat_symbol(",") {
                break;
            }
        }
        Ok(match call {
            Some((target, callee, arguments)) => StatementKind::Call { target, callee, arguments, with },
            None => StatementKind::Assign(with),
        })
    }

    fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        self.symbol("(")?;
        let mut arguments = Vec::new();
        if !self.cursor.is_symbol(")") {
            arguments.push(self.expr()?);
            while self.cursor.eat_symbol(",") {
                arguments.push(self.expr()?);
            }
        }
        self.symbol(")")?;
        Ok(arguments)
    }

    /// Quantifiers in front of an assignment.
    fn quantifiers(&mut self) -> Parsed<Vec<Quantifier>> {
        let mut quantifiers = Vec::new();
        while self.is_quantifier() {
            quantifiers.push(self.quantifier()?);
        }
        Ok(quantifiers)
    }

    fn rule(&mut self, start: usize) -> Parsed<Rule> {
        self.control_state()?;
        self.symbol("<")?;
        let from = self.name("a label")?;
        self.symbol(">")?;
        self.symbol("-->")?;
        self.control_state()?;
        self.symbol("<")?;
        let mut to = Vec::new();
        while !self.cursor.is_symbol(">") {
            if to.len() == 2 {
                return self.cursor.fail(self.reporter, "`>`: a rule pushes at most two symbols");
            }
            to.push(self.name("a label or `>`")?);
        }
        self.symbol(">")?;
        if matches!(self.cursor.peek(), Token::Text(_)) {
            self.cursor.advance();
        }
        let mut condition = None;
        if self.cursor.eat_symbol("(") {
            condition = Some(self.expr()?);
            self.symbol(")")?;
        }
        Ok(Rule { from, to, condition, at: start..self.cursor.last_end() })
    }

    fn control_state(&mut self) -> Parsed<()> {
        let name = self.name("a control state")?;
        let known = self.state.get_or_insert_with(|| name.text.clone());
        if *known != name.text {
            let message = format!("another control state than `{known}`: rules have one");
            self.reporter.error(name.at, message);
        }
        Ok(())
    }

    /// An expression of a place where only constants stand.
    fn integer(&mut self) -> Parsed<Expr> {
        self.bits()
    }

    pub(super) fn leaf(kind: ExprKind, at: At) -> Expr {
        Expr { kind, at, depth: 1 }
    }
}
