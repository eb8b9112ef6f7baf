//! A failing run with values, from a path through a flat program and a model.

use std::collections::BTreeMap;

use wherefore_program::{EdgeRef, Frame, State, Step, Trace, Type, Variable};
use wherefore_smt::{Model, Term, Terms, Value};

use super::flat::{Flat, PlaceId};
use super::store::Store;

/// The run along some edges; `stores` are those before the first edge and after each.
pub(crate) fn trace(flat: &Flat<'_>, terms: &Terms, model: &Model, path: &[u32], stores: &[&Store]) -> Trace {
    let program = flat.program;
    // All values at once: what terms share is evaluated once.
    let mut wanted: Vec<Term> = Vec::new();
    let mut place: PlaceId = flat.start;
    let mut places = vec![place];
    for edge in path {
        place = flat.edges[*edge as usize].to;
        places.push(place);
    }
    for (place, store) in places.iter().zip(stores) {
        visible(flat, *place, |variable, _| wanted.push(store.get(variable)));
    }
    let mut values = terms.evaluate_all(&wanted, model).into_iter();
    let mut states = Vec::new();
    for (at, place) in places.iter().enumerate() {
        let mut cells: BTreeMap<u32, Value> = BTreeMap::new();
        visible(flat, *place, |variable, _| {
            cells.insert(variable, values.next().unwrap_or(Value::Bits(0)));
        });
        let mut globals = Vec::new();
        let mut memory = BTreeMap::new();
        for (variable, i) in program.globals.iter().zip(0_u32..) {
            if let (Type::Memory { .. }, Some(Value::Array { entries, .. })) = (&variable.ty, cells.get(&i)) {
                memory.extend(entries.iter().map(|(address, value)| ((i, *address), *value)));
            }
            globals.extend(cells_of(variable, cells.get(&i)));
        }
        let mut stack = Vec::new();
        let mut frame = Some(flat.places[*place as usize].frame);
        let mut above: Option<EdgeRef> = None;
        while let Some(id) = frame {
            let here = &flat.frames[id as usize];
            let procedure = program.procedure(here.procedure);
            let locals = procedure.variables.iter().zip(here.first..);
            let locals = locals.flat_map(|(variable, i)| cells_of(variable, cells.get(&i))).collect();
            let (location, calling) = match above {
                Some(call) => (program.edge(call).to, Some(call.edge)),
                None => (flat.places[*place as usize].location, None),
            };
            stack.push(Frame { procedure: here.procedure, location, calling, locals });
            above = here.caller.map(|(_, call)| call);
            frame = here.caller.map(|(caller, _)| caller);
        }
        stack.reverse();
        let edge = at.checked_sub(1).map(|i| flat.edges[path[i] as usize].edge);
        states.push((edge, State { globals, memory, stack }));
    }
    let mut states = states.into_iter();
    let (_, start) = states.next().expect("a run has a first state");
    let steps = states.filter_map(|(edge, state)| Some(Step { edge: edge?, state })).collect();
    Trace { start, steps }
}

/// All variables that exist at a place: globals, then those of the open frames, the innermost
/// first.
fn visible(flat: &Flat<'_>, place: PlaceId, mut visit: impl FnMut(u32, &Variable)) {
    let program = flat.program;
    for (variable, i) in program.globals.iter().zip(0..) {
        visit(i, variable);
    }
    let mut frame = Some(flat.places[place as usize].frame);
    while let Some(id) = frame {
        let here = &flat.frames[id as usize];
        for (variable, i) in program.procedure(here.procedure).variables.iter().zip(here.first..) {
            visit(i, variable);
        }
        frame = here.caller.map(|(caller, _)| caller);
    }
}

/// The cells of a variable that has a value.
pub(crate) fn cells_of(variable: &Variable, value: Option<&Value>) -> Vec<u64> {
    let count = variable.ty.cell_count();
    match value {
        Some(Value::Bits(bits)) => vec![*bits; count],
        Some(array) => (0..count as u64).map(|i| array.element(i).unwrap_or(0)).collect(),
        None => vec![0; count],
    }
}
