//! Control-flow automata of case files as programs.
//!
//! Variables have 32 bits and a sign. What a pointer may point to is in a memory of that pointer;
//! every other global is a single value. An undeclared variable is a local one of its procedure and
//! starts as 0. An exit that is reached without a return gets one.

use std::collections::BTreeMap;

use saphyr::YamlOwned;
use wherefore_program::*;

use crate::path_slice::yaml::{entries, get, list, name, names, text};

pub const WORD: Scalar = Scalar::Bits(32);

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Meaning {
    Single(Var),
    /// A cell of a memory.
    Cell(Var, u64),
}

/// A program made of a case file, with the names of its parts.
pub struct Cfa {
    pub program: Program,
    /// The names of the globals, with the values that the case tries for each.
    pub domain: Vec<(String, Vec<u64>)>,
    meanings: BTreeMap<String, Meaning>,
    locations: Vec<Vec<String>>,
}

fn span() -> Span {
    Span::new(FileId(0), 0, 0)
}

pub fn variable(name: &str, ty: Type) -> Variable {
    Variable {
        name: name.to_owned(),
        ty,
        value_names: None,
        signed: false,
        float: false,
        pointer: false,
        shared: true,
        initial: None,
        span: span(),
    }
}

impl Cfa {
    pub fn new(yaml: &YamlOwned) -> Self {
        let values: Vec<u64> = list(yaml, "domain")
            .iter()
            .map(|value| value.as_integer().expect("a number") as u64 & WORD.max())
            .collect();
        let pointers: Vec<(String, Vec<String>)> = entries(yaml, "pointers")
            .into_iter()
            .map(|(pointer, to)| (pointer, names(to.as_sequence().expect("a list"))))
            .collect();
        let (mut globals, mut meanings, mut domain) = (Vec::new(), BTreeMap::new(), Vec::new());
        let mut memories = BTreeMap::new();
        for (pointer, targets) in &pointers {
            let memory = Var::Global(globals.len() as u32);
            globals.push(variable(&format!("*{pointer}"), Type::Memory { address: 32, element: WORD }));
            memories.insert(pointer.clone(), memory);
            for (address, target) in (0..).zip(targets) {
                meanings.insert(target.clone(), Meaning::Cell(memory, address));
            }
            meanings.insert(pointer.clone(), Meaning::Single(Var::Global(globals.len() as u32)));
            globals.push(variable(pointer, Type::Scalar(WORD)));
            domain.push((pointer.clone(), (0..targets.len() as u64).collect()));
        }
        for global in names(list(yaml, "globals")) {
            if !meanings.contains_key(&global) {
                meanings.insert(global.clone(), Meaning::Single(Var::Global(globals.len() as u32)));
                globals.push(variable(&global, Type::Scalar(WORD)));
            }
            domain.push((global, values.clone()));
        }
        let functions = entries(yaml, "functions");
        let ids: BTreeMap<&str, ProcedureId> =
            functions.iter().zip(0..).map(|((name, _), i)| (name.as_str(), ProcedureId(i))).collect();
        let (mut procedures, mut locations) = (Vec::new(), Vec::new());
        for (function, body) in &functions {
            let made =
                Maker { meanings: &meanings, memories: &memories, ids: &ids }.procedure(function, body);
            procedures.push(made.0);
            locations.push(made.1);
        }
        let sources = vec![SourceFile::new("cfa", "")];
        let program =
            Program { sources, globals, procedures, entry: ids["main"], objects: Objects::default() };
        program.check().expect("a well-formed program");
        Self { program, domain, meanings, locations }
    }

    /// The location called `name` in some procedure; names are unique.
    pub fn node(&self, name: &str) -> Node {
        let found = self.locations.iter().enumerate().find_map(|(procedure, names)| {
            // The exit of the automaton is where the return starts, if there is a location for it.
            let at = names.iter().rposition(|other| other == name)?;
            Some(Node { procedure: ProcedureId(procedure as u32), location: LocationId(at as u32) })
        });
        found.unwrap_or_else(|| panic!("no location {name}"))
    }

