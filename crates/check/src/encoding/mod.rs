//! Programs as extended weighted pushdown systems over decision diagrams.
//!
//! \[Lal09\] §2.3.1 and §3.5.1: one control state; stack symbols are locations; the weight of a
//! rule relates the stores before and after the step; calls restore the caller's locals by a merge
//! function.
//!
//! Results travel in transfer bits: a return puts them there, and a step of its own at the return
//! site takes them and clears the bits, so that they do not stay around. The same bits bring
//! arguments to the callee if the call assigns variables in the same step.

mod bit_set;
mod bits;
pub(crate) mod concrete;
mod layout;
mod live;

use std::collections::{BTreeMap, BTreeSet};

use wherefore_domains::Entry;
use wherefore_domains::bdd::{BddRelations, LocalVariables, Predicate, ProjectLocals};
use wherefore_program::{
    Argument, Assignment, Call, EdgeId, EdgeRef, ErrorSite, Expr, ExprKind, Node, Operation, ProcedureId,
    Program, Target, Var, When,
};
use wherefore_pushdown::{Automaton, Reading, Rhs, RuleId, Semiring, State, Symbol, System};

pub(crate) use bits::{Reads, Translator};
pub(crate) use layout::Layout;
pub(crate) use live::LiveRules;

/// What a rule stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The start of the program, or a part of a step that another rule shows.
    Part,
    /// A step.
    Edge(EdgeRef),
}

/// A program as a system.
#[derive(Clone)]
pub(crate) struct Encoding {
    pub domain: BddRelations,
    pub system: System<Predicate, ProjectLocals>,
    pub layout: Layout,
    /// What each rule stands for.
    pub origins: Vec<Origin>,
    /// Of each rule: the bits that it changes, and the predicate over bits before and changed bits
    /// after.
    parts: Vec<(Vec<usize>, Predicate)>,
    locals: LocalVariables,
    /// Where runs start: the symbol above which nothing is.
    pub start: Symbol,
    /// Where all targets lead, with the store of zeros: what was the store there does not matter
    /// either.
    pub failed: Symbol,
    /// The first symbol of each procedure; locations follow in order.
    first: Vec<u32>,
    /// The location that a symbol stands for, if it is one of the program's.
    nodes: Vec<Option<Node>>,
}

/// The only control state.
pub(crate) const CONTROL: State = State(0);

impl Encoding {
    /// The system with the weights of all rules.
    pub fn new(program: &Program, targets: &[ErrorSite], layout: Layout, domain: BddRelations) -> Self {
        Self::outline(program, targets, layout, domain).weighed(|_| true)
    }

    /// The system without weights: [`step_of`](Self::step_of) says what rules do. A weight says
    /// besides that all other bits stay as they are, which takes most of the time.
    pub fn outline(program: &Program, targets: &[ErrorSite], layout: Layout, domain: BddRelations) -> Self {
        let mut system = System::new();
        system.state("p");
        let mut first = Vec::new();
        let mut nodes = Vec::new();
        for (id, procedure) in program.procedures() {
            first.push(nodes.len() as u32);
            for location in procedure.location_ids() {
                system.symbol(&format!("{}.{}", procedure.name, location.0));
                nodes.push(Some(Node { procedure: id, location }));
            }
        }
        let start = system.symbol("start");
        let failed = system.symbol("failed");
        nodes.extend([None, None]);
        for (_, procedure) in program.procedures() {
            system.symbol(&format!("{}.enter", procedure.name));
            nodes.push(None);
        }
        let locals = LocalVariables::new(&domain, &layout.local_bits());
        let (origins, parts) = (Vec::new(), Vec::new());
        let mut encoding =
            Self { domain, system, layout, origins, parts, locals, start, failed, first, nodes };
        let initial = encoding.initial(program);
        let entry = encoding
            .symbol(Node { procedure: program.entry, location: program.procedure(program.entry).entry });
        encoding.rule(start, Rhs::Swap(entry), initial, Origin::Part);
        let end = encoding.domain.primed(&encoding.zeros());
        for site in targets {
            let symbol = encoding.symbol(site.node);
            let all = (0..encoding.layout.bits()).collect();
            encoding.rule(symbol, Rhs::Swap(failed), (all, end.clone()), Origin::Part);
        }
        for (id, procedure) in program.procedures() {
            for (edge, _) in procedure.edges() {
                encoding.edge(program, EdgeRef { procedure: id, edge });
            }
        }
        encoding
    }

