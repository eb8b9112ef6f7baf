//! Formulas about pushdown systems (.pds): the values of variables become part of control states and
//! symbols, so that rules can be taken one by one.

use std::time::Instant;

use wherefore_check::Budget;
use wherefore_frontend::pds::{self, PdsFile, Scope, Weights};
use wherefore_ltl::{
    Explicit, ExplicitRule, ExplicitVerdict, Proposition, RuleLasso, Specification, TopOfStack, Way,
    decide_explicit,
};
use wherefore_pushdown::{Configuration, Rhs, State, Symbol};

use super::answer::{Report, Word};
use super::meaning::wrong;
use crate::commands::ProgramArgs;
use crate::exit::CliError;

/// More rules than this are not written down one by one.
const MOST_RULES: usize = 2_000_000;

/// The answer.
pub(super) fn report(
    program: &ProgramArgs,
    specification: &Specification,
    begin: Instant,
) -> Result<Report, CliError> {
    let (name, is_json) = (program.name(), program.json);
    program.limits.guard(move |reason| super::super::unknown(&name, is_json, reason));
    if let Some(option) = program.c.given().next() {
        return Err(program.question(format!("{option} is for C programs")));
    }
    if program.entry.is_some() {
        return Err(program.question("--entry is for programs: `start` says where runs start".to_owned()));
    }
    let file = pds::read(program.file.as_deref().unwrap_or(std::path::Path::new("")))?;
    if file.encoding.is_on_stack() {
        let why = "--ltl is not for systems with wildcards, whose control states are on the stack";
        return Err(program.question(why.to_owned()));
    }
    if file.start.is_none() {
        return Err(program.question("it does not say where runs start (`start <p, a>`)".to_owned()));
    }
    let meanings = specification
        .atoms
        .iter()
        .enumerate()
        .map(|(number, atom)| {
            meaning(&file, &atom.proposition).map_err(|why| wrong(specification, number, &why))
        })
        .collect::<Result<Vec<_>, _>>()?;
    let mut report = Report::new(specification, begin);
    let budget = Budget::from_limits(&program.limits.limits());
    let Some(laid_out) = LaidOut::new(&file) else {
        report.unknown("the variables have too many values together");
        return Ok(report);
    };
    let letter = |head: TopOfStack, is_stuck: bool| laid_out.letter(&meanings, head, is_stuck);
    let system = Explicit { rules: laid_out.rules.clone(), start: laid_out.start(), letter: &letter };
    report.method = Some(Way::Exact);
    match decide_explicit(&system, &specification.formula, &budget) {
        ExplicitVerdict::Holds => report.verdict = Word::Holds,
        ExplicitVerdict::Fails(lasso) => {
            report.verdict = Word::Fails;
            laid_out.show(&lasso, &mut report);
        }
        ExplicitVerdict::Unknown(why) => report.unknown(&why),
    }
    report.stats.seconds = begin.elapsed().as_secs_f64();
    Ok(report)
}

/// What a proposition is about.
enum Meaning {
    State(u32),
    Top(u32),
    End,
}

fn meaning(file: &PdsFile, proposition: &Proposition) -> Result<Meaning, String> {
    let state = |name: &str| file.system.states().get(name).map(Meaning::State);
    let top = |name: &str| file.system.symbols().get(name).map(Meaning::Top);
    match proposition {
        Proposition::End => Ok(Meaning::End),
        Proposition::Line(_) => Err("a pushdown system has no lines".to_owned()),
        Proposition::At(name) => top(name).ok_or_else(|| format!("there is no symbol `{name}`")),
        Proposition::Condition(text) => {
            let (kind, name) = text.split_once(char::is_whitespace).unwrap_or(("", text));
            let name = name.trim().trim_matches('"');
            match (kind, state(name), top(name)) {
                ("state", Some(found), _) | ("top", _, Some(found)) => Ok(found),
                ("", Some(found), None) | ("", None, Some(found)) => Ok(found),
                ("", Some(_), Some(_)) => Err(format!(
                    "`{name}` is a control state and a symbol: write `state {name}` or `top {name}`"
                )),
                ("state", ..) => Err(format!("there is no control state `{name}`")),
                ("top", ..) => Err(format!("there is no symbol `{name}`")),
                ("", ..) => Err(format!("there is no control state and no symbol `{name}`")),
                _ => {
                    Err("a control state, a symbol, `state NAME`, `top NAME` or `end` is expected".to_owned())
                }
            }
        }
    }
}

