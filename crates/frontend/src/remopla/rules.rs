//! Raw pushdown rules: extra edges between labels.
//!
//! `q <l> --> q <m> (e)` is an edge from `l` to `m`; `q <l> --> q <f r> (e)` calls `f`, a module or
//! a label, and goes on at `r`; `q <l> --> q <> (e)` returns. In `e`, `x` is the value before the
//! step and `x'` the one after it; at a call, `x'` is a global or a variable of the callee, and
//! `x''` a variable of the caller when it goes on. A variable of which no primed form occurs keeps
//! its value; a primed one has any value that `e` allows.

use std::collections::BTreeMap;

use wherefore_program::{
    Argument, Assignment, Call, Expr, LocationId, LocationKind, Operation, ProcedureId, Type, Var, Variable,
    When,
};

use super::ast::{Name, Reference, Rule};
use super::body::BodyLowering;
use super::declare::{Entity, Part, Scopes, span};
use super::value::{Context, Primes, Selected, Value, cell_value};

impl<'u> BodyLowering<'u, '_, '_> {
    /// Gives the symbols that only rules know a location.
    pub(super) fn place_symbols(&mut self) {
        let unit = self.unit;
        for rule in &unit.rules {
            for symbol in rule.here() {
                if !self.is_own(symbol) && !self.labels.contains_key(&symbol.text) {
                    let location = self.builder.location(span(&symbol.at), LocationKind::Label);
                    self.builder.label(location, &symbol.text);
                    self.labels.insert(symbol.text.clone(), location);
                }
            }
        }
        // A symbol without rules is where the run is stuck.
        if let Some(start) = unit.start.as_ref().filter(|start| !self.labels.contains_key(*start)) {
            let location = self.builder.location(span(&unit.at), LocationKind::Label);
            self.builder.label(location, start);
            self.labels.insert(start.clone(), location);
        }
    }

    /// Whether a symbol is the name of the module itself: its entry.
    fn is_own(&self, symbol: &Name) -> bool {
        self.unit.signature.is_some_and(|signature| signature.name.text == symbol.text)
    }

    pub(super) fn rules(&mut self, first: LocationId) {
        let unit = self.unit;
        for rule in &unit.rules {
            let _ = self.rule(rule, first);
        }
    }

    fn symbol(&mut self, symbol: &Name, first: LocationId) -> Option<LocationId> {
        match self.labels.get(&symbol.text) {
            Some(location) => Some(*location),
            None if self.is_own(symbol) => Some(first),
            None => self.fail(&symbol.at, format!("there is no label `{}` here", symbol.text)),
        }
    }

    fn rule(&mut self, rule: &Rule, first: LocationId) -> Option<()> {
        let from = self.symbol(&rule.from, first)?;
        let here = span(&rule.at);
        match &rule.to[..] {
            [] => {
                let (assignment, _) = self.relation(rule, Frames::Pop)?;
                let results = self.unit.signature.and_then(|signature| signature.result);
                let values = results.iter().map(|(ty, _)| Expr::choice(*ty)).collect();
                let mut at = from;
                if let Some(operation) = step(assignment) {
                    at = self.builder.location(here, LocationKind::Return);
                    self.builder.edge(from, at, operation, here);
                }
                let exit = self.builder.exit();
                self.builder.edge(at, exit, Operation::Return(values), here);
            }
            [to] => {
                let to = self.symbol(to, first)?;
                let (assignment, _) = self.relation(rule, Frames::Same)?;
                self.builder.edge(from, to, step(assignment).unwrap_or(Operation::Skip), here);
            }
            [callee, back, ..] => {
                let back = self.symbol(back, first)?;
                let (id, locals) = self.pushed(callee)?;
                let (assignment, given) = self.relation(rule, Frames::Push(locals))?;
                let parameters = locals.map_or(0, |callee| callee.parameters);
                let argument = |i: u32| match given.get(&i) {
                    None => Argument::Arbitrary,
                    Some(part) => match part.ty {
                        Type::Scalar(ty) => Argument::Value(Expr::next(part.var, ty)),
                        Type::Array { .. } | Type::Memory { .. } => Argument::Copy(part.var, When::Next),
                    },
                };
                let arguments = (0..parameters as u32).map(argument).collect();
                let results = vec![None; self.result_count(callee)];
                let call = Call { callee: id, arguments, results, assignment };
                self.builder.edge(from, back, Operation::Call(call), here);
            }
        }
        Some(())
    }

    fn result_count(&self, callee: &Name) -> usize {
        let module = self.world.signatures.get(&callee.text);
        // A label of this module is pushed: the copy returns what the module returns.
        let signature =
            module.or(if self.labels.contains_key(&callee.text) { self.unit.signature } else { None });
        signature.map_or(0, |signature| usize::from(signature.result.is_some()))
    }

    /// The procedure that a pushed symbol starts, with its names, its variables, and how many of
    /// them are parameters.
    fn pushed(&mut self, symbol: &Name) -> Option<(ProcedureId, Option<Callee<'u>>)> {
        let world = self.world;
        let unit = self.unit;
        if let Some(signature) = world.signatures.get(&symbol.text) {
            let Some(id) = signature.id else {
                let message = format!("`{}` is declared, but there is no such module", symbol.text);
                return self.fail(&symbol.at, message);
            };
            let scopes = &world.scopes[&symbol.text];
            let (variables, parameters) = (&signature.variables[..], signature.parameter_count);
            return Some((id, Some(Callee { scopes, variables, parameters })));
        }
        let own = unit.signature.map(|signature| signature.name.text.clone());
        if let Some(id) = world.copies.get(&(own, symbol.text.clone())) {
            let variables = unit.signature.map_or(&[][..], |signature| &signature.variables[..]);
            return Some((*id, Some(Callee { scopes: unit.scopes, variables, parameters: variables.len() })));
        }
        if world.loose_symbols.contains(&symbol.text) {
            return world.copies.get(&(None, symbol.text.clone())).map(|id| (*id, None));
        }
        self.fail(&symbol.at, format!("there is no module or label `{}`", symbol.text))
    }

