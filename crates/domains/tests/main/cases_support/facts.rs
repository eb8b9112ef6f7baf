//! Facts about a weighted pushdown system.

use wherefore_domains::{Constant, Relation};
use wherefore_pushdown::{Automaton, Direction, Method, Reading, Relational, Semiring};

use super::data::Data;
use super::kits::{Affines, Booleans, Copies, Costs, Kit, Relations, Weight, WordSets};
use super::machine::{Answers, Machine, named_weight};
use super::stores::{domain, range};

/// In how many ways a fact was found true, or what was found instead.
pub type Verdict = Result<usize, String>;

/// A system of a case: its file, and what the case says about the file.
pub struct Input {
    pub file: Data,
    pub about: Data,
}

/// Checks a fact about a system; `None` if its kind is not known.
pub fn check(input: &Input, fact: &Data) -> Option<Verdict> {
    let weights = input.file.get("weights");
    let kind = fact.get("kind").to_string();
    match weights.get("domain").as_text()? {
        "boolean" => general(&Booleans, input, &kind, fact),
        "minpath" => general(&Costs, input, &kind, fact),
        "trace" => general(&WordSets, input, &kind, fact),
        "relation" => {
            let kit = Relations::read(weights);
            let machine = Machine::read(&kit, &input.file);
            match kind.as_str() {
                "values" => Some(values(&machine, input, fact)),
                "naive_value_set" => Some(naive_value_set(&machine, input, fact)),
                _ => general(&kit, input, &kind, fact),
            }
        }
        "copyconst" => {
            let kit = Copies::read(weights);
            match kind.as_str() {
                "env" => Some(environment(&Machine::read(&kit, &input.file), input, fact)),
                "plain_wpds_env" => {
                    let mut machine = Machine::read(&kit, &input.file);
                    machine.system = machine.system.map(|_, weight| (weight.clone(), None));
                    Some(environment(&machine, input, fact))
                }
                _ => general(&kit, input, &kind, fact),
            }
        }
        "affine" => {
            let kit = Affines::read(weights);
            match kind.as_str() {
                "affine" => Some(affine(&Machine::read(&kit, &input.file), input, fact)),
                _ => general(&kit, input, &kind, fact),
            }
        }
        _ => None,
    }
}

/// Facts that make sense in every domain.
fn general<K: Kit>(kit: &K, input: &Input, kind: &str, fact: &Data) -> Option<Verdict> {
    let machine = Machine::read(kit, &input.file);
    let start = || machine.set(input.about.get("start"));
    let target = || machine.set(input.about.get("target"));
    let through = || fact.get("through").to_string();
    Some(match kind {
        "weight" => {
            let (from, to) = (machine.set(fact.get("from")), machine.set(fact.get("to")));
            expect(kit, machine.weights(&from, &to), fact)
        }
        "chop" => expect(kit, machine.chops(&start(), &through(), &target()), fact),
        "chop_all" => {
            let nodes = fact.get("equals").entries().iter();
            let chops = nodes.map(|(node, weight)| {
                let fact = Data::Map(vec![("equals".into(), weight.clone())]);
                let answers = machine.chops(&start(), node, &target());
                expect(kit, answers, &fact).map_err(|e| format!("{node}: {e}"))
            });
            chops.sum()
        }
        "node_projection" => {
            let domain = kit.semiring();
            let nodes = |inside: bool| {
                let names = fact.get(if inside { "in" } else { "out" }).names();
                names.into_iter().map(move |name| (name, inside))
            };
            let check = |(name, inside): (String, bool)| {
                let answers = machine.chops(&start(), &name, &target());
                all(answers, |w| domain.is_zero(w) != inside).map_err(|e| format!("{name}: {e}"))
            };
            nodes(true).chain(nodes(false)).map(check).sum()
        }
        "naive_chop" => {
            let node = machine.reached(&start(), &machine.node(fact.get("through"), &Data::Null));
            let (before, after) = (machine.weights(&start(), &node), machine.weights(&node, &target()));
            let both = before.into_iter().zip(after);
            expect(kit, both.map(|((way, a), (_, b))| (way, kit.semiring().extend(&a, &b))).collect(), fact)
        }
        "path_value" => {
            let value = machine.path_value(&fact.get("rules").names());
            expect(kit, vec![("replay".into(), value)], fact)
        }
        "valid_path" => {
            let found = machine.is_valid(&fact.get("nodes").names());
            let expected = fact.get("valid").as_bool().ok_or("no `valid`");
            expected.map_err(str::to_owned).and_then(|e| all(vec![("stepping".into(), found)], |f| *f == e))
        }
        "equation" => {
            let (from, to) = (machine.set(fact.get("from")), machine.set(fact.get("to")));
            let mut answers = machine.weights(&from, &to);
            answers.push(("right-hand side".into(), value(kit, &input.file, fact.get("rhs"))));
            expect(kit, answers, fact)
        }
        "automaton_shape" => shape(&machine, &start(), fact),
        "automaton_direction" => {
            let reading =
                |direction| machine.solve(direction, &start(), Method::Worklist).automaton.reading();
            let expected = |key| match fact.get(key).as_text() {
                Some("backward") => Reading::Backward,
                _ => Reading::Forward,
            };
            let answers = vec![
                ("post*".to_owned(), (reading(Direction::Post), expected("poststar"))),
                ("pre*".to_owned(), (reading(Direction::Pre), expected("prestar"))),
            ];
            all(answers, |(found, expected)| found == expected)
        }
        _ => return None,
    })
}