    /// The symbol of a location.
    pub fn symbol(&self, node: Node) -> Symbol {
        Symbol(self.first[node.procedure.0 as usize] + node.location.0)
    }

    /// The location of a symbol.
    pub fn node(&self, symbol: Symbol) -> Option<Node> {
        self.nodes.get(symbol.index()).copied().flatten()
    }

    /// A symbol for the time before a procedure's first location; no rule of this system has it.
    fn enter(&self, procedure: ProcedureId) -> Symbol {
        Symbol(self.failed.0 + 1 + procedure.0)
    }

    fn procedure_count(&self) -> usize {
        self.first.len()
    }

    fn part(&mut self, name: String) -> Symbol {
        let symbol = self.system.symbol(&name);
        self.nodes.resize(symbol.index() + 1, None);
        symbol
    }

    fn rule(&mut self, from: Symbol, rhs: Rhs, (changed, relation): (Vec<usize>, Predicate), origin: Origin) {
        self.origins.push(origin);
        self.parts.push((changed, relation));
        let none = self.domain.one();
        match rhs {
            Rhs::Push(entry, back) => {
                let merge = ProjectLocals::new(self.locals.clone(), Entry::Bound(none.clone()));
                self.system.add_call(CONTROL, from, CONTROL, (entry, back), none, merge);
            }
            rhs => {
                self.system.add(CONTROL, from, CONTROL, rhs, none);
            }
        }
    }

    /// The same system with the weights of some rules.
    pub fn weighed(self, is_wanted: impl Fn(RuleId) -> bool) -> Self {
        let system = self.system.map(|rule, old| {
            let (changed, relation) = &self.parts[rule.index()];
            let weight = if is_wanted(rule) { self.weight(changed, relation) } else { old.clone() };
            let merge = self.system.merge(rule);
            let merge = merge.map(|_| ProjectLocals::new(self.locals.clone(), Entry::Bound(weight.clone())));
            (weight, merge)
        });
        Self { system, ..self }
    }

    /// Of a rule: the bits that it changes, and the predicate over bits before and changed bits
    /// after.
    pub fn step_of(&self, rule: RuleId) -> (&[usize], &Predicate) {
        let (changed, relation) = &self.parts[rule.index()];
        (changed, relation)
    }

