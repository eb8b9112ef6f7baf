//! All runs of a program up to a bound, as conditions under which they end badly.
//!
//! A procedure is executed with terms for values. What comes to a location from several sides is
//! merged by conditions; each way into it has a condition of its own, and no two of them hold
//! together, so the merge loses no run.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use wherefore_program::{
    Call, Edge, ErrorSite, LocationId, Node, Operation, ProcedureId, Program, Scalar, Target, Var,
};
use wherefore_smt::{Budget, Kind, Sort, Term, Terms};

use super::order::{Part, order};
use crate::meaning::{Changes, Entered, Held, Here, Meaning};

/// Conditions under which runs end badly.
#[derive(Default)]
pub(super) struct Ends {
    /// At a target.
    pub errors: Vec<Term>,
    /// Beyond what was unrolled.
    pub beyond: Vec<Term>,
}

/// More than this is too much.
const MOST_VISITS: usize = 1_500_000;
const MOST_TERMS: usize = 30_000_000;
const MOST_OPEN: usize = 20_000;

/// Conjunctions that are longer are not taken apart.
const LONG: usize = 64;

/// The values at a location: those of globals, and those of the procedure at hand.
#[derive(Clone)]
struct State {
    globals: Rc<Vec<Term>>,
    locals: Rc<Vec<Term>>,
}

impl Held for State {
    fn held(&mut self, _: &mut Terms, variable: Var) -> Term {
        match variable {
            Var::Global(i) => self.globals[i as usize],
            Var::Local(i) => self.locals[i as usize],
        }
    }
}

impl State {
    fn change(&mut self, changes: Changes) {
        for (variable, value) in changes {
            match variable {
                Var::Global(i) => Rc::make_mut(&mut self.globals)[i as usize] = value,
                Var::Local(i) => Rc::make_mut(&mut self.locals)[i as usize] = value,
            }
        }
    }
}

/// A procedure that is being executed.
struct Frame {
    procedure: ProcedureId,
    /// Ways to locations that have not been executed yet: the condition, and the values.
    waiting: BTreeMap<LocationId, Vec<(Term, State)>>,
    /// Ways out: the values of globals, and the results that the caller wants.
    returned: Vec<(Term, Rc<Vec<Term>>, Vec<Term>)>,
    /// The types of these results.
    results: Vec<Option<Scalar>>,
}

/// An edge that is about to be taken.
struct Way<'a> {
    edge: &'a Edge,
    condition: Term,
    done: Done,
}

enum Done {
    Step(State),
    Enter(Entered),
    Leave(Vec<Term>),
}

/// The execution.
pub(super) struct Unrolling<'m, 'a> {
    meaning: Meaning<'m, 'a>,
    targets: BTreeSet<Node>,
    bound: usize,
    budget: &'m Budget,
    orders: BTreeMap<ProcedureId, Rc<Vec<Part>>>,
    /// Open calls: the procedure, and the condition under which it was called.
    calls: Vec<(ProcedureId, Term)>,
    ends: Ends,
    visits: usize,
    ways: usize,
}

type Stopped<T> = Result<T, String>;

impl<'m, 'a> Unrolling<'m, 'a> {
    pub fn new(
        terms: &'m mut Terms,
        program: &'a Program,
        targets: &[ErrorSite],
        bound: usize,
        budget: &'m Budget,
    ) -> Self {
        Self {
            meaning: Meaning::new(terms, program),
            targets: targets.iter().map(|site| site.node).collect(),
            bound,
            budget,
            orders: BTreeMap::new(),
            calls: Vec::new(),
            ends: Ends::default(),
            visits: 0,
            ways: 0,
        }
    }

    /// Executes the program from its entry.
    ///
    /// # Errors
    /// Why it was not executed as a whole.
    pub fn ends(mut self) -> Stopped<Ends> {
        let program = self.meaning.program;
        let mut possible = Terms::TRUE;
        let mut start = |variables: &[wherefore_program::Variable]| {
            let mut values = Vec::new();
            for variable in variables {
                let (value, fits) = self.meaning.initial(variable);
                possible = self.meaning.terms.and(possible, fits);
                values.push(value);
            }
            Rc::new(values)
        };
        let globals = start(&program.globals);
        let locals = start(&program.procedure(program.entry).variables);
        self.body(program.entry, possible, State { globals, locals }, Vec::new())?;
        Ok(self.ends)
    }

    /// Executes a procedure; how it returns.
    fn body(
        &mut self,
        procedure: ProcedureId,
        condition: Term,
        state: State,
        results: Vec<Option<Scalar>>,
    ) -> Stopped<Frame> {
        let body = self.meaning.program.procedure(procedure);
        let parts = self.orders.entry(procedure).or_insert_with(|| Rc::new(order(body))).clone();
        let waiting = BTreeMap::from([(body.entry, vec![(condition, state)])]);
        let mut frame = Frame { procedure, waiting, returned: Vec::new(), results };
        self.calls.push((procedure, condition));
        for part in parts.iter() {
            self.part(&mut frame, part)?;
        }
        self.calls.pop();
        Ok(frame)
    }

