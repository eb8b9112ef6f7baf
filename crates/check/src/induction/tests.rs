//! Facts hold on all runs, certificates are needed as they are.

mod elements;
mod products;

use std::cell::Cell;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use wherefore_frontend::{Language, parse};
use wherefore_program::{ExploreLimits, Runs, Task, Var, explore};
use wherefore_smt::{BitBlaster, Model, Term, Terms, Value};

use super::candidates::{Candidates, Guesses};
use super::certificate::{Certificate, check};
use super::engine::{Claim, Induction, Way, claim};
use super::facts::Facts;
use super::system::System;
use crate::bounded::in_deep_thread;
use crate::refinement::solver::folding::{Calls, Folding};
use crate::refinement::solver::graph::Graph;
use crate::refinement::solver::proof::Checked;
use crate::symbolic::{Flat, Machine};
use crate::{Budget, Engine, Session};

fn task(text: &str) -> Task {
    parse(Language::C, "t.c", text, None).unwrap_or_else(|error| panic!("{}\n{text}", error.render()))
}

fn budget() -> Budget {
    Budget::time(Duration::from_secs(30))
}

/// A program over three small numbers.
fn program() -> impl Strategy<Value = String> {
    let name = || prop::sample::select(&["x", "y", "z"][..]);
    let value = || prop_oneof![name().prop_map(str::to_owned), (0..8u32).prop_map(|n| n.to_string())];
    let condition = || {
        (value(), prop::sample::select(&["<", "==", "!=", "<="][..]), value())
            .prop_map(|(a, op, b)| format!("{a} {op} {b}"))
    };
    let assign = || {
        (name(), value(), prop::sample::select(&["+", "-", "*"][..]), value())
            .prop_map(|(t, a, op, b)| format!("{t} = ({a} {op} {b}) & 7;"))
    };
    let statement = || {
        prop_oneof![
            3 => assign(),
            1 => (condition(), assign(), assign()).prop_map(|(c, a, b)| format!("if ({c}) {{ {a} }} else {{ {b} }}")),
            1 => name().prop_map(|t| format!("{t} = outside();")),
        ]
    };
    let block = || prop::collection::vec(statement(), 1..4).prop_map(|list| list.join(" "));
    (block(), condition(), block(), condition(), block()).prop_map(|(first, turn, body, check, last)| {
        format!(
            "extern _Bool outside(void); extern void reach_error(void);\n\
             unsigned char x = 0, y = 1, z = 2; int main(void) {{ {first}\n\
             while ({turn}) {{ {body} if (outside()) break; }}\n{last} if ({check}) reach_error(); return 0; }}\n"
        )
    })
}

fn for_random_programs(cases: u32, test: impl Fn(&str) -> Result<(), TestCaseError>) {
    let cases = wherefore_testing::cases(cases);
    let config = Config { cases, max_shrink_iters: 300, failure_persistence: None, ..Config::default() };
    if let Err(error) = TestRunner::new(config).run(&program(), |text| test(&text)) {
        panic!("{error}");
    }
}

#[test]
fn facts_hold_on_all_runs() {
    let count = Cell::new(0);
    for_random_programs(120, |text| {
        let task = task(text);
        let mut machine = Machine::new(Flat::new(&task.program, &task.checks));
        let graph = Graph::new(&mut machine, &Folding::new(&task.program, Calls::Auto));
        let limits = budget().solver();
        let Ok(system) = System::new(&mut machine, &graph, &limits) else { panic!("too large:\n{text}") };
        let candidates = Candidates::new(&mut machine, &graph, &system, Guesses::All);
        let none = vec![Vec::new(); graph.points.len()];
        let facts = Facts::new(&mut machine.terms, &graph, &system, candidates, none, &limits);
        let limits = ExploreLimits { configurations: 30_000, ..ExploreLimits::default() };
        let runs = explore(&task.program, &task.checks, limits);
        for (point, facts) in graph.points.iter().zip(&facts.at) {
            let Some(place) = point.place.filter(|_| !facts.is_empty()) else { continue };
            let node = machine.flat.node(place);
            let globals = task.program.globals.len() as u32;
            let variables: Vec<Var> = (0..globals).map(Var::Global).collect();
            let names: Vec<Term> = (0..globals).map(|i| graph.names.store.get(i)).collect();
            for values in runs.stores(node, &variables, Runs::All) {
                let model = names.iter().copied().zip(values.iter().map(|value| Value::Bits(*value)));
                let model = Model::from_iter(model);
                for fact in facts {
                    let mut of = machine.terms.variables(*fact).into_iter();
                    if of.all(|name| names.contains(&name)) {
                        count.set(count.get() + 1);
                        let shown = machine.terms.display(*fact).to_string();
                        prop_assert!(machine.terms.holds(*fact, &model), "{shown} with {values:?}:\n{text}");
                    }
                }
            }
        }
        Ok(())
    });
    assert!(count.get() > 1_000, "{}", count.get());
}

/// Whether a certificate is accepted.
fn verdict(claim: &mut Claim<'_>, certificate: &Certificate) -> Checked {
    let limits = budget().solver();
    check(&mut claim.machine, &claim.graph, certificate, &mut BitBlaster::new(), &limits)
}

