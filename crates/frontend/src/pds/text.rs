//! The readable format; `docs/pds-format.md` is its reference.

use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

use wherefore_pushdown::lexer::{Lexer, Token, quoted};
use wherefore_pushdown::{ConfigurationSet, Names, ParseError, RuleId, State, Symbol, System};

use super::effect::{Effect, Relation, Scope, Update, Variable};
use super::expression::{Cursor, Kind, NAMES_TAKEN, expression};

/// A file in the readable format.
pub(super) struct Text {
    pub system: System<u64>,
    /// The names of the file, without those that were made to split long rules.
    pub states: Names,
    pub symbols: Names,
    pub start: Option<ConfigurationSet>,
    pub target: Option<ConfigurationSet>,
    pub weights: TextWeights,
    pub labels: FxHashMap<RuleId, String>,
}

/// What the `weights` line said.
pub(super) enum TextWeights {
    None,
    Shortest,
    Relation(Relation),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WeightKind {
    None,
    Shortest,
    Relation,
}

struct Rule {
    from: State,
    symbol: Symbol,
    to: State,
    word: Range<usize>,
    cost: u64,
    effect: Option<Effect>,
    label: Option<String>,
}

struct Reader<'a> {
    source: &'a str,
    states: Names,
    symbols: Names,
    weights: Option<WeightKind>,
    variables: Vec<Variable>,
    variable_of: FxHashMap<String, usize>,
    rules: Vec<Rule>,
    /// The right-hand sides of all rules, one after the other.
    words: Vec<Symbol>,
    start: Vec<Range<usize>>,
    target: Vec<Range<usize>>,
}

/// Reads the readable format.
pub(super) fn read(source: &str) -> Result<Text, ParseError> {
    let mut reader = Reader {
        source,
        states: Names::new(),
        symbols: Names::new(),
        weights: None,
        variables: Vec::new(),
        variable_of: FxHashMap::default(),
        rules: Vec::new(),
        words: Vec::new(),
        start: Vec::new(),
        target: Vec::new(),
    };
    let mut at = 0;
    while at < source.len() {
        let end = source[at..].find('\n').map_or(source.len(), |i| at + i);
        reader.line(at..end)?;
        at = end + 1;
    }
    reader.finish()
}