    /// The effect of a rule on the variables of this module and the globals, and what the callee's
    /// parameters get.
    fn relation(&mut self, rule: &Rule, frames: Frames<'_>) -> Option<(Assignment, BTreeMap<u32, Part>)> {
        let Some(condition) = &rule.condition else { return Some((Assignment::default(), BTreeMap::new())) };
        let mut primes = RulePrimes {
            frames,
            assigned: BTreeMap::new(),
            given: BTreeMap::new(),
            fresh: Vec::new(),
            first_fresh: self.builder.variable_count(),
        };
        let mut context = self.context();
        let constraint = context.bool(condition, &mut primes)?;
        let mut assignment = Assignment { constraint: Some(constraint), ..Assignment::default() };
        for part in primes.assigned.values() {
            let whole = Selected { part: part.clone(), indices: Vec::new() };
            for cell in whole.cells() {
                assignment.values.push(context.arbitrary(&cell.part));
                assignment.targets.push(cell.target());
            }
        }
        for variable in primes.fresh {
            self.builder.add_variable(variable);
        }
        Some((assignment, primes.given))
    }
}

/// The operation of an assignment; none if it does nothing.
fn step(assignment: Assignment) -> Option<Operation> {
    match assignment {
        Assignment { constraint: None, .. } => None,
        Assignment { targets, constraint: Some(condition), .. } if targets.is_empty() => {
            Some(Operation::Assume(condition))
        }
        assignment => Some(Operation::Assign(assignment)),
    }
}

/// What a rule that pushes a symbol knows about the procedure that starts there.
#[derive(Clone, Copy)]
struct Callee<'a> {
    scopes: &'a Scopes<'a>,
    variables: &'a [Variable],
    parameters: usize,
}

/// What a rule does to the stack.
#[derive(Clone, Copy)]
enum Frames<'a> {
    Same,
    Pop,
    /// The callee has no variables if it is none.
    Push(Option<Callee<'a>>),
}

/// Collects the variables that a rule changes while its condition is lowered.
struct RulePrimes<'a> {
    frames: Frames<'a>,
    assigned: BTreeMap<Var, Part>,
    /// For parameters of the callee, the variable here that holds what they get.
    given: BTreeMap<u32, Part>,
    fresh: Vec<Variable>,
    first_fresh: u32,
}

impl Primes for RulePrimes<'_> {
    fn primed(&mut self, reference: &Reference, context: &mut Context<'_, '_, '_>) -> Option<Value> {
        let name = &reference.name.text;
        let own = context.scopes.inner.get(name);
        let global = context.scopes.outer.and_then(|outer| outer.get(name));
        let entity = match (self.frames, reference.primes) {
            (Frames::Same, 1) => own.or(global).cloned(),
            (Frames::Pop, 1) => global.filter(|_| own.is_none()).cloned(),
            (Frames::Push(callee), 1) => {
                match callee.and_then(|c| c.scopes.inner.get(name).map(|e| (c, e))) {
                    Some((callee, entity)) => Some(self.handed_over(callee, entity, reference, context)?),
                    None => global.cloned(),
                }
            }
            (Frames::Push(_), 2) => own.cloned(),
            _ => return context.error(&reference.at, "two primes are for rules that push two symbols"),
        };
        let Some(entity) = entity else {
            return context.error(&reference.at, format!("`{name}` has no such value after this rule"));
        };
        let mut selected = context.select_in(&entity, reference, self)?;
        let (Some(cell), true) = (selected.pop().filter(Selected::is_cell), selected.is_empty()) else {
            return context.error(&reference.at, format!("`{name}` is not a single value"));
        };
        self.assigned.insert(cell.part.var, cell.part.clone());
        Some(cell_value(&cell, When::Next))
    }
}

impl RulePrimes<'_> {
    /// The variables here that hold what a variable of the callee gets.
    fn handed_over(
        &mut self,
        callee: Callee<'_>,
        entity: &Entity,
        reference: &Reference,
        context: &mut Context<'_, '_, '_>,
    ) -> Option<Entity> {
        let mut part = |part: &Part| {
            let Var::Local(i) = part.var else { return Some(part.clone()) };
            if i as usize >= callee.parameters {
                return context.error(&reference.at, "only parameters of the callee can be given a value");
            }
            let fresh = &mut self.fresh;
            let next = self.first_fresh + fresh.len() as u32;
            let here = self.given.entry(i).or_insert_with(|| {
                let variable = &callee.variables[i as usize];
                let (name, span) = (format!("{}'", variable.name), span(&reference.at));
                fresh.push(Variable { name, shared: false, initial: Some(0), span, ..variable.clone() });
                Part { var: Var::Local(next), ..part.clone() }
            });
            Some(here.clone())
        };
        match entity {
            Entity::Variable(variable) => Some(Entity::Variable(part(variable)?)),
            Entity::Struct { fields, dimensions } => {
                let fields: Option<Vec<_>> =
                    fields.iter().map(|(name, field)| Some((name.clone(), part(field)?))).collect();
                Some(Entity::Struct { fields: fields?, dimensions: *dimensions })
            }
            constant => Some(constant.clone()),
        }
    }
}
