//! Small programs that each show one rule.

use std::ops::ControlFlow;

use wherefore_program::*;

use crate::path_slice::cfa::{WORD, variable};
use crate::path_slice::long::{Tie, long_path};

fn span() -> Span {
    Span::new(FileId(0), 0, 0)
}

fn word(value: u64) -> Expr {
    Expr::constant(value, WORD)
}

fn assign(target: impl Into<Target>, value: Expr) -> Operation {
    Operation::Assign(Assignment { targets: vec![target.into()], values: vec![value], constraint: None })
}

fn is(variable: Var, value: u64) -> Expr {
    Expr::binary(BinaryOp::Eq, Expr::variable(variable, WORD), word(value))
}

/// A procedure whose operations follow each other. A condition has an alternative that leads to the
/// last return.
fn sequence(name: &str, variables: usize, operations: Vec<Operation>) -> Procedure {
    let mut body = ProcedureBuilder::new(name, span());
    let locals = (0..variables).map(|i| variable(&format!("l{i}"), Type::Scalar(WORD)));
    body.variables(variables.min(1), locals.collect());
    let at: Vec<_> = (0..=operations.len()).map(|_| body.location(span(), LocationKind::Statement)).collect();
    for (i, operation) in operations.into_iter().enumerate() {
        if let Operation::Assume(condition) = &operation {
            let no = Operation::Assume(condition.clone().not());
            body.edge(at[i], at[at.len() - 1], no, span());
        }
        body.edge(at[i], at[i + 1], operation, span());
    }
    body.edge(at[at.len() - 1], body.exit(), Operation::Return(Vec::new()), span());
    body.finish(at[0])
}

fn program(globals: Vec<Variable>, procedures: Vec<Procedure>) -> Program {
    let sources = vec![SourceFile::new("small", "")];
    let program =
        Program { sources, globals, procedures, entry: ProcedureId(0), objects: Objects::default() };
    program.check().expect("a well-formed program");
    program
}

/// The edge of each procedure with this operation.
fn edge(program: &Program, procedure: u32, does: &str) -> EdgeRef {
    let id = ProcedureId(procedure);
    let found = program.procedure(id).edges().find(|(_, edge)| program.describe(id, edge) == does);
    EdgeRef { procedure: id, edge: found.unwrap_or_else(|| panic!("no {does}")).0 }
}

fn shown(program: &Program, lvalues: &[Lvalue]) -> Vec<String> {
    lvalues.iter().map(|lvalue| lvalue.show(program)).collect()
}

#[test]
fn a_frame_of_a_recursive_call_has_variables_of_its_own() {
    let l0 = Var::Local(0);
    let call = |argument: Expr| {
        Operation::Call(Call {
            callee: ProcedureId(1),
            arguments: vec![Argument::Value(argument)],
            results: Vec::new(),
            assignment: Assignment::default(),
        })
    };
    let x = Var::Global(0);
    let main = sequence("main", 0, vec![call(Expr::variable(x, WORD))]);
    let f = sequence("f", 1, vec![assign(l0, word(3)), call(word(7)), Operation::Assume(is(l0, 3))]);
    let program = program(vec![variable("x", Type::Scalar(WORD))], vec![main, f]);
    // The inner call goes all the way through, and its parameter is another one.
    let path = [
        edge(&program, 0, "f(x)"),
        edge(&program, 1, "l0 := 3"),
        edge(&program, 1, "f(7)"),
        edge(&program, 1, "l0 := 3"),
        edge(&program, 1, "f(7)"),
        edge(&program, 1, "l0 := 3"),
    ];
    let slice = PathSlicer::new(&program).slice(&path).expect("a path");
    assert_eq!(slice.taken, [0, 2, 4], "{}", slice.show(&program, &path));
    assert!(slice.live.is_empty());
    let text = "3 of 6 edges\n      1  main:1  f(x)\n      3    f:1  f(7)\n      5      f:1  f(7)\n";
    assert_eq!(slice.show(&program, &path), text);
}