impl Reader<'_> {
    fn error<T>(&self, span: Range<usize>, message: impl Into<String>) -> Result<T, ParseError> {
        Err(ParseError::at(self.source, span, message))
    }

    fn line(&mut self, range: Range<usize>) -> Result<(), ParseError> {
        let mut cursor = Cursor::new(self.source, range.clone());
        cursor.skip_blanks();
        if cursor.at_end() {
            return Ok(());
        }
        if cursor.rest().starts_with('<') {
            return self.rule(cursor.position()..range.end);
        }
        let (word, span) = cursor.word();
        let rest = cursor.position()..range.end;
        match word {
            "weights" => self.weights(cursor, span),
            "states" => self.names(rest, Table::States),
            "symbols" => self.names(rest, Table::Symbols),
            "global" => self.variable(cursor, Scope::Global, span),
            "local" => self.variable(cursor, Scope::Local, span),
            "start" => {
                self.start.push(rest);
                Ok(())
            }
            "target" => {
                self.target.push(rest);
                Ok(())
            }
            _ => {
                let expected = "expected a rule `<p, a> -> <q, b>`, `weights`, `states`, `symbols`, `global`, `local`, `start` or `target`";
                let message =
                    if word.is_empty() { expected.to_owned() } else { format!("{expected}, found `{word}`") };
                self.error(span, message)
            }
        }
    }

    fn weights(&mut self, mut cursor: Cursor<'_>, keyword: Range<usize>) -> Result<(), ParseError> {
        cursor.skip_blanks();
        let (word, span) = cursor.word();
        let kind = match word {
            "none" => WeightKind::None,
            "shortest" => WeightKind::Shortest,
            "relation" => WeightKind::Relation,
            _ => return self.error(span, "expected `none`, `shortest` or `relation`"),
        };
        cursor.end()?;
        if self.weights.is_some() {
            return self.error(keyword, "`weights` is given twice");
        }
        if !self.rules.is_empty() {
            return self.error(keyword, "`weights` must come before the first rule");
        }
        self.weights = Some(kind);
        Ok(())
    }

    fn names(&mut self, range: Range<usize>, table: Table) -> Result<(), ParseError> {
        let mut lexer = Lexer::new(self.source, range);
        loop {
            let (token, span) = lexer.token()?;
            match (token, table) {
                (Token::Name(name), Table::States) => self.states.intern(&name),
                (Token::Name(name), Table::Symbols) => self.symbols.intern(&name),
                (Token::End, _) => return Ok(()),
                (Token::Mark(c), _) => return self.error(span, format!("expected a name, found `{c}`")),
            };
        }
    }

    fn variable(
        &mut self,
        mut cursor: Cursor<'_>,
        scope: Scope,
        keyword: Range<usize>,
    ) -> Result<(), ParseError> {
        if self.weights != Some(WeightKind::Relation) {
            return self.error(keyword, "variables need a line `weights relation` before them");
        }
        cursor.skip_blanks();
        let (name, span) = cursor.word();
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            return self.error(span, "expected the name of a variable");
        }
        if NAMES_TAKEN.contains(&name) {
            return self.error(span, format!("`{name}` cannot be the name of a variable"));
        }
        if self.variable_of.contains_key(name) {
            return self.error(span, format!("variable `{name}` is declared twice"));
        }
        cursor.expect(":")?;
        cursor.skip_blanks();
        let range_start = cursor.position();
        let low = cursor.integer()?;
        cursor.expect("..")?;
        let high = cursor.integer()?;
        if low > high {
            return self.error(range_start..cursor.position(), format!("the range {low}..{high} is empty"));
        }
        cursor.end()?;
        self.variable_of.insert(name.to_owned(), self.variables.len());
        self.variables.push(Variable { name: name.to_owned(), scope, low, high });
        Ok(())
    }

    fn rule(&mut self, range: Range<usize>) -> Result<(), ParseError> {
        let end = range.end;
        let mut lexer = Lexer::new(self.source, range);
        let start = self.words.len();
        let (from, at) = self.side(&mut lexer)?;
        if self.words.len() != start + 1 {
            return self.error(at, "the left side of a rule has exactly one stack symbol");
        }
        let symbol = self.words.remove(start);
        let mut cursor = Cursor::new(self.source, lexer.position()..end);
        cursor.expect("->")?;
        cursor.skip_blanks();
        let mut lexer = Lexer::new(self.source, cursor.position()..end);
        let (to, _) = self.side(&mut lexer)?;
        let word = start..self.words.len();
        let mut cursor = Cursor::new(self.source, lexer.position()..end);
        let cost = self.cost(&mut cursor)?;
        let effect = self.effect(&mut cursor)?;
        cursor.skip_blanks();
        let mut label = None;
        if cursor.rest().starts_with('"') {
            let at = cursor.position();
            match quoted(cursor.rest()) {
                Ok((text, length)) => {
                    label = Some(text.into_owned());
                    cursor.advance(length);
                }
                Err(message) => return self.error(at..at + 1, message),
            }
        }
        cursor.end()?;
        self.rules.push(Rule { from, symbol, to, word, cost, effect, label });
        Ok(())
    }

    /// Reads `<p, a b …>`; the symbols go to the end of `words`.
    fn side(&mut self, lexer: &mut Lexer<'_>) -> Result<(State, Range<usize>), ParseError> {
        let unexpected = |token: Token<'_>| match token {
            Token::Name(name) => format!("found `{name}`"),
            Token::Mark(c) => format!("found `{c}`"),
            Token::End => "found the end of the line".to_owned(),
        };
        let (token, open) = lexer.token()?;
        if token != Token::Mark('<') {
            return self.error(open, format!("expected `<`, {}", unexpected(token)));
        }
        let state = match lexer.token()? {
            (Token::Name(name), _) => State(self.states.intern(&name)),
            (token, span) => {
                return self.error(span, format!("expected a control state, {}", unexpected(token)));
            }
        };
        let (token, span) = lexer.token()?;
        if token != Token::Mark(',') {
            return self.error(span, format!("expected `,`, {}", unexpected(token)));
        }
        loop {
            match lexer.token()? {
                (Token::Name(name), _) => self.words.push(Symbol(self.symbols.intern(&name))),
                (Token::Mark('>'), close) => return Ok((state, open.start..close.end)),
                (token, span) => {
                    return self
                        .error(span, format!("expected a stack symbol or `>`, {}", unexpected(token)));
                }
            }
        }
    }

    fn cost(&self, cursor: &mut Cursor<'_>) -> Result<u64, ParseError> {
        cursor.skip_blanks();
        let at = cursor.position();
        if !cursor.skip(":") {
            return Ok(1);
        }
        if self.weights != Some(WeightKind::Shortest) {
            return self.error(at..at + 1, "a weight needs a line `weights shortest` before the rules");
        }
        cursor.skip_blanks();
        let at = cursor.position();
        let value = cursor.integer()?;
        u64::try_from(value).or_else(|_| {
            let message = format!(
                "weight {value} is negative: shortest traces with negative weights are not supported"
            );
            self.error(at..cursor.position(), message)
        })
    }

    fn effect(&self, cursor: &mut Cursor<'_>) -> Result<Option<Effect>, ParseError> {
        cursor.skip_blanks();
        let at = cursor.position();
        let mut effect = Effect::default();
        let has_guard = cursor.skip("[");
        if (has_guard || cursor.rest().starts_with('{')) && self.weights != Some(WeightKind::Relation) {
            return self
                .error(at..at + 1, "guards and updates need a line `weights relation` before the rules");
        }
        if has_guard {
            effect.guard = Some(expression(cursor, &self.variable_of, Kind::Condition)?);
            cursor.expect("]")?;
        }
        cursor.skip_blanks();
        let has_updates = cursor.skip("{");
        if has_updates {
            let mut updated = FxHashSet::default();
            loop {
                cursor.skip_blanks();
                let (name, span) = cursor.word();
                let Some(x) = self.variable_of.get(name).copied() else {
                    let message = match name {
                        "" => "expected a variable".to_owned(),
                        _ => format!("unknown variable `{name}`"),
                    };
                    return self.error(span, message);
                };
                if !updated.insert(x) {
                    return self.error(span, format!("variable `{name}` is updated twice"));
                }
                cursor.expect(":=")?;
                cursor.skip_blanks();
                let update = if cursor.skip("?") {
                    Update::Arbitrary
                } else {
                    Update::Value(expression(cursor, &self.variable_of, Kind::Number)?)
                };
                effect.updates.push((x, update));
                cursor.skip_blanks();
                if cursor.skip("}") {
                    break;
                }
                cursor.expect_one_of(",", "`,` or `}`")?;
            }
        }
        Ok((has_guard || has_updates).then_some(effect))
    }

    fn finish(self) -> Result<Text, ParseError> {
        let set = |ranges: &[Range<usize>]| {
            let mut union: Option<ConfigurationSet> = None;
            for range in ranges {
                let next =
                    ConfigurationSet::parse_within(self.source, range.clone(), &self.states, &self.symbols)?;
                union = Some(match union {
                    None => next,
                    Some(union) => union.union(next),
                });
            }
            Ok(union)
        };
        let start = set(&self.start)?;
        let target = set(&self.target)?;
        let mut system = System::with_names(self.states.clone(), self.symbols.clone());
        system.reserve(self.rules.len());
        let mut labels = FxHashMap::default();
        let mut relation = Relation { variables: self.variables, effects: FxHashMap::default() };
        for rule in self.rules {
            let word = &self.words[rule.word];
            let id = system.add_rule(rule.from, rule.symbol, rule.to, word, rule.cost, &0);
            if let Some(label) = rule.label {
                labels.insert(id, label);
            }
            if let Some(effect) = rule.effect {
                relation.effects.insert(id, effect);
            }
        }
        let weights = match self.weights {
            None | Some(WeightKind::None) => TextWeights::None,
            Some(WeightKind::Shortest) => TextWeights::Shortest,
            Some(WeightKind::Relation) => TextWeights::Relation(relation),
        };
        Ok(Text { system, states: self.states, symbols: self.symbols, start, target, weights, labels })
    }
}

#[derive(Clone, Copy)]
enum Table {
    States,
    Symbols,
}