    /// A run without the last step, which is not the program's.
    pub fn to_target<'r>(&self, rules: &'r [RuleId]) -> &'r [RuleId] {
        match rules.split_last() {
            Some((last, rest)) if self.system.rule(*last).rhs == Rhs::Swap(self.failed) => rest,
            _ => rules,
        }
    }

    /// Stacks with one of these symbols on top.
    pub fn tops<W: Clone>(
        &self,
        tops: impl IntoIterator<Item = Symbol>,
        reading: Reading,
        one: &W,
    ) -> Automaton<W> {
        stacks_with(&self.system, tops, reading, one)
    }

    fn weight(&self, changed: &[usize], relation: &Predicate) -> Predicate {
        if changed.is_empty() && *relation == self.domain.constant(true) {
            return self.domain.one();
        }
        self.domain.transition(changed, relation)
    }

    /// The same rules, each only from the stores that `reached` gives for its location.
    ///
    /// Runs from the start of the program are the same; searching backwards, less is found that
    /// nothing leads to.
    pub fn restricted(&self, reached: impl Fn(Symbol) -> Predicate) -> System<Predicate, ProjectLocals> {
        self.system.map(|rule, _| {
            let from = self.system.rule(rule).symbol;
            let (changed, relation) = &self.parts[rule.index()];
            let weight = self.weight(changed, &self.domain.and(relation, &reached(from)));
            let merge = self.system.merge(rule);
            let merge = merge.map(|_| ProjectLocals::new(self.locals.clone(), Entry::Bound(weight.clone())));
            (weight, merge)
        })
    }

    /// From the store of zeros to those with which a program starts.
    ///
    /// What was before the start does not matter. With one store there, the weights of the entry
    /// procedure are sets of stores rather than relations between them.
    fn initial(&self, program: &Program) -> (Vec<usize>, Predicate) {
        let d = &self.domain;
        let entry = program.procedure(program.entry);
        let globals = program.globals.iter().zip((0..).map(Var::Global));
        let locals = entry.variables.iter().zip((0..).map(Var::Local));
        let mut step = Step::new(self, program, program.entry);
        let mut all = d.constant(true);
        for (variable, var) in globals.chain(locals) {
            for cell in 0..variable.ty.cell_count() {
                let bits = self.layout.cell(program, program.entry, var, cell);
                let now: Vec<Predicate> = bits.iter().map(|bit| d.var(*bit)).collect();
                let fits = match variable.initial {
                    Some(value) => step.translator.equal(&now, &constant(d, value, now.len())),
                    None => step.translator.at_most(&now, variable.max()),
                };
                all = d.and(&all, &fits);
            }
        }
        for bit in self.layout.transfer() {
            all = d.and(&all, &d.not(&d.var(bit)));
        }
        step.require(&all);
        let stores = d.exists(&step.relation, &step.translator.taken);
        ((0..self.layout.bits()).collect(), d.and(&self.zeros(), &d.primed(&stores)))
    }

    /// A condition of a procedure as a predicate over current bits.
    pub fn condition(&self, program: &Program, procedure: ProcedureId, condition: &Expr) -> Predicate {
        let mut step = Step::new(self, program, procedure);
        let holds = step.translator.holds(condition);
        self.domain.exists(&holds, &step.translator.taken)
    }

    /// "All bits are 0".
    fn zeros(&self) -> Predicate {
        self.domain.store(&vec![false; self.layout.bits()])
    }

    fn edge(&mut self, program: &Program, at: EdgeRef) {
        let edge = program.edge(at);
        let here = |location| Node { procedure: at.procedure, location };
        let (from, to) = (self.symbol(here(edge.from)), self.symbol(here(edge.to)));
        let origin = Origin::Edge(at);
        let mut step = Step::new(self, program, at.procedure);
        match &edge.operation {
            Operation::Call(call) => return self.call(program, at, call),
            Operation::Return(values) => {
                let mut bits = self.layout.transfer().into_iter();
                for value in values {
                    let value = step.translator.value(value);
                    step.require(&value.valid);
                    for (value, bit) in value.bits.into_iter().zip(bits.by_ref()) {
                        step.set(bit, value);
                    }
                }
                let weight = step.finish();
                self.rule(from, Rhs::Pop, weight, origin);
                return;
            }
            Operation::Assume(condition) => {
                let holds = step.translator.holds(condition);
                step.require(&holds);
            }
            Operation::Assign(assignment) => step.assign(assignment),
            Operation::Havoc(targets) => step.havoc(targets),
            // A program with threads is refused before it comes here.
            Operation::Skip
            | Operation::AtomicBegin
            | Operation::AtomicEnd
            | Operation::StartThread(_)
            | Operation::EndThread
            | Operation::Sync => {}
        }
        let weight = step.finish();
        self.rule(from, Rhs::Swap(to), weight, origin);
    }

    fn call(&mut self, program: &Program, at: EdgeRef, call: &Call) {
        let edge = program.edge(at);
        let here = |location| Node { procedure: at.procedure, location };
        let (mut from, to) = (self.symbol(here(edge.from)), self.symbol(here(edge.to)));
        let callee = program.procedure(call.callee);
        let entry = self.symbol(Node { procedure: call.callee, location: callee.entry });
        let EdgeId(number) = at.edge;
        let caller = &program.procedure(at.procedure).name;
        let mut origin = Origin::Edge(at);
        let assigns = !call.assignment.targets.is_empty() || call.assignment.constraint.is_some();
        if assigns {
            let mut step = Step::new(self, program, at.procedure);
            step.assign(&call.assignment);
            let mut bits = self.layout.transfer().into_iter();
            for value in step.arguments(call) {
                let value = value.unwrap_or_else(|width| step.translator.choice(width, u64::MAX).bits);
                for (value, bit) in value.into_iter().zip(bits.by_ref()) {
                    step.set(bit, value);
                }
            }
            let weight = step.finish();
            let between = self.part(format!("{caller}.{number}.call"));
            self.rule(from, Rhs::Swap(between), weight, origin);
            (from, origin) = (between, Origin::Part);
        }
        // Into the callee: its locals are all new.
        let mut step = Step::new(self, program, at.procedure);
        let mut transfer = self.layout.transfer().into_iter();
        let values: Vec<Result<Vec<Predicate>, usize>> = if assigns {
            let parameters = &callee.variables[..call.arguments.len()];
            let width = |v: &wherefore_program::Variable| v.ty.cell_count() * v.ty.element().width() as usize;
            let d = &self.domain;
            parameters
                .iter()
                .map(|v| Ok(transfer.by_ref().take(width(v)).map(|bit| d.var(bit)).collect()))
                .collect()
        } else {
            step.arguments(call)
        };
        step.enter(program, call, values);
        if assigns {
            for bit in self.layout.transfer() {
                step.set(bit, self.domain.constant(false));
            }
        }
        let weight = step.finish();
        // Back in the caller.
        let has_results = !callee.results.is_empty();
        let back = if has_results { self.part(format!("{caller}.{number}.return")) } else { to };
        if back != to {
            let mut step = Step::new(self, program, at.procedure);
            step.take_results(call, &callee.results);
            let weight = step.finish();
            self.rule(back, Rhs::Swap(to), weight, Origin::Part);
        }
        self.rule(from, Rhs::Push(entry, back), weight, origin);
    }
}

