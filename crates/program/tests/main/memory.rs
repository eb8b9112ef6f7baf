//! Memory: a cell for every address.

use wherefore_program::*;

const BYTE: Scalar = Scalar::Bits(8);
const ADDRESS: Scalar = Scalar::Bits(64);

fn variable(name: &str, ty: Type, initial: Option<u64>) -> Variable {
    let span = Span::new(FileId(0), 0, 1);
    Variable {
        name: name.to_owned(),
        ty,
        value_names: None,
        signed: false,
        float: false,
        pointer: false,
        shared: true,
        initial,
        span,
    }
}

/// `x := memory[7]; memory[7], memory[x] := 5, 6; assume memory[0] = 6`, then an error.
fn program(initial: Option<u64>) -> Program {
    let span = Span::new(FileId(0), 0, 1);
    let mut main = ProcedureBuilder::new("main", span);
    let memory = Var::Global(0);
    let x = Var::Global(1);
    let address = |value| Expr::constant(value, ADDRESS);
    let read = |at| Expr::read(memory, vec![at], When::Now, BYTE);
    let locations: Vec<LocationId> = (0..3).map(|_| main.location(span, LocationKind::Statement)).collect();
    let error = main.location(span, LocationKind::Error);
    let assign = |targets, values| Operation::Assign(Assignment { targets, values, constraint: None });
    main.edge(locations[0], locations[1], assign(vec![x.into()], vec![read(address(7))]), span);
    let cell = |index| Target { variable: memory, indices: vec![index] };
    let index = Expr::variable(x, BYTE).zero_extend(64);
    let values = vec![Expr::constant(5, BYTE), Expr::constant(6, BYTE)];
    main.edge(locations[1], locations[2], assign(vec![cell(address(7)), cell(index)], values), span);
    let found = Expr::binary(BinaryOp::Eq, read(address(0)), Expr::constant(6, BYTE));
    main.edge(locations[2], error, Operation::Assume(found), span);
    let main = main.finish(locations[0]);
    let globals = vec![
        variable("memory", Type::Memory { address: 64, element: BYTE }, initial),
        variable("x", Type::Scalar(BYTE), Some(0)),
    ];
    let sources = vec![SourceFile::new("m", "x")];
    Program { sources, globals, procedures: vec![main], entry: ProcedureId(0), objects: Objects::default() }
}

fn explored(program: &Program) -> Exploration<'_> {
    assert_eq!(program.check(), Ok(()));
    let targets = program.targets(&TargetChoice::Default).unwrap();
    explore(program, &targets, ExploreLimits::default())
}

#[test]
fn cells_are_kept_when_they_are_written() {
    let program = program(Some(0));
    let exploration = explored(&program);
    assert_eq!(exploration.coverage(), Coverage::Complete);
    let trace = exploration.shortest_trace().expect("the error is reached");
    let cells: Vec<_> = trace.last().memory.iter().map(|(cell, value)| (*cell, *value)).collect();
    assert_eq!(cells, [((0, 0), 6), ((0, 7), 5)]);
    assert_eq!(program.replay(&trace), Ok(()));
    assert!(
        program.listing().contains("global memory: bits(8)[every bits(64)] = 0"),
        "{}",
        program.listing()
    );
}

#[test]
fn other_initial_values_are_seen_everywhere() {
    let program = program(Some(9));
    assert_eq!(explored(&program).outcome(), Outcome::Unreachable);
}

#[test]
fn arbitrary_memory_is_not_explored_in_full_but_replayed() {
    let program = program(None);
    let exploration = explored(&program);
    assert_ne!(exploration.coverage(), Coverage::Complete);
    let mut trace = exploration.shortest_trace().expect("cells are taken for zero");
    // A run that starts with something in memory that is never looked at.
    for state in std::iter::once(&mut trace.start).chain(trace.steps.iter_mut().map(|step| &mut step.state)) {
        state.memory.insert((0, 100), 3);
    }
    assert_eq!(program.replay(&trace), Ok(()));
}

#[test]
fn memory_is_global_and_addresses_have_their_width() {
    let mut local = program(Some(0));
    local.procedures[0].variables.push(variable("m", Type::Memory { address: 8, element: BYTE }, None));
    assert!(local.check().is_err());
    let mut narrow = program(Some(0));
    narrow.globals[0].ty = Type::Memory { address: 32, element: BYTE };
    assert!(narrow.check().is_err());
    let effects = ModRef::new(&program(Some(0)));
    assert!(effects.effects(ProcedureId(0)).writes.contains(&0));
}
