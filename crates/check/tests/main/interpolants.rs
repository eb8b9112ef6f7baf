//! Interpolants of formulas and of DAGs, against facts found by enumeration
//! (`tests/cases/interpolants`).
//!
//! Formulas are made here by trying all stores, so nothing but the comparison of diagrams is shared
//! with what is tested.

use crate::case_facts_support::expression;
#[allow(dead_code)]
use crate::case_facts_support::yaml;

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use saphyr::YamlOwned;
use wherefore_check::refinement::diagrams::interpolants::{
    Dag, Heuristic, Link, NodeId, NodeKind, Pair, Space, Step, existential_abstraction, impossible_turns,
};
use wherefore_domains::bdd::{BddRelations, Moment, Predicate};
use wherefore_pushdown::Semiring;

use expression::evaluate;

/// Variables with their widths, as bits of a domain.
struct Names {
    /// Name, first bit, width, and the moment that the name speaks of.
    variables: Vec<(String, usize, usize, Moment)>,
    constants: BTreeMap<String, i64>,
    domain: BddRelations,
}

type Values = BTreeMap<String, i64>;

impl Names {
    fn new(widths: &YamlOwned) -> Self {
        let mut variables = Vec::new();
        let mut bits = 0;
        for (name, width) in yaml::entries(widths, "widths") {
            let width = yaml::number(width) as usize;
            variables.push((name.to_owned(), bits, width, Moment::Current));
            bits += width;
        }
        let constants = yaml::entries(widths, "consts").into_iter();
        let constants = constants.map(|(name, value)| (name.to_owned(), yaml::number(value))).collect();
        Self { variables, constants, domain: BddRelations::new(bits, 1 << 16) }
    }

    fn bits(&self, name: &str) -> Vec<usize> {
        let (_, first, width, _) = self.variables.iter().find(|(other, ..)| other == name).expect("a name");
        (*first..first + width).collect()
    }

    /// All values of the variables that `text` mentions.
    fn cases(&self, text: &str) -> Vec<Values> {
        let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let mentioned = self.variables.iter().filter(|(name, ..)| words.contains(&name.as_str()));
        mentioned.fold(vec![Values::new()], |cases, (name, _, width, _)| {
            let with = |case: &Values, value: i64| {
                let mut case = case.clone();
                case.insert(name.clone(), value);
                case
            };
            cases.iter().flat_map(|case| (0..1 << width).map(move |value| with(case, value))).collect()
        })
    }

    fn value(&self, text: &str, case: &Values) -> i64 {
        // Constants are as wide as the variables.
        let width = self.variables.iter().map(|(_, _, width, _)| *width).max().unwrap_or(1);
        evaluate(text, &|name| {
            case.get(name).copied().or_else(|| self.constants.get(name).map(|c| c % (1 << width)))
        })
    }

    fn literal(&self, name: &str, value: i64, moment: Option<Moment>) -> Predicate {
        let d = &self.domain;
        let (_, first, width, own) = self.variables.iter().find(|(other, ..)| other == name).expect("a name");
        (0..*width).fold(d.constant(true), |all, i| {
            let bit = d.at(first + i, moment.unwrap_or(*own));
            d.and(&all, &if value >> i & 1 == 1 { bit } else { d.not(&bit) })
        })
    }

    fn store(&self, case: &Values) -> Predicate {
        let d = &self.domain;
        case.iter()
            .fold(d.constant(true), |all, (name, value)| d.and(&all, &self.literal(name, *value, None)))
    }

    fn formula(&self, text: &str) -> Predicate {
        let d = &self.domain;
        let text = &text.replace("not ", "1 - ");
        let holding = self.cases(text).into_iter().filter(|case| self.value(text, case) != 0);
        holding.fold(d.constant(false), |all, case| d.or(&all, &self.store(&case)))
    }

    fn step(&self, space: &Space, text: &str) -> Rc<Step> {
        let (changed, relation) = self.effect(text);
        Rc::new(space.step(&changed, relation))
    }

    fn weight(&self, text: &str) -> Predicate {
        let (changed, relation) = self.effect(text);
        self.domain.transition(&changed, &relation)
    }

