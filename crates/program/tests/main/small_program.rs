//! One small program, made by hand, through every part of the crate.

use wherefore_program::*;

const TEXT: &str = "x := 0;\nx := f(x + 1);\nassert(x != 2);\nend\nif p < 3\nreturn f(p);\nreturn p + 1;\n";

fn line(number: usize) -> Span {
    let start = TEXT.split_inclusive('\n').take(number - 1).map(str::len).sum();
    let length = TEXT.lines().nth(number - 1).expect("a line").len();
    Span::new(FileId(0), start, start + length)
}

fn bits(name: &str) -> Variable {
    let (ty, span) = (Type::bits(2), line(1));
    Variable {
        name: name.to_owned(),
        ty,
        value_names: None,
        signed: false,
        float: false,
        pointer: false,
        shared: false,
        initial: None,
        span,
    }
}

const TWO: Scalar = Scalar::Bits(2);
const X: Var = Var::Global(0);
const P: Var = Var::Local(0);

fn plus_one(variable: Var) -> Expr {
    Expr::binary(BinaryOp::Add, Expr::variable(variable, TWO), Expr::constant(1, TWO))
}

fn assign(variable: Var, value: Expr) -> Operation {
    Operation::Assign(Assignment { targets: vec![variable.into()], values: vec![value], constraint: None })
}

fn call(callee: u32, argument: Expr, target: Var) -> Operation {
    Operation::Call(Call {
        callee: ProcedureId(callee),
        arguments: vec![Argument::Value(argument)],
        results: vec![Some(target.into())],
        assignment: Assignment::default(),
    })
}

/// `main` calls `f`, which may call itself and then returns its parameter plus one.
fn program() -> Program {
    let mut main = ProcedureBuilder::new("main", line(1));
    let zero = main.location(line(1), LocationKind::Statement);
    let calling = main.location(line(2), LocationKind::Call);
    let check = main.location(line(3), LocationKind::Assert);
    let end = main.location(line(4), LocationKind::End);
    main.label(check, "L");
    main.edge(zero, calling, assign(X, Expr::constant(0, TWO)), line(1));
    main.edge(calling, check, call(1, plus_one(X), X), line(2));
    main.assert(check, Expr::binary(BinaryOp::Ne, Expr::variable(X, TWO), Expr::constant(2, TWO)), end);
    main.edge(end, main.exit(), Operation::Return(Vec::new()), line(4));

    let mut f = ProcedureBuilder::new("f", line(5));
    f.variables(1, vec![bits("p")]);
    f.results(vec![TWO]);
    let branch = f.location(line(5), LocationKind::Branch);
    let again = f.location(line(6), LocationKind::Call);
    let back = f.location(line(7), LocationKind::Return);
    let test = Expr::binary(BinaryOp::ULt, Expr::variable(P, TWO), Expr::constant(3, TWO));
    f.edge(branch, again, Operation::Assume(test), line(5));
    f.edge(branch, back, Operation::Skip, line(5));
    f.edge(again, back, call(1, plus_one(P), P), line(6));
    f.edge(back, f.exit(), Operation::Return(vec![plus_one(P)]), line(7));

    Program {
        sources: vec![SourceFile::new("small", TEXT)],
        globals: vec![Variable { shared: true, ..bits("x") }],
        procedures: vec![main.finish(zero), f.finish(branch)],
        entry: ProcedureId(0),
        objects: Objects::default(),
    }
}

fn search(program: &Program) -> Exploration<'_> {
    let targets = program.targets(&TargetChoice::Default).expect("the default always exists");
    explore(program, &targets, ExploreLimits::default())
}

#[test]
fn the_search_finds_values_verdicts_and_the_shortest_trace() {
    let program = program();
    assert_eq!(program.check(), Ok(()));
    let found = search(&program);
    assert_eq!((found.coverage(), found.outcome()), (Coverage::Complete, Outcome::Reached));
    let label = program.labelled("L").next().expect("a label");
    let values: Vec<Vec<u64>> = found.stores(label, &[X], Runs::All).into_iter().collect();
    // Depth one gives 2, and every deeper call adds two, modulo four.
    assert_eq!(values, [[0], [2]]);
    assert_eq!(found.stores(label, &[X], Runs::Failing).into_iter().collect::<Vec<_>>(), [[2]]);
    let trace = found.shortest_trace().expect("it fails");
    // x := 0, the call, the branch, the return, the failing check
    assert_eq!(trace.length(&program), 5);
    assert_eq!(trace.steps.len(), 5);
    assert_eq!(program.replay(&trace), Ok(()));
    assert_eq!(found.lines(Runs::Failing).into_iter().collect::<Vec<_>>(), [1, 2, 3, 5, 6, 7]);
    assert_eq!(found.lines(Runs::All).into_iter().collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7]);
    assert!(found.edges(Runs::Failing).len() < found.edges(Runs::All).len());
    let shown = Interpreter::new(&program).show(&trace.steps[1].state);
    assert_eq!(shown, [("x".to_owned(), "0".to_owned()), ("p".to_owned(), "1".to_owned())]);
    let stores = found.all_stores(Runs::All);
    assert_eq!(stores[&label].len(), 2);
}

