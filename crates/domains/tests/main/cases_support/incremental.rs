//! Facts about what is computed again when rules change.

use wherefore_domains::Cost;
use wherefore_pushdown::{
    Automaton, Configuration, Direction, Limits, PathSolver, Reading, Recording, RuleId, State, StopReason,
};

use super::data::Data;
use super::facts::Verdict;
use super::kits::{Costs, Kit};
use super::machine::Machine;

/// Changes the rules of `before` to those of `after`: summaries are as from scratch, those named by
/// the fact change, and not everything is built again.
pub fn check(before: &Data, after: &Data, fact: &Data) -> Verdict {
    let mut machine = Machine::read(&Costs, before);
    let rules = before.get("rules").items();
    let empty = Configuration { state: State(0), stack: Vec::new() };
    let seed = Automaton::of_configuration(&machine.system, &empty, Reading::Forward, &Cost::ZERO);
    let mut solver = PathSolver::new(Direction::Pre, &seed, Recording::Off);
    let names: Vec<String> = (0..machine.system.symbol_count() as u32)
        .map(|s| machine.system.symbols().show(s).to_string())
        .collect();
    let mut summaries = |machine: &Machine<'_, Costs>| {
        solver.system_changed();
        let solved = solver.automaton(machine.kit.semiring(), &machine.system, &Limits::default());
        assert_eq!(solved.stop, StopReason::Complete);
        (read(machine, &names, &solved.automaton), solver.stats())
    };
    let (old, first) = summaries(&machine);
    // Rules are told apart by what they say; the same one may occur twice.
    let mut kept: Vec<(RuleId, &Data)> = (0..).map(RuleId).zip(rules).collect();
    let mut added = Vec::new();
    for rule in after.get("rules").items() {
        match kept.iter().position(|(_, other)| *other == rule) {
            Some(at) => drop(kept.remove(at)),
            None => added.push(rule),
        }
    }
    for (gone, _) in kept {
        machine.system.remove_rule(gone);
    }
    for rule in added {
        machine.add(after, rule);
    }
    assert_eq!(machine.system.symbol_count(), names.len(), "a change does not bring new symbols");
    let (new, again) = summaries(&machine);
    let mut fresh = PathSolver::new(Direction::Pre, &seed, Recording::Off);
    let scratch = fresh.automaton(machine.kit.semiring(), &machine.system, &Limits::default());
    let scratch = read(&machine, &names, &scratch.automaton);
    if new != scratch {
        return Err(format!("{new:?}, from scratch {scratch:?}"));
    }
    if first.rebuilt != first.intragraphs || again.rebuilt >= again.intragraphs {
        return Err(format!("too much or too little is built again: first {first:?}, then {again:?}"));
    }
    if again.evaluations > fresh.stats().evaluations {
        return Err(format!("more evaluations than from scratch: {again:?}, {:?}", fresh.stats()));
    }
    let at = |name: &String| names.iter().position(|n| n == name).unwrap_or_else(|| panic!("no {name}"));
    for (key, changes) in [("summaries", true), ("untouched", false)] {
        for name in fact.get(key).names() {
            let i = at(&name);
            if (old[i] != new[i]) != changes {
                return Err(format!("{name} was {:?} and is {:?}", old[i], new[i]));
            }
        }
    }
    Ok(2)
}

/// The weight of every symbol alone on the stack.
fn read(machine: &Machine<'_, Costs>, names: &[String], automaton: &Automaton<Cost>) -> Vec<Cost> {
    let weight = |name: &String| {
        let stack = vec![machine.symbol(name)];
        automaton.weight(machine.kit.semiring(), &Configuration { state: State(0), stack })
    };
    names.iter().map(weight).collect()
}
