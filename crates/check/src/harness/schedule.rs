//! A schedule for the compiled program: the list of gates that `schedule.c` follows.
//!
//! A gate is a step of the run that other threads can tell: an access to a cell that several
//! threads touch and one of them writes, a step of a thread function, an input. All other steps
//! commute with those of other threads, so that the order of the gates decides the run.
//! Decision 0028 says why accesses are found by what the compiler adds for a sanitizer.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use wherefore_program::{Interpreter, Operation, Place, Program, ThreadTrace};

use super::{Case, Feeding};

/// What they expect in front of them is made here.
const SCHEDULER: &str = concat!(include_str!("schedule.c"), "\n", include_str!("thread_functions.c"));

/// Left with when the program does not follow the schedule.
pub(super) const DEPARTED: i32 = 73;
/// Printed then, before the reason.
pub(super) const DEPARTS: &str = "wherefore: departs: ";

/// A step that other threads can tell.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Gate {
    thread: u32,
    what: What,
    /// Accesses of one atomic section have the same number; 0 is none.
    group: usize,
    /// The step of the run.
    step: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    Read(Cells),
    Write(Cells),
    /// An object begins, with any value.
    Begin(Cells),
    Call(String),
}

/// Cells of one access: some objects are made of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Cells {
    first: Place,
    count: u64,
}

/// The accesses of a step: neighbouring cells of memory are one.
fn joined(places: impl Iterator<Item = Place>) -> Vec<Cells> {
    let mut found: Vec<Cells> = Vec::new();
    for place in places {
        match (found.last_mut(), place) {
            (
                Some(Cells { first: Place::Memory(memory, start), count }),
                Place::Memory(variable, address),
            ) if *memory == variable && *start + *count == address => {
                *count += 1;
            }
            _ => found.push(Cells { first: place, count: 1 }),
        }
    }
    found
}

/// The file that the models of thread functions are in, and the name under which such a model
/// appears to the program.
const MODELS: &str = "<threads>";

fn called(model: &str) -> &str {
    if model == "__wherefore_join" { "pthread_join" } else { model }
}

/// The scheduler with the gates of a run; or why the run has steps that the compiled program cannot
/// be stopped at.
pub(super) fn text(case: &Case<'_>, feeding: &Feeding<'_>, trace: &ThreadTrace) -> Result<String, String> {
    let gates = gates(case, feeding, trace)?;
    let program = case.program;
    let mut places: BTreeMap<Cells, usize> = BTreeMap::new();
    let mut table = String::new();
    let mut list = String::new();
    for gate in &gates {
        let (kind, place, name) = match &gate.what {
            What::Read(place) => ('R', Some(*place), "0".to_owned()),
            What::Write(place) => ('W', Some(*place), "0".to_owned()),
            What::Begin(place) => ('I', Some(*place), "0".to_owned()),
            What::Call(name) => ('C', None, quoted(name)),
        };
        let next = places.len();
        let number = place.map_or(0, |place| {
            *places.entry(place).or_insert_with(|| {
                let _ = writeln!(table, "  {},", described(program, place));
                next
            })
        });
        let at = quoted(&location(program, trace, gate.step));
        let _ = writeln!(list, "  {{{}, '{kind}', {number}, {}, {name}, {at}}},", gate.thread, gate.group);
    }
    let failing = trace.steps.last().map_or(0, |step| step.thread);
    let end = trace.steps.len().saturating_sub(1);
    let at = quoted(&location(program, trace, end));
    let _ = writeln!(list, "  {{{failing}, 'E', 0, 0, 0, {at}}},");
    Ok(format!(
        "/* What several threads touch: the object, where in it (-1: somewhere), how many bytes, whether it\n   \
         may be on a stack, what it is called. */\n\
         struct place {{ const char *symbol; long offset; unsigned size; int is_local; const char *shown; }};\n\
         static const struct place places[] = {{\n{table}  {{0, 0, 0, 0, 0}}\n}};\n\
         /* The steps of the schedule: the thread, whether it reads (R), writes (W), begins an object (I), calls\n   \
         (C) or fails (E), the place, the atomic section, the function, and where. */\n\
         struct gate {{ int thread; char kind; unsigned place; int group; const char *name, *at; }};\n\
         static const struct gate gates[] = {{\n{list}}};\n\
         enum {{ FAILING = {failing} }};\n\n{SCHEDULER}\n"
    ))
}