/// A claim is accepted; with one formula of it lost or made up, it is not.
fn is_minimal(text: &str, way: Way) -> usize {
    let task = task(text);
    let work = || {
        let Some(mut claim) = claim(&task, way, &budget()) else { panic!("no proof:\n{text}") };
        let whole = claim.certificate.clone();
        assert_eq!(verdict(&mut claim, &whole), Checked::Proof, "{text}");
        // What the graph takes for constants is said everywhere, whether it matters or not.
        let said = vec![Terms::TRUE; claim.graph.points.len()];
        let said = claim.graph.with_facts(&mut claim.machine, &said);
        let mut refused = 0;
        for point in whole.holds.keys() {
            for formula in [Terms::TRUE, Terms::FALSE] {
                let mut mutant = whole.clone();
                let before = mutant.holds.insert(*point, formula);
                if before == Some(formula) {
                    continue;
                }
                // Where no run comes, or behind the exit of the outermost procedure, it does not
                // matter what is said, unless the program fails there.
                let is_error = claim.graph.errors.contains_key(point);
                let is_idle = before == Some(Terms::FALSE) && !is_error
                    || claim.graph.is_exit(*point)
                    || before == Some(said[*point]);
                // Only proofs of depth one are reduced to what they need.
                if formula == Terms::TRUE && (is_idle || whole.depth > 1) {
                    continue;
                }
                assert_eq!(
                    verdict(&mut claim, &mutant),
                    Checked::Broken,
                    "{formula:?} at {point} for {}:\n{text}",
                    before.map(|term| claim.machine.terms.display(term).to_string()).unwrap_or_default()
                );
                refused += 1;
            }
        }
        let none = Certificate { depth: 0, ..whole };
        assert_eq!(verdict(&mut claim, &none), Checked::Broken);
        refused
    };
    in_deep_thread(work).unwrap()
}

const HEAD: &str = "extern int outside(void); extern void reach_error(void);\n";

#[test]
fn certificates_with_one_formula_changed_are_refused() {
    let sums = "int main(void) { int n = outside(), i = 0, k = 0; while (i < n) { i++; k++; }\n\
        int j = 0; while (j < n) { if (k <= 0) reach_error(); j++; k--; } return 0; }\n";
    let machine = "int main(void) { int s = 0, t = 0; while (1) { int in = outside();\n\
        if (s == 0) { if (in) { s = 1; t = 5; } } else if (s == 1) { s = 2; if (t != 5) reach_error(); }\n\
        else { t = in; s = 0; } } }\n";
    let calls = "int id(int x) { if (x == 0) return 0; return id(x - 1) + 1; }\n\
        int main(void) { int n = outside(); if (id(n) != n) reach_error(); return 0; }\n";
    let mut refused = 0;
    for text in [sums, machine, calls] {
        for way in [Way::Both, Way::Directed] {
            refused += is_minimal(&format!("{HEAD}{text}"), way);
        }
    }
    assert!(refused >= 15, "{refused}");
}

/// Two turns decide what one does not.
#[test]
fn depth_is_checked() {
    let text = "int main(void) { unsigned a = 0, b = 0, c = 0; while (outside()) {\n\
        if (c * c == 49) reach_error(); c = b; b = a; a = outside() ? a * a : 0; } return 0; }\n";
    let task = task(&format!("{HEAD}{text}"));
    let work = || {
        let Some(mut claim) = claim(&task, Way::Deep, &budget()) else { panic!("no proof") };
        let mut whole = claim.certificate.clone();
        assert_eq!(verdict(&mut claim, &whole), Checked::Proof);
        if whole.depth > 1 {
            whole.depth = 1;
            assert_eq!(verdict(&mut claim, &whole), Checked::Broken);
        }
    };
    in_deep_thread(work).unwrap();
}

/// A check that fails costs the others nothing; and a certificate for some checks is none for all.
#[test]
fn checks_are_proved_one_by_one() {
    let text = "int main(void) { int x = 0, y = 0; while (outside()) { if (x < 10) x++; y += 2;\n\
        if (x > 10) reach_error();\n if (y == 6) reach_error();\n if (y & 1) reach_error(); }\n\
        if (x + y < 0 && x < 0) reach_error(); return 0; }\n";
    let task = task(&format!("{HEAD}{text}"));
    for way in [Way::Both, Way::Deep, Way::Directed] {
        let limits = Budget::time(Duration::from_secs(20));
        let answer = Induction { way }.decide(&task, &Session::default(), &limits);
        let proved: Vec<bool> = answer.verdicts.iter().map(|verdict| verdict.proof().is_some()).collect();
        assert_eq!(proved, [true, false, true, true], "{way:?}");
    }
    let work = || {
        let Some(mut claim) = claim(&task, Way::Deep, &budget()) else { panic!("no proof") };
        let mut certificate = claim.certificate.clone();
        assert_eq!(verdict(&mut claim, &certificate), Checked::Proof);
        assert!(certificate.proves.insert(1));
        assert_eq!(verdict(&mut claim, &certificate), Checked::Broken);
    };
    in_deep_thread(work).unwrap();
}

/// What a stack holds is said for each height of it.
#[test]
fn points_of_their_own_for_values_of_counters() {
    let text = "extern int in(void); extern void reach_error(void); int held[3]; int n, sum;\n\
        int main(void) {\n\
        while (in()) { int command = in();\n\
          if (command == 1) { int a = in();\n\
            if (a > 0 && a <= 100 - sum) { if (n == 3) { held[0] = held[1]; held[1] = held[2]; n = 2; }\n\
              held[n] = a; n = n + 1; sum = sum + a; } }\n\
          else if (command == 2 && n > 0) { n = n - 1; sum = sum - held[n]; }\n\
          if (sum < 0 || sum > 100) reach_error(); }\n\
        return 0; }\n";
    let task = task(text);
    let Some(mut claim) = self::claim(&task, Way::Directed, &budget()) else { panic!("no proof") };
    let certificate = claim.certificate.clone();
    assert_eq!(verdict(&mut claim, &certificate), Checked::Proof);
    // An element that is not moved is taken back twice.
    let broken = self::task(&text.replace("held[1] = held[2]; n = 2;", "n = 2;"));
    assert!(self::claim(&broken, Way::Directed, &Budget::time(Duration::from_secs(2))).is_none());
}
