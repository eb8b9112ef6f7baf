//! Puts variables in the place of accesses of memory and arrays.

use wherefore_program::{
    Assignment, BinaryOp, Expr, ExprKind, Operation, ProcedureId, Program, Target, Type, Var, When,
};

use super::Window;
use super::reach::{Case, Home, Reach, Visitor, expression};
use crate::ranges::Values;

/// The change of operations of a procedure.
pub(super) struct Split<'s> {
    /// The program as it was.
    pub program: &'s Program,
    pub procedure: ProcedureId,
    pub windows: &'s [Window],
}

/// A cell or an element that an access means: always, or under a condition.
struct Place {
    condition: Option<Expr>,
    target: Target,
}

impl Split<'_> {
    /// What an access means; none if it stays as it is. `indices` are as they were.
    fn places(&self, variable: Var, indices: &[Expr], known: &Values) -> Option<Vec<Place>> {
        let home = Home::new(self.procedure, variable);
        // Elements of windows are as they shall be.
        let ty = &match variable {
            Var::Global(i) => self.program.globals.get(i as usize),
            Var::Local(i) => self.program.procedure(self.procedure).variables.get(i as usize),
        }?
        .ty;
        let (first, last, cases) = match Reach::new(ty, indices, known) {
            Reach::Any => return None,
            Reach::Window(first, last) => (first, last, Vec::new()),
            Reach::Few(cases) => {
                let cells = || cases.iter().map(|case| case.cell);
                (cells().min()?, cells().max()?, cases)
            }
        };
        // An element of a window.
        let window = self.window(home, first)?;
        if window.first < window.last && last <= window.last {
            return Some(vec![Place { condition: None, target: element(window, indices)? }]);
        }
        if cases.is_empty() {
            return None;
        }
        let mut places = Vec::new();
        for case in &cases {
            let window = self.window(home, case.cell)?;
            let constant = indices.iter().zip(&case.indices);
            let constant: Vec<Expr> =
                constant.map(|(index, value)| Expr::constant(*value, index.ty)).collect();
            let condition = (cases.len() > 1).then(|| meant(indices, case));
            places.push(Place { condition, target: element(window, &constant)? });
        }
        Some(places)
    }

    /// The window with a variable that has a cell.
    fn window(&self, home: Home, cell: u64) -> Option<&Window> {
        let has = |window: &&Window| window.home == home && window.first <= cell && cell <= window.last;
        self.windows.iter().find(has).filter(|window| window.variable.is_some())
    }

    /// The places of a target; none if it stays as it is. Indices are visited.
    fn target(&mut self, target: &Target, known: &Values) -> Option<Vec<Place>> {
        let mut places = match target.indices.is_empty() {
            true => None,
            false => self.places(target.variable, &target.indices, known),
        };
        for place in places.iter_mut().flatten() {
            if let Some(condition) = &mut place.condition {
                expression(condition, known, self);
            }
            place.target.indices.iter_mut().for_each(|index| expression(index, known, self));
        }
        places
    }

    /// Adds an assignment to one of several places.
    fn put(&self, places: Vec<Place>, value: &Expr, done: &mut Assignment) {
        let mut made = Assignment::default();
        for Place { condition, target } in places {
            let value = match condition {
                None => value.clone(),
                Some(condition) => Expr::if_then_else(condition, value.clone(), so_far(&target, value, done)),
            };
            made.targets.push(target);
            made.values.push(value);
        }
        done.targets.extend(made.targets);
        done.values.extend(made.values);
    }
}

/// The value of a place when the assignments so far are done.
fn so_far(place: &Target, like: &Expr, done: &Assignment) -> Expr {
    let mut value = Expr::read(place.variable, place.indices.clone(), When::Now, like.ty);
    for (target, written) in done.targets.iter().zip(&done.values) {
        if target.variable != place.variable {
            continue;
        }
        let same = target.indices.iter().zip(&place.indices);
        let same = same
            .map(|(a, b)| Expr::binary(BinaryOp::Eq, a.clone(), b.clone()))
            .reduce(|a, b| Expr::binary(BinaryOp::And, a, b));
        value = match same {
            None => written.clone(),
            Some(same) => Expr::if_then_else(same, written.clone(), value),
        };
    }
    value
}