    /// The bits that a statement changes, and how.
    fn effect(&self, text: &str) -> (Vec<usize>, Predicate) {
        let d = &self.domain;
        if text == "skip" {
            return (vec![], d.constant(true));
        }
        if let Some(condition) = text.strip_prefix("assume ") {
            return (vec![], self.formula(condition));
        }
        let (name, value) = text.split_once(" := ").expect("an assignment");
        let bits = self.bits(name);
        if value == "?" {
            return (bits, d.constant(true));
        }
        let cases = self.cases(value).into_iter().map(|case| {
            let becomes = self.value(value, &case).rem_euclid(1 << bits.len());
            d.and(&self.store(&case), &self.literal(name, becomes, Some(Moment::Next)))
        });
        let relation = cases.fold(d.constant(false), |all, case| d.or(&all, &case));
        (bits, relation)
    }
}

/// Adds the nodes of a plain graph after those that lead to them; the bottom comes last.
struct Graph<'a> {
    edges: Vec<(&'a str, &'a str, &'a str)>,
}

impl<'a> Graph<'a> {
    fn read(list: &'a [YamlOwned]) -> Self {
        let edge = |edge: &'a YamlOwned| {
            let parts: Vec<&str> = edge.as_sequence().unwrap().iter().map(|p| p.as_str().unwrap()).collect();
            (parts[0], parts[1], parts[2])
        };
        Self { edges: list.iter().map(edge).collect() }
    }

    fn add(
        &self,
        dag: &mut Dag<'_>,
        names: &Names,
        ids: &mut BTreeMap<&'a str, NodeId>,
        kind: impl Fn(&str) -> NodeKind,
    ) {
        let mut waiting: Vec<&str> = self.edges.iter().map(|(_, _, to)| *to).collect();
        waiting.sort_unstable();
        waiting.dedup();
        while !waiting.is_empty() {
            let ready = |node: &&str| {
                self.edges.iter().filter(|(_, _, to)| to == node).all(|(from, ..)| ids.contains_key(from))
            };
            let next = waiting.iter().position(ready).expect("a graph without cycles");
            let node = waiting.remove(next);
            let links = self.edges.iter().filter(|(_, _, to)| *to == node);
            let links =
                links.map(|(from, op, _)| Link::Step(ids[from], names.step(dag.space(), op))).collect();
            ids.insert(node, dag.add(kind(node), links));
        }
    }
}

/// The formula of each named node, by a heuristic.
fn interpolants(
    dag: &Dag<'_>,
    ids: &BTreeMap<&str, NodeId>,
    heuristic: &str,
) -> (bool, BTreeMap<String, Predicate>) {
    let heuristic = if heuristic == "combined" { "assume-skip+conciliated" } else { heuristic };
    let strongest = dag.strongest();
    let weakest = dag.weakest(&strongest);
    let d = dag.space().domain();
    let spurious = dag.is_spurious(&strongest);
    // Props. 4.5 and 4.8 agree; and I ⊨ J everywhere.
    assert_eq!(spurious, weakest[0] == d.constant(true));
    if spurious {
        assert!(strongest.iter().zip(&weakest).all(|(i, j)| d.entails(i, j)));
    }
    let chosen = dag.formulas(heuristic.parse().unwrap(), &strongest, |_| None);
    let at = |id: NodeId| chosen[id.0 as usize][0].clone();
    (spurious, ids.iter().map(|(name, id)| ((*name).to_owned(), at(*id))).collect())
}