#[test]
fn limits_make_the_search_incomplete_and_it_says_so() {
    let program = program();
    let targets = program.targets(&TargetChoice::Default).expect("the default always exists");
    let few = explore(&program, &targets, ExploreLimits { configurations: 5, choices: 100 });
    assert_eq!((few.coverage(), few.outcome()), (Coverage::TooManyConfigurations, Outcome::Unknown));
    let mut wide = program.clone();
    let havoc = Operation::Havoc(vec![X.into()]);
    wide.procedures[0].edges[0].operation = havoc;
    let cut = explore(&wide, &[], ExploreLimits { configurations: 1000, choices: 2 });
    assert_eq!(cut.coverage(), Coverage::TooManyChoices);
}

#[test]
fn a_step_with_too_many_outcomes_is_no_mistake_of_the_trace() {
    let program = program();
    let mut trace = search(&program).shortest_trace().expect("it fails");
    trace.steps[0].state.globals[0] = 3;
    let mut wide = program;
    let any = |value, _| Expr::binary(BinaryOp::BitAnd, value, Expr::choice(TWO));
    let value = (0..24).fold(Expr::constant(3, TWO), any);
    wide.procedures[0].edges[0].operation = assign(X, value);
    assert_eq!(wide.replay(&trace), Err(ProgramError::TooManyOutcomes { step: 1 }));
}

#[test]
fn a_wrong_trace_is_refused_with_the_step_and_the_reason() {
    let program = program();
    let right = search(&program).shortest_trace().expect("it fails");
    let refuse = |change: &dyn Fn(&mut Trace)| {
        let mut wrong = right.clone();
        change(&mut wrong);
        program.replay(&wrong).expect_err("the trace is wrong").to_string()
    };
    assert_eq!(
        refuse(&|trace| trace.steps[0].state.globals[0] = 1),
        "step 1 is impossible: `x` would be [0], not [1]"
    );
    assert_eq!(
        refuse(&|trace| trace.steps[1].state.stack[1].locals[0] = 3),
        "step 2 is impossible: the variables of `f` would be [1], not [3]"
    );
    assert_eq!(
        refuse(&|trace| drop(trace.steps.remove(2))),
        "step 3 is impossible: the edge does not start where the run is"
    );
    assert_eq!(
        refuse(&|trace| trace.start.globals[0] = 9),
        "step 0 is impossible: `x` would be [3], not [9]"
    );
    assert_eq!(
        refuse(&|trace| drop(trace.steps[1].state.stack.pop())),
        "step 2 is impossible: 1 frames instead of 2"
    );
    // The other edge of the check: its condition does not hold.
    let pass = |trace: &mut Trace| trace.steps[4].edge.edge = EdgeId(trace.steps[4].edge.edge.0 - 1);
    assert_eq!(refuse(&pass), "step 5 is impossible: the condition does not hold");
    assert_eq!(
        refuse(&|trace| {
            let last = trace.steps[4].clone();
            trace.steps.push(last);
        }),
        "step 6 is impossible: the edge does not start where the run is"
    );
}

#[test]
fn replay_takes_wide_choices_from_the_trace() {
    let mut program = program();
    program.globals[0].ty = Type::bits(64);
    let wide = Scalar::Bits(64);
    let mut main = ProcedureBuilder::new("main", line(1));
    let first = main.location(line(1), LocationKind::Statement);
    let end = main.location(line(4), LocationKind::End);
    main.edge(first, end, assign(X, Expr::choice(wide)), line(1));
    main.edge(end, main.exit(), Operation::Return(Vec::new()), line(4));
    program.procedures = vec![main.finish(first)];
    let state = |x, location| State {
        memory: Default::default(),
        globals: vec![x],
        stack: vec![Frame { procedure: ProcedureId(0), location, calling: None, locals: Vec::new() }],
    };
    let edge = EdgeRef { procedure: ProcedureId(0), edge: EdgeId(0) };
    let trace = Trace { start: state(7, first), steps: vec![Step { edge, state: state(u64::MAX - 5, end) }] };
    assert_eq!(program.replay(&trace), Ok(()));
}

