//! What is reduced: which threads take part, how many rounds they need, and what is copied.

use std::collections::BTreeSet;

use wherefore_program::{
    Argument, CallGraph, EdgeRef, LocationId, Operation, ProcedureId, Program, ThreadStart, Threads, Var,
    thread_starts,
};

/// A thread of the reduced program, besides the first one.
#[derive(Clone, Debug)]
pub(super) struct Instance {
    /// Where it starts.
    pub root: ProcedureId,
    /// The step that starts it.
    pub site: EdgeRef,
}

/// How the first thread takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum First {
    /// It starts all threads, and nothing that it does meanwhile can be seen by them or stop it:
    /// it runs before all others.
    Prologue,
    /// It always starts the same threads. When it is left having started all of them, that is no
    /// switch.
    Fixed,
    /// It is a thread like all others.
    Counted,
}

/// What is reduced.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// Contexts of each thread.
    pub rounds: usize,
    /// Contexts of all threads together; none is any number. Those of a first thread that sets the
    /// scene are not counted.
    pub contexts: Option<usize>,
    /// The first thread.
    pub first: First,
    /// The other threads: whoever starts one comes before it.
    pub instances: Vec<Instance>,
    /// Starts that may make no thread: those of which there may be more than instances.
    pub optional: BTreeSet<EdgeRef>,
    /// The globals that have a copy for each round.
    pub copied: BTreeSet<u32>,
}

/// Within which bounds schedules are reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    /// All schedules with at most so many switches.
    Switches(usize),
    /// All schedules of so many rounds.
    Rounds(usize),
}

impl Plan {
    /// A plan for all schedules within a bound; none if a thread may start threads like itself, or
    /// a thread starts in a way that is not reduced.
    pub fn new(program: &Program, bound: Bound, most_threads: Option<usize>) -> Option<Self> {
        let starts = thread_starts(program);
        let sites = sites(program)?;
        // With k switches at most k + 1 threads take a step.
        let useful = match bound {
            Bound::Switches(switches) => switches + 1,
            Bound::Rounds(_) => most_threads.map_or(4, |most| most.saturating_sub(1)),
        };
        let mut instances = Vec::new();
        let mut optional = BTreeSet::new();
        for (site, root, times) in sites {
            let count = times.map_or(useful, |times| times.min(useful.max(1)));
            if times.is_none_or(|times| times > count) {
                optional.insert(site);
            }
            instances.extend((0..count).map(|_| Instance { root, site }));
        }
        let first = match starts {
            Threads::Fixed(_) if is_prologue(program) => First::Prologue,
            Threads::Fixed(count) if count == instances.len() => First::Fixed,
            _ => First::Counted,
        };
        let takers = (instances.len() + usize::from(first != First::Prologue)).max(1);
        let (rounds, contexts) = match bound {
            // The next thread in the order of a schedule comes earlier in the order of a round
            // than the one before it, in all but one of as many switches as there are threads.
            Bound::Switches(switches) => (1 + switches - switches / takers, Some(switches + 1)),
            Bound::Rounds(rounds) => (rounds.max(1), None),
        };
        let copied = copied(program, &instances);
        Some(Self { rounds, contexts, first, instances, optional, copied })
    }
}

/// A step that starts threads, where those start, and how often it is taken at most.
type Site = (EdgeRef, ProcedureId, Option<usize>);

/// All steps that start threads, with where those start, and how often they are taken at most:
/// whoever starts a thread comes before it.
fn sites(program: &Program) -> Option<Vec<Site>> {
    let mut sites: Vec<Site> = Vec::new();
    let mut entered = vec![(program.entry, Some(1_usize))];
    let mut seen: BTreeSet<ProcedureId> = BTreeSet::from([program.entry]);
    let mut at = 0;
    // Each thread root with the times it is entered; a root that may start itself is refused.
    while at < entered.len() {
        let (root, times) = entered[at];
        at += 1;
        for (site, callee, often) in starts_of(program, root)? {
            let total = times.zip(often).and_then(|(times, often)| times.checked_mul(often));
            // A step that several threads may take would start threads on both sides of them.
            if sites.iter().any(|(known, ..)| *known == site) {
                return None;
            }
            sites.push((site, callee, total));
            // A root with several starts is entered once for each of them.
            if !seen.insert(callee) && starts_of(program, callee).is_none_or(|list| !list.is_empty()) {
                return None;
            }
            entered.push((callee, total));
        }
        if at > 64 {
            return None;
        }
    }
    Some(sites)
}