/// The DAG of a file, plain or modular.
fn with_dag(folder: &Path, file: &str, look: impl FnOnce(&Names, &Dag<'_>, &BTreeMap<&str, NodeId>)) {
    let read = yaml::read(&folder.join(file));
    let mut names = Names::new(&read);
    if let Some(caller) = read.as_mapping_get("caller") {
        return with_modular(&read, caller, &mut names, look);
    }
    let space = Space::new(names.domain.clone(), &[]);
    let graph = Graph::read(yaml::list(&read, "edges").unwrap());
    let mut dag = Dag::new(&space);
    let mut ids = BTreeMap::from([(yaml::text(&read, "top").unwrap(), dag.add(NodeKind::Top, vec![]))]);
    let bottom = yaml::text(&read, "bottom").unwrap();
    graph.add(&mut dag, &names, &mut ids, |_| NodeKind::Point);
    assert_eq!(ids[bottom].0 as usize, dag.len() - 1, "the bottom comes last");
    look(&names, &dag, &ids);
}

/// One call that returns: the caller before it, the callee, the caller after it.
fn with_modular(
    read: &YamlOwned,
    caller: &YamlOwned,
    names: &mut Names,
    look: impl FnOnce(&Names, &Dag<'_>, &BTreeMap<&str, NodeId>),
) {
    let callee = read.as_mapping_get("callee").unwrap();
    // Procedures share the room for their locals.
    let (of_caller, of_callee) = (yaml::names(caller, "locals"), yaml::names(callee, "locals"));
    let local_bits: Vec<usize> = of_caller.iter().flat_map(|name| names.bits(name)).collect();
    for (mine, other) in of_callee.iter().zip(&of_caller) {
        let first = names.bits(other)[0];
        let variable = names.variables.iter_mut().find(|(name, ..)| name == mine).unwrap();
        variable.1 = first;
    }
    let used = names.variables.iter().map(|(_, first, width, _)| first + width).max().unwrap();
    names.domain = BddRelations::new(used, 1 << 16);
    let space = Space::new(names.domain.clone(), &local_bits);
    let d = names.domain.clone();
    let mut dag = Dag::new(&space);
    let mut ids = BTreeMap::from([(yaml::text(caller, "top").unwrap(), dag.add(NodeKind::Top, vec![]))]);
    Graph::read(yaml::list(caller, "before").unwrap()).add(&mut dag, names, &mut ids, |_| NodeKind::Point);
    let call = caller.as_mapping_get("call").unwrap();
    // All locals are new in the callee; parameters get their values.
    let push =
        yaml::entries(call, "args").into_iter().fold(d.constant(true), |all, (parameter, argument)| {
            let pairs = names.bits(parameter).into_iter().zip(names.bits(argument.as_str().unwrap()));
            pairs.fold(all, |all, (to, from)| d.and(&all, &d.equiv(&d.next(to), &d.var(from))))
        });
    let push = Rc::new(space.step(&local_bits, push));
    let at = ids[yaml::text(call, "at").unwrap()];
    ids.insert("pivot", dag.add(NodeKind::Pivot, vec![Link::Push(at, push)]));
    ids.insert(yaml::text(callee, "entry").unwrap(), dag.add(NodeKind::Entry, vec![]));
    Graph::read(yaml::list(callee, "edges").unwrap()).add(&mut dag, names, &mut ids, |_| NodeKind::Point);
    let last = ids[yaml::text(callee, "exit").unwrap()];
    let skip = Rc::new(space.step(&[], d.constant(true)));
    ids.insert("exit", dag.add(NodeKind::Exit, vec![Link::Step(last, skip)]));
    let back = Link::Return { pivot: ids["pivot"], exit: ids["exit"] };
    ids.insert(yaml::text(call, "ret").unwrap(), dag.add(NodeKind::Point, vec![back]));
    Graph::read(yaml::list(caller, "after").unwrap()).add(&mut dag, names, &mut ids, |_| NodeKind::Point);
    // G_in and P_in are the values at entry, G_out those at exit.
    for (name, first, width, _) in names.variables.clone() {
        names.variables.push((format!("{name}_in"), first, width, Moment::History));
        names.variables.push((format!("{name}_out"), first, width, Moment::Current));
    }
    look(names, &dag, &ids);
}

/// At the pivot, the callee's store at entry is the next one.
fn at_pivot(names: &Names, formula: &Predicate) -> Predicate {
    let d = &names.domain;
    let moves = (0..d.variable_count()).map(|i| (i, Moment::History, Moment::Next));
    d.substitute(formula, &d.substitution(moves))
}

fn check(folder: &Path, fact: &YamlOwned) -> bool {
    let input = yaml::text(fact, "input").unwrap_or_default();
    let what = format!("{} {}", folder.display(), yaml::text(fact, "id").unwrap_or_default());
    let formula = |key| yaml::text(fact, key).unwrap_or_else(|| panic!("{what}: {key}"));
    match yaml::text(fact, "kind").unwrap() {
        "interpolants" | "modular" => with_dag(folder, input, |names, dag, ids| {
            let (spurious, found) = interpolants(dag, ids, formula("heuristic"));
            for (node, expected) in yaml::entries(fact, "at") {
                let mut expected = names.formula(expected.as_str().unwrap());
                if node == "pivot" {
                    expected = at_pivot(names, &expected);
                }
                assert_eq!(found[node], expected, "{what}, at {node}");
            }
            if let Some(expected) = fact.as_mapping_get("spurious").and_then(YamlOwned::as_bool) {
                assert_eq!(spurious, expected, "{what}");
            }
            for (node, variables) in yaml::entries(fact, "support") {
                let support = names.domain.support(&found[node]);
                let mentions =
                    |name: &str| names.bits(name).iter().any(|bit| support.iter().any(|(i, _)| i == bit));
                for name in variables.as_sequence().unwrap() {
                    assert!(mentions(name.as_str().unwrap()), "{what}, at {node}");
                }
            }
            assert_tracks(dag, formula("heuristic"), &what);
        }),
        "tracking" => with_dag(folder, input, |names, dag, _| {
            let space = dag.space();
            let after = space.after(&names.formula(formula("pre")), &names.step(space, formula("op")));
            let holds = names.domain.entails(&after, &names.formula(formula("post")));
            assert_eq!(Some(holds), fact.as_mapping_get("holds").unwrap().as_bool(), "{what}");
        }),
        "dag_traces" => with_dag(folder, input, |_, dag, _| {
            let mut ways = vec![0_i64; dag.len()];
            for node in 0..dag.len() {
                let links = dag.links(NodeId(node as u32)).iter().flat_map(Link::sources);
                ways[node] = links.map(|from| ways[from.0 as usize]).sum::<i64>().max(i64::from(node == 0));
            }
            let count = yaml::number(fact.as_mapping_get("count").unwrap());
            assert_eq!(ways.last(), Some(&count), "{what}");
        }),
        "implies" => {
            let names = Names::new(fact);
            let holds = names
                .domain
                .entails(&names.formula(formula("premise")), &names.formula(formula("conclusion")));
            assert_eq!(Some(holds), fact.as_mapping_get("holds").unwrap().as_bool(), "{what}");
        }
        "lasso" => {
            let names = Names::new(fact);
            let path = |key| {
                let steps = yaml::names(fact, key).into_iter().map(|text| names.weight(text));
                steps.fold(names.domain.one(), |path, step| names.domain.extend(&path, &step))
            };
            let turns = impossible_turns(&names.domain, &path("stem"), &path("loop"));
            let expected = fact.as_mapping_get("iterations").map(|turns| yaml::number(turns) as u64);
            assert_eq!(turns, expected, "{what}");
        }
        "existential_abstraction" => {
            let names = Names::new(fact);
            let space = Space::new(names.domain.clone(), &[]);
            let list = |key| -> (Vec<String>, Vec<Predicate>) {
                let all = yaml::entries(fact, key).into_iter();
                all.map(|(bit, text)| (bit.to_owned(), names.formula(text.as_str().unwrap()))).unzip()
            };
            let ((before, pre), (after, post)) = (list("pre"), list("post"));
            let bits = names.domain.companion(before.len().max(after.len()));
            let step = names.step(&space, formula("op"));
            let found = existential_abstraction(&space, &bits, (&pre, &step, &post));
            // All truth values that the expected relation allows.
            let text = formula("relation").replace("not ", "1 - ");
            let all: Vec<&String> = before.iter().chain(&after).collect();
            let expected = (0..1_u32 << all.len()).fold(bits.constant(false), |relation, case| {
                let bit = |name: &str| {
                    all.iter().position(|other| *other == name).map(|i| i64::from(case >> i & 1))
                };
                if evaluate(&text, &bit) == 0 {
                    return relation;
                }
                let literal = |i: usize| {
                    let bit = if i < before.len() { bits.var(i) } else { bits.next(i - before.len()) };
                    if case >> i & 1 == 1 { bit } else { bits.not(&bit) }
                };
                let values = (0..all.len()).fold(bits.constant(true), |cube, i| bits.and(&cube, &literal(i)));
                bits.or(&relation, &values)
            });
            assert_eq!(found, expected, "{what}");
        }
        "formula_interpolant" => {
            let names = Names::new(fact);
            let pair =
                Pair::new(&names.domain, names.formula(formula("A")), names.formula(formula("B"))).unwrap();
            let bits = |key| -> Vec<usize> {
                yaml::names(fact, key).iter().flat_map(|name| names.bits(name)).collect()
            };
            let (a, b) = (bits("A_vars"), bits("B_vars"));
            assert_eq!(pair.strongest(&a, &b), names.formula(formula("strongest")), "{what}");
            assert_eq!(pair.weakest(&a, &b), names.formula(formula("weakest")), "{what}");
            for (key, expected) in [("between", true), ("not_interpolants", false)] {
                for text in yaml::list(fact, key).into_iter().flatten() {
                    let text = text.as_str().unwrap();
                    assert_eq!(pair.admits(&names.formula(text), &a, &b), expected, "{what}: {text}");
                }
            }
        }
        _ => return false,
    }
    true
}

/// `K₁ ∧ C ⊨ K₂` along every link, and I ⊨ K ⊨ J at every node of a spurious DAG.
fn assert_tracks(dag: &Dag<'_>, heuristic: &str, what: &str) {
    let heuristic: Heuristic = heuristic.parse().unwrap();
    let space = dag.space();
    let d = space.domain();
    let strongest = dag.strongest();
    if !dag.is_spurious(&strongest) {
        return;
    }
    let weakest = dag.weakest(&strongest);
    let chosen = dag.formulas(heuristic, &strongest, |_| None);
    let formula = |node: NodeId| chosen[node.0 as usize][0].clone();
    for node in (0..dag.len() as u32).map(NodeId) {
        let here = formula(node);
        assert!(d.entails(&strongest[node.0 as usize], &here), "{what}: I ⊨ K at {node:?}");
        // With procedures the weakest interpolants before a call depend on how the callee is
        // described.
        let modular = dag.links(node).iter().any(|link| matches!(link, Link::Return { .. }));
        assert!(
            modular || d.entails(&here, &weakest[node.0 as usize]) || dag_is_modular(dag),
            "{what}: K ⊨ J"
        );
        for link in dag.links(node) {
            let after = match link {
                Link::Step(from, step) => space.after(&formula(*from), step),
                Link::Push(from, push) => space.after_push(&formula(*from), push),
                Link::Enter(pivot) => space.after_enter(&formula(*pivot)),
                Link::Return { pivot, exit } => space.after_return(&formula(*pivot), &formula(*exit)),
            };
            assert!(d.entails(&after, &here), "{what}: tracking into {node:?}");
        }
    }
}

fn dag_is_modular(dag: &Dag<'_>) -> bool {
    (0..dag.len() as u32).any(|node| dag.kind(NodeId(node)) == NodeKind::Exit)
}

#[test]
fn interpolants_are_as_enumeration_finds_them() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/interpolants");
    let mut checked: BTreeMap<String, usize> = BTreeMap::new();
    for case in std::fs::read_dir(cases).unwrap() {
        let folder = case.unwrap().path();
        let expected = yaml::read(&folder.join("expect.yaml"));
        for fact in yaml::list(&expected, "facts").unwrap() {
            if check(&folder, fact) {
                *checked.entry(yaml::text(fact, "kind").unwrap().to_owned()).or_default() += 1;
            }
        }
    }
    let counts: Vec<(&str, usize)> = checked.iter().map(|(kind, count)| (kind.as_str(), *count)).collect();
    let expected = [
        ("dag_traces", 1),
        ("existential_abstraction", 4),
        ("formula_interpolant", 4),
        ("implies", 1),
        ("interpolants", 21),
        ("lasso", 3),
        ("modular", 2),
        ("tracking", 10),
    ];
    assert_eq!(counts, expected, "a fact that is no longer checked");
}