/// The gates of a run, in its order.
fn gates(case: &Case<'_>, feeding: &Feeding<'_>, trace: &ThreadTrace) -> Result<Vec<Gate>, String> {
    let program = case.program;
    // The models would call it.
    let is_begin = |procedure: &&wherefore_program::Procedure| procedure.name == "__VERIFIER_atomic_begin";
    if let Some(procedure) = program.procedures.iter().find(is_begin) {
        return Err(format!("the program defines `{}` itself", procedure.name));
    }
    let interpreter = Interpreter::new(program);
    let source = |at: usize| {
        let procedure = program.procedure(trace.steps[at].edge.procedure);
        program.source(procedure.span).name()
    };
    // What sets up objects before `main` is part of the compiled program's image.
    let is_setup = |at: usize| trace.steps[at].edge.procedure == program.entry;
    let effects: Vec<_> = trace
        .steps
        .iter()
        .enumerate()
        .map(|(at, step)| interpreter.effects(trace.before(at), step))
        .collect();
    let mut users: BTreeMap<Place, (BTreeSet<u32>, bool)> = BTreeMap::new();
    for (at, step) in trace.steps.iter().enumerate().filter(|(at, _)| !is_setup(*at)) {
        for place in effects[at].reads().filter(|place| place.is_shared()) {
            users.entry(place).or_default().0.insert(step.thread);
        }
        for place in effects[at].written().filter(|place| place.is_shared()) {
            let user = users.entry(place).or_default();
            user.0.insert(step.thread);
            user.1 = true;
        }
    }
    let is_disputed = |place: &Place| {
        users.get(place).is_some_and(|(threads, is_written)| *is_written && threads.len() > 1)
            && !is_allocator(program, *place)
    };
    let is_own =
        |place: &Place| variable_name(program, *place).is_some_and(|name| name.starts_with("__wherefore"));
    let inputs: BTreeMap<usize, &str> =
        feeding.calls.iter().map(|(at, function)| (*at, function.as_str())).collect();
    let mut gates: Vec<Gate> = Vec::new();
    let mut group = 0;
    let mut in_model = false;
    // The frame in which a model has written last, without an atomic section since.
    let mut written: BTreeMap<u32, usize> = BTreeMap::new();
    for (at, step) in trace.steps.iter().enumerate() {
        let (thread, before) = (step.thread, trace.before(at));
        let depth = before.threads.get(thread as usize).map_or(0, |thread| thread.stack.len());
        let is_model = source(at) == MODELS;
        let name = || called(&program.procedure(step.edge.procedure).name).to_owned();
        let mut push = |what: What, group: usize| gates.push(Gate { thread, what, group, step: at });
        if let Some(function) = inputs.get(&at) {
            push(What::Call((*function).to_owned()), 0);
        }
        if before.atomic.is_none() && step.state.atomic.is_some() {
            group += 1;
            in_model = is_model;
            if is_model {
                push(What::Call(name()), 0);
                written.remove(&thread);
            }
            continue;
        }
        let is_inside = before.atomic.is_some();
        if is_setup(at) || is_inside && in_model {
            continue;
        }
        let operation = &program.edge(step.edge).operation;
        if is_model {
            let writes = effects[at].written().any(|place| place.is_shared() && !is_own(&place));
            if matches!(operation, Operation::Call(_) | Operation::Return(_)) {
                written.remove(&thread);
            } else if writes && written.insert(thread, depth) != Some(depth) {
                push(What::Call(name()), 0);
            }
            continue;
        }
        let group = if is_inside { group } else { 0 };
        let reads = joined(effects[at].reads().filter(is_disputed)).into_iter().map(What::Read);
        let is_begin = matches!(operation, Operation::Havoc(_)) && !inputs.contains_key(&at);
        let write = if is_begin { What::Begin } else { What::Write };
        let writes = joined(effects[at].written().filter(is_disputed)).into_iter().map(write);
        for what in reads.chain(writes) {
            if source(at).starts_with('<') {
                let procedure = &program.procedure(step.edge.procedure).name;
                return Err(format!("`{procedure}` of the C library works on what threads share"));
            }
            push(what, group);
        }
    }
    Ok(gates)
}