/// Stacks with one of these symbols on top, and return sites only below it.
pub(crate) fn stacks_with<W: Clone, V, M>(
    system: &System<V, M>,
    tops: impl IntoIterator<Item = Symbol>,
    reading: Reading,
    one: &W,
) -> Automaton<W> {
    let mut automaton = Automaton::for_system(system, reading);
    let rest = automaton.add_state();
    automaton.set_final(rest);
    for top in tops {
        automaton.add(CONTROL, top, rest, one.clone());
    }
    let sites: BTreeSet<Symbol> = (system.rules())
        .filter_map(|(_, rule)| match rule.rhs {
            Rhs::Push(_, back) => Some(back),
            _ => None,
        })
        .collect();
    for site in sites {
        automaton.add(rest, site, rest, one.clone());
    }
    automaton
}

/// The number in some bits of a store, the lowest first.
pub(crate) fn number(store: &[bool], bits: &[usize]) -> u64 {
    bits.iter().enumerate().fold(0, |sum, (i, bit)| sum | u64::from(store[*bit]) << i)
}

fn constant(d: &BddRelations, value: u64, width: usize) -> Vec<Predicate> {
    (0..width).map(|bit| d.constant(value >> bit & 1 == 1)).collect()
}

/// The bits of the store, before the step and after it.
struct Stores<'a> {
    domain: &'a BddRelations,
    /// Bits that the step changes.
    changed: BTreeSet<usize>,
    /// Whether "now" means after the step: for what must hold there.
    after: bool,
}

impl Reads for Stores<'_> {
    fn bit(&self, bit: usize, when: When) -> Predicate {
        if (self.after || when == When::Next) && self.changed.contains(&bit) {
            self.domain.next(bit)
        } else {
            self.domain.var(bit)
        }
    }
}

/// A step under construction: a predicate over the store before and the changed bits after.
struct Step<'a> {
    domain: &'a BddRelations,
    layout: &'a Layout,
    program: &'a Program,
    translator: Translator<'a, Stores<'a>>,
    relation: Predicate,
}