#[test]
fn static_facts() {
    let program = program();
    let calls = CallGraph::new(&program);
    let (main, f) = (ProcedureId(0), ProcedureId(1));
    assert_eq!(calls.components(), [vec![f], vec![main]]);
    assert!(calls.is_recursive(f) && !calls.is_recursive(main));
    assert_eq!(calls.callees(main).collect::<Vec<_>>(), [f]);
    assert_eq!(calls.callers(f).collect::<Vec<_>>(), [main, f]);
    assert_eq!((calls.reachable(main), calls.reachable(f)), (vec![main, f], vec![f]));
    let effects = ModRef::new(&program);
    assert_eq!(effects.effects(f), &Effects::default());
    assert!(effects.effects(main).reads.contains(&0) && effects.effects(main).writes.contains(&0));
    let procedure = program.procedure(main);
    let (dominators, post) = (procedure.dominators(), procedure.postdominators());
    let [zero, calling, check, end] = [1, 2, 3, 4];
    assert!(dominators.dominates(zero, end) && dominators.immediate(end) == Some(check));
    assert!(post.dominates(end, zero) && post.immediate(zero) == Some(calling));
    let error = procedure.location_ids().find(|at| procedure.location(*at).kind == LocationKind::Error);
    assert_eq!(post.immediate(error.expect("an error").0), None, "nothing leads from an error to the exit");
    assert!(procedure.loops().is_empty());
}

#[test]
fn the_listing_is_readable() {
    assert_eq!(
        program().listing(),
        "\
global x: bits(2)

procedure main()  (entry of the program)
  start at 1
  1  line 1, statement
      x := 0 -> 2
  2  line 2, call
      x := f(x + 1) -> 3
  3  line 3, assert L:
      assume x != 2 -> 4
      assume !(x != 2) -> 5
  4  line 4, end
      return
  5  line 3, error

procedure f(p: bits(2)) -> bits(2)
  start at 1
  1  line 5, branch
      assume p < 3 -> 2
      skip -> 3
  2  line 6, call
      p := f(p + 1) -> 3
  3  line 7, return
      return p + 1
"
    );
}

#[test]
fn the_graph_has_a_cluster_a_procedure() {
    let dot = program().dot();
    assert_eq!(dot.matches("subgraph cluster_").count(), 2);
    assert!(dot.contains("n0_3 [label=\"assert: line 3\\nL:\"];"), "{dot}");
    assert!(dot.contains("n0_3 -> n0_5 [label=\"assume !(x != 2)\"];"), "{dot}");
}

#[test]
fn ill_formed_programs_are_told() {
    let refuse = |change: &dyn Fn(&mut Program)| {
        let mut program = program();
        change(&mut program);
        program.check().expect_err("the program is ill-formed").to_string()
    };
    let edge =
        |program: &mut Program, operation: Operation| program.procedures[0].edges[0].operation = operation;
    for (message, change) in [
        (
            "expected bits(2), found bool",
            &(|p: &mut Program| edge(p, assign(X, Expr::bool(true)))) as &dyn Fn(&mut Program),
        ),
        ("there is no such variable", &|p| edge(p, assign(Var::Global(7), Expr::constant(0, TWO)))),
        ("the next state is read where there is none", &|p| edge(p, assign(X, Expr::next(X, TWO)))),
        ("returns, and only they, go to the exit", &|p| edge(p, Operation::Return(Vec::new()))),
        ("wrong number of results", &|p| {
            edge(
                p,
                Operation::Call(Call {
                    callee: ProcedureId(1),
                    arguments: vec![Argument::Arbitrary],
                    results: Vec::new(),
                    assignment: Assignment::default(),
                }),
            );
        }),
        ("wrong number of arguments", &|p| {
            edge(
                p,
                Operation::Call(Call {
                    callee: ProcedureId(1),
                    arguments: Vec::new(),
                    results: vec![None],
                    assignment: Assignment::default(),
                }),
            );
        }),
        ("two procedures have this name", &|p| p.procedures[1].name = "main".to_owned()),
        ("there is no such procedure", &|p| p.entry = ProcedureId(9)),
        ("an initial value does not fit", &|p| p.globals[0].initial = Some(4)),
        ("a width is not between 1 and 64", &|p| p.globals[0].ty = Type::bits(65)),
        ("edges are not sorted", &|p| p.procedures[0].edges.reverse()),
        ("nothing follows an error, an unsupported place or the exit", &|p| {
            let last = p.procedures[0].edges.len() - 1;
            p.procedures[0].edges[last].from = LocationId(5);
        }),
    ] {
        let found = refuse(change);
        assert!(found.ends_with(message), "{found}, not {message}");
    }
}
