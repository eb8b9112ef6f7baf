//! Assumption sets: what must hold of inputs and uninitialised variables for a sequence to be
//! executed.
//!
//! \[Focus\] §2 and §3: the statements of the sequence alone are executed on unknowns; the sequence
//! is feasible if its conditions can hold together. Each atom that a run looks at is a constraint.
//! One that follows from those before it is dropped; one that sharpens an earlier one takes its
//! place.

use std::borrow::Cow;
use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use wherefore_check::{PathTerms, Unknown};
use wherefore_program::{EdgeRef, Interpreter, Operation, ProcedureId, Program, State, Trace, Var};
use wherefore_smt::{BitBlaster, Budget, Model, Outcome, Solver, Sort, Term, Terms, Value};

use crate::conditions::Condition;
use crate::focus::{Role, Sequence};
use crate::free_choices::is_temporary;
use crate::source_syntax::{Order, Writer, as_written};

/// What the solver may spend on whether one constraint follows from others.
const MOST_CONFLICTS: u64 = 2_000;

/// A constraint on unknowns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// In the syntax of the source.
    pub text: String,
    /// What the condition demanded when the constraint first came up, in a form that does not
    /// depend on how it is written; and its negation.
    pub key: (String, String),
    /// What it demands now, in that form.
    pub says: String,
    /// The unknowns in it.
    pub variables: BTreeSet<String>,
    /// The item of the sequence that demands it.
    pub item: usize,
    /// Whether the text says the same only if no arithmetic overflows.
    pub unless_overflow: bool,
}

/// One way to execute a sequence: the atoms of its conditions that hold, and those that do not.
#[derive(Clone, Debug)]
pub struct Way {
    /// What must hold.
    pub assumptions: Vec<Constraint>,
    /// The same as terms.
    terms: Vec<Term>,
}

/// A sequence as formulas.
pub struct Formulas<'p> {
    walk: PathTerms<'p>,
    /// Conditions with the items that they belong to and how comparisons in them are written.
    conditions: Vec<(usize, Order, Condition)>,
    /// For each item that is a condition, what it says.
    pub(crate) decisions: FxHashMap<usize, Term>,
    /// Everything that must hold.
    demanded: Vec<Term>,
    names: FxHashMap<Term, String>,
    /// The second parameter of `main`.
    arguments: Option<Term>,
    solver: BitBlaster,
    budget: Budget,
}

impl<'p> Formulas<'p> {
    /// Executes the steps of a sequence on unknowns.
    pub fn new(program: &'p Program, path: &[EdgeRef], sequence: &Sequence, budget: &Budget) -> Self {
        Self::from(program, path, 0, sequence, budget)
    }

    /// The same from some step of the path on, with all variables as they are there as unknowns.
    pub fn from(
        program: &'p Program,
        path: &[EdgeRef],
        start: usize,
        sequence: &Sequence,
        budget: &Budget,
    ) -> Self {
        let mut item_of: FxHashMap<usize, usize> = FxHashMap::default();
        for (i, item) in sequence.items.iter().enumerate() {
            item_of.extend(item.positions.iter().map(|at| (*at, i)));
        }
        let mut walk = PathTerms::new(program);
        let mut demanded = vec![walk.valid()];
        let (mut conditions, mut decisions) = (Vec::new(), FxHashMap::default());
        for (at, edge) in path.iter().enumerate() {
            if at < start {
                walk.step(*edge, false);
                continue;
            }
            if at == start && start > 0 {
                walk.forget();
                demanded.clear();
            }
            let operation = &program.edge(*edge).operation;
            let executed = sequence.steps.contains(&at) || matches!(operation, Operation::Havoc(_));
            let item = item_of.get(&at).copied();
            if let (Operation::Assume(expr), Some(item), true) = (operation, item, executed) {
                if !matches!(sequence.items[item].role, Role::Free(_)) {
                    let order = order_of(program, *edge);
                    conditions.push((item, order, Condition::of(&mut walk, expr)));
                    let (value, _) = walk.value(expr);
                    decisions.insert(item, value);
                }
            }
            demanded.push(walk.step(*edge, executed));
        }
        let mut used: Vec<Term> = Vec::new();
        for (.., condition) in &conditions {
            condition.atoms(&mut |atom| used.extend(walk.terms().variables(atom)));
        }
        let names = names(program, &walk, &used);
        let main =
            program.procedures().find(|(_, procedure)| procedure.name == "main" && procedure.parameters > 1);
        let is_argv = |unknown: &Unknown| {
            main.is_some_and(|(main, _)| unknown.held_by.contains(&(Some(main), Var::Local(1))))
        };
        let arguments = walk.unknowns().iter().find(|(_, unknown)| is_argv(unknown)).map(|(term, _)| *term);
        let (solver, budget) = (BitBlaster::new(), budget.clone());
        Self { walk, conditions, decisions, demanded, names, arguments, solver, budget }
    }

