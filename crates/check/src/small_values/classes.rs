//! Which variables are followed, and which of their values are told apart.
//!
//! Variables that are copied to each other, or compared with each other, form a class. The values
//! of a class are the constants that its variables are set to or compared with, and what the
//! program computes from these, as long as they stay few. Any set of values is sound; a good one
//! makes the conditions of the program decidable.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use wherefore_flow::{Known, Range, Ranges, range_of};
use wherefore_program::{
    Argument, Assignment, Expr, ExprKind, LocationId, Node, Operation, ProcedureId, Program, Scalar, Target,
    Type, Var, Variable, When,
};

/// A class with more values is not followed, or only with the values that stand in the program.
const MOST_VALUES: usize = 48;

/// So many combinations of values are computed to find the results of an expression.
const MOST_RESULTS: usize = 1024;

/// Something that holds a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Slot {
    Global(u32),
    Local(ProcedureId, u32),
    /// A result of a procedure.
    Result(ProcedureId, u32),
}

impl Slot {
    pub(super) fn of(procedure: ProcedureId, variable: Var) -> Self {
        match variable {
            Var::Global(i) => Self::Global(i),
            Var::Local(i) => Self::Local(procedure, i),
        }
    }
}

/// The values of a class that are told apart: each number of `points` from all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Domain {
    pub(super) ty: Scalar,
    /// In ascending order.
    pub(super) points: Vec<u64>,
}

impl Domain {
    /// How many elements it has: the points, and all other numbers as one.
    pub(super) fn size(&self) -> usize {
        match self.ty {
            Scalar::Bool => 2,
            Scalar::Bits(_) => self.points.len() + 1,
        }
    }

    /// The type of the number of an element.
    pub(super) fn index_type(&self) -> Scalar {
        match self.ty {
            Scalar::Bool => Scalar::Bool,
            // Numbers behind the last one stand for the last element, too.
            Scalar::Bits(_) => Scalar::Bits(usize::BITS - (self.size() - 1).leading_zeros()),
        }
    }

    /// The element that a number belongs to.
    pub(super) fn index_of(&self, number: u64) -> usize {
        match self.ty {
            Scalar::Bool => number as usize,
            Scalar::Bits(_) => self.points.binary_search(&number).unwrap_or(self.points.len()),
        }
    }

    /// The number that an element is; none for all others together.
    pub(super) fn number(&self, index: usize) -> Option<u64> {
        match self.ty {
            Scalar::Bool => Some(index as u64),
            Scalar::Bits(_) => self.points.get(index).copied(),
        }
    }
}

/// The variables that are followed.
pub(super) struct Classes {
    numbers: FxHashMap<Slot, usize>,
    domains: Vec<Option<Domain>>,
}

impl Classes {
    pub(super) fn new(program: &Program) -> Self {
        let mut finder = Finder::new(program);
        finder.read_program();
        finder.compute_values();
        finder.finish()
    }

    /// The class of something, if it is followed.
    pub(super) fn class(&self, slot: Slot) -> Option<usize> {
        self.numbers.get(&slot).copied().filter(|class| self.domains[*class].is_some())
    }

    /// The values of something that are told apart, if it is followed.
    pub(super) fn domain(&self, slot: Slot) -> Option<&Domain> {
        self.domains[*self.numbers.get(&slot)?].as_ref()
    }
}

/// A number that is computed and put into a slot.
struct Computed<'p> {
    to: usize,
    procedure: ProcedureId,
    value: &'p Expr,
    /// What it can be there, as far as data flow knows.
    range: Option<Range>,
}

struct Finder<'p> {
    program: &'p Program,
    /// The slots, and their parents in the forest of classes.
    slots: FxHashMap<Slot, usize>,
    parents: Vec<usize>,
    facts: Vec<Found>,
    computed: Vec<Computed<'p>>,
    ranges: Option<Ranges>,
    /// Where the edge that is read starts.
    here: LocationId,
}

/// What is known about a class; kept at the root of its tree.
#[derive(Clone, Default)]
struct Found {
    ty: Option<Scalar>,
    values: BTreeSet<u64>,
    /// Whether a condition depends on it.
    is_tested: bool,
    /// Whether something happens to it that the abstraction does not follow.
    is_left_out: bool,
    /// The values that it can have, as far as data flow knows.
    bounds: Option<Range>,
}

