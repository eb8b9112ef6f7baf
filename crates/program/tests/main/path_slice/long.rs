//! Long paths with short slices, as those of \[PathSlice\] §5: many calls of procedures that work
//! on data of their own, then a condition on two other variables.

use wherefore_program::*;

const WORD: Scalar = Scalar::Bits(32);

/// Whether the two variables are tied before the calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tie {
    /// Not: the slice is feasible.
    None,
    /// `if (a > 0) x := 1`, and the path goes round the assignment: the slice is infeasible.
    Guarded,
    /// Every procedure also changes `x`: nearly everything is in the slice.
    Everywhere,
}

/// A program and a path to its error.
pub struct LongPath {
    pub program: Program,
    pub path: Vec<EdgeRef>,
}

fn span() -> Span {
    Span::new(FileId(0), 0, 0)
}

fn word(name: &str) -> Variable {
    Variable {
        name: name.to_owned(),
        ty: Type::Scalar(WORD),
        value_names: None,
        signed: false,
        float: false,
        pointer: false,
        shared: false,
        initial: None,
        span: span(),
    }
}

fn number(value: u64) -> Expr {
    Expr::constant(value, WORD)
}

fn assign(variable: Var, value: Expr) -> Operation {
    Operation::Assign(Assignment { targets: vec![variable.into()], values: vec![value], constraint: None })
}

fn plus(variable: Var, other: Expr) -> Operation {
    assign(variable, Expr::binary(BinaryOp::Add, Expr::variable(variable, WORD), other))
}

/// Names an edge by its ends.
type Ends = (LocationId, LocationId);

fn find(procedures: &[Procedure], procedure: u32, (from, to): Ends) -> EdgeRef {
    let body = &procedures[procedure as usize];
    let found = body.edges_from(from).find(|(_, edge)| edge.to == to);
    EdgeRef { procedure: ProcedureId(procedure), edge: found.expect("an edge").0 }
}

/// A procedure that chooses, counts and adds, and one way through it.
fn worker(number_of_it: u32, tie: Tie) -> (Procedure, Vec<Ends>) {
    let (total, sign, count) =
        (Var::Global(2 + 2 * number_of_it), Var::Global(3 + 2 * number_of_it), Var::Local(0));
    let total = if tie == Tie::Everywhere { Var::Global(1) } else { total };
    let mut body = ProcedureBuilder::new(format!("worker{number_of_it}"), span());
    body.variables(0, vec![word("count")]);
    let [choose, up, down, start, head, add, step, last] =
        std::array::from_fn(|_| body.location(span(), LocationKind::Statement));
    let positive = Expr::binary(BinaryOp::SLt, number(0), Expr::variable(sign, WORD));
    let more =
        Expr::binary(BinaryOp::ULt, Expr::variable(count, WORD), number(3 + u64::from(number_of_it) % 5));
    body.edge(choose, up, Operation::Assume(positive.clone()), span());
    body.edge(choose, down, Operation::Assume(positive.not()), span());
    body.edge(up, start, plus(sign, number(2)), span());
    body.edge(down, start, plus(sign, number(7)), span());
    body.edge(start, head, assign(count, number(0)), span());
    body.edge(head, add, Operation::Assume(more.clone()), span());
    body.edge(head, last, Operation::Assume(more.not()), span());
    body.edge(add, step, plus(total, Expr::variable(count, WORD)), span());
    body.edge(step, head, plus(count, number(1)), span());
    body.edge(last, body.exit(), Operation::Return(Vec::new()), span());
    let exit = body.exit();
    let way = vec![
        (choose, up),
        (up, start),
        (start, head),
        (head, add),
        (add, step),
        (step, head),
        (head, last),
        (last, exit),
    ];
    (body.finish(choose), way)
}

/// A path with this many calls, nine edges each.
pub fn long_path(calls: usize, workers: u32, tie: Tie) -> LongPath {
    let (a, x) = (Var::Global(0), Var::Global(1));
    let mut main = ProcedureBuilder::new("main", span());
    let mut at = main.location(span(), LocationKind::Branch);
    let entry = at;
    let positive = Expr::binary(BinaryOp::SLt, number(0), Expr::variable(a, WORD));
    let mut steps = Vec::new();
    if tie == Tie::Guarded {
        let set = main.location(span(), LocationKind::Statement);
        let next = main.location(span(), LocationKind::Call);
        main.edge(at, set, Operation::Assume(positive.clone()), span());
        main.edge(at, next, Operation::Assume(positive.clone().not()), span());
        main.edge(set, next, assign(x, number(1)), span());
        steps.push(((at, next), None));
        at = next;
    }
    for call in 0..calls {
        // Knuth's multiplier: neighbours call different workers.
        let worker = (call as u32).wrapping_mul(2_654_435_761) % workers;
        let next = main.location(span(), LocationKind::Call);
        let operation = Operation::Call(Call {
            callee: ProcedureId(1 + worker),
            arguments: Vec::new(),
            results: Vec::new(),
            assignment: Assignment::default(),
        });
        main.edge(at, next, operation, span());
        steps.push(((at, next), Some(worker)));
        at = next;
    }
    let [second, error, end] = std::array::from_fn(|_| main.location(span(), LocationKind::Statement));
    let zero = Expr::binary(BinaryOp::Eq, Expr::variable(x, WORD), number(0));
    main.edge(at, second, Operation::Assume(positive.clone()), span());
    main.edge(at, end, Operation::Assume(positive.not()), span());
    main.edge(second, error, Operation::Assume(zero.clone()), span());
    main.edge(second, end, Operation::Assume(zero.not()), span());
    main.edge(error, end, Operation::Skip, span());
    main.edge(end, main.exit(), Operation::Return(Vec::new()), span());
    steps.extend([((at, second), None), ((second, error), None)]);

    let mut procedures = vec![main.finish(entry)];
    let mut globals = vec![word("a"), word("x")];
    let mut ways = Vec::new();
    for i in 0..workers {
        let (body, way) = worker(i, tie);
        procedures.push(body);
        ways.push(way);
        globals.extend([word(&format!("total{i}")), word(&format!("sign{i}"))]);
    }
    let mut path = Vec::new();
    for (ends, worker) in steps {
        path.push(find(&procedures, 0, ends));
        if let Some(worker) = worker {
            path.extend(ways[worker as usize].iter().map(|ends| find(&procedures, 1 + worker, *ends)));
        }
    }
    let sources = vec![SourceFile::new("long", "")];
    LongPath {
        program: Program { sources, globals, procedures, entry: ProcedureId(0), objects: Objects::default() },
        path,
    }
}