    pub fn location_name(&self, node: Node) -> &str {
        &self.locations[node.procedure.0 as usize][node.location.0 as usize]
    }

    /// The edges `[function, from, to]`.
    pub fn path(&self, steps: &[YamlOwned]) -> Vec<EdgeRef> {
        steps.iter().map(|step| self.edge(&names(step.as_sequence().expect("a step")))).collect()
    }

    fn edge(&self, step: &[String]) -> EdgeRef {
        let [function, from, to] = step else { panic!("{step:?} is not an edge") };
        let procedure = self.program.find_procedure(function).expect("a procedure");
        let names = &self.locations[procedure.0 as usize];
        let fits = |edge: &Edge| names[edge.from.0 as usize] == *from && names[edge.to.0 as usize] == *to;
        let edges = &self.program.procedure(procedure).edges;
        let found: Vec<usize> = (0..edges.len()).filter(|i| fits(&edges[*i])).collect();
        assert_eq!(found.len(), 1, "{step:?}");
        EdgeRef { procedure, edge: EdgeId(found[0] as u32) }
    }

    /// The name of an lvalue in the case file.
    pub fn lvalue_name(&self, lvalue: &Lvalue) -> String {
        let meant = match (lvalue.owner, lvalue.cell) {
            (Owner::Frame { .. }, _) => return lvalue.show(&self.program),
            (Owner::Program, Some(cell)) => Meaning::Cell(Var::Global(lvalue.variable), cell),
            (Owner::Program, None) => Meaning::Single(Var::Global(lvalue.variable)),
        };
        let found = self.meanings.iter().find(|(_, meaning)| **meaning == meant);
        found.map_or_else(|| lvalue.show(&self.program), |(name, _)| name.clone())
    }

    /// All states at the entry over the domain. Local variables are 0.
    pub fn states(&self) -> Vec<State> {
        let mut all = vec![Vec::new()];
        for (_, values) in &self.domain {
            all = all
                .iter()
                .flat_map(|tuple: &Vec<u64>| values.iter().map(|value| [&tuple[..], &[*value]].concat()))
                .collect();
        }
        all.iter().map(|tuple| self.state(tuple)).collect()
    }

    /// The state at the entry with these values, in the order of the domain.
    pub fn state(&self, tuple: &[u64]) -> State {
        let cells = self.program.globals.iter().map(|global| global.ty.cell_count()).sum();
        let mut state = State { globals: vec![0; cells], memory: BTreeMap::new(), stack: Vec::new() };
        // A memory has no cell among the globals.
        let cell_of = |i: u32| self.program.globals[..i as usize].iter().map(|g| g.ty.cell_count()).sum();
        for ((name, _), value) in self.domain.iter().zip(tuple) {
            match self.meanings[name] {
                Meaning::Single(Var::Global(i)) => {
                    let cell: usize = cell_of(i);
                    state.globals[cell] = *value;
                }
                Meaning::Cell(Var::Global(i), address) => {
                    state.memory.insert((i, address), *value);
                }
                Meaning::Single(Var::Local(_)) | Meaning::Cell(Var::Local(_), _) => unreachable!("globals"),
            }
        }
        let procedure = self.program.entry;
        let body = self.program.procedure(procedure);
        let locals = vec![0; body.cell_count()];
        state.stack.push(Frame { procedure, location: body.entry, calling: None, locals });
        state
    }