impl<'p> Finder<'p> {
    fn new(program: &'p Program) -> Self {
        let mut finder = Self {
            program,
            slots: FxHashMap::default(),
            parents: Vec::new(),
            facts: Vec::new(),
            computed: Vec::new(),
            ranges: Ranges::new(program),
            here: LocationId(0),
        };
        for (variable, i) in program.globals.iter().zip(0..) {
            finder.declare(Slot::Global(i), variable);
        }
        for (id, procedure) in program.procedures() {
            for (variable, i) in procedure.variables.iter().zip(0..) {
                finder.declare(Slot::Local(id, i), variable);
            }
            for (ty, i) in procedure.results.iter().zip(0..) {
                finder.add(Slot::Result(id, i), Found { ty: Some(*ty), ..Found::default() });
            }
        }
        finder.note_bounds();
        finder
    }

    fn declare(&mut self, slot: Slot, variable: &Variable) {
        if let (Type::Scalar(ty), false) = (&variable.ty, variable.float) {
            let values = variable.initial.into_iter().collect();
            self.add(slot, Found { ty: Some(*ty), values, ..Found::default() });
        }
    }

    fn add(&mut self, slot: Slot, found: Found) {
        self.slots.insert(slot, self.parents.len());
        self.parents.push(self.parents.len());
        self.facts.push(found);
    }

    /// The values that variables can have anywhere.
    fn note_bounds(&mut self) {
        let Some(ranges) = self.ranges.take() else { return };
        for node in self.program.nodes() {
            let Some(known) = ranges.at(node) else { continue };
            let locals = 0..self.program.procedure(node.procedure).variables.len() as u32;
            let globals = 0..self.program.globals.len() as u32;
            for variable in globals.map(Var::Global).chain(locals.map(Var::Local)) {
                let Some(&at) = self.slots.get(&Slot::of(node.procedure, variable)) else { continue };
                let Some(ty) = self.facts[at].ty else { continue };
                let range = known.of(variable).unwrap_or(Range::full(ty));
                let bounds = &mut self.facts[at].bounds;
                *bounds = Some(bounds.map_or(range, |bounds| bounds.join(range)));
            }
        }
        self.ranges = Some(ranges);
    }

    fn root(&mut self, mut at: usize) -> usize {
        while self.parents[at] != at {
            self.parents[at] = self.parents[self.parents[at]];
            at = self.parents[at];
        }
        at
    }

    /// Puts two slots into one class, if their values have one type.
    fn unite(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        if a == b || self.facts[a].ty != self.facts[b].ty {
            return;
        }
        let Found { ty: _, values, is_tested, is_left_out, bounds } = std::mem::take(&mut self.facts[b]);
        self.parents[b] = a;
        let into = &mut self.facts[a];
        into.values.extend(values);
        into.is_tested |= is_tested;
        into.is_left_out |= is_left_out;
        into.bounds = into.bounds.zip(bounds).map(|(a, b)| a.join(b));
    }

    fn read_program(&mut self) {
        for (id, procedure) in self.program.procedures() {
            for edge in &procedure.edges {
                self.here = edge.from;
                match &edge.operation {
                    Operation::Assume(condition) => self.condition(id, condition),
                    Operation::Assign(assignment) => self.assignment(id, assignment),
                    Operation::Call(call) => {
                        self.assignment(id, &call.assignment);
                        for (argument, i) in call.arguments.iter().zip(0..) {
                            if let Argument::Value(value) = argument {
                                self.put(Slot::Local(call.callee, i), id, value);
                            }
                        }
                        for (target, i) in call.results.iter().zip(0..) {
                            self.result(Slot::Result(call.callee, i), id, target.as_ref());
                        }
                    }
                    Operation::Return(values) => {
                        for (value, i) in values.iter().zip(0..) {
                            self.put(Slot::Result(id, i), id, value);
                        }
                    }
                    Operation::Skip
                    | Operation::Havoc(_)
                    | Operation::StartThread(_)
                    | Operation::EndThread
                    | Operation::AtomicBegin
                    | Operation::AtomicEnd
                    | Operation::Sync => {}
                }
            }
        }
    }