/// A system with the values of variables in control states and symbols. Control state
/// `p * globals + g`; symbol `a * locals + l`. Behind them: one control state in which the first
/// stack is built, the symbol below all, the first one, and one for each state of the automaton of
/// the start set, which stands for any stack that it accepts from there.
struct LaidOut<'f> {
    file: &'f PdsFile,
    relation: Option<&'f pds::Relation>,
    globals: usize,
    locals: usize,
    rules: Vec<ExplicitRule>,
}

impl<'f> LaidOut<'f> {
    fn new(file: &'f PdsFile) -> Option<Self> {
        let relation = match &file.weights {
            Weights::Relation(relation) => Some(relation),
            _ => None,
        };
        let size = |scope: Scope| -> Option<usize> {
            let variables = relation.map_or(&[][..], pds::Relation::variables);
            let mut of = variables.iter().filter(|variable| variable.scope == scope);
            of.try_fold(1_usize, |product, variable| product.checked_mul(variable.value_count()?))
        };
        let (globals, locals) = (size(Scope::Global)?, size(Scope::Local)?);
        let stores = globals.checked_mul(locals).filter(|stores| *stores <= MOST_RULES)?;
        let heads = file.system.rule_count().checked_mul(stores);
        heads.filter(|heads| *heads <= MOST_RULES)?;
        let mut laid_out = Self { file, relation, globals, locals, rules: Vec::new() };
        laid_out.own_rules()?;
        laid_out.start_rules()?;
        Some(laid_out)
    }

    fn before(&self) -> u32 {
        (self.file.system.state_count() * self.globals) as u32
    }

    fn bottom(&self) -> u32 {
        (self.file.system.symbol_count() * self.locals) as u32
    }

    fn start(&self) -> TopOfStack {
        (self.before(), self.bottom() + 1)
    }

    fn add(&mut self, from: TopOfStack, to: u32, push: Vec<u32>) -> Option<()> {
        self.rules.push(ExplicitRule { from, to, push });
        (self.rules.len() <= MOST_RULES).then_some(())
    }

    fn control(&self, state: State, globals: usize) -> u32 {
        (state.index() * self.globals + globals) as u32
    }

    fn symbol(&self, symbol: Symbol, locals: usize) -> u32 {
        (symbol.index() * self.locals + locals) as u32
    }

    /// The numbers of a store's globals and of its locals.
    fn numbers(&self, store: &[i64]) -> (usize, usize) {
        let mut found = (0, 0);
        let variables = self.relation.map_or(&[][..], pds::Relation::variables);
        for (variable, value) in variables.iter().zip(store) {
            let number = if variable.scope == Scope::Global { &mut found.0 } else { &mut found.1 };
            *number = *number * variable.value_count().unwrap_or(1) + (value - variable.low) as usize;
        }
        found
    }

    fn own_rules(&mut self) -> Option<()> {
        let stores: Vec<Vec<i64>> = match self.relation {
            Some(relation) => (0..relation.store_count()?).map(|number| relation.store(number)).collect(),
            None => vec![Vec::new()],
        };
        for (id, rule) in self.file.system.rules() {
            for store in &stores {
                let mut after: Vec<Vec<i64>> = Vec::new();
                match self.relation.and_then(|relation| Some((relation, relation.effect(id)?))) {
                    Some((relation, effect)) => {
                        relation.successors(effect, store, &mut |store| after.push(store.to_vec()));
                    }
                    None => after.push(store.clone()),
                }
                after.sort_unstable();
                after.dedup();
                let (globals, locals) = self.numbers(store);
                let from = (self.control(rule.from, globals), self.symbol(rule.symbol, locals));
                for store in after {
                    let (globals, locals) = self.numbers(&store);
                    let to = self.control(rule.to, globals);
                    match rule.rhs {
                        Rhs::Pop => self.add(from, to, Vec::new())?,
                        Rhs::Swap(symbol) => self.add(from, to, vec![self.symbol(symbol, locals)])?,
                        Rhs::Push(top, below) => {
                            // The callee's locals are arbitrary.
                            for fresh in 0..self.locals {
                                let push = vec![self.symbol(top, fresh), self.symbol(below, locals)];
                                self.add(from, to, push)?;
                            }
                        }
                    }
                }
            }
        }
        Some(())
    }