/// The starts in the code of one thread, with how often each is taken at most.
fn starts_of(program: &Program, root: ProcedureId) -> Option<Vec<Site>> {
    let calls = CallGraph::new(program);
    let mut found: Vec<Site> = Vec::new();
    let mut work = vec![(root, Some(1_usize))];
    let mut steps = 0;
    let mut seen: BTreeSet<ProcedureId> = BTreeSet::new();
    while let Some((id, times)) = work.pop() {
        steps += 1;
        if steps > 1000 {
            return None;
        }
        let is_new = seen.insert(id);
        let times = if calls.is_recursive(id) { None } else { times };
        if !is_new && times.is_none() {
            continue;
        }
        let procedure = program.procedure(id);
        let in_loop = in_loop(program, id);
        for (edge, here) in procedure.edges() {
            let often = if in_loop[here.from.0 as usize] { None } else { times };
            match &here.operation {
                Operation::Call(call) => work.push((call.callee, often)),
                Operation::StartThread(ThreadStart::Call { callee, arguments }) => {
                    if arguments.iter().any(|argument| matches!(argument, Argument::Copy(..))) {
                        return None;
                    }
                    let site = EdgeRef { procedure: id, edge };
                    match found.iter_mut().find(|(known, ..)| *known == site) {
                        Some((_, _, total)) => {
                            *total = total.zip(often).and_then(|(a, b)| a.checked_add(b));
                        }
                        None => found.push((site, *callee, often)),
                    }
                }
                Operation::StartThread(ThreadStart::At(_)) | Operation::Sync => return None,
                _ => {}
            }
        }
    }
    found.sort_by_key(|(site, ..)| *site);
    Some(found)
}

fn in_loop(program: &Program, id: ProcedureId) -> Vec<bool> {
    let procedure = program.procedure(id);
    let graph = procedure.graph();
    let mut found = vec![false; procedure.locations.len()];
    for component in graph.components() {
        if component.len() > 1 || graph.successors(component[0]).contains(&component[0]) {
            component.iter().for_each(|at| found[*at as usize] = true);
        }
    }
    found
}

/// Whether the first thread, from its first start on, does nothing but start threads and end.
fn is_prologue(program: &Program) -> bool {
    let entry = program.procedure(program.entry);
    behind_starts(program).is_some_and(|behind| {
        entry.edges.iter().filter(|edge| behind.contains(&edge.from)).all(|edge| match &edge.operation {
            Operation::Skip | Operation::Return(_) => true,
            Operation::StartThread(ThreadStart::Call { arguments, .. }) => {
                let mut is_own = true;
                let mut see = |value: &wherefore_program::Expr| {
                    value.reads(&mut |variable, _| is_own &= matches!(variable, Var::Local(_)));
                };
                for argument in arguments {
                    if let Argument::Value(value) = argument {
                        see(value);
                    }
                }
                is_own
            }
            _ => false,
        })
    })
}

/// The locations of the entry procedure behind its first start, if no other procedure of the first
/// thread starts any.
fn behind_starts(program: &Program) -> Option<BTreeSet<LocationId>> {
    let entry = program.procedure(program.entry);
    let starts = starts_of(program, program.entry)?;
    if starts.iter().any(|(site, ..)| site.procedure != program.entry) {
        return None;
    }
    let mut work: Vec<LocationId> = starts.iter().map(|(site, ..)| entry.edge(site.edge).to).collect();
    let mut behind: BTreeSet<LocationId> = work.iter().copied().collect();
    while let Some(at) = work.pop() {
        for (_, edge) in entry.edges_from(at) {
            if behind.insert(edge.to) {
                work.push(edge.to);
            }
        }
    }
    Some(behind)
}

/// The shared variables that may change once there are threads.
fn copied(program: &Program, instances: &[Instance]) -> BTreeSet<u32> {
    let mut code: BTreeSet<ProcedureId> = BTreeSet::new();
    let mut work: Vec<ProcedureId> = instances.iter().map(|instance| instance.root).collect();
    let mut found = BTreeSet::new();
    let behind = behind_starts(program);
    let entry = program.procedure(program.entry);
    let is_behind = |at: LocationId| behind.as_ref().is_none_or(|behind| behind.contains(&at));
    for edge in entry.edges.iter().filter(|edge| is_behind(edge.from)) {
        written(program, &edge.operation, &mut found);
        if let Operation::Call(call) = &edge.operation {
            work.push(call.callee);
        }
    }
    if behind.is_none() {
        work.push(program.entry);
    }
    while let Some(id) = work.pop() {
        if !code.insert(id) {
            continue;
        }
        for edge in &program.procedure(id).edges {
            written(program, &edge.operation, &mut found);
            if let Operation::Call(call) = &edge.operation {
                work.push(call.callee);
            }
        }
    }
    found
}

fn written(program: &Program, operation: &Operation, found: &mut BTreeSet<u32>) {
    let mut write = |target: &wherefore_program::Target| match target.variable {
        Var::Global(i) if program.globals[i as usize].shared => drop(found.insert(i)),
        _ => {}
    };
    match operation {
        Operation::Assign(assignment) => assignment.targets.iter().for_each(&mut write),
        Operation::Havoc(targets) => targets.iter().for_each(&mut write),
        Operation::Call(call) => {
            call.assignment.targets.iter().for_each(&mut write);
            call.results.iter().flatten().for_each(&mut write);
        }
        _ => {}
    }
}