    fn part(&mut self, frame: &mut Frame, part: &Part) -> Stopped<()> {
        let (head, body) = match part {
            Part::Once(location) => return self.visit(frame, *location),
            Part::Loop(head, body) => (*head, body),
        };
        let mut last = self.condition(frame, head);
        let mut open = 0;
        loop {
            self.visit(frame, head)?;
            for part in body {
                self.part(frame, part)?;
            }
            let again = self.condition(frame, head);
            if again == Terms::FALSE {
                return Ok(());
            }
            // A turn that happens whenever the last one did has been decided before: only others
            // count.
            if again != last {
                open += 1;
            }
            last = again;
            if open > self.bound {
                frame.waiting.remove(&head);
                self.ends.beyond.push(again);
                return Ok(());
            }
        }
    }

    /// When a location is about to be executed.
    fn condition(&mut self, frame: &Frame, location: LocationId) -> Term {
        let ways = frame.waiting.get(&location).map_or(&[][..], Vec::as_slice);
        ways.iter().fold(Terms::FALSE, |some, (condition, _)| self.either(some, *condition))
    }

    /// One of two conditions: what they share, and one of the rests. So two branches join to what
    /// was before them.
    fn either(&mut self, a: Term, b: Term) -> Term {
        let terms = &mut *self.meaning.terms;
        let parts = |terms: &Terms, term: Term| match terms.kind(term) {
            Kind::And(list) if list.len() > LONG => None,
            Kind::And(list) => Some(list.to_vec()),
            _ => Some(vec![term]),
        };
        let (Some(of_a), Some(of_b)) = (parts(terms, a), parts(terms, b)) else { return terms.or(a, b) };
        let (shared, rest_a): (Vec<Term>, Vec<Term>) = of_a.into_iter().partition(|part| of_b.contains(part));
        let rest_b: Vec<Term> = of_b.into_iter().filter(|part| !shared.contains(part)).collect();
        let (rest_a, rest_b) = (terms.all(&rest_a), terms.all(&rest_b));
        let rest = terms.or(rest_a, rest_b);
        let shared = terms.all(&shared);
        terms.and(shared, rest)
    }

    fn visit(&mut self, frame: &mut Frame, location: LocationId) -> Stopped<()> {
        let condition = self.condition(frame, location);
        let Some(ways) = frame.waiting.remove(&location) else { return Ok(()) };
        self.visits += 1;
        if self.visits % 64 == 0 {
            self.budget.look().map_err(|reason| reason.why().to_owned())?;
        }
        if self.visits > MOST_VISITS || self.meaning.terms.len() > MOST_TERMS {
            return Err("the unrolled program is too large".to_owned());
        }
        let Some(state) = self.merged(ways) else { return Ok(()) };
        if self.targets.contains(&Node { procedure: frame.procedure, location }) {
            self.ends.errors.push(condition);
            return Ok(());
        }
        let edges = self.meaning.program.procedure(frame.procedure).edges_from(location);
        let mut ways: Vec<Way<'a>> = edges
            .map(|(_, edge)| self.way(frame, edge, &state))
            .filter(|way| way.condition != Terms::FALSE)
            .collect();
        self.separate(&mut ways);
        for Way { edge, condition: taken, done } in ways {
            let taken = self.meaning.terms.and(condition, taken);
            if taken == Terms::FALSE {
                continue;
            }
            match (done, &edge.operation) {
                (Done::Step(after), _) => come(frame, edge.to, taken, after),
                (Done::Leave(values), _) => frame.returned.push((taken, state.globals.clone(), values)),
                (Done::Enter(entered), Operation::Call(call)) => {
                    if self.is_too_deep(call.callee, condition) {
                        self.ends.beyond.push(condition);
                    } else if let Some((taken, after)) = self.call(frame, call, entered, taken, &state)? {
                        come(frame, edge.to, taken, after);
                    }
                }
                (Done::Enter(_), _) => {}
            }
        }
        Ok(())
    }