impl<'a> Step<'a> {
    fn new(encoding: &'a Encoding, program: &'a Program, procedure: ProcedureId) -> Self {
        let reads = Stores { domain: &encoding.domain, changed: Default::default(), after: false };
        let translator = Translator {
            domain: &encoding.domain,
            program,
            layout: &encoding.layout,
            procedure,
            reads,
            scratch: encoding.layout.scratch().into_iter(),
            taken: Vec::new(),
        };
        let relation = encoding.domain.constant(true);
        Self { domain: &encoding.domain, layout: &encoding.layout, program, translator, relation }
    }

    fn require(&mut self, condition: &Predicate) {
        self.relation = self.domain.and(&self.relation, condition);
    }

    /// The bit becomes `value`; it must not have been set before.
    fn set(&mut self, bit: usize, value: Predicate) {
        let becomes = self.domain.equiv(&self.domain.next(bit), &value);
        self.require(&becomes);
        self.translator.reads.changed.insert(bit);
    }

    /// The bit becomes anything.
    fn free(&mut self, bit: usize) {
        self.translator.reads.changed.insert(bit);
    }

    fn cell(&self, variable: Var, cell: usize) -> Vec<usize> {
        self.layout.cell(self.program, self.translator.procedure, variable, cell)
    }

    /// The number in these bits is at most `max` after the step.
    fn limit(&mut self, bits: &[usize], max: u64) {
        let next: Vec<Predicate> = bits.iter().map(|bit| self.domain.next(*bit)).collect();
        let fits = self.translator.at_most(&next, max);
        self.require(&fits);
    }

    fn assign(&mut self, assignment: &Assignment) {
        let d = self.domain;
        // All values are read before any is written; later targets win.
        let mut new: BTreeMap<usize, Option<Predicate>> = Default::default();
        let mut limits: Vec<(Vec<usize>, u64)> = Vec::new();
        for (target, value) in assignment.targets.iter().zip(&assignment.values) {
            let (named, inside) = self.translator.cells(target.variable, &target.indices);
            self.require(&inside);
            if let (true, ExprKind::Choice { below }) = (target.indices.is_empty(), &value.kind) {
                // A variable that becomes anything needs no choice: it is just not constrained.
                let bits = self.cell(target.variable, 0);
                let max = below.map_or(value.ty.max(), |below| below.saturating_sub(1));
                limits.push((bits.clone(), max));
                bits.into_iter().for_each(|bit| {
                    new.insert(bit, None);
                });
                continue;
            }
            let value = self.translator.value(value);
            self.require(&value.valid);
            for (cell, here) in named.iter().enumerate() {
                for (bit, value) in self.cell(target.variable, cell).into_iter().zip(&value.bits) {
                    let old = new.get(&bit).cloned().flatten().unwrap_or_else(|| d.var(bit));
                    let value = if named.len() == 1 { value.clone() } else { d.ite(here, value, &old) };
                    new.insert(bit, Some(value));
                }
            }
        }
        for (bit, value) in new {
            match value {
                Some(value) => self.set(bit, value),
                None => self.free(bit),
            }
        }
        for (bits, max) in limits {
            self.limit(&bits, max);
        }
        if let Some(constraint) = &assignment.constraint {
            let holds = self.translator.holds(constraint);
            self.require(&holds);
        }
    }

    fn havoc(&mut self, targets: &[Target]) {
        let d = self.domain;
        // For each bit, when it becomes anything.
        let mut when: BTreeMap<usize, Predicate> = BTreeMap::new();
        let mut cells: Vec<(Var, Vec<usize>)> = Vec::new();
        for target in targets {
            let (named, inside) = self.translator.cells(target.variable, &target.indices);
            self.require(&inside);
            for (cell, here) in named.iter().enumerate() {
                let bits = self.cell(target.variable, cell);
                for bit in &bits {
                    let so_far = when.entry(*bit).or_insert_with(|| d.constant(false));
                    *so_far = d.or(so_far, here);
                }
                cells.push((target.variable, bits));
            }
        }
        for (bit, free) in when {
            let same = d.equiv(&d.next(bit), &d.var(bit));
            self.require(&d.or(&free, &same));
            self.free(bit);
        }
        for (variable, bits) in cells {
            let max = self.program.variable(self.translator.procedure, variable).max();
            self.limit(&bits, max);
        }
    }