#[test]
fn only_the_cells_that_may_be_meant_are_live() {
    let dimensions = vec![Dimension { low: 1, length: 4 }];
    let globals =
        vec![variable("a", Type::Array { element: WORD, dimensions }), variable("i", Type::Scalar(WORD))];
    let (a, i) = (Var::Global(0), Var::Global(1));
    let cell = |index: Expr| Target { variable: a, indices: vec![index] };
    let read = Expr::read(a, vec![word(2)], When::Now, WORD);
    let main = sequence(
        "main",
        0,
        vec![
            assign(cell(word(2)), word(5)),
            assign(cell(Expr::variable(i, WORD)), word(6)),
            assign(cell(word(3)), word(7)),
            Operation::Assume(Expr::binary(BinaryOp::Eq, read, word(5))),
            Operation::Skip,
        ],
    );
    let program = program(globals, vec![main]);
    let path = ["a[2] := 5", "a[i] := 6", "a[3] := 7", "assume a[2] = 5"].map(|does| edge(&program, 0, does));
    let options = SliceOptions { record: Record::Visits, ..SliceOptions::default() };
    let slice = PathSlicer::new(&program)
        .slice_with(&path, options, &mut |_| ControlFlow::Continue(()))
        .expect("a path");
    // The write to a[3] is another cell's; the write to a[i] may be the one, and the index matters.
    assert_eq!(slice.taken, [0, 1, 3]);
    let live: Vec<Vec<String>> = slice.visits.iter().map(|visit| shown(&program, &visit.live)).collect();
    assert_eq!(live, [vec!["a[2]"], vec!["a[2]"], vec!["a[2]", "i"], vec!["i"]]);
}

#[test]
fn an_assumption_without_alternative_is_kept_only_if_stops_count() {
    let (x, y) = (Var::Global(0), Var::Global(1));
    let mut main = ProcedureBuilder::new("main", span());
    let at: Vec<_> = (0..4).map(|_| main.location(span(), LocationKind::Statement)).collect();
    main.edge(at[0], at[1], Operation::Assume(is(x, 1)), span());
    main.edge(at[1], at[2], assign(y, word(0)), span());
    main.edge(at[2], at[3], Operation::Skip, span());
    main.edge(at[3], main.exit(), Operation::Return(Vec::new()), span());
    let globals = vec![variable("x", Type::Scalar(WORD)), variable("y", Type::Scalar(WORD))];
    let program = program(globals, vec![main.finish(at[0])]);
    let path = ["assume x = 1", "y := 0", "skip"].map(|does| edge(&program, 0, does));
    assert_eq!(PathSlicer::new(&program).slice(&path).expect("a path").taken, [0_usize; 0]);
    let mut strict = PathSlicer::with_stops(&program, Stops::LikeExits);
    assert_eq!(strict.slice(&path).expect("a path").taken, [0]);
}

#[test]
fn what_is_no_path_is_refused_with_the_step_and_the_reason() {
    let long = long_path(2, 1, Tie::None);
    let mut slicer = PathSlicer::new(&long.program);
    let mut refuse = |path: &[EdgeRef]| slicer.slice(path).expect_err("no path").to_string();
    let broken = [&long.path[..3], &long.path[4..]].concat();
    assert_eq!(refuse(&broken), "step 4 is impossible: the edge does not start where the run is");
    let unknown = EdgeRef { procedure: ProcedureId(9), edge: EdgeId(0) };
    assert_eq!(refuse(&[unknown]), "step 1 is impossible: there is no such edge");
    let mut ended = long.path.clone();
    ended.extend(["skip", "return", "return"].map(|does| edge(&long.program, 0, does)));
    assert_eq!(refuse(&ended), "step 23 is impossible: the run has ended");
    ended.pop();
    assert_eq!(slicer.slice(&ended).expect("a path").taken, [0_usize; 0]);
    assert_eq!(slicer.slice(&[]).expect("the empty path").taken, [0_usize; 0]);
}

#[test]
fn where_everything_is_tied_nearly_everything_is_in_the_slice() {
    let long = long_path(100, 7, Tie::Everywhere);
    let slice = PathSlicer::new(&long.program).slice(&long.path).expect("a path");
    // Only the branches and what they are about are left out: the sum that they change is not asked
    // for.
    assert_eq!((long.path.len(), slice.taken.len()), (902, 702));
}

#[test]
fn programs_with_threads_are_refused() {
    let mut main = ProcedureBuilder::new("main", span());
    let at = main.location(span(), LocationKind::Statement);
    main.edge(at, at, Operation::Sync, span());
    let program = program(Vec::new(), vec![main.finish(at)]);
    let error = PathSlicer::new(&program).slice(&[]).expect_err("threads");
    assert_eq!(error.to_string(), "step 0 is impossible: threads are not sliced");
}