    /// Builds any stack of the start set, from its bottom.
    fn start_rules(&mut self) -> Option<()> {
        let file = self.file;
        let Some(set) = &file.start else { return Some(()) };
        let (before, bottom) = (self.before(), self.bottom());
        let waiting = |state: State| bottom + 2 + state.index() as u32;
        let controls = set.control_count();
        for number in 0..set.state_count() {
            let state = State(number as u32);
            if set.is_final(state) {
                self.add(self.start(), before, vec![waiting(state), bottom])?;
            }
            if number < controls {
                for globals in 0..self.globals {
                    self.add((before, waiting(state)), self.control(state, globals), Vec::new())?;
                }
            }
        }
        for (transition, ()) in set.transitions() {
            // There are no steps without a symbol in a start set.
            let Some(symbol) = transition.symbol else { continue };
            for locals in 0..self.locals {
                let push = vec![waiting(transition.from), self.symbol(symbol, locals)];
                self.add((before, waiting(transition.to)), before, push)?;
            }
        }
        Some(())
    }

    fn letter(&self, meanings: &[Meaning], (control, top): TopOfStack, is_stuck: bool) -> Option<Vec<bool>> {
        if control == self.before() {
            return None;
        }
        let state = control / self.globals as u32;
        let symbol = (top < self.bottom()).then(|| top / self.locals as u32);
        if symbol.is_some_and(|symbol| self.file.system.is_helper_symbol(Symbol(symbol))) {
            return None;
        }
        let holds = |meaning: &Meaning| match meaning {
            Meaning::State(other) => *other == state,
            Meaning::Top(other) => symbol == Some(*other),
            Meaning::End => is_stuck,
        };
        Some(meanings.iter().map(holds).collect())
    }

    /// The configurations of a lasso in the words of the file.
    fn show(&self, lasso: &RuleLasso, report: &mut Report) {
        let (mut control, start) = self.start();
        let mut stack = vec![start];
        let mut walk = |rules: &[usize], shown: &mut Vec<String>| {
            for rule in rules {
                let rule = &self.rules[*rule];
                stack.pop();
                stack.extend(rule.push.iter().rev());
                control = rule.to;
                shown.extend(self.configuration(control, &stack));
            }
            stack.len()
        };
        let (mut stem, mut turn) = (Vec::new(), Vec::new());
        let before = walk(&lasso.stem, &mut stem);
        let after = walk(&lasso.turn, &mut turn);
        if !lasso.turn.is_empty() {
            turn.splice(0..0, stem.pop());
            report.growth = Some(after - before);
        }
        report.configurations = Some([stem, turn]);
    }

    fn configuration(&self, control: u32, stack: &[u32]) -> Option<String> {
        let top = *stack.last()?;
        self.letter(&[], (control, top), false)?;
        let own = stack.iter().rev().filter(|symbol| **symbol < self.bottom());
        let configuration = Configuration {
            state: State(control / self.globals as u32),
            stack: own.map(|symbol| Symbol(symbol / self.locals as u32)).collect(),
        };
        let shown = self.file.system.show(&configuration).to_string();
        let variables = self.relation.map_or(&[][..], pds::Relation::variables);
        let mut globals = control as usize % self.globals;
        let mut locals = top as usize % self.locals;
        let mut values = Vec::new();
        for variable in variables.iter().rev() {
            let is_global = variable.scope == Scope::Global;
            if !is_global && top >= self.bottom() {
                continue;
            }
            let number = if is_global { &mut globals } else { &mut locals };
            let count = variable.value_count().unwrap_or(1);
            values.push(format!("{} = {}", variable.name, variable.low + (*number % count) as i64));
            *number /= count;
        }
        values.reverse();
        Some(if values.is_empty() { shown } else { format!("{shown}   {}", values.join(", ")) })
    }
}