    /// The bits of each argument; `Err` with their number for an arbitrary one.
    fn arguments(&mut self, call: &Call) -> Vec<Result<Vec<Predicate>, usize>> {
        let callee = self.program.procedure(call.callee);
        let mut values = Vec::new();
        for (argument, parameter) in call.arguments.iter().zip(&callee.variables) {
            let width = parameter.ty.cell_count() * parameter.ty.element().width() as usize;
            values.push(match argument {
                Argument::Arbitrary => Err(width),
                Argument::Value(Expr { kind: ExprKind::Choice { below: None }, .. }) => Err(width),
                Argument::Value(value) => {
                    let value = self.translator.value(value);
                    self.require(&value.valid);
                    Ok(value.bits)
                }
                Argument::Copy(array, when) => {
                    let cells = (0..parameter.ty.cell_count()).flat_map(|cell| self.cell(*array, cell));
                    Ok(cells.map(|bit| self.translator.reads.bit(bit, *when)).collect())
                }
            });
        }
        values
    }

    /// The callee starts: parameters get their values, other variables their initial ones or any.
    fn enter(&mut self, program: &Program, call: &Call, values: Vec<Result<Vec<Predicate>, usize>>) {
        let d = self.domain;
        let callee = program.procedure(call.callee);
        let all: Vec<usize> = self.layout.local_bits();
        let mut set: Vec<(usize, Predicate)> = Vec::new();
        let mut ranges = Vec::new();
        let mut values = values.into_iter();
        for (variable, var) in callee.variables.iter().zip((0..).map(Var::Local)) {
            let cells = 0..variable.ty.cell_count();
            let cell_bits: Vec<Vec<usize>> =
                cells.map(|cell| self.layout.cell(program, call.callee, var, cell)).collect();
            match (values.next(), variable.initial) {
                (Some(Ok(value)), _) => set.extend(cell_bits.into_iter().flatten().zip(value)),
                (None, Some(initial)) => {
                    for bits in cell_bits {
                        set.extend(bits.iter().copied().zip(constant(d, initial, bits.len())));
                    }
                }
                _ => ranges.extend(cell_bits.into_iter().map(|bits| (bits, variable.max()))),
            }
        }
        for bit in all {
            self.free(bit);
        }
        for (bit, value) in set {
            self.set(bit, value);
        }
        for (bits, max) in ranges {
            self.limit(&bits, max);
        }
    }

    /// Results go from the transfer bits to where the call wants them; the bits are cleared.
    fn take_results(&mut self, call: &Call, types: &[wherefore_program::Scalar]) {
        let d = self.domain;
        let mut transfer = self.layout.transfer().into_iter();
        let mut new: BTreeMap<usize, Predicate> = Default::default();
        for (target, ty) in call.results.iter().zip(types) {
            let value: Vec<Predicate> =
                transfer.by_ref().take(ty.width() as usize).map(|bit| d.var(bit)).collect();
            let Some(target) = target else { continue };
            let (named, inside) = self.translator.cells(target.variable, &target.indices);
            self.require(&inside);
            for (cell, here) in named.iter().enumerate() {
                let bits = self.cell(target.variable, cell);
                let padded = value.iter().cloned().chain(std::iter::repeat(d.constant(false)));
                for (bit, value) in bits.into_iter().zip(padded) {
                    let old = new.get(&bit).cloned().unwrap_or_else(|| d.var(bit));
                    let value = if named.len() == 1 { value } else { d.ite(here, &value, &old) };
                    new.insert(bit, value);
                }
            }
        }
        for (bit, value) in new {
            self.set(bit, value);
        }
        for bit in self.layout.transfer() {
            self.set(bit, d.constant(false));
        }
    }

    /// The bits that change, and the relation: choices are quantified, all other bits stay as they
    /// are.
    fn finish(self) -> (Vec<usize>, Predicate) {
        let relation = if self.translator.taken.is_empty() {
            self.relation
        } else {
            self.domain.exists(&self.relation, &self.translator.taken)
        };
        (self.translator.reads.changed.into_iter().collect(), relation)
    }
}