    /// What an edge does, and when it can be taken.
    fn way(&mut self, frame: &Frame, edge: &'a Edge, state: &State) -> Way<'a> {
        let mut values = state.clone();
        let here = &mut Here { procedure: frame.procedure, values: &mut values };
        let mut after = state.clone();
        let condition = match &edge.operation {
            Operation::Assume(condition) => {
                let (holds, possible) = self.meaning.value(here, condition);
                self.meaning.terms.and(possible, holds)
            }
            Operation::Assign(assignment) => {
                let (changes, possible) = self.meaning.assigned(here, assignment);
                after.change(changes);
                possible
            }
            Operation::Havoc(targets) => {
                let (changes, possible) = self.meaning.havocked(here, targets);
                after.change(changes);
                possible
            }
            Operation::Call(call) => {
                let entered = self.meaning.entered(here, call);
                return Way { edge, condition: entered.possible, done: Done::Enter(entered) };
            }
            Operation::Return(results) => {
                let mut possible = Terms::TRUE;
                let mut wanted = Vec::new();
                for (result, ty) in results.iter().zip(&frame.results) {
                    let (value, fits) = self.meaning.value(here, result);
                    possible = self.meaning.terms.and(possible, fits);
                    wanted.push(ty.map_or(Terms::FALSE, |ty| self.meaning.fitted(value, ty)));
                }
                return Way { edge, condition: possible, done: Done::Leave(wanted) };
            }
            Operation::Skip
            | Operation::StartThread(_)
            | Operation::EndThread
            | Operation::AtomicBegin
            | Operation::AtomicEnd
            | Operation::Sync => Terms::TRUE,
        };
        Way { edge, condition, done: Done::Step(after) }
    }

    /// A run takes one way: where two are possible at once, new values decide between them.
    fn separate(&mut self, ways: &mut [Way<'_>]) {
        let terms = &mut *self.meaning.terms;
        let is_apart = ways.iter().enumerate().all(|(i, way)| {
            ways[i + 1..].iter().all(|other| terms.and(way.condition, other.condition) == Terms::FALSE)
        });
        if is_apart {
            return;
        }
        let mut left = Terms::TRUE;
        let last = ways.len() - 1;
        for (i, way) in ways.iter_mut().enumerate() {
            self.ways += 1;
            let this = terms.variable(&format!("proof way {}", self.ways), Sort::Bool);
            let chosen = if i == last { left } else { terms.and(left, this) };
            way.condition = terms.and(way.condition, chosen);
            let not = terms.not(this);
            left = terms.and(left, not);
        }
    }

    /// Executes a call; when and with what values the caller goes on, if it does.
    fn call(
        &mut self,
        frame: &Frame,
        call: &Call,
        entered: Entered,
        taken: Term,
        state: &State,
    ) -> Stopped<Option<(Term, State)>> {
        let program = self.meaning.program;
        let mut caller = state.clone();
        caller.change(entered.changes);
        let inner = State { globals: caller.globals.clone(), locals: Rc::new(entered.locals) };
        let ty = |target: &Option<Target>| {
            target.as_ref().map(|target| program.variable(frame.procedure, target.variable).ty.element())
        };
        let results = call.results.iter().map(ty).collect();
        let returned = self.body(call.callee, taken, inner, results)?.returned;
        let conditions: Vec<Term> = returned.iter().map(|(condition, ..)| *condition).collect();
        let mut goes_on = conditions.into_iter().fold(Terms::FALSE, |some, other| self.either(some, other));
        let mut merged: Option<(Rc<Vec<Term>>, Vec<Term>)> = None;
        for (condition, globals, values) in returned.into_iter().rev() {
            merged = Some(match merged {
                None => (globals, values),
                Some((other, others)) => {
                    let globals = self.choose(condition, globals, other);
                    (globals, Rc::unwrap_or_clone(self.choose(condition, Rc::new(values), Rc::new(others))))
                }
            });
        }
        let Some((globals, values)) = merged else { return Ok(None) };
        caller.globals = globals;
        for (value, target) in values.into_iter().zip(&call.results) {
            let Some(target) = target else { continue };
            // Indices are read when the results before are written.
            let mut before = caller.clone();
            let here = &mut Here { procedure: frame.procedure, values: &mut before };
            let (changes, fits) = self.meaning.written(here, std::slice::from_ref(target), &[value]);
            goes_on = self.meaning.terms.and(goes_on, fits);
            caller.change(changes);
        }
        Ok((goes_on != Terms::FALSE).then_some((goes_on, caller)))
    }

    /// Whether a call would be one open call too many; calls that happen whenever the one around
    /// them did are not counted.
    fn is_too_deep(&self, callee: ProcedureId, condition: Term) -> bool {
        let open = self.calls.iter().rev().filter(|(procedure, _)| *procedure == callee);
        let (mut counted, mut all, mut inner) = (0, 0, condition);
        for (_, entered) in open {
            all += 1;
            counted += usize::from(*entered != inner);
            inner = *entered;
        }
        counted > self.bound || all > MOST_OPEN
    }

    /// The values where one of several ways was taken.
    fn merged(&mut self, ways: Vec<(Term, State)>) -> Option<State> {
        let mut ways = ways.into_iter().rev();
        let (_, mut merged) = ways.next()?;
        for (condition, State { globals, locals }) in ways {
            let globals = self.choose(condition, globals, merged.globals);
            merged = State { globals, locals: self.choose(condition, locals, merged.locals) };
        }
        Some(merged)
    }

    /// These values where a condition holds, and others elsewhere.
    fn choose(&mut self, condition: Term, these: Rc<Vec<Term>>, others: Rc<Vec<Term>>) -> Rc<Vec<Term>> {
        if Rc::ptr_eq(&these, &others) {
            return these;
        }
        let pairs = these.iter().zip(others.iter());
        Rc::new(pairs.map(|(this, other)| self.meaning.terms.ite(condition, *this, *other)).collect())
    }
}

fn come(frame: &mut Frame, to: LocationId, condition: Term, state: State) {
    frame.waiting.entry(to).or_default().push((condition, state));
}