    /// The ways to execute the sequence, at most so many; none if it is infeasible, or if that
    /// could not be found out.
    pub fn ways(&mut self, most: usize) -> Vec<Way> {
        let mut wanted = self.demanded.clone();
        let mut ways = Vec::new();
        while ways.len() < most {
            let Outcome::Sat(model) = self.solver.check(self.walk.terms(), &wanted, &self.budget) else {
                break;
            };
            let looked_at = self.looked_at(&model);
            let literals: Vec<Term> = looked_at.iter().map(|(.., literal)| *literal).collect();
            ways.push(self.way(looked_at));
            let terms = self.walk.terms();
            let same = terms.all(&literals);
            wanted.push(terms.not(same));
        }
        ways
    }

    /// The way that a run takes, if its values are known; `start` is where unknowns begin.
    pub fn way_of(&mut self, program: &Program, trace: &Trace, start: usize) -> Option<Way> {
        let mut model = Model::default();
        let states: Vec<&State> = trace.states().collect();
        for (term, unknown) in self.walk.unknowns() {
            let state = states.get(unknown.position.map_or(start, |at| at + 1))?;
            let (procedure, variable) = unknown.held_by.first()?;
            let is_array = matches!(self.walk.terms_ref().sort(*term), Sort::Array { .. });
            if let Some(value) = value_in(program, state, *procedure, *variable, is_array) {
                model.set(*term, value);
            }
        }
        let holds = |terms: &Terms| self.demanded.iter().all(|demanded| terms.holds(*demanded, &model));
        if !holds(self.walk.terms_ref()) {
            return None;
        }
        let looked_at = self.looked_at(&model);
        Some(self.way(looked_at))
    }

    fn looked_at(&mut self, model: &Model) -> Vec<(usize, Order, Term)> {
        let mut looked_at: Vec<(usize, Order, Term)> = Vec::new();
        for (item, order, condition) in &self.conditions {
            let mut found = Vec::new();
            condition.looked_at(self.walk.terms(), model, &mut found);
            looked_at.extend(found.into_iter().map(|literal| (*item, *order, literal)));
        }
        looked_at
    }

    fn way(&mut self, looked_at: Vec<(usize, Order, Term)>) -> Way {
        struct Kept {
            item: usize,
            order: Order,
            first: Term,
            now: Term,
        }
        let mut kept: Vec<Kept> = Vec::new();
        for (item, order, literal) in looked_at {
            let known: Vec<Term> = kept.iter().map(|kept| kept.now).collect();
            if self.follows(&known, literal) {
                continue;
            }
            let mut sharpened = false;
            for at in 0..known.len() {
                if self.follows(&[literal], known[at]) {
                    (kept[at].now, kept[at].order) = (literal, Order::Alphabetical);
                    sharpened = true;
                    break;
                }
            }
            if !sharpened {
                kept.push(Kept { item, order, first: literal, now: literal });
            }
        }
        let terms: Vec<Term> = kept.iter().map(|kept| kept.now).collect();
        let mut assumptions = Vec::with_capacity(kept.len());
        for (at, kept) in kept.iter().enumerate() {
            let mut constraint = self.constraint(kept.item, kept.order, kept.first, kept.now);
            if constraint.unless_overflow {
                // The others may rule the overflow out.
                let others: Vec<Term> =
                    terms.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, term)| *term).collect();
                let written = as_written(self.walk.terms(), kept.now);
                let same = self.walk.terms().iff(written, kept.now);
                constraint.unless_overflow = !self.follows(&others, same);
            }
            assumptions.push(constraint);
        }
        Way { assumptions, terms }
    }

    fn constraint(&mut self, item: usize, order: Order, first: Term, now: Term) -> Constraint {
        let opposite = self.walk.terms().not(first);
        let terms: &Terms = self.walk.terms();
        let variables = terms.variables(now).into_iter().map(|unknown| match self.names.get(&unknown) {
            Some(name) => name.clone(),
            None => terms.name(unknown).unwrap_or_default().to_owned(),
        });
        let variables = variables.collect();
        let writer = Writer { terms, names: &self.names, arguments: self.arguments };
        let long = || ("a long condition".to_owned(), false);
        let (text, unless_overflow) = writer.constraint(now, order).unwrap_or_else(long);
        let key =
            |term| writer.constraint(term, Order::Alphabetical).map_or_else(String::new, |(text, _)| text);
        let (says, key) = (key(now), (key(first), key(opposite)));
        Constraint { text, key, says, variables, item, unless_overflow }
    }

    /// The assumptions of a way that are enough for the sequence to be executed, without those that
    /// others make idle.
    pub fn enough(&mut self, way: &Way) -> Vec<Constraint> {
        let demanded = self.demanded.clone();
        let goal = self.walk.terms().all(&demanded);
        let mut kept: Vec<usize> = (0..way.terms.len()).collect();
        for at in (0..way.terms.len()).rev() {
            let rest: Vec<usize> = kept.iter().copied().filter(|other| *other != at).collect();
            let known: Vec<Term> = rest.iter().map(|at| way.terms[*at]).collect();
            if self.follows(&known, goal) {
                kept = rest;
            }
        }
        kept.into_iter().map(|at| way.assumptions[at].clone()).collect()
    }

    /// Whether the assumptions of a way, those that are `kept` of them, decide the condition of an
    /// item.
    pub fn decides(&mut self, way: &Way, kept: &[usize], item: usize) -> bool {
        let Some(condition) = self.decisions.get(&item).copied() else { return true };
        let known: Vec<Term> = kept.iter().map(|at| way.terms[*at]).collect();
        let opposite = self.walk.terms().not(condition);
        self.follows(&known, condition) || self.follows(&known, opposite)
    }

    /// Whether the condition of an item rests on unknowns.
    pub fn rests_on_unknowns(&mut self, item: usize) -> bool {
        let terms = self.walk.terms();
        self.decisions.get(&item).is_some_and(|condition| !terms.variables(*condition).is_empty())
    }

    fn follows(&mut self, known: &[Term], conclusion: Term) -> bool {
        let terms = self.walk.terms();
        if conclusion == Terms::TRUE || known.contains(&conclusion) {
            return true;
        }
        let mut asked = known.to_vec();
        asked.push(terms.not(conclusion));
        // The solver has no assertions: everything is asked under assumptions. A question that is
        // hard is not worth its answer.
        let budget = Budget { conflicts: Some(MOST_CONFLICTS), ..self.budget.clone() };
        matches!(self.solver.check(terms, &asked, &budget), Outcome::Unsat(_))
    }
}