    /// The states of the domain that satisfy a formula.
    pub fn satisfying(&self, formula: &str) -> Vec<State> {
        let empty = BTreeMap::new();
        let maker = Maker { meanings: &self.meanings, memories: &empty, ids: &BTreeMap::new() };
        let condition = maker.parse(formula, &mut Vec::new());
        let mut test = ProcedureBuilder::new("test", span());
        let at = test.location(span(), LocationKind::Statement);
        let end = test.location(span(), LocationKind::End);
        test.edge(at, end, Operation::Assume(condition), span());
        let program =
            Program { procedures: vec![test.finish(at)], entry: ProcedureId(0), ..self.program.clone() };
        let interpreter = Interpreter::new(&program);
        let edge = EdgeRef { procedure: ProcedureId(0), edge: EdgeId(0) };
        let holds = |state: &State| {
            let frame = Frame { procedure: ProcedureId(0), location: at, calling: None, locals: Vec::new() };
            let state = State { stack: vec![frame], ..state.clone() };
            !interpreter.step(&state, edge, 10).0.is_empty()
        };
        self.states().into_iter().filter(holds).collect()
    }
}

struct Maker<'a> {
    meanings: &'a BTreeMap<String, Meaning>,
    memories: &'a BTreeMap<String, Var>,
    ids: &'a BTreeMap<&'a str, ProcedureId>,
}

impl Maker<'_> {
    fn procedure(&self, function: &str, body: &YamlOwned) -> (Procedure, Vec<String>) {
        let mut builder = ProcedureBuilder::new(function, span());
        let exit = text(body, "exit").expect("an exit").to_owned();
        let mut names = vec![exit.clone()];
        let mut locals = Vec::new();
        let mut at = |builder: &mut ProcedureBuilder, name: &str| {
            if let Some(i) = names.iter().skip(1).position(|other| other == name) {
                return LocationId(i as u32 + 1);
            }
            names.push(name.to_owned());
            builder.location(span(), LocationKind::Statement)
        };
        let entry = at(&mut builder, &name(get(body, "entry").expect("an entry")));
        let mut end = None;
        for edge in list(body, "edges") {
            let [from, does, to] = &crate::path_slice::yaml::names(edge.as_sequence().expect("an edge"))[..]
            else {
                panic!("an edge has three parts");
            };
            let from = at(&mut builder, from);
            let operation = self.operation(does, &mut locals);
            let to = match operation {
                Operation::Return(_) => builder.exit(),
                _ => at(&mut builder, to),
            };
            builder.edge(from, to, operation, span());
            if does != "return" && names_exit(edge, &exit) {
                end = Some(to);
            }
        }
        if let Some(end) = end {
            builder.edge(end, builder.exit(), Operation::Return(Vec::new()), span());
        }
        builder.variables(
            0,
            locals
                .iter()
                .map(|name| Variable {
                    shared: false,
                    initial: Some(0),
                    ..variable(name, Type::Scalar(WORD))
                })
                .collect(),
        );
        (builder.finish(entry), names)
    }

    fn operation(&self, does: &str, locals: &mut Vec<String>) -> Operation {
        if does == "skip" {
            return Operation::Skip;
        }
        if does == "return" {
            return Operation::Return(Vec::new());
        }
        if let Some(callee) = does.strip_prefix("call ") {
            return Operation::Call(Call {
                callee: self.ids[callee],
                arguments: Vec::new(),
                results: Vec::new(),
                assignment: Assignment::default(),
            });
        }
        if let Some(condition) = does.strip_prefix("assume ") {
            return Operation::Assume(self.parse(condition, locals));
        }
        let (left, right) = does.split_once(":=").unwrap_or_else(|| panic!("what does {does} do?"));
        let value = self.parse(right, locals);
        let target = match left.trim().strip_prefix('*') {
            Some(pointer) => {
                let indices = vec![self.read(pointer, locals)];
                Target { variable: self.memories[pointer], indices }
            }
            None => match self.meaning(left.trim(), locals) {
                Meaning::Single(variable) => variable.into(),
                Meaning::Cell(variable, address) => {
                    Target { variable, indices: vec![Expr::constant(address, WORD)] }
                }
            },
        };
        Operation::Assign(Assignment { targets: vec![target], values: vec![value], constraint: None })
    }

    fn meaning(&self, name: &str, locals: &mut Vec<String>) -> Meaning {
        self.meanings.get(name).copied().unwrap_or_else(|| {
            let at = locals.iter().position(|local| local == name).unwrap_or_else(|| {
                locals.push(name.to_owned());
                locals.len() - 1
            });
            Meaning::Single(Var::Local(at as u32))
        })
    }

    fn read(&self, name: &str, locals: &mut Vec<String>) -> Expr {
        match self.meaning(name, locals) {
            Meaning::Single(variable) => Expr::variable(variable, WORD),
            Meaning::Cell(variable, address) => {
                Expr::read(variable, vec![Expr::constant(address, WORD)], When::Now, WORD)
            }
        }
    }

    fn parse(&self, text: &str, locals: &mut Vec<String>) -> Expr {
        let spaced = text.replace('(', " ( ").replace(')', " ) ");
        let words: Vec<&str> = spaced.split_whitespace().collect();
        let mut parser = Parser { maker: self, words: &words, locals };
        let expr = parser.level(0);
        assert!(parser.words.is_empty(), "{text}: {:?} is left", parser.words);
        expr
    }
}

