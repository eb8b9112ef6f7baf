//! Facts about one program, asked of the exact engine.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use saphyr::YamlOwned;
use wherefore_check::exact::{Checker, Decision, Detail, Projection};
use wherefore_program::{EdgeRef, LocationKind, Node, Program, Var};
use wherefore_pushdown::StopReason;

use super::expression::evaluate;
use super::yaml::{lines, list, names, number, text, tuples};

/// More values than this are not enumerated.
const MOST: usize = 1 << 16;

/// Why a fact was not confirmed.
pub enum Trouble {
    /// A limit was met first.
    Stopped(StopReason),
    /// The engine says something else.
    Disagrees(String),
}

impl From<StopReason> for Trouble {
    fn from(stop: StopReason) -> Self {
        Self::Stopped(stop)
    }
}

pub type Outcome = Result<(), Trouble>;

fn agree(holds: bool, found: impl FnOnce() -> String) -> Outcome {
    if holds { Ok(()) } else { Err(Trouble::Disagrees(found())) }
}

/// A program with the engine.
pub struct Subject<'a> {
    program: &'a Program,
    checker: &'a Checker<'a>,
    projection: OnceCell<Result<Projection<'a, 'a>, StopReason>>,
}

impl<'a> Subject<'a> {
    pub fn new(checker: &'a Checker<'a>) -> Self {
        Self { program: checker.program(), checker, projection: OnceCell::new() }
    }

    pub fn verdict(&self, expected: &str) -> Outcome {
        let expected = match expected {
            "safe" => Decision::Safe,
            "unsafe" => Decision::Unsafe,
            other => panic!("what verdict is {other}?"),
        };
        match self.checker.verdict() {
            Decision::Unknown(stop) => Err(stop.into()),
            found => agree(found == expected, || format!("got {found:?}")),
        }?;
        let run = self.checker.failing_run(None)?;
        agree(run.is_some() == (expected == Decision::Unsafe), || format!("a failing run: {}", run.is_some()))
    }

    /// Checks a fact; `None` if its kind is not known.
    pub fn check(&self, fact: &YamlOwned) -> Option<Outcome> {
        Some(match text(fact, "kind").expect("a kind") {
            "error_projection" => self.error_projection(&lines(fact, "in"), &lines(fact, "out")),
            "edge_projection" => self.edge_projection(fact),
            "values" => self.values(fact),
            "trace_length" => self.trace_length(fact),
            "counterexample" => self.counterexample(fact),
            "reachable" => self.reachable(fact),
            "invariant" => self.invariant(fact),
            "modular_relation" => self.modular_relation(fact),
            _ => return None,
        })
    }

    fn projection(&self) -> Result<&Projection<'a, 'a>, StopReason> {
        self.projection.get_or_init(|| self.checker.projection(Detail::Stores)).as_ref().map_err(|stop| *stop)
    }

    fn on_line(&self, line: u32) -> Vec<Node> {
        let nodes: Vec<Node> =
            self.program.nodes().filter(|node| self.program.line(*node) == Some(line)).collect();
        assert!(!nodes.is_empty(), "nothing is on line {line}");
        nodes
    }

    /// The statements at a line or label; not the errors, which a failed check leads to.
    fn at(&self, at: &YamlOwned) -> Vec<Node> {
        let nodes: Vec<Node> = match (at.as_mapping_get("line"), text(at, "label"), at.as_str()) {
            (Some(line), _, _) => self.on_line(u32::try_from(number(line)).expect("a line")),
            (None, Some(label), _) | (None, None, Some(label)) => {
                let labels =
                    |node: &Node| self.program.location(*node).labels.iter().any(|name| name == label);
                self.program.nodes().filter(labels).collect()
            }
            _ => panic!("where is {at:?}?"),
        };
        let statement = |node: &Node| self.program.location(*node).kind != LocationKind::Error;
        let nodes: Vec<Node> = nodes.into_iter().filter(statement).collect();
        assert!(!nodes.is_empty(), "nothing is at {at:?}");
        nodes
    }

    /// A line is inside if a node of it is; and there is a failing run through each node inside,
    /// through no other.
    fn error_projection(&self, inside: &[u32], outside: &[u32]) -> Outcome {
        let projection = self.projection()?;
        let mut found = BTreeSet::new();
        for line in inside.iter().chain(outside) {
            for node in self.on_line(*line) {
                let contained = projection.contains(node);
                if contained {
                    found.insert(*line);
                }
                let run = self.checker.run_through(node)?;
                agree(run.is_some() == contained, || {
                    format!(
                        "line {line}: {node:?} is inside: {contained}, but a run through it: {}",
                        run.is_some()
                    )
                })?;
                if let Some(run) = run {
                    let passes = run.trace.states().any(|state| state.node() == Some(node));
                    agree(passes, || format!("line {line}: the run does not pass {node:?}"))?;
                    let last = run.trace.last().node();
                    let fails = self.checker_targets().any(|target| Some(target) == last);
                    agree(fails, || format!("line {line}: the run through {node:?} does not fail"))?;
                }
            }
        }
        agree(found == inside.iter().copied().collect(), || format!("got these lines inside: {found:?}"))
    }

    fn checker_targets(&self) -> impl Iterator<Item = Node> {
        let targets = self.program.targets(&wherefore_program::TargetChoice::Default);
        targets.expect("default targets").into_iter().map(|site| site.node)
    }