/// Compares answers with `equals` or `zero` of a fact.
fn expect<K: Kit>(kit: &K, answers: Answers<Weight<K>>, fact: &Data) -> Verdict {
    let domain = kit.semiring();
    match (fact.get("zero"), fact.get("equals")) {
        (Data::Bool(zero), Data::Null) => all(answers, |w| domain.is_zero(w) == *zero),
        (Data::Null, expected) if expected.is_some() => all(answers, |w| kit.is_expected(w, expected)),
        _ => Err("neither `zero` nor `equals`".into()),
    }
}

/// Whether all answers are right; there must be some.
fn all<W: std::fmt::Debug>(answers: Answers<W>, right: impl Fn(&W) -> bool) -> Verdict {
    let shown = |w: &W| format!("{w:?}").chars().take(400).collect::<String>();
    let wrong: Vec<String> =
        answers.iter().filter(|(_, w)| !right(w)).map(|(way, w)| format!("{way}: {}", shown(w))).collect();
    match (answers.len(), wrong.is_empty()) {
        (0, _) => Err("there is no way to check it".into()),
        (ways, true) => Ok(ways),
        (ways, false) => {
            Err(format!("{} of {ways} ways differ:\n      {}", wrong.len(), wrong.join("\n      ")))
        }
    }
}

/// The value of `[ext, …]`, `[comb, …]`, `[star, …]` or of a named weight.
fn value<K: Kit>(kit: &K, file: &Data, expression: &Data) -> Weight<K> {
    let domain = kit.semiring();
    let Data::List(items) = expression else { return kit.weight(named_weight(file, expression)) };
    let mut values = items[1..].iter().map(|item| value(kit, file, item));
    match items[0].as_text() {
        Some("ext") => values.fold(domain.one(), |all, w| domain.extend(&all, &w)),
        Some("comb") => values.fold(domain.zero(), |all, w| domain.combine(&all, &w)),
        Some("star") => domain.star(&values.next().expect("a star of something")),
        _ => panic!("what is {expression}?"),
    }
}

/// How many states saturation adds to the automaton of the start.
fn shape<K: Kit>(machine: &Machine<'_, K>, seed: &Automaton<()>, fact: &Data) -> Verdict {
    let direction = match fact.get("algorithm").as_text() {
        Some("poststar") => Direction::Post,
        Some("prestar") => Direction::Pre,
        other => return Err(format!("what is the algorithm {other:?}?")),
    };
    let extra = |method| {
        let states = machine.solve(direction, seed, method).automaton.state_count();
        (format!("{method:?}"), states as i64 - seed.state_count() as i64)
    };
    let answers = vec![extra(Method::Worklist), extra(Method::PathExpressions)];
    all(answers, |extra| Some(*extra) == fact.get("extra_states").as_int())
}