/// The indices of an access mean this cell.
fn meant(indices: &[Expr], case: &Case) -> Expr {
    let equal = indices.iter().zip(&case.indices).map(|(index, value)| {
        let value = Expr::constant(*value, index.ty);
        Expr::binary(BinaryOp::Eq, index.clone(), value)
    });
    equal.reduce(|a, b| Expr::binary(BinaryOp::And, a, b)).unwrap_or_else(|| Expr::bool(true))
}

/// The variable of a window, or the element of it that indices mean.
fn element(window: &Window, indices: &[Expr]) -> Option<Target> {
    let variable = window.variable?;
    if window.first == window.last {
        return Some(Target { variable, indices: Vec::new() });
    }
    // Only memory has windows of several cells, and it has one address.
    let address = indices.first()?;
    let index = match address.as_constant() {
        Some(value) => Expr::constant(value.wrapping_sub(window.first), address.ty),
        None => Expr::binary(BinaryOp::Sub, address.clone(), Expr::constant(window.first, address.ty)),
    };
    Some(Target { variable, indices: vec![index] })
}

impl Visitor for Split<'_> {
    fn read(&mut self, expr: &mut Expr, known: &Values) {
        let ExprKind::Read { variable, indices, when: When::Now } = &expr.kind else { return };
        let Some(places) = self.places(*variable, indices, known) else { return };
        let ty = expr.ty;
        let read = |target: Target| Expr::read(target.variable, target.indices, When::Now, ty);
        let mut result: Option<Expr> = None;
        for Place { condition, target } in places.into_iter().rev() {
            result = Some(match (condition, result) {
                (Some(condition), Some(rest)) => Expr::if_then_else(condition, read(target), rest),
                _ => read(target),
            });
        }
        if let Some(result) = result {
            *expr = result;
        }
    }

    fn assign(&mut self, assignment: &mut Assignment, known: &Values) {
        let mut done = Assignment { constraint: assignment.constraint.take(), ..Assignment::default() };
        let targets = std::mem::take(&mut assignment.targets);
        let values = std::mem::take(&mut assignment.values);
        for (mut target, value) in targets.into_iter().zip(values) {
            match self.target(&target, known) {
                Some(places) => self.put(places, &value, &mut done),
                None => {
                    target.indices.iter_mut().for_each(|index| expression(index, known, self));
                    done.targets.push(target);
                    done.values.push(value);
                }
            }
        }
        *assignment = done;
    }

    fn havoc(&mut self, operation: &mut Operation, known: &Values) {
        let Operation::Havoc(targets) = operation else { return };
        let places: Vec<Option<Vec<Place>>> =
            targets.iter().map(|target| self.target(target, known)).collect();
        let is_certain = |places: &Option<Vec<Place>>| places.as_ref().is_none_or(|list| list.len() == 1);
        if places.iter().all(is_certain) {
            for (target, places) in targets.iter_mut().zip(places) {
                match places.and_then(|places| places.into_iter().next()) {
                    Some(place) => *target = place.target,
                    None => target.indices.iter_mut().for_each(|index| expression(index, known, self)),
                }
            }
            return;
        }
        let mut done = Assignment::default();
        for (target, places) in std::mem::take(targets).into_iter().zip(places) {
            let variable = self.program.variable(self.procedure, target.variable);
            let any = ExprKind::Choice { below: variable.limit() };
            let any = Expr { kind: any, ty: variable.ty.element() };
            match places {
                Some(places) => self.put(places, &any, &mut done),
                None => {
                    let mut target = target;
                    target.indices.iter_mut().for_each(|index| expression(index, known, self));
                    // A whole array stays a target of its own kind.
                    debug_assert!(matches!(variable.ty, Type::Scalar(_)) || !target.indices.is_empty());
                    done.targets.push(target);
                    done.values.push(any);
                }
            }
        }
        *operation = Operation::Assign(done);
    }

    fn result(&mut self, _: &mut Target) {}

    fn whole(&mut self, _: Var) {}
}
