//! Theorem 1 on random programs: slices are run as straight lines, and programs from every state.
//!
//! The theorem as printed says: from a state that can run the slice, the program reaches the end of
//! the path, or cannot reach its own end. That needs a deterministic program, where a run that is
//! stuck or endless is the only one of its state. In general *some* run gets to the end of the
//! path, is stuck, or is endless.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use proptest::prelude::*;
use wherefore_program::*;

use crate::path_slice::run::{Ends, end_of, ends};
use crate::path_slice::straight::Straight;

const BIT: Scalar = Scalar::Bits(1);
const SCALARS: [Var; 2] = [Var::Global(0), Var::Global(1)];
const ARRAY: Var = Var::Global(2);
const MEMORY: Var = Var::Global(3);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Runs {
    /// A state has at most one run.
    Deterministic,
    /// A state may have many.
    Any,
}

struct Random {
    seed: u64,
    runs: Runs,
}

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 33) as usize % bound
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn target(&mut self, locals: u32) -> Target {
        let index = |random: &mut Self| vec![random.index(locals)];
        match self.below(10) {
            0..4 => SCALARS[self.below(2)].into(),
            4..7 if locals > 0 => Var::Local(self.below(locals as usize) as u32).into(),
            4..8 => Target { variable: ARRAY, indices: index(self) },
            _ => Target { variable: MEMORY, indices: index(self) },
        }
    }

    /// A constant, or a variable.
    fn index(&mut self, locals: u32) -> Expr {
        match self.below(3) {
            0 => Expr::variable(SCALARS[self.below(2)], BIT),
            1 if locals > 0 => Expr::variable(Var::Local(self.below(locals as usize) as u32), BIT),
            _ => Expr::constant(self.below(2) as u64, BIT),
        }
    }

    fn read(&mut self, locals: u32) -> Expr {
        let Target { variable, indices } = self.target(locals);
        Expr::read(variable, indices, When::Now, BIT)
    }

    fn value(&mut self, locals: u32) -> Expr {
        match self.below(8) {
            0..3 => Expr::constant(self.below(2) as u64, BIT),
            3 => Expr::binary(BinaryOp::BitXor, self.read(locals), self.read(locals)),
            4 if self.runs == Runs::Any => Expr::choice(BIT),
            _ => self.read(locals),
        }
    }

    fn condition(&mut self, locals: u32) -> Expr {
        Expr::binary(BinaryOp::Eq, self.read(locals), self.value(locals))
    }

    fn assign(&mut self, locals: u32) -> Operation {
        let count = if self.chance(20) { 2 } else { 1 };
        let targets: Vec<Target> = (0..count).map(|_| self.target(locals)).collect();
        let values = (0..count).map(|_| self.value(locals)).collect();
        let constraint = self.chance(10).then(|| {
            let after = Expr::next(SCALARS[self.below(2)], BIT);
            Expr::binary(BinaryOp::Eq, after, self.read(locals))
        });
        Operation::Assign(Assignment { targets, values, constraint })
    }

    fn call(&mut self, own: u32, locals: u32) -> Operation {
        let callee = match own {
            0 => 1 + self.below(2) as u32,
            1 if self.chance(90) => 2,
            _ if self.chance(30) => own,
            _ => return self.assign(locals),
        };
        let (parameters, results) = SHAPES[callee as usize];
        let arguments = (0..parameters).map(|_| Argument::Value(self.value(locals))).collect();
        let results = (0..results).map(|_| self.chance(80).then(|| self.target(locals))).collect();
        Operation::Call(Call {
            callee: ProcedureId(callee),
            arguments,
            results,
            assignment: Assignment::default(),
        })
    }

    fn procedure(&mut self, own: u32) -> Procedure {
        let span = Span::new(FileId(0), 0, 0);
        let (parameters, results) = SHAPES[own as usize];
        let mut body = ProcedureBuilder::new(format!("p{own}"), span);
        let locals = parameters as u32 + 1;
        let initial = (self.runs == Runs::Deterministic || self.chance(70)).then_some(0);
        let local =
            |i: u32| Variable { initial, shared: false, ..variable(&format!("l{i}"), Type::Scalar(BIT)) };
        body.variables(parameters, (0..locals).map(local).collect());
        body.results(vec![BIT; results]);
        let count = 3 + self.below(6);
        let at: Vec<LocationId> = (0..count).map(|_| body.location(span, LocationKind::Statement)).collect();
        let error = body.location(span, LocationKind::Error);
        for (i, here) in at.iter().enumerate() {
            let to = |random: &mut Self| match random.below(20) {
                0 => error,
                1..4 => at[random.below(count)],
                _ => at[(i + 1 + random.below(2)).min(count - 1)],
            };
            let kind = if i + 1 == count { 19 } else { self.below(20) };
            match kind {
                0..7 => {
                    let condition = self.condition(locals);
                    // A choice in both would make two of them.
                    let (yes, no) = (to(self), to(self));
                    body.edge(*here, yes, Operation::Assume(condition.clone()), span);
                    body.edge(*here, no, Operation::Assume(condition.not()), span);
                }
                7 if self.chance(50) => {
                    body.edge(*here, to(self), Operation::Assume(self.condition(locals)), span)
                }
                8 if self.runs == Runs::Any => {
                    let first = if self.chance(50) { Operation::Skip } else { self.assign(locals) };
                    body.edge(*here, to(self), first, span);
                    body.edge(*here, to(self), Operation::Skip, span);
                }
                9 if self.runs == Runs::Any => {
                    body.edge(*here, to(self), Operation::Havoc(vec![self.target(locals)]), span);
                }
                10..14 => body.edge(*here, to(self), self.call(own, locals), span),
                18 | 19 => {
                    let values = (0..results).map(|_| self.value(locals)).collect();
                    body.edge(*here, body.exit(), Operation::Return(values), span);
                }
                _ => body.edge(*here, to(self), self.assign(locals), span),
            }
        }
        body.finish(at[0])
    }

    fn program(&mut self) -> Program {
        // With one cell, the index 1 is out of bounds.
        let length = if self.chance(20) { 1 } else { 2 };
        let dimensions = vec![Dimension { low: 0, length }];
        let globals = vec![
            variable("x", Type::Scalar(BIT)),
            variable("y", Type::Scalar(BIT)),
            variable("a", Type::Array { element: BIT, dimensions }),
            variable("m", Type::Memory { address: 1, element: BIT }),
        ];
        let procedures = (0..3).map(|own| self.procedure(own)).collect();
        let sources = vec![SourceFile::new("random", "")];
        let program =
            Program { sources, globals, procedures, entry: ProcedureId(0), objects: Objects::default() };
        program.check().expect("a well-formed program");
        program
    }

    /// A walk along the edges, whatever the data say.
    fn path(&mut self, program: &Program) -> Vec<EdgeRef> {
        let mut path = Vec::new();
        for _ in 0..1 + self.below(14) {
            let Some(node) = end_of(program, &path) else { break };
            let body = program.procedure(node.procedure);
            let edges: Vec<EdgeId> = body.edges_from(node.location).map(|(id, _)| id).collect();
            if edges.is_empty() {
                break;
            }
            path.push(EdgeRef { procedure: node.procedure, edge: edges[self.below(edges.len())] });
        }
        // The end of the program is no target: being stuck counts as being there.
        if end_of(program, &path).is_none() {
            path.pop();
        }
        path
    }
}