    fn edge_projection(&self, fact: &YamlOwned) -> Outcome {
        let projection = self.projection()?;
        for (key, expected) in [("in", true), ("out", false)] {
            for pair in tuples(fact, key) {
                let ends: Vec<Option<u32>> = pair.iter().map(|line| u32::try_from(*line).ok()).collect();
                let between: Vec<EdgeRef> = (self.program.procedures())
                    .flat_map(|(procedure, body)| {
                        body.edges().map(move |(edge, steps)| (EdgeRef { procedure, edge }, steps))
                    })
                    .filter(|(edge, steps)| {
                        let line = |location| self.program.line(Node { procedure: edge.procedure, location });
                        [line(steps.from), line(steps.to)] == ends[..]
                    })
                    .map(|(edge, _)| edge)
                    .collect();
                agree(!between.is_empty(), || format!("there is no edge {pair:?}"))?;
                let found = between.iter().any(|edge| projection.contains_edge(*edge));
                agree(found == expected, || format!("edge {pair:?} is inside: {found}"))?;
            }
        }
        Ok(())
    }

    /// The values of variables at some nodes, together.
    fn occurring(
        &self,
        nodes: &[Node],
        names: &[&str],
        scope: &str,
    ) -> Result<BTreeSet<Vec<i64>>, StopReason> {
        let mut all = BTreeSet::new();
        for node in nodes {
            let variable = |name: &&str| {
                let found = self.program.find_variable(node.procedure, name);
                found.unwrap_or_else(|| panic!("what is {name}?"))
            };
            let variables: Vec<Var> = names.iter().map(variable).collect();
            let some = match scope {
                "reach" => self.checker.reachable_values(*node, &variables, MOST)?,
                "error" => self.projection()?.values(*node, &variables, MOST),
                other => panic!("what scope is {other}?"),
            };
            assert!(some.len() < MOST, "too many values to enumerate");
            let signed = |value: u64| i64::try_from(value).expect("a small value");
            all.extend(some.into_iter().map(|tuple| tuple.into_iter().map(signed).collect::<Vec<_>>()));
        }
        Ok(all)
    }

    fn values(&self, fact: &YamlOwned) -> Outcome {
        assert!(fact.as_mapping_get("stack").is_none(), "stacks of programs are not known");
        let nodes = self.at(fact.as_mapping_get("at").expect("a place"));
        let scope = text(fact, "scope").expect("a scope");
        let found = self.occurring(&nodes, &names(fact, "vars"), scope)?;
        agree(found == tuples(fact, "set"), || format!("got {found:?}"))
    }

    fn trace_length(&self, fact: &YamlOwned) -> Outcome {
        let expected = fact.as_mapping_get("shortest").map(number).expect("a length");
        let Some(run) = self.checker.failing_run(None)? else {
            return agree(false, || "no run fails".to_owned());
        };
        let length = run.trace.length(self.program);
        agree(run.is_shortest && i64::try_from(length) == Ok(expected), || {
            format!("got {length}, known to be shortest: {}", run.is_shortest)
        })
    }

    /// Each line of a failing run is inside, with a failing run through it.
    fn counterexample(&self, fact: &YamlOwned) -> Outcome {
        let feasible = fact.as_mapping_get("feasible").and_then(YamlOwned::as_bool);
        assert_eq!(feasible, Some(true), "only runs that there are can be looked for");
        self.error_projection(&lines(fact, "lines"), &[])
    }

    fn reachable(&self, fact: &YamlOwned) -> Outcome {
        for (key, expected) in [("lines", true), ("not_lines", false)] {
            if list(fact, key).is_none() {
                continue;
            }
            for line in lines(fact, key) {
                let found = !self.occurring(&self.on_line(line), &[], "reach")?.is_empty();
                agree(found == expected, || format!("line {line} is reachable: {found}"))?;
            }
        }
        Ok(())
    }

    /// What holds of all values at a place, of which there must be some.
    fn always(&self, fact: &YamlOwned, holds: impl Fn(&[&str], &[i64]) -> bool) -> Result<bool, Trouble> {
        let nodes = self.at(fact.as_mapping_get("at").expect("a place"));
        let names = names(fact, "vars");
        let found = self.occurring(&nodes, &names, "reach")?;
        agree(!found.is_empty(), || "the place is not reachable".to_owned())?;
        Ok(found.iter().all(|values| holds(&names, values)))
    }

    fn invariant(&self, fact: &YamlOwned) -> Outcome {
        let expr = text(fact, "expr").expect("an expression");
        let expected = fact.as_mapping_get("holds").and_then(YamlOwned::as_bool).expect("whether it holds");
        let found = self.always(fact, |names, values| {
            let value = |name: &str| names.iter().position(|n| *n == name).map(|i| values[i]);
            evaluate(expr, &value) != 0
        })?;
        agree(found == expected, || format!("it holds: {found}"))
    }

    /// Vectors of a constant and of factors of the variables, whose sums are zero.
    fn modular_relation(&self, fact: &YamlOwned) -> Outcome {
        let modulus = fact.as_mapping_get("modulus").map(number).expect("a modulus");
        for vector in tuples(fact, "holds") {
            let found = self.always(fact, |_, values| {
                let (constant, factors) = vector.split_first().expect("a constant");
                assert_eq!(factors.len(), values.len());
                let sum: i64 = factors.iter().zip(values).map(|(factor, value)| factor * value).sum();
                (constant + sum).rem_euclid(modulus) == 0
            })?;
            agree(found, || format!("{vector:?} does not hold"))?;
        }
        Ok(())
    }
}
