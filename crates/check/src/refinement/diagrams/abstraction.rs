//! The abstract program: existential abstraction, rule by rule.
//!
//! \[Kie05\] §4.1, §5.3. The abstract system has the symbols of the concrete one, and two more for
//! each call: `call`, where the predicates at the pivot and those at the callee's entry have been
//! computed, and `pivot`, where the callee has returned. The predicates of its exit are in global
//! bits there, and an evaluation step leads on.
//!
//! A rule is abstracted anew only when predicates were added at one of its points (§8.3); a rule
//! that lies on no abstract failing run is left out for good, since finer abstractions have fewer
//! runs (\[AEP\] §7.1).

use std::rc::Rc;

use wherefore_domains::Entry;
use wherefore_domains::bdd::{BddRelations, LocalVariables, Predicate, ProjectLocals};
use wherefore_program::ProcedureId;
use wherefore_pushdown::{Rhs, RuleId, Symbol, System};

use super::predicates::{Bit, Point, Predicates, bit};
use crate::encoding::{CONTROL, Encoding};
use crate::refinement::diagrams::interpolants::{Space, Step};

/// What an abstract rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A step within a procedure, or a return.
    Step,
    /// From a call to its `call` symbol.
    Push,
    /// Into the callee.
    Call,
    /// From the `pivot` symbol to where the caller goes on.
    Evaluate,
}

/// The abstract system of one cycle.
pub(crate) struct Abstract {
    /// The abstract bits.
    pub domain: BddRelations,
    pub system: System<Predicate, ProjectLocals>,
    /// Of each abstract rule: the concrete rule, and its part in it.
    pub parts: Vec<(RuleId, Part)>,
}

/// Abstracts rules, and remembers the results.
pub(super) struct Abstraction {
    /// Per concrete rule: the numbers of predicates that the relations were computed with, and the
    /// relations.
    known: Vec<Option<(Vec<usize>, Vec<Predicate>)>>,
    steps: Vec<Rc<Step>>,
    /// How many rules were abstracted so far.
    pub computed: usize,
}

/// The two symbols of the call of a rule.
pub(super) fn call_symbols(encoding: &Encoding, rule: RuleId) -> (Symbol, Symbol) {
    let first = encoding.system.symbol_count() as u32 + 2 * rule.0;
    (Symbol(first), Symbol(first + 1))
}

/// The procedure that a symbol belongs to as its entry or as the place of a return.
pub(super) fn procedure_of(encoding: &Encoding, symbol: Symbol) -> ProcedureId {
    encoding.node(symbol).expect("calls enter, and returns leave, at locations of the program").procedure
}

impl Abstraction {
    pub fn new(encoding: &Encoding, space: &Space) -> Self {
        let count = encoding.system.rule_count() as u32;
        let step = |rule: u32| {
            let (changed, relation) = encoding.step_of(RuleId(rule));
            Rc::new(space.step(changed, relation.clone()))
        };
        let known = vec![None; count as usize];
        Self { known, steps: (0..count).map(step).collect(), computed: 0 }
    }

    /// The concrete step of a rule.
    pub fn step(&self, rule: RuleId) -> &Rc<Step> {
        &self.steps[rule.index()]
    }

    /// The points whose predicates the abstraction of a rule depends on.
    fn points(encoding: &Encoding, rule: RuleId) -> Vec<Point> {
        let concrete = encoding.system.rule(rule);
        let from = Point::At(concrete.symbol);
        match concrete.rhs {
            Rhs::Swap(to) => vec![from, Point::At(to)],
            Rhs::Pop => vec![from, Point::Exit(procedure_of(encoding, concrete.symbol))],
            Rhs::Push(entry, back) => vec![
                from,
                Point::At(entry),
                Point::Pivot(rule),
                Point::Exit(procedure_of(encoding, entry)),
                Point::At(back),
            ],
        }
    }

    /// The abstract relations of a rule, over the bits of its points.
    fn relations(
        &mut self,
        encoding: &Encoding,
        space: &Space,
        bits: &BddRelations,
        predicates: &Predicates,
        rule: RuleId,
    ) -> Vec<Predicate> {
        let counts: Vec<usize> =
            Self::points(encoding, rule).iter().map(|point| predicates.count(*point)).collect();
        if let Some((with, relations)) = &self.known[rule.index()] {
            if *with == counts {
                return relations.clone();
            }
        }
        self.computed += 1;
        let d = space.domain();
        let step = self.steps[rule.index()].clone();
        let concrete = encoding.system.rule(rule);
        let from = predicates.concretisation(space, bits, Point::At(concrete.symbol));
        let before = d.and(&from, step.relation());
        let relations = match concrete.rhs {
            Rhs::Swap(to) => {
                let after =
                    predicates.concretisation_after(space, bits, (Point::At(to), Bit::Local), |formula| {
                        step.read_after(d, formula)
                    });
                vec![d.some_of_both(&before, &after, space.everything())]
            }
            Rhs::Pop => {
                let exit = Point::Exit(procedure_of(encoding, concrete.symbol));
                let after = predicates.concretisation_after(space, bits, (exit, Bit::Global), |formula| {
                    step.read_after(d, formula)
                });
                vec![d.some_of_both(&before, &after, space.everything())]
            }
            Rhs::Push(entry, back) => {
                let entered = predicates.concretisation_after(
                    space,
                    bits,
                    (Point::At(entry), Bit::Argument),
                    |formula| step.read_at_entry(d, formula),
                );
                let pivot = predicates.concretisation_after(
                    space,
                    bits,
                    (Point::Pivot(rule), Bit::Local),
                    |formula| step.read_at_pivot(d, formula),
                );
                let push = d.some_of_both(&before, &d.and(&entered, &pivot), space.everything());
                let pivot = predicates.concretisation(space, bits, Point::Pivot(rule));
                let exit = predicates.concretisation(space, bits, Point::Exit(procedure_of(encoding, entry)));
                let effect = d.and(&pivot, &space.exit_at_pivot(&exit));
                let after = predicates.concretisation_after(
                    space,
                    bits,
                    (Point::At(back), Bit::Local),
                    Predicate::clone,
                );
                vec![push, d.some_of_both(&effect, &after, space.everything())]
            }
        };
        self.known[rule.index()] = Some((counts, relations.clone()));
        relations
    }