    fn assignment(&mut self, procedure: ProcedureId, assignment: &'p Assignment) {
        for (target, value) in assignment.targets.iter().zip(&assignment.values) {
            if target.indices.is_empty() {
                self.put(Slot::of(procedure, target.variable), procedure, value);
            }
        }
        if let Some(constraint) = &assignment.constraint {
            self.condition(procedure, constraint);
        }
    }

    /// What a call gives to a variable. A result that changes its width on the way is not followed.
    fn result(&mut self, result: Slot, procedure: ProcedureId, target: Option<&Target>) {
        let Some(target) = target.filter(|target| target.indices.is_empty()) else { return };
        let Some(&to) = self.slots.get(&Slot::of(procedure, target.variable)) else { return };
        let from = self.slots[&result];
        self.unite(from, to);
        let (from, to) = (self.root(from), self.root(to));
        if from != to {
            self.facts[to].is_left_out = true;
        }
    }

    /// A value that is put into a slot.
    fn put(&mut self, slot: Slot, procedure: ProcedureId, value: &'p Expr) {
        if let Some(&to) = self.slots.get(&slot) {
            self.put_part(to, procedure, value);
        }
    }

    fn put_part(&mut self, to: usize, procedure: ProcedureId, value: &'p Expr) {
        match &value.kind {
            ExprKind::Constant(number) => {
                let to = self.root(to);
                self.facts[to].values.insert(*number);
            }
            ExprKind::Read { variable, indices, .. } if indices.is_empty() => {
                if let Some(&from) = self.slots.get(&Slot::of(procedure, *variable)) {
                    self.unite(from, to);
                }
            }
            ExprKind::IfThenElse(condition, then, otherwise) => {
                self.condition(procedure, condition);
                self.put_part(to, procedure, then);
                self.put_part(to, procedure, otherwise);
            }
            ExprKind::Choice { .. } => {}
            _ => {
                self.conditions_in(procedure, value);
                let node = Node { procedure, location: self.here };
                let known = self.ranges.as_ref().and_then(|ranges| ranges.at(node));
                let range = known.map(|known| range_of(value, known));
                self.computed.push(Computed { to, procedure, value, range });
            }
        }
    }

    /// Conditions inside of a computed value.
    fn conditions_in(&mut self, procedure: ProcedureId, value: &'p Expr) {
        if value.ty == Scalar::Bool {
            return self.condition(procedure, value);
        }
        for child in value.children() {
            self.conditions_in(procedure, child);
        }
    }

    fn condition(&mut self, procedure: ProcedureId, condition: &'p Expr) {
        let mut found: Vec<&'p Expr> = Vec::new();
        condition.walk(&mut |part| found.push(part));
        for part in found {
            match &part.kind {
                ExprKind::Read { variable, indices, .. } if indices.is_empty() => {
                    if let Some(at) = self.slots.get(&Slot::of(procedure, *variable)).copied() {
                        let at = self.root(at);
                        self.facts[at].is_tested = true;
                    }
                }
                ExprKind::Binary(op, left, right) if op.is_test() && !op.is_logical() => {
                    self.comparison(procedure, left, right);
                    self.comparison(procedure, right, left);
                }
                _ => {}
            }
        }
    }

    fn comparison(&mut self, procedure: ProcedureId, left: &Expr, right: &Expr) {
        let Some((variable, _)) = read_of(left) else { return };
        let Some(&at) = self.slots.get(&Slot::of(procedure, variable)) else { return };
        if let Some(number) = right.as_constant() {
            let at = self.root(at);
            if let Some(ty) = self.facts[at].ty.filter(|ty| is_extension_of(number, left, *ty)) {
                self.facts[at].values.insert(number & ty.max());
            }
        } else if let Some((other, _)) = read_of(right) {
            if let Some(&other) = self.slots.get(&Slot::of(procedure, other)) {
                self.unite(at, other);
            }
        }
    }