/// The variable that a cell belongs to, if it is no memory.
fn variable_name(program: &Program, place: Place) -> Option<&str> {
    let Place::Shared(cell) = place else { return None };
    let mut start = 0;
    for variable in &program.globals {
        let count = variable.ty.cell_count();
        if (start..start + count).contains(&cell) {
            return Some(&variable.name);
        }
        start += count;
    }
    None
}

/// Whether a cell is that of the next free address of the heap or the stack: the compiled program has
/// an allocator of its own.
fn is_allocator(program: &Program, place: Place) -> bool {
    const LEAST: u64 = 1 << 29;
    let Some(name) = variable_name(program, place) else { return false };
    let is_it = |variable: &&wherefore_program::Variable| {
        variable.name == name && variable.initial.is_some_and(|first| first >= LEAST)
    };
    matches!(name.split('@').next(), Some("heap" | "stack")) && program.globals.iter().any(|v| is_it(&v))
}

/// A line of the table of places.
fn described(program: &Program, cells: Cells) -> String {
    let line = |symbol: Option<&str>, offset: i64, width: u32, is_local: bool, shown: &str| {
        let symbol = symbol.map_or("0".to_owned(), quoted);
        let size = u64::from(width.div_ceil(8)) * cells.count;
        format!("{{{symbol}, {offset}, {size}, {}, {}}}", i32::from(is_local), quoted(shown))
    };
    match cells.first {
        Place::Shared(cell) => {
            let mut start = 0;
            for variable in &program.globals {
                let count = variable.ty.cell_count();
                if cell < start + count {
                    let width = variable.ty.element().width();
                    // `t::n` is a variable of a function, `s.q` a part of a structure.
                    let whole = variable.name.rsplit("::").next().unwrap_or(&variable.name);
                    let symbol = whole.split(['.', '[', '@']).next().unwrap_or(whole);
                    let offset = match symbol == whole {
                        true => ((cell - start) as u32 * width.div_ceil(8)).into(),
                        false => -1,
                    };
                    return line(Some(symbol), offset, width, false, &variable.name);
                }
                start += count;
            }
            line(None, 0, 8, false, "a variable")
        }
        Place::Memory(variable, address) => {
            let width = program.globals[variable as usize].ty.element().width();
            let holds = |object: &&wherefore_program::Object| {
                (object.address..object.address + object.size).contains(&address)
            };
            match program.objects.fixed.iter().find(holds) {
                Some(object) => {
                    let shown = program.named_cell(address, width).map(|cell| cell.name);
                    let is_local = object.function.is_some();
                    let offset = (address - object.address) as i64;
                    line(
                        Some(&object.name),
                        offset,
                        width,
                        is_local,
                        shown.as_deref().unwrap_or(&object.name),
                    )
                }
                None => line(None, 0, width, true, &program.show_pointer(address)),
            }
        }
        Place::Own(..) | Place::Local(..) => line(None, 0, 8, true, "a variable"),
    }
}

/// Where a step is in the source: the file and the line.
fn location(program: &Program, trace: &ThreadTrace, step: usize) -> String {
    // A step of a model is where it is called.
    let Some(taken) = trace.steps.get(step) else { return "the start".to_owned() };
    let frames = trace.before(step).threads.get(taken.thread as usize).map(|thread| &thread.stack);
    let own = program.edge(taken.edge).span;
    let calls = frames
        .into_iter()
        .flatten()
        .rev()
        .skip(1)
        .filter_map(|frame| Some(program.procedure(frame.procedure).edge(frame.calling?).span));
    let is_known = |span: &wherefore_program::Span| !program.source(*span).name().starts_with('<');
    let span = std::iter::once(own).chain(calls).find(is_known).unwrap_or(own);
    format!("{}:{}", program.source(span).name(), program.position(span).line)
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            _ => out.push('?'),
        }
    }
    out.push('"');
    out
}
