//! What edges, calls and returns demand of claims.

use rustc_hash::FxHashMap;
use wherefore_check::meaning::{Here, Meaning, type_sort};
use wherefore_program::{Call, Edge, Expr, LocationId, Node, Operation, ProcedureId, Type, Var, Variable};
use wherefore_smt::{Term, Terms};

use super::formulas::{Check, Obligation, Reading, Values, named};
use super::{Claims, Target};

impl Check<'_> {
    /// The state in which the program starts.
    pub fn at_start(&mut self) -> Obligation {
        let procedure = self.program.entry;
        let body = self.program.procedure(procedure);
        let mut meaning = Meaning::new(&mut self.terms, self.program);
        let mut values = Values::now(procedure);
        let mut premises = Vec::new();
        for (i, variable) in self.program.globals.iter().enumerate() {
            let (value, fits) = meaning.initial(variable);
            values.changed.insert(Var::Global(i as u32), value);
            premises.push(fits);
        }
        for (i, variable) in body.variables.iter().enumerate() {
            let (value, fits) = if i < body.parameters {
                let any = Variable { initial: None, ..variable.clone() };
                meaning.initial(&any)
            } else {
                meaning.initial(variable)
            };
            values.changed.insert(Var::Local(i as u32), value);
            premises.push(fits);
        }
        let entry = Values { changed: values.changed.clone(), ..Values::entry(procedure) };
        Obligation { premises, values, entry: Some(entry), results: Vec::new() }
    }

    /// What an edge demands.
    pub fn obligations(
        &mut self,
        claims: &Claims,
        procedure: ProcedureId,
        edge: &Edge,
    ) -> Vec<(Target, Obligation)> {
        let from = Node { procedure, location: edge.from };
        let entry = Node { procedure, location: self.program.procedure(procedure).entry };
        let mut now = Values::now(procedure);
        let mut premises = self.all(&claims.at[&from], &mut now, None);
        premises.extend(self.at_entry(&claims.at[&entry], procedure));
        let to = |location: LocationId| Target::At(Node { procedure, location });
        let mut reading = Reading { values: &now, program: self.program };
        let mut here = Here { procedure, values: &mut reading };
        let mut meaning = Meaning::new(&mut self.terms, self.program);
        let (changes, possible) = match &edge.operation {
            Operation::Assume(condition) => {
                let (holds, fits) = meaning.value(&mut here, condition);
                premises.push(holds);
                (Vec::new(), fits)
            }
            Operation::Assign(assignment) => meaning.assigned(&mut here, assignment),
            Operation::Havoc(targets) => meaning.havocked(&mut here, targets),
            Operation::Return(values) => {
                let mut results = Vec::new();
                for value in values {
                    let (value, fits) = meaning.value(&mut here, value);
                    results.push(value);
                    premises.push(fits);
                }
                let obligation = Obligation { premises, values: now, entry: None, results };
                return vec![(Target::Through(procedure), obligation)];
            }
            Operation::Call(call) => {
                return self.call_obligations(claims, (procedure, edge), call, premises);
            }
            _ => (Vec::new(), Terms::TRUE),
        };
        premises.push(possible);
        let values = Values { changed: changes.into_iter().collect(), ..now };
        vec![(to(edge.to), Obligation { premises, values, entry: None, results: Vec::new() })]
    }

    fn call_obligations(
        &mut self,
        claims: &Claims,
        (procedure, edge): (ProcedureId, &Edge),
        call: &Call,
        mut premises: Vec<Term>,
    ) -> Vec<(Target, Obligation)> {
        let program = self.program;
        let now = Values::now(procedure);
        let mut reading = Reading { values: &now, program };
        let mut here = Here { procedure, values: &mut reading };
        let entered = Meaning::new(&mut self.terms, program).entered(&mut here, call);
        premises.push(entered.possible);
        let caller = Values { changed: entered.changes.into_iter().collect(), ..now };
        // The callee starts: its values now are those at entry.
        let mut first = FxHashMap::default();
        for i in 0..program.globals.len() as u32 {
            first.insert(Var::Global(i), self.value(&caller, Var::Global(i)));
        }
        for (i, value) in entered.locals.iter().enumerate() {
            first.insert(Var::Local(i as u32), *value);
        }
        let start = Node { procedure: call.callee, location: program.procedure(call.callee).entry };
        let entering = Obligation {
            premises: premises.clone(),
            values: Values { changed: first.clone(), ..Values::now(call.callee) },
            entry: Some(Values { changed: first.clone(), ..Values::entry(call.callee) }),
            results: Vec::new(),
        };
        // The callee has returned: what it writes has any values that fit what is claimed of it.
        let writes = &self.effects.effects(call.callee).writes;
        let mut last = first.clone();
        let mut after = caller.changed.clone();
        for i in writes {
            let variable = Var::Global(*i);
            let value = named(&mut self.terms, program, (procedure, "returned"), variable);
            last.insert(variable, value);
            after.insert(variable, value);
        }
        let callee = program.procedure(call.callee);
        let results: Vec<Term> = callee
            .results
            .iter()
            .enumerate()
            .map(|(i, ty)| {
                let sort = type_sort(&Type::Scalar(*ty));
                self.terms.variable(&format!("result {i} of {}", call.callee.0), sort)
            })
            .collect();
        let returned = Obligation {
            premises: Vec::new(),
            values: Values { changed: last, ..Values::now(call.callee) },
            entry: Some(Values { changed: first.clone(), ..Values::entry(call.callee) }),
            results: results.clone(),
        };
        let mut behind = premises;
        let mut then = Values { changed: returned.values.changed.clone(), ..Values::now(call.callee) };
        behind.extend(self.all(&claims.through[&call.callee], &mut then, Some(&returned)));
        // Results go where they belong.
        let state = Values { changed: after.clone(), ..Values::now(procedure) };
        let mut reading = Reading { values: &state, program };
        let mut here = Here { procedure, values: &mut reading };
        let mut meaning = Meaning::new(&mut self.terms, program);
        let (mut targets, mut values) = (Vec::new(), Vec::new());
        for (target, value) in call.results.iter().zip(results) {
            let Some(target) = target else { continue };
            if target.indices.iter().any(Expr::has_choice) {
                let lost = named(meaning.terms, program, (procedure, "lost"), target.variable);
                after.insert(target.variable, lost);
            } else {
                let ty = program.variable(procedure, target.variable).ty.element();
                values.push(meaning.fitted(value, ty));
                targets.push(target.clone());
            }
        }
        let (changes, possible) = meaning.written(&mut here, &targets, &values);
        behind.push(possible);
        after.extend(changes);
        let resuming = Obligation {
            premises: behind,
            values: Values { changed: after, ..Values::now(procedure) },
            entry: None,
            results: Vec::new(),
        };
        let to = Node { procedure, location: edge.to };
        vec![(Target::At(start), entering), (Target::At(to), resuming)]
    }
}
