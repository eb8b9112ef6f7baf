//! Labels and the symbols of raw rules: which module each belongs to, and which of them start
//! procedures.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::ast::{self, Body, Name, Rule, StatementKind};
use super::lower::Signature;
use crate::diagnostics::Reporter;

/// The labels of the statements of a body.
fn labels(body: &Body) -> BTreeSet<String> {
    fn collect(statements: &[ast::Statement], found: &mut BTreeSet<String>) {
        for statement in statements {
            found.extend(statement.labels.iter().map(|label| label.text.clone()));
            if let StatementKind::If(alternatives) | StatementKind::Do(alternatives) = &statement.kind {
                alternatives.iter().for_each(|alternative| collect(&alternative.body, found));
            }
        }
    }
    let mut found = BTreeSet::new();
    collect(&body.statements, &mut found);
    found.extend(body.end_labels.iter().map(|label| label.text.clone()));
    found
}

/// The labels of a body, and the symbols that its rules bring in.
pub(super) fn symbols(body: &Body, rules: &[&Rule]) -> BTreeSet<String> {
    let mut found = labels(body);
    found.extend(rules.iter().flat_map(|rule| rule.here()).map(|symbol| symbol.text.clone()));
    found
}

/// Which rules belong to which module. A rule outside modules belongs to the module that one of its
/// labels is in.
pub(super) struct Shares<'a> {
    pub(super) modules: Vec<Vec<&'a Rule>>,
    pub(super) loose: Vec<&'a Rule>,
}

/// Where a symbol is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Module(usize),
    Loose,
    Several,
}

impl<'a> Shares<'a> {
    pub(super) fn new(file: &'a ast::File, reporter: &mut Reporter<'_>) -> Self {
        let mut owners: FxHashMap<String, Owner> = FxHashMap::default();
        let mut modules: Vec<Vec<&Rule>> = Vec::new();
        for (i, module) in file.modules.iter().enumerate() {
            let rules: Vec<&Rule> = module.body.iter().flat_map(|body| &body.rules).collect();
            let symbols = module.body.as_ref().map(|body| symbols(body, &rules)).unwrap_or_default();
            for symbol in symbols {
                let known = owners.entry(symbol).or_insert(Owner::Module(i));
                if *known != Owner::Module(i) {
                    *known = Owner::Several;
                }
            }
            modules.push(rules);
        }
        for (i, module) in file.modules.iter().enumerate().filter(|(_, module)| module.body.is_some()) {
            owners.insert(module.name.text.clone(), Owner::Module(i));
        }
        owners.extend(labels(&file.loose).into_iter().map(|label| (label, Owner::Loose)));
        let all: Vec<BTreeSet<String>> =
            file.modules.iter().map(|module| module.body.as_ref().map(labels).unwrap_or_default()).collect();
        for (i, rules) in modules.iter().enumerate() {
            let starts: BTreeSet<&str> = rules.iter().map(|rule| rule.from.text.as_str()).collect();
            for rule in rules {
                // A symbol where nothing can happen here, and that is a label elsewhere, is a
                // mistake.
                let stray = |symbol: &&Name| {
                    let own = all[i].contains(&symbol.text) || file.modules[i].name.text == symbol.text;
                    let goes_on = own || starts.contains(&symbol.text[..]);
                    !goes_on && all.iter().any(|labels| labels.contains(&symbol.text))
                };
                if let Some(symbol) = rule.here().find(stray) {
                    let message = format!("`{}` and `{}` are not in one module", rule.from.text, symbol.text);
                    reporter.error(symbol.at.clone(), message);
                }
            }
        }
        let mut shares = Self { modules, loose: Vec::new() };
        // A rule with an owner gives it to its other symbols, and so to further rules.
        let mut waiting: Vec<&Rule> = file.loose.rules.iter().collect();
        loop {
            let before = waiting.len();
            waiting.retain(|rule| !shares.give(rule, &mut owners, reporter));
            if waiting.len() == before {
                break;
            }
        }
        shares.loose.extend(waiting);
        shares
    }

