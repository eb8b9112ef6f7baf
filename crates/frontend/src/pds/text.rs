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

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &Text) -> Vec<String> {
        text.system.rules().map(|(rule, _)| text.system.show_rule(rule).to_string()).collect()
    }

    fn message(text: &str) -> String {
        read(text).map_or_else(|error| error.to_string(), |_| "no error".to_owned())
    }

    /// The stores that the effect of the first rule leads to.
    fn successors(declarations: &str, effect: &str, store: &[i64]) -> Vec<Vec<i64>> {
        let source = format!("weights relation\n{declarations}\n<p, a> -> <p, a> {effect}");
        let text = read(&source).unwrap_or_else(|error| panic!("{source}\n{error}"));
        let TextWeights::Relation(relation) = text.weights else { panic!("no relation") };
        let mut stores = Vec::new();
        relation
            .successors(relation.effect(RuleId(0)).unwrap(), store, &mut |next| stores.push(next.to_vec()));
        stores
    }

    #[test]
    fn rules_weights_and_labels_are_read() {
        let text = read(
            "weights shortest\n<p,a>-><q,b c>:3\"call \\\"b\\\"\" # yes\n  <q, b>  ->  <p , > \"ret\"\n",
        )
        .unwrap();
        assert_eq!(shown(&text), ["<p, a> -> <q, b c>", "<q, b> -> <p,>"]);
        assert_eq!((*text.system.weight(RuleId(0)), *text.system.weight(RuleId(1))), (3, 1));
        assert_eq!(text.labels[&RuleId(0)], "call \"b\"");
        assert_eq!(text.labels[&RuleId(1)], "ret");
    }

    #[test]
    fn dots_in_sets_do_not_stand_for_helper_symbols() {
        let text = read("start <p, a>\ntarget <p, . d>\n<p, a> -> <p, b c d>").unwrap();
        let target = text.target.unwrap().to_automaton(
            1,
            text.system.symbol_count(),
            wherefore_pushdown::Reading::Forward,
            &(),
        );
        assert!(target.transitions().all(|(t, ())| t.symbol.is_some_and(|s| s.index() < text.symbols.len())));
        assert_eq!(text.symbols.len() + 1, text.system.symbol_count());
    }

    #[test]
    fn the_rules_of_a_long_word_cost_as_much_as_the_rule() {
        let text = read("weights shortest\n<p, a> -> <p, b c d e> : 7").unwrap();
        assert_eq!(text.system.rules().map(|(r, _)| *text.system.weight(r)).sum::<u64>(), 7);
    }

    #[test]
    fn updates_are_parallel() {
        assert_eq!(successors("global x : 0..9\nglobal y : 0..9", "{ x := y, y := x }", &[1, 2]), [[2, 1]]);
    }

    #[test]
    fn guards_ranges_and_divisions_block() {
        let x = "global x : 0..9\nglobal y : 0..9";
        for (effect, expected) in [
            ("[x == 1]", vec![vec![1, 2]]),
            ("[x != 1]", vec![]),
            ("[x > 0] { x := x + 8 }", vec![vec![9, 2]]),
            ("{ x := x + 9 }", vec![]),
            ("{ x := -x }", vec![]),
            ("{ x := x / (y - 2) }", vec![]),
            ("[x % (y - 2) == 0]", vec![]),
            ("[y == 2 || x / (y - 2) == 1]", vec![vec![1, 2]]),
            ("[!(y != 2 && x / (y - 2) == 1)]", vec![vec![1, 2]]),
            ("{ x := 9223372036854775807 + x - 9223372036854775807 }", vec![]),
            ("{ x := 2 + 3 * 2 - 8 / 3 % 2 - 4 }", vec![vec![4, 2]]),
            ("{ x := 9 - 4 - 3 }", vec![vec![2, 2]]),
            ("{ x := min(7, max(x, y, 5), 6) }", vec![vec![5, 2]]),
            ("[1 < 2 && 2 <= 2 && 3 > 2 && 2 >= 2 && true && !false]", vec![vec![1, 2]]),
            ("[x == 1 || x == 2 && y == 7]", vec![vec![1, 2]]),
        ] {
            assert_eq!(successors(x, effect, &[1, 2]), expected, "{effect}");
        }
        assert_eq!(successors("global x : -1..1", "{ x := ? }", &[1]), [[-1], [0], [1]]);
    }

    #[test]
    fn errors_say_where_and_what() {
        let long =
            format!("weights relation\nglobal x : 0..1\n<p, a> -> <p, a> [{}x == 1]", "(".repeat(10_000));
        let signs =
            format!("weights relation\nglobal x : 0..1\n<p, a> -> <p, a> {{ x := {}x }}", "-".repeat(10_000));
        for (text, expected) in [
            ("start <p, a>", "1:8: unknown control state `p`"),
            ("<p, a> -> <q, b>\n\ntarget b c", "3:10: unknown stack symbol `c`"),
            ("<p, a b> -> <q, b>", "1:1: the left side of a rule has exactly one stack symbol"),
            ("<p, a> <q, b>", "1:8: expected `->`, found `<`"),
            ("<p, a> -> <q, b", "1:16: expected a stack symbol or `>`, found the end of the line"),
            ("<p, a> -> <q b>", "1:14: expected `,`, found `b`"),
            ("<p, a> -> <q, b> : 3", "1:18: a weight needs a line `weights shortest` before the rules"),
            ("weights shortest\n<p, a> -> <q, b> : -3", "2:20: weight -3 is negative"),
            ("weights shortest\n<p, a> -> <q, b> : x", "2:20: expected a number, found `x`"),
            ("weights shortest\n<p, a> -> <q, b> : 3 4", "2:22: expected the end of the line, found `4`"),
            ("<p, a> -> <q, b> [x == 1]", "1:18: guards and updates need a line `weights relation`"),
            ("weights fast", "1:9: expected `none`, `shortest` or `relation`"),
            ("weights none\nweights none", "2:1: `weights` is given twice"),
            ("<p, a> -> <q, b>\nweights none", "2:1: `weights` must come before the first rule"),
            ("global x : 0..1", "1:1: variables need a line `weights relation` before them"),
            ("weights relation\nglobal x : 3..1", "2:12: the range 3..1 is empty"),
            ("weights relation\nglobal x 3..1", "2:10: expected `:`, found `3`"),
            ("weights relation\nglobal x : 0..1\nlocal x : 0..1", "3:7: variable `x` is declared twice"),
            ("weights relation\nglobal min : 0..1", "2:8: `min` cannot be the name of a variable"),
            (
                "weights relation\nglobal x : 0..99999999999999999999",
                "2:15: 99999999999999999999 does not fit",
            ),
            (
                "weights relation\nglobal x : 0..1\n<p, a> -> <p, a> [x]",
                "3:19: expected a condition, found a number",
            ),
            (
                "weights relation\nglobal x : 0..1\n<p, a> -> <p, a> [1 + (x == 1)]",
                "3:23: expected a number, found a condition",
            ),
            (
                "weights relation\nglobal x : 0..1\n<p, a> -> <p, a> [0 < x < 1]",
                "3:19: expected a number, found a condition",
            ),
            ("weights relation\n<p, a> -> <p, a> { y := 1 }", "2:20: unknown variable `y`"),
            (
                "weights relation\nglobal x : 0..1\n<p, a> -> <p, a> { x := ? + 1 }",
                "3:27: expected `,` or `}`, found `+`",
            ),
            ("weights relation\nglobal x : 0..1\n<p, a> -> <p, a> { x := 1 + ? }", "3:29: `?` stands alone"),
            (
                "weights relation\nglobal x : 0..1\n<p, a> -> <p, a> { x := 1, x := 2 }",
                "3:28: variable `x` is updated twice",
            ),
            ("rule <p, a>", "1:1: expected a rule `<p, a> -> <q, b>`, `weights`"),
            ("<p, a> -> <q, b> \"x", "1:18: this quote is not closed"),
            ("states p, q", "1:9: expected a name, found `,`"),
            (&long, "3:220: the expression is nested more than 200 deep"),
            (&signs, "3:226: the expression is nested more than 200 deep"),
        ] {
            let found = message(text);
            assert!(found.starts_with(expected), "{text:.200}\n found    {found}\n expected {expected}");
        }
    }

    #[test]
    fn long_chains_of_operators_do_not_nest() {
        let sum = vec!["1"; 100_000].join(" + ");
        assert_eq!(successors("global x : 0..100000", &format!("{{ x := {sum} }}"), &[0]), [[100_000]]);
    }
}