/// What a variable holds in a state: a global one, or that of the innermost frame of a procedure.
fn value_in(
    program: &Program,
    state: &State,
    procedure: Option<ProcedureId>,
    variable: Var,
    is_array: bool,
) -> Option<Value> {
    let inside = match procedure {
        Some(id) => {
            let depth = state.stack.iter().rposition(|frame| frame.procedure == id)?;
            let mut below = state.clone();
            below.stack.truncate(depth + 1);
            Cow::Owned(below)
        }
        None => Cow::Borrowed(state),
    };
    let interpreter = Interpreter::new(program);
    let cells = interpreter.cells(&inside, variable)?;
    if !is_array {
        let [value] = cells else { return None };
        return Some(Value::Bits(*value));
    }
    let number = match variable {
        Var::Global(number) => Some(number),
        Var::Local(_) => None,
    };
    let in_memory = state.memory.iter().filter(|((of, _), _)| Some(*of) == number);
    let written = in_memory.map(|((_, address), value)| (*address, *value));
    let entries = (0..).zip(cells.iter().copied()).chain(written).collect();
    Some(Value::Array { default: 0, entries })
}

/// How the source writes the comparisons of an edge.
fn order_of(program: &Program, edge: EdgeRef) -> Order {
    let span = program.edge(edge).span;
    let text = program.source(span).slice(span).replace("->", "").replace(">>", "").replace("<<", "");
    match (text.contains('<'), text.contains('>')) {
        (true, false) => Order::Less,
        (false, true) => Order::Greater,
        _ => Order::Alphabetical,
    }
}

/// What unknowns are called: by the first variable of the source that holds them; `x#2` if there is
/// an earlier `x`.
fn names(program: &Program, walk: &PathTerms<'_>, used: &[Term]) -> FxHashMap<Term, String> {
    let mut unknowns: Vec<(Term, &Unknown)> =
        walk.unknowns().iter().map(|(term, unknown)| (*term, unknown)).collect();
    unknowns.retain(|(term, _)| used.contains(term));
    unknowns.sort_by_key(|(term, unknown)| (unknown.position, *term));
    let mut count: FxHashMap<String, usize> = FxHashMap::default();
    let mut names = FxHashMap::default();
    for (term, unknown) in unknowns {
        let of_source = unknown.held_by.iter().find(|(procedure, variable)| {
            procedure.is_none_or(|id| !is_temporary(program, program.procedure(id), *variable))
        });
        let name = match of_source.or(unknown.held_by.first()) {
            Some((procedure, variable)) => {
                program.variable(procedure.unwrap_or(program.entry), *variable).name.clone()
            }
            None => "input".to_owned(),
        };
        let seen = count.entry(name.clone()).or_default();
        *seen += 1;
        let shown = if *seen == 1 { name } else { format!("{name}#{seen}") };
        names.insert(term, shown);
    }
    names
}