    /// Adds what is computed from known values, as long as there are few.
    fn compute_values(&mut self) {
        let base: Vec<BTreeSet<u64>> = self.facts.iter().map(|found| found.values.clone()).collect();
        let mut is_wide = vec![false; self.facts.len()];
        let computed = std::mem::take(&mut self.computed);
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for step in &computed {
                let to = self.root(step.to);
                if is_wide[to] {
                    continue;
                }
                let Some(results) = self.results(step) else { continue };
                let bounds = self.facts[to].bounds;
                let values = &mut self.facts[to].values;
                let before = values.len();
                values.extend(results.into_iter().filter(|value| {
                    [bounds, step.range].into_iter().flatten().all(|range| range.contains(*value))
                }));
                has_changed |= values.len() != before;
                if values.len() > MOST_VALUES {
                    is_wide[to] = true;
                    *values = base[to].clone();
                }
            }
        }
    }

    /// What a computed value can be if its variables have known values.
    fn results(&mut self, step: &Computed) -> Option<Vec<u64>> {
        let reads = reads(step.value)?;
        let mut values: Vec<Vec<u64>> = Vec::new();
        for (variable, _) in &reads {
            let at = *self.slots.get(&Slot::of(step.procedure, *variable))?;
            let at = self.root(at);
            values.push(self.facts[at].values.iter().copied().collect());
        }
        let count = values.iter().try_fold(1_usize, |all, values| all.checked_mul(values.len()))?;
        if count > MOST_RESULTS {
            return None;
        }
        let mut results = BTreeSet::new();
        for number in 0..count {
            let mut rest = number;
            let chosen = reads.iter().zip(&values).map(|((variable, ty), values)| {
                let value = values[rest % values.len()];
                rest /= values.len();
                (*variable, Some(Range::constant(value, *ty)))
            });
            let row = Row(chosen.collect());
            results.extend(range_of(step.value, &row).as_constant());
        }
        Some(results.into_iter().collect())
    }

    fn finish(mut self) -> Classes {
        let slots: Vec<(Slot, usize)> = self.slots.iter().map(|(slot, at)| (*slot, *at)).collect();
        let numbers = slots.into_iter().map(|(slot, at)| (slot, self.root(at))).collect();
        let domain = |found: &Found| {
            let ty = found.ty.filter(|_| found.is_tested && !found.is_left_out)?;
            let points: Vec<u64> = found.values.iter().copied().collect();
            let is_followed = ty == Scalar::Bool || (1..=MOST_VALUES).contains(&points.len());
            is_followed.then_some(Domain { ty, points })
        };
        Classes { numbers, domains: self.facts.iter().map(domain).collect() }
    }
}

/// The variable that an expression is, perhaps in a greater width.
pub(super) fn read_of(expr: &Expr) -> Option<(Var, When)> {
    match &expr.kind {
        ExprKind::Read { variable, indices, when } if indices.is_empty() => Some((*variable, *when)),
        ExprKind::ZeroExtend(value) | ExprKind::SignExtend(value) if value.ty.width() <= expr.ty.width() => {
            read_of(value)
        }
        _ => None,
    }
}

/// Whether a number is what an extension makes of one of a type.
pub(super) fn is_extension_of(number: u64, extended: &Expr, ty: Scalar) -> bool {
    let cut = Range::constant(number, ty);
    let row = Row(reads(extended).unwrap_or_default().iter().map(|(read, _)| (*read, Some(cut))).collect());
    range_of(extended, &row).as_constant() == Some(number)
}

/// The variables that an expression reads, with their types; none if it reads an element or the
/// state after the step, or makes a choice.
pub(super) fn reads(expr: &Expr) -> Option<Vec<(Var, Scalar)>> {
    let (mut found, mut is_plain) = (Vec::new(), true);
    expr.walk(&mut |part| match &part.kind {
        ExprKind::Read { variable, indices, when } => {
            is_plain &= indices.is_empty() && *when == When::Now;
            if !found.contains(&(*variable, part.ty)) {
                found.push((*variable, part.ty));
            }
        }
        ExprKind::Choice { .. } => is_plain = false,
        _ => {}
    });
    is_plain.then_some(found)
}

/// What is known about each variable of an expression.
pub(super) struct Row(pub(super) Vec<(Var, Option<Range>)>);

impl Known for Row {
    fn of(&self, variable: Var) -> Option<Range> {
        self.0.iter().find(|(found, _)| *found == variable)?.1
    }
}