fn values(machine: &Machine<'_, Relations>, input: &Input, fact: &Data) -> Verdict {
    let (kit, d) = (machine.kit, machine.kit.semiring());
    let at = fact.get("at");
    let node = machine.node(at, fact.get("stack"));
    let start = machine.set(input.about.get("start"));
    let target = || machine.set(input.about.get("target"));
    let of = |answers: Answers<Relation>, stores: fn(&Relation) -> Vec<usize>| {
        answers.into_iter().map(|(way, w)| (way, stores(&w))).collect::<Answers<Vec<usize>>>()
    };
    let answers = match fact.get("scope").as_text() {
        None | Some("reach") => of(machine.weights(&start, &node), range),
        Some("backward") => of(machine.weights(&machine.reached(&start, &node), &target()), domain),
        Some("error") if !fact.get("stack").is_some() => {
            let found = machine.stores(&start, &at.get("node").to_string(), &target());
            assert!(found.iter().all(|(_, w)| *w == d.range_of(w)), "stores are a partial identity");
            of(found, range)
        }
        other => return Err(format!("the scope {other:?} with the stack {}", fact.get("stack"))),
    };
    let variables = fact.get("vars").names();
    let rows = |row: &Data| row.items().iter().map(|x| x.as_int().expect("a number")).collect::<Vec<i64>>();
    let mut expected: Vec<Vec<i64>> = fact.get("set").items().iter().map(rows).collect();
    expected.sort_unstable();
    all(answers, |stores| kit.stores.project(stores.iter().copied(), &variables) == expected)
}

/// The stores that arrive at a node and from which the target can be reached, contexts aside.
fn naive_value_set(machine: &Machine<'_, Relations>, input: &Input, fact: &Data) -> Verdict {
    let start = machine.set(input.about.get("start"));
    let node = machine.reached(&start, &machine.node(fact.get("at"), &Data::Null));
    let before = machine.weights(&start, &node);
    let after = machine.weights(&node, &machine.set(input.about.get("target")));
    let both = before.into_iter().zip(after).map(|((way, before), (_, after))| {
        let from = domain(&after);
        (way, range(&before).into_iter().filter(|v| from.contains(v)).collect::<Vec<usize>>())
    });
    all(both.collect(), |found| *found == machine.kit.stores.set(fact.get("set")))
}

fn environment(machine: &Machine<'_, Copies>, input: &Input, fact: &Data) -> Verdict {
    let start = machine.set(input.about.get("start"));
    let node = machine.node(fact.get("at"), fact.get("stack"));
    let unknown = vec![Constant::Top; machine.kit.variables.len()];
    let answers = machine.weights(&start, &node).into_iter().map(|(way, w)| (way, w.apply(&unknown)));
    let right = |found: &Option<Vec<Constant>>| {
        found.as_ref().is_some_and(|found| machine.kit.agrees(found, fact.get("env")))
    };
    all(answers.collect(), right)
}

fn affine(machine: &Machine<'_, Affines>, input: &Input, fact: &Data) -> Verdict {
    let d = machine.kit.semiring();
    let start = machine.set(input.about.get("start"));
    let node = machine.node(fact.get("at"), fact.get("stack"));
    let vectors = |key: &str| {
        let vector = |v: &Data| v.items().iter().map(|x| x.as_int().expect("a number")).collect::<Vec<i64>>();
        fact.get(key).items().iter().map(vector).collect::<Vec<_>>()
    };
    let (holds, fails) = (vectors("holds"), vectors("fails"));
    all(machine.weights(&start, &node), |w| {
        let dimension = d.relations(w).len() as i64;
        holds.iter().all(|v| d.holds(w, v))
            && !fails.iter().any(|v| d.holds(w, v))
            && fact.get("dimension").as_int().is_none_or(|expected| expected == dimension)
    })
}