/// Parameters and results of the procedures.
const SHAPES: [(usize, usize); 3] = [(0, 0), (1, 1), (2, 1)];

fn variable(name: &str, ty: Type) -> Variable {
    let span = Span::new(FileId(0), 0, 0);
    Variable {
        name: name.to_owned(),
        ty,
        value_names: None,
        signed: false,
        float: false,
        pointer: false,
        shared: true,
        initial: None,
        span,
    }
}

/// All first states, with all contents of the memory.
fn states(program: &Program) -> Vec<State> {
    let (states, extent) = Interpreter::new(program).initial_states(1000);
    assert_eq!(extent, Extent::All);
    let contents = |bits: u64| BTreeMap::from([((3, 0), bits & 1), ((3, 1), bits >> 1)]);
    states.iter().flat_map(|s| (0..4).map(|bits| State { memory: contents(bits), ..s.clone() })).collect()
}

/// What a batch of programs has shown, so that a test that shows nothing is noticed.
#[derive(Debug, Default)]
struct Tally {
    edges: usize,
    taken: usize,
    /// States that run the slice but not the path.
    wider: usize,
    /// States for which the program gets to the end of the path, and not along it.
    confirmed: usize,
}

fn check(
    program: &Program,
    path: &[EdgeRef],
    stops: Stops,
    excused: impl Fn(Ends) -> bool,
    seed: u64,
    tally: &mut Tally,
) {
    let mut slicer = PathSlicer::with_stops(program, stops);
    let slice = slicer.slice(path).expect("a path");
    let skip = SliceOptions { call_stack: CallStack::Skip, record: Record::Visits };
    let mut limit = 3;
    let skipped = slicer.slice_with(path, skip, &mut |_| ControlFlow::Continue(())).expect("a path");
    let stopped = slicer
        .slice_with(path, SliceOptions::default(), &mut |_| {
            limit -= 1;
            if limit == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .expect("a path");
    assert!(slice.taken.ends_with(&stopped.taken) && stopped.taken.len() == slice.taken.len().min(3));
    let whole = Straight::new(program, path, &(0..path.len()).collect::<Vec<_>>());
    let line = Straight::new(program, path, &slice.taken);
    let loose = Straight::new(program, path, &skipped.taken);
    let target = end_of(program, path);
    tally.edges += path.len();
    tally.taken += slice.taken.len();
    let show = || format!("seed {seed}\n{}\n{}\n{path:?}", program.listing(), slice.show(program, path));
    let states = states(program);
    let running = |line: &Straight| line.running(&states).into_iter().collect::<BTreeSet<_>>();
    let (by_path, by_slice, by_loose) = (running(&whole), running(&line), running(&loose));
    assert!(by_path.is_subset(&by_slice), "not sound\n{}", show());
    assert!(by_path.is_subset(&by_loose), "skipping is not sound\n{}", show());
    let interpreter = Interpreter::new(program);
    let wider: Vec<&&State> = by_slice.difference(&by_path).collect();
    // Exploring is slow: a few states for each path, spread over all.
    for state in wider.iter().step_by(wider.len() / 6 + 1) {
        tally.wider += 1;
        if let Some(ends) = ends(&interpreter, state, target) {
            assert!(ends.target || excused(ends), "not complete from {state:?}, {ends:?}\n{}", show());
            tally.confirmed += usize::from(ends.target);
        }
    }
}

fn batch(runs: Runs, stops: Stops, excused: impl Fn(Ends) -> bool) -> Tally {
    let count: u64 = wherefore_testing::cases(450).into();
    let first = wherefore_testing::seed();
    let mut tally = Tally::default();
    for seed in (0..count).map(|i| first.wrapping_add(i)) {
        let mut random = Random { seed: seed.wrapping_mul(7919).wrapping_add(1), runs };
        let program = random.program();
        for _ in 0..3 {
            let path = random.path(&program);
            check(&program, &path, stops, &excused, seed, &mut tally);
        }
    }
    println!("{tally:?}");
    assert!(tally.taken * 10 < tally.edges * 9, "{tally:?}");
    assert!(tally.wider > 100 && tally.confirmed > 100, "{tally:?}");
    tally
}

#[test]
fn slices_of_deterministic_programs_are_sound_and_complete_as_printed() {
    batch(Runs::Deterministic, Stops::LikeLoops, |ends| !ends.end);
}

#[test]
fn slices_are_sound_and_complete_for_runs_that_end() {
    batch(Runs::Any, Stops::LikeLoops, |ends| ends.stuck || ends.endless);
}

#[test]
fn with_stops_like_exits_only_endless_runs_are_excused() {
    batch(Runs::Any, Stops::LikeExits, |ends| ends.endless);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(wherefore_testing::cases(1000)))]

    /// Any sequence of edges is a path or an error.
    #[test]
    fn arbitrary_edges_do_not_panic(seed in 0_u64..400, edges in proptest::collection::vec((0_u32..5, 0_u32..14), 0..12), valid in 0_usize..20) {
        let mut random = Random { seed, runs: Runs::Any };
        let program = random.program();
        let mut path = random.path(&program);
        path.truncate(valid);
        let kept = path.len();
        path.extend(edges.iter().map(|(p, e)| EdgeRef { procedure: ProcedureId(*p), edge: EdgeId(*e) }));
        let mut slicer = PathSlicer::new(&program);
        let options = SliceOptions { call_stack: CallStack::Skip, record: Record::Visits };
        match slicer.slice_with(&path, options, &mut |_| ControlFlow::Continue(())) {
            Ok(slice) => {
                prop_assert!(slice.taken.is_sorted() && slice.taken.iter().all(|i| *i < path.len()));
                prop_assert!(!slice.show(&program, &path).is_empty());
            }
            Err(ProgramError::Impossible { step, .. }) => prop_assert!(step > kept && step <= path.len()),
            Err(other) => prop_assert!(false, "{other}"),
        }
    }
}