    /// The loose rules that a procedure needs which starts at a label: those that its frame can get
    /// to. All of them, if there are statements among them.
    pub(super) fn loose_from(&self, body: &Body, start: &str) -> Vec<&'a Rule> {
        if !body.statements.is_empty() {
            return self.loose.clone();
        }
        let mut from: FxHashMap<&str, Vec<&'a Rule>> = FxHashMap::default();
        for rule in &self.loose {
            from.entry(&rule.from.text).or_default().push(rule);
        }
        let mut seen = BTreeSet::from([start]);
        let (mut work, mut found) = (vec![start], Vec::new());
        while let Some(symbol) = work.pop() {
            for rule in from.get(symbol).into_iter().flatten() {
                found.push(*rule);
                work.extend(rule.to.last().map(|to| &to.text[..]).filter(|to| seen.insert(to)));
            }
        }
        found.sort_by_key(|rule| rule.at.start);
        found
    }

    /// Gives a rule to the owner of one of its symbols; false if none is known yet.
    fn give(
        &mut self,
        rule: &'a Rule,
        owners: &mut FxHashMap<String, Owner>,
        reporter: &mut Reporter<'_>,
    ) -> bool {
        let known = rule.here().filter_map(|symbol| Some((symbol, *owners.get(&symbol.text)?)));
        let known: Vec<(&Name, Owner)> = known.collect();
        let Some(&(_, owner)) = known.first() else { return false };
        if let Some((symbol, _)) = known.iter().find(|(_, other)| *other == Owner::Several) {
            let message = format!("several modules have the label `{}`", symbol.text);
            reporter.error(symbol.at.clone(), message);
        } else if let Some((symbol, _)) = known.iter().find(|(_, other)| *other != owner) {
            let message = format!("`{}` and `{}` are not in one module", rule.from.text, symbol.text);
            reporter.error(symbol.at.clone(), message);
        }
        for symbol in rule.here() {
            owners.entry(symbol.text.clone()).or_insert(owner);
        }
        match owner {
            Owner::Module(i) => self.modules[i].push(rule),
            Owner::Loose | Owner::Several => self.loose.push(rule),
        }
        true
    }
}

/// The labels that are pushed on the stack: each needs a procedure that starts there.
pub(super) fn copies_wanted(
    file: &ast::File,
    shares: &Shares<'_>,
    signatures: &FxHashMap<String, Signature>,
    loose_symbols: &BTreeSet<String>,
) -> Vec<(Option<String>, Name)> {
    let mut wanted: Vec<(Option<String>, Name)> = Vec::new();
    let mut want = |module: Option<&str>, label: &Name| {
        let module = module.map(str::to_owned);
        if !wanted.iter().any(|(other, name)| *other == module && name.text == label.text) {
            wanted.push((module, label.clone()));
        }
    };
    let is_label = |callee: &&Name| !signatures.contains_key(&callee.text);
    let own_symbols = |(module, rules): (&ast::Module, &Vec<&Rule>)| {
        let body = module.body.as_ref()?;
        Some((module.name.text.clone(), symbols(body, rules)))
    };
    let defined: Vec<(String, BTreeSet<String>)> =
        file.modules.iter().zip(&shares.modules).filter_map(own_symbols).collect();
    for (module, rules) in file.modules.iter().zip(&shares.modules) {
        let own = defined.iter().find(|(name, _)| *name == module.name.text);
        for callee in pushed(rules).filter(is_label) {
            if own.is_some_and(|(_, own)| own.contains(&callee.text)) {
                want(Some(&module.name.text), callee);
            } else if loose_symbols.contains(&callee.text) {
                want(None, callee);
            }
        }
    }
    for callee in pushed(&shares.loose).chain(&file.init).filter(is_label) {
        if loose_symbols.contains(&callee.text) {
            want(None, callee);
        }
    }
    // Execution may start at a label of a module, too.
    for start in file.init.iter().filter(is_label).filter(|start| !loose_symbols.contains(&start.text)) {
        if let Some((name, _)) = defined.iter().find(|(_, own)| own.contains(&start.text)) {
            want(Some(name), start);
        }
    }
    wanted
}

fn pushed<'a>(rules: &[&'a Rule]) -> impl Iterator<Item = &'a Name> {
    rules.iter().filter(|rule| rule.to.len() == 2).map(|rule| &rule.to[0])
}