    /// The abstract system of the rules that are still of interest.
    pub fn system(
        &mut self,
        encoding: &Encoding,
        space: &Space,
        predicates: &Predicates,
        live: &[bool],
        mut go_on: impl FnMut() -> bool,
    ) -> Option<Abstract> {
        let domain = space.domain().companion(predicates.variables());
        let width = predicates.most();
        let all = |kind: Bit| -> Vec<usize> { (0..width).map(|i| bit(kind, i)).collect() };
        let everything: Vec<usize> = (0..domain.variable_count()).collect();
        let locals = LocalVariables::new(&domain, &all(Bit::Local));
        let mut symbols = encoding.system.symbols().clone();
        for (id, _) in encoding.system.rules() {
            symbols.intern(&format!("call {}", id.0));
            symbols.intern(&format!("pivot {}", id.0));
        }
        let system = System::with_names(encoding.system.states().clone(), symbols);
        let mut made = Abstract { system, parts: Vec::new(), domain: domain.clone() };
        // The bits of a kind that a point does not use are 0.
        let cleared = |relation: &Predicate, kind: Bit, used: usize| {
            (used..width).fold(relation.clone(), |relation, i| {
                domain.and(&relation, &domain.not(&domain.next(bit(kind, i))))
            })
        };
        let nothing = domain.store(&vec![false; domain.variable_count()]);
        for (id, rule) in encoding.system.rules().filter(|(id, _)| live[id.index()]) {
            if !go_on() {
                return None;
            }
            let relations = self.relations(encoding, space, &domain, predicates, id);
            let from = rule.symbol;
            let mut add = |symbol: Symbol, rhs: Rhs, weight: Predicate, part: Part| {
                match rhs {
                    Rhs::Push(entry, back) => {
                        let merge = ProjectLocals::new(locals.clone(), Entry::Bound(weight.clone()));
                        made.system.add_call(CONTROL, symbol, CONTROL, (entry, back), weight, merge);
                    }
                    rhs => {
                        made.system.add(CONTROL, symbol, CONTROL, rhs, weight);
                    }
                }
                made.parts.push((id, part));
            };
            match rule.rhs {
                Rhs::Swap(to) => {
                    let mut relation = cleared(&relations[0], Bit::Local, predicates.count(Point::At(to)));
                    let mut changed = all(Bit::Local);
                    // One store at the start: then the weights of the outermost procedure are sets.
                    if from == encoding.start {
                        relation = domain.and(&relation, &nothing);
                    }
                    if to == encoding.failed {
                        changed = everything.clone();
                        relation = domain.and(&relations[0], &domain.primed(&nothing));
                    }
                    add(from, Rhs::Swap(to), domain.transition(&changed, &relation), Part::Step);
                }
                Rhs::Pop => {
                    let exit = Point::Exit(procedure_of(encoding, from));
                    let relation = cleared(&relations[0], Bit::Global, predicates.count(exit));
                    let relation = cleared(&relation, Bit::Local, 0);
                    let changed = [all(Bit::Local), all(Bit::Global)].concat();
                    add(from, Rhs::Pop, domain.transition(&changed, &relation), Part::Step);
                }
                Rhs::Push(entry, back) => {
                    let (call, pivot) = call_symbols(encoding, id);
                    let relation = cleared(&relations[0], Bit::Local, predicates.count(Point::Pivot(id)));
                    let relation = cleared(&relation, Bit::Argument, predicates.count(Point::At(entry)));
                    let changed = [all(Bit::Local), all(Bit::Argument)].concat();
                    add(from, Rhs::Swap(call), domain.transition(&changed, &relation), Part::Push);
                    let take = |i: usize| (bit(Bit::Local, i), domain.var(bit(Bit::Argument, i)));
                    let clear = |i: usize| (bit(Bit::Argument, i), domain.constant(false));
                    let enter: Vec<(usize, Predicate)> =
                        (0..width).map(take).chain((0..width).map(clear)).collect();
                    add(call, Rhs::Push(entry, pivot), domain.assign(&enter), Part::Call);
                    let relation = cleared(&relations[1], Bit::Local, predicates.count(Point::At(back)));
                    let relation = cleared(&relation, Bit::Global, 0);
                    // The arguments have reached the callee: the caller has them no longer.
                    let relation = cleared(&relation, Bit::Argument, 0);
                    add(pivot, Rhs::Swap(back), domain.transition(&everything, &relation), Part::Evaluate);
                }
            }
        }
        Some(made)
    }
}