fn names_exit(edge: &YamlOwned, exit: &str) -> bool {
    crate::path_slice::yaml::names(edge.as_sequence().expect("an edge"))[2] == exit
}

struct Parser<'a> {
    maker: &'a Maker<'a>,
    words: &'a [&'a str],
    locals: &'a mut Vec<String>,
}

impl Parser<'_> {
    /// Levels: 0 `and`, 1 `not`, 2 comparisons, 3 sums, 4 atoms.
    fn level(&mut self, level: u8) -> Expr {
        match level {
            1 if self.words.first() == Some(&"not") => {
                self.words = &self.words[1..];
                self.level(1).not()
            }
            1 => self.level(2),
            4 => self.atom(),
            _ => {
                let mut left = self.level(level + 1);
                while let Some((&word, rest)) = self.words.split_first() {
                    let make: fn(Expr, Expr) -> Expr = match (level, word) {
                        (0, "and") => |a, b| Expr::binary(BinaryOp::And, a, b),
                        (2, "==") => |a, b| Expr::binary(BinaryOp::Eq, a, b),
                        (2, "<=") => |a, b| Expr::binary(BinaryOp::SLe, a, b),
                        (2, "<") => |a, b| Expr::binary(BinaryOp::SLt, a, b),
                        (2, ">=") => |a, b| Expr::binary(BinaryOp::SLe, b, a),
                        (2, ">") => |a, b| Expr::binary(BinaryOp::SLt, b, a),
                        (3, "+") => |a, b| Expr::binary(BinaryOp::Add, a, b),
                        (3, "-") => |a, b| Expr::binary(BinaryOp::Sub, a, b),
                        _ => break,
                    };
                    self.words = rest;
                    left = make(left, self.level(level + 1));
                }
                left
            }
        }
    }

    fn atom(&mut self) -> Expr {
        let (&word, rest) = self.words.split_first().expect("an expression");
        self.words = rest;
        if word == "(" {
            let inner = self.level(0);
            assert_eq!(self.words.first(), Some(&")"));
            self.words = &self.words[1..];
            return inner;
        }
        if word == "nondet" {
            return Expr::choice(WORD);
        }
        if let Some(target) = word.strip_prefix('\'').and_then(|word| word.strip_suffix('\'')) {
            return match self.maker.meanings[target] {
                Meaning::Cell(_, address) => Expr::constant(address, WORD),
                Meaning::Single(_) => panic!("{target} has no address"),
            };
        }
        match word.parse::<i64>() {
            Ok(value) => Expr::constant(value as u64, WORD),
            Err(_) => self.maker.read(word, self.locals),
        }
    }
}
